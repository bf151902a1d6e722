//! Whitening of rows that do not vary in every direction: repeated columns, constant ones, fewer rows than columns.

use super::help::{EPS, assert_close, correlated, identity, ones, projector, second_moment, transposed};
use super::whitening::{METHODS, allowed};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedWhitening, Whitening, WhiteningMethod};
use eigenlift_testkit::problems::noise;
use eigenlift_testkit::reference::{eigen, product};

/// Five columns of which the last repeats the second.
fn repeated() -> Matrix<f64> {
    let x = correlated(150, 4, 51);
    Matrix::from_fn(150, 5, |i, j| x[(i, if j == 4 { 1 } else { j })])
}

/// Six columns of which the third is constant.
fn with_constant() -> Matrix<f64> {
    let x = correlated(150, 5, 52);
    Matrix::from_fn(150, 6, |i, j| match j {
        2 => 7.5,
        _ => x[(i, if j > 2 { j - 1 } else { j })],
    })
}

fn assert_white_where_kept(model: &FittedWhitening, x: &Matrix<f64>, what: &str) {
    let z = model.transform(x).unwrap();
    let moment = second_moment(&z, &ones(x.n_rows()));
    let expected = if model.n_outputs() == model.rank() {
        identity(model.rank())
    } else {
        projector(&model.pca().components())
    };
    assert_close(moment.as_slice(), expected.as_slice(), allowed(model), what);
    let (values, _) = eigen(&moment);
    let count = values.iter().filter(|v| **v > 0.5).count();
    assert_eq!(count, model.rank(), "{what}: {values:?}");
}

/// The rows of the fit vary only where they are whitened: they come back whole.
fn assert_way_back(model: &FittedWhitening, x: &Matrix<f64>, what: &str) {
    let back = model.inverse_transform(&model.transform(x).unwrap()).unwrap();
    assert_close(back.as_slice(), x.as_slice(), 100.0 * allowed(model), &format!("{what}, the way back"));
}

#[test]
fn rows_of_lower_rank_are_white_in_the_directions_they_have() {
    let cases = [
        ("repeated column", repeated(), 4, 5),
        ("constant column", with_constant(), 5, 6),
        ("12 × 30", correlated(12, 30, 53), 11, 30),
    ];
    for (name, x, rank, d) in cases {
        for method in METHODS.into_iter().filter(|m| *m != WhiteningMethod::Cholesky) {
            let what = format!("{name}, {method}");
            let model = Whitening::new(method).fit(x.clone()).unwrap();
            assert_eq!(model.rank(), rank, "{what}");
            let outputs =
                if matches!(method, WhiteningMethod::Zca | WhiteningMethod::ZcaCor) { d } else { rank };
            assert_eq!(model.n_outputs(), outputs, "{what}");
            assert_white_where_kept(&model, &x, &what);
            assert_way_back(&model, &x, &what);
            let said = format!(
                "rank {rank} of {d}: the {rank} directions with variance are whitened, the others left out"
            );
            assert_eq!(model.statement(), said, "{what}");
            assert!(model.warnings()[0].contains(&format!("rank {rank} of {d}")), "{:?}", model.warnings());
            assert_eq!(model.warnings().len(), 1);
        }
        let message = Whitening::new(WhiteningMethod::Cholesky).fit(x.clone()).unwrap_err().to_string();
        let said =
            format!("rows of rank {rank} in {d} columns; whitening by Cholesky needs as many directions");
        assert!(message.contains(&said) && message.contains("Give a ridge"), "{message}");
    }
}

