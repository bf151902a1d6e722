//! Against Newton's method on all unknowns.

use super::super::solved::tests::fixture::{Problem, walk};
use super::super::solved::tests::plain;
use super::super::{Measure, Scorer};
use super::*;

#[test]
fn scores_are_those_of_newtons_method() {
    for (seed, n_classes, c) in [(21, 2, 1.0), (22, 2, 100.0), (23, 3, 0.1), (24, 3, 10.0), (25, 4, 1.0)] {
        let problem = Problem::classes(seed, n_classes);
        let plain = |task: &Task<'_>, set: &[usize]| plain::logistic(task, set, c);
        walk(&problem, (Scorer::Logistic { c }, Measure::Accuracy), seed == 24, &plain);
    }
}

/// Coefficients lie within √(1e-14·value) of the minimum in a length of which the penalty alone makes 1 of a unit.
#[test]
fn coefficients_are_those_of_newtons_method() {
    for (n_classes, c) in [(2, 1.0), (2, 1e4), (3, 0.01), (3, 1.0), (5, 1e4)] {
        let problem = Problem::classes(31, n_classes);
        let mut learner = Logistic::new(problem.task(Measure::Accuracy, false), c).unwrap();
        let set = [4, 0, 7, 6, 2, 11];
        set.iter().for_each(|j| learner.add(*j).unwrap());
        learner.remove(6).unwrap();
        let (x, y) = plain::logistic_rows(&learner.task, &[4, 0, 7, 2, 11]);
        let expected = plain::newton(&x, &y, c);
        let point = &learner.fit.as_ref().unwrap().point;
        let worst = point.weights.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= (1e-14 * point.value).sqrt().max(1e-9), "{n_classes} {c}: {worst} {}", point.value);
    }
}

/// Tolerance: n·eps times the condition of the second derivatives, 10⁵ here.
#[test]
fn borders_and_their_removal_are_the_inverse_found_anew() {
    for n_classes in [2, 4] {
        let problem = Problem::classes(32, n_classes);
        let mut learner = Logistic::new(problem.task(Measure::Accuracy, false), 1.0).unwrap();
        [0, 3, 5].iter().for_each(|j| learner.add(*j).unwrap());
        let fit = learner.fit.as_ref().unwrap();
        let (column, _) = centred(&learner.task, 1);
        let design = fit.widened(&column);
        let bordered = fit.metric.with(&learner.loss, &fit.design, (&fit.point, &column)).unwrap();
        let anew = Metric::of(&learner.loss, &design, &fit.point);
        let probe: Vec<f64> = (0..design.n_cols() * learner.loss.width).map(|k| (k as f64).sin()).collect();
        close(&bordered.apply(&probe), &anew.apply(&probe));
        let narrowed = Metric::of(&learner.loss, &fit.narrowed(2), &fit.point);
        let probe = &probe[..(design.n_cols() - 2) * learner.loss.width];
        close(&fit.metric.without(2).apply(probe), &narrowed.apply(probe));
    }
}

fn close(a: &[f64], b: &[f64]) {
    let scale = b.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * scale), "{a:?} {b:?}");
}

/// So many classes that the bound stands for the second derivatives.
#[test]
fn the_bound_leads_to_the_same_coefficients() {
    let mut problem = Problem::classes(33, 26);
    problem.fold.train = (0..90).collect();
    let mut learner = Logistic::new(problem.task(Measure::Accuracy, true), 0.5).unwrap();
    [0, 3].iter().for_each(|j| learner.add(*j).unwrap());
    let fit = learner.fit.as_ref().unwrap();
    assert!(learner.loss.width > 24 && !fit.metric.is_renewable(&learner.loss));
    let (x, y) = plain::logistic_rows(&learner.task, &[0, 3]);
    let expected = plain::newton(&x, &y, 0.5);
    let worst = fit.point.weights.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-5, "{worst}");
}
