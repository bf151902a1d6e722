//! Pictures of a fitted model.

use crate::exit::Failure;
use crate::method::Model;
use crate::outputs;
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::FittedKernelPca;
use eigenlift::model::Lift;
use eigenlift_io::Target;
use eigenlift_plot::{Color, ContourPanels, Figure, Panel, Scatter, Scree, contour_panels, scatter, scree};
use std::collections::HashSet;
use std::path::Path;

/// A target of whole numbers with at most this many different values is drawn as classes.
const MOST_CLASSES: usize = 20;
/// Contour panels drawn, as in the notes.
const MOST_PANELS: usize = 8;
/// Lines of the grid in each direction.
const GRID: usize = 80;
/// What the grid shows beyond the data on each side, as a share of their range.
const MARGIN: f64 = 0.2;

/// What a picture shows beside the model: scores of samples and their labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// Scores, one row for each sample shown.
    pub(crate) scores: &'a Matrix<f64>,
    /// Labels of the same samples.
    pub(crate) target: Option<&'a Target>,
}

/// Writes a figure in the format that the extension stands for.
pub(crate) fn save(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    outputs::write_bytes(path, &figure.encode(&extension)?)
}

/// The first two components; the rows in order when there is only one.
pub(crate) fn draw_scatter(model: &dyn Model, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
    let (Shown { scores, target }, ratio) = (*shown, model.shares());
    let name = model.fitted().method();
    let label = |j: usize| match ratio.get(j) {
        Some(share) => format!("{name}{} ({:.1} % of variance)", j + 1, 100.0 * share),
        None => format!("{name}{}", j + 1),
    };
    let x = scores.column(0);
    let (y, y_label) = if scores.n_cols() > 1 {
        (scores.column(1), label(1))
    } else {
        ((1..=x.len()).map(|row| row as f64).collect(), "row".to_string())
    };
    let (x_label, equal_aspect) = (label(0), model.keeps_distances() && scores.n_cols() > 1);
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

/// The components as functions over the plane, each titled with its eigenvalue nλ.
pub(crate) fn draw_contours(
    model: &FittedKernelPca,
    target: Option<&Target>,
    title: &str,
) -> Result<Figure, Failure> {
    let Lift::Kernel { samples, .. } = &model.projection().lift else {
        return Err(Failure::Usage(
            "contours of a model that holds no points of the plane; they need samples or landmarks. \
             Leave the contours out, or fit with --solver davidson."
                .into(),
        ));
    };
    let data = samples.points().to_dense::<f64>();
    let (x, y) = (data.column(0), data.column(1));
    let (x_range, y_range) = (widened(&x), widened(&y));
    let grid = Matrix::from_fn(GRID * GRID, 2, |at, axis| {
        let (step, range) = if axis == 0 { (at % GRID, x_range) } else { (at / GRID, y_range) };
        range.0 + (range.1 - range.0) * step as f64 / (GRID - 1) as f64
    });
    let heights = model.transform(AnyPoints::F64((&grid).into()))?;
    let panel = |j: usize| Panel {
        title: format!("nλ{} = {:.2}", subscript(j + 1), model.eigenvalues()[j]),
        values: heights.column(j),
    };
    let labels = model.column_names();
    let label = |axis: usize| labels.get(axis).map_or("", String::as_str);
    Ok(contour_panels(&ContourPanels {
        panels: (0..model.n_components().min(MOST_PANELS)).map(panel).collect(),
        nx: GRID,
        ny: GRID,
        x_range,
        y_range,
        points: (&x, &y),
        classes: target
            .filter(|target| continuous(target).is_none() && target.values.len() == x.len())
            .map(|target| target.values.as_slice()),
        columns: 0,
        title,
        x_label: label(0),
        y_label: label(1),
    })?)
}

/// The range of the values and a margin on each side.
fn widened(values: &[f64]) -> (f64, f64) {
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let margin = if high > low { MARGIN * (high - low) } else { 1.0 };
    (low - margin, high + margin)
}

fn subscript(n: usize) -> String {
    n.to_string().chars().filter_map(|digit| char::from_u32(0x2080 + digit.to_digit(10)?)).collect()
}
