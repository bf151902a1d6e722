//! Embeddings of a manifold: recipes over neighbours, graphs and eigenpairs.
//!
//! | method | what is kept | eigenproblem |
//! |---|---|---|
//! | [`Isomap`] | distances along the graph of neighbours | largest of −½HD²H |
//! | [`ClassicalMds`] | distances | largest of −½HD²H |
//! | [`LaplacianEigenmaps`] | who is alike | smallest of I − D^(−½)WD^(−½) |
//! | [`DiffusionMap`] | where random walks lead | largest of D^(−½)KD^(−½) |
//! | [`LocallyLinear`] | how rows follow from their neighbours | smallest of BᵀB |

mod connect;
mod described;
mod diffusion;
mod doctor;
mod embedding;
mod fill;
mod file;
mod fitted;
mod input;
mod isomap;
mod laplacian;
mod lle;
mod mds;
mod plan;
mod settings;
mod walk;

pub use connect::{Cut, Disconnected};
pub use described::{Manifold, Run, manifold, neighbor_search};
pub use diffusion::DiffusionMap;
pub use doctor::{AfterCut, IsomapDoctor, IsomapReport, SweepRow};
pub use embedding::NegativeShare;
pub use fitted::{FittedManifold, GraphFacts, ManifoldBody, ManifoldFacts, ManifoldKind, Part, PathQuality};
pub use input::ManifoldInput;
pub use isomap::Isomap;
pub use laplacian::{Affinity, LaplacianEigenmaps};
pub use lle::{LleVariant, LocallyLinear};
pub use mds::ClassicalMds;
pub use plan::ManifoldPlan;

/// Every manifold method, as it is described.
pub const MANIFOLDS: [&Manifold; 5] =
    [&isomap::METHOD, &mds::METHOD, &laplacian::METHOD, &diffusion::METHOD, &lle::METHOD];
