//! `eigenlift plot`: pictures of tables and models that are there already.

use crate::account;
use crate::args::{
    InputArgs, PictureArgs, PlotCommand, PlotModelArgs, PlotPathArgs, PlotRowsArgs, PlotScatterArgs,
    Precision,
};
use crate::exit::Failure;
use crate::figures::{Shown, colored, save, step_name};
use crate::input::Input;
use crate::interrupt::Session;
use crate::method;
use crate::model::Model;
use crate::outputs::{self, Kind, Wanted, Written, title};
use crate::saved;
use crate::table::list;
use crate::values::PlotKind;
use crate::words::{Words, counted};
use eigenlift::matrix::Matrix;
use eigenlift_plot::{Figure, PathPicture, PathStep, Scatter, scatter, selection_path};
use std::path::Path;

/// Draws one picture.
pub(crate) fn run(command: &PlotCommand, session: &Session) -> Result<(), Failure> {
    match command {
        PlotCommand::Scatter(args) => draw_table(args),
        PlotCommand::Scores(args) => draw_rows(args, PlotKind::Scatter, session),
        PlotCommand::Whitening(args) => draw_rows(args, PlotKind::Whitening, session),
        PlotCommand::Canonical(args) => draw_rows(args, PlotKind::Canonical, session),
        PlotCommand::Regions(args) => draw_rows(args, PlotKind::Regions, session),
        PlotCommand::Correlations(args) => draw_model(args, PlotKind::Correlations),
        PlotCommand::Regularization(args) => draw_model(args, PlotKind::Regularization),
        PlotCommand::Scree(args) => draw_model(args, PlotKind::Scree),
        PlotCommand::Contours(args) => draw_model(args, PlotKind::Contours),
        PlotCommand::Linear(args) => draw_model(args, PlotKind::Linear),
        PlotCommand::Curves(args) => draw_model(args, PlotKind::Curves),
        PlotCommand::Gram(args) => draw_model(args, PlotKind::Gram),
        PlotCommand::Path(args) => draw_path(args),
    }
}

fn check(inputs: &[&Path], picture: &PictureArgs) -> Result<(), Failure> {
    outputs::check(inputs, &[Wanted { flag: "--out", path: &picture.out, kind: Kind::Picture }])
}

fn titled(picture: &PictureArgs, otherwise: &str, path: &Path) -> String {
    picture.title.clone().unwrap_or_else(|| title(otherwise, path))
}

/// Writes the picture and says so.
fn finish(figure: &Figure, picture: &PictureArgs, what: &'static str) -> Result<(), Failure> {
    save(figure, &picture.out)?;
    account::say_files(&[Written { path: picture.out.clone(), what }], Words::new(picture.quiet));
    Ok(())
}

fn read(input: &InputArgs, picture: &PictureArgs) -> Result<Input, Failure> {
    let read = Input::read(input)?;
    read.account.say(Words::new(picture.quiet));
    Ok(read)
}

/// The place of a column of a table, by name or by position from 1.
fn column(input: &Input, flag: &str, name: Option<&str>, otherwise: usize) -> Result<usize, Failure> {
    let names = &input.account.column_names;
    let Some(wanted) = name else { return Ok(otherwise) };
    let by_name = names.iter().position(|name| name == wanted);
    let by_position =
        || wanted.parse::<usize>().ok().filter(|at| (1..=names.len()).contains(at)).map(|at| at - 1);
    by_name.or_else(by_position).ok_or_else(|| {
        Failure::usage(
            format!("{flag} {wanted}"),
            &format!("a data column is required: {}", list(names)),
            "Name one of them, or its position from 1",
        )
    })
}

fn draw_table(args: &PlotScatterArgs) -> Result<(), Failure> {
    check(&[&args.input.data], &args.picture)?;
    let mut input = read(&args.input, &args.picture)?;
    let names = input.account.column_names.clone();
    let last = input.account.columns.saturating_sub(1);
    let (x, y) = (
        column(&input, "--x", args.x.as_deref(), 0)?,
        column(&input, "--y", args.y.as_deref(), 1.min(last))?,
    );
    let rows = input.take_samples(Precision::F64)?.points().to_dense::<f64>();
    let label = |at: usize| names.get(at).cloned().unwrap_or_else(|| format!("column {}", at + 1));
    let figure = colored(input.carried.target.as_ref(), |color| {
        Ok(scatter(&Scatter {
            x: &rows.column(x),
            y: &rows.column(y),
            color,
            title: &titled(&args.picture, "Columns", &args.input.data),
            x_label: &label(x),
            y_label: &label(y),
            equal_aspect: args.equal,
        })?)
    })?;
    finish(&figure, &args.picture, PlotKind::Scatter.name())
}

