//! The project's tasks: `cargo xtask test` is everything that must hold before a change is shared.
#![allow(clippy::print_stdout)]

mod report;
mod source;
mod layers;
mod file_rules;
mod documents;
mod markdown;
mod python;
mod browser;
mod steps;
mod audit;
mod compare;
mod census;
mod rooms;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test     formatting, lints, documentation, tests, doctests, examples, the rules below, Python and the browser
  python   only the Python package: its wheel, its tests and scikit-learn's, documents, types, a newcomer's first run
  browser  only the tests that drive the explorer and the report in a Chromium
  audit    level and bias studies, all or those named after it (minutes); writes docs/reference/audit.md
  compare  OLD NEW [SCENE...]: what two builds of the command line do with every example, guide and golden file, byte for byte
  census   [--write]: public types, entry points, circles of modules and lines; --write puts them into ARCHITECTURE.md
  layers   only the rules that read the sources: module order, census, file rules, theory labels, links
  help     this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match (arguments.as_slice(), root()) {
        (["test"], Some(root)) => steps::test(&root),
        (["python"], Some(root)) => steps::python(&root),
        (["browser"], Some(root)) => steps::browser(&root),
        (["audit", names @ ..], Some(root)) => audit::run(&root, names),
        (["compare", old, new, scenes @ ..], Some(root)) => compare::run(&root, old, new, scenes),
        (["census"], Some(root)) => count(&root, false),
        (["census", "--write"], Some(root)) => count(&root, true),
        (["layers"], Some(root)) => ExitCode::from(check(&root)),
        (["help" | "--help" | "-h"], _) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        (["test" | "python" | "browser" | "layers" | "audit" | "compare" | "census", ..], None) => {
            eprintln!("CARGO_MANIFEST_DIR is not set; it must name the xtask package. Run `cargo xtask …`.");
            ExitCode::from(2)
        }
        ([], _) => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        (other, _) => {
            eprintln!("unknown arguments: {}\n\n{USAGE}", other.join(" "));
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace.
///
/// Why at run time: a target folder may be shared between checkouts, and a path compiled in would point to another one.
fn root() -> Option<PathBuf> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    package.parent().map(Path::to_path_buf)
}

/// Counts the sources.
fn count(root: &Path, write: bool) -> ExitCode {
    match source::read_workspace(root) {
        Ok(sources) => census::run(root, &sources, write),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every rule that reads files and prints what breaks it. Returns the exit code.
fn check(root: &Path) -> u8 {
    match rules(root) {
        Ok(violations) if violations.is_empty() => {
            println!("layers, rooms, census, file rules, theory labels and links: no violations");
            0
        }
        Ok(violations) => {
            violations.iter().for_each(|violation| println!("{violation}"));
            println!("{} violation(s)", violations.len());
            1
        }
        Err(problem) => {
            eprintln!("{problem}");
            1
        }
    }
}

fn rules(root: &Path) -> Result<Vec<report::Violation>, String> {
    let sources = source::read_workspace(root)?;
    let mut found = layers::check(&sources);
    found.extend(rooms::check(&sources));
    found.extend(census::check(root, &sources)?);
    found.extend(file_rules::check(&sources));
    found.extend(file_rules::check_python(root)?);
    found.extend(documents::check(root, &sources)?);
    Ok(found)
}
