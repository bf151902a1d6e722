//! Refitted models matched to earlier ones.

use super::{message, spec};
use eigenlift::data::{self, AnySamples};
use eigenlift::features::{LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AlignOptions, FittedKernelPca, KernelPca};
use eigenlift::model::Route;
use eigenlift_testkit::{laws, problems, reference};

fn fit(k: usize, kernel: &str, x: &Matrix<f64>) -> FittedKernelPca {
    KernelPca::new(k).kernel(spec(kernel)).tolerance(1e-10).by_gram_matrix().fit(x.clone()).unwrap()
}

/// Rows off the origin whose covariance has the eigenvalues given, exactly: cosines over a full period are orthogonal. The first
/// two coordinates are turned by an angle.
fn with_variances(n: usize, variances: &[f64], turn: f64) -> Matrix<f64> {
    let wave = |i: usize, j: usize| {
        let angle = std::f64::consts::TAU * (i as f64 + 0.25) / n as f64;
        (variances[j] * 2.0).sqrt() * ((j + 1) as f64 * angle).cos()
    };
    let mut x = Matrix::from_fn(n, variances.len(), wave);
    let (sine, cosine) = turn.sin_cos();
    for i in 0..n {
        let (a, b) = (x[(i, 0)], x[(i, 1)]);
        (x[(i, 0)], x[(i, 1)]) = (cosine * a - sine * b + 0.5, sine * a + cosine * b);
    }
    x
}

/// ‖nCv − θv‖/θ of the axes v = Φ̃α in feature space: with b = K_cα − θα that is √(bᵀK_c b)/θ.
fn true_residuals(model: &FittedKernelPca, kernel: &str, x: &Matrix<f64>) -> Vec<f64> {
    let gram = reference::centred(&reference::gram(&spec(kernel), x, x));
    let (n, k) = (x.n_rows(), model.n_components());
    let mut b = reference::product(&gram, model.coefficients());
    for i in 0..n {
        (0..k).for_each(|j| b[(i, j)] -= model.eigenvalues()[j] * model.coefficients()[(i, j)]);
    }
    let image = reference::product(&gram, &b);
    let square = |j: usize| (0..n).map(|i| b[(i, j)] * image[(i, j)]).sum::<f64>();
    (0..k).map(|j| square(j).max(0.0).sqrt() / model.eigenvalues()[j]).collect()
}

#[test]
fn turning_axes_and_aligning_gives_the_same_bits() {
    let x = problems::mixture(80, 4, 1);
    for earlier in [
        fit(4, "rbf(gamma=0.1)", &x),
        KernelPca::new(4).low_rank(LowRank::pivoted(Rank::Exactly(30))).fit(x.clone()).unwrap(),
        KernelPca::new(4).kernel(spec("linear")).fit(x.clone()).unwrap(),
    ] {
        let flips = [true, false, true, true];
        let (aligned, how) = earlier.clone().flipped(&flips).aligned_to(&earlier, &x).unwrap();
        assert_eq!((how.turned.as_slice(), how.groups.len()), (flips.as_slice(), 0));
        assert_eq!(aligned.scores().unwrap(), earlier.scores().unwrap());
        assert_eq!(aligned.transform(&x).unwrap(), earlier.transform(&x).unwrap());
        assert_eq!(aligned.to_bytes().unwrap(), earlier.to_bytes().unwrap());
        assert!(how.agreement.iter().all(|a| (a - 1.0).abs() < 1e-14) && how.angle < 1e-9, "{how:?}");
        assert!(how.warnings.is_empty(), "{:?}", how.warnings);
        assert!(
            how.sentence.starts_with("3 axes were turned round; every component agrees"),
            "{}",
            how.sentence
        );
        let (again, how) = aligned.aligned_to(&earlier, &x).unwrap();
        assert_eq!(how.turned, [false; 4]);
        assert_eq!(again.scores().unwrap(), earlier.scores().unwrap());
    }
}

#[test]
fn tied_pairs_of_a_circle_are_rotated_back() {
    let (x, values) = problems::circle(40, 1.0);
    // The same points in another order, turned by hand: each pair of axes comes out rotated.
    let order: Vec<usize> = (0..40).map(|i| (7 * i + 3) % 40).collect();
    let shuffled = Matrix::from_fn(40, 2, |i, j| x[(order[i], j)]);
    let (earlier, refitted) = (fit(4, "rbf(gamma=1)", &x), fit(4, "rbf(gamma=1)", &shuffled));
    let before = reference::difference(&earlier.transform(&x).unwrap(), &refitted.transform(&x).unwrap());
    assert!(before > 0.1, "the axes differ before");
    let (aligned, how) = refitted.aligned_to(&earlier, &x).unwrap();
    assert_eq!(how.groups, [(0, 1), (2, 3)]);
    // Scores of size √ω; subspaces are right to rounding over the gap.
    let gap = reference::difference(&earlier.transform(&x).unwrap(), &aligned.transform(&x).unwrap());
    assert!(gap < 1e-10, "{gap}");
    assert!(how.agreement.iter().all(|a| *a > 1.0 - 1e-12) && how.angle < 1e-8);
    assert!(
        how.warnings[0].starts_with("eigenvalues of components 1 and 2 lie within 0.00 %"),
        "{:?}",
        how.warnings
    );
    assert!((aligned.eigenvalues()[0] - values[0]).abs() < 1e-10);
    laws::model(&aligned, &shuffled, 1e-10);
    let loaded = FittedKernelPca::from_bytes(&aligned.to_bytes().unwrap()).unwrap();
    assert!(reference::difference(&loaded.scores().unwrap(), &aligned.scores().unwrap()) < 1e-10);
}

