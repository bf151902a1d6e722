//! `eigenlift plan`: what fit would do, without doing it.

use crate::args::{InputArgs, MachineArgs, Precision, SpeechArgs};
use crate::exit::Failure;
use crate::input::{DataAccount, Input};
use crate::interrupt::Session;
use crate::method::{Method, Rows};
use crate::outputs;
use crate::rows::too_large;
use crate::words::Words;

/// Reads the table, decides, prints the plan.
pub(crate) fn run(
    method: &dyn Method,
    input: &InputArgs,
    (machine, speech): (&MachineArgs, SpeechArgs),
    session: &Session,
) -> Result<(), Failure> {
    let words = Words::new(speech.quiet);
    let plan = match too_large(input, machine)? {
        Some(rows) => {
            let mut rows = rows.in_single_precision(method.precision().is_single());
            rows.take_weights(method.weights())?;
            rows.account.say(words);
            method.check(&rows.account, &[])?;
            session.watched(speech.quiet, |watch| method.plan_source(&mut rows, watch))?
        }
        None => {
            let mut input = Input::read(input)?;
            let weights = input.take_weights(method.weights())?;
            input.account.say(words);
            input.account.note_constant_columns(words);
            method.check(&input.account, &[])?;
            let rows = Rows { samples: input.take_samples(method.precision())?, weights };
            session.watched(speech.quiet, |watch| method.plan(&input.account, &rows, watch))?
        }
    };
    if speech.json { outputs::print_json(&plan.json) } else { outputs::print(&plan.text) }
}

/// Bytes that the samples of a table take.
pub(crate) fn samples_bytes(data: &DataAccount, precision: Precision) -> u64 {
    data.entries as u64 * if precision.is_single() { 4 } else { 8 }
}
