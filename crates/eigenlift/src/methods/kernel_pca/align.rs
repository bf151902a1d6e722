//! Refitted models matched to an earlier one: signs, and rotations among components that are nearly tied.

use super::FittedKernelPca;
use super::fitted::KernelPcaBody;
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::linalg::{
    column_means, column_norms, combine_in_place, inner, right_singular, scale_columns, shift_columns,
};
use crate::matrix::{MatMut, Matrix};
use crate::model::{Lift, Route};
use crate::progress::Watch;
use crate::tuning::kernel_study::{NEAR_TIE, largest_angle, orthonormal_prefix};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Below this cosine a component is not called the same as the earlier one: less than half of its variance is shared.
const SAME: f64 = 0.7;
/// How far √ω·A may be from orthonormal columns before the model counts as rotated.
const ROTATED: f64 = 1e-8;
/// A singular value below this share of the largest gives no direction.
const NO_DIRECTION: f64 = 1e-12;

/// How a refitted model was matched to an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Whether each axis was turned: its sign, or by a rotation inside its group.
    pub turned: Vec<bool>,
    /// Groups of components (counted from 0, ends included) that are nearly tied and were rotated as a whole.
    pub groups: Vec<(usize, usize)>,
    /// |cos| between the scores of each component and those of the earlier one of the same index, on the common rows and after
    /// the alignment; 0 where the earlier model has no such component.
    pub agreement: Vec<f64>,
    /// Largest angle between the spans of the scores of all components that both models have, in degrees, (K80).
    pub angle: f64,
    /// What a person should know before comparing scores.
    pub warnings: Vec<String>,
    /// What was done, in one sentence.
    pub sentence: String,
}

/// What [`FittedKernelPca::aligned_with`] is told beside the models.
#[derive(Clone, Debug)]
pub struct AlignOptions {
    /// Eigenvalues closer than this share of the larger are nearly tied.
    pub near_tie: f64,
    /// Who is told, and who may stop it.
    pub watch: Watch,
}

impl Default for AlignOptions {
    fn default() -> Self {
        Self { near_tie: NEAR_TIE, watch: Watch::default() }
    }
}

