//! Manifold models as a file: which arrays they have and what they must satisfy.

use super::fitted::{FittedManifold, ManifoldFacts, ManifoldKind, Part};
use super::plan::ManifoldPlan;
use crate::data::AnySamples;
use crate::engine::Cpu;
use crate::error::{Error, Result};
use crate::graph::{Metric, NeighborSearch, Reach, Space};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::methods::sample_arrays::{read_samples, sample_arrays};
use crate::model::{
    Array, Header, Lift, ManifoldLift, ModelReader, NeighborWeights, Number, Numbers, Projection, save, write,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// What to do about a file that no version of eigenlift wrote.
const SAVE_AGAIN: &str = "Save the model again with eigenlift";
const SCORES: &str = "scores";

/// What the header says of a manifold model.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    plan: ManifoldPlan,
    facts: ManifoldFacts,
    /// One for each part, in order.
    parts: Vec<PartRecord>,
}

/// What the header says of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PartRecord {
    /// Whether it has all rows.
    whole: bool,
    n_rows: usize,
    /// Rows of A.
    n_lifted: usize,
    n_axes: usize,
    n_residuals: usize,
    lift: LiftRecord,
}

/// A lift in words; its numbers are arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LiftRecord {
    Geodesics { space: SpaceRecord, search: NeighborSearch },
    Distances { space: SpaceRecord },
    Weights { space: SpaceRecord, search: NeighborSearch, weights: NeighborWeights },
    Steps { kernel: String, n_samples: usize },
}

/// Where neighbours are looked for, in words.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SpaceRecord {
    Rows { metric: Metric, n_samples: usize },
    Distances { n_samples: usize },
    Lists { n_samples: usize },
}

impl SpaceRecord {
    fn of(space: &Space) -> Self {
        let n_samples = space.n_samples();
        match space {
            Space::Rows { metric, .. } => Self::Rows { metric: *metric, n_samples },
            Space::Distances { .. } => Self::Distances { n_samples },
            Space::Lists { .. } => Self::Lists { n_samples },
        }
    }

    fn n_samples(&self) -> usize {
        match self {
            Self::Rows { n_samples, .. } | Self::Distances { n_samples } | Self::Lists { n_samples } => {
                *n_samples
            }
        }
    }
}

/// The name of an array of a part.
fn name(part: usize, what: &str) -> String {
    format!("part{part}.{what}")
}

