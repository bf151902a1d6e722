//! From distances to coordinates: classical scaling of all rows, or of landmarks with the rest placed by them.

use crate::eigen::{
    Davidson, Dense, EigenPairs, Eigensolver, Entries, SolveOptions, SolveStats, fix_signs, rank_threshold,
};
use crate::error::{Error, Result};
use crate::linalg::{
    Factor, Onto, column_means, combine, gemm, inner, shift_columns, symmetric_eigen, symmetric_eigenvalues,
};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows of the matrix that one thread squares at a time.
const HEIGHT: usize = 64;
/// Rows that stand for all when the share of negative eigenvalues is estimated.
const SAMPLED_ROWS: usize = 512;
/// Passes after which the iteration gives up.
const MAX_PASSES: usize = 200;

/// How far distances are from those between points of a space, (G8).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NegativeShare {
    /// Σ|λ⁻| / Σ|λ| over the eigenvalues of −½HD²H: 0 when points of some space have exactly these distances.
    pub share: f64,
    /// Rows from which it was estimated; `None` when all eigenvalues are known.
    pub sampled_rows: Option<usize>,
}

impl NegativeShare {
    fn of(values: &[f64], sampled_rows: Option<usize>) -> Self {
        let all: f64 = values.iter().map(|v| v.abs()).sum();
        let negative: f64 = values.iter().map(|v| (-v).max(0.0)).sum();
        Self { share: if all > 0.0 { negative / all } else { 0.0 }, sampled_rows }
    }
}

/// What is asked of an embedding.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) n_components: usize,
    pub(super) tolerance: f64,
    pub(super) seed: u64,
    pub(super) watch: &'a Watch,
}

/// Coordinates, and how they follow from −½ squared distances: y = −½δ²·A − c.
pub(super) struct Coordinates {
    pub(super) coefficients: Matrix<f64>,
    pub(super) offset: Vec<f64>,
    pub(super) scores: Matrix<f64>,
    /// nλ: n times the variances along the axes.
    pub(super) eigenvalues: Vec<f64>,
    /// ‖Bv − λv‖/λ; empty for landmarks.
    pub(super) residuals: Vec<f64>,
    pub(super) negative: NegativeShare,
    pub(super) stats: SolveStats,
}

/// −½HD²H as an operator; D² is formed a few rows at a time, (G7).
struct CentredSquares<'a> {
    distances: &'a Matrix<f64>,
    row_means: Vec<f64>,
    grand_mean: f64,
    norm: f64,
}

impl<'a> CentredSquares<'a> {
    fn new(distances: &'a Matrix<f64>) -> Self {
        let n = distances.n_rows();
        let sums: Vec<(f64, f64)> = (0..n)
            .into_par_iter()
            .map(|i| {
                let (mut sum, mut squares) = (0.0, 0.0);
                for d in distances.row(i) {
                    let value = -0.5 * d * d;
                    sum += value;
                    squares += value * value;
                }
                (sum / n as f64, squares)
            })
            .collect();
        let row_means: Vec<f64> = sums.iter().map(|(mean, _)| *mean).collect();
        let grand_mean = row_means.iter().sum::<f64>() / n.max(1) as f64;
        let norm = sums.iter().map(|(_, squares)| squares).sum::<f64>().sqrt();
        Self { distances, row_means, grand_mean, norm }
    }

    /// Refuses distances whose fourth powers, or sums of them, are beyond double precision.
    fn check_size(&self) -> Result<()> {
        if self.norm.is_finite() && (self.norm * self.norm).is_finite() {
            return Ok(());
        }
        Err(Error::data(
            "distances of extreme size",
            "sums of their fourth powers must stay below 1e308",
            "Scale the data down",
        ))
    }
}

