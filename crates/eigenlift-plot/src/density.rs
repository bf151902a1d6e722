//! Very many points as small cells, coloured by how many points lie in each, by their classes or by their mean.

use std::collections::BTreeMap;

use crate::axis::Range;
use crate::cells::{self, Ink};
use crate::classes::Look;
use crate::palette::{OTHER, crowd, mixed};
use crate::scene::{Marker, Rect, Rgba, Shape};

/// Width and height of a cell.
const CELL: f64 = 2.0;
/// Cells begin at multiples of this, where PNG has whole pixels, so that no seams show.
const SNAP: f64 = 0.5;
/// Counts are rounded to this many colours, so that the SVG has few paths.
const COLOR_STEPS: f64 = 24.0;
/// Means of values are rounded to this many colours.
const VALUE_STEPS: f64 = 64.0;
/// The least strength of a class colour, for cells with one point.
const LEAST_STRENGTH: f64 = 0.45;
/// Colours of counts reach at least this far, so that a handful of points does not look like a crowd.
const LEAST_MOST: u32 = 8;

/// What colours the cells.
pub(crate) enum Key<'a> {
    /// The number of points.
    Count,
    /// The classes, by place in `looks`, of each point.
    Classes { of_point: &'a [usize], looks: &'a [Look] },
    /// The mean of the numbers of the points, in the colours of a range.
    Values { values: &'a [f64], range: Range, ramp: fn(f64) -> Rgba },
}

/// The points of each cell of a plot.
pub(crate) struct Density<'a> {
    /// What the cells cover: the plot, and less than a cell beyond.
    area: Rect,
    columns: usize,
    counts: Vec<u32>,
    /// The largest count.
    most: u32,
    /// The cell of each point.
    cell_of: Vec<usize>,
    places: &'a [[f64; 2]],
}

impl<'a> Density<'a> {
    /// Counts the points in each cell of a plot. Cost: linear in their number.
    pub(crate) fn new(plot: &Rect, places: &'a [[f64; 2]]) -> Self {
        let [x, y] = [plot.x, plot.y].map(|start| (start / SNAP).floor() * SNAP);
        let lines = |length: f64| (length / CELL).ceil().max(1.0) as usize;
        let (columns, rows) = (lines(plot.right() - x), lines(plot.bottom() - y));
        let area = Rect { x, y, w: CELL * columns as f64, h: CELL * rows as f64 };
        let step = |offset: f64, n: usize| ((offset / CELL).max(0.0) as usize).min(n - 1);
        let cell = |[x, y]: &[f64; 2]| step(y - area.y, rows) * columns + step(x - area.x, columns);
        let cell_of: Vec<usize> = places.iter().map(cell).collect();
        let mut counts = vec![0_u32; columns * rows];
        for cell in &cell_of {
            if let Some(count) = counts.get_mut(*cell) {
                *count = count.saturating_add(1);
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        Density { area, columns, counts, most: most.max(LEAST_MOST), cell_of, places }
    }

    /// The decimal logarithms of the counts that have the first and the last colour.
    pub(crate) fn logs(&self) -> Range {
        Range { lo: 0.0, hi: f64::from(self.most).log10() }
    }

    /// The radius of a point that is alone in its cell.
    pub(crate) fn radius() -> f64 {
        0.6 * CELL
    }

    /// Cells with several points, and a marker at its own place for each point that is alone in its cell.
    ///
    /// Why markers: where points are few, cells would show as a lattice.
    pub(crate) fn shapes(&self, key: &Key) -> Vec<Shape> {
        let inks = self.inks(key);
        let several = inks.iter().zip(&self.counts).map(|(ink, count)| ink.filter(|_| *count > 1));
        let several: Vec<Option<Ink>> = several.collect();
        let mut alone: BTreeMap<Ink, Vec<[f64; 2]>> = BTreeMap::new();
        for (place, cell) in self.places.iter().zip(&self.cell_of) {
            if let (Some(Some(ink)), Some(1)) = (inks.get(*cell), self.counts.get(*cell)) {
                alone.entry(*ink).or_default().push(*place);
            }
        }
        let markers = alone.into_iter().map(|(ink, centers)| {
            let color = Rgba { rgb: ink.rgb, alpha: 1.0 };
            Shape::Markers { centers, marker: Marker::Circle, radius: Density::radius(), color }
        });
        markers.chain(cells::draw(&self.area, self.columns, &several)).collect()
    }

    /// 0 for one point in a cell to [`COLOR_STEPS`] for the largest count, by logarithm.
    fn step(&self, count: u32) -> usize {
        let share = f64::from(count.max(1)).ln() / f64::from(self.most).ln();
        (share.clamp(0.0, 1.0) * COLOR_STEPS).round() as usize
    }

    fn inks(&self, key: &Key) -> Vec<Option<Ink>> {
        let ink = |count: u32, color: &dyn Fn(f64) -> Rgba| {
            let layer = self.step(count);
            (count > 0).then(|| Ink { layer, rgb: color(layer as f64 / COLOR_STEPS).rgb })
        };
        match key {
            Key::Count => self.counts.iter().map(|count| ink(*count, &crowd)).collect(),
            Key::Classes { of_point, looks } => {
                let shown = self.shown_classes(of_point, looks.len());
                let color = |class: usize| looks.get(class).map_or(OTHER, |look| look.color);
                let strength = |t: f64| LEAST_STRENGTH + (1.0 - LEAST_STRENGTH) * t;
                let one = |(count, class): (&u32, usize)| ink(*count, &|t| mixed(color(class), strength(t)));
                self.counts.iter().zip(shown).map(one).collect()
            }
            Key::Values { values, range, ramp } => {
                let means = self.means(values);
                let rounded = |mean: f64| (range.place(mean).clamp(0.0, 1.0) * VALUE_STEPS).round();
                let color =
                    |mean: f64| if mean.is_finite() { ramp(rounded(mean) / VALUE_STEPS) } else { OTHER };
                let one = |(count, mean): (&u32, f64)| (*count > 0).then(|| Ink::new(color(mean)));
                self.counts.iter().zip(means).map(one).collect()
            }
        }
    }

    /// The class that each cell shows: in a patch of cells each class gets the share of them that it has of the
    /// points, spread evenly.
    ///
    /// Why not the most frequent: where classes overlap, it would hide all others.
    fn shown_classes(&self, of_point: &[usize], n_classes: usize) -> Vec<usize> {
        let mut counts = vec![0_u32; self.counts.len() * n_classes];
        for (cell, class) in self.cell_of.iter().zip(of_point) {
            if let Some(count) = counts.get_mut(cell * n_classes + class) {
                *count += 1;
            }
        }
        let shown = |(cell, counts): (usize, &[u32])| {
            let total = f64::from(counts.iter().sum::<u32>());
            let threshold = even_spread(cell % self.columns, cell / self.columns) * total;
            let sums = counts.iter().scan(0.0, |sum, count| {
                *sum += f64::from(*count);
                Some(*sum)
            });
            sums.take_while(|sum| *sum <= threshold).count().min(n_classes.saturating_sub(1))
        };
        counts.chunks(n_classes.max(1)).enumerate().map(shown).collect()
    }

    /// The mean of the finite values in each cell; not finite without any.
    fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.counts.len()];
        for (cell, value) in self.cell_of.iter().zip(values).filter(|(_, value)| value.is_finite()) {
            if let Some((mean, n)) = sums.get_mut(*cell) {
                *n += 1.0;
                // Shares first: the difference itself may overflow.
                *mean += value / *n - *mean / *n;
            }
        }
        sums.into_iter().map(|(mean, n)| if n > 0.0 { mean } else { f64::NAN }).collect()
    }
}

