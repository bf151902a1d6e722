//! Kernel PCA under strain: every route to the same numbers, hostile data, little memory, wrong settings.

use eigenlift::data;
use eigenlift::error::Error;
use eigenlift::gram::Storage;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::kernel_check::{Verdict, mercer_check};
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift::model::Solver;
use eigenlift::progress::{CancelToken, Watch};
use eigenlift_testkit::{problems, reference};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_from_run_to_run() {
    let x = problems::mixture(1300, 12, 5);
    for storage in [Storage::Stored, Storage::Tiled] {
        for tolerance in [1e-6, 1e-9] {
            let fit = |threads: usize| {
                let settings = KernelPca::new(5).storage(storage).tolerance(tolerance).threads(threads);
                let model = settings.fit(x.clone()).unwrap();
                (model.scores().unwrap(), model.eigenvalues().to_vec(), model.transform(&x).unwrap())
            };
            let one = fit(1);
            assert_eq!(one, fit(2), "{storage:?} {tolerance}");
            assert_eq!(one, fit(5), "{storage:?} {tolerance}");
            assert_eq!(one, fit(1));
        }
    }
}

#[test]
fn stored_tiled_dense_and_single_precision_agree() {
    let x = problems::mixture(800, 10, 6);
    let base = KernelPca::new(4).kernel(spec("rbf(gamma=0.05)")).tolerance(1e-10);
    let dense = base.clone().solver(Solver::Dense).fit(x.clone()).unwrap();
    for storage in [Storage::Stored, Storage::Tiled] {
        let model = base.clone().storage(storage).solver(Solver::Davidson).fit(x.clone()).unwrap();
        assert!(reference::difference_up_to_sign(&dense.scores().unwrap(), &model.scores().unwrap()) < 1e-8);
        assert!(model.certificate().worst_residual() <= 1.1e-10);
    }
    let single = Matrix::from_fn(800, 10, |i, j| x[(i, j)] as f32);
    let model = base.tolerance(1e-5).fit(single.clone()).unwrap();
    assert!(reference::difference_up_to_sign(&dense.scores().unwrap(), &model.scores().unwrap()) < 1e-4);
    // Rows in another precision than the samples are converted.
    let (narrow, wide) = (model.transform(&single).unwrap(), model.transform(&x).unwrap());
    assert!(reference::difference(&narrow, &wide) < 1e-5);
}

#[test]
fn sparse_samples_give_what_dense_ones_give() {
    let mut x = problems::noise(300, 20, 3);
    x.as_mut_slice().iter_mut().for_each(|v| *v = if v.abs() < 1.0 { 0.0 } else { v.abs() });
    let sparse = problems::sparse(&x);
    for text in [
        "rbf(gamma=0.05)",
        "linear",
        "cosine",
        "polynomial(degree=2)",
        "laplacian(gamma=0.1)",
        "chi2",
        "tanimoto",
        "exponential(gamma=0.2)",
    ] {
        let settings = KernelPca::new(3).kernel(spec(text)).tolerance(1e-10);
        let dense = settings.fit(x.clone()).unwrap();
        let model = settings.fit(eigenlift::data::Samples::from(sparse.clone())).unwrap();
        let size = dense.scores().unwrap().as_slice().iter().map(|v| v.abs()).fold(0.0, f64::max);
        assert!(
            reference::difference_up_to_sign(&dense.scores().unwrap(), &model.scores().unwrap())
                < 1e-9 * size,
            "{text}"
        );
        let rows = eigenlift::data::Points::from(sparse.view());
        let new = model.transform(rows).unwrap();
        assert!(reference::difference(&new, &model.scores().unwrap()) < 1e-9 * size, "{text}");
    }
}

