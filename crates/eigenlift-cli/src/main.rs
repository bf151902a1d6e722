//! The command line `eigenlift`: reads the words, runs one command, ends with a status that says how it went.

mod account;
mod args;
mod certify;
mod data;
mod demo;
mod exit;
mod fit;
mod input;
mod inspect;
mod interrupt;
mod kernel;
mod outputs;
mod plan;
mod plot;
mod progress;
mod rows;
mod saved;
mod shell;
mod transform;
mod values;
mod words;

use args::{Cli, Command, FitMethod, PlanMethod};
use clap::Parser;
use exit::Failure;
use interrupt::Session;
use std::process::ExitCode;

fn main() -> ExitCode {
    exit::guarded(|| match Cli::try_parse() {
        Ok(cli) => exit::code(Session::start().and_then(|session| run(&cli.command, &session))),
        Err(error) => exit::usage(&error),
    })
}

fn run(command: &Command, session: &Session) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, session),
        Command::Data(args) => data::run(args),
        Command::Plan { method: PlanMethod::Kpca(args) } => plan::run(args, session),
        Command::Fit { method: FitMethod::Kpca(args) } => fit::run(args, session),
        Command::Transform(args) => transform::run(args, session),
        Command::Certify(args) => certify::run_certify(args, session),
        Command::Refine(args) => certify::run_refine(args, session),
        Command::Inspect(args) => inspect::run(args),
        Command::Kernel { question } => kernel::run(question, session),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { out } => shell::man(out.as_deref()),
    }
}
