//! `eigenlift plan`: what fit would do, without doing it.

use crate::args::{PlanArgs, SettingArgs, SolverChoice};
use crate::exit::Failure;
use crate::input::Input;
use crate::interrupt::Session;
use crate::outputs;
use crate::words::Words;
use eigenlift::methods::KernelPca;
use eigenlift::model::Solver;

/// The settings that the command line asks for.
pub(crate) fn settings(args: &SettingArgs, names: &[String]) -> KernelPca {
    let mut settings = KernelPca::new(args.components)
        .kernel(args.kernel.clone())
        .tolerance(args.tol)
        .repair(args.repair)
        .seed(args.machine.seed)
        .threads(args.machine.threads.into())
        .column_names(names.to_vec());
    if let Some(limit) = args.machine.memory {
        settings = settings.memory_limit(limit);
    }
    match args.solver {
        SolverChoice::Auto => settings,
        SolverChoice::Dense => settings.solver(Solver::Dense),
        SolverChoice::Davidson => settings.solver(Solver::Davidson),
    }
}

/// Reads the table, decides, prints the plan.
pub(crate) fn run(args: &PlanArgs, session: &Session) -> Result<(), Failure> {
    let words = Words::new(args.speech.quiet);
    let mut input = Input::read(&args.input)?;
    input.say(words);
    input.note_constant_columns(words);
    let samples = input.take_samples(args.settings.precision)?;
    let settings = settings(&args.settings, &input.account.column_names);
    let plan =
        session.watched(args.speech.quiet, |watch| Ok(settings.watch(watch.clone()).plan(&samples)?))?;
    if args.speech.json { outputs::print_json(&plan) } else { outputs::print(&plan.to_string()) }
}
