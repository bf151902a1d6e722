//! How rows become features: the request that every method by a kernel starts from.

use super::{LowRank, Rank};
use crate::data::AnyPoints;
use crate::engine::{Cpu, Engine};
use crate::error::Result;
use crate::kernel::{Kernel, KernelSpec};
use crate::progress::Watch;
use std::sync::Arc;

/// The requested kernel.
#[derive(Clone, Debug)]
pub(crate) enum RequestedKernel {
    Spec(KernelSpec),
    Ready(Kernel),
}

/// How close features must come to the kernel.
#[derive(Clone, Debug)]
pub(crate) enum Accuracy {
    /// Exact if it fits, otherwise low rank.
    Auto,
    /// Exact or not at all.
    Exact,
    /// Low rank as described.
    LowRank(LowRank),
}

/// Kernel, accuracy and machine of a method that works with features f, ⟨f(x), f(y)⟩ equal or close to k(x, y).
///
/// By default a kernel with few explicit features (linear, polynomial, map) is written out; what happens to other kernels is up to the
/// method: kernel PCA diagonalizes the Gram matrix, kernel CCA, discriminant analysis and k-means use up to 1000 landmarks.
#[derive(Clone, Debug)]
pub struct FeatureSettings {
    pub(crate) kernel: RequestedKernel,
    pub(crate) accuracy: Accuracy,
    pub(crate) seed: u64,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) threads: usize,
    pub(crate) engine: Option<Arc<dyn Engine>>,
    pub(crate) watch: Watch,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        Self::new()
    }
}

impl FeatureSettings {
    /// Kernel `rbf(gamma=median)`, all processors.
    pub fn new() -> Self {
        Self {
            kernel: RequestedKernel::Spec(KernelSpec::default()),
            accuracy: Accuracy::Auto,
            seed: 0,
            memory_limit: None,
            threads: 0,
            engine: None,
            watch: Watch::default(),
        }
    }

    /// Uses this kernel; `median` and `1/d` are found from the samples. With `precomputed` the samples are the Gram matrix.
    pub fn kernel(mut self, spec: KernelSpec) -> Self {
        self.kernel = RequestedKernel::Spec(spec);
        self
    }

    /// Uses a kernel that is ready, such as a function.
    pub fn ready_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = RequestedKernel::Ready(kernel);
        self
    }

    /// Exact or not at all: an error when the exact fit does not fit into memory, instead of low rank. Where landmarks stand for the
    /// kernel, all samples are landmarks, however many.
    pub fn exact(mut self) -> Self {
        self.accuracy = Accuracy::Exact;
        self
    }

    /// Approximates the kernel by landmarks or random features; the approximation error is reported.
    pub fn low_rank(mut self, how: LowRank) -> Self {
        self.accuracy = Accuracy::LowRank(how);
        self
    }

    /// Fixes every random draw.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Threads; 0 means one for each processor. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Runs there instead of on the processor.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Bytes the fit may use beside the samples.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// The engine given, or the processor.
    ///
    /// # Errors
    /// When the system refuses to start threads.
    pub(crate) fn running_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            Some(engine) => Ok(engine.clone()),
            None => Ok(Arc::new(Cpu::new(self.threads)?)),
        }
    }

    /// The description of the requested kernel; `None` for a function.
    pub(crate) fn spec(&self) -> Option<&KernelSpec> {
        match &self.kernel {
            RequestedKernel::Spec(spec) => Some(spec),
            RequestedKernel::Ready(kernel) => kernel.spec(),
        }
    }

    /// The kernel for these rows.
    ///
    /// # Errors
    /// Entries that are not finite or that the kernel cannot take.
    pub(crate) fn kernel_for(&self, rows: AnyPoints<'_>) -> Result<Kernel> {
        match &self.kernel {
            RequestedKernel::Spec(spec) => Kernel::for_points(spec, rows, self.seed),
            RequestedKernel::Ready(kernel) => kernel.check_points(rows).map(|()| kernel.clone()),
        }
    }

    /// The requested approximation; pivoted landmarks of the number given when there is none.
    pub(crate) fn low_rank_or_default(&self, rank: usize) -> LowRank {
        match &self.accuracy {
            Accuracy::LowRank(how) => how.clone(),
            Accuracy::Auto | Accuracy::Exact => LowRank::pivoted(Rank::Exactly(rank)),
        }
    }
}
