//! `eigenlift choose`: how many components, and which bandwidth.

mod curve;
mod kpca;
mod studies;

pub(crate) use kpca::run as run_kpca;

use crate::account;
use crate::args::ChoosePcaArgs;
use crate::exit::Failure;
use crate::figures;
use crate::input::Input;
use crate::interrupt::Session;
use crate::method::{Chunked, Method, PcaSettings, in_chunks, in_chunks_instead};
use crate::outputs::{self, OutputFiles, Wanted, Written, title};
use crate::report::{self, Told};
use crate::table::DataAccount;
use crate::values::PlotKind;
use crate::words::{Words, timed};
use eigenlift::methods::FittedPca;
use eigenlift::methods::pca::choose::Choice;
use serde::Serialize;

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
        let draw = || figures::save(&figures::draw_rules(&model, found, &name)?, &request.path);
        files.put(&request.path, request.kind.name(), draw)?;
    }
    if let Some(path) = &args.report {
        Told {
            title: title("How many components", &args.input.data),
            data: &account,
            warnings: Vec::new(),
            texts: vec![account::choice_table(found)],
            figures: vec![report::figure(PlotKind::Choice, &figures::draw_rules(&model, found, "")?)],
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
        outputs::print(&account::choice_table(found))
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
    let of_chunks = |chunked: Chunked| {
        let Chunked { mut rows, whole_instead } = chunked;
        session.watched(quiet, |watch| {
            let settings = method.settings(&rows.account, rows.held_bytes(), watch);
            let (job, planning) = timed(|| settings.prepare(&mut rows).map_err(Failure::from));
            if whole_instead.after(&job) {
                return Ok(None);
            }
            let (model, running) = timed(|| Ok::<_, Failure>(job?.run()?));
            let model = model?;
            rows.account.rows = model.n_samples();
            Ok(Some((model, rows.account, planning + running)))
        })
    };
    let chunked = in_chunks(&method, &args.input, &args.machine)?;
    if let Some(found) = chunked.map(of_chunks).transpose()?.flatten() {
        return Ok(found);
    }
    let mut input = Input::read(&args.input)?;
    let samples = input.take_samples(method.precision())?;
    let (model, seconds) = session.watched(quiet, |watch| {
        let settings = method.in_memory(&input.account, watch);
        Ok(timed(|| settings.fit(samples)))
    })?;
    match model.map_err(Failure::from) {
        Ok(model) => Ok((model, input.account, seconds)),
        Err(refused) => {
            let chunked = in_chunks_instead(&method, &args.input, &refused)?;
            chunked.map(of_chunks).transpose()?.flatten().ok_or(refused)
        }
    }
}
