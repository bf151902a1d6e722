//! The way back to rows as the command line asks for it, and what is told about it.

mod picture;

pub(crate) use picture::Gathered;

use crate::args::WayBackArgs;
use crate::exit::Failure;
use crate::words::{Words, counted, short};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{AnyModel, Fitted, FittedKernelPca};
use eigenlift::model::Lift;
use eigenlift::preimage::{Preimage, PreimageMethod, Preimages};
use eigenlift::progress::Watch;
use eigenlift_io::TextColumn;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Columns that `--trust` adds: numbers behind the rows, text in front of them.
pub(crate) const TRUST: [&str; 2] = ["distance", "trusted"];
pub(crate) const START: &str = "start";

/// The way that the command line asks for.
pub(crate) fn settings(args: &WayBackArgs) -> Preimage {
    let mut how = Preimage::new().method(args.preimage.unwrap_or_default());
    if let Some(penalty) = args.penalty {
        how = how.penalty(penalty);
    }
    if let Some(neighbors) = args.neighbors {
        how = how.neighbors(neighbors);
    }
    if let Some(steps) = args.steps {
        how = how.max_steps(steps);
    }
    if let Some(tolerance) = args.tol {
        how = how.tolerance(tolerance);
    }
    how
}

/// Refuses, before any row is read, what the model cannot do; gives what is to be told of a search.
pub(crate) fn check(model: &AnyModel, args: &WayBackArgs) -> Result<Option<Tally>, Failure> {
    let fitted = model.fitted();
    if let Some(size) = args.image
        && Some(fitted.n_features()) != size.height.checked_mul(size.width)
    {
        return Err(Failure::usage(
            format!("--image {}x{}", size.height, size.width),
            &format!("the rows have {}", counted(fitted.n_features(), "column")),
            "Give the height and the width whose product is the number of columns",
        ));
    }
    let drawn = match model.get::<FittedKernelPca>() {
        Some(model) => Some(probe(model, args)?),
        None => {
            fitted.invert(&Matrix::zeros(0, fitted.n_outputs()), &Watch::default())?;
            refuse_search(fitted, args)?;
            None
        }
    };
    if !args.plot.is_empty() && args.image.is_none() && fitted.n_features() < 2 {
        return Err(Failure::usage(
            "--plot of rows of 1 column",
            "a picture of rows needs two columns, or images",
            "Leave it out",
        ));
    }
    Ok(drawn)
}

/// Models whose way back is a product have nothing to search.
fn refuse_search(model: &dyn Fitted, args: &WayBackArgs) -> Result<(), Failure> {
    let given = [
        ("--preimage", args.preimage.is_some()),
        ("--penalty", args.penalty.is_some()),
        ("--neighbors", args.neighbors.is_some()),
        ("--steps", args.steps.is_some()),
        ("--tol", args.tol.is_some()),
        ("--trust", args.trust),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::usage(
            format!("{flag} with a {} model", model.method()),
            "its way back is exact on the components and searches for nothing; only kpca models have settings of it",
            "Leave it out",
        )),
    }
}

/// The way back of no rows: what is wrong with it comes to light.
fn probe(model: &FittedKernelPca, args: &WayBackArgs) -> Result<Tally, Failure> {
    let held = args.penalty.is_some_and(|penalty| penalty > 0.0);
    let has_rows = matches!(model.projection().lift, Lift::Kernel { .. });
    // Why: the ridge learns from all samples, which is not worth the while for no rows unless it will be refused.
    let quick = if args.preimage == Some(PreimageMethod::Ridge) && has_rows && !held {
        settings(&WayBackArgs { preimage: None, ..args.clone() })
    } else {
        settings(args)
    };
    let none = Matrix::zeros(0, model.n_components());
    let found = model.inverse_by(&quick, &none)?;
    let method = args.preimage.filter(|asked| *asked == PreimageMethod::Ridge).unwrap_or(found.method);
    Ok(Tally::new(method, found.limit))
}

/// What the way back of all rows tells.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    method: PreimageMethod,
    limit: f64,
    rows: usize,
    untrusted: usize,
    unfinished: usize,
    /// Counted from 1.
    first_untrusted: Option<usize>,
    largest: f64,
    /// The largest deviation.
    off: f64,
    sum: f64,
    steps: usize,
    most_steps: usize,
    starts: BTreeMap<String, usize>,
}

