//! Data points over functions or regions of the plane.

use crate::axis::Range;
use crate::classes::Classes;
use crate::frame;
use crate::palette::INK;
use crate::scatter;
use crate::scene::{Marker, Rect, Rgba, Shape};

/// Points drawn in each panel; of more, an even selection is drawn.
const LIMIT_POINTS: usize = 4000;
/// Multiples of this are spread evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Points inside of a plot, the same in each panel.
pub(crate) struct GridPoints {
    pub(crate) classes: Classes,
    /// x, y and the class of each point drawn.
    drawn: Vec<(f64, f64, usize)>,
    pub(crate) notes: Vec<String>,
}

impl GridPoints {
    /// The points within the ranges, with their classes where they have any.
    pub(crate) fn new(
        (x, y): (&[f64], &[f64]),
        classes: Classes,
        (x_range, y_range): &(Range, Range),
    ) -> Self {
        let n = x.len();
        let class = |k: usize| classes.of_point.get(k).copied().unwrap_or(0);
        let all = x.iter().zip(y).enumerate().map(|(k, (x, y))| (*x, *y, class(k)));
        let mut drawn: Vec<_> =
            all.filter(|(x, y, _)| x_range.contains(*x) && y_range.contains(*y)).collect();
        let mut notes = Vec::new();
        if drawn.len() < n {
            notes.push(format!("{} outside of the plot or not finite", scatter::points(n - drawn.len())));
        }
        if drawn.len() > LIMIT_POINTS {
            let step = drawn.len().div_ceil(LIMIT_POINTS);
            notes.push(format!("1 of {step} points shown"));
            // Why not every so many: rows whose classes repeat would show one class alone.
            let is_kept = |k: usize| (GOLDEN * k as f64).fract() * (step as f64) < 1.0;
            drawn =
                drawn.into_iter().enumerate().filter(|(k, _)| is_kept(*k)).map(|(_, point)| point).collect();
        }
        GridPoints { classes, drawn, notes }
    }

    /// The markers, each on a light ground.
    pub(crate) fn shapes(&self, plot: &Rect, (x_range, y_range): &(Range, Range)) -> Vec<Shape> {
        let n = self.drawn.len().max(1) as f64;
        let radius = (1.9 * (plot.w / 110.0).sqrt() * (100.0 / n).min(1.0).powf(0.2)).max(0.6);
        let plain = (INK, Marker::Circle);
        let looks: Vec<(Rgba, Marker)> = match self.classes.looks.as_slice() {
            [] => vec![plain],
            looks => looks.iter().map(|look| (look.color, look.marker)).collect(),
        };
        let mut groups = vec![Vec::new(); looks.len()];
        for (x, y, class) in &self.drawn {
            if let Some(group) = groups.get_mut(*class) {
                group.push(frame::at(plot, x_range, y_range, *x, *y));
            }
        }
        let halo = Shape::Markers {
            centers: groups.iter().flatten().copied().collect(),
            marker: Marker::Circle,
            radius: radius + 0.5,
            color: Rgba::hex(0xffffff).with_alpha(0.8),
        };
        let drawn = looks.into_iter().zip(groups).filter(|(_, centers)| !centers.is_empty());
        let marks = drawn.map(|((color, marker), centers)| Shape::Markers { centers, marker, radius, color });
        std::iter::once(halo).chain(marks).collect()
    }
}
