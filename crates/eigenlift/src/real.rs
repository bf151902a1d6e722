//! The two floating-point types that samples and kernel tiles may have.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    /// Ties [`super::Real`] to the linear algebra behind this crate without showing it.
    pub trait Sealed: faer::traits::RealField {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`: the precision of samples and kernel tiles. Blocks of vectors, eigenvalues and models are always `f64`.
pub trait Real:
    sealed::Sealed
    + Copy
    + Default
    + Debug
    + Display
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + Send
    + Sync
    + 'static
{
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;
    /// Unit roundoff, half the distance from 1 to the next number.
    const UNIT_ROUNDOFF: f64;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The nearest value to `x`.
    fn of(x: f64) -> Self;
    /// This value, exactly.
    fn f64(self) -> f64;
    /// Whether it is neither infinite nor NaN.
    fn finite(self) -> bool;
    /// |x|.
    fn magnitude(self) -> Self;
    /// √x.
    fn square_root(self) -> Self;
    /// The larger of two numbers.
    fn larger(self, other: Self) -> Self;
    /// The smaller of two numbers.
    fn smaller(self, other: Self) -> Self;
    /// xᵖ for a whole p.
    fn whole_power(self, p: i32) -> Self;
    /// tanh x.
    fn hyperbolic_tangent(self) -> Self;
    /// xᵖ.
    fn power(self, p: Self) -> Self;
    /// a·b + c, in one rounding when `FMA`.
    fn multiply_add<const FMA: bool>(self, b: Self, c: Self) -> Self;
    /// The same numbers as `f64`, if that is what they are.
    fn as_f64(numbers: &[Self]) -> Option<&[f64]>;
    /// The same numbers as this type, if it is `f64`.
    fn from_f64(numbers: &[f64]) -> Option<&[Self]>;
    /// The same numbers as this type, if it is `f32`.
    fn from_f32(numbers: &[f32]) -> Option<&[Self]>;
    /// exp(x) for x ≤ 0 by a polynomial that the compiler turns into vector code.
    ///
    /// Numerics: at most about 1 ulp from the correctly rounded value; below the smallest normal number it is 0.
    fn exp_nonpositive<const FMA: bool>(self) -> Self;
}

macro_rules! shared {
    ($t:ty) => {
        const NAME: &'static str = stringify!($t);
        const UNIT_ROUNDOFF: f64 = (<$t>::EPSILON / 2.0) as f64;
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        #[inline(always)]
        fn of(x: f64) -> Self {
            x as $t
        }
        #[inline(always)]
        fn f64(self) -> f64 {
            self as f64
        }
        #[inline(always)]
        fn finite(self) -> bool {
            self.is_finite()
        }
        #[inline(always)]
        fn magnitude(self) -> Self {
            self.abs()
        }
        #[inline(always)]
        fn square_root(self) -> Self {
            self.sqrt()
        }
        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            if self > other { self } else { other }
        }
        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            if self < other { self } else { other }
        }
        #[inline(always)]
        fn whole_power(self, p: i32) -> Self {
            self.powi(p)
        }
        #[inline(always)]
        fn hyperbolic_tangent(self) -> Self {
            self.tanh()
        }
        #[inline(always)]
        fn power(self, p: Self) -> Self {
            self.powf(p)
        }
        // Why: without the FMA instruction `mul_add` is a slow library call.
        #[inline(always)]
        fn multiply_add<const FMA: bool>(self, b: Self, c: Self) -> Self {
            if FMA { self.mul_add(b, c) } else { self * b + c }
        }
    };
}

/// 1/k! for k = 13 down to 0: the Taylor coefficients of exp, Horner order.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

impl Real for f64 {
    shared!(f64);

    fn as_f64(numbers: &[Self]) -> Option<&[f64]> {
        Some(numbers)
    }

    fn from_f64(numbers: &[f64]) -> Option<&[Self]> {
        Some(numbers)
    }

    fn from_f32(_: &[f32]) -> Option<&[Self]> {
        None
    }

    // x = m·ln 2 + r with |r| ≤ ln 2 / 2, exp(x) = 2ᵐ·exp(r). The remainder of the Taylor series after degree 13 is
    // below 1e-17 there. Adding 1.5·2⁵² rounds to a whole number and leaves m in the low bits.
    #[inline(always)]
    fn exp_nonpositive<const FMA: bool>(self) -> Self {
        const ROUND: f64 = 6_755_399_441_055_744.0;
        const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        let shifted = self.multiply_add::<FMA>(std::f64::consts::LOG2_E, ROUND);
        let m = shifted - ROUND;
        let r = (-m).multiply_add::<FMA>(LN2_HIGH, self);
        let r = (-m).multiply_add::<FMA>(LN2_LOW, r);
        let mut p = INVERSE_FACTORIALS[0];
        for coefficient in &INVERSE_FACTORIALS[1..] {
            p = p.multiply_add::<FMA>(r, *coefficient);
        }
        let power_of_two = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
        if self < -708.0 { 0.0 } else { p * power_of_two }
    }
}

impl Real for f32 {
    shared!(f32);

    fn as_f64(_: &[Self]) -> Option<&[f64]> {
        None
    }

    fn from_f64(_: &[f64]) -> Option<&[Self]> {
        None
    }

    fn from_f32(numbers: &[f32]) -> Option<&[Self]> {
        Some(numbers)
    }

    // As for f64, with degree 7: remainder below 6e-9, a tenth of a unit roundoff.
    #[inline(always)]
    fn exp_nonpositive<const FMA: bool>(self) -> Self {
        const ROUND: f32 = 12_582_912.0;
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        let shifted = self.multiply_add::<FMA>(std::f32::consts::LOG2_E, ROUND);
        let m = shifted - ROUND;
        let r = (-m).multiply_add::<FMA>(LN2_HIGH, self);
        let r = (-m).multiply_add::<FMA>(LN2_LOW, r);
        let mut p = INVERSE_FACTORIALS[6] as f32;
        for coefficient in &INVERSE_FACTORIALS[7..] {
            p = p.multiply_add::<FMA>(r, *coefficient as f32);
        }
        let power_of_two = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
        if self < -87.0 { 0.0 } else { p * power_of_two }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst_error<T: Real, const FMA: bool>(from: f64, steps: usize) -> f64 {
        (0..=steps)
            .map(|i| {
                let x = T::of(from * i as f64 / steps as f64);
                let exact = x.f64().exp();
                (x.exp_nonpositive::<FMA>().f64() - exact).abs() / exact
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn exp_is_right_to_about_one_ulp() {
        assert!(worst_error::<f64, true>(-708.0, 400_000) < 3.0 * f64::EPSILON);
        assert!(worst_error::<f64, false>(-708.0, 400_000) < 3.0 * f64::EPSILON);
        assert!(worst_error::<f32, true>(-86.9, 400_000) < 2.0 * f64::from(f32::EPSILON));
        assert!(worst_error::<f32, false>(-86.9, 400_000) < 2.0 * f64::from(f32::EPSILON));
    }

    #[test]
    fn exp_is_exact_at_zero_and_vanishes_far_away() {
        assert_eq!(0.0f64.exp_nonpositive::<true>(), 1.0);
        assert_eq!(0.0f32.exp_nonpositive::<false>(), 1.0);
        for x in [-709.0, -1e4, -1e300, f64::NEG_INFINITY] {
            assert_eq!(x.exp_nonpositive::<true>(), 0.0);
        }
        assert_eq!((-1e30f32).exp_nonpositive::<true>(), 0.0);
    }
}
