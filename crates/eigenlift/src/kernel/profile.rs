//! The formulas: k as a function of ⟨x,y⟩, of ‖x−y‖², or of coordinates one by one. Adding a kernel starts here.

use crate::real::Real;
use crate::simd::{Vectorised, dispatch};

/// k as a function of the inner product s = ⟨x,y⟩.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InnerProfile {
    /// s
    Linear,
    /// (γs + c₀)ᵖ
    Polynomial { degree: f64, gamma: f64, coef0: f64 },
    /// tanh(γs + c₀)
    Sigmoid { gamma: f64, coef0: f64 },
}

/// k as a function of the inner product s = ⟨x,y⟩ and of ‖x‖² and ‖y‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NormProfile {
    /// s/(‖x‖‖y‖); a row of zeros has angle 90° with everything
    Cosine,
    /// s/(‖x‖² + ‖y‖² − s), (K86); 1 for two rows of zeros. Entries ≥ 0 leave half of the divisor: nothing cancels
    Tanimoto,
}

/// k as a function of the squared distance s = ‖x−y‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DistanceProfile {
    /// exp(−γs)
    Rbf { gamma: f64 },
    /// exp(−γ√s)
    Exponential { gamma: f64 },
    /// (1 + r)exp(−r), r = √(3s)/ℓ
    Matern3 { length: f64 },
    /// (1 + r + r²/3)exp(−r), r = √(5s)/ℓ
    Matern5 { length: f64 },
    /// (1 + s/(2αℓ²))^(−α)
    RationalQuadratic { alpha: f64, length: f64 },
}

/// k from a sum over coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CoordinateProfile {
    /// exp(−γ Σ|xᵢ−yᵢ|)
    Laplacian { gamma: f64 },
    /// exp(−γ Σ(xᵢ−yᵢ)²/(xᵢ+yᵢ)), 0/0 = 0
    Chi2 { gamma: f64 },
    /// Σ min(xᵢ,yᵢ)
    Intersection,
}

/// Rounding of a squared distance may move k by this many units of roundoff.
const ALLOWED: f64 = 16.0;

impl InnerProfile {
    /// dk/ds at the inner product s.
    pub(crate) fn slope(&self, s: f64) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Polynomial { degree, gamma, coef0 } => {
                let base = gamma * s + coef0;
                let whole = degree.fract() == 0.0 && *degree <= f64::from(i32::MAX);
                let power = if whole { base.powi(*degree as i32 - 1) } else { base.powf(degree - 1.0) };
                degree * gamma * power
            }
            Self::Sigmoid { gamma, coef0 } => gamma * (1.0 - (gamma * s + coef0).tanh().powi(2)),
        }
    }

    /// Whether k is ⟨x,y⟩ itself.
    pub(crate) fn is_linear(&self) -> bool {
        match self {
            Self::Linear => true,
            Self::Polynomial { .. } | Self::Sigmoid { .. } => false,
        }
    }

    /// Replaces each inner product by k.
    pub(crate) fn apply<T: Real>(&self, values: &mut [T]) {
        dispatch(InnerTask { profile: *self, values });
    }
}

impl NormProfile {
    /// What the formula takes of a squared norm, found once for each row: x and y below.
    pub(crate) fn of_norm<T: Real>(&self, square: T) -> T {
        match self {
            Self::Cosine if square > T::ZERO => T::ONE / square.square_root(),
            Self::Cosine => T::ZERO,
            Self::Tanimoto => square,
        }
    }

    /// Replaces the inner products of one row with others by k.
    pub(crate) fn apply<T: Real>(&self, values: &mut [T], x: T, others: &[T]) {
        match self {
            Self::Cosine => values.iter_mut().zip(others).for_each(|(v, y)| *v *= x * *y),
            Self::Tanimoto => values.iter_mut().zip(others).for_each(|(v, y)| {
                let all = x + *y - *v;
                *v = if all > T::ZERO { *v / all } else { T::ONE };
            }),
        }
    }

