//! The scene: the few shapes every picture is made of, and the finished [`Figure`].
//!
//! Coordinates are in figure units with y downwards; one unit is one CSS pixel in SVG.

use crate::error::{PlotError, Result};
use crate::{font, raster, svg};

/// File extensions that [`Figure::encode`] can write.
pub const FORMATS: [&str; 2] = ["svg", "png"];

/// A colour with an opacity from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rgba {
    pub(crate) rgb: [u8; 3],
    pub(crate) alpha: f64,
}

impl Rgba {
    /// An opaque colour from 0xRRGGBB.
    pub(crate) const fn hex(code: u32) -> Self {
        let [_, r, g, b] = code.to_be_bytes();
        Rgba { rgb: [r, g, b], alpha: 1.0 }
    }

    pub(crate) fn with_alpha(self, alpha: f64) -> Self {
        Rgba { alpha, ..self }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Rgba,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

impl Stroke {
    pub(crate) fn solid(color: Rgba, width: f64) -> Self {
        Stroke { color, width, dashed: false }
    }
}

/// An axis-parallel rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) h: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.w
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.h
    }
}

/// A chain of straight lines.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Polyline {
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) closed: bool,
}

/// A level bar: the middle of its left end, and its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    pub(crate) from: [f64; 2],
    pub(crate) length: f64,
}

/// The outline of a data point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
}

/// Which part of a text lies at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text; `at` is on the baseline, `degrees` turns clockwise around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) content: String,
    pub(crate) at: [f64; 2],
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) degrees: f64,
    pub(crate) color: Rgba,
}

/// One shape of the scene.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Rect {
        rect: Rect,
        fill: Option<Rgba>,
        stroke: Option<Stroke>,
    },
    /// Lines, or areas filled by the even-odd rule.
    Path {
        lines: Vec<Polyline>,
        fill: Option<Rgba>,
        stroke: Option<Stroke>,
    },
    /// Many markers of one look; `radius` is half the width of the marker.
    Markers {
        centers: Vec<[f64; 2]>,
        marker: Marker,
        radius: f64,
        color: Rgba,
    },
    /// Level bars of one colour and height.
    Runs {
        runs: Vec<Run>,
        height: f64,
        color: Rgba,
    },
    Text(Text),
    /// Shapes of which only the part inside `clip` is shown.
    Clip {
        clip: Rect,
        shapes: Vec<Shape>,
    },
    /// Shapes with words that SVG shows beside the pointer; PNG shows the shapes alone.
    Titled {
        title: String,
        shapes: Vec<Shape>,
    },
}

impl Shape {
    /// A straight line.
    pub(crate) fn line(from: [f64; 2], to: [f64; 2], stroke: Stroke) -> Self {
        let line = Polyline { points: vec![from, to], closed: false };
        Shape::Path { lines: vec![line], fill: None, stroke: Some(stroke) }
    }

    /// Horizontal text, freed of characters that cannot be drawn.
    pub(crate) fn text(content: &str, at: [f64; 2], size: f64, anchor: Anchor, color: Rgba) -> Self {
        Shape::Text(Text { content: font::clean(content), at, size, anchor, degrees: 0.0, color })
    }

    /// Words beside the pointer, one line each, over an area that is not seen.
    pub(crate) fn tooltip(lines: &[String], area: Rect) -> Self {
        let title = lines.iter().map(|line| font::clean(line)).collect::<Vec<_>>().join("\n");
        // Why a fill that is not seen: an area without a fill does not notice the pointer.
        let area = Shape::Rect { rect: area, fill: Some(Rgba::hex(0xffffff).with_alpha(0.0)), stroke: None };
        Shape::Titled { title, shapes: vec![area] }
    }

    /// Text turned by a quarter to read upwards, centred at `at`.
    pub(crate) fn upward_text(content: &str, at: [f64; 2], size: f64, color: Rgba) -> Self {
        let content = font::clean(content);
        Shape::Text(Text { content, at, size, anchor: Anchor::Middle, degrees: -90.0, color })
    }
}

/// A finished picture, ready to be written as SVG or PNG.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) png_scale: f64,
    pub(crate) title: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Figure {
    pub(crate) fn new(width: f64, height: f64, title: &str, shapes: Vec<Shape>) -> Self {
        Figure { width, height: height.ceil(), png_scale: 2.0, title: font::clean(title), shapes }
    }

    /// The width in figure units (CSS pixels).
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height in figure units (CSS pixels).
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The same figure with another number of PNG pixels per figure unit; the default is 2, and 3 for
    /// contour panels.
    pub fn with_png_scale(self, scale: f64) -> Self {
        Figure { png_scale: scale, ..self }
    }

    /// The picture as an SVG document without scripts, identifiers or external references, so that it can
    /// also be placed inside a page.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// [`PlotError::ImageSize`] when the scale leaves no pixels or too many; [`PlotError::Encode`] when the
    /// encoder fails.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        raster::write(self)
    }

    /// The picture as a file with this extension (one of [`FORMATS`], in any case, with or without a dot).
    ///
    /// # Errors
    /// [`PlotError::UnknownFormat`] for another extension, and the errors of [`Figure::to_png`].
    pub fn encode(&self, extension: &str) -> Result<Vec<u8>> {
        match extension.trim_start_matches('.').to_ascii_lowercase().as_str() {
            "svg" => Ok(self.to_svg().into_bytes()),
            "png" => self.to_png(),
            _ => Err(PlotError::UnknownFormat { found: extension.to_owned() }),
        }
    }
}
