//! T², squared prediction error, their limits, and which columns they come from.

use eigenlift::data::{AnySamples, RowsInMemory};
use eigenlift::eigen::Indefinite;
use eigenlift::engine::Cpu;
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca};
use eigenlift::model::Route;
use eigenlift::monitoring::{Baseline, Contributions, Judgement, LimitRule, Novelty, Statistic};
use eigenlift::progress::{CancelToken, Watch};
use eigenlift_testkit::problems::{noise, sparse};
use eigenlift_testkit::reference::gram;

/// Rounding of a sum of a hundred terms of the size of k(x,x), and the tolerance of the fit.
const ROUNDING: f64 = 1e-8;

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

fn settings(kernel: &str, k: usize) -> KernelPca {
    KernelPca::new(k).kernel(spec(kernel)).tolerance(1e-12)
}

/// By explicit features where the kernel has few: so few rows in memory would go by the Gram matrix.
fn by_features(settings: &KernelPca, x: &Matrix<f64>) -> FittedKernelPca {
    settings.fit(&mut RowsInMemory::new(x)).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn assert_same(a: &Novelty, b: &Novelty, tolerance: f64, what: &str) {
    let t_squared = largest_difference(&a.t_squared, &b.t_squared);
    let spe = largest_difference(&a.spe, &b.spe);
    assert!(t_squared <= tolerance && spe <= tolerance, "{what}: {t_squared:e} {spe:e}");
}

/// Rows on a ring with a little noise.
fn ring(n: usize, seed: u64) -> Matrix<f64> {
    let shake = noise(n, 2, seed);
    Matrix::from_fn(n, 2, |i, j| {
        let t = std::f64::consts::TAU * i as f64 / n as f64;
        [t.cos(), t.sin()][j] + 0.05 * shake[(i, j)]
    })
}

/// By definition: y from α of the centred Gram matrix, ‖φ(x) − mean φ‖² from the whole Gram matrix.
fn slow(model: &FittedKernelPca, kernel: &str, x: &Matrix<f64>, new: &Matrix<f64>) -> Novelty {
    let (k, across) = (gram(&spec(kernel), x, x), gram(&spec(kernel), new, x));
    let own = gram(&spec(kernel), new, new);
    let n = x.n_rows() as f64;
    let row_means: Vec<f64> = (0..x.n_rows()).map(|i| k.row(i).iter().sum::<f64>() / n).collect();
    let grand = row_means.iter().sum::<f64>() / n;
    let (alpha, variances) = (model.coefficients(), model.variances());
    let mut found = Novelty::default();
    for i in 0..new.n_rows() {
        let mean = across.row(i).iter().sum::<f64>() / n;
        let scores: Vec<f64> = (0..alpha.n_cols())
            .map(|c| {
                let centred = |j: usize| across[(i, j)] - mean - row_means[j] + grand;
                (0..x.n_rows()).map(|j| centred(j) * alpha[(j, c)]).sum()
            })
            .collect();
        found.t_squared.push(scores.iter().zip(&variances).map(|(y, v)| y * y / v).sum());
        let held: f64 = scores.iter().map(|y| y * y).sum();
        found.spe.push(own[(i, i)] - 2.0 * mean + grand - held);
    }
    found
}

#[test]
fn the_linear_kernel_gives_the_numbers_of_pca() {
    let (x, new) = (noise(60, 5, 3), noise(9, 5, 4));
    let pca = Pca::new(2).fit(x.clone()).unwrap();
    let scores = pca.transform(&new).unwrap();
    let spe = pca.reconstruction_from(&new, &scores).unwrap().per_row;
    let expected = Novelty { t_squared: pca.t_squared(&scores).unwrap(), spe, ..Novelty::default() };
    let found = pca.novelty(&new).unwrap();
    assert_eq!((&found.t_squared, &found.spe), (&expected.t_squared, &expected.spe));
    for by_gram in [false, true] {
        let settings = settings("linear", 2);
        let model = if by_gram { settings.fit(x.clone()).unwrap() } else { by_features(&settings, &x) };
        assert_same(&model.novelty(&new).unwrap(), &expected, ROUNDING, "linear");
        // Over the rows of the fit the mean of T² is the number of components.
        let own = model.novelty(&x).unwrap();
        assert!((own.t_squared.iter().sum::<f64>() / 60.0 - 2.0).abs() < ROUNDING);
    }
}

#[test]
fn every_exact_route_gives_the_numbers_of_the_definition() {
    let (x, new) = (noise(50, 3, 5), noise(8, 3, 6));
    for kernel in ["polynomial(degree=2,gamma=0.5,coef0=1)", "rbf(gamma=0.2)", "laplacian(gamma=0.3)"] {
        let dual = settings(kernel, 4).by_gram_matrix().fit(x.clone()).unwrap();
        let expected = slow(&dual, kernel, &x, &new);
        let scale = expected.spe.iter().copied().fold(1.0, f64::max);
        assert_same(&dual.novelty(&new).unwrap(), &expected, ROUNDING * scale, kernel);
        if kernel.starts_with("polynomial") {
            let primal = by_features(&settings(kernel, 4), &x);
            assert_eq!(primal.plan().route, Route::Primal);
            assert_same(&primal.novelty(&new).unwrap(), &expected, ROUNDING * scale, kernel);
        }
        let all: Vec<usize> = (0..50).collect();
        let landmarks = settings(kernel, 4).low_rank(LowRank::samples(all)).fit(x.clone()).unwrap();
        assert_same(&landmarks.novelty(&new).unwrap(), &expected, 1e-6 * scale, kernel);
        let rows = gram(&spec(kernel), &new, &x);
        let own: Vec<f64> = (0..8).map(|i| gram(&spec(kernel), &new, &new)[(i, i)]).collect();
        let matrix = gram(&spec(kernel), &x, &x);
        let (engine, watch) = (Cpu::new(1).unwrap(), Watch::default());
        for low_rank in [false, true] {
            let settings = settings("precomputed", 4);
            let settings = match low_rank {
                true => settings.low_rank(LowRank::samples((0..50).collect())),
                false => settings,
            };
            let model = settings.fit(matrix.clone()).unwrap();
            let found = model.novelty_given(&engine, ((&rows).into(), Some(&own)), &watch).unwrap();
            assert_same(&found, &expected, 1e-6 * scale, kernel);
            // In memory the fit knows the diagonal, so its own rows are known too.
            let (here, there) = (model.fit_reference().unwrap(), dual.fit_reference().unwrap());
            assert_same(&here.numbers, &there.numbers, 1e-6 * scale, kernel);
            let message = model.novelty(&rows).unwrap_err().to_string();
            assert!(message.contains("Give k(x,x) beside the rows"), "{message}");
            let message = model.novelty_given(&engine, ((&rows).into(), Some(&own[1..])), &watch);
            assert!(message.unwrap_err().to_string().contains("7 values k(x,x) for 8 rows"));
        }
    }
}

#[test]
fn the_rows_of_the_fit_are_known_without_another_pass() {
    let random = LowRank::fourier(Rank::Exactly(64));
    let some = LowRank::pivoted(Rank::Exactly(20));
    for (kernel, how, n) in [
        ("rbf(gamma=0.2)", None, 119),
        ("rbf(gamma=0.2)", Some(some), 119),
        ("rbf(gamma=0.2)", Some(random), 119),
        ("polynomial(degree=2,gamma=0.5,coef0=1)", None, 619),
    ] {
        let x = noise(n, 3, 7);
        let settings = settings(kernel, 3);
        let model = how.map_or(settings.clone(), |how| settings.low_rank(how)).fit(x.clone()).unwrap();
        let own = model.novelty(&x).unwrap();
        let scale = own.spe.iter().copied().fold(1.0, f64::max);
        let reference = model.fit_reference().unwrap();
        assert!(reference.in_sample && !reference.cross_validated && reference.n_samples() == n);
        assert_same(&reference.numbers, &own, ROUNDING * scale, kernel);
        // Fewer components: T² is smaller, what is off them larger, and both are still known.
        let fewer = model.clone().keeping(2);
        let again = fewer.novelty(&x).unwrap();
        assert_same(&fewer.fit_reference().unwrap().numbers, &again, ROUNDING * scale, kernel);
    }
}

#[test]
fn a_row_in_the_middle_of_a_ring_is_novel() {
    let (x, held_out) = (ring(200, 1), ring(150, 2));
    let model = KernelPca::new(12).kernel(spec("rbf(gamma=1)")).fit(x).unwrap();
    let mut new = ring(40, 3);
    new.view_mut().row_mut(17).fill(0.0);
    new.view_mut().row_mut(23).copy_from_slice(&[3.0, 0.0]);
    let found = model.novelty(&new).unwrap();
    let mut order: Vec<usize> = (0..40).collect();
    order.sort_by(|a, b| found.spe[*b].total_cmp(&found.spe[*a]));
    assert_eq!(
        {
            order[..2].sort_unstable();
            &order[..2]
        },
        &[17, 23]
    );
    let reference = model.novelty(&held_out).unwrap();
    for rule in [LimitRule::Quantile, LimitRule::Parametric] {
        let limits = model.limits_from(&reference, 0.01, rule).unwrap();
        assert!(!limits.in_sample && limits.rows == 150);
        let judged = limits.judge(&found);
        assert!(matches!(judged[17], Judgement::FarOff | Judgement::Both), "{rule}: {limits:?}");
        assert!(matches!(judged[23], Judgement::FarOff | Judgement::Both), "{rule}: {limits:?}");
        let others = (0..40).filter(|i| ![17, 23].contains(i));
        assert!(others.filter(|i| judged[*i] != Judgement::Usual).count() <= 4, "{rule}: {judged:?}");
    }
}

#[test]
fn a_loaded_model_says_the_same_and_saves_the_same_bytes() {
    let (x, new) = (noise(300, 3, 8), noise(9, 3, 9));
    let precomputed = gram(&spec("rbf(gamma=0.2)"), &x, &x);
    let some = || LowRank::pivoted(Rank::Exactly(20));
    let models = [
        settings("rbf(gamma=0.2)", 3).fit(x.clone()).unwrap(),
        settings("rbf(gamma=0.2)", 3).low_rank(some()).fit(x.clone()).unwrap(),
        settings("linear", 2).fit(x.clone()).unwrap(),
        settings("precomputed", 2).low_rank(some()).fit(precomputed).unwrap(),
    ];
    for model in models {
        let bytes = model.to_bytes().unwrap();
        let loaded = FittedKernelPca::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        // An exact model of a kernel has its samples in the file, from which limits come.
        let exact = model.plan().route == Route::Dual && model.plan().kernel != "precomputed";
        assert_eq!(loaded.fit_reference(), model.fit_reference().filter(|_| !exact));
        for rule in [LimitRule::Quantile, LimitRule::Parametric] {
            assert_eq!(loaded.limits(0.01, rule).unwrap(), model.limits(0.01, rule).unwrap());
        }
        if model.plan().kernel != "precomputed" {
            assert_eq!(loaded.novelty(&new).unwrap(), model.novelty(&new).unwrap());
        }
        // What was kept of all components says nothing of fewer.
        match loaded.keeping(1).limits(0.01, LimitRule::Quantile) {
            Ok(limits) => assert!(exact && limits.cross_validated),
            Err(error) => {
                assert!(!exact && error.to_string().contains("limits need reference rows"), "{error}")
            }
        }
    }
}

#[test]
fn models_without_their_rows_ask_for_reference_rows() {
    let x = noise(80, 3, 10);
    let settings = settings("rbf(gamma=0.2)", 2);
    let mut stream = settings.stream(noise(15, 3, 11)).unwrap();
    stream.partial_fit(&x).unwrap();
    let model = stream.finish().unwrap();
    assert_eq!(model.fit_reference(), None);
    let message = model.limits(0.01, LimitRule::Quantile).unwrap_err().to_string();
    assert!(message.contains("limits need reference rows"), "{message}");
    assert!(FittedKernelPca::from_bytes(&model.to_bytes().unwrap()).unwrap().fit_reference().is_none());
    let reference = model.novelty(&noise(99, 3, 12)).unwrap();
    let limits = model.limits_from(&reference, 0.05, LimitRule::Quantile).unwrap();
    // Of the 99 at most (99 + 1)·0.05 exceed either limit, had it been taken from the other 98.
    assert!(limits.share.unwrap() <= 5.0 / 99.0 && limits.share.unwrap() >= 3.0 / 99.0, "{limits:?}");
    assert!(model.limits_from(&Novelty::default(), 0.05, LimitRule::Quantile).is_err());
    assert!(model.limits_from(&reference, 1.5, LimitRule::Quantile).is_err());
}

#[test]
fn kernels_that_are_not_positive_are_refused() {
    let x = noise(40, 3, 13);
    let indefinite =
        settings("sigmoid(gamma=2,coef0=-1)", 8).repair(Indefinite::Flip).fit(x.clone()).unwrap();
    assert!(indefinite.eigenvalues().iter().any(|v| *v < 0.0));
    let message = indefinite.novelty(&x).unwrap_err().to_string();
    assert!(message.contains("positive semi-definite"), "{message}");
    assert!(indefinite.fit_reference().is_none());
    assert_eq!(indefinite.t_squared(&indefinite.scores().unwrap()).unwrap().len(), 40);
    assert!(indefinite.contributions(&x, Statistic::Spe).is_err());
    let message = indefinite.t_squared(&noise(3, 2, 1)).unwrap_err().to_string();
    assert!(message.contains("the model has 8 components"), "{message}");
    // Clipped, the negative part of a row shows as a square below 0.
    let clipped = settings("sigmoid(gamma=2,coef0=-1)", 8).fit(x.clone()).unwrap();
    let message = clipped.novelty(&x).unwrap_err().to_string();
    assert!(message.contains("not positive semi-definite on this row"), "{message}");
}

#[test]
fn precisions_and_sparse_rows_agree() {
    let x = Matrix::from_fn(60, 6, |i, j| if (i * 7 + j * 3) % 4 == 0 { 1.0 + (i % 5) as f64 } else { 0.0 });
    let new = x.view().rows(5..12).to_matrix();
    for kernel in ["rbf(gamma=0.05)", "linear"] {
        let dense = settings(kernel, 3).fit(x.clone()).unwrap();
        let expected = dense.novelty(&new).unwrap();
        let model = settings(kernel, 3).fit(AnySamples::F64(sparse(&x).into())).unwrap();
        assert_same(&model.novelty(&new).unwrap(), &expected, ROUNDING, kernel);
        let contributions = model.contributions(&new, Statistic::Spe).unwrap();
        assert!(contributions.defect < 1e-3);
        let single: Matrix<f32> = Matrix::from_fn(60, 6, |i, j| x[(i, j)] as f32);
        let model = KernelPca::new(3).kernel(spec(kernel)).fit(single).unwrap();
        // Single precision: 6e-8 of k(x,x), in a sum of 60 terms.
        assert_same(&model.novelty(&new).unwrap(), &expected, 2e-3, kernel);
    }
    let model = settings("rbf(gamma=0.05)", 3).fit(x).unwrap();
    assert!(model.novelty(&noise(4, 5, 1)).unwrap_err().to_string().contains("rows of 5 columns"));
    assert!(model.contributions(&noise(4, 5, 1), Statistic::Spe).is_err());
    let cancel = CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    assert!(model.novelty_on(&Cpu::new(1).unwrap(), (&new).into(), &watch).is_err());
}

fn check_sums(found: &Contributions, novelty: &[f64], tolerance: f64, what: &str) {
    for (i, novelty) in novelty.iter().enumerate() {
        let sum: f64 = found.values.row(i).iter().sum();
        let size = found.to[i].abs().max(found.from[i].abs());
        assert!((sum - (found.to[i] - found.from[i])).abs() <= found.defect * size + 1e-12, "{what}");
        assert!((found.to[i] - novelty).abs() <= tolerance, "{what}: {} {novelty}", found.to[i]);
    }
}

#[test]
fn contributions_add_up_and_are_those_of_slow_integration() {
    let (x, new) = (noise(50, 3, 14), noise(5, 3, 15));
    for kernel in
        ["polynomial(degree=2,gamma=0.5,coef0=1)", "rbf(gamma=0.2)", "matern(nu=2.5,length=2)", "linear"]
    {
        for (by_gram, statistic) in [
            (true, Statistic::Spe),
            (true, Statistic::TSquared),
            (false, Statistic::Spe),
            (false, Statistic::TSquared),
        ] {
            let settings = settings(kernel, 2);
            let model = match by_gram || kernel.starts_with("rbf") || kernel.starts_with("matern") {
                true => settings.fit(x.clone()).unwrap(),
                false => by_features(&settings, &x),
            };
            let found = model.contributions(&new, statistic).unwrap();
            let value = |rows: &Matrix<f64>| {
                let novelty = model.novelty(rows).unwrap();
                if statistic == Statistic::Spe { novelty.spe } else { novelty.t_squared }
            };
            check_sums(&found, &value(&new), 1e-6, kernel);
            assert!(found.defect < 1e-3, "{kernel}: {}", found.defect);
            // The middle rule with 200 places and differences by columns.
            let (places, h) = (200, 1e-5);
            for column in 0..3 {
                let i = 2;
                let way = |shift: f64| {
                    Matrix::from_fn(places, 3, |p, j| {
                        let t = (p as f64 + 0.5) / places as f64;
                        let at = found.baselines[(i, j)] + t * (new[(i, j)] - found.baselines[(i, j)]);
                        at + if j == column { shift } else { 0.0 }
                    })
                };
                let (ahead, behind) = (value(&way(h)), value(&way(-h)));
                let slope =
                    ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).sum::<f64>() / places as f64;
                let slow = slope * (new[(i, column)] - found.baselines[(i, column)]);
                let size = found.to[i].max(found.from[i]);
                assert!(
                    (found.values[(i, column)] - slow).abs() < 2e-3 * size,
                    "{kernel} {statistic}: {slow}"
                );
            }
        }
    }
}

