//! Rates of p-values up to 0.05 where nothing depends on anything: permutation tests of kernel CCA, mutual information and HSIC, and F tests.
#![allow(clippy::print_stdout)]

use eigenlift::data::Labels;
use eigenlift::error::Result;
use eigenlift::factor::Regularization;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelCca;
use eigenlift_select::{Count, MutualInformation, Selection, SelectionMethod};
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

const REPETITIONS: u64 = 400;
const PERMUTATIONS: usize = 99;
const LEVEL: f64 = 0.05;
/// A valid test exceeds its level by no more than three standard errors of a rate over the repetitions.
const ALLOWED: f64 = 3.0;

fn noise(n: usize, d: usize, numbers: &mut Numbers) -> Matrix<f64> {
    Matrix::from_fn(n, d, |_, _| numbers.gaussian())
}

/// Whether the first canonical correlation of independent views is called significant.
fn canonical(kernel: &str, kappa: Regularization, seed: u64) -> Result<f64> {
    let mut numbers = Numbers::new(seed);
    let views = [noise(60, 2, &mut numbers).into(), noise(60, 3, &mut numbers).into()];
    let model = KernelCca::new(1)
        .kernel(kernel.parse()?)
        .regularization(kappa)
        .permutations(PERMUTATIONS)
        .with(|factor| factor.seed(seed).threads(1))
        .fit(&views)?;
    let p = model.significance().and_then(|found| found.p_values.first().copied()).unwrap_or(f64::NAN);
    Ok(f64::from(u8::from(p <= LEVEL)))
}

/// The fraction of p-values of independent columns up to the level.
fn columns(method: SelectionMethod, classes: bool, seed: u64) -> Result<f64> {
    let mut numbers = Numbers::new(seed ^ 0x5eed);
    let x = noise(100, 4, &mut numbers).into();
    let labels = match classes {
        true => Labels::Classes((0..100).map(|i| i % 3).collect()),
        false => Labels::Numbers((0..100).map(|_| numbers.gaussian()).collect()),
    };
    let scores = match method {
        SelectionMethod::Mi => {
            MutualInformation::new().permutations(PERMUTATIONS).seed(seed).of(&x, &labels)?
        }
        _ => {
            Selection::new(method)
                .features(Count::Exactly(1))
                .permutations(if method == SelectionMethod::Hsic { PERMUTATIONS } else { 0 })
                .seed(seed)
                .select(&x, &labels)?
                .scores
        }
    };
    let small = scores.iter().filter(|score| score.p_value.is_some_and(|p| p <= LEVEL)).count();
    Ok(small as f64 / scores.len().max(1) as f64)
}

fn rate(study: &mut Study, setting: &str, one: impl Fn(u64) -> Result<f64> + Send + Sync) -> Result<()> {
    let found: Vec<f64> = (0..REPETITIONS).into_par_iter().map(one).collect::<Result<_>>()?;
    let error = (LEVEL * (1.0 - LEVEL) / REPETITIONS as f64).sqrt();
    let target = Target::AtMost(LEVEL + ALLOWED * error);
    println!("{}", study.line((setting, "rate of p-values ≤ 0.05"), target, mean_and_error(&found)));
    Ok(())
}

fn run(study: &mut Study) -> Result<()> {
    for (kernel, kappa, words) in [
        ("linear", Regularization::Value(1e-3), "kernel CCA, linear, κ = 0.001"),
        ("rbf(gamma=median)", Regularization::Value(0.1), "kernel CCA, rbf, κ = 0.1"),
        ("rbf(gamma=median)", Regularization::Auto, "kernel CCA, rbf, κ chosen"),
    ] {
        rate(study, words, |seed| canonical(kernel, kappa, seed))?;
    }
    for (method, classes, words) in [
        (SelectionMethod::Mi, false, "mutual information, continuous target"),
        (SelectionMethod::Mi, true, "mutual information, 3 classes"),
        (SelectionMethod::Hsic, false, "HSIC, continuous target"),
        (SelectionMethod::F, false, "F test, continuous target"),
        (SelectionMethod::F, true, "F test, 3 classes"),
    ] {
        rate(study, words, |seed| columns(method, classes, seed))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut study = Study::new("p-values under independence");
    match run(&mut study) {
        Ok(()) => study.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
