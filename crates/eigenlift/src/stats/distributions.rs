//! Tails of the F and χ² distributions, and their upper quantiles by bisection.

/// Coefficients of Lanczos' approximation to ln Γ, g = 7.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];
/// Terms of a series or fraction at most; it ends after about √a of them.
const MOST_TERMS: usize = 20_000;
/// Degrees of freedom beyond which a χ² variable is the cube of a normal one, to nine digits.
const MANY_DEGREES: f64 = 1e6;
/// What stands in for a zero in a continued fraction.
const TINY: f64 = 1e-300;
/// Relative width at which a bisection ends.
const WIDTH: f64 = 1e-14;
/// Where Stirling's series of a few terms is exact to rounding.
const FEW_TERMS: f64 = 20.0;
/// Steps of a bisection at most.
const MOST_STEPS: usize = 400;

/// ln Γ(x) for x > 0.
fn ln_gamma(x: f64) -> f64 {
    let x = x - 1.0;
    let sum = LANCZOS.iter().enumerate().skip(1).fold(LANCZOS[0], |sum, (i, c)| sum + c / (x + i as f64));
    let t = x + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// ln Γ(b + a) − ln Γ(b) for a, b > 0.
///
/// Numerics: both grow like b·ln b and their difference like a·ln b; for large b they are subtracted term by term in
/// Stirling's series, whose first term left out is below 2·10⁻¹⁵.
fn ln_gamma_step(b: f64, a: f64) -> f64 {
    if b < FEW_TERMS {
        return ln_gamma(b + a) - ln_gamma(b);
    }
    let rest = |x: f64| {
        let s = 1.0 / (x * x);
        (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0))) / x
    };
    (b - 0.5) * (a / b).ln_1p() + a * ((a + b).ln() - 1.0) + rest(a + b) - rest(b)
}

