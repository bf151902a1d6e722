//! Dimensionality reduction that fits the memory there is and reports how far its numbers can be trusted: kernel PCA first of all, with PCA and
//! whitening, manifold learning, and kernel methods for views, classes and clusters.
//!
//! | to find | fit |
//! |---|---|
//! | nonlinear components of a kernel (Schölkopf, Smola and Müller 1998), exactly or by landmarks | [`KernelPca`] |
//! | principal components by whichever route suits the table; whitening | [`Pca`], [`Whitening`] |
//! | coordinates on a curved surface, by geodesic distances (Tenenbaum, de Silva and Langford 2000) | [`Isomap`] |
//! | coordinates that keep distances (classical MDS) | [`ClassicalMds`] |
//! | slow directions of a random walk | [`LaplacianEigenmaps`], [`DiffusionMap`] |
//! | coordinates that keep local linear relations | [`LocallyLinear`] |
//! | what two or more views of the same samples share | [`KernelCca`] |
//! | directions that separate classes | [`KernelDiscriminant`] |
//! | clusters in feature space | [`KernelKMeans`] |
//!
//! Settings are built, `prepare` plans a fit and names the memory it takes, `fit` prepares and runs it. Data may be a [`Matrix`] or
//! [`Samples`] in memory, a [`RowSource`](data::RowSource) that is read in chunks, or [`Partitions`](rows::Partitions) on other machines
//! ([`rows::Data`]). Every fit returns a [`Model`](model::Model): `transform` for new samples, `save` and `load`, a plan, a certificate. Beside
//! the methods stand pre-images and denoising ([`preimage`]), the choice of a kernel and of the number of components ([`tuning`],
//! [`methods::pca::choose`]), process monitoring ([`monitoring`]) and the quality of an embedding ([`quality`]).
//!
//! ```
//! use eigenlift::{KernelPca, data};
//! let iris = data::iris()?;
//! let model = KernelPca::new(2).fit(iris.samples)?;
//! assert_eq!(model.scores()?.n_cols(), 2);
//! assert!(model.certificate().worst_residual() < 1e-6);
//! println!("{}", model.plan());
//! # Ok::<(), eigenlift::Error>(())
//! ```
//!
//! Every method ends in one line, **y(x) = lift(x)ᵀA − c**; methods differ only in how A is found. The modules stand in
//! the order of the pipeline and use only what stands above them:
//!
//! ```text
//! data ──> kernel ──> Gram operator ──> eigen-solve ──> model ──> scores, new samples
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
pub mod describe;
pub mod operator;
pub mod gram;
pub mod engine;
pub mod features;
pub mod rows;
pub mod eigen;
pub mod graph;
pub mod model;
pub mod factor;
pub mod preimage;
pub mod quality;
pub mod monitoring;
pub mod tuning;
pub mod kernel_check;
pub mod methods;

pub use data::{AnySamples, Samples};
pub use error::{Error, Result};
pub use features::LowRank;
pub use kernel::KernelSpec;
pub use matrix::Matrix;
pub use methods::{
    AnyModel, ClassicalMds, DiffusionMap, Isomap, KernelCca, KernelDiscriminant, KernelKMeans, KernelPca,
    LaplacianEigenmaps, LocallyLinear, Pca, Whitening,
};
