//! The tables of a selection: columns kept, scores of a filter, steps.

use super::Table;
use super::found::Found;
use super::trail::{Point, order};
use crate::exit::Failure;
use crate::input::Groups;
use crate::outputs;
use crate::table::Carried;
use eigenlift::matrix::Matrix;
use eigenlift_io::TextColumn;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The columns kept, in the order of the table, with what is carried in front of them. Groups that are numbers stay in their place.
pub(super) fn write_reduced(path: &Path, table: &Table, selected: &[usize]) -> Result<(), Failure> {
    let names = &table.input.account.column_names;
    let mut places = selected.to_vec();
    places.sort_unstable();
    let rows = table.samples.points().to_dense::<f64>();
    let column = |j: &usize| (names[*j].clone(), rows.column(*j));
    let mut columns: Vec<(String, Vec<f64>)> = places.iter().map(column).collect();
    if let Some(Groups::Numbers { name, at, values }) = &table.groups {
        let place = places.partition_point(|j| j < at);
        columns.insert(place, (name.clone(), values.clone()));
    }
    let (names, columns): (Vec<String>, Vec<Vec<f64>>) = columns.into_iter().unzip();
    let kept = Matrix::from_fn(rows.n_rows(), columns.len(), |i, j| columns[j][i]);
    outputs::write_scores(path, &table.input.carried, names, &kept)
}

/// What a filter says of each column, in the order of the table.
pub(super) fn write_scores(path: &Path, found: &Found<'_>) -> Result<(), Failure> {
    let report = &found.report;
    let n = report.scores.len();
    let ranked = order(report);
    let ranks: HashMap<usize, usize> =
        ranked.iter().enumerate().map(|(at, place)| (place.feature, at)).collect();
    let rank = |j: usize| ranks.get(&j).map(|at| *at as f64 + 1.0);
    let selected: HashSet<usize> = report.selected.iter().copied().collect();
    let kept = |j: usize| Some(f64::from(u8::from(selected.contains(&j))));
    let own = |f: &dyn Fn(usize) -> Option<f64>| (0..n).map(f).collect::<Vec<_>>();
    let columns = [
        ("score", own(&|j| Some(report.scores[j].value))),
        ("error", own(&|j| report.scores[j].error)),
        ("p_value", own(&|j| report.scores[j].p_value)),
        ("family_p_value", own(&|j| report.scores[j].family_p_value)),
        ("rank", own(&rank)),
        ("kept", own(&kept)),
    ];
    write(path, vec![text("feature", found.names.clone())], &columns)
}

/// The steps in their order, for 'plot path'.
pub(super) fn write_path(path: &Path, found: &Found<'_>) -> Result<(), Failure> {
    let trail = &found.trail;
    let all = |f: &dyn Fn(usize, &Point) -> Option<f64>| {
        trail.points.iter().enumerate().map(|(at, point)| f(at, point)).collect::<Vec<_>>()
    };
    let marked = |place: Option<usize>, at: usize| Some(f64::from(u8::from(place == Some(at))));
    let columns = [
        ("score", all(&|_, point| Some(point.score))),
        ("spread", all(&|_, point| point.spread)),
        ("step", all(&|at, _| Some(at as f64 + 1.0))),
        ("n_features", all(&|_, point| Some(point.n_features as f64))),
        ("value", all(&|_, point| point.value.filter(|_| trail.judged))),
        ("best", all(&|at, _| marked(trail.best, at))),
        ("chosen", all(&|at, _| marked(trail.chosen, at))),
    ];
    let features = trail.points.iter().map(|point| point.name.clone()).collect();
    let actions = trail.points.iter().map(|point| point.action.name().to_owned()).collect();
    write(path, vec![text("feature", features), text("action", actions)], &columns)
}

fn text(name: &str, values: Vec<String>) -> TextColumn {
    TextColumn { name: name.into(), position: 0, values }
}

/// Columns of which nothing is known are left out.
fn write(path: &Path, text: Vec<TextColumn>, columns: &[(&str, Vec<Option<f64>>)]) -> Result<(), Failure> {
    let n_rows = text.first().map_or(0, |column| column.values.len());
    let known: Vec<&(&str, Vec<Option<f64>>)> =
        columns.iter().filter(|(_, values)| values.iter().any(Option::is_some)).collect();
    let names = known.iter().map(|(name, _)| (*name).to_owned()).collect();
    let value = |i: usize, j: usize| known[j].1.get(i).copied().flatten().unwrap_or(f64::NAN);
    let values = Matrix::from_fn(n_rows, known.len(), value);
    outputs::write_scores(path, &Carried { text, target: None }, names, &values)
}
