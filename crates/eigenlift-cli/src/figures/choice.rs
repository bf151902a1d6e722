//! The choice of a kernel and of the number of components.

use crate::exit::Failure;
use eigenlift::methods::FittedPca;
use eigenlift::methods::pca::choose::Choice;
use eigenlift::tuning::kernel_choice::KernelChoice;
use eigenlift_plot::{ChoiceCurve, Figure, KernelChoicePicture, Rule, choice, kernel_choice};

/// Whether the criterion is a score, so that 1 − error is told.
fn is_score(choice: &KernelChoice) -> bool {
    choice.criterion != "masked error"
}

/// The criterion as people read it, and its value for an error.
pub(crate) fn criterion_value(choice: &KernelChoice, error: f64) -> f64 {
    if is_score(choice) { 1.0 - error } else { error }
}

/// The points of one kernel: a curve over the number of components.
struct Curve {
    kernel: String,
    bandwidth: f64,
    points: Vec<(usize, f64, f64)>,
}

/// A picture of the curves.
pub(crate) fn draw_kernel_choice(choice: &KernelChoice, title: &str) -> Result<Figure, Failure> {
    let mut curves: Vec<Curve> = Vec::new();
    // Where each point stands: its curve, and its place there.
    let places: Vec<(usize, usize)> = choice
        .points
        .iter()
        .map(|point| {
            let at = curves.iter().position(|curve| curve.kernel == point.kernel).unwrap_or_else(|| {
                let bandwidth = point.bandwidth.unwrap_or(f64::NAN);
                curves.push(Curve { kernel: point.kernel.clone(), bandwidth, points: Vec::new() });
                curves.len() - 1
            });
            let points = &mut curves[at].points;
            points.push((point.n_components, criterion_value(choice, point.error), point.spread));
            (at, points.len() - 1)
        })
        .collect();
    let one_family = family(&curves);
    let labels: Vec<String> = curves.iter().map(|curve| label(curve, one_family)).collect();
    let drawn: Vec<ChoiceCurve<'_>> = curves
        .iter()
        .zip(&labels)
        .map(|(curve, label)| ChoiceCurve { label, bandwidth: curve.bandwidth, points: &curve.points })
        .collect();
    let near: Vec<(usize, usize)> = choice.near.iter().map(|at| places[*at]).collect();
    Ok(kernel_choice(&KernelChoicePicture {
        curves: &drawn,
        chosen: places[choice.chosen],
        near: &near,
        baseline: Some(criterion_value(choice, choice.baseline)),
        criterion: choice.criterion,
        higher_is_better: is_score(choice),
        title,
    })?)
}

/// Whether all curves with a bandwidth are of one kernel, so that the parameter names them.
fn family(curves: &[Curve]) -> bool {
    let mut names =
        curves.iter().filter(|curve| curve.bandwidth.is_finite()).map(|curve| head(&curve.kernel));
    let first = names.next();
    names.all(|name| Some(name) == first)
}

/// What stands in front of the numbers: `rbf(gamma`.
fn head(kernel: &str) -> &str {
    kernel.split('=').next().unwrap_or(kernel)
}

/// `γ = 0.125`, or the kernel.
fn label(curve: &Curve, one_family: bool) -> String {
    let parameter = head(&curve.kernel).rsplit(['(', ',']).next().unwrap_or_default();
    let sign = match parameter {
        "gamma" => "γ",
        "sigma" => "σ",
        other => other,
    };
    if curve.bandwidth.is_finite() && one_family && !sign.is_empty() {
        format!("{sign} = {}", three_digits(curve.bandwidth))
    } else {
        curve.kernel.clone()
    }
}

/// Few enough to stand in a legend.
fn three_digits(x: f64) -> String {
    let places = 2 - x.abs().log10().floor() as i32;
    match usize::try_from(places) {
        Ok(places) if places <= 6 => format!("{x:.places$}"),
        _ => format!("{x:.1e}"),
    }
}

/// A picture of the rules.
pub(crate) fn draw_rules(model: &FittedPca, found: &Choice, title: &str) -> Result<Figure, Failure> {
    let rules: Vec<Rule<'_>> =
        found.rules.iter().map(|rule| Rule { name: rule.name, m: rule.n_components }).collect();
    // Errors of cross-validation are those of an entry; J is that of a row.
    let columns = model.n_features() as f64;
    let cross: Vec<(usize, f64, f64)> = found
        .gabriel
        .iter()
        .flat_map(|g| g.errors.iter().map(|(m, mean, spread)| (*m, columns * mean, columns * spread)))
        .collect();
    let eigenvalues = model.spectrum();
    let null = found.parallel.as_ref().map(|p| &p.null[..p.null.len().min(eigenvalues.len())]);
    Ok(choice(&eigenlift_plot::Choice {
        eigenvalues: &eigenvalues,
        null,
        threshold: found.threshold,
        cross_validated: &cross,
        residual: &model.errors_of_spectrum(),
        rules: &rules,
        consensus: found.consensus,
        title,
    })?)
}
