//! `cargo xtask census [--write]`: what the sources are counted to be, as it stands in ARCHITECTURE.md between two marks.

use crate::report::Violation;
use crate::rooms::ROOMS;
use crate::source::{Source, find_word, is_word};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- census: written by `cargo xtask census --write` -->";
const END: &str = "<!-- end of census -->";
/// The library, whose public names are counted.
const LIBRARY: &str = "crates/eigenlift/src/";
const TYPES: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];
/// Verbs of the library that there should be once for each method.
const VERBS: [&str; 2] = ["fit", "plan"];
/// What stands between the exact part, which the tests compare, and the line counts, which they do not.
const BETWEEN: &str = "\n| thousands of lines | code | documentation | tests |";

/// Prints the census, or writes it into the page.
pub(crate) fn run(root: &Path, sources: &[Source], write: bool) -> ExitCode {
    let census = text(sources);
    if !write {
        println!("{census}");
        return ExitCode::SUCCESS;
    }
    match put(root, &census) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn put(root: &Path, census: &str) -> Result<(), String> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"))?;
    let Some((from, to)) = place(&page) else {
        return Err(format!(
            "{PAGE}: the lines {BEGIN} and {END} are missing; put them where the census belongs"
        ));
    };
    let page = format!("{}\n{census}{}", &page[..from], &page[to..]);
    fs::write(&path, page).map_err(|e| format!("{PAGE}: {e}"))
}

/// Where the census stands: behind the first mark, before the second.
fn place(page: &str) -> Option<(usize, usize)> {
    let from = page.find(BEGIN)? + BEGIN.len();
    Some((from, from + page[from..].find(END)?))
}

/// Compares the counts in the page with the sources. Line counts are left alone: they change with every commit.
pub(crate) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Violation>, String> {
    let page = fs::read_to_string(root.join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    Ok(compare(&page, &text(sources)).into_iter().collect())
}

fn compare(page: &str, census: &str) -> Option<Violation> {
    let violation = |line: usize, message: String| Violation { file: PAGE.into(), line, message };
    let Some((from, to)) = place(page) else {
        return Some(violation(
            1,
            format!("the lines {BEGIN} and {END} are missing; put them where the census belongs"),
        ));
    };
    let (told, counted) = (exact(&page[from..to]), exact(census));
    let differs =
        counted.lines().zip(told.lines().chain(std::iter::repeat(""))).find(|(new, old)| new != old);
    let (counted, _) = differs.or_else(|| (counted != told).then_some(("fewer lines", "")))?;
    let line = page[..from].matches('\n').count() + 1;
    Some(violation(
        line,
        format!("the census is not that of the sources ({counted}); run `cargo xtask census --write`"),
    ))
}

/// The part that must be exact.
fn exact(census: &str) -> &str {
    census.split(BETWEEN).next().unwrap_or(census).trim()
}

/// The census as it stands in the page.
fn text(sources: &[Source]) -> String {
    let library = || sources.iter().filter(|source| source.path.starts_with(LIBRARY) && !source.only_tests);
    let types = public_types(&library().collect::<Vec<_>>());
    let [fits, plans] =
        VERBS.map(|verb| library().map(|source| entry_points(&source.code, verb)).sum::<usize>());
    let mut lines = vec![
        "| counted | |".to_string(),
        "|---|---|".to_string(),
        format!("| public types of the library | {types} |"),
        format!("| public `fit*` and `plan*` | {fits} + {plans} |"),
    ];
    for room in &ROOMS {
        let circles = room.circles(sources);
        lines.push(format!(
            "| pairs of modules that use each other: {} | {} |",
            room.name,
            circles.pairs.len()
        ));
        let inside: usize = circles.groups.iter().map(|group| group.len()).sum();
        lines.push(format!(
            "| modules that need each other, also by way of others: {} | {inside} |",
            room.name
        ));
    }
    format!("{}\n{}\n", lines.join("\n"), folders(sources))
}

/// Types that other crates can name: in modules that are public all the way, or named again by `pub use`.
fn public_types(library: &[&Source]) -> usize {
    let places: Vec<Vec<&str>> = library.iter().map(|source| module(&source.path)).collect();
    let mut open = BTreeSet::from([Vec::new()]);
    for (source, place) in library.iter().zip(&places) {
        open.extend(declared(&source.code).map(|name| [place.as_slice(), &[name]].concat()));
    }
    let is_open = |place: &[&str]| (0..=place.len()).all(|depth| open.contains(&place[..depth]));
    let named: BTreeSet<&str> = library
        .iter()
        .zip(&places)
        .filter(|(_, place)| is_open(place))
        .flat_map(|(source, _)| find_word(&source.code, "pub use ").map(|at| &source.code[at..]))
        .flat_map(|rest| rest.split(';').next().unwrap_or(rest).split(|c| !is_word(c)))
        .collect();
    let counted = |(source, place): (&&Source, &Vec<&str>)| {
        let names = TYPES.iter().flat_map(|word| {
            find_word(&source.code, word).map(|at| word_at(&source.code[at + word.len()..]))
        });
        names.filter(|name| is_open(place) || named.contains(name)).count()
    };
    library.iter().zip(&places).map(counted).sum()
}

/// Names of the modules on the way to a file of the library.
fn module(path: &str) -> Vec<&str> {
    let inside = path.strip_prefix(LIBRARY).unwrap_or(path).trim_end_matches(".rs");
    inside.split('/').filter(|part| !["mod", "lib"].contains(part)).collect()
}

/// Names of `pub mod name;`.
fn declared(code: &str) -> impl Iterator<Item = &str> {
    find_word(code, "pub mod ")
        .map(|at| &code[at + "pub mod ".len()..])
        .filter_map(|rest| rest.split_once(';'))
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(is_word))
}

