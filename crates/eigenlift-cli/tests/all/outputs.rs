//! Outputs: what cannot be written is found before the work, and one that fails later costs the others nothing.
#![cfg(target_os = "linux")]

use crate::support::Folder;

/// No file can be made in this folder, by anyone.
const NO_FILES: &str = "/proc";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.run(&["data", "iris", "--out", "iris.csv"]).ok();
    folder
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_table_is_read() {
    let folder = folder();
    folder.write("broken.csv", "a,b\n1,2\n3\n");
    std::os::unix::fs::symlink("/dev/null", folder.path("device.safetensors")).unwrap();
    let before = folder.names();
    let no = |name: &str| format!("{NO_FILES}/{name}");
    for (flag, path) in [
        ("--out", no("s.csv")),
        ("--model", no("m.safetensors")),
        ("--plot", no("p.svg")),
        ("--report", no("r.html")),
        ("--loadings", no("l.csv")),
        ("--model", "device.safetensors".into()),
    ] {
        // The table is broken: whoever reads it first says so.
        let run = folder.run(&["fit", "pca", "broken.csv", "--quiet", flag, &path]);
        assert_eq!(run.code, 1, "{flag} {path}: {}", run.err);
        assert!(run.err.contains(&path), "{flag} {path}: {}", run.err);
        assert!(!run.err.contains("broken.csv"), "{flag} {path}: {}", run.err);
    }
    assert_eq!(folder.names(), before);
    for command in ["transform m.safetensors iris.csv", "score m.safetensors iris.csv", "select mi iris.csv"]
    {
        let path = no("s.csv");
        let words: Vec<&str> = command.split(' ').chain(["--out", &path]).collect();
        let run = folder.run(&words);
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        assert!(run.err.contains(&path), "{command}: {}", run.err);
    }
}

#[test]
fn an_output_that_fails_late_does_not_cost_the_others() {
    let folder = folder();
    // A device that is always full, under a name that a picture may have.
    std::os::unix::fs::symlink("/dev/full", folder.path("full.svg")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path("full.csv")).unwrap();
    let run = folder.run(&[
        "fit",
        "kpca",
        "iris.csv",
        "--target",
        "species",
        "--quiet",
        "--model",
        "m.safetensors",
        "--plot",
        "full.svg",
        "--plot",
        "scree=p.svg",
        "--report",
        "r.html",
        "--out",
        "s.csv",
    ]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.starts_with("error: full.svg: cannot be written") && run.err.lines().count() == 1,
        "{}",
        run.err
    );
    for name in ["m.safetensors", "p.svg", "r.html", "s.csv"] {
        assert!(folder.path(name).metadata().unwrap().len() > 100, "{name}");
    }
    let run = folder.run(&[
        "transform",
        "m.safetensors",
        "iris.csv",
        "--quiet",
        "--out",
        "full.csv",
        "--plot",
        "t.svg",
    ]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.starts_with("error: full.csv: cannot be written") && folder.path("t.svg").exists(),
        "{}",
        run.err
    );
    let denoise =
        ["denoise", "m.safetensors", "iris.csv", "--quiet", "--out", "full.csv", "--plot", "d.svg", "--json"];
    let run = folder.run(&denoise);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(folder.path("d.svg").exists() && run.err.contains("full.csv"), "{}", run.err);
    let account: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(account["files"].as_array().unwrap().len(), 1, "{account}");
    let run = folder.run(&[
        "score",
        "m.safetensors",
        "iris.csv",
        "--quiet",
        "--reference",
        "iris.csv",
        "--out",
        "full.csv",
        "--plot",
        "c.svg",
    ]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(folder.path("c.svg").exists() && run.err.contains("full.csv"), "{}", run.err);
}
