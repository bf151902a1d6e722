//! Rows that lie in partitions give what rows in memory give.

use eigenlift::data::{AnySamples, synthetic};
use eigenlift::engine::{Cpu, Engine};
use eigenlift::features::{LowRank, Rank, Stop};
use eigenlift::gram::Similarity;
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::PcaRoute;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca, Whitening, WhiteningMethod};
use eigenlift::model::Route;
use eigenlift::progress::Watch;
use eigenlift::rows::{Data, Partitions, PivotDraw};
use eigenlift_testkit::pieces::Cut;
use std::sync::Arc;

/// What one machine and many may differ by, relative to the largest number; the issue's own figure.
const AGREEMENT: f64 = 1e-10;

fn roll(n: usize) -> AnySamples {
    synthetic("swiss-roll", Some(n), Some(0.05), 7).unwrap().samples.into()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().map(|x| x.abs()).fold(0.0, f64::max);
    a.iter().zip(b).map(|(x, y)| (x - y).abs() / size).fold(0.0, f64::max)
}

/// Wide columns of falling size, with an offset.
fn graded(n: usize, d: usize) -> AnySamples {
    let entry =
        |i: usize, j: usize| ((i * 31 + j * 17 + i * j) as f64 * 0.61).sin() * 0.9f64.powi(j as i32) + 2.0;
    Matrix::from_fn(n, d, entry).into()
}

#[test]
fn principal_components_by_every_route() {
    let x = graded(400, 30);
    let cut = Cut::new(&x, &[1, 90, 91, 250]);
    for route in [None, Some(PcaRoute::Covariance), Some(PcaRoute::Tsqr), Some(PcaRoute::Krylov)] {
        let mut settings = Pca::new(3).tolerance(1e-12);
        if let Some(route) = route {
            settings = settings.route(route);
        }
        let (whole, parts) = (settings.fit(x.clone()).unwrap(), settings.fit(&cut).unwrap());
        assert!(apart(parts.eigenvalues(), whole.eigenvalues()) < AGREEMENT, "{route:?}");
        assert!(apart(parts.mean(), whole.mean()) < AGREEMENT);
        let (a, b) = (parts.components(), whole.components());
        assert!(apart(a.as_slice(), b.as_slice()) < AGREEMENT, "{route:?}");
        assert!(parts.plan().reasons.contains(&"5 pieces in memory".to_string()));
    }
    assert_eq!(cut.gathered(), 0, "sums alone are asked for");
}

#[test]
fn sketches_rules_and_whitening_of_pieces() {
    let x = graded(400, 30);
    let cut = Cut::new(&x, &[130, 260]);
    let sketch = Pca::new(2).route(PcaRoute::Directions).sketch_rows(20).fit(&cut).unwrap();
    let exact = Pca::new(2).fit(x.clone()).unwrap();
    for (interval, value) in sketch.certificate().intervals.iter().zip(exact.eigenvalues()) {
        assert!(interval.low <= *value && *value <= interval.high);
    }
    let (whole, parts) = (Pca::auto().fit(x.clone()).unwrap(), Pca::auto().fit(&cut).unwrap());
    assert_eq!(whole.n_components(), parts.n_components());
    let white = Whitening::new(WhiteningMethod::Zca).components(5);
    let (whole, parts) = (white.fit(x.clone()).unwrap(), white.fit(&cut).unwrap());
    let (a, b) = (whole.transform(x.points()).unwrap(), parts.transform(x.points()).unwrap());
    assert!(apart(b.as_slice(), a.as_slice()) < AGREEMENT);
}

#[test]
fn wide_rows_elsewhere_go_by_passes() {
    let x = graded(40, 8001);
    let cut = Cut::new(&x, &[20]);
    let model = Pca::new(2).tolerance(1e-12).fit(&cut).unwrap();
    assert_eq!(model.plan().route, PcaRoute::Krylov);
    let whole = Pca::new(2).fit(x).unwrap();
    assert!(apart(model.eigenvalues(), whole.eigenvalues()) < AGREEMENT);
    let message = Pca::auto().fit(&cut).unwrap_err().to_string();
    assert!(message.contains("at most 8000 columns"), "{message}");
}

