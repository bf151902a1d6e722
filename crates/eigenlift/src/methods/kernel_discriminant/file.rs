//! Kernel discriminant analysis as a model: its file, declared, and what any model can do.

use super::classify::Rule as Classifier;
use super::fitted::{Facts, FittedKernelDiscriminant, KernelDiscriminantBody};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::factor::FactorPlan;
use crate::matrix::Matrix;
use crate::model::{Arrays, Body, Declared, Dim, Header, LiftRecord, On, Out, Rule, SAVE_AGAIN, Table};
use serde::{Deserialize, Serialize};

const RATIOS: &str = "ratios of variances are positive, largest first";

/// Arrays beside those of the projection.
const ARRAYS: [Declared; 2] = [
    Declared::f64("class_means", &[Dim::Of("classes"), Dim::Of("scores")]),
    Declared::f64("eigenvalues", &[Dim::Of("scores")])
        .rules(&[Rule::Positive(RATIOS), Rule::Descending(RATIOS)]),
];

/// What the header says of discriminants beside the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    lift: LiftRecord,
    facts: Facts,
    class_names: Vec<String>,
    class_counts: Vec<u64>,
    /// Directions, those that scores are not given along included.
    n_directions: usize,
}

fn wrong(found: impl Into<String>, required: &str) -> Error {
    Error::model(found, required, SAVE_AGAIN)
}

impl Body for KernelDiscriminantBody {
    type Plan = FactorPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["kda"];

    fn n_components(model: &FittedKernelDiscriminant) -> usize {
        model.n_components
    }

    fn project(model: &FittedKernelDiscriminant, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.transform_on(on.0, x, on.1)
    }

    fn label_name(_: &FittedKernelDiscriminant) -> Option<&'static str> {
        Some("class")
    }

    fn labels(model: &FittedKernelDiscriminant, x: AnyPoints<'_>, on: On<'_>) -> Result<Option<Vec<u32>>> {
        model.predict_on(on.0, x, on.1).map(Some)
    }

    fn label_text(model: &FittedKernelDiscriminant, label: u32) -> String {
        model.class_names.get(label as usize).cloned().unwrap_or_else(|| label.to_string())
    }

    fn record(model: &FittedKernelDiscriminant) -> Result<Record> {
        Ok(Record {
            lift: LiftRecord::of(&model.projection, model.plan.approximation, model.plan.seed)?,
            facts: model.facts.clone(),
            class_names: model.class_names.clone(),
            class_counts: model.counts.clone(),
            n_directions: model.rank(),
        })
    }

    fn check(header: &Header, plan: &FactorPlan, record: &Record) -> Result<()> {
        check_counts(header, plan, record)?;
        check_facts(&record.facts)?;
        let words = plan.reasons.iter().chain(&record.class_names);
        header.check_words(words.chain([&plan.engine, &plan.kernel, &record.lift.kernel]))
    }

    fn tables(_: &Header, _: &FactorPlan, record: &Record) -> Vec<Table> {
        let table = record.lift.table("", record.n_directions).and(&ARRAYS);
        vec![table.dim("classes", record.class_counts.len())]
    }

    fn give<'a>(model: &'a FittedKernelDiscriminant, out: &mut Out<'a>) {
        out.projection(&model.projection)
            .matrix("class_means", &model.body.rule.means)
            .f64("eigenvalues", &model.ratios[..]);
    }

    fn build(header: &Header, _: &FactorPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let n = header.n_samples as f64;
        let priors = record.class_counts.iter().map(|count| *count as f64 / n).collect();
        Ok(Self {
            projection: record.lift.projection(arrays)?,
            n_components: header.n_components,
            rule: Classifier { means: arrays.matrix("class_means")?, priors },
            ratios: arrays.f64("eigenvalues")?,
            counts: record.class_counts,
            facts: record.facts,
            class_names: record.class_names,
        })
    }
}

fn check_counts(header: &Header, plan: &FactorPlan, record: &Record) -> Result<()> {
    let Record { lift, class_names, class_counts, n_directions, .. } = record;
    let (n, d, k, classes) = (header.n_samples, header.n_features, header.n_components, class_counts.len());
    if (plan.n_samples, plan.n_features, &plan.precision) != (n, d, &header.precision) || lift.n_features != d
    {
        return Err(wrong(format!("a plan that does not fit {n} rows of {d} numbers"), "they must agree"));
    }
    let rows = class_counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    if classes < 2
        || class_names.len() != classes
        || rows != Some(n as u64)
        || class_counts.iter().any(|c| *c < 2)
    {
        return Err(wrong(
            format!("{classes} classes with {} names in {n} rows", class_names.len()),
            "there are two or more, each with a name and at least 2 of the rows",
        ));
    }
    if k == 0 || k > *n_directions || *n_directions >= classes {
        return Err(wrong(
            format!("{k} of {n_directions} directions for {classes} classes"),
            "there are fewer directions than classes, and at least one",
        ));
    }
    Ok(())
}

fn check_facts(facts: &Facts) -> Result<()> {
    let share = |x: f64| (0.0..=1.0).contains(&x);
    let held_out =
        facts.held_out.is_none_or(|(mean, error)| share(mean) && error >= 0.0 && error.is_finite());
    let kappa = facts.regularization >= 0.0 && facts.regularization.is_finite();
    if !(held_out && kappa && share(facts.training_accuracy)) {
        return Err(wrong(
            "an accuracy or a regularization out of range",
            "accuracies lie between 0 and 1, and the regularization is not negative",
        ));
    }
    if facts.left_out.is_some_and(|share| !(share >= 0.0 && share.is_finite())) {
        return Err(wrong("a share left out that is negative or not finite", "it is neither"));
    }
    facts.curve.iter().try_for_each(|curve| curve.check())
}
