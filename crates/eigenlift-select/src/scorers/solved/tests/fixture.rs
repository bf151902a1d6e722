//! Small problems and a walk over sets of features.

use crate::columns::{Columns, Goal};
use crate::scorers::{Learner, Measure, Scorer, Task};
use crate::splits::Fold;
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use eigenlift::random::{Purpose, Stream};

const N_ROWS: usize = 90;
/// Columns that depend on nothing.
const FREE: usize = 7;
/// Columns 0 and 1, weighed.
pub(in super::super::super) const SUM: usize = FREE;
const N_COLUMNS: usize = FREE + 5;

pub(in super::super::super) struct Problem {
    pub(in super::super::super) columns: Columns,
    pub(in super::super::super) goal: Goal,
    pub(in super::super::super) fold: Fold,
}

/// Free columns of different scales; a weighed sum, a multiple, a constant, a constant with rounding, and nearly column 2.
fn table(stream: &mut Stream, shift: impl Fn(usize, usize) -> f64) -> Columns {
    let mut x = Matrix::zeros(N_ROWS, N_COLUMNS);
    for i in 0..N_ROWS {
        for j in 0..FREE {
            x[(i, j)] = (stream.gaussian() + shift(i, j)) * (1.0 + j as f64) + j as f64;
        }
        x[(i, SUM)] = 2.0 * x[(i, 0)] - 0.7 * x[(i, 1)] + 4.0;
        x[(i, SUM + 1)] = 3.0 * x[(i, 3)];
        x[(i, SUM + 2)] = 5.0;
        x[(i, SUM + 3)] = 0.1;
        x[(i, SUM + 4)] = x[(i, 2)] + 0.01 * stream.gaussian();
    }
    Columns::of((&x).into(), &[]).unwrap()
}

/// Every third row or so is held out.
fn fold(stream: &mut Stream) -> Fold {
    let (test, train) = (0..N_ROWS).partition(|_| stream.uniform() < 0.3);
    Fold { train, test }
}

impl Problem {
    pub(in super::super::super) fn numbers(seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Synthetic);
        let columns = table(&mut stream, |_, _| 0.0);
        let at = |i: usize, j: usize| columns.column(j)[i];
        let y = |i: usize| 3.0 * at(i, 0) - at(i, 3) + 0.5 * at(i, 5) + 2.0 * stream.gaussian() + 10.0;
        let goal = Goal::Numbers((0..N_ROWS).map(y).collect());
        let fold = fold(&mut stream);
        Self { columns, goal, fold }
    }

    pub(in super::super::super) fn classes(seed: u64, n_classes: usize) -> Self {
        let mut stream = Stream::new(seed, Purpose::Synthetic);
        let of_rows: Vec<u32> = (0..N_ROWS).map(|_| stream.below(n_classes) as u32).collect();
        let centre = |i: usize, j: usize| ((of_rows[i] as usize * 5 + j * 3) % 7) as f64 / 4.0;
        let columns = table(&mut stream, centre);
        let fold = fold(&mut stream);
        Self { columns, goal: Goal::Classes { of_rows, n_classes }, fold }
    }

    /// Puts other numbers into column j.
    pub(in super::super::super) fn replace(&mut self, j: usize, value: &dyn Fn(usize) -> f64) {
        let old = |i: usize, k: usize| self.columns.column(k)[i];
        let x = Matrix::from_fn(N_ROWS, N_COLUMNS, |i, k| if k == j { value(i) } else { old(i, k) });
        self.columns = Columns::of((&x).into(), &[]).unwrap();
    }

    pub(in super::super::super) fn task(&self, measure: Measure, standardize: bool) -> Task<'_> {
        Task::new((&self.columns, &self.goal), &self.fold, measure, standardize)
    }

    pub(in super::super::super) fn begin(
        &self,
        scorer: Scorer,
        measure: Measure,
        standardize: bool,
    ) -> Box<dyn Learner + '_> {
        scorer.begin(self.task(measure, standardize)).unwrap()
    }
}

/// Scores after features came and went agree with those of `plain`, which starts anew with the features in their order.
///
/// Tolerance: 1e-9 of the larger of 1 and the score. Without column 2 the condition of M is below 10³, with it and the column
/// that is nearly the same 10⁷, times n·eps = 1e-14.
pub(in super::super::super) fn walk(
    problem: &Problem,
    (scorer, measure): (Scorer, Measure),
    standardize: bool,
    plain: &dyn Fn(&Task<'_>, &[usize]) -> f64,
) {
    let task = problem.task(measure, standardize);
    let mut learner = problem.begin(scorer, measure, standardize);
    let mut stream = Stream::new(99, Purpose::Synthetic);
    let mut set: Vec<usize> = Vec::new();
    let close = |got: f64, set: &[usize]| {
        let expected = plain(&task, set);
        let most = 1e-9 * expected.abs().max(1.0);
        assert!((got - expected).abs() <= most, "{scorer:?} {measure:?} {set:?}: {got} {expected}");
    };
    let watch = Watch::default();
    for _ in 0..30 {
        close(learner.score(), &set);
        let absent: Vec<usize> = (0..N_COLUMNS).filter(|j| !set.contains(j)).collect();
        for (j, got) in absent.iter().zip(learner.scores_with(&absent, &watch).unwrap()) {
            close(got, &[set.as_slice(), &[*j]].concat());
        }
        for (j, got) in set.iter().zip(learner.scores_without(&set, &watch).unwrap()) {
            close(got, &set.iter().copied().filter(|k| k != j).collect::<Vec<_>>());
        }
        if !set.is_empty() && (absent.is_empty() || stream.uniform() < 0.35) {
            let out = set.remove(stream.below(set.len()));
            learner.remove(out).unwrap();
        } else {
            let new = absent[stream.below(absent.len())];
            learner.add(new).unwrap();
            set.push(new);
        }
    }
}
