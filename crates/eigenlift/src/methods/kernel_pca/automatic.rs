//! Kernel PCA that chooses kernel, bandwidth or number of components by itself.

use super::{FittedKernelPca, KernelPca};
use crate::error::{Error, Result};
use crate::kernel::{KernelSpec, of_distance};
use crate::model::Plan;
use crate::random::{Purpose, Stream};
use crate::rows::{Pass, Place, Rows};
use crate::tuning::kernel_choice::{self, ChooseKernelPca, KernelChoice};

/// Rows that the choice sees at most where they are not in memory.
const SOURCE_ROWS: usize = 5000;

impl KernelPca {
    /// Keeps as many components as predict hidden entries best, see [`crate::tuning::kernel_choice`]. A kernel written `auto` and a
    /// bandwidth written `auto`, as in `rbf(gamma=auto)`, are chosen together with it.
    ///
    /// ```
    /// use eigenlift::{data, methods::KernelPca};
    /// let iris = data::iris()?.samples;
    /// let model = KernelPca::new(2).kernel("rbf(gamma=auto)".parse()?).auto_components().fit(iris)?;
    /// let choice = model.choice().ok_or("chosen")?;
    /// assert_eq!(model.n_components(), choice.n_components());
    /// println!("{}", choice.sentence);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn auto_components(mut self) -> Self {
        self.auto_components = true;
        self
    }

    /// Whether something is left to choose.
    pub(super) fn is_automatic(&self) -> bool {
        self.auto_components || self.features.spec().is_some_and(KernelSpec::is_automatic)
    }

    /// These settings with everything chosen on the rows, or on some drawn from those that are not in memory, and why; `None` when nothing
    /// was left to choose.
    pub(super) fn chosen(&self, rows: &dyn Rows) -> Result<Option<(KernelPca, KernelChoice)>> {
        if !self.is_automatic() {
            return Ok(None);
        }
        let pass = Pass::new(&self.features.watch);
        let x = match rows.place() {
            Place::Memory => rows.samples(&pass)?,
            Place::Chunks { .. } | Place::Partitions(_) => {
                let drawn = Stream::new(self.features.seed, Purpose::ChoiceRows);
                rows.gather(&{ drawn }.rows(rows.n_rows(), SOURCE_ROWS), &pass)?.to_double()
            }
        };
        let Some(spec) = self.features.spec() else {
            return Err(Error::setting(
                "a number of components that is to be chosen for a kernel given as a function",
                "cross-validation needs a kernel that can be written down",
                format!("Write it as {}, or say how many components", of_distance("or")),
            ));
        };
        self.check_numbers()?;
        let start = match spec {
            KernelSpec::Auto => ChooseKernelPca::automatic(),
            other => ChooseKernelPca::new().kernel(other.clone()),
        };
        // The choice fits four fifths of the rows it looks at, so it can keep fewer components than the fit.
        let looked_at = x.n_rows().min(kernel_choice::MAX_ROWS);
        let most = (looked_at - looked_at.div_ceil(5)).saturating_sub(1).max(1);
        let fixed = (!self.auto_components).then_some(self.n_components.min(most));
        let mut choice = start
            .components(fixed)
            .seed(self.features.seed)
            .engine(self.features.running_engine()?)
            .watch(self.features.watch.clone())
            .choose(&x)?;
        let mut settings = self.clone().kernel(choice.kernel_spec()?);
        if self.auto_components {
            settings.n_components = choice.n_components();
        } else if self.n_components > most {
            choice.warnings.push(format!(
                "the kernel was chosen with {most} components, the most that the choice can keep; the fit was asked for {}",
                self.n_components
            ));
        }
        settings.auto_components = false;
        Ok(Some((settings, choice)))
    }
}

impl FittedKernelPca {
    /// How kernel, bandwidth or number of components were chosen, when the fit chose them; a loaded model has the sentence among
    /// the reasons of its plan.
    pub fn choice(&self) -> Option<&KernelChoice> {
        self.choice.as_deref()
    }

    pub(super) fn with_choice(mut self, choice: KernelChoice) -> Self {
        self.plan = choice.onto(self.plan);
        self.warnings.extend(choice.warnings.iter().cloned());
        self.choice = Some(Box::new(choice));
        self
    }
}

impl KernelChoice {
    /// The plan with the reason for what was chosen.
    pub(super) fn onto(&self, mut plan: Plan) -> Plan {
        plan.reasons.insert(0, format!("chosen by cross-validation: {}", self.sentence));
        plan
    }
}
