//! Low rank, certify, refine, and tables that do not fit into memory.

use crate::support::{Folder, assert_close, table};

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_rough_model_is_certified_and_refined() {
    let folder = Folder::prepared();
    let input = ["digits.csv", "--target", "digit"];
    let with = |command: &[&str], more: &[&str]| folder.run(&[command, &input, more].concat()).ok();
    let rough = with(
        &["fit", "kpca"],
        &["-k", "5", "--rank", "400", "--model", "rough.safetensors", "--out", "rough.csv", "--json"],
    );
    let rough = rough.json();
    assert_eq!(rough["plan"]["route"], "low-rank");
    assert_eq!(rough["bounds"]["grounds"], "residual-trace");
    let left = number(&rough["bounds"]["residual_trace"]);
    let sure = with(&["certify", "rough.safetensors"], &["--model", "sure.safetensors", "--json"]).json();
    assert_eq!(sure["bounds"]["grounds"], "residuals");
    assert!(number(&sure["bounds"]["n_certified"]) >= 1.0);
    let exact = with(
        &["refine", "rough.safetensors"],
        &["--tol", "1e-9", "--model", "exact.safetensors", "--out", "exact.csv", "--json"],
    );
    let exact = exact.json();
    assert_eq!(exact["plan"]["route"], "dual");
    for j in 0..4 {
        let (low, value) = (number(&rough["eigenvalues"][j]), number(&exact["eigenvalues"][j]));
        assert!(low <= value && value <= low + left, "{low} {value}");
        let interval = &sure["intervals"][j];
        assert!(number(&interval["low"]) <= value && value <= number(&interval["high"]));
        assert!(number(&exact["residuals"][j]) <= 1e-9);
    }
    // The projection of the certified model is the rough one's; the exact one agrees with a fit from the start.
    folder.run(&[&["transform", "sure.safetensors"], &input[..], &["--out", "sure.csv"]].concat()).ok();
    assert_eq!(folder.read("sure.csv"), folder.read("rough.csv"));
    with(&["fit", "kpca"], &["-k", "5", "--tol", "1e-9", "--out", "direct.csv"]);
    assert_close(&table(&folder.read("exact.csv")).1, &table(&folder.read("direct.csv")).1, 1e-6);
    let text = with(&["certify", "rough.safetensors"], &[]).err;
    assert!(text.contains("certified as leading") && text.contains("of the variance"), "{text}");
}

#[test]
fn every_approximation_can_be_asked_for() {
    let folder = Folder::prepared();
    for how in ["pivoted", "uniform", "kmeans", "fourier"] {
        let args =
            ["fit", "kpca", "iris.csv", "--target", "species", "--low-rank", how, "--rank", "40", "--json"];
        let account = folder.run(&args).ok().json();
        assert_eq!(account["plan"]["approximation"], how);
        assert!(number(&account["plan"]["rank"]) <= 40.0);
    }
    let polynomial =
        ["--kernel", "polynomial(degree=3)", "--low-rank", "tensorsketch", "--rank", "64", "--json"];
    let account = folder.run(&[&["fit", "kpca", "iris.csv"], &polynomial[..]].concat()).ok().json();
    assert_eq!(account["bounds"]["grounds"], "sampled-pairs");
    folder.run(&["fit", "kpca", "iris.csv", "--columns", "1-4", "--out", "z.csv", "--json"]).ok();
    folder.shell("head -30 iris.csv > landmarks.csv").ok();
    let account =
        folder.run(&["fit", "kpca", "iris.csv", "--landmarks", "landmarks.csv", "--json"]).ok().json();
    assert_eq!(account["plan"]["approximation"], "given");
    for (args, says) in [
        (vec!["--low-rank", "fourier", "--kernel", "linear"], "fourier"),
        (vec!["--rank", "exact", "--low-rank", "uniform"], "--rank exact with --low-rank"),
        (vec!["--landmarks", "landmarks.csv", "--rank", "5"], "--landmarks with"),
        (vec!["--rank", "0"], "a whole number"),
        (vec!["--rank", "20", "--solver", "dense"], "together with low rank"),
        (vec!["--rank", "9223372036854775808"], "at most 1048576"),
        (vec!["--low-rank", "growing"], "[possible values: pivoted, uniform, kmeans, fourier, tensorsketch]"),
        (vec!["--low-rank", "fourier", "--kernel", "cosine"], "cosine"),
        (vec!["--rank", "30", "--kernel", "sigmoid(gamma=0.1,coef0=-1)"], "positive semi-definite"),
    ] {
        let run = folder.run(&[&["fit", "kpca", "iris.csv"], &args[..]].concat());
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(run.err.to_lowercase().contains(says), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_table_larger_than_the_memory_allowed_is_fitted_and_transformed_in_pieces() {
    let folder = Folder::new();
    for (file, rows) in [("big.npy", 1_000_000), ("big.parquet", 300_000), ("big.csv", 300_000)] {
        let text = rows.to_string();
        folder.run(&["data", "swiss-roll", "--rows", &text, "--noise", "0.3", "--out", file]).ok();
        let fit = [
            "fit",
            "kpca",
            file,
            "--memory",
            "7MB",
            "--rank",
            "60",
            "--out",
            "s.npy",
            "--model",
            "m.safetensors",
            "--json",
        ];
        let account = folder.run(&fit).ok().json();
        assert!(number(&account["plan"]["chunk_rows"]) < 300_000.0);
        assert_eq!(account["data"]["rows"], rows);
        let again = ["transform", "m.safetensors", file, "--out", "t.npy", "--json"];
        let transform = folder.run(&again).ok().json();
        if file.ends_with("npy") {
            // The numbers alone take 32 MB; the program itself takes about 10.
            let peaks = [&account, &transform].map(|a| number(&a["peak_memory_bytes"]));
            assert!(peaks.iter().all(|peak| *peak < 30e6), "{peaks:?}");
        }
        assert_eq!(
            std::fs::read(folder.path("s.npy")).unwrap(),
            std::fs::read(folder.path("t.npy")).unwrap()
        );
    }
    let exact = folder.run(&["fit", "kpca", "big.npy", "--memory", "6MB", "--rank", "exact"]);
    assert_eq!(exact.code, 1);
    assert!(exact.err.contains("landmarks fit"), "{}", exact.err);
    // Whole or in pieces, the result is the same.
    let small = ["fit", "kpca", "big.npy", "--rank", "60", "--json"];
    let whole = folder.run(&small).ok().json();
    let pieces = folder.run(&[&small[..], &["--memory", "10MB"]].concat()).ok().json();
    assert_eq!(whole["kernel"], pieces["kernel"]);
}

#[test]
fn bad_rows_in_the_middle_leave_no_output() {
    let folder = Folder::prepared();
    let mut text = String::from("sepal_length,sepal_width,petal_length,petal_width\n");
    (0..20_000).for_each(|i| text += &format!("{},3.5,1.4,0.2\n", 5.0 + f64::from(i % 7)));
    text += "5.1,oops,1.4,0.2\n";
    folder.write("late.csv", &text);
    let run = folder.run(&["transform", "iris.safetensors", "late.csv", "--out", "t.csv"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("20002") && run.err.contains("oops"), "{}", run.err);
    assert!(!folder.names().iter().any(|name| name.starts_with("t.csv") || name.contains(".part")));
    let other = folder.run(&["certify", "iris.safetensors", "moons.csv"]);
    assert_eq!(other.code, 3, "{}", other.err);
}
