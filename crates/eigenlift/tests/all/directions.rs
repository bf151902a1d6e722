//! Frequent directions: the bound holds against exact eigenvalues, in one reading and in little memory.

use eigenlift::data::{AnyPoints, AnySamples, RowsInMemory};
use eigenlift::eigen::Grounds;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{PcaRoute, Whitening, WhiteningMethod};
use eigenlift::methods::{FittedPca, Pca};
use eigenlift::model::Planned;
use eigenlift_testkit::problems::{noise, sparse};
use eigenlift_testkit::reference::product;

const N: usize = 300;
const D: usize = 60;

/// Noise whose columns are mixed, scaled and moved: a spectrum that falls, columns of different spread, a large offset.
fn rows(n: usize, d: usize, decay: f64) -> Matrix<f64> {
    let scores = noise(n, d, 3);
    let mix = noise(d, d, 4);
    let mix =
        Matrix::from_fn(d, d, |i, j| mix[(i, j)] * decay.powi(i as i32) * (1.0 + 20.0 * (j % 3) as f64));
    let mut x = product(&scores, &mix);
    x.as_mut_slice().iter_mut().enumerate().for_each(|(at, x)| *x += 50.0 + (at % d) as f64);
    x
}

fn sketched(k: usize, size: usize) -> Pca {
    Pca::new(k).route(PcaRoute::Directions).sketch_rows(size)
}

/// Every claim of the model against the exact one of all components.
fn holds(model: &FittedPca, exact: &FittedPca, told: &str) {
    let certificate = model.certificate();
    let bounds = certificate.bounds;
    assert_eq!(bounds.grounds, Grounds::Sketch, "{told}");
    let slack = bounds.slack.unwrap();
    let k = model.n_components();
    // Both total variances are sums over the same rows.
    let total = exact.total_variance() * exact.weight();
    let rounding = 1e-12 * total;
    assert!((model.total_variance() - exact.total_variance()).abs() * exact.weight() <= rounding, "{told}");
    for (j, value) in model.eigenvalues().iter().enumerate() {
        let (truth, interval) = (exact.eigenvalues()[j], certificate.intervals[j]);
        assert!(interval.low <= *value && *value <= interval.high, "{told}");
        // The exact one has its own rounding.
        let own = exact.certificate().intervals[j];
        assert!(interval.low <= own.high && own.low <= interval.high, "{told}: {truth} {interval:?}");
        assert!(truth >= value - rounding && truth <= value + slack + rounding, "{told}: {truth} {value}");
    }
    let best: f64 = exact.eigenvalues()[..k].iter().sum::<f64>() / total;
    let share = bounds.explained.unwrap();
    assert!(share.low <= best + 1e-12 && best <= share.high + 1e-12, "{told}: {best} {share:?}");
    let next = exact.spectrum().get(k).map_or(0.0, |v| v * exact.weight());
    assert!(next <= bounds.missed.unwrap() + rounding, "{told}");
    let least = exact.residual_errors();
    for (m, error) in model.residual_errors().iter().enumerate() {
        let most = least[m] + m as f64 * slack / exact.weight() + 1e-12 * exact.total_variance();
        assert!(least[m] <= error + 1e-12 * exact.total_variance() && *error <= most, "{told}, m = {m}");
    }
    let axes = model.components();
    let gram = product(&axes, &Matrix::from_fn(D, k, |i, j| axes[(j, i)]));
    assert!((0..k).all(|i| (0..k).all(|j| (gram[(i, j)] - f64::from(i == j)).abs() < 1e-12)), "{told}");
}

