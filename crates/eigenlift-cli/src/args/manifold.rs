//! The words of the manifold methods: isomap, mds, laplacian, diffusion, lle.

use super::{FitOutputArgs, InputArgs, MachineArgs, Precision, SpeechArgs};
use crate::values::{self, PlotRequest};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eigenlift::graph::{Metric, NeighborSearch, Reach, Search};
use eigenlift::kernel::KernelSpec;
use eigenlift::methods::manifold::{Disconnected, LleVariant};
use std::path::PathBuf;

/// What every one of them has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct ManifoldArgs {
    /// Coordinates kept
    #[arg(short = 'k', long, value_name = "N", default_value = "2", value_parser = values::components)]
    pub(crate) components: usize,
    /// Relative residual asked of an iteration
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = values::tolerance)]
    pub(crate) tol: f64,
    /// Precision of the rows; distances along a graph are always in double precision
    #[arg(long, default_value = "f64")]
    pub(crate) precision: Precision,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Which rows count as neighbours.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Neighbours")]
pub(crate) struct NeighborhoodArgs {
    /// Join each row to so many nearest neighbours
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::at_least_one, conflicts_with = "radius")]
    pub(crate) neighbors: usize,
    /// Join rows that are no farther apart than this, instead of a number of neighbours
    #[arg(long, value_name = "R", value_parser = values::positive, allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
    /// How neighbors are found, exactly in any case: by all distances (brute) or by a tree
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) search: SearchChoice,
}

impl NeighborhoodArgs {
    /// The search that these words stand for.
    pub(crate) fn search(&self) -> NeighborSearch {
        let reach = self.radius.map_or(Reach::Nearest(self.neighbors), Reach::Within);
        NeighborSearch { reach, how: self.search.into() }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SearchChoice {
    Auto,
    Brute,
    Tree,
}

impl From<SearchChoice> for Search {
    fn from(choice: SearchChoice) -> Self {
        match choice {
            SearchChoice::Auto => Self::Auto,
            SearchChoice::Brute => Self::Brute,
            SearchChoice::Tree => Self::Tree,
        }
    }
}

/// Distances between rows, or DATA that are distances already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricChoice {
    Of(Metric),
    Precomputed,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct IsomapArgs {
    #[command(flatten)]
    pub(crate) common: ManifoldArgs,
    #[command(flatten)]
    pub(crate) neighborhood: NeighborhoodArgs,
    /// Distance between rows; precomputed: DATA is the n × n matrix of distances
    #[arg(long, default_value = "euclidean", value_parser = metric_or_given(), help_heading = "Neighbours")]
    pub(crate) metric: MetricChoice,
    /// Use this graph instead of neighbours: a table with the columns from, to and length, rows of DATA counted from 1
    #[arg(long, value_name = "FILE", help_heading = "Neighbours")]
    pub(crate) graph: Option<PathBuf>,
    /// Take edges out of the graph first: those that look like short circuits, or those in FILE (columns from and to, as
    /// doctor --edges writes them)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Neighbours")]
    pub(crate) cut: Option<Option<PathBuf>>,
    /// What becomes of a graph in several pieces: join them by the shortest bridges, embed each separately, embed the
    /// largest and place the other rows by their nearest rows in it, or refuse
    #[arg(long, value_name = "HOW", default_value = "bridge", value_parser = disconnected(), help_heading = "Neighbours")]
    pub(crate) disconnected: Disconnected,
    /// Shortest paths from every row, whatever their number: n² distances
    #[arg(long, conflicts_with = "landmarks", help_heading = "Method")]
    pub(crate) exact: bool,
    /// Shortest paths from so many landmarks only; chosen by rows and memory when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    pub(crate) landmarks: Option<usize>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct MdsArgs {
    #[command(flatten)]
    pub(crate) common: ManifoldArgs,
    /// Distance between rows; precomputed: DATA is the n × n matrix of distances
    #[arg(long, default_value = "euclidean", value_parser = metric_or_given(), help_heading = "Method")]
    pub(crate) metric: MetricChoice,
    /// Scale so many rows only and place the others by their distances to them; chosen by rows and memory when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    pub(crate) landmarks: Option<usize>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct LaplacianArgs {
    #[command(flatten)]
    pub(crate) common: ManifoldArgs,
    #[command(flatten)]
    pub(crate) neighborhood: NeighborhoodArgs,
    /// Distance between rows; precomputed: DATA is the n × n matrix of distances
    #[arg(long, default_value = "euclidean", value_parser = metric_or_given(), help_heading = "Neighbours")]
    pub(crate) metric: MetricChoice,
    /// Weigh neighbours at the distance d by exp(−GAMMA d²); all weigh the same when not given
    #[arg(long, value_name = "GAMMA", value_parser = values::positive, allow_negative_numbers = true,
          help_heading = "Method")]
    pub(crate) heat: Option<f64>,
    /// Weigh all pairs of rows by a kernel instead of neighbours; precomputed: DATA is the n × n matrix of weights
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["heat", "neighbors", "radius", "search", "metric"],
          help_heading = "Method")]
    pub(crate) kernel: Option<KernelSpec>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct DiffusionArgs {
    #[command(flatten)]
    pub(crate) common: ManifoldArgs,
    /// Kernel that says how likely a step between two rows is; its values must not be negative
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)", help_heading = "Method")]
    pub(crate) kernel: KernelSpec,
    /// How far the density of the rows is taken out: 1 leaves the shape alone, 0 keeps the density
    #[arg(long, value_name = "A", default_value = "1", value_parser = values::finite, allow_negative_numbers = true,
          help_heading = "Method")]
    pub(crate) alpha: f64,
    /// Steps of the walk; coordinates are scaled by the eigenvalue to this power
    #[arg(long, value_name = "T", default_value = "1", value_parser = values::not_negative, allow_negative_numbers = true,
          help_heading = "Method")]
    pub(crate) time: f64,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct LleArgs {
    #[command(flatten)]
    pub(crate) common: ManifoldArgs,
    /// Describe each row by so many nearest neighbours
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::at_least_one, help_heading = "Neighbours")]
    pub(crate) neighbors: usize,
    /// How neighbors are found, exactly in any case: by all distances (brute) or by a tree
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = "Neighbours")]
    pub(crate) search: SearchChoice,
    /// Distance by which neighbours are chosen
    #[arg(long, default_value = "euclidean", value_parser = metric(), help_heading = "Neighbours")]
    pub(crate) metric: Metric,
    /// What is kept of each neighbourhood: weights that give the row (standard), several such weights (modified), second
    /// derivatives of zero (hessian), tangent coordinates (ltsa)
    #[arg(long, value_name = "WHICH", default_value = "standard", value_parser = variant(), help_heading = "Method")]
    pub(crate) variant: LleVariant,
    /// Added to the products within a neighbourhood, relative to their trace
    #[arg(long, value_name = "R", default_value = "1e-3", value_parser = values::positive, allow_negative_numbers = true,
          help_heading = "Method")]
    pub(crate) ridge: f64,
}

