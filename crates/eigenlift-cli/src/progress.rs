//! The progress bar: on a terminal only.

use crate::trim;
use eigenlift::progress::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

/// Shows how far a stage has come, on standard error.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    stages: Mutex<Stages>,
}

/// The stages there were, and the one that is shown.
#[derive(Debug, Default)]
struct Stages {
    seen: Vec<String>,
    shown: String,
}

impl Bar {
    /// A bar that shows nothing when `quiet` or when standard error is not a terminal.
    pub(crate) fn new(quiet: bool) -> Arc<Self> {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Arc::new(Self { bar: ProgressBar::with_draw_target(None, target), stages: Mutex::default() })
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Hides the line while something else is printed.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// A bar where the end is known, a turning sign where it is not.
    fn enter(&self, stage: &str, total: u64) {
        let template = if total > 0 {
            "{msg} [{bar:30}] {pos}/{len} {elapsed}"
        } else {
            "{spinner} {msg} {pos} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_message(stage.to_owned());
    }
}

impl Observer for Bar {
    fn progress(&self, stage: &str, done: u64, total: u64) {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if !stages.seen.iter().any(|seen| seen == stage) {
            stages.seen.push(stage.to_owned());
            drop(stages);
            // What the stages before have freed.
            trim::give_back();
            stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        }
        if self.bar.is_hidden() {
            return;
        }
        if stages.shown != stage {
            stage.clone_into(&mut stages.shown);
            self.enter(stage, total);
        }
        if total > 0 {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}
