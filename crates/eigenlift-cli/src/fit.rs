//! `eigenlift fit kpca`: from a table to scores, a model, pictures and an account.

use crate::account::{self, FitAccount, Seconds};
use crate::args::FitArgs;
use crate::exit::Failure;
use crate::input::{Carried, Input};
use crate::interrupt::Session;
use crate::outputs::{self, Kind, Wanted, Written};
use crate::plan::settings;
use crate::plot;
use crate::saved;
use crate::values::PlotKind;
use crate::words::{Words, indented, timed};
use eigenlift::methods::FittedKernelPca;
use std::path::Path;

/// Checks what was asked for, fits, writes, accounts.
pub(crate) fn run(args: &FitArgs, session: &Session) -> Result<(), Failure> {
    outputs::check_standard_output(args.speech.json, args.out.as_deref())?;
    outputs::check(&[&args.input.data], &wanted(args))?;
    let words = Words::new(args.speech.quiet);
    let mut input = Input::read(&args.input)?;
    check_input(args, &input)?;
    input.say(words);
    input.note_constant_columns(words);
    warn_of_lost_text(args.out.as_deref(), &input.carried, words);

    let samples = input.take_samples(args.settings.precision)?;
    let settings = settings(&args.settings, &input.account.column_names);
    let (model, fit_seconds) = session.watched(args.speech.quiet, |watch| {
        let settings = settings.watch(watch.clone());
        if !args.speech.json {
            words.say(format_args!("plan:\n{}", indented(&settings.plan(&samples)?.to_string())));
        }
        let (model, seconds) = timed(|| settings.fit(samples));
        Ok((model?, seconds))
    })?;
    let mut seconds = Seconds { read: input.seconds, fit: fit_seconds, ..Seconds::default() };
    if args.speech.json {
        model.warnings().iter().for_each(|warning| words.warn(warning));
    } else {
        account::say_result(&model, words);
    }
    let files = write_all(args, session, &model, &input, &mut seconds)?;
    if args.speech.json {
        return outputs::print_json(&FitAccount::new("fit kpca", &input.account, &model, seconds, &files));
    }
    account::say_end(seconds, &files, words);
    Ok(())
}

fn wanted(args: &FitArgs) -> Vec<Wanted<'_>> {
    let out = args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let model = args.model.iter().map(|path| Wanted { flag: "--model", path, kind: Kind::Model });
    let plots = args.plot.iter().map(|plot| Wanted { flag: "--plot", path: &plot.path, kind: Kind::Picture });
    out.chain(model).chain(plots).collect()
}

/// What can be refused once the table is known.
fn check_input(args: &FitArgs, input: &Input) -> Result<(), Failure> {
    outputs::check_names(&input.carried, args.settings.components)?;
    let contours = args.plot.iter().any(|plot| plot.kind == PlotKind::Contours);
    if contours && (input.account.columns != 2 || args.settings.kernel.is_precomputed()) {
        return Err(Failure::usage(
            format!("--plot contours= of {} data columns", input.account.columns),
            "contour lines over the plane need exactly 2 and a kernel that can be computed from them",
            "Choose two with --columns, or leave the contours out",
        ));
    }
    Ok(())
}

/// NPY holds numbers alone.
pub(crate) fn warn_of_lost_text(out: Option<&Path>, carried: &Carried, words: Words) {
    let npy = out.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    if npy && !carried.columns().is_empty() {
        words.note("NPY holds numbers alone: the target and the columns of text are not written; NPZ and Parquet hold them");
    }
}

/// Writes files first and standard output last, so that a reader who leaves early loses no file.
fn write_all(
    args: &FitArgs,
    session: &Session,
    model: &FittedKernelPca,
    input: &Input,
    seconds: &mut Seconds,
) -> Result<Vec<Written>, Failure> {
    let mut files = Vec::new();
    if let Some(path) = &args.model {
        let (saved, took) = timed(|| saved::save(model, path, session));
        saved?;
        seconds.write += took;
        files.push(Written { path: path.clone(), what: "model" });
    }
    for request in &args.plot {
        let (drawn, took) =
            timed(|| plot::write(request, model, input.carried.target.as_ref(), &title(&input.account.path)));
        drawn?;
        *seconds.plot.get_or_insert(0.0) += took;
        files.push(Written { path: request.path.clone(), what: plot::name(request.kind) });
    }
    let standard = Path::new("-");
    let out = match &args.out {
        Some(path) => path,
        None if args.speech.json => return Ok(files),
        None => standard,
    };
    let (written, took) = timed(|| outputs::write_scores(out, &input.carried, &model.scores()?));
    written?;
    seconds.write += took;
    if !outputs::is_standard(out) {
        files.push(Written { path: out.to_owned(), what: "scores" });
    }
    Ok(files)
}

fn title(path: &Path) -> String {
    match path.file_name() {
        Some(name) if !outputs::is_standard(path) => format!("Kernel PCA of {}", name.display()),
        _ => "Kernel PCA".into(),
    }
}