impl LinearOperator for CentredSquares<'_> {
    fn n_rows(&self) -> usize {
        self.distances.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.distances.n_cols()
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let n = self.n_rows();
        // HKH·B = KB − 1(rᵀB) − r(1ᵀB) + g·1(1ᵀB).
        let both = Matrix::from_fn(n, 2, |i, j| if j == 0 { 1.0 } else { self.row_means[i] });
        let along = inner(both.view(), block);
        out.row_chunks(HEIGHT).into_par_iter().enumerate().try_for_each(|(piece, mut into)| {
            watch.check()?;
            let from = piece * HEIGHT;
            let mut squares = self.distances.view().rows(from..from + into.n_rows()).to_matrix();
            squares.as_mut_slice().iter_mut().for_each(|d| *d = -0.5 * *d * *d);
            gemm(into.reborrow(), Onto::Replace, 1.0, Factor::Plain(squares.view()), Factor::Plain(block));
            for i in 0..into.n_rows() {
                let pull = self.grand_mean - self.row_means[from + i];
                let row = into.row_mut(i).iter_mut().enumerate();
                row.for_each(|(j, o)| *o += pull * along[(0, j)] - along[(1, j)]);
            }
            Ok(())
        })
    }

    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        watch.check()?;
        Ok(centred_squares(self.distances, &self.row_means, self.grand_mean))
    }
}

fn centred_squares(d: &Matrix<f64>, row_means: &[f64], grand_mean: f64) -> Matrix<f64> {
    let n = d.n_rows();
    // Both halves are averaged: distances along paths may differ in the last digit with the direction.
    Matrix::from_fn(n, n, |i, j| {
        -0.25 * (d[(i, j)] * d[(i, j)] + d[(j, i)] * d[(j, i)]) - row_means[i] - row_means[j] + grand_mean
    })
}

/// Classical scaling of all rows, (G7), (G9): B = −½HD²H, B v = λv, scores √λ·v.
///
/// Cost: all eigenpairs of n × n up to 512 rows; above that a few passes of 2n²b flops over the distances.
///
/// # Errors
/// When no eigenvalue is positive, the tolerance is not met, or the work is cancelled.
pub(super) fn embed_all(distances: &Matrix<f64>, wanted: Wanted<'_>) -> Result<Coordinates> {
    let n = distances.n_rows();
    let operator = CentredSquares::new(distances);
    operator.check_size()?;
    let pairs = largest(&operator, wanted)?;
    let negative = match &pairs.all {
        Some(all) => NegativeShare::of(all, None),
        None => estimated_negative(distances, wanted.seed)?,
    };
    let EigenPairs { mut vectors, values, residuals, stats, .. } = pairs;
    let threshold =
        rank_threshold(n, values.first().copied().unwrap_or(0.0), operator.norm, f64::EPSILON / 2.0);
    let k = values.iter().take_while(|value| **value > threshold).count();
    if k == 0 {
        return Err(no_extent(&values, threshold));
    }
    vectors = vectors.into_first_columns(k);
    fix_signs(&mut vectors);
    let means = column_means(vectors.view());
    shift_columns(vectors.view_mut(), &means.iter().map(|m| -m).collect::<Vec<_>>());
    let scores = Matrix::from_fn(n, k, |i, j| vectors[(i, j)] * values[j].sqrt());
    let coefficients = Matrix::from_fn(n, k, |i, j| vectors[(i, j)] / values[j].sqrt());
    let offset = (0..k)
        .map(|j| operator.row_means.iter().enumerate().map(|(i, r)| r * coefficients[(i, j)]).sum())
        .collect();
    let residuals = residuals.iter().zip(&values).take(k).map(|(r, v)| r / v).collect();
    let eigenvalues = values[..k].to_vec();
    Ok(Coordinates { coefficients, offset, scores, eigenvalues, residuals, negative, stats })
}

fn largest(operator: &CentredSquares<'_>, wanted: Wanted<'_>) -> Result<EigenPairs> {
    let n = operator.n_rows();
    let ones = Matrix::from_fn(n, 1, |_, _| (n as f64).sqrt().recip());
    let direct = Entries::Between.direct(n, wanted.n_components).is_some();
    let start = if !direct { near_start(operator.distances, wanted)? } else { None };
    let how = SolveOptions {
        deflate: Some(ones.view()),
        start: start.as_ref().map(Matrix::view),
        sketch: None,
        tolerance: wanted.tolerance,
        norm_bound: operator.norm,
        max_passes: MAX_PASSES,
        verify: true,
        basis: false,
        seed: wanted.seed,
        watch: wanted.watch,
    };
    let k = wanted.n_components.min(n.saturating_sub(1));
    let solver: &dyn Eigensolver = if direct { &Dense { by_magnitude: false } } else { &Davidson };
    solver.largest(operator, k, &how)
}