fn word_at(text: &str) -> &str {
    text.split(|c| !is_word(c)).next().unwrap_or(text)
}

/// Functions named by a verb, alone or with more words behind it, that are given something besides the receiver.
fn entry_points(code: &str, verb: &str) -> usize {
    let asks = |at: usize| {
        let rest = &code[at + "pub fn ".len()..];
        let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
        let named = name == verb || name.strip_prefix(verb).is_some_and(|more| more.starts_with('_'));
        let arguments = rest.split_once('(').map_or("", |(_, tail)| tail).trim_start();
        named && !arguments.trim_start_matches("&self").starts_with(')')
    };
    find_word(code, "pub fn ").filter(|at| asks(*at)).count()
}

/// Lines of code, documentation and tests of each folder, in thousands.
fn folders(sources: &[Source]) -> String {
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for source in sources {
        let own = lines_of(source);
        let entry = counts.entry(folder(&source.path)).or_default();
        entry.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
    }
    let thousands = |n: usize| format!("{:.0}", n as f64 / 1000.0);
    let rows = counts.iter().filter(|(_, sums)| sums.iter().sum::<usize>() >= 500).map(
        |(folder, [code, words, tests])| {
            format!("| `{folder}` | {} | {} | {} |", thousands(*code), thousands(*words), thousands(*tests))
        },
    );
    format!("{BETWEEN}\n|---|---|---|---|\n{}", rows.collect::<Vec<_>>().join("\n"))
}

/// `crates/NAME/src/FOLDER` for what is in a folder of the library, the crate otherwise.
fn folder(path: &str) -> String {
    let depth = if path.starts_with(LIBRARY) && path.matches('/').count() > 3 {
        4
    } else if path.starts_with("crates/") {
        2
    } else {
        1
    };
    path.split('/').take(depth).collect::<Vec<_>>().join("/")
}

