//! Whitening of rows that vary in every direction: what makes it one, which is closest, the way back.

use super::help::{
    EPS, assert_close, centred, correlated, covariance, dot, identity, ones, orthogonal, second_moment, trace,
};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedWhitening, Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift_testkit::reference::{eigen, product};

const N: usize = 200;
const D: usize = 6;
pub(crate) const METHODS: [WhiteningMethod; 5] = [
    WhiteningMethod::Pca,
    WhiteningMethod::Zca,
    WhiteningMethod::Cholesky,
    WhiteningMethod::PcaCor,
    WhiteningMethod::ZcaCor,
];

fn is_cor(method: WhiteningMethod) -> bool {
    matches!(method, WhiteningMethod::PcaCor | WhiteningMethod::ZcaCor)
}

/// C is known to n·eps·tr C, and W has the norm 1/√λ_r: WCWᵀ has the error n·eps·tr C/λ_r.
pub(crate) fn allowed(model: &FittedWhitening) -> f64 {
    let pca = model.pca();
    let smallest = pca.variances().last().copied().unwrap() + model.ridge();
    pca.n_samples() as f64 * EPS * pca.total_variance() / smallest
}

fn fit(x: &Matrix<f64>, method: WhiteningMethod) -> FittedWhitening {
    Whitening::new(method).fit(x.clone()).unwrap()
}

/// W, one row for each output: what it does to unit vectors added to the mean.
fn matrix_of(model: &FittedWhitening) -> Matrix<f64> {
    let mean = model.pca().mean().to_vec();
    let d = mean.len();
    let units = Matrix::from_fn(d, d, |i, j| mean[j] + f64::from(u8::from(i == j)));
    let columns = model.transform(&units).unwrap();
    Matrix::from_fn(columns.n_cols(), d, |i, j| columns[(j, i)])
}

#[test]
fn the_covariance_of_what_comes_out_is_the_identity() {
    let x = correlated(N, D, 41);
    let uneven: Vec<f64> = (0..N).map(|i| (i % 4) as f64 * 0.6).collect();
    for (method, weights) in METHODS.into_iter().flat_map(|m| [(m, ones(N)), (m, uneven.clone())]) {
        let model = Whitening::new(method).fit((&x, Some(&weights[..]))).unwrap();
        assert_eq!((model.method(), model.rank(), model.n_outputs()), (method, D, D));
        let z = model.transform(&x).unwrap();
        let slack = allowed(&model);
        assert!(slack < 1e-10, "{slack:e}");
        assert_close(
            second_moment(&z, &weights).as_slice(),
            identity(D).as_slice(),
            slack,
            &method.to_string(),
        );
        let n: f64 = weights.iter().sum();
        for j in 0..D {
            assert_close(&[dot(&z.column(j), &weights) / n], &[0.0], slack, "mean");
        }
        let back = model.inverse_transform(&z).unwrap();
        assert_close(back.as_slice(), x.as_slice(), 10.0 * slack, &format!("{method}, the way back"));
        // Rows that the fit has not seen have their way back as well.
        let new = correlated(7, D, 99);
        let back = model.inverse_transform(&model.transform(&new).unwrap()).unwrap();
        assert_close(back.as_slice(), new.as_slice(), 10.0 * slack, &format!("{method}, new rows"));
        assert_eq!(model.statement(), "all 6 directions are whitened");
        assert!(model.warnings().is_empty());
    }
}

#[test]
fn each_method_is_its_formula() {
    let x = correlated(N, D, 42);
    let power = |c: &Matrix<f64>, p: f64| {
        let (values, u) = eigen(c);
        let scaled = Matrix::from_fn(D, D, |i, j| u[(i, j)] * values[j].powf(p));
        product(&scaled, &Matrix::from_fn(D, D, |i, j| u[(j, i)]))
    };
    let (c, p) = (covariance(&x, &ones(N), false), covariance(&x, &ones(N), true));
    let deviations: Vec<f64> = (0..D).map(|j| c[(j, j)].sqrt()).collect();
    let zca = fit(&x, WhiteningMethod::Zca);
    let slack = allowed(&zca);
    assert_close(matrix_of(&zca).as_slice(), power(&c, -0.5).as_slice(), slack, "(P17)");
    let cor = matrix_of(&fit(&x, WhiteningMethod::ZcaCor));
    let root = power(&p, -0.5);
    let expected = Matrix::from_fn(D, D, |i, j| root[(i, j)] / deviations[j]);
    assert_close(cor.as_slice(), expected.as_slice(), 10.0 * slack, "(P20)");
    let cholesky = matrix_of(&fit(&x, WhiteningMethod::Cholesky));
    for i in 0..D {
        assert!(cholesky[(i, i)] > 0.0, "a positive diagonal");
        assert_close(&cholesky.row(i)[..i], &vec![0.0; i], slack, "nothing below the diagonal, (P19)");
    }
    // WᵀW = C⁻¹ of every whitening, and one triangle with a positive diagonal does it.
    for method in METHODS {
        let w = matrix_of(&fit(&x, method));
        let square = product(&Matrix::from_fn(D, D, |i, j| w[(j, i)]), &w);
        let inverse = power(&c, -1.0);
        let size = trace(&inverse);
        assert_close(square.as_slice(), inverse.as_slice(), 10.0 * slack * size, &method.to_string());
    }
    // z_d is the last column over its deviation.
    assert_close(&[cholesky[(D - 1, D - 1)]], &[1.0 / deviations[D - 1]], slack, "(P19)");
}

