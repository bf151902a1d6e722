//! Agreement with cca-zoo 4 (`golden/make_kcca.py` made the file) and with slow, obvious references.

use super::{mean_correlation, related, samples};
use eigenlift::factor::Regularization::Value;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::kernel_cca::{FittedKernelCca, KernelCca};
use eigenlift_testkit::reference::{centred, difference_up_to_sign, eigen, gram, product};
use serde_json::Value as Json;

fn golden() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/kcca.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn matrix(value: &Json) -> Matrix<f64> {
    let rows = value.as_array().unwrap();
    Matrix::from_fn(rows.len(), rows[0].as_array().unwrap().len(), |i, j| rows[i][j].as_f64().unwrap())
}

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

/// Columns divided by the standard deviation of those of `over`.
fn standard(x: &Matrix<f64>, over: &Matrix<f64>) -> Matrix<f64> {
    let n = over.n_rows() as f64;
    let deviation = |j: usize| (over.column(j).iter().map(|s| s * s).sum::<f64>() / n).sqrt();
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] / deviation(j))
}

/// Correlations, scores and new rows of `CCA`, `MCCA` and `KCCA`, κ = c/(1 − c)·(n − 1)/n. Gaps between correlations are
/// 1e-2 and more, so that vectors lose two or three digits of the sixteen; cca-zoo goes through squares of the kernel, which
/// takes another three.
#[test]
fn correlations_scores_and_new_rows_are_those_of_cca_zoo() {
    let golden = golden();
    let tables: Vec<Matrix<f64>> = golden["views"].as_array().unwrap().iter().map(matrix).collect();
    let cases = golden["cases"].as_object().unwrap();
    assert_eq!(cases.len(), 6);
    for (name, case) in cases {
        let views = &tables[..case["views"].as_u64().unwrap() as usize];
        let expected: Vec<f64> =
            case["correlations"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let model = KernelCca::new(expected.len())
            .kernel(spec(case["kernel"].as_str().unwrap()))
            .regularization(Value(case["regularization"].as_f64().unwrap()))
            .fit(&samples(views))
            .unwrap();
        for (got, expected) in model.training_correlations().iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-9, "{name}: {got} {expected}");
        }
        let scores = model.scores().unwrap();
        for (view, own) in scores.iter().enumerate() {
            let first = standard(&own.view().rows(0..5).to_matrix(), own);
            let gap = difference_up_to_sign(&first, &matrix(&case["scores"][view]));
            assert!(gap < 1e-7, "{name}, view {view}: scores differ by {gap:e}");
            let new = Matrix::from_fn(2, views[view].n_cols(), |i, j| views[view][(i, j)] + 0.1);
            let new = standard(&model.transform(view, &new).unwrap(), own);
            let gap = difference_up_to_sign(&new, &matrix(&case["new"][view]));
            assert!(gap < 1e-7, "{name}, view {view}: new rows differ by {gap:e}");
        }
    }
}

/// V·f(Λ)·Vᵀ of a symmetric matrix.
fn function_of(a: &Matrix<f64>, f: impl Fn(f64) -> f64) -> Matrix<f64> {
    let (values, v) = eigen(a);
    let scaled = Matrix::from_fn(v.n_rows(), v.n_cols(), |i, j| v[(i, j)] * f(values[j]));
    product(&scaled, &turned(&v))
}

fn turned(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)])
}

/// The dual: with P = K_c(K_c + nκI)⁻¹ of each view, ρ² are the eigenvalues of P_x^½ P_y P_x^½, and scores of the first view
/// are √n·P_x^½ times its eigenvectors.
#[test]
fn the_primal_on_all_points_is_the_dual() {
    let n = 45;
    let views = related(n, &[3, 2], 1);
    for (kernels, kappa) in [
        (["rbf(gamma=0.3)", "rbf(gamma=0.2)"], 1e-3),
        (["rbf(gamma=0.3)", "poly(degree=2,coef0=1)"], 1e-2),
        (["laplacian(gamma=0.5)", "rbf(gamma=1)"], 1e-4),
    ] {
        let specs: Vec<KernelSpec> = kernels.iter().map(|text| spec(text)).collect();
        let model = KernelCca::new(3)
            .kernels(specs.clone())
            .regularization(Value(kappa))
            .fit(&samples(&views))
            .unwrap();
        assert_eq!(model.left_out(), [None, None]);
        let root = |view: usize| {
            let k = centred(&gram(&specs[view], &views[view], &views[view]));
            function_of(&k, |value| (value.max(0.0) / (value.max(0.0) + n as f64 * kappa)).sqrt())
        };
        let (x, y) = (root(0), root(1));
        let (values, vectors) = eigen(&product(&product(&x, &product(&y, &y)), &x));
        for (got, square) in model.correlations().iter().zip(&values) {
            assert!((got - square.sqrt()).abs() < 1e-8, "{kernels:?}: {got} {}", square.sqrt());
        }
        let leading = Matrix::from_fn(n, 3, |i, j| (n as f64).sqrt() * vectors[(i, j)]);
        let scores = &model.scores().unwrap()[0];
        let gap = difference_up_to_sign(scores, &product(&x, &leading));
        // The square of a relative gap of about 0.1 separates the eigenvectors.
        assert!(gap < 1e-6, "{kernels:?}: scores differ by {gap:e}");
    }
}

