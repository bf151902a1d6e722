//! The words of the manifold methods: isomap, mds, laplacian, diffusion, lle.

use super::{FitOutputArgs, InputArgs, MachineArgs, Precision, SpeechArgs};
use crate::values::{self, PlotRequest};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};
use eigenlift::describe::{Description, Kind, Parameter, Settings, Value};
use eigenlift::graph::{Metric, Search};
use eigenlift::methods::manifold::{MANIFOLDS, Manifold};
use std::path::PathBuf;

/// A manifold method as the command line names it.
#[derive(Clone, Debug)]
pub(crate) struct ManifoldArgs {
    pub(crate) method: &'static Manifold,
    pub(crate) settings: Settings,
    /// Table of the edges between the rows.
    pub(crate) graph: Option<PathBuf>,
    /// Table of edges to take out.
    pub(crate) cut: Option<PathBuf>,
    pub(crate) precision: Precision,
    pub(crate) machine: MachineArgs,
}

/// A command about a described method, and what else it can be told.
#[derive(Clone, Debug)]
pub(crate) struct Described<O> {
    pub(crate) input: InputArgs,
    pub(crate) settings: ManifoldArgs,
    pub(crate) output: O,
}

/// What a command says of a method in its help.
pub(crate) trait Verb: Args {
    fn about(method: &Description) -> &'static str;
    fn notes(method: &Description) -> &'static str;
}

impl Verb for FitOutputArgs {
    fn about(method: &Description) -> &'static str {
        method.about
    }

    fn notes(method: &Description) -> &'static str {
        method.fit_notes
    }
}

impl Verb for SpeechArgs {
    fn about(method: &Description) -> &'static str {
        method.about.split(':').next().unwrap_or(method.about)
    }

    fn notes(method: &Description) -> &'static str {
        method.plan_notes
    }
}

/// Precision of the rows, beside what methods are told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
struct PrecisionArgs {
    /// Precision of the rows; distances along a graph are always in double precision
    #[arg(long, default_value = "f64")]
    precision: Precision,
}

/// The flag of a parameter.
fn flag(parameter: &'static Parameter) -> Arg {
    let flag =
        Arg::new(parameter.name).long(parameter.name).help(parameter.doc).help_heading(parameter.heading);
    let flag = flag.value_name(parameter.value).default_value(parameter.default);
    let flag = match parameter.short {
        Some(letter) => flag.short(letter),
        None => flag,
    };
    let flag = flag.conflicts_with_all(parameter.excludes);
    let parsed = move |text: &str| parameter.parse(text);
    match parameter.kind {
        Kind::Flag => flag.action(ArgAction::SetTrue),
        Kind::Pairs => flag.num_args(0..=1).require_equals(true).value_parser(clap::value_parser!(PathBuf)),
        Kind::Graph => flag.value_parser(clap::value_parser!(PathBuf)),
        Kind::Choice(words) => flag.value_parser(PossibleValuesParser::new(words).map(Value::Text)),
        Kind::Number(_) => flag.value_parser(parsed).allow_negative_numbers(true),
        Kind::Components | Kind::Count | Kind::Kernel => flag.value_parser(parsed),
    }
}

/// The value of a parameter, and the file that it names.
fn value(parameter: &Parameter, matches: &ArgMatches) -> (Option<Value>, Option<PathBuf>) {
    let (name, file) = (parameter.name, || matches.get_one::<PathBuf>(parameter.name).cloned());
    match parameter.kind {
        Kind::Flag => (Some(Value::Flag(matches.get_flag(name))), None),
        Kind::Pairs if matches.contains_id(name) => (Some(Value::Pairs(None)), file()),
        Kind::Pairs => (None, None),
        Kind::Graph => (None, file()),
        Kind::Components | Kind::Count | Kind::Number(_) | Kind::Choice(_) | Kind::Kernel => {
            (matches.get_one::<Value>(name).cloned(), None)
        }
    }
}

impl ManifoldArgs {
    fn augmented(method: &'static Manifold, command: Command) -> Command {
        let flags = |parameters: &'static [Parameter]| {
            parameters.iter().filter(|parameter| parameter.heading.is_some()).map(flag)
        };
        let groups = method.description.parameters;
        let (shared, own) = groups.split_at(groups.len().min(1));
        let command = command.args(shared.iter().flat_map(|group| flags(group)));
        let command = MachineArgs::augment_args(PrecisionArgs::augment_args(command));
        command.args(own.iter().flat_map(|group| flags(group)))
    }

    fn read(method: &'static Manifold, matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut given, mut graph, mut cut) = (Vec::new(), None, None);
        for parameter in method.description.parameters().filter(|parameter| parameter.heading.is_some()) {
            let (value, file) = value(parameter, matches);
            given.extend(value.map(|value| (parameter.name.to_string(), value)));
            match parameter.kind {
                Kind::Graph => graph = file,
                Kind::Pairs => cut = file,
                _ => {}
            }
        }
        let settings = method.description.settings(given);
        Ok(Self {
            method,
            settings: settings.map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, error))?,
            graph,
            cut,
            precision: PrecisionArgs::from_arg_matches(matches)?.precision,
            machine: MachineArgs::from_arg_matches(matches)?,
        })
    }
}

impl<O: Verb> Subcommand for Described<O> {
    fn augment_subcommands(command: Command) -> Command {
        MANIFOLDS.into_iter().fold(command, |command, method| {
            let about = &method.description;
            let one = ManifoldArgs::augmented(method, InputArgs::augment_args(Command::new(about.name)));
            // Last, because what is flattened brings words of its own.
            command.subcommand(O::augment_args(one).about(O::about(about)).after_help(O::notes(about)))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        MANIFOLDS.iter().any(|method| method.description.name == name)
    }
}

impl<O: Verb> FromArgMatches for Described<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, matches)| {
            Some((MANIFOLDS.into_iter().find(|method| method.description.name == name)?, matches))
        });
        let (method, matches) = found.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        Ok(Self {
            input: InputArgs::from_arg_matches(matches)?,
            settings: ManifoldArgs::read(method, matches)?,
            output: O::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
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

fn metric_or_given() -> impl TypedValueParser<Value = MetricChoice> {
    PossibleValuesParser::new(Metric::NAMES.into_iter().chain(["precomputed"])).try_map(|text| {
        if text == "precomputed" { Ok(MetricChoice::Precomputed) } else { text.parse().map(MetricChoice::Of) }
    })
}
