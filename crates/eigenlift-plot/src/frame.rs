//! The frame of a picture: margins measured from the text, axes, grid, title.

use crate::axis::{Range, Ticks};
use crate::font;
use crate::palette::{AXIS, FAINT_INK, GRID, INK};
use crate::scene::{Anchor, Rect, Rgba, Shape, Stroke};

/// The width of a figure with one plot. Shown 3.4 inches wide, 14 units are 7.1 points.
pub(crate) const WIDTH: f64 = 480.0;
/// Size of tick labels, legend entries and notes.
pub(crate) const TICK_SIZE: f64 = 14.0;
/// Size of axis labels.
pub(crate) const LABEL_SIZE: f64 = 15.0;
/// Size of titles.
pub(crate) const TITLE_SIZE: f64 = 17.0;
/// Empty border of every figure.
pub(crate) const BORDER: f64 = 8.0;
/// Length of a tick.
pub(crate) const TICK: f64 = 4.0;
/// Height of one line of small text.
pub(crate) const LINE: f64 = 19.0;

/// What the frame of a single plot needs to know.
pub(crate) struct FrameSpec<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    pub(crate) y_color: Rgba,
    pub(crate) x: Range,
    pub(crate) y: Range,
    /// Ticks of the x axis; chosen from the range when absent.
    pub(crate) x_ticks: Option<Ticks>,
    /// Ticks of the y axis; chosen from the range when absent, and always for equal axes.
    pub(crate) y_ticks: Option<Ticks>,
    /// One unit of x is as long as one unit of y.
    pub(crate) equal: bool,
    pub(crate) plot_height: f64,
    /// Room kept free to the right of the plot.
    pub(crate) right: f64,
    /// Lines of text below the plot that tell what was left out.
    pub(crate) notes: &'a [String],
}

/// A laid out frame with its axes drawn; the data go on top.
pub(crate) struct Frame {
    pub(crate) plot: Rect,
    pub(crate) x: Range,
    pub(crate) y: Range,
    pub(crate) shapes: Vec<Shape>,
    /// Everything drawn so far ends above this.
    pub(crate) bottom: f64,
}

impl Frame {
    /// Lays out and draws title, axes, labels and notes.
    pub(crate) fn new(spec: &FrameSpec) -> Self {
        let mut shapes = Vec::new();
        let top = title(&mut shapes, spec.title, WIDTH);
        let (mut x, mut y) = (spec.x, spec.y);
        let mut y_ticks = spec.y_ticks.clone().unwrap_or_else(|| Ticks::vertical(&y, spec.plot_height));
        let mut plot = plot_area(spec, top, &y_ticks);
        if spec.equal {
            // The tick labels decide the width, and the width decides the range: twice is enough.
            for _ in 0..2 {
                let (_, wider) = equal_ranges(spec.x, spec.y, &plot);
                plot = plot_area(spec, top, &Ticks::vertical(&wider, spec.plot_height));
            }
            (x, y) = equal_ranges(spec.x, spec.y, &plot);
            y_ticks = Ticks::vertical(&y, spec.plot_height);
        }
        let x_ticks = spec.x_ticks.clone().unwrap_or_else(|| Ticks::horizontal(&x, plot.w, 8));
        grid(&mut shapes, &plot, (&x, &x_ticks), (&y, &y_ticks));
        shapes.push(outline(&plot));
        x_axis(&mut shapes, &plot, (&x, &x_ticks), (2.0, WIDTH - 2.0));
        y_axis(&mut shapes, &plot, &y, &y_ticks);
        let mut bottom = plot.bottom() + TICK + LINE;
        let x_label = x_ticks.axis_label(spec.x_label, WIDTH - 2.0 * BORDER);
        if !x_label.is_empty() {
            bottom += LABEL_SIZE + 4.0;
            let center = centered(&x_label, plot.x + plot.w / 2.0);
            shapes.push(Shape::text(&x_label, [center, bottom - 4.0], LABEL_SIZE, Anchor::Middle, INK));
        }
        shapes.push(y_label(&y_ticks, spec.y_label, &plot, spec.y_color));
        bottom = notes(&mut shapes, spec.notes, bottom, WIDTH);
        Frame { plot, x, y, shapes, bottom }
    }

    /// The place of a value in the figure.
    pub(crate) fn at(&self, x: f64, y: f64) -> [f64; 2] {
        at(&self.plot, &self.x, &self.y, x, y)
    }
}

/// The place of a value in a plot.
pub(crate) fn at(plot: &Rect, x_range: &Range, y_range: &Range, x: f64, y: f64) -> [f64; 2] {
    [plot.x + plot.w * x_range.place(x), plot.bottom() - plot.h * y_range.place(y)]
}

/// The middle of a text that should be centred at `wanted` and stay inside a figure of the usual width.
fn centered(text: &str, wanted: f64) -> f64 {
    let half = font::width(text, LABEL_SIZE) / 2.0;
    wanted.min(WIDTH - BORDER - half).max(BORDER + half)
}

