//! Low rank: bounds that hold, the same answer however rows are cut, and the way back to exact.

use eigenlift::data::{AnyPoints, AnySamples, RowSource, RowsInMemory};
use eigenlift::eigen::Grounds;
use eigenlift::error::{Error, Result};
use eigenlift::features::{Approximation, LowRank, Rank};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::model::{Planned, Route, Solver};
use eigenlift_testkit::{problems, reference};

const K: usize = 6;

fn rbf() -> KernelSpec {
    "rbf(gamma=0.03)".parse().unwrap()
}

fn settings() -> KernelPca {
    KernelPca::new(K).kernel(rbf())
}

/// All eigenvalues of K_c that exist, by the direct solver.
fn spectrum(x: &Matrix<f64>, spec: &KernelSpec) -> Vec<f64> {
    let all = KernelPca::new(x.n_rows() - 1).kernel(spec.clone()).solver(Solver::Dense);
    all.fit(x.clone()).unwrap().eigenvalues().to_vec()
}

fn close(a: &Matrix<f64>, b: &Matrix<f64>, most: f64) -> bool {
    (a.n_rows(), a.n_cols()) == (b.n_rows(), b.n_cols())
        && a.as_slice().iter().zip(b.as_slice()).all(|(x, y)| (x - y).abs() <= most)
}

fn ways(x: &Matrix<f64>) -> Vec<LowRank> {
    let given = Matrix::from_fn(40, x.n_cols(), |i, j| x[(7 * i, j)] + 0.1);
    vec![
        LowRank::pivoted(Rank::Exactly(60)),
        LowRank::uniform(Rank::Exactly(60)),
        LowRank::k_means(Rank::Exactly(60)),
        LowRank::landmarks(given),
        LowRank::samples((0..50).map(|i| 3 * i).collect()),
    ]
}

