//! Functions over the plane as panels of contour lines, with the data on top.

use crate::axis::{Range, Ticks, multiples, nearest_nice_step};
use crate::classes::Classes;
use crate::error::{PlotError, Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::grid_points::GridPoints;
use crate::legend::Legend;
use crate::marching::{Grid, area_above, lines};
use crate::palette::{FAINT_INK, INK, diverging, light};
use crate::scene::{Anchor, Figure, Polyline, Rect, Rgba, Shape, Stroke};
use crate::simplify::simplified;

const LIMIT_LINES: usize = 1000;
const LIMIT_PANELS: usize = 64;
/// Contour lines in a panel, about.
const N_LEVELS: f64 = 10.0;
/// Values outside of these quantiles do not decide the levels.
const ROBUST: (f64, f64) = (0.005, 0.995);
const GAP: f64 = 12.0;
/// Room for a heading above a group of panels.
const HEADING: f64 = 24.0;
/// Lines may be off by this much, in figure units.
const TOLERANCE: f64 = 0.06;
const PIXELS_PER_UNIT: f64 = 3.0;

/// One function over the plane.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Title above the panel, such as "λ₁ = 21.72".
    pub title: String,
    /// Values on the grid, row by row: `ny` rows of `nx`, the first row at the lowest y.
    pub values: Vec<f64>,
}

/// What [`contour_panels`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContourPanels<'a> {
    /// The functions, in reading order.
    pub panels: Vec<Panel>,
    /// Columns of the grid.
    pub nx: usize,
    /// Rows of the grid.
    pub ny: usize,
    /// x at the first and last column of the grid.
    pub x_range: (f64, f64),
    /// y at the first and last row of the grid.
    pub y_range: (f64, f64),
    /// Data points drawn in every panel: x and y coordinates.
    pub points: (&'a [f64], &'a [f64]),
    /// The class of each point.
    pub classes: Option<&'a [String]>,
    /// Panels beside each other; 0 chooses.
    pub columns: usize,
    /// Title of the figure; may be empty.
    pub title: &'a str,
    /// Label of the horizontal axes; may be empty.
    pub x_label: &'a str,
    /// Label of the vertical axes; may be empty.
    pub y_label: &'a str,
}

/// Draws each function as light shading and about ten contour lines, the zero line stronger, with the data
/// points on top.
///
/// Levels are chosen for each panel between its robust extremes. A function that is constant or nowhere
/// finite has no lines and says so. Cost: `nx`·`ny` for each level of each panel.
///
/// ```
/// use eigenlift_plot::{ContourPanels, Panel, contour_panels};
///
/// let values = (0..25).map(|k| f64::from(k % 5) - 2.0).collect(); // f(x, y) = x
/// let figure = contour_panels(&ContourPanels {
///     panels: vec![Panel { title: "λ₁ = 1".into(), values }],
///     nx: 5,
///     ny: 5,
///     x_range: (-2.0, 2.0),
///     y_range: (-2.0, 2.0),
///     points: (&[0.5, 1.0], &[0.0, 1.5]),
///     ..ContourPanels::default()
/// })?;
/// assert!(figure.to_svg().contains("λ₁ = 1"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::PanelCount`], [`PlotError::GridSize`], [`PlotError::BadRange`], and
/// [`PlotError::LengthMismatch`] when a panel does not have `nx`·`ny` values or the points and classes
/// differ in length.
pub fn contour_panels(input: &ContourPanels) -> Result<Figure> {
    contour_rows(input, &[])
}

