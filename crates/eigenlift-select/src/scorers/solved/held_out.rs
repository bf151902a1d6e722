//! Rows held out with what is right for them, and columns about their training means.

use super::super::super::columns::Goal;
use super::super::{Measure, Task};

/// What is right for the rows held out, and what the training rows say without features.
pub(in super::super) struct HeldOut {
    right: Goal,
    measure: Measure,
    /// Rows held out.
    pub(in super::super) n_rows: usize,
    /// The class of each training row, as a place in `known`; empty for numbers.
    pub(in super::super) places: Vec<usize>,
    /// Classes of training rows, ascending. Only these are predicted.
    pub(in super::super) known: Vec<u32>,
    /// Training rows of each.
    pub(in super::super) sizes: Vec<usize>,
}

impl HeldOut {
    pub(in super::super) fn new(task: &Task<'_>) -> Self {
        let (right, measure) = (task.goal.of_rows(&task.fold.test), task.measure);
        let (mut known, mut places) = (Vec::new(), Vec::new());
        if let Goal::Classes { of_rows, .. } = task.goal.of_rows(&task.fold.train) {
            known = of_rows.clone();
            known.sort_unstable();
            known.dedup();
            places = of_rows.iter().map(|class| known.partition_point(|k| k < class)).collect();
        }
        let mut sizes = vec![0; known.len()];
        places.iter().for_each(|place| sizes[*place] += 1);
        Self { right, measure, n_rows: task.fold.test.len(), places, known, sizes }
    }

    /// The score of the largest of `width` outputs for each row; of one output, by its sign; of none, of the only class.
    pub(in super::super) fn of_outputs(&self, outputs: &[f64], width: usize) -> f64 {
        let right = match &self.right {
            Goal::Numbers(right) => return self.measure.of_numbers(outputs, right),
            Goal::Classes { of_rows, n_classes } => (of_rows, *n_classes),
        };
        let class = |place: usize| self.known.get(place).copied().unwrap_or(0);
        let predicted: Vec<u32> = match width {
            0 => vec![class(0); self.n_rows],
            1 => outputs.iter().map(|output| class(usize::from(*output > 0.0))).collect(),
            _ => outputs.chunks_exact(width).map(|outputs| class(largest(outputs))).collect(),
        };
        self.measure.of_classes(&predicted, right.0, right.1)
    }
}

/// The first of the largest.
fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best
}

/// Column j of the training rows and of those held out, less the training mean. One that does not vary beyond rounding over
/// the training rows is zero on all rows: nothing can be learned from it.
///
/// Numerics: the mean of the differences from a first mean leaves one rounding of the mean, so that a constant column is
/// known by deviations within two units in the last place of its largest entry.
pub(in super::super) fn centred(task: &Task<'_>, j: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut train, mut test) = (task.train(j), task.test(j));
    let n = train.len().max(1) as f64;
    let first = train.iter().sum::<f64>() / n;
    let mean = first + train.iter().map(|x| x - first).sum::<f64>() / n;
    let resolution = 2.0 * f64::EPSILON * train.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    train.iter_mut().for_each(|x| *x -= mean);
    test.iter_mut().for_each(|x| *x -= mean);
    if train.iter().all(|x| x.abs() <= resolution) {
        train.fill(0.0);
        test.fill(0.0);
    }
    (train, test)
}
