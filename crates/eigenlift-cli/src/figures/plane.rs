//! Kernel PCA of points in the plane: contour lines of components, and axes of feature space pulled back.

use super::{Shown, continuous};
use crate::exit::Failure;
use eigenlift::data::AnyPoints;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::model::Lift;
use eigenlift::preimage::Preimage;
use eigenlift_io::Target;
use eigenlift_plot::{ContourPanels, Curve, Curves, Figure, Panel, contour_panels, contour_rows, curves};

/// Contour panels drawn, as in the notes.
const MOST_PANELS: usize = 8;
/// Components of each kind where linear and kernel stand beside each other: the plane has two that are linear.
const MOST_PAIRS: usize = 2;
/// Lines of the grid in each direction.
const GRID: usize = 80;
/// What the grid shows beyond the data on each side, as a share of their range.
const MARGIN: f64 = 0.2;
/// Axes of feature space that are drawn over the data.
const MOST_CURVES: usize = 3;
/// Places along each of them.
const CURVE_PLACES: usize = 121;
/// Between two places a step of more than this share of the data's diagonal is a jump.
const JUMP: f64 = 0.12;

/// The points of the plane that a model was fitted on, and a grid around them.
struct Plane {
    data: Matrix<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    x_range: (f64, f64),
    y_range: (f64, f64),
}

/// Whether points of the plane are at hand, in the model or beside it, so that its components can be drawn over it.
pub(crate) fn is_planar(model: &FittedKernelPca, has_rows: bool) -> bool {
    match &model.projection().lift {
        Lift::Kernel { samples, .. } => samples.n_cols() == 2,
        // Random features have no way back for the curves.
        lift @ Lift::Features { .. } => {
            has_rows && lift.n_features() == 2 && model.plan().approximation.is_none()
        }
        _ => false,
    }
}

impl Plane {
    fn of(model: &FittedKernelPca, shown: &Shown<'_>) -> Result<Self, Failure> {
        let held = match &model.projection().lift {
            Lift::Kernel { samples, .. } => Some(samples.points()),
            _ => shown.rows,
        };
        let Some(points) = held.filter(|_| !matches!(model.projection().lift, Lift::Precomputed { .. }))
        else {
            return Err(Failure::usage(
                "a picture over the plane of a model that holds no points of it",
                "samples or landmarks are needed",
                "Draw it while fitting, or fit with --solver davidson",
            ));
        };
        if points.n_cols() != 2 {
            return Err(Failure::usage(
                format!("a picture over the plane of a model of {} columns", points.n_cols()),
                "exactly 2 are needed",
                "Choose two with --columns when fitting",
            ));
        }
        let data = points.to_dense::<f64>();
        let (x, y) = (data.column(0), data.column(1));
        let (x_range, y_range) = (widened(&x), widened(&y));
        Ok(Self { data, x, y, x_range, y_range })
    }

    fn grid(&self) -> Matrix<f64> {
        Matrix::from_fn(GRID * GRID, 2, |at, axis| {
            let (step, range) = if axis == 0 { (at % GRID, self.x_range) } else { (at / GRID, self.y_range) };
            range.0 + (range.1 - range.0) * step as f64 / (GRID - 1) as f64
        })
    }

    /// The first components of a model over the grid.
    fn panels(&self, model: &FittedKernelPca, most: usize) -> Result<Vec<Panel>, Failure> {
        let heights = model.transform(AnyPoints::F64((&self.grid()).into()))?;
        let panel = |j: usize| Panel {
            title: format!("nλ{} = {}", subscript(j + 1), eigenvalue(model.eigenvalues()[j])),
            values: heights.column(j),
        };
        Ok((0..model.n_components().min(most)).map(panel).collect())
    }

