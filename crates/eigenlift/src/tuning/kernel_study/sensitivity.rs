//! How the leading subspace hangs on the bandwidth, from one pass of distances.

use super::family::{Family, distances, of_distances};
use super::{
    Batch, CentredGram, Leading, NEAR_TIE, Setup, check_memory, degrees, largest_angle, shared_settings,
    short, within,
};
use crate::data::AnySamples;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Param};
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// Bandwidths of the grid, from 1/16 to 16 times the median in squared distance.
const GRID: i32 = 13;
/// A subspace that turns by less than this, in degrees, counts as the same: cos² 15° = 0.93 of it is shared.
const SAME: f64 = 15.0;
/// Most rows by default.
const MAX_ROWS: usize = 1000;
/// Two bandwidths closer than this share are one.
const SAME_BANDWIDTH: f64 = 1e-9;
/// A kernel whose effective rank is this share of the rows sees each row alone.
const ALONE: f64 = 0.5;

/// Settings of a study of the bandwidth. [`Sensitivity::study`] gives the report.
///
/// Squared distances of the rows are computed once; each bandwidth of a grid then costs a kernel profile and a few passes.
/// A bandwidth from which the leading subspace hardly turns is one whose results do not hang on the choice.
///
/// ```
/// use eigenlift::{data, tuning::kernel_study::Sensitivity};
/// let report = Sensitivity::new(2).study(&data::iris()?.samples.into())?;
/// assert_eq!(report.points.len(), 13);
/// assert!(report.plateau.is_some(), "{}", report.sentence);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sensitivity {
    n_components: usize,
    bandwidths: Vec<f64>,
    setup: Setup,
}

shared_settings!(Sensitivity);

/// What one bandwidth gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityPoint {
    /// The kernel's parameter, in the notation of the kernel.
    pub bandwidth: f64,
    /// The kernel.
    pub kernel: String,
    /// The parameter as a multiple of what the median heuristic gives.
    pub ratio_to_median: f64,
    /// Share of the total variance in feature space that each component holds; 0 for those that do not exist.
    pub shares: Vec<f64>,
    /// (Σω)²/Σω² over all eigenvalues ω of K_c: how many components there are in effect, (K81).
    pub effective_rank: f64,
    /// Mean of k(x, y) over pairs of different rows.
    pub mean_similarity: f64,
    /// Largest angle between its leading subspace and that of the reference, in degrees.
    pub angle_to_reference: f64,
    /// The same to the next larger bandwidth; `None` for the largest.
    pub angle_to_next: Option<f64>,
}

/// What a study of the bandwidth found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityReport {
    /// One for each bandwidth, the reference among them, by ascending parameter.
    pub points: Vec<SensitivityPoint>,
    /// The parameter of the kernel as it was given, or the median's.
    pub reference: f64,
    /// What the median heuristic gives.
    pub median: f64,
    /// The parameter's name.
    pub parameter: String,
    /// Dimension of the subspaces compared.
    pub n_components: usize,
    /// Rows looked at.
    pub n_rows: usize,
    /// The widest run of bandwidths around the reference in which no two subspaces are 15° apart; `None` when the reference
    /// stands alone.
    pub plateau: Option<(f64, f64)>,
    /// What it says, in one sentence.
    pub sentence: String,
    /// What a person should know before relying on it.
    pub warnings: Vec<String>,
}

