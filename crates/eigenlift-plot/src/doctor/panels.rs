//! The panels over the number of neighbours: values with a line, a row of numbers, and bars.

use super::{Axis, Trial};
use crate::axis::{Range, Ticks};
use crate::font;
use crate::frame::{self, LABEL_SIZE, LINE, TICK_SIZE};
use crate::palette::{FAINT_INK, FIRST, INK, SECOND};
use crate::scene::{Anchor, Marker, Polyline, Rect, Rgba, Shape, Stroke};
use crate::series::LineLook;

const LINE_HEIGHT: f64 = 88.0;
const BARS_HEIGHT: f64 = 66.0;
/// Between a panel and the name of the next.
const GAP: f64 = 6.0;
/// A name stands in a row of this height.
const NAME_ROW: f64 = 21.0;
/// The mean distance along the graph falls a little with every neighbour; a short circuit takes away more than
/// this share of it.
const DROP: f64 = 0.1;
const DROP_NAME: &str = "drop > 10 %";
/// A residual variance below this is rounding.
const LEAST_RESIDUAL: f64 = 1e-12;
const DROP_SAMPLE: f64 = 26.0;
/// More places than this have small markers.
const MOST_PLACES: usize = 40;
const WHITE: Rgba = Rgba::hex(0xffffff);

/// Draws the name of a panel on white, so that the line behind stays away from it, and returns where the panel
/// begins.
fn draw_name(shapes: &mut Vec<Shape>, name: &str, left: f64, top: f64) -> f64 {
    cover(shapes, left, top, font::width(name, LABEL_SIZE));
    let at = [left, top + LABEL_SIZE];
    shapes.push(Shape::text(name, at, LABEL_SIZE, Anchor::Start, INK));
    top + NAME_ROW
}

fn cover(shapes: &mut Vec<Shape>, left: f64, top: f64, width: f64) {
    let rect = Rect { x: left - 3.0, y: top, w: width + 6.0, h: NAME_ROW - 1.0 };
    shapes.push(Shape::Rect { rect, fill: Some(WHITE), stroke: None });
}

/// As few ticks as there are with at least this many.
fn few_ticks(range: &Range, least: usize) -> Ticks {
    let mut tries = (2..=5).map(|target| Ticks::new(range, target));
    tries.find(|ticks| ticks.values.len() >= least).unwrap_or_else(|| Ticks::new(range, 5))
}

