//! Features from landmarks (Nyström): coordinates of φ(x) in the space that the landmarks span.

use crate::data::{AnyPoints, AnySamples, Points, Samples};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Workspace};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::resize;
use crate::moments::Partial;
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;

/// A landmark that adds less than this share of its own k(z,z) to the span of the others is left out.
const LEAST_PIVOT: f64 = 1e-12;
/// Share of k(x,x) by which features may be too long before the kernel is called indefinite.
const NOT_VALID: f64 = 1e-6;
/// Steps of the power iteration for ‖L⁻¹‖.
const POWER_STEPS: usize = 8;
/// Rows that one thread handles at a time.
const PIECE_ROWS: usize = 256;
/// Columns that are solved for at a time.
const STEP: usize = 64;

/// What landmarks are compared with.
#[derive(Clone, Debug)]
pub(crate) enum Against {
    /// Rows z: k(z, x) by a kernel.
    Rows {
        /// k.
        kernel: Kernel,
        /// z, one row each.
        landmarks: AnySamples,
    },
    /// A row x is a row of a Gram matrix already; landmarks are columns of it.
    Columns {
        /// Samples that are landmarks.
        chosen: Vec<usize>,
        /// Columns that a row has.
        n_samples: usize,
    },
}

impl Against {
    fn n_cols(&self) -> usize {
        match self {
            Self::Rows { landmarks, .. } => landmarks.n_cols(),
            Self::Columns { n_samples, .. } => *n_samples,
        }
    }
}

/// φ̂(x) = L⁻¹k(Z, x) with K_ZZ = LLᵀ, (K34). ⟨φ̂(x), φ̂(y)⟩ is the kernel of the parts of φ(x) and φ(y) that lie in the span
/// of the landmarks, so K − F·Fᵀ is positive semi-definite and its diagonal k(x,x) − ‖φ̂(x)‖² says what is left out.
#[derive(Clone, Debug)]
pub(crate) struct LandmarkFeatures {
    against: Against,
    /// L, lower triangular.
    root: Matrix<f64>,
    /// Inverses of the blocks on the diagonal of L, transposed.
    corners: Vec<Matrix<f64>>,
    amplification: f64,
}

/// Features of some rows, and what they leave out of each.
#[derive(Clone, Debug)]
pub struct FeatureRows {
    /// φ̂(x), one row each.
    pub features: Matrix<f64>,
    /// k(x,x) − ‖φ̂(x)‖², never below 0.
    pub residuals: Vec<f64>,
    /// Σ k(x,x).
    pub trace: f64,
}

impl LandmarkFeatures {
    /// For landmarks given as rows. Landmarks that depend on earlier ones, such as duplicates, are left out.
    ///
    /// Cost: m²(d + m/3) operations.
    ///
    /// # Errors
    /// When the kernel cannot take a landmark, or none is left.
    pub(crate) fn new(kernel: Kernel, landmarks: AnySamples, watch: &Watch) -> Result<Self> {
        kernel.check_points(landmarks.points())?;
        let between = between(&kernel, &landmarks);
        let mut diagonal = vec![0.0; landmarks.n_rows()];
        match &landmarks {
            AnySamples::F32(z) => kernel.diagonal(z.points(), &mut diagonal),
            AnySamples::F64(z) => kernel.diagonal(z.points(), &mut diagonal),
        }
        let (kept, root) = root_of(&diagonal, |i, j| between[(i, j)], watch)?;
        let landmarks = landmarks.gather(&kept);
        Ok(Self::with_root(Against::Rows { kernel, landmarks }, root))
    }

    /// For samples of a Gram matrix, whose entries `corner` holds.
    ///
    /// # Errors
    /// When no landmark is left.
    pub(crate) fn of_columns(
        chosen: &[usize],
        corner: &Matrix<f64>,
        n_samples: usize,
        watch: &Watch,
    ) -> Result<Self> {
        let diagonal: Vec<f64> = (0..chosen.len()).map(|i| corner[(i, i)]).collect();
        let (kept, root) = root_of(&diagonal, |i, j| corner[(i, j)], watch)?;
        let chosen = kept.iter().map(|i| chosen[*i]).collect();
        Ok(Self::with_root(Against::Columns { chosen, n_samples }, root))
    }

    /// For landmarks whose L is known. Only its lower triangle is read.
    pub(crate) fn with_root(against: Against, mut root: Matrix<f64>) -> Self {
        let m = root.n_rows();
        (0..m).for_each(|i| root.view_mut().row_mut(i)[i + 1..].fill(0.0));
        let corners = (0..m).step_by(STEP).map(|from| inverse_transposed(&root, from)).collect();
        let mut map = Self { against, root, corners, amplification: 0.0 };
        map.amplification = map.estimate_amplification();
        map
    }

