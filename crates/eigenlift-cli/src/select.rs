//! `eigenlift select`: which columns tell what the target is.

mod account;
mod found;
mod nested;
mod picture;
mod ranking;
mod resume;
mod settings;
mod tables;
mod trail;

use crate::account::say_files;
use crate::args::{AskedSelection, Precision, SelectMethod};
use crate::exit::Failure;
use crate::figures;
use crate::input::{Groups, Input};
use crate::interrupt::Session;
use crate::labels;
use crate::outputs::{self, Kind, OutputFiles, Wanted, title, warn_of_lost_text};
use crate::report::{self, Told};
use crate::rows::too_large;
use crate::standard::is_standard;
use crate::values::PlotKind;
use crate::words::{Words, counted, timed};
use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::error::Error;
use eigenlift_io::{Target, is_sparse};
use eigenlift_select::SelectionMethod;
use found::Found;
use resume::Kept;

/// A table to select from.
struct Table {
    input: Input,
    samples: AnySamples,
    labels: Labels,
    groups: Option<Groups>,
}

/// Reads the table, selects, tells, writes and draws.
pub(crate) fn run(method: &SelectMethod, session: &Session) -> Result<(), Failure> {
    let asked = method.asked();
    check(&asked)?;
    settings::check(&asked)?;
    let speech = asked.common.output.speech;
    let words = Words::new(speech.quiet);
    let table = read(&asked, words)?;
    let mut kept = Kept::open(asked.resume())?;
    let (report, seconds) = session.watched(speech.quiet, |watch| {
        let settings = settings::selection(&asked, &table, watch)?;
        let (report, seconds) = timed(|| kept.select(&settings, &table));
        Ok((report?, seconds))
    })?;
    kept.say(words);
    let found = Found::new(&asked, &table, report);
    found.warnings().iter().for_each(|warning| words.warn(warning));
    if !speech.json {
        found.texts().iter().for_each(|text| words.say(text));
    }
    let mut files = OutputFiles::default();
    asked.resume().iter().for_each(|path| files.note(path, "state"));
    write(&asked, &table, &found, &mut files)?;
    if speech.json {
        let told = outputs::print_json(&found.account(&kept, seconds, files.written()));
        return files.end(told);
    }
    words.say(format_args!("took {seconds:.2} s"));
    say_files(files.written(), words);
    files.end(Ok(()))
}

/// Refuses what no table can change.
fn check(asked: &AskedSelection<'_>) -> Result<(), Failure> {
    let (args, output) = (asked.common, &asked.common.output);
    let (json, out) = (output.speech.json, output.out.as_deref());
    outputs::check_standard_output(json, out)?;
    for (flag, path) in [("--scores", asked.scores()), ("--path", output.path.as_deref())] {
        if path.is_some_and(is_standard) {
            return Err(Failure::usage(
                format!("{flag} -"),
                "standard output is for the reduced table, or for the account with --json",
                &format!("Give {flag} a file name"),
            ));
        }
    }
    let wanted = |flag, path, kind| Wanted { flag, path, kind };
    let mut all: Vec<Wanted<'_>> = Vec::new();
    all.extend(out.map(|path| wanted("--out", path, Kind::Table)));
    all.extend(asked.scores().map(|path| wanted("--scores", path, Kind::Table)));
    all.extend(output.path.as_deref().map(|path| wanted("--path", path, Kind::Table)));
    all.extend(outputs::wanted_plots(&output.plot));
    all.extend(report::wanted(output.report.as_ref()));
    all.extend(asked.resume().map(|path| wanted("--resume", path, Kind::State)));
    outputs::check(&[&args.input.data], &all)?;
    if is_sparse(&args.input.data) {
        return Err(Failure::Input(format!(
            "{}: a sparse matrix has no column of labels; features are selected by what they tell of a target. Give a table \
             with a column for --target.",
            args.input.data.display()
        )));
    }
    if args.input.target.is_none() {
        return Err(Failure::usage(
            format!("select {} of {} without --target", asked.method, args.input.data.display()),
            "the column that features are to tell of is required",
            "Name it with --target COL, by name or position from 1",
        ));
    }
    Ok(())
}

