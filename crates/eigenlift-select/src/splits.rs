//! Which rows are learned from and which are held out.

use super::columns::Goal;
use eigenlift::data::folds::{folds_of, stratified_folds};
use eigenlift::error::{Error, Result};
use eigenlift::random::{Purpose, Stream};

/// Rows to learn from and rows to be judged on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Rows learned from.
    pub train: Vec<usize>,
    /// Rows held out.
    pub test: Vec<usize>,
}

/// How rows are held out.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Folds of equal size, drawn at random; with classes, each class is spread evenly over them.
    Folds(usize),
    /// Folds of equal size, drawn at random without a look at the classes.
    Unstratified(usize),
    /// Folds that keep rows of the same group together.
    Grouped {
        /// The group of each row.
        groups: Vec<usize>,
        /// Number of folds.
        n_folds: usize,
    },
    /// One fold with this share of the rows held out; with classes, the same share of each.
    Holdout(f64),
    /// These folds.
    Given(Vec<Fold>),
}

impl Default for Split {
    fn default() -> Self {
        Self::Folds(5)
    }
}

impl Split {
    /// The folds of these rows. Rows learned from are in random order, so that what goes by their order, such as which of equally
    /// near rows are neighbours, does not go by that of the table; folds that were given stay as they are.
    ///
    /// # Errors
    /// When the split does not fit the rows.
    pub(crate) fn folds(&self, goal: &Goal, seed: u64, warnings: &mut Vec<String>) -> Result<Vec<Fold>> {
        let mut folds = self.drawn(goal, seed, warnings)?;
        if !matches!(self, Self::Given(_)) {
            for (number, fold) in folds.iter_mut().enumerate() {
                Stream::numbered(seed, Purpose::TrainingOrder, number as u32).shuffle(&mut fold.train);
            }
        }
        Ok(folds)
    }

    fn drawn(&self, goal: &Goal, seed: u64, warnings: &mut Vec<String>) -> Result<Vec<Fold>> {
        let n = goal.n_rows();
        match self {
            Self::Given(folds) => {
                check_given(folds, n)?;
                Ok(folds.clone())
            }
            Self::Holdout(share) => Ok(vec![holdout(goal, *share, seed)?]),
            Self::Folds(wanted) => {
                let n_folds = possible(*wanted, n, "row", warnings)?;
                Ok(match goal {
                    Goal::Classes { of_rows, n_classes } => {
                        note_small_classes(of_rows, *n_classes, n_folds, warnings);
                        folds_from(&stratified_folds(of_rows, *n_classes, n_folds, seed), n_folds)
                    }
                    Goal::Numbers(_) => folds_from(&folds_of(n, n_folds, seed), n_folds),
                })
            }
            Self::Unstratified(wanted) => {
                let n_folds = possible(*wanted, n, "row", warnings)?;
                Ok(folds_from(&folds_of(n, n_folds, seed), n_folds))
            }
            Self::Grouped { groups, n_folds } => {
                if groups.len() != n {
                    return Err(Error::data(
                        format!("{} groups for {n} rows", groups.len()),
                        "each row has one group",
                        "Give one group for each row",
                    ));
                }
                let sizes = group_sizes(groups);
                let n_folds = possible(*n_folds, sizes.len(), "group", warnings)?;
                Ok(folds_from(&grouped(groups, &sizes, n_folds), n_folds))
            }
        }
    }

    /// The same rule for some of the rows.
    ///
    /// # Errors
    /// When the folds were given row by row.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Result<Self> {
        match self {
            Self::Given(_) => Err(given_folds()),
            Self::Grouped { groups, n_folds } => {
                let groups = rows.iter().filter_map(|i| groups.get(*i).copied()).collect();
                Ok(Self::Grouped { groups, n_folds: *n_folds })
            }
            other => Ok(other.clone()),
        }
    }

    /// The parts of a validation around it: the same rule with that many folds.
    ///
    /// # Errors
    /// When the folds were given row by row.
    pub(crate) fn around(&self, n_folds: usize) -> Result<Self> {
        match self {
            Self::Given(_) => Err(given_folds()),
            Self::Grouped { groups, .. } => Ok(Self::Grouped { groups: groups.clone(), n_folds }),
            Self::Unstratified(_) => Ok(Self::Unstratified(n_folds)),
            Self::Folds(_) | Self::Holdout(_) => Ok(Self::Folds(n_folds)),
        }
    }
}

