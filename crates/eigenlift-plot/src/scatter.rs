//! Points in the plane, coloured by class or by value.

use std::collections::BTreeMap;

use crate::axis::Range;
use crate::classes::Classes;
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, WIDTH};
use crate::legend::{ColorBar, Legend};
use crate::palette::{FAINT_INK, FIRST, INK, OTHER, ramp};
use crate::scene::{Anchor, Figure, Marker, Rgba, Shape};

const PLOT_HEIGHT: f64 = 320.0;
/// Of more points than this an even selection is drawn, so that the SVG stays small enough to open.
const LIMIT_POINTS: usize = 200_000;
/// Continuous colours are rounded to this many, so that the SVG has few paths.
const COLOR_STEPS: f64 = 48.0;

/// What decides the colour of a point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Color<'a> {
    /// All points look the same.
    #[default]
    None,
    /// One label for each point; a legend names them.
    Classes(&'a [String]),
    /// One number for each point; a colour bar with this name explains them.
    Values {
        /// What the numbers are.
        name: &'a str,
        /// The number of each point; a point whose number is not finite is drawn grey.
        values: &'a [f64],
    },
}

/// What [`scatter`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scatter<'a> {
    /// Horizontal coordinates.
    pub x: &'a [f64],
    /// Vertical coordinates.
    pub y: &'a [f64],
    /// The colour of the points.
    pub color: Color<'a>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
    /// Label of the horizontal axis; may be empty.
    pub x_label: &'a str,
    /// Label of the vertical axis; may be empty.
    pub y_label: &'a str,
    /// Draw one unit of x as long as one unit of y, as distances between points need.
    pub equal_aspect: bool,
}

