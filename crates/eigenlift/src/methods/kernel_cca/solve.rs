//! Directions of canonical correlation from moments of features.

use super::moments::Layout;
use crate::eigen::leading_eigenpairs;
use crate::error::{Error, Result};
use crate::factor::Spectrum;
use crate::linalg::{Onto, combine, inner, scale_columns};
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::progress::Watch;

/// A correlation must exceed this to be told from rounding, which for two views is that of its square.
const LEAST_CORRELATION: f64 = 1e-7;
/// κ is not counted as allowing less than this.
const LEAST_ALLOWED: f64 = 1e-6;
/// Largest residual of an eigenpair.
const LARGEST_RESIDUAL: f64 = 1e-8;

/// Covariances of views in the axes of each, from which the directions for every κ follow.
pub(super) struct Whitening {
    pub(super) spectra: Vec<Spectrum>,
    /// V_vᵀ C_vw V_w for v < w, (C3).
    cross: Vec<Matrix<f64>>,
    layout: Layout,
}

/// Correlations, largest first, and a direction for each in every view.
pub(super) struct Solution {
    /// ρ, (C5).
    pub(super) correlations: Vec<f64>,
    /// w, one column for each component, (C6).
    pub(super) directions: Vec<Matrix<f64>>,
}

impl Whitening {
    /// `rounding` is that against which rounding of each view's scatter is measured; `None` for features whose size is nothing
    /// to the answer.
    ///
    /// Cost: 9·m³ flops for each view of m features, in one thread, and 4·m³ for each pair.
    pub(super) fn of(
        partial: &Partial,
        layout: &Layout,
        rounding: &[Option<f64>],
        watch: &Watch,
    ) -> Result<Self> {
        let mut spectra = Vec::with_capacity(layout.n_views());
        for (view, rounding) in rounding.iter().enumerate() {
            watch.check()?;
            let block = layout.block(partial.scatter(), view, view);
            spectra.push(match rounding {
                Some(rounding) => Spectrum::of(&block, partial.weight(), *rounding)?,
                None => {
                    Spectrum::standardised(&block, partial.weight(), &partial.mean()[layout.range(view)])?
                }
            });
        }
        let mut cross = Vec::new();
        for (v, w) in layout.pairs() {
            watch.check()?;
            let block = layout.block(partial.scatter(), v, w);
            let mut half = Matrix::zeros(block.n_rows(), spectra[w].rank());
            let scale = 1.0 / partial.weight();
            combine(half.view_mut(), Onto::Replace, scale, block.view(), spectra[w].vectors.view());
            cross.push(inner(spectra[v].vectors.view(), half.view()));
        }
        Ok(Self { spectra, cross, layout: layout.clone() })
    }

    /// Directions in which each view varies.
    pub(super) fn ranks(&self) -> Vec<usize> {
        self.spectra.iter().map(Spectrum::rank).collect()
    }

    /// The k largest correlations for κ of each view, (C2) for two; fewer when fewer exist.
    ///
    /// Cost: 9·r³ flops for few axes r in all, about 100·r²k for many.
    pub(super) fn solve(&self, kappas: &[f64], k: usize, watch: &Watch) -> Result<Solution> {
        let roots: Vec<Vec<f64>> =
            self.spectra.iter().zip(kappas).map(|(spectrum, kappa)| spectrum.inverse_roots(*kappa)).collect();
        let blocks = self.cross.iter().zip(self.layout.pairs()).map(|(cross, (v, w))| {
            Matrix::from_fn(cross.n_rows(), cross.n_cols(), |i, j| roots[v][i] * cross[(i, j)] * roots[w][j])
        });
        let axes = Layout::new(self.spectra.iter().map(Spectrum::rank));
        // The largest regularised correlation that κ allows: 1 without it.
        let allowed = self.spectra.iter().zip(kappas).map(|(spectrum, kappa)| {
            let largest = spectrum.values.first().copied().unwrap_or(0.0);
            largest / (largest + kappa).max(f64::MIN_POSITIVE)
        });
        let allowed = allowed.fold(f64::INFINITY, f64::min).max(LEAST_ALLOWED);
        let (correlations, vectors) = leading_correlations(&axes, blocks, (k, allowed), watch)?;
        let scale = (axes.n_views() as f64).sqrt();
        let directions = self.spectra.iter().zip(&roots).enumerate().map(|(view, (spectrum, roots))| {
            let own = vectors.view().rows(axes.range(view));
            let own = Matrix::from_fn(own.n_rows(), own.n_cols(), |i, j| scale * roots[i] * own.row(i)[j]);
            let mut w = Matrix::zeros(spectrum.vectors.n_rows(), own.n_cols());
            combine(w.view_mut(), Onto::Replace, 1.0, spectrum.vectors.view(), own.view());
            w
        });
        Ok(Solution { directions: directions.collect(), correlations })
    }
}

