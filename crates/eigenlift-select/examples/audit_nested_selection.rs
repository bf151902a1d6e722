//! Nested cross-validation of feature selection: unbiased on noise and on data with informative columns, where the score of the search is not.
#![allow(clippy::print_stdout)]

use eigenlift::data::Labels;
use eigenlift::error::Result;
use eigenlift::matrix::Matrix;
use eigenlift_select::{Count, Scorer, Selection, SelectionMethod};
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::process::ExitCode;

const REPETITIONS: u64 = 200;
const ROWS: usize = 60;
const COLUMNS: usize = 20;
const CHOSEN: usize = 2;
const NEIGHBORS: usize = 3;
const FOLDS: usize = 5;
const NEW: usize = 2000;

/// Two classes of equal size; the first three columns are shifted between them.
fn rows(n: usize, shift: f64, numbers: &mut Numbers) -> (Matrix<f64>, Vec<usize>) {
    let classes: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let x = Matrix::from_fn(n, COLUMNS, |i, j| {
        numbers.gaussian() + if j < 3 { shift * classes[i] as f64 } else { 0.0 }
    });
    (x, classes)
}

fn selection(seed: u64) -> Selection {
    Selection::new(SelectionMethod::Forward)
        .scorer(Scorer::Knn { n_neighbors: NEIGHBORS })
        .features(Count::Exactly(CHOSEN))
        .standardize(false)
        .seed(seed)
}

/// Accuracy of the nearest neighbors in these columns on new samples.
fn accuracy(train: &(Matrix<f64>, Vec<usize>), columns: &[usize], new: &(Matrix<f64>, Vec<usize>)) -> f64 {
    let right = (0..new.0.n_rows()).filter(|i| {
        let square =
            |j: usize| columns.iter().map(|c| (new.0[(*i, *c)] - train.0[(j, *c)]).powi(2)).sum::<f64>();
        let mut near: Vec<(f64, usize)> = (0..train.0.n_rows()).map(|j| (square(j), train.1[j])).collect();
        near.select_nth_unstable_by(NEIGHBORS - 1, |a, b| a.0.total_cmp(&b.0));
        let ones = near[..NEIGHBORS].iter().filter(|(_, class)| *class == 1).count();
        usize::from(2 * ones > NEIGHBORS) == new.1[*i]
    });
    right.count() as f64 / new.0.n_rows() as f64
}

/// The score of the search, the nested score, and the accuracy on new samples of what the same procedure finds on as many samples as an
/// outer fold leaves.
fn repetition(shift: f64, seed: u64) -> Result<[f64; 3]> {
    let mut numbers = Numbers::new(seed);
    let all = rows(ROWS, shift, &mut numbers);
    let found =
        selection(seed).nested(FOLDS).select(&all.0.clone().into(), &Labels::Classes(all.1.clone()))?;
    let seen = found.chosen.map_or(f64::NAN, |at| found.subsets[at].score);
    let nested = found.nested.map_or(f64::NAN, |nested| nested.score);
    let fewer = rows(ROWS - ROWS / FOLDS, shift, &mut numbers);
    let chosen = selection(seed).select(&fewer.0.clone().into(), &Labels::Classes(fewer.1.clone()))?.selected;
    let truth = accuracy(&fewer, &chosen, &rows(NEW, shift, &mut numbers));
    Ok([seen, nested, truth])
}

fn run(study: &mut Study) -> Result<()> {
    for (shift, words) in [(0.0, "20 columns of noise"), (1.0, "3 of 20 columns informative")] {
        let found: Vec<[f64; 3]> =
            (0..REPETITIONS).into_par_iter().map(|seed| repetition(shift, seed)).collect::<Result<_>>()?;
        let of =
            |pick: &dyn Fn(&[f64; 3]) -> f64| mean_and_error(&found.iter().map(pick).collect::<Vec<_>>());
        let bias = of(&|row| row[1] - row[2]);
        let target = Target::Near(0.0, 3.0 * bias.1);
        println!("{}", study.line((words, "bias of the nested accuracy"), target, bias));
        println!("{}", study.line((words, "nested accuracy"), Target::Shown, of(&|row| row[1])));
        println!("{}", study.line((words, "accuracy on new samples"), Target::Shown, of(&|row| row[2])));
        println!(
            "{}",
            study.line((words, "accuracy of the search itself"), Target::Shown, of(&|row| row[0]))
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut study = Study::new("nested validation of feature selection");
    match run(&mut study) {
        Ok(()) => study.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
