//! Sums of outer products of rows with few columns: the upper triangle alone, from rows as they lie in the cache.

use crate::simd::{Vectorised, dispatch};

/// A tile of the sum that is kept in registers: rows and columns.
const TALL: usize = 6;
const WIDE: usize = 8;

/// Columns that a buffer needs for rows of `d`: tiles may reach beyond the last column, where zeros must stand.
pub(crate) fn padded(d: usize) -> usize {
    d.next_multiple_of(TALL).max(d).next_multiple_of(WIDE)
}

/// out ← out + Σrrᵀ, upper triangle; what tiles on the diagonal compute below it is never read. Rows and sum have `width` numbers in
/// a row, a number that [`padded`] gave.
///
/// Cost: about 1.1·n·d² flops. The rows should fit into the processor's own cache.
pub(crate) fn add_outer_products(out: &mut [f64], rows: &[f64], width: usize) {
    assert!(
        width.is_multiple_of(WIDE) && out.len() >= width * width && rows.len().is_multiple_of(width.max(1)),
        "{} numbers in rows of {width} added to {} sums",
        rows.len(),
        out.len()
    );
    dispatch(Products { out, rows, width });
}

struct Products<'a> {
    out: &'a mut [f64],
    rows: &'a [f64],
    width: usize,
}

impl Vectorised for Products<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let width = self.width;
        for top in (0..width.saturating_sub(TALL - 1)).step_by(TALL) {
            for left in (top / WIDE * WIDE..width).step_by(WIDE) {
                let mut sums = [[0.0; WIDE]; TALL];
                for row in self.rows.chunks_exact(width) {
                    let (Some(down), Some(across)) = (
                        row.get(top..top + TALL).and_then(|x| <&[f64; TALL]>::try_from(x).ok()),
                        row.get(left..left + WIDE).and_then(|x| <&[f64; WIDE]>::try_from(x).ok()),
                    ) else {
                        continue;
                    };
                    add_tile::<FMA>(&mut sums, down, across);
                }
                for (a, sums) in sums.iter().enumerate() {
                    let at = (top + a) * width + left;
                    if let Some(into) = self.out.get_mut(at..at + WIDE) {
                        into.iter_mut().zip(sums).for_each(|(o, s)| *o += s);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add_tile<const FMA: bool>(sums: &mut [[f64; WIDE]; TALL], down: &[f64; TALL], across: &[f64; WIDE]) {
    for (sums, x) in sums.iter_mut().zip(down) {
        for (s, y) in sums.iter_mut().zip(across) {
            *s = if FMA { x.mul_add(*y, *s) } else { *s + x * y };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_triangle_is_the_plain_sum() {
        for d in 1..40 {
            let width = padded(d);
            let entry =
                |i: usize, j: usize| if j < d { ((i * 7 + j * 3 + i * j) as f64 * 0.37).sin() } else { 0.0 };
            let rows: Vec<f64> = (0..11 * width).map(|at| entry(at / width, at % width)).collect();
            let mut out = vec![1.0; width * width];
            add_outer_products(&mut out, &rows, width);
            for a in 0..d {
                for b in a..d {
                    let plain = 1.0 + (0..11).map(|i| entry(i, a) * entry(i, b)).sum::<f64>();
                    assert!((out[a * width + b] - plain).abs() < 1e-13, "{d}: {a} {b}");
                }
            }
        }
    }
}
