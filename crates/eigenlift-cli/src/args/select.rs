//! The words of `eigenlift select`.

use super::{InputArgs, MachineArgs, SpeechArgs, examples};
use crate::values::{self, FeatureChoice, PlotRequest};
use clap::{Args, Subcommand, ValueEnum};
use eigenlift::kernel::KernelSpec;
use eigenlift_select::SelectionMethod;
use std::path::{Path, PathBuf};

/// How features are selected: filters, then searches.
#[derive(Debug, Subcommand)]
pub(crate) enum SelectMethod {
    /// Mutual information of each column with the target
    #[command(after_help = examples::SELECT_MI)]
    Mi(SelectWith<InformationArgs>),
    /// Minimal redundancy, maximal relevance: information about the target less that about columns taken before
    #[command(after_help = examples::SELECT_MRMR)]
    Mrmr(SelectWith<InformationArgs>),
    /// Joint mutual information: what a column tells of the target together with columns taken before
    #[command(after_help = examples::SELECT_JMI)]
    Jmi(SelectWith<InformationArgs>),
    /// F: means of classes that differ, or a linear correlation with numbers
    #[command(after_help = examples::SELECT_F)]
    F(SelectWith<FilterArgs>),
    /// Chi-squared of counts in classes
    #[command(after_help = examples::SELECT_CHI2)]
    Chi2(SelectWith<FilterArgs>),
    /// Kernel dependence of each column and the target
    #[command(after_help = examples::SELECT_HSIC)]
    Hsic(SelectWith<HsicArgs>),
    /// Columns added one at a time: the one that helps a model most on rows held out
    #[command(after_help = examples::SELECT_FORWARD)]
    Forward(SelectWith<SearchArgs>),
    /// Columns taken out one at a time: the one that a model misses least on rows held out
    #[command(after_help = examples::SELECT_BACKWARD)]
    Backward(SelectWith<StepArgs>),
    /// Columns added one at a time, and taken out again where that helps
    #[command(after_help = examples::SELECT_FLOATING)]
    Floating(SelectWith<SearchArgs>),
}

/// A selection with the settings of its method.
#[derive(Args, Clone, Debug)]
pub(crate) struct SelectWith<S: Args> {
    #[command(flatten)]
    pub(crate) common: SelectArgs,
    #[command(flatten)]
    pub(crate) settings: S,
}

/// What every method has.
#[derive(Args, Clone, Debug)]
pub(crate) struct SelectArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Features kept; auto for the fewest whose score on rows held out is within one standard error of the best, best for the best score
    #[arg(long, value_name = "N|auto|best", default_value = "auto", value_parser = values::feature_choice, help_heading = "Method")]
    pub(crate) features: FeatureChoice,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) output: SelectOutputArgs,
}

/// What learns from features, and on which rows it is judged.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Rows held out")]
pub(crate) struct JudgeArgs {
    /// Whether the target is classes or numbers; auto: text, and whole numbers of few different values, are classes
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub(crate) labels: LabelChoice,
    /// What learns from the features: knn, nearest neighbours; lda, linear discriminants (classes); ridge, ridge regression;
    /// logistic, logistic regression (classes). When not given: knn. Filters with --features N hold no rows out unless a
    /// flag of this kind is given
    #[arg(long, value_name = "HOW")]
    pub(crate) scorer: Option<ScorerName>,
    /// Neighbours of knn; 5 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) scorer_neighbors: Option<usize>,
    /// Weight of the squared coefficients of ridge; 1 when not given
    #[arg(long, value_name = "X", value_parser = values::not_negative)]
    pub(crate) alpha: Option<f64>,
    /// One over the weight of the squared coefficients of logistic; 1 when not given
    #[arg(long, value_name = "X", value_parser = values::positive)]
    pub(crate) inverse_penalty: Option<f64>,
    /// How predictions are judged; accuracy for classes and r2 for numbers when not given
    #[arg(long, value_name = "HOW")]
    pub(crate) measure: Option<MeasureName>,
    /// Columns get mean 0 and variance 1, by the rows learned from, before anything learns from them
    #[arg(long)]
    pub(crate) standardize: bool,
    /// Parts of the rows that are held out in turn; 5 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_two)]
    pub(crate) folds: Option<usize>,
    /// Parts are drawn without a look at the classes
    #[arg(long)]
    pub(crate) unstratified: bool,
    /// Column, by name, whose rows of the same value are held out together; it is kept out of the data
    #[arg(long, value_name = "COL", conflicts_with = "unstratified")]
    pub(crate) groups: Option<String>,
    /// Hold out this share of the rows, once, instead of parts in turn
    #[arg(long, value_name = "SHARE", value_parser = values::share, conflicts_with_all = ["folds", "unstratified", "groups"])]
    pub(crate) holdout: Option<f64>,
    /// Select again without each of N parts of the rows and judge on that part: an honest score; 5 parts when N is not given
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5", value_parser = values::at_least_two)]
    pub(crate) nested: Option<usize>,
}

