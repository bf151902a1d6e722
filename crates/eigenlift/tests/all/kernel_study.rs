//! Studies of kernel PCA against full refits and planted truths: the bandwidth, half samples, permuted columns.

mod align;

use eigenlift::data::{self, AnySamples};
use eigenlift::error::Error;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift::progress::{CancelToken, Watch};
use eigenlift::tuning::kernel_study::{KernelParallel, Sensitivity, Stability};
use eigenlift_testkit::{problems, reference};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

/// A circle of radius 2 in R¹⁰ with noise of standard deviation 0.1 in every direction, at random angles.
fn noisy_circle(n: usize, seed: u64) -> AnySamples {
    let mut numbers = problems::Numbers::new(seed);
    let mut x = Matrix::zeros(n, 10);
    for i in 0..n {
        let angle = std::f64::consts::TAU * numbers.uniform();
        (0..10).for_each(|j| x[(i, j)] = 0.1 * numbers.gaussian());
        x[(i, 0)] += 2.0 * angle.cos();
        x[(i, 1)] += 2.0 * angle.sin();
    }
    x.into()
}

/// The largest angle between spans of orthonormal columns: the smallest cosine is a root of the smallest eigenvalue of CᵀC.
fn slow_angle(q: &Matrix<f64>, p: &Matrix<f64>) -> f64 {
    let turned = |m: &Matrix<f64>| Matrix::from_fn(m.n_cols(), m.n_rows(), |i, j| m[(j, i)]);
    let between = reference::product(&turned(q), p);
    let (values, _) = reference::eigen(&reference::product(&turned(&between), &between));
    values[values.len() - 1].clamp(0.0, 1.0).sqrt().acos().to_degrees()
}

