//! How many components: seven rules, and what most of them say.
//!
//! Two rules ask for something the user decides, a share of the variance or a size of the error; four ask the data what is
//! more than noise of one size, and factor analysis what is more than noise of a size of its own in each column. Each is a
//! function of its own; [`choose()`] asks them all.

mod columns;
mod factors;
mod gabriel;
mod minka;
mod parallel;
mod spectrum;
mod threshold;

pub use factors::FactorAnalysis;
pub(crate) use factors::factor_analysis;
pub use gabriel::Gabriel;
pub(crate) use gabriel::GabrielOptions;
pub(crate) use gabriel::gabriel;
pub use minka::minka;
pub use parallel::ParallelAnalysis;
pub(crate) use parallel::ParallelOptions;
pub(crate) use parallel::parallel_analysis;
pub use spectrum::{Spectrum, explained, residual};
pub use threshold::gavish_donoho;

use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::progress::Watch;
use serde::{Deserialize, Deserializer, Serialize};

/// Names of the rules, in the order of [`Choice::rules`].
const NAMES: [&str; 7] = [
    "explained variance",
    "residual error",
    "Minka",
    "Gavish–Donoho",
    "parallel analysis",
    "cross-validation",
    "factor analysis",
];
/// The rules whose median counts: those that take noise to be of one size.
const MEDIAN_OF: std::ops::Range<usize> = 2..6;
/// The rule that bounds it.
const BOUND: usize = 6;
/// Share of the total that may be left when no target is given.
const RESIDUAL_SHARE: f64 = 0.05;
/// With more columns than this, rules that need the rows look at this many of them.
///
/// Why: the eigenproblems are then no larger than this, and the choice takes seconds, not hours.
const LARGEST_SIDE: usize = 1000;
/// Factor analysis solves more eigenproblems: with more columns than this it looks at this many rows.
const LARGEST_FACTORED: usize = 500;
/// With very many columns they look at rows of this many numbers together, half a GiB.
const LARGEST_TABLE: usize = 1 << 26;
/// Numbers that a thread packs for matrix products.
const PRODUCT_NUMBERS: u128 = 1 << 17;
/// But not at fewer rows than this.
const FEWEST_ROWS: usize = 20;

// Why: an alias, because serde takes a plain reference for one into the text that is read.
type Name = &'static str;

/// One rule's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The rule.
    #[serde(deserialize_with = "known_name")]
    pub name: Name,
    /// Its number of components, when it has one.
    pub n_components: Option<usize>,
    /// What it asks and what it found, or why it could not be had, in one sentence.
    pub note: String,
}

/// What all rules say about the number of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Every rule's answer: explained variance, residual error, Minka, Gavish–Donoho, parallel analysis, cross-validation,
    /// factor analysis.
    pub rules: Vec<Rule>,
    /// The lower median of the four before the last, as far as they answered, or else the answer of explained variance; no more
    /// than factor analysis finds. 0 where no component stands out from noise; a fit then keeps 1.
    pub consensus: usize,
    /// How many of these four lie within 1 of the consensus.
    pub agreement: usize,
    /// Parallel analysis in full.
    pub parallel: Option<ParallelAnalysis>,
    /// Cross-validation in full.
    pub gabriel: Option<Gabriel>,
    /// Gavish and Donoho's threshold, as an eigenvalue.
    pub threshold: Option<f64>,
    /// Factor analysis in full.
    #[serde(default)]
    pub factors: Option<FactorAnalysis>,
}

/// What [`choose()`] asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceOptions {
    /// Share of the variance to hold.
    pub explained: f64,
    /// Largest error J(m) to leave; without it 5 % of the total.
    pub residual: Option<f64>,
    /// Permutations of parallel analysis.
    pub permutations: usize,
    /// Fixes samples, permutations and folds.
    pub seed: u64,
    /// Whether columns are divided by their standard deviation; the spectrum must then be that of scaled columns.
    pub scaled: bool,
    /// Largest number of components that cross-validation tries; without it 100.
    pub most: Option<usize>,
}

impl Default for ChoiceOptions {
    fn default() -> Self {
        let permutations = ParallelOptions::default().permutations;
        Self { explained: 0.9, residual: None, permutations, seed: 0, scaled: false, most: None }
    }
}

