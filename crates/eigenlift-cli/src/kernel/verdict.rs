//! Questions whose answer is a sentence: valid or not, which dimension, the same or not.

use super::prepare;
use crate::args::{CompareArgs, KernelArgs};
use crate::exit::Failure;
use crate::interrupt::Session;
use crate::outputs;
use eigenlift::data::AnySamples;
use eigenlift::engine::Cpu;
use eigenlift::kernel::{Dimension, KernelSpec};
use eigenlift::kernel_check::{self, mercer_check};
use eigenlift::methods::KernelPca;
use eigenlift::model::Solver;
use serde_json::json;

/// Up to this many samples the rank on the data itself is computed.
const RANK_SAMPLES: usize = 1000;

/// The Mercer check.
pub(super) fn check(args: &KernelArgs, session: &Session) -> Result<(), Failure> {
    let (input, x) = prepare(args, false, session)?;
    let (samples, engine) = (AnySamples::from(x), Cpu::new(args.machine.threads.into())?);
    let report = session.watched(args.speech.quiet, |watch| {
        Ok(mercer_check(&args.kernel, &samples, &engine, args.machine.memory, args.machine.seed, watch)?)
    })?;
    if args.speech.json {
        return outputs::print_json(&json!({
            "command": "kernel check",
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": args.kernel.to_string(),
            "sentence": report.sentence(),
            "report": report,
        }));
    }
    let theory = match report.known_valid {
        Some(true) => "theory: positive semi-definite on every data set",
        Some(false) => "theory: not a Mercer kernel",
        None => "theory: not known to be a Mercer kernel; it depends on the data and the parameters",
    };
    let mut lines = vec![format!("kernel {}", args.kernel), report.sentence(), theory.to_string()];
    if let Some(n) = report.n_negative.filter(|n| *n > 0) {
        lines.push(format!("negative eigenvalues beyond rounding: {n} of {}", samples.n_rows()));
    }
    outputs::print(&lines.join("\n"))
}

/// The dimension of the feature space.
pub(super) fn dimension(args: &KernelArgs, session: &Session) -> Result<(), Failure> {
    let (input, x) = prepare(args, false, session)?;
    let (n, d) = (x.n_rows(), x.n_cols());
    let dimension = args.kernel.dimension(d);
    let few = n <= RANK_SAMPLES && n > 1;
    let rank = if few {
        let settings = KernelPca::new(n - 1)
            .kernel(args.kernel.clone())
            .seed(args.machine.seed)
            .threads(args.machine.threads.into())
            .solver(Solver::Dense);
        // Why: the dimension needs no data; where the kernel overflows on it there is just no rank to report.
        session.watched(args.speech.quiet, |watch| match settings.watch(watch.clone()).fit(x) {
            Err(eigenlift::error::Error::Cancelled) => Err(eigenlift::error::Error::Cancelled.into()),
            fitted => Ok(fitted.ok().map(|model| model.n_components())),
        })?
    } else {
        None
    };
    if args.speech.json {
        let finite = match dimension {
            Dimension::Finite(count) => u64::try_from(count).ok(),
            _ => None,
        };
        return outputs::print_json(&json!({
            "command": "kernel dim",
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": args.kernel.to_string(),
            "n_features": d,
            "dimension": dimension.to_string(),
            "dimension_finite": finite,
            "centered_rank": rank,
        }));
    }
    let mut lines = vec![
        format!("kernel {}", args.kernel),
        format!("{d} features: dimension of the feature space {dimension}"),
        centred(&args.kernel, dimension, n),
    ];
    if let Some(rank) = rank {
        lines.push(format!("on these {n} rows: rank {rank} after centring"));
    }
    outputs::print(&lines.join("\n"))
}

/// What centring leaves: a polynomial with coef0 > 0 has the constant among its features, which goes.
fn centred(kernel: &KernelSpec, dimension: Dimension, n: usize) -> String {
    let samples = format!("{n} rows leave at most {}", n.saturating_sub(1));
    match dimension {
        Dimension::Finite(count) if kernel.has_constant() => {
            format!("centring removes the constant: rank at most {}; {samples}", count.saturating_sub(1))
        }
        _ => format!("centring removes the constant, where the feature space has one; {samples}"),
    }
}

/// Two kernels side by side.
pub(super) fn compare(args: &CompareArgs, session: &Session) -> Result<(), Failure> {
    let shared = &args.shared;
    let (input, x) = prepare(shared, false, session)?;
    let result = session.watched(shared.speech.quiet, |watch| {
        Ok(kernel_check::compare(&shared.kernel, &args.with, (&x).into(), shared.machine.seed, watch)?)
    })?;
    if shared.speech.json {
        return outputs::print_json(&json!({
            "command": "kernel compare",
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": shared.kernel.to_string(),
            "with": args.with.to_string(),
            "sentence": result.sentence(),
            "comparison": result,
        }));
    }
    outputs::print(&format!("{}\n{}\n{}", shared.kernel, args.with, result.sentence()))
}
