//! `cargo xtask audit [NAME...]`: level and bias studies that take minutes, and the table of what they measured.
//!
//! A study is an example `crates/*/examples/audit_NAME.rs`. It prints a line `study | setting | statistic | target | measured |
//! standard error | verdict` for each figure (`eigenlift_testkit::study` writes them) and exits with 1 when a verdict fails. A step that is
//! no such example goes into [`OTHERS`].

use crate::{python, steps};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The table, which the documentation links to.
const TABLE: &str = "docs/reference/audit.md";
/// What stands above the table.
const INTRODUCTION: &str = "\
# Audit: level and bias studies

`cargo xtask audit` repeats these simulations in release mode and writes this page; `cargo xtask audit NAME` runs the named studies and
replaces their sections alone. A study is the program `crates/*/examples/audit_NAME.rs`, with fixed seeds: the settings are in its source.
\"Target\" is what must hold, \"standard error\" is that of the measured figure over the repetitions.
";
const HEADER: &str = "\
| study | setting | statistic | target | measured | standard error | verdict |
|---|---|---|---|---|---|---|
";
/// What separates the seven fields of a line.
const BETWEEN: &str = " | ";
const FIELDS: usize = 7;

/// What a step gives: lines of the table, and whether all verdicts hold.
pub(crate) struct Outcome {
    pub(crate) lines: Vec<String>,
    pub(crate) holds: bool,
}

/// A step that is no example: its name, and what runs it.
type Other = (&'static str, fn(&Path) -> Result<Outcome, String>);

/// Steps besides the examples, after them.
const OTHERS: [Other; 1] = [("fuzz", fuzz)];
/// Seconds that each of the two drivers of the fuzz targets takes.
const FUZZ_SECONDS: &str = "300";
/// The two tests that fuzz: that of the crate eigenlift-fuzz and that of the command line.
const FUZZ_TESTS: [&str; 2] = ["no_input_panics_hangs_or_is_read_wrongly", "fuzz_arguments::"];

/// Runs the named steps, or all, and writes the table. The exit code is 1 if a verdict fails or a step does.
pub(crate) fn run(root: &Path, names: &[&str]) -> ExitCode {
    match audit(root, names) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(1)
        }
    }
}

fn audit(root: &Path, names: &[&str]) -> Result<bool, String> {
    let known = known(root)?;
    if let Some(name) = names.iter().find(|name| known.iter().all(|known| known != *name)) {
        return Err(format!("there is no step \"{name}\" of the audit; there are: {}", known.join(", ")));
    }
    let mut sections = read(root)?;
    sections.retain(|name, _| known.contains(name));
    let mut holds = true;
    for name in known.iter().filter(|name| names.is_empty() || names.contains(&name.as_str())) {
        println!("\n== {name} ==");
        let start = Instant::now();
        let outcome = match OTHERS.iter().find(|(other, _)| other == name) {
            Some((_, run)) => run(root)?,
            None => study(root, name)?,
        };
        let word = if outcome.holds { "holds" } else { "FAILS" };
        println!("{name}: {word}, {:.0} s", start.elapsed().as_secs_f64());
        holds &= outcome.holds;
        sections.insert(name.clone(), outcome.lines);
        // After each step, so that an interrupted run keeps what it measured.
        write(root, &known, &sections)?;
    }
    Ok(holds)
}

/// Names of the steps in the order in which they run.
fn known(root: &Path) -> Result<Vec<String>, String> {
    let examples = steps::examples(root)?;
    let studies = examples.iter().filter_map(|name| name.strip_prefix(steps::STUDY)).map(String::from);
    Ok(studies.chain(OTHERS.iter().map(|(name, _)| (*name).to_string())).collect())
}

/// Runs an example in release mode.
fn study(root: &Path, name: &str) -> Result<Outcome, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let example = format!("{}{name}", steps::STUDY);
    let package = steps::package_of(root, &example)?;
    let mut command = Command::new(program);
    command.args(["run", "--quiet", "--release", "--package", &package, "--example", &example]);
    figures(root, command, &example)
}

/// Ten minutes of mutated inputs for every fuzz target and of drawn arguments for every subcommand.
fn fuzz(root: &Path) -> Result<Outcome, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(["test", "--quiet", "--workspace", "--test", "driver", "--test", "all"]);
    command.args(["--", "--nocapture"]).args(FUZZ_TESTS).env("EIGENLIFT_FUZZ_SECONDS", FUZZ_SECONDS);
    figures(root, command, "fuzz")
}

/// Runs a command, shows what it prints and keeps the lines of the table.
fn figures(root: &Path, mut command: Command, example: &str) -> Result<Outcome, String> {
    command.envs(python::build_settings(root)).current_dir(root).stdout(Stdio::piped());
    let failed = |problem: std::io::Error| format!("{example}: {problem}");
    let mut child = command.spawn().map_err(failed)?;
    let mut lines = Vec::new();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(failed)?;
        println!("{line}");
        lines.extend(is_figure(&line).then_some(line));
    }
    let status = child.wait().map_err(failed)?;
    if lines.is_empty() {
        return Err(format!("{example} ended with {status} and printed no figure"));
    }
    Ok(Outcome { lines, holds: status.success() })
}

fn is_figure(line: &str) -> bool {
    line.split(BETWEEN).count() == FIELDS
}

/// The lines of each section of the table as it is; none where there is no table yet.
fn read(root: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let path = root.join(TABLE);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(path).map_err(|e| format!("{TABLE}: {e}"))?;
    Ok(sections(&text))
}

fn sections(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            open = Some(name.to_string());
        } else if let (Some(name), Some(inside)) = (&open, line.strip_prefix("| ")) {
            let inside = inside.strip_suffix(" |").unwrap_or(inside);
            let is_header = HEADER.contains(inside);
            found.entry(name.clone()).or_default().extend((!is_header).then(|| inside.to_string()));
        }
    }
    found
}

fn write(root: &Path, known: &[String], sections: &BTreeMap<String, Vec<String>>) -> Result<(), String> {
    let path = root.join(TABLE);
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(path, page(known, sections)).map_err(|e| format!("{TABLE}: {e}"))
}

fn page(known: &[String], sections: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = INTRODUCTION.to_string();
    for name in known {
        let Some(lines) = sections.get(name) else { continue };
        text.push_str(&format!("\n## {name}\n\n{HEADER}"));
        lines.iter().for_each(|line| text.push_str(&format!("| {line} |\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_read_and_written_again_stays_the_same() {
        let line = |setting: &str| {
            format!("limits | {setting} | false alarms | 0.05 ± 0.01 | 0.049 | 0.001 | holds")
        };
        let names = ["limits".to_string(), "bias".to_string()];
        let table = BTreeMap::from([
            (names[0].clone(), vec![line("Gaussian"), line("lognormal")]),
            (names[1].clone(), vec![line("null")]),
        ]);
        let text = page(&names, &table);
        assert_eq!(sections(&text), table);
        assert_eq!(page(&names, &sections(&text)), text);
        assert!(text.find("## limits") < text.find("## bias"), "{text}");
    }

    #[test]
    fn only_lines_of_seven_fields_are_figures() {
        assert!(is_figure("a | b | c | d | 1 | 2 | holds"));
        assert!(!is_figure("200 repetitions of a | b"));
    }
}
