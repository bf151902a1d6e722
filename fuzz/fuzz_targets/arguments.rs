#![no_main]

//! One argument to a line. `EIGENLIFT_BIN` names the command line to run.

use eigenlift_fuzz::{Mutator, Outcome, Subcommand, arguments, draw_arguments, flags_of, prepare_folder};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::path::PathBuf;
use std::sync::LazyLock;

struct Place {
    binary: PathBuf,
    folder: tempfile::TempDir,
    subcommands: Vec<Subcommand>,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let binary = PathBuf::from(std::env::var_os("EIGENLIFT_BIN").expect("EIGENLIFT_BIN names the command line"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    prepare_folder(&binary, folder.path());
    let subcommands = flags_of(&binary, &[]);
    Place { binary, folder, subcommands }
});

// Half of the inputs are drawn from the flags of a subcommand; mutations of bytes alone would seldom name one.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 != 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut mutator = Mutator::new(u64::from(seed));
    let Some(subcommand) = mutator.one_of(&PLACE.subcommands).cloned() else { return size };
    let input = draw_arguments(&mut mutator, &subcommand).join("\n").into_bytes();
    eigenlift_fuzz_targets::put(data, &input, max_size)
});

fuzz_target!(|data: &[u8]| {
    if let Outcome::Wrong(what) = arguments(&PLACE.binary, PLACE.folder.path(), data) {
        panic!("{what}");
    }
});
