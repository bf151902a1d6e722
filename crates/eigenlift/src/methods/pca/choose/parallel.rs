//! Parallel analysis: eigenvalues above those of the same columns in random order.

use super::columns::{Columns, sampled};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::linalg::{Factor, Onto, gemm, symmetric_eigenvalues};
use crate::matrix::{MatRef, Matrix};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of a product that one thread computes.
const BLOCK: usize = 128;
/// Bytes that permuted copies may take together.
const COPIES_BYTES: usize = 1 << 30;
/// Most permutations that can be asked for.
const MOST_PERMUTATIONS: usize = 100_000;

/// How parallel analysis is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParallelOptions {
    /// Number of permutations.
    pub permutations: usize,
    /// An eigenvalue must exceed this quantile of those of permuted data.
    pub quantile: f64,
    /// Rows looked at; of more a sample is drawn.
    pub most_rows: usize,
    /// Fixes sample and permutations.
    pub seed: u64,
    /// Whether columns are divided by their standard deviation first.
    pub scaled: bool,
}

impl Default for ParallelOptions {
    fn default() -> Self {
        Self { permutations: 50, quantile: 0.95, most_rows: 4000, seed: 0, scaled: false }
    }
}

/// What parallel analysis found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParallelAnalysis {
    /// Number of leading eigenvalues above the quantile.
    pub n_components: usize,
    /// Eigenvalues λ of the rows looked at, largest first.
    pub observed: Vec<f64>,
    /// Quantile of the j-th eigenvalue of permuted data, for each j.
    pub null: Vec<f64>,
    /// Rows looked at.
    pub n_rows_used: usize,
    /// Number of permutations.
    pub permutations: usize,
}

/// Counts the leading eigenvalues that exceed what the same columns give without any relation between them.
///
/// Each column is put into random order on its own, which keeps its values and breaks its relation to the others; the
/// spectrum of the result is drawn again and again. Components are counted until the first λ_j that does not exceed the
/// quantile of the j-th eigenvalue of permuted data. The quantile q of P values is the ⌈q(P+1)⌉-th smallest, or the largest,
/// so that λ₁ of unrelated columns exceeds it with probability at most 1 − q when P + 1 ≥ 1/(1 − q).
///
/// The result is the same for any number of threads: each permutation has a random stream of its own.
///
/// Cost: for each permutation s²·l flops for the product and 4/3·s³ for its eigenvalues, with s the smaller and l the larger
/// of d and the rows looked at; memory one copy of these rows for each permutation under way, about 1 GiB at most or one
/// copy.
///
/// # Errors
/// When there are fewer than two rows or no column, when an option is out of range, and on cancellation.
pub(crate) fn parallel_analysis(
    rows: AnyPoints<'_>,
    options: &ParallelOptions,
    watch: &Watch,
) -> Result<ParallelAnalysis> {
    check(options)?;
    if rows.n_rows() < 2 || rows.n_cols() == 0 {
        return Err(Error::data(
            format!("{} rows of {} columns", rows.n_rows(), rows.n_cols()),
            "parallel analysis needs at least two rows and a column",
            "Give more data",
        ));
    }
    let mut x = sampled(rows, options.most_rows, options.seed);
    Columns::standardise(&mut x, options.scaled)?;
    // Why: a column is put into random order in one run of memory.
    let columns = Matrix::from_fn(x.n_cols(), x.n_rows(), |i, j| x[(j, i)]);
    drop(x);
    let observed = eigenvalues(&columns)?;
    let spectra = permuted_spectra(&columns, options, ("parallel analysis", watch))?;
    let null: Vec<f64> = (0..observed.len())
        .map(|j| quantile(spectra.iter().map(|values| values[j]).collect(), options.quantile))
        .collect();
    let (d, n) = (columns.n_rows(), columns.n_cols());
    // Numerics: sums in another order differ by rounding; where permuting changes nothing, rounding must not decide.
    let rounding = n.max(d) as f64 * f64::EPSILON * observed.first().copied().unwrap_or(0.0);
    let n_components = observed.iter().zip(&null).take_while(|(o, q)| **o > **q + rounding).count();
    Ok(ParallelAnalysis { n_components, observed, null, n_rows_used: n, permutations: spectra.len() })
}

