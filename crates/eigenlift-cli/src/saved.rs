//! Model files.

use crate::exit::Failure;
use eigenlift::methods::{AnyModel, Fitted, FittedKernelPca};
use std::path::Path;

/// Saves a model; the file appears when it is complete.
pub(crate) fn save(model: &dyn Fitted, path: &Path) -> Result<(), Failure> {
    Ok(model.write(path)?)
}

/// Loads a model of any method.
pub(crate) fn load(path: &Path) -> Result<AnyModel, Failure> {
    AnyModel::load(path).map_err(Failure::loading)
}

/// Loads a kernel PCA model.
pub(crate) fn load_kernel_pca(path: &Path) -> Result<FittedKernelPca, Failure> {
    FittedKernelPca::load(path).map_err(Failure::loading)
}
