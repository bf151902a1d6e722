//! The PNG backend, over tiny-skia.

use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};

use crate::error::{PlotError, Result};
use crate::font;
use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Rgba, Run, Shape, Stroke, Text};

/// The most pixels on one side of an image.
const LIMIT_PIXELS: u32 = 16_384;

/// Draws the figure and encodes it as PNG.
pub(crate) fn write(figure: &Figure) -> Result<Vec<u8>> {
    let scale = figure.png_scale;
    let (width, height) = ((figure.width * scale).round(), (figure.height * scale).round());
    let size_error = PlotError::ImageSize { width, height, limit: LIMIT_PIXELS };
    let in_range = |side: f64| (1.0..=f64::from(LIMIT_PIXELS)).contains(&side);
    if !in_range(width) || !in_range(height) {
        return Err(size_error);
    }
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(size_error)?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas { pixmap, view: Transform::from_scale(scale as f32, scale as f32) };
    for shape in &figure.shapes {
        canvas.draw(shape, None);
    }
    canvas.pixmap.encode_png().map_err(|error| PlotError::Encode { reason: error.to_string() })
}

struct Canvas {
    pixmap: Pixmap,
    view: Transform,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape, mask: Option<&Mask>) {
        match shape {
            Shape::Rect { rect, fill, stroke } => {
                if let Some(path) = rectangle(rect) {
                    self.paint(&path, *fill, *stroke, mask);
                }
            }
            Shape::Path { lines, fill, stroke } => {
                if let Some(path) = polylines(lines) {
                    self.paint(&path, *fill, *stroke, mask);
                }
            }
            Shape::Markers { centers, marker, radius, color } => {
                if let Some(path) = marker_outline(*marker, *radius) {
                    self.markers(&path, centers, *color, mask);
                }
            }
            Shape::Runs { runs, height, color } => {
                let line = |run: &Run| Polyline {
                    points: vec![run.from, [run.from[0] + run.length, run.from[1]]],
                    closed: false,
                };
                let lines: Vec<Polyline> = runs.iter().map(line).collect();
                if let Some(path) = polylines(&lines) {
                    self.paint(&path, None, Some(Stroke::solid(*color, *height)), mask);
                }
            }
            Shape::Text(text) => self.text(text, mask),
            Shape::Clip { clip, shapes } => {
                let inner = self.clip_mask(clip);
                for shape in shapes {
                    self.draw(shape, inner.as_ref().or(mask));
                }
            }
            Shape::Titled { shapes, .. } => shapes.iter().for_each(|shape| self.draw(shape, mask)),
        }
    }

    fn paint(&mut self, path: &Path, fill: Option<Rgba>, stroke: Option<Stroke>, mask: Option<&Mask>) {
        if let Some(color) = fill {
            self.pixmap.fill_path(path, &solid(color), FillRule::EvenOdd, self.view, mask);
        }
        if let Some(stroke) = stroke {
            let look = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: if stroke.dashed { StrokeDash::new(vec![4.0, 3.0], 0.0) } else { None },
                ..tiny_skia::Stroke::default()
            };
            self.pixmap.stroke_path(path, &solid(stroke.color), &look, self.view, mask);
        }
    }

    fn markers(&mut self, path: &Path, centers: &[[f64; 2]], color: Rgba, mask: Option<&Mask>) {
        let paint = solid(color);
        for [x, y] in centers {
            let place = self.view.pre_translate(*x as f32, *y as f32);
            self.pixmap.fill_path(path, &paint, FillRule::Winding, place, mask);
        }
    }

    fn text(&mut self, text: &Text, mask: Option<&Mask>) {
        let mut outline = PathBuilder::new();
        font::outline(&text.content, text.size, &mut outline);
        let Some(path) = outline.finish() else { return };
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        } * font::exact_width(&text.content, text.size);
        let place = self
            .view
            .pre_translate(text.at[0] as f32, text.at[1] as f32)
            .pre_concat(Transform::from_rotate(text.degrees as f32))
            .pre_translate(-back as f32, 0.0);
        self.pixmap.fill_path(&path, &solid(text.color), FillRule::Winding, place, mask);
    }

    fn clip_mask(&self, clip: &Rect) -> Option<Mask> {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        mask.fill_path(&rectangle(clip)?, FillRule::Winding, true, self.view);
        Some(mask)
    }
}

fn solid(color: Rgba) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [r, g, b] = color.rgb;
    paint.set_color_rgba8(r, g, b, (color.alpha.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

fn rectangle(rect: &Rect) -> Option<Path> {
    let [x, y, w, h] = [rect.x, rect.y, rect.w, rect.h].map(|v| v as f32);
    Some(PathBuilder::from_rect(tiny_skia::Rect::from_xywh(x, y, w, h)?))
}

fn polylines(lines: &[Polyline]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (k, [x, y]) in line.points.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if line.closed {
            path.close();
        }
    }
    path.finish()
}

/// The outline of a marker at the origin; the same proportions as in SVG.
fn marker_outline(marker: Marker, radius: f64) -> Option<Path> {
    let r = radius as f32;
    match marker {
        Marker::Circle => PathBuilder::from_circle(0.0, 0.0, r),
        Marker::Square => tiny_skia::Rect::from_xywh(-r, -r, 2.0 * r, 2.0 * r).map(PathBuilder::from_rect),
        Marker::Triangle => {
            let mut path = PathBuilder::new();
            path.move_to(0.0, -1.2 * r);
            path.line_to(1.1 * r, 0.7 * r);
            path.line_to(-1.1 * r, 0.7 * r);
            path.close();
            path.finish()
        }
    }
}
