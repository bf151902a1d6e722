//! From sums over rows to leading axes: by the covariance, the triangle, the Gram matrix, a sketch, or passes over rows.

mod directions;
mod passes;
mod unit;

pub(crate) use directions::of_directions;
use passes::Seen;
use unit::Unit;

use crate::data::CentredRows;
use crate::eigen::leading_eigenpairs;
use crate::eigen::{
    Certificate, Davidson, Dense, EigenPairs, Eigensolver, Entries, Interval, Sizes, SolveOptions,
    SolveStats, Whole, fix_signs, rank_threshold,
};
use crate::error::{Error, Result};
use crate::linalg::{column_norms, right_singular};
use crate::matrix::Matrix;
use crate::moments::{Partial, Triangle};
use crate::operator::IDENTITY_COLUMNS;
use crate::progress::Watch;
use crate::rows::{ColumnMoments, Rows, Weighted, scales};

const U: f64 = f64::EPSILON / 2.0;
/// Error of the products of a solver's basis, in units of the bound on the rounding of eigenvalues.
const PRODUCT: f64 = 8.0;
/// Passes over rows after which the iteration gives up.
pub(super) const MOST_PASSES: usize = 200;

/// Leading axes, before they become a model.
#[derive(Clone, Debug)]
pub(crate) struct Axes {
    /// Rows seen.
    pub(crate) count: usize,
    /// Sum of their weights: the n that variances are divided by.
    pub(crate) weight: f64,
    pub(crate) mean: Vec<f64>,
    /// Diagonal of D, when columns were standardised.
    pub(crate) scale: Option<Vec<f64>>,
    /// Axes as columns, signs fixed.
    pub(crate) vectors: Matrix<f64>,
    /// nλ of the axes.
    pub(crate) values: Vec<f64>,
    /// All nλ that are known, those of the axes first.
    pub(crate) spectrum: Vec<f64>,
    /// Whether no other direction has variance.
    pub(crate) is_whole: bool,
    /// tr M₂ (of standardised columns).
    pub(crate) trace: f64,
    pub(crate) certificate: Certificate,
    pub(crate) stats: SolveStats,
}

/// What is wanted of the axes, and what the entries of the rows are like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) k: usize,
    pub(crate) standardized: bool,
    /// Whether sums end in Σxy − n·x̄ȳ, as they do over sparse rows.
    pub(crate) sparse: bool,
    /// Whether entries were rounded to single precision.
    pub(crate) single: bool,
}

/// Relative rounding of an entry in single precision.
const SINGLE: f64 = 1.0 / (1u64 << 24) as f64;

/// What all routes know before they solve.
struct Known {
    wanted: Wanted,
    count: usize,
    weight: f64,
    mean: Vec<f64>,
    scale: Option<Vec<f64>>,
    /// Of the trace, and of all that is found from it.
    unit: Unit,
    trace: f64,
}

impl Known {
    /// What rounding before any sum adds to eigenvalues, in standardised columns: that of the mean, (4u‖x̄‖)²n, and that of entries
    /// in single precision, u₃₂²Σ‖x‖².
    fn of_entries(&self) -> f64 {
        let single = if self.wanted.single { SINGLE * SINGLE } else { 0.0 };
        ((4.0 * U).powi(2) + single) * self.of_means() + single * self.trace
    }

    /// n‖D⁻¹x̄‖².
    fn of_means(&self) -> f64 {
        let unit = self.unit.rows();
        let size = |j: usize| unit * self.mean[j] / self.scale.as_ref().map_or(1.0, |s| s[j]);
        self.weight * (0..self.mean.len()).map(|j| size(j).powi(2)).sum::<f64>()
    }

    /// As [`Known::of_entries`], and what sums over sparse rows lose: 8u·n‖D⁻¹x̄‖².
    fn of_sums(&self) -> f64 {
        self.of_entries() + if self.wanted.sparse { 8.0 * U * self.of_means() } else { 0.0 }
    }

    /// What the rounding of means does to an eigenvalue. Those of pieces of rows, of all rows and of their differences are off by a few
    /// u‖x̄‖ each, so that singular values of the centred rows are off by at most e = 16u√n‖D⁻¹x̄‖ (Weyl), and λ by 2√λ·e + e².
    fn of_shift(&self, value: f64) -> f64 {
        let error = 16.0 * U * self.of_means().sqrt();
        (2.0 * value.max(0.0).sqrt() + error) * error
    }

    /// A bound on the rounding of eigenvalues found from sums of squares.
    fn of_squares(&self, largest: f64) -> f64 {
        32.0 * f64::EPSILON * self.trace + self.of_sums() + self.of_shift(largest)
    }

