//! Kernel PCA as a model: its file, declared, and what any model can do.

use super::FittedKernelPca;
use super::fitted::KernelPcaBody;
use crate::data::AnyPoints;
use crate::eigen::{Bounds, Certificate, Indefinite, SolveStats};
use crate::error::{Error, Result};
use crate::kernel::KernelSpec;
use crate::matrix::Matrix;
use crate::model::{
    Arrays, Body, Declared, Dim, FeatureMean, Header, Lift, LiftRecord, MapRecord, On, Out, Plan, Route,
    Rule, SAVE_AGAIN, Table, kernel_text, shown,
};
use crate::monitoring::{FitRows, Novelty, Reference, ScoreMoments};
use crate::preimage::Preimage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Rounding allowed between a number written in words and the same number in an array.
const WORDS: f64 = 1e-12;

const ABOVE_ZERO: &str = "a component that is kept has an eigenvalue above 0";
const IN_ORDER: &str = "eigenvalues must be in descending order";
const DISTANCES: &[Rule] = &[Rule::NonNegative("T² and squared prediction errors are not negative")];
/// T² and squared prediction errors of samples of the fit, by the model itself.
const FIT: &str = "novelty.fit";
/// The same by cross-validation.
const FOLDS: &str = "novelty.folds";
/// Moments of the scores of these samples.
const MOMENTS: &str = "novelty.scores";
/// Mark of models whose negative eigenvalues were flipped.
const FLIPPED: &str = "flipped";
/// Mark of all others.
const VALID: &str = "valid";

/// Arrays beside those of the projection. Files of earlier versions have no mean; only fits of rows in memory know T² and errors of
/// their samples, by the fit itself or by cross-validation; kernels whose rows are taken from an origin have one.
const ARRAYS: [Declared; 14] = [
    Declared::f64("eigenvalues", &[Dim::Of("scores")])
        .with(VALID)
        .rules(&[Rule::Positive(ABOVE_ZERO), Rule::Descending(IN_ORDER)]),
    Declared::f64("eigenvalues", &[Dim::Of("scores")])
        .with(FLIPPED)
        .rules(&[Rule::NonZero(ABOVE_ZERO), Rule::DescendingMagnitude(IN_ORDER)]),
    Declared::f64("centered_trace", &[Dim::Is(1)]),
    Declared::f64("rounding", &[Dim::Is(1)])
        .rules(&[Rule::NonNegative("a bound on an error is not negative")]),
    Declared::f64("residuals", &[Dim::Of("residuals")])
        .rules(&[Rule::NonNegative("a residual is not negative")]),
    Declared::f64("intervals", &[Dim::Of("intervals"), Dim::Is(2)])
        .rules(&[Rule::Intervals("the lower bound comes first")]),
    Declared::f64("mean", &[Dim::Of("mean")]).optional(),
    Declared::f64("mean_square", &[Dim::Is(1)]).optional(),
    Declared::f64("origin", &[Dim::Of("row")]).optional(),
    Declared::f64(FIT, &[Dim::Is(2), Dim::Of("fit rows")]).optional().rules(DISTANCES),
    Declared::f64(FOLDS, &[Dim::Is(2), Dim::Of("fold rows")]).optional().rules(DISTANCES),
    Declared::f64(MOMENTS, &[Dim::Of("components with moments"), Dim::Is(ScoreMoments::NUMBERS)]).optional(),
    Declared::ignored("novelty.moments"),
    Declared::ignored("novelty.quantiles"),
];

/// What the header says of a kernel PCA beside its plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The kernel with every parameter known.
    kernel: String,
    /// tr(K_c): the total variance in feature space times n. The array of that name holds every bit of it.
    centered_trace: f64,
    /// Bound on the rounding error behind the certificate. The array of that name holds every bit of it.
    rounding: f64,
    /// What is known about all eigenvalues together.
    #[serde(default)]
    bounds: Bounds,
    /// Groups of components that are determined only as a subspace, see [`crate::eigen::Certificate::ties`].
    ties: Vec<(usize, usize)>,
    /// What the solve took.
    stats: SolveStats,
}

