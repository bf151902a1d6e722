//! What is to be predicted for rows.

use crate::error::{Error, Result};

/// What is to be predicted, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Classes, by any numbers.
    Classes(Vec<usize>),
    /// Numbers.
    Numbers(Vec<f64>),
}

impl Labels {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Classes by their names, numbered in the order of the names.
    pub fn of_words<S: AsRef<str>>(words: &[S]) -> Self {
        let mut names: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let number = |word: &S| names.binary_search(&word.as_ref()).unwrap_or(0);
        Self::Classes(words.iter().map(number).collect())
    }

    /// The classes; none where labels are numbers.
    pub fn classes(&self) -> Option<&[usize]> {
        if let Self::Classes(classes) = self { Some(classes) } else { None }
    }

    /// Checks that there is one finite label for each of `n_rows` rows and that they are not all the same.
    ///
    /// # Errors
    /// Says what does not hold.
    pub fn check(&self, n_rows: usize) -> Result<()> {
        let n = self.n_rows();
        if n != n_rows {
            return Err(Error::data(
                format!("{n} labels for {n_rows} rows"),
                "every row needs one label",
                "Give as many labels as rows",
            ));
        }
        let same = match self {
            Self::Classes(classes) => classes.windows(2).all(|pair| pair[0] == pair[1]),
            Self::Numbers(numbers) => {
                if let Some(at) = numbers.iter().position(|y| !y.is_finite()) {
                    return Err(Error::data(
                        format!("the label of row {} is {}", at + 1, numbers[at]),
                        "every label must be finite",
                        "Drop that row",
                    ));
                }
                numbers.windows(2).all(|pair| pair[0] == pair[1])
            }
        };
        if same {
            return Err(Error::data(
                "labels that are all the same",
                "there must be at least two to tell apart",
                "Give labels that differ",
            ));
        }
        Ok(())
    }
}
