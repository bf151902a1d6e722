//! Manifold models: their file, declared, and what any model can do.

use super::fitted::{FittedManifold, ManifoldBody, ManifoldFacts, ManifoldKind, Part};
use super::plan::{ManifoldPlan, finite};
use crate::data::AnyPoints;
use crate::eigen::SolveStats;
use crate::error::{Error, Result};
use crate::graph::{Metric, NeighborSearch, Space};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::model::{
    Arrays, Body, Declared, Dim, Header, Lift, ManifoldLift, NeighborWeights, On, Out, Projection, Rule,
    SAVE_AGAIN, Table, in_kernel, in_samples, kernel_text,
};
use serde::{Deserialize, Serialize};

const K: Dim = Dim::Of("components");
/// Marks of parts: some of the rows, samples to compare new rows with, a lift along a graph, a lift by steps.
const SOME_ROWS: &str = "some rows";
const SAMPLES: &str = "samples";
const GEODESICS: &str = "geodesics";
const STEPS: &str = "steps";

const SCORES: [Declared; 1] = [Declared::f64("scores", &[Dim::Of("rows"), K])];

/// Arrays of a part.
const PART: [Declared; 8] = [
    Declared::f64("coefficients", &[Dim::Of("lifted"), K]),
    Declared::f64("offset", &[K]),
    Declared::f64("eigenvalues", &[Dim::Of("axes")]),
    Declared::f64("residuals", &[Dim::Of("residuals")]),
    Declared::u32("rows", &[Dim::Of("own rows")]).with(SOME_ROWS),
    Declared::f64("distances", &[Dim::Of("own"), Dim::Of("landmarks")])
        .with(GEODESICS)
        .rules(&[Rule::NonNegative("distances are not negative")]),
    Declared::f64("weights", &[Dim::Of("samples")])
        .with(STEPS)
        .rules(&[Rule::Positive("weights of samples, inverse densities, are positive")]),
    Declared::samples(&[Dim::Of("samples"), Dim::Of("columns")]).with(SAMPLES),
];

/// What the header says of a manifold model beside the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
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

impl LiftRecord {
    /// Samples that the file holds to compare new rows with.
    fn samples(&self) -> Option<usize> {
        match self {
            Self::Geodesics { space, .. } | Self::Distances { space } | Self::Weights { space, .. } => {
                matches!(space, SpaceRecord::Rows { .. }).then(|| space.n_samples())
            }
            Self::Steps { n_samples, .. } => Some(*n_samples),
        }
    }
}

/// What stands before the names of the arrays of a part.
fn prefix(part: usize) -> String {
    format!("part{part}.")
}

impl Body for ManifoldBody {
    type Plan = ManifoldPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &[
        ManifoldKind::Isomap.name(),
        ManifoldKind::Mds.name(),
        ManifoldKind::Laplacian.name(),
        ManifoldKind::Diffusion.name(),
        ManifoldKind::Lle.name(),
    ];

