//! Kernel PCA.

use super::dual::{self, DualProblem, DualSolution};
use super::schedule::{self, Request};
use crate::data::{AnyPoints, AnySamples};
use crate::eigen::{Certificate, Indefinite, SolveStats};
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::model::{Lift, Plan, Projection, Solver};
use crate::progress::Watch;
use std::sync::Arc;

/// Smallest tolerance that makes sense in double precision.
const SMALLEST_TOLERANCE: f64 = 1e-14;

/// Which kernel was asked for.
#[derive(Clone, Debug)]
enum KernelChoice {
    Spec(KernelSpec),
    Ready(Kernel),
}

/// Settings of kernel PCA. [`KernelPca::fit`] gives the model.
///
/// Scores are the coordinates of φ(x) − mean φ along the leading principal axes in feature space, found from the centred
/// Gram matrix K_c = HKH, (K1)–(K7). More components than input features may be asked for.
///
/// ```
/// use eigenlift::{matrix::Matrix, methods::KernelPca};
/// // The worked example: four points, k = (⟨x,y⟩ + 1)².
/// let x = Matrix::from_vec(vec![1.0, 1.0, 2.0, 4.0, -1.0, 1.0, -2.0, 4.0], 4, 2)?;
/// let model = KernelPca::new(3).kernel("polynomial(degree=2)".parse()?).fit(x)?;
/// assert!((model.eigenvalues()[0] - 277.927517).abs() < 1e-6);
/// assert!((model.scores()[(1, 0)] - 11.66094908).abs() < 1e-8);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelPca {
    n_components: usize,
    kernel: KernelChoice,
    tolerance: f64,
    seed: u64,
    repair: Indefinite,
    memory_limit: Option<u64>,
    threads: usize,
    storage: Option<Storage>,
    solver: Option<Solver>,
    engine: Option<Arc<dyn Engine>>,
    column_names: Vec<String>,
    watch: Watch,
}

