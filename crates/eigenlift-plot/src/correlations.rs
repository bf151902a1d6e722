//! Canonical correlations: of the rows of the fit, of rows held out, and what permuted rows give.

use crate::axis::Range;
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, LABEL_SIZE, WIDTH};
use crate::mark;
use crate::number::{count, short};
use crate::palette::{AXIS, FAINT_INK, FIRST, INK, SECOND, THIRD};
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Shape, Stroke};
use crate::scree::component_ticks;
use crate::series::{self, LineLook};

const PLOT_HEIGHT: f64 = 250.0;
/// More components than this are not drawn.
const LIMIT: usize = 200;
/// Most ticks below the bars, the first not counted.
const MOST_TICKS: usize = 12;
/// A bar is at most this wide.
const WIDEST: f64 = 60.0;
/// The longest line across the end of an error bar, halved.
const LONGEST_CAP: f64 = 5.0;

/// What [`correlations`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CorrelationsPicture<'a> {
    /// The correlation of each component on the rows of the fit.
    pub training: &'a [f64],
    /// The correlation of each component on rows held out, and its standard error.
    pub held_out: Option<(&'a [f64], &'a [f64])>,
    /// The 95 % quantile of the largest correlation after the rows of one view were permuted.
    pub null: Option<f64>,
    /// What that quantile is to be compared with, where it is not the correlations themselves.
    pub tested: Option<&'a [f64]>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the correlation of each canonical component: a bar for the rows of the fit, a marker with its standard error
/// for rows held out, and a dashed line that a correlation by chance seldom reaches.
///
/// The first 200 components are drawn; values that are not finite are left out. Both are said in a note. In SVG the
/// pointer on a component shows its numbers.
///
/// ```
/// use eigenlift_plot::{CorrelationsPicture, correlations};
///
/// let figure = correlations(&CorrelationsPicture {
///     training: &[0.98, 0.71],
///     held_out: Some((&[0.94, 0.35], &[0.01, 0.08])),
///     null: Some(0.31),
///     tested: None,
///     title: "Canonical correlations",
/// })?;
/// assert!(figure.to_svg().contains("95 % of permuted rows: 0.31"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when the slices describe different numbers of
/// components.
pub fn correlations(input: &CorrelationsPicture) -> Result<Figure> {
    if let Some((means, errors)) = input.held_out {
        check_length("the held-out correlations", means.len(), input.training.len(), "the components")?;
        check_length("the standard errors", errors.len(), input.training.len(), "the components")?;
    }
    let n = input.training.len().min(LIMIT);
    let notes = notes(input, n);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: "component",
        y_label: "correlation ρ",
        y_color: INK,
        x: Range { lo: 0.4, hi: n.max(1) as f64 + 0.6 },
        y: range(input, n),
        x_ticks: Some(component_ticks(n, 1, MOST_TICKS)),
        y_ticks: None,
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &[],
    });
    draw_bars(&mut frame, input, n);
    draw_null(&mut frame, input);
    draw_tested(&mut frame, input, n);
    draw_held_out(&mut frame, input, n);
    if n == 0 {
        let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
        frame.shapes.push(Shape::text("no components", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    let tooltips: Vec<Shape> = (0..n).map(|k| Shape::tooltip(&words(input, k), column(&frame, k))).collect();
    frame.shapes.extend(tooltips);
    let mut bottom = draw_key(&mut frame, input);
    bottom = crate::frame::notes(&mut frame.shapes, &notes, bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, frame.shapes))
}

/// Mean and standard error of component k on rows held out.
fn held_out(input: &CorrelationsPicture, k: usize) -> Option<(f64, f64)> {
    let (means, errors) = input.held_out?;
    let error = errors.get(k).copied().filter(|error| error.is_finite() && *error > 0.0).unwrap_or(0.0);
    means.get(k).copied().filter(|mean| mean.is_finite()).map(|mean| (mean, error))
}

fn null(input: &CorrelationsPicture) -> Option<f64> {
    input.null.filter(|null| null.is_finite())
}

/// From 0 to 1, and further where the values need it.
fn range(input: &CorrelationsPicture, n: usize) -> Range {
    let held_out =
        (0..n).filter_map(|k| held_out(input, k)).flat_map(|(mean, error)| [mean - error, mean + error]);
    let values = input.training.iter().take(n).copied().chain(held_out).chain(null(input));
    let (lo, hi) =
        values.filter(|v| v.is_finite()).fold((0.0_f64, 1.0_f64), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let range = Range::between(lo, hi);
    let pad = 0.04 * range.width();
    Range { lo: if lo < 0.0 { range.lo - pad } else { range.lo }, hi: range.hi + pad }
}

/// The part of the plot that belongs to component k, counted from 0.
fn column(frame: &Frame, k: usize) -> Rect {
    let [left, right] = [0.5, 1.5].map(|step| frame.at(k as f64 + step, 0.0)[0]);
    Rect { x: left, w: right - left, ..frame.plot }
}

fn draw_bars(frame: &mut Frame, input: &CorrelationsPicture, n: usize) {
    let width = (0.8 * frame.plot.w / frame.x.width()).min(WIDEST);
    let zero = frame.at(0.0, 0.0)[1];
    for (k, value) in input.training.iter().take(n).enumerate().filter(|(_, value)| value.is_finite()) {
        let [x, end] = frame.at((k + 1) as f64, *value);
        let rect = Rect { x: x - width / 2.0, y: zero.min(end), w: width, h: (zero - end).abs() };
        frame.shapes.push(Shape::Rect { rect, fill: Some(FIRST.with_alpha(0.4)), stroke: None });
    }
    if frame.y.lo < 0.0 {
        let line = Shape::line([frame.plot.x, zero], [frame.plot.right(), zero], Stroke::solid(AXIS, 0.8));
        frame.shapes.push(line);
    }
}

fn null_stroke() -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(THIRD, 1.8) }
}

