//! Low-rank factors of Gram matrices: pivoted Cholesky, explicit and random features, centres of clusters.

mod feature_map;
mod fourier;
mod k_means;
mod pivoted_cholesky;
mod tensor_sketch;

pub use feature_map::{FeatureKind, FeatureMap, SampledError};
pub use k_means::k_means_centres;
pub use pivoted_cholesky::{LowRankFactor, pivoted_cholesky};
