//! Hidden entries filled in by what kernel PCA of other rows makes of the rest.

use super::candidates::{Candidate, Form};
use super::model::{Model, Training, centred};
use crate::error::Result;
use crate::kernel::DistanceProfile;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::progress::Watch;

/// Rounds of projecting, two fixed point steps back, and filling in.
///
/// Why: eight such rounds choose as six rounds of six steps do, at less than half the cost.
const ROUNDS: usize = 8;
/// Rounds where the way back is exact.
const LINEAR_ROUNDS: usize = 16;
/// A row is filled in when no hidden entry moves by more than this share of a typical difference.
const SETTLED: f64 = 2e-3;
/// A denominator below this share of the sum of magnitudes is not divided by, (K52).
const SAFE_SHARE: f64 = 0.05;

/// A model with what it was fitted to.
#[derive(Clone, Copy)]
pub(super) struct Filler<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) training: &'a Training,
    pub(super) model: &'a Model,
}

impl Filler<'_> {
    /// Σ(x̂ − x)² over the hidden entries of each row, x̂ being found from the entries that are not hidden with k components, (K70).
    ///
    /// Why not the search for pre-images: only two steps are taken, and the kernel at the first point is already known from the
    /// projection, so that a round costs two evaluations instead of four.
    /// Cost: for each row and round n(4k + 8d) flops and 2n kernel values.
    pub(super) fn errors(
        &self,
        held: MatRef<'_, f64>,
        hidden: &[Vec<usize>],
        k: usize,
        watch: &Watch,
    ) -> Result<Vec<f64>> {
        let held = centred(held, &self.training.means);
        let mut filled = held.clone();
        for (i, columns) in hidden.iter().enumerate() {
            columns.iter().for_each(|j| filled[(i, *j)] = 0.0);
        }
        let settled = SETTLED * self.training.scale;
        let mut open: Vec<usize> = (0..hidden.len()).collect();
        let rounds = if matches!(self.candidate.form, Form::Linear) { LINEAR_ROUNDS } else { ROUNDS };
        for _ in 0..rounds {
            watch.check()?;
            let y = Matrix::from_fn(open.len(), filled.n_cols(), |i, j| filled[(open[i], j)]);
            let back = match &self.candidate.form {
                Form::Linear => self.plane(y, k),
                Form::Distance(factor, profile) => self.back(y, (*factor, *profile), k),
            };
            let mut at = 0..open.len();
            open.retain(|row| {
                let mut moved = 0.0f64;
                let new = back.row(at.next().unwrap_or(0));
                for j in &hidden[*row] {
                    moved = moved.max((new[*j] - filled[(*row, *j)]).abs());
                    filled[(*row, *j)] = new[*j];
                }
                moved > settled
            });
            if open.is_empty() {
                break;
            }
        }
        let error = |(i, columns): (usize, &Vec<usize>)| {
            columns.iter().map(|j| (filled[(i, *j)] - held[(i, *j)]).powi(2)).sum()
        };
        Ok(hidden.iter().enumerate().map(error).collect())
    }

    /// The nearest points of the plane of k components.
    fn plane(&self, y: Matrix<f64>, k: usize) -> Matrix<f64> {
        let mut back = Matrix::zeros(y.n_rows(), y.n_cols());
        let scores = self.model.scores(y, k);
        let axes = self.model.axes.view().first_columns(scores.n_cols());
        gemm(back.view_mut(), Onto::Replace, 1.0, Factor::Plain(scores.view()), Factor::Transposed(axes));
        back
    }

    /// Projects on k components, P = Σcᵢφ(xᵢ), then takes two fixed point steps back, neither away from P.
    fn back(&self, y: Matrix<f64>, (factor, profile): (f64, DistanceProfile), k: usize) -> Matrix<f64> {
        let n = self.training.n_rows();
        let first = self.kernel(&y, (factor, profile));
        let scores = self.model.scores(first.values.clone(), k);
        let axes = self.model.axes.view().first_columns(scores.n_cols());
        let mut weights = Matrix::from_fn(y.n_rows(), n, |_, _| 1.0 / n as f64);
        gemm(weights.view_mut(), Onto::Add, 1.0, Factor::Plain(scores.view()), Factor::Transposed(axes));
        let mut next = self.step(&y, &first, &weights, profile);
        let second = self.kernel(&next, (factor, profile));
        let last = self.step(&next, &second, &weights, profile);
        for i in 0..y.n_rows() {
            let product = |k: &[f64]| k.iter().zip(weights.row(i)).map(|(k, c)| k * c).sum::<f64>();
            let nearer = product(second.values.row(i)) >= product(first.values.row(i));
            let from = if nearer { last.row(i) } else { y.row(i) };
            next.view_mut().row_mut(i).copy_from_slice(from);
        }
        next
    }

    /// k and, unless the kernel is Gaussian, ‖y − x‖² for all samples.
    fn kernel(&self, y: &Matrix<f64>, (factor, profile): (f64, DistanceProfile)) -> Evaluated {
        let Training { x, norms, .. } = self.training;
        let mut values = Matrix::zeros(y.n_rows(), x.n_rows());
        gemm(values.view_mut(), Onto::Replace, 1.0, Factor::Plain(y.view()), Factor::Transposed(x.view()));
        let squares = (!matches!(profile, DistanceProfile::Rbf { .. })).then(|| {
            let norm: Vec<f64> = (0..y.n_rows()).map(|i| y.row(i).iter().map(|v| v * v).sum()).collect();
            Matrix::from_fn(y.n_rows(), x.n_rows(), |i, j| {
                (norm[i] + norms[j] - 2.0 * values[(i, j)]).max(0.0)
            })
        });
        let mut view = values.view_mut();
        for i in 0..y.n_rows() {
            let norm = y.row(i).iter().map(|v| v * v).sum();
            profile.apply_to_inner(view.row_mut(i), norm, norms);
            if factor != 1.0 {
                view.row_mut(i).iter_mut().for_each(|k| *k *= factor);
            }
        }
        Evaluated { values, squares }
    }

    /// y ← ΣDᵢxᵢ/ΣDᵢ with Dᵢ = −cᵢ·dk/ds, shortened where the denominator is not safe, (K52).
    fn step(
        &self,
        y: &Matrix<f64>,
        at: &Evaluated,
        weights: &Matrix<f64>,
        profile: DistanceProfile,
    ) -> Matrix<f64> {
        let (m, n) = (y.n_rows(), self.training.n_rows());
        let mut pulls = Matrix::zeros(m, n);
        let mut keep = vec![0.0; m];
        for (i, keep) in keep.iter_mut().enumerate() {
            let mut view = pulls.view_mut();
            let row = view.row_mut(i);
            match &at.squares {
                // A Gaussian falls as itself: the factor cancels.
                None => row.iter_mut().zip(at.values.row(i)).for_each(|(p, k)| *p = *k),
                Some(squares) => row.iter_mut().zip(squares.row(i)).for_each(|(p, s)| *p = profile.fall(*s)),
            }
            row.iter_mut().zip(weights.row(i)).for_each(|(p, c)| *p *= c);
            let (sum, size) = row.iter().fold((0.0, 0.0), |(sum, size), p| (sum + p, size + p.abs()));
            let safe = if sum > SAFE_SHARE * size { sum } else { size };
            let scale = if safe > 0.0 { 1.0 / safe } else { 0.0 };
            row.iter_mut().for_each(|p| *p *= scale);
            *keep = 1.0 - sum * scale;
        }
        let mut out = Matrix::from_fn(m, y.n_cols(), |i, j| keep[i] * y[(i, j)]);
        let pulls = Factor::Plain(pulls.view());
        gemm(out.view_mut(), Onto::Add, 1.0, pulls, Factor::Plain(self.training.x.view()));
        out
    }
}

