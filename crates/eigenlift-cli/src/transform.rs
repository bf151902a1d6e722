//! `eigenlift transform`: scores of new rows with a saved model, a piece at a time.

use crate::args::{Precision, TransformArgs};
use crate::exit::Failure;
use crate::figures::{self, Shown};
use crate::input::Input;
use crate::interrupt::Session;
use crate::method::{OneView, output_names};
use crate::outputs::{
    self, Kind, OutputFiles, PassingTable, ScoreWriter, Wanted, Written, label_title, score_names, title,
    warn_of_lost_text,
};
use crate::rows::{TableRows, sample_scores};
use crate::saved;
use crate::standard::is_standard;
use crate::table::DataAccount;
use crate::words::{Words, bytes, peak_memory, timed};
use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::Fitted;
use eigenlift::progress::{Observer, Watch};
use eigenlift_io::{TextColumn, is_sparse};
use eigenlift_plot::Figure;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Seconds spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Seconds {
    /// Reading the model.
    pub(crate) load: f64,
    /// Reading and parsing the table.
    pub(crate) read: f64,
    /// The projection alone.
    pub(crate) transform: f64,
    /// Writing scores.
    pub(crate) write: f64,
}

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct TransformAccount<'a> {
    command: &'static str,
    version: &'static str,
    model: &'a Path,
    method: &'a str,
    /// The view that the rows are of, for a model of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<usize>,
    /// The kernel, for a method that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    n_components: usize,
    data: &'a DataAccount,
    warnings: &'a [String],
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    files: &'a [Written],
}

/// A model, and what comes out of it by name.
pub(crate) struct Named<'a> {
    pub(crate) fitted: &'a dyn Fitted,
    pub(crate) names: Vec<String>,
}

/// Loads the model, reads the rows, writes their scores.
pub(crate) fn run(args: &TransformArgs, session: &Session) -> Result<(), Failure> {
    outputs::check_standard_output(args.output.speech.json, args.output.out.as_deref())?;
    let wanted = args.output.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let wanted: Vec<Wanted<'_>> = wanted.chain(outputs::wanted_plots(&args.plot)).collect();
    check_picture(args)?;
    outputs::check(&[&args.input.data, &args.model], &wanted)?;
    let words = Words::new(args.output.speech.quiet);
    let (model, load) = timed(|| saved::load(&args.model));
    let any = model?.with_engine(Arc::new(Cpu::new(args.output.threads.into())?));
    let view = OneView::of(&any, args.view)?;
    let named = match &view {
        Some(view) => Named { fitted: view, names: score_names(view.method(), view.n_outputs()) },
        None => Named { fitted: any.fitted(), names: output_names(&any) },
    };
    let model = named.fitted;
    let mut seconds = Seconds { load, ..Seconds::default() };
    let out = outputs::table_output(args.output.out.as_deref(), args.output.speech.json);
    let mut files = OutputFiles::default();
    let account = if is_sparse(&args.input.data) {
        project_sparse(&named, args, (out, &mut files), &mut seconds, session)?
    } else {
        let (rows, opened) = timed(|| TableRows::open(&args.input));
        let mut rows = rows?;
        seconds.read += opened;
        let wanted = match &view {
            Some(view) => view.names_in(&rows.account.column_names),
            None => model.column_names().to_vec(),
        };
        rows.match_columns(&wanted, model.n_features())?;
        outputs::check_known_names(&rows.carried_names(), &named.names)?;
        warn_of_lost_text(args.output.out.as_deref(), &rows.carried_names(), words);
        let quiet = args.output.speech.quiet;
        files.put(out.unwrap_or(Path::new("-")), "scores", || {
            session.watched(quiet, |watch| project(&named, &mut rows, out, &mut seconds, watch))
        })?;
        for request in &args.plot {
            files.put(&request.path, request.kind.name(), || {
                let figure = session.watched(quiet, |watch| draw(&named, &mut rows, watch))?;
                figures::save(&figure, &request.path)
            })?;
        }
        rows.account
    };
    account.say(words);
    if args.output.speech.json {
        let told = outputs::print_json(&TransformAccount {
            command: "transform",
            version: env!("CARGO_PKG_VERSION"),
            model: &args.model,
            method: model.method(),
            view: args.view,
            kernel: any.stored().kernel(),
            n_components: model.n_outputs(),
            data: &account,
            warnings: &account.warnings,
            seconds,
            peak_memory_bytes: peak_memory(),
            files: files.written(),
        });
        return files.end(told);
    }
    say_end(seconds, files.written(), words);
    files.end(Ok(()))
}

