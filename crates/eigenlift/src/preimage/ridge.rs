//! Kernel ridge regression from scores to rows, docs/theory (K55).

use super::anchors::Anchors;
use super::target::Target;
use crate::data::Points;
use crate::error::Result;
use crate::graph::Space;
use crate::kernel::{Kernel, KernelSpec, Param, known};
use crate::linalg::{Factor, Onto, column_means, combine, gemm, inner, shift_columns, symmetric_eigen};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};

/// Rows that the regression learns from at most.
const MOST_ROWS: usize = 2000;
/// Centres of the regression at most.
const MOST_CENTRES: usize = 300;
/// Bandwidths tried, as multiples of that by the median distance between scores.
const WIDTHS: [f64; 6] = [0.003_906_25, 0.015_625, 0.0625, 0.25, 1.0, 4.0];
/// Ridges tried, as shares of the mean variance of the features: 10⁻¹⁰ to 10.
const RIDGES: std::ops::RangeInclusive<i32> = -10..=1;
/// Folds on which bandwidth and ridge are compared.
const FOLDS: usize = 3;

/// Eigenvalues of the kernel between centres below this share of the largest are left out.
const FAINT: f64 = 1e-12;

/// f(z) = Λ^(−1/2)Qᵀk(z) with k(z) the kernel against centres, whose Gram matrix is QΛQᵀ.
#[derive(Clone, Debug)]
struct Features {
    kernel: Kernel,
    centres: Matrix<f64>,
    map: Matrix<f64>,
}

impl Features {
    fn new(kernel: Kernel, centres: &Matrix<f64>) -> Result<Self> {
        let between = kernel.matrix(Points::Dense(centres.view()), Points::Dense(centres.view()));
        let (values, vectors) = symmetric_eigen(&between)?;
        let floor = FAINT * values.first().copied().unwrap_or(0.0);
        let kept = values.iter().take_while(|value| **value > floor).count();
        let map = Matrix::from_fn(centres.n_rows(), kept, |i, j| vectors[(i, j)] / values[j].sqrt());
        Ok(Self { kernel, centres: centres.clone(), map })
    }

    fn of(&self, scores: &Matrix<f64>) -> Matrix<f64> {
        let values = self.kernel.matrix(Points::Dense(scores.view()), Points::Dense(self.centres.view()));
        let mut out = Matrix::zeros(scores.n_rows(), self.map.n_cols());
        combine(out.view_mut(), Onto::Replace, 1.0, values.view(), self.map.view());
        out
    }
}

/// x̂(z) = mean x + (f(z) − mean f)ᵀB with features f of an rbf kernel on scores.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    features: Features,
    coefficients: Matrix<f64>,
    feature_means: Vec<f64>,
    row_means: Vec<f64>,
}

/// Rows to learn from.
struct Lesson {
    /// Scores of the rows.
    scores: Matrix<f64>,
    /// Scores that they would have if they were new.
    as_new: Matrix<f64>,
    rows: Matrix<f64>,
    /// The fold of each.
    folds: Vec<usize>,
}

