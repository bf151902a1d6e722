//! What is minimised.

use super::super::solved::HeldOut;
use eigenlift::linalg::{Factor, Onto, gemm};
use eigenlift::matrix::{MatRef, Matrix};

/// The minus logarithm of the probabilities of the training rows' classes.
pub(super) struct Loss {
    /// The class of each row, as a place among those known.
    places: Vec<usize>,
    /// Outputs of a row: none for one class, one for two, otherwise one for each class.
    pub(super) width: usize,
    /// What the loss counts against half the squared length of the coefficients.
    pub(super) c: f64,
}

/// Coefficients with what follows from them.
#[derive(Clone)]
pub(super) struct Point {
    /// A row for each column of the design, the intercept first, with an entry for each output.
    pub(super) weights: Vec<f64>,
    /// Outputs of each training row.
    pub(super) outputs: Vec<f64>,
    /// Probabilities less 1 at the class of the row.
    pub(super) residuals: Vec<f64>,
    /// What is minimised.
    pub(super) value: f64,
}

/// A·B, with B given by its entries.
pub(super) fn times(a: Factor<'_, f64>, n_rows: usize, b: MatRef<'_, f64>) -> Vec<f64> {
    let mut out = Matrix::zeros(n_rows, b.n_cols());
    gemm(out.view_mut(), Onto::Replace, 1.0, a, Factor::Plain(b));
    out.into_vec()
}

/// Entries as a matrix of that many rows.
pub(super) fn as_matrix(entries: &[f64], n_rows: usize) -> MatRef<'_, f64> {
    let n_cols = entries.len() / n_rows.max(1);
    MatRef::shaped(entries, n_rows, n_cols)
}

impl Loss {
    pub(super) fn new(held_out: &HeldOut, c: f64) -> Self {
        let width = match held_out.known.len() {
            0 | 1 => 0,
            2 => 1,
            count => count,
        };
        Self { places: held_out.places.clone(), width, c }
    }

    /// The loss at these outputs; residuals are written.
    fn of_outputs(&self, outputs: &[f64], residuals: &mut [f64]) -> f64 {
        let rows = outputs.chunks_exact(self.width).zip(residuals.chunks_exact_mut(self.width));
        let row = |((outputs, residuals), place): ((&[f64], &mut [f64]), &usize)| match self.width {
            1 => two_classes(outputs[0], *place == 1, &mut residuals[0]),
            _ => several_classes(outputs, *place, residuals),
        };
        rows.zip(&self.places).map(row).sum()
    }

    /// With coefficients and the outputs that they give.
    pub(super) fn point(&self, weights: Vec<f64>, outputs: Vec<f64>) -> Point {
        let mut residuals = vec![0.0; outputs.len()];
        let loss = self.of_outputs(&outputs, &mut residuals);
        let squares: f64 = weights[self.width..].iter().map(|w| w * w).sum();
        Point { value: self.c * loss + 0.5 * squares, weights, outputs, residuals }
    }

    pub(super) fn outputs(&self, design: &Matrix<f64>, weights: &[f64]) -> Vec<f64> {
        times(Factor::Plain(design.view()), design.n_rows(), as_matrix(weights, design.n_cols()))
    }

    /// C·Xᵀ(P − Y) + W, the second not for the intercept.
    pub(super) fn gradient(&self, design: &Matrix<f64>, point: &Point) -> Vec<f64> {
        let residuals = as_matrix(&point.residuals, design.n_rows());
        let mut gradient = times(Factor::Transposed(design.view()), design.n_cols(), residuals);
        gradient.iter_mut().for_each(|g| *g *= self.c);
        let sloped = gradient.iter_mut().zip(&point.weights).skip(self.width);
        sloped.for_each(|(g, w)| *g += w);
        gradient
    }

    /// The probability of output k for row i.
    fn probability(&self, point: &Point, i: usize, k: usize) -> f64 {
        let own = match self.width {
            1 => self.places[i] == 1,
            _ => self.places[i] == k,
        };
        point.residuals[i * self.width + k] + f64::from(u8::from(own))
    }

    /// The second derivative of row i's loss by outputs k and l: p_k(δ_kl − p_l).
    pub(super) fn curvature(&self, point: &Point, i: usize, (k, l): (usize, usize)) -> f64 {
        let p = self.probability(point, i, k);
        match k == l {
            true => p * (1.0 - p),
            false => -p * self.probability(point, i, l),
        }
    }

    /// Coefficients without features: logarithms of the shares of classes.
    pub(super) fn start(&self, sizes: &[usize]) -> Vec<f64> {
        match self.width {
            0 => vec![],
            1 => vec![(sizes[1] as f64 / sizes[0] as f64).ln()],
            width => {
                let logs: Vec<f64> = sizes.iter().map(|size| (*size as f64).ln()).collect();
                let mean = logs.iter().sum::<f64>() / width as f64;
                logs.iter().map(|log| log - mean).collect()
            }
        }
    }
}

/// ln(1 + e^z) − yz.
fn two_classes(z: f64, second: bool, residual: &mut f64) -> f64 {
    let small = (-z.abs()).exp();
    // Numerics: the smaller of p and 1 − p is found without a difference of like numbers.
    let (low, high) = (small / (1.0 + small), 1.0 / (1.0 + small));
    *residual = match (second, z > 0.0) {
        (true, true) => -low,
        (true, false) => -high,
        (false, true) => high,
        (false, false) => low,
    };
    small.ln_1p() + if second { (-z).max(0.0) } else { z.max(0.0) }
}

/// ln Σe^z − z of the right class.
fn several_classes(outputs: &[f64], place: usize, residuals: &mut [f64]) -> f64 {
    let most = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (residual, z) in residuals.iter_mut().zip(outputs) {
        *residual = (z - most).exp();
        sum += *residual;
    }
    residuals.iter_mut().for_each(|residual| *residual /= sum);
    residuals[place] -= 1.0;
    sum.ln() + most - outputs[place]
}
