//! Methods: recipes over the stages above.

mod align;
mod any;
mod approximate;
mod automatic;
mod certify;
mod compare;
mod dual;
mod fitted;
pub mod kernel_choice;
mod kernel_pca;
pub mod kernel_study;
pub mod kernelised;
pub mod manifold;
mod mercer;
mod names;
pub mod novelty;
pub mod pca;
pub mod pieces;
mod preimages;
mod primal;
mod proof;
mod requests;
mod sample_arrays;
mod saved;
mod schedule;
mod stream;

pub use align::{AlignOptions, Alignment};
pub use any::{AnyModel, Fitted};
pub use compare::{KernelComparison, compare};
pub use fitted::FittedKernelPca;
pub use kernel_pca::KernelPca;
pub use kernelised::{
    FactorPlan, FittedKernelCca, FittedKernelDiscriminant, FittedKernelKMeans, KernelCca, KernelDiscriminant,
    KernelKMeans, Regularization, RegularizationCurve,
};
pub use manifold::{ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear};
pub use mercer::{MercerReport, Verdict, mercer_check};
pub use novelty::{Baseline, Contributions, Judgement, LimitRule, Limits, Novelty, Reference, Statistic};
pub use pca::{FittedPca, FittedWhitening, Pca, PcaStream, Whitening, WhiteningMethod};
pub use stream::KernelPcaStream;
