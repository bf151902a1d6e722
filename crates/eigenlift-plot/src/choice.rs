//! How many components: the spectrum, the errors and the answer of each rule over the number kept.

use crate::axis::{Range, Ticks};
use crate::error::{PlotError, Result};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::log_axis;
use crate::palette::{FAINT_INK, FIRST, INK, SECOND, THIRD};
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Rgba, Shape, Stroke};
use crate::scree::component_ticks;
use crate::series::{self, LineLook};
use crate::strip::Strip;

const SPECTRUM_HEIGHT: f64 = 160.0;
const ERRORS_HEIGHT: f64 = 140.0;
/// Between a panel and what is below it.
const GAP: f64 = 7.0;
/// At least this many components are drawn where there are so many.
const LEAST_SHOWN: usize = 20;
/// More components are drawn only to show a consensus beyond.
const LIMIT: usize = 60;
/// More are never drawn.
const HARD_LIMIT: usize = 1000;
/// Most ticks below the panels, the first not counted.
const MOST_TICKS: usize = 12;
/// Eigenvalues are drawn over this many decades.
const SPECTRUM_DECADES: f64 = 8.0;
/// Residual errors are drawn over this many decades, or to a little below the cross-validated error.
const RESIDUAL_DECADES: f64 = 4.0;
const BELOW_CROSS_VALIDATED: f64 = 0.7;

/// The answer of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rule<'a> {
    /// The name of the rule, such as "parallel analysis".
    pub name: &'a str,
    /// The number of components it keeps; `None` where it gives no answer.
    pub m: Option<usize>,
}

/// What [`choice`] draws. Every slice may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Choice<'a> {
    /// Eigenvalues λ, largest first.
    pub eigenvalues: &'a [f64],
    /// The 95 % quantile of each eigenvalue of permuted data (parallel analysis); as many as eigenvalues or
    /// fewer.
    pub null: Option<&'a [f64]>,
    /// Eigenvalues above this are kept, in the units of λ (Gavish and Donoho).
    pub threshold: Option<f64>,
    /// (m, mean error, standard error) for each m tried, in the units of `residual`.
    pub cross_validated: &'a [(usize, f64, f64)],
    /// J(m) for m = 0, 1, 2, …: the mean squared reconstruction error with m components. With it, errors are
    /// drawn in percent of J(0).
    pub residual: &'a [f64],
    /// The answers of the rules, from top to bottom.
    pub rules: &'a [Rule<'a>],
    /// The number of components chosen; a line through all panels.
    pub consensus: usize,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws how many components to keep: eigenvalues with what noise would give, errors with and without
