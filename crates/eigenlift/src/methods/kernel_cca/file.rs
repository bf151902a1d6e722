//! Canonical correlations as a model: their file, declared, and what any model can do.

use super::fitted::{FittedKernelCca, KernelCcaBody};
use super::permute::Significance;
use super::plan::KernelCcaPlan;
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::factor::FactorPlan;
use crate::factor::{Regularization, RegularizationCurve};
use crate::matrix::Matrix;
use crate::model::{Arrays, Body, Declared, Dim, Header, LiftRecord, On, Out, Rule, SAVE_AGAIN, Table};
use serde::{Deserialize, Serialize};

/// Correlations may exceed 1 by rounding.
const LARGEST: Rule = Rule::AtMost(1.0 + 1e-9, "a correlation lies between -1 and 1");

/// Arrays beside the projections of the views.
const ARRAYS: [Declared; 5] = [
    Declared::f64("correlations", &[Dim::Of("components")]).rules(&[LARGEST]),
    Declared::f64("training", &[Dim::Of("components")]).rules(&[LARGEST]),
    Declared::f64("held_out", &[Dim::Of("held out")]).rules(&[LARGEST]),
    Declared::f64("held_out_errors", &[Dim::Of("held out")]),
    Declared::f64("regularization", &[Dim::Of("views")])
        .rules(&[Rule::NonNegative("a regularization is not negative")]),
];

/// What the header says of a model beside its plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// One for each view, in order.
    lifts: Vec<LiftRecord>,
    ranks: Vec<usize>,
    left_out: Vec<Option<f64>>,
    /// Components whose correlations were measured on held-out rows.
    n_held_out: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curve: Option<RegularizationCurve>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    significance: Option<Significance>,
}

/// What stands before the names of a view's arrays.
fn prefix(view: usize) -> String {
    format!("view{view}.")
}

fn wrong(found: impl Into<String>, required: &str) -> Error {
    Error::model(found, required, SAVE_AGAIN)
}

/// Rows hold the columns of all views side by side; scores are those of the first view, then those of the second, and so on.
impl Body for KernelCcaBody {
    type Plan = KernelCcaPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["kcca"];

    fn n_components(model: &FittedKernelCca) -> usize {
        model.correlations.len()
    }

    fn n_outputs(model: &FittedKernelCca) -> usize {
        model.n_views() * model.n_components()
    }

    fn project(model: &FittedKernelCca, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.all_views_on(on.0, x, on.1)
    }

    fn record(model: &FittedKernelCca) -> Result<Record> {
        let lifts = model.projections.iter().zip(&model.plan.views);
        let lift =
            |(projection, plan): (_, &FactorPlan)| LiftRecord::of(projection, plan.approximation, plan.seed);
        Ok(Record {
            lifts: lifts.map(lift).collect::<Result<_>>()?,
            ranks: model.ranks.clone(),
            left_out: model.left_out.clone(),
            n_held_out: model.held_out.len(),
            curve: model.curve.clone(),
            significance: model.significance.clone(),
        })
    }

    fn check(header: &Header, plan: &KernelCcaPlan, record: &Record) -> Result<()> {
        check_counts(header, plan, record)?;
        check_found(plan, record, header.n_components)?;
        let views = plan.views.iter();
        let words =
            views.flat_map(|view| view.reasons.iter().chain([&view.kernel, &view.engine, &view.precision]));
        header.check_words(words.chain(&plan.reasons).chain(record.lifts.iter().map(|lift| &lift.kernel)))
    }

    fn tables(header: &Header, _: &KernelCcaPlan, record: &Record) -> Vec<Table> {
        let k = header.n_components;
        let own = Table::new("", &ARRAYS, &header.precision)
            .dim("components", k)
            .dim("held out", record.n_held_out)
            .dim("views", record.lifts.len());
        let views = record.lifts.iter().enumerate().map(|(view, lift)| lift.table(prefix(view), k));
        std::iter::once(own).chain(views).collect()
    }

