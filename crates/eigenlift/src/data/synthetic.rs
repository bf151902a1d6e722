//! Data sets made by formula, fixed by a seed.

use super::builtin::Dataset;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};
use std::f64::consts::PI;

/// Names that [`synthetic`] knows, each with the default number of rows and the default noise.
const KINDS: [(&str, usize, f64); 6] = [
    ("three-gaussians", 90, 0.1),
    ("moons", 400, 0.08),
    ("rings", 400, 0.06),
    ("swiss-roll", 1000, 0.0),
    ("s-curve", 1000, 0.0),
    ("parabola", 200, 0.2),
];

/// Most rows that a set may be asked for: they are made in memory.
const MOST_ROWS: usize = 100_000_000;

/// A data set made by formula.
///
/// | name | rows | what |
/// |---|---|---|
/// | `three-gaussians` | 90 | three round clusters at (−.5,−.2), (0,.6), (.5,0) with standard deviation 0.1 |
/// | `moons` | 400 | two half circles that interlock |
/// | `rings` | 400 | two circles, one inside the other |
/// | `swiss-roll` | 1000 | a rolled-up sheet in space |
/// | `s-curve` | 1000 | a sheet bent like an S |
/// | `parabola` | 200 | points around y = x² |
///
/// `noise` is the standard deviation of what is added to each coordinate (for `three-gaussians`: the clusters' own).
///
/// # Errors
/// When the name is not known, fewer than 2 rows are asked for, or the noise is negative or not finite.
pub fn synthetic(name: &str, rows: Option<usize>, noise: Option<f64>, seed: u64) -> Result<Dataset> {
    let Some((known, default_rows, default_noise)) = KINDS.iter().find(|kind| kind.0 == name) else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.0).collect();
        return Err(Error::setting(
            format!("a data set called \"{name}\""),
            format!("known are {}", names.join(", ")),
            "Choose one of them",
        ));
    };
    let (n, noise) = (rows.unwrap_or(*default_rows), noise.unwrap_or(*default_noise));
    if !((2..=MOST_ROWS).contains(&n) && noise >= 0.0 && noise.is_finite()) {
        return Err(Error::setting(
            format!("{n} rows with noise {noise}"),
            format!("2 to {MOST_ROWS} rows and a noise of 0 or more"),
            "Change the number of rows or the noise",
        ));
    }
    let mut random = Stream::new(seed, Purpose::Synthetic);
    let mut numbers = Vec::new();
    let mut target = Vec::with_capacity(n);
    for i in 0..n {
        let (point, label) = sample(known, i, n, &mut random);
        numbers.extend(point.iter().map(|x| x + noise * random.gaussian()));
        target.push(label);
    }
    let d = numbers.len() / n;
    Ok(Dataset {
        name: known,
        samples: Matrix::from_vec(numbers, n, d)?.into(),
        columns: (1..=d).map(|j| format!("x{j}")).collect(),
        target_name: Some(
            if matches!(*known, "swiss-roll" | "s-curve" | "parabola") { "t" } else { "class" }.into(),
        ),
        target,
    })
}

/// Point i of n without noise, and its label: the class, or the position t along the curve.
fn sample(name: &str, i: usize, n: usize, random: &mut Stream) -> (Vec<f64>, String) {
    let class = |classes: usize| (i * classes / n).to_string();
    match name {
        "three-gaussians" => {
            let centres = [[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]];
            (centres[(i * 3 / n).min(2)].to_vec(), class(3))
        }
        "moons" => {
            let t = PI * random.uniform();
            let upper = i * 2 / n == 0;
            let point = if upper { [t.cos(), t.sin()] } else { [1.0 - t.cos(), 0.5 - t.sin()] };
            (point.to_vec(), class(2))
        }
        "rings" => {
            let t = 2.0 * PI * random.uniform();
            let radius = if i * 2 / n == 0 { 1.0 } else { 0.4 };
            (vec![radius * t.cos(), radius * t.sin()], class(2))
        }
        "swiss-roll" => {
            let t = 1.5 * PI * (1.0 + 2.0 * random.uniform());
            (vec![t * t.cos(), 21.0 * random.uniform(), t * t.sin()], t.to_string())
        }
        "s-curve" => {
            let t = 3.0 * PI * (random.uniform() - 0.5);
            (vec![t.sin(), 2.0 * random.uniform(), t.signum() * (t.cos() - 1.0)], t.to_string())
        }
        _ => {
            let t = 4.0 * random.uniform() - 2.0;
            (vec![t, t * t], t.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_default_size_and_repeats() {
        for (name, rows, _) in KINDS {
            let (a, b) = (synthetic(name, None, None, 5).unwrap(), synthetic(name, None, None, 5).unwrap());
            assert_eq!(a.samples.n_rows(), rows);
            assert_eq!(a.target.len(), rows);
            let dense = |set: &Dataset| set.samples.points().to_dense::<f64>();
            assert_eq!(dense(&a), dense(&b));
            assert_ne!(dense(&a), dense(&synthetic(name, None, None, 6).unwrap()));
        }
    }

    #[test]
    fn rings_without_noise_lie_on_their_circles() {
        let rings = synthetic("rings", Some(100), Some(0.0), 1).unwrap().samples.points().to_dense::<f64>();
        for i in 0..100 {
            let radius = rings.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((radius - if i < 50 { 1.0 } else { 0.4 }).abs() < 1e-15);
        }
    }

    #[test]
    fn wrong_requests_are_explained() {
        assert!(synthetic("spiral", None, None, 0).unwrap_err().to_string().contains("swiss-roll"));
        assert!(synthetic("moons", Some(1), None, 0).is_err());
        assert!(synthetic("moons", None, Some(f64::NAN), 0).is_err());
    }
}
