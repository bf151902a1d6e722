use super::*;
use crate::data::Csr;
use crate::engine::{Cpu, Engine};
use crate::progress::CancelToken;

/// Rows around 6 places on a circle of radius 10, none further than 0.5 from its place; all moved by `offset`.
fn blobs(n: usize, offset: f64) -> Matrix<f64> {
    let mut random = Stream::new(8, Purpose::Synthetic);
    Matrix::from_fn(n, 2, |i, j| {
        let angle = (i % 6) as f64 * std::f64::consts::TAU / 6.0;
        let place = if j == 0 { angle.cos() } else { angle.sin() };
        offset + 10.0 * place + 0.7 * (random.uniform() - 0.5)
    })
}

fn centres(x: &Matrix<f64>, count: usize, seed: u64) -> Matrix<f64> {
    k_means_centres(x.into(), count, seed, &Watch::default()).unwrap()
}

#[test]
fn clusters_are_found() {
    for (n, offset) in [(240, 0.0), (240, 1e6), (3000, 0.0)] {
        let x = blobs(n, offset);
        let found = centres(&x, 6, 1);
        assert_eq!((found.n_rows(), found.n_cols()), (6, 2));
        for i in 0..6 {
            let near = |c: usize| (found[(c, 0)] - x[(i, 0)]).hypot(found[(c, 1)] - x[(i, 1)]) < 1.0;
            assert_eq!((0..6).filter(|c| near(*c)).count(), 1, "{n} {offset} {i}");
        }
    }
}

#[test]
fn centres_are_means_of_their_rows() {
    let x = blobs(240, 0.0);
    let found = centres(&x, 6, 3);
    let places: Vec<Vec<f64>> = (0..6)
        .map(|p| (0..2).map(|j| (p..240).step_by(6).map(|i| x[(i, j)]).sum::<f64>() / 40.0).collect())
        .collect();
    for c in 0..6 {
        let same = |place: &Vec<f64>| place.iter().zip(found.row(c)).all(|(a, b)| (a - b).abs() < 1e-13);
        assert_eq!(places.iter().filter(|place| same(place)).count(), 1);
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let x = Matrix::from_fn(3000, 19, |i, j| ((i * 19 + j) as f64 * 0.37).sin());
    let run = |threads| {
        let mut out = Matrix::default();
        Cpu::new(threads).unwrap().run(&mut || out = centres(&x, 40, 5));
        out
    };
    assert_eq!(run(1), run(2));
    assert_ne!(centres(&x, 40, 5), centres(&x, 40, 6));
}

#[test]
fn sparse_rows_give_the_centres_of_dense_ones() {
    // Every third entry is there, in single precision.
    let entry = |i: usize, j: usize| f64::from(((i * 5 + j) as f32 * 0.61).sin());
    let dense = Matrix::from_fn(500, 12, |i, j| if (i + j) % 3 == 0 { entry(i, j) } else { 0.0 });
    let columns: Vec<u32> = (0..500).flat_map(|i| (0..12u32).filter(move |j| (i + j) % 3 == 0)).collect();
    let values = (0..500).flat_map(|i| columns[4 * i..4 * i + 4].iter().map(move |j| (i, *j as usize)));
    let values: Vec<f32> = values.map(|(i, j)| dense[(i, j)] as f32).collect();
    let rows = Csr::new((0..=500).map(|i| 4 * i).collect(), columns, values, 12).unwrap();
    let got = k_means_centres(Points::Sparse(rows.view()).into(), 20, 2, &Watch::default()).unwrap();
    let expected = centres(&dense, 20, 2);
    assert_eq!(got.n_rows(), expected.n_rows());
    // No row is as near to one centre as to another, so that clusters are the same; means are rounded alike.
    assert!(got.as_slice().iter().zip(expected.as_slice()).all(|(a, b)| (a - b).abs() < 1e-13));
}

#[test]
fn duplicates_give_fewer_centres() {
    let x = Matrix::from_fn(90, 3, |i, j| ((i % 7) * 3 + j) as f64 * 0.1);
    let found = centres(&x, 20, 1);
    assert_eq!(found.n_rows(), 7);
    for i in 0..7 {
        assert_eq!((0..7).filter(|c| found.row(*c) == x.row(i)).count(), 1);
    }
    let columns: Vec<u32> = (0..90u32).map(|i| i % 7).collect();
    let rows = Csr::new((0..=90).collect(), columns, vec![0.1f64; 90], 7).unwrap();
    let found = k_means_centres(Points::Sparse(rows.view()).into(), 20, 1, &Watch::default()).unwrap();
    assert_eq!(found.n_rows(), 7);
}

#[test]
fn as_many_centres_as_rows_are_the_rows() {
    let x = blobs(30, 0.0);
    for count in [30, 100] {
        let found = centres(&x, count, 1);
        assert_eq!(found.n_rows(), 30);
        assert!((0..30).all(|i| (0..30).any(|c| found.row(c) == x.row(i))));
    }
    assert_eq!(centres(&x, 0, 1).n_rows(), 0);
    assert_eq!(centres(&Matrix::zeros(0, 3), 4, 1).n_rows(), 0);
}

#[test]
fn numbers_that_overflow_and_cancelled_work_are_errors() {
    let x = Matrix::from_fn(10, 2, |i, _| if i % 2 == 0 { 1e300 } else { -1e300 });
    for count in [2, 3] {
        let text = k_means_centres((&x).into(), count, 1, &Watch::default()).unwrap_err().to_string();
        assert!(text.contains("rescale the columns"), "{text}");
    }
    let cancel = CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    let stopped = k_means_centres((&blobs(30, 0.0)).into(), 3, 1, &watch);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