    /// k(x,x) of a row of this squared norm.
    pub(crate) fn on_diagonal(&self, square: f64) -> f64 {
        match self {
            Self::Cosine => f64::from(square > 0.0),
            Self::Tanimoto => 1.0,
        }
    }

    /// w·∂k/∂s.
    pub(crate) fn along_x(&self, w: f64, s: f64, x: f64, y: f64) -> f64 {
        match self {
            Self::Cosine => w * x * y,
            Self::Tanimoto => w * (x + y) * tanimoto_slope(s, x, y),
        }
    }

    /// −2·∂k/∂‖y‖², but for a factor of y alone, which [`total_along_y`](Self::total_along_y) multiplies with.
    pub(crate) fn along_y(&self, s: f64, x: f64, y: f64) -> f64 {
        match self {
            Self::Cosine => s * x,
            Self::Tanimoto => 2.0 * s * tanimoto_slope(s, x, y),
        }
    }

    /// The sum of what [`along_y`](Self::along_y) gives, times the factor that it leaves out.
    pub(crate) fn total_along_y(&self, total: f64, y: f64) -> f64 {
        match self {
            Self::Cosine => total * y * y * y,
            Self::Tanimoto => total,
        }
    }
}

impl DistanceProfile {
    /// −dk/ds at the squared distance s, never negative. That of `exponential` grows without bound towards 0 and is cut off
    /// where the distance is 1e-6 of its length.
    pub(crate) fn fall(&self, s: f64) -> f64 {
        match self {
            Self::Rbf { gamma } => gamma * (-gamma * s).exp(),
            Self::Exponential { gamma } => {
                let r = s.sqrt().max(1e-6 / gamma);
                gamma / (2.0 * r) * (-gamma * r).exp()
            }
            Self::Matern3 { length } => 1.5 / (length * length) * (-(3.0 * s).sqrt() / length).exp(),
            Self::Matern5 { length } => {
                let r = (5.0 * s).sqrt() / length;
                5.0 / (6.0 * length * length) * (1.0 + r) * (-r).exp()
            }
            Self::RationalQuadratic { alpha, length } => {
                let scale = 0.5 / (length * length);
                scale * (1.0 + s * scale / alpha).powf(-alpha - 1.0)
            }
        }
    }

    /// One over the squared distance on which k falls: what a penalty in input space is measured in.
    pub(crate) fn rate(&self) -> f64 {
        match self {
            Self::Rbf { gamma } => *gamma,
            Self::Exponential { gamma } => gamma * gamma,
            Self::Matern3 { length } => 1.5 / (length * length),
            Self::Matern5 { length } => 5.0 / (6.0 * length * length),
            Self::RationalQuadratic { length, .. } => 0.5 / (length * length),
        }
    }

    /// The squared distance at which k has this value of (0, 1].
    pub(crate) fn invert(&self, k: f64) -> f64 {
        match self {
            Self::Rbf { gamma } => -k.ln() / gamma,
            Self::Exponential { gamma } => (k.ln() / gamma).powi(2),
            Self::RationalQuadratic { alpha, length } => {
                (k.powf(-1.0 / alpha) - 1.0) * 2.0 * alpha * length * length
            }
            Self::Matern3 { length } => bisect(|r| (1.0 + r) * (-r).exp(), k).powi(2) * length * length / 3.0,
            Self::Matern5 { length } => {
                bisect(|r| (1.0 + r + r * r / 3.0) * (-r).exp(), k).powi(2) * length * length / 5.0
            }
        }
    }

    /// Replaces each squared distance by k.
    pub(crate) fn apply<T: Real>(&self, values: &mut [T]) {
        dispatch(DistanceTask { profile: *self, values, x_square: T::ZERO, y_squares: None });
    }

    /// Replaces each inner product ⟨x,yⱼ⟩ by k, through s = max(0, ‖x‖² + ‖yⱼ‖² − 2⟨x,yⱼ⟩).
    pub(crate) fn apply_to_inner<T: Real>(&self, values: &mut [T], x_square: T, y_squares: &[T]) {
        dispatch(DistanceTask { profile: *self, values, x_square, y_squares: Some(y_squares) });
    }

