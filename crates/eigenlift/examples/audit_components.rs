//! Whether the number of components is found where noise differs between columns, where it does not, and where there is nothing
//! but noise. An argument is the number of repetitions.
#![allow(clippy::print_stdout)]

use eigenlift::matrix::Matrix;
use eigenlift::methods::Pca;
use eigenlift::tuning::kernel_choice::ChooseKernelPca;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

/// Rows, columns, components, their variance beside noise of median variance 1, spread of the log noise.
const SETTINGS: [(usize, usize, usize, f64, f64); 12] = [
    (200, 20, 3, 1.0, 0.7),
    (500, 50, 5, 1.0, 0.7),
    (200, 20, 5, 0.25, 0.7),
    (60, 120, 3, 1.0, 0.7),
    (60, 120, 5, 1.0, 0.7),
    (200, 20, 3, 1.0, 0.0),
    (500, 50, 5, 1.0, 0.0),
    (300, 30, 3, 0.25, 0.0),
    (60, 120, 3, 1.0, 0.0),
    (200, 20, 0, 0.0, 0.7),
    (200, 20, 0, 0.0, 0.0),
    (60, 120, 0, 0.0, 0.7),
];

fn table((n, d, k): (usize, usize, usize), (signal, spread): (f64, f64), seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    let mut gaussian = |rows, columns| Matrix::from_fn(rows, columns, |_, _| numbers.gaussian());
    let (scores, loadings, noise, sizes) = (gaussian(n, k), gaussian(k, d), gaussian(n, d), gaussian(1, d));
    Matrix::from_fn(n, d, |i, j| {
        let common: f64 = (0..k).map(|l| signal.sqrt() * scores[(i, l)] * loadings[(l, j)]).sum();
        common + (spread * sizes[(0, j)]).exp() * noise[(i, j)]
    })
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let repetitions: u64 = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let mut study = Study::new("number of components");
    for (n, d, k, signal, spread) in SETTINGS {
        let of = |seed: u64| -> Result<f64, eigenlift::error::Error> {
            let model = Pca::auto().threads(1).fit(table((n, d, k), (signal, spread), seed))?;
            Ok(model.choice().map_or(f64::NAN, |choice| choice.consensus as f64))
        };
        let found: Vec<f64> = (0..repetitions).into_par_iter().map(of).collect::<Result<_, _>>()?;
        let noise = if spread > 0.0 { format!("noise exp({spread}·N)") } else { "equal noise".into() };
        let setting = format!("PCA, {n} × {d}, {k} components, signal {signal}, {noise}");
        let within = if spread > 0.0 { 1.0 } else { 0.5 };
        println!(
            "{}",
            study.line((&setting, "mean consensus"), Target::Near(k as f64, within), mean_and_error(&found))
        );
    }
    // Each choice takes a second or so.
    let few = (repetitions / 10).max(2);
    let of = |seed: u64| -> Result<f64, eigenlift::error::Error> {
        let choice =
            ChooseKernelPca::new().threads(1).choose(&table((200, 10, 0), (0.0, 0.0), seed).into())?;
        Ok(f64::from(u8::from(!choice.stands_out)))
    };
    let found: Vec<f64> = (0..few).into_par_iter().map(of).collect::<Result<_, _>>()?;
    let setting = "choose kpca, 200 × 10, noise alone";
    println!("{}", study.line((setting, "reported as noise"), Target::AtLeast(0.9), mean_and_error(&found)));
    Ok(study.exit_code())
}
