//! The words of `eigenlift transform`.

use super::{ApplyOutputArgs, InputArgs, NO_HEADING};
use crate::values::{self, PlotRequest};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub(crate) struct TransformArgs {
    /// Model file written by fit
    #[arg(help_heading = NO_HEADING)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The view of a kcca model that DATA are rows of, counted from 1; when not given, DATA have the columns of all views
    #[arg(long, value_name = "I", value_parser = values::at_least_one, help_heading = "Input")]
    pub(crate) view: Option<usize>,
    /// A picture (.svg, .png) of the rows along the first two coordinates
    #[arg(long, value_name = "FILE", value_parser = values::scatter_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    #[command(flatten)]
    pub(crate) output: ApplyOutputArgs,
}
