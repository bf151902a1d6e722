//! Whether a table has room in memory.

use crate::args::InputArgs;
use crate::exit::Failure;
use crate::standard::is_standard;
use crate::table::read_options;
use crate::words::bytes;
use eigenlift::engine::{Cpu, Engine};
use eigenlift_io::{Format, TableStream, is_sparse, sparse_bytes};
use std::path::{Path, PathBuf};

/// No file holds more bytes than this for each of its own, however well it is compressed.
const LARGEST_RATIO: u64 = 1032;
/// What always has room.
const LITTLE: u64 = 64 << 20;

/// Refuses a binary file whose numbers do not fit into the memory allowed, or into that which is free: one that is compressed may
/// hold a thousand times its size, and says so in its header.
pub(crate) fn check_room(args: &InputArgs, allowed: Option<u64>) -> Result<(), Failure> {
    let file = file_of(&args.data);
    let size = std::fs::metadata(&file).map_or(0, |facts| if facts.is_file() { facts.len() } else { 0 });
    let most = size.saturating_mul(LARGEST_RATIO);
    let text = matches!(
        args.format.or_else(|| Format::from_extension(&file)),
        None | Some(Format::Csv | Format::Tsv)
    );
    if is_standard(&args.data) || most <= allowed.unwrap_or(LITTLE) || (text && !is_sparse(&args.data)) {
        return Ok(());
    }
    let (there, what) = match (allowed, Cpu::new(1)?.memory_available()) {
        (Some(allowed), _) => (allowed, "allowed"),
        (None, Some(free)) => (free, "free"),
        (None, None) => return Ok(()),
    };
    let needed = if is_sparse(&args.data) {
        sparse_bytes(&args.data)?
    } else {
        let stream = TableStream::open(&args.data, &read_options(args))?;
        8 * stream.n_rows().unwrap_or(0) as u128 * stream.names().len() as u128
    };
    if needed <= u128::from(there) {
        return Ok(());
    }
    Err(Failure::Machine(format!(
        "{}: its numbers take {} in memory; {} are {what}. {}.",
        args.data.display(),
        bytes(needed),
        bytes(u128::from(there)),
        if what == "allowed" {
            "Allow more with --memory"
        } else {
            "Read fewer columns with --columns, or use a machine with more memory"
        }
    )))
}

/// The file of `FILE.npz:MEMBER`.
pub(crate) fn file_of(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    match text.rsplit_once(':') {
        Some((file, _)) if !path.exists() => file.into(),
        _ => path.to_owned(),
    }
}
