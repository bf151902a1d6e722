//! Dimension of the feature space that a kernel stands for.

use std::fmt;

use crate::kernel::entry::{Features, Monomials};
use crate::kernel::spec::KernelSpec;

/// Dimension of a feature space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// This many coordinates.
    Finite(u128),
    /// Finite, but beyond `u128`.
    TooLarge,
    /// Not finite.
    Infinite,
    /// Not known from the description alone.
    Unknown,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(n) => write!(f, "{n}"),
            Self::TooLarge => f.write_str("finite, above 3.4e38"),
            Self::Infinite => f.write_str("infinite"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl Dimension {
    /// Folds two dimensions: what is unknown stays so, then infinite, then too large.
    fn join(self, other: Self, finite: fn(u128, u128) -> Option<u128>) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Infinite, _) | (_, Self::Infinite) => Self::Infinite,
            (Self::TooLarge, _) | (_, Self::TooLarge) => Self::TooLarge,
            (Self::Finite(a), Self::Finite(b)) => finite(a, b).map_or(Self::TooLarge, Self::Finite),
        }
    }
}

impl KernelSpec {
    /// Dimension of the feature space for points with `d` ≥ 1 features.
    ///
    /// C(p+d−1, p) for ⟨x,y⟩ᵖ and C(d+p, p) for (⟨x,y⟩+c)ᵖ with c > 0; infinite for the kernels of distance
    /// type; the number of formulas for a map. For sums and products it is an upper bound, the sum and the
    /// product of the parts, since parts may share coordinates. Centring may remove one more coordinate, the
    /// constant.
    ///
    /// ```
    /// use eigenlift::kernel::{Dimension, KernelSpec};
    /// let kernel: KernelSpec = "polynomial(degree=2)".parse()?;
    /// assert_eq!(kernel.dimension(2), Dimension::Finite(6));
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    pub fn dimension(&self, d: usize) -> Dimension {
        let features = d as u128;
        match self {
            Self::Named(kernel) => match kernel.entry().features {
                Features::Monomials(of) => polynomial(features, of(kernel)),
                Features::Columns => Dimension::Finite(features),
                Features::Infinite => Dimension::Infinite,
                Features::Formulas | Features::Unknown => Dimension::Unknown,
            },
            Self::Expr(_) | Self::Precomputed | Self::Auto => Dimension::Unknown,
            Self::Map(formulas) => Dimension::Finite(formulas.len() as u128),
            Self::Scaled(_, inner) => inner.dimension(d),
            Self::Sum(parts) => parts
                .iter()
                .fold(Dimension::Finite(0), |all, part| all.join(part.dimension(d), u128::checked_add)),
            Self::Product(parts) => parts
                .iter()
                .fold(Dimension::Finite(1), |all, part| all.join(part.dimension(d), u128::checked_mul)),
        }
    }
}

/// Number of monomials: of degree p exactly when c = 0, of degree at most p when c > 0.
fn polynomial(d: u128, Monomials { degree, coef0, .. }: Monomials) -> Dimension {
    const WHOLE: f64 = (1_u128 << 100) as f64;
    if degree.fract() != 0.0 || degree < 1.0 || !degree.is_finite() || coef0.is_nan() || coef0 < 0.0 {
        return Dimension::Unknown;
    }
    let n_variables = if coef0 == 0.0 { d } else { d + 1 };
    match n_variables {
        0 => Dimension::Finite(0),
        1 => Dimension::Finite(1),
        _ if degree >= WHOLE => Dimension::TooLarge,
        _ => {
            let p = degree as u128;
            binomial(p + n_variables - 1, p).map_or(Dimension::TooLarge, Dimension::Finite)
        }
    }
}

/// C(n, k), or `None` beyond `u128`.
///
/// Numerics: every C(n, i) on the way is whole and at most the result, so that nothing overflows but the
/// result.
fn binomial(n: u128, k: u128) -> Option<u128> {
    let k = k.min(n - k.min(n));
    let mut value = 1_u128;
    for i in 0..k {
        let (mut factor, mut divisor) = (n - i, i + 1);
        let shared = greatest_common_divisor(factor, divisor);
        (factor, divisor) = (factor / shared, divisor / shared);
        // What is left of the divisor divides the value, as the quotient is whole.
        value = (value / divisor).checked_mul(factor)?;
    }
    Some(value)
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(spec: &str, d: usize) -> Dimension {
        spec.parse::<KernelSpec>().unwrap().dimension(d)
    }

    #[test]
    fn values_of_the_notes() {
        assert_eq!(dimension("polynomial(2, 1, 0)", 2), Dimension::Finite(3));
        assert_eq!(dimension("polynomial(2)", 2), Dimension::Finite(6));
        assert_eq!(dimension("polynomial(2)", 3), Dimension::Finite(10));
        assert_eq!(dimension("gaussian", 2), Dimension::Infinite);
    }

    #[test]
    fn counts_the_monomials() {
        fn count(d: usize, p: usize) -> u128 {
            if d == 0 { 1 } else { (0..=p).map(|used| count(d - 1, p - used)).sum() }
        }
        for d in 1..6 {
            for p in 1..7 {
                assert_eq!(dimension(&format!("poly({p})"), d), Dimension::Finite(count(d, p)));
                assert_eq!(dimension(&format!("poly({p},1,0)"), d), Dimension::Finite(count(d - 1, p)));
            }
        }
    }

    #[test]
    fn the_other_kernels() {
        assert_eq!(dimension("linear", 7), Dimension::Finite(7));
        assert_eq!(dimension("3*cosine", 7), Dimension::Finite(7));
        assert_eq!(dimension("map(1, x1, x2)", 2), Dimension::Finite(3));
        assert_eq!(dimension("linear + poly(2)", 2), Dimension::Finite(8));
        assert_eq!(dimension("linear * poly(2)", 2), Dimension::Finite(12));
        assert_eq!(dimension("linear * rbf", 2), Dimension::Infinite);
        for unknown in ["sigmoid", "expr(x1*y1)", "precomputed", "poly(2.5)", "poly(2,1,-1)", "rbf + sigmoid"]
        {
            assert_eq!(dimension(unknown, 2), Dimension::Unknown, "{unknown}");
        }
        for infinite in
            ["laplacian", "exponential", "matern", "rational_quadratic", "chi2", "intersection", "tanimoto"]
        {
            assert_eq!(dimension(infinite, 2), Dimension::Infinite, "{infinite}");
        }
    }

    #[test]
    fn large_counts_are_exact_or_too_large() {
        assert_eq!(binomial(128, 64), Some(23_951_146_041_928_082_866_135_587_776_380_551_750));
        assert_eq!(binomial(140, 70), None);
        assert_eq!(binomial(u128::MAX, 1), Some(u128::MAX));
        assert_eq!(dimension("poly(1e300)", 1), Dimension::TooLarge);
        assert_eq!(dimension("poly(1e300,1,0)", 1), Dimension::Finite(1));
        assert_eq!(dimension("poly(1000000)", 1_000_000), Dimension::TooLarge);
        assert_eq!(dimension("poly(100)*poly(100)", 40), Dimension::TooLarge);
        assert_eq!(Dimension::TooLarge.to_string(), "finite, above 3.4e38");
        assert_eq!(Dimension::Finite(6).to_string(), "6");
    }
}
