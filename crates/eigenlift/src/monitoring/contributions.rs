//! Which input columns make a row unusual: integrated gradients, (C57).

use super::Statistic;
use super::measure::check_columns;
use super::surface::{Surface, each_block};
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::kernel::{Workspace, squared_distances};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Lift, Projection};
use crate::progress::Watch;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nodes on the way from the baseline to a row, to begin with and at most.
const NODES: [usize; 5] = [8, 16, 32, 64, 128];
/// Defect, as a share of the statistic, that is good enough.
const GOOD_ENOUGH: f64 = 1e-3;
/// Rows that differ by no more than this share in every column are the same row, perhaps in another precision.
const SAME_ROW: f64 = 1e-6;
/// Share of the largest squared norm below which a squared distance may be that of the same row.
const NEAR_ROW: f64 = 1e-8;
/// Rows whose baselines are looked for together.
const TOGETHER: usize = 64;

/// Where the way to a row begins.
#[derive(Clone, Copy, Debug, Default)]
pub enum Baseline<'a> {
    /// The nearest of the samples or landmarks that the model holds, other than the row itself; the mean row where it holds
    /// features of degree 1 instead.
    #[default]
    Own,
    /// The nearest of these rows, other than the row itself. One row serves all.
    Among(AnyPoints<'a>),
}

/// Contributions of input columns to a statistic: they add up to the difference to a usual row.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions {
    /// One row for each row, one column for each input column.
    pub values: Matrix<f64>,
    /// Where the way to each row began.
    pub baselines: Matrix<f64>,
    /// The statistic there.
    pub from: Vec<f64>,
    /// The statistic of the row.
    pub to: Vec<f64>,
    /// Largest |Σ contributions − (to − from)|, as a share of the larger of the two.
    pub defect: f64,
}

/// One row's share of [`Contributions`].
struct Found {
    values: Vec<f64>,
    from: f64,
    to: f64,
    defect: f64,
}

/// The components whose statistics are explained.
pub(crate) struct Explained<'a> {
    pub(crate) projection: &'a Projection,
    pub(crate) mean: &'a FeatureMean,
    /// Variances along the components.
    pub(crate) variances: Vec<f64>,
}

/// Contributions of input columns to a statistic of rows, (C57).
///
/// # Errors
/// When rows have another number of columns, or entries that the kernel cannot take; when there is no row to start from; cancellation.
pub(crate) fn contributions(
    explained: &Explained<'_>,
    x: AnyPoints<'_>,
    (statistic, baseline): (Statistic, Baseline<'_>),
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<Contributions> {
    let Explained { projection, mean, variances } = explained;
    let surface = Surface::new(projection, mean, variances.clone(), statistic)?;
    check_columns(x, projection.lift.n_features())?;
    if let Lift::Kernel { kernel, .. } | Lift::Features { kernel, .. } = &projection.lift {
        kernel.check_points(x)?;
    }
    let rows: Matrix<f64> = x.to_dense();
    let baselines = explained.baselines(engine, &rows, baseline)?;
    integrate_all(&surface, (&rows, baselines), (engine, watch))
}

impl Explained<'_> {
    fn baselines(&self, engine: &dyn Engine, rows: &Matrix<f64>, from: Baseline<'_>) -> Result<Matrix<f64>> {
        let d = rows.n_cols();
        match (from, &self.projection.lift) {
            (Baseline::Among(given), _) => {
                check_columns(given, d)?;
                given.check()?;
                if given.n_rows() == 0 {
                    return Err(Error::data(
                        "no rows to start from",
                        "contributions are counted from a usual row",
                        "Give at least one row",
                    ));
                }
                nearest(engine, rows, &given.to_dense::<f64>().into())
            }
            (Baseline::Own, Lift::Kernel { samples, .. }) => nearest(engine, rows, samples),
            (Baseline::Own, Lift::Features { map, .. }) => {
                let mean = self.mean.coefficients.as_deref().unwrap_or_default();
                let row = map.linear_part(mean).ok_or_else(|| {
                    Error::model(
                        "a model by features, which holds no rows",
                        "contributions are counted from a usual row",
                        "Give reference rows, or fit by landmarks or by the Gram matrix",
                    )
                })?;
                Ok(Matrix::from_fn(rows.n_rows(), d, |_, j| row[j]))
            }
            _ => Ok(rows.clone()),
        }
    }
}

/// The sample nearest to each row, other than the row itself.
fn nearest(engine: &dyn Engine, rows: &Matrix<f64>, samples: &AnySamples) -> Result<Matrix<f64>> {
    let mut out = Matrix::zeros(rows.n_rows(), rows.n_cols());
    engine.run(&mut || {
        out.view_mut().row_chunks(TOGETHER).into_par_iter().enumerate().for_each(|(piece, mut out)| {
            let from = piece * TOGETHER;
            let own = rows.view().rows(from..from + out.n_rows());
            let mut best = vec![(f64::INFINITY, None::<usize>); own.n_rows()];
            let mut work = Workspace::default();
            each_block(samples, |range, x| {
                let mut squares = vec![0.0; own.n_rows() * x.n_rows()];
                squared_distances(own, x, &mut squares, &mut work);
                for (i, squares) in squares.chunks_exact(x.n_rows().max(1)).enumerate() {
                    let near = NEAR_ROW * own.row(i).iter().map(|v| v * v).sum::<f64>();
                    for (j, square) in squares.iter().enumerate() {
                        if *square < best[i].0 && !(*square <= near && same(own.row(i), x.row(j))) {
                            best[i] = (*square, Some(range.start + j));
                        }
                    }
                }
            });
            for (i, (_, at)) in best.iter().enumerate() {
                match at {
                    Some(at) => samples.points().copy_row(*at, out.row_mut(i)),
                    // Every sample is this row.
                    None => out.row_mut(i).copy_from_slice(own.row(i)),
                }
            }
        });
    });
    Ok(out)
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME_ROW * a.abs())
}

