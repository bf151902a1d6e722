//! The dependency rule of the library: a module uses only what stands above it in `lib.rs`.

use crate::report::Violation;
use crate::source::{Source, find_word, is_word, line_of};

/// The library whose modules are in layers.
const LIBRARY: &str = "crates/eigenlift/src/";
/// Modules that carry no idea of the pipeline and are free to all below them.
const FOUNDATION: [&str; 8] = ["error", "memory", "progress", "real", "matrix", "random", "simd", "linalg"];
/// What a module may see of the pipeline, where that is less than all that stands above it.
const NARROW: [(&str, &[&str]); 1] = [("eigen", &["operator"])];

/// Checks every file of the library against the order of `lib.rs`.
pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let Some(root) = sources.iter().find(|s| s.path == format!("{LIBRARY}lib.rs")) else {
        let message =
            "the library's lib.rs is missing; the order of its modules is the dependency rule".into();
        return vec![Violation { file: format!("{LIBRARY}lib.rs"), line: 1, message }];
    };
    let order = modules(&root.code);
    let library =
        sources.iter().filter(|s| s.path.starts_with(LIBRARY) && s.path != root.path && !s.only_tests);
    library.flat_map(|source| check_file(source, &order)).collect()
}

/// Names of `mod name;` in the order in which they stand.
fn modules(code: &str) -> Vec<String> {
    find_word(code, "mod ")
        .filter_map(|at| {
            let (name, _) = code[at + 4..].split_once(';')?;
            name.chars().all(is_word).then(|| name.to_string())
        })
        .collect()
}

fn check_file(source: &Source, order: &[String]) -> Vec<Violation> {
    let inside = &source.path[LIBRARY.len()..];
    let parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").collect();
    let own = parts[0];
    let violation = |at: usize, message: String| Violation {
        file: source.path.clone(),
        line: line_of(&source.code, at),
        message,
    };
    let Some(rank) = order.iter().position(|name| name == own) else {
        return vec![violation(0, format!("module `{own}` is not declared in lib.rs"))];
    };
    let narrow = NARROW.iter().find(|(name, _)| *name == own).map(|(_, seen)| *seen);
    uses(&source.code, parts.len())
        .into_iter()
        .filter_map(|(at, used)| {
            let used_rank = order.iter().position(|name| *name == used)?;
            if used_rank > rank {
                let message =
                    format!("`{own}` uses `{used}`, which stands below it in lib.rs; move one of them");
                return Some(violation(at, message));
            }
            let seen = narrow?;
            let allowed = used == own || FOUNDATION.contains(&used.as_str()) || seen.contains(&used.as_str());
            (!allowed).then(|| {
                let message =
                    format!("`{own}` uses `{used}`; of the pipeline it may see only {}", seen.join(", "));
                violation(at, message)
            })
        })
        .collect()
}

/// What code at `depth` modules below the root names of the crate's root: after `crate::`, or after enough `super::`.
fn uses(code: &str, depth: usize) -> Vec<(usize, String)> {
    uses_below(code, "crate::", depth)
}

/// The same for a module other than the root: `path` is its path from the root, such as `crate::methods::`.
pub(crate) fn uses_below(code: &str, path: &str, depth: usize) -> Vec<(usize, String)> {
    let climb = "super::".repeat(depth);
    let mut found = Vec::new();
    for prefix in [path, climb.as_str()] {
        for at in find_word(code, prefix) {
            // Part of a longer climb, which was counted where it starts.
            if code[..at].ends_with("super::") {
                continue;
            }
            found.extend(names(&code[at + prefix.len()..]).into_iter().map(|name| (at, name)));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The name at the start of `rest`, or the first names of the paths in a group `{a, b::{c, d}}`.
pub(crate) fn names(rest: &str) -> Vec<String> {
    let word = |text: &str| text.trim_start().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(group) = rest.trim_start().strip_prefix('{') else { return vec![word(rest)] };
    let mut found = vec![word(group)];
    let mut depth = 1;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => found.push(word(&group[at + 1..])),
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "//! Words.\npub mod error;\nmod linalg;\npub mod data;\npub mod operator;\npub mod gram;\npub mod eigen;\npub mod methods;\n";

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let all = [&[("lib.rs", ROOT)], files].concat();
        let sources: Vec<Source> =
            all.iter().map(|(path, text)| Source::new(&format!("{LIBRARY}{path}"), text)).collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_stands_above_and_the_module_itself_may_be_used() {
        let text = "use crate::error::Error;\nuse crate::{data::Samples, operator};\nuse crate::gram::cross;\nuse super::Tile;\n";
        assert!(messages(&[("gram/symmetric.rs", text)]).is_empty());
    }

    #[test]
    fn what_stands_below_may_not_be_used() {
        let found = messages(&[("gram/mod.rs", "//! x\nuse crate::methods::KernelPca;\n")]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/eigenlift/src/gram/mod.rs:2: `gram` uses `methods`"),
            "{found:?}"
        );
    }

    #[test]
    fn paths_in_code_and_in_groups_are_seen() {
        assert_eq!(messages(&[("data.rs", "fn f() { crate::gram::g(); }")]).len(), 1);
        assert_eq!(
            messages(&[("data.rs", "use crate::{error::{Error, Result}, gram::{A, B}, eigen};")]).len(),
            2
        );
    }

    #[test]
    fn climbing_to_the_root_is_seen() {
        assert_eq!(messages(&[("data/samples.rs", "use super::super::gram::Gram;")]).len(), 1);
        assert_eq!(messages(&[("data/mod.rs", "use super::gram::Gram;")]).len(), 1);
        assert!(messages(&[("data/samples.rs", "use super::gram::Gram;")]).is_empty());
    }

    #[test]
    fn tests_and_comments_are_exempt() {
        let text = "// crate::methods\n#[cfg(test)]\nmod tests {\n use crate::methods::KernelPca;\n}\n";
        assert!(messages(&[("data.rs", text)]).is_empty());
    }

    #[test]
    fn eigen_sees_only_the_operator() {
        assert!(
            messages(&[("eigen/dense.rs", "use crate::operator::LinearOperator;\nuse crate::linalg::gemm;")])
                .is_empty()
        );
        let found = messages(&[("eigen/dense.rs", "use crate::gram::Storage;")]);
        assert!(found[0].contains("of the pipeline it may see only operator"), "{found:?}");
    }

    #[test]
    fn files_that_are_no_module_and_a_missing_root_are_named() {
        assert!(messages(&[("stray.rs", "")])[0].contains("`stray` is not declared"));
        assert!(check(&[])[0].message.contains("lib.rs is missing"));
    }
}