#[test]
fn degenerate_data_is_survived_or_explained() {
    let message = |x: Matrix<f64>| KernelPca::new(2).fit(x).unwrap_err().to_string();
    assert!(message(Matrix::from_fn(10, 3, |_, j| j as f64)).contains("rows that differ"));
    assert!(message(Matrix::from_fn(1, 3, |_, j| j as f64)).contains("1 sample(s)"));
    assert!(message(Matrix::zeros(0, 3)).contains("0 sample(s)"));
    let constant = KernelPca::new(2).kernel(spec("linear")).fit(Matrix::from_fn(10, 3, |_, j| j as f64));
    assert!(constant.unwrap_err().to_string().contains("look the same to this kernel"));
    let mut x = problems::noise(50, 3, 1);
    x[(7, 2)] = f64::NAN;
    assert!(message(x.clone()).contains("row 8, column 3 is NaN"));
    x[(7, 2)] = f64::NEG_INFINITY;
    assert!(message(x).contains("row 8, column 3 is -inf"));
    // Every row twice: still fine, and rows that are equal have equal scores.
    let half = problems::mixture(400, 4, 2);
    let twice = Matrix::from_fn(800, 4, |i, j| half[(i % 400, j)]);
    let model = KernelPca::new(3).fit(twice).unwrap();
    let scores = model.scores().unwrap();
    for i in 0..400 {
        (0..3).for_each(|j| assert!((scores[(i, j)] - scores[(i + 400, j)]).abs() < 1e-6));
    }
    // Extreme widths: everything alike, or everything different.
    for gamma in ["1e-9", "1e9"] {
        let model =
            KernelPca::new(2).kernel(spec(&format!("rbf(gamma={gamma})"))).fit(problems::noise(700, 3, 4));
        let model = model.unwrap();
        assert!(model.eigenvalues().iter().all(|v| v.is_finite() && *v > 0.0), "{gamma}");
    }
}

#[test]
fn an_outlier_moves_no_other_kernel_value() {
    let mut x = problems::noise(600, 8, 11);
    let kernel = Kernel::new(&spec("rbf(gamma=0.1)"), 8).unwrap();
    let single = |x: &Matrix<f64>| {
        let x = Matrix::from_fn(600, 8, |i, j| x[(i, j)] as f32);
        kernel.matrix((&x).into(), (&x).into())
    };
    let before = single(&x);
    (0..8).for_each(|j| x[(300, j)] = 1e4 / 8f64.sqrt());
    let after = single(&x);
    for i in (0..600).filter(|i| *i != 300) {
        for j in (0..600).filter(|j| *j != 300) {
            assert!((before[(i, j)] - after[(i, j)]).abs() < 1e-6, "{i}, {j}");
        }
    }
}

#[test]
fn far_away_data_loses_no_accuracy() {
    let x = problems::noise(300, 4, 12);
    let shifted = Matrix::from_fn(300, 4, |i, j| x[(i, j)] + 1e6);
    let kernel = Kernel::new(&spec("rbf(gamma=0.3)"), 4).unwrap();
    let (near, far) =
        (kernel.matrix((&x).into(), (&x).into()), kernel.matrix((&shifted).into(), (&shifted).into()));
    // The shift itself rounds coordinates by 1e6·eps.
    assert!(reference::difference(&near, &far) < 1e-8);
}

/// Two clusters far apart: what is near is computed from differences, so that no entry is off by more than the certificate
/// allows, and rows are projected as they were scored whatever rows they come with.
#[test]
fn clusters_far_apart_lose_no_accuracy() {
    for text in [
        "rbf(gamma=1)",
        "exponential(gamma=1)",
        "matern(nu=1.5,length=1)",
        "matern(nu=2.5,length=1)",
        "rational_quadratic(alpha=1.5,length=1)",
    ] {
        let noise = problems::noise(60, 3, 5);
        let x = Matrix::from_fn(60, 3, |i, j| noise[(i, j)] + if i % 2 == 0 { 1e6 } else { -1e6 });
        let exact = reference::gram(&spec(text), &x, &x);
        let kernel = Kernel::new(&spec(text), 3).unwrap();
        let gap = reference::difference(&kernel.matrix((&x).into(), (&x).into()), &exact);
        assert!(gap <= 32.0 * f64::EPSILON, "{text}: {gap:e}");
        let model = KernelPca::new(5).kernel(spec(text)).fit(x.clone()).unwrap();
        let (values, _) = reference::eigen(&reference::centred(&exact));
        for (j, interval) in model.certificate().intervals.iter().enumerate() {
            assert!(
                interval.low <= values[j] && values[j] <= interval.high,
                "{text} {j}: {interval:?} {}",
                values[j]
            );
        }
        let reversed = Matrix::from_fn(60, 3, |i, j| x[(59 - i, j)]);
        let (scores, back) = (model.scores().unwrap(), model.transform(&reversed).unwrap());
        let turned = Matrix::from_fn(60, 5, |i, j| back[(59 - i, j)]);
        assert!(reference::difference(&scores, &turned) < 1e-12, "{text}");
    }
    // Single precision, a kernel much narrower than the data: entries of the rounded data itself.
    let roll = problems::swiss_roll(500, 1);
    let single = Matrix::from_fn(500, 3, |i, j| roll[(i, j)] as f32);
    let exact = Matrix::from_fn(500, 3, |i, j| f64::from(single[(i, j)]));
    let kernel = Kernel::new(&spec("rbf(gamma=100)"), 3).unwrap();
    let gap = reference::difference(
        &kernel.matrix((&single).into(), (&single).into()),
        &reference::gram(&spec("rbf(gamma=100)"), &exact, &exact),
    );
    assert!(gap <= 32.0 * f64::from(f32::EPSILON), "{gap:e}");
}

