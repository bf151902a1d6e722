//! Which columns of a file are data, and which is the target.

use std::collections::HashMap;

use crate::error::{Report, Result, TableError, name_list, quoted};

/// The columns asked for, as positions in the file from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Columns that may be data, in the order asked for.
    pub(crate) data: Vec<usize>,
    /// Whether `data` was asked for by name, so that text in it is an error.
    pub(crate) explicit: bool,
    pub(crate) target: Option<usize>,
}

impl Selection {
    /// Resolves `--columns` and `--target` against the names of a file.
    pub(crate) fn resolve(
        file: &str,
        names: &[String],
        columns: Option<&str>,
        target: Option<&str>,
    ) -> Result<Self> {
        if names.is_empty() {
            return Err(TableError::Layout(Report::new(
                file,
                "it has no columns",
                "a table must have at least one column",
                "Check that the file was written completely",
            )));
        }
        let known = Known::new(file, names);
        known.refuse_repeated()?;
        let target = match target {
            Some(wanted) => Some(known.column(wanted).ok_or_else(|| known.unknown("--target", wanted))?),
            None => None,
        };
        let mut data = match columns {
            Some(list) => known.list("--columns", list)?,
            None => (0..names.len()).collect(),
        };
        data.retain(|&column| Some(column) != target);
        if data.is_empty() {
            return Err(TableError::Selection(Report::new(
                file,
                "the target is the only column chosen",
                "at least one column must be data",
                "Name more columns with --columns, or choose another --target",
            )));
        }
        Ok(Self { data, explicit: columns.is_some(), target })
    }
}

/// Places from 0 of the columns that a list such as `1-3,width` names, among `names`; `option` is what it is called in messages.
///
/// # Errors
/// When an item is neither a name, nor a position from 1, nor a range of these.
pub fn named_places(file: &str, option: &str, names: &[String], list: &str) -> Result<Vec<usize>> {
    Known::new(file, names).list(option, list)
}

/// The columns of one file, by name and position.
struct Known<'a> {
    file: &'a str,
    names: &'a [String],
    positions: HashMap<&'a str, usize>,
}

impl<'a> Known<'a> {
    fn new(file: &'a str, names: &'a [String]) -> Self {
        let positions = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        Self { file, names, positions }
    }

    /// Refuses names that occur twice: a column that is asked for by such a name could be either.
    fn refuse_repeated(&self) -> Result<()> {
        let repeated = |(i, name): &(usize, &String)| self.positions.get(name.as_str()) != Some(i);
        let Some((i, name)) = self.names.iter().enumerate().find(repeated) else { return Ok(()) };
        let other = self.positions.get(name.as_str()).copied().unwrap_or_default();
        Err(TableError::Layout(Report::new(
            self.file,
            format!("columns {} and {} are both called {}", i + 1, other + 1, quoted(name)),
            "every column must have a name of its own",
            "Rename one of them and write the file again",
        )))
    }

    /// A column by name, else by position from 1.
    fn column(&self, wanted: &str) -> Option<usize> {
        let wanted = wanted.trim();
        self.positions.get(wanted).copied().or_else(|| {
            let position: usize = wanted.parse().ok()?;
            (1..=self.names.len()).contains(&position).then(|| position - 1)
        })
    }

    /// The columns of a list such as `1-3,petal_width,7`; one named twice counts once.
    fn list(&self, option: &str, list: &str) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        let mut seen = vec![false; self.names.len()];
        for item in split_list(list) {
            let (first, last) = self.item(option, &item)?;
            for column in first..=last {
                if let Some(mark) = seen.get_mut(column)
                    && !std::mem::replace(mark, true)
                {
                    chosen.push(column);
                }
            }
        }
        Ok(chosen)
    }

    /// The first and last column that one item of a list stands for.
    fn item(&self, option: &str, item: &str) -> Result<(usize, usize)> {
        if let Some(column) = self.column(item) {
            return Ok((column, column));
        }
        // A name may hold a hyphen itself, so every hyphen is tried as the one between two ends.
        for (hyphen, _) in item.match_indices('-') {
            let (Some(first), Some(last)) = (item.get(..hyphen), item.get(hyphen + 1..)) else { continue };
            if let (Some(first), Some(last)) = (self.column(first), self.column(last)) {
                if first > last {
                    return Err(TableError::Selection(Report::new(
                        self.file,
                        format!("the range {} in {option} runs backwards", quoted(item)),
                        "a range goes from left to right",
                        "Swap its ends",
                    )));
                }
                return Ok((first, last));
            }
        }
        Err(self.unknown(option, item))
    }

    fn unknown(&self, option: &str, wanted: &str) -> TableError {
        let found = if wanted.trim().is_empty() {
            format!("{option} has an empty name")
        } else {
            format!("{option} names {}, which is not a column", quoted(wanted))
        };
        TableError::Selection(Report::new(
            self.file,
            found,
            format!("a column is given by its name or by a position from 1 to {}", self.names.len()),
            format!("Choose among {}", name_list(self.names)),
        ))
    }
}

/// Splits at commas; double quotes protect a comma inside a name.
fn split_list(list: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut protected = false;
    for c in list.chars() {
        match (c, items.last_mut()) {
            ('"', _) => protected = !protected,
            (',', _) if !protected => items.push(String::new()),
            (c, Some(item)) => item.push(c),
            (_, None) => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(columns: Option<&str>, target: Option<&str>) -> Result<Selection> {
        let names = ["a", "b", "petal-width", "7", "a-b", "c,d"].map(str::to_owned);
        Selection::resolve("f.csv", &names, columns, target)
    }

    #[test]
    fn names_positions_and_ranges() {
        for (list, data) in [
            ("1-3", vec![0, 1, 2]),
            ("b,1", vec![1, 0]),
            ("a-b", vec![4]),
            ("a-petal-width", vec![0, 1, 2]),
            ("petal-width-7", vec![2, 3]),
            ("7", vec![3]),
            (" 2 , 2,1-2", vec![1, 0]),
            ("\"c,d\",a", vec![5, 0]),
        ] {
            let selection = resolve(Some(list), None).expect(list);
            assert_eq!(selection.data, data, "{list}");
            assert!(selection.explicit);
        }
    }

    #[test]
    fn another_option_is_named_in_messages() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(named_places("f.csv", "--view", &names, "c,1-2").expect("known columns"), [2, 0, 1]);
        for (list, message) in [("z", "--view names \"z\""), ("c-a", "in --view runs backwards")] {
            let error = named_places("f.csv", "--view", &names, list).expect_err(list).to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn the_target_is_kept_out_of_the_data() {
        let selection = resolve(Some("1-3"), Some("b")).expect("known columns");
        assert_eq!((selection.data, selection.target), (vec![0, 2], Some(1)));
        let selection = resolve(None, Some("6")).expect("known position");
        assert_eq!((selection.data, selection.target), (vec![0, 1, 2, 3, 4], Some(5)));
    }

    #[test]
    fn unknown_columns_are_refused() {
        for (list, message) in [
            ("z", "--columns names \"z\", which is not a column"),
            ("0", "a position from 1 to 6"),
            ("3-1", "runs backwards"),
            ("a,,b", "--columns has an empty name"),
            ("1-99", "Choose among \"a\", \"b\""),
        ] {
            let error = resolve(Some(list), None).expect_err(list).to_string();
            assert!(error.contains(message), "{error}");
        }
        let error = resolve(Some("2"), Some("b")).expect_err("nothing left").to_string();
        assert!(error.contains("the target is the only column chosen"), "{error}");
    }
}
