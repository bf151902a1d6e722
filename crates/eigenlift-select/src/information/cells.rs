//! Rows that agree in discrete columns.

use super::plug_in::sizes;
use crate::kinds::codes;

/// Numbers for pairs are kept as they are while there are at most so many, or four for each row.
const DENSE: usize = 4096;

/// A number for each row; rows of the same number agree.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) of_rows: Vec<u32>,
    pub(super) count: usize,
}

impl Cells {
    /// All rows in one.
    pub(super) fn one(n_rows: usize) -> Self {
        Self { of_rows: vec![0; n_rows], count: 1 }
    }

    /// Rows that agree here and in another column.
    pub(super) fn and(&self, other: (&[u32], usize)) -> Self {
        let size = self.count.saturating_mul(other.1);
        let pairs = self.of_rows.iter().zip(other.0);
        let number = |(a, b): (&u32, &u32)| u64::from(*a) * other.1 as u64 + u64::from(*b);
        if size <= DENSE.max(4 * self.of_rows.len()) {
            return Self { of_rows: pairs.map(|pair| number(pair) as u32).collect(), count: size.max(1) };
        }
        let numbers: Vec<u64> = pairs.map(number).collect();
        let mut found = numbers.clone();
        found.sort_unstable();
        found.dedup();
        let of_rows = numbers.iter().map(|at| found.partition_point(|other| other < at) as u32).collect();
        Self { of_rows, count: found.len() }
    }

    /// Rows that agree here and in a column of numbers.
    pub(super) fn and_value(&self, column: &[f64]) -> Self {
        let (codes, count) = codes(column);
        self.and((&codes, count))
    }

    /// How many rows each holds.
    pub(super) fn sizes(&self) -> Vec<u32> {
        sizes(&self.of_rows, self.count)
    }

    /// These rows.
    pub(super) fn of(&self, rows: &[u32]) -> Self {
        Self { of_rows: rows.iter().map(|i| self.of_rows[*i as usize]).collect(), count: self.count }
    }

    /// The rows of each cell that holds any, ascending, handed to `see`.
    pub(super) fn each(&self, mut see: impl FnMut(&[u32])) {
        let mut ends = self.sizes();
        let mut start = 0;
        for end in &mut ends {
            (start, *end) = (start + *end, start);
        }
        let mut rows = vec![0u32; self.of_rows.len()];
        for (i, code) in self.of_rows.iter().enumerate() {
            let end = &mut ends[*code as usize];
            rows[*end as usize] = i as u32;
            *end += 1;
        }
        let mut start = 0;
        for end in ends {
            if end > start {
                see(&rows[start as usize..end as usize]);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_agree_however_they_are_numbered() {
        let (a, b) = ([0, 1, 1, 0, 2], [1, 0, 0, 1, 1]);
        for (n_a, n_b) in [(3, 2), (5000, 5000)] {
            let cells = Cells { of_rows: a.to_vec(), count: n_a }.and((&b, n_b));
            let mut found = Vec::new();
            cells.each(|rows| found.push(rows.to_vec()));
            assert_eq!(found, [vec![0, 3], vec![1, 2], vec![4]]);
        }
    }
}
