//! Fits through features: exact ones, landmarks, or random ones, with rows in memory, from a source or elsewhere.

use super::dual::{Hidden, ROUGH};
use super::fitted::KernelPcaBody;
use super::primal::{Axes, axes};
use super::{FittedKernelPca, KernelPca, Prepared};
use crate::data::AnyPoints;
use crate::eigen::{Certificate, Grounds, LeftOut, SolveStats, rank_threshold};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{Chooser, SAMPLE_SHARE};
use crate::features::{Approximation, FeatureSums, Features, Rank, RowFeatures, SampledError};
use crate::matrix::Matrix;
use crate::model::{Lift, Plan, Route};
use crate::monitoring::{FitRows, measure_fit};
use crate::rows::Pass;
use std::sync::Arc;

/// Fits as planned. Rows in memory also get their scores.
pub(super) fn fit(settings: &KernelPca, prepared: &Prepared<'_>, plan: Plan) -> Result<FittedKernelPca> {
    let mut model = fit_rows(settings, prepared, plan)?;
    if let Some((x, _)) = prepared.rows.points() {
        let (scores, fit_rows) = of_rows_in_memory(&model, x, settings)?;
        (model.scores, model.fit_rows) = (Some(scores), fit_rows);
    }
    Ok(model)
}

/// Scores of the rows of the fit, and how far they lie from their mean.
fn of_rows_in_memory(
    model: &FittedKernelPca,
    x: AnyPoints<'_>,
    settings: &KernelPca,
) -> Result<(Matrix<f64>, FitRows)> {
    let on = (&*model.engine, &settings.features.watch);
    match &model.mean {
        None => Ok((model.projection.project(on.0, x, on.1)?, FitRows::Unknown)),
        Some(mean) => {
            let (scores, squares) = measure_fit(&model.projection, mean, x, on)?;
            Ok((scores, FitRows::Squares(squares)))
        }
    }
}

fn fit_rows(settings: &KernelPca, prepared: &Prepared<'_>, plan: Plan) -> Result<FittedKernelPca> {
    let Prepared { rows, similarity, engine, .. } = prepared;
    let (rows, watch) = (&**rows, &settings.features.watch);
    let low_rank = settings.features.low_rank_or_default(plan.rank);
    let mut chooser =
        Chooser { watch, similarity, plan: &plan, engine, low_rank: &low_rank, ambition: SAMPLE_SHARE };
    let mut rank = match (plan.route, low_rank.rank) {
        (Route::LowRank, Rank::UntilShare(_)) => chooser.first_rank(),
        _ => plan.rank,
    };
    let sample = chooser.sample(rows)?;
    let (pass, mut before) = (Pass { chunk_rows: plan.chunk_rows, watch }, 0);
    loop {
        let (features, complete) = engine.complete(|| chooser.choose(rows, &sample, rank))?;
        let summed = RowFeatures::new(features, plan.n_samples).seeded(plan.seed);
        let sum = rows.feature_sums(&summed, &pass)?;
        let features = summed.features();
        let sampled = features.sampled_error(&sample, plan.seed)?;
        if let (Route::LowRank, Rank::UntilShare(share)) = (plan.route, low_rank.rank) {
            let reached = sampled.map_or(sum.partial.residual_trace() / sum.trace, |error| error.relative());
            if reached > share && !complete {
                // Pivots may have been enough for the sample and not for all rows: aim lower.
                let stopped =
                    plan.approximation == Some(Approximation::Pivoted) && features.dimension() < rank;
                if (rank >= plan.rank && !stopped) || features.dimension() <= before {
                    return Err(out_of_rank(&plan, features.dimension(), reached, share));
                }
                before = features.dimension();
                chooser.ambition *= if stopped { 0.5 } else { 1.0 };
                rank = (rank.max(features.dimension()) * 2).min(plan.rank);
                continue;
            }
        }
        let plan = Plan { rank: features.dimension(), ..plan.clone() };
        let work = Finished { features, sum: &sum, sampled };
        let model = engine.complete(|| finish(settings, plan.clone(), &work, engine.clone()));
        return model;
    }
}