/// Draws points coloured by class or by value.
///
/// Points that are not finite are left out and counted in a note. Markers become smaller and more
/// translucent as their number grows; of more than 200 000 an even selection is drawn. Cost: linear in the number of points; about 15 bytes of SVG for each.
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when `y` or the colours do not have one
/// entry for each `x`.
pub fn scatter(input: &Scatter) -> Result<Figure> {
    let Cloud { mut frame, marks, .. } = Cloud::new(input, &[])?;
    frame.shapes.extend(marks);
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

/// Points laid out in a frame with its legend; what else a picture has goes below or above the marks.
pub(crate) struct Cloud {
    pub(crate) frame: Frame,
    /// The points, not yet part of the frame.
    pub(crate) marks: Vec<Shape>,
    /// The radius of a point.
    pub(crate) radius: f64,
}

impl Cloud {
    /// Lays out what [`scatter`] draws, with more notes below its own.
    pub(crate) fn new(input: &Scatter, more_notes: &[String]) -> Result<Self> {
        check(input)?;
        let shown: Vec<usize> =
            (0..input.x.len()).filter(|i| point(input, *i).iter().all(|v| v.is_finite())).collect();
        let (looks, classes, bar) = point_looks(input, &shown);
        let legend = Legend::new(&classes.looks);
        let right = match &bar {
            Some(bar) => bar.width(),
            None if legend.is_beside() => legend.width_beside(),
            None => 0.0,
        };
        let notes = [notes(input, &shown), more_notes.to_vec()].concat();
        let mut frame = Frame::new(&FrameSpec {
            title: input.title,
            x_label: input.x_label,
            y_label: input.y_label,
            y_color: INK,
            x: Range::of(shown.iter().map(|i| point(input, *i)[0])).padded(0.05),
            y: Range::of(shown.iter().map(|i| point(input, *i)[1])).padded(0.05),
            x_ticks: None,
            equal: input.equal_aspect,
            plot_height: PLOT_HEIGHT,
            right,
            notes: &notes,
        });
        let points = shown.iter().map(|i| {
            let [x, y] = point(input, *i);
            frame.at(x, y)
        });
        let step = shown.len().div_ceil(LIMIT_POINTS).max(1);
        let drawn: (Vec<_>, Vec<_>) = points.zip(looks).step_by(step).unzip();
        let marks = markers(&drawn.0, &drawn.1);
        if shown.is_empty() {
            let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
            frame.shapes.push(Shape::text("no points", at, 15.0, Anchor::Middle, FAINT_INK));
        }
        match &bar {
            Some(bar) => bar.draw(&mut frame.shapes, &frame.plot),
            None if legend.is_beside() => legend.draw_beside(&mut frame.shapes, &frame.plot),
            None => frame.bottom = legend.draw_below(&mut frame.shapes, frame.bottom, WIDTH),
        }
        Ok(Cloud { frame, marks, radius: radius(drawn.0.len()) })
    }
}

/// Checks that there is one y and one colour for each x.
fn check(input: &Scatter) -> Result<()> {
    check_length("y", input.y.len(), input.x.len(), "the x values")?;
    match input.color {
        Color::None => Ok(()),
        Color::Classes(labels) => check_length("the classes", labels.len(), input.x.len(), "the points"),
        Color::Values { values, .. } => {
            check_length("the colour values", values.len(), input.x.len(), "the points")
        }
    }
}

fn point(input: &Scatter, i: usize) -> [f64; 2] {
    [input.x, input.y].map(|values| values.get(i).copied().unwrap_or(f64::NAN))
}

/// The look of each shown point, the classes for the legend and the bar for the values.
fn point_looks(input: &Scatter, shown: &[usize]) -> (Vec<(Rgba, Marker)>, Classes, Option<ColorBar>) {
    match input.color {
        Color::None => (vec![(FIRST, Marker::Circle); shown.len()], Classes::default(), None),
        Color::Classes(labels) => {
            let shown_labels: Vec<String> = shown.iter().filter_map(|i| labels.get(*i).cloned()).collect();
            let classes = Classes::new(&shown_labels);
            let look_of = |class: &usize| {
                classes.looks.get(*class).map_or((OTHER, Marker::Circle), |look| (look.color, look.marker))
            };
            (classes.of_point.iter().map(look_of).collect(), classes, None)
        }
        Color::Values { name, values } => {
            let value = |i: &usize| values.get(*i).copied().unwrap_or(f64::NAN);
            let range = Range::of(shown.iter().map(value));
            let color = |v: f64| {
                let step = (range.place(v).clamp(0.0, 1.0) * COLOR_STEPS).round();
                if v.is_finite() { ramp(step / COLOR_STEPS) } else { OTHER }
            };
            let looks = shown.iter().map(|i| (color(value(i)), Marker::Circle)).collect();
            (looks, Classes::default(), Some(ColorBar::new(name, range, PLOT_HEIGHT)))
        }
    }
}

/// Says what was left out or has no colour.
fn notes(input: &Scatter, shown: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    let n_left_out = input.x.len() - shown.len();
    if n_left_out > 0 {
        notes.push(format!("{} not finite, left out", points(n_left_out)));
    }
    let step = shown.len().div_ceil(LIMIT_POINTS);
    if step > 1 {
        notes.push(format!("1 of {step} points shown"));
    }
    if let Color::Values { values, .. } = input.color {
        let n_grey = shown.iter().filter(|i| values.get(**i).is_some_and(|v| !v.is_finite())).count();
        if n_grey > 0 {
            notes.push(format!("{} without a finite colour value, grey", points(n_grey)));
        }
    }
    notes
}

/// A count of points in words.
pub(crate) fn points(n: usize) -> String {
    if n == 1 { "1 point".to_owned() } else { format!("{n} points") }
}

/// 1 for up to 100 points, then less.
fn crowding(n: usize) -> f64 {
    (100.0 / n.max(1) as f64).min(1.0)
}

/// The radius of each of n points.
fn radius(n: usize) -> f64 {
    (4.0 * crowding(n).powf(0.2)).max(0.8)
}

/// The markers, one shape for each look in each of a few layers.
///
/// Why layers: one path is painted once, so points of it do not darken each other, and a class drawn last
/// would hide the others. Each layer holds a stretch of the points in their order.
fn markers(places: &[[f64; 2]], looks: &[(Rgba, Marker)]) -> Vec<Shape> {
    let n = places.len().max(1) as f64;
    let radius = radius(places.len());
    let alpha = (0.85 * crowding(places.len()).powf(0.14)).max(0.25);
    let n_layers = (n / 1000.0).ceil().clamp(1.0, 12.0) as usize;
    let mut shapes = Vec::new();
    let stretch = places.len().div_ceil(n_layers).max(1);
    for (places, looks) in places.chunks(stretch).zip(looks.chunks(stretch)) {
        let mut groups: BTreeMap<([u8; 3], Marker), Vec<[f64; 2]>> = BTreeMap::new();
        for (place, (color, marker)) in places.iter().zip(looks) {
            groups.entry((color.rgb, *marker)).or_default().push(*place);
        }
        shapes.extend(groups.into_iter().map(|((rgb, marker), centers)| {
            let color = Rgba { rgb, alpha };
            Shape::Markers { centers, marker, radius, color }
        }));
    }
    shapes
}
