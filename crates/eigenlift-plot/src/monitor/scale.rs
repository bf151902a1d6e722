//! The axis of one statistic: linear from zero, or logarithmic where the values span decades.

use crate::axis::{Range, Ticks};
use crate::log_axis;

/// Above this many decades an axis is logarithmic.
const MOST_DECADES: f64 = 2.0;
/// The share of the values that does not decide the lower end, for a value may be zero but for rounding.
const LOW_SHARE: f64 = 0.01;
/// A logarithmic axis reaches this many decades below the values that decide.
const BELOW: f64 = 1.0;
const LEAST: f64 = f64::MIN_POSITIVE;

/// Where values of one statistic stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) is_log: bool,
    pub(super) range: Range,
}

impl Scale {
    /// The axis for these values and their limit.
    pub(super) fn new(values: &[f64], limit: Option<f64>) -> Self {
        let mut positive: Vec<f64> = values.iter().copied().chain(limit).filter(|v| *v > LEAST).collect();
        positive.sort_by(f64::total_cmp);
        let low =
            positive.get((LOW_SHARE * positive.len() as f64) as usize).copied().and_then(log_axis::log10);
        let high = positive.last().copied().and_then(log_axis::log10);
        if let (Some(low), Some(high)) = (low, high)
            && high - low > MOST_DECADES
        {
            let logs = positive.iter().copied().filter_map(log_axis::log10);
            return Scale { is_log: true, range: log_axis::range(logs, low - BELOW) };
        }
        if positive.is_empty() && values.iter().all(|v| *v >= 0.0) {
            return Scale { is_log: false, range: Range { lo: 0.0, hi: 1.0 } };
        }
        let all = Range::of(values.iter().copied().chain(limit).chain([0.0]));
        let pad = 0.05 * all.width();
        // Below zero there is nothing but rounding.
        let lo = if all.lo < -pad { all.lo - pad } else { 0.0 };
        Scale { is_log: false, range: Range { lo, hi: all.hi + pad } }
    }

    /// The place of a value on the axis; what lies below the axis stands at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.is_log { log_axis::log10(value).unwrap_or(f64::NEG_INFINITY) } else { value };
        place.max(self.range.lo)
    }

    pub(super) fn is_below(&self, value: f64) -> bool {
        self.is_log && log_axis::log10(value).is_none_or(|log| log < self.range.lo)
    }

    /// Ticks of a vertical axis.
    pub(super) fn ticks(&self, length: f64) -> Ticks {
        if self.is_log { log_axis::ticks(&self.range, length) } else { Ticks::vertical(&self.range, length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_decide_the_axis() {
        let close: Vec<f64> = (1..50).map(f64::from).collect();
        let scale = Scale::new(&close, Some(60.0));
        assert!(!scale.is_log && scale.range.lo == 0.0 && scale.range.hi > 60.0);
        let scale = Scale::new(&close, Some(500.0));
        assert!(scale.is_log && scale.range.contains(500_f64.log10()));
        assert!(scale.place(0.0) == scale.range.lo && scale.is_below(0.0) && !scale.is_below(1.0));
    }

    #[test]
    fn values_near_zero_do_not_decide() {
        let mut values: Vec<f64> = (0..1000).map(|k| 1.0 + f64::from(k).powi(2)).collect();
        values.extend([1e-30, 0.0, -1e-18]);
        let scale = Scale::new(&values, None);
        assert!(scale.is_log && scale.range.lo > -1.0, "{scale:?}");
        assert_eq!(Scale::new(&[1.0, 5.0, -1e-18], None).range.lo, 0.0, "rounding below zero");
        for odd in [&[][..], &[0.0], &[-1.0, 1.0], &[f64::MAX, 1e-300]] {
            let Range { lo, hi } = Scale::new(odd, None).range;
            assert!(lo < hi && lo.is_finite() && hi.is_finite(), "{odd:?}");
        }
    }
}
