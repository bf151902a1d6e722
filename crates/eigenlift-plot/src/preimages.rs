//! Images and their pre-images: a grid with a row for each stage and a column for each image.

mod tile;

use crate::axis::Range;
use crate::error::{PlotError, Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK_SIZE, WIDTH};
use crate::number::{count, short};
use crate::palette::{FAINT_INK, INK, SECOND};
use crate::scene::{Anchor, Figure, Rect, Shape, Stroke};
use tile::{Tiles, draw_scale};

/// More columns are not drawn.
const LIMIT_COLUMNS: usize = 16;
/// More columns than this are drawn in two blocks, one below the other.
const BLOCK_COLUMNS: usize = 8;
/// More rows are not drawn.
const LIMIT_ROWS: usize = 12;
/// Wider labels are broken into two lines.
const LABEL_WIDTH: f64 = 84.0;
const LARGEST_TILE: f64 = 96.0;
/// Images further from a square than this are drawn distorted.
const MOST_OBLONG: f64 = 8.0;
const TILE_GAP: f64 = 5.0;
const BLOCK_GAP: f64 = 8.0;
const NAME_GAP: f64 = 7.0;
const KEY_GAP: f64 = 18.0;
const SCALE_WIDTH: f64 = 70.0;
const SAMPLE: f64 = 14.0;
const UNTRUSTED: &str = "no trustworthy pre-image";

/// One stage of all images.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PreimageRow<'a> {
    /// What the images are, such as "noisy" or "denoised by PCA".
    pub label: &'a str,
    /// The pixels of each image, from left to right and line by line, the first line on top.
    pub images: &'a [&'a [f64]],
}

/// What [`preimages`] draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Preimages<'a> {
    /// The stages from top to bottom, the pre-images last; each has the same number of images.
    pub rows: &'a [PreimageRow<'a>],
    /// Lines of an image.
    pub height: usize,
    /// Pixels in a line.
    pub width: usize,
    /// A text below each column, such as a distance; may be empty.
    pub captions: &'a [String],
    /// Whether the pre-image of a column is not to be trusted; empty where all are.
    pub untrusted: &'a [bool],
    /// The values drawn black and white; those of the data when absent.
    pub range: Option<(f64, f64)>,
    /// Title above the images; may be empty.
    pub title: &'a str,
}

