//! Components pulled back to input space: each a curve through the data.

use crate::axis::Range;
use crate::classes::Classes;
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, WIDTH};
use crate::legend::Legend;
use crate::palette::{AXIS, FIRST, INK, SECOND, THIRD, mixed};
use crate::scatter;
use crate::scene::{Figure, Marker, Polyline, Rgba, Shape, Stroke};
use crate::series::{self, LineLook};

const PLOT_HEIGHT: f64 = 360.0;
/// Points drawn; of more, an even selection is drawn.
const LIMIT_POINTS: usize = 4000;
/// The strength of the colours of the data, which stay behind the curves.
const FAINT: f64 = 0.5;
const CURVE_WIDTH: f64 = 2.4;
const UNTRUSTED_WIDTH: f64 = 1.2;
/// The light ground under a curve is this much wider.
const GROUND: f64 = 2.4;
/// Length of an arrow head.
const HEAD: f64 = 13.0;
/// Half its width.
const HEAD_HALF: f64 = 5.5;
/// The direction of an arrow is taken over this length of the curve.
const HEAD_REACH: f64 = 8.0;
/// The colours of the curves: dark, so that they stand out from the data.
const COLORS: [Rgba; 6] =
    [FIRST, SECOND, THIRD, Rgba::hex(0x00694d), Rgba::hex(0x000000), Rgba::hex(0x8a6a00)];
const UNTRUSTED: &str = "not trusted";

/// One component as a curve in the plane of the data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// The name of the component.
    pub name: String,
    /// Horizontal coordinates, from the negative end of the component to its positive end.
    pub x: Vec<f64>,
    /// Vertical coordinates.
    pub y: Vec<f64>,
    /// Whether each point may be trusted; empty: all of them.
    pub trusted: Vec<bool>,
}

/// What [`curves`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curves<'a> {
    /// The data: x and y coordinates.
    pub points: (&'a [f64], &'a [f64]),
    /// The class of each point.
    pub classes: Option<&'a [String]>,
    /// The components.
    pub curves: Vec<Curve>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
    /// Label of the horizontal axis; may be empty.
    pub x_label: &'a str,
    /// Label of the vertical axis; may be empty.
    pub y_label: &'a str,
}

/// Draws the data faintly and each component as a curve with an arrow at its positive end.
///
/// Stretches that are not trusted are thin and dashed; a curve is broken where it is not finite. Both axes have one
/// scale, which the data and the trusted stretches decide.
///
/// ```
/// use eigenlift_plot::{Curve, Curves, curves};
///
/// let arc = (0..20).map(|k| f64::from(k) / 10.0 - 1.0);
/// let figure = curves(&Curves {
///     points: (&[-0.5, 0.0, 0.5], &[0.3, 0.0, 0.2]),
///     curves: vec![Curve {
///         name: "component 1".into(),
///         x: arc.clone().collect(),
///         y: arc.map(|x| x * x).collect(),
///         ..Curve::default()
///     }],
///     ..Curves::default()
/// })?;
/// assert!(figure.to_svg().contains("component 1"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when x, y, classes or trust differ in length.
pub fn curves(input: &Curves) -> Result<Figure> {
    check(input)?;
    let data = Data::new(input);
    let notes = data.notes.clone();
    let (x, y) = ranges(input, &data);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: input.x_label,
        y_label: input.y_label,
        y_color: INK,
        x: x.padded(0.05),
        y: y.padded(0.05),
        x_ticks: None,
        y_ticks: None,
        equal: true,
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &notes,
    });
    let mut inside = data.shapes(&frame);
    for (curve, color) in input.curves.iter().zip(COLORS.iter().cycle()) {
        inside.extend(Stretches::new(curve, &frame).shapes(*color));
    }
    frame.shapes.push(Shape::Clip { clip: frame.plot, shapes: inside });
    let mut bottom = draw_key(&mut frame.shapes, input, frame.bottom + 2.0);
    bottom = Legend::new(&data.classes.looks).draw_below(&mut frame.shapes, bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, frame.shapes))
}

fn check(input: &Curves) -> Result<()> {
    let n = input.points.0.len();
    check_length("the y coordinates", input.points.1.len(), n, "the x coordinates")?;
    check_length("the classes", input.classes.map_or(n, <[String]>::len), n, "the points")?;
    for curve in &input.curves {
        check_length("the y of a curve", curve.y.len(), curve.x.len(), "its x values")?;
        if !curve.trusted.is_empty() {
            check_length("the trust of a curve", curve.trusted.len(), curve.x.len(), "its points")?;
        }
    }
    Ok(())
}

