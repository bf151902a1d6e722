//! Graphs over points: edges join their points, marked edges are on top, odd input never panics.

use crate::support::{Element, assert_sound, n_markers, parse, texts};
use eigenlift_plot::{Color, GraphPicture, PlotError, graph_picture};

fn example() -> GraphPicture<'static> {
    GraphPicture {
        xy: (&[0.0, 4.0, 4.0, 0.0], &[0.0, 0.0, 3.0, 3.0]),
        edges: &[(0, 1), (1, 2), (2, 3)],
        marked: &[(0, 2)],
        marked_name: "bridges",
        names: ("isomap 1", "isomap 2"),
        title: "Graph",
        ..GraphPicture::default()
    }
}

/// The points of each part of a path.
fn parts(path: &Element) -> Vec<Vec<[f64; 2]>> {
    let pair = |pair: &str| {
        let text = pair.trim_end_matches("h0").trim_end_matches('Z');
        let numbers: Vec<f64> = text.split(' ').map(|v| v.parse().unwrap()).collect();
        [numbers[0], numbers[1]]
    };
    let path = path.attribute("d").unwrap();
    path.split('M').skip(1).map(|part| part.split('L').map(pair).collect()).collect()
}

fn is_thin(e: &Element) -> bool {
    e.name == "path" && e.attribute("stroke") == Some("#999999") && e.attribute("stroke-opacity").is_some()
}

fn is_points(e: &Element) -> bool {
    e.attribute("class") == Some("markers")
}

fn is_dashed(e: &Element) -> bool {
    e.attribute("stroke") == Some("#b84e00") && e.attribute("stroke-dasharray").is_some()
}

fn is_rings(e: &Element) -> bool {
    e.attribute("stroke") == Some("#b84e00") && e.attribute("stroke-dasharray").is_none()
}

fn only(elements: &[Element], is: fn(&Element) -> bool) -> (usize, Vec<Vec<[f64; 2]>>) {
    let at = elements.iter().position(is).expect("a path");
    (at, parts(&elements[at]))
}

#[test]
fn edges_join_their_points_and_lie_in_order() {
    let elements = parse(&graph_picture(&example()).unwrap().to_svg());
    let (below, edges) = only(&elements, is_thin);
    let (middle, points) = only(&elements, is_points);
    let (above, marked) = only(&elements, is_dashed);
    assert!(below < middle && middle < above, "{below} {middle} {above}");
    let points: Vec<[f64; 2]> = points.concat();
    assert_eq!(points.len(), 4);
    for (edge, (from, to)) in edges.iter().zip(example().edges) {
        assert_eq!(*edge, [points[*from as usize], points[*to as usize]]);
    }
    // One unit is as long in both directions: a triangle with sides 3, 4 and 5.
    let length = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let unit = length(points[0], points[1]) / 4.0;
    assert!((length(points[1], points[2]) - 3.0 * unit).abs() < 0.03);
    // The marked edge lies on the straight line between its ends, short of both by the radius of a ring.
    let [a, b] = [marked[0][0], marked[0][1]];
    let gaps = [length(points[0], a), length(b, points[2])];
    assert!((gaps[0] + length(a, b) + gaps[1] - 5.0 * unit).abs() < 0.05);
    let rings = only(&elements, is_rings).1;
    for ((ring, row), gap) in rings.iter().zip([0, 2]).zip(gaps) {
        assert!(ring.iter().all(|corner| (length(*corner, points[row]) - gap).abs() < 0.05), "{ring:?}");
    }
    assert_eq!(elements.iter().filter(|e| is_dashed(e)).count(), 2, "the edge and the legend");
}

#[test]
fn the_legend_is_there_when_something_is_marked() {
    let named = |input: &GraphPicture, name: &str| {
        texts(&graph_picture(input).unwrap().to_svg()).iter().any(|text| text == name)
    };
    assert!(named(&example(), "bridges"));
    assert!(!named(&GraphPicture { marked: &[], ..example() }, "bridges"));
    assert!(named(&GraphPicture { marked_name: "", ..example() }, "marked edges"));
    let classes = ["a", "b", "a", "b"].map(String::from);
    let colored = GraphPicture { color: Color::Classes(&classes), ..example() };
    assert!(["bridges", "a", "b"].iter().all(|name| named(&colored, name)));
    let color = Color::Values { name: "angle", values: &[1.0, 2.0, 3.0, 4.0] };
    assert!(named(&GraphPicture { color, ..example() }, "angle"));
}

