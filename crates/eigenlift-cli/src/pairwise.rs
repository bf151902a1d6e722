//! Matrices between all rows: K, its centred form, distances and angles.

use crate::exit::Failure;
use crate::words::bytes;
use eigenlift::error::Error;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;

/// Bytes a matrix may take when no limit is given.
const LIMIT_BYTES: u64 = 2 << 30;
/// Rows computed between two looks at the switch that stops the work.
const BLOCK_ROWS: usize = 256;

/// A matrix with one row and one column for each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Square {
    /// k(x,y).
    Gram,
    /// K − NK − KN + NKN.
    Centered,
    /// ‖φ(x) − φ(y)‖.
    Distance,
    /// The angle between φ(x) and φ(y), in degrees.
    Angle,
}

impl Square {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gram => "gram",
            Self::Centered => "centered",
            Self::Distance => "distance",
            Self::Angle => "angle",
        }
    }
}

/// Refuses matrices that would not fit, before they are made.
pub(crate) fn refuse_large(n: usize, limit: Option<u64>) -> Result<(), Failure> {
    let needed = (n as u128).pow(2) * 8;
    let allowed = limit.unwrap_or(LIMIT_BYTES);
    if needed <= u128::from(allowed) {
        return Ok(());
    }
    Err(Failure::Machine(format!(
        "a matrix of {n} × {n} numbers takes {}; {} are allowed. Allow more with --memory, or use fewer rows.",
        bytes(needed),
        bytes(u128::from(allowed))
    )))
}

/// The matrix, and the kernel with its parameters known.
pub(crate) fn square(
    which: Square,
    spec: &KernelSpec,
    x: &Matrix<f64>,
    seed: u64,
    watch: &Watch,
) -> Result<(String, Matrix<f64>), Failure> {
    if spec.is_precomputed() && matches!(which, Square::Gram | Square::Centered) {
        if x.n_rows() != x.n_cols() {
            return Err(Failure::Input(format!(
                "a precomputed kernel matrix of {} rows and {} columns; it must be square. Check the file.",
                x.n_rows(),
                x.n_cols()
            )));
        }
        let mut matrix = x.clone();
        if which == Square::Centered {
            center(&mut matrix);
        }
        return Ok((spec.to_string(), matrix));
    }
    let kernel = Kernel::for_points(spec, x.into(), seed)?;
    let n = x.n_rows();
    let mut numbers = Vec::with_capacity(n * n);
    for from in (0..n).step_by(BLOCK_ROWS) {
        watch.step("kernel matrix", from, n)?;
        let block = x.view().rows(from..(from + BLOCK_ROWS).min(n)).into();
        let part = match which {
            Square::Gram | Square::Centered => kernel.matrix(block, x.into()),
            Square::Distance => kernel.feature_distances(block, x.into()),
            Square::Angle => kernel.feature_angles(block, x.into()),
        };
        numbers.extend_from_slice(part.as_slice());
    }
    let mut matrix = Matrix::from_vec(numbers, n, n)?;
    check_finite(&matrix, which)?;
    if which == Square::Centered {
        center(&mut matrix);
    }
    Ok((kernel.to_string(), matrix))
}

fn check_finite(matrix: &Matrix<f64>, which: Square) -> Result<(), Failure> {
    // The angle with a point at the origin of feature space does not exist.
    let Some(at) = matrix.as_slice().iter().position(|value| !value.is_finite()) else { return Ok(()) };
    if which == Square::Angle {
        return Ok(());
    }
    let (i, j) = (at / matrix.n_cols() + 1, at % matrix.n_cols() + 1);
    Err(Failure::Library(Error::Kernel {
        found: format!("the kernel of rows {i} and {j} is {}", matrix.as_slice()[at]),
        required: "kernel values must be finite".into(),
        action: "Scale the data down or change the kernel's parameters".into(),
    }))
}

/// K̃ = K − NK − KN + NKN with N = 1/n everywhere: row means and column means go, the grand mean comes back.
fn center(matrix: &mut Matrix<f64>) {
    let n = matrix.n_rows();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
    let row_means: Vec<f64> = (0..n).map(|i| mean(matrix.row(i))).collect();
    let mut column_means = vec![0.0; n];
    for i in 0..n {
        for (sum, value) in column_means.iter_mut().zip(matrix.row(i)) {
            *sum += value / n as f64;
        }
    }
    let grand = mean(&row_means);
    for (at, value) in matrix.as_mut_slice().iter_mut().enumerate() {
        *value -= row_means[at / n] + column_means[at % n] - grand;
    }
}
