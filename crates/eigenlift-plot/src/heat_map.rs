//! A square matrix in colours, with its colour bar below.

use crate::axis::{Range, Ticks};
use crate::cells::{self, Ink};
use crate::frame::{self, LABEL_SIZE, LINE, TICK};
use crate::palette::{FAINT_INK, INK, OTHER, ramp, strong_diverging};
use crate::scene::{Anchor, Rect, Rgba, Shape};
use crate::scree::component_ticks;

/// Colours are rounded to this many steps, so that equal neighbours can be drawn at once.
const COLOR_STEPS: f64 = 96.0;
const BAR_HEIGHT: f64 = 10.0;
const BAR_GAP: f64 = 8.0;
/// Most ticks beside the rows, the first not counted.
const MOST_TICKS: usize = 6;

/// A p × p matrix.
pub(crate) struct HeatMap<'a> {
    title: &'a str,
    entries: &'a [f64],
    p: usize,
    /// The entries that have the first and the last colour.
    range: Range,
    /// Colours from 0 to 1.
    colors: fn(f64) -> Rgba,
}

impl<'a> HeatMap<'a> {
    /// Colours around zero; the largest magnitude has the strongest.
    pub(crate) fn around_zero(title: &'a str, entries: &'a [f64], p: usize) -> Self {
        let largest = entries.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
        let range = Range::between(-largest, largest);
        HeatMap { title, entries, p, range, colors: |t| strong_diverging(2.0 * t - 1.0) }
    }

    /// Colours from the least entry to the largest.
    pub(crate) fn sequential(title: &'a str, entries: &'a [f64], p: usize) -> Self {
        HeatMap { title, entries, p, range: Range::of(entries.iter().copied()), colors: ramp }
    }

    /// Says how many entries have no colour.
    pub(crate) fn note(&self) -> Option<String> {
        let n_bad = self.entries.iter().filter(|v| !v.is_finite()).count();
        let entries = if n_bad == 1 { "entry" } else { "entries" };
        (n_bad > 0).then(|| format!("{}: {n_bad} {entries} not finite, grey", self.title))
    }

    /// Draws matrix, title, numbers of the rows and colour bar, and returns where they end.
    pub(crate) fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect) -> f64 {
        self.draw_cells(shapes, plot);
        if self.p == 0 {
            return plot.bottom() + TICK;
        }
        // Rows are counted from the top.
        let ticks = component_ticks(self.p, 1, MOST_TICKS);
        let values = ticks.values.iter().map(|row| -row).collect();
        let rows = Range { lo: -(self.p as f64) - 0.5, hi: -0.5 };
        frame::y_axis(shapes, plot, &rows, &Ticks { values, ..ticks });
        self.draw_bar(shapes, plot)
    }

    /// The colour of an entry.
    pub(crate) fn color(&self, entry: f64) -> Rgba {
        let step = (self.range.place(entry).clamp(0.0, 1.0) * COLOR_STEPS).round();
        if entry.is_finite() { (self.colors)(step / COLOR_STEPS) } else { OTHER }
    }

    /// Draws title, cells and outline.
    pub(crate) fn draw_cells(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        let middle = plot.x + plot.w / 2.0;
        shapes.push(Shape::text(self.title, [middle, plot.y - 6.0], LABEL_SIZE, Anchor::Middle, INK));
        let inks: Vec<Option<Ink>> =
            self.entries.iter().map(|entry| Some(Ink::new(self.color(*entry)))).collect();
        if self.p == 0 {
            let at = [middle, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no matrix", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        } else {
            shapes.extend(cells::draw(plot, self.p, &inks));
        }
        shapes.push(frame::outline(plot));
    }

    /// Draws the bar from the first to the last colour and returns where it ends.
    pub(crate) fn draw_bar(&self, shapes: &mut Vec<Shape>, plot: &Rect) -> f64 {
        const STEPS: u32 = 64;
        let bar = Rect { y: plot.bottom() + BAR_GAP, h: BAR_HEIGHT, ..*plot };
        let step = bar.w / f64::from(STEPS);
        for k in 0..STEPS {
            // Each step reaches to the right end, so that no seams show.
            let rect = Rect { x: bar.x + f64::from(k) * step, w: bar.w - f64::from(k) * step, ..bar };
            let color = (self.colors)((f64::from(k) + 0.5) / f64::from(STEPS));
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
        shapes.push(frame::outline(&bar));
        let ticks = Ticks::horizontal(&self.range, bar.w, 5);
        frame::x_axis(shapes, &bar, (&self.range, &ticks), (bar.x - 10.0, bar.right() + 5.0));
        let bottom = bar.bottom() + TICK + LINE;
        let label = ticks.axis_label("", bar.w);
        if label.is_empty() {
            return bottom;
        }
        let at = [bar.x + bar.w / 2.0, bottom + LABEL_SIZE - 2.0];
        shapes.push(Shape::text(&label, at, LABEL_SIZE, Anchor::Middle, INK));
        bottom + LABEL_SIZE + 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Run;

    /// Colour and runs of each path.
    fn paths(map: &HeatMap) -> Vec<([u8; 3], Vec<Run>)> {
        let (mut shapes, plot) = (Vec::new(), Rect { x: 0.0, y: 0.0, w: 90.0, h: 90.0 });
        map.draw_cells(&mut shapes, &plot);
        let path = |shape: Shape| match shape {
            Shape::Runs { runs, color, .. } => Some((color.rgb, runs)),
            _ => None,
        };
        shapes.into_iter().filter_map(path).collect()
    }

    #[test]
    fn the_identity_has_a_strong_diagonal() {
        let entries = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let found = paths(&HeatMap::around_zero("m", &entries, 3));
        let strong = strong_diverging(1.0).rgb;
        let (_, runs) = found.iter().find(|(rgb, _)| *rgb == strong).unwrap();
        let starts: Vec<f64> = runs.iter().map(|run| run.from[0]).collect();
        assert_eq!(starts, [0.0, 30.0, 60.0]);
        let n_runs: usize = found.iter().map(|(_, runs)| runs.len()).sum();
        assert_eq!(n_runs, 7, "equal neighbours are one run");
        assert!(found.iter().flat_map(|(_, runs)| runs).all(|run| run.from[0] + run.length <= 90.0));
    }

    #[test]
    fn signs_have_their_colours_and_nan_is_grey() {
        let map = HeatMap::around_zero("m", &[-2.0, 2.0, f64::NAN, 0.0], 2);
        let expected = [strong_diverging(-1.0), strong_diverging(1.0), OTHER, strong_diverging(0.0)];
        assert_eq!(map.entries.iter().map(|v| map.color(*v)).collect::<Vec<_>>(), expected);
        let note = HeatMap::around_zero("m", &[f64::NAN], 1).note();
        assert_eq!(note.as_deref(), Some("m: 1 entry not finite, grey"));
        let map = HeatMap::sequential("m", &[0.5, 1.0, 0.0, f64::INFINITY], 2);
        assert_eq!([0.0, 1.0, f64::INFINITY].map(|v| map.color(v)), [ramp(0.0), ramp(1.0), OTHER]);
    }
}
