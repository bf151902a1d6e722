//! Texts inside of a plot that leave each other room.

use crate::font;
use crate::frame::TICK_SIZE;
use crate::scene::{Anchor, Rect, Rgba, Shape};

/// Between a text and the edge of its ground.
const PAD: f64 = 3.0;
/// Longer texts are cut.
const TEXT_WIDTH: f64 = 130.0;
/// Between a point and its text.
const OFF: f64 = 4.0;

/// What is taken of a plot.
pub(crate) struct FreePlaces<'a> {
    area: Rect,
    /// Where no text may be.
    taken: Vec<Rect>,
    /// What texts may hide where they must: lines, and points.
    lines: Vec<Rect>,
    points: &'a [[f64; 2]],
}

impl<'a> FreePlaces<'a> {
    pub(crate) fn new(area: Rect, points: &'a [[f64; 2]]) -> Self {
        FreePlaces { area, taken: Vec::new(), lines: Vec::new(), points }
    }

    /// Keeps texts off an area.
    pub(crate) fn take(&mut self, area: Rect) {
        self.taken.push(area);
    }

    /// A line that counts as one point where a text hides a part of it.
    pub(crate) fn line(&mut self, line: Rect) {
        self.lines.push(line);
    }

    fn is_free(&self, wanted: &Rect) -> bool {
        wanted.x >= self.area.x
            && wanted.right() <= self.area.right()
            && wanted.y >= self.area.y
            && wanted.bottom() <= self.area.bottom()
            && !self.taken.iter().any(|taken| meet(wanted, taken))
    }

    fn n_hidden(&self, by: &Rect) -> usize {
        let is_inside =
            |[x, y]: &&[f64; 2]| (by.x..=by.right()).contains(x) && (by.y..=by.bottom()).contains(y);
        let n_lines = self.lines.iter().filter(|line| meet(by, line)).count();
        n_lines + self.points.iter().filter(is_inside).count()
    }

    /// Draws a text on a light ground, at that of the places for its size which is free and hides the least; nothing
    /// where none is free or more than `most_hidden` points would be hidden.
    pub(crate) fn text(
        &mut self,
        content: &str,
        color: Rgba,
        most_hidden: usize,
        places: impl Fn(f64, f64) -> Vec<[f64; 2]>,
    ) -> Vec<Shape> {
        let content = font::truncated(content, TICK_SIZE, TEXT_WIDTH);
        let (w, h) = (font::width(&content, TICK_SIZE) + 2.0 * PAD, TICK_SIZE + 2.0);
        let rects =
            places(w, h).into_iter().map(|[x, y]| Rect { x, y, w, h }).filter(|rect| self.is_free(rect));
        let best = rects.map(|rect| (self.n_hidden(&rect), rect)).min_by_key(|(n_hidden, _)| *n_hidden);
        let Some((_, rect)) = best.filter(|(n_hidden, _)| *n_hidden <= most_hidden) else {
            return Vec::new();
        };
        self.taken.push(rect);
        let ground = Rgba::hex(0xffffff).with_alpha(0.8);
        let at = [rect.x + PAD, rect.y + 0.5 * h + 0.36 * TICK_SIZE];
        vec![
            Shape::Rect { rect, fill: Some(ground), stroke: None },
            Shape::text(&content, at, TICK_SIZE, Anchor::Start, color),
        ]
    }

    /// Draws a text beside a point, as [`FreePlaces::text`] does.
    pub(crate) fn text_beside(
        &mut self,
        content: &str,
        color: Rgba,
        most_hidden: usize,
        [x, y]: [f64; 2],
    ) -> Vec<Shape> {
        let (top, bottom) = (self.area.y, self.area.bottom());
        self.text(content, color, most_hidden, |w, h| {
            let middle = (y - h / 2.0).min(bottom - h).max(top);
            let (right, left, above, below) = (x + OFF, x - OFF - w, y - OFF - h, y + OFF);
            let level = [right, left].map(|x| [x, middle]);
            let others = [above, below].into_iter().flat_map(|y| [x - w / 2.0, right, left].map(|x| [x, y]));
            level.into_iter().chain(others).collect()
        })
    }
}

fn meet(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::INK;

    #[test]
    fn texts_keep_off_each_other_and_hide_few_points() {
        let points = [[5.0, 55.0], [6.0, 55.0], [5.0, 85.0]];
        let mut places = FreePlaces::new(Rect { x: 0.0, y: 0.0, w: 200.0, h: 100.0 }, &points);
        let wanted = |_: f64, _: f64| vec![[190.0, 0.0], [0.0, 0.0], [0.0, 50.0], [0.0, 80.0]];
        let y = |shapes: &[Shape]| match shapes {
            [Shape::Rect { rect, .. }, Shape::Text(_)] => Some(rect.y),
            _ => None,
        };
        assert_eq!(y(&places.text("a", INK, 0, wanted)), Some(0.0), "the first place leaves the plot");
        assert!(places.text("b", INK, 0, wanted).is_empty(), "it would hide a point");
        assert_eq!(y(&places.text("b", INK, 9, wanted)), Some(80.0), "one point rather than two");
        places.take(Rect { x: 100.0, y: 50.0, w: 1.0, h: 1.0 });
        assert!(places.text("c", INK, 9, |_, _| vec![[98.0, 48.0]]).is_empty());
    }
}