/// The lift, as the plan and the kernel tell it.
fn lift(header: &Header, plan: &Plan, record: &Record) -> LiftRecord {
    let precomputed = record.kernel == KernelSpec::Precomputed.to_string();
    let n_lifted = match plan.route {
        Route::Dual => header.n_samples,
        Route::LowRank if precomputed => header.n_samples,
        Route::Primal | Route::LowRank => plan.rank,
    };
    let map = match plan.route {
        _ if precomputed => None,
        Route::Dual => None,
        Route::Primal => Some(MapRecord::Exact),
        Route::LowRank => MapRecord::of(plan.approximation, plan.seed),
    };
    LiftRecord {
        kernel: record.kernel.clone(),
        n_features: header.n_features,
        n_lifted,
        precision: header.precision.clone(),
        map,
    }
}

impl Body for KernelPcaBody {
    type Plan = Plan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["kpca"];

    fn n_components(model: &FittedKernelPca) -> usize {
        model.eigenvalues.len()
    }

    fn stats(model: &FittedKernelPca) -> Option<SolveStats> {
        Some(model.stats)
    }

    fn project(model: &FittedKernelPca, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.projection.project(on.0, x, on.1)
    }

    fn invert(model: &FittedKernelPca, scores: &Matrix<f64>, on: On<'_>) -> Result<Matrix<f64>> {
        Ok(model.inverse_on(&Preimage::new(), on.0, scores, on.1)?.rows)
    }

    fn denoise(model: &FittedKernelPca, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        Ok(model.denoise_on(&Preimage::new(), on.0, x, on.1)?.rows)
    }

    fn record(model: &FittedKernelPca) -> Result<Record> {
        let kernel = match &model.projection.lift {
            Lift::Precomputed { .. } | Lift::Rows { .. } | Lift::Manifold(_) => {
                KernelSpec::Precomputed.to_string()
            }
            Lift::Kernel { kernel, .. } | Lift::Features { kernel, .. } => kernel_text(kernel)?,
        };
        Ok(Record {
            kernel,
            centered_trace: model.centered_trace,
            rounding: model.certificate.rounding,
            bounds: model.certificate.bounds,
            ties: model.certificate.ties.clone(),
            stats: model.stats,
        })
    }

    fn check(header: &Header, plan: &Plan, record: &Record) -> Result<()> {
        check_counts(header, plan)?;
        let k = header.n_components;
        if plan.kernel != record.kernel {
            let found = format!(
                "a plan for the kernel {} in a model of {}",
                shown(&plan.kernel),
                shown(&record.kernel)
            );
            return bad(found, "the plan and the model must agree");
        }
        if plan.precision != header.precision {
            let found =
                format!("precision {} planned as {}", shown(&header.precision), shown(&plan.precision));
            return bad(found, "it must be as planned");
        }
        let n = header.n_samples;
        if let Some((first, last)) =
            record.ties.iter().find(|(first, last)| *first >= k || last <= first || *last > n)
        {
            let found = format!("components {first} to {last} named as tied (counted from 0)");
            return bad(found, &format!("there are {k} components"));
        }
        if record.bounds.n_certified > k {
            let found = format!("{} of {k} components certified", record.bounds.n_certified);
            return bad(found, "no more can be certified than there are");
        }
        header.check_words(plan.reasons.iter().chain([&record.kernel, &plan.engine]))
    }

    /// Reads landmarks of an older version that grew while rows came as given ones, without bounds that hold for given ones alone.
    fn renew(record: &mut Map<String, Value>) {
        match record.get_mut("plan").and_then(|plan| plan.get_mut("approximation")) {
            Some(word) if word == "growing" => *word = "given".into(),
            _ => return,
        }
        let Some(Value::Object(bounds)) = record.get_mut("bounds") else { return };
        bounds.retain(|name, value| {
            !(name.starts_with("residual_") || name == "grounds" && value == "novelty")
        });
        bounds.entry("grounds").or_insert_with(|| "none".into());
    }