    /// The classes of the points, where labels are classes and there is one for each.
    fn classes<'a>(&self, target: Option<&'a Target>) -> Option<&'a [String]> {
        target
            .filter(|target| continuous(target).is_none() && target.values.len() == self.x.len())
            .map(|target| target.values.as_slice())
    }

    /// The curve, with a gap wherever it jumps: between clusters there may be no row that has such scores.
    fn broken(&self, curve: Curve) -> Curve {
        let widths = [&self.x, &self.y].map(|values| range(values)).map(|(low, high)| high - low);
        let far = JUMP * widths[0].hypot(widths[1]);
        let mut whole = Curve { name: curve.name, ..Curve::default() };
        for (at, (x, y)) in curve.x.iter().zip(&curve.y).enumerate() {
            let before = whole.x.last().zip(whole.y.last());
            if before.is_some_and(|(a, b)| (x - a).hypot(y - b) > far) {
                whole.x.push(f64::NAN);
                whole.y.push(f64::NAN);
                whole.trusted.push(false);
            }
            whole.x.push(*x);
            whole.y.push(*y);
            whole.trusted.push(curve.trusted.get(at).copied().unwrap_or(true));
        }
        whole
    }

    fn picture<'a>(
        &'a self,
        model: &'a FittedKernelPca,
        target: Option<&'a Target>,
        title: &'a str,
    ) -> ContourPanels<'a> {
        let labels = model.column_names();
        let label = |axis: usize| labels.get(axis).map_or("", String::as_str);
        ContourPanels {
            nx: GRID,
            ny: GRID,
            x_range: self.x_range,
            y_range: self.y_range,
            points: (&self.x, &self.y),
            classes: self.classes(target),
            title,
            x_label: label(0),
            y_label: label(1),
            ..ContourPanels::default()
        }
    }
}

/// The components as functions over the plane, each titled with its eigenvalue nλ.
pub(crate) fn draw_contours(
    model: &FittedKernelPca,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    let plane = Plane::of(model, shown)?;
    let panels = plane.panels(model, MOST_PANELS)?;
    Ok(contour_panels(&ContourPanels { panels, ..plane.picture(model, shown.target, title) })?)
}

/// The first components of linear PCA beside those of the kernel.
pub(crate) fn draw_linear(
    model: &FittedKernelPca,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    let plane = Plane::of(model, shown)?;
    let linear = KernelPca::new(MOST_PAIRS).kernel(KernelSpec::linear()).fit(plane.data.clone())?;
    let headings = vec!["linear".to_string(), model.plan().kernel.clone()];
    let mut panels = plane.panels(&linear, MOST_PAIRS)?;
    let columns = panels.len();
    panels.extend(plane.panels(model, columns)?);
    Ok(contour_rows(
        &ContourPanels { panels, columns, ..plane.picture(model, shown.target, title) },
        &headings,
    )?)
}

/// Axes of feature space over the data: for each component, the rows whose images are nearest to the points with score t
/// along it and 0 along the others.
pub(crate) fn draw_curves(
    model: &FittedKernelPca,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    let plane = Plane::of(model, shown)?;
    let scores = model.transform(&plane.data)?;
    let n_curves = model.n_components().min(MOST_CURVES);
    let ranges: Vec<(f64, f64)> = (0..n_curves).map(|j| range(&scores.column(j))).collect();
    let places = Matrix::from_fn(n_curves * CURVE_PLACES, model.n_components(), |at, j| {
        let (curve, step) = (at / CURVE_PLACES, at % CURVE_PLACES);
        let (low, high) = ranges[curve];
        if j == curve { low + (high - low) * step as f64 / (CURVE_PLACES - 1) as f64 } else { 0.0 }
    });
    let found = model.inverse_by(&Preimage::new(), &places)?;
    let curve = |j: usize| {
        let rows = j * CURVE_PLACES..(j + 1) * CURVE_PLACES;
        let along = |axis: usize| rows.clone().map(|at| found.rows[(at, axis)]).collect();
        let trusted = found.trusted.get(rows.clone()).unwrap_or_default().to_vec();
        plane.broken(Curve { name: format!("kpca{}", j + 1), x: along(0), y: along(1), trusted })
    };
    let labels = model.column_names();
    let label = |axis: usize| labels.get(axis).map_or("", String::as_str);
    Ok(curves(&Curves {
        points: (&plane.x, &plane.y),
        classes: plane.classes(shown.target),
        curves: (0..n_curves).map(curve).collect(),
        title,
        x_label: label(0),
        y_label: label(1),
    })?)
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)))
}

/// The range of the values and a margin on each side.
fn widened(values: &[f64]) -> (f64, f64) {
    let (low, high) = range(values);
    let margin = if high > low { MARGIN * (high - low) } else { 1.0 };
    (low - margin, high + margin)
}

/// Two decimals, as the notes print eigenvalues, or as few digits as fit above a panel.
fn eigenvalue(value: f64) -> String {
    match value.abs() {
        0.01..1e3 => format!("{value:.2}"),
        1e3..1e6 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

fn subscript(n: usize) -> String {
    n.to_string().chars().filter_map(|digit| char::from_u32(0x2080 + digit.to_digit(10)?)).collect()
}
