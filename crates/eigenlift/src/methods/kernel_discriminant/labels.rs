//! Classes and folds of rows.

use crate::data::folds::stratified_folds;
use crate::error::{Error, Result};

/// The class and the fold of each row.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) classes: Vec<u32>,
    /// Rows of each class.
    pub(super) counts: Vec<u64>,
    pub(super) names: Vec<String>,
    /// The fold of each row; all 0 when nothing is held out.
    pub(super) folds: Vec<u32>,
    /// 0 when nothing is held out.
    pub(super) n_folds: usize,
}

impl Labels {
    /// # Errors
    /// When there is not one class for each row, fewer than two classes, a class of fewer than 2 rows, or names that do not
    /// fit.
    pub(super) fn new(classes: &[u32], n_rows: usize, names: &[String]) -> Result<Self> {
        if classes.len() != n_rows {
            return Err(Error::data(
                format!("{} classes for {n_rows} rows", classes.len()),
                "each row has one class",
                "Give one class for each row",
            ));
        }
        let most = classes.iter().max().map_or(0, |most| *most as usize + 1);
        let n_classes = if names.is_empty() { most } else { names.len() };
        if most > n_classes || n_classes > n_rows {
            return Err(Error::data(
                format!("class {} where there are {} names and {n_rows} rows", most.max(1) - 1, names.len()),
                "classes are numbered from 0 without gaps, and have a name each or none",
                "Number the classes anew",
            ));
        }
        let mut counts = vec![0u64; n_classes];
        classes.iter().for_each(|class| counts[*class as usize] += 1);
        let names: Vec<String> = match names {
            [] => (0..n_classes).map(|class| class.to_string()).collect(),
            given => given.to_vec(),
        };
        check(&counts, &names)?;
        let folds = vec![0; classes.len()];
        Ok(Self { classes: classes.to_vec(), counts, names, folds, n_folds: 0 })
    }

    /// Spreads the rows of each class over folds, fewer of them when the smallest class has fewer rows.
    pub(super) fn split(mut self, folds: usize, seed: u64, warnings: &mut Vec<String>) -> Self {
        let (smallest, least) = self.smallest();
        let n_folds = folds.min(usize::try_from(least).unwrap_or(usize::MAX));
        if n_folds < folds {
            warnings.push(format!(
                "Rows are held out in {n_folds} folds, not {folds}: class {smallest} has {least} rows."
            ));
        }
        self.n_folds = n_folds;
        if self.n_folds > 1 {
            self.folds = stratified_folds(&self.classes, self.n_classes(), self.n_folds, seed);
        }
        self
    }

    pub(super) fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// Shares of the rows.
    pub(super) fn priors(&self) -> Vec<f64> {
        let n = self.classes.len() as f64;
        self.counts.iter().map(|count| *count as f64 / n).collect()
    }

    fn smallest(&self) -> (&str, u64) {
        let least = self.counts.iter().copied().min().unwrap_or(0);
        let at = self.counts.iter().position(|count| *count == least).unwrap_or(0);
        (self.names.get(at).map_or("", String::as_str), least)
    }
}

fn check(counts: &[u64], names: &[String]) -> Result<()> {
    if counts.len() < 2 {
        return Err(Error::data(
            format!("{} class(es)", counts.len()),
            "discriminants tell at least two classes apart",
            "Give rows of another class, or use kernel PCA, which needs no classes",
        ));
    }
    if let Some((count, name)) = counts.iter().zip(names).find(|(count, _)| **count < 2) {
        return Err(Error::data(
            format!("class {name} has {count} row(s)"),
            "each class needs at least 2, so that it has a variance within",
            "Give more rows of that class, or leave the class out",
        ));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::setting(
            format!("two classes with the name {}", pair[0]),
            "names must tell classes apart",
            "Give each class a name of its own",
        )),
    }
}
