//! What a fit will do and why, decided before it is done.

use crate::eigen::Indefinite;
use crate::features::Approximation;
use crate::gram::Storage;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Which eigensolver runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// All eigenpairs, directly.
    Dense,
    /// Block Davidson: the largest eigenpairs, in a few passes.
    Davidson,
}

impl std::fmt::Display for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dense => "dense",
            Self::Davidson => "davidson",
        })
    }
}

/// Which way a fit goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// Eigenpairs of the centred Gram matrix, exact.
    #[default]
    Dual,
    /// Moments of explicit features that give the kernel exactly.
    Primal,
    /// Moments of features that give the kernel approximately.
    LowRank,
}

/// What was decided, with one reason for each decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Samples.
    pub n_samples: usize,
    /// Features of a sample.
    pub n_features: usize,
    /// Components asked for.
    pub n_components: usize,
    /// The kernel with every parameter known.
    pub kernel: String,
    /// Which way the fit goes.
    #[serde(default)]
    pub route: Route,
    /// Where the features of a low-rank fit come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximation: Option<Approximation>,
    /// Landmarks or features, at most; 0 for an exact fit by the Gram matrix.
    #[serde(default)]
    pub rank: usize,
    /// Rows that landmarks are chosen from.
    #[serde(default)]
    pub sample_rows: usize,
    /// Rows that are read at a time; 0 when all are in memory at once.
    #[serde(default)]
    pub chunk_rows: usize,
    /// Precision of samples and tiles, `f32` or `f64`.
    pub precision: String,
    /// Whether the iteration runs on a draft of the Gram matrix in single precision; the certificate never does.
    pub draft: bool,
    /// Whether the Gram matrix (or its draft) is kept.
    #[serde(with = "storage_name")]
    pub storage: Storage,
    /// Which eigensolver runs.
    pub solver: Solver,
    /// What happens to negative eigenvalues.
    pub repair: Indefinite,
    /// Columns of the sketch that the solver starts from; 0 for none.
    pub sketch_rank: usize,
    /// Passes over the Gram matrix expected; readings of the rows for a fit through features.
    pub expected_passes: usize,
    /// Passes at most, when their number is not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_passes: Option<usize>,
    /// Relative residual asked for.
    pub tolerance: f64,
    /// Seed of every random draw.
    pub seed: u64,
    /// Where it runs.
    pub engine: String,
    /// Threads that work at once.
    pub threads: usize,
    /// Bytes the fit needs beside the samples.
    pub bytes_needed: u64,
    /// Bytes at most, where a phase that takes more may follow: the dense solver when the iteration does not converge, or the matrix
    /// written out for the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
    /// Bytes it may use.
    pub bytes_allowed: u64,
    /// One sentence for each decision.
    pub reasons: Vec<String>,
}

mod storage_name {
    use super::Storage;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(storage: &Storage, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(super::storage_word(*storage))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Storage, D::Error> {
        match String::deserialize(d)?.as_str() {
            "stored" => Ok(Storage::Stored),
            "tiled" => Ok(Storage::Tiled),
            other => {
                Err(serde::de::Error::custom(format!("storage \"{other}\" is neither stored nor tiled")))
            }
        }
    }
}

fn storage_word(storage: Storage) -> &'static str {
    match storage {
        Storage::Stored => "stored",
        Storage::Tiled => "tiled",
    }
}

/// How a reason begins that tells of the memory of the moment, after the number.
pub(crate) const MEMORY_IS_FREE: &str = "of memory are free";

/// [`Planned::forget_machine`] for these fields.
pub(crate) fn forget_machine(
    threads: &mut usize,
    (needed, allowed): (&mut u64, &mut u64),
    reasons: &mut Vec<String>,
) {
    if reasons.iter().any(|reason| reason.contains(MEMORY_IS_FREE)) {
        let there = human_bytes(u128::from(*allowed));
        reasons.retain(|reason| !reason.contains(MEMORY_IS_FREE));
        reasons.iter_mut().for_each(|reason| *reason = reason.replace(&there, "less"));
    }
    (*threads, *needed, *allowed) = (0, 0, 0);
}

/// The lines of a plan about memory and engine; what is not known of a model that was loaded is left out.
pub(crate) fn machine_lines(memory: (u64, u64), machine: (&str, usize)) -> String {
    machine_lines_at_most(memory, None, machine)
}

/// [`machine_lines`] with the most that may be taken where more may be needed.
pub(crate) fn machine_lines_at_most(
    (needed, allowed): (u64, u64),
    most: Option<u64>,
    (engine, threads): (&str, usize),
) -> String {
    let mut lines = String::new();
    if needed > 0 {
        lines += &format!("memory       {}", human_bytes(u128::from(needed)));
        if let Some(most) = most {
            lines += &format!(", at most {},", human_bytes(u128::from(most)));
        }
        if allowed > 0 {
            lines += &format!(" of {} allowed", human_bytes(u128::from(allowed)));
        }
        lines.push('\n');
    }
    lines += &format!("engine       {engine}");
    if threads > 0 {
        lines += &format!(", {threads} {}", if threads == 1 { "thread" } else { "threads" });
    }
    lines
}

