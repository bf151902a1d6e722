//! Random Fourier features with orthogonal frequencies, docs/theory (K42)–(K44).

use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::kernel::{KernelSpec, SpectralDensity, with_spectral_density};
use crate::linalg::{Factor, Onto, gemm, orthonormal_columns};
use crate::matrix::{MatMut, Matrix};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::real::Real;
use crate::simd::{Vectorised, dispatch};
use rayon::prelude::*;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

/// Frequencies that are made orthogonal together at most. Why: the gain falls with (frequencies together)/d, the cost does not.
const MOST_TOGETHER: usize = 1024;
/// Numbers that a map may hold at most, 16 GiB.
const MOST_NUMBERS: usize = 1 << 31;

/// φ(x) = √(a/m)·\[cos w₁ᵀx … cos w_mᵀx, sin w₁ᵀx … sin w_mᵀx\].
#[derive(Clone, Debug)]
pub(super) struct FourierMap {
    /// d × m, a column for each w.
    frequencies: Matrix<f64>,
    /// √(a/m)
    amplitude: f64,
}

/// Law of the frequencies and factor a of a kernel.
fn law(kernel: &KernelSpec) -> Result<(SpectralDensity, f64)> {
    let found = match kernel {
        KernelSpec::Named(named) => named.spectrum()?.map(|law| (law, 1.0)),
        KernelSpec::Scaled(factor, inner) if *factor > 0.0 => {
            let (law, inner_factor) = law(inner)?;
            Some((law, factor * inner_factor))
        }
        KernelSpec::Scaled(..) | KernelSpec::Sum(_) | KernelSpec::Product(_) => None,
        KernelSpec::Map(_) | KernelSpec::Expr(_) | KernelSpec::Precomputed | KernelSpec::Auto => None,
    };
    found.ok_or_else(|| {
        Error::kernel(
            format!("random Fourier features of the kernel {kernel}"),
            format!("{} have them, and positive multiples of these", with_spectral_density("and")),
            "Choose one of these kernels, or use landmarks, which serve every kernel",
        )
    })
}

impl SpectralDensity {
    /// ‖w‖ over ‖g‖, drawn.
    fn stretch(self, random: &mut Stream) -> f64 {
        match self {
            Self::Gaussian { scale } => scale,
            Self::StudentT { nu, length } => (nu / gamma_variate(nu, random)).sqrt() / length,
            Self::GammaMixture { alpha, length } => (gamma_variate(alpha, random) / alpha).sqrt() / length,
            Self::Cauchy { gamma } => gamma,
        }
    }

    /// m frequencies as columns.
    fn draw(self, d: usize, m: usize, random: &mut Stream) -> Matrix<f64> {
        if let Self::Cauchy { gamma } = self {
            return Matrix::from_fn(d, m, |_, _| gamma * (PI * (random.uniform() - 0.5)).tan());
        }
        let mut out = Matrix::zeros(d, m);
        let together = d.min(m).min(MOST_TOGETHER);
        for from in (0..m).step_by(together.max(1)) {
            let width = together.min(m - from);
            let gaussian = Matrix::from_fn(d, width, |_, _| random.gaussian());
            let directions = orthonormal_columns(gaussian.view());
            // The length of g has the chi distribution: √(2G) with G ~ Gamma(d/2, 1).
            let lengths: Vec<f64> = (0..width)
                .map(|_| (2.0 * gamma_variate(d as f64 / 2.0, random)).sqrt() * self.stretch(random))
                .collect();
            for i in 0..d {
                for (j, length) in lengths.iter().enumerate() {
                    out[(i, from + j)] = directions[(i, j)] * length;
                }
            }
        }
        out
    }
}

