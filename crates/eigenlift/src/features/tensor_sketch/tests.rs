use super::*;
use crate::kernel::Kernel;
use crate::matrix::Matrix;

fn rows(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| ((i * d + j) as f64 * 1.7 + 0.3).sin())
}

fn features(map: &TensorSketch, x: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(x.n_rows(), map.dimension());
    map.fill(Points::from(x), out.view_mut());
    out
}

fn map(kernel: &str, d: usize, dimension: usize, seed: u64) -> TensorSketch {
    TensorSketch::new(&kernel.parse().unwrap(), d, dimension, seed).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

// Four standard errors of a mean over 1500 seeds, for six pairs of each kernel, a row with itself among them.
#[test]
fn inner_products_are_the_kernel_on_average() {
    let x = rows(3, 5);
    for kernel in [
        "linear",
        "0.5*linear",
        "polynomial(2, 0.5, 1)",
        "polynomial(3, 0.4, 0)",
        "2*polynomial(4, 0.3, 0.5)",
    ] {
        let exact = Kernel::new(&kernel.parse().unwrap(), 5).unwrap().matrix((&x).into(), (&x).into());
        let draws: Vec<Matrix<f64>> = (0..1500).map(|seed| features(&map(kernel, 5, 32, seed), &x)).collect();
        for (i, j) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
            let values: Vec<f64> = draws.iter().map(|phi| dot(phi.row(i), phi.row(j))).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let allowed = 4.0 * (variance / n).sqrt();
            assert!((mean - exact[(i, j)]).abs() < allowed, "{kernel} {i} {j}: {mean} {}", exact[(i, j)]);
        }
    }
}

#[test]
fn transforms_give_the_circular_convolution() {
    let x = rows(2, 4);
    for dimension in [1, 2, 7, 16, 45] {
        let map = map("4*polynomial(3, 0.7, 1.5)", 4, dimension, 9);
        let got = features(&map, &x);
        for i in 0..2 {
            let mut expected = vec![0.0; dimension];
            expected[0] = 2.0;
            for sketch in &map.sketches {
                let (mut part, mut next) = (vec![0.0; dimension], vec![0.0; dimension]);
                sketch.apply(Points::from(&x), i, &mut part);
                for (a, left) in expected.iter().enumerate() {
                    for (b, right) in part.iter().enumerate() {
                        next[(a + b) % dimension] += left * right;
                    }
                }
                expected = next;
            }
            for (e, g) in expected.iter().zip(got.row(i)) {
                // Values up to about 100 through transforms of at most 45 numbers.
                assert!((e - g).abs() < 100.0 * 10.0 * f64::EPSILON, "{dimension}: {e} {g}");
            }
        }
    }
}

#[test]
fn the_error_falls_with_the_dimension() {
    let x = rows(6, 5);
    let exact = Kernel::new(&"polynomial(2, 0.5, 1)".parse().unwrap(), 5).unwrap();
    let exact = exact.matrix((&x).into(), (&x).into());
    let mean_square = |dimension| {
        let total: f64 = (0..100)
            .map(|seed| {
                let phi = features(&map("polynomial(2, 0.5, 1)", 5, dimension, seed), &x);
                let error = |i: usize, j: usize| (dot(phi.row(i), phi.row(j)) - exact[(i, j)]).powi(2);
                (0..6).map(|i| (0..6).map(|j| error(i, j)).sum::<f64>()).sum::<f64>()
            })
            .sum();
        total / 3600.0
    };
    // Sixteen times the features; over 100 seeds the ratio is right to about a third.
    let ratio = mean_square(32) / mean_square(512);
    assert!((10.0..26.0).contains(&ratio), "{ratio}");
}

#[test]
fn other_kernels_are_refused() {
    for (kernel, required) in [
        ("rbf(gamma=1)", "linear and polynomial have one"),
        ("-2*linear", "linear and polynomial have one"),
        ("polynomial(2.5, 1, 1)", "a whole degree"),
        ("polynomial(2, -1, 1)", "gamma > 0"),
        ("polynomial(2, 1, -1)", "coef0 ≥ 0"),
        ("polynomial(2, median, 1)", "a number is needed"),
    ] {
        let text = TensorSketch::new(&kernel.parse().unwrap(), 3, 10, 1).unwrap_err().to_string();
        assert!(text.contains(required), "{kernel}: {text}");
    }
    for (kernel, d, dimension) in [
        ("linear", 3, 0),
        ("linear", 0, 3),
        ("linear", 3, usize::MAX),
        ("linear", usize::MAX, 3),
        ("polynomial(1e30, 1, 1)", 3, 8),
    ] {
        let text = TensorSketch::new(&kernel.parse().unwrap(), d, dimension, 1).unwrap_err().to_string();
        assert!(text.contains("at least one of each"), "{text}");
    }
}