/// The points of a curve with whether they are trusted; none where they are not finite.
fn points(curve: &Curve) -> impl Iterator<Item = Option<([f64; 2], bool)>> {
    let trusted = |k: usize| curve.trusted.get(k).copied().unwrap_or(true);
    let all = curve.x.iter().zip(&curve.y).enumerate();
    all.map(move |(k, (x, y))| (x.is_finite() && y.is_finite()).then(|| ([*x, *y], trusted(k))))
}

/// The ranges of the data and of what is trusted; of everything where that is nothing.
fn ranges(input: &Curves, data: &Data) -> (Range, Range) {
    let on_curves = || input.curves.iter().flat_map(points).flatten();
    let trusted: Vec<[f64; 2]> = on_curves().filter(|(_, trusted)| *trusted).map(|(at, _)| at).collect();
    let of_data = data.drawn.iter().map(|(at, _)| *at);
    let mut all: Vec<[f64; 2]> = of_data.chain(trusted).collect();
    if all.is_empty() {
        all = on_curves().map(|(at, _)| at).collect();
    }
    (Range::of(all.iter().map(|at| at[0])), Range::of(all.iter().map(|at| at[1])))
}

/// The data behind the curves.
struct Data {
    classes: Classes,
    /// Each point drawn and its class.
    drawn: Vec<([f64; 2], usize)>,
    notes: Vec<String>,
}

impl Data {
    fn new(input: &Curves) -> Self {
        let mut classes = input.classes.map(Classes::new).unwrap_or_default();
        classes.looks.iter_mut().for_each(|look| look.color = mixed(look.color, FAINT));
        let class = |k: usize| classes.of_point.get(k).copied().unwrap_or(0);
        let all = input.points.0.iter().zip(input.points.1).enumerate();
        let finite = all.filter(|(_, (x, y))| x.is_finite() && y.is_finite());
        let mut drawn: Vec<_> = finite.map(|(k, (x, y))| ([*x, *y], class(k))).collect();
        let mut notes = Vec::new();
        let n_left_out = input.points.0.len() - drawn.len();
        if n_left_out > 0 {
            notes.push(format!("{} not finite, left out", scatter::points(n_left_out)));
        }
        let step = drawn.len().div_ceil(LIMIT_POINTS).max(1);
        if step > 1 {
            notes.push(format!("1 of {step} points shown"));
            drawn = drawn.into_iter().step_by(step).collect();
        }
        Data { classes, drawn, notes }
    }

    fn shapes(&self, frame: &Frame) -> Vec<Shape> {
        let looks: Vec<(Rgba, Marker)> = match self.classes.looks.as_slice() {
            [] => vec![(mixed(AXIS, 0.65), Marker::Circle)],
            looks => looks.iter().map(|look| (look.color, look.marker)).collect(),
        };
        let radius = (3.4 * (100.0 / self.drawn.len().max(1) as f64).min(1.0).powf(0.2)).max(1.0);
        let mut groups = vec![Vec::new(); looks.len()];
        for ([x, y], class) in &self.drawn {
            if let Some(group) = groups.get_mut(*class) {
                group.push(frame.at(*x, *y));
            }
        }
        let drawn = looks.into_iter().zip(groups).filter(|(_, centers)| !centers.is_empty());
        drawn.map(|((color, marker), centers)| Shape::Markers { centers, marker, radius, color }).collect()
    }
}

/// A curve in figure units, in stretches that are trusted and stretches that are not.
struct Stretches {
    trusted: Vec<Polyline>,
    untrusted: Vec<Polyline>,
    /// The tip of the arrow and the direction it points in.
    head: Option<([f64; 2], [f64; 2])>,
}

impl Stretches {
    fn new(curve: &Curve, frame: &Frame) -> Self {
        let at = |([x, y], trusted): ([f64; 2], bool)| (frame.at(x, y), trusted);
        let placed: Vec<Option<([f64; 2], bool)>> = points(curve).map(|point| point.map(at)).collect();
        let mut found = Stretches { trusted: Vec::new(), untrusted: Vec::new(), head: head(&placed) };
        let mut last: Option<bool> = None;
        for pair in placed.windows(2) {
            let [Some((from, a)), Some((to, b))] = pair else {
                last = None;
                continue;
            };
            let is_trusted = *a && *b;
            let lines = if is_trusted { &mut found.trusted } else { &mut found.untrusted };
            match lines.last_mut().filter(|_| last == Some(is_trusted)) {
                Some(line) => line.points.push(*to),
                None => lines.push(Polyline { points: vec![*from, *to], closed: false }),
            }
            last = Some(is_trusted);
        }
        found
    }

