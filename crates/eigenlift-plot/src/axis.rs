//! Ranges of values, and ticks at multiples of 1, 2 or 5 times a power of ten.

use crate::font;
use crate::frame::{LABEL_SIZE, TICK_SIZE};

/// A range with `lo < hi`, both finite, wide enough that ticks differ in their labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// Below this magnitude a range counts as zero: powers of ten near it would lose digits.
const TINY: f64 = 1e-280;
/// A range narrower than this share of its magnitude counts as one value.
const RELATIVE_WIDTH: f64 = 1e-9;
/// Bounds stay below this magnitude, so that sums of a few stay finite.
const HUGE: f64 = 1e307;

impl Range {
    /// The least range over the finite values; 0 to 1 when there are none. One single value is put in
    /// the middle.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo > hi { Range { lo: 0.0, hi: 1.0 } } else { Range::between(lo, hi) }
    }

    /// The range between finite bounds, widened where they are too close.
    pub(crate) fn between(lo: f64, hi: f64) -> Self {
        let (lo, hi) = (lo.clamp(-HUGE, HUGE), hi.clamp(-HUGE, HUGE));
        let magnitude = lo.abs().max(hi.abs());
        if magnitude < TINY {
            Range { lo: -1.0, hi: 1.0 }
        } else if !Range::differ(lo, hi) {
            let middle = lo + (hi - lo) / 2.0;
            Range { lo: middle - 0.1 * magnitude, hi: middle + 0.1 * magnitude }
        } else {
            Range { lo, hi }
        }
    }

    /// Whether finite bounds are far enough apart to be told from one value.
    pub(crate) fn differ(lo: f64, hi: f64) -> bool {
        let magnitude = lo.abs().max(hi.abs());
        magnitude >= TINY && hi / 2.0 - lo / 2.0 > RELATIVE_WIDTH * magnitude
    }

    pub(crate) fn width(&self) -> f64 {
        self.hi - self.lo
    }

    /// The range with a margin of this share of its width on both sides.
    pub(crate) fn padded(&self, share: f64) -> Self {
        let pad = share * self.width();
        Range { lo: self.lo - pad, hi: self.hi + pad }
    }

    /// The range around the same middle with another width.
    pub(crate) fn with_width(&self, width: f64) -> Self {
        let middle = self.lo + self.width() / 2.0;
        Range { lo: middle - width / 2.0, hi: middle + width / 2.0 }
    }

    /// Where a value lies: 0 at `lo`, 1 at `hi`; far values are held near the range.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let t = (value.clamp(-HUGE, HUGE) - self.lo) / self.width();
        if t.is_finite() { t.clamp(-1.0, 2.0) } else { 0.0 }
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.lo..=self.hi).contains(&value)
    }
}

/// Positions and labels of the ticks of one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Vec<String>,
    /// The labels are to be multiplied by this power of ten.
    pub(crate) exponent: i32,
    /// Then this is to be added.
    pub(crate) offset: f64,
}

impl Ticks {
    /// At most about `target` ticks.
    pub(crate) fn new(range: &Range, target: usize) -> Self {
        let step = nice_step(range.width() / target.max(1) as f64);
        let values = multiples(range, step);
        let offset = common_offset(range);
        let largest = values.iter().fold(0.0_f64, |m, v| m.max((v - offset).abs()));
        let exponent = if largest == 0.0 || (1e-2..1e5).contains(&largest) { 0 } else { order(largest) };
        let decimals = (exponent - order(step)).clamp(0, 12) as usize;
        let unit = 10.0_f64.powi(exponent);
        let labels = values.iter().map(|v| decimal((v - offset) / unit, decimals)).collect();
        Ticks { values, labels, exponent, offset }
    }

    /// As many ticks as have room beside each other on `length`, at most about `most`.
    pub(crate) fn horizontal(range: &Range, length: f64, most: usize) -> Self {
        let fits = |ticks: &Ticks| {
            let gap = TICK_SIZE;
            ticks.spacing(range) * length >= font::widest(ticks.labels(), TICK_SIZE) + gap
        };
        let tries = (1..=most.max(1)).rev().map(|target| Ticks::new(range, target));
        tries.into_iter().find(fits).unwrap_or_else(|| Ticks::new(range, 1))
    }

    /// As many ticks as have room above each other on `length`.
    pub(crate) fn vertical(range: &Range, length: f64) -> Self {
        Ticks::new(range, ((length / (2.2 * TICK_SIZE)) as usize).clamp(1, 8))
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str)
    }

    /// The least distance of two ticks as a share of the range; infinite for fewer than two.
    fn spacing(&self, range: &Range) -> f64 {
        let pairs = self.values.iter().zip(self.values.iter().skip(1));
        pairs.map(|(a, b)| (b - a) / range.width()).fold(f64::INFINITY, f64::min)
    }

    /// The label of the axis, cut to a limit, with the offset and the power of ten that the tick labels leave
    /// out; these are never cut.
    pub(crate) fn axis_label(&self, label: &str, limit: f64) -> String {
        let mut left_out = Vec::new();
        if self.offset != 0.0 {
            let sign = if self.offset < 0.0 { '+' } else { '−' };
            let size = self.offset.abs();
            left_out.push(if size < 1e12 { format!("{sign} {size}") } else { format!("{sign} {size:e}") });
        }
        if self.exponent != 0 {
            left_out.push(format!("(×10{})", superscript(self.exponent)));
        }
        if left_out.is_empty() {
            return font::truncated(label, LABEL_SIZE, limit);
        }
        let left_out = left_out.join(" ");
        let room = limit - font::width(&format!(" {left_out}"), LABEL_SIZE);
        format!("{} {left_out}", font::truncated(label, LABEL_SIZE, room)).trim_start().to_owned()
    }
}

