use super::super::super::columns::Columns;
use super::super::super::splits::Fold;
use super::*;
use eigenlift::matrix::Matrix;
use eigenlift::progress::CancelToken;
use eigenlift::random::{Purpose, Stream};

/// Rows, labels and one fold of them.
struct Case {
    columns: Columns,
    goal: Goal,
    fold: Fold,
    measure: Measure,
}

#[derive(Clone, Copy, Debug)]
enum Values {
    /// No two alike, but every seventh row is the one six before.
    Gaussian,
    /// Whole numbers below this: sums of squares are exact in any order, and many are equal.
    Whole(usize),
    /// Tenths of such numbers: the same sums are equal but for rounding, which depends on the order.
    Tenths(usize),
}

impl Case {
    /// Every twentieth row is held out.
    fn new((n, d): (usize, usize), values: Values, classes: bool, seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Synthetic);
        let mut x = Matrix::from_fn(n, d, |_, _| match values {
            Values::Gaussian => stream.gaussian(),
            Values::Whole(bound) => stream.below(bound) as f64,
            Values::Tenths(bound) => stream.below(bound) as f64 * 0.1,
        });
        if matches!(values, Values::Gaussian) {
            for i in (6..n).step_by(7) {
                let earlier = x.row(i - 6).to_vec();
                x.as_mut_slice()[i * d..(i + 1) * d].copy_from_slice(&earlier);
            }
        }
        let goal = match classes {
            true => Goal::Classes { of_rows: (0..n).map(|_| stream.below(3) as u32).collect(), n_classes: 3 },
            false => Goal::Numbers((0..n).map(|_| stream.gaussian()).collect()),
        };
        let (test, train) = (0..n).partition(|i| i % 20 == 2);
        let columns = Columns::of((&x).into(), &[]).unwrap();
        let measure = Measure::usual(&goal);
        Self { columns, goal, fold: Fold { train, test }, measure }
    }

    fn task(&self, standardize: bool) -> Task<'_> {
        Task::new((&self.columns, &self.goal), &self.fold, self.measure, standardize)
    }

    /// The score by a full sort of all distances, summed in the order of `features`.
    fn plain(&self, features: &[usize], k: usize, standardize: bool) -> f64 {
        let task = self.task(standardize);
        let columns: Vec<_> = features.iter().map(|j| (task.train(*j), task.test(*j))).collect();
        let nearest = |t: usize| -> Vec<usize> {
            let distance = |r: usize| columns.iter().map(|(x, y)| (x[r] - y[t]) * (x[r] - y[t])).sum::<f64>();
            let mut all: Vec<(f64, usize)> =
                (0..self.fold.train.len()).map(|r| (distance(r), self.fold.train[r])).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.truncate(if features.is_empty() { usize::MAX } else { k });
            let mut rows: Vec<usize> = all.iter().map(|(_, row)| *row).collect();
            rows.sort_unstable();
            rows
        };
        let voters = (0..self.fold.test.len()).map(nearest);
        match (&self.goal, self.goal.of_rows(&self.fold.test)) {
            (Goal::Classes { of_rows, .. }, Goal::Classes { of_rows: right, n_classes }) => {
                let votes =
                    |rows: &[usize], class: u32| rows.iter().filter(|i| of_rows[**i] == class).count();
                let winner =
                    |rows: Vec<usize>| (0..3).rev().max_by_key(|class| votes(&rows, *class)).unwrap();
                self.measure.of_classes(&voters.map(winner).collect::<Vec<_>>(), &right, n_classes)
            }
            (Goal::Numbers(numbers), Goal::Numbers(right)) => {
                let mean =
                    |rows: Vec<usize>| rows.iter().map(|i| numbers[*i]).sum::<f64>() / rows.len() as f64;
                self.measure.of_numbers(&voters.map(mean).collect::<Vec<_>>(), &right)
            }
            _ => unreachable!("labels of the same kind"),
        }
    }
}