/// Asks every rule how many components there are.
///
/// `rows` are those whose spectrum is given, or a sample of them. A rule that cannot answer says why in its note. Parallel
/// analysis and factor analysis look at 4000 rows at most and cross-validation at 10 000; with more than 1000 columns they look at
/// 1000 (factor analysis with more than 500 columns at 500),
/// and beyond 67 000 columns at fewer still, as these rows are copied without their gaps.
///
/// ```
/// use eigenlift::methods::pca::choose::{ChoiceOptions, Spectrum, choose};
/// use eigenlift::{data, moments::Partial, progress::Watch};
/// let iris = data::iris()?.samples;
/// let rows = iris.points();
/// let partial = Partial::of_matrix(rows.to_dense(), 0.0);
/// // Eigenvalues of the irises' covariance matrix, divided by n.
/// let values = [4.200053427994630, 0.241052942942440, 0.077688103392529, 0.023676192737064];
/// let spectrum = Spectrum { values: &values, n_samples: 150, n_features: 4, total: partial.trace() / 150.0 };
/// let choice = choose(&spectrum, rows.into(), &ChoiceOptions::default(), &Watch::default())?;
/// assert_eq!(choice.rules[0].n_components, Some(1));
/// assert_eq!(choice.rules[0].note, "1 component holds 92.5 % of the variance; 90 % were asked for");
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
///
/// Cost: that of parallel analysis, of factor analysis, and of cross-validation by blocks (Gabriel), as asked for.
///
/// # Errors
/// When an option is out of range, when rows and spectrum differ in their columns, and on cancellation.
pub fn choose(
    spectrum: &Spectrum<'_>,
    rows: AnyPoints<'_>,
    options: &ChoiceOptions,
    watch: &Watch,
) -> Result<Choice> {
    check(spectrum, rows, options)?;
    let (parallel, by_parallel) = ask_parallel(rows, options, watch)?;
    let (gabriel, by_gabriel) = ask_gabriel(rows, options, watch)?;
    let (factors, by_factors) = ask_factors(rows, options, watch)?;
    let (threshold, by_threshold) = ask_threshold(spectrum);
    let answers = [
        ask_explained(spectrum, options.explained),
        ask_residual(spectrum, options.residual.unwrap_or(RESIDUAL_SHARE * spectrum.total)),
        ask_minka(spectrum),
        by_threshold,
        by_parallel,
        by_gabriel,
        by_factors,
    ];
    let (consensus, agreement) = agreed(&answers.each_ref().map(|answer| answer.0));
    let rules =
        NAMES.iter().zip(answers).map(|(name, (n_components, note))| Rule { name, n_components, note });
    Ok(Choice { rules: rules.collect(), consensus, agreement, parallel, gabriel, threshold, factors })
}

fn check(spectrum: &Spectrum<'_>, rows: AnyPoints<'_>, options: &ChoiceOptions) -> Result<()> {
    if rows.n_cols() != spectrum.n_features {
        return Err(Error::data(
            format!("rows of {} columns with a spectrum of {}", rows.n_cols(), spectrum.n_features),
            "both must be of the same columns",
            "Give the rows whose spectrum it is",
        ));
    }
    if !(options.explained > 0.0 && options.explained <= 1.0) {
        return Err(Error::setting(
            format!("a share of {} of the variance", options.explained),
            "it must be more than 0 and at most 1",
            "Ask for 0.9 or another share",
        ));
    }
    match options.residual {
        Some(target) if target.is_nan() || target < 0.0 => Err(Error::setting(
            format!("a residual error of at most {target}"),
            "it must be 0 or more",
            "Ask for an error in squared units of the data",
        )),
        _ => Ok(()),
    }
}

/// The lower median of four answers, or else the first answer, and no more than the last; and how many of the four lie within 1
/// of it.
fn agreed(answers: &[Option<usize>; 7]) -> (usize, usize) {
    let mut by_data: Vec<usize> = answers[MEDIAN_OF].iter().flatten().copied().collect();
    by_data.sort_unstable();
    let median = by_data.get(by_data.len().saturating_sub(1) / 2).copied();
    let consensus = median.or(answers[0]).unwrap_or(1).min(answers[BOUND].unwrap_or(usize::MAX));
    (consensus, by_data.iter().filter(|m| m.abs_diff(consensus) <= 1).count())
}

