//! Which bandwidth and how many components: the error over both, and what is chosen.

mod lines;
mod map;

use crate::axis::{Range, Ticks};
use crate::error::{PlotError, Result};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::log_axis;
use crate::number::{count, short};
use crate::palette::{FIRST, INK, ramp};
use crate::scene::{Anchor, Figure, Marker, Rect, Rgba, Shape};
use crate::spaced::spaced;
use lines::Lines;
use map::Map;

/// The colour of the last line; the end of the ramp is too light for white paper.
const LAST_COLOR: f64 = 0.86;
const LINES_HEIGHT: f64 = 210.0;
const GAP: f64 = 8.0;

/// The errors of one bandwidth over the number of components.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChoiceCurve<'a> {
    /// The name of the curve, such as "γ = 0.125"; the bandwidth where it is empty.
    pub label: &'a str,
    /// The bandwidth, which orders the curves; not finite where a kernel has none.
    pub bandwidth: f64,
    /// (k, error, its standard error) for each number of components tried, in any order.
    pub points: &'a [(usize, f64, f64)],
}

/// What [`kernel_choice`] draws. A point is named by its curve and its place in it, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KernelChoicePicture<'a> {
    /// One curve for each bandwidth, in any order.
    pub curves: &'a [ChoiceCurve<'a>],
    /// The point that is chosen; of no meaning without points.
    pub chosen: (usize, usize),
    /// The points within one standard error of the best.
    pub near: &'a [(usize, usize)],
    /// The error without any component: that of the column means.
    pub baseline: Option<f64>,
    /// What is compared, such as "masked mean squared error".
    pub criterion: &'a str,
    /// The criterion is a score: large values are good, and its axis is not logarithmic.
    pub higher_is_better: bool,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws the choice of a bandwidth and a number of components k: above, the error over k with a line for each
/// bandwidth; below, where there are several, the error over both in colours.
///
/// The axis of k is logarithmic to base 2, that of errors to base 10. The chosen point has a square around it and
/// the chosen cell a frame; what is within one standard error of the best has a ring. Values without a place on
/// the axes are left out and counted in a note.
///
/// ```
/// use eigenlift_plot::{ChoiceCurve, KernelChoicePicture, kernel_choice};
///
/// let figure = kernel_choice(&KernelChoicePicture {
///     curves: &[
///         ChoiceCurve { label: "γ = 0.1", bandwidth: 0.1, points: &[(1, 0.9, 0.04), (2, 0.6, 0.05)] },
///         ChoiceCurve { label: "γ = 1", bandwidth: 1.0, points: &[(1, 0.8, 0.04), (2, 0.7, 0.05)] },
///     ],
///     chosen: (0, 1),
///     baseline: Some(1.0),
///     criterion: "masked error",
///     ..KernelChoicePicture::default()
/// })?;
/// assert!(figure.to_svg().contains("chosen: γ = 0.1, k = 2"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::NoSuchPoint`] when `chosen` or `near` names a point that is not there.
pub fn kernel_choice(input: &KernelChoicePicture<'_>) -> Result<Figure> {
    check(input)?;
    let curves = sorted(input);
    let scale = Scale::new(input, &curves);
    let map = (curves.len() > 1).then(|| Map::new(&curves, &scale));
    let lines = Lines::new(input, &curves, &scale);
    let x = Axis::new(&curves, &scale, map.as_ref(), lines.legend_width());

    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, input.title, WIDTH) - 4.0;
    let mut plot = lines.draw(&mut shapes, &x, top);
    if let Some(map) = &map {
        let text = if input.criterion.is_empty() { "error" } else { input.criterion };
        let text = map.ticks.axis_label(text, WIDTH - x.left - BORDER);
        let at = [x.left, plot.bottom() + GAP + LABEL_SIZE];
        shapes.push(Shape::text(&text, at, LABEL_SIZE, Anchor::Start, INK));
        plot = x.plot(at[1] + 6.0, map.height());
        map.draw(&mut shapes, &x, &plot);
    }
    frame::x_axis(&mut shapes, &plot, (&x.range, &x.ticks), (2.0, WIDTH - 2.0));
    let mut bottom = plot.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
    let at = [plot.x + plot.w / 2.0, bottom - 4.0];
    shapes.push(Shape::text("number of components k", at, LABEL_SIZE, Anchor::Middle, INK));
    bottom = frame::notes(&mut shapes, &notes(&curves, &scale), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// Checks that all points named are there; without any points nothing is named.
fn check(input: &KernelChoicePicture) -> Result<()> {
    if input.curves.iter().all(|curve| curve.points.is_empty()) && input.near.is_empty() {
        return Ok(());
    }
    let named = [("the chosen point", input.chosen)];
    let near = input.near.iter().map(|near| ("a point within one standard error", *near));
    for (what, (curve, point)) in named.into_iter().chain(near) {
        if input.curves.get(curve).is_none_or(|found| found.points.len() <= point) {
            let (curve, point) = (curve.saturating_add(1), point.saturating_add(1));
            return Err(PlotError::NoSuchPoint { what, curve, point, n_curves: input.curves.len() });
        }
    }
    Ok(())
}

/// One value of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    k: usize,
    value: f64,
    error: f64,
    chosen: bool,
    near: bool,
}

