use super::*;
use crate::data::Csr;
use crate::engine::{Cpu, Engine};
use crate::kernel::Kernel;
use crate::random::Purpose;
use crate::random::Stream;

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn wavy(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| ((i * d + j) as f64 * 0.7 + 0.3).sin())
}

/// `x` as compressed rows, without what is near 0.
fn sparse(x: &Matrix<f64>) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..x.n_rows() {
        for (j, v) in x.row(i).iter().enumerate().filter(|(_, v)| v.abs() > 0.5) {
            columns.push(j as u32);
            values.push(*v);
        }
        offsets.push(values.len());
    }
    Csr::new(offsets, columns, values, x.n_cols()).unwrap()
}

fn random_maps(d: usize) -> Vec<FeatureMap> {
    let mut maps = vec![FeatureMap::exact(&spec("2*polynomial(3, 0.5, 1) + linear"), d, 10_000).unwrap()];
    for text in
        ["rbf(gamma=0.4)", "laplacian(0.3)", "matern(1.5, 2)", "rational_quadratic(1, 2)", "exponential(1)"]
    {
        maps.push(FeatureMap::fourier(&spec(text), d, 50, 3).unwrap());
    }
    maps.push(FeatureMap::tensor_sketch(&spec("polynomial(3, 0.5, 1)"), d, 60, 3).unwrap());
    maps.push(FeatureMap::tensor_sketch(&spec("linear"), d, 60, 3).unwrap());
    maps
}

#[test]
fn exact_maps_give_the_kernel() {
    let x = wavy(9, 4);
    for (text, dimension) in [
        ("linear", 4),
        ("3*linear", 4),
        ("polynomial(1, 0.5, 2)", 5),
        ("polynomial(1, 0.5, 0)", 4),
        ("polynomial(2, 0.5, 0)", 10),
        ("polynomial(3, 0.7, 1.5)", 35),
        ("0.25*polynomial(2, 1, 1)", 15),
        ("map(x1, x2^2, sin(x3*x4))", 3),
        ("2*map(1, exp(x1))", 2),
        ("linear + 2*polynomial(2, 0.5, 1) + map(x1*x2)", 20),
        ("3*(linear + map(x1*x2))", 5),
    ] {
        let kernel = spec(text);
        assert_eq!(FeatureMap::exact_dimension(&kernel, 4), Some(dimension), "{text}");
        let map = FeatureMap::exact(&kernel, 4, 100).unwrap();
        assert_eq!((map.dimension() as u128, map.kind()), (dimension, FeatureKind::Exact));
        let error = map.sampled_error(&Kernel::new(&kernel, 4).unwrap(), (&x).into(), 1).unwrap();
        // Values up to about 100, sums of at most 35 terms.
        assert!(error.largest < 35.0 * 100.0 * f64::EPSILON, "{text}: {error:?}");
        assert!(error.pairs == 36 && error.rms_kernel > 0.05, "{text}: {error:?}");
        assert!(FeatureMap::exact(&kernel, 4, dimension as usize - 1).is_none());
    }
}

#[test]
fn kernels_without_a_finite_map_have_none() {
    for text in [
        "rbf(gamma=1)",
        "linear + rbf(gamma=1)",
        "-1*linear",
        "linear + -1*polynomial(2, 1, 1)",
        "polynomial(2, 1, -1)",
        "polynomial(2, -1, 1)",
        "polynomial(2.5, 1, 1)",
        "polynomial(200, 1, 1)",
        "polynomial(2, median, 1)",
        "map(x5)",
        "linear*linear",
        "sigmoid(1, 0)",
        "precomputed",
    ] {
        assert_eq!(FeatureMap::exact_dimension(&spec(text), 4), None, "{text}");
        assert!(FeatureMap::exact(&spec(text), 4, 1000).is_none(), "{text}");
    }
    assert!(FeatureMap::exact(&spec("linear"), 0, 1000).is_none());
    assert!(FeatureMap::exact(&spec("polynomial(9, 1, 1)"), 1000, usize::MAX).is_none());
    // Many features of degree 1 take no recursion.
    assert_eq!(
        FeatureMap::exact(&spec("polynomial(1, 1, 1)"), 500_000, 600_000).unwrap().dimension(),
        500_001
    );
}

