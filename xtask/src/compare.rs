//! `cargo xtask compare OLD NEW [SCENE...]`: what two builds of the command line do, compared byte for byte.
//!
//! A scene is a list of commands that run in order in a folder of their own, once for each build: the examples of `--help`, the commands
//! of README.md and of each guide, and the golden model files. After each command exit status, standard output, standard error
//! and every file that was written must be the same, apart from what differs between two runs of one build (`normalize`).

mod normalize;
mod scenes;

use normalize::normalized;
use scenes::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

/// Where both builds work, below the root of the workspace.
const FOLDER: &str = "target/compare";
/// How much of a line that differs is shown.
const SHOWN: usize = 160;

/// A build at work on a scene.
struct Side {
    /// A folder that holds nothing but the program, under the name that commands use.
    programs: PathBuf,
    folder: PathBuf,
    seen: BTreeMap<String, (u64, SystemTime)>,
}

/// What a command left.
struct Left {
    code: Option<i32>,
    texts: [Vec<u8>; 2],
    /// Files that are new or were written.
    written: BTreeSet<String>,
}

/// Compares the builds; exit code 1 when something differs.
pub(crate) fn run(root: &Path, old: &str, new: &str, wanted: &[&str]) -> ExitCode {
    match compare(root, [Path::new(old), Path::new(new)], wanted) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn compare(root: &Path, builds: [&Path; 2], wanted: &[&str]) -> Result<usize, String> {
    let base = root.join(FOLDER);
    let programs = install(&base, builds)?;
    let mut scenes = scenes::all(root, &programs)?;
    let names: Vec<String> = scenes.iter().map(|scene| scene.name.clone()).collect();
    if let Some(name) = wanted.iter().find(|name| !names.iter().any(|known| known == *name)) {
        return Err(format!("there is no scene {name}; there are {}. Name one of these", names.join(", ")));
    }
    scenes.retain(|scene| wanted.is_empty() || wanted.contains(&scene.name.as_str()));
    let (mut n_commands, mut failed, mut n_differences) = (0, Vec::new(), 0);
    for scene in &scenes {
        println!("== {}: {} commands ==", scene.name, scene.commands.len());
        let mut sides = open(&base, &programs, scene)?;
        for line in &scene.commands {
            let [old, new] = both(&mut sides, line)?;
            n_commands += 1;
            if old.code != Some(0) && old.code == new.code {
                failed.push(format!("{}: {line}", scene.name));
            }
            let differences = differences(&sides, &old, &new)?;
            n_differences += differences.len();
            if !differences.is_empty() {
                println!("{line}");
                differences.iter().for_each(|difference| println!("    {difference}"));
            }
        }
    }
    println!(
        "{n_commands} commands, {} that both builds refuse, {n_differences} difference(s)",
        failed.len()
    );
    failed.iter().for_each(|line| println!("  refused by both: {line}"));
    Ok(n_differences)
}

/// Puts each build into an empty folder under the name `eigenlift`.
fn install(base: &Path, builds: [&Path; 2]) -> Result<[PathBuf; 2], String> {
    if base.exists() {
        fs::remove_dir_all(base).map_err(|e| format!("{}: {e}", base.display()))?;
    }
    let put = |build: &Path, side: &str| -> Result<PathBuf, String> {
        let folder = base.join(side).join("program");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let name = folder.join(format!("eigenlift{}", std::env::consts::EXE_SUFFIX));
        fs::copy(build, &name)
            .map_err(|e| format!("{}: {e}; name the program to compare", build.display()))?;
        Ok(folder)
    };
    Ok([put(builds[0], "old")?, put(builds[1], "new")?])
}

/// The two folders of a scene, with the files it begins with.
fn open(base: &Path, programs: &[PathBuf; 2], scene: &Scene) -> Result<[Side; 2], String> {
    let side = |at: usize, name: &str| -> Result<Side, String> {
        let folder = base.join(name).join(scene.name.replace('/', "-"));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in &scene.files {
            let name = path.file_name().unwrap_or_default();
            fs::copy(path, folder.join(name)).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        let mut side = Side { programs: programs[at].clone(), folder, seen: BTreeMap::new() };
        side.written()?;
        Ok(side)
    };
    Ok([side(0, "old")?, side(1, "new")?])
}

/// Runs a line with both builds, at the same time.
fn both(sides: &mut [Side; 2], line: &str) -> Result<[Left; 2], String> {
    let [old, new] = sides;
    let (old, new) = std::thread::scope(|scope| {
        let other = scope.spawn(|| old.run(line));
        let new = new.run(line);
        (other.join(), new)
    });
    Ok([old.map_err(|_| format!("{line}: the run was lost"))??, new?])
}

impl Side {
    fn run(&mut self, line: &str) -> Result<Left, String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", line])
            .env("PATH", format!("{}:{path}", self.programs.display()))
            // The width of a common terminal.
            .env("COLUMNS", "80")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("a shell is needed: {e}"))?;
        let texts = [output.stdout, output.stderr];
        Ok(Left { code: output.status.code(), texts, written: self.written()? })
    }

    /// Files that changed since this was asked last.
    fn written(&mut self) -> Result<BTreeSet<String>, String> {
        let mut now = BTreeMap::new();
        let mut open = vec![self.folder.clone()];
        while let Some(folder) = open.pop() {
            let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let about = fs::metadata(&path).map_err(failed)?;
                if about.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(&self.folder).unwrap_or(&path).display().to_string();
                    now.insert(name, (about.len(), about.modified().map_err(failed)?));
                }
            }
        }
        let changed = now.iter().filter(|(name, about)| self.seen.get(*name) != Some(*about));
        let changed = changed.map(|(name, _)| name.clone()).collect();
        self.seen = now;
        Ok(changed)
    }
}

