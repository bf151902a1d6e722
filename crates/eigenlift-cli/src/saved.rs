//! Model files.

use crate::exit::Failure;
use crate::interrupt::Session;
use eigenlift::methods::FittedKernelPca;
use std::path::Path;

/// Saves a model; the file appears when it is complete.
pub(crate) fn save(model: &FittedKernelPca, path: &Path, session: &Session) -> Result<(), Failure> {
    session.saving(path, || Ok(model.save(path)?))
}

/// Loads a model.
pub(crate) fn load(path: &Path) -> Result<FittedKernelPca, Failure> {
    FittedKernelPca::load(path).map_err(Failure::loading)
}