impl Sensitivity {
    /// Compares subspaces of `n_components` dimensions; kernel `rbf(gamma=median)`, 13 bandwidths, 1000 rows at most.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, bandwidths: Vec::new(), setup: Setup::new(MAX_ROWS) }
    }

    /// Tries these values of the kernel's parameter. Without them 13 whose squared lengths run from 1/16 to 16 times the
    /// median's: gamma of `rbf` from 1/16 to 16 times the median heuristic, sigma from 1/4 to 4 times.
    pub fn bandwidths(mut self, values: Vec<f64>) -> Self {
        self.bandwidths = values;
        self
    }

    /// Studies the samples.
    ///
    /// Cost: 3·n²d/2 flops for distances, then for each bandwidth n² kernel values and some 10 products of the matrix with
    /// 32 vectors; memory n² numbers, and as many for each bandwidth under way.
    ///
    /// # Errors
    /// When the kernel has no single bandwidth, a setting is out of range, an entry is not finite, there are fewer than 3 rows
    /// or no two differ, and on cancellation.
    pub fn study(&self, samples: &AnySamples) -> Result<SensitivityReport> {
        if self.n_components == 0 {
            return Err(Error::setting(
                "a subspace of 0 components",
                "at least one is needed",
                "Ask for as many as you would keep, such as 2",
            ));
        }
        let Setup { kernel, seed, .. } = &self.setup;
        let family = Family::of(kernel)?;
        self.setup.check_rows(samples, 3, "a study of the bandwidth")?;
        let median = family.resolved(Param::Median, samples, *seed)?;
        let reference = family.resolved(family.given, samples, *seed)?;
        let (values, reference) = self.grid(&family, median, reference)?;
        let rows = self.setup.drawn(samples);
        let engine = self.setup.running_engine()?;
        check_memory(&*engine, rows.n_rows(), 5)?;
        let spectra = within(&*engine, || self.spectra(&family, &values, &rows))?;
        let (n_rows, asked) = (rows.n_rows(), self.n_components);
        Sweep { family, values, reference, median, n_rows, asked, spectra }.report()
    }

    /// The bandwidths asked for and the reference, ascending, and the place of the reference.
    fn grid(&self, family: &Family, median: f64, reference: f64) -> Result<(Vec<f64>, usize)> {
        let mut values = self.bandwidths.clone();
        if let Some(bad) = values.iter().find(|v| !(**v > 0.0 && v.is_finite())) {
            return Err(Error::setting(
                format!("a bandwidth of {bad}"),
                "it must be positive and finite",
                "Give positive numbers, or none for a grid around the median",
            ));
        }
        if values.is_empty() {
            let half = GRID / 2;
            // 16 in squared distance is 4 in distance.
            let most: f64 = if family.is_squared() { 16.0 } else { 4.0 };
            values = (-half..=half).map(|s| median * most.powf(f64::from(s) / f64::from(half))).collect();
        }
        if !values.iter().any(|v| same(*v, reference)) {
            values.push(reference);
        }
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| same(*a, *b));
        let at = values.iter().position(|v| same(*v, reference)).unwrap_or(0);
        Ok((values, at))
    }

    /// Eigenpairs and sums for each bandwidth, from one matrix of distances.
    fn spectra(&self, family: &Family, grid: &[f64], rows: &AnySamples) -> Result<Vec<Spectrum>> {
        let Setup { seed, watch, .. } = &self.setup;
        let n = rows.n_rows();
        let distances = distances(rows, watch)?;
        let batch = Batch { stage: "bandwidths", count: grid.len(), bytes: 24 * n * n, watch };
        batch.run(|at| {
            let kernel = Kernel::new(&family.with(Param::Value(grid[at])), 1)?;
            let gram = of_distances(&kernel, &distances, watch)?;
            let own: f64 = (0..n).map(|i| gram[(i, i)]).sum();
            let all: f64 = gram.as_slice().chunks(n).map(|row| row.iter().sum::<f64>()).sum();
            let mean_similarity = (all - own) / (n * (n - 1)) as f64;
            let gram = CentredGram::new(gram)?;
            let leading = match gram.leading(self.n_components, *seed, watch) {
                // So wide that all rows look the same: a point without components, not the end of the study.
                Err(Error::NoVariance { .. }) => {
                    Leading { values: Vec::new(), vectors: Matrix::zeros(n, 0), next: None }
                }
                other => other?,
            };
            let effective_rank = gram.trace * gram.trace / gram.squared_norm.max(f64::MIN_POSITIVE);
            Ok(Spectrum { leading, trace: gram.trace, effective_rank, mean_similarity })
        })
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_BANDWIDTH * a.abs().max(b.abs())
}

/// What one bandwidth gives before it is compared.
struct Spectrum {
    leading: Leading,
    trace: f64,
    effective_rank: f64,
    mean_similarity: f64,
}

impl Spectrum {
    fn shares(&self, k: usize) -> Vec<f64> {
        let share = |j: usize| self.leading.values.get(j).map_or(0.0, |v| v / self.trace);
        (0..k).map(share).collect()
    }
}

/// What all bandwidths gave.
struct Sweep {
    family: Family,
    /// Bandwidths, ascending.
    values: Vec<f64>,
    /// The place of the reference among them.
    reference: usize,
    median: f64,
    n_rows: usize,
    /// Components asked for.
    asked: usize,
    spectra: Vec<Spectrum>,
}

impl Sweep {
    /// Dimension of the subspaces.
    fn k(&self) -> usize {
        self.asked.min(self.n_rows.saturating_sub(1))
    }

    fn report(self) -> Result<SensitivityReport> {
        let (k, count, at) = (self.k(), self.values.len(), self.reference);
        let angles = self.angles()?;
        let points = (0..count)
            .map(|i| SensitivityPoint {
                bandwidth: self.values[i],
                kernel: self.family.with(Param::Value(self.values[i])).to_string(),
                ratio_to_median: self.values[i] / self.median,
                shares: self.spectra[i].shares(k),
                effective_rank: self.spectra[i].effective_rank,
                mean_similarity: self.spectra[i].mean_similarity,
                angle_to_reference: angles[(i, at)],
                angle_to_next: (i + 1 < count).then(|| angles[(i, i + 1)]),
            })
            .collect();
        let (low, high) = widest_run(&angles, &self.values, at);
        Ok(SensitivityReport {
            sentence: self.sentence(&angles, (low, high)),
            warnings: self.warnings(),
            points,
            reference: self.values[at],
            median: self.median,
            parameter: self.family.name().into(),
            n_components: k,
            n_rows: self.n_rows,
            plateau: (low < high).then(|| (self.values[low], self.values[high])),
        })
    }