fn draw_null(frame: &mut Frame, input: &CorrelationsPicture) {
    if let Some(value) = null(input) {
        let y = frame.at(0.0, value)[1];
        frame.shapes.push(Shape::line([frame.plot.x, y], [frame.plot.right(), y], null_stroke()));
    }
}

/// Draws a short level line for what is compared with permuted rows.
fn draw_tested(frame: &mut Frame, input: &CorrelationsPicture, n: usize) {
    let half = (0.4 * frame.plot.w / frame.x.width()).min(WIDEST / 2.0);
    let tested = input.tested.unwrap_or_default().iter().take(n).enumerate();
    for (k, value) in tested.filter(|(_, value)| value.is_finite()) {
        let [x, y] = frame.at((k + 1) as f64, value.clamp(frame.y.lo, frame.y.hi));
        frame.shapes.push(Shape::line([x - half, y], [x + half, y], tested_stroke()));
    }
}

fn tested_stroke() -> Stroke {
    Stroke::solid(THIRD, 2.2)
}

/// Draws markers with their error bars, without a line: components have nothing between them.
fn draw_held_out(frame: &mut Frame, input: &CorrelationsPicture, n: usize) {
    let step = frame.plot.w / frame.x.width();
    let cap = (0.3 * step).min(LONGEST_CAP);
    let shown: Vec<(f64, f64, f64)> = (0..n)
        .filter_map(|k| held_out(input, k).map(|(mean, error)| ((k + 1) as f64, mean, error)))
        .collect();
    let bars: Vec<Polyline> = shown
        .iter()
        .filter(|(_, _, error)| *error > 0.0)
        .flat_map(|(k, mean, error)| {
            mark::error_bar(frame.at(*k, mean + error), frame.at(*k, mean - error), cap)
        })
        .collect();
    let centers: Vec<[f64; 2]> = shown.iter().map(|(k, mean, _)| frame.at(*k, *mean)).collect();
    if !bars.is_empty() {
        frame.shapes.push(Shape::Path { lines: bars, fill: None, stroke: Some(Stroke::solid(SECOND, 1.3)) });
    }
    let radius = (0.3 * step).clamp(1.2, 4.0);
    frame.shapes.push(Shape::Markers { centers, marker: Marker::Circle, radius, color: SECOND });
}

/// Draws the names of what is drawn and returns where they end.
fn draw_key(frame: &mut Frame, input: &CorrelationsPicture) -> f64 {
    let null_name = null(input).map(|value| format!("95 % of permuted rows: {}", short(value)));
    let mut looks = Vec::new();
    if !input.training.is_empty() {
        looks.push(LineLook::new("rows of the fit", Stroke::solid(FIRST.with_alpha(0.4), 10.0), None));
    }
    if let Some((_, errors)) = input.held_out.filter(|(means, _)| !means.is_empty()) {
        let has_errors = errors.iter().any(|error| *error > 0.0);
        let name = if has_errors { "held out ± s.e." } else { "held out" };
        looks.push(LineLook::new(name, Stroke::solid(SECOND, 1.3), Some(Marker::Circle)));
    }
    if let Some(name) = &null_name {
        looks.push(LineLook::new(name, null_stroke(), None));
    }
    if input.tested.is_some_and(|tested| !tested.is_empty()) {
        looks.push(LineLook::new("to compare with them", tested_stroke(), None));
    }
    series::draw_key(&mut frame.shapes, &looks, frame.bottom + 4.0, WIDTH)
}

/// What is known of component k, counted from 0: one line each.
fn words(input: &CorrelationsPicture, k: usize) -> Vec<String> {
    let mut lines = vec![format!("component {}", k + 1)];
    lines.extend(input.training.get(k).map(|value| format!("rows of the fit {}", short(*value))));
    lines.extend(held_out(input, k).map(|(mean, error)| {
        let error = if error > 0.0 { format!(" ± {}", short(error)) } else { String::new() };
        format!("held out {}{error}", short(mean))
    }));
    let tested = input.tested.and_then(|tested| tested.get(k));
    lines.extend(tested.map(|value| format!("to compare with permuted rows {}", short(*value))));
    lines
}

fn notes(input: &CorrelationsPicture, n: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if input.training.len() > n {
        notes.push(format!("first {n} of {} components", input.training.len()));
    }
    let means = input.held_out.map_or(&[][..], |(means, _)| means);
    let shown = input.training.iter().take(n).chain(means.iter().take(n));
    let n_bad = shown.filter(|value| !value.is_finite()).count();
    if n_bad > 0 {
        notes.push(format!("{} not finite, left out", count(n_bad, "value")));
    }
    notes
}
