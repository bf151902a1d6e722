//! Methods: recipes over the stages above.

mod approximate;
mod certify;
mod compare;
mod dual;
mod fitted;
mod kernel_pca;
mod mercer;
pub mod pca;
mod primal;
mod saved;
mod schedule;
mod stream;

pub use compare::{KernelComparison, compare};
pub use fitted::FittedKernelPca;
pub use kernel_pca::KernelPca;
pub use mercer::{MercerReport, Verdict, mercer_check};
pub use stream::KernelPcaStream;