/// ρ = (μ − 1)/(V − 1) for the largest eigenvalues μ of I with `blocks` beside the diagonal, one for each pair of views, and
/// eigenvectors as columns, (C4), (C5). `allowed` is the largest ρ that κ allows.
pub(super) fn leading_correlations(
    axes: &Layout,
    blocks: impl Iterator<Item = Matrix<f64>>,
    (k, allowed): (usize, f64),
    watch: &Watch,
) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (views, dimension) = (axes.n_views(), axes.dimension());
    let widest = (0..views).map(|v| axes.range(v).len()).max().unwrap_or(0);
    let wanted = k.min(dimension - widest);
    if wanted == 0 {
        return Ok((Vec::new(), Matrix::zeros(dimension, 0)));
    }
    let mut blocks = blocks.peekable();
    if let (2, Some(block)) = (views, blocks.peek()) {
        return of_two_views(block, (wanted, allowed), watch);
    }
    let joint = joint_matrix(axes, blocks);
    let (pairs, _) = leading_eigenpairs(&joint, wanted, watch)?;
    check_residuals(&joint, &pairs.values, &pairs.vectors)?;
    let correlations: Vec<f64> = pairs
        .values
        .iter()
        .take(wanted)
        .map(|mu| ((mu - 1.0) / (views as f64 - 1.0)).min(1.0))
        .take_while(|rho| *rho > LEAST_CORRELATION * allowed)
        .collect();
    let vectors = pairs.vectors.view().first_columns(correlations.len()).to_matrix();
    Ok((correlations, vectors))
}

/// The same for two views: ρ² and u from TTᵀu = ρ²u, or from TᵀT where that is smaller, and v = Tᵀu/ρ.
///
/// Why: a matrix of half the size whose eigenvalues lie further apart, for the same answer.
fn of_two_views(
    t: &Matrix<f64>,
    (k, allowed): (usize, f64),
    watch: &Watch,
) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (first, second) = (t.n_rows(), t.n_cols());
    let transposed = Matrix::from_fn(second, first, |i, j| t[(j, i)]);
    let by_first = first <= second;
    let tall = if by_first { &transposed } else { t };
    let square = inner(tall.view(), tall.view());
    let (pairs, _) = leading_eigenpairs(&square, k, watch)?;
    check_residuals(&square, &pairs.values, &pairs.vectors)?;
    let roots = pairs.values.iter().take(k).map(|square| square.max(0.0).sqrt().min(1.0));
    let correlations: Vec<f64> = roots.take_while(|rho| *rho > LEAST_CORRELATION * allowed).collect();
    let own = pairs.vectors.view().first_columns(correlations.len()).to_matrix();
    let mut other = Matrix::zeros(tall.n_rows(), correlations.len());
    combine(other.view_mut(), Onto::Replace, 1.0, tall.view(), own.view());
    let inverse: Vec<f64> = correlations.iter().map(|rho| 1.0 / rho).collect();
    scale_columns(other.view_mut(), &inverse);
    let (u, v) = if by_first { (&own, &other) } else { (&other, &own) };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let vectors = Matrix::from_fn(first + second, correlations.len(), |i, j| {
        half * if i < first { u[(i, j)] } else { v[(i - first, j)] }
    });
    Ok((correlations, vectors))
}

fn joint_matrix(axes: &Layout, blocks: impl Iterator<Item = Matrix<f64>>) -> Matrix<f64> {
    let dimension = axes.dimension();
    let mut joint = Matrix::zeros(dimension, dimension);
    (0..dimension).for_each(|i| joint[(i, i)] = 1.0);
    for (block, (v, w)) in blocks.zip(axes.pairs()) {
        let (rows, columns) = (axes.range(v), axes.range(w));
        for i in 0..block.n_rows() {
            joint.view_mut().row_mut(rows.start + i)[columns.clone()].copy_from_slice(block.row(i));
            (0..block.n_cols()).for_each(|j| joint[(columns.start + j, rows.start + i)] = block[(i, j)]);
        }
    }
    joint
}

