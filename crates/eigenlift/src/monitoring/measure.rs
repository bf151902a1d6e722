//! Scores of rows together with their distances from the mean in feature space.

use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureMap, dot};
use crate::gram::Similarity;
use crate::linalg::{Factor, Onto, combine, gemm, shift_columns};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Lift, Projection};
use crate::progress::Watch;
use crate::rows::{Pass, in_memory};
use rayon::prelude::*;

/// Rows whose features are held at a time.
const PIECE_ROWS: usize = 4096;
/// Rows whose residuals one thread forms at a time.
const PART_ROWS: usize = 512;

/// What is known of rows in feature space.
pub(crate) enum Measured {
    /// ‖φ(x) − mean φ‖² and k(x,x).
    Squares { scores: Matrix<f64>, squares: Vec<f64>, own: Vec<f64> },
    /// The squared distance from the subspace itself.
    Residuals { scores: Matrix<f64>, residuals: Vec<f64> },
}

impl Measured {
    pub(crate) fn into_spe(self, slack: f64) -> Result<Vec<f64>> {
        match self {
            Self::Residuals { residuals, .. } => Ok(residuals),
            Self::Squares { scores, squares, own } => off_components(&squares, &scores, |i| own[i], slack),
        }
    }

    pub(crate) fn scores(&self) -> &Matrix<f64> {
        match self {
            Self::Residuals { scores, .. } | Self::Squares { scores, .. } => scores,
        }
    }
}

/// Coefficients of the components and, behind them, of the mean, over the coordinates of the lift.
pub(super) fn with_mean(projection: &Projection, mean: &FeatureMean) -> Matrix<f64> {
    let a = &projection.coefficients;
    let (n, k) = (a.n_rows(), a.n_cols());
    let even = 1.0 / n.max(1) as f64;
    Matrix::from_fn(n, k + 1, |i, j| match j < k {
        true => a[(i, j)],
        false => mean.coefficients.as_ref().map_or(even, |over| over.get(i).copied().unwrap_or(0.0)),
    })
}