/// Draws what [`contour_panels`] draws with a heading above each group of panels, such as linear components above
/// those of a kernel. Groups are of equal size and in the order of the panels.
///
/// ```
/// use eigenlift_plot::{ContourPanels, Panel, contour_rows};
///
/// let panel = |title: &str, f: fn(f64) -> f64| Panel {
///     title: title.into(),
///     values: (0..25).map(|k| f(f64::from(k % 5) - 2.0)).collect(),
/// };
/// let panels = ContourPanels {
///     panels: vec![panel("λ₁ = 2", |x| x), panel("λ₁ = 0.3", |x| x * x)],
///     nx: 5,
///     ny: 5,
///     x_range: (-2.0, 2.0),
///     y_range: (-2.0, 2.0),
///     ..ContourPanels::default()
/// };
/// let figure = contour_rows(&panels, &["linear".into(), "rbf(gamma=10)".into()])?;
/// assert!(figure.to_svg().contains("rbf(gamma=10)"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// Those of [`contour_panels`], and [`PlotError::LengthMismatch`] when the panels cannot be divided evenly among
/// the headings.
pub fn contour_rows(input: &ContourPanels, headings: &[String]) -> Result<Figure> {
    check(input)?;
    let per_group = input.panels.len().div_ceil(headings.len().max(1));
    let required = per_group * headings.len().max(1);
    check_length("the list of panels", input.panels.len(), required, "the places under the headings")?;
    let ranges = (range(input.x_range), range(input.y_range));
    let classes = input.classes.map(Classes::new).unwrap_or_default();
    let points = GridPoints::new(input.points, classes, &ranges);
    let mut shapes = Vec::new();
    let columns = Layout::columns(input, per_group, headings.is_empty());
    let width = Layout::width(columns);
    let top = frame::title(&mut shapes, input.title, width);
    let layout = Layout::new(input, &ranges, top, Groups { count: headings.len(), per_group, columns });
    layout.draw_headings(&mut shapes, headings);
    for (k, panel) in input.panels.iter().enumerate() {
        let plot = layout.plot(k);
        let title = font::truncated(&panel.title, TICK_SIZE, plot.w + GAP - 4.0);
        let at = [plot.x + plot.w / 2.0, plot.y - 5.0];
        shapes.push(Shape::text(&title, at, TICK_SIZE, Anchor::Middle, INK));
        let grid = Grid { values: &panel.values, nx: input.nx, ny: input.ny };
        draw_function(&mut shapes, &plot, grid);
        shapes.push(Shape::Clip { clip: plot, shapes: points.shapes(&plot, &ranges) });
        shapes.push(frame::outline(&plot));
        if k + columns >= input.panels.len() {
            frame::x_axis(&mut shapes, &plot, (&ranges.0, &layout.x_ticks), (plot.x, plot.right()));
        }
        if (k % per_group).is_multiple_of(columns) {
            frame::y_axis(&mut shapes, &plot, &ranges.1, &layout.y_ticks);
        }
    }
    let mut bottom = layout.draw_labels(&mut shapes, input);
    bottom = Legend::new(&points.classes.looks).draw_below(&mut shapes, bottom, width);
    bottom = frame::notes(&mut shapes, &points.notes, bottom, width);
    Ok(Figure::new(width, bottom + 6.0, input.title, shapes).with_png_scale(PIXELS_PER_UNIT))
}

fn check(input: &ContourPanels) -> Result<()> {
    let (nx, ny) = (input.nx, input.ny);
    if !(1..=LIMIT_PANELS).contains(&input.panels.len()) {
        return Err(PlotError::PanelCount { found: input.panels.len(), limit: LIMIT_PANELS });
    }
    if [nx, ny].iter().any(|n| !(2..=LIMIT_LINES).contains(n)) {
        return Err(PlotError::GridSize { nx, ny, limit: LIMIT_LINES });
    }
    for panel in &input.panels {
        check_length("a panel", panel.values.len(), nx * ny, "the nx·ny nodes of the grid")?;
    }
    for (what, (lo, hi)) in [("x_range", input.x_range), ("y_range", input.y_range)] {
        if !(lo.is_finite() && hi.is_finite() && lo < hi) || range((lo, hi)) != (Range { lo, hi }) {
            return Err(PlotError::BadRange { what, lo, hi });
        }
    }
    check_length("the y coordinates", input.points.1.len(), input.points.0.len(), "the x coordinates")?;
    let n_classes = input.classes.map_or(input.points.0.len(), <[String]>::len);
    check_length("the classes", n_classes, input.points.0.len(), "the points")
}

fn range((lo, hi): (f64, f64)) -> Range {
    Range::between(lo, hi)
}

/// How the panels are divided.
#[derive(Debug, Clone, Copy)]
struct Groups {
    /// Groups with a heading; 0 without headings.
    count: usize,
    per_group: usize,
    columns: usize,
}

