//! Commands to compare: the examples of `--help`, README.md, the guides, the golden model files.

use crate::source::files_below;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the golden model files are, and what is asked of them.
const GOLDEN: &str = "crates/eigenlift-cli/tests/golden";
/// The sparse table that some golden models were made of.
const SPARSE: &str = "crates/eigenlift-cli/tests/fixtures/counts.npz";
/// How lines begin that made the golden files; the others ask something of them.
const MAKING: [&str; 2] = ["fit ", "kernel "];
/// How the program is called.
const PROGRAM: &str = "eigenlift ";
/// Serves a page until it is stopped, at an address that is drawn.
const ENDLESS: &str = "eigenlift explore";
/// Built-in tables and models that examples begin from, as the tests of `--help` have them.
const PREPARED: [&str; 9] = [
    "eigenlift data iris --out iris.csv",
    "eigenlift data worked-example --out worked.csv",
    "eigenlift data moons --out moons.csv",
    "eigenlift data digits --out digits.csv",
    "cut -d, -f1,2,5 iris.csv > sepals.csv",
    "cut -d, -f3,4,5 iris.csv > petals.csv",
    "eigenlift fit kpca iris.csv --model iris.safetensors --json --quiet",
    "eigenlift fit pca iris.csv --model pca.safetensors --out pcascores.csv --quiet",
    "printf 'feature,score,spread\\na,0.6,0.02\\nb,0.8,0.02\\nc,0.9,0.01\\nd,0.89,0.02\\n' > path.csv",
];

/// Commands that run one after the other in a folder.
pub(super) struct Scene {
    pub(super) name: String,
    /// Files that the folder begins with.
    pub(super) files: Vec<PathBuf>,
    pub(super) commands: Vec<String>,
}

/// Every scene there is.
pub(super) fn all(root: &Path, programs: &[PathBuf; 2]) -> Result<Vec<Scene>, String> {
    let mut scenes = vec![help(programs)?];
    let mut pages = vec!["README.md".to_string()];
    pages.extend(files_below(root, "docs/guide", "md")?);
    for page in pages {
        let text = fs::read_to_string(root.join(&page)).map_err(|e| format!("{page}: {e}"))?;
        let commands = of_page(&text);
        if !commands.is_empty() {
            scenes.push(Scene { name: page, files: Vec::new(), commands: prepared(commands) });
        }
    }
    scenes.push(golden(root)?);
    Ok(scenes)
}

fn prepared(commands: Vec<String>) -> Vec<String> {
    PREPARED.iter().map(|line| (*line).to_string()).chain(commands).collect()
}

/// Help of every command of either build, manual pages, and every example of the old one.
fn help(programs: &[PathBuf; 2]) -> Result<Scene, String> {
    let (mut asked, mut examples) = (Vec::new(), Vec::new());
    for (at, programs) in programs.iter().enumerate() {
        for (command, text) in commands(programs, "")? {
            let line = format!("eigenlift{command} --help");
            if !asked.contains(&line) {
                asked.push(line);
            }
            if at == 0 {
                examples.extend(of_help(&text));
            }
        }
    }
    examples.dedup();
    asked.push("eigenlift man --out pages".into());
    Ok(Scene { name: "help".into(), files: Vec::new(), commands: prepared([asked, examples].concat()) })
}

/// Every command that help lists, as words behind the program's name, with its help.
fn commands(programs: &Path, prefix: &str) -> Result<Vec<(String, String)>, String> {
    let program = programs.join(format!("eigenlift{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program)
        .args(prefix.split_whitespace())
        .arg("--help")
        .env("COLUMNS", "80")
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut all = vec![(prefix.to_string(), text.clone())];
    for name in listed(&text) {
        all.extend(commands(programs, &format!("{prefix} {name}"))?);
    }
    Ok(all)
}

/// Names under the heading "Commands:".
fn listed(help: &str) -> Vec<String> {
    let Some(list) = help.split("\nCommands:\n").nth(1) else { return Vec::new() };
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter_map(|line| {
        // Continued lines of a description are indented further.
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        name.split(' ').next().map(str::to_string)
    });
    names.collect()
}

/// Lines of an example in help: two blanks and the program's name, and what they are continued on.
fn of_help(help: &str) -> Vec<String> {
    let joined = help.replace("\\\n", " ");
    let lines = joined.lines().filter(|line| line.starts_with("  ")).map(str::trim);
    lines.filter(|line| is_command(line)).map(str::to_string).collect()
}

/// Commands in blocks of shell, and commands in backticks in tables.
fn of_page(page: &str) -> Vec<String> {
    let (mut found, mut shell) = (Vec::new(), false);
    for line in page.replace("\\\n", " ").lines() {
        if let Some(language) = line.strip_prefix("```") {
            shell = language == "sh";
        } else if shell && is_command(line.trim()) {
            found.push(line.trim().to_string());
        } else if line.starts_with('|') {
            let quoted = line.split('`').skip(1).step_by(2).map(|code| code.replace("\\|", "|"));
            found.extend(quoted.filter(|code| is_command(code) && code.len() > PROGRAM.len()));
        }
    }
    found
}

fn is_command(line: &str) -> bool {
    line.starts_with(PROGRAM) && !line.starts_with(ENDLESS) && !line.contains('…')
}

/// What is asked of the golden model files, then how they were made, and the same of what that made.
fn golden(root: &Path) -> Result<Scene, String> {
    let list = root.join(GOLDEN).join("commands.txt");
    let text = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let entries = fs::read_dir(root.join(GOLDEN)).map_err(|e| format!("{GOLDEN}: {e}"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.push(root.join(SPARSE));
    files.sort();
    let models = files.iter().filter(|path| path.extension().is_some_and(|e| e == "safetensors"));
    let names = models.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let inspected = names.map(|name| format!("eigenlift inspect {name} --json"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let asked = lines.iter().filter(|line| !MAKING.iter().any(|start| line.starts_with(start)));
    let called = |line: &&str| format!("{PROGRAM}{line}");
    let commands = asked.map(called).chain(inspected).chain(lines.iter().map(called)).collect();
    Ok(Scene { name: "golden".into(), files, commands })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_help_are_found_with_their_continuation() {
        let help = "Usage: eigenlift fit\n\nExamples:\n  eigenlift fit kpca a.csv \\\n      --out b.csv\n  eigenlift explore\n";
        let found = of_help(help);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].split_whitespace().collect::<Vec<_>>(),
            ["eigenlift", "fit", "kpca", "a.csv", "--out", "b.csv"]
        );
    }

    #[test]
    fn commands_are_listed_without_continued_descriptions() {
        let help =
            "x\n\nCommands:\n  demo  The job\n        and more\n  data  Sets\n\nOptions:\n  -h  Help\n";
        assert_eq!(listed(help), ["demo", "data"]);
        assert!(listed("no commands").is_empty());
    }

    #[test]
    fn shell_blocks_and_tables_of_a_page_are_read() {
        let page = "`eigenlift text`\n```sh\neigenlift data iris\npip install x\n```\n```\neigenlift not this\n```\n| a | `eigenlift data x \\| eigenlift fit kpca -` and `--rank` |\n";
        assert_eq!(of_page(page), ["eigenlift data iris", "eigenlift data x | eigenlift fit kpca -"]);
    }
}