#[test]
fn an_indefinite_kernel_is_noticed_whatever_the_solver() {
    let x = data::synthetic("moons", Some(700), Some(0.1), 0).unwrap().samples;
    let model = KernelPca::new(3).kernel(spec("sigmoid(gamma=1,coef0=-1)")).fit(x).unwrap();
    assert_eq!(model.plan().solver, Solver::Davidson);
    let warning = &model.warnings()[0];
    assert!(
        warning.contains("most negative eigenvalue is -") && warning.contains("explained variance ratio"),
        "{warning}"
    );
    assert!(model.explained_variance_ratio().iter().all(|ratio| ratio.is_nan()));
    let text = KernelPca::new(2)
        .kernel(spec("-1*rbf(gamma=1)"))
        .fit(problems::noise(50, 2, 1))
        .unwrap_err()
        .to_string();
    assert!(text.contains("no eigenvalue of the centered kernel matrix is positive"), "{text}");
}

#[test]
fn shares_of_a_repaired_kernel_are_shares() {
    for repair in [eigenlift::eigen::Indefinite::Clip, eigenlift::eigen::Indefinite::Flip] {
        let iris = data::iris().unwrap().samples;
        let kernel = spec("sigmoid(gamma=0.1,coef0=-1)");
        let model = KernelPca::new(149).kernel(kernel).repair(repair).fit(iris).unwrap();
        let shares = model.explained_variance_ratio();
        assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)), "{repair}: {shares:?}");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{repair}");
        assert!(model.variances().iter().all(|v| *v > 0.0), "{repair}");
    }
}

#[test]
fn kernel_values_that_overflow_are_named() {
    let x = Matrix::from_fn(5, 1, |i, _| 1e153 * (i as f64 + 1.0));
    let text = KernelPca::new(1).kernel(spec("linear")).fit(x).unwrap_err().to_string();
    assert!(text.contains("kernel values as large as") && text.contains("Scale the data down"), "{text}");
}

/// Inner products of 1e400 are infinite and their differences NaN: never a kernel value of 1.
#[test]
fn distances_that_overflow_are_named() {
    let x = Matrix::from_fn(600, 2, |i, j| 1e200 * ((i * 2 + j) as f64 + 1.0));
    for n in [6, 600] {
        let rows = Matrix::from_fn(n, 2, |i, j| x[(i, j)]);
        let text = KernelPca::new(1).kernel(spec("rbf(gamma=1e-300)")).fit(rows).unwrap_err().to_string();
        assert!(text.contains("is NaN") && text.contains("Scale the data down"), "{n}: {text}");
    }
    // Rows that differ are not called rows without any distance.
    let apart = Matrix::from_fn(300, 2, |i, j| 1e300 * ((i + j) as f64 / 300.0 - 0.5));
    let text = KernelPca::new(1).kernel(spec("rbf")).fit(apart).unwrap_err().to_string();
    assert!(text.contains("distances that overflow") && text.contains("Scale the data down"), "{text}");
    let model = KernelPca::new(1).kernel(spec("linear")).fit(problems::noise(20, 2, 1)).unwrap();
    let far = Matrix::from_fn(3, 2, |i, _| if i == 1 { 1e308 } else { 1.0 });
    let text = model.transform(&far).unwrap_err().to_string();
    assert!(text.contains("row 2 has scores that are not finite"), "{text}");
}

