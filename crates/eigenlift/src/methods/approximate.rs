//! Fits through features: exact ones, landmarks, or random ones, with rows in memory or from a source.

use super::novelty::{FitRows, measure_fit};
use super::primal::{Accumulated, Axes, Features, accumulate, axes};
use super::stream::KernelPcaStream;
use super::{FittedKernelPca, KernelPca};
use crate::data::{AnySamples, RowSource, RowsInMemory, gather};
use crate::eigen::{Certificate, Grounds, LeftOut, SolveStats};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::low_rank::{
    Approximation, FeatureMap, GivenLandmarks, LandmarkFeatures, LowRank, Rank, SampledError, Stop,
    k_means_centres, pivoted_cholesky_until,
};
use crate::matrix::Matrix;
use crate::model::{Lift, Plan, Route};
use crate::random::{Purpose, Stream};
use std::sync::Arc;

/// First number of landmarks or features that is tried when their number is to be found.
const FIRST_TRY: usize = 64;
/// Share of the allowed error that landmarks are chosen for on a sample: all rows are a little worse.
const SAMPLE_SHARE: f64 = 0.9;

/// Rows to be fitted: always as a source, and in memory when they are.
pub(super) struct Rows<'a> {
    pub(super) source: &'a mut dyn RowSource,
    pub(super) memory: Option<&'a AnySamples>,
}

impl Rows<'_> {
    /// The rows named, in ascending order, in the plan's precision.
    fn gather(&mut self, rows: &[usize], plan: &Plan) -> Result<AnySamples> {
        match self.memory {
            Some(samples) => Ok(samples.gather(rows)),
            None => {
                let chosen: AnySamples = gather(self.source, rows, plan.chunk_rows)?.into();
                Ok(if plan.precision == "f32" { chosen.to_single() } else { chosen })
            }
        }
    }
}

/// Fits as planned. Rows in memory also get their scores.
pub(super) fn fit(
    settings: &KernelPca,
    rows: &mut Rows<'_>,
    similarity: &Similarity,
    plan: Plan,
    engine: Arc<dyn Engine>,
) -> Result<FittedKernelPca> {
    let mut model = fit_rows(settings, rows, similarity, plan, engine)?;
    if let Some(x) = rows.memory {
        let (scores, fit_rows) = of_rows_in_memory(&model, x, settings)?;
        (model.scores, model.fit_rows) = (Some(scores), fit_rows);
    }
    Ok(model)
}

/// Scores of the rows of the fit, and how far they lie from their mean.
fn of_rows_in_memory(
    model: &FittedKernelPca,
    x: &AnySamples,
    settings: &KernelPca,
) -> Result<(Matrix<f64>, FitRows)> {
    let on = (&*model.engine, &settings.watch);
    match &model.mean {
        None => Ok((model.projection.project(on.0, x.points(), on.1)?, FitRows::Unknown)),
        Some(mean) => {
            let (scores, squares) = measure_fit(&model.projection, mean, x.points(), on)?;
            Ok((scores, FitRows::Squares(squares)))
        }
    }
}

