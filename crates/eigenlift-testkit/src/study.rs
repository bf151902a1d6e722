//! Figures of a simulation beside what they must be, in the form that `cargo xtask audit` reads.

use std::process::ExitCode;

/// What a figure must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This value, give or take the second number.
    Near(f64, f64),
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Nothing: shown for comparison.
    Shown,
}

impl Target {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::Near(value, within) => (measured - value).abs() <= within,
            Self::AtMost(most) => measured <= most,
            Self::AtLeast(least) => measured >= least,
            Self::Shown => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Near(value, within) => format!("{} ± {}", short(value), short(within)),
            Self::AtMost(most) => format!("≤ {}", short(most)),
            Self::AtLeast(least) => format!("≥ {}", short(least)),
            Self::Shown => "none".into(),
        }
    }
}

/// A study: counts verdicts that fail.
#[derive(Clone, Debug)]
pub struct Study {
    name: &'static str,
    failures: usize,
}

impl Study {
    /// A study of that name, the first field of its lines.
    pub fn new(name: &'static str) -> Self {
        Self { name, failures: 0 }
    }

    /// The line `study | setting | statistic | target | measured | standard error | verdict` of a figure.
    pub fn line(
        &mut self,
        (setting, statistic): (&str, &str),
        target: Target,
        (measured, standard_error): (f64, f64),
    ) -> String {
        let holds = target.holds(measured);
        self.failures += usize::from(!holds);
        let verdict = match (target, holds) {
            (Target::Shown, _) => "shown",
            (_, true) => "holds",
            (_, false) => "FAILS",
        };
        let fields = [
            self.name,
            setting,
            statistic,
            &target.text(),
            &short(measured),
            &short(standard_error),
            verdict,
        ];
        fields.map(|field| field.replace('|', "/")).join(" | ")
    }

    /// 0 if every verdict holds, 1 otherwise.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.failures > 0))
    }
}

/// Mean of repetitions and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n * (n - 1.0)).max(1.0)).sqrt())
}

/// Three significant digits.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = 2 - x.abs().log10().floor() as i32;
    match digits {
        -3..=8 => {
            let text = format!("{x:.*}", digits.max(0) as usize);
            let kept =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            kept.to_string()
        }
        _ => format!("{x:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_seven_fields_and_failures_are_counted() {
        let mut study = Study::new("limits");
        let line = study.line(("Gaussian | t", "rate"), Target::Near(0.05, 0.01), (0.0604, 0.0012));
        assert_eq!(line, "limits | Gaussian / t | rate | 0.05 ± 0.01 | 0.0604 | 0.0012 | FAILS");
        assert_eq!(study.failures, 1);
        assert!(study.line(("a", "b"), Target::AtMost(2.0), (1.999, 0.0)).ends_with("≤ 2 | 2 | 0 | holds"));
        assert!(study.line(("a", "b"), Target::AtLeast(0.5), (0.25, 0.1)).ends_with("FAILS"));
        assert!(study.line(("a", "b"), Target::Near(0.0, f64::NAN), (0.0, 0.1)).ends_with("FAILS"));
        assert!(study.line(("a", "b"), Target::Shown, (1234.5, 0.1)).ends_with("none | 1234 | 0.1 | shown"));
        assert_eq!(study.failures, 3);
    }

    #[test]
    fn the_mean_has_the_error_of_a_mean() {
        assert_eq!(mean_and_error(&[1.0, 2.0, 3.0]), (2.0, (2.0f64 / 6.0).sqrt()));
        assert_eq!(mean_and_error(&[4.0]), (4.0, 0.0));
    }
}