#[test]
fn dense_and_sparse_rows_and_both_precisions_agree() {
    let x = wavy(300, 6);
    let rows = sparse(&x);
    let dense = Points::Sparse(rows.view()).to_dense::<f64>();
    let single = Matrix::from_fn(300, 6, |i, j| dense[(i, j)] as f32);
    let widened = Matrix::from_fn(300, 6, |i, j| f64::from(single[(i, j)]));
    for map in random_maps(6) {
        let expected = map.apply((&dense).into()).unwrap();
        let got = map.apply(Points::Sparse(rows.view()).into()).unwrap();
        let worst =
            expected.as_slice().iter().zip(got.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Phases of Cauchy frequencies reach thousands: their rounding moves a cosine by thousands of units.
        assert!(worst < 1e-11, "{map:?}: {worst:e}");
        assert_eq!(map.apply((&single).into()).unwrap(), map.apply((&widened).into()).unwrap());
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let x = wavy(1000, 5);
    let run = |threads| {
        let mut out = Vec::new();
        Cpu::new(threads).unwrap().run(&mut || {
            out = random_maps(5).iter().map(|map| map.apply((&x).into()).unwrap()).collect();
        });
        out
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_seed_fixes_the_map() {
    let x = wavy(4, 3);
    let features = |seed| {
        let fourier = FeatureMap::fourier(&spec("rbf(gamma=1)"), 3, 20, seed).unwrap();
        let sketch = FeatureMap::tensor_sketch(&spec("polynomial(2, 1, 1)"), 3, 20, seed).unwrap();
        (fourier.apply((&x).into()).unwrap(), sketch.apply((&x).into()).unwrap())
    };
    assert_eq!(features(5), features(5));
    assert_ne!(features(5).0, features(6).0);
    assert_ne!(features(5).1, features(6).1);
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    for map in random_maps(3) {
        let text = map.apply((&wavy(2, 4)).into()).unwrap_err().to_string();
        assert!(text.contains("rows of 4 numbers") && text.contains("rows of 3"), "{text}");
        let mut x = wavy(200, 3);
        x[(150, 1)] = f64::NAN;
        assert!(map.apply((&x).into()).unwrap_err().to_string().contains("row 151"));
        assert_eq!(map.apply((&wavy(0, 3)).into()).unwrap().n_rows(), 0);
    }
}

#[test]
fn the_error_is_sampled_from_different_rows() {
    let x = wavy(1000, 3);
    let spec = spec("rbf(gamma=0.5)");
    let kernel = Kernel::new(&spec, 3).unwrap();
    let map = FeatureMap::fourier(&spec, 3, 400, 1).unwrap();
    let error = map.sampled_error(&kernel, (&x).into(), 1).unwrap();
    assert_eq!(error.pairs, 200 * 199 / 2);
    // The variance of an entry is at most 2/D = 0.07²; orthogonal frequencies lower it.
    assert!(error.rms > 0.0 && error.rms < 2.0 / 20.0 && error.largest >= error.rms, "{error:?}");
    assert_eq!(error.relative(), error.rms / error.rms_kernel);
    let single = map.sampled_error(&kernel, (&wavy(1, 3)).into(), 1).unwrap();
    assert_eq!((single.pairs, single.rms, single.relative()), (0, 0.0, 0.0));
}

#[test]
fn rows_are_drawn_once_and_in_order() {
    let rows = Stream::new(1, Purpose::Probes).rows(100, 30);
    assert!(rows.len() == 30 && rows.windows(2).all(|w| w[0] < w[1]) && rows[29] < 100);
    assert_eq!(Stream::new(1, Purpose::Probes).rows(3, 5), [0, 1, 2]);
    assert!(Stream::new(1, Purpose::Probes).rows(0, 5).is_empty());
}

#[test]
fn kinds_are_words() {
    for kind in [FeatureKind::Exact, FeatureKind::Fourier, FeatureKind::TensorSketch] {
        assert_eq!(kind.to_string().parse::<FeatureKind>().unwrap(), kind);
        assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
    }
    assert!("fft".parse::<FeatureKind>().unwrap_err().to_string().contains("exact, fourier or tensorsketch"));
}
