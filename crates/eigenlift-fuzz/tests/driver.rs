//! Drives every target with mutations of its seeds and of past findings: no panic, no hang, no wrong answer.
//!
//! A few seconds altogether in the ordinary tests, with a fixed seed. `EIGENLIFT_FUZZ_SECONDS=600 cargo test -p eigenlift-fuzz
//! --test driver -- --nocapture` takes that long, with another seed each time, which it prints; `EIGENLIFT_FUZZ_SEED` repeats
//! one. An input that fails is written to the temporary folder that the message names.

use eigenlift_fuzz::{Mutator, TARGETS, Target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// What each target gets when nothing else is asked for.
const INPUTS: usize = 1500;
const SECONDS: f64 = 1.5;
/// An input that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Seeds that the target makes and files of past findings.
fn corpus(target: &Target, folder: &std::path::Path) -> Vec<Vec<u8>> {
    let mut corpus = (target.seeds)(folder);
    assert!(!corpus.is_empty(), "{} has no seeds", target.name);
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target.name);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&kept).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    corpus.extend(paths.into_iter().filter_map(|path| std::fs::read(path).ok()));
    corpus
}

/// Runs one target; gives how many inputs there were and how many were accepted.
fn drive(target: &'static Target, seed: u64, inputs: usize, time: Duration) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path().to_path_buf();
    let (sender, receiver) = channel();
    let worker = std::thread::spawn(move || {
        let corpus = corpus(target, &place);
        let mut mutator = Mutator::new(seed);
        let (start, mut count, mut accepted) = (Instant::now(), 0, 0);
        let fresh = (0..inputs).map(|_| None);
        for kept in corpus.iter().cloned().map(Some).chain(fresh) {
            let is_kept = kept.is_some();
            if !is_kept && start.elapsed() > time {
                break;
            }
            let input = kept.unwrap_or_else(|| mutator.input(&corpus, target.words));
            // Before it is tried: what ends the process is left behind too.
            std::fs::write(place.join("tried"), &input).expect("the input");
            match catch_unwind(AssertUnwindSafe(|| (target.run)(&place, &input))) {
                Ok(taken) => accepted += usize::from(taken),
                Err(_) => return Err(input),
            }
            count += 1;
            if sender.send(()).is_err() {
                break;
            }
        }
        Ok((count, accepted))
    });
    loop {
        match receiver.recv_timeout(LIMIT) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let kept = folder.keep();
                eprintln!(
                    "{}: {} s for the input in {}",
                    target.name,
                    LIMIT.as_secs(),
                    kept.join("tried").display()
                );
                panic!("an input hangs");
            }
        }
    }
    match worker.join().expect("the driver itself") {
        Ok(counts) => counts,
        Err(_) => {
            let kept = folder.keep();
            let last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let input = kept.join("tried");
            eprintln!("{}: failed for the input in {}, seed {seed}: {last}", target.name, input.display());
            panic!("an input fails");
        }
    }
}

#[test]
fn no_input_panics_hangs_or_is_read_wrongly() {
    let seconds = number("EIGENLIFT_FUZZ_SECONDS");
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("EIGENLIFT_FUZZ_SEED").unwrap_or(if seconds.is_some() { clock } else { 1 });
    let (inputs, time) = match seconds {
        Some(seconds) => (usize::MAX, Duration::from_secs_f64(seconds as f64 / TARGETS.len() as f64)),
        None => (INPUTS, Duration::from_secs_f64(SECONDS)),
    };
    println!("seed {seed}");
    // A reader may catch panics of another's code on damaged files; only those that come out are told of.
    std::panic::set_hook(Box::new(|what| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = what.to_string();
    }));
    for target in &TARGETS {
        let (count, accepted) = drive(target, seed, inputs, time);
        // A line of the table of `cargo xtask audit`.
        println!(
            "fuzz | {} | inputs without panic, hang or wrong answer | all | {count} of {count}, {accepted} accepted | 0 | holds",
            target.name
        );
        assert!(accepted > 0, "{}: no input was accepted", target.name);
    }
}
