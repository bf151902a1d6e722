//! Parameters that are found from the data: medians over pairs of rows, and 1/d.

use super::Kernel;
use super::spec::{KernelSpec, Param, ParamRole};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::random::{Purpose, Stream};

/// Pairs of rows that a median is taken over; all pairs when there are no more.
const PAIRS: usize = 100_000;
/// Bytes that the rows of these pairs may take at most, and the fewest pairs all the same.
const PAIR_BYTES: u64 = 256 << 20;
const FEWEST_PAIRS: usize = 2000;
/// Pairs on which a formula's symmetry is tried.
const SYMMETRY_PAIRS: usize = 200;

/// Rows that pairs are drawn from: all of them, or the ones that the draws need, gathered from a longer table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRows<'a> {
    points: AnyPoints<'a>,
    /// Global indices of `points`, ascending; `None` when `points` are all rows.
    places: Option<&'a [usize]>,
    n_rows: usize,
    /// Pairs to draw.
    n_pairs: usize,
}

impl<'a> From<AnyPoints<'a>> for PairRows<'a> {
    fn from(points: AnyPoints<'a>) -> Self {
        Self {
            points,
            places: None,
            n_rows: points.n_rows(),
            n_pairs: most_pairs(points.n_cols(), PAIR_BYTES),
        }
    }
}

impl<'a> PairRows<'a> {
    /// Rows `sample.places` of a longer table.
    pub(crate) fn gathered(points: AnyPoints<'a>, sample: &'a PairSample) -> Self {
        Self { points, places: Some(&sample.places), n_rows: sample.n_rows, n_pairs: sample.n_pairs }
    }

    fn copy(&self, row: usize, out: &mut [f64]) {
        let at = self.places.map_or(row, |places| places.binary_search(&row).unwrap_or(0));
        self.points.copy_row(at, out);
    }
}

/// The rows of a table that a median looks at.
pub(crate) struct PairSample {
    /// Their numbers, ascending.
    pub(crate) places: Vec<usize>,
    /// Bytes that the rows take once they are gathered.
    pub(crate) bytes: u64,
    n_rows: usize,
    n_pairs: usize,
    n_usual: usize,
}

impl PairSample {
    /// Rows of a table of `n_rows` rows and `n_cols` columns that take at most `allowed` bytes.
    pub(crate) fn draw((n_rows, n_cols): (usize, usize), allowed: u64, seed: u64) -> Self {
        let n_pairs = most_pairs(n_cols, allowed.min(PAIR_BYTES));
        let mut places = Vec::new();
        draw_pairs(n_rows, n_pairs, Purpose::Pairs, seed, |i, j| places.extend([i, j]));
        places.sort_unstable();
        places.dedup();
        let bytes = 8 * (places.len() as u64) * (n_cols as u64);
        Self { places, bytes, n_rows, n_pairs, n_usual: most_pairs(n_cols, PAIR_BYTES) }
    }

    /// Why there are fewer pairs than usual, if there are.
    pub(crate) fn reason(&self) -> Option<String> {
        (self.n_pairs < self.n_usual).then(|| {
            format!(
                "the median is taken over {} pairs of rows, not {}: these fit",
                self.n_pairs, self.n_usual
            )
        })
    }
}

/// Pairs that a median of rows of `n_cols` numbers is taken over: fewer where both rows of all pairs take more than `bytes`.
fn most_pairs(n_cols: usize, bytes: u64) -> usize {
    let fitting = bytes / (16 * n_cols.max(1) as u64);
    usize::try_from(fitting).unwrap_or(PAIRS).clamp(FEWEST_PAIRS, PAIRS)
}

/// The number a parameter stands for.
pub(super) fn resolve(role: ParamRole, param: Param, rows: PairRows<'_>, seed: u64) -> Result<f64> {
    let points = rows.points;
    match param {
        Param::Value(value) => Ok(value),
        Param::Auto => Err(auto_here()),
        Param::OverDimension => Ok(1.0 / points.n_cols().max(1) as f64),
        Param::Median => {
            points.check()?;
            let typical = median(rows, quantity(role), seed)?;
            Ok(match role {
                ParamRole::SquaredDistance => typical,
                ParamRole::Distance => typical.sqrt(),
                ParamRole::DistanceRate => 1.0 / typical.sqrt(),
                ParamRole::SquaredDistanceRate
                | ParamRole::L1Rate
                | ParamRole::InnerProductRate
                | ParamRole::Chi2Rate => 1.0 / typical,
            })
        }
    }
}