#[test]
fn any_rotation_of_a_whitening_is_a_whitening() {
    let x = correlated(N, D, 43);
    for method in METHODS {
        let model = fit(&x, method);
        let z = model.transform(&x).unwrap();
        for seed in 0..20 {
            let turned = product(&z, &orthogonal(D, seed));
            let slack = allowed(&model) + D as f64 * 16.0 * EPS;
            assert_close(second_moment(&turned, &ones(N)).as_slice(), identity(D).as_slice(), slack, "(P21)");
        }
        // And every method is a rotation of PCA whitening: Q = WUΛ^(1/2) is orthogonal.
        if !is_cor(method) {
            let pca = model.pca();
            let (u, roots) = (pca.components(), pca.variances().iter().map(|v| v.sqrt()).collect::<Vec<_>>());
            let scaled = Matrix::from_fn(D, D, |i, j| u[(j, i)] * roots[j]);
            let q = product(&matrix_of(&model), &scaled);
            let square = product(&q, &Matrix::from_fn(D, D, |i, j| q[(j, i)]));
            assert_close(square.as_slice(), identity(D).as_slice(), allowed(&model), "QQᵀ");
        }
    }
}

/// Mean of ‖z − D⁻¹(x − x̄)‖², from the rows.
fn measured(z: &Matrix<f64>, rows: &Matrix<f64>, weights: &[f64]) -> f64 {
    let n: f64 = weights.iter().sum();
    let entry = |i: usize, j: usize| if j < z.n_cols() { z[(i, j)] } else { 0.0 };
    let square = |i: usize| (0..rows.n_cols()).map(|j| (entry(i, j) - rows[(i, j)]).powi(2)).sum::<f64>();
    (0..rows.n_rows()).map(|i| weights[i] * square(i)).sum::<f64>() / n
}

#[test]
fn the_distance_is_what_the_rows_say() {
    let x = correlated(N, D, 44);
    let weights: Vec<f64> = (0..N).map(|i| 0.2 + (i % 3) as f64).collect();
    for (method, ridge) in METHODS.into_iter().flat_map(|m| [(m, 0.0), (m, 0.3)]) {
        for kept in [None, Some(3)] {
            if method == WhiteningMethod::Cholesky && kept.is_some() {
                continue;
            }
            let settings = Whitening::new(method).ridge(ridge);
            let settings = kept.map_or(settings.clone(), |k| settings.components(k));
            let model = settings.fit((&x, Some(&weights[..]))).unwrap();
            let rows = centred(&x, &weights, is_cor(method));
            let direct = measured(&model.transform(&x).unwrap(), &rows, &weights);
            let slack = allowed(&model) * (1.0 + model.pca().total_variance());
            assert_close(&[model.distance()], &[direct], slack, &format!("{method} {ridge} {kept:?}, (P18)"));
        }
    }
}

#[test]
fn zca_moves_rows_least_and_zca_cor_standardised_rows() {
    let x = correlated(N, D, 45);
    let distance = |method| fit(&x, method).distance();
    let zca = fit(&x, WhiteningMethod::Zca);
    assert!(distance(WhiteningMethod::Zca) < distance(WhiteningMethod::Pca));
    assert!(distance(WhiteningMethod::Zca) < distance(WhiteningMethod::Cholesky));
    let sum: f64 = zca.pca().variances().iter().map(|v| (v.sqrt() - 1.0).powi(2)).sum();
    assert_close(&[zca.distance()], &[sum], allowed(&zca), "Σ(√λ − 1)²");
    assert!(distance(WhiteningMethod::ZcaCor) < distance(WhiteningMethod::PcaCor));
    for (closest, standardized) in [(WhiteningMethod::Zca, false), (WhiteningMethod::ZcaCor, true)] {
        let rows = centred(&x, &ones(N), standardized);
        let least = fit(&x, closest).distance();
        for method in METHODS.into_iter().filter(|m| *m != closest) {
            let z = fit(&x, method).transform(&x).unwrap();
            assert!(measured(&z, &rows, &ones(N)) > least, "{method} is closer than {closest}");
            for seed in 0..100 {
                let turned = product(&z, &orthogonal(D, 500 + seed));
                assert!(measured(&turned, &rows, &ones(N)) > least, "{method}, rotation {seed}");
            }
        }
    }
}

