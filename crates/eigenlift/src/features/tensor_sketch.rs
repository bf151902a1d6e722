//! TensorSketch: random features of polynomial kernels, docs/theory (K45), (K46).

use crate::data::Points;
use crate::error::{Error, Result};
use crate::kernel::{KernelSpec, Monomials, known};
use crate::matrix::MatMut;
use crate::random::{Purpose, Stream};
use crate::real::Real;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex};
use std::sync::Arc;

/// Buckets and signs that a map may hold at most, 4 GiB.
const MOST_NUMBERS: f64 = (1u64 << 28) as f64;

/// φ(x) = √a·(C₁z ∗ … ∗ C_pz) with z = \[√γ·x, √c₀\], count sketches Cₜ and the circular convolution ∗.
#[derive(Clone, Debug)]
pub(super) struct TensorSketch {
    dimension: usize,
    /// √a
    amplitude: f64,
    sketches: Vec<CountSketch>,
}

/// (Cz)_b = Σ ±z_i over the coordinates i that fall into bucket b, (K45). For each coordinate of x, and one more when c₀ > 0,
/// the bucket and ±√γ or ±√c₀.
#[derive(Clone, Debug)]
struct CountSketch {
    entries: Vec<(u32, f64)>,
}

/// a·(γ⟨x,y⟩ + c₀)ᵖ as p, γ, c₀, a.
struct Polynomial {
    degree: f64,
    gamma: f64,
    coef0: f64,
    factor: f64,
}

impl Polynomial {
    fn of(kernel: &KernelSpec) -> Result<Self> {
        let refuse = |required: &str| {
            Err(Error::kernel(
                format!("a TensorSketch of the kernel {kernel}"),
                required,
                "Choose such a kernel, or use landmarks, which serve every kernel",
            ))
        };
        let none = "linear and polynomial have one, and positive multiples of these";
        match kernel {
            KernelSpec::Named(named) => {
                let Some(Monomials { degree, gamma, coef0 }) = named.monomials() else { return refuse(none) };
                let gamma = known(gamma)?;
                if degree.fract() != 0.0 || gamma <= 0.0 || coef0 < 0.0 {
                    return refuse("it needs a whole degree, gamma > 0 and coef0 ≥ 0");
                }
                Ok(Self { degree, gamma, coef0, factor: 1.0 })
            }
            KernelSpec::Scaled(factor, inner) if *factor > 0.0 => {
                let inner = Self::of(inner)?;
                Ok(Self { factor: factor * inner.factor, ..inner })
            }
            KernelSpec::Scaled(..) | KernelSpec::Sum(_) | KernelSpec::Product(_) => refuse(none),
            KernelSpec::Map(_) | KernelSpec::Expr(_) | KernelSpec::Precomputed | KernelSpec::Auto => {
                refuse(none)
            }
        }
    }
}

impl TensorSketch {
    pub(super) fn new(kernel: &KernelSpec, d: usize, dimension: usize, seed: u64) -> Result<Self> {
        kernel.validate()?;
        let Polynomial { degree, gamma, coef0, factor } = Polynomial::of(kernel)?;
        let variables = d.saturating_add(usize::from(coef0 > 0.0));
        let fits = degree * variables as f64 <= MOST_NUMBERS && dimension as f64 <= MOST_NUMBERS;
        if d == 0 || dimension == 0 || !fits {
            return Err(Error::setting(
                format!("{dimension} features of degree {degree} for rows of {d} numbers"),
                format!(
                    "there must be at least one of each, and at most {MOST_NUMBERS} features and numbers times degree"
                ),
                "Choose another dimension for the features, or a lower degree",
            ));
        }
        let mut random = Stream::new(seed, Purpose::Buckets);
        let mut entry = |i: usize| {
            let size = if i < d { gamma.sqrt() } else { coef0.sqrt() };
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            (random.below(dimension) as u32, sign * size)
        };
        let sketches = (0..degree as usize)
            .map(|_| CountSketch { entries: (0..variables).map(&mut entry).collect() })
            .collect();
        Ok(Self { dimension, amplitude: factor.sqrt(), sketches })
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// φ of each row. A row whose transform fails is NaN.
    pub(super) fn fill<T: Real>(&self, x: Points<'_, T>, mut out: MatMut<'_, f64>) {
        let mut convolver = (self.sketches.len() > 1).then(|| Convolver::new(self.dimension));
        for i in 0..x.n_rows() {
            let row = out.row_mut(i);
            match &mut convolver {
                None => self.sketches.iter().for_each(|sketch| sketch.apply(x, i, row)),
                Some(convolver) => {
                    convolver.start();
                    for sketch in &self.sketches {
                        sketch.apply(x, i, row);
                        convolver.multiply(row);
                    }
                    convolver.finish(row);
                }
            }
            row.iter_mut().for_each(|v| *v *= self.amplitude);
        }
    }
}

impl CountSketch {
    /// out ← C·\[√γ·x, √c₀\] for row i.
    ///
    /// Cost: one addition for each stored entry, and clearing `out`.
    fn apply<T: Real>(&self, x: Points<'_, T>, i: usize, out: &mut [f64]) {
        out.fill(0.0);
        let mut add = |(bucket, weight): &(u32, f64), value: f64| out[*bucket as usize] += weight * value;
        match x {
            Points::Dense(m) => self.entries.iter().zip(m.row(i)).for_each(|(e, v)| add(e, v.f64())),
            Points::Sparse(m) => {
                let (columns, values) = m.row(i);
                columns.iter().zip(values).for_each(|(c, v)| add(&self.entries[*c as usize], v.f64()));
            }
        }
        self.entries[x.n_cols()..].iter().for_each(|constant| add(constant, 1.0));
    }
}

/// Circular convolutions as products of Fourier transforms, (K46).
struct Convolver {
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
    spectrum: Vec<Complex<f64>>,
    product: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
}

impl Convolver {
    fn new(length: usize) -> Self {
        let mut planner = RealFftPlanner::new();
        let (forward, backward) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
        let zero = Complex::new(0.0, 0.0);
        let scratch = vec![zero; forward.get_scratch_len().max(backward.get_scratch_len())];
        let (spectrum, product) = (forward.make_output_vec(), forward.make_output_vec());
        Self { forward, backward, spectrum, product, scratch }
    }

    fn start(&mut self) {
        self.product.fill(Complex::new(1.0, 0.0));
    }

    /// Convolves with `values`, which are lost.
    fn multiply(&mut self, values: &mut [f64]) {
        if self.forward.process_with_scratch(values, &mut self.spectrum, &mut self.scratch).is_err() {
            self.product.fill(Complex::new(f64::NAN, f64::NAN));
        }
        self.product.iter_mut().zip(&self.spectrum).for_each(|(p, s)| *p *= s);
    }

    /// The convolution of all.
    fn finish(&mut self, out: &mut [f64]) {
        let length = out.len();
        // The sum of real numbers is real, and so is the alternating sum, which an even length has.
        if let Some(first) = self.product.first_mut() {
            first.im = 0.0;
        }
        if let (true, Some(last)) = (length.is_multiple_of(2), self.product.last_mut()) {
            last.im = 0.0;
        }
        if self.backward.process_with_scratch(&mut self.product, out, &mut self.scratch).is_err() {
            out.fill(f64::NAN);
        }
        let scale = 1.0 / length as f64;
        out.iter_mut().for_each(|v| *v *= scale);
    }
}

#[cfg(test)]
mod tests;
