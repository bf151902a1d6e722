//! `eigenlift inspect`: what is in a model file.

use crate::args::InspectArgs;
use crate::exit::Failure;

/// Reads the header, checks the arrays against it, prints both.
pub(crate) fn run(_args: &InspectArgs) -> Result<(), Failure> {
    Err(Failure::Machine("models cannot be loaded yet.".into()))
}
