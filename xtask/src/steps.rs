//! The steps of `cargo xtask test`, quick ones first. The first that fails ends the run with its exit code.

use crate::{browser, python};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A named piece of work that gives an exit code.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Path) -> u8,
}

/// Every cargo step names the whole workspace in the same profile, so that all share one set of artefacts.
const RUST_STEPS: [Step; 8] = [
    Step { name: "layers, file rules, labels, links", run: crate::check },
    Step { name: "formatting", run: |root| cargo(root, &["fmt", "--all", "--check"], &[]) },
    Step {
        name: "lints",
        run: |root| {
            cargo(root, &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
        },
    },
    Step {
        name: "documentation",
        run: |root| {
            let arguments = ["doc", "--quiet", "--workspace", "--no-deps"];
            cargo(root, &arguments, &[("RUSTDOCFLAGS", "-D warnings")])
        },
    },
    Step {
        name: "tests",
        run: |root| cargo(root, &["test", "--workspace", "--lib", "--bins", "--tests"], &[]),
    },
    Step { name: "doctests", run: |root| cargo(root, &["test", "--workspace", "--doc"], &[]) },
    Step {
        name: "examples are built",
        run: |root| cargo(root, &["build", "--workspace", "--examples"], &[]),
    },
    Step { name: "examples are run", run: run_examples },
];

/// Whether every step runs, so that all targets have been built by the time Python's come.
static WHOLE_RUN: AtomicBool = AtomicBool::new(false);

/// The targets to build for a binary, so that nothing is built twice.
///
/// Why: what tests need selects features of shared dependencies, and with other features all is built anew.
pub(crate) fn targets_of_binary() -> &'static [&'static str] {
    if WHOLE_RUN.load(Ordering::Relaxed) { &["--lib", "--bins", "--tests"] } else { &["--bins"] }
}

/// Runs every step there is.
pub(crate) fn test(root: &Path) -> ExitCode {
    WHOLE_RUN.store(true, Ordering::Relaxed);
    let steps: Vec<&Step> = RUST_STEPS.iter().chain(&python::STEPS).chain([&browser::STEP]).collect();
    run_all(root, &steps)
}

/// Runs the steps of the Python package alone.
pub(crate) fn python(root: &Path) -> ExitCode {
    run_all(root, &python::STEPS.iter().collect::<Vec<_>>())
}

/// Runs the tests in a browser alone.
pub(crate) fn browser(root: &Path) -> ExitCode {
    run_all(root, &[&python::ENVIRONMENT, &browser::STEP])
}

/// Runs steps in order and prints what each took.
fn run_all(root: &Path, steps: &[&Step]) -> ExitCode {
    let mut summary = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        println!("\n== {} of {}: {} ==", number + 1, steps.len(), step.name);
        let start = Instant::now();
        let code = (step.run)(root);
        let word = if code == 0 { "passed" } else { "FAILED" };
        summary.push(format!("{word}  {:7.1} s  {}", start.elapsed().as_secs_f64(), step.name));
        if code != 0 {
            print_summary(&summary);
            println!(
                "stopped at \"{}\" with exit code {code}; {} step(s) not run",
                step.name,
                steps.len() - number - 1
            );
            return ExitCode::from(code);
        }
    }
    print_summary(&summary);
    println!("all {} steps passed", steps.len());
    ExitCode::SUCCESS
}

fn print_summary(lines: &[String]) {
    println!("\n== summary ==");
    lines.iter().for_each(|line| println!("{line}"));
}

/// Runs cargo in the root of the workspace.
pub(crate) fn cargo(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> u8 {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied()).current_dir(root);
    command.envs(python::build_settings(root));
    finish(&mut command)
}

/// Runs a command to its end and gives its exit code; 1 when it has none.
pub(crate) fn finish(command: &mut Command) -> u8 {
    match command.status() {
        Ok(status) if status.success() => 0,
        Ok(status) => {
            status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(1)
        }
        Err(problem) => {
            eprintln!("{command:?} could not be started: {problem}");
            1
        }
    }
}

/// How the names of examples begin that are studies of `cargo xtask audit`, which take minutes.
pub(crate) const STUDY: &str = "audit_";

/// Runs every example but the studies with an empty folder as its only argument.
///
/// Why not `cargo run -p`: building one package selects other features of shared dependencies and builds them anew.
fn run_examples(root: &Path) -> u8 {
    let run = || -> Result<u8, String> {
        let built = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
        let programs = built.parent().map(|folder| folder.join("examples")).unwrap_or_default();
        for name in examples(root)?.iter().filter(|name| !name.starts_with(STUDY)) {
            let folder = EmptyFolder::new(name)?;
            println!("-- {name}");
            let program = programs.join(name).with_extension(std::env::consts::EXE_EXTENSION);
            let code = finish(Command::new(program).arg(&folder.0).current_dir(root));
            if code != 0 {
                return Ok(code);
            }
        }
        Ok(0)
    };
    run().unwrap_or_else(|problem| {
        eprintln!("{problem}");
        1
    })
}

/// Names of `crates/*/examples/NAME.rs`, sorted.
pub(crate) fn examples(root: &Path) -> Result<Vec<String>, String> {
    Ok(packages_of_examples(root)?.into_keys().collect())
}

/// The package of an example.
pub(crate) fn package_of(root: &Path, example: &str) -> Result<String, String> {
    let package = packages_of_examples(root)?.remove(example);
    package.ok_or_else(|| format!("there is no example {example} in crates/*/examples"))
}

/// The package of each example, by the example's name.
fn packages_of_examples(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let paths = crate::source::files_below(root, "crates", "rs")?;
    let example = |path: &String| {
        let (package, inside) = path.strip_prefix("crates/")?.split_once('/')?;
        let name = inside.strip_prefix("examples/")?.strip_suffix(".rs")?;
        (!name.contains('/')).then(|| (name.to_string(), package.to_string()))
    };
    Ok(paths.iter().filter_map(example).collect())
}

/// A folder among the system's temporary ones, removed when it is dropped.
pub(crate) struct EmptyFolder(pub(crate) PathBuf);

impl EmptyFolder {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("eigenlift-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