/// `fit` of a method with these settings.
#[derive(Args, Clone, Debug)]
pub(crate) struct FitWith<S: Args> {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: S,
    #[command(flatten)]
    pub(crate) output: FitOutputArgs,
}

/// `plan` of a method with these settings.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlanWith<S: Args> {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: S,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorIsomapArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Coordinates of the embedding that is judged
    #[arg(short = 'k', long, value_name = "N", default_value = "2", value_parser = values::components,
          help_heading = "Method")]
    pub(crate) components: usize,
    /// Neighbours of the graph that is searched for short circuits; as many as are recommended when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    pub(crate) neighbors: Option<usize>,
    /// Distance between rows; precomputed: DATA is the n × n matrix of distances
    #[arg(long, default_value = "euclidean", value_parser = metric_or_given(), help_heading = "Method")]
    pub(crate) metric: MetricChoice,
    /// How neighbours are found: all distances (brute) and trees are exact
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = "Method")]
    pub(crate) search: SearchChoice,
    /// Say what changes without the edges that look like short circuits
    #[arg(long, help_heading = "Method")]
    pub(crate) cut: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Where the edges that look like short circuits go, for fit isomap --cut=FILE: .csv, .tsv, .npz, .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) edges: Option<PathBuf>,
    /// A picture of the numbers of neighbours tried (.svg, .png)
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = values::doctor_plot)]
    pub(crate) plot: Vec<PlotRequest>,
    /// A report (.html): one file with what was found, the pictures and this command
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

fn metric() -> impl TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::names()).try_map(|text| text.parse::<Metric>())
}

fn metric_or_given() -> impl TypedValueParser<Value = MetricChoice> {
    PossibleValuesParser::new(Metric::names().into_iter().chain(["precomputed"])).try_map(|text| {
        if text == "precomputed" { Ok(MetricChoice::Precomputed) } else { text.parse().map(MetricChoice::Of) }
    })
}

fn disconnected() -> impl TypedValueParser<Value = Disconnected> {
    PossibleValuesParser::new(Disconnected::names()).try_map(|text| text.parse::<Disconnected>())
}

fn variant() -> impl TypedValueParser<Value = LleVariant> {
    PossibleValuesParser::new(LleVariant::names()).try_map(|text| text.parse::<LleVariant>())
}
