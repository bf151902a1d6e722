//! Laws: what every operator, every solver and every model must keep.

use crate::problems::Numbers;
use crate::reference;
use eigenlift::eigen::{EigenPairs, Eigensolver, SolveOptions};
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift::operator::{Centered, GramOperator, LinearOperator};
use eigenlift::progress::Watch;

fn block(n: usize, width: usize, seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    Matrix::from_fn(n, width, |_, _| numbers.gaussian())
}

fn apply(operator: &dyn LinearOperator, block: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::from_fn(operator.n_rows(), block.n_cols(), |_, _| f64::NAN);
    operator.apply(block.view(), out.view_mut(), &Watch::default()).expect("a product");
    out
}

/// A Gram operator agrees with the matrix written out in every way it can be asked, is linear and symmetric, and its
/// centred form is K − NK − KN + NKN.
///
/// `dense` is the matrix by definition. Entries may differ by `unit` of the largest; sums of n of them by n times that.
pub fn gram_operator(operator: &dyn GramOperator, dense: &Matrix<f64>, unit: f64) {
    let n = operator.n_rows();
    let largest = dense.as_slice().iter().map(|x| x.abs()).fold(0.0, f64::max);
    let (entry, sum) = (unit * largest, unit * largest * n as f64);
    let whole = operator.to_dense(&Watch::default()).expect("a matrix");
    assert!(
        reference::difference(&whole, dense) <= entry,
        "to_dense: {}",
        reference::difference(&whole, dense)
    );
    for i in 0..n {
        for j in 0..n {
            assert_eq!(whole[(i, j)].to_bits(), whole[(j, i)].to_bits(), "not symmetric at {i}, {j}");
        }
    }
    let (u, v) = (block(n, 5, 1), block(n, 5, 2));
    let (ku, kv) = (apply(operator, &u), apply(operator, &v));
    // Blocks have entries of a few units: 6 covers the largest of 10⁴ normal draws.
    assert!(
        reference::difference(&ku, &reference::product(&whole, &u)) <= 6.0 * sum,
        "apply differs from the matrix"
    );
    let mut again = Matrix::zeros(n, 5);
    let sums = operator.apply_and_sum(u.view(), again.view_mut(), &Watch::default()).expect("a product");
    assert_eq!(again, ku, "apply_and_sum differs from apply");
    (0..n).for_each(|i| {
        let row_sum = sums.row_means[i] * n as f64;
        assert!((row_sum - whole.row(i).iter().sum::<f64>()).abs() <= 4.0 * sum, "row sum {i}")
    });
    let squares: f64 = whole.as_slice().iter().map(|x| x * x).sum();
    assert!((sums.squared_norm - squares).abs() <= 1e-6 * squares, "squared norm");
    let both = Matrix::from_fn(n, 5, |i, j| 2.0 * u[(i, j)] - v[(i, j)]);
    let combined = Matrix::from_fn(n, 5, |i, j| 2.0 * ku[(i, j)] - kv[(i, j)]);
    assert!(reference::difference(&apply(operator, &both), &combined) <= 20.0 * sum, "not linear");
    let mut diagonal = vec![0.0; n];
    operator.diagonal(&mut diagonal).expect("a diagonal");
    (0..n).for_each(|i| assert_eq!(diagonal[i], whole[(i, i)], "diagonal {i}"));
    let chosen: Vec<usize> = (0..n).step_by(1 + n / 7).chain([n - 1]).collect();
    let mut columns = Matrix::zeros(n, chosen.len());
    operator.columns(&chosen, columns.view_mut()).expect("columns");
    let mut corner = Matrix::zeros(chosen.len(), chosen.len());
    operator.corner(&chosen, corner.view_mut()).expect("a corner");
    for (b, j) in chosen.iter().enumerate() {
        (0..n).for_each(|i| {
            assert!((columns[(i, b)] - whole[(i, *j)]).abs() <= 2.0 * entry, "column {j} row {i}")
        });
        for (a, i) in chosen.iter().enumerate() {
            assert!((corner[(a, b)] - whole[(*i, *j)]).abs() <= 2.0 * entry, "corner {i}, {j}");
        }
    }
    summary_law(operator, &whole, sum);
    let centred = reference::centred(&whole);
    let product = reference::product(&centred, &u);
    assert!(
        reference::difference(&apply(&Centered::new(operator), &u), &product) <= 20.0 * sum,
        "centred product"
    );
    // Means of n numbers, added up in another order.
    let allowed = n as f64 * f64::EPSILON * largest;
    let formed = Centered::new(operator).to_dense(&Watch::default()).expect("a matrix");
    assert!(reference::difference(&formed, &centred) <= 4.0 * entry + allowed, "centred matrix");
}

