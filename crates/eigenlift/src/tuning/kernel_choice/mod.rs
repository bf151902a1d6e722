//! Which bandwidth and how many components for kernel PCA: by predicting hidden entries, or with labels by what can be learned from
//! the scores.

mod candidates;
mod fill;
mod labels;
mod masks;
mod model;
mod predictors;
mod race;
mod report;
mod result;
mod split;
mod words;

use crate::data::Labels;
pub use labels::Scorer;
pub use masks::Mask;
pub use result::{GridPoint, KernelChoice};

use crate::data::AnySamples;
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::kernel::KernelSpec;
use crate::progress::Watch;
use candidates::{Family, Wanted};
use masks::Masks;
use race::Race;
use split::Split;
use std::sync::Arc;
use words::counted;

/// Fewest rows that a choice can be made on.
const FEWEST_ROWS: usize = 8;
/// Components tried, unless told otherwise.
const MOST_COMPONENTS: usize = 256;
/// Rows looked at, unless told otherwise.
pub(crate) const MAX_ROWS: usize = 600;

/// Settings of the choice of a kernel's bandwidth and of the number of components for kernel PCA.
///
/// [`choose`](Self::choose) needs no labels. The rows are cut into five parts; for each, kernel PCA of the other four predicts
/// entries of its rows that were hidden: they start at the column's mean, and eight times the row is projected on k components,
/// two fixed point steps lead back, and the hidden entries are filled in with what came out, (K70). A tenth of a row is hidden
/// at a time, up to four times, so that no entry helps to predict itself. Points that fall clearly behind the best drop out
/// early, (K71), and bandwidths between those of the grid are tried around the best. Of the bandwidth with the smallest error the largest number of components
/// within one standard error is chosen, because hidden entries, which are missing from the projection, too, ask for fewer
/// components than denoising does, (K72).
///
/// The result is the same for any number of threads.
///
/// ```
/// use eigenlift::{data, tuning::kernel_choice::ChooseKernelPca};
/// let iris = data::iris()?.samples;
/// let choice = ChooseKernelPca::new().choose(&iris.into())?;
/// assert!(choice.kernel().starts_with("rbf(gamma="));
/// assert!(choice.points[choice.chosen].error < 0.2 * choice.baseline);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChooseKernelPca {
    wanted: Vec<Wanted>,
    components: Option<usize>,
    most_components: usize,
    mask: Mask,
    scorer: Scorer,
    seed: u64,
    max_rows: usize,
    threads: usize,
    engine: Option<Arc<dyn Engine>>,
    watch: Watch,
}

impl Default for ChooseKernelPca {
    fn default() -> Self {
        Self::new()
    }
}

impl ChooseKernelPca {
    /// The gamma of `rbf` and the number of components up to 256, on 600 rows at most, single entries hidden.
    pub fn new() -> Self {
        Self {
            wanted: vec![Wanted::Open(KernelSpec::default())],
            components: None,
            most_components: MOST_COMPONENTS,
            mask: Mask::Entries,
            scorer: Scorer::Best,
            seed: 0,
            max_rows: MAX_ROWS,
            threads: 0,
            engine: None,
            watch: Watch::default(),
        }
    }

    /// Compares `linear` and `rbf` with every gamma.
    pub fn automatic() -> Self {
        let wanted = vec![Wanted::Written(KernelSpec::linear()), Wanted::Open(KernelSpec::default())];
        Self { wanted, ..Self::new() }
    }

    /// Chooses the bandwidth of this kernel where it is `auto`; one that is given, or `median`, is kept.
    pub fn kernel(self, spec: KernelSpec) -> Self {
        self.families(vec![spec])
    }

    /// Compares these kernels, each with every bandwidth where it is `auto`; the kernel `auto` is [`automatic`](Self::automatic).
    pub fn families(mut self, specs: Vec<KernelSpec>) -> Self {
        let wanted = |spec| match spec {
            KernelSpec::Auto => Self::automatic().wanted,
            spec => vec![Wanted::Written(spec)],
        };
        self.wanted = specs.into_iter().flat_map(wanted).collect();
        self
    }

    /// Keeps this number of components, so that only the bandwidth is chosen.
    pub fn components(mut self, k: Option<usize>) -> Self {
        self.components = k;
        self
    }

    /// Tries at most this many components.
    pub fn most_components(mut self, k: usize) -> Self {
        self.most_components = k;
        self
    }

    /// What is hidden together.
    pub fn mask(mut self, mask: Mask) -> Self {
        self.mask = mask;
        self
    }

    /// What learns labels from scores, for [`choose_for_labels`](Self::choose_for_labels).
    pub fn scorer(mut self, scorer: Scorer) -> Self {
        self.scorer = scorer;
        self
    }

