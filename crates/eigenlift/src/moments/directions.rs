//! Mean and sketch of rows with very many columns: partial results of a few rows, with a bound.

use super::{center_weighted, merge_means};
use crate::error::{Error, Result};
use crate::linalg::{column_norms, combine_rows, left_singular};
use crate::matrix::Matrix;

const U: f64 = f64::EPSILON / 2.0;
/// Rounding of one cut, in units of u·√p for p rows: the triangle, its singular vectors, and the product with them.
const CUT_ROUNDING: f64 = 8.0;

/// What a set of rows leaves behind when d × d numbers are too many: number, weight, mean, the exact spread of each column, and
/// a sketch B of few rows with 0 ⪯ M₂ − BᵀB ⪯ ΔI, (P13), where M₂ = Σw(x − mean)(x − mean)ᵀ.
///
/// So every eigenvalue of M₂ lies between that of BᵀB and Δ more, and Δ ≤ Σ_{j>m} nλⱼ/(ℓ − m) for every m < ℓ: a quickly falling
/// spectrum is caught almost whole. Two of them merge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Directions {
    count: u64,
    weight: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
    rows: Matrix<f64>,
    slack: f64,
    cuts: u64,
    size: usize,
}

impl Directions {
    /// No rows yet, of `dimension` columns; the sketch is cut to `size` rows (ℓ, at least 1) when it has more than twice as many.
    pub(crate) fn empty(dimension: usize, size: usize) -> Self {
        Self {
            count: 0,
            weight: 0.0,
            mean: vec![0.0; dimension],
            squares: vec![0.0; dimension],
            rows: Matrix::zeros(0, dimension),
            slack: 0.0,
            cuts: 0,
            size: size.max(1),
        }
    }

