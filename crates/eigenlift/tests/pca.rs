//! Principal components: routes agree, identities hold.

use eigenlift::data::{AnyPoints, Csr, digits, iris};
use eigenlift::matrix::Matrix;
use eigenlift::methods::Pca;
use eigenlift::methods::pca::PcaRoute;

fn wavy(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| {
        let (i, j) = (i as f64, j as f64);
        (0.37 * i + 1.3 * j).sin() * 3.0 / (1.0 + j)
            + (0.011 * i * i + j).cos()
            + 0.2 * (i * 0.7 * (j + 1.0)).sin()
            + 5.0
    })
}

#[test]
fn routes_agree() {
    for (n, d) in [(300, 20), (30, 90)] {
        let x = wavy(n, d);
        let by = |route| Pca::new(5).route(route).tolerance(1e-12).fit(x.clone()).unwrap();
        let best = by(PcaRoute::Tsqr);
        for route in [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Krylov] {
            let other = by(route);
            for (a, b) in best.eigenvalues().iter().zip(other.eigenvalues()) {
                assert!((a - b).abs() < 1e-11 * best.eigenvalues()[0], "{route}: {a} {b}");
            }
            let (u, v) = (best.components(), other.components());
            let apart = u.as_slice().iter().zip(v.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8, "{route}: {apart:e}");
            assert!((best.residual_error() - other.residual_error()).abs() < 1e-11 * best.total_variance());
        }
        let lost = best.reconstruction(&x).unwrap().total;
        assert!((lost - best.residual_error()).abs() < 1e-12 * best.total_variance());
    }
}

#[test]
fn automatic_choice_of_digits() {
    let set = digits().unwrap();
    let model = Pca::auto().fit(set.samples.clone()).unwrap();
    println!("{:#?}", model.choice().map(|c| (&c.rules, c.consensus)));
    println!("{}", model.plan());
    let iris = iris().unwrap();
    let model = Pca::auto().fit(iris.samples).unwrap();
    println!("{:#?}", model.choice().map(|c| (&c.rules, c.consensus)));
}

#[test]
fn sparse_rows_give_what_dense_ones_give() {
    let x =
        Matrix::from_fn(
            200,
            30,
            |i, j| if (i * 7 + j * 13 + i * j) % 5 == 0 { wavy(200, 30)[(i, j)] } else { 0.0 },
        );
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..200 {
        for (j, v) in x.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            values.push(*v);
        }
        offsets.push(values.len());
    }
    let sparse = Csr::new(offsets, columns, values, 30).unwrap();
    let weights: Vec<f64> = (0..200).map(|i| (i % 4) as f64 * 0.5).collect();
    for route in [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Krylov, PcaRoute::Tsqr] {
        for scaled in [false, true] {
            let settings = Pca::new(4).route(route).tolerance(1e-12);
            let settings = if scaled { settings.standardize() } else { settings };
            let a = settings.fit_points(&x, Some(&weights)).unwrap();
            let b = settings.fit_points(AnyPoints::F64(sparse.view().into()), Some(&weights)).unwrap();
            for (p, q) in a.eigenvalues().iter().zip(b.eigenvalues()) {
                assert!((p - q).abs() < 1e-11 * a.eigenvalues()[0], "{route} {scaled}: {p} {q}");
            }
        }
    }
}
