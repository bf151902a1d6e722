//! Lifts by neighbours and distances: what new rows need to join an embedding.

use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{NeighborSearch, Neighbors, Space};
use crate::kernel::Kernel;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, Matrix};
use crate::progress::Watch;
use crate::real::Real;
use crate::rows::in_memory;
use rayon::prelude::*;

/// Numbers of a lift that one thread holds at a time.
const HELD_NUMBERS: usize = 1 << 18;
/// Rows whose neighbours are held at a time.
const PIECE_ROWS: usize = 8192;

/// How a row is lifted by its neighbours or its distances.
#[derive(Clone, Debug)]
pub enum ManifoldLift {
    /// x ↦ −½δ(x, l)² for landmarks l, δ(x, l) = minⱼ d(x, xⱼ) + δ(xⱼ, l) over the neighbours j of x, (G10).
    Geodesics {
        /// Where neighbours are looked for.
        space: Space,
        /// How.
        search: NeighborSearch,
        /// δ(xⱼ, l), a row for each sample, a column for each landmark.
        distances: Matrix<f64>,
    },
    /// x ↦ −½d(x, l)², (G9).
    Distances {
        /// The landmarks, or all samples, and the metric.
        space: Space,
    },
    /// x ↦ weights of its neighbours, which sum to 1, (G14), (G18).
    Weights {
        /// Where neighbours are looked for.
        space: Space,
        /// How.
        search: NeighborSearch,
        /// Which weights.
        weights: NeighborWeights,
    },
    /// x ↦ k(x, xⱼ)sⱼ / Σᵢ k(x, xᵢ)sᵢ: probabilities of a step, (G16).
    Steps {
        /// k.
        kernel: Kernel,
        /// The samples.
        samples: AnySamples,
        /// sⱼ, the inverse density of sample j to a power.
        weights: Vec<f64>,
    },
}

/// Weights of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NeighborWeights {
    /// All the same.
    Equal,
    /// exp(−γd²).
    Heat {
        /// γ.
        gamma: f64,
    },
    /// Those that give the row itself as nearly as possible, (G18).
    Barycentric {
        /// Added to the diagonal of the local products, relative to their trace.
        ridge: f64,
    },
}

