//! The account of a fit: what was computed and how far it can be trusted.

use crate::exit::Failure;
use crate::figures;
use crate::model::Model;
use crate::outputs::Written;
use crate::table::DataAccount;
use crate::words::{Words, aligned, aligned_with_text, bytes, counted, peak_memory};
use eigenlift::eigen::{Bounds, Grounds, Interval, SolveStats};
use eigenlift::methods::FittedKernelPca;
use eigenlift::methods::pca::choose::{Choice, Rule};
use eigenlift::model::{Plan, Route, Solver};
use serde::Serialize;
use serde_json::{Map, Value};

/// Components shown in the table of the account; all of them are in the JSON form.
pub(crate) const SHOWN_COMPONENTS: usize = 30;

/// The first rules go by what the user asks for; the median of so many after them counts.
const ASKED_OF_THE_USER: usize = 2;
const MEDIAN_OF: usize = 4;

/// Seconds spent.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Seconds {
    /// Reading and parsing the table.
    pub(crate) read: f64,
    /// The fit alone.
    pub(crate) fit: f64,
    /// Scores of the rows.
    pub(crate) project: f64,
    /// Drawing and writing pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plot: Option<f64>,
    /// Writing scores and model.
    pub(crate) write: f64,
}

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
pub(crate) struct FitAccount<'a> {
    command: &'a str,
    version: &'static str,
    data: &'a DataAccount,
    #[serde(flatten)]
    found: Map<String, Value>,
    warnings: Vec<String>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    files: &'a [Written],
}

impl<'a> FitAccount<'a> {
    /// Gathers it.
    pub(crate) fn new(
        command: &'a str,
        data: &'a DataAccount,
        model: &dyn Model,
        seconds: Seconds,
        files: &'a [Written],
    ) -> Result<Self, Failure> {
        Ok(Self {
            command,
            version: env!("CARGO_PKG_VERSION"),
            data,
            found: model.found()?,
            warnings: data.warnings.iter().cloned().chain(model.warnings()).collect(),
            seconds,
            peak_memory_bytes: peak_memory(),
            files,
        })
    }
}

/// What a kernel PCA found.
#[derive(Debug, Serialize)]
pub(crate) struct Found<'a> {
    plan: &'a Plan,
    kernel: &'a str,
    /// nλ, eigenvalues of the centred kernel matrix.
    eigenvalues: &'a [f64],
    /// λ.
    variances: Vec<f64>,
    explained_variance_ratio: Vec<f64>,
    /// tr(K_c).
    total: f64,
    /// What is known about all eigenvalues together.
    bounds: Bounds,
    residuals: &'a [f64],
    intervals: &'a [Interval],
    /// First and last component of each group that is determined only as a subspace, counted from 1.
    ties: Vec<(usize, usize)>,
    stats: SolveStats,
    solver: Solver,
    threads: usize,
}

impl<'a> Found<'a> {
    /// Gathers it.
    pub(crate) fn new(model: &'a FittedKernelPca) -> Self {
        let (plan, certificate) = (model.plan(), model.certificate());
        Self {
            plan,
            kernel: &plan.kernel,
            eigenvalues: model.eigenvalues(),
            variances: model.variances(),
            explained_variance_ratio: model.explained_variance_ratio(),
            total: model.total(),
            bounds: certificate.bounds,
            residuals: &certificate.residuals,
            intervals: &certificate.intervals,
            ties: certificate.ties.iter().map(|(first, last)| (first + 1, last + 1)).collect(),
            stats: model.stats(),
            solver: plan.solver,
            threads: plan.threads,
        }
    }
}

/// What was found: the components and what is proved about them.
pub(crate) fn words(model: &FittedKernelPca) -> Vec<String> {
    let mut lines = vec![components(model)];
    lines.extend(certainty(model));
    let stats = model.stats();
    if model.plan().route == Route::Dual {
        lines.push(format!(
            "{} solver: {}, {} over the kernel matrix, {}",
            model.plan().solver,
            counted(stats.iterations, "iteration"),
            if stats.passes == 1 { "1 pass".to_string() } else { format!("{} passes", stats.passes) },
            counted(stats.products, "product")
        ));
    }
    lines
}

/// What is proved, in sentences.
pub(crate) fn certainty(model: &FittedKernelPca) -> Vec<String> {
    let (certificate, k) = (model.certificate(), model.n_components());
    let bounds = certificate.bounds;
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut lines = Vec::new();
    if bounds.grounds == Grounds::Residuals {
        let asked = match model.plan().route {
            Route::Dual => format!(" (asked for: {:.0e})", model.plan().tolerance),
            Route::Primal | Route::LowRank => String::new(),
        };
        let how = if model.plan().route == Route::Primal {
            "the moments of the features put"
        } else {
            "a fresh product puts"
        };
        lines.push(format!(
            "certificate: {how} an eigenvalue of the centred kernel matrix within each bound; worst relative residual {:.1e}{asked}",
            certificate.worst_residual(),
        ));
    }
    if let Some(left) = bounds.residual_trace {
        let share = percent(bounds.residual_share.unwrap_or(left / model.total()));
        lines.push(format!(
            "low rank: the landmarks leave out {left:.4e} ({share} of the trace): each eigenvalue lies between nλ and nλ + {left:.4e}{}",
            rounding_words(certificate.rounding, left)
        ));
    }
    if let Some(error) = bounds.sampled_error {
        lines.push(format!(
            "random features: nothing is proved; kernel values on sampled pairs are off by {} (root mean square)",
            percent(error)
        ));
    }
    if bounds.grounds == Grounds::Residuals {
        lines.push(certified(&bounds, k));
    }
    if let Some(explained) = bounds.explained.filter(|_| !figures::shares(model).is_empty()) {
        lines.push(format!(
            "the best {k} axes hold between {} and {} of the variance",
            percent(explained.low),
            percent(explained.high)
        ));
    }
    lines
}

