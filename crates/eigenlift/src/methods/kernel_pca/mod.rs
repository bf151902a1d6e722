//! Kernel PCA.

mod align;
mod approximate;
mod automatic;
mod certify;
mod cross_validation;
mod dual;
mod file;
mod fitted;
mod novelty;
mod pieces;
mod preimages;
mod primal;
mod proof;
mod schedule;
mod stream;

pub use align::{AlignOptions, Alignment};
pub use fitted::FittedKernelPca;
pub(super) use fitted::KernelPcaBody;
pub use stream::KernelPcaStream;

use crate::data::{AnySamples, RowSource, gather};
use crate::eigen::Indefinite;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{CHUNK_ROWS, Request, Rows, check_count};
use crate::features::{Accuracy, FeatureSettings, LowRank, RequestedKernel};
use crate::gram::{Similarity, Storage};
use crate::kernel::{Kernel, KernelSpec, PairRows};
use crate::matrix::Matrix;
use crate::model::{Plan, Route, Solver, check_column_names};
use crate::progress::Watch;
use dual::{DualProblem, DualSolution};
use std::sync::Arc;

/// Smallest tolerance that makes sense in double precision.
const SMALLEST_TOLERANCE: f64 = 1e-14;

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
/// assert!((model.scores()?[(1, 0)] - 11.66094908).abs() < 1e-8);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelPca {
    pub(super) n_components: usize,
    pub(super) auto_components: bool,
    /// Kernel, accuracy and machine.
    pub(super) features: FeatureSettings,
    pub(super) tolerance: f64,
    pub(super) repair: Indefinite,
    pub(super) storage: Option<Storage>,
    pub(super) solver: Option<Solver>,
    by_gram_matrix: bool,
    pub(super) column_names: Vec<String>,
}

/// What a fit of rows in memory begins with.
struct Prepared {
    similarity: Similarity,
    /// The rows, in double precision where single would lose components.
    samples: AnySamples,
    plan: Plan,
}