    /// Sum of weights, Δ, number of cuts and ℓ.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        vec![self.weight, self.slack, self.cuts as f64, self.size as f64]
    }

    /// From sums that were found elsewhere; `numbers` as [`Directions::numbers`] gives them.
    pub(crate) fn from_parts(
        (count, numbers): (u64, &[f64]),
        mean: Vec<f64>,
        rows: Matrix<f64>,
        squares: Vec<f64>,
    ) -> Self {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0.0);
        let (weight, slack) = (number(0), number(1));
        let (cuts, size) = (number(2) as u64, (number(3) as usize).max(1));
        Self { count, weight, mean, squares, rows, slack, cuts, size }
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the weights of the rows; their number when they have none.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// Mean of the rows.
    pub(crate) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Σw(x − mean)² of each column, exact up to rounding: the diagonal of M₂.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// tr M₂, exact up to rounding.
    pub(crate) fn trace(&self) -> f64 {
        self.squares.iter().sum()
    }

    /// The sketch B, at most 2ℓ rows.
    pub(crate) fn rows(&self) -> &Matrix<f64> {
        &self.rows
    }

    /// Δ: M₂ − BᵀB ⪯ ΔI.
    pub(crate) fn slack(&self) -> f64 {
        self.slack
    }

    /// ℓ.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Bound on what rounding did to the columns of B and of what was cut off, relative to their lengths.
    pub(crate) fn rounding(&self) -> f64 {
        // Merging stacks up to 4ℓ + 1 rows.
        cut_rounding(4 * self.size + 1) * self.cuts as f64
    }

    /// Adds rows, each counted as often as its weight says; once without weights. Pieces of fewer than ℓ rows are centred on
    /// their own mean and stacked under B with the row √(ab/(a+b))·(m_b − m_a)ᵀ, (P9), (P13).
    ///
    /// Cost: about 12·ℓ·d flops a row; memory 5ℓ·d numbers.
    ///
    /// # Errors
    /// Rows of another number of columns, not one weight for each row, numbers that are not finite.
    pub(crate) fn add(&mut self, rows: Matrix<f64>, weights: Option<&[f64]>) -> Result<()> {
        self.check_columns(rows.n_cols())?;
        if let Some(weights) = weights.filter(|weights| weights.len() != rows.n_rows()) {
            return Err(Error::data(
                format!("{} weights for {} rows", weights.len(), rows.n_rows()),
                "each row needs one",
                "Give as many weights as rows",
            ));
        }
        let bad = |x: &f64| !(x.is_finite() && *x >= 0.0);
        if rows.as_slice().iter().any(|x| !x.is_finite()) || weights.is_some_and(|w| w.iter().any(bad)) {
            return Err(Error::data(
                "rows or weights that are not finite, or a negative weight",
                "every number must be finite, and weights not negative",
                "Leave those rows out",
            ));
        }
        let height = self.piece_rows();
        if rows.n_rows() <= height {
            return self.add_piece(rows, weights);
        }
        for from in (0..rows.n_rows()).step_by(height) {
            let to = (from + height).min(rows.n_rows());
            self.add_piece(rows.view().rows(from..to).to_matrix(), weights.map(|w| &w[from..to]))?;
        }
        Ok(())
    }

    /// Rows of a piece: with the row of the means they are ℓ.
    pub(crate) fn piece_rows(&self) -> usize {
        (self.size - 1).max(1)
    }

    fn add_piece(&mut self, mut rows: Matrix<f64>, weights: Option<&[f64]>) -> Result<()> {
        let count = rows.n_rows();
        if count == 0 {
            return Ok(());
        }
        let (mean, weight) = center_weighted(&mut rows, weights);
        let squares = column_norms(rows.view()).iter().map(|x| x * x).collect();
        // One row, centred on itself, is zero.
        let rows = if count == 1 { Matrix::zeros(0, self.mean.len()) } else { rows };
        let piece =
            Self { count: count as u64, weight, mean, squares, rows, slack: 0.0, cuts: 0, size: self.size };
        if self.rows.n_rows() + piece.rows.n_rows() + 1 > 2 * self.size {
            self.compress()?;
        }
        self.stack(piece)
    }

    /// Adds the rows of `other`: both sketches and the row of the means, cut back to ℓ rows when there are more than 2ℓ;
    /// Δ = Δ_a + Δ_b + t, (P13).
    ///
    /// Cost: as [`Directions::compress`], of up to 4ℓ rows.
    ///
    /// # Errors
    /// When the number of columns or ℓ differs, or numbers are not finite.
    pub(crate) fn merge(&mut self, other: &Directions) -> Result<()> {
        self.check_columns(other.mean.len())?;
        if other.size != self.size {
            return Err(Error::setting(
                format!("sketches of {} and {} rows", self.size, other.size),
                "both must have the same number",
                "Give both parts the same number of sketch rows",
            ));
        }
        if other.count == 0 {
            return Ok(());
        }
        let mut both = self.clone();
        both.stack(other.clone())?;
        if both.rows.n_rows() > 2 * both.size {
            both.compress()?;
        }
        *self = both;
        Ok(())
    }

    /// Chan's formulas (P9) for count, weight, mean and squares, and the stacked rows.
    fn stack(&mut self, other: Directions) -> Result<()> {
        let (a, b) = (self.weight, other.weight);
        let total = (a + b).max(f64::MIN_POSITIVE);
        let (between, d) = (a * b / total, self.mean.len());
        let delta: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(theirs, own)| theirs - own).collect();
        for (j, x) in delta.iter().enumerate() {
            self.squares[j] += other.squares[j] + x * x * between;
        }
        merge_means(&mut self.mean, &other.mean, (a, b));
        let mut height = self.rows.n_rows() + other.rows.n_rows();
        let mut stacked = std::mem::take(&mut self.rows).into_vec();
        stacked.extend_from_slice(other.rows.as_slice());
        if between > 0.0 {
            let root = between.sqrt();
            stacked.extend(delta.iter().map(|x| root * x));
            height += 1;
        }
        self.rows = Matrix::from_vec(stacked, height, d)?;
        self.count += other.count;
        self.weight = a + b;
        self.slack += other.slack;
        self.cuts += other.cuts;
        Ok(())
    }

    /// Cuts the sketch to ℓ rows, if it has more: B = Σσⱼpⱼqⱼᵀ becomes the rows √(σⱼ² − t)·qⱼᵀ, t = σ²_{ℓ+1}, and Δ grows by t,
    /// (P13). It may be done at any time; what is sent elsewhere is then smaller.
    ///
    /// Numerics: σ and p come from triangles, and √(σⱼ² − t)·qⱼᵀ = √(1 − t/σⱼ²)·pⱼᵀB. With factors between 0 and 1 and an orthogonal
    /// P, BᵀB can only fall, however inexact P is as singular vectors; that inexactness, ε = 8u√p·σ₁, is added to √t before Δ grows.
    ///
    /// Cost: 2·d·p² + 2·d·p·ℓ flops for p rows; memory p·d numbers more.
    ///
    /// # Errors
    /// When numbers are not finite.
    pub(crate) fn compress(&mut self) -> Result<()> {
        let p = self.rows.n_rows();
        if p <= self.size {
            return Ok(());
        }
        let (values, mut left) = left_singular(self.rows.view())?;
        let (first, cut) =
            (values.first().copied().unwrap_or(0.0), values.get(self.size).copied().unwrap_or(0.0));
        let kept = values.iter().take(self.size).take_while(|value| **value > cut).count();
        let factors: Vec<f64> = values[..kept].iter().map(|s| ((s - cut) * (s + cut)).sqrt() / s).collect();
        let mut rows = left.view_mut();
        for i in 0..p {
            rows.row_mut(i).iter_mut().zip(&factors).for_each(|(x, f)| *x *= f);
        }
        self.rows = combine_rows(left.view().first_columns(kept), self.rows.view());
        self.slack += (cut + cut_rounding(p) * first).powi(2);
        self.cuts += 1;
        Ok(())
    }

    fn check_columns(&self, n_cols: usize) -> Result<()> {
        if n_cols == self.mean.len() {
            return Ok(());
        }
        Err(Error::setting(
            format!("partial results of {} and {n_cols} columns", self.mean.len()),
            "they must be of the same columns",
            "Fit both parts on the same columns",
        ))
    }
}