    fn give<'a>(model: &'a FittedKernelCca, out: &mut Out<'a>) {
        out.f64("correlations", &model.correlations[..])
            .f64("training", &model.training[..])
            .f64("held_out", &model.held_out[..])
            .f64("held_out_errors", &model.held_out_errors[..])
            .f64("regularization", &model.kappas[..]);
        for (view, projection) in model.projections.iter().enumerate() {
            out.at(prefix(view)).projection(projection);
        }
    }

    fn build(_: &Header, _: &KernelCcaPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        Ok(Self {
            correlations: arrays.f64("correlations")?,
            training: arrays.f64("training")?,
            held_out: arrays.f64("held_out")?,
            held_out_errors: arrays.f64("held_out_errors")?,
            kappas: arrays.f64("regularization")?,
            projections: (record.lifts.iter().enumerate())
                .map(|(view, lift)| lift.projection(arrays.at(prefix(view))))
                .collect::<Result<_>>()?,
            curve: record.curve,
            significance: record.significance,
            ranks: record.ranks,
            left_out: record.left_out,
            widths: record.lifts.iter().map(|lift| lift.n_features).collect(),
            samples: None,
        })
    }
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_counts(header: &Header, plan: &KernelCcaPlan, record: &Record) -> Result<()> {
    let (n, k) = (header.n_samples, header.n_components);
    let views = record.lifts.len();
    if n < 3 || k == 0 || k > plan.n_components || views < 2 {
        return Err(wrong(
            format!("{k} of {} components of {views} views of {n} rows", plan.n_components),
            "there must be at least 3 rows, 2 views and 1 component",
        ));
    }
    if [plan.views.len(), record.ranks.len(), record.left_out.len()].iter().any(|count| *count != views) {
        return Err(wrong(
            format!("{views} views with {} plans and {} ranks", plan.views.len(), record.ranks.len()),
            "there must be one for each view",
        ));
    }
    let width = record.lifts.iter().try_fold(0usize, |sum, lift| sum.checked_add(lift.n_features));
    let agree = |(lift, view): (&LiftRecord, &FactorPlan)| {
        let precision = ["f32", "f64"].contains(&&*lift.precision);
        view.n_samples == n && view.n_features == lift.n_features && lift.n_features > 0 && precision
    };
    if width != Some(header.n_features) || !record.lifts.iter().zip(&plan.views).all(agree) {
        return Err(wrong("a plan for other rows or columns", "the plan and the model must agree"));
    }
    if record.ranks.contains(&0) || record.left_out.iter().flatten().any(|share| *share < 0.0) {
        return Err(wrong("a rank of 0 or a negative share", "every view varies"));
    }
    Ok(())
}

/// What was found beside the directions.
fn check_found(plan: &KernelCcaPlan, record: &Record, k: usize) -> Result<()> {
    check_held_out(plan, record, k)?;
    if let Some(curve) = &record.curve {
        curve.check()?;
    }
    if record.curve.is_some() != (plan.regularization == Regularization::Auto) {
        return Err(wrong("a curve of regularizations that was not asked for, or none", "auto leaves one"));
    }
    plan.regularization.check().map_err(|why| {
        Error::model(
            format!("a plan that cannot be used ({why})"),
            "it must be one that a fit leaves",
            SAVE_AGAIN,
        )
    })?;
    let Some(found) = &record.significance else {
        return match plan.permutations {
            0 => Ok(()),
            count => Err(wrong(
                format!("{count} permutations without p-values"),
                "there is one for each component",
            )),
        };
    };
    let within = |p: &f64| *p > 0.0 && *p <= 1.0;
    if found.permutations == 0
        || found.permutations != plan.permutations
        || found.p_values.len() != k
        || !found.p_values.iter().all(within)
        || found.correlations.len() != k
        || found.regularization.len() != plan.views.len()
        || !found.null_95.is_finite()
    {
        return Err(wrong(
            format!("{} p-values of {} permutations", found.p_values.len(), found.permutations),
            "there is one above 0 and up to 1 for each component",
        ));
    }
    Ok(())
}

fn check_held_out(plan: &KernelCcaPlan, record: &Record, k: usize) -> Result<()> {
    let expected = if plan.folds == 0 { 0 } else { k };
    if record.n_held_out == expected {
        return Ok(());
    }
    Err(wrong(
        format!("{} held-out correlations of {k} components", record.n_held_out),
        "there is one for each where rows were held out",
    ))
}