impl KernelPca {
    /// Keeps `n_components` components; kernel `rbf(gamma=median)`, tolerance 1e-6, all processors.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            auto_components: false,
            features: FeatureSettings::new(),
            tolerance: 1e-6,
            repair: Indefinite::Clip,
            storage: None,
            solver: None,
            by_gram_matrix: false,
            column_names: Vec::new(),
        }
    }

    fn set(self, change: impl FnOnce(FeatureSettings) -> FeatureSettings) -> Self {
        Self { features: change(self.features), ..self }
    }

    /// Uses this kernel; `median` and `1/d` are found from the samples. With `precomputed` the samples are the Gram matrix.
    pub fn kernel(self, spec: KernelSpec) -> Self {
        self.set(|features| features.kernel(spec))
    }

    /// Uses a kernel that is ready, such as a function.
    pub fn ready_kernel(self, kernel: Kernel) -> Self {
        self.set(|features| features.ready_kernel(kernel))
    }

    /// Asks for relative residuals ‖K_c v − θv‖/θ up to `tolerance`.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Fixes every random draw.
    pub fn seed(self, seed: u64) -> Self {
        self.set(|features| features.seed(seed))
    }

    /// What to do with negative eigenvalues of a kernel that is no Mercer kernel.
    pub fn repair(mut self, repair: Indefinite) -> Self {
        self.repair = repair;
        self
    }

    /// Bytes the fit may use beside the samples.
    pub fn memory_limit(self, bytes: u64) -> Self {
        self.set(|features| features.memory_limit(bytes))
    }

    /// Threads; 0 means one for each processor. The result does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        self.set(|features| features.threads(threads))
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

    /// Approximates the kernel by landmarks or random features, and says how far off the result can be.
    pub fn low_rank(self, how: LowRank) -> Self {
        self.set(|features| features.low_rank(how))
    }

    /// Exact or not at all: an error when the exact fit does not fit into memory, instead of low rank.
    pub fn exact(self) -> Self {
        self.set(FeatureSettings::exact)
    }

    /// Goes by the Gram matrix even where explicit features are cheaper: coefficients are then those over samples.
    pub fn by_gram_matrix(mut self) -> Self {
        self.by_gram_matrix = true;
        self
    }

    /// Runs there instead of on the processor.
    pub fn engine(self, engine: Arc<dyn Engine>) -> Self {
        self.set(|features| features.engine(engine))
    }

    /// Names of the columns, kept with the model.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(self, watch: Watch) -> Self {
        self.set(|features| features.watch(watch))
    }

    /// What [`KernelPca::fit`] would do, without doing it.
    ///
    /// # Errors
    /// As [`KernelPca::fit`], as far as they can be known in advance.
    pub fn plan(&self, x: &AnySamples) -> Result<Plan> {
        if let Some((settings, choice)) = self.chosen(x)? {
            return settings.plan(x).map(|plan| choice.onto(plan));
        }
        let engine = self.features.running_engine()?;
        Ok(self.prepare(x, &*engine)?.plan)
    }

    /// Fits the model. The samples are kept in it, without a copy.
    ///
    /// Cost: a few passes of n²(2d + 2b)/2 flops each, b about 2·k; memory as the plan says. Through features: n·m(2d + 2m).
    ///
    /// # Errors
    /// Settings out of range, entries that are not finite or that the kernel cannot take, samples that all look the same,
    /// not enough memory, no convergence, cancellation.
    pub fn fit(&self, x: impl Into<AnySamples>) -> Result<FittedKernelPca> {
        let x = x.into();
        if let Some((settings, choice)) = self.chosen(&x)? {
            return settings.fit(x).map(|model| model.with_choice(choice));
        }
        self.fit_from(x, None)
    }

    /// Fits samples in memory, perhaps from orthonormal vectors that are nearly right.
    pub(super) fn fit_from(&self, x: AnySamples, start: Option<&Matrix<f64>>) -> Result<FittedKernelPca> {
        let engine = self.features.running_engine()?;
        let Prepared { similarity, samples: x, plan } = self.prepare(&x, &*engine)?;
        if plan.route != Route::Dual {
            return approximate::fit_in_memory(self, &x, &similarity, plan, engine);
        }
        self.fit_dual(x, similarity, plan, engine, start)
    }

    /// Fits rows that come from a source, such as a file that does not fit into memory: by explicit features where the kernel
    /// has few, otherwise by landmarks. The rows are read a piece at a time: once if a parameter is a median, once to choose
    /// landmarks, once for the moments, and there again for each further number of landmarks that is tried.
    ///
    /// Landmarks and medians are drawn by global row index, so the result does not depend on how the source cuts its rows
    /// (beyond the last digits). A median of more than 83 columns is taken over fewer pairs than in memory. The model
    /// does not hold the scores of its samples: use [`FittedKernelPca::transform`].
    ///
    /// # Errors
    /// As [`KernelPca::fit`], and those of the source. A precomputed Gram matrix must be in memory.
    pub fn fit_source(&self, source: &mut dyn RowSource) -> Result<FittedKernelPca> {
        if let Some((settings, choice)) = self.chosen_of_source(source)? {
            return settings.fit_source(source).map(|model| model.with_choice(choice));
        }
        let engine = self.features.running_engine()?;
        let (similarity, plan) = self.prepare_source(source, &*engine)?;
        approximate::fit(self, &mut Rows::Source(source), &similarity, plan, engine)
    }

    /// What [`KernelPca::fit_source`] would do. The rows are read once or twice.
    ///
    /// # Errors
    /// As [`KernelPca::fit_source`], as far as they can be known in advance.
    pub fn plan_source(&self, source: &mut dyn RowSource) -> Result<Plan> {
        if let Some((settings, choice)) = self.chosen_of_source(source)? {
            return settings.plan_source(source).map(|plan| choice.onto(plan));
        }
        let engine = self.features.running_engine()?;
        Ok(self.prepare_source(source, &*engine)?.1)
    }

    fn prepare_source(&self, source: &mut dyn RowSource, engine: &dyn Engine) -> Result<(Similarity, Plan)> {
        let (n, d) = (source.n_rows()?, source.n_cols());
        self.check_numbers()?;
        self.check_shape(n, d)?;
        let mut sample = None;
        let kernel = match &self.features.kernel {
            RequestedKernel::Ready(kernel) => kernel.clone(),
            RequestedKernel::Spec(spec) if spec.is_precomputed() => {
                return Err(Error::setting(
                    "a precomputed Gram matrix read in pieces",
                    "it must be in memory as a whole",
                    "Allow more memory, or choose a kernel and give the rows",
                ));
            }
            RequestedKernel::Spec(spec) if spec.needs_data() => {
                let pairs = sample.insert(schedule::pair_sample(
                    (n, d),
                    self.features.memory_limit,
                    self.features.seed,
                    engine,
                ));
                let rows = gather(source, &pairs.places, CHUNK_ROWS)?;
                let rows = PairRows::gathered((&rows).into(), pairs);
                Kernel::new(&Kernel::resolve(spec, rows, self.features.seed)?, d)?
            }
            RequestedKernel::Spec(spec) => Kernel::new(spec, d)?,
        };
        let similarity = Similarity::Kernel(kernel);
        let request = self.request(&similarity, (n, d), source.precision(), false);
        let mut plan = schedule::plan(&request, engine)?;
        sample.iter().for_each(|sample| schedule::count_sample(&mut plan, sample));
        Ok((similarity, plan))
    }

    fn fit_dual(
        &self,
        x: AnySamples,
        similarity: Similarity,
        plan: Plan,
        engine: Arc<dyn Engine>,
        start: Option<&Matrix<f64>>,
    ) -> Result<FittedKernelPca> {
        let result = engine.complete(|| self.solve(&similarity, &x, &plan, &*engine, start));
        Ok(FittedKernelPca::of_solution(result?, (similarity, x), plan, &self.column_names, engine))
    }

    fn solve(
        &self,
        similarity: &Similarity,
        x: &AnySamples,
        plan: &Plan,
        engine: &dyn Engine,
        start: Option<&Matrix<f64>>,
    ) -> Result<DualSolution> {
        let draft = match similarity {
            Similarity::Kernel(kernel) if plan.draft => {
                let (kernel, x) = kernel.in_single(x);
                Some(engine.gram(&Similarity::Kernel(kernel), &x, plan.storage)?)
            }
            _ => None,
        };
        // Why: the matrix itself is passed over once or twice beside a draft, which does not repay storing it.
        let storage = if plan.draft { Storage::Tiled } else { plan.storage };
        let gram = engine.gram(similarity, x, storage)?;
        let known_valid = dual::known_valid(similarity);
        let may_switch = self.solver.is_none();
        let problem = DualProblem { gram: &*gram, draft: draft.as_deref(), known_valid, start, may_switch };
        dual::solve(&problem, plan, &self.features.watch)
    }

    /// Settings that do not depend on the rows.
    pub(super) fn check_numbers(&self) -> Result<()> {
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
        Ok(())
    }

    /// Settings of an exact fit have no meaning for rows in pieces.
    pub(super) fn refuse_exact_settings(&self) -> Result<()> {
        if self.auto_components {
            return Err(Error::setting(
                "a number of components that is to be chosen, for rows that come in pieces one after another",
                "the choice needs rows before the fit begins",
                "Choose with ChooseKernelPca on some of the rows first",
            ));
        }
        let exact = matches!(self.features.accuracy, Accuracy::Exact);
        if !exact && self.solver.is_none() && self.storage.is_none() && self.repair == Indefinite::Clip {
            return Ok(());
        }
        Err(Error::setting(
            "exact, a solver, storage or repair for rows that come in pieces",
            "these belong to the exact fit by the Gram matrix",
            "Leave them out, or fit rows in memory",
        ))
    }

    pub(super) fn check_shape(&self, n: usize, d: usize) -> Result<()> {
        check_count(n)?;
        check_column_names(&self.column_names, d)
    }

    fn prepare(&self, x: &AnySamples, engine: &dyn Engine) -> Result<Prepared> {
        self.check_numbers()?;
        let mut similarity = self.similarity_of(x)?;
        let double = matches!(&similarity, Similarity::Kernel(kernel) if kernel.needs_double(x.points()));
        let samples = if double { x.to_double() } else { x.clone() };
        let request = self.request(&similarity, (x.n_rows(), x.n_cols()), samples.precision(), true);
        let mut plan = schedule::plan(&request, engine)?;
        if double {
            plan.reasons.push(
                "the mean of the rows is far larger than their spread: kernel values need double precision"
                    .into(),
            );
        }
        let by_values =
            plan.route != Route::Primal && !plan.approximation.is_some_and(|a| a.is_random_features());
        if let Similarity::Kernel(kernel) = &similarity
            && by_values
            && let Some(centred) = kernel.centred_for(samples.points())
        {
            plan.reasons.push(
                "the mean of the rows is far larger than their spread: it is subtracted before kernel values are computed, \
                 which changes nothing but rounding"
                    .into(),
            );
            similarity = Similarity::Kernel(centred);
        }
        Ok(Prepared { similarity, samples, plan })
    }

    /// The kernel for samples in memory, which are checked.
    fn similarity_of(&self, x: &AnySamples) -> Result<Similarity> {
        self.check_shape(x.n_rows(), x.n_cols())?;
        self.features.similarity_of(x)
    }

    pub(super) fn request<'a>(
        &'a self,
        similarity: &'a Similarity,
        shape: (usize, usize),
        precision: &'static str,
        in_memory: bool,
    ) -> Request<'a> {
        let request = self.features.request(similarity, shape, precision, in_memory);
        Request {
            exact_features: request.exact_features.filter(|_| !self.by_gram_matrix),
            n_components: self.n_components,
            tolerance: self.tolerance,
            repair: self.repair,
            storage: self.storage,
            solver: self.solver,
            ..request
        }
    }
}
