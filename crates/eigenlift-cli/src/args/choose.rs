//! The words of `choose kpca`.

use super::{InputArgs, MachineArgs, SpeechArgs, kernel};
use crate::values::{self, ComponentChoice, MaskChoice, PlotRequest};
use clap::{Args, ValueEnum};
use eigenlift::kernel::KernelSpec;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub(crate) struct ChooseKpcaArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
    #[command(flatten)]
    pub(crate) studies: StudyArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Where the errors of all points go, as a table: .csv, .tsv, .npy, .npz, .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// A picture (.svg, .png), may be repeated: FILE or choice=FILE for the curves of errors, sensitivity=FILE for what
    /// the bandwidth does to the components
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = values::kernel_choice_plot)]
    pub(crate) plot: Vec<PlotRequest>,
    /// A report (.html): one file with what was found, the pictures and this command
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

/// What is compared, and by what.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Choice")]
pub(crate) struct GridArgs {
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=auto)", help = kernel::kernels_with_bandwidth())]
    pub(crate) kernel: KernelSpec,
    /// Number of components, or auto to choose it
    #[arg(short = 'k', long, value_name = "N|auto", default_value = "auto", value_parser = values::component_choice)]
    pub(crate) components: ComponentChoice,
    /// Components tried at most; 256 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) most: Option<usize>,
    /// What is hidden together: entries; blocks=L, runs of L columns, for series; image=HxW, squares, for images
    #[arg(long, value_name = "HOW", default_value = "entries", value_parser = values::mask)]
    pub(crate) mask: MaskChoice,
    /// Rows looked at; of more a sample is drawn. 600 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) rows: Option<usize>,
    /// With --target: what learns the labels from the scores: knn, nearest neighbours; ridge, ridge regression; best, the
    /// better of both; none keeps the labels out and hides entries. When not given: best
    #[arg(long, value_name = "HOW", requires = "target")]
    pub(crate) scorer: Option<ScorerChoice>,
}

/// What is asked about the point chosen.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How far to trust it")]
pub(crate) struct StudyArgs {
    /// Say what other bandwidths would do to the components
    #[arg(long)]
    pub(crate) sensitivity: bool,
    /// Say how many components are found again in half of the rows
    #[arg(long)]
    pub(crate) stability: bool,
    /// Say how many components are more than unrelated columns give
    #[arg(long)]
    pub(crate) parallel: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScorerChoice {
    Best,
    Knn,
    Ridge,
    None,
}
