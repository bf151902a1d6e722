use super::*;
use crate::kernel::Kernel;
use crate::linalg::inner;

const KERNELS: [&str; 9] = [
    "rbf(gamma=0.4)",
    "rbf(sigma=1.2)",
    "matern(0.5, 1.3)",
    "matern(1.5, 1.3)",
    "matern(2.5, 1.3)",
    "exponential(0.7)",
    "rational_quadratic(0.6, 1.1)",
    "2.5*rational_quadratic(3, 1.1)",
    "laplacian(0.5)",
];

fn rows(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| ((i * d + j) as f64 * 1.7 + 0.3).sin())
}

fn features(map: &FourierMap, x: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(x.n_rows(), map.dimension());
    map.fill(Points::from(x), out.view_mut());
    out
}

/// ⟨φ(xᵢ), φ(xⱼ)⟩.
fn gram(map: &FourierMap, x: &Matrix<f64>) -> Matrix<f64> {
    let phi = features(map, x);
    let turned = Matrix::from_fn(phi.n_cols(), phi.n_rows(), |i, j| phi[(j, i)]);
    inner(turned.view(), turned.view())
}

fn map(kernel: &str, d: usize, dimension: usize, seed: u64) -> FourierMap {
    FourierMap::new(&kernel.parse().unwrap(), d, dimension, seed).unwrap()
}

fn exact(kernel: &str, x: &Matrix<f64>) -> Matrix<f64> {
    Kernel::new(&kernel.parse().unwrap(), x.n_cols()).unwrap().matrix(x.into(), x.into())
}

/// Mean square of the error over pairs and seeds.
fn mean_square(make: impl Fn(u64) -> FourierMap, x: &Matrix<f64>, kernel: &str, seeds: u64) -> f64 {
    let k = exact(kernel, x);
    let square = |a: &Matrix<f64>| a.as_slice().iter().zip(k.as_slice()).map(|(a, b)| (a - b).powi(2)).sum();
    let total: f64 = (0..seeds).map(|seed| -> f64 { square(&gram(&make(seed), x)) }).sum();
    total / (seeds as f64 * k.as_slice().len() as f64)
}

// Four standard errors of a mean over 2000 seeds, for six pairs of each kernel.
#[test]
fn inner_products_are_the_kernel_on_average() {
    let x = rows(4, 3);
    for kernel in KERNELS {
        let k = exact(kernel, &x);
        let draws: Vec<Matrix<f64>> = (0..2000).map(|seed| gram(&map(kernel, 3, 10, seed), &x)).collect();
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let n = draws.len() as f64;
            let mean = draws.iter().map(|g| g[(i, j)]).sum::<f64>() / n;
            let variance = draws.iter().map(|g| (g[(i, j)] - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let allowed = 4.0 * (variance / n).sqrt();
            assert!((mean - k[(i, j)]).abs() < allowed, "{kernel} {i} {j}: {mean} {} {allowed}", k[(i, j)]);
        }
    }
}

#[test]
fn the_kernel_of_a_row_with_itself_is_exact() {
    let x = rows(5, 3);
    for kernel in KERNELS {
        let (g, k) = (gram(&map(kernel, 3, 101, 1), &x), exact(kernel, &x));
        for i in 0..5 {
            // 51 terms of size 1/51, each right to a few units.
            assert!(
                (g[(i, i)] - k[(i, i)]).abs() < 20.0 * f64::EPSILON * k[(i, i)],
                "{kernel}: {}",
                g[(i, i)]
            );
        }
    }
    assert_eq!(map("rbf(gamma=1)", 3, 101, 1).dimension(), 102);
}

#[test]
fn orthogonal_frequencies_have_the_smaller_error() {
    let (x, kernel) = (rows(12, 8), "rbf(gamma=0.1)");
    let independent = |seed| {
        let mut random = Stream::new(seed, Purpose::Frequencies);
        let frequencies = Matrix::from_fn(8, 32, |_, _| 0.2f64.sqrt() * random.gaussian());
        FourierMap { frequencies, amplitude: (1.0f64 / 32.0).sqrt() }
    };
    let plain = mean_square(independent, &x, kernel, 60);
    let orthogonal = mean_square(|seed| map(kernel, 8, 64, seed), &x, kernel, 60);
    assert!(orthogonal < 0.8 * plain, "{orthogonal:e} {plain:e}");
}

#[test]
fn frequencies_of_a_block_are_orthogonal() {
    let w = map("rbf(gamma=0.5)", 6, 20, 4).frequencies;
    let g = inner(w.view(), w.view());
    for i in 0..10 {
        for j in 0..i {
            let cosine = g[(i, j)] / (g[(i, i)] * g[(j, j)]).sqrt();
            assert_eq!(i / 6 == j / 6, cosine.abs() < 1e-14, "{i} {j}: {cosine}");
        }
    }
}

// Sixteen times the features: a quarter of the error. Over 40 seeds the ratio of mean squares is right to about a quarter.
#[test]
fn the_error_falls_like_one_over_the_root_of_the_dimension() {
    let x = rows(8, 3);
    for kernel in ["rbf(gamma=0.4)", "laplacian(0.5)", "matern(1.5, 1.3)"] {
        let coarse = mean_square(|seed| map(kernel, 3, 60, seed), &x, kernel, 40);
        let fine = mean_square(|seed| map(kernel, 3, 960, seed), &x, kernel, 40);
        assert!((10.0..26.0).contains(&(coarse / fine)), "{kernel}: {}", coarse / fine);
    }
}

#[test]
fn sines_and_cosines_are_right_everywhere() {
    let phases: Vec<f64> = (0..40_001).map(|i| (f64::from(i) - 20_000.0) * 0.0173).collect();
    let far = [1e5, -3e5, 999_999.0, -2.5e6, 1e15];
    for phases in [phases.as_slice(), &far[..3], &far] {
        let (mut cosines, mut sines) = (phases.to_vec(), vec![0.0; phases.len()]);
        dispatch(Waves { cosines: &mut cosines, sines: &mut sines, amplitude: 1.0 });
        for ((phase, c), s) in phases.iter().zip(&cosines).zip(&sines) {
            assert!(
                (c - phase.cos()).abs() <= 2.5e-16 && (s - phase.sin()).abs() <= 2.5e-16,
                "{phase}: {c} {s}"
            );
        }
    }
}

// Mean and variance of Gamma(s, 1) are s; fourth central moment 3s² + 6s. Five standard errors.
#[test]
fn gamma_variates_have_the_right_moments() {
    let n = 40_000.0;
    for shape in [0.3, 0.5, 1.0, 2.5, 40.0] {
        let mut random = Stream::new(2, Purpose::Frequencies);
        let draws: Vec<f64> = (0..40_000).map(|_| gamma_variate(shape, &mut random)).collect();
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - shape).powi(2)).sum::<f64>() / n;
        assert!((mean - shape).abs() < 5.0 * (shape / n).sqrt(), "{shape}: {mean}");
        let spread = ((2.0 * shape * shape + 6.0 * shape) / n).sqrt();
        assert!((variance - shape).abs() < 5.0 * spread, "{shape}: {variance}");
    }
}

