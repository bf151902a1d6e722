//! From settings to a plan: which solver, stored or not, and whether it fits.

use super::proof::{FACTORED_SAMPLES, proof_bytes};
use crate::eigen::{Entries, Indefinite, LOOK_PASSES, basis_columns, block_columns, dense_bytes};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{FALLBACK_LANDMARKS, Request, fallback, landmarks_that_fit, low_rank, primal};
use crate::features::Accuracy;
use crate::gram::{Storage, stored_bytes};
use crate::kernel::{KernelSpec, PairSample};
use crate::model::{Plan, Route, Solver, allowance, block_bytes, human_bytes};
use crate::rows::CHUNK_ROWS;

/// Tiles of a cheap kernel are kept up to this size, and beyond if samples have more features than the other.
const KEPT_BYTES: u128 = 1 << 30;
const KEPT_FEATURES: usize = 128;
/// Most features that are written out instead of using the Gram matrix.
const MOST_EXACT_FEATURES: usize = 4096;
/// Most samples elsewhere that are compared pair by pair without being asked to: minutes of one processor.
const MOST_PASSED_ROWS: usize = 50_000;
/// Tolerances from this on can be met by iterating in single precision.
const DRAFT_TOLERANCE: f64 = 1e-7;
/// Largest sketch that a solver starts from.
const WIDEST_SKETCH: usize = 800;
/// Passes that block Davidson takes for few pairs, the certificate's included, pairs for which it takes one more, and digits beyond
/// the sixth for which it takes three more.
const DAVIDSON_PASSES: usize = 5;
const FEW_PAIRS: usize = 5;
const PAIRS_PER_PASS: usize = 6;
const DIGITS: f64 = 4.0;
/// Passes after which the iteration gives up.
pub(super) const MAX_PASSES: usize = 200;
/// Passes after which the search for the one most negative eigenvalue ends with the lowest that was seen.
pub(super) const LOWEST_PASSES: usize = 24;
/// The dense solver costs n²/(this·b) passes of blocks of b columns. Cost: measured on 600 to 3000 samples of 50 to 2000 features; wide
/// samples, whose kernel values are computed anew by the passes that certify, count most.
const PASSES_OF_DENSE: f64 = 1700.0;

/// Decides, gives reasons, and refuses what does not fit.
pub(crate) fn plan(request: &Request<'_>, engine: &dyn Engine) -> Result<Plan> {
    if let Accuracy::LowRank(how) = request.accuracy {
        return low_rank(request, how, engine);
    }
    if let Some(dimension) = primal_features(request) {
        match primal(request, dimension, engine) {
            // What does not fit this way may fit by the Gram matrix.
            Err(Error::Memory { .. }) => {}
            other => return other,
        }
    }
    let exact_only = matches!(request.accuracy, Accuracy::Exact);
    let by_passes = request.passes
        && (exact_only
            || request.solver.is_some()
            || request.repair != Indefinite::Clip
            || request.n_samples <= MOST_PASSED_ROWS);
    if !request.in_memory && !by_passes {
        return in_pieces(request, exact_only, engine);
    }
    match dual(request, engine) {
        Err(Error::Memory { found, required, action }) if exact_only => {
            let (allowed, _) = allowance(request.memory_limit, engine);
            let landmarks = landmarks_that_fit(request, FALLBACK_LANDMARKS, allowed);
            let action = if landmarks == 0 {
                action
            } else {
                format!("{action}, or accept low rank: {landmarks} landmarks fit")
            };
            Err(Error::Memory { found, required, action })
        }
        // Why: what was asked for by name is not replaced by something else.
        Err(Error::Memory { found, required, .. })
            if request.solver.is_none()
                && request.storage.is_none()
                && request.repair == Indefinite::Clip =>
        {
            let why = format!("the exact fit does not fit: {found}; {required}");
            fallback(request, FALLBACK_LANDMARKS, engine, why)
        }
        other => other,
    }
}

