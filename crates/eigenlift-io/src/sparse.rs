//! Sparse tables, as `scipy.sparse.save_npz` writes them.

mod rows;
mod stored;

use std::path::Path;

use crate::error::Result;
use crate::format::Format;
use crate::npz;
use crate::source::{Source, is_standard};
use crate::watched::unchanged;
use stored::Stored;

/// Rows of which only the entries that are not zero are stored.
///
/// The entries of row i are `values[offsets[i]..offsets[i + 1]]`, in the columns that `columns` has there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseTable {
    /// Number of rows, at least 1.
    pub n_rows: usize,
    /// Number of columns, at least 1.
    pub n_cols: usize,
    /// Where each row begins, and where the last one ends: `n_rows + 1` numbers that rise from 0.
    pub offsets: Vec<usize>,
    /// The column of each entry, from 0; strictly increasing within a row.
    pub columns: Vec<u32>,
    /// The entries, all finite and none zero.
    pub values: Vec<f64>,
    /// Whether the file itself held single-precision numbers.
    pub single_precision: bool,
}

impl SparseTable {
    /// The columns and the entries of one row.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<(&[u32], &[f64])> {
        let entries = *self.offsets.get(row)?..*self.offsets.get(row.checked_add(1)?)?;
        Some((self.columns.get(entries.clone())?, self.values.get(entries)?))
    }
}

/// Whether the file is a sparse matrix as `scipy.sparse.save_npz` writes it, in any of its forms.
///
/// Only the names of its members are looked at. The answer is no for what cannot be read, and for pipes and standard
/// input, which would lose what is looked at.
#[must_use]
pub fn is_sparse(path: &Path) -> bool {
    if is_standard(path) || !path.is_file() {
        return false;
    }
    // Why: the search for the end of an archive can go through a whole file that is none.
    let archive =
        Source::open(path).ok().filter(|source| Format::from_magic(&source.head) == Some(Format::Npz));
    let names = archive.and_then(|source| npz::member_names(source).ok()).unwrap_or_default();
    let has = |name: &&str| names.iter().any(|member| member == name);
    ["format", "shape", "data"].iter().all(has) && ["indptr", "row", "coords", "offsets"].iter().any(has)
}

/// Bytes that the rows of a sparse matrix take in memory while they are read, as its headers claim; no array is read.
///
/// # Errors
/// When it is not an archive of arrays.
pub fn sparse_bytes(path: &Path) -> Result<u128> {
    let contents = npz::Contents::open(Source::open(path)?)?;
    let count = |name: &str| {
        let member = contents.members.iter().find(|member| member.name == name);
        member.map_or(0, |member| member.header.shape.iter().map(|n| u128::from(*n)).product())
    };
    // A number, a place and, while columns are turned into rows, both again; where each line begins.
    let (entries, lines): (u128, u128) = (count("data"), count("indptr"));
    Ok(entries.saturating_mul(24).saturating_add(lines.saturating_mul(16)))
}

/// Reads a sparse matrix as `scipy.sparse.save_npz` writes it, in CSR or CSC form; the path `-` is standard input.
///
/// Columns out of order are sorted, entries of the same place are summed as SciPy sums them, and zeros are left out.
/// Cost: 12 bytes for each entry and 8 for each row; twice that while columns are turned into rows. A matrix in CSC form
/// that claims far more rows than it has entries is refused.
///
/// # Errors
///
/// [`TableError`](crate::TableError) when the file cannot be read, is damaged, has another form, or holds a number that is
/// not finite.
///
/// ```no_run
/// use std::path::Path;
/// use eigenlift_io::{is_sparse, read_sparse};
///
/// let path = Path::new("counts.npz");
/// assert!(is_sparse(path));
/// let table = read_sparse(path)?;
/// assert_eq!(table.offsets.len(), table.n_rows + 1);
/// # Ok::<(), eigenlift_io::TableError>(())
/// ```
pub fn read_sparse(path: &Path) -> Result<SparseTable> {
    let source = Source::open(path)?;
    let (name, watched) = (source.name.clone(), source.watched());
    let stored = unchanged(&name, watched.as_ref(), Stored::read(source))?;
    rows::tidy(if stored.by_columns { rows::from_columns(stored)? } else { stored })
}
