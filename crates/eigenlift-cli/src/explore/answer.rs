//! What the page is shown of a fit.

use super::bench::Fit;
use super::tables::{Opened, shown_target};
use crate::args::EigenTable;
use crate::exit::Failure;
use crate::kernel::Tables;
use crate::model::{Drawn, Model};
use crate::pairwise::{Square, square};
use crate::report::{named_columns, quoted};
use crate::values::PlotKind;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::model::Lift;
use eigenlift::progress::Watch;
use eigenlift_explorer::Problem;
use eigenlift_plot::web::base64;
use serde_json::{Value, json};

/// Tables of every step are shown for at most so many rows.
const MOST_STEP_ROWS: usize = 12;
/// The kernel matrix is drawn for at most so many rows.
const MOST_GRAM_ROWS: usize = 400;

/// Numbers in single precision, as text.
pub(super) fn floats(values: impl Iterator<Item = f64>) -> String {
    base64(&values.flat_map(|x| (x as f32).to_le_bytes()).collect::<Vec<u8>>())
}

/// Everything that the page shows of a fit.
pub(super) fn of(fit: &Fit, args: &[String], seconds: f64) -> Result<Value, Failure> {
    let model = &*fit.model;
    let found = model.found()?;
    let method = model.fitted().method();
    let drawn = Drawn::of(model, &fit.scores);
    let scores = &*drawn.values;
    Ok(json!({
        "method": method,
        "rows": scores.n_rows(),
        "components": scores.n_cols(),
        "size": model.size(),
        "names": drawn.names,
        "axes": drawn.axes,
        "scores": floats(scores.as_slice().iter().copied()),
        "labels": fit.labels.as_ref().map(shown_target),
        "shows_labels": model.shows_labels(),
        "equal": model.keeps_distances(),
        "plan": model.plan(),
        "words": model.words(),
        "warnings": model.warnings(),
        "command": command(&fit.table, args),
        "seconds": seconds,
        "eigenvalues": found.get("eigenvalues"),
        "shares": model.shares(),
        "figures": kinds(fit).into_iter().map(named).collect::<Vec<_>>(),
        "can_invert": can_invert(model),
        "steps": steps(&fit.table, model)?,
    }))
}

/// The command line that gives the same scores.
pub(super) fn command(table: &Opened, args: &[String]) -> String {
    let mut words = vec!["eigenlift".to_string(), "fit".into()];
    words.extend(args.first().cloned());
    words.extend(table.words.iter().cloned());
    words.extend(args.iter().skip(1).cloned());
    words.extend(["--out".into(), "scores.csv".into()]);
    let fit = quoted(words);
    match &table.made_by {
        Some(made_by) => format!("{} && {fit}", quoted(made_by.iter().cloned())),
        None => fit,
    }
}

/// Whether there is a way back from scores: of linear methods always, of kernel PCA where rows are there to start from.
fn can_invert(model: &dyn Model) -> bool {
    match model.kernel_pca() {
        Some(model) => match model.projection().lift {
            Lift::Kernel { .. } => true,
            Lift::Features { .. } => model.plan().approximation.is_none(),
            _ => false,
        },
        None => matches!(model.fitted().method(), "pca" | "whiten"),
    }
}

/// Pictures of a fit; each is drawn when it is looked at.
fn kinds(fit: &Fit) -> Vec<PlotKind> {
    let mut kinds = fit.model.pictures(true);
    let has_rows = |model: &FittedKernelPca| !matches!(model.projection().lift, Lift::Precomputed { .. });
    if fit.model.kernel_pca().is_some_and(has_rows) && fit.scores.n_rows() <= MOST_GRAM_ROWS {
        kinds.push(PlotKind::Gram);
    }
    kinds
}

fn named(kind: PlotKind) -> Value {
    json!({"name": kind.name(), "title": kind.caption()})
}

/// A picture of a fit.
pub(super) fn figure(fit: &Fit, name: &str) -> Result<Value, Problem> {
    let kind = kinds(fit).into_iter().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| Problem::Missing(format!("this fit has no picture {name:?}.")))?;
    let shown = fit.shown();
    let drawn = fit.model.draw(kind, &shown, "").map_err(|failure| Problem::Request(failure.to_string()))?;
    Ok(json!({"name": name, "title": kind.caption(), "svg": drawn.to_svg()}))
}

/// K, K̃, eigenvalues, β, α and scores of few rows.
fn steps(table: &Opened, model: &dyn Model) -> Result<Option<Vec<Value>>, Failure> {
    let Some(model) = model.kernel_pca().filter(|model| model.n_samples() <= MOST_STEP_ROWS) else {
        return Ok(None);
    };
    let x = table.samples.points().to_dense::<f64>();
    let n = x.n_rows();
    let spec: KernelSpec = model.plan().kernel.parse()?;
    let watch = Watch::default();
    let rows: Vec<String> = (1..=n).map(|i| format!("row{i}")).collect();
    let mut steps =
        vec![step("X", "the rows as they are", &named_columns(&table.account.column_names, x.n_cols()), &x)];
    for (title, note, which) in [
        ("K", "the kernel between all pairs of rows", Square::Gram),
        ("K̃", "the same, centred: K − NK − KN + NKN with N = 1/n everywhere", Square::Centered),
    ] {
        let (_, matrix) = square(which, &spec, &x, 0, &watch)?;
        steps.push(step(title, note, &rows, &matrix));
    }
    let whole = in_full(&spec, &x, n)?;
    let tables = Tables { model: &whole };
    for (title, what) in [
        ("eigenvalues", EigenTable::Values),
        ("β", EigenTable::Beta),
        ("α", EigenTable::Alpha),
        ("scores", EigenTable::Scores),
    ] {
        let (note, names, numbers) = tables.table(what)?;
        steps.push(step(title, note, &names, &numbers));
    }
    Ok(Some(steps))
}

/// All components, by the kernel matrix itself, as the steps go.
fn in_full(spec: &KernelSpec, x: &Matrix<f64>, n: usize) -> Result<FittedKernelPca, Failure> {
    let settings = KernelPca::new(n.saturating_sub(1).max(1)).kernel(spec.clone());
    Ok(settings.by_gram_matrix().exact().fit(x.clone())?)
}

fn step(title: &str, note: &str, columns: &[String], numbers: &Matrix<f64>) -> Value {
    let rows: Vec<&[f64]> = (0..numbers.n_rows()).map(|i| numbers.row(i)).collect();
    json!({"title": title, "note": note, "columns": columns, "rows": rows})
}
