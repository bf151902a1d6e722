//! The command line `eigenlift`: reads the words, runs one command, ends with a status that says how it went.

mod account;
mod apply;
mod args;
mod certify;
mod choose;
mod data;
mod demo;
mod doctor;
mod exit;
mod explore;
mod figures;
mod fit;
mod heap;
mod input;
mod inspect;
mod interrupt;
mod kernel;
mod labels;
mod method;
mod model;
mod outputs;
mod pairwise;
mod plan;
mod plot;
mod progress;
mod report;
mod room;
mod rows;
mod saved;
mod score;
mod select;
mod shell;
mod standard;
mod table;
mod transform;
mod trim;
mod values;
mod views;
mod way_back;
mod words;

use args::{ChooseMethod, Cli, Command, InputArgs, PlanMethod, SpeechArgs};
use clap::Parser;
use exit::Failure;
use fit::Job;
use interrupt::Session;
use method::{
    KccaSettings, KdaSettings, KernelPcaSettings, KkmeansSettings, ManifoldSettings, PcaSettings,
    WhitenSettings,
};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    heap::reserve();
    exit::guarded(|| match Cli::try_parse() {
        Ok(cli) => exit::code(check_names().and_then(|()| {
            let session = Session::start()?;
            run(&cli.command, &session)
        })),
        Err(error) => exit::usage(&error),
    })
}

/// Refuses --json with names of files that are not UTF-8, which JSON could not tell, before the work starts.
fn check_names() -> Result<(), Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    match words.iter().find(|word| word.to_str().is_none()) {
        Some(name) if words.iter().any(|word| word == "--json") => Err(Failure::usage(
            format!("--json with the name {}, which is not UTF-8", name.display()),
            "JSON holds text in UTF-8",
            "Rename the file, or leave --json out",
        )),
        _ => Ok(()),
    }
}

fn run(command: &Command, session: &Session) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, session),
        Command::Data(args) => data::run(args),
        Command::Plan { method } => run_plan(method, session),
        Command::Fit { method } => method.with(|asked| Job { asked, session }.run()),
        Command::Transform(args) => transform::run(args, session),
        Command::Inverse(args) => apply::run_inverse(args, session),
        Command::Denoise(args) => apply::run_denoise(args, session),
        Command::Score(args) => score::run(args, session),
        Command::Choose { method: ChooseMethod::Kpca(args) } => choose::run_kpca(args, session),
        Command::Choose { method: ChooseMethod::Pca(args) } => choose::run(args, session),
        Command::Select { method } => select::run(method, session),
        Command::Doctor { question } => doctor::run(question, session),
        Command::Certify(args) => certify::run_certify(args, session),
        Command::Refine(args) => certify::run_refine(args, session),
        Command::Inspect(args) => inspect::run(args),
        Command::Plot { picture } => plot::run(picture, session),
        Command::Explore(args) => explore::run(args, session),
        Command::Kernel { question } => kernel::run(question, session),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { out } => shell::man(out.as_deref()),
    }
}

fn run_plan(method: &PlanMethod, session: &Session) -> Result<(), Failure> {
    match method {
        PlanMethod::Kpca(args) => {
            let how = (&args.settings.machine, args.speech);
            let method = KernelPcaSettings { args: &args.settings, earlier: None, control_limits: false };
            plan::run(&method, &args.input, how, session)
        }
        PlanMethod::Pca(args) => {
            let how = (&args.settings.linear.machine, args.speech);
            plan::run(&PcaSettings(&args.settings), &args.input, how, session)
        }
        PlanMethod::Whiten(args) => {
            let how = (&args.settings.linear.machine, args.speech);
            plan::run(&WhitenSettings(&args.settings), &args.input, how, session)
        }
        PlanMethod::Isomap(args) => {
            plan_manifold(ManifoldSettings::Isomap(&args.settings), &args.input, args.speech, session)
        }
        PlanMethod::Mds(args) => {
            plan_manifold(ManifoldSettings::Mds(&args.settings), &args.input, args.speech, session)
        }
        PlanMethod::Laplacian(args) => {
            plan_manifold(ManifoldSettings::Laplacian(&args.settings), &args.input, args.speech, session)
        }
        PlanMethod::Diffusion(args) => {
            plan_manifold(ManifoldSettings::Diffusion(&args.settings), &args.input, args.speech, session)
        }
        PlanMethod::Lle(args) => {
            plan_manifold(ManifoldSettings::Lle(&args.settings), &args.input, args.speech, session)
        }
        PlanMethod::Kcca(args) => {
            let how = (&args.settings.factor.machine, args.speech);
            plan::run(&KccaSettings(&args.settings), &args.input, how, session)
        }
        PlanMethod::Kda(args) => {
            let how = (&args.settings.factor.machine, args.speech);
            plan::run(&KdaSettings(&args.settings), &args.input, how, session)
        }
        PlanMethod::Kkmeans(args) => {
            let how = (&args.settings.factor.machine, args.speech);
            plan::run(&KkmeansSettings(&args.settings), &args.input, how, session)
        }
    }
}

fn plan_manifold(
    method: ManifoldSettings<'_>,
    input: &InputArgs,
    speech: SpeechArgs,
    session: &Session,
) -> Result<(), Failure> {
    plan::run(&method, input, (&method.common().machine, speech), session)
}