    fn method(model: &FittedManifold) -> &'static str {
        model.kind().name()
    }

    fn n_components(model: &FittedManifold) -> usize {
        model.scores.n_cols()
    }

    fn stats(model: &FittedManifold) -> Option<SolveStats> {
        Some(model.facts.stats)
    }

    fn project(model: &FittedManifold, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.transform_on(on.0, x, on.1)
    }

    fn label_name(model: &FittedManifold) -> Option<&'static str> {
        (model.parts.len() > 1).then_some("component")
    }

    fn labels(model: &FittedManifold, x: AnyPoints<'_>, on: On<'_>) -> Result<Option<Vec<u32>>> {
        model.part_of(on.0, x, on.1).map(|parts| Self::label_name(model).map(|_| parts))
    }

    fn record(model: &FittedManifold) -> Result<Record> {
        let parts = model.parts.iter().map(PartRecord::of).collect::<Result<Vec<_>>>()?;
        Ok(Record { facts: model.facts.clone(), parts })
    }

    fn check(header: &Header, plan: &ManifoldPlan, record: &Record) -> Result<()> {
        check_counts(header, plan)?;
        check_parts(header, record)?;
        let words = [&plan.engine, &plan.metric, &plan.route, &record.facts.solver];
        header.check_words(plan.reasons.iter().chain(words))
    }

    fn tables(header: &Header, _: &ManifoldPlan, record: &Record) -> Vec<Table> {
        let (n, k) = (header.n_samples, header.n_components);
        let scores = Table::new("", &SCORES, &header.precision).dim("rows", n).dim("components", k);
        let part = |(number, part): (usize, &PartRecord)| {
            let samples = part.lift.samples();
            Table::new(prefix(number), &PART, &header.precision)
                .dim("components", k)
                .dim("columns", header.n_features)
                .dim("lifted", part.n_lifted)
                .dim("axes", part.n_axes)
                .dim("residuals", part.n_residuals)
                .dim("own rows", part.n_rows)
                .dim("own", part.own(n))
                .dim("samples", samples.unwrap_or(0))
                .mark(SOME_ROWS, !part.whole)
                .mark(SAMPLES, samples.is_some())
                .mark(GEODESICS, matches!(part.lift, LiftRecord::Geodesics { .. }))
                .mark(STEPS, matches!(part.lift, LiftRecord::Steps { .. }))
        };
        std::iter::once(scores).chain(record.parts.iter().enumerate().map(part)).collect()
    }

    fn give<'a>(model: &'a FittedManifold, out: &mut Out<'a>) {
        out.matrix("scores", &model.body.scores);
        for (number, part) in model.parts.iter().enumerate() {
            part.give(out.at(prefix(number)));
        }
    }

    fn build(header: &Header, _: &ManifoldPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let scores = arrays.matrix("scores")?;
        let mut parts = Vec::with_capacity(record.parts.len());
        for (number, part) in record.parts.iter().enumerate() {
            parts.push(part.build(header, arrays.at(prefix(number)))?);
        }
        let mut seen = vec![false; header.n_samples];
        for row in parts.iter().flat_map(|part| &part.rows) {
            let fresh = seen.get_mut(*row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            if !fresh {
                return Err(wrong(
                    format!("row {} in a part", u64::from(*row) + 1),
                    "each row is in one part at most",
                ));
            }
        }
        Ok(Self { parts, scores, facts: record.facts })
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
                ManifoldLift::Steps { kernel, samples, .. } => {
                    LiftRecord::Steps { kernel: kernel_text(kernel)?, n_samples: samples.n_rows() }
                }
            },
            _ => return Err(wrong("a lift of another method", "manifold methods have their own")),
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

    /// Rows that it embeds.
    fn own(&self, n_samples: usize) -> usize {
        if self.whole { n_samples } else { self.n_rows }
    }

    fn build(&self, header: &Header, arrays: &mut Arrays) -> Result<Part> {
        let (lift, lifted) = self.lift.build(header, self.own(header.n_samples), arrays)?;
        if lifted != self.n_lifted {
            return Err(wrong(
                format!("{} rows of A for a lift of {lifted}", self.n_lifted),
                "they must agree",
            ));
        }
        Ok(Part {
            rows: if self.whole { Vec::new() } else { arrays.u32("rows")? },
            projection: Projection {
                lift: Lift::Manifold(Box::new(lift)),
                coefficients: arrays.matrix("coefficients")?,
                offset: arrays.f64("offset")?,
            },
            eigenvalues: arrays.f64("eigenvalues")?,
            residuals: arrays.f64("residuals")?,
        })
    }
}

impl Part {
    fn give<'a>(&'a self, out: &mut Out<'a>) {
        out.matrix("coefficients", &self.projection.coefficients)
            .f64("offset", &self.projection.offset[..])
            .f64("eigenvalues", &self.eigenvalues[..])
            .f64("residuals", &self.residuals[..]);
        if !self.rows.is_empty() {
            out.u32("rows", &self.rows);
        }
        let Lift::Manifold(lift) = &self.projection.lift else { return };
        let space = match &**lift {
            ManifoldLift::Geodesics { space, distances, .. } => {
                out.matrix("distances", distances);
                space
            }
            ManifoldLift::Distances { space } | ManifoldLift::Weights { space, .. } => space,
            ManifoldLift::Steps { samples, weights, .. } => {
                out.f64("weights", &weights[..]).samples(samples);
                return;
            }
        };
        if let Space::Rows { samples, .. } = space {
            out.samples(samples);
        }
    }
}

fn finite_search(search: &NeighborSearch) -> NeighborSearch {
    NeighborSearch { reach: finite(search.reach), ..*search }
}

fn wrong(found: impl Into<String>, required: &str) -> Error {
    Error::model(found, required, SAVE_AGAIN)
}

