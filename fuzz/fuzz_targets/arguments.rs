#![no_main]

//! One argument to a line. `EIGENLIFT_BIN` names the command line to run.

use eigenlift_fuzz::{Outcome, arguments, prepare_folder};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static PLACE: LazyLock<(PathBuf, tempfile::TempDir)> = LazyLock::new(|| {
    let binary = PathBuf::from(std::env::var_os("EIGENLIFT_BIN").expect("EIGENLIFT_BIN names the command line"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    prepare_folder(&binary, folder.path());
    (binary, folder)
});

fuzz_target!(|data: &[u8]| {
    let (binary, folder) = &*PLACE;
    if let Outcome::Wrong(what) = arguments(binary, folder.path(), data) {
        panic!("{what}");
    }
});