    /// The largest angle between the subspaces of any two bandwidths.
    fn angles(&self) -> Result<Matrix<f64>> {
        let count = self.values.len();
        let basis = |i: usize| self.spectra[i].leading.vectors.view();
        if basis(self.reference).n_cols() == 0 {
            return Err(Error::no_variance(
                format!(
                    "{} {} at which all rows look the same",
                    self.family.name(),
                    self.values[self.reference]
                ),
                "the reference needs at least one component",
                "Give the kernel a parameter closer to the distances in the data, such as median",
            ));
        }
        let mut angles = Matrix::zeros(count, count);
        for i in 0..count {
            for j in 0..i {
                let angle = largest_angle(basis(i), basis(j))?;
                (angles[(i, j)], angles[(j, i)]) = (angle, angle);
            }
        }
        Ok(angles)
    }

    fn sentence(&self, angles: &Matrix<f64>, (low, high): (usize, usize)) -> String {
        let (name, at, k) = (self.family.name(), self.reference, self.k());
        let space =
            if k == 1 { "the first axis".into() } else { format!("the leading {k}-dimensional subspace") };
        let reference = short(self.values[at]);
        if low < high {
            let (from, to) = (self.values[low], self.values[high]);
            let ends = match (low == 0, high + 1 == self.values.len()) {
                (true, true) => ", all that were tried",
                (true, false) => " and perhaps below",
                (false, true) => " and perhaps above",
                (false, false) => "",
            };
            return format!(
                "{space} turns by less than {SAME} degrees while {name} goes from {} to {}, a factor of {}, around {reference}{ends}",
                short(from),
                short(to),
                short(to / from)
            );
        }
        let neighbours = [at.checked_sub(1), Some(at + 1).filter(|i| *i < self.values.len())];
        let nearest = neighbours.into_iter().flatten().map(|i| (angles[(i, at)], i));
        match nearest.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((angle, i)) => format!(
                "{space} hangs on the bandwidth: from {name} {reference} to {} it turns by {}",
                short(self.values[i]),
                degrees(angle)
            ),
            None => format!("only {name} {reference} was tried: nothing can be said about others"),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let (k, n, mut warnings) = (self.k(), self.n_rows, Vec::new());
        if k < self.asked {
            warnings.push(format!("{} components were asked for and {n} rows have {k} at most", self.asked));
        }
        let few = self.spectra.iter().filter(|s| s.leading.values.len() < k).count();
        if few > 0 {
            warnings.push(format!(
                "{few} of {} bandwidths have fewer than {k} components above rounding: their subspaces count as turned by 90 \
                 degrees",
                self.spectra.len()
            ));
        }
        let Spectrum { leading, effective_rank, .. } = &self.spectra[self.reference];
        let ends = leading.values.get(k - 1).zip(leading.next);
        if let Some((last, next)) = ends.filter(|(last, next)| *last - next < NEAR_TIE * *last) {
            warnings.push(format!(
                "at the reference eigenvalues {k} and {} differ by {:.2} %: the subspace is hardly determined; compare {} \
                 components",
                k + 1,
                100.0 * (last - next) / last,
                k + 1
            ));
        }
        if *effective_rank > ALONE * n as f64 {
            warnings.push(format!(
                "at {} {} the kernel sees each row almost alone: {effective_rank:.0} components in effect for {n} rows",
                self.family.name(),
                short(self.values[self.reference])
            ));
        }
        warnings
    }
}

/// The widest run around the reference, by the ratio of its ends, in which all subspaces are within 15° of each other; of runs
/// equally wide the one with the reference nearest to its middle.
fn widest_run(angles: &Matrix<f64>, values: &[f64], at: usize) -> (usize, usize) {
    let close = |low: usize, high: usize| (low..=high).all(|i| (low..i).all(|j| angles[(i, j)] < SAME));
    let width = |(low, high): (usize, usize)| values[high] / values[low];
    let middle = |(low, high): (usize, usize)| (values[at] / values[low]).min(values[high] / values[at]);
    let better = |run, best| {
        if same(width(run), width(best)) { middle(run) > middle(best) } else { width(run) > width(best) }
    };
    let runs = (0..=at).flat_map(|low| (at..values.len()).map(move |high| (low, high)));
    let close = runs.filter(|(low, high)| close(*low, *high));
    close.fold((at, at), |best, run| if better(run, best) { run } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_run_contains_the_reference_and_is_close_throughout() {
        // Angles |position difference|, positions at 0, 10, 12, 20, 40.
        let places: [f64; 5] = [0.0, 10.0, 12.0, 20.0, 40.0];
        let angles = Matrix::from_fn(5, 5, |i, j| (places[i] - places[j]).abs());
        let run = |values: [f64; 5], reference| widest_run(&angles, &values, reference);
        // 1 to 4 and 2 to 8 are equally wide; the reference, 4, is in the middle of the second.
        assert_eq!(run([1.0, 2.0, 4.0, 8.0, 16.0], 2), (1, 3));
        assert_eq!(run([1.0, 4.0, 8.0, 12.0, 16.0], 1), (0, 2));
        assert_eq!(run([1.0, 2.0, 2.5, 8.0, 16.0], 1), (1, 3));
        assert_eq!(run([1.0, 2.0, 4.0, 8.0, 16.0], 4), (4, 4));
    }
}
