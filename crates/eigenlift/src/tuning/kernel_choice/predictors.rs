//! What can be learned from scores: nearest neighbours and ridge regression, for all numbers of components at once.

use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::Matrix;

/// Neighbours that decide.
const NEIGHBORS: usize = 5;
/// Ridges tried, as powers of ten of the largest eigenvalue.
const RIDGES: std::ops::RangeInclusive<i32> = -8..=1;

/// What is to be predicted for rows.
pub(super) enum Targets {
    /// Classes 0..n.
    Classes(Vec<usize>, usize),
    Numbers(Vec<f64>),
}

impl Targets {
    fn len(&self) -> usize {
        match self {
            Self::Classes(classes, _) => classes.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// One column for each class, or the numbers.
    fn columns(&self) -> Matrix<f64> {
        match self {
            Self::Classes(classes, n) => {
                Matrix::from_fn(classes.len(), *n, |i, j| f64::from(u8::from(classes[i] == j)))
            }
            Self::Numbers(numbers) => Matrix::from_fn(numbers.len(), 1, |i, _| numbers[i]),
        }
    }

    /// The share of wrong classes, or the mean squared error, where `found` has a column for each class or the numbers.
    fn loss(&self, found: &Matrix<f64>) -> f64 {
        let n = self.len().max(1) as f64;
        match self {
            Self::Classes(classes, _) => {
                let wrong = classes.iter().enumerate().filter(|(i, class)| largest(found.row(*i)) != **class);
                wrong.count() as f64 / n
            }
            Self::Numbers(numbers) => {
                numbers.iter().enumerate().map(|(i, y)| (found[(i, 0)] - y).powi(2)).sum::<f64>() / n
            }
        }
    }
}

/// The first of the largest.
fn largest(row: &[f64]) -> usize {
    let first = row.iter().enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a });
    first.map_or(0, |(at, _)| at)
}

/// Scores and targets of the rows learned from and of those held out.
pub(super) struct Task<'a> {
    pub(super) known: &'a Matrix<f64>,
    pub(super) known_targets: &'a Targets,
    pub(super) held: &'a Matrix<f64>,
    pub(super) held_targets: &'a Targets,
    /// Sums of squares of the columns of `known`, which are orthogonal to each other and to the ones vector.
    pub(super) values: &'a [f64],
}

impl Task<'_> {
    /// The loss of the five nearest neighbours in the first k scores, for each k.
    ///
    /// Cost: 3·m·n·k flops for m rows held out.
    pub(super) fn neighbors(&self, counts: &[usize]) -> Vec<f64> {
        let (m, n) = (self.held.n_rows(), self.known.n_rows());
        let columns = self.known_targets.columns();
        let mut squares = Matrix::zeros(m, n);
        let mut losses = Vec::with_capacity(counts.len());
        let mut from = 0;
        for &k in counts {
            let k = k.min(self.known.n_cols());
            let mut found = Matrix::zeros(m, columns.n_cols());
            for i in 0..m {
                let own = &self.held.row(i)[from.min(k)..k];
                let mut view = squares.view_mut();
                let row = view.row_mut(i);
                for (j, square) in row.iter_mut().enumerate() {
                    let other = &self.known.row(j)[from.min(k)..k];
                    *square += own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                }
                vote(row, &columns, found.view_mut().row_mut(i));
            }
            from = from.max(k);
            losses.push(self.held_targets.loss(&found));
        }
        losses
    }

    /// The loss of ridge regression on the first k scores, for each k; the ridge by generalised cross-validation, (K73).
    ///
    /// Cost: 2·n·k flops for each class.
    pub(super) fn ridge(&self, counts: &[usize]) -> Vec<f64> {
        let n = self.known.n_rows() as f64;
        let mut y = self.known_targets.columns();
        let means = crate::linalg::column_means(y.view());
        let shift: Vec<f64> = means.iter().map(|m| -m).collect();
        crate::linalg::shift_columns(y.view_mut(), &shift);
        let total: f64 = y.as_slice().iter().map(|v| v * v).sum();
        let mut along = Matrix::zeros(self.known.n_cols(), y.n_cols());
        gemm(
            along.view_mut(),
            Onto::Replace,
            1.0,
            Factor::Transposed(self.known.view()),
            Factor::Plain(y.view()),
        );
        let squares: Vec<f64> =
            (0..along.n_rows()).map(|j| along.row(j).iter().map(|p| p * p).sum::<f64>()).collect();
        let largest = self.values.first().copied().unwrap_or(1.0);
        let loss = |&k: &usize| {
            let k = k.min(self.values.len());
            let criterion = |ridge: f64| {
                let (mut rest, mut free) = (total, n - 1.0);
                for (value, square) in self.values[..k].iter().zip(&squares) {
                    rest -= square * (value + 2.0 * ridge) / (value + ridge).powi(2);
                    free -= value / (value + ridge);
                }
                rest.max(0.0) / free.max(1e-9 * n).powi(2)
            };
            let ridges = RIDGES.map(|power| largest * 10f64.powi(power));
            let ridge = ridges.min_by(|a, b| criterion(*a).total_cmp(&criterion(*b))).unwrap_or(largest);
            let weights = Matrix::from_fn(k, along.n_cols(), |j, c| along[(j, c)] / (self.values[j] + ridge));
            let mut found = Matrix::from_fn(self.held.n_rows(), means.len(), |_, c| means[c]);
            let held = self.held.view().first_columns(k);
            gemm(found.view_mut(), Onto::Add, 1.0, Factor::Plain(held), Factor::Plain(weights.view()));
            self.held_targets.loss(&found)
        };
        counts.iter().map(loss).collect()
    }
}

