//! Rows and their pre-images over two columns.

use crate::axis::Range;
use crate::classes::Look;
use crate::error::{Result, check_length};
use crate::frame::{Frame, FrameSpec, LABEL_SIZE, WIDTH};
use crate::legend::Legend;
use crate::number::count;
use crate::palette::{AXIS, FAINT_INK, FIRST, INK, OTHER, SECOND};
use crate::scene::{Anchor, Figure, Marker, Polyline, Shape, Stroke};

const PLOT_HEIGHT: f64 = 320.0;
/// Of more rows than this an even selection is drawn.
const LIMIT_ROWS: usize = 4000;
/// Columns whose ranges differ by no more than this factor have one scale.
const MOST_UNEQUAL: f64 = 4.0;

/// What [`preimage_scatter`] draws: two columns of the data, one entry for each row.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PreimageScatter<'a> {
    /// The rows as given: x and y.
    pub before: (&'a [f64], &'a [f64]),
    /// Their pre-images: x and y.
    pub after: (&'a [f64], &'a [f64]),
    /// The names of the two columns; may be empty.
    pub names: (&'a str, &'a str),
    /// Whether a row has no trustworthy pre-image; empty where all have one.
    pub untrusted: &'a [bool],
    /// Title above the plot; may be empty.
    pub title: &'a str,
}

