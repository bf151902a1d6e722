//! Cholesky's factorisation of a sparse matrix, in one thread, so that its bits repeat.

use super::dense::workspace;
use crate::matrix::{MatMut, Matrix};
use crate::memory::{copied, room_for, zeroed};
use faer::dyn_stack::MemStack;
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side};
use rayon::prelude::*;

/// Right sides that one thread solves for at a time.
const PIECE_COLUMNS: usize = 4;

/// What is known of the factor before any number is computed: its pattern, by an ordering of approximately minimal degree.
pub(crate) struct Analysis {
    symbolic: SymbolicCholesky<usize>,
    /// Row starts, columns and values of the lower triangle by rows, the diagonal stored last in every row.
    offsets: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// Bytes that the factor takes, and the work space while it is computed.
    pub(crate) factor_bytes: u64,
}

/// A + σI = PᵀLLᵀP.
pub(crate) struct SparseCholesky {
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
}

impl Analysis {
    /// Looks at the pattern of a symmetric matrix by compressed rows. `None` when there is not enough memory even for that.
    ///
    /// Cost: memory of a few copies of the pattern and one of the factor's.
    pub(crate) fn new(offsets: &[usize], columns: &[u32], values: &[f64]) -> Option<Self> {
        let (offsets, columns, values) = lower_triangle(offsets, columns, values);
        let n = offsets.len() - 1;
        // Rows of the lower triangle are columns of the upper one.
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &offsets, None, &columns);
        let ordering = SymmetricOrdering::Amd;
        let symbolic =
            factorize_symbolic_cholesky(pattern, Side::Upper, ordering, Default::default()).ok()?;
        let work = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let indices = extent(&symbolic);
        let bytes = size_of::<f64>() * symbolic.len_val() + size_of::<usize>() * indices;
        let factor_bytes = (bytes + work.unaligned_bytes_required()) as u64;
        Some(Self { symbolic, offsets, columns, values, factor_bytes })
    }

    /// The factor of A + `shift`·I, or the analysis back when a pivot is not positive. Memory that the system refuses unwinds to
    /// the nearest [`guard`](crate::memory::guard).
    ///
    /// Cost: the squared lengths of the factor's columns, in one thread.
    pub(crate) fn factor(mut self, shift: f64) -> Result<SparseCholesky, Box<Self>> {
        match self.numbers(shift) {
            Some(factor) => Ok(SparseCholesky { symbolic: self.symbolic, factor }),
            None => Err(Box::new(self)),
        }
    }

    fn numbers(&mut self, shift: f64) -> Option<Vec<f64>> {
        let n = self.offsets.len() - 1;
        let mut values = copied(&self.values);
        (1..=n).for_each(|i| values[self.offsets[i] - 1] += shift);
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.offsets, None, &self.columns);
        let matrix = SparseColMatRef::new(pattern, &values);
        let mut factor = zeroed(self.symbolic.len_val());
        let work = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = workspace(work);
        let stack = MemStack::new(&mut memory);
        let (regular, settings) = (Default::default(), Default::default());
        let done = self.symbolic.factorize_numeric_llt(
            &mut factor,
            matrix,
            Side::Upper,
            regular,
            Par::Seq,
            stack,
            settings,
        );
        done.ok()?;
        factor.iter().all(|x| x.is_finite()).then_some(factor)
    }
}

/// The lower triangle of a symmetric matrix by compressed rows, every diagonal entry present.
fn lower_triangle(offsets: &[usize], columns: &[u32], values: &[f64]) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let half = columns.len() / 2 + offsets.len();
    let mut triangle = (room_for(offsets.len()), room_for(half), room_for(half));
    triangle.0.push(0);
    for (i, ends) in offsets.windows(2).enumerate() {
        let mut diagonal = 0.0;
        for (j, value) in columns[ends[0]..ends[1]].iter().zip(&values[ends[0]..ends[1]]) {
            match (*j as usize).cmp(&i) {
                std::cmp::Ordering::Less => {
                    triangle.1.push(*j as usize);
                    triangle.2.push(*value);
                }
                std::cmp::Ordering::Equal => diagonal = *value,
                std::cmp::Ordering::Greater => break,
            }
        }
        triangle.1.push(i);
        triangle.2.push(diagonal);
        triangle.0.push(triangle.1.len());
    }
    triangle
}

