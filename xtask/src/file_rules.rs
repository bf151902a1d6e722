//! Rules that hold for single files: size, unfinished code, and what library code must not do.

use crate::report::Violation;
use crate::source::{Source, files_below, find_word, line_of};
use std::path::Path;

/// Most lines that a file in Rust may have.
const MOST_LINES: usize = 500;
/// Most lines that a file in Python may have: half of an estimator's are its documentation, and a class is not cut in two to be shorter.
const MOST_LINES_OF_PYTHON: usize = 700;
/// Crates that talk to people, where printing and exit codes belong.
const FRONT_ENDS: [&str; 1] = ["eigenlift-cli"];
/// The library.
const LIBRARY: &str = "crates/eigenlift/src/";
/// Files that may start threads.
const STARTS_THREADS: [&str; 1] = ["crates/eigenlift/src/engine/cpu.rs"];
/// Files that may name faer: this one, and those in the folder of its name.
const NAMES_FAER: [&str; 2] = ["crates/eigenlift/src/linalg.rs", "crates/eigenlift/src/linalg/"];

/// A word that must not stand in code, and what to do instead.
struct Forbidden {
    word: &'static str,
    instead: &'static str,
}

const UNFINISHED: [Forbidden; 2] = [
    Forbidden { word: "todo!", instead: "finish it or leave it out" },
    Forbidden { word: "unimplemented!", instead: "finish it or return an error" },
];

const IN_LIBRARIES: [Forbidden; 7] = [
    Forbidden { word: "println!", instead: "libraries do not print: return it, or report to the observer" },
    Forbidden { word: "print!", instead: "libraries do not print: return it, or report to the observer" },
    Forbidden { word: "eprintln!", instead: "libraries do not print: return it, or report to the observer" },
    Forbidden { word: "eprint!", instead: "libraries do not print: return it, or report to the observer" },
    Forbidden { word: "env::var", instead: "libraries do not read the environment: take a setting" },
    Forbidden { word: "process::exit", instead: "libraries do not end the process: return an error" },
    Forbidden { word: "process::abort", instead: "libraries do not end the process: return an error" },
];

const THREADS: [Forbidden; 5] = [
    Forbidden { word: "ThreadPoolBuilder", instead: "only engine/cpu.rs starts threads" },
    Forbidden {
        word: "build_global",
        instead: "only engine/cpu.rs starts threads, and never in the global pool",
    },
    Forbidden { word: "thread::spawn", instead: "only engine/cpu.rs starts threads" },
    Forbidden { word: "thread::scope", instead: "only engine/cpu.rs starts threads" },
    Forbidden { word: "thread::Builder", instead: "only engine/cpu.rs starts threads" },
];

/// Folders of the library that compute kernel values; everything else, other crates too, asks them of `rows`, so that it runs wherever rows
/// are.
const COMPUTES_KERNELS: [&str; 5] = ["kernel/", "gram/", "features/", "rows/", "kernel_check/"];
/// Files beside them: descents that need kernel values together with their gradients, for some points at a time.
const DESCENDS: [&str; 4] =
    ["preimage/target.rs", "preimage/ridge.rs", "preimage/way_back.rs", "monitoring/surface.rs"];
/// What computes values by itself outside of the library: selection of features, slow references, and tables of values that are printed.
const OWN_TILES: [&str; 4] = [
    "crates/eigenlift-select/",
    "crates/eigenlift-testkit/",
    "crates/eigenlift-fuzz/",
    "crates/eigenlift-cli/src/pairwise.rs",
];
const KERNEL_VALUES: [Forbidden; 7] = [
    Forbidden { word: "kernel.tile(", instead: THROUGH_ROWS },
    Forbidden { word: "kernel.matrix(", instead: THROUGH_ROWS },
    Forbidden { word: "kernel.diagonal(", instead: THROUGH_ROWS },
    Forbidden { word: "kernel.pair(", instead: THROUGH_ROWS },
    Forbidden { word: "diagonal_of(", instead: THROUGH_ROWS },
    Forbidden { word: "CrossGram::new", instead: THROUGH_ROWS },
    Forbidden { word: "SymmetricGram::new", instead: THROUGH_ROWS },
];
const THROUGH_ROWS: &str =
    "kernel values are asked of `rows`: gram, cross, diagonal, features, feature_sums, pivots or project";

const FAER: [Forbidden; 1] =
    [Forbidden { word: "faer", instead: "only linalg.rs and files below linalg/ name faer" }];

/// Checks all files.
pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    sources.iter().flat_map(check_file).collect()
}

/// Checks the size of the files in Python.
pub(crate) fn check_python(root: &Path) -> Result<Vec<Violation>, String> {
    let mut paths = files_below(root, "python", "py")?;
    paths.extend(files_below(root, "python", "pyi")?);
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
        found.extend(too_long(&path, &text, MOST_LINES_OF_PYTHON));
    }
    Ok(found)
}

fn too_long(path: &str, text: &str, most: usize) -> Option<Violation> {
    let lines = text.lines().count();
    let message = format!("{lines} lines; at most {most} are allowed: split the file by concept");
    (lines > most).then(|| Violation { file: path.into(), line: most + 1, message })
}