/// A draw from Gamma(shape, 1), by Marsaglia and Tsang's rejection; shapes below 1 through G(s) = G(s+1)·U^(1/s).
fn gamma_variate(shape: f64, random: &mut Stream) -> f64 {
    if shape < 1.0 {
        let larger = gamma_variate(shape + 1.0, random);
        return larger * (1.0 - random.uniform()).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.gaussian();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - random.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

impl FourierMap {
    pub(super) fn new(kernel: &KernelSpec, d: usize, dimension: usize, seed: u64) -> Result<Self> {
        kernel.validate()?;
        let (law, factor) = law(kernel)?;
        let m = dimension.div_ceil(2);
        check_size(d, m)?;
        let frequencies = law.draw(d, m, &mut Stream::new(seed, Purpose::Frequencies));
        Ok(Self { frequencies, amplitude: (factor / m as f64).sqrt() })
    }

    pub(super) fn dimension(&self) -> usize {
        2 * self.frequencies.n_cols()
    }

    /// φ of each row.
    ///
    /// Cost: d·D flops and D/2 sines and cosines for each row.
    pub(super) fn fill<T: Real>(&self, x: Points<'_, T>, mut out: MatMut<'_, f64>) {
        let m = self.frequencies.n_cols();
        rows_times(x, &self.frequencies, out.reborrow().columns(0..m));
        for i in 0..x.n_rows() {
            let (cosines, sines) = out.row_mut(i).split_at_mut(m);
            dispatch(Waves { cosines, sines, amplitude: self.amplitude });
        }
    }
}

impl FourierMap {
    /// Jᵀv at a row with features `phi`: Σ(v_sin·φ_cos − v_cos·φ_sin)·w.
    pub(super) fn pull_back(&self, phi: &[f64], v: &[f64]) -> Vec<f64> {
        let m = self.frequencies.n_cols();
        let ((cosines, sines), (v_cos, v_sin)) = (phi.split_at(m), v.split_at(m));
        let turned: Vec<f64> = (0..m).map(|i| v_sin[i] * cosines[i] - v_cos[i] * sines[i]).collect();
        let along = |c: usize| self.frequencies.row(c).iter().zip(&turned).map(|(w, t)| w * t).sum();
        (0..self.frequencies.n_rows()).map(along).collect()
    }
}

/// √(2/m)·cos(xᵀw + b) for each row x, each of m frequencies w (columns of `frequencies`) and its phase b: features whose inner
/// products are the kernel in expectation when w is drawn from its law and b uniformly, (K42).
///
/// Cost: 2·d·m flops and m cosines for each row; memory the result and a piece of rows for each thread.
///
/// # Errors
/// When rows have another length than frequencies, there is not one phase for each, or an entry is not finite; cancellation.
pub fn cosine_features<S: Real>(
    x: AnyPoints<'_>,
    frequencies: &Matrix<f64>,
    phases: &[f64],
    watch: &Watch,
) -> Result<Matrix<S>> {
    const PIECE: usize = 128;
    let m = frequencies.n_cols();
    if (x.n_cols(), m) != (frequencies.n_rows(), phases.len()) {
        return Err(Error::data(
            format!("rows of {} numbers and {} phases", x.n_cols(), phases.len()),
            format!("there are {m} frequencies of {} numbers", frequencies.n_rows()),
            "Give the columns of the fit",
        ));
    }
    x.check()?;
    let amplitude = (2.0 / m.max(1) as f64).sqrt();
    let mut out = Matrix::zeros(x.n_rows(), m);
    let pieces = out.view_mut().row_chunks(PIECE).into_par_iter().enumerate();
    // Why buffers for each thread: memory that is new for each piece costs more than the cosines.
    let buffers = || (Matrix::zeros(PIECE, m), vec![0.0; m]);
    pieces.try_for_each_init(buffers, |(phase, sines), (piece, mut out)| {
        watch.check()?;
        let rows = x.rows(piece * PIECE..piece * PIECE + out.n_rows());
        if phase.n_rows() != out.n_rows() {
            *phase = Matrix::zeros(out.n_rows(), m);
        }
        match rows {
            AnyPoints::F32(rows) => rows_times(rows, frequencies, phase.view_mut()),
            AnyPoints::F64(rows) => rows_times(rows, frequencies, phase.view_mut()),
        }
        for i in 0..out.n_rows() {
            let mut view = phase.view_mut();
            let cosines = view.row_mut(i);
            cosines.iter_mut().zip(phases).for_each(|(c, b)| *c += b);
            dispatch(Waves { cosines, sines, amplitude });
            out.row_mut(i).iter_mut().zip(phase.row(i)).for_each(|(o, c)| *o = S::of(*c));
        }
        Ok(())
    })?;
    Ok(out)
}

fn check_size(d: usize, m: usize) -> Result<()> {
    if d > 0 && m > 0 && d.checked_mul(m).is_some_and(|numbers| numbers <= MOST_NUMBERS) {
        return Ok(());
    }
    Err(Error::setting(
        format!("{m} frequencies for rows of {d} numbers"),
        format!("there must be at least one of each and at most {MOST_NUMBERS} numbers"),
        "Choose another dimension for the features",
    ))
}

/// out ← X·B for dense or sparse rows.
pub(super) fn rows_times<T: Real>(x: Points<'_, T>, b: &Matrix<f64>, mut out: MatMut<'_, f64>) {
    match x {
        Points::Dense(_) => {
            let rows: Matrix<f64> = x.to_dense();
            gemm(out, Onto::Replace, 1.0, Factor::Plain(rows.view()), Factor::Plain(b.view()));
        }
        Points::Sparse(rows) => {
            out.fill(0.0);
            for i in 0..rows.n_rows() {
                let (columns, values) = rows.row(i);
                let sums = out.row_mut(i);
                for (column, value) in columns.iter().zip(values) {
                    let value = value.f64();
                    sums.iter_mut().zip(b.row(*column as usize)).for_each(|(s, b)| *s += value * b);
                }
            }
        }
    }
}

/// Replaces phases, given in `cosines`, by amplitude·cos and amplitude·sin.
struct Waves<'a> {
    cosines: &'a mut [f64],
    sines: &'a mut [f64],
    amplitude: f64,
}

/// Phases up to this are reduced by the short way below.
const NEAR: f64 = 1e6;

impl Vectorised for Waves<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let a = self.amplitude;
        if !self.cosines.iter().all(|phase| phase.abs() < NEAR) {
            for (c, s) in self.cosines.iter_mut().zip(self.sines) {
                let (sine, cosine) = c.sin_cos();
                (*c, *s) = (a * cosine, a * sine);
            }
            return;
        }
        for (c, s) in self.cosines.iter_mut().zip(self.sines) {
            let (sine, cosine) = sine_cosine::<FMA>(*c);
            (*c, *s) = (a * cosine, a * sine);
        }
    }
}

