//! Kernel k-means as a model: its file, declared, and what any model can do.

use super::fitted::{Facts, FittedKernelKMeans, KernelKMeansBody, Measure, sizes_of};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::factor::FactorPlan;
use crate::matrix::Matrix;
use crate::model::{Arrays, Body, Declared, Dim, Header, LiftRecord, On, Out, Rule, SAVE_AGAIN, Table};
use serde::{Deserialize, Serialize};

/// Mark of models whose distances go by products with the centers, and of those whose centers are coordinates.
const PRODUCTS: &str = "products";
const COORDINATES: &str = "coordinates";

/// Arrays beside those of the projection.
const ARRAYS: [Declared; 3] = [
    Declared::u32("labels", &[Dim::Of("samples")])
        .rules(&[Rule::Below("clusters", "each row is in one of the clusters, counted from 0")]),
    Declared::f64("centers", &[Dim::Of("clusters"), Dim::Of("coordinates")]).with(COORDINATES),
    Declared::f64("squares", &[Dim::Of("clusters")])
        .with(PRODUCTS)
        .rules(&[Rule::NonNegative("the square of a center's length is not negative")]),
];

/// What the header says of kernel k-means beside the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    lift: LiftRecord,
    facts: Facts,
    /// Columns of the projection.
    n_columns: usize,
    /// ‖m‖² where distances go by products.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_square: Option<f64>,
}

fn wrong(found: impl Into<String>, required: &str) -> Error {
    Error::model(found, required, SAVE_AGAIN)
}

impl Body for KernelKMeansBody {
    type Plan = FactorPlan;
    type Record = Record;
    const METHODS: &'static [&'static str] = &["kkmeans"];

    fn n_components(model: &FittedKernelKMeans) -> usize {
        model.n_clusters()
    }

    fn project(model: &FittedKernelKMeans, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        model.distances_on(on.0, x, on.1)
    }

    fn label_name(_: &FittedKernelKMeans) -> Option<&'static str> {
        Some("cluster")
    }

    fn labels(model: &FittedKernelKMeans, x: AnyPoints<'_>, on: On<'_>) -> Result<Option<Vec<u32>>> {
        model.predict_on(on.0, x, on.1).map(Some)
    }

    fn record(model: &FittedKernelKMeans) -> Result<Record> {
        let mean_square = match &model.measure {
            Measure::Products { mean_square, .. } => Some(*mean_square),
            Measure::Coordinates { .. } => None,
        };
        Ok(Record {
            lift: LiftRecord::of(&model.projection, model.plan.approximation, model.plan.seed)?,
            facts: model.facts.clone(),
            n_columns: model.projection.coefficients.n_cols(),
            mean_square,
        })
    }

    fn check(header: &Header, plan: &FactorPlan, record: &Record) -> Result<()> {
        check_counts(header, plan, record)?;
        check_facts(record)?;
        check_layout(record, header.n_components)?;
        header.check_words(plan.reasons.iter().chain([&plan.engine, &plan.kernel, &record.lift.kernel]))
    }

    fn tables(header: &Header, _: &FactorPlan, record: &Record) -> Vec<Table> {
        let (coordinates, ..) = layout(record, header.n_components);
        let table = record.lift.table("", record.n_columns).and(&ARRAYS);
        vec![
            table
                .dim("samples", header.n_samples)
                .dim("clusters", header.n_components)
                .dim("coordinates", coordinates.unwrap_or(0))
                .mark(PRODUCTS, coordinates.is_none())
                .mark(COORDINATES, coordinates.is_some()),
        ]
    }

    fn give<'a>(model: &'a FittedKernelKMeans, out: &mut Out<'a>) {
        out.projection(&model.projection).u32("labels", &model.body.labels);
        match &model.body.measure {
            Measure::Coordinates { centres } => out.matrix("centers", centres),
            Measure::Products { squares, .. } => out.f64("squares", &squares[..]),
        };
    }

    fn build(header: &Header, _: &FactorPlan, record: Record, arrays: &mut Arrays) -> Result<Self> {
        let clusters = header.n_components;
        let projection = record.lift.projection(arrays)?;
        let (_, plane_at, _) = layout(&record, clusters);
        let measure = match record.mean_square {
            None => Measure::Coordinates { centres: arrays.matrix("centers")? },
            Some(mean_square) => Measure::Products { squares: arrays.f64("squares")?, mean_square },
        };
        let labels = arrays.u32("labels")?;
        let sizes = sizes_of(&labels, clusters);
        Ok(Self { projection, measure, plane_at, labels, sizes, facts: record.facts })
    }
}

fn check_counts(header: &Header, plan: &FactorPlan, record: &Record) -> Result<()> {
    let lift = &record.lift;
    let (n, d, clusters) = (header.n_samples, header.n_features, header.n_components);
    if (plan.n_samples, plan.n_features, &plan.precision) != (n, d, &header.precision) || lift.n_features != d
    {
        return Err(wrong(format!("a plan that does not fit {n} rows of {d} numbers"), "they must agree"));
    }
    if clusters == 0 || clusters > n {
        return Err(wrong(format!("{clusters} clusters of {n} rows"), "each cluster has a row"));
    }
    Ok(())
}

fn check_facts(record: &Record) -> Result<()> {
    let Record { facts, mean_square, .. } = record;
    let sound = |x: f64| x >= 0.0 && x.is_finite();
    if !sound(facts.inertia)
        || facts.left_out.is_some_and(|x| !sound(x))
        || mean_square.is_some_and(|x| !sound(x))
    {
        return Err(wrong("a sum of squares that is negative or not finite", "it is neither"));
    }
    if facts.n_plane > 2 || facts.spectral == Some(0) {
        return Err(wrong(
            format!("a plane of {} columns", facts.n_plane),
            "it has at most 2, and clusters go by at least one component",
        ));
    }
    Ok(())
}

/// Columns that centers are compared in, when they go by coordinates; where the plane starts; and all columns of the projection.
fn layout(record: &Record, clusters: usize) -> (Option<usize>, usize, usize) {
    let (columns, plane) = (record.n_columns, record.facts.n_plane);
    match record.facts.spectral {
        Some(q) => (Some(q), 0, q.max(plane)),
        None if record.lift.is_precomputed() => {
            let width = columns.saturating_sub(plane);
            (Some(width), width, width.saturating_add(plane))
        }
        None => {
            let first = clusters.saturating_add(1);
            (None, first, first.saturating_add(plane))
        }
    }
}

fn check_layout(record: &Record, clusters: usize) -> Result<()> {
    let (coordinates, _, expected) = layout(record, clusters);
    if record.n_columns != expected || coordinates == Some(0) {
        return Err(wrong(
            format!(
                "{} columns for {clusters} clusters and a plane of {}",
                record.n_columns, record.facts.n_plane
            ),
            "there is one for each center, the mean and each axis of the plane, or for each coordinate",
        ));
    }
    if coordinates.is_some() != record.mean_square.is_none() {
        return Err(wrong("distances by products and by coordinates at once", "they go by one of both"));
    }
    Ok(())
}