#[test]
fn a_near_tie_is_rotated_and_scores_stay_true_also_after_loading() {
    let x = with_variances(64, &[1.006, 1.0, 0.3], 0.0);
    // The near-tie the other way round and turned by 40°: axes are unrelated, the plane is the same.
    let new = with_variances(64, &[1.0, 1.006, 0.3], 0.7);
    let (earlier, refitted) = (fit(3, "linear", &x), fit(3, "linear", &new));
    assert_eq!(refitted.plan().route, Route::Dual);
    let (aligned, how) = refitted.clone().aligned_to(&earlier, &x).unwrap();
    assert_eq!((how.groups.as_slice(), how.turned[2]), ([(0, 1)].as_slice(), how.turned[2]));
    assert!(how.agreement.iter().all(|a| *a > 0.999), "{how:?}");
    // Scores are what transform gives of the samples, before and after loading, and after dropping a component of the pair.
    let agree = |model: &FittedKernelPca| {
        let gap = reference::difference(&model.scores().unwrap(), &model.transform(&new).unwrap());
        assert!(gap < 1e-12, "{gap:e}");
    };
    agree(&aligned);
    let loaded = FittedKernelPca::from_bytes(&aligned.to_bytes().unwrap()).unwrap();
    agree(&loaded);
    agree(&FittedKernelPca::from_bytes(&loaded.clone().keeping(1).to_bytes().unwrap()).unwrap());
    assert_eq!(loaded.to_bytes().unwrap(), aligned.to_bytes().unwrap());
    // What A·nλ would say is off by the width of the tie.
    let a = aligned.coefficients();
    let naive = Matrix::from_fn(64, 3, |i, j| a[(i, j)] * aligned.eigenvalues()[j]);
    assert!(reference::difference(&naive, &aligned.scores().unwrap()) > 1e-4);
    // Eigenvalues stay, residuals are bounds of the rotated axes, the group is named.
    assert_eq!(aligned.eigenvalues(), refitted.eigenvalues());
    assert_eq!(aligned.certificate().ties, [(0, 1)]);
    let truth = true_residuals(&aligned, "linear", &new);
    for (bound, residual) in aligned.certificate().residuals.iter().zip(&truth) {
        assert!(*bound * (1.0 + 1e-9) + 1e-12 >= *residual && *bound < 0.007, "{bound} {residual}");
    }
    assert!(aligned.warnings().last().unwrap().contains("were rotated together to match an earlier model"));
    // The very samples are still recognised.
    assert!(loaded.certify(new.clone()).is_ok());
    assert!(loaded.certify(x).is_err());
    // Without a width of near-ties only signs are chosen, and the axes do not correspond.
    let options = AlignOptions { near_tie: 0.0, ..AlignOptions::default() };
    let (_, how) = refitted.aligned_with(&earlier, &new, &options).unwrap();
    assert!(how.groups.is_empty() && how.agreement[0] < 0.9, "{how:?}");
    assert!(how.angle < 1e-6, "the subspaces are the same all the same: {}", how.angle);
}

#[test]
fn components_that_change_places_are_named_and_stay() {
    let (x, new) = (with_variances(50, &[2.0, 1.0, 0.5], 0.0), with_variances(50, &[1.0, 2.0, 0.5], 0.0));
    let (earlier, refitted) = (fit(3, "linear", &x), fit(3, "linear", &new));
    let (aligned, how) = refitted.clone().aligned_to(&earlier, &x).unwrap();
    assert_eq!(aligned.eigenvalues(), refitted.eigenvalues());
    assert!(how.agreement[0] < 1e-10 && how.agreement[1] < 1e-10 && how.agreement[2] > 1.0 - 1e-10);
    assert!(how.warnings[0].contains(
        "component 1 is not the earlier one (agreement 0.00): it looks like the earlier component 2"
    ));
    assert!(how.angle < 1e-6);
}

