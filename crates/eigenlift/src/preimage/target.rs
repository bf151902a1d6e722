//! The function that a pre-image makes small: J(y) = k(y,y) − 2⟨φ(y), P⟩, which is ‖φ(y) − P‖² up to ‖P‖².

use crate::data::{AnyPoints, AnySamples, Points};
use crate::features::FeatureMap;
use crate::gram::BLOCK_ROWS;
use crate::kernel::{DistanceProfile, Kernel, Workspace, squared_distances};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use std::ops::Range;

/// In what a point P of feature space is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// P = Σ cᵢφ(xᵢ) over samples or landmarks.
    Samples { kernel: &'a Kernel, samples: &'a AnySamples },
    /// P by its coordinates.
    Features { map: &'a FeatureMap },
}

/// J at some rows, its gradient, and for kernels of the distance ΣD and Σ|D| of (K52).
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) values: Vec<f64>,
    pub(crate) gradients: Matrix<f64>,
    pub(crate) curvatures: Option<Vec<(f64, f64)>>,
}

/// Memory that evaluations reuse.
#[derive(Debug, Default)]
pub(crate) struct Space {
    pub(super) tile: Matrix<f64>,
    squares: Matrix<f64>,
    kernel: Workspace<f64>,
}

/// Samples of a block as dense doubles, copied only when they are something else.
enum DenseBlock<'a> {
    Same(MatRef<'a, f64>),
    Copied(Matrix<f64>),
}

impl<'a> DenseBlock<'a> {
    fn of(samples: &'a AnySamples, range: Range<usize>) -> Self {
        match samples.points().rows(range) {
            AnyPoints::F64(Points::Dense(view)) => Self::Same(view),
            other => Self::Copied(other.to_dense()),
        }
    }

    fn view(&self) -> MatRef<'_, f64> {
        match self {
            Self::Same(view) => *view,
            Self::Copied(rows) => rows.view(),
        }
    }
}

/// Visits the samples block by block, with k(y, x) of the block in `space.tile`.
pub(super) fn each_block(
    (kernel, samples): (&Kernel, &AnySamples),
    y: &Matrix<f64>,
    space: &mut Space,
    mut visit: impl FnMut(Range<usize>, MatRef<'_, f64>, &mut Space),
) {
    let n = samples.n_rows();
    for from in (0..n).step_by(BLOCK_ROWS) {
        let range = from..(from + BLOCK_ROWS).min(n);
        let block = DenseBlock::of(samples, range.clone());
        let (rows, x) = (Points::Dense(y.view()), Points::Dense(block.view()));
        space.tile.reshape(y.n_rows(), range.len());
        kernel.tile(rows, x, space.tile.as_mut_slice(), &mut space.kernel);
        visit(range, block.view(), space);
    }
}

impl Target<'_> {
    /// Whether the fixed point is known for it.
    pub(crate) fn by_distance(&self) -> Option<(f64, DistanceProfile)> {
        match self {
            Self::Samples { kernel, .. } => kernel.by_distance(),
            Self::Features { .. } => None,
        }
    }

    /// J at rows `y`; row j belongs to the point `points[which[j]]`.
    ///
    /// Cost: n(4d + 3) flops and a kernel value for each sample, for each row.
    pub(crate) fn evaluate(
        &self,
        points: &Matrix<f64>,
        which: &[usize],
        y: &Matrix<f64>,
        space: &mut Space,
    ) -> Evaluated {
        match self {
            Self::Samples { kernel, samples } => match kernel.by_distance() {
                Some(profile) => by_distance((kernel, samples), profile, (points, which), y, space),
                None => by_kernel((kernel, samples), (points, which), y, space),
            },
            Self::Features { map } => by_features(map, (points, which), y),
        }
    }
}

