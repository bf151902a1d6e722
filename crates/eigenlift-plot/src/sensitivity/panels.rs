//! The panels over the bandwidth: shares on top of each other, and values with a line.

use super::Axis;
use crate::axis::{Range, Ticks};
use crate::font;
use crate::frame::{self, LABEL_SIZE, TICK_SIZE};
use crate::log_axis;
use crate::palette::{FAINT_INK, FIRST, INK, SECOND, light, ramp};
use crate::scene::{Anchor, Marker, Polyline, Rect, Rgba, Shape, Stroke};
use crate::series::LineLook;

const SHARES_HEIGHT: f64 = 130.0;
const LINE_HEIGHT: f64 = 88.0;
/// A name stands in a row of this height.
const NAME_ROW: f64 = 21.0;
/// More places than this have small markers.
const MOST_PLACES: usize = 40;
/// Half the width of an area over one single bandwidth.
const LONELY: f64 = 4.0;
const WHITE: Rgba = Rgba::hex(0xffffff);
/// Areas of the ramp up to here are dark enough for white letters.
const DARK: f64 = 0.45;

/// One panel with its axis.
pub(super) struct Panel {
    name: String,
    height: f64,
    range: Range,
    ticks: Ticks,
    content: Content,
}

enum Content {
    /// For each bandwidth the sums of the first 0, 1, 2, … shares; none where one is not finite.
    Areas(Vec<(f64, Option<Vec<f64>>)>),
    /// For each bandwidth the place of its value.
    Line(Vec<(f64, Option<f64>)>, Rgba, Marker),
}

impl Panel {
    /// The shares, on top of each other.
    pub(super) fn shares(values: &[(f64, Vec<f64>)]) -> Self {
        let sums: Vec<_> = values.iter().map(|(log, shares)| (*log, sums(shares))).collect();
        let most = sums.iter().filter_map(|(_, sums)| sums.as_ref()?.last().copied()).fold(1.0, f64::max);
        let range = Range::between(0.0, most);
        let n = values.iter().map(|(_, shares)| shares.len()).max().unwrap_or(0);
        let name = match n {
            0 | 1 => "share of the first component".to_owned(),
            n => format!("shares of components 1 to {n}"),
        };
        let ticks = Ticks::vertical(&range, SHARES_HEIGHT);
        Panel { name, height: SHARES_HEIGHT, range, ticks, content: Content::Areas(sums) }
    }

    /// Angles in degrees, from 0 to a right angle.
    pub(super) fn angle(values: Vec<(f64, f64)>) -> Self {
        let values: Vec<_> =
            values.into_iter().map(|(x, v)| (x, Some(v).filter(|v| v.is_finite()))).collect();
        let ends = Range::of(values.iter().filter_map(|(_, v)| *v).chain([0.0, 90.0]));
        let ticks = if ends == (Range { lo: 0.0, hi: 90.0 }) {
            let labels = ["0", "30", "60", "90"].map(String::from).to_vec();
            Ticks { values: vec![0.0, 30.0, 60.0, 90.0], labels, ..Ticks::default() }
        } else {
            Ticks::new(&ends, 3)
        };
        let content = Content::Line(values, SECOND, Marker::Square);
        let name = "angle to the reference (degrees)".to_owned();
        Panel { name, height: LINE_HEIGHT, range: ends.padded(0.06), ticks, content }
    }

    /// Effective ranks, on a logarithmic axis.
    pub(super) fn rank(values: Vec<(f64, f64)>) -> Self {
        let values: Vec<_> = values.into_iter().map(|(x, v)| (x, log_axis::log10(v))).collect();
        let range = log_axis::range(values.iter().filter_map(|(_, v)| *v), f64::NEG_INFINITY).padded(0.04);
        let ticks = log_axis::ticks(&range, LINE_HEIGHT);
        let content = Content::Line(values, FIRST, Marker::Circle);
        Panel { name: "effective rank".to_owned(), height: LINE_HEIGHT, range, ticks, content }
    }

    pub(super) fn ticks_width(&self) -> f64 {
        font::widest(self.ticks.labels(), TICK_SIZE)
    }

