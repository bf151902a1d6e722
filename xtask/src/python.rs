//! The steps of the Python package. All that they need beside Rust is a Python; the rest goes into `target`.

use crate::source::files_below;
use crate::steps::{EmptyFolder, Step, cargo, finish, targets_of_binary};
use crate::{browser, markdown};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest Python that the package supports.
const OLDEST: (u32, u32) = (3, 11);
/// Names under which a new enough Python may be found, in order of preference.
const NAMES: [&str; 6] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
/// What the tests need, with versions.
const REQUIREMENTS: &str = "python/requirements-test.txt";
/// How pip is to behave: say nothing unless something is wrong.
const PIP: [&str; 5] = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];

/// The step that all others here need, and those of the browser.
pub(crate) const ENVIRONMENT: Step =
    Step { name: "python: environment", run: |root| settle(environment(root)) };

/// The steps, in an order in which each has what it needs.
pub(crate) const STEPS: [Step; 8] = [
    ENVIRONMENT,
    Step { name: "python: style", run: |root| settle(style(root)) },
    Step { name: "python: wheel", run: |root| settle(wheel(root)) },
    Step { name: "python: tests", run: |root| settle(tests(root)) },
    Step { name: "python: scikit-learn's own tests", run: |root| settle(sklearn_suite(root)) },
    Step { name: "python: doctests and gallery", run: |root| settle(documents(root)) },
    Step { name: "python: types", run: |root| settle(types(root)) },
    Step { name: "python: newcomer", run: |root| settle(newcomer(root)) },
];

/// Variables that cargo and maturin must agree on.
///
/// Why: PyO3's build script reads them, and whoever comes second with other values builds PyO3 and all on top of it anew.
/// Without an interpreter in them, the Rust steps need no Python at all.
pub(crate) fn build_settings(root: &Path) -> Vec<(&'static str, OsString)> {
    let mut settings = vec![("PYO3_BUILD_EXTENSION_MODULE", "1".into())];
    // What is built once is built faster without what a second build would use.
    if std::env::var_os("CI").is_some() {
        settings.push(("CARGO_INCREMENTAL", "0".into()));
    }
    // Windows must be told of a library to link with, which PyO3 finds by itself.
    if !cfg!(windows) {
        settings.push(("PYO3_CONFIG_FILE", root.join("python/pyo3-config.txt").into()));
    }
    settings
}

/// Why a step ended: an exit code, and words unless the program that failed has said them.
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) words: Option<String>,
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self { code: 1, words: Some(words) }
    }
}

pub(crate) fn settle(outcome: Result<(), Failure>) -> u8 {
    let Err(failure) = outcome else { return 0 };
    failure.words.iter().for_each(|words| eprintln!("{words}"));
    failure.code
}

/// Runs a command that must succeed.
pub(crate) fn must(command: &mut Command) -> Result<(), Failure> {
    match finish(command) {
        0 => Ok(()),
        code => Err(Failure { code, words: None }),
    }
}

/// Creates the virtual environment, unless it has what is wanted already.
fn environment(root: &Path) -> Result<(), Failure> {
    let (name, version) = interpreter()?;
    let requirements = read(&root.join(REQUIREMENTS))?;
    let folder = environment_folder(root);
    let stamp = folder.join("made-for.txt");
    let wanted = format!("{version}\n{requirements}");
    let made = fs::read_to_string(&stamp).is_ok_and(|made| made == wanted);
    if made && version_of(interpreter_in(&folder).as_os_str()).is_some() {
        println!("Python {version}, {}: up to date", folder.display());
        return Ok(());
    }
    println!("Python {version}; installing {REQUIREMENTS} into {}", folder.display());
    make_environment(&name, &folder)?;
    must(python_in(&folder, root).args(PIP).arg("-r").arg(root.join(REQUIREMENTS)))?;
    fs::write(&stamp, wanted).map_err(|e| format!("{}: {e}", stamp.display()).into())
}

fn make_environment(python: &str, folder: &Path) -> Result<(), Failure> {
    let made = must(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder));
    made.map_err(|failure| Failure {
        words: Some(format!(
            "`{python} -m venv` failed; install Python's venv module (Debian, Ubuntu: apt install python3-venv)"
        )),
        ..failure
    })
}

/// Name and version of a Python that is new enough.
fn interpreter() -> Result<(String, String), String> {
    let found: Vec<(&str, String)> =
        NAMES.iter().filter_map(|name| Some((*name, version_of(name.as_ref())?))).collect();
    choose(&found)
}

/// The first that is new enough, or one line that says what to install.
fn choose(found: &[(&str, String)]) -> Result<(String, String), String> {
    if let Some((name, version)) = found.iter().find(|(_, version)| new_enough(version)) {
        return Ok((name.to_string(), version.clone()));
    }
    let (major, minor) = OLDEST;
    let seen = found
        .first()
        .map_or("no python3 was found".to_string(), |(name, version)| format!("`{name}` is {version}"));
    Err(format!(
        "{seen}; install Python {major}.{minor} or newer, with its venv module, so that `python3` runs it"
    ))
}

