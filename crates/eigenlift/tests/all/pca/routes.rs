//! Four routes to the same axes, which of them the plan takes, and the same bits for any number of threads.

use super::help::{EPS, assert_close, correlated, covariance, ones, projector, trace};
use eigenlift::data::{AnySamples, Csr, RowsInMemory, Samples};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca, PcaPlan, PcaRoute};
use eigenlift_testkit::problems::{Numbers, sparse};
use eigenlift_testkit::reference;

const ROUTES: [PcaRoute; 4] = [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Tsqr, PcaRoute::Krylov];
const TOLERANCE: f64 = 1e-13;

fn fit(x: &Matrix<f64>, k: usize, route: PcaRoute, standardized: bool) -> FittedPca {
    let pca = Pca::new(k).route(route).tolerance(TOLERANCE);
    let pca = if standardized { pca.standardize() } else { pca };
    pca.fit(x.clone()).unwrap()
}

/// nλ by Jacobi's rotations, and the rounding that sums of n products and d rotations leave in them: (n + d)·eps·tr.
fn reference_of(x: &Matrix<f64>, standardized: bool) -> (Vec<f64>, Matrix<f64>, f64) {
    let n = x.n_rows() as f64;
    let c = covariance(x, &ones(x.n_rows()), standardized);
    let (values, vectors) = reference::eigen(&c);
    (values.iter().map(|v| v * n).collect(), vectors, (n + x.n_cols() as f64) * EPS * n * trace(&c))
}

#[test]
fn all_routes_find_the_same_axes() {
    for (n, d, k) in [(300, 20, 5), (30, 60, 5), (200, 40, 3)] {
        let x = correlated(n, d, 7);
        for standardized in [false, true] {
            let (values, vectors, rounding) = reference_of(&x, standardized);
            let gap = values[k - 1] - values[k];
            let u = Matrix::from_fn(k, d, |j, i| vectors[(i, j)]);
            let total: f64 = values.iter().sum();
            for route in ROUTES {
                let what = format!("{n} × {d}, {route}, standardised {standardized}");
                let model = fit(&x, k, route, standardized);
                // Direct routes: rounding. The iteration: the square of its residual over the gap, which is below rounding.
                assert_close(model.eigenvalues(), &values[..k], rounding, &what);
                // Davis and Kahan: an error of E in the matrix turns the subspace by ‖E‖/gap.
                let turned = (rounding + TOLERANCE * values[0]) / gap;
                assert_close(
                    projector(&model.components()).as_slice(),
                    projector(&u).as_slice(),
                    2.0 * turned,
                    &what,
                );
                let lost = model.residual_error() * n as f64;
                assert_close(&[lost], &[values[k..].iter().sum()], rounding, &what);
                assert_close(&[model.total_variance() * n as f64], &[total], rounding, &what);
                for (j, interval) in model.certificate().intervals.iter().enumerate() {
                    // The reference has roundings of its own.
                    let (low, high) = (interval.low - rounding, interval.high + rounding);
                    assert!(low <= values[j] && values[j] <= high, "{what}: {interval:?} {}", values[j]);
                    let own = model.eigenvalues()[j];
                    assert!(interval.low <= own && own <= interval.high, "{what}: {interval:?} {own}");
                    let width = interval.high - interval.low;
                    assert!(
                        width <= 1e-10 * values[0],
                        "{what}: an interval of width {width:e} says nothing"
                    );
                }
                let bounds = model.certificate().bounds;
                // The iteration proves by the trace that is left, which may exceed the last eigenvalues that it found.
                let rest: f64 = values[k..].iter().sum();
                let proved = values[..k].iter().filter(|v| **v > rest + rounding).count();
                let least = if route == PcaRoute::Krylov { proved } else { k };
                assert!(
                    (least..=k).contains(&bounds.n_certified),
                    "{what}: {} of {least}",
                    bounds.n_certified
                );
                let share = values[..k].iter().sum::<f64>() / total;
                let explained = bounds.explained.unwrap();
                let slack = rounding / total;
                assert!(
                    explained.low - slack <= share && share <= explained.high + slack,
                    "{what}: {share} {explained:?}"
                );
                assert!(
                    bounds.missed.unwrap() + rounding >= values[k],
                    "{what}: {:?} {}",
                    bounds.missed,
                    values[k]
                );
                assert_eq!(model.plan().route, route);
                let known = model.spectrum().len();
                assert!(known == k || known == d.min(n - 1), "{what}: {known} eigenvalues known");
                assert_eq!(model.is_whole(), known > k, "{what}");
            }
        }
    }
}

