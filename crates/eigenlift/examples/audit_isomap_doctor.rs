//! What the doctor of Isomap finds: recall and precision of suspected short circuits on rolls, false suspects on sheets, and the number of
//! neighbors it recommends.
#![allow(clippy::print_stdout)]

use eigenlift::data::synthetic;
use eigenlift::error::Result;
use eigenlift::graph::{Graph, Metric, NeighborSearch, Reach, Search, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::IsomapDoctor;
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::study::{Study, Target, mean_and_error};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::process::ExitCode;

const REPETITIONS: u64 = 10;
/// Samples of a roll: so few that graphs of 10 neighbors jump between windings.
const ROLL: usize = 400;
/// An edge whose ends are this many times farther apart along the sheet than in space is a short circuit that must be found.
const FAR: f64 = 3.0;
/// One that is found wrongly if they are not even this many times farther apart.
const NEAR: f64 = 1.5;

/// Samples in space and on the sheet they lie on.
struct Sheet {
    space: Matrix<f64>,
    flat: Matrix<f64>,
}

fn roll(seed: u64) -> Result<Sheet> {
    let set = synthetic("swiss-roll", Some(ROLL), Some(0.0), seed)?;
    let space: Matrix<f64> = set.samples.points().to_dense();
    let arc = |t: f64| 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
    let turned = |i: usize| arc(set.target[i].parse().unwrap_or(f64::NAN));
    let flat = Matrix::from_fn(ROLL, 2, |i, j| if j == 0 { turned(i) } else { space[(i, 1)] });
    Ok(Sheet { space, flat })
}

/// A flat sheet in space.
fn sheet(n: usize, seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    Matrix::from_fn(n, 3, |_, j| if j < 2 { [5.0, 3.0][j] * numbers.uniform() } else { 0.0 })
}

/// Two arms of length 10 that are 2 apart and joined by a half circle, with noise.
fn hairpin(n: usize, noise: f64, seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    let (mut values, bend) = (Vec::new(), std::f64::consts::PI);
    for _ in 0..n {
        let t = numbers.uniform() * (20.0 + bend);
        let point = match t {
            t if t < 10.0 => [t, 0.0],
            t if t < 10.0 + bend => [10.0 + (t - 10.0).sin(), 1.0 - (t - 10.0).cos()],
            t => [20.0 + bend - t, 2.0],
        };
        values.extend(point.map(|x| x + noise * numbers.gaussian()));
    }
    Matrix::from_vec(values, n, 2).unwrap_or_default()
}

fn distance(x: &Matrix<f64>, a: usize, b: usize) -> f64 {
    x.row(a).iter().zip(x.row(b)).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt()
}

/// Short circuits of the graph of k neighbors, by the sheet.
fn truth(sheet: &Sheet, k: usize) -> Result<BTreeSet<(usize, usize)>> {
    let samples: eigenlift::data::AnySamples = sheet.space.clone().into();
    let space = Space::Rows { samples: samples.clone(), metric: Metric::Euclidean };
    let search = NeighborSearch { reach: Reach::Nearest(k), how: Search::Brute };
    let graph = Graph::from_neighbors(&search.among(&space, samples.points(), &Watch::default())?.neighbors);
    let edges = graph.edges().map(|edge| (edge.from, edge.to));
    Ok(edges.filter(|(a, b)| distance(&sheet.flat, *a, *b) > FAR * distance(&sheet.space, *a, *b)).collect())
}

/// Short circuits there are, recall, precision, and how many the sweep counts for each there is.
fn on_roll(k: usize, seed: u64) -> Result<[f64; 4]> {
    let sheet = roll(seed)?;
    let there = truth(&sheet, k)?;
    let report = IsomapDoctor::new(2).neighbors(k).threads(1).examine(sheet.space.clone())?;
    let hits = report.suspects.iter().filter(|s| there.contains(&(s.edge.from, s.edge.to))).count();
    let counted = report.sweep.iter().find(|row| row.n_neighbors == k).and_then(|row| row.n_suspects);
    let all = there.len().max(1) as f64;
    let stretch = |a: usize, b: usize| distance(&sheet.flat, a, b) / distance(&sheet.space, a, b);
    let right = report.suspects.iter().filter(|s| stretch(s.edge.from, s.edge.to) > NEAR).count();
    let precision = right as f64 / report.suspects.len().max(1) as f64;
    Ok([there.len() as f64, hits as f64 / all, precision, counted.unwrap_or(0) as f64 / all])
}

fn repeated<const N: usize>(one: impl Fn(u64) -> Result<[f64; N]> + Send + Sync) -> Result<[(f64, f64); N]> {
    let found: Vec<[f64; N]> = (0..REPETITIONS).into_par_iter().map(one).collect::<Result<_>>()?;
    Ok(std::array::from_fn(|at| mean_and_error(&found.iter().map(|row| row[at]).collect::<Vec<_>>())))
}

fn run(study: &mut Study) -> Result<()> {
    for k in [10, 15, 25] {
        let setting = format!("swiss roll of {ROLL} samples, {k} neighbors");
        let [there, recall, precision, counted] = repeated(|seed| on_roll(k, seed))?;
        for (statistic, target, measured) in [
            ("short circuits", Target::Shown, there),
            ("recall of suspects", Target::AtLeast(0.9), recall),
            // Why no target: a short circuit that is missed bends the whole map, a false suspect costs one look at an edge. The doctor
            // therefore suspects every edge that distances without it contradict, which near a short circuit includes sound ones.
            (
                "precision of suspects (no target: a miss bends the map, a false suspect costs a look)",
                Target::Shown,
                precision,
            ),
            ("suspects counted in the sweep for each short circuit", Target::AtLeast(0.9), counted),
        ] {
            println!("{}", study.line((&setting, statistic), target, measured));
        }
    }
    for n in [200, 1000] {
        let [false_suspects] = repeated(|seed| {
            let report = IsomapDoctor::new(2).threads(1).examine(sheet(n, seed))?;
            let beyond = report.sweep.iter().filter(|row| row.n_neighbors >= report.recommended);
            Ok([beyond.map(|row| row.n_suspects.unwrap_or(0)).max().unwrap_or(0) as f64])
        })?;
        let setting = format!("flat sheet of {n} samples, any number of neighbors from the recommended on");
        println!("{}", study.line((&setting, "false suspects"), Target::AtMost(0.5), false_suspects));
    }
    let [roll_k] = repeated(|seed| Ok([recommended(roll(seed)?.space, 2)?]))?;
    let setting = format!("swiss roll of {ROLL} samples");
    println!("{}", study.line((&setting, "neighbors recommended"), Target::AtMost(8.0), roll_k));
    let [hairpin_k] = repeated(|seed| Ok([recommended(hairpin(400, 0.3, seed), 2)?]))?;
    let setting = "hairpin of 400 samples, arms 2 apart, noise 0.3";
    println!("{}", study.line((setting, "neighbors recommended"), Target::AtMost(15.0), hairpin_k));
    Ok(())
}

fn recommended(x: Matrix<f64>, n_components: usize) -> Result<f64> {
    Ok(IsomapDoctor::new(n_components).threads(1).examine(x)?.recommended as f64)
}

fn main() -> ExitCode {
    let mut study = Study::new("Isomap doctor");
    match run(&mut study) {
        Ok(()) => study.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
