//! Ctrl-C and termination leave no half file and end with 128 and the number of the signal.

#![cfg(unix)]

use crate::support::{Folder, Run};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts a long fit, sends a signal after `wait`, gives what is left.
fn interrupted(folder: &Folder, args: &[&str], signal: &str, wait: Duration) -> Run {
    let child = folder
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    sleep(wait);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success(), "the work was over before the signal came");
    let start = Instant::now();
    let run = child.wait_with_output().expect("the program ends").into();
    assert!(start.elapsed() < Duration::from_secs(30), "it took {:?} to stop", start.elapsed());
    run
}

#[test]
fn a_long_fit_stops_and_leaves_nothing() {
    let folder = Folder::new();
    folder.run(&["data", "swiss-roll", "--rows", "40000", "--out", "roll.csv"]).ok();
    folder.write("s.csv", "old");
    let before = folder.names();
    let args = [
        "fit",
        "kpca",
        "roll.csv",
        "--target",
        "t",
        "-k",
        "40",
        "--tol",
        "1e-12",
        "--threads",
        "1",
        "--memory",
        "1GiB",
        "--out",
        "s.csv",
        "--model",
        "m.safetensors",
        "--plot",
        "p.svg",
    ];
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let run = interrupted(&folder, &args, signal, Duration::from_millis(1500));
        assert_eq!(run.code, code, "{}", run.err);
        assert!(run.err.contains("error: interrupted; no file was left half-written"), "{}", run.err);
        assert_eq!(folder.names(), before);
        assert_eq!(folder.read("s.csv"), "old");
    }
}

#[test]
fn a_long_way_back_and_a_long_choice_stop_and_leave_nothing() {
    let folder = Folder::new();
    folder.say("data swiss-roll --rows 3000 --out roll.csv --quiet").ok();
    folder.say("data swiss-roll --rows 60000 --seed 2 --out many.csv --quiet").ok();
    folder.say("data digits --out digits.csv --quiet").ok();
    folder.say("fit kpca roll.csv --target t -k 40 --model m.safetensors --json --quiet").ok();
    folder.write("d.csv", "old");
    let before = folder.names();
    let lines = [
        "denoise m.safetensors many.csv --target t --preimage gradient --threads 1 --out d.csv --plot p.svg",
        "choose kpca digits.csv --rows 1797 --threads 1 --out e.csv --plot p.svg",
        "fit kpca digits.csv --target digit --kernel rbf(gamma=auto) -k auto --threads 1 --out s.csv --model n.safetensors",
    ];
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let run = interrupted(&folder, &words, "-INT", Duration::from_millis(1200));
        assert_eq!(run.code, 130, "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}: {}", run.out);
        assert_eq!((folder.names(), folder.read("d.csv")), (before.clone(), "old".to_string()), "{line}");
    }
}

#[test]
fn waiting_for_input_stops_at_once() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["fit", "kpca", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let input = child.stdin.take();
    sleep(Duration::from_millis(500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    let run: Run = child.wait_with_output().expect("the program ends").into();
    drop(input);
    assert_eq!(run.code, 130, "{}", run.err);
}