fn summary_law(operator: &dyn GramOperator, whole: &Matrix<f64>, sum: f64) {
    let n = whole.n_rows();
    let summary = operator.summary(&Watch::default()).expect("a summary");
    for i in 0..n {
        let mean = whole.row(i).iter().sum::<f64>() / n as f64;
        assert!((summary.row_means[i] - mean).abs() <= sum / n as f64 * 4.0, "row mean {i}");
    }
    let centred = reference::centred(whole);
    let trace: f64 = (0..n).map(|i| centred[(i, i)]).sum();
    assert!(
        (summary.centered_trace() - trace).abs() <= 4.0 * sum,
        "trace {} {trace}",
        summary.centered_trace()
    );
    let squares: f64 = centred.as_slice().iter().map(|x| x * x).sum();
    let whole_squares: f64 = whole.as_slice().iter().map(|x| x * x).sum();
    let allowed = 1e-12 * n as f64 * whole_squares;
    assert!((summary.centered_squared_norm() - squares).abs() <= allowed, "squared norm");
}

/// What a solver is told in the laws.
pub fn options(watch: &Watch, tolerance: f64, norm_bound: f64) -> SolveOptions<'_> {
    SolveOptions {
        deflate: None,
        start: None,
        sketch: None,
        tolerance,
        norm_bound,
        max_passes: 200,
        verify: true,
        basis: false,
        seed: 0,
        watch,
    }
}

/// A solver's pairs are orthonormal, in descending order, and their residuals are what it reports.
pub fn solver(
    solver: &dyn Eigensolver,
    operator: &dyn LinearOperator,
    k: usize,
    how: &SolveOptions<'_>,
) -> EigenPairs {
    let pairs = solver.largest(operator, k, how).expect("converged");
    let count = pairs.values.len();
    assert_eq!(pairs.vectors.n_cols(), count);
    assert_eq!(pairs.residuals.len(), count);
    assert!(pairs.values.windows(2).all(|w| w[0] >= w[1]), "not descending: {:?}", pairs.values);
    let turned = Matrix::from_fn(count, pairs.vectors.n_rows(), |i, j| pairs.vectors[(j, i)]);
    let gram = reference::product(&turned, &pairs.vectors);
    for i in 0..count {
        for j in 0..count {
            let expected = f64::from(u8::from(i == j));
            assert!((gram[(i, j)] - expected).abs() < 1e-12, "not orthonormal at {i}, {j}: {}", gram[(i, j)]);
        }
    }
    let product = apply(operator, &pairs.vectors);
    for j in 0..count {
        let rest = |i: usize| product[(i, j)] - pairs.values[j] * pairs.vectors[(i, j)];
        let norm = (0..product.n_rows()).map(|i| rest(i).powi(2)).sum::<f64>().sqrt();
        let allowed = pairs.residuals[j] * (1.0 + 1e-6) + 2.0 * operator.unit_roundoff() * how.norm_bound;
        assert!(norm <= allowed, "pair {j}: residual {norm:e}, reported {:e}", pairs.residuals[j]);
    }
    pairs
}

/// A model's training scores are what it gives for the training rows, centred, uncorrelated, with the variances it reports.
pub fn model(model: &FittedKernelPca, train: &Matrix<f64>, relative: f64) {
    let scores = model.scores().expect("samples in memory");
    let again = model.transform(train).expect("scores");
    let largest = scores.as_slice().iter().map(|x| x.abs()).fold(0.0, f64::max);
    assert!(
        reference::difference(&scores, &again) <= relative * largest,
        "transform(train) differs from the scores by {:e}",
        reference::difference(&scores, &again) / largest
    );
    let n = scores.n_rows() as f64;
    for a in 0..scores.n_cols() {
        let mean = scores.column(a).iter().sum::<f64>() / n;
        assert!(mean.abs() <= relative * largest, "component {a} has mean {mean:e}");
        for b in 0..=a {
            let moment: f64 = (0..scores.n_rows()).map(|i| scores[(i, a)] * scores[(i, b)]).sum::<f64>();
            let expected = if a == b { model.eigenvalues()[a].abs() } else { 0.0 };
            assert!((moment - expected).abs() <= relative * model.eigenvalues()[0].abs(), "moment {a}, {b}");
        }
    }
}
