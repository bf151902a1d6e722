//! The words of principal components and whitening.

use super::{FitOutputArgs, InputArgs, MachineArgs, Precision, SpeechArgs};
use crate::values::{self, ComponentChoice, PlotRequest};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use eigenlift::methods::pca::{PcaRoute, WhiteningMethod};
use std::path::PathBuf;

/// What decides principal components and how they are found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct PcaArgs {
    /// Components kept, or auto for as many as the rules of 'choose pca' agree on
    #[arg(short = 'k', long, value_name = "N|auto", default_value = "2", value_parser = values::component_choice)]
    pub(crate) components: ComponentChoice,
    /// Divide every column by its standard deviation
    #[arg(long)]
    pub(crate) scale: bool,
    #[command(flatten)]
    pub(crate) linear: LinearArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// What whitening is wanted and how it is found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct WhitenArgs {
    /// pca: along the principal axes; zca: closest to the data; cholesky: triangular; -cor: of standardised columns
    #[arg(long, value_name = "HOW", default_value = "zca", value_parser = whitening())]
    pub(crate) method: WhiteningMethod,
    /// Added to every variance, so that faint directions are not blown up
    #[arg(long, value_name = "X", default_value = "0", value_parser = values::not_negative, allow_negative_numbers = true)]
    pub(crate) ridge: f64,
    /// Directions kept, those of largest variance; all with variance when not given
    #[arg(short = 'k', long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) components: Option<usize>,
    #[command(flatten)]
    pub(crate) linear: LinearArgs,
}

/// What both have.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct LinearArgs {
    /// Column that holds the weights of the rows, by name: kept out of the data; missing weights are treated as other cells
    #[arg(long, value_name = "COL")]
    pub(crate) weights: Option<String>,
    /// How components are found: by the covariance of columns, products of rows (dual), a triangle that keeps faint
    /// components exact (tsqr), passes over the rows (krylov), or a sketch in one reading, with a bound (directions)
    #[arg(long, default_value = "auto", value_parser = route())]
    pub(crate) route: RouteChoice,
    /// Rows of the sketch of the directions route, more than components; 4 for each component and at least 100 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) sketch_rows: Option<usize>,
    /// Relative residual asked of the krylov route
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = values::tolerance)]
    pub(crate) tol: f64,
    /// Precision of the rows; sums are always in double precision
    #[arg(long, default_value = "f64")]
    pub(crate) precision: Precision,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// A route, or what the plan chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouteChoice(pub(crate) Option<PcaRoute>);

/// What the rules on the number of components go by.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Number of components")]
pub(crate) struct RuleArgs {
    /// Share of the variance that the components shall hold; 0.9 when not given
    #[arg(long, value_name = "SHARE", value_parser = values::share_or_one)]
    pub(crate) explained: Option<f64>,
    /// Mean squared error J that may be left, in squared units of the data; 5 % of the variance when not given
    #[arg(long, value_name = "J", value_parser = values::not_negative, allow_negative_numbers = true)]
    pub(crate) residual: Option<f64>,
    /// Permutations of parallel analysis; 50 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) permutations: Option<usize>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FitPcaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: PcaArgs,
    /// Where loadings and contributions of the columns go: .csv, .tsv, .npz, .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) loadings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FitWhitenArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: WhitenArgs,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlanPcaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: PcaArgs,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlanWhitenArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: WhitenArgs,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ChoosePcaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Divide every column by its standard deviation
    #[arg(long, help_heading = "Method")]
    pub(crate) scale: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// A picture of the rules (.svg, .png)
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = values::choice_plot)]
    pub(crate) plot: Vec<PlotRequest>,
    /// A report (.html): one file with what was found, the pictures and this command
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

impl ChoosePcaArgs {
    /// The settings of `fit pca -k auto` that these words stand for.
    pub(crate) fn settings(&self) -> PcaArgs {
        PcaArgs {
            components: ComponentChoice::Auto,
            scale: self.scale,
            linear: LinearArgs {
                weights: None,
                route: RouteChoice(None),
                sketch_rows: None,
                tol: 1e-6,
                precision: Precision::F64,
                machine: self.machine.clone(),
            },
            rules: self.rules.clone(),
        }
    }
}

fn whitening() -> impl TypedValueParser<Value = WhiteningMethod> {
    PossibleValuesParser::new(WhiteningMethod::names()).try_map(|text| text.parse::<WhiteningMethod>())
}

fn route() -> impl TypedValueParser<Value = RouteChoice> {
    PossibleValuesParser::new(std::iter::once("auto").chain(PcaRoute::names())).try_map(|text| {
        if text == "auto" {
            Ok(RouteChoice(None))
        } else {
            text.parse().map(|route| RouteChoice(Some(route)))
        }
    })
}
