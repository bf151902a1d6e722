//! Whether the leading subspaces are found again in half of the rows.

use super::{
    Batch, CentredGram, NEAR_TIE, Setup, check_memory, degrees, dense_gram, largest_angle,
    orthonormal_prefix, quantile, shared_settings, within,
};
use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::Similarity;
use crate::kernel::Kernel;
use crate::linalg::{Onto, combine};
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Most rows by default.
const MAX_ROWS: usize = 2000;
/// Half samples by default, and at most.
const RESAMPLES: usize = 20;
const MOST_RESAMPLES: usize = 10_000;
/// Nine in ten half samples must be this close, in degrees, for a subspace to count as stable.
///
/// Why: cos² 30° = 3/4, so every direction of the subspace keeps three quarters of its variance over the rows. Subspaces
/// without anything in common are at 90°, and for two or more dimensions hardly ever below 60°.
const STABLE: f64 = 30.0;
const SHARE: f64 = 0.9;
/// Fewest rows: half of them must leave two components.
const FEWEST_ROWS: usize = 6;

/// Settings of a study of stability. [`Stability::study`] gives the report.
///
/// The model is fitted on all rows and on halves of them, drawn without replacement, always with the same numbers in the
/// kernel; all models then give scores to the same rows. For each m the angle between the spans of the first m scores says
/// whether the first m components *together* are found again, (K82). A pair of components whose variances are nearly equal
/// is stable as a pair though neither is alone.
///
/// Why halves: a statistic of half of the rows, drawn without replacement, varies about that of all rows as that of all rows
/// varies about the truth (the factor 1/(n/2) − 1/n is 1/n). Drawing with replacement would do the same but repeat rows, and
/// a repeated row is a pair of perfect similarity, which a narrow kernel takes for structure.
///
/// ```
/// use eigenlift::{data, tuning::kernel_study::Stability};
/// let report = Stability::new(3).study(&data::iris()?.samples.into())?;
/// assert!(report.stable >= 1, "{}", report.sentence);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stability {
    n_components: usize,
    resamples: usize,
    ready: Option<Kernel>,
    setup: Setup,
}

shared_settings!(Stability);

/// How the first components together are found again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityLevel {
    /// m: the first so many components together.
    pub n_components: usize,
    /// Mean over half samples of the largest angle to the subspace of all rows, in degrees.
    pub mean_angle: f64,
    /// Nine in ten half samples are within this angle.
    pub high_angle: f64,
    /// λ_m of all rows looked at: the variance along component m.
    pub variance: f64,
    /// Mean of λ_m over half samples.
    pub mean_variance: f64,
    /// Standard deviation of λ_m over half samples, which estimates the standard error of `variance`.
    pub standard_error: f64,
}

/// What a study of stability found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityReport {
    /// One for each m, from 1.
    pub levels: Vec<StabilityLevel>,
    /// The largest m whose `high_angle` is below 30°; 0 when there is none.
    pub stable: usize,
    /// The kernel.
    pub kernel: String,
    /// Half samples.
    pub resamples: usize,
    /// Rows looked at.
    pub n_rows: usize,
    /// What it says, in one sentence.
    pub sentence: String,
    /// What a person should know before relying on it.
    pub warnings: Vec<String>,
}

/// What one half sample gives.
struct Half {
    /// Largest angle of the first m components, for each m.
    angles: Vec<f64>,
    /// λ of each component; 0 for those that do not exist.
    variances: Vec<f64>,
}

