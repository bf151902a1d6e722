//! Linear discriminants: classes of the same covariance, told apart by distances, (S19).

use super::Task;
use super::solved::{Change, HeldOut, Linear, Rule, Solved, centred};
use eigenlift::error::Result;
use eigenlift::matrix::Matrix;

/// Least variance within classes, as a share of the whole variance of a column.
///
/// Why: a column that is constant within classes but not between them tells them apart without error, and must not be passed
/// over for having no variance. With this floor its classes lie 10⁴ deviations apart.
/// Numerics: distances of 10⁸ leave eight digits to those of other features when the column is taken out.
const LEAST_WITHIN: f64 = 1e-8;

/// δ_c = ln π_c − ½‖z − m_c‖² with z and m_c the row and the mean of class c in coordinates in which the covariance within
/// classes, of divisor n as in scikit-learn 1.9, is the identity; the largest is predicted. π_c is the share of training rows.
/// Classes without training rows are never predicted. A feature that within classes is a combination of earlier ones adds
/// nothing.
pub(super) type Lda = Linear<Discriminants>;

/// V is [columns of the rows held out, class means].
pub(super) struct Discriminants {
    /// ln π_c.
    shares: Vec<f64>,
    n_rows: usize,
}

impl Rule for Discriminants {
    fn width(&self) -> usize {
        self.shares.len()
    }

    fn start(&self) -> Vec<f64> {
        self.shares.repeat(self.n_rows)
    }

    fn shift(&self, outputs: &mut [f64], change: &Change<'_>) {
        let (rows, means) = change.row.split_at(self.n_rows);
        for (outputs, z) in outputs.chunks_exact_mut(means.len().max(1)).zip(rows) {
            outputs.iter_mut().zip(means).for_each(|(o, m)| *o -= 0.5 * change.weight * (z - m) * (z - m));
        }
    }
}

/// Takes class means off a column and returns them.
///
/// Numerics: the mean of the differences from a first mean keeps what is constant within classes at zero.
fn take_off_means(column: &mut [f64], held_out: &HeldOut) -> Vec<f64> {
    let mut means = vec![0.0; held_out.known.len()];
    for _ in 0..2 {
        let mut sums = vec![0.0; means.len()];
        held_out.places.iter().zip(&*column).for_each(|(place, x)| sums[*place] += x);
        sums.iter_mut().zip(&held_out.sizes).for_each(|(sum, size)| *sum /= *size as f64);
        held_out.places.iter().zip(&mut *column).for_each(|(place, x)| *x -= sums[*place]);
        means.iter_mut().zip(&sums).for_each(|(mean, sum)| *mean += sum);
    }
    means
}

impl Linear<Discriminants> {
    /// Cost: 2·n·d² flops for n training rows and d ≤ n features; memory d² and twice the columns of the rows held out.
    pub(super) fn new(task: Task<'_>) -> Result<Self> {
        let held_out = HeldOut::new(&task);
        let (d, n, m) = (task.columns.n_cols(), task.fold.train.len(), task.fold.test.len());
        let count = held_out.known.len();
        let divisor = n.max(1) as f64;
        let mut columns = Vec::with_capacity(d * n);
        let mut carried = Vec::with_capacity(d * (m + count));
        let mut diagonal = Vec::with_capacity(d);
        for j in 0..d {
            let (mut train, test) = centred(&task, j);
            let square = |column: &[f64]| column.iter().map(|x| x * x).sum::<f64>();
            let whole = square(&train);
            carried.extend(test);
            carried.extend(take_off_means(&mut train, &held_out));
            diagonal.push(square(&train).max(LEAST_WITHIN * whole) / divisor);
            columns.extend(train.iter().map(|x| x / divisor.sqrt()));
        }
        let columns = Matrix::from_vec(columns, d, n)?;
        let carried = Matrix::from_vec(carried, d, m + count)?;
        let share = |size: &usize| (*size as f64 / n.max(1) as f64).ln();
        let rule = Discriminants { shares: held_out.sizes.iter().map(share).collect(), n_rows: m };
        Ok(Self::of(held_out, Solved::new(columns, diagonal, carried), rule))
    }
}