#[test]
fn other_kernels_are_refused() {
    for kernel in ["linear", "cosine", "-1*rbf(gamma=1)", "rbf(gamma=1) + linear", "polynomial(2,1,1)"] {
        let text = FourierMap::new(&kernel.parse().unwrap(), 3, 10, 1).unwrap_err().to_string();
        assert!(text.contains("rational_quadratic have them"), "{kernel}: {text}");
    }
    let text = FourierMap::new(&"rbf".parse().unwrap(), 3, 10, 1).unwrap_err().to_string();
    assert!(text.contains("still to be found from data"), "{text}");
    for (d, dimension) in [(3, 0), (0, 3), (usize::MAX, 10), (3, usize::MAX)] {
        let text =
            FourierMap::new(&"laplacian(1)".parse().unwrap(), d, dimension, 1).unwrap_err().to_string();
        assert!(text.contains("Choose another dimension"), "{text}");
    }
}

#[test]
fn cosines_with_phases_are_the_formula() {
    let (x, m) = (rows(300, 4), 7);
    let frequencies = Matrix::from_fn(4, m, |i, j| ((3 * i + j) as f64).cos() * 2.0);
    let phases: Vec<f64> = (0..m).map(|j| j as f64 * 0.9).collect();
    let found: Matrix<f64> = cosine_features((&x).into(), &frequencies, &phases, &Watch::default()).unwrap();
    let single: Matrix<f32> = cosine_features((&x).into(), &frequencies, &phases, &Watch::default()).unwrap();
    assert!(single.as_slice().iter().zip(found.as_slice()).all(|(a, b)| *a == *b as f32));
    for i in 0..300 {
        for j in 0..m {
            let phase: f64 = (0..4).map(|l| x[(i, l)] * frequencies[(l, j)]).sum::<f64>() + phases[j];
            assert!((found[(i, j)] - (2.0 / m as f64).sqrt() * phase.cos()).abs() < 1e-14);
        }
    }
    let wrong = cosine_features::<f64>((&x).into(), &frequencies, &phases[1..], &Watch::default());
    assert!(wrong.unwrap_err().to_string().contains("6 phases"));
}
