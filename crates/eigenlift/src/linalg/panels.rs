//! Products whose right factor is packed once and used many times.
//!
//! Why not gemm: a tile is small, so gemm's packing of both factors in each call costs as much as a quarter of the product.
//! Here the left factor is read where it lies, by rows or by columns.

use super::Factor;
use crate::matrix::MatRef;
use crate::real::Real;
use crate::simd::{Vectorised, dispatch, prefetch};
use std::ops::Range;

/// Rows of the left factor that are multiplied at a time: their sums, two vectors for each row, stay in registers.
pub(crate) const GROUP_ROWS: usize = 6;

/// A matrix packed as a right factor: strips of columns, one after the other, each strip row by row. A strip is a cache line
/// wide, the last one perhaps half a line, and filled up with zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels<T> {
    numbers: Vec<T>,
    depth: usize,
    width: usize,
}

/// Numbers in a cache line.
const fn line<T>() -> usize {
    64 / size_of::<T>()
}

/// The strips of `width` columns: the columns of each and how many it has room for.
fn strips<T>(width: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
    (0..width).step_by(line::<T>()).map(move |from| {
        let lanes = if width - from <= line::<T>() / 2 { line::<T>() / 2 } else { line::<T>() };
        (from..(from + lanes).min(width), lanes)
    })
}

impl<T: Real> Panels<T> {
    /// Packs the rows of `v`, rounded to `T`.
    pub(crate) fn of(v: MatRef<'_, f64>) -> Self {
        let mut panels = Self::default();
        panels.pack(v.n_rows(), v.n_cols(), |columns, lanes, strip| {
            for (k, out) in strip.chunks_exact_mut(lanes).enumerate() {
                out.iter_mut().zip(&v.row(k)[columns.clone()]).for_each(|(o, x)| *o = T::of(*x));
            }
        });
        panels
    }

    /// Packs yᵀ, each row of `y` less `centre`, and leaves the squared norms of the shifted rows in `squares`.
    pub(crate) fn pack_shifted(&mut self, y: MatRef<'_, T>, centre: &[T], squares: &mut Vec<T>) {
        squares.resize(y.n_rows(), T::ZERO);
        self.pack(y.n_cols(), y.n_rows(), |columns, lanes, strip| {
            dispatch(ShiftStrip { y, centre, lanes, strip, squares: &mut squares[columns.clone()], columns });
        });
    }

    /// Packs yᵀ.
    pub(crate) fn pack_transposed(&mut self, y: MatRef<'_, T>) {
        self.pack(y.n_cols(), y.n_rows(), |columns, lanes, strip| {
            for (at, j) in columns.enumerate() {
                for (out, x) in strip.chunks_exact_mut(lanes).zip(y.row(j)) {
                    out[at] = *x;
                }
            }
        });
    }

    /// Calls `fill(columns, room for columns, strip)` for every strip.
    fn pack(&mut self, depth: usize, width: usize, mut fill: impl FnMut(Range<usize>, usize, &mut [T])) {
        (self.depth, self.width) = (depth, width);
        let room = strips::<T>(width).map(|(_, lanes)| lanes).sum::<usize>();
        self.numbers.resize(depth * room, T::ZERO);
        for (columns, lanes) in strips::<T>(width) {
            let strip = &mut self.numbers[columns.start * depth..][..lanes * depth];
            if columns.len() < lanes {
                strip.fill(T::ZERO);
            }
            fill(columns, lanes, strip);
        }
    }
}

/// A·B, given to `put(row, first column, sums)` a piece of a row at a time.
///
/// Numerics: each entry is one chain of additions along the depth, whatever the shapes.
/// Cost: 2·rows·columns·depth flops; A is read once for each strip of B, so it should lie in a near cache.
pub(crate) fn multiply<T: Real>(a: Factor<'_, T>, b: &Panels<T>, put: impl FnMut(usize, usize, &[T])) {
    let (_, shape, _) = a.layout();
    debug_assert_eq!(shape.1, b.depth, "columns of A and rows of B");
    if shape.0 > 0 && shape.1 == b.depth {
        dispatch(Product { a, b, put });
    }
}

struct Product<'a, T, P> {
    a: Factor<'a, T>,
    b: &'a Panels<T>,
    put: P,
}

