//! A graph over points in the plane, with some of its edges marked.

use crate::error::{PlotError, Result};
use crate::font;
use crate::frame::{BORDER, Frame, LINE, TICK_SIZE, WIDTH};
use crate::palette::{AXIS, INK, SECOND};
use crate::scatter::{Cloud, Color, Scatter};
use crate::scene::{Anchor, Figure, Polyline, Rgba, Shape, Stroke};

/// Of more edges than this every second, third, … is drawn, so that the picture stays fast and legible.
const LIMIT_EDGES: usize = 20_000;
/// Up to this many marked edges have rings around their ends.
const MOST_RINGED: usize = 500;
/// Edges of one path are painted once; several paths darken where edges are dense.
const EDGES_PER_LAYER: usize = 2000;
const MARKED_WIDTH: f64 = 2.6;
const HALO_WIDTH: f64 = 5.0;
const RING_WIDTH: f64 = 1.8;
/// From a point to the ring around it.
const RING_GAP: f64 = 2.0;
const RING_CORNERS: u32 = 16;
/// Length of the marked edge in the legend.
const SAMPLE: f64 = 34.0;
const SAMPLE_RADIUS: f64 = 4.0;
const NAME_GAP: f64 = 10.0;
const WHITE: Rgba = Rgba::hex(0xffffff);

