#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

fuzz_target!(|data: &[u8]| {
    let target = eigenlift_fuzz::target("model").expect("the target");
    (target.run)(FOLDER.path(), data);
});
