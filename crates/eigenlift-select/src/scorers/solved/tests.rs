//! Learners against plain ones that start anew for every set.

pub(in super::super) mod fixture;
mod golden;
pub(in super::super) mod plain;

use super::super::{Measure, Scorer, Task};
use crate::columns::Goal;
use crate::splits::Fold;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::progress::Watch;
use fixture::{Problem, walk};

#[test]
fn regression_of_numbers_is_that_of_the_normal_equations() {
    for (seed, alpha) in [(1, 0.0), (2, 0.0), (3, 0.7), (4, 40.0)] {
        for measure in [Measure::R2, Measure::NegMeanSquaredError] {
            let problem = Problem::numbers(seed);
            let plain = |task: &Task<'_>, set: &[usize]| plain::ridge(task, set, alpha);
            walk(&problem, (Scorer::Ridge { alpha }, measure), seed == 2, &plain);
        }
    }
}

#[test]
fn regression_of_classes_is_that_of_the_normal_equations() {
    for (seed, n_classes, alpha) in [(5, 2, 0.0), (6, 3, 0.0), (7, 2, 1.0), (8, 4, 1.0)] {
        for measure in [Measure::Accuracy, Measure::BalancedAccuracy] {
            let problem = Problem::classes(seed, n_classes);
            let plain = |task: &Task<'_>, set: &[usize]| plain::ridge(task, set, alpha);
            walk(&problem, (Scorer::Ridge { alpha }, measure), seed == 8, &plain);
        }
    }
}

#[test]
fn discriminants_are_those_of_the_inverse_covariance() {
    for (seed, n_classes) in [(9, 2), (10, 3), (11, 5)] {
        for measure in [Measure::Accuracy, Measure::BalancedAccuracy] {
            walk(&Problem::classes(seed, n_classes), (Scorer::Lda, measure), seed == 11, &plain::lda);
        }
    }
}

/// More features than training rows: products of columns are not kept.
#[test]
fn wide_tables_give_the_same() {
    let mut problem = Problem::classes(12, 3);
    problem.fold.train.truncate(10);
    let plain = |task: &Task<'_>, set: &[usize]| plain::ridge(task, set, 0.5);
    walk(&problem, (Scorer::Ridge { alpha: 0.5 }, Measure::Accuracy), false, &plain);
}

#[test]
fn a_column_that_is_constant_within_classes_tells_them_apart() {
    let mut problem = Problem::classes(13, 3);
    let Goal::Classes { of_rows, .. } = problem.goal.clone() else { return };
    problem.replace(0, &|i| 0.1 + 0.3 * f64::from(of_rows[i]));
    let mut learner = problem.begin(Scorer::Lda, Measure::Accuracy, false);
    let all: Vec<usize> = (1..problem.columns.n_cols()).collect();
    assert!(learner.score() < 0.7);
    assert_eq!(learner.scores_with(&[0], &Watch::default()).unwrap(), [1.0]);
    for j in &all {
        learner.add(*j).unwrap();
    }
    learner.add(0).unwrap();
    assert_eq!(learner.score(), 1.0);
    assert!(learner.scores_without(&all, &Watch::default()).unwrap().iter().all(|score| *score == 1.0));
    walk(&problem, (Scorer::Lda, Measure::Accuracy), false, &plain::lda);
}

/// Removing one of three columns of which each is a combination of the others changes nothing.
#[test]
fn a_combination_takes_the_place_of_what_it_combined() {
    let problem = Problem::numbers(14);
    let mut learner = problem.begin(Scorer::Ridge { alpha: 0.0 }, Measure::R2, false);
    for j in [0, 1, fixture::SUM] {
        learner.add(j).unwrap();
    }
    let score = learner.score();
    let without = learner.scores_without(&[0, 1, fixture::SUM], &Watch::default()).unwrap();
    assert!(without.iter().all(|s| (s - score).abs() < 1e-12), "{without:?} {score}");
    learner.remove(0).unwrap();
    assert!((learner.score() - score).abs() < 1e-12);
}

/// Tolerance: that of a walk; M is factored anew within the 40 rounds.
#[test]
fn what_went_and_came_often_is_as_new() {
    let problem = Problem::numbers(17);
    let set = [0, 1, 2, 3, 4, 5, 6, fixture::SUM + 4];
    let mut learner = problem.begin(Scorer::Ridge { alpha: 0.0 }, Measure::R2, false);
    set.iter().for_each(|j| learner.add(*j).unwrap());
    for round in 0..40 {
        learner.remove(set[round * 5 % set.len()]).unwrap();
        let expected =
            plain::ridge(&problem.task(Measure::R2, false), &without(&set, round * 5 % set.len()), 0.0);
        assert!((learner.score() - expected).abs() < 1e-9, "{round}: {} {expected}", learner.score());
        learner.add(set[round * 5 % set.len()]).unwrap();
    }
}

fn without(set: &[usize], at: usize) -> Vec<usize> {
    set.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, j)| *j).collect()
}

#[test]
fn little_data_is_no_failure() {
    let folds = [(vec![], vec![]), (vec![], vec![0, 1]), (vec![3], vec![0, 1]), (vec![0, 1, 2, 3], vec![])];
    for (train, test) in folds {
        for goal in [Problem::numbers(15).goal, Problem::classes(15, 3).goal] {
            for scorer in [Scorer::Ridge { alpha: 0.0 }, Scorer::Lda, Scorer::Logistic { c: 1.0 }] {
                if scorer.check(&goal).is_err() {
                    continue;
                }
                let mut problem = Problem::numbers(15);
                (problem.goal, problem.fold) =
                    (goal.clone(), Fold { train: train.clone(), test: test.clone() });
                let mut learner = problem.begin(scorer, Measure::usual(&goal), true);
                let every: Vec<usize> = (0..problem.columns.n_cols()).collect();
                for j in &every {
                    assert_eq!(learner.scores_with(&every, &Watch::default()).unwrap().len(), every.len());
                    learner.add(*j).unwrap();
                }
                let without = learner.scores_without(&every, &Watch::default()).unwrap();
                assert!(without.iter().all(|score| !score.is_nan()), "{without:?}");
                every.iter().for_each(|j| learner.remove(*j).unwrap());
            }
        }
    }
}

#[test]
fn threads_and_stopping() {
    let problem = Problem::classes(16, 3);
    let every: Vec<usize> = (0..problem.columns.n_cols()).collect();
    for scorer in [Scorer::Ridge { alpha: 0.1 }, Scorer::Lda, Scorer::Logistic { c: 1.0 }] {
        let judged = || {
            let mut learner = problem.begin(scorer, Measure::Accuracy, false);
            let mut all = learner.scores_with(&every, &Watch::default()).unwrap();
            for j in 0..5 {
                learner.add(j).unwrap();
                all.extend(learner.scores_with(&every[5..], &Watch::default()).unwrap());
            }
            all.extend(learner.scores_without(&every[..5], &Watch::default()).unwrap());
            all
        };
        let scores = |n_threads| {
            let mut found = Vec::new();
            Cpu::new(n_threads).unwrap().run(&mut || found = judged());
            found
        };
        assert_eq!(scores(1), scores(3));
        let cancel = eigenlift::progress::CancelToken::default();
        cancel.cancel();
        let watch = Watch::default().cancelled_by(cancel);
        let learner = problem.begin(scorer, Measure::Accuracy, false);
        assert!(learner.scores_with(&every, &watch).is_err());
        let mut learner = problem.begin(scorer, Measure::Accuracy, false);
        learner.add(0).unwrap();
        assert!(learner.scores_without(&[0], &watch).is_err());
    }
}