impl Stability {
    /// Looks at the first `n_components` components; kernel `rbf(gamma=median)`, 20 half samples, 2000 rows at most.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, resamples: RESAMPLES, ready: None, setup: Setup::new(MAX_ROWS) }
    }

    /// Draws so many half samples.
    pub fn resamples(mut self, count: usize) -> Self {
        self.resamples = count;
        self
    }

    /// Uses a kernel that is ready, such as a function.
    pub fn ready_kernel(mut self, kernel: Kernel) -> Self {
        self.ready = Some(kernel);
        self
    }

    /// Studies the samples; with the kernel `precomputed` they are the Gram matrix.
    ///
    /// Cost: one Gram matrix of n²/2 kernel values; then for each half sample some 10 products of its quarter of that matrix
    /// with 32 vectors and n²k flops for scores. Memory n² numbers, and a quarter of it for each half sample under way.
    ///
    /// # Errors
    /// When a setting is out of range, an entry is not finite or not what the kernel takes, there are fewer than 6 rows or no
    /// two differ, and on cancellation.
    pub fn study(&self, samples: &AnySamples) -> Result<StabilityReport> {
        if self.n_components == 0 || !(2..=MOST_RESAMPLES).contains(&self.resamples) {
            return Err(Error::setting(
                format!("{} components and {} half samples", self.n_components, self.resamples),
                format!("at least 1 component and 2 to {MOST_RESAMPLES} half samples"),
                "Ask for as many components as you would keep, and for 20 half samples",
            ));
        }
        self.setup.check_rows(samples, FEWEST_ROWS, "a study of stability")?;
        let precomputed = self.ready.is_none() && self.setup.kernel.is_precomputed();
        let (similarity, rows) = if precomputed {
            (Similarity::Precomputed, self.corner(samples)?)
        } else {
            (Similarity::Kernel(self.kernel_for(samples)?), self.setup.drawn(samples))
        };
        let engine = self.setup.running_engine()?;
        check_memory(&*engine, rows.n_rows(), 4)?;
        let kernel = match &similarity {
            Similarity::Kernel(kernel) => kernel.to_string(),
            Similarity::Precomputed => "precomputed".into(),
        };
        within(&*engine, || self.compare(&*engine, &similarity, &rows, kernel))
    }

    fn kernel_for(&self, samples: &AnySamples) -> Result<Kernel> {
        match &self.ready {
            Some(kernel) => kernel.check_points(samples.points()).map(|()| kernel.clone()),
            None => Kernel::for_points(&self.setup.kernel, samples.points(), self.setup.seed),
        }
    }

    /// The rows and columns looked at of a Gram matrix.
    fn corner(&self, gram: &AnySamples) -> Result<AnySamples> {
        let n = gram.n_rows();
        if gram.n_cols() != n {
            return Err(Error::data(
                format!("a precomputed Gram matrix of {n} rows and {} columns", gram.n_cols()),
                "it must be square, one row and one column for each sample",
                "Pass the n × n matrix of kernel values, or choose a kernel to compute it from rows",
            ));
        }
        let chosen = Stream::new(self.setup.seed, Purpose::ChoiceRows).rows(n, self.setup.max_rows);
        let mut row = vec![0.0; n];
        let mut corner = Matrix::zeros(chosen.len(), chosen.len());
        for (at, i) in chosen.iter().enumerate() {
            gram.points().copy_row(*i, &mut row);
            let mut view = corner.view_mut();
            view.row_mut(at).iter_mut().zip(&chosen).for_each(|(x, j)| *x = row[*j]);
        }
        Ok(corner.into())
    }

    fn compare(
        &self,
        engine: &dyn Engine,
        similarity: &Similarity,
        rows: &AnySamples,
        kernel: String,
    ) -> Result<StabilityReport> {
        let Setup { seed, watch, .. } = &self.setup;
        let n = rows.n_rows();
        let gram = dense_gram(engine, similarity, rows, watch)?;
        let whole = CentredGram::new(gram.clone())?.leading(self.n_components, *seed, watch)?;
        let batch = Batch { stage: "half samples", count: self.resamples, bytes: 8 * n * n, watch };
        let halves = batch.run(|at| {
            let chosen = Stream::numbered(*seed, Purpose::Halves, at as u32).rows(n, n / 2);
            self.half(&gram, &whole.vectors, &chosen)
        })?;
        let levels: Vec<StabilityLevel> =
            (0..whole.values.len()).map(|m| level(m, whole.values[m] / n as f64, &halves)).collect();
        let stable = levels.iter().rev().find(|level| level.high_angle < STABLE);
        let stable = stable.map_or(0, |level| level.n_components);
        Ok(StabilityReport {
            sentence: sentence(&levels, stable),
            warnings: self.warnings(&whole.values, whole.next),
            levels,
            stable,
            kernel,
            resamples: self.resamples,
            n_rows: n,
        })
    }

    /// Fits the rows chosen and compares the scores it gives to all rows with those of the whole.
    fn half(&self, gram: &Matrix<f64>, whole: &Matrix<f64>, chosen: &[usize]) -> Result<Half> {
        let Setup { seed, watch, .. } = &self.setup;
        let (n, m) = (gram.n_rows(), chosen.len());
        let across = Matrix::from_fn(n, m, |i, j| gram[(i, chosen[j])]);
        let own = Matrix::from_fn(m, m, |i, j| across[(chosen[i], j)]);
        let k = whole.n_cols();
        let fit = CentredGram::new(own)?.leading(k, *seed, watch)?;
        // Scores are k(x, X)·U·Ω^(−1/2) less a constant; neither the scale of a column nor the constant changes the span.
        let mut scores = Matrix::zeros(n, fit.vectors.n_cols());
        combine(scores.view_mut(), Onto::Replace, 1.0, across.view(), fit.vectors.view());
        let found = orthonormal_prefix(&scores);
        let angle = |m: usize| {
            if m > found.n_cols() {
                return Ok(90.0);
            }
            largest_angle(whole.view().first_columns(m), found.view().first_columns(m))
        };
        Ok(Half {
            angles: (1..=k).map(angle).collect::<Result<_>>()?,
            variances: (0..k).map(|j| fit.values.get(j).map_or(0.0, |v| v / m as f64)).collect(),
        })
    }

    fn warnings(&self, values: &[f64], next: Option<f64>) -> Vec<String> {
        let (k, mut warnings) = (values.len(), Vec::new());
        if k < self.n_components {
            warnings.push(format!(
                "{} components were asked for and {k} exist: the rest have eigenvalue zero up to rounding",
                self.n_components
            ));
        }
        let all = values.iter().copied().chain(next);
        let pairs: Vec<(usize, f64)> = all
            .clone()
            .zip(all.skip(1))
            .enumerate()
            .filter(|(_, (a, b))| a - b < NEAR_TIE * a)
            .map(|(j, (a, b))| (j, 100.0 * (a - b) / a))
            .collect();
        for (j, percent) in pairs {
            warnings.push(format!(
                "variances of components {} and {} differ by {percent:.2} %: read them as a plane, not as two axes",
                j + 1,
                j + 2
            ));
        }
        warnings
    }
}