/// Adds and removes at random; before each, `look` sees the learner, the present features in order and the others.
fn walk(learner: &mut Knn, d: usize, seed: u64, mut look: impl FnMut(&mut Knn, &[usize], &[usize])) {
    let mut stream = Stream::new(seed, Purpose::Probes);
    let mut present: Vec<usize> = Vec::new();
    for _ in 0..16 {
        let others: Vec<usize> = (0..d).filter(|j| !present.contains(j)).collect();
        look(learner, &present, &others);
        if others.is_empty() || (!present.is_empty() && stream.uniform() < 0.35) {
            let feature = present.remove(stream.below(present.len()));
            learner.remove(feature).unwrap();
        } else {
            let feature = others[stream.below(others.len())];
            present.push(feature);
            learner.add(feature).unwrap();
        }
    }
}

fn same_as_plain(case: &Case, k: usize, standardize: bool, seed: u64) {
    let watch = Watch::default();
    walk(
        &mut Knn::new(case.task(standardize), k),
        case.columns.n_cols(),
        seed,
        |learner, present, others| {
            let plain = |features: &[usize]| case.plain(features, k, standardize);
            assert_eq!(learner.score(), plain(present), "k = {k}, {present:?}");
            let with = |j: &usize| plain(&[present, &[*j]].concat());
            let expected: Vec<f64> = others.iter().map(with).collect();
            assert_eq!(learner.scores_with(others, &watch).unwrap(), expected, "k = {k}, {present:?} with");
            let asked: Vec<usize> = present.iter().rev().copied().collect();
            let left = |j: &usize| present.iter().copied().filter(|i| i != j).collect::<Vec<_>>();
            let expected: Vec<f64> = asked.iter().map(|j| plain(&left(j))).collect();
            assert_eq!(
                learner.scores_without(&asked, &watch).unwrap(),
                expected,
                "k = {k}, {present:?} without"
            );
        },
    );
}

#[test]
fn agrees_with_a_full_sort() {
    let mut seed = 0;
    for values in [Values::Gaussian, Values::Whole(2), Values::Whole(12)] {
        for classes in [true, false] {
            // 95 of 100 rows are learned from; 285 of 300 and 608 of 640 leave a block partly full.
            for (n, k) in [(100, 1), (100, 5), (100, 94), (100, 95), (100, 99), (300, 2), (300, 8), (300, 9)]
                .into_iter()
                .chain([
                    (300, 15),
                    (300, 16),
                    (300, 17),
                    (300, 100),
                    (300, 284),
                    (640, 7),
                    (640, 31),
                    (640, 500),
                ])
            {
                seed += 1;
                same_as_plain(&Case::new((n, 5), values, classes, seed), k, false, seed);
            }
        }
    }
}

#[test]
fn every_number_of_neighbours() {
    for classes in [true, false] {
        for (values, n) in [(Values::Gaussian, 40), (Values::Whole(3), 40), (Values::Whole(4), 163)] {
            let case = Case::new((n, 4), values, classes, 7);
            (1..=case.fold.train.len() + 1)
                .step_by(1 + n / 100)
                .for_each(|k| same_as_plain(&case, k, false, k as u64));
        }
    }
}

/// Gaussian columns alone: those of whole numbers no longer have exact sums when they are scaled.
#[test]
fn standardised_columns() {
    for (seed, k) in [(1, 1), (2, 5), (3, 12), (4, 90)] {
        for classes in [true, false] {
            same_as_plain(&Case::new((200, 6), Values::Gaussian, classes, seed), k, true, seed);
        }
    }
}

/// Any other order of a sum would show.
#[test]
fn candidates_score_as_they_do_afterwards() {
    let watch = Watch::default();
    for (seed, k) in [(1, 1), (2, 4), (3, 11)] {
        let case = Case::new((600, 9), Values::Tenths(8), false, seed);
        walk(&mut Knn::new(case.task(false), k), 9, seed, |learner, present, others| {
            let state = (learner.present.clone(), learner.gap, learner.old);
            let mut after = |change: &dyn Fn(&mut Knn)| {
                change(learner);
                let score = learner.score();
                (learner.present, learner.gap, learner.old) = state.clone();
                score
            };
            let with: Vec<f64> = others.iter().map(|j| after(&|l: &mut Knn| l.add(*j).unwrap())).collect();
            let without: Vec<f64> =
                present.iter().map(|j| after(&|l: &mut Knn| l.remove(*j).unwrap())).collect();
            assert_eq!(learner.scores_with(others, &watch).unwrap(), with);
            assert_eq!(learner.scores_without(present, &watch).unwrap(), without);
        });
    }
}

