use super::*;

fn rows(n: usize) -> Matrix<f64> {
    // Scattered, so that no row is nearly a combination of others.
    Matrix::from_fn(n, 3, |i, j| (((i * 3 + j) as f64 * 12.9898).sin() * 43758.5453).fract() * 4.0)
}

fn kernel() -> Kernel {
    Kernel::new(&"rbf(gamma=0.4)".parse().unwrap(), 3).unwrap()
}

#[test]
fn features_are_the_projection_on_the_landmarks() {
    let (x, z) = (rows(600), rows(90));
    let map = LandmarkFeatures::new(kernel(), z.clone().into(), &Watch::default()).unwrap();
    assert_eq!(map.dimension(), 90);
    let found = map.rows((&x).into(), 0, &Watch::default()).unwrap();
    // Landmarks themselves are reproduced: φ̂(z)·φ̂(x) = k(z, x).
    for (i, j) in [(0, 500), (89, 3), (40, 599), (12, 12)] {
        let product = dot(found.features.row(i), found.features.row(j));
        assert!((product - kernel().pair(x.row(i), x.row(j))).abs() < 1e-10);
    }
    assert!(found.residuals[..90].iter().all(|r| *r < 1e-10));
    assert!(found.residuals.iter().all(|r| *r >= 0.0));
    assert_eq!(found.trace, 600.0);
    // Coefficients over landmarks give the same linear functions.
    let w = Matrix::from_fn(90, 2, |i, j| ((i + 5 * j) as f64).cos());
    let b = map.over_landmarks(&w);
    for i in [95, 311] {
        let k: Vec<f64> = (0..90).map(|l| kernel().pair(x.row(i), z.row(l))).collect();
        for j in 0..2 {
            let there = dot(found.features.row(i), &w.column(j));
            assert!((there - dot(&k, &b.column(j))).abs() < 1e-8);
        }
    }
}

#[test]
fn dependent_landmarks_are_left_out() {
    let mut z = rows(10);
    (0..3).for_each(|j| z[(7, j)] = z[(2, j)]);
    let map = LandmarkFeatures::new(kernel(), z.into(), &Watch::default()).unwrap();
    assert_eq!(map.dimension(), 9);
    let zeros = Matrix::<f64>::zeros(4, 3);
    let linear = Kernel::new(&"linear".parse().unwrap(), 3).unwrap();
    assert!(LandmarkFeatures::new(linear, zeros.into(), &Watch::default()).is_err());
}

#[test]
fn columns_of_a_gram_matrix_give_the_same_features() {
    let x = rows(40);
    let gram = kernel().matrix((&x).into(), (&x).into());
    let chosen = [3, 8, 30];
    let corner = Matrix::from_fn(3, 3, |i, j| gram[(chosen[i], chosen[j])]);
    let by_columns = LandmarkFeatures::of_columns(&chosen, &corner, 40, &Watch::default()).unwrap();
    let z = Matrix::from_fn(3, 3, |i, j| x[(chosen[i], j)]);
    let by_rows = LandmarkFeatures::new(kernel(), z.into(), &Watch::default()).unwrap();
    let a = by_columns.rows((&gram).into(), 0, &Watch::default()).unwrap();
    let b = by_rows.rows((&x).into(), 0, &Watch::default()).unwrap();
    let close = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(a, b)| (a - b).abs() < 1e-14);
    assert!(close(a.features.as_slice(), b.features.as_slice()));
    assert!(close(&a.residuals, &b.residuals));
}
