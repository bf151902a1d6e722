//! T² and squared prediction errors of the samples of a fit, each by a model that was fitted on other samples.

use super::{FittedKernelPca, KernelPca};
use crate::data::AnySamples;
use crate::data::folds::folds_of;
use crate::error::{Error, Result};
use crate::features::{Approximation, LowRank, Rank};
use crate::gram::Similarity;
use crate::matrix::Matrix;
use crate::model::{Lift, On, Route};
use crate::monitoring::{Novelty, Reference, ScoreMoments, own_of_fit};
use crate::progress::Watch;

/// Folds. Why so many: a model of nine tenths of the samples is nearly that of all.
const FOLDS: usize = 10;
/// Share of the T² or the error of a sample that is like no other, within which others are moved with it.
const FAR_AWAY: f64 = 0.1;
/// Values k(x,x) that differ by no more than this share are the same.
const SAME_DIAGONAL: f64 = 1e-9;

impl FittedKernelPca {
    /// Out-of-sample T² and squared prediction errors of the samples of the fit by 10-fold cross-validation, (C60): each fold is judged by
    /// a model with the same kernel, number of components and approximation, fitted on the other folds.
    ///
    /// `x` are the very samples of the fit, or its Gram matrix where the kernel is precomputed.
    ///
    /// Cost: 10 fits of nine tenths of the samples; of more than 5000 samples only as many folds as hold 5000.
    ///
    /// # Errors
    /// When these are not the samples of the fit, and as [`KernelPca::fit`] and [`FittedKernelPca::novelty`].
    pub fn cross_validated(&self, x: &AnySamples, watch: &Watch) -> Result<Reference> {
        self.mean_for_distances()?;
        let n = self.n_samples();
        let width = if self.is_precomputed() { n } else { self.projection.lift.n_features() };
        if x.n_rows() != n || x.n_cols() != width {
            return Err(Error::data(
                format!("{} rows of {} columns", x.n_rows(), x.n_cols()),
                format!("the model was fitted on {n} rows of {width}"),
                "Give the rows of the fit",
            ));
        }
        let folds = FOLDS.min(n);
        let assigned = folds_of(n, folds, self.plan.seed);
        let judged = folds.min((Reference::MOST_KEPT * folds).div_ceil(n));
        let diagonal = self.same_diagonal(x, (&*self.engine, watch))?;
        let mut all = Novelty::default();
        for fold in 0..judged {
            watch.step("cross-validation of limits", fold, judged)?;
            let (others, own): (Vec<usize>, Vec<usize>) =
                (0..n).partition(|row| assigned[*row] as usize != fold);
            let (model, mut numbers) = self.fold(x, &others, &own, &watch.silent())?;
            if let Some(diagonal) = diagonal {
                self.align_numbers(&model, &mut numbers, diagonal);
            }
            all.append(&numbers);
        }
        // Why: axes of folds may point the other way, which changes the sign of skewness.
        let scores = self.projection.project(&*self.engine, x.points(), &watch.silent())?;
        all.scores = ScoreMoments::of(&scores, &self.variances());
        Ok(Reference { cross_validated: true, ..Reference::of(&all)? }.kept(self.plan.seed))
    }

    /// A model of some samples, and the numbers of others.
    fn fold(
        &self,
        x: &AnySamples,
        others: &[usize],
        own: &[usize],
        watch: &Watch,
    ) -> Result<(Self, Novelty)> {
        let settings = self.settings_again(others.len())?.watch(watch.clone());
        if !self.is_precomputed() {
            let model = settings.fit(x.gather(others))?;
            return model.novelty_on(&*self.engine, x.gather(own).points(), watch).map(|n| (model, n));
        }
        let (rows, mut row) = (x.points(), vec![0.0; x.n_cols()]);
        let mut part = |which: &[usize]| {
            let mut values = Vec::with_capacity(which.len() * others.len());
            let mut diagonal = Vec::with_capacity(which.len());
            for i in which {
                rows.copy_row(*i, &mut row);
                values.extend(others.iter().map(|j| row[*j]));
                diagonal.push(row[*i]);
            }
            (Matrix::from_vec(values, which.len(), others.len()), diagonal)
        };
        let model = settings.fit(part(others).0?)?;
        let (kernel, diagonal) = part(own);
        let numbers = model.novelty_given(&*self.engine, ((&kernel?).into(), Some(&diagonal)), watch)?;
        Ok((model, numbers))
    }

