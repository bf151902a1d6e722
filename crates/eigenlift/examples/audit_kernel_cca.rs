//! Whether held-out correlations with a chosen regularization are unbiased: 0 on independent views. An argument is the number of
//! repetitions.
#![allow(clippy::print_stdout)]

use eigenlift::data::AnySamples;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelCca;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let repetitions: u64 = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let mut study = Study::new("kernel CCA: held-out correlation");
    for (kernel, views) in [("rbf(gamma=median)", 2), ("rbf(gamma=median)", 3), ("linear", 2)] {
        let of = |seed: u64| -> Result<(f64, f64), eigenlift::error::Error> {
            let mut numbers = Numbers::new(7 * seed + views as u64);
            let tables: Vec<AnySamples> =
                (0..views).map(|_| Matrix::from_fn(100, 4, |_, _| numbers.gaussian()).into()).collect();
            let settings = KernelCca::new(1).kernel(kernel.parse()?).with(|f| f.threads(1).seed(seed));
            let model = settings.fit(&tables)?;
            let best = model.curve().map_or(f64::NAN, |curve| curve.scores[curve.chosen]);
            Ok((model.held_out_correlations()[0], best))
        };
        let found: Vec<(f64, f64)> = (0..repetitions).into_par_iter().map(of).collect::<Result<_, _>>()?;
        let setting = format!("{views} independent views of 100 × 4, {kernel}, κ chosen");
        let (mean, error) = mean_and_error(&found.iter().map(|f| f.0).collect::<Vec<_>>());
        let target = Target::Near(0.0, 2.0 * error);
        println!("{}", study.line((&setting, "mean, nested folds"), target, (mean, error)));
        let best = mean_and_error(&found.iter().map(|f| f.1).collect::<Vec<_>>());
        println!("{}", study.line((&setting, "mean of the best κ on the same folds"), Target::Shown, best));
    }
    Ok(study.exit_code())
}
