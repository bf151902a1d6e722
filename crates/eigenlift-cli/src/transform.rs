//! `eigenlift transform`: scores of new rows with a saved model, a piece at a time.

use crate::args::TransformArgs;
use crate::exit::Failure;
use crate::fit::warn_of_lost_text;
use crate::input::DataAccount;
use crate::interrupt::Session;
use crate::outputs::{self, Kind, ScoreWriter, Wanted, Written};
use crate::rows::TableRows;
use crate::saved;
use crate::words::{Words, bytes, peak_memory, timed};
use eigenlift::engine::Cpu;
use eigenlift::methods::FittedKernelPca;
use eigenlift::progress::Watch;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Seconds spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Seconds {
    /// Reading the model.
    load: f64,
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
    kernel: &'a str,
    n_components: usize,
    data: &'a DataAccount,
    warnings: &'a [String],
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    files: &'a [Written],
}

/// Loads the model, reads the rows, writes their scores.
pub(crate) fn run(args: &TransformArgs, session: &Session) -> Result<(), Failure> {
    outputs::check_standard_output(args.speech.json, args.out.as_deref())?;
    let wanted: Vec<Wanted<'_>> =
        args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table }).collect();
    outputs::check(&[&args.input.data, &args.model], &wanted)?;
    let words = Words::new(args.speech.quiet);
    let (model, load) = timed(|| saved::load(&args.model));
    let model = model?.with_engine(Arc::new(Cpu::new(args.threads.into())?));

    let (rows, opened) = timed(|| TableRows::open(&args.input));
    let mut rows = rows?;
    rows.match_columns(model.column_names(), model.projection().lift.n_features())?;
    outputs::check_names(&rows.carried_names(), model.n_components())?;
    warn_of_lost_text(args.out.as_deref(), &rows.carried_names(), words);
    let out = match &args.out {
        None if args.speech.json => None,
        None => Some(Path::new("-")),
        Some(path) => Some(path.as_path()),
    };
    let mut seconds = Seconds { load, read: opened, ..Seconds::default() };
    session.watched(args.speech.quiet, |watch| project(&model, &mut rows, out, &mut seconds, watch))?;
    rows.account.say(words);
    let files: Vec<Written> = args
        .out
        .iter()
        .filter(|path| !outputs::is_standard(path))
        .map(|path| Written { path: path.clone(), what: "scores" })
        .collect();
    if args.speech.json {
        return outputs::print_json(&TransformAccount {
            command: "transform",
            version: env!("CARGO_PKG_VERSION"),
            model: &args.model,
            kernel: &model.plan().kernel,
            n_components: model.n_components(),
            data: &rows.account,
            warnings: &rows.account.warnings,
            seconds,
            peak_memory_bytes: peak_memory(),
            files: &files,
        });
    }
    say_end(seconds, &files, words);
    Ok(())
}

/// Projects all rows, from where the table stands to its end, and writes their scores; the output appears when all are
/// written.
pub(crate) fn project(
    model: &FittedKernelPca,
    rows: &mut TableRows,
    out: Option<&Path>,
    seconds: &mut Seconds,
    watch: &Watch,
) -> Result<(), Failure> {
    let carried = rows.carried_names();
    let (total, quiet) = (rows.rows_if_known(), watch.silent());
    let mut writer = match out {
        Some(path) => Some(ScoreWriter::create(path, &carried, model.n_components(), total)?),
        None => None,
    };
    let mut done = 0;
    loop {
        watch.step("projecting rows", done, total.unwrap_or(0))?;
        let (piece, took) = timed(|| rows.next_piece(rows.piece_rows()));
        seconds.read += took;
        let Some(piece) = piece? else { break };
        let (scores, took) = timed(|| model.transform_watched(&piece.rows, &quiet));
        let scores = scores.map_err(|error| from_row(error, done))?;
        seconds.transform += took;
        if let Some(writer) = &mut writer {
            let (written, took) = timed(|| writer.append(&piece.carried, &scores));
            written?;
            seconds.write += took;
        }
        done += scores.n_rows();
    }
    rows.account.rows = done;
    let (committed, took) = timed(|| writer.map_or(Ok(()), ScoreWriter::commit));
    seconds.write += took;
    committed
}

/// Rows in messages are counted from the start of the piece; this says where it starts.
fn from_row(error: eigenlift::error::Error, first: usize) -> Failure {
    match error {
        eigenlift::error::Error::Data { found, required, action } if first > 0 => {
            Failure::Input(format!("{found} (rows counted after row {first}); {required}. {action}."))
        }
        other => other.into(),
    }
}

fn say_end(seconds: Seconds, files: &[Written], words: Words) {
    let memory = peak_memory().map(|n| format!("; peak memory {}", bytes(u128::from(n)))).unwrap_or_default();
    words.say(format_args!(
        "took: load {:.2} s, read {:.2} s, transform {:.2} s, write {:.2} s{memory}",
        seconds.load, seconds.read, seconds.transform, seconds.write
    ));
    crate::account::say_files(files, words);
}
