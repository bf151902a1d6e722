//! Slow and obvious: definitions written down once, without regard for time.

use eigenlift::kernel::{KernelSpec, NamedKernel, Param};
use eigenlift::matrix::Matrix;

/// k(x, y) straight from its definition. Parameters must be numbers.
///
/// # Panics
/// When a parameter is not a number or the kernel has no formula.
pub fn kernel(spec: &KernelSpec, x: &[f64], y: &[f64]) -> f64 {
    match spec {
        KernelSpec::Named(kernel) => named(kernel, x, y),
        KernelSpec::Map(formulas) => formulas.iter().map(|f| f.eval(x, &[]) * f.eval(y, &[])).sum(),
        KernelSpec::Expr(formula) => formula.eval(x, y),
        KernelSpec::Scaled(factor, inner) => factor * kernel(inner, x, y),
        KernelSpec::Sum(specs) => specs.iter().map(|s| kernel(s, x, y)).sum(),
        KernelSpec::Product(specs) => specs.iter().map(|s| kernel(s, x, y)).product(),
        other => panic!("{other} has no formula"),
    }
}

/// A kernel of the catalog.
fn named(kernel: &NamedKernel, x: &[f64], y: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let squared = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let numbers: Vec<(&str, f64)> = kernel
        .params()
        .map(|(param, value)| match value {
            Param::Value(number) => (param.name, number),
            other => panic!("{} of {kernel} is {other}, not a number", param.name),
        })
        .collect();
    match (kernel.entry().name, numbers.as_slice()) {
        ("linear", []) => dot(x, y),
        ("polynomial", [(_, degree), (_, gamma), (_, coef0)]) => (gamma * dot(x, y) + coef0).powf(*degree),
        ("rbf", [("gamma", gamma)]) => (-gamma * squared).exp(),
        ("rbf", [("sigma", sigma)]) => (-squared / (2.0 * sigma.powi(2))).exp(),
        ("rbf", [("c", c)]) => (-squared / c).exp(),
        ("laplacian", [(_, gamma)]) => {
            (-gamma * x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
        }
        ("exponential", [(_, gamma)]) => (-gamma * squared.sqrt()).exp(),
        ("matern", [(_, nu), (_, length)]) => {
            let r = (2.0 * nu * squared).sqrt() / length;
            let polynomial = match nu {
                0.5 => 1.0,
                1.5 => 1.0 + r,
                2.5 => 1.0 + r + r * r / 3.0,
                other => panic!("nu of matern is {other}"),
            };
            polynomial * (-r).exp()
        }
        ("rational_quadratic", [(_, alpha), (_, length)]) => {
            (1.0 + squared / (2.0 * alpha * length.powi(2))).powf(-alpha)
        }
        ("sigmoid", [(_, gamma), (_, coef0)]) => (gamma * dot(x, y) + coef0).tanh(),
        ("cosine", []) => {
            let lengths = (dot(x, x) * dot(y, y)).sqrt();
            if lengths > 0.0 { dot(x, y) / lengths } else { 0.0 }
        }
        ("chi2", [(_, gamma)]) => {
            let term = |(a, b): (&f64, &f64)| if a + b == 0.0 { 0.0 } else { (a - b).powi(2) / (a + b) };
            (-gamma * x.iter().zip(y).map(term).sum::<f64>()).exp()
        }
        ("tanimoto", []) => {
            let shared = dot(x, y);
            let all = dot(x, x) + dot(y, y) - shared;
            if all == 0.0 { 1.0 } else { shared / all }
        }
        ("intersection", []) => x.iter().zip(y).map(|(a, b)| a.min(*b)).sum(),
        _ => panic!("{kernel} has no reference"),
    }
}

/// K from its definition.
pub fn gram(spec: &KernelSpec, x: &Matrix<f64>, y: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(x.n_rows(), y.n_rows(), |i, j| kernel(spec, x.row(i), y.row(j)))
}

/// K − NK − KN + NKN with N = 1/n everywhere: each entry less the means of its column and its row, plus the mean of all.
pub fn centred(k: &Matrix<f64>) -> Matrix<f64> {
    let n = k.n_rows();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n as f64;
    let rows: Vec<f64> = (0..n).map(|i| mean(&mut k.row(i).iter().copied())).collect();
    let columns: Vec<f64> = (0..n).map(|j| mean(&mut k.column(j).into_iter())).collect();
    let all = mean(&mut rows.iter().copied());
    Matrix::from_fn(n, n, |i, j| k[(i, j)] - columns[j] - rows[i] + all)
}

/// A·B by three loops.
pub fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.n_rows(), b.n_cols());
    for i in 0..a.n_rows() {
        for l in 0..a.n_cols() {
            for j in 0..b.n_cols() {
                out[(i, j)] += a[(i, l)] * b[(l, j)];
            }
        }
    }
    out
}

/// All eigenvalues of a symmetric matrix, largest first, with eigenvectors as columns: Jacobi's rotations until the
/// off-diagonal part has vanished.
pub fn eigen(a: &Matrix<f64>) -> (Vec<f64>, Matrix<f64>) {
    let n = a.n_rows();
    let mut a = a.clone();
    let mut v = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    let norm: f64 = a.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..60 {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                off += a[(p, q)].powi(2);
                rotate(&mut a, &mut v, p, q);
            }
        }
        if off.sqrt() <= 1e-17 * norm {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[(*j, *j)].total_cmp(&a[(*i, *i)]));
    (order.iter().map(|i| a[(*i, *i)]).collect(), Matrix::from_fn(n, n, |i, j| v[(i, order[j])]))
}

fn rotate(a: &mut Matrix<f64>, v: &mut Matrix<f64>, p: usize, q: usize) {
    if a[(p, q)] == 0.0 {
        return;
    }
    let half = (a[(q, q)] - a[(p, p)]) / (2.0 * a[(p, q)]);
    let t = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for i in 0..a.n_rows() {
        let (x, y) = (a[(i, p)], a[(i, q)]);
        (a[(i, p)], a[(i, q)]) = (c * x - s * y, s * x + c * y);
    }
    for i in 0..a.n_rows() {
        let (x, y) = (a[(p, i)], a[(q, i)]);
        (a[(p, i)], a[(q, i)]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[(i, p)], v[(i, q)]);
        (v[(i, p)], v[(i, q)]) = (c * x - s * y, s * x + c * y);
    }
}

/// Scores of linear PCA: the centred data times the eigenvectors of XᵀX, and the eigenvalues.
pub fn pca_scores(x: &Matrix<f64>) -> (Vec<f64>, Matrix<f64>) {
    let (n, d) = (x.n_rows(), x.n_cols());
    let means: Vec<f64> = (0..d).map(|j| x.column(j).iter().sum::<f64>() / n as f64).collect();
    let centred = Matrix::from_fn(n, d, |i, j| x[(i, j)] - means[j]);
    let turned = Matrix::from_fn(d, n, |i, j| centred[(j, i)]);
    let (values, vectors) = eigen(&product(&turned, &centred));
    (values, product(&centred, &vectors))
}

/// Largest difference of two matrices after turning each column of `b` to the sign that fits `a` best.
pub fn difference_up_to_sign(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()));
    (0..a.n_cols())
        .map(|j| {
            let along: f64 = (0..a.n_rows()).map(|i| a[(i, j)] * b[(i, j)]).sum();
            let gap = |i: usize| (a[(i, j)] - along.signum() * b[(i, j)]).abs();
            (0..a.n_rows()).map(gap).fold(0.0, f64::max)
        })
        .fold(0.0, f64::max)
}

/// Largest absolute difference.
pub fn difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()));
    a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}
