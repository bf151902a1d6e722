//! Every test of reading and writing tables in one binary: it is linked once. `cargo test -p eigenlift-io --test all NAME` runs one module.
//!
//! Two are binaries of their own: `tests/memory.rs` counts every byte that the process allocates, `tests/unfinished.rs` removes the outputs of
//! the whole process.

mod atomic;
mod hostile;
mod hostile_binary;
mod hostile_sparse;
mod parquet;
mod round_trip;
mod sparse;
mod stream;
mod writer;
