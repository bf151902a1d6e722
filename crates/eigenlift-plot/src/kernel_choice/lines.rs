//! The panel of lines: the criterion over k, one line for each bandwidth.

use super::{Axis, Curve, KernelChoicePicture, LINES_HEIGHT, Point, Scale, log2};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK_SIZE, WIDTH};
use crate::mark::{error_bar, ring, square};
use crate::palette::{FAINT_INK, INK};
use crate::scene::{Anchor, Polyline, Rect, Rgba, Shape, Stroke};
use crate::series::LineLook;

/// Between the plot and the legend.
const LEGEND_GAP: f64 = 10.0;
const LEGEND_SAMPLE: f64 = 20.0;
/// Longer names are cut.
const NAME_WIDTH: f64 = 96.0;
const NAME_GAP: f64 = 6.0;
/// Between two entries of the key.
const KEY_GAP: f64 = 16.0;
const KEY_SAMPLE: f64 = 22.0;
const RING: f64 = 6.5;
const SQUARE: f64 = 7.0;
/// Half the length of the line across the end of an error bar.
const CAP: f64 = 2.5;
/// Bars of more lines than this are fainter.
const MANY_LINES: usize = 4;

/// The lines with what names them.
pub(super) struct Lines<'a> {
    input: &'a KernelChoicePicture<'a>,
    curves: &'a [Curve],
    scale: &'a Scale,
    /// Names of the curves that are named, the largest bandwidth first.
    legend: Vec<(&'a Curve, String)>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a KernelChoicePicture<'a>, curves: &'a [Curve], scale: &'a Scale) -> Self {
        let most = (LINES_HEIGHT / LINE) as usize;
        let step = curves.len().div_ceil(most).max(1);
        let named = curves.iter().rev().step_by(step).filter(|_| curves.len() > 1);
        let legend =
            named.map(|curve| (curve, font::truncated(&curve.label, TICK_SIZE, NAME_WIDTH))).collect();
        Lines { input, curves, scale, legend }
    }

    /// The room that the legend takes to the right of the plot.
    pub(super) fn legend_width(&self) -> f64 {
        if self.legend.is_empty() {
            return 0.0;
        }
        let names = font::widest(self.legend.iter().map(|(_, name)| name.as_str()), TICK_SIZE);
        LEGEND_GAP + LEGEND_SAMPLE + NAME_GAP + names + BORDER
    }

    /// Draws key, panel and legend, and returns the place of the panel.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, x: &Axis, top: f64) -> Rect {
        let mut top = draw_key(shapes, &self.key(), top);
        let chosen = self.chosen().and_then(|(curve, point)| Some((curve, point, log2(point.k)?)));
        let chosen =
            chosen.map(|(curve, point, place)| (curve, point, x.left + x.width * x.range.place(place)));
        if let Some((curve, point, place)) = chosen {
            top = draw_chosen(shapes, curve, point, [place, top]);
        }
        let plot = x.plot(top + 2.0, LINES_HEIGHT);
        frame::grid(shapes, &plot, (&x.range, &x.ticks), (&self.scale.range, &self.scale.ticks));
        if let Some((_, _, place)) = chosen {
            let stroke = Stroke::solid(INK, 1.2);
            shapes.push(Shape::line([place, plot.y - 2.0], [place, plot.bottom()], stroke));
        }
        let data = self.data(|k, value| frame::at(&plot, &x.range, &self.scale.range, k, value), &plot);
        let is_empty = data.is_empty();
        shapes.push(Shape::Clip { clip: plot, shapes: data });
        if is_empty {
            let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
        shapes.push(frame::outline(&plot));
        frame::y_axis(shapes, &plot, &self.scale.range, &self.scale.ticks);
        let label = if self.input.criterion.is_empty() { "error" } else { self.input.criterion };
        let label = self.scale.ticks.axis_label(label, plot.h + LINE);
        let at = [BORDER + 0.8 * LABEL_SIZE, plot.y + plot.h / 2.0];
        shapes.push(Shape::upward_text(&label, at, LABEL_SIZE, INK));
        self.draw_legend(shapes, &plot);
        plot
    }

    fn chosen(&self) -> Option<(&Curve, &Point)> {
        self.curves.iter().find_map(|curve| Some((curve, curve.points.iter().find(|point| point.chosen)?)))
    }

    /// What is drawn and needs a name.
    fn key(&self) -> Vec<Entry> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let mut key = Vec::new();
        if points().any(|point| point.error > 0.0) {
            key.push(Entry::Bar);
        }
        if points().any(|point| point.near) {
            key.push(Entry::Ring);
        }
        if self.input.baseline.is_some_and(|v| self.scale.place(v).is_some()) {
            key.push(Entry::Dashes(if self.input.higher_is_better { "baseline" } else { "column mean" }));
        }
        key
    }

    /// Baseline, bars, lines, rings and the square, in this order.
    fn data(&self, place: impl Fn(f64, f64) -> [f64; 2], plot: &Rect) -> Vec<Shape> {
        let mut shapes = Vec::new();
        if let Some(value) = self.input.baseline.and_then(|v| self.scale.place(v)) {
            let y = place(0.0, value)[1];
            shapes.push(Shape::line([plot.x, y], [plot.right(), y], baseline_stroke()));
        }
        let faint = if self.curves.len() > MANY_LINES { 0.55 } else { 0.9 };
        for curve in self.curves {
            let lines = curve.points.iter().filter_map(|p| bar(p, self.scale, &place, plot)).flatten();
            let lines: Vec<Polyline> = lines.collect();
            if !lines.is_empty() {
                let stroke = Some(Stroke::solid(curve.color.with_alpha(faint), 1.0));
                shapes.push(Shape::Path { lines, fill: None, stroke });
            }
        }
        let at = |p: &Point| Some(place(log2(p.k)?, self.scale.place(p.value)?));
        for curve in self.curves {
            let points: Vec<Option<[f64; 2]>> = curve.points.iter().filter(|p| p.k > 0).map(&at).collect();
            if points.iter().any(Option::is_some) {
                shapes.extend(look(curve).for_places(points.len()).shapes(&points));
            }
        }
        let marked = |is: fn(&Point) -> bool| {
            self.curves.iter().flat_map(|curve| &curve.points).filter(move |p| is(p)).filter_map(&at)
        };
        let rings: Vec<Polyline> = marked(|p| p.near).map(|center| ring(center, RING)).collect();
        let squares: Vec<Polyline> = marked(|p| p.chosen).map(|center| square(center, SQUARE)).collect();
        shapes.extend(hollow(rings, 1.4));
        shapes.extend(hollow(squares, 2.2));
        shapes
    }

    fn draw_legend(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        for (k, (curve, name)) in self.legend.iter().enumerate() {
            let (left, y) = (plot.right() + LEGEND_GAP, plot.y + LINE * (k as f64 + 0.5));
            let middle = left + LEGEND_SAMPLE / 2.0;
            let (stroke, marker) = (Stroke::solid(curve.color, 1.8), curve.marker);
            shapes.push(Shape::line([left, y], [left + LEGEND_SAMPLE, y], stroke));
            let centers = vec![[middle, y]];
            shapes.push(Shape::Markers { centers, marker, radius: 3.5, color: curve.color });
            let at = [left + LEGEND_SAMPLE + NAME_GAP, y + 0.36 * TICK_SIZE];
            shapes.push(Shape::text(name, at, TICK_SIZE, Anchor::Start, INK));
        }
    }
}

