//! Bi-cross-validation: blocks of rows and columns are held out and predicted from the rest.

use super::columns::{Columns, drawn};
use crate::data::AnyPoints;
use crate::eigen::rank_threshold;
use crate::error::{Error, Result};
use crate::linalg::{Factor, Onto, gemm, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};
use crate::moments::scatter;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How bi-cross-validation is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GabrielOptions {
    /// Parts into which the rows are cut.
    pub row_folds: usize,
    /// Parts into which the columns are cut.
    pub column_folds: usize,
    /// Largest number of components tried.
    pub most: usize,
    /// Rows looked at; of more a sample is drawn.
    pub most_rows: usize,
    /// Fixes sample and folds.
    pub seed: u64,
    /// Whether columns are divided by their standard deviation first.
    pub scaled: bool,
}

impl Default for GabrielOptions {
    fn default() -> Self {
        Self { row_folds: 4, column_folds: 4, most: 100, most_rows: 10_000, seed: 0, scaled: false }
    }
}

/// What bi-cross-validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gabriel {
    /// The number of components with the smallest error.
    pub n_components: usize,
    /// The smallest number of components whose error is within one standard error of the smallest.
    pub one_standard_error: usize,
    /// For m = 0, 1, …: m, the mean squared error of a held-out entry, and its standard error over the parts of the rows.
    pub errors: Vec<(usize, f64, f64)>,
    /// Rows looked at.
    pub n_rows_used: usize,
}

/// Predicts held-out blocks from the rest with m = 0, 1, 2, … components and reports the errors.
///
/// Rows and columns are cut at random into nearly equal parts. For a part R of the rows and a part C of the columns the block
/// A = X[R, C] is held out. With B = X[R, C'], D = X[R', C'] = USVᵀ and X[R', C], primes for the other rows or columns,
///
///   Â_m = B·V_m·S_m⁻²·V_mᵀ·Dᵀ·X[R', C],
///
/// and m = 0 predicts the mean. Means (and standard deviations, if `scaled`) are those of the rows R' alone. A held-out row
/// never takes part in what predicts it, nor does an entry predict itself, so too many components make the error grow.
/// Each entry is held out once. The standard error is over the parts of the rows, each with all columns: the spread between
/// columns is no uncertainty. Directions of D at the level of rounding, in any block, end the path.
///
/// The result is the same for any number of threads.
///
/// Cost: for each block an eigenproblem of the smaller side s of D, 9·s³ flops, and 4·|R|·|C|·m for the path; the scatter once
/// for each part of the rows. Memory: two copies of the rows looked at.
///
/// # Errors
/// When there are fewer than 4 rows or 2 columns, when an option is out of range, and on cancellation.
///
/// # References
/// A. B. Owen and P. O. Perry, *Bi-cross-validation of the SVD and the nonnegative matrix factorization*, Annals of Applied
/// Statistics 2009.
pub(crate) fn gabriel(rows: AnyPoints<'_>, options: &GabrielOptions, watch: &Watch) -> Result<Gabriel> {
    check(rows, options)?;
    let chosen = drawn(rows, options.most_rows, options.seed);
    let (n, d) = (chosen.len(), rows.n_cols());
    let mut stream = Stream::new(options.seed, Purpose::Folds);
    let mut shuffled = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        stream.shuffle(&mut order);
        order
    };
    let (row_order, column_order) = (shuffled(n), shuffled(d));
    // Why: in this order the parts are runs of rows and of columns.
    let (mut x, mut row) = (Matrix::zeros(n, d), vec![0.0; d]);
    for (i, at) in row_order.iter().enumerate() {
        rows.copy_row(chosen[*at], &mut row);
        x.view_mut().row_mut(i).iter_mut().zip(&column_order).for_each(|(x, j)| *x = row[*j]);
    }
    let (row_parts, column_parts) = (parts(n, options.row_folds), parts(d, options.column_folds));
    let mut folds = Vec::with_capacity(row_parts.len());
    for (at, part) in row_parts.iter().enumerate() {
        watch.step("cross-validation", at, row_parts.len())?;
        let split = Split::new(x.view(), part.clone(), options.scaled, &column_parts)?;
        let paths: Result<Vec<Vec<f64>>> = column_parts
            .par_iter()
            .with_max_len(1)
            .map(|columns| watch.check().and_then(|()| split.path(columns.clone(), options.most)))
            .collect();
        folds.push((part.len() * d, added(&paths?)));
    }
    let found = judged(&folds, n);
    if found.errors.iter().all(|(_, mean, deviation)| mean.is_finite() && deviation.is_finite()) {
        return Ok(found);
    }
    Err(Error::data(
        "prediction errors that overflow",
        "squares of entries must be finite numbers",
        "Scale the data down",
    ))
}

