//! Principal components on the command line: known numbers, and laws that hold between the commands.

use crate::support::{Folder, assert_close, covariance, diagonal, last, list, table};

/// scikit-learn's `PCA().fit(iris.data).explained_variance_` times 149/150, to the digits shown.
const IRIS: [f64; 4] = [4.20005343, 0.24105294, 0.07768810, 0.02367619];
const DIGITS_SHOWN: f64 = 5e-9;
/// Sums over 150 rows of numbers below 10: 150·eps·10², and a few such sums one after the other.
const ROUNDING: f64 = 1e-12;
const NAMES: [&str; 4] = ["sepal_length", "sepal_width", "petal_length", "petal_width"];

fn irises() -> Folder {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv").ok();
    folder
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

#[test]
fn the_irises_have_the_variances_that_scikit_learn_finds() {
    let folder = irises();
    let account = folder.say("fit pca iris.csv --target species -k 4 --out s.csv --json --quiet").ok().json();
    let variances = list(&account["variances"]);
    assert_close(std::slice::from_ref(&variances), &[IRIS.to_vec()], DIGITS_SHOWN);
    let total: f64 = variances.iter().sum();
    assert!((account["total_variance"].as_f64().unwrap() - total).abs() < ROUNDING);
    for (j, ratio) in list(&account["explained_variance_ratio"]).iter().enumerate() {
        assert!((ratio - variances[j] / total).abs() < ROUNDING);
        assert!((list(&account["eigenvalues"])[j] - 150.0 * variances[j]).abs() < 150.0 * ROUNDING);
        assert!(list(&account["residuals"])[j] < 1e-10);
    }
    assert_eq!(list(&account["spectrum"]), variances);
    assert_eq!(account["weight"], 150.0);
    assert_eq!(account["command"], "fit pca");
    assert_eq!(account["bounds"]["n_certified"], 4);
    assert_eq!(account["files"][0]["what"], "scores");
    // Scores are uncorrelated, and their variances are the eigenvalues.
    assert_close(&covariance(&folder.numbers("s.csv")), &diagonal(&variances), ROUNDING);
}

#[test]
fn the_error_of_the_rows_put_together_again_is_the_sum_of_the_eigenvalues_left_out() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    for k in 1..=4 {
        let line = format!("fit pca iris.csv -k {k} --model m.safetensors --out s.csv --json --quiet");
        let account = folder.say(&line).ok().json();
        let (left, spectrum) = (list(&account["residual_errors"]), list(&account["spectrum"]));
        assert_eq!(left.len(), k + 1);
        for (m, error) in left.iter().enumerate() {
            assert!((error - spectrum[m..].iter().sum::<f64>()).abs() < ROUNDING, "{m}: {left:?}");
        }
        let measured = account["measured_residual_error"].as_f64().unwrap();
        assert!((measured - left[k]).abs() < ROUNDING, "{measured} {left:?}");
        folder.say("denoise m.safetensors iris.csv --out d.csv --quiet").ok();
        let lost = mean(rows.iter().zip(&folder.numbers("d.csv")).map(|(x, y)| squared(x, y)));
        assert!((lost - left[k]).abs() < ROUNDING, "{lost} {left:?}");
    }
    let words = folder.say("fit pca iris.csv -k 1 --out s.csv").ok().err;
    assert!(
        words.contains("from 1 component: J = 0.34241724; the 3 eigenvalues left out sum to 0.34241724"),
        "{words}"
    );
    assert!(words.contains("1 of 1 component certified as leading"), "{words}");
    let words = folder.say("fit pca iris.csv -k 3 --out s.csv").ok().err;
    assert!(words.contains("the eigenvalue left out is 0.02367619"), "{words}");
    let words = folder.say("fit pca iris.csv -k 4 --out s.csv").ok().err;
    assert!(words.contains("no eigenvalue is left out"), "{words}");
}

