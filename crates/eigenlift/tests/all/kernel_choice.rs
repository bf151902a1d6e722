//! The choice of bandwidth and number of components for kernel PCA.
// Why: measurements that take minutes tell how far they are.
#![allow(clippy::print_stdout)]

use eigenlift::data::Labels;
use eigenlift::data::{self, AnySamples};
use eigenlift::error::Error;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift::preimage::Preimage;
use eigenlift::progress::{CancelToken, Watch};
use eigenlift::tuning::kernel_choice::{ChooseKernelPca, KernelChoice, Mask};
use eigenlift_testkit::denoising::{Denoising, denoising};
use eigenlift_testkit::problems::noise;

/// The grid of the oracle: widths against the median, numbers of components.
const WIDTHS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Seeds that are tried every time; all ten take minutes.
const SEEDS: u64 = 3;
const COUNTS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];

/// The error that is left when the noisy rows of a problem are denoised.
fn left(problem: &Denoising, kernel: KernelSpec, k: usize) -> f64 {
    let model = KernelPca::new(k).kernel(kernel).fit(problem.train.clone()).unwrap();
    problem.error(&model.denoise_by(&Preimage::new(), &problem.noisy).unwrap().rows)
}

fn chosen(problem: &Denoising) -> (KernelChoice, f64) {
    let choice = ChooseKernelPca::new().choose(&problem.train.clone().into()).unwrap();
    let error = left(problem, choice.kernel_spec().unwrap(), choice.n_components());
    (choice, error)
}

