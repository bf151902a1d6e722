//! Indefinite kernels, means far larger than spreads, and numbers of extreme size.

use eigenlift::data::{AnySamples, Csr, RowsInMemory, Samples};
use eigenlift::eigen::Certificate;
use eigenlift::error::Error;
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::PcaRoute;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca, Whitening, WhiteningMethod};
use eigenlift::model::{Route, Solver};
use eigenlift_testkit::problems;

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

/// Rows whose entries are multiples of 2^−bits: an offset that is one too is added without rounding.
fn rounded_noise(n: usize, d: usize, bits: i32, seed: u64) -> Matrix<f64> {
    let x = problems::noise(n, d, seed);
    let unit = 2f64.powi(bits);
    Matrix::from_fn(n, d, |i, j| (x[(i, j)] * unit).round() / unit)
}

fn shifted(x: &Matrix<f64>, by: impl Fn(usize) -> f64) -> Matrix<f64> {
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] + by(j))
}

fn single(x: &Matrix<f64>) -> Matrix<f32> {
    let rounded = Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] as f32);
    assert!((0..x.n_rows()).all(|i| x.row(i).iter().zip(rounded.row(i)).all(|(a, b)| *a == f64::from(*b))));
    rounded
}

fn close(found: &[f64], wanted: &[f64], share: f64, of: f64) {
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= share * of, "{a} {b}: {:e} of {of}", (a - b).abs() / of);
    }
}

/// Every interval holds the eigenvalue of its index, and no more eigenvalues exceed what was missed than there are components.
fn holds(certificate: &Certificate, spectrum: &[f64]) {
    // What the reference itself is off by.
    let slack = 1e-12 * spectrum[0];
    for (interval, value) in certificate.intervals.iter().zip(spectrum) {
        assert!(interval.low - slack <= *value && *value <= interval.high + slack, "{value} in {interval:?}");
    }
    let missed = certificate.bounds.missed.unwrap();
    let above = spectrum.iter().filter(|value| **value > missed + slack).count();
    assert!(above <= certificate.intervals.len(), "{above} above {missed}: {spectrum:?}");
}

#[test]
fn indefinite_kernels_converge_to_what_the_dense_solver_finds() {
    for (n, d) in [(600, 600), (700, 765), (900, 60)] {
        let x = problems::noise(n, d, 7);
        let settings = KernelPca::new(10).kernel(spec("sigmoid(gamma=1/d,coef0=1)"));
        let found = settings.clone().solver(Solver::Davidson).fit(x.clone()).unwrap();
        let direct = settings.solver(Solver::Dense).fit(x).unwrap();
        assert_eq!(found.plan().solver, Solver::Davidson, "{:?}", found.plan().reasons);
        assert!(found.stats().passes <= 64, "{:?}", found.stats());
        // A residual of 1e-6·θ holds θ within that of an eigenvalue.
        close(found.eigenvalues(), direct.eigenvalues(), 2e-6, direct.eigenvalues()[0]);
    }
}

/// Spectra without a gap: the iteration is given up as soon as two steps show that it would cost more than the dense solver, for kernels
/// that are positive semi-definite as well. Of 600 samples that costs 9 passes of 24 columns, of 900 it costs 20.
#[test]
fn slow_iterations_give_way_to_the_dense_solver_early() {
    for (n, d, most) in [(600, 600, 9), (700, 765, 12), (900, 900, 20)] {
        let x = problems::noise(n, d, 8);
        for kernel in ["sigmoid(gamma=1/d,coef0=1)", "rbf(gamma=0.001)"] {
            let settings = KernelPca::new(10).kernel(spec(kernel));
            let found = settings.clone().fit(x.clone()).unwrap();
            assert_eq!(found.plan().solver, Solver::Dense, "{n} {kernel}: {:?}", found.stats());
            assert!(found.plan().to_string().contains("had not converged after"), "{}", found.plan());
            // Two more for the dense solver and its certificate.
            assert!(found.stats().passes <= most + 2, "{n} {kernel}: {:?}", found.stats());
            let direct = settings.solver(Solver::Dense).fit(x.clone()).unwrap();
            close(found.eigenvalues(), direct.eigenvalues(), 1e-13, direct.eigenvalues()[0]);
        }
    }
}

