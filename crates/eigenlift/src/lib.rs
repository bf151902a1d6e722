//! Kernel PCA, PCA and whitening that fit the memory there is and say how far their numbers can be trusted.
//!
//! [`methods::KernelPca`], [`methods::Pca`] and [`methods::Whitening`] are the settings to start from;
//! [`methods::pca::choose`] has the rules on the number of components.
//!
//! Every method ends in one line, **y(x) = lift(x)ᵀA − c**; methods differ only in how A is found. The modules stand in
//! the order of the pipeline and use only what stands above them:
//!
//! ```text
//! data ──> kernel ──> Gram operator ──> eigen-solve ──> model ──> scores, new rows
//! ```
//!
//! ```
//! use eigenlift::{data, methods::KernelPca};
//! let iris = data::iris()?;
//! let model = KernelPca::new(2).fit(iris.samples)?;
//! assert_eq!(model.scores()?.n_cols(), 2);
//! assert!(model.certificate().worst_residual() < 1e-6);
//! println!("{}", model.plan());
//! # Ok::<(), eigenlift::error::Error>(())
//! ```

pub mod error;
pub mod memory;
pub mod progress;
pub mod real;
pub mod matrix;
pub mod random;
pub mod simd;
pub mod linalg;
pub mod stats;
pub mod moments;
pub mod data;
pub mod kernel;
pub mod operator;
pub mod gram;
pub mod engine;
pub mod features;
pub mod eigen;
pub mod graph;
pub mod model;
pub mod rows;
pub mod factor;
pub mod preimage;
pub mod quality;
pub mod monitoring;
pub mod tuning;
pub mod kernel_check;
pub mod methods;