/// A ridge lets Cholesky map what has no variance; λ/(λ + ε) of the directions that have some, 0 of the others.
#[test]
fn a_ridge_makes_cholesky_of_any_rank_possible() {
    for (x, rank, d) in [(repeated(), 4, 5), (with_constant(), 5, 6), (correlated(12, 30, 53), 11, 30)] {
        let ridge = 0.05;
        let model = Whitening::new(WhiteningMethod::Cholesky).ridge(ridge).fit(x.clone()).unwrap();
        assert_eq!((model.rank(), model.n_outputs()), (d, d));
        let z = model.transform(&x).unwrap();
        let (values, _) = eigen(&second_moment(&z, &ones(x.n_rows())));
        let mut expected: Vec<f64> = model.pca().variances().iter().map(|v| v / (v + ridge)).collect();
        expected.resize(d, 0.0);
        let slack = x.n_rows() as f64 * EPS * model.pca().total_variance() / ridge;
        assert_close(&values, &expected, slack, "(P22)");
        assert_way_back(&model, &x, "with a ridge");
        // Everything is mapped: rows off the directions of the fit come back too.
        let off = Matrix::from_fn(4, d, |i, j| x[(i, j)] + (i * d + j) as f64 * 0.1);
        assert_way_back(&model, &off, "rows off the fit");
        let mean = model.pca().mean().to_vec();
        let units = Matrix::from_fn(d, d, |i, j| mean[j] + f64::from(u8::from(i == j)));
        let w = transposed(&model.transform(&units).unwrap());
        for i in 0..d {
            assert!(w[(i, i)] > 0.0);
            assert_close(&w.row(i)[..i], &vec![0.0; i], slack, "upper triangle");
        }
        let said = format!(
            "rank {rank} of {d}: all directions are mapped, those without variance by the ridge alone; ridge 5e-2"
        );
        assert!(model.statement().starts_with(&said), "{}", model.statement());
        assert!(model.warnings()[0].contains(&format!("rank {rank} of {d}")), "{:?}", model.warnings());
    }
}

#[test]
fn a_ridge_and_missing_directions_go_together() {
    let x = repeated();
    for method in METHODS.into_iter().filter(|m| *m != WhiteningMethod::Cholesky) {
        let model = Whitening::new(method).ridge(0.1).fit(x.clone()).unwrap();
        let (values, _) = eigen(&second_moment(&model.transform(&x).unwrap(), &ones(150)));
        let mut expected: Vec<f64> = model.pca().variances().iter().map(|v| v / (v + 0.1)).collect();
        expected.resize(model.n_outputs(), 0.0);
        assert_close(&values, &expected, allowed(&model), &method.to_string());
        assert_way_back(&model, &x, &method.to_string());
        assert!(model.statement().contains("rank 4 of 5") && model.statement().contains("ridge 1e-1"));
    }
}

/// C^(−1/2) of 2000 columns would take 32 MB; in factors it is 30 of them.
#[test]
fn whitening_of_wide_rows_stays_in_factors() {
    let (n, d) = (30, 2000);
    let x = noise(n, d, 54);
    for method in [WhiteningMethod::Zca, WhiteningMethod::ZcaCor] {
        let model = Whitening::new(method).fit(x.clone()).unwrap();
        assert_eq!((model.rank(), model.n_outputs()), (n - 1, d));
        assert_way_back(&model, &x, &method.to_string());
        assert!(model.to_bytes().unwrap().len() < 3 * n * d * 8);
        // The Gram matrix of what comes out: n times a projection of rank n − 1, which is n·I − 11ᵀ.
        let z = model.transform(&x).unwrap();
        let gram = product(&z, &transposed(&z));
        let expected = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 - 1.0 } else { -1.0 });
        assert_close(gram.as_slice(), expected.as_slice(), n as f64 * allowed(&model), &method.to_string());
        // New rows: what lies outside the directions of the fit is lost, and stays lost.
        let new = noise(5, d, 55);
        let (once, lost) = (model.transform(&new).unwrap(), model.pca().reconstruction(&new).unwrap().total);
        assert!(lost > 1000.0, "{lost}");
        let back = model.inverse_transform(&once).unwrap();
        let twice = model.transform(&back).unwrap();
        assert_close(once.as_slice(), twice.as_slice(), 100.0 * allowed(&model), "a projection");
    }
    let message =
        Whitening::new(WhiteningMethod::Cholesky).ridge(1.0).fit(Matrix::<f64>::zeros(3, 9000)).unwrap_err();
    assert!(message.to_string().contains("its square matrix is made for up to 8192"), "{message}");
}

#[test]
fn all_directions_of_few_rows_with_many_columns_fit_into_little_memory() {
    let x = noise(20, 30_000, 56);
    let settings = Whitening::new(WhiteningMethod::Zca).with(|p| p.memory_limit(200 << 20));
    let model = settings.fit(x.clone()).unwrap();
    assert_eq!(model.rank(), 19);
    assert_way_back(&model, &x, "20 × 30000");
}