/// A number from 0 to 1 for each cell, evenly spread in every patch of cells (the sequence R₂ of Roberts 2018).
fn even_spread(column: usize, row: usize) -> f64 {
    (0.754_877_666_246_692_8 * column as f64 + 0.569_840_290_998_053_3 * row as f64 + 0.5).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Rect = Rect { x: 10.0, y: 20.0, w: 200.0, h: 100.0 };

    fn look(name: &str, color: u32) -> Look {
        Look { name: name.to_owned(), color: Rgba::hex(color), marker: Marker::Circle }
    }

    #[test]
    fn all_points_are_counted_and_corners_are_inside() {
        let places = [[10.0, 20.0], [210.0, 120.0], [210.0, 120.0], [100.0, 60.0]];
        let density = Density::new(&PLOT, &places);
        assert_eq!((density.columns, density.counts.len()), (100, 5000));
        assert_eq!(density.counts.iter().sum::<u32>(), 4);
        assert_eq!((density.counts[0], density.counts[4999]), (1, 2));
    }

    #[test]
    fn overlapping_classes_show_in_their_shares() {
        // Ten points in each cell of the plot, three of them of the second class.
        let at = |k: usize| {
            [PLOT.x + 2.0 * ((k / 10 % 100) as f64 + 0.5), PLOT.y + 2.0 * ((k / 1000) as f64 + 0.5)]
        };
        let places: Vec<[f64; 2]> = (0..50_000).map(at).collect();
        let of_point: Vec<usize> = (0..50_000).map(|k| usize::from(k % 10 < 3)).collect();
        let shown = Density::new(&PLOT, &places).shown_classes(&of_point, 2);
        let share = shown.iter().sum::<usize>() as f64 / 5000.0;
        // An evenly spread sequence of 5000 errs by a few cells.
        assert!((share - 0.3).abs() < 0.01, "{share}");
        let looks = [look("a", 0x000000), look("b", 0xff0000)];
        let shapes =
            Density::new(&PLOT, &places).shapes(&Key::Classes { of_point: &of_point, looks: &looks });
        assert_eq!(shapes.len(), 2, "one path for each class");
    }

    #[test]
    fn means_leave_out_what_is_not_finite() {
        let places = [[10.0, 20.0], [10.1, 20.1], [10.2, 20.2], [210.0, 120.0]];
        let density = Density::new(&PLOT, &places);
        let means = density.means(&[1.0, f64::NAN, 4.0, f64::INFINITY]);
        assert_eq!(means[0], 2.5);
        assert!(means[1].is_nan() && means[4999].is_nan());
        let means = density.means(&[f64::MAX, f64::MIN, f64::MAX, 0.0]);
        assert!(means[0].is_finite(), "{}", means[0]);
    }
}
