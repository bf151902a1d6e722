//! Which features stand for a kernel: landmarks, random features, or a map written out.

use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{
    Against, Approximation, FeatureMap, FeatureSettings, Features, GivenLandmarks, LandmarkFeatures, LowRank,
    Rank, SampledError, Stop, k_means_centres,
};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::model::{Plan, Route};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::rows::{Pass, PivotDraw, Place, Rows, in_memory};
use std::sync::Arc;

/// First number of landmarks or features that is tried when their number is to be found.
pub(super) const FIRST_TRY: usize = 64;

/// Share of the allowed error that landmarks are chosen for on a sample: all rows are a little worse.
pub(crate) const SAMPLE_SHARE: f64 = 0.9;

/// Chooses features as planned.
pub(crate) struct Chooser<'a> {
    pub(crate) watch: &'a Watch,
    pub(crate) similarity: &'a Similarity,
    pub(crate) plan: &'a Plan,
    pub(crate) engine: &'a Arc<dyn Engine>,
    pub(crate) low_rank: &'a LowRank,
    /// Share of the allowed error that pivots on the sample aim at.
    pub(crate) ambition: f64,
}

impl Chooser<'_> {
    pub(crate) fn first_rank(&self) -> usize {
        match self.plan.approximation {
            // Pivots are drawn one after the other: all that may be needed at once.
            Some(Approximation::Pivoted) => self.plan.rank,
            _ => FIRST_TRY.max(2 * self.plan.n_components).min(self.plan.rank),
        }
    }

    /// Rows that landmarks are chosen from, by global row index; landmarks themselves when they are given.
    pub(crate) fn sample(&self, rows: &dyn Rows) -> Result<AnySamples> {
        if let (Similarity::Kernel(_), Some(given)) = (self.similarity, &self.low_rank.given) {
            return self.given(given, rows);
        }
        let whole = matches!(self.similarity, Similarity::Precomputed)
            || self.plan.sample_rows >= self.plan.n_samples;
        if rows.place() == Place::Memory && whole {
            return rows.samples(&self.pass());
        }
        if matches!(rows.place(), Place::Partitions(_))
            && self.plan.approximation == Some(Approximation::Pivoted)
        {
            // Pivots are drawn where the rows are.
            return Ok(Matrix::<f64>::zeros(0, self.plan.n_features).into());
        }
        self.gather(rows, &self.sample_places())
    }

    fn pass(&self) -> Pass<'_> {
        Pass { chunk_rows: self.plan.chunk_rows, watch: self.watch }
    }

    /// The rows named, in the plan's precision where they are not in memory.
    fn gather(&self, rows: &dyn Rows, places: &[usize]) -> Result<AnySamples> {
        let found = rows.gather(places, &self.pass())?;
        Ok(if rows.place() == Place::Memory { found } else { self.in_precision(found) })
    }

    fn sample_places(&self) -> Vec<usize> {
        Stream::new(self.plan.seed, Purpose::SampleRows).rows(self.plan.n_samples, self.plan.sample_rows)
    }

    /// Features, and whether more of them would add nothing.
    pub(crate) fn choose(
        &self,
        rows: &dyn Rows,
        sample: &AnySamples,
        rank: usize,
    ) -> Result<(Features, bool)> {
        let (d, seed) = (self.plan.n_features, self.plan.seed);
        let kernel = match self.similarity {
            Similarity::Kernel(kernel) => kernel,
            Similarity::Precomputed => return self.columns(rows, rank),
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
        let landmarks = |z: AnySamples| LandmarkFeatures::new(kernel.clone(), z, self.watch);
        let features = match self.plan.approximation {
            None => Features::Map(kernel.clone(), FeatureMap::exact(spec()?, d, rank).ok_or_else(no_map)?),
            Some(Approximation::Fourier) => {
                Features::Map(kernel.clone(), FeatureMap::fourier(spec()?, d, rank, seed)?)
            }
            Some(Approximation::TensorSketch) => {
                Features::Map(kernel.clone(), FeatureMap::tensor_sketch(spec()?, d, rank, seed)?)
            }
            Some(Approximation::Pivoted) => return self.pivoted(rows, kernel, sample, rank),
            Some(Approximation::Uniform) => {
                let chosen = shuffled(sample.n_rows(), rank, seed);
                Features::Landmarks(landmarks(sample.gather(&chosen))?)
            }
            Some(Approximation::KMeans) => {
                let centres = k_means_centres(sample.points(), rank, seed, self.watch)?;
                Features::Landmarks(landmarks(self.in_precision(centres.into()))?)
            }
            Some(Approximation::Given) => Features::Landmarks(landmarks(sample.clone())?),
        };
        let complete =
            rank >= self.plan.n_samples && !self.plan.approximation.is_some_and(|a| a.is_random_features());
        Ok((features, complete))
    }

    fn in_precision(&self, samples: AnySamples) -> AnySamples {
        if self.plan.precision == "f32" { samples.to_single() } else { samples }
    }

    fn given(&self, landmarks: &GivenLandmarks, rows: &dyn Rows) -> Result<AnySamples> {
        match landmarks {
            GivenLandmarks::Rows(z) => Ok(self.in_precision(z.clone())),
            GivenLandmarks::Samples(chosen) => {
                let mut chosen = chosen.clone();
                chosen.sort_unstable();
                chosen.dedup();
                self.check_samples(&chosen)?;
                self.gather(rows, &chosen)
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

    /// Landmarks by pivoted Cholesky: of the sample, or of as many rows where they lie.
    fn pivoted(
        &self,
        rows: &dyn Rows,
        kernel: &Kernel,
        sample: &AnySamples,
        rank: usize,
    ) -> Result<(Features, bool)> {
        let n = self.plan.n_samples;
        let draw = PivotDraw { sample: None, stop: self.stop(rank), seed: self.plan.seed, watch: self.watch };
        let (chosen, drawn_from) = if let Place::Partitions(_) = rows.place() {
            let places = self.sample_places();
            let drawn_from = places.len();
            let some = (drawn_from < n).then_some(&places[..]);
            (rows.pivots(self.similarity, &PivotDraw { sample: some, ..draw })?, drawn_from)
        } else {
            let here = in_memory(sample, self.engine);
            (here.pivots(self.similarity, &draw)?, sample.n_rows())
        };
        let complete = drawn_from == n && chosen.rows.len() == n;
        Ok((features_of(kernel, chosen.landmarks, chosen.root)?, complete))
    }

    fn stop(&self, rank: usize) -> Stop {
        let share = match self.low_rank.rank {
            Rank::UntilShare(share) => self.ambition * share,
            Rank::Exactly(_) => 0.0,
        };
        Stop { rank, share }
    }

    /// Landmarks of a Gram matrix that was given.
    fn columns(&self, rows: &dyn Rows, rank: usize) -> Result<(Features, bool)> {
        let n = rows.n_rows();
        let gram = rows.gram(self.similarity, Storage::Tiled, false)?;
        let chosen = match (self.plan.approximation, &self.low_rank.given) {
            (Some(Approximation::Pivoted), _) => {
                let draw = PivotDraw {
                    sample: None,
                    stop: self.stop(rank),
                    seed: self.plan.seed,
                    watch: self.watch,
                };
                rows.pivots(self.similarity, &draw)?.rows
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
        let map = LandmarkFeatures::of_columns(&chosen, &corner, n, self.watch)?;
        Ok((Features::Landmarks(map), chosen.len() == n))
    }
}

/// Features as planned for methods that go by moments alone, the error of random ones on sampled pairs, from rows in memory.
pub(crate) fn choose_features(
    settings: &FeatureSettings,
    x: &AnySamples,
    similarity: &Similarity,
    plan: &Plan,
    engine: &Arc<dyn Engine>,
) -> Result<(Features, Option<SampledError>)> {
    let low_rank = settings.low_rank_or_default(plan.rank);
    let by_share = matches!(low_rank.rank, Rank::UntilShare(_)) && plan.route == Route::LowRank;
    if let Some(other) = plan.approximation.filter(|other| by_share && *other != Approximation::Pivoted) {
        return Err(Error::setting(
            format!("a number of landmarks or features that is to be found, for {other}"),
            "this method finds it for pivoted landmarks",
            "Give the number, or use pivoted landmarks",
        ));
    }
    let chooser = Chooser {
        watch: &settings.watch,
        similarity,
        plan,
        engine,
        low_rank: &low_rank,
        ambition: SAMPLE_SHARE,
    };
    let rows = in_memory(x, engine);
    let sample = chooser.sample(&*rows)?;
    // Rows are compared with landmarks in the precision of these.
    let sample = if plan.precision == "f64" { sample.to_double() } else { sample };
    engine.complete(|| {
        chooser.choose(&*rows, &sample, plan.rank).and_then(|(features, _)| {
            let error = features.sampled_error(&sample, plan.seed)?;
            Ok((features, error))
        })
    })
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

/// Features of landmarks that pivoting chose, with their root.
fn features_of(kernel: &Kernel, landmarks: AnySamples, root: Matrix<f64>) -> Result<Features> {
    if root.n_rows() == 0 {
        return Err(Error::no_variance(
            "samples whose kernel values k(x,x) are all zero",
            "at least one must differ from zero in feature space",
            "Check the data for rows of zeros or constant columns, or choose another kernel",
        ));
    }
    let against = Against::Rows { kernel: kernel.clone(), landmarks };
    Ok(Features::Landmarks(LandmarkFeatures::with_root(against, root)))
}

fn needs_rows(what: &str) -> Error {
    Error::setting(
        format!("{what} with a precomputed Gram matrix"),
        "that needs the rows and a kernel",
        "Use pivoted or uniform landmarks, or give the numbers of samples",
    )
}
