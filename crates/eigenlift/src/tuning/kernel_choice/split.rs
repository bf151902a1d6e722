//! The rows looked at, cut into parts that are held out in turn, and their distances.

use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::kernel::{Workspace, squared_distances};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use std::ops::Range;

/// Parts of the rows.
const PARTS: usize = 5;
/// Rows of distances that one thread computes at a time.
const PIECE: usize = 64;

/// Rows in random order, so that each part is a run of them.
pub(super) struct Split {
    pub(super) x: Matrix<f64>,
    /// Where each row stood.
    pub(super) places: Vec<usize>,
    pub(super) parts: Vec<Range<usize>>,
    /// ‖xᵢ − xⱼ‖² for all pairs.
    squares: Matrix<f64>,
}

impl Split {
    /// At most `most` rows; rows of the same class, where there are classes, are spread evenly over the parts.
    ///
    /// Cost: 2·n²d flops, memory n² + n·d numbers.
    pub(super) fn new(
        rows: AnyPoints<'_>,
        most: usize,
        seed: u64,
        classes: Option<&[usize]>,
        watch: &Watch,
    ) -> Result<Self> {
        let mut order = Stream::new(seed, Purpose::ChoiceRows).rows(rows.n_rows(), most);
        Stream::new(seed, Purpose::Folds).shuffle(&mut order);
        if let Some(classes) = classes {
            order.sort_by_key(|row| classes[*row]);
        }
        let n = order.len();
        let places: Vec<usize> =
            (0..PARTS).flat_map(|part| order.iter().copied().skip(part).step_by(PARTS)).collect();
        let sizes = (0..PARTS).map(|part| (n + PARTS - 1 - part) / PARTS);
        let parts = sizes.scan(0, |from, size| {
            *from += size;
            Some(*from - size..*from)
        });
        let mut x = Matrix::zeros(n, rows.n_cols());
        let mut view = x.view_mut();
        places.iter().enumerate().for_each(|(at, row)| rows.copy_row(*row, view.row_mut(at)));
        let squares = squares_of(&x, watch)?;
        Ok(Self { parts: parts.collect(), squares, x, places })
    }

    /// Rows that are not in a part.
    fn others(&self, part: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let part = self.parts[part].clone();
        (0..part.start).chain(part.end..self.x.n_rows())
    }

    /// Fewest rows that remain when a part is held out.
    pub(super) fn fewest_others(&self) -> usize {
        self.x.n_rows() - self.parts.iter().map(Range::len).max().unwrap_or(0)
    }

    /// The rows that are not in a part.
    pub(super) fn training(&self, part: usize) -> Matrix<f64> {
        let others: Vec<usize> = self.others(part).collect();
        Matrix::from_fn(others.len(), self.x.n_cols(), |i, j| self.x[(others[i], j)])
    }

    /// Where the rows stood that are not in a part.
    pub(super) fn training_places(&self, part: usize) -> Vec<usize> {
        self.others(part).map(|at| self.places[at]).collect()
    }

    /// Squared distances from rows, by default those that are not in the part, to those that are not in it.
    pub(super) fn squares(&self, part: usize, from: Option<Range<usize>>) -> Matrix<f64> {
        let others: Vec<usize> = self.others(part).collect();
        let from: Vec<usize> = from.map_or_else(|| others.clone(), Iterator::collect);
        Matrix::from_fn(from.len(), others.len(), |i, j| self.squares[(from[i], others[j])])
    }

    /// The median of the squared distances between different rows.
    pub(super) fn typical_square(&self) -> f64 {
        let n = self.x.n_rows();
        let mut all: Vec<f64> = (0..n).flat_map(|i| self.squares.row(i)[..i].iter().copied()).collect();
        let middle = all.len() / 2;
        if all.is_empty() { 0.0 } else { *all.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }
}

fn squares_of(x: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
    let n = x.n_rows();
    let mut out = Matrix::zeros(n, n);
    let pieces: Vec<(usize, &mut [f64])> =
        out.as_mut_slice().chunks_mut((PIECE * n).max(1)).enumerate().collect();
    pieces.into_par_iter().try_for_each(|(piece, out)| {
        watch.check()?;
        let rows = x.view().rows(piece * PIECE..((piece + 1) * PIECE).min(n));
        squared_distances(rows, x.view(), out, &mut Workspace::default());
        Ok(())
    })?;
    for i in 0..n {
        out[(i, i)] = 0.0;
        for j in 0..i {
            out[(j, i)] = out[(i, j)];
        }
    }
    match out.as_slice().iter().fold(0.0, |a: f64, s| if s.is_finite() { a.max(*s) } else { f64::INFINITY }) {
        most if most == f64::INFINITY => Err(Error::data(
            "rows whose squared distance overflows",
            "squared distances must stay below 1e308",
            "Scale the data down",
        )),
        most if most > 0.0 => Ok(out),
        _ => Err(Error::no_variance(
            format!("{n} rows that are all the same"),
            "rows must differ",
            "Check the data for constant columns",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(n: usize, classes: Option<&[usize]>) -> Split {
        let x = Matrix::from_fn(n, 3, |i, j| ((i * 7 + j) as f64).sin());
        Split::new((&x).into(), 40, 1, classes, &Watch::default()).unwrap()
    }

    #[test]
    fn parts_hold_every_row_once_and_distances_are_those_of_the_rows() {
        let split = split(37, None);
        assert_eq!(split.parts.iter().cloned().flatten().collect::<Vec<_>>(), (0..37).collect::<Vec<_>>());
        let mut places = split.places.clone();
        places.sort_unstable();
        assert_eq!(places, (0..37).collect::<Vec<_>>());
        let (training, squares) = (split.training(2), split.squares(2, Some(split.parts[2].clone())));
        assert_eq!((squares.n_rows(), squares.n_cols()), (split.parts[2].len(), training.n_rows()));
        let held = split.x.row(split.parts[2].start);
        let expected: f64 = held.iter().zip(training.row(5)).map(|(a, b)| (a - b) * (a - b)).sum();
        assert!((squares[(0, 5)] - expected).abs() < 1e-14);
        assert_eq!(split.squares(2, None).n_rows(), training.n_rows());
    }

    #[test]
    fn classes_are_spread_over_the_parts() {
        let classes: Vec<usize> = (0..40).map(|i| usize::from(i % 8 == 0)).collect();
        let split = split(40, Some(&classes));
        for part in &split.parts {
            let count = part.clone().filter(|at| classes[split.places[*at]] == 1).count();
            assert_eq!(count, 1);
        }
    }
}
