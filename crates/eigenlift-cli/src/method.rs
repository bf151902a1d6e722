//! Methods as the command line sees them: settings that fit, and models that are told, drawn and written.

mod factor;
mod kcca;
mod kda;
mod kkmeans;
mod kpca;
mod manifold;
mod pca;
mod whiten;

pub(crate) use kcca::{KccaSettings, OneView};
pub(crate) use kda::KdaSettings;
pub(crate) use kkmeans::KkmeansSettings;
pub(crate) use kpca::{Earlier, KernelPcaSettings};
pub(crate) use manifold::ManifoldSettings;
pub(crate) use pca::PcaSettings;
pub(crate) use whiten::WhitenSettings;

use crate::args::{InputArgs, MachineArgs, Precision};
use crate::exit::Failure;
use crate::input::Input;
use crate::model::{Model, Rows};
use crate::outputs::score_names;
use crate::rows::{TableRows, too_large};
use crate::standard::is_standard;
use crate::table::DataAccount;
use crate::values::PlotKind;
use crate::words::{Words, counted};
use eigenlift::error::Error;
use eigenlift::methods::{
    AnyModel, FittedKernelCca, FittedKernelDiscriminant, FittedKernelKMeans, FittedKernelPca, FittedManifold,
    FittedPca, FittedWhitening,
};
use eigenlift::model::{Body, Job, Model as FittedModel};
use eigenlift::progress::Watch;
use eigenlift_io::is_sparse;
use serde_json::{Map, Value};
use std::path::Path;

/// A plan, in words and for programs.
pub(crate) struct PlanWords {
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl PlanWords {
    fn new(plan: &(impl std::fmt::Display + serde::Serialize)) -> Result<Self, Failure> {
        Ok(Self { text: plan.to_string(), json: json_of(plan)? })
    }

    /// Adds what the whole command takes: bytes with rows and scores, and how often it reads the file; at most how many and how often
    /// where that is not known in advance.
    pub(crate) fn of_command(
        mut self,
        (bytes, most_bytes): (u64, Option<u64>),
        (readings, most_readings): (usize, Option<usize>),
    ) -> Self {
        let human = |n: u64| crate::words::bytes(u128::from(n));
        let most_words = most_bytes.map_or(String::new(), |most| format!(", at most {},", human(most)));
        let readings_words = match most_readings {
            Some(most) => format!("about {readings}, at most {most}, readings"),
            None => counted(readings, "reading"),
        };
        let line = format!(
            "in all       {}{most_words} with rows and scores; {readings_words} of the table\n",
            human(bytes)
        );
        // In front of the reasons.
        let at = self.text.find("  because ").unwrap_or(self.text.len());
        self.text.insert_str(at, &line);
        if let Value::Object(fields) = &mut self.json {
            fields.insert("bytes_in_all".into(), bytes.into());
            if let Some(most) = most_bytes {
                fields.insert("most_bytes_in_all".into(), most.into());
            }
            fields.insert("readings".into(), readings.into());
            if let Some(most) = most_readings {
                fields.insert("most_readings".into(), most.into());
            }
        }
        self
    }

    /// A number of the plan; 0 when it has none of that name.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.json.get(name).and_then(Value::as_u64).unwrap_or(0)
    }
}

/// A fit that is planned: what it will do, and the work itself.
pub(crate) struct Prepared<'a> {
    pub(crate) plan: PlanWords,
    run: Box<dyn FnOnce() -> Result<Box<dyn Model>, Failure> + 'a>,
}

impl<'a> Prepared<'a> {
    /// A job of the library, and what becomes of its model.
    fn new<B: Body>(
        job: Job<'a, B>,
        finish: impl FnOnce(FittedModel<B>) -> Result<Box<dyn Model>, Failure> + 'a,
    ) -> Result<Self, Failure> {
        Ok(Self { plan: PlanWords::new(job.plan())?, run: Box::new(move || finish(job.run()?)) })
    }

    /// Fits the model.
    pub(crate) fn run(self) -> Result<Box<dyn Model>, Failure> {
        (self.run)()
    }
}