impl<T: Real, P: FnMut(usize, usize, &[T])> Vectorised for Product<'_, T, P> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let depth = self.b.depth;
        for (columns, lanes) in strips::<T>(self.b.width) {
            let strip = &self.b.numbers[columns.start * depth..][..lanes * depth];
            match lanes {
                16 => self.times_strip::<FMA, 16>(strip, columns),
                8 => self.times_strip::<FMA, 8>(strip, columns),
                _ => self.times_strip::<FMA, 4>(strip, columns),
            }
        }
    }
}

impl<T: Real, P: FnMut(usize, usize, &[T])> Product<'_, T, P> {
    #[inline(always)]
    fn times_strip<const FMA: bool, const LANES: usize>(&mut self, strip: &[T], columns: Range<usize>) {
        let (Factor::Plain(m) | Factor::Transposed(m)) = self.a;
        let plain = matches!(self.a, Factor::Plain(_));
        let n_rows = if plain { m.n_rows() } else { m.n_cols() };
        for from in (0..n_rows).step_by(GROUP_ROWS) {
            let whole = from + GROUP_ROWS <= n_rows;
            // Why: a stored tile comes from memory, and six short rows at a time are nothing that the processor foresees.
            if plain && columns.start == 0 {
                let next = m.rows(from + GROUP_ROWS..from + 2 * GROUP_ROWS);
                (0..next.n_rows()).for_each(|i| prefetch(next.row(i)));
            }
            let sums = match (plain, whole) {
                (true, _) => group_of_rows::<T, FMA, LANES>(m, from, strip),
                (false, true) => group_of_columns::<T, FMA, LANES>(m, from, strip),
                (false, false) => last_columns::<T, FMA, LANES>(m, from, strip),
            };
            // Why two cases: with both sizes known when compiling, sums go from registers to where they are put.
            if whole && columns.len() == LANES {
                (0..GROUP_ROWS).for_each(|i| (self.put)(from + i, columns.start, &sums[i]));
            } else {
                for (i, sums) in sums.iter().enumerate().take(n_rows - from) {
                    (self.put)(from + i, columns.start, &sums[..columns.len()]);
                }
            }
        }
    }
}

type Sums<T, const LANES: usize> = [[T; LANES]; GROUP_ROWS];

#[inline(always)]
fn add_products<T: Real, const FMA: bool, const LANES: usize>(
    sums: &mut Sums<T, LANES>,
    a: [T; GROUP_ROWS],
    b: &[T],
) {
    let b: [T; LANES] = std::array::from_fn(|j| b[j]);
    for i in 0..GROUP_ROWS {
        for j in 0..LANES {
            sums[i][j] = a[i].multiply_add::<FMA>(b[j], sums[i][j]);
        }
    }
}

/// Rows `from`, … of `m`, the last one repeated where there is none, times the strip.
#[inline(always)]
fn group_of_rows<T: Real, const FMA: bool, const LANES: usize>(
    m: MatRef<'_, T>,
    from: usize,
    strip: &[T],
) -> Sums<T, LANES> {
    let mut sums = [[T::ZERO; LANES]; GROUP_ROWS];
    let row = |i: usize| m.row((from + i).min(m.n_rows() - 1)).iter();
    // Why zipped: no index is checked in the loop.
    let (upper, lower) = (row(0).zip(row(1)).zip(row(2)), row(3).zip(row(4)).zip(row(5)));
    for ((((a0, a1), a2), ((a3, a4), a5)), b) in upper.zip(lower).zip(strip.chunks_exact(LANES)) {
        add_products::<T, FMA, LANES>(&mut sums, [*a0, *a1, *a2, *a3, *a4, *a5], b);
    }
    sums
}

/// Columns `from`, … of `m`, all of which exist, times the strip.
#[inline(always)]
fn group_of_columns<T: Real, const FMA: bool, const LANES: usize>(
    m: MatRef<'_, T>,
    from: usize,
    strip: &[T],
) -> Sums<T, LANES> {
    let mut sums = [[T::ZERO; LANES]; GROUP_ROWS];
    for (row, b) in m.buffer().chunks(m.row_stride()).zip(strip.chunks_exact(LANES)) {
        let a = &row[from..from + GROUP_ROWS];
        add_products::<T, FMA, LANES>(&mut sums, std::array::from_fn(|i| a[i]), b);
    }
    sums
}

