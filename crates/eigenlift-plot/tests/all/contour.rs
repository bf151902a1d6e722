//! Contour panels: shading, lines, points, and odd grids.

use crate::support::{assert_sound, n_markers, n_pixels_near, parse, pixels, texts};
use eigenlift_plot::{ContourPanels, Panel, PlotError, contour_panels, contour_rows};

const N: usize = 30;
const ZERO_LINE_WIDTH: &str = "1.5";

fn panel(title: &str, f: impl Fn(f64, f64) -> f64) -> Panel {
    let at = |k: usize| 2.0 * k as f64 / (N - 1) as f64 - 1.0;
    Panel { title: title.to_owned(), values: (0..N * N).map(|k| f(at(k % N), at(k / N))).collect() }
}

fn input(panels: Vec<Panel>) -> ContourPanels<'static> {
    ContourPanels {
        panels,
        nx: N,
        ny: N,
        x_range: (-1.0, 1.0),
        y_range: (-1.0, 1.0),
        ..ContourPanels::default()
    }
}

/// The points of the zero lines of a picture.
fn zero_line(svg: &str) -> Vec<[f64; 2]> {
    let elements = parse(svg);
    let lines = elements.iter().filter(|e| e.attribute("stroke-width") == Some(ZERO_LINE_WIDTH));
    let coordinates = |d: &str| -> Vec<[f64; 2]> {
        let pairs = d.split(['M', 'L', 'Z']).filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| pair.split_once(' ').unwrap())
            .map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()])
            .collect()
    };
    lines.flat_map(|e| coordinates(e.attribute("d").unwrap())).collect()
}

#[test]
fn the_zero_line_lies_where_the_function_is_zero() {
    let svg = contour_panels(&input(vec![panel("x", |x, _| x - 0.2)])).unwrap().to_svg();
    let points = zero_line(&svg);
    assert!(points.len() >= 2);
    let frame =
        parse(&svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some()).unwrap();
    let [left, width]: [f64; 2] = ["x", "width"].map(|key| frame.attribute(key).unwrap().parse().unwrap());
    for [x, _] in points {
        assert!((x - (left + 0.6 * width)).abs() < 0.02, "{x} in {left} + {width}");
    }
}

#[test]
fn up_is_up() {
    let svg = contour_panels(&input(vec![panel("y", |_, y| y - 0.5)])).unwrap().to_svg();
    let frame =
        parse(&svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some()).unwrap();
    let [top, height]: [f64; 2] = ["y", "height"].map(|key| frame.attribute(key).unwrap().parse().unwrap());
    assert!(zero_line(&svg).iter().all(|[_, y]| (y - (top + 0.25 * height)).abs() < 0.02));
}

#[test]
fn every_panel_has_its_title_and_the_points() {
    let panels: Vec<Panel> =
        (1..=8).map(|k| panel(&format!("λ = {k}"), |x, y| (f64::from(k) * x).sin() + y)).collect();
    let (x, y) = (vec![0.0, 0.5, -0.5, f64::NAN, 3.0], vec![0.1, 0.2, 0.3, 0.4, 0.5]);
    let classes = ["a", "b", "a", "b", "b"].map(String::from);
    for columns in [0, 1, 2, 4, 100] {
        let input =
            ContourPanels { points: (&x, &y), classes: Some(&classes), columns, ..input(panels.clone()) };
        let figure = contour_panels(&input).unwrap();
        assert_sound(&figure, 3.0);
        let svg = figure.to_svg();
        // Each point has a halo under it; the legend has two markers.
        assert_eq!(n_markers(&svg), 8 * 3 * 2 + 2);
        let texts = texts(&svg);
        assert!((1..=8).all(|k| texts.contains(&format!("λ = {k}"))));
        assert!(texts.contains(&"2 points outside of the plot or not finite".to_owned()));
    }
}

#[test]
fn shading_shows_the_sign() {
    let figure = contour_panels(&input(vec![panel("x", |x, _| x)])).unwrap();
    let pixmap = pixels(&figure, 3.0);
    let svg = figure.to_svg();
    let frame =
        parse(&svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some()).unwrap();
    let [left, width]: [f64; 2] = ["x", "width"].map(|key| frame.attribute(key).unwrap().parse().unwrap());
    for x in [-0.93, -0.47, -0.29, 0.29, 0.47, 0.93] {
        let column = 3.0 * (left + width * (x + 1.0) / 2.0);
        let pixel = pixmap.pixel(column as u32, pixmap.height() / 2).unwrap();
        assert_eq!(pixel.red() > pixel.blue(), x > 0.0, "x = {x}: {pixel:?}");
    }
    assert!(n_pixels_near(&pixmap, [0x22, 0x22, 0x22]) > 500, "the zero line");
}