/// A round number near a range that is narrow for its distance from zero, so that labels stay short; else 0.
fn common_offset(range: &Range) -> f64 {
    let middle = range.lo + range.width() / 2.0;
    if middle.abs() < 1e4 * range.width() {
        return 0.0;
    }
    let power = order(range.width()) + 1;
    // Dividing by a whole power of ten leaves no binary rounding in the digits.
    if power >= 0 {
        let unit = 10.0_f64.powi(power);
        (middle / unit).round() * unit
    } else {
        let per_unit = 10.0_f64.powi(-power);
        (middle * per_unit).round() / per_unit
    }
}

/// The least of 1, 2, 5 times a power of ten that is not below `raw`.
fn nice_step(raw: f64) -> f64 {
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let unit = 10.0_f64.powi(order(raw));
    let factor = raw / unit;
    let nice = [1.0, 2.0, 5.0].into_iter().find(|n| factor <= n * (1.0 + 1e-9));
    nice.unwrap_or(10.0) * unit
}

/// The one of 1, 2, 2.5, 5 times a power of ten that is nearest to `raw` in ratio.
pub(crate) fn nearest_nice_step(raw: f64) -> f64 {
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let unit = 10.0_f64.powi(order(raw));
    let factor = raw / unit;
    let distance = |nice: &f64| (nice / factor).ln().abs();
    let nearest = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(1.0) * unit
}

/// The multiples of `step` inside the range.
pub(crate) fn multiples(range: &Range, step: f64) -> Vec<f64> {
    let (first, last) = ((range.lo / step - 1e-6).ceil(), (range.hi / step + 1e-6).floor());
    let count = (last - first + 1.0).clamp(0.0, 100.0) as u32;
    (0..count).map(|k| ((first + f64::from(k)) * step).clamp(range.lo, range.hi)).collect()
}

/// The decimal order of magnitude, ⌊log₁₀ v⌋.
fn order(v: f64) -> i32 {
    (v.log10() + 1e-9).floor() as i32
}

/// A number with a true minus sign and no negative zero.
fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// A power in raised digits.
pub(crate) fn superscript(exponent: i32) -> String {
    exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_nice(range: Range, target: usize) {
        let ticks = Ticks::new(&range, target);
        assert!(ticks.values.len() <= target + 1, "{range:?}: {ticks:?}");
        assert!(ticks.values.iter().all(|v| range.contains(*v)), "{range:?}: {ticks:?}");
        if let [a, b, ..] = ticks.values.as_slice() {
            let step = (b - a) / 10.0_f64.powi(order(b - a));
            let nice = [1.0, 2.0, 5.0, 10.0].iter().any(|n| (step - n).abs() < 1e-3);
            assert!(nice || *a == range.lo, "{range:?}: step {step}");
        }
        let mut labels = ticks.labels.clone();
        labels.dedup();
        assert_eq!(labels.len(), ticks.labels.len(), "labels differ: {:?}", ticks.labels);
    }

    #[test]
    fn ticks_are_nice_distinct_and_inside() {
        for target in 1..12 {
            for (lo, hi) in [
                (0.0, 1.0),
                (-0.5, 0.7),
                (-3.2e-7, 9e-7),
                (1e6, 1e6 + 1.0),
                (0.0, 99_999.0),
                (-1e300, 1e300),
                (123.0, 123.004),
                (1e-200, 3e-200),
                (-17.3, 1e4),
                (2.0, 2.0),
                (0.0, 0.0),
                (f64::MIN, f64::MAX),
                (1.0, 1.0 + 1e-14),
                (-1e-300, 1e-300),
                (f64::MAX, f64::MAX),
            ] {
                assert_nice(Range::between(lo, hi), target);
                assert_nice(Range::between(lo, hi).padded(0.04), target);
            }
        }
    }

    #[test]
    fn labels_have_the_digits_they_need() {
        let ticks = Ticks::new(&Range { lo: -0.5, hi: 0.5 }, 5);
        assert_eq!(ticks.labels, ["−0.4", "−0.2", "0.0", "0.2", "0.4"].map(String::from));
        let ticks = Ticks::new(&Range { lo: 0.0, hi: 3e-6 }, 3);
        assert_eq!(ticks.labels, ["0", "1", "2", "3"].map(String::from));
        assert_eq!(ticks.axis_label("error", 400.0), "error (×10⁻⁶)");
        let cut = ticks.axis_label(&"long ".repeat(50), 200.0);
        assert!(cut.ends_with("… (×10⁻⁶)") && font::width(&cut, LABEL_SIZE) <= 200.0, "{cut}");
        assert_eq!(superscript(-120), "⁻¹²⁰");
        let ticks = Ticks::new(&Range { lo: 123_455.996, hi: 123_456.004 }, 4);
        assert_eq!(ticks.labels, ["−4", "−2", "0", "2", "4"].map(String::from));
        assert_eq!(ticks.axis_label("x", 400.0), "x − 123456 (×10⁻³)");
    }

    #[test]
    fn long_labels_leave_fewer_ticks() {
        let range = Range { lo: 1e4, hi: 1e4 + 3.0 };
        assert!(
            Ticks::horizontal(&range, 300.0, 8).values.len()
                < Ticks::horizontal(&Range { lo: 0.0, hi: 1.0 }, 300.0, 8).values.len()
        );
    }

    #[test]
    fn empty_and_constant_values_have_a_range() {
        assert_eq!(Range::of([]), Range { lo: 0.0, hi: 1.0 });
        assert_eq!(Range::of([f64::NAN]), Range { lo: 0.0, hi: 1.0 });
        assert_eq!(Range::of([5.0, 5.0]).place(5.0), 0.5);
        assert!(Range::of([f64::INFINITY, 2.0]).contains(2.0));
    }
}