impl Ridge {
    /// Learns from the anchors, samples of a model with this target and these coefficients; bandwidth and ridge have the least
    /// error on held-out rows whose scores are those of new rows, (K55).
    ///
    /// Cost: 18 eigenproblems of up to 300 features, and as many products of up to 2000 rows with them.
    pub(super) fn fit(
        anchors: Option<&Anchors<'_>>,
        (target, coefficients): (&Target<'_>, &Matrix<f64>),
        seed: u64,
        watch: &Watch,
    ) -> Result<Self> {
        let nothing = || super::way_back::no_rows("the ridge learns from rows and their scores");
        let (Some(anchors), Target::Samples { kernel, .. }) = (anchors, target) else {
            return Err(nothing());
        };
        let Space::Rows { samples: scores, .. } = &anchors.space else { return Err(nothing()) };
        let mut stream = Stream::new(seed, Purpose::RidgeRows);
        let chosen = stream.rows(scores.n_rows(), MOST_ROWS);
        let which: Vec<u32> = chosen.iter().map(|i| *i as u32).collect();
        let (z, rows) = (scores.gather(&chosen), anchors.rows(&which));
        let centre_rows = stream.rows(chosen.len(), MOST_CENTRES);
        let centres: Matrix<f64> = z.gather(&centre_rows).points().to_dense();
        let own = Matrix::from_fn(chosen.len(), coefficients.n_cols(), |i, j| coefficients[(chosen[i], j)]);
        let scores: Matrix<f64> = z.points().to_dense();
        let sampled = Matrix::from_fn(centre_rows.len(), rows.n_cols(), |i, j| rows[(centre_rows[i], j)]);
        let as_new = as_new(&scores, &own, &centred_diagonal(kernel, &rows, &sampled));
        let mut folds: Vec<usize> = (0..chosen.len()).map(|i| i % FOLDS).collect();
        stream.shuffle(&mut folds);
        let lesson = Lesson { scores, as_new, rows, folds };
        let base = Kernel::resolve(&KernelSpec::default(), z.points().into(), seed)?;
        let rate = match base.bandwidth() {
            Some((_, param)) => known(param)?,
            None => 1.0,
        };
        let mut best: Option<(f64, i32, Features)> = None;
        for (done, width) in WIDTHS.iter().enumerate() {
            watch.step("learning the way back", done, WIDTHS.len())?;
            let spec = KernelSpec::rbf(Param::Value(rate * width));
            let features = Features::new(Kernel::new(&spec, z.n_cols())?, &centres)?;
            let (error, exponent) = lesson.judge(&features)?;
            if best.as_ref().is_none_or(|best| error < best.0) {
                best = Some((error, exponent, features));
            }
        }
        let (_, exponent, features) = best.ok_or_else(nothing)?;
        let solved = Solved::of(features.of(&lesson.scores), lesson.rows.clone())?;
        Ok(Self {
            coefficients: solved.coefficients(exponent),
            features,
            feature_means: solved.feature_means,
            row_means: solved.row_means,
        })
    }

    /// Rows for scores.
    pub(super) fn rows(&self, scores: &Matrix<f64>) -> Matrix<f64> {
        let mut features = self.features.of(scores);
        shift_columns(features.view_mut(), &negative(&self.feature_means));
        let mut out = Matrix::zeros(scores.n_rows(), self.row_means.len());
        combine(out.view_mut(), Onto::Replace, 1.0, features.view(), self.coefficients.view());
        shift_columns(out.view_mut(), &self.row_means);
        out
    }
}

fn negative(means: &[f64]) -> Vec<f64> {
    means.iter().map(|m| -m).collect()
}

/// k̃(x, x) = k(x, x) − 2·mean k(x, ·) + mean k of each row, with means over sampled rows.
fn centred_diagonal(kernel: &Kernel, rows: &Matrix<f64>, sampled: &Matrix<f64>) -> Vec<f64> {
    let mean_with = |x: &Matrix<f64>| -> Vec<f64> {
        let between = kernel.matrix(Points::Dense(x.view()), Points::Dense(sampled.view()));
        (0..x.n_rows()).map(|i| between.row(i).iter().sum::<f64>() / sampled.n_rows().max(1) as f64).collect()
    };
    let overall = mean_with(sampled).iter().sum::<f64>() / sampled.n_rows().max(1) as f64;
    let mut diagonal = vec![0.0; rows.n_rows()];
    kernel.diagonal(Points::Dense(rows.view()), &mut diagonal);
    diagonal.iter().zip(mean_with(rows)).map(|(own, mean)| own - 2.0 * mean + overall).collect()
}

/// Scores without what a row contributes to its own, z − k̃(x, x)·A: those it would have, had it not been among the samples. No
/// score grows or changes its sign.
fn as_new(scores: &Matrix<f64>, coefficients: &Matrix<f64>, diagonal: &[f64]) -> Matrix<f64> {
    Matrix::from_fn(scores.n_rows(), scores.n_cols(), |i, j| {
        let z = scores[(i, j)];
        let left = z - diagonal[i] * coefficients[(i, j)];
        if z * left > 0.0 { left.abs().min(z.abs()).copysign(z) } else { 0.0 }
    })
}

impl Lesson {
    /// The least error of a ridge on held-out rows, and the ridge as a power of ten.
    fn judge(&self, features: &Features) -> Result<(f64, i32)> {
        let (f, new) = (features.of(&self.scores), features.of(&self.as_new));
        let mut errors = vec![0.0; RIDGES.count()];
        for fold in 0..FOLDS {
            let gather = |from: &Matrix<f64>, inside: bool| {
                let rows: Vec<usize> =
                    (0..from.n_rows()).filter(|i| (self.folds[*i] == fold) == inside).collect();
                Matrix::from_fn(rows.len(), from.n_cols(), |i, j| from[(rows[i], j)])
            };
            let solved = Solved::of(gather(&f, false), gather(&self.rows, false))?;
            let found = solved.errors(gather(&new, true), gather(&self.rows, true));
            errors.iter_mut().zip(found).for_each(|(sum, error)| *sum += error);
        }
        let scored = errors.into_iter().zip(RIDGES);
        Ok(scored
            .fold((f64::INFINITY, *RIDGES.end()), |best, next| if next.0 < best.0 { next } else { best }))
    }
}

/// Moments of centred features F and rows X: FᵀF = VSVᵀ and VᵀFᵀX.
struct Solved {
    values: Vec<f64>,
    vectors: Matrix<f64>,
    along: Matrix<f64>,
    feature_means: Vec<f64>,
    row_means: Vec<f64>,
}

impl Solved {
    fn of(mut f: Matrix<f64>, mut x: Matrix<f64>) -> Result<Self> {
        let (feature_means, row_means) = (column_means(f.view()), column_means(x.view()));
        shift_columns(f.view_mut(), &negative(&feature_means));
        shift_columns(x.view_mut(), &negative(&row_means));
        let (mut values, vectors) = symmetric_eigen(&inner(f.view(), f.view()))?;
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        let along = inner(vectors.view(), inner(f.view(), x.view()).view());
        Ok(Self { values, vectors, along, feature_means, row_means })
    }

