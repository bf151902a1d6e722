//! Rows in the order they are drawn, in blocks where they are too many.

/// More rows than this are drawn as means over blocks.
const MOST_ROWS: usize = 160;

/// Which block each row belongs to.
pub(super) struct Blocks {
    /// The rows in their order.
    order: Vec<usize>,
    /// The block of each row.
    block_of: Vec<usize>,
    /// Rows of each block but the last.
    size: usize,
}

impl Blocks {
    /// Orders n rows by class, if they have one, and divides them into as many blocks as can be seen.
    pub(super) fn new(n: usize, classes: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|row| classes.get(*row));
        let size = n.div_ceil(MOST_ROWS).max(1);
        let mut block_of = vec![0; n];
        for (place, row) in order.iter().enumerate() {
            if let Some(block) = block_of.get_mut(*row) {
                *block = place / size;
            }
        }
        Blocks { order, block_of, size }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.order.len()
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.rows().div_ceil(self.size)
    }

    /// The row at this place of the order.
    pub(super) fn row_at(&self, place: usize) -> usize {
        self.order.get(place).copied().unwrap_or(place)
    }

    /// The mean of the finite entries in each block of an n × n matrix; not finite without any.
    pub(super) fn means(&self, matrix: &[f64]) -> Vec<f64> {
        let p = self.count();
        let mut sums = vec![(0.0, 0.0); p * p];
        for (row, entries) in matrix.chunks(self.rows().max(1)).enumerate() {
            let Some(block) = self.block_of.get(row) else { continue };
            let Some(sums) = sums.get_mut(block * p..(block + 1) * p) else { continue };
            for (entry, block) in entries.iter().zip(&self.block_of).filter(|(entry, _)| entry.is_finite()) {
                if let Some((sum, n)) = sums.get_mut(*block) {
                    *sum += entry;
                    *n += 1.0;
                }
            }
        }
        sums.into_iter().map(|(sum, n)| if n > 0.0 { sum / n } else { f64::NAN }).collect()
    }

    /// Says what a cell stands for and how rows are ordered.
    pub(super) fn notes(&self, by_class: bool) -> Vec<String> {
        let (n, size) = (self.rows(), self.size);
        let means = (size > 1).then(|| format!("{n} rows; each cell is the mean of {size} × {size} entries"));
        means.into_iter().chain(by_class.then(|| "rows ordered by class".to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_rows_of_one_class() {
        // Two classes in turn; entries are 1 within a class and 0 between.
        let n = 640;
        let classes: Vec<usize> = (0..n).map(|row| row % 2).collect();
        let matrix: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n % 2 == k % n % 2))).collect();
        let blocks = Blocks::new(n, &classes);
        assert_eq!((blocks.count(), blocks.size), (160, 4));
        for (k, mean) in blocks.means(&matrix).into_iter().enumerate() {
            assert_eq!(mean, f64::from(u8::from((k / 160 < 80) == (k % 160 < 80))), "{k}");
        }
        assert_eq!(blocks.notes(false), ["640 rows; each cell is the mean of 4 × 4 entries"]);
    }

    #[test]
    fn a_last_block_may_be_smaller() {
        let blocks = Blocks::new(161, &[]);
        assert_eq!((blocks.count(), blocks.size), (81, 2));
        assert!(blocks.means(&vec![2.5; 161 * 161]).iter().all(|mean| *mean == 2.5));
        assert_eq!(Blocks::new(0, &[]).means(&[]), Vec::<f64>::new());
    }
}
