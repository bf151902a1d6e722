//! `eigenlift plan`: what fit would do, without doing it.

use crate::args::{LowRankArgs, PlanArgs, Precision, SettingArgs, SolverChoice};
use crate::exit::Failure;
use crate::input::{DataAccount, Input, column_places};
use crate::interrupt::Session;
use crate::outputs;
use crate::rows::{TableRows, too_large};
use crate::values::RankChoice;
use crate::words::Words;
use eigenlift::low_rank::{Approximation, LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelPca;
use eigenlift::model::Solver;
use eigenlift_io::{ReadOptions, read_table};
use std::path::Path;

/// Landmarks that grow, when no number is given: at most so many.
const MOST_GROWN: usize = 2000;
/// Share of a row that earlier landmarks may leave out before it becomes one.
const NOVELTY: f64 = 0.1;

/// The settings that the command line asks for. Memory that `samples_bytes` of samples take is not there for the work.
pub(crate) fn settings(
    args: &SettingArgs,
    data: &DataAccount,
    samples_bytes: u64,
) -> Result<KernelPca, Failure> {
    let mut settings = KernelPca::new(args.components)
        .kernel(args.kernel.clone())
        .tolerance(args.tol)
        .repair(args.repair)
        .seed(args.machine.seed)
        .threads(args.machine.threads.into())
        .column_names(data.column_names.clone());
    if let Some(limit) = args.machine.memory {
        settings = settings.memory_limit(limit.saturating_sub(samples_bytes).max(1));
    }
    settings = match args.solver {
        SolverChoice::Auto => settings,
        SolverChoice::Dense => settings.solver(Solver::Dense),
        SolverChoice::Davidson => settings.solver(Solver::Davidson),
    };
    Ok(match low_rank(&args.low_rank, data)? {
        Some(Accuracy::Exact) => settings.exact(),
        Some(Accuracy::LowRank(how)) => settings.low_rank(how),
        None => settings,
    })
}

enum Accuracy {
    Exact,
    LowRank(LowRank),
}

fn low_rank(args: &LowRankArgs, data: &DataAccount) -> Result<Option<Accuracy>, Failure> {
    if args.novelty.is_some() && args.low_rank != Some(Approximation::Growing) {
        return Err(Failure::usage(
            "--novelty without --low-rank growing",
            "only landmarks that grow have it",
            "Leave one out or add the other",
        ));
    }
    if let Some(path) = &args.landmarks {
        if args.rank.is_some() || args.low_rank.is_some() {
            return Err(Failure::usage(
                "--landmarks with --rank or --low-rank",
                "landmarks that are given need no choice",
                "Leave one of them out",
            ));
        }
        return Ok(Some(Accuracy::LowRank(LowRank::landmarks(read_landmarks(path, data)?))));
    }
    let rank = match (args.rank, args.low_rank) {
        (None, None) => return Ok(None),
        (Some(RankChoice::Exact), None) => return Ok(Some(Accuracy::Exact)),
        (Some(RankChoice::Exact), Some(_)) => {
            return Err(Failure::usage(
                "--rank exact with --low-rank",
                "an exact fit approximates nothing",
                "Leave one of them out",
            ));
        }
        (Some(RankChoice::LowRank(rank)), _) => rank,
        (None, Some(_)) => Rank::default(),
    };
    let how = match args.low_rank.unwrap_or(Approximation::Pivoted) {
        Approximation::Uniform => LowRank::uniform(rank),
        Approximation::KMeans => LowRank::k_means(rank),
        Approximation::Fourier => LowRank::fourier(rank),
        Approximation::TensorSketch => LowRank::tensor_sketch(rank),
        Approximation::Growing => {
            if matches!(args.rank, Some(RankChoice::LowRank(Rank::UntilShare(_)))) {
                return Err(Failure::usage(
                    "--rank auto with --low-rank growing",
                    "how many landmarks grow is decided by --novelty",
                    "Give --novelty, or a number as the most",
                ));
            }
            let most = if let Rank::Exactly(most) = rank { most } else { MOST_GROWN };
            LowRank::growing(args.novelty.unwrap_or(NOVELTY), most)
        }
        _ => LowRank::pivoted(rank),
    };
    Ok(Some(Accuracy::LowRank(how)))
}

/// Landmarks from a table, their columns matched to those of the data.
fn read_landmarks(path: &Path, data: &DataAccount) -> Result<Matrix<f64>, Failure> {
    let table = read_table(path, &ReadOptions::default())?;
    let account = DataAccount {
        path: path.to_owned(),
        rows: table.n_rows,
        columns: table.names.len(),
        column_names: table.names.clone(),
        ..DataAccount::default()
    };
    let width = table.names.len();
    let places = column_places(&account, &data.column_names, data.columns, "the data")?;
    let places = places.unwrap_or_else(|| (0..width).collect());
    Ok(Matrix::from_fn(table.n_rows, places.len(), |i, j| table.values[i * width + places[j]]))
}

/// Reads the table, decides, prints the plan.
pub(crate) fn run(args: &PlanArgs, session: &Session) -> Result<(), Failure> {
    let words = Words::new(args.speech.quiet);
    let plan = match too_large(&args.input, &args.settings.machine)? {
        Some(rows) => {
            let mut rows: TableRows = rows.in_single_precision(args.settings.precision.is_single());
            rows.account.say(words);
            let settings = settings(&args.settings, &rows.account, 0)?;
            session.watched(args.speech.quiet, |watch| {
                Ok(settings.watch(watch.clone()).plan_source(&mut rows)?)
            })?
        }
        None => {
            let mut input = Input::read(&args.input)?;
            input.account.say(words);
            input.account.note_constant_columns(words);
            let samples = input.take_samples(args.settings.precision)?;
            let settings = settings(
                &args.settings,
                &input.account,
                samples_bytes(&input.account, args.settings.precision),
            )?;
            session.watched(args.speech.quiet, |watch| Ok(settings.watch(watch.clone()).plan(&samples)?))?
        }
    };
    if args.speech.json { outputs::print_json(&plan) } else { outputs::print(&plan.to_string()) }
}

/// Bytes that the samples of a table take.
pub(crate) fn samples_bytes(data: &DataAccount, precision: Precision) -> u64 {
    data.rows as u64 * data.columns as u64 * if precision.is_single() { 4 } else { 8 }
}