impl ManifoldLift {
    /// Numbers that a row must have.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Geodesics { space, .. } | Self::Distances { space } | Self::Weights { space, .. } => {
                space.n_features()
            }
            Self::Steps { samples, .. } => samples.n_cols(),
        }
    }

    /// Samples that a row may be a neighbour of.
    fn n_samples(&self) -> usize {
        match self {
            Self::Geodesics { distances, .. } => distances.n_rows(),
            Self::Distances { space } | Self::Weights { space, .. } => space.n_samples(),
            Self::Steps { samples, .. } => samples.n_rows(),
        }
    }

    /// out ← lift(x)·A, in the engine's threads.
    pub(super) fn times(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        a: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &Watch,
    ) -> Result<()> {
        x.check()?;
        match self {
            Self::Distances { space } => distances_times(space, x, a, out, watch),
            Self::Steps { kernel, samples, weights } => {
                kernel.check_points(x)?;
                let k = a.n_cols();
                // One product gives numerators and the denominator.
                let block = Matrix::from_fn(a.n_rows(), k + 1, |i, j| {
                    if j < k { weights[i] * a[(i, j)] } else { weights[i] }
                });
                let mut both = Matrix::zeros(x.n_rows(), k + 1);
                let rows = in_memory(x, engine);
                rows.cross(kernel, samples)?.apply(block.view(), both.view_mut(), watch)?;
                // Kernel values never quite vanish: exp stops at a smallest number, and rows of such values are equally far.
                let least = match samples {
                    AnySamples::F32(_) => f32::SMALLEST_EXPONENT.f64(),
                    AnySamples::F64(_) => f64::SMALLEST_EXPONENT,
                };
                let faint = 2.0 * least.exp2() * weights.iter().sum::<f64>();
                for i in 0..x.n_rows() {
                    let row = both.row(i);
                    if row[k] <= faint {
                        return Err(far_away(i));
                    }
                    out.view_mut().row_mut(i).iter_mut().zip(row).for_each(|(o, s)| *o = s / row[k]);
                }
                Ok(())
            }
            Self::Geodesics { space, search, .. } | Self::Weights { space, search, .. } => {
                for (piece, into) in out.view_mut().row_chunks(PIECE_ROWS).into_iter().enumerate() {
                    let from = piece * PIECE_ROWS;
                    watch.step("projecting rows", from, x.n_rows())?;
                    let rows = x.rows(from..from + into.n_rows());
                    let neighbors = search.of_new(space, rows, &watch.silent())?;
                    self.neighbors_times((&neighbors, Some(rows), from), a, into, watch)?;
                }
                Ok(())
            }
        }
    }

    /// out ← lift·A of rows known by their neighbours; `first` counts the rows before them.
    pub(super) fn neighbors_times(
        &self,
        (neighbors, rows, first): (&Neighbors, Option<AnyPoints<'_>>, usize),
        a: &Matrix<f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<()> {
        if let Some(i) = (0..neighbors.n_rows()).find(|i| neighbors.row(*i).0.is_empty()) {
            return Err(no_neighbours(first + i));
        }
        let n = self.n_samples();
        let all = (0..neighbors.n_rows()).flat_map(|i| neighbors.row(i).0);
        if let Some(beyond) = all.into_iter().find(|sample| **sample as usize >= n) {
            return Err(Error::data(
                format!("sample {} as a neighbour of a new row", u64::from(*beyond) + 1),
                format!("there are {n} samples"),
                "Give neighbours among the samples of the fit",
            ));
        }
        match self {
            Self::Geodesics { distances, .. } => geodesics_times(neighbors, distances, a, out, watch),
            Self::Weights { space, weights, .. } => {
                let local = Local { neighbors, rows, space, weights: *weights };
                local.times(a, out, watch)
            }
            Self::Distances { .. } | Self::Steps { .. } => Err(Error::data(
                "lists of neighbours",
                "this model's new rows need distances or kernel values to all samples",
                "Give rows",
            )),
        }
    }
}

fn no_neighbours(row: usize) -> Error {
    Error::data(
        format!("row {} has no neighbour among the samples", row + 1),
        "a new row joins the embedding through at least one",
        "Fit with a larger radius or with a number of neighbours, or leave that row out",
    )
}

fn far_away(row: usize) -> Error {
    Error::data(
        format!("row {} is so far from every sample that all kernel values are zero", row + 1),
        "a new row joins the embedding through samples near it",
        "Choose a wider kernel, or leave that row out",
    )
}

/// −½δ(x, l)² for a few rows at a time, then times A.
fn geodesics_times(
    neighbors: &Neighbors,
    distances: &Matrix<f64>,
    a: &Matrix<f64>,
    out: MatMut<'_, f64>,
    watch: &Watch,
) -> Result<()> {
    let n_landmarks = distances.n_cols();
    let height = (HELD_NUMBERS / n_landmarks.max(1)).clamp(1, 64);
    out.row_chunks(height).into_par_iter().enumerate().try_for_each(|(piece, into)| {
        watch.check()?;
        let mut lift = Matrix::zeros(into.n_rows(), n_landmarks);
        for i in 0..into.n_rows() {
            let (samples, lengths) = neighbors.row(piece * height + i);
            let mut view = lift.view_mut();
            let row = view.row_mut(i);
            row.fill(f64::INFINITY);
            for (sample, length) in samples.iter().zip(lengths) {
                let along = distances.row(*sample as usize);
                row.iter_mut().zip(along).for_each(|(r, d)| *r = r.min(length + d));
            }
            row.iter_mut().for_each(|r| *r = -0.5 * *r * *r);
        }
        gemm(into, Onto::Replace, 1.0, Factor::Plain(lift.view()), Factor::Plain(a.view()));
        Ok(())
    })
}

/// −½d(x, l)² for a few rows at a time, then times A.
fn distances_times(
    space: &Space,
    x: AnyPoints<'_>,
    a: &Matrix<f64>,
    out: &mut Matrix<f64>,
    watch: &Watch,
) -> Result<()> {
    let n = space.n_samples();
    let samples = match space {
        Space::Rows { samples, metric } => Some((samples.points().to_dense::<f64>(), *metric)),
        _ => None,
    };
    let height = (HELD_NUMBERS / n.max(1)).clamp(1, 64);
    out.view_mut().row_chunks(height).into_par_iter().enumerate().try_for_each(|(piece, into)| {
        watch.check()?;
        let mut lift = Matrix::zeros(into.n_rows(), n);
        let mut own = vec![0.0; x.n_cols()];
        for i in 0..into.n_rows() {
            x.copy_row(piece * height + i, &mut own);
            let mut view = lift.view_mut();
            let row = view.row_mut(i);
            match &samples {
                Some((samples, metric)) => {
                    row.iter_mut().enumerate().for_each(|(j, r)| *r = metric.distance(&own, samples.row(j)));
                }
                None => row.copy_from_slice(&own),
            }
            row.iter_mut().for_each(|r| *r = -0.5 * *r * *r);
        }
        gemm(into, Onto::Replace, 1.0, Factor::Plain(lift.view()), Factor::Plain(a.view()));
        Ok(())
    })
}

/// Rows, their neighbours, and how these are weighted.
struct Local<'a> {
    neighbors: &'a Neighbors,
    rows: Option<AnyPoints<'a>>,
    space: &'a Space,
    weights: NeighborWeights,
}

