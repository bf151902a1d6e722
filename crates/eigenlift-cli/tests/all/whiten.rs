//! Whitening on the command line.

use crate::support::{Folder, assert_close, covariance, diagonal, last, list, table, weighted_covariance};

const METHODS: [&str; 5] = ["pca", "zca", "cholesky", "pca-cor", "zca-cor"];
/// Whitening divides by √λ: entries of the covariance are right to 150·eps·κ, with κ = 177 for the irises.
const ROUNDING: f64 = 1e-11;

fn irises() -> Folder {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv").ok();
    folder
}

/// Correlation of column `a` of one table and column `b` of another.
fn correlation(x: &[Vec<f64>], a: usize, y: &[Vec<f64>], b: usize) -> f64 {
    let both: Vec<Vec<f64>> = x.iter().zip(y).map(|(x, y)| vec![x[a], y[b]]).collect();
    let c = covariance(&both);
    c[0][1] / (c[0][0] * c[1][1]).sqrt()
}

#[test]
fn every_method_gives_the_identity_as_covariance_and_leads_back() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    for method in METHODS {
        let line = format!(
            "fit whiten iris.csv --target species --method {method} --model m.safetensors --out w.csv --json --quiet"
        );
        let account = folder.say(&line).ok().json();
        let (names, white) = table(&folder.read("w.csv"));
        assert_eq!(names, ["species", "whiten1", "whiten2", "whiten3", "whiten4"]);
        assert_close(&covariance(&white), &diagonal(&[1.0; 4]), ROUNDING);
        assert_eq!((&account["method"], &account["rank"]), (&method.into(), &4.into()));
        assert_eq!(account["statement"], "all 4 directions are whitened");
        // transform gives the same again, and inverse the table.
        folder.say("transform m.safetensors iris.csv --target species --out t.csv --quiet").ok();
        assert_eq!(folder.read("t.csv"), folder.read("w.csv"));
        let back = folder.say("inverse m.safetensors w.csv --quiet").ok().out;
        assert!(back.starts_with("species,sepal_length,"), "{back}");
        assert_close(&table(&back).1, &rows, ROUNDING);
        folder.say("denoise m.safetensors iris.csv --out d.csv --quiet").ok();
        assert_close(&folder.numbers("d.csv"), &rows, ROUNDING);
        let shown = folder.say("inspect m.safetensors").ok().out;
        assert!(shown.contains(&format!("whitening by {method}: all 4 directions are whitened")), "{shown}");
    }
}

#[test]
fn the_methods_differ_in_what_an_output_means() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    let mut distances = Vec::new();
    for method in METHODS {
        let line = format!("fit whiten iris.csv --method {method} --out w-{method}.csv --json --quiet");
        distances.push(folder.say(&line).ok().json()["distance"].as_f64().unwrap());
    }
    let of = |method: &str| folder.numbers(&format!("w-{method}.csv"));
    // Of all whitenings zca is closest to the centred data, zca-cor to the standardised.
    assert!(distances[1] < distances[0] && distances[1] < distances[2] && distances[4] < distances[3]);
    let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / 150.0;
    let distance: f64 = (0..4)
        .map(|j| {
            rows.iter().zip(of("zca")).map(|(x, z)| (x[j] - mean(j) - z[j]).powi(2)).sum::<f64>() / 150.0
        })
        .sum();
    assert!((distances[1] - distance).abs() < ROUNDING, "{distances:?} {distance}");
    // zca-cor is as correlated with the columns as can be, in sum.
    let sums = METHODS.map(|method| (0..4).map(|j| correlation(&rows, j, &of(method), j)).sum::<f64>());
    assert!(sums.iter().all(|sum| *sum <= sums[4] + ROUNDING), "{sums:?}");
    // pca: the scores over their deviations.
    let account = folder.say("fit pca iris.csv -k 4 --out s.csv --json --quiet").ok().json();
    let deviations: Vec<f64> = list(&account["variances"]).iter().map(|v| v.sqrt()).collect();
    let divided: Vec<Vec<f64>> = folder
        .numbers("s.csv")
        .iter()
        .map(|row| row.iter().zip(&deviations).map(|(z, s)| z / s).collect())
        .collect();
    assert_close(&of("pca"), &divided, ROUNDING);
    // cholesky is triangular: the last output depends on the last column alone.
    assert!((correlation(&rows, 3, &of("cholesky"), 3).abs() - 1.0).abs() < ROUNDING);
    assert!((0..3).all(|j| correlation(&rows, 3, &of("cholesky"), j).abs() < ROUNDING));
}

#[test]
fn a_ridge_leaves_the_share_that_the_formula_says() {
    let folder = irises();
    let line =
        "fit whiten iris.csv --method pca --ridge 0.1 --model m.safetensors --out w.csv --json --quiet";
    let account = folder.say(line).ok().json();
    let shrunk: Vec<f64> = list(&account["variances"]).iter().map(|v| v / (v + 0.1)).collect();
    assert_close(&covariance(&folder.numbers("w.csv")), &diagonal(&shrunk), ROUNDING);
    assert_eq!(account["ridge"], 0.1);
    let back = folder.say("inverse m.safetensors w.csv --quiet").ok().out;
    assert_close(&table(&back).1, &folder.numbers("iris.csv"), ROUNDING);
}