/// Rounding of a cut of p rows, relative.
fn cut_rounding(p: usize) -> f64 {
    CUT_ROUNDING * U * (p as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::Partial;
    use super::*;
    use crate::linalg::{inner, symmetric_eigenvalues};
    use crate::random::{Purpose, Stream};

    const N: usize = 230;
    const D: usize = 40;

    /// Gaussian rows whose variances along random-looking directions follow `spectrum`, with an offset.
    fn rows(n: usize, d: usize, spectrum: impl Fn(usize) -> f64) -> Matrix<f64> {
        let mut draw = Stream::new(5, Purpose::Synthetic);
        let mut gauss = |n: usize, d: usize| {
            let mut draw = || (0..12).map(|_| draw.uniform()).sum::<f64>() - 6.0;
            Matrix::from_fn(n, d, |_, _| draw())
        };
        let turn = crate::linalg::orthonormal_columns(gauss(d, d).view());
        let scores = gauss(n, d);
        let shaped = Matrix::from_fn(n, d, |i, j| scores[(i, j)] * spectrum(j).sqrt());
        let mut out = combine_rows(transposed(&shaped).view(), transposed(&turn).view());
        out.as_mut_slice().iter_mut().enumerate().for_each(|(at, x)| *x += 3.0 + (at % d) as f64);
        out
    }

    fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)])
    }

    fn spectra() -> [fn(usize) -> f64; 4] {
        [|j| 0.5f64.powi(j as i32), |j| 1.0 / (1.0 + j as f64), |_| 1.0, |j| if j < 7 { 9.0 } else { 0.01 }]
    }

    /// 0 ⪯ M₂ − BᵀB ⪯ ΔI, and Δ ≤ Σ_{j>m} nλⱼ/(ℓ − m), up to rounding of sums and of cuts.
    fn holds(sum: &Directions, exact: &Partial, told: &str) {
        let held = inner(sum.rows().view(), sum.rows().view());
        let lost = Matrix::from_fn(D, D, |i, j| exact.scatter()[(i, j)] - held[(i, j)]);
        let values = symmetric_eigenvalues(&lost).unwrap();
        let rounding = (64.0 * f64::EPSILON + 2.0 * sum.rounding()) * exact.trace();
        let (high, low) = (values[0], values[D - 1]);
        assert!(low >= -rounding, "{told}: {low:e} {rounding:e}");
        assert!(high <= sum.slack() + rounding, "{told}: {high:e} {:e}", sum.slack());
        let all = symmetric_eigenvalues(exact.scatter()).unwrap();
        for m in 0..sum.size().min(D) {
            let tail: f64 = all[m..].iter().sum();
            let most = tail.max(0.0) / (sum.size() - m) as f64;
            assert!(sum.slack() <= most + rounding, "{told}, m = {m}: {:e} {most:e}", sum.slack());
        }
        assert!((sum.trace() - exact.trace()).abs() <= rounding);
        for (j, square) in sum.squares().iter().enumerate() {
            assert!((square - exact.scatter()[(j, j)]).abs() <= rounding);
            assert!((sum.mean()[j] - exact.mean()[j]).abs() < 1e-12 * (1.0 + exact.mean()[j].abs()));
        }
        assert_eq!((sum.count(), sum.weight()), (exact.count(), exact.weight()));
        assert!(sum.rows().n_rows() <= 2 * sum.size());
    }

    #[test]
    fn what_a_sketch_lost_is_at_least_its_cuts() {
        let rows = Matrix::from_fn(50, 6, |i, j| ((i * j) as f64).sin() / (1 + j * j) as f64);
        let mut sum = Directions::empty(6, 3);
        sum.add(rows.view().rows(0..20).to_matrix(), None).unwrap();
        sum.add(rows.view().rows(20..50).to_matrix(), None).unwrap();
        assert!(sum.rows().n_rows() <= 6 && sum.count() == 50);
        // What the sketch lost of the trace is at least ℓΔ.
        let held: f64 = sum.rows().as_slice().iter().map(|x| x * x).sum();
        assert!(3.0 * sum.slack() <= sum.trace() - held + 1e-12);
    }

    #[test]
    fn the_bound_holds_for_pieces_of_any_size_with_and_without_weights() {
        let weights: Vec<f64> = (0..N).map(|i| (i % 5) as f64 * 0.5).collect();
        for (which, spectrum) in spectra().into_iter().enumerate() {
            let x = rows(N, D, spectrum);
            for weights in [None, Some(weights.as_slice())] {
                let exact = Partial::of_weighted(&mut x.clone(), weights);
                for size in [1, 2, 3, 5, 10, 25, 39, 40, 60] {
                    for piece in [1, 7, 100, N] {
                        let mut sum = Directions::empty(D, size);
                        for from in (0..N).step_by(piece) {
                            let to = (from + piece).min(N);
                            let part = x.view().rows(from..to).to_matrix();
                            sum.add(part, weights.map(|w| &w[from..to])).unwrap();
                        }
                        let told = format!("spectrum {which}, ℓ = {size}, pieces of {piece}");
                        holds(&sum, &exact, &told);
                        sum.compress().unwrap();
                        assert!(sum.rows().n_rows() <= size);
                        holds(&sum, &exact, &format!("{told}, compressed"));
                    }
                }
            }
        }
    }

    #[test]
    fn the_bound_holds_for_merges_in_any_order() {
        for (which, spectrum) in spectra().into_iter().enumerate() {
            let x = rows(N, D, spectrum);
            let exact = Partial::of_rows(x.view(), 0.0);
            for size in [3, 12, 30] {
                let ends = [0, 1, 4, 80, 81, 200, N];
                let parts: Vec<Directions> = ends
                    .windows(2)
                    .map(|pair| {
                        let mut part = Directions::empty(D, size);
                        part.add(x.view().rows(pair[0]..pair[1]).to_matrix(), None).unwrap();
                        part
                    })
                    .collect();
                for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 2, 4, 1]] {
                    let (mut first, mut second) = (Directions::empty(D, size), Directions::empty(D, size));
                    order[..3].iter().for_each(|at| first.merge(&parts[*at]).unwrap());
                    order[3..].iter().for_each(|at| second.merge(&parts[*at]).unwrap());
                    first.merge(&second).unwrap();
                    holds(&first, &exact, &format!("spectrum {which}, ℓ = {size}, {order:?}"));
                }
            }
        }
    }

    #[test]
    fn rows_of_low_rank_are_held_exactly() {
        let x = rows(N, D, |j| if j < 6 { 1.0 + j as f64 } else { 0.0 });
        let exact = Partial::of_rows(x.view(), 0.0);
        let mut sum = Directions::empty(D, 7);
        sum.add(x, None).unwrap();
        let held = inner(sum.rows().view(), sum.rows().view());
        let apart = held.as_slice().iter().zip(exact.scatter().as_slice());
        let apart = apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart <= 2.0 * sum.rounding() * exact.trace(), "{apart:e}");
        // The entries have offsets up to 42, whose rounding is left in each row: (u·42)² of every one of them.
        assert!(sum.slack() <= 1e-24 * exact.trace(), "{:e}", sum.slack());
    }

    #[test]
    fn what_cannot_be_added_is_refused_and_changes_nothing() {
        let mut sum = Directions::empty(3, 2);
        sum.add(Matrix::from_fn(4, 3, |i, j| (i * j) as f64), None).unwrap();
        let before = sum.clone();
        assert!(sum.add(Matrix::zeros(2, 4), None).is_err());
        assert!(sum.add(Matrix::zeros(2, 3), Some(&[1.0])).is_err());
        assert!(sum.add(Matrix::zeros(2, 3), Some(&[1.0, -1.0])).is_err());
        assert!(sum.add(Matrix::from_fn(1, 3, |_, _| f64::NAN), None).is_err());
        assert!(sum.merge(&Directions::empty(4, 2)).is_err());
        assert!(sum.merge(&Directions::empty(3, 5)).is_err());
        sum.add(Matrix::zeros(0, 3), None).unwrap();
        sum.merge(&Directions::empty(3, 2)).unwrap();
        assert_eq!(sum, before);
        sum.add(Matrix::from_fn(2, 3, |_, _| 7.0), Some(&[0.0, 0.0])).unwrap();
        assert_eq!((sum.count(), sum.weight(), sum.trace()), (6, 4.0, before.trace()));
        assert_eq!(sum.mean(), before.mean());
    }
}
