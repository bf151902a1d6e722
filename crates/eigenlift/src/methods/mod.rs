//! Methods: recipes over the stages above.

mod compare;
mod dual;
mod kernel_pca;
mod mercer;
mod saved;
mod schedule;

pub use compare::{KernelComparison, compare};
pub use kernel_pca::{FittedKernelPca, KernelPca};
pub use mercer::{MercerReport, Verdict, mercer_check};
