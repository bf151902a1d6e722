//! Which features a kernelised method goes by, and why.

use crate::features::Approximation;
use crate::model::{Plan, Route, human_bytes, machine_lines, planned};
use serde::{Deserialize, Serialize};

/// Which features a fit goes by, with one reason for each decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorPlan {
    /// Samples.
    pub n_samples: usize,
    /// Features of a sample.
    pub n_features: usize,
    /// The kernel with every parameter known.
    pub kernel: String,
    /// Whether inner products of features are the kernel up to rounding.
    pub exact: bool,
    /// Where features come from; `None` for those that are written out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximation: Option<Approximation>,
    /// Landmarks or features; at most so many before the fit.
    pub rank: usize,
    /// Rows whose features are held at a time.
    pub chunk_rows: usize,
    /// Precision of samples and kernel values, `f32` or `f64`.
    pub precision: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// Where it runs.
    pub engine: String,
    /// Threads that work at once.
    pub threads: usize,
    /// Bytes that choosing features and their moments need beside the samples.
    pub bytes_needed: u64,
    /// Bytes it may use.
    pub bytes_allowed: u64,
    /// One sentence for each decision.
    pub reasons: Vec<String>,
}

planned!(FactorPlan, kernel kernel);

impl FactorPlan {
    pub(crate) fn of(plan: &Plan) -> Self {
        let all = plan.approximation == Some(Approximation::Pivoted) && plan.rank >= plan.n_samples;
        Self {
            n_samples: plan.n_samples,
            n_features: plan.n_features,
            kernel: plan.kernel.clone(),
            exact: plan.route == Route::Primal || all,
            approximation: plan.approximation,
            rank: plan.rank,
            chunk_rows: plan.chunk_rows,
            precision: plan.precision.clone(),
            seed: plan.seed,
            engine: plan.engine.clone(),
            threads: plan.threads,
            bytes_needed: plan.bytes_needed,
            bytes_allowed: plan.bytes_allowed,
            reasons: plan.reasons.clone(),
        }
    }

    /// Where features come from, in words.
    pub fn route(&self) -> String {
        match self.approximation {
            None => format!("exact: {} explicit features", self.rank),
            Some(how) if how.is_random_features() => {
                format!("approximate: {} random features ({how})", self.rank)
            }
            Some(_) if self.exact => format!("exact: {} samples as landmarks", self.rank),
            Some(how) => format!("low rank: {} landmarks ({how})", self.rank),
        }
    }

    /// Refuses more bytes than are allowed, and notes those that are needed.
    pub(crate) fn needing(mut self, bytes: u128) -> crate::error::Result<Self> {
        if bytes > u128::from(self.bytes_allowed) {
            return Err(crate::error::Error::memory(
                format!("{} landmarks or features need {} beside the samples", self.rank, human_bytes(bytes)),
                format!("{} are allowed", human_bytes(u128::from(self.bytes_allowed))),
                "Use fewer landmarks, or allow more memory",
            ));
        }
        self.bytes_needed = self.bytes_needed.max(u64::try_from(bytes).unwrap_or(u64::MAX));
        Ok(self)
    }
}

impl std::fmt::Display for FactorPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "samples      {} × {} ({})", self.n_samples, self.n_features, self.precision)?;
        writeln!(f, "kernel       {}", self.kernel)?;
        writeln!(f, "features     {}", self.route())?;
        let memory = (self.bytes_needed, self.bytes_allowed);
        writeln!(f, "{}", machine_lines(memory, (&self.engine, self.threads)))?;
        for reason in &self.reasons {
            writeln!(f, "  because {reason}")?;
        }
        Ok(())
    }
}
