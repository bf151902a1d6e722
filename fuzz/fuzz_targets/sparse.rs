#![no_main]

eigenlift_fuzz_targets::fuzz!("sparse");