/// Indices that the pattern of the factor takes.
fn extent(symbolic: &SymbolicCholesky<usize>) -> usize {
    match symbolic.raw() {
        SymbolicCholeskyRaw::Simplicial(plain) => plain.len_val() + plain.nrows(),
        SymbolicCholeskyRaw::Supernodal(blocks) => {
            blocks.row_idx().len() + 4 * blocks.n_supernodes() + 2 * blocks.nrows()
        }
    }
}

impl SparseCholesky {
    /// X ← (A + σI)⁻¹X.
    ///
    /// Cost: 4 flops for each entry of L and each column of X.
    pub(crate) fn solve_in_place(&self, mut block: MatMut<'_, f64>) {
        let (n, width) = (block.n_rows(), block.n_cols());
        let own = self.symbolic.nrows();
        assert!(n == own, "{n} × {width} right-hand sides for a factor of {own} × {own}");
        if n == 0 {
            return;
        }
        let sides = block.as_ref();
        let solved: Vec<Matrix<f64>> = (0..width.div_ceil(PIECE_COLUMNS))
            .into_par_iter()
            .map(|piece| {
                let part = sides.columns(piece * PIECE_COLUMNS..(piece + 1) * PIECE_COLUMNS);
                // Columns of X as rows, one after the other.
                let mut x = Matrix::from_fn(part.n_cols(), n, |j, i| part.row(i)[j]);
                let columns = faer::MatMut::from_column_major_slice_mut(x.as_mut_slice(), n, part.n_cols());
                let work = self.symbolic.solve_in_place_scratch::<f64>(part.n_cols(), Par::Seq);
                let mut memory = workspace(work);
                let factor = LltRef::new(&self.symbolic, &self.factor);
                factor.solve_in_place_with_conj(Conj::No, columns, Par::Seq, MemStack::new(&mut memory));
                x
            })
            .collect();
        for i in 0..n {
            let places = block.row_mut(i).chunks_mut(PIECE_COLUMNS);
            for (places, x) in places.zip(&solved) {
                places.iter_mut().enumerate().for_each(|(j, place)| *place = x[(j, i)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference on a grid of side m, by compressed rows; zero entries on the diagonal are left out.
    fn grid(m: usize, diagonal: f64) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for at in 0..m * m {
            for other in 0..m * m {
                let steps = (at / m).abs_diff(other / m) + (at % m).abs_diff(other % m);
                let value = [diagonal, -1.0].get(steps).copied().unwrap_or(0.0);
                if value != 0.0 {
                    columns.push(other as u32);
                    values.push(value);
                }
            }
            offsets.push(columns.len());
        }
        (offsets, columns, values)
    }

    fn check(m: usize, diagonal: f64, shift: f64) {
        let (offsets, columns, values) = grid(m, diagonal);
        let n = m * m;
        let analysis = Analysis::new(&offsets, &columns, &values).unwrap();
        assert!(analysis.factor_bytes >= 8 * n as u64);
        let factor = analysis.factor(shift).ok().unwrap();
        let exact = Matrix::from_fn(n, 7, |i, j| ((i * 7 + j) as f64).sin());
        let mut x = Matrix::from_fn(n, 7, |i, j| {
            let range = offsets[i]..offsets[i + 1];
            let terms = columns[range.clone()].iter().zip(&values[range]);
            shift * exact[(i, j)] + terms.map(|(l, value)| value * exact[(*l as usize, j)]).sum::<f64>()
        });
        factor.solve_in_place(x.view_mut());
        // Eigenvalues of A + σI lie within 4 of the diagonal d + σ ≥ 4.1: condition at most 8.1/0.1, and some 10 roundings.
        let worst = x.as_slice().iter().zip(exact.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 81.0 * 10.0 * 10.0 * f64::EPSILON, "{worst:e}");
    }

    #[test]
    fn solves_by_columns_and_by_blocks() {
        check(3, 4.0, 0.1);
        check(3, 0.0, 4.1);
        check(40, 4.0, 0.1);
    }

    #[test]
    fn an_indefinite_matrix_is_refused_and_a_larger_shift_tried_on_the_same_analysis() {
        let (offsets, columns, values) = grid(12, 1.0);
        let analysis = Analysis::new(&offsets, &columns, &values).unwrap();
        let analysis = *analysis.factor(0.0).err().unwrap();
        assert!(analysis.factor(3.1).is_ok());
    }
}