impl Tally {
    fn new(method: PreimageMethod, limit: f64) -> Self {
        Self {
            method,
            limit,
            rows: 0,
            untrusted: 0,
            unfinished: 0,
            first_untrusted: None,
            largest: 0.0,
            off: 0.0,
            sum: 0.0,
            steps: 0,
            most_steps: 0,
            starts: BTreeMap::new(),
        }
    }

    /// Counts further rows.
    pub(crate) fn add(&mut self, found: &Preimages) {
        let first = found.trusted.iter().position(|sure| !sure).map(|at| self.rows + at + 1);
        self.first_untrusted = self.first_untrusted.or(first);
        self.rows += found.rows.n_rows();
        self.limit = found.limit;
        self.untrusted += found.n_untrusted();
        self.unfinished += found.converged.iter().filter(|ended| !**ended).count();
        for (distance, steps) in found.distances.iter().zip(&found.steps) {
            self.largest = self.largest.max(*distance);
            self.sum += distance;
            self.steps += steps;
            self.most_steps = self.most_steps.max(*steps);
        }
        self.off = found.deviations.iter().copied().fold(self.off, f64::max);
        for start in &found.starts {
            *self.starts.entry(start.to_string()).or_default() += 1;
        }
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.rows.max(1) as f64
    }

    /// For programs; its keys stay.
    pub(crate) fn json(&self) -> Value {
        json!({
            "method": self.method,
            "rows": self.rows,
            "untrusted": self.untrusted,
            "first_untrusted": self.first_untrusted,
            "limit": self.limit,
            "mean_distance": self.mean(self.sum),
            "largest_distance": self.largest,
            "largest_deviation": self.off,
            "starts": self.starts,
            "mean_steps": self.mean(self.steps as f64),
            "most_steps": self.most_steps,
            "unfinished": self.unfinished,
        })
    }

    /// A warning when there are rows that are not to be trusted.
    pub(crate) fn warning(&self) -> Option<String> {
        let first = self.first_untrusted?;
        let unfinished = match self.unfinished {
            0 => String::new(),
            1 => ", or its search came to no end (1 row)".into(),
            many => format!(", or its search came to no end ({many} rows)"),
        };
        Some(format!(
            "{} of {} {} not to be trusted, the first is row {first}: in feature space the best row found deviates by more than {} \
             from the point that its scores stand for{unfinished}. Take it for a guess; --trust marks such rows",
            self.untrusted,
            counted(self.rows, "row"),
            if self.untrusted == 1 { "is" } else { "are" },
            short(self.limit)
        ))
    }

    /// What was found, in one line.
    pub(crate) fn say(&self, words: Words) {
        let starts: Vec<String> = self.starts.iter().map(|(start, n)| format!("{start} {n}")).collect();
        let searched = if self.most_steps > 0 {
            format!("; {:.1} steps on average, {} at most", self.mean(self.steps as f64), self.most_steps)
        } else {
            String::new()
        };
        words.say(format_args!(
            "way back: by {}; distance in feature space {} on average, {} at most; deviation {} at most, trusted up to {}: {} of {}; \
             started from {}{searched}",
            self.method,
            short(self.mean(self.sum)),
            short(self.largest),
            short(self.off),
            short(self.limit),
            self.rows - self.untrusted,
            counted(self.rows, "row"),
            if starts.is_empty() { "nothing".into() } else { starts.join(", ") },
        ));
    }
}

/// Rows with what is known of each behind them, and where their searches started.
pub(crate) fn with_trust(found: Preimages) -> (Matrix<f64>, TextColumn) {
    let (n, d) = (found.rows.n_rows(), found.rows.n_cols());
    let wide = Matrix::from_fn(n, d + TRUST.len(), |i, j| match j.checked_sub(d) {
        None => found.rows[(i, j)],
        Some(0) => found.distances[i],
        Some(_) => f64::from(u8::from(found.trusted[i])),
    });
    let values = found.starts.iter().map(ToString::to_string).collect();
    (wide, TextColumn { name: START.into(), position: usize::MAX, values })
}
