//! Symmetric matrices of which few entries are not zero: graph Laplacians, and products BᵀB of sparse rows.

use super::LinearOperator;
use crate::error::{Error, Result};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::{append, copied, room_for, zeroed};
use crate::progress::Watch;
use rayon::prelude::*;

/// Rows that one thread handles at a time.
const PIECE_ROWS: usize = 256;

/// A symmetric matrix by compressed rows, both triangles stored, columns ascending in every row.
///
/// Memory: 12 bytes for each stored entry and 8 for each row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SparseSymmetric {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseSymmetric {
    /// The n × n matrix with the entries (i, j, value). Entries for the same place are added up in their order.
    ///
    /// An entry away from the diagonal stands for (i, j) and (j, i) both, so an edge is given once.
    /// Cost: memory of twice the matrix while it is built.
    ///
    /// # Errors
    /// When an index is n or larger, a value is not finite, or n does not fit into 32 bits.
    pub(crate) fn from_triplets(n: usize, entries: &[(u32, u32, f64)]) -> Result<Self> {
        check_size(n)?;
        let mut counts = zeroed::<usize>(n + 1);
        for (at, (i, j, value)) in entries.iter().enumerate() {
            check_entry(n, at, (*i, *j, *value))?;
            counts[*i as usize + 1] += 1;
            if i != j {
                counts[*j as usize + 1] += 1;
            }
        }
        (0..n).for_each(|i| counts[i + 1] += counts[i]);
        let mut next = copied(&counts);
        let mut places = zeroed::<(u32, f64)>(counts[n]);
        let mut put = |row: u32, column: u32, value: f64| {
            let at = &mut next[row as usize];
            places[*at] = (column, value);
            *at += 1;
        };
        for (i, j, value) in entries {
            put(*i, *j, *value);
            if i != j {
                put(*j, *i, *value);
            }
        }
        drop(next);
        Ok(Self::merged(&counts, &mut places))
    }

    /// Rows of entries that stand one after another, those of the same column added up in their order.
    fn merged(starts: &[usize], places: &mut [(u32, f64)]) -> Self {
        let mut out = Self::empty(starts.len() - 1, places.len());
        for ends in starts.windows(2) {
            let row = &mut places[ends[0]..ends[1]];
            row.sort_by_key(|(column, _)| *column);
            let mut last = None;
            for (column, value) in row {
                match out.values.last_mut() {
                    Some(sum) if last == Some(*column) => *sum += *value,
                    _ => {
                        out.columns.push(*column);
                        out.values.push(*value);
                    }
                }
                last = Some(*column);
            }
            out.offsets.push(out.columns.len());
        }
        out.columns.shrink_to_fit();
        out.values.shrink_to_fit();
        out
    }

    /// No rows yet, with room for so many and their entries.
    fn empty(n: usize, entries: usize) -> Self {
        let mut offsets = room_for(n + 1);
        offsets.push(0);
        Self { offsets, columns: room_for(entries), values: room_for(entries) }
    }

    /// BᵀB for a matrix B of n columns that is given by its rows of (column, value).
    ///
    /// Cost: the sum of squared row lengths in time; memory of B by columns and of twice the result.
    ///
    /// # Errors
    /// As [`SparseSymmetric::from_triplets`].
    pub(crate) fn gram(n: usize, rows: &[Vec<(u32, f64)>]) -> Result<Self> {
        check_size(n)?;
        let (starts, places) = by_column(n, rows)?;
        let pieces = (0..n.div_ceil(PIECE_ROWS)).into_par_iter().map(|piece| {
            let mut out = (Vec::new(), Vec::new(), Vec::new());
            let mut line = Vec::new();
            for i in piece * PIECE_ROWS..((piece + 1) * PIECE_ROWS).min(n) {
                line.clear();
                for (row, x) in &places[starts[i]..starts[i + 1]] {
                    append(&mut line, rows[*row].iter().map(|(j, y)| (*j, x * y)));
                }
                add_up(&mut line);
                out.0.push(line.len());
                append(&mut out.1, line.iter().map(|(column, _)| *column));
                append(&mut out.2, line.iter().map(|(_, value)| *value));
            }
            out
        });
        let pieces: Vec<(Vec<usize>, Vec<u32>, Vec<f64>)> = pieces.collect();
        let total = pieces.iter().map(|(_, columns, _)| columns.len()).sum();
        let mut out = Self::empty(n, total);
        for (lengths, columns, values) in pieces {
            let ends = lengths.iter().scan(out.columns.len(), |end, length| {
                *end += length;
                Some(*end)
            });
            out.offsets.extend(ends);
            out.columns.extend(columns);
            out.values.extend(values);
        }
        out.check()
    }

    /// Refuses products that are not finite.
    fn check(self) -> Result<Self> {
        for i in 0..self.n() {
            let (columns, values) = self.row(i);
            for (j, value) in columns.iter().zip(values) {
                check_entry(self.n(), self.offsets[i], (i as u32, *j, *value))?;
            }
        }
        Ok(self)
    }

    /// Number of rows and of columns.
    pub(crate) fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of stored entries.
    pub(crate) fn n_stored(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of row i.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Row starts, columns and values.
    pub(crate) fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.offsets, &self.columns, &self.values)
    }

    /// max Σⱼ|Aᵢⱼ|, which no |eigenvalue| exceeds (Gershgorin).
    pub(crate) fn max_row_sum(&self) -> f64 {
        let sum = |i: usize| self.row(i).1.iter().map(|x| x.abs()).sum::<f64>();
        (0..self.n()).map(sum).fold(0.0, f64::max)
    }
}