#[test]
fn every_bound_holds_against_the_exact_components() {
    let weights: Vec<f64> = (0..N).map(|i| 0.25 * (i % 4) as f64).collect();
    for decay in [0.5, 0.8, 0.95, 1.0] {
        let x = rows(N, D, decay);
        for (scaled, weights) in
            [(false, None), (true, None), (false, Some(&weights)), (true, Some(&weights))]
        {
            let set = |pca: Pca| if scaled { pca.standardize() } else { pca };
            let weights = weights.map(Vec::as_slice);
            let exact = set(Pca::new(D).route(PcaRoute::Tsqr)).fit((&x, weights)).unwrap();
            for (k, size) in [(1, 2), (4, 5), (4, 16), (4, 40), (4, 60), (10, 100)] {
                let model = set(sketched(k, size)).fit((&x, weights)).unwrap();
                let told = format!("decay {decay}, scaled {scaled}, ℓ = {size}");
                holds(&model, &exact, &told);
                // The axes hold at least what the sketch says: their error is no larger than J.
                let measured = model.reconstruction(&x).unwrap().total;
                if weights.is_none() {
                    let allowed = model.residual_error() + 1e-12 * model.total_variance();
                    assert!(measured <= allowed, "{told}: {measured} {}", model.residual_error());
                }
            }
        }
    }
}

#[test]
fn standardising_survives_columns_of_very_small_spread() {
    let mut x = rows(N, D, 0.7);
    x.as_mut_slice().chunks_mut(D).for_each(|row| {
        row[5] = 1e-6 * (row[5] - 50.0);
        row[6] = 4.0;
    });
    let exact = Pca::new(D).standardize().route(PcaRoute::Tsqr).fit(x.clone()).unwrap();
    let model = sketched(4, 20).standardize().fit(x.clone()).unwrap();
    holds(&model, &exact, "a faint and a constant column");
    // Δ/min s² alone would be far more than all there is.
    let plain = sketched(4, 20).fit(x).unwrap().certificate().bounds.slack.unwrap();
    let smallest = model.scale().unwrap().iter().copied().fold(f64::INFINITY, f64::min);
    let total = model.total_variance() * model.weight();
    let slack = model.certificate().bounds.slack.unwrap();
    assert!(plain / smallest.powi(2) > 100.0 * total && slack < total, "{slack} {total}");
}

#[test]
fn rows_of_low_rank_are_found_exactly() {
    let (scores, mix) = (noise(N, 9, 1), noise(9, D, 2));
    let shape = product(&scores, &mix);
    for (scaled, offset) in [(false, 0.0), (true, 0.0), (false, 1e4)] {
        let x = Matrix::from_fn(N, D, |i, j| shape[(i, j)] + offset);
        let set = |pca: Pca| if scaled { pca.standardize() } else { pca };
        let exact = set(Pca::new(9).route(PcaRoute::Tsqr)).fit(x.clone()).unwrap();
        let model = set(sketched(9, 10)).fit(x.clone()).unwrap();
        let first = exact.eigenvalues()[0];
        assert_eq!(model.n_components(), 9);
        for (j, (a, b)) in model.eigenvalues().iter().zip(exact.eigenvalues()).enumerate() {
            assert!((a - b).abs() < 1e-10 * first, "{a} {b}");
            let (here, there) = (model.certificate().intervals[j], exact.certificate().intervals[j]);
            assert!(here.low <= there.high && there.low <= here.high, "{here:?} {there:?}");
        }
        let (u, v) = (model.components(), exact.components());
        assert!(u.as_slice().iter().zip(v.as_slice()).all(|(a, b)| (a - b).abs() < 1e-10));
        // The offset leaves its rounding, 1e4·u, in every entry of every row: squared and summed 1e-20.
        let slack = model.certificate().bounds.slack.unwrap();
        assert!(slack < 1e-20 * first, "{slack:e} {first:e}");
        assert!(model.is_whole() && model.residual_error() < 1e-20 * first);
    }
}

