//! NumPy arrays.

mod element;
mod header;
mod read;
mod write;

pub(crate) use header::Header;
pub(crate) use read::{fill, names, read, read_text};
pub(crate) use write::{write_numbers, write_text};