/// Scores and distances of rows. `own` holds k(x,x) where the lift cannot tell it.
///
/// Why one product: the mean is one more column beside the components, and kernel values are computed once.
pub(crate) fn measure(
    projection: &Projection,
    mean: &FeatureMean,
    (x, own): (AnyPoints<'_>, Option<&[f64]>),
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<Measured> {
    if let Lift::Features { kernel, map } = &projection.lift {
        check_columns(x, map.n_features())?;
        kernel.check_points(x)?;
        let result = engine.complete(|| residuals(map, projection, mean, x, watch));
        return result;
    }
    let own = match own {
        Some(own) if own.len() == x.n_rows() => own.to_vec(),
        Some(own) => {
            return Err(Error::data(
                format!("{} values k(x,x) for {} rows", own.len(), x.n_rows()),
                "there must be one for each row",
                "Give k of each row with itself",
            ));
        }
        None => own_values(&projection.lift, x, (engine, watch))?,
    };
    let (scores, along) = scores_and_mean(projection, mean, x, (engine, watch))?;
    let squares = squares(&own, &along, mean);
    Ok(Measured::Squares { scores, squares, own })
}

/// Scores of the rows of a fit, the same as by [`Projection::project`] up to rounding, and ‖φ(x) − mean φ‖² of each.
pub(crate) fn measure_fit(
    projection: &Projection,
    mean: &FeatureMean,
    x: AnyPoints<'_>,
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<(Matrix<f64>, Vec<f64>)> {
    match &projection.lift {
        Lift::Features { kernel, map } => {
            kernel.check_points(x)?;
            engine.complete(|| features_of_fit(map, projection, mean, x, watch))
        }
        Lift::Precomputed { .. } => {
            let own = own_of_fit(&Similarity::Precomputed, x, (engine, watch))?;
            let (scores, along) = scores_and_mean(projection, mean, x, (engine, watch))?;
            Ok((scores, squares(&own, &along, mean)))
        }
        lift => {
            let own = own_values(lift, x, (engine, watch))?;
            let (scores, along) = scores_and_mean(projection, mean, x, (engine, watch))?;
            Ok((scores, squares(&own, &along, mean)))
        }
    }
}

/// k(x,x) − 2⟨φ(x), mean φ⟩ + ‖mean φ‖², (C51).
fn squares(own: &[f64], along: &[f64], mean: &FeatureMean) -> Vec<f64> {
    own.iter().zip(along).map(|(own, along)| own - 2.0 * along + mean.square).collect()
}

/// ‖φ(x) − mean φ‖² − Σ yⱼ², (C50), never below 0. `own` is k(x,x), against which rounding is judged.
pub(crate) fn off_components(
    squares: &[f64],
    scores: &Matrix<f64>,
    own: impl Fn(usize) -> f64,
    slack: f64,
) -> Result<Vec<f64>> {
    let off = |(i, square): (usize, &f64)| {
        let held = dot(scores.row(i), scores.row(i));
        let spe = square - held;
        if spe >= -slack * (own(i).abs() + square.abs() + held) {
            return Ok(spe.max(0.0));
        }
        Err(Error::data(
            format!("row {} with a squared prediction error of {spe:.2e}", i + 1),
            "a squared distance is not below 0: the kernel is not positive semi-definite on this row",
            "Use a kernel that is, or T² alone, which is known from the scores",
        ))
    };
    squares.iter().enumerate().map(off).collect()
}

/// Scores, and ⟨φ(x), mean φ⟩.
fn scores_and_mean(
    projection: &Projection,
    mean: &FeatureMean,
    x: AnyPoints<'_>,
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<(Matrix<f64>, Vec<f64>)> {
    let k = projection.offset.len();
    let mut offset = projection.offset.clone();
    offset.push(0.0);
    let coefficients = with_mean(projection, mean);
    let both =
        Projection { lift: projection.lift.clone(), coefficients, offset }.project(engine, x, watch)?;
    let along = both.column(k);
    Ok((both.into_first_columns(k), along))
}

/// k(x,x) of the rows of a fit: row i of a Gram matrix holds its own at place i.
pub(crate) fn own_of_fit(
    similarity: &Similarity,
    x: AnyPoints<'_>,
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<Vec<f64>> {
    in_memory(x, engine).diagonal(similarity, &Pass::new(watch))
}

/// k(x,x) of each row.
fn own_values(lift: &Lift, x: AnyPoints<'_>, on: (&dyn Engine, &Watch)) -> Result<Vec<f64>> {
    let Lift::Kernel { kernel, samples } = lift else {
        return Err(Error::model(
            "rows of a precomputed Gram matrix",
            "the squared prediction error needs k(x,x) of each row, which k(x, samples) does not tell",
            "Give k(x,x) beside the rows; T² alone is known from the scores",
        ));
    };
    check_columns(x, samples.n_cols())?;
    kernel.check_points(x)?;
    own_of_fit(&Similarity::Kernel(kernel.clone()), x, on)
}

pub(super) fn check_columns(x: AnyPoints<'_>, wanted: usize) -> Result<()> {
    if x.n_cols() == wanted {
        return Ok(());
    }
    Err(Error::data(
        format!("rows of {} columns", x.n_cols()),
        format!("the model was fitted on {wanted}"),
        "Give the same columns, in the same order, as in fit",
    ))
}

/// ‖f(x) − mean f − Σ yⱼwⱼ‖²: the axes are orthonormal in the space of features, so the residual itself is formed.
///
/// Numerics: nothing cancels, unlike in a difference of squares.
fn residuals(
    map: &FeatureMap,
    projection: &Projection,
    mean: &FeatureMean,
    x: AnyPoints<'_>,
    watch: &Watch,
) -> Result<Measured> {
    let (axes, n) = (&projection.coefficients, x.n_rows());
    let mut scores = Matrix::zeros(n, axes.n_cols());
    let mut residuals = Vec::with_capacity(n);
    for (piece, into) in scores.view_mut().row_chunks(PIECE_ROWS).into_iter().enumerate() {
        let from = piece * PIECE_ROWS;
        watch.step("projecting rows", from, n)?;
        let mut rest = centred_features(map, mean, x.rows(from..from + into.n_rows()))?;
        let mut into = into;
        combine(into.reborrow(), Onto::Replace, 1.0, rest.view(), axes.view());
        let found = into.as_ref();
        rest.view_mut().row_chunks(PART_ROWS).into_par_iter().enumerate().for_each(|(part, out)| {
            let rows = part * PART_ROWS..part * PART_ROWS + out.n_rows();
            let (y, axes) = (Factor::Plain(found.rows(rows)), Factor::Transposed(axes.view()));
            gemm(out, Onto::Add, -1.0, y, axes);
        });
        residuals.extend((0..rest.n_rows()).map(|i| dot(rest.row(i), rest.row(i))));
    }
    Ok(Measured::Residuals { scores, residuals })
}

/// f(x) − mean f.
pub(super) fn centred_features(
    map: &FeatureMap,
    mean: &FeatureMean,
    x: AnyPoints<'_>,
) -> Result<Matrix<f64>> {
    let mut features = map.apply(x)?;
    let shift: Vec<f64> = mean.coefficients.iter().flatten().map(|m| -m).collect();
    shift_columns(features.view_mut(), &shift);
    Ok(features)
}

/// Scores with the very operations of [`Projection::project`], so that they are those of a later transform to the last bit.
fn features_of_fit(
    map: &FeatureMap,
    projection: &Projection,
    mean: &FeatureMean,
    x: AnyPoints<'_>,
    watch: &Watch,
) -> Result<(Matrix<f64>, Vec<f64>)> {
    let n = x.n_rows();
    let mut scores = Matrix::zeros(n, projection.offset.len());
    let mut squares = Vec::with_capacity(n);
    let center = mean.coefficients.as_deref().unwrap_or_default();
    for (piece, into) in scores.view_mut().row_chunks(PIECE_ROWS).into_iter().enumerate() {
        let from = piece * PIECE_ROWS;
        watch.step("projecting rows", from, n)?;
        let features = map.apply(x.rows(from..from + into.n_rows()))?;
        combine(into, Onto::Replace, 1.0, features.view(), projection.coefficients.view());
        let square =
            |i: usize| features.row(i).iter().zip(center).map(|(f, m)| (f - m) * (f - m)).sum::<f64>();
        squares.extend((0..features.n_rows()).map(square));
    }
    let shift: Vec<f64> = projection.offset.iter().map(|c| -c).collect();
    shift_columns(scores.view_mut(), &shift);
    Ok((scores, squares))
}
