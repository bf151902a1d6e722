//! `eigenlift certify` and `eigenlift refine`: from a rough model to bounds, and to an exact one.

use crate::account::{self, FitAccount, Seconds};
use crate::args::{CertifyArgs, InputArgs, Precision, RefineArgs, SpeechArgs};
use crate::exit::Failure;
use crate::figures;
use crate::input::Input;
use crate::interrupt::Session;
use crate::outputs::{self, Kind, OutputFiles, Wanted, Written, title};
use crate::saved;
use crate::table::samples_bytes;
use crate::values::PlotRequest;
use crate::words::{Words, indented, timed};
use eigenlift::data::AnySamples;
use eigenlift::engine::Cpu;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn precision(model: &FittedKernelPca) -> Precision {
    if model.plan().precision == "f32" { Precision::F32 } else { Precision::F64 }
}

/// Reads the samples of a model, their columns in its order and in its precision.
fn read(model: &FittedKernelPca, args: &InputArgs, words: Words) -> Result<(Input, AnySamples), Failure> {
    let mut input = Input::read(args)?;
    input.match_columns(model.column_names(), model.projection().lift.n_features())?;
    input.account.say(words);
    let samples = input.take_samples(precision(model))?;
    Ok((input, samples))
}

/// One exact pass.
pub(crate) fn run_certify(args: &CertifyArgs, session: &Session) -> Result<(), Failure> {
    let wanted: Vec<Wanted<'_>> =
        model_output(args.model.as_deref()).chain(outputs::wanted_plots(&args.plot)).collect();
    outputs::check(&[&args.input.data, &args.from], &wanted)?;
    let words = Words::new(args.speech.quiet);
    let rough = saved::load_kernel_pca(&args.from)?.with_engine(Arc::new(Cpu::new(args.threads.into())?));
    let (input, samples) = read(&rough, &args.input, words)?;
    let (model, fit) = session.watched(args.speech.quiet, |watch| {
        let (model, seconds) = timed(|| rough.certify_watched(samples, watch));
        Ok((model?, seconds))
    })?;
    let mut seconds = Seconds { read: input.seconds, fit, ..Seconds::default() };
    let mut files = OutputFiles::default();
    save(&model, args.model.as_ref(), &mut seconds, &mut files)?;
    draw(&model, &args.plot, &args.input, &mut seconds, &mut files)?;
    let told = tell("certify", &input, &model, (seconds, files.written()), args.speech);
    files.end(told)
}

/// Exact passes until the tolerance holds.
pub(crate) fn run_refine(args: &RefineArgs, session: &Session) -> Result<(), Failure> {
    outputs::check_standard_output(args.speech.json, args.out.as_deref())?;
    let scores = args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let wanted: Vec<Wanted<'_>> =
        model_output(args.model.as_deref()).chain(scores).chain(outputs::wanted_plots(&args.plot)).collect();
    outputs::check(&[&args.input.data, &args.from], &wanted)?;
    let words = Words::new(args.speech.quiet);
    let rough =
        saved::load_kernel_pca(&args.from)?.with_engine(Arc::new(Cpu::new(args.machine.threads.into())?));
    let (input, samples) = read(&rough, &args.input, words)?;
    let k = args.components.unwrap_or(rough.n_components());
    outputs::check_names(&input.carried.names(), "kpca", k)?;
    let mut settings =
        KernelPca::new(k).tolerance(args.tol).seed(args.machine.seed).threads(args.machine.threads.into());
    if let Some(limit) = args.machine.memory {
        settings = settings
            .memory_limit(limit.saturating_sub(samples_bytes(&input.account, precision(&rough))).max(1));
    }
    let (model, fit) = session.watched(args.speech.quiet, |watch| {
        let (model, seconds) = timed(|| settings.watch(watch.clone()).refine(&rough, samples));
        Ok((model?, seconds))
    })?;
    let mut seconds = Seconds { read: input.seconds, fit, ..Seconds::default() };
    if !args.speech.json {
        words.say(format_args!("plan:\n{}", indented(&model.plan().to_string())));
    }
    let mut files = OutputFiles::default();
    save(&model, args.model.as_ref(), &mut seconds, &mut files)?;
    draw(&model, &args.plot, &args.input, &mut seconds, &mut files)?;
    if let Some(out) = &args.out {
        seconds.write += files.put(out, "scores", || {
            let scores = model.scores()?;
            let names = outputs::score_names("kpca", scores.n_cols());
            outputs::write_scores(out, &input.carried, names, &scores)
        })?;
    }
    let told = tell("refine", &input, &model, (seconds, files.written()), args.speech);
    files.end(told)
}

fn model_output(path: Option<&Path>) -> impl Iterator<Item = Wanted<'_>> {
    path.into_iter().map(|path| Wanted { flag: "--model", path, kind: Kind::Model })
}

fn save(
    model: &FittedKernelPca,
    path: Option<&PathBuf>,
    seconds: &mut Seconds,
    files: &mut OutputFiles,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    seconds.write += files.put(path, "model", || saved::save(model, path))?;
    Ok(())
}

/// The spectrum with its bounds.
fn draw(
    model: &FittedKernelPca,
    plots: &[PlotRequest],
    input: &InputArgs,
    seconds: &mut Seconds,
    files: &mut OutputFiles,
) -> Result<(), Failure> {
    for request in plots {
        let draw =
            || figures::save(&figures::draw_scree(model, &title("Kernel PCA", &input.data))?, &request.path);
        *seconds.plot.get_or_insert(0.0) += files.put(&request.path, request.kind.name(), draw)?;
    }
    Ok(())
}

fn tell(
    command: &'static str,
    input: &Input,
    model: &FittedKernelPca,
    (seconds, files): (Seconds, &[Written]),
    speech: SpeechArgs,
) -> Result<(), Failure> {
    let words = Words::new(speech.quiet);
    if speech.json {
        return outputs::print_json(&FitAccount::new(command, &input.account, model, seconds, files)?);
    }
    crate::method::say(model, words);
    account::say_end(seconds, files, words);
    Ok(())
}
