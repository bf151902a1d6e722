//! Which entries are hidden: every row has masks of its own, no two of which share an entry.

use crate::error::{Error, Result};
use crate::random::{Purpose, Stream};

/// Share of a row that one mask hides.
///
/// Why: what is hidden is missing from the projection, too, so that large shares ask for wider kernels and fewer components than
/// denoising with all entries. With a tenth instead of a fifth the loss against the best choice fell from 44 to 6 % on clusters
/// and from 8 to 2 % on noisy digits.
const SHARE: f64 = 0.1;
/// Masks of a row at most.
const MOST_MASKS: usize = 4;
/// The side of a square of an image is the shorter side over this, and at least 2.
const SQUARES_PER_SIDE: usize = 8;

/// The shape of what is hidden together: as large as errors reach from column to column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    /// Single entries: errors of different columns are independent.
    #[default]
    Entries,
    /// Runs of this many columns: series.
    Blocks(usize),
    /// Squares: rows are images, stored line after line.
    Image {
        /// Lines of an image.
        height: usize,
        /// Columns of an image.
        width: usize,
    },
}

impl Mask {
    /// Columns hidden together, and how many such cells a row has at least.
    fn cells(&self, d: usize) -> (usize, usize) {
        match *self {
            Self::Entries => (1, d),
            Self::Blocks(0) => (0, 0),
            Self::Blocks(length) => (length, d / length),
            Self::Image { height, width } => {
                let side = square_side(height, width);
                (side * side, (height / side) * (width / side))
            }
        }
    }

    pub(super) fn check(&self, d: usize) -> Result<()> {
        if d < 2 {
            return Err(Error::data(
                format!("{d} column"),
                "an entry is predicted from the other columns, so at least 2 are needed",
                "Choose the bandwidth with labels, or give it as a number",
            ));
        }
        match *self {
            Self::Image { height, width } if height.checked_mul(width) != Some(d) => Err(Error::setting(
                format!("images of {height}×{width} in rows of {d} columns"),
                "height times width must be the number of columns",
                "Give the height and width of the images",
            )),
            _ if self.cells(d).1 < 2 => Err(Error::setting(
                format!("blocks of {} of {d} columns", self.cells(d).0),
                "at least 1 column and at most half of them are hidden together",
                "Choose shorter blocks, or hide single entries",
            )),
            _ => Ok(()),
        }
    }

    /// All cells of a row, in random order and at random places.
    fn drawn(&self, d: usize, random: &mut Stream) -> Vec<Vec<usize>> {
        let mut cells: Vec<Vec<usize>> = match *self {
            Self::Entries => (0..d).map(|j| vec![j]).collect(),
            Self::Blocks(length) => {
                runs(d, length, random.below(length)).into_iter().map(Iterator::collect).collect()
            }
            Self::Image { height, width } => {
                let side = square_side(height, width);
                let (top, left) = (random.below(side), random.below(side));
                let lines = runs(height, side, top);
                let columns = runs(width, side, left);
                let cell = |lines: &std::ops::Range<usize>, columns: &std::ops::Range<usize>| {
                    lines.clone().flat_map(|i| columns.clone().map(move |j| i * width + j)).collect()
                };
                lines.iter().flat_map(|l| columns.iter().map(move |c| cell(l, c))).collect()
            }
        };
        random.shuffle(&mut cells);
        cells
    }
}

fn square_side(height: usize, width: usize) -> usize {
    let shorter = height.min(width);
    (shorter / SQUARES_PER_SIDE).max(2).min(shorter).max(1)
}