/// Rounding, where it is not small beside what the landmarks leave out.
fn rounding_words(rounding: f64, left: f64) -> String {
    if rounding > 1e-3 * left { format!(", and rounding of up to ± {rounding:.1e}") } else { String::new() }
}

/// How many of `k` components are proved to be the largest.
pub(crate) fn certified(bounds: &Bounds, k: usize) -> String {
    let components = if k == 1 { "component" } else { "components" };
    let counted = format!("{} of {k} {components} certified as leading", bounds.n_certified);
    match bounds.missed {
        Some(missed) if bounds.n_certified < k => {
            format!("{counted}; a missed eigenvalue nλ could be at most {}", number(missed))
        }
        _ => counted,
    }
}

/// The table of components.
pub(crate) fn components(model: &FittedKernelPca) -> String {
    let (certificate, ratio, variances) = (model.certificate(), figures::shares(model), model.variances());
    let percent = |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.2} %", 100.0 * share));
    // Intervals around nλ itself, and not around what an approximation makes of it.
    let proved = certificate.bounds.grounds == Grounds::Residuals && model.plan().route != Route::LowRank;
    let mut cumulative = 0.0;
    let rows: Vec<Vec<String>> = model
        .eigenvalues()
        .iter()
        .enumerate()
        .take(SHOWN_COMPONENTS)
        .map(|(j, value)| {
            cumulative += ratio.get(j).copied().unwrap_or_default();
            let mut row = vec![
                format!("kpca{}", j + 1),
                number(variances[j]),
                number(*value),
                percent(ratio.get(j).copied()),
                percent(ratio.get(j).map(|_| cumulative)),
            ];
            row.extend(certificate.residuals.get(j).map(|residual| format!("{residual:.1e}")));
            row.extend(certificate.intervals.get(j).map(|Interval { low, high }| {
                if proved {
                    format!("± {:.1e}", (high - low) / 2.0)
                } else {
                    format!("{low:.4e} to {high:.4e}")
                }
            }));
            row
        })
        .collect();
    let mut heading = vec!["component", "λ", "nλ", "explained", "cumulative"];
    if !certificate.residuals.is_empty() {
        heading.push("residual");
    }
    if !certificate.intervals.is_empty() {
        heading.push(if proved { "nλ within" } else { "true nλ" });
    }
    let more = model.n_components().saturating_sub(SHOWN_COMPONENTS);
    let rest =
        if more > 0 { format!("\n  … and {more} more (all of them with --json)") } else { String::new() };
    aligned(&heading, &rows) + &rest
}

/// Nine significant digits, as many as the worked example prints.
pub(crate) fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e9) {
        return format!("{x:.8e}");
    }
    let before = if x.abs() >= 1.0 { x.abs().log10() as usize + 1 } else { 1 };
    format!("{x:.*}", 9usize.saturating_sub(before))
}

/// Says what it took and what was written.
pub(crate) fn say_end(seconds: Seconds, files: &[Written], words: Words) {
    let plot = seconds.plot.map(|s| format!(", plot {s:.2} s")).unwrap_or_default();
    let memory = peak_memory().map(|n| format!("; peak memory {}", bytes(u128::from(n)))).unwrap_or_default();
    words.say(format_args!(
        "took: read {:.2} s, fit {:.2} s{plot}, write {:.2} s{memory}",
        seconds.read, seconds.fit, seconds.write
    ));
    say_files(files, words);
}

/// Says which files were written.
pub(crate) fn say_files(files: &[Written], words: Words) {
    for file in files {
        words.say(format_args!("wrote {} ({})", file.path.display(), file.what));
    }
}

/// The rules, one line each, and what they agree on.
pub(crate) fn choice_table(choice: &Choice) -> String {
    let row = |rule: &Rule| {
        let m = rule.n_components.map_or("–".into(), |m| m.to_string());
        vec![rule.name.to_string(), m, rule.note.clone()]
    };
    let rows: Vec<Vec<String>> = choice.rules.iter().map(row).collect();
    let lines = aligned_with_text(&["rule", "components", "what it says"], &rows, &[0, 2]);
    if choice.consensus == 0 {
        return format!("{lines}\nconsensus: no component stands out from noise; a fit keeps 1");
    }
    let mut answers: Vec<usize> = choice
        .rules
        .iter()
        .skip(ASKED_OF_THE_USER)
        .take(MEDIAN_OF)
        .filter_map(|rule| rule.n_components)
        .collect();
    answers.sort_unstable();
    let median = answers.get(answers.len().saturating_sub(1) / 2);
    let grounds = match answers.len() {
        _ if median.is_some_and(|median| *median > choice.consensus) => {
            "no more than factor analysis tells from noise that differs between columns".to_string()
        }
        0 => "as explained variance says: no rule that asks the data has an answer".to_string(),
        n => format!("median of {n} data-driven rules; {} of them within 1 of it", choice.agreement),
    };
    format!("{lines}\nconsensus: {} ({grounds})", counted(choice.consensus, "component"))
}
