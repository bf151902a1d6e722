//! Linear regression with a weight on the squared length of the coefficients, (S20).

use super::super::columns::Goal;
use super::Task;
use super::solved::{Change, HeldOut, Linear, Rule, Solved, centred};
use eigenlift::error::Result;
use eigenlift::matrix::Matrix;

/// ŷ = ȳ + xᵀw with (XᵀX + αI)w = Xᵀy, for columns less their training means, so that the intercept has no weight. For α = 0
/// that is least squares, in which a feature that is a combination of earlier ones adds nothing. Classes have a target each, 1
/// on their rows and −1 on others, and the largest ŷ is predicted; two classes share one target.
pub(super) type Ridge = Linear<Regression>;

/// V is [columns of the rows held out, Xᵀy]: with whitened coordinates z of a row and b of Xᵀy, ŷ = ȳ + zᵀb.
pub(super) struct Regression {
    means: Vec<f64>,
    n_rows: usize,
}

impl Rule for Regression {
    fn width(&self) -> usize {
        self.means.len()
    }

    fn start(&self) -> Vec<f64> {
        self.means.repeat(self.n_rows)
    }

    fn shift(&self, outputs: &mut [f64], change: &Change<'_>) {
        let (rows, sides) = change.row.split_at(self.n_rows);
        for (outputs, x) in outputs.chunks_exact_mut(sides.len().max(1)).zip(rows) {
            outputs.iter_mut().zip(sides).for_each(|(y, b)| *y += change.weight * x * b);
        }
    }
}

/// Targets on the training rows, less their means, and the means.
fn targets(task: &Task<'_>, held_out: &HeldOut) -> (Vec<Vec<f64>>, Vec<f64>) {
    let sign = |own: bool| if own { 1.0 } else { -1.0 };
    let of_place = |place: usize| held_out.places.iter().map(|p| sign(*p == place)).collect();
    let mut targets: Vec<Vec<f64>> = match (task.goal.of_rows(&task.fold.train), held_out.known.len()) {
        (Goal::Numbers(numbers), _) => vec![numbers],
        (_, 0 | 1) => vec![],
        (_, 2) => vec![of_place(1)],
        (_, count) => (0..count).map(of_place).collect(),
    };
    let mean = |target: &mut Vec<f64>| {
        let mean = target.iter().sum::<f64>() / target.len().max(1) as f64;
        target.iter_mut().for_each(|y| *y -= mean);
        mean
    };
    let means = targets.iter_mut().map(mean).collect();
    (targets, means)
}

impl Linear<Regression> {
    /// Cost: 2·n·d² flops for n training rows and d ≤ n features; memory d² and twice the columns of the rows held out.
    pub(super) fn new(task: Task<'_>, alpha: f64) -> Result<Self> {
        let held_out = HeldOut::new(&task);
        let (targets, means) = targets(&task, &held_out);
        let (d, n, m) = (task.columns.n_cols(), task.fold.train.len(), task.fold.test.len());
        let mut columns = Vec::with_capacity(d * n);
        let mut carried = Vec::with_capacity(d * (m + targets.len()));
        let mut diagonal = Vec::with_capacity(d);
        for j in 0..d {
            let (train, test) = centred(&task, j);
            let dot = |y: &[f64]| train.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            diagonal.push(dot(&train) + alpha);
            carried.extend(test);
            carried.extend(targets.iter().map(|y| dot(y)));
            columns.extend(train);
        }
        let columns = Matrix::from_vec(columns, d, n)?;
        let carried = Matrix::from_vec(carried, d, m + targets.len())?;
        let rule = Regression { means, n_rows: m };
        Ok(Self::of(held_out, Solved::new(columns, diagonal, carried), rule))
    }
}
