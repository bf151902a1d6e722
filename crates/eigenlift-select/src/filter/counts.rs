//! χ² of counts against classes, docs/theory (S12).

use crate::columns::{Columns, Goal};
use crate::information::FeatureScore;
use eigenlift::error::{Error, Result};
use eigenlift::progress::Watch;
use eigenlift::stats::chi_squared_tail;

/// χ² = Σ_c (o_c − e_c)²/e_c of each column and its p-value, with o_c the sum of the column over class c and e_c the share of
/// the class in the rows times the sum of the column, (S12). A column of zeros has 0 and p = 1.
///
/// Cost: one pass over each column.
///
/// # Errors
/// With numbers as labels, with a negative entry, and when the work is cancelled.
pub(super) fn scores(x: &Columns, goal: &Goal, watch: &Watch) -> Result<Vec<FeatureScore>> {
    let Goal::Classes { of_rows, n_classes } = goal else {
        return Err(Error::setting(
            "chi2 with numbers as labels",
            "it compares the sums of a column over classes",
            "Give classes, or choose another filter, such as f or mi",
        ));
    };
    let mut shares = vec![0.0; *n_classes];
    of_rows.iter().for_each(|class| shares[*class as usize] += 1.0);
    shares.iter_mut().for_each(|share| *share /= x.n_rows() as f64);
    super::each_column(x.n_cols(), watch, |j| score((j, x.column(j)), of_rows, &shares))
}

fn score((j, x): (usize, &[f64]), of_rows: &[u32], shares: &[f64]) -> Result<FeatureScore> {
    if let Some(i) = x.iter().position(|x| *x < 0.0) {
        return Err(Error::data(
            format!("row {}, column {} is {}", i + 1, j + 1, x[i]),
            "chi2 takes counts and other amounts, which are not negative",
            "Shift the column, or choose another filter, such as f or mi",
        ));
    }
    let mut observed = vec![0.0; shares.len()];
    x.iter().zip(of_rows).for_each(|(x, class)| observed[*class as usize] += x);
    let whole: f64 = observed.iter().sum();
    let present = shares.iter().filter(|share| **share > 0.0).count();
    if whole == 0.0 || present < 2 {
        return Ok(FeatureScore { p_value: Some(1.0), ..FeatureScore::default() });
    }
    let term = |(observed, share): (&f64, &f64)| {
        let expected = share * whole;
        if expected > 0.0 { (observed - expected).powi(2) / expected } else { 0.0 }
    };
    let value: f64 = observed.iter().zip(shares).map(term).sum();
    let p_value = Some(chi_squared_tail((present - 1) as f64, value));
    Ok(FeatureScore { value, p_value, ..FeatureScore::default() })
}
