//! The SVG backend.
//!
//! Coordinates have two decimals. Markers of one look are one path: a dot is a line of length zero with
//! round caps, which takes about 15 bytes. Clipping is a nested `svg` element, so no identifiers are
//! needed and several figures can stand in one page.

use crate::scene::{Anchor, Figure, Marker, Polyline, Rect, Rgba, Shape, Stroke, Text};

const FONTS: &str = "'Noto Sans','DejaVu Sans','Helvetica Neue',Helvetica,Arial,sans-serif";

/// Writes the figure as one SVG document.
pub(crate) fn write(figure: &Figure) -> String {
    let (w, h) = (number(figure.width), number(figure.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         role=\"img\" font-family=\"{FONTS}\">\n"
    );
    if !figure.title.is_empty() {
        out.push_str(&format!("<title>{}</title>\n", escaped(&figure.title)));
    }
    out.push_str(&format!("<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"));
    for shape in &figure.shapes {
        write_shape(&mut out, shape);
    }
    out.push_str("</svg>\n");
    out
}

fn write_shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Rect { rect, fill, stroke } => {
            out.push_str(&format!("<rect {}{}/>\n", place(rect), paint(*fill, *stroke)));
        }
        Shape::Path { lines, fill, stroke } => {
            let rule = if fill.is_some() { " fill-rule=\"evenodd\"" } else { "" };
            out.push_str("<path d=\"");
            lines.iter().for_each(|line| write_polyline(out, line));
            out.push_str(&format!("\"{}{rule}/>\n", paint(*fill, *stroke)));
        }
        Shape::Markers { centers, marker, radius, color } => {
            write_markers(out, centers, *marker, *radius, *color);
        }
        Shape::Runs { runs, height, color } => {
            out.push_str("<path d=\"");
            for run in runs {
                push_pair(out, 'M', run.from[0], run.from[1]);
                out.extend(["h", &number(run.length)]);
            }
            out.push_str(&format!("\"{}/>\n", paint(None, Some(Stroke::solid(*color, *height)))));
        }
        Shape::Text(text) => write_text(out, text),
        Shape::Clip { clip, shapes } => {
            let view = [clip.x, clip.y, clip.w, clip.h].map(number).join(" ");
            out.push_str(&format!("<svg {} viewBox=\"{view}\" overflow=\"hidden\">\n", place(clip)));
            shapes.iter().for_each(|shape| write_shape(out, shape));
            out.push_str("</svg>\n");
        }
        Shape::Titled { title, shapes } => {
            out.push_str(&format!("<g><title>{}</title>\n", escaped(title)));
            shapes.iter().for_each(|shape| write_shape(out, shape));
            out.push_str("</g>\n");
        }
    }
}

fn place(rect: &Rect) -> String {
    let [x, y, w, h] = [rect.x, rect.y, rect.w, rect.h].map(number);
    format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"")
}

fn write_polyline(out: &mut String, line: &Polyline) {
    for (k, [x, y]) in line.points.iter().enumerate() {
        push_pair(out, if k == 0 { 'M' } else { 'L' }, *x, *y);
    }
    if line.closed && !line.points.is_empty() {
        out.push('Z');
    }
}

/// One path for all markers; each starts with the only `M` it has.
fn write_markers(out: &mut String, centers: &[[f64; 2]], marker: Marker, radius: f64, color: Rgba) {
    if centers.is_empty() {
        return;
    }
    let r = radius;
    let (from, rest) = match marker {
        Marker::Circle => ([0.0, 0.0], "h0".to_owned()),
        Marker::Square => {
            ([-r, -r], format!("h{}v{}h{}z", number(2.0 * r), number(2.0 * r), number(-2.0 * r)))
        }
        Marker::Triangle => {
            let [side, height] = [1.1 * r, 1.9 * r].map(number);
            ([0.0, -1.2 * r], format!("l{side} {height}h{}z", number(-2.2 * r)))
        }
    };
    out.push_str("<path class=\"markers\" d=\"");
    for [x, y] in centers {
        push_pair(out, 'M', x + from[0], y + from[1]);
        out.push_str(&rest);
    }
    let look = match marker {
        Marker::Circle => {
            let stroke = Stroke::solid(color, 2.0 * r);
            format!("\"{} stroke-linecap=\"round\"/>\n", paint(None, Some(stroke)))
        }
        Marker::Square | Marker::Triangle => format!("\"{}/>\n", paint(Some(color), None)),
    };
    out.push_str(&look);
}

fn write_text(out: &mut String, text: &Text) {
    if text.content.is_empty() {
        return;
    }
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let [x, y] = text.at.map(number);
    let turn = if text.degrees == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({} {x} {y})\"", number(text.degrees))
    };
    out.push_str(&format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"{}{turn}>{}</text>\n",
        number(text.size),
        paint(Some(text.color), None),
        escaped(&text.content),
    ));
}

fn paint(fill: Option<Rgba>, stroke: Option<Stroke>) -> String {
    let mut out = match fill {
        None => " fill=\"none\"".to_owned(),
        Some(color) => color_attribute("fill", color),
    };
    if let Some(stroke) = stroke {
        out.push_str(&color_attribute("stroke", stroke.color));
        out.push_str(&format!(" stroke-width=\"{}\" stroke-linejoin=\"round\"", number(stroke.width)));
        if stroke.dashed {
            out.push_str(" stroke-dasharray=\"4 3\"");
        }
    }
    out
}

fn color_attribute(name: &str, color: Rgba) -> String {
    let [r, g, b] = color.rgb;
    let mut out = format!(" {name}=\"#{r:02x}{g:02x}{b:02x}\"");
    if color.alpha < 1.0 {
        out.push_str(&format!(" {name}-opacity=\"{}\"", number(color.alpha)));
    }
    out
}

/// A command and two coordinates; a minus sign separates as well as a space.
fn push_pair(out: &mut String, command: char, x: f64, y: f64) {
    let (x, y) = (number(x), number(y));
    out.push(command);
    let gap = if y.starts_with('-') { "" } else { " " };
    out.extend([x.as_str(), gap, &y]);
}

/// At most two decimals, without trailing zeros; a number that is not finite becomes 0.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let mut text = format!("{value:.2}");
    let kept = text.trim_end_matches('0').trim_end_matches('.').len();
    text.truncate(kept);
    if text == "-0" { "0".to_owned() } else { text }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, -0.001, 2.345678, -10.5, f64::NAN].map(number), ["1", "0", "2.35", "-10.5", "0"]);
        assert_eq!(number(100.0), "100");
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(escaped("<a b='c'>&\""), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;");
    }
}