/// A picture that needs rows beside the model.
fn draw_rows(args: &PlotRowsArgs, kind: PlotKind, session: &Session) -> Result<(), Failure> {
    check(&[&args.model, &args.input.data], &args.picture)?;
    let model = method::model(saved::load(&args.model)?)?;
    refuse_unknown(&*model, kind, true)?;
    let mut input = read(&args.input, &args.picture)?;
    let fitted = model.fitted();
    input.match_columns(fitted.column_names(), fitted.n_features())?;
    let samples = input.take_samples(Precision::F64)?;
    let scores = session.watched(args.picture.quiet, |watch| Ok(fitted.project(samples.points(), watch)?))?;
    let rows = Some(samples.points());
    let shown = Shown { scores: &scores, target: input.carried.target.as_ref(), rows };
    let figure = model.draw(kind, &shown, &titled(&args.picture, "Scores", &args.input.data))?;
    finish(&figure, &args.picture, kind.name())
}

/// A picture of what the model itself holds.
fn draw_model(args: &PlotModelArgs, kind: PlotKind) -> Result<(), Failure> {
    check(&[&args.model], &args.picture)?;
    let model = method::model(saved::load(&args.model)?)?;
    refuse_unknown(&*model, kind, false)?;
    let scores = Matrix::zeros(0, model.fitted().n_outputs());
    let shown = Shown { scores: &scores, target: None, rows: None };
    let figure = model.draw(kind, &shown, &titled(&args.picture, kind.title(), &args.model))?;
    finish(&figure, &args.picture, kind.name())
}

/// Refuses pictures that a model does not have.
fn refuse_unknown(model: &dyn Model, kind: PlotKind, has_rows: bool) -> Result<(), Failure> {
    let mut known = model.pictures(has_rows);
    known.push(PlotKind::Scatter);
    known.extend(model.kernel_pca().map(|_| PlotKind::Gram));
    if known.contains(&kind) {
        return Ok(());
    }
    let names: Vec<&str> =
        known.iter().map(|kind| if *kind == PlotKind::Scatter { "scores" } else { kind.name() }).collect();
    Err(Failure::usage(
        format!(
            "plot {} of a {} model of {} columns",
            kind.name(),
            model.fitted().method(),
            model.fitted().n_features()
        ),
        &format!("it has the pictures {}", names.join(", ")),
        "Choose one of them; contours, linear and curves need a kernel PCA of two columns",
    ))
}

fn draw_path(args: &PlotPathArgs) -> Result<(), Failure> {
    check(&[&args.input.data], &args.picture)?;
    let input = read(&args.input, &args.picture)?;
    let names = &input.account.column_names;
    let width = input.account.columns;
    let values = |name: &str| {
        let at = names.iter().position(|own| own == name)?;
        Some(input.values.iter().skip(at).step_by(width.max(1)).copied().collect::<Vec<f64>>())
    };
    let Some(scores) = values("score") else {
        return Err(Failure::Input(format!(
            "{}: no column of numbers is called score; a path has the columns feature and score, and may have spread and \
             baseline. Rename a column: there are {}.",
            args.input.data.display(),
            list(names)
        )));
    };
    if let Some(step) = args.chosen.filter(|step| *step > scores.len()) {
        return Err(Failure::usage(
            format!("--chosen {step} of {}", counted(scores.len(), "step")),
            "one of the steps, counted from 1, is required",
            "Name one of them",
        ));
    }
    let (spread, baseline) = (values("spread"), values("baseline"));
    let text = |name: &str| input.carried.text.iter().find(|column| column.name == name);
    let features = text("feature").or(input.carried.text.first());
    let removed =
        |i: usize| text("action").is_some_and(|column| column.values.get(i).is_some_and(|a| a == "removed"));
    let step = |i: usize, score: &f64| PathStep {
        name: features
            .and_then(|column| column.values.get(i))
            .map_or_else(|| (i + 1).to_string(), |name| step_name(name, removed(i))),
        score: *score,
        spread: spread.as_ref().and_then(|values| values.get(i).copied()),
        baseline: baseline.as_ref().and_then(|values| values.get(i).copied()),
    };
    let steps: Vec<PathStep> = scores.iter().enumerate().map(|(i, score)| step(i, score)).collect();
    let marked = |name: &str| values(name)?.iter().position(|mark| *mark == 1.0);
    let highest = || (0..steps.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    // A table that says which is the best, and marks none, was not judged on rows held out.
    let best = if values("best").is_some() { marked("best") } else { highest() };
    let counts = values("n_features").unwrap_or_default();
    let n_features: Vec<usize> = counts.iter().map(|count| *count as usize).collect();
    let figure = selection_path(&PathPicture {
        steps: &steps,
        n_features: &n_features,
        chosen: args.chosen.map(|step| step - 1).or_else(|| marked("chosen")),
        best,
        score_label: "score",
        title: &titled(&args.picture, "Path", &args.input.data),
        ..PathPicture::default()
    })?;
    finish(&figure, &args.picture, "path")
}
