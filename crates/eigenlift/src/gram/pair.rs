//! The kernel matrix between two sets of rows, multiplied from both sides in one go.

use super::symmetric::{TileSums, accumulate, rounded};
use super::{TileSpace, block_rows};
use crate::data::{AnySamples, Samples};
use crate::error::{Error, Result};
use crate::gram::BLOCK_ROWS;
use crate::kernel::Kernel;
use crate::linalg::Factor;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::resize;
use crate::progress::Watch;
use crate::real::Real;
use crate::simd::dispatch;

/// What the kernel matrix K between rows x and y gives.
#[derive(Clone, Debug, PartialEq)]
pub struct PairProducts {
    /// K·B for the block B of the rows y.
    pub across: Matrix<f64>,
    /// Kᵀ·A for the block A of the rows x; no columns when there is none.
    pub down: Matrix<f64>,
    /// Σⱼ Kᵢⱼ.
    pub row_sums: Vec<f64>,
    /// Σᵢ Kᵢⱼ.
    pub column_sums: Vec<f64>,
    /// Σᵢⱼ Kᵢⱼ².
    pub squares: f64,
}

/// Two sets of rows, each with its block of vectors: what one part of a pass over a Gram matrix needs whose rows lie in pieces.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The rows x and the block A over them.
    pub x: (&'a AnySamples, MatRef<'a, f64>),
    /// The rows y and the block B over them.
    pub y: (&'a AnySamples, MatRef<'a, f64>),
}

impl Pair<'_> {
    /// Products and sums, each kernel value computed once and used twice. One thread works.
    ///
    /// Cost: n·m(2d + 2a + 2b) flops and the profile; memory a tile beside the result.
    ///
    /// # Errors
    /// Rows of two precisions or lengths, blocks of other heights, entries the kernel cannot take, cancellation.
    pub fn products(&self, kernel: &Kernel, watch: &Watch) -> Result<PairProducts> {
        let ((x, a), (y, b)) = (self.x, self.y);
        kernel.check_points(x.points())?;
        kernel.check_points(y.points())?;
        let heights = a.n_rows() == x.n_rows() && b.n_rows() == y.n_rows();
        match (x, y) {
            (AnySamples::F32(x), AnySamples::F32(y)) if heights && x.n_cols() == y.n_cols() => {
                products(kernel, (x, a), (y, b), watch)
            }
            (AnySamples::F64(x), AnySamples::F64(y)) if heights && x.n_cols() == y.n_cols() => {
                products(kernel, (x, a), (y, b), watch)
            }
            _ => Err(Error::data(
                format!(
                    "{} × {} rows in {} with a block of {}, and {} × {} in {} with one of {}",
                    x.n_rows(),
                    x.n_cols(),
                    x.precision(),
                    a.n_rows(),
                    y.n_rows(),
                    y.n_cols(),
                    y.precision(),
                    b.n_rows()
                ),
                "both must have the same columns and precision, and blocks a row for each",
                "Give all pieces alike",
            )),
        }
    }
}

