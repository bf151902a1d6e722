//! What the tests of pictures share: a small XML reader, and pixels.

use eigenlift_plot::Figure;
use tiny_skia::Pixmap;

/// One start tag with its attributes as written.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// The text between the start tag and the next tag.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a document and panics where it is not well formed: tags that do not nest, attributes without
/// quotes or given twice, stray `<` or `&`, forbidden characters, more than one root.
pub(crate) fn parse(xml: &str) -> Vec<Element> {
    for c in xml.chars() {
        assert!(
            c == '\n' || c == '\t' || (c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}'),
            "character {c:?}"
        );
    }
    let (mut elements, mut open) = (Vec::<Element>::new(), Vec::<String>::new());
    let (mut rest, mut in_start) = (xml, false);
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        check_references(text);
        if open.is_empty() {
            assert!(text.trim().is_empty(), "text outside of the root: {text}");
        }
        if let Some(last) = elements.last_mut().filter(|_| in_start) {
            last.text.push_str(text);
        }
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "end tag");
            in_start = false;
            continue;
        }
        assert!(!open.is_empty() || elements.is_empty(), "one root");
        let (body, empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let element = parse_tag(body);
        in_start = !empty;
        if !empty {
            open.push(element.name.clone());
        }
        elements.push(element);
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    assert!(rest.trim().is_empty());
    elements
}

fn parse_tag(body: &str) -> Element {
    let (name, mut rest) = body.split_once(' ').unwrap_or((body, ""));
    assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()), "name {name:?}");
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.trim().is_empty() {
        let (key, tail) = rest.trim_start().split_once("=\"").expect("attribute with quotes");
        let (value, tail) = tail.split_once('"').expect("closing quote");
        assert!(key.chars().all(|c| c.is_ascii_alphabetic() || c == '-'), "key {key:?}");
        assert!(attributes.iter().all(|(k, _)| k != key), "{key} twice in {body}");
        check_references(value);
        attributes.push((key.to_owned(), value.to_owned()));
        rest = tail;
    }
    Element { name: name.to_owned(), attributes, text: String::new() }
}

fn check_references(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|known| text[at..].starts_with(known)), "stray & in {text:?}");
    }
}

/// The number of markers drawn, those of the legend included.
pub(crate) fn n_markers(svg: &str) -> usize {
    let paths = parse(svg).into_iter().filter(|e| e.attribute("class") == Some("markers"));
    paths.map(|e| e.attribute("d").unwrap_or_default().matches('M').count()).sum()
}

/// The texts of a picture, unescaped.
pub(crate) fn texts(svg: &str) -> Vec<String> {
    let unescaped = |s: &str| {
        let s = s.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
        s.replace("&amp;", "&")
    };
    parse(svg).iter().filter(|e| e.name == "text").map(|e| unescaped(&e.text)).collect()
}

/// The words shown beside the pointer, in the order of the shapes; the title of the figure is not among them.
pub(crate) fn tooltips(svg: &str) -> Vec<String> {
    let elements = parse(svg);
    let pairs = elements.iter().zip(elements.iter().skip(1));
    pairs.filter(|(a, b)| a.name == "g" && b.name == "title").map(|(_, title)| title.text.clone()).collect()
}

/// Decodes the PNG of a figure and checks its size.
pub(crate) fn pixels(figure: &Figure, scale: f64) -> Pixmap {
    let png = figure.to_png().expect("a picture");
    let pixmap = Pixmap::decode_png(&png).expect("a PNG");
    assert_eq!(f64::from(pixmap.width()), (figure.width() * scale).round());
    assert_eq!(f64::from(pixmap.height()), (figure.height() * scale).round());
    pixmap
}

/// Pixels within a distance of 12 in each channel of a colour.
pub(crate) fn n_pixels_near(pixmap: &Pixmap, rgb: [u8; 3]) -> usize {
    let near = |a: u8, b: u8| a.abs_diff(b) <= 12;
    let matches = |p: &&tiny_skia::PremultipliedColorU8| {
        near(p.red(), rgb[0]) && near(p.green(), rgb[1]) && near(p.blue(), rgb[2])
    };
    pixmap.pixels().iter().filter(matches).count()
}

/// Every picture must parse, decode, and not be blank.
pub(crate) fn assert_sound(figure: &Figure, scale: f64) {
    let svg = figure.to_svg();
    let elements = parse(&svg);
    assert_eq!(elements[0].name, "svg");
    for element in &elements {
        let known = ["svg", "g", "title", "rect", "path", "text"];
        assert!(known.contains(&element.name.as_str()), "{}", element.name);
        for (key, value) in &element.attributes {
            assert!(key != "href" && !key.starts_with("on"), "{key}");
            assert!(!value.contains("NaN") && !value.contains("inf"), "{key}={value}");
        }
    }
    let pixmap = pixels(figure, scale);
    let white = n_pixels_near(&pixmap, [255, 255, 255]);
    assert!(white < pixmap.pixels().len(), "blank");
}
