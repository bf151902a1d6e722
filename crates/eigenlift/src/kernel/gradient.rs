//! Derivatives of kernels by their first row.

use super::origin::from_origin;
use super::profile::{CoordinateProfile, DistanceProfile, InnerProfile, NormProfile};
use super::tile::{Form, evaluate, inner_products, squared_distances};
use super::{Formula, Kernel, Workspace};
use crate::data::Points;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, MatRef, Matrix};

/// Share of the largest coordinate by which each is moved where a derivative is found from differences.
///
/// Numerics: the cube root of the unit roundoff balances rounding against the curvature of the function.
const STEP: f64 = 6e-6;

/// Rows y against samples x, and a weight for each pair.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    y: MatRef<'a, f64>,
    x: MatRef<'a, f64>,
    weights: MatRef<'a, f64>,
}

impl Kernel {
    /// a and g where k(x,y) = a·g(‖x−y‖²), a > 0; `None` for other kernels.
    pub(crate) fn by_distance(&self) -> Option<(f64, DistanceProfile)> {
        match &self.form {
            Form::Distance(profile) => Some((1.0, *profile)),
            Form::Scaled(factor, inner) if *factor > 0.0 => match &**inner {
                Form::Distance(profile) => Some((*factor, *profile)),
                _ => None,
            },
            _ => None,
        }
    }

    /// out\[j\] ← out\[j\] + Σᵢ wⱼᵢ·∂k(yⱼ, xᵢ)/∂yⱼ, (K56).
    ///
    /// Cost: 4·d flops for each pair where k goes by inner products or distances; 2·d kernel values for each pair where it is a
    /// formula or a function, whose derivative is found from differences.
    pub(crate) fn pull_back(
        &self,
        y: MatRef<'_, f64>,
        x: MatRef<'_, f64>,
        weights: MatRef<'_, f64>,
        out: &mut Matrix<f64>,
        work: &mut Workspace<f64>,
    ) {
        let Some(origin) = self.origin() else {
            return pull_back(&self.form, Pairs { y, x, weights }, out, work);
        };
        let (y, x) = (from_origin(Points::Dense(y), origin), from_origin(Points::Dense(x), origin));
        pull_back(&self.form, Pairs { y: y.view(), x: x.view(), weights }, out, work);
    }

    /// d k(y,y)/dy = 2·∂k(y, ·)/∂y at y, since k is symmetric.
    pub(crate) fn diagonal_gradient(&self, y: &[f64], work: &mut Workspace<f64>) -> Vec<f64> {
        let mut out = Matrix::zeros(1, y.len());
        let row = MatRef::shaped(y, 1, y.len());
        self.pull_back(row, row, MatRef::shaped(&[2.0], 1, 1), &mut out, work);
        out.into_vec()
    }
}

fn pull_back(form: &Form, pairs: Pairs<'_>, out: &mut Matrix<f64>, work: &mut Workspace<f64>) {
    match form {
        Form::Inner(profile) => inner(*profile, pairs, out),
        Form::Norms(profile) => norms(*profile, pairs, out),
        Form::Distance(profile) => distance(*profile, pairs, out, work),
        Form::Coordinate(profile) => coordinate(*profile, form, pairs, out, work),
        Form::Map(formulas) => mapped(formulas, pairs, out),
        Form::Expr(formula) => by_differences(&|y, x| formula.eval(y, x), pairs, out),
        Form::Function(f) => by_differences(&**f, pairs, out),
        Form::Scaled(factor, inner) => {
            let weights = scaled(pairs.weights, |_, _, w| factor * w);
            pull_back(inner, Pairs { weights: weights.view(), ..pairs }, out, work);
        }
        Form::Sum(forms) => forms.iter().for_each(|form| pull_back(form, pairs, out, work)),
        Form::Product(forms) => {
            let values: Vec<Matrix<f64>> = forms.iter().map(|form| tile(form, pairs, work)).collect();
            for (at, form) in forms.iter().enumerate() {
                let weights = scaled(pairs.weights, |j, i, w| {
                    values
                        .iter()
                        .enumerate()
                        .filter(|(other, _)| *other != at)
                        .fold(w, |w, (_, k)| w * k[(j, i)])
                });
                pull_back(form, Pairs { weights: weights.view(), ..pairs }, out, work);
            }
        }
    }
}

fn tile(form: &Form, pairs: Pairs<'_>, work: &mut Workspace<f64>) -> Matrix<f64> {
    let mut values = Matrix::zeros(pairs.y.n_rows(), pairs.x.n_rows());
    evaluate(form, Points::Dense(pairs.y), Points::Dense(pairs.x), values.as_mut_slice(), work);
    values
}

fn scaled(weights: MatRef<'_, f64>, f: impl Fn(usize, usize, f64) -> f64) -> Matrix<f64> {
    Matrix::from_fn(weights.n_rows(), weights.n_cols(), |j, i| f(j, i, weights.row(j)[i]))
}

