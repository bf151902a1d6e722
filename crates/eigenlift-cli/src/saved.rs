//! Model files.

use crate::exit::Failure;
use eigenlift::methods::FittedKernelPca;
use std::path::Path;

/// Saves a model; the file appears when it is complete.
pub(crate) fn save(_model: &FittedKernelPca, _path: &Path) -> Result<(), Failure> {
    Err(Failure::Machine("models cannot be saved yet.".into()))
}

/// Loads a model.
pub(crate) fn load(_path: &Path) -> Result<FittedKernelPca, Failure> {
    Err(Failure::Machine("models cannot be loaded yet.".into()))
}
