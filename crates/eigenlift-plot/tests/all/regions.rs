//! Regions of predicted classes.

use crate::support::{assert_sound, n_markers, parse, pixels, texts};
use eigenlift_plot::{PlotError, RegionsPicture, regions};

fn names(n: usize) -> Vec<String> {
    (0..n).map(|k| format!("class {k}")).collect()
}

/// Three vertical stripes of a unit square.
fn stripes(n: usize) -> Vec<u32> {
    (0..n * n).map(|k| ((k % n) * 3 / n) as u32).collect()
}

#[test]
fn each_class_has_its_colour_where_it_is_predicted() {
    const N: usize = 61;
    let (grid, names) = (stripes(N), names(3));
    let figure = regions(&RegionsPicture {
        grid: &grid,
        nx: N,
        ny: N,
        x_range: (0.0, 3.0),
        y_range: (0.0, 1.0),
        class_names: &names,
        ..RegionsPicture::default()
    })
    .unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let frame =
        parse(&svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some()).unwrap();
    let [left, top, width, height]: [f64; 4] =
        ["x", "y", "width", "height"].map(|key| frame.attribute(key).unwrap().parse().unwrap());
    let pixmap = pixels(&figure, 2.0);
    // 28 % of the colours of the classes on white.
    for (k, color) in [[0xb8, 0xd8, 0xe9], [0xf8, 0xe4, 0xb8], [0xb8, 0xe4, 0xd8]].into_iter().enumerate() {
        for share in [0.1, 0.5, 0.9] {
            let (x, y) = (left + width * (k as f64 + share) / 3.0, top + 0.4 * height);
            let found = pixmap.pixel((2.0 * x) as u32, (2.0 * y) as u32).unwrap();
            let found = [found.red(), found.green(), found.blue()];
            assert!(found.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 2), "{k} {share}: {found:x?}");
        }
    }
    let legend: Vec<String> = texts(&svg).into_iter().filter(|text| text.starts_with("class")).collect();
    assert_eq!(legend, names);
}

#[test]
fn up_is_up_and_points_have_the_colours_of_their_classes() {
    // Class 1 in the upper half.
    let grid: Vec<u32> = (0..400).map(|k| u32::from(k >= 200)).collect();
    let names = names(2);
    let labels = ["class 1", "class 0", "new"].map(String::from);
    let base = RegionsPicture {
        grid: &grid,
        nx: 20,
        ny: 20,
        x_range: (0.0, 1.0),
        y_range: (0.0, 1.0),
        class_names: &names,
        points: (&[0.2, 0.5, 0.9], &[0.9, 0.1, 0.5]),
        labels: Some(&labels),
        ..RegionsPicture::default()
    };
    let svg = regions(&base).unwrap().to_svg();
    let upper = parse(&svg).into_iter().find(|e| e.attribute("fill") == Some("#f8e4b8")).unwrap();
    let y = |pair: &str| pair.split_once(' ').map(|(_, y)| y.parse::<f64>().unwrap());
    let lowest = upper.attribute("d").unwrap().split(['M', 'L', 'Z']).filter_map(y).fold(0.0, f64::max);
    let frame =
        parse(&svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some()).unwrap();
    let [top, height]: [f64; 2] = ["y", "height"].map(|key| frame.attribute(key).unwrap().parse().unwrap());
    assert!((lowest - top - 0.5 * height).abs() < 0.02, "{lowest} in {top} + {height}");
    // Three points with their grounds; two classes and "other" in the legend.
    assert_eq!(n_markers(&svg), 6 + 3);
    assert!(texts(&svg).contains(&"other".to_owned()));
    let plain = regions(&RegionsPicture { labels: None, ..base }).unwrap().to_svg();
    assert_eq!(n_markers(&plain), 6 + 2);
}

#[test]
fn classes_that_repeat_with_the_rows_are_all_shown() {
    let grid = stripes(30);
    let names = names(5);
    let n = 100_000;
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..n).map(|k| (f64::from(k % 5) / 4.0, f64::from(k % 7) / 6.0)).unzip();
    let labels: Vec<String> = (0..n).map(|k| format!("class {}", k % 5)).collect();
    let svg = regions(&RegionsPicture {
        grid: &grid,
        nx: 30,
        ny: 30,
        x_range: (0.0, 1.0),
        y_range: (0.0, 1.0),
        class_names: &names,
        points: (&x, &y),
        labels: Some(&labels),
        ..RegionsPicture::default()
    })
    .unwrap()
    .to_svg();
    assert!(texts(&svg).contains(&"1 of 25 points shown".to_owned()));
    let counts: Vec<usize> = parse(&svg)
        .iter()
        .filter(|e| e.attribute("class") == Some("markers"))
        .map(|e| e.attribute("d").unwrap().matches('M').count())
        .filter(|count| *count > 1)
        .collect();
    // The grounds, then each class: 800 of each, up to the rounding of an evenly spread sequence.
    assert_eq!(counts.len(), 6);
    assert!(counts[1..].iter().all(|count| count.abs_diff(800) < 20), "{counts:?}");
}

#[test]
fn odd_regions_give_a_picture_or_an_error() {
    let hostile = vec!["<script>&\"'</text>\u{0}".to_owned(); 30];
    let grid: Vec<u32> = (0..36).map(|k| k % 30).collect();
    let base = RegionsPicture {
        grid: &grid,
        nx: 6,
        ny: 6,
        x_range: (-1e9, 1e9),
        y_range: (1.0, 1.001),
        class_names: &hostile,
        points: (&[f64::NAN, 0.0], &[1.0, 9.0]),
        labels: Some(&hostile[..2]),
        title: "<&>",
        x_label: "<x>",
        y_label: "&y",
    };
    assert_sound(&regions(&base).unwrap(), 2.0);
    assert!(matches!(regions(&RegionsPicture { nx: 1, ..base }), Err(PlotError::GridSize { nx: 1, .. })));
    assert!(matches!(regions(&RegionsPicture { nx: 5, ..base }), Err(PlotError::LengthMismatch { .. })));
    assert!(regions(&RegionsPicture { x_range: (1.0, 1.0), ..base }).is_err());
    assert!(regions(&RegionsPicture { y_range: (f64::NAN, 1.0), ..base }).is_err());
    assert!(regions(&RegionsPicture { points: (&[1.0], &[]), ..base }).is_err());
    assert!(regions(&RegionsPicture { labels: Some(&[]), ..base }).is_err());
    let error = regions(&RegionsPicture { class_names: &hostile[..4], ..base }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a node of the grid has class 4; 4 class names were given, counted from 0. Pass a name for every class of the grid."
    );
}