fn given_folds() -> Error {
    Error::setting(
        "nested validation with folds that were given row by row",
        "a part of the rows is split anew, which needs a rule",
        "Give a number of folds, groups or a share to hold out",
    )
}

/// As many folds as there can be.
fn possible(wanted: usize, n: usize, what: &str, warnings: &mut Vec<String>) -> Result<usize> {
    if wanted < 2 {
        return Err(Error::setting(
            format!("{wanted} folds"),
            "at least 2 are needed, so that rows are left to learn from",
            "Give 2 or more, or hold out a share of the rows",
        ));
    }
    if n < 2 {
        return Err(Error::data(
            format!("{n} {what}(s) to be held out in folds"),
            format!(
                "at least 2 {what}s are needed, also without those of a part that nested validation leaves out"
            ),
            format!("Give more {what}s, or validate without nesting"),
        ));
    }
    if n < wanted {
        warnings.push(format!("{n} folds, not {wanted}: there are {n} {what}s."));
    }
    Ok(wanted.min(n))
}

fn note_small_classes(of_rows: &[u32], n_classes: usize, n_folds: usize, warnings: &mut Vec<String>) {
    let mut sizes = vec![0usize; n_classes];
    of_rows.iter().for_each(|class| sizes[*class as usize] += 1);
    let smallest = sizes.iter().copied().filter(|size| *size > 0).min().unwrap_or(0);
    if smallest < n_folds {
        warnings.push(format!(
            "The smallest class has {smallest} row(s), fewer than the {n_folds} folds: some folds are judged without it."
        ));
    }
}

fn folds_from(assigned: &[u32], n_folds: usize) -> Vec<Fold> {
    let rows = |wanted: &dyn Fn(u32) -> bool| {
        assigned.iter().enumerate().filter(|(_, fold)| wanted(**fold)).map(|(i, _)| i).collect()
    };
    (0..n_folds as u32)
        .map(|fold| Fold { train: rows(&|other| other != fold), test: rows(&|other| other == fold) })
        .collect()
}

/// Groups and their sizes, the largest first.
fn group_sizes(groups: &[usize]) -> Vec<(usize, usize)> {
    let mut sorted = groups.to_vec();
    sorted.sort_unstable();
    let mut sizes: Vec<(usize, usize)> =
        sorted.chunk_by(|a, b| a == b).map(|chunk| (chunk[0], chunk.len())).collect();
    sizes.sort_by_key(|(group, size)| (std::cmp::Reverse(*size), *group));
    sizes
}

/// The largest groups first, each into the fold with the fewest rows so far, (S26).
fn grouped(groups: &[usize], sizes: &[(usize, usize)], n_folds: usize) -> Vec<u32> {
    let mut filled = vec![0usize; n_folds];
    let mut fold_of = std::collections::HashMap::with_capacity(sizes.len());
    for (group, size) in sizes {
        let fold = (0..n_folds).min_by_key(|fold| filled[*fold]).unwrap_or(0);
        filled[fold] += size;
        fold_of.insert(*group, fold as u32);
    }
    groups.iter().map(|group| fold_of.get(group).copied().unwrap_or(0)).collect()
}

/// A share of the rows, of each class the same, at least one row on either side.
fn holdout(goal: &Goal, share: f64, seed: u64) -> Result<Fold> {
    let n = goal.n_rows();
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::setting(
            format!("a share of {share} held out"),
            "it must be above 0 and below 1",
            "Give a share such as 0.25",
        ));
    }
    if n < 2 {
        return Err(Error::data(
            format!("{n} row(s) to hold some out of"),
            "at least 2 are needed",
            "Give more rows",
        ));
    }
    let mut order: Vec<usize> = (0..n).collect();
    Stream::new(seed, Purpose::Holdout).shuffle(&mut order);
    if let Goal::Classes { of_rows, .. } = goal {
        order.sort_by_key(|row| of_rows[*row]);
    }
    // Row number i of this order is held out where the whole part of i·share grows, which spreads the share evenly over classes.
    let offset = Stream::new(seed, Purpose::Holdout).uniform();
    let part = |i: usize| (i as f64 * share + offset).floor();
    let held = |i: usize| part(i + 1) > part(i);
    let mut test: Vec<usize> = (0..n).filter(|i| held(*i)).map(|i| order[i]).collect();
    if test.is_empty() {
        test.push(order[n / 2]);
    }
    if test.len() == n {
        test.pop();
    }
    test.sort_unstable();
    let train = (0..n).filter(|row| test.binary_search(row).is_err()).collect();
    Ok(Fold { train, test })
}