fn empty(shapes: &mut Vec<Shape>, plot: &Rect) {
    let width = font::width("no values", LABEL_SIZE) + 8.0;
    let rect =
        Rect { x: plot.x + (plot.w - width) / 2.0, y: plot.y + plot.h / 2.0 - LINE / 2.0, w: width, h: LINE };
    shapes.push(Shape::Rect { rect, fill: Some(WHITE), stroke: None });
    let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0 + 0.36 * LABEL_SIZE];
    shapes.push(Shape::text("no values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
}

/// One value for each place, with a line through them.
pub(super) struct Values {
    name: &'static str,
    values: Vec<Option<f64>>,
    range: Range,
    pub(super) ticks: Ticks,
    /// Where the value falls by too much from one place to the next: the first place and the share.
    drops: Vec<(usize, f64)>,
}

impl Values {
    /// The axis reaches to zero `from_zero`; otherwise drops are marked.
    pub(super) fn new(
        name: &'static str,
        values: impl Iterator<Item = Option<f64>>,
        from_zero: bool,
    ) -> Self {
        let values: Vec<Option<f64>> = values.collect();
        let found = values.iter().flatten().copied();
        let most = found.clone().fold(0.0, f64::max);
        // Nothing but zeros, up to rounding, stand at the bottom of 0 to 1.
        let range = match from_zero {
            true if most > LEAST_RESIDUAL => Range::of(found.chain([0.0])),
            true => Range { lo: 0.0, hi: 1.0 },
            false => Range::of(found),
        };
        let range = range.padded(0.1);
        let ticks = few_ticks(&range, 3);
        let drops = if from_zero { Vec::new() } else { drops(&values) };
        Values { name, values, range, ticks, drops }
    }

    /// Draws name and panel, and returns where the next may begin.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, x: &Axis, top: f64) -> f64 {
        let key = DROP_SAMPLE + 6.0 + font::width(DROP_NAME, TICK_SIZE);
        let name = self.ticks.axis_label(self.name, x.width - key - 12.0);
        if !self.drops.is_empty() {
            let left = x.left + x.width - key;
            cover(shapes, left, top, key);
            let y = top + 0.64 * LABEL_SIZE;
            shapes.push(Shape::line([left, y], [left + DROP_SAMPLE, y], drop_stroke()));
            let at = [left + DROP_SAMPLE + 6.0, top + LABEL_SIZE];
            shapes.push(Shape::text(DROP_NAME, at, TICK_SIZE, Anchor::Start, INK));
        }
        let top = draw_name(shapes, &name, x.left, top);
        let plot = x.plot(top, LINE_HEIGHT);
        frame::grid(shapes, &plot, (&x.range, &Ticks::default()), (&self.range, &self.ticks));
        shapes.push(frame::outline(&plot));
        frame::y_axis(shapes, &plot, &self.range, &self.ticks);
        let place = |i: usize, value: f64| frame::at(&plot, &x.range, &self.range, i as f64, value);
        let points: Vec<_> = self.values.iter().enumerate().map(|(i, v)| v.map(|v| place(i, v))).collect();
        let look = LineLook::new(self.name, Stroke::solid(FIRST, 1.6), Some(Marker::Circle));
        self.draw_drops(shapes, &plot, &points);
        shapes.extend(look.for_places(x.n.min(MOST_PLACES)).shapes(&points));
        if points.iter().all(Option::is_none) {
            empty(shapes, &plot);
        }
        plot.bottom() + GAP
    }

    /// Marks the drops, and writes how large the largest is.
    fn draw_drops(&self, shapes: &mut Vec<Shape>, plot: &Rect, points: &[Option<[f64; 2]>]) {
        let ends = |i: usize| Some([points.get(i).copied()??, points.get(i + 1).copied()??]);
        let line = |points: [[f64; 2]; 2]| Polyline { points: points.to_vec(), closed: false };
        let lines: Vec<Polyline> = self.drops.iter().filter_map(|(i, _)| ends(*i).map(line)).collect();
        let largest = self.drops.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((share, [from, _])) = largest.and_then(|(i, share)| Some((share, ends(*i)?))) else {
            return;
        };
        shapes.push(Shape::Path { lines, fill: None, stroke: Some(drop_stroke()) });
        let text = format!("−{:.0} %", 100.0 * share);
        let width = font::width(&text, TICK_SIZE);
        let left = (from[0] + 8.0).min(plot.right() - width - 4.0);
        let y = (from[1] + 0.36 * TICK_SIZE).max(plot.y + TICK_SIZE + 1.0);
        shapes.push(Shape::text(&text, [left, y], TICK_SIZE, Anchor::Start, SECOND));
    }
}

fn drop_stroke() -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(SECOND, 5.0) }
}

/// Where a value is less than nine tenths of the one before: the first place and the share that is lost.
fn drops(values: &[Option<f64>]) -> Vec<(usize, f64)> {
    let pairs = values.iter().zip(values.iter().skip(1)).enumerate();
    let share = |(i, (a, b)): (usize, (&Option<f64>, &Option<f64>))| {
        let (a, b) = ((*a)?, (*b)?);
        let share = 1.0 - b / a;
        (a > 0.0 && share > DROP).then_some((i, share))
    };
    pairs.filter_map(share).collect()
}

/// Draws the row of suspected short circuits: numbers where they have room, else a marker where there are any.
pub(super) fn draw_suspects(shapes: &mut Vec<Shape>, trials: &[Trial], x: &Axis, top: f64) -> f64 {
    let texts: Vec<String> =
        trials.iter().map(|t| t.suspects.map_or_else(|| "–".to_owned(), |n| n.to_string())).collect();
    let fits = font::widest(texts.iter().map(String::as_str), TICK_SIZE) + 4.0 <= x.per_place();
    let name = if fits { "suspected short circuits" } else { "k with suspected short circuits" };
    let top = draw_name(shapes, name, x.left, top);
    let plot = x.plot(top, LINE);
    shapes.push(frame::outline(&plot));
    let y = plot.y + plot.h / 2.0;
    if fits {
        for (i, (text, trial)) in texts.iter().zip(trials).enumerate() {
            let width = font::width(text, TICK_SIZE) + 4.0;
            let rect = Rect { x: x.x(i) - width / 2.0, y: plot.y + 1.0, w: width, h: plot.h - 2.0 };
            shapes.push(Shape::Rect { rect, fill: Some(WHITE), stroke: None });
            let color = if trial.suspects.is_some_and(|n| n > 0) { SECOND } else { FAINT_INK };
            let at = [x.x(i), y + 0.36 * TICK_SIZE];
            shapes.push(Shape::text(text, at, TICK_SIZE, Anchor::Middle, color));
        }
    } else {
        let any = trials.iter().enumerate().filter(|(_, trial)| trial.suspects.is_some_and(|n| n > 0));
        let centers: Vec<[f64; 2]> = any.map(|(i, _)| [x.x(i), y]).collect();
        let radius = (0.4 * x.per_place()).clamp(1.5, 4.0);
        shapes.push(Shape::Markers { centers, marker: Marker::Square, radius, color: SECOND });
    }
    plot.bottom() + GAP
}