fn fit_rows(
    settings: &KernelPca,
    rows: &mut Rows<'_>,
    similarity: &Similarity,
    plan: Plan,
    engine: Arc<dyn Engine>,
) -> Result<FittedKernelPca> {
    let low_rank = settings.low_rank_or_default(plan.rank);
    if plan.approximation == Some(Approximation::Growing) {
        return fit_growing(settings, rows, similarity, &plan, low_rank.novelty);
    }
    let mut chooser = Chooser {
        settings,
        similarity,
        plan: &plan,
        engine: &*engine,
        low_rank: &low_rank,
        ambition: SAMPLE_SHARE,
    };
    let mut rank = match (plan.route, low_rank.rank) {
        (Route::LowRank, Rank::UntilShare(_)) => chooser.first_rank(),
        _ => plan.rank,
    };
    let sample = chooser.sample(rows)?;
    let mut before = 0;
    loop {
        let mut chosen = Err(Error::Cancelled);
        engine.run(&mut || chosen = chooser.choose(&sample, rank));
        let (features, complete) = chosen?;
        let sum = accumulate(&features, rows.source, plan.chunk_rows, (&*engine, &settings.watch))?;
        let sampled = features.sampled_error(&sample, plan.seed)?;
        if let (Route::LowRank, Rank::UntilShare(share)) = (plan.route, low_rank.rank) {
            let reached = sampled.map_or(sum.partial.residual_trace() / sum.trace, |error| error.relative());
            if reached > share && !complete {
                // Pivots may have been enough for the sample and not for all rows: aim lower.
                let stopped =
                    plan.approximation == Some(Approximation::Pivoted) && features.dimension() < rank;
                if (rank >= plan.rank && !stopped) || features.dimension() <= before {
                    return Err(out_of_rank(&plan, features.dimension(), reached, share));
                }
                before = features.dimension();
                chooser.ambition *= if stopped { 0.5 } else { 1.0 };
                rank = (rank.max(features.dimension()) * 2).min(plan.rank);
                continue;
            }
        }
        let plan = Plan { rank: features.dimension(), ..plan.clone() };
        let work = Finished { features: &features, sum: &sum, sampled, warnings: Vec::new() };
        let mut model = Err(Error::Cancelled);
        engine.run(&mut || model = finish(settings, plan.clone(), &work, engine.clone()));
        return model;
    }
}

/// Features as planned for methods that go by moments alone, the error of random ones on sampled pairs, from rows in memory.
pub(super) fn choose_features(
    settings: &KernelPca,
    x: &AnySamples,
    similarity: &Similarity,
    plan: &Plan,
    engine: &dyn Engine,
) -> Result<(Features, Option<SampledError>)> {
    let low_rank = settings.low_rank_or_default(plan.rank);
    let by_share = matches!(low_rank.rank, Rank::UntilShare(_)) && plan.route == Route::LowRank;
    match plan.approximation {
        Some(Approximation::Growing) => {
            return Err(Error::setting(
                "landmarks that grow",
                "they belong to kernel PCA of rows that come in pieces",
                "Use pivoted landmarks",
            ));
        }
        Some(other) if by_share && other != Approximation::Pivoted => {
            return Err(Error::setting(
                format!("a number of landmarks or features that is to be found, for {other}"),
                "this method finds it for pivoted landmarks",
                "Give the number, or use pivoted landmarks",
            ));
        }
        _ => {}
    }
    let chooser = Chooser { settings, similarity, plan, engine, low_rank: &low_rank, ambition: SAMPLE_SHARE };
    let mut source = RowsInMemory::new(x.points());
    let sample = chooser.sample(&mut Rows { source: &mut source, memory: Some(x) })?;
    let mut chosen = Err(Error::Cancelled);
    engine.run(&mut || {
        chosen = chooser.choose(&sample, plan.rank).and_then(|(features, _)| {
            let error = features.sampled_error(&sample, plan.seed)?;
            Ok((features, error))
        });
    });
    chosen
}

/// Landmarks grow while the rows are read.
fn fit_growing(
    settings: &KernelPca,
    rows: &mut Rows<'_>,
    similarity: &Similarity,
    plan: &Plan,
    novelty: f64,
) -> Result<FittedKernelPca> {
    let Similarity::Kernel(kernel) = similarity else { return Err(needs_rows("landmarks that grow")) };
    let growth = (novelty, plan.rank);
    let mut stream = KernelPcaStream::growing(settings, kernel.clone(), rows.source.n_cols(), growth)?;
    rows.source.rewind()?;
    let total = rows.source.n_rows()?;
    while rows.source.next_rows(plan.chunk_rows, &mut |piece| {
        settings.watch.step("moments of features", stream.n_rows() as usize, total)?;
        stream.check_rows(piece)?;
        stream.add(piece)
    })? {}
    let model = stream.finish()?;
    let plan = Plan { rank: model.plan.rank, precision: model.plan.precision.clone(), ..plan.clone() };
    Ok(FittedKernelPca { plan, ..model })
}

