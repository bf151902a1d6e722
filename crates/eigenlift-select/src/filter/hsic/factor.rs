//! A column's kernel as a product of a tall matrix with its transpose, docs/theory (S14).

use super::points;
use eigenlift::error::Result;
use eigenlift::kernel::{Kernel, Workspace};
use eigenlift::linalg::{Factor as Side, Onto, gemm};
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use rayon::prelude::*;

/// The factor is complete when it leaves out this share of tr(HKH).
pub(super) const SHARE: f64 = 1e-10;
/// Columns that a factor may have whatever the number of rows, and those that it never exceeds.
const FEWEST: usize = 64;
const MOST: usize = 512;
/// Rows that one thread handles at a time.
const PIECE: usize = 8192;
/// Rows of a product at a time.
const STRIP: usize = 512;
/// A diagonal below minus this share of the largest entry belongs to a matrix that is not positive semi-definite.
const INDEFINITE: f64 = 1e-9;

/// K ≈ GGᵀ with K − GGᵀ positive semi-definite; of G, the columns without their means.
pub(super) struct Factor {
    /// HG.
    pub(super) rows: Matrix<f64>,
    /// ‖GᵀHG‖ in Frobenius' norm, about that of HKH; 0 where rows are alike up to rounding.
    pub(super) norm: f64,
}

/// Columns of G for n rows at most.
///
/// Why: with r of them the factor costs n·r² multiplications and all pairs n² values of the kernel, each worth about 16.
fn most_columns(n: usize) -> usize {
    (4 * n.isqrt()).clamp(FEWEST, MOST)
}

impl Factor {
    /// Cholesky's factor of the kernel between the rows of one column, the row with the largest diagonal left as the next pivot,
    /// until τ = tr(K − GGᵀ) is `share` of tr(HKH) or within rounding. `None` when that takes too many columns or the kernel
    /// is not positive semi-definite.
    ///
    /// Why not `features::pivoted_cholesky`: that one draws pivots in blocks for a rank that is known, which it
    /// allocates for, and ends by the trace of K. Here the rank is what is found, and a kernel that is nearly constant over
    /// the column must be followed down to what is left when its mean is taken away.
    ///
    /// Cost: r·n values of the kernel, n·r² multiplications, n·r numbers. A Gaussian on one column without outliers takes r
    /// of some tens.
    pub(super) fn of(kernel: &Kernel, column: &[f64], share: f64, watch: &Watch) -> Result<Option<Self>> {
        let n = column.len();
        let mut left = vec![0.0; n];
        kernel.diagonal(points(column)?, &mut left);
        let biggest = left.iter().fold(0.0f64, |a, d| a.max(d.abs()));
        let defined = left.iter().all(|d| d.is_finite());
        if !defined || kernel.spec().and_then(|spec| spec.is_mercer()) != Some(true) {
            return Ok(None);
        }
        let (mut columns, mut spread): (Vec<Vec<f64>>, f64) = (Vec::new(), 0.0);
        loop {
            watch.check()?;
            let rest = Rest::of(&left);
            let noise = (16 + columns.len()) as f64 * f64::EPSILON * biggest;
            if rest.sum <= share * spread || rest.largest <= noise {
                // Numerics: values of a kernel are right to some units of roundoff; a spread within them is none.
                let alike = spread <= n as f64 * (32.0 * f64::EPSILON).powi(2) * biggest;
                return Ok(Some(Self::centred(&columns, n, alike)));
            }
            if columns.len() == most_columns(n)
                || rest.smallest < -INDEFINITE * biggest
                || !rest.sum.is_finite()
            {
                return Ok(None);
            }
            let new = next_column((kernel, column), (&columns, &left), rest.pivot)?;
            left.par_chunks_mut(PIECE).zip(new.par_chunks(PIECE)).for_each(|(left, new)| {
                left.iter_mut().zip(new).for_each(|(d, g)| *d -= g * g);
            });
            left[rest.pivot] = 0.0;
            spread += centred_square(&new);
            columns.push(new);
        }
    }

    fn centred(columns: &[Vec<f64>], n: usize, alike: bool) -> Self {
        let means: Vec<f64> = columns.iter().map(|g| g.iter().sum::<f64>() / n as f64).collect();
        let rows = Matrix::from_fn(n, columns.len(), |i, l| columns[l][i] - means[l]);
        let norm = if alike { 0.0 } else { square(&product(&rows, &rows, None)).sqrt() };
        Self { rows, norm }
    }
}

/// What is left of the diagonal.
struct Rest {
    pivot: usize,
    largest: f64,
    smallest: f64,
    /// What rounding made negative counts as 0.
    sum: f64,
}

impl Rest {
    fn of(left: &[f64]) -> Self {
        let mut rest = Self { pivot: 0, largest: f64::NEG_INFINITY, smallest: 0.0, sum: 0.0 };
        for (i, d) in left.iter().enumerate() {
            if *d > rest.largest {
                (rest.pivot, rest.largest) = (i, *d);
            }
            rest.smallest = rest.smallest.min(*d);
            rest.sum += if *d < 0.0 { 0.0 } else { *d };
        }
        rest
    }
}

/// (k(:, p) − G·G(p, :)ᵀ)/√d_p.
fn next_column(
    (kernel, column): (&Kernel, &[f64]),
    (columns, left): (&[Vec<f64>], &[f64]),
    pivot: usize,
) -> Result<Vec<f64>> {
    let mut new = vec![0.0; column.len()];
    let (own, scale) = ([column[pivot]], 1.0 / left[pivot].sqrt());
    let at = points(&own)?;
    new.par_chunks_mut(PIECE).enumerate().try_for_each(|(piece, new)| {
        let start = piece * PIECE;
        let rows = start..start + new.len();
        kernel.tile(at, points(&column[rows.clone()])?, new, &mut Workspace::default());
        for g in columns {
            let weight = g[pivot];
            new.iter_mut().zip(&g[rows.clone()]).for_each(|(v, g)| *v -= weight * g);
        }
        new.iter_mut().for_each(|v| *v *= scale);
        Ok(())
    })?;
    Ok(new)
}

/// Σ(g − ḡ)².
fn centred_square(g: &[f64]) -> f64 {
    let mean = g.iter().sum::<f64>() / g.len() as f64;
    g.iter().map(|g| (g - mean) * (g - mean)).sum()
}

/// GᵀF, with the rows of F in another order where one is given; in the calling thread.
pub(super) fn product(g: &Matrix<f64>, f: &Matrix<f64>, order: Option<&[usize]>) -> Matrix<f64> {
    let (n, q) = (g.n_rows(), f.n_cols());
    let mut out = Matrix::zeros(g.n_cols(), q);
    for start in (0..n).step_by(STRIP) {
        let rows = start..(start + STRIP).min(n);
        let mut gathered;
        let strip = match order {
            None => f.view().rows(rows.clone()),
            Some(order) => {
                gathered = Matrix::zeros(rows.len(), q);
                let mut view = gathered.view_mut();
                let places = order[rows.clone()].iter().enumerate();
                places.for_each(|(to, from)| view.row_mut(to).copy_from_slice(f.row(*from)));
                gathered.view()
            }
        };
        let left = Side::Transposed(g.view().rows(rows));
        gemm(out.view_mut(), Onto::Add, 1.0, left, Side::Plain(strip));
    }
    out
}

/// The square of Frobenius' norm.
pub(super) fn square(a: &Matrix<f64>) -> f64 {
    a.as_slice().iter().map(|x| x * x).sum()
}
