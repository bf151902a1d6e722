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
mod preimages;
mod primal;
mod proof;
mod schedule;
mod stream;

pub use align::{AlignOptions, Alignment};
pub use fitted::FittedKernelPca;
pub(crate) use fitted::KernelPcaBody;
pub use stream::KernelPcaStream;

use crate::eigen::Indefinite;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{Request, check_count, expect, expected_rank};
use crate::features::{Accuracy, Approximation, FeatureSettings, LowRank, Rank, RequestedKernel};
use crate::gram::{Similarity, Storage};
use crate::kernel::{Kernel, KernelSpec, PairRows};
use crate::matrix::Matrix;
use crate::model::{Job, Plan, Route, Solver, check_column_names};
use crate::progress::Watch;
use crate::rows::{Data, Pass, Place, Rows, in_memory, no_gram_matrix};
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

/// What a fit begins with.
struct Prepared<'a> {
    /// The rows, in memory in double precision where single would lose components.
    rows: Box<dyn Rows + 'a>,
    /// How they are compared, every number known.
    similarity: Similarity,
    engine: Arc<dyn Engine>,
    /// Orthonormal vectors that are nearly right.
    start: Option<Matrix<f64>>,
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

    /// Plans a fit, which [`Job::run`] then does. What planning finds, such as medians, is not found again.
    ///
    /// Rows may be in memory, come from a source such as a file that does not fit into it, or lie in partitions such as the machines of a
    /// cluster. Those of a source are read a piece at a time: once if a parameter is a median, once to choose landmarks, once for the
    /// moments, and there again for each further number of landmarks that is tried. From partitions only sums come here, and single rows
    /// that become landmarks; an exact fit goes by passes over pairs of partitions and brings all rows here at its end, because an exact model
    /// holds them.
    ///
    /// Landmarks and medians are drawn by global row index, so the result does not depend on how the rows are cut (beyond the
    /// last digits). A median of more than 83 columns is taken over fewer pairs than in memory. The model of rows that
    /// are not in memory does not hold their scores: use [`FittedKernelPca::transform`].
    ///
    /// # Errors
    /// As [`KernelPca::fit`], as far as they can be known in advance.
    pub fn prepare<'a>(&self, data: impl Into<Data<'a>>) -> Result<Job<'a, KernelPcaBody>> {
        let engine = self.features.running_engine()?;
        let rows = data.into().rows(&engine, false)?;
        self.prepare_rows(rows, engine, None)
    }

    /// Fits the model: what [`KernelPca::prepare`] plans. Samples in memory are kept in it, without a copy.
    ///
    /// Cost: a few passes of n²(2d + 2b)/2 flops each, b about 2·k; memory as the plan says. Through features: n·m(2d + 2m).
    ///
    /// # Errors
    /// Settings out of range, entries that are not finite or that the kernel cannot take, samples that all look the same,
    /// not enough memory, no convergence, cancellation, and what a source or partitions fail with. A precomputed Gram matrix must
    /// be in memory.
    pub fn fit<'a>(&self, data: impl Into<Data<'a>>) -> Result<FittedKernelPca> {
        self.prepare(data)?.run()
    }

    /// Prepares a fit, perhaps from orthonormal vectors that are nearly right.
    fn prepare_rows<'a>(
        &self,
        rows: Box<dyn Rows + 'a>,
        engine: Arc<dyn Engine>,
        start: Option<Matrix<f64>>,
    ) -> Result<Job<'a, KernelPcaBody>> {
        if rows.weighted() {
            return Err(Error::setting(
                "rows with weights for kernel PCA",
                "every row counts once",
                "Leave the weights out",
            ));
        }
        if let Some((settings, choice)) = self.chosen(&*rows)? {
            let job = settings.prepare_rows(rows, engine, start)?;
            let plan = choice.onto(job.plan().clone());
            return Ok(Job::new(plan, move |_| job.run().map(|model| model.with_choice(choice))));
        }
        self.check_numbers()?;
        self.check_shape(rows.n_rows(), rows.n_cols())?;
        let (prepared, plan) = match rows.place() {
            Place::Memory => self.planned_in_memory(&*rows, engine, start)?,
            place => self.planned_elsewhere(rows, &place, engine, start)?,
        };
        let settings = self.clone();
        Ok(Job::new(plan, move |plan| settings.run(prepared, plan)))
    }

    fn planned_in_memory<'a>(
        &self,
        rows: &(dyn Rows + 'a),
        engine: Arc<dyn Engine>,
        start: Option<Matrix<f64>>,
    ) -> Result<(Prepared<'a>, Plan)> {
        let x = rows.samples(&Pass::new(&self.features.watch))?;
        let mut similarity = self.features.similarity_of(&x)?;
        let double = matches!(&similarity, Similarity::Kernel(kernel) if kernel.needs_double(x.points()));
        let samples = if double { x.to_double() } else { x };
        let shape = (samples.n_rows(), samples.n_cols());
        let request = self.request(&similarity, shape, samples.precision(), true);
        let mut plan = schedule::plan(&request, &*engine)?;
        if let Some(share) = found_share(&plan, &request) {
            let by = (&*engine, self.features.seed, &self.features.watch);
            let pivoted = plan.approximation == Some(Approximation::Pivoted);
            let likely = match pivoted {
                true => expected_rank(&samples, &similarity, (share, plan.rank), by)?,
                false => None,
            };
            expect(&mut plan, likely, &request);
        }
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
        let rows = in_memory(samples, &engine);
        Ok((Prepared { rows, similarity, engine, start }, plan))
    }

    /// Rows that are read or asked for: a median is that of some of them.
    fn planned_elsewhere<'a>(
        &self,
        rows: Box<dyn Rows + 'a>,
        place: &Place,
        engine: Arc<dyn Engine>,
        start: Option<Matrix<f64>>,
    ) -> Result<(Prepared<'a>, Plan)> {
        let shape = (rows.n_rows(), rows.n_cols());
        let mut sample = None;
        let kernel = match (&self.features.kernel, place) {
            (RequestedKernel::Spec(spec), Place::Chunks { .. }) if spec.is_precomputed() => {
                return Err(Error::setting(
                    "a precomputed Gram matrix read in pieces",
                    "it must be in memory as a whole",
                    "Allow more memory, or choose a kernel and give the rows",
                ));
            }
            (RequestedKernel::Spec(spec), _) if spec.is_precomputed() => return Err(no_gram_matrix()),
            (RequestedKernel::Ready(kernel), Place::Partitions(_)) if kernel.spec().is_none() => {
                return Err(no_gram_matrix());
            }
            (RequestedKernel::Ready(kernel), _) => kernel.clone(),
            (RequestedKernel::Spec(spec), _) if spec.needs_data() => {
                let limit = self.features.memory_limit;
                let pairs = sample.insert(schedule::pair_sample(shape, limit, self.features.seed, &*engine));
                let some = rows.gather(&pairs.places, &Pass::new(&self.features.watch))?;
                let pairs = PairRows::gathered(some.points(), pairs);
                Kernel::new(&Kernel::resolve(spec, pairs, self.features.seed)?, shape.1)?
            }
            (RequestedKernel::Spec(spec), _) => Kernel::new(spec, shape.1)?,
        };
        let similarity = Similarity::Kernel(kernel);
        let passes = matches!(place, Place::Partitions(_));
        let request = self.request(&similarity, shape, rows.precision(), false);
        let request = Request { passes, ..request };
        let mut plan = schedule::plan(&request, &*engine)?;
        if found_share(&plan, &request).is_some() {
            expect(&mut plan, None, &request);
        }
        sample.iter().for_each(|sample| schedule::count_sample(&mut plan, sample));
        if let Place::Partitions(sentence) = place {
            plan.reasons.push(sentence.clone());
        }
        Ok((Prepared { rows, similarity, engine, start }, plan))
    }

    fn run(&self, prepared: Prepared<'_>, plan: Plan) -> Result<FittedKernelPca> {
        if plan.route != Route::Dual {
            return approximate::fit(self, &prepared, plan);
        }
        let solution = prepared.engine.complete(|| self.solve(&prepared, &plan))?;
        let Prepared { rows, similarity, engine, .. } = prepared;
        let samples = rows.samples(&Pass::new(&self.features.watch))?;
        let on = (engine, &self.features.watch);
        FittedKernelPca::of_solution(solution, (similarity, samples), plan, &self.column_names, on)
    }

    fn solve(&self, prepared: &Prepared<'_>, plan: &Plan) -> Result<DualSolution> {
        let Prepared { rows, similarity, start, .. } = prepared;
        let draft = match similarity {
            Similarity::Kernel(_) if plan.draft => Some(rows.gram(similarity, plan.storage, true)?),
            _ => None,
        };
        // Why: the matrix itself is passed over once or twice beside a draft, which does not repay storing it.
        let storage = if plan.draft { Storage::Tiled } else { plan.storage };
        let gram = rows.gram(similarity, storage, false)?;
        let problem = DualProblem {
            gram,
            draft,
            known_valid: dual::known_valid(similarity),
            start: start.as_ref(),
            may_switch: self.solver.is_none(),
        };
        dual::solve(problem, plan, &self.features.watch)
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

/// The error that the number of landmarks or features is to be found for.
fn found_share(plan: &Plan, request: &Request<'_>) -> Option<f64> {
    match request.accuracy {
        Accuracy::LowRank(LowRank { rank: Rank::UntilShare(share), .. }) if plan.route == Route::LowRank => {
            Some(*share)
        }
        _ => None,
    }
}