/// Settings of a method.
pub(crate) trait Method {
    /// The method's name, which is also that of its scores.
    fn name(&self) -> &'static str;
    /// The method in a title.
    fn title(&self) -> &'static str;
    /// Bytes of the model while scores are computed, with the copies that this takes, where they are not part of the plan.
    fn model_bytes(&self, _: &DataAccount) -> u64 {
        0
    }
    /// Files it reads beside the table.
    fn inputs(&self) -> Vec<&Path> {
        Vec::new()
    }
    /// Reads the table as a whole.
    fn read(&self, input: &InputArgs) -> Result<Input, Failure> {
        Input::read(input)
    }
    /// Columns of one table that make up views, a list for each.
    fn views(&self) -> &[String] {
        &[]
    }
    /// Whether it learns from the labels.
    fn learns_labels(&self) -> bool {
        false
    }
    /// What stands in front of the numbers in the names of scores.
    fn score_prefixes(&self, _: &DataAccount) -> Vec<String> {
        vec![self.name().into()]
    }
    /// Precision of the rows.
    fn precision(&self) -> Precision;
    /// Column that holds weights.
    fn weights(&self) -> Option<&str> {
        None
    }
    /// Whether rows in memory and in chunks give the same, so that the one may stand for the other.
    fn either_way(&self) -> bool {
        false
    }
    /// Whether large blocks come and go between small ones that stay, so that a heap would keep several times what is in use.
    fn fragments_memory(&self) -> bool {
        false
    }
    /// Whether the plan is shown before the fit; otherwise that of the model is shown after it.
    fn plans_first(&self) -> bool {
        true
    }
    /// Most numbers that can come out for a row of the table.
    fn most_outputs(&self, data: &DataAccount) -> usize;
    /// Name of the column that it puts in front of the scores, see [`Model::labels`].
    fn labels(&self) -> Option<&'static str> {
        None
    }
    /// Refuses what can be refused once the table is known.
    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure>;
    /// Plans a fit of rows in memory. Files beside the table are read here, once.
    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure>;
    /// Plans a fit of rows that are read in chunks.
    fn prepare_source<'a>(
        &'a self,
        rows: &'a mut TableRows,
        _watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        Err(needs_all_rows(self.name(), rows))
    }
    /// What remains to be done with the model of rows that are read in chunks, and with the rows once more.
    fn finish_source(
        &self,
        model: Box<dyn Model>,
        _rows: &mut TableRows,
        _watch: &Watch,
    ) -> Result<Box<dyn Model>, Failure> {
        Ok(model)
    }
}

/// A table that is read in chunks.
pub(crate) struct Chunked {
    pub(crate) rows: TableRows,
    pub(crate) whole_instead: WholeInstead,
}

/// Which refusals of a fit in chunks lead back to the table as a whole.
#[derive(Clone, Copy)]
pub(crate) enum WholeInstead {
    /// None.
    Never,
    /// Too little memory.
    ForMemory,
    /// Any.
    Always,
}

impl WholeInstead {
    /// Whether the table is to be read as a whole after all.
    pub(crate) fn after<T>(self, result: &Result<T, Failure>) -> bool {
        match (self, result) {
            (Self::Never, _) | (_, Ok(_)) => false,
            (Self::ForMemory, Err(failure)) => is_memory(failure),
            (Self::Always, Err(_)) => true,
        }
    }
}

/// The table as rows to be read in chunks, when it is too large for the memory allowed.
pub(crate) fn in_chunks(
    method: &dyn Method,
    input: &InputArgs,
    machine: &MachineArgs,
) -> Result<Option<Chunked>, Failure> {
    let Some(rows) = too_large(input, machine)? else { return Ok(None) };
    let rows = for_method(method, rows)?;
    if let Some(memory) = machine.memory.filter(|memory| rows.held_bytes() >= *memory) {
        return Err(Failure::Machine(format!(
            "reading {} a chunk at a time takes {} bytes, for pages of its columns; {memory} are allowed. Allow more --memory, or \
             write the table as NPY or CSV.",
            input.data.display(),
            rows.held_bytes()
        )));
    }
    let number = if method.precision().is_single() { 4 } else { 8 };
    let whole = rows.account.rows as u64 * rows.account.columns as u64 * number;
    let fits = method.either_way() && machine.memory.is_some_and(|memory| whole < memory);
    let whole_instead = if fits { WholeInstead::ForMemory } else { WholeInstead::Never };
    Ok(Some(Chunked { rows, whole_instead }))
}

/// The table in chunks after all, when a fit of the whole was refused. What is refused both ways is reported for the whole table.
pub(crate) fn in_chunks_instead(
    method: &dyn Method,
    input: &InputArgs,
    refused: &Failure,
) -> Result<Option<Chunked>, Failure> {
    let again =
        method.either_way() && is_memory(refused) && !is_standard(&input.data) && !is_sparse(&input.data);
    if !again {
        return Ok(None);
    }
    let rows = for_method(method, TableRows::open(input)?)?;
    Ok(Some(Chunked { rows, whole_instead: WholeInstead::Always }))
}

