//! T² and SPE along the rows: a control chart.

use super::{MonitorPicture, Row, Rows, level_limit, looks, marks};
use crate::axis::{Range, Ticks};
use crate::error::Result;
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::free_place::FreePlaces;
use crate::legend::Legend;
use crate::palette::{AXIS, FAINT_INK, INK};
use crate::scene::{Anchor, Figure, Polyline, Rect, Shape, Stroke};
use crate::scree::component_ticks;

use super::scale::Scale;

const PANEL_HEIGHT: f64 = 150.0;
const GAP: f64 = 12.0;
/// More points than this are drawn as density.
const MOST_MARKERS: usize = 5000;
/// Up to this many rows are joined by a line.
const MOST_JOINED: usize = 500;
/// Up to this many rows ticks stand at whole rows.
const MOST_COUNTED: usize = 1000;
const NAMES: [&str; 2] = ["T²", "SPE"];

/// Draws T² and SPE of each row in the order of the rows, one panel each, with the limits and the rows beyond them as
/// [`monitor`](crate::monitor()) has them. More than 5000 points are drawn as density.
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when T², SPE and labels differ in length.
pub fn monitor_chart(input: &MonitorPicture) -> Result<Figure> {
    let rows = Rows::new(input)?;
    let scales = [0, 1].map(|which| rows.scale(which));
    let ticks = scales.map(|scale| scale.ticks(PANEL_HEIGHT));
    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, input.title, WIDTH);
    let left = font::widest(ticks.iter().flat_map(Ticks::labels), TICK_SIZE) + TICK + 6.0;
    let left = BORDER + LABEL_SIZE + 8.0 + left;
    let first = Rect { x: left, y: top, w: (WIDTH - left - BORDER - 6.0).max(60.0), h: PANEL_HEIGHT };
    let x = x_axis(rows.n_given, first.w);
    let mut last = first;
    for (which, (scale, ticks)) in scales.iter().zip(&ticks).enumerate() {
        let plot = Rect { y: first.y + which as f64 * (PANEL_HEIGHT + GAP), ..first };
        Panel { which, plot, scale, ticks }.draw(&mut shapes, &rows, &x);
        last = plot;
    }
    frame::x_axis(&mut shapes, &last, (&x.0, &x.1), (2.0, WIDTH - 2.0));
    let mut bottom = last.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
    let at = [last.x + last.w / 2.0, bottom - 4.0];
    shapes.push(Shape::text(&x.1.axis_label("row", last.w), at, LABEL_SIZE, Anchor::Middle, INK));
    if rows.limits.iter().any(Option::is_some) {
        bottom = Legend::new(&looks()).draw_below(&mut shapes, bottom, WIDTH);
    }
    bottom = frame::notes(&mut shapes, &rows.notes(&scales, MOST_MARKERS), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// The axis of the rows, counted from 1.
fn x_axis(n: usize, width: f64) -> (Range, Ticks) {
    let pad = (0.01 * n as f64).max(0.5);
    let range = Range { lo: 1.0 - pad, hi: n.max(1) as f64 + pad };
    let ticks =
        if n <= MOST_COUNTED { component_ticks(n, 1, 12) } else { Ticks::horizontal(&range, width, 8) };
    (range, ticks)
}

/// One statistic along the rows.
struct Panel<'a> {
    which: usize,
    plot: Rect,
    scale: &'a Scale,
    ticks: &'a Ticks,
}

impl Panel<'_> {
    fn draw(&self, shapes: &mut Vec<Shape>, rows: &Rows, x: &(Range, Ticks)) {
        let (plot, which) = (self.plot, self.which);
        frame::grid(shapes, &plot, (&x.0, &x.1), (&self.scale.range, self.ticks));
        let value = |row: &Row| row.values.get(which).copied().unwrap_or(0.0);
        let at = |place: f64, value: f64| {
            frame::at(&plot, &x.0, &self.scale.range, place, self.scale.place(value))
        };
        let places: Vec<[f64; 2]> =
            rows.rows.iter().map(|row| at(row.place as f64 + 1.0, value(row))).collect();
        let is_beyond: Vec<bool> = rows.rows.iter().map(|row| row.beyond.get(which) == Some(&true)).collect();
        let mut inside = joined(rows, &places);
        inside.extend(marks(&plot, &places, &is_beyond, MOST_MARKERS));
        shapes.push(Shape::Clip { clip: plot, shapes: inside });
        let name = NAMES.get(which).copied().unwrap_or_default();
        let mut free = FreePlaces::new(plot, &places);
        if let Some(limit) = rows.limits.get(which).copied().flatten() {
            shapes.extend(level_limit(&mut free, &plot, at(0.0, limit)[1], (name, limit)));
        }
        let order = rows.furthest_first(value);
        shapes.extend(rows.names(&mut free, &order, &places, &is_beyond));
        shapes.extend(rows.words(&order, &places));
        if places.is_empty() {
            let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no rows", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
        shapes.push(frame::outline(&plot));
        frame::y_axis(shapes, &plot, &self.scale.range, self.ticks);
        let label = self.ticks.axis_label(name, plot.h);
        let at = [BORDER + 0.8 * LABEL_SIZE, plot.y + plot.h / 2.0];
        shapes.push(Shape::upward_text(&label, at, LABEL_SIZE, INK));
    }
}

/// A line through few rows, broken where a row is left out.
fn joined(rows: &Rows, places: &[[f64; 2]]) -> Vec<Shape> {
    if places.len() > MOST_JOINED || places.len() < 2 {
        return Vec::new();
    }
    let pairs: Vec<(usize, [f64; 2])> =
        rows.rows.iter().map(|row| row.place).zip(places.iter().copied()).collect();
    let lines = pairs.chunk_by(|a, b| a.0 + 1 == b.0);
    let line = |run: &[(usize, [f64; 2])]| Polyline {
        points: run.iter().map(|(_, at)| *at).collect(),
        closed: false,
    };
    let stroke = Some(Stroke::solid(AXIS, 0.9));
    vec![Shape::Path { lines: lines.map(line).collect(), fill: None, stroke }]
}
