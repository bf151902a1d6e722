//! `eigenlift inverse`, `denoise` and `score`: what a saved model says of rows and scores.

use crate::args::{ApplyArgs, ApplyOutputArgs, HeaderChoice, InputArgs, InverseArgs};
use crate::exit::Failure;
use crate::fit::warn_of_lost_text;
use crate::input::{DataAccount, list};
use crate::interrupt::Session;
use crate::outputs::{self, Kind, Wanted, Written, score_names};
use crate::rows::TableRows;
use crate::saved;
use crate::transform::{self, Seconds, each_piece};
use crate::words::{Words, counted, peak_memory, timed};
use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AnyModel, Fitted};
use eigenlift::progress::Watch;
use eigenlift_io::Missing;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct ApplyAccount<'a> {
    command: &'static str,
    version: &'static str,
    model: &'a Path,
    method: &'a str,
    data: &'a DataAccount,
    warnings: &'a [String],
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    files: &'a [Written],
}

/// A model and the table it is applied to.
struct Application<'a> {
    command: &'static str,
    /// What is written.
    what: &'static str,
    path: &'a Path,
    model: AnyModel,
    rows: TableRows,
    output: &'a ApplyOutputArgs,
    seconds: Seconds,
}

impl<'a> Application<'a> {
    fn open(
        (command, what): (&'static str, &'static str),
        path: &'a Path,
        input: &InputArgs,
        output: &'a ApplyOutputArgs,
    ) -> Result<Self, Failure> {
        outputs::check_standard_output(output.speech.json, output.out.as_deref())?;
        let wanted: Vec<Wanted<'_>> =
            output.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table }).collect();
        outputs::check(&[&input.data, path], &wanted)?;
        let (model, load) = timed(|| saved::load(path));
        let model = model?.with_engine(Arc::new(Cpu::new(output.threads.into())?));
        let (rows, read) = timed(|| TableRows::open(input));
        let seconds = Seconds { load, read, ..Seconds::default() };
        Ok(Self { command, what, path, model, rows: rows?, output, seconds })
    }

    /// Turns all rows and tells what was done.
    fn run(
        mut self,
        names: Vec<String>,
        session: &Session,
        turn: impl Fn(&AnyModel, &Matrix<f64>, &Watch) -> Result<Matrix<f64>, Error>,
    ) -> Result<(), Failure> {
        let (output, words) = (self.output, Words::new(self.output.speech.quiet));
        let carried = self.rows.carried_names();
        if let Some(name) = carried.iter().find(|name| names.contains(name)) {
            return Err(Failure::Input(format!(
                "the column {name} is carried in front of the result and is called like a column of it; every column needs \
                 a name of its own. Rename it."
            )));
        }
        warn_of_lost_text(output.out.as_deref(), &carried, words);
        let out = outputs::table_output(output.out.as_deref(), output.speech.json);
        let (model, rows, seconds) = (&self.model, &mut self.rows, &mut self.seconds);
        session.watched(output.speech.quiet, |watch| {
            each_piece(rows, (out, names, None), seconds, watch, |piece, quiet| turn(model, piece, quiet))
        })?;
        self.rows.account.say(words);
        let file = |path: &PathBuf| Written { path: path.clone(), what: self.what };
        let files: Vec<Written> =
            output.out.iter().filter(|path| !outputs::is_standard(path)).map(file).collect();
        if output.speech.json {
            return outputs::print_json(&ApplyAccount {
                command: self.command,
                version: env!("CARGO_PKG_VERSION"),
                model: self.path,
                method: self.model.fitted().method(),
                data: &self.rows.account,
                warnings: &self.rows.account.warnings,
                seconds: self.seconds,
                peak_memory_bytes: peak_memory(),
                files: &files,
            });
        }
        transform::say_end(self.seconds, &files, words);
        Ok(())
    }

    fn match_columns(&mut self) -> Result<(), Failure> {
        let fitted = self.model.fitted();
        self.rows.match_columns(fitted.column_names(), fitted.n_features())
    }
}

/// Names of the columns that a model was fitted on, x1, x2, … when they had none.
fn input_names(model: &dyn Fitted) -> Vec<String> {
    match model.column_names() {
        [] => score_names("x", model.n_features()),
        names => names.to_vec(),
    }
}

fn no_scores(have: &DataAccount, wanted: &[String]) -> Failure {
    Failure::Input(format!(
        "{}: {} of numbers{}; the way back needs the {} of the model ({}). \
         Give a table that fit or transform wrote with this model.",
        have.path.display(),
        counted(have.columns, "column"),
        if have.column_names.is_empty() { String::new() } else { format!(" ({})", list(&have.column_names)) },
        counted(wanted.len(), "score"),
        list(wanted)
    ))
}

/// Rows from scores.
pub(crate) fn run_inverse(args: &InverseArgs, session: &Session) -> Result<(), Failure> {
    let input = InputArgs {
        data: args.scores.clone(),
        target: args.target.clone(),
        columns: None,
        missing: Missing::Error,
        format: None,
        delimiter: None,
        header: HeaderChoice::Auto,
    };
    let mut work = Application::open(("inverse", "rows"), &args.model, &input, &args.output)?;
    let fitted = work.model.fitted();
    // Refused before any row is read.
    fitted.invert(&Matrix::zeros(0, fitted.n_outputs()))?;
    let wanted = score_names(fitted.method(), fitted.n_outputs());
    let matched = work.rows.match_columns(&wanted, wanted.len());
    matched.map_err(|_| no_scores(&work.rows.account, &wanted))?;
    let names = input_names(work.model.fitted());
    work.run(names, session, |model, piece, _| model.fitted().invert(piece))
}

/// Rows projected and put together again.
pub(crate) fn run_denoise(args: &ApplyArgs, session: &Session) -> Result<(), Failure> {
    let mut work = Application::open(("denoise", "rows"), &args.model, &args.input, &args.output)?;
    let fitted = work.model.fitted();
    fitted.invert(&Matrix::zeros(0, fitted.n_outputs()))?;
    work.match_columns()?;
    let names = input_names(work.model.fitted());
    work.run(names, session, |model, piece, quiet| {
        let fitted = model.fitted();
        fitted.invert(&fitted.project(piece.into(), quiet)?)
    })
}

/// T² and squared prediction error of rows.
pub(crate) fn run_score(args: &ApplyArgs, session: &Session) -> Result<(), Failure> {
    let mut work = Application::open(("score", "T² and errors"), &args.model, &args.input, &args.output)?;
    let AnyModel::Pca(_) = &work.model else {
        return Err(Failure::Input(format!(
            "{}: a model of the method {}; T² and the squared prediction error are known for pca. Give a pca model.",
            args.model.display(),
            work.model.fitted().method()
        )));
    };
    work.match_columns()?;
    let names = vec!["t2".to_string(), "spe".to_string()];
    work.run(names, session, |model, piece, quiet| {
        let AnyModel::Pca(model) = model else { return Ok(Matrix::zeros(0, 2)) };
        let scores = model.transform_watched(piece, quiet)?;
        let (t2, lost) = (model.t_squared(&scores)?, model.reconstruction_from(piece, &scores)?);
        Ok(Matrix::from_fn(t2.len(), 2, |i, j| if j == 0 { t2[i] } else { lost.per_row[i] }))
    })
}