    /// A bound on the rounding of the trace.
    fn of_trace(&self) -> f64 {
        32.0 * f64::EPSILON * self.trace + self.of_shift(self.trace)
    }

    /// Refuses fewer than two rows, and columns to standardize whose squares underflow.
    fn refuse_unusable(&self) -> Result<()> {
        unit::refuse_tiny_columns(&self.mean, self.scale.as_deref())?;
        if self.count < 2 {
            return Err(Error::data(
                if self.count == 1 { "1 row".into() } else { "no row".to_string() },
                "centring leaves nothing of fewer than 2 rows",
                "Give more rows",
            ));
        }
        if self.weight <= 0.0 {
            return Err(Error::data(
                format!("{} rows whose weights are all 0", self.count),
                "some must count",
                "Give positive weights, or none",
            ));
        }
        Ok(())
    }

    /// The axes whose eigenvalue exceeds `threshold`.
    fn finish(
        self,
        mut pairs: EigenPairs,
        threshold: f64,
        rounding: f64,
        square: Option<f64>,
    ) -> Result<Axes> {
        let largest = pairs.values.first().copied().unwrap_or(0.0);
        let rank = pairs.values.iter().take_while(|v| **v > threshold).count();
        if rank == 0 {
            return Err(Error::no_variance(
                format!(
                    "rows whose largest variance is {:.1e}",
                    self.unit.given(largest.max(0.0)) / self.weight
                ),
                format!(
                    "at least one must exceed rounding ({:.1e})",
                    self.unit.given(threshold) / self.weight
                ),
                "All rows look the same: check for constant columns",
            ));
        }
        if rank < pairs.values.len() {
            pairs.next = Some(pairs.values[rank]);
        }
        pairs.values.truncate(rank);
        pairs.residuals.truncate(rank);
        let found = pairs.vectors.n_cols();
        let mut vectors = std::mem::take(&mut pairs.vectors).into_first_columns(rank);
        fix_signs(&mut vectors);
        let trace_error = self.of_trace();
        let trace = self.trace + trace_error;
        let norm = square.map_or(trace, f64::sqrt) + rounding;
        let sizes = Sizes { norm, trace: Some(trace), error: PRODUCT * rounding };
        let basis = pairs.basis.take();
        let at_most = |t: f64, limit: usize| {
            let count = basis.as_ref().and_then(|basis| basis.most_above(t, &sizes));
            count.is_some_and(|count| count <= limit)
        };
        let whole = Whole {
            trace: self.trace,
            trace_error,
            squared_norm: square,
            valid: true,
            at_most: Some(&at_most),
        };
        let certificate = Certificate::new(&pairs, rounding).bounded_by(&pairs, whole);
        let spectrum: Vec<f64> = match &pairs.all {
            Some(all) => all.iter().copied().take_while(|v| *v > threshold).collect(),
            None => pairs.values.clone(),
        };
        let is_whole = pairs.all.is_some() || rank < found;
        Ok(self.unit.back(Axes {
            count: self.count,
            weight: self.weight,
            mean: self.mean,
            scale: self.scale,
            trace: self.trace,
            vectors,
            values: pairs.values,
            spectrum,
            is_whole,
            certificate,
            stats: pairs.stats,
        }))
    }
}

/// Widens shares of a trace that is itself rounded.
fn widen_shares(certificate: &mut Certificate, trace: f64, rounding: f64) {
    if let Some(explained) = &mut certificate.bounds.explained {
        explained.low *= trace / (trace + rounding);
        let least = trace - rounding;
        explained.high = if least > 0.0 { (explained.high * trace / least).min(1.0) } else { 1.0 };
    }
}

/// Eigenvectors of M₂, (P3).
///
/// Cost: 9d³ flops when all are wanted or columns are few, about 100·d²k otherwise.
pub(crate) fn of_covariance(sum: &Partial, wanted: Wanted, watch: &Watch) -> Result<Axes> {
    let Wanted { k, standardized, .. } = wanted;
    let d = sum.dimension();
    let diagonal = (0..d).map(|j| sum.scatter()[(j, j)]);
    let scale = standardized.then(|| scales(sum.mean(), diagonal, sum.weight()));
    let scaled = scale.as_ref().map(|s| {
        let entry = |i: usize, j: usize| sum.scatter()[(i, j)] / (s[i] * s[j]);
        Matrix::from_fn(d, d, entry)
    });
    let scatter = scaled.as_ref().unwrap_or(sum.scatter());
    let trace = (0..d).map(|j| scatter[(j, j)]).sum();
    let unit = Unit::of(trace, sum.mean())?;
    let in_unit = unit.changes().then(|| unit.matrix(scatter));
    let scatter = in_unit.as_ref().unwrap_or(scatter);
    let trace = trace * unit.squares();
    let known = Known {
        wanted,
        count: sum.count() as usize,
        weight: sum.weight(),
        mean: sum.mean().to_vec(),
        scale,
        unit,
        trace,
    };
    known.refuse_unusable()?;
    let (pairs, norm) = leading_eigenpairs(scatter, k, watch)?;
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let (threshold, rounding) =
        (rank_threshold(d, largest, trace, U) + known.of_sums(), known.of_squares(largest));
    known.finish(pairs, threshold, rounding, Some(norm * norm))
}

