//! Which fold a row belongs to.

use crate::matrix::{MatRef, Matrix};
use crate::random::{Purpose, Stream};

/// The fold of each row: sizes differ by at most one, the order is random and fixed by the seed.
pub fn folds_of(n: usize, folds: usize, seed: u64) -> Vec<u32> {
    let mut assigned: Vec<u32> = (0..n).map(|i| (i % folds.max(1)) as u32).collect();
    Stream::new(seed, Purpose::Folds).shuffle(&mut assigned);
    assigned
}

/// As [`folds_of`], with the rows of each class spread evenly over the folds.
pub fn stratified_folds(classes: &[u32], n_classes: usize, folds: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    Stream::new(seed, Purpose::Folds).shuffle(&mut order);
    // Where one class ends the next goes on, so that small classes do not all fill the first folds.
    order.sort_by_key(|row| classes[*row].min(n_classes as u32));
    let mut assigned = vec![0; classes.len()];
    order.iter().enumerate().for_each(|(at, row)| assigned[*row] = (at % folds.max(1)) as u32);
    assigned
}

/// These rows of a matrix.
pub(crate) fn gathered(rows: MatRef<'_, f64>, which: &[usize]) -> Matrix<f64> {
    let mut out = Matrix::zeros(which.len(), rows.n_cols());
    let mut view = out.view_mut();
    which.iter().enumerate().for_each(|(at, i)| view.row_mut(at).copy_from_slice(rows.row(*i)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_balanced_random_and_fixed_by_the_seed() {
        let assigned = folds_of(103, 5, 7);
        for fold in 0..5 {
            let size = assigned.iter().filter(|f| **f == fold).count();
            assert!((20..=21).contains(&size), "{size}");
        }
        assert_eq!(assigned, folds_of(103, 5, 7));
        assert_ne!(assigned, folds_of(103, 5, 8));
    }

    #[test]
    fn each_class_is_spread_evenly() {
        let classes: Vec<u32> = (0..90)
            .map(|i| {
                if i < 60 {
                    0
                } else if i < 77 {
                    1
                } else {
                    2
                }
            })
            .collect();
        let assigned = stratified_folds(&classes, 3, 4, 1);
        for (class, size) in [(0, 60usize), (1, 17), (2, 13)] {
            for fold in 0..4 {
                let rows = classes.iter().zip(&assigned);
                let count = rows.filter(|(c, f)| (**c, **f) == (class, fold)).count();
                assert!(count == size / 4 || count == size / 4 + 1, "class {class}: {count}");
            }
        }
    }
}
