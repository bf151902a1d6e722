//! What the bandwidth does to the components: shares, angles and effective rank over it.

mod panels;

use crate::axis::{Range, Ticks};
use crate::error::{Result, check_length};
use crate::font;
use crate::frame::{self, BORDER, LABEL_SIZE, LINE, TICK, TICK_SIZE, WIDTH};
use crate::log_axis;
use crate::number::{count, short};
use crate::palette::INK;
use crate::scene::{Anchor, Figure, Rect, Shape};
use crate::spaced::log_ticks;
use panels::{Panel, plateau_sample, reference_line};

/// More components are not drawn.
const LIMIT_COMPONENTS: usize = 8;
/// Width of the piece of the plateau in the key.
const SAMPLE: f64 = 26.0;
const SAMPLE_HEIGHT: f64 = 14.0;
const NAME_GAP: f64 = 7.0;
const KEY_GAP: f64 = 22.0;

/// What [`sensitivity`] draws: an entry of each slice for each bandwidth; a slice that is empty has no panel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SensitivityPicture<'a> {
    /// The bandwidths, in any order.
    pub bandwidths: &'a [f64],
    /// The shares of the variance of the leading components, largest first.
    pub shares: &'a [Vec<f64>],
    /// The effective rank of the kernel matrix.
    pub effective_rank: &'a [f64],
    /// The largest angle to the subspace of the reference, in degrees.
    pub angle_to_reference: &'a [f64],
    /// The bandwidth that the others are held against, a line through all panels; not positive for none.
    pub reference: f64,
    /// The least and the largest bandwidth between which the subspace hardly changes.
    pub plateau: Option<(f64, f64)>,
    /// Title above the panels; may be empty.
    pub title: &'a str,
}

/// Draws what the bandwidth does: the shares of the leading components on top of each other, the angle of their
/// subspace to that of the reference, and the effective rank, all over the bandwidth on a logarithmic axis.
///
/// The plateau is shaded between dashed lines. A value that is not finite is a gap and is counted in a note, and so
/// are bandwidths that are not positive. At most 8 components are drawn.
///
/// ```
/// use eigenlift_plot::{SensitivityPicture, sensitivity};
///
/// let figure = sensitivity(&SensitivityPicture {
///     bandwidths: &[0.1, 1.0, 10.0],
///     shares: &[vec![0.8, 0.1], vec![0.5, 0.3], vec![0.1, 0.1]],
///     effective_rank: &[1.5, 2.8, 40.0],
///     angle_to_reference: &[12.0, 0.0, 65.0],
///     reference: 1.0,
///     plateau: Some((0.3, 2.0)),
///     title: "Sensitivity",
/// })?;
/// assert!(figure.to_svg().contains("reference 1"));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
///
/// # Errors
/// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when a slice that is not empty does not have one
/// entry for each bandwidth.
pub fn sensitivity(input: &SensitivityPicture<'_>) -> Result<Figure> {
    check(input)?;
    let order = order(input.bandwidths);
    let panels = panels(input, &order);
    let ticks_width = panels.iter().map(Panel::ticks_width).fold(0.0, f64::max);
    let x = Axis::new(input, &order, BORDER + ticks_width + TICK + 4.0);

    let mut shapes = Vec::new();
    let top = frame::title(&mut shapes, input.title, WIDTH) - 4.0;
    let mut bottom = draw_key(&mut shapes, &x, top);
    let mut last = x.plot(bottom, 0.0);
    for panel in &panels {
        last = panel.draw(&mut shapes, &x, bottom);
        bottom = last.bottom() + 6.0;
    }
    frame::x_axis(&mut shapes, &last, (&x.range, &x.ticks), (2.0, WIDTH - 2.0));
    bottom = last.bottom() + TICK + LINE + LABEL_SIZE + 4.0;
    let label = x.ticks.axis_label("bandwidth", x.width);
    let at = [x.left + x.width / 2.0, bottom - 4.0];
    shapes.push(Shape::text(&label, at, LABEL_SIZE, Anchor::Middle, INK));
    bottom = frame::notes(&mut shapes, &notes(input, &order), bottom, WIDTH);
    Ok(Figure::new(WIDTH, bottom + 6.0, input.title, shapes))
}

fn check(input: &SensitivityPicture) -> Result<()> {
    for (what, n) in [
        ("the shares", input.shares.len()),
        ("the effective rank", input.effective_rank.len()),
        ("the angle", input.angle_to_reference.len()),
    ] {
        if n > 0 {
            check_length(what, n, input.bandwidths.len(), "the bandwidths")?;
        }
    }
    Ok(())
}

/// The logarithm and the index of each positive bandwidth, the least first.
fn order(bandwidths: &[f64]) -> Vec<(f64, usize)> {
    let place = |(index, bandwidth): (usize, &f64)| Some((log_axis::log10(*bandwidth)?, index));
    let mut order: Vec<(f64, usize)> = bandwidths.iter().enumerate().filter_map(place).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    order
}

/// The panels of what is given; without anything the shares.
fn panels(input: &SensitivityPicture, order: &[(f64, usize)]) -> Vec<Panel> {
    let values = |values: &[f64]| {
        order.iter().map(|(log, index)| (*log, values.get(*index).copied().unwrap_or(f64::NAN))).collect()
    };
    let mut panels = Vec::new();
    let shares: Vec<(f64, Vec<f64>)> = order
        .iter()
        .filter_map(|(log, index)| Some((*log, input.shares.get(*index)?)))
        .map(|(log, shares)| (log, shares.iter().take(LIMIT_COMPONENTS).copied().collect()))
        .collect();
    let others = input.effective_rank.len() + input.angle_to_reference.len();
    if !input.shares.is_empty() || others == 0 {
        panels.push(Panel::shares(&shares));
    }
    if !input.angle_to_reference.is_empty() {
        panels.push(Panel::angle(values(input.angle_to_reference)));
    }
    if !input.effective_rank.is_empty() {
        panels.push(Panel::rank(values(input.effective_rank)));
    }
    panels
}

