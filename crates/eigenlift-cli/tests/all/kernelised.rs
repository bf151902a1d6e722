//! Canonical correlation, discriminants and k-means in feature space from the command line.

use crate::support::{Folder, assert_close, last, list, table};
use eigenlift::data::AnySamples;
use eigenlift::factor::Regularization;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelCca;

/// The flowers, whole and as two views; rings.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.say("data iris --out iris.csv").ok();
    folder.split_iris();
    folder
}

/// The cells of a column.
fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
    let text = folder.read(file);
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|have| have == name).expect(name);
    lines.map(|line| line.split(',').nth(at).unwrap().to_string()).collect()
}

fn samples(folder: &Folder, file: &str) -> AnySamples {
    let rows = folder.numbers(file);
    Matrix::from_vec(rows.concat(), rows.len(), rows[0].len()).unwrap().into()
}

#[test]
fn two_tables_are_correlated_as_the_library_does() {
    let folder = prepared();
    let run = folder.say(
        "fit kcca sepals.csv petals.csv --target species --kernel linear --kernel rbf(gamma=0.3) --rank 30 \
         --regularization 0.01 --permutations 9 --out v.csv --model m.safetensors --report r.html \
         --plot canonical=p.svg --plot correlations=c.svg --plot s.svg",
    );
    let run = run.ok();
    for words in [
        "read sepals.csv and petals.csv: 150 rows, 4 columns of numbers; target species",
        "view 2: petal_length, petal_width",
        "regularised  training         held out  p-value",
        "those of rows held out in 5 folds are what new rows may be expected to have",
        "regularisation: κ = 0.01000, as asked for",
        "of 9 permutations of 150 rows, 95 %",
        "view 2: low rank: 30 landmarks leave out ",
    ] {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    let (names, rows) = table(&folder.read("v.csv"));
    assert_eq!(names, ["species", "view1_kcca1", "view1_kcca2", "view2_kcca1", "view2_kcca2"]);
    let kernels: Vec<KernelSpec> = vec!["linear".parse().unwrap(), "rbf(gamma=0.3)".parse().unwrap()];
    let views = [samples(&folder, "sepals.csv"), samples(&folder, "petals.csv")];
    let rank = eigenlift::features::Rank::Exactly(30);
    let model = KernelCca::new(2)
        .kernels(kernels)
        .regularization(Regularization::Value(0.01))
        .with(|factor| factor.low_rank(eigenlift::features::LowRank::pivoted(rank)))
        .fit(&views)
        .unwrap();
    let expected = model.scores().unwrap();
    let wide: Vec<Vec<f64>> =
        (0..150).map(|i| expected.iter().flat_map(|view| view.row(i).to_vec()).collect()).collect();
    assert_close(&rows, &wide, 1e-10);
    let report = folder.read("r.html");
    for words in ["Views against each other", "sepals.csv and petals.csv", "view1_kcca1", "held out"] {
        assert!(report.contains(words), "{words}");
    }
    for (file, words) in [("p.svg", "scores of view 2"), ("c.svg", "permuted"), ("s.svg", "view1_kcca2")] {
        assert!(folder.read(file).contains(words), "{file}");
    }
    let shown = folder.say("inspect m.safetensors").ok().out;
    for words in ["method       kcca", "training", "view 1       150 × 2 (f64), linear"] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn saved_views_give_the_scores_of_the_fit() {
    let folder = prepared();
    folder
        .say(
            "fit kcca iris.csv --target species --view 1,sepal_width --view petal_length-petal_width \
             --regularization 0.001 -k 3 --out v.csv --model m.safetensors",
        )
        .ok();
    let (_, rows) = table(&folder.read("v.csv"));
    let view =
        |from: usize| -> Vec<Vec<f64>> { rows.iter().map(|row| row[from..from + 3].to_vec()).collect() };
    for (number, file) in [("1", "sepals.csv"), ("2", "petals.csv")] {
        folder
            .say(&format!("transform m.safetensors {file} --target species --view {number} --out t.csv"))
            .ok();
        let (names, found) = table(&folder.read("t.csv"));
        assert_eq!(names, ["species", "kcca1", "kcca2", "kcca3"]);
        assert_close(&found, &view(if number == "1" { 0 } else { 3 }), 1e-8);
    }
    folder.say("transform m.safetensors iris.csv --target species --out all.csv --plot all.svg").ok();
    let (names, found) = table(&folder.read("all.csv"));
    assert_eq!(names[..3], ["species", "view1_kcca1", "view1_kcca2"]);
    assert_close(&found, &rows, 1e-8);
    // The target is kept out of every table that has it, also when it is given by its position.
    folder.say("fit kcca sepals.csv petals.csv --target 3 --regularization 0.001 -k 3 --out two.csv").ok();
    assert_eq!(table(&folder.read("two.csv")).0[..2], ["species", "view1_kcca1"]);
    assert_close(&folder.numbers("two.csv"), &rows, 1e-10);
    let account = folder.say("transform m.safetensors petals.csv --view 2 --json --quiet").ok().json();
    assert_eq!((&account["view"], &account["n_components"]), (&2.into(), &3.into()));
    folder.say("plot correlations m.safetensors --out c.svg").ok();
    folder.say("plot canonical m.safetensors iris.csv --target species --out p.svg").ok();
    assert!(folder.read("p.svg").contains("component 3"));
}

#[test]
fn columns_of_one_name_are_told_apart_and_found_again() {
    let folder = prepared();
    let iris = folder.numbers("iris.csv");
    let half = |from: usize| -> String {
        let lines = iris.iter().enumerate().map(|(i, row)| format!("n{i},{},{}\n", row[from], row[from + 1]));
        format!("id,a,b\n{}", lines.collect::<String>())
    };
    folder.write("one.csv", half(0));
    folder.write("other.csv", half(2).replace("n7,", "x7,"));
    let run = folder.say("fit kcca one.csv other.csv --out v.csv --model m.safetensors").ok();
    assert!(run.err.contains("warning: the column id of other.csv differs"), "{}", run.err);
    assert!(run.err.contains("in 1 row: the rows may not be in the same order"), "{}", run.err);
    assert!(run.err.contains("view 2: view2_a, view2_b"), "{}", run.err);
    let (names, _) = table(&folder.read("v.csv"));
    assert_eq!(names[..3], ["id", "view2_id", "view1_kcca1"]);
    folder.say("transform m.safetensors other.csv --view 2 --out t.csv").ok();
    assert_close(&folder.numbers("t.csv"), &last(&folder.numbers("v.csv"), 2), 1e-8);
    let account = folder.say("fit kcca one.csv other.csv --json --quiet").ok().json();
    assert_eq!(account["data"]["views"][1]["path"], "other.csv");
    assert_eq!(account["data"]["column_names"][2], "view2_a");
    assert_eq!(account["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn a_view_may_come_from_standard_input() {
    let folder = prepared();
    let petals = folder.read("petals.csv");
    let words = "fit kcca sepals.csv - --target species --regularization 0.01 --out v.csv --quiet";
    let run = folder.run_with_input(&words.split(' ').collect::<Vec<_>>(), &petals);
    assert_eq!(run.code, 0, "{}", run.err);
    folder.say("fit kcca sepals.csv petals.csv --target species --regularization 0.01 --out w.csv").ok();
    assert_close(&folder.numbers("v.csv"), &folder.numbers("w.csv"), 1e-12);
}

#[test]
fn classes_are_told_apart_on_rows_held_out() {
    let folder = prepared();
    let run = folder
        .say("fit kda iris.csv --target species --out d.csv --model m.safetensors --plot s.svg --report r.html")
        .ok();
    for words in
        ["between / within", "versicolor    50", "of rows held out in 5 folds are classified rightly"]
    {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    assert_eq!(table(&folder.read("d.csv")).0, ["class", "species", "kda1", "kda2"]);
    let (given, found) = (column(&folder, "d.csv", "species"), column(&folder, "d.csv", "class"));
    let right = given.iter().zip(&found).filter(|(a, b)| a == b).count();
    let account = folder.say("fit kda iris.csv --target species --json --quiet").ok().json();
    let mean = account["held_out_accuracy"]["mean"].as_f64().unwrap();
    // Linear discriminants reach 0.98 on all rows; nested folds give less, and two standard errors of 150 samples at 0.95 are 0.036.
    assert!(mean > 0.95 - 0.036, "{mean}");
    assert!((account["training_accuracy"].as_f64().unwrap() - right as f64 / 150.0).abs() < 1e-12);
    assert_eq!(account["classes"].as_array().unwrap().len(), 3);
    assert_eq!(list(&account["eigenvalues"]).len(), 2);
    assert_eq!(list(&account["curve"]["shares"]).len(), 13);
    assert_eq!(account["plan"]["n_samples"], 150);
    // New rows need no labels.
    folder.say("transform m.safetensors iris.csv --columns 1-4 --out t.csv").ok();
    assert_eq!(table(&folder.read("t.csv")).0, ["species", "class", "kda1", "kda2"]);
    assert_eq!(column(&folder, "t.csv", "class"), found);
    assert_close(&folder.numbers("t.csv"), &folder.numbers("d.csv"), 1e-8);
    let shown = folder.say("inspect m.safetensors").ok().out;
    assert!(shown.contains("method       kda") && shown.contains("accuracy: "), "{shown}");
    assert!(folder.read("r.html").contains("Regularisation"));
    folder.say("plot regularization m.safetensors --out k.svg").ok();
    folder.say("plot scores m.safetensors iris.csv --target species --out s.png").ok();
}

#[test]
fn classes_that_are_numbers_keep_their_order_and_a_target_called_class_its_name() {
    let folder = Folder::new();
    let rows: String = (0..30)
        .map(|i| (i, [10.0, 9.0, 2.0][i % 3]))
        .map(|(i, class)| format!("{},{},{class}\n", class + (i as f64).sin(), (i as f64 * 1.7).cos()))
        .collect();
    folder.write("n.csv", format!("a,b,class\n{rows}"));
    let words = "fit kda n.csv --target class --kernel linear --regularization 0.01 --out d.csv --model m.safetensors";
    folder.say(&format!("{words} --plot regions=r.svg")).ok();
    let (names, _) = table(&folder.read("d.csv"));
    assert_eq!(names, ["predicted_class", "class", "kda1", "kda2"]);
    let facts = folder.say("inspect m.safetensors --json").ok().json();
    assert_eq!(facts["classes"], serde_json::json!(["2", "9", "10"]));
    folder.say("transform m.safetensors n.csv --target class --out t.csv").ok();
    assert_eq!(table(&folder.read("t.csv")).0[0], "predicted_class");
    folder.say("plot regions m.safetensors n.csv --target class --out again.svg").ok();
    let one = folder.say("fit kda n.csv --target class -k 1 --out one.csv --plot one.svg").ok();
    assert_eq!(table(&folder.read("one.csv")).0, ["predicted_class", "class", "kda1"]);
    assert!(!one.err.contains("warning"), "{}", one.err);
    let none = folder.say("fit kda n.csv --target class --folds 0 --regularization 0.1 --out none.csv").ok();
    assert!(none.err.contains("no rows were held out"), "{}", none.err);
    let more = folder.say("fit kda n.csv --target class -k 5 --out more.csv").ok();
    assert!(more.err.contains("warning: ") && more.err.contains("5 were asked for"), "{}", more.err);
}

#[test]
fn clusters_follow_rings() {
    let folder = Folder::new();
    folder.say("data rings --rows 200 --noise 0.03 --seed 3 --out rings.csv").ok();
    let fit = "fit kkmeans rings.csv --target class --clusters 2 --kernel rbf(gamma=3) --spectral 4";
    let run = folder
        .say(&format!(
            "{fit} --out k.csv --model m.safetensors --plot p.svg --plot regions=r.svg --report r.html"
        ))
        .ok();
    for words in
        ["cluster  rows", "inertia: ", "along 4 kernel principal components", "the best of 10 starts"]
    {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    assert_eq!(table(&folder.read("k.csv")).0, ["cluster", "class", "kkmeans1", "kkmeans2"]);
    let (clusters, classes) = (column(&folder, "k.csv", "cluster"), column(&folder, "k.csv", "class"));
    let same =
        clusters.iter().zip(&classes).filter(|(a, b)| (a.as_str() == "1") == (b.as_str() == "0")).count();
    assert!(same == 0 || same == 200, "{same} of 200");
    // The cluster of a row is the one whose centre is nearest.
    for (row, cluster) in last(&folder.numbers("k.csv"), 2).iter().zip(&clusters) {
        assert_eq!(if row[0] < row[1] { "1" } else { "2" }, cluster);
    }
    folder.say("transform m.safetensors rings.csv --target class --out t.csv").ok();
    assert_close(&folder.numbers("t.csv"), &folder.numbers("k.csv"), 1e-8);
    let account = folder.say(&format!("{fit} --json --quiet")).ok().json();
    let sizes = list(&account["sizes"]);
    assert_eq!(sizes.iter().sum::<f64>(), 200.0);
    assert_eq!((&account["converged"], &account["spectral"]), (&true.into(), &4.into()));
    assert!(folder.read("p.svg").contains("kernel component 2"));
    let report = folder.read("r.html");
    assert!(report.contains("kernel component 1") && report.contains("Regions"));
    folder.say("plot scores m.safetensors rings.csv --out s.svg").ok();
    let shown = folder.say("inspect m.safetensors").ok().out;
    assert!(shown.contains("method       kkmeans") && shown.contains("inertia"), "{shown}");
}

#[test]
fn plans_say_which_features_are_used() {
    let folder = prepared();
    let kcca =
        folder.say("plan kcca sepals.csv petals.csv --target species --rank 40 --json --quiet").ok().json();
    assert_eq!(kcca["views"][1]["rank"], 40);
    assert_eq!(kcca["folds"], 5);
    let kda = folder.say("plan kda iris.csv --target species --exact").ok().out;
    assert!(kda.contains("exact: 150 samples as landmarks"), "{kda}");
    let kkmeans = folder.say("plan kkmeans iris.csv --clusters 3 --target species --kernel linear").ok().out;
    assert!(kkmeans.contains("exact: 4 explicit features"), "{kkmeans}");
}

#[test]
fn threads_and_precision_change_nothing_that_matters() {
    let folder = prepared();
    let fit = |words: &str, out: &str| {
        folder.say(&format!("fit {words} --target species --out {out} --quiet")).ok();
        folder.read(out)
    };
    for method in ["kda iris.csv", "kkmeans iris.csv --clusters 3", "kcca sepals.csv petals.csv"] {
        let one = fit(&format!("{method} --threads 1"), "one.csv");
        assert_eq!(one, fit(&format!("{method} --threads 2"), "two.csv"), "{method}");
    }
    fit("kda iris.csv --regularization 0.01", "double.csv");
    fit("kda iris.csv --regularization 0.01 --precision f32", "single.csv");
    // Where magnitudes tie, rounding decides on the sign.
    let magnitudes = |file: &str| -> Vec<Vec<f64>> {
        folder.numbers(file).iter().map(|row| row.iter().map(|x| x.abs()).collect()).collect()
    };
    assert_close(&magnitudes("single.csv"), &magnitudes("double.csv"), 1e-2);
}
