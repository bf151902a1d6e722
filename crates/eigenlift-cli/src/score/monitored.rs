//! A model that says how unusual rows are.

use super::{SPE, T2};
use crate::exit::Failure;
use crate::outputs::score_names;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AnyModel, Fitted, FittedKernelPca, FittedPca};
use eigenlift::model::Lift;
use eigenlift::monitoring::{Baseline, Contributions, LimitRule, Limits, Novelty, Statistic};
use eigenlift::progress::Watch;
use std::path::Path;

/// A kernel PCA or a PCA.
pub(super) enum Monitored {
    Kernel(FittedKernelPca),
    Linear(FittedPca),
}

impl Monitored {
    pub(super) fn new(model: AnyModel, path: &Path) -> Result<Self, Failure> {
        let method = model.fitted().method();
        let known = if model.is::<FittedPca>() {
            model.take().map(Self::Linear)
        } else {
            model.take().map(Self::Kernel)
        };
        known.ok_or_else(|| {
            Failure::Input(format!(
                "{}: a model of the method {method}; T² and the squared prediction error are known for kpca and pca. Give a model of \
                 one of these.",
                path.display()
            ))
        })
    }

    pub(super) fn fitted(&self) -> &dyn Fitted {
        match self {
            Self::Kernel(model) => model,
            Self::Linear(model) => model,
        }
    }

    /// Whether a row is k(x, samples), which does not tell k(x,x).
    pub(super) fn is_precomputed(&self) -> bool {
        matches!(self, Self::Kernel(model) if matches!(model.projection().lift, Lift::Precomputed { .. }))
    }

    /// Whether limits can come from the model alone by rules on the spectrum.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self, Self::Linear(_))
    }

    /// Names of the columns of numbers.
    pub(super) fn statistics(&self) -> Vec<String> {
        let known = if self.is_precomputed() { &[T2][..] } else { &[T2, SPE][..] };
        known.iter().map(ToString::to_string).collect()
    }

    /// Names of the input columns, x1, x2, … when they had none.
    pub(super) fn input_names(&self) -> Vec<String> {
        match self.fitted().column_names() {
            [] => score_names("x", self.fitted().n_features()),
            names => names.to_vec(),
        }
    }

    /// T², and the squared prediction error where it is known.
    pub(super) fn novelty(&self, rows: &Matrix<f64>, watch: &Watch) -> Result<Novelty, Error> {
        match self {
            Self::Kernel(model) if self.is_precomputed() => {
                let scores = model.transform_watched(rows, watch)?;
                Ok(Novelty { t_squared: model.t_squared(&scores)?, ..Novelty::default() })
            }
            Self::Kernel(model) => model.novelty_on(&**Fitted::engine(model), rows.into(), watch),
            Self::Linear(model) => model.novelty_watched(rows, watch),
        }
    }

    /// Limits from reference rows.
    pub(super) fn limits_from(&self, rows: &Novelty, alpha: f64, rule: LimitRule) -> Result<Limits, Error> {
        match self {
            Self::Linear(model) => model.limits_from(rows, alpha, rule),
            Self::Kernel(model) => model.limits_from(rows, alpha, rule),
        }
    }

    /// Limits from what the model knows.
    pub(super) fn own_limits(&self, alpha: f64, rule: LimitRule, watch: &Watch) -> Result<Limits, Error> {
        match self {
            Self::Linear(model) => model.limits(alpha),
            Self::Kernel(model) => match model.reference().filter(|_| self.is_precomputed()) {
                // Rows of a Gram matrix do not tell their squared prediction error: T² has all of α.
                Some(mut reference) => {
                    reference.numbers.spe.clear();
                    model.limits_of(&reference, alpha, rule)
                }
                None => model.limits_watched(alpha, rule, watch),
            },
        }
    }

    /// Contributions of input columns, from the model's own usual rows or from others.
    pub(super) fn contributions(
        &self,
        rows: &Matrix<f64>,
        (statistic, baseline): (Statistic, Option<&Matrix<f64>>),
        watch: &Watch,
    ) -> Result<Contributions, Error> {
        let engine = &**self.fitted().engine();
        match self {
            Self::Linear(model) => model.contributions_on(engine, rows.into(), statistic, watch),
            Self::Kernel(model) => {
                let baseline = baseline.map_or(Baseline::Own, |rows| Baseline::Among(rows.into()));
                model.contributions_on(engine, rows.into(), (statistic, baseline), watch)
            }
        }
    }

    /// Whether a kernel PCA holds no row that contributions could be counted from.
    pub(super) fn needs_baseline(&self) -> bool {
        matches!(self, Self::Kernel(model) if matches!(model.projection().lift, Lift::Features { .. }))
            && self.check_contributions(None).is_err()
    }

    /// Refuses, before any row is read, contributions that the model cannot give.
    pub(super) fn check_contributions(&self, baseline: Option<&Matrix<f64>>) -> Result<(), Failure> {
        let none = Matrix::zeros(0, self.fitted().n_features());
        self.contributions(&none, (Statistic::Spe, baseline), &Watch::default())?;
        Ok(())
    }
}
