//! Plans of fits through features: how many fit, how many rows at a time, and why.

use super::Request;
use super::chooser::FIRST_TRY;
use crate::eigen::Indefinite;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{Accuracy, Approximation, FeatureMap, GivenLandmarks, LowRank, Rank, draws_at_a_time};
use crate::gram::Storage;
use crate::model::{Plan, Route, Solver, allowance, block_bytes, human_bytes};
use crate::rows::CHUNK_ROWS;

/// Bytes that features in hand take at most.
const CHUNK_BYTES: usize = 24 << 20;
/// Fewest rows at a time that make sense.
const FEWEST_ROWS: usize = 64;
/// Numbers in a page of memory.
const PAGE_NUMBERS: usize = 512;
/// Most landmarks that are tried when their number is to be found.
const MOST_LANDMARKS: usize = 4096;
/// Landmarks of a fit that goes this way because the exact one does not fit.
pub(crate) const FALLBACK_LANDMARKS: usize = 1000;
/// Up to this many samples all of them are landmarks of a factor, which is exact.
const EXACT_SAMPLES: usize = 1000;
/// Most features that a factor writes out.
const MOST_FACTOR_FEATURES: usize = 2048;
/// Rows for each landmark that landmarks are chosen from.
const ROWS_PER_LANDMARK: usize = 10;
/// Fewest rows that landmarks are chosen from, if there are as many.
const FEWEST_SAMPLE_ROWS: usize = 10_000;
/// Rows on whose pairs the error of random features is estimated.
const ERROR_ROWS: usize = 2_000;

/// Sizes of a fit through features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    rank: usize,
    sample_rows: usize,
    chunk_rows: usize,
}

impl Sizes {
    /// As planned for `rank` features within `allowed` bytes: fewer rows at a time when memory is short.
    fn new(rank: usize, approximation: Option<Approximation>, request: &Request<'_>, allowed: u64) -> Self {
        let (n, d) = (request.n_samples, request.n_features);
        let per_row = 8 * (2 * rank + 2 * d) as u128;
        let handy = (CHUNK_BYTES / (8 * rank.max(1))).clamp(512, CHUNK_ROWS);
        let chunk = (u128::from(allowed) / 4 / per_row.max(1)).min(handy as u128) as usize;
        let wanted = match approximation {
            Some(Approximation::Pivoted | Approximation::KMeans) => {
                (ROWS_PER_LANDMARK * rank).max(FEWEST_SAMPLE_ROWS)
            }
            Some(Approximation::Uniform) => rank,
            Some(Approximation::Fourier | Approximation::TensorSketch) => ERROR_ROWS,
            Some(Approximation::Given) | None => 0,
        };
        let held = if approximation == Some(Approximation::Pivoted) { rank + d } else { d };
        let most = (u128::from(allowed) / 2 / (8 * held.max(1)) as u128).min(n as u128) as usize;
        let least = if wanted == 0 { 0 } else { rank.min(n) };
        Self {
            rank,
            sample_rows: wanted.min(most).max(least).min(n),
            chunk_rows: chunk.max(FEWEST_ROWS).min(n.max(1)),
        }
    }

    /// [`Sizes::bytes_of`] where all landmarks or features that are tried are used.
    fn bytes(&self, approximation: Option<Approximation>, request: &Request<'_>) -> u128 {
        self.bytes_of(self.rank, approximation, request)
    }

    /// What choosing landmarks takes (the sample, its factor and the columns that are drawn at a time) or what comes after it
    /// (moments and their eigenvectors, the rows in hand with their features), whichever is more, and the scores; where `rank` of them
    /// are enough.
    fn bytes_of(&self, rank: usize, approximation: Option<Approximation>, request: &Request<'_>) -> u128 {
        let d = request.n_features;
        let scores = if request.in_memory { request.n_components.min(rank) } else { 0 };
        let in_hand = if request.in_memory { rank + d } else { 2 * (rank + d) };
        let moments = block_bytes(rank, 5 * rank) + block_bytes(self.chunk_rows, in_hand);
        let most = match approximation {
            Some(Approximation::Pivoted) => {
                // Of a factor with room for more columns the system holds the pages that are written.
                let written = rank.next_multiple_of(PAGE_NUMBERS).min(self.rank);
                // Where few landmarks are enough, most of what is drawn at a time is rejected.
                let drawn = draws_at_a_time(self.rank).min(2 * rank);
                let choice = block_bytes(self.sample_rows, written + drawn + d);
                moments.max(choice + block_bytes(rank, rank))
            }
            _ => moments + block_bytes(self.sample_rows, d),
        };
        most + block_bytes(request.n_samples, scores)
    }
}

