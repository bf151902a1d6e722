//! Mutual information, docs/theory/selection.md.
//!
//! One estimator for columns of any kind, in nats. Discrete columns are counted, (S1). Where columns are continuous, the k-th
//! nearest row of the same discrete values says how wide to look around row i, and the rows within that distance are counted
//! on each side by itself, (S4):
//!
//! c_i = ψ(k_i) + ψ(N) − ψ(n_A(i)) − ψ(n_B(i)), I = mean of c_i.
//!
//! Ties are counted as they would be on average were they put in order at random, (S5), and no estimate exceeds an entropy, (S6).
//! Nothing is random: no noise is added.

mod ball;
mod cells;
mod goal;
mod line;
mod mixture;
mod one_column;
mod plane;
mod plug_in;
mod settings;
mod standard_error;
#[cfg(test)]
mod tests;
mod tree;

pub use settings::MutualInformation;

use self::mixture::Side;
use super::columns::{Columns, Goal};
use super::kinds::Kind;
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use serde::Serialize;

/// What a filter says of one feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FeatureScore {
    /// The score; more is better.
    pub value: f64,
    /// Its standard error, where the filter has one.
    pub error: Option<f64>,
    /// The probability of such a score or a larger one where feature and labels have nothing to do with each other.
    pub p_value: Option<f64>,
    /// The same for the largest score of all features: a p-value that holds for all of them together.
    pub family_p_value: Option<f64>,
}

/// One column as the estimators see it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable<'a> {
    /// Values by number, and how many there are.
    Discrete(&'a [u32], usize),
    Continuous(&'a [f64]),
}

impl Variable<'_> {
    fn n_rows(&self) -> usize {
        match self {
            Self::Discrete(codes, _) => codes.len(),
            Self::Continuous(values) => values.len(),
        }
    }
}

/// An estimate in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    /// Within (S6).
    pub(crate) value: f64,
    /// Before it was bounded below by 0.
    mean: f64,
    /// Its standard error; of neighbors as if the terms were independent, which [`standard_error`] mends.
    error: f64,
}

/// How information is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimator {
    pub(crate) n_neighbors: usize,
    /// Whether plug-in estimates are corrected for their bias.
    pub(crate) corrected: bool,
}

impl Estimator {
    /// I(a; b) of columns together, all of the same number of rows; at most 32 continuous ones count.
    ///
    /// Cost: see [`plug_in`] where all are discrete, [`one_column`] and [`plane`] for one and two continuous columns, and
    /// [`mixture`] for others.
    pub(crate) fn between(&self, a: &[Variable<'_>], b: &[Variable<'_>]) -> Estimate {
        let n_rows = a.iter().chain(b).map(Variable::n_rows).min().unwrap_or(0);
        if n_rows < 2 {
            return Estimate::default();
        }
        let k = self.n_neighbors.max(1);
        let (a, b) = (Side::new(a, n_rows), Side::new(b, n_rows));
        match (&a.axes[..], &b.axes[..]) {
            ([], []) => plug_in::information(
                (&a.cells.of_rows, a.cells.count),
                (&b.cells.of_rows, b.cells.count),
                self.corrected,
            ),
            ([axis], []) if a.cells.count == 1 => one_column::of_axis(&axis.values, &b.cells, k),
            ([], [axis]) if b.cells.count == 1 => one_column::of_axis(&axis.values, &a.cells, k),
            ([x], [y]) if a.cells.count == 1 && b.cells.count == 1 => plane::of_axes(x, y, k),
            _ => mixture::information(&a, &b, k),
        }
    }

    /// Scores of all columns with what is to be predicted; with permutations, p-values too, (S7).
    ///
    /// Cost: that of [`Self::between`] for each column, and again for each permutation but for the sorting.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn with_goal(
        &self,
        (x, kinds, goal): (&Columns, &[Kind], &Goal),
        (permutations, seed): (usize, u64),
        watch: &Watch,
    ) -> Result<Vec<FeatureScore>> {
        goal::scores(self, (x, kinds, goal), (permutations, seed), watch)
    }
}

/// Mean of the terms, within 0 and the bound (S6), and its standard error as if they were independent.
fn estimate(terms: &[f64], bound: f64) -> Estimate {
    if terms.is_empty() {
        return Estimate::default();
    }
    let n = terms.len() as f64;
    let mean = terms.iter().sum::<f64>() / n;
    let variance = terms.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n;
    let mean = mean.min(bound);
    Estimate { value: mean.max(0.0), mean, error: (variance / n).sqrt() }
}
