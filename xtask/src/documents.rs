//! Documents and code agree: labels of equations exist, links between files lead somewhere.

use crate::report::Violation;
use crate::source::{Source, files_below, line_of};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where the equations are.
const THEORY: &str = "docs/theory";

/// Checks labels in the library's comments and links in all documents.
pub(crate) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Violation>, String> {
    let read = |path: &String| fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"));
    let mut defined = BTreeSet::new();
    for path in files_below(root, THEORY, "md")? {
        defined.extend(definitions(&read(&path)?));
    }
    let library = sources.iter().filter(|s| s.path.starts_with("crates/eigenlift/src/"));
    let mut found: Vec<Violation> = library.flat_map(|source| unknown_labels(source, &defined)).collect();
    for path in files_below(root, ".", "md")? {
        let exists =
            |target: &str| root.join(&path).parent().is_some_and(|folder| folder.join(target).exists());
        found.extend(broken_links(&path, &read(&path)?, exists));
    }
    Ok(found)
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
    fn links_that_lead_nowhere_are_named() {
        let text = "[a](there.md#part) [b](gone.md) [c](https://example.org) [d](#here)\n![e](gone.png)\n";
        let found = broken_links("README.md", text, |file| file == "there.md");
        let lines: Vec<usize> = found.iter().map(|v| v.line).collect();
        assert_eq!(lines, [1, 2]);
        assert!(found[0].message.contains("gone.md"));
    }
}