/// Draws images in a grid: a row for each stage, a column for each image, all in one scale of grey.
///
/// A pre-image that is not to be trusted has a dashed frame and a question mark. Pixels that are not finite are
/// light blue and counted in a note. At most 16 columns and 12 rows are drawn, more than 8 columns in two blocks;
/// large images are averaged. Cost: linear in the pixels drawn; at most some megabytes of SVG.
///
/// ```
/// use eigenlift_plot::{PreimageRow, Preimages, preimages};
///
/// let (noisy, denoised) = ([0.2, 0.9, 1.1, 0.1], [0.0, 1.0, 1.0, 0.0]);
/// let figure = preimages(&Preimages {
///     rows: &[
///         PreimageRow { label: "noisy", images: &[&noisy] },
///         PreimageRow { label: "denoised", images: &[&denoised] },
///     ],
///     height: 2,
///     width: 2,
///     captions: &["0.31".to_owned()],
///     ..Preimages::default()
/// })?;
/// assert!(figure.to_svg().contains("denoised"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`] when rows differ in their number of images, an image does not have
/// height·width pixels, or captions or flags that are not empty are not one for each column;
/// [`PlotError::BadRange`] when the range is not an increasing pair of finite numbers.
pub fn preimages(input: &Preimages<'_>) -> Result<Figure> {
    let n_columns = check(input)?;
    let tiles = Tiles::new(input, (LIMIT_ROWS, LIMIT_COLUMNS));
    let mut shapes = Vec::new();
    let mut top = frame::title(&mut shapes, input.title, WIDTH);
    if tiles.is_empty() {
        let at = [WIDTH / 2.0, top + 2.0 * LINE];
        shapes.push(Shape::text("no images", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
        return Ok(Figure::new(WIDTH, top + 4.0 * LINE, input.title, shapes));
    }
    let grid = Grid::new(input, n_columns.min(LIMIT_COLUMNS));
    let columns: Vec<usize> = (0..grid.n_columns).collect();
    for block in columns.chunks(grid.per_block) {
        top = grid.draw_block(&mut shapes, (input, &tiles), block, top) + BLOCK_GAP;
    }
    let mut bottom = draw_key(&mut shapes, &tiles.range, grid.marks, top);
    bottom = frame::notes(&mut shapes, &notes(input, &tiles, n_columns), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

/// Checks all lengths and returns the number of columns.
fn check(input: &Preimages) -> Result<usize> {
    let n_columns = input.rows.first().map_or(0, |row| row.images.len());
    let n_pixels = input.height.saturating_mul(input.width);
    for row in input.rows {
        check_length("a row of images", row.images.len(), n_columns, "the images of the first row")?;
        for image in row.images {
            check_length("an image", image.len(), n_pixels, "the height·width pixels")?;
        }
    }
    for (what, n) in [("the captions", input.captions.len()), ("the flags", input.untrusted.len())] {
        if n > 0 {
            check_length(what, n, n_columns, "the columns")?;
        }
    }
    match input.range {
        Some((lo, hi)) if !(lo.is_finite() && hi.is_finite() && lo < hi) => {
            Err(PlotError::BadRange { what: "the range of the grey scale", lo, hi })
        }
        _ => Ok(n_columns),
    }
}

fn is_untrusted(input: &Preimages, column: usize) -> bool {
    input.untrusted.get(column).copied().unwrap_or(false)
}

fn notes(input: &Preimages, tiles: &Tiles, n_columns: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if n_columns > LIMIT_COLUMNS {
        let rest = count(n_columns - LIMIT_COLUMNS, "more column");
        let flags = input.untrusted.iter().skip(LIMIT_COLUMNS).filter(|flag| **flag).count();
        let flags = if flags > 0 { format!(", {flags} of them not to be trusted") } else { String::new() };
        notes.push(format!("{rest} not drawn{flags}"));
    }
    if input.rows.len() > LIMIT_ROWS {
        notes.push(format!("{} not drawn", count(input.rows.len() - LIMIT_ROWS, "more row")));
    }
    if tiles.factor > 1 {
        notes.push(format!("averages of {0} × {0} pixels", tiles.factor));
    }
    if tiles.n_not_finite > 0 {
        notes.push(format!("{} not finite, light blue", count(tiles.n_not_finite, "pixel")));
    }
    notes
}

/// Where the images stand.
struct Grid {
    /// The lines of each row's label.
    labels: Vec<Vec<String>>,
    n_columns: usize,
    per_block: usize,
    /// Left end of the first column.
    left: f64,
    /// Size of an image.
    tile: (f64, f64),
    /// From one column to the next, and from one row to the next.
    pitch: (f64, f64),
    captions: bool,
    /// Some column has a question mark.
    marks: bool,
}

impl Grid {
    fn new(input: &Preimages, n_columns: usize) -> Self {
        let labels: Vec<Vec<String>> =
            input.rows.iter().take(LIMIT_ROWS).map(|row| broken(row.label, LABEL_WIDTH)).collect();
        let label_width = font::widest(labels.iter().flatten().map(String::as_str), TICK_SIZE);
        let label_room = if label_width > 0.0 { label_width + NAME_GAP } else { 0.0 };
        let n_blocks = n_columns.div_ceil(BLOCK_COLUMNS).max(1);
        let per_block = n_columns.div_ceil(n_blocks).max(1);
        let step = (WIDTH - 2.0 * BORDER - label_room + TILE_GAP) / per_block as f64;
        let caption = font::widest(input.captions.iter().map(String::as_str), TICK_SIZE);
        let aspect = (input.height as f64 / input.width.max(1) as f64).clamp(1.0 / MOST_OBLONG, MOST_OBLONG);
        let most = (step - TILE_GAP).max(4.0);
        let w = most.min(LARGEST_TILE).min(LARGEST_TILE / aspect).max(4.0);
        // Columns of small images stand closer, but not so close that captions are cut.
        let step = (w.max(caption.min(most)) + TILE_GAP).min(step);
        let used = label_room + step * per_block as f64 - TILE_GAP;
        let left = (WIDTH - used) / 2.0 + label_room;
        let most_lines = labels.iter().map(Vec::len).max().unwrap_or(1) as f64;
        let down = (w * aspect + TILE_GAP).max(most_lines * (LINE - 2.0) + 2.0);
        let marks = (0..n_columns).any(|column| is_untrusted(input, column));
        let captions = !input.captions.is_empty();
        Grid {
            labels,
            n_columns,
            per_block,
            left,
            tile: (w, w * aspect),
            pitch: (step, down),
            captions,
            marks,
        }
    }

    /// Draws some columns and returns where they end.
    fn draw_block(
        &self,
        shapes: &mut Vec<Shape>,
        (input, tiles): (&Preimages, &Tiles),
        columns: &[usize],
        top: f64,
    ) -> f64 {
        let middle = |row: usize| top + self.pitch.1 * (row as f64 + 0.5);
        for (row, lines) in self.labels.iter().enumerate() {
            let line_height = LINE - 2.0;
            let first = middle(row) - line_height * (lines.len() as f64 - 1.0) / 2.0 + 0.36 * TICK_SIZE;
            for (k, line) in lines.iter().enumerate() {
                let at = [self.left - NAME_GAP, first + line_height * k as f64];
                shapes.push(Shape::text(line, at, TICK_SIZE, Anchor::End, INK));
            }
        }
        let bottom = top + self.pitch.1 * self.labels.len() as f64;
        for (place, column) in columns.iter().enumerate() {
            let center = self.left + self.pitch.0 * (place as f64 + 0.5) - TILE_GAP / 2.0;
            let (w, h) = self.tile;
            let rect = |row: usize| Rect { x: center - w / 2.0, y: middle(row) - h / 2.0, w, h };
            for row in 0..self.labels.len() {
                tiles.draw(shapes, (row, *column), &rect(row));
            }
            let untrusted = is_untrusted(input, *column);
            if untrusted {
                let last = rect(self.labels.len().saturating_sub(1));
                shapes.push(untrusted_frame(&last));
            }
            self.draw_caption(shapes, input.captions.get(*column), untrusted, [center, bottom]);
        }
        let marks = columns.iter().any(|column| is_untrusted(input, *column));
        let rows = f64::from(u8::from(self.captions)) + f64::from(u8::from(marks));
        bottom + rows * LINE
    }

    /// Draws the text of a column and below it the question mark.
    fn draw_caption(
        &self,
        shapes: &mut Vec<Shape>,
        caption: Option<&String>,
        untrusted: bool,
        [x, top]: [f64; 2],
    ) {
        let mut y = top + TICK_SIZE;
        if let Some(caption) = caption {
            let text = font::truncated(caption, TICK_SIZE, self.pitch.0);
            shapes.push(Shape::text(&text, [x, y], TICK_SIZE, Anchor::Middle, INK));
            y += LINE;
        }
        if untrusted {
            shapes.push(Shape::text("?", [x, y], LABEL_SIZE, Anchor::Middle, SECOND));
        }
    }
}

fn untrusted_frame(image: &Rect) -> Shape {
    let rect = Rect { x: image.x - 1.0, y: image.y - 1.0, w: image.w + 2.0, h: image.h + 2.0 };
    let stroke = Stroke { dashed: true, ..Stroke::solid(SECOND, 3.0) };
    Shape::Rect { rect, fill: None, stroke: Some(stroke) }
}

/// A text in one line, or in two broken between words where one is too short.
fn broken(text: &str, limit: f64) -> Vec<String> {
    let text = font::clean(text);
    if font::width(&text, TICK_SIZE) <= limit {
        return vec![text];
    }
    let fits = |end: usize| text.get(..end).is_some_and(|head| font::width(head, TICK_SIZE) <= limit);
    let mut spaces = text.match_indices(' ').map(|(at, _)| at);
    match spaces.rfind(|at| *at > 0 && fits(*at)) {
        Some(at) => {
            let (head, rest) = text.split_at(at);
            vec![head.to_owned(), font::truncated(rest.trim_start(), TICK_SIZE, limit)]
        }
        None => vec![font::truncated(&text, TICK_SIZE, limit)],
    }
}

/// Draws the scale of grey and what the question mark means, and returns where they end.
fn draw_key(shapes: &mut Vec<Shape>, range: &Range, marks: bool, top: f64) -> f64 {
    let ends = [range.lo, range.hi].map(short);
    let [lo, hi] = [&ends[0], &ends[1]].map(|text| font::width(text, TICK_SIZE));
    let scale = lo + 5.0 + SCALE_WIDTH + 5.0 + hi;
    let mark = SAMPLE + 8.0 + font::width("?", LABEL_SIZE) + 6.0 + font::width(UNTRUSTED, TICK_SIZE);
    let room = WIDTH - 2.0 * BORDER;
    let beside = marks && scale + KEY_GAP + mark <= room;
    let used = if beside { scale + KEY_GAP + mark } else { scale };
    let (left, y) = ((WIDTH - used) / 2.0, top + LINE / 2.0);
    let baseline = |y: f64| y + 0.36 * TICK_SIZE;
    shapes.push(Shape::text(&ends[0], [left + lo, baseline(y)], TICK_SIZE, Anchor::End, INK));
    let bar = Rect { x: left + lo + 5.0, y: y - 5.0, w: SCALE_WIDTH, h: 10.0 };
    draw_scale(shapes, &bar);
    shapes.push(Shape::text(&ends[1], [bar.right() + 5.0, baseline(y)], TICK_SIZE, Anchor::Start, INK));
    if !marks {
        return top + LINE;
    }
    let (left, y) = if beside { (left + scale + KEY_GAP, y) } else { ((WIDTH - mark) / 2.0, y + LINE + 2.0) };
    let sample = Rect { x: left, y: y - SAMPLE / 2.0, w: SAMPLE, h: SAMPLE };
    shapes.push(untrusted_frame(&sample));
    let question = left + SAMPLE + 8.0;
    shapes.push(Shape::text("?", [question, baseline(y)], LABEL_SIZE, Anchor::Start, SECOND));
    let at = [question + font::width("?", LABEL_SIZE) + 6.0, baseline(y)];
    shapes.push(Shape::text(UNTRUSTED, at, TICK_SIZE, Anchor::Start, INK));
    y + LINE / 2.0 + 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_have_two_lines() {
        assert_eq!(broken("noisy", 84.0), ["noisy"]);
        assert_eq!(broken("denoised by PCA", 84.0), ["denoised", "by PCA"]);
        let long = broken("denoised by kernel PCA with very many words", 84.0);
        assert!(long.len() == 2 && long[1].ends_with('…'), "{long:?}");
        let word = broken(&"w".repeat(99), 84.0);
        assert!(word.len() == 1 && word[0].ends_with('…'), "{word:?}");
        assert_eq!(broken("", 84.0), [""]);
    }

    #[test]
    fn columns_fill_blocks_evenly() {
        let per_block =
            |n: usize| Grid::new(&Preimages { height: 8, width: 8, ..Preimages::default() }, n).per_block;
        assert_eq!([0, 1, 8, 9, 13, 16].map(per_block), [1, 1, 8, 5, 7, 8]);
    }
}
