//! Discriminants as a file: which arrays they have and what they must satisfy.

use super::KERNEL_DISCRIMINANT;
use super::classify::Rule;
use super::fitted::{Facts, FittedKernelDiscriminant};
use crate::engine::Cpu;
use crate::error::Result;
use crate::methods::kernelised::plan::FactorPlan;
use crate::methods::kernelised::saved::{Arrays, LiftRecord, doubles, projection_arrays, wrong};
use crate::model::{Array, Header, ModelReader, save, write};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

const MEANS: &str = "class_means";
const RATIOS: &str = "eigenvalues";

/// What the header says of discriminants.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    plan: FactorPlan,
    lift: LiftRecord,
    facts: Facts,
    class_names: Vec<String>,
    class_counts: Vec<u64>,
    /// Directions, those that scores are not given along included.
    n_directions: usize,
}

impl FittedKernelDiscriminant {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(|header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedKernelDiscriminant::save`] wrote. Nothing in the file is run.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is truncated or
    /// damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedKernelDiscriminant> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::save`].
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
    /// As [`FittedKernelDiscriminant::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedKernelDiscriminant> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    pub(in crate::methods) fn with_file(
        &self,
        then: impl FnOnce(&Header, &[Array<'_>]) -> Result<()>,
    ) -> Result<()> {
        let record = Record {
            plan: self.plan.portable(),
            lift: LiftRecord::of(&self.projection, &self.plan)?,
            facts: self.facts.clone(),
            class_names: self.class_names.clone(),
            class_counts: self.counts.clone(),
            n_directions: self.rank(),
        };
        let header = Header {
            precision: self.plan.precision.clone(),
            n_samples: self.plan.n_samples,
            n_features: self.n_features(),
            n_components: self.n_components,
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(KERNEL_DISCRIMINANT)
        };
        check_record(&header, &record)?;
        let mut arrays = projection_arrays("", &self.projection);
        arrays.push(doubles("", MEANS, &[self.n_classes(), self.rank()], self.rule.means.as_slice()));
        arrays.push(doubles("", RATIOS, &[self.rank()], &self.ratios));
        then(&header, &arrays)
    }
}

fn check_record(header: &Header, record: &Record) -> Result<()> {
    let Record { plan, lift, facts, class_names, class_counts, n_directions } = record;
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
    let share = |x: f64| (0.0..=1.0).contains(&x);
    let held_out =
        facts.held_out.is_none_or(|(mean, error)| share(mean) && error >= 0.0 && error.is_finite());
    let kappa = facts.regularization >= 0.0 && facts.regularization.is_finite();
    if !(held_out && kappa && share(facts.training_accuracy)) {
        return Err(wrong(
            "an accuracy or a regularisation out of range",
            "accuracies lie between 0 and 1, and the regularisation is not negative",
        ));
    }
    if facts.left_out.is_some_and(|share| !(share >= 0.0 && share.is_finite())) {
        return Err(wrong("a share left out that is negative or not finite", "it is neither"));
    }
    facts.curve.iter().try_for_each(|curve| curve.check())?;
    let words = plan.reasons.iter().chain(class_names).chain([&plan.engine, &plan.kernel, &lift.kernel]);
    header.check_words(words)
}

/// The model from a file whose layout and header are sound.
pub(in crate::methods) fn build(file: &mut ModelReader<'_>) -> Result<FittedKernelDiscriminant> {
    let header = file.header().clone();
    header.check_method(KERNEL_DISCRIMINANT)?;
    file.verify()?;
    let record: Record = header.read_record()?;
    check_record(&header, &record)?;
    let (classes, rank) = (record.class_counts.len(), record.n_directions);
    let mut arrays = Arrays::new(file);
    let projection = arrays.projection("", &record.lift, rank)?;
    let means = arrays.matrix(MEANS, classes, rank)?;
    let ratios = arrays.doubles(RATIOS, &[rank])?;
    arrays.finish()?;
    if ratios.iter().any(|ratio| *ratio <= 0.0) || ratios.windows(2).any(|pair| pair[0] < pair[1]) {
        return Err(wrong("ratios of variances out of order", "they are positive, largest first"));
    }
    let n = header.n_samples as f64;
    let priors = record.class_counts.iter().map(|count| *count as f64 / n).collect();
    Ok(FittedKernelDiscriminant {
        projection,
        n_components: header.n_components,
        rule: Rule { means, priors },
        counts: record.class_counts,
        ratios,
        facts: record.facts,
        plan: record.plan,
        class_names: record.class_names,
        warnings: header.warnings,
        column_names: header.column_names,
        engine: Arc::new(Cpu::at_first_use()),
    })
}