impl FittedKernelPca {
    /// This model with signs, and rotations inside groups of nearly tied components, matched to an earlier one, so that scores
    /// of the two can be compared; and how well they match.
    ///
    /// Both models give scores to the `common` rows, a few hundred typical ones. A component whose eigenvalue stands apart keeps
    /// its axis, and only its sign is chosen. Eigenvalues within 1 % of each other, or reported as tied by the certificate, fix
    /// only the subspace of their group; inside it the rotation is taken that brings the scores closest to the earlier ones,
    /// (K84). Components never change places beyond their group.
    ///
    /// Eigenvalues stay as they are: after a rotation they belong to the group, no longer each to its axis. The residuals of the
    /// certificate become bounds for the rotated axes, and the group is named among its ties.
    ///
    /// ```
    /// use eigenlift::{data, methods::KernelPca};
    /// let x = data::iris()?.samples;
    /// let earlier = KernelPca::new(2).fit(x.clone())?;
    /// let refitted = earlier.clone().flipped(&[true, false]);
    /// let (aligned, how) = refitted.aligned_to(&earlier, x.points())?;
    /// assert_eq!(how.turned, [true, false]);
    /// assert_eq!(aligned.scores()?, earlier.scores()?);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// Cost: that of two transforms of the common rows.
    ///
    /// # Errors
    /// When there are fewer than two common rows, or one of the models cannot take them.
    pub fn aligned_to<'a>(
        self,
        earlier: &FittedKernelPca,
        common: impl Into<AnyPoints<'a>>,
    ) -> Result<(FittedKernelPca, Alignment)> {
        self.aligned_with(earlier, common, &AlignOptions::default())
    }

    /// As [`FittedKernelPca::aligned_to`], with another width of near-ties, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::aligned_to`], when the width is out of range, and on cancellation.
    pub fn aligned_with<'a>(
        mut self,
        earlier: &FittedKernelPca,
        common: impl Into<AnyPoints<'a>>,
        options: &AlignOptions,
    ) -> Result<(FittedKernelPca, Alignment)> {
        let common = common.into();
        check(common, options.near_tie)?;
        let mut new = centred(self.transform_watched(common, &options.watch)?);
        let old = centred(earlier.transform_watched(common, &options.watch)?);
        let groups = near_ties(&self, options.near_tie);
        let mut warnings = tie_warnings(&self, earlier, &groups, options.near_tie);
        let products = inner(new.view(), old.view());
        let k = self.n_components();
        let single = |j: usize| !groups.iter().any(|group| group.contains(&j));
        let mut turned: Vec<bool> =
            (0..k).map(|j| single(j) && j < old.n_cols() && products[(j, j)] < 0.0).collect();
        let signs: Vec<f64> = turned.iter().map(|turn| if *turn { -1.0 } else { 1.0 }).collect();
        scale_columns(new.view_mut(), &signs);
        self = self.flipped(&turned);
        for group in &groups {
            let rotation = procrustes(&products, group.clone())?;
            combine_in_place(new.view_mut().columns(group.clone()), rotation.view());
            self.rotate(group.clone(), &rotation);
            let moved = |j: usize| (rotation[(j, j)] - 1.0).abs() > 1e-12;
            group.clone().for_each(|j| turned[j] = moved(j - group.start));
        }
        let cosines = cosines(&new, &old);
        warnings.extend(unmatched(&cosines, old.n_cols()));
        if common.n_rows() <= 2 * k {
            warnings.push(format!(
                "{} common rows for {k} components: with so few, anything looks alike; give at least {}",
                common.n_rows(),
                10 * k
            ));
        }
        let m = k.min(old.n_cols());
        let (q, p) = (orthonormal_prefix(&new), orthonormal_prefix(&old));
        let angle = largest_angle(q.view().first_columns(m), p.view().first_columns(m))?;
        let agreement: Vec<f64> =
            (0..k).map(|j| if j < m { cosines[(j, j)].abs().min(1.0) } else { 0.0 }).collect();
        let groups: Vec<(usize, usize)> = groups.iter().map(|group| (group.start, group.end - 1)).collect();
        let sentence = sentence(&turned, &groups, &agreement[..m], angle);
        Ok((self, Alignment { turned, groups, agreement, angle, warnings, sentence }))
    }

    /// Columns of a group ← columns·R, in everything that has them.
    fn rotate(&mut self, group: Range<usize>, rotation: &Matrix<f64>) {
        // Why: the coefficients give the scores of the samples only as long as each axis has its own eigenvalue.
        if self.plan.route == Route::Dual && self.scores.is_none() {
            self.scores = self.scores().ok();
        }
        let block = |m: MatMut<'_, f64>| combine_in_place(m.columns(group.clone()), rotation.view());
        block(self.projection.coefficients.view_mut());
        if let Some(scores) = &mut self.scores {
            block(scores.view_mut());
        }
        let offset = self.projection.offset[group.clone()].to_vec();
        for j in 0..group.len() {
            self.projection.offset[group.start + j] =
                offset.iter().enumerate().map(|(i, c)| c * rotation[(i, j)]).sum();
        }
        self.loosen_certificate(group.clone(), rotation);
        let words = numbered(&group);
        self.warnings.push(format!(
            "components {words} were rotated together to match an earlier model: their eigenvalues belong to the group"
        ));
    }

    /// ‖nCw − θⱼw‖ ≤ (Σᵢ Rᵢⱼ²(θᵢ − θⱼ)²)^½ + (Σᵢ ρᵢ²)^½ for the axis w = Σᵢ Rᵢⱼvᵢ in feature space, (K85).
    fn loosen_certificate(&mut self, group: Range<usize>, rotation: &Matrix<f64>) {
        let KernelPcaBody { eigenvalues, certificate, .. } = &mut self.body;
        let theta = &eigenvalues[group.clone()];
        if let Some(residuals) = certificate.residuals.get_mut(group.clone()) {
            let joint = residuals.iter().zip(theta).map(|(r, t)| (r * t).powi(2)).sum::<f64>().sqrt();
            for (j, residual) in residuals.iter_mut().enumerate() {
                let mixed = |i: usize| (rotation[(i, j)] * (theta[i] - theta[j])).powi(2);
                let mixed = (0..theta.len()).map(mixed).sum::<f64>().sqrt();
                *residual = (mixed + joint) / theta[j].abs().max(f64::MIN_POSITIVE);
            }
        }
        let ties = &mut self.certificate.ties;
        if !ties.iter().any(|(first, last)| *first <= group.start && group.end <= *last + 1) {
            // A tie inside the group is part of it; one that reaches beyond it is not there, groups hold whole ties.
            ties.retain(|(first, last)| *last < group.start || *first >= group.end);
            ties.push((group.start, group.end - 1));
            ties.sort_unstable();
        }
    }

    /// Whether components of an exact model were rotated among each other, so that A·nλ are not the scores: √ωᵢωⱼ·(AᵀA)ᵢⱼ is then
    /// not the identity within a tie.
    pub(super) fn is_rotated(&self) -> bool {
        let k = self.n_components();
        self.certificate.ties.iter().any(|(first, last)| {
            let tie = (*first).min(k)..(*last + 1).min(k);
            let a = self.projection.coefficients.view().columns(tie.clone());
            let products = inner(a, a);
            let root = |j: usize| self.eigenvalues[tie.start + j].abs().sqrt();
            let off = |i: usize, j: usize| root(i) * root(j) * products[(i, j)] - f64::from(u8::from(i == j));
            (0..tie.len()).any(|i| (0..=i).any(|j| off(i, j).abs() > ROTATED))
        })
    }

    /// Scores of the samples by projecting them.
    pub(super) fn projected_scores(&self) -> Result<Matrix<f64>> {
        match &self.projection.lift {
            Lift::Kernel { samples, .. } => self.transform(samples.points()),
            _ => Err(Error::model(
                "a model whose components were rotated and that does not hold its samples",
                "scores of the samples need the samples",
                "Transform the Gram matrix with the model",
            )),
        }
    }

    /// How far a rotation inside the ties may take products of scores from their eigenvalues, relative to these.
    pub(super) fn spread_of_tie(&self, i: usize, j: usize) -> f64 {
        let together =
            |(first, last): &&(usize, usize)| (*first..=*last).contains(&i) && (*first..=*last).contains(&j);
        self.certificate.ties.iter().find(together).map_or(0.0, |(first, last)| {
            let size =
                |at: usize| self.eigenvalues.get(at.min(self.n_components() - 1)).map_or(0.0, |v| v.abs());
            (size(*first) - size(*last)) / size(*last).max(f64::MIN_POSITIVE)
        })
    }
}

