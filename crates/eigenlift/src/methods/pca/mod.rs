//! Linear PCA.

pub mod choose;
