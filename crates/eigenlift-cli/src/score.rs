//! `eigenlift score`: how unusual rows are to a saved model, from which numbers on, and by which columns.

mod limits;
mod monitored;
mod picture;
mod tally;

use crate::args::ScoreArgs;
use crate::exit::Failure;
use crate::figures;
use crate::interrupt::Session;
use crate::outputs::{
    self, Kind, OutputFiles, PassingTable, ScoreWriter, Wanted, Written, warn_of_lost_text,
};
use crate::rows::{Piece, TableRows};
use crate::saved;
use crate::standard::is_standard;
use crate::table::DataAccount;
use crate::transform::{self, Seconds, from_row};
use crate::values::PlotKind;
use crate::words::{Words, peak_memory, timed};
use eigenlift::engine::Cpu;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::monitoring::Judgement;
use eigenlift::progress::Watch;
use eigenlift_io::TextColumn;
use limits::Known;
use monitored::Monitored;
use picture::Gathered;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tally::Tally;

/// Columns of numbers, and the column of text that says what is unusual.
const T2: &str = "t2";
const SPE: &str = "spe";
const NOVEL: &str = "novel";

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct ScoreAccount<'a> {
    command: &'static str,
    version: &'static str,
    model: &'a Path,
    method: &'a str,
    data: &'a DataAccount,
    /// Null where none are known.
    limits: Value,
    /// How many rows are novel; null without limits.
    novel: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    contributions: Option<Value>,
    warnings: Vec<String>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    files: &'a [Written],
}

/// What goes on while rows go by.
struct Work<'a> {
    args: &'a ScoreArgs,
    model: &'a Monitored,
    known: &'a Known,
    tally: Tally,
    shown: Option<Gathered>,
    seconds: Seconds,
    files: OutputFiles,
}

/// Loads the model, finds limits, reads the rows, and says how unusual they are.
pub(crate) fn run(args: &ScoreArgs, session: &Session) -> Result<(), Failure> {
    check_outputs(args)?;
    let words = Words::new(args.output.speech.quiet);
    let (model, load) = timed(|| saved::load(&args.model));
    let engine = Arc::new(Cpu::new(args.output.threads.into())?);
    let model = Monitored::new(model?.with_engine(engine), &args.model)?;
    let mut seconds = Seconds { load, ..Seconds::default() };
    let (rows, opened) = timed(|| TableRows::open(&args.input));
    let mut rows = rows?;
    seconds.read += opened;
    rows.match_columns(model.fitted().column_names(), model.fitted().n_features())?;
    let quiet = args.output.speech.quiet;
    let known = session.watched(quiet, |watch| Known::find(args, &model, &mut seconds, watch))?;
    let wants = args.contributions.is_some() || drawn(args, PlotKind::Contributions);
    if wants {
        model.check_contributions(known.baseline.as_ref())?;
    }
    check_names(&rows, &known, args)?;
    let shown = args.plot.iter().any(|plot| plot.kind != PlotKind::Contributions).then(Gathered::default);
    let tally = Tally::new(model.input_names(), args.limits.statistic, wants);
    let mut work =
        Work { args, model: &model, known: &known, tally, shown, seconds, files: OutputFiles::default() };
    session.watched(quiet, |watch| work.turn(&mut rows, watch))?;
    work.tell(rows.account, words)
}

fn drawn(args: &ScoreArgs, kind: PlotKind) -> bool {
    args.plot.iter().any(|plot| plot.kind == kind)
}

