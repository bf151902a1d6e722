//! `eigenlift fit kpca`: from a table to scores, a model, pictures and an account.

use crate::account::{self, FitAccount, Seconds};
use crate::args::FitArgs;
use crate::exit::Failure;
use crate::input::{DataAccount, Input};
use crate::interrupt::Session;
use crate::outputs::{self, Kind, Wanted, Written};
use crate::plan::{samples_bytes, settings};
use crate::plot::{self, Shown};
use crate::rows::{TableRows, too_large};
use crate::saved;
use crate::transform;
use crate::values::PlotKind;
use crate::words::{Words, indented, timed};
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use std::path::Path;

/// Rows of a table read in pieces that a picture shows.
const SHOWN_ROWS: usize = 20_000;

/// Checks what was asked for, fits, writes, accounts.
pub(crate) fn run(args: &FitArgs, session: &Session) -> Result<(), Failure> {
    outputs::check_standard_output(args.speech.json, args.out.as_deref())?;
    outputs::check(&inputs(args), &wanted(args))?;
    match too_large(&args.input, &args.settings.machine)? {
        Some(rows) => fit_pieces(args, rows, session),
        None => fit_whole(args, session),
    }
}

fn inputs(args: &FitArgs) -> Vec<&Path> {
    std::iter::once(args.input.data.as_path()).chain(args.settings.low_rank.landmarks.as_deref()).collect()
}

/// The table is read as a whole.
fn fit_whole(args: &FitArgs, session: &Session) -> Result<(), Failure> {
    let words = Words::new(args.speech.quiet);
    let mut input = Input::read(&args.input)?;
    check_input(args, &input.account, &input.carried.names())?;
    input.account.say(words);
    input.account.note_constant_columns(words);
    warn_of_lost_text(args.out.as_deref(), &input.carried.names(), words);

    let samples = input.take_samples(args.settings.precision)?;
    let settings =
        settings(&args.settings, &input.account, samples_bytes(&input.account, args.settings.precision))?;
    let (model, fit_seconds) = session.watched(args.speech.quiet, |watch| {
        let settings = settings.watch(watch.clone());
        if !args.speech.json {
            words.say(format_args!("plan:\n{}", indented(&settings.plan(&samples)?.to_string())));
        }
        let (model, seconds) = timed(|| settings.fit(samples));
        Ok((model?, seconds))
    })?;
    let mut seconds = Seconds { read: input.seconds, fit: fit_seconds, ..Seconds::default() };
    say_model(args, &model, words);
    let scores = model.scores()?;
    let shown = Shown { scores: &scores, target: input.carried.target.as_ref() };
    let mut files = write_model(args, session, &model, &shown, &mut seconds)?;
    if let Some(out) = scores_output(args) {
        let (written, took) = timed(|| outputs::write_scores(out, &input.carried, &scores));
        written?;
        seconds.write += took;
        note_scores(out, &mut files);
    }
    tell(args, &input.account, &model, seconds, &files)
}

/// The table is read a piece at a time, and once more for the scores.
fn fit_pieces(args: &FitArgs, rows: TableRows, session: &Session) -> Result<(), Failure> {
    let words = Words::new(args.speech.quiet);
    let mut rows = rows.in_single_precision(args.settings.precision.is_single());
    let carried = rows.carried_names();
    check_input(args, &rows.account, &carried)?;
    words.note("the table is too large for the memory allowed: it is read a piece at a time");
    warn_of_lost_text(args.out.as_deref(), &carried, words);
    let settings = settings(&args.settings, &rows.account, 0)?;
    let (model, fit) = session.watched(args.speech.quiet, |watch| {
        let settings = settings.watch(watch.clone());
        let (model, seconds) = timed(|| settings.fit_source(&mut rows));
        Ok((model?, seconds))
    })?;
    if !args.speech.json {
        words.say(format_args!("plan:\n{}", indented(&model.plan().to_string())));
    }
    rows.account.rows = model.n_samples();
    rows.account.say(words);
    rows.account.note_constant_columns(words);
    let mut seconds = Seconds { fit, ..Seconds::default() };
    say_model(args, &model, words);
    let sample = if args.plot.iter().any(|plot| plot.kind == PlotKind::Scatter) {
        session.watched(args.speech.quiet, |watch| sample_scores(&model, &mut rows, watch))?
    } else {
        (Matrix::zeros(0, model.n_components()), None)
    };
    let shown = Shown { scores: &sample.0, target: sample.1.as_ref() };
    let mut files = write_model(args, session, &model, &shown, &mut seconds)?;
    if let Some(out) = scores_output(args) {
        let mut spent = transform::Seconds::default();
        eigenlift::data::RowSource::rewind(&mut rows)?;
        session.watched(args.speech.quiet, |watch| {
            transform::project(&model, &mut rows, Some(out), &mut spent, watch)
        })?;
        seconds.read += spent.read;
        seconds.write += spent.transform + spent.write;
        note_scores(out, &mut files);
    }
    tell(args, &rows.account, &model, seconds, &files)
}

