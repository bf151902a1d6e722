//! Methods: recipes over the stages above.

mod align;
mod approximate;
mod automatic;
mod certify;
mod compare;
mod dual;
mod file;
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
mod schedule;
mod stream;

pub use crate::model::{AnyModel, Fitted};
pub use align::{AlignOptions, Alignment};
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

use crate::error::Result;
use crate::model::{Array, Header, ModelReader, Reader, reader};
use std::path::Path;

/// How the models of all methods are read: one line for each body.
const READERS: [Reader; 7] = [
    reader::<fitted::KernelPcaBody>(),
    reader::<pca::PcaBody>(),
    reader::<pca::WhiteningBody>(),
    reader::<manifold::ManifoldBody>(),
    reader::<kernelised::cca::KernelCcaBody>(),
    reader::<kernelised::discriminant::KernelDiscriminantBody>(),
    reader::<kernelised::clusters::KernelKMeansBody>(),
];

impl AnyModel {
    /// Loads a model file, whatever its method.
    ///
    /// # Errors
    /// When the file cannot be read, holds a method that this version does not know, or is damaged.
    pub fn load(path: &Path) -> Result<AnyModel> {
        ModelReader::open_file(path, |file| AnyModel::read(file, &READERS))
    }

    /// The model from its parts, checked as those of a file are. Samples in shared memory are not copied.
    ///
    /// # Errors
    /// As [`AnyModel::load`].
    pub fn from_parts(header: Header, arrays: Vec<Array<'_>>) -> Result<AnyModel> {
        AnyModel::read(&mut ModelReader::from_parts(header, arrays)?, &READERS)
    }
}