/// Columns that are nearly right: coordinates by landmarks. They save passes and decide nothing.
fn near_start(distances: &Matrix<f64>, wanted: Wanted<'_>) -> Result<Option<Matrix<f64>>> {
    let (n, count) = (distances.n_rows(), 4 * wanted.n_components + 96);
    let landmarks = Stream::new(wanted.seed, Purpose::Landmarks).rows(n, count);
    if landmarks.len() >= n {
        return Ok(None);
    }
    let few = Matrix::from_fn(n, landmarks.len(), |i, l| distances[(i, landmarks[l])]);
    let more = Wanted { n_components: (2 * wanted.n_components).max(12), ..wanted };
    Ok(embed_landmarks(&few, &landmarks, more).ok().map(|found| found.scores))
}

fn no_extent(values: &[f64], threshold: f64) -> Error {
    Error::no_variance(
        format!("distances whose largest eigenvalue is {:.1e}", values.first().unwrap_or(&0.0)),
        format!("at least one must exceed rounding ({threshold:.1e})"),
        "All rows lie at the same place: check for constant columns",
    )
}

/// The share of negative eigenvalues among those of some rows' distances.
fn estimated_negative(distances: &Matrix<f64>, seed: u64) -> Result<NegativeShare> {
    let rows = Stream::new(seed, Purpose::Probes).rows(distances.n_rows(), SAMPLED_ROWS);
    let few = Matrix::from_fn(rows.len(), rows.len(), |i, j| distances[(rows[i], rows[j])]);
    let operator = CentredSquares::new(&few);
    let values = symmetric_eigenvalues(&centred_squares(&few, &operator.row_means, operator.grand_mean))?;
    Ok(NegativeShare::of(&values, Some(rows.len())))
}

/// Classical scaling of L landmarks, every row placed by its distances to them, then turned to the principal axes of all
/// rows, (G11), (G12). `distances` has a row for each row and a column for each landmark.
///
/// Cost: 9L³ + 2nLk flops; memory beside the distances n·k.
///
/// # Errors
/// As [`embed_all`].
pub(super) fn embed_landmarks(
    distances: &Matrix<f64>,
    landmarks: &[usize],
    wanted: Wanted<'_>,
) -> Result<Coordinates> {
    let (n, count) = (distances.n_rows(), landmarks.len());
    let between = Matrix::from_fn(count, count, |i, j| distances[(landmarks[i], j)]);
    let operator = CentredSquares::new(&between);
    operator.check_size()?;
    wanted.watch.step("landmarks", 0, 1)?;
    let (values, vectors) =
        symmetric_eigen(&centred_squares(&between, &operator.row_means, operator.grand_mean))?;
    let threshold =
        rank_threshold(count, values.first().copied().unwrap_or(0.0), operator.norm, f64::EPSILON / 2.0);
    let k = values.iter().take(wanted.n_components).take_while(|value| **value > threshold).count();
    if k == 0 {
        return Err(no_extent(&values, threshold));
    }
    let first = Matrix::from_fn(count, k, |i, j| vectors[(i, j)] / values[j].sqrt());
    let mut scores = Matrix::zeros(n, k);
    scores.view_mut().row_chunks(HEIGHT).into_par_iter().enumerate().try_for_each(|(piece, into)| {
        wanted.watch.check()?;
        let from = piece * HEIGHT;
        let mut squares = distances.view().rows(from..from + into.n_rows()).to_matrix();
        squares.as_mut_slice().iter_mut().for_each(|d| *d = -0.5 * *d * *d);
        gemm(into, Onto::Replace, 1.0, Factor::Plain(squares.view()), Factor::Plain(first.view()));
        Ok::<(), Error>(())
    })?;
    let means = column_means(scores.view());
    shift_columns(scores.view_mut(), &means.iter().map(|m| -m).collect::<Vec<_>>());
    let (spread, turn) = symmetric_eigen(&inner(scores.view(), scores.view()))?;
    let mut coefficients = Matrix::zeros(count, k);
    combine(coefficients.view_mut(), Onto::Replace, 1.0, first.view(), turn.view());
    let turn = signed(&turn, &mut coefficients);
    let mut turned = Matrix::zeros(n, k);
    combine(turned.view_mut(), Onto::Replace, 1.0, scores.view(), turn.view());
    let offset = (0..k).map(|j| (0..k).map(|i| means[i] * turn[(i, j)]).sum()).collect();
    Ok(Coordinates {
        coefficients,
        offset,
        scores: turned,
        eigenvalues: spread,
        residuals: Vec::new(),
        negative: NegativeShare::of(&values, None),
        stats: SolveStats { iterations: 1, passes: 1, products: k },
    })
}

