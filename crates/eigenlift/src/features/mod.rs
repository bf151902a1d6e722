//! Features f with ⟨f(x), f(y)⟩ equal or close to k(x, y): landmarks, explicit maps and random features, and their moments.

mod approximation;
mod chosen;
mod feature_map;
mod fourier;
mod k_means;
mod landmarks;
mod pivoted_cholesky;
mod settings;
mod sums;
mod tensor_sketch;

pub(crate) use approximation::GivenLandmarks;
pub use approximation::{Approximation, LowRank, Rank};
pub(crate) use chosen::{Features, counted_from};
pub(crate) use feature_map::SampledError;
pub use feature_map::{FeatureKind, FeatureMap};
pub use fourier::cosine_features;
pub use k_means::k_means_centres;
pub(crate) use landmarks::Against;
pub use landmarks::FeatureRows;
pub(crate) use landmarks::LandmarkFeatures;
pub(crate) use landmarks::dot;
pub use pivoted_cholesky::Stop;
pub(crate) use pivoted_cholesky::pivoted_cholesky_until;
pub use pivoted_cholesky::{LowRankFactor, pivoted_cholesky};
pub(crate) use pivoted_cholesky::{draws_at_a_time, reject};
pub use settings::FeatureSettings;
pub(crate) use settings::{Accuracy, RequestedKernel};
pub use sums::{FeatureParts, FeatureSums, RowFeatures};
