//! Is a kernel a Mercer kernel on this data: symmetric, and positive semi-definite.

use crate::data::AnySamples;
use crate::eigen::{
    Davidson, Dense, Eigensolver, LOOK_PASSES, Negated, RESOLUTION, SolveOptions, dense_bytes,
    lowest_eigenvalue, lowest_ritz_value, rank_threshold,
};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage, asymmetry, check_magnitude, stored_bytes, symmetry_allowance};
use crate::kernel::{Kernel, KernelSpec};
use crate::progress::Watch;
use crate::rows::in_memory;
use serde::Serialize;

/// Up to this many samples all eigenvalues are computed.
const ALL_EIGENVALUES: usize = 1000;
/// Bytes used at most when no limit is given.
const MEMORY: u64 = 1 << 31;

/// What the check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Symmetric and positive semi-definite up to rounding on this data.
    Valid,
    /// k(x,y) and k(y,x) differ.
    NotSymmetric,
    /// An eigenvalue is negative beyond rounding.
    Indefinite,
}

/// The Mercer check of a kernel on a data set.
#[derive(Clone, Debug, Serialize)]
pub struct MercerReport {
    /// The verdict.
    pub verdict: Verdict,
    /// Largest |k(x,y) − k(y,x)| relative to the largest |k|.
    pub asymmetry: f64,
    /// Largest eigenvalue of K.
    pub largest: f64,
    /// Smallest eigenvalue of K; when `exact` is false, to three digits or to `rounding`, whichever is coarser.
    pub smallest: f64,
    /// Eigenvalues of magnitude up to this count as zero: rounding, or 1e-8 of the largest when `exact` is false.
    pub rounding: f64,
    /// Number of negative eigenvalues beyond rounding, when all were computed.
    pub n_negative: Option<usize>,
    /// Whether all eigenvalues were computed.
    pub exact: bool,
    /// Whether theory says that the kernel is positive semi-definite on every data set.
    pub known_valid: Option<bool>,
}

impl MercerReport {
    /// The verdict in one sentence.
    pub fn sentence(&self) -> String {
        match self.verdict {
            Verdict::Valid if self.exact => format!(
                "valid on this data: symmetric, smallest eigenvalue {:.6e} is not negative beyond rounding ({:.1e})",
                self.smallest, self.rounding
            ),
            Verdict::Valid => format!(
                "valid on this data as far as can be seen: symmetric, and an iteration that resolves {:.1e} found no \
                 eigenvalue below zero",
                self.rounding
            ),
            Verdict::NotSymmetric => {
                format!(
                    "not a kernel: k(x,y) and k(y,x) differ by {:.1e} of the largest entry",
                    self.asymmetry
                )
            }
            Verdict::Indefinite => format!(
                "not a Mercer kernel on this data: the most negative eigenvalue is {:.6e} against a largest of {:.6e}; \
                 repair it with clip or flip",
                self.smallest, self.largest
            ),
        }
    }
}

/// Checks a kernel on data: is its matrix symmetric and positive semi-definite there.
///
/// `memory_limit` is in bytes; without one 2 GiB are used at most.
/// Cost: a dense decomposition up to 1000 samples; beyond, a few passes for the smallest eigenvalue alone.
///
/// # Errors
/// When the kernel cannot be computed on the data, and on cancellation.
pub fn mercer_check(
    spec: &KernelSpec,
    x: &AnySamples,
    engine: &dyn Engine,
    memory_limit: Option<u64>,
    seed: u64,
    watch: &Watch,
) -> Result<MercerReport> {
    engine.complete(|| check(spec, x, engine, memory_limit, seed, watch))
}

fn check(
    spec: &KernelSpec,
    x: &AnySamples,
    engine: &dyn Engine,
    memory_limit: Option<u64>,
    seed: u64,
    watch: &Watch,
) -> Result<MercerReport> {
    x.points().check()?;
    if x.n_rows() == 0 {
        return Err(Error::data("0 samples", "a check needs at least one", "Give more rows"));
    }
    let (similarity, asymmetry) = if spec.is_precomputed() {
        (Similarity::Precomputed, asymmetry(x)?.relative)
    } else {
        let kernel = Kernel::for_points_unchecked(spec, x.points(), seed)?;
        // A formula that is not symmetric has a verdict, not an error.
        if let Some(pair) = kernel.asymmetric_pair(x.points(), seed) {
            return Ok(not_symmetric(pair));
        }
        (Similarity::Kernel(kernel), 0.0)
    };
    let known_valid = spec.is_mercer();
    let n = x.n_rows();
    let allowed = u128::from(memory_limit.unwrap_or(MEMORY));
    let storage = if stored_bytes(n, 8) <= allowed { Storage::Stored } else { Storage::Tiled };
    let rows = in_memory(x, engine);
    let gram = rows.gram(&similarity, storage, false)?;
    let mut diagonal = vec![0.0; n];
    gram.diagonal(&mut diagonal)?;
    check_magnitude(diagonal.iter().map(|d| d.abs()).fold(0.0, f64::max), n)?;
    let summary = gram.summary(watch)?;
    let frobenius = summary.squared_norm.sqrt();
    let how = SolveOptions {
        deflate: None,
        start: None,
        sketch: None,
        tolerance: 1e-3,
        norm_bound: frobenius,
        max_passes: 300,
        verify: true,
        basis: false,
        seed,
        watch,
    };
    let exact = n <= ALL_EIGENVALUES && dense_bytes(n) <= allowed;
    let (largest, smallest, n_negative) = if exact {
        let pairs = Dense::default().largest(&*gram, n, &how)?;
        let rounding = rank_threshold(n, pairs.values[0], frobenius, gram.unit_roundoff());
        let negative = pairs.values.iter().filter(|v| **v < -rounding).count();
        (pairs.values[0], pairs.values[n - 1], Some(negative))
    } else {
        let largest = match Davidson.largest(&*gram, 1, &how) {
            Ok(pairs) => pairs.values[0],
            // A crowd at the upper end, as that of a matrix without positive eigenvalues: this is close to its edge.
            Err(Error::NotConverged { .. }) => -lowest_ritz_value(&Negated(&*gram), &how, LOOK_PASSES)?.0,
            Err(other) => return Err(other),
        };
        (largest, lowest_eigenvalue(&*gram, &how, RESOLUTION * largest.abs())?.0, None)
    };
    let rounding = rank_threshold(n, largest, frobenius, gram.unit_roundoff());
    let rounding = if exact { rounding } else { rounding.max(RESOLUTION * largest.abs()) };
    let verdict = if asymmetry > symmetry_allowance(x) {
        Verdict::NotSymmetric
    } else if smallest < -rounding * if exact { 10.0 } else { 1.0 } {
        Verdict::Indefinite
    } else {
        Verdict::Valid
    };
    Ok(MercerReport { verdict, asymmetry, largest, smallest, rounding, n_negative, exact, known_valid })
}

fn not_symmetric((there, back): (f64, f64)) -> MercerReport {
    MercerReport {
        verdict: Verdict::NotSymmetric,
        asymmetry: (there - back).abs() / there.abs().max(back.abs()),
        largest: f64::NAN,
        smallest: f64::NAN,
        rounding: 0.0,
        n_negative: None,
        exact: false,
        known_valid: Some(false),
    }
}