#[test]
fn the_linear_kernel_has_the_contributions_of_pca() {
    let (x, new) = (noise(60, 5, 3), noise(9, 5, 4));
    let pca = Pca::new(2).fit(x.clone()).unwrap();
    let model = by_features(&settings("linear", 2), &x);
    let back = pca.inverse_transform(&pca.transform(&new).unwrap()).unwrap();
    for statistic in [Statistic::Spe, Statistic::TSquared] {
        let (found, expected) =
            (model.contributions(&new, statistic).unwrap(), pca.contributions(&new, statistic).unwrap());
        let off = largest_difference(found.values.as_slice(), expected.values.as_slice());
        assert!(off < ROUNDING, "{statistic}: {off:e}");
        assert!(largest_difference(found.baselines.as_slice(), expected.baselines.as_slice()) < ROUNDING);
        check_sums(&expected, &expected.to, 0.0, "pca");
    }
    // The classical ones: x̃ times the residual, column by column.
    let spe = pca.contributions(&new, Statistic::Spe).unwrap();
    for i in 0..9 {
        for j in 0..5 {
            let classical = (new[(i, j)] - pca.mean()[j]) * (new[(i, j)] - back[(i, j)]);
            assert!((spe.values[(i, j)] - classical).abs() < ROUNDING);
        }
    }
    let scaled = Pca::new(2).standardize().fit(x).unwrap();
    let novelty = scaled.novelty(&new).unwrap();
    check_sums(&scaled.contributions(&new, Statistic::Spe).unwrap(), &novelty.spe, ROUNDING, "scaled");
    check_sums(
        &scaled.contributions(&new, Statistic::TSquared).unwrap(),
        &novelty.t_squared,
        ROUNDING,
        "scaled",
    );
}

