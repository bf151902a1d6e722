//! From rows to axes, along the planned route.

use super::axes::{self, Axes, Iteration, Passes, Wanted};
use super::choose::{self, Choice, ChoiceOptions, Spectrum};
use super::sums::{self, Weighted};
use super::{Pca, PcaPieces, PcaPlan, PcaRoute, PcaStream, products};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::{MatMut, MatRef};
use crate::moments::Directions;
use crate::progress::Watch;
use std::sync::Arc;

/// A component whose variance is below this share of the first is looked at again by a route that squares nothing.
const FAINT: f64 = 1e-8;
/// Rows that a sketch has at least unless it is set.
const LEAST_SKETCH: usize = 100;

/// Counts readings of the rows where the solver only sees sums over them.
fn count_readings(axes: &mut Axes, plan: &PcaPlan) {
    if plan.route != PcaRoute::Krylov {
        axes.stats.passes = 1;
    }
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
            watch: &self.watch,
        }
    }

    pub(super) fn solve(&self, data: Weighted<'_>, plan: &mut PcaPlan) -> Result<Axes> {
        let (n, d) = (data.n_rows(), data.n_cols());
        let (wanted, watch) = (self.wanted_axes(plan), &self.watch);
        let mut axes = match plan.route {
            PcaRoute::Tsqr => return axes::of_triangle(&sums::triangle(data, watch)?, wanted),
            PcaRoute::Covariance => axes::of_covariance(&sums::moments(data, watch)?, wanted, watch)?,
            PcaRoute::Dual => {
                let (gram, columns) = products::gram(data, wanted.standardized, watch)?;
                axes::of_gram(data, &gram, columns, wanted, watch)?
            }
            PcaRoute::Krylov => axes::of_passes(&data, sums::column_moments(data)?, self.iteration(plan))?,
            PcaRoute::Directions => {
                let mut sum = Directions::empty(d, self.sketch_size(d));
                sums::add_to_directions(&mut sum, data, watch)?;
                return axes::of_directions(&sum, wanted);
            }
        };
        count_readings(&mut axes, plan);
        if self.is_faint(&axes, wanted.k.min(n.saturating_sub(1))) && plan.second_look_bytes.is_some() {
            plan.look_again();
            let second = axes::of_triangle(&sums::triangle(data, watch)?, wanted)?;
            return Ok(after(&axes, second));
        }
        Ok(axes)
    }

    /// Axes of rows in pieces: sums of all of them, or passes over them.
    pub(super) fn solve_pieces(
        &self,
        pieces: &dyn PcaPieces,
        plan: &mut PcaPlan,
        engine: &Arc<dyn Engine>,
    ) -> Result<Axes> {
        let (d, wanted) = (plan.n_features, self.wanted_axes(plan));
        let sums = |route: PcaRoute| {
            self.watch.check()?;
            pieces.pca_sums(PcaStream::planned(self, d, route, engine.clone()))
        };
        let found = sums(plan.route)?;
        let mut axes = match plan.route {
            PcaRoute::Krylov => {
                axes::of_passes(&PiecePasses(pieces), found.column_moments(), self.iteration(plan))?
            }
            _ => found.axes(wanted, &self.watch)?,
        };
        count_readings(&mut axes, plan);
        if matches!(plan.route, PcaRoute::Tsqr | PcaRoute::Directions) || !self.looks_again(&axes, plan) {
            return Ok(axes);
        }
        Ok(after(&axes, sums(PcaRoute::Tsqr)?.axes(wanted, &self.watch)?))
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

    pub(super) fn choose(&self, axes: &Axes, data: Weighted<'_>) -> Result<Choice> {
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
        choose::choose(&spectrum, data.rows, &options, &self.watch)
    }

    /// Leaves the components that were chosen.
    pub(super) fn keep_chosen(&self, axes: &mut Axes, choice: Option<&Choice>) {
        if let Some(choice) = choice {
            axes.truncate(choice.consensus.max(1));
        }
    }
}

/// Passes over rows that lie in pieces.
struct PiecePasses<'a>(&'a dyn PcaPieces);

impl Passes for PiecePasses<'_> {
    fn n_cols(&self) -> usize {
        self.0.n_cols()
    }

    fn add_product(
        &self,
        centre: &[f64],
        block: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<()> {
        watch.check()?;
        let product = self.0.centred_product(centre, block)?;
        let shape = (product.n_rows(), product.n_cols());
        if shape != (out.n_rows(), out.n_cols()) {
            return Err(Error::data(
                format!("a product of {} × {}", shape.0, shape.1),
                format!("it must be {} × {}", out.n_rows(), out.n_cols()),
                "The rows must stay the same while they are read",
            ));
        }
        for i in 0..product.n_rows() {
            out.row_mut(i).iter_mut().zip(product.row(i)).for_each(|(o, p)| *o += p);
        }
        Ok(())
    }
}