/// ∇J = (ΣDᵢ)y − ΣDᵢxᵢ with Dᵢ = −4cᵢ·dk/ds.
fn by_distance(
    (kernel, samples): (&Kernel, &AnySamples),
    (factor, profile): (f64, DistanceProfile),
    (points, which): (&Matrix<f64>, &[usize]),
    y: &Matrix<f64>,
    space: &mut Space,
) -> Evaluated {
    let a = y.n_rows();
    let mut values = vec![factor; a];
    let mut curvatures = vec![(0.0, 0.0); a];
    let mut gradients = Matrix::zeros(a, y.n_cols());
    let rbf = if let DistanceProfile::Rbf { gamma } = profile { Some(4.0 * gamma) } else { None };
    each_block((kernel, samples), y, space, |range, x, space| {
        if rbf.is_none() {
            space.squares.reshape(a, range.len());
            squared_distances(y.view(), x, space.squares.as_mut_slice(), &mut space.kernel);
        }
        for j in 0..a {
            let c = &points.row(which[j])[range.clone()];
            let (mut value, mut sum, mut size) = (0.0, 0.0, 0.0);
            let mut tile = space.tile.view_mut();
            let row = tile.row_mut(j);
            match rbf {
                Some(rate) => row.iter_mut().zip(c).for_each(|(k, c)| {
                    *k *= c;
                    value += *k;
                    *k *= rate;
                    sum += *k;
                    size += k.abs();
                }),
                None => row.iter_mut().zip(c).zip(space.squares.row(j)).for_each(|((k, c), s)| {
                    value += *k * c;
                    *k = 4.0 * factor * c * profile.fall(*s);
                    sum += *k;
                    size += k.abs();
                }),
            }
            values[j] -= 2.0 * value;
            curvatures[j].0 += sum;
            curvatures[j].1 += size;
        }
        let tile = Factor::Plain(space.tile.view());
        gemm(gradients.view_mut(), Onto::Add, -1.0, tile, Factor::Plain(x));
    });
    for (j, (sum, _)) in curvatures.iter().enumerate() {
        let mut gradients = gradients.view_mut();
        gradients.row_mut(j).iter_mut().zip(y.row(j)).for_each(|(g, y)| *g += sum * y);
    }
    Evaluated { values, gradients, curvatures: Some(curvatures) }
}

fn by_kernel(
    (kernel, samples): (&Kernel, &AnySamples),
    (points, which): (&Matrix<f64>, &[usize]),
    y: &Matrix<f64>,
    space: &mut Space,
) -> Evaluated {
    let a = y.n_rows();
    let mut values = vec![0.0; a];
    kernel.diagonal(Points::Dense(y.view()), &mut values);
    let mut gradients = Matrix::zeros(a, y.n_cols());
    for j in 0..a {
        let own = kernel.diagonal_gradient(y.row(j), &mut space.kernel);
        gradients.view_mut().row_mut(j).copy_from_slice(&own);
    }
    each_block((kernel, samples), y, space, |range, x, space| {
        for j in 0..a {
            let c = &points.row(which[j])[range.clone()];
            values[j] -= 2.0 * space.tile.row(j).iter().zip(c).map(|(k, c)| k * c).sum::<f64>();
        }
        let weights = Matrix::from_fn(a, range.len(), |j, i| -2.0 * points[(which[j], range.start + i)]);
        kernel.pull_back(y.view(), x, weights.view(), &mut gradients, &mut space.kernel);
    });
    Evaluated { values, gradients, curvatures: None }
}

/// Features of rows; NaN for a row that has none, as the logarithm of a negative number.
pub(super) fn features_of(map: &FeatureMap, y: &Matrix<f64>) -> Matrix<f64> {
    map.apply(y.into()).unwrap_or_else(|_| {
        let mut all = Matrix::from_fn(y.n_rows(), map.dimension(), |_, _| f64::NAN);
        for j in 0..y.n_rows() {
            let row = y.view().rows(j..j + 1).to_matrix();
            if let Ok(features) = map.apply((&row).into()) {
                all.view_mut().row_mut(j).copy_from_slice(features.row(0));
            }
        }
        all
    })
}

/// J = ‖f(y)‖² − 2⟨f(y), p⟩ and ∇J = 2Jᵀ(f(y) − p).
fn by_features(map: &FeatureMap, (points, which): (&Matrix<f64>, &[usize]), y: &Matrix<f64>) -> Evaluated {
    let features = features_of(map, y);
    let mut values = Vec::with_capacity(y.n_rows());
    let mut gradients = Matrix::zeros(y.n_rows(), y.n_cols());
    for (j, at) in which.iter().enumerate() {
        let (f, p) = (features.row(j), points.row(*at));
        values.push(f.iter().zip(p).map(|(f, p)| f * (f - 2.0 * p)).sum());
        let rest: Vec<f64> = f.iter().zip(p).map(|(f, p)| 2.0 * (f - p)).collect();
        gradients.view_mut().row_mut(j).copy_from_slice(&map.pull_back(y.row(j), f, &rest));
    }
    Evaluated { values, gradients, curvatures: None }
}
