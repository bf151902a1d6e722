//! The plane coloured by predicted class, with the rows on top.

use crate::axis::Range;
use crate::classes::{Classes, Look};
use crate::contour::to_plot;
use crate::error::{PlotError, Result, check_length};
use crate::frame::{self, Frame, FrameSpec, WIDTH};
use crate::grid_points::GridPoints;
use crate::legend::Legend;
use crate::marching::{Grid, area_above};
use crate::palette::{FAINT_INK, INK, OTHER, mixed};
use crate::scene::{Figure, Rect, Shape, Stroke};

const PLOT_HEIGHT: f64 = 320.0;
const LIMIT_LINES: usize = 1000;
/// The strength of the colour of a region.
const STRENGTH: f64 = 0.28;

/// What [`regions`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RegionsPicture<'a> {
    /// The predicted class at each node, row by row: `ny` rows of `nx`, the first row at the lowest y.
    pub grid: &'a [u32],
    /// Columns of the grid.
    pub nx: usize,
    /// Rows of the grid.
    pub ny: usize,
    /// x at the first and last column of the grid.
    pub x_range: (f64, f64),
    /// y at the first and last row of the grid.
    pub y_range: (f64, f64),
    /// The names of the classes that the grid counts from 0.
    pub class_names: &'a [String],
    /// Data points: x and y coordinates.
    pub points: (&'a [f64], &'a [f64]),
    /// The name of the true class of each point; without them points are dark.
    pub labels: Option<&'a [String]>,
    /// Title above the plot; may be empty.
    pub title: &'a str,
    /// Label of the horizontal axis; may be empty.
    pub x_label: &'a str,
    /// Label of the vertical axis; may be empty.
    pub y_label: &'a str,
}

/// Draws the region of each predicted class in the light colour of the class, with a line between regions, and the
/// points in the colours of their own classes.
///
/// Borders lie half way between nodes of different classes, so a grid of 150 lines or more looks smooth. Of more than
/// 4000 points an even selection is drawn. Cost: `nx`·`ny` for each class.
///
/// ```
/// use eigenlift_plot::{RegionsPicture, regions};
///
/// let names = ["a", "b"].map(String::from);
/// let figure = regions(&RegionsPicture {
///     grid: &[0, 0, 1, 0, 1, 1],
///     nx: 3,
///     ny: 2,
///     x_range: (0.0, 2.0),
///     y_range: (0.0, 1.0),
///     class_names: &names,
///     points: (&[0.1, 1.8], &[0.2, 0.9]),
///     labels: Some(&names),
///     ..RegionsPicture::default()
/// })?;
/// assert!(figure.to_svg().contains(">b</text>"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::GridSize`], [`PlotError::BadRange`], [`PlotError::NoSuchClass`] when a node has a class without a
/// name, and [`PlotError::LengthMismatch`] when the grid does not have `nx`·`ny` nodes or points and labels differ in
/// length.
pub fn regions(input: &RegionsPicture) -> Result<Figure> {
    check(input)?;
    let ranges = (range(input.x_range), range(input.y_range));
    let classes = Classes::of_names(input.class_names, input.labels.unwrap_or_default());
    let of_points = if input.labels.is_some() { classes.clone() } else { Classes::default() };
    let points = GridPoints::new(input.points, of_points, &ranges);
    let legend = Legend::new(&classes.looks);
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: input.x_label,
        y_label: input.y_label,
        y_color: INK,
        x: ranges.0,
        y: ranges.1,
        x_ticks: None,
        y_ticks: None,
        equal: false,
        plot_height: PLOT_HEIGHT,
        right: if legend.is_beside() { legend.width_beside() } else { 0.0 },
        notes: &points.notes,
    });
    let plot = frame.plot;
    let mut inside = areas(input, &classes.looks, &plot);
    inside.extend(points.shapes(&plot, &ranges));
    frame.shapes.push(Shape::Clip { clip: plot, shapes: inside });
    frame.shapes.push(frame::outline(&plot));
    if legend.is_beside() {
        legend.draw_beside(&mut frame.shapes, &plot);
    } else {
        frame.bottom = legend.draw_below(&mut frame.shapes, frame.bottom, WIDTH);
    }
    Ok(Figure::new(WIDTH, frame.bottom + 6.0, input.title, frame.shapes))
}

fn check(input: &RegionsPicture) -> Result<()> {
    let (nx, ny) = (input.nx, input.ny);
    if [nx, ny].iter().any(|n| !(2..=LIMIT_LINES).contains(n)) {
        return Err(PlotError::GridSize { nx, ny, limit: LIMIT_LINES });
    }
    check_length("the grid", input.grid.len(), nx * ny, "the nx·ny nodes")?;
    let n_classes = input.class_names.len();
    if let Some(class) = input.grid.iter().copied().find(|class| *class as usize >= n_classes) {
        return Err(PlotError::NoSuchClass { class, n_classes });
    }
    for (what, (lo, hi)) in [("x_range", input.x_range), ("y_range", input.y_range)] {
        if !(lo.is_finite() && hi.is_finite() && lo < hi) || range((lo, hi)) != (Range { lo, hi }) {
            return Err(PlotError::BadRange { what, lo, hi });
        }
    }
    let n = input.points.0.len();
    check_length("the y coordinates", input.points.1.len(), n, "the x coordinates")?;
    check_length("the labels", input.labels.map_or(n, <[String]>::len), n, "the points")
}

fn range((lo, hi): (f64, f64)) -> Range {
    Range::between(lo, hi)
}

/// The areas, each with its border.
///
/// Why areas of this class and all later ones: each covers the part of the one before that is not of its class, so
/// no seams show between regions.
fn areas(input: &RegionsPicture, looks: &[Look], plot: &Rect) -> Vec<Shape> {
    let mut used = input.grid.to_vec();
    used.sort_unstable();
    used.dedup();
    let area = |class: &u32| {
        let values: Vec<f64> = input.grid.iter().map(|found| f64::from(u8::from(found >= class))).collect();
        let grid = Grid { values: &values, nx: input.nx, ny: input.ny };
        let color = looks.get(*class as usize).map_or(OTHER, |look| look.color);
        Shape::Path {
            lines: to_plot(area_above(grid, 0.5), plot, grid),
            fill: Some(mixed(color, STRENGTH)),
            stroke: Some(Stroke::solid(FAINT_INK, 0.8)),
        }
    };
    used.iter().map(area).collect()
}