/// Γ(a, x)/Γ(a): the share of a gamma variable of shape a that lies above x.
fn gamma_above(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for i in 1..MOST_TERMS {
            term *= x / (a + i as f64);
            sum += term;
            if term < sum * f64::EPSILON {
                break;
            }
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // Lentz' method.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..MOST_TERMS {
        let i = i as f64;
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / away_from_zero(an * d + b);
        c = away_from_zero(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    (front * h).clamp(0.0, 1.0)
}

fn away_from_zero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// I_x(a, b): the share of a beta variable that lies below x = 1 − y.
///
/// Numerics: x and y are both given, so that neither loses digits where it is small.
fn beta_below((a, b): (f64, f64), (x, y): (f64, f64)) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return f64::from(u8::from(y <= 0.0));
    }
    let ln = |x: f64, y: f64| if y < 0.5 { (-y).ln_1p() } else { x.ln() };
    let (small, large) = (a.min(b), a.max(b));
    let front = (ln_gamma_step(large, small) - ln_gamma(small) + a * ln(x, y) + b * ln(y, x)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        (front * beta_fraction(a, b, x) / a).clamp(0.0, 1.0)
    } else {
        (1.0 - front * beta_fraction(b, a, y) / b).clamp(0.0, 1.0)
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..MOST_TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        h *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h
}

/// Where an increasing function passes a value, between two places.
fn bisect(mut low: f64, mut high: f64, value: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..MOST_STEPS {
        let middle = 0.5 * (low + high);
        if high - low <= WIDTH * high || middle <= low || middle >= high {
            break;
        }
        if f(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// What a χ² variable of h degrees of freedom exceeds with probability α.
pub(crate) fn chi_squared_above(h: f64, alpha: f64) -> f64 {
    if h > MANY_DEGREES {
        // Wilson and Hilferty; z of the normal distribution from that of χ² with one degree of freedom.
        let tail = alpha.min(1.0 - alpha);
        let z = chi_squared_above(1.0, 2.0 * tail).sqrt() * if alpha < 0.5 { 1.0 } else { -1.0 };
        let v = 2.0 / (9.0 * h);
        return h * (1.0 - v + z * v.sqrt()).powi(3);
    }
    let above = |x: f64| gamma_above(0.5 * h, 0.5 * x);
    let mut high = h.max(1.0);
    while above(high) > alpha && high < 1e300 {
        high *= 2.0;
    }
    bisect(0.0, high, -alpha, |x| -above(x))
}

/// What an F variable of a and b degrees of freedom exceeds with probability α.
///
/// Numerics: F > f exactly when b/(b + af), a beta variable of b/2 and a/2, is small; so the small tail is bisected.
pub(crate) fn f_above(a: f64, b: f64, alpha: f64) -> f64 {
    let u = bisect(0.0, 1.0, alpha, |u| beta_below((0.5 * b, 0.5 * a), (u, 1.0 - u)));
    b * (1.0 - u) / (a * u)
}

/// The probability that a χ² variable of h degrees of freedom exceeds x.
pub fn chi_squared_tail(h: f64, x: f64) -> f64 {
    if x.is_infinite() { 0.0 } else { gamma_above(0.5 * h, 0.5 * x) }
}

/// The probability that an F variable of a and b degrees of freedom exceeds f.
pub fn f_tail(a: f64, b: f64, f: f64) -> f64 {
    if f.is_infinite() {
        return 0.0;
    }
    let whole = b + a * f.max(0.0);
    beta_below((0.5 * b, 0.5 * a), (b / whole, a * f.max(0.0) / whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy 1.17: `scipy.stats.chi2.isf`, `scipy.stats.f.isf`.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (h, alpha, expected) in CHI_SQUARED {
            let found = chi_squared_above(h, alpha);
            assert!((found - expected).abs() < 1e-9 * expected, "χ² {h} {alpha}: {found} {expected}");
        }
        for (a, b, alpha, expected) in F {
            let found = f_above(a, b, alpha);
            assert!((found - expected).abs() < 1e-9 * expected, "F {a} {b} {alpha}: {found} {expected}");
        }
    }

    /// Values of scipy 1.17: `scipy.stats.f.sf`, `scipy.stats.chi2.sf`.
    #[test]
    fn tails_are_those_of_tables() {
        for (a, b, f, expected) in F_TAILS {
            let found = f_tail(a, b, f);
            assert!((found - expected).abs() < 1e-11 * expected, "F {a} {b} {f}: {found:e} {expected:e}");
        }
        for (h, x, expected) in CHI_SQUARED_TAILS {
            let found = chi_squared_tail(h, x);
            assert!((found - expected).abs() < 1e-11 * expected, "χ² {h} {x}: {found:e} {expected:e}");
        }
        assert_eq!((f_tail(2.0, 9.0, f64::INFINITY), f_tail(2.0, 9.0, 0.0)), (0.0, 1.0));
        assert_eq!((chi_squared_tail(2.0, f64::INFINITY), chi_squared_tail(2.0, 0.0)), (0.0, 1.0));
    }

    #[test]
    fn gamma_of_whole_numbers_are_factorials() {
        let factorial = |n: u32| (1..n).map(f64::from).product::<f64>().ln();
        (2..20).for_each(|n| assert!((ln_gamma(f64::from(n)) - factorial(n)).abs() < 1e-13 * f64::from(n)));
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
    }

    const CHI_SQUARED: [(f64, f64, f64); 11] = [
        (1.0, 0.05, 3.841_458_820_694_128_5),
        (2.0, 0.01, 9.210_340_371_976_182),
        (3.7, 0.01, 12.712_447_074_337_268),
        (10.0, 0.05, 18.307_038_053_275_15),
        (10.0, 0.5, 9.341_817_765_591_97),
        (100.0, 0.001, 149.449_252_779_038_9),
        (0.3, 0.01, 3.861_186_754_833_365),
        (5000.0, 0.01, 5_235.571_838_130_11),
        (2e6, 0.01, 2_004_655.636_805_515_7),
        (2e6, 0.9, 1_997_437.325_499_960_5),
        (4.0, 1e-10, 52.667_963_211_061_74),
    ];
    const F: [(f64, f64, f64, f64); 8] = [
        (1.0, 1.0, 0.05, 161.447_638_797_588_2),
        (2.0, 10.0, 0.05, 4.102_821_015_130_4),
        (5.0, 20.0, 0.01, 4.102_684_630_584_732),
        (3.0, 97.0, 0.001, 5.870_942_042_734_144_6),
        (60.0, 1737.0, 0.01, 1.485_844_456_480_885_3),
        (2.0, 1.0, 0.01, 4_999.499_999_999_992),
        (10.0, 99_990.0, 0.05, 1.830_798_162_030_913_5),
        (4.0, 146.0, 0.9, 0.265_061_917_193_414_26),
    ];
    const F_TAILS: [(f64, f64, f64, f64); 10] = [
        (1.0, 1.0, 161.4, 0.050_007_348_139_564_305),
        (2.0, 10.0, 4.1, 0.050_077_548_481_083_874),
        (3.0, 97.0, 0.2, 0.896_152_923_851_650_2),
        (1.0, 148.0, 1180.0, 2.109_019_667_800_457_5e-72),
        (2.0, 147.0, 49.2, 4.385_751_920_797_211e-17),
        (1.0, 99_998.0, 0.3, 0.583_883_643_267_530_6),
        (1.0, 99_998.0, 40.0, 2.550_309_546_307_402e-10),
        (4.0, 999_995.0, 2.5, 0.040_428_355_793_423_93),
        (60.0, 1737.0, 1.4, 0.024_596_524_340_334_235),
        (1.0, 8.0, 1e-12, 0.999_999_226_601_958_1),
    ];
    const CHI_SQUARED_TAILS: [(f64, f64, f64); 5] = [
        (1.0, 3.8, 0.051_252_582_857_369_534),
        (2.0, 9.2, 0.010_051_835_744_633_584),
        (3.0, 0.01, 0.999_734_834_941_344_4),
        (9.0, 30.5, 0.000_360_527_284_203_568_96),
        (99.0, 400.0, 8.372_893_780_664_211e-38),
    ];
}
