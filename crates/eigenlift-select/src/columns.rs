//! Columns one after the other, and what is to be predicted from them.

use eigenlift::data::AnyPoints;
use eigenlift::data::Labels;
use eigenlift::error::{Error, Result};

/// Columns named in a message; more are counted.
const SHOWN: usize = 8;

/// Columns of numbers, each in one piece.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    values: Vec<f64>,
    n_rows: usize,
    n_cols: usize,
}

impl Columns {
    /// A copy of the rows, turned.
    ///
    /// # Errors
    /// When entries are missing (NaN) or infinite, with their number in each column.
    pub(crate) fn of(x: AnyPoints<'_>, names: &[String]) -> Result<Self> {
        let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
        if n_rows == 0 || n_cols == 0 {
            return Err(Error::data(
                format!("{n_rows} rows and {n_cols} columns"),
                "features are selected among at least one column of at least one row",
                "Give a table of numbers",
            ));
        }
        let mut values = vec![0.0; n_rows * n_cols];
        let mut row = vec![0.0f64; n_cols];
        for i in 0..n_rows {
            x.copy_row(i, &mut row);
            row.iter().enumerate().for_each(|(j, value)| values[j * n_rows + i] = *value);
        }
        let columns = Self { values, n_rows, n_cols };
        columns.check(names)?;
        Ok(columns)
    }

    fn check(&self, names: &[String]) -> Result<()> {
        let odd = |j: usize| self.column(j).iter().filter(|x| !x.is_finite()).count();
        let found: Vec<(usize, usize)> =
            (0..self.n_cols).map(|j| (j, odd(j))).filter(|(_, count)| *count > 0).collect();
        if found.is_empty() {
            return Ok(());
        }
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("column {}", j + 1));
        let shown: Vec<String> =
            found.iter().take(SHOWN).map(|(j, count)| format!("{} ({count})", name(*j))).collect();
        let more = match found.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more columns"),
        };
        let total: usize = found.iter().map(|(_, count)| count).sum();
        Err(Error::data(
            format!("{total} entries are missing or infinite: {}{more}", shown.join(", ")),
            "a feature is judged on all rows, so every entry must be a finite number",
            "Leave out or fill in those entries, or leave out those columns",
        ))
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_cols(&self) -> usize {
        self.n_cols
    }

    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// Whether all rows are the same in column j.
    pub(crate) fn is_constant(&self, j: usize) -> bool {
        self.column(j).windows(2).all(|pair| pair[0] == pair[1])
    }

    /// These rows of column j.
    pub(crate) fn gathered(&self, j: usize, rows: &[usize]) -> Vec<f64> {
        let column = self.column(j);
        rows.iter().map(|i| column[*i]).collect()
    }

    /// These rows.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Self {
        let values = (0..self.n_cols).flat_map(|j| self.gathered(j, rows)).collect();
        Self { values, n_rows: rows.len(), n_cols: self.n_cols }
    }
}

/// What is to be predicted: classes by number without gaps, or numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Goal {
    Classes { of_rows: Vec<u32>, n_classes: usize },
    Numbers(Vec<f64>),
}

impl Goal {
    pub(crate) fn of(labels: &Labels) -> Self {
        match labels {
            Labels::Numbers(numbers) => Self::Numbers(numbers.clone()),
            Labels::Classes(classes) => {
                let mut names = classes.clone();
                names.sort_unstable();
                names.dedup();
                let number = |class: &usize| names.binary_search(class).unwrap_or(0) as u32;
                Self::Classes { of_rows: classes.iter().map(number).collect(), n_classes: names.len() }
            }
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        match self {
            Self::Classes { of_rows, .. } => of_rows.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// That of these rows; classes keep their numbers.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::Classes { of_rows, n_classes } => {
                Self::Classes { of_rows: rows.iter().map(|i| of_rows[*i]).collect(), n_classes: *n_classes }
            }
            Self::Numbers(numbers) => Self::Numbers(rows.iter().map(|i| numbers[*i]).collect()),
        }
    }
}
