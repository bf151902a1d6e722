//! From a table to scores and a model, and back to the same scores.

use crate::support::{Folder, assert_close, table};
use std::fs;

#[test]
fn transform_of_the_training_rows_gives_the_training_scores() {
    let folder = Folder::prepared();
    let fit = [
        "fit",
        "kpca",
        "iris.csv",
        "--target",
        "species",
        "-k",
        "5",
        "--out",
        "scores.csv",
        "--model",
        "m.safetensors",
    ];
    folder.run(&fit).ok();
    folder.run(&["transform", "m.safetensors", "iris.csv", "--target", "species", "--out", "again.csv"]).ok();
    let (names, scores) = table(&folder.read("scores.csv"));
    let (again_names, again) = table(&folder.read("again.csv"));
    assert_eq!(names, ["species", "kpca1", "kpca2", "kpca3", "kpca4", "kpca5"]);
    assert_eq!(names, again_names);
    assert_close(&again, &scores, 1e-12);
    assert!(folder.read("scores.csv").lines().nth(1).unwrap().starts_with("setosa,"));
}

#[test]
fn every_format_holds_the_same_scores() {
    let folder = Folder::prepared();
    folder.run(&["fit", "kpca", "iris.csv", "--out", "s.csv"]).ok();
    let expected = table(&folder.read("s.csv")).1;
    for file in ["s.tsv", "s.npy", "s.npz", "s.parquet"] {
        folder.run(&["fit", "kpca", "iris.csv", "--out", file]).ok();
        // Reading them back through the linear kernel's Gram matrix compares all entries.
        let gram =
            |file: &str| folder.run(&["kernel", "gram", file, "--kernel", "linear", "--quiet"]).ok().out;
        assert_eq!(gram(file), gram("s.csv"), "{file}");
    }
    assert_eq!(expected.len(), 150);
}

#[test]
fn columns_are_matched_by_name() {
    let folder = Folder::prepared();
    folder.write("a.csv", "sepal_length,sepal_width,petal_length,petal_width\n5.1,3.5,1.4,0.2\n6,3,4,1\n");
    folder.write(
        "b.csv",
        "extra,petal_width,petal_length,sepal_width,sepal_length\n7,0.2,1.4,3.5,5.1\n8,1,4,3,6\n",
    );
    folder.write("c.csv", "5.1,3.5,1.4,0.2\n6,3,4,1\n");
    let a = folder.run(&["transform", "iris.safetensors", "a.csv"]).ok();
    let b = folder.run(&["transform", "iris.safetensors", "b.csv"]).ok();
    assert_eq!(a.out, b.out);
    assert!(b.err.contains("note: columns the model does not know were left out: extra"), "{}", b.err);
    assert_eq!(folder.run(&["transform", "iris.safetensors", "c.csv"]).ok().out, a.out);
}

#[test]
fn the_json_account_has_its_keys() {
    let folder = Folder::prepared();
    let json = folder
        .run(&[
            "fit", "kpca", "iris.csv", "--target", "species", "--json", "--out", "s.csv", "--plot", "p.svg",
        ])
        .ok()
        .json();
    let keys = [
        "command",
        "version",
        "data",
        "plan",
        "kernel",
        "eigenvalues",
        "variances",
        "explained_variance_ratio",
        "total",
        "residuals",
        "intervals",
        "ties",
        "warnings",
        "stats",
        "solver",
        "threads",
        "seconds",
        "peak_memory_bytes",
        "files",
    ];
    for key in keys {
        assert!(json.get(key).is_some(), "{key}");
    }
    for key in ["read", "fit", "write", "plot"] {
        assert!(json["seconds"][key].is_f64(), "{key}");
    }
    for key in ["iterations", "passes", "products"] {
        assert!(json["stats"][key].is_u64(), "{key}");
    }
    assert_eq!((&json["data"]["rows"], &json["data"]["columns"]), (&150.into(), &4.into()));
    assert_eq!(json["files"].as_array().unwrap().len(), 2);
    let n_lambda = json["eigenvalues"][0].as_f64().unwrap();
    assert!((n_lambda / 150.0 - json["variances"][0].as_f64().unwrap()).abs() < 1e-12);
    let transform =
        folder.run(&["transform", "iris.safetensors", "iris.csv", "--json", "--quiet"]).ok().json();
    for key in ["read", "transform", "write"] {
        assert!(transform["seconds"][key].is_f64(), "{key}");
    }
    let inspect = folder.run(&["inspect", "iris.safetensors", "--json"]).ok().json();
    assert_eq!(inspect["header"]["method"], "kpca");
    let plan = folder.run(&["plan", "kpca", "iris.csv", "--json"]).ok().json();
    assert_eq!(plan["n_samples"], 150);
}