fn check(common: AnyPoints<'_>, near_tie: f64) -> Result<()> {
    if !(0.0..1.0).contains(&near_tie) {
        return Err(Error::setting(
            format!("a width of near-ties of {near_tie}"),
            "it must be at least 0 and less than 1",
            "The default is 0.01: eigenvalues within 1 %",
        ));
    }
    if common.n_rows() < 2 {
        return Err(Error::data(
            format!("{} common row(s)", common.n_rows()),
            "scores are compared over at least 2",
            "Give a few hundred typical rows",
        ));
    }
    Ok(())
}

fn centred(mut scores: Matrix<f64>) -> Matrix<f64> {
    let shift: Vec<f64> = column_means(scores.view()).iter().map(|m| -m).collect();
    shift_columns(scores.view_mut(), &shift);
    scores
}

/// Groups of two or more components whose eigenvalues are nearly tied, each with the next, and of one sign.
fn near_ties(model: &FittedKernelPca, near_tie: f64) -> Vec<Range<usize>> {
    let (values, ties) = (&model.eigenvalues, &model.certificate.ties);
    let tied = |j: usize| {
        let (a, b) = (values[j], values[j + 1]);
        let named = ties.iter().any(|(first, last)| *first <= j && j < *last);
        // Why: a rotation between a positive and a negative direction is no eigenvector of either.
        (named || a.abs() - b.abs() < near_tie * a.abs()) && a.signum() == b.signum()
    };
    let mut groups: Vec<Range<usize>> = Vec::new();
    for j in 0..values.len().saturating_sub(1) {
        match groups.last_mut() {
            Some(group) if tied(j) && group.end == j + 1 => group.end = j + 2,
            _ if tied(j) => groups.push(j..j + 2),
            _ => {}
        }
    }
    groups
}

/// The orthogonal R that brings new·R closest to old, on one group: R = UVᵀ for newᵀold = USVᵀ. Directions that the earlier
/// model does not have are completed.
fn procrustes(products: &Matrix<f64>, group: Range<usize>) -> Result<Matrix<f64>> {
    let (from, width) = (group.start, group.len());
    let m = Matrix::from_fn(width, width, |i, j| {
        if from + j < products.n_cols() { products[(from + i, from + j)] } else { 0.0 }
    });
    let (values, v) = right_singular(m.view())?;
    let largest = values.first().copied().unwrap_or(0.0);
    let mut left: Vec<Vec<f64>> = Vec::with_capacity(width);
    // Numerics: columns M·v/s lose orthogonality where s is small; each is orthogonalised against those before it, twice.
    for (column, value) in values.iter().enumerate() {
        let image: Vec<f64> =
            (0..width).map(|i| (0..width).map(|l| m[(i, l)] * v[(l, column)]).sum::<f64>() / value).collect();
        let found = if *value > NO_DIRECTION * largest { orthogonal_part(image, &left) } else { None };
        // Where nothing is known the axis stays as close to where it is as it can.
        let own: Vec<f64> = (0..width).map(|i| v[(i, column)]).collect();
        let units = (0..width).map(|at| (0..width).map(|i| f64::from(u8::from(i == at))).collect());
        let spare = || std::iter::once(own).chain(units).find_map(|unit| orthogonal_part(unit, &left));
        if let Some(unit) = found.or_else(spare) {
            left.push(unit);
        }
    }
    Ok(Matrix::from_fn(width, width, |i, j| left.iter().enumerate().map(|(c, u)| u[i] * v[(j, c)]).sum()))
}

