//! Principal components as a model file: which arrays they have and what they must satisfy.

use super::choose::Choice;
use super::whitening::{FittedWhitening, Triangular, WhiteningMethod};
use super::{FittedPca, PcaPlan, PcaRoute};
use crate::eigen::{Bounds, Certificate, Grounds, Interval, SolveStats};
use crate::engine::Cpu;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{Array, Header, Lift, ModelReader, Numbers, Projection, save, write};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The method's name in a model file.
pub(crate) const PCA: &str = "pca";
pub(crate) const WHITEN: &str = "whiten";
/// What to do about a file that no version of eigenlift wrote.
const SAVE_AGAIN: &str = "Save the model again with eigenlift";

const CENTER: &str = "center";
const SCALE: &str = "scale";
const COEFFICIENTS: &str = "coefficients";
const SPECTRUM: &str = "spectrum";
const RESIDUALS: &str = "residuals";
const INTERVALS: &str = "intervals";
/// n, n·tr C, and the bound on rounding.
const SUMS: &str = "sums";
/// The upper triangle of Cholesky's whitening.
const TRIANGLE: &str = "triangle";

/// What the header says of principal components.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    /// Whether the spectrum holds every variance above rounding.
    is_whole: bool,
    /// What is known about all eigenvalues together.
    bounds: Bounds,
    /// Groups of components that are determined only as a subspace.
    ties: Vec<(usize, usize)>,
    /// What the solve took.
    stats: SolveStats,
    /// How the number of components was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    /// What was decided and why.
    plan: PcaPlan,
    /// What a whitening adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whitening: Option<WhiteningRecord>,
}

/// What the header says of a whitening.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WhiteningRecord {
    method: WhiteningMethod,
    ridge: f64,
    all_directions: bool,
}