#[test]
fn the_account_in_words_is_read_by_people() {
    let folder = irises();
    let words = folder.say("fit pca iris.csv --target species --out s.csv").ok().err;
    for line in [
        "read iris.csv: 150 rows, 4 columns of numbers; target species",
        "  component           λ          nλ  explained  cumulative  error J left  residual",
        "       pca1  4.20005343  630.008014    92.46 %     92.46 %    0.34241724",
        "       pca2  0.24105294  36.1579414     5.31 %     97.77 %    0.10136430",
        "  component  driven by (sign, share of the column)",
        "  pca1       +petal_length 73 %, +sepal_length 13 %, +petal_width 13 %",
        "  pca2       +sepal_width 53 %, +sepal_length 43 %, −petal_length 3 %",
        "2 of 2 components certified as leading",
        "wrote s.csv (scores)",
    ] {
        assert!(words.contains(line), "{line}\n{words}");
    }
    assert!(words.lines().all(|line| line.trim_end() == line), "{words}");
    assert_eq!(folder.say("fit pca iris.csv --out s.csv --quiet").ok().err, "");
}

#[test]
fn text_and_target_stand_in_front_of_the_scores() {
    let folder = Folder::new();
    folder.write("t.csv", "name,a,label,b\nu,1,x,2\nv,2,y,1\nw,3,x,5\nz,4,y,4\n");
    let run = folder.say("fit pca t.csv --target label --quiet").ok();
    let (names, rows) = table(&run.out);
    assert_eq!(names, ["name", "label", "pca1", "pca2"]);
    assert_eq!(rows.len(), 4);
    assert!(run.out.lines().nth(4).unwrap().starts_with("z,y,"), "{}", run.out);
    for extension in ["tsv", "npy", "npz", "parquet"] {
        folder.say(&format!("fit pca t.csv --target label --quiet --out s.{extension}")).ok();
    }
    let npy = folder.say("fit pca t.csv --target label --out s.npy").ok();
    assert!(npy.err.contains("note: NPY holds numbers alone: name, label are not written"), "{}", npy.err);
}

#[test]
fn transform_gives_the_scores_of_the_fit() {
    let folder = irises();
    folder.say("fit pca iris.csv --target species -k 3 --model m.safetensors --out s.csv --quiet").ok();
    folder.say("transform m.safetensors iris.csv --target species --out t.csv --quiet").ok();
    assert_eq!(folder.read("s.csv"), folder.read("t.csv"));
    assert_eq!(table(&folder.read("t.csv")).0, ["species", "pca1", "pca2", "pca3"]);
    // Columns are found by name, whatever their order, and strangers are left out.
    folder
        .shell("awk -F, -v OFS=, '{print NR == 1 ? \"new\" : 7, $4, $3, $2, $1, $5}' iris.csv > turned.csv")
        .ok();
    let run = folder.say("transform m.safetensors turned.csv --target species --out u.csv").ok();
    assert_eq!(folder.read("u.csv"), folder.read("t.csv"));
    assert!(run.err.contains("columns the model does not know were left out: new"), "{}", run.err);
    let account = folder.say("transform m.safetensors iris.csv --json --quiet").ok().json();
    assert_eq!((&account["method"], &account["n_components"]), (&"pca".into(), &3.into()));
}

#[test]
fn all_components_lead_back_to_the_table() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    for scale in ["", " --scale"] {
        folder.say(&format!("fit pca iris.csv -k 4 --model m.safetensors --out s.csv --quiet{scale}")).ok();
        let back = folder.say("inverse m.safetensors s.csv --quiet").ok().out;
        let (names, back) = table(&back);
        assert_eq!(names, [&["species"], &NAMES[..]].concat());
        assert_close(&back, &rows, ROUNDING);
        folder.say("denoise m.safetensors iris.csv --out d.csv --quiet").ok();
        assert_close(&folder.numbers("d.csv"), &rows, ROUNDING);
    }
}