/// A diagonal matrix: eigenvalues without a gap, below which negative ones of a hundred times the size are crowded.
fn crowd(n: usize) -> Matrix<f64> {
    let value = |i: usize| {
        let share = i as f64 / n as f64;
        if i.is_multiple_of(2) { 1.0 - share.powf(2.0 / 3.0) } else { 90.0 * share - 100.0 }
    };
    Matrix::from_fn(n, n, |i, j| if i == j { value(i) } else { 0.0 })
}

#[test]
fn the_dense_solver_takes_over_from_an_iteration_that_does_not_converge() {
    let settings = KernelPca::new(10).kernel(KernelSpec::Precomputed);
    let found = settings.clone().fit(crowd(800)).unwrap();
    assert_eq!(found.plan().solver, Solver::Dense);
    assert!(found.plan().to_string().contains("had not converged after"), "{}", found.plan());
    let direct = settings.clone().solver(Solver::Dense).fit(crowd(800)).unwrap();
    close(found.eigenvalues(), direct.eigenvalues(), 1e-13, 100.0);
    // What was asked for by name is not replaced.
    match settings.solver(Solver::Davidson).fit(crowd(800)) {
        Ok(found) => assert_eq!(found.plan().solver, Solver::Davidson),
        Err(error) => assert!(matches!(error, Error::NotConverged { .. }), "{error}"),
    }
}

#[test]
fn a_matrix_without_positive_eigenvalues_is_named_as_such() {
    let n = 700;
    let negative = Matrix::from_fn(n, n, |i, j| if i == j { -1.0 - i as f64 / n as f64 } else { 0.0 });
    let settings = KernelPca::new(3).kernel(KernelSpec::Precomputed);
    // With and without memory for the dense solver, which needs 16 MB.
    for limit in [1 << 30, 12 << 20] {
        let error = settings.clone().memory_limit(limit).fit(negative.clone()).unwrap_err();
        assert!(matches!(error, Error::Kernel { .. }), "{error}");
        assert!(
            error.to_string().contains("no eigenvalue of the centered kernel matrix is positive"),
            "{error}"
        );
    }
}

#[test]
fn the_linear_kernel_keeps_its_components_far_from_the_origin() {
    let x = rounded_noise(300, 5, 8, 3);
    let plain = KernelPca::new(5).kernel(spec("linear")).fit(x.clone()).unwrap();
    for offset in [1e3, 2e3, 3e3] {
        let far = single(&shifted(&x, |j| offset * (j + 1) as f64));
        let found = KernelPca::new(5).kernel(spec("linear")).fit(far.clone()).unwrap();
        close(found.eigenvalues(), plain.eigenvalues(), 2e-6, plain.total());
        let scores = found.transform(&far).unwrap();
        close(scores.as_slice(), plain.scores().unwrap().as_slice(), 1e-4, 3.0);
        let loaded = FittedKernelPca::from_bytes(&found.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.transform(&far).unwrap(), scores);
        assert_eq!(loaded.to_bytes().unwrap(), found.to_bytes().unwrap());
        holds(found.certify(far).unwrap().certificate(), plain.eigenvalues());
    }
    let far = shifted(&x, |_| 1e8);
    let found = KernelPca::new(5).kernel(spec("linear")).fit(far.clone()).unwrap();
    close(found.eigenvalues(), plain.eigenvalues(), 1e-13, plain.total());
    close(found.transform(&far).unwrap().as_slice(), plain.scores().unwrap().as_slice(), 1e-11, 3.0);
    assert!(found.plan().reasons.iter().any(|why| why.contains("subtracted")), "{}", found.plan());
}

