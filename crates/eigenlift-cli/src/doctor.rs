//! `eigenlift doctor`: pitfalls found and explained.

use crate::account;
use crate::args::{DoctorIsomapArgs, DoctorQuestion, MetricChoice, Precision};
use crate::exit::Failure;
use crate::figures;
use crate::input::Input;
use crate::interrupt::Session;
use crate::outputs::{self, Kind, OutputFiles, Wanted, Written, title};
use crate::report::{self, Told};
use crate::standard::is_standard;
use crate::table::{Carried, DataAccount, samples_bytes};
use crate::values::PlotKind;
use crate::words::{Words, aligned, counted, timed};
use eigenlift::graph::Suspect;
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{AfterCut, IsomapDoctor, IsomapReport, SweepRow};
use eigenlift_plot::{DoctorPicture, Figure, doctor};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Suspects listed; all of them are in the table of edges and in the JSON form.
const SHOWN_SUSPECTS: usize = 20;

/// The account in the form that programs read; its keys stay. Rows of edges are counted from 1.
#[derive(Debug, Serialize)]
struct DoctorAccount<'a> {
    command: &'static str,
    version: &'static str,
    data: &'a DataAccount,
    recommended: usize,
    sentence: &'a str,
    sweep: &'a [SweepRow],
    examined: usize,
    suspects: Vec<Value>,
    after_cut: &'a Option<AfterCut>,
    dimension: &'a [(usize, f64)],
    sampled_rows: Option<usize>,
    seconds: f64,
    files: &'a [Written],
}

/// Answers one question.
pub(crate) fn run(question: &DoctorQuestion, session: &Session) -> Result<(), Failure> {
    let DoctorQuestion::Isomap(args) = question;
    isomap(args, session)
}

/// Reads the table, examines it, tells, writes and draws what was found.
fn isomap(args: &DoctorIsomapArgs, session: &Session) -> Result<(), Failure> {
    check_outputs(args)?;
    let words = Words::new(args.speech.quiet);
    let mut input = Input::read(&args.input)?;
    input.account.say(words);
    input.account.note_constant_columns(words);
    let samples = input.take_samples(Precision::F64)?;
    let (report, seconds) = session.watched(args.speech.quiet, |watch| {
        let settings = settings(args, &input.account).watch(watch.clone());
        let (report, seconds) = timed(|| match args.metric {
            MetricChoice::Precomputed => settings.examine_distances(samples),
            MetricChoice::Of(_) => settings.examine(samples),
        });
        Ok((report?, seconds))
    })?;
    let mut files = OutputFiles::default();
    if let Some(path) = &args.edges {
        files.put(path, "edges", || write_edges(path, &report.suspects))?;
    }
    for request in &args.plot {
        let draw = || figures::save(&picture(&report, &title("Neighbors", &args.input.data))?, &request.path);
        files.put(&request.path, request.kind.name(), draw)?;
    }
    if let Some(path) = &args.report {
        Told {
            title: title("Neighbors", &args.input.data),
            data: &input.account,
            warnings: Vec::new(),
            texts: vec![text(&report)],
            figures: vec![report::figure(PlotKind::Doctor, &picture(&report, "")?)],
        }
        .save(path, &mut files)?;
    }
    let told = if args.speech.json {
        outputs::print_json(&DoctorAccount {
            command: "doctor isomap",
            version: env!("CARGO_PKG_VERSION"),
            data: &input.account,
            recommended: report.recommended,
            sentence: &report.sentence,
            sweep: &report.sweep,
            examined: report.examined,
            suspects: report.suspects.iter().map(told).collect(),
            after_cut: &report.after_cut,
            dimension: &report.dimension,
            sampled_rows: report.sampled_rows,
            seconds,
            files: files.written(),
        })
    } else {
        outputs::print(&text(&report))
    };
    if !args.speech.json && told.is_ok() {
        account::say_files(files.written(), words);
    }
    files.end(told)
}

fn check_outputs(args: &DoctorIsomapArgs) -> Result<(), Failure> {
    if args.edges.as_deref().is_some_and(is_standard) {
        return Err(Failure::usage(
            "--edges -",
            "standard output is for what the doctor says",
            "Give --edges a file name",
        ));
    }
    let edges = args.edges.iter().map(|path| Wanted { flag: "--edges", path, kind: Kind::Table });
    let others = outputs::wanted_plots(&args.plot).chain(report::wanted(args.report.as_ref()));
    outputs::check(&[&args.input.data], &edges.chain(others).collect::<Vec<_>>())
}

fn settings(args: &DoctorIsomapArgs, data: &DataAccount) -> IsomapDoctor {
    let mut settings = IsomapDoctor::new(args.components)
        .cut(args.cut)
        .search(args.search.into())
        .seed(args.machine.seed)
        .threads(args.machine.threads.into());
    if let MetricChoice::Of(metric) = args.metric {
        settings = settings.metric(metric);
    }
    if let Some(k) = args.neighbors {
        settings = settings.neighbors(k);
    }
    match args.machine.memory {
        Some(limit) => {
            settings.memory_limit(limit.saturating_sub(samples_bytes(data, Precision::F64)).max(1))
        }
        None => settings,
    }
}

/// A suspect for programs.
fn told(suspect: &Suspect) -> Value {
    let Suspect { edge, flow, detour, angle } = suspect;
    json!({
        "from": edge.from + 1,
        "to": edge.to + 1,
        "length": edge.length,
        "flow": flow,
        "detour": detour,
        "angle": angle,
        "sentence": suspect.sentence(),
    })
}