/// As [`group_of_columns`], the last column repeated where there is none.
#[inline(always)]
fn last_columns<T: Real, const FMA: bool, const LANES: usize>(
    m: MatRef<'_, T>,
    from: usize,
    strip: &[T],
) -> Sums<T, LANES> {
    let mut sums = [[T::ZERO; LANES]; GROUP_ROWS];
    let last = m.n_cols() - 1;
    for (k, b) in strip.chunks_exact(LANES).enumerate() {
        let a = std::array::from_fn(|i| m.row(k)[(from + i).min(last)]);
        add_products::<T, FMA, LANES>(&mut sums, a, b);
    }
    sums
}

struct ShiftStrip<'a, T> {
    y: MatRef<'a, T>,
    centre: &'a [T],
    columns: Range<usize>,
    lanes: usize,
    strip: &'a mut [T],
    squares: &'a mut [T],
}

impl<T: Real> Vectorised for ShiftStrip<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (at, j) in self.columns.enumerate() {
            let row = self.y.row(j).iter().zip(self.centre);
            for (out, (x, c)) in self.strip.chunks_exact_mut(self.lanes).zip(row) {
                out[at] = *x - *c;
            }
        }
        // Why two sums for each: half the rounding of one, and neither waits for the other.
        let mut sums = [[T::ZERO; 16]; 2];
        for (k, row) in self.strip.chunks_exact(self.lanes).enumerate() {
            sums[k % 2].iter_mut().zip(row).for_each(|(s, x)| *s = x.multiply_add::<FMA>(*x, *s));
        }
        let [even, odd] = sums;
        self.squares.iter_mut().zip(even.iter().zip(odd)).for_each(|(s, (a, b))| *s = *a + b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// Small whole numbers: products are exact in any order.
    fn numbers<T: Real>(n_rows: usize, n_cols: usize) -> Matrix<T> {
        Matrix::from_fn(n_rows, n_cols, |i, j| T::of(((i * 7 + j * 5 + i * j) % 11) as f64 - 5.0))
    }

    fn agrees<T: Real>(n: usize, m: usize, depth: usize) {
        let (a, b) = (numbers::<T>(n, depth), numbers::<f64>(depth, m));
        let turned = Matrix::from_fn(depth, n, |i, j| a[(j, i)]);
        let packed = Panels::<T>::of(b.view());
        let mut transposed = Panels::default();
        transposed.pack_transposed(Matrix::from_fn(m, depth, |i, j| T::of(b[(j, i)])).view());
        let expected =
            Matrix::from_fn(n, m, |i, j| T::of((0..depth).map(|k| a[(i, k)].f64() * b[(k, j)]).sum::<f64>()));
        for factor in [Factor::Plain(a.view()), Factor::Transposed(turned.view())] {
            for b in [&packed, &transposed] {
                let mut got = Matrix::from_fn(n, m, |_, _| T::of(f64::NAN));
                let out = got.as_mut_slice();
                multiply(factor, b, |i, j, sums| out[i * m + j..][..sums.len()].copy_from_slice(sums));
                assert_eq!(got, expected, "{} {n} × {depth} × {m}", T::NAME);
            }
        }
    }

    #[test]
    fn products_of_all_shapes_match_the_definition() {
        for n in [1, 2, 5, 6, 7, 13, 24] {
            for m in [1, 3, 4, 5, 8, 9, 12, 16, 17, 25, 33] {
                for depth in [1, 2, 7, 20] {
                    agrees::<f32>(n, m, depth);
                    agrees::<f64>(n, m, depth);
                }
            }
        }
    }

    #[test]
    fn shifted_rows_come_with_their_squares() {
        let (y, centre) = (numbers::<f32>(21, 9), [1.0; 9]);
        let (mut panels, mut squares) = (Panels::default(), vec![]);
        panels.pack_shifted(y.view(), &centre, &mut squares);
        for (j, square) in squares.iter().enumerate() {
            let expected: f32 = y.row(j).iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
            assert_eq!(*square, expected);
        }
        assert_eq!(squares.len(), 21);
        let one = Matrix::from_fn(1, 9, |_, _| 1.0f32);
        multiply(Factor::Plain(one.view()), &panels, |_, from, sums| {
            for (at, sum) in sums.iter().enumerate() {
                assert_eq!(*sum, y.row(from + at).iter().map(|x| x - 1.0).sum::<f32>());
            }
        });
    }
}
