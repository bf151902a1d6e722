//! What a fit of canonical correlations will do and why.

use super::permute::MOST_ROWS;
use crate::error::{Error, Result};
use crate::factor::{FEWEST_NESTED, FactorPlan, Regularization};
use crate::model::{Planned, human_bytes, machine_lines};
use serde::{Deserialize, Serialize};

/// Rows that a fold must have: a correlation of two is 1 or −1 whatever they hold.
const LEAST_FOLD: usize = 3;

/// What a reason says of those that are worked on at once, after their number.
const AT_ONCE: &str = "folds or permutations fit into memory at once";

/// What was decided, with one reason for each decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelCcaPlan {
    /// The features of each view.
    pub views: Vec<FactorPlan>,
    /// Components asked for.
    pub n_components: usize,
    /// κ asked for.
    pub regularization: Regularization,
    /// Folds on which correlations of held-out rows are measured; 0 when there are too few rows.
    pub folds: usize,
    /// Permutations for the significance of correlations; 0 for none.
    pub permutations: usize,
    /// Folds or permutations that are worked on at once.
    pub at_once: usize,
    /// Bytes the fit needs beside the samples.
    pub bytes_needed: u64,
    /// Bytes it may use.
    pub bytes_allowed: u64,
    /// One sentence for each decision that is not that of a view.
    pub reasons: Vec<String>,
}

/// What the plan is for.
pub(super) struct Asked {
    pub(super) n_components: usize,
    pub(super) regularization: Regularization,
    pub(super) folds: usize,
    pub(super) permutations: usize,
}

impl Planned for KernelCcaPlan {
    fn n_samples(&self) -> usize {
        self.n_samples()
    }

    fn n_features(&self) -> usize {
        self.views.iter().map(|view| view.n_features).sum()
    }

    fn precision(&self) -> &str {
        if self.views.iter().all(|view| view.precision == "f32") { "f32" } else { "f64" }
    }

    fn precision_of_first(&self) -> &str {
        self.views.first().map_or("f64", |view| &view.precision)
    }

    fn forget_machine(&mut self) {
        self.views.iter_mut().for_each(Planned::forget_machine);
        self.reasons.retain(|reason| !reason.ends_with(AT_ONCE));
        (self.at_once, self.bytes_needed, self.bytes_allowed) = (1, 0, 0);
    }
}

impl KernelCcaPlan {
    /// # Errors
    /// When the memory allowed does not suffice, or there are too few rows to choose κ.
    pub(super) fn new(views: Vec<FactorPlan>, asked: &Asked) -> Result<Self> {
        let n = views.first().map_or(0, |view| view.n_samples);
        let mut reasons = Vec::new();
        let folds = folds_for(n, asked, &mut reasons)?;
        let allowed = views.iter().map(|view| view.bytes_allowed).min().unwrap_or(0);
        let threads = views.iter().map(|view| view.threads).min().unwrap_or(1);
        let (fixed, each) = bytes(&views, folds, asked.permutations);
        let needed = fixed + each;
        if needed > u128::from(allowed) {
            let features: usize = views.iter().map(|view| view.rank).sum();
            return Err(Error::memory(
                format!("{features} features of {} views need {}", views.len(), human_bytes(needed)),
                format!("{} are allowed beside the samples", human_bytes(u128::from(allowed))),
                "Use fewer landmarks or folds, or allow more memory",
            ));
        }
        let fitting = usize::try_from((u128::from(allowed) - fixed) / each.max(1)).unwrap_or(usize::MAX);
        let at_once = fitting.min(threads).min(folds.max(asked.permutations)).max(1);
        if at_once > 1 {
            reasons.push(format!("{at_once} {AT_ONCE}"));
        }
        Ok(Self {
            n_components: asked.n_components,
            regularization: asked.regularization,
            folds,
            permutations: asked.permutations,
            at_once,
            bytes_needed: u64::try_from(fixed + each * at_once as u128).unwrap_or(u64::MAX),
            bytes_allowed: allowed,
            views,
            reasons,
        })
    }

    /// Rows of the fit.
    pub fn n_samples(&self) -> usize {
        self.views.first().map_or(0, |view| view.n_samples)
    }
}

fn folds_for(n: usize, asked: &Asked, reasons: &mut Vec<String>) -> Result<usize> {
    let folds = asked.folds.min(n / LEAST_FOLD);
    let fewest = if asked.regularization == Regularization::Auto { FEWEST_NESTED } else { 2 };
    if folds >= fewest {
        if folds < asked.folds {
            reasons
                .push(format!("{n} rows make {folds} folds of at least {LEAST_FOLD}, not {}", asked.folds));
        }
        return Ok(folds);
    }
    if asked.regularization == Regularization::Auto {
        return Err(Error::data(
            format!("{n} rows"),
            format!(
                "at least {} are needed to choose the regularization on held-out samples",
                fewest * LEAST_FOLD
            ),
            "Give more rows, or give the regularisation as a number",
        ));
    }
    reasons.push(match asked.folds {
        0 => "no rows are held out, as was asked for".into(),
        _ => format!("{n} rows are too few to hold some out"),
    });
    Ok(0)
}

/// Bytes that are needed whatever runs at once, and those of one fold or permutation.
fn bytes(views: &[FactorPlan], folds: usize, permutations: usize) -> (u128, u128) {
    let features: u128 = views.iter().map(|view| view.rank as u128).sum();
    let (square, n) = (8 * features * features, views.first().map_or(0, |view| view.n_samples));
    let step = views.iter().map(|view| view.chunk_rows.max(1)).min().unwrap_or(1).min(n.max(1)) as u128;
    // The L of landmarks and its use, a chunk of features and what is computed with it, moments of each fold and of all.
    let factors: u128 = views.iter().map(|view| 16 * view.rank as u128 * view.rank as u128).sum();
    let chosen = views.iter().map(|view| u128::from(view.bytes_needed)).max().unwrap_or(0);
    let moments = 10 * step * features + (folds as u128 + 2) * square;
    let rows = n.min(MOST_ROWS) as u128;
    let shuffled = if permutations > 0 { 16 * rows * features } else { 0 };
    let fixed = (factors + moments + shuffled).max(chosen);
    // A fold: its moments, axes of views, covariances in them, and the joint matrix.
    (fixed, (3 * square).max(if permutations > 0 { 2 * square + 8 * rows * features } else { 0 }))
}

impl std::fmt::Display for KernelCcaPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, view) in self.views.iter().enumerate() {
            let (n, d) = (view.n_samples, view.n_features);
            writeln!(f, "view {}       {n} × {d} ({}), {}", number + 1, view.precision, view.kernel)?;
            writeln!(f, "             {}", view.route())?;
        }
        writeln!(f, "components   {}", self.n_components)?;
        writeln!(f, "kappa        {}", self.regularization)?;
        match self.folds {
            0 => writeln!(f, "held out     none")?,
            folds => writeln!(f, "held out     {folds} folds, one reading of the rows")?,
        }
        if self.permutations > 0 {
            writeln!(f, "significance {} permutations", self.permutations)?;
        }
        let memory = (self.bytes_needed, self.bytes_allowed);
        let engine = self.views.first().map_or(("none", 0), |view| (view.engine.as_str(), view.threads));
        writeln!(f, "{}", machine_lines(memory, engine))?;
        let mut seen: Vec<&String> = Vec::new();
        for reason in self.views.iter().flat_map(|view| &view.reasons).chain(&self.reasons) {
            if !seen.contains(&reason) {
                writeln!(f, "  because {reason}")?;
                seen.push(reason);
            }
        }
        Ok(())
    }
}