/// What [`graph_picture`] draws. Rows in edges are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GraphPicture<'a> {
    /// Horizontal and vertical coordinates of the points.
    pub xy: (&'a [f64], &'a [f64]),
    /// Pairs of points joined by a thin line.
    pub edges: &'a [(u32, u32)],
    /// Pairs of points joined by a bold dashed line; they need not be among the edges.
    pub marked: &'a [(u32, u32)],
    /// What the marked edges are, such as "suspected short circuits" or "bridges".
    pub marked_name: &'a str,
    /// The colour of the points.
    pub color: Color<'a>,
    /// Labels of the horizontal and the vertical axis; may be empty.
    pub names: (&'a str, &'a str),
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws a graph over an embedding: thin grey edges, the points on them, and on top the marked edges, dashed
/// and with a ring around each end.
///
/// One unit is as long horizontally as vertically. Points that are not finite are left out with their edges
/// and counted in notes. Of more than 20 000 edges every second, third, … is drawn, and a note says which;
/// of the marked ones likewise, and above 500 of them the rings are left out. Cost: linear in points and edges.
///
/// ```
/// use eigenlift_plot::{GraphPicture, graph_picture};
///
/// let figure = graph_picture(&GraphPicture {
///     xy: (&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0]),
///     edges: &[(0, 1), (1, 2)],
///     marked: &[(0, 2)],
///     marked_name: "bridges",
///     ..GraphPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("bridges"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when there is not one y and one colour for each x; [`PlotError::EdgeRow`]
/// when an edge leads to a row that does not exist.
pub fn graph_picture(input: &GraphPicture<'_>) -> Result<Figure> {
    let points = Scatter {
        x: input.xy.0,
        y: input.xy.1,
        color: input.color,
        title: input.title,
        x_label: input.names.0,
        y_label: input.names.1,
        equal_aspect: true,
    };
    let edges = Segments::new(input, input.edges, ["edge", "edges"])?;
    let marked = Segments::new(input, input.marked, ["marked edge", "marked edges"])?;
    let Cloud { mut frame, marks, radius } = Cloud::new(&points, &[edges.notes(), marked.notes()].concat())?;
    frame.shapes.extend(thin(&edges.place(&frame)));
    frame.shapes.extend(marks);
    let bold_lines = marked.place(&frame);
    if !bold_lines.is_empty() {
        frame.shapes.extend(bold(&bold_lines, radius));
        let name = if input.marked_name.is_empty() { "marked edges" } else { input.marked_name };
        frame.bottom = legend(&mut frame.shapes, name, frame.bottom);
    }
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

/// The ends of the edges that are drawn, and how many are not.
struct Segments {
    ends: Vec<[[f64; 2]; 2]>,
    /// One edge of this many is drawn.
    step: usize,
    n_left_out: usize,
    /// One edge and several in words.
    words: [&'static str; 2],
}

impl Segments {
    fn new(input: &GraphPicture, edges: &[(u32, u32)], words: [&'static str; 2]) -> Result<Self> {
        let (x, y) = input.xy;
        let mut ends = Vec::with_capacity(edges.len());
        for (k, (from, to)) in edges.iter().enumerate() {
            let point = |row: u32| match (x.get(row as usize), y.get(row as usize)) {
                (Some(x), Some(y)) => Ok([*x, *y]),
                _ => Err(PlotError::EdgeRow {
                    what: words[0],
                    edge: k + 1,
                    row: u64::from(row) + 1,
                    n_points: x.len().min(y.len()),
                }),
            };
            let pair = [point(*from)?, point(*to)?];
            if pair.iter().flatten().all(|v| v.is_finite()) {
                ends.push(pair);
            }
        }
        let n_left_out = edges.len() - ends.len();
        let step = ends.len().div_ceil(LIMIT_EDGES).max(1);
        Ok(Segments { ends: ends.into_iter().step_by(step).collect(), step, n_left_out, words })
    }

    fn notes(&self) -> Vec<String> {
        let [one, several] = self.words;
        let left_out = match self.n_left_out {
            0 => None,
            1 => Some(format!("1 {one} left out with its point")),
            n => Some(format!("{n} {several} left out with their points")),
        };
        let thinned = (self.step > 1).then(|| format!("every {} {one} drawn", ordinal(self.step)));
        left_out.into_iter().chain(thinned).collect()
    }

    fn place(&self, frame: &Frame) -> Vec<Polyline> {
        let line = |ends: &[[f64; 2]; 2]| Polyline {
            points: ends.iter().map(|[x, y]| frame.at(*x, *y)).collect(),
            closed: false,
        };
        self.ends.iter().map(line).collect()
    }
}

/// 2nd, 3rd, 4th, …
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// The edges as grey lines, thinner and fainter the more there are.
fn thin(lines: &[Polyline]) -> Vec<Shape> {
    let crowding = (500.0 / lines.len().max(1) as f64).min(1.0);
    let color = AXIS.with_alpha(0.8 * crowding.powf(0.2));
    let stroke = Some(Stroke::solid(color, 0.9 * crowding.powf(0.15)));
    let layer = |lines: &[Polyline]| Shape::Path { lines: lines.to_vec(), fill: None, stroke };
    lines.chunks(EDGES_PER_LAYER).map(layer).collect()
}

/// The marked edges: dashed on a light ground, from ring to ring where there are rings, so that the points at
/// the ends stay in sight.
fn bold(lines: &[Polyline], radius: f64) -> Vec<Shape> {
    let path = |lines: Vec<Polyline>, stroke: Stroke| Shape::Path { lines, fill: None, stroke: Some(stroke) };
    let radius = radius + RING_GAP;
    let ringed = lines.len() <= MOST_RINGED;
    let between: Vec<Polyline> = if ringed {
        lines.iter().filter_map(|line| shortened(line, radius)).collect()
    } else {
        lines.to_vec()
    };
    let dashed = Stroke { dashed: true, ..Stroke::solid(SECOND, MARKED_WIDTH) };
    let mut shapes = Vec::new();
    if !between.is_empty() {
        shapes.push(path(between.clone(), Stroke::solid(WHITE.with_alpha(0.75), HALO_WIDTH)));
        shapes.push(path(between, dashed));
    }
    if ringed {
        let centers = lines.iter().flat_map(|line| &line.points);
        let rings = centers.map(|center| ring(*center, radius)).collect();
        shapes.push(path(rings, Stroke::solid(SECOND, RING_WIDTH)));
    }
    shapes
}

/// The line without a piece at each end; none where nothing is left.
fn shortened(line: &Polyline, piece: f64) -> Option<Polyline> {
    let [a, b] = line.points.as_slice() else { return None };
    let length = (b[0] - a[0]).hypot(b[1] - a[1]);
    if length <= 2.0 * piece {
        return None;
    }
    let along = |share: f64| [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
    Some(Polyline { points: vec![along(piece / length), along(1.0 - piece / length)], closed: false })
}

fn ring([x, y]: [f64; 2], radius: f64) -> Polyline {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(RING_CORNERS)).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    Polyline { points: (0..RING_CORNERS).map(corner).collect(), closed: true }
}

/// Draws a marked edge with its name below what there is, and returns where it ends.
fn legend(shapes: &mut Vec<Shape>, name: &str, top: f64) -> f64 {
    let name = font::truncated(name, TICK_SIZE, WIDTH - 2.0 * BORDER - SAMPLE - NAME_GAP - 8.0);
    let left = (WIDTH - SAMPLE - NAME_GAP - font::width(&name, TICK_SIZE)) / 2.0;
    let (right, y) = (left + SAMPLE, top + 4.0 + 0.5 * LINE);
    let sample = Polyline { points: vec![[left, y], [right, y]], closed: false };
    shapes.extend(bold(&[sample], SAMPLE_RADIUS - RING_GAP));
    let at = [right + NAME_GAP, y + 0.36 * TICK_SIZE];
    shapes.push(Shape::text(&name, at, TICK_SIZE, Anchor::Start, INK));
    top + 4.0 + LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_ordinals() {
        let words = [2, 3, 5, 11, 12, 13, 21, 22, 103, 111].map(ordinal);
        assert_eq!(words, ["2nd", "3rd", "5th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th"]);
    }

    #[test]
    fn rings_go_around_their_points() {
        for [x, y] in ring([3.0, 4.0], 5.0).points {
            assert!(((x - 3.0).hypot(y - 4.0) - 5.0).abs() < 1e-12, "{x} {y}");
        }
        let line = |to: [f64; 2]| Polyline { points: vec![[0.0, 0.0], to], closed: false };
        let kept = shortened(&line([6.0, 8.0]), 2.5).unwrap().points;
        assert_eq!(kept, [[1.5, 2.0], [4.5, 6.0]]);
        assert_eq!(shortened(&line([0.0, 0.0]), 2.5), None);
        assert_eq!(shortened(&line([3.0, 4.0]), 2.5), None, "the rings touch");
    }
}