/// Refuses what no row can change.
fn check_outputs(args: &ScoreArgs) -> Result<(), Failure> {
    let (json, out) = (args.output.speech.json, args.output.out.as_deref());
    outputs::check_standard_output(json, out)?;
    outputs::check_second_table("--contributions", json, out, args.contributions.as_deref())?;
    let table = out.map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let second = args.contributions.as_deref();
    let second = second.map(|path| Wanted { flag: "--contributions", path, kind: Kind::Table });
    let mut inputs: Vec<&Path> = vec![&args.input.data, &args.model];
    inputs.extend(args.limits.reference.as_deref());
    let wanted: Vec<Wanted<'_>> =
        table.into_iter().chain(second).chain(outputs::wanted_plots(&args.plot)).collect();
    outputs::check(&inputs, &wanted)?;
    let standard = |path: &Path| is_standard(path);
    if standard(&args.input.data) && args.limits.reference.as_deref().is_some_and(standard) {
        return Err(Failure::usage(
            "DATA and --reference are both standard input",
            "only one of them can be",
            "Write one of them to a file",
        ));
    }
    Ok(())
}

/// Carried columns must not be called like those of the result.
fn check_names(rows: &TableRows, known: &Known, args: &ScoreArgs) -> Result<(), Failure> {
    let mut own = vec![T2, SPE];
    own.extend(known.limits.as_ref().map(|_| NOVEL));
    let carried = rows.carried_names();
    if let Some(name) = carried.iter().find(|name| own.contains(&name.as_str())) {
        return Err(Failure::Input(format!(
            "the column {name} is carried in front of the result and is called like a column of it; every column needs \
             a name of its own. Rename it."
        )));
    }
    let words = Words::new(args.output.speech.quiet);
    let mut text = carried.clone();
    text.extend(known.limits.as_ref().map(|_| NOVEL.to_string()));
    warn_of_lost_text(args.output.out.as_deref(), &text, words);
    warn_of_lost_text(args.contributions.as_deref(), &carried, words);
    Ok(())
}

/// Rows of a piece, and what is known of them.
struct Scored {
    table: Matrix<f64>,
    verdicts: Option<Vec<Judgement>>,
    contributions: Option<Matrix<f64>>,
}

