//! A machine that refuses: sizes of files, open files, links that lead nowhere, names that are no text; and model files that are
//! the same on every machine.

#![cfg(target_os = "linux")]

use crate::support::{Folder, Run};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

#[test]
fn a_file_beyond_the_limit_of_sizes_is_an_error_and_leaves_nothing() {
    let folder = Folder::prepared();
    folder.write("s.csv", "old");
    let before = folder.names();
    for output in [
        "--out s.csv",
        "--out t.npy",
        "--out t.npz",
        "--out t.parquet",
        "--model n.safetensors",
        "--plot p.png",
        "--report r.html",
    ] {
        // One block of 512 bytes.
        let run =
            folder.shell(
                &format!("ulimit -f 1; eigenlift fit pca iris.csv -k 3 --quiet --out s.csv {output}")
                    .replacen("--out s.csv --out", "--out", 1),
            );
        assert_eq!(run.code, 1, "{output}: {}", run.err);
        assert!(run.err.starts_with("error: "), "{output}: {}", run.err);
        assert!(run.err.contains("File too large"), "{output}: {}", run.err);
        assert!(!run.err.contains("ZipWriter"), "{output}: {}", run.err);
        assert_eq!(folder.names(), before, "{output} left a file");
        assert_eq!(folder.read("s.csv"), "old");
    }
}

#[test]
fn too_few_open_files_are_not_the_fault_of_a_file() {
    let folder = Folder::prepared();
    folder.say("denoise pca.safetensors iris.csv --out t.parquet --quiet").ok();
    folder.say("denoise pca.safetensors iris.csv --out t.npz --quiet").ok();
    for data in ["t.parquet", "t.npz"] {
        let runs: Vec<Run> = (3..16)
            .map(|n| {
                folder.shell(&format!(
                    "ulimit -n {n}; eigenlift fit pca {data} -k 2 --quiet --threads 1 --json"
                ))
            })
            .collect();
        assert!(runs.iter().any(|run| run.code == 1), "{data}");
        assert!(runs.iter().any(|run| run.code == 0), "{data}");
        for run in runs {
            assert!(run.code == 0 || run.code == 1 || run.code == 127, "{data}: {} {}", run.code, run.err);
            for advice in ["Write the file again", "Check the disk"] {
                assert!(!run.err.contains(advice), "{data}: {}", run.err);
            }
            let says_why = !run.err.contains("Too many open files") || run.err.contains("ulimit -n");
            assert!(says_why, "{data}: {}", run.err);
        }
    }
}

#[test]
fn a_closed_standard_output_is_an_error_before_the_work() {
    let folder = Folder::prepared();
    for command in [
        "data iris",
        "fit pca iris.csv",
        "fit pca iris.csv --json --out new.csv",
        "transform pca.safetensors iris.csv",
        "kernel gram iris.csv",
        "inspect pca.safetensors",
        "plan pca iris.csv",
    ] {
        let run = folder.shell(&format!("eigenlift {command} >&-"));
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        assert!(run.err.contains("error: standard output is closed; "), "{command}: {}", run.err);
    }
    assert!(!folder.path("new.csv").exists());
    // Where nothing goes there, and where it goes to a place that takes everything, nothing is wrong.
    for (command, code) in
        [("data iris --out new.csv >&-", 0), ("data iris >/dev/null", 0), ("data iris >/dev/full", 1)]
    {
        let run = folder.shell(&format!("eigenlift {command}"));
        assert_eq!(run.code, code, "{command}: {}", run.err);
        assert!(!run.err.contains("closed"), "{command}: {}", run.err);
    }
    assert!(folder.path("new.csv").exists());
}

