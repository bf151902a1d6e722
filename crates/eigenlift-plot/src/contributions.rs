//! Contributions of columns: bars to both sides of zero, the largest first.

use crate::axis::{Range, Ticks};
use crate::error::{Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::number::{count, short};
use crate::palette::{AXIS, FAINT_INK, FIRST, INK, SECOND};
use crate::scene::{Anchor, Figure, Rect, Shape, Stroke};

/// More columns than this are counted in a note.
const LIMIT: usize = 20;
/// Longer names are cut.
const NAME_WIDTH: f64 = 150.0;
/// Between the plot and the texts on both sides.
const GAP: f64 = 8.0;
/// The height of a bar.
const BAR: f64 = 12.0;

/// Draws the contribution of each column as a bar, the largest magnitude first, in one colour above zero and in
/// another below.
///
/// At most 20 are drawn, the others are counted in a note; so are values that are not finite. Long names are cut; in
/// SVG the pointer shows them whole.
///
/// ```
/// use eigenlift_plot::contributions;
///
/// let names = ["flow", "pressure", "temperature"].map(String::from);
/// let figure = contributions(&names, &[0.2, -1.5, 0.9], "row 17", "contribution to SPE")?;
/// assert!(figure.to_svg().contains("pressure"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when there is not one name for each value.
pub fn contributions(names: &[String], values: &[f64], title: &str, x_label: &str) -> Result<Figure> {
    check_length("the list of names", names.len(), values.len(), "the values")?;
    let ordered = ordered(names, values);
    let bars = ordered.get(..LIMIT.min(ordered.len())).unwrap_or_default();
    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, title, WIDTH);
    let cut: Vec<String> = bars.iter().map(|bar| font::truncated(bar.name, TICK_SIZE, NAME_WIDTH)).collect();
    let numbers: Vec<String> = bars.iter().map(|bar| short(bar.value)).collect();
    let widest = |texts: &[String]| font::widest(texts.iter().map(String::as_str), TICK_SIZE);
    let (left, right) = (BORDER + widest(&cut) + GAP, GAP + widest(&numbers) + BORDER);
    let n_lines = bars.len().max(3) as f64;
    let plot = Rect { x: left, y: top, w: (WIDTH - left - right).max(60.0), h: LINE * n_lines + 4.0 };
    let range = range(bars);
    let ticks = Ticks::horizontal(&range, plot.w, 6);
    frame::grid(&mut shapes, &plot, (&range, &ticks), (&range, &Ticks::default()));
    let zero = plot.x + plot.w * range.place(0.0);
    for (k, bar) in bars.iter().enumerate() {
        let middle = plot.y + 2.0 + LINE * (k as f64 + 0.5);
        shapes.push(bar.shape(plot.x + plot.w * range.place(bar.value), zero, middle));
        let baseline = middle + 0.36 * TICK_SIZE;
        let name = cut.get(k).map_or("", String::as_str);
        shapes.push(Shape::text(name, [plot.x - GAP, baseline], TICK_SIZE, Anchor::End, INK));
        let number = numbers.get(k).map_or("", String::as_str);
        shapes.push(Shape::text(number, [plot.right() + GAP, baseline], TICK_SIZE, Anchor::Start, INK));
        let area = Rect { x: 0.0, y: middle - LINE / 2.0, w: WIDTH, h: LINE };
        shapes.push(Shape::tooltip(&[bar.name.to_owned(), short(bar.value)], area));
    }
    shapes.push(Shape::line([zero, plot.y], [zero, plot.bottom()], Stroke::solid(AXIS, 1.0)));
    shapes.push(frame::outline(&plot));
    frame::x_axis(&mut shapes, &plot, (&range, &ticks), (2.0, WIDTH - 2.0));
    if bars.is_empty() {
        let at = [plot.x + plot.w / 2.0, plot.y + plot.h / 2.0];
        shapes.push(Shape::text("no values", at, LABEL_SIZE, Anchor::Middle, FAINT_INK));
    }
    let mut bottom = draw_label(&mut shapes, &plot, &ticks.axis_label(x_label, WIDTH - 2.0 * BORDER));
    bottom = frame::notes(&mut shapes, &notes(&ordered, values.len()), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, title, shapes))
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bar<'a> {
    name: &'a str,
    value: f64,
}

impl Bar<'_> {
    fn shape(&self, end: f64, zero: f64, middle: f64) -> Shape {
        let rect = Rect { x: zero.min(end), y: middle - BAR / 2.0, w: (end - zero).abs(), h: BAR };
        let color = if self.value < 0.0 { SECOND } else { FIRST };
        Shape::Rect { rect, fill: Some(color.with_alpha(0.8)), stroke: None }
    }
}

/// The finite values, the largest magnitude first; equal ones in their order.
fn ordered<'a>(names: &'a [String], values: &[f64]) -> Vec<Bar<'a>> {
    let all = names.iter().zip(values).map(|(name, value)| Bar { name, value: *value });
    let mut bars: Vec<Bar> = all.filter(|bar| bar.value.is_finite()).collect();
    bars.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    bars
}

/// Zero and all ends, with a little room beyond the ends.
fn range(bars: &[Bar]) -> Range {
    let (lo, hi) =
        bars.iter().fold((0.0_f64, 0.0_f64), |(lo, hi), bar| (lo.min(bar.value), hi.max(bar.value)));
    if lo == 0.0 && hi == 0.0 {
        return Range { lo: 0.0, hi: 1.0 };
    }
    let range = Range::between(lo, hi);
    let pad = 0.04 * range.width();
    Range {
        lo: if lo < 0.0 { range.lo - pad } else { range.lo },
        hi: if hi > 0.0 { range.hi + pad } else { range.hi },
    }
}

/// Draws the label below the ticks and returns where it ends.
fn draw_label(shapes: &mut Vec<Shape>, plot: &Rect, label: &str) -> f64 {
    let bottom = plot.bottom() + TICK + LINE;
    if label.is_empty() {
        return bottom;
    }
    let half = font::width(label, LABEL_SIZE) / 2.0;
    let middle = (plot.x + plot.w / 2.0).min(WIDTH - BORDER - half).max(BORDER + half);
    shapes.push(Shape::text(label, [middle, bottom + LABEL_SIZE], LABEL_SIZE, Anchor::Middle, INK));
    bottom + LABEL_SIZE + 4.0
}

fn notes(ordered: &[Bar], n_given: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(next) = ordered.get(LIMIT) {
        let n_more = ordered.len() - LIMIT;
        notes.push(format!("{n_more} more, none above {} in magnitude", short(next.value.abs())));
    }
    let n_bad = n_given - ordered.len();
    if n_bad > 0 {
        notes.push(format!("{} not finite, left out", count(n_bad, "value")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_ordered_by_magnitude() {
        let names = ["a", "b", "c", "d"].map(String::from);
        let found = ordered(&names, &[1.0, -3.0, f64::NAN, -1.0]);
        assert_eq!(found.iter().map(|bar| bar.name).collect::<Vec<_>>(), ["b", "a", "d"]);
        let range = range(&found);
        assert!(range.lo < -3.0 && range.hi > 1.0);
    }
}