    /// Makes the numbers of samples far from all others those of this model, (C63); `diagonal` is k(x,x) of all.
    ///
    /// Why: such samples have nearly one and the same T² and error, which differ between models by more than between samples.
    fn align_numbers(&self, fold: &Self, numbers: &mut Novelty, diagonal: f64) {
        let (Some(here), Some(there)) = (self.far_away(diagonal), fold.far_away(diagonal)) else { return };
        let align = |values: &mut [f64], here: f64, there: f64| {
            let near = |value: f64| (1.0 - (value - there).abs() / (FAR_AWAY * there.abs())).max(0.0);
            values.iter_mut().for_each(|value| *value = (*value + near(*value) * (here - there)).max(0.0));
        };
        align(&mut numbers.t_squared, here.0, there.0);
        align(&mut numbers.spe, here.1, there.1);
    }

    /// k(x,x), where it is the same for all samples.
    fn same_diagonal(&self, x: &AnySamples, on: On<'_>) -> Result<Option<f64>> {
        let similarity = match &self.projection.lift {
            Lift::Kernel { kernel, .. } => Similarity::Kernel(kernel.clone()),
            Lift::Precomputed { .. } => Similarity::Precomputed,
            _ => return Ok(None),
        };
        let diagonal = own_of_fit(&similarity, x.points(), on)?;
        let least = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        let most = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok((most - least <= SAME_DIAGONAL * most.abs()).then_some(most))
    }

    /// T² and squared prediction error of a sample with k(x, xᵢ) = 0 for all i; `None` where one of them is 0.
    fn far_away(&self, diagonal: f64) -> Option<(f64, f64)> {
        let offset = &self.projection.offset;
        let t_squared: f64 = offset.iter().zip(self.variances()).map(|(c, v)| c * c / v).sum();
        let held: f64 = offset.iter().map(|c| c * c).sum();
        let spe = diagonal + self.mean.as_ref()?.square - held;
        (t_squared > 0.0 && spe > 0.0).then_some((t_squared, spe))
    }

    /// Settings that give such a model of `n` other samples.
    fn settings_again(&self, n: usize) -> Result<KernelPca> {
        let plan = &self.plan;
        let settings = KernelPca::new(self.n_components().min(n.saturating_sub(1)).max(1))
            .tolerance(plan.tolerance)
            .seed(plan.seed)
            .repair(plan.repair)
            .engine(self.engine.clone());
        // A model that was loaded does not know what was allowed for its fit.
        let settings = match plan.bytes_allowed {
            0 => settings,
            allowed => settings.memory_limit(allowed),
        };
        let settings = match &self.projection.lift {
            Lift::Kernel { kernel, .. } | Lift::Features { kernel, .. } => {
                settings.ready_kernel(kernel.clone())
            }
            _ => settings.kernel("precomputed".parse()?),
        };
        Ok(match (plan.route, plan.approximation) {
            (Route::Dual, _) => settings.exact().by_gram_matrix(),
            (Route::Primal, _) => settings.exact(),
            (Route::LowRank, how) => settings.low_rank(self.landmarks_again(how)),
        })
    }

    fn landmarks_again(&self, how: Option<Approximation>) -> LowRank {
        let rank = Rank::Exactly(self.projection.coefficients.n_rows().max(1));
        match (how, &self.projection.lift) {
            (Some(Approximation::Fourier), _) => LowRank::fourier(rank),
            (Some(Approximation::TensorSketch), _) => LowRank::tensor_sketch(rank),
            (Some(Approximation::Uniform), _) => LowRank::uniform(rank),
            (Some(Approximation::KMeans), Lift::Kernel { .. }) => LowRank::k_means(rank),
            (Some(Approximation::Given), Lift::Kernel { samples, .. }) => LowRank::landmarks(samples.clone()),
            _ => LowRank::pivoted(rank),
        }
    }

    /// Whether the model holds the samples of its fit.
    pub(super) fn holds_samples(&self) -> bool {
        self.plan.route == Route::Dual && matches!(self.projection.lift, Lift::Kernel { .. })
    }

    fn is_precomputed(&self) -> bool {
        matches!(self.projection.lift, Lift::Precomputed { .. })
    }
}