/// 0..count cut into runs of `length`, the first one shorter if `offset` is not 0.
fn runs(count: usize, length: usize, offset: usize) -> Vec<std::ops::Range<usize>> {
    let inner = (offset..count).step_by(length.max(1)).filter(|edge| *edge > 0);
    let edges: Vec<usize> = std::iter::once(0).chain(inner).chain([count]).collect();
    edges.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Hidden columns for each mask and row.
pub(super) struct Masks {
    hidden: Vec<Vec<Vec<usize>>>,
}

impl Masks {
    /// Masks for `n` rows of `d` columns; `mask` has been checked for them.
    pub(super) fn draw(mask: &Mask, n: usize, d: usize, seed: u64) -> Self {
        let (_, cells) = mask.cells(d);
        let at_once = ((SHARE * cells as f64).round() as usize).max(1);
        let count = (cells / at_once).clamp(1, MOST_MASKS);
        let mut random = Stream::new(seed, Purpose::Masks);
        let mut hidden = vec![Vec::with_capacity(n); count];
        for _ in 0..n {
            let cells = mask.drawn(d, &mut random);
            for (masks, own) in hidden.iter_mut().zip(cells.chunks(at_once)) {
                let mut columns: Vec<usize> = own.concat();
                columns.sort_unstable();
                masks.push(columns);
            }
        }
        Self { hidden }
    }

    /// Masks of each row.
    pub(super) fn count(&self) -> usize {
        self.hidden.len()
    }

    /// Columns that a mask hides in each row.
    pub(super) fn of(&self, mask: usize) -> &[Vec<usize>] {
        &self.hidden[mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(mask: Mask, d: usize) -> Masks {
        mask.check(d).unwrap();
        Masks::draw(&mask, 50, d, 3)
    }

    #[test]
    fn masks_of_a_row_share_no_entry_and_leave_some_visible() {
        for (mask, d) in [
            (Mask::Entries, 2),
            (Mask::Entries, 64),
            (Mask::Blocks(7), 50),
            (Mask::Blocks(1), 3),
            (Mask::Image { height: 8, width: 8 }, 64),
            (Mask::Image { height: 28, width: 20 }, 560),
        ] {
            let masks = drawn(mask, d);
            assert!(masks.count() >= 2);
            for row in 0..50 {
                let mut all: Vec<usize> = (0..masks.count()).flat_map(|m| masks.of(m)[row].clone()).collect();
                let n = all.len();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), n, "{mask:?}");
                assert!(all.iter().all(|j| *j < d));
                assert!((0..masks.count()).all(|m| (1..d).contains(&masks.of(m)[row].len())), "{mask:?}");
            }
        }
    }

    #[test]
    fn a_tenth_of_the_entries_is_hidden() {
        assert!(drawn(Mask::Entries, 64).of(0).iter().all(|row| row.len() == 6));
        assert!(drawn(Mask::Entries, 10).of(0).iter().all(|row| row.len() == 1));
    }

    #[test]
    fn blocks_are_runs_of_columns() {
        for row in drawn(Mask::Blocks(5), 60).of(0) {
            assert!(row.len() <= 5 && row.windows(2).all(|pair| pair[1] == pair[0] + 1), "{row:?}");
        }
    }

    #[test]
    fn squares_are_squares() {
        let masks = drawn(Mask::Image { height: 24, width: 24 }, 576);
        for row in masks.of(1) {
            let lines: std::collections::BTreeSet<usize> = row.iter().map(|j| j / 24).collect();
            // Each hidden entry has a hidden neighbour on its line or above or below, unless its square was cut by the border.
            let lonely = row.iter().filter(|j| {
                let neighbours = [j.wrapping_sub(1), *j + 1, j.wrapping_sub(24), *j + 24];
                !neighbours.iter().any(|other| row.contains(other))
            });
            assert!(lonely.count() <= 1 && lines.len() >= 3);
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_errors() {
        assert!(Mask::Entries.check(1).is_err());
        assert!(Mask::Blocks(0).check(9).is_err());
        assert!(Mask::Blocks(5).check(9).is_err());
        assert!(Mask::Image { height: 3, width: 4 }.check(13).is_err());
        assert!(Mask::Image { height: 1, width: 1 }.check(1).is_err());
        assert!(Mask::Image { height: usize::MAX, width: 2 }.check(10).is_err());
    }
}
