//! The choice in plain words.

use super::result::GridPoint;

/// A number with three digits.
pub(super) fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{x:.2e}");
    }
    let digits = (2 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A number rounded where its uncertainty begins.
pub(super) fn measured(x: f64, spread: f64) -> String {
    if !(spread > 0.0 && spread.is_finite() && (1e-12..1e12).contains(&spread)) {
        return short(x);
    }
    let digits = (1 - spread.log10().floor() as i32).max(0) as usize;
    if digits > 9 {
        format!("{} ± {}", short(x), short(spread))
    } else {
        format!("{x:.digits$} ± {spread:.digits$}")
    }
}

pub(super) fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// What a sentence is made of.
pub(super) struct Told<'a> {
    pub(super) point: &'a GridPoint,
    /// "gamma", "sigma", …
    pub(super) bandwidth_name: &'a str,
    /// The median heuristic, where the bandwidth was chosen.
    pub(super) median: Option<f64>,
    /// What the point reaches, such as "hidden entries are missed by 0.031 ± 0.001 (the mean of the column: 0.094)".
    pub(super) result: String,
    pub(super) gamma_range: Option<(f64, f64)>,
    pub(super) k_range: (usize, usize),
    pub(super) n_near: usize,
    /// Rows looked at and rows there are.
    pub(super) rows: (usize, usize),
}

pub(super) fn sentence(told: &Told<'_>) -> String {
    let components = counted(told.point.n_components, "component");
    let mut text = match told.point.bandwidth.zip(told.median) {
        Some((bandwidth, median)) => {
            let times = short(bandwidth / median);
            format!("{}, {times} times the median heuristic, with {components}: ", told.point.kernel)
        }
        None => format!("{} with {components}: ", told.point.kernel),
    };
    text += &told.result;
    if told.rows.0 < told.rows.1 {
        text += &format!(", judged on {} of {} rows", told.rows.0, told.rows.1);
    }
    let mut others = Vec::new();
    if told.k_range.0 < told.k_range.1 {
        others.push(format!("{} to {} components", told.k_range.0, told.k_range.1));
    }
    if let Some((low, high)) = told.gamma_range.filter(|(low, high)| low < high && told.median.is_some()) {
        others.push(format!("{} from {} to {}", told.bandwidth_name, short(low), short(high)));
    }
    text += &match (others.is_empty(), told.n_near) {
        (false, _) => format!(
            "; settings with {} do as well within one standard error, though not all of them.",
            others.join(" and ")
        ),
        (true, 0 | 1) => "; nothing else that was tried comes within one standard error.".into(),
        (true, _) => "; another kernel does as well within one standard error.".into(),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in
            [(0.0123456, "0.0123"), (4.0, "4"), (1234.5, "1234"), (0.5, "0.5"), (1e-7, "1.00e-7"), (0.0, "0")]
        {
            assert_eq!(short(x), text);
        }
        assert_eq!(measured(0.031234, 0.00123), "0.0312 ± 0.0012");
        assert_eq!(measured(12.0, 0.0), "12");
    }

    #[test]
    fn sentences_tell_the_choice_and_its_uncertainty() {
        let point = GridPoint {
            kernel: "rbf(gamma=0.5)".into(),
            bandwidth: Some(0.5),
            n_components: 64,
            error: 0.031,
            spread: 0.001,
            n_masks: 100,
        };
        let mut told = Told {
            point: &point,
            bandwidth_name: "gamma",
            median: Some(0.125),
            result: "hidden entries are missed by 0.0310 ± 0.0010 (the mean of the column: 0.094)".into(),
            gamma_range: Some((0.25, 0.5)),
            k_range: (32, 128),
            n_near: 5,
            rows: (600, 600),
        };
        assert_eq!(
            sentence(&told),
            "rbf(gamma=0.5), 4 times the median heuristic, with 64 components: hidden entries are missed by \
             0.0310 ± 0.0010 (the mean of the column: 0.094); settings with 32 to 128 components and gamma from 0.25 to \
             0.5 do as well within one standard error, though not all of them."
        );
        (told.gamma_range, told.k_range, told.n_near, told.rows) = (None, (64, 64), 1, (600, 5000));
        assert!(
            sentence(&told).contains(", judged on 600 of 5000 rows; nothing else"),
            "{}",
            sentence(&told)
        );
    }
}
