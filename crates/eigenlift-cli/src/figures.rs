//! Figures: what they show, their colors, and how they are written.

mod choice;
mod gram;
mod plane;

pub(crate) use choice::{criterion_value, draw_kernel_choice, draw_rules};
pub(crate) use gram::{draw_gram, draw_gram_of};
pub(crate) use plane::{draw_contours, draw_curves, draw_linear, is_planar};

use crate::exit::Failure;
use crate::outputs;
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift_io::Target;
use eigenlift_plot::{Color, Figure, Scatter, Scree, scatter, scree};
use std::collections::HashSet;
use std::path::Path;

/// A target of whole numbers with at most this many different values is drawn as classes.
const MOST_CLASSES: usize = 20;

/// What a picture shows beside the model: scores of samples and their labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// Scores, one row for each sample shown.
    pub(crate) scores: &'a Matrix<f64>,
    /// Labels of the same samples.
    pub(crate) target: Option<&'a Target>,
    /// The samples themselves, where they are in memory.
    pub(crate) rows: Option<AnyPoints<'a>>,
}

/// Places of rows in a picture, for a model whose scores are not places.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    /// Names of the coordinates.
    pub(crate) names: Vec<String>,
    /// What stands along the axes.
    pub(crate) axes: Vec<String>,
    /// One row for each row.
    pub(crate) places: Matrix<f64>,
}

/// Writes a figure in the format that the extension stands for.
pub(crate) fn save(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    outputs::write_bytes(path, &figure.encode(&extension)?)
}

/// Rows that were not fitted, along the first two coordinates.
pub(crate) fn draw_plain_scatter(
    names: &[String],
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    scatter_of(shown, names, false, title)
}

/// Rows along two axes, or one axis and their order.
pub(crate) fn scatter_of(
    shown: &Shown<'_>,
    labels: &[String],
    equal: bool,
    title: &str,
) -> Result<Figure, Failure> {
    let Shown { scores, target, .. } = *shown;
    let label = |j: usize| labels.get(j).cloned().unwrap_or_default();
    let x = scores.column(0);
    let (y, y_label) = if scores.n_cols() > 1 {
        (scores.column(1), label(1))
    } else {
        ((1..=x.len()).map(|row| row as f64).collect(), "row".to_string())
    };
    let (x_label, equal_aspect) = (label(0), equal && scores.n_cols() > 1);
    colored(target, |color| {
        Ok(scatter(&Scatter {
            x: &x,
            y: &y,
            color,
            title,
            x_label: &x_label,
            y_label: &y_label,
            equal_aspect,
        })?)
    })
}

/// A coordinate with its share of the variance.
pub(crate) fn with_share(name: &str, share: f64) -> String {
    format!("{name} ({:.1} % of variance)", 100.0 * share)
}

/// A picture whose points have the colours of a target: numbers, classes or none.
pub(crate) fn colored(
    target: Option<&Target>,
    draw: impl FnOnce(Color<'_>) -> Result<Figure, Failure>,
) -> Result<Figure, Failure> {
    let numbers = target.and_then(continuous);
    draw(match (&numbers, target) {
        (Some(values), Some(target)) => Color::Values { name: &target.name, values },
        (None, Some(target)) => Color::Classes(&target.values),
        _ => Color::None,
    })
}

/// The numbers of a target that is not a class: not whole, or of many different values.
pub(crate) fn continuous(target: &Target) -> Option<Vec<f64>> {
    if !target.numeric {
        return None;
    }
    let values: Vec<f64> = target.values.iter().map(|text| text.parse().unwrap_or(f64::NAN)).collect();
    let different: HashSet<u64> = values.iter().map(|x| x.to_bits()).collect();
    let classes = different.len() <= MOST_CLASSES && values.iter().all(|x| x.fract() == 0.0);
    (!classes).then_some(values)
}

/// The spectrum.
pub(crate) fn draw_scree(model: &FittedKernelPca, title: &str) -> Result<Figure, Failure> {
    let n = model.n_samples() as f64;
    let bounds = model.certificate().intervals.iter();
    let intervals: Vec<(f64, f64)> = bounds.map(|bound| (bound.low / n, bound.high / n)).collect();
    Ok(scree(&Scree {
        eigenvalues: &model.variances(),
        ratio: &shares(model),
        intervals: (!intervals.is_empty()).then_some(&intervals),
        title,
        ..Scree::default()
    })?)
}

/// Shares of the variance that can be shown: none where they are not shares, because the kernel is indefinite and the total is
/// not positive, or less than what was found.
pub(crate) fn shares(model: &FittedKernelPca) -> Vec<f64> {
    // What is printed as 100.0 % at most.
    const WHOLE: f64 = 1.0005;
    let shares = model.explained_variance_ratio();
    if shares.iter().sum::<f64>() < WHOLE { shares } else { Vec::new() }
}

/// A feature of a selection path, with a minus where it was taken out.
pub(crate) fn step_name(name: &str, removed: bool) -> String {
    if removed { format!("−{name}") } else { name.to_owned() }
}
