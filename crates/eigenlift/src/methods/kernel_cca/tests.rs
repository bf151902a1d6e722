//! Held-out correlations by their definition.

use super::KernelCca;
use crate::data::AnySamples;
use crate::data::folds::folds_of;
use crate::factor::{Regularization, SHARES};
use crate::matrix::Matrix;

fn view(n: usize, width: usize, number: usize) -> AnySamples {
    Matrix::from_fn(n, width, |i, j| {
        let own = (((i + 1) * (j + 2) * (7 + number)) as f64 * 0.71).sin();
        let shared = (i as f64 * 0.9).sin() * (j as f64 + number as f64).cos();
        own + 1.5 * shared + 3.0
    })
    .into()
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (a, b) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| f(x - a, y - b)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// κ of each fold is that which does best on the other folds, each held out in turn, among every second share; what is reported is
/// the correlation in the fold. Refitted from the rows, with κ as a number.
#[test]
fn held_out_correlations_with_a_chosen_kappa_are_those_of_nested_folds() {
    let (n, folds, seed) = (60, 3, 5);
    let views = [view(n, 3, 0), view(n, 4, 1)];
    let assigned = folds_of(n, folds, seed);
    let settings = KernelCca::new(1).kernel("linear".parse().unwrap()).folds(folds).with(|f| f.seed(seed));
    let model = settings.fit(&views).unwrap();
    let traces: Vec<f64> = views
        .iter()
        .map(|x| crate::moments::Partial::of_matrix(x.points().to_dense(), 0.0).trace() / n as f64)
        .collect();
    // Columns divided by the root of the view's variance: one κ is then the same share of both.
    let scaled: Vec<AnySamples> = views
        .iter()
        .zip(&traces)
        .map(|(x, trace)| {
            let dense: Matrix<f64> = x.points().to_dense();
            Matrix::from_fn(n, dense.n_cols(), |i, j| dense[(i, j)] / trace.sqrt()).into()
        })
        .collect();
    let measured = |held: &[u32], fold: u32, share: f64| {
        let rows =
            |keep: &dyn Fn(u32) -> bool| -> Vec<usize> { (0..n).filter(|i| keep(assigned[*i])).collect() };
        let (training, inside) = (rows(&|f| !held.contains(&f)), rows(&|f| f == fold));
        let of = |which: &[usize]| -> Vec<AnySamples> { scaled.iter().map(|x| x.gather(which)).collect() };
        let fixed = settings.clone().regularization(Regularization::Value(share)).folds(2);
        let model = fixed.fit(&of(&training)).unwrap();
        let scores: Vec<Matrix<f64>> =
            of(&inside).iter().enumerate().map(|(v, x)| model.transform(v, x.points()).unwrap()).collect();
        correlation(&scores[0].column(0), &scores[1].column(0))
    };
    let shares: Vec<f64> = SHARES.iter().copied().step_by(2).collect();
    let found: Vec<f64> = (0..folds as u32)
        .map(|outer| {
            let inner = (0..folds as u32).filter(|fold| *fold != outer);
            let score =
                |share: f64| inner.clone().map(|fold| measured(&[outer, fold], fold, share)).sum::<f64>();
            let best = shares.iter().copied().max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap();
            measured(&[outer], outer, best)
        })
        .collect();
    let mean = found.iter().sum::<f64>() / folds as f64;
    assert!(
        (model.held_out_correlations()[0] - mean).abs() < 1e-8,
        "{:?} {found:?}",
        model.held_out_correlations()
    );
}

/// A fit on all rows but those of a fold, refitted from the rows, projects the rows of the fold; their correlations, mean over
/// pairs of views and over folds, are what the moments gave.
#[test]
fn held_out_correlations_are_those_of_rows_projected_by_fits_without_them() {
    let (n, folds, seed, k) = (60, 4, 5, 2);
    let views = [view(n, 3, 0), view(n, 4, 1), view(n, 2, 2)];
    let assigned = folds_of(n, folds, seed);
    for (kernel, count) in [("linear", 2), ("rbf(gamma=0.1)", 3)] {
        let settings = KernelCca::new(k)
            .kernel(kernel.parse().unwrap())
            .regularization(Regularization::Value(0.03))
            .folds(folds)
            .with(|f| f.seed(seed));
        let views = &views[..count];
        let model = settings.fit(views).unwrap();
        let mut of_folds: Vec<Vec<f64>> = vec![Vec::new(); k];
        for fold in 0..folds as u32 {
            let (inside, outside): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| assigned[*i] == fold);
            let training: Vec<AnySamples> = views.iter().map(|x| x.gather(&outside)).collect();
            let refitted = settings.clone().folds(2).fit(&training).unwrap();
            let scores: Vec<Matrix<f64>> = views
                .iter()
                .enumerate()
                .map(|(view, x)| refitted.transform(view, x.gather(&inside).points()).unwrap())
                .collect();
            for (j, found) in of_folds.iter_mut().enumerate() {
                let pairs = (0..count).flat_map(|v| (v + 1..count).map(move |w| (v, w)));
                let all: Vec<f64> =
                    pairs.map(|(v, w)| correlation(&scores[v].column(j), &scores[w].column(j))).collect();
                found.push(all.iter().sum::<f64>() / all.len() as f64);
            }
        }
        for (j, found) in of_folds.iter().enumerate() {
            let mean = found.iter().sum::<f64>() / folds as f64;
            let squares: f64 = found.iter().map(|r| (r - mean) * (r - mean)).sum();
            let error = (squares / (folds * (folds - 1)) as f64).sqrt();
            // Eigenvectors lose digits by the gaps between correlations, which are of the order of 0.01 here.
            let apart = (model.held_out_correlations()[j] - mean).abs();
            assert!(apart < 1e-8, "{kernel}, {count} views: {apart:e} of {mean}");
            assert!((model.held_out_errors()[j] - error).abs() < 1e-8);
        }
    }
}