/// The kernel between some rows and all samples.
struct Evaluated {
    values: Matrix<f64>,
    squares: Option<Matrix<f64>>,
}

#[cfg(test)]
mod tests {
    use super::super::candidates::{Family, Wanted};
    use super::super::split::Split;
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Rows near a circle in five dimensions.
    fn rows(n: usize) -> Matrix<f64> {
        let mut random = Stream::new(5, Purpose::Synthetic);
        let angles: Vec<f64> = (0..n).map(|_| std::f64::consts::TAU * random.uniform()).collect();
        let phases = [0.0, 1.0, 2.0, 2.5, 4.0];
        Matrix::from_fn(n, 5, |i, j| 3.0 + (angles[i] - phases[j]).cos() + 0.05 * random.gaussian())
    }

    fn errors(text: &str, octave: f64, k: usize) -> (f64, f64) {
        let x = rows(120);
        let split = Split::new((&x).into(), 200, 0, None, &Watch::default()).unwrap();
        let family = Family::new(&Wanted::Open(text.parse().unwrap()), (&x).into(), 0).unwrap();
        let candidate = family.candidate(0, octave, 5).unwrap();
        let training = Training::new(&split, 1);
        let model = Model::fit(&candidate, &split, &training, 20).unwrap();
        let filler = Filler { candidate: &candidate, training: &training, model: &model };
        let held = split.x.view().rows(split.parts[1].clone());
        let hidden: Vec<Vec<usize>> = (0..held.n_rows()).map(|i| vec![i % 5]).collect();
        let found = filler.errors(held, &hidden, k, &Watch::default()).unwrap();
        let means: f64 =
            (0..held.n_rows()).map(|i| (held.row(i)[i % 5] - training.means[i % 5]).powi(2)).sum();
        (found.iter().sum::<f64>() / found.len() as f64, means / held.n_rows() as f64)
    }

    // Noise of variance 0.0025 is left in the hidden entry itself; the mean of the column misses by about 0.5.
    #[test]
    fn hidden_entries_on_a_circle_are_found() {
        let kernels = [
            ("rbf", 1.0, 4),
            ("rbf(sigma=median)", 2.0, 4),
            ("3*rbf", 1.0, 4),
            ("matern(nu=1.5)", 0.0, 6),
            ("matern(nu=2.5)", 0.0, 6),
            ("rational_quadratic", 0.0, 6),
            ("exponential", 0.0, 10),
            ("linear", 0.0, 2),
        ];
        for (text, octave, k) in kernels {
            let (error, means) = errors(text, octave, k);
            assert!(error < 0.02 && means > 0.3, "{text}: {error} against {means}");
        }
    }

    #[test]
    fn a_plane_cannot_hold_what_it_has_no_direction_for() {
        let (error, means) = errors("linear", 0.0, 1);
        assert!(error > 0.3 * means, "{error} {means}");
    }
}
