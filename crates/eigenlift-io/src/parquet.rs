//! Apache Parquet: flat columns of numbers and text.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