/// Samples that are not in memory: by landmarks, or not at all.
fn in_pieces(request: &Request<'_>, exact_only: bool, engine: &dyn Engine) -> Result<Plan> {
    if exact_only {
        let (allowed, _) = allowance(request.memory_limit, engine);
        let samples = block_bytes(request.n_samples, request.n_features);
        return Err(Error::memory(
            format!("an exact fit of {} samples that are read in pieces", request.n_samples),
            format!(
                "all {} of them must be in memory beside the work, and {} are allowed in all",
                human_bytes(samples),
                human_bytes(u128::from(allowed))
            ),
            format!(
                "Allow more memory, or accept low rank: {} landmarks fit",
                landmarks_that_fit(request, FALLBACK_LANDMARKS, allowed)
            ),
        ));
    }
    if request.solver.is_some() || request.repair != Indefinite::Clip {
        return Err(Error::setting(
            "a solver or repair for samples that are read in pieces",
            "these belong to the exact fit, which needs the samples in memory",
            "Leave them out, or allow more memory",
        ));
    }
    let why = if request.passes {
        format!(
            "{} samples are many for passes over all pairs: landmarks stand for them unless an exact fit is asked for",
            request.n_samples
        )
    } else {
        "the samples do not fit into memory at once: they are read a piece at a time and approximated by landmarks".into()
    };
    fallback(request, FALLBACK_LANDMARKS, engine, why)
}

/// How many features to write out, when that is the cheapest exact way.
fn primal_features(request: &Request<'_>) -> Option<usize> {
    let free = request.solver.is_none() && request.storage.is_none() && request.repair == Indefinite::Clip;
    let few = request.in_memory && request.n_samples <= Entries::Kernel.few();
    let dimension = usize::try_from(request.exact_features?).ok()?;
    let worth =
        dimension <= MOST_EXACT_FEATURES && (dimension <= request.n_samples / 4 || !request.in_memory);
    (free && !few && worth).then_some(dimension)
}

/// A plan for rows that came in pieces.
pub(crate) fn plan_of_stream(
    settings: &super::KernelPca,
    (n_samples, n_features, rank): (usize, usize, usize),
    (approximation, kernel): (crate::features::Approximation, String),
    engine: &dyn Engine,
) -> Plan {
    let (allowed, _) = allowance(settings.features.memory_limit, engine);
    Plan {
        n_samples,
        n_features,
        n_components: settings.n_components,
        kernel,
        route: Route::LowRank,
        approximation: Some(approximation),
        rank,
        sample_rows: 0,
        chunk_rows: CHUNK_ROWS,
        precision: "f64".into(),
        draft: false,
        storage: Storage::Tiled,
        solver: Solver::Dense,
        repair: settings.repair,
        sketch_rank: 0,
        expected_passes: 1,
        most_passes: None,
        tolerance: settings.tolerance,
        seed: settings.features.seed,
        engine: engine.name(),
        threads: engine.threads(),
        bytes_needed: u64::try_from(block_bytes(rank, 5 * rank) + block_bytes(CHUNK_ROWS, 2 * rank))
            .unwrap_or(u64::MAX),
        most_bytes: None,
        bytes_allowed: allowed,
        reasons: vec!["rows came in pieces".into()],
    }
}

