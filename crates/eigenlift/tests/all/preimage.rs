//! The way back from scores to rows, and denoising.

use eigenlift::data::AnySamples;
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca};
use eigenlift::preimage::{Preimage, PreimageMethod, Preimages, Start};
use eigenlift::progress::{CancelToken, Watch};
use eigenlift_testkit::denoising::{SlowDenoiser, denoising};
use eigenlift_testkit::problems::{noise, sparse};
use eigenlift_testkit::reference::difference;

fn rbf(gamma: f64) -> KernelSpec {
    format!("rbf(gamma={gamma:e})").parse().unwrap()
}

fn fit(x: &Matrix<f64>, kernel: &str, k: usize) -> FittedKernelPca {
    KernelPca::new(k).kernel(kernel.parse().unwrap()).tolerance(1e-10).fit(x.clone()).unwrap()
}

fn denoise(model: &FittedKernelPca, method: PreimageMethod, x: &Matrix<f64>) -> Preimages {
    model.denoise_by(&Preimage::new().method(method), x).unwrap()
}

/// Rows on a closed curve in six dimensions, without noise.
fn curve(n: usize, shift: f64) -> Matrix<f64> {
    Matrix::from_fn(n, 6, |i, j| {
        let t = std::f64::consts::TAU * (i as f64 + shift) / n as f64;
        [t.cos(), t.sin(), 0.5 * (2.0 * t).cos(), 0.5 * (2.0 * t).sin(), t.cos() * t.sin(), 0.3 * t.cos()][j]
    })
}

#[test]
fn the_fixed_point_is_as_good_as_a_plain_one_on_the_four_problems() {
    let settings = [(1.0, 64), (4.0, 64), (2.0, 4), (4.0, 8)];
    for (problem, (width, k)) in denoising(1).into_iter().zip(settings) {
        let problem = problem.shortened(200);
        let gamma = problem.gamma(width);
        let plain = problem.error(&SlowDenoiser::new(&problem.train, gamma).denoise(&problem.noisy, k, 60));
        let model = KernelPca::new(k).kernel(rbf(gamma)).fit(problem.train.clone()).unwrap();
        let found = model.denoise_by(&Preimage::new(), &problem.noisy).unwrap();
        let error = problem.error(&found.rows);
        assert!(error <= 1.02 * plain, "{}: {error} against {plain}", problem.name);
        assert_eq!(found.method, PreimageMethod::FixedPoint);
        assert!(found.starts.iter().all(|start| *start == Start::Input));
        let before = problem.error(&problem.noisy);
        assert!(error < 0.5 * before, "{}: {error} of {before}", problem.name);
    }
}

#[test]
fn rows_on_a_curve_come_back_from_their_scores() {
    let (x, new) = (curve(200, 0.0), curve(77, 0.37));
    let model = fit(&x, "rbf(gamma=1)", 30);
    for rows in [&x, &new] {
        let scores = model.transform(rows).unwrap();
        let found = model.inverse_by(&Preimage::new(), &scores).unwrap();
        let off = difference(&found.rows, rows);
        assert!(off < 1e-5, "{off}");
        assert_eq!(found.n_untrusted(), 0);
        assert!(found.distances.iter().all(|d| *d < 1e-3), "{:?}", found.distances);
    }
}

#[test]
fn degree_one_is_the_reconstruction_of_pca() {
    let x = noise(60, 5, 3);
    for kernel in ["linear", "polynomial(degree=1,gamma=0.7,coef0=2)"] {
        for gram in [false, true] {
            let settings = KernelPca::new(2).kernel(kernel.parse().unwrap()).tolerance(1e-12);
            let settings = if gram { settings.by_gram_matrix() } else { settings };
            let model = settings.fit(x.clone()).unwrap();
            let pca = Pca::new(2).fit(x.clone()).unwrap();
            let expected = pca.inverse_transform(&pca.transform(&x).unwrap()).unwrap();
            let scores = model.transform(&x).unwrap();
            let back = model.inverse_by(&Preimage::new().tolerance(1e-9), &scores).unwrap();
            let off = difference(&back.rows, &expected);
            assert!(off < 1e-9, "{kernel} {gram}: {off}");
            let off = difference(&denoise(&model, PreimageMethod::Auto, &x).rows, &expected);
            assert!(off < 1e-9, "{kernel} {gram}: {off}");
        }
    }
}