fn notes(input: &SensitivityPicture, order: &[(f64, usize)]) -> Vec<String> {
    let mut notes = Vec::new();
    let most = input.shares.iter().map(Vec::len).max().unwrap_or(0);
    if most > LIMIT_COMPONENTS {
        notes.push(format!("shares of the first {LIMIT_COMPONENTS} of {most} components"));
    }
    let n_left_out = input.bandwidths.len() - order.len();
    if n_left_out > 0 {
        notes.push(format!("{} not positive or not finite, left out", count(n_left_out, "bandwidth")));
    }
    let drawn = || order.iter().map(|(_, index)| *index);
    let shares = drawn().filter_map(|k| input.shares.get(k)).flat_map(|s| s.iter().take(LIMIT_COMPONENTS));
    let angles = drawn().filter_map(|k| input.angle_to_reference.get(k));
    let n_bad = shares.chain(angles).filter(|v| !v.is_finite()).count()
        + drawn()
            .filter_map(|k| input.effective_rank.get(k))
            .filter(|v| log_axis::log10(**v).is_none())
            .count();
    if n_bad > 0 {
        notes.push(format!("{} not finite, left out", count(n_bad, "value")));
    }
    notes
}

/// The horizontal axis of logarithms that all panels share.
struct Axis {
    range: Range,
    ticks: Ticks,
    left: f64,
    width: f64,
    /// The logarithm of the reference.
    reference: Option<f64>,
    /// The logarithms of the ends of the plateau.
    plateau: Option<(f64, f64)>,
}

impl Axis {
    fn new(input: &SensitivityPicture, order: &[(f64, usize)], left: f64) -> Self {
        let width = (WIDTH - left - BORDER - 8.0).max(60.0);
        let reference = log_axis::log10(input.reference);
        let logs = order.iter().map(|(log, _)| *log).chain(reference);
        let range = log_axis::range(logs, f64::NEG_INFINITY);
        let ends = input.plateau.and_then(|(a, b)| Some((log_axis::log10(a)?, log_axis::log10(b)?)));
        let plateau = ends.map(|(a, b)| (a.min(b), a.max(b)));
        Axis { ticks: log_ticks(&range, width), range, left, width, reference, plateau }
    }

    fn plot(&self, top: f64, height: f64) -> Rect {
        Rect { x: self.left, y: top, w: self.width, h: height }
    }
}

/// Names the lines of the reference and of the plateau, and returns where the names end.
fn draw_key(shapes: &mut Vec<Shape>, x: &Axis, top: f64) -> f64 {
    let value = |log: f64| short(10.0_f64.powf(log));
    let reference = x.reference.map(|log| format!("reference {}", value(log)));
    let plateau = x.plateau.map(|(lo, hi)| format!("plateau {} to {}", value(lo), value(hi)));
    let width = |text: &Option<String>, sample: f64| {
        text.as_ref().map_or(0.0, |text| sample + NAME_GAP + font::width(text, TICK_SIZE))
    };
    let (first, second) = (width(&reference, 0.0), width(&plateau, SAMPLE));
    if first + second == 0.0 {
        return top;
    }
    let gap = if first * second > 0.0 { KEY_GAP } else { 0.0 };
    let (left, y) = ((WIDTH - first - gap - second) / 2.0, top + LINE / 2.0);
    let mut name = |text: &str, x: f64| {
        shapes.push(Shape::text(text, [x, y + 0.36 * TICK_SIZE], TICK_SIZE, Anchor::Start, INK));
    };
    let second_left = left + first + gap;
    reference.iter().for_each(|text| name(text, left + NAME_GAP));
    plateau.iter().for_each(|text| name(text, second_left + SAMPLE + NAME_GAP));
    if reference.is_some() {
        shapes.extend(reference_line([left, y - SAMPLE_HEIGHT / 2.0], [left, y + SAMPLE_HEIGHT / 2.0]));
    }
    if plateau.is_some() {
        let rect = Rect { x: second_left, y: y - SAMPLE_HEIGHT / 2.0, w: SAMPLE, h: SAMPLE_HEIGHT };
        shapes.extend(plateau_sample(&rect));
    }
    top + LINE + 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_sorted_and_positive() {
        assert_eq!(order(&[10.0, 0.0, 1.0, f64::NAN, -1.0]), [(0.0, 2), (1.0, 0)]);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let input = SensitivityPicture {
            bandwidths: &[1.0, 0.0, 10.0],
            shares: &[vec![0.5, f64::NAN], vec![f64::NAN], vec![0.1; 9]],
            effective_rank: &[0.0, 1.0, 2.0],
            angle_to_reference: &[1.0, 2.0, f64::INFINITY],
            ..SensitivityPicture::default()
        };
        let notes = notes(&input, &order(input.bandwidths));
        let expected = [
            "shares of the first 8 of 9 components",
            "1 bandwidth not positive or not finite, left out",
            "3 values not finite, left out",
        ];
        assert_eq!(notes, expected);
    }
}