impl LinearOperator for SparseSymmetric {
    fn n_rows(&self) -> usize {
        self.n()
    }

    fn n_cols(&self) -> usize {
        self.n()
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        out.row_chunks(PIECE_ROWS).into_par_iter().enumerate().try_for_each(|(piece, mut out)| {
            watch.check()?;
            for i in 0..out.n_rows() {
                let target = out.row_mut(i);
                target.fill(0.0);
                let (columns, values) = self.row(piece * PIECE_ROWS + i);
                for (j, value) in columns.iter().zip(values) {
                    target.iter_mut().zip(block.row(*j as usize)).for_each(|(t, x)| *t += value * x);
                }
            }
            Ok(())
        })
    }

    fn to_dense(&self, _watch: &Watch) -> Result<Matrix<f64>> {
        let mut dense = Matrix::zeros(self.n(), self.n());
        for i in 0..self.n() {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).for_each(|(j, value)| dense[(i, *j as usize)] = *value);
        }
        Ok(dense)
    }
}

/// Sorts the entries of a row by column and adds up those of the same column in their order.
fn add_up(row: &mut Vec<(u32, f64)>) {
    row.sort_by_key(|(column, _)| *column);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// Where each column starts, and the row and value of each entry, column by column, in the order of the rows.
type ByColumn = (Vec<usize>, Vec<(usize, f64)>);

fn by_column(n: usize, rows: &[Vec<(u32, f64)>]) -> Result<ByColumn> {
    let mut starts = zeroed::<usize>(n + 1);
    for (at, row) in rows.iter().enumerate() {
        for (column, value) in row {
            check_entry(n, at, (*column, *column, *value))?;
            starts[*column as usize + 1] += 1;
        }
    }
    (0..n).for_each(|i| starts[i + 1] += starts[i]);
    let mut next = copied(&starts);
    let mut places = zeroed(starts[n]);
    for (at, row) in rows.iter().enumerate() {
        for (column, value) in row {
            places[next[*column as usize]] = (at, *value);
            next[*column as usize] += 1;
        }
    }
    Ok((starts, places))
}

fn check_size(n: usize) -> Result<()> {
    if u32::try_from(n).is_ok() {
        return Ok(());
    }
    Err(Error::data(
        format!("a sparse matrix of {n} rows"),
        format!("at most {} are possible", u32::MAX),
        "Use a sample of the rows",
    ))
}

fn check_entry(n: usize, at: usize, (i, j, value): (u32, u32, f64)) -> Result<()> {
    if i as usize >= n || j as usize >= n {
        return Err(Error::data(
            format!("entry {} of a sparse matrix stands in row {}, column {}", at + 1, i + 1, j + 1),
            format!("rows and columns go from 1 to {n}"),
            "Look for wrong indices in the list of edges",
        ));
    }
    if !value.is_finite() {
        return Err(Error::data(
            format!("entry {} of a sparse matrix (row {}, column {}) is {value}", at + 1, i + 1, j + 1),
            "entries must be finite",
            "Look for missing or infinite values in the data, or for weights that overflow",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn random(n: usize, count: usize) -> (Vec<(u32, u32, f64)>, Matrix<f64>) {
        let mut stream = Stream::new(1, Purpose::Synthetic);
        let entries: Vec<(u32, u32, f64)> =
            (0..count).map(|_| (stream.below(n) as u32, stream.below(n) as u32, stream.gaussian())).collect();
        let mut dense = Matrix::zeros(n, n);
        for (i, j, value) in &entries {
            dense[(*i as usize, *j as usize)] += value;
            if i != j {
                dense[(*j as usize, *i as usize)] += value;
            }
        }
        (entries, dense)
    }

    #[test]
    fn entries_are_mirrored_and_added_up_in_their_order() {
        // 900 entries on 20 × 20 places: most places are named several times.
        let (entries, dense) = random(20, 900);
        let sparse = SparseSymmetric::from_triplets(20, &entries).unwrap();
        assert_eq!(sparse.to_dense(&Watch::default()).unwrap(), dense);
        let sums = (0..20).map(|i| dense.row(i).iter().map(|x| x.abs()).sum::<f64>());
        assert_eq!(sparse.max_row_sum(), sums.fold(0.0, f64::max));
    }

    #[test]
    fn products_match_the_definition() {
        let (entries, dense) = random(700, 4000);
        let sparse = SparseSymmetric::from_triplets(700, &entries).unwrap();
        let block = Matrix::from_fn(700, 3, |i, j| ((i * 3 + j) as f64).cos());
        let mut out = Matrix::from_fn(700, 5, |_, _| 7.0);
        sparse.apply(block.view(), out.view_mut().columns(1..4), &Watch::default()).unwrap();
        for i in 0..700 {
            for j in 0..3 {
                let exact: f64 = (0..700).map(|l| dense[(i, l)] * block[(l, j)]).sum();
                // At most 40 terms of size 4 in a row.
                assert!((out[(i, j + 1)] - exact).abs() < 40.0 * 40.0 * 4.0 * f64::EPSILON);
            }
        }
        assert_eq!((out[(0, 0)], out[(699, 4)]), (7.0, 7.0));
    }

    #[test]
    fn gram_of_rows_is_that_of_the_dense_matrix() {
        let rows =
            vec![vec![(0, 1.0), (2, -2.0)], vec![(1, 3.0)], vec![(2, 0.5), (0, 4.0), (2, 0.25)], vec![]];
        let mut dense: Matrix<f64> = Matrix::zeros(4, 3);
        for (i, row) in rows.iter().enumerate() {
            row.iter().for_each(|(j, x)| dense[(i, *j as usize)] += x);
        }
        let product =
            Matrix::from_fn(3, 3, |a, b| (0..4).map(|i| dense[(i, a)] * dense[(i, b)]).sum::<f64>());
        let gram = SparseSymmetric::gram(3, &rows).unwrap();
        assert_eq!(gram.to_dense(&Watch::default()).unwrap(), product);
    }

    #[test]
    fn wrong_entries_are_named() {
        let message =
            |entries: &[(u32, u32, f64)]| SparseSymmetric::from_triplets(3, entries).unwrap_err().to_string();
        assert!(
            message(&[(0, 0, 1.0), (1, 3, 1.0)])
                .contains("entry 2 of a sparse matrix stands in row 2, column 4")
        );
        assert!(message(&[(2, 0, f64::NAN)]).contains("row 3, column 1) is NaN"));
        assert_eq!(SparseSymmetric::from_triplets(0, &[]).unwrap().n(), 0);
    }
}
