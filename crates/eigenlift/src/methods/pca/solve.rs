//! From rows to axes, along the planned route.

use super::axes::{self, Axes, Iteration, SourcePasses, Wanted};
use super::choose::{self, Choice, ChoiceOptions, Spectrum};
use super::sums::{self, ColumnMoments, Weighted};
use super::{Pca, PcaPlan, PcaRoute, products};
use crate::data::{AnyPoints, Points, RowSource};
use crate::error::{Error, Result};
use crate::moments::{Directions, Partial, Triangle};
use std::sync::Mutex;

/// A component whose variance is below this share of the first is looked at again by a route that squares nothing.
const FAINT: f64 = 1e-8;
/// Rows that a sketch has at least unless it is set.
const LEAST_SKETCH: usize = 100;

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
        let axes = match plan.route {
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
        if self.is_faint(&axes, wanted.k.min(n.saturating_sub(1))) && plan.second_look_bytes.is_some() {
            plan.look_again();
            return axes::of_triangle(&sums::triangle(data, watch)?, wanted);
        }
        Ok(axes)
    }

    pub(super) fn solve_source(&self, source: &mut dyn RowSource, plan: &mut PcaPlan) -> Result<Axes> {
        let (d, wanted) = (plan.n_features, self.wanted_axes(plan));
        if plan.route == PcaRoute::Krylov {
            let mut columns = ColumnMoments::default();
            self.each_piece(source, plan, |data| {
                columns.merge(sums::column_moments(data)?);
                Ok(())
            })?;
            let passes = SourcePasses {
                n_cols: d,
                chunk_rows: plan.chunk_rows,
                weighted: self.weights_last,
                source: Mutex::new(source),
            };
            let axes = axes::of_passes(&passes, columns, self.iteration(plan))?;
            if !self.looks_again(&axes, plan) {
                return Ok(axes);
            }
        }
        if plan.route == PcaRoute::Directions {
            let mut sum = Directions::empty(d, self.sketch_size(d));
            self.each_piece(source, plan, |data| {
                sums::add_to_directions(&mut sum, data, &self.watch.silent())
            })?;
            return axes::of_directions(&sum, wanted);
        }
        if plan.route == PcaRoute::Covariance {
            let mut sum = Partial::empty(d);
            self.each_piece(source, plan, |data| sum.merge(&sums::moments(data, &self.watch.silent())?))?;
            let axes = axes::of_covariance(&sum, wanted, &self.watch)?;
            if !self.looks_again(&axes, plan) {
                return Ok(axes);
            }
        }
        let mut sum = Triangle::empty(d);
        self.each_piece(source, plan, |data| sum.merge(&sums::triangle(data, &self.watch.silent())?))?;
        axes::of_triangle(&sum, wanted)
    }

    /// Reads all rows once.
    fn each_piece(
        &self,
        source: &mut dyn RowSource,
        plan: &PcaPlan,
        mut visit: impl FnMut(Weighted<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        source.rewind()?;
        loop {
            self.watch.step("moments of rows", at, plan.n_samples)?;
            let more = source.next_rows(plan.chunk_rows, &mut |rows| {
                let n = rows.n_rows();
                split_weights(rows, self.weights_last, |data| {
                    data.check().and_then(|()| visit(data)).map_err(|error| sums::counted_from(error, at))
                })?;
                at += n;
                Ok(())
            })?;
            if !more {
                return Ok(());
            }
        }
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
            axes.truncate(choice.consensus);
        }
    }
}

/// Takes the last column of rows as their weights, if it holds them.
pub(super) fn split_weights(
    rows: AnyPoints<'_>,
    weighted: bool,
    visit: impl FnOnce(Weighted<'_>) -> Result<()>,
) -> Result<()> {
    if !weighted {
        return visit(Weighted { rows, weights: None });
    }
    let d = rows.n_cols().saturating_sub(1);
    let mut row = vec![0.0; d + 1];
    let weights: Vec<f64> = (0..rows.n_rows())
        .map(|i| {
            rows.copy_row(i, &mut row);
            row[d]
        })
        .collect();
    let rows = match rows {
        AnyPoints::F32(Points::Dense(x)) => AnyPoints::F32(Points::Dense(x.first_columns(d))),
        AnyPoints::F64(Points::Dense(x)) => AnyPoints::F64(Points::Dense(x.first_columns(d))),
        _ => {
            return Err(Error::data(
                "sparse rows with weights in their last column",
                "weights of sparse rows are given beside them",
                "Use fit_weighted",
            ));
        }
    };
    visit(Weighted { rows, weights: Some(&weights) })
}