    /// Squared distances below this must be computed from differences: computed as ‖x‖² + ‖y‖² − 2⟨x,y⟩ with squared norms
    /// that add up to `spread`, their rounding u·spread would move k by more than 16u. 0 when it never does.
    ///
    /// Numerics: |dk/ds|·spread ≤ 16 solved for s, on the safe side.
    pub(crate) fn reach(&self, spread: f64) -> f64 {
        // k falls at most this fast, and beyond r = ln(rate·spread/16) + 1 by e⁻ʳ slower.
        let decay = |rate: f64| (rate * spread / ALLOWED).ln() + 1.0;
        match self {
            Self::Rbf { gamma } if gamma * spread > ALLOWED => decay(*gamma) / gamma,
            Self::Exponential { gamma } => {
                let near = gamma * spread / (2.0 * ALLOWED);
                let far = (1.0 + (gamma * near).max(1.0).ln()) / gamma;
                near.min(far.max(1.0 / gamma)).powi(2)
            }
            Self::Matern3 { length } if 1.5 / length.powi(2) * spread > ALLOWED => {
                (decay(1.5 / length.powi(2)) * length).powi(2) / 3.0
            }
            // (1 + r)e⁻ʳ falls below 16/(rate·spread) a little later: twice the logarithm covers it.
            Self::Matern5 { length } if spread / length.powi(2) > ALLOWED => {
                (2.0 * decay(1.0 / length.powi(2)) * length).powi(2) / 5.0
            }
            Self::RationalQuadratic { alpha, length } if 0.5 / length.powi(2) * spread > ALLOWED => {
                let factor = (0.5 / length.powi(2) * spread / ALLOWED).powf(1.0 / (alpha + 1.0));
                (factor - 1.0) * 2.0 * alpha * length.powi(2)
            }
            _ => 0.0,
        }
    }
}

/// 1/(‖x‖² + ‖y‖² − s)²: ∂k/∂s is (‖x‖² + ‖y‖²) times this and ∂k/∂‖y‖² is −s times this; 0 for two rows of zeros.
fn tanimoto_slope(s: f64, x: f64, y: f64) -> f64 {
    let all = x + y - s;
    if all > 0.0 { 1.0 / (all * all) } else { 0.0 }
}

/// Where a function that falls from 1 at 0 has this value.
fn bisect(f: impl Fn(f64) -> f64, value: f64) -> f64 {
    let mut high = 1.0;
    while f(high) > value && high < 1e3 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl CoordinateProfile {
    /// ∂k/∂x for one coordinate, from k itself; where k has a kink, the mean of both sides.
    pub(crate) fn slope(&self, k: f64, x: f64, y: f64) -> f64 {
        match self {
            Self::Laplacian { .. } if x == y => 0.0,
            Self::Laplacian { gamma } => -gamma * k * (x - y).signum(),
            Self::Chi2 { gamma } => {
                let total = x + y;
                if total == 0.0 { 0.0 } else { -gamma * k * (x - y) * (x + 3.0 * y) / (total * total) }
            }
            Self::Intersection if x == y => 0.5,
            Self::Intersection => f64::from(x < y),
        }
    }

    /// Adds the terms of one coordinate: x against each of `y`.
    #[inline(always)]
    fn accumulate<T: Real>(&self, x: T, y: &[T], sums: &mut [T]) {
        match self {
            Self::Laplacian { .. } => sums.iter_mut().zip(y).for_each(|(s, y)| *s += (x - *y).magnitude()),
            Self::Chi2 { .. } => sums.iter_mut().zip(y).for_each(|(s, y)| {
                let (difference, total) = (x - *y, x + *y);
                let term = difference * difference / total;
                *s += if total == T::ZERO { T::ZERO } else { term };
            }),
            Self::Intersection => sums.iter_mut().zip(y).for_each(|(s, y)| *s += x.smaller(*y)),
        }
    }

    /// One row of k: `x` against every column of `y_columns`, which holds coordinate after coordinate.
    pub(crate) fn row<T: Real>(&self, x: &[T], y_columns: &[T], out: &mut [T]) {
        dispatch(CoordinateTask { profile: *self, x, y_columns, out });
    }

    /// k(x,x).
    pub(crate) fn on_diagonal(&self, x: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Laplacian { .. } | Self::Chi2 { .. } => 1.0,
            Self::Intersection => x.sum(),
        }
    }

    /// Whether a common shift of all rows leaves k what it is.
    pub(crate) fn ignores_shifts(&self) -> bool {
        match self {
            Self::Laplacian { .. } => true,
            Self::Chi2 { .. } | Self::Intersection => false,
        }
    }
}

