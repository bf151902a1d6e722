//! Scores of two views against each other, for one canonical component or for the first few.

use crate::axis::{Range, Ticks};
use crate::density::Density;
use crate::error::{Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::legend::{ColorBar, Legend};
use crate::log_axis;
use crate::number::{grouped, short};
use crate::palette::{FAINT_INK, INK};
use crate::scatter::{self, Cloud, Color, Coloring, Scatter};
use crate::scene::{Anchor, Figure, Rect, Shape};
use crate::spaced::spaced;

/// More components than this are not drawn.
const LIMIT: usize = 4;
/// More points than this are drawn as density: a panel has a quarter of the room of a figure.
const MOST_MARKERS: usize = 5000;
/// Between panels.
const GAP: f64 = 14.0;
/// The height of a panel for each unit of its width, in one row and in two.
const ASPECTS: [f64; 2] = [1.1, 0.86];

/// What [`canonical`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CanonicalPicture<'a> {
    /// The score of each row in the first view.
    pub first: &'a [f64],
    /// The score of each row in the second view.
    pub second: &'a [f64],
    /// Names of the views; empty: "view 1" and "view 2".
    pub views: [&'a str; 2],
    /// Which component this is, counted from 1.
    pub component: usize,
    /// The colour of the points.
    pub color: Color<'a>,
    /// The correlation of the scores, for the caption; left out where it is not finite.
    pub correlation: f64,
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws the scores of one canonical component, those of the first view to the right and those of the second upwards,
/// with their correlation below. Points are drawn as [`scatter`](crate::scatter()) draws them.
///
/// ```
/// use eigenlift_plot::{CanonicalPicture, canonical};
///
/// let figure = canonical(&CanonicalPicture {
///     first: &[-1.0, 0.1, 0.9],
///     second: &[-0.8, 0.0, 1.1],
///     views: ["genes", "proteins"],
///     component: 1,
///     correlation: 0.98,
///     ..CanonicalPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("ρ = 0.98"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when the views or the colours differ in length.
pub fn canonical(input: &CanonicalPicture) -> Result<Figure> {
    check_length("the second view", input.second.len(), input.first.len(), "the rows of the first")?;
    let [x_label, y_label] =
        views(input.views).map(|name| format!("{name}, component {}", input.component.max(1)));
    let scatter = Scatter {
        x: input.first,
        y: input.second,
        color: input.color,
        title: input.title,
        x_label: &x_label,
        y_label: &y_label,
        equal_aspect: false,
    };
    let caption: Vec<String> =
        rho(input.correlation).map(|rho| format!("correlation {rho}")).into_iter().collect();
    let Cloud { mut frame, marks, .. } = Cloud::new(&scatter, &caption)?;
    frame.shapes.extend(marks);
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

/// The scores of one component in two views.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CanonicalPair<'a> {
    /// The score of each row in the first view.
    pub first: &'a [f64],
    /// The score of each row in the second view.
    pub second: &'a [f64],
    /// The correlation of the scores; left out where it is not finite.
    pub correlation: f64,
}

/// What [`canonical_gallery`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CanonicalGallery<'a> {
    /// The components in their order; the first four are drawn.
    pub pairs: &'a [CanonicalPair<'a>],
    /// Names of the views; empty: "view 1" and "view 2".
    pub views: [&'a str; 2],
    /// The colour of the points, the same in all panels.
    pub color: Color<'a>,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws the first four canonical components as panels, each as [`canonical`] draws one.
///
/// Rows that are not finite in one of the panels are left out of all of them. More than 5000 points are drawn as
/// density.
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when components, views or colours differ in length.
pub fn canonical_gallery(input: &CanonicalGallery) -> Result<Figure> {
    let n_rows = check(input)?;
    if input.pairs.len() < 2 {
        let without = CanonicalPair { correlation: f64::NAN, ..CanonicalPair::default() };
        let CanonicalPair { first, second, correlation } = input.pairs.first().copied().unwrap_or(without);
        let color = if input.pairs.is_empty() { Color::None } else { input.color };
        let (views, title) = (input.views, input.title);
        return canonical(&CanonicalPicture {
            first,
            second,
            views,
            component: 1,
            color,
            correlation,
            title,
        });
    }
    let pairs: Vec<&CanonicalPair> = input.pairs.iter().take(LIMIT).collect();
    let is_finite = |values: &[f64], i: usize| values.get(i).is_some_and(|v| v.is_finite());
    let is_shown =
        |i: &usize| pairs.iter().all(|pair| is_finite(pair.first, *i) && is_finite(pair.second, *i));
    let shown: Vec<usize> = (0..n_rows).filter(is_shown).collect();
    let is_dense = shown.len() > MOST_MARKERS;
    let coloring = Coloring::new(input.color, &shown, is_dense);
    let exponents = [
        exponent(pairs.iter().flat_map(|pair| pair.first)),
        exponent(pairs.iter().flat_map(|pair| pair.second)),
    ];
    let units = exponents.map(|exponent| 10.0_f64.powi(exponent));
    let panels: Vec<Panel> = pairs.iter().map(|pair| Panel::new(pair, &shown, units)).collect();

    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, input.title, WIDTH);
    let bar = match &coloring {
        Coloring::Values { name, range, .. } => Some(ColorBar::new(name, *range, 300.0)),
        _ => None,
    };
    let layout = Layout::new(&panels, top, bar.as_ref().map_or(BORDER + 6.0, ColorBar::width));
    for (k, panel) in panels.iter().enumerate() {
        panel.draw(&mut shapes, &layout.plot(k), (&coloring, is_dense), k + 1);
    }
    if let Some(bar) = &bar {
        bar.draw(&mut shapes, &layout.whole(panels.len()));
    }
    let mut bottom = layout.draw_labels(&mut shapes, (views(input.views), exponents), panels.len());
    bottom = Legend::new(coloring.looks()).draw_below(&mut shapes, bottom, WIDTH);
    bottom = frame::notes(&mut shapes, &notes(input, n_rows, shown.len(), is_dense), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// Checks lengths and returns the number of rows.
fn check(input: &CanonicalGallery) -> Result<usize> {
    let n = input.pairs.first().map_or(0, |pair| pair.first.len());
    for pair in input.pairs {
        check_length("the first view", pair.first.len(), n, "the rows of the first component")?;
        check_length("the second view", pair.second.len(), n, "the rows of the first component")?;
    }
    match input.color {
        Color::Classes(labels) if !input.pairs.is_empty() => {
            check_length("the classes", labels.len(), n, "the rows")?
        }
        Color::Values { values, .. } if !input.pairs.is_empty() => {
            check_length("the colour values", values.len(), n, "the rows")?;
        }
        _ => {}
    }
    Ok(n)
}

fn views(names: [&str; 2]) -> [&str; 2] {
    let [first, second] = names;
    let name = |given, other| if str::trim(given).is_empty() { other } else { given };
    [name(first, "view 1"), name(second, "view 2")]
}

fn rho(correlation: f64) -> Option<String> {
    correlation.is_finite().then(|| format!("ρ = {}", short(correlation)))
}

/// The power of ten that the scores of all panels share; 0 for numbers of usual size.
fn exponent<'a>(scores: impl Iterator<Item = &'a f64>) -> i32 {
    let largest = scores.map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let power = |log: f64| log.floor().max(-300.0) as i32;
    if (1e-2..1e5).contains(&largest) { 0 } else { log_axis::log10(largest).map_or(0, power) }
}

/// One component with its axes.
struct Panel {
    x: Range,
    y: Range,
    points: Vec<[f64; 2]>,
    correlation: f64,
}

impl Panel {
    /// The shown rows, in these units of each view.
    fn new(pair: &CanonicalPair, shown: &[usize], units: [f64; 2]) -> Self {
        let get = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(0.0);
        let place = |i: &usize| [get(pair.first, *i) / units[0], get(pair.second, *i) / units[1]];
        let points: Vec<[f64; 2]> = shown.iter().map(place).collect();
        let [x, y] = [0, 1].map(|axis: usize| {
            Range::of(points.iter().filter_map(|point| point.get(axis).copied())).padded(0.05)
        });
        Panel { x, y, points, correlation: pair.correlation }
    }

    fn y_ticks(&self, height: f64) -> Ticks {
        Ticks::new(&self.y, ((height / (1.6 * TICK_SIZE)) as usize).clamp(1, 5))
    }

    fn draw(
        &self,
        shapes: &mut Vec<Shape>,
        plot: &Rect,
        (coloring, is_dense): (&Coloring, bool),
        number: usize,
    ) {
        let (x_ticks, y_ticks) = (spaced(Ticks::new(&self.x, 5), &self.x, plot.w), self.y_ticks(plot.h));
        // A further power of ten stands in the title: panels share their axis labels.
        let powers = [("x", &x_ticks), ("y", &y_ticks)].into_iter().filter_map(|(name, ticks)| {
            let text = ticks.axis_label("", WIDTH);
            (!text.is_empty()).then(|| format!(", {name} {text}"))
        });
        let end: String =
            rho(self.correlation).map(|rho| format!(", {rho}")).into_iter().chain(powers).collect();
        let room = plot.w + 2.0 * GAP;
        let long = format!("component {number}{end}");
        let title = if font::width(&long, TICK_SIZE) <= room { long } else { format!("{number}{end}") };
        let title = font::truncated(&title, TICK_SIZE, room);
        let middle = plot.x + plot.w / 2.0;
        shapes.push(Shape::text(&title, [middle, plot.y - 6.0], TICK_SIZE, Anchor::Middle, INK));
        frame::grid(shapes, plot, (&self.x, &x_ticks), (&self.y, &y_ticks));
        let place = |point: &[f64; 2]| frame::at(plot, &self.x, &self.y, point[0], point[1]);
        let places: Vec<[f64; 2]> = self.points.iter().map(place).collect();
        let marks = if is_dense {
            Density::new(plot, &places).shapes(&coloring.key())
        } else {
            scatter::markers(&places, &coloring.of_points(places.len()))
        };
        shapes.push(Shape::Clip { clip: *plot, shapes: marks });
        if places.is_empty() {
            let at = [middle, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no points", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
        shapes.push(frame::outline(plot));
        frame::x_axis(shapes, plot, (&self.x, &x_ticks), (plot.x - GAP, plot.right() + GAP / 2.0));
        frame::y_axis(shapes, plot, &self.y, &y_ticks);
    }
}

/// Two panels beside each other in each row.
struct Layout {
    first: Rect,
    step: [f64; 2],
}

impl Layout {
    fn new(panels: &[Panel], top: f64, right: f64) -> Self {
        let aspect = ASPECTS[usize::from(panels.len() > 2)];
        let height = 0.4 * WIDTH * aspect;
        let ticks = panels.iter().map(|panel| font::widest(panel.y_ticks(height).labels(), TICK_SIZE));
        let ticks = ticks.fold(0.0, f64::max) + TICK + 6.0;
        let left = BORDER + LABEL_SIZE + 4.0 + ticks;
        let w = ((WIDTH - left - ticks - GAP - right) / 2.0).max(60.0);
        let first = Rect { x: left, y: top + LINE - 6.0, w, h: w * aspect };
        Layout { step: [w + GAP + ticks, first.h + TICK + 2.0 * LINE + 8.0], first }
    }

    fn plot(&self, k: usize) -> Rect {
        let [across, down] = self.step;
        Rect {
            x: self.first.x + across * (k % 2) as f64,
            y: self.first.y + down * (k / 2) as f64,
            ..self.first
        }
    }

    /// The area that n panels cover.
    fn whole(&self, n: usize) -> Rect {
        let (first, right, last) =
            (self.first, self.plot(1).right(), self.plot(n.saturating_sub(1)).bottom());
        Rect { x: first.x, y: first.y, w: right - first.x, h: last - first.y }
    }

    /// Draws the labels that all panels share and returns where they end.
    fn draw_labels(&self, shapes: &mut Vec<Shape>, labels: ([&str; 2], [i32; 2]), n: usize) -> f64 {
        let ([x, y], [x_power, y_power]) = labels;
        let whole = self.whole(n);
        let bottom = whole.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
        let label = |name: &str, power: i32, room: f64| {
            let ticks = Ticks { exponent: power, ..Ticks::default() };
            let long = ticks.axis_label(&format!("scores of {name}"), f64::INFINITY);
            if font::width(&long, LABEL_SIZE) <= room { long } else { ticks.axis_label(name, room) }
        };
        let at = [whole.x + whole.w / 2.0, bottom - 4.0];
        shapes.push(Shape::text(&label(x, x_power, whole.w), at, LABEL_SIZE, Anchor::Middle, INK));
        let at = [BORDER + 0.8 * LABEL_SIZE, whole.y + whole.h / 2.0];
        shapes.push(Shape::upward_text(&label(y, y_power, whole.h + 2.0 * LINE), at, LABEL_SIZE, INK));
        bottom
    }
}

fn notes(input: &CanonicalGallery, n_rows: usize, n_shown: usize, is_dense: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if input.pairs.len() > LIMIT {
        notes.push(format!("first {LIMIT} of {} components", input.pairs.len()));
    }
    if n_shown < n_rows {
        notes.push(format!("{} not finite, left out", scatter::points(n_rows - n_shown)));
    }
    if is_dense {
        notes.push(format!("{} points, drawn as density", grouped(n_shown)));
    }
    notes
}