impl Work<'_> {
    /// Reads all rows and writes what is known of them; outputs appear when all are written.
    fn turn(&mut self, rows: &mut TableRows, watch: &Watch) -> Result<(), Failure> {
        let (out, second) = (&self.args.output, self.args.contributions.as_deref());
        let out = outputs::table_output(out.out.as_deref(), out.speech.json);
        let to_the_end = second.is_some() || !self.args.plot.is_empty();
        let plain = rows.carried_names();
        let mut carried = plain.clone();
        let at = rows.account.set_aside.len();
        carried.splice(at..at, self.known.limits.as_ref().map(|_| NOVEL.to_string()));
        let total = rows.rows_if_known();
        let open = |path: Option<&Path>, carried: &[String], names: Vec<String>| {
            let writer = path.map(|path| ScoreWriter::create(path, carried, names, total)).transpose()?;
            Ok::<_, Failure>(writer.map(|writer| PassingTable::new(writer, to_the_end)))
        };
        let mut main = open(out, &carried, self.model.statistics())?;
        let mut other = open(second, &plain, self.model.input_names())?;
        let mut done = 0;
        loop {
            watch.step("projecting rows", done, total.unwrap_or(0))?;
            let (piece, took) = timed(|| rows.next_piece(rows.piece_rows()));
            self.seconds.read += took;
            let Some(Piece { rows: values, mut carried }) = piece? else { break };
            let (scored, took) = timed(|| self.score(&values, watch));
            self.seconds.transform += took;
            let Scored { table, verdicts, contributions } = scored.map_err(|error| from_row(error, done))?;
            let start = std::time::Instant::now();
            if let (Some(open), Some(values)) = (&mut other, &contributions) {
                open.append(&carried, values)?;
            }
            carried.text.extend(verdicts.map(novel_column));
            if let Some(open) = &mut main {
                open.append(&carried, &table)?;
            }
            self.seconds.write += start.elapsed().as_secs_f64();
            done += values.n_rows();
        }
        rows.account.rows = done;
        for (table, path, what) in [(other, second, "contributions"), (main, out, "T² and errors")] {
            if let (Some(table), Some(path)) = (table, path) {
                self.files.put(path, what, || table.commit())?;
            }
        }
        Ok(())
    }

    fn score(&mut self, rows: &Matrix<f64>, watch: &Watch) -> Result<Scored, Error> {
        let numbers = self.model.novelty(rows, &watch.silent())?;
        let columns = [&numbers.t_squared, &numbers.spe];
        let table = Matrix::from_fn(rows.n_rows(), self.model.statistics().len(), |i, j| columns[j][i]);
        let verdicts = self.known.limits.as_ref().map(|limits| limits.judge(&numbers));
        self.tally.count(verdicts.as_deref());
        self.shown.iter_mut().for_each(|shown| shown.add(&numbers));
        let contributions = self.contributions(rows, verdicts.as_deref(), watch)?;
        Ok(Scored { table, verdicts, contributions })
    }

    /// Of all rows where a table of them is wanted; otherwise of those that a picture shows.
    fn contributions(
        &mut self,
        rows: &Matrix<f64>,
        verdicts: Option<&[Judgement]>,
        watch: &Watch,
    ) -> Result<Option<Matrix<f64>>, Error> {
        if !self.tally.wants_contributions() {
            return Ok(None);
        }
        let novel = |i: &usize| verdicts.is_none_or(|all| all[*i] != Judgement::Usual);
        let shown: Vec<usize> = (0..rows.n_rows()).filter(novel).collect();
        let all = self.args.contributions.is_some();
        let taken: Vec<usize> = if all { (0..rows.n_rows()).collect() } else { shown.clone() };
        let some = Matrix::from_fn(taken.len(), rows.n_cols(), |i, j| rows[(taken[i], j)]);
        let baseline = self.known.baseline.as_ref();
        let found = self.model.contributions(&some, (self.args.limits.statistic, baseline), watch)?;
        let places: Vec<usize> = if all { shown } else { (0..taken.len()).collect() };
        self.tally.add(&found, &places);
        Ok(all.then_some(found.values))
    }

    /// Draws, and tells what was done.
    fn tell(mut self, data: DataAccount, words: Words) -> Result<(), Failure> {
        let args = self.args;
        data.say(words);
        let mut files = self.files;
        for request in &args.plot {
            let draw = || {
                let figure = match (request.kind, &self.shown) {
                    (PlotKind::Contributions, _) => {
                        self.tally.draw(self.known.limits.is_some(), &data.path)?
                    }
                    (kind, Some(shown)) => shown.draw(kind, self.known, &data.path)?,
                    (_, None) => return Ok(()),
                };
                figures::save(&figure, &request.path)
            };
            self.seconds.write += files.put(&request.path, request.kind.name(), draw)?;
        }
        let mut warnings = self.known.warnings();
        warnings.extend(self.tally.warning());
        warnings.iter().for_each(|text| words.warn(text));
        if args.output.speech.json {
            let told = outputs::print_json(&ScoreAccount {
                command: "score",
                version: env!("CARGO_PKG_VERSION"),
                model: &args.model,
                method: self.model.fitted().method(),
                limits: self.known.json(),
                novel: self.tally.novel(self.known.limits.is_some()),
                contributions: self.tally.contributions_json(),
                warnings: data.warnings.iter().cloned().chain(warnings).collect(),
                data: &data,
                seconds: self.seconds,
                peak_memory_bytes: peak_memory(),
                files: files.written(),
            });
            return files.end(told);
        }
        self.known.say(words);
        self.tally.say(self.known.limits.is_some(), words);
        transform::say_end(self.seconds, files.written(), words);
        files.end(Ok(()))
    }
}

fn novel_column(verdicts: Vec<Judgement>) -> TextColumn {
    let values = verdicts.iter().map(ToString::to_string).collect();
    TextColumn { name: NOVEL.into(), position: usize::MAX, values }
}
