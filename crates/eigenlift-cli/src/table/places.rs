//! Where the columns of a model stand in a table.

use super::{DataAccount, list};
use crate::exit::Failure;
use crate::words::counted;
use std::collections::{HashMap, HashSet};

/// Where a model's columns stand in a table: by name when the table has all of the model's names; by position (`None`) when
/// either side has no names of its own. Cost: linear in the columns, of which gene tables have 10⁵.
pub(crate) fn column_places(
    account: &DataAccount,
    wanted: &[String],
    n_wanted: usize,
    of: &str,
) -> Result<Option<Vec<usize>>, Failure> {
    let have = &account.column_names;
    let places: HashMap<&String, usize> = have.iter().enumerate().map(|(at, name)| (name, at)).collect();
    let place = |name: &String| places.get(name).copied();
    let missing: Vec<String> = wanted.iter().filter(|name| place(name).is_none()).cloned().collect();
    if wanted.is_empty() || (!missing.is_empty() && (numbered(wanted) || numbered(have))) {
        if account.columns == n_wanted {
            return Ok(None);
        }
        return Err(Failure::Input(format!(
            "{}: {} of numbers; {of} has {n_wanted}. Give the same columns; those of DATA are chosen with --columns.",
            account.path.display(),
            counted(account.columns, "column")
        )));
    }
    for (names, owner) in [(wanted, of.to_owned()), (have, account.path.display().to_string())] {
        if let Some(name) = repeated(names) {
            return Err(Failure::Input(format!(
                "{owner} has more than one column called {name:?}; columns are matched by name, so each needs a name of its own. \
                 Rename them in the table, and fit the model again."
            )));
        }
    }
    if missing.is_empty() {
        return Ok(Some(wanted.iter().filter_map(place).collect()));
    }
    Err(Failure::Input(format!(
        "{}: {} of {of}'s columns {} missing: {}; the table must have them all. \
         Rename its columns, or choose those of DATA with --columns.",
        account.path.display(),
        missing.len(),
        if missing.len() == 1 { "is" } else { "are" },
        list(&missing)
    )))
}

/// The first name that occurs twice.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().find(|name| !seen.insert(*name))
}

/// Whether all names are of the kind given to columns without a header: x1, x2, …
pub(crate) fn numbered(names: &[String]) -> bool {
    names.iter().all(|name| name.strip_prefix('x').is_some_and(|n| n.parse::<u32>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(have: &[&str], wanted: &[&str]) -> Result<Option<Vec<usize>>, String> {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let account = DataAccount {
            path: "t.csv".into(),
            columns: have.len(),
            column_names: texts(have),
            ..DataAccount::default()
        };
        column_places(&account, &texts(wanted), wanted.len(), "the model").map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_matched_by_name_and_else_by_position() {
        assert_eq!(places(&["c", "a", "b"], &["a", "b"]), Ok(Some(vec![1, 2])));
        assert_eq!(places(&["x1", "x2"], &["a", "b"]), Ok(None));
        assert_eq!(places(&["a", "b"], &["x1", "x2"]), Ok(None));
        assert_eq!(places(&["a", "b"], &[]), Err("t.csv: 2 columns of numbers; the model has 0. Give the same columns; those of DATA are chosen with --columns.".into()));
        assert!(
            places(&["a", "c"], &["a", "b"]).unwrap_err().contains("1 of the model's columns is missing: b")
        );
    }

    #[test]
    fn a_name_that_stands_for_two_columns_is_refused() {
        // A model of an earlier version may have such names.
        for have in [&["a", "a", "b"][..], &["a", "b", "c"]] {
            let error = places(have, &["a", "a", "b"]).unwrap_err();
            assert!(error.starts_with("the model has more than one column called \"a\""), "{error}");
        }
        assert!(places(&["x1", "x2", "x3"], &["x1", "x1", "x2"]).is_err());
        assert!(places(&["a", "b", "b"], &["a", "b"]).unwrap_err().starts_with("t.csv has more than one"));
        assert_eq!(places(&["x1", "x2", "x3"], &["a", "a", "b"]), Ok(None));
    }
}