#[test]
fn pieces_merges_sources_and_weights_in_the_table() {
    let x = rows(N, D, 0.8);
    let exact = Pca::new(D).route(PcaRoute::Tsqr).fit(x.clone()).unwrap();
    for (k, size) in [(3, 4), (3, 15), (5, 60)] {
        for piece in [1, 6, 29, 300] {
            let settings = sketched(k, size);
            let mut parts: Vec<_> = (0..3).map(|_| settings.stream(D).unwrap()).collect();
            for (at, from) in (0..N).step_by(piece).enumerate() {
                parts[at % 3].partial_fit(AnyPoints::from(&x).rows(from..(from + piece).min(N))).unwrap();
            }
            let mut all = parts.pop().unwrap();
            parts.iter().for_each(|part| all.merge(part).unwrap());
            assert_eq!(all.count(), N as u64);
            holds(&all.finish().unwrap(), &exact, &format!("ℓ = {size}, pieces of {piece}"));
            let error = all.remove(AnyPoints::from(&x).rows(0..2)).unwrap_err().to_string();
            assert!(error.contains("sketch"), "{error}");
        }
        let model = sketched(k, size).fit(&mut RowsInMemory::new(&x)).unwrap();
        holds(&model, &exact, "source");
        let whole = sketched(k, size).fit(x.clone()).unwrap();
        assert_eq!(model.eigenvalues(), whole.eigenvalues());
    }
    let weights: Vec<f64> = (0..N).map(|i| 0.5 + (i % 3) as f64).collect();
    let beside = Matrix::from_fn(N, D + 1, |i, j| if j < D { x[(i, j)] } else { weights[i] });
    let settings = sketched(3, 20);
    let mut source = RowsInMemory::new(&beside);
    let model = settings.clone().weights_in_last_column().fit(&mut source).unwrap();
    assert_eq!(model.eigenvalues(), settings.fit((&x, Some(&weights[..]))).unwrap().eigenvalues());
    let mut stream = settings.stream(D).unwrap();
    assert!(stream.merge(&Pca::new(3).stream(D).unwrap()).is_err());
    assert!(stream.merge(&sketched(3, 21).stream(D).unwrap()).is_err());
    assert!(stream.partial_fit(&noise(2, D - 1, 1)).is_err());
    assert!(stream.finish().is_err());
}

#[test]
fn a_stream_takes_the_sketch_when_the_covariance_does_not_fit() {
    let d = 3000;
    let small = Pca::new(2).sketch_rows(8).memory_limit(100 << 20).stream(d).unwrap();
    let large = Pca::new(2).memory_limit(2 << 30).stream(d).unwrap();
    for (stream, route) in [(small, PcaRoute::Directions), (large, PcaRoute::Covariance)] {
        let mut stream = stream;
        stream.partial_fit(&noise(30, d, 6)).unwrap();
        let model = stream.finish().unwrap();
        assert_eq!(model.plan().route, route);
        let text = model.plan().to_string();
        assert!(!text.contains("asked for"), "{text}");
        if route == PcaRoute::Directions {
            assert!(text.contains("a sketch of 8 rows, one reading, with a bound"), "{text}");
            assert!(text.contains("the covariance of 3000 columns needs"), "{text}");
            assert!(model.plan().bytes_needed <= model.plan().bytes_allowed);
        }
    }
    assert!(Pca::new(2).memory_limit(1 << 20).stream(d).is_err());
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let x = rows(50, D, 0.8);
    let refused = |pca: Pca| pca.fit(x.clone()).unwrap_err().to_string();
    assert!(refused(sketched(5, 5)).contains("at least 6"));
    assert!(refused(Pca::auto().route(PcaRoute::Directions)).contains("rules"));
    let whitening = Whitening::new(WhiteningMethod::Pca).with(|pca| pca.route(PcaRoute::Directions));
    assert!(whitening.fit(x.clone()).unwrap_err().to_string().contains("sketch"));
    // Nothing stands out where all directions are alike, and the sketch says so.
    let alike = Matrix::from_fn(90, 90, |i, j| f64::from(i == j));
    match sketched(2, 4).fit(alike) {
        Ok(model) => assert!(model.certificate().intervals.iter().all(|i| i.low <= 1.0 && 1.0 <= i.high)),
        Err(error) => assert!(error.to_string().contains("stands out"), "{error}"),
    }
    // Other plans never choose it.
    assert_ne!(
        Pca::new(2)
            .prepare(AnySamples::from(noise(40, 5000, 1)))
            .map(|job| job.plan().clone())
            .unwrap()
            .route,
        PcaRoute::Directions
    );
    assert_eq!("directions".parse::<PcaRoute>().unwrap().to_string(), "directions");
    assert_eq!(Pca::new(3).route(PcaRoute::Directions).fit(x.clone()).unwrap().plan().sketch_rows, Some(100));
    let words = Pca::new(30).route(PcaRoute::Directions).fit(x).unwrap().plan().to_string();
    assert!(words.contains("a sketch of 120 rows"), "{words}");
}

