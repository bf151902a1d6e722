//! Agreement with scikit-learn 1.9; `golden/make_manifold.py` made the file.
//!
//! Tolerance: the matrix whose eigenvectors are wanted is known to n·eps·‖M‖ on each side, so that a unit vector moves by
//! n·eps/gap, the gap of the file being relative to ‖M‖; ten times that is allowed. An iteration with tolerance 1e-10 adds
//! 1e-10/gap at most.

use super::help::{EPS, largest, roll, rows_of, sheet};
use eigenlift::data;
use eigenlift::graph::{Metric, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Affinity, LleVariant};
use eigenlift::methods::{ClassicalMds, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear};
use eigenlift::progress::Watch;
use eigenlift::quality::neighborhoods;
use eigenlift_testkit::reference::difference;
use serde_json::Value;

fn file() -> Value {
    serde_json::from_str(include_str!("../../golden/manifold.json")).unwrap()
}

fn matrix(value: &Value) -> Matrix<f64> {
    let rows = value.as_array().unwrap();
    Matrix::from_fn(rows.len(), rows[0].as_array().unwrap().len(), |i, j| rows[i][j].as_f64().unwrap())
}

/// What the case allows, relative to the length of a column.
fn allowed(case: &Value, n: usize, iterates: bool) -> f64 {
    let gap = case["gap"].as_f64().unwrap();
    (10.0 * n as f64 * EPS + if iterates { 1e-10 } else { 0.0 }) / gap + 1e-12
}

/// Scores, the eigenvalues where they are comparable, and new rows; the model with signs as in the file comes back.
fn check(name: &str, model: FittedManifold, iterates: bool, new: Option<&Matrix<f64>>) {
    let case = &file()["cases"][name];
    let n = model.n_samples();
    let allowed = allowed(case, n, iterates);
    let expected = matrix(&case["scores"]);
    let stored: Vec<usize> = (0..n).step_by(case["every"].as_u64().unwrap() as usize).collect();
    let picked = rows_of(model.scores(), &stored);
    let along = |j: usize| -> f64 { (0..stored.len()).map(|i| picked[(i, j)] * expected[(i, j)]).sum() };
    let flips: Vec<bool> = (0..expected.n_cols()).map(|j| along(j) < 0.0).collect();
    let model = model.flipped(&flips);
    let scores = rows_of(model.scores(), &stored);
    for j in 0..expected.n_cols() {
        let length = model.scores().column(j).iter().map(|v| v * v).sum::<f64>().sqrt();
        for i in 0..stored.len() {
            let gap = (scores[(i, j)] - expected[(i, j)]).abs();
            assert!(
                gap <= allowed * length,
                "{name}: row {}, column {j}: {gap:e} of {length}, {allowed:e}",
                stored[i]
            );
        }
    }
    let residual = if iterates { 1e-10 } else { 0.0 };
    // Eigenvalues move by n·eps·‖M‖; those of lle are far smaller than ‖M‖, which is at most some hundreds here.
    let norm = model.eigenvalues().iter().fold(300.0, |a: f64, b| a.max(*b));
    for (j, value) in case["values"].as_array().unwrap().iter().enumerate() {
        let (got, value) = (model.eigenvalues()[j], value.as_f64().unwrap());
        assert!(
            (got - value).abs() <= 10.0 * n as f64 * EPS * norm + residual * value,
            "{name}: {got} {value}"
        );
    }
    if let Some(new) = new {
        let (placed, expected) = (model.transform(new).unwrap(), matrix(&case["new"]));
        // A = v/√λ: what a new row's lift is multiplied by moves as the vectors do.
        let gap = difference(&placed, &expected);
        assert!(gap <= 100.0 * allowed * largest(&expected), "{name}, new rows: {gap:e}");
    }
}

#[test]
fn isomap_agrees_with_scikit_learn() {
    let (x, new) = (roll(300, 21), roll(20, 22));
    let fine = Isomap::new(2).tolerance(1e-10);
    check("isomap by neighbours", fine.clone().neighbors(8).fit(x.clone()).unwrap(), false, Some(&new));
    check("isomap by radius", fine.clone().radius(6.0).fit(x).unwrap(), false, Some(&new));
    let many = fine.neighbors(9).fit(sheet(700, 24, 0.3)).unwrap();
    assert_eq!(many.facts().solver, "davidson");
    check("isomap of 700", many, true, None);
}

#[test]
fn scaling_of_iris_agrees_with_scikit_learn() {
    let iris = data::iris().unwrap().samples;
    check("mds of iris", ClassicalMds::new(3).fit(iris).unwrap(), false, None);
}

#[test]
fn laplacian_eigenmaps_agree_with_scikit_learn() {
    let fine = LaplacianEigenmaps::new(2).neighbors(9).tolerance(1e-10);
    let bent = sheet(300, 23, 0.5);
    check("laplacian by neighbours", fine.clone().fit(bent.clone()).unwrap(), false, None);
    let rbf = Affinity::Kernel("rbf(gamma=2)".parse().unwrap());
    check("laplacian by rbf", fine.clone().affinity(rbf).fit(bent).unwrap(), false, None);
    let many = fine.fit(sheet(700, 24, 0.3)).unwrap();
    assert_eq!(many.facts().solver, "shift and invert");
    check("laplacian of 700", many, true, None);
}

#[test]
fn locally_linear_embeddings_agree_with_scikit_learn() {
    let bent = sheet(300, 23, 0.5);
    for (name, variant) in [
        ("lle standard", LleVariant::Standard),
        ("lle modified", LleVariant::Modified),
        ("lle hessian", LleVariant::Hessian),
        ("lle ltsa", LleVariant::Ltsa),
    ] {
        let (k, ridge) = match variant {
            LleVariant::Standard => (6, 0.1),
            LleVariant::Hessian => (6, 1e-3),
            LleVariant::Modified | LleVariant::Ltsa => (11, 1e-3),
        };
        let settings = LocallyLinear::new(2).neighbors(k).variant(variant).ridge(ridge);
        check(name, settings.fit(bent.clone()).unwrap(), false, None);
    }
    let many = LocallyLinear::new(2).neighbors(9).variant(LleVariant::Ltsa).tolerance(1e-10);
    let many = many.fit(sheet(700, 24, 0.3)).unwrap();
    assert_eq!(many.facts().solver, "shift and invert");
    check("lle of 700", many, false, None);
}

/// Sums of ranks, divided once: equal up to the order of that division.
#[test]
fn trustworthiness_and_its_mirror_agree_with_scikit_learn() {
    let x = roll(300, 21);
    let flat = Matrix::from_fn(300, 2, |i, j| x[(i, j)]);
    let file = file();
    let expected: Vec<f64> = (0..2).map(|at| file["trustworthiness"][at].as_f64().unwrap()).collect();
    let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
    let found = neighborhoods((&space, (&x).into()), &flat, 7, (usize::MAX, 0), &Watch::default()).unwrap();
    assert_eq!(found.n_rows, 300);
    assert!((found.trustworthiness - expected[0]).abs() < 1e-14, "{found:?} {expected:?}");
    assert!((found.continuity - expected[1]).abs() < 1e-14, "{found:?} {expected:?}");
    // Distances that are given say the same.
    let d = super::help::distances(&x, &x);
    let given = Space::Distances { n_samples: 300 };
    let same = neighborhoods((&given, (&d).into()), &flat, 7, (usize::MAX, 0), &Watch::default()).unwrap();
    assert_eq!(same, found);
}
