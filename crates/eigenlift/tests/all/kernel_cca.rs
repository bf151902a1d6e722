//! Kernel canonical correlation: agreement with others and with slow references, laws, every error, hostile files.

mod agreement;
mod errors;
mod file;
mod laws;
use crate::model_file::parts;

use eigenlift::data::AnySamples;
use eigenlift::matrix::Matrix;
use eigenlift_testkit::problems::noise;

/// Views of n rows, of these widths: independent noise plus one curve that all of them bend differently.
fn related(n: usize, widths: &[usize], seed: u64) -> Vec<Matrix<f64>> {
    let hidden = noise(n, 2, seed);
    let view = |(number, width): (usize, &usize)| {
        let own = noise(n, *width, seed + 10 + number as u64);
        Matrix::from_fn(n, *width, |i, j| {
            let (a, b) = (hidden[(i, 0)], hidden[(i, 1)]);
            let bent = if number == 0 { a } else { a + 0.4 * a * a };
            0.6 * own[(i, j)] + bent * ((j + number) as f64).cos() + 0.7 * b * ((2 * j + number) as f64).sin()
        })
    };
    widths.iter().enumerate().map(view).collect()
}

fn samples(views: &[Matrix<f64>]) -> Vec<AnySamples> {
    views.iter().map(|view| view.clone().into()).collect()
}

/// The plain correlation of two columns.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (a, b) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| f(x - a, y - b)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// The mean over pairs of views of the correlation of component j.
fn mean_correlation(scores: &[Matrix<f64>], j: usize) -> f64 {
    let pairs = (0..scores.len()).flat_map(|v| (v + 1..scores.len()).map(move |w| (v, w)));
    let all: Vec<f64> = pairs.map(|(v, w)| correlation(&scores[v].column(j), &scores[w].column(j))).collect();
    all.iter().sum::<f64>() / all.len() as f64
}