/// Draws where denoising or inverting moves each row: a faint square for the row, a line, and a strong dot for
/// its pre-image, or a triangle where the pre-image is not to be trusted.
///
/// Both columns have one scale where their ranges differ by a factor of at most four. Rows that are not finite
/// before or after are left out and counted in a note; of more than 4000 an even selection is drawn. Cost: linear
/// in the number of rows.
///
/// ```
/// use eigenlift_plot::{PreimageScatter, preimage_scatter};
///
/// let figure = preimage_scatter(&PreimageScatter {
///     before: (&[0.1, 0.9, 2.2], &[0.2, -0.1, 0.1]),
///     after: (&[0.0, 1.0, 1.5], &[0.0, 0.0, 0.0]),
///     names: ("x₁", "x₂"),
///     untrusted: &[false, false, true],
///     title: "Denoised",
/// })?;
/// assert!(figure.to_svg().contains("untrusted"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when the four columns, or flags that are not
/// empty, differ in length.
pub fn preimage_scatter(input: &PreimageScatter<'_>) -> Result<Figure> {
    let n = input.before.0.len();
    check_length("y before", input.before.1.len(), n, "the rows")?;
    check_length("x after", input.after.0.len(), n, "the rows")?;
    check_length("y after", input.after.1.len(), n, "the rows")?;
    if !input.untrusted.is_empty() {
        check_length("the flags", input.untrusted.len(), n, "the rows")?;
    }
    let moves = moves(input);
    let step = moves.len().div_ceil(LIMIT_ROWS).max(1);
    let mut notes = Vec::new();
    if moves.len() < n {
        notes.push(format!("{} not finite, left out", count(n - moves.len(), "row")));
    }
    if step > 1 {
        notes.push(format!("1 of {step} rows shown"));
    }
    let range = |k: usize| Range::of(moves.iter().flat_map(|m| [m.from[k], m.to[k]])).padded(0.05);
    let (x, y) = (range(0), range(1));
    let ratio = x.width() / y.width();
    let mut frame = Frame::new(&FrameSpec {
        title: input.title,
        x_label: input.names.0,
        y_label: input.names.1,
        y_color: INK,
        x,
        y,
        x_ticks: None,
        y_ticks: None,
        equal: (1.0 / MOST_UNEQUAL..=MOST_UNEQUAL).contains(&ratio),
        plot_height: PLOT_HEIGHT,
        right: 0.0,
        notes: &notes,
    });
    let drawn: Vec<Move> = moves.iter().step_by(step).map(|m| m.placed(&frame)).collect();
    frame.shapes.extend(shapes(&drawn));
    if drawn.is_empty() {
        let at = [frame.plot.x + frame.plot.w / 2.0, frame.plot.y + frame.plot.h / 2.0];
        frame.shapes.push(Shape::text("no rows", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    let looks = looks(drawn.iter().any(|m| m.untrusted));
    let bottom = Legend::new(&looks).draw_below(&mut frame.shapes, frame.bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, frame.shapes))
}

/// One row and its pre-image.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Move {
    from: [f64; 2],
    to: [f64; 2],
    untrusted: bool,
}

impl Move {
    fn placed(&self, frame: &Frame) -> Self {
        let place = |[x, y]: [f64; 2]| frame.at(x, y);
        Move { from: place(self.from), to: place(self.to), ..*self }
    }
}

/// The rows that are finite before and after.
fn moves(input: &PreimageScatter) -> Vec<Move> {
    let before = input.before.0.iter().zip(input.before.1);
    let after = input.after.0.iter().zip(input.after.1);
    let flags = input.untrusted.iter().copied().chain(std::iter::repeat(false));
    let all = before.zip(after).zip(flags).map(|(((a, b), (c, d)), untrusted)| Move {
        from: [*a, *b],
        to: [*c, *d],
        untrusted,
    });
    all.filter(|m| m.from.iter().chain(&m.to).all(|v| v.is_finite())).collect()
}

/// The looks of a row, of its pre-image, and of one that is not to be trusted.
fn looks(with_untrusted: bool) -> Vec<Look> {
    let look = |name: &str, color, marker| Look { name: name.to_owned(), color, marker };
    let mut looks = vec![look("row", OTHER, Marker::Square), look("pre-image", FIRST, Marker::Circle)];
    if with_untrusted {
        looks.push(look("untrusted", SECOND, Marker::Triangle));
    }
    looks
}

/// Lines below, rows on them, pre-images on top.
fn shapes(moves: &[Move]) -> Vec<Shape> {
    let crowding = (100.0 / moves.len().max(1) as f64).min(1.0);
    let radius = (4.0 * crowding.powf(0.2)).max(1.5);
    let line = |m: &Move| Polyline { points: vec![m.from, m.to], closed: false };
    let mut shapes = Vec::new();
    for (untrusted, color) in [(false, AXIS), (true, SECOND)] {
        let lines: Vec<Polyline> = moves.iter().filter(|m| m.untrusted == untrusted).map(line).collect();
        if lines.is_empty() {
            continue;
        }
        let color = color.with_alpha(0.9 * crowding.powf(0.15));
        let stroke = Stroke { dashed: untrusted, ..Stroke::solid(color, 1.2 * crowding.powf(0.15)) };
        shapes.push(Shape::Path { lines, fill: None, stroke: Some(stroke) });
    }
    let mut marks = |centers: Vec<[f64; 2]>, look: &Look, radius: f64, alpha: f64| {
        if !centers.is_empty() {
            let color = look.color.with_alpha(alpha);
            shapes.push(Shape::Markers { centers, marker: look.marker, radius, color });
        }
    };
    let places = |untrusted: bool| moves.iter().filter(move |m| m.untrusted == untrusted).map(|m| m.to);
    if let [row, trusted, untrusted] = looks(true).as_slice() {
        marks(moves.iter().map(|m| m.from).collect(), row, 0.7 * radius, 0.6);
        marks(places(false).collect(), trusted, radius, 0.9);
        marks(places(true).collect(), untrusted, 1.25 * radius, 0.95);
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_finite_are_left_out() {
        let input = PreimageScatter {
            before: (&[1.0, f64::NAN, 3.0], &[4.0, 5.0, 6.0]),
            after: (&[1.5, 2.0, 3.5], &[4.5, 5.0, f64::INFINITY]),
            ..PreimageScatter::default()
        };
        assert_eq!(moves(&input), [Move { from: [1.0, 4.0], to: [1.5, 4.5], untrusted: false }]);
    }
}
