//! Tangent spaces and how far edges leave them.

use crate::data::AnyPoints;
use crate::error::Result;
use crate::graph::symmetric::{Edge, Graph};
use crate::linalg::symmetric_eigen;
use crate::matrix::Matrix;
use crate::memory::room_for;
use crate::progress::Watch;
use rayon::prelude::*;

/// Share of the squared lengths that a tangent space holds at least.
const SHARE: f64 = 0.9;
/// Most neighbours that a tangent space is made of, the nearest.
const MOST: usize = 64;
/// Vertices that one thread handles at a time, and pieces between two reports of progress.
const PIECE: usize = 64;
const ROUND: usize = 64;

/// The angle between each edge and the tangent space at either end.
pub(super) struct Tangents {
    /// In degrees, as [`Graph::targets`].
    angles: Vec<f64>,
    /// Whether the tangent space at a vertex is less than the whole space.
    proper: Vec<bool>,
}

impl Tangents {
    /// The tangent space at a vertex is spanned by the leading eigenvectors of Σ w·uuᵀ, u the unit vectors to its neighbours
    /// and w = 1/(1 + (ℓ/s)²), as many as hold nine tenths of the trace, (G24).
    ///
    /// Why unit vectors and weights: one long edge among ten must not turn the plane.
    /// Cost: O(k·m²) at each vertex, m the smaller of the number of neighbours, up to 64, and of columns, k the larger.
    pub(super) fn new(graph: &Graph, x: AnyPoints<'_>, scales: &[f64], watch: &Watch) -> Result<Self> {
        let n = graph.n_vertices();
        let (mut angles, mut proper) = (room_for(graph.targets().len()), Vec::with_capacity(n));
        for start in (0..n).step_by(PIECE * ROUND) {
            watch.step("tangent spaces", start, n)?;
            let vertices: Vec<usize> = (start..n.min(start + PIECE * ROUND)).collect();
            let pieces = vertices.par_chunks(PIECE).map(|piece| {
                watch.check()?;
                piece.iter().map(|v| at_vertex(graph, x, *v, scales[*v])).collect::<Result<Vec<_>>>()
            });
            for (own, less) in pieces.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                angles.extend(own);
                proper.push(less);
            }
        }
        Ok(Self { angles, proper })
    }

    /// The smaller and the larger angle, when both ends have tangent spaces that leave something out.
    pub(super) fn telling(&self, graph: &Graph, edge: Edge) -> Option<(f64, f64)> {
        let (a, b) = self.both(graph, edge);
        (self.proper[edge.from] && self.proper[edge.to]).then_some((a.min(b), a.max(b)))
    }

    fn both(&self, graph: &Graph, edge: Edge) -> (f64, f64) {
        let angle = |a: usize, b: usize| {
            let at = graph.row(a).0.binary_search(&(b as u32)).ok();
            at.map_or(0.0, |at| self.angles[graph.offsets()[a] + at])
        };
        (angle(edge.from, edge.to), angle(edge.to, edge.from))
    }
}

/// Angles of the edges at a vertex, and whether its tangent space is less than the whole.
fn at_vertex(graph: &Graph, x: AnyPoints<'_>, v: usize, scale: f64) -> Result<(Vec<f64>, bool)> {
    let (targets, lengths) = graph.row(v);
    let units = units(x, v, targets);
    let mut nearest: Vec<usize> = (0..targets.len()).collect();
    if nearest.len() > MOST {
        nearest.sort_by(|a, b| lengths[*a].total_cmp(&lengths[*b]).then(a.cmp(b)));
        nearest.truncate(MOST);
    }
    let weight = |i: usize| if scale > 0.0 { 1.0 / (1.0 + (lengths[i] / scale).powi(2)) } else { 1.0 };
    let weighted =
        Matrix::from_fn(nearest.len(), x.n_cols(), |i, j| units[(nearest[i], j)] * weight(nearest[i]).sqrt());
    let axes = axes(&weighted)?;
    let angles = (0..targets.len())
        .map(|i| {
            let unit = units.row(i);
            let square: f64 = unit.iter().map(|u| u * u).sum();
            let within: f64 = (0..axes.n_rows()).map(|l| dot(axes.row(l), unit).powi(2)).sum();
            // A neighbour in the same place has no direction.
            if square == 0.0 { 0.0 } else { within.sqrt().min(1.0).acos().to_degrees() }
        })
        .collect();
    Ok((angles, axes.n_rows() < x.n_cols()))
}

/// Unit vectors from vertex v to its neighbours as rows; zeros where both are in the same place.
fn units(x: AnyPoints<'_>, v: usize, targets: &[u32]) -> Matrix<f64> {
    let d = x.n_cols();
    let mut here = vec![0.0; d];
    x.copy_row(v, &mut here);
    let mut units = Matrix::<f64>::zeros(targets.len(), d);
    for (row, to) in units.as_mut_slice().chunks_mut(d.max(1)).zip(targets) {
        x.copy_row(*to as usize, row);
        row.iter_mut().zip(&here).for_each(|(there, here)| *there -= here);
        // The largest entry first: squares of tiny or huge differences would leave the range of numbers.
        let largest = row.iter().fold(0.0f64, |largest, u| largest.max(u.abs()));
        if largest > 0.0 && largest.is_finite() {
            row.iter_mut().for_each(|u| *u /= largest);
            let norm = dot(row, row).sqrt();
            row.iter_mut().for_each(|u| *u /= norm);
        } else {
            row.fill(0.0);
        }
    }
    units
}

/// The leading right singular vectors of a matrix as rows, as many as hold [`SHARE`] of the squares; from the smaller of both
/// products of the matrix with itself.
fn axes(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (rows, d) = (a.n_rows(), a.n_cols());
    let tall = rows > d;
    let product = if tall {
        let mut product = Matrix::<f64>::zeros(d, d);
        for i in 0..rows {
            let row = a.row(i);
            for (p, out) in product.as_mut_slice().chunks_mut(d.max(1)).enumerate() {
                out.iter_mut().zip(row).for_each(|(out, u)| *out += row[p] * u);
            }
        }
        product
    } else {
        Matrix::from_fn(rows, rows, |i, j| if j <= i { dot(a.row(i), a.row(j)) } else { 0.0 })
    };
    let trace: f64 = (0..product.n_rows()).map(|i| product[(i, i)]).sum();
    if trace <= 0.0 {
        return Ok(Matrix::zeros(0, d));
    }
    let (values, vectors) = symmetric_eigen(&product)?;
    let mut held = 0.0;
    let short = |value: &&f64| {
        let more = held < SHARE * trace;
        held += **value;
        more
    };
    let count = values.iter().take_while(short).count();
    Ok(Matrix::from_fn(count, d, |l, j| {
        if tall {
            vectors[(j, l)]
        } else {
            (0..rows).map(|i| a[(i, j)] * vectors[(i, l)]).sum::<f64>() / values[l].sqrt()
        }
    }))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