fn landmarks(model: &FittedKernelPca) -> Matrix<f64> {
    match &model.projection().lift {
        eigenlift::model::Lift::Kernel { samples, .. } => samples.points().to_dense(),
        _ => Matrix::zeros(0, 0),
    }
}

/// Pivots are the same, so features are the same up to rounding, in double and in single precision: there as long as what is left of
/// the trace is above the rounding of kernel values, which depends on where in a tile a pair stands.
#[test]
fn landmarks_and_scores_are_those_of_one_machine() {
    for single in [false, true] {
        let x = if single { roll(3000).to_single() } else { roll(3000) };
        let cut = Cut::new(&x, &[1000, 1001, 2200]);
        for how in [
            LowRank::pivoted(Rank::Exactly(if single { 60 } else { 120 })),
            LowRank::pivoted(Rank::UntilShare(0.02)),
            LowRank::uniform(Rank::Exactly(60)),
            LowRank::k_means(Rank::Exactly(40)),
        ] {
            let settings =
                KernelPca::new(5).kernel("rbf(gamma=median)".parse().unwrap()).low_rank(how).seed(11);
            let (whole, parts) = (settings.fit(x.clone()).unwrap(), settings.fit(&cut).unwrap());
            assert!(landmarks(&whole) == landmarks(&parts), "other landmarks");
            let allowed = if single { 1e-5 } else { AGREEMENT };
            assert!(apart(parts.eigenvalues(), whole.eigenvalues()) < allowed);
            let (a, b) = (whole.transform(x.points()).unwrap(), parts.transform(x.points()).unwrap());
            // Rounding of kernel values in single precision grows by ‖L⁻¹‖ on the way to scores.
            assert!(single || apart(b.as_slice(), a.as_slice()) < allowed);
            let (a, b) = (whole.certificate(), parts.certificate());
            let left = (a.bounds.residual_trace.unwrap(), b.bounds.residual_trace.unwrap());
            assert!((left.0 - left.1).abs() < allowed * whole.total());
        }
    }
}

/// A tenth of the landmarks in each round, some of which are turned down: 10 to 15 rounds, and few rows travel.
#[test]
fn rounds_are_few_and_rows_stay_where_they_are() {
    let x = roll(3000);
    let cut = Cut::new(&x, &[1500]);
    let how = LowRank::pivoted(Rank::Exactly(200));
    KernelPca::new(3).kernel("rbf(gamma=0.02)".parse().unwrap()).low_rank(how).fit(&cut).unwrap();
    assert!((10..=16).contains(&cut.rounds()), "{}", cut.rounds());
    assert!(cut.gathered() <= 20 * cut.rounds(), "{}", cut.gathered());
}

/// Numbers of `count` rows, chosen from all.
fn pivots(cut: &Cut, kernel: &str, count: usize, seed: u64) -> Vec<usize> {
    let kernel = Kernel::new(&kernel.parse().unwrap(), cut.n_cols()).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(Cpu::new(1).unwrap());
    let (stop, watch) = (Stop { rank: count, share: 0.0 }, Watch::default());
    let draw = PivotDraw { sample: None, stop, seed, watch: &watch };
    let rows = Data::from(cut).rows(&engine, false).unwrap();
    rows.pivots(&Similarity::Kernel(kernel), &draw).unwrap().rows
}

#[test]
fn pivots_of_all_rows_and_of_a_sample() {
    let x = roll(12_000);
    let cut = Cut::new(&x, &[5000]);
    let settings = KernelPca::new(2)
        .kernel("rbf(gamma=0.05)".parse().unwrap())
        .low_rank(LowRank::pivoted(Rank::Exactly(40)))
        .seed(3);
    let (whole, parts) = (settings.fit(x.clone()).unwrap(), settings.fit(&cut).unwrap());
    assert_eq!(parts.plan().sample_rows, 10_000);
    assert_eq!(landmarks(&whole), landmarks(&parts));
    let chosen = pivots(&cut, "rbf(gamma=0.05)", 30, 3);
    assert!(chosen.iter().any(|row| *row >= 5000) && chosen.iter().any(|row| *row < 5000));
    assert_eq!(chosen.len(), 30);
}