/// Right singular vectors of R, (P10), (P11).
///
/// Cost: about 20·d³ flops.
pub(crate) fn of_triangle(sum: &Triangle, wanted: Wanted) -> Result<Axes> {
    let Wanted { k, standardized, .. } = wanted;
    let d = sum.mean().len();
    let mut r = sum.r().clone();
    let squares: Vec<f64> = column_norms(r.view()).iter().map(|x| x * x).collect();
    let scale = standardized.then(|| scales(sum.mean(), squares.iter().copied(), sum.weight()));
    if let Some(scale) = &scale {
        let inverse: Vec<f64> = scale.iter().map(|s| 1.0 / s).collect();
        crate::linalg::scale_columns(r.view_mut(), &inverse);
    }
    let unit = Unit::of(r.as_slice().iter().map(|x| x * x).sum(), sum.mean())?;
    r.as_mut_slice().iter_mut().for_each(|x| *x *= unit.rows());
    let trace: f64 = r.as_slice().iter().map(|x| x * x).sum();
    let known = Known {
        wanted,
        count: sum.count() as usize,
        weight: sum.weight(),
        mean: sum.mean().to_vec(),
        scale,
        unit,
        trace,
    };
    known.refuse_unusable()?;
    let (singular, vectors) = right_singular(r.view())?;
    let largest = singular.first().copied().unwrap_or(0.0);
    // Bounds on the absolute error of every singular value.
    let solved = 4.0 * U * ((d as f64).sqrt() * largest + trace.sqrt());
    let error = solved + known.of_entries().sqrt();
    // What is stated allows the decomposition four times as much as what is taken for rounding.
    let stated = error + 3.0 * solved;
    let all: Vec<f64> = singular.iter().map(|s| s * s).collect();
    let kept = k.min(all.len());
    let pairs = EigenPairs {
        values: all[..kept].to_vec(),
        vectors: vectors.view().first_columns(kept).to_matrix(),
        residuals: vec![stated * largest; kept],
        next: all.get(kept).copied(),
        all: Some(all),
        basis: None,
        stats: SolveStats { iterations: 1, passes: 1, products: d },
    };
    let squared_norm = pairs.all.as_ref().map(|all| all.iter().map(|v| v * v).sum());
    // λ = σ² moves by at most 2σe + e².
    let mut axes = known.finish(pairs, error * error, (2.0 * largest + stated) * stated, squared_norm)?;
    let (certificate, stated) = (&mut axes.certificate, stated / unit.rows());
    for (j, value) in axes.values.iter().enumerate() {
        let root = value.sqrt();
        let (low, high) = ((root - stated).max(0.0).powi(2), (root + stated).powi(2));
        certificate.intervals[j] = Interval { low, high };
        certificate.residuals[j] = (high - low) / (2.0 * value);
    }
    axes.certificate = axes.certificate.holding(&axes.values);
    Ok(axes)
}

/// Eigenvectors of AAᵀ and u = Aᵀv/√(nλ), (P8). `gram` is AAᵀ.
///
/// Cost: 9n³ + 2·n·d·k flops.
pub(crate) fn of_gram(
    data: Weighted<'_>,
    gram: &Matrix<f64>,
    columns: ColumnMoments,
    wanted: Wanted,
    watch: &Watch,
) -> Result<Axes> {
    let Wanted { k, standardized, .. } = wanted;
    let (n, d) = (data.n_rows(), data.n_cols());
    let scale = standardized.then(|| scales(&columns.mean, columns.squares.iter().copied(), columns.weight));
    let trace = (0..n).map(|i| gram[(i, i)]).sum();
    let ColumnMoments { count, weight, mean, .. } = columns;
    let unit = Unit::of(trace, &mean)?;
    let in_unit = unit.changes().then(|| unit.matrix(gram));
    let gram = in_unit.as_ref().unwrap_or(gram);
    let trace = trace * unit.squares();
    let known = Known { wanted, count, weight, mean, scale, unit, trace };
    known.refuse_unusable()?;
    // Centred rows have at most n − 1 directions.
    let (mut pairs, norm) = leading_eigenpairs(gram, k.min(n), watch)?;
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let (threshold, rounding) =
        (rank_threshold(n, largest, trace, U) + known.of_sums(), known.of_squares(largest));
    let rank = pairs.values.iter().take_while(|v| **v > threshold).count();
    let mut over_rows = pairs.vectors.view().first_columns(rank).to_matrix();
    for i in 0..n {
        let root = data.weights.map_or(1.0, |w| w[i].sqrt());
        let mut rows = over_rows.view_mut();
        rows.row_mut(i).iter_mut().zip(&pairs.values).for_each(|(v, value)| *v *= root / value.sqrt());
    }
    let mut vectors = Matrix::zeros(d, rank);
    CentredRows::new(data.rows, &known.mean).add_transposed_times(over_rows.view(), vectors.view_mut());
    if let Some(scale) = &known.scale {
        let mut rows = vectors.view_mut();
        scale.iter().enumerate().for_each(|(j, s)| rows.row_mut(j).iter_mut().for_each(|x| *x /= s));
    }
    normalise(&mut vectors);
    let truncated = rank < pairs.values.len();
    if truncated {
        pairs.next = Some(pairs.values[rank]);
        pairs.values.truncate(rank);
        pairs.residuals.truncate(rank);
    }
    pairs.vectors = vectors;
    let mut axes = known.finish(pairs, threshold, rounding, Some(norm * norm))?;
    axes.is_whole |= truncated;
    Ok(axes)
}

