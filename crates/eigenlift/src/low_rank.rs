//! Low-rank factors of Gram matrices.

mod pivoted_cholesky;

pub use pivoted_cholesky::{LowRankFactor, pivoted_cholesky};
