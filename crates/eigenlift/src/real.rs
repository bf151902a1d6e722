//! The two floating-point types that samples and kernel tiles may have.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    /// Keeps other types out of [`super::Real`].
    pub trait Sealed: bytemuck::Zeroable {}
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
    /// The larger of two numbers; NaN if `self` is.
    fn larger(self, other: Self) -> Self;
    /// The smaller of two numbers; NaN if `self` is.
    fn smaller(self, other: Self) -> Self;
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
    /// 2ˣ for x ≤ 0 by a polynomial that the compiler turns into vector code.
    ///
    /// Numerics: relative error below 2 units in the last place. Below [`Real::SMALLEST_EXPONENT`] the value there is
    /// returned: it is zero beside anything a kernel adds it to, and its products are still normal numbers.
    fn exp2_nonpositive<const FMA: bool>(self) -> Self;
    /// eˣ for x ≤ 0, as 2^(x·log₂e).
    ///
    /// Numerics: the rounding of x·log₂e makes an absolute error of at most 2⁻⁵³ (f32: 2⁻²⁴) beside that of the power.
    #[inline(always)]
    fn exp_nonpositive<const FMA: bool>(self) -> Self {
        (self * Self::of(std::f64::consts::LOG2_E)).exp2_nonpositive::<FMA>()
    }
    /// Exponents below this are taken for this one.
    const SMALLEST_EXPONENT: Self;
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
            if self < other { other } else { self }
        }
        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            if self > other { other } else { self }
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

/// 2^f ≈ Σ cₖfᵏ for |f| ≤ ½: interpolation of (2^f − 1)/f at Chebyshev's points, so that 2⁰ = 1 exactly. Largest relative
/// error 8.5e-18.
///
/// Why in pairs (Estrin's scheme): the chain of dependent operations is half as long as with Horner's.
#[inline(always)]
fn power_f64<const FMA: bool>(f: f64) -> f64 {
    let line = |a: f64, b: f64| b.multiply_add::<FMA>(f, a);
    let (f2, c) = (f * f, POWER_F64);
    let f4 = f2 * f2;
    let square = |low: f64, high: f64| high.multiply_add::<FMA>(f2, low);
    let first = square(line(c[0], c[1]), line(c[2], c[3]));
    let second = square(line(c[4], c[5]), line(c[6], c[7]));
    let third = square(line(c[8], c[9]), line(c[10], c[11]));
    third.multiply_add::<FMA>(f4, second).multiply_add::<FMA>(f4, first)
}

const POWER_F64: [f64; 12] = [
    1.0,
    std::f64::consts::LN_2,
    2.402_265_069_591_009_7e-1,
    5.550_410_866_482_16e-2,
    9.618_129_107_606_888e-3,
    1.333_355_814_641_693_6e-3,
    1.540_353_044_173_605e-4,
    1.525_273_382_983_612e-5,
    1.321_544_258_792_169e-6,
    1.017_806_244_584_577_4e-7,
    7.072_585_949_269_223e-9,
    4.454_960_598_186_518_6e-10,
];

/// As for f64. Largest relative error 5.1e-9, a tenth of a unit roundoff.
#[inline(always)]
fn power_f32<const FMA: bool>(f: f32) -> f32 {
    let line = |a: f32, b: f32| b.multiply_add::<FMA>(f, a);
    let f2 = f * f;
    let low = line(9.618_083e-3, 1.339_086_3e-3);
    let high = 1.545_316_3e-4f32.multiply_add::<FMA>(f2, low);
    let middle = high.multiply_add::<FMA>(f2, line(2.402_265e-1, 5.550_357e-2));
    middle.multiply_add::<FMA>(f2, line(1.0, 6.931_472e-1))
}

// x = m + f with |f| ≤ ½ and 2ˣ = 2ᵐ·2^f. Adding 1.5·2^(mantissa bits) rounds to a whole number and leaves m in the low
// bits, which are then moved to where the exponent stands.
macro_rules! power_of_two {
    ($t:ty, $polynomial:ident, $round:expr, $bias:expr, $mantissa:expr) => {
        #[inline(always)]
        fn exp2_nonpositive<const FMA: bool>(self) -> Self {
            const ROUND: $t = $round;
            let x = self.larger(Self::SMALLEST_EXPONENT);
            let shifted = x + ROUND;
            let f = x - (shifted - ROUND);
            $polynomial::<FMA>(f) * <$t>::from_bits(shifted.to_bits().wrapping_add($bias) << $mantissa)
        }
    };
}

impl Real for f64 {
    shared!(f64);
    const SMALLEST_EXPONENT: f64 = -960.0;
    power_of_two!(f64, power_f64, 6_755_399_441_055_744.0, 1023, 52);

    fn as_f64(numbers: &[Self]) -> Option<&[f64]> {
        Some(numbers)
    }

    fn from_f64(numbers: &[f64]) -> Option<&[Self]> {
        Some(numbers)
    }

    fn from_f32(_: &[f32]) -> Option<&[Self]> {
        None
    }
}

impl Real for f32 {
    shared!(f32);
    const SMALLEST_EXPONENT: f32 = -100.0;
    power_of_two!(f32, power_f32, 12_582_912.0, 127, 23);

    fn as_f64(_: &[Self]) -> Option<&[f64]> {
        None
    }

    fn from_f64(_: &[f64]) -> Option<&[Self]> {
        None
    }

    fn from_f32(numbers: &[f32]) -> Option<&[Self]> {
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worst relative error of 2ˣ and worst absolute error of eˣ, in units of roundoff, over `steps` points of [from, 0].
    fn worst_errors<T: Real, const FMA: bool>(from: f64, steps: usize) -> (f64, f64) {
        (0..=steps)
            .map(|i| {
                let x = T::of(from * i as f64 / steps as f64);
                let power = (x.exp2_nonpositive::<FMA>().f64() / x.f64().exp2() - 1.0).abs();
                let natural = (x.exp_nonpositive::<FMA>().f64() - x.f64().exp()).abs();
                (power / T::UNIT_ROUNDOFF, natural / T::UNIT_ROUNDOFF)
            })
            .fold((0.0, 0.0), |a, b| (f64::max(a.0, b.0), f64::max(a.1, b.1)))
    }

    #[test]
    fn powers_are_right_to_about_one_ulp() {
        let cases = [
            worst_errors::<f64, true>(-600.0, 400_000),
            worst_errors::<f64, false>(-600.0, 400_000),
            worst_errors::<f32, true>(-60.0, 400_000),
            worst_errors::<f32, false>(-60.0, 400_000),
        ];
        for (power, natural) in cases {
            assert!(power < 4.0 && natural < 3.0, "{power} {natural}");
        }
    }

    #[test]
    fn powers_are_exact_at_zero_and_vanish_far_away() {
        assert_eq!(0.0f64.exp_nonpositive::<true>(), 1.0);
        assert_eq!(0.0f32.exp_nonpositive::<false>(), 1.0);
        for x in [-709.0, -1e4, -1e300, f64::NEG_INFINITY] {
            assert!((0.0..1e-280).contains(&x.exp_nonpositive::<true>()));
        }
        assert!((0.0..1e-30).contains(&(-1e30f32).exp_nonpositive::<true>()));
        assert!(f64::NAN.exp_nonpositive::<true>().is_nan() && f32::NAN.exp_nonpositive::<false>().is_nan());
    }
}
