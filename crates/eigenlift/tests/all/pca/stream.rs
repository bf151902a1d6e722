//! Rows in pieces: any order, taken out again, read from a source.

use super::help::{EPS, assert_close, correlated, some};
use eigenlift::data::{AnyPoints, RowsInMemory};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{
    FittedPca, Pca, PcaPlan, PcaRoute, PcaStream, StreamState, Whitening, WhiteningMethod,
};
use eigenlift_testkit::problems::{self, sparse};
use eigenlift_testkit::reference;

const BOTH: [PcaRoute; 2] = [PcaRoute::Covariance, PcaRoute::Tsqr];

fn assert_same(a: &FittedPca, b: &FittedPca, what: &str) {
    let n = a.n_samples() as f64;
    let total = a.total_variance();
    assert_eq!(a.weight(), b.weight(), "{what}");
    assert_close(&a.variances(), &b.variances(), n * EPS * total, what);
    assert_close(&[a.residual_error()], &[b.residual_error()], n * EPS * total, what);
    let gap = a.variances().windows(2).map(|p| p[0] - p[1]).fold(f64::INFINITY, f64::min);
    let turned = 4.0 * (n * EPS * total + 1e-13 * a.variances()[0]) / gap;
    assert!(turned < 1e-10, "the spectrum of the test must have gaps: {turned:e}");
    assert_close(a.components().as_slice(), b.components().as_slice(), turned, what);
}

fn part(route: PcaRoute, rows: AnyPoints<'_>) -> PcaStream {
    let mut stream = Pca::new(3).route(route).stream(rows.n_cols()).unwrap();
    stream.partial_fit(rows).unwrap();
    stream
}

#[test]
fn parts_merge_in_any_order_and_grouping() {
    let x = correlated(500, 9, 31);
    for route in BOTH {
        let whole = Pca::new(3).route(route).fit(x.clone()).unwrap();
        let parts: Vec<PcaStream> = [0..1, 1..40, 40..41, 41..330, 330..500]
            .into_iter()
            .map(|range| part(route, some(&x, range)))
            .collect();
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
            let mut sum = Pca::new(3).route(route).stream(9).unwrap();
            order.iter().for_each(|at| sum.merge(&parts[*at]).unwrap());
            assert_same(&whole, &sum.finish().unwrap(), &format!("{route} {order:?}"));
        }
        let (mut left, mut right) = (parts[0].clone(), parts[2].clone());
        left.merge(&parts[1]).unwrap();
        right.merge(&parts[3]).unwrap();
        right.merge(&parts[4]).unwrap();
        left.merge(&right).unwrap();
        assert_same(&whole, &left.finish().unwrap(), &format!("{route}, a tree"));
        // Nothing is lost by looking.
        let mut looked = parts[3].clone();
        looked.finish().unwrap();
        [0, 1, 2, 4].iter().for_each(|at| looked.merge(&parts[*at]).unwrap());
        assert_same(&whole, &looked.finish().unwrap(), &format!("{route}, looked at in between"));
        let reasons = &looked.finish().unwrap().plan().reasons.clone();
        assert!(reasons.iter().any(|r| r == "rows came in pieces"), "{reasons:?}");
    }
}

#[test]
fn rows_can_be_taken_out_again() {
    let x = correlated(300, 6, 32);
    let rest = Pca::new(3).route(PcaRoute::Covariance).fit(some(&x, 0..200)).unwrap();
    let mut stream = part(PcaRoute::Covariance, (&x).into());
    stream.remove(some(&x, 200..260)).unwrap();
    stream.remove(some(&x, 260..300)).unwrap();
    assert_eq!(stream.count(), 200);
    assert_same(&rest, &stream.finish().unwrap(), "100 of 300 taken out");
    let message = stream.remove(&x).unwrap_err().to_string();
    assert!(message.contains("300 rows to take out of 200"), "{message}");
    let message = stream.remove(&Matrix::<f64>::zeros(1, 5)).unwrap_err().to_string();
    assert!(message.contains("rows of 5 columns; earlier ones have 6"), "{message}");
    let message = part(PcaRoute::Tsqr, (&x).into()).remove(&x).unwrap_err().to_string();
    assert!(message.contains("only sums by covariance can be reversed"), "{message}");
    assert_same(&rest, &stream.finish().unwrap(), "after what was refused");
}