fn check_file(source: &Source) -> Vec<Violation> {
    let mut found = Vec::from_iter(too_long(&source.path, &source.text, MOST_LINES));
    found.extend(forbid(source, &UNFINISHED));
    if asks_for_kernel_values(source) {
        found.extend(forbid(source, &KERNEL_VALUES));
    }
    if !source.ships() {
        return found;
    }
    if !source.crate_name().is_some_and(|name| FRONT_ENDS.contains(&name)) {
        found.extend(forbid(source, &IN_LIBRARIES));
        if !STARTS_THREADS.contains(&source.path.as_str()) {
            found.extend(forbid(source, &THREADS));
        }
    }
    if !NAMES_FAER.iter().any(|path| source.path.starts_with(path)) {
        found.extend(forbid(source, &FAER));
    }
    found
}

/// Whether a file has to ask for kernel values.
fn asks_for_kernel_values(source: &Source) -> bool {
    match source.path.strip_prefix(LIBRARY) {
        Some(inside) => {
            !source.only_tests
                && !COMPUTES_KERNELS.iter().chain(&DESCENDS).any(|path| inside.starts_with(path))
        }
        None => {
            (source.ships() || source.path.starts_with("python/src/"))
                && !OWN_TILES.iter().any(|path| source.path.starts_with(path))
        }
    }
}

fn forbid<'a>(source: &'a Source, words: &'a [Forbidden]) -> impl Iterator<Item = Violation> + 'a {
    words.iter().flat_map(move |forbidden| {
        find_word(&source.code, forbidden.word).map(move |at| Violation {
            file: source.path.clone(),
            line: line_of(&source.code, at),
            message: format!("`{}`: {}", forbidden.word, forbidden.instead),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&[Source::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_files_are_named() {
        assert!(messages("crates/eigenlift/src/a.rs", &"\n".repeat(500)).is_empty());
        let found = messages("crates/eigenlift/tests/a.rs", &"\n".repeat(501));
        assert!(found[0].contains("501 lines; at most 500"), "{found:?}");
        assert!(too_long("python/eigenlift/a.py", &"\n".repeat(700), MOST_LINES_OF_PYTHON).is_none());
        assert!(too_long("python/eigenlift/a.py", &"\n".repeat(701), MOST_LINES_OF_PYTHON).is_some());
    }

    #[test]
    fn methods_ask_for_kernel_values() {
        for line in [
            "kernel.tile(a, b, c, d)",
            "self.kernel.diagonal(x, out)",
            "gram::diagonal_of(s, x, 0, out)",
            "CrossGram::new(k, x, y)",
        ] {
            let code = format!("fn f() {{ {line}; }}");
            for path in [
                "methods/kernel_k_means/fitted.rs",
                "tuning/a.rs",
                "factor/mod.rs",
                "monitoring/measure.rs",
                "model/mod.rs",
                "engine/cpu.rs",
                "quality.rs",
            ] {
                assert_eq!(messages(&format!("{LIBRARY}{path}"), &code).len(), 1, "{path}: {line}");
            }
            assert_eq!(messages("python/src/kernels.rs", &code).len(), 1, "{line}");
            assert_eq!(messages("crates/eigenlift-cli/src/score.rs", &code).len(), 1, "{line}");
            assert!(messages("crates/eigenlift-select/src/filter/a.rs", &code).is_empty(), "{line}");
            for path in ["rows/memory.rs", "gram/cross.rs", "features/landmarks.rs", "preimage/target.rs"] {
                assert!(messages(&format!("{LIBRARY}{path}"), &code).is_empty(), "{path}: {line}");
            }
        }
    }

    #[test]
    fn unfinished_code_is_named_everywhere() {
        assert_eq!(messages("crates/eigenlift/examples/a.rs", "fn f() { todo!() }").len(), 1);
        assert_eq!(messages("xtask/src/a.rs", "fn f() { unimplemented!(\"x\") }").len(), 1);
        assert!(messages("xtask/src/a.rs", "// todo!()\n").is_empty());
    }

    #[test]
    fn libraries_do_not_print_read_the_environment_or_exit() {
        for line in [
            "println!()",
            "eprintln!()",
            "print!()",
            "std::env::var(x)",
            "env::var_os(x)",
            "std::process::exit(1)",
        ] {
            let code = format!("fn f() {{ {line}; }}");
            assert_eq!(messages("crates/eigenlift-io/src/a.rs", &code).len(), 1, "{line}");
            assert!(messages("crates/eigenlift-cli/src/a.rs", &code).is_empty(), "{line}");
            assert!(messages("crates/eigenlift/examples/a.rs", &code).is_empty(), "{line}");
        }
        assert!(messages("crates/eigenlift/src/a.rs", "/// println!(\"{}\", x)\nfn f() {}").is_empty());
    }

    #[test]
    fn only_the_processor_starts_threads() {
        for line in ["rayon::ThreadPoolBuilder::new()", "std::thread::spawn(f)", "std::thread::scope(f)"] {
            let code = format!("fn f() {{ {line}; }}");
            assert_eq!(messages("crates/eigenlift/src/gram/a.rs", &code).len(), 1, "{line}");
            assert!(messages("crates/eigenlift/src/engine/cpu.rs", &code).is_empty(), "{line}");
        }
    }

    #[test]
    fn only_linear_algebra_names_faer() {
        assert_eq!(messages("crates/eigenlift/src/eigen/dense.rs", "use faer::Mat;").len(), 1);
        assert_eq!(messages("crates/eigenlift/src/eigen/dense.rs", "use faer_traits::RealField;").len(), 1);
        assert!(messages("crates/eigenlift/src/linalg.rs", "use faer::Mat;").is_empty());
        assert!(messages("crates/eigenlift/src/linalg/sparse.rs", "use faer::Mat;").is_empty());
    }
}