impl FittedManifold {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// An exact isomap holds n² distances, one by landmarks n·L.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(|header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedManifold::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is
    /// truncated or damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedManifold> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// As [`FittedManifold::save`].
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
    /// As [`FittedManifold::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedManifold> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    pub(in crate::methods) fn with_file(
        &self,
        then: impl FnOnce(&Header, &[Array<'_>]) -> Result<()>,
    ) -> Result<()> {
        let parts = self.parts.iter().map(PartRecord::of).collect::<Result<Vec<_>>>()?;
        let plan = ManifoldPlan { reach: self.plan.reach.map(finite), ..self.plan.portable() };
        let record = Record { plan, facts: self.facts.clone(), parts };
        let header = Header {
            precision: self.plan.precision.clone(),
            n_samples: self.n_samples(),
            n_features: self.n_features(),
            n_components: self.n_components(),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(self.kind().name())
        };
        check_record(&header, &record)?;
        let k = self.n_components();
        let mut arrays = vec![Array::f64(SCORES, &[self.n_samples(), k], self.scores.as_slice())];
        self.parts.iter().enumerate().for_each(|(number, part)| part.add_arrays(number, &mut arrays));
        then(&header, &arrays)
    }
}

impl PartRecord {
    fn of(part: &Part) -> Result<Self> {
        let lift = match &part.projection.lift {
            Lift::Manifold(lift) => match &**lift {
                ManifoldLift::Geodesics { space, search, .. } => {
                    LiftRecord::Geodesics { space: SpaceRecord::of(space), search: finite_search(search) }
                }
                ManifoldLift::Distances { space } => LiftRecord::Distances { space: SpaceRecord::of(space) },
                ManifoldLift::Weights { space, search, weights } => {
                    let (space, search) = (SpaceRecord::of(space), finite_search(search));
                    LiftRecord::Weights { space, search, weights: *weights }
                }
                ManifoldLift::Steps { kernel, samples, .. } => LiftRecord::Steps {
                    kernel: kernel.spec().map(KernelSpec::to_string).ok_or_else(|| {
                        Error::model(
                            format!("the kernel {kernel} is a function"),
                            "a model file holds kernels that can be written down, and no code",
                            "Write it as expr(…) or map(…)",
                        )
                    })?,
                    n_samples: samples.n_rows(),
                },
            },
            _ => return Err(wrong("a lift of another method".into(), "manifold methods have their own")),
        };
        Ok(Self {
            whole: part.rows.is_empty(),
            n_rows: part.rows.len(),
            n_lifted: part.projection.coefficients.n_rows(),
            n_axes: part.eigenvalues.len(),
            n_residuals: part.residuals.len(),
            lift,
        })
    }
}

impl Part {
    fn add_arrays<'a>(&'a self, number: usize, arrays: &mut Vec<Array<'a>>) {
        let Projection { lift, coefficients, offset } = &self.projection;
        let shape = [coefficients.n_rows(), coefficients.n_cols()];
        let f64s = |what: &str, shape: &[usize], numbers: &'a [f64]| {
            Array::new(name(number, what), shape, Numbers::F64(Cow::Borrowed(numbers)))
        };
        arrays.push(f64s("coefficients", &shape, coefficients.as_slice()));
        arrays.push(f64s("offset", &[offset.len()], offset));
        arrays.push(f64s("eigenvalues", &[self.eigenvalues.len()], &self.eigenvalues));
        arrays.push(f64s("residuals", &[self.residuals.len()], &self.residuals));
        if !self.rows.is_empty() {
            let rows = Numbers::U32(Cow::Borrowed(&self.rows));
            arrays.push(Array::new(name(number, "rows"), &[self.rows.len()], rows));
        }
        let Lift::Manifold(lift) = lift else { return };
        let space = match &**lift {
            ManifoldLift::Geodesics { space, distances, .. } => {
                let shape = [distances.n_rows(), distances.n_cols()];
                arrays.push(f64s("distances", &shape, distances.as_slice()));
                space
            }
            ManifoldLift::Distances { space } | ManifoldLift::Weights { space, .. } => space,
            ManifoldLift::Steps { samples, weights, .. } => {
                arrays.push(f64s("weights", &[weights.len()], weights));
                arrays.extend(sample_arrays(&name(number, ""), samples));
                return;
            }
        };
        if let Space::Rows { samples, .. } = space {
            arrays.extend(sample_arrays(&name(number, ""), samples));
        }
    }
}

/// JSON has no infinity; no distance exceeds the largest number either.
fn finite(reach: Reach) -> Reach {
    match reach {
        Reach::Within(radius) => Reach::Within(radius.min(f64::MAX)),
        nearest => nearest,
    }
}

fn finite_search(search: &NeighborSearch) -> NeighborSearch {
    NeighborSearch { reach: finite(search.reach), ..*search }
}

fn wrong(found: String, required: &str) -> Error {
    Error::model(found, required, SAVE_AGAIN)
}

