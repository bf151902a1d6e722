//! Pictures inside the page.

use crate::web::base64;

/// Elements that a picture of ours is made of.
const KNOWN: [&str; 12] =
    ["svg", "g", "title", "desc", "rect", "path", "text", "tspan", "circle", "line", "polyline", "image"];

/// A picture as HTML: inline, so that it zooms, when it holds nothing but shapes and text; otherwise as an
/// image, where browsers run and load nothing.
pub(super) fn picture(svg: &str) -> String {
    let inline = svg.find("<svg").and_then(|start| svg.get(start..)).map(str::trim_end);
    match inline {
        Some(inline) if inline.ends_with("</svg>") && only_shapes(inline) => inline.to_owned(),
        _ => {
            format!("<img alt=\"\" src=\"data:image/svg+xml;base64,{}\">", base64(svg.as_bytes()))
        }
    }
}

/// Whether every tag is known and carries neither a style, nor an event, nor an address outside the file, and
/// the last end tag is that of the first start tag.
fn only_shapes(svg: &str) -> bool {
    let mut depth = 0_usize;
    for (k, piece) in svg.split('<').skip(1).enumerate() {
        if k > 0 && depth == 0 {
            return false;
        }
        let Some(tag) = tag_of(piece) else { return false };
        let name = tag.trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if !KNOWN.contains(&name) || has_active_attribute(tag) {
            return false;
        }
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with('/') {
            depth += 1;
        }
    }
    depth == 0
}

/// The piece up to the `>` that ends its tag, which is not one inside quotes.
fn tag_of(piece: &str) -> Option<&str> {
    let mut quote = None;
    for (place, c) in piece.char_indices() {
        match (quote, c) {
            (None, '>') => return piece.get(..place),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// Whether the tag has an attribute that acts. A value that looks like one counts too; the picture is then
/// shown as an image.
fn has_active_attribute(tag: &str) -> bool {
    tag.split('=').zip(tag.split('=').skip(1)).any(|(before, value)| {
        let name = before.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        match name.to_ascii_lowercase().as_str() {
            "style" | "src" => true,
            "href" => !value.starts_with("data:image/png;"),
            name => name.starts_with("on"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_ours_stay_inline() {
        let svg = "<svg xmlns=\"x\" viewBox=\"0 0 2 2\"><title>gamma = 2, onerror=1</title>\n<svg x=\"1\"><rect width=\"2\"/></svg></svg>\n";
        assert_eq!(picture(svg), svg.trim_end());
        let declared = format!("<?xml version=\"1.0\"?>{svg}");
        assert_eq!(picture(&declared), svg.trim_end());
    }

    #[test]
    fn others_become_images() {
        let hostile = [
            "<svg><script>alert(1)</script></svg>",
            "<svg onload=\"alert(1)\"></svg>",
            "<svg></svg><b></b></svg>",
            "<svg><rect style=\"fill:red\"/></svg>",
            "<svg><image href=\"https://example.org/a.png\"/></svg>",
            "<svg><foreignObject></foreignObject></svg>",
            "<svg><rect x=\">\" onclick=\"a\"/></svg>",
            "not a picture",
            "<svg>",
        ];
        for svg in hostile {
            assert!(picture(svg).starts_with("<img "), "{svg}");
        }
    }
}
