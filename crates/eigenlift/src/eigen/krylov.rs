//! The lower end of a spectrum, seen from a block Krylov space.

use super::orthonormal::orthonormalise;
use super::{SolveOptions, SolveStats};
use crate::error::Result;
use crate::linalg::{inner, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::random::{Purpose, Stream};

/// Columns of a block.
const WIDTH: usize = 16;

/// The smallest Ritz value of the space that a random block and `passes` products with A span, orthogonal to what is deflated.
///
/// It is never below the smallest eigenvalue. An eigenvalue that stands apart below the others is found to many digits; of a
/// crowd at the lower end, where an iteration would not settle on any one, it gives the edge.
///
/// Cost: `passes` passes of 16 columns; memory 16·passes columns, and three blocks in flight.
pub(crate) fn lowest_ritz_value(
    operator: &dyn LinearOperator,
    how: &SolveOptions<'_>,
    passes: usize,
) -> Result<(f64, SolveStats)> {
    let n = operator.n_rows();
    let mut random = Stream::new(how.seed, Purpose::StartBlock);
    let mut block = Matrix::from_fn(n, WIDTH.min(n), |_, _| random.gaussian());
    let mut blocks: Vec<Matrix<f64>> = Vec::new();
    let mut t = Matrix::zeros(WIDTH * passes, WIDTH * passes);
    let mut width = 0;
    let mut stats = SolveStats { iterations: 1, ..SolveStats::default() };
    for pass in 0..passes {
        let bases: Vec<MatRef<'_, f64>> =
            how.deflate.into_iter().chain(blocks.iter().map(Matrix::view)).collect();
        let v = orthonormalise(block, &bases)?;
        if v.n_cols() == 0 {
            break;
        }
        how.watch.step("lowest eigenvalue", pass, passes)?;
        block = Matrix::zeros(n, v.n_cols());
        operator.apply(v.view(), block.view_mut(), how.watch)?;
        stats.passes += 1;
        stats.products += v.n_cols();
        blocks.push(v);
        add_products(&mut t, width, &blocks, &block);
        width += block.n_cols();
    }
    let symmetric = Matrix::from_fn(width, width, |i, j| 0.5 * (t[(i, j)] + t[(j, i)]));
    let (values, _) = symmetric_eigen(&symmetric)?;
    Ok((values.last().copied().unwrap_or(0.0), stats))
}

/// The columns of T = QᵀAQ from `from` on, and the rows that mirror them, for the product of the last block of Q.
fn add_products(t: &mut Matrix<f64>, from: usize, blocks: &[Matrix<f64>], product: &Matrix<f64>) {
    let mut row = 0;
    for q in blocks {
        let part = inner(q.view(), product.view());
        for i in 0..part.n_rows() {
            for j in 0..part.n_cols() {
                t[(row + i, from + j)] = part[(i, j)];
                if row < from {
                    t[(from + j, row + i)] = part[(i, j)];
                }
            }
        }
        row += part.n_rows();
    }
}

#[cfg(test)]
mod tests {
    use super::super::orthonormal::times;
    use super::*;
    use crate::operator::Explicit;
    use crate::progress::Watch;

    fn lowest(spectrum: impl Fn(usize) -> f64) -> f64 {
        let n = 200;
        let mut random = Stream::new(5, Purpose::StartBlock);
        let noise = Matrix::from_fn(n, n, |_, _| random.gaussian());
        let q = orthonormalise(noise, &[]).unwrap();
        let scaled = Matrix::from_fn(n, q.n_cols(), |i, j| q[(i, j)] * spectrum(j));
        let turned = Matrix::from_fn(q.n_cols(), n, |i, j| q[(j, i)]);
        let matrix = times(&scaled, &turned);
        let watch = Watch::default();
        let how = SolveOptions {
            deflate: None,
            start: None,
            sketch: None,
            tolerance: 1e-3,
            norm_bound: 100.0,
            max_passes: 10,
            verify: false,
            basis: false,
            seed: 1,
            watch: &watch,
        };
        lowest_ritz_value(&Explicit(&matrix), &how, 8).unwrap().0
    }

    #[test]
    fn one_apart_is_found_and_a_crowd_gives_its_edge() {
        assert!((lowest(|j| if j == 3 { -0.5 } else { 10.0 / (1 + j) as f64 }) + 0.5).abs() < 1e-6);
        let edge = lowest(|j| 0.3 + 10.0 / (1 + j * j) as f64);
        assert!((0.3 - 1e-12..0.4).contains(&edge), "{edge}");
    }
}
