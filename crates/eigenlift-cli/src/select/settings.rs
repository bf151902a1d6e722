//! From the words of the command line to the settings of a selection.

use super::Table;
use crate::args::{AskedSelection, JudgeArgs, MeasureName, ScorerName};
use crate::exit::Failure;
use crate::input::Groups;
use crate::labels;
use crate::values::FeatureChoice;
use eigenlift::engine::Cpu;
use eigenlift::progress::Watch;
use eigenlift_io::named_places;
use eigenlift_select::{Count, Kind, Kinds, Measure, Scorer, Selection, Split};
use std::sync::Arc;

const FOLDS: usize = 5;
const NEIGHBORS: usize = 5;

/// Refuses flags of a scorer that is not there.
pub(super) fn check(asked: &AskedSelection<'_>) -> Result<(), Failure> {
    let judge = &asked.common.judge;
    let scorer = judge.scorer.unwrap_or(ScorerName::Knn);
    let own = [
        ("--scorer-neighbors", judge.scorer_neighbors.is_some(), ScorerName::Knn, "knn"),
        ("--alpha", judge.alpha.is_some(), ScorerName::Ridge, "ridge"),
        ("--inverse-penalty", judge.inverse_penalty.is_some(), ScorerName::Logistic, "logistic"),
    ];
    match own.iter().find(|(_, given, of, _)| *given && *of != scorer) {
        Some((flag, _, _, name)) => Err(Failure::usage(
            format!("{flag} without --scorer {name}"),
            &format!("it is a setting of {name}"),
            &format!("Add --scorer {name}, or leave {flag} out"),
        )),
        None => check_most(asked),
    }
}

fn check_most(asked: &AskedSelection<'_>) -> Result<(), Failure> {
    match (asked.common.features, asked.most) {
        (FeatureChoice::Exactly(k), Some(most)) => Err(Failure::usage(
            format!("--most {most} with --features {k}"),
            "features are tried up to a number where their number is chosen",
            "Leave one of them out",
        )),
        _ => Ok(()),
    }
}

/// Whether a filter that is told how many features to keep shall be judged on rows held out all the same.
fn asks_for_rows_held_out(judge: &JudgeArgs) -> bool {
    judge.scorer.is_some()
        || judge.scorer_neighbors.is_some()
        || judge.measure.is_some()
        || judge.standardize
        || judge.folds.is_some()
        || judge.unstratified
        || judge.groups.is_some()
        || judge.holdout.is_some()
}

/// The selection that was asked for.
pub(super) fn selection(
    asked: &AskedSelection<'_>,
    table: &Table,
    watch: &Watch,
) -> Result<Selection, Failure> {
    let (args, judge) = (asked.common, &asked.common.judge);
    let mut selection = Selection::new(asked.method)
        .features(match args.features {
            FeatureChoice::Auto => Count::Auto,
            FeatureChoice::Best => Count::Best,
            FeatureChoice::Exactly(k) => Count::Exactly(k),
        })
        .split(split(judge, table))
        .standardize(judge.standardize)
        .permutations(asked.permutations)
        .seed(args.machine.seed)
        .column_names(table.input.account.column_names.clone())
        .engine(Arc::new(Cpu::new(args.machine.threads.into())?))
        .watch(watch.clone());
    if asks_for_rows_held_out(judge) {
        selection = selection.scorer(scorer(judge));
    }
    if let Some(measure) = judge.measure {
        selection = selection.measure(measure_of(measure));
    }
    if let Some(parts) = judge.nested {
        selection = selection.nested(parts);
    }
    if let Some(information) = asked.information {
        let kinds = kinds(&information.discrete, table)?;
        selection = selection.neighbors(information.neighbors).corrected(information.corrected).kinds(kinds);
    }
    if let Some(kernel) = asked.kernel {
        selection = selection.kernel(kernel.clone());
    }
    if let Some(steps) = asked.steps {
        selection = steps.tol.into_iter().fold(selection, Selection::tol);
        selection = steps.patience.into_iter().fold(selection, Selection::patience);
    }
    Ok(asked.most.into_iter().fold(selection, Selection::most))
}

fn scorer(judge: &JudgeArgs) -> Scorer {
    match judge.scorer.unwrap_or(ScorerName::Knn) {
        ScorerName::Knn => Scorer::Knn { n_neighbors: judge.scorer_neighbors.unwrap_or(NEIGHBORS) },
        ScorerName::Lda => Scorer::Lda,
        ScorerName::Ridge => Scorer::Ridge { alpha: judge.alpha.unwrap_or(1.0) },
        ScorerName::Logistic => Scorer::Logistic { c: judge.inverse_penalty.unwrap_or(1.0) },
    }
}

fn measure_of(name: MeasureName) -> Measure {
    match name {
        MeasureName::Accuracy => Measure::Accuracy,
        MeasureName::BalancedAccuracy => Measure::BalancedAccuracy,
        MeasureName::R2 => Measure::R2,
        MeasureName::NegMeanSquaredError => Measure::NegMeanSquaredError,
    }
}

fn split(judge: &JudgeArgs, table: &Table) -> Split {
    let n_folds = judge.folds.unwrap_or(FOLDS);
    match (judge.holdout, &table.groups) {
        (Some(share), _) => Split::Holdout(share),
        (None, Some(groups)) => Split::Grouped { groups: numbers(groups), n_folds },
        (None, None) if judge.unstratified => Split::Unstratified(n_folds),
        (None, None) => Split::Folds(n_folds),
    }
}

/// Groups by number.
fn numbers(groups: &Groups) -> Vec<usize> {
    match groups {
        Groups::Text(values) => labels::numbered(values.iter().map(String::as_str).collect()),
        Groups::Numbers { values, .. } => {
            labels::numbered(values.iter().map(|x| (x + 0.0).to_bits()).collect())
        }
    }
}

/// `auto`, `all`, `none` or a list of columns.
fn kinds(text: &str, table: &Table) -> Result<Kinds, Failure> {
    let account = &table.input.account;
    Ok(match text {
        "auto" => Kinds::Auto,
        "all" => Kinds::All(Kind::Discrete),
        "none" => Kinds::All(Kind::Continuous),
        list => {
            let file = account.path.display().to_string();
            let mut kinds = vec![Kind::Continuous; account.columns];
            for place in named_places(&file, "--discrete", &account.column_names, list)? {
                kinds[place] = Kind::Discrete;
            }
            Kinds::Given(kinds)
        }
    })
}
