//! How unusual rows are, from which numbers on, and by which columns.

use crate::support::{Folder, assert_close, table};
use serde_json::Value;

/// Rows on a ring with a little noise, as text; the rows named lie elsewhere.
fn ring(n: usize, phase: f64, others: &[(usize, [f64; 2])]) -> Vec<Vec<f64>> {
    (0..n)
        .map(|i| match others.iter().find(|(at, _)| *at == i) {
            Some((_, row)) => row.to_vec(),
            None => {
                let t = std::f64::consts::TAU * (i as f64 + phase) / n as f64;
                let radius = 1.0 + 0.05 * (17.0 * t + phase).sin();
                vec![radius * t.cos(), radius * t.sin()]
            }
        })
        .collect()
}

/// A model of a ring, normal rows that it was not fitted on, and new rows of which two are not normal.
fn rings() -> Folder {
    let folder = Folder::new();
    folder.write_table("fit.csv", &ring(200, 0.0, &[]));
    folder.write_table("normal.csv", &ring(150, 0.3, &[]));
    folder.write_table("new.csv", &ring(40, 0.7, &[(17, [0.0, 0.0]), (23, [3.0, 0.0])]));
    folder.say("fit kpca fit.csv -k 12 --kernel rbf(gamma=1) --model m.safetensors --json --quiet").ok();
    folder
}

/// The column of text called novel.
fn novel(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == "novel").expect("a column novel");
    lines.map(|line| line.split(',').nth(at).unwrap().to_string()).collect()
}

fn numbers(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_linear_kernel_says_what_pca_says() {
    let folder = Folder::prepared();
    let fit = "fit kpca iris.csv --target species -k 2 --kernel linear --tol 1e-12 --json --quiet --model k.safetensors";
    folder.say(fit).ok();
    let of = |model: &str| {
        table(&folder.say(&format!("score {model} iris.csv --target species --quiet")).ok().out)
    };
    let ((names, kernel), (_, linear)) = (of("k.safetensors"), of("pca.safetensors"));
    assert_eq!(names, ["novel", "species", "t2", "spe"]);
    assert_close(&kernel, &linear, 1e-9);
}

#[test]
fn rows_off_the_ring_are_novel_and_the_account_counts_them() {
    let folder = rings();
    for rule in ["", " --limits quantile", " --limits parametric"] {
        let line =
            format!("score m.safetensors new.csv --reference normal.csv --out s.csv --json --quiet{rule}");
        let account = folder.say(&line).ok().json();
        let words = novel(&folder.read("s.csv"));
        assert!(["spe", "both"].contains(&words[17].as_str()), "{rule}: {}", words[17]);
        assert!(["spe", "both"].contains(&words[23].as_str()), "{rule}: {}", words[23]);
        assert!(words.iter().filter(|word| *word != "none").count() <= 6, "{words:?}");
        let limits = &account["limits"];
        assert_eq!((&limits["reference"], &limits["rows"]), (&"normal.csv".into(), &150.into()));
        assert_eq!(limits["source"], "reference rows");
        for (which, column) in [("t2", 0), ("spe", 1)] {
            let (limit, rows) = (numbers(&limits[which]), folder.numbers("s.csv"));
            let above = |both: bool| rows.iter().filter(|row| row[column] > limit && both).count() as u64;
            let counted =
                account["novel"][which].as_u64().unwrap() + account["novel"]["both"].as_u64().unwrap();
            assert_eq!(above(true), counted, "{rule} {which}");
        }
        assert_eq!(limits["rule"], if rule.ends_with("parametric") { "parametric" } else { "quantile" });
    }
    // One in ten of the reference rows.
    let account =
        folder.say("score m.safetensors new.csv --reference normal.csv --alpha 0.1 --json --quiet").ok();
    let share = numbers(&account.json()["limits"]["share"]);
    assert!((share - 0.1).abs() < 0.02, "{share}");
}

#[test]
fn a_model_knows_the_rows_of_its_fit_unless_they_came_in_pieces() {
    let folder = rings();
    let run = folder.say("score m.safetensors new.csv --out s.csv").ok();
    assert!(!run.err.contains("warning"), "{}", run.err);
    assert!(run.err.contains("quantile at 0.01 from 200 rows of the fit, cross-validated"), "{}", run.err);
    assert!(run.err.contains("limits: t2 ") && run.err.contains("novel: "), "{}", run.err);
    // A low-rank model holds no samples to fit again.
    let fit = "fit kpca fit.csv -k 12 --kernel rbf(gamma=1) --rank 60 --json --quiet --model";
    folder.say(&format!("{fit} l.safetensors")).ok();
    let run = folder.say("score l.safetensors new.csv --out s.csv").ok();
    assert!(run.err.contains("warning: the limits come from the rows of the fit"), "{}", run.err);
    folder.say(&format!("{fit} c.safetensors --control-limits")).ok();
    let limits = folder.say("score c.safetensors new.csv --json --quiet").ok().json()["limits"].clone();
    assert_eq!((&limits["cross_validated"], &limits["in_sample"]), (&true.into(), &false.into()));
    assert_eq!(limits["rows"], 200);
    folder.say("data moons --rows 20000 --out big.npy").ok();
    let line = "fit kpca big.npy --columns 1,2 -k 4 --kernel rbf(gamma=1) --rank 30 --memory 600KB --model p.safetensors --json --quiet";
    folder.say(line).ok();
    let run = folder.say(&format!("{line} --control-limits"));
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("needs all rows in memory"), "{}", run.err);
    let run = folder.say("score p.safetensors new.csv").ok();
    assert!(run.err.contains("warning: no limits: a model that does not hold"), "{}", run.err);
    assert_eq!(table(&run.out).0, ["t2", "spe"]);
    let run = folder.say("score p.safetensors new.csv --alpha 0.05");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("limits need reference rows"), "{}", run.err);
    folder.say("score p.safetensors new.csv --alpha 0.05 --reference normal.csv --quiet").ok();
}