pub(super) fn check(options: &ParallelOptions) -> Result<()> {
    let ParallelOptions { permutations, quantile, most_rows, .. } = *options;
    if (1..=MOST_PERMUTATIONS).contains(&permutations) && quantile > 0.0 && quantile < 1.0 && most_rows >= 2 {
        return Ok(());
    }
    Err(Error::setting(
        format!("{permutations} permutations, quantile {quantile} and at most {most_rows} rows"),
        format!("1 to {MOST_PERMUTATIONS} permutations, a quantile between 0 and 1 and at least 2 rows"),
        "Change the option that is out of range",
    ))
}

/// The spectrum of every permutation, in their order, as the stage named.
pub(super) fn permuted_spectra(
    columns: &Matrix<f64>,
    options: &ParallelOptions,
    (stage, watch): (&'static str, &Watch),
) -> Result<Vec<Vec<f64>>> {
    let (d, n) = (columns.n_rows(), columns.n_cols());
    let side = d.min(n);
    let copy_bytes = 8usize.saturating_mul(n.saturating_mul(d).saturating_add(3 * side.saturating_mul(side)));
    let together = (COPIES_BYTES / copy_bytes.max(1)).max(1);
    let (done, total) = (AtomicUsize::new(0), options.permutations);
    let mut spectra = Vec::with_capacity(total);
    for from in (0..total).step_by(together) {
        let batch: Result<Vec<Vec<f64>>> = (from..total.min(from + together))
            .into_par_iter()
            .with_max_len(1)
            .map(|permutation| {
                watch.step(stage, done.fetch_add(1, Ordering::Relaxed), total)?;
                let mut stream = Stream::numbered(options.seed, Purpose::Shuffles, permutation as u32);
                let mut permuted = columns.clone();
                permuted.as_mut_slice().chunks_exact_mut(n).for_each(|column| stream.shuffle(column));
                eigenvalues(&permuted)
            })
            .collect();
        spectra.extend(batch?);
    }
    Ok(spectra)
}

/// The min(n − 1, d) eigenvalues λ of a covariance matrix from centred columns, one in each row of `z`.
fn eigenvalues(z: &Matrix<f64>) -> Result<Vec<f64>> {
    let mut values = symmetric_eigenvalues(&smaller_product(z.view()))?;
    values.truncate(z.n_cols().saturating_sub(1));
    values.iter_mut().for_each(|v| *v = v.max(0.0));
    Ok(values)
}

/// The lower triangle of ZZᵀ/n for d ≤ n or of ZᵀZ/n for n < d, Z being d × n: both have the same eigenvalues but zeros.
pub(super) fn smaller_product(z: MatRef<'_, f64>) -> Matrix<f64> {
    let (d, n) = (z.n_rows(), z.n_cols());
    let mut out = Matrix::zeros(d.min(n), d.min(n));
    out.view_mut().row_chunks(BLOCK).into_par_iter().enumerate().for_each(|(piece, rows)| {
        let own = piece * BLOCK..piece * BLOCK + rows.n_rows();
        let so_far = 0..own.end;
        let (left, right) = if d <= n {
            (Factor::Plain(z.rows(own)), Factor::Transposed(z.rows(so_far.clone())))
        } else {
            (Factor::Transposed(z.columns(own)), Factor::Plain(z.columns(so_far.clone())))
        };
        gemm(rows.columns(so_far), Onto::Replace, 1.0 / n as f64, left, right);
    });
    out
}

/// The ⌈q(P+1)⌉-th smallest of P values, or the largest.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (share * (values.len() + 1) as f64).ceil() as usize;
    values[place.clamp(1, values.len()) - 1]
}

#[cfg(test)]
mod tests;
