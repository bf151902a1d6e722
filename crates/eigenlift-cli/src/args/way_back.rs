//! The words of the way back: rows from scores, and rows projected and put together again.

use super::{ApplyOutputArgs, InputArgs, NO_HEADING};
use crate::values::{self, ImageSize, PlotRequest};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use eigenlift::preimage::PreimageMethod;
use std::path::PathBuf;

/// How rows are found whose image in feature space is close to a point of the subspace.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Way back")]
pub(crate) struct WayBackArgs {
    /// How a row is found with a kpca model: by fixed point for kernels of the distance, from distances to the nearest samples, by ridge
    /// regression from scores to rows, or by gradient for every kernel. When not given: auto, which is fixed-point
    /// where the kernel goes by distances and gradient otherwise
    #[arg(long, value_name = "HOW", value_parser = method())]
    pub(crate) preimage: Option<PreimageMethod>,
    /// Holds the row to where the search starts: 0 not at all, 0.1 gently, 1 strongly. Helps when there are too few
    /// components
    #[arg(long, value_name = "X", value_parser = values::not_negative, allow_negative_numbers = true)]
    pub(crate) penalty: Option<f64>,
    /// Samples near the scores that starts and distances go by; 10 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_two)]
    pub(crate) neighbors: Option<usize>,
    /// Steps at most; 60 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) steps: Option<usize>,
    /// Share of the spread of the samples below which a step ends the search; 1e-6 when not given
    #[arg(long, value_name = "X", value_parser = values::tolerance)]
    pub(crate) tol: Option<f64>,
    /// Write what is known of each row beside it: its distance in feature space, whether it is trusted (1) or not (0),
    /// and, in formats that hold text, where its search started
    #[arg(long, help_heading = "Output")]
    pub(crate) trust: bool,
    /// A picture (.svg, .png): FILE or preimages=FILE. Images when --image is given, the first 12 rows; otherwise the
    /// first two columns of the model
    #[arg(long, value_name = "FILE", value_parser = values::preimage_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    /// Draw rows as images of H lines of W pixels
    #[arg(long, value_name = "HxW", value_parser = values::image, requires = "plot", help_heading = "Output")]
    pub(crate) image: Option<ImageSize>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InverseArgs {
    /// Model file written by fit
    #[arg(help_heading = NO_HEADING)]
    pub(crate) model: PathBuf,
    /// Table of scores as fit and transform write them; columns of text are carried along
    #[arg(help_heading = NO_HEADING)]
    pub(crate) scores: PathBuf,
    /// Label column beside the scores, by name or position: carried in front of the rows
    #[arg(long, value_name = "COL", help_heading = "Input")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) way_back: WayBackArgs,
    #[command(flatten)]
    pub(crate) output: ApplyOutputArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DenoiseArgs {
    /// Model file written by fit
    #[arg(help_heading = NO_HEADING)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) way_back: WayBackArgs,
    #[command(flatten)]
    pub(crate) output: ApplyOutputArgs,
}

fn method() -> impl TypedValueParser<Value = PreimageMethod> {
    PossibleValuesParser::new(PreimageMethod::names()).try_map(|text| text.parse::<PreimageMethod>())
}
