//! From settings and samples to what the planner needs: the kernel with every number known, and the request.

use crate::data::AnySamples;
use crate::eigen::Indefinite;
use crate::error::{Error, Result};
use crate::features::{Accuracy, FeatureMap, FeatureSettings};
use crate::gram::{Similarity, Storage, check_gram_matrix};
use crate::kernel::KernelSpec;
use crate::model::Solver;

/// What is to be planned.
pub(crate) struct Request<'a> {
    pub(crate) n_samples: usize,
    pub(crate) n_features: usize,
    pub(crate) precision: &'static str,
    /// Whether the samples are in memory; otherwise they are read a piece at a time.
    pub(crate) in_memory: bool,
    /// Whether samples that are not in memory can be compared with each other where they are.
    pub(crate) passes: bool,
    pub(crate) accuracy: &'a Accuracy,
    /// Whether a kernel value costs no more than a few inner products.
    pub(crate) cheap: bool,
    /// The kernel, if it is written down.
    pub(crate) spec: Option<&'a KernelSpec>,
    /// Features that give the kernel exactly, if it has finitely many.
    pub(crate) exact_features: Option<u128>,
    pub(crate) kernel: String,
    pub(crate) precomputed: bool,
    /// Whether the kernel can be computed in single precision.
    pub(crate) draftable: bool,
    pub(crate) n_components: usize,
    pub(crate) tolerance: f64,
    pub(crate) seed: u64,
    pub(crate) repair: Indefinite,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) storage: Option<Storage>,
    pub(crate) solver: Option<Solver>,
}

impl FeatureSettings {
    /// The kernel, ready for samples in memory, which are checked.
    ///
    /// # Errors
    /// Fewer than two samples, entries that are not finite or that the kernel cannot take, a Gram matrix that is not symmetric.
    pub(crate) fn similarity_of(&self, x: &AnySamples) -> Result<Similarity> {
        check_count(x.n_rows())?;
        x.points().check()?;
        if self.spec().is_some_and(KernelSpec::is_precomputed) {
            check_gram_matrix(x)?;
            return Ok(Similarity::Precomputed);
        }
        self.kernel_for(x.points()).map(Similarity::Kernel)
    }

    /// A request for one component without settings of a solver.
    pub(crate) fn request<'a>(
        &'a self,
        similarity: &'a Similarity,
        (n_samples, n_features): (usize, usize),
        precision: &'static str,
        in_memory: bool,
    ) -> Request<'a> {
        let spec = match similarity {
            Similarity::Kernel(kernel) => kernel.spec(),
            Similarity::Precomputed => None,
        };
        Request {
            n_samples,
            n_features,
            precision,
            in_memory,
            passes: false,
            accuracy: &self.accuracy,
            cheap: matches!(similarity, Similarity::Kernel(kernel) if kernel.by_products()),
            spec,
            exact_features: spec.and_then(|spec| FeatureMap::exact_dimension(spec, n_features)),
            kernel: match similarity {
                Similarity::Kernel(kernel) => kernel.to_string(),
                Similarity::Precomputed => "precomputed".to_string(),
            },
            precomputed: matches!(similarity, Similarity::Precomputed),
            draftable: spec.is_some(),
            n_components: 1,
            tolerance: 1e-6,
            seed: self.seed,
            repair: Indefinite::Clip,
            memory_limit: self.memory_limit,
            storage: None,
            solver: None,
        }
    }
}

/// Centering leaves nothing of fewer than two samples.
///
/// # Errors
/// Names how many there are.
pub(crate) fn check_count(n: usize) -> Result<()> {
    if n >= 2 {
        return Ok(());
    }
    Err(Error::data(format!("{n} sample(s)"), "centring leaves nothing of fewer than 2", "Give more rows"))
}
