//! The panel of colours: the criterion over bandwidth and k.

use super::lines::hollow;
use super::{Axis, Curve, Scale, edges, tried};
use crate::axis::{Range, Ticks};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE};
use crate::log_axis;
use crate::mark::ring;
use crate::number::short;
use crate::palette::{GRID, INK, ramp};
use crate::scene::{Polyline, Rect, Shape};

const BAR_GAP: f64 = 10.0;
const BAR_WIDTH: f64 = 13.0;
/// Room for the label of a row.
const ROW: f64 = 22.0;
const LEAST_HEIGHT: f64 = 66.0;
const MOST_HEIGHT: f64 = 220.0;
/// Longer labels are cut.
const LABEL_WIDTH: f64 = 70.0;
/// Cells reach this far under their neighbours, so that no seams show.
const OVERLAP: f64 = 0.4;

/// A cell for each bandwidth and each k.
pub(super) struct Map {
    /// The labels of the rows, from the least bandwidth upwards.
    rows: Vec<String>,
    /// Bounds of the columns.
    edges: Vec<f64>,
    cells: Vec<Cell>,
    /// Of the colours.
    range: Range,
    pub(super) ticks: Ticks,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    row: usize,
    column: usize,
    /// The place on the axis of the criterion.
    value: f64,
    chosen: bool,
    near: bool,
}

impl Map {
    pub(super) fn new(curves: &[Curve], scale: &Scale) -> Self {
        let tried = tried(curves);
        let mut cells = Vec::new();
        for (row, curve) in curves.iter().enumerate() {
            for point in &curve.points {
                let Ok(column) = tried.binary_search(&point.k) else { continue };
                let Some(value) = scale.place(point.value) else { continue };
                cells.push(Cell { row, column, value, chosen: point.chosen, near: point.near });
            }
        }
        let range = Range::of(cells.iter().map(|cell| cell.value));
        let height = height(curves.len());
        let ticks = if scale.log { log_axis::ticks(&range, height) } else { several_ticks(&range) };
        let label = |curve: &Curve| {
            let text = if curve.bandwidth.is_finite() { short(curve.bandwidth) } else { curve.label.clone() };
            font::truncated(&text, TICK_SIZE, LABEL_WIDTH)
        };
        Map { rows: curves.iter().map(label).collect(), edges: edges(&tried), cells, range, ticks }
    }

    /// The width of the widest label of a row.
    pub(super) fn labels_width(&self) -> f64 {
        font::widest(self.rows.iter().map(String::as_str), TICK_SIZE)
    }

    /// The room that the colour bar takes to the right of the plot.
    pub(super) fn bar_width(&self) -> f64 {
        BAR_GAP + BAR_WIDTH + TICK + 3.0 + font::widest(self.ticks.labels(), TICK_SIZE) + BORDER
    }

    pub(super) fn height(&self) -> f64 {
        height(self.rows.len())
    }

    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, x: &Axis, plot: &Rect) {
        shapes.push(Shape::Rect { rect: *plot, fill: Some(GRID), stroke: None });
        for cell in &self.cells {
            let Some(exact) = self.rect(cell, x, plot) else { continue };
            let (right, bottom) = (exact.right() + OVERLAP, exact.bottom() + OVERLAP);
            let (w, h) = (right.min(plot.right()) - exact.x, bottom.min(plot.bottom()) - exact.y);
            let rect = Rect { w, h, ..exact };
            let color = ramp(self.range.place(cell.value));
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
        for cell in self.cells.iter().filter(|cell| cell.near || cell.chosen) {
            let Some(rect) = self.rect(cell, x, plot) else { continue };
            if cell.chosen {
                let [l, t, r, b] = [rect.x + 1.5, rect.y + 1.5, rect.right() - 1.5, rect.bottom() - 1.5];
                let frame = Polyline { points: vec![[l, t], [r, t], [r, b], [l, b]], closed: true };
                shapes.extend(hollow(vec![frame], 2.4));
            } else {
                let radius = (0.3 * rect.w.min(rect.h)).min(5.0);
                let center = [rect.x + rect.w / 2.0, rect.y + rect.h / 2.0];
                shapes.extend(hollow(vec![ring(center, radius)], 1.4));
            }
        }
        shapes.push(frame::outline(plot));
        self.draw_rows(shapes, plot);
        self.draw_bar(shapes, plot);
    }

    /// The place of a cell; the least bandwidth is at the bottom.
    fn rect(&self, cell: &Cell, x: &Axis, plot: &Rect) -> Option<Rect> {
        let edge = |k: usize| Some(plot.x + plot.w * x.range.place(*self.edges.get(k)?));
        let (left, right) = (edge(cell.column)?, edge(cell.column + 1)?);
        let h = plot.h / self.rows.len().max(1) as f64;
        Some(Rect { x: left, y: plot.bottom() - h * (cell.row + 1) as f64, w: right - left, h })
    }

    /// Draws as many labels of rows as have room.
    fn draw_rows(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        let step = (self.rows.len() as f64 * LINE / plot.h).ceil().max(1.0) as usize;
        let range = Range { lo: -0.5, hi: self.rows.len().max(1) as f64 - 0.5 };
        let (values, labels) =
            self.rows.iter().enumerate().step_by(step).map(|(k, label)| (k as f64, label.clone())).unzip();
        frame::y_axis(shapes, plot, &range, &Ticks { values, labels, ..Ticks::default() });
        let at = [BORDER + 0.8 * LABEL_SIZE, plot.y + plot.h / 2.0];
        let label = font::truncated("bandwidth", LABEL_SIZE, plot.h + LINE);
        shapes.push(Shape::upward_text(&label, at, LABEL_SIZE, INK));
    }

    fn draw_bar(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        const STEPS: u32 = 64;
        let bar = Rect { x: plot.right() + BAR_GAP, w: BAR_WIDTH, ..*plot };
        let step = bar.h / f64::from(STEPS);
        for k in 0..STEPS {
            // Each step reaches to the bottom, so that no seams show.
            let rect = Rect { y: bar.y + f64::from(k) * step, h: bar.h - f64::from(k) * step, ..bar };
            let color = ramp(1.0 - (f64::from(k) + 0.5) / f64::from(STEPS));
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
        shapes.push(frame::outline(&bar));
        frame::right_axis(shapes, &bar, &self.range, &self.ticks);
    }
}

/// At least three ticks where they can be had.
fn several_ticks(range: &Range) -> Ticks {
    let mut tries = (3..=6).map(|target| Ticks::new(range, target));
    tries.find(|ticks| ticks.values.len() >= 3).unwrap_or_else(|| Ticks::new(range, 6))
}

fn height(n_rows: usize) -> f64 {
    (ROW * n_rows as f64).clamp(LEAST_HEIGHT, MOST_HEIGHT)
}
