//! The words of the kernelised linear methods: kcca, kda, kkmeans.

use super::{LowRankArgs, MachineArgs, NO_HEADING, Precision};
use crate::values;
use clap::Args;
use eigenlift::factor::Regularization;
use eigenlift::kernel::KernelSpec;
use std::path::PathBuf;

/// How rows become features: what all three have.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct FactorArgs {
    /// Precision of the samples and of the kernel's values, also for tables of single precision
    #[arg(long, default_value = "f64")]
    pub(crate) precision: Precision,
    /// All rows are landmarks, however many: the same as --rank exact
    #[arg(long, conflicts_with_all = ["rank", "low_rank", "landmarks"], help_heading = "Low rank")]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) low_rank: LowRankArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// How much a method is held back.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct RegularizationArgs {
    /// κ, added to the variance of every direction in feature space; auto for the one that does best on rows held out
    #[arg(long, value_name = "auto|N", default_value = "auto", allow_negative_numbers = true)]
    pub(crate) regularization: Regularization,
    /// Parts of the rows that are held out in turn; 0 holds none out and needs a regularisation that is given
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) folds: usize,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct KccaArgs {
    /// Tables of the other views: row by row about the same things as DATA, which is the first view
    #[arg(value_name = "VIEW", help_heading = NO_HEADING)]
    pub(crate) others: Vec<PathBuf>,
    /// Columns of DATA that make up a view, by name, position among the data columns or range; once for each view
    #[arg(long = "view", value_name = "COLS")]
    pub(crate) views: Vec<String>,
    /// Components kept
    #[arg(short = 'k', long, value_name = "N", default_value = "2", value_parser = values::components)]
    pub(crate) components: usize,
    /// Kernel, as 'fit kpca' takes it; once for all views, or once for each
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)")]
    pub(crate) kernel: Vec<KernelSpec>,
    #[command(flatten)]
    pub(crate) regularization: RegularizationArgs,
    /// Fits with the rows of the views shuffled against each other, for p-values
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Regularisation")]
    pub(crate) permutations: usize,
    #[command(flatten)]
    pub(crate) factor: FactorArgs,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct KdaArgs {
    /// Components kept; one less than there are classes when not given
    #[arg(short = 'k', long, value_name = "N", value_parser = values::components)]
    pub(crate) components: Option<usize>,
    /// Kernel, as 'fit kpca' takes it
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)")]
    pub(crate) kernel: KernelSpec,
    #[command(flatten)]
    pub(crate) regularization: RegularizationArgs,
    #[command(flatten)]
    pub(crate) factor: FactorArgs,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct KkmeansArgs {
    /// Clusters
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) clusters: usize,
    /// Kernel, as 'fit kpca' takes it
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)")]
    pub(crate) kernel: KernelSpec,
    /// Beginnings that are tried; the best end is kept
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::at_least_one)]
    pub(crate) starts: usize,
    /// Cluster along so many kernel principal components instead of in the whole feature space
    #[arg(long, value_name = "Q", value_parser = values::at_least_one)]
    pub(crate) spectral: Option<usize>,
    #[command(flatten)]
    pub(crate) factor: FactorArgs,
}
