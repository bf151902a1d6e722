//! The spectrum: a bar for each eigenvalue and the line of the cumulative explained variance.

use crate::axis::{Range, Ticks};
use crate::error::{PlotError, Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, Frame, FrameSpec, LABEL_SIZE, TICK, TICK_SIZE, WIDTH};
use crate::palette::{AXIS, FAINT_INK, FIRST, INK, SECOND};
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Shape, Stroke};

const PLOT_HEIGHT: f64 = 270.0;
/// More components than this are not drawn.
const LIMIT: usize = 200;
/// Up to this many components the line has a dot for each.
const MOST_DOTS: usize = 40;

/// What [`scree`] draws. With both slices the bars are eigenvalues; with one of them empty, the other alone
/// is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scree<'a> {
    /// Eigenvalues, largest first; may be empty.
    pub eigenvalues: &'a [f64],
    /// The share of the variance that each component explains (0 to 1); may be empty.
    pub ratio: &'a [f64],
    /// Lower and upper bounds for each bar, drawn as error bars.
    pub intervals: Option<&'a [(f64, f64)]>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the spectrum: bars for λᵢ (or shares, when no eigenvalues are given) and, on a second axis, the
/// cumulative share of the explained variance.
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
    let n = bars.len().min(LIMIT);
    let heights: Vec<f64> = bars.iter().take(n).copied().collect();
    let intervals: Vec<(f64, f64)> = intervals.iter().take(n).copied().collect();
    let cumulative = cumulative(input.ratio.iter().take(n));

    let right = Ticks::new(&PERCENT, 6);
    let right_room = TICK + 3.0 + font::widest(right.labels(), TICK_SIZE) + LABEL_SIZE + 8.0 + BORDER;
    let notes = notes(bars, n);
    let x = Range { lo: 0.4, hi: n.max(1) as f64 + 0.6 };
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: "component",
        y_label: if has_eigenvalues { "eigenvalue λ" } else { "share of variance" },
        y_color: FIRST,
        x,
        y: bar_range(&heights, &intervals),
        x_ticks: Some(component_ticks(n)),
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: if cumulative.is_empty() { 0.0 } else { right_room },
        notes: &notes,
    });
    draw_bars(&mut frame, &heights, &intervals);
    draw_cumulative(&mut frame, &cumulative, &right);
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

/// 1, then multiples of a nice step; every component while there are few.
fn component_ticks(n: usize) -> Ticks {
    let step = [1, 2, 5, 10, 20, 50].into_iter().find(|step| n.div_ceil(*step) <= 12).unwrap_or(50);
    let multiples = (step..=n).step_by(step);
    let numbers: Vec<usize> =
        if step > 1 { std::iter::once(1).chain(multiples).collect() } else { multiples.collect() };
    Ticks {
        values: numbers.iter().map(|k| *k as f64).collect(),
        labels: numbers.iter().map(usize::to_string).collect(),
        ..Ticks::default()
    }
}

fn draw_bars(frame: &mut Frame, heights: &[f64], intervals: &[(f64, f64)]) {
    let per_bar = frame.plot.w / (heights.len().max(1) as f64 + 0.2);
    let width = (0.8 * per_bar).min(60.0);
    for (k, height) in heights.iter().enumerate().filter(|(_, height)| height.is_finite()) {
        let [x, zero] = frame.at((k + 1) as f64, 0.0);
        let [_, end] = frame.at(0.0, *height);
        let rect = Rect { x: x - width / 2.0, y: zero.min(end), w: width, h: (zero - end).abs() };
        frame.shapes.push(Shape::Rect { rect, fill: Some(FIRST.with_alpha(0.75)), stroke: None });
    }
    let cap = (0.5 * width).min(8.0);
    for (k, (lo, hi)) in intervals.iter().enumerate().filter(|(_, (lo, hi))| lo.is_finite() && hi.is_finite())
    {
        let ([x, bottom], [_, top]) = (frame.at((k + 1) as f64, *lo), frame.at(0.0, *hi));
        let lines = [
            ([x, bottom], [x, top]),
            ([x - cap / 2.0, top], [x + cap / 2.0, top]),
            ([x - cap / 2.0, bottom], [x + cap / 2.0, bottom]),
        ]
        .map(|(from, to)| Polyline { points: vec![from, to], closed: false });
        let stroke = Some(Stroke::solid(INK, 1.0));
        frame.shapes.push(Shape::Path { lines: lines.into(), fill: None, stroke });
    }
    if frame.y.lo < 0.0 {
        let (from, to) = ([frame.plot.x, frame.at(0.0, 0.0)[1]], [frame.plot.right(), frame.at(0.0, 0.0)[1]]);
        frame.shapes.push(Shape::line(from, to, Stroke::solid(AXIS, 0.8)));
    }
}

fn draw_cumulative(frame: &mut Frame, percent: &[f64], ticks: &Ticks) {
    if percent.is_empty() {
        return;
    }
    let plot = frame.plot;
    let places = percent
        .iter()
        .enumerate()
        .map(|(k, value)| frame::at(&plot, &frame.x, &PERCENT, (k + 1) as f64, *value));
    let points: Vec<[f64; 2]> = places.collect();
    let mut shapes = Vec::new();
    if points.len() <= MOST_DOTS {
        let (marker, radius) = (Marker::Circle, if points.len() <= 20 { 3.5 } else { 2.5 });
        shapes.push(Shape::Markers { centers: points.clone(), marker, radius, color: SECOND });
    }
    let line = Polyline { points, closed: false };
    shapes.push(Shape::Path { lines: vec![line], fill: None, stroke: Some(Stroke::solid(SECOND, 1.6)) });
    frame.shapes.push(Shape::Clip { clip: plot, shapes });
    frame::right_axis(&mut frame.shapes, &plot, &PERCENT, ticks);
    let at = [WIDTH - BORDER - 4.0, plot.y + plot.h / 2.0];
    frame.shapes.push(Shape::upward_text("cumulative variance (%)", at, LABEL_SIZE, SECOND));
}

fn notes(bars: &[f64], n: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if bars.len() > n {
        notes.push(format!("first {n} of {} components", bars.len()));
    }
    let n_bad = bars.iter().take(n).filter(|v| !v.is_finite()).count();
    if n_bad > 0 {
        let values = if n_bad == 1 { "value" } else { "values" };
        notes.push(format!("{n_bad} {values} not finite, left out"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_ticks_are_few_and_begin_at_one() {
        for n in 1..=200 {
            let ticks = component_ticks(n);
            assert!(ticks.values.len() <= 13 && ticks.values.first() == Some(&1.0), "{n}: {ticks:?}");
            assert!(ticks.values.iter().all(|v| *v <= n as f64));
        }
    }

    #[test]
    fn sums_run_to_the_total() {
        let sums = cumulative([0.5, f64::NAN, 0.25].iter());
        assert_eq!(sums, [50.0, 50.0, 75.0]);
    }
}