/// Whether a version such as 3.12.1 is one that the package supports.
fn new_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version| version >= OLDEST)
}

/// The version that an interpreter states; nothing when it does not run.
fn version_of(python: &std::ffi::OsStr) -> Option<String> {
    let output = Command::new(python).arg("--version").output().ok().filter(|o| o.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix("Python ").map(str::to_string)
}

fn environment_folder(root: &Path) -> PathBuf {
    root.join("target/python-venv")
}

fn interpreter_in(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// The interpreter of an environment, to be run in a folder, with nothing on its path but what is installed.
fn python_in(environment: &Path, folder: &Path) -> Command {
    let mut command = Command::new(interpreter_in(environment));
    command.current_dir(folder).env("MPLBACKEND", "Agg");
    command.env_remove("PYTHONPATH").env_remove("PYTHONHOME").env_remove("PYTHONSTARTUP");
    command
}

/// The interpreter that the tests use.
fn python(root: &Path, folder: &EmptyFolder) -> Command {
    python_in(&environment_folder(root), &folder.0)
}

/// Lints and formatting of the package, its tests, its benchmark and the tests of the browser.
fn style(root: &Path) -> Result<(), Failure> {
    let ruff = |arguments: &[&str]| {
        let mut command = python_in(&environment_folder(root), root);
        command.args(["-m", "ruff"]).args(arguments).args(["--quiet", "--no-cache", "--config"]);
        command.arg(root.join("python/pyproject.toml"));
        must(command.args(["python", "benchmarks/python.py", browser::TESTS]))
    };
    ruff(&["check"])?;
    ruff(&["format", "--check"])
}

/// Builds the wheel from the artefacts of the other steps, and installs it.
fn wheel(root: &Path) -> Result<(), Failure> {
    let folder = wheel_folder(root);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let environment = environment_folder(root);
    let mut build = python_in(&environment, root);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "dev"]).envs(build_settings(root));
    if root.join("Cargo.lock").exists() {
        build.arg("--locked");
    }
    build.arg("--manifest-path").arg(root.join("python/Cargo.toml"));
    build.arg("--interpreter").arg(interpreter_in(&environment)).arg("--out").arg(&folder);
    must(&mut build)?;
    let wheel = built_wheel(root)?;
    must(
        python_in(&environment, root)
            .args(PIP)
            .args(["--force-reinstall", "--no-deps", "--no-index"])
            .arg(wheel),
    )
}

fn wheel_folder(root: &Path) -> PathBuf {
    root.join("target/python-wheel")
}

/// The one wheel there is.
fn built_wheel(root: &Path) -> Result<PathBuf, String> {
    let wheels = with_extension(&wheel_folder(root), "whl")?;
    match wheels.as_slice() {
        [wheel] => Ok(wheel.clone()),
        _ => Err(format!("{} wheels in {}; one is required", wheels.len(), wheel_folder(root).display())),
    }
}

/// Tests of the installed wheel, with the command line at hand: both read each other's model files.
fn tests(root: &Path) -> Result<(), Failure> {
    let folder = EmptyFolder::new("python-tests")?;
    let mut command = pytest(root, &folder);
    command.arg(root.join("python/tests")).env("EIGENLIFT_TEST_INSTALLED", "1");
    must(command.env("EIGENLIFT_BIN", binary(root)?))
}

/// The command line's binary, built from the artefacts of the other steps.
pub(crate) fn binary(root: &Path) -> Result<PathBuf, Failure> {
    let arguments = [&["build", "--quiet", "--workspace"], targets_of_binary()].concat();
    match cargo(root, &arguments, &[]) {
        0 => {}
        code => return Err(Failure { code, words: None }),
    }
    let built = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
    Ok(built.with_file_name("eigenlift").with_extension(std::env::consts::EXE_EXTENSION))
}

/// Pytest, leaving no traces in folders of sources.
pub(crate) fn pytest(root: &Path, folder: &EmptyFolder) -> Command {
    let mut command = python(root, folder);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations", "12"]);
    command
}

fn sklearn_suite(root: &Path) -> Result<(), Failure> {
    let folder = EmptyFolder::new("python-sklearn")?;
    must(python(root, &folder).arg(root.join("python/tests/sklearn_suite")))
}

/// Runs what docstrings, guides and the gallery show.
fn documents(root: &Path) -> Result<(), Failure> {
    let folder = EmptyFolder::new("python-doctests")?;
    let flags = "doctest_optionflags=ELLIPSIS NORMALIZE_WHITESPACE";
    must(pytest(root, &folder).args(["--doctest-modules", "-o", flags, "--pyargs", "eigenlift"]))?;
    let mut pages = files_below(root, "docs/guide", "md")?;
    pages.push("python/README.md".into());
    for page in pages {
        run_page(root, &page)?;
    }
    for example in with_extension(&root.join("python/examples"), "py")? {
        println!("-- {}", example.display());
        let folder = EmptyFolder::new("python-example")?;
        must(python(root, &folder).arg(&example))?;
        picture_in(&folder.0)?;
    }
    Ok(())
}

