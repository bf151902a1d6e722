//! The words of `eigenlift kernel`.

use super::{InputArgs, MachineArgs, SpeechArgs, examples};
use crate::values::{self, PlotRequest};
use clap::{Args, Subcommand, ValueEnum};
use eigenlift::kernel::{CATALOG, KernelSpec};
use std::path::PathBuf;

/// What can be asked of a kernel.
#[derive(Debug, Subcommand)]
pub(crate) enum KernelQuestion {
    /// The kernel matrix K
    #[command(after_help = examples::KERNEL_GRAM)]
    Gram(KernelArgs),
    /// The centred kernel matrix K − NK − KN + NKN
    #[command(after_help = examples::KERNEL_CENTERED)]
    Centered(KernelArgs),
    /// Eigenvalues nλ and λ of the centred matrix, eigenvectors β, coefficients α = β/√(nλ), scores
    #[command(after_help = examples::KERNEL_EIGEN)]
    Eigen(EigenArgs),
    /// Is it symmetric and positive semi-definite on this data (Mercer); the verdict is a result, not a failure
    #[command(after_help = examples::KERNEL_CHECK)]
    Check(KernelArgs),
    /// Dimension of the feature space for this data's columns, and the rank after centring
    #[command(after_help = examples::KERNEL_DIM)]
    Dim(KernelArgs),
    /// Distances between rows in feature space
    #[command(after_help = examples::KERNEL_DISTANCE)]
    Distance(KernelArgs),
    /// Angles between rows in feature space, in degrees
    #[command(after_help = examples::KERNEL_ANGLE)]
    Angle(KernelArgs),
    /// Are two kernels the same on this data; one that equals a map(...) is proved valid there
    #[command(after_help = examples::KERNEL_COMPARE)]
    Compare(CompareArgs),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct KernelArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Kernel, as in fit
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)")]
    pub(crate) kernel: KernelSpec,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Where the table goes: .csv, .tsv, .npy, .npz, .parquet, or - for CSV on standard output (gram, centered, eigen,
    /// distance, angle)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// A picture of K and its centred form (.svg, .png)
    #[arg(long, value_name = "FILE", value_parser = values::gram_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct EigenArgs {
    /// Components shown; all that exist when not given
    #[arg(short = 'k', long, value_name = "N", value_parser = values::components)]
    pub(crate) components: Option<usize>,
    /// The table to show alone, or to write with --out
    #[arg(long, value_name = "TABLE")]
    pub(crate) what: Option<EigenTable>,
    #[command(flatten)]
    pub(crate) shared: KernelArgs,
}

/// The tables of `kernel eigen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EigenTable {
    /// nλ, λ and shares
    Values,
    /// Unit eigenvectors
    Beta,
    /// β/√(nλ)
    Alpha,
    /// The samples' coordinates
    Scores,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CompareArgs {
    /// The kernel to compare with
    #[arg(long, value_name = "SPEC")]
    pub(crate) with: KernelSpec,
    #[command(flatten)]
    pub(crate) shared: KernelArgs,
}

/// The help of --kernel, from the catalog.
pub(super) fn kernels() -> String {
    let usages = |combines: bool| {
        let chosen = CATALOG.iter().filter(|entry| entry.combines() == combines && entry.name != "auto");
        chosen.map(|entry| entry.usage()).collect::<Vec<_>>().join(", ")
    };
    format!(
        "Kernel: {}, sums, products and multiples of these, {}. auto, or a bandwidth of auto as in rbf(gamma=auto), is \
         chosen as by 'choose kpca'",
        usages(true),
        usages(false)
    )
}

/// The help of --kernel where its bandwidth is chosen.
pub(super) fn kernels_with_bandwidth() -> String {
    let names: Vec<&str> = CATALOG.iter().filter(|entry| entry.is_of_distance()).map(|e| e.name).collect();
    format!(
        "Kernel whose bandwidth is chosen where it is auto: {}; auto compares linear and rbf. A bandwidth that is a number, \
         or median, is kept",
        names.join(", ")
    )
}