/// With a coarse tolerance the intervals are wide, and hold the eigenvalues nevertheless.
#[test]
fn intervals_of_a_rough_iteration_hold_the_eigenvalues() {
    let x = correlated(400, 80, 8);
    let (values, _, rounding) = reference_of(&x, false);
    for tolerance in [1e-1, 1e-3, 1e-6] {
        let model = Pca::new(4).route(PcaRoute::Krylov).tolerance(tolerance).fit(x.clone()).unwrap();
        for (j, interval) in model.certificate().intervals.iter().enumerate() {
            assert!(
                interval.low - rounding <= values[j] && values[j] <= interval.high + rounding,
                "{tolerance} {j}"
            );
        }
        assert!(model.certificate().worst_residual() <= tolerance);
        // Cauchy: no Ritz value is above its eigenvalue.
        assert!(model.eigenvalues().iter().zip(&values).all(|(theta, v)| *theta <= v + rounding));
    }
}

fn plan(x: impl Into<AnySamples>, k: usize) -> PcaPlan {
    Pca::new(k).prepare(x.into()).map(|job| job.plan().clone()).unwrap()
}

/// Sparse rows of ten entries, three columns of which are much larger than the others.
fn large_sparse(n: usize, d: usize) -> Csr<f64> {
    let mut draw = Numbers::new(5);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let mut places: Vec<u32> = (0..10).map(|_| (draw.uniform() * d as f64) as u32).collect();
        places.extend([0, 1, 2]);
        places.sort_unstable();
        places.dedup();
        for place in places {
            let size = if place < 3 { 9.0 / f64::from(1 + place) } else { 0.5 };
            columns.push(place);
            values.push(size * draw.gaussian());
        }
        offsets.push(values.len());
    }
    Csr::new(offsets, columns, values, d).unwrap()
}

#[test]
fn the_plan_takes_the_route_that_suits_the_shape() {
    let wide = plan(Matrix::<f64>::zeros(200, 20_000), 3);
    assert_eq!(wide.route, PcaRoute::Dual);
    assert!(wide.reasons.iter().any(|r| r.contains("200 rows are fewer than 20000 columns")), "{wide}");
    assert_eq!(plan(Matrix::<f64>::zeros(50_000, 30), 3).route, PcaRoute::Covariance);
    assert_eq!(plan(Matrix::<f64>::zeros(5000, 300), 3).route, PcaRoute::Covariance);
    // Twice 5000·30² flops are nothing: the accurate route is free.
    assert_eq!(plan(Matrix::<f64>::zeros(5000, 30), 3).route, PcaRoute::Tsqr);
    assert_eq!(plan(Matrix::<f64>::zeros(150, 4), 2).route, PcaRoute::Tsqr);
    let rows: AnySamples = Samples::from(large_sparse(20_000, 6000)).into();
    let sparse = Pca::new(3).prepare(&rows).map(|job| job.plan().clone()).unwrap();
    assert_eq!(sparse.route, PcaRoute::Krylov);
    assert!(sparse.sparse && sparse.bytes_needed < 8 * 6000 * 6000, "{sparse}");
}

#[test]
fn a_large_sparse_table_is_fitted_without_a_square_matrix() {
    let model = Pca::new(3).fit(Samples::from(large_sparse(20_000, 6000))).unwrap();
    assert_eq!(model.plan().route, PcaRoute::Krylov);
    // Columns 1 to 3 have deviations 9, 4.5 and 3 and nothing in common: a standard error of √(2/n) = 1 % each, taken four times.
    assert_close(&[model.variances()[0] / 81.0], &[1.0], 0.04, "first");
    assert_close(&[model.variances()[1] / 20.25], &[1.0], 0.04, "second");
    assert_close(&[model.variances()[2] / 9.0], &[1.0], 0.04, "third");
    assert_eq!(model.certificate().bounds.n_certified, 3);
}

/// Of 200 000 columns a square matrix would take 320 GB.
#[test]
fn two_hundred_thousand_columns_never_meet_in_a_matrix() {
    let (n, d) = (200, 200_000);
    let x = Matrix::<f32>::from_fn(n, d, |i, j| {
        let noise = (i * 7919 + j * 104_729 + i * j) % 1009;
        noise as f32 / 1009.0 + if j % 2 == 0 { i as f32 / 40.0 } else { 0.0 }
    });
    let model = Pca::new(3).fit(x).unwrap();
    let plan = model.plan();
    assert_eq!((plan.route, plan.precision.as_str()), (PcaRoute::Dual, "f32"));
    assert!(plan.bytes_needed < 1_000_000_000, "{plan}");
    // The trend i/40 in every second column: a variance of (d/2)·(n² − 1)/12/40².
    let trend = d as f64 / 2.0 * (40_000.0 - 1.0) / 12.0 / 1600.0;
    assert!((model.variances()[0] / trend - 1.0).abs() < 0.02, "{} {trend}", model.variances()[0]);
}

