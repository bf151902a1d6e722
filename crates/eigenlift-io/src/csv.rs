//! Tables as text.

mod dialect;
mod records;
mod read;
mod write;

pub(crate) use read::open;
pub(crate) use write::{bytes, create};
