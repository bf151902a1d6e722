//! Pictures of a fitted model.

mod command;
mod gram;
mod plane;

pub(crate) use command::run;
pub(crate) use gram::{draw_gram, draw_gram_of};
pub(crate) use plane::{draw_contours, draw_curves, draw_linear, is_planar};

use crate::exit::Failure;
use crate::method::Model;
use crate::outputs;
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelPca};
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

/// Writes a figure in the format that the extension stands for.
pub(crate) fn save(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    outputs::write_bytes(path, &figure.encode(&extension)?)
}

/// The first two components; the rows in order when there is only one.
pub(crate) fn draw_scatter(model: &dyn Model, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
    let labels = axis_labels(model, shown.scores.n_cols());
    scatter_of(shown, &labels, model.keeps_distances(), title)
}

/// Rows that were not fitted, along the first two coordinates.
pub(crate) fn draw_plain_scatter(
    model: &dyn Fitted,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    scatter_of(shown, &outputs::score_names(model.method(), shown.scores.n_cols()), false, title)
}

fn scatter_of(shown: &Shown<'_>, labels: &[String], equal: bool, title: &str) -> Result<Figure, Failure> {
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

/// What each of `k` coordinates is called, with its share of the variance where it has one.
pub(crate) fn axis_labels(model: &dyn Model, k: usize) -> Vec<String> {
    let (name, shares) = (model.fitted().method(), model.shares());
    let label = |j: usize| match shares.get(j) {
        Some(share) => format!("{name}{} ({:.1} % of variance)", j + 1, 100.0 * share),
        None => format!("{name}{}", j + 1),
    };
    (0..k).map(label).collect()
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
        ratio: &model.explained_variance_ratio(),
        intervals: (!intervals.is_empty()).then_some(&intervals),
        title,
        ..Scree::default()
    })?)
}
