//! What the kernelised methods share: features by kernel and landmarks, regularisation, and regions of the plane.

use super::kpca::{Accuracy, low_rank};
use crate::args::FactorArgs;
use crate::exit::Failure;
use crate::figures::Shown;
use crate::table::{DataAccount, samples_bytes};
use crate::values::RankChoice;
use crate::words::{counted, short};
use eigenlift::factor::{FactorPlan, RegularizationCurve};
use eigenlift::features::FeatureSettings;
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use eigenlift_plot::{Figure, RegionsPicture, RegularizationPicture, regions, regularization};

/// Places across and up at which regions are asked for.
const GRID: (usize, usize) = (180, 140);
/// How far regions go beyond the rows, as a share of their range.
const MARGIN: f64 = 0.06;

/// Sets what the words on features and machine stand for. Memory that `copies` of the samples take is not there for the work.
pub(super) fn apply(
    args: &FactorArgs,
    data: &DataAccount,
    copies: u64,
    watch: &Watch,
) -> Result<impl FnOnce(FeatureSettings) -> FeatureSettings + use<>, Failure> {
    let mut words = args.low_rank.clone();
    if args.exact {
        words.rank = Some(RankChoice::Exact);
    }
    let accuracy = low_rank(&words, data)?;
    let samples = samples_bytes(data, args.precision).saturating_mul(copies);
    let limit = args.machine.memory.map(|limit| limit.saturating_sub(samples).max(1));
    let (seed, threads, watch) = (args.machine.seed, args.machine.threads.into(), watch.clone());
    Ok(move |features: FeatureSettings| {
        let features = features.seed(seed).threads(threads).watch(watch);
        let features = match limit {
            Some(limit) => features.memory_limit(limit),
            None => features,
        };
        match accuracy {
            Some(Accuracy::Exact) => features.exact(),
            Some(Accuracy::LowRank(how)) => features.low_rank(how),
            None => features,
        }
    })
}

/// Refuses kernels that only kernel PCA chooses.
pub(super) fn check_kernel(kernel: &KernelSpec) -> Result<(), Failure> {
    if !kernel.is_automatic() {
        return Ok(());
    }
    Err(Failure::usage(
        "--kernel with auto in it",
        "kernels are chosen for kpca alone",
        "Name a kernel, such as the one that eigenlift choose kpca finds",
    ))
}

/// What features leave out, in words; nothing when they are exact.
pub(super) fn left_out(plan: &FactorPlan, share: Option<f64>) -> Option<String> {
    let share = format!("{:.2} %", 100.0 * share?);
    Some(match plan.approximation {
        Some(how) if how.is_random_features() => {
            format!("random features: kernel values on sampled pairs are off by {share} (root mean square)")
        }
        _ => format!("low rank: {} leave out {share} of the trace", counted(plan.rank, "landmark")),
    })
}

/// κ and how it came about, in words.
pub(super) fn regularization_words(
    kappas: &[f64],
    curve: Option<&RegularizationCurve>,
    folds: usize,
) -> String {
    let listed: Vec<String> = kappas.iter().map(|kappa| short(*kappa)).collect();
    let same = listed.windows(2).all(|two| two[0] == two[1]);
    let told = if same { listed.first().cloned().unwrap_or_default() } else { listed.join(" and ") };
    match curve {
        Some(curve) => format!(
            "regularisation: κ = {told}, {:.1e} of the variance: the best of {} on samples held out in {}; the figure reported for a fold uses the κ \
             that other folds choose",
            curve.shares.get(curve.chosen).copied().unwrap_or_default(),
            curve.shares.len(),
            counted(folds, "fold")
        ),
        None => format!("regularisation: κ = {told}, as asked for"),
    }
}

/// What each regularisation did on rows held out.
pub(super) fn draw_regularization(
    curve: &RegularizationCurve,
    y_label: &str,
    title: &str,
) -> Result<Figure, Failure> {
    Ok(regularization(&RegularizationPicture {
        kappas: &curve.shares,
        scores: &curve.scores,
        errors: &curve.errors,
        chosen: curve.chosen,
        x_label: "regularisation κ as a share of the variance",
        y_label,
        title,
    })?)
}

/// The place of a name for each row.
type Predict<'a> = &'a dyn Fn(&Matrix<f64>) -> Result<Vec<u32>, Failure>;

/// A model that predicts one of several names for places of the plane.
pub(super) struct Predictor<'a> {
    pub(super) names: &'a [String],
    pub(super) columns: &'a [String],
    pub(super) predict: Predict<'a>,
}

/// What is predicted at each place of the plane, with rows of two columns over it.
pub(super) fn draw_regions(
    predictor: &Predictor<'_>,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    let rows = shown.rows.map(|rows| rows.to_dense::<f64>()).unwrap_or_else(|| Matrix::zeros(0, 2));
    let (x, y) = if rows.n_cols() == 2 { (rows.column(0), rows.column(1)) } else { Default::default() };
    let (x_range, y_range) = (range(&x), range(&y));
    let (nx, ny) = GRID;
    let at = |(low, high): (f64, f64), i: usize, n: usize| low + (high - low) * i as f64 / (n - 1) as f64;
    let places = Matrix::from_fn(nx * ny, 2, |place, axis| match axis {
        0 => at(x_range, place % nx, nx),
        _ => at(y_range, place / nx, ny),
    });
    let label =
        |axis: usize| predictor.columns.get(axis).cloned().unwrap_or_else(|| format!("column {}", axis + 1));
    Ok(regions(&RegionsPicture {
        grid: &(predictor.predict)(&places)?,
        nx,
        ny,
        x_range,
        y_range,
        class_names: predictor.names,
        points: (&x, &y),
        labels: shown.target.map(|target| target.values.as_slice()),
        title,
        x_label: &label(0),
        y_label: &label(1),
    })?)
}

/// The range of values and a little more.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match high - low {
        width if width > 0.0 && width.is_finite() => (low - MARGIN * width, high + MARGIN * width),
        _ if low.is_finite() => (low - 1.0, low + 1.0),
        _ => (0.0, 1.0),
    }
}