#[test]
fn sparse_rows_give_what_dense_ones_give() {
    let noise = noise(N, D, 12);
    let x = Matrix::from_fn(N, D, |i, j| if (i * 7 + j * 13 + i * j) % 4 == 0 { noise[(i, j)] } else { 0.0 });
    let dense = sketched(4, 20).fit(x.clone()).unwrap();
    let held = sparse(&x);
    let model = sketched(4, 20).fit(AnyPoints::F64(held.view().into())).unwrap();
    assert_eq!(model.eigenvalues(), dense.eigenvalues());
}

#[test]
fn threads_saving_and_loading_change_no_bit() {
    // More than two panels of columns.
    let mut x = noise(200, 9000, 9);
    x.as_mut_slice()
        .iter_mut()
        .enumerate()
        .for_each(|(at, x)| *x *= 1.0 / (1.0 + (at % 9000) as f64 / 300.0));
    let by = |threads: usize| sketched(4, 12).standardize().threads(threads).fit(x.clone()).unwrap();
    let (one, two) = (by(1), by(2));
    assert_eq!(one.components().as_slice(), two.components().as_slice());
    assert_eq!(one.certificate(), two.certificate());
    let loaded = FittedPca::from_bytes(&one.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.certificate(), one.certificate());
    assert_eq!(*loaded.plan(), one.plan().portable());
    assert_eq!(loaded.residual_errors(), one.residual_errors());
    assert!(loaded.certificate().residuals.is_empty() && loaded.certificate().bounds.slack.unwrap() > 0.0);
    assert_eq!(loaded.transform(&x).unwrap().as_slice(), one.transform(&x).unwrap().as_slice());
}

#[test]
fn a_hundred_thousand_columns_take_seconds() {
    let (n, d, k) = (400, 100_000, 5);
    let (scores, mix) = (noise(n, k, 7), noise(k, d, 8));
    let mut x = noise(n, d, 9);
    let shape = product(&scores, &mix);
    x.as_mut_slice().iter_mut().zip(shape.as_slice()).for_each(|(x, s)| *x = 0.5 * *x + s);
    let start = std::time::Instant::now();
    // A matrix of all columns would take 80 GB.
    let mut stream = sketched(k, 40).memory_limit(1 << 30).stream(d).unwrap();
    for from in (0..n).step_by(100) {
        stream.partial_fit(AnyPoints::from(&x).rows(from..from + 100)).unwrap();
    }
    let model = stream.finish().unwrap();
    println!("{:.1} s", start.elapsed().as_secs_f64());
    let exact = Pca::new(k).route(PcaRoute::Dual).fit(x).unwrap();
    let slack = model.certificate().bounds.slack.unwrap();
    for (a, b) in model.eigenvalues().iter().zip(exact.eigenvalues()) {
        assert!(*a <= b * (1.0 + 1e-10) && *b <= a + slack + 1e-10 * b, "{a} {b} {slack}");
    }
    // Δ ≤ Σ_{j>m} nλⱼ/(ℓ − m), and noise uses some of it.
    let most = exact.residual_error() * n as f64 / (40 - k) as f64;
    assert!(0.1 * most < slack && slack < most, "{slack} {most}");
}