/// The smallest error on the grid, with the clean rows known.
fn oracle(problem: &Denoising) -> f64 {
    let mut best = f64::INFINITY;
    for width in WIDTHS {
        for k in COUNTS {
            let kernel = format!("rbf(gamma={:e})", problem.gamma(width)).parse().unwrap();
            best = best.min(left(problem, kernel, k));
        }
    }
    best
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

/// What the oracle reaches on the ten seeds of each problem, as `oracles_are_those_written_above` finds it.
const ORACLES: [[f64; 10]; 4] = [
    [1.28653, 1.32085, 1.25075, 1.30891, 1.32568, 1.25315, 1.30965, 1.25934, 1.33048, 1.29982],
    [1.60995, 1.56820, 1.53881, 1.59686, 1.67077, 1.57813, 1.59902, 1.54948, 1.56905, 1.62489],
    [0.04603, 0.04618, 0.04998, 0.04902, 0.04490, 0.05194, 0.04119, 0.05344, 0.04316, 0.04781],
    [0.03660, 0.03107, 0.03322, 0.03187, 0.03132, 0.02967, 0.03125, 0.03367, 0.03208, 0.03314],
];

/// The median over seeds of the error at the choice over that of the oracle.
fn within_a_tenth(at: usize, seeds: u64) {
    let ratio = |seed: u64| {
        let problem = &denoising(seed)[at];
        let start = std::time::Instant::now();
        let (choice, error) = chosen(problem);
        let (ratio, seconds) = (error / ORACLES[at][seed as usize - 1], start.elapsed().as_secs_f64());
        println!(
            "{} {seed}: {ratio:.3} at {} with {}, {seconds:.1} s",
            problem.name,
            choice.kernel(),
            choice.n_components()
        );
        ratio
    };
    let ratios: Vec<f64> = (1..=seeds).map(ratio).collect();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let middle = median(ratios);
    println!("problem {at}: median {middle:.3}, worst {worst:.3}");
    assert!(middle <= 1.10, "problem {at}: {middle}");
}

#[test]
#[ignore = "takes minutes; run after changes to the choice"]
fn choices_lie_within_a_tenth_of_the_oracle_over_ten_seeds() {
    (0..4).for_each(|at| within_a_tenth(at, 10));
}

#[test]
#[ignore = "takes a quarter of an hour; run after changes to the problems or to denoising"]
fn oracles_are_those_written_above() {
    for seed in 1..=10 {
        for (problem, oracles) in denoising(seed).iter().zip(ORACLES) {
            let (found, written) = (oracle(problem), oracles[seed as usize - 1]);
            println!("{} {seed}: {found:.5}", problem.name);
            assert!((found - written).abs() < 2e-3 * written, "{} {seed}: {found}", problem.name);
        }
    }
}

#[test]
fn digits_are_denoised_within_a_tenth_of_the_oracle() {
    within_a_tenth(0, 1);
    within_a_tenth(1, 1);
}

#[test]
fn a_circle_is_denoised_within_a_tenth_of_the_oracle() {
    within_a_tenth(2, SEEDS);
}

#[test]
fn a_sine_is_denoised_within_a_tenth_of_the_oracle() {
    within_a_tenth(3, SEEDS);
}

/// Rows near a circle in eight dimensions.
fn circle(n: usize, spread: f64) -> Matrix<f64> {
    let errors = noise(n, 8, 11);
    Matrix::from_fn(n, 8, |i, j| {
        let t = std::f64::consts::TAU * (i as f64 * 0.618_034).fract();
        0.5 * (t - j as f64 * 0.7).cos() + spread * errors[(i, j)]
    })
}

fn choose(settings: ChooseKernelPca, x: &Matrix<f64>) -> KernelChoice {
    settings.choose(&x.clone().into()).unwrap()
}

#[test]
fn a_choice_is_consistent_and_told() {
    let choice = choose(ChooseKernelPca::new(), &circle(120, 0.05));
    let best = choice.points.iter().map(|p| p.error).fold(f64::INFINITY, f64::min);
    let point = &choice.points[choice.chosen];
    assert_eq!(choice.criterion, "masked error");
    assert!(point.error < 0.1 * choice.baseline && point.error < best + 2.0 * point.spread);
    assert!(choice.near.contains(&choice.chosen) && choice.near.iter().all(|at| *at < choice.points.len()));
    assert!((choice.k_range.0..=choice.k_range.1).contains(&choice.n_components()));
    let (low, high) = choice.gamma_range.unwrap();
    assert!((low..=high).contains(&point.bandwidth.unwrap()));
    assert_eq!((choice.n_rows, choice.n_masks), (120, 4));
    assert_eq!(choice.kernel_spec().unwrap().to_string(), choice.kernel());
    assert!(choice.points.iter().all(|p| p.error.is_finite() && p.spread.is_finite() && p.n_masks > 0));
    assert!(choice.points.iter().any(|p| p.n_masks < point.n_masks), "nothing dropped out");
    let start = format!("{}, ", choice.kernel());
    assert!(choice.sentence.starts_with(&start), "{}", choice.sentence);
    assert!(choice.sentence.contains("hidden entries are missed by 0.00"), "{}", choice.sentence);
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let x = circle(100, 0.1);
    let (one, two) = (
        choose(ChooseKernelPca::automatic().threads(1), &x),
        choose(ChooseKernelPca::automatic().threads(2), &x),
    );
    assert_eq!(one, two);
    let labels = Labels::Classes((0..100).map(|i| i % 3).collect());
    let with = |threads| {
        ChooseKernelPca::new().threads(threads).choose_for_labels(&x.clone().into(), &labels).unwrap()
    };
    assert_eq!(with(1), with(2));
}

#[test]
fn what_is_given_is_kept() {
    let x = circle(80, 0.05);
    let fixed = choose(ChooseKernelPca::new().components(Some(5)), &x);
    assert!(fixed.points.iter().all(|p| p.n_components == 5) && fixed.k_range == (5, 5));
    let kernel: KernelSpec = "rbf(gamma=0.5)".parse().unwrap();
    let fixed = choose(ChooseKernelPca::new().kernel(kernel), &x);
    assert!(fixed.points.iter().all(|p| p.kernel == "rbf(gamma=0.5)"));
    assert!(fixed.points.len() > 5);
    let auto = choose(ChooseKernelPca::new().kernel("matern(nu=2.5,length=auto)".parse().unwrap()), &x);
    assert!(auto.kernel().starts_with("matern(nu=2.5,length="), "{}", auto.kernel());
    assert!(choose(ChooseKernelPca::new().most_components(5), &x).points.iter().all(|p| p.n_components <= 5));
}

#[test]
fn a_plane_is_given_to_the_linear_kernel_and_a_circle_to_rbf() {
    let (scores, errors) = (noise(150, 2, 1), noise(150, 8, 2));
    let axes = noise(2, 8, 3);
    let plane = Matrix::from_fn(150, 8, |i, j| {
        scores[(i, 0)] * axes[(0, j)] + scores[(i, 1)] * axes[(1, j)] + 0.05 * errors[(i, j)]
    });
    let choice = choose(ChooseKernelPca::automatic(), &plane);
    assert_eq!((choice.kernel(), choice.n_components()), ("linear", 2), "{}", choice.sentence);
    let bent = Matrix::from_fn(200, 8, |i, j| {
        let t = 4.0 * (i as f64 * 0.618_034).fract() - 2.0;
        axes[(0, j)] * t + axes[(1, j)] * (2.5 * t).sin() + 0.05 * noise(200, 8, 4)[(i, j)]
    });
    let choice = choose(ChooseKernelPca::new().kernel(KernelSpec::Auto), &bent);
    assert!(choice.kernel().starts_with("rbf"), "{}", choice.sentence);
}

#[test]
fn blocks_and_images_are_hidden_together() {
    let x = circle(60, 0.05);
    for mask in [Mask::Blocks(2), Mask::Image { height: 2, width: 4 }] {
        let choice = choose(ChooseKernelPca::new().mask(mask), &x);
        assert!(choice.points[choice.chosen].error < 0.3 * choice.baseline, "{mask:?}: {}", choice.sentence);
    }
    let wrong = ChooseKernelPca::new().mask(Mask::Image { height: 3, width: 3 }).choose(&x.into());
    assert!(wrong.unwrap_err().to_string().starts_with("images of 3×3 in rows of 8 columns"));
}

#[test]
fn noise_few_rows_few_columns_and_edges_are_warned_of() {
    let warned = |choice: &KernelChoice, text: &str| choice.warnings.iter().any(|w| w.contains(text));
    let nothing = choose(ChooseKernelPca::new(), &noise(60, 10, 1));
    assert!(warned(&nothing, "no structure"), "{:?}", nothing.warnings);
    let mut near = nothing.near.iter().map(|at| &nothing.points[*at]);
    let fewest = near.all(|p| p.kernel != nothing.kernel() || p.n_components >= nothing.n_components());
    assert!(!nothing.stands_out && fewest, "{}", nothing.sentence);
    assert!(nothing.sentence.contains("no component stands out from noise"), "{}", nothing.sentence);
    let few = choose(ChooseKernelPca::new(), &Matrix::from_fn(20, 2, |i, j| (i * (j + 1)) as f64));
    assert!(warned(&few, "20 rows are few") && warned(&few, "2 columns are few"), "{:?}", few.warnings);
    let edge = choose(ChooseKernelPca::new().most_components(2), &circle(100, 0.02));
    assert!(warned(&edge, "2 components are the most that were tried"), "{:?}", edge.warnings);
    let fine = choose(ChooseKernelPca::new(), &circle(120, 0.05));
    assert!(fine.warnings.is_empty(), "{:?}", fine.warnings);
}

#[test]
fn bad_input_is_refused_in_words() {
    let refused = |settings: &ChooseKernelPca, x: &Matrix<f64>| {
        settings.choose(&x.clone().into()).unwrap_err().to_string()
    };
    let plain = ChooseKernelPca::new();
    let x = circle(40, 0.1);
    let mut hole = x.clone();
    hole[(3, 2)] = f64::NAN;
    let cases = [
        (refused(&plain, &hole), "row 4, column 3 is NaN"),
        (refused(&plain, &circle(7, 0.1)), "7 rows; a choice needs at least 8"),
        (refused(&plain, &Matrix::from_fn(20, 3, |_, _| 0.5)), "20 rows"),
        (refused(&plain, &Matrix::from_fn(20, 1, |i, _| i as f64)), "1 column"),
        (refused(&plain.clone().components(Some(0)), &x), "0 components"),
        (
            refused(&plain.clone().components(Some(40)), &x),
            "40 components; a choice on these rows can keep 31",
        ),
        (refused(&plain.clone().families(vec![]), &x), "no kernel"),
        (refused(&plain.clone().kernel("cosine".parse().unwrap()), &x), "the kernel cosine"),
        (refused(&plain.clone().max_rows(3), &x), "a choice on 3 rows at most"),
        (refused(&plain, &Matrix::from_fn(20, 3, |i, j| 1e200 * (i * 3 + j) as f64)), ""),
    ];
    for (message, start) in cases {
        assert!(message.starts_with(start), "{message} does not start with {start}");
    }
    let labels =
        |labels: Labels| plain.choose_for_labels(&x.clone().into(), &labels).unwrap_err().to_string();
    assert!(labels(Labels::Classes(vec![0; 39])).starts_with("39 labels for 40 rows"));
    assert!(labels(Labels::Classes(vec![7; 40])).starts_with("labels that are all the same"));
    assert!(labels(Labels::Numbers(vec![1.0; 40])).starts_with("labels that are all the same"));
    let odd = (0..40).map(|i| if i == 5 { f64::NAN } else { f64::from(i) });
    assert!(labels(Labels::Numbers(odd.collect())).starts_with("the label of row 6 is NaN"));
}

#[test]
fn repeated_rows_and_more_columns_than_rows_do_no_harm() {
    let repeated = Matrix::from_fn(60, 6, |i, j| ((i % 5) as f64 * 1.3 + j as f64).sin());
    let choice = choose(ChooseKernelPca::automatic(), &repeated);
    assert!(choice.n_components() <= 4, "{}", choice.sentence);
    let wide = choose(ChooseKernelPca::automatic(), &noise(12, 40, 3));
    assert!(wide.n_components() < 12);
}

#[test]
fn rows_are_sampled_and_single_precision_is_taken() {
    let x = circle(300, 0.05);
    let choice = choose(ChooseKernelPca::new().max_rows(80), &x);
    assert_eq!(choice.n_rows, 80);
    assert!(choice.sentence.contains(", judged on 80 of 300 rows"), "{}", choice.sentence);
    let single: AnySamples = AnySamples::from(circle(80, 0.05)).to_single();
    assert!(ChooseKernelPca::new().choose(&single).is_ok());
}

#[test]
fn a_choice_can_be_stopped() {
    let cancel = CancelToken::default();
    cancel.cancel();
    let settings = ChooseKernelPca::new().watch(Watch::default().cancelled_by(cancel));
    let x: AnySamples = circle(50, 0.1).into();
    assert!(matches!(settings.choose(&x), Err(Error::Cancelled)));
    let labels = Labels::Numbers((0..50).map(f64::from).collect());
    assert!(matches!(settings.choose_for_labels(&x, &labels), Err(Error::Cancelled)));
}

/// Two rings inside each other: a plane through them says nothing, an rbf of the right width everything.
#[test]
fn labels_find_the_width_that_tells_rings_apart() {
    let n = 200;
    let errors = noise(n, 2, 9);
    let x = Matrix::from_fn(n, 2, |i, j| {
        let t = std::f64::consts::TAU * (i as f64 * 0.618_034).fract();
        let radius = if i % 2 == 0 { 1.0 } else { 3.0 };
        radius * [t.cos(), t.sin()][j] + 0.05 * errors[(i, j)]
    });
    let classes = Labels::Classes((0..n).map(|i| 10 + 7 * (i % 2)).collect());
    let choice = ChooseKernelPca::automatic().choose_for_labels(&x.clone().into(), &classes).unwrap();
    assert!(choice.criterion.starts_with("accuracy"), "{}", choice.criterion);
    assert!(choice.points[choice.chosen].error < 0.01, "{}", choice.sentence);
    assert!((choice.baseline - 0.5).abs() < 1e-12);
    // The number that grows with the radius cannot be had from a plane, either.
    let numbers = Labels::Numbers((0..n).map(|i| x[(i, 0)].powi(2) + x[(i, 1)].powi(2)).collect());
    let choice = ChooseKernelPca::automatic().choose_for_labels(&x.into(), &numbers).unwrap();
    assert!(choice.kernel().starts_with("rbf") && choice.criterion.starts_with("R2"), "{}", choice.sentence);
    assert!(choice.points[choice.chosen].error < 0.01, "{}", choice.sentence);
    assert!(
        choice.sentence.contains("an R² of 0.99") || choice.sentence.contains("an R² of 1"),
        "{}",
        choice.sentence
    );
}

#[test]
fn labels_of_noise_are_warned_of_and_digits_are_learned() {
    let labels = Labels::Classes((0..90).map(|i| (i * 7 + i / 3) % 2).collect());
    let choice = ChooseKernelPca::new().choose_for_labels(&noise(90, 5, 2).into(), &labels).unwrap();
    assert!(choice.points[choice.chosen].error > 0.25, "{}", choice.sentence);
    let digits = data::digits().unwrap();
    let labels = Labels::Classes(digits.target.iter().map(|y| y.parse().unwrap()).collect());
    let x = AnySamples::from(digits.samples);
    let choice = ChooseKernelPca::new().max_rows(300).choose_for_labels(&x, &labels).unwrap();
    assert!(choice.points[choice.chosen].error < 0.08, "{}", choice.sentence);
}
