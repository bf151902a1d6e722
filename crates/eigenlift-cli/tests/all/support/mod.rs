//! Runs the program in a folder of its own.

// Some tests are those of Linux alone.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

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
        folder.split_iris();
        folder.run(&["fit", "kpca", "iris.csv", "--model", "iris.safetensors", "--json", "--quiet"]).ok();
        let pca =
            ["fit", "pca", "iris.csv", "--model", "pca.safetensors", "--out", "pcascores.csv", "--quiet"];
        folder.run(&pca).ok();
        folder.write("path.csv", "feature,score,spread\na,0.6,0.02\nb,0.8,0.02\nc,0.9,0.01\nd,0.89,0.02\n");
        folder
    }

    /// Two views of the flowers of `iris.csv`: sepals.csv and petals.csv, each with the species.
    pub(crate) fn split_iris(&self) {
        let iris = self.read("iris.csv");
        for (name, columns) in [("sepals.csv", [0, 1, 4]), ("petals.csv", [2, 3, 4])] {
            let lines = iris.lines().map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                columns.map(|j| cells[j]).join(",") + "\n"
            });
            self.write(name, lines.collect::<String>());
        }
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

    /// Runs a line of words with blanks between them.
    pub(crate) fn say(&self, line: &str) -> Run {
        self.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// The numbers of a CSV table, text columns left out.
    pub(crate) fn numbers(&self, name: &str) -> Vec<Vec<f64>> {
        table(&self.read(name)).1
    }

    /// Writes a table of numbers with names x1, x2, …
    pub(crate) fn write_table(&self, name: &str, rows: &[Vec<f64>]) {
        let names: Vec<String> = (1..=rows[0].len()).map(|j| format!("x{j}")).collect();
        let lines = rows.iter().map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
        let text: Vec<String> = std::iter::once(names.join(",")).chain(lines).collect();
        self.write(name, text.join("\n") + "\n");
    }

    /// Writes a table of numbers as NPY.
    pub(crate) fn write_npy(&self, name: &str, n_cols: usize, values: &[f64]) {
        let shape = (values.len() / n_cols, n_cols);
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape:?}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00v\x00".to_vec();
        bytes.extend(format!("{header:<117}\n").as_bytes());
        values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        self.write(name, bytes);
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

/// A list of numbers in JSON.
#[track_caller]
pub(crate) fn list(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// The covariance matrix of rows, divided by the sum of the weights.
pub(crate) fn weighted_covariance(rows: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<f64>> {
    let (d, total) = (rows[0].len(), weights.iter().sum::<f64>());
    let sum =
        |f: &dyn Fn(&[f64]) -> f64| rows.iter().zip(weights).map(|(row, w)| w * f(row)).sum::<f64>() / total;
    let mean: Vec<f64> = (0..d).map(|j| sum(&|row| row[j])).collect();
    let entry = |a: usize, b: usize| sum(&|row| (row[a] - mean[a]) * (row[b] - mean[b]));
    (0..d).map(|a| (0..d).map(|b| entry(a, b)).collect()).collect()
}

/// The covariance matrix of rows, divided by their number.
pub(crate) fn covariance(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    weighted_covariance(rows, &vec![1.0; rows.len()])
}

/// A matrix with the numbers given on its diagonal and zeros beside them.
pub(crate) fn diagonal(values: &[f64]) -> Vec<Vec<f64>> {
    let k = values.len();
    (0..k).map(|a| (0..k).map(|b| if a == b { values[a] } else { 0.0 }).collect()).collect()
}

/// The last columns of every row.
pub(crate) fn last(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row[row.len() - columns..].to_vec()).collect()
}