fn out_of_rank(plan: &Plan, rank: usize, reached: f64, share: f64) -> Error {
    let action = if rank < plan.rank {
        "More would add nothing but rounding: ask for a larger share"
    } else {
        "Ask for a larger share, give the number yourself, or allow more memory"
    };
    Error::NotReached {
        found: format!(
            "an error of {reached:.2e} with {rank} landmarks or features, the most that are tried"
        ),
        required: format!("{share:.2e} was asked for"),
        action: action.into(),
    }
}

fn needs_rows(what: &str) -> Error {
    Error::setting(
        format!("{what} with a precomputed Gram matrix"),
        "that needs the rows and a kernel",
        "Use pivoted or uniform landmarks, or give the numbers of samples",
    )
}

/// Chooses features as planned.
struct Chooser<'a> {
    settings: &'a KernelPca,
    similarity: &'a Similarity,
    plan: &'a Plan,
    engine: &'a dyn Engine,
    low_rank: &'a LowRank,
    /// Share of the allowed error that pivots on the sample aim at.
    ambition: f64,
}

impl Chooser<'_> {
    fn first_rank(&self) -> usize {
        match self.plan.approximation {
            // Pivots are drawn one after the other: all that may be needed at once.
            Some(Approximation::Pivoted) => self.plan.rank,
            _ => FIRST_TRY.max(2 * self.plan.n_components).min(self.plan.rank),
        }
    }

    /// Rows that landmarks are chosen from, by global row index; landmarks themselves when they are given.
    fn sample(&self, rows: &mut Rows<'_>) -> Result<AnySamples> {
        let n = self.plan.n_samples;
        if let (Similarity::Kernel(_), Some(given)) = (self.similarity, &self.low_rank.given) {
            return self.given(given, rows);
        }
        if let (Similarity::Precomputed, Some(x)) = (self.similarity, rows.memory) {
            return Ok(x.clone());
        }
        if let (Some(x), true) = (rows.memory, self.plan.sample_rows >= n) {
            return Ok(x.clone());
        }
        rows.gather(&self.sample_places(), self.plan)
    }

    fn sample_places(&self) -> Vec<usize> {
        Stream::new(self.plan.seed, Purpose::SampleRows).rows(self.plan.n_samples, self.plan.sample_rows)
    }

    /// Features, and whether more of them would add nothing.
    fn choose(&self, sample: &AnySamples, rank: usize) -> Result<(Features, bool)> {
        let (d, seed) = (self.plan.n_features, self.plan.seed);
        let kernel = match self.similarity {
            Similarity::Kernel(kernel) => kernel,
            Similarity::Precomputed => return self.columns(sample, rank),
        };
        let spec = || {
            kernel.spec().ok_or_else(|| {
                Error::kernel(
                    format!("the kernel {kernel} is a function"),
                    "explicit features need a kernel that is written down",
                    "Use landmarks, or write the kernel as a formula",
                )
            })
        };
        let landmarks = |z: AnySamples| LandmarkFeatures::new(kernel.clone(), z, &self.settings.watch);
        let features = match self.plan.approximation {
            None => Features::Map(kernel.clone(), FeatureMap::exact(spec()?, d, rank).ok_or_else(no_map)?),
            Some(Approximation::Fourier) => {
                Features::Map(kernel.clone(), FeatureMap::fourier(spec()?, d, rank, seed)?)
            }
            Some(Approximation::TensorSketch) => {
                Features::Map(kernel.clone(), FeatureMap::tensor_sketch(spec()?, d, rank, seed)?)
            }
            Some(Approximation::Pivoted) => return self.pivoted(kernel, sample, rank),
            Some(Approximation::Uniform) => {
                let chosen = shuffled(sample.n_rows(), rank, seed);
                Features::Landmarks(landmarks(sample.gather(&chosen))?)
            }
            Some(Approximation::KMeans) => {
                let centres = k_means_centres(sample.points(), rank, seed, &self.settings.watch)?;
                Features::Landmarks(landmarks(self.in_precision(centres.into()))?)
            }
            Some(Approximation::Given | Approximation::Growing) => {
                Features::Landmarks(landmarks(sample.clone())?)
            }
        };
        let complete =
            rank >= self.plan.n_samples && !self.plan.approximation.is_some_and(|a| a.is_random_features());
        Ok((features, complete))
    }

    fn in_precision(&self, samples: AnySamples) -> AnySamples {
        if self.plan.precision == "f32" { samples.to_single() } else { samples }
    }

    fn given(&self, landmarks: &GivenLandmarks, rows: &mut Rows<'_>) -> Result<AnySamples> {
        match landmarks {
            GivenLandmarks::Rows(z) => Ok(self.in_precision(z.clone())),
            GivenLandmarks::Samples(chosen) => {
                let mut chosen = chosen.clone();
                chosen.sort_unstable();
                chosen.dedup();
                self.check_samples(&chosen)?;
                rows.gather(&chosen, self.plan)
            }
        }
    }

    fn check_samples(&self, chosen: &[usize]) -> Result<()> {
        match chosen.iter().find(|row| **row >= self.plan.n_samples) {
            None => Ok(()),
            Some(row) => Err(Error::setting(
                format!("sample {row} as a landmark of {} samples", self.plan.n_samples),
                "samples are counted from 0",
                "Name samples that exist",
            )),
        }
    }

    /// Landmarks by pivoted Cholesky of the sample.
    fn pivoted(&self, kernel: &Kernel, sample: &AnySamples, rank: usize) -> Result<(Features, bool)> {
        let gram = self.engine.gram(self.similarity, sample, Storage::Tiled)?;
        let factor = pivoted_cholesky_until(&*gram, self.stop(rank), self.plan.seed, &self.settings.watch)?;
        let complete = factor.pivots.len() == sample.n_rows() && sample.n_rows() == self.plan.n_samples;
        let landmarks = sample.gather(&factor.pivots);
        let m = factor.pivots.len();
        if m == 0 {
            return Err(Error::data(
                "samples whose kernel values k(x,x) are all zero",
                "at least one must differ from zero in feature space",
                "Check the data for rows of zeros, or choose another kernel",
            ));
        }
        let root = Matrix::from_fn(m, m, |i, j| factor.factor[(factor.pivots[i], j)]);
        let against = crate::low_rank::Against::Rows { kernel: kernel.clone(), landmarks };
        Ok((Features::Landmarks(LandmarkFeatures::with_root(against, root)), complete))
    }

    fn stop(&self, rank: usize) -> Stop {
        let share = match self.low_rank.rank {
            Rank::UntilShare(share) => self.ambition * share,
            Rank::Exactly(_) => 0.0,
        };
        Stop { rank, share }
    }

    /// Landmarks of a Gram matrix that was given.
    fn columns(&self, gram_rows: &AnySamples, rank: usize) -> Result<(Features, bool)> {
        let n = gram_rows.n_rows();
        let gram = self.engine.gram(self.similarity, gram_rows, Storage::Tiled)?;
        let chosen = match (self.plan.approximation, &self.low_rank.given) {
            (Some(Approximation::Pivoted), _) => {
                pivoted_cholesky_until(&*gram, self.stop(rank), self.plan.seed, &self.settings.watch)?.pivots
            }
            (Some(Approximation::Uniform), _) => {
                let drawn = self.sample_places();
                shuffled(drawn.len(), rank, self.plan.seed).into_iter().map(|at| drawn[at]).collect()
            }
            (Some(Approximation::Given), Some(GivenLandmarks::Samples(chosen))) => {
                self.check_samples(chosen)?;
                chosen.clone()
            }
            (Some(Approximation::Given), _) => return Err(needs_rows("landmarks given as rows")),
            (Some(other), _) => return Err(needs_rows(&format!("the approximation {other}"))),
            (None, _) => return Err(needs_rows("explicit features")),
        };
        let mut corner = Matrix::zeros(chosen.len(), chosen.len());
        gram.corner(&chosen, corner.view_mut())?;
        let map = LandmarkFeatures::of_columns(&chosen, &corner, n, &self.settings.watch)?;
        Ok((Features::Landmarks(map), chosen.len() == n))
    }
}

