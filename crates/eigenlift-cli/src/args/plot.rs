//! The words of `eigenlift plot`.

use super::{InputArgs, examples};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What can be drawn of what is there already.
#[derive(Debug, Subcommand)]
pub(crate) enum PlotCommand {
    /// Two columns of a table against each other; many points by their density
    #[command(after_help = examples::PLOT_SCATTER)]
    Scatter(PlotScatterArgs),
    /// Rows of a table along the first two components of a model
    #[command(after_help = examples::PLOT_SCORES)]
    Scores(PlotRowsArgs),
    /// The spectrum of a model, with the bounds of its certificate
    #[command(after_help = examples::PLOT_SCREE)]
    Scree(PlotModelArgs),
    /// Components of a kernel PCA of two columns as contour lines over the plane
    #[command(after_help = examples::PLOT_CONTOURS)]
    Contours(PlotModelArgs),
    /// The same, with those of linear PCA beside them
    #[command(after_help = examples::PLOT_LINEAR)]
    Linear(PlotModelArgs),
    /// Axes of feature space pulled back to two columns: curves over the data
    #[command(after_help = examples::PLOT_CURVES)]
    Curves(PlotModelArgs),
    /// The kernel matrix of the rows that a model holds, and its centred form
    #[command(after_help = examples::PLOT_GRAM)]
    Gram(PlotModelArgs),
    /// Rows before and after a whitening
    #[command(after_help = examples::PLOT_WHITENING)]
    Whitening(PlotRowsArgs),
    /// Correlations of a kcca model on the rows of the fit and on rows held out
    #[command(after_help = examples::PLOT_CORRELATIONS)]
    Correlations(PlotModelArgs),
    /// Rows of a table along the views of a kcca model, against each other; the table has the columns of all views
    #[command(after_help = examples::PLOT_CANONICAL)]
    Canonical(PlotRowsArgs),
    /// What each regularisation of a kcca or kda model did on rows held out
    #[command(after_help = examples::PLOT_REGULARIZATION)]
    Regularization(PlotModelArgs),
    /// What a kda or kkmeans model of two columns predicts over the plane, with rows of a table over it
    #[command(after_help = examples::PLOT_REGIONS)]
    Regions(PlotRowsArgs),
    /// The path of a selection: a table as 'select --path' writes it, with the columns feature and score, and spread, baseline,
    /// n_features, action, best and chosen where there are
    #[command(after_help = examples::PLOT_PATH)]
    Path(PlotPathArgs),
}

/// Where a picture goes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct PictureArgs {
    /// Where the picture goes (.svg, .png)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Title above the picture; that of the table or model when not given
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Say nothing on standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlotScatterArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Column along the horizontal axis, by name or position; the first data column when not given
    #[arg(long, value_name = "COL")]
    pub(crate) x: Option<String>,
    /// Column along the vertical axis; the second data column when not given
    #[arg(long, value_name = "COL")]
    pub(crate) y: Option<String>,
    /// One unit is as long along both axes
    #[arg(long)]
    pub(crate) equal: bool,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlotRowsArgs {
    /// Model file written by fit
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlotModelArgs {
    /// Model file written by fit
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlotPathArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Step that was chosen, counted from 1; the one that the table marks when not given
    #[arg(long, value_name = "N", value_parser = crate::values::at_least_one)]
    pub(crate) chosen: Option<usize>,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}
