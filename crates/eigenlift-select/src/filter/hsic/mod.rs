//! Dependence by kernels (Hilbert–Schmidt independence criterion), docs/theory (S13) to (S15).

mod factor;
mod pairs;
mod similarity;
#[cfg(test)]
mod tests;

use super::FilterSettings;
use crate::columns::{Columns, Goal};
use crate::information::FeatureScore;
use eigenlift::data::Points;
use eigenlift::error::Result;
use eigenlift::matrix::MatRef;
use eigenlift::progress::Watch;
use eigenlift::random::{Purpose, Stream};
use factor::SHARE;
use rayon::prelude::*;
use similarity::Similarity;

/// Numbers that the factors of columns may take together, and columns of a factor that are reckoned with.
const NUMBERS: usize = 1 << 25;
const USUAL_RANK: usize = 64;
/// Columns that are compared with the labels at once.
const MOST_AT_ONCE: usize = 64;
/// Dependences that differ by less are equal.
const TIE: f64 = 1e-12;

/// HSIC(x, y)/√(HSIC(x, x)·HSIC(y, y)), (S15), of each column with the goal, with
///
///   HSIC(x, y) = tr(KHLH)/(n − 1)²,   H = I − 11ᵀ/n,   (S13)
///
/// K the kernel of the column, L the same kernel of numbers with a bandwidth of their own, or 1 where classes are equal.
/// Between 0 and 1 for kernels that are positive semi-definite; 0 for a constant column. With K ≈ GGᵀ and L ≈ FFᵀ it is
/// HSIC = ‖GᵀHF‖²/(n − 1)², (S14).
///
/// With B permutations of the labels p = (1 + #{HSIC of a permutation not below})/(B + 1), (S7); family-wise by the largest value
/// of all columns.
///
/// Cost: for each column n·r² for the factor of r columns, for each permutation n·r with classes and n·r·q with numbers whose
/// factor has q columns. A kernel whose factor would be long (a Laplacian one, or a Gaussian on a column with many values far
/// from all others) or that is not known to be positive semi-definite costs n² values for each column and permutation, in O(n) memory.
///
/// # Errors
/// When the kernel cannot take a column or the numbers to be predicted, and when the work is cancelled.
pub(super) fn scores(
    (x, goal): (&Columns, &Goal),
    settings: &FilterSettings,
    watch: &Watch,
) -> Result<Vec<FeatureScore>> {
    let (d, seed) = (x.n_cols(), settings.seed);
    let side = |name: &(dyn Fn() -> String + Sync), column| {
        Similarity::of_numbers(&settings.kernel, (name, column), (SHARE, seed), watch)
    };
    let goal = match goal {
        Goal::Classes { of_rows, n_classes } => Similarity::of_classes(of_rows, *n_classes),
        Goal::Numbers(numbers) => side(&|| "the labels".into(), numbers)?,
    };
    let mut found = Found { values: Vec::with_capacity(d), above: Vec::new(), largest: Vec::new() };
    found.largest.resize(settings.permutations, f64::NEG_INFINITY);
    let width = (NUMBERS / USUAL_RANK / x.n_rows().max(1)).clamp(1, MOST_AT_ONCE);
    for start in (0..d).step_by(width) {
        watch.step("features", start, d)?;
        let made: Vec<Result<Option<Similarity<'_>>>> = (start..(start + width).min(d))
            .into_par_iter()
            .map(|j| side(&|| format!("column {}", j + 1), x.column(j)))
            .collect();
        let block: Vec<Option<Similarity<'_>>> = made.into_iter().collect::<Result<_>>()?;
        found.add(&block, goal.as_ref(), seed, watch)?;
    }
    watch.step("features", d, d)?;
    Ok(found.scores())
}

/// A column as rows of one number.
fn points(column: &[f64]) -> Result<Points<'_, f64>> {
    Ok(Points::Dense(MatRef::new(column, column.len(), 1)?))
}

/// Dependences of the columns so far.
struct Found {
    values: Vec<f64>,
    /// Permutations that were not below each of them.
    above: Vec<usize>,
    /// The largest of each permutation.
    largest: Vec<f64>,
}

impl Found {
    /// The dependences of further columns.
    fn add(
        &mut self,
        block: &[Option<Similarity<'_>>],
        goal: Option<&Similarity<'_>>,
        seed: u64,
        watch: &Watch,
    ) -> Result<()> {
        let of = |column: &Option<Similarity<'_>>, order: Option<&[usize]>| match (column, goal) {
            (Some(column), Some(goal)) => column.normalised(goal, order, watch),
            _ => Ok(0.0),
        };
        let values: Vec<f64> = block.par_iter().map(|column| of(column, None)).collect::<Result<_>>()?;
        let permuted = |b: usize| {
            watch.check()?;
            let mut order: Vec<usize> = (0..goal.map_or(0, Similarity::n_rows)).collect();
            Stream::numbered(seed, Purpose::SelectionPermutations, b as u32).shuffle(&mut order);
            block.iter().map(|column| of(column, Some(&order))).collect::<Result<Vec<f64>>>()
        };
        let null: Vec<Vec<f64>> =
            (0..self.largest.len()).into_par_iter().map(permuted).collect::<Result<_>>()?;
        for (at, value) in values.iter().enumerate() {
            self.above.push(null.iter().filter(|null| null[at] >= value - TIE).count());
        }
        for (largest, null) in self.largest.iter_mut().zip(&null) {
            *largest = null.iter().fold(*largest, |a, b| a.max(*b));
        }
        self.values.extend(values);
        Ok(())
    }

    fn scores(self) -> Vec<FeatureScore> {
        let count = self.largest.len();
        let p_value = |above: usize| (count > 0).then(|| (1 + above) as f64 / (count + 1) as f64);
        let score = |(value, above): (&f64, &usize)| FeatureScore {
            value: *value,
            error: None,
            p_value: p_value(*above),
            family_p_value: p_value(self.largest.iter().filter(|largest| **largest >= value - TIE).count()),
        };
        self.values.iter().zip(&self.above).map(score).collect()
    }
}