/// Where nothing is chosen, `auto` has no meaning.
pub(super) fn auto_here() -> Error {
    Error::kernel(
        "auto in the kernel's description",
        "only a fit of kernel PCA and 'choose kpca' find it by cross-validation",
        "Write median or a number here",
    )
}

type Quantity = fn(&[f64], &[f64]) -> f64;

/// What the median is taken of. Distances are squared: the root of the median is the median of the roots.
fn quantity(role: ParamRole) -> Quantity {
    match role {
        ParamRole::L1Rate => |x, y| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum(),
        ParamRole::InnerProductRate => |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>().abs(),
        ParamRole::Chi2Rate => |x, y| {
            let term = |(a, b): (&f64, &f64)| if a + b == 0.0 { 0.0 } else { (a - b) * (a - b) / (a + b) };
            x.iter().zip(y).map(term).sum()
        },
        ParamRole::SquaredDistanceRate
        | ParamRole::SquaredDistance
        | ParamRole::Distance
        | ParamRole::DistanceRate => |x, y| x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum(),
    }
}

/// Calls `visit` with the indices of pairs of different rows: all of them, or `count` drawn by global row index.
fn draw_pairs(n: usize, count: usize, purpose: Purpose, seed: u64, mut visit: impl FnMut(usize, usize)) {
    if n.saturating_mul(n.saturating_sub(1)) / 2 <= count {
        (0..n).for_each(|i| (0..i).for_each(|j| visit(i, j)));
        return;
    }
    let mut random = Stream::new(seed, purpose);
    for _ in 0..count {
        let i = random.below(n);
        visit(i, (i + 1 + random.below(n - 1)) % n);
    }
}

fn visit_pairs(
    rows: PairRows<'_>,
    count: usize,
    purpose: Purpose,
    seed: u64,
    mut visit: impl FnMut(&[f64], &[f64]),
) {
    let d = rows.points.n_cols();
    let (mut x, mut y, mut held) = (vec![0.0; d], vec![0.0; d], None);
    draw_pairs(rows.n_rows, count, purpose, seed, |i, j| {
        if held != Some(i) {
            rows.copy(i, &mut x);
            held = Some(i);
        }
        rows.copy(j, &mut y);
        visit(&x, &y);
    });
}

/// The median over pairs; when it is 0, the mean of what is not.
fn median(rows: PairRows<'_>, quantity: Quantity, seed: u64) -> Result<f64> {
    let mut values = Vec::new();
    visit_pairs(rows, rows.n_pairs, Purpose::Pairs, seed, |x, y| values.push(quantity(x, y)));
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.get(values.len() / 2).copied().unwrap_or(0.0);
    if middle > 0.0 && middle.is_finite() {
        return Ok(middle);
    }
    if !values.iter().all(|v| v.is_finite()) {
        return Err(Error::data(
            format!("{} rows with distances that overflow double precision", rows.n_rows),
            "a median needs distances, and squares of distances, below 1.8e308",
            "Scale the data down",
        ));
    }
    let positive: Vec<f64> = values.into_iter().filter(|v| *v > 0.0).collect();
    if positive.is_empty() {
        return Err(Error::data(
            format!("{} rows without any distance between them", rows.n_rows),
            "a median needs rows that differ",
            "Give the kernel's parameter as a number, or check the data for constant columns",
        ));
    }
    Ok(positive.iter().sum::<f64>() / positive.len() as f64)
}

/// Tries k(x,y) = k(y,x) on pairs of rows when the kernel is a formula in both; the first two values that differ.
pub(super) fn asymmetric_pair(kernel: &Kernel, points: AnyPoints<'_>, seed: u64) -> Option<(f64, f64)> {
    if !kernel.spec().is_some_and(has_formula) {
        return None;
    }
    let mut failure = None;
    visit_pairs(points.into(), SYMMETRY_PAIRS, Purpose::Probes, seed, |x, y| {
        let (there, back) = (kernel.pair(x, y), kernel.pair(y, x));
        // Rounding of a formula of moderate length; anything else is asymmetry.
        if failure.is_none() && (there - back).abs() > 1e-9 * there.abs().max(back.abs()) {
            failure = Some((there, back));
        }
    });
    failure
}

fn has_formula(spec: &KernelSpec) -> bool {
    match spec {
        KernelSpec::Expr(_) => true,
        KernelSpec::Scaled(_, inner) => has_formula(inner),
        KernelSpec::Sum(specs) | KernelSpec::Product(specs) => specs.iter().any(has_formula),
        KernelSpec::Named(_) | KernelSpec::Map(_) | KernelSpec::Precomputed | KernelSpec::Auto => false,
    }
}
