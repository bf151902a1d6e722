//! Before and after whitening: points with their covariance ellipses, and covariance matrices.

use crate::axis::{Range, Ticks};
use crate::error::{PlotError, Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::heat_map::HeatMap;
use crate::palette::{FAINT_INK, FIRST, INK, SECOND};
use crate::scatter;
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Rgba, Shape, Stroke};
use crate::series::{self, LineLook};

/// Points drawn in each panel; of more, an even selection is drawn.
const LIMIT_POINTS: usize = 4000;
/// Rows and columns of a matrix that can be told apart.
const LIMIT_FEATURES: usize = 64;
/// Corners of the polygon that stands for an ellipse.
const CORNERS: u32 = 96;
const GAP: f64 = 10.0;

/// What [`whitening`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WhiteningPicture<'a> {
    /// Two columns of the centred data: x and y.
    pub before: (&'a [f64], &'a [f64]),
    /// Two whitened coordinates: x and y.
    pub after: (&'a [f64], &'a [f64]),
    /// Labels of the axes: x and y before, x and y after; may be empty.
    pub names: [&'a str; 4],
    /// The covariance matrix of the data, row by row.
    pub covariance_before: &'a [f64],
    /// The covariance matrix of the whitened data, row by row.
    pub covariance_after: &'a [f64],
    /// Rows of each matrix, at most 64.
    pub p: usize,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws what whitening does: above, points before and after with the ellipses of one and two standard
/// deviations; below, both covariance matrices in colours around zero.
///
/// After whitening the ellipses are circles and the matrix is the identity. Ellipses are those of the points
/// given. Points that are not finite are left out, entries that are not finite are grey; both are said in a note.
///
/// ```
/// use eigenlift_plot::{WhiteningPicture, whitening};
///
/// let figure = whitening(&WhiteningPicture {
///     before: (&[-2.0, 2.0, -2.0, 2.0], &[-3.0, 1.0, -1.0, 3.0]),
///     after: (&[-1.0, 1.0, -1.0, 1.0], &[-1.0, -1.0, 1.0, 1.0]),
///     names: ["x₁", "x₂", "z₁", "z₂"],
///     covariance_before: &[4.0, 4.0, 4.0, 5.0],
///     covariance_after: &[1.0, 0.0, 0.0, 1.0],
///     p: 2,
///     title: "Whitening",
/// })?;
/// assert!(figure.to_svg().contains("covariance after"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when x and y differ in length or a matrix does not have p·p entries;
/// [`PlotError::MatrixSize`] when p is above 64.
pub fn whitening(input: &WhiteningPicture) -> Result<Figure> {
    check(input)?;
    let clouds = [
        Cloud::new("before", input.before, [input.names[0], input.names[1]]),
        Cloud::new("after", input.after, [input.names[2], input.names[3]]),
    ];
    let maps = [
        HeatMap::around_zero("covariance before", input.covariance_before, input.p),
        HeatMap::around_zero("covariance after", input.covariance_after, input.p),
    ];
    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, input.title, WIDTH) + LINE - 8.0;
    let layout = Layout::new(&clouds, top);
    let mut bottom = top;
    for (k, cloud) in clouds.iter().enumerate() {
        bottom = cloud.draw(&mut shapes, &layout.plot(k)).max(bottom);
    }
    if clouds.iter().any(|cloud| !cloud.ellipses.is_empty()) {
        let looks = ellipse_strokes().map(|(name, _, stroke)| LineLook::new(name, stroke, None));
        bottom = series::draw_key(&mut shapes, &looks, bottom + 4.0, WIDTH);
    }
    let top = bottom + LINE + 4.0;
    for (k, map) in maps.iter().enumerate() {
        bottom = map.draw(&mut shapes, &Rect { y: top, ..layout.plot(k) }).max(bottom);
    }
    bottom = frame::notes(&mut shapes, &notes(&clouds, &maps), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

fn check(input: &WhiteningPicture) -> Result<()> {
    for (what, (x, y)) in [("y before whitening", input.before), ("y after whitening", input.after)] {
        check_length(what, y.len(), x.len(), "the x values")?;
    }
    if input.p > LIMIT_FEATURES {
        return Err(PlotError::MatrixSize { p: input.p, limit: LIMIT_FEATURES });
    }
    for (what, matrix) in [
        ("the covariance before whitening", input.covariance_before),
        ("the covariance after whitening", input.covariance_after),
    ] {
        check_length(what, matrix.len(), input.p * input.p, "the p·p entries of the matrix")?;
    }
    Ok(())
}

/// Name, number of standard deviations and look of each ellipse.
fn ellipse_strokes() -> [(&'static str, f64, Stroke); 2] {
    let solid = Stroke::solid(SECOND, 1.8);
    [("covariance ellipse, 1 σ", 1.0, solid), ("2 σ", 2.0, Stroke { dashed: true, ..solid })]
}

/// Two squares beside each other, with the same room for labels.
struct Layout {
    first: Rect,
    step: f64,
}

impl Layout {
    fn new(clouds: &[Cloud], top: f64) -> Self {
        let room = |side: f64| clouds.iter().map(|cloud| cloud.left(side)).fold(0.0, f64::max);
        let side = |left: f64| (WIDTH - 2.0 * (BORDER + left) - GAP) / 2.0;
        let left = room(side(60.0));
        let w = side(left).max(60.0);
        Layout { first: Rect { x: BORDER + left, y: top, w, h: w }, step: left + w + GAP }
    }

    fn plot(&self, k: usize) -> Rect {
        Rect { x: self.first.x + k as f64 * self.step, ..self.first }
    }
}

/// Points with their ellipses.
struct Cloud<'a> {
    title: &'static str,
    labels: [&'a str; 2],
    points: Vec<[f64; 2]>,
    n_left_out: usize,
    /// One closed line for each of [`ellipse_strokes`].
    ellipses: Vec<Vec<[f64; 2]>>,
    ranges: (Range, Range),
}

impl<'a> Cloud<'a> {
    fn new(title: &'static str, (x, y): (&[f64], &[f64]), labels: [&'a str; 2]) -> Self {
        let all = x.iter().zip(y).map(|(x, y)| [*x, *y]);
        let points: Vec<[f64; 2]> = all.filter(|point| point.iter().all(|v| v.is_finite())).collect();
        let ellipses: Vec<Vec<[f64; 2]>> = Ellipse::of(&points)
            .map(|ellipse| ellipse_strokes().map(|(_, sigmas, _)| ellipse.outline(sigmas)).into())
            .unwrap_or_default();
        let all = || points.iter().chain(ellipses.iter().flatten());
        let ranges = (
            Range::of(all().map(|point| point[0])).padded(0.05),
            Range::of(all().map(|point| point[1])).padded(0.05),
        );
        Cloud { title, labels, n_left_out: x.len() - points.len(), points, ellipses, ranges }
    }

    /// The ranges with one scale on a square, and their ticks.
    fn axes(&self, side: f64) -> ((Range, Ticks), (Range, Ticks)) {
        let square = Rect { x: 0.0, y: 0.0, w: side, h: side };
        let (x, y) = frame::equal_ranges(self.ranges.0, self.ranges.1, &square);
        let (x_ticks, y_ticks) = (Ticks::horizontal(&x, side - TICK_SIZE, 5), Ticks::vertical(&y, side));
        ((x, x_ticks), (y, y_ticks))
    }

    /// The room that ticks and label take to the left of a square.
    fn left(&self, side: f64) -> f64 {
        let (_, (_, ticks)) = self.axes(side);
        frame::label_room(self.labels[1], &ticks) + font::widest(ticks.labels(), TICK_SIZE) + TICK + 6.0
    }

    /// Draws the panel and returns where it ends.
    fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect) -> f64 {
        let middle = plot.x + plot.w / 2.0;
        shapes.push(Shape::text(self.title, [middle, plot.y - 6.0], LABEL_SIZE, Anchor::Middle, INK));
        let ((x, x_ticks), (y, y_ticks)) = self.axes(plot.w);
        frame::grid(shapes, plot, (&x, &x_ticks), (&y, &y_ticks));
        let place = |point: &[f64; 2]| frame::at(plot, &x, &y, point[0], point[1]);
        shapes.push(Shape::Clip { clip: *plot, shapes: self.data(place) });
        if self.points.is_empty() {
            let at = [middle, plot.y + plot.h / 2.0];
            shapes.push(Shape::text("no points", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
        shapes.push(frame::outline(plot));
        frame::x_axis(shapes, plot, (&x, &x_ticks), (plot.x - GAP, plot.right() + GAP / 2.0));
        frame::y_axis(shapes, plot, &y, &y_ticks);
        let labels = font::widest(y_ticks.labels(), TICK_SIZE);
        let label = y_ticks.axis_label(self.labels[1], plot.h + LINE);
        let at = [plot.x - TICK - 6.0 - labels - 5.0, plot.y + plot.h / 2.0];
        shapes.push(Shape::upward_text(&label, at, LABEL_SIZE, INK));
        let bottom = plot.bottom() + TICK + LINE;
        let label = x_ticks.axis_label(self.labels[0], plot.w + GAP);
        if label.is_empty() {
            return bottom;
        }
        let at = [middle, bottom + LABEL_SIZE];
        shapes.push(Shape::text(&label, at, LABEL_SIZE, Anchor::Middle, INK));
        bottom + LABEL_SIZE + 4.0
    }

    /// Points, and ellipses on top of them.
    fn data(&self, place: impl Fn(&[f64; 2]) -> [f64; 2]) -> Vec<Shape> {
        let step = self.points.len().div_ceil(LIMIT_POINTS).max(1);
        let centers: Vec<[f64; 2]> = self.points.iter().step_by(step).map(&place).collect();
        let crowding = (100.0 / centers.len().max(1) as f64).min(1.0);
        let (radius, alpha) = (3.0 * crowding.powf(0.25), 0.8 * crowding.powf(0.14));
        let color = FIRST.with_alpha(alpha);
        let mut shapes = vec![Shape::Markers { centers, marker: Marker::Circle, radius, color }];
        for ((_, _, stroke), outline) in ellipse_strokes().into_iter().zip(&self.ellipses) {
            let line = Polyline { points: outline.iter().map(&place).collect(), closed: true };
            let halo = Stroke::solid(Rgba::hex(0xffffff).with_alpha(0.7), stroke.width + 2.0);
            shapes.extend([halo, stroke].map(|stroke| Shape::Path {
                lines: vec![line.clone()],
                fill: None,
                stroke: Some(stroke),
            }));
        }
        shapes
    }
}

/// The mean μ and a factor L of the covariance, LLᵀ = Σ.
struct Ellipse {
    mean: [f64; 2],
    /// l₁₁, l₂₁, l₂₂.
    factor: [f64; 3],
}

impl Ellipse {
    /// The ellipse of two points or more; nothing where the covariance overflows.
    fn of(points: &[[f64; 2]]) -> Option<Self> {
        let n = points.len() as f64;
        if n < 2.0 {
            return None;
        }
        let mean = [0, 1].map(|k: usize| points.iter().filter_map(|p| p.get(k)).map(|v| v / n).sum::<f64>());
        let average =
            |f: fn(f64, f64) -> f64| points.iter().map(|[x, y]| f(x - mean[0], y - mean[1])).sum::<f64>() / n;
        let (xx, xy, yy) = (average(|x, _| x * x), average(|x, y| x * y), average(|_, y| y * y));
        let l11 = xx.sqrt();
        let l21 = if l11 > 0.0 { xy / l11 } else { 0.0 };
        let factor = [l11, l21, (yy - l21 * l21).max(0.0).sqrt()];
        factor.iter().chain(&mean).all(|v| v.is_finite()).then_some(Ellipse { mean, factor })
    }

    /// μ + s·L·(cos t, sin t) for s standard deviations.
    fn outline(&self, sigmas: f64) -> Vec<[f64; 2]> {
        let [l11, l21, l22] = self.factor.map(|l| sigmas * l);
        let corner = |k: u32| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(CORNERS)).sin_cos();
            [self.mean[0] + l11 * cos, self.mean[1] + l21 * cos + l22 * sin]
        };
        (0..CORNERS).map(corner).collect()
    }
}

fn notes(clouds: &[Cloud], maps: &[HeatMap]) -> Vec<String> {
    let mut notes = Vec::new();
    for cloud in clouds {
        if cloud.n_left_out > 0 {
            notes.push(format!(
                "{}: {} not finite, left out",
                cloud.title,
                scatter::points(cloud.n_left_out)
            ));
        }
        let step = cloud.points.len().div_ceil(LIMIT_POINTS);
        if step > 1 {
            notes.push(format!("{}: 1 of {step} points shown", cloud.title));
        }
    }
    notes.extend(maps.iter().filter_map(HeatMap::note));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ellipse_has_the_covariance_of_the_points() {
        let points = [[-1.0, -3.0], [3.0, 1.0], [-1.0, -1.0], [3.0, 3.0]];
        let ellipse = Ellipse::of(&points).unwrap();
        assert_eq!(ellipse.mean, [1.0, 0.0]);
        // Σ = [[4, 4], [4, 5]] = LLᵀ with L = [[2, 0], [2, 1]].
        assert_eq!(ellipse.factor, [2.0, 2.0, 1.0]);
        // Every point of the outline has the Mahalanobis distance s; the tolerance is a few roundings.
        for [x, y] in ellipse.outline(2.0) {
            let (u, v) = ((x - 1.0) / 2.0, y - (x - 1.0));
            assert!((u.hypot(v) - 2.0).abs() < 1e-12, "{u} {v}");
        }
    }

    #[test]
    fn degenerate_points_have_a_flat_ellipse_or_none() {
        assert!(Ellipse::of(&[[1.0, 2.0]]).is_none());
        assert!(Ellipse::of(&[[1e300, 0.0], [-1e300, 0.0]]).is_none());
        assert_eq!(Ellipse::of(&[[0.0, 1.0], [0.0, -1.0]]).unwrap().factor, [0.0, 0.0, 1.0]);
        assert_eq!(Ellipse::of(&[[5.0, 5.0], [5.0, 5.0]]).unwrap().factor, [0.0; 3]);
    }
}