/// Copies of three rows have three pivots, wherever they lie.
#[test]
fn duplicates_end_the_rounds() {
    let x: AnySamples = Matrix::from_fn(60, 2, |i, j| ((i % 3) * 2 + j) as f64).into();
    let chosen = pivots(&Cut::new(&x, &[7, 31]), "rbf(gamma=0.5)", 10, 0);
    assert_eq!(chosen.len(), 3);
}

#[test]
fn exact_fits_certificates_and_refinement_by_passes() {
    let x = roll(900);
    let cut = Cut::new(&x, &[250, 251, 700]);
    let kernel = || "rbf(gamma=0.02)".parse().unwrap();
    let settings = KernelPca::new(4).kernel(kernel()).tolerance(1e-12).exact();
    let (whole, parts) = (settings.fit(x.clone()).unwrap(), settings.fit(&cut).unwrap());
    assert_eq!(parts.plan().route, Route::Dual);
    assert!(apart(parts.eigenvalues(), whole.eigenvalues()) < AGREEMENT);
    let (a, b) = (whole.scores().unwrap(), parts.scores().unwrap());
    assert!(apart(b.as_slice(), a.as_slice()) < AGREEMENT);

    let rough = KernelPca::new(4).kernel(kernel()).low_rank(LowRank::pivoted(Rank::Exactly(40)));
    let (here, there) = (rough.fit(x.clone()).unwrap(), rough.fit(&cut).unwrap());
    let here = here.certify(x.clone()).unwrap();
    let there = there.certify_watched(&cut, &Watch::default()).unwrap();
    for (a, b) in here.certificate().intervals.iter().zip(&there.certificate().intervals) {
        assert!((a.low - b.low).abs() < AGREEMENT * a.high && (a.high - b.high).abs() < AGREEMENT * a.high);
    }
    assert!((here.total() - there.total()).abs() < AGREEMENT * here.total());
    let refined = settings.refine(&there, &cut).unwrap();
    assert!(apart(refined.eigenvalues(), whole.eigenvalues()) < AGREEMENT);
    let other = Cut::new(&roll(901), &[400]);
    let message = there.certify_watched(&other, &Watch::default()).unwrap_err().to_string();
    assert!(message.contains("901 rows"), "{message}");
}

/// With the tolerance that is usual the iteration runs in single precision, and the certificate is of double precision.
#[test]
fn drafts_in_single_precision_are_certified_in_double() {
    let x = roll(800);
    let cut = Cut::new(&x, &[300]);
    let settings = KernelPca::new(3).kernel("rbf(gamma=0.02)".parse().unwrap());
    let model = settings.fit(&cut).unwrap();
    assert!(model.plan().draft);
    assert!(model.certificate().worst_residual() <= 1e-6);
    let whole = settings.fit(x).unwrap();
    // Eigenvalues are off by the square of the residual over the gap.
    assert!(apart(model.eigenvalues(), whole.eigenvalues()) < 1e-9);
}

#[test]
fn many_rows_elsewhere_go_by_landmarks_unless_exact_is_asked_for() {
    let x = roll(50_001);
    let cut = Cut::new(&x, &[25_000]);
    let settings = KernelPca::new(2).kernel("rbf(gamma=0.02)".parse().unwrap());
    let plan = settings.prepare(&cut).map(|job| job.plan().clone()).unwrap();
    assert_eq!(plan.route, Route::LowRank);
    assert!(plan.reasons.iter().any(|reason| reason.contains("passes over all pairs")));
    assert_eq!(settings.exact().prepare(&cut).map(|job| job.plan().clone()).unwrap().route, Route::Dual);
    assert_eq!(cut.n_rows(), 50_001);
}

#[test]
fn what_cannot_be_had_elsewhere_is_refused_with_the_way_out() {
    let x = roll(100);
    let cut = Cut::new(&x, &[50]);
    let function = eigenlift::kernel::Kernel::from_fn("mine", |x, y| x[0] * y[0]);
    let message = KernelPca::new(1).ready_kernel(function).fit(&cut).unwrap_err().to_string();
    assert!(message.contains("Write the kernel as text"), "{message}");
    let message = Pca::new(2).route(PcaRoute::Dual).fit(&cut).unwrap_err().to_string();
    assert!(message.contains("dual route"), "{message}");
}
