//! Every test of feature selection in one binary. `cargo test -p eigenlift-select --test all NAME` runs one module.

mod information;
mod selection;
