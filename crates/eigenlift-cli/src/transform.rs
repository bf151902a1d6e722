//! `eigenlift transform`: scores of new rows with a saved model.

use crate::args::{Precision, TransformArgs};
use crate::exit::Failure;
use crate::fit::warn_of_lost_text;
use crate::input::{DataAccount, Input};
use crate::interrupt::Session;
use crate::outputs::{self, Kind, Wanted, Written};
use crate::saved;
use crate::words::{Words, bytes, peak_memory, timed};
use eigenlift::engine::Cpu;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Seconds spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Seconds {
    /// Reading the model.
    load: f64,
    /// Reading and parsing the table.
    read: f64,
    /// The projection alone.
    transform: f64,
    /// Writing scores.
    write: f64,
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

    let mut input = Input::read(&args.input)?;
    input.match_columns(model.column_names(), model.projection().lift.n_features())?;
    outputs::check_names(&input.carried, model.n_components())?;
    input.say(words);
    warn_of_lost_text(args.out.as_deref(), &input.carried, words);
    let rows = input.take_samples(Precision::F64)?;
    let (scores, transform) = session.watched(args.speech.quiet, |watch| {
        let (scores, seconds) = timed(|| model.transform_watched(rows.points(), watch));
        Ok((scores?, seconds))
    })?;

    let out = args.out.as_deref().unwrap_or(Path::new("-"));
    let skip = args.speech.json && args.out.is_none();
    let (written, write) =
        timed(|| if skip { Ok(()) } else { outputs::write_scores(out, &input.carried, &scores) });
    written?;
    let files: Vec<Written> = args
        .out
        .iter()
        .filter(|path| !outputs::is_standard(path))
        .map(|path| Written { path: path.clone(), what: "scores" })
        .collect();
    let seconds = Seconds { load, read: input.seconds, transform, write };
    if args.speech.json {
        return outputs::print_json(&TransformAccount {
            command: "transform",
            version: env!("CARGO_PKG_VERSION"),
            model: &args.model,
            kernel: &model.plan().kernel,
            n_components: model.n_components(),
            data: &input.account,
            warnings: &input.account.warnings,
            seconds,
            peak_memory_bytes: peak_memory(),
            files: &files,
        });
    }
    say_end(seconds, &files, words);
    Ok(())
}

fn say_end(seconds: Seconds, files: &[Written], words: Words) {
    let memory = peak_memory().map(|n| format!("; peak memory {}", bytes(u128::from(n)))).unwrap_or_default();
    words.say(format_args!(
        "took: load {:.2} s, read {:.2} s, transform {:.2} s, write {:.2} s{memory}",
        seconds.load, seconds.read, seconds.transform, seconds.write
    ));
    crate::account::say_files(files, words);
}
