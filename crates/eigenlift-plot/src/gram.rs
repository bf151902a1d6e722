//! The Gram matrix and the centred Gram matrix beside each other.

use crate::classes::Classes;
use crate::error::{Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LINE, TICK, TICK_SIZE, WIDTH};
use crate::heat_map::HeatMap;
use crate::number::short;
use crate::palette::{AXIS, INK, lightness};
use crate::scene::{Anchor, Figure, Rect, Rgba, Shape, Stroke};
use crate::scree::component_ticks;

use blocks::Blocks;

mod blocks;

/// Up to this many rows the entries are written in their cells.
const MOST_WRITTEN: usize = 6;
/// Up to this many rows the pointer shows the entry of a cell.
const MOST_POINTED: usize = 20;
/// Between the two matrices.
const GAP: f64 = 26.0;
/// The side of a matrix above another.
const STACKED: f64 = 300.0;
/// With more classes than this the lines between them are finer.
const MOST_BOLD: usize = 8;
/// Longer names of classes are cut.
const NAME_WIDTH: f64 = 84.0;
/// Most numbers beside the rows, the first not counted.
const MOST_TICKS: usize = 6;
const WHITE: Rgba = Rgba::hex(0xffffff);

/// What [`gram_picture`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GramPicture<'a> {
    /// The Gram matrix K, row by row.
    pub gram: &'a [f64],
    /// The centred Gram matrix K̃ = HKH, row by row.
    pub centered: &'a [f64],
    /// Rows of each matrix.
    pub n: usize,
    /// The class of each row; rows are then ordered by class.
    pub classes: Option<&'a [String]>,
    /// Title above the matrices; may be empty.
    pub title: &'a str,
}

