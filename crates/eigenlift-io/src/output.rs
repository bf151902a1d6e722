//! Rows that are to be written, and what must hold for them.

use std::collections::HashSet;

use crate::error::{Report, Result, TableError, quoted};
use crate::format::Format;

/// A table to be written: text columns in front, then columns of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Output<'a> {
    /// Text columns: name and one text per row.
    pub text: &'a [(&'a str, &'a [String])],
    /// Names of the columns of numbers.
    pub names: &'a [String],
    /// Number of rows.
    pub n_rows: usize,
    /// The numbers, row-major, `n_rows` × `names.len()`.
    pub values: &'a [f64],
    /// Whether to write single precision.
    pub single_precision: bool,
}

impl Output<'_> {
    /// The numbers of one row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let width = self.names.len();
        self.values.get(row * width..(row + 1) * width).unwrap_or_default()
    }
}

/// Refuses a format that was not built in.
pub(crate) fn refuse_uncompiled(name: &str, format: Format) -> Result<()> {
    if format == Format::Parquet && cfg!(not(feature = "parquet")) {
        return Err(TableError::Setting(Report::new(
            name,
            "the output is a Parquet file, and this build cannot write those",
            "the cargo feature parquet must be on",
            "Build eigenlift with --features parquet, or write CSV or NPY",
        )));
    }
    Ok(())
}

/// Refuses sizes that do not fit.
pub(crate) fn check_sizes(name: &str, output: &Output<'_>) -> Result<()> {
    let n_cells = output.n_rows.checked_mul(output.names.len());
    if n_cells != Some(output.values.len()) {
        return Err(TableError::Setting(Report::new(
            name,
            format!(
                "{} numbers for {} rows and {} columns",
                output.values.len(),
                output.n_rows,
                output.names.len()
            ),
            "there must be one number per row and column",
            "Give as many numbers as the table has cells",
        )));
    }
    if let Some((column, cells)) = output.text.iter().find(|(_, cells)| cells.len() != output.n_rows) {
        return Err(TableError::Setting(Report::new(
            name,
            format!(
                "the text column {} has {} cells for {} rows",
                quoted(column),
                cells.len(),
                output.n_rows
            ),
            "there must be one text per row",
            "Give as many texts as the table has rows",
        )));
    }
    Ok(())
}

/// Refuses names that a reader could not tell apart.
pub(crate) fn check_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for column in names {
        if !seen.insert(column) {
            return Err(TableError::Setting(Report::new(
                name,
                format!("two columns are called {}", quoted(column)),
                "every column must have a name of its own",
                "Rename one of them",
            )));
        }
    }
    if seen.is_empty() {
        return Err(TableError::Setting(Report::new(
            name,
            "it has no columns",
            "a table must have at least one column",
            "Name some columns",
        )));
    }
    Ok(())
}