/// Where the panels stand.
struct Layout {
    groups: Groups,
    first: Rect,
    x_ticks: Ticks,
    y_ticks: Ticks,
}

impl Layout {
    fn columns(input: &ContourPanels, per_group: usize, is_one_group: bool) -> usize {
        match (input.columns, per_group) {
            (0, 4) if is_one_group => 2,
            (0, n) => n.min(4),
            (wanted, n) => wanted.min(n),
        }
    }

    /// Four panels or fewer share the usual width; more make the figure wider.
    fn width(columns: usize) -> f64 {
        WIDTH * (columns as f64 / 4.0).max(1.0)
    }

    fn new(input: &ContourPanels, (x, y): &(Range, Range), top: f64, groups: Groups) -> Self {
        let columns = groups.columns;
        let aspect = Some(y.width() / x.width()).filter(|a| (0.5..=2.0).contains(a)).unwrap_or(1.0);
        let panel_width = |left: f64| {
            let gaps = GAP * (columns as f64 - 1.0);
            (Layout::width(columns) - left - BORDER - 8.0 - gaps) / columns as f64
        };
        let y_ticks = Ticks::vertical(y, panel_width(60.0) * aspect);
        let label_room = frame::label_room(input.y_label, &y_ticks);
        let left = BORDER + label_room + font::widest(y_ticks.labels(), TICK_SIZE) + TICK + 6.0;
        let w = panel_width(left);
        let first = Rect { x: left, y: top + LINE - 6.0, w, h: w * aspect };
        // Labels at the ends are moved inwards, towards their neighbours.
        let x_ticks = Ticks::horizontal(x, w - 2.0 * TICK_SIZE, 6);
        Layout { groups, first, x_ticks, y_ticks }
    }

    /// Between the tops of two rows.
    fn row_height(&self) -> f64 {
        self.first.h + LINE + 8.0
    }

    fn plot(&self, k: usize) -> Rect {
        let Groups { count, per_group, columns } = self.groups;
        let (group, place) = (k / per_group, k % per_group);
        let row = group * per_group.div_ceil(columns) + place / columns;
        let headings = if count == 0 { 0.0 } else { HEADING * (group as f64 + 1.0) };
        let first = self.first;
        let x = first.x + (place % columns) as f64 * (first.w + GAP);
        Rect { x, y: first.y + row as f64 * self.row_height() + headings, ..first }
    }

    /// Draws a heading above each group.
    fn draw_headings(&self, shapes: &mut Vec<Shape>, headings: &[String]) {
        let right = Layout::width(self.groups.columns) - BORDER;
        for (group, heading) in headings.iter().enumerate() {
            let plot = self.plot(group * self.groups.per_group);
            let text = font::truncated(heading, LABEL_SIZE, right - plot.x);
            let at = [plot.x, plot.y - LINE - 3.0];
            shapes.push(Shape::text(&text, at, LABEL_SIZE, Anchor::Start, INK));
        }
    }

    /// Draws the labels that all panels share and returns where they end.
    fn draw_labels(&self, shapes: &mut Vec<Shape>, input: &ContourPanels) -> f64 {
        let right = self.plot(self.groups.columns - 1).right();
        let plots_end = self.plot(input.panels.len().saturating_sub(1)).bottom();
        let mut bottom = plots_end + TICK + LINE;
        let x_label = self.x_ticks.axis_label(input.x_label, right - self.first.x);
        if !x_label.is_empty() {
            bottom += LABEL_SIZE + 4.0;
            let at = [(self.first.x + right) / 2.0, bottom - 4.0];
            shapes.push(Shape::text(&x_label, at, LABEL_SIZE, Anchor::Middle, INK));
        }
        let label = self.y_ticks.axis_label(input.y_label, plots_end - self.first.y);
        let at = [BORDER + 0.8 * LABEL_SIZE, (self.first.y + plots_end) / 2.0];
        shapes.push(Shape::upward_text(&label, at, LABEL_SIZE, INK));
        bottom
    }
}

