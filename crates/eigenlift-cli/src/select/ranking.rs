//! The ranking of a filter and the path of a search as aligned tables.

use super::found::{Found, error};
use super::trail::{filter_label, is_univariate, order};
use crate::words::{aligned_with_text, short};

/// Lines shown; all of them are in the tables on file and in the JSON form.
const SHOWN: usize = 30;

/// The steps with their scores.
pub(super) fn of_search(found: &Found<'_>) -> String {
    let points = &found.trail.points;
    let spread = points.iter().any(|point| point.spread.is_some());
    let row = |(at, point): (usize, &super::trail::Point)| {
        let mut cells = vec![point.told(), point.n_features.to_string(), short(point.score)];
        cells.extend(spread.then(|| point.spread.map_or(String::new(), error)));
        cells.push(mark(found, at));
        cells
    };
    let rows: Vec<Vec<String>> = points.iter().enumerate().take(SHOWN).map(row).collect();
    let mut heading = vec!["step", "features", found.trail.label.as_str()];
    heading.extend(spread.then_some("standard error"));
    heading.push("");
    let last = heading.len() - 1;
    aligned_with_text(&heading, &rows, &[0, last]) + &rest(points.len(), "--path")
}

/// What is remarkable about a step.
fn mark(found: &Found<'_>, at: usize) -> String {
    let trail = &found.trail;
    let marks = [(trail.chosen, "chosen"), (trail.best, "best")];
    let own: Vec<&str> =
        marks.iter().filter(|(place, _)| *place == Some(at)).map(|(_, word)| *word).collect();
    own.join(", ")
}

/// Features in the order of a filter, with what it says of each.
pub(super) fn of_filter(found: &Found<'_>) -> String {
    let report = &found.report;
    let places = order(report);
    let own = |j: usize| report.scores.get(j).copied().unwrap_or_default();
    let any = |f: &dyn Fn(usize) -> bool| places.iter().any(|place| f(place.feature));
    let errors = places.iter().any(|place| place.error.is_some());
    let (p, family) = (any(&|j| own(j).p_value.is_some()), any(&|j| own(j).family_p_value.is_some()));
    let judged = found.trail.judged;
    let spread = judged && found.trail.points.iter().any(|point| point.spread.is_some());
    let number = |x: Option<f64>| x.map_or(String::new(), short);
    let row = |(at, place): (usize, &super::trail::Place)| {
        let score = own(place.feature);
        let mut cells = vec![(at + 1).to_string(), found.names[place.feature].clone(), short(place.value)];
        cells.extend(errors.then(|| place.error.map_or(String::new(), error)));
        cells.extend(p.then(|| number(score.p_value)));
        cells.extend(family.then(|| number(score.family_p_value)));
        let point = found.trail.points.get(at).filter(|_| judged);
        cells.extend(judged.then(|| number(point.map(|point| point.score))));
        cells.extend(spread.then(|| point.and_then(|point| point.spread).map_or(String::new(), error)));
        let kept = report.selected.contains(&place.feature);
        let best = if found.trail.best == Some(at) { "best" } else { "" };
        cells.push([if kept { "kept" } else { "" }, best].join(" ").trim().to_owned());
        cells
    };
    let rows: Vec<Vec<String>> = places.iter().enumerate().take(SHOWN).map(row).collect();
    let mut heading = vec!["rank", "feature", filter_label(report.method)];
    heading.extend(errors.then_some("standard error"));
    // Why: mRMR and JMI value a feature beside those before it; p-values are those of its information alone.
    heading.extend(p.then_some(if is_univariate(report.method) { "p" } else { "p (mi alone)" }));
    heading.extend(family.then_some("p of all"));
    heading.extend(judged.then_some(found.trail.label.as_str()));
    heading.extend(spread.then_some("standard error"));
    heading.push("");
    let last = heading.len() - 1;
    aligned_with_text(&heading, &rows, &[1, last]) + &rest(report.n_features, "--scores")
}

fn rest(n: usize, flag: &str) -> String {
    match n.checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("\n  … and {more} more (all of them with {flag} FILE)"),
        _ => String::new(),
    }
}