/// What filters of information can be told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct InformationArgs {
    /// Nearest rows that estimates for columns with distances go by
    #[arg(long, value_name = "N", default_value = "3", value_parser = values::at_least_one)]
    pub(crate) neighbors: usize,
    /// Columns whose values are names, equal or not: auto, all, none, or a list by name, position among the data columns or range.
    /// auto: whole numbers of few different values
    #[arg(long, value_name = "auto|all|none|LIST", default_value = "auto")]
    pub(crate) discrete: String,
    /// Correct counts for their bias (Miller and Madow), where column and target are both discrete
    #[arg(long)]
    pub(crate) corrected: bool,
    /// Shuffles of the target, for p-values of each column and of the best of all
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) permutations: usize,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// What all filters can be told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct FilterArgs {
    /// Features tried at most where their number is chosen; 100 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) most: Option<usize>,
    /// Where the score of each column goes, with its error and p-values where there are: .csv, .tsv, .npy, .npz, .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) scores: Option<PathBuf>,
}

/// What kernel dependence can be told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct HsicArgs {
    /// Kernel of a column, as 'fit kpca' takes it
    #[arg(long, value_name = "SPEC", default_value = "rbf(gamma=median)")]
    pub(crate) kernel: KernelSpec,
    /// Shuffles of the target, for p-values of each column and of the best of all
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) permutations: usize,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// What searches from no features can be told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) steps: StepArgs,
    /// Features tried at most where their number is chosen; 100 when not given
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) most: Option<usize>,
}

/// What all searches can be told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Method")]
pub(crate) struct StepArgs {
    /// A step that changes the score by less than this is not taken and ends the search
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = values::finite)]
    pub(crate) tol: Option<f64>,
    /// Steps in a row without a better score after which the search ends (backward: more than one standard error below the
    /// best). When not given: 10 with --features auto, otherwise it goes on to the end
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub(crate) patience: Option<usize>,
    /// Where the search is kept after every step (.json); one that is there already is taken up where it ended
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

/// What a selection writes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct SelectOutputArgs {
    /// Where the reduced table goes: text columns, the target and the columns kept: .csv, .tsv, .npy, .npz, .parquet, or - for
    /// CSV on standard output. When not given: standard output, or nowhere with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where the steps go as a table, for 'plot path': .csv, .tsv, .npy, .npz, .parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,
    /// A picture (.svg, .png): FILE or path=FILE for the score after each step, with the best and the chosen one
    #[arg(long, value_name = "FILE", value_parser = values::path_plot)]
    pub(crate) plot: Vec<PlotRequest>,
    /// A report (.html): one file with what was found, the picture and this command
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speech: SpeechArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelChoice {
    Auto,
    Classes,
    Numbers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScorerName {
    Knn,
    Lda,
    Ridge,
    Logistic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum MeasureName {
    Accuracy,
    BalancedAccuracy,
    R2,
    NegMeanSquaredError,
}

/// A selection as it was asked for, whatever the method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedSelection<'a> {
    pub(crate) method: SelectionMethod,
    pub(crate) common: &'a SelectArgs,
    pub(crate) filter: Option<&'a FilterArgs>,
    pub(crate) information: Option<&'a InformationArgs>,
    pub(crate) kernel: Option<&'a KernelSpec>,
    pub(crate) permutations: usize,
    pub(crate) steps: Option<&'a StepArgs>,
    pub(crate) most: Option<usize>,
}

impl SelectMethod {
    /// What was asked for.
    pub(crate) fn asked(&self) -> AskedSelection<'_> {
        use SelectionMethod as Name;
        match self {
            Self::Mi(args) => args.information(Name::Mi),
            Self::Mrmr(args) => args.information(Name::Mrmr),
            Self::Jmi(args) => args.information(Name::Jmi),
            Self::F(args) => args.filtered(Name::F, &args.settings),
            Self::Chi2(args) => args.filtered(Name::Chi2, &args.settings),
            Self::Hsic(args) => AskedSelection {
                kernel: Some(&args.settings.kernel),
                permutations: args.settings.permutations,
                ..args.filtered(Name::Hsic, &args.settings.filter)
            },
            Self::Forward(args) => args.search(Name::Forward),
            Self::Backward(args) => args.plain(Name::Backward, Some(&args.settings)),
            Self::Floating(args) => args.search(Name::Floating),
        }
    }
}

impl<S: Args> SelectWith<S> {
    fn plain<'a>(&'a self, method: SelectionMethod, steps: Option<&'a StepArgs>) -> AskedSelection<'a> {
        let common = &self.common;
        AskedSelection {
            method,
            common,
            filter: None,
            information: None,
            kernel: None,
            permutations: 0,
            steps,
            most: None,
        }
    }

    fn filtered<'a>(&'a self, method: SelectionMethod, filter: &'a FilterArgs) -> AskedSelection<'a> {
        AskedSelection { filter: Some(filter), most: filter.most, ..self.plain(method, None) }
    }
}

impl SelectWith<InformationArgs> {
    fn information(&self, method: SelectionMethod) -> AskedSelection<'_> {
        let settings = &self.settings;
        AskedSelection {
            information: Some(settings),
            permutations: settings.permutations,
            ..self.filtered(method, &settings.filter)
        }
    }
}

impl SelectWith<SearchArgs> {
    fn search(&self, method: SelectionMethod) -> AskedSelection<'_> {
        AskedSelection { most: self.settings.most, ..self.plain(method, Some(&self.settings.steps)) }
    }
}

impl<'a> AskedSelection<'a> {
    /// Where the scores of a filter go.
    pub(crate) fn scores(&self) -> Option<&'a Path> {
        self.filter.and_then(|filter| filter.scores.as_deref())
    }

    /// Where a search is kept.
    pub(crate) fn resume(&self) -> Option<&'a Path> {
        self.steps.and_then(|steps| steps.resume.as_deref())
    }
}