fn out_of_rank(plan: &Plan, rank: usize, reached: f64, share: f64) -> Error {
    let action = if rank < plan.rank {
        "More would add nothing but rounding: ask for a larger share"
    } else {
        "Ask for a larger share, give the number yourself, or allow more memory"
    };
    Error::NotReached {
        found: format!(
            "an error of {reached:.2e} with {rank} landmarks or features, the most that are tried"
        ),
        required: format!("{share:.2e} was asked for"),
        action: action.into(),
    }
}

/// Features with the moments of all rows.
pub(super) struct Finished<'a> {
    pub(super) features: &'a Features,
    pub(super) sum: &'a FeatureSums,
    pub(super) sampled: Option<SampledError>,
}

/// What is known about the axes.
fn certificate(plan: &Plan, work: &Finished<'_>, axes: &Axes) -> Certificate {
    let partial = &work.sum.partial;
    match (plan.route, work.sampled) {
        (Route::Primal, _) => axes.certificate(partial.trace()),
        (_, Some(error)) => Certificate::of_sampled_pairs(error.relative()),
        // Why: (K35) needs a positive semi-definite kernel.
        _ if !work.features.known_valid() => Certificate::of_nothing(),
        (_, None) => {
            let left = LeftOut {
                held: partial.trace(),
                residual_trace: partial.residual_trace(),
                trace: work.sum.trace,
                n_features: partial.dimension(),
            };
            Certificate::of_approximation(&axes.values, axes.next, left, axes.rounding)
        }
    }
}

/// The model of moments: axes, what is known about them, and the account.
pub(super) fn finish(
    settings: &KernelPca,
    mut plan: Plan,
    work: &Finished<'_>,
    engine: Arc<dyn Engine>,
) -> Result<FittedKernelPca> {
    let axes = axes(work.features, work.sum, plan.n_components, &settings.features.watch)?;
    let partial = &work.sum.partial;
    let certificate = certificate(&plan, work, &axes);
    let mut warnings = Vec::new();
    let hidden = Hidden::of(work.sum.trace, partial.trace() + partial.residual_trace())
        .filter(|_| plan.route == Route::LowRank && work.features.known_valid());
    if axes.values.len() < plan.n_components {
        let (asked, exist, m) = (plan.n_components, axes.values.len(), work.features.dimension());
        warnings.push(if exist == m && plan.route == Route::LowRank {
            format!("{asked} components were asked for; {m} landmarks or features give at most {m}")
        } else {
            format!("{asked} components were asked for and {exist} exist: the rest have eigenvalue zero up to rounding")
        });
        if let Some(hidden) = hidden {
            let largest = axes.values.first().copied().unwrap_or(0.0);
            warnings.push(hidden.sentence(rank_threshold(m, largest, work.sum.trace, f64::EPSILON / 2.0)));
        }
    }
    if let Lift::Kernel { samples, .. } = &axes.projection.lift {
        plan.precision = samples.precision().into();
    }
    if axes.values.last().is_some_and(|least| axes.rounding > ROUGH * least) {
        warnings.extend(hidden.map(|hidden| hidden.rounding_sentence(axes.rounding, &plan.precision)));
    }
    Hidden::name_column(&mut warnings, &axes.projection.lift, &settings.column_names);
    warnings.extend(certificate.tie_sentences());
    plan.n_samples = partial.count() as usize;
    let Axes { values, projection, mean, .. } = axes;
    // The largest that the whole trace can be.
    let (held, left) = (partial.trace(), partial.residual_trace());
    let total = match certificate.bounds.grounds {
        Grounds::ResidualTrace => held + left,
        Grounds::Residuals | Grounds::SampledPairs | Grounds::Sketch | Grounds::None => held,
    };
    if plan.route == Route::LowRank && !work.features.known_valid() {
        warnings.push(
            "the kernel is not known to be positive semi-definite: error bounds of landmarks do not hold, and none are given"
                .into(),
        );
    }
    let body = KernelPcaBody {
        mean: Some(mean),
        projection,
        eigenvalues: values,
        centered_trace: total,
        certificate,
        stats: SolveStats::default(),
        choice: None,
        scores: None,
        fit_rows: FitRows::Unknown,
        reference: None,
    };
    Ok(FittedKernelPca { plan, warnings, column_names: settings.column_names.clone(), engine, body })
}
