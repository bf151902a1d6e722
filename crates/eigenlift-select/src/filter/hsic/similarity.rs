//! How alike rows are in one column, or in what is to be predicted.

use super::factor::{Factor, product, square};
use super::pairs::{Pairs, overlap};
use super::points;
use eigenlift::data::AnyPoints;
use eigenlift::error::{Error, Result};
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use std::borrow::Cow;

/// What a column is called in messages, and its numbers.
pub(super) type Named<'n, 'a> = (&'n (dyn Fn() -> String + Sync), &'a [f64]);

/// The kernel matrix of one column over all rows, by a factor where there is a short one.
pub(super) struct Similarity<'a> {
    pairs: Pairs<'a>,
    factor: Option<Factor>,
    n_classes: usize,
    /// ‖HKH‖ in Frobenius' norm; 0 for rows that are all alike.
    pub(super) norm: f64,
}

impl<'a> Similarity<'a> {
    /// The kernel of a column, with `median` and `1/d` found from that column. `None` for a constant one.
    ///
    /// # Errors
    /// When the kernel has no formula, cannot take the column or gives no finite values; when the work is cancelled.
    pub(super) fn of_numbers(
        spec: &KernelSpec,
        (name, column): Named<'_, 'a>,
        (share, seed): (f64, u64),
        watch: &Watch,
    ) -> Result<Option<Self>> {
        if column.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(None);
        }
        let kernel = kernel_of(spec, (name, column), seed)?;
        let factor = Factor::of(&kernel, column, share, watch)?;
        let pairs = Pairs::Kernel(kernel, Cow::Borrowed(column));
        let norm = match &factor {
            Some(factor) => factor.norm,
            None => match overlap(&pairs, &pairs, watch)? {
                // Numerics: a sum of squares; what rounding makes negative is 0, what is no number stays so.
                negative if negative < 0.0 => 0.0,
                square => square.sqrt(),
            },
        };
        if !norm.is_finite() {
            return Err(Error::data(
                format!("the kernel {spec} of {} has values that are not finite", name()),
                "a dependence is a sum over all its values",
                "Rescale the column, or choose another kernel",
            ));
        }
        Ok(Some(Self { pairs, factor, n_classes: 0, norm }))
    }

    /// 1 where classes are equal. `None` when they all are.
    pub(super) fn of_classes(of_rows: &'a [u32], n_classes: usize) -> Option<Self> {
        let n = of_rows.len() as f64;
        let mut counts = vec![0.0; n_classes];
        of_rows.iter().for_each(|class| counts[*class as usize] += 1.0);
        if counts.contains(&n) {
            return None;
        }
        // ‖diag(n_c) − n_c·n_cᵀ/n‖².
        let squares: f64 = counts.iter().map(|c| c * c).sum();
        let diagonal: f64 = counts.iter().map(|c| (c * (n - c) / n).powi(2) - (c * c / n).powi(2)).sum();
        let norm = (diagonal + (squares / n).powi(2)).sqrt();
        Some(Self { pairs: Pairs::Classes(Cow::Borrowed(of_rows)), factor: None, n_classes, norm })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.pairs.n_rows()
    }

    /// tr(KHLH)/(‖HKH‖·‖HLH‖), (S15), the rows of `goal` in another order where one is given.
    pub(super) fn normalised(&self, goal: &Self, order: Option<&[usize]>, watch: &Watch) -> Result<f64> {
        let size = self.norm * goal.norm;
        if size == 0.0 {
            return Ok(0.0);
        }
        // Numerics: the bound of Cauchy and Schwarz, which rounding may overstep.
        Ok((self.overlap(goal, order, watch)? / size).clamp(-1.0, 1.0))
    }

    /// tr(KHLH) by factors: ‖GᵀHF‖². It is too small by τ_K·(‖HFFᵀH‖ + τ_L) + τ_L·‖HGGᵀH‖ at most, τ being the traces that the
    /// factors leave out of HKH and HLH, (S14).
    pub(super) fn overlap(&self, goal: &Self, order: Option<&[usize]>, watch: &Watch) -> Result<f64> {
        match (&self.factor, &goal.factor, &goal.pairs) {
            (Some(own), _, Pairs::Classes(of_rows)) => {
                Ok(square(&class_sums(&own.rows, (of_rows, goal.n_classes), order)))
            }
            (Some(own), Some(other), _) => Ok(square(&product(&own.rows, &other.rows, order))),
            _ => match order {
                None => overlap(&self.pairs, &goal.pairs, watch),
                Some(order) => overlap(&self.pairs, &goal.pairs.ordered(order), watch),
            },
        }
    }

    /// HG.
    #[cfg(test)]
    pub(super) fn features(&self) -> Option<&Matrix<f64>> {
        self.factor.as_ref().map(|factor| &factor.rows)
    }
}

/// Σ of the rows of each class, with the classes in another order where one is given.
fn class_sums(
    g: &Matrix<f64>,
    (of_rows, n_classes): (&[u32], usize),
    order: Option<&[usize]>,
) -> Matrix<f64> {
    let mut sums = Matrix::zeros(n_classes, g.n_cols());
    let mut view = sums.view_mut();
    for i in 0..g.n_rows() {
        let class = of_rows[order.map_or(i, |order| order[i])];
        view.row_mut(class as usize).iter_mut().zip(g.row(i)).for_each(|(sum, g)| *sum += g);
    }
    sums
}

/// The kernel for this column.
fn kernel_of(spec: &KernelSpec, (name, column): Named<'_, '_>, seed: u64) -> Result<Kernel> {
    let rows = AnyPoints::F64(points(column)?);
    let resolved = match Kernel::resolved(spec, rows, seed) {
        // Why: pairs drawn from a column that is nearly constant may all be equal; those of different values are not.
        Err(Error::Data { .. }) => {
            let mut values = column.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            Kernel::resolved(spec, AnyPoints::F64(points(&values)?), seed)?
        }
        other => other?,
    };
    let kernel = Kernel::new(&resolved, 1)?;
    let negative = |x: &f64| kernel.needs_nonnegative() && *x < 0.0;
    if let Some(i) = column.iter().position(negative) {
        return Err(Error::data(
            format!("row {} of {} is {}", i + 1, name(), column[i]),
            format!("the kernel {spec} needs entries that are not negative"),
            "Shift the column, or choose another kernel",
        ));
    }
    if let Some((there, back)) = kernel.asymmetric_pair(rows, seed) {
        return Err(Error::kernel(
            format!(
                "the kernel {kernel} gives k(x,y) = {there} and k(y,x) = {back} for two rows of {}",
                name()
            ),
            "a kernel must be symmetric",
            "Make the formula the same when x and y are exchanged",
        ));
    }
    Ok(kernel)
}