#[test]
fn distances_are_those_in_feature_space() {
    let x = noise(40, 2, 5);
    // By explicit features, the distance can be computed from coordinates: φ = all monomials up to degree 2.
    let map = eigenlift::kernel::PolynomialMap::new(2, 2, 1.0, 1.0).unwrap();
    let features = map.apply((&x).into());
    let pca = Pca::new(3).fit(features.clone()).unwrap();
    let points = pca.inverse_transform(&pca.transform(&features).unwrap()).unwrap();
    for gram in [false, true] {
        let settings = KernelPca::new(3).kernel("polynomial(degree=2)".parse().unwrap()).tolerance(1e-10);
        let model = if gram { settings.by_gram_matrix() } else { settings }.fit(x.clone()).unwrap();
        let found = denoise(&model, PreimageMethod::Auto, &x);
        let images = map.apply((&found.rows).into());
        for i in 0..x.n_rows() {
            let apart =
                images.row(i).iter().zip(points.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!((apart - found.distances[i]).abs() < 1e-6, "{apart} {}", found.distances[i]);
            let before = features.row(i).iter().zip(points.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            assert!(found.distances[i] <= before.sqrt() + 1e-9, "it only goes downhill");
        }
    }
}

#[test]
fn all_landmarks_give_the_exact_way_back() {
    let x = curve(60, 0.0);
    let noisy = Matrix::from_fn(20, 6, |i, j| curve(20, 0.5)[(i, j)] + 0.05 * noise(20, 6, 1)[(i, j)]);
    let exact = fit(&x, "rbf(gamma=1)", 6);
    let low = KernelPca::new(6)
        .kernel("rbf(gamma=1)".parse().unwrap())
        .low_rank(LowRank::landmarks(x.clone()))
        .fit(x.clone())
        .unwrap();
    let (a, b) = (denoise(&exact, PreimageMethod::Auto, &noisy), denoise(&low, PreimageMethod::Auto, &noisy));
    assert!(
        difference(&a.rows, &b.rows) < 1e-4,
        "{} {:?} {:?}",
        difference(&a.rows, &b.rows),
        a.steps,
        b.steps
    );
    assert!(a.distances.iter().zip(&b.distances).all(|(a, b)| (a - b).abs() < 1e-4));
    let few = KernelPca::new(6)
        .kernel("rbf(gamma=1)".parse().unwrap())
        .low_rank(LowRank::pivoted(Rank::Exactly(20)))
        .fit(x.clone())
        .unwrap();
    let c = denoise(&few, PreimageMethod::Auto, &noisy);
    assert!(difference(&a.rows, &c.rows) < 0.02, "{}", difference(&a.rows, &c.rows));
}

#[test]
fn every_method_brings_rows_back() {
    let x = curve(150, 0.0);
    let new = curve(40, 0.31);
    let model = fit(&x, "rbf(gamma=0.5)", 20);
    let scores = model.transform(&new).unwrap();
    for (method, allowed) in [
        (PreimageMethod::FixedPoint, 1e-4),
        (PreimageMethod::Gradient, 1e-4),
        (PreimageMethod::Distance, 2e-2),
        (PreimageMethod::Ridge, 1e-2),
    ] {
        let found = model.inverse_by(&Preimage::new().method(method), &scores).unwrap();
        let off = difference(&found.rows, &new);
        assert!(off < allowed, "{method}: {off}");
        assert_eq!(found.method, method);
        assert_eq!(found.n_untrusted(), 0, "{method}");
    }
}

#[test]
fn every_kernel_has_a_way_back() {
    let x = Matrix::from_fn(80, 3, |i, j| 2.0 + curve(80, 0.0)[(i, j)]);
    for kernel in [
        "linear",
        "polynomial(degree=2)",
        "polynomial(degree=3,gamma=0.2,coef0=1)",
        "exponential(gamma=0.5)",
        "matern(nu=1.5,length=2)",
        "matern(nu=2.5,length=2)",
        "rational_quadratic(alpha=1,length=2)",
        "laplacian(gamma=0.3)",
        "chi2(gamma=0.5)",
        "rbf(gamma=0.5) + linear",
        "0.5*rbf(gamma=0.5)",
        "map(x1, x2, x3, x1*x2)",
        "expr((x1*y1+x2*y2+x3*y3+1)^2)",
    ] {
        let model = fit(&x, kernel, 8);
        let found = denoise(&model, PreimageMethod::Auto, &x);
        let off = difference(&found.rows, &x);
        assert!(off < 0.3, "{kernel}: {off}");
        let scores = model.transform(&x).unwrap();
        if !kernel.starts_with("map") {
            let back = model.inverse_by(&Preimage::new(), &scores).unwrap();
            let off = difference(&back.rows, &x);
            assert!(off < 0.5, "{kernel}: {off}");
        }
    }
    let fourier = KernelPca::new(8)
        .kernel("rbf(gamma=0.5)".parse().unwrap())
        .low_rank(LowRank::fourier(Rank::Exactly(400)))
        .fit(x.clone())
        .unwrap();
    assert!(difference(&denoise(&fourier, PreimageMethod::Auto, &x).rows, &x) < 0.1);
    let refused = fourier.inverse_by(&Preimage::new(), &fourier.transform(&x).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("holds no rows"), "{refused}");
}

#[test]
fn scores_far_from_the_data_are_not_trusted() {
    let x = curve(150, 0.0);
    let model = fit(&x, "rbf(gamma=0.5)", 10);
    let scores = model.transform(&x).unwrap();
    let far = Matrix::from_fn(150, 10, |i, j| 5.0 * scores[(i, j)]);
    assert_eq!(model.inverse_by(&Preimage::new(), &far).unwrap().n_untrusted(), 150);
    // Halfway between opposite points there is no row.
    let half = Matrix::from_fn(75, 10, |i, j| 0.5 * (scores[(i, j)] + scores[(i + 75, j)]));
    let found = model.inverse_by(&Preimage::new(), &half).unwrap();
    assert!(found.n_untrusted() > 60, "{}", found.n_untrusted());
    assert_eq!(model.inverse_by(&Preimage::new(), &scores).unwrap().n_untrusted(), 0);
}

#[test]
fn a_row_far_away_starts_from_the_samples() {
    let model = fit(&curve(100, 0.0), "rbf(gamma=2)", 10);
    let far = Matrix::from_fn(1, 6, |_, _| 100.0);
    let found = denoise(&model, PreimageMethod::Auto, &far);
    assert_eq!(found.starts, [Start::Neighbors]);
    assert!(found.rows.row(0).iter().all(|v| v.abs() < 3.0), "{:?}", found.rows.row(0));
}

#[test]
fn a_penalty_holds_the_row_back() {
    let problem = denoising(2).into_iter().nth(2).unwrap();
    let model = KernelPca::new(4).kernel(rbf(problem.gamma(2.0))).fit(problem.train.clone()).unwrap();
    let moved = |penalty: f64| {
        let found = model.denoise_by(&Preimage::new().penalty(penalty), &problem.noisy).unwrap();
        difference(&found.rows, &problem.noisy)
    };
    let steps = [moved(0.0), moved(0.1), moved(1.0), moved(100.0)];
    assert!(steps.windows(2).all(|pair| pair[1] < pair[0]), "{steps:?}");
    assert!(steps[3] < 0.05, "{steps:?}");
}

#[test]
fn threads_precisions_and_files_agree() {
    let problem = denoising(3).into_iter().nth(3).unwrap();
    let settings = KernelPca::new(8).kernel(rbf(problem.gamma(4.0)));
    let model = settings.clone().threads(1).fit(problem.train.clone()).unwrap();
    let one = model.denoise_by(&Preimage::new(), &problem.noisy).unwrap();
    let two = settings.clone().threads(2).fit(problem.train.clone()).unwrap();
    assert_eq!(two.denoise_by(&Preimage::new(), &problem.noisy).unwrap(), one);
    for model in [
        model.clone(),
        settings.clone().low_rank(LowRank::pivoted(Rank::Exactly(50))).fit(problem.train.clone()).unwrap(),
    ] {
        let loaded = FittedKernelPca::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let (a, b) = (
            model.denoise_by(&Preimage::new(), &problem.noisy).unwrap(),
            loaded.denoise_by(&Preimage::new(), &problem.noisy).unwrap(),
        );
        assert_eq!(a, b);
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
    }
    let single = Matrix::from_fn(600, 20, |i, j| problem.train[(i, j)] as f32);
    let found = settings.fit(single).unwrap().denoise_by(&Preimage::new(), &problem.noisy).unwrap();
    assert!(difference(&found.rows, &one.rows) < 1e-3, "{}", difference(&found.rows, &one.rows));
    let thin = Matrix::from_fn(40, 6, |i, j| if (i + j) % 3 == 0 { curve(40, 0.0)[(i, j)] } else { 0.0 });
    let kernel = || KernelPca::new(5).kernel("rbf(gamma=0.5)".parse().unwrap());
    let dense = kernel().fit(thin.clone()).unwrap();
    let spare = kernel().fit(AnySamples::F64(sparse(&thin).into())).unwrap();
    let (a, b) = (denoise(&dense, PreimageMethod::Auto, &thin), denoise(&spare, PreimageMethod::Auto, &thin));
    assert!(difference(&a.rows, &b.rows) < 1e-6);
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    let x = curve(30, 0.0);
    let model = fit(&x, "rbf(gamma=1)", 3);
    let scores = model.transform(&x).unwrap();
    let says = |found: eigenlift::error::Result<Preimages>, words: &str| {
        let error = found.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let narrow = Matrix::from_fn(2, 2, |_, _| 0.0);
    says(model.inverse_by(&Preimage::new(), &narrow), "scores of 2 columns");
    says(model.denoise_by(&Preimage::new(), &narrow), "rows of 2 columns");
    let hole = Matrix::from_fn(2, 3, |i, _| if i == 1 { f64::NAN } else { 0.0 });
    says(model.inverse_by(&Preimage::new(), &hole), "row 2");
    says(model.inverse_by(&Preimage::new().penalty(-1.0), &scores), "penalty of -1");
    says(model.inverse_by(&Preimage::new().max_steps(0), &scores), "0 steps");
    says(model.inverse_by(&Preimage::new().neighbors(1), &scores), "1 neighbours");
    says(model.inverse_by(&Preimage::new().tolerance(0.0), &scores), "tolerance of 0");
    let ridge = Preimage::new().method(PreimageMethod::Ridge);
    says(model.inverse_by(&ridge.penalty(0.1), &scores), "with the method ridge");
    let linear = fit(&x, "linear", 3);
    let fixed = Preimage::new().method(PreimageMethod::FixedPoint);
    says(linear.denoise_by(&fixed, &x), "method gradient");
    let gram = Matrix::from_fn(30, 30, |i, j| x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum());
    let given = fit(&gram, "precomputed", 2);
    says(given.denoise_by(&Preimage::new(), &gram), "precomputed");
    let cancel = CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    let engine = eigenlift::engine::Cpu::new(1).unwrap();
    says(model.inverse_on(&Preimage::new(), &engine, &scores, &watch), "interrupted");
}

#[test]
fn no_rows_give_no_rows() {
    let model = fit(&curve(30, 0.0), "rbf(gamma=1)", 3);
    let found = model.inverse_by(&Preimage::new(), &Matrix::zeros(0, 3)).unwrap();
    assert_eq!((found.rows.n_rows(), found.rows.n_cols()), (0, 6));
}

#[test]
fn points_beyond_the_images_are_not_trusted_with_a_narrow_kernel_either() {
    let model = fit(&curve(150, 0.0), "rbf(gamma=3)", 12);
    let scores = model.transform(&curve(150, 0.0)).unwrap();
    for factor in [3.0, 5.0, 1000.0] {
        let far = Matrix::from_fn(150, 12, |i, j| factor * scores[(i, j)]);
        assert_eq!(model.inverse_by(&Preimage::new(), &far).unwrap().n_untrusted(), 150, "{factor}");
    }
    assert!(model.inverse_by(&Preimage::new(), &scores).unwrap().n_untrusted() < 8);
}

#[test]
fn searches_stay_where_the_kernel_is_defined() {
    let digits = eigenlift_testkit::problems::digits();
    let x = Matrix::from_fn(120, 64, |i, j| 16.0 * digits[(i, j)]);
    for kernel in ["chi2(gamma=0.01)", "intersection", "tanimoto"] {
        let model = fit(&x, kernel, 10);
        for method in [PreimageMethod::Auto, PreimageMethod::Ridge] {
            let found = denoise(&model, method, &x);
            assert!(found.rows.as_slice().iter().all(|v| (0.0..1e3).contains(v)), "{kernel} {method}");
            assert!(model.transform(&found.rows).is_ok());
        }
    }
    // Logarithms end at 0: a step beyond is shortened.
    let positive = Matrix::from_fn(200, 3, |i, j| 0.01 + (noise(200, 3, 4)[(i, j)] * 0.5).exp());
    let model = fit(&positive, "map(log(x1),log(x2),log(x3))", 1);
    let found = denoise(&model, PreimageMethod::Auto, &positive);
    assert!(found.rows.as_slice().iter().all(|v| *v > 0.0));
    assert!(found.n_untrusted() < 20, "{}", found.n_untrusted());
}

#[test]
fn a_row_of_a_feature_model_does_not_depend_on_its_companions() {
    let x = curve(60, 0.0);
    let model = fit(&x, "polynomial(degree=2)", 3);
    let pair = Matrix::from_fn(2, 6, |i, j| if i == 0 { 0.1 + x[(3, j)] } else { 1000.0 });
    let alone = Matrix::from_fn(1, 6, |_, j| pair[(0, j)]);
    let (both, one) =
        (denoise(&model, PreimageMethod::Auto, &pair), denoise(&model, PreimageMethod::Auto, &alone));
    let off = both.rows.row(0).iter().zip(one.rows.row(0)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "{off}");
}

#[test]
fn a_kernel_is_chosen_for_more_components_than_the_choice_can_keep() {
    let x = curve(60, 0.0);
    let model = KernelPca::new(55).kernel("rbf(gamma=auto)".parse().unwrap()).fit(x).unwrap();
    assert!(
        model.warnings().iter().any(|w| w.contains("chosen with 47 components")),
        "{:?}",
        model.warnings()
    );
    assert!(model.n_components() > 10);
}