    /// 1/(s + α) along each axis.
    fn shrunk(&self, exponent: i32) -> Vec<f64> {
        // Why: scores that are all the same leave nothing to learn, and 1/α must be finite.
        let total = self.values.iter().sum::<f64>().max(1e-200);
        let alpha = total / self.values.len().max(1) as f64 * 10f64.powi(exponent);
        self.values.iter().map(|s| 1.0 / (s + alpha)).collect()
    }

    /// B = V(S + α)⁻¹VᵀFᵀX.
    fn coefficients(&self, exponent: i32) -> Matrix<f64> {
        let factor = self.shrunk(exponent);
        let scaled =
            Matrix::from_fn(self.along.n_rows(), self.along.n_cols(), |i, j| factor[i] * self.along[(i, j)]);
        let mut out = Matrix::zeros(self.vectors.n_rows(), scaled.n_cols());
        combine(out.view_mut(), Onto::Replace, 1.0, self.vectors.view(), scaled.view());
        out
    }

    /// ‖X − GB‖² of other rows for every ridge: with P = GV and D = (S + α)⁻¹, tr XᵀX − 2 tr XᵀPDA + tr PᵀP DAAᵀD.
    fn errors(&self, mut g: Matrix<f64>, mut x: Matrix<f64>) -> Vec<f64> {
        shift_columns(g.view_mut(), &negative(&self.feature_means));
        shift_columns(x.view_mut(), &negative(&self.row_means));
        let mut p = Matrix::zeros(g.n_rows(), self.vectors.n_cols());
        combine(p.view_mut(), Onto::Replace, 1.0, g.view(), self.vectors.view());
        let (squares, with) = (inner(p.view(), p.view()), inner(p.view(), x.view()));
        let m = self.values.len();
        let mut between = Matrix::zeros(m, m);
        gemm(
            between.view_mut(),
            Onto::Replace,
            1.0,
            Factor::Plain(self.along.view()),
            Factor::Transposed(self.along.view()),
        );
        let whole: f64 = x.as_slice().iter().map(|v| v * v).sum();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let linear: Vec<f64> = (0..m).map(|i| dot(with.row(i), self.along.row(i))).collect();
        RIDGES
            .map(|exponent| {
                let factor = self.shrunk(exponent);
                let square = |i: usize| {
                    let pairs = squares.row(i).iter().zip(between.row(i)).zip(&factor);
                    factor[i] * pairs.map(|((a, b), f)| a * b * f).sum::<f64>()
                };
                (whole - 2.0 * dot(&linear, &factor) + (0..m).map(square).sum::<f64>()).max(0.0)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize, columns: usize, shift: f64) -> Matrix<f64> {
        Matrix::from_fn(rows, columns, |i, j| ((i * (j + 2)) as f64 * 0.37 + shift).sin() + 0.1 * j as f64)
    }

    // Sums of some hundred products of size 1, over ridges of 10⁻⁴ of the variance and more.
    #[test]
    fn errors_are_those_of_the_rows_predicted() {
        let (f, x, g, y) = (wave(40, 6, 0.0), wave(40, 3, 1.0), wave(25, 6, 0.5), wave(25, 3, 2.0));
        let solved = Solved::of(f, x).unwrap();
        let found = solved.errors(g.clone(), y.clone());
        for (exponent, error) in RIDGES.zip(&found).filter(|(exponent, _)| *exponent >= -4) {
            let b = solved.coefficients(exponent);
            let mut known = 0.0;
            for i in 0..25 {
                for j in 0..3 {
                    let centred = |l: usize| g[(i, l)] - solved.feature_means[l];
                    let value = solved.row_means[j] + (0..6).map(|l| centred(l) * b[(l, j)]).sum::<f64>();
                    known += (y[(i, j)] - value).powi(2);
                }
            }
            assert!((error - known).abs() < 1e-9 * known, "{exponent}: {error} {known}");
        }
    }

    #[test]
    fn scores_as_new_shrink_and_keep_their_sign() {
        let scores = Matrix::from_vec(vec![2.0, -1.0, 0.5, -3.0], 2, 2).unwrap();
        let coefficients = Matrix::from_vec(vec![0.5, -2.0, -0.25, -0.5], 2, 2).unwrap();
        let found = as_new(&scores, &coefficients, &[1.0, 2.0]);
        assert_eq!(found.as_slice(), [1.5, 0.0, 0.5, -2.0]);
    }
}