fn unit_columns(scores: &Matrix<f64>) -> Matrix<f64> {
    let norms: Vec<f64> =
        (0..scores.n_cols()).map(|j| scores.column(j).iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
    Matrix::from_fn(scores.n_rows(), scores.n_cols(), |i, j| scores[(i, j)] / norms[j])
}

#[test]
fn every_bandwidth_is_a_full_refit() {
    let x = problems::mixture(45, 3, 4);
    for (text, parameter) in [
        ("rbf(gamma=0.2)", "gamma"),
        ("matern(nu=1.5,length=2)", "length"),
        ("2*exponential(gamma=0.5)", "gamma"),
    ] {
        let study = Sensitivity::new(3).kernel(spec(text)).bandwidths(vec![0.7, 0.1, 1.5]);
        let report = study.study(&x.clone().into()).unwrap();
        assert_eq!((report.points.len(), report.n_rows, &*report.parameter), (4, 45, parameter));
        assert!(report.points.iter().any(|point| point.bandwidth == report.reference));
        let mut bases = Vec::new();
        for point in &report.points {
            let kernel = spec(&point.kernel);
            let model = KernelPca::new(3).kernel(kernel.clone()).tolerance(1e-12).fit(x.clone()).unwrap();
            for (got, expected) in point.shares.iter().zip(model.explained_variance_ratio()) {
                assert!((got - expected).abs() < 1e-12, "{text}: {got} {expected}");
            }
            let gram = reference::gram(&kernel, &x, &x);
            let off: f64 =
                (0..45).map(|i| (0..45).filter(|j| *j != i).map(|j| gram[(i, j)]).sum::<f64>()).sum();
            assert!((point.mean_similarity - off / (45.0 * 44.0)).abs() < 1e-13);
            let (values, _) = reference::eigen(&reference::centred(&gram));
            let rank = values.iter().sum::<f64>().powi(2) / values.iter().map(|v| v * v).sum::<f64>();
            assert!((point.effective_rank - rank).abs() < 1e-10 * rank);
            bases.push(unit_columns(&model.scores().unwrap()));
        }
        let at = report.points.iter().position(|point| point.bandwidth == report.reference).unwrap();
        for (i, point) in report.points.iter().enumerate() {
            // The reference takes an arc cosine: near 0 it is right to √ε, 1e-6 degrees.
            assert!((point.angle_to_reference - slow_angle(&bases[i], &bases[at])).abs() < 3e-6, "{text}");
            let next = bases.get(i + 1).map(|next| slow_angle(&bases[i], next));
            assert_eq!(point.angle_to_next.is_some(), next.is_some());
            assert!((point.angle_to_next.unwrap_or(0.0) - next.unwrap_or(0.0)).abs() < 3e-6);
        }
    }
}

#[test]
fn the_standard_grid_is_the_same_in_every_notation() {
    let x: AnySamples = problems::mixture(80, 4, 1).into();
    let study = |text: &str| Sensitivity::new(2).kernel(spec(text)).study(&x).unwrap();
    let (gamma, sigma) = (study("rbf(gamma=median)"), study("rbf(sigma=0.3)"));
    assert_eq!((gamma.points.len(), sigma.points.len()), (13, 14));
    assert!((gamma.points[0].ratio_to_median - 1.0 / 16.0).abs() < 1e-12);
    assert!((gamma.points[12].ratio_to_median - 16.0).abs() < 1e-12);
    assert_eq!((gamma.reference, sigma.reference), (gamma.median, 0.3));
    // The median of sigma stands for another multiple of the median distance, (K12): sigma² is not 1/(2 gamma) there.
    let ends = (sigma.points[1].ratio_to_median, sigma.points[13].ratio_to_median);
    assert!((ends.1 - 4.0).abs() < 1e-12 && ends.0 < 0.5, "{ends:?}");
    assert!(gamma.points.windows(2).all(|pair| pair[0].bandwidth < pair[1].bandwidth));
    // A narrower kernel has more components in effect and less similarity.
    assert!(gamma.points.windows(2).all(|pair| pair[0].effective_rank < pair[1].effective_rank));
    assert!(gamma.points.windows(2).all(|pair| pair[0].mean_similarity > pair[1].mean_similarity));
}

#[test]
fn a_circle_has_a_wide_plateau_for_two_components_and_a_tie_for_one() {
    let x = noisy_circle(200, 3);
    let two = Sensitivity::new(2).study(&x).unwrap();
    let (low, high) = two.plateau.unwrap();
    assert!(high / low > 8.0 && low <= two.reference && two.reference <= high, "{}", two.sentence);
    assert!(two.sentence.starts_with("the leading 2-dimensional subspace turns by less than 15 degrees"));
    // Points equally spaced: the first two eigenvalues are equal, and one axis is any.
    let (ring, _) = problems::circle(40, 1.0);
    let one = Sensitivity::new(1).study(&ring.into()).unwrap();
    assert!(
        one.warnings.iter().any(|w| w.contains("eigenvalues 1 and 2 differ by 0.00 %")),
        "{:?}",
        one.warnings
    );
}

#[test]
fn large_samples_go_by_iteration_and_agree_with_the_direct_solver() {
    let x: AnySamples = problems::mixture(900, 6, 2).into();
    let study = Sensitivity::new(2).kernel(spec("rbf(gamma=0.05)")).bandwidths(vec![0.02]).max_rows(600);
    let report = study.study(&x).unwrap();
    assert_eq!(report.n_rows, 600);
    let other = study.seed(1).study(&x).unwrap();
    assert_ne!(report.points, other.points, "another seed draws other rows");
    // All 600 rows that there are: the direct solver gives the same shares.
    let x = problems::mixture(600, 6, 2);
    let report =
        Sensitivity::new(2).kernel(spec("rbf(gamma=0.05)")).bandwidths(vec![0.02]).study(&x.clone().into());
    for point in report.unwrap().points {
        let model = KernelPca::new(2).kernel(spec(&point.kernel)).tolerance(1e-10).fit(x.clone()).unwrap();
        for (got, expected) in point.shares.iter().zip(model.explained_variance_ratio()) {
            // Eigenvalues are right to the square of the residual over the gap.
            assert!((got - expected).abs() < 1e-10, "{got} {expected}");
        }
    }
}

#[test]
fn a_circle_is_stable_in_pairs() {
    for seed in 0..3 {
        let report = Stability::new(4).seed(seed).study(&noisy_circle(300, seed)).unwrap();
        assert!(report.stable == 2 || report.stable == 4, "{}", report.sentence);
        let high = |m: usize| report.levels[m - 1].high_angle;
        assert!(high(2) < 10.0 && high(2) < high(1) && high(4) < high(3), "{}", report.sentence);
        // Variances of half samples scatter about that of all rows.
        let first = &report.levels[0];
        assert!((first.mean_variance - first.variance).abs() < 3.0 * first.standard_error, "{first:?}");
    }
}

#[test]
fn noise_is_not_stable_and_clusters_are() {
    let noise: AnySamples = problems::noise(200, 10, 1).into();
    let report = Stability::new(3).study(&noise).unwrap();
    assert_eq!(report.stable, 0, "{}", report.sentence);
    assert!(report.sentence.starts_with("no leading subspace is found again"));
    // Three tight clusters: two directions, whatever rows are drawn.
    let mut numbers = problems::Numbers::new(8);
    let clusters =
        Matrix::from_fn(150, 3, |i, j| f64::from(u8::from(i % 3 == j)) * 4.0 + 0.3 * numbers.gaussian());
    let report = Stability::new(2).study(&clusters.into()).unwrap();
    assert_eq!(report.stable, 2, "{}", report.sentence);
    assert!(report.levels[1].high_angle < 5.0);
}

#[test]
fn stability_of_a_precomputed_matrix_and_of_a_function_is_that_of_the_rows() {
    let x = problems::mixture(90, 4, 3);
    let kernel = spec("rbf(gamma=0.1)");
    let gram = Kernel::new(&kernel, 4).unwrap().matrix((&x).into(), (&x).into());
    let symmetric = Matrix::from_fn(90, 90, |i, j| if i < j { gram[(i, j)] } else { gram[(j, i)] });
    let study = || Stability::new(3).resamples(4).max_rows(70).seed(5);
    let by_rows = study().kernel(kernel).study(&x.clone().into()).unwrap();
    let given = study().kernel(KernelSpec::Precomputed).study(&symmetric.into()).unwrap();
    let function = Kernel::from_fn("by hand", |a, b| {
        (-0.1 * a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>()).exp()
    });
    let called = study().ready_kernel(function).study(&x.into()).unwrap();
    assert_eq!((by_rows.n_rows, &*given.kernel, &*called.kernel), (70, "precomputed", "by hand"));
    for (a, b) in by_rows.levels.iter().zip(given.levels.iter().zip(&called.levels)) {
        for other in [b.0, b.1] {
            assert!(
                (a.mean_angle - other.mean_angle).abs() < 1e-6 && (a.variance - other.variance).abs() < 1e-12
            );
        }
    }
}

#[test]
fn unrelated_columns_have_no_component_in_most_seeds() {
    // The first eigenvalue exceeds the largest of 20 with probability 1/21; more than 4 times in 20 has probability 0.002.
    let found = (0..20).filter(|seed| {
        let x: AnySamples = problems::noise(50, 5, 100 + seed).into();
        KernelParallel::new().seed(*seed).run(&x).unwrap().n_components > 0
    });
    assert!(found.count() <= 4);
}

#[test]
fn a_circle_has_structure_and_its_spectrum_is_the_one_of_the_gram_matrix() {
    let x = noisy_circle(150, 1);
    let report = KernelParallel::new().run(&x).unwrap();
    assert!((2..=8).contains(&report.n_components), "{}", report.sentence);
    assert_eq!((report.permutations, report.n_rows, report.null.len()), (20, 150, 149));
    assert!(report.null.iter().zip(&report.null_mean).all(|(high, mean)| high >= mean));
    let rows: Matrix<f64> = x.points().to_dense();
    let kernel = spec(&report.kernel);
    let (values, _) = reference::eigen(&reference::centred(&reference::gram(&kernel, &rows, &rows)));
    for (got, expected) in report.eigenvalues.iter().zip(&values) {
        // ‖E‖ ≤ n·max|E|: entries of kernel and reference are right to 32 roundings each.
        assert!((got - expected).abs() < 150.0 * 32.0 * f64::EPSILON, "{got} {expected}");
    }
    assert!(
        report.sentence.contains("above what unrelated columns give in 95 % of 20 permutations of 150 rows")
    );
}

#[test]
fn results_do_not_depend_on_threads_precision_of_storage_or_gaps() {
    let x = noisy_circle(420, 2);
    let dense: Matrix<f64> = x.points().to_dense();
    let gaps: AnySamples = AnySamples::F64(problems::sparse(&dense).into());
    let sensitivity = |threads| Sensitivity::new(2).bandwidths(vec![0.1]).threads(threads).study(&x).unwrap();
    assert_eq!(sensitivity(1), sensitivity(3));
    let stability = |threads| Stability::new(2).resamples(3).threads(threads).study(&x).unwrap();
    assert_eq!(stability(1), stability(3));
    let parallel = |x: &AnySamples, threads| {
        KernelParallel::new()
            .kernel(spec("rbf(gamma=0.2)"))
            .permutations(3)
            .max_rows(90)
            .threads(threads)
            .run(x)
            .unwrap()
    };
    assert_eq!(parallel(&x, 1), parallel(&x, 3));
    assert_eq!(parallel(&gaps, 2), parallel(&x, 2));
    let single = Stability::new(2).resamples(3).study(&x.to_single()).unwrap();
    assert!((single.levels[1].high_angle - stability(2).levels[1].high_angle).abs() < 0.1);
    assert_eq!(Sensitivity::new(2).bandwidths(vec![0.1]).study(&gaps).unwrap(), sensitivity(2));
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let iris: AnySamples = data::iris().unwrap().samples.into();
    let nan: AnySamples =
        Matrix::from_fn(10, 2, |i, j| if (i, j) == (4, 1) { f64::NAN } else { i as f64 }).into();
    let same: AnySamples = Matrix::from_fn(10, 2, |_, _| 1.0).into();
    let few: AnySamples = Matrix::from_fn(2, 2, |i, j| (i + j) as f64).into();
    for text in
        ["linear", "polynomial(degree=2)", "laplacian(gamma=1)", "rbf(gamma=1) + linear", "precomputed"]
    {
        let said = message(Sensitivity::new(2).kernel(spec(text)).study(&iris));
        assert!(said.contains("needs a kernel of the distance with one parameter"), "{said}");
    }
    for said in [
        message(Sensitivity::new(2).study(&nan)),
        message(Stability::new(2).study(&nan)),
        message(KernelParallel::new().run(&nan)),
    ] {
        assert!(said.starts_with("row 5, column 2 is NaN"), "{said}");
    }
    assert!(
        message(Sensitivity::new(2).study(&few))
            .starts_with("2 row(s); a study of the bandwidth needs at least 3")
    );
    assert!(
        message(Stability::new(2).study(&few)).starts_with("2 row(s); a study of stability needs at least 6")
    );
    assert!(
        message(KernelParallel::new().run(&few)).starts_with("2 row(s); parallel analysis needs at least 3")
    );
    assert!(message(Sensitivity::new(2).study(&same)).contains("without any distance"));
    assert!(message(Stability::new(2).kernel(spec("rbf(gamma=1)")).study(&same)).contains("look the same"));
    assert!(
        message(KernelParallel::new().kernel(spec("rbf(gamma=1)")).run(&same))
            .starts_with("0 column(s) that vary")
    );
    let line: AnySamples = Matrix::from_fn(20, 1, |i, _| i as f64).into();
    assert!(message(KernelParallel::new().run(&line)).starts_with("1 column(s) that vary"));
    let given = KernelParallel::new().kernel(KernelSpec::Precomputed).run(&iris);
    assert!(message(given).contains("a Gram matrix does not have them"));
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            message(Sensitivity::new(2).bandwidths(vec![wrong]).study(&iris)).contains("positive and finite")
        );
    }
    assert!(message(Sensitivity::new(0).study(&iris)).contains("0 components"));
    assert!(message(Stability::new(0).study(&iris)).contains("0 components"));
    assert!(message(Stability::new(1).resamples(1).study(&iris)).contains("1 half samples"));
    assert!(message(KernelParallel::new().permutations(0).run(&iris)).contains("0 permutations"));
    assert!(message(KernelParallel::new().quantile(1.0).run(&iris)).contains("quantile 1"));
    assert!(message(Stability::new(1).max_rows(3).study(&iris)).starts_with("at most 3 rows"));
    let oblong = Stability::new(1).kernel(KernelSpec::Precomputed).study(&iris);
    assert!(message(oblong).contains("must be square"));
}

