//! Is a kernel a Mercer kernel on this data: symmetric, and positive semi-definite.

use super::dual::{LOOK_PASSES, Negated, check_magnitude, lowest_eigenvalue};
use super::schedule::dense_bytes;
use crate::data::AnySamples;
use crate::eigen::{Davidson, Dense, Eigensolver, SolveOptions, lowest_ritz_value, rank_threshold};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage, stored_bytes};
use crate::kernel::{Kernel, KernelSpec};
use crate::progress::Watch;
use serde::Serialize;

/// Up to this many samples all eigenvalues are computed.
const ALL_EIGENVALUES: usize = 1000;
/// Beyond that, the smallest eigenvalue is found to this share of the largest.
pub(super) const RESOLUTION: f64 = 1e-8;
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

/// Where a matrix differs most from its transpose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asymmetry {
    pub(super) relative: f64,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) there: f64,
    pub(super) back: f64,
}

/// Relative asymmetry that rounding explains in the given precision.
pub(super) fn symmetry_allowance(x: &AnySamples) -> f64 {
    if x.precision() == "f32" { 1e-5 } else { 1e-10 }
}

/// Compares a given Gram matrix with its transpose.
pub(super) fn asymmetry(x: &AnySamples) -> Result<Asymmetry> {
    let (n, points) = (x.n_rows(), x.points());
    if x.n_cols() != n {
        return Err(Error::data(
            format!("a precomputed Gram matrix of {n} rows and {} columns", x.n_cols()),
            "it must be square, one row and one column for each sample",
            "Pass the n × n matrix of kernel values, or choose a kernel to compute it from rows",
        ));
    }
    let dense = points.to_dense::<f64>();
    let largest = dense.as_slice().iter().map(|v| v.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let mut worst = Asymmetry::default();
    for row in 0..n {
        for column in 0..row {
            let (there, back) = (dense[(row, column)], dense[(column, row)]);
            let relative = (there - back).abs() / largest;
            if relative > worst.relative {
                worst = Asymmetry { relative, row, column, there, back };
            }
        }
    }
    Ok(worst)
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
    let gram = engine.gram(&similarity, x, storage)?;
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

/// Square and symmetric up to rounding in the given precision.
pub(super) fn check_gram_matrix(x: &AnySamples) -> Result<()> {
    let report = asymmetry(x)?;
    if report.relative <= symmetry_allowance(x) {
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