#[test]
fn the_column_that_was_changed_has_the_largest_contribution() {
    // Eight columns of two hidden numbers; one column of a new row is off.
    let hidden = noise(300, 2, 16);
    let curved = |a: f64, b: f64, j: usize| ((j as f64 + 1.0) * 0.4 * a + b * (j as f64 * 0.9).cos()).sin();
    let x = Matrix::from_fn(300, 8, |i, j| curved(hidden[(i, 0)], hidden[(i, 1)], j));
    let model = KernelPca::new(30).kernel(spec("rbf(gamma=0.3)")).fit(x.clone()).unwrap();
    let landmarks = KernelPca::new(30).kernel(spec("rbf(gamma=0.3)"));
    let landmarks = landmarks.low_rank(LowRank::pivoted(Rank::Exactly(120))).fit(x.clone()).unwrap();
    let random = KernelPca::new(30).kernel(spec("rbf(gamma=0.3)"));
    let random = random.low_rank(LowRank::fourier(Rank::Exactly(400))).fit(x.clone()).unwrap();
    let mut new = x.view().rows(0..40).to_matrix();
    (0..40).for_each(|i| new.view_mut().row_mut(i)[i % 8] += 1.0);
    let (engine, watch) = (Cpu::new(2).unwrap(), Watch::default());
    let message = random.contributions(&new, Statistic::Spe).unwrap_err().to_string();
    assert!(message.contains("Give reference rows"), "{message}");
    for model in [model, landmarks, random] {
        let how = (Statistic::Spe, Baseline::Among((&x).into()));
        let found = model.contributions_on(&engine, (&new).into(), how, &watch).unwrap();
        assert!(found.defect < 1e-3);
        let right = |i: &usize| {
            let row = found.values.row(*i);
            (0..8).max_by(|a, b| row[*a].total_cmp(&row[*b])) == Some(i % 8)
        };
        // By chance it would be 5 of 40; the nearest row may differ in other columns as well.
        let hits = (0..40).filter(right).count();
        assert!(hits >= 32, "{hits} of 40");
    }
}

