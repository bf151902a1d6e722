//! Lines through data with their markers, and the key that names them.

use crate::font;
use crate::frame::{BORDER, LINE, TICK_SIZE};
use crate::palette::INK;
use crate::scene::{Anchor, Marker, Polyline, Shape, Stroke};

/// Up to this many points a line has a marker for each.
const MOST_MARKERS: usize = 40;
/// Up to this many points the markers are large.
const MOST_LARGE: usize = 20;
const LARGE: f64 = 3.5;
const SMALL: f64 = 2.5;
/// Length of the piece of a line in the key.
const SAMPLE: f64 = 26.0;
/// From the sample to its name.
const NAME_GAP: f64 = 6.0;
/// Between two entries of the key.
const ENTRY_GAP: f64 = 16.0;

/// The look of a line and its name in the key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LineLook<'a> {
    pub(crate) name: &'a str,
    pub(crate) stroke: Stroke,
    pub(crate) marker: Option<Marker>,
    radius: f64,
}

impl<'a> LineLook<'a> {
    pub(crate) fn new(name: &'a str, stroke: Stroke, marker: Option<Marker>) -> Self {
        LineLook { name, stroke, marker, radius: LARGE }
    }

    /// The look where the axis has this many places: smaller markers, and none where they would touch.
    pub(crate) fn for_places(self, n: usize) -> Self {
        let radius = if n <= MOST_LARGE { LARGE } else { SMALL };
        LineLook { marker: self.marker.filter(|_| n <= MOST_MARKERS), radius, ..self }
    }

    /// The markers and the line, broken where a point is missing.
    pub(crate) fn shapes(&self, points: &[Option<[f64; 2]>]) -> Vec<Shape> {
        let (color, radius) = (self.stroke.color, self.radius);
        let centers = || points.iter().flatten().copied().collect();
        let marks = self.marker.map(|marker| Shape::Markers { centers: centers(), marker, radius, color });
        let runs = points.split(Option::is_none).map(|run| run.iter().flatten().copied().collect::<Vec<_>>());
        let lines = runs.filter(|run| !run.is_empty()).map(|points| Polyline { points, closed: false });
        let line = Shape::Path { lines: lines.collect(), fill: None, stroke: Some(self.stroke) };
        marks.into_iter().chain([line]).collect()
    }

    fn width(&self) -> f64 {
        SAMPLE + NAME_GAP + font::width(self.name, TICK_SIZE) + ENTRY_GAP
    }

    fn draw_sample(&self, shapes: &mut Vec<Shape>, [x, y]: [f64; 2]) {
        shapes.push(Shape::line([x, y], [x + SAMPLE, y], self.stroke));
        if let Some(marker) = self.marker {
            let centers = vec![[x + SAMPLE / 2.0, y]];
            shapes.push(Shape::Markers { centers, marker, radius: LARGE, color: self.stroke.color });
        }
        let at = [x + SAMPLE + NAME_GAP, y + 0.36 * TICK_SIZE];
        shapes.push(Shape::text(self.name, at, TICK_SIZE, Anchor::Start, INK));
    }
}

/// Draws the key in as many centred rows as it needs and returns where it ends.
pub(crate) fn draw_key(shapes: &mut Vec<Shape>, looks: &[LineLook], top: f64, width: f64) -> f64 {
    let room = width - 2.0 * BORDER + ENTRY_GAP;
    let mut rows: Vec<(Vec<&LineLook>, f64)> = Vec::new();
    for look in looks {
        match rows.last_mut().filter(|(_, used)| used + look.width() <= room) {
            Some((row, used)) => {
                row.push(look);
                *used += look.width();
            }
            None => rows.push((vec![look], look.width())),
        }
    }
    let mut bottom = top;
    for (row, used) in &rows {
        let mut x = ((width - used + ENTRY_GAP) / 2.0).max(BORDER);
        for look in row {
            look.draw_sample(shapes, [x, bottom + LINE / 2.0]);
            x += look.width();
        }
        bottom += LINE;
    }
    bottom
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(name: &str) -> LineLook<'_> {
        LineLook::new(name, Stroke::solid(INK, 1.0), Some(Marker::Square))
    }

    #[test]
    fn a_line_breaks_where_a_point_is_missing() {
        let at = |x: f64| Some([x, 0.0]);
        let shapes = look("a").shapes(&[at(0.0), at(1.0), None, at(3.0), None, at(5.0), at(6.0)]);
        assert!(matches!(&shapes[0], Shape::Markers { centers, .. } if centers.len() == 5));
        assert!(matches!(&shapes[1], Shape::Path { lines, .. } if lines.len() == 3));
        assert_eq!(look("a").for_places(41).marker, None, "many points have no markers");
    }

    #[test]
    fn a_key_takes_the_rows_it_needs() {
        let mut shapes = Vec::new();
        assert_eq!(draw_key(&mut shapes, &[], 10.0, 480.0), 10.0);
        assert_eq!(draw_key(&mut shapes, &[look("a"), look("b")], 10.0, 480.0), 10.0 + LINE);
        let long = look("a name that takes more than half of the figure");
        assert_eq!(draw_key(&mut shapes, &[long, long], 10.0, 480.0), 10.0 + 2.0 * LINE);
    }
}