struct InnerTask<'a, T> {
    profile: InnerProfile,
    values: &'a mut [T],
}

impl<T: Real> Vectorised for InnerTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.profile {
            InnerProfile::Linear => {}
            InnerProfile::Polynomial { degree, gamma, coef0 } => {
                let (gamma, coef0) = (T::of(gamma), T::of(coef0));
                self.values.iter_mut().for_each(|v| *v = v.multiply_add::<FMA>(gamma, coef0));
                power::<T>(self.values, degree);
            }
            InnerProfile::Sigmoid { gamma, coef0 } => {
                let (gamma, coef0) = (T::of(gamma), T::of(coef0));
                self.values.iter_mut().for_each(|v| *v = tanh::<T, FMA>(v.multiply_add::<FMA>(gamma, coef0)));
            }
        }
    }
}

/// Each value to the given power; whole powers by repeated squaring, a strip of values at a time.
#[inline(always)]
fn power<T: Real>(values: &mut [T], degree: f64) {
    if degree.fract() != 0.0 || degree > 1e6 {
        let degree = T::of(degree);
        values.iter_mut().for_each(|v| *v = v.power(degree));
        return;
    }
    const STRIP: usize = 64;
    let mut square = [T::ONE; STRIP];
    for strip in values.chunks_mut(STRIP) {
        let square = &mut square[..strip.len()];
        square.copy_from_slice(strip);
        strip.fill(T::ONE);
        let mut left = degree as u32;
        while left > 0 {
            if left & 1 == 1 {
                strip.iter_mut().zip(square.iter()).for_each(|(v, s)| *v *= *s);
            }
            left >>= 1;
            if left > 0 {
                square.iter_mut().for_each(|s| *s *= *s);
            }
        }
    }
}

/// tanh x = (1 − e)/(1 + e) with e = exp(−2|x|); near 0, where that cancels, x − x³/3 + 2x⁵/15 − 17x⁷/315.
#[inline(always)]
fn tanh<T: Real, const FMA: bool>(x: T) -> T {
    let size = x.magnitude();
    let e = (-(size + size)).exp_nonpositive::<FMA>();
    let far = (T::ONE - e) / (T::ONE + e);
    let s = x * x;
    let series = T::of(-17.0 / 315.0)
        .multiply_add::<FMA>(s, T::of(2.0 / 15.0))
        .multiply_add::<FMA>(s, T::of(-1.0 / 3.0))
        .multiply_add::<FMA>(s, T::ONE);
    let positive = if size < T::of(0.01) { size * series } else { far };
    if x < T::ZERO { -positive } else { positive }
}

struct DistanceTask<'a, T> {
    profile: DistanceProfile,
    values: &'a mut [T],
    x_square: T,
    /// When given, `values` are inner products.
    y_squares: Option<&'a [T]>,
}

impl<T: Real> DistanceTask<'_, T> {
    /// Each value through `f`, which takes the squared distance.
    #[inline(always)]
    fn each<const FMA: bool>(self, f: impl Fn(T) -> T) {
        match self.y_squares {
            None => self.values.iter_mut().for_each(|v| *v = f(*v)),
            Some(y_squares) => {
                let (minus_two, x_square) = (T::of(-2.0), self.x_square);
                self.values.iter_mut().zip(y_squares).for_each(|(v, y)| {
                    *v = f(v.multiply_add::<FMA>(minus_two, x_square + *y).larger(T::ZERO))
                });
            }
        }
    }
}