#[test]
fn points_that_are_not_finite_take_their_edges_along() {
    let xy = (&[0.0, 4.0, f64::NAN, 0.0][..], &[0.0, 0.0, 3.0, 3.0][..]);
    let figure = graph_picture(&GraphPicture { xy, ..example() }).unwrap();
    let elements = parse(&figure.to_svg());
    assert_eq!(only(&elements, is_thin).1.len(), 1);
    assert_eq!(n_markers(&figure.to_svg()), 3);
    assert!(!elements.iter().any(is_dashed), "no marked edge, no legend");
    for note in [
        "1 point not finite, left out",
        "2 edges left out with their points",
        "1 marked edge left out with its point",
    ] {
        assert!(texts(&figure.to_svg()).iter().any(|text| text == note), "{note}");
    }
}

#[test]
fn edges_to_rows_that_do_not_exist_are_errors() {
    let error = graph_picture(&GraphPicture { edges: &[(0, 1), (4, 1)], ..example() }).unwrap_err();
    assert_eq!(error, PlotError::EdgeRow { what: "edge", edge: 2, row: 5, n_points: 4 });
    assert!(error.to_string().starts_with("edge 2 leads to row 5; there are 4 points"), "{error}");
    let error = graph_picture(&GraphPicture { marked: &[(0, u32::MAX)], ..example() }).unwrap_err();
    assert!(matches!(error, PlotError::EdgeRow { what: "marked edge", edge: 1, row: 4_294_967_296, .. }));
    let error = graph_picture(&GraphPicture { xy: (&[], &[]), ..example() }).unwrap_err();
    assert!(matches!(error, PlotError::EdgeRow { n_points: 0, .. }));
    let short = GraphPicture { xy: (&[1.0], &[]), edges: &[], marked: &[], ..example() };
    assert!(matches!(graph_picture(&short).unwrap_err(), PlotError::LengthMismatch { what: "y", .. }));
}

#[test]
fn very_many_edges_are_thinned_and_said_so() {
    let n = 2000_u32;
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..n).map(|k| (f64::from(k), 99.0 * (f64::from(k) * 1.3).cos())).unzip();
    let edges: Vec<(u32, u32)> = (0..100_000).map(|k| (k % n, (k % n + 1 + k / n).min(n - 1))).collect();
    let marked = &edges[..600];
    let figure = graph_picture(&GraphPicture { xy: (&x, &y), edges: &edges, marked, ..example() }).unwrap();
    assert_sound(&figure, 2.0);
    let elements = parse(&figure.to_svg());
    let n_drawn: usize = elements.iter().filter(|e| is_thin(e)).map(|e| parts(e).len()).sum();
    assert_eq!(n_drawn, 20_000);
    assert!(texts(&figure.to_svg()).contains(&"every 5th edge drawn".to_owned()));
    assert_eq!(only(&elements, is_dashed).1.len(), 600, "all marked edges");
    assert_eq!(only(&elements, is_rings).1.len(), 2, "rings in the legend alone");
    let figure = graph_picture(&GraphPicture { xy: (&x, &y), edges: &edges[..20_000], ..example() }).unwrap();
    assert!(!texts(&figure.to_svg()).iter().any(|text| text.contains("drawn")));
}

#[test]
fn odd_input_gives_a_picture() {
    let figure = graph_picture(&GraphPicture::default()).unwrap();
    assert!(texts(&figure.to_svg()).contains(&"no points".to_owned()));
    assert_sound(&figure, 2.0);
    for values in [[5.0, 5.0], [f64::MAX, f64::MIN], [0.0, 1e-320], [f64::NAN, f64::INFINITY], [1e300, 0.0]] {
        for edges in [&[][..], &[(0, 0)], &[(0, 1), (1, 0)]] {
            let xy = (&values[..], &values[..]);
            let input = GraphPicture { xy, edges, marked: edges, marked_name: "<&\"", ..example() };
            let figure = graph_picture(&input).unwrap();
            if edges.len() == 2 {
                assert_sound(&figure, 2.0);
            }
            assert!(!figure.to_svg().contains("NaN"));
        }
    }
    let one = GraphPicture { xy: (&[2.0], &[3.0]), edges: &[], marked: &[(0, 0)], ..example() };
    assert_sound(&graph_picture(&one).unwrap(), 2.0);
    let long = "a name that is much longer than the figure is wide ".repeat(3);
    assert_sound(&graph_picture(&GraphPicture { marked_name: &long, ..example() }).unwrap(), 2.0);
}

#[test]
fn text_is_large_enough_for_a_column() {
    let figure = graph_picture(&example()).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
