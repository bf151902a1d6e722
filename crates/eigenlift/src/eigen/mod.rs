//! Eigensolvers behind one trait. They see an operator and nothing else.

mod certificate;
mod counting;
mod davidson;
mod dense;
mod krylov;
mod leading;
mod lowest;
mod orthonormal;
mod rayleigh_ritz;
mod smallest;
mod spectrum;

pub use certificate::{Bounds, Certificate, Grounds, Interval};
pub(crate) use certificate::{LeftOut, Sketched, Whole};
pub(crate) use counting::BasisProducts;
pub(crate) use counting::Sizes;
pub use davidson::Davidson;
pub(crate) use davidson::{Impatient, basis_columns, block_columns};
pub use dense::Dense;
pub(crate) use krylov::lowest_ritz_value;
pub(crate) use leading::{Entries, leading_eigenpairs};
pub(crate) use lowest::{LOOK_PASSES, Negated, RESOLUTION, lowest_eigenvalue};
pub(crate) use rayleigh_ritz::{Refined, rayleigh_ritz};
pub(crate) use smallest::Smallest;
pub(crate) use smallest::SmallestOptions;
pub(crate) use smallest::smallest;
pub(crate) use smallest::smallest_bytes;
pub(crate) use spectrum::column_signs;
pub(crate) use spectrum::{Convergence, descending};
pub use spectrum::{Indefinite, fix_signs, rank_threshold, residual_floor};

use crate::error::Result;
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::progress::Watch;

/// Approximate eigenpairs that a solver starts from and preconditions with.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Orthonormal columns, to single precision: they are a start and a preconditioner, no result depends on their last digits.
    pub vectors: Matrix<f32>,
    /// Their approximate eigenvalues, largest first.
    pub values: Vec<f64>,
}

/// What a solver is told beside the operator and the number of pairs.
#[derive(Clone, Debug)]
pub struct SolveOptions<'a> {
    /// Orthonormal columns to stay orthogonal to: known eigenvectors that are not wanted, such as the constant vector.
    pub deflate: Option<MatRef<'a, f64>>,
    /// Columns that are nearly right, if any are known.
    pub start: Option<MatRef<'a, f64>>,
    /// Where to start, and what to precondition with.
    pub sketch: Option<&'a Sketch>,
    /// Residual ‖Av − θv‖ ≤ tolerance·|θ| is asked for.
    pub tolerance: f64,
    /// Upper bound of the matrix's Frobenius norm: what rounding errors are measured by.
    pub norm_bound: f64,
    /// Passes over the matrix after which the solver gives up.
    pub max_passes: usize,
    /// Whether residuals come from one more product, made for this purpose alone. A caller that makes that product itself
    /// may leave it out.
    pub verify: bool,
    /// Whether the solver returns what its basis proves about all eigenvalues.
    pub basis: bool,
    /// Seed of random start vectors.
    pub seed: u64,
    /// Who is told, and who may stop it.
    pub watch: &'a Watch,
}

/// Eigenpairs with the largest eigenvalues, and what it took to find them.
#[derive(Clone, Debug)]
pub struct EigenPairs {
    /// Eigenvalues, algebraically largest first.
    pub values: Vec<f64>,
    /// Unit eigenvectors as columns.
    pub vectors: Matrix<f64>,
    /// ‖Av − θv‖ of each pair.
    pub residuals: Vec<f64>,
    /// Estimate of the eigenvalue after the last, when one is known.
    pub next: Option<f64>,
    /// All eigenvalues, largest first, when they were computed.
    pub all: Option<Vec<f64>>,
    /// What the solver's basis proves about the eigenvalues that were not wanted, where it has one.
    pub(crate) basis: Option<BasisProducts>,
    /// What it took.
    pub stats: SolveStats,
}

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SolveStats {
    /// Steps of the iteration; 1 for a direct solver.
    pub iterations: usize,
    /// Passes over the matrix, the one for the residuals included.
    pub passes: usize,
    /// Matrix-vector products in all passes together.
    pub products: usize,
}

impl SolveStats {
    /// What both took together.
    pub(crate) fn and(self, other: SolveStats) -> SolveStats {
        SolveStats {
            iterations: self.iterations + other.iterations,
            passes: self.passes + other.passes,
            products: self.products + other.products,
        }
    }
}

/// Bytes of the dense solver for n rows: the matrix, its eigenvectors and three copies that the decomposition works in.
pub(crate) fn dense_bytes(n: usize) -> u128 {
    5 * 8 * (n as u128) * (n as u128)
}

/// Finds eigenpairs of a symmetric operator.
pub trait Eigensolver: std::fmt::Debug + Send + Sync {
    /// The `k` algebraically largest eigenpairs, or as many as the space orthogonal to `deflate` has.
    ///
    /// # Errors
    /// [`crate::error::Error::NotConverged`] when the tolerance is not met; never an unconverged result.
    fn largest(&self, operator: &dyn LinearOperator, k: usize, how: &SolveOptions<'_>) -> Result<EigenPairs>;
}
