//! The dependence by all pairs of rows, for kernels that have no short factor, docs/theory (S13).

use super::points;
use eigenlift::error::Result;
use eigenlift::kernel::{Kernel, Workspace};
use eigenlift::progress::Watch;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows of a tile.
const BLOCK: usize = 192;
/// Share of the terms that is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// How alike two rows are.
pub(super) enum Pairs<'a> {
    /// By a kernel of a number each.
    Kernel(Kernel, Cow<'a, [f64]>),
    /// 1 where classes are equal and 0 otherwise.
    Classes(Cow<'a, [u32]>),
}

impl Pairs<'_> {
    pub(super) fn n_rows(&self) -> usize {
        match self {
            Self::Kernel(_, numbers) => numbers.len(),
            Self::Classes(of_rows) => of_rows.len(),
        }
    }

    /// With the rows in another order.
    pub(super) fn ordered(&self, order: &[usize]) -> Pairs<'static> {
        match self {
            Self::Kernel(kernel, numbers) => {
                Pairs::Kernel(kernel.clone(), order.iter().map(|i| numbers[*i]).collect())
            }
            Self::Classes(of_rows) => Pairs::Classes(order.iter().map(|i| of_rows[*i]).collect()),
        }
    }

    fn tile(
        &self,
        (a, b): (&std::ops::Range<usize>, &std::ops::Range<usize>),
        out: &mut [f64],
        work: &mut Workspace<f64>,
    ) -> Result<()> {
        match self {
            Self::Kernel(kernel, numbers) => {
                kernel.tile(points(&numbers[a.clone()])?, points(&numbers[b.clone()])?, out, work);
            }
            Self::Classes(of_rows) => {
                for (i, row) in a.clone().zip(out.chunks_mut(b.len().max(1))) {
                    let own = of_rows[i];
                    row.iter_mut()
                        .zip(&of_rows[b.clone()])
                        .for_each(|(v, c)| *v = f64::from(u8::from(*c == own)));
                }
            }
        }
        Ok(())
    }
}

/// tr(KHLH) = Σ K_ij·L_ij − (2/n)·Σ k_i·l_i + (Σ k_i)(Σ l_i)/n², k and l the sums of rows.
///
/// Cost: n² values of each kernel, O(n) memory.
/// Numerics: the three terms cancel, which costs about n times the roundoff where nothing depends; what is within their
/// rounding is 0.
pub(super) fn overlap(k: &Pairs<'_>, l: &Pairs<'_>, watch: &Watch) -> Result<f64> {
    let n = k.n_rows();
    let strips: Vec<Result<[f64; 4]>> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|strip| {
            watch.check()?;
            strip_sums((k, l), strip * BLOCK..((strip + 1) * BLOCK).min(n))
        })
        .collect();
    let mut total = [0.0; 4];
    for strip in strips {
        total.iter_mut().zip(strip?).for_each(|(t, s)| *t += s);
    }
    let ([both, rows, k, l], n) = (total, n as f64);
    let terms = [both, -2.0 * rows / n, k / n * (l / n)];
    let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
    Ok(if sum.abs() <= ROUNDING * size { 0.0 } else { sum })
}

/// Σ K_ij·L_ij, Σ k_i·l_i, Σ k_i and Σ l_i over some rows i.
fn strip_sums((k, l): (&Pairs<'_>, &Pairs<'_>), rows: std::ops::Range<usize>) -> Result<[f64; 4]> {
    let n = k.n_rows();
    let mut work = Workspace::default();
    let (mut k_tile, mut l_tile) = (Vec::new(), Vec::new());
    let (mut k_sums, mut l_sums, mut both) = (vec![0.0; rows.len()], vec![0.0; rows.len()], 0.0);
    for start in (0..n).step_by(BLOCK) {
        let columns = start..(start + BLOCK).min(n);
        k_tile.resize(rows.len() * columns.len(), 0.0);
        l_tile.resize(rows.len() * columns.len(), 0.0);
        k.tile((&rows, &columns), &mut k_tile, &mut work)?;
        l.tile((&rows, &columns), &mut l_tile, &mut work)?;
        let width = columns.len();
        for (i, (k, l)) in k_tile.chunks(width).zip(l_tile.chunks(width)).enumerate() {
            k_sums[i] += k.iter().sum::<f64>();
            l_sums[i] += l.iter().sum::<f64>();
            both += k.iter().zip(l).map(|(k, l)| k * l).sum::<f64>();
        }
    }
    let rows = k_sums.iter().zip(&l_sums).map(|(k, l)| k * l).sum();
    Ok([both, rows, k_sums.iter().sum(), l_sums.iter().sum()])
}