#[test]
fn the_baseline_is_the_nearest_other_row() {
    let x = noise(40, 3, 17);
    let model = settings("rbf(gamma=0.2)", 3).fit(x.clone()).unwrap();
    // A row of the fit is not explained by itself.
    let found = model.contributions(&x, Statistic::Spe).unwrap();
    for i in 0..40 {
        let distance = |j: usize| (0..3).map(|c| (x[(i, c)] - x[(j, c)]).powi(2)).sum::<f64>();
        let nearest =
            (0..40).filter(|j| *j != i).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
        assert_eq!(found.baselines.row(i), x.row(nearest));
    }
    let (engine, watch) = (Cpu::new(1).unwrap(), Watch::default());
    let one = Matrix::from_fn(1, 3, |_, _| 0.0);
    let from = |rows: &Matrix<f64>| {
        let how = (Statistic::Spe, Baseline::Among(rows.into()));
        model.contributions_on(&engine, (&x).into(), how, &watch)
    };
    assert!(from(&one).unwrap().baselines.as_slice().iter().all(|v| *v == 0.0));
    assert!(from(&Matrix::zeros(0, 3)).is_err() && from(&Matrix::zeros(1, 2)).is_err());
    let itself = x.view().rows(0..1).to_matrix();
    let how = (Statistic::Spe, Baseline::Among((&itself).into()));
    let alone = model.contributions_on(&engine, (&itself).into(), how, &watch).unwrap();
    assert!(alone.values.as_slice().iter().all(|v| *v == 0.0) && alone.defect == 0.0);
    let gram = gram(&spec("rbf(gamma=0.2)"), &x, &x);
    let precomputed = settings("precomputed", 3).fit(gram.clone()).unwrap();
    let message = precomputed.contributions(&gram, Statistic::TSquared).unwrap_err().to_string();
    assert!(message.contains("Fit the rows with a kernel"), "{message}");
}

