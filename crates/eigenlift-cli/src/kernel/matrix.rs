//! Matrices between all rows, as tables.

use super::{prepare, rows};
use crate::args::KernelArgs;
use crate::exit::Failure;
use crate::interrupt::Session;
use crate::outputs;
use crate::pairwise::{Square, refuse_large, square};
use crate::standard::is_standard;
use crate::words::Words;
use eigenlift_io::{Output, write_table};
use serde_json::json;
use std::path::Path;

/// Computes the matrix and writes it.
pub(super) fn run(args: &KernelArgs, which: Square, session: &Session) -> Result<(), Failure> {
    let (input, x) = prepare(args, true, session)?;
    refuse_large(x.n_rows(), args.machine.memory)?;
    let (kernel, matrix) = session
        .watched(args.speech.quiet, |watch| square(which, &args.kernel, &x, args.machine.seed, watch))?;
    let words = Words::new(args.speech.quiet);
    words.say(format_args!("kernel {kernel}"));
    if args.speech.json && args.out.is_none() {
        return outputs::print_json(&json!({
            "command": format!("kernel {}", which.name()),
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": kernel,
            "matrix": rows(&matrix),
        }));
    }
    let path = args.out.as_deref().unwrap_or(Path::new("-"));
    let names: Vec<String> = (1..=matrix.n_cols()).map(|j| format!("row{j}")).collect();
    let output =
        Output { names: &names, n_rows: matrix.n_rows(), values: matrix.as_slice(), ..Output::default() };
    write_table(path, &output, None)?;
    if args.speech.json {
        return outputs::print_json(&json!({
            "command": format!("kernel {}", which.name()),
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": kernel,
            "files": [path],
        }));
    }
    if !is_standard(path) {
        words.say(format_args!("wrote {} ({} × {})", path.display(), matrix.n_rows(), matrix.n_cols()));
    }
    Ok(())
}