/// Lines of code, of documentation (comments) and of tests. Blank lines are none of them.
fn lines_of(source: &Source) -> [usize; 3] {
    let (mut code, mut words, mut tests) = (0, 0, 0);
    let all_tests = source.only_tests || source.path.contains("/tests/");
    for ((line, of_code), of_words) in
        source.text.lines().zip(source.code.lines()).zip(source.comments.lines())
    {
        if line.trim().is_empty() {
            continue;
        }
        if all_tests {
            tests += 1;
        } else if !of_code.trim().is_empty() {
            code += 1;
        } else if !of_words.trim().is_empty() {
            words += 1;
        } else {
            // What is neither was blanked as a test, or is a line of a literal.
            tests += 1;
        }
    }
    [code, words, tests]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(text: &str) -> Vec<Source> {
        vec![Source::new("crates/eigenlift/src/methods/a.rs", text)]
    }

    /// The same in a module that others reach.
    fn reached(text: &str) -> Vec<Source> {
        let mut sources = library(text);
        sources.push(Source::new("crates/eigenlift/src/lib.rs", "pub mod methods;\n"));
        sources.push(Source::new("crates/eigenlift/src/methods/mod.rs", "pub mod a;\n"));
        sources
    }

    #[test]
    fn public_types_and_verbs_are_counted() {
        let code = "pub struct A;\npub(crate) struct B;\npub enum C {}\nimpl A {\n pub fn fit(&self, x: X) {}\n pub fn fit_source(&self, s: S) {}\n pub fn fitted(&self, x: X) {}\n pub fn plan(&self) -> &Plan {}\n pub fn plan_source(\n  &self,\n  s: S) {}\n}\n#[cfg(test)]\nmod tests { pub struct D; }\n";
        let mut sources = library(code);
        sources.push(Source::new(
            "crates/eigenlift/src/lib.rs",
            "pub mod methods;\nmod inner;\npub use inner::{F, g};\n",
        ));
        sources.push(Source::new(
            "crates/eigenlift/src/methods/mod.rs",
            "pub mod a;\nmod b;\npub(crate) use b::H;\n",
        ));
        sources.push(Source::new("crates/eigenlift/src/methods/b.rs", "pub struct H;\n"));
        sources.push(Source::new("crates/eigenlift/src/inner.rs", "pub struct F;\npub struct E;\n"));
        let census = text(&sources);
        // A, C and F: E and H can be named inside the library alone.
        assert!(census.contains("| public types of the library | 3 |"), "{census}");
        assert!(census.contains("| public `fit*` and `plan*` | 2 + 1 |"), "{census}");
    }

    #[test]
    fn lines_are_told_apart() {
        let source = Source::new(
            "crates/e/src/a.rs",
            "//! Words.\n\nfn f() {} // more\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n",
        );
        assert_eq!(lines_of(&source), [1, 1, 4]);
        let test = Source::new("crates/e/tests/all/a.rs", "//! Words.\nfn f() {}\n");
        assert_eq!(lines_of(&test), [0, 0, 2]);
    }

    #[test]
    fn folders_of_the_library_are_counted_by_themselves() {
        assert_eq!(folder("crates/eigenlift/src/methods/pca/axes.rs"), "crates/eigenlift/src/methods");
        assert_eq!(folder("crates/eigenlift/src/lib.rs"), "crates/eigenlift");
        assert_eq!(folder("crates/eigenlift-cli/src/main.rs"), "crates/eigenlift-cli");
        assert_eq!(folder("xtask/src/main.rs"), "xtask");
    }

    #[test]
    fn a_page_with_other_counts_is_named_and_line_counts_are_free() {
        let census = text(&reached("pub struct A;"));
        let page = |inside: &str| format!("# A\n{BEGIN}\n{inside}{END}\nmore\n");
        assert_eq!(compare(&page(&census), &census), None);
        let free = census.replace("|---|---|---|---|", "|---|---|---|---|\n| `x` | 9 | 9 | 9 |");
        assert_eq!(compare(&page(&free), &census), None);
        let other =
            compare(&page(&census.replace("types of the library | 1", "types of the library | 7")), &census)
                .unwrap();
        assert!(other.line == 2 && other.message.contains("cargo xtask census --write"), "{other}");
        assert!(compare("no marks", &census).unwrap().message.contains("are missing"));
        assert!(compare(&page(""), &census).is_some());
    }
}