type Answer = (Option<usize>, String);

/// "1 component holds", "2 components hold".
fn counted(m: usize, thing: &str, verb: &str) -> String {
    if m == 1 { format!("1 {thing} {verb}s") } else { format!("{m} {thing}s {verb}") }
}

/// Six digits, without an exponent where it can be read without.
fn readable(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e9).contains(&x.abs()) {
        return format!("{x:.5e}");
    }
    let before = if x.abs() >= 1.0 { x.abs().log10() as usize + 1 } else { 0 };
    format!("{x:.*}", 6usize.saturating_sub(before))
}

fn ask_explained(spectrum: &Spectrum<'_>, share: f64) -> Answer {
    let asked = format!("{} % were asked for", 1e-6 * (1e8 * share).round());
    let held = |m: usize| match spectrum.total {
        total if total > 0.0 => 100.0 * (1.0 - spectrum.residuals()[m] / total),
        _ => 100.0,
    };
    let found = explained(spectrum, share);
    let m = found.unwrap_or(spectrum.values.len());
    let holding = format!("{} {:.1} % of the variance", counted(m, "component", "hold"), held(m));
    match found {
        Some(_) => (found, format!("{holding}; {asked}")),
        None => (None, format!("{holding}, and no more are known; {asked}")),
    }
}

fn ask_residual(spectrum: &Spectrum<'_>, target: f64) -> Answer {
    let left = spectrum.residuals();
    let found = residual(spectrum, target);
    let m = found.unwrap_or(spectrum.values.len());
    let leaving = format!("{} an error of {}", counted(m, "component", "leave"), readable(left[m]));
    let asked = format!("at most {} was asked for", readable(target));
    match found {
        Some(_) => (found, format!("{leaving}; {asked}")),
        None => (None, format!("{leaving}, and no more are known; {asked}")),
    }
}

fn ask_minka(spectrum: &Spectrum<'_>) -> Answer {
    let (n, d) = (spectrum.n_samples, spectrum.n_features);
    match minka(spectrum) {
        Some((m, _)) if spectrum.values[m] <= spectrum.rounding() => {
            let all = counted(m, "direction", "hold");
            (Some(m), format!("{all} all the variance, which leaves no noise to tell signal from"))
        }
        Some((m, _)) => (
            Some(m),
            format!("{} the data best as signal in round noise", counted(m, "component", "explain")),
        ),
        None if n <= d => (None, format!("needs more rows than columns; there are {n} and {d}")),
        None if !spectrum.is_whole() => {
            (None, format!("needs all {} eigenvalues; {} are known", spectrum.most(), spectrum.values.len()))
        }
        None => (None, "needs at least two directions with variance".into()),
    }
}

fn ask_threshold(spectrum: &Spectrum<'_>) -> (Option<f64>, Answer) {
    let (most, known) = (spectrum.most(), spectrum.values.len());
    match gavish_donoho(spectrum) {
        Some((m, threshold)) => {
            let note = format!(
                "{} above {}, the best place to cut off white noise",
                counted(m, "eigenvalue", "lie"),
                readable(threshold)
            );
            (Some(threshold), (Some(m), note))
        }
        None if most < 2 => (None, (None, format!("needs at least two eigenvalues; there can be {most}"))),
        None => {
            let note = format!("needs the median of {most} eigenvalues; only the {known} largest are known");
            (None, (None, note))
        }
    }
}

/// Numbers that [`choose()`] holds at a time for n rows of d columns: cross-validation two copies of its rows, and for each thread a
/// matrix of the smaller side with what its decomposition takes; parallel and factor analysis a copy of theirs, and for each thread
/// another with the matrix of its smaller side.
pub(super) fn numbers((n, d): (usize, usize), threads: usize) -> u128 {
    let (gabriel, parallel) = (GabrielOptions::default(), ParallelOptions::default());
    let rows = |limit: usize| n.min(most_rows(d, limit)) as u128;
    let (validated, permuted) = (rows(gabriel.most_rows), rows(parallel.most_rows));
    let (d, threads, folds) = (d as u128, threads.max(1) as u128, gabriel.column_folds as u128);
    let square = |rows: u128| rows.min(d).pow(2);
    let path = 4 * square(validated) + validated / gabriel.row_folds as u128 * d.min(gabriel.most as u128);
    let by_gabriel = 2 * validated * d + square(validated) + threads.min(folds) * path;
    let by_parallel = (1 + threads) * permuted * d + 3 * threads * square(permuted);
    by_gabriel.max(by_parallel).max(2 * permuted * d) + threads * PRODUCT_NUMBERS
}

