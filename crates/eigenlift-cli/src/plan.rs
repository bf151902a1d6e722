//! `eigenlift plan`: what fit would do, without doing it.

use crate::args::{InputArgs, MachineArgs, SpeechArgs};
use crate::exit::Failure;
use crate::interrupt::Session;
use crate::method::{self, Chunked, Method, PlanWords, Prepared};
use crate::model::Rows;
use crate::outputs;
use crate::rows::TableRows;
use crate::table::{DataAccount, samples_bytes};
use crate::words::{Words, bytes};
use eigenlift::error::Error;
use eigenlift::progress::Watch;

/// Numbers that come out for a row, where only the fit can tell.
const UNKNOWN_OUTPUTS: usize = 2;

/// Reads the table, decides, prints the plan.
pub(crate) fn run(
    method: &dyn Method,
    input: &InputArgs,
    (machine, speech): (&MachineArgs, SpeechArgs),
    session: &Session,
) -> Result<(), Failure> {
    let words = Words::new(speech.quiet);
    let in_chunks = |chunked: Chunked| {
        let Chunked { mut rows, whole_instead } = chunked;
        method.check(&rows.account, &[])?;
        let plan = session.watched(speech.quiet, |watch| {
            Ok(method.prepare_source(&mut rows, watch).map(|prepared| prepared.plan))
        })?;
        if whole_instead.after(&plan) {
            return Ok::<_, Failure>(None);
        }
        rows.account.say(words);
        Ok(Some(of_chunks_in_all(plan?, &rows)))
    };
    let chunked = method::in_chunks(method, input, machine)?;
    let plan = match chunked.map(in_chunks).transpose()?.flatten() {
        Some(plan) => plan,
        None => {
            let mut whole = method.read(input)?;
            let weights = whole.take_weights(method.weights())?;
            whole.account.say(words);
            whole.account.note_constant_columns(words);
            method.check(&whole.account, &[])?;
            let target = whole.carried.target.take();
            let rows = Rows { samples: whole.take_samples(method.precision())?, weights, target };
            let plan = session.watched(speech.quiet, |watch| {
                let prepared = prepare_whole(method, &whole.account, &rows, machine, watch);
                Ok(prepared.map(|prepared| prepared.plan))
            })?;
            match plan {
                Ok(plan) => plan,
                Err(refused) => {
                    drop(rows);
                    let chunked = method::in_chunks_instead(method, input, &refused)?;
                    chunked.map(in_chunks).transpose()?.flatten().ok_or(refused)?
                }
            }
        }
    };
    if speech.json { outputs::print_json(&plan.json) } else { outputs::print(&plan.text) }
}

/// A fit of rows in memory, planned, with what it takes in all.
pub(crate) fn prepare_whole<'a>(
    method: &'a dyn Method,
    data: &'a DataAccount,
    rows: &'a Rows,
    machine: &MachineArgs,
    watch: &'a Watch,
) -> Result<Prepared<'a>, Failure> {
    let (held, scores) = (samples_bytes(data, method.precision()), scores_bytes(method, data));
    check_room(held, scores, machine)?;
    let scores = scores + method.model_bytes(data);
    let mut prepared = method.prepare(data, rows, watch)?;
    // A table is read in double precision, and then turned into what the method works in.
    let read = data.entries as u64 * if method.precision().is_single() { 12 } else { 8 };
    let in_all = |work: u64| (held + work.max(scores)).max(read);
    let bytes = at_most(&prepared.plan, in_all);
    prepared.plan = prepared.plan.of_command(bytes, (1, None));
    Ok(prepared)
}

/// The plan for rows in chunks with what it takes in all: the scores are one more reading.
fn of_chunks_in_all(plan: PlanWords, rows: &TableRows) -> PlanWords {
    let others = rows.readings() + 1;
    let readings = others + plan.number("expected_passes") as usize;
    let most = Some(plan.number("most_passes") as usize).filter(|most| *most > 0).map(|most| others + most);
    let held = rows.held_bytes();
    let bytes = at_most(&plan, |work| work + held);
    plan.of_command(bytes, (readings, most))
}

/// What a command takes in all, given what its work takes; and at most, where the plan knows a larger number.
fn at_most(plan: &PlanWords, in_all: impl Fn(u64) -> u64) -> (u64, Option<u64>) {
    let bytes = in_all(plan.number("bytes_needed"));
    (bytes, Some(in_all(plan.number("most_bytes"))).filter(|most| *most > bytes))
}

/// Bytes of the scores of all rows and of their errors.
fn scores_bytes(method: &dyn Method, data: &DataAccount) -> u64 {
    let each = match method.most_outputs(data) {
        // How many there are is found by the fit.
        most if most >= data.rows => UNKNOWN_OUTPUTS,
        most => most,
    };
    data.rows as u64 * 8 * (each * method.score_prefixes(data).len() + 1) as u64
}

/// Refuses rows in memory that leave no room for their scores.
fn check_room(rows: u64, scores: u64, machine: &MachineArgs) -> Result<(), Failure> {
    let Some(limit) = machine.memory.filter(|limit| *limit < rows + scores) else { return Ok(()) };
    let told = |n: u64| bytes(u128::from(n));
    Err(Failure::Library(Error::Memory {
        found: format!("rows that take {} and scores that take {}", told(rows), told(scores)),
        required: format!("{} are allowed in all", told(limit)),
        action: format!("Allow {}, and what the work itself needs", told(rows + scores)),
    }))
}
