//! Kernel k-means as a file: which arrays it has and what they must satisfy.

use super::KERNEL_K_MEANS;
use super::fitted::{Facts, FittedKernelKMeans, Measure, sizes_of};
use crate::engine::Cpu;
use crate::error::Result;
use crate::methods::kernelised::plan::FactorPlan;
use crate::methods::kernelised::saved::{Arrays, LiftRecord, doubles, projection_arrays, wrong};
use crate::model::{Array, Header, Lift, ModelReader, Numbers, Projection, save, write};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

const LABELS: &str = "labels";
const CENTRES: &str = "centers";
const SQUARES: &str = "squares";

/// What the header says of kernel k-means.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    plan: FactorPlan,
    lift: LiftRecord,
    facts: Facts,
    /// Columns of the projection.
    n_columns: usize,
    /// ‖m‖² where distances go by products.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_square: Option<f64>,
}

impl FittedKernelKMeans {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(|header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`FittedKernelKMeans::save`] wrote. Nothing in the file is run.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is truncated or
    /// damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedKernelKMeans> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::save`].
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
    /// As [`FittedKernelKMeans::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedKernelKMeans> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    pub(in crate::methods) fn with_file(
        &self,
        then: impl FnOnce(&Header, &[Array<'_>]) -> Result<()>,
    ) -> Result<()> {
        let mean_square = match &self.measure {
            Measure::Products { mean_square, .. } => Some(*mean_square),
            Measure::Coordinates { .. } => None,
        };
        let record = Record {
            plan: self.plan.portable(),
            lift: LiftRecord::of(&self.projection, &self.plan)?,
            facts: self.facts.clone(),
            n_columns: self.projection.coefficients.n_cols(),
            mean_square,
        };
        let header = Header {
            precision: self.plan.precision.clone(),
            n_samples: self.labels.len(),
            n_features: self.n_features(),
            n_components: self.n_clusters(),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(KERNEL_K_MEANS)
        };
        check_record(&header, &record)?;
        let mut arrays = projection_arrays("", &self.projection);
        arrays.push(Array::new(LABELS, &[self.labels.len()], Numbers::U32((&self.labels[..]).into())));
        arrays.push(match &self.measure {
            Measure::Coordinates { centres } => {
                doubles("", CENTRES, &[centres.n_rows(), centres.n_cols()], centres.as_slice())
            }
            Measure::Products { squares, .. } => doubles("", SQUARES, &[squares.len()], squares),
        });
        then(&header, &arrays)
    }
}

fn check_record(header: &Header, record: &Record) -> Result<()> {
    let Record { plan, lift, facts, mean_square, .. } = record;
    let (n, d, clusters) = (header.n_samples, header.n_features, header.n_components);
    if (plan.n_samples, plan.n_features, &plan.precision) != (n, d, &header.precision) || lift.n_features != d
    {
        return Err(wrong(format!("a plan that does not fit {n} rows of {d} numbers"), "they must agree"));
    }
    if clusters == 0 || clusters > n {
        return Err(wrong(format!("{clusters} clusters of {n} rows"), "each cluster has a row"));
    }
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
    let words = plan.reasons.iter().chain([&plan.engine, &plan.kernel, &lift.kernel]);
    header.check_words(words)
}

/// The model from a file whose layout and header are sound.
pub(in crate::methods) fn build(file: &mut ModelReader<'_>) -> Result<FittedKernelKMeans> {
    let header = file.header().clone();
    header.check_method(KERNEL_K_MEANS)?;
    file.verify()?;
    let record: Record = header.read_record()?;
    check_record(&header, &record)?;
    let clusters = header.n_components;
    let mut arrays = Arrays::new(file);
    let projection = arrays.projection("", &record.lift, record.n_columns)?;
    let (coordinates, plane_at) = layout(&projection, &record, clusters)?;
    let measure = match (coordinates, record.mean_square) {
        (Some(width), None) => Measure::Coordinates { centres: arrays.matrix(CENTRES, clusters, width)? },
        (None, Some(mean_square)) => {
            let squares = arrays.doubles(SQUARES, &[clusters])?;
            if squares.iter().any(|square| *square < 0.0) {
                return Err(wrong("a centre whose square is negative", "squares are not"));
            }
            Measure::Products { squares, mean_square }
        }
        _ => return Err(wrong("distances by products and by coordinates at once", "they go by one of both")),
    };
    arrays.expected.push(LABELS.into());
    let labels: Vec<u32> = arrays.file.numbers(LABELS, &[header.n_samples])?;
    arrays.finish()?;
    let sizes = sizes_of(&labels, clusters);
    if labels.iter().any(|label| *label as usize >= clusters) {
        return Err(wrong(format!("labels that do not fit {clusters} clusters"), "each row is in one"));
    }
    Ok(FittedKernelKMeans {
        projection,
        measure,
        plane_at,
        labels,
        sizes,
        facts: record.facts,
        plan: record.plan,
        warnings: header.warnings,
        column_names: header.column_names,
        engine: Arc::new(Cpu::at_first_use()),
    })
}

/// Columns that centres are compared in, when they go by coordinates, and where the plane starts.
fn layout(projection: &Projection, record: &Record, clusters: usize) -> Result<(Option<usize>, usize)> {
    let (columns, plane) = (record.n_columns, record.facts.n_plane);
    let (coordinates, plane_at, expected) = match (record.facts.spectral, &projection.lift) {
        (Some(q), _) => (Some(q), 0, q.max(plane)),
        (None, Lift::Precomputed { .. }) => {
            let width = columns.saturating_sub(plane);
            (Some(width), width, width.saturating_add(plane))
        }
        (None, _) => (None, clusters + 1, clusters.saturating_add(1).saturating_add(plane)),
    };
    if columns == expected && coordinates != Some(0) {
        return Ok((coordinates, plane_at));
    }
    Err(wrong(
        format!("{columns} columns for {clusters} clusters and a plane of {plane}"),
        "there is one for each centre, the mean and each axis of the plane, or for each coordinate",
    ))
}
