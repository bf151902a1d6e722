//! A table in memory.

use std::fmt;
use std::str::FromStr;

use crate::error::{Report, TableError, quoted};

/// A table in memory: numbers row by row, text columns set aside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Names of the columns of numbers: from the header, or `x1`, `x2`, … by position in the file.
    pub names: Vec<String>,
    /// Number of rows, after rows were dropped.
    pub n_rows: usize,
    /// The numbers, row-major, `n_rows` × `names.len()`; all finite.
    pub values: Vec<f64>,
    /// Columns of text alone, in file order.
    pub text: Vec<TextColumn>,
    /// The target column, kept out of the data.
    pub target: Option<Target>,
    /// Rows left out because a cell was missing.
    pub dropped_rows: usize,
    /// Missing cells filled with the mean of their column.
    pub imputed_cells: usize,
    /// Whether the file itself held single-precision numbers.
    pub single_precision: bool,
    /// Whether the header line has a number in it: a file without a header whose first row has text looks like that,
    /// and its first row was then taken for names.
    pub number_in_header: bool,
    /// The first column that holds integers of ±2⁵³ or beyond, where double precision no longer has every integer: they are
    /// rounded.
    pub large_integers: Option<String>,
}

impl Table {
    /// Number of columns of numbers.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.names.len()
    }

    /// The numbers of one row.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<&[f64]> {
        let width = self.names.len();
        self.values.get(row.checked_mul(width)?..row.checked_add(1)?.checked_mul(width)?)
    }
}

/// A column of text alone, carried along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// Its position in the file, from 0; in an NPZ file the position of its member.
    pub position: usize,
    /// One text per row; missing cells as they were written.
    pub values: Vec<String>,
}

/// The target column, kept out of the data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// One text per row, without surrounding blanks.
    pub values: Vec<String>,
    /// Whether every value is a number.
    pub numeric: bool,
}

/// What to do about missing cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Missing {
    /// Refuse the table and say where they are.
    #[default]
    Error,
    /// Leave out the rows that have one.
    Drop,
    /// Fill each with the mean of its column.
    Mean,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Drop => "drop",
            Self::Mean => "mean",
        })
    }
}

impl FromStr for Missing {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        match text {
            "error" => Ok(Self::Error),
            "drop" => Ok(Self::Drop),
            "mean" => Ok(Self::Mean),
            _ => Err(TableError::Setting(Report::new(
                "--missing",
                format!("{} is not a way to treat missing cells", quoted(text)),
                "it must be error, drop or mean",
                "Use one of those",
            ))),
        }
    }
}
