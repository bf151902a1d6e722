//! Moments of the features of all views side by side, one set for each fold, from one reading of the rows.

use super::in_view;
use crate::data::AnySamples;
use crate::error::Result;
use crate::factor::Factor;
use crate::matrix::Matrix;
use crate::moments::{Partial, WideAbsorber};
use crate::progress::Watch;
use std::ops::Range;

/// Share of a view's scatter that must be left after a fold is taken out: ten digits remain.
const LEAST_LEFT: f64 = 1e-6;

/// Where the features of each view stand in the joint row.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    edges: Vec<usize>,
}

impl Layout {
    pub(super) fn new(widths: impl Iterator<Item = usize>) -> Self {
        let mut edges = vec![0];
        for width in widths {
            edges.push(edges.last().map_or(0, |at| at + width));
        }
        Self { edges }
    }

    pub(super) fn n_views(&self) -> usize {
        self.edges.len() - 1
    }

    pub(super) fn range(&self, view: usize) -> Range<usize> {
        self.edges[view]..self.edges[view + 1]
    }

    pub(super) fn dimension(&self) -> usize {
        self.edges[self.n_views()]
    }

    /// Views v < w, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n = self.n_views();
        (0..n).flat_map(move |v| (v + 1..n).map(move |w| (v, w)))
    }

    /// The block of a joint matrix for rows of one view and columns of another.
    pub(super) fn block(&self, joint: &Matrix<f64>, rows: usize, columns: usize) -> Matrix<f64> {
        joint.view().rows(self.range(rows)).columns(self.range(columns)).to_matrix()
    }

    /// The trace of a view's block.
    fn trace(&self, joint: &Matrix<f64>, view: usize) -> f64 {
        self.range(view).map(|j| joint[(j, j)]).sum()
    }
}

/// Moments of joint feature rows, of each fold and of all.
pub(super) struct FoldMoments {
    pub(super) layout: Layout,
    pub(super) folds: Vec<Partial>,
    pub(super) whole: Partial,
    /// Σk(x,x) of each view.
    pub(super) traces: Vec<f64>,
    /// What the features leave out of it.
    pub(super) residuals: Vec<f64>,
    /// Against what rounding of each view's scatter is measured; `None` where κ = 0 and features are written out, so that
    /// their size is nothing to the answer.
    pub(super) rounding: Vec<Option<f64>>,
}

impl FoldMoments {
    /// Reads all rows once. `assigned` is the fold of each row; `without_kappa` says that κ = 0.
    ///
    /// Cost: n·M² flops for M features in all, and the features; memory a piece of features twice, and M² numbers for each
    /// fold.
    pub(super) fn read(
        factors: &[Factor],
        views: &[AnySamples],
        (assigned, without_kappa): (&[u32], bool),
        watch: &Watch,
    ) -> Result<Self> {
        let layout = Layout::new(factors.iter().map(Factor::dimension));
        let n_folds = assigned.iter().max().map_or(1, |last| *last as usize + 1);
        let mut sums: Vec<WideAbsorber> =
            (0..n_folds).map(|_| WideAbsorber::new(layout.dimension())).collect();
        let (mut traces, mut residuals) = (vec![0.0; views.len()], vec![0.0; views.len()]);
        let step = factors.iter().map(|factor| factor.plan.chunk_rows.max(1)).min().unwrap_or(1);
        let n = assigned.len();
        for from in (0..n).step_by(step) {
            watch.step("moments of features", from, n)?;
            let rows = from..(from + step).min(n);
            let mut pieces = Vec::with_capacity(views.len());
            for (view, (factor, x)) in factors.iter().zip(views).enumerate() {
                let found =
                    factor.rows_of(x.points(), rows.clone(), watch).map_err(|error| in_view(error, view))?;
                traces[view] += found.trace;
                residuals[view] += found.residuals.iter().sum::<f64>();
                pieces.push(found.features);
            }
            for (fold, sum) in sums.iter_mut().enumerate() {
                let mine: Vec<usize> =
                    (0..rows.len()).filter(|i| assigned[from + i] as usize == fold).collect();
                if !mine.is_empty() {
                    sum.absorb(&mut side_by_side(&pieces, &mine, &layout), None);
                }
            }
        }
        let folds: Vec<Partial> = sums.into_iter().map(WideAbsorber::finish).collect();
        let mut whole = Partial::empty(layout.dimension());
        folds.iter().try_for_each(|fold| whole.merge(fold))?;
        let rounding = factors.iter().enumerate().map(|(view, factor)| {
            let scatter = layout.trace(whole.scatter(), view);
            let mean = (whole.weight(), &whole.mean()[layout.range(view)]);
            (!(without_kappa && factor.is_explicit())).then(|| factor.rounding(traces[view], scatter, mean))
        });
        let rounding = rounding.collect();
        Ok(Self { layout, folds, whole, traces, residuals, rounding })
    }