/// Fixes the signs of the coefficients and gives the turn the same ones.
fn signed(turn: &Matrix<f64>, coefficients: &mut Matrix<f64>) -> Matrix<f64> {
    let before = coefficients.clone();
    fix_signs(coefficients);
    let same = |j: usize| before.column(j).iter().zip(coefficients.column(j)).all(|(a, b)| *a == b);
    let signs: Vec<f64> = (0..turn.n_cols()).map(|j| if same(j) { 1.0 } else { -1.0 }).collect();
    Matrix::from_fn(turn.n_rows(), turn.n_cols(), |i, j| turn[(i, j)] * signs[j])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: usize) -> Matrix<f64> {
        let mut random = Stream::new(3, Purpose::Synthetic);
        Matrix::from_fn(n, 3, |_, j| random.gaussian() * [3.0, 2.0, 1.0][j])
    }

    fn distances(x: &Matrix<f64>, to: &[usize]) -> Matrix<f64> {
        Matrix::from_fn(x.n_rows(), to.len(), |i, l| {
            crate::graph::Metric::Euclidean.distance(x.row(i), x.row(to[l]))
        })
    }

    fn wanted(n_components: usize, watch: &Watch) -> Wanted<'_> {
        Wanted { n_components, tolerance: 1e-10, seed: 0, watch }
    }

    /// Distances between points come back, whichever way they were embedded.
    #[test]
    fn scaling_gives_back_the_distances_between_points() {
        let watch = Watch::default();
        for n in [40, 700] {
            let x = points(n);
            let all: Vec<usize> = (0..n).collect();
            let d = distances(&x, &all);
            let landmarks: Vec<usize> = (0..n).step_by(7).collect();
            let few = distances(&x, &landmarks);
            let whole = embed_all(&d, wanted(3, &watch)).unwrap();
            let placed = embed_landmarks(&few, &landmarks, wanted(3, &watch)).unwrap();
            // Squared distances lose n·eps·‖D²‖ at most; what is compared is of size 10.
            for found in [&whole.scores, &placed.scores] {
                let back = distances(found, &all);
                let worst = back.as_slice().iter().zip(d.as_slice()).map(|(a, b)| (a - b).abs());
                assert!(worst.fold(0.0, f64::max) < 1e-9, "{n}");
            }
            let same = whole.eigenvalues.iter().zip(&placed.eigenvalues);
            assert!(same.into_iter().all(|(a, b)| (a - b).abs() < 1e-8 * a), "{:?}", placed.eigenvalues);
            assert!(whole.negative.share < 1e-9 && placed.negative.share < 1e-9);
            assert!(whole.residuals.iter().all(|r| *r < 1e-9));
            // The line y = −½δ²·A − c gives the scores again.
            let squares = Matrix::from_fn(n, n, |i, j| -0.5 * d[(i, j)] * d[(i, j)]);
            let mut line = Matrix::zeros(n, 3);
            combine(line.view_mut(), Onto::Replace, 1.0, squares.view(), whole.coefficients.view());
            for i in 0..n {
                for j in 0..3 {
                    assert!((line[(i, j)] - whole.offset[j] - whole.scores[(i, j)]).abs() < 1e-8);
                }
            }
        }
    }

    #[test]
    fn distances_on_a_circle_are_not_those_of_a_space() {
        let n = 200;
        let d = Matrix::from_fn(n, n, |i, j| i.abs_diff(j).min(n - i.abs_diff(j)) as f64);
        let watch = Watch::default();
        let found = embed_all(&d, wanted(2, &watch)).unwrap();
        // Eigenvalues of −½d² on a circle alternate as 1/k²: the negative ones are a quarter of all magnitudes.
        assert!((found.negative.share - 0.25).abs() < 0.01, "{:?}", found.negative);
        assert!(embed_all(&Matrix::zeros(5, 5), wanted(2, &watch)).is_err());
    }
}
