//! Agreement with scikit-learn 1.9 and with plain NumPy; `golden/make_pca.py` made the file.
//!
//! Tolerance: the eigenvalues of a case are at least 2e-4 λ₁ apart (asserted by the script), so that axes move by
//! n·eps·λ₁/gap = 60·2.2e-16/2e-4 = 7e-11 of their length, and everything else by less.

use super::help::{largest, some};
use eigenlift::data;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::reference::difference;
use serde_json::Value;

const AGREE: f64 = 1e-10;

fn file() -> Value {
    serde_json::from_str(include_str!("../../golden/pca.json")).unwrap()
}

fn matrix(value: &Value) -> Matrix<f64> {
    let rows = value.as_array().unwrap();
    Matrix::from_fn(rows.len(), rows[0].as_array().unwrap().len(), |i, j| rows[i][j].as_f64().unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn assert_agrees(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let size = expected.iter().map(|v| v.abs()).fold(0.0, f64::max);
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= AGREE * size, "{what}: {a} {b}");
    }
}

fn assert_same_rows(what: &str, got: &Matrix<f64>, expected: &Matrix<f64>) {
    let gap = difference(got, expected);
    assert!(gap <= AGREE * largest(expected), "{what}: {gap:e}");
}

/// The rows of a case, its weights, and the factor from scikit-learn's variances to ours.
fn rows_of(case: &Value) -> (Matrix<f64>, Option<Vec<f64>>, f64) {
    let x = match &case["X"] {
        Value::Null => data::iris().unwrap().samples.points().to_dense(),
        rows => matrix(rows),
    };
    let weights = case["weights"].as_array().map(|_| numbers(&case["weights"]));
    let n = x.n_rows() as f64;
    let factor = if weights.is_some() { 1.0 } else { (n - 1.0) / n };
    (x, weights, factor)
}

fn check(name: &str, case: &Value, route: PcaRoute) {
    let what = |part: &str| format!("{name}, {route}: {part}");
    let (x, weights, factor) = rows_of(case);
    let new = matrix(&case["X_new"]);
    let standardized = case["standardized"].as_bool().unwrap();
    let settings = Pca::new(case["k"].as_u64().unwrap() as usize).route(route).tolerance(1e-13);
    let settings = if standardized { settings.standardize() } else { settings };
    let model: FittedPca = settings.fit((&x, weights.as_deref())).unwrap();
    assert_agrees(&what("mean"), model.mean(), &numbers(&case["mean"]));
    assert_same_rows(&what("components"), &model.components(), &matrix(&case["components"]));
    let variances: Vec<f64> = numbers(&case["variances"]).iter().map(|v| v * factor).collect();
    assert_agrees(&what("variances"), &model.variances(), &variances);
    assert_agrees(&what("ratios"), &model.explained_variance_ratio(), &numbers(&case["ratios"]));
    let singular: Vec<f64> = model.eigenvalues().iter().map(|v| v.sqrt()).collect();
    assert_agrees(&what("singular values"), &singular, &numbers(&case["singular_values"]));
    let scores = model.transform(&new).unwrap();
    assert_same_rows(&what("scores"), &scores, &matrix(&case["scores_new"]));
    assert_same_rows(
        &what("way back"),
        &model.inverse_transform(&scores).unwrap(),
        &matrix(&case["back_new"]),
    );

    let method = if standardized { WhiteningMethod::PcaCor } else { WhiteningMethod::Pca };
    let white = Whitening::new(method).components(model.n_components());
    let white = white.with(|pca| pca.route(route).tolerance(1e-13));
    let z = white.fit((&x, weights.as_deref())).unwrap().transform(&new).unwrap();
    let scaled = Matrix::from_fn(z.n_rows(), z.n_cols(), |i, j| z[(i, j)] * factor.sqrt());
    assert_same_rows(&what("whitened"), &scaled, &matrix(&case["white_new"]));
}

#[test]
fn every_case_agrees_with_scikit_learn_by_every_route() {
    let file = file();
    let cases = file["cases"].as_object().unwrap();
    assert_eq!(cases.len(), 6);
    for (name, case) in cases {
        for route in [PcaRoute::Tsqr, PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Krylov] {
            check(name, case, route);
        }
    }
}

/// The rows that `pieces` of the script makes.
fn rows_for_pieces() -> Matrix<f64> {
    let mut draw = Numbers::new(11);
    let mix = Matrix::from_fn(5, 30, |_, _| draw.uniform() - 0.5);
    let mut x = Matrix::zeros(1000, 30);
    for i in 0..1000 {
        let latent: Vec<f64> = (0..5).map(|l| (draw.uniform() - 0.5) * f64::from(8 - l)).collect();
        for j in 0..30 {
            let common: f64 = (0..5).map(|l| latent[l] * mix[(l, j)]).sum();
            x[(i, j)] = common + 0.2 * draw.uniform() + 0.5 * j as f64;
        }
    }
    x
}

/// Where scikit-learn's IncrementalPCA approximates, sums of pieces are exact.
#[test]
fn pieces_of_1_97_and_1000_rows_give_what_the_full_solver_gives() {
    let (x, expected) = (rows_for_pieces(), &file()["pieces"]);
    let variances: Vec<f64> = numbers(&expected["variances"]).iter().map(|v| v * 0.999).collect();
    for route in [PcaRoute::Covariance, PcaRoute::Tsqr] {
        for size in [1, 97, 1000] {
            let mut stream = Pca::new(5).route(route).stream(30).unwrap();
            for from in (0..1000).step_by(size) {
                stream.partial_fit(some(&x, from..(from + size).min(1000))).unwrap();
            }
            let model = stream.finish().unwrap();
            assert_eq!((stream.count(), model.n_samples()), (1000, 1000));
            assert_agrees(&format!("{route}, pieces of {size}"), &model.variances(), &variances);
            assert_same_rows(
                &format!("{route}, {size}"),
                &model.components(),
                &matrix(&expected["components"]),
            );
        }
    }
}
