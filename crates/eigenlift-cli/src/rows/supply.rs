//! Where rows come from: a table that is read as it goes, or a sparse matrix whose rows become dense a few at a time.

use crate::table::Carried;
use eigenlift_io::{SparseTable, Table, TableError, TableStream};

/// Where rows come from.
pub(super) enum Supply {
    /// A table on disk or standard input.
    Stream(Box<TableStream>),
    /// A sparse matrix in memory, and the next of its rows.
    Sparse { table: SparseTable, at: usize },
}

/// Some rows, one after the other, and what is carried beside them.
pub(super) struct Supplied {
    pub(super) values: Vec<f64>,
    pub(super) n_rows: usize,
    pub(super) carried: Carried,
}

impl Supply {
    /// Numbers in a row.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Stream(stream) => stream.names().len(),
            Self::Sparse { table, .. } => table.n_cols,
        }
    }

    /// Rows, as far as they are known without reading them.
    pub(super) fn n_rows(&self) -> Option<usize> {
        match self {
            Self::Stream(stream) => stream.n_rows(),
            Self::Sparse { table, .. } => Some(table.n_rows),
        }
    }

    /// About as many bytes as are held besides rows in hand.
    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.held_bytes(),
            Self::Sparse { table, .. } => 12 * table.values.len() as u64,
        }
    }

    /// How often the table was read so far.
    pub(super) fn readings(&self) -> usize {
        match self {
            Self::Stream(stream) => stream.readings(),
            Self::Sparse { .. } => 0,
        }
    }

    /// Rows left out and cells filled in so far.
    pub(super) fn treated(&self) -> (usize, usize) {
        match self {
            Self::Stream(stream) => (stream.dropped_rows(), stream.imputed_cells()),
            Self::Sparse { .. } => (0, 0),
        }
    }

    /// The first column that has held integers too large for double precision so far.
    pub(super) fn large_integers(&self) -> Option<String> {
        match self {
            Self::Stream(stream) => stream.large_integers(),
            Self::Sparse { .. } => None,
        }
    }

    /// The next rows.
    pub(super) fn next(&mut self, most_rows: usize) -> Result<Option<Supplied>, TableError> {
        match self {
            Self::Stream(stream) => {
                let Some(table) = stream.next_chunk(most_rows)? else { return Ok(None) };
                let Table { values, n_rows, text, target, .. } = table;
                Ok(Some(Supplied { values, n_rows, carried: Carried { text, target } }))
            }
            Self::Sparse { table, at } => {
                let n_rows = most_rows.min(table.n_rows - *at);
                let values = dense(table, *at, n_rows);
                *at += n_rows;
                Ok((n_rows > 0).then(|| Supplied { values, n_rows, carried: Carried::default() }))
            }
        }
    }

    /// Back to the first row.
    pub(super) fn rewind(&mut self) -> Result<(), TableError> {
        match self {
            Self::Stream(stream) => stream.rewind(),
            Self::Sparse { at, .. } => {
                *at = 0;
                Ok(())
            }
        }
    }

    /// Counts the rows from the first one.
    pub(super) fn count(&mut self, most_rows: usize) -> Result<usize, TableError> {
        let Self::Stream(stream) = self else { return Ok(self.n_rows().unwrap_or(0)) };
        stream.rewind()?;
        let mut n = 0;
        while let Some(chunk) = stream.next_chunk(most_rows)? {
            n += chunk.n_rows;
            stream.recycle(chunk);
        }
        Ok(n)
    }
}

/// Rows of a sparse matrix with their zeros.
fn dense(table: &SparseTable, first: usize, n_rows: usize) -> Vec<f64> {
    let mut values = vec![0.0; n_rows * table.n_cols];
    for (i, row) in values.chunks_exact_mut(table.n_cols.max(1)).enumerate() {
        for at in table.offsets[first + i]..table.offsets[first + i + 1] {
            row[table.columns[at] as usize] = table.values[at];
        }
    }
    values
}
