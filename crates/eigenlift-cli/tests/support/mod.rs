//! Runs the program in a folder of its own.

#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The program.
pub(crate) const EIGENLIFT: &str = env!("CARGO_BIN_EXE_eigenlift");

/// A folder that goes away.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run left.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// Fails unless the run ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).expect("standard output is JSON")
    }
}

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with the files that most tests need.
    pub(crate) fn prepared() -> Self {
        let folder = Self::new();
        for (name, file) in [
            ("iris", "iris.csv"),
            ("worked-example", "worked.csv"),
            ("moons", "moons.csv"),
            ("digits", "digits.csv"),
        ] {
            folder.run(&["data", name, "--out", file]).ok();
        }
        folder.run(&["fit", "kpca", "iris.csv", "--model", "iris.safetensors", "--json", "--quiet"]).ok();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("a file is written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file is there")
    }

    /// Names of all files, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(EIGENLIFT);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.command(args).output().expect("the program starts").into()
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The program may end before it has read everything.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        child.wait_with_output().expect("the program ends").into()
    }

    /// A line for the shell, with `eigenlift` on the path.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let bin = PathBuf::from(EIGENLIFT).parent().expect("a folder").display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        Command::new("sh")
            .args(["-c", line])
            .env("PATH", path)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .expect("a shell")
            .into()
    }
}

/// The numbers of a CSV table, text columns left out, and the names of all columns.
pub(crate) fn table(csv: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = csv.lines();
    let names = lines.next().unwrap_or_default().split(',').map(String::from).collect();
    let rows = lines.map(|line| line.split(',').filter_map(|cell| cell.parse().ok()).collect()).collect();
    (names, rows)
}

/// Fails unless all numbers agree to `tolerance`.
#[track_caller]
pub(crate) fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (row, wanted)) in found.iter().zip(expected).enumerate() {
        assert_eq!(row.len(), wanted.len(), "row {i}");
        for (x, y) in row.iter().zip(wanted) {
            assert!((x - y).abs() <= tolerance, "row {i}: {x} is not {y}");
        }
    }
}