/// All components of few rows with many columns: no more than rows are counted, whatever was asked for.
#[test]
fn asking_for_all_components_of_wide_rows_needs_no_square_memory() {
    let x: AnySamples = Matrix::<f32>::zeros(100, 100_000).into();
    for pca in [Pca::new(100_000), Pca::auto()] {
        let plan = pca.memory_limit(1 << 30).prepare(&x).map(|job| job.plan().clone()).unwrap();
        assert_eq!(plan.route, PcaRoute::Dual);
    }
}

#[test]
fn little_memory_turns_the_plan_to_passes_over_the_rows() {
    // The covariance of 2000 columns and the blocks it is made of take 81 MB.
    let x = Matrix::<f32>::zeros(5000, 2000);
    let rows: AnySamples = x.clone().into();
    let pca = |limit| Pca::new(3).memory_limit(limit);
    assert_eq!(
        pca(1 << 30).prepare(&rows).map(|job| job.plan().clone()).unwrap().route,
        PcaRoute::Covariance
    );
    let plan = pca(60 << 20).prepare(&rows).map(|job| job.plan().clone()).unwrap();
    assert_eq!(plan.route, PcaRoute::Krylov);
    assert!(plan.bytes_needed <= 60 << 20 && plan.second_look_bytes.is_none());
    let mut source = RowsInMemory::new(&x);
    assert_eq!(
        pca(1 << 30).prepare(&mut source).map(|job| job.plan().clone()).unwrap().route,
        PcaRoute::Covariance
    );
    assert_eq!(
        pca(60 << 20).prepare(&mut source).map(|job| job.plan().clone()).unwrap().route,
        PcaRoute::Krylov
    );
}

fn everything(model: &FittedPca, x: &Matrix<f64>) -> (Matrix<f64>, Vec<f64>, Vec<f64>, f64, Matrix<f64>) {
    let components = model.components();
    let scores = model.transform(x).unwrap();
    (components, model.eigenvalues().to_vec(), model.mean().to_vec(), model.total_variance(), scores)
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    // Heights and widths at which each kind of sum is cut into pieces.
    let cases: [(PcaRoute, usize, usize); 7] = [
        (PcaRoute::Covariance, 5000, 40),
        (PcaRoute::Covariance, 4500, 300),
        (PcaRoute::Tsqr, 5000, 40),
        (PcaRoute::Tsqr, 900, 150),
        (PcaRoute::Dual, 60, 3000),
        (PcaRoute::Dual, 600, 1500),
        (PcaRoute::Krylov, 5000, 250),
    ];
    for (route, n, d) in cases {
        let mut draw = Numbers::new(n as u64);
        let x = Matrix::from_fn(n, d, |_, j| draw.gaussian() * 1.1f64.powi(-(j as i32 % 40)) + 1.0);
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64 + 0.25).collect();
        for standardized in [false, true] {
            let fit = |threads: usize| {
                let pca = Pca::new(4).route(route).threads(threads).tolerance(1e-3);
                let pca = if standardized { pca.standardize() } else { pca };
                everything(&pca.fit((&x, Some(&weights[..]))).unwrap(), &x)
            };
            let one = fit(1);
            assert_eq!(one, fit(2), "{route} {n} × {d} {standardized}");
            assert_eq!(one, fit(3), "{route} {n} × {d} {standardized}");
        }
    }
}

#[test]
fn the_same_bits_for_sparse_rows_and_any_number_of_threads() {
    let mut draw = Numbers::new(2);
    let x = Matrix::from_fn(700, 90, |_, j| {
        if draw.uniform() < 0.2 { draw.gaussian() * (1 + j % 7) as f64 } else { 0.0 }
    });
    let rows = sparse(&x);
    for route in ROUTES {
        let fit = |threads: usize| {
            let pca = Pca::new(3).route(route).threads(threads).tolerance(1e-6);
            everything(&pca.fit(Samples::from(rows.clone())).unwrap(), &x)
        };
        assert_eq!(fit(1), fit(2), "{route}");
    }
}