fn products<T: Real>(
    kernel: &Kernel,
    (x, a): (&Samples<T>, MatRef<'_, f64>),
    (y, b): (&Samples<T>, MatRef<'_, f64>),
    watch: &Watch,
) -> Result<PairProducts> {
    let (n, m) = (x.n_rows(), y.n_rows());
    let (mut space_a, mut space_b) = (Matrix::default(), Matrix::default());
    let (a, b) = (rounded(a, &mut space_a)?, rounded(b, &mut space_b)?);
    let mut out = PairProducts {
        across: Matrix::zeros(n, b.n_cols()),
        down: Matrix::zeros(m, a.n_cols()),
        row_sums: vec![0.0; n],
        column_sums: vec![0.0; m],
        squares: 0.0,
    };
    let mut space = TileSpace::<T>::default();
    for i in 0..n.div_ceil(BLOCK_ROWS) {
        let rows = block_rows(i, n);
        for j in 0..m.div_ceil(BLOCK_ROWS) {
            watch.check()?;
            let columns = block_rows(j, m);
            resize(&mut space.tile, rows.len() * columns.len(), T::ZERO);
            let (left, right) = (x.points().rows(rows.clone()), y.points().rows(columns.clone()));
            kernel.tile(left, right, &mut space.tile, &mut space.kernel);
            let tile = MatRef::new(&space.tile, rows.len(), columns.len())?;
            let sums = TileSums {
                tile,
                across: &mut out.row_sums[rows.clone()],
                down: &mut out.column_sums[columns.clone()],
                squares: &mut out.squares,
            };
            dispatch(sums);
            let onto = part(&mut out.across, rows.clone())?;
            accumulate(Factor::Plain(tile), b.rows(columns.clone()), onto, &mut space.product)?;
            let onto = part(&mut out.down, columns)?;
            accumulate(Factor::Transposed(tile), a.rows(rows.clone()), onto, &mut space.product)?;
        }
    }
    Ok(out)
}

/// Some rows of a matrix, to be written to.
fn part(matrix: &mut Matrix<f64>, rows: std::ops::Range<usize>) -> Result<MatMut<'_, f64>> {
    let width = matrix.n_cols();
    let numbers = &mut matrix.as_mut_slice()[rows.start * width..rows.end * width];
    MatMut::strided(numbers, rows.len(), width, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelSpec;

    fn rows(n: usize, d: usize, shift: f64) -> Matrix<f64> {
        Matrix::from_fn(n, d, |i, j| ((3 * i + 5 * j) as f64 * 0.37 + shift).sin())
    }

    /// Over several tiles, against the matrix written out; in single precision up to its rounding.
    #[test]
    fn both_products_and_all_sums_are_those_of_the_matrix() {
        let (x, y) = (rows(201, 3, 0.0), rows(390, 3, 0.4));
        let (a, b) = (rows(201, 2, 1.0), rows(390, 4, 2.0));
        let spec: KernelSpec = "rbf(gamma=0.5)".parse().unwrap();
        let kernel = Kernel::new(&spec, 3).unwrap();
        let plain = kernel.matrix((&x).into(), (&y).into());
        for single in [false, true] {
            let of = |m: &Matrix<f64>| {
                let samples: AnySamples = m.clone().into();
                if single { samples.to_single() } else { samples }
            };
            let (left, right) = (of(&x), of(&y));
            let pair = Pair { x: (&left, a.view()), y: (&right, b.view()) };
            let found = pair.products(&kernel, &Watch::default()).unwrap();
            // 390 sums of values up to 1 times entries up to 1, each off by a few roundings.
            let allowed = 390.0 * if single { 1e-6 } else { 1e-14 };
            for (i, c) in [(0, 0), (200, 3), (190, 1)] {
                let across: f64 = (0..390).map(|j| plain[(i, j)] * b[(j, c)]).sum();
                assert!((found.across[(i, c)] - across).abs() < allowed);
                let sum: f64 = plain.row(i).iter().sum();
                assert!((found.row_sums[i] - sum).abs() < allowed);
            }
            for (j, c) in [(0, 0), (389, 1), (192, 1)] {
                let down: f64 = (0..201).map(|i| plain[(i, j)] * a[(i, c)]).sum();
                assert!((found.down[(j, c)] - down).abs() < allowed);
                assert!((found.column_sums[j] - plain.column(j).iter().sum::<f64>()).abs() < allowed);
            }
            let squares: f64 = plain.as_slice().iter().map(|k| k * k).sum();
            assert!((found.squares - squares).abs() < allowed * 201.0);
        }
    }

    #[test]
    fn blocks_may_be_empty_and_must_fit() {
        let x: AnySamples = rows(5, 2, 0.0).into();
        let kernel = Kernel::new(&"linear".parse().unwrap(), 2).unwrap();
        let none = Matrix::zeros(5, 0);
        let pair = Pair { x: (&x, none.view()), y: (&x, none.view()) };
        let found = pair.products(&kernel, &Watch::default()).unwrap();
        assert_eq!((found.across.n_cols(), found.down.n_cols(), found.row_sums.len()), (0, 0, 5));
        let short = Matrix::zeros(4, 1);
        let pair = Pair { x: (&x, short.view()), y: (&x, none.view()) };
        let message = pair.products(&kernel, &Watch::default()).unwrap_err().to_string();
        assert!(message.contains("with a block of 4"), "{message}");
        let single = x.to_single();
        let pair = Pair { x: (&x, none.view()), y: (&single, none.view()) };
        assert!(pair.products(&kernel, &Watch::default()).is_err());
    }
}