/// A number of bytes as people read it.
pub(crate) fn human_bytes(bytes: u128) -> String {
    let (value, unit) = in_units(bytes);
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

/// As [`human_bytes`], rounded up: so much is enough.
pub(crate) fn human_bytes_enough(bytes: u128) -> String {
    let (value, unit) = in_units(bytes);
    if unit == "B" { format!("{bytes} B") } else { format!("{:.1} {unit}", (10.0 * value).ceil() / 10.0) }
}

/// A number of bytes in the largest unit of which there is one.
fn in_units(bytes: u128) -> (f64, &'static str) {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    (value, units[unit])
}

/// What every plan says.
pub trait Planned:
    Clone + std::fmt::Debug + std::fmt::Display + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Rows of the fit.
    fn n_samples(&self) -> usize;
    /// Numbers in a row.
    fn n_features(&self) -> usize;
    /// Precision of the rows, `f32` or `f64`.
    fn precision(&self) -> &str;
    /// Of several tables, the precision of the first.
    fn precision_of_first(&self) -> &str {
        self.precision()
    }
    /// The kernel with every parameter known, for methods with one kernel.
    fn kernel(&self) -> Option<&str> {
        None
    }
    /// Takes out what belongs to the machine and the moment: the number of threads, the memory that they need, and that which is
    /// allowed. Nothing in a result depends on it but the decisions, which stay.
    fn forget_machine(&mut self);
    /// The plan as a model file keeps it: without what belongs to the machine, so that the file is the same bytes on every machine that
    /// comes to the same result.
    #[must_use]
    fn portable(&self) -> Self {
        let mut plan = self.clone();
        plan.forget_machine();
        plan
    }
}

/// [`Planned`] for a plan whose fields have these names.
macro_rules! planned {
    ($plan:ty $(, kernel $kernel:ident)? $(, then $($change:ident)+)?) => {
        impl $crate::model::Planned for $plan {
            fn n_samples(&self) -> usize {
                self.n_samples
            }
            fn n_features(&self) -> usize {
                self.n_features
            }
            fn precision(&self) -> &str {
                &self.precision
            }
            $(fn kernel(&self) -> Option<&str> {
                Some(&self.$kernel)
            })?
            fn forget_machine(&mut self) {
                let bytes = (&mut self.bytes_needed, &mut self.bytes_allowed);
                $crate::model::forget_machine(&mut self.threads, bytes, &mut self.reasons);
                $($(self.$change();)+)?
            }
        }
    };
}
pub(crate) use planned;

planned!(Plan, kernel kernel, then forget_most);

impl Plan {
    fn forget_most(&mut self) {
        self.most_bytes = None;
    }

    /// The route in words.
    fn route_words(&self) -> String {
        let precision =
            if self.draft { ", iterations in single precision, certificate in double" } else { "" };
        match (self.route, self.approximation) {
            (Route::Dual, _) if self.solver == Solver::Dense => "exact, dense: all eigenpairs".into(),
            (Route::Dual, _) if self.kernel == "precomputed" => "exact, the Gram matrix as given".into(),
            (Route::Dual, _) if self.storage == Storage::Stored => {
                format!("exact, the Gram matrix is stored{precision}")
            }
            (Route::Dual, _) => format!("exact, matrix-free: the Gram matrix is never stored{precision}"),
            (Route::Primal, _) => format!("exact, primal: {} explicit features", self.rank),
            (Route::LowRank, Some(how)) if how.is_random_features() => {
                format!("low rank: {} random features at most ({how})", self.rank)
            }
            (Route::LowRank, how) => {
                let how = how.map_or(String::new(), |how| format!(" ({how})"));
                format!("low rank: {} landmarks at most{how}", self.rank)
            }
        }
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "samples      {} × {} ({})", self.n_samples, self.n_features, self.precision)?;
        writeln!(f, "kernel       {}", self.kernel)?;
        writeln!(f, "components   {}", self.n_components)?;
        writeln!(f, "route        {}", self.route_words())?;
        if self.route == Route::Dual {
            write!(f, "solver       {}, tolerance {:e}", self.solver, self.tolerance)?;
            if self.sketch_rank > 0 {
                write!(f, ", sketch of rank {}", self.sketch_rank)?;
            }
            writeln!(f)?;
            let number = match self.most_passes {
                None => self.expected_passes.to_string(),
                Some(most) => format!("about {}, at most {most},", self.expected_passes),
            };
            writeln!(f, "passes       {number} over the Gram matrix")?;
        } else {
            writeln!(f, "passes       {} over the rows", self.expected_passes)?;
        }
        let (memory, machine) =
            ((self.bytes_needed, self.bytes_allowed), (self.engine.as_str(), self.threads));
        writeln!(f, "{}", machine_lines_at_most(memory, self.most_bytes, machine))?;
        for reason in &self.reasons {
            writeln!(f, "  because {reason}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::human_bytes;

    #[test]
    fn bytes_are_readable() {
        assert_eq!(human_bytes(1000), "1000 B");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(u128::MAX).split(' ').nth(1), Some("PiB"));
    }
}
