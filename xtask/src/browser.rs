//! The step that drives the explorer and the report in a real browser: a Chromium of the system, through Playwright.

use crate::python::{Failure, binary, must, pytest, settle};
use crate::steps::{EmptyFolder, Step, finish};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the tests are.
pub(crate) const TESTS: &str = "crates/eigenlift-explorer/tests/browser";
/// Names under which a Chromium may be found on the path, in order of preference.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// Where installers put it on systems that do not put it on the path.
const USUAL: [&str; 5] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];

/// The one step; it needs the environment of the Python steps.
pub(crate) const STEP: Step = Step { name: "browser", run: |root| settle(browser(root)) };

fn browser(root: &Path) -> Result<(), Failure> {
    let chromium = match chromium()? {
        Some(found) => found,
        None => {
            let line = without(env::var_os("CI").as_deref())?;
            println!("{line}");
            return Ok(());
        }
    };
    println!("browser: {}", chromium.display());
    let folder = EmptyFolder::new("browser-tests")?;
    let mut command = pytest(root, &folder);
    command.arg(root.join(TESTS)).env("EIGENLIFT_BIN", binary(root)?).env("EIGENLIFT_CHROMIUM", chromium);
    must(&mut command)
}

/// A Chromium that runs: the one that CHROMIUM names, one of the system, or one installed now where that is allowed.
fn chromium() -> Result<Option<PathBuf>, String> {
    if let Some(named) = env::var_os("CHROMIUM").filter(|named| !named.is_empty()) {
        return named_browser(&named).map(Some);
    }
    Ok(on_this_system().or_else(|| install().then(on_this_system).flatten()))
}

/// The browser that CHROMIUM names. One that does not run is an error, never a reason to take another.
fn named_browser(named: &OsStr) -> Result<PathBuf, String> {
    let folders = folders_of_path();
    let found = first_that_runs(&folders, &[named.to_os_string()], &[PathBuf::from(named)]);
    found.ok_or_else(|| {
        format!(
            "CHROMIUM is `{}`, which does not run; it must be the path of a Chromium or Chrome; set it to one, or unset it",
            named.display()
        )
    })
}

fn on_this_system() -> Option<PathBuf> {
    first_that_runs(&folders_of_path(), &NAMES, &USUAL.map(PathBuf::from))
}

fn folders_of_path() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// The first of the names in the folders, or else of the usual places, that is a browser and starts.
fn first_that_runs(folders: &[PathBuf], names: &[impl AsRef<OsStr>], usual: &[PathBuf]) -> Option<PathBuf> {
    let named = names.iter().flat_map(|name| {
        folders.iter().map(|folder| folder.join(name.as_ref()).with_extension(env::consts::EXE_EXTENSION))
    });
    named.chain(usual.iter().cloned()).find(|path| path.is_absolute() && path.is_file() && runs(path))
}

/// Whether a browser starts.
///
/// Why not on Windows: Chrome for Windows answers `--version` with a window.
fn runs(path: &Path) -> bool {
    cfg!(windows) || succeeds(Command::new(path).arg("--version"))
}

/// Whether a command can be started and ends well. What it says is not shown.
fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Installs Chromium from the system's packages, where there is an apt-get and it asks nobody. Whether it did.
fn install() -> bool {
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return false;
    }
    let Some(before) = privilege() else { return false };
    println!("no Chromium was found; installing the system's package: {before}apt-get install chromium");
    let apt = |arguments: &[&str]| {
        let mut words = before.split_whitespace().chain(["apt-get", "-qq"]).chain(arguments.iter().copied());
        let mut command = Command::new(words.next().unwrap_or("apt-get"));
        finish(command.args(words).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null())) == 0
    };
    apt(&["update"]) && apt(&["install", "-y", "--no-install-recommends", "chromium"])
}

/// What must stand before a command of the administrator; nothing when there is no way without a password.
fn privilege() -> Option<&'static str> {
    let user = Command::new("id").arg("-u").output().ok()?;
    if user.stdout.trim_ascii() == b"0" {
        return Some("");
    }
    succeeds(Command::new("sudo").args(["-n", "true"])).then_some("sudo -n ")
}

/// What to do without a browser: one line to print, or with CI=true the same words as a failure.
fn without(ci: Option<&OsStr>) -> Result<String, String> {
    let advice = "no Chromium or Chrome runs here and none could be installed; \
         install one (Debian: apt install chromium) or name one in CHROMIUM";
    match ci {
        Some(ci) if ci == "true" => {
            Err(format!("BROWSER TESTS CANNOT RUN, and with CI=true they must: {advice}"))
        }
        _ => Ok(format!("!!! BROWSER TESTS SKIPPED: {advice} !!!")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_loud_line_and_a_failure_in_continuous_integration() {
        let line = without(None).unwrap();
        assert!(line.starts_with("!!! BROWSER TESTS SKIPPED") && !line.contains('\n'), "{line}");
        assert!(without(Some("false".as_ref())).is_ok());
        let failure = without(Some("true".as_ref())).unwrap_err();
        assert!(failure.contains("CI=true") && failure.contains("install one"), "{failure}");
    }

    #[test]
    fn a_named_browser_that_does_not_run_is_an_error() {
        let problem = named_browser("/no/such/browser".as_ref()).unwrap_err();
        assert!(problem.starts_with("CHROMIUM is `/no/such/browser`"), "{problem}");
    }

    #[cfg(unix)]
    #[test]
    fn the_first_that_runs_is_taken() {
        use std::os::unix::fs::PermissionsExt;
        let folder = EmptyFolder::new("browser-search").unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.0.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        // Some distributions have a script in place of the browser that says where to get it.
        write("chromium", "#!/bin/sh\nexit 1\n");
        let works = write("chrome", "#!/bin/sh\nexit 0\n");
        let elsewhere = write("elsewhere", "#!/bin/sh\nexit 0\n");
        let usual = [elsewhere];
        let folders = [PathBuf::from("/nowhere"), folder.0.clone()];
        assert_eq!(first_that_runs(&folders, &NAMES, &usual), Some(works));
        assert_eq!(first_that_runs(&folders, &["chromium"], &usual).as_ref(), usual.first());
        assert_eq!(first_that_runs(&folders, &["chromium"], &[]), None);
    }
}
