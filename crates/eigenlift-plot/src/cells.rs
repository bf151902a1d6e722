//! Equal cells in rows, drawn as few paths: one for each colour, a line for each run of equal neighbours.

use std::collections::BTreeMap;

use crate::scene::{Rect, Rgba, Run, Shape};

/// Cells reach this share of their height over their neighbours, so that no seams show, but not further than
/// [`MOST_OVERLAP`].
const OVERLAP: f64 = 0.12;
const MOST_OVERLAP: f64 = 0.4;

/// The colour of a cell. Later layers are drawn on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ink {
    pub(crate) layer: usize,
    pub(crate) rgb: [u8; 3],
}

impl Ink {
    /// An opaque colour in the lowest layer.
    pub(crate) fn new(color: Rgba) -> Self {
        Ink { layer: 0, rgb: color.rgb }
    }
}

/// Draws rows of cells from the top of an area; cells without a colour stay empty.
///
/// Cost: about 15 bytes of SVG for each run of equal neighbours.
pub(crate) fn draw(area: &Rect, columns: usize, cells: &[Option<Ink>]) -> Vec<Shape> {
    let columns = columns.max(1);
    let rows = cells.len().div_ceil(columns).max(1);
    let (w, h) = (area.w / columns as f64, area.h / rows as f64);
    let overlap = (OVERLAP * h).min(MOST_OVERLAP);
    let mut paths: BTreeMap<Ink, Vec<Run>> = BTreeMap::new();
    for (row, cells) in cells.chunks(columns).enumerate() {
        let top = area.y + h * row as f64;
        let bottom = (top + h + overlap).min(area.bottom());
        let mut column = 0;
        for run in cells.chunk_by(|a, b| a == b) {
            let left = area.x + w * column as f64;
            column += run.len();
            let right = (area.x + w * column as f64 + overlap).min(area.right());
            if let Some(Some(ink)) = run.first() {
                let middle = bottom - (h + overlap) / 2.0;
                paths.entry(*ink).or_default().push(Run { from: [left, middle], length: right - left });
            }
        }
    }
    let path = |(ink, runs): (Ink, Vec<Run>)| {
        let color = Rgba { rgb: ink.rgb, alpha: 1.0 };
        Shape::Runs { runs, height: h + overlap, color }
    };
    paths.into_iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_line_and_layers_are_in_order() {
        let ink = |layer: usize, r: u8| Some(Ink { layer, rgb: [r, 0, 0] });
        let cells = [ink(1, 5), ink(1, 5), None, ink(0, 9), ink(1, 5), ink(0, 9)];
        let shapes = draw(&Rect { x: 0.0, y: 0.0, w: 30.0, h: 20.0 }, 3, &cells);
        let found: Vec<(u8, Vec<(f64, f64)>)> = shapes
            .iter()
            .map(|shape| match shape {
                Shape::Runs { runs, color, .. } => {
                    let spans = runs.iter().map(|run| (run.from[0], run.from[0] + run.length));
                    (color.rgb[0], spans.collect())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(found[0], (9, vec![(0.0, 10.4), (20.0, 30.0)]));
        assert_eq!(found[1], (5, vec![(0.0, 20.4), (10.0, 20.4)]));
    }
}