#[test]
fn the_units_of_columns_do_not_matter_to_the_correlation_methods() {
    let x = correlated(N, D, 46);
    let units = Matrix::from_fn(N, D, |i, j| x[(i, j)] * 10f64.powi(j as i32 - 2));
    for method in [WhiteningMethod::PcaCor, WhiteningMethod::ZcaCor, WhiteningMethod::Cholesky] {
        let (a, b) = (fit(&x, method), fit(&units, method));
        // Cholesky's triangle is the same in any units too, but sees C, whose condition grows by 1e10.
        let slack = 10.0 * allowed(&a).max(allowed(&b));
        assert_close(
            a.transform(&x).unwrap().as_slice(),
            b.transform(&units).unwrap().as_slice(),
            slack,
            "units",
        );
    }
}

#[test]
fn a_ridge_makes_variances_of_lambda_over_lambda_plus_ridge() {
    let x = correlated(N, D, 47);
    for (method, ridge) in METHODS.into_iter().flat_map(|m| [(m, 1e-3), (m, 0.5), (m, 20.0)]) {
        let model = Whitening::new(method).ridge(ridge).fit(x.clone()).unwrap();
        let z = model.transform(&x).unwrap();
        let (values, _) = eigen(&second_moment(&z, &ones(N)));
        let expected: Vec<f64> = model.pca().variances().iter().map(|v| v / (v + ridge)).collect();
        let slack = allowed(&model);
        assert_close(&values, &expected, slack, &format!("{method}, ridge {ridge}, (P22)"));
        let back = model.inverse_transform(&z).unwrap();
        assert_close(back.as_slice(), x.as_slice(), 10.0 * slack, &format!("{method}, the way back"));
        assert!(model.statement().contains("ridge") && model.ridge() == ridge);
    }
}

#[test]
fn few_components_are_white_along_the_axes_that_are_kept() {
    let x = correlated(N, D, 48);
    for method in METHODS.into_iter().filter(|m| *m != WhiteningMethod::Cholesky) {
        let model = Whitening::new(method).components(2).fit(x.clone()).unwrap();
        assert_eq!(model.rank(), 2);
        assert_eq!(
            model.statement(),
            "the 2 directions of largest variance of 6 are whitened, the others left out"
        );
        let z = model.transform(&x).unwrap();
        let moment = second_moment(&z, &ones(N));
        let expected = if model.n_outputs() == 2 {
            identity(2)
        } else {
            super::help::projector(&model.pca().components())
        };
        assert_close(moment.as_slice(), expected.as_slice(), allowed(&model), &method.to_string());
    }
    let message =
        Whitening::new(WhiteningMethod::Cholesky).components(2).fit(x.clone()).unwrap_err().to_string();
    assert!(message.contains("its triangle needs all columns"), "{message}");
    assert!(Whitening::new(WhiteningMethod::Zca).components(0).fit(x).is_err());
}

#[test]
fn every_route_whitens() {
    let x = correlated(N, D, 49);
    let by = |route| {
        Whitening::new(WhiteningMethod::Zca).with(|p| p.route(route).tolerance(1e-13)).fit(x.clone()).unwrap()
    };
    let best = by(PcaRoute::Tsqr);
    for route in [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Krylov] {
        let model = by(route);
        assert_eq!((model.plan().route, model.rank()), (route, D));
        let (a, b) = (best.transform(&x).unwrap(), model.transform(&x).unwrap());
        assert_close(a.as_slice(), b.as_slice(), 10.0 * allowed(&best), &route.to_string());
    }
    let one = Whitening::new(WhiteningMethod::Zca).with(|p| p.threads(1)).fit(x.clone()).unwrap();
    let two = Whitening::new(WhiteningMethod::Zca).with(|p| p.threads(2)).fit(x.clone()).unwrap();
    assert_eq!(one.transform(&x).unwrap(), two.transform(&x).unwrap());
}

#[test]
fn names_and_settings_pass_through() {
    let x = correlated(N, 2, 50);
    let names = vec!["a".to_string(), "b".to_string()];
    let model = Whitening::new(WhiteningMethod::Zca)
        .with(|p: Pca| p.column_names(names.clone()))
        .fit(x.clone())
        .unwrap();
    assert_eq!(model.column_names(), names);
    for name in WhiteningMethod::names() {
        assert_eq!(name.parse::<WhiteningMethod>().unwrap().to_string(), name);
    }
    assert!("pac".parse::<WhiteningMethod>().unwrap_err().to_string().contains("pca, zca, cholesky"));
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        let message =
            Whitening::new(WhiteningMethod::Zca).ridge(ridge).fit(x.clone()).unwrap_err().to_string();
        assert!(message.contains("it must be 0 or a positive number"), "{message}");
    }
}