/// The contour levels of a function and how it is shaded.
#[derive(Debug, Clone, PartialEq)]
enum Levels {
    /// Nowhere finite.
    Absent,
    Constant,
    /// Ascending levels between the robust extremes.
    Lines {
        levels: Vec<f64>,
        lo: f64,
        hi: f64,
    },
}

impl Levels {
    fn new(values: &[f64]) -> Self {
        let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        finite.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (finite.first().copied(), finite.last().copied()) else {
            return Levels::Absent;
        };
        let quantile =
            |q: f64| finite.get((q * (finite.len() - 1) as f64).round() as usize).copied().unwrap_or(least);
        // A function that is flat but for a spike has no robust extremes: take the extremes.
        let pairs = [(quantile(ROBUST.0), quantile(ROBUST.1)), (least, most)];
        let Some((lo, hi)) = pairs.into_iter().find(|(lo, hi)| Range::differ(*lo, *hi)) else {
            return Levels::Constant;
        };
        let range = Range::between(lo, hi);
        let mut levels = multiples(&range, nearest_nice_step(range.width() / N_LEVELS));
        levels.retain(|level| *level > least && *level < most);
        Levels::Lines { levels, lo: range.lo, hi: range.hi }
    }
}

/// The shading of values around `middle`: around zero in two hues where the function changes sign.
fn shade(middle: f64, lo: f64, hi: f64) -> Rgba {
    if lo < 0.0 && hi > 0.0 {
        diverging(middle / hi.max(-lo))
    } else {
        light(Range { lo, hi }.place(middle).clamp(0.0, 1.0))
    }
}

fn draw_function(shapes: &mut Vec<Shape>, plot: &Rect, grid: Grid) {
    let (levels, lo, hi) = match Levels::new(grid.values) {
        Levels::Absent => return draw_remark(shapes, plot, "not finite"),
        Levels::Constant => {
            let area = to_plot(area_above(grid, f64::MIN), plot, grid);
            shapes.push(Shape::Path { lines: area, fill: Some(light(0.15)), stroke: None });
            return draw_remark(shapes, plot, "constant");
        }
        Levels::Lines { levels, lo, hi } => (levels, lo, hi),
    };
    // Areas above rising levels cover each other, so no seams show between bands.
    let lower = std::iter::once(f64::MIN).chain(levels.iter().copied());
    let upper = levels.iter().copied().chain(std::iter::once(f64::MAX));
    for (from, to) in lower.zip(upper) {
        let area = to_plot(area_above(grid, from), plot, grid);
        let middle = from.max(lo) / 2.0 + to.min(hi) / 2.0;
        shapes.push(Shape::Path { lines: area, fill: Some(shade(middle, lo, hi)), stroke: None });
    }
    let (zero, others): (Vec<f64>, Vec<f64>) = levels.iter().partition(|level| **level == 0.0);
    for (levels, stroke) in [(others, Stroke::solid(FAINT_INK, 0.6)), (zero, Stroke::solid(INK, 1.5))] {
        let found = levels.iter().flat_map(|level| to_plot(lines(grid, *level), plot, grid));
        let found: Vec<Polyline> = found.collect();
        if !found.is_empty() {
            shapes.push(Shape::Path { lines: found, fill: None, stroke: Some(stroke) });
        }
    }
}

fn draw_remark(shapes: &mut Vec<Shape>, plot: &Rect, remark: &str) {
    let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
    shapes.push(Shape::text(remark, at, TICK_SIZE, Anchor::Middle, FAINT_INK));
}

/// Grid coordinates to figure coordinates, without points that make no difference to the eye.
pub(crate) fn to_plot(found: Vec<Polyline>, plot: &Rect, grid: Grid) -> Vec<Polyline> {
    let (sx, sy) = (plot.w / (grid.nx - 1) as f64, plot.h / (grid.ny - 1) as f64);
    let place = |point: &[f64; 2]| [plot.x + sx * point[0], plot.bottom() - sy * point[1]];
    let line = |line: Polyline| {
        let placed: Vec<[f64; 2]> = line.points.iter().map(place).collect();
        Polyline { points: simplified(&placed, TOLERANCE), closed: line.closed }
    };
    found.into_iter().map(line).collect()
}
