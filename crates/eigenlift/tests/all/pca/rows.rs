//! What rows may be: single precision, sparse, weighted.

use super::help::{EPS, assert_close, correlated, largest, planted};
use eigenlift::data::{AnyPoints, Samples};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift_testkit::problems::{Numbers, sparse};
use eigenlift_testkit::reference::difference;

const ROUTES: [PcaRoute; 4] = [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Tsqr, PcaRoute::Krylov];

fn settings(route: PcaRoute, k: usize, standardized: bool) -> Pca {
    let pca = Pca::new(k).route(route).tolerance(1e-13);
    if standardized { pca.standardize() } else { pca }
}

/// Eigenvalues, total, mean and axes agree up to rounding: n·eps of the trace, and that over the gap for axes.
fn assert_same(a: &FittedPca, b: &FittedPca, what: &str) {
    let n = a.n_samples().max(b.n_samples()) as f64;
    let total = a.total_variance();
    assert_close(&a.variances(), &b.variances(), n * EPS * total, what);
    assert_close(&[total], &[b.total_variance()], n * EPS * total, what);
    let size = a.mean().iter().map(|m| m.abs()).fold(1.0, f64::max);
    assert_close(a.mean(), b.mean(), n * EPS * size, what);
    let known: Vec<f64> = a.variances();
    let gap = known.windows(2).map(|p| p[0] - p[1]).fold(f64::INFINITY, f64::min);
    let turned = 4.0 * (n * EPS * total + 1e-13 * known[0]) / gap;
    assert_close(a.components().as_slice(), b.components().as_slice(), turned, what);
}

#[test]
fn single_precision_rows_are_summed_in_double_precision() {
    let x = correlated(300, 12, 21);
    let single = Matrix::from_fn(300, 12, |i, j| x[(i, j)] as f32);
    let widened = Matrix::from_fn(300, 12, |i, j| f64::from(single[(i, j)]));
    for route in ROUTES {
        let (narrow, wide) = (
            settings(route, 4, false).fit(single.clone()).unwrap(),
            settings(route, 4, false).fit(widened.clone()).unwrap(),
        );
        assert_eq!(narrow.plan().precision, "f32");
        assert_same(&narrow, &wide, &route.to_string());
        let gap = difference(&narrow.transform(&single).unwrap(), &narrow.transform(&widened).unwrap());
        // Products of 12 numbers.
        assert!(gap <= 24.0 * EPS * largest(&widened), "{route}: {gap:e}");
    }
}

fn mostly_zero(n: usize, d: usize) -> Matrix<f64> {
    let mut draw = Numbers::new(3);
    let mut entry = |j: usize| {
        if draw.uniform() < 0.3 { (draw.gaussian() + 1.0) * 1.4f64.powi(-(j as i32 % 9)) } else { 0.0 }
    };
    Matrix::from_fn(n, d, |_, j| entry(j))
}

#[test]
fn sparse_rows_give_what_dense_ones_give() {
    for (n, d) in [(300, 25), (40, 120)] {
        let x = mostly_zero(n, d);
        let rows = sparse(&x);
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64 * 0.5).collect();
        for (route, standardized) in ROUTES.into_iter().flat_map(|r| [(r, false), (r, true)]) {
            for weights in [None, Some(&weights[..])] {
                let pca = settings(route, 4, standardized);
                let dense = pca.fit((&x, weights)).unwrap();
                let model = pca.fit((AnyPoints::F64(rows.view().into()), weights)).unwrap();
                let what = format!("{n} × {d}, {route}, {standardized}, {}", weights.is_some());
                assert!(model.plan().sparse);
                assert_same(&dense, &model, &what);
                let points = AnyPoints::F64(rows.view().into());
                let gap = difference(&model.transform(points).unwrap(), &model.transform(&x).unwrap());
                // Columns may be divided by deviations of 0.1.
                assert!(gap <= 20.0 * d as f64 * EPS * largest(&x), "{what}: {gap:e}");
                let lost = (model.reconstruction(points).unwrap(), model.reconstruction(&x).unwrap());
                assert_close(
                    &lost.0.per_row,
                    &lost.1.per_row,
                    (n * d) as f64 * EPS * dense.total_variance() * 10.0,
                    &what,
                );
            }
        }
    }
}

#[test]
fn a_whole_weight_says_how_often_a_row_is_there() {
    let x = correlated(60, 7, 22);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    let rows: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 4]).collect();
    let repeated = Matrix::from_fn(rows.len(), 7, |i, j| x[(rows[i], j)]);
    for (route, standardized) in ROUTES.into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let pca = settings(route, 3, standardized);
        let (weighted, plain) =
            (pca.fit((&x, Some(&weights[..]))).unwrap(), pca.fit(repeated.clone()).unwrap());
        assert_same(&weighted, &plain, &format!("{route} {standardized}"));
        assert_eq!((weighted.weight(), plain.weight()), (90.0, 90.0));
        assert_eq!((weighted.n_samples(), plain.n_samples()), (60, 90));
        assert!(weighted.plan().weighted && !plain.plan().weighted);
    }
}

#[test]
fn a_row_of_weight_zero_is_absent() {
    let x = correlated(50, 6, 23);
    let rest: Vec<usize> = (0..50).filter(|i| i % 7 != 0).collect();
    let weights: Vec<f64> = (0..50).map(|i| if i % 7 == 0 { 0.0 } else { 1.0 }).collect();
    // Entries of the absent rows do not matter.
    let spoiled = Matrix::from_fn(50, 6, |i, j| if i % 7 == 0 { 1e6 } else { x[(i, j)] });
    let left = Matrix::from_fn(rest.len(), 6, |i, j| x[(rest[i], j)]);
    for (route, standardized) in ROUTES.into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let pca = settings(route, 3, standardized);
        let without = pca.fit(left.clone()).unwrap();
        let model = pca.fit((&spoiled, Some(&weights[..]))).unwrap();
        assert_same(&without, &model, &format!("{route} {standardized}"));
    }
}