/// Orthonormal columns that span those of x minus their means, by Gram and Schmidt.
fn orthonormal(x: &Matrix<f64>) -> Matrix<f64> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..x.n_cols() {
        let mut column = x.column(j);
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        column.iter_mut().for_each(|x| *x -= mean);
        for _ in 0..2 {
            for other in &columns {
                let along: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
        }
        let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        columns.push(column.iter().map(|x| x / norm).collect());
    }
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| columns[j][i])
}

/// Canonical correlation of the textbook: singular values of QxᵀQy. Björck and Golub.
#[test]
fn the_linear_kernel_without_regularisation_is_the_textbook() {
    let views = related(80, &[4, 6], 2);
    let model =
        KernelCca::new(4).kernel(spec("linear")).regularization(Value(0.0)).fit(&samples(&views)).unwrap();
    let between = product(&turned(&orthonormal(&views[0])), &orthonormal(&views[1]));
    let (squares, _) = eigen(&product(&between, &turned(&between)));
    for (got, square) in model.correlations().iter().zip(&squares) {
        assert!((got - square.sqrt()).abs() < 1e-10, "{got} {}", square.sqrt());
    }
    // Without regularisation ρ is the plain correlation, scores have unit variance and components do not correlate.
    let scores = model.scores().unwrap();
    for (j, rho) in model.correlations().iter().enumerate() {
        assert!((model.training_correlations()[j] - rho).abs() < 1e-10);
        assert!((mean_correlation(&scores, j) - rho).abs() < 1e-10);
        for own in &scores {
            let along =
                |l: usize| own.column(j).iter().zip(own.column(l)).map(|(a, b)| a * b).sum::<f64>() / 80.0;
            assert!((along(j) - 1.0).abs() < 1e-10);
            assert!((0..j).all(|l| along(l).abs() < 1e-10));
        }
    }
}

/// ρ is what the directions make large: wᵀC_xy w' where wᵀ(C + κI)w = 1, checked from scores and ‖w‖² = Aᵀ·k(Z,Z)·A.
#[test]
fn regularised_correlations_are_covariances_of_scores_of_unit_penalised_variance() {
    let (views, kappa, kernel) = (related(50, &[2, 3], 3), 0.05, spec("rbf(gamma=0.4)"));
    let model: FittedKernelCca =
        KernelCca::new(2).kernel(kernel.clone()).regularization(Value(kappa)).fit(&samples(&views)).unwrap();
    let scores = model.scores().unwrap();
    for (j, rho) in model.correlations().iter().enumerate() {
        let covariance: f64 = scores[0].column(j).iter().zip(scores[1].column(j)).map(|(a, b)| a * b).sum();
        assert!((covariance / 50.0 - rho).abs() < 1e-8, "{covariance} {rho}");
        for (view, own) in scores.iter().enumerate() {
            let variance = own.column(j).iter().map(|s| s * s).sum::<f64>() / 50.0;
            let a = &model.projections()[view].coefficients;
            // All rows are landmarks, in an order that the projection keeps with its samples.
            let eigenlift::model::Lift::Kernel { samples: landmarks, .. } = &model.projections()[view].lift
            else {
                panic!("landmarks");
            };
            let z = landmarks.points().to_dense::<f64>();
            let k = gram(&kernel, &z, &z);
            let norm: f64 = (0..z.n_rows())
                .flat_map(|i| (0..z.n_rows()).map(move |l| (i, l)))
                .map(|(i, l)| a[(i, j)] * k[(i, l)] * a[(l, j)])
                .sum();
            assert!((variance + kappa * norm - 1.0).abs() < 1e-8, "{variance} {norm}");
        }
    }
}