#[test]
fn the_worked_example_has_no_tie_unless_a_wide_one_is_asked_for() {
    let x: Matrix<f64> = data::worked_example().unwrap().samples.points().to_dense();
    let earlier = fit(3, "polynomial(degree=2)", &x);
    let refitted = earlier.clone().flipped(&[false, true, false]);
    let (_, how) = refitted.clone().aligned_to(&earlier, &x).unwrap();
    assert_eq!((how.groups.len(), how.turned.as_slice()), (0, [false, true, false].as_slice()));
    assert!(how.warnings[0].starts_with("4 common rows for 3 components"), "{:?}", how.warnings);
    // 277.93 and 252 differ by 9.3 %.
    let options = AlignOptions { near_tie: 0.1, ..AlignOptions::default() };
    let (aligned, how) = refitted.aligned_with(&earlier, &x, &options).unwrap();
    assert_eq!(how.groups, [(0, 1)]);
    assert!(reference::difference(&aligned.scores().unwrap(), &earlier.scores().unwrap()) < 1e-12);
}

#[test]
fn models_of_other_sizes_and_kinds_are_matched_as_far_as_they_go() {
    let x = problems::mixture(90, 4, 5);
    let (small, large) = (fit(2, "rbf(gamma=0.1)", &x), fit(4, "rbf(gamma=0.1)", &x).flipped(&[true; 4]));
    let (aligned, how) = large.aligned_to(&small, &x).unwrap();
    assert_eq!(how.turned, [true, true, false, false]);
    assert_eq!(how.agreement[2..], [0.0, 0.0]);
    assert!(how.warnings[0].starts_with("components 3 to 4 have no earlier one: the earlier model has 2"));
    assert!(how.angle < 1e-6);
    let (_, how) = small.flipped(&[false, true]).aligned_to(&aligned, &x).unwrap();
    assert!(how.agreement.iter().all(|a| *a > 1.0 - 1e-9) && how.turned == [false, true], "{how:?}");
    // A refit on other rows of the same kind: signs as before.
    let (one, two) = (problems::mixture(400, 3, 7), problems::mixture(380, 3, 7));
    let (one, two) =
        (fit(2, "rbf(gamma=0.05)", &one), fit(2, "rbf(gamma=0.05)", &two).flipped(&[true, true]));
    let (_, how) = two.aligned_to(&one, &x.view().first_columns(3).to_matrix()).unwrap();
    assert!(how.agreement.iter().all(|a| *a > 0.95), "{how:?}");
    // A precomputed Gram matrix.
    let gram = reference::gram(&spec("rbf(gamma=0.1)"), &x, &x);
    let given = fit(3, "precomputed", &gram);
    let (_, how) = given.clone().flipped(&[true, false, true]).aligned_to(&given, &gram).unwrap();
    assert_eq!(how.turned, [true, false, true]);
}

#[test]
fn a_rotated_model_without_its_samples_refuses_to_guess_their_scores() {
    let gram = |x: &Matrix<f64>| reference::gram(&spec("linear"), x, x);
    let one = gram(&with_variances(64, &[1.006, 1.0, 0.3], 0.0));
    // Equal variances turned among each other, then one of them a little larger: other vectors over the same samples.
    let waves = with_variances(64, &[1.0, 1.0, 0.3], 0.7);
    let two = gram(&Matrix::from_fn(64, 3, |i, j| waves[(i, j)] * if j == 0 { 1.002 } else { 1.0 }));
    // Both take rows of 64 kernel values; that these stand for the same samples is the caller's word.
    let mixed = Matrix::from_fn(64, 64, |i, j| one[(i, j)] + ((i * 3 + j) as f64).sin());
    let (aligned, how) =
        fit(3, "precomputed", &two).aligned_to(&fit(3, "precomputed", &one), &mixed).unwrap();
    assert!(how.groups == [(0, 1)] && how.turned[0]);
    assert!(reference::difference(&aligned.scores().unwrap(), &aligned.transform(&two).unwrap()) < 1e-10);
    let loaded = FittedKernelPca::from_bytes(&aligned.to_bytes().unwrap()).unwrap();
    let said = message(loaded.scores());
    assert!(said.contains("rotated") && said.ends_with("Transform the Gram matrix with the model"), "{said}");
}

#[test]
fn bad_input_is_refused() {
    let x = problems::mixture(30, 3, 1);
    let model = fit(2, "rbf(gamma=0.1)", &x);
    let few = x.view().rows(0..1).to_matrix();
    assert!(message(model.clone().aligned_to(&model, &few)).starts_with("1 common row(s)"));
    let narrow = x.view().first_columns(2).to_matrix();
    assert!(message(model.clone().aligned_to(&model, &narrow)).contains("rows of 2 columns"));
    for near_tie in [-0.1, 1.0, f64::NAN] {
        let options = AlignOptions { near_tie, ..AlignOptions::default() };
        assert!(message(model.clone().aligned_with(&model, &x, &options)).contains("width of near-ties"));
    }
    let samples: AnySamples = Matrix::from_fn(30, 3, |_, _| 1.0).into();
    // Rows that are all the same have no direction: nothing agrees, and nothing breaks.
    let (_, how) = model.clone().aligned_to(&model, samples.points()).unwrap();
    assert!(how.agreement.iter().all(|a| a.is_finite()));
}
