//! Which kernel and how many components, and how much hangs on them.

pub mod kernel_choice;
pub mod kernel_study;
