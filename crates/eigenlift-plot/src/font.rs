//! Text extents and outlines from the embedded Noto Sans.
//!
//! Letters are placed one after the other by their advance widths: no kerning, ligatures or right-to-left
//! order. A character the font lacks is drawn as a box.

use std::sync::OnceLock;

use tiny_skia::PathBuilder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Width of the box drawn for an unknown character, in units of the font size.
const BOX_ADVANCE: f64 = 0.6;
/// Viewers may show SVG text in another font; the widest usual one, DejaVu Sans, is about this much wider.
const WIDENING: f64 = 1.1;
/// Size of a subscript or superscript made from an ordinary digit.
const SCRIPT_SCALE: f64 = 0.62;

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(notosans::REGULAR_TTF, 0).ok()).as_ref()
}

/// A character on the page: lengths in units of the font size.
struct Glyph {
    id: Option<GlyphId>,
    scale: f64,
    rise: f64,
    advance: f64,
}

fn glyph(c: char) -> Glyph {
    let found = |c: char, scale: f64, rise: f64| {
        let face = face()?;
        let id = face.glyph_index(c)?;
        let advance = f64::from(face.glyph_hor_advance(id)?) / f64::from(face.units_per_em()) * scale;
        Some(Glyph { id: Some(id), scale, rise, advance })
    };
    found(c, 1.0, 0.0)
        .or_else(|| {
            let (base, rise) = script_base(c)?;
            found(base, SCRIPT_SCALE, rise)
        })
        .unwrap_or(Glyph { id: None, scale: 1.0, rise: 0.0, advance: BOX_ADVANCE })
}

/// The ordinary character and the rise that replace a subscript or superscript the font lacks.
fn script_base(c: char) -> Option<(char, f64)> {
    const BELOW: f64 = -0.14;
    const ABOVE: f64 = 0.34;
    let digit = |from: u32| char::from_digit(u32::from(c).checked_sub(from)?, 10);
    match c {
        '₀'..='₉' => Some((digit(0x2080)?, BELOW)),
        '₊' => Some(('+', BELOW)),
        '₋' => Some(('−', BELOW)),
        '⁰' | '⁴'..='⁹' => Some((digit(0x2070)?, ABOVE)),
        '⁺' => Some(('+', ABOVE)),
        '⁻' => Some(('−', ABOVE)),
        _ => None,
    }
}

/// The text with line breaks and tabs as spaces and without control and invisible format characters, some
/// of which XML forbids.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => None,
            '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fffe}' | '\u{ffff}' => None,
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect()
}

/// The width of a line of text in the embedded font.
pub(crate) fn exact_width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| glyph(c).advance).sum::<f64>() * size
}

/// The room to keep for a line of text.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    exact_width(text, size) * WIDENING
}

/// The widest of several texts; 0 without any.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, size: f64) -> f64 {
    texts.into_iter().map(|text| width(text, size)).fold(0.0, f64::max)
}

/// The text itself where it fits, else its beginning and an ellipsis.
pub(crate) fn truncated(text: &str, size: f64, limit: f64) -> String {
    let text = clean(text);
    let room = limit / (size * WIDENING);
    let room_before_ellipsis = room - glyph('…').advance;
    let (mut used, mut kept_bytes) = (0.0, 0);
    for (start, c) in text.char_indices() {
        used += glyph(c).advance;
        if used <= room_before_ellipsis {
            kept_bytes = start + c.len_utf8();
        }
        if used > room {
            let kept = text.get(..kept_bytes).unwrap_or_default().trim_end();
            return format!("{kept}…");
        }
    }
    text
}

/// Appends the outlines of a text whose baseline starts at the origin.
pub(crate) fn outline(text: &str, size: f64, path: &mut PathBuilder) {
    let mut x = 0.0;
    for c in text.chars() {
        let glyph = glyph(c);
        match (glyph.id, face()) {
            (Some(id), Some(face)) => {
                let scale = size * glyph.scale / f64::from(face.units_per_em());
                let mut pen = Pen { path, x, y: -glyph.rise * size, scale };
                let _ = face.outline_glyph(id, &mut pen); // None: a blank such as the space
            }
            _ => missing_box(x, size, path),
        }
        x += glyph.advance * size;
    }
}

/// A hollow rectangle: two outlines, of which the inner one runs backwards.
fn missing_box(x: f64, size: f64, path: &mut PathBuilder) {
    let (left, right, top) = (x + 0.08 * size, x + (BOX_ADVANCE - 0.08) * size, -0.7 * size);
    let line = 0.05 * size;
    let outer = [(left, 0.0), (right, 0.0), (right, top), (left, top)];
    let inner =
        [(left + line, -line), (left + line, top + line), (right - line, top + line), (right - line, -line)];
    for corners in [outer, inner] {
        for (k, (x, y)) in corners.into_iter().enumerate() {
            if k == 0 { path.move_to(x as f32, y as f32) } else { path.line_to(x as f32, y as f32) }
        }
        path.close();
    }
}

/// Places the outline of one glyph, whose y axis points upwards.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen<'_> {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + f64::from(x) * self.scale) as f32, (self.y - f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_grows_with_text_and_size() {
        assert_eq!(width("", 10.0), 0.0);
        assert!(width("WW", 10.0) > width("ii", 10.0));
        assert!((width("abc", 20.0) - 2.0 * width("abc", 10.0)).abs() < 1e-9);
    }

    #[test]
    fn letters_of_the_notation_have_outlines() {
        for c in "λ²−×…é₁₀₉⁻⁵ΣÄñŁЖ±".chars() {
            assert!(glyph(c).id.is_some(), "{c} is missing");
        }
        assert!(glyph('中').id.is_none());
        assert!(glyph('₁').advance < glyph('1').advance);
    }

    #[test]
    fn truncation_fits_and_keeps_short_text() {
        assert_eq!(truncated("short", 14.0, 100.0), "short");
        let long = "a very long label that does not fit".repeat(100);
        let cut = truncated(&long, 14.0, 100.0);
        assert!(cut.ends_with('…') && cut.starts_with("a very"), "{cut}");
        assert!(width(&cut, 14.0) <= 100.0);
        assert_eq!(truncated("word", 14.0, 0.0), "…");
    }

    #[test]
    fn clean_removes_what_xml_forbids() {
        assert_eq!(clean("a\u{0}b\nc\u{ffff}d\u{202e}e\u{1b}"), "ab cde");
    }
}
