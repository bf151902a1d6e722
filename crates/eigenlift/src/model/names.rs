//! Names of columns.

use crate::error::{Error, Result};
use std::collections::HashMap;

/// Refuses names that do not fit `d` columns: too few or too many, or the same one twice. No names at all are fine.
pub(crate) fn check_column_names(names: &[String], d: usize) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != d {
        return Err(Error::setting(
            format!("{} column names for {d} columns", names.len()),
            "there must be one for each column, or none",
            "Leave the names out or give all of them",
        ));
    }
    let mut places = HashMap::with_capacity(d);
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = places.insert(name, at) {
            return Err(Error::setting(
                format!("columns {} and {} are both called {name:?}", first + 1, at + 1),
                "every column must have a name of its own, as new data are matched by name",
                "Rename one of them",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_and_told_apart() {
        let check = |names: &[&str], d: usize| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            check_column_names(&names, d).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], 3), Ok(()));
        assert_eq!(check(&["a", "b", "c"], 3), Ok(()));
        assert!(check(&["a", "b"], 3).unwrap_err().starts_with("2 column names for 3 columns;"));
        let twice = check(&["b", "a\u{1b}", "a\u{1b}"], 3).unwrap_err();
        assert!(twice.starts_with("columns 2 and 3 are both called \"a\\u{1b}\";"), "{twice}");
    }
}
