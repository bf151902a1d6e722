//! Values that are known otherwise.

use super::{any, assert_close, bits, flowers, rings, rows_of, spec};
use eigenlift::data::Samples;
use eigenlift::factor::Regularization::{Auto, Value};
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::Fitted;
use eigenlift::methods::{FittedKernelDiscriminant, KernelDiscriminant};
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::reference::{difference_up_to_sign, eigen, product};

fn linear() -> KernelDiscriminant {
    KernelDiscriminant::new().kernel(spec("linear")).regularization(Value(0.0))
}

fn matrix(rows: &[&[f64]]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

// scikit-learn 1.9.1, LinearDiscriminantAnalysis(solver="eigen") on the built-in irises; signs as ours. It divides S_W by n, as
// we do, so scalings agree without a factor. Rounding: condition of S_W (about 60) times n·u, far below 1e-10.
#[test]
fn linear_kernel_without_regularisation_is_linear_discriminant_analysis() {
    let (x, species) = flowers();
    let model = linear().fit(&any(&x), &species).unwrap();
    let scalings = matrix(&[
        &[-0.8377979357297209, 0.024346847017324594],
        &[-1.5500518738840021, 2.1864966329274202],
        &[2.2235595549637117, -0.9413825816334492],
        &[2.8389936323408502, 2.8680128341523705],
    ]);
    assert_close(&model.projection().coefficients, &scalings, 1e-10, "directions");
    let places = model.transform(&x).unwrap();
    let expected = matrix(&[
        &[-8.143647564470616, 0.3034706551217283],
        &[3.7536219477327863, 1.055118899947427],
        &[4.730700188998701, 0.33540479887190866],
    ]);
    assert_close(&rows_of(&places, &[0, 70, 149]), &expected, 1e-10, "scores");
    let expected = matrix(&[
        &[-63.73319808888972, -1.3899918526133643, -0.28645260715772847],
        &[-73.70362997454025, -1.9735017431648103, -0.14962519812471725],
        &[-76.17047924154504, -3.0815392069433623, -0.04697481168865742],
    ]);
    let found = model.log_probabilities(&rows_of(&x, &[70, 83, 106])).unwrap();
    assert_close(&found, &expected, 1e-10, "log-probabilities");
    // scipy.linalg.eigh of S_B against S_W.
    let ratios = model.eigenvalues();
    assert!((ratios[0] - 32.191929198278).abs() < 1e-9 && (ratios[1] - 0.2853910426230747).abs() < 1e-11);
    assert_eq!(model.training_accuracy(), 0.98);
    assert_eq!((model.n_components(), model.n_classes(), model.rank(), model.left_out()), (2, 3, 2, None));
}

// As above with 50, 20 and 10 rows of the classes: shares of the rows are the priors.
#[test]
fn unbalanced_classes_count_with_their_shares() {
    let (x, species) = flowers();
    let kept: Vec<usize> = (0..70).chain(100..107).chain(130..133).collect();
    let classes: Vec<u32> = kept.iter().map(|row| species[*row]).collect();
    let model = linear().fit(&any(&rows_of(&x, &kept)), &classes).unwrap();
    assert_eq!(model.priors(), [0.625, 0.25, 0.125]);
    let expected = matrix(&[
        &[-96.9668139918518, -1.0432317991439126, -0.4343496250380829],
        &[-108.45925136018977, -1.9210462478610864, -0.15835543842375574],
        &[-104.568688569827, -2.1494932769550563, -0.12391288251831212],
    ]);
    let found = model.log_probabilities(&rows_of(&x, &[70, 83, 106])).unwrap();
    assert_close(&found, &expected, 1e-9, "log-probabilities");
}

// scipy.linalg.eigh of S_B against S_W + 0.3·I on the irises.
#[test]
fn regularisation_is_added_to_the_covariance_within() {
    let (x, species) = flowers();
    let model = linear().regularization(Value(0.3)).fit(&any(&x), &species).unwrap();
    let ratios = model.eigenvalues();
    assert!((ratios[0] - 7.604322938921104).abs() < 1e-11 && (ratios[1] - 0.0739397376221345).abs() < 1e-12);
}

/// Kernel Fisher discriminants from the Gram matrix (Mika): coefficients α over samples that maximise αᵀMα for
/// αᵀ(N/n + κK)α = 1, with M and N the scatter between and within classes of the columns of K. Scores are k(x, X)α minus their mean.
fn dual(gram: &Matrix<f64>, classes: &[u32], kappa: f64) -> (Matrix<f64>, Vec<f64>) {
    let n = gram.n_rows();
    let count = |c: u32| classes.iter().filter(|class| **class == c).count() as f64;
    let mean = |rows: &dyn Fn(usize) -> bool, size: f64, j: usize| {
        (0..n).filter(|i| rows(*i)).map(|i| gram[(j, i)]).sum::<f64>() / size
    };
    let n_classes = classes.iter().max().unwrap() + 1;
    let all: Vec<f64> = (0..n).map(|j| mean(&|_| true, n as f64, j)).collect();
    let own: Vec<Vec<f64>> =
        (0..n_classes).map(|c| (0..n).map(|j| mean(&|i| classes[i] == c, count(c), j)).collect()).collect();
    let within = Matrix::from_fn(n, n, |a, b| {
        let apart = |i: usize, j: usize| gram[(j, i)] - own[classes[i] as usize][j];
        (0..n).map(|i| apart(i, a) * apart(i, b)).sum::<f64>() / n as f64 + kappa * gram[(a, b)]
    });
    let between = Matrix::from_fn(n, n, |a, b| {
        let apart = |c: u32, j: usize| own[c as usize][j] - all[j];
        (0..n_classes).map(|c| count(c) / n as f64 * apart(c, a) * apart(c, b)).sum()
    });
    let (values, vectors) = eigen(&within);
    let root = Matrix::from_fn(n, n, |i, j| vectors[(i, j)] / values[j].sqrt());
    let turned = Matrix::from_fn(n, n, |i, j| root[(j, i)]);
    let (ratios, small) = eigen(&product(&product(&turned, &between), &root));
    let rank = n_classes as usize - 1;
    let alpha = product(&root, &Matrix::from_fn(n, rank, |i, j| small[(i, j)]));
    (alpha, ratios[..rank].to_vec())
}

// The dual problem squares the condition of K, 4e3 here, and κ sets the floor: 1e-8 is what it allows.
#[test]
fn all_points_as_landmarks_equal_the_dual() {
    let mut draw = Numbers::new(3);
    let x = Matrix::from_fn(36, 3, |_, _| 4.0 * draw.uniform());
    let classes: Vec<u32> =
        (0..36).map(|i| u32::from(x[(i, 0)] > 1.7) + u32::from(x[(i, 1)] > 2.5)).collect();
    let kernel = Kernel::new(&spec("rbf(gamma=0.4)"), 3).unwrap();
    let kappa = 0.02;
    let gram = kernel.matrix((&x).into(), (&x).into());
    let (alpha, ratios) = dual(&gram, &classes, kappa);
    let model = KernelDiscriminant::new()
        .kernel(spec("rbf(gamma=0.4)"))
        .regularization(Value(kappa))
        .fit(&any(&x), &classes)
        .unwrap();
    for (own, reference) in model.eigenvalues().iter().zip(&ratios) {
        assert!((own / reference - 1.0).abs() < 1e-8, "{own} {reference}");
    }
    let centre: Vec<f64> =
        (0..2).map(|j| product(&gram, &alpha).column(j).iter().sum::<f64>() / 36.0).collect();
    let new = Matrix::from_fn(9, 3, |_, _| 4.0 * draw.uniform());
    for rows in [&x, &new] {
        let raw = product(&kernel.matrix(rows.into(), (&x).into()), &alpha);
        let expected = Matrix::from_fn(rows.n_rows(), 2, |i, j| raw[(i, j)] - centre[j]);
        let gap = difference_up_to_sign(&model.transform(rows).unwrap(), &expected);
        assert!(gap < 1e-8, "{gap:e}");
    }
    // The same from the Gram matrix itself.
    let by_gram = KernelDiscriminant::new()
        .kernel(spec("precomputed"))
        .regularization(Value(kappa))
        .fit(&any(&gram), &classes)
        .unwrap();
    let cross = kernel.matrix((&new).into(), (&x).into());
    let gap = difference_up_to_sign(&by_gram.transform(&cross).unwrap(), &model.transform(&new).unwrap());
    assert!(gap < 1e-8, "{gap:e}");
}

#[test]
fn a_direction_without_variance_within_is_the_best_one_and_needs_regularisation() {
    // Class 0 at x = 0, class 1 at x = 1, the same rows in y: S_B = ¼ along x, S_W = 0 there.
    let x =
        Matrix::from_fn(20, 2, |i, j| if j == 0 { (i / 10) as f64 } else { ((i % 10) as f64 * 1.3).sin() });
    let classes: Vec<u32> = (0..20).map(|i| i / 10).collect();
    let model = linear().regularization(Value(1e-3)).fit(&any(&x), &classes).unwrap();
    assert!((model.eigenvalues()[0] - 250.0).abs() < 1e-9, "{:?}", model.eigenvalues());
    let message = linear().fit(&any(&x), &classes).unwrap_err().to_string();
    assert!(message.contains("1 direction(s) without variance within"), "{message}");
    // However small, it is one.
    let faint = linear().regularization(Value(1e-300)).fit(&any(&x), &classes).unwrap();
    assert!(faint.eigenvalues()[0] > 1e12 && faint.training_accuracy() == 1.0, "{:?}", faint.eigenvalues());
    // A column that says nothing new adds a direction in which nothing varies; it is left out.
    let twice =
        |x: &Matrix<f64>| Matrix::from_fn(x.n_rows(), 5, |i, j| if j < 4 { x[(i, j)] } else { x[(i, 0)] });
    let (x, species) = flowers();
    let (once, more) = (linear().fit(&any(&x), &species), linear().fit(&any(&twice(&x)), &species));
    let (once, more) = (once.unwrap(), more.unwrap());
    assert_close(
        &once.log_probabilities(&x).unwrap(),
        &more.log_probabilities(&twice(&x)).unwrap(),
        1e-8,
        "with a column twice",
    );
}

#[test]
fn rings_need_a_kernel_and_the_regularisation_is_chosen() {
    let (x, classes) = rings(240, 5);
    let (new, truth) = rings(90, 6);
    let fit = |kernel: &str| KernelDiscriminant::new().kernel(spec(kernel)).fit(&any(&x), &classes).unwrap();
    let share = |model: &FittedKernelDiscriminant| {
        let found = model.predict(&new).unwrap();
        found.iter().zip(&truth).filter(|(a, b)| a == b).count() as f64 / 90.0
    };
    let (round, flat) = (fit("rbf(gamma=0.5)"), fit("linear"));
    assert!(share(&round) >= 0.97 && share(&flat) < 0.6, "{} {}", share(&round), share(&flat));
    let (mean, error) = round.held_out_accuracy().unwrap();
    assert!(mean > 0.97 && error < 0.03, "{mean} {error}");
    let curve = round.curve().unwrap();
    assert_eq!(curve.shares.len(), 13);
    let best = curve.scores[curve.chosen];
    assert!(curve.scores.iter().all(|score| *score <= best) && mean <= best, "{mean} {curve:?}");
    // tr C of an rbf kernel is 1 − ‖mean φ‖², between 0 and 1; κ is the share of it that was chosen.
    let total = round.regularization() / curve.shares[curve.chosen];
    let gram = Kernel::new(&spec("rbf(gamma=0.5)"), 2).unwrap().matrix((&x).into(), (&x).into());
    let expected = 1.0 - gram.as_slice().iter().sum::<f64>() / (240.0 * 240.0);
    assert!((total - expected).abs() < 1e-10, "{total} {expected}");
}

#[test]
fn landmarks_come_close_and_say_what_they_leave_out() {
    let (x, classes) = rings(1200, 7);
    let model = KernelDiscriminant::new()
        .kernel(spec("rbf(gamma=0.5)"))
        .with(|f| f.low_rank(LowRank::pivoted(Rank::Exactly(60))))
        .fit(&any(&x), &classes)
        .unwrap();
    assert!(model.held_out_accuracy().unwrap().0 > 0.97);
    assert!(model.left_out().is_some_and(|share| share > 0.0 && share < 0.05), "{:?}", model.left_out());
    assert_eq!(model.plan().rank, 60);
}

#[test]
fn threads_change_no_bit_and_precision_little() {
    let (x, classes) = rings(200, 8);
    let settings = || KernelDiscriminant::new().kernel(spec("rbf(gamma=0.5)")).regularization(Auto);
    let one = settings().with(|f| f.threads(1)).fit(&any(&x), &classes).unwrap();
    let two = settings().with(|f| f.threads(3)).fit(&any(&x), &classes).unwrap();
    assert_eq!(bits(&one.transform(&x).unwrap()), bits(&two.transform(&x).unwrap()));
    assert_eq!(one.curve(), two.curve());
    let single = Samples::from(Matrix::from_fn(200, 2, |i, j| x[(i, j)] as f32));
    let rough = settings().regularization(Value(0.01)).fit(&single.into(), &classes).unwrap();
    let fine = settings().regularization(Value(0.01)).fit(&any(&x), &classes).unwrap();
    let gap = difference_up_to_sign(&rough.transform(&x).unwrap(), &fine.transform(&x).unwrap());
    // Kernel values are off by 6e-8, so features by 2.4e-4, and ‖w‖ ≤ 1/√κ = 10; four of these are allowed for.
    assert!(gap < 1e-2, "single precision: {gap:e}");
}

#[test]
fn fewer_components_are_shown_and_all_classify() {
    let (x, species) = flowers();
    let names: Vec<String> = ["setosa", "versicolor", "virginica"].map(String::from).into();
    let all = linear().class_names(names.clone()).fit(&any(&x), &species).unwrap();
    let one = linear().class_names(names).components(1).fit(&any(&x), &species).unwrap();
    assert_eq!((one.n_components(), one.n_outputs(), one.rank()), (1, 1, 2));
    assert_eq!(one.transform(&x).unwrap().column(0), all.transform(&x).unwrap().column(0));
    assert_eq!(bits(&one.log_probabilities(&x).unwrap()), bits(&all.log_probabilities(&x).unwrap()));
    let fitted: &dyn Fitted = &one;
    let labels = fitted.labels_on(&**fitted.engine(), (&x).into(), &Watch::default()).unwrap().unwrap();
    assert_eq!(fitted.label_words(labels[149]), "virginica");
    assert_eq!(fitted.label_name(), Some("class"));
}

/// Without κ neither the size of a column nor its mean is anything to discriminants.
#[test]
fn sizes_and_offsets_of_columns_do_not_matter_without_regularisation() {
    let (x, classes) = flowers();
    let fit = |x: &Matrix<f64>| {
        let settings = KernelDiscriminant::new().kernel(spec("linear")).regularization(Value(0.0));
        settings.fit(&any(x), &classes).unwrap()
    };
    let plain = fit(&x);
    for (scale, offset) in [(1e8, 0.0), (1e-8, 0.0), (1.0, 3e7)] {
        let other =
            Matrix::from_fn(
                x.n_rows(),
                4,
                |i, j| if j == 2 { scale * x[(i, j)] + offset } else { x[(i, j)] },
            );
        let found = fit(&other);
        assert_eq!(found.predict(&other).unwrap(), plain.predict(&x).unwrap(), "{scale} {offset}");
        // Rows beside an offset of 3e7 keep eight digits.
        let pairs = plain.eigenvalues().iter().zip(found.eigenvalues());
        assert!(pairs.map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max) < 1e-6, "{scale} {offset}");
    }
}