impl KernelPca {
    /// Keeps `n_components` components; kernel `rbf(gamma=median)`, tolerance 1e-6, all processors.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            kernel: KernelChoice::Spec(KernelSpec::default()),
            tolerance: 1e-6,
            seed: 0,
            repair: Indefinite::Clip,
            memory_limit: None,
            threads: 0,
            storage: None,
            solver: None,
            engine: None,
            column_names: Vec::new(),
            watch: Watch::default(),
        }
    }

    /// Uses this kernel; `median` and `1/d` are found from the samples. With `precomputed` the samples are the Gram matrix.
    pub fn kernel(mut self, spec: KernelSpec) -> Self {
        self.kernel = KernelChoice::Spec(spec);
        self
    }

    /// Uses a kernel that is ready, such as a function.
    pub fn ready_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = KernelChoice::Ready(kernel);
        self
    }

    /// Asks for relative residuals ‖K_c v − θv‖/θ up to `tolerance`.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Fixes every random draw.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What to do with negative eigenvalues of a kernel that is no Mercer kernel.
    pub fn repair(mut self, repair: Indefinite) -> Self {
        self.repair = repair;
        self
    }

    /// Bytes the fit may use beside the samples.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Threads; 0 means one for each processor. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Stores the Gram matrix or not, instead of what the plan would choose.
    pub fn storage(mut self, storage: Storage) -> Self {
        self.storage = Some(storage);
        self
    }

    /// Uses this solver instead of what the plan would choose.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.solver = Some(solver);
        self
    }

    /// Runs there instead of on the processor.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Names of the columns, kept with the model.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// What [`KernelPca::fit`] would do, without doing it.
    ///
    /// # Errors
    /// As [`KernelPca::fit`], as far as they can be known in advance.
    pub fn plan(&self, x: &AnySamples) -> Result<Plan> {
        let engine = self.running_engine()?;
        Ok(self.prepare(x, &*engine)?.1)
    }

    /// Fits the model. The samples are kept in it, without a copy.
    ///
    /// Cost: a few passes of n²(2d + 2b)/2 flops each, b about 1.25·k; memory as the plan says.
    ///
    /// # Errors
    /// Settings out of range, entries that are not finite or that the kernel cannot take, samples that all look the same,
    /// not enough memory, no convergence, cancellation.
    pub fn fit(&self, x: impl Into<AnySamples>) -> Result<FittedKernelPca> {
        let x = x.into();
        let engine = self.running_engine()?;
        let (similarity, plan) = self.prepare(&x, &*engine)?;
        let mut result = Err(Error::Cancelled);
        engine.run(&mut || {
            result = self.solve(&similarity, &x, &plan, &*engine);
        });
        let solution = result?;
        let k = solution.values.len();
        // A = U|λ|^(−1/2)·sign λ, so that K_c·A = U|λ|^(1/2): new rows are projected as training rows are, (K7), (K19).
        let coefficients = Matrix::from_fn(x.n_rows(), k, |i, j| {
            let value = solution.values[j];
            solution.vectors[(i, j)] * value.signum() / value.abs().sqrt()
        });
        let offset = (0..k)
            .map(|j| solution.row_means.iter().enumerate().map(|(i, r)| r * coefficients[(i, j)]).sum())
            .collect();
        let lift = match similarity {
            Similarity::Kernel(kernel) => Lift::Kernel { kernel, samples: x },
            Similarity::Precomputed => Lift::Precomputed { n_samples: x.n_rows() },
        };
        Ok(FittedKernelPca {
            projection: Projection { lift, coefficients, offset },
            eigenvalues: solution.values,
            centered_trace: solution.total,
            certificate: solution.certificate,
            stats: solution.stats,
            plan,
            warnings: solution.warnings,
            column_names: self.column_names.clone(),
            engine,
        })
    }

    fn solve(
        &self,
        similarity: &Similarity,
        x: &AnySamples,
        plan: &Plan,
        engine: &dyn Engine,
    ) -> Result<DualSolution> {
        let draft =
            if plan.draft { Some(engine.gram(similarity, &x.to_single(), plan.storage)?) } else { None };
        // Why: the matrix itself is passed over once or twice beside a draft, which does not repay storing it.
        let storage = if plan.draft { Storage::Tiled } else { plan.storage };
        let gram = engine.gram(similarity, x, storage)?;
        let known_valid = match similarity {
            Similarity::Kernel(kernel) => kernel.spec().and_then(KernelSpec::is_mercer) == Some(true),
            Similarity::Precomputed => false,
        };
        dual::solve(&DualProblem { gram: &*gram, draft: draft.as_deref(), known_valid }, plan, &self.watch)
    }

    fn running_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            Some(engine) => Ok(engine.clone()),
            None => Ok(Arc::new(Cpu::new(self.threads)?)),
        }
    }

    fn check_settings(&self, x: &AnySamples) -> Result<()> {
        if self.n_components == 0 {
            return Err(Error::setting(
                "0 components",
                "at least one is needed",
                "Ask for 2 to draw a picture",
            ));
        }
        if !(self.tolerance >= SMALLEST_TOLERANCE && self.tolerance < 1.0) {
            return Err(Error::setting(
                format!("a tolerance of {}", self.tolerance),
                format!("it must lie between {SMALLEST_TOLERANCE:e} and 1"),
                "The default is 1e-6; 1e-10 agrees with a dense solver",
            ));
        }
        if x.n_rows() < 2 {
            return Err(Error::data(
                format!("{} sample(s)", x.n_rows()),
                "centring leaves nothing of fewer than 2",
                "Give more rows",
            ));
        }
        if !self.column_names.is_empty() && self.column_names.len() != x.n_cols() {
            return Err(Error::setting(
                format!("{} column names for {} columns", self.column_names.len(), x.n_cols()),
                "there must be one for each column",
                "Leave the names out or give all of them",
            ));
        }
        x.points().check()
    }

    fn prepare(&self, x: &AnySamples, engine: &dyn Engine) -> Result<(Similarity, Plan)> {
        self.check_settings(x)?;
        let similarity = match &self.kernel {
            KernelChoice::Spec(spec) if spec.is_precomputed() => {
                check_gram_matrix(x)?;
                Similarity::Precomputed
            }
            KernelChoice::Spec(spec) => Similarity::Kernel(Kernel::for_points(spec, x.points(), self.seed)?),
            KernelChoice::Ready(kernel) => {
                kernel.check_points(x.points())?;
                Similarity::Kernel(kernel.clone())
            }
        };
        let (kernel, precomputed) = match &similarity {
            Similarity::Kernel(kernel) => (kernel.to_string(), false),
            Similarity::Precomputed => ("precomputed".to_string(), true),
        };
        let request = Request {
            samples: x,
            kernel,
            precomputed,
            draftable: matches!(&similarity, Similarity::Kernel(kernel) if kernel.spec().is_some()),
            n_components: self.n_components,
            tolerance: self.tolerance,
            seed: self.seed,
            repair: self.repair,
            memory_limit: self.memory_limit,
            storage: self.storage,
            solver: self.solver,
        };
        Ok((similarity, schedule::plan(&request, engine)?))
    }
}