#[test]
fn contributions_have_a_column_for_each_input_column() {
    let folder = Folder::prepared();
    let names = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    for statistic in ["spe", "t2"] {
        let line = format!(
            "score pca.safetensors iris.csv --target species --statistic {statistic} --contributions c.csv --out s.csv --json --quiet"
        );
        let account = folder.say(&line).ok().json();
        let (found, rows) = table(&folder.read("c.csv"));
        assert_eq!(found, [&["species"][..], &names].concat());
        // From the mean row, where both statistics are 0, they add up to the statistic.
        let wanted = folder.numbers("s.csv");
        let at = usize::from(statistic == "spe");
        let off = rows.iter().zip(&wanted).map(|(row, all)| (row.iter().sum::<f64>() - all[at]).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9);
        assert_eq!(account["contributions"]["statistic"], statistic);
        let files: Vec<&str> =
            account["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(files, ["c.csv", "s.csv"]);
    }
    // A flower with a petal as wide as a hand.
    folder.write("odd.csv", "species,sepal_length,sepal_width,petal_length,petal_width\nx,5.8,3.0,4.3,9\n");
    folder.say("fit kpca iris.csv --target species -k 6 --json --quiet --model k.safetensors").ok();
    let line = "score k.safetensors odd.csv --contributions c.csv --plot contributions=c.svg --json --quiet";
    let account = folder.say(line).ok().json();
    let row = folder.numbers("c.csv").remove(0);
    let largest = (0..4).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    assert_eq!(names[largest], "petal_width", "{row:?}");
    assert!(numbers(&account["contributions"]["defect"]) < 1e-3);
    let svg = folder.read("c.svg");
    assert!(svg.contains("petal_width") && svg.contains("contribution to spe of 1 novel row"), "{svg}");
}

#[test]
fn pictures_show_the_limits() {
    let folder = rings();
    let line = "score m.safetensors new.csv --reference normal.csv --plot a.svg --plot chart=b.svg --plot scatter=c.png --json --quiet";
    let account = folder.say(line).ok().json();
    assert!(folder.read("a.svg").contains("rows beyond a limit"), "the limits are drawn");
    assert!(folder.read("b.svg").contains("SPE"));
    let kinds: Vec<&str> =
        account["files"].as_array().unwrap().iter().map(|file| file["what"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["scatter", "chart", "scatter"]);
}

#[test]
fn pca_has_limits_from_its_spectrum() {
    let folder = Folder::prepared();
    let account = folder.say("score pca.safetensors iris.csv --target species --json --quiet").ok().json();
    assert_eq!(
        (&account["limits"]["source"], &account["limits"]["rule"]),
        (&"spectrum".into(), &"parametric".into())
    );
    assert_eq!(account["limits"]["spe_share"], Value::Null);
    let counted: u64 =
        ["none", "t2", "spe", "both"].map(|word| account["novel"][word].as_u64().unwrap()).iter().sum();
    assert_eq!(counted, 150);
    // All components: nothing is left for an error.
    folder.say("fit pca iris.csv --target species -k 4 --model all.safetensors --json --quiet").ok();
    let account = folder.say("score all.safetensors iris.csv --target species --json --quiet").ok().json();
    assert_eq!(account["limits"]["spe"], Value::Null);
    assert_eq!(account["novel"]["spe"], 0);
    let run = folder.say("score pca.safetensors iris.csv --limits quantile");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("Give --reference"), "{}", run.err);
    folder.say("score pca.safetensors iris.csv --limits quantile --reference iris.csv --quiet").ok();
}

#[test]
fn tables_are_read_in_pieces() {
    let folder = Folder::new();
    folder.say("data moons --rows 20000 --noise 0.1 --out big.npy").ok();
    folder.say("data moons --rows 300 --noise 0.1 --seed 2 --out some.csv").ok();
    let fit = "fit kpca some.csv --columns 1,2 -k 8 --rank 60 --model m.safetensors --json --quiet";
    folder.say(fit).ok();
    let columns = "score m.safetensors big.npy --columns 1,2";
    let line = format!("{columns} --reference some.csv --contributions c.npy --out s.parquet --json --quiet");
    let account = folder.say(&line).ok().json();
    assert_eq!(account["data"]["rows"], 20_000);
    let counted: u64 =
        ["none", "t2", "spe", "both"].map(|word| account["novel"][word].as_u64().unwrap()).iter().sum();
    assert_eq!(counted, 20_000);
    assert!(account["novel"]["none"].as_u64().unwrap() > 18_000, "{account:#}");
    let again = folder.say("plot scatter c.npy --out c.svg").ok();
    assert!(again.err.contains("20000 rows"), "{}", again.err);
}

#[test]
fn a_precomputed_kernel_has_t2_alone() {
    let folder = Folder::prepared();
    folder.say("kernel gram iris.csv --target species --kernel rbf(gamma=0.5) --out k.csv").ok();
    folder.say("fit kpca k.csv --kernel precomputed --model p.safetensors --json --quiet").ok();
    let run = folder.say("score p.safetensors k.csv").ok();
    let (names, rows) = table(&run.out);
    assert_eq!((names.last().unwrap().as_str(), rows[0].len()), ("t2", 1));
    assert!(run.err.contains("T² alone is given"), "{}", run.err);
    let mean = rows.iter().map(|row| row[0]).sum::<f64>() / 150.0;
    assert!((mean - 2.0).abs() < 1e-6, "{mean}");
    let account = folder.say("score p.safetensors k.csv --reference k.csv --json --quiet").ok().json();
    assert_eq!((&account["limits"]["spe"], &account["novel"]["spe"]), (&Value::Null, &0.into()));
    let run = folder.say("score p.safetensors k.csv --contributions c.csv --out s.csv");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("contributions belong to input columns"), "{}", run.err);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let folder = rings();
    folder.say("fit kpca fit.csv -k 3 --kernel rbf(gamma=1) --low-rank fourier --rank 80 --model f.safetensors --json --quiet").ok();
    for (line, code, words) in [
        ("score m.safetensors new.csv --alpha 0", 2, "a number between 0 and 1"),
        ("score m.safetensors new.csv --alpha 2", 2, "a number between 0 and 1"),
        ("score m.safetensors new.csv --limits normal", 2, "quantile, parametric"),
        ("score m.safetensors new.csv --statistic q", 2, "spe, t2"),
        ("score m.safetensors new.csv --reference none.csv", 3, "none.csv"),
        (
            "score m.safetensors new.csv --plot scree=a.svg",
            2,
            "scatter=FILE and chart=FILE and contributions=FILE",
        ),
        ("score m.safetensors new.csv --contributions -", 2, "both want standard output"),
        ("score m.safetensors new.csv --contributions new.csv --out s.csv", 2, "is also an input"),
        ("score m.safetensors new.csv --reference normal.csv --out normal.csv", 2, "is also an input"),
        ("score f.safetensors new.csv --contributions c.csv --out s.csv", 3, "Give reference rows"),
    ] {
        let run = folder.say(line);
        assert_eq!(run.code, code, "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
    folder
        .say("score f.safetensors new.csv --contributions c.csv --out s.csv --reference normal.csv --quiet")
        .ok();
    assert_eq!(folder.numbers("c.csv").len(), 40);
}