fn integrate_all(
    surface: &Surface<'_>,
    (rows, baselines): (&Matrix<f64>, Matrix<f64>),
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<Contributions> {
    let n = rows.n_rows();
    let legendre: Vec<Vec<(f64, f64)>> = NODES.iter().map(|count| gauss_legendre(*count)).collect();
    let finished = AtomicUsize::new(0);
    let mut result = Ok(Vec::new());
    engine.run(&mut || {
        let each = (0..n).into_par_iter().with_max_len(1).map(|i| {
            let found = integrate(surface, rows.row(i), baselines.row(i), &legendre)?;
            watch.step("contributions of columns", finished.fetch_add(1, Ordering::Relaxed) + 1, n)?;
            Ok(found)
        });
        result = each.collect::<Result<Vec<Found>>>();
    });
    let found = result?;
    let values = found.iter().flat_map(|row| row.values.iter().copied()).collect();
    Ok(Contributions {
        values: Matrix::from_vec(values, n, rows.n_cols())?,
        baselines,
        from: found.iter().map(|row| row.from).collect(),
        to: found.iter().map(|row| row.to).collect(),
        defect: found.iter().map(|row| row.defect).fold(0.0, f64::max),
    })
}

/// cⱼ = (xⱼ − x₀ⱼ)·∫₀¹ ∂S/∂xⱼ(x₀ + t(x − x₀)) dt, with more nodes until they add up to S(x) − S(x₀).
fn integrate(surface: &Surface<'_>, x: &[f64], start: &[f64], legendre: &[Vec<(f64, f64)>]) -> Result<Found> {
    let d = x.len();
    let ends = surface.evaluate(&Matrix::from_fn(2, d, |i, j| if i == 0 { start[j] } else { x[j] }))?.values;
    let (from, to) = (ends[0], ends[1]);
    let size = from.abs().max(to.abs()).max(surface.rounding());
    let (mut values, mut defect) = (vec![0.0; d], 0.0);
    if x == start {
        return Ok(Found { values, from: from.max(0.0), to: to.max(0.0), defect });
    }
    for nodes in legendre {
        let way = Matrix::from_fn(nodes.len(), d, |i, j| start[j] + nodes[i].0 * (x[j] - start[j]));
        let slopes = surface.evaluate(&way)?.gradients;
        values.fill(0.0);
        for (i, (_, weight)) in nodes.iter().enumerate() {
            values.iter_mut().zip(slopes.row(i)).for_each(|(v, slope)| *v += weight * slope);
        }
        values.iter_mut().enumerate().for_each(|(j, v)| *v *= x[j] - start[j]);
        defect = (values.iter().sum::<f64>() - (to - from)).abs() / size;
        if defect <= GOOD_ENOUGH {
            break;
        }
    }
    Ok(Found { values, from: from.max(0.0), to: to.max(0.0), defect })
}

/// Nodes and weights of Gauss and Legendre on 0 … 1: exact for polynomials of degree below 2·count.
fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let m = count as f64;
    // P and P′ of degree `count` at z, by their recurrence.
    let legendre = |z: f64| {
        let (mut before, mut p) = (1.0, z);
        for degree in 2..=count {
            let l = degree as f64;
            (before, p) = (p, ((2.0 * l - 1.0) * z * p - (l - 1.0) * before) / l);
        }
        (p, m * (before - z * p) / (1.0 - z * z))
    };
    (0..count)
        .map(|i| {
            let mut z = (std::f64::consts::PI * (i as f64 + 0.75) / (m + 0.5)).cos();
            for _ in 0..6 {
                let (p, slope) = legendre(z);
                z -= p / slope;
            }
            let slope = legendre(z).1;
            (0.5 * (1.0 - z), 1.0 / ((1.0 - z * z) * slope * slope))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauss_and_legendre_integrate_polynomials_exactly() {
        for count in NODES {
            let nodes = gauss_legendre(count);
            for degree in [0, 1, 2, count, 2 * count - 1] {
                let sum: f64 = nodes.iter().map(|(t, w)| w * t.powi(degree as i32)).sum();
                let exact = 1.0 / (degree as f64 + 1.0);
                assert!((sum - exact).abs() < 1e-14, "{count} {degree}: {sum} {exact}");
            }
        }
    }
}