/// What a record says cannot be used.
fn unusable(why: Error) -> Error {
    wrong(format!("a record that cannot be used ({why})"), "it must be one that a fit leaves")
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_counts(header: &Header, plan: &ManifoldPlan) -> Result<()> {
    let (n, d, k) = (header.n_samples, header.n_features, header.n_components);
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
    Ok(())
}

/// Refuses parts that contradict each other, and edges between rows that do not exist.
fn check_parts(header: &Header, record: &Record) -> Result<()> {
    let (n, k) = (header.n_samples, header.n_components);
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
        return Err(wrong("parts whose counts contradict each other", "each has rows and axes of its own"));
    }
    parts.iter().try_for_each(|part| part.lift.check(header, part.own(n)))?;
    let graph = record.facts.graph.iter();
    if graph.flat_map(|graph| graph.bridges.iter().chain(&graph.cut)).any(|edge| edge.from.max(edge.to) >= n)
    {
        return Err(wrong("an edge to a row that does not exist", &format!("there are {n} rows")));
    }
    Ok(())
}

impl LiftRecord {
    /// Refuses a lift that does not fit the `own` rows of its part.
    fn check(&self, header: &Header, own: usize) -> Result<()> {
        match self {
            Self::Geodesics { space, search } => {
                search.reach.check().map_err(unusable)?;
                space.check(header, own)
            }
            Self::Distances { space } => {
                let landmarks = matches!(space, SpaceRecord::Rows { .. });
                space.check(header, if landmarks { space.n_samples() } else { own })
            }
            Self::Weights { space, search, weights } => {
                search.reach.check().map_err(unusable)?;
                if let NeighborWeights::Heat { gamma: x } | NeighborWeights::Barycentric { ridge: x } =
                    weights
                    && !(*x > 0.0 && x.is_finite())
                {
                    return Err(wrong(format!("{x} in weights of neighbors"), "it must be positive"));
                }
                space.check(header, own)
            }
            Self::Steps { kernel, .. } => match kernel.parse::<KernelSpec>().map_err(in_kernel)? {
                spec if spec.is_precomputed() => {
                    Err(wrong("a precomputed kernel", "steps need a kernel between rows"))
                }
                _ => Ok(()),
            },
        }
    }

    /// The lift, and how many numbers it has.
    fn build(&self, header: &Header, own: usize, arrays: &mut Arrays) -> Result<(ManifoldLift, usize)> {
        Ok(match self {
            Self::Geodesics { space, search } => {
                let (space, distances) = (space.build(arrays)?, arrays.matrix("distances")?);
                let count = distances.n_cols();
                (ManifoldLift::Geodesics { space, search: *search, distances }, count)
            }
            Self::Distances { space } => {
                (ManifoldLift::Distances { space: space.build(arrays)? }, space.n_samples())
            }
            Self::Weights { space, search, weights } => {
                let space = space.build(arrays)?;
                (ManifoldLift::Weights { space, search: *search, weights: *weights }, own)
            }
            Self::Steps { kernel, n_samples } => {
                let spec: KernelSpec = kernel.parse().map_err(in_kernel)?;
                let kernel = Kernel::new(&spec, header.n_features).map_err(in_kernel)?;
                let (weights, samples) = (arrays.f64("weights")?, arrays.samples()?);
                kernel.check_points(samples.points()).map_err(in_samples)?;
                (ManifoldLift::Steps { kernel, samples, weights }, *n_samples)
            }
        })
    }
}

impl SpaceRecord {
    fn check(&self, header: &Header, own: usize) -> Result<()> {
        if self.n_samples() != own {
            return Err(wrong(
                format!("{} samples where {own} were fitted", self.n_samples()),
                "they must agree",
            ));
        }
        let (n, d) = (header.n_samples, header.n_features);
        if !matches!(self, Self::Rows { .. }) && n != d {
            return Err(wrong(format!("{d} distances of each row to {n}"), "there is one for each"));
        }
        Ok(())
    }

    fn build(&self, arrays: &mut Arrays) -> Result<Space> {
        Ok(match self {
            Self::Rows { metric, .. } => Space::Rows { samples: arrays.samples()?, metric: *metric },
            Self::Distances { n_samples } => Space::Distances { n_samples: *n_samples },
            Self::Lists { n_samples } => Space::Lists { n_samples: *n_samples },
        })
    }
}