#[test]
fn a_year_beside_shares_does_not_hide_them() {
    let noise = rounded_noise(400, 5, 10, 5);
    let entry = |i: usize, j: usize| if j == 0 { (8.0 * noise[(i, 0)]).round() } else { noise[(i, j)] / 4.0 };
    let x = Matrix::from_fn(400, 5, entry);
    let far = single(&shifted(&x, |j| if j == 0 { 2000.0 } else { 0.5 }));
    let plain = KernelPca::new(5).kernel(spec("linear")).fit(x).unwrap();
    let found = KernelPca::new(5).kernel(spec("linear")).fit(far).unwrap();
    close(found.eigenvalues(), plain.eigenvalues(), 1e-6, plain.total());
    let lost = |text: &String| text.contains("standardize the columns") || text.contains("were asked for");
    assert!(!found.warnings().iter().any(lost), "{:?}", found.warnings());
}

/// Every route of a fit far from the origin: iterative, by features, by landmarks, refined.
#[test]
fn every_route_of_the_linear_kernel_is_the_same_far_from_the_origin() {
    let wide = rounded_noise(700, 300, 12, 11);
    let settings = KernelPca::new(4).kernel(spec("linear")).tolerance(1e-9);
    let iterative = settings.clone().solver(Solver::Davidson);
    let (near, far) = (iterative.fit(wide.clone()).unwrap(), iterative.fit(shifted(&wide, |_| 1e6)).unwrap());
    assert_eq!((far.plan().route, far.plan().solver), (Route::Dual, Solver::Davidson));
    close(far.eigenvalues(), near.eigenvalues(), 1e-12, near.eigenvalues()[0]);
    let tall = rounded_noise(2000, 5, 12, 12);
    let offset = shifted(&tall, |_| 1e8);
    let near = settings.fit(tall.clone()).unwrap();
    let by_features = settings.fit(offset.clone()).unwrap();
    assert_eq!(by_features.plan().route, Route::Primal);
    close(by_features.eigenvalues(), near.eigenvalues(), 1e-6, near.eigenvalues()[0]);
    let low_rank =
        settings.clone().low_rank(LowRank::pivoted(Rank::Exactly(20))).fit(offset.clone()).unwrap();
    close(low_rank.eigenvalues(), near.eigenvalues(), 1e-9, near.eigenvalues()[0]);
    let refined = settings.refine(&low_rank, offset).unwrap();
    close(refined.eigenvalues(), near.eigenvalues(), 1e-9, near.eigenvalues()[0]);
}