fn is_memory(failure: &Failure) -> bool {
    matches!(failure, Failure::Library(Error::Memory { .. }))
}

/// Rows that are not in memory cannot be compared with each other.
fn needs_all_rows(method: &str, rows: &TableRows) -> Failure {
    let size = match rows.rows_if_known() {
        Some(n) => format!("{n} rows of {} columns", rows.account.columns),
        None => format!("rows of {} columns", rows.account.columns),
    };
    Failure::Library(Error::Memory {
        found: format!("{size}, which take more than half of the memory allowed"),
        required: format!("{method}: rows must be in memory, all of them"),
        action: "Allow more memory with --memory, use --precision f32, or give fewer rows".into(),
    })
}

/// Rows in the precision of the method, weights behind the data.
fn for_method(method: &dyn Method, rows: TableRows) -> Result<TableRows, Failure> {
    let mut rows = rows.in_single_precision(method.precision().is_single());
    rows.take_weights(method.weights())?;
    Ok(rows)
}

fn boxed(model: impl Model + 'static) -> Box<dyn Model> {
    Box::new(model)
}

/// Recognizes a model of one type, and makes it one that can be described.
type Kind = (fn(&AnyModel) -> bool, fn(AnyModel) -> Option<Box<dyn Model>>);

const KINDS: [Kind; 7] = [
    (AnyModel::is::<FittedKernelPca>, |any| any.take::<FittedKernelPca>().map(boxed)),
    (AnyModel::is::<FittedPca>, |any| any.take().map(pca::Told::of).map(boxed)),
    (AnyModel::is::<FittedWhitening>, |any| any.take().map(whiten::Told::of).map(boxed)),
    (AnyModel::is::<FittedManifold>, |any| any.take().map(manifold::Told::of).map(boxed)),
    (AnyModel::is::<FittedKernelCca>, |any| any.take::<FittedKernelCca>().map(boxed)),
    (AnyModel::is::<FittedKernelDiscriminant>, |any| any.take().map(kda::Told::of).map(boxed)),
    (AnyModel::is::<FittedKernelKMeans>, |any| any.take().map(kkmeans::Told::of).map(boxed)),
];

/// A model of any method, as it came from a file.
pub(crate) fn model(any: AnyModel) -> Result<Box<dyn Model>, Failure> {
    let method = any.fitted().method();
    let kind = KINDS.iter().find(|(is, _)| is(&any));
    kind.and_then(|(_, made)| made(any)).ok_or_else(|| {
        Failure::Input(format!(
            "a model of the method {method}; this command does not describe it. Use a version of eigenlift that does."
        ))
    })
}

/// Names of what comes out for a row.
pub(crate) fn output_names(any: &AnyModel) -> Vec<String> {
    match any.get::<FittedKernelCca>() {
        Some(model) => kcca::names(model.n_views(), model.n_components()),
        None => score_names(any.fitted().method(), any.fitted().n_outputs()),
    }
}

/// Says what was found: warnings first.
pub(crate) fn say(model: &dyn Model, words: Words) {
    model.warnings().iter().for_each(|warning| words.warn(warning));
    model.words().iter().for_each(|line| words.say(line));
}

/// Refuses pictures that a method does not have.
fn check_plots(method: &str, plots: &[PlotKind], known: &[PlotKind]) -> Result<(), Failure> {
    match plots.iter().find(|kind| !known.contains(kind)) {
        None => Ok(()),
        Some(kind) => {
            let names: Vec<&str> = known.iter().map(|kind| kind.name()).collect();
            Err(Failure::usage(
                format!("--plot {}= of {method}", kind.name()),
                &format!("it has the pictures {}", names.join(", ")),
                "Choose one of them",
            ))
        }
    }
}

/// What programs read of a value.
fn json_of(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|why| no_json(&why))
}

fn no_json(why: &dyn std::fmt::Display) -> Failure {
    Failure::Library(Error::model(
        format!("results that cannot be written as JSON ({why})"),
        "names and numbers of a result must be those that JSON knows",
        "Report this as a bug of eigenlift, with the command",
    ))
}

/// The same of a value with named parts.
fn object(value: impl serde::Serialize) -> Result<Map<String, Value>, Failure> {
    match json_of(&value)? {
        Value::Object(map) => Ok(map),
        _ => Err(no_json(&"they have no names")),
    }
}