fn level(m: usize, variance: f64, halves: &[Half]) -> StabilityLevel {
    let count = halves.len().max(1) as f64;
    let angles: Vec<f64> = halves.iter().map(|half| half.angles[m]).collect();
    let mean_variance = halves.iter().map(|half| half.variances[m]).sum::<f64>() / count;
    let spread: f64 = halves.iter().map(|half| (half.variances[m] - mean_variance).powi(2)).sum();
    StabilityLevel {
        n_components: m + 1,
        mean_angle: angles.iter().sum::<f64>() / count,
        high_angle: quantile(angles, SHARE),
        variance,
        mean_variance,
        standard_error: (spread / (count - 1.0).max(1.0)).sqrt(),
    }
}

fn sentence(levels: &[StabilityLevel], stable: usize) -> String {
    let Some(level) = stable.checked_sub(1).and_then(|at| levels.get(at)) else {
        let first = levels.first().map_or(90.0, |level| level.high_angle);
        return format!(
            "no leading subspace is found again in half of the rows: the first axis turns by up to {} in nine of ten halves",
            degrees(first)
        );
    };
    let what = if stable == 1 {
        "the first axis is".into()
    } else {
        format!("the first {stable} components together are")
    };
    let found =
        format!("{what} found again to {} in nine of ten halves of the rows", degrees(level.high_angle));
    let loose: Vec<String> = levels[..stable - 1]
        .iter()
        .filter(|level| level.high_angle >= STABLE)
        .map(|level| level.n_components.to_string())
        .collect();
    let inside = match loose.as_slice() {
        [] => String::new(),
        [one] => format!(", though the first {one} alone {} not", if one == "1" { "is" } else { "are" }),
        many => format!(", though the first {} alone are not", many.join(", ")),
    };
    match levels.get(stable) {
        Some(next) => format!("{found}{inside}; with one more it is {}", degrees(next.high_angle)),
        None => format!("{found}{inside}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::KernelPca;

    /// Full refits by the method itself on the halves that the study draws, and the scores they give to all rows.
    #[test]
    fn angles_and_variances_are_those_of_full_refits() {
        let mut stream = Stream::new(5, Purpose::Synthetic);
        let x = Matrix::from_fn(61, 4, |_, j| stream.gaussian() * (4.0 - j as f64));
        let study = Stability::new(3).kernel("rbf(gamma=0.05)".parse().unwrap()).resamples(3).seed(9);
        let report = study.study(&x.clone().into()).unwrap();
        let fit = |rows: AnySamples| {
            KernelPca::new(3).kernel("rbf(gamma=0.05)".parse().unwrap()).tolerance(1e-12).fit(rows).unwrap()
        };
        let all: AnySamples = x.clone().into();
        let whole = fit(all.clone());
        let (mut angles, mut variances) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
        for at in 0..3 {
            let half = fit(all.gather(&Stream::numbered(9, Purpose::Halves, at).rows(61, 30)));
            let (q, p) = (whole.transform(&x).unwrap(), half.transform(&x).unwrap());
            let (q, p) = (orthonormal_prefix(&q), orthonormal_prefix(&p));
            for m in 0..3 {
                let angle = largest_angle(q.view().first_columns(m + 1), p.view().first_columns(m + 1));
                angles[m].push(angle.unwrap());
                variances[m].push(half.variances()[m]);
            }
        }
        for (m, level) in report.levels.iter().enumerate() {
            let mean = |values: &[f64]| values.iter().sum::<f64>() / 3.0;
            // Vectors are right to the residual over the gap, 1e-12 over some percent; in degrees.
            assert!((level.mean_angle - mean(&angles[m])).abs() < 1e-8, "{m}");
            assert!((level.high_angle - angles[m].iter().copied().fold(0.0, f64::max)).abs() < 1e-8);
            assert!((level.variance - whole.variances()[m]).abs() < 1e-12);
            assert!((level.mean_variance - mean(&variances[m])).abs() < 1e-12);
            let spread: f64 = variances[m].iter().map(|v| (v - mean(&variances[m])).powi(2)).sum();
            assert!((level.standard_error - (spread / 2.0).sqrt()).abs() < 1e-12);
        }
    }

    #[test]
    fn sentences_name_what_is_stable_only_together() {
        let level = |m: usize, high_angle: f64| StabilityLevel {
            n_components: m,
            mean_angle: 0.0,
            high_angle,
            variance: 1.0,
            mean_variance: 1.0,
            standard_error: 0.0,
        };
        let levels = [level(1, 70.0), level(2, 5.0), level(3, 80.0)];
        assert_eq!(
            sentence(&levels, 2),
            "the first 2 components together are found again to 5 degrees in nine of ten halves of the rows, though the first \
             1 alone is not; with one more it is 80 degrees"
        );
        assert!(sentence(&levels[..1], 0).starts_with("no leading subspace is found again"));
    }
}