fn look(curve: &Curve) -> LineLook<'_> {
    LineLook::new(&curve.label, Stroke::solid(curve.color, 1.8), Some(curve.marker))
}

fn baseline_stroke() -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(FAINT_INK, 1.6) }
}

/// Closed lines in ink on a light ground.
pub(super) fn hollow(lines: Vec<Polyline>, width: f64) -> Vec<Shape> {
    if lines.is_empty() {
        return Vec::new();
    }
    let ground = Stroke::solid(Rgba::hex(0xffffff).with_alpha(0.8), width + 2.2);
    let path = |lines: Vec<Polyline>, stroke| Shape::Path { lines, fill: None, stroke: Some(stroke) };
    vec![path(lines.clone(), ground), path(lines, Stroke::solid(INK, width))]
}

/// The bar of one standard error to both sides, with its caps.
fn bar(
    point: &Point,
    scale: &Scale,
    place: impl Fn(f64, f64) -> [f64; 2],
    plot: &Rect,
) -> Option<[Polyline; 3]> {
    let k = log2(point.k)?;
    scale.place(point.value)?;
    if !(point.error > 0.0 && point.error.is_finite()) {
        return None;
    }
    let top = place(k, scale.place(point.value + point.error)?);
    // A bar that reaches zero leaves the panel.
    let low = scale.place(point.value - point.error).map_or([top[0], plot.bottom() + 10.0], |v| place(k, v));
    Some(error_bar(low, top, CAP))
}