#[test]
fn any_number_of_threads() {
    let case = Case::new((500, 12), Values::Gaussian, false, 3);
    let all = || {
        let mut learner = Knn::new(case.task(true), 5);
        [4, 1, 7, 0].into_iter().for_each(|j| learner.add(j).unwrap());
        let with = learner.scores_with(&[2, 3, 5, 6, 8, 9, 10, 11], &Watch::default()).unwrap();
        let without = learner.scores_without(&[7, 0, 1, 4], &Watch::default()).unwrap();
        [with, without, vec![learner.score()]].concat()
    };
    let on = |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(all);
    let one = on(1);
    assert!(one.iter().any(|score| *score != one[0]));
    [2, 3, 8].into_iter().for_each(|n| assert_eq!(on(n), one));
}

fn small(x: &[f64], goal: Goal, n_train: usize) -> Case {
    let columns = Columns::of((&Matrix::from_vec(x.to_vec(), x.len(), 1).unwrap()).into(), &[]).unwrap();
    let measure = Measure::usual(&goal);
    let fold = Fold { train: (0..n_train).collect(), test: (n_train..x.len()).collect() };
    Case { columns, goal, fold, measure }
}

#[test]
fn votes_that_are_equal_go_to_the_lowest_class() {
    // Distances from 0: 1, 1, 1, 4, 9, so two neighbours are of class 2 and 1, three of 2, 1 and 0, five of 2, 1, 0, 1 and 0.
    let goal = |right: u32| Goal::Classes { of_rows: vec![2, 1, 0, 1, 0, right], n_classes: 3 };
    for (k, right) in [(1, 2), (2, 1), (3, 0), (4, 1), (5, 0), (9, 0)] {
        let case = small(&[1.0, -1.0, 1.0, 2.0, -3.0, 0.0], goal(right), 5);
        let mut learner = Knn::new(case.task(false), k);
        assert_eq!(learner.scores_with(&[0], &Watch::default()).unwrap(), [1.0], "k = {k}");
        learner.add(0).unwrap();
        assert_eq!(learner.score(), 1.0, "k = {k}");
        // All five: 0 and 1 twice.
        assert_eq!(learner.scores_without(&[0], &Watch::default()).unwrap(), [f64::from(right == 0)]);
    }
}

#[test]
fn no_rows_on_either_side() {
    let labels =
        |n: usize| [Goal::Classes { of_rows: vec![0; n], n_classes: 1 }, Goal::Numbers(vec![1.0; n])];
    for (n_train, goal) in [0, 3].into_iter().flat_map(|n_train| labels(3).map(|goal| (n_train, goal))) {
        let case = small(&[1.0, 2.0, 3.0], goal, n_train);
        let mut learner = Knn::new(case.task(true), 2);
        for _ in 0..2 {
            assert!(learner.score().is_finite());
            assert!(learner.scores_with(&[0], &Watch::default()).unwrap()[0].is_finite());
            learner.add(0).unwrap();
            assert!(learner.scores_without(&[0, 0], &Watch::default()).unwrap()[1].is_finite());
        }
        assert!(learner.scores_with(&[], &Watch::default()).unwrap().is_empty());
    }
}

/// Squares beyond the largest number are equally far; with the mean beyond it too, all rows are alike.
#[test]
fn numbers_beyond_all_bounds() {
    let goal = Goal::Classes { of_rows: vec![1, 0, 0, 1, 1], n_classes: 2 };
    for (size, standardize) in [(1e200, false), (1e308, false), (1e308, true)] {
        let case = small(&[-size, size, size, size, 0.5 * size], goal.clone(), 4);
        for (k, right) in [(1, 1.0), (2, 0.0), (3, 0.0), (4, 0.0)] {
            let mut learner = Knn::new(case.task(standardize), k);
            learner.add(0).unwrap();
            assert_eq!(learner.score(), right, "{size:e}, {k}");
        }
    }
}

#[test]
fn stops_when_asked_to() {
    let case = Case::new((50, 3), Values::Gaussian, true, 1);
    let cancel = CancelToken::default();
    let watch = Watch::default().cancelled_by(cancel.clone());
    let learner = Knn::new(case.task(false), 3);
    assert!(learner.scores_with(&[0, 1, 2], &watch).is_ok());
    cancel.cancel();
    assert!(matches!(learner.scores_with(&[0, 1, 2], &watch), Err(eigenlift::error::Error::Cancelled)));
}
