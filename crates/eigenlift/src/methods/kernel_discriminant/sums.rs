//! Moments of features over all rows and over each class, fold by fold, from one reading, (C20).

use super::labels::Labels;
use crate::data::AnyPoints;
use crate::data::folds::gathered;
use crate::error::Result;
use crate::factor::Factor;
use crate::factor::inverse_deviations;
use crate::features::FeatureRows;
use crate::linalg::{inner, scale_columns};
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::progress::Watch;

/// Sums over the rows of a fold.
struct FoldSums {
    partial: Partial,
    /// Rows of each class.
    counts: Vec<f64>,
    /// Σ(f − origin) of each class, a row each.
    sums: Matrix<f64>,
}

/// Sums over all rows, fold by fold.
pub(super) struct Sums {
    folds: Vec<FoldSums>,
    /// The first row's features. Numerics: sums of differences from them keep the digits of features far from zero.
    origin: Vec<f64>,
    /// Σ k(x,x).
    pub(super) trace: f64,
    /// Whether features are written out.
    explicit: bool,
    /// Whether they are divided by their standard deviations, which for κ = 0 changes nothing but rounding.
    standardised: bool,
}

/// What directions are found from: covariance within classes and class means, (C20).
pub(super) struct ClassMoments {
    /// S_W/n.
    pub(super) within: Matrix<f64>,
    /// B = [√(n_c/n)(mean_c − mean)], a row for each class.
    pub(super) between: Matrix<f64>,
    pub(super) mean: Vec<f64>,
    /// n_c/n.
    pub(super) priors: Vec<f64>,
    /// Against what rounding is measured.
    pub(super) scale: f64,
    /// What each feature is multiplied by before anything else; empty for nothing.
    pub(super) scales: Vec<f64>,
}

impl ClassMoments {
    /// tr C = tr S_W/n + tr BBᵀ.
    pub(super) fn total(&self) -> f64 {
        let within: f64 = (0..self.within.n_rows()).map(|j| self.within[(j, j)]).sum();
        within + self.between.as_slice().iter().map(|b| b * b).sum::<f64>()
    }
}

impl ClassMoments {
    /// The same of features divided by their standard deviations.
    fn standardised(mut self, partial: &Partial) -> Self {
        let scales = inverse_deviations(partial.scatter(), partial.weight(), &self.mean);
        scale_columns(self.between.view_mut(), &scales);
        scale_columns(self.within.view_mut(), &scales);
        for (i, scale) in scales.iter().enumerate() {
            self.within.view_mut().row_mut(i).iter_mut().for_each(|entry| *entry *= scale);
        }
        Self { scale: scales.len() as f64, scales, ..self }
    }
}

impl Sums {
    /// Reads all rows once; `without_kappa` says that κ = 0.
    pub(super) fn read(
        factor: &Factor,
        x: AnyPoints<'_>,
        (labels, without_kappa): (&Labels, bool),
        watch: &Watch,
    ) -> Result<Self> {
        let (m, c) = (factor.dimension(), labels.n_classes());
        let empty =
            || FoldSums { partial: Partial::empty(m), counts: vec![0.0; c], sums: Matrix::zeros(c, m) };
        let folds = (0..labels.n_folds.max(1)).map(|_| empty()).collect();
        let explicit = factor.is_explicit();
        let standardised = explicit && without_kappa;
        let mut all = Self { folds, origin: vec![0.0; m], trace: 0.0, explicit, standardised };
        factor
            .each_piece(x, "moments of features", watch, &mut |first, rows| all.add(first, &rows, labels))?;
        Ok(all)
    }

    fn add(&mut self, first: usize, rows: &FeatureRows, labels: &Labels) -> Result<()> {
        let features = &rows.features;
        if first == 0 && features.n_rows() > 0 {
            self.origin = features.row(0).to_vec();
        }
        self.trace += rows.trace;
        for (number, fold) in self.folds.iter_mut().enumerate() {
            let own: Vec<usize> =
                (0..features.n_rows()).filter(|i| labels.folds[first + i] as usize == number).collect();
            if own.is_empty() {
                continue;
            }
            let mut sums = fold.sums.view_mut();
            for i in &own {
                let class = labels.classes[first + i] as usize;
                fold.counts[class] += 1.0;
                let terms = sums.row_mut(class).iter_mut().zip(features.row(*i)).zip(&self.origin);
                terms.for_each(|((sum, f), origin)| *sum += f - origin);
            }
            let residual = own.iter().filter_map(|i| rows.residuals.get(*i)).sum();
            fold.partial.merge(&Partial::of_matrix(gathered(features.view(), &own), residual))?;
        }
        Ok(())
    }

    /// What the features leave out of Σ k(x,x).
    pub(super) fn residual_trace(&self) -> f64 {
        self.folds.iter().map(|fold| fold.partial.residual_trace()).sum()
    }

    /// Moments of all rows.
    pub(super) fn of_all(&self) -> Result<ClassMoments> {
        self.without(&[])
    }

    /// Moments of all rows but those of some folds.
    ///
    /// Numerics: the other folds are merged, which costs m² each and loses no digits, where taking folds out could.
    pub(super) fn without(&self, left_out: &[usize]) -> Result<ClassMoments> {
        let m = self.origin.len();
        let n_classes = self.folds.first().map_or(0, |fold| fold.counts.len());
        let mut partial = Partial::empty(m);
        let mut counts = vec![0.0; n_classes];
        let mut sums: Matrix<f64> = Matrix::zeros(n_classes, m);
        for (_, fold) in self.folds.iter().enumerate().filter(|(number, _)| !left_out.contains(number)) {
            partial.merge(&fold.partial)?;
            counts.iter_mut().zip(&fold.counts).for_each(|(sum, count)| *sum += count);
            sums.as_mut_slice().iter_mut().zip(fold.sums.as_slice()).for_each(|(sum, own)| *sum += own);
        }
        let all: f64 = self.folds.iter().flat_map(|fold| &fold.counts).sum();
        let rows = counts.iter().sum::<f64>();
        Ok(self.class_moments(&partial, &counts, &sums, (rows, all)))
    }

    /// S_W/n = M₂/n − BBᵀ, (C20).
    fn class_moments(
        &self,
        partial: &Partial,
        counts: &[f64],
        sums: &Matrix<f64>,
        (n, all): (f64, f64),
    ) -> ClassMoments {
        let (m, n_classes) = (self.origin.len(), counts.len());
        let shift: Vec<f64> = (0..m).map(|j| sums.column(j).iter().sum::<f64>() / n).collect();
        let priors: Vec<f64> = counts.iter().map(|count| count / n).collect();
        let between = Matrix::from_fn(n_classes, m, |c, j| {
            priors[c].sqrt() * (sums[(c, j)] / counts[c].max(1.0) - shift[j])
        });
        let mut within = inner(between.view(), between.view());
        let entries = within.as_mut_slice().iter_mut().zip(partial.scatter().as_slice());
        entries.for_each(|(entry, scatter)| *entry = scatter / n - *entry);
        let mean: Vec<f64> = self.origin.iter().zip(&shift).map(|(origin, shift)| origin + shift).collect();
        let scale = if self.explicit {
            partial.trace() / n + f64::EPSILON * mean.iter().map(|m| m * m).sum::<f64>()
        } else {
            self.trace / all
        };
        let found = ClassMoments { within, between, mean, priors, scale, scales: Vec::new() };
        if self.standardised { found.standardised(partial) } else { found }
    }
}