/// The largest rank up to `most` that fits into `allowed` bytes.
fn largest_rank(
    most: usize,
    approximation: Option<Approximation>,
    request: &Request<'_>,
    allowed: u64,
) -> usize {
    let fits = |rank: usize| {
        Sizes::new(rank, approximation, request, allowed).bytes(approximation, request) <= u128::from(allowed)
    };
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// The fewest bytes within which `rank` landmarks or features fit, to about one percent.
fn least_allowance(rank: usize, approximation: Option<Approximation>, request: &Request<'_>) -> u64 {
    let fits = |allowed: u64| {
        Sizes::new(rank, approximation, request, allowed).bytes(approximation, request) <= u128::from(allowed)
    };
    let mut high = 1 << 12;
    while !fits(high) && high < u64::MAX / 2 {
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > high / 128 {
        let middle = low + (high - low) / 2;
        if fits(middle) { high = middle } else { low = middle }
    }
    high
}

/// How many landmarks fit beside what else a low-rank fit needs; what an exact fit that does not fit can fall back on.
pub(crate) fn landmarks_that_fit(request: &Request<'_>, most: usize, allowed: u64) -> usize {
    largest_rank(most.min(request.n_samples), Some(Approximation::Pivoted), request, allowed)
}

/// A low-rank fit in place of an exact one that cannot be had.
pub(crate) fn fallback(request: &Request<'_>, most: usize, engine: &dyn Engine, why: String) -> Result<Plan> {
    let (allowed, _) = allowance(request.memory_limit, engine);
    let rank = landmarks_that_fit(request, most, allowed).max(1);
    let mut plan = low_rank(request, &LowRank::pivoted(Rank::Exactly(rank)), engine)?;
    plan.reasons.truncate(1);
    plan.reasons.push(why);
    plan.reasons.push(format!("{rank} landmarks fit and are enough to start with"));
    Ok(plan)
}

/// States what is likely to be taken where the number of landmarks or features is to be found, and that of the most that are tried as the
/// most: with `likely` of them, or as many as are tried first.
pub(crate) fn expect(plan: &mut Plan, likely: Option<usize>, request: &Request<'_>) {
    let Plan { rank, sample_rows, chunk_rows, .. } = *plan;
    let sizes = Sizes { rank, sample_rows, chunk_rows };
    let pivoted = plan.approximation == Some(Approximation::Pivoted);
    // Several pivots are drawn at a time: half of them more than are needed.
    let step = if pivoted { draws_at_a_time(rank) / 2 } else { FIRST_TRY };
    let likely = likely.map_or(step, |likely| likely + step.min(likely / 2)).clamp(1, rank.max(1));
    let needed = u64::try_from(sizes.bytes_of(likely, plan.approximation, request)).unwrap_or(u64::MAX);
    if needed < plan.bytes_needed {
        plan.most_bytes = Some(plan.bytes_needed);
        plan.bytes_needed = needed;
    }
}

/// A fit by explicit features that give the kernel exactly.
pub(crate) fn primal(request: &Request<'_>, dimension: usize, engine: &dyn Engine) -> Result<Plan> {
    let (allowed, why) = allowance(request.memory_limit, engine);
    let sizes = Sizes::new(dimension, None, request, allowed);
    let mut plan = base(request, engine, allowed, sizes, None)?;
    plan.route = Route::Primal;
    plan.reasons = vec![
        why,
        format!(
            "the kernel has {dimension} features that can be written down: their moments give the exact answer in one reading"
        ),
    ];
    Ok(plan)
}

/// Features for methods that go by moments alone: explicit ones where the kernel has few, all samples as landmarks where
/// these are few, otherwise landmarks; in each case at most so many.
pub(crate) fn factor(request: &Request<'_>, most: usize, engine: &dyn Engine) -> Result<Plan> {
    let n = request.n_samples;
    if let Accuracy::LowRank(how) = request.accuracy {
        return low_rank(request, how, engine);
    }
    // Features that are written out are all of them or none.
    let most_written = if most < FALLBACK_LANDMARKS { most } else { MOST_FACTOR_FEATURES };
    let few = |d: &usize| *d <= most_written && (*d <= n || n > EXACT_SAMPLES);
    if let Some(dimension) = request.exact_features.and_then(|d| usize::try_from(d).ok()).filter(few) {
        return primal(request, dimension, engine);
    }
    if n > EXACT_SAMPLES.min(most) && !matches!(request.accuracy, Accuracy::Exact) {
        return fallback(
            request,
            most,
            engine,
            format!("{n} samples are too many to be landmarks all of them"),
        );
    }
    let mut plan = low_rank(request, &LowRank::pivoted(Rank::Exactly(n)), engine)?;
    plan.reasons.truncate(1);
    plan.reasons.push(format!("all {n} samples are landmarks, which is exact"));
    Ok(plan)
}

/// A fit by landmarks or random features.
pub(crate) fn low_rank(request: &Request<'_>, how: &LowRank, engine: &dyn Engine) -> Result<Plan> {
    how.check()?;
    if request.solver.is_some() || request.storage.is_some() || request.repair != Indefinite::Clip {
        return Err(Error::setting(
            "a solver, storage or repair together with low rank",
            "these belong to the exact fit by the Gram matrix",
            "Leave them out, or leave low rank out",
        ));
    }
    check_kernel(request, how)?;
    let approximation = Some(how.approximation);
    let (allowed, why) = allowance(request.memory_limit, engine);
    let n = request.n_samples;
    let most = if how.approximation.is_random_features() { usize::MAX } else { n };
    let (rank, reason) = match how.rank {
        Rank::Exactly(rank) => {
            let rank = rank.min(most);
            (rank, format!("at most {rank} landmarks or features are wanted"))
        }
        Rank::UntilShare(share) => {
            let rank = largest_rank(MOST_LANDMARKS.min(most), approximation, request, allowed);
            let reason = format!(
                "landmarks or features are added until the error is {share}; at most {rank} fit or make sense, whose memory is counted as the most"
            );
            (rank.max(1), reason)
        }
    };
    let sizes = Sizes::new(rank, approximation, request, allowed);
    let mut plan = base(request, engine, allowed, sizes, approximation)?;
    plan.route = Route::LowRank;
    plan.approximation = approximation;
    plan.reasons = vec![why, reason];
    if how.approximation.is_random_features() {
        plan.reasons.push(format!("their error is estimated on pairs of {} rows", sizes.sample_rows));
    } else if sizes.sample_rows > 0 && sizes.sample_rows < n {
        plan.reasons
            .push(format!("landmarks are chosen from {} rows drawn by their number", sizes.sample_rows));
    }
    Ok(plan)
}

/// Refuses an approximation that the kernel does not have.
fn check_kernel(request: &Request<'_>, how: &LowRank) -> Result<()> {
    let by_rows = how.approximation == Approximation::KMeans
        || how.approximation.is_random_features()
        || matches!(how.given, Some(GivenLandmarks::Rows(_)));
    if request.precomputed && by_rows {
        return Err(Error::setting(
            format!("the approximation {} with a precomputed Gram matrix", how.approximation),
            "that needs the rows and a kernel",
            "Use pivoted or uniform landmarks, or give the numbers of samples",
        ));
    }
    let (d, seed) = (request.n_features, request.seed);
    match (how.approximation, request.spec) {
        (Approximation::Fourier, Some(spec)) => FeatureMap::fourier(spec, d, 2, seed).map(|_| ()),
        (Approximation::TensorSketch, Some(spec)) => FeatureMap::tensor_sketch(spec, d, 2, seed).map(|_| ()),
        _ => Ok(()),
    }
}

fn base(
    request: &Request<'_>,
    engine: &dyn Engine,
    allowed: u64,
    sizes: Sizes,
    approximation: Option<Approximation>,
) -> Result<Plan> {
    let needed = sizes.bytes(approximation, request);
    if needed > u128::from(allowed) {
        let nearest = largest_rank(sizes.rank, approximation, request, allowed);
        let least = human_bytes(u128::from(least_allowance(sizes.rank, approximation, request)));
        let beside = if request.in_memory { " beside the samples" } else { "" };
        return Err(Error::memory(
            format!("{} landmarks or features need {least}{beside}", sizes.rank),
            format!("{} are allowed", human_bytes(u128::from(allowed))),
            match nearest {
                0 => format!("Allow {least}"),
                m => format!("Allow {least}, or use at most {m}"),
            },
        ));
    }
    Ok(Plan {
        n_samples: request.n_samples,
        n_features: request.n_features,
        n_components: request.n_components,
        kernel: request.kernel.clone(),
        route: Route::Primal,
        approximation: None,
        rank: sizes.rank,
        sample_rows: sizes.sample_rows,
        chunk_rows: sizes.chunk_rows,
        precision: request.precision.into(),
        draft: false,
        storage: Storage::Tiled,
        solver: Solver::Dense,
        repair: request.repair,
        sketch_rank: 0,
        expected_passes: if sizes.sample_rows > 0 && !request.in_memory { 2 } else { 1 },
        most_passes: None,
        tolerance: request.tolerance,
        seed: request.seed,
        engine: engine.name(),
        threads: engine.threads(),
        bytes_needed: u64::try_from(needed).unwrap_or(u64::MAX),
        most_bytes: None,
        bytes_allowed: allowed,
        reasons: Vec::new(),
    })
}
