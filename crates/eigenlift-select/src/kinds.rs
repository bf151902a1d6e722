//! Which columns are discrete.

use super::columns::Columns;
use eigenlift::error::{Error, Result};
use serde::Serialize;

/// Distinct values that a column of whole numbers may have and still be taken for discrete.
const MOST_VALUES: usize = 32;

/// How a column is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Values are names: equal or not, and counted.
    Discrete,
    /// Values have distances.
    Continuous,
}

/// Which columns are discrete.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kinds {
    /// Whole numbers, each of at most 32 values and of at most a fifth as many as there are rows, are discrete.
    #[default]
    Auto,
    /// All columns are of this kind.
    All(Kind),
    /// Said for each column.
    Given(Vec<Kind>),
}

impl Kinds {
    /// The kind of each column.
    ///
    /// # Errors
    /// When kinds were given for another number of columns.
    pub(crate) fn of(&self, x: &Columns) -> Result<Vec<Kind>> {
        match self {
            Self::All(kind) => Ok(vec![*kind; x.n_cols()]),
            Self::Auto => Ok((0..x.n_cols()).map(|j| looks(x.column(j))).collect()),
            Self::Given(kinds) if kinds.len() == x.n_cols() => Ok(kinds.clone()),
            Self::Given(kinds) => Err(Error::setting(
                format!("kinds of {} columns where there are {}", kinds.len(), x.n_cols()),
                "there must be one for each column",
                "Give as many",
            )),
        }
    }
}

/// Whether a column looks discrete.
fn looks(column: &[f64]) -> Kind {
    if column.iter().any(|x| x.fract() != 0.0) {
        return Kind::Continuous;
    }
    let most = MOST_VALUES.min((column.len() / 5).max(2));
    let mut seen: Vec<f64> = Vec::with_capacity(most + 1);
    for x in column {
        if !seen.contains(x) {
            seen.push(*x);
            if seen.len() > most {
                return Kind::Continuous;
            }
        }
    }
    Kind::Discrete
}

/// Distinct values of a column by number, in their order, and how many there are.
pub(crate) fn codes(column: &[f64]) -> (Vec<u32>, usize) {
    // −0 is 0.
    let value = |x: &f64| x + 0.0;
    let mut values: Vec<f64> = column.iter().map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let code = |x: &f64| values.partition_point(|v| v < &value(x)) as u32;
    (column.iter().map(code).collect(), values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_whole_numbers_look_discrete() {
        let column = |f: &dyn Fn(usize) -> f64| (0..100).map(f).collect::<Vec<f64>>();
        assert_eq!(looks(&column(&|i| (i % 3) as f64)), Kind::Discrete);
        assert_eq!(looks(&column(&|i| (i % 20) as f64)), Kind::Discrete);
        assert_eq!(looks(&column(&|i| (i % 21) as f64)), Kind::Continuous);
        assert_eq!(looks(&column(&|i| (i % 3) as f64 / 2.0)), Kind::Continuous);
    }

    #[test]
    fn codes_go_by_value() {
        assert_eq!(codes(&[3.0, -1.0, 3.0, 0.0, -0.0]), (vec![2, 0, 2, 1, 1], 3));
    }
}