#[test]
fn a_link_to_a_file_that_does_not_exist_is_followed_by_every_output() {
    let folder = Folder::prepared();
    std::fs::create_dir(folder.path("deep")).unwrap();
    let names = ["s.csv", "m.safetensors", "p.svg", "r.html"];
    for name in names {
        symlink(format!("deep/{name}"), folder.path(name)).unwrap();
    }
    folder
        .say("fit pca iris.csv -k 2 --out s.csv --model m.safetensors --plot p.svg --report r.html --quiet")
        .ok();
    for name in names {
        assert!(std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
        assert!(folder.path("deep").join(name).is_file(), "{name}");
    }
    for (flag, name) in
        [("--out", "c.csv"), ("--model", "c.safetensors"), ("--plot", "c.svg"), ("--report", "c.html")]
    {
        symlink(name, folder.path(name)).unwrap();
        let run = folder.run(&["fit", "pca", "iris.csv", "-k", "2", "--quiet", "--json", flag, name]);
        assert_eq!(run.code, 1, "{name}: {}", run.err);
        assert!(std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
    }
}

#[test]
fn names_that_are_not_text_work_or_are_refused_before_the_work() {
    let folder = Folder::prepared();
    let named = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let (data, out) = (named(b"d\xff.csv"), named(b"o\xfe.csv"));
    std::fs::copy(folder.path("iris.csv"), folder.path("").join(&data)).unwrap();
    let fit = || {
        let mut command = folder.command(&["fit", "pca", "-k", "2"]);
        command.arg(&data);
        command
    };
    let run: Run = fit().arg("--out").arg(&out).output().unwrap().into();
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(folder.path("").join(&out).is_file());
    let before = folder.names();
    for (run, message) in [
        (
            Run::from(fit().args(["--json", "--model", "n.safetensors"]).output().unwrap()),
            "which is not UTF-8",
        ),
        (
            Run::from(
                fit().args(["--model", "n.safetensors", "--plot"]).arg(named(b"p\xff.svg")).output().unwrap(),
            ),
            "UTF-8",
        ),
    ] {
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(message) && run.out.is_empty(), "{}", run.err);
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn model_files_are_the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::prepared();
    for (number, fit) in [
        "pca iris.csv -k 2",
        "whiten iris.csv -k 2",
        "kpca iris.csv -k 2",
        "kpca iris.csv -k 2 --rank 20",
        "kpca digits.csv --target digit -k 3 --tol 1e-8",
        "isomap iris.csv",
        "mds iris.csv --landmarks 30",
        "laplacian iris.csv",
        "lle iris.csv",
        "kda iris.csv --target species",
        "kkmeans iris.csv --clusters 3",
        "kcca sepals.csv petals.csv --target species",
    ]
    .iter()
    .enumerate()
    {
        let model = |threads: usize| {
            let name = format!("{number}-{threads}.safetensors");
            folder.say(&format!("fit {fit} --threads {threads} --model {name} --json --quiet")).ok();
            std::fs::read(folder.path(&name)).unwrap()
        };
        let one = model(1);
        assert!(one == model(2) && one == model(5), "fit {fit}");
    }
    let shown = folder.say("inspect 2-1.safetensors").ok().out;
    assert!(shown.contains("engine       cpu\n") && !shown.contains("allowed"), "{shown}");
}

#[test]
fn integers_that_are_rounded_are_told() {
    let folder = Folder::new();
    folder.write("t.csv", "a,id\n1,9007199254740993\n2,9007199254740997\n4,3\n");
    for line in
        ["fit pca t.csv -k 1 --out s.csv --model m.safetensors", "transform m.safetensors t.csv --out u.csv"]
    {
        let run = folder.say(line).ok();
        assert!(run.err.contains("warning: the column id holds integers of 2^53"), "{line}: {}", run.err);
    }
}

#[test]
fn a_sparse_file_that_unpacks_to_more_than_is_allowed_is_refused() {
    let folder = Folder::new();
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/counts.npz"),
        folder.path("counts.npz"),
    )
    .unwrap();
    let run = folder.say("fit pca counts.npz -k 2 --memory 1KiB --json");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(
        run.err.contains("counts.npz: its numbers take ") && run.err.contains("1.0 KiB are allowed"),
        "{}",
        run.err
    );
    folder.say("fit pca counts.npz -k 2 --memory 10MB --json --quiet").ok();
}