fn add_product(out: &mut Matrix<f64>, scale: f64, weights: &Matrix<f64>, x: MatRef<'_, f64>) {
    let out: MatMut<'_, f64> = out.view_mut();
    gemm(out, Onto::Add, scale, Factor::Plain(weights.view()), Factor::Plain(x));
}

/// ∂k/∂y = g′(⟨y,x⟩)·x.
fn inner(profile: InnerProfile, pairs: Pairs<'_>, out: &mut Matrix<f64>) {
    let mut slopes = Matrix::zeros(pairs.y.n_rows(), pairs.x.n_rows());
    inner_products(Points::Dense(pairs.y), Points::Dense(pairs.x), slopes.as_mut_slice());
    let slopes = scaled(slopes.view(), |j, i, s| profile.slope(s) * pairs.weights.row(j)[i]);
    add_product(out, 1.0, &slopes, pairs.x);
}

/// ∂k/∂y = ∂k/∂⟨y,x⟩·x + 2·∂k/∂‖y‖²·y.
fn norms(profile: NormProfile, pairs: Pairs<'_>, out: &mut Matrix<f64>) {
    let of_norm = |row: &[f64]| profile.of_norm(row.iter().map(|v| v * v).sum::<f64>());
    let x_norms: Vec<f64> = (0..pairs.x.n_rows()).map(|i| of_norm(pairs.x.row(i))).collect();
    let y_norms: Vec<f64> = (0..pairs.y.n_rows()).map(|j| of_norm(pairs.y.row(j))).collect();
    let mut values = Matrix::zeros(pairs.y.n_rows(), pairs.x.n_rows());
    inner_products(Points::Dense(pairs.y), Points::Dense(pairs.x), values.as_mut_slice());
    let weights = scaled(pairs.weights, |j, i, w| profile.along_x(w, values[(j, i)], x_norms[i], y_norms[j]));
    add_product(out, 1.0, &weights, pairs.x);
    for (j, y_norm) in y_norms.iter().enumerate() {
        let terms = values.row(j).iter().zip(&x_norms).zip(pairs.weights.row(j));
        let total = terms.map(|((s, x), w)| profile.along_y(*s, *x, *y_norm) * w).sum::<f64>();
        let factor = profile.total_along_y(total, *y_norm);
        let y = pairs.y.row(j);
        out.view_mut().row_mut(j).iter_mut().zip(y).for_each(|(o, y)| *o -= factor * y);
    }
}

/// ∂k/∂y = 2g′(s)·(y − x).
fn distance(profile: DistanceProfile, pairs: Pairs<'_>, out: &mut Matrix<f64>, work: &mut Workspace<f64>) {
    let mut squares = Matrix::zeros(pairs.y.n_rows(), pairs.x.n_rows());
    squared_distances(pairs.y, pairs.x, squares.as_mut_slice(), work);
    let falls = scaled(squares.view(), |j, i, s| profile.fall(s) * pairs.weights.row(j)[i]);
    add_product(out, 2.0, &falls, pairs.x);
    for j in 0..pairs.y.n_rows() {
        let total: f64 = falls.row(j).iter().sum();
        let y = pairs.y.row(j);
        out.view_mut().row_mut(j).iter_mut().zip(y).for_each(|(o, y)| *o -= 2.0 * total * y);
    }
}

fn coordinate(
    profile: CoordinateProfile,
    form: &Form,
    pairs: Pairs<'_>,
    out: &mut Matrix<f64>,
    work: &mut Workspace<f64>,
) {
    let values = tile(form, pairs, work);
    for j in 0..pairs.y.n_rows() {
        let y = pairs.y.row(j);
        for (i, (k, w)) in values.row(j).iter().zip(pairs.weights.row(j)).enumerate() {
            let x = pairs.x.row(i);
            let mut into = out.view_mut();
            for ((o, y), x) in into.row_mut(j).iter_mut().zip(y).zip(x) {
                *o += w * profile.slope(*k, *y, *x);
            }
        }
    }
}

/// f at y with each coordinate moved there and back, as (f(y + h) − f(y − h))/2h.
pub(crate) fn differences(y: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut moved = y.to_vec();
    let largest = y.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    let h = STEP * if largest > 0.0 { largest } else { 1.0 };
    (0..y.len())
        .map(|c| {
            moved[c] = y[c] + h;
            let ahead = f(&moved);
            moved[c] = y[c] - h;
            let behind = f(&moved);
            moved[c] = y[c];
            (ahead - behind) / (2.0 * h)
        })
        .collect()
}

/// ⟨φ(y), Σwφ(x)⟩ by y.
fn mapped(formulas: &[Formula], pairs: Pairs<'_>, out: &mut Matrix<f64>) {
    let features =
        Matrix::from_fn(pairs.x.n_rows(), formulas.len(), |i, p| formulas[p].eval(pairs.x.row(i), &[]));
    for j in 0..pairs.y.n_rows() {
        let mut sum = vec![0.0; formulas.len()];
        for (i, w) in pairs.weights.row(j).iter().enumerate() {
            sum.iter_mut().zip(features.row(i)).for_each(|(s, f)| *s += w * f);
        }
        let slopes = formula_slopes(formulas, pairs.y.row(j), &sum);
        out.view_mut().row_mut(j).iter_mut().zip(slopes).for_each(|(o, s)| *o += s);
    }
}

