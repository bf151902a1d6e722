//! The images themselves: shrunk where they are large, and drawn in one scale of grey.

use super::Preimages;
use crate::axis::Range;
use crate::frame;
use crate::palette::light;
use crate::scene::{Rect, Rgba, Shape};

/// More pixels than this in the whole picture are averaged, so that the SVG stays small enough to open.
const LIMIT_PIXELS: usize = 66_000;
/// More pixels on one side of an image cannot be told apart.
const LIMIT_SIDE: usize = 128;
/// Greys are rounded to this many, so that equal neighbours can be drawn at once.
const STEPS: f64 = 48.0;
/// Pixels reach this far under their neighbours, so that no seams show.
const OVERLAP: f64 = 0.4;

/// The images that are drawn, averaged over squares of pixels.
pub(super) struct Tiles {
    /// For each row the images in it.
    images: Vec<Vec<Vec<f64>>>,
    width: usize,
    height: usize,
    /// The side of the squares.
    pub(super) factor: usize,
    /// From black to white.
    pub(super) range: Range,
    pub(super) n_not_finite: usize,
}

impl Tiles {
    /// The first rows and columns.
    pub(super) fn new(input: &Preimages, limits: (usize, usize)) -> Self {
        let rows = input.rows.iter().take(limits.0);
        let given: Vec<Vec<&[f64]>> =
            rows.map(|row| row.images.iter().take(limits.1).copied().collect()).collect();
        let (height, width) = (input.height, input.width);
        let pixels = || given.iter().flatten().flat_map(|image| image.iter().copied());
        let range = match input.range {
            Some((lo, hi)) => Range::between(lo, hi),
            None => Range::of(pixels()),
        };
        let n_not_finite = pixels().filter(|v| !v.is_finite()).count();
        let factor = factor((height, width), given.iter().map(Vec::len).sum());
        let shrunk = |image: &&[f64]| shrunk(image, width, factor);
        let images = given.iter().map(|row| row.iter().map(shrunk).collect()).collect();
        Tiles { images, width, height, factor, range, n_not_finite }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.images.iter().flatten().all(Vec::is_empty)
    }

    /// Draws the image of a row and a column.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, (row, column): (usize, usize), plot: &Rect) {
        if let Some(image) = self.images.get(row).and_then(|images| images.get(column)) {
            for (line, pixels) in image.chunks(self.width.div_ceil(self.factor).max(1)).enumerate() {
                self.draw_line(shapes, plot, line, pixels);
            }
        }
        shapes.push(frame::outline(plot));
    }

    fn draw_line(&self, shapes: &mut Vec<Shape>, plot: &Rect, line: usize, pixels: &[f64]) {
        let edge = |k: usize, n: usize| (k * self.factor).min(n) as f64 / n as f64;
        let (y, bottom) = (edge(line, self.height), edge(line + 1, self.height));
        let (y, bottom) = (plot.y + plot.h * y, (plot.y + plot.h * bottom + OVERLAP).min(plot.bottom()));
        let steps: Vec<Option<u8>> = pixels.iter().map(|v| self.step(*v)).collect();
        let mut column = 0;
        for run in steps.chunk_by(|a, b| a == b) {
            let (from, to) = (edge(column, self.width), edge(column + run.len(), self.width));
            column += run.len();
            let (x, right) = (plot.x + plot.w * from, (plot.x + plot.w * to + OVERLAP).min(plot.right()));
            let color = run.first().copied().flatten().map_or_else(|| light(1.0), grey);
            let rect = Rect { x, y, w: right - x, h: bottom - y };
            shapes.push(Shape::Rect { rect, fill: Some(color), stroke: None });
        }
    }

    /// The step of a value in the scale; none where it is not finite.
    fn step(&self, value: f64) -> Option<u8> {
        value.is_finite().then(|| (self.range.place(value).clamp(0.0, 1.0) * STEPS).round() as u8)
    }
}