    /// Fixes the rows, parts and masks that are drawn.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Looks at this many rows at most; of more a sample is drawn.
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = rows;
        self
    }

    /// Threads; 0 means one for each processor. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Runs with the threads of this engine.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Chooses by the error with which hidden entries are predicted.
    ///
    /// Cost: some 70 predictions of every row looked at, each 32·n·4d flops, and an eigenproblem of 0.8·n rows for each
    /// bandwidth and part that stays in the race; with very many columns fewer rows are predicted. Memory: n² + 5·n·d numbers
    /// and 0.8·n·k for each bandwidth and part.
    ///
    /// # Errors
    /// Entries that are not finite, fewer than 8 rows or 2 columns, rows that are all the same, a mask or a number of components
    /// that does not fit the rows, a kernel without a bandwidth, cancellation.
    pub fn choose(&self, x: &AnySamples) -> Result<KernelChoice> {
        self.check(x)?;
        self.mask.check(x.n_cols())?;
        self.on_engine(&|| {
            let families = self.families_of(x)?;
            let split = Split::new(x.points(), self.max_rows, self.seed, None, &self.watch)?;
            let masks = Masks::draw(&self.mask, split.x.n_rows(), split.x.n_cols(), self.seed);
            let only_linear = families.iter().all(|family| family.median.is_none());
            let most = if only_linear { x.n_cols() - 1 } else { usize::MAX };
            let counts = self.counts(split.fewest_others() - 1, most)?;
            let mut race = Race::new(&split, &masks, &families, &counts, &self.watch)?;
            race.run()?;
            Ok(report::of_race(&race, &families, masks.count(), (split.x.n_rows(), x.n_rows())))
        })
    }

    /// Chooses by what nearest neighbours or ridge regression learn from the scores, cross-validated over five parts of the rows.
    ///
    /// Unless [`scorer`](Self::scorer) names one, the one that does better decides, and the criterion says which. Classes are spread evenly over the parts.
    /// The ridge is found by generalised cross-validation within the rows learned from.
    ///
    /// Cost: an eigenproblem of 0.8·n rows for each bandwidth and part.
    ///
    /// # Errors
    /// As [`choose`](Self::choose), as far as they are not about masks; labels of another number than rows, labels that are not
    /// finite or all the same.
    pub fn choose_for_labels(&self, x: &AnySamples, labels: &Labels) -> Result<KernelChoice> {
        self.check(x)?;
        labels.check(x.n_rows())?;
        self.on_engine(&|| {
            let families = self.families_of(x)?;
            let split = Split::new(x.points(), self.max_rows, self.seed, labels.classes(), &self.watch)?;
            let counts = self.counts(split.fewest_others() - 1, usize::MAX)?;
            let asked = (labels, self.scorer);
            labels::choose(&families, &split, asked, &counts, (x.n_rows(), &self.watch))
        })
    }

    fn on_engine(&self, work: &(dyn Fn() -> Result<KernelChoice> + Sync)) -> Result<KernelChoice> {
        let engine: Arc<dyn Engine> = match &self.engine {
            Some(engine) => engine.clone(),
            None => Arc::new(Cpu::new(self.threads)?),
        };
        engine.complete(work)
    }

    fn check(&self, x: &AnySamples) -> Result<()> {
        x.points().check()?;
        if self.wanted.is_empty() {
            return Err(Error::setting("no kernel", "at least one is needed", "Name a kernel such as rbf"));
        }
        if x.n_rows() < FEWEST_ROWS {
            return Err(Error::data(
                counted(x.n_rows(), "row"),
                format!("a choice needs at least {FEWEST_ROWS}"),
                "Give more rows, or give bandwidth and components as numbers",
            ));
        }
        if self.max_rows < FEWEST_ROWS {
            return Err(Error::setting(
                format!("a choice on {} at most", counted(self.max_rows, "row")),
                format!("at least {FEWEST_ROWS} are needed"),
                "600 is usual",
            ));
        }
        if self.most_components == 0 || self.components == Some(0) {
            return Err(Error::setting("0 components", "at least one is needed", "Ask for 1 or more"));
        }
        Ok(())
    }

    fn families_of(&self, x: &AnySamples) -> Result<Vec<Family>> {
        self.wanted.iter().map(|wanted| Family::new(wanted, x.points(), self.seed)).collect()
    }

    /// The numbers of components to try: 1, 2, 3, 4, 6, 8, 12, …, or the one that is kept.
    fn counts(&self, rows: usize, columns: usize) -> Result<Vec<usize>> {
        if let Some(k) = self.components {
            if k <= rows {
                return Ok(vec![k]);
            }
            let needed = k.saturating_add(k.div_ceil(4) + 2);
            return Err(Error::setting(
                counted(k, "component"),
                format!("a choice on these rows can keep {rows}"),
                format!("Ask for fewer, or let it look at {needed} rows or more"),
            ));
        }
        let most = self.most_components.min(rows).min(columns);
        let octaves = (0..usize::BITS).map(|e| 1usize << e).take_while(|k| *k <= most);
        let mut counts: Vec<usize> = octaves.flat_map(|k| [k, k + k / 2]).filter(|k| *k <= most).collect();
        counts.dedup();
        if most == self.most_components && counts.last() != Some(&most) {
            counts.push(most);
        }
        Ok(counts)
    }
}