/// Jᵀv for the map whose coordinates are formulas.
pub(crate) fn formula_slopes(formulas: &[Formula], y: &[f64], v: &[f64]) -> Vec<f64> {
    differences(y, |y| formulas.iter().zip(v).map(|(formula, v)| v * formula.eval(y, &[])).sum())
}

fn by_differences(f: &dyn Fn(&[f64], &[f64]) -> f64, pairs: Pairs<'_>, out: &mut Matrix<f64>) {
    for j in 0..pairs.y.n_rows() {
        let weights = pairs.weights.row(j);
        let slopes = differences(pairs.y.row(j), |y| {
            weights.iter().enumerate().map(|(i, w)| w * f(y, pairs.x.row(i))).sum()
        });
        out.view_mut().row_mut(j).iter_mut().zip(slopes).for_each(|(o, s)| *o += s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelSpec;

    fn check(text: &str) {
        let spec: KernelSpec = text.parse().unwrap();
        let kernel = Kernel::new(&spec, 3).unwrap();
        let x = Matrix::from_fn(5, 3, |i, j| 1.3 + ((i * 3 + j) as f64 * 0.7).sin());
        let y = Matrix::from_fn(2, 3, |i, j| 1.5 + ((i * 3 + j) as f64 * 1.1).cos());
        let weights = Matrix::from_fn(2, 5, |i, j| ((i * 5 + j) as f64).sin());
        let mut work = Workspace::default();
        let mut found = Matrix::zeros(2, 3);
        kernel.pull_back(y.view(), x.view(), weights.view(), &mut found, &mut work);
        for j in 0..2 {
            let value = |y: &[f64]| (0..5).map(|i| weights[(j, i)] * kernel.pair(y, x.row(i))).sum::<f64>();
            let slow = differences(y.row(j), value);
            let diagonal = differences(y.row(j), |y| kernel.pair(y, y));
            let own = kernel.diagonal_gradient(y.row(j), &mut work);
            for c in 0..3 {
                assert!((found[(j, c)] - slow[c]).abs() < 1e-7, "{text}: {} {}", found[(j, c)], slow[c]);
                assert!((own[c] - diagonal[c]).abs() < 1e-7, "{text}: {} {}", own[c], diagonal[c]);
            }
        }
    }

    #[test]
    fn derivatives_match_differences() {
        for text in [
            "linear",
            "polynomial(degree=3,gamma=0.5,coef0=1)",
            "polynomial(degree=2.5,gamma=0.5,coef0=1)",
            "sigmoid(gamma=0.2,coef0=0.1)",
            "cosine",
            "tanimoto",
            "rbf(gamma=0.4)",
            "exponential(gamma=0.4)",
            "matern(nu=1.5,length=2)",
            "matern(nu=2.5,length=2)",
            "rational_quadratic(alpha=0.7,length=1.5)",
            "chi2(gamma=0.3)",
            "map(x1*x2, x3^2, 1)",
            "expr(1 + 2*x1^2*y1^2 + x2*y2)",
            "2*rbf(gamma=0.4) + linear*cosine*tanimoto",
        ] {
            check(text);
        }
    }

    #[test]
    fn laplacian_and_intersection_away_from_their_kinks() {
        let x = Matrix::from_vec(vec![0.5, 2.0], 1, 2).unwrap();
        let y = Matrix::from_vec(vec![1.0, 1.0], 1, 2).unwrap();
        let one = Matrix::from_vec(vec![1.0], 1, 1).unwrap();
        for text in ["laplacian(gamma=0.3)", "intersection"] {
            let kernel = Kernel::new(&text.parse().unwrap(), 2).unwrap();
            let mut found = Matrix::zeros(1, 2);
            kernel.pull_back(y.view(), x.view(), one.view(), &mut found, &mut Workspace::default());
            let slow = differences(y.row(0), |y| kernel.pair(y, x.row(0)));
            (0..2).for_each(|c| assert!((found[(0, c)] - slow[c]).abs() < 1e-9, "{text}"));
        }
    }

    #[test]
    fn distances_come_back_from_values() {
        for profile in [
            DistanceProfile::Rbf { gamma: 0.7 },
            DistanceProfile::Exponential { gamma: 0.7 },
            DistanceProfile::Matern3 { length: 1.4 },
            DistanceProfile::Matern5 { length: 1.4 },
            DistanceProfile::RationalQuadratic { alpha: 0.8, length: 1.4 },
        ] {
            let mut value = [2.3];
            profile.apply(&mut value);
            assert!((profile.invert(value[0]) - 2.3).abs() < 1e-12, "{profile:?}");
        }
    }
}