/// One entry of the key.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Entry {
    Bar,
    Ring,
    Dashes(&'static str),
}

impl Entry {
    fn name(self) -> &'static str {
        match self {
            Entry::Bar => "± s.e.",
            Entry::Ring => "within one s.e. of the best",
            Entry::Dashes(name) => name,
        }
    }

    fn sample_width(self) -> f64 {
        match self {
            Entry::Bar => 8.0,
            Entry::Ring => 2.0 * RING,
            Entry::Dashes(_) => KEY_SAMPLE,
        }
    }

    fn width(self) -> f64 {
        self.sample_width() + NAME_GAP + font::width(self.name(), TICK_SIZE)
    }

    fn draw(self, shapes: &mut Vec<Shape>, [x, y]: [f64; 2]) {
        let right = x + self.sample_width();
        let middle = (x + right) / 2.0;
        match self {
            Entry::Bar => {
                let lines = error_bar([middle, y + 6.0], [middle, y - 6.0], CAP).to_vec();
                shapes.push(Shape::Path { lines, fill: None, stroke: Some(Stroke::solid(INK, 1.0)) });
            }
            Entry::Ring => shapes.extend(hollow(vec![ring([middle, y], RING)], 1.4)),
            Entry::Dashes(_) => shapes.push(Shape::line([x, y], [right, y], baseline_stroke())),
        }
        let at = [right + NAME_GAP, y + 0.36 * TICK_SIZE];
        shapes.push(Shape::text(self.name(), at, TICK_SIZE, Anchor::Start, INK));
    }
}

/// Draws the key in one row, which all entries together fill at most, and returns where it ends.
fn draw_key(shapes: &mut Vec<Shape>, key: &[Entry], top: f64) -> f64 {
    if key.is_empty() {
        return top;
    }
    let used: f64 = key.iter().map(|entry| entry.width() + KEY_GAP).sum::<f64>() - KEY_GAP;
    let mut x = ((WIDTH - used) / 2.0).max(BORDER);
    for entry in key {
        entry.draw(shapes, [x, top + LINE / 2.0]);
        x += entry.width() + KEY_GAP;
    }
    top + LINE + 2.0
}

/// Draws what is chosen above its line and returns where the line begins.
fn draw_chosen(shapes: &mut Vec<Shape>, curve: &Curve, point: &Point, [x, top]: [f64; 2]) -> f64 {
    let end = format!(", k = {}", point.k);
    let sample = 2.0 * SQUARE + NAME_GAP;
    let room = WIDTH - 2.0 * BORDER - sample - font::width(&end, TICK_SIZE);
    let text = format!("{}{end}", font::truncated(&format!("chosen: {}", curve.full_label), TICK_SIZE, room));
    let width = sample + font::width(&text, TICK_SIZE);
    let left = (x - width / 2.0).min(WIDTH - BORDER - width).max(BORDER);
    let y = top + LINE / 2.0;
    shapes.extend(hollow(vec![square([left + SQUARE, y], SQUARE - 1.0)], 2.2));
    let at = [left + sample, y + 0.36 * TICK_SIZE];
    shapes.push(Shape::text(&text, at, TICK_SIZE, Anchor::Start, INK));
    top + LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_fits_in_one_row() {
        let key = [Entry::Bar, Entry::Ring, Entry::Dashes("column mean")];
        let used: f64 = key.iter().map(|entry| entry.width() + KEY_GAP).sum::<f64>() - KEY_GAP;
        assert!(used <= WIDTH - 2.0 * BORDER, "{used}");
    }
}