    /// Number of landmarks.
    pub(crate) fn dimension(&self) -> usize {
        self.root.n_rows()
    }

    /// What rows are compared with.
    pub(crate) fn against(&self) -> &Against {
        &self.against
    }

    /// L.
    pub(crate) fn root(&self) -> &Matrix<f64> {
        &self.root
    }

    /// ‖L⁻¹‖²: how much errors of kernel values grow on the way to features, estimated by power iteration.
    ///
    /// Cost: 20·m² flops.
    pub(crate) fn amplification(&self) -> f64 {
        self.amplification
    }

    /// ‖L⁻¹‖² times the largest k(z,z): the same for any multiple of the kernel.
    pub(crate) fn condition(&self) -> f64 {
        let own = (0..self.dimension()).map(|i| dot(self.root.row(i), self.root.row(i)));
        self.amplification * own.fold(0.0, f64::max)
    }

    fn estimate_amplification(&self) -> f64 {
        let m = self.dimension();
        let mut v = Matrix::from_fn(m, 1, |i, _| 1.0 + (i as f64).sin());
        let mut norm = 0.0;
        for _ in 0..POWER_STEPS {
            let length = dot(v.as_slice(), v.as_slice()).sqrt();
            v.as_mut_slice().iter_mut().for_each(|x| *x /= length);
            // L⁻ᵀ, then L⁻¹.
            let back = self.over_landmarks(&v);
            let mut row = Matrix::from_fn(1, m, |_, j| back[(j, 0)]);
            self.solve(row.view_mut());
            norm = dot(row.as_slice(), row.as_slice()).sqrt();
            v = Matrix::from_fn(m, 1, |i, _| row[(0, i)]);
        }
        norm
    }

    /// Moments of features from moments of kernel values k(Z, x), whose field for the residual trace holds Σ k(x,x), (K34).
    ///
    /// Why: it leaves out the triangular solve for every row, half of the work. Numerics: errors grow by ‖L⁻¹‖².
    pub(crate) fn moments_from_kernel(&self, raw: &Partial) -> Partial {
        let solve = |rows: &mut Matrix<f64>| {
            rows.view_mut().row_chunks(STEP).into_par_iter().for_each(|piece| self.solve(piece));
        };
        let features = raw.mapped(solve);
        let held = features.trace() + raw.count() as f64 * dot(features.mean(), features.mean());
        features.leaving((raw.residual_trace() - held).max(0.0))
    }

    /// k(x, Z) of rows, and Σ k(x,x).
    pub(crate) fn kernel_rows(
        &self,
        x: AnyPoints<'_>,
        first_row: usize,
        watch: &Watch,
    ) -> Result<(Matrix<f64>, f64)> {
        let (values, traces) = self.pieces(x, first_row, watch, |out, diagonal, first| {
            for (i, own) in diagonal.iter().enumerate() {
                if !(own + out.row_mut(i).iter().sum::<f64>()).is_finite() {
                    return Err(not_finite(first + i));
                }
            }
            Ok(diagonal.iter().sum::<f64>())
        })?;
        Ok((values, traces.iter().sum()))
    }

    /// Features of rows; `first_row` is the place of the first among all rows, which a Gram matrix needs to know its diagonal.
    ///
    /// Cost: n·m(2d + m) flops and the profile; memory the result.
    ///
    /// # Errors
    /// When rows have another number of columns than the landmarks, when values are not finite, and on cancellation.
    pub(crate) fn rows(&self, x: AnyPoints<'_>, first_row: usize, watch: &Watch) -> Result<FeatureRows> {
        // What rounding of kernel values can do to ‖φ̂(x)‖², as a share of k(x,x).
        let slack = NOT_VALID + 64.0 * self.unit_roundoff() * self.condition() * self.dimension() as f64;
        let (features, found) = self.pieces(x, first_row, watch, |out, diagonal, first| {
            self.solve(out.reborrow());
            left_out(out.as_ref(), diagonal, first, slack)
        })?;
        let (mut residuals, mut trace) = (Vec::with_capacity(x.n_rows()), 0.0);
        for (left, sum) in found {
            residuals.extend(left);
            trace += sum;
        }
        Ok(FeatureRows { features, residuals, trace })
    }