    /// Of all rows that are not in these folds, (C8): taken out of the whole, or added up anew where too few digits would remain.
    pub(super) fn without(&self, folds: &[usize]) -> Result<Partial> {
        let mut rest = self.whole.clone();
        let enough = |rest: &Partial| {
            (0..self.layout.n_views()).all(|view| {
                let before = self.layout.trace(self.whole.scatter(), view);
                self.layout.trace(rest.scatter(), view) >= LEAST_LEFT * before
            })
        };
        if folds.iter().all(|fold| rest.remove(&self.folds[*fold]).is_ok()) && enough(&rest) {
            return Ok(rest);
        }
        let mut rest = Partial::empty(self.layout.dimension());
        let others = self.folds.iter().enumerate().filter(|(other, _)| !folds.contains(other));
        others.into_iter().try_for_each(|(_, other)| rest.merge(other))?;
        Ok(rest)
    }
}

/// The named rows of all views, features side by side.
fn side_by_side(pieces: &[Matrix<f64>], rows: &[usize], layout: &Layout) -> Matrix<f64> {
    let mut joint = Matrix::zeros(rows.len(), layout.dimension());
    let mut view = joint.view_mut();
    for (at, row) in rows.iter().enumerate() {
        for (piece, features) in pieces.iter().enumerate() {
            view.row_mut(at)[layout.range(piece)].copy_from_slice(features.row(*row));
        }
    }
    joint
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(outlier: f64) -> (FoldMoments, Vec<Matrix<f64>>) {
        let layout = Layout::new([2, 3].into_iter());
        let rows: Vec<Matrix<f64>> = (0..3)
            .map(|fold| {
                Matrix::from_fn(7, 5, |i, j| {
                    let x = ((fold * 50 + i * 7 + j * 3) as f64 * 0.37).sin();
                    if fold == 1 && i == 2 && j > 1 { outlier * (x + 2.0) } else { x }
                })
            })
            .collect();
        let folds: Vec<Partial> = rows.iter().map(|rows| Partial::of_rows(rows.view(), 0.0)).collect();
        let mut whole = Partial::empty(5);
        folds.iter().for_each(|fold| whole.merge(fold).unwrap());
        (
            FoldMoments {
                layout,
                folds,
                whole,
                traces: vec![1.0; 2],
                residuals: vec![0.0; 2],
                rounding: vec![Some(1.0); 2],
            },
            rows,
        )
    }

    /// Taking a fold out gives the moments of the other rows, also where one row of one view holds nearly all of its scatter
    /// and a plain difference would keep no digit.
    #[test]
    fn a_fold_is_taken_out_even_when_it_holds_nearly_everything() {
        for outlier in [1.0, 1e9] {
            let (moments, rows) = moments(outlier);
            let rest = moments.without(&[1]).unwrap();
            let others = Matrix::from_fn(14, 5, |i, j| rows[2 * (i / 7)][(i % 7, j)]);
            let direct = Partial::of_rows(others.view(), 0.0);
            let pairs = rest.scatter().as_slice().iter().zip(direct.scatter().as_slice());
            let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Sums of 21 products of size at most 4.
            assert!(apart < 21.0 * 4.0 * 8.0 * f64::EPSILON, "{outlier}: {apart:e}");
            assert_eq!(rest.count(), 14);
            assert_eq!(moments.without(&[1, 2]).unwrap().count(), 7);
        }
    }
}
