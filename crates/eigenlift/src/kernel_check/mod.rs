//! What can be said of a kernel on some data: whether it is a Mercer kernel there, and whether two kernels are the same.

mod compare;
mod mercer;

pub use compare::{KernelComparison, compare};
pub use mercer::{MercerReport, Verdict, mercer_check};