#[test]
fn odd_functions_give_a_picture() {
    let mut holes = panel("holes", |x, y| x * y);
    holes.values.iter_mut().step_by(7).for_each(|v| *v = f64::NAN);
    let panels = vec![
        panel("constant", |_, _| 3.0),
        panel("zero", |_, _| 0.0),
        panel("nan", |_, _| f64::NAN),
        panel("inf", |x, _| 1.0 / (x - x)),
        panel("spike", |x, y| if x == -1.0 && y == -1.0 { 1.0 } else { 0.0 }),
        panel("huge", |x, _| x * 1e308),
        panel("tiny", |x, _| x * 1e-310),
        panel("offset", |x, _| 1e12 + x),
        holes,
    ];
    let figure = contour_panels(&input(panels)).unwrap();
    assert_sound(&figure, 3.0);
    let texts = texts(&figure.to_svg());
    assert!(texts.iter().filter(|t| *t == "constant").count() >= 3, "{texts:?}");
    assert!(texts.contains(&"not finite".to_owned()));
}

#[test]
fn many_points_are_thinned() {
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..100_000).map(|k| ((k as f64).sin(), (k as f64 * 0.3).cos())).unzip();
    let input = ContourPanels { points: (&x, &y), ..input(vec![panel("x", |x, _| x); 8]) };
    let svg = contour_panels(&input).unwrap().to_svg();
    assert!(svg.len() < 6_000_000, "{} bytes", svg.len());
    assert!(texts(&svg).contains(&"1 of 25 points shown".to_owned()));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let one = || vec![panel("x", |x, _| x)];
    let error = contour_panels(&input(Vec::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "0 contour panels were given; between 1 and 64 are required. Choose fewer components per figure."
    );
    let wrong = ContourPanels { nx: 1, ..input(one()) };
    assert!(matches!(contour_panels(&wrong), Err(PlotError::GridSize { nx: 1, .. })));
    let wrong = ContourPanels { nx: usize::MAX, ny: usize::MAX, ..input(one()) };
    assert!(matches!(contour_panels(&wrong), Err(PlotError::GridSize { .. })));
    let wrong = ContourPanels { ny: N + 1, ..input(one()) };
    assert!(matches!(contour_panels(&wrong), Err(PlotError::LengthMismatch { required: 930, .. })));
    for x_range in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        let wrong = ContourPanels { x_range, ..input(one()) };
        assert!(matches!(contour_panels(&wrong), Err(PlotError::BadRange { what: "x_range", .. })));
    }
    let wrong = ContourPanels { points: (&[1.0], &[]), ..input(one()) };
    assert!(matches!(contour_panels(&wrong), Err(PlotError::LengthMismatch { .. })));
}

/// Where each text that begins with `start` stands.
fn places(svg: &str, start: &str) -> Vec<[f64; 2]> {
    let found = parse(svg).into_iter().filter(|e| e.name == "text" && e.text.starts_with(start));
    found.map(|e| ["x", "y"].map(|key| e.attribute(key).unwrap().parse().unwrap())).collect()
}

#[test]
fn headings_stand_above_their_panels() {
    let titled = |k: usize| panel(&format!("λ = {k}"), |x, y| x + k as f64 * y);
    let headings = ["linear".to_owned(), "rbf(gamma=10)".to_owned()];
    for (per_group, rows) in [(1, 1), (3, 1), (4, 1), (8, 2)] {
        let input = ContourPanels { title: "t", ..input((0..2 * per_group).map(titled).collect()) };
        let figure = contour_rows(&input, &headings).unwrap();
        if per_group == 3 {
            assert_sound(&figure, 3.0);
        }
        assert_eq!(figure.width(), 480.0, "readable in a column");
        let svg = figure.to_svg();
        let titles = places(&svg, "λ");
        assert_eq!(titles.len(), 2 * per_group);
        let (above, below) = titles.split_at(per_group);
        let [first, second] = ["linear", "rbf"].map(|heading| places(&svg, heading)[0][1]);
        assert!(above.iter().all(|at| at[1] > first + 10.0 && at[1] < second - 40.0), "{above:?}");
        assert!(below.iter().all(|at| at[1] > second + 10.0), "{below:?}");
        let mut lines: Vec<f64> = above.iter().map(|at| at[1]).collect();
        lines.dedup();
        assert_eq!(lines.len(), rows);
        assert_eq!(above[0][0], below[0][0], "columns are in line");
    }
    let uneven = input((0..5).map(titled).collect());
    let error = contour_rows(&uneven, &headings).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { found: 5, required: 6, .. }), "{error}");
    assert_eq!(contour_rows(&uneven, &[]).unwrap(), contour_panels(&uneven).unwrap());
}

#[test]
fn eight_panels_stay_small() {
    const FINE: usize = 80;
    let at = |k: usize| 6.0 * k as f64 / (FINE - 1) as f64 - 3.0;
    let wave = |j: usize| {
        (0..FINE * FINE).map(move |k| (at(k % FINE) * (j + 2) as f64 / 2.0).sin() * at(k / FINE).cos())
    };
    let panels = (0..8).map(|j| Panel { title: format!("λ = {j}"), values: wave(j).collect() }).collect();
    let svg = contour_panels(&ContourPanels { nx: FINE, ny: FINE, ..input(panels) }).unwrap().to_svg();
    assert!(svg.len() < 400_000, "{} bytes", svg.len());
}