fn check_residuals(a: &Matrix<f64>, values: &[f64], vectors: &Matrix<f64>) -> Result<()> {
    let mut rest = Matrix::zeros(vectors.n_rows(), vectors.n_cols());
    combine(rest.view_mut(), Onto::Replace, 1.0, a.view(), vectors.view());
    let mut scaled = vectors.clone();
    scale_columns(scaled.view_mut(), values);
    let squares = rest.as_slice().iter().zip(scaled.as_slice()).map(|(x, y)| (x - y) * (x - y));
    let residual = squares.sum::<f64>().sqrt();
    if residual <= LARGEST_RESIDUAL * (vectors.n_cols().max(1) as f64).sqrt() {
        return Ok(());
    }
    Err(Error::NotConverged {
        passes: 1.0,
        residual,
        tolerance: LARGEST_RESIDUAL,
        action: "Look for entries of extreme size in the data, or raise the regularisation".into(),
    })
}

/// Plain correlations of scores about their own mean, from a scatter of features: the mean over pairs of views, for each
/// component, (C9). Scores that do not vary have correlation 0.
///
/// Cost: 2·M²k flops.
pub(super) fn plain_correlations(
    scatter: &Matrix<f64>,
    layout: &Layout,
    directions: &[Matrix<f64>],
) -> Vec<f64> {
    let k = directions.first().map_or(0, Matrix::n_cols);
    let products: Vec<Matrix<f64>> = directions
        .iter()
        .enumerate()
        .map(|(view, w)| {
            let mut product = Matrix::zeros(layout.dimension(), k);
            let own = scatter.view().columns(layout.range(view));
            combine(product.view_mut(), Onto::Replace, 1.0, own, w.view());
            product
        })
        .collect();
    let along = |v: usize, w: usize, j: usize| -> f64 {
        let rows = layout.range(w).zip(0..directions[w].n_rows());
        rows.map(|(joint, own)| directions[w][(own, j)] * products[v][(joint, j)]).sum()
    };
    let n_pairs = layout.pairs().count() as f64;
    (0..k)
        .map(|j| {
            let variances: Vec<f64> = (0..directions.len()).map(|v| along(v, v, j)).collect();
            let pair = |(v, w): (usize, usize)| {
                let size = (variances[v] * variances[w]).sqrt();
                if size > 0.0 { (along(v, w, j) / size).clamp(-1.0, 1.0) } else { 0.0 }
            };
            layout.pairs().map(pair).sum::<f64>() / n_pairs
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two views of two axes whose correlations are known: T = diag(0.8, 0.3), turned within the second view.
    #[test]
    fn correlations_are_the_singular_values_and_those_of_nothing_do_not_exist() {
        let axes = Layout::new([2, 2].into_iter());
        let (sin, cos) = 0.7f64.sin_cos();
        let turned = Matrix::from_vec(vec![0.8 * cos, 0.8 * sin, -0.3 * sin, 0.3 * cos], 2, 2).unwrap();
        let found = leading_correlations(&axes, [turned].into_iter(), (9, 1.0), &Watch::default()).unwrap();
        // A backward error of some units of roundoff of a matrix of norm 2.
        assert!((found.0[0] - 0.8).abs() < 1e-14 && (found.0[1] - 0.3).abs() < 1e-14, "{:?}", found.0);
        assert_eq!(found.0.len(), 2);
        let single = Matrix::from_vec(vec![0.5, 0.0, 0.0, 0.0], 2, 2).unwrap();
        let found = leading_correlations(&axes, [single].into_iter(), (2, 1.0), &Watch::default()).unwrap();
        assert_eq!((found.0.len(), found.1.n_cols()), (1, 1));
    }

    /// Three views of one axis each with all correlations c: μ = 1 + 2c, so ρ = c.
    #[test]
    fn equal_correlations_of_three_views_are_their_own_mean() {
        let axes = Layout::new([1, 1, 1].into_iter());
        let blocks = (0..3).map(|_| Matrix::from_fn(1, 1, |_, _| 0.4));
        let found = leading_correlations(&axes, blocks, (1, 1.0), &Watch::default()).unwrap();
        assert!((found.0[0] - 0.4).abs() < 1e-14);
    }
}
