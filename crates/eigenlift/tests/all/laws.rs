//! Laws over every operator and every solver, one line each.

use eigenlift::data::Samples;
use eigenlift::eigen::{Davidson, Dense, Eigensolver};
use eigenlift::error::Error;
use eigenlift::features::pivoted_cholesky;
use eigenlift::gram::{BLOCK_ROWS, Similarity, Storage, SymmetricGram};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::{MatMut, MatRef, Matrix};
use eigenlift::operator::{Centered, GramOperator, LinearOperator};
use eigenlift::progress::Watch;
use eigenlift::real::Real;
use eigenlift_testkit::counting::Counting;
use eigenlift_testkit::{laws, problems, reference};

const KERNELS: [&str; 20] = [
    "linear",
    "polynomial(degree=3,gamma=0.2,coef0=1)",
    "polynomial(degree=2,coef0=0)",
    "rbf(gamma=0.3)",
    "rbf(sigma=1.5)",
    "rbf(c=4)",
    "laplacian(gamma=0.2)",
    "exponential(gamma=0.4)",
    "matern(nu=0.5,length=2)",
    "matern(nu=1.5,length=2)",
    "matern(nu=2.5,length=2)",
    "rational_quadratic(alpha=1.5,length=2)",
    "sigmoid(gamma=0.1,coef0=0.2)",
    "cosine",
    "chi2(gamma=0.5)",
    "intersection",
    "tanimoto",
    "map(1, sqrt(2)*x1^2, x2*x3)",
    "expr(1 + 2*x1^2*y1^2 + x2*y2)",
    "0.5*rbf(gamma=0.3) + linear*cosine",
];

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

/// Entries that are not negative, so that every kernel can be computed; one row twice, one row of zeros.
fn rows(n: usize) -> Matrix<f64> {
    let mut x = problems::noise(n, 4, 3);
    x.as_mut_slice().iter_mut().for_each(|v| *v = if v.abs() < 0.3 { 0.0 } else { v.abs() });
    (0..4).for_each(|j| x[(n - 1, j)] = x[(0, j)]);
    (0..4).for_each(|j| x[(n / 2, j)] = 0.0);
    x
}

fn operator<T: Real>(text: &str, samples: impl Into<Samples<T>>, storage: Storage) -> SymmetricGram<T> {
    let samples = samples.into();
    let kernel = Kernel::new(&spec(text), samples.n_cols()).unwrap();
    SymmetricGram::new(Similarity::Kernel(kernel), samples, storage).unwrap()
}

// 400 rows are three blocks, the last one partial. Rounding of one entry: a dot product of 4 terms and a profile, 64 units.
#[test]
fn every_operator_in_double_precision_keeps_the_laws() {
    let x = rows(400);
    for text in KERNELS {
        let dense = reference::gram(&spec(text), &x, &x);
        for storage in [Storage::Stored, Storage::Tiled] {
            laws::gram_operator(&operator(text, x.clone(), storage), &dense, 64.0 * f64::EPSILON);
        }
        laws::gram_operator(
            &operator(text, problems::sparse(&x), Storage::Tiled),
            &dense,
            64.0 * f64::EPSILON,
        );
    }
    let given = reference::gram(&spec("rbf(gamma=0.3)"), &x, &x);
    let symmetric = Matrix::from_fn(400, 400, |i, j| given[(i.min(j), i.max(j))]);
    let precomputed =
        SymmetricGram::new(Similarity::Precomputed, Samples::from(symmetric.clone()), Storage::Stored)
            .unwrap();
    laws::gram_operator(&precomputed, &symmetric, f64::EPSILON);
}

#[test]
fn every_operator_in_single_precision_keeps_the_laws() {
    let x = rows(250);
    let single = Matrix::from_fn(250, 4, |i, j| x[(i, j)] as f32);
    let exact = Matrix::from_fn(250, 4, |i, j| f64::from(single[(i, j)]));
    for text in KERNELS {
        let dense = reference::gram(&spec(text), &exact, &exact);
        for storage in [Storage::Stored, Storage::Tiled] {
            let unit = 64.0 * f64::from(f32::EPSILON);
            laws::gram_operator(&operator(text, single.clone(), storage), &dense, unit);
        }
    }
}

#[test]
fn tiny_and_odd_sizes_keep_the_laws() {
    for n in [2, 3, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 1] {
        let x = rows(n);
        let dense = reference::gram(&spec("rbf(gamma=0.3)"), &x, &x);
        let stored = operator("rbf(gamma=0.3)", x, Storage::Stored);
        laws::gram_operator(&stored, &dense, 64.0 * f64::EPSILON);
    }
}

fn solvers() -> [Box<dyn Eigensolver>; 2] {
    [Box::new(Dense::default()), Box::new(Davidson)]
}

#[test]
fn every_solver_keeps_the_laws_and_finds_the_same_values() {
    let watch = Watch::default();
    let problems: [(&str, Matrix<f64>); 3] = [
        ("rbf(gamma=0.01)", problems::mixture(300, 8, 1)),
        ("exponential(gamma=0.2)", problems::noise(300, 8, 2)),
        ("sigmoid(gamma=0.05,coef0=0.1)", problems::noise(300, 8, 3)),
    ];
    for (text, x) in problems {
        let gram = operator(text, x.clone(), Storage::Stored);
        let centred = Centered::new(&gram);
        let (exact, _) = reference::eigen(&reference::centred(&reference::gram(&spec(text), &x, &x)));
        for solver in solvers() {
            let how = laws::options(&watch, 1e-10, 300.0);
            let pairs = laws::solver(&*solver, &centred, 12, &how);
            for (j, exact) in exact.iter().take(12).enumerate() {
                assert!((pairs.values[j] - exact).abs() < 1e-11 * pairs.values[0], "{solver:?} {text} {j}");
            }
            assert!(pairs.stats.passes > 0 && pairs.stats.products > 0 && pairs.stats.iterations > 0);
        }
    }
}