/// Columns of unit length.
fn normalise(vectors: &mut Matrix<f64>) {
    let inverse: Vec<f64> =
        column_norms(vectors.view()).iter().map(|x| 1.0 / x.max(f64::MIN_POSITIVE)).collect();
    crate::linalg::scale_columns(vectors.view_mut(), &inverse);
}

/// How an iteration over rows is to be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iteration<'a> {
    pub(crate) wanted: Wanted,
    pub(crate) tolerance: f64,
    pub(crate) seed: u64,
    /// Rows in hand at a time, where they come a piece at a time.
    pub(crate) chunk_rows: usize,
    pub(crate) watch: &'a Watch,
}

/// Axes by block Krylov iteration from a random block, (P12): a pass over the rows multiplies a block by M₂.
pub(crate) fn of_passes(rows: &dyn Rows, columns: ColumnMoments, how: Iteration<'_>) -> Result<Axes> {
    let wanted = how.wanted;
    let scale =
        wanted.standardized.then(|| scales(&columns.mean, columns.squares.iter().copied(), columns.weight));
    let trace = match &scale {
        None => columns.squares.iter().sum(),
        Some(scale) => columns.squares.iter().zip(scale).map(|(square, s)| square / (s * s)).sum(),
    };
    let ColumnMoments { count, weight, mean, .. } = columns;
    let unit = Unit::of(trace, &mean)?;
    let trace = trace * unit.squares();
    let known = Known { wanted, count, weight, mean, scale, unit, trace };
    known.refuse_unusable()?;
    let d = known.mean.len();
    let inverse: Option<Vec<f64>> = known.scale.as_ref().map(|s| s.iter().map(|x| 1.0 / x).collect());
    let seen = Seen {
        rows,
        chunk_rows: how.chunk_rows,
        mean: &known.mean,
        inverse: inverse.as_deref(),
        unit: unit.squares(),
    };
    let options = SolveOptions {
        deflate: None,
        start: None,
        sketch: None,
        tolerance: how.tolerance,
        norm_bound: trace,
        max_passes: MOST_PASSES,
        verify: true,
        basis: true,
        seed: how.seed,
        watch: how.watch,
    };
    let k = wanted.k.min(d).min(known.count - 1);
    let pairs = if Entries::Passes.direct(d, k).is_some() {
        let mut pairs = Dense { by_magnitude: false }.largest(&seen, k, &options)?;
        pairs.stats.passes = d.div_ceil(IDENTITY_COLUMNS) + 1;
        pairs
    } else {
        Davidson.largest(&seen, k, &options)?
    };
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let (threshold, rounding) =
        (rank_threshold(d, largest, trace, U) + known.of_sums(), known.of_squares(largest));
    known.finish(pairs, threshold, rounding, None)
}

impl Axes {
    /// Keeps the first k axes.
    pub(crate) fn truncate(&mut self, k: usize) {
        let k = k.clamp(1, self.values.len());
        self.values.truncate(k);
        self.vectors = self.vectors.view().first_columns(k).to_matrix();
        let certificate = &mut self.certificate;
        certificate.residuals.truncate(k);
        certificate.intervals.truncate(k);
        certificate.bounds.n_certified = certificate.bounds.n_certified.min(k);
        certificate.bounds.missed = None;
        certificate.bounds.explained = None;
        certificate.ties.retain(|(first, _)| *first < k);
        certificate.ties.iter_mut().for_each(|(_, last)| *last = (*last).min(k));
    }
}
