//! Low-rank factors of Gram matrices: pivoted Cholesky; explicit and random features.

mod feature_map;
mod fourier;
mod pivoted_cholesky;
mod tensor_sketch;

pub use feature_map::{FeatureKind, FeatureMap, SampledError};
pub use pivoted_cholesky::{LowRankFactor, pivoted_cholesky};