/// The table, its labels and its groups.
fn read(asked: &AskedSelection<'_>, words: Words) -> Result<Table, Failure> {
    let args = asked.common;
    if let Some(rows) = too_large(&args.input, &args.machine)? {
        return Err(Failure::Library(Error::Memory {
            found: format!(
                "a table of {} whose rows take more than half of the memory allowed",
                counted(rows.account.columns, "column")
            ),
            required: format!("select {}: rows and a copy by columns must be in memory", asked.method),
            action: "Allow more memory with --memory, or give fewer rows or --columns".into(),
        }));
    }
    let mut input = Input::read(&args.input)?;
    let groups = args.judge.groups.as_deref().map(|name| input.take_groups(name)).transpose()?;
    input.account.say(words);
    input.account.note_constant_columns(words);
    let Some(target) = &input.carried.target else {
        return Err(Failure::Input(format!("{}: no target was read.", args.input.data.display())));
    };
    let labels = labels::of(target, args.judge.labels)?;
    words.say(format_args!("labels: {}{}", labels::told(&labels), how_taken(asked, target, &labels)));
    warn_of_lost_text(args.output.out.as_deref(), &input.carried.names(), words);
    if asked.method == SelectionMethod::Chi2 {
        check_counts(&input)?;
    }
    let samples = input.take_samples(Precision::F64)?;
    Ok(Table { input, samples, labels, groups })
}

/// Refuses counts below 0, by the name of their column.
fn check_counts(input: &Input) -> Result<(), Failure> {
    let names = &input.account.column_names;
    let Some(at) = input.values.iter().position(|x| *x < 0.0) else { return Ok(()) };
    let (row, column) = (at / names.len().max(1), at % names.len().max(1));
    Err(Failure::Input(format!(
        "{}: row {}, column {} is {}; chi2 takes counts and other amounts, which are not negative. Leave that column out with \
         --columns, or choose another filter, such as f or mi.",
        input.account.path.display(),
        row + 1,
        names.get(column).map_or("", String::as_str),
        input.values[at]
    )))
}

/// What else the target could be.
fn how_taken(asked: &AskedSelection<'_>, target: &Target, labels: &Labels) -> &'static str {
    use crate::args::LabelChoice;
    match (asked.common.judge.labels, target.numeric, labels) {
        (LabelChoice::Auto, true, Labels::Classes(_)) => {
            " (whole numbers of few different values; --labels numbers takes them for numbers)"
        }
        (LabelChoice::Auto, true, Labels::Numbers(_)) => " (--labels classes takes them for classes)",
        _ => "",
    }
}

/// Writes files first and standard output last, so that a reader who leaves early loses no file.
fn write(
    asked: &AskedSelection<'_>,
    table: &Table,
    found: &Found<'_>,
    files: &mut OutputFiles,
) -> Result<(), Failure> {
    let output = &asked.common.output;
    if let Some(path) = asked.scores() {
        files.put(path, "scores", || tables::write_scores(path, found))?;
    }
    if let Some(path) = &output.path {
        files.put(path, "path", || tables::write_path(path, found))?;
    }
    let name = title(&format!("Selection ({})", asked.method), &table.input.account.path);
    for request in &output.plot {
        let draw = || figures::save(&picture::draw(found, &name)?, &request.path);
        files.put(&request.path, request.kind.name(), draw)?;
    }
    if let Some(path) = &output.report {
        Told {
            title: name,
            data: &table.input.account,
            warnings: found.warnings().to_vec(),
            texts: found.texts().to_vec(),
            figures: vec![report::figure(PlotKind::Path, &picture::draw(found, "")?)],
        }
        .save(path, files)?;
    }
    if let Some(out) = outputs::table_output(output.out.as_deref(), output.speech.json) {
        files.put(out, "reduced table", || tables::write_reduced(out, table, found.selected()))?;
    }
    Ok(())
}