impl FittedPca {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(None, |header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedPca::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is
    /// truncated or damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedPca> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.with_file(None, |header, arrays| {
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
    /// As [`FittedPca::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedPca> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    /// Hands header and arrays to `then`; those of a whitening when there is one.
    pub(in crate::methods) fn with_file(
        &self,
        whitening: Option<&FittedWhitening>,
        then: impl FnOnce(&Header, &[Array<'_>]) -> Result<()>,
    ) -> Result<()> {
        let record = Record {
            is_whole: self.is_whole,
            bounds: self.certificate.bounds,
            ties: self.certificate.ties.clone(),
            stats: self.stats,
            choice: self.choice.clone(),
            plan: self.plan.portable(),
            whitening: whitening.map(|w| WhiteningRecord {
                method: w.method,
                ridge: w.ridge,
                all_directions: w.all_directions,
            }),
        };
        let header = Header {
            precision: self.plan.precision.clone(),
            n_samples: self.n_samples(),
            n_features: self.n_features(),
            n_components: self.n_components(),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(if whitening.is_some() { WHITEN } else { PCA })
        };
        check_record(&header, &record)?;
        let (d, k) = (self.n_features(), self.n_components());
        let Certificate { residuals, intervals, rounding, .. } = &self.certificate;
        let bounds: Vec<f64> = intervals.iter().flat_map(|i| [i.low, i.high]).collect();
        let sums = [self.weight, self.total, *rounding];
        let mut arrays = vec![
            Array::f64(CENTER, &[d], self.mean()),
            Array::f64(COEFFICIENTS, &[d, k], self.projection.coefficients.as_slice()),
            Array::f64(SPECTRUM, &[self.spectrum.len()], &self.spectrum),
            Array::f64(RESIDUALS, &[residuals.len()], residuals),
            Array::new(INTERVALS, &[intervals.len(), 2], Numbers::F64(Cow::Owned(bounds))),
            Array::f64(SUMS, &[3], &sums),
        ];
        if let Some(scale) = &self.scale {
            arrays.push(Array::f64(SCALE, &[d], scale));
        }
        if let Some(both) = whitening.and_then(|w| w.triangular.as_ref()) {
            arrays.push(Array::f64(TRIANGLE, &[d, d], both.back.as_slice()));
        }
        then(&header, &arrays)
    }
}

impl FittedWhitening {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced. The matrix
    /// stays in factors: directions and variances.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.pca.with_file(Some(self), |header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedWhitening::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// As [`FittedPca::load`].
    pub fn load(path: &Path) -> Result<FittedWhitening> {
        ModelReader::open_file(path, build_whitening)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.pca.with_file(Some(self), |header, arrays| {
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
    /// As [`FittedWhitening::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedWhitening> {
        build_whitening(&mut ModelReader::from_bytes(bytes)?)
    }
}

pub(in crate::methods) fn build_whitening(file: &mut ModelReader<'_>) -> Result<FittedWhitening> {
    file.header().check_method(WHITEN)?;
    let record: Record = file.header().read_record()?;
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    let Some(WhiteningRecord { method, ridge, all_directions }) = record.whitening else {
        return bad(
            "a whitening that does not say which".into(),
            "the header names the method and the ridge",
        );
    };
    if !(ridge.is_finite() && ridge >= 0.0) {
        return bad(format!("ridge {ridge}"), "it must be 0 or a positive number");
    }
    let is_triangular = method == WhiteningMethod::Cholesky;
    let pca = read_pca(file, if is_triangular { &[TRIANGLE] } else { &[] })?;
    let d = pca.n_features();
    let triangular = if is_triangular {
        let back = Matrix::from_vec(file.numbers(TRIANGLE, &[d, d])?, d, d)?;
        if (0..d).any(|i| back[(i, i)] <= 0.0 || back.row(i)[..i].iter().any(|x| *x != 0.0)) {
            return bad("a triangle that is none".into(), "it is upper, with a positive diagonal");
        }
        Some(Triangular::from_inverse(back))
    } else {
        None
    };
    Ok(FittedWhitening::assemble(pca, method, ridge, (triangular, all_directions)))
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_record(header: &Header, record: &Record) -> Result<()> {
    let (n, d, k) = (header.n_samples, header.n_features, header.n_components);
    let plan = &record.plan;
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    if n < 2 || d == 0 || k == 0 || k > d {
        let found = format!("{k} components of {n} rows with {d} columns");
        return bad(
            found,
            "there must be at least 2 rows and 1 component, and no more components than columns",
        );
    }
    if (plan.n_samples, plan.n_features) != (n, d) || plan.precision != header.precision {
        let found = format!("a plan for {} × {} in a model of {n} × {d}", plan.n_samples, plan.n_features);
        return bad(found, "the plan and the model must agree");
    }
    let notes = record.choice.iter().flat_map(|choice| choice.rules.iter().map(|rule| &rule.note));
    header.check_words(plan.reasons.iter().chain([&plan.engine]).chain(notes))?;
    if let Some((first, last)) =
        record.ties.iter().find(|(first, last)| *first >= k || last <= first || *last > d)
    {
        return bad(
            format!("components {first} to {last} named as tied (counted from 0)"),
            "they must exist",
        );
    }
    let sketched = record.bounds.grounds == Grounds::Sketch;
    if sketched != (plan.route == PcaRoute::Directions)
        || sketched && !record.bounds.slack.is_some_and(|slack| slack >= 0.0 && slack.is_finite())
    {
        return bad(
            format!("the {} route with a bound Δ of {:?}", plan.route, record.bounds.slack),
            "a sketch, and nothing else, has such a bound, and it is not negative",
        );
    }
    if record.bounds.n_certified > k {
        return bad(
            format!("{} of {k} components certified", record.bounds.n_certified),
            "no more than there are",
        );
    }
    Ok(())
}

/// The model from a file whose layout and header are sound.
pub(in crate::methods) fn build(file: &mut ModelReader<'_>) -> Result<FittedPca> {
    file.header().check_method(PCA)?;
    read_pca(file, &[])
}

/// Principal components from a file that may have `more` arrays beside theirs.
fn read_pca(file: &mut ModelReader<'_>, more: &[&'static str]) -> Result<FittedPca> {
    let header = file.header().clone();
    file.verify()?;
    let record: Record = header.read_record()?;
    check_record(&header, &record)?;
    let (d, k) = (header.n_features, header.n_components);
    let standardized = record.plan.standardized;
    let mut names = vec![CENTER, COEFFICIENTS, SPECTRUM, RESIDUALS, INTERVALS, SUMS];
    names.extend(standardized.then_some(SCALE));
    names.extend(more);
    file.expect_only(&names)?;
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    let scale = if standardized { Some(file.numbers::<f64>(SCALE, &[d])?) } else { None };
    if scale.iter().flatten().any(|s| *s <= 0.0) {
        return bad("a standard deviation that is not positive".into(), "columns are divided by it");
    }
    let spectrum = read_spectrum(file, k)?;
    let sums: Vec<f64> = file.numbers(SUMS, &[3])?;
    if !(sums[0] > 0.0 && sums[1] > 0.0 && sums[2] >= 0.0) {
        return bad(format!("n, total and rounding are {sums:?}"), "they must be positive");
    }
    // A sketch has no residuals: no product was made.
    let measured = if record.bounds.grounds == Grounds::Sketch { 0 } else { k };
    let residuals: Vec<f64> = file.numbers(RESIDUALS, &[measured])?;
    let bounds: Vec<f64> = file.numbers(INTERVALS, &[k, 2])?;
    let intervals: Vec<Interval> =
        bounds.chunks_exact(2).map(|pair| Interval { low: pair[0], high: pair[1] }).collect();
    if residuals.iter().any(|r| *r < 0.0) || intervals.iter().any(|i| i.low > i.high) {
        return bad("a negative residual, or an interval from high to low".into(), "bounds come in order");
    }
    let certificate =
        Certificate { residuals, intervals, bounds: record.bounds, rounding: sums[2], ties: record.ties };
    let coefficients = Matrix::from_vec(file.numbers(COEFFICIENTS, &[d, k])?, d, k)?;
    let lift = Lift::Rows { center: file.numbers(CENTER, &[d])? };
    Ok(FittedPca {
        projection: Projection { lift, coefficients, offset: vec![0.0; k] },
        scale,
        spectrum,
        is_whole: record.is_whole,
        weight: sums[0],
        total: sums[1],
        certificate,
        stats: record.stats,
        choice: record.choice,
        plan: record.plan,
        warnings: header.warnings,
        column_names: header.column_names,
        engine: Arc::new(Cpu::at_first_use()),
    })
}

/// Eigenvalues, positive and in descending order, at least as many as components.
fn read_spectrum(file: &mut ModelReader<'_>, k: usize) -> Result<Vec<f64>> {
    let known = file.length(SPECTRUM)?;
    let spectrum: Vec<f64> = file.numbers(SPECTRUM, &[known])?;
    if known < k
        || spectrum.windows(2).any(|pair| pair[0] < pair[1])
        || spectrum.last().is_some_and(|v| *v <= 0.0)
    {
        return Err(Error::model(
            format!("{known} eigenvalues for {k} components, or out of order"),
            "they must be positive and in descending order, one for each component or more",
            SAVE_AGAIN,
        ));
    }
    Ok(spectrum)
}