/// The numbers of connected components as bars.
pub(super) struct Bars {
    counts: Vec<Option<usize>>,
    range: Range,
    pub(super) ticks: Ticks,
}

impl Bars {
    pub(super) fn new(counts: Vec<Option<usize>>) -> Self {
        let most = counts.iter().flatten().copied().max().unwrap_or(1).max(1);
        // Room for the numbers above the bars.
        let range = Range { lo: 0.0, hi: 1.45 * most as f64 };
        let ticks = if most == 1 {
            Ticks { values: vec![0.0, 1.0], labels: vec!["0".into(), "1".into()], ..Ticks::default() }
        } else {
            few_ticks(&range, 2)
        };
        Bars { counts, range, ticks }
    }

    /// Draws name and panel, and returns the place of the panel.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, x: &Axis, top: f64) -> Rect {
        let name = self.ticks.axis_label("connected components", x.width);
        let plot = x.plot(draw_name(shapes, &name, x.left, top), BARS_HEIGHT);
        frame::grid(shapes, &plot, (&x.range, &Ticks::default()), (&self.range, &self.ticks));
        frame::y_axis(shapes, &plot, &self.range, &self.ticks);
        let texts: Vec<String> =
            self.counts.iter().map(|n| n.map_or_else(String::new, |n| n.to_string())).collect();
        let fits = font::widest(texts.iter().map(String::as_str), TICK_SIZE) + 4.0 <= x.per_place();
        let width = (0.6 * x.per_place()).min(36.0);
        for (i, (count, text)) in self.counts.iter().zip(&texts).enumerate() {
            let Some(count) = count else { continue };
            let [middle, end] = frame::at(&plot, &x.range, &self.range, i as f64, *count as f64);
            // One of many components is still seen.
            let height = if *count > 0 { (plot.bottom() - end).max(1.5) } else { 0.0 };
            let rect = Rect { x: middle - width / 2.0, y: plot.bottom() - height, w: width, h: height };
            shapes.push(Shape::Rect { rect, fill: Some(FIRST), stroke: None });
            if fits {
                let half = font::width(text, TICK_SIZE) / 2.0 + 1.0;
                let back = Rect { x: middle - half, y: rect.y - NAME_ROW, w: 2.0 * half, h: NAME_ROW };
                shapes.push(Shape::Rect { rect: back, fill: Some(WHITE), stroke: None });
                let at = [middle, rect.y - 4.0];
                shapes.push(Shape::text(text, at, TICK_SIZE, Anchor::Middle, INK));
            }
        }
        if self.counts.iter().all(Option::is_none) {
            empty(shapes, &plot);
        }
        shapes.push(frame::outline(&plot));
        plot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_falls_between_neighbours_are_drops() {
        let values = [Some(10.0), Some(9.5), Some(4.75), None, Some(1.0), Some(2.0), Some(0.0), Some(-1.0)];
        assert_eq!(drops(&values), [(1, 0.5), (5, 1.0)]);
        assert_eq!(drops(&[Some(5.0); 3]), []);
        assert_eq!(drops(&[]), []);
    }

    #[test]
    fn counts_have_whole_ticks() {
        for most in (1..300).chain([12_345, 10_000_000]) {
            let ticks = Bars::new(vec![Some(most), None]).ticks;
            assert!((2..=6).contains(&ticks.values.len()), "{most}: {ticks:?}");
            assert!(ticks.values.iter().all(|v| v.fract() == 0.0), "{most}: {ticks:?}");
        }
    }
}