/// Eigenpairs of the centred Gram matrix.
fn dual(request: &Request<'_>, engine: &dyn Engine) -> Result<Plan> {
    let (n, d) = (request.n_samples, request.n_features);
    let k = request.n_components.min(n.saturating_sub(1)).max(1);
    let (allowed, why) = allowance(request.memory_limit, engine);
    let mut reasons = vec![why];
    let dense_fits = dense_bytes(n) <= u128::from(allowed);
    let solver = choose_solver(request, n, k, dense_fits, &mut reasons);
    let basis = basis_columns(n, k);
    let sketch_rank = if solver == Solver::Dense { 0 } else { sketch_rank(n, d, k) };
    let working = match solver {
        Solver::Dense => dense_bytes(n),
        // While the sketch is made: the factor, and its vectors in single precision. Then those, Q and AQ, and four blocks in
        // flight.
        Solver::Davidson => (block_bytes(n, sketch_rank) + block_bytes(n, sketch_rank) / 2)
            .max(block_bytes(n, sketch_rank) / 2 + block_bytes(n, 2 * basis + 4 * (2 * k).max(32))),
    };
    let double = request.precision == "f64";
    let draft =
        double && solver == Solver::Davidson && request.draftable && request.tolerance >= DRAFT_TOLERANCE;
    if draft {
        reasons.push(
            "the tolerance allows iterating in single precision; a last pass in double precision certifies"
                .into(),
        );
    }
    let number = if double && !draft { 8 } else { 4 };
    // A copy of the samples in single precision.
    let working = working + if draft { n as u128 * d as u128 * 4 } else { 0 };
    let tiles = if request.precomputed { 0 } else { stored_bytes(n, number) };
    let storage = choose_storage(request, tiles, working, allowed, &mut reasons);
    let needed = working + if storage == Storage::Stored { tiles } else { 0 };
    if needed > u128::from(allowed) {
        return Err(too_big(n, k, needed, allowed, solver));
    }
    let most = match solver {
        Solver::Dense => needed,
        Solver::Davidson => most_bytes(request, n, needed, allowed),
    };
    Ok(Plan {
        n_samples: n,
        n_features: d,
        n_components: request.n_components,
        kernel: request.kernel.clone(),
        route: Route::Dual,
        approximation: None,
        rank: 0,
        sample_rows: 0,
        chunk_rows: 0,
        precision: request.precision.into(),
        draft,
        storage,
        solver,
        repair: request.repair,
        sketch_rank,
        expected_passes: if solver == Solver::Dense { 2 } else { davidson_passes(k, request.tolerance) },
        most_passes: (solver == Solver::Davidson)
            .then(|| most_passes(request, (n, k), draft, switch_fits(n, needed, allowed))),
        tolerance: request.tolerance,
        seed: request.seed,
        engine: engine.name(),
        threads: engine.threads(),
        bytes_needed: u64::try_from(needed).unwrap_or(u64::MAX),
        most_bytes: (most > needed).then(|| u64::try_from(most).unwrap_or(u64::MAX)),
        bytes_allowed: allowed,
        reasons,
    })
}

/// Whether the dense solver may take over from the iteration.
///
/// Why beside all that the iteration needs, although it is freed before: the system may keep what is freed.
pub(super) fn switch_fits(n: usize, needed: u128, allowed: u64) -> bool {
    needed + dense_bytes(n) <= u128::from(allowed)
}

/// The most that phases of a fit take which come only where they are needed: the dense solver for an iteration that does not converge,
/// and the matrix written out for a certificate. Each is left out where it does not fit.
fn most_bytes(request: &Request<'_>, n: usize, needed: u128, allowed: u64) -> u128 {
    if request.solver.is_none() && switch_fits(n, needed, allowed) {
        return needed + dense_bytes(n);
    }
    let proof = needed + proof_bytes(n);
    if n <= FACTORED_SAMPLES && proof <= u128::from(allowed) { proof } else { needed }
}

/// Passes of the iteration that cost as much as the dense solver.
pub(super) fn passes_of_dense(n: usize, k: usize) -> f64 {
    (n as f64).powi(2) / (PASSES_OF_DENSE * block_columns(n, k) as f64)
}

/// Passes that are made at most: by the iteration, which ends where the dense solver would be faster and fits, its certificate, and the
/// search for the lowest eigenvalue; on a draft and on the matrix itself; and by the dense solver.
fn most_passes(request: &Request<'_>, (n, k): (usize, usize), draft: bool, may_switch: bool) -> usize {
    let switches = request.solver.is_none() && may_switch;
    let worth = if switches { passes_of_dense(n, k) as usize + 1 } else { MAX_PASSES };
    let valid = request.spec.and_then(KernelSpec::is_mercer) == Some(true);
    let lowest = if valid { 0 } else { LOOK_PASSES + LOWEST_PASSES + 1 };
    let turns = if draft { 2 } else { 1 };
    turns * (worth.min(MAX_PASSES) + 1 + lowest) + if switches { 2 } else { 0 }
}

/// Passes expected of block Davidson.
fn davidson_passes(k: usize, tolerance: f64) -> usize {
    let digits = -(tolerance.max(1e-15) / 1e-6).log10();
    let more = (3.0 * digits / DIGITS).max(0.0) as usize;
    DAVIDSON_PASSES + k.saturating_sub(FEW_PAIRS) / PAIRS_PER_PASS + more
}

