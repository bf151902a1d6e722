//! Agreement with scikit-learn 1.9 and with plain NumPy formulas; `golden/make.py` made the files.

use eigenlift::data::AnyPoints;
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift_testkit::{problems, reference};
use serde_json::Value;

fn file(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn matrix(value: &Value) -> Matrix<f64> {
    let rows = value.as_array().unwrap();
    let n_cols = rows[0].as_array().unwrap().len();
    Matrix::from_fn(rows.len(), n_cols, |i, j| rows[i][j].as_f64().unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn largest(m: &Matrix<f64>) -> f64 {
    m.as_slice().iter().map(|v| v.abs()).fold(0.0, f64::max)
}

/// Scores, eigenvalues and new rows agree to `relative` of the largest score.
fn check(name: &str, relative: f64) {
    let case = file(&format!("kpca-{name}.json"));
    let (x, new) = (matrix(&case["X"]), matrix(&case["X_new"]));
    let (scores, scores_new) = (matrix(&case["scores"]), matrix(&case["scores_new"]));
    let k = case["k"].as_u64().unwrap() as usize;
    let settings =
        KernelPca::new(k).kernel(case["kernel"].as_str().unwrap().parse().unwrap()).tolerance(1e-12);
    let single = case["dtype"] == "float32";
    let narrow = |m: &Matrix<f64>| Matrix::from_fn(m.n_rows(), m.n_cols(), |i, j| m[(i, j)] as f32);
    let model = if single { settings.fit(narrow(&x)) } else { settings.fit(x.clone()) }.unwrap();
    assert_eq!(model.n_components(), k, "{name}");
    let values = numbers(&case["eigenvalues"]);
    for (got, expected) in model.eigenvalues().iter().zip(&values) {
        assert!((got - expected).abs() <= relative * values[0], "{name}: {got} {expected}");
    }
    let scale = largest(&scores);
    // Both fix signs by the largest entry of the eigenvector: no freedom is left.
    let gap = reference::difference(&model.scores().unwrap(), &scores);
    assert!(gap <= relative * scale, "{name}: scores differ by {:e}", gap / scale);
    let narrow_new = narrow(&new);
    let rows: AnyPoints<'_> = if single { (&narrow_new).into() } else { (&new).into() };
    let gap = reference::difference(&model.transform(rows).unwrap(), &scores_new);
    assert!(gap <= relative * scale, "{name}: new rows differ by {:e}", gap / scale);
    if case["most_negative"].as_f64().unwrap() < -1e-3 {
        // A repaired kernel: the total is the sum of the eigenvalues that are left.
        assert!(model.explained_variance_ratio().iter().sum::<f64>() <= 1.0, "{name}");
        return;
    }
    let total = case["trace"].as_f64().unwrap();
    assert!(
        (model.total() - total).abs() <= relative * total.abs(),
        "{name}: trace {} {total}",
        model.total()
    );
}

#[test]
fn kernel_pca_agrees_with_scikit_learn_in_double_precision() {
    for name in ["rbf", "poly3", "poly2", "sigmoid", "cosine", "linear", "rbf300"] {
        check(&format!("{name}-f64"), 1e-10);
    }
}

// Single precision on both sides: 60 samples, unit roundoff 6e-8, divided by the smallest relative gap of the cases.
#[test]
fn kernel_pca_agrees_with_scikit_learn_in_single_precision() {
    for name in ["rbf", "poly3", "poly2", "sigmoid", "cosine", "linear"] {
        check(&format!("{name}-f32"), 2e-4);
    }
}

#[test]
fn every_kernel_agrees_with_its_formula() {
    let case = file("kernels.json");
    let (x, y) = (matrix(&case["X"]), matrix(&case["Y"]));
    let kernels = case["kernels"].as_object().unwrap();
    assert!(kernels.len() >= 30);
    for (text, expected) in kernels {
        let spec: eigenlift::kernel::KernelSpec = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        let kernel = Kernel::for_points(&spec, (&x).into(), 0).unwrap();
        let (got, expected) = (kernel.matrix((&x).into(), (&y).into()), matrix(expected));
        let gap = reference::difference(&got, &expected);
        assert!(gap <= 64.0 * f64::EPSILON * largest(&expected), "{text}: {gap:e}");
        let spec = kernel.spec().unwrap();
        let slow = reference::gram(spec, &x, &y);
        assert!(
            reference::difference(&slow, &expected) <= 64.0 * f64::EPSILON * largest(&expected),
            "{text}"
        );
    }
}

#[test]
fn digits_have_the_eigenvalues_lapack_finds() {
    let case = file("spectra.json");
    let values = numbers(&case["digits"]["eigenvalues"]);
    let settings = |tolerance| {
        KernelPca::new(20)
            .kernel(format!("rbf(gamma={})", 1.0 / 9.4140625).parse().unwrap())
            .tolerance(tolerance)
    };
    let model = settings(1e-10).fit(problems::digits()).unwrap();
    for (got, expected) in model.eigenvalues().iter().zip(&values) {
        assert!((got - expected).abs() <= 1e-11 * values[0], "{got} {expected}");
    }
    // With the default tolerance eigenvalues are right to the square of the residual over the gap.
    let quick = settings(1e-6).fit(problems::digits()).unwrap();
    for (j, (got, expected)) in quick.eigenvalues().iter().zip(&values).enumerate() {
        let interval = quick.certificate().intervals[j];
        assert!(interval.low <= *expected && *expected <= interval.high, "{j}: {interval:?} {expected}");
        assert!((got - expected).abs() <= 1e-9 * values[0], "{got} {expected}");
    }
}
