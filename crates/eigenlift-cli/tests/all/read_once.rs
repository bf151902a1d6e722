//! No input is read more often than the plan says: a table that fits into memory, a graph, edges and landmarks come through pipes, which
//! give what they hold once.
#![cfg(target_os = "linux")]

use crate::support::Folder;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a run may take. One that waits for a second reading does not end by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// A ring of rows with classes, its edges, and some landmarks.
fn prepared() -> Folder {
    let folder = Folder::new();
    let angle = |i: u32| f64::from(i) * std::f64::consts::TAU / 24.0;
    let place = |i: u32| (angle(i).cos(), 0.8 * angle(i).sin());
    let rows: Vec<String> = (0..24)
        .map(|i| format!("{},{},{}", place(i).0, place(i).1, if i < 12 { "upper" } else { "lower" }))
        .collect();
    folder.write("ring.csv", format!("x,y,half\n{}\n", rows.join("\n")));
    let edges: Vec<String> = (1..=24).map(|i| format!("{i},{},1", i % 24 + 1)).collect();
    folder.write("edges.csv", format!("from,to,length\n{}\n", edges.join("\n")));
    folder.write("cut.csv", "from,to\n24,1\n");
    folder.write("landmarks.csv", "x,y\n1,0\n0,0.8\n-1,0\n0,-0.8\n");
    folder
}

/// Puts a pipe in the place of a file and runs a command that has it as an input.
#[track_caller]
fn reads_once(folder: &Folder, file: &str, line: &str) {
    let bytes = folder.read(file);
    let pipe = folder.path("pipe.csv");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let writer = std::thread::spawn(move || fs::write(pipe, bytes));
    let errors = fs::File::create(folder.path("errors.txt")).expect("a file");
    let args: Vec<&str> = line.split(' ').collect();
    let mut child =
        folder.command(&args).stdout(Stdio::null()).stderr(errors).spawn().expect("the program starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("the program");
            panic!("{line}: waits for a second reading of {file}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{line}: {}", folder.read("errors.txt"));
    writer.join().expect("a writer").expect("the pipe is read");
}

/// Every output that is made of a fit.
const OUTPUTS: &str = "--out s.csv --model m.safetensors --report r.html --plot p.svg";

#[test]
fn a_graph_and_edges_are_read_once() {
    let folder = prepared();
    let fit = "fit isomap ring.csv --target half -k 1";
    let graph = "--plot graph=g.svg";
    reads_once(&folder, "edges.csv", &format!("{fit} --graph pipe.csv {OUTPUTS} {graph}"));
    reads_once(&folder, "edges.csv", "plan isomap ring.csv --target half -k 1 --graph pipe.csv");
    reads_once(&folder, "cut.csv", &format!("{fit} --graph edges.csv --cut=pipe.csv {OUTPUTS} {graph}"));
}

#[test]
fn landmarks_are_read_once() {
    let folder = prepared();
    let table = "ring.csv --target half --kernel rbf(gamma=1)";
    for fit in ["kpca", "kda", "kkmeans --clusters 2"] {
        reads_once(&folder, "landmarks.csv", &format!("fit {fit} {table} --landmarks pipe.csv {OUTPUTS}"));
        reads_once(&folder, "landmarks.csv", &format!("plan {fit} {table} --landmarks pipe.csv"));
    }
}

#[test]
fn a_table_that_fits_into_memory_is_read_once() {
    let folder = prepared();
    let methods = [
        "kpca",
        "pca",
        "pca -k auto",
        "whiten",
        "isomap",
        "mds",
        "laplacian",
        "diffusion",
        "lle",
        "kda",
        "kkmeans --clusters 2",
    ];
    for method in methods {
        let line = format!("fit {method} pipe.csv --target half {OUTPUTS}");
        reads_once(&folder, "ring.csv", &line);
    }
    reads_once(&folder, "ring.csv", "choose pca pipe.csv --target half");
}