/// A curve with its points by k.
struct Curve {
    label: String,
    /// The label where it stands alone.
    full_label: String,
    bandwidth: f64,
    points: Vec<Point>,
    color: Rgba,
    marker: Marker,
}

/// The curves by bandwidth, with their looks.
fn sorted(input: &KernelChoicePicture) -> Vec<Curve> {
    let mut order: Vec<(usize, &ChoiceCurve)> = input.curves.iter().enumerate().collect();
    order.sort_by(|a, b| a.1.bandwidth.total_cmp(&b.1.bandwidth));
    let last = order.len().saturating_sub(1).max(1) as f64;
    let curve = |(rank, (index, curve)): (usize, &(usize, &ChoiceCurve))| {
        let point = |(place, (k, value, error)): (usize, &(usize, f64, f64))| {
            let name = (*index, place);
            let (chosen, near) = (input.chosen == name, input.near.contains(&name));
            Point { k: *k, value: *value, error: *error, chosen, near }
        };
        let mut points: Vec<Point> = curve.points.iter().enumerate().map(point).collect();
        points.sort_by_key(|point| point.k);
        let label = if curve.label.is_empty() { short(curve.bandwidth) } else { font::clean(curve.label) };
        let markers = [Marker::Circle, Marker::Square, Marker::Triangle];
        Curve {
            full_label: if curve.label.is_empty() { format!("bandwidth {label}") } else { label.clone() },
            label,
            bandwidth: curve.bandwidth,
            points,
            color: if order.len() == 1 { FIRST } else { ramp(LAST_COLOR * rank as f64 / last) },
            marker: markers.get(rank % markers.len()).copied().unwrap_or(Marker::Circle),
        }
    };
    order.iter().enumerate().map(curve).collect()
}

/// The axis of the criterion.
struct Scale {
    log: bool,
    range: Range,
    ticks: Ticks,
}

impl Scale {
    fn new(input: &KernelChoicePicture, curves: &[Curve]) -> Self {
        let log = !input.higher_is_better;
        let place = |value: f64| place(log, value);
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let means = || points().map(|point| point.value).chain(input.baseline).filter_map(place);
        let bounds = Range::of(means());
        let room = bounds.width().max(if log { 0.3 } else { 0.0 });
        // A long bar does not decide the axis.
        let with_bars = points()
            .filter(|point| point.error > 0.0)
            .flat_map(|point| [point.value - point.error, point.value + point.error])
            .filter_map(place)
            .map(|end| end.clamp(bounds.lo - 0.4 * room, bounds.hi + 0.4 * room));
        let all = means().chain(with_bars);
        let range = if log { log_axis::range(all, f64::NEG_INFINITY) } else { Range::of(all).padded(0.08) };
        let ticks =
            if log { log_axis::ticks(&range, LINES_HEIGHT) } else { Ticks::vertical(&range, LINES_HEIGHT) };
        Scale { log, range, ticks }
    }

    /// Where a value stands on the axis.
    fn place(&self, value: f64) -> Option<f64> {
        place(self.log, value)
    }
}

