//! The digamma function at whole numbers.

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// ψ(1), …, ψ(n).
#[derive(Clone, Debug)]
pub struct Digamma(Vec<f64>);

impl Digamma {
    /// A table by ψ(1) = −γ, ψ(n + 1) = ψ(n) + 1/n.
    ///
    /// Numerics: what each sum loses is carried along, so that no error grows with n.
    pub fn up_to(n: usize) -> Self {
        let (mut sum, mut lost) = (-EULER, 0.0f64);
        let next = |m: usize| {
            let psi = sum + lost;
            let term = 1.0 / m as f64;
            let larger = sum + term;
            lost += if sum.abs() >= term { (sum - larger) + term } else { (term - larger) + sum };
            sum = larger;
            psi
        };
        // ψ(0) is never asked for; it keeps the numbers in step.
        Self(std::iter::once(f64::NEG_INFINITY).chain((1..=n).map(next)).collect())
    }

    /// ψ(n) for n of at least 1 and at most the size of the table.
    ///
    /// # Panics
    /// For larger n.
    pub fn at(&self, n: usize) -> f64 {
        self.0[n]
    }

    /// At a number of at least 1 that need not be whole: ψ(x) = ψ(x + 1) − 1/x up to 16, then the asymptotic series, whose first
    /// term left out is 0.02/16¹².
    pub fn at_number(&self, x: f64) -> f64 {
        if let Some(psi) = self.0.get(x as usize).filter(|_| x.fract() == 0.0) {
            return *psi;
        }
        let (mut x, mut below) = (x, 0.0);
        while x < 16.0 {
            below += 1.0 / x;
            x += 1.0;
        }
        let i = 1.0 / (x * x);
        let series = i * (1.0 / 12.0 - i * (1.0 / 120.0 - i * (1.0 / 252.0 - i * (1.0 / 240.0 - i / 132.0))));
        x.ln() - 0.5 / x - series - below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Asymptotic series, whose first term left out is below 1/(240·n⁸): 3e-16 at n = 45.
    #[test]
    fn agrees_with_the_asymptotic_series() {
        let psi = Digamma::up_to(1_000_000);
        for n in [45, 57, 1000, 99_999, 1_000_000] {
            let x = n as f64;
            let i = 1.0 / (x * x);
            let series = x.ln() - 0.5 / x - i * (1.0 / 12.0 - i * (1.0 / 120.0 - i / 252.0));
            assert!((psi.at(n) - series).abs() < 2e-14, "{n}: {} {series}", psi.at(n));
        }
        assert!((psi.at(2) - (1.0 - EULER)).abs() < 1e-16);
    }

    #[test]
    fn agrees_between_whole_numbers() {
        let psi = Digamma::up_to(20);
        for n in 1..=20 {
            assert_eq!(psi.at_number(n as f64), psi.at(n));
            assert!((psi.at_number(n as f64 + 1e-12) - psi.at(n)).abs() < 3e-12, "{n}");
        }
        // ψ(3/2) = 2 − γ − 2 ln 2.
        assert!((psi.at_number(1.5) - (2.0 - EULER - 2.0 * 2f64.ln())).abs() < 1e-14);
    }
}