/// The rows of a table that medians look at, in at most three quarters of the memory allowed: nothing else is held yet.
pub(super) fn pair_sample(
    shape: (usize, usize),
    limit: Option<u64>,
    seed: u64,
    engine: &dyn Engine,
) -> PairSample {
    PairSample::draw(shape, allowance(limit, engine).0 / 4 * 3, seed)
}

/// Counts rows that were gathered for medians, before anything else was held.
pub(super) fn count_sample(plan: &mut Plan, sample: &PairSample) {
    plan.bytes_needed = plan.bytes_needed.max(sample.bytes);
    plan.most_bytes = plan.most_bytes.filter(|most| *most > plan.bytes_needed);
    plan.reasons.extend(sample.reason());
}

fn choose_solver(
    request: &Request<'_>,
    n: usize,
    k: usize,
    dense_fits: bool,
    reasons: &mut Vec<String>,
) -> Solver {
    let (solver, why) = if request.repair == Indefinite::Flip {
        (Solver::Dense, "repair=flip needs all eigenvalues: the dense solver".to_string())
    } else if let Some(solver) = request.solver {
        (solver, format!("the {solver} solver was asked for"))
    } else if !dense_fits {
        (Solver::Davidson, format!("all {n} eigenpairs would not fit: block Davidson finds {k} of them"))
    } else if let Some(why) = Entries::Kernel.direct(n, k) {
        (Solver::Dense, why)
    } else {
        (
            Solver::Davidson,
            format!("{k} of {n} eigenpairs are wanted: block Davidson finds them in a few passes"),
        )
    };
    reasons.push(why);
    solver
}

/// m ≤ √(n(d + b)/20): the sketch then costs less than a tenth of a pass. Below 150 a step of the iteration would be spent
/// instead; at least enough for the start block.
fn sketch_rank(n: usize, d: usize, k: usize) -> usize {
    let affordable = (0.05 * n as f64 * (d + 32) as f64).sqrt() as usize;
    affordable.max(150.min(n / 10)).clamp(2 * k.max(24), WIDEST_SKETCH.max(2 * k)).min(n / 2)
}

fn choose_storage(
    request: &Request<'_>,
    tiles: u128,
    working: u128,
    allowed: u64,
    reasons: &mut Vec<String>,
) -> Storage {
    let fits = tiles + working <= u128::from(allowed);
    let (storage, why) = match request.storage {
        _ if request.precomputed => {
            (Storage::Tiled, "the Gram matrix is given and used where it lies".to_string())
        }
        _ if request.passes => (
            Storage::Tiled,
            "the samples lie elsewhere: the Gram matrix is computed there anew in each pass".to_string(),
        ),
        Some(storage) => (storage, "whether to store the Gram matrix was asked for".to_string()),
        // Why: fetching a value from that much memory takes longer than computing it.
        None if fits && request.cheap && tiles > KEPT_BYTES && request.n_features <= KEPT_FEATURES => (
            Storage::Tiled,
            format!(
                "the tiles of its upper half would take {}: values this cheap are faster computed anew in each pass",
                human_bytes(tiles)
            ),
        ),
        None if fits => {
            (Storage::Stored, format!("the tiles of its upper half take {} and fit", human_bytes(tiles)))
        }
        None => (
            Storage::Tiled,
            format!(
                "the tiles of its upper half would take {}, which does not fit: the Gram matrix is computed anew in each pass",
                human_bytes(tiles)
            ),
        ),
    };
    reasons.push(why);
    storage
}

fn too_big(n: usize, k: usize, needed: u128, allowed: u64, solver: Solver) -> Error {
    let action = match solver {
        Solver::Dense => {
            format!("Allow {}, or leave solver and repair to their defaults", human_bytes(needed))
        }
        Solver::Davidson => {
            let most = u128::from(allowed) * n as u128 / needed.max(1);
            // Why: few samples go to the dense solver, which needs 32n² bytes.
            let most = if most > Entries::Kernel.few() as u128 {
                most
            } else {
                most.min((allowed / 32).isqrt().into())
            };
            format!("Allow {} or use at most about {most} samples", human_bytes(needed + needed / 10))
        }
    };
    Error::memory(
        format!("{k} components of {n} samples need {} beside the samples", human_bytes(needed)),
        format!("{} are allowed", human_bytes(u128::from(allowed))),
        action,
    )
}