/// Rows for a picture are read a second time.
fn check_picture(args: &TransformArgs) -> Result<(), Failure> {
    let once = is_standard(&args.input.data) || is_sparse(&args.input.data);
    if args.plot.is_empty() || !once {
        return Ok(());
    }
    Err(Failure::usage(
        format!("--plot of {}", args.input.data.display()),
        "a picture reads the rows a second time, which standard input and sparse matrices do not allow",
        "Write the scores to a file and use eigenlift plot scatter",
    ))
}

/// Some rows along the first two coordinates.
fn draw(named: &Named<'_>, rows: &mut TableRows, watch: &Watch) -> Result<Figure, Failure> {
    let n = rows.account.rows;
    let (scores, target) = sample_scores(named.fitted, n, rows, watch)?;
    rows.account.rows = n;
    let shown = Shown { scores: &scores, target: target.as_ref(), rows: None };
    let name = title("Scores", &rows.account.path);
    // Shares of the variance are those of the rows of the fit.
    figures::draw_plain_scatter(&named.names, &shown, &name)
}

/// Projects the rows of a sparse matrix.
fn project_sparse(
    named: &Named<'_>,
    args: &TransformArgs,
    (out, files): (Option<&Path>, &mut OutputFiles),
    seconds: &mut Seconds,
    session: &Session,
) -> Result<DataAccount, Failure> {
    let model = named.fitted;
    let mut input = Input::read(&args.input)?;
    seconds.read += input.seconds;
    input.match_columns(model.column_names(), model.n_features())?;
    let samples = input.take_samples(Precision::F64)?;
    let (scores, took) = timed(|| {
        session.watched(args.output.speech.quiet, |watch| Ok(model.project(samples.points(), watch)?))
    });
    let scores = scores?;
    seconds.transform += took;
    let labels =
        session.watched(true, |watch| Ok(model.labels_on(&**model.engine(), samples.points(), watch)?))?;
    if let (Some(name), Some(labels)) = (model.label_name(), labels) {
        input.carried.text.push(label_column(model, name, &labels));
    }
    if let Some(out) = out {
        let names = named.names.clone();
        let write = || outputs::write_scores(out, &input.carried, names, &scores);
        seconds.write += files.put(out, "scores", write)?;
    }
    Ok(input.account)
}

/// Projects all rows, from where the table stands to its end, and writes their scores; the output appears when all are
/// written.
pub(crate) fn project(
    named: &Named<'_>,
    rows: &mut TableRows,
    out: Option<&Path>,
    seconds: &mut Seconds,
    watch: &Watch,
) -> Result<(), Failure> {
    let model = named.fitted;
    let carried = rows.carried_names();
    let title = model.label_name().map(|name| label_title(name, &carried)).transpose()?;
    let sheet = Sheet { out, names: named.names.clone(), text: title.as_deref(), to_the_end: false };
    each_piece(rows, sheet, seconds, watch, |piece, watch| {
        let text = match &title {
            Some(title) => {
                let labels = model.labels_on(&**model.engine(), piece.into(), watch)?;
                labels.map(|labels| label_column(model, title, &labels))
            }
            None => None,
        };
        Ok(Turned { rows: model.project(piece.into(), watch)?, text })
    })
}

