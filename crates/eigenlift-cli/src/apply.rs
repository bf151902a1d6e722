//! `eigenlift inverse` and `denoise`: the way back to rows with a saved model.

use crate::args::{ApplyOutputArgs, DenoiseArgs, HeaderChoice, InputArgs, InverseArgs, WayBackArgs};
use crate::exit::Failure;
use crate::figures;
use crate::interrupt::Session;
use crate::outputs::{self, Kind, OutputFiles, Wanted, Written, score_names, title, warn_of_lost_text};
use crate::rows::TableRows;
use crate::saved;
use crate::table::{DataAccount, list};
use crate::transform::{self, Seconds, Sheet, Turned, each_piece};
use crate::values::PlotRequest;
use crate::way_back::{self, Gathered, START, TRUST, Tally};
use crate::words::{Words, counted, peak_memory, timed};
use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AnyModel, Fitted, FittedKernelPca};
use eigenlift::progress::Watch;
use eigenlift_io::Missing;
use eigenlift_plot::Figure;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct ApplyAccount<'a> {
    command: &'static str,
    version: &'static str,
    model: &'a Path,
    method: &'a str,
    data: &'a DataAccount,
    /// What is known of rows that were searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    way_back: Option<Value>,
    warnings: Vec<String>,
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
    plots: &'a [PlotRequest],
    seconds: Seconds,
    files: OutputFiles,
}

/// What is told when all rows are done.
#[derive(Default)]
struct Ending {
    way_back: Option<Tally>,
    picture: Option<Figure>,
}

impl<'a> Application<'a> {
    fn open(
        (command, what): (&'static str, &'static str),
        path: &'a Path,
        input: &InputArgs,
        (output, plots): (&'a ApplyOutputArgs, &'a [PlotRequest]),
    ) -> Result<Self, Failure> {
        outputs::check_standard_output(output.speech.json, output.out.as_deref())?;
        let table = output.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
        outputs::check(&[&input.data, path], &table.chain(outputs::wanted_plots(plots)).collect::<Vec<_>>())?;
        let (model, load) = timed(|| saved::load(path));
        let model = model?.with_engine(Arc::new(Cpu::new(output.threads.into())?));
        let (rows, read) = timed(|| TableRows::open(input));
        let seconds = Seconds { load, read, ..Seconds::default() };
        let files = OutputFiles::default();
        Ok(Self { command, what, path, model, rows: rows?, output, plots, seconds, files })
    }

    /// Turns all rows and writes what they become, with a column of text when one is named.
    fn turn(
        &mut self,
        (names, text): (Vec<String>, Option<&str>),
        session: &Session,
        mut turn: impl FnMut(&AnyModel, &Matrix<f64>, &Watch) -> Result<Turned, Error>,
    ) -> Result<(), Failure> {
        let (output, words) = (self.output, Words::new(self.output.speech.quiet));
        let mut carried = self.rows.carried_names();
        let own: HashSet<&String> = names.iter().collect();
        let taken = |name: &&String| own.contains(name) || text == Some(name.as_str());
        if let Some(name) = carried.iter().find(taken) {
            return Err(Failure::Input(format!(
                "the column {name} is carried in front of the result and is called like a column of it; every column needs \
                 a name of its own. Rename it."
            )));
        }
        carried.extend(text.map(String::from));
        warn_of_lost_text(output.out.as_deref(), &carried, words);
        let out = outputs::table_output(output.out.as_deref(), output.speech.json);
        let sheet = Sheet { out, names, text, to_the_end: !self.plots.is_empty() };
        let (model, rows, seconds) = (&self.model, &mut self.rows, &mut self.seconds);
        self.files.put(out.unwrap_or(Path::new("-")), self.what, || {
            session.watched(output.speech.quiet, |watch| {
                each_piece(rows, sheet, seconds, watch, |piece, inside| turn(model, piece, inside))
            })
        })?;
        Ok(())
    }

