//! A square matrix in colours around zero, with its colour bar below.

use crate::axis::{Range, Ticks};
use crate::frame::{self, LABEL_SIZE, LINE, TICK};
use crate::palette::{FAINT_INK, INK, OTHER, strong_diverging};
use crate::scene::{Anchor, Rect, Shape};
use crate::scree::component_ticks;

/// Colours are rounded to this many on each side of zero, so that equal neighbours can be drawn at once.
const COLOR_STEPS: f64 = 64.0;
/// Cells reach this far under their neighbours, so that no seams show.
const OVERLAP: f64 = 0.4;
const BAR_HEIGHT: f64 = 10.0;
const BAR_GAP: f64 = 8.0;
/// Most ticks beside the rows, the first not counted.
const MOST_TICKS: usize = 6;

/// A p × p matrix.
pub(crate) struct HeatMap<'a> {
    title: &'static str,
    entries: &'a [f64],
    p: usize,
    /// The largest magnitude, which has the strongest colour.
    largest: f64,
}

impl<'a> HeatMap<'a> {
    pub(crate) fn new(title: &'static str, entries: &'a [f64], p: usize) -> Self {
        let largest = entries.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
        HeatMap { title, entries, p, largest: if largest > 0.0 { largest } else { 1.0 } }
    }

    /// Says how many entries have no colour.
    pub(crate) fn note(&self) -> Option<String> {
        let n_bad = self.entries.iter().filter(|v| !v.is_finite()).count();
        let entries = if n_bad == 1 { "entry" } else { "entries" };
        (n_bad > 0).then(|| format!("{}: {n_bad} {entries} not finite, grey", self.title))
    }

    /// Draws matrix, title and colour bar and returns where they end.
    pub(crate) fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect) -> f64 {
        let middle = plot.x + plot.w / 2.0;
        shapes.push(Shape::text(self.title, [middle, plot.y - 6.0], LABEL_SIZE, Anchor::Middle, INK));
        if self.p == 0 {
            shapes.push(frame::outline(plot));
            let at = [middle, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no matrix", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
            return plot.bottom() + TICK;
        }
        self.draw_cells(shapes, plot);
        shapes.push(frame::outline(plot));
        // Rows are counted from the top.
        let ticks = component_ticks(self.p, 1, MOST_TICKS);
        let values = ticks.values.iter().map(|row| -row).collect();
        let rows = Range { lo: -(self.p as f64) - 0.5, hi: -0.5 };
        frame::y_axis(shapes, plot, &rows, &Ticks { values, ..ticks });
        self.draw_bar(shapes, plot)
    }

    /// The step of an entry's colour; none where it is not finite.
    fn step(&self, entry: f64) -> Option<i32> {
        entry.is_finite().then(|| (entry / self.largest * COLOR_STEPS).round() as i32)
    }

    fn draw_cells(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        let cell = plot.w / self.p as f64;
        for (row, entries) in self.entries.chunks(self.p).enumerate() {
            let steps: Vec<Option<i32>> = entries.iter().map(|entry| self.step(*entry)).collect();
            let mut column = 0;
            for run in steps.chunk_by(|a, b| a == b) {
                let (x, y) = (plot.x + cell * column as f64, plot.y + cell * row as f64);
                column += run.len();
                let (right, bottom) = (x + cell * run.len() as f64 + OVERLAP, y + cell + OVERLAP);
                let rect = Rect { x, y, w: right.min(plot.right()) - x, h: bottom.min(plot.bottom()) - y };
                let step = run.first().copied().flatten();
                let color = step.map_or(OTHER, |step| strong_diverging(f64::from(step) / COLOR_STEPS));
                shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
            }
        }
    }

    /// Draws the bar from minus to plus the largest magnitude and returns where it ends.
    fn draw_bar(&self, shapes: &mut Vec<Shape>, plot: &Rect) -> f64 {
        const STEPS: u32 = 64;
        let bar = Rect { y: plot.bottom() + BAR_GAP, h: BAR_HEIGHT, ..*plot };
        let step = bar.w / f64::from(STEPS);
        for k in 0..STEPS {
            // Each step reaches to the right end, so that no seams show.
            let rect = Rect { x: bar.x + f64::from(k) * step, w: bar.w - f64::from(k) * step, ..bar };
            let color = strong_diverging((f64::from(k) + 0.5) / f64::from(STEPS) * 2.0 - 1.0);
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
        shapes.push(frame::outline(&bar));
        let range = Range::between(-self.largest, self.largest);
        let ticks = Ticks::horizontal(&range, bar.w, 5);
        frame::x_axis(shapes, &bar, (&range, &ticks), (bar.x - 10.0, bar.right() + 5.0));
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

    fn cells(entries: &[f64], p: usize) -> Vec<(Rect, [u8; 3])> {
        let (mut shapes, plot) = (Vec::new(), Rect { x: 0.0, y: 0.0, w: 90.0, h: 90.0 });
        HeatMap::new("m", entries, p).draw_cells(&mut shapes, &plot);
        let rect = |shape: Shape| match shape {
            Shape::Rect { rect, fill: Some(fill), .. } => (rect, fill.rgb),
            other => panic!("{other:?}"),
        };
        shapes.into_iter().map(rect).collect()
    }

    #[test]
    fn the_identity_has_a_strong_diagonal() {
        let found = cells(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3);
        let strong: Vec<_> = found.iter().filter(|(_, rgb)| *rgb == strong_diverging(1.0).rgb).collect();
        let corners: Vec<_> = strong.iter().map(|(rect, _)| (rect.x, rect.y)).collect();
        assert_eq!(corners, [(0.0, 0.0), (30.0, 30.0), (60.0, 60.0)]);
        assert_eq!(found.len(), 7, "equal neighbours are one shape");
        assert!(found.iter().all(|(rect, _)| rect.right() <= 90.0 && rect.bottom() <= 90.0));
    }

    #[test]
    fn signs_have_their_colours_and_nan_is_grey() {
        let found = cells(&[-2.0, 2.0, f64::NAN, 0.0], 2);
        let colors: Vec<_> = found.iter().map(|(_, rgb)| *rgb).collect();
        let expected = [strong_diverging(-1.0), strong_diverging(1.0), OTHER, strong_diverging(0.0)];
        assert_eq!(colors, expected.map(|color| color.rgb));
        assert_eq!(HeatMap::new("m", &[f64::NAN], 1).note().as_deref(), Some("m: 1 entry not finite, grey"));
    }
}