/// Labels as a column, in words.
fn label_column(model: &dyn Fitted, title: &str, labels: &[u32]) -> TextColumn {
    let values = labels.iter().map(|label| model.label_words(*label)).collect();
    TextColumn { name: title.into(), position: usize::MAX, values }
}

/// What rows become.
pub(crate) struct Turned {
    /// One for each row.
    pub(crate) rows: Matrix<f64>,
    /// A column of text beside them, behind that which is carried.
    pub(crate) text: Option<TextColumn>,
}

/// Where rows go, and under which names.
pub(crate) struct Sheet<'a> {
    pub(crate) out: Option<&'a Path>,
    pub(crate) names: Vec<String>,
    /// Name of the column of text.
    pub(crate) text: Option<&'a str>,
    /// Go on when it cannot be written, because all rows are wanted for something else.
    pub(crate) to_the_end: bool,
}

/// How a search inside a piece is called; its progress is that of the table.
const SEARCH: &str = "looking for rows";

/// Tells the progress of a search inside a piece as that of the whole table, and of other stages nothing.
struct Onward {
    watch: Watch,
    before: usize,
    total: usize,
}

impl Observer for Onward {
    fn progress(&self, stage: &str, done: u64, _: u64) {
        if stage == SEARCH {
            // Who asks for an end is told by the watch of the piece.
            let _ = self.watch.step(stage, self.before + done as usize, self.total);
        }
    }
}

/// Turns all rows into others, from where the table stands to its end, and writes them; the output appears when all are
/// written.
pub(crate) fn each_piece(
    rows: &mut TableRows,
    sheet: Sheet<'_>,
    seconds: &mut Seconds,
    watch: &Watch,
    mut turn: impl FnMut(&Matrix<f64>, &Watch) -> Result<Turned, Error>,
) -> Result<(), Failure> {
    let mut carried = rows.carried_names();
    let at = rows.account.set_aside.len();
    carried.splice(at..at, sheet.text.map(String::from));
    let total = rows.rows_if_known();
    let mut writer = match sheet.out {
        Some(path) => {
            let writer = ScoreWriter::create(path, &carried, sheet.names, total)?;
            Some(PassingTable::new(writer, sheet.to_the_end))
        }
        None => None,
    };
    let mut done = 0;
    loop {
        watch.step("projecting rows", done, total.unwrap_or(0))?;
        let (piece, took) = timed(|| rows.next_piece(rows.piece_rows()));
        seconds.read += took;
        let Some(mut piece) = piece? else { break };
        let onward = Onward { watch: watch.clone(), before: done, total: total.unwrap_or(0) };
        let inside = watch.clone().observed_by(Arc::new(onward));
        let (turned, took) = timed(|| turn(&piece.rows, &inside));
        let Turned { rows: scores, text } = turned.map_err(|error| from_row(error, done))?;
        seconds.transform += took;
        piece.carried.text.extend(text);
        if let Some(open) = &mut writer {
            let (written, took) = timed(|| open.append(&piece.carried, &scores));
            seconds.write += took;
            written?;
        }
        done += scores.n_rows();
    }
    rows.account.rows = done;
    let (committed, took) = timed(|| writer.map_or(Ok(()), PassingTable::commit));
    seconds.write += took;
    committed
}

/// Rows in messages are counted from the start of the piece; this says where it starts.
pub(crate) fn from_row(error: Error, first: usize) -> Failure {
    match error {
        Error::Data { found, required, action } if first > 0 => {
            Failure::Input(format!("{found} (rows counted after row {first}); {required}. {action}."))
        }
        other => other.into(),
    }
}

pub(crate) fn say_end(seconds: Seconds, files: &[Written], words: Words) {
    let memory = peak_memory().map(|n| format!("; peak memory {}", bytes(u128::from(n)))).unwrap_or_default();
    words.say(format_args!(
        "took: load {:.2} s, read {:.2} s, transform {:.2} s, write {:.2} s{memory}",
        seconds.load, seconds.read, seconds.transform, seconds.write
    ));
    crate::account::say_files(files, words);
}
