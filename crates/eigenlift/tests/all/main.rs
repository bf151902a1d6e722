//! Every test of the library in one binary: it is linked once. `cargo test -p eigenlift --test all NAME` runs one module.

mod control_limits;
mod directions;
mod extremes;
mod far_from_origin;
mod golden;
mod kernel_cca;
mod kernel_choice;
mod kernel_discriminant;
mod kernel_k_means;
mod kernel_pca;
mod kernel_study;
mod laws;
mod low_rank;
mod manifold;
mod model_file;
mod novelty;
mod pass_counts;
mod pca;
mod pieces;
mod preimage;
mod robustness;
mod rows;
mod short_circuits;
mod tiles;
