//! Control limits from the samples of the fit by cross-validation, and their false-alarm rate.

use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::monitoring::{Judgement, LimitRule};
use eigenlift::progress::{CancelToken, Watch};
use eigenlift_testkit::problems::noise;
use eigenlift_testkit::reference::gram;

/// Rounding of a sum of a few terms of the size of k(x,x), and the tolerance of the fit.
const ROUNDING: f64 = 1e-8;

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn settings(kernel: &str, k: usize) -> KernelPca {
    KernelPca::new(k).kernel(spec(kernel)).tolerance(1e-12)
}

/// Every route: each fold is judged by a model of the other nine, and limits say where they come from.
#[test]
fn limits_of_the_samples_of_the_fit_are_cross_validated() {
    let x = noise(119, 3, 7);
    let matrix = gram(&spec("rbf(gamma=0.2)"), &x, &x);
    let watch = Watch::default();
    for (kernel, how, data) in [
        ("rbf(gamma=0.2)", None, &x),
        ("rbf(gamma=0.2)", Some(LowRank::pivoted(Rank::Exactly(20))), &x),
        ("rbf(gamma=0.2)", Some(LowRank::fourier(Rank::Exactly(64))), &x),
        ("precomputed", None, &matrix),
    ] {
        let settings = settings(kernel, 3);
        let model =
            how.clone().map_or(settings.clone(), |how| settings.low_rank(how)).fit(data.clone()).unwrap();
        let reference = model.cross_validated(&data.clone().into(), &watch).unwrap();
        assert!(reference.cross_validated && !reference.in_sample && reference.n_samples() == 119);
        let in_sample = model.fit_reference().unwrap().numbers;
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        assert!(
            sum(&reference.numbers.spe) > sum(&in_sample.spe),
            "{kernel}: samples left out lie further off"
        );
        let kept = model.clone().with_cross_validation(&data.clone().into(), &watch).unwrap();
        let limits = kept.limits(0.05, LimitRule::Quantile).unwrap();
        assert!(limits.cross_validated && limits.warnings.is_empty(), "{:?}", limits.warnings);
        assert_eq!(limits, model.limits_of(&reference, 0.05, LimitRule::Quantile).unwrap());
        let loaded = FittedKernelPca::from_bytes(&kept.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.limits(0.05, LimitRule::Quantile).unwrap(), limits);
        let own = model.limits(0.05, LimitRule::Quantile).unwrap();
        match (kernel, how) {
            // An exact model holds its samples.
            ("rbf(gamma=0.2)", None) => assert_eq!(own, limits),
            _ => assert!(own.in_sample && own.warnings[0].contains("rows of the fit"), "{own:?}"),
        }
        assert!(model.cross_validated(&noise(50, 3, 1).into(), &watch).is_err());
        let cancel = CancelToken::default();
        cancel.cancel();
        assert!(model.cross_validated(&data.clone().into(), &Watch::default().cancelled_by(cancel)).is_err());
    }
}

/// (C60) by hand: the numbers of one fold are those of a model of the others.
#[test]
fn a_fold_is_judged_by_a_model_of_the_others() {
    let x = noise(10, 2, 3);
    let model = settings("linear", 1).fit(x.clone()).unwrap();
    let found = model.cross_validated(&x.clone().into(), &Watch::default()).unwrap().numbers;
    // Ten folds of ten samples: each is alone.
    let mut expected: Vec<(f64, f64)> = (0..10)
        .map(|i| {
            let others = Matrix::from_fn(9, 2, |r, j| x[(if r < i { r } else { r + 1 }, j)]);
            let own = Matrix::from_fn(1, 2, |_, j| x[(i, j)]);
            let one = settings("linear", 1).fit(others).unwrap().novelty(&own).unwrap();
            (one.t_squared[0], one.spe[0])
        })
        .collect();
    let mut found: Vec<(f64, f64)> = found.t_squared.into_iter().zip(found.spe).collect();
    expected.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (a, b) in found.iter().zip(&expected) {
        assert!((a.0 - b.0).abs() < ROUNDING && (a.1 - b.1).abs() < ROUNDING, "{a:?} {b:?}");
    }
}

/// The mean false-alarm rate of both limits together is α within 20 % of it: 60 fits of 199 samples, 1000 new ones each, so that the standard
/// error of the mean, √(0.05·0.95·(1/199 + 1/1000)/60), is 0.0022. The long study is `cargo xtask audit control_limits`.
#[test]
fn new_samples_exceed_either_limit_with_probability_alpha() {
    let mut rate = 0.0;
    for seed in 0..60 {
        let skewed = |n: usize, seed: u64| {
            let z = noise(n, 4, seed);
            Matrix::from_fn(n, 4, |i, j| (0.4 * (z[(i, j)] + 0.8 * z[(i, 0)])).exp())
        };
        let model =
            KernelPca::new(3).kernel(spec("rbf(gamma=median)")).threads(1).fit(skewed(199, seed)).unwrap();
        let limits = model.limits(0.05, LimitRule::Quantile).unwrap();
        let judged = limits.judge(&model.novelty(&skewed(1000, 1000 + seed)).unwrap());
        rate += judged.iter().filter(|one| **one != Judgement::Usual).count() as f64 / 60_000.0;
    }
    assert!((rate - 0.05).abs() < 0.01, "{rate}");
}