/// cross-validation, and the answer of each rule, all over the number of components m.
///
/// Both panels have logarithmic axes; values that are not positive numbers are left out and counted in a note.
/// At most 60 components are drawn, and more only where the consensus needs them; an answer further right is
/// an arrow at the edge.
///
/// ```
/// use eigenlift_plot::{Choice, Rule, choice};
///
/// let figure = choice(&Choice {
///     eigenvalues: &[4.0, 2.0, 0.3, 0.2],
///     null: Some(&[0.9, 0.6, 0.4, 0.3]),
///     residual: &[6.5, 2.5, 0.5, 0.2, 0.0],
///     rules: &[Rule { name: "parallel analysis", m: Some(2) }, Rule { name: "elbow", m: None }],
///     consensus: 2,
///     ..Choice::default()
/// })?;
/// assert!(figure.to_svg().contains("parallel analysis"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when `null` has more entries than there are eigenvalues.
pub fn choice(input: &Choice) -> Result<Figure> {
    let (found, required) = (input.null.unwrap_or_default().len(), input.eigenvalues.len());
    if found > required {
        let (what, per) = ("the null eigenvalues", "the eigenvalues");
        return Err(PlotError::LengthMismatch { what, found, required, per });
    }
    let n = n_shown(input);
    let x = x_range(n);
    let mut panels = vec![spectrum(input, n)];
    if !(input.residual.is_empty() && input.cross_validated.is_empty()) {
        panels.push(errors(input, n));
    }
    let strip = Strip::new(input.rules, input.consensus);
    let ticks_width = panels.iter().map(Panel::ticks_width).fold(0.0, f64::max);
    let left = strip.left().max(BORDER + LABEL_SIZE + 8.0 + ticks_width);
    let w = (WIDTH - left - strip.right()).max(60.0);

    let mut shapes = Vec::new();
    let mut top = frame::title(&mut shapes, input.title, WIDTH) - GAP;
    let x_ticks = component_ticks(n, 0, MOST_TICKS);
    let consensus = input.consensus as f64;
    for panel in &panels {
        top = series::draw_key(&mut shapes, &panel.looks(), top, WIDTH) + 3.0;
        let plot = Rect { x: left, y: top, w, h: panel.height };
        panel.draw(&mut shapes, &plot, (&x, &x_ticks), consensus);
        panel.draw_label(&mut shapes, &plot, left - ticks_width);
        top = plot.bottom() + GAP;
    }
    let plot = Rect { x: left, y: top, w, h: strip.height() };
    strip.draw(&mut shapes, &plot, (&x, &x_ticks));
    frame::x_axis(&mut shapes, &plot, (&x, &x_ticks), (2.0, WIDTH - 2.0));
    let mut bottom = plot.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
    let at = [plot.x + plot.w / 2.0, bottom - 4.0];
    shapes.push(Shape::text("components kept m", at, LABEL_SIZE, Anchor::Middle, INK));
    bottom = frame::notes(&mut shapes, &notes(input, &panels, n), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// The largest number of components that the data speak of.
fn n_given(input: &Choice) -> usize {
    let tried = input.cross_validated.iter().map(|(m, ..)| *m).max().unwrap_or(0);
    input.eigenvalues.len().max(input.residual.len().saturating_sub(1)).max(tried)
}

/// The number of components drawn: enough for the answers and some more.
fn n_shown(input: &Choice) -> usize {
    let answers = input.rules.iter().filter_map(|rule| rule.m);
    let furthest = answers.max().unwrap_or(0).max(input.consensus);
    let with_room = |m: usize| m.saturating_add(m / 4).saturating_add(4);
    let needed = with_room(input.consensus).min(HARD_LIMIT);
    let wanted = with_room(furthest).clamp(LEAST_SHOWN, LIMIT).max(needed);
    let most = if n_given(input) == 0 { furthest } else { n_given(input).max(input.consensus) };
    wanted.min(most).max(1)
}

/// From none to n, with room for the markers at the ends.
fn x_range(n: usize) -> Range {
    let pad = (0.02 * n as f64).max(0.5);
    Range { lo: -pad, hi: n as f64 + pad }
}

/// One line of a panel; values are as given, over m.
struct Line {
    look: LineLook<'static>,
    points: Vec<(f64, f64)>,
    /// m, lower and upper end of each error bar.
    bars: Vec<(f64, f64, f64)>,
}

impl Line {
    fn new(look: LineLook<'static>, points: Vec<(f64, f64)>, n: usize) -> Self {
        // Few points are far from each other.
        let look = look.for_places(n.min(2 * points.len()));
        Line { look, points, bars: Vec::new() }
    }

    fn logs(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().filter_map(|(_, value)| log_axis::log10(*value))
    }

    fn draw(&self, place: impl Fn(f64, f64) -> [f64; 2], bottom: f64) -> Vec<Shape> {
        let points: Vec<_> =
            self.points.iter().map(|(m, v)| log_axis::log10(*v).map(|log| place(*m, log))).collect();
        let ends = self.bars.iter().filter_map(|(m, lo, hi)| {
            let top = place(*m, log_axis::log10(*hi)?);
            // A bar that reaches zero leaves the panel.
            let low = log_axis::log10(*lo).map_or([top[0], bottom + 10.0], |log| place(*m, log));
            Some((low, top))
        });
        let cap = (0.3 * (place(1.0, 0.0)[0] - place(0.0, 0.0)[0])).min(3.0);
        let bar = |(low, top): ([f64; 2], [f64; 2])| {
            [
                (low, top),
                ([top[0] - cap, top[1]], [top[0] + cap, top[1]]),
                ([low[0] - cap, low[1]], [low[0] + cap, low[1]]),
            ]
        };
        let lines: Vec<Polyline> =
            ends.flat_map(bar).map(|(from, to)| Polyline { points: vec![from, to], closed: false }).collect();
        let mut shapes = Vec::new();
        if !lines.is_empty() {
            let stroke = Some(Stroke::solid(self.look.stroke.color, 1.0));
            shapes.push(Shape::Path { lines, fill: None, stroke });
        }
        shapes.extend(self.look.shapes(&points));
        shapes
    }
}

/// Lines on a logarithmic axis over the number of components.
struct Panel {
    label: &'static str,
    height: f64,
    lines: Vec<Line>,
    /// Of the logarithms.
    range: Range,
    ticks: Ticks,
}

impl Panel {
    fn new(label: &'static str, height: f64, lines: Vec<Line>, floor: f64) -> Self {
        let highs = lines.iter().flat_map(|line| &line.bars).filter_map(|(_, _, hi)| log_axis::log10(*hi));
        let range = log_axis::range(lines.iter().flat_map(Line::logs).chain(highs), floor);
        let ticks = log_axis::ticks(&range, height);
        Panel { label, height, lines, range, ticks }
    }

    fn looks(&self) -> Vec<LineLook<'static>> {
        self.lines.iter().map(|line| line.look).collect()
    }

    /// The room that ticks and their labels take to the left of the plot.
    fn ticks_width(&self) -> f64 {
        font::widest(self.ticks.labels(), TICK_SIZE) + TICK + 6.0
    }

    /// Values that have no place on the axis, and values that lie below it.
    fn n_missing(&self) -> (usize, usize) {
        // The threshold begins left of zero and is counted at its other end.
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(|(m, _)| *m >= 0.0);
        let logs = || points().map(|(_, value)| log_axis::log10(*value));
        let n_below = logs().flatten().filter(|log| *log < self.range.lo).count();
        (logs().filter(Option::is_none).count(), n_below)
    }

    fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect, x: (&Range, &Ticks), consensus: f64) {
        frame::grid(shapes, plot, x, (&self.range, &self.ticks));
        let place = |m: f64, log: f64| frame::at(plot, x.0, &self.range, m, log);
        if x.0.contains(consensus) {
            let (from, to) = ([place(consensus, 0.0)[0], plot.y], [place(consensus, 0.0)[0], plot.bottom()]);
            shapes.push(Shape::line(from, to, Stroke::solid(INK, 1.2)));
        }
        let drawn = self.lines.iter().flat_map(|line| line.draw(place, plot.bottom())).collect();
        shapes.push(Shape::Clip { clip: *plot, shapes: drawn });
        shapes.push(frame::outline(plot));
        frame::y_axis(shapes, plot, &self.range, &self.ticks);
        if self.lines.iter().all(|line| line.logs().next().is_none()) {
            let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no positive values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
    }

    /// Draws the label of the axis, which ends at `right`.
    fn draw_label(&self, shapes: &mut Vec<Shape>, plot: &Rect, right: f64) {
        let text = self.ticks.axis_label(self.label, plot.h + LINE);
        let at = [right - 5.0, plot.y + plot.h / 2.0];
        shapes.push(Shape::upward_text(&text, at, LABEL_SIZE, INK));
    }
}

fn dashed(color: Rgba) -> Stroke {
    Stroke { dashed: true, ..Stroke::solid(color, 1.6) }
}

/// The eigenvalues and what they are held against.
fn spectrum(input: &Choice, n: usize) -> Panel {
    let counted = |values: &[f64]| -> Vec<(f64, f64)> {
        values.iter().take(n).enumerate().map(|(k, value)| ((k + 1) as f64, *value)).collect()
    };
    let look = LineLook::new("eigenvalue", Stroke::solid(FIRST, 1.6), Some(Marker::Circle));
    let mut lines = vec![Line::new(look, counted(input.eigenvalues), n)];
    if let Some(null) = input.null.filter(|null| !null.is_empty()) {
        let look = LineLook::new("95 % of permuted data", dashed(THIRD), None);
        lines.push(Line::new(look, counted(null), n));
    }
    if let Some(threshold) = input.threshold {
        let look = LineLook::new("threshold", Stroke::solid(SECOND, 1.4), None);
        let Range { lo, hi } = x_range(n);
        lines.push(Line::new(look, vec![(lo, threshold), (hi, threshold)], n));
    }
    let highest = lines.iter().flat_map(Line::logs).fold(f64::NEG_INFINITY, f64::max);
    Panel::new("eigenvalue λ", SPECTRUM_HEIGHT, lines, highest - SPECTRUM_DECADES)
}

/// The errors, in percent of J(0) where it is known.
fn errors(input: &Choice, n: usize) -> Panel {
    let total = input.residual.first().copied().filter(|total| log_axis::log10(*total).is_some());
    let unit = total.map_or(1.0, |total| total / 100.0);
    let mut tried: Vec<(usize, f64, f64)> =
        input.cross_validated.iter().filter(|(m, ..)| *m <= n).copied().collect();
    tried.sort_by_key(|(m, ..)| *m);
    let mut lines = Vec::new();
    if !tried.is_empty() {
        let points = tried.iter().map(|(m, mean, _)| (*m as f64, mean / unit)).collect();
        let look = LineLook::new("cross-validated ± s.e.", Stroke::solid(SECOND, 1.6), Some(Marker::Square));
        let mut line = Line::new(look, points, n);
        let with_bar =
            tried.iter().filter(|(_, mean, error)| log_axis::log10(*mean).is_some() && *error > 0.0);
        line.bars = with_bar
            .map(|(m, mean, error)| (*m as f64, (mean - error) / unit, (mean + error) / unit))
            .collect();
        lines.push(line);
    }
    let floor = lines.iter().flat_map(Line::logs).fold(f64::INFINITY, f64::min) - BELOW_CROSS_VALIDATED;
    if !input.residual.is_empty() {
        let points = input.residual.iter().take(n + 1).enumerate().map(|(m, j)| (m as f64, j / unit));
        let look = LineLook::new("residual error J", dashed(FIRST), Some(Marker::Circle));
        lines.push(Line::new(look, points.collect(), n));
    }
    let highest = lines.iter().flat_map(Line::logs).fold(f64::NEG_INFINITY, f64::max);
    let floor = if floor.is_finite() { floor } else { highest - RESIDUAL_DECADES };
    let label = if total.is_some() { "error (% of J(0))" } else { "error" };
    Panel::new(label, ERRORS_HEIGHT, lines, floor)
}

fn notes(input: &Choice, panels: &[Panel], n: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if n_given(input) > n {
        notes.push(format!("first {n} of {} components", n_given(input)));
    }
    let values = |n: usize| if n == 1 { "value" } else { "values" };
    let missing = panels.iter().map(Panel::n_missing);
    let (n_left_out, n_below) = missing.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    if n_left_out > 0 {
        notes.push(format!("{n_left_out} {} not positive or not finite, left out", values(n_left_out)));
    }
    if n_below > 0 {
        notes.push(format!("{n_below} {} below the axis", values(n_below)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(n: usize, m: usize, consensus: usize) -> usize {
        let values = vec![1.0; n];
        let rules = [Rule { name: "a", m: Some(m) }, Rule { name: "b", m: None }];
        n_shown(&Choice { eigenvalues: &values, rules: &rules, consensus, ..Choice::default() })
    }

    #[test]
    fn enough_components_are_shown() {
        assert_eq!([shown(4, 2, 2), shown(0, 0, 0), shown(300, 2, 2)], [4, 1, 20]);
        assert_eq!(shown(300, 24, 2), 34, "the answers and some more");
        assert_eq!(shown(300, 250, 3), 60, "an answer far away is an arrow");
        assert_eq!(shown(300, 3, 100), 129, "the consensus is always seen");
        assert_eq!(shown(300, usize::MAX, usize::MAX), HARD_LIMIT);
        assert_eq!(shown(6, 123_456, 2), 6, "no room without data");
    }

    #[test]
    fn errors_are_percent_of_the_total_and_sorted() {
        let input = Choice {
            residual: &[8.0, 2.0, 0.0],
            cross_validated: &[(2, 4.0, 1.0), (1, 2.0, f64::NAN)],
            ..Choice::default()
        };
        let panel = errors(&input, 2);
        assert_eq!(panel.lines[0].points, [(1.0, 25.0), (2.0, 50.0)]);
        assert_eq!(panel.lines[0].bars, [(2.0, 37.5, 62.5)]);
        assert_eq!(panel.lines[1].points, [(0.0, 100.0), (1.0, 25.0), (2.0, 0.0)]);
        assert_eq!(panel.n_missing(), (1, 0));
    }
}
