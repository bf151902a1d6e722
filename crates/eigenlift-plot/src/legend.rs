//! Legends of classes and the bar of a continuous colour.

use crate::axis::{Range, Ticks};
use crate::classes::Look;
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE};
use crate::log_axis;
use crate::palette::{INK, ramp};
use crate::scene::{Anchor, Rect, Rgba, Shape};

/// More entries than this go below the plot.
const MOST_BESIDE: usize = 12;
/// Longer names are cut.
const NAME_WIDTH: f64 = 104.0;
/// From the left of an entry to its name.
const NAME_OFFSET: f64 = 17.0;
/// Between two columns.
const COLUMN_GAP: f64 = 14.0;
const MARKER_RADIUS: f64 = 4.5;
const BAR_WIDTH: f64 = 14.0;
/// Distance between plot and legend.
const GAP: f64 = 12.0;

/// A legend with names cut to the room there is.
pub(crate) struct Legend<'a> {
    entries: Vec<(&'a Look, String)>,
    name_width: f64,
}

impl<'a> Legend<'a> {
    pub(crate) fn new(looks: &'a [Look]) -> Self {
        let entries: Vec<_> =
            looks.iter().map(|look| (look, font::truncated(&look.name, TICK_SIZE, NAME_WIDTH))).collect();
        let name_width = font::widest(entries.iter().map(|(_, name)| name.as_str()), TICK_SIZE);
        Legend { entries, name_width }
    }

    /// Whether the legend stands to the right of the plot.
    pub(crate) fn is_beside(&self) -> bool {
        (1..=MOST_BESIDE).contains(&self.entries.len())
    }

    /// The room it takes to the right of the plot.
    pub(crate) fn width_beside(&self) -> f64 {
        GAP + NAME_OFFSET + self.name_width + BORDER + 4.0
    }

    /// Draws it to the right of the plot.
    pub(crate) fn draw_beside(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        for (k, entry) in self.entries.iter().enumerate() {
            let y = plot.y + (k as f64 + 0.5) * LINE;
            draw_entry(shapes, entry, plot.right() + GAP, y);
        }
    }

    /// Draws it in columns and returns where it ends.
    pub(crate) fn draw_below(&self, shapes: &mut Vec<Shape>, top: f64, width: f64) -> f64 {
        if self.entries.is_empty() {
            return top;
        }
        let column = NAME_OFFSET + self.name_width + COLUMN_GAP;
        let room = width - 2.0 * BORDER + COLUMN_GAP;
        let most_columns = ((room / column) as usize).clamp(1, self.entries.len());
        let n_rows = self.entries.len().div_ceil(most_columns);
        let n_columns = self.entries.len().div_ceil(n_rows);
        if n_rows == 1 {
            return self.draw_row(shapes, top + 4.0, width);
        }
        let used = n_columns as f64 * column - COLUMN_GAP;
        let left = ((width - used) / 2.0).max(BORDER);
        let top = top + 4.0;
        for (k, entry) in self.entries.iter().enumerate() {
            let (row, col) = (k % n_rows, k / n_rows);
            draw_entry(shapes, entry, left + col as f64 * column, top + (row as f64 + 0.5) * LINE);
        }
        top + n_rows as f64 * LINE
    }

    /// Draws all entries beside each other and returns where they end.
    fn draw_row(&self, shapes: &mut Vec<Shape>, top: f64, width: f64) -> f64 {
        let entry_width = |name: &str| NAME_OFFSET + font::width(name, TICK_SIZE) + COLUMN_GAP;
        let used = self.entries.iter().map(|(_, name)| entry_width(name)).sum::<f64>() - COLUMN_GAP;
        let mut left = (width - used) / 2.0;
        for entry in &self.entries {
            draw_entry(shapes, entry, left, top + 0.5 * LINE);
            left += entry_width(&entry.1);
        }
        top + LINE
    }
}

fn draw_entry(shapes: &mut Vec<Shape>, (look, name): &(&Look, String), x: f64, y: f64) {
    let centers = vec![[x + MARKER_RADIUS, y]];
    let (marker, color) = (look.marker, look.color);
    shapes.push(Shape::Markers { centers, marker, radius: MARKER_RADIUS, color });
    shapes.push(Shape::text(name, [x + NAME_OFFSET, y + 0.36 * TICK_SIZE], TICK_SIZE, Anchor::Start, INK));
}

/// The bar that explains a continuous colour.
pub(crate) struct ColorBar {
    range: Range,
    ticks: Ticks,
    label: String,
    ramp: fn(f64) -> Rgba,
}

impl ColorBar {
    pub(crate) fn new(name: &str, range: Range, height: f64) -> Self {
        let ticks = Ticks::vertical(&range, height);
        let label = ticks.axis_label(name, height + LINE);
        ColorBar { range, ticks, label, ramp }
    }

    /// The bar of a colour by logarithm, its range given in decimal logarithms.
    pub(crate) fn logarithmic(name: &str, logs: Range, height: f64, ramp: fn(f64) -> Rgba) -> Self {
        let label = font::truncated(name, LABEL_SIZE, height + LINE);
        ColorBar { range: logs, ticks: log_axis::ticks(&logs, height), label, ramp }
    }

    /// The room it takes to the right of the plot.
    pub(crate) fn width(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 };
        GAP + BAR_WIDTH + TICK + 3.0 + font::widest(self.ticks.labels(), TICK_SIZE) + label + BORDER
    }

    /// Draws it to the right of the plot.
    pub(crate) fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        const STEPS: u32 = 64;
        let bar = Rect { x: plot.right() + GAP, w: BAR_WIDTH, ..*plot };
        let step = bar.h / f64::from(STEPS);
        for k in 0..STEPS {
            // Each step reaches to the bottom, so that no seams show.
            let rect = Rect { y: bar.y + f64::from(k) * step, h: bar.h - f64::from(k) * step, ..bar };
            let color = (self.ramp)(1.0 - (f64::from(k) + 0.5) / f64::from(STEPS));
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
        shapes.push(frame::outline(&bar));
        frame::right_axis(shapes, &bar, &self.range, &self.ticks);
        let x = bar.right() + TICK + 3.0 + font::widest(self.ticks.labels(), TICK_SIZE) + LABEL_SIZE + 4.0;
        shapes.push(Shape::upward_text(&self.label, [x, bar.y + bar.h / 2.0], LABEL_SIZE, INK));
    }
}
