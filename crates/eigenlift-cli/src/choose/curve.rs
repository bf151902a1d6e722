//! The errors of all points: as a table, in words and as a picture.

use crate::exit::Failure;
use crate::input::Carried;
use crate::outputs;
use crate::words::{aligned_with_text, short};
use eigenlift::matrix::Matrix;
use eigenlift::tuning::kernel_choice::{GridPoint, KernelChoice};
use eigenlift_io::TextColumn;
use eigenlift_plot::{ChoiceCurve, Figure, KernelChoicePicture, kernel_choice};
use std::path::Path;

/// Points in the table of words; all of them are in the table on file and in the JSON form.
const SHOWN: usize = 10;

/// Whether the criterion is a score, so that 1 − error is told.
fn is_score(choice: &KernelChoice) -> bool {
    choice.criterion != "masked error"
}

/// The criterion as people read it, and its value for an error.
fn told(choice: &KernelChoice, error: f64) -> f64 {
    if is_score(choice) { 1.0 - error } else { error }
}

/// The best points, the chosen one among them, and the sentence.
pub(super) fn text(choice: &KernelChoice) -> String {
    let mut order: Vec<usize> = (0..choice.points.len()).collect();
    order.sort_by(|a, b| choice.points[*a].error.total_cmp(&choice.points[*b].error));
    let mut shown: Vec<usize> = order.iter().copied().take(SHOWN).collect();
    if !shown.contains(&choice.chosen) {
        shown.push(choice.chosen);
    }
    let row = |at: &usize| {
        let point = &choice.points[*at];
        let mark = match (*at == choice.chosen, choice.near.contains(at)) {
            (true, _) => "chosen",
            (_, true) => "as good within one standard error",
            _ => "",
        };
        vec![
            point.kernel.clone(),
            point.n_components.to_string(),
            short(told(choice, point.error)),
            if point.spread == 0.0 { "± 0".into() } else { format!("± {:.1e}", point.spread) },
            mark.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    let heading = ["kernel", "components", choice.criterion, "standard error", ""];
    let more = choice.points.len().saturating_sub(shown.len());
    let rest = if more > 0 {
        format!("\n  … and {more} more (all of them with --out FILE)")
    } else {
        String::new()
    };
    format!("{}{rest}\n{}", aligned_with_text(&heading, &rows, &[0, 4]), choice.sentence)
}

/// Writes all points.
pub(super) fn write(path: &Path, choice: &KernelChoice) -> Result<(), Failure> {
    let kernels = choice.points.iter().map(|point| point.kernel.clone()).collect();
    let text = vec![TextColumn { name: "kernel".into(), position: 0, values: kernels }];
    let names = ["bandwidth", "components", "error", "spread"].map(String::from).to_vec();
    let values = Matrix::from_fn(choice.points.len(), names.len(), |i, j| {
        let point: &GridPoint = &choice.points[i];
        match j {
            0 => point.bandwidth.unwrap_or(f64::NAN),
            1 => point.n_components as f64,
            2 => point.error,
            _ => point.spread,
        }
    });
    outputs::write_scores(path, &Carried { text, target: None }, names, &values)
}

/// The points of one kernel: a curve over the number of components.
struct Curve {
    kernel: String,
    bandwidth: f64,
    points: Vec<(usize, f64, f64)>,
}

/// A picture of the curves.
pub(crate) fn figure(choice: &KernelChoice, title: &str) -> Result<Figure, Failure> {
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
            points.push((point.n_components, told(choice, point.error), point.spread));
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
        baseline: Some(told(choice, choice.baseline)),
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