impl Local<'_> {
    fn times(&self, a: &Matrix<f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        const HEIGHT: usize = 64;
        out.row_chunks(HEIGHT).into_par_iter().enumerate().try_for_each(|(piece, mut into)| {
            watch.check()?;
            for i in 0..into.n_rows() {
                let at = piece * HEIGHT + i;
                let weights = self.row_weights(at)?;
                let row = into.row_mut(i);
                row.fill(0.0);
                for (sample, weight) in self.neighbors.row(at).0.iter().zip(&weights) {
                    row.iter_mut().zip(a.row(*sample as usize)).for_each(|(o, x)| *o += weight * x);
                }
            }
            Ok(())
        })
    }

    fn row_weights(&self, i: usize) -> Result<Vec<f64>> {
        let (samples, distances) = self.neighbors.row(i);
        let raw: Vec<f64> = match (self.weights, self.rows, self.space) {
            (NeighborWeights::Equal, ..) => vec![1.0; samples.len()],
            (NeighborWeights::Heat { gamma }, ..) => {
                // Relative to the nearest, so that far rows keep weights that sum to 1.
                let nearest = distances.first().copied().unwrap_or(0.0);
                distances.iter().map(|d| (-gamma * (d * d - nearest * nearest)).exp()).collect()
            }
            (NeighborWeights::Barycentric { ridge }, Some(x), Space::Rows { samples: all, .. }) => {
                let mut own = vec![0.0; x.n_cols()];
                x.copy_row(i, &mut own);
                let mut near = Matrix::zeros(samples.len(), x.n_cols());
                for (at, sample) in samples.iter().enumerate() {
                    all.points().copy_row(*sample as usize, near.view_mut().row_mut(at));
                }
                return super::barycentric_weights(&own, &near, ridge);
            }
            (NeighborWeights::Barycentric { .. }, ..) => {
                return Err(Error::data(
                    "neighbours without rows",
                    "barycentric weights need the rows themselves",
                    "Give rows",
                ));
            }
        };
        let total: f64 = raw.iter().sum();
        Ok(raw.into_iter().map(|w| w / total).collect())
    }
}
