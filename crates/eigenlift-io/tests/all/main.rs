//! Every test of reading and writing tables in one binary: it is linked once. `cargo test -p eigenlift-io --test all NAME` runs one module.
//!
//! `tests/memory.rs` is a binary of its own, because it counts every byte that the process allocates.

mod atomic;
mod hostile;
mod hostile_binary;
mod hostile_sparse;
mod parquet;
mod round_trip;
mod sparse;
mod stream;
mod unfinished;
mod writer;
