use super::super::tests::{planted, with_one_and_two};
use super::*;
use crate::linalg::orthonormal_columns;

fn validated(x: &Matrix<f64>, options: &GabrielOptions) -> Gabriel {
    gabriel(x.into(), options, &Watch::default()).unwrap()
}

fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_rows(), b.n_cols(), |i, j| (0..a.n_cols()).map(|l| a[(i, l)] * b[(l, j)]).sum())
}

fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)])
}

/// D_m⁺ for D = Σ s·u·vᵀ with chosen factors: the m leading terms, inverted.
struct Known {
    d: Matrix<f64>,
    u: Matrix<f64>,
    v: Matrix<f64>,
    s: Vec<f64>,
}

/// A matrix with known singular triplets, u orthogonal to the ones so that D is centred.
fn known(n: usize, d: usize, rank: usize) -> Known {
    let mut stream = Stream::new(5, Purpose::Synthetic);
    let mut start = Matrix::from_fn(n, rank + 1, |_, _| stream.gaussian());
    (0..n).for_each(|i| start[(i, 0)] = 1.0);
    let basis = orthonormal_columns(start.view());
    let u = basis.view().columns(1..rank + 1).to_matrix();
    let v = orthonormal_columns(Matrix::from_fn(d, rank, |_, _| stream.gaussian()).view());
    let s: Vec<f64> = (0..rank).map(|j| 5.0 / (1 + j) as f64).collect();
    let us = Matrix::from_fn(n, rank, |i, j| u[(i, j)] * s[j]);
    Known { d: product(&us, &transposed(&v)), u, v, s }
}

/// One block by hand: Â_m = B·D_m⁺·X[R', C] with the pseudo-inverse written out, columns on either side of the block.
#[test]
fn a_block_is_predicted_as_by_the_pseudo_inverse() {
    for (n_others, n_kept) in [(20, 7), (6, 15)] {
        let rank = 4;
        let Known { d, u, v, s } = known(n_others, n_kept, rank);
        let mut stream = Stream::new(6, Purpose::Synthetic);
        let (n_held, n_out, before) = (3, 2, 4);
        let mut gaussian = |rows, columns| Matrix::from_fn(rows, columns, |_, _| stream.gaussian());
        let (a, b, mut c) = (gaussian(n_held, n_out), gaussian(n_held, n_kept), gaussian(n_others, n_out));
        Columns::standardise(&mut c, false).unwrap();
        let place = |j: usize, kept: &Matrix<f64>, out: &Matrix<f64>, i: usize| match j {
            j if j < before => kept[(i, j)],
            j if j < before + n_out => out[(i, j - before)],
            j => kept[(i, j - n_out)],
        };
        // The rows held out are in the middle, and a mean that both share is to be taken out.
        let x = Matrix::from_fn(n_others + n_held, n_kept + n_out, |i, j| {
            let value = match i {
                i if i < 2 => place(j, &d, &c, i),
                i if i < 2 + n_held => place(j, &b, &a, i - 2),
                i => place(j, &d, &c, i - n_held),
            };
            value + 10.0
        });
        let out = before..before + n_out;
        let split = Split::new(x.view(), 2..2 + n_held, false, std::slice::from_ref(&out)).unwrap();
        assert_eq!(split.moments.is_some(), n_kept <= n_others);
        let path = split.path(out, 100).unwrap();
        assert_eq!(path.len(), rank + 1, "directions that are rounding end the path");
        for (m, error) in path.iter().enumerate() {
            let inverse =
                Matrix::from_fn(n_kept, n_others, |i, j| (0..m).map(|l| v[(i, l)] * u[(j, l)] / s[l]).sum());
            let predicted = product(&product(&b, &inverse), &c);
            let gaps = a.as_slice().iter().zip(predicted.as_slice());
            let expected: f64 = gaps.map(|(x, y)| (x - y).powi(2)).sum();
            // Entries of size 10 are centred; condition 4 of D, squared in the eigenproblem.
            assert!((error - expected).abs() < 1e-11 * (1.0 + expected), "{m}: {error} {expected}");
        }
    }
}

#[test]
fn every_entry_is_held_out_once_and_no_component_predicts_the_mean_of_the_others() {
    let x = planted(30, 6, 2, 14);
    let found = validated(&x, &GabrielOptions { row_folds: 30, ..Default::default() });
    // Leaving one row out: x − mean of the others = (x − mean)·n/(n − 1).
    let mut centred = x.clone();
    Columns::standardise(&mut centred, false).unwrap();
    let squares: f64 = centred.as_slice().iter().map(|v| (v * 30.0 / 29.0).powi(2)).sum();
    assert!((found.errors[0].1 - squares / 180.0).abs() < 1e-12 * squares);
    assert_eq!(found.errors.iter().map(|e| e.0).collect::<Vec<_>>(), (0..=4).collect::<Vec<_>>());
}

#[test]
fn noise_has_no_component_and_a_signal_its_own() {
    let noise = validated(&planted(300, 20, 0, 15), &GabrielOptions::default());
    assert_eq!((noise.n_components, noise.one_standard_error), (0, 0));
    let signal = validated(&planted(300, 20, 4, 16), &GabrielOptions::default());
    assert_eq!(signal.n_components, 4);
    // With the signal taken out, noise of variance 1 and what prediction adds to it are left.
    assert!(signal.errors[4].1 > 1.0 && signal.errors[4].1 < 2.0, "{:?}", signal.errors[4]);
    assert!(signal.one_standard_error <= 4);
    assert!(signal.errors.iter().all(|e| e.2 > 0.0));
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_rows_are_sampled() {
    for (n, d) in [(700, 40), (50, 200)] {
        let x = planted(n, d, 3, 17);
        let options = GabrielOptions { most_rows: 600, seed: 3, ..Default::default() };
        let (one, two) = with_one_and_two(|| validated(&x, &options));
        assert_eq!(one, two);
        assert_eq!((one.n_components, one.n_rows_used), (3, n.min(600)));
        assert_ne!(one.errors, validated(&x, &GabrielOptions { seed: 4, ..options }).errors);
    }
}

#[test]
fn the_path_ends_where_asked() {
    let x = planted(100, 12, 3, 18);
    assert_eq!(validated(&x, &GabrielOptions { most: 2, ..Default::default() }).errors.len(), 3);
    assert_eq!(validated(&x, &GabrielOptions { most: 0, ..Default::default() }).errors.len(), 1);
    assert_eq!(validated(&x, &GabrielOptions::default()).errors.len(), 10);
}

#[test]
fn what_cannot_be_validated_is_explained() {
    let failed = |x: &Matrix<f64>, options: &GabrielOptions| {
        gabriel(x.into(), options, &Watch::default()).map(|_| ()).unwrap_err().to_string()
    };
    let standard = GabrielOptions::default();
    assert!(failed(&planted(3, 5, 1, 19), &standard).starts_with("3 rows of 5 columns"));
    assert!(failed(&planted(9, 1, 1, 19), &standard).starts_with("9 rows of 1 columns"));
    let x = planted(9, 5, 1, 19);
    assert!(failed(&x, &GabrielOptions { row_folds: 1, ..standard.clone() }).starts_with("1 parts of rows"));
    assert!(
        failed(&x, &GabrielOptions { column_folds: 0, ..standard.clone() }).contains("0 parts of columns")
    );
    let mut huge = planted(8, 4, 1, 19);
    huge[(0, 0)] = 1e200;
    assert!(failed(&huge, &standard).contains("overflow"));
}