#[test]
fn limits_of_pca_come_from_its_spectrum() {
    // Normal rows: about one in a hundred new ones exceeds either limit.
    let x = noise(4000, 6, 18);
    let stretched = |x: &Matrix<f64>| Matrix::from_fn(x.n_rows(), 6, |i, j| x[(i, j)] / (j as f64 + 1.0));
    let model = Pca::new(2).fit(stretched(&x)).unwrap();
    let new = model.novelty(&stretched(&noise(4000, 6, 19))).unwrap();
    let limits = model.limits(0.01).unwrap();
    let share = |values: &[f64], limit: f64| values.iter().filter(|v| **v > limit).count() as f64 / 4000.0;
    let either = limits.judge(&new).iter().filter(|one| **one != Judgement::Usual).count() as f64 / 4000.0;
    // The standard error of a share of 0.01 of 4000 rows is 0.0016, and of 0.005 it is 0.0011; χ² is an approximation.
    assert!((either - 0.01).abs() < 0.006, "{either} {limits:?}");
    assert!((share(&new.t_squared, limits.t_squared) - 0.005).abs() < 0.004, "{limits:?}");
    assert!((share(&new.spe, limits.spe.unwrap()) - 0.005).abs() < 0.004, "{limits:?}");
    assert!(limits.warnings[0].contains("assume Gaussian data"), "{limits:?}");
    let by_rows = model.limits_from(&new, 0.01, LimitRule::Quantile).unwrap();
    assert!((by_rows.t_squared / limits.t_squared - 1.0).abs() < 0.1, "{by_rows:?}");
    assert_eq!(Pca::new(6).fit(stretched(&x)).unwrap().limits(0.01).unwrap().spe, None);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (x, new) = (noise(700, 4, 20), noise(90, 4, 21));
    let model = settings("rbf(gamma=0.2)", 5).fit(x).unwrap();
    let watch = Watch::default();
    let of = |threads: usize| {
        let engine = Cpu::new(threads).unwrap();
        let how = (Statistic::Spe, Baseline::Own);
        (
            model.novelty_on(&engine, (&new).into(), &watch).unwrap(),
            model.contributions_on(&engine, (&new).into(), how, &watch).unwrap(),
        )
    };
    assert_eq!(of(1), of(3));
}