/// sin x and cos x for |x| < 10⁶, to about 2 units of roundoff of 1.
///
/// Numerics: x = q·π/2 + r with π/2 in three parts, the first two short enough that q times them is exact; then Taylor's
/// series on |r| ≤ π/4.
#[inline(always)]
fn sine_cosine<const FMA: bool>(x: f64) -> (f64, f64) {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const HIGH: f64 = f64::from_bits(FRAC_PI_2.to_bits() & !0xF_FFFF);
    const MIDDLE: f64 = FRAC_PI_2 - HIGH;
    const LOW: f64 = 6.123_233_995_736_766e-17;
    let shifted = x.multiply_add::<FMA>(FRAC_2_PI, ROUND);
    let (quarter, q) = (shifted.to_bits(), shifted - ROUND);
    let r = ((x - q * HIGH) - q * MIDDLE) - q * LOW;
    let s = r * r;
    let sine = series::<FMA, 7>(s, [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]) * r;
    let cosine = series::<FMA, 8>(s, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]);
    let (sine, cosine) = if quarter & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    let flip = |value: f64, negative: u64| f64::from_bits(value.to_bits() ^ (negative >> 1 << 63));
    (flip(sine, quarter & 2), flip(cosine, quarter.wrapping_add(1) & 2))
}

/// 1 − s/(n₁(n₁−1))·(1 − s/(n₂(n₂−1))·(…)).
#[inline(always)]
fn series<const FMA: bool, const N: usize>(s: f64, orders: [f64; N]) -> f64 {
    let mut value = 1.0;
    for n in orders.into_iter().rev() {
        value = (s * value).multiply_add::<FMA>(-1.0 / (n * (n - 1.0)), 1.0);
    }
    value
}

#[cfg(test)]
mod tests;
