//! From rows to axes, along the planned route.

use super::axes::{self, Axes, Iteration, Wanted};
use super::choose::{self, Choice, ChoiceOptions, Spectrum};
use super::{Pca, PcaPlan, PcaRoute, products};
use crate::data::{AnyPoints, AnySamples};
use crate::error::{Error, Result};
use crate::moments::{Directions, Partial, Triangle};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::rows::{ColumnMoments, Kind, Pass, RowSums, Rows, Weighted};

/// A component whose variance is below this share of the first is looked at again by a route that squares nothing.
const FAINT: f64 = 1e-8;
/// Most rows that the rules on the number of components look at where rows are not in memory, and fewest.
pub(super) const SAMPLE_ROWS: u64 = 10_000;
const FEWEST_SAMPLE_ROWS: u64 = 64;
/// Rows that a sketch has at least unless it is set.
const LEAST_SKETCH: usize = 100;

/// Counts readings of the rows where the solver only sees sums over them.
fn count_readings(axes: &mut Axes, plan: &PcaPlan) {
    axes.stats.passes = match plan.route {
        // The products, and before them the sums of columns.
        PcaRoute::Krylov => axes.stats.passes + 1,
        PcaRoute::Covariance | PcaRoute::Dual | PcaRoute::Tsqr | PcaRoute::Directions => 1,
    };
}

/// The axes of a second look, which read the rows once more.
fn after(first: &Axes, mut second: Axes) -> Axes {
    second.stats.passes = first.stats.passes + 1;
    second
}

impl Pca {
    /// Components that the solver finds: those asked for, or all when their number is to be chosen.
    pub(super) fn wanted(&self, d: usize) -> usize {
        self.n_components.unwrap_or(d).min(d)
    }

    /// Rows of a sketch.
    pub(super) fn sketch_size(&self, d: usize) -> usize {
        self.sketch_rows.unwrap_or(self.wanted(d).saturating_mul(4).max(LEAST_SKETCH))
    }

    /// What is wanted of axes for rows of the planned kind.
    pub(super) fn wanted_axes(&self, plan: &PcaPlan) -> Wanted {
        Wanted {
            k: self.wanted(plan.n_features),
            standardized: self.standardize,
            sparse: plan.sparse,
            single: plan.precision == "f32",
        }
    }