/// The label of the vertical axis: beside the middle of the plot, or a little lower where it needs the room.
fn y_label(ticks: &Ticks, label: &str, plot: &Rect, color: Rgba) -> Shape {
    let (top, end) = (plot.y - 4.0, plot.bottom() + LINE);
    let text = ticks.axis_label(label, end - top);
    let middle = (plot.y + plot.h / 2.0).max(top + font::width(&text, LABEL_SIZE) / 2.0);
    Shape::upward_text(&text, [BORDER + 0.8 * LABEL_SIZE, middle], LABEL_SIZE, color)
}

fn plot_area(spec: &FrameSpec, top: f64, y_ticks: &Ticks) -> Rect {
    let left =
        BORDER + label_room(spec.y_label, y_ticks) + font::widest(y_ticks.labels(), TICK_SIZE) + TICK + 6.0;
    let right = spec.right.max(BORDER + 6.0);
    Rect { x: left, y: top, w: (WIDTH - left - right).max(60.0), h: spec.plot_height }
}

/// The width that an upward label takes.
pub(crate) fn label_room(label: &str, ticks: &Ticks) -> f64 {
    if ticks.axis_label(label, WIDTH).is_empty() { 0.0 } else { LABEL_SIZE + 8.0 }
}

/// The ranges, one of them widened so that both axes have the same scale.
pub(crate) fn equal_ranges(x: Range, y: Range, plot: &Rect) -> (Range, Range) {
    let unit = (x.width() / plot.w).max(y.width() / plot.h);
    (x.with_width(unit * plot.w), y.with_width(unit * plot.h))
}

/// Draws the title and returns where the rest may begin.
pub(crate) fn title(shapes: &mut Vec<Shape>, title: &str, width: f64) -> f64 {
    if title.is_empty() {
        return BORDER + 6.0;
    }
    let text = font::truncated(title, TITLE_SIZE, width - 2.0 * BORDER);
    shapes.push(Shape::text(&text, [width / 2.0, BORDER + TITLE_SIZE], TITLE_SIZE, Anchor::Middle, INK));
    BORDER + TITLE_SIZE + 14.0
}

/// Draws notes one below the other and returns where they end.
pub(crate) fn notes(shapes: &mut Vec<Shape>, notes: &[String], top: f64, width: f64) -> f64 {
    let mut bottom = top;
    for note in notes {
        bottom += LINE;
        let text = font::truncated(note, TICK_SIZE, width - 2.0 * BORDER);
        shapes.push(Shape::text(&text, [BORDER, bottom - 5.0], TICK_SIZE, Anchor::Start, FAINT_INK));
    }
    bottom
}

/// The thin line around a plot.
pub(crate) fn outline(plot: &Rect) -> Shape {
    Shape::Rect { rect: *plot, fill: None, stroke: Some(Stroke::solid(AXIS, 0.8)) }
}

/// Draws faint lines at the ticks.
pub(crate) fn grid(shapes: &mut Vec<Shape>, plot: &Rect, x: (&Range, &Ticks), y: (&Range, &Ticks)) {
    let stroke = Stroke::solid(GRID, 0.8);
    for value in &x.1.values {
        let left = plot.x + plot.w * x.0.place(*value);
        shapes.push(Shape::line([left, plot.y], [left, plot.bottom()], stroke));
    }
    for value in &y.1.values {
        let top = plot.bottom() - plot.h * y.0.place(*value);
        shapes.push(Shape::line([plot.x, top], [plot.right(), top], stroke));
    }
}

/// Draws ticks and labels below a plot; labels are moved to stay between two bounds.
pub(crate) fn x_axis(shapes: &mut Vec<Shape>, plot: &Rect, axis: (&Range, &Ticks), bounds: (f64, f64)) {
    let (range, ticks) = axis;
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let x = plot.x + plot.w * range.place(*value);
        let bottom = plot.bottom();
        shapes.push(Shape::line([x, bottom], [x, bottom + TICK], Stroke::solid(AXIS, 0.8)));
        let half = font::width(label, TICK_SIZE) / 2.0;
        let at = [x.min(bounds.1 - half).max(bounds.0 + half), bottom + TICK + TICK_SIZE];
        shapes.push(Shape::text(label, at, TICK_SIZE, Anchor::Middle, INK));
    }
}

/// Draws ticks and labels to the left of a plot.
pub(crate) fn y_axis(shapes: &mut Vec<Shape>, plot: &Rect, range: &Range, ticks: &Ticks) {
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let y = plot.bottom() - plot.h * range.place(*value);
        shapes.push(Shape::line([plot.x - TICK, y], [plot.x, y], Stroke::solid(AXIS, 0.8)));
        let at = [plot.x - TICK - 3.0, y + 0.36 * TICK_SIZE];
        shapes.push(Shape::text(label, at, TICK_SIZE, Anchor::End, INK));
    }
}

/// Draws ticks and labels to the right of a plot.
pub(crate) fn right_axis(shapes: &mut Vec<Shape>, plot: &Rect, range: &Range, ticks: &Ticks) {
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let y = plot.bottom() - plot.h * range.place(*value);
        let right = plot.right();
        shapes.push(Shape::line([right, y], [right + TICK, y], Stroke::solid(AXIS, 0.8)));
        let at = [right + TICK + 3.0, y + 0.36 * TICK_SIZE];
        shapes.push(Shape::text(label, at, TICK_SIZE, Anchor::Start, INK));
    }
}
