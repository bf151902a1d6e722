//! The spectrum: a bar for each eigenvalue, the line of the cumulative explained variance and the line of the
//! error that is left.

use crate::axis::{Range, Ticks};
use crate::error::{PlotError, Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, Frame, FrameSpec, LABEL_SIZE, TICK, TICK_SIZE, WIDTH};
use crate::number::short;
use crate::palette::{AXIS, FAINT_INK, FIRST, INK, SECOND, THIRD};
use crate::scene::{Anchor, Figure, Marker, Rect, Rgba, Shape, Stroke};
use crate::series::{self, LineLook};

mod bounds;

const PLOT_HEIGHT: f64 = 270.0;
/// More components than this are not drawn.
const LIMIT: usize = 200;
/// Most ticks below the bars, the first not counted.
const MOST_TICKS: usize = 12;

/// What [`scree`] draws. With both slices the bars are eigenvalues; with one of them empty, the other alone
/// is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scree<'a> {
    /// Eigenvalues, largest first; may be empty.
    pub eigenvalues: &'a [f64],
    /// The share of the variance that each component explains (0 to 1); may be empty.
    pub ratio: &'a [f64],
    /// Lower and upper bounds for each bar, drawn as error bars; an infinite bound is drawn to the end of the
    /// plot, without a cap.
    pub intervals: Option<&'a [(f64, f64)]>,
    /// J(m) for m = 0, 1, 2, …: the mean squared reconstruction error with m components, in the units of the
    /// eigenvalues; may be empty. J(0) is the total variance, so there is one entry more than components.
    pub residual: &'a [f64],
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the spectrum: bars for λᵢ (or shares, when no eigenvalues are given) and, on a second axis, the
/// cumulative share of the explained variance and the share J(m)/J(0) that is left. In SVG the pointer on a
/// component shows its numbers.
///
/// The first 200 components are drawn; values that are not finite are left out. Both are said in a note.
///
/// ```
/// use eigenlift_plot::{Scree, scree};
///
/// let (eigenvalues, ratio) = (&[3.0, 1.0], &[0.75, 0.25]);
/// let figure = scree(&Scree { eigenvalues, ratio, title: "Spectrum", ..Scree::default() })?;
/// assert!(figure.to_svg().contains("cumulative variance"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when the slices describe different numbers of components.
pub fn scree(input: &Scree) -> Result<Figure> {
    let has_eigenvalues = !input.eigenvalues.is_empty();
    let bars = if has_eigenvalues { input.eigenvalues } else { input.ratio };
    if has_eigenvalues && !input.ratio.is_empty() {
        check_length("the explained variance ratio", input.ratio.len(), bars.len(), "the eigenvalues")?;
    }
    let intervals = input.intervals.unwrap_or_default();
    if input.intervals.is_some() && intervals.len() != bars.len() {
        let (found, required) = (intervals.len(), bars.len());
        return Err(PlotError::LengthMismatch {
            what: "the intervals",
            found,
            required,
            per: "the components",
        });
    }
    if !input.residual.is_empty() {
        let per = "the components, and one for none of them";
        check_length("the residual error", input.residual.len(), bars.len() + 1, per)?;
    }
    let n = bars.len().min(LIMIT);
    let heights: Vec<f64> = bars.iter().take(n).copied().collect();
    let intervals: Vec<(f64, f64)> = intervals.iter().take(n).copied().collect();
    let lines = Lines::new(input, n);

    let right = Ticks::new(&PERCENT, 6);
    let right_room = TICK + 3.0 + font::widest(right.labels(), TICK_SIZE) + LABEL_SIZE + 8.0 + BORDER;
    let notes = notes(input, bars, n);
    let first = usize::from(lines.residual.is_empty());
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: if first == 0 { "component, or number kept m" } else { "component" },
        y_label: if has_eigenvalues { "eigenvalue λ" } else { "share of variance" },
        y_color: FIRST,
        x: Range { lo: if first == 0 { -0.4 } else { 0.4 }, hi: n.max(1) as f64 + 0.6 },
        y: bar_range(&heights, &intervals),
        x_ticks: Some(component_ticks(n, first, MOST_TICKS)),
        y_ticks: None,
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: if lines.are_empty() { 0.0 } else { right_room },
        notes: &notes,
    });
    draw_bars(&mut frame, &heights);
    bounds::draw(&mut frame, &intervals);
    lines.draw(&mut frame, &right);
    let tooltips: Vec<Shape> =
        (0..n).map(|k| Shape::tooltip(&words(input, &intervals, k), column(&frame, k))).collect();
    frame.shapes.extend(tooltips);
    if n == 0 {
        let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
        frame.shapes.push(Shape::text("no components", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

/// The second axis, a little higher than 100 so that the line does not run in the frame.
const PERCENT: Range = Range { lo: 0.0, hi: 104.0 };

/// Running sums in percent; shares that are not finite add nothing.
fn cumulative<'a>(ratio: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    ratio
        .scan(0.0, |sum, share| {
            *sum += if share.is_finite() { *share } else { 0.0 };
            Some(*sum * 100.0)
        })
        .collect()
}

/// 100·J(m)/J(0) for m = 0, 1, …; nothing where J(0) is not a positive number.
fn residual_percent(residual: &[f64]) -> Vec<f64> {
    match residual.first() {
        Some(total) if total.is_finite() && *total > 0.0 => {
            residual.iter().map(|left| left / total * 100.0).collect()
        }
        _ => Vec::new(),
    }
}

/// From zero to a little above the highest bar, and below zero for negative eigenvalues.
fn bar_range(heights: &[f64], intervals: &[(f64, f64)]) -> Range {
    let ends = intervals.iter().flat_map(|(lo, hi)| [*lo, *hi]);
    let finite = heights.iter().copied().chain(ends).filter(|v| v.is_finite());
    let (lo, hi) = finite.fold((0.0_f64, 0.0_f64), |(lo, hi), v| (lo.min(v), hi.max(v)));
    if lo == 0.0 && hi == 0.0 {
        return Range { lo: 0.0, hi: 1.0 };
    }
    let range = Range::between(lo, hi);
    let pad = 0.04 * range.width();
    Range { lo: if lo < 0.0 { range.lo - pad } else { range.lo }, hi: range.hi + pad }
}

/// The first number, 0 or 1, then multiples of a nice step; every number while there are few.
pub(crate) fn component_ticks(n: usize, first: usize, most: usize) -> Ticks {
    let step = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| n.div_ceil(*step) <= most).unwrap_or(100);
    let multiples = (step..=n).step_by(step).filter(|k| *k > first);
    let numbers: Vec<usize> = std::iter::once(first).filter(|k| *k <= n).chain(multiples).collect();
    Ticks {
        values: numbers.iter().map(|k| *k as f64).collect(),
        labels: numbers.iter().map(usize::to_string).collect(),
        ..Ticks::default()
    }
}

/// The width of a bar.
fn bar_width(frame: &Frame) -> f64 {
    (0.8 * frame.plot.w / frame.x.width()).min(60.0)
}

/// The part of the plot that belongs to component k, counted from 0.
fn column(frame: &Frame, k: usize) -> Rect {
    let [left, right] = [0.5, 1.5].map(|step| frame.at(k as f64 + step, 0.0)[0]);
    Rect { x: left, w: right - left, ..frame.plot }
}

/// What is known of component k, counted from 0: one line each.
fn words(input: &Scree, intervals: &[(f64, f64)], k: usize) -> Vec<String> {
    let value = |values: &[f64]| values.get(k).copied();
    let percent = |share: f64| format!("{} %", short(100.0 * share));
    let mut lines = vec![format!("component {}", k + 1)];
    lines.extend(value(input.eigenvalues).map(|lambda| format!("λ = {}", short(lambda))));
    if let Some(share) = value(input.ratio) {
        lines.push(format!("{} of the variance", percent(share)));
        let sum = cumulative(input.ratio.iter().take(k + 1)).last().copied().unwrap_or(0.0);
        lines.push(format!("{} up to here", percent(sum / 100.0)));
    }
    lines.extend(intervals.get(k).and_then(|bounds| bounds::words(*bounds)));
    let left = input.residual.get(k + 1).zip(input.residual.first()).map(|(left, total)| left / total);
    lines.extend(left.filter(|left| left.is_finite()).map(|left| format!("{} left after it", percent(left))));
    lines
}

fn draw_bars(frame: &mut Frame, heights: &[f64]) {
    let width = bar_width(frame);
    for (k, height) in heights.iter().enumerate().filter(|(_, height)| height.is_finite()) {
        let [x, zero] = frame.at((k + 1) as f64, 0.0);
        let [_, end] = frame.at(0.0, *height);
        let rect = Rect { x: x - width / 2.0, y: zero.min(end), w: width, h: (zero - end).abs() };
        frame.shapes.push(Shape::Rect { rect, fill: Some(FIRST.with_alpha(0.75)), stroke: None });
    }
    if frame.y.lo < 0.0 {
        let (from, to) = ([frame.plot.x, frame.at(0.0, 0.0)[1]], [frame.plot.right(), frame.at(0.0, 0.0)[1]]);
        frame.shapes.push(Shape::line(from, to, Stroke::solid(AXIS, 0.8)));
    }
}

/// The lines of the second axis, in percent.
struct Lines {
    /// After component 1, 2, ….
    cumulative: Vec<f64>,
    /// With 0, 1, 2, … components.
    residual: Vec<f64>,
}

impl Lines {
    fn new(input: &Scree, n: usize) -> Self {
        let kept = input.residual.get(..n + 1).unwrap_or_default();
        Lines { cumulative: cumulative(input.ratio.iter().take(n)), residual: residual_percent(kept) }
    }

    fn are_empty(&self) -> bool {
        self.cumulative.is_empty() && self.residual.is_empty()
    }

    /// What the second axis shows.
    fn axis_label(&self) -> (&'static str, Rgba) {
        match (self.cumulative.is_empty(), self.residual.is_empty()) {
            (false, true) => ("cumulative variance (%)", SECOND),
            (true, false) => ("residual error J (%)", THIRD),
            _ => ("share of variance (%)", INK),
        }
    }

    /// Draws the lines and their axis; two lines have a key below.
    fn draw(&self, frame: &mut Frame, ticks: &Ticks) {
        if self.are_empty() {
            return;
        }
        let plot = frame.plot;
        let place = |m: usize, value: f64| {
            value.is_finite().then(|| frame::at(&plot, &frame.x, &PERCENT, m as f64, value))
        };
        let rising = self.cumulative.iter().enumerate().map(|(k, value)| place(k + 1, *value));
        let falling = self.residual.iter().enumerate().map(|(m, value)| place(m, *value));
        let dashed = Stroke { dashed: true, ..Stroke::solid(THIRD, 1.6) };
        let looks = [
            LineLook::new("cumulative variance", Stroke::solid(SECOND, 1.6), Some(Marker::Circle)),
            LineLook::new("residual error J(m)", dashed, Some(Marker::Square)),
        ];
        let n = self.cumulative.len().max(self.residual.len().saturating_sub(1));
        let looks = looks.map(|look| look.for_places(n));
        let points: [Vec<_>; 2] = [rising.collect(), falling.collect()];
        let drawn = looks.iter().zip(&points).filter(|(_, points)| !points.is_empty());
        let shapes = drawn.flat_map(|(look, points)| look.shapes(points)).collect();
        frame.shapes.push(Shape::Clip { clip: plot, shapes });
        frame::right_axis(&mut frame.shapes, &plot, &PERCENT, ticks);
        let (label, color) = self.axis_label();
        let at = [WIDTH - BORDER - 4.0, plot.y + plot.h / 2.0];
        frame.shapes.push(Shape::upward_text(label, at, LABEL_SIZE, color));
        if !self.cumulative.is_empty() && !self.residual.is_empty() {
            frame.bottom = series::draw_key(&mut frame.shapes, &looks, frame.bottom + 4.0, WIDTH);
        }
    }
}

fn notes(input: &Scree, bars: &[f64], n: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if bars.len() > n {
        notes.push(format!("first {n} of {} components", bars.len()));
    }
    notes.extend(bounds::note(input.intervals.unwrap_or_default().get(..n).unwrap_or_default()));
    let values = |n: usize| if n == 1 { "value" } else { "values" };
    let n_bad = bars.iter().take(n).filter(|v| !v.is_finite()).count();
    if n_bad > 0 {
        notes.push(format!("{n_bad} {} not finite, left out", values(n_bad)));
    }
    let kept = input.residual.get(..n + 1).unwrap_or_default();
    let n_bad = kept.iter().filter(|v| !v.is_finite()).count();
    if !kept.is_empty() && residual_percent(kept).is_empty() {
        notes.push("J(0) is not a positive number, residual error left out".to_owned());
    } else if n_bad > 0 {
        notes.push(format!("{n_bad} {} of the residual error not finite, left out", values(n_bad)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_ticks_are_few_and_begin_where_they_should() {
        for n in 1..=1000 {
            for first in [0, 1] {
                let ticks = component_ticks(n, first, 12);
                assert!(ticks.values.len() <= 13 && ticks.values[0] == first as f64, "{n}: {ticks:?}");
                assert!(ticks.values.iter().all(|v| *v <= n as f64));
                assert!(ticks.values.windows(2).all(|pair| pair[0] < pair[1]), "{n}: {ticks:?}");
            }
        }
        assert_eq!(component_ticks(0, 0, 12).values, [0.0]);
    }

    #[test]
    fn sums_run_to_the_total() {
        let sums = cumulative([0.5, f64::NAN, 0.25].iter());
        assert_eq!(sums, [50.0, 50.0, 75.0]);
    }

    #[test]
    fn the_residual_is_a_share_of_the_total() {
        assert_eq!(residual_percent(&[8.0, 4.0, 1.0]), [100.0, 50.0, 12.5]);
        for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(residual_percent(&[total, 1.0]).is_empty(), "{total}");
        }
    }
}
