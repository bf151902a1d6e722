//! What the fuzz targets do with bytes, their seeds, and mutations of them.
//!
//! A target takes any bytes, gives them to one reader of the library, and checks what must hold of whatever that accepts.
//! It panics when something does not hold; errors are answers. `fuzz/fuzz_targets` calls the targets from libFuzzer, which
//! needs a nightly compiler; `tests/driver.rs` and the command line's `tests/all/fuzz_arguments.rs` drive them on stable with
//! [`Mutator`], for a few seconds in the ordinary tests and as long as `EIGENLIFT_FUZZ_SECONDS` says.

mod arguments;
mod containers;
mod models;
mod mutate;
mod tables;
mod texts;

pub use arguments::{
    ARGUMENT_WORDS, Outcome, Subcommand, arguments, draw_arguments, flags_of, prepare_folder,
};
pub use mutate::Mutator;

use std::path::Path;

/// One way into the library for bytes from elsewhere.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, also of its file in `fuzz/fuzz_targets` and its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Reads bytes, with files in this folder. Returns whether they were accepted.
    pub run: fn(&Path, &[u8]) -> bool,
    /// Inputs to begin with.
    pub seeds: fn(&Path) -> Vec<Vec<u8>>,
    /// Words that mutations put in.
    pub words: &'static [&'static str],
}

/// All targets but the arguments of the command line, for which a process is started each time.
pub const TARGETS: [Target; 8] = [
    Target { name: "csv", run: tables::csv, seeds: tables::csv_seeds, words: &tables::CSV_WORDS },
    Target { name: "npy", run: tables::npy, seeds: tables::npy_seeds, words: &tables::NPY_WORDS },
    Target { name: "npz", run: tables::npz, seeds: tables::npz_seeds, words: &tables::NPY_WORDS },
    Target { name: "parquet", run: tables::parquet, seeds: tables::parquet_seeds, words: &[] },
    Target { name: "sparse", run: tables::sparse, seeds: tables::sparse_seeds, words: &tables::NPY_WORDS },
    Target { name: "model", run: models::model, seeds: models::seeds, words: &models::WORDS },
    Target { name: "kernel", run: texts::kernel, seeds: texts::kernel_seeds, words: &texts::KERNEL_WORDS },
    Target {
        name: "formula",
        run: texts::formula,
        seeds: texts::formula_seeds,
        words: &texts::FORMULA_WORDS,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
