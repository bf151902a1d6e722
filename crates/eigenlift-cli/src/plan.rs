//! `eigenlift plan`: what fit would do, without doing it.

use crate::args::{InputArgs, MachineArgs, Precision, SpeechArgs};
use crate::exit::Failure;
use crate::input::DataAccount;
use crate::interrupt::Session;
use crate::method::{self, Method, Rows};
use crate::outputs;
use crate::rows::TableRows;
use crate::words::Words;

/// Reads the table, decides, prints the plan.
pub(crate) fn run(
    method: &dyn Method,
    input: &InputArgs,
    (machine, speech): (&MachineArgs, SpeechArgs),
    session: &Session,
) -> Result<(), Failure> {
    let words = Words::new(speech.quiet);
    let of_pieces = |mut rows: TableRows| {
        rows.account.say(words);
        method.check(&rows.account, &[])?;
        session.watched(speech.quiet, |watch| method.plan_source(&mut rows, watch))
    };
    let plan = match method::in_pieces(method, input, machine)? {
        Some(rows) => of_pieces(rows)?,
        None => {
            let mut whole = method.read(input)?;
            let weights = whole.take_weights(method.weights())?;
            whole.account.say(words);
            whole.account.note_constant_columns(words);
            method.check(&whole.account, &[])?;
            let target = whole.carried.target.take();
            let rows = Rows { samples: whole.take_samples(method.precision())?, weights, target };
            let plan =
                session.watched(speech.quiet, |watch| Ok(method.plan(&whole.account, &rows, watch)))?;
            match method::pieces_instead(method, input, &plan)? {
                Some(pieces) => of_pieces(pieces)?,
                None => plan?,
            }
        }
    };
    if speech.json { outputs::print_json(&plan.json) } else { outputs::print(&plan.text) }
}

/// Bytes that the samples of a table take.
pub(crate) fn samples_bytes(data: &DataAccount, precision: Precision) -> u64 {
    data.entries as u64 * if precision.is_single() { 4 } else { 8 }
}