/// Square and symmetric up to rounding in the given precision.
fn check_gram_matrix(x: &AnySamples) -> Result<()> {
    let report = super::mercer::asymmetry(x)?;
    if report.relative <= super::mercer::symmetry_allowance(x) {
        return Ok(());
    }
    Err(Error::data(
        format!(
            "a Gram matrix with {} at row {}, column {} and {} across the diagonal",
            report.there,
            report.row + 1,
            report.column + 1,
            report.back
        ),
        "it must be symmetric",
        "Compute it with a symmetric kernel, or average it with its transpose",
    ))
}

/// A fitted kernel PCA: scores of the samples, projection of new rows, and the account of how it was found.
#[derive(Clone, Debug)]
pub struct FittedKernelPca {
    pub(super) projection: Projection,
    pub(super) eigenvalues: Vec<f64>,
    pub(super) centered_trace: f64,
    pub(super) certificate: Certificate,
    pub(super) stats: SolveStats,
    pub(super) plan: Plan,
    pub(super) warnings: Vec<String>,
    pub(super) column_names: Vec<String>,
    pub(super) engine: Arc<dyn Engine>,
}

impl FittedKernelPca {
    /// Components kept; may be fewer than asked for, see [`FittedKernelPca::warnings`].
    pub fn n_components(&self) -> usize {
        self.eigenvalues.len()
    }

    /// Samples it was fitted on.
    pub fn n_samples(&self) -> usize {
        self.projection.coefficients.n_rows()
    }

    /// Eigenvalues nλ of K_c, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Variances λ along the axes: magnitudes of the eigenvalues of K_c divided by n.
    pub fn variances(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|v| v.abs() / self.n_samples() as f64).collect()
    }

    /// tr(K_c): the total variance in feature space times n, exact. For a repaired kernel whose eigenvalues are all known it is
    /// their sum after the repair.
    pub fn total(&self) -> f64 {
        self.centered_trace
    }

    /// Share of the total variance in feature space that each component holds.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|v| v.abs() / self.centered_trace).collect()
    }

    /// α: coefficients of the axes over samples, α = β/√(nλ), (K6).
    pub fn coefficients(&self) -> &Matrix<f64> {
        &self.projection.coefficients
    }

    /// Scores of the samples, one row each: U|nλ|^(1/2), which is A·nλ.
    pub fn scores(&self) -> Matrix<f64> {
        let a = &self.projection.coefficients;
        Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)] * self.eigenvalues[j])
    }

    /// Scores of new rows, centred as the samples were, (K9). With a precomputed kernel each row holds k(x, samples).
    ///
    /// Cost: n_new·n·(2d + 2k) flops; memory a few tiles for each thread.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the kernel cannot take.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_watched(x, &Watch::default())
    }

    /// As [`FittedKernelPca::transform`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::transform`], and cancellation.
    pub fn transform_watched<'a>(&self, x: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Matrix<f64>> {
        self.projection.project(&*self.engine, x.into(), watch)
    }

    /// y(x) = lift(x)ᵀA − c.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What was decided and why.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the residuals prove.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// What the solve took.
    pub fn stats(&self) -> SolveStats {
        self.stats
    }

    /// Sentences a person should read before using the scores.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Names of the input columns; empty when none were given.
    pub fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// Runs later transforms there.
    pub fn with_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = engine;
        self
    }
}
