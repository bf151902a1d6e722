//! Archives of NumPy arrays.

mod member;
mod read;
mod repeated;
mod write;

pub(crate) use member::{Contents, Member, member_names};
pub(crate) use read::open;
pub(crate) use write::create;

/// The member that holds the data, unless another is named.
const DATA_MEMBER: &str = "X";
