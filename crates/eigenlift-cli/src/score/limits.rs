//! Limits, and what they were taken from.

use super::Monitored;
use crate::args::{InputArgs, ScoreArgs};
use crate::exit::Failure;
use crate::rows::TableRows;
use crate::transform::{Seconds, from_row};
use crate::words::{Words, counted, short, timed};
use eigenlift::data::RowSource;
use eigenlift::matrix::Matrix;
use eigenlift::monitoring::{LimitRule, Limits, Novelty};
use eigenlift::progress::Watch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What α is when nothing is said.
const ALPHA: f64 = 0.01;
/// Reference rows kept at most to count contributions from.
const BASELINES: usize = 2000;

/// What is known before any row is read.
#[derive(Default)]
pub(super) struct Known {
    pub(super) limits: Option<Limits>,
    /// Rows that contributions are counted from, where the model holds none.
    pub(super) baseline: Option<Matrix<f64>>,
    reference: Option<PathBuf>,
    /// Where limits come from, in words.
    source: &'static str,
    /// What a person should see.
    notes: Vec<String>,
}

impl Known {
    pub(super) fn find(
        args: &ScoreArgs,
        model: &Monitored,
        seconds: &mut Seconds,
        watch: &Watch,
    ) -> Result<Self, Failure> {
        let asked = &args.limits;
        let alpha = asked.alpha.unwrap_or(ALPHA);
        let mut known = Self::default();
        if model.is_precomputed() {
            known.notes.push(
                "rows of a precomputed kernel do not tell k(x,x): T² alone is given, and no squared prediction error".into(),
            );
        }
        if let Some(path) = &asked.reference {
            let rows = known.read(args, path, model, (seconds, watch))?;
            let rule = asked.limits.unwrap_or_default();
            known.limits = Some(model.limits_from(&rows, alpha, rule)?);
            (known.reference, known.source) = (Some(path.clone()), "reference rows");
            return Ok(known);
        }
        if model.is_linear() && asked.limits == Some(LimitRule::Quantile) {
            return Err(Failure::usage(
                "--limits quantile of a pca model without --reference",
                "a quantile is one of reference rows, and a pca model does not know those of its fit",
                "Give --reference, or leave --limits out for parametric limits",
            ));
        }
        match model.own_limits(alpha, asked.limits.unwrap_or_default(), watch) {
            Ok(limits) => {
                known.source = if model.is_linear() { "spectrum" } else { "rows of the fit" };
                known.limits = Some(limits);
            }
            Err(error) if asked.alpha.is_some() || asked.limits.is_some() => return Err(error.into()),
            Err(error) => known.notes.push(format!("no limits: {error}")),
        }
        Ok(known)
    }

    /// The numbers of reference rows; some of the rows where contributions need them.
    fn read(
        &mut self,
        args: &ScoreArgs,
        path: &Path,
        model: &Monitored,
        (seconds, watch): (&mut Seconds, &Watch),
    ) -> Result<Novelty, Failure> {
        let with = InputArgs { data: path.to_owned(), ..args.input.clone() };
        let without = InputArgs { target: None, ..with.clone() };
        // Reference rows need no labels.
        let (rows, took) = timed(|| TableRows::open(&with).or_else(|_| TableRows::open(&without)));
        seconds.read += took;
        let mut rows = rows?;
        rows.match_columns(model.fitted().column_names(), model.fitted().n_features())?;
        let (mut all, mut done) = (Novelty::default(), 0);
        let total = rows.rows_if_known().unwrap_or(0);
        loop {
            watch.step("reference rows", done, total)?;
            let (piece, took) = timed(|| rows.next_piece(rows.piece_rows()));
            seconds.read += took;
            let Some(piece) = piece? else { break };
            let (found, took) = timed(|| model.novelty(&piece.rows, &watch.silent()));
            seconds.transform += took;
            all.append(&found.map_err(|error| from_row(error, done))?);
            done += piece.rows.n_rows();
        }
        if model.needs_baseline() {
            RowSource::rewind(&mut rows)?;
            let (some, _) = rows.evenly(done.div_ceil(BASELINES).max(1), &watch.silent())?;
            self.baseline = Some(some);
        }
        Ok(all)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let own = self.limits.iter().flat_map(|limits| limits.warnings.iter().cloned());
        self.notes.iter().cloned().chain(own).collect()
    }

    pub(super) fn json(&self) -> Value {
        let Some(limits) = &self.limits else { return Value::Null };
        json!({
            "alpha": limits.alpha,
            "rule": limits.rule,
            "source": self.source,
            "reference": self.reference,
            "rows": limits.rows,
            "t2": limits.t_squared,
            "spe": limits.spe,
            "t2_share": limits.t_squared_share,
            "spe_share": limits.spe_share,
            "share": limits.share,
            "in_sample": limits.in_sample,
            "cross_validated": limits.cross_validated,
        })
    }

    pub(super) fn say(&self, words: Words) {
        let Some(limits) = &self.limits else { return };
        let spe = limits.spe.map_or("none".into(), short);
        let from = match self.source {
            "spectrum" => format!("the spectrum of {}", counted(limits.rows, "row")),
            source if limits.cross_validated => format!("{} {source}, cross-validated", limits.rows),
            source => format!("{} {source}", limits.rows),
        };
        words.say(format_args!(
            "limits: t2 {}, spe {spe}; {} at {} from {from}",
            short(limits.t_squared),
            limits.rule,
            limits.alpha
        ));
    }
}
