//! The words of `eigenlift score`.

use super::{ApplyOutputArgs, InputArgs, NO_HEADING};
use crate::values::{self, PlotRequest};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use eigenlift::monitoring::{LimitRule, Statistic};
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub(crate) struct ScoreArgs {
    /// Model file written by fit kpca or fit pca
    #[arg(help_heading = NO_HEADING)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Where the contributions of input columns to a statistic go (.csv, .tsv, .npy, .npz, .parquet): one row for each row, one column
    /// for each input column
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) contributions: Option<PathBuf>,
    /// A picture (.svg, .png), may be repeated: FILE or scatter=FILE for T² against the squared prediction error, chart=FILE for both
    /// over the rows in their order, contributions=FILE for the mean contributions of the rows that are novel, of all rows where no limits are known
    #[arg(long, value_name = "FILE", value_parser = values::score_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    #[command(flatten)]
    pub(crate) output: ApplyOutputArgs,
}

/// From which numbers on a row is called novel.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Table of normal rows that limits are taken from, best rows that the model was not fitted on. When not given: the rows of the
    /// fit by 10-fold cross-validation for an exact kpca model or one of 'fit kpca --control-limits', the rows of the fit as they are for
    /// other kpca models (with a warning), or the spectrum of a pca model
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,
    /// False-alarm rate: fraction of normal rows that exceed either limit; 0.01 when not given
    #[arg(long, value_name = "X", value_parser = values::share)]
    pub(crate) alpha: Option<f64>,
    /// How limits are found: order statistics of reference rows, or parametric by the F and χ² distributions, which hold for Gaussian scores
    /// (a warning says where the reference rows are not). When not given: quantile where there are reference rows, parametric otherwise
    #[arg(long, value_name = "HOW", value_parser = rule())]
    pub(crate) limits: Option<LimitRule>,
    /// The statistic that contributions add up to
    #[arg(long, value_name = "WHICH", default_value = "spe", value_parser = statistic())]
    pub(crate) statistic: Statistic,
}

fn rule() -> impl TypedValueParser<Value = LimitRule> {
    PossibleValuesParser::new(["quantile", "parametric"]).try_map(|text| text.parse::<LimitRule>())
}

fn statistic() -> impl TypedValueParser<Value = Statistic> {
    PossibleValuesParser::new(["spe", "t2"]).try_map(|text| text.parse::<Statistic>())
}
