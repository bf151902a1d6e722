//! Bias of the held-out accuracy of kernel discriminant analysis with a chosen κ: classes drawn at random, and classes 1.5 standard deviations
//! apart, against the accuracy of the model on new samples.
#![allow(clippy::print_stdout)]

use eigenlift::error::Result;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelDiscriminant;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

const REPETITIONS: u64 = 200;
const SAMPLES: usize = 90;
const NEW: usize = 2000;
const COLUMNS: usize = 6;

/// Samples of three classes in turn, whose means are `apart` from each other in two columns.
fn rows(n: usize, apart: f64, numbers: &mut Numbers) -> (Matrix<f64>, Vec<u32>) {
    let classes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let x = Matrix::from_fn(n, COLUMNS, |i, j| {
        let shifted = j < 2 && classes[i] as usize == j + 1;
        numbers.gaussian() + if shifted { apart } else { 0.0 }
    });
    (x, classes)
}

/// The accuracy reported, the best of all κ on the same folds, and the accuracy on new samples.
fn repetition((kernel, apart): (&str, f64), seed: u64) -> Result<[f64; 3]> {
    let mut numbers = Numbers::new(seed);
    let ((x, classes), (new, truth)) = (rows(SAMPLES, apart, &mut numbers), rows(NEW, apart, &mut numbers));
    let settings = KernelDiscriminant::new().kernel(kernel.parse()?).with(|how| how.threads(1).seed(seed));
    let model = settings.fit(&x.into(), &classes)?;
    let reported = model.held_out_accuracy().map_or(f64::NAN, |(mean, _)| mean);
    let best = model.curve().map_or(f64::NAN, |curve| curve.scores[curve.chosen]);
    let new: eigenlift::data::AnySamples = new.into();
    let found = model.predict(new.points())?;
    let right = found.iter().zip(&truth).filter(|(a, b)| **a == **b).count();
    Ok([reported, best, right as f64 / NEW as f64])
}

fn run(study: &mut Study) -> Result<()> {
    for (kernel, apart) in [("linear", 0.0), ("rbf(gamma=median)", 0.0), ("rbf(gamma=median)", 1.5)] {
        let found: Vec<[f64; 3]> = (0..REPETITIONS)
            .into_par_iter()
            .map(|seed| repetition((kernel, apart), seed))
            .collect::<Result<_>>()?;
        let of = |f: &dyn Fn(&[f64; 3]) -> f64| mean_and_error(&found.iter().map(f).collect::<Vec<_>>());
        let words = if apart == 0.0 { "classes at random".into() } else { format!("classes {apart} apart") };
        let setting = format!("{SAMPLES} samples of 3 {words}, {kernel}, κ chosen");
        let bias = of(&|row| row[0] - row[2]);
        let target = Target::Near(0.0, 3.0 * bias.1.max(0.003));
        let statistic = "bias of the accuracy reported, nested folds";
        println!("{}", study.line((&setting, statistic), target, bias));
        let best = of(&|row| row[1] - row[2]);
        println!("{}", study.line((&setting, "bias of the best κ on the same folds"), Target::Shown, best));
        println!("{}", study.line((&setting, "accuracy on new samples"), Target::Shown, of(&|row| row[2])));
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut study = Study::new("kernel discriminant: held-out accuracy");
    match run(&mut study) {
        Ok(()) => study.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