/// The table that `fit isomap --cut=FILE` reads.
fn write_edges(path: &Path, suspects: &[Suspect]) -> Result<(), Failure> {
    let names = ["from", "to", "length", "flow", "detour", "angle"].map(String::from).to_vec();
    let row = |suspect: &Suspect| {
        let Suspect { edge, flow, detour, angle } = suspect;
        [
            (edge.from + 1) as f64,
            (edge.to + 1) as f64,
            edge.length,
            *flow,
            detour.unwrap_or(f64::NAN),
            angle.unwrap_or(f64::NAN),
        ]
    };
    let values: Vec<f64> = suspects.iter().flat_map(row).collect();
    let table = Matrix::from_vec(values, suspects.len(), names.len())?;
    outputs::write_scores(path, &Carried::default(), names, &table)
}

/// The sweep, what to take, and which edges are suspicious.
fn text(report: &IsomapReport) -> String {
    let mut lines = vec![sweep(report)];
    if let Some(rows) = report.sampled_rows {
        lines.push(format!("numbers of neighbours were tried on {rows} rows drawn at random"));
    }
    lines.push(report.sentence.clone());
    if !report.dimension.is_empty() {
        let words: Vec<String> =
            report.dimension.iter().map(|(d, variance)| format!("{d}: {variance:.4}")).collect();
        lines.push(format!(
            "residual variance by number of coordinates, with {} neighbours: {}",
            report.recommended,
            words.join(", ")
        ));
    }
    lines.push(suspects(report));
    lines.extend(report.after_cut.as_ref().map(without));
    lines.join("\n")
}

fn sweep(report: &IsomapReport) -> String {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let row = |row: &SweepRow| {
        vec![
            row.n_neighbors.to_string(),
            row.n_components.to_string(),
            or_dash(row.residual_variance.map(|variance| format!("{variance:.4}"))),
            or_dash(row.mean_geodesic.map(|mean| format!("{mean:.4}"))),
            or_dash(row.drop.map(|drop| format!("{:.1} %", 100.0 * drop))),
            or_dash(row.fall.map(|fall| format!("{:.1} %", 100.0 * fall))),
            match row.too_many {
                true => "too many".into(),
                false => or_dash(row.n_suspects.map(|count| count.to_string())),
            },
            if row.n_neighbors == report.recommended { "← recommended".into() } else { String::new() },
        ]
    };
    let rows: Vec<Vec<String>> = report.sweep.iter().map(row).collect();
    let heading =
        ["neighbors", "components", "residual variance", "mean distance", "drop", "fall", "suspects", ""];
    aligned(&heading, &rows)
}

fn suspects(report: &IsomapReport) -> String {
    let graph = format!("the graph of {} neighbors", report.examined);
    let swept = report.sweep.iter().find(|row| row.n_neighbors == report.examined);
    if let Some(row) = swept.filter(|row| row.too_many && report.suspects.is_empty()) {
        return format!(
            "{graph} has too many short circuits to tell them apart: its mean distance is {:.0} % below that of {} neighbors",
            100.0 * row.fall.unwrap_or(0.0),
            report.recommended
        );
    }
    if report.suspects.is_empty() {
        return format!("no edge of {graph} looks like a short circuit");
    }
    let mut lines = vec![format!(
        "{} of {graph} {}:",
        counted(report.suspects.len(), "edge"),
        if report.suspects.len() == 1 { "looks like a short circuit" } else { "look like short circuits" }
    )];
    lines.extend(
        report.suspects.iter().take(SHOWN_SUSPECTS).map(|suspect| format!("  {}", suspect.sentence())),
    );
    match report.suspects.len().saturating_sub(SHOWN_SUSPECTS) {
        0 => {}
        more => lines.push(format!("  … and {more} more (all of them with --edges FILE or --json)")),
    }
    lines.join("\n")
}

/// What changes without the suspects.
fn without(after: &AfterCut) -> String {
    if after.n_cut == 0 {
        return "nothing is to be cut".into();
    }
    let change = |name: &str, was: Option<f64>, is: Option<f64>| match (was, is) {
        (Some(was), Some(is)) => format!("{name} {was:.4} becomes {is:.4}"),
        (None, Some(is)) => format!("{name} {is:.4}"),
        (_, None) => format!("{name} not known"),
    };
    format!(
        "without {}: {}, {}, {}",
        if after.n_cut == 1 { "it".into() } else { format!("these {}", counted(after.n_cut, "edge")) },
        change("residual variance", after.residual_variance_before, after.residual_variance),
        change("mean distance", after.mean_geodesic_before, after.mean_geodesic),
        match after.n_components {
            1 => "and the graph stays connected".into(),
            n => format!("and the graph has {n} components"),
        }
    )
}

fn picture(report: &IsomapReport, title: &str) -> Result<Figure, Failure> {
    fn each<T>(report: &IsomapReport, pick: impl Fn(&SweepRow) -> T) -> Vec<T> {
        report.sweep.iter().map(pick).collect()
    }
    Ok(doctor(&DoctorPicture {
        neighbors: &each(report, |row| row.n_neighbors),
        residual_variance: &each(report, |row| row.residual_variance),
        components: &each(report, |row| row.n_components),
        mean_geodesic: &each(report, |row| row.mean_geodesic),
        suspects: &each(report, |row| row.n_suspects.filter(|_| !row.too_many)),
        recommended: report.recommended,
        title,
    })?)
}