    /// k(x, Z) of rows, a piece for each thread at a time; `work` is given a piece, its k(x,x) and the place of its first row,
    /// and may change the piece. Returns all pieces and what `work` gave for each, in order.
    fn pieces<R: Send>(
        &self,
        x: AnyPoints<'_>,
        first_row: usize,
        watch: &Watch,
        work: impl Fn(&mut MatMut<'_, f64>, &[f64], usize) -> Result<R> + Sync,
    ) -> Result<(Matrix<f64>, Vec<R>)> {
        if x.n_cols() != self.against.n_cols() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the landmarks have {}", self.against.n_cols()),
                "Give the same columns, in the same order, as in the landmarks",
            ));
        }
        let mut all = Matrix::zeros(x.n_rows(), self.dimension());
        let found: Vec<Result<R>> = all
            .view_mut()
            .row_chunks(PIECE_ROWS)
            .into_par_iter()
            .enumerate()
            .with_max_len(1)
            .map(|(piece, mut out)| {
                watch.check()?;
                let from = piece * PIECE_ROWS;
                let rows = x.rows(from..from + out.n_rows());
                let diagonal = self.compare(rows, first_row + from, out.reborrow());
                work(&mut out, &diagonal, first_row + from)
            })
            .collect();
        Ok((all, found.into_iter().collect::<Result<Vec<R>>>()?))
    }

    /// Relative rounding error of a kernel value.
    pub(crate) fn unit_roundoff(&self) -> f64 {
        match &self.against {
            Against::Rows { landmarks: AnySamples::F32(_), .. } => f32::UNIT_ROUNDOFF,
            _ => f64::UNIT_ROUNDOFF,
        }
    }

    /// L⁻ᵀ·W: coefficients over landmarks from coefficients over features.
    pub(crate) fn over_landmarks(&self, w: &Matrix<f64>) -> Matrix<f64> {
        let (m, k) = (self.dimension(), w.n_cols());
        let mut out = w.clone();
        for i in (0..m).rev() {
            for j in 0..k {
                out[(i, j)] /= self.root[(i, i)];
            }
            let solved = out.row(i).to_vec();
            for above in 0..i {
                let factor = self.root[(i, above)];
                out.view_mut().row_mut(above).iter_mut().zip(&solved).for_each(|(o, s)| *o -= factor * s);
            }
        }
        out
    }

    /// out ← k(x, Z); returns k(x,x) of each row.
    fn compare(&self, x: AnyPoints<'_>, first_row: usize, mut out: MatMut<'_, f64>) -> Vec<f64> {
        let mut diagonal = vec![0.0; x.n_rows()];
        match &self.against {
            Against::Rows { kernel, landmarks: AnySamples::F32(z) } => {
                compare_rows(kernel, x, z, &mut diagonal, out)
            }
            Against::Rows { kernel, landmarks: AnySamples::F64(z) } => {
                compare_rows(kernel, x, z, &mut diagonal, out)
            }
            Against::Columns { chosen, n_samples } => {
                let mut row = vec![0.0; *n_samples];
                for (i, value) in diagonal.iter_mut().enumerate() {
                    x.copy_row(i, &mut row);
                    *value = row.get(first_row + i).copied().unwrap_or(f64::NAN);
                    out.row_mut(i).iter_mut().zip(chosen).for_each(|(o, c)| *o = row[*c]);
                }
            }
        }
        diagonal
    }

    /// rows ← rows·L⁻ᵀ, a block of columns after the other.
    fn solve(&self, mut rows: MatMut<'_, f64>) {
        let (n, m) = (rows.n_rows(), self.dimension());
        let mut rest = Matrix::zeros(n, STEP);
        for (corner, from) in self.corners.iter().zip((0..m).step_by(STEP)) {
            let width = STEP.min(m - from);
            let mut block = rest.view_mut().columns(0..width);
            block.copy_from(rows.as_ref().columns(from..from + width));
            if from > 0 {
                let known = Factor::Plain(rows.as_ref().columns(0..from));
                let below = Factor::Transposed(self.root.view().rows(from..from + width).first_columns(from));
                gemm(block.reborrow(), Onto::Add, -1.0, known, below);
            }
            let out = rows.reborrow().columns(from..from + width);
            gemm(out, Onto::Replace, 1.0, Factor::Plain(block.as_ref()), Factor::Plain(corner.view()));
        }
    }
}