/// Scores and labels of some rows, evenly from the whole table.
fn sample_scores(
    model: &FittedKernelPca,
    rows: &mut TableRows,
    watch: &Watch,
) -> Result<(Matrix<f64>, Option<Target>), Failure> {
    let step = model.n_samples().div_ceil(SHOWN_ROWS).max(1);
    let (mut chosen, mut target, mut at) = (Vec::new(), None::<Target>, 0);
    eigenlift::data::RowSource::rewind(rows)?;
    while let Some(piece) = rows.next_piece(rows.piece_rows())? {
        watch.step("rows for the picture", at, model.n_samples())?;
        let picked: Vec<usize> = (0..piece.rows.n_rows()).filter(|i| (at + i) % step == 0).collect();
        at += piece.rows.n_rows();
        let some = Matrix::from_fn(picked.len(), piece.rows.n_cols(), |i, j| piece.rows[(picked[i], j)]);
        chosen.extend(model.transform_watched(&some, &watch.silent())?.into_vec());
        if let Some(label) = piece.carried.target {
            let all = target.get_or_insert_with(|| Target { values: Vec::new(), ..label.clone() });
            all.numeric &= label.numeric;
            all.values.extend(picked.iter().map(|i| label.values[*i].clone()));
        }
    }
    let k = model.n_components();
    Ok((Matrix::from_vec(chosen.clone(), chosen.len() / k.max(1), k)?, target))
}

fn say_model(args: &FitArgs, model: &FittedKernelPca, words: Words) {
    if args.speech.json {
        model.warnings().iter().for_each(|warning| words.warn(warning));
    } else {
        account::say_result(model, words);
    }
}

fn tell(
    args: &FitArgs,
    data: &DataAccount,
    model: &FittedKernelPca,
    seconds: Seconds,
    files: &[Written],
) -> Result<(), Failure> {
    if args.speech.json {
        return outputs::print_json(&FitAccount::new("fit kpca", data, model, seconds, files));
    }
    account::say_end(seconds, files, Words::new(args.speech.quiet));
    Ok(())
}

fn wanted(args: &FitArgs) -> Vec<Wanted<'_>> {
    let out = args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let model = args.model.iter().map(|path| Wanted { flag: "--model", path, kind: Kind::Model });
    let plots = args.plot.iter().map(|plot| Wanted { flag: "--plot", path: &plot.path, kind: Kind::Picture });
    out.chain(model).chain(plots).collect()
}

/// What can be refused once the table is known.
fn check_input(args: &FitArgs, data: &DataAccount, carried: &[String]) -> Result<(), Failure> {
    outputs::check_names(carried, args.settings.components)?;
    let contours = args.plot.iter().any(|plot| plot.kind == PlotKind::Contours);
    if contours && (data.columns != 2 || args.settings.kernel.is_precomputed()) {
        return Err(Failure::usage(
            format!("--plot contours= of {} data columns", data.columns),
            "contour lines over the plane need exactly 2 and a kernel that can be computed from them",
            "Choose two with --columns, or leave the contours out",
        ));
    }
    Ok(())
}

/// NPY holds numbers alone.
pub(crate) fn warn_of_lost_text(out: Option<&Path>, carried: &[String], words: Words) {
    let npy = out.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    if npy && !carried.is_empty() {
        words.note("NPY holds numbers alone: the target and the columns of text are not written; NPZ and Parquet hold them");
    }
}

/// Writes files first and standard output last, so that a reader who leaves early loses no file.
fn write_model(
    args: &FitArgs,
    session: &Session,
    model: &FittedKernelPca,
    shown: &Shown<'_>,
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
        let (drawn, took) = timed(|| plot::write(request, model, shown, &title(&args.input.data)));
        drawn?;
        *seconds.plot.get_or_insert(0.0) += took;
        files.push(Written { path: request.path.clone(), what: plot::name(request.kind) });
    }
    Ok(files)
}

/// Where the scores go: standard output when nothing is said, nowhere when the account goes there.
fn scores_output(args: &FitArgs) -> Option<&Path> {
    match &args.out {
        Some(path) => Some(path),
        None if args.speech.json => None,
        None => Some(Path::new("-")),
    }
}

fn note_scores(out: &Path, files: &mut Vec<Written>) {
    if !outputs::is_standard(out) {
        files.push(Written { path: out.to_owned(), what: "scores" });
    }
}

fn title(path: &Path) -> String {
    match path.file_name() {
        Some(name) if !outputs::is_standard(path) => format!("Kernel PCA of {}", name.display()),
        _ => "Kernel PCA".into(),
    }
}