    fn iteration(&self, plan: &PcaPlan) -> Iteration<'_> {
        Iteration {
            wanted: self.wanted_axes(plan),
            tolerance: self.tolerance,
            seed: self.seed,
            chunk_rows: plan.chunk_rows,
            watch: &self.watch,
        }
    }

    /// Sums of no rows yet of `d` columns, for this route.
    pub(super) fn empty_sums(&self, route: PcaRoute, d: usize) -> RowSums {
        RowSums::new(match route {
            PcaRoute::Tsqr => Kind::Triangle(Triangle::empty(d)),
            PcaRoute::Directions => Kind::Directions(Directions::empty(d, self.sketch_size(d))),
            PcaRoute::Krylov => Kind::Columns(ColumnMoments::empty(d)),
            PcaRoute::Covariance | PcaRoute::Dual => Kind::Covariance(Partial::empty(d)),
        })
    }

    /// Axes of all rows along the planned route, and along another where it cannot tell them from rounding.
    pub(super) fn solve(&self, rows: &dyn Rows, plan: &mut PcaPlan) -> Result<Axes> {
        let (d, wanted, watch) = (plan.n_features, self.wanted_axes(plan), &self.watch);
        let pass = Pass { chunk_rows: plan.chunk_rows, watch };
        let sums = |route: PcaRoute| rows.row_sums(self.empty_sums(route, d), &pass);
        let mut axes = match (plan.route, rows.points()) {
            (PcaRoute::Dual, Some((points, weights))) => {
                let data = Weighted { rows: points, weights };
                let (gram, columns) = products::gram(data, wanted.standardized, watch)?;
                axes::of_gram(data, &gram, columns, wanted, watch)?
            }
            (PcaRoute::Krylov, _) => {
                let columns = sums(PcaRoute::Krylov)?.column_moments();
                axes::of_passes(rows, columns, self.iteration(plan))?
            }
            (route, _) => axes_of(&sums(route)?, wanted, watch)?,
        };
        count_readings(&mut axes, plan);
        if matches!(plan.route, PcaRoute::Tsqr | PcaRoute::Directions) || !self.looks_again(&axes, plan) {
            return Ok(axes);
        }
        Ok(after(&axes, axes_of(&sums(PcaRoute::Tsqr)?, wanted, watch)?))
    }

    /// Rows that the rules on the number of components look at, where they are not in memory: a quarter of the memory allowed may go
    /// to them.
    pub(super) fn rows_to_choose_from(
        &self,
        rows: &dyn Rows,
        plan: &PcaPlan,
        n: usize,
    ) -> Result<AnySamples> {
        let most = plan.bytes_allowed / 4 / (8 * plan.n_features.max(1) as u64);
        let most = most.clamp(FEWEST_SAMPLE_ROWS, SAMPLE_ROWS) as usize;
        let places = Stream::new(self.seed, Purpose::SampleRows).rows(n, most);
        rows.gather(&places, &Pass { chunk_rows: plan.chunk_rows, watch: &self.watch })
    }

    /// Whether wanted components are so faint that squares, or sums over sparse rows, lose them.
    pub(super) fn is_faint(&self, axes: &Axes, wanted: usize) -> bool {
        let first = axes.values.first().copied().unwrap_or(0.0);
        axes.values.len() < wanted
            || axes.values.last().is_some_and(|last| *last < FAINT * first)
            || axes.certificate.rounding > FAINT * first
            || axes.certificate.worst_residual() > self.tolerance
    }

    /// Notes in the plan that the triangle takes over, if it must and can.
    fn looks_again(&self, axes: &Axes, plan: &mut PcaPlan) -> bool {
        let wanted = self.wanted(plan.n_features).min(axes.count.saturating_sub(1));
        let again = self.is_faint(axes, wanted) && plan.second_look_bytes.is_some();
        if again {
            plan.look_again();
        }
        again
    }

    pub(super) fn choose(&self, axes: &Axes, rows: AnyPoints<'_>) -> Result<Choice> {
        let n = axes.weight;
        let mut values: Vec<f64> = axes.spectrum.iter().map(|v| v / n).collect();
        if axes.is_whole {
            // What is not there has no variance.
            values.resize(values.len().max(axes.mean.len().min(axes.count - 1)), 0.0);
        }
        let spectrum = Spectrum {
            values: &values,
            n_samples: axes.count,
            n_features: axes.mean.len(),
            total: axes.trace / n,
        };
        let options = ChoiceOptions { seed: self.seed, scaled: self.standardize, ..self.choice.clone() };
        choose::choose(&spectrum, rows, &options, &self.watch)
    }

    /// Leaves the components that were chosen.
    pub(super) fn keep_chosen(&self, axes: &mut Axes, choice: Option<&Choice>) {
        if let Some(choice) = choice {
            axes.truncate(choice.consensus.max(1));
        }
    }
}

/// The axes that sums give.
pub(super) fn axes_of(sums: &RowSums, wanted: Wanted, watch: &Watch) -> Result<Axes> {
    match &sums.kind {
        Kind::Covariance(sum) => axes::of_covariance(sum, wanted, watch),
        Kind::Triangle(sum) => axes::of_triangle(sum, wanted),
        Kind::Directions(sum) => axes::of_directions(sum, wanted),
        Kind::Columns(_) => Err(columns_alone()),
    }
}

/// Sums of columns have no axes.
pub(super) fn columns_alone() -> Error {
    Error::setting(
        "sums of columns alone",
        "axes need passes over the rows as well",
        "Fit the rows as a whole, or use covariance, tsqr or directions",
    )
}