fn check_given(folds: &[Fold], n: usize) -> Result<()> {
    let refuse = |found: String| {
        Err(Error::setting(
            found,
            format!(
                "each fold names rows from 0 to {} to learn from and others to be judged on",
                n.saturating_sub(1)
            ),
            "Correct the folds",
        ))
    };
    if folds.is_empty() {
        return refuse("no folds".into());
    }
    for (number, fold) in folds.iter().enumerate() {
        let number = number + 1;
        if fold.train.is_empty() || fold.test.is_empty() {
            return refuse(format!("fold {number} without rows to learn from or to be judged on"));
        }
        let mut side = vec![0u8; n];
        for (rows, mark) in [(&fold.train, 1), (&fold.test, 2)] {
            for row in rows {
                match side.get_mut(*row) {
                    None => return refuse(format!("row {row} in fold {number} of {n} rows")),
                    Some(seen) if *seen != 0 && *seen != mark => {
                        return refuse(format!("row {row} on both sides of fold {number}"));
                    }
                    Some(seen) => *seen = mark,
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(n: usize) -> Goal {
        Goal::Classes { of_rows: (0..n).map(|i| u32::from(i % 10 < 3)).collect(), n_classes: 2 }
    }

    fn folds(split: &Split, goal: &Goal) -> Vec<Fold> {
        split.folds(goal, 7, &mut Vec::new()).unwrap()
    }

    #[test]
    fn every_row_is_held_out_once_and_classes_are_spread() {
        let goal = classes(100);
        for split in [Split::Folds(5), Split::Unstratified(5)] {
            let folds = folds(&split, &goal);
            let mut seen: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
            assert!(folds.iter().all(|fold| fold.train.len() == 80 && fold.test.len() == 20));
        }
        for fold in folds(&Split::Folds(5), &goal) {
            assert_eq!(fold.test.iter().filter(|i| **i % 10 < 3).count(), 6);
        }
    }

    #[test]
    fn groups_stay_together() {
        let groups: Vec<usize> = (0..60).map(|i| i / 7).collect();
        let goal = classes(60);
        let folds = folds(&Split::Grouped { groups: groups.clone(), n_folds: 3 }, &goal);
        assert_eq!(folds.len(), 3);
        for fold in &folds {
            assert!(fold.test.iter().all(|i| fold.train.iter().all(|j| groups[*i] != groups[*j])));
            assert!((18..=21).contains(&fold.test.len()), "{}", fold.test.len());
        }
        let mut warnings = Vec::new();
        let few = Split::Grouped { groups: (0..60).map(|i| i % 2).collect(), n_folds: 3 };
        assert_eq!(few.folds(&goal, 7, &mut warnings).unwrap().len(), 2);
        assert_eq!(warnings, ["2 folds, not 3: there are 2 groups."]);
    }

    #[test]
    fn a_share_of_each_class_is_held_out() {
        for share in [0.1, 0.25, 0.5, 0.9] {
            let fold = &folds(&Split::Holdout(share), &classes(200))[0];
            assert_eq!(fold.train.len() + fold.test.len(), 200);
            let of_class = fold.test.iter().filter(|i| **i % 10 < 3).count() as f64;
            assert!((of_class - 60.0 * share).abs() <= 1.0, "{of_class}");
            assert!((fold.test.len() as f64 - 200.0 * share).abs() <= 1.0);
        }
        for share in [1e-9, 1.0 - 1e-9] {
            let fold = &folds(&Split::Holdout(share), &Goal::Numbers(vec![1.0, 2.0]))[0];
            assert_eq!((fold.train.len(), fold.test.len()), (1, 1));
        }
        assert!(Split::Holdout(1.0).folds(&classes(9), 0, &mut Vec::new()).is_err());
    }

    #[test]
    fn given_folds_are_checked() {
        let goal = classes(4);
        let refused = |train: &[usize], test: &[usize]| {
            let fold = Fold { train: train.to_vec(), test: test.to_vec() };
            Split::Given(vec![fold]).folds(&goal, 0, &mut Vec::new()).unwrap_err().to_string()
        };
        assert!(refused(&[0, 1], &[1, 2]).starts_with("row 1 on both sides of fold 1"));
        assert!(refused(&[0, 4], &[1]).starts_with("row 4 in fold 1 of 4 rows"));
        assert!(refused(&[], &[1]).starts_with("fold 1 without rows"));
    }
}