#[test]
fn solvers_stop_honestly() {
    let watch = Watch::default();
    let gram = operator("exponential(gamma=0.2)", problems::noise(600, 16, 2), Storage::Stored);
    let mut how = laws::options(&watch, 1e-12, 600.0);
    how.max_passes = 2;
    match Davidson.largest(&gram, 20, &how) {
        Err(Error::NotConverged { residual, tolerance, .. }) => assert!(residual > tolerance),
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_pairs_than_the_rank_are_zeros_and_no_panic() {
    let watch = Watch::default();
    let gram = operator("linear", problems::noise(600, 3, 4), Storage::Stored);
    for solver in solvers() {
        let pairs = laws::solver(&*solver, &gram, 10, &laws::options(&watch, 1e-8, 1800.0));
        assert!(
            pairs.values[2] > 100.0 && pairs.values[3..].iter().all(|v| v.abs() < 1e-9),
            "{:?}",
            pairs.values
        );
    }
}

/// min(s,t) on a grid: eigenvalues 1/(4 sin²((2m−1)π/(4n+2))).
struct MinMatrix(usize);

impl LinearOperator for MinMatrix {
    fn n_rows(&self) -> usize {
        self.0
    }
    fn n_cols(&self) -> usize {
        self.0
    }
    fn apply(
        &self,
        block: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        _: &Watch,
    ) -> eigenlift::error::Result<()> {
        for i in 0..self.0 {
            for j in 0..block.n_cols() {
                out.row_mut(i)[j] = (0..self.0).map(|l| (i.min(l) + 1) as f64 * block.row(l)[j]).sum();
            }
        }
        Ok(())
    }
}

#[test]
fn an_operator_known_only_by_its_products() {
    let (n, watch) = (220, Watch::default());
    for solver in solvers() {
        let pairs = laws::solver(&*solver, &MinMatrix(n), 5, &laws::options(&watch, 1e-11, 2e4));
        for (m, value) in pairs.values.iter().enumerate() {
            let angle = (2 * m + 1) as f64 * std::f64::consts::PI / (4 * n + 2) as f64;
            let exact = 0.25 / angle.sin().powi(2);
            assert!((value - exact).abs() < 1e-10 * exact, "{solver:?} {m}: {value} {exact}");
        }
    }
}

#[test]
fn pivoted_cholesky_bounds_eigenvalues_and_reads_what_it_must() {
    let watch = Watch::default();
    for (text, x) in [
        ("rbf(gamma=0.02)", problems::mixture(200, 8, 1)),
        ("exponential(gamma=0.2)", problems::noise(200, 8, 2)),
        ("rbf(gamma=0.02)", Matrix::from_fn(200, 8, |i, j| ((i / 2) * (j + 1)) as f64 % 7.0)),
    ] {
        let gram = operator(text, x.clone(), Storage::Tiled);
        let counting = Counting::new(&gram);
        let rank = 40;
        let low = pivoted_cholesky(&counting, rank, 1, &watch).unwrap();
        let m = low.pivots.len();
        assert!(m <= rank && low.factor.n_cols() == m);
        // (m + 1)·n entries, and corners of the candidates: at most 16 × 16 for each round.
        let corners = counting.entries() - (m + 1) * 200;
        assert!(counting.entries() >= (m + 1) * 200 && corners <= 256 * (2 * m + 2), "{text}: {corners}");
        assert_eq!(counting.products(), 0);
        let mut seen = low.pivots.clone();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), m, "{text}: a pivot came twice");
        // λ̂ ≤ λ ≤ λ̂ + τ, (K26).
        let turned = Matrix::from_fn(m, 200, |i, j| low.factor[(j, i)]);
        let approximate = reference::product(&low.factor, &turned);
        let exact = reference::gram(&spec(text), &x, &x);
        let residual: f64 = (0..200).map(|i| exact[(i, i)] - approximate[(i, i)]).sum();
        assert!((residual - low.residual_trace).abs() < 1e-9 * 200.0, "{residual} {}", low.residual_trace);
        let (values, _) = reference::eigen(&reference::centred(&exact));
        let tau = low.residual_trace;
        let (estimates, _) = low.centered_eigenpairs::<f64>(1e-12).unwrap();
        for (estimate, value) in estimates.iter().zip(&values).take(20) {
            assert!(
                *estimate <= value + 1e-9 && *value <= estimate + tau + 1e-9,
                "{text}: {estimate} {value} {tau}"
            );
        }
    }
}

#[test]
fn a_kernel_value_that_is_not_finite_is_named() {
    let kernel = Kernel::from_fn("broken", |x, y| if x[0] == 5.0 && y[0] == 7.0 { f64::NAN } else { 1.0 });
    let x = Matrix::from_fn(300, 1, |i, _| i as f64);
    let gram = SymmetricGram::new(Similarity::Kernel(kernel), Samples::from(x), Storage::Tiled).unwrap();
    let text = gram.summary(&Watch::default()).unwrap_err().to_string();
    assert!(text.contains("the kernel of rows 6 and 8 is NaN"), "{text}");
}