    fn tables(header: &Header, plan: &Plan, record: &Record) -> Vec<Table> {
        let flipped = plan.repair == Indefinite::Flip;
        let table = lift(header, plan, record).table("", header.n_components).and(&ARRAYS);
        vec![table.mark(FLIPPED, flipped).mark(VALID, !flipped)]
    }

    fn give<'a>(model: &'a FittedKernelPca, out: &mut Out<'a>) {
        let Certificate { residuals, intervals, rounding, .. } = &model.certificate;
        out.projection(&model.projection)
            .f64("eigenvalues", &model.eigenvalues[..])
            .f64("centered_trace", std::slice::from_ref(&model.body.centered_trace))
            .f64("rounding", std::slice::from_ref(rounding))
            .f64("residuals", &residuals[..])
            .intervals("intervals", intervals);
        if let Some(FeatureMean { coefficients, square }) = &model.body.mean {
            out.f64("mean", coefficients.as_deref().unwrap_or_default());
            out.f64("mean_square", std::slice::from_ref(square));
        }
        if let Lift::Kernel { kernel, .. } = &model.projection.lift
            && let Some(origin) = kernel.origin()
        {
            out.f64("origin", origin);
        }
        if let Some((name, Reference { numbers, .. })) = kept_reference(model) {
            let Novelty { t_squared, spe, scores } = numbers;
            out.f64(name, [t_squared, spe].concat());
            let moments = scores.numbers();
            if !moments.is_empty() {
                out.f64(MOMENTS, moments);
            }
        }
    }

    fn build(header: &Header, plan: &Plan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let lifted = lift(header, plan, &record);
        let mut projection = lifted.projection(arrays)?;
        if let Some(origin) = arrays.optional("origin") {
            projection.lift = with_origin(projection.lift, origin, &record)?;
        }
        let mean_size = if plan.route == Route::Dual { 0 } else { lifted.n_lifted };
        let (fit_rows, reference) = fit_rows(header, arrays)?;
        Ok(Self {
            projection,
            eigenvalues: arrays.f64("eigenvalues")?,
            centered_trace: scalar(arrays, "centered_trace", record.centered_trace)?,
            mean: mean(arrays, mean_size)?,
            stats: record.stats,
            certificate: certificate(header, plan, record, arrays)?,
            choice: None,
            scores: None,
            fit_rows,
            reference,
        })
    }
}

fn bad<T>(found: String, required: &str) -> Result<T> {
    Err(Error::model(found, required, SAVE_AGAIN))
}

/// Refuses counts that no fit gives.
fn check_counts(header: &Header, plan: &Plan) -> Result<()> {
    let (n, d, k) = (header.n_samples, header.n_features, header.n_components);
    if n < 2 || d == 0 || k == 0 || k >= n {
        let found = format!("{k} components of {n} samples with {d} features");
        return bad(
            found,
            "there must be at least 2 samples, 1 feature, 1 component, and fewer components than samples",
        );
    }
    if plan.route != Route::Dual && plan.rank < k {
        let found = format!("{k} components of {} landmarks or features", plan.rank);
        return bad(found, "there must be at least as many as components");
    }
    if (plan.n_samples, plan.n_features) != (n, d) || plan.n_components < k {
        let planned =
            format!("{} of {} samples with {} features", plan.n_components, plan.n_samples, plan.n_features);
        let found =
            format!("a plan for {planned} in a model of {k} components of {n} samples with {d} features");
        return bad(found, "the plan and the model must agree");
    }
    Ok(())
}