fn check(rows: AnyPoints<'_>, options: &GabrielOptions) -> Result<()> {
    if rows.n_rows() < 4 || rows.n_cols() < 2 {
        return Err(Error::data(
            format!("{} rows of {} columns", rows.n_rows(), rows.n_cols()),
            "cross-validation needs at least 4 rows and 2 columns",
            "Give more data",
        ));
    }
    let GabrielOptions { row_folds, column_folds, most_rows, .. } = *options;
    if row_folds < 2 || column_folds < 2 || most_rows < 4 {
        return Err(Error::setting(
            format!(
                "{row_folds} parts of rows, {column_folds} parts of columns and at most {most_rows} rows"
            ),
            "at least 2 parts of each and 4 rows",
            "Change the option that is out of range",
        ));
    }
    Ok(())
}

/// 0..count cut into runs of nearly equal length, as many as asked for or one for each number.
fn parts(count: usize, asked: usize) -> Vec<Range<usize>> {
    let number = asked.min(count);
    (0..number).map(|at| at * count / number..(at + 1) * count / number).collect()
}

/// Sums of several paths, as far as the shortest goes.
fn added(paths: &[Vec<f64>]) -> Vec<f64> {
    let shortest = paths.iter().map(Vec::len).min().unwrap_or(0);
    (0..shortest).map(|m| paths.iter().map(|path| path[m]).sum()).collect()
}

/// Means, standard errors and choices from the number of entries and the summed squares of each part of the rows.
fn judged(folds: &[(usize, Vec<f64>)], n_rows_used: usize) -> Gabriel {
    let shortest = folds.iter().map(|fold| fold.1.len()).min().unwrap_or(0);
    let entries: usize = folds.iter().map(|fold| fold.0).sum();
    let count = folds.len() as f64;
    let error = |m: usize| {
        let mean = folds.iter().map(|fold| fold.1[m]).sum::<f64>() / entries as f64;
        let means = folds.iter().map(|fold| fold.1[m] / fold.0 as f64);
        let centre = means.clone().sum::<f64>() / count;
        let variance = means.map(|x| (x - centre).powi(2)).sum::<f64>() / (count - 1.0);
        (m, mean, (variance / count).sqrt())
    };
    let errors: Vec<(usize, f64, f64)> = (0..shortest).map(error).collect();
    let best = errors.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a }).unwrap_or((0, 0.0, 0.0));
    let within = errors.iter().find(|e| e.1 <= best.1 + best.2).map_or(0, |e| e.0);
    Gabriel { n_components: best.0, one_standard_error: within, errors, n_rows_used }
}

/// Rows held out and the other rows, both centred and scaled as the others ask.
struct Split {
    held: Matrix<f64>,
    others: Matrix<f64>,
    /// X[R', ·]ᵀX[R', ·], when columns are the smaller side.
    moments: Option<Matrix<f64>>,
}

impl Split {
    fn new(x: MatRef<'_, f64>, part: Range<usize>, scaled: bool, columns: &[Range<usize>]) -> Result<Self> {
        let (n, d) = (x.n_rows(), x.n_cols());
        let mut held = x.rows(part.clone()).to_matrix();
        let mut others = Matrix::zeros(n - part.len(), d);
        for (at, i) in (0..part.start).chain(part.end..n).enumerate() {
            others.view_mut().row_mut(at).copy_from_slice(x.row(i));
        }
        Columns::standardise(&mut others, scaled)?.apply(held.view_mut());
        let left = d - columns.iter().map(Range::len).max().unwrap_or(0);
        let moments = (left <= others.n_rows()).then(|| scatter(others.view()));
        Ok(Self { held, others, moments })
    }