#[test]
fn landmark_eigenvalues_are_below_the_true_ones_by_at_most_the_residual_trace() {
    let x = problems::mixture(400, 8, 1);
    let exact = spectrum(&x, &rbf());
    for way in ways(&x) {
        let model = settings().low_rank(way).fit(x.clone()).unwrap();
        let certificate = model.certificate();
        assert_eq!(certificate.bounds.grounds, Grounds::ResidualTrace);
        let left = certificate.bounds.residual_trace.unwrap();
        assert!(left > 0.0 && left < 400.0, "{left}");
        for (i, value) in model.eigenvalues().iter().enumerate() {
            assert!(*value <= exact[i] * (1.0 + 1e-10), "{i}: {value} above {}", exact[i]);
            assert!(exact[i] <= value + left, "{i}");
            let interval = certificate.intervals[i];
            assert!(interval.low <= exact[i] && exact[i] <= interval.high);
        }
        // The whole variance, and what the best axes hold of it, lie within what is said.
        let total: f64 = exact.iter().sum();
        assert!(model.total() >= total * (1.0 - 1e-12) && model.total() <= total + left * (1.0 + 1e-12));
        let explained = certificate.bounds.explained.unwrap();
        let best = exact[..K].iter().sum::<f64>() / total;
        assert!(explained.low <= best && best <= explained.high, "{explained:?} {best}");
        // Scores are those of the projection, centred over all rows, with variance λ̂.
        let scores = model.scores().unwrap();
        assert!(close(&scores, &model.transform(&x).unwrap(), 1e-9));
        for j in 0..K {
            let mean: f64 = (0..400).map(|i| scores[(i, j)]).sum::<f64>() / 400.0;
            let square: f64 = (0..400).map(|i| scores[(i, j)].powi(2)).sum();
            assert!(mean.abs() < 1e-9 && (square / model.eigenvalues()[j] - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn landmarks_give_the_textbook_nystrom() {
    // F = K_nm·K_mm^(−1/2) in any root; eigenvalues of HFFᵀH do not depend on which.
    let x = problems::mixture(150, 5, 2);
    let chosen: Vec<usize> = (0..30).map(|i| 5 * i).collect();
    let kernel = Kernel::new(&rbf(), 5).unwrap();
    let gram = kernel.matrix((&x).into(), (&x).into());
    let corner = Matrix::from_fn(30, 30, |i, j| gram[(chosen[i], chosen[j])]);
    let (values, vectors) = reference::eigen(&corner);
    let turned = Matrix::from_fn(150, 30, |i, j| {
        (0..30).map(|l| gram[(i, chosen[l])] * vectors[(l, j)]).sum::<f64>() / values[j].sqrt()
    });
    let back = Matrix::from_fn(30, 150, |i, j| turned[(j, i)]);
    let approximate = reference::product(&turned, &back);
    let slow = reference::eigen(&reference::centred(&approximate)).0;
    let model = settings().low_rank(LowRank::samples(chosen.clone())).fit(x.clone()).unwrap();
    for (value, slow) in model.eigenvalues().iter().zip(&slow) {
        assert!((value / slow - 1.0).abs() < 1e-8);
    }
    let left: f64 = (0..150).map(|i| gram[(i, i)] - approximate[(i, i)]).sum();
    assert!((model.certificate().bounds.residual_trace.unwrap() - left).abs() < 1e-8);
    // The same landmarks of the precomputed matrix.
    let precomputed = KernelPca::new(K).kernel(KernelSpec::Precomputed);
    for way in
        [LowRank::samples(chosen), LowRank::pivoted(Rank::Exactly(40)), LowRank::uniform(Rank::Exactly(40))]
    {
        let by_rows = settings().low_rank(way.clone()).fit(x.clone()).unwrap();
        let by_gram = precomputed.clone().low_rank(way).fit(gram.clone()).unwrap();
        assert!(close(&by_rows.scores().unwrap(), &by_gram.scores().unwrap(), 1e-8));
        assert!(close(&by_gram.transform(&gram).unwrap(), &by_gram.scores().unwrap(), 1e-9));
    }
    let refused = precomputed.low_rank(LowRank::k_means(Rank::Exactly(5))).fit(gram).unwrap_err().to_string();
    assert!(refused.contains("precomputed"), "{refused}");
}

#[test]
fn rank_auto_adds_landmarks_until_the_share_holds() {
    let x = problems::mixture(700, 4, 3);
    for share in [0.1, 0.01] {
        for way in [LowRank::pivoted, LowRank::uniform, LowRank::k_means] {
            let model = settings().low_rank(way(Rank::UntilShare(share))).fit(x.clone()).unwrap();
            let left = model.certificate().bounds.residual_trace.unwrap();
            assert!(left <= share * 700.0, "{left}");
            assert!(model.plan().rank < 700, "{}", model.plan().rank);
        }
    }
    // A share below rounding ends too.
    let tiny = settings().low_rank(LowRank::pivoted(Rank::UntilShare(1e-16))).fit(x.clone());
    match tiny {
        Ok(model) => assert!(model.certificate().bounds.residual_share.unwrap() <= 1e-16),
        Err(error) => assert!(matches!(error, Error::NotReached { .. }), "{error}"),
    }
    let narrow = KernelPca::new(2).kernel("rbf(gamma=50)".parse().unwrap());
    let limited = narrow.low_rank(LowRank::pivoted(Rank::UntilShare(0.001))).memory_limit(3 << 20);
    match limited.fit(x) {
        Err(error @ Error::NotReached { .. }) => {
            assert!(error.to_string().contains("the most that are tried"), "{error}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn random_features_say_that_nothing_is_proved() {
    let x = problems::mixture(500, 5, 4);
    let exact = spectrum(&x, &rbf());
    let model = settings().low_rank(LowRank::fourier(Rank::Exactly(2000))).fit(x.clone()).unwrap();
    let certificate = model.certificate();
    assert_eq!(certificate.bounds.grounds, Grounds::SampledPairs);
    assert!(certificate.intervals.is_empty() && certificate.bounds.residual_trace.is_none());
    let error = certificate.bounds.sampled_error.unwrap();
    assert!(error > 1e-4 && error < 0.1, "{error}");
    assert!((model.eigenvalues()[0] / exact[0] - 1.0).abs() < 0.1);
    assert!(close(&model.scores().unwrap(), &model.transform(&x).unwrap(), 1e-10));
    let auto = settings().low_rank(LowRank::fourier(Rank::UntilShare(0.05))).fit(x.clone()).unwrap();
    assert!(auto.certificate().bounds.sampled_error.unwrap() <= 0.05);
    let polynomial: KernelSpec = "polynomial(degree=2,gamma=0.1)".parse().unwrap();
    let exact = spectrum(&x, &polynomial);
    let sketched = KernelPca::new(3).kernel(polynomial).low_rank(LowRank::tensor_sketch(Rank::Exactly(1500)));
    let model = sketched.fit(x).unwrap();
    assert!((model.eigenvalues()[0] / exact[0] - 1.0).abs() < 0.2);
}

/// Rows in pieces of a fixed size, whatever is asked for.
struct Cut<'a>(RowsInMemory<'a>, usize);

impl RowSource for Cut<'_> {
    fn n_cols(&self) -> usize {
        self.0.n_cols()
    }
    fn n_rows(&mut self) -> Result<usize> {
        self.0.n_rows()
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
    fn next_rows(&mut self, most: usize, visit: &mut dyn FnMut(AnyPoints<'_>) -> Result<()>) -> Result<bool> {
        self.0.next_rows(most.min(self.1), visit)
    }
}

#[test]
fn the_result_does_not_depend_on_how_rows_are_cut() {
    let x = problems::mixture(900, 6, 5);
    // The median too is found by global row index.
    let settings = KernelPca::new(4).kernel(KernelSpec::default());
    for way in [LowRank::pivoted(Rank::Exactly(80)), LowRank::fourier(Rank::Exactly(200))] {
        let settings = settings.clone().low_rank(way);
        let whole = settings.fit(x.clone()).unwrap();
        for size in [1, 37, 500, 5000] {
            let mut source = Cut(RowsInMemory::new(&x), size);
            let model = settings.fit(&mut source).unwrap();
            assert_eq!(model.plan().kernel, whole.plan().kernel);
            assert_eq!(model.n_samples(), 900);
            let (a, b) = (model.transform(&x).unwrap(), whole.scores().unwrap());
            assert!(close(&a, &b, 1e-10 * whole.eigenvalues()[0].sqrt() * 100.0), "{size}");
            for (v, w) in model.eigenvalues().iter().zip(whole.eigenvalues()) {
                assert!((v / w - 1.0).abs() < 1e-10);
            }
            assert!(model.scores().is_err());
        }
    }
}

#[test]
fn parts_merge_and_rows_can_be_taken_out() {
    let x = problems::mixture(300, 5, 7);
    let landmarks = Matrix::from_fn(40, 5, |i, j| x[(5 * i, j)]);
    let rows = |range: std::ops::Range<usize>| AnyPoints::from(&x).rows(range);
    let fresh = || settings().stream(landmarks.clone()).unwrap();
    let whole = settings().low_rank(LowRank::landmarks(landmarks.clone())).fit(x.clone()).unwrap();
    let mut first = fresh();
    first.partial_fit(rows(0..120)).unwrap();
    let mut second = fresh();
    (120..300).step_by(17).for_each(|at| second.partial_fit(rows(at..(at + 17).min(300))).unwrap());
    first.merge(&second).unwrap();
    let merged = first.finish().unwrap();
    assert!(close(&merged.transform(&x).unwrap(), &whole.scores().unwrap(), 1e-9));
    first.remove(rows(120..300)).unwrap();
    let mut alone = fresh();
    alone.partial_fit(rows(0..120)).unwrap();
    let (a, b) = (first.finish().unwrap(), alone.finish().unwrap());
    assert_eq!((a.n_samples(), first.n_rows()), (120, 120));
    assert!(close(&a.transform(&x).unwrap(), &b.transform(&x).unwrap(), 1e-9));
    let mut other = settings().stream(Matrix::from_fn(40, 5, |i, j| x[(3 * i, j)])).unwrap();
    other.partial_fit(rows(0..10)).unwrap();
    assert!(first.merge(&other).unwrap_err().to_string().contains("same landmarks"));
    assert!(first.partial_fit(&Matrix::<f64>::zeros(2, 4)).is_err());
    assert!(fresh().finish().unwrap_err().to_string().contains("0 row(s)"));
}

#[test]
fn few_explicit_features_are_used_and_give_the_exact_answer() {
    let x = problems::mixture(1500, 3, 8);
    for spec in ["polynomial(degree=2,gamma=0.5)", "linear", "map(x1, x2*x3, sin(x2))", "2*linear"] {
        let settings = KernelPca::new(3).kernel(spec.parse().unwrap()).tolerance(1e-10);
        let primal = settings.fit(x.clone()).unwrap();
        let dual = settings.clone().solver(Solver::Davidson).fit(x.clone()).unwrap();
        assert_eq!((primal.plan().route, dual.plan().route), (Route::Primal, Route::Dual));
        for j in 0..primal.n_components() {
            assert!((primal.eigenvalues()[j] / dual.eigenvalues()[j] - 1.0).abs() < 1e-9, "{spec}");
            let (a, b) = (primal.scores().unwrap().column(j), dual.scores().unwrap().column(j));
            let same = |sign: f64| {
                a.iter().zip(&b).all(|(x, y)| (x - sign * y).abs() < 1e-6 * primal.eigenvalues()[0].sqrt())
            };
            assert!(same(1.0) || same(-1.0), "{spec} {j}");
        }
        assert!((primal.total() / dual.total() - 1.0).abs() < 1e-10);
        assert!(primal.certificate().worst_residual() < 1e-9);
        assert_eq!(primal.certificate().bounds.grounds, Grounds::Residuals);
        let mut source = Cut(RowsInMemory::new(&x), 111);
        let streamed = settings.fit(&mut source).unwrap();
        assert_eq!(streamed.plan().route, Route::Primal);
        assert!(close(&streamed.transform(&x).unwrap(), &primal.scores().unwrap(), 1e-8));
    }
}

#[test]
fn one_exact_pass_certifies_and_more_refine() {
    let x = problems::mixture(800, 8, 9);
    let exact = spectrum(&x, &rbf());
    let total: f64 = exact.iter().sum();
    let fit = |way: LowRank| settings().low_rank(way).fit(x.clone()).unwrap();
    for way in [LowRank::pivoted(Rank::Exactly(150)), LowRank::fourier(Rank::Exactly(1000))] {
        let rough = fit(way);
        let sure = rough.certify(x.clone()).unwrap();
        assert_eq!(sure.transform(&x).unwrap(), rough.transform(&x).unwrap());
        assert!((sure.total() / total - 1.0).abs() < 1e-12);
        let certificate = sure.certificate();
        assert_eq!(certificate.residuals.len(), K);
        for (i, interval) in certificate.intervals.iter().enumerate() {
            assert!(exact.iter().any(|v| interval.low <= *v && *v <= interval.high), "{i}");
        }
        for (interval, value) in certificate.intervals.iter().zip(&exact).take(certificate.bounds.n_certified)
        {
            assert!(interval.low <= value * (1.0 + 1e-9) && *value <= interval.high * (1.0 + 1e-9));
        }
        let explained = certificate.bounds.explained.unwrap();
        let best = exact[..K].iter().sum::<f64>() / total;
        assert!(explained.low <= best && best <= explained.high);
        let refined = settings().tolerance(1e-9).refine(&rough, x.clone()).unwrap();
        assert_eq!(refined.plan().route, Route::Dual);
        assert!(refined.certificate().worst_residual() <= 1e-9);
        assert!((0..K).all(|i| (refined.eigenvalues()[i] / exact[i] - 1.0).abs() < 1e-9));
    }
    // An exact model may be certified anew, and tightened.
    let model = settings().tolerance(1e-3).fit(x.clone()).unwrap();
    assert!(model.certify(x.clone()).unwrap().certificate().worst_residual() <= 1e-3);
    let tight = settings().tolerance(1e-10).refine(&model, x.clone()).unwrap();
    assert!(tight.certificate().worst_residual() <= 1e-10);
    // Other rows are refused.
    let other = problems::mixture(800, 8, 10);
    let message = fit(LowRank::pivoted(Rank::Exactly(50))).certify(other.clone()).unwrap_err().to_string();
    assert!(message.contains("very samples"), "{message}");
    assert!(model.certify(other).is_err());
    assert!(model.certify(problems::mixture(799, 8, 9)).is_err());
}

#[test]
fn a_fast_spectrum_is_certified_by_index() {
    let x = problems::swiss_roll(600, 1);
    let spec: KernelSpec = "rbf(gamma=0.002)".parse().unwrap();
    let exact = spectrum(&x, &spec);
    let model = KernelPca::new(10).kernel(spec).fit(x).unwrap();
    let bounds = model.certificate().bounds;
    assert!(bounds.n_certified >= 5, "{bounds:?}");
    assert!(bounds.missed.unwrap() >= exact[10]);
    (0..bounds.n_certified).for_each(|i| assert!((model.eigenvalues()[i] / exact[i] - 1.0).abs() < 1e-9));
}

#[test]
fn models_of_every_route_are_saved_and_loaded_bit_for_bit() {
    let x = problems::mixture(700, 4, 11);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let polynomial: KernelSpec = "polynomial(degree=2,gamma=0.1)".parse().unwrap();
    let single: AnySamples = Matrix::from_fn(700, 4, |i, j| x[(i, j)] as f32).into();
    let fits: Vec<FittedKernelPca> = vec![
        settings().low_rank(LowRank::pivoted(Rank::Exactly(50))).fit(x.clone()).unwrap(),
        settings().low_rank(LowRank::pivoted(Rank::Exactly(50))).fit(single).unwrap(),
        settings().low_rank(LowRank::fourier(Rank::Exactly(100))).fit(x.clone()).unwrap(),
        KernelPca::new(2)
            .kernel(polynomial.clone())
            .low_rank(LowRank::tensor_sketch(Rank::Exactly(100)))
            .fit(x.clone())
            .unwrap(),
        KernelPca::new(2).kernel(polynomial).fit(x.clone()).unwrap(),
        settings()
            .low_rank(LowRank::pivoted(Rank::Exactly(50)))
            .fit(x.clone())
            .unwrap()
            .certify(x.clone())
            .unwrap(),
    ];
    for model in fits {
        model.save(&path).unwrap();
        let loaded = FittedKernelPca::load(&path).unwrap();
        assert_eq!(loaded.transform(&x).unwrap(), model.transform(&x).unwrap());
        assert_eq!(loaded.certificate(), model.certificate());
        assert_eq!(*loaded.plan(), model.plan().portable());
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
    }
}

#[test]
fn what_does_not_fit_becomes_low_rank_with_a_reason_or_is_refused_with_the_nearest() {
    let x: AnySamples = problems::mixture(20_000, 8, 12).into();
    let small = settings().memory_limit(20 << 20);
    let plan = small.prepare(&x).map(|job| job.plan().clone()).unwrap();
    assert_eq!((plan.route, plan.approximation), (Route::LowRank, Some(Approximation::Pivoted)));
    assert!(plan.bytes_needed <= 20 << 20);
    assert!(plan.reasons.iter().any(|r| r.contains("the exact fit does not fit")), "{plan}");
    let message = small.exact().prepare(&x).map(|job| job.plan().clone()).unwrap_err().to_string();
    assert!(message.contains("or accept low rank") && message.contains("landmarks fit"), "{message}");
    let wide = settings().memory_limit(20 << 20).low_rank(LowRank::pivoted(Rank::Exactly(3000)));
    let message = wide.prepare(&x).map(|job| job.plan().clone()).unwrap_err().to_string();
    assert!(message.contains("or use at most"), "{message}");
    for way in [LowRank::pivoted(Rank::Exactly(0)), LowRank::pivoted(Rank::UntilShare(2.0))] {
        assert!(settings().low_rank(way).prepare(&x).map(|job| job.plan().clone()).is_err());
    }
    let mut source = RowsInMemory::new(x.points());
    let message = settings().exact().fit(&mut source).unwrap_err().to_string();
    assert!(message.contains("must be in memory"), "{message}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let x = problems::mixture(1500, 6, 13);
    for way in [
        LowRank::pivoted(Rank::Exactly(90)),
        LowRank::k_means(Rank::Exactly(30)),
        LowRank::fourier(Rank::Exactly(90)),
    ] {
        let one = settings().low_rank(way.clone()).threads(1).fit(x.clone()).unwrap();
        let two = settings().low_rank(way).threads(3).fit(x.clone()).unwrap();
        assert_eq!(one.eigenvalues(), two.eigenvalues());
        assert_eq!(one.scores().unwrap(), two.scores().unwrap());
    }
}

#[test]
fn moments_of_kernel_values_give_what_moments_of_features_give() {
    // Large enough that the fit leaves out the solve for every row; the stream never does.
    let x = problems::mixture(26_000, 16, 14);
    let landmarks = Matrix::from_fn(300, 16, |i, j| x[(80 * i, j)]);
    let fast = settings().low_rank(LowRank::landmarks(landmarks.clone())).fit(x.clone()).unwrap();
    let mut slow = settings().stream(landmarks).unwrap();
    slow.partial_fit(&x).unwrap();
    let slow = slow.finish().unwrap();
    for j in 0..K {
        assert!((fast.eigenvalues()[j] / slow.eigenvalues()[j] - 1.0).abs() < 1e-10);
    }
    let left = |m: &FittedKernelPca| m.certificate().bounds.residual_trace.unwrap();
    assert!((left(&fast) / left(&slow) - 1.0).abs() < 1e-9);
}

#[test]
fn a_kernel_that_is_no_kernel_gets_no_proof() {
    let x = problems::mixture(300, 4, 15);
    let sigmoid: KernelSpec = "sigmoid(gamma=0.5,coef0=-1)".parse().unwrap();
    let rough = KernelPca::new(2).kernel(sigmoid).low_rank(LowRank::pivoted(Rank::Exactly(30)));
    let message = rough.fit(x.clone()).unwrap_err().to_string();
    assert!(message.contains("positive semi-definite"), "{message}");
    // One that is valid but not known to be says so.
    let product: KernelSpec = "expr(x1*y1 + x2*y2 + x3*y3 + x4*y4)".parse().unwrap();
    let model = KernelPca::new(2)
        .kernel(product)
        .low_rank(LowRank::pivoted(Rank::Exactly(4)))
        .fit(x.clone())
        .unwrap();
    assert!(model.warnings().iter().any(|w| w.contains("not known to be positive semi-definite")));
    let both = settings().solver(Solver::Dense).low_rank(LowRank::pivoted(Rank::Exactly(5))).fit(x);
    assert!(both.unwrap_err().to_string().contains("together with low rank"));
}

#[test]
fn landmarks_of_another_width_are_refused_however_many_rows_there_are() {
    // The larger of the two goes by moments of kernel values.
    for n in [300, 40_000] {
        let x = problems::mixture(n, 3, 16);
        let narrow = Matrix::from_fn(260, 2, |i, j| x[(i, j)]);
        let message = settings().low_rank(LowRank::landmarks(narrow)).fit(x).unwrap_err().to_string();
        assert!(message.contains("rows of 3 columns") && message.contains("landmarks have 2"), "{message}");
    }
}

#[test]
fn a_multiple_of_a_kernel_scales_eigenvalues_and_nothing_else() {
    // Landmarks close to each other, so that rounding grows on the way to features.
    let mut x = problems::mixture(400, 4, 17);
    (0..60).for_each(|i| (0..4).for_each(|j| x[(2 * i + 1, j)] = x[(2 * i, j)] + 1e-4 * (j + 1) as f64));
    let chosen: Vec<usize> = (0..100).collect();
    let fit = |kernel: &str| {
        let way = LowRank::samples(chosen.clone());
        KernelPca::new(3).kernel(kernel.parse().unwrap()).low_rank(way).fit(x.clone()).unwrap()
    };
    let (one, many) = (fit("rbf(gamma=0.03)"), fit("1000000*rbf(gamma=0.03)"));
    for (a, b) in one.eigenvalues().iter().zip(many.eigenvalues()) {
        assert!((b / a / 1e6 - 1.0).abs() < 1e-6, "{a} {b}");
    }
}

/// Nobody sees an eigenvalue outside its own interval, however it was found and whatever was done to the model since.
#[test]
fn every_interval_holds_the_eigenvalue_that_the_model_reports() {
    let mut seen = 0;
    let mut check = |model: &FittedKernelPca, how: &str| {
        for (j, (interval, value)) in
            model.certificate().intervals.iter().zip(model.eigenvalues()).enumerate()
        {
            assert!(interval.low <= *value && *value <= interval.high, "{how}, {j}: {value:e} {interval:?}");
            seen += 1;
        }
    };
    for (seed, n, d) in [(1, 90, 4), (2, 300, 3), (3, 700, 6)] {
        let x = problems::mixture(n, d, seed);
        for spec in
            ["rbf(gamma=0.03)", "linear", "polynomial(degree=2, gamma=0.1, coef0=1)", "laplacian(gamma=0.05)"]
        {
            let spec: KernelSpec = spec.parse().unwrap();
            let settings = KernelPca::new(3).kernel(spec.clone());
            for way in
                [None, Some(LowRank::pivoted(Rank::Exactly(25))), Some(LowRank::uniform(Rank::Exactly(9)))]
            {
                let settings = way.map_or(settings.clone(), |way| settings.clone().low_rank(way));
                let model = settings.fit(x.clone()).unwrap();
                let how = format!("{spec} {n} × {d}, {:?}", model.plan().route);
                check(&model, &how);
                let sure = model.certify(x.clone()).unwrap();
                check(&sure, &format!("{how}, certified"));
                check(&sure.certify(x.clone()).unwrap(), &format!("{how}, certified twice"));
                let exact = KernelPca::new(3).kernel(spec.clone()).tolerance(1e-10).refine(&model, x.clone());
                let exact = exact.unwrap();
                check(&exact, &format!("{how}, refined"));
                check(&exact.certify(x.clone()).unwrap(), &format!("{how}, refined and certified"));
            }
        }
    }
    assert!(seen > 500, "{seen}");
}
