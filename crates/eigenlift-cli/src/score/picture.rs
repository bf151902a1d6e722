//! T² and squared prediction errors of the rows that have gone by, for a picture.

use super::limits::Known;
use crate::exit::Failure;
use crate::outputs::title;
use crate::values::PlotKind;
use eigenlift::monitoring::Novelty;
use eigenlift_plot::{Figure, MonitorPicture, monitor, monitor_chart};
use std::path::Path;

/// Of more rows than this every second is forgotten.
const MOST_ROWS: usize = 1 << 18;

/// What a picture shows.
#[derive(Debug)]
pub(super) struct Gathered {
    numbers: Novelty,
    seen: usize,
    /// One row in so many is kept.
    step: usize,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { numbers: Novelty::default(), seen: 0, step: 1 }
    }
}

impl Gathered {
    /// Keeps some of these rows.
    pub(super) fn add(&mut self, rows: &Novelty) {
        for (i, t_squared) in rows.t_squared.iter().enumerate() {
            if self.seen.is_multiple_of(self.step) {
                self.numbers.t_squared.push(*t_squared);
                // Where it is not known every row stands at the same height.
                self.numbers.spe.push(rows.spe.get(i).copied().unwrap_or(0.0));
            }
            self.seen += 1;
            if self.numbers.t_squared.len() > MOST_ROWS {
                let every_second = |values: &[f64]| values.iter().step_by(2).copied().collect();
                self.numbers.t_squared = every_second(&self.numbers.t_squared);
                self.numbers.spe = every_second(&self.numbers.spe);
                self.step *= 2;
            }
        }
    }

    /// T² against errors, or both over the rows.
    pub(super) fn draw(&self, kind: PlotKind, known: &Known, path: &Path) -> Result<Figure, Failure> {
        let name = title("Novelty", path);
        let limits = known.limits.as_ref();
        let numbered = |at: usize| (at * self.step + 1).to_string();
        let labels: Option<Vec<String>> =
            (self.step > 1).then(|| (0..self.numbers.t_squared.len()).map(numbered).collect());
        let input = MonitorPicture {
            t_squared: &self.numbers.t_squared,
            spe: &self.numbers.spe,
            limits: limits.map(|limits| (limits.t_squared, limits.spe.unwrap_or(f64::INFINITY))),
            labels: labels.as_deref(),
            title: &name,
        };
        Ok(if kind == PlotKind::Chart { monitor_chart(&input)? } else { monitor(&input)? })
    }
}
