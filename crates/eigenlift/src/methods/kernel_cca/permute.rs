//! How large correlations become between rows that do not belong together.

use super::moments::Layout;
use super::solve::leading_correlations;
use crate::data::AnySamples;
use crate::error::Result;
use crate::factor::Factor;
use crate::factor::Spectrum;
use crate::linalg::{Onto, combine, inner, scale_columns, shift_columns};
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows that are permuted, at most.
pub(super) const MOST_ROWS: usize = 2000;
/// Correlations that differ by less are equal.
const TIE: f64 = 1e-9;

/// Correlations compared with those of rows whose views were shuffled against each other, (C12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Significance {
    /// Permutations.
    pub permutations: usize,
    /// For each component the share of permutations, the observed order counted as one, whose largest correlation is not below
    /// that of the component.
    pub p_values: Vec<f64>,
    /// 95 % of the permutations have a largest correlation not above this.
    pub null_95: f64,
    /// The regularised correlations of these rows in their own order, which permutations are compared with.
    pub correlations: Vec<f64>,
    /// κ of each view in all of this: that of the fit where it was given, otherwise one hundredth of the variance. A κ that
    /// was chosen by the rows in their own order would favour that order.
    pub regularization: Vec<f64>,
    /// Rows that were permuted.
    pub rows: usize,
}

/// What is asked for.
pub(super) struct Permutations<'a> {
    pub(super) kappas: &'a [f64],
    pub(super) n_components: usize,
    pub(super) count: usize,
    pub(super) at_once: usize,
    pub(super) seed: u64,
}

impl Permutations<'_> {
    /// Cost: 2·n·r² flops for each permutation of n rows with r axes in all.
    pub(super) fn run(
        &self,
        factors: &[Factor],
        views: &[AnySamples],
        watch: &Watch,
    ) -> Result<Significance> {
        let n = views.first().map_or(0, AnySamples::n_rows);
        let rows = Stream::new(self.seed, Purpose::PermutedRows).rows(n, MOST_ROWS);
        let mut whitened = Vec::with_capacity(views.len());
        for ((factor, x), kappa) in factors.iter().zip(views).zip(self.kappas) {
            let (features, trace) = factor.rows_at(x, &rows, watch)?;
            whitened.push(whiten(factor, features, trace, *kappa)?);
        }
        let axes = Layout::new(whitened.iter().map(Matrix::n_cols));
        let observed = correlations(&whitened, &axes, self.n_components, watch)?;
        let numbers: Vec<usize> = (0..self.count).collect();
        let mut null = Vec::with_capacity(self.count);
        for group in numbers.chunks(self.at_once.max(1)) {
            watch.step("permutations", null.len(), self.count)?;
            let largest: Vec<Result<f64>> = group
                .par_iter()
                .map(|number| {
                    let shuffled = self.shuffled(&whitened, *number);
                    let found = correlations(&shuffled, &axes, 1, &watch.silent())?;
                    Ok(found.first().copied().unwrap_or(0.0))
                })
                .collect();
            for correlation in largest {
                null.push(correlation?);
            }
        }
        Ok(self.compare(&observed, null, rows.len()))
    }

    /// The first view as it is, the rows of each other view in an order of its own.
    fn shuffled(&self, whitened: &[Matrix<f64>], number: usize) -> Vec<Matrix<f64>> {
        let mut stream = Stream::numbered(self.seed, Purpose::Permutations, number as u32);
        let shuffle = |(view, rows): (usize, &Matrix<f64>)| {
            if view == 0 {
                return rows.clone();
            }
            let mut order: Vec<usize> = (0..rows.n_rows()).collect();
            stream.shuffle(&mut order);
            let mut out = Matrix::zeros(rows.n_rows(), rows.n_cols());
            let mut view = out.view_mut();
            order.iter().enumerate().for_each(|(to, from)| view.row_mut(to).copy_from_slice(rows.row(*from)));
            out
        };
        whitened.iter().enumerate().map(shuffle).collect()
    }

    fn compare(&self, observed: &[f64], mut null: Vec<f64>, rows: usize) -> Significance {
        null.sort_by(f64::total_cmp);
        let p_value = |j: usize| {
            let own = observed.get(j).copied().unwrap_or(0.0);
            let above = null.iter().filter(|largest| **largest >= own - TIE).count();
            (1 + above) as f64 / (null.len() + 1) as f64
        };
        let at = (0.95 * null.len() as f64).ceil() as usize;
        Significance {
            permutations: null.len(),
            p_values: (0..self.n_components).map(p_value).collect(),
            correlations: (0..self.n_components).map(|j| observed.get(j).copied().unwrap_or(0.0)).collect(),
            regularization: self.kappas.to_vec(),
            null_95: null.get(at.saturating_sub(1)).copied().unwrap_or(1.0),
            rows,
        }
    }
}

/// Rows of features minus their mean, in the axes of their covariance and divided by √(n(λ + κ)), (C11).
fn whiten(factor: &Factor, mut features: Matrix<f64>, trace: f64, kappa: f64) -> Result<Matrix<f64>> {
    let partial = Partial::of_rows(features.view(), 0.0);
    let (weight, mean) = (partial.weight(), partial.mean());
    let spectrum = if kappa == 0.0 && factor.is_explicit() {
        Spectrum::standardised(partial.scatter(), weight, mean)?
    } else {
        let rounding = factor.rounding(trace, partial.trace(), (weight, mean));
        Spectrum::of(partial.scatter(), weight, rounding)?
    };
    let shift: Vec<f64> = partial.mean().iter().map(|m| -m).collect();
    shift_columns(features.view_mut(), &shift);
    let mut out = Matrix::zeros(features.n_rows(), spectrum.rank());
    let scale = 1.0 / partial.weight().sqrt();
    combine(out.view_mut(), Onto::Replace, scale, features.view(), spectrum.vectors.view());
    scale_columns(out.view_mut(), &spectrum.inverse_roots(kappa));
    Ok(out)
}

fn correlations(whitened: &[Matrix<f64>], axes: &Layout, k: usize, watch: &Watch) -> Result<Vec<f64>> {
    let blocks = axes.pairs().map(|(v, w)| inner(whitened[v].view(), whitened[w].view()));
    Ok(leading_correlations(axes, blocks, (k, 1.0), watch)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_count_the_observed_order_and_equals() {
        let ask = Permutations { kappas: &[], n_components: 3, count: 19, at_once: 1, seed: 0 };
        let null: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
        let found = ask.compare(&[0.99, 0.95], null, 100);
        assert_eq!(found.p_values, [0.05, 0.1, 1.0]);
        assert_eq!((found.null_95, found.rows, found.permutations), (0.95, 100, 19));
    }
}
