//! Canonical correlations as a file: which arrays they have and what they must satisfy.

use super::fitted::{FittedKernelCca, KERNEL_CCA};
use super::permute::Significance;
use super::plan::KernelCcaPlan;
use crate::engine::Cpu;
use crate::error::{Error, Result};
use crate::methods::kernelised::plan::FactorPlan;
use crate::methods::kernelised::regularization::{Regularization, RegularizationCurve};
use crate::methods::kernelised::saved::{Arrays, LiftRecord, SAVE_AGAIN, doubles, projection_arrays, wrong};
use crate::model::{Array, Header, ModelReader, save, write};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// Correlations may exceed 1 by rounding.
const ROUNDING: f64 = 1e-9;

/// What the header says of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    plan: KernelCcaPlan,
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

impl FittedKernelCca {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// # Errors
    /// When a kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(|header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedKernelCca::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is truncated or
    /// damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedKernelCca> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// As [`FittedKernelCca::save`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.with_file(|header, arrays| {
            write(header, arrays, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })
        })?;
        Ok(bytes)
    }

    /// The model from the bytes of a model file.
    ///
    /// # Errors
    /// As [`FittedKernelCca::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedKernelCca> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    pub(in crate::methods) fn with_file(
        &self,
        then: impl FnOnce(&Header, &[Array<'_>]) -> Result<()>,
    ) -> Result<()> {
        let lifts = self.projections.iter().zip(&self.plan.views);
        let record = Record {
            plan: self.plan.portable(),
            lifts: lifts.map(|(projection, plan)| LiftRecord::of(projection, plan)).collect::<Result<_>>()?,
            ranks: self.ranks.clone(),
            left_out: self.left_out.clone(),
            n_held_out: self.held_out.len(),
            curve: self.curve.clone(),
            significance: self.significance.clone(),
        };
        let single = self.plan.views.iter().all(|view| view.precision == "f32");
        let header = Header {
            precision: if single { "f32" } else { "f64" }.into(),
            n_samples: self.n_samples(),
            n_features: self.widths.iter().sum(),
            n_components: self.n_components(),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(KERNEL_CCA)
        };
        check_record(&header, &record)?;
        let mut arrays = vec![
            doubles("", "correlations", &[self.correlations.len()], &self.correlations),
            doubles("", "training", &[self.training.len()], &self.training),
            doubles("", "held_out", &[self.held_out.len()], &self.held_out),
            doubles("", "held_out_errors", &[self.held_out_errors.len()], &self.held_out_errors),
            doubles("", "regularization", &[self.kappas.len()], &self.kappas),
        ];
        for (view, projection) in self.projections.iter().enumerate() {
            arrays.extend(projection_arrays(&prefix(view), projection));
        }
        then(&header, &arrays)
    }
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_record(header: &Header, record: &Record) -> Result<()> {
    let (n, k, plan) = (header.n_samples, header.n_components, &record.plan);
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
    check_found(record, k)?;
    let views = plan.views.iter();
    let words =
        views.flat_map(|view| view.reasons.iter().chain([&view.kernel, &view.engine, &view.precision]));
    header.check_words(words.chain(&plan.reasons).chain(record.lifts.iter().map(|lift| &lift.kernel)))
}

/// What was found beside the directions.
fn check_found(record: &Record, k: usize) -> Result<()> {
    plan_held_out(record, k)?;
    if let Some(curve) = &record.curve {
        curve.check()?;
    }
    if record.curve.is_some() != (record.plan.regularization == Regularization::Auto) {
        return Err(wrong("a curve of regularisations that was not asked for, or none", "auto leaves one"));
    }
    record.plan.regularization.check().map_err(|why| {
        Error::model(
            format!("a plan that cannot be used ({why})"),
            "it must be one that a fit leaves",
            SAVE_AGAIN,
        )
    })?;
    let Some(found) = &record.significance else {
        return match record.plan.permutations {
            0 => Ok(()),
            count => Err(wrong(
                format!("{count} permutations without p-values"),
                "there is one for each component",
            )),
        };
    };
    let within = |p: &f64| *p > 0.0 && *p <= 1.0;
    if found.permutations == 0
        || found.permutations != record.plan.permutations
        || found.p_values.len() != k
        || !found.p_values.iter().all(within)
        || found.correlations.len() != k
        || found.regularization.len() != record.plan.views.len()
        || !found.null_95.is_finite()
    {
        return Err(wrong(
            format!("{} p-values of {} permutations", found.p_values.len(), found.permutations),
            "there is one above 0 and up to 1 for each component",
        ));
    }
    Ok(())
}

fn plan_held_out(record: &Record, k: usize) -> Result<()> {
    let expected = if record.plan.folds == 0 { 0 } else { k };
    if record.n_held_out == expected {
        return Ok(());
    }
    Err(wrong(
        format!("{} held-out correlations of {k} components", record.n_held_out),
        "there is one for each where rows were held out",
    ))
}

/// The model from a file whose layout and header are sound.
pub(in crate::methods) fn build(file: &mut ModelReader<'_>) -> Result<FittedKernelCca> {
    let header = file.header().clone();
    header.check_method(KERNEL_CCA)?;
    file.verify()?;
    let record: Record = header.read_record()?;
    check_record(&header, &record)?;
    let k = header.n_components;
    let mut arrays = Arrays::new(file);
    let correlations = arrays.doubles("correlations", &[k])?;
    let training = arrays.doubles("training", &[k])?;
    let held_out = arrays.doubles("held_out", &[record.n_held_out])?;
    let held_out_errors = arrays.doubles("held_out_errors", &[record.n_held_out])?;
    let kappas = arrays.doubles("regularization", &[record.lifts.len()])?;
    let mut projections = Vec::with_capacity(record.lifts.len());
    for (view, lift) in record.lifts.iter().enumerate() {
        projections.push(arrays.projection(&prefix(view), lift, k)?);
    }
    arrays.finish()?;
    let sizes = correlations.iter().chain(&training).chain(&held_out);
    if sizes.into_iter().any(|rho| rho.abs() > 1.0 + ROUNDING) || kappas.iter().any(|kappa| *kappa < 0.0) {
        return Err(wrong("a correlation above 1 or a negative regularisation", "no fit gives that"));
    }
    Ok(FittedKernelCca {
        projections,
        correlations,
        training,
        held_out,
        held_out_errors,
        kappas,
        curve: record.curve,
        significance: record.significance,
        ranks: record.ranks,
        left_out: record.left_out,
        widths: record.lifts.iter().map(|lift| lift.n_features).collect(),
        column_names: header.column_names,
        samples: None,
        plan: record.plan,
        warnings: header.warnings,
        engine: Arc::new(Cpu::at_first_use()),
    })
}