#[test]
fn more_components_than_there_are_give_fewer_and_a_warning() {
    let x: AnySamples = problems::noise(8, 2, 1).into();
    let report = Sensitivity::new(20).bandwidths(vec![1.0]).study(&x).unwrap();
    assert_eq!(report.n_components, 7);
    assert!(
        report.warnings.iter().any(|w| w.starts_with("20 components were asked for")),
        "{:?}",
        report.warnings
    );
    let linear = Stability::new(5).kernel(spec("linear")).study(&problems::noise(40, 2, 1).into()).unwrap();
    assert_eq!(linear.levels.len(), 2);
    assert!(
        linear.warnings[0].starts_with("5 components were asked for and 2 exist"),
        "{:?}",
        linear.warnings
    );
}

#[test]
fn a_cancelled_study_stops() {
    let token = CancelToken::default();
    token.cancel();
    let watch = || Watch::default().cancelled_by(token.clone());
    let iris: AnySamples = data::iris().unwrap().samples.into();
    assert!(matches!(Sensitivity::new(2).watch(watch()).study(&iris), Err(Error::Cancelled)));
    assert!(matches!(Stability::new(2).watch(watch()).study(&iris), Err(Error::Cancelled)));
    assert!(matches!(KernelParallel::new().watch(watch()).run(&iris), Err(Error::Cancelled)));
}