/// A model whose components hold everything has no limit on what is left: that is rounding. New samples of an rbf kernel lie off all components.
#[test]
fn where_nothing_is_left_there_is_no_limit_on_it() {
    let x = noise(60, 3, 4);
    let model = settings("linear", 3).fit(x.clone()).unwrap();
    for rule in [LimitRule::Quantile, LimitRule::Parametric] {
        let limits = model.limits(0.05, rule).unwrap();
        assert_eq!((limits.spe, limits.spe_share), (None, None));
        let judged = limits.judge(&model.novelty(&x).unwrap());
        assert!(judged.iter().all(|one| !matches!(one, Judgement::FarOff | Judgement::Both)));
    }
    let whole = Pca::new(3).fit(x.clone()).unwrap();
    let limits =
        whole.limits_from(&whole.novelty(&noise(99, 3, 5)).unwrap(), 0.05, LimitRule::Quantile).unwrap();
    assert_eq!((limits.spe, limits.t_squared_share), (None, Some(4.0 / 99.0)));
    for k in [5, 59] {
        let model = settings("rbf(gamma=0.3)", k).fit(x.clone()).unwrap();
        let limits = model.limits(0.05, LimitRule::Quantile).unwrap();
        assert!(limits.spe.is_some_and(|limit| limit > 0.0), "{limits:?}");
    }
}
