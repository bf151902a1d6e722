//! From settings and samples to what the planner needs: the kernel with every number known, and the request.

use super::mercer::check_gram_matrix;
use super::schedule::Request;
use crate::data::AnySamples;
use crate::eigen::Indefinite;
use crate::error::{Error, Result};
use crate::features::{FeatureMap, FeatureSettings};
use crate::gram::Similarity;
use crate::kernel::KernelSpec;

impl FeatureSettings {
    /// The kernel, ready for samples in memory, which are checked.
    ///
    /// # Errors
    /// Fewer than two samples, entries that are not finite or that the kernel cannot take, a Gram matrix that is not symmetric.
    pub(super) fn similarity_of(&self, x: &AnySamples) -> Result<Similarity> {
        check_count(x.n_rows())?;
        x.points().check()?;
        if self.spec().is_some_and(KernelSpec::is_precomputed) {
            check_gram_matrix(x)?;
            return Ok(Similarity::Precomputed);
        }
        self.kernel_for(x.points()).map(Similarity::Kernel)
    }

    /// A request for one component without settings of a solver.
    pub(super) fn request<'a>(
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
pub(super) fn check_count(n: usize) -> Result<()> {
    if n >= 2 {
        return Ok(());
    }
    Err(Error::data(format!("{n} sample(s)"), "centring leaves nothing of fewer than 2", "Give more rows"))
}