#[test]
fn pieces_with_weights_are_those_of_all_rows() {
    let x = correlated(200, 5, 33);
    let weights: Vec<f64> = (0..200).map(|i| (i % 3) as f64).collect();
    for route in BOTH {
        let whole = Pca::new(3).route(route).fit((&x, Some(&weights[..]))).unwrap();
        let mut stream = Pca::new(3).route(route).stream(5).unwrap();
        for from in (0..200).step_by(37) {
            let to = (from + 37).min(200);
            stream.partial_fit_weighted(some(&x, from..to), &weights[from..to]).unwrap();
        }
        // A piece without weight is no piece.
        stream.partial_fit_weighted(&Matrix::from_fn(2, 5, |_, _| 1e5), &[0.0, 0.0]).unwrap();
        let model = stream.finish().unwrap();
        assert_eq!((model.n_samples(), model.plan().weighted), (202, true));
        assert_same(&whole, &model, &route.to_string());
    }
}

#[test]
fn pieces_that_do_not_fit_are_refused_and_change_nothing() {
    let x = correlated(100, 4, 34);
    let mut stream = part(PcaRoute::Covariance, (&x).into());
    let before = stream.finish().unwrap();
    let message = stream.merge(&part(PcaRoute::Tsqr, (&x).into())).unwrap_err().to_string();
    assert!(message.contains("parts of two routes; both must be made by covariance"), "{message}");
    let message = stream
        .merge(&part(PcaRoute::Covariance, (&Matrix::<f64>::zeros(3, 5)).into()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("4 and 5"), "{message}");
    let message = stream.partial_fit(&Matrix::<f64>::zeros(3, 5)).unwrap_err().to_string();
    assert!(message.contains("rows of 5 columns; earlier ones have 4"), "{message}");
    let mut bad = x.view().rows(0..10).to_matrix();
    bad[(6, 2)] = f64::NAN;
    let message = stream.partial_fit(&bad).unwrap_err().to_string();
    assert!(message.contains("row 7, column 3 is NaN"), "{message}");
    let message = stream.partial_fit_weighted(&x, &[1.0]).unwrap_err().to_string();
    assert!(message.contains("1 weights for 100 rows"), "{message}");
    let after = stream.finish().unwrap();
    assert_eq!(before.components(), after.components());
    // Free memory, which the plan also names, changes from moment to moment.
    let facts = |plan: &PcaPlan| (plan.n_samples, plan.weighted, plan.precision.clone(), plan.route);
    assert_eq!(facts(before.plan()), facts(after.plan()));
    for route in [PcaRoute::Dual, PcaRoute::Krylov] {
        let message = Pca::new(2).route(route).stream(4).unwrap_err().to_string();
        assert!(message.contains("it must be covariance, tsqr or directions"), "{message}");
    }
    assert!(Pca::auto().stream(4).unwrap_err().to_string().contains("some of the rules need the rows"));
    let message = Pca::new(2).stream(4).unwrap().finish().unwrap_err().to_string();
    assert!(message.contains("no row"), "{message}");
}

#[test]
fn a_source_gives_what_memory_gives() {
    // 70 000 rows are read in two pieces.
    for (n, d) in [(400, 12), (70_000, 6)] {
        let x = correlated(n, d, 35);
        for (route, standardized) in [PcaRoute::Covariance, PcaRoute::Tsqr, PcaRoute::Krylov]
            .into_iter()
            .flat_map(|r| [(r, false), (r, true)])
        {
            let pca = Pca::new(3).route(route).tolerance(1e-13);
            let pca = if standardized { pca.standardize() } else { pca };
            let (a, b) = (pca.fit(x.clone()).unwrap(), pca.fit(&mut RowsInMemory::new(&x)).unwrap());
            let what = format!("{n} × {d}, {route}, {standardized}");
            assert_eq!((b.plan().route, b.n_samples()), (route, n), "{what}");
            assert!(b.plan().chunk_rows > 0);
            assert_close(&a.variances(), &b.variances(), 1e-10 * a.total_variance(), &what);
            assert_close(a.components().as_slice(), b.components().as_slice(), 1e-10, &what);
            assert_close(a.mean(), b.mean(), 1e-12, &what);
            // From the start again, wherever it was left.
            let again = pca.fit(&mut RowsInMemory::new(&x)).unwrap();
            assert_eq!(again.components(), b.components(), "{what}");
        }
    }
    let x = correlated(50, 4, 36);
    let message = Pca::new(2).route(PcaRoute::Dual).fit(&mut RowsInMemory::new(&x)).unwrap_err().to_string();
    assert!(message.contains("products of all pairs of rows need them in memory"), "{message}");
}

/// The rows with their weights as one more column.
fn with_weights(x: &Matrix<f64>, weights: &[f64]) -> Matrix<f64> {
    let d = x.n_cols();
    Matrix::from_fn(x.n_rows(), d + 1, |i, j| if j < d { x[(i, j)] } else { weights[i] })
}

#[test]
fn the_last_column_of_a_source_may_hold_the_weights() {
    let x = correlated(300, 8, 37);
    let weights: Vec<f64> = (0..300).map(|i| (i % 4) as f64 * 0.3).collect();
    let table = with_weights(&x, &weights);
    for (route, standardized) in [PcaRoute::Covariance, PcaRoute::Tsqr, PcaRoute::Krylov]
        .into_iter()
        .flat_map(|r| [(r, false), (r, true)])
    {
        let pca = Pca::new(3).route(route).tolerance(1e-13);
        let pca = if standardized { pca.standardize() } else { pca };
        let a = pca.fit((&x, Some(&weights[..]))).unwrap();
        let b = pca.weights_in_last_column().fit(&mut RowsInMemory::new(&table)).unwrap();
        let what = format!("{route} {standardized}");
        assert_eq!((b.n_features(), b.plan().weighted), (8, true), "{what}");
        assert_close(&a.variances(), &b.variances(), 1e-10 * a.total_variance(), &what);
        assert_close(a.components().as_slice(), b.components().as_slice(), 1e-10, &what);
    }
    let whitening = Whitening::new(WhiteningMethod::Zca).with(Pca::weights_in_last_column);
    let plan = whitening.prepare(&mut RowsInMemory::new(&table)).map(|job| job.plan().clone()).unwrap();
    assert_eq!((plan.n_features, plan.n_components), (8, Some(8)));
    let white = whitening.fit(&mut RowsInMemory::new(&table)).unwrap();
    assert_eq!((white.n_outputs(), white.rank()), (8, 8));
    let direct = Whitening::new(WhiteningMethod::Zca).fit((&x, Some(&weights[..]))).unwrap();
    assert_close(
        white.transform(&x).unwrap().as_slice(),
        direct.transform(&x).unwrap().as_slice(),
        1e-10,
        "whitened",
    );
    let mut bad = table.clone();
    bad[(17, 8)] = -1.0;
    let message = Pca::new(2).weights_in_last_column().fit(&mut RowsInMemory::new(&bad)).unwrap_err();
    assert!(message.to_string().contains("row 18 has the weight -1"), "{message}");
    let narrow = Matrix::from_fn(5, 1, |i, _| i as f64);
    let message = Pca::new(2).weights_in_last_column().fit(&mut RowsInMemory::new(&narrow)).unwrap_err();
    assert!(message.to_string().contains("at least one column of data"), "{message}");
    let rows = sparse(&table);
    let mut source = RowsInMemory::new(AnyPoints::F64(rows.view().into()));
    let message = Pca::new(2).weights_in_last_column().fit(&mut source).unwrap_err().to_string();
    assert!(message.contains("weights of sparse rows are given beside them"), "{message}");
}

#[test]
fn the_rules_on_the_number_of_components_take_no_weights() {
    let x = correlated(300, 8, 38);
    let table = with_weights(&x, &[1.0; 300]);
    for message in [
        Pca::auto().fit((&x, Some(&[1.0; 300][..]))).unwrap_err().to_string(),
        Pca::auto().weights_in_last_column().fit(&mut RowsInMemory::new(&table)).unwrap_err().to_string(),
    ] {
        assert!(message.contains("the rules take every row to count once"), "{message}");
    }
    let (memory, source) =
        (Pca::auto().fit(x.clone()).unwrap(), Pca::auto().fit(&mut RowsInMemory::new(&x)).unwrap());
    assert_eq!(memory.n_components(), source.n_components());
}

#[test]
fn a_bad_entry_of_a_source_is_named_by_its_row() {
    let mut x = correlated(70_000, 3, 39);
    x[(12, 1)] = f64::INFINITY;
    for route in [PcaRoute::Covariance, PcaRoute::Tsqr, PcaRoute::Krylov] {
        let pca = Pca::new(1).route(route);
        let message = pca.fit(&mut RowsInMemory::new(&x)).unwrap_err().to_string();
        assert!(message.contains("row 13, column 2 is inf"), "{message}");
    }
    x[(12, 1)] = 0.0;
    x[(69_000, 2)] = f64::NAN;
    let message = Pca::new(1).fit(&mut RowsInMemory::new(&x)).unwrap_err().to_string();
    // Pieces have 65 536 rows.
    assert!(message.contains("row 3465, column 3 is NaN (counted after row 65536)"), "{message}");
}

#[test]
fn a_stream_goes_on_from_what_it_kept() {
    let x = problems::mixture(90, 6, 3);
    for route in [PcaRoute::Covariance, PcaRoute::Tsqr, PcaRoute::Directions] {
        let settings = Pca::new(3).route(route).sketch_rows(4);
        let mut whole = settings.stream(6).unwrap();
        whole.partial_fit(AnyPoints::from(&x).rows(0..50)).unwrap();
        let mut resumed = settings.stream(6).unwrap();
        resumed.resume(whole.state()).unwrap();
        assert_eq!(resumed.state(), whole.state());
        for stream in [&mut whole, &mut resumed] {
            stream.partial_fit(AnyPoints::from(&x).rows(50..90)).unwrap();
        }
        let columns = whole.columns();
        let columns = (columns.0.to_vec(), columns.1);
        let (whole, resumed) = (whole.finish().unwrap(), resumed.finish().unwrap());
        let (mean, squares) = columns;
        let spread = |j: usize| (0..90).map(|i| (x[(i, j)] - mean[j]).powi(2)).sum::<f64>();
        assert_close(
            &squares,
            &(0..6).map(spread).collect::<Vec<_>>(),
            1e-12 * squares[0].max(1.0),
            "columns",
        );
        assert_eq!(whole.components(), resumed.components(), "{route}");
        assert_eq!(whole.eigenvalues(), resumed.eigenvalues(), "{route}");
    }
    let state = Pca::new(2).stream(5).unwrap().state();
    let message = Pca::new(2).stream(6).unwrap().resume(state.clone()).unwrap_err().to_string();
    assert!(message.starts_with("sums of 5 columns"), "{message}");
    let spoiled = StreamState { mean: vec![f64::NAN; 5], ..state };
    assert!(Pca::new(2).stream(5).unwrap().resume(spoiled).is_err());
}

#[test]
fn a_stream_keeps_as_many_components_as_are_asked_for_at_the_end() {
    let x = problems::mixture(60, 5, 8);
    let mut stream = Pca::new(1).stream(5).unwrap();
    stream.partial_fit(&x).unwrap();
    stream.keep(4);
    let (found, wanted) = (stream.finish().unwrap(), Pca::new(4).fit(x.clone()).unwrap());
    assert!(reference::difference(&found.components(), &wanted.components()) < 1e-10);
    let fewer = wanted.clone().keeping(2);
    assert_eq!(fewer.n_components(), 2);
    assert_eq!(fewer.spectrum(), wanted.spectrum());
    assert!((fewer.residual_error() - wanted.residual_errors()[2]).abs() < 1e-15);
    let all = wanted.transform(&x).unwrap();
    assert_eq!(fewer.transform(&x).unwrap().column(1), all.column(1));
}