#[test]
fn data_is_on_standard_output_and_words_are_on_standard_error() {
    let folder = Folder::prepared();
    let run = folder.run(&["fit", "kpca", "iris.csv"]).ok();
    assert_eq!(run.out.lines().count(), 151);
    for words in [
        "read iris.csv: 150 rows, 4 columns",
        "text set aside: species",
        "because",
        "certificate:",
        "peak memory",
    ] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    let quiet = folder.run(&["fit", "kpca", "iris.csv", "--quiet"]).ok();
    assert_eq!((quiet.out, quiet.err), (run.out.clone(), String::new()));
    let piped = folder.run_with_input(&["fit", "kpca", "-", "--quiet"], &folder.read("iris.csv")).ok();
    assert_eq!(piped.out, run.out);
}

#[test]
fn missing_cells_are_treated_as_asked() {
    let folder = Folder::new();
    folder.write("m.csv", "a,b\n1,2\n,4\n5,7\n6,1\n");
    let drop = folder.run(&["fit", "kpca", "m.csv", "--missing", "drop"]).ok();
    assert!(drop.err.contains("1 row left out because a cell was missing"), "{}", drop.err);
    assert_eq!(drop.out.lines().count(), 4);
    let mean = folder.run(&["fit", "kpca", "m.csv", "--missing", "mean"]).ok();
    assert!(mean.err.contains("1 missing cell filled with the mean"), "{}", mean.err);
    assert_eq!(mean.out.lines().count(), 5);
}

#[test]
fn threads_do_not_change_a_bit_and_precision_is_obeyed() {
    let folder = Folder::prepared();
    let fit = |more: &[&str]| {
        let args = ["fit", "kpca", "digits.csv", "--target", "digit", "--quiet"];
        folder.run(&[&args[..], more].concat()).ok().out
    };
    assert_eq!(fit(&["--threads", "1"]), fit(&["--threads", "2"]));
    let single = folder.run(&["plan", "kpca", "iris.csv", "--precision", "f32", "--json"]).ok().json();
    assert_eq!(single["precision"], "f32");
    let dense = fit(&["--solver", "dense", "--tol", "1e-8"]);
    let davidson = fit(&["--solver", "davidson", "--tol", "1e-8"]);
    assert_close(&table(&dense).1, &table(&davidson).1, 1e-5);
}

#[test]
fn pictures_are_drawn() {
    let folder = Folder::prepared();
    let args = "fit kpca moons.csv --target class -k 3 --out s.csv --plot a.svg --plot scree=b.png --plot contours=c.svg";
    folder.run(&args.split(' ').collect::<Vec<_>>()).ok();
    assert!(folder.read("a.svg").contains("kpca1 ("));
    assert!(fs::read(folder.path("b.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(folder.read("c.svg").matches("nλ").count(), 3);
    folder.run(&["fit", "kpca", "iris.csv", "-k", "1", "--out", "s.csv", "--plot", "strip.svg"]).ok();
    assert!(folder.read("strip.svg").contains("row"));
}

#[test]
fn a_model_in_single_precision_projects_its_own_rows() {
    let folder = Folder::prepared();
    let fit = "fit kpca digits.csv --target digit -k 4 --precision f32 --out s.csv --model m.safetensors";
    folder.run(&fit.split(' ').collect::<Vec<_>>()).ok();
    folder.run(&["transform", "m.safetensors", "digits.csv", "--target", "digit", "--out", "t.csv"]).ok();
    assert_close(&table(&folder.read("t.csv")).1, &table(&folder.read("s.csv")).1, 1e-4);
    assert!(folder.run(&["inspect", "m.safetensors"]).ok().out.contains("1797 × 64 (f32)"));
}

#[test]
fn a_precomputed_matrix_gives_the_scores_of_its_kernel() {
    let folder = Folder::prepared();
    folder.run(&["kernel", "gram", "iris.csv", "--kernel", "rbf(gamma=0.3)", "--out", "k.npy"]).ok();
    let direct = folder.run(&["fit", "kpca", "iris.csv", "--kernel", "rbf(gamma=0.3)", "--quiet"]).ok().out;
    let given = folder
        .run(&["fit", "kpca", "k.npy", "--kernel", "precomputed", "--quiet", "--model", "m.safetensors"])
        .ok()
        .out;
    assert_close(&table(&given).1, &table(&direct).1, 1e-10);
    let again = folder.run(&["transform", "m.safetensors", "k.npy", "--quiet"]).ok().out;
    assert_close(&table(&again).1, &table(&direct).1, 1e-10);
}