impl<T: Real> Vectorised for DistanceTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.profile {
            DistanceProfile::Rbf { gamma } => {
                let rate = T::of(-gamma * std::f64::consts::LOG2_E);
                self.each::<FMA>(|s| (s * rate).exp2_nonpositive::<FMA>());
            }
            DistanceProfile::Exponential { gamma } => {
                let rate = T::of(-gamma * std::f64::consts::LOG2_E);
                self.each::<FMA>(|s| (s.square_root() * rate).exp2_nonpositive::<FMA>());
            }
            DistanceProfile::Matern3 { length } => {
                let scale = T::of(3.0 / (length * length));
                self.each::<FMA>(|s| {
                    let r = (s * scale).square_root();
                    (T::ONE + r) * (-r).exp_nonpositive::<FMA>()
                });
            }
            DistanceProfile::Matern5 { length } => {
                let (scale, third) = (T::of(5.0 / (length * length)), T::of(1.0 / 3.0));
                self.each::<FMA>(|s| {
                    let squared = s * scale;
                    let r = squared.square_root();
                    (T::ONE + r + squared * third) * (-r).exp_nonpositive::<FMA>()
                });
            }
            DistanceProfile::RationalQuadratic { alpha, length } => {
                let scale = T::of(0.5 / (alpha * length * length));
                if alpha == 1.0 {
                    self.each::<FMA>(|s| T::ONE / (T::ONE + s * scale));
                } else {
                    let exponent = T::of(-alpha);
                    self.each::<FMA>(|s| (T::ONE + s * scale).power(exponent));
                }
            }
        }
    }
}

struct CoordinateTask<'a, T> {
    profile: CoordinateProfile,
    x: &'a [T],
    y_columns: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Vectorised for CoordinateTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let n = self.out.len();
        self.out.fill(T::ZERO);
        for (x, y) in self.x.iter().zip(self.y_columns.chunks_exact(n.max(1))) {
            self.profile.accumulate(*x, y, self.out);
        }
        match self.profile {
            CoordinateProfile::Laplacian { gamma } | CoordinateProfile::Chi2 { gamma } => {
                let rate = T::of(-gamma);
                self.out.iter_mut().for_each(|v| *v = (*v * rate).exp_nonpositive::<FMA>());
            }
            CoordinateProfile::Intersection => {}
        }
    }
}

/// Turns inner products into squared distances in place: s ← max(0, ‖x‖² + ‖yⱼ‖² − 2s).
pub(crate) fn to_squared_distances<T: Real>(values: &mut [T], x_square: T, y_squares: &[T]) {
    dispatch(SquaredDistanceTask { values, x_square, y_squares });
}

struct SquaredDistanceTask<'a, T> {
    values: &'a mut [T],
    x_square: T,
    y_squares: &'a [T],
}

impl<T: Real> Vectorised for SquaredDistanceTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let minus_two = T::of(-2.0);
        let x_square = self.x_square;
        self.values
            .iter_mut()
            .zip(self.y_squares)
            .for_each(|(v, y)| *v = v.multiply_add::<FMA>(minus_two, x_square + *y).larger(T::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_right_everywhere() {
        for i in -4000..=4000 {
            let x = f64::from(i) / 200.0 + 1e-5;
            let relative = (tanh::<f64, true>(x) - x.tanh()).abs() / x.tanh().abs();
            assert!(relative < 2e-14, "{x}: {relative:e}");
        }
        assert_eq!(tanh::<f64, true>(0.0), 0.0);
        assert_eq!(tanh::<f64, true>(-800.0), -1.0);
    }

    #[test]
    fn whole_powers_match_multiplication() {
        let mut values: Vec<f64> = (0..150).map(|i| f64::from(i) / 50.0 - 1.5).collect();
        let expected: Vec<f64> = values.iter().map(|v| v.powi(7)).collect();
        power(&mut values, 7.0);
        assert!(values.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 8.0 * f64::EPSILON * b.abs()));
    }
}
