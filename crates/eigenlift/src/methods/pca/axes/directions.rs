//! Leading axes of a sketch, with what is proved about them.

use super::{Axes, Known, U, Unit, Wanted, widen_shares};
use crate::eigen::{Certificate, EigenPairs, Sketched, SolveStats};
use crate::error::{Error, Result};
use crate::linalg::{column_norms, right_singular, scale_columns};
use crate::moments::Directions;
use crate::rows::scales;

/// Rounding of sums of squares, relative.
const SUM_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Right singular vectors of the sketch B, or of BD⁻¹, (P13). Each nλ lies between σ² and σ² + Δ.
///
/// Cost: about 6·d·p² flops for a sketch of p ≤ 2ℓ rows.
pub(crate) fn of_directions(sum: &Directions, wanted: Wanted) -> Result<Axes> {
    let Wanted { k, standardized, .. } = wanted;
    let scale = standardized.then(|| scales(sum.mean(), sum.squares().iter().copied(), sum.weight()));
    let mut rows = sum.rows().clone();
    let mut slack = sum.slack();
    let mut trace = sum.trace();
    if let Some(scale) = &scale {
        slack = scaled_slack(sum, scale);
        trace = sum.squares().iter().zip(scale).map(|(square, s)| square / (s * s)).sum();
        let inverse: Vec<f64> = scale.iter().map(|s| 1.0 / s).collect();
        scale_columns(rows.view_mut(), &inverse);
    }
    let (count, weight, mean) = (sum.count() as usize, sum.weight(), sum.mean().to_vec());
    // Rows alone have another unit: below, nothing is squared twice.
    let unit = Unit::of(trace, &mean)?;
    rows.as_mut_slice().iter_mut().for_each(|x| *x *= unit.rows());
    let known = Known { wanted, count, weight, mean, scale, unit: Unit::default(), trace };
    known.refuse_unusable()?;
    let (mut singular, vectors) = right_singular(rows.view())?;
    singular.iter_mut().for_each(|s| *s /= unit.rows());
    let largest = singular.first().copied().unwrap_or(0.0);
    // Bound on the absolute error of every singular value, that of all cuts included.
    let solved = 4.0 * U * ((singular.len() as f64).sqrt() * largest + trace.sqrt());
    let error = solved + sum.rounding() * trace.sqrt() + known.of_entries().sqrt();
    let threshold = error * error;
    let all: Vec<f64> = singular.iter().map(|s| s * s).collect();
    if slack > threshold && all.first().is_none_or(|first| *first <= threshold) {
        return Err(no_direction(sum));
    }
    let sketched = Sketched { held: all.iter().sum(), trace, slack, rounding: error + 3.0 * solved };
    let is_whole = slack <= threshold;
    let kept = k.min(all.len());
    let pairs = EigenPairs {
        values: all[..kept].to_vec(),
        vectors: vectors.view().first_columns(kept).to_matrix(),
        residuals: vec![0.0; kept],
        next: all.get(kept).copied(),
        all: is_whole.then(|| all.clone()),
        basis: None,
        stats: SolveStats { iterations: 1, passes: 1, products: sum.rows().n_rows() },
    };
    let of_trace = known.of_trace();
    let mut axes = known.finish(pairs, threshold, 0.0, None)?;
    let next = all.get(axes.values.len()).copied();
    axes.certificate = Certificate::of_sketch(&axes.values, next, sketched);
    widen_shares(&mut axes.certificate, trace, of_trace);
    axes.is_whole = is_whole;
    Ok(axes)
}

/// A bound on ‖D⁻¹ED⁻¹‖ for E = M₂ − BᵀB with 0 ⪯ E ⪯ ΔI, whose diagonal eᵢ is known: the norm of a positive semi-definite matrix
/// is at most the sum of those of its two diagonal blocks, so for any set S of columns, (P13),
///
/// ```text
/// ‖D⁻¹ED⁻¹‖ ≤ Σ_{i∈S} eᵢ/sᵢ² + Δ/min_{i∉S} sᵢ².
/// ```
///
/// The best S holds the columns of smallest spread, up to one of them. None of them gives Δ/min sᵢ², all of them the trace.
///
/// Cost: d·log d, and one reading of the sketch.
fn scaled_slack(sum: &Directions, scale: &[f64]) -> f64 {
    let rounding = SUM_ROUNDING + 2.0 * sum.rounding();
    let held = column_norms(sum.rows().view());
    let lost = |j: usize| {
        let square = sum.squares()[j];
        ((square - held[j] * held[j]).max(0.0) + rounding * square).min(square)
    };
    let mut order: Vec<usize> = (0..scale.len()).collect();
    order.sort_by(|a, b| scale[*a].total_cmp(&scale[*b]));
    let (mut inside, mut best) = (0.0, f64::INFINITY);
    for j in order {
        let square = scale[j] * scale[j];
        best = f64::min(best, inside + sum.slack() / square);
        inside += lost(j) / square;
    }
    best.min(inside)
}

fn no_direction(sum: &Directions) -> Error {
    Error::data(
        format!("a sketch of {} rows in which no direction stands out", sum.size()),
        "the variance along some directions must exceed that along the others",
        "Give the sketch more rows, or use another route: rows that can be read again have exact ones",
    )
}
