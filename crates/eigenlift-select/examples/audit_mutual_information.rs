//! Whether standard errors of mutual information are the standard deviation of the estimates. An argument is the number of
//! repetitions.
#![allow(clippy::print_stdout)]

use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::engine::Cpu;
use eigenlift::matrix::Matrix;
use eigenlift_select::{Kind, Kinds, MutualInformation};
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target};
use std::process::ExitCode;
use std::sync::Arc;

/// One repetition: a column of so many rows and its labels.
type Draw = fn(&mut Numbers, usize) -> (Vec<f64>, Labels);

fn gaussian(rho: f64, numbers: &mut Numbers, n: usize) -> (Vec<f64>, Labels) {
    let x: Vec<f64> = (0..n).map(|_| numbers.gaussian()).collect();
    let y = x.iter().map(|x| rho * x + (1.0 - rho * rho).sqrt() * numbers.gaussian()).collect();
    (x, Labels::Numbers(y))
}

fn uniform(numbers: &mut Numbers, n: usize) -> (Vec<f64>, Labels) {
    let x: Vec<f64> = (0..n).map(|_| numbers.uniform()).collect();
    let y = x.iter().map(|x| x + 0.5 * numbers.uniform()).collect();
    (x, Labels::Numbers(y))
}

/// Classes of probabilities ⅓, with normal values of different means.
fn mixture(apart: f64, numbers: &mut Numbers, n: usize) -> (Vec<f64>, Labels) {
    let classes: Vec<usize> = (0..n).map(|_| (3.0 * numbers.uniform()) as usize).collect();
    let x = classes.iter().map(|class| apart * *class as f64 + numbers.gaussian()).collect();
    (x, Labels::Classes(classes))
}

/// Four values each; the second is the first with a probability, or else any.
fn counted(same: f64, numbers: &mut Numbers, n: usize) -> (Vec<f64>, Labels) {
    let mut draw = || (4.0 * numbers.uniform()) as usize;
    let x: Vec<usize> = (0..n).map(|_| draw()).collect();
    let y = x.iter().map(|x| if numbers.uniform() < same { *x } else { (4.0 * numbers.uniform()) as usize });
    let y = y.collect();
    (x.iter().map(|x| *x as f64).collect(), Labels::Classes(y))
}

const SETTINGS: [(&str, usize, bool, Draw); 14] = [
    ("Gaussian pairs, ρ = 0.6, n = 300", 300, true, |s, n| gaussian(0.6, s, n)),
    ("Gaussian pairs, ρ = 0, n = 300", 300, true, |s, n| gaussian(0.0, s, n)),
    ("Gaussian pairs, ρ = 0.3, n = 300", 300, true, |s, n| gaussian(0.3, s, n)),
    ("Gaussian pairs, ρ = 0.9, n = 300", 300, true, |s, n| gaussian(0.9, s, n)),
    ("Gaussian pairs, ρ = 0.6, n = 100", 100, true, |s, n| gaussian(0.6, s, n)),
    ("Gaussian pairs, ρ = 0.6, n = 1000", 1000, true, |s, n| gaussian(0.6, s, n)),
    ("uniform, n = 300", 300, true, uniform),
    ("uniform, n = 1000", 1000, true, uniform),
    ("three classes and a number, means 1 apart, n = 300", 300, true, |s, n| mixture(1.0, s, n)),
    ("three classes and a number, means 2 apart, n = 150", 150, true, |s, n| mixture(2.0, s, n)),
    ("three classes and a number, independent, n = 300", 300, true, |s, n| mixture(0.0, s, n)),
    ("4 × 4 counts, 20 % equal, n = 300", 300, false, |s, n| counted(0.2, s, n)),
    ("4 × 4 counts, 70 % equal, n = 300", 300, false, |s, n| counted(0.7, s, n)),
    ("4 × 4 counts, independent, n = 300", 300, false, |s, n| counted(0.0, s, n)),
];

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let repetitions: usize = std::env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let engine = Arc::new(Cpu::new(0)?);
    let mut study = Study::new("mutual information: standard error");
    for (seed, (name, n, continuous, draw)) in SETTINGS.into_iter().enumerate() {
        let mut numbers = Numbers::new(1000 + seed as u64);
        let kind = if continuous { Kind::Continuous } else { Kind::Discrete };
        let settings = MutualInformation::new().kinds(Kinds::All(kind)).engine(engine.clone());
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for _ in 0..repetitions {
            let (x, labels) = draw(&mut numbers, n);
            let x: AnySamples = Matrix::from_vec(x, n, 1)?.into();
            let found = settings.of(&x, &labels)?[0];
            values.push(found.value);
            errors.push(found.error.unwrap_or(f64::NAN));
        }
        let count = repetitions as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
        let variance = squares.iter().sum::<f64>() / (count - 1.0);
        let ratio = errors.iter().sum::<f64>() / count / variance.sqrt();
        // Of the standard deviation, whose relative error is half that of the variance.
        let spread = squares.iter().map(|s| (s - variance).powi(2)).sum::<f64>() / count;
        let error = 0.5 * ratio * (spread / count).sqrt() / variance;
        let statistic = "mean standard error / standard deviation";
        println!("{}", study.line((name, statistic), Target::Near(1.0, 0.1), (ratio, error)));
    }
    Ok(study.exit_code())
}
