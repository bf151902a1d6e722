//! What the fuzz targets share.

/// A fuzz target of this name: mutations are libFuzzer's own, and now and then one of a seed that the target makes, so that
/// formats with checksums and containers are reached without a corpus of files.
#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        static FOLDER: std::sync::LazyLock<tempfile::TempDir> =
            std::sync::LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));
        static TARGET: std::sync::LazyLock<&eigenlift_fuzz::Target> =
            std::sync::LazyLock::new(|| eigenlift_fuzz::target($name).expect("the target"));
        static SEEDS: std::sync::LazyLock<Vec<Vec<u8>>> =
            std::sync::LazyLock::new(|| (TARGET.seeds)(FOLDER.path()));

        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            if seed % 4 != 0 {
                return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            }
            let input = eigenlift_fuzz::Mutator::new(u64::from(seed)).input(&SEEDS, TARGET.words);
            $crate::put(data, &input, max_size)
        });

        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            (TARGET.run)(FOLDER.path(), data);
        });
    };
}

/// Puts as much of an input as there is room for in the place of another; gives its length.
pub fn put(data: &mut [u8], input: &[u8], max_size: usize) -> usize {
    let length = input.len().min(max_size).min(data.len());
    data[..length].copy_from_slice(&input[..length]);
    length
}