#[test]
fn denoise_is_transform_and_inverse_in_one() {
    let folder = irises();
    folder.say("fit pca iris.csv --model m.safetensors --out s.csv --json --quiet").ok();
    folder.say("inverse m.safetensors s.csv --out i.csv --quiet").ok();
    let run = folder.say("denoise m.safetensors iris.csv --out d.csv").ok();
    assert_close(&folder.numbers("d.csv"), &folder.numbers("i.csv"), ROUNDING);
    assert!(run.err.contains("wrote d.csv (rows)"), "{}", run.err);
    // What is denoised once stays as it is.
    folder.say("denoise m.safetensors d.csv --out e.csv --quiet").ok();
    assert_close(&folder.numbers("e.csv"), &folder.numbers("d.csv"), ROUNDING);
    let account = folder.say("denoise m.safetensors iris.csv --json --out f.csv --quiet").ok().json();
    assert_eq!((&account["command"], &account["files"][0]["path"]), (&"denoise".into(), &"f.csv".into()));
}

#[test]
fn score_says_how_far_out_and_how_far_off_rows_lie() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    for (scale, k) in [("", 2), ("", 3), (" --scale", 2)] {
        let line = format!("fit pca iris.csv -k {k} --model m.safetensors --out s.csv --json --quiet{scale}");
        let account = folder.say(&line).ok().json();
        let (variances, scores) = (list(&account["variances"]), folder.numbers("s.csv"));
        let run = folder.say("score m.safetensors iris.csv --target species --quiet").ok();
        let (names, found) = table(&run.out);
        assert_eq!(names, ["novel", "species", "t2", "spe"]);
        folder.say("denoise m.safetensors iris.csv --out d.csv --quiet").ok();
        let near = folder.numbers("d.csv");
        let deviation: Vec<f64> = match scale {
            "" => vec![1.0; 4],
            _ => covariance(&rows).iter().enumerate().map(|(j, row)| row[j].sqrt()).collect(),
        };
        let expected: Vec<Vec<f64>> = (0..150)
            .map(|i| {
                let t2 = scores[i].iter().zip(&variances).map(|(z, v)| z * z / v).sum();
                let off = (0..4).map(|j| ((rows[i][j] - near[i][j]) / deviation[j]).powi(2)).sum();
                vec![t2, off]
            })
            .collect();
        assert_close(&found, &expected, ROUNDING);
        // Over the rows of the fit, the means are the number of components and J.
        assert!((mean(found.iter().map(|row| row[0])) - f64::from(k)).abs() < ROUNDING);
        let left = *list(&account["residual_errors"]).last().unwrap();
        assert!((mean(found.iter().map(|row| row[1])) - left).abs() < ROUNDING);
    }
}

#[test]
fn loadings_say_which_columns_make_a_component() {
    let folder = irises();
    let line = "fit pca iris.csv -k 4 --loadings l.csv --out s.csv --json --quiet";
    let account = folder.say(line).ok().json();
    let (names, rows) = table(&folder.read("l.csv"));
    let pca = ["pca1", "pca2", "pca3", "pca4"].map(String::from);
    let shares = pca.each_ref().map(|name| format!("{name}_contribution"));
    assert_eq!(names, [&["column".to_string()], &pca[..], &shares[..]].concat());
    let text = folder.read("l.csv");
    let columns: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(columns, NAMES);
    let (variances, covariance) = (list(&account["variances"]), covariance(&folder.numbers("iris.csv")));
    for j in 0..4 {
        assert!((rows.iter().map(|row| row[4 + j]).sum::<f64>() - 1.0).abs() < ROUNDING);
        // Loadings are u·√λ and contributions u².
        assert!(rows.iter().all(|row| (row[j].powi(2) - variances[j] * row[4 + j]).abs() < ROUNDING));
    }
    // With all components, L·Lᵀ is the covariance.
    let product = |a: &[f64], b: &[f64]| a[..4].iter().zip(&b[..4]).map(|(x, y)| x * y).sum::<f64>();
    let all: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| product(a, b)).collect()).collect();
    assert_close(&all, &covariance, ROUNDING);
    assert_eq!(account["files"][0]["what"], "loadings");
    let npy = folder.say("fit pca iris.csv --loadings l.npy --out s.csv").ok();
    assert!(npy.err.contains("column is not written"), "{}", npy.err);
}