fn place(log: bool, value: f64) -> Option<f64> {
    if log { log_axis::log10(value) } else { Some(value).filter(|v| v.is_finite()) }
}

/// The place of a number of components; none for 0.
fn log2(k: usize) -> Option<f64> {
    (k > 0).then(|| (k as f64).log2())
}

/// The horizontal axis of log₂ k that both panels share.
struct Axis {
    range: Range,
    ticks: Ticks,
    left: f64,
    width: f64,
}

impl Axis {
    fn new(curves: &[Curve], scale: &Scale, map: Option<&Map>, legend: f64) -> Self {
        let rows = map.map_or(0.0, Map::labels_width);
        let left =
            BORDER + LABEL_SIZE + 8.0 + font::widest(scale.ticks.labels(), TICK_SIZE).max(rows) + TICK + 6.0;
        let right = map.map_or(BORDER + 6.0, Map::bar_width).max(legend);
        let width = (WIDTH - left - right).max(60.0);
        let tried = tried(curves);
        let edges = edges(&tried);
        let range = match (edges.first(), edges.last()) {
            (Some(lo), Some(hi)) => Range { lo: *lo, hi: *hi },
            _ => Range { lo: 0.0, hi: 1.0 },
        };
        let (values, labels) = tried.iter().filter_map(|k| Some((log2(*k)?, k.to_string()))).unzip();
        let ticks = spaced(Ticks { values, labels, ..Ticks::default() }, &range, width);
        Axis { range, ticks, left, width }
    }

    fn plot(&self, top: f64, height: f64) -> Rect {
        Rect { x: self.left, y: top, w: self.width, h: height }
    }
}

/// All numbers of components above 0, each once.
fn tried(curves: &[Curve]) -> Vec<usize> {
    let mut tried: Vec<usize> =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.k).filter(|k| *k > 0).collect();
    tried.sort_unstable();
    tried.dedup();
    tried
}

/// The bounds of the cells around each number of components, half way between neighbours.
fn edges(tried: &[usize]) -> Vec<f64> {
    let places: Vec<f64> = tried.iter().filter_map(|k| log2(*k)).collect();
    let half_ways: Vec<f64> = places.windows(2).map(|pair| pair.iter().sum::<f64>() / 2.0).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
    let before = half_ways.first().map_or(0.5, |edge| (edge - first).max(1e-3));
    let after = half_ways.last().map_or(0.5, |edge| (last - edge).max(1e-3));
    [first - before].into_iter().chain(half_ways).chain([last + after]).collect()
}

fn notes(curves: &[Curve], scale: &Scale) -> Vec<String> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let mut notes = Vec::new();
    let n_without_place = points().filter(|point| scale.place(point.value).is_none()).count();
    if n_without_place > 0 {
        let what = if scale.log { "not positive or not finite" } else { "not finite" };
        notes.push(format!("{} {what}, left out", count(n_without_place, "value")));
    }
    let n_zero = points().filter(|point| point.k == 0).count();
    if n_zero > 0 {
        notes.push(format!("{} at k = 0 left out", count(n_zero, "value")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_points_are_sorted_and_keep_their_marks() {
        let curves = [
            ChoiceCurve { label: "", bandwidth: 2.0, points: &[(4, 1.0, 0.0), (1, 2.0, 0.0)] },
            ChoiceCurve { label: "a", bandwidth: 0.5, points: &[(2, 3.0, 0.0)] },
        ];
        let input =
            KernelChoicePicture { curves: &curves, chosen: (0, 1), near: &[(1, 0)], ..Default::default() };
        let found = sorted(&input);
        let labels: Vec<&str> = found.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels, ["a", "2"]);
        assert!(found[0].points[0].near && !found[0].points[0].chosen);
        assert_eq!(
            found[1].points.iter().map(|p| (p.k, p.chosen)).collect::<Vec<_>>(),
            [(1, true), (4, false)]
        );
        assert_eq!(tried(&found), [1, 2, 4]);
    }

    #[test]
    fn cells_end_half_way_between_neighbours() {
        assert_eq!(edges(&[1, 2, 8]), [-0.5, 0.5, 2.0, 4.0]);
        assert_eq!(edges(&[4]), [1.5, 2.5]);
        assert!(edges(&[]).is_empty());
    }
}