    /// Draws and tells what was done.
    fn tell(mut self, ending: Ending) -> Result<(), Failure> {
        let (output, words) = (self.output, Words::new(self.output.speech.quiet));
        self.rows.account.say(words);
        let mut files = self.files;
        if let Some(figure) = &ending.picture {
            for request in self.plots {
                let save = || figures::save(figure, &request.path);
                self.seconds.write += files.put(&request.path, request.kind.name(), save)?;
            }
        }
        let warning = ending.way_back.as_ref().and_then(Tally::warning);
        warning.iter().for_each(|text| words.warn(text));
        if output.speech.json {
            let told = outputs::print_json(&ApplyAccount {
                command: self.command,
                version: env!("CARGO_PKG_VERSION"),
                model: self.path,
                method: self.model.fitted().method(),
                data: &self.rows.account,
                way_back: ending.way_back.as_ref().map(Tally::json),
                warnings: self.rows.account.warnings.iter().cloned().chain(warning).collect(),
                seconds: self.seconds,
                peak_memory_bytes: peak_memory(),
                files: files.written(),
            });
            return files.end(told);
        }
        ending.way_back.iter().for_each(|tally| tally.say(words));
        transform::say_end(self.seconds, files.written(), words);
        files.end(Ok(()))
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
    let outputs = (&args.output, args.way_back.plot.as_slice());
    let mut work = Application::open(("inverse", "rows"), &args.model, &input, outputs)?;
    // What no row can change is refused before any is read.
    let tally = way_back::check(&work.model, &args.way_back)?;
    let fitted = work.model.fitted();
    let wanted = score_names(fitted.method(), fitted.n_outputs());
    let matched = work.rows.match_columns(&wanted, wanted.len());
    matched.map_err(|_| no_scores(&work.rows.account, &wanted))?;
    go_back(work, Direction::FromScores, &args.way_back, tally, session)
}

/// Rows projected and put together again.
pub(crate) fn run_denoise(args: &DenoiseArgs, session: &Session) -> Result<(), Failure> {
    let outputs = (&args.output, args.way_back.plot.as_slice());
    let mut work = Application::open(("denoise", "rows"), &args.model, &args.input, outputs)?;
    let tally = way_back::check(&work.model, &args.way_back)?;
    work.match_columns()?;
    go_back(work, Direction::ThereAndBack, &args.way_back, tally, session)
}

/// What the rows of the table are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    FromScores,
    ThereAndBack,
}

/// Finds all rows, a piece at a time.
fn go_back(
    mut work: Application<'_>,
    direction: Direction,
    args: &WayBackArgs,
    mut tally: Option<Tally>,
    session: &Session,
) -> Result<(), Failure> {
    let (how, rows_given) = (way_back::settings(args), direction == Direction::ThereAndBack);
    let mut shown = (!args.plot.is_empty()).then(|| Gathered::new(args.image));
    let own = input_names(work.model.fitted());
    let mut names = own.clone();
    if args.trust {
        check_trust_names(&own)?;
        names.extend(TRUST.map(String::from));
    }
    work.turn((names, args.trust.then_some(START)), session, |model, piece, watch| {
        let before = rows_given.then_some(piece);
        let Some(model) = model.get::<FittedKernelPca>() else {
            let fitted = model.fitted();
            let rows = match direction {
                Direction::FromScores => fitted.invert(piece, watch)?,
                Direction::ThereAndBack => fitted.denoise_on(&**fitted.engine(), piece.into(), watch)?,
            };
            shown.iter_mut().for_each(|shown| shown.add(before, &rows, None));
            return Ok(Turned { rows, text: None });
        };
        let engine = &**Fitted::engine(model);
        let found = match direction {
            Direction::FromScores => model.inverse_on(&how, engine, piece, watch)?,
            Direction::ThereAndBack => model.denoise_on(&how, engine, piece.into(), watch)?,
        };
        tally.iter_mut().for_each(|tally| tally.add(&found));
        let known = Some((found.distances.as_slice(), found.trusted.as_slice()));
        shown.iter_mut().for_each(|shown| shown.add(before, &found.rows, known));
        if !args.trust {
            return Ok(Turned { rows: found.rows, text: None });
        }
        let (rows, starts) = way_back::with_trust(found);
        Ok(Turned { rows, text: Some(starts) })
    })?;
    let name = title(if rows_given { "Denoising" } else { "Pre-images" }, &work.rows.account.path);
    let picture = shown.map(|shown| shown.draw(&own, &name)).transpose()?;
    work.tell(Ending { way_back: tally, picture })
}

/// The columns of `--trust` must not be called like those of the data.
fn check_trust_names(own: &[String]) -> Result<(), Failure> {
    let clash = |name: &&String| *name == START || TRUST.contains(&name.as_str());
    match own.iter().find(clash) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(
            format!("--trust with data that has a column {name}"),
            "it adds columns distance, trusted and start, and every column needs a name of its own",
            "Leave it out, or fit a model with that column renamed",
        )),
    }
}