fn no_map() -> Error {
    Error::setting("no landmarks or features", "some must be given or planned", "Choose an approximation")
}

/// `count` of 0..n in random order.
fn shuffled(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Stream::new(seed, Purpose::Landmarks);
    let mut rows: Vec<usize> = (0..n).collect();
    for at in 0..count.min(n) {
        let other = at + random.below(n - at);
        rows.swap(at, other);
    }
    rows.truncate(count);
    rows
}

/// Features with the moments of all rows.
pub(super) struct Finished<'a> {
    pub(super) features: &'a Features,
    pub(super) sum: &'a Accumulated,
    pub(super) sampled: Option<SampledError>,
    pub(super) warnings: Vec<String>,
}

/// What is known about the axes.
fn certificate(plan: &Plan, work: &Finished<'_>, axes: &Axes) -> Certificate {
    let partial = &work.sum.partial;
    match (plan.route, work.sampled, plan.approximation) {
        (Route::Primal, ..) => axes.certificate(partial.trace()),
        (_, Some(error), _) => Certificate::of_sampled_pairs(error.relative()),
        (_, None, approximation) => {
            let grounds = if approximation == Some(Approximation::Growing) {
                Grounds::Novelty
            } else {
                Grounds::ResidualTrace
            };
            let left = LeftOut {
                held: partial.trace(),
                residual_trace: partial.residual_trace(),
                trace: work.sum.trace,
            };
            Certificate::of_approximation(grounds, &axes.values, axes.next, left, axes.rounding)
        }
    }
}

