//! The strip of answers: a row for each rule, with a marker at the number of components it keeps.

use crate::axis::{Range, Ticks};
use crate::choice::Rule;
use crate::font;
use crate::frame::{self, BORDER, LINE, TICK_SIZE};
use crate::palette::{AXIS, FAINT_INK, FIRST, GRID, INK};
use crate::scene::{Anchor, Marker, Polyline, Rect, Rgba, Shape, Stroke};

/// Longer names are cut.
const NAME_WIDTH: f64 = 140.0;
/// Between the plot and the texts on both sides.
const GAP: f64 = 8.0;
const RADIUS: f64 = 4.0;
/// Drawn for a rule without an answer.
const NO_ANSWER: &str = "–";

/// The rows, the last of them the consensus.
pub(crate) struct Strip {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    m: Option<usize>,
    number: String,
    marker: Marker,
    color: Rgba,
}

impl Strip {
    pub(crate) fn new(rules: &[Rule], consensus: usize) -> Self {
        let row = |rule: &Rule| Row {
            name: font::truncated(rule.name, TICK_SIZE, NAME_WIDTH),
            m: rule.m,
            number: rule.m.map_or_else(|| NO_ANSWER.to_owned(), |m| m.to_string()),
            marker: Marker::Circle,
            color: FIRST,
        };
        let answers = rules.iter().map(row);
        let last = row(&Rule { name: "consensus", m: Some(consensus) });
        Strip { rows: answers.chain([Row { marker: Marker::Square, color: INK, ..last }]).collect() }
    }

    /// The room that the names take to the left.
    pub(crate) fn left(&self) -> f64 {
        BORDER + font::widest(self.rows.iter().map(|row| row.name.as_str()), TICK_SIZE) + GAP
    }

    /// The room that the numbers take to the right.
    pub(crate) fn right(&self) -> f64 {
        GAP + font::widest(self.rows.iter().map(|row| row.number.as_str()), TICK_SIZE) + BORDER
    }

    pub(crate) fn height(&self) -> f64 {
        LINE * self.rows.len() as f64
    }

    /// Draws the rows; the line of the consensus runs through all of them.
    pub(crate) fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect, x: (&Range, &Ticks)) {
        frame::grid(shapes, plot, x, (&Range { lo: 0.0, hi: 1.0 }, &Ticks::default()));
        for k in 1..self.rows.len() {
            let y = plot.y + LINE * k as f64;
            let color = if k + 1 == self.rows.len() { AXIS } else { GRID };
            shapes.push(Shape::line([plot.x, y], [plot.right(), y], Stroke::solid(color, 0.8)));
        }
        let place = |m: usize| plot.x + plot.w * x.0.place(m as f64);
        let consensus = self.rows.last().and_then(|row| row.m);
        if let Some(m) = consensus.filter(|m| x.0.contains(*m as f64)) {
            let line = Shape::line([place(m), plot.y], [place(m), plot.bottom()], Stroke::solid(INK, 1.2));
            shapes.push(line);
        }
        for (k, row) in self.rows.iter().enumerate() {
            let y = plot.y + LINE * (k as f64 + 0.5);
            let baseline = y + 0.36 * TICK_SIZE;
            let at = [plot.x - GAP, baseline];
            shapes.push(Shape::text(&row.name, at, TICK_SIZE, Anchor::End, INK));
            let (at, ink) = ([plot.right() + GAP, baseline], if row.m.is_some() { INK } else { FAINT_INK });
            shapes.push(Shape::text(&row.number, at, TICK_SIZE, Anchor::Start, ink));
            match row.m {
                Some(m) if x.0.contains(m as f64) => {
                    let (centers, marker, color) = (vec![[place(m), y]], row.marker, row.color);
                    shapes.push(Shape::Markers { centers, marker, radius: RADIUS, color });
                }
                Some(_) => shapes.push(arrow([plot.right() - 2.0, y], row.color)),
                None => {}
            }
        }
        shapes.push(frame::outline(plot));
    }
}

/// An arrow head that points to the right, for an answer beyond the edge.
fn arrow([x, y]: [f64; 2], color: Rgba) -> Shape {
    let points = vec![[x, y], [x - 2.0 * RADIUS, y - RADIUS], [x - 2.0 * RADIUS, y + RADIUS]];
    Shape::Path { lines: vec![Polyline { points, closed: true }], fill: Some(color), stroke: None }
}
