//! `eigenlift choose`: how many components, and which bandwidth.

mod curve;
mod kpca;
mod studies;

pub(crate) use curve::figure as curve_figure;
pub(crate) use kpca::run as run_kpca;

use crate::account;
use crate::args::ChoosePcaArgs;
use crate::exit::Failure;
use crate::input::{DataAccount, Input};
use crate::interrupt::Session;
use crate::method::{Method, PcaSettings, Rows, in_pieces, pieces_instead};
use crate::outputs::{self, OutputFiles, Wanted, Written, title};
use crate::plot;
use crate::report::{self, Told};
use crate::rows::TableRows;
use crate::values::PlotKind;
use crate::words::{Words, aligned_with_text, counted, timed};
use eigenlift::methods::FittedPca;
use eigenlift::methods::pca::choose::{self, Choice};
use eigenlift_plot::{Figure, Rule, choice};
use serde::Serialize;

/// The first rules go by what the user asks for; the median of so many after them counts.
const ASKED_OF_THE_USER: usize = 2;
const MEDIAN_OF: usize = 4;

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct ChooseAccount<'a> {
    command: &'static str,
    version: &'static str,
    data: &'a DataAccount,
    n_components: usize,
    choice: &'a Choice,
    spectrum: Vec<f64>,
    residual_errors: Vec<f64>,
    total_variance: f64,
    seconds: f64,
    files: &'a [Written],
}

/// Reads the table, asks the rules, tells and draws what they say.
pub(crate) fn run(args: &ChoosePcaArgs, session: &Session) -> Result<(), Failure> {
    let wanted: Vec<Wanted<'_>> =
        outputs::wanted_plots(&args.plot).chain(report::wanted(args.report.as_ref())).collect();
    outputs::check(&[&args.input.data], &wanted)?;
    let words = Words::new(args.speech.quiet);
    let (model, account, seconds) = fit(args, session)?;
    account.say(words);
    account.note_constant_columns(words);
    let Some(found) = model.choice() else { return Ok(()) };
    let mut files = OutputFiles::default();
    for request in &args.plot {
        let name = title("How many components", &args.input.data);
        let draw = || plot::save(&choice_figure(&model, found, &name)?, &request.path);
        files.put(&request.path, request.kind.name(), draw)?;
    }
    if let Some(path) = &args.report {
        Told {
            title: title("How many components", &args.input.data),
            data: &account,
            warnings: Vec::new(),
            texts: vec![choice_table(found)],
            figures: vec![report::figure(PlotKind::Choice, &choice_figure(&model, found, "")?)],
        }
        .save(path, &mut files)?;
    }
    let told = if args.speech.json {
        outputs::print_json(&ChooseAccount {
            command: "choose pca",
            version: env!("CARGO_PKG_VERSION"),
            data: &account,
            n_components: found.consensus,
            choice: found,
            spectrum: model.spectrum(),
            residual_errors: model.errors_of_spectrum(),
            total_variance: model.total_variance(),
            seconds,
            files: files.written(),
        })
    } else {
        outputs::print(&choice_table(found))
    };
    if !args.speech.json && told.is_ok() {
        account::say_files(files.written(), words);
    }
    files.end(told)
}

/// Principal components with as many as the rules agree on, by the way of `fit pca -k auto`.
fn fit(args: &ChoosePcaArgs, session: &Session) -> Result<(FittedPca, DataAccount, f64), Failure> {
    let settings = args.settings();
    let method = PcaSettings(&settings);
    let quiet = args.speech.quiet;
    let of_pieces = |mut rows: TableRows| {
        session.watched(quiet, |watch| {
            let settings = method.settings(&rows.account, 0, watch);
            let (model, seconds) = timed(|| settings.fit_source(&mut rows));
            let model = model?;
            rows.account.rows = model.n_samples();
            Ok((model, rows.account, seconds))
        })
    };
    if let Some(rows) = in_pieces(&method, &args.input, &args.machine)? {
        return of_pieces(rows);
    }
    let mut input = Input::read(&args.input)?;
    let rows = Rows { samples: input.take_samples(method.precision())?, weights: None, target: None };
    let plan = session.watched(quiet, |watch| Ok(method.plan(&input.account, &rows, watch)))?;
    if let Some(pieces) = pieces_instead(&method, &args.input, &plan)? {
        drop(rows);
        return of_pieces(pieces);
    }
    session.watched(quiet, |watch| {
        let settings = method.in_memory(&input.account, watch);
        let (model, seconds) = timed(|| settings.fit(rows.samples));
        Ok((model?, input.account, seconds))
    })
}

/// The rules, one line each, and what they agree on.
pub(crate) fn choice_table(choice: &Choice) -> String {
    let row = |rule: &choose::Rule| {
        let m = rule.n_components.map_or("–".into(), |m| m.to_string());
        vec![rule.name.to_string(), m, rule.note.clone()]
    };
    let rows: Vec<Vec<String>> = choice.rules.iter().map(row).collect();
    let lines = aligned_with_text(&["rule", "components", "what it says"], &rows, &[0, 2]);
    if choice.consensus == 0 {
        return format!("{lines}\nconsensus: no component stands out from noise; a fit keeps 1");
    }
    let mut answers: Vec<usize> = choice
        .rules
        .iter()
        .skip(ASKED_OF_THE_USER)
        .take(MEDIAN_OF)
        .filter_map(|rule| rule.n_components)
        .collect();
    answers.sort_unstable();
    let median = answers.get(answers.len().saturating_sub(1) / 2);
    let grounds = match answers.len() {
        _ if median.is_some_and(|median| *median > choice.consensus) => {
            "no more than factor analysis tells from noise that differs between columns".to_string()
        }
        0 => "as explained variance says: no rule that asks the data has an answer".to_string(),
        n => format!("median of {n} data-driven rules; {} of them within 1 of it", choice.agreement),
    };
    format!("{lines}\nconsensus: {} ({grounds})", counted(choice.consensus, "component"))
}

/// A picture of the rules.
pub(crate) fn choice_figure(model: &FittedPca, found: &Choice, title: &str) -> Result<Figure, Failure> {
    let rules: Vec<Rule<'_>> =
        found.rules.iter().map(|rule| Rule { name: rule.name, m: rule.n_components }).collect();
    // Errors of cross-validation are those of an entry; J is that of a row.
    let columns = model.n_features() as f64;
    let cross: Vec<(usize, f64, f64)> = found
        .gabriel
        .iter()
        .flat_map(|g| g.errors.iter().map(|(m, mean, spread)| (*m, columns * mean, columns * spread)))
        .collect();
    let eigenvalues = model.spectrum();
    let null = found.parallel.as_ref().map(|p| &p.null[..p.null.len().min(eigenvalues.len())]);
    Ok(choice(&eigenlift_plot::Choice {
        eigenvalues: &eigenvalues,
        null,
        threshold: found.threshold,
        cross_validated: &cross,
        residual: &model.errors_of_spectrum(),
        rules: &rules,
        consensus: found.consensus,
        title,
    })?)
}
