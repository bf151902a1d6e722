//! Scatter plots: every finite point is drawn once, labels are safe, odd data never panic.

use crate::support::{assert_sound, n_markers, n_pixels_near, pixels, texts};
use eigenlift_plot::{Color, PlotError, Scatter, scatter};

fn spread(n: usize) -> (Vec<f64>, Vec<f64>) {
    (0..n).map(|k| ((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos())).unzip()
}

fn labels(n: usize, n_classes: usize) -> Vec<String> {
    (0..n).map(|k| format!("class {}", k % n_classes)).collect()
}

#[test]
fn each_finite_point_has_one_marker() {
    let (mut x, mut y) = spread(500);
    x[3] = f64::NAN;
    y[3] = f64::NAN;
    y[77] = f64::INFINITY;
    for n_classes in [1, 7, 12] {
        let classes = labels(500, n_classes);
        let figure =
            scatter(&Scatter { x: &x, y: &y, color: Color::Classes(&classes), ..Scatter::default() })
                .unwrap();
        assert_eq!(n_markers(&figure.to_svg()), 498 + n_classes, "{n_classes} classes and their legend");
        assert!(texts(&figure.to_svg()).contains(&"2 points not finite, left out".to_owned()));
    }
    let values: Vec<f64> = (0..500).map(f64::from).collect();
    let color = Color::Values { name: "index", values: &values };
    let figure = scatter(&Scatter { x: &x, y: &y, color, ..Scatter::default() }).unwrap();
    assert_eq!(n_markers(&figure.to_svg()), 498);
}

#[test]
fn right_is_right_and_up_is_up() {
    let figure = scatter(&Scatter { x: &[0.0, 1.0], y: &[0.0, 1.0], ..Scatter::default() }).unwrap();
    let elements = crate::support::parse(&figure.to_svg());
    let path = elements.iter().find_map(|e| e.attribute("d").filter(|d| d.contains("h0"))).unwrap();
    let numbers = |marker: &str| -> Vec<f64> {
        marker.trim_end_matches("h0").split(' ').map(|v| v.parse().unwrap()).collect()
    };
    let places: Vec<Vec<f64>> = path.split('M').skip(1).map(numbers).collect();
    assert!(places[1][0] > places[0][0] + 200.0 && places[1][1] < places[0][1] - 200.0, "{places:?}");
}

#[test]
fn many_classes_become_other() {
    let (x, y) = spread(300);
    let classes = labels(300, 35);
    let figure =
        scatter(&Scatter { x: &x, y: &y, color: Color::Classes(&classes), ..Scatter::default() }).unwrap();
    assert_eq!(n_markers(&figure.to_svg()), 300 + 21);
    assert!(texts(&figure.to_svg()).contains(&"other (15)".to_owned()));
    assert_sound(&figure, 2.0);
}

#[test]
fn hostile_labels_are_only_text() {
    let hostile = "<script>&\"'</text>\u{0}\u{1b}]]>";
    let classes = vec![hostile.to_owned(), "plain".to_owned()];
    let figure = scatter(&Scatter {
        x: &[0.0, 1.0],
        y: &[0.0, 1.0],
        color: Color::Classes(&classes),
        title: hostile,
        x_label: hostile,
        y_label: hostile,
        equal_aspect: true,
    })
    .unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    assert!(!svg.contains("<script"));
    assert!(texts(&svg).iter().filter(|t| t.starts_with("<script>&\"'")).count() >= 3);
}

/// Points that fill a square evenly, in rows of 1000.
fn even(n: usize) -> (Vec<f64>, Vec<f64>) {
    let rows = n.div_ceil(1000) as f64;
    (0..n).map(|k| ((k % 1000) as f64 / 999.0, (k / 1000) as f64 / rows)).unzip()
}

#[test]
fn very_many_points_are_drawn_as_density() {
    let (x, y) = even(1_000_000);
    let svg = scatter(&Scatter { x: &x, y: &y, ..Scatter::default() }).unwrap().to_svg();
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    assert!(texts(&svg).contains(&"1 000 000 points, drawn as density".to_owned()));
    let (x, y) = even(100_000);
    let classes = labels(100_000, 20);
    let values: Vec<f64> = x.iter().map(|v| v * v).collect();
    for color in [Color::Classes(&classes), Color::Values { name: "v", values: &values }] {
        let figure = scatter(&Scatter { x: &x, y: &y, color, ..Scatter::default() }).unwrap();
        let svg = figure.to_svg();
        assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
        assert_sound(&figure, 2.0);
    }
    let few = scatter(&Scatter { x: &x[..20_000], y: &y[..20_000], ..Scatter::default() }).unwrap().to_svg();
    assert_eq!(n_markers(&few), 20_000, "up to here each point has its marker");
}

#[test]
fn the_darkest_cells_lie_where_points_are_densest() {
    let (mut x, mut y) = even(30_000);
    x.extend(vec![0.25; 5000]);
    y.extend(vec![0.5; 5000]);
    let figure = scatter(&Scatter { x: &x, y: &y, ..Scatter::default() }).unwrap();
    let pixmap = pixels(&figure, 2.0);
    // The last colour fills the one crowded cell and the end of the bar.
    let bar_left = 2 * figure.width() as usize * 3 / 4;
    let dark = pixmap.pixels().iter().enumerate().filter(|(_, p)| p.red() < 50 && p.blue() > 60);
    let columns: Vec<usize> = dark.map(|(k, _)| k % pixmap.width() as usize).collect();
    let in_plot: Vec<usize> = columns.into_iter().filter(|column| *column < bar_left).collect();
    assert!((4..=80).contains(&in_plot.len()), "{} pixels", in_plot.len());
    assert!(in_plot.iter().all(|c| c.abs_diff(in_plot[0]) <= 8), "one place: {in_plot:?}");
    assert!(texts(&figure.to_svg()).contains(&"points per cell".to_owned()));
}

#[test]
fn no_class_hides_another_in_a_crowd() {
    // Four of five points in every cell are of the first class, which would hide the other.
    let (x, y) = even(200_000);
    let classes: Vec<String> = (0..200_000).map(|k| if k % 5 == 0 { "b" } else { "a" }.to_owned()).collect();
    let figure =
        scatter(&Scatter { x: &x, y: &y, color: Color::Classes(&classes), ..Scatter::default() }).unwrap();
    let pixmap = pixels(&figure, 2.0);
    let near = |p: &&tiny_skia::PremultipliedColorU8, warm: bool| {
        let cold = p.blue() > p.red().saturating_add(40);
        if warm { p.red() > p.blue().saturating_add(40) } else { cold }
    };
    let [blue, orange] = [false, true].map(|warm| pixmap.pixels().iter().filter(|p| near(p, warm)).count());
    let share = orange as f64 / (blue + orange) as f64;
    // Cells of the class drawn later reach a little over the others: their area is up to 1.12² of a cell.
    assert!((0.19..0.2 * 1.12 * 1.12 + 0.01).contains(&share), "{share}");
}

#[test]
fn points_alone_in_their_cells_stay_where_they_are() {
    let (mut x, mut y) = even(30_000);
    x.push(50.0);
    y.push(50.0);
    let svg = scatter(&Scatter { x: &x, y: &y, ..Scatter::default() }).unwrap().to_svg();
    assert_eq!(n_markers(&svg), 1);
}

#[test]
fn odd_data_give_a_picture() {
    let nan = f64::NAN;
    let cases: [(&[f64], &[f64]); 9] = [
        (&[], &[]),
        (&[1.0], &[2.0]),
        (&[0.0], &[0.0]),
        (&[nan, nan], &[0.0, 1.0]),
        (&[3.0, 3.0, 3.0], &[1.0, 2.0, 3.0]),
        (&[1e308, -1e308], &[f64::MAX, f64::MIN]),
        (&[1e-320, 2e-320], &[1e-300, -1e-300]),
        (&[1e9, 1e9 + 1e-3], &[-1e9, -1e9 - 1.0]),
        (&[f64::INFINITY, 1.0], &[1.0, f64::NEG_INFINITY]),
    ];
    for (x, y) in cases {
        for equal_aspect in [false, true] {
            let base = Scatter { x, y, equal_aspect, title: "odd", ..Scatter::default() };
            let classes = labels(x.len(), 2);
            for color in [Color::None, Color::Classes(&classes), Color::Values { name: "y", values: y }] {
                assert_sound(&scatter(&Scatter { color, ..base }).unwrap(), 2.0);
            }
        }
    }
    assert!(texts(&scatter(&Scatter::default()).unwrap().to_svg()).contains(&"no points".to_owned()));
}

#[test]
fn pixels_have_the_colours_of_the_classes() {
    let classes = ["a", "b"].map(String::from);
    let color = Color::Classes(&classes);
    let figure = scatter(&Scatter { x: &[0.0, 1.0], y: &[0.0, 1.0], color, ..Scatter::default() }).unwrap();
    let pixmap = pixels(&figure, 2.0);
    assert!(n_pixels_near(&pixmap, [0x00, 0x72, 0xb2]) > 50, "blue of the legend");
    assert!(n_pixels_near(&pixmap, [0xe6, 0x9f, 0x00]) > 50, "orange of the legend");
    assert!(n_pixels_near(&pixmap, [0x22, 0x22, 0x22]) > 100, "ink of the labels");
    let small = figure.clone().with_png_scale(1.0);
    assert!(pixels(&small, 1.0).width() < pixmap.width());
}

#[test]
fn text_is_large_enough_for_a_column() {
    let (x, y) = spread(50);
    let classes = labels(50, 4);
    let input = Scatter {
        x: &x,
        y: &y,
        color: Color::Classes(&classes),
        title: "t",
        x_label: "x",
        y_label: "y",
        ..Scatter::default()
    };
    let figure = scatter(&input).unwrap();
    for element in crate::support::parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}

#[test]
fn wrong_lengths_and_formats_are_errors() {
    let error = scatter(&Scatter { x: &[1.0], y: &[], ..Scatter::default() }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "y has 0 entries; 1 are required, one for each of the x values. Pass slices of one length."
    );
    let color = Color::Classes(&[]);
    let error = scatter(&Scatter { x: &[1.0], y: &[1.0], color, ..Scatter::default() }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { what: "the classes", .. }));
    let figure = scatter(&Scatter::default()).unwrap();
    assert_eq!(
        figure.encode("jpeg").unwrap_err().to_string(),
        "cannot draw a \"jpeg\" file; known formats are svg, png. Choose one of these extensions."
    );
    assert!(figure.encode("SVG").unwrap().starts_with(b"<svg"));
    assert!(figure.encode(".png").unwrap().starts_with(b"\x89PNG"));
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(figure.clone().with_png_scale(scale).to_png(), Err(PlotError::ImageSize { .. })));
    }
}
