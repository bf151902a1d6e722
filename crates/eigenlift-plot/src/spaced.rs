//! Ticks beside each other whose labels leave each other room.

use crate::axis::{Range, Ticks};
use crate::font;
use crate::frame::TICK_SIZE;
use crate::log_axis;

/// Between two labels beside each other, in units of their size.
const LABEL_GAP: f64 = 0.25;

/// The ticks without those whose labels would touch the one before.
pub(crate) fn spaced(ticks: Ticks, range: &Range, width: f64) -> Ticks {
    let mut free_from = f64::NEG_INFINITY;
    let mut kept = Ticks { values: Vec::new(), labels: Vec::new(), ..ticks };
    for (value, label) in ticks.values.into_iter().zip(ticks.labels) {
        let (middle, half) = (width * range.place(value), font::width(&label, TICK_SIZE) / 2.0);
        if middle - half >= free_from {
            free_from = middle + half + LABEL_GAP * TICK_SIZE;
            kept.values.push(value);
            kept.labels.push(label);
        }
    }
    kept
}

/// Ticks of a horizontal axis of decimal logarithms.
pub(crate) fn log_ticks(range: &Range, width: f64) -> Ticks {
    spaced(log_axis::ticks(range, 0.6 * width), range, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_touch() {
        for (lo, hi) in [(-7.3, -5.9), (-3.0, 12.0), (0.1, 1.2), (-0.2, 0.15), (-308.0, 307.0)] {
            let range = Range { lo, hi };
            let ticks = log_ticks(&range, 300.0);
            assert!((2..=12).contains(&ticks.values.len()), "{ticks:?}");
            let ends: Vec<(f64, f64)> = ticks
                .values
                .iter()
                .zip(&ticks.labels)
                .map(|(value, label)| (300.0 * range.place(*value), font::width(label, TICK_SIZE) / 2.0))
                .collect();
            assert!(ends.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0 - pair[1].1), "{ticks:?}");
        }
    }
}
