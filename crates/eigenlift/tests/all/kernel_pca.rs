//! Kernel PCA against formulas and definitions: every number of the lecture notes that it must reproduce.

use eigenlift::data;
use eigenlift::eigen::Indefinite;
use eigenlift::error::Error;
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::{Dimension, Kernel, KernelSpec, PolynomialMap};
use eigenlift::kernel_check::{Verdict, compare, mercer_check};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca};
use eigenlift::model::Solver;
use eigenlift::progress::Watch;
use eigenlift_testkit::{laws, problems, reference};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn worked_example() -> Matrix<f64> {
    data::worked_example().unwrap().samples.points().to_dense()
}

/// Largest difference up to the sign of whole columns, against numbers printed with eight decimals.
fn assert_printed(got: &Matrix<f64>, printed: &[[f64; 3]; 4]) {
    let printed = Matrix::from_fn(4, 3, |i, j| printed[i][j]);
    assert!(reference::difference_up_to_sign(&printed, got) < 5e-9 * 1.01, "{got:?}");
}

#[test]
fn the_worked_example_digit_for_digit() {
    let x = worked_example();
    let kernel = Kernel::new(&spec("polynomial(degree=2)"), 2).unwrap();
    let k = kernel.matrix((&x).into(), (&x).into());
    assert_eq!(k.as_slice(), [9., 49., 1., 9., 49., 441., 9., 169., 1., 9., 9., 49., 9., 169., 49., 441.]);
    let centred = reference::centred(&k);
    let expected =
        [67., -43., 59., -83., -43., 199., -83., -73., 59., -83., 67., -43., -83., -73., -43., 199.];
    assert!(centred.as_slice().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    let model = KernelPca::new(3).kernel(spec("polynomial(degree=2)")).fit(x.clone()).unwrap();
    for (got, printed) in model.eigenvalues().iter().zip([277.927517, 252.0, 2.07248280]) {
        assert!((got - printed).abs() < 5e-7, "{got} {printed}");
    }
    assert_printed(
        model.coefficients(),
        &[
            [0.00621749, -0.03149704, -0.48587288],
            [0.04195680, 0.03149704, 0.07200050],
            [-0.00621749, -0.03149704, 0.48587288],
            [-0.04195680, 0.03149704, -0.07200050],
        ],
    );
    assert_printed(
        &model.scores().unwrap(),
        &[
            [1.72801191, -7.93725393, -1.00696319],
            [11.66094908, 7.93725393, 0.14921979],
            [-1.72801191, -7.93725393, 1.00696319],
            [-11.66094908, 7.93725393, -0.14921979],
        ],
    );
    // The fourth eigenvalue is 0: it does not exist as a component.
    let all = KernelPca::new(4).kernel(spec("polynomial(degree=2)")).fit(x).unwrap();
    assert_eq!(all.n_components(), 3);
    assert!(all.warnings()[0].starts_with("4 components were asked for and 3 exist"), "{:?}", all.warnings());
}

#[test]
fn three_gaussians_have_the_eigenvalues_of_the_figure() {
    let ranges =
        [(21.6, 23.7), (20.4, 22.7), (3.6, 5.0), (3.3, 4.4), (2.9, 3.9), (2.5, 3.4), (2.1, 3.1), (1.7, 2.8)];
    let set = data::synthetic("three-gaussians", None, None, 57).unwrap();
    let model = KernelPca::new(8).kernel(spec("rbf(c=0.1)")).fit(set.samples).unwrap();
    for (value, (low, high)) in model.eigenvalues().iter().zip(ranges) {
        assert!((low..=high).contains(value), "{:?}", model.eigenvalues());
    }
}

#[test]
fn three_notations_of_a_gaussian_are_one_kernel() {
    let x = problems::noise(9, 3, 1);
    let matrix = |text: &str| Kernel::new(&spec(text), 3).unwrap().matrix((&x).into(), (&x).into());
    let gamma = matrix("rbf(gamma=0.5)");
    assert!(reference::difference(&gamma, &matrix("gaussian(sigma=1)")) < 1e-15);
    assert!(reference::difference(&gamma, &matrix("rbf(c=2)")) < 1e-15);
}

#[test]
fn new_rows_are_centred_as_the_samples_were() {
    let (x, new) = (problems::mixture(120, 5, 2), problems::mixture(30, 5, 3));
    let kernel = spec("rbf(gamma=0.1)");
    let model = KernelPca::new(4).kernel(kernel.clone()).tolerance(1e-10).fit(x.clone()).unwrap();
    laws::model(&model, &x, 1e-11);
    // y(x) = Σ αᵢ k̃(x, xᵢ) with k̃ written out: k(x,xᵢ) − mean k(x,·) − mean k(·,xᵢ) + mean k.
    let (cross, own) = (reference::gram(&kernel, &new, &x), reference::gram(&kernel, &x, &x));
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let (means, grand) = ((0..120).map(|i| mean(own.row(i))).collect::<Vec<_>>(), mean(own.as_slice()));
    let scores = model.transform(&new).unwrap();
    for i in 0..30 {
        for j in 0..4 {
            let centred = |l: usize| cross[(i, l)] - mean(cross.row(i)) - means[l] + grand;
            let expected: f64 = (0..120).map(|l| centred(l) * model.coefficients()[(l, j)]).sum();
            assert!((scores[(i, j)] - expected).abs() < 1e-12);
        }
    }
    // A row's scores do not depend on the rows it comes with.
    let alone = Matrix::from_vec(new.row(7).to_vec(), 1, 5).unwrap();
    assert_eq!(model.transform(&alone).unwrap().row(0).len(), 4);
    for j in 0..4 {
        assert!((model.transform(&alone).unwrap()[(0, j)] - scores[(7, j)]).abs() < 1e-13);
    }
}

#[test]
fn pca_of_the_explicit_map_is_kernel_pca() {
    let x = problems::noise(40, 2, 5);
    let map = PolynomialMap::new(2, 2, 1.0, 1.0).unwrap();
    let (values, scores) = reference::pca_scores(&map.apply((&x).into()));
    let model = KernelPca::new(9).kernel(spec("polynomial(degree=2)")).fit(x).unwrap();
    // Dimension 6, of which centring removes the constant.
    assert_eq!(model.n_components(), 5);
    for j in 0..5 {
        assert!((model.eigenvalues()[j] - values[j]).abs() < 1e-11 * values[0]);
    }
    let kept = Matrix::from_fn(40, 5, |i, j| scores[(i, j)]);
    assert!(reference::difference_up_to_sign(&model.scores().unwrap(), &kept) < 1e-11 * values[0].sqrt());
}

#[test]
fn a_linear_kernel_gives_pca() {
    let x = problems::mixture(300, 6, 4);
    let (values, scores) = reference::pca_scores(&x);
    for (solver, count) in [(Solver::Dense, 6), (Solver::Davidson, 6)] {
        let model = KernelPca::new(count)
            .kernel(spec("linear"))
            .tolerance(1e-12)
            .solver(solver)
            .fit(x.clone())
            .unwrap();
        assert_eq!(model.n_components(), 6, "{solver}");
        for j in 0..6 {
            assert!((model.eigenvalues()[j] - values[j]).abs() < 1e-11 * values[0], "{solver}");
        }
        let gap = reference::difference_up_to_sign(&model.scores().unwrap(), &scores);
        assert!(gap < 1e-9 * values[0].sqrt(), "{solver}: {gap:e}");
        let share: f64 = model.explained_variance_ratio().iter().sum();
        assert!((share - 1.0).abs() < 1e-12, "{share}");
    }
}

#[test]
fn more_components_than_exist_with_many_samples() {
    for (text, d, rank) in [("linear", 3, 3), ("polynomial(degree=2)", 2, 5)] {
        for tolerance in [1e-6, 1e-10] {
            let x = problems::noise(1500, d, 3);
            let model = KernelPca::new(10).kernel(spec(text)).tolerance(tolerance).fit(x.clone()).unwrap();
            assert_eq!(model.n_components(), rank, "{text}");
            assert!(model.warnings()[0].contains("10 components were asked for"), "{:?}", model.warnings());
            assert!(model.certificate().worst_residual() <= 1.1 * tolerance, "{text}");
            laws::model(&model, &x, 10.0 * tolerance);
        }
    }
}

#[test]
fn all_components_of_a_smooth_kernel_down_to_rounding() {
    for set in [data::iris().unwrap(), data::synthetic("moons", Some(300), None, 1).unwrap()] {
        let n = set.samples.n_rows();
        let model = KernelPca::new(n - 1).fit(set.samples).unwrap();
        assert!(model.n_components() > n / 4, "{}: {}", set.name, model.n_components());
        assert!((model.eigenvalues().iter().sum::<f64>() - model.total()).abs() < 1e-10 * model.total());
        assert!(
            model.warnings().iter().any(|w| w.contains("rounding in f64 limits")),
            "{:?}",
            model.warnings()
        );
    }
}

#[test]
fn more_components_than_features() {
    let model = KernelPca::new(12).fit(problems::noise(60, 2, 8)).unwrap();
    assert_eq!(model.n_components(), 12);
}

#[test]
fn dimensions_of_feature_space() {
    let size = |text: &str, d: usize| spec(text).dimension(d);
    assert_eq!(size("polynomial(degree=2,coef0=0)", 2), Dimension::Finite(3));
    assert_eq!(size("polynomial(degree=2)", 2), Dimension::Finite(6));
    assert_eq!(size("polynomial(degree=2)", 3), Dimension::Finite(10));
    assert_eq!(size("rbf", 3), Dimension::Infinite);
    let rank =
        KernelPca::new(20).kernel(spec("polynomial(degree=2)")).fit(problems::noise(200, 3, 1)).unwrap();
    assert_eq!(rank.n_components(), 9);
}

#[test]
fn a_kernel_is_valid_because_its_map_is_exhibited() {
    let x = problems::noise(50, 2, 6);
    let watch = Watch::default();
    let (kernel, map) =
        (spec("expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)"), spec("map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)"));
    let same = compare(&kernel, &map, (&x).into(), 0, &watch).unwrap();
    assert!(same.equal && same.exhibited && same.sentence().contains("feature map is exhibited"));
    let wrong = compare(&kernel, &spec("map(1, x1^2, x2^2)"), (&x).into(), 0, &watch).unwrap();
    assert!(!wrong.equal && wrong.sentence().starts_with("different"), "{}", wrong.sentence());
}

#[test]
fn mercer_check_names_the_most_negative_eigenvalue() {
    let x = problems::noise(80, 3, 7);
    let engine = eigenlift::engine::Cpu::new(2).unwrap();
    let check = |text: &str, x: &Matrix<f64>| {
        mercer_check(&spec(text), &x.clone().into(), &engine, None, 0, &Watch::default()).unwrap()
    };
    for text in
        ["rbf", "laplacian", "linear", "polynomial", "cosine", "matern", "exponential", "rational_quadratic"]
    {
        assert_eq!(check(text, &x).verdict, Verdict::Valid, "{text}");
    }
    let sigmoid = check("sigmoid(gamma=1,coef0=-1)", &x);
    let (values, _) = reference::eigen(&reference::gram(&spec("sigmoid(gamma=1,coef0=-1)"), &x, &x));
    assert_eq!(sigmoid.verdict, Verdict::Indefinite);
    assert!((sigmoid.smallest - values[79]).abs() < 1e-10 * values[0]);
    assert!(sigmoid.sentence().contains(&format!("{:.6e}", values[79])), "{}", sigmoid.sentence());
    let mut broken = reference::gram(&spec("rbf(gamma=1)"), &x, &x);
    broken[(3, 5)] += 0.5;
    assert_eq!(check("precomputed", &broken).verdict, Verdict::NotSymmetric);
    broken[(5, 3)] += 0.5;
    broken[(3, 3)] = -2.0;
    assert_eq!(check("precomputed", &broken).verdict, Verdict::Indefinite);
    assert_eq!(check("expr(x1*y2)", &x).verdict, Verdict::NotSymmetric);
    // Beyond the dense limit only the smallest eigenvalue is looked for.
    let many = problems::noise(1200, 3, 9);
    let large = check("sigmoid(gamma=1,coef0=-1)", &many);
    assert!(!large.exact && large.verdict == Verdict::Indefinite && large.smallest < -1.0);
    assert_eq!(check("rbf", &many).verdict, Verdict::Valid);
}

#[test]
fn clip_and_flip_project_new_rows_as_they_score_samples() {
    let x = problems::noise(80, 3, 7);
    let kernel = spec("sigmoid(gamma=1,coef0=-1)");
    let fit = |repair| KernelPca::new(20).kernel(kernel.clone()).repair(repair).fit(x.clone());
    let (values, _) = reference::eigen(&reference::centred(&reference::gram(&kernel, &x, &x)));
    let clipped = fit(Indefinite::Clip).unwrap();
    laws::model(&clipped, &x, 1e-11);
    (0..clipped.n_components())
        .for_each(|j| assert!((clipped.eigenvalues()[j] - values[j]).abs() < 1e-10 * values[0]));
    let flipped = fit(Indefinite::Flip).unwrap();
    laws::model(&flipped, &x, 1e-11);
    let mut by_size = values.clone();
    by_size.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    (0..20).for_each(|j| assert!((flipped.eigenvalues()[j] - by_size[j]).abs() < 1e-10 * values[0]));
    assert!(flipped.eigenvalues().iter().any(|v| *v < 0.0));
    let text = fit(Indefinite::Refuse).unwrap_err().to_string();
    assert!(text.contains("negative eigenvalue") && text.contains("clip or flip"), "{text}");
    assert!(clipped.warnings()[0].contains("not positive semi-definite"));
}

#[test]
fn the_circle_has_the_eigenvalues_of_a_circulant_matrix() {
    for (n, solver) in [(64, Solver::Dense), (600, Solver::Davidson)] {
        let (x, exact) = problems::circle(n, 2.0);
        let model =
            KernelPca::new(7).kernel(spec("rbf(gamma=2)")).tolerance(1e-11).solver(solver).fit(x).unwrap();
        for (j, value) in model.eigenvalues().iter().enumerate() {
            assert!((value - exact[j]).abs() < 1e-11 * exact[0], "{solver} {j}: {value} {}", exact[j]);
        }
        // Sine and cosine of each frequency tie: pairs of components, and the seventh with what was left out.
        assert_eq!(model.certificate().ties, [(0, 1), (2, 3), (4, 5), (6, 7)], "{solver}");
    }
}

#[test]
fn precomputed_agrees_with_the_kernel_it_was_computed_by() {
    let (x, new) = (problems::mixture(150, 4, 1), problems::mixture(20, 4, 2));
    let kernel = spec("rbf(gamma=0.2)");
    let direct = KernelPca::new(3).kernel(kernel.clone()).fit(x.clone()).unwrap();
    let given = KernelPca::new(3).kernel(spec("precomputed")).fit(reference::gram(&kernel, &x, &x)).unwrap();
    assert!(reference::difference(&direct.scores().unwrap(), &given.scores().unwrap()) < 1e-11);
    let rows = reference::gram(&kernel, &new, &x);
    assert!(
        reference::difference(&direct.transform(&new).unwrap(), &given.transform(&rows).unwrap()) < 1e-11
    );
    let mut lopsided = reference::gram(&kernel, &x, &x);
    lopsided[(4, 9)] += 1.0;
    let text = KernelPca::new(3).kernel(spec("precomputed")).fit(lopsided).unwrap_err().to_string();
    assert!(text.contains("row 10, column 5") && text.contains("must be symmetric"), "{text}");
    let text =
        KernelPca::new(3).kernel(spec("precomputed")).fit(problems::noise(5, 4, 1)).unwrap_err().to_string();
    assert!(text.contains("5 rows and 4 columns") && text.contains("square"), "{text}");
}

#[test]
fn a_function_is_a_kernel_too() {
    let x = problems::noise(60, 3, 2);
    let f = |a: &[f64], b: &[f64]| (-0.3 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp();
    let by_function = KernelPca::new(3).ready_kernel(Kernel::from_fn("mine", f)).fit(x.clone()).unwrap();
    let by_name = KernelPca::new(3).kernel(spec("rbf(gamma=0.3)")).fit(x).unwrap();
    assert!(reference::difference(&by_function.scores().unwrap(), &by_name.scores().unwrap()) < 1e-12);
    assert_eq!(by_function.plan().kernel, "mine");
}

#[test]
fn permuting_samples_permutes_scores() {
    let x = problems::mixture(700, 5, 3);
    let order: Vec<usize> = (0..700).map(|i| (i * 271 + 5) % 700).collect();
    let turned = Matrix::from_fn(700, 5, |i, j| x[(order[i], j)]);
    let fit =
        |x: Matrix<f64>| KernelPca::new(3).kernel(spec("rbf(gamma=0.1)")).tolerance(1e-11).fit(x).unwrap();
    let (a, b) = (fit(x).scores().unwrap(), fit(turned).scores().unwrap());
    let expected = Matrix::from_fn(700, 3, |i, j| a[(order[i], j)]);
    assert!(reference::difference_up_to_sign(&expected, &b) < 1e-9);
}

#[test]
fn all_components_of_a_matrix_with_a_large_mean_are_found() {
    // Centring takes away 10⁴ times what it leaves; beside two components there is rounding alone.
    let x = Matrix::from_fn(100, 2, |i, j| 100.0 + problems::noise(100, 2, 4)[(i, j)]);
    let gram = Matrix::from_fn(100, 100, |i, j| x[(i, 0)] * x[(j, 0)] + x[(i, 1)] * x[(j, 1)]);
    let model = KernelPca::new(100).kernel(spec("precomputed")).fit(gram).unwrap();
    let direct = KernelPca::new(2).kernel(spec("linear")).fit(x).unwrap();
    assert_eq!(model.n_components(), 2);
    for (found, wanted) in model.eigenvalues().iter().zip(direct.eigenvalues()) {
        assert!((found - wanted).abs() < 1e-7 * wanted, "{found} {wanted}");
    }
}

#[test]
fn axes_can_be_turned_round_and_left_out() {
    let x = problems::mixture(80, 3, 5);
    for how in [None, Some(LowRank::pivoted(Rank::Exactly(30)))] {
        let mut settings = KernelPca::new(4).kernel(spec("rbf(gamma=0.3)"));
        if let Some(how) = how {
            settings = settings.low_rank(how);
        }
        let model = settings.fit(x.clone()).unwrap();
        let turned = model.clone().flipped(&[false, true, false, true]).keeping(3);
        let (before, after) = (model.transform(&x).unwrap(), turned.transform(&x).unwrap());
        let wanted = Matrix::from_fn(80, 3, |i, j| if j == 1 { -before[(i, j)] } else { before[(i, j)] });
        assert!(reference::difference(&wanted, &after) < 1e-13);
        assert!(reference::difference(&wanted, &turned.scores().unwrap()) < 1e-10);
        assert_eq!(turned.eigenvalues(), &model.eigenvalues()[..3]);
        // What was left out is now among what was missed.
        let missed = turned.certificate().bounds.missed;
        assert!(missed.is_none_or(|missed| missed >= model.eigenvalues()[3] * (1.0 - 1e-9)), "{missed:?}");
        assert_eq!(turned.certificate().bounds.explained, None);
        assert_eq!(FittedKernelPca::from_bytes(&turned.to_bytes().unwrap()).unwrap().n_components(), 3);
    }
}

#[test]
fn rows_without_variance_have_an_error_of_their_own() {
    let x = Matrix::from_fn(10, 3, |_, j| j as f64);
    for kernel in ["linear", "rbf(gamma=1)"] {
        let error = KernelPca::new(2).kernel(spec(kernel)).fit(x.clone()).unwrap_err();
        assert!(matches!(error, Error::NoVariance { .. }), "{error}");
    }
    assert!(matches!(Pca::new(2).fit(x).unwrap_err(), Error::NoVariance { .. }));
}

#[test]
fn large_matrices_that_were_computed_elsewhere_are_solved_and_judged() {
    // 800 rows: too many for the direct solver. The lower end of this spectrum is a crowd of small positive eigenvalues.
    let x = problems::noise(800, 20, 3);
    let kernel = spec("rbf(gamma=0.02)");
    let gram = reference::gram(&kernel, &x, &x);
    let direct = KernelPca::new(4).kernel(kernel).by_gram_matrix().fit(x).unwrap();
    let given = KernelPca::new(4).kernel(spec("precomputed")).fit(gram.clone()).unwrap();
    for (found, wanted) in given.eigenvalues().iter().zip(direct.eigenvalues()) {
        assert!((found - wanted).abs() < 1e-9 * wanted, "{found} {wanted}");
    }
    assert!(given.warnings().iter().all(|text| !text.contains("semi-definite")), "{:?}", given.warnings());
    // Far from positive: the diagonal taken away.
    let hollow = Matrix::from_fn(800, 800, |i, j| if i == j { 0.0 } else { gram[(i, j)] });
    let hollow = KernelPca::new(4).kernel(spec("precomputed")).fit(hollow).unwrap();
    assert!(hollow.warnings().iter().any(|text| text.contains("semi-definite")), "{:?}", hollow.warnings());
}

// From trace and norm alone 3 of the 10 are certified at the median bandwidth, and none at half of it. The solver's basis
// certifies the first case, the inertia of the matrix the second.
#[test]
fn all_components_are_certified_as_leading() {
    let x = data::digits().unwrap().samples;
    for gamma in [5e-4, 4.4e-3] {
        let settings = KernelPca::new(10).kernel(spec(&format!("rbf(gamma={gamma})")));
        let model = settings.clone().fit(x.clone()).unwrap();
        assert_eq!(model.plan().solver, Solver::Davidson);
        let bounds = model.certificate().bounds;
        assert_eq!(bounds.n_certified, 10, "gamma {gamma}: {bounds:?}");
        let direct = settings.solver(Solver::Dense).fit(x.clone()).unwrap();
        for (interval, value) in model.certificate().intervals.iter().zip(direct.eigenvalues()) {
            assert!(interval.low <= *value && *value <= interval.high, "{interval:?} {value}");
        }
    }
}

/// Fast and slow decay, clusters and noise without structure: no larger eigenvalue was missed, and the certificate proves it.
#[test]
fn all_components_of_the_five_spectra_are_certified_as_leading() {
    for n in [600, 2000] {
        for problem in problems::five_spectra(n) {
            for k in [5, 20] {
                let settings = KernelPca::new(k).kernel(spec(&problem.kernel));
                let model = settings.solver(Solver::Davidson).fit(problem.samples.clone()).unwrap();
                let bounds = model.certificate().bounds;
                assert_eq!(bounds.n_certified, k, "{} of {n}: {bounds:?}", problem.name);
            }
        }
    }
}

// K_c is of the size 1e-5 beside a K of ones: its norm from sums over K is rounding, and must not be taken for a bound.
#[test]
fn a_wide_kernel_has_no_false_bound() {
    let x = problems::noise(700, 5, 1);
    let settings = KernelPca::new(5).kernel(spec("rbf(gamma=1e-6)"));
    let all = settings.clone().solver(Solver::Dense).fit(x.clone()).unwrap();
    let next = {
        let more = KernelPca::new(6).kernel(spec("rbf(gamma=1e-6)")).solver(Solver::Dense).fit(x.clone());
        more.unwrap().eigenvalues().get(5).copied().unwrap_or(0.0)
    };
    for model in [settings.fit(x).unwrap(), all] {
        let missed = model.certificate().bounds.missed.unwrap();
        assert!(missed >= next && next > 0.0, "{missed:e} {next:e}");
    }
}