#[test]
fn the_smallest_problems() {
    for n in [2, 3, 5] {
        for solver in [Solver::Dense, Solver::Davidson] {
            let model = KernelPca::new(9).solver(solver).fit(problems::noise(n, 2, 1)).unwrap();
            assert_eq!(model.n_components(), n - 1, "{n} {solver}");
            assert!(
                (model.explained_variance_ratio().iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{n} {solver}"
            );
        }
    }
    let engine = eigenlift::engine::Cpu::new(1).unwrap();
    let check = |n: usize| {
        mercer_check(&spec("linear"), &problems::noise(n, 2, 1).into(), &engine, None, 0, &Watch::default())
    };
    assert!(check(0).unwrap_err().to_string().contains("0 samples"));
    assert_eq!(check(1).unwrap().verdict, Verdict::Valid);
    let one = Matrix::from_fn(1, 1, |_, _| 1.0);
    let gram = eigenlift::gram::SymmetricGram::new(
        eigenlift::gram::Similarity::Precomputed,
        eigenlift::data::Samples::from(one.clone()),
        Storage::Stored,
    )
    .unwrap();
    let watch = Watch::default();
    let mut how = eigenlift_testkit::laws::options(&watch, 1e-6, 1.0);
    how.deflate = Some(one.view());
    use eigenlift::eigen::{Davidson, Eigensolver};
    assert!(Davidson.largest(&gram, 1, &how).unwrap().values.is_empty());
}

#[test]
fn a_slightly_indefinite_matrix_is_not_called_valid() {
    for n in [1000, 1100] {
        let mut ones = Matrix::from_fn(n, n, |_, _| 1.0);
        ones[(7, 7)] = 0.995;
        let engine = eigenlift::engine::Cpu::new(2).unwrap();
        let report =
            mercer_check(&spec("precomputed"), &ones.into(), &engine, None, 0, &Watch::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Indefinite, "{n}: {report:?}");
        assert!((report.smallest + 4.995e-3).abs() < 2e-5, "{n}: {report:?}");
    }
}

#[test]
fn few_samples_and_little_memory_go_to_the_iteration() {
    let x = problems::mixture(500, 4, 1);
    let model = KernelPca::new(2).memory_limit(2_000_000).fit(x).unwrap();
    assert_eq!(model.plan().solver, Solver::Davidson);
}

#[test]
fn settings_out_of_range_are_explained() {
    let x = || problems::noise(30, 2, 1);
    let text = |settings: KernelPca| settings.fit(x()).unwrap_err().to_string();
    assert!(text(KernelPca::new(0)).contains("at least one"));
    assert!(text(KernelPca::new(2).tolerance(0.0)).contains("between 1e-14 and 1"));
    assert!(text(KernelPca::new(2).tolerance(f64::NAN)).contains("between 1e-14 and 1"));
    assert!(text(KernelPca::new(2).column_names(vec!["a".into()])).contains("1 column names for 2 columns"));
    assert!(text(KernelPca::new(2).kernel(spec("map(x3)"))).contains("x1 to x2"));
    assert!(text(KernelPca::new(2).kernel(spec("chi2"))).contains("not negative"));
    assert!(text(KernelPca::new(2).kernel(spec("expr(x1*y2)"))).contains("must be symmetric"));
    assert!(text(KernelPca::new(2).kernel(spec("expr(ln(x1)*ln(y1))"))).contains("must be finite"));
    let all = KernelPca::new(1000).fit(x()).unwrap();
    assert_eq!(all.n_components(), 29);
    assert!(all.warnings()[0].contains("1000 components were asked for and 29 exist"));
}

#[test]
fn memory_is_planned_and_the_impossible_refused() {
    let x = problems::mixture(3000, 6, 1);
    let plan =
        |limit: u64| KernelPca::new(4).memory_limit(limit).prepare(x.clone()).map(|job| job.plan().clone());
    let roomy = plan(1 << 30).unwrap();
    assert_eq!(roomy.storage, Storage::Stored);
    let tight = plan(20 << 20).unwrap();
    assert_eq!(tight.storage, Storage::Tiled);
    assert!(tight.bytes_needed <= 20 << 20);
    assert!(tight.reasons.iter().any(|r| r.contains("computed anew in each pass")), "{:?}", tight.reasons);
    match KernelPca::new(4).exact().memory_limit(1 << 20).prepare(x.clone()).map(|job| job.plan().clone()) {
        Err(Error::Memory { action, .. }) => assert!(action.contains("use at most about"), "{action}"),
        other => panic!("{other:?}"),
    }
    let small = KernelPca::new(4).memory_limit(20 << 20).fit(x.clone()).unwrap();
    let large = KernelPca::new(4).fit(x).unwrap();
    assert!(reference::difference_up_to_sign(&small.scores().unwrap(), &large.scores().unwrap()) < 1e-4);
}

#[test]
fn cancelling_stops_and_says_so() {
    let token = CancelToken::default();
    token.cancel();
    let settings = KernelPca::new(2).watch(Watch::default().cancelled_by(token));
    assert!(matches!(settings.fit(problems::noise(700, 3, 1)), Err(Error::Cancelled)));
}

#[test]
fn wrong_columns_at_transform_are_explained() {
    let model = KernelPca::new(2).fit(problems::noise(40, 3, 1)).unwrap();
    let text = model.transform(&problems::noise(4, 2, 1)).unwrap_err().to_string();
    assert!(text.contains("rows of 2 columns") && text.contains("fitted on 3"), "{text}");
    assert_eq!(model.transform(&Matrix::<f64>::zeros(0, 3)).unwrap().n_rows(), 0);
}