/// The colour of a step: black at 0.
fn grey(step: u8) -> Rgba {
    let level = (255.0 * f64::from(step) / STEPS).round() as u8;
    Rgba { rgb: [level; 3], alpha: 1.0 }
}

/// Draws the scale from black to white.
pub(super) fn draw_scale(shapes: &mut Vec<Shape>, bar: &Rect) {
    let n = STEPS + 1.0;
    for step in 0..=STEPS as u8 {
        // Each step reaches to the right end, so that no seams show.
        let from = bar.w * f64::from(step) / n;
        let rect = Rect { x: bar.x + from, w: bar.w - from, ..*bar };
        shapes.push(Shape::Rect { rect, fill: Some(grey(step)), stroke: None });
    }
    shapes.push(frame::outline(bar));
}

/// The least side of squares with which the images can be drawn.
fn factor((height, width): (usize, usize), n_images: usize) -> usize {
    let drawn = |factor: usize| {
        let (rows, columns) = (height.div_ceil(factor), width.div_ceil(factor));
        rows.max(columns) <= LIMIT_SIDE
            && rows.saturating_mul(columns).saturating_mul(n_images) <= LIMIT_PIXELS
    };
    let least = height.max(width).div_ceil(LIMIT_SIDE).max(1);
    let most = height.max(width).max(1);
    (least..most).find(|factor| drawn(*factor)).unwrap_or(most)
}

/// The means over squares of pixels, those at the right and lower edge smaller; values that are not finite do not
/// count unless all are.
fn shrunk(image: &[f64], width: usize, factor: usize) -> Vec<f64> {
    if factor <= 1 || width == 0 {
        return image.to_vec();
    }
    let mut out = Vec::new();
    for band in image.chunks(width.saturating_mul(factor)) {
        let n = width.div_ceil(factor);
        let mut sums = vec![(0.0, 0_u32); n];
        for line in band.chunks(width) {
            for (square, pixels) in sums.iter_mut().zip(line.chunks(factor)) {
                for value in pixels.iter().filter(|v| v.is_finite()) {
                    *square = (square.0 + value, square.1 + 1);
                }
            }
        }
        out.extend(sums.iter().map(|(sum, n)| if *n > 0 { sum / f64::from(*n) } else { f64::NAN }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preimages::PreimageRow;

    #[test]
    fn squares_are_averaged() {
        let image = [1.0, 3.0, 5.0, 2.0, f64::NAN, 7.0, f64::NAN, 8.0, 9.0];
        assert_eq!(shrunk(&image, 3, 2), [2.0, 6.0, 8.0, 9.0]);
        assert_eq!(shrunk(&image, 3, 3), [5.0]);
        assert!(shrunk(&[f64::NAN; 4], 2, 2)[0].is_nan());
        assert_eq!([factor((28, 28), 64), factor((64, 64), 48), factor((8, 8), 100)], [1, 2, 1]);
        assert_eq!([factor((0, 0), 9), factor((1, 1000), 1), factor((4096, 4096), 1)], [1, 8, 32]);
    }

    #[test]
    fn pixels_have_their_greys_and_places() {
        let image = [0.0, 1.0, f64::NAN, 1.0];
        let rows = [PreimageRow { label: "a", images: &[&image] }];
        let input = Preimages { rows: &rows, height: 2, width: 2, ..Preimages::default() };
        let tiles = Tiles::new(&input, (9, 9));
        let mut shapes = Vec::new();
        tiles.draw(&mut shapes, (0, 0), &Rect { x: 10.0, y: 20.0, w: 8.0, h: 8.0 });
        let found: Vec<_> = shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Rect { rect, fill: Some(fill), .. } => Some((rect.x, rect.y, fill.rgb)),
                _ => None,
            })
            .collect();
        let (black, white) = ([0; 3], [255; 3]);
        let expected =
            [(10.0, 20.0, black), (14.0, 20.0, white), (10.0, 24.0, light(1.0).rgb), (14.0, 24.0, white)];
        assert_eq!(found, expected);
        assert_eq!(tiles.n_not_finite, 1);
    }
}
