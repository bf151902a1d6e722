//! Bounds of eigenvalues as error bars.

use crate::frame::Frame;
use crate::number::short;
use crate::palette::INK;
use crate::scene::{Polyline, Rgba, Shape, Stroke};

use super::bar_width;

/// The longest line across the end of an error bar.
const LONGEST_CAP: f64 = 14.0;
/// Bounds closer than this on paper are drawn as one strong line.
const ONE_LINE: f64 = 2.0;
const LINE_WIDTH: f64 = 1.2;
const STRONG_WIDTH: f64 = 2.0;
/// The light ground on each side of a line, so that it is seen on a bar.
const GROUND: f64 = 1.0;

/// Draws the bounds of each component; those that are not numbers are left out.
pub(super) fn draw(frame: &mut Frame, intervals: &[(f64, f64)]) {
    let cap = (0.7 * bar_width(frame)).min(LONGEST_CAP) / 2.0;
    let (mut bars, mut single) = (Vec::new(), Vec::new());
    for (k, (lo, hi)) in intervals.iter().enumerate().filter(|(_, (lo, hi))| !lo.is_nan() && !hi.is_nan()) {
        let end = |bound: f64| frame.at((k + 1) as f64, bound.clamp(frame.y.lo, frame.y.hi));
        let ([x, bottom], [_, top]) = (end(*lo), end(*hi));
        let across = |y: f64| line([x - cap, y], [x + cap, y]);
        if (bottom - top).abs() < ONE_LINE {
            single.push(across((bottom + top) / 2.0));
            continue;
        }
        bars.push(line([x, bottom], [x, top]));
        bars.extend([(lo, bottom), (hi, top)].iter().filter(|(v, _)| v.is_finite()).map(|(_, y)| across(*y)));
    }
    for (lines, width) in [(bars, LINE_WIDTH), (single, STRONG_WIDTH)] {
        if lines.is_empty() {
            continue;
        }
        let ground = Stroke::solid(Rgba::hex(0xffffff).with_alpha(0.8), width + 2.0 * GROUND);
        frame.shapes.push(Shape::Path { lines: lines.clone(), fill: None, stroke: Some(ground) });
        frame.shapes.push(Shape::Path { lines, fill: None, stroke: Some(Stroke::solid(INK, width)) });
    }
}

fn line(from: [f64; 2], to: [f64; 2]) -> Polyline {
    Polyline { points: vec![from, to], closed: false }
}

/// The bounds of one component in words; none where a bound is not a number.
pub(super) fn words((lo, hi): (f64, f64)) -> Option<String> {
    let text = match (lo.is_finite(), hi.is_finite()) {
        // Three digits of both ends would be the same: the width says more.
        (true, true) if short(lo) == short(hi) => format!("certain to within {}", short((hi - lo).abs())),
        (true, true) => format!("between {} and {}", short(lo), short(hi)),
        (true, false) => format!("at least {}", short(lo)),
        (false, true) => format!("at most {}", short(hi)),
        (false, false) => return None,
    };
    (!lo.is_nan() && !hi.is_nan()).then_some(text)
}

/// Says what the error bars are and how wide the widest is.
pub(super) fn note(intervals: &[(f64, f64)]) -> Option<String> {
    let widths = intervals.iter().filter(|(lo, hi)| !lo.is_nan() && !hi.is_nan()).map(|(lo, hi)| hi - lo);
    let widest = widths.reduce(f64::max)?;
    let text = if widest.is_finite() { format!(", at most {} wide", short(widest)) } else { String::new() };
    Some(format!("error bars: bounds{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_in_words() {
        let inf = f64::INFINITY;
        let found = [(1.0, 2.0), (1.0, 1.0 + 1e-9), (1.0, inf), (-inf, 2.0)].map(words);
        let expected = ["between 1 and 2", "certain to within 10⁻⁹", "at least 1", "at most 2"];
        assert_eq!(found.map(Option::unwrap_or_default), expected);
        assert_eq!([(f64::NAN, 1.0), (-inf, inf)].map(words), [None, None]);
        assert_eq!(note(&[(1.0, 1.5), (0.0, 2.0)]).unwrap(), "error bars: bounds, at most 2 wide");
        assert_eq!(note(&[(1.0, inf)]).unwrap(), "error bars: bounds");
        assert_eq!(note(&[]), None);
    }
}
