//! False-alarm rates of control limits: 300 reference samples, held out or those of the fit by cross-validation, over 200 repetitions.
#![allow(clippy::print_stdout)]

use eigenlift::error::Result;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca, Pca};
use eigenlift::monitoring::{Judgement, LimitRule, Limits, Novelty};
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

const REPETITIONS: u64 = 200;
const REFERENCE: usize = 300;
const NEW: usize = 2000;
const COLUMNS: usize = 6;
/// How far the mean false-alarm rate may be from α, as a fraction of it.
const ALLOWED: f64 = 0.2;
const DATA: [&str; 6] = ["Gaussian", "t3", "lognormal", "heavy lognormal", "mixture", "two clusters"];
const KERNELS: [(&str, usize); 2] = [("linear", 3), ("rbf(gamma=median)", 8)];
const ALPHAS: [f64; 2] = [0.05, 0.01];

/// Correlated columns of one kind of distribution.
fn rows(kind: &str, n: usize, numbers: &mut Numbers) -> Matrix<f64> {
    let mut x = Matrix::zeros(n, COLUMNS);
    for i in 0..n {
        let z: Vec<f64> = (0..COLUMNS).map(|_| numbers.gaussian()).collect();
        let scale = match kind {
            "t3" => (3.0 / (0..3).map(|_| numbers.gaussian().powi(2)).sum::<f64>()).sqrt(),
            _ => 1.0,
        };
        let cluster = match kind {
            "mixture" => (3.0 * numbers.uniform()).floor() - 1.0,
            // One sample in five, about four standard deviations away.
            "two clusters" => f64::from(u8::from(numbers.uniform() < 0.2)),
            _ => 0.0,
        };
        for j in 0..COLUMNS {
            // A column is its own number and a little of those before it, on scales from 2 to 0.5.
            let mixed = z[j] + 0.5 * z[..j].iter().sum::<f64>();
            let value = 2.0 * 0.76f64.powi(j as i32) * scale * mixed + 6.0 * cluster * ((j % 3) as f64 - 0.5);
            x[(i, j)] = match kind {
                "lognormal" => (0.5 * value).exp(),
                // Standard deviation of the logarithm 1.3.
                "heavy lognormal" => (z[j] + 0.8 * z[0]).exp(),
                _ => value,
            };
        }
    }
    x
}

fn settings((kernel, k): (&str, usize)) -> Result<KernelPca> {
    Ok(KernelPca::new(k).kernel(kernel.parse()?).threads(1))
}

fn alarms(limits: &Limits, new: &Novelty) -> f64 {
    let judged = limits.judge(new);
    judged.iter().filter(|one| **one != Judgement::Usual).count() as f64 / judged.len() as f64
}

/// For each α the false-alarm rate of limits from held-out and from cross-validated samples, then whether parametric limits come with
/// a warning.
fn repetition(kind: &str, kernel: (&str, usize), seed: u64) -> Result<Vec<f64>> {
    let mut numbers = Numbers::new(seed);
    let [fit, reference, new] = [REFERENCE, REFERENCE, NEW].map(|n| rows(kind, n, &mut numbers));
    let model: FittedKernelPca = settings(kernel)?.fit(fit.clone())?;
    let (reference, new) = (model.novelty(&reference)?, model.novelty(&new)?);
    let folds = model.cross_validated(&fit.into(), &Watch::default())?;
    let mut found = Vec::new();
    for alpha in ALPHAS {
        found.push(alarms(&model.limits_from(&reference, alpha, LimitRule::Quantile)?, &new));
        found.push(alarms(&model.limits_of(&folds, alpha, LimitRule::Quantile)?, &new));
    }
    let parametric = model.limits_from(&reference, ALPHAS[0], LimitRule::Parametric)?;
    found.push(f64::from(u8::from(!parametric.warnings.is_empty())));
    found.push(alarms(&parametric, &new));
    Ok(found)
}

fn all(repetition: impl Fn(u64) -> Result<Vec<f64>> + Send + Sync) -> Result<Vec<Vec<f64>>> {
    let found: Vec<Vec<f64>> = (0..REPETITIONS).into_par_iter().map(repetition).collect::<Result<_>>()?;
    let width = found.first().map_or(0, Vec::len);
    Ok((0..width).map(|at| found.iter().map(|row| row[at]).collect()).collect())
}

fn level(alpha: f64) -> Target {
    Target::Near(alpha, ALLOWED * alpha)
}

fn run(study: &mut Study) -> Result<()> {
    for kind in DATA {
        for kernel in KERNELS {
            let columns = all(|seed| repetition(kind, kernel, seed))?;
            for (at, alpha) in ALPHAS.iter().enumerate() {
                for (from, words) in
                    ["held-out reference", "samples of the fit, cross-validated"].iter().enumerate()
                {
                    let setting = format!("{kind}, {}, {words}", kernel.0);
                    let statistic = format!("false-alarm rate of either limit, α = {alpha}");
                    let measured = mean_and_error(&columns[2 * at + from]);
                    println!("{}", study.line((&setting, &statistic), level(*alpha), measured));
                }
            }
            let gaussian = kind == "Gaussian" && kernel.0 == "linear";
            let target = if gaussian { Target::AtMost(0.1) } else { Target::AtLeast(0.9) };
            let setting = format!("{kind}, {}, parametric", kernel.0);
            let [warned, rate] = [4, 5].map(|at| mean_and_error(&columns[at]));
            println!("{}", study.line((&setting, "rate of warnings"), target, warned));
            let target = if gaussian { level(ALPHAS[0]) } else { Target::Shown };
            println!(
                "{}",
                study.line((&setting, "false-alarm rate of either limit, α = 0.05"), target, rate)
            );
        }
    }
    spectrum(study)
}

/// Parametric limits of PCA from its spectrum alone, on the data that they are for.
fn spectrum(study: &mut Study) -> Result<()> {
    let columns = all(|seed| {
        let mut numbers = Numbers::new(seed);
        let [fit, new] = [REFERENCE, NEW].map(|n| rows("Gaussian", n, &mut numbers));
        let model = Pca::new(3).threads(1).fit(fit)?;
        let new = model.novelty(&new)?;
        ALPHAS.iter().map(|alpha| Ok(alarms(&model.limits(*alpha)?, &new))).collect()
    })?;
    for (alpha, column) in ALPHAS.iter().zip(&columns) {
        let statistic = format!("false-alarm rate of either limit, α = {alpha}");
        let setting = "Gaussian, PCA, parametric from the spectrum";
        println!("{}", study.line((setting, &statistic), level(*alpha), mean_and_error(column)));
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut study = Study::new("control limits");
    match run(&mut study) {
        Ok(()) => study.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