#[test]
fn other_kernels_take_double_precision_far_from_the_origin_and_warn_where_that_is_not_enough() {
    let kernel = "polynomial(degree=2,gamma=1e-6,coef0=1)";
    let x = shifted(&rounded_noise(200, 3, 8, 9), |_| 2e3);
    let settings = KernelPca::new(3).kernel(spec(kernel));
    let double = settings.fit(x.clone()).unwrap();
    let found = settings.fit(single(&x)).unwrap();
    assert_eq!(found.plan().precision, "f64");
    close(found.eigenvalues(), double.eigenvalues(), 1e-12, double.eigenvalues()[0]);
    close(
        found.transform(&single(&x)).unwrap().as_slice(),
        double.scores().unwrap().as_slice(),
        1e-6,
        double.eigenvalues()[0].sqrt(),
    );
    let far = shifted(&rounded_noise(200, 3, 8, 9), |j| if j == 0 { 0.0 } else { 3e8 });
    let error = match KernelPca::new(3).kernel(spec("polynomial(degree=2,gamma=1e-17,coef0=1)")).fit(far) {
        Ok(model) => model.warnings().join("\n"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("center or standardize the columns"), "{error}");
}

#[test]
fn origins_belong_to_kernels_that_may_have_one() {
    let x = shifted(&rounded_noise(20, 3, 8, 2), |_| 1e4);
    let sum = KernelPca::new(2).kernel(spec("linear+rbf(gamma=0.1)")).fit(x.clone()).unwrap();
    let near =
        KernelPca::new(2).kernel(spec("linear+rbf(gamma=0.1)")).fit(rounded_noise(20, 3, 8, 2)).unwrap();
    close(sum.eigenvalues(), near.eigenvalues(), 1e-12, near.eigenvalues()[0]);
}

fn routes() -> [PcaRoute; 5] {
    [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Tsqr, PcaRoute::Krylov, PcaRoute::Directions]
}

#[test]
fn intervals_of_principal_components_count_the_rounding_of_the_mean() {
    for (n, d, offset) in [(20_000, 10, 1e7), (500, 10, 1e8), (60, 80, 1e9)] {
        let x = rounded_noise(n, d, 18, 21);
        let spectrum = Pca::new(d).route(PcaRoute::Tsqr).fit(x.clone()).unwrap();
        for route in routes().into_iter().filter(|route| n <= 500 || *route != PcaRoute::Dual) {
            let model = Pca::new(3).route(route).fit(shifted(&x, |j| offset + j as f64)).unwrap();
            holds(model.certificate(), spectrum.eigenvalues());
        }
    }
}

#[test]
fn rows_of_extreme_size_have_the_components_of_ordinary_ones() {
    let x = problems::noise(80, 6, 13);
    for exponent in [400, -400, 130, -130] {
        let factor = 2f64.powi(exponent);
        let scaled: AnySamples = Matrix::from_fn(80, 6, |i, j| factor * x[(i, j)]).into();
        for route in routes() {
            let plain = Pca::new(3).route(route).fit(x.clone()).unwrap();
            let found = Pca::new(3).route(route).fit(scaled.clone()).unwrap();
            let back: Vec<f64> = found.eigenvalues().iter().map(|v| v / factor / factor).collect();
            close(&back, plain.eigenvalues(), 1e-12, plain.eigenvalues()[0]);
            let (a, b) = (found.certificate(), plain.certificate());
            for (a, b) in a.intervals.iter().zip(&b.intervals) {
                close(
                    &[a.low / factor / factor, a.high / factor / factor],
                    &[b.low, b.high],
                    1e-12,
                    plain.eigenvalues()[0],
                );
            }
            let missed = |c: &Certificate, f: f64| c.bounds.missed.unwrap() / f / f;
            close(&[missed(a, factor)], &[missed(b, 1.0)], 1e-9, plain.eigenvalues()[0]);
            let scores = found.transform(scaled.points()).unwrap();
            assert!(scores.as_slice().iter().all(|s| (s / factor).abs() < 10.0));
        }
        let white = Whitening::new(WhiteningMethod::Zca).fit(scaled.clone()).unwrap();
        let scores = white.transform(scaled.points()).unwrap();
        let variance: f64 = (0..80).map(|i| scores[(i, 0)].powi(2)).sum::<f64>() / 80.0;
        assert!((variance - 1.0).abs() < 1e-9, "{variance}");
    }
    let tiny = Matrix::from_fn(80, 6, |i, j| 1e-160 * x[(i, j)]);
    let error = Pca::new(2).fit(tiny).unwrap_err();
    assert!(error.to_string().contains("so small"), "{error}");
}

#[test]
fn rows_in_single_precision_far_from_the_origin_warn_where_they_are_read_a_piece_at_a_time() {
    let x = single(&shifted(&rounded_noise(300, 3, 8, 9), |_| 2e3));
    let settings = KernelPca::new(3)
        .kernel(spec("polynomial(degree=3,gamma=1,coef0=1)"))
        .low_rank(LowRank::pivoted(Rank::Exactly(4)));
    let model = settings.fit(&mut RowsInMemory::new(&x)).unwrap();
    let warnings = model.warnings().join("\n");
    assert!(warnings.contains("its rounding in f32 may change eigenvalues"), "{warnings}");
    // Of the landmarks that the model holds.
    assert!(warnings.contains("adds most to it, with the mean 2.00"), "{warnings}");
    let named = settings.clone().column_names(vec!["a".into(), "year".into(), "c".into()]);
    let year = Matrix::from_fn(300, 3, |i, j| if j == 1 { x[(i, j)] } else { x[(i, j)] - 2e3 });
    let warnings = named.fit(&mut RowsInMemory::new(&year)).unwrap().warnings().join("\n");
    assert!(warnings.contains("column \"year\" adds most to it, with the mean 2.00"), "{warnings}");
    let near = single(&rounded_noise(300, 3, 8, 9));
    let model = settings.fit(&mut RowsInMemory::new(&near)).unwrap();
    assert!(!model.warnings().join("\n").contains("common part"), "{:?}", model.warnings());
}

/// A table as sparse rows that store every entry.
fn written_out<T: eigenlift::real::Real>(x: &Matrix<T>) -> AnySamples
where
    AnySamples: From<Samples<T>>,
{
    let (n, d) = (x.n_rows(), x.n_cols());
    let columns = (0..n).flat_map(|_| 0..d as u32).collect();
    let rows = Csr::new((0..=n).map(|i| i * d).collect(), columns, x.as_slice().to_vec(), d).unwrap();
    AnySamples::from(Samples::from(rows))
}

#[test]
fn sparse_rows_far_from_the_origin_have_the_components_of_dense_ones() {
    let far = shifted(&rounded_noise(60, 4, 8, 9), |_| 2e3);
    for kernel in ["linear", "polynomial(degree=2,gamma=1,coef0=1)"] {
        let settings = KernelPca::new(3).kernel(spec(kernel));
        let expected = settings.fit(far.clone()).unwrap();
        for x in [written_out(&far), written_out(&single(&far))] {
            let found = settings.fit(x).unwrap();
            for (a, b) in found.eigenvalues().iter().zip(expected.eigenvalues()) {
                assert!((a - b).abs() < 1e-6 * expected.eigenvalues()[0], "{kernel}: {a} {b}");
            }
        }
    }
}

#[test]
fn distances_that_vanish_beside_the_norms_of_sparse_rows_are_those_of_dense_ones() {
    let near =
        shifted(&Matrix::from_fn(40, 4, |i, j| 1e-7 * ((i * 7 + j * 13) % 31) as f64), |j| 100.0 + j as f64);
    for kernel in [
        "rbf(gamma=1e13)",
        "matern(nu=1.5,length=5e-7)",
        "exponential(gamma=3e6)",
        "rational_quadratic(alpha=1,length=5e-7)",
    ] {
        let settings = KernelPca::new(3).kernel(spec(kernel));
        let (dense, sparse) =
            (settings.fit(near.clone()).unwrap(), settings.fit(written_out(&near)).unwrap());
        for (a, b) in dense.eigenvalues().iter().zip(sparse.eigenvalues()) {
            assert!((a - b).abs() < 1e-10 * dense.eigenvalues()[0], "{kernel}: {a} {b}");
        }
    }
}

#[test]
fn rows_that_are_all_alike_are_no_indefinite_kernel() {
    let x = Matrix::from_fn(300, 5, |_, _| 1e8f32);
    for low_rank in [None, Some(LowRank::pivoted(Rank::Exactly(4)))] {
        let settings = KernelPca::new(3).kernel(spec("polynomial(degree=3,gamma=1,coef0=1)"));
        let settings = low_rank.into_iter().fold(settings, KernelPca::low_rank);
        let error = settings.fit(x.clone()).unwrap_err().to_string();
        assert!(error.contains("check for constant columns, center or standardize"), "{error}");
    }
}

#[test]
fn components_near_rounding_beside_ones_that_converged_are_an_answer() {
    let n = 240;
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / n as f64;
    let values = (0..n).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
    let offsets = (0..=n).map(|i| 2 * i).collect();
    let rows = Csr::new(offsets, (0..n).flat_map(|_| [0, 1]).collect(), values, 2).unwrap();
    for k in [5, 10] {
        let settings = KernelPca::new(k).kernel(spec("rbf(gamma=1e-4)"));
        let model = settings.fit(AnySamples::from(Samples::from(rows.clone()))).unwrap();
        assert!((model.eigenvalues()[4] - 3.9992e-11).abs() < 1e-13, "{:?}", model.eigenvalues());
    }
}

/// Negative eigenvalues make the trace of an indefinite kernel smaller than its variance: ratios of it are no ratios.
#[test]
fn ratios_of_an_indefinite_kernel_are_right_or_not_given() {
    let rows = eigenlift::data::digits().unwrap().samples.points().to_dense::<f64>();
    let x = Matrix::from_fn(400, rows.n_cols(), |i, j| rows[(i, j)]);
    for k in [1, 3] {
        let settings = KernelPca::new(k).kernel(spec("sigmoid(gamma=0.001, coef0=-1)"));
        let direct = settings.clone().solver(Solver::Dense).fit(x.clone()).unwrap();
        let ratios = direct.explained_variance_ratio();
        let all = KernelPca::new(x.n_rows() - 1).kernel(spec("sigmoid(gamma=0.001, coef0=-1)"));
        let all = all.solver(Solver::Dense).fit(x.clone()).unwrap();
        let positive: f64 = all.eigenvalues().iter().sum();
        let wanted: Vec<f64> = direct.eigenvalues().iter().map(|value| value / positive).collect();
        close(&ratios, &wanted, 1e-9, 1.0);
        let found = settings.solver(Solver::Davidson).fit(x.clone()).unwrap();
        assert!(found.explained_variance_ratio().iter().all(|ratio| ratio.is_nan()), "{k}");
        assert!(found.certificate().bounds.explained.is_none());
        let told = found.warnings().iter().any(|warning| warning.contains("the dense solver gives it"));
        assert!(told, "{:?}", found.warnings());
        close(found.eigenvalues(), direct.eigenvalues(), 1e-6, direct.eigenvalues()[0]);
    }
}

/// Numbers that sums round: 700 equal rows have no variance, in memory and in chunks, dense and sparse, in both precisions, exact and low
/// rank. The plain mean of 3.7 is off by 58 units of rounding, which must not become a component.
#[test]
fn constant_data_is_an_error_behind_every_door() {
    let (n, d) = (700, 4);
    for value in [3.7, 0.1, 1e8 / 3.0] {
        let x = Matrix::from_fn(n, d, |_, j| value * (1 + j) as f64);
        let single = Matrix::from_fn(n, d, |i, j| x[(i, j)] as f32);
        for kernel in ["linear", "polynomial(degree=2,gamma=1e-3,coef0=1)", "rbf(gamma=0.5)", "cosine"] {
            let settings = KernelPca::new(2).kernel(spec(kernel));
            let low = settings.clone().low_rank(LowRank::pivoted(Rank::Exactly(20)));
            let source = &mut RowsInMemory::new(&x);
            for (door, found) in [
                ("f64", settings.clone().fit(x.clone())),
                ("f32", settings.clone().fit(single.clone())),
                ("sparse", settings.clone().fit(written_out(&x))),
                ("sparse f32", settings.clone().fit(written_out(&single))),
                ("dense solver", settings.clone().solver(Solver::Dense).fit(x.clone())),
                ("iteration", settings.clone().solver(Solver::Davidson).fit(x.clone())),
                ("low rank", low.clone().fit(x.clone())),
                ("chunks", settings.clone().fit(source)),
                ("chunks, low rank", low.fit(&mut RowsInMemory::new(&x))),
            ] {
                let error = found.map(|model| model.eigenvalues().to_vec()).unwrap_err().to_string();
                assert!(error.contains("constant columns"), "{value} {kernel} {door}: {error}");
            }
        }
    }
}