/// The unit vector along what of `x` is orthogonal to the unit vectors `others`; `None` when that is little.
fn orthogonal_part(mut x: Vec<f64>, others: &[Vec<f64>]) -> Option<Vec<f64>> {
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    for _ in 0..2 {
        for other in others {
            let along: f64 = x.iter().zip(other).map(|(a, b)| a * b).sum();
            x.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let length = norm(&x);
        // One of the unit vectors keeps at least 1/√width.
        if length.is_nan() || length < 1e-3 {
            return None;
        }
        x.iter_mut().for_each(|v| *v /= length);
    }
    Some(x)
}

/// Cosines between the columns of two blocks; 0 for a column that is 0.
fn cosines(new: &Matrix<f64>, old: &Matrix<f64>) -> Matrix<f64> {
    let products = inner(new.view(), old.view());
    let (a, b) = (column_norms(new.view()), column_norms(old.view()));
    Matrix::from_fn(products.n_rows(), products.n_cols(), |i, j| {
        let size = a[i] * b[j];
        if size > 0.0 { products[(i, j)] / size } else { 0.0 }
    })
}

/// "2 and 3" or "2 to 4", counted from 1.
fn numbered(group: &Range<usize>) -> String {
    let joined = if group.len() == 2 { "and" } else { "to" };
    format!("{} {joined} {}", group.start + 1, group.end)
}

fn tie_warnings(
    model: &FittedKernelPca,
    earlier: &FittedKernelPca,
    groups: &[Range<usize>],
    near_tie: f64,
) -> Vec<String> {
    let spread = |model: &FittedKernelPca, group: &Range<usize>| {
        let (first, last) = (model.eigenvalues[group.start].abs(), model.eigenvalues[group.end - 1].abs());
        100.0 * (first - last) / first
    };
    let mut warnings: Vec<String> = groups
        .iter()
        .map(|group| {
            format!(
                "eigenvalues of components {} lie within {:.2} %: only their subspace is determined, and it was rotated as a whole",
                numbered(group),
                spread(model, group)
            )
        })
        .collect();
    let apart =
        |group: &Range<usize>| !groups.iter().any(|own| own.start <= group.start && group.end <= own.end);
    warnings.extend(near_ties(earlier, near_tie).into_iter().filter(apart).map(|group| {
        format!(
            "components {} of the earlier model lie within {:.2} % and those of the new one do not: its axes there were \
             arbitrary and cannot be met",
            numbered(&group),
            spread(earlier, &group)
        )
    }));
    let k = model.n_components();
    if model.certificate.ties.iter().any(|(_, last)| *last >= k) {
        warnings
            .push(format!("component {k} is tied with one that was left out: keep one more, or one fewer"));
    }
    warnings
}

/// Components that are not those of the earlier model, and which they look like.
fn unmatched(cosines: &Matrix<f64>, n_old: usize) -> Vec<String> {
    let k = cosines.n_rows();
    let missing = (n_old < k).then(|| match k - n_old {
        1 => format!("component {k} has no earlier one: the earlier model has {n_old}"),
        _ => format!("components {} to {k} have no earlier one: the earlier model has {n_old}", n_old + 1),
    });
    let other = |j: usize| {
        let best = (0..n_old).max_by(|a, b| cosines[(j, *a)].abs().total_cmp(&cosines[(j, *b)].abs()));
        best.filter(|at| *at != j && cosines[(j, *at)].abs() >= SAME)
    };
    let named = (0..k.min(n_old)).filter(|j| cosines[(*j, *j)].abs() < SAME).map(|j| {
        let found =
            format!("component {} is not the earlier one (agreement {:.2})", j + 1, cosines[(j, j)].abs());
        match other(j) {
            Some(at) => format!("{found}: it looks like the earlier component {}", at + 1),
            None => format!("{found} nor like any other"),
        }
    });
    named.chain(missing).collect()
}

fn sentence(turned: &[bool], groups: &[(usize, usize)], agreement: &[f64], angle: f64) -> String {
    let inside = |j: usize| groups.iter().any(|(first, last)| (*first..=*last).contains(&j));
    let signs = (0..turned.len()).filter(|j| turned[*j] && !inside(*j)).count();
    let signs = match signs {
        0 => "no axis was turned round".to_string(),
        1 => "1 axis was turned round".into(),
        many => format!("{many} axes were turned round"),
    };
    let rotated = match groups {
        [] => String::new(),
        [(first, last)] => format!(", components {} were rotated together", numbered(&(*first..*last + 1))),
        many => format!(", {} groups of components were rotated", many.len()),
    };
    let worst = agreement.iter().copied().fold(1.0, f64::min);
    format!(
        "{signs}{rotated}; every component agrees with the earlier one to {worst:.2} or better, and the subspaces to {angle:.1} degrees"
    )
}
