//! Numbers in words and in few digits.

use crate::axis::superscript;

/// A number in three digits.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || value == 0.0 {
        return if value == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    let sign = if value < 0.0 { "−" } else { "" };
    // Three digits first: rounding may reach the next power of ten.
    let rounded = format!("{size:.2e}");
    let (digits, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    match power {
        -3..=4 => {
            let text = format!("{:.*}", (2 - power).max(0) as usize, size);
            let text =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            format!("{sign}{text}")
        }
        _ => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            let factor = if digits == "1" { String::new() } else { format!("{digits}·") };
            format!("{sign}{factor}10{}", superscript(power))
        }
    }
}

/// A count with its digits in groups of three.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let gap = |k: usize| k > 0 && (digits.len() - k).is_multiple_of(3);
    digits.chars().enumerate().flat_map(|(k, c)| gap(k).then_some(' ').into_iter().chain([c])).collect()
}

/// A count in words: "1 value", "3 values".
pub(crate) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let values = [0.0, 1.0, 0.125, 0.062_54, 12.349, 99_999.0, 123_456.0, 1e-5, -2.5e-7, 0.999_9, 1e300];
        let expected =
            ["0", "1", "0.125", "0.0625", "12.3", "10⁵", "1.23·10⁵", "10⁻⁵", "−2.5·10⁻⁷", "1", "10³⁰⁰"];
        assert_eq!(values.map(short), expected);
        assert_eq!([f64::NAN, f64::INFINITY].map(short), ["–", "–"]);
        assert_eq!([7, 20_001, 123_456, 1_000_000].map(grouped), ["7", "20 001", "123 456", "1 000 000"]);
        assert_eq!([count(1, "value"), count(3, "value")], ["1 value", "3 values"]);
    }
}