    /// Draws name and panel and returns the place of the panel.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, x: &Axis, top: f64) -> Rect {
        let name = self.ticks.axis_label(&self.name, x.width);
        shapes.push(Shape::text(&name, [x.left, top + LABEL_SIZE], LABEL_SIZE, Anchor::Start, INK));
        let plot = x.plot(top + NAME_ROW, self.height);
        self.draw_plot(shapes, x, &plot);
        plot
    }

    fn draw_plot(&self, shapes: &mut Vec<Shape>, x: &Axis, plot: &Rect) {
        let plateau = x.plateau.map(|(lo, hi)| {
            let [from, to] = [lo, hi].map(|log| plot.x + plot.w * x.range.place(log));
            Rect { x: from, w: to - from, ..*plot }
        });
        let clipped = |shapes: Vec<Shape>| Shape::Clip { clip: *plot, shapes };
        if let Some(plateau) = &plateau {
            shapes.push(clipped(vec![plateau_fill(plateau)]));
        }
        frame::grid(shapes, plot, (&x.range, &x.ticks), (&self.range, &self.ticks));
        let place = |log: f64, value: f64| frame::at(plot, &x.range, &self.range, log, value);
        let edges = plateau.iter().map(|plateau| clipped(plateau_edges(plateau).to_vec()));
        let at = |log: f64| place(log, 0.0)[0];
        let reference =
            x.reference.iter().flat_map(|log| reference_line([at(*log), plot.y], [at(*log), plot.bottom()]));
        let guides = edges.chain(reference);
        let is_empty = match &self.content {
            Content::Areas(sums) => {
                let ends = x.plateau.iter().flat_map(|(lo, hi)| [*lo, *hi]);
                let taken: Vec<f64> = ends.chain(x.reference).map(at).collect();
                let is_empty = draw_areas(shapes, sums, place, (plot, &taken));
                shapes.extend(guides);
                is_empty
            }
            Content::Line(values, color, marker) => {
                shapes.extend(guides);
                let points: Vec<_> = values.iter().map(|(x, v)| v.map(|v| place(*x, v))).collect();
                let look = LineLook::new("", Stroke::solid(*color, 1.6), Some(*marker));
                let line = look.for_places(points.len().min(MOST_PLACES)).shapes(&points);
                shapes.push(clipped(line));
                points.iter().all(Option::is_none)
            }
        };
        if is_empty {
            let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0 + 0.36 * LABEL_SIZE];
            shapes.push(Shape::text("no values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        }
        shapes.push(frame::outline(plot));
        frame::y_axis(shapes, plot, &self.range, &self.ticks);
    }
}

/// The sums of the first 0, 1, 2, … shares; negative ones, which are rounding, count as zero.
fn sums(shares: &[f64]) -> Option<Vec<f64>> {
    let mut sums = vec![0.0];
    for share in shares {
        let last = sums.last().copied().unwrap_or(0.0);
        sums.push(last + Some(share.max(0.0)).filter(|_| share.is_finite())?);
    }
    Some(sums)
}

/// Draws an area for each component, with its number where it is high enough; whether there was none.
fn draw_areas(
    shapes: &mut Vec<Shape>,
    sums: &[(f64, Option<Vec<f64>>)],
    place: impl Fn(f64, f64) -> [f64; 2],
    (plot, taken): (&Rect, &[f64]),
) -> bool {
    let n = sums.iter().filter_map(|(_, sums)| sums.as_ref().map(|s| s.len() - 1)).max().unwrap_or(0);
    let sum = |sums: &[f64], k: usize| sums.get(k).or(sums.last()).copied().unwrap_or(0.0);
    let mut areas = Vec::new();
    for k in 0..n {
        let t = if n > 1 { 0.25 + 0.7 * k as f64 / (n - 1) as f64 } else { 0.3 };
        let runs = sums.split(|(_, sums)| sums.is_none()).filter(|run| !run.is_empty());
        let bands: Vec<Vec<Ends>> = runs
            .map(|run| {
                let known = run.iter().filter_map(|(log, sums)| Some((*log, sums.as_ref()?)));
                known.map(|(log, sums)| [place(log, sum(sums, k)), place(log, sum(sums, k + 1))]).collect()
            })
            .collect();
        let lines = bands.iter().map(|band| outline(band)).collect();
        let stroke = Some(Stroke::solid(WHITE, 0.8));
        areas.push(Shape::Path { lines, fill: Some(ramp(t)), stroke });
        if let Some([x, y]) = label_place(&bands, taken) {
            let color = if t <= DARK { WHITE } else { INK };
            let at = [x, y + 0.36 * TICK_SIZE];
            areas.push(Shape::text(&(k + 1).to_string(), at, TICK_SIZE, Anchor::Middle, color));
        }
    }
    let is_empty = areas.is_empty();
    shapes.push(Shape::Clip { clip: *plot, shapes: areas });
    is_empty
}

/// The lower and the upper end of an area at one bandwidth.
type Ends = [[f64; 2]; 2];

/// The closed line around an area; one single bandwidth has a narrow one.
fn outline(band: &[Ends]) -> Polyline {
    let mut band = band.to_vec();
    if let [ends] = band[..] {
        band = [-LONELY, LONELY].map(|by| ends.map(|[x, y]| [x + by, y])).to_vec();
    }
    let upper = band.iter().map(|[_, high]| *high);
    Polyline { points: band.iter().map(|[low, _]| *low).chain(upper.rev()).collect(), closed: true }
}

/// The middle of an area where it is highest, away from its ends and from lines at `taken`; none where a number
/// has no room.
fn label_place(bands: &[Vec<Ends>], taken: &[f64]) -> Option<[f64; 2]> {
    let middle = |a: [f64; 2], b: [f64; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
    let height = |[low, high]: &Ends| low[1] - high[1];
    let mut highest: Option<Ends> = None;
    for band in bands {
        let ends = [band.first(), band.last()].map(|end| end.map_or(0.0, |[low, _]| low[0]));
        let between =
            band.iter().zip(band.iter().skip(1)).map(|(a, b)| [middle(a[0], b[0]), middle(a[1], b[1])]);
        let is_free = |x: f64| ends.iter().chain(taken).all(|other| (x - other).abs() >= 0.7 * TICK_SIZE);
        for place in band.iter().copied().chain(between).filter(|[low, _]| is_free(low[0])) {
            if highest.is_none_or(|most| height(&place) > height(&most)) {
                highest = Some(place);
            }
        }
    }
    highest.filter(|place| height(place) >= TICK_SIZE).map(|[low, high]| middle(low, high))
}

/// A line in ink on a light ground.
pub(super) fn reference_line(from: [f64; 2], to: [f64; 2]) -> [Shape; 2] {
    [Stroke::solid(WHITE.with_alpha(0.6), 3.2), Stroke::solid(INK, 1.4)]
        .map(|stroke| Shape::line(from, to, stroke))
}

fn plateau_fill(rect: &Rect) -> Shape {
    Shape::Rect { rect: *rect, fill: Some(light(0.55)), stroke: None }
}

/// Dashed lines at both ends, on a light ground.
fn plateau_edges(rect: &Rect) -> [Shape; 2] {
    let edge = |x: f64| Polyline { points: vec![[x, rect.y], [x, rect.bottom()]], closed: false };
    let dashed = Stroke { dashed: true, ..Stroke::solid(INK, 1.4) };
    [Stroke::solid(WHITE.with_alpha(0.6), 3.2), dashed].map(|stroke| Shape::Path {
        lines: vec![edge(rect.x), edge(rect.right())],
        fill: None,
        stroke: Some(stroke),
    })
}

/// A piece of the plateau for the key.
pub(super) fn plateau_sample(rect: &Rect) -> Vec<Shape> {
    [plateau_fill(rect)].into_iter().chain(plateau_edges(rect)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_summed() {
        assert_eq!(sums(&[0.5, 0.25, -1e-18]), Some(vec![0.0, 0.5, 0.75, 0.75]));
        assert_eq!(sums(&[]), Some(vec![0.0]));
        assert_eq!(sums(&[0.5, f64::NAN]), None);
    }

    #[test]
    fn right_angles_have_round_ticks() {
        let ticks = |v: f64| Panel::angle(vec![(0.0, v)]).ticks.labels;
        assert_eq!(ticks(12.0), ["0", "30", "60", "90"]);
        assert_eq!(ticks(f64::NAN), ["0", "30", "60", "90"]);
        assert!(ticks(170.0).len() >= 2);
    }
}
