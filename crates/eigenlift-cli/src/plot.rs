//! Pictures of a fitted model.

mod command;
mod gram;
mod plane;

pub(crate) use command::run;
pub(crate) use gram::{draw_gram, draw_gram_of};
pub(crate) use plane::{draw_contours, draw_curves, draw_linear, is_planar};

use crate::account;
use crate::exit::Failure;
use crate::method::Model;
use crate::outputs;
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift_io::Target;
use eigenlift_plot::{Color, Figure, Scatter, Scree, scatter, scree};
use std::borrow::Cow;
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

/// What rows are drawn along: the plane of a model that has one, then the scores.
pub(crate) struct Drawn<'a> {
    pub(crate) names: Vec<String>,
    pub(crate) axes: Vec<String>,
    pub(crate) values: Cow<'a, Matrix<f64>>,
}

impl<'a> Drawn<'a> {
    pub(crate) fn of(model: &dyn Model, scores: &'a Matrix<f64>) -> Self {
        let (mut names, mut axes) = (model.score_names(), axis_labels(model, scores.n_cols()));
        let Some(plane) = model.plane().filter(|plane| plane.places.n_rows() == scores.n_rows()) else {
            return Self { names, axes, values: Cow::Borrowed(scores) };
        };
        names.splice(0..0, plane.names.iter().cloned());
        axes.splice(0..0, plane.axes.iter().cloned());
        let front = plane.places.n_cols();
        let values = Matrix::from_fn(scores.n_rows(), front + scores.n_cols(), |i, j| {
            if j < front { plane.places[(i, j)] } else { scores[(i, j - front)] }
        });
        Self { names, axes, values: Cow::Owned(values) }
    }
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

/// What each of `k` coordinates is called, with its share of the variance where it has one.
pub(crate) fn axis_labels(model: &dyn Model, k: usize) -> Vec<String> {
    let shares = model.shares();
    let label = |(j, name): (usize, String)| match shares.get(j) {
        Some(share) => with_share(&name, *share),
        None => name,
    };
    model.score_names().into_iter().take(k).enumerate().map(label).collect()
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
        ratio: &account::shares(model),
        intervals: (!intervals.is_empty()).then_some(&intervals),
        title,
        ..Scree::default()
    })?)
}