/// Draws the Gram matrix from its least to its largest entry, and the centred one in colours around zero.
///
/// With classes the rows are ordered by class, and lines divide the classes. Of more than 160 rows the means over
/// blocks are drawn, which a note says. Up to 6 rows the entries are written in their cells. Entries that are not
/// finite are grey. Cost: the entries, once.
///
/// ```
/// use eigenlift_plot::{GramPicture, gram_picture};
///
/// let figure = gram_picture(&GramPicture {
///     gram: &[1.0, 0.0, 0.0, 1.0],
///     centered: &[0.5, -0.5, -0.5, 0.5],
///     n: 2,
///     title: "Two rows",
///     ..GramPicture::default()
/// })?;
/// assert!(figure.to_svg().contains("−0.5"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when a matrix does not have n·n entries or there
/// is not one class for each row.
pub fn gram_picture(input: &GramPicture) -> Result<Figure> {
    let per = "the n·n entries of the matrix";
    let n_entries = input.n.saturating_mul(input.n);
    check_length("the Gram matrix", input.gram.len(), n_entries, per)?;
    check_length("the centred Gram matrix", input.centered.len(), n_entries, per)?;
    let n_classes = input.classes.map_or(input.n, <[String]>::len);
    check_length("the classes", n_classes, input.n, "the rows")?;

    let classes = input.classes.map(Classes::new).unwrap_or_default();
    let blocks = Blocks::new(input.n, &classes.of_point);
    let means = [input.gram, input.centered].map(|matrix| blocks.means(matrix));
    let maps = [
        HeatMap::sequential("Gram matrix K", &means[0], blocks.count()),
        HeatMap::around_zero("centred K\u{303} = HKH", &means[1], blocks.count()),
    ];
    let mut shapes = Vec::new();
    let mut bottom = frame::title(&mut shapes, input.title, WIDTH) + LINE - 8.0;
    let side = Side::new(&classes, &blocks);
    let layout = Layout::new(side.room, bottom, &means, blocks.count());
    for (k, (map, entries)) in maps.iter().zip(&means).enumerate() {
        let plot = layout.plot(k, bottom);
        if k == 0 || layout.is_stacked {
            side.draw(&mut shapes, &plot);
        }
        map.draw_cells(&mut shapes, &plot);
        let color = if k == 0 { WHITE } else { INK };
        shapes.extend(side.dividers(&plot, color));
        write_entries(&mut shapes, &plot, map, entries, blocks.count());
        if blocks.count() == input.n && input.n <= MOST_POINTED {
            shapes.extend(tooltips(&plot, entries, &blocks));
        }
        bottom = map.draw_bar(&mut shapes, &plot).max(bottom);
    }
    let mut notes = blocks.notes(!classes.looks.is_empty());
    notes.extend(maps.iter().filter_map(HeatMap::note));
    bottom = frame::notes(&mut shapes, &notes, bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// Two squares: beside each other, or below each other where the entries need the room.
struct Layout {
    first: Rect,
    is_stacked: bool,
}

impl Layout {
    fn new(room: f64, top: f64, means: &[Vec<f64>; 2], p: usize) -> Self {
        let beside = ((WIDTH - 2.0 * BORDER - 4.0 - room - GAP) / 2.0).max(60.0);
        let is_stacked = p <= MOST_WRITTEN && means.iter().any(|entries| digits(entries, beside, p) < 2);
        let w = if is_stacked { STACKED } else { beside };
        let x = if is_stacked { (WIDTH - room - w) / 2.0 + room } else { BORDER + room };
        Layout { first: Rect { x, y: top, w, h: w }, is_stacked }
    }

    /// The place of matrix k; everything drawn so far ends above `bottom`.
    fn plot(&self, k: usize, bottom: f64) -> Rect {
        match (k, self.is_stacked) {
            (0, _) => self.first,
            (_, true) => Rect { y: bottom + LINE + 4.0, ..self.first },
            (_, false) => Rect { x: self.first.x + self.first.w + GAP, ..self.first },
        }
    }
}

/// What stands to the left of the first matrix: names of classes, or numbers of rows.
struct Side {
    /// Place as a share of the height from the top, and words.
    labels: Vec<(f64, String)>,
    /// Between two classes, as shares of the height from the top.
    bounds: Vec<f64>,
    room: f64,
}

impl Side {
    fn new(classes: &Classes, blocks: &Blocks) -> Self {
        let n = blocks.rows().max(1) as f64;
        let (mut labels, mut bounds) = (Vec::new(), Vec::new());
        if classes.looks.is_empty() {
            let rows = component_ticks(blocks.rows(), 1, MOST_TICKS).values;
            labels =
                rows.into_iter().filter(|row| *row <= n).map(|row| ((row - 0.5) / n, short(row))).collect();
        } else {
            let mut from = 0;
            for (class, look) in classes.looks.iter().enumerate() {
                let to = from + classes.of_point.iter().filter(|of| **of == class).count();
                let name = font::truncated(&look.name, TICK_SIZE, NAME_WIDTH);
                labels.push(((from + to) as f64 / 2.0 / n, name));
                bounds.push(to as f64 / n);
                from = to;
            }
            bounds.pop();
        }
        let room = font::widest(labels.iter().map(|(_, name)| name.as_str()), TICK_SIZE) + TICK + 6.0;
        Side { labels, bounds, room }
    }

    /// Draws the labels, leaving out those that would touch the one above.
    fn draw(&self, shapes: &mut Vec<Shape>, plot: &Rect) {
        let mut free = f64::NEG_INFINITY;
        for (share, label) in &self.labels {
            let y = plot.y + plot.h * share;
            if y < free {
                continue;
            }
            free = y + TICK_SIZE + 2.0;
            shapes.push(Shape::line([plot.x - TICK, y], [plot.x, y], Stroke::solid(AXIS, 0.8)));
            let at = [plot.x - TICK - 3.0, y + 0.36 * TICK_SIZE];
            shapes.push(Shape::text(label, at, TICK_SIZE, Anchor::End, INK));
        }
    }

    /// Lines between the classes, both ways.
    fn dividers(&self, plot: &Rect, color: Rgba) -> Vec<Shape> {
        let width = if self.bounds.len() < MOST_BOLD { 0.9 } else { 0.4 };
        let stroke = Stroke::solid(color, width);
        let lines = self.bounds.iter().flat_map(|share| {
            let (x, y) = (plot.x + plot.w * share, plot.y + plot.h * share);
            [([x, plot.y], [x, plot.bottom()]), ([plot.x, y], [plot.right(), y])]
        });
        lines.map(|(from, to)| Shape::line(from, to, stroke)).collect()
    }
}

/// The cell in a row and column of p.
fn cell(plot: &Rect, p: usize, k: usize) -> Rect {
    let (w, h) = (plot.w / p.max(1) as f64, plot.h / p.max(1) as f64);
    let (row, column) = (k / p.max(1), k % p.max(1));
    Rect { x: plot.x + w * column as f64, y: plot.y + h * row as f64, w, h }
}

/// Writes the entries of a small matrix in as many digits as have room.
fn write_entries(shapes: &mut Vec<Shape>, plot: &Rect, map: &HeatMap, entries: &[f64], p: usize) {
    if p > MOST_WRITTEN {
        return;
    }
    let digits = digits(entries, plot.w, p);
    for (k, entry) in entries.iter().enumerate() {
        let cell = cell(plot, p, k);
        let text = font::truncated(&rounded(*entry, digits), TICK_SIZE, cell.w - 2.0);
        let at = [cell.x + cell.w / 2.0, cell.y + cell.h / 2.0 + 0.36 * TICK_SIZE];
        let color = if lightness(map.color(*entry)) < 55.0 { WHITE } else { INK };
        shapes.push(Shape::text(&text, at, TICK_SIZE, Anchor::Middle, color));
    }
}

/// The decimals, at most 3, that have room in the cells of a square.
fn digits(entries: &[f64], side: f64, p: usize) -> usize {
    let room = side / p.max(1) as f64 - 4.0;
    let fits = |decimals: &usize| {
        entries.iter().all(|entry| font::width(&rounded(*entry, *decimals), TICK_SIZE) <= room)
    };
    [3, 2, 1].into_iter().find(fits).unwrap_or(0)
}

/// At most this many decimals, without trailing zeros.
fn rounded(value: f64, decimals: usize) -> String {
    if !value.is_finite() || value.abs() >= 1e4 {
        return short(value);
    }
    let text = format!("{:.decimals$}", value.abs());
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if value < 0.0 && text != "0" { format!("−{text}") } else { text.to_owned() }
}

/// Row, column and entry beside the pointer.
fn tooltips(plot: &Rect, entries: &[f64], blocks: &Blocks) -> Vec<Shape> {
    let p = blocks.count();
    let number = |k: usize| blocks.row_at(k) + 1;
    let words = |k: usize, entry: f64| {
        format!("row {}, column {}: {}", number(k / p.max(1)), number(k % p.max(1)), short(entry))
    };
    entries.iter().enumerate().map(|(k, v)| Shape::tooltip(&[words(k, *v)], cell(plot, p, k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_decimals_asked_for() {
        let found = [(0.125, 2), (-0.001, 2), (-1.5, 3), (3.0, 2), (f64::NAN, 2), (123_456.0, 2)];
        let found = found.map(|(value, decimals)| rounded(value, decimals));
        assert_eq!(found, ["0.12", "0", "−1.5", "3", "–", "1.23·10⁵"]);
    }
}