/// Rows that a rule looks at: its own limit, or fewer where there are many columns.
fn most_rows(d: usize, limit: usize) -> usize {
    let d = d.max(1);
    let limit = if d > LARGEST_SIDE { limit.min(LARGEST_SIDE) } else { limit };
    limit.min((LARGEST_TABLE / d).max(FEWEST_ROWS))
}

fn ask_parallel(
    rows: AnyPoints<'_>,
    options: &ChoiceOptions,
    watch: &Watch,
) -> Result<(Option<ParallelAnalysis>, Answer)> {
    let standard = ParallelOptions::default();
    let how = ParallelOptions {
        permutations: options.permutations,
        most_rows: most_rows(rows.n_cols(), standard.most_rows),
        seed: options.seed,
        scaled: options.scaled,
        ..standard
    };
    let (found, why) = unless_data(parallel_analysis(rows, &how, watch))?;
    let note = found.as_ref().map_or(why, |found| {
        format!(
            "{} above what unrelated columns give in 95 % of {} permutations of {} rows",
            counted(found.n_components, "eigenvalue", "lie"),
            found.permutations,
            found.n_rows_used
        )
    });
    let m = found.as_ref().map(|found| found.n_components);
    Ok((found, (m, note)))
}

fn ask_factors(
    rows: AnyPoints<'_>,
    options: &ChoiceOptions,
    watch: &Watch,
) -> Result<(Option<FactorAnalysis>, Answer)> {
    let standard = ParallelOptions::default();
    let limit = if rows.n_cols() > LARGEST_FACTORED { LARGEST_FACTORED } else { standard.most_rows };
    let how = ParallelOptions {
        permutations: options.permutations,
        most_rows: most_rows(rows.n_cols(), limit),
        seed: options.seed,
        ..standard
    };
    let (found, why) = unless_data(factor_analysis(rows, &how, watch))?;
    let answer = found.as_ref().map_or((None, why), |found| match found.n_components {
        m if m >= found.most => {
            (None, format!("at least {m} stand out, as many as columns or rows so few can tell from noise"))
        }
        0 => (Some(0), "no component stands out from noise of a size of its own in each column".into()),
        m => {
            let standing = counted(m, "component", "stand");
            (Some(m), format!("{standing} out from noise of a size of its own in each column"))
        }
    });
    Ok((found, answer))
}

fn ask_gabriel(
    rows: AnyPoints<'_>,
    options: &ChoiceOptions,
    watch: &Watch,
) -> Result<(Option<Gabriel>, Answer)> {
    let standard = GabrielOptions::default();
    let how = GabrielOptions {
        most: options.most.unwrap_or(standard.most),
        most_rows: most_rows(rows.n_cols(), standard.most_rows),
        seed: options.seed,
        scaled: options.scaled,
        ..standard
    };
    let (found, why) = unless_data(gabriel(rows, &how, watch))?;
    let note = found.as_ref().map_or(why, |found| {
        format!(
            "{} held-out entries of {} rows best, {} within one standard error",
            counted(found.n_components, "component", "predict"),
            found.n_rows_used,
            found.one_standard_error
        )
    });
    let m = found.as_ref().map(|found| found.n_components);
    Ok((found, (m, note)))
}

/// What a rule found, or why the data give no answer; other errors stay errors.
fn unless_data<T>(result: Result<T>) -> Result<(Option<T>, String)> {
    match result {
        Ok(found) => Ok((Some(found), String::new())),
        Err(Error::Data { found, required, .. }) => Ok((None, format!("{required}; there are {found}"))),
        Err(other) => Err(other),
    }
}

fn known_name<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Name, D::Error> {
    let name = String::deserialize(from)?;
    let known = NAMES.into_iter().find(|known| *known == name);
    known.ok_or_else(|| serde::de::Error::custom(format!("a rule called \"{name}\", which is not known")))
}

#[cfg(test)]
mod tests;