    /// Σ(A − Â_m)² for m = 0, 1, … with columns `held_out`.
    ///
    /// With eigenpairs (s, w) of DᵀD the terms of Â are (B·w)(wᵀ·DᵀX[R', C])/s; with those of DDᵀ they are
    /// (B·Dᵀw)(wᵀ·X[R', C])/s.
    fn path(&self, held_out: Range<usize>, most: usize) -> Result<Vec<f64>> {
        let d = self.held.n_cols();
        let kept = [0..held_out.start, held_out.end..d];
        let (values, vectors) = symmetric_eigen(&self.square(&kept))?;
        let usable = self.usable(&values, d - held_out.len()).min(most);
        let vectors = vectors.view().first_columns(usable);
        let mut left = Matrix::zeros(self.held.n_rows(), usable);
        let mut right = Matrix::zeros(usable, held_out.len());
        let target = self.others.view().columns(held_out.clone());
        if self.moments.is_none() {
            gemm(right.view_mut(), Onto::Replace, 1.0, Factor::Transposed(vectors), Factor::Plain(target));
        }
        let mut at = 0;
        for columns in kept.into_iter().filter(|columns| !columns.is_empty()) {
            let own = vectors.rows(at..at + columns.len());
            at += columns.len();
            let held = Factor::Plain(self.held.view().columns(columns.clone()));
            if let Some(moments) = &self.moments {
                let with = moments.view().rows(columns).columns(held_out.clone());
                gemm(left.view_mut(), Onto::Add, 1.0, held, Factor::Plain(own));
                gemm(right.view_mut(), Onto::Add, 1.0, Factor::Transposed(own), Factor::Plain(with));
            } else {
                let mut turned = Matrix::zeros(columns.len(), usable);
                let others = Factor::Transposed(self.others.view().columns(columns));
                gemm(turned.view_mut(), Onto::Replace, 1.0, others, Factor::Plain(vectors));
                gemm(left.view_mut(), Onto::Add, 1.0, held, Factor::Plain(turned.view()));
            }
        }
        let block = self.held.view().columns(held_out);
        Ok(squared_errors(block, &left, &right, &values))
    }

    /// DᵀD or DDᵀ, D being the other rows in the columns kept.
    fn square(&self, kept: &[Range<usize>; 2]) -> Matrix<f64> {
        let Some(moments) = &self.moments else {
            let n = self.others.n_rows();
            let mut out = Matrix::zeros(n, n);
            for columns in kept.iter().filter(|columns| !columns.is_empty()) {
                let d = self.others.view().columns(columns.clone());
                gemm(out.view_mut(), Onto::Add, 1.0, Factor::Plain(d), Factor::Transposed(d));
            }
            return out;
        };
        let names: Vec<usize> = kept[0].clone().chain(kept[1].clone()).collect();
        Matrix::from_fn(names.len(), names.len(), |i, j| moments[(names[i], names[j])])
    }

    /// How many eigenvalues of DᵀD or DDᵀ are more than rounding.
    fn usable(&self, values: &[f64], n_kept: usize) -> usize {
        let largest = values.first().copied().unwrap_or(0.0);
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let rounding = rank_threshold(self.others.n_rows().max(n_kept), largest, norm, f64::EPSILON);
        let most = n_kept.min(self.others.n_rows() - 1);
        values.iter().take(most).take_while(|v| **v > rounding).count()
    }
}

/// Σ(A − Σ_{j≤m} l_j·r_jᵀ/s_j)² for m = 0, 1, …, l being columns of `left` and r rows of `right`.
fn squared_errors(a: MatRef<'_, f64>, left: &Matrix<f64>, right: &Matrix<f64>, s: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; left.n_cols() + 1];
    for i in 0..a.n_rows() {
        let mut rest = a.row(i).to_vec();
        sums[0] += rest.iter().map(|x| x * x).sum::<f64>();
        for (j, l) in left.row(i).iter().enumerate() {
            let factor = l / s[j];
            rest.iter_mut().zip(right.row(j)).for_each(|(x, r)| *x -= factor * r);
            sums[j + 1] += rest.iter().map(|x| x * x).sum::<f64>();
        }
    }
    sums
}

#[cfg(test)]
mod tests;