#[test]
fn fewer_directions_can_be_kept() {
    let folder = irises();
    let run = folder.say("fit whiten iris.csv --method pca -k 2").ok();
    assert!(run.out.starts_with("species,whiten1,whiten2\n"), "{}", run.out);
    assert_close(&covariance(&table(&run.out).1), &diagonal(&[1.0; 2]), ROUNDING);
    assert!(run.err.contains("the 2 directions of largest variance of 4 are whitened"), "{}", run.err);
    let run = folder.say("fit whiten iris.csv --method zca -k 2 --quiet").ok();
    let c = covariance(&table(&run.out).1);
    // A projection on two directions: its trace is 2 and it is its own square.
    assert!((c.iter().enumerate().map(|(j, row)| row[j]).sum::<f64>() - 2.0).abs() < ROUNDING);
    let square: Vec<Vec<f64>> =
        (0..4).map(|a| (0..4).map(|b| (0..4).map(|k| c[a][k] * c[k][b]).sum()).collect()).collect();
    assert_close(&square, &c, ROUNDING);
}

#[test]
fn columns_that_repeat_others_are_said_and_refused_where_they_must_be() {
    let folder = irises();
    let rows: Vec<Vec<f64>> =
        folder.numbers("iris.csv").iter().map(|row| [&row[..], &row[..1]].concat()).collect();
    folder.write_table("twice.csv", &rows);
    for method in ["pca", "zca", "pca-cor", "zca-cor"] {
        let run = folder
            .say(&format!("fit whiten twice.csv --method {method} --model m.safetensors --out w.csv"))
            .ok();
        assert!(run.err.contains("warning: the rows have rank 4 of 5"), "{method}: {}", run.err);
        assert!(run.err.contains("rank 4 of 5: the 4 directions with variance are whitened"), "{}", run.err);
        let white = folder.numbers("w.csv");
        let trace: f64 = covariance(&white).iter().enumerate().map(|(j, row)| row[j]).sum();
        assert!((trace - 4.0).abs() < ROUNDING, "{method} {trace}");
        assert_eq!(white[0].len(), if method.starts_with("pca") { 4 } else { 5 });
        let back = folder.say("inverse m.safetensors w.csv --quiet").ok().out;
        assert_close(&table(&back).1, &rows, ROUNDING);
    }
    let before = folder.names();
    let run = folder.say("fit whiten twice.csv --method cholesky --out c.csv --quiet");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("rows of rank 4 in 5 columns; whitening by Cholesky needs"), "{}", run.err);
    assert!(run.err.contains("Give a ridge"), "{}", run.err);
    assert_eq!(folder.names(), before);
    let run = folder.say("fit whiten twice.csv --method cholesky --ridge 1e-3 --out c.csv").ok();
    assert!(run.err.contains("the ridge alone whitens the other"), "{}", run.err);
}

#[test]
fn weighted_rows_are_white_with_their_weights() {
    let folder = irises();
    let rows = folder.numbers("iris.csv");
    for method in METHODS {
        let line =
            format!("fit whiten iris.csv --weights petal_width --method {method} --out w.csv --json --quiet");
        let account = folder.say(&line).ok().json();
        let weights: Vec<f64> = rows.iter().map(|row| row[3]).collect();
        assert!((account["weight"].as_f64().unwrap() - weights.iter().sum::<f64>()).abs() < 1e-9);
        assert_eq!(account["data"]["weights"], "petal_width");
        let white = folder.numbers("w.csv");
        assert_close(&weighted_covariance(&white, &weights), &diagonal(&[1.0; 3]), ROUNDING);
    }
}

#[test]
fn pictures_before_and_after_are_drawn() {
    let folder = irises();
    for method in METHODS {
        let line = format!(
            "fit whiten iris.csv --target species --method {method} --plot whitening=w.svg --plot scree=s.png \
             --plot scatter.svg --out w.csv --quiet"
        );
        folder.say(&line).ok();
        let text = folder.read("w.svg");
        assert!(text.starts_with("<svg") && text.contains("whitening of iris.csv") && !text.contains("NaN"));
        assert!(std::fs::read(folder.path("s.png")).unwrap().starts_with(b"\x89PNG"));
        assert!(folder.read("scatter.svg").contains("whiten1"));
    }
    folder.write("one.csv", "a\n1\n2\n5\n");
    folder.say("fit whiten one.csv --plot whitening=o.svg --plot p.svg --out w.csv --quiet").ok();
}

#[test]
fn words_say_what_was_whitened() {
    let folder = irises();
    let words = folder.say("fit whiten iris.csv --target species --out w.csv").ok().err;
    for line in [
        "axis1  4.20005343",
        "whitening by zca: all 4 directions are whitened",
        "mean squared distance to the centred data: 2.59652832",
        "certificate: worst relative residual",
    ] {
        assert!(words.contains(line), "{line}\n{words}");
    }
    let words = folder.say("fit whiten iris.csv --method zca-cor --out w.csv").ok().err;
    assert!(words.contains("mean squared distance to the standardised data"), "{words}");
    folder.write("one.csv", "a\n1\n2\n5\n");
    let words = folder.say("fit whiten one.csv --out w.csv").ok().err;
    assert!(words.contains("1 of 1 component certified as leading"), "{words}");
    assert_close(&last(&folder.numbers("w.csv"), 1)[..1], &[vec![-5.0 / 26.0f64.sqrt()]], ROUNDING);
}