/// What is known of T² and errors of samples that the file itself does not hold, and the name of its array.
fn kept_reference(model: &FittedKernelPca) -> Option<(&'static str, Reference)> {
    if let Some(reference) = &model.reference {
        return Some((FOLDS, (**reference).clone()));
    }
    if matches!(model.projection.lift, Lift::Kernel { .. }) && model.holds_samples() {
        return None;
    }
    model.fit_reference().map(|reference| (FIT, reference.kept(model.plan.seed)))
}

/// What the file knows of its samples; files of earlier versions and fits of rows in chunks know nothing.
fn fit_rows(header: &Header, arrays: &mut Arrays) -> Result<(FitRows, Option<Box<Reference>>)> {
    let (name, numbers) = match (arrays.optional(FOLDS), arrays.optional(FIT)) {
        (Some(folds), _) => (FOLDS, folds),
        (None, Some(fit)) => (FIT, fit),
        (None, None) => return Ok((FitRows::Unknown, None)),
    };
    let (cross_validated, most) = (name == FOLDS, header.n_samples.min(Reference::MOST_KEPT));
    let scores = ScoreMoments::from_numbers(&arrays.optional(MOMENTS).unwrap_or_default());
    let reference =
        Reference::from_numbers(&numbers, scores, cross_validated).filter(|r| r.n_samples() <= most);
    match reference.map(Box::new) {
        Some(reference) if cross_validated => Ok((FitRows::Unknown, Some(reference))),
        Some(reference) => Ok((FitRows::Known(reference), None)),
        None => bad(
            format!("{name} with T² and squared prediction errors of {} samples", numbers.len() / 2),
            &format!("it holds those of 1 to {most} samples"),
        ),
    }
}

/// The mean of φ over `size` coordinates, when the file holds it.
fn mean(arrays: &mut Arrays, size: usize) -> Result<Option<FeatureMean>> {
    let Some(coefficients) = arrays.optional("mean") else { return Ok(None) };
    if coefficients.len() != size {
        return bad(format!("a mean of {} numbers", coefficients.len()), &format!("it must have {size}"));
    }
    let square = arrays.f64("mean_square")?.first().copied().unwrap_or(f64::NAN);
    Ok(Some(FeatureMean { coefficients: (size > 0).then_some(coefficients), square }))
}

fn with_origin(lift: Lift, origin: Vec<f64>, record: &Record) -> Result<Lift> {
    match lift {
        Lift::Kernel { kernel, samples } if kernel.may_have_origin() => {
            Ok(Lift::Kernel { kernel: kernel.with_origin(origin), samples })
        }
        Lift::Kernel { .. } => bad(
            format!("an origin for the kernel {}", shown(&record.kernel)),
            "only linear kernels, and sums of them with kernels of differences, have one",
        ),
        other => Ok(other),
    }
}

/// A single number, which the header also says in words.
fn scalar(arrays: &mut Arrays, name: &str, words: f64) -> Result<f64> {
    let exact = arrays.f64(name)?.first().copied().unwrap_or(f64::NAN);
    if (exact - words).abs() <= WORDS * exact.abs() {
        return Ok(exact);
    }
    bad(format!("{name} is {exact} in its array and {words} in the header"), "both must agree")
}

fn certificate(header: &Header, plan: &Plan, record: Record, arrays: &mut Arrays) -> Result<Certificate> {
    let k = header.n_components;
    let rounding = scalar(arrays, "rounding", record.rounding)?;
    let residuals = arrays.f64("residuals")?;
    let intervals = arrays.intervals("intervals")?;
    // Either is empty when the fit proved nothing of the kind.
    for (what, count) in [("residuals", residuals.len()), ("intervals", intervals.len())] {
        if count != 0 && count != k {
            return bad(
                format!("{count} {what} of {k} components"),
                "there is one for each component, or none",
            );
        }
    }
    if residuals.is_empty() && plan.route == Route::Dual {
        return bad("an exact model without residuals".into(), "every exact fit has them");
    }
    Ok(Certificate { residuals, intervals, bounds: record.bounds, rounding, ties: record.ties })
}
