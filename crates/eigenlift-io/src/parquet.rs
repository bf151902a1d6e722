//! Apache Parquet: flat columns of numbers and text.

mod kind;
mod read;
mod write;

pub(crate) use read::open;
pub(crate) use write::create;