/// The mean of the targets of the nearest rows; a tie goes to the class of a nearer one.
fn vote(squares: &[f64], columns: &Matrix<f64>, out: &mut [f64]) {
    let mut order: Vec<usize> = (0..squares.len()).collect();
    let count = NEIGHBORS.min(order.len());
    if count == 0 {
        return;
    }
    let nearer = |a: &usize, b: &usize| squares[*a].total_cmp(&squares[*b]).then(a.cmp(b));
    order.select_nth_unstable_by(count - 1, nearer);
    order.truncate(count);
    order.sort_by(nearer);
    for (rank, at) in order.iter().enumerate() {
        // Why: breaks ties between classes, far below one vote; for numbers it moves a mean by 1e-9 of the spread.
        let weight = (1.0 - 1e-9 * rank as f64) / count as f64;
        out.iter_mut().zip(columns.row(*at)).for_each(|(o, y)| *o += weight * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores with orthogonal, centred columns: cosines of whole frequencies.
    fn scores(n: usize, k: usize) -> (Matrix<f64>, Vec<f64>) {
        let x = Matrix::from_fn(n, k, |i, j| {
            let t = std::f64::consts::PI * (i as f64 + 0.5) / n as f64;
            (t * (j + 1) as f64).cos() / (j + 1) as f64
        });
        let values = (0..k).map(|j| x.column(j).iter().map(|v| v * v).sum()).collect();
        (x, values)
    }

    #[test]
    fn ridge_finds_what_is_linear_in_the_scores() {
        let (known, values) = scores(60, 8);
        let targets =
            |x: &Matrix<f64>| Targets::Numbers((0..x.n_rows()).map(|i| 2.0 + 3.0 * x[(i, 2)]).collect());
        let (own, held) = (targets(&known), Matrix::from_fn(7, 8, |i, j| known[(8 * i, j)]));
        let held_targets = targets(&held);
        let task = Task {
            known: &known,
            known_targets: &own,
            held: &held,
            held_targets: &held_targets,
            values: &values,
        };
        let losses = task.ridge(&[1, 2, 3, 8]);
        assert!(losses[0] > 0.1 && losses[1] > 0.1, "{losses:?}");
        assert!(losses[2] < 1e-8 && losses[3] < 1e-8, "{losses:?}");
    }

    #[test]
    fn neighbours_vote_and_near_ones_break_ties() {
        let columns = Matrix::from_fn(5, 2, |i, j| f64::from(u8::from((i == 0 || i == 3) == (j == 1))));
        let mut out = [0.0, 0.0];
        vote(&[0.1, 0.5, 0.6, 0.2, 0.3], &columns, &mut out);
        assert_eq!(largest(&out), 0);
        let few = Matrix::from_fn(2, 2, |i, j| f64::from(u8::from(i == j)));
        let mut out = [0.0, 0.0];
        vote(&[0.5, 0.1], &few, &mut out);
        assert_eq!(largest(&out), 1);
    }

    #[test]
    fn neighbours_in_more_scores_are_those_computed_anew() {
        let (known, values) = scores(50, 6);
        let classes = |n: usize| Targets::Classes((0..n).map(|i| i * 7 % 3).collect(), 3);
        let held = Matrix::from_fn(20, 6, |i, j| known[(2 * i, j)] + 0.01 * (i as f64).sin());
        let (own, held_targets) = (classes(50), classes(20));
        let task = Task {
            known: &known,
            known_targets: &own,
            held: &held,
            held_targets: &held_targets,
            values: &values,
        };
        let together = task.neighbors(&[1, 3, 6]);
        let apart: Vec<f64> = [1, 3, 6].iter().map(|k| task.neighbors(&[*k])[0]).collect();
        assert_eq!(together, apart);
    }
}
