//! Kernelised linear methods: one factor, features and their moments, and a small dense problem for each method,
//! docs/theory/kernelised.md.

pub mod cca;
pub mod clusters;
pub mod discriminant;
mod factor;
mod plan;
mod regularization;
mod spectrum;

pub use cca::{FittedKernelCca, KernelCca};
pub use clusters::{FittedKernelKMeans, KernelKMeans};
pub use discriminant::{FittedKernelDiscriminant, KernelDiscriminant};
pub use plan::FactorPlan;
pub use regularization::{Regularization, RegularizationCurve};