    fn shapes(self, color: Rgba) -> Vec<Shape> {
        let path = |lines: &[Polyline], stroke: Stroke| {
            (!lines.is_empty()).then(|| Shape::Path {
                lines: lines.to_vec(),
                fill: None,
                stroke: Some(stroke),
            })
        };
        let ground = |width: f64| Stroke::solid(Rgba::hex(0xffffff).with_alpha(0.85), width + GROUND);
        let thin = Stroke { dashed: true, ..Stroke::solid(color, UNTRUSTED_WIDTH) };
        let head = self.head.map(|(tip, direction)| arrow_head(tip, direction));
        let lines = [
            path(&self.untrusted, ground(UNTRUSTED_WIDTH)),
            path(&self.trusted, ground(CURVE_WIDTH)),
            path(&self.untrusted, thin),
            path(&self.trusted, Stroke::solid(color, CURVE_WIDTH)),
        ];
        let head = head.map(|head| Shape::Path {
            lines: vec![head],
            fill: Some(color),
            stroke: Some(Stroke::solid(Rgba::hex(0xffffff), 0.8)),
        });
        lines.into_iter().flatten().chain(head).collect()
    }
}

/// The tip of the arrow: the last trusted point, or the last of all; and the direction of the curve there.
fn head(placed: &[Option<([f64; 2], bool)>]) -> Option<([f64; 2], [f64; 2])> {
    let last_trusted = placed.iter().rposition(|point| point.is_some_and(|(_, trusted)| trusted));
    let end = last_trusted.or_else(|| placed.iter().rposition(Option::is_some))?;
    let (tip, _) = placed.get(end).copied().flatten()?;
    let before = placed.get(..end)?.iter().rev().map_while(|point| *point);
    let distance = |at: &[f64; 2]| (tip[0] - at[0]).hypot(tip[1] - at[1]);
    let mut from = None;
    for (at, _) in before {
        from = Some(at);
        if distance(&at) >= HEAD_REACH {
            break;
        }
    }
    let from = from.filter(|at| distance(at) > 0.0)?;
    let length = distance(&from);
    Some((tip, [(tip[0] - from[0]) / length, (tip[1] - from[1]) / length]))
}

/// A triangle that points in a direction and reaches a little beyond the tip of the line.
fn arrow_head([x, y]: [f64; 2], [dx, dy]: [f64; 2]) -> Polyline {
    let corner = |along: f64, across: f64| [x + along * dx - across * dy, y + along * dy + across * dx];
    let back = -0.5 * HEAD;
    Polyline {
        points: vec![corner(0.5 * HEAD, 0.0), corner(back, HEAD_HALF), corner(back, -HEAD_HALF)],
        closed: true,
    }
}

/// Names the curves, and what dashes mean where there are any; returns where it ends.
fn draw_key(shapes: &mut Vec<Shape>, input: &Curves, top: f64) -> f64 {
    let named = input.curves.iter().zip(COLORS.iter().cycle());
    let mut looks: Vec<LineLook> = named
        .map(|(curve, color)| LineLook::new(&curve.name, Stroke::solid(*color, CURVE_WIDTH), None))
        .collect();
    if input.curves.iter().any(|curve| curve.trusted.contains(&false)) {
        let stroke = Stroke { dashed: true, ..Stroke::solid(INK, UNTRUSTED_WIDTH) };
        looks.push(LineLook::new(UNTRUSTED, stroke, None));
    }
    if looks.is_empty() { top - 2.0 } else { series::draw_key(shapes, &looks, top + 2.0, WIDTH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrow_points_along_the_end_of_the_curve() {
        let at = |x: f64, y: f64, trusted: bool| Some(([x, y], trusted));
        let placed = [at(0.0, 0.0, true), at(20.0, 0.0, true), at(20.0, 10.0, true), at(90.0, 9.0, false)];
        assert_eq!(head(&placed), Some(([20.0, 10.0], [0.0, 1.0])), "the last trusted point");
        assert_eq!(head(&[at(1.0, 1.0, true), at(1.0, 1.0, true)]), None, "no direction");
        assert_eq!(head(&[at(1.0, 1.0, true), None, at(5.0, 1.0, true)]), None, "alone after a gap");
        let head = arrow_head([20.0, 10.0], [0.0, 1.0]).points;
        assert_eq!(head[0], [20.0, 10.0 + HEAD / 2.0]);
    }
}
