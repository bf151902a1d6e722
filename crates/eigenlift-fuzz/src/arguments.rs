//! The arguments of the command line: one process for each input.

use crate::Mutator;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// After this time a run hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// Exit statuses that are answers: done, failed, usage, input, not converged.
const ANSWERS: [i32; 5] = [0, 1, 2, 3, 4];

/// Values that arguments are given beside the flags of each subcommand.
pub const ARGUMENT_WORDS: [&str; 48] = [
    "iris.csv",
    "moons.csv",
    "model.safetensors",
    "missing.csv",
    "empty.csv",
    "sparse.npz",
    "out.csv",
    "out.npy",
    "out.png",
    "out.safetensors",
    "-",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "1e-320",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "5%",
    "95%",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
    "4294967296",
    "auto",
    "all",
    "species",
    "1-2",
    "2-1",
    "rbf(gamma=1)",
    "linear",
    "rbf(gamma=",
    "poly(degree=99999)",
    "euclidean",
    "bridge",
    "largest",
    "1kB",
    "10MB",
    "500GB",
    "scores=out.svg",
    "scree=out.png",
    "",
    "é\u{1b}[31m",
];

/// A subcommand with its long flags: words such as `fit`, `kpca`, and flags such as `--kernel`.
pub type Subcommand = (Vec<String>, Vec<String>);

/// Words of a run of this subcommand: perhaps rows to work on, flags and values.
pub fn draw_arguments(mutator: &mut Mutator, (command, flags): &Subcommand) -> Vec<String> {
    let mut words = command.clone();
    let value = |mutator: &mut Mutator| mutator.one_of(&ARGUMENT_WORDS).map_or("", |word| word).to_string();
    match mutator.below(6) {
        0 => {}
        1 => words.push(value(mutator)),
        _ => words.push(if mutator.below(3) == 0 { "moons.csv" } else { "iris.csv" }.into()),
    }
    // Otherwise most runs of rows with a column of words end before anything else is looked at.
    if words.last().is_some_and(|word| word == "iris.csv") && flags.iter().any(|flag| flag == "--target") {
        words.extend(["--target".to_string(), "species".to_string()]);
    }
    for _ in 0..mutator.below(3) {
        words.extend(mutator.one_of(flags).cloned());
        if mutator.below(4) > 0 {
            words.push(value(mutator));
        }
    }
    words
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a status that is an answer.
    Answered(i32),
    /// Nothing was run: the words name nothing that ends by itself.
    Skipped,
    /// With anything else, in words.
    Wrong(String),
}

/// The files that arguments name.
pub fn prepare_folder(binary: &Path, folder: &Path) {
    let run = |words: &[&str]| {
        let mut command = Command::new(binary);
        command
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    assert!(run(&["data", "iris", "--out", "iris.csv"]), "the command line must run");
    assert!(run(&["data", "moons", "--out", "moons.csv"]));
    assert!(run(&[
        "fit",
        "kpca",
        "moons.csv",
        "-k",
        "2",
        "--columns",
        "1-2",
        "--model",
        "model.safetensors"
    ]));
    assert!(fs::write(folder.join("empty.csv"), "").is_ok());
}

/// Runs the command line with the words of a text, one to a line.
pub fn arguments(binary: &Path, folder: &Path, data: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(data).replace('\0', "");
    // Names without a folder: nothing is read or written elsewhere.
    let mut words: Vec<String> = text.lines().map(|word| word.replace(['/', '\\'], "_")).take(24).collect();
    if words.first().is_some_and(|word| word == "explore") {
        // It would serve until it is stopped.
        words.push("missing.csv".into());
    }
    let stderr = folder.join("stderr.txt");
    let Ok(said) = fs::File::create(&stderr) else { return Outcome::Skipped };
    let mut command = Command::new(binary);
    command.args(&words).current_dir(folder).env("EIGENLIFT_NUM_THREADS", "1").env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    let start = Instant::now();
    let Ok(mut child) = command.spawn() else { return Outcome::Skipped };
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Outcome::Wrong(format!("{words:?} did not end within {} s", LIMIT.as_secs()));
            }
        }
    };
    let said = fs::read_to_string(&stderr).unwrap_or_default();
    match status.code() {
        Some(code)
            if ANSWERS.contains(&code) && !said.contains("internal error") && !said.contains("panicked") =>
        {
            Outcome::Answered(code)
        }
        _ => Outcome::Wrong(format!("{words:?} ended with {status}: {said}")),
    }
}

/// Every subcommand below these words, from the help that is printed.
pub fn flags_of(binary: &Path, words: &[String]) -> Vec<Subcommand> {
    let output = Command::new(binary).args(words).arg("--help").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let commands: Vec<&str> = text
        .lines()
        .skip_while(|line| line.trim() != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .collect();
    if commands.is_empty() {
        let flag = |line: &str| {
            let start = line.trim_start();
            let long = start.split_whitespace().find(|word| word.starts_with("--"))?;
            let begins = start.starts_with('-');
            begins.then(|| long.trim_end_matches(',').split(['=', '[']).next().unwrap_or(long).to_string())
        };
        return vec![(words.to_vec(), text.lines().filter_map(flag).collect())];
    }
    let below = |word: &str| flags_of(binary, &[words, &[word.to_string()]].concat());
    commands.into_iter().flat_map(below).collect()
}
