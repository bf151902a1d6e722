//! The words of the command line. Their meaning is the same in every command.

mod choose;
mod examples;
mod explore;
mod kernel;
mod kernelised;
mod linear;
mod manifold;
mod methods;
mod plot;
mod score;
mod select;
mod transform;
mod way_back;

pub(crate) use choose::{ChooseKpcaArgs, ScorerChoice, StudyArgs};
pub(crate) use explore::ExploreArgs;
pub(crate) use kernel::{CompareArgs, EigenArgs, EigenTable, KernelArgs, KernelQuestion};
pub(crate) use kernelised::{FactorArgs, KccaArgs, KdaArgs, KkmeansArgs};
pub(crate) use linear::{
    ChoosePcaArgs, FitPcaArgs, FitWhitenArgs, LinearArgs, PcaArgs, PlanPcaArgs, PlanWhitenArgs, RuleArgs,
    WhitenArgs,
};
pub(crate) use manifold::{DoctorIsomapArgs, ManifoldArgs, MetricChoice};
pub(crate) use methods::{ChooseMethod, DoctorQuestion, FitMethod, PlanMethod};
pub(crate) use plot::{PictureArgs, PlotCommand, PlotModelArgs, PlotPathArgs, PlotRowsArgs, PlotScatterArgs};
pub(crate) use score::ScoreArgs;
pub(crate) use select::{AskedSelection, JudgeArgs, LabelChoice, MeasureName, ScorerName, SelectMethod};
pub(crate) use transform::TransformArgs;
pub(crate) use way_back::{DenoiseArgs, InverseArgs, WayBackArgs};

use crate::values::{self, ComponentChoice, ImageSize, PlotRequest, RankChoice};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use eigenlift::eigen::Indefinite;
use eigenlift::features::Approximation;
use eigenlift::kernel::KernelSpec;
use eigenlift_io::{Format, Missing};
use std::path::PathBuf;

/// Built-in data sets: files first, then sets made by formula.
pub(crate) const DATA_SETS: [&str; 9] = [
    "digits",
    "iris",
    "worked-example",
    "three-gaussians",
    "moons",
    "rings",
    "swiss-roll",
    "s-curve",
    "parabola",
];
const MOST_THREADS: i64 = 1024;
/// Positions stand among the arguments, whatever heading the flags around them have.
const NO_HEADING: Option<&'static str> = None;