/// Runs the blocks of a page: those with prompts as doctests, the others as one program.
fn run_page(root: &Path, page: &str) -> Result<(), Failure> {
    let blocks = markdown::blocks(&read(&root.join(page))?, "python");
    let (sessions, programs): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|block| block.code.lines().any(|line| line.starts_with(">>> ")));
    let folder = EmptyFolder::new("python-page")?;
    let name = page.replace('/', "-");
    if !sessions.is_empty() {
        println!("-- {page}: {} sessions", sessions.len());
        let file = write(&folder.0, &format!("{name}.txt"), &markdown::on_their_lines(&sessions))?;
        must(
            python(root, &folder)
                .args(["-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"])
                .arg(file),
        )?;
    }
    if !programs.is_empty() {
        println!("-- {page}: {} programs", programs.len());
        let file = write(&folder.0, &format!("{name}.py"), &markdown::on_their_lines(&programs))?;
        must(python(root, &folder).arg(file))?;
    }
    Ok(())
}

/// The stub of the compiled part says what it has, and a program in types passes the strictest rules.
fn types(root: &Path) -> Result<(), Failure> {
    let folder = EmptyFolder::new("python-types")?;
    let tests = root.join("python/tests");
    let mut stubs = python(root, &folder);
    stubs.args(["-m", "mypy.stubtest", "--concise", "--ignore-unused-allowlist", "--mypy-config-file"]);
    stubs.arg(tests.join("mypy.ini")).arg("--allowlist").arg(tests.join("stubtest-allowlist.txt"));
    must(stubs.arg("eigenlift._native"))?;
    let mut check = python(root, &folder);
    check.args(["-m", "mypy", "--strict", "--config-file"]).arg(tests.join("mypy.ini"));
    check.arg("--cache-dir").arg(root.join("target/python-mypy"));
    must(check.arg(tests.join("typed_use.py")))?;
    let mut check = python(root, &folder);
    check.args(["-m", "pyright", "--pythonpath"]).arg(interpreter_in(&environment_folder(root)));
    must(check.arg(tests.join("typed_use.py")))
}

/// What the README promises: an empty environment, the wheel, the first program, a picture.
fn newcomer(root: &Path) -> Result<(), Failure> {
    let readme = read(&root.join("README.md"))?;
    let program = markdown::first_under(&readme, "Python", "python").ok_or_else(|| {
        "README.md has no ```python block under a heading with the word Python; show a first program"
            .to_string()
    })?;
    let (name, _) = interpreter()?;
    let environment = EmptyFolder::new("python-newcomer-venv")?;
    make_environment(&name, &environment.0)?;
    let wheel = format!("{}[plot]", built_wheel(root)?.display());
    must(python_in(&environment.0, &environment.0).args(PIP).arg(wheel))?;
    let folder = EmptyFolder::new("python-newcomer")?;
    let file = write(&folder.0, "first.py", &program.code)?;
    must(python_in(&environment.0, &folder.0).arg(file))?;
    picture_in(&folder.0)
}

/// Requires a picture that is not empty.
fn picture_in(folder: &Path) -> Result<(), Failure> {
    let pictures = with_extension(folder, "png")?;
    if pictures.iter().any(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0)) {
        return Ok(());
    }
    Err("the program ended well but left no PNG in its folder; one is required".to_string().into())
}

/// Files of a folder with the extension, sorted.
fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for version in ["3.11.0", "3.14", "3.100.2", "4.0.1", "3.11.0rc1"] {
            assert!(new_enough(version), "{version}");
        }
        for version in ["3.9.18", "3.10", "2.7.18", "3", "", "pypy"] {
            assert!(!new_enough(version), "{version}");
        }
    }

    #[test]
    fn the_first_that_is_new_enough_is_taken() {
        let found = [("python3", "3.9.2".to_string()), ("python3.12", "3.12.1".to_string())];
        assert_eq!(choose(&found), Ok(("python3.12".into(), "3.12.1".into())));
    }

    #[test]
    fn without_a_new_enough_python_one_line_says_what_to_install() {
        let old = choose(&[("python3", "3.9.2".to_string())]).unwrap_err();
        assert!(old.starts_with("`python3` is 3.9.2; install Python 3.11 or newer"), "{old}");
        let none = choose(&[]).unwrap_err();
        assert!(none.starts_with("no python3 was found; install Python 3.11 or newer"), "{none}");
        assert!(!old.contains('\n') && !none.contains('\n'));
    }

    #[test]
    fn a_picture_must_not_be_empty() {
        let folder = EmptyFolder::new("picture-test").unwrap();
        assert!(picture_in(&folder.0).is_err());
        write(&folder.0, "a.png", "").unwrap();
        write(&folder.0, "b.txt", "x").unwrap();
        assert!(picture_in(&folder.0).is_err());
        write(&folder.0, "b.png", "x").unwrap();
        assert!(picture_in(&folder.0).is_ok());
    }

    #[test]
    fn failures_keep_their_exit_code() {
        assert_eq!(settle(Ok(())), 0);
        assert_eq!(settle(Err(Failure { code: 5, words: None })), 5);
        assert_eq!(settle(Err("words".to_string().into())), 1);
    }
}
