//! Methods: recipes over the stages above.

pub mod kernel_cca;
pub mod kernel_discriminant;
pub mod kernel_k_means;
pub mod kernel_pca;
pub mod manifold;
pub mod pca;

pub use crate::model::AnyModel;
pub use crate::rows::Fitted;
pub use kernel_cca::{FittedKernelCca, KernelCca};
pub use kernel_discriminant::{FittedKernelDiscriminant, KernelDiscriminant};
pub use kernel_k_means::{FittedKernelKMeans, KernelKMeans};
pub use kernel_pca::{AlignOptions, Alignment, FittedKernelPca, KernelPca, KernelPcaStream};
pub use manifold::{ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear};
pub use pca::{FittedPca, FittedWhitening, Pca, PcaStream, Whitening, WhiteningMethod};

use crate::error::Result;
use crate::model::{Array, Header, ModelReader, Reader, reader};
use std::path::Path;

/// How the models of all methods are read: one line for each body.
const READERS: [Reader; 7] = [
    reader::<kernel_pca::KernelPcaBody>(),
    reader::<pca::PcaBody>(),
    reader::<pca::WhiteningBody>(),
    reader::<manifold::ManifoldBody>(),
    reader::<kernel_cca::KernelCcaBody>(),
    reader::<kernel_discriminant::KernelDiscriminantBody>(),
    reader::<kernel_k_means::KernelKMeansBody>(),
];

impl AnyModel {
    /// Loads a model file, whatever its method.
    ///
    /// # Errors
    /// When the file cannot be read, holds a method that this version does not know, or is damaged.
    pub fn load(path: &Path) -> Result<AnyModel> {
        ModelReader::open_file(path, |file| AnyModel::read(file, &READERS))
    }

    /// The model from the bytes of a model file, whatever its method.
    ///
    /// # Errors
    /// As [`AnyModel::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<AnyModel> {
        AnyModel::read(&mut ModelReader::from_bytes(bytes)?, &READERS)
    }

    /// The model from its parts, checked as those of a file are. Samples in shared memory are not copied.
    ///
    /// # Errors
    /// As [`AnyModel::load`].
    pub fn from_parts(header: Header, arrays: Vec<Array<'_>>) -> Result<AnyModel> {
        AnyModel::read(&mut ModelReader::from_parts(header, arrays)?, &READERS)
    }
}