/// Kernel PCA, PCA, whitening and manifolds that fit the memory there is and say how far their numbers can be trusted.
#[derive(Debug, Parser)]
#[command(name = "eigenlift", version, after_help = examples::TOP, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job on built-in data: scores, model and pictures into a folder
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Write a built-in data set
    #[command(after_help = examples::DATA)]
    Data(DataArgs),
    /// Say what fit would do, bytes and passes, without doing it
    #[command(after_help = examples::PLAN)]
    Plan {
        #[command(subcommand)]
        method: PlanMethod,
    },
    /// Fit a method to a table: scores, and a model for new rows
    #[command(after_help = examples::FIT)]
    Fit {
        #[command(subcommand)]
        method: FitMethod,
    },
    /// Scores of new rows with a saved model
    #[command(after_help = examples::TRANSFORM)]
    Transform(TransformArgs),
    /// Rows from scores, with a saved model
    #[command(after_help = examples::INVERSE)]
    Inverse(InverseArgs),
    /// Rows projected on the components of a saved model and put together again
    #[command(after_help = examples::DENOISE)]
    Denoise(DenoiseArgs),
    /// How unusual rows are to a saved model: T² and squared prediction error
    #[command(after_help = examples::SCORE)]
    Score(ScoreArgs),
    /// How many components, and for a kernel which bandwidth
    #[command(after_help = examples::CHOOSE)]
    Choose {
        #[command(subcommand)]
        method: ChooseMethod,
    },
    /// Pitfalls of a method on data, found and explained
    #[command(after_help = examples::DOCTOR)]
    Doctor {
        #[command(subcommand)]
        question: DoctorQuestion,
    },
    /// Which columns tell what the target is: filters, and searches by rows held out
    #[command(after_help = examples::SELECT)]
    Select {
        #[command(subcommand)]
        method: SelectMethod,
    },
    /// One exact pass: bounds for every component of a model
    #[command(after_help = examples::CERTIFY)]
    Certify(CertifyArgs),
    /// Exact passes from an approximate model until the tolerance holds
    #[command(after_help = examples::REFINE)]
    Refine(RefineArgs),
    /// Show what is in a model file
    #[command(after_help = examples::INSPECT)]
    Inspect(InspectArgs),
    /// Look at a kernel on data: its matrix, eigenvectors, validity and geometry
    #[command(after_help = examples::KERNEL)]
    Kernel {
        #[command(subcommand)]
        question: KernelQuestion,
    },
    /// A picture of a table or of a saved model
    #[command(after_help = examples::PLOT)]
    Plot {
        #[command(subcommand)]
        picture: PlotCommand,
    },
    /// A page in the browser: move a slider and see what becomes of the embedding
    #[command(after_help = examples::EXPLORE)]
    Explore(ExploreArgs),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all of them into a folder
    #[command(hide = true)]
    Man {
        /// Folder for one page per command
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Which table, and how it is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Table to read: CSV, TSV, NPY, NPZ (FILE.npz:MEMBER), Parquet, or a sparse matrix (.npz of scipy.sparse); - is standard input
    #[arg(help_heading = NO_HEADING)]
    pub(crate) data: PathBuf,
    /// Label column, by name or position: kept out of the data, used for colour, carried in front of the scores
    #[arg(long, value_name = "COL")]
    pub(crate) target: Option<String>,
    /// Columns that are data, by name, position from 1 or range: 1-3,width
    #[arg(long, value_name = "LIST")]
    pub(crate) columns: Option<String>,
    /// What to do about missing cells (empty, NA, N/A, NaN, null, ?): refuse, leave the row out, or fill in the mean
    #[arg(long, value_name = "HOW", default_value = "error", value_parser = missing())]
    pub(crate) missing: Missing,
    /// Format of DATA; recognised from its content when not given
    #[arg(long, value_parser = format())]
    pub(crate) format: Option<Format>,
    /// Delimiter of a text table: one character, or tab, space, comma, semicolon; detected when not given
    #[arg(long, value_name = "C", value_parser = values::delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Whether the first line of a text table is a header; auto: if any cell in it is not a number
    #[arg(long, value_name = "WHETHER", default_value = "auto")]
    pub(crate) header: HeaderChoice,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum HeaderChoice {
    Auto,
    Yes,
    No,
}

/// What decides the result and how it is found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct SettingArgs {
    /// Components kept, or auto for as many as 'choose kpca' finds; more than there are input columns is normal
    #[arg(short = 'k', long, value_name = "N|auto", default_value = "2", value_parser = values::component_choice)]
    pub(crate) components: ComponentChoice,
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)", help = kernel::kernels())]
    pub(crate) kernel: KernelSpec,
    /// Relative residual asked for
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = values::tolerance)]
    pub(crate) tol: f64,
    /// Precision of the samples and of the kernel's values, also for tables of single precision
    #[arg(long, default_value = "f64")]
    pub(crate) precision: Precision,
    /// What to do with negative eigenvalues of a kernel that is not positive semi-definite: leave them out, take
    /// their magnitude, or refuse
    #[arg(long, value_name = "HOW", default_value = "clip", value_parser = repair())]
    pub(crate) repair: Indefinite,
    /// Eigensolver
    #[arg(long, default_value = "auto")]
    pub(crate) solver: SolverChoice,
    #[command(flatten)]
    pub(crate) low_rank: LowRankArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// How exact the answer must be.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Low rank")]
pub(crate) struct LowRankArgs {
    /// exact; a number of landmarks or features; auto or auto:SHARE for as many as it takes until the share of the
    /// trace left out (of kernel values on sampled pairs, for random features) is 0.01 or SHARE. When not given: exact
    /// if it fits into memory
    #[arg(long, value_name = "N", value_parser = values::rank)]
    pub(crate) rank: Option<RankChoice>,
    /// Where landmarks or features come from: rows chosen by pivoted Cholesky, uniform rows, k-means++ centers, random
    /// Fourier features, TensorSketch of a polynomial kernel
    #[arg(long, value_name = "HOW", value_parser = approximation())]
    pub(crate) low_rank: Option<Approximation>,
    /// Table of landmarks, with the columns of DATA
    #[arg(long, value_name = "FILE")]
    pub(crate) landmarks: Option<PathBuf>,
}

/// What the machine may spend.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// Memory allowed for samples and work: 4GiB, 500MB, 1.5g or bytes; a share of what is free when not given. A table
    /// that takes more than half of it is read a piece at a time
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
    pub(crate) memory: Option<u64>,
    /// Threads; 0 for all processors. The result does not depend on it
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u16).range(0..=MOST_THREADS))]
    pub(crate) threads: u16,
    /// Seed of every random draw
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    F32,
    F64,
}