/// The model of moments: axes, what is known about them, and the account.
pub(super) fn finish(
    settings: &KernelPca,
    mut plan: Plan,
    work: &Finished<'_>,
    engine: Arc<dyn Engine>,
) -> Result<FittedKernelPca> {
    let axes = axes(work.features, work.sum, plan.n_components, &settings.watch)?;
    let partial = &work.sum.partial;
    let certificate = certificate(&plan, work, &axes);
    let mut warnings = work.warnings.clone();
    if axes.values.len() < plan.n_components {
        let (asked, exist, m) = (plan.n_components, axes.values.len(), work.features.dimension());
        warnings.push(if exist == m && plan.route == Route::LowRank {
            format!("{asked} components were asked for; {m} landmarks or features give at most {m}")
        } else {
            format!("{asked} components were asked for and {exist} exist: the rest have eigenvalue zero up to rounding")
        });
    }
    warnings.extend(certificate.tie_sentences());
    if let Lift::Kernel { samples, .. } = &axes.projection.lift {
        plan.precision = samples.precision().into();
    }
    plan.n_samples = partial.count() as usize;
    let Axes { values, projection, mean, .. } = axes;
    // The largest that the whole trace can be.
    let (held, left) = (partial.trace(), partial.residual_trace());
    let total = match certificate.bounds.grounds {
        Grounds::ResidualTrace => held + left,
        Grounds::Novelty => (held.sqrt() + left.sqrt()).powi(2),
        Grounds::Residuals | Grounds::SampledPairs | Grounds::Sketch => held,
    };
    if plan.route == Route::LowRank && !work.features.known_valid() {
        warnings.push(
            "the kernel is not known to be positive semi-definite: the bounds hold only if it is on this data".into(),
        );
    }
    Ok(FittedKernelPca {
        mean: Some(mean),
        projection,
        eigenvalues: values,
        centered_trace: total,
        certificate,
        stats: SolveStats::default(),
        plan,
        warnings,
        column_names: settings.column_names.clone(),
        choice: None,
        scores: None,
        fit_rows: FitRows::Unknown,
        engine,
    })
}

/// Fits rows in memory through features.
pub(super) fn fit_in_memory(
    settings: &KernelPca,
    x: &AnySamples,
    similarity: &Similarity,
    plan: Plan,
    engine: Arc<dyn Engine>,
) -> Result<FittedKernelPca> {
    let mut source = RowsInMemory::new(x.points());
    fit(settings, &mut Rows { source: &mut source, memory: Some(x) }, similarity, plan, engine)
}
