//! Entries of the Gram matrix against the formula: outliers and far-away data.

use eigenlift::data::Samples;
use eigenlift::gram::{Similarity, Storage, SymmetricGram};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::operator::LinearOperator;
use eigenlift::progress::Watch;
use eigenlift::real::Real;
use eigenlift_testkit::problems::noise;

const N: usize = 420;
const D: usize = 32;
/// Squared distances of standard normal rows have mean 2d.
const GAMMA: f64 = 1.0 / 64.0;
/// No entry may be off by more.
const ALLOWED: f64 = 1e-6;

/// Standard normal rows, shifted; row `outlier`, if given, is stretched to norm 1e4.
fn rows<T: Real>(offset: f64, outlier: Option<usize>) -> Matrix<T> {
    let x = noise(N, D, 7);
    let norm = |i: usize| x.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
    Matrix::from_fn(N, D, |i, j| {
        let stretch = if outlier == Some(i) { 1e4 / norm(i) } else { 1.0 };
        T::of(x[(i, j)] * stretch + offset)
    })
}

fn gram<T: Real>(x: &Matrix<T>) -> Matrix<f64> {
    let spec: KernelSpec = format!("rbf(gamma={GAMMA})").parse().unwrap();
    let kernel = Kernel::new(&spec, D).unwrap();
    let gram =
        SymmetricGram::new(Similarity::Kernel(kernel), Samples::from(x.clone()), Storage::Tiled).unwrap();
    gram.to_dense(&Watch::default()).unwrap()
}

/// exp(−γ Σ(xᵢ−yᵢ)²) in double precision.
fn formula<T: Real>(x: &Matrix<T>) -> Matrix<f64> {
    Matrix::from_fn(N, N, |i, j| {
        let square: f64 = x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum();
        (-GAMMA * square).exp()
    })
}

fn largest_difference(a: &Matrix<f64>, b: &Matrix<f64>, except: Option<usize>) -> f64 {
    let entries = (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
    entries
        .filter(|(i, j)| Some(*i) != except && Some(*j) != except)
        .map(|at| (a[at] - b[at]).abs())
        .fold(0.0, f64::max)
}

/// Places in a block of 192 rows: the five that the centre of a tile is taken from, others, and the last, short block.
const PLACES: [usize; 9] = [0, 38, 76, 115, 153, 100, 191, 192, 419];

fn an_outlier_moves_nothing<T: Real>(offset: f64) {
    let without = rows::<T>(offset, None);
    let (tiles, exact) = (gram(&without), formula(&without));
    assert!(largest_difference(&tiles, &exact, None) < ALLOWED);
    for place in PLACES {
        let with = rows::<T>(offset, Some(place));
        let got = gram(&with);
        let from_formula = largest_difference(&got, &formula(&with), None);
        let moved = largest_difference(&got, &tiles, Some(place));
        assert!(from_formula < ALLOWED && moved < ALLOWED, "{} {place}: {from_formula:e} {moved:e}", T::NAME);
    }
}

#[test]
fn one_row_of_norm_ten_thousand_moves_no_other_entry() {
    an_outlier_moves_nothing::<f32>(0.0);
    an_outlier_moves_nothing::<f64>(0.0);
}

#[test]
fn nor_does_it_among_rows_far_from_the_origin() {
    an_outlier_moves_nothing::<f32>(1e3);
    an_outlier_moves_nothing::<f64>(1e3);
}
