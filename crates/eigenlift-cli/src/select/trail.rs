//! The steps of a selection as tables and pictures show them.

use crate::figures::step_name;
use eigenlift_select::{Measure, SelectionMethod, SelectionReport, Subset};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// All features are there.
    Start,
    Added,
    Removed,
}

impl Action {
    /// Its word in a table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// A step, and what is known after it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The feature; of a start, that it is all of them.
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) n_features: usize,
    pub(super) score: f64,
    pub(super) spread: Option<f64>,
    /// What a filter took the feature for.
    pub(super) value: Option<f64>,
}

impl Point {
    /// The feature, with a minus where it was taken out.
    pub(super) fn told(&self) -> String {
        step_name(&self.name, self.action == Action::Removed)
    }
}

/// The steps, scored on rows held out, or by the filter where none were.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    pub(super) points: Vec<Point>,
    pub(super) best: Option<usize>,
    pub(super) chosen: Option<usize>,
    /// What the scores are.
    pub(super) label: String,
    /// Whether rows were held out.
    pub(super) judged: bool,
}

impl Trail {
    pub(super) fn of(report: &SelectionReport, names: &[String]) -> Self {
        if report.subsets.is_empty() {
            Self::of_values(report, names)
        } else {
            Self::of_scores(report, names)
        }
    }

    /// What a filter says of the features, the best first.
    fn of_values(report: &SelectionReport, names: &[String]) -> Self {
        let point = |(at, place): (usize, &Place)| Point {
            name: names[place.feature].clone(),
            action: Action::Added,
            n_features: at + 1,
            score: place.value,
            spread: place.error,
            value: Some(place.value),
        };
        Self {
            points: order(report).iter().enumerate().map(point).collect(),
            best: None,
            chosen: report.selected.len().checked_sub(1),
            label: filter_label(report.method).into(),
            judged: false,
        }
    }

    fn of_scores(report: &SelectionReport, names: &[String]) -> Self {
        let mut points: Vec<Point> = start(report).into_iter().collect();
        points.extend(report.steps.iter().map(|step| Point {
            name: names[step.feature].clone(),
            action: if step.added { Action::Added } else { Action::Removed },
            n_features: step.n_features,
            score: step.score.unwrap_or(f64::NAN),
            spread: step.spread,
            value: step.value,
        }));
        let place = |at: Option<usize>| {
            let subset: &Subset = report.subsets.get(at?)?;
            let is_it =
                |point: &Point| point.n_features == subset.features.len() && point.score == subset.score;
            points.iter().position(is_it)
        };
        let (best, chosen) = (place(report.best), place(report.chosen));
        let label = report.measure.map_or("score", measure_label).into();
        Self { points, best, chosen, label, judged: true }
    }
}

/// All features, where a search begins with them.
fn start(report: &SelectionReport) -> Option<Point> {
    let subset = report.subsets.last().filter(|_| report.method == SelectionMethod::Backward)?;
    (subset.features.len() == report.n_features).then(|| Point {
        name: "all features".into(),
        action: Action::Start,
        n_features: report.n_features,
        score: subset.score,
        spread: subset.spread,
        value: None,
    })
}

/// A feature as a filter ranks it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) feature: usize,
    /// What it was taken for.
    pub(super) value: f64,
    pub(super) error: Option<f64>,
}

/// Whether each feature is ranked by its own score.
pub(super) fn is_univariate(method: SelectionMethod) -> bool {
    !matches!(method, SelectionMethod::Mrmr | SelectionMethod::Jmi)
}

/// Features in the order of a filter: those it ranked, then the others where their own scores tell.
pub(super) fn order(report: &SelectionReport) -> Vec<Place> {
    let own = |feature: usize| report.scores.get(feature);
    let univariate = is_univariate(report.method);
    let ranked = report.steps.iter().map(|step| Place {
        feature: step.feature,
        value: step.value.unwrap_or(f64::NAN),
        error: own(step.feature).and_then(|score| score.error).filter(|_| univariate),
    });
    let mut places: Vec<Place> = ranked.collect();
    if univariate {
        let mut rest: Vec<usize> =
            (0..report.scores.len()).filter(|j| places.iter().all(|place| place.feature != *j)).collect();
        let value = |j: usize| own(j).map_or(f64::NAN, |score| score.value);
        rest.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
        let place = |feature: usize| Place {
            feature,
            value: value(feature),
            error: own(feature).and_then(|score| score.error),
        };
        places.extend(rest.into_iter().map(place));
    }
    places
}

/// What a filter goes by.
pub(super) fn filter_label(method: SelectionMethod) -> &'static str {
    match method {
        SelectionMethod::Mi => "mutual information (nats)",
        SelectionMethod::Mrmr => "relevance less redundancy (nats)",
        SelectionMethod::Jmi => "joint mutual information (nats)",
        SelectionMethod::F => "F",
        SelectionMethod::Chi2 => "χ²",
        SelectionMethod::Hsic => "kernel dependence",
        _ => "score",
    }
}

/// How predictions are judged, in words.
pub(super) fn measure_label(measure: Measure) -> &'static str {
    match measure {
        Measure::Accuracy => "accuracy",
        Measure::BalancedAccuracy => "balanced accuracy",
        Measure::R2 => "R²",
        Measure::NegMeanSquaredError => "less the mean squared error",
    }
}
