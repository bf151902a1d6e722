//! Arguments of every subcommand, drawn at random: every run ends with an answer.
//!
//! A few seconds with a fixed seed; `EIGENLIFT_FUZZ_SECONDS=600 cargo test -p eigenlift-cli --test all fuzz_arguments -- --nocapture`
//! takes that long, with another seed each time, which it prints.

use eigenlift_fuzz::{Mutator, Outcome, arguments, draw_arguments, flags_of, prepare_folder};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Runs when nothing else is asked for.
const RUNS: usize = 120;
const SECONDS: u64 = 8;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_run_ends_with_an_answer() {
    let seconds = number("EIGENLIFT_FUZZ_SECONDS");
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("EIGENLIFT_FUZZ_SEED").unwrap_or(if seconds.is_some() { clock } else { 1 });
    let runs = if seconds.is_some() { usize::MAX } else { RUNS };
    let time = Duration::from_secs(seconds.unwrap_or(SECONDS));
    let (binary, folder) =
        (Path::new(crate::support::EIGENLIFT), tempfile::tempdir().expect("a temporary folder"));
    prepare_folder(binary, folder.path());
    let commands = flags_of(binary, &[]);
    assert!(commands.len() > 25, "{} subcommands were found", commands.len());
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arguments");
    let mut past: Vec<PathBuf> =
        std::fs::read_dir(kept).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    past.sort();
    let mut mutator = Mutator::new(seed);
    let (start, mut counts) = (Instant::now(), BTreeMap::new());
    println!("seed {seed}, {} subcommands", commands.len());
    let n_past = past.len();
    let past = past.iter().filter_map(|path| std::fs::read(path).ok()).map(Some);
    // Each subcommand in turn, and all of them at least once whatever the time.
    let mut subcommands = commands.iter().cycle();
    for (at, kept) in past.chain((0..runs).map(|_| None)).enumerate() {
        if at >= n_past + commands.len() && start.elapsed() > time {
            break;
        }
        let draw = || subcommands.next().map(|one| draw_arguments(&mut mutator, one).join("\n").into_bytes());
        let Some(input) = kept.or_else(draw) else { break };
        match arguments(binary, folder.path(), &input) {
            Outcome::Answered(code) => *counts.entry(code).or_insert(0usize) += 1,
            Outcome::Skipped => {}
            Outcome::Wrong(what) => panic!("seed {seed}: {what}"),
        }
    }
    let runs: usize = counts.values().sum();
    // A line of the table of `cargo xtask audit`.
    println!(
        "fuzz | arguments of {} subcommands | runs that end with an answer | all | {runs} of {runs}, by exit status {counts:?} | 0 | holds",
        commands.len()
    );
    assert!(counts.get(&0).is_some_and(|count| *count > 0) && counts.contains_key(&2), "{counts:?}");
}