#[test]
fn scaled_columns_count_the_same() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    let deviation: Vec<f64> = covariance(&rows).iter().enumerate().map(|(j, row)| row[j].sqrt()).collect();
    let scaled: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().zip(&deviation).map(|(x, s)| x / s).collect()).collect();
    folder.write_table("scaled.csv", &scaled);
    let by_hand = folder.say("fit pca scaled.csv -k 4 --out a.csv --json --quiet").ok().json();
    let flag = folder.say("fit pca iris.csv --scale -k 4 --out b.csv --json --quiet").ok().json();
    assert_close(&[list(&flag["variances"])], &[list(&by_hand["variances"])], ROUNDING);
    assert!((flag["total_variance"].as_f64().unwrap() - 4.0).abs() < ROUNDING);
    // Scores lie within rounding over the smallest gap, 0.13 of 4.
    assert_close(&last(&folder.numbers("b.csv"), 4), &folder.numbers("a.csv"), 1e-11);
    assert_eq!(flag["plan"]["standardized"], true);
}

#[test]
fn pictures_are_drawn() {
    let folder = irises();
    let line = "fit pca iris.csv --target species -k auto --out s.csv --plot scree=a.svg --plot choice=b.png \
                --plot scatter=c.svg --plot d.png --json --quiet";
    let account = folder.say(line).ok().json();
    let what: Vec<&str> =
        account["files"].as_array().unwrap().iter().filter_map(|file| file["what"].as_str()).collect();
    assert_eq!(what, ["scree", "choice", "scatter", "scatter", "scores"]);
    for name in ["a.svg", "c.svg"] {
        let text = folder.read(name);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        assert!(text.contains("iris.csv") && !text.contains("NaN"), "{text}");
    }
    for name in ["b.png", "d.png"] {
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(b"\x89PNG"));
    }
    folder.write("one.csv", "a\n1\n2\n5\n");
    folder.say("fit pca one.csv --plot scree=e.svg --plot f.svg --out s.csv --quiet").ok();
}

#[test]
fn more_components_than_there_are_give_those_that_exist() {
    let folder = irises();
    let run = folder.say("fit pca iris.csv -k 9").ok();
    assert!(run.err.contains("warning: 9 components were asked for and 4 exist"), "{}", run.err);
    assert!(run.out.starts_with("species,pca1,pca2,pca3,pca4\n"));
    folder.write("line.csv", "a,b,c\n1,2,1\n2,4,0\n3,6,1\n4,8,0\n");
    let run = folder.say("fit pca line.csv -k 3").ok();
    assert!(run.err.contains("and 2 exist") && run.out.starts_with("pca1,pca2\n"), "{}{}", run.err, run.out);
    folder.write("constant.csv", "a,b\n1,5\n2,5\n4,5\n");
    let run = folder.say("fit pca constant.csv --scale").ok();
    assert!(run.err.contains("note: one column is the same in every row: b"), "{}", run.err);
}

#[test]
fn inspect_shows_what_is_in_a_model() {
    let folder = irises();
    folder.say("fit pca iris.csv --model m.safetensors --json --quiet").ok();
    let text = folder.say("inspect m.safetensors").ok().out;
    for line in
        ["method       pca", "samples      150 × 4 (f64)", "pca1  4.20005343", "  center        F64   4\n"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("rule  "), "{text}");
    let facts = folder.say("inspect m.safetensors --json").ok().json();
    assert_eq!(facts["header"]["method"], "pca");
    assert_close(&[list(&facts["spectrum"])], &[IRIS.to_vec()], DIGITS_SHOWN);
    assert!(facts.get("measured_residual_error").is_none());
}