impl Precision {
    pub(crate) fn is_single(self) -> bool {
        self == Self::F32
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SolverChoice {
    Auto,
    Dense,
    Davidson,
}

/// How much is said, and in which form.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct SpeechArgs {
    /// Print the account as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing on standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// What a fit writes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct FitOutputArgs {
    /// Where the scores go: .csv, .tsv, .npy, .npz, .parquet, or - for CSV on standard output. When not given: standard
    /// output, or nowhere with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where the model goes (.safetensors)
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// A picture (.svg, .png), may be repeated: FILE or scatter=FILE for the first two coordinates, scree=FILE for the
    /// spectrum, contours=FILE, linear=FILE or curves=FILE for components over the plane, with those of linear PCA beside
    /// them, or pulled back to it (kpca of two data columns), gram=FILE for the kernel matrix (kpca), choice=FILE for the rules (pca
    /// -k auto) or the curve of errors (kpca with auto), whitening=FILE for before and after (whiten), graph=FILE for the graph of neighbours (isomap, laplacian, lle),
    /// canonical=FILE for the views against each other and correlations=FILE (kcca), regularization=FILE for what was tried
    /// (kcca, kda), regions=FILE for classes or clusters over the plane (kda, kkmeans of two data columns)
    #[arg(long, value_name = "FILE", value_parser = values::plot)]
    pub(crate) plot: Vec<PlotRequest>,
    /// A report (.html): one file with the plan, the numbers, pictures to hover over and zoom into, the certificate in
    /// words and this command
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Rows are images of H lines of W pixels: the report shows them so
    #[arg(long, value_name = "HxW", requires = "report", value_parser = values::image)]
    pub(crate) image: Option<ImageSize>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    /// Earlier model of the same columns: signs, and rotations among components that are nearly tied, are matched to it
    #[arg(long, value_name = "MODEL", help_heading = "Method")]
    pub(crate) like: Option<PathBuf>,
    /// Refits on 10 cross-validation folds and keeps out-of-sample T² and SPE in the model file, for the control limits of 'score'. An exact
    /// model of a kernel needs no such file: it holds its samples
    #[arg(long, help_heading = "Method")]
    pub(crate) control_limits: bool,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

/// Where the result of a model goes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ApplyOutputArgs {
    /// Where the result goes: .csv, .tsv, .npy, .npz, .parquet, or - for CSV on standard output. When not given:
    /// standard output, or nowhere with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Threads; 0 for all processors. The result does not depend on it
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Machine",
          value_parser = clap::value_parser!(u16).range(0..=MOST_THREADS))]
    pub(crate) threads: u16,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CertifyArgs {
    /// Model file written by fit
    #[arg(value_name = "MODEL", help_heading = NO_HEADING)]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Where the model with its bounds goes (.safetensors)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,
    /// A picture of the spectrum with its bounds (.svg, .png)
    #[arg(long, value_name = "FILE", value_parser = values::scree_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    /// Threads; 0 for all processors. The result does not depend on it
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Machine",
          value_parser = clap::value_parser!(u16).range(0..=MOST_THREADS))]
    pub(crate) threads: u16,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RefineArgs {
    /// Model file written by fit
    #[arg(value_name = "MODEL", help_heading = NO_HEADING)]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Components kept; those of the model when not given
    #[arg(short = 'k', long, value_name = "N", value_parser = values::components, help_heading = "Method")]
    pub(crate) components: Option<usize>,
    /// Relative residual asked for
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = values::tolerance, help_heading = "Method")]
    pub(crate) tol: f64,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Where the exact model goes (.safetensors)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,
    /// Where the scores go: .csv, .tsv, .npy, .npz, .parquet, or - for CSV on standard output; nowhere when not given
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// A picture of the spectrum with its bounds (.svg, .png)
    #[arg(long, value_name = "FILE", value_parser = values::scree_plot, help_heading = "Output")]
    pub(crate) plot: Vec<PlotRequest>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InspectArgs {
    /// Model file written by fit
    pub(crate) model: PathBuf,
    /// Print everything but the arrays as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DataArgs {
    /// The data set
    #[arg(value_parser = PossibleValuesParser::new(DATA_SETS))]
    pub(crate) name: String,
    /// Where it goes: .csv, .tsv, .npy, .npz, .parquet, or - for CSV on standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
    /// Rows (sets made by formula)
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    /// Standard deviation of the noise (sets made by formula)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// Seed (sets made by formula); 0 when not given
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Say nothing on standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DemoArgs {
    /// Folder to write into; made when it does not exist
    #[arg(long, value_name = "DIR", default_value = "eigenlift-demo")]
    pub(crate) out: PathBuf,
    /// Threads; 0 for all processors. The result does not depend on it
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u16).range(0..=MOST_THREADS))]
    pub(crate) threads: u16,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

fn missing() -> impl TypedValueParser<Value = Missing> {
    PossibleValuesParser::new(["error", "drop", "mean"]).try_map(|text| text.parse::<Missing>())
}

fn approximation() -> impl TypedValueParser<Value = Approximation> {
    let words = ["pivoted", "uniform", "kmeans", "fourier", "tensorsketch"];
    PossibleValuesParser::new(words).try_map(|text| text.parse::<Approximation>())
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["csv", "tsv", "npy", "npz", "parquet"]).try_map(|text| text.parse::<Format>())
}

fn repair() -> impl TypedValueParser<Value = Indefinite> {
    PossibleValuesParser::new(["clip", "flip", "refuse"]).try_map(|text| text.parse::<Indefinite>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_parser_is_consistent() {
        Cli::command().debug_assert();
    }
}