/// What a record says cannot be used.
fn unusable(why: Error) -> Error {
    wrong(format!("a record that cannot be used ({why})"), "it must be one that a fit leaves")
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_record(header: &Header, record: &Record) -> Result<()> {
    let (n, d, k) = (header.n_samples, header.n_features, header.n_components);
    let plan = &record.plan;
    if n < 2 || d == 0 || k == 0 || k > plan.n_components {
        let found = format!("{k} of {} components of {n} rows with {d} columns", plan.n_components);
        return Err(wrong(found, "there must be at least 2 rows, 1 column and 1 component"));
    }
    if (plan.n_samples, plan.n_features) != (n, d)
        || plan.precision != header.precision
        || plan.method.name() != header.method
    {
        let found = format!("a plan for {} of {} × {d}", plan.method.name(), plan.n_samples);
        return Err(wrong(found, "the plan and the model must agree"));
    }
    let parts = &record.parts;
    let whole = parts.iter().filter(|part| part.whole).count();
    if parts.is_empty() || parts.len() > n || whole > 0 && parts.len() > 1 {
        return Err(wrong(
            format!("{} parts, {whole} of them with all rows", parts.len()),
            "there is one with all, or several",
        ));
    }
    if parts
        .iter()
        .any(|part| part.whole != (part.n_rows == 0) || part.n_axes > k || part.n_residuals > part.n_axes)
    {
        return Err(wrong(
            "parts whose counts contradict each other".into(),
            "each has rows and axes of its own",
        ));
    }
    let graph = record.facts.graph.iter();
    if graph.flat_map(|graph| graph.bridges.iter().chain(&graph.cut)).any(|edge| edge.from.max(edge.to) >= n)
    {
        return Err(wrong("an edge to a row that does not exist".into(), &format!("there are {n} rows")));
    }
    header.check_words(plan.reasons.iter().chain([
        &plan.engine,
        &plan.metric,
        &plan.route,
        &record.facts.solver,
    ]))
}

/// The model from a file whose layout and header are sound.
pub(in crate::methods) fn build(file: &mut ModelReader<'_>) -> Result<FittedManifold> {
    let header = file.header().clone();
    if ManifoldKind::ALL.iter().all(|kind| kind.name() != header.method) {
        header.check_method(ManifoldKind::Isomap.name())?;
    }
    file.verify()?;
    let record: Record = header.read_record()?;
    check_record(&header, &record)?;
    let (n, k) = (header.n_samples, header.n_components);
    let mut expected = vec![SCORES.to_string()];
    let mut parts = Vec::new();
    for (number, part) in record.parts.iter().enumerate() {
        parts.push(read_part(file, &header, (number, part), &mut expected)?);
    }
    file.expect_only(&expected.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut seen = vec![false; n];
    for row in parts.iter().flat_map(|part| &part.rows) {
        let fresh = seen.get_mut(*row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        if !fresh {
            return Err(wrong(
                format!("row {} in a part", u64::from(*row) + 1),
                "each row is in one part at most",
            ));
        }
    }
    let scores = Matrix::from_vec(file.numbers(SCORES, &[n, k])?, n, k)?;
    Ok(FittedManifold {
        parts,
        scores,
        facts: record.facts,
        plan: record.plan,
        warnings: header.warnings,
        column_names: header.column_names,
        engine: Arc::new(Cpu::at_first_use()),
    })
}

fn read_part(
    file: &mut ModelReader<'_>,
    header: &Header,
    (number, record): (usize, &PartRecord),
    expected: &mut Vec<String>,
) -> Result<Part> {
    let k = header.n_components;
    let mut reader = PartReader { file, header, number, expected };
    let coefficients = reader.numbers("coefficients", &[record.n_lifted, k])?;
    let offset = reader.numbers("offset", &[k])?;
    let eigenvalues = reader.numbers("eigenvalues", &[record.n_axes])?;
    let residuals = reader.numbers("residuals", &[record.n_residuals])?;
    let rows = if record.whole { Vec::new() } else { reader.numbers::<u32>("rows", &[record.n_rows])? };
    let own = if record.whole { header.n_samples } else { record.n_rows };
    let (lift, lifted) = reader.lift(&record.lift, own)?;
    if lifted != record.n_lifted {
        return Err(wrong(
            format!("{} rows of A for a lift of {lifted}", record.n_lifted),
            "they must agree",
        ));
    }
    let coefficients = Matrix::from_vec(coefficients, record.n_lifted, k)?;
    let projection = Projection { lift: Lift::Manifold(Box::new(lift)), coefficients, offset };
    Ok(Part { rows, projection, eigenvalues, residuals })
}

/// Reads the arrays of one part.
struct PartReader<'a, 'b> {
    file: &'a mut ModelReader<'b>,
    header: &'a Header,
    number: usize,
    expected: &'a mut Vec<String>,
}

impl PartReader<'_, '_> {
    fn numbers<N: Number + std::fmt::Display>(&mut self, what: &str, shape: &[usize]) -> Result<Vec<N>> {
        let name = name(self.number, what);
        let numbers = self.file.numbers(&name, shape);
        self.expected.push(name);
        numbers
    }

    /// The lift, and how many numbers it has.
    fn lift(&mut self, record: &LiftRecord, own: usize) -> Result<(ManifoldLift, usize)> {
        Ok(match record {
            LiftRecord::Geodesics { space, search } => {
                search.reach.check().map_err(unusable)?;
                let space = self.space(space, own)?;
                let array = name(self.number, "distances");
                let shape = self.header.arrays.iter().find(|a| a.name == array).map(|a| a.shape.clone());
                let count = shape.and_then(|shape| shape.get(1).copied()).unwrap_or(0);
                let numbers: Vec<f64> = self.numbers("distances", &[own, count])?;
                if numbers.iter().any(|d| *d < 0.0) {
                    return Err(wrong("a negative distance".into(), "distances are not negative"));
                }
                let distances = Matrix::from_vec(numbers, own, count)?;
                (ManifoldLift::Geodesics { space, search: *search, distances }, count)
            }
            LiftRecord::Distances { space } => {
                let landmarks = matches!(space, SpaceRecord::Rows { .. });
                let count = if landmarks { space.n_samples() } else { own };
                let space = self.space(space, count)?;
                (ManifoldLift::Distances { space }, count)
            }
            LiftRecord::Weights { space, search, weights } => {
                search.reach.check().map_err(unusable)?;
                if let NeighborWeights::Heat { gamma: x } | NeighborWeights::Barycentric { ridge: x } =
                    weights
                    && !(*x > 0.0 && x.is_finite())
                {
                    return Err(wrong(format!("{x} in weights of neighbours"), "it must be positive"));
                }
                let space = self.space(space, own)?;
                (ManifoldLift::Weights { space, search: *search, weights: *weights }, own)
            }
            LiftRecord::Steps { kernel, n_samples } => {
                let spec: KernelSpec = kernel.parse().map_err(unusable)?;
                if spec.is_precomputed() {
                    return Err(wrong("a precomputed kernel".into(), "steps need a kernel between rows"));
                }
                let kernel = Kernel::new(&spec, self.header.n_features).map_err(unusable)?;
                let weights: Vec<f64> = self.numbers("weights", &[*n_samples])?;
                if weights.iter().any(|w| *w <= 0.0) {
                    return Err(wrong("a weight that is not positive".into(), "densities are positive"));
                }
                let samples = self.samples(*n_samples)?;
                kernel.check_points(samples.points()).map_err(unusable)?;
                (ManifoldLift::Steps { kernel, samples, weights }, *n_samples)
            }
        })
    }

    fn space(&mut self, record: &SpaceRecord, own: usize) -> Result<Space> {
        if record.n_samples() != own {
            return Err(wrong(
                format!("{} samples where {own} were fitted", record.n_samples()),
                "they must agree",
            ));
        }
        let (n, d) = (self.header.n_samples, self.header.n_features);
        if !matches!(record, SpaceRecord::Rows { .. }) && n != d {
            return Err(wrong(format!("{d} distances of each row to {n}"), "there is one for each"));
        }
        Ok(match record {
            SpaceRecord::Rows { metric, n_samples } => {
                Space::Rows { samples: self.samples(*n_samples)?, metric: *metric }
            }
            SpaceRecord::Distances { n_samples } => Space::Distances { n_samples: *n_samples },
            SpaceRecord::Lists { n_samples } => Space::Lists { n_samples: *n_samples },
        })
    }

    fn samples(&mut self, n: usize) -> Result<AnySamples> {
        let Header { n_features, precision, .. } = self.header;
        let prefix = name(self.number, "");
        read_samples(self.file, &prefix, (n, *n_features), precision, self.expected)
    }
}
