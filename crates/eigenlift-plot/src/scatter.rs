//! Points in the plane, coloured by class or by value.

use std::collections::BTreeMap;

use crate::axis::Range;
use crate::classes::{Classes, Look};
use crate::density::{Density, Key};
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, WIDTH};
use crate::legend::{ColorBar, Legend};
use crate::number::grouped;
use crate::palette::{FAINT_INK, FIRST, INK, OTHER, crowd, ramp};
use crate::scene::{Anchor, Figure, Marker, Rgba, Shape};

const PLOT_HEIGHT: f64 = 320.0;
/// More points than this are drawn as density: markers would hide each other.
const MOST_MARKERS: usize = 20_000;
/// What the colours of cells say.
const COUNT_NAME: &str = "points per cell";
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
/// translucent as their number grows. More than 20 000 are drawn as density: a cell of about two units shows how
/// many points lie in it, or the mean of their values; of classes that overlap, each is shown by its share of the
/// cells. A point alone in its cell stays a marker. Cost: linear in the number of points; about 15 bytes of SVG for
/// each marker or cell, less than a megabyte.
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
        let is_dense = shown.len() > MOST_MARKERS;
        let coloring = Coloring::new(input.color, &shown, is_dense);
        let mut bar = coloring.bar(shown.len(), is_dense);
        let legend = Legend::new(coloring.looks());
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
            y_ticks: None,
            equal: input.equal_aspect,
            plot_height: PLOT_HEIGHT,
            right,
            notes: &notes,
        });
        let place = |i: &usize| {
            let [x, y] = point(input, *i);
            frame.at(x, y)
        };
        let places: Vec<[f64; 2]> = shown.iter().map(place).collect();
        let (marks, radius) = if is_dense {
            let density = Density::new(&frame.plot, &places);
            if matches!(coloring, Coloring::None) {
                bar = Some(ColorBar::logarithmic(COUNT_NAME, density.logs(), PLOT_HEIGHT, crowd));
            }
            (density.shapes(&coloring.key()), Density::radius())
        } else {
            (markers(&places, &coloring.of_points(places.len())), radius(places.len()))
        };
        if shown.is_empty() {
            let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
            frame.shapes.push(Shape::text("no points", at, 15.0, Anchor::Middle, FAINT_INK));
        }
        match &bar {
            Some(bar) => bar.draw(&mut frame.shapes, &frame.plot),
            None if legend.is_beside() => legend.draw_beside(&mut frame.shapes, &frame.plot),
            None => frame.bottom = legend.draw_below(&mut frame.shapes, frame.bottom, WIDTH),
        }
        Ok(Cloud { frame, marks, radius })
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

/// What colours the shown points.
pub(crate) enum Coloring<'a> {
    None,
    Classes(Classes),
    Values { name: &'a str, values: Vec<f64>, range: Range },
}

impl<'a> Coloring<'a> {
    /// The colours of the shown of all points; classes become squares where points are many.
    pub(crate) fn new(color: Color<'a>, shown: &[usize], is_dense: bool) -> Self {
        match color {
            Color::None => Coloring::None,
            Color::Classes(labels) => {
                let of_shown: Vec<&String> = shown.iter().filter_map(|i| labels.get(*i)).collect();
                let classes = Classes::new(&of_shown);
                Coloring::Classes(if is_dense { classes.in_cells() } else { classes })
            }
            Color::Values { name, values } => {
                let values: Vec<f64> =
                    shown.iter().map(|i| values.get(*i).copied().unwrap_or(f64::NAN)).collect();
                let range = Range::of(values.iter().copied());
                Coloring::Values { name, values, range }
            }
        }
    }

    /// The classes for the legend.
    pub(crate) fn looks(&self) -> &[Look] {
        if let Coloring::Classes(classes) = self { &classes.looks } else { &[] }
    }

    /// The bar that explains the colours of values, or of as many points as a cell may have.
    pub(crate) fn bar(&self, n_points: usize, is_dense: bool) -> Option<ColorBar> {
        match self {
            Coloring::Values { name, range, .. } => Some(ColorBar::new(name, *range, PLOT_HEIGHT)),
            Coloring::None if is_dense => {
                let logs = Range { lo: 0.0, hi: (n_points as f64).log10() };
                Some(ColorBar::logarithmic(COUNT_NAME, logs, PLOT_HEIGHT, crowd))
            }
            _ => None,
        }
    }

    /// The look of each of n points.
    pub(crate) fn of_points(&self, n: usize) -> Vec<(Rgba, Marker)> {
        match self {
            Coloring::None => vec![(FIRST, Marker::Circle); n],
            Coloring::Classes(classes) => {
                let look = |look: &Look| (look.color, look.marker);
                let look_of = |class: &usize| classes.looks.get(*class).map_or((OTHER, Marker::Circle), look);
                classes.of_point.iter().map(look_of).collect()
            }
            Coloring::Values { values, range, .. } => {
                let step = |v: f64| (range.place(v).clamp(0.0, 1.0) * COLOR_STEPS).round();
                let color = |v: f64| if v.is_finite() { ramp(step(v) / COLOR_STEPS) } else { OTHER };
                values.iter().map(|v| (color(*v), Marker::Circle)).collect()
            }
        }
    }

    /// What colours the cells.
    pub(crate) fn key(&self) -> Key<'_> {
        match self {
            Coloring::None => Key::Count,
            Coloring::Classes(classes) => Key::Classes { of_point: &classes.of_point, looks: &classes.looks },
            Coloring::Values { values, range, .. } => Key::Values { values, range: *range, ramp },
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
    if shown.len() > MOST_MARKERS {
        notes.push(format!("{} points, drawn as density", grouped(shown.len())));
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
pub(crate) fn markers(places: &[[f64; 2]], looks: &[(Rgba, Marker)]) -> Vec<Shape> {
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
