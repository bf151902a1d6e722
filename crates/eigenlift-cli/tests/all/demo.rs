//! The demo writes everything it promises, and nothing over what is not its own.

use crate::support::{Folder, table};

#[test]
fn the_demo_writes_its_files_twice() {
    let folder = Folder::new();
    let first = folder.run(&["demo"]).ok();
    assert!(first.err.contains("1797 images") && first.err.contains("certificate:"), "{}", first.err);
    let files = [
        "contours.png",
        "contours.svg",
        "linear.png",
        "linear.svg",
        "model.safetensors",
        "report.html",
        "scatter.png",
        "scatter.svg",
        "scores.csv",
        "scree.png",
        "scree.svg",
        "worked-example.txt",
    ];
    for file in files {
        assert!(folder.path("eigenlift-demo").join(file).is_file(), "{file}");
    }
    let scores = folder.read("eigenlift-demo/scores.csv");
    assert_eq!(table(&scores).0.first().map(String::as_str), Some("digit"));
    assert_eq!(scores.lines().count(), 1798);
    assert!(folder.read("eigenlift-demo/worked-example.txt").contains("11.66094908"));
    folder.run(&["demo", "--quiet"]).ok();
    assert_eq!(folder.read("eigenlift-demo/scores.csv"), scores);
}

/// 5–95 % ranges of 200 draws, around the eigenvalues that the notes print.
#[test]
fn the_toy_figure_has_eigenvalues_near_the_printed_ones() {
    let folder = Folder::new();
    folder.run(&["demo", "--quiet"]).ok();
    let svg = folder.read("eigenlift-demo/contours.svg");
    let ranges =
        [(21.6, 23.7), (20.4, 22.7), (3.6, 5.0), (3.3, 4.4), (2.9, 3.9), (2.5, 3.4), (2.1, 3.1), (1.7, 2.8)];
    let values: Vec<f64> = svg
        .split("nλ")
        .skip(1)
        .filter_map(|rest| rest.split(" = ").nth(1)?.split('<').next()?.trim().parse().ok())
        .collect();
    assert_eq!(values.len(), ranges.len(), "{values:?}");
    for (value, (low, high)) in values.iter().zip(ranges) {
        assert!((low..=high).contains(value), "{values:?}");
    }
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/notes.txt", "mine");
    let run = folder.run(&["demo", "--out", "mine"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("holds notes.txt, which is not from an earlier demo"), "{}", run.err);
    assert_eq!(folder.run(&["demo", "--out", "mine/notes.txt"]).code, 2);
    assert_eq!(folder.read("mine/notes.txt"), "mine");
}
