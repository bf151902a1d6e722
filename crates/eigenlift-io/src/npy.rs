//! NumPy arrays.

mod array;
mod element;
mod header;
mod read;
mod write;

pub(crate) use array::Array;
pub(crate) use header::Header;
pub(crate) use read::{column_names, open};
pub(crate) use write::{create, header_of_numbers, header_of_text, write_numbers, write_text};