/// What a command left that differs, in words.
fn differences(sides: &[Side; 2], old: &Left, new: &Left) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    if old.code != new.code {
        found.push(format!("exit status {:?} became {:?}", old.code, new.code));
    }
    for (at, name) in ["standard output", "standard error"].iter().enumerate() {
        found.extend(first_difference(name, &old.texts[at], &new.texts[at]));
    }
    for name in old.written.union(&new.written) {
        match (old.written.contains(name), new.written.contains(name)) {
            (true, false) => found.push(format!("{name} is not written any more")),
            (false, true) => found.push(format!("{name} is written now")),
            _ => {
                let read = |side: &Side| fs::read(side.folder.join(name)).map_err(|e| format!("{name}: {e}"));
                found.extend(first_difference(name, &read(&sides[0])?, &read(&sides[1])?));
            }
        }
    }
    Ok(found)
}

/// The first line that differs, if there is one.
fn first_difference(name: &str, old: &[u8], new: &[u8]) -> Option<String> {
    let (old, new) = (normalized(old), normalized(new));
    if old == new {
        return None;
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    let (old, new) = (lines(&old), lines(&new));
    let at = old.iter().zip(&new).position(|(a, b)| a != b).unwrap_or_else(|| old.len().min(new.len()));
    let line = |lines: &[String]| match lines.get(at) {
        Some(line) => format!("{:?}", around(line, &old, &new, at)),
        None => "nothing".into(),
    };
    Some(format!("{name}, line {}: {} became {}", at + 1, line(&old), line(&new)))
}

/// The part of a long line in which it differs.
fn around(line: &str, old: &[String], new: &[String], at: usize) -> String {
    let (Some(a), Some(b)) = (old.get(at), new.get(at)) else { return line.chars().take(SHOWN).collect() };
    let same = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    line.chars().skip(same.saturating_sub(SHOWN / 4)).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_output_has_no_difference_and_the_first_other_line_is_named() {
        assert_eq!(first_difference("x", b"a\nb\n", b"a\nb\n"), None);
        assert_eq!(first_difference("x", b"took: read 0.10 s\n", b"took: read 7.25 s\n"), None);
        let found = first_difference("x", b"a\nb\nc", b"a\nB\nc").unwrap();
        assert_eq!(found, "x, line 2: \"b\" became \"B\"");
        let found = first_difference("x", b"a", b"a\nb").unwrap();
        assert_eq!(found, "x, line 2: nothing became \"b\"");
    }

    #[test]
    fn long_lines_are_shown_where_they_differ() {
        let long = "1".repeat(1000);
        let found =
            first_difference("x", format!("{long}2").as_bytes(), format!("{long}3").as_bytes()).unwrap();
        assert!(found.contains("12\" became") && found.len() < 3 * SHOWN, "{found}");
    }

    #[test]
    fn files_are_seen_when_they_are_written() {
        let folder = std::env::temp_dir().join(format!("eigenlift-compare-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        let mut side = Side { programs: folder.clone(), folder: folder.clone(), seen: BTreeMap::new() };
        assert!(side.written().unwrap().is_empty());
        fs::write(folder.join("inner/a.txt"), "1").unwrap();
        assert_eq!(side.written().unwrap(), BTreeSet::from(["inner/a.txt".to_string()]));
        assert!(side.written().unwrap().is_empty());
        fs::write(folder.join("inner/a.txt"), "12").unwrap();
        assert_eq!(side.written().unwrap().len(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
