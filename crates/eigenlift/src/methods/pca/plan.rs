//! What a fit of principal components will do and why.

use crate::error::{Error, Result};
use crate::model::{machine_lines_at_most, planned};
use serde::{Deserialize, Serialize};

/// Which way principal components are found, for n rows of d columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PcaRoute {
    /// Eigenvectors of the d × d covariance, (P2), (P3): n·d² flops, one reading.
    Covariance,
    /// Eigenvectors of the n × n matrix of products of rows, (P8): n²·d flops, never d × d.
    Dual,
    /// Singular vectors of the rows by way of a triangle, (P10): twice the flops of the covariance, and faint components keep
    /// their digits, (P11).
    Tsqr,
    /// Randomised block Krylov iteration, (P12): neither n × n nor d × d, a few readings, 4·n·d·b flops each.
    Krylov,
    /// Frequent directions, (P13): a sketch of ℓ rows, one reading, about 12·n·d·ℓ flops, never d × d. Eigenvalues come with a
    /// bound Δ and are not exact; taken only when it is asked for, or for a stream whose covariance is too large.
    Directions,
}

impl PcaRoute {
    const ALL: [(&'static str, PcaRoute); 5] = [
        ("covariance", Self::Covariance),
        ("dual", Self::Dual),
        ("tsqr", Self::Tsqr),
        ("krylov", Self::Krylov),
        ("directions", Self::Directions),
    ];

    /// Words that stand for routes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(name, _)| name)
    }
}

impl std::fmt::Display for PcaRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::ALL.iter().find(|(_, route)| route == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl std::str::FromStr for PcaRoute {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, route)| *route).ok_or_else(|| {
            Error::setting(
                format!("route \"{text}\""),
                "it must be covariance, dual, tsqr, krylov or directions",
                "Leave it out to let the plan decide",
            )
        })
    }
}

/// What was decided, with one reason for each decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PcaPlan {
    /// Rows.
    pub n_samples: usize,
    /// Columns.
    pub n_features: usize,
    /// Components asked for; `None` when their number is chosen by rules.
    pub n_components: Option<usize>,
    /// Which way the fit goes.
    pub route: PcaRoute,
    /// Whether columns are divided by their standard deviations.
    pub standardized: bool,
    /// Whether rows have weights.
    pub weighted: bool,
    /// Whether rows are sparse.
    pub sparse: bool,
    /// Precision of the rows, `f32` or `f64`; sums are always in double precision.
    pub precision: String,
    /// Rows that are read at a time; 0 when all are in memory at once.
    pub chunk_rows: usize,
    /// Bytes of a second look at faint components by a triangle, when that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_look_bytes: Option<u64>,
    /// The route that was planned, when another took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_route: Option<PcaRoute>,
    /// Readings of the rows expected.
    pub expected_passes: usize,
    /// Readings of the rows as a rule, from and to, when their number is not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likely_passes: Option<(usize, usize)>,
    /// Readings of the rows at most, when their number is not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_passes: Option<usize>,
    /// ℓ: rows of the sketch, when the route makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch_rows: Option<usize>,
    /// Relative residual asked of an iteration.
    pub tolerance: f64,
    /// Seed of every random draw.
    pub seed: u64,
    /// Where it runs.
    pub engine: String,
    /// Threads that work at once.
    pub threads: usize,
    /// Bytes the fit needs beside the rows.
    pub bytes_needed: u64,
    /// Bytes at most, where a second look at faint components may follow that takes more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
    /// Bytes it may use.
    pub bytes_allowed: u64,
    /// One sentence for each decision.
    pub reasons: Vec<String>,
}

planned!(PcaPlan, then forget_most);

impl PcaPlan {
    fn forget_most(&mut self) {
        self.most_bytes = None;
    }

    /// Notes that the triangle took over.
    pub(super) fn look_again(&mut self) {
        self.reasons.push(format!(
            "wanted components were so faint beside the first that the {} route could not tell them from rounding: \
             TSQR took over",
            self.route
        ));
        self.planned_route = Some(self.route);
        self.route = PcaRoute::Tsqr;
        self.expected_passes += 1;
        self.likely_passes = self.likely_passes.map(|(low, high)| (low + 1, high + 1));
        self.most_passes = self.most_passes.filter(|_| self.likely_passes.is_some());
        self.bytes_needed = self.second_look_bytes.take().unwrap_or(self.bytes_needed).max(self.bytes_needed);
        self.most_bytes = None;
    }

    fn passes_words(&self) -> String {
        let about = match self.likely_passes {
            Some((low, high)) => format!("about {} (as a rule {low} to {high})", self.expected_passes),
            None => self.expected_passes.to_string(),
        };
        match self.most_passes {
            Some(most) => format!("{about}, at most {most},"),
            None => about,
        }
    }

    fn route_words(&self) -> String {
        match self.route {
            PcaRoute::Covariance => {
                format!("covariance: eigenvectors of the {0} × {0} matrix", self.n_features)
            }
            PcaRoute::Dual => {
                format!("dual: eigenvectors of the {0} × {0} matrix of products of rows", self.n_samples)
            }
            PcaRoute::Tsqr => "TSQR: singular vectors of a triangle, nothing is squared".into(),
            PcaRoute::Krylov => {
                format!("randomised block Krylov: passes over the rows, tolerance {:e}", self.tolerance)
            }
            PcaRoute::Directions => format!(
                "frequent directions: a sketch of {} rows, one reading, with a bound",
                self.sketch_rows.unwrap_or(0)
            ),
        }
    }
}

impl std::fmt::Display for PcaPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut marks = vec![self.precision.as_str()];
        marks.extend(self.sparse.then_some("sparse"));
        marks.extend(self.weighted.then_some("weighted"));
        writeln!(f, "samples      {} × {} ({})", self.n_samples, self.n_features, marks.join(", "))?;
        writeln!(
            f,
            "columns      centred{}",
            if self.standardized { ", divided by their standard deviations" } else { "" }
        )?;
        let components = self.n_components.map_or("chosen by rules".into(), |k| k.to_string());
        writeln!(f, "components   {components}")?;
        writeln!(f, "route        {}", self.route_words())?;
        writeln!(f, "passes       {} over the rows", self.passes_words())?;
        let (memory, machine) =
            ((self.bytes_needed, self.bytes_allowed), (self.engine.as_str(), self.threads));
        writeln!(f, "{}", machine_lines_at_most(memory, self.most_bytes, machine))?;
        for reason in &self.reasons {
            writeln!(f, "  because {reason}")?;
        }
        Ok(())
    }
}
