//! Numbers and names of features below the plot.

use crate::axis::Ticks;
use crate::font;
use crate::frame::{BORDER, Frame, LABEL_SIZE, TICK, TICK_SIZE, WIDTH};
use crate::palette::INK;
use crate::scene::{Anchor, Shape, Text};
use crate::scree::component_ticks;

use super::{PathPicture, n_features};

/// Most numbers below the plot, the first not counted.
const MOST_TICKS: usize = 12;
/// Names are turned by this much, upwards to the right.
const DEGREES: f64 = -55.0;
/// Longer names are cut.
const NAME_WIDTH: f64 = 130.0;
/// The least distance of two names along the axis.
const NAME_STEP: f64 = 19.0;
const AXIS_LABEL: &str = "number of features, and the feature of each step";

/// The numbers of features at some of the steps.
pub(super) fn ticks(input: &PathPicture) -> Ticks {
    let n = input.steps.len();
    let steps = component_ticks(n, 1, MOST_TICKS).values;
    let values: Vec<f64> = steps.into_iter().filter(|step| *step <= n as f64).collect();
    let labels = values.iter().map(|step| n_features(input, *step as usize - 1).to_string()).collect();
    Ticks { values, labels, ..Ticks::default() }
}

/// The steps whose names have room: the chosen one, then every so many.
fn named(n: usize, chosen: Option<usize>, width: f64) -> Vec<usize> {
    let per_step = width / n.max(1) as f64;
    let stride = (NAME_STEP / per_step).ceil().max(1.0) as usize;
    let is_free = |k: &usize| chosen.is_none_or(|chosen| *k == chosen || k.abs_diff(chosen) >= stride);
    (0..n).filter(|k| k.is_multiple_of(stride) || Some(*k) == chosen).filter(is_free).collect()
}

/// Draws names and the label of the axis and returns where they end.
pub(super) fn draw(frame: &mut Frame, input: &PathPicture) -> f64 {
    let top = frame.plot.bottom() + TICK + TICK_SIZE + 6.0;
    let (sin, cos) = (-DEGREES).to_radians().sin_cos();
    let mut bottom = top;
    for k in named(input.steps.len(), input.chosen, frame.plot.w) {
        let Some(step) = input.steps.get(k) else { continue };
        let x = frame.at((k + 1) as f64, 0.0)[0] + 0.3 * TICK_SIZE;
        let room = NAME_WIDTH.min((x - BORDER) / cos);
        let content = font::truncated(&step.name, TICK_SIZE, room);
        bottom = bottom.max(top + font::width(&content, TICK_SIZE) * sin + TICK_SIZE);
        let at = [x, top + 0.5 * TICK_SIZE];
        let text = Text { content, at, size: TICK_SIZE, anchor: Anchor::End, degrees: DEGREES, color: INK };
        frame.shapes.push(Shape::Text(text));
    }
    bottom += LABEL_SIZE + 2.0;
    let label = font::truncated(AXIS_LABEL, LABEL_SIZE, WIDTH - 2.0 * BORDER);
    let half = font::width(&label, LABEL_SIZE) / 2.0;
    let middle = (frame.plot.x + frame.plot.w / 2.0).min(WIDTH - BORDER - half);
    frame.shapes.push(Shape::text(&label, [middle, bottom - 2.0], LABEL_SIZE, Anchor::Middle, INK));
    bottom + 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_touch_and_the_chosen_one_is_there() {
        assert_eq!(named(4, Some(2), 400.0), [0, 1, 2, 3]);
        for (n, chosen) in [(30, Some(7)), (100, Some(99)), (64, None), (1, Some(0)), (0, None)] {
            let found = named(n, chosen, 400.0);
            assert!(found.windows(2).all(|pair| (pair[1] - pair[0]) as f64 * 400.0 / n as f64 >= NAME_STEP));
            assert!(chosen.is_none_or(|k| found.contains(&k)), "{n}: {found:?}");
            assert!(found.len() * 3 >= n.min(20), "{n}: {found:?}");
        }
    }
}
