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

use args::{ChooseMethod, Cli, Command, PlanMethod};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
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
    exit::guarded(|| match command_line() {
        Ok((cli, memory)) => exit::code(check_names().and_then(|()| {
            memory.into_iter().for_each(heap::keep_to);
            let session = Session::start()?;
            run(&cli.command, &session)
        })),
        Err(error) => exit::usage(&error),
    })
}

/// What was asked for, and the memory allowed for it where a command takes such a limit.
fn command_line() -> Result<(Cli, Option<u64>), clap::Error> {
    let matches = Cli::command().try_get_matches()?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    Ok((cli, memory_allowed(&matches)))
}

/// `--memory` of whichever command was given.
fn memory_allowed(matches: &ArgMatches) -> Option<u64> {
    match matches.subcommand() {
        Some((_, matches)) => memory_allowed(matches),
        None => matches.try_get_one("memory").ok().flatten().copied(),
    }
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
        PlanMethod::Manifold(args) => {
            let how = (&args.settings.machine, args.output);
            plan::run(&ManifoldSettings(&args.settings), &args.input, how, session)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that parse, of each command that takes `--memory`.
    const LIMITED: [&str; 13] = [
        "fit kpca x.csv",
        "fit whiten x.csv",
        "plan kda x.csv --target y",
        "plan isomap x.csv",
        "choose pca x.csv",
        "choose kpca x.csv",
        "select mi x.csv --target y",
        "select forward x.csv --target y",
        "doctor isomap x.csv",
        "refine m.safetensors x.csv",
        "kernel check x.csv --kernel linear",
        "kernel compare x.csv --kernel linear --with linear",
        "kernel eigen x.csv --kernel linear",
    ];

    /// Paths of all commands that take `--memory`.
    fn limited(command: &clap::Command, path: &str) -> Vec<String> {
        let own = command.get_arguments().any(|argument| argument.get_id() == "memory");
        let below =
            command.get_subcommands().flat_map(|sub| limited(sub, &format!("{path} {}", sub.get_name())));
        own.then(|| path.trim().to_string()).into_iter().chain(below).collect()
    }

    #[test]
    fn the_memory_allowed_is_seen_whatever_the_command() {
        let paths = limited(&Cli::command(), "");
        for words in LIMITED {
            let line = format!("eigenlift {words} --memory 5MB");
            let matches = Cli::command().try_get_matches_from(line.split(' '));
            assert_eq!(
                memory_allowed(&matches.unwrap_or_else(|e| panic!("{line}: {e}"))),
                Some(5_000_000),
                "{line}"
            );
            assert!(paths.iter().any(|path| words.starts_with(path.as_str())), "{words}: {paths:?}");
        }
        let first = |words: &str| words.split(' ').next().unwrap_or_default().to_string();
        let named: std::collections::BTreeSet<String> = LIMITED.iter().map(|words| first(words)).collect();
        assert_eq!(named, paths.iter().map(|path| first(path)).collect(), "{paths:?}");
        let without = Cli::command().try_get_matches_from(["eigenlift", "inspect", "m.safetensors"]).unwrap();
        assert_eq!(memory_allowed(&without), None);
    }
}
