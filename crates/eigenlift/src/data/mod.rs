//! Samples: rows of numbers, dense or sparse, owned or borrowed.

mod builtin;
mod centred;
mod csr;
pub mod folds;
mod labels;
mod points;
mod samples;
mod source;
mod synthetic;

pub use builtin::{Dataset, digits, iris, worked_example};
pub(crate) use centred::CentredRows;
pub use csr::{Csr, CsrRef};
pub use labels::Labels;
pub use points::{AnyPoints, Points};
pub use samples::{AnySamples, Samples, SharedBuffer};
pub(crate) use source::gather;
pub use source::{RowSource, RowsInMemory};
pub use synthetic::synthetic;
