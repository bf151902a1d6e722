//! Documents and code agree: labels of equations exist, links between files lead somewhere.

use crate::report::Violation;
use crate::source::{Source, files_below, line_of};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where the equations are.
const THEORY: &str = "docs/theory";
/// Crates whose comments name equations.
const THEORISTS: [&str; 2] = ["crates/eigenlift/src/", "crates/eigenlift-select/src/"];
/// The program that the README shows, and which is built and run.
const SHOWN: &str = "crates/eigenlift/examples/quickstart.rs";

/// Checks labels in the library's comments and links in all documents.
pub(crate) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Violation>, String> {
    let read = |path: &String| fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"));
    let mut defined = BTreeSet::new();
    for path in files_below(root, THEORY, "md")? {
        defined.extend(definitions(&read(&path)?));
    }
    let library = sources.iter().filter(|s| THEORISTS.iter().any(|folder| s.path.starts_with(folder)));
    let mut found: Vec<Violation> = library.flat_map(|source| unknown_labels(source, &defined)).collect();
    for path in files_below(root, ".", "md")? {
        let exists =
            |target: &str| root.join(&path).parent().is_some_and(|folder| folder.join(target).exists());
        found.extend(broken_links(&path, &read(&path)?, exists));
    }
    found.extend(other_program(&read(&"README.md".into())?, &read(&SHOWN.into())?));
    Ok(found)
}

/// The Rust program in the README, if it is not the example that is built and run.
fn other_program(readme: &str, example: &str) -> Option<Violation> {
    const OPEN: &str = "```rust\n";
    let at = readme.find(OPEN)?;
    let (program, _) = readme[at + OPEN.len()..].split_once("```")?;
    let message = format!("this program is not the one in {SHOWN}; show what is built and run");
    (!example.ends_with(program)).then(|| Violation {
        file: "README.md".into(),
        line: line_of(readme, at),
        message,
    })
}

/// Labels that a document defines: an indented line that starts with one.
fn definitions(text: &str) -> BTreeSet<String> {
    let equations = text.lines().filter_map(|line| line.strip_prefix("    "));
    equations
        .filter_map(|line| labels(line).next().filter(|(at, _)| *at == 0).map(|(_, label)| label))
        .collect()
}

/// Labels such as (K12): a capital letter and a number, in parentheses, with their positions.
fn labels(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    text.match_indices('(').filter_map(|(at, _)| {
        let (inside, _) = text[at + 1..].split_once(')')?;
        let number = inside.strip_prefix(|c: char| c.is_ascii_uppercase())?;
        let is_label = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_label.then(|| (at, inside.to_string()))
    })
}

fn unknown_labels(source: &Source, defined: &BTreeSet<String>) -> Vec<Violation> {
    labels(&source.comments)
        .filter(|(_, label)| !defined.contains(label))
        .map(|(at, label)| Violation {
            file: source.path.clone(),
            line: line_of(&source.comments, at),
            message: format!("({label}) is no equation of {THEORY}; add it there or correct the label"),
        })
        .collect()
}

/// Links `[words](target)` and images whose target is a file that does not exist.
fn broken_links(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let Some((target, _)) = text[at + 2..].split_once(')') else { continue };
        let file = target.split('#').next().unwrap_or("");
        let elsewhere = target.contains("://") || target.starts_with("mailto:");
        if elsewhere || file.is_empty() || target.contains(char::is_whitespace) || exists(file) {
            continue;
        }
        let message = format!("the link to {target} leads nowhere");
        found.push(Violation { file: path.into(), line: line_of(text, at), message });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_indented_lines_define_labels() {
        let text = "In (K9) we use\n\n    (K1)    K = …, see (K2)\n    (K10)   tr K\n\n(K3) is not one\n";
        let expected: BTreeSet<String> = ["K1", "K10"].map(String::from).into();
        assert_eq!(definitions(text), expected);
    }

    #[test]
    fn labels_without_an_equation_are_named() {
        let source = Source::new(
            "crates/eigenlift/src/a.rs",
            "//! Follows (K1).\n/// But (K77)–(K1) too.\nfn f(F32) {}\n",
        );
        let found = unknown_labels(&source, &["K1".to_string()].into());
        assert_eq!(found.len(), 1);
        assert!(
            found[0].to_string().starts_with("crates/eigenlift/src/a.rs:2: (K77) is no equation"),
            "{found:?}"
        );
    }

    #[test]
    fn a_readme_with_another_program_is_named() {
        let readme = "# x\n```rust\nfn main() {}\n```\n";
        assert_eq!(other_program(readme, "//! Words.\n\nfn main() {}\n"), None);
        assert_eq!(other_program(readme, "fn main() { f() }\n").map(|v| v.line), Some(2));
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let text = "[a](there.md#part) [b](gone.md) [c](https://example.org) [d](#here)\n![e](gone.png)\n";
        let found = broken_links("README.md", text, |file| file == "there.md");
        let lines: Vec<usize> = found.iter().map(|v| v.line).collect();
        assert_eq!(lines, [1, 2]);
        assert!(found[0].message.contains("gone.md"));
    }
}