#[test]
fn a_factor_on_all_weights_changes_nothing_but_n() {
    let x = correlated(80, 6, 24);
    let weights: Vec<f64> = (0..80).map(|i| 0.1 + (i % 9) as f64).collect();
    let n: f64 = weights.iter().sum();
    for factor in [1e-6, 3.0, 1e9] {
        let scaled: Vec<f64> = weights.iter().map(|w| w * factor).collect();
        for (route, standardized) in ROUTES.into_iter().flat_map(|r| [(r, false), (r, true)]) {
            let pca = settings(route, 3, standardized);
            let (a, b) =
                (pca.fit((&x, Some(&weights[..]))).unwrap(), pca.fit((&x, Some(&scaled[..]))).unwrap());
            assert_same(&a, &b, &format!("{route} {standardized} {factor}"));
            assert_close(&[b.weight() / (n * factor)], &[1.0], 80.0 * EPS, "n");
        }
    }
}

#[test]
fn constant_columns_stay_zero_when_columns_are_standardised() {
    let x = correlated(60, 5, 25);
    let with = Matrix::from_fn(60, 7, |i, j| if j < 5 { x[(i, j)] } else { 0.1 + j as f64 });
    for route in ROUTES {
        let (a, b) = (
            settings(route, 3, true).fit(x.clone()).unwrap(),
            settings(route, 3, true).fit(with.clone()).unwrap(),
        );
        assert_close(&a.variances(), &b.variances(), 60.0 * EPS * 5.0, &route.to_string());
        assert_eq!(b.scale().unwrap()[5..], [1.0, 1.0]);
        // The columns count 1 each; those without spread nothing.
        assert_close(&[b.total_variance()], &[5.0], 60.0 * EPS * 5.0, "total");
        let u = b.components();
        assert!((0..3).all(|j| u[(j, 5)].abs() + u[(j, 6)].abs() < 1e-12), "{route}");
    }
}

#[test]
fn a_table_and_its_samples_are_the_same() {
    let x = correlated(40, 5, 26);
    let owned = Pca::new(2).fit(Samples::from(x.clone())).unwrap();
    let borrowed = Pca::new(2).fit(&x).unwrap();
    assert_eq!(owned.components(), borrowed.components());
    assert_eq!(owned.eigenvalues(), borrowed.eigenvalues());
}

/// A column of ones, of tenths or of thousands beside sparse ones is constant, whatever the sums of its squares round to.
#[test]
fn constant_columns_of_sparse_rows_have_no_spread() {
    let x = mostly_zero(3000, 6);
    for value in [1.0, 0.1, 1000.1] {
        let with = Matrix::from_fn(3000, 7, |i, j| if j < 6 { x[(i, j)] } else { value });
        let rows = sparse(&with);
        for (route, standardized) in [PcaRoute::Covariance, PcaRoute::Krylov, PcaRoute::Tsqr]
            .into_iter()
            .flat_map(|r| [(r, false), (r, true)])
        {
            let pca = settings(route, 7, standardized);
            let (dense, model) = (pca.fit(x.clone()).unwrap(), pca.fit(Samples::from(rows.clone())).unwrap());
            let what = format!("{route} {standardized} {value}");
            assert_eq!((dense.n_components(), model.n_components()), (6, 6), "{what}");
            // What is left of sums of 3000 products with the column's value.
            let slack = 3000.0 * EPS * (value + dense.total_variance());
            assert_close(&model.variances(), &dense.variances(), slack, &what);
            assert_close(&[model.total_variance()], &[dense.total_variance()], slack, &what);
            assert!(!standardized || model.scale().unwrap()[6] == 1.0, "{what}");
        }
    }
}

/// Sums over sparse rows end in Σxy − n·x̄ȳ: with means far above deviations what rounding leaves there is no component.
#[test]
fn sparse_rows_with_large_means_have_no_components_of_rounding() {
    let x = planted(500, 30, &[30.0, 10.0], 1e4);
    let exact = Pca::new(6).route(PcaRoute::Tsqr).fit(x.clone()).unwrap();
    assert_eq!(exact.n_components(), 2);
    let rows = sparse(&x);
    for route in [None, Some(PcaRoute::Covariance), Some(PcaRoute::Dual), Some(PcaRoute::Krylov)] {
        let pca = route.map_or_else(|| Pca::new(6), |route| Pca::new(6).route(route));
        let model = pca.fit(AnyPoints::F64(rows.view().into())).unwrap();
        assert_eq!(model.n_components(), 2, "{route:?}");
        for (interval, value) in model.certificate().intervals.iter().zip(exact.eigenvalues()) {
            assert!(interval.low <= *value && *value <= interval.high, "{route:?}: {interval:?} {value}");
        }
    }
}

/// A column that is the sum of two others, rounded to single precision, adds no direction.
#[test]
fn the_rounding_of_single_precision_is_no_direction() {
    let x = correlated(400, 5, 77);
    let dependent =
        Matrix::from_fn(400, 6, |i, j| if j < 5 { x[(i, j)] } else { x[(i, 0)] + x[(i, 1)] } as f32);
    for route in ROUTES {
        let model = Pca::new(6).route(route).fit(dependent.clone()).unwrap();
        assert_eq!(model.n_components(), 5, "{route}");
    }
    let white = Whitening::new(WhiteningMethod::Pca).fit(dependent).unwrap();
    assert_eq!(white.rank(), 5);
}