/// k(x, z) for all rows and landmarks, and k(x, x), in the precision of the landmarks.
fn compare_rows<T: Real>(
    kernel: &Kernel,
    x: AnyPoints<'_>,
    z: &Samples<T>,
    diagonal: &mut [f64],
    mut out: MatMut<'_, f64>,
) {
    let converted: Matrix<T>;
    let rows = match x.exactly::<T>() {
        Some(rows) => rows,
        None => {
            converted = x.to_dense();
            Points::Dense(converted.view())
        }
    };
    kernel.diagonal(rows, diagonal);
    let (points, mut work) = (z.points(), Workspace::default());
    let (mut tile, m) = (Vec::new(), points.n_rows());
    for from in (0..m).step_by(PIECE_ROWS) {
        let to = (from + PIECE_ROWS).min(m);
        resize(&mut tile, rows.n_rows() * (to - from), T::ZERO);
        kernel.tile(rows, points.rows(from..to), &mut tile, &mut work);
        for (i, values) in tile.chunks_exact(to - from).enumerate() {
            out.row_mut(i)[from..to].iter_mut().zip(values).for_each(|(o, v)| *o = v.f64());
        }
    }
}

/// k(x,x) − ‖φ̂(x)‖² of each row and Σ k(x,x).
fn left_out(
    features: MatRef<'_, f64>,
    diagonal: &[f64],
    first_row: usize,
    slack: f64,
) -> Result<(Vec<f64>, f64)> {
    let mut left = Vec::with_capacity(diagonal.len());
    for (i, own) in diagonal.iter().enumerate() {
        let square: f64 = dot(features.row(i), features.row(i));
        if !(own - square).is_finite() {
            return Err(not_finite(first_row + i));
        }
        if own - square < -slack * own.abs() {
            return Err(Error::kernel(
                format!(
                    "row {} has k(x,x) = {own:.4e}, less than the {square:.4e} that the landmarks account for",
                    first_row + i + 1
                ),
                "low rank needs a kernel that is positive semi-definite on the data",
                "Fit exactly, which can repair such a kernel, or choose another kernel",
            ));
        }
        left.push((own - square).max(0.0));
    }
    Ok((left, diagonal.iter().sum()))
}

fn not_finite(row: usize) -> Error {
    Error::data(
        format!("row {} has kernel values that are not finite", row + 1),
        "kernel values between rows and landmarks must stay within double precision",
        "Look for entries of extreme size in that row, or change the kernel's parameters",
    )
}

/// K_ZZ of the landmarks.
fn between(kernel: &Kernel, landmarks: &AnySamples) -> Matrix<f64> {
    match landmarks {
        AnySamples::F32(z) => kernel.matrix(z.points(), z.points()),
        AnySamples::F64(z) => kernel.matrix(z.points(), z.points()),
    }
}

/// Cholesky factor of the matrix `entry` with this diagonal, row after row; rows that depend on earlier ones are left out.
/// Returns the rows kept and L.
fn root_of(
    diagonal: &[f64],
    entry: impl Fn(usize, usize) -> f64,
    watch: &Watch,
) -> Result<(Vec<usize>, Matrix<f64>)> {
    let mut kept: Vec<usize> = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (i, own) in diagonal.iter().enumerate() {
        watch.check()?;
        let mut row = Vec::with_capacity(kept.len() + 1);
        for (j, earlier) in rows.iter().enumerate() {
            row.push((entry(i, kept[j]) - dot(&earlier[..j], &row)) / earlier[j]);
        }
        let pivot = own - dot(&row, &row);
        if pivot > LEAST_PIVOT * own {
            row.push(pivot.sqrt());
            rows.push(row);
            kept.push(i);
        }
    }
    if kept.is_empty() {
        return Err(Error::data(
            format!("{} landmarks, none with k(z,z) > 0", diagonal.len()),
            "at least one landmark must be different from zero in feature space",
            "Choose other landmarks or another kernel",
        ));
    }
    let m = kept.len();
    let mut root = Matrix::zeros(m, m);
    rows.iter().enumerate().for_each(|(i, row)| root.view_mut().row_mut(i)[..row.len()].copy_from_slice(row));
    Ok((kept, root))
}

/// Σ aᵢbᵢ over the shorter of both, eight running sums so that the compiler can use vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        (0..8).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    rest + sums.iter().sum::<f64>()
}

/// The inverse of the block of L on the diagonal from `from` on, transposed.
fn inverse_transposed(root: &Matrix<f64>, from: usize) -> Matrix<f64> {
    let width = STEP.min(root.n_rows() - from);
    let mut out = Matrix::zeros(width, width);
    for column in 0..width {
        for i in column..width {
            let known: f64 = (column..i).map(|j| root[(from + i, from + j)] * out[(column, j)]).sum();
            let own = f64::from(u8::from(i == column));
            out[(column, i)] = (own - known) / root[(from + i, from + i)];
        }
    }
    out
}

#[cfg(test)]
mod tests;
