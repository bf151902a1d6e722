//! Numbers of neighbours: what is drawn where, what is marked, and odd input.

use crate::support::{Element, assert_sound, parse, texts};
use eigenlift_plot::{DoctorPicture, PlotError, doctor};

fn example() -> DoctorPicture<'static> {
    DoctorPicture {
        neighbors: &[6, 7, 9, 13, 29],
        residual_variance: &[None, Some(0.3), Some(0.1), Some(0.1), Some(0.5)],
        components: &[8, 4, 1, 1, 1],
        mean_geodesic: &[None, Some(40.0), Some(39.0), Some(38.0), Some(19.0)],
        suspects: &[None, Some(0), Some(0), Some(0), Some(77)],
        recommended: 9,
        title: "How many neighbours",
    }
}

/// The figure coordinates of the lowest text with this content: the label of a tick of the shared axis.
fn place(svg: &str, content: &str) -> [f64; 2] {
    let at = |e: &Element| ["x", "y"].map(|key| e.attribute(key).unwrap().parse::<f64>().unwrap());
    let found = parse(svg).into_iter().filter(|e| e.name == "text" && e.text == content);
    found.map(|e| at(&e)).max_by(|a, b| a[1].total_cmp(&b[1])).unwrap_or_else(|| panic!("no text {content}"))
}

/// The points of the paths of a colour, each part of a path on its own.
fn lines(svg: &str, color: &str, dashed: bool) -> Vec<Vec<[f64; 2]>> {
    let paths = parse(svg).into_iter().filter(|e| {
        let is_markers = e.attribute("class") == Some("markers");
        let is_dashed = e.attribute("stroke-dasharray").is_some();
        e.name == "path" && !is_markers && e.attribute("stroke") == Some(color) && is_dashed == dashed
    });
    let pair = |pair: &str| {
        let numbers: Vec<f64> = pair.split(' ').map(|v| v.parse().unwrap()).collect();
        [numbers[0], numbers[1]]
    };
    let parts = |e: Element| -> Vec<Vec<[f64; 2]>> {
        let path = e.attribute("d").unwrap();
        path.split('M').skip(1).map(|part| part.split('L').map(pair).collect()).collect()
    };
    paths.flat_map(parts).collect()
}

#[test]
fn values_stand_above_their_numbers_of_neighbours() {
    let svg = doctor(&example()).unwrap().to_svg();
    let drawn = lines(&svg, "#0072b2", false);
    assert_eq!(drawn.len(), 2, "residual variance and mean distance");
    for line in &drawn {
        assert_eq!(line.len(), 4, "the missing value is a gap");
        for (point, label) in line.iter().zip(["7", "9", "13", "29"]) {
            assert!((point[0] - place(&svg, label)[0]).abs() < 0.02, "{label} at {point:?}");
        }
    }
    let y: Vec<f64> = drawn[0].iter().map(|point| point[1]).collect();
    // From 0.1 to 0.5 is twice as far as from 0.1 to 0.3.
    assert_eq!(y[1], y[2]);
    assert!((y[1] - y[3] - 2.0 * (y[1] - y[0])).abs() < 0.05, "{y:?}");
    assert!(drawn[0].iter().all(|p| p[1] < drawn[1][0][1]), "the panels are stacked");
    for name in [
        "residual variance",
        "mean distance along the graph",
        "suspected short circuits",
        "connected components",
        "number of neighbours k",
    ] {
        assert!(texts(&svg).iter().any(|text| text == name), "{name}");
    }
}

#[test]
fn a_line_through_all_panels_stands_at_the_recommended_number() {
    let svg = doctor(&example()).unwrap().to_svg();
    let upright = lines(&svg, "#222222", false);
    assert_eq!(upright.len(), 1);
    let [from, to] = [upright[0][0], upright[0][1]];
    let (tick, label) = (place(&svg, "9"), place(&svg, "recommended k = 9"));
    assert!((from[0] - tick[0]).abs() < 0.02 && from[0] == to[0]);
    assert!(from[1] > label[1] && from[1] < place(&svg, "residual variance")[1]);
    assert!(to[1] > place(&svg, "connected components")[1] + 40.0 && to[1] < tick[1]);
    let none = doctor(&DoctorPicture { recommended: 0, ..example() }).unwrap().to_svg();
    assert_eq!(lines(&none, "#222222", false).len(), 0);
    let untried = doctor(&DoctorPicture { recommended: 11, ..example() }).unwrap().to_svg();
    let x = ["9", "11", "13"].map(|label| place(&untried, label)[0]);
    assert!(x[0] < x[1] && x[1] < x[2], "{x:?}");
    assert!((lines(&untried, "#222222", false)[0][0][0] - x[1]).abs() < 0.02);
}

#[test]
fn a_drop_of_the_mean_distance_is_marked() {
    let svg = doctor(&example()).unwrap().to_svg();
    let dashed = lines(&svg, "#b84e00", true);
    assert_eq!(dashed.len(), 2, "the drop and its key");
    let line = &lines(&svg, "#0072b2", false)[1];
    assert!(dashed.contains(&line[2..].to_vec()), "{dashed:?} {line:?}");
    assert!(texts(&svg).contains(&"−50 %".to_owned()) && texts(&svg).contains(&"drop > 10 %".to_owned()));
    let level = [Some(40.0), Some(39.0), Some(38.0), Some(37.0), Some(39.0)];
    let svg = doctor(&DoctorPicture { mean_geodesic: &level, ..example() }).unwrap().to_svg();
    assert!(lines(&svg, "#b84e00", true).is_empty());
    assert!(!texts(&svg).contains(&"drop > 10 %".to_owned()));
}

#[test]
fn components_are_bars_and_suspects_are_numbers() {
    let svg = doctor(&example()).unwrap().to_svg();
    let bars: Vec<Element> = parse(&svg)
        .into_iter()
        .filter(|e| e.name == "rect" && e.attribute("fill") == Some("#0072b2"))
        .collect();
    let number = |e: &Element, key: &str| e.attribute(key).unwrap().parse::<f64>().unwrap();
    assert_eq!(bars.len(), 5);
    for ((bar, label), count) in bars.iter().zip(["6", "7", "9", "13", "29"]).zip(example().components) {
        let middle = number(bar, "x") + number(bar, "width") / 2.0;
        assert!((middle - place(&svg, label)[0]).abs() < 0.02, "{label}");
        let height = number(bar, "height");
        assert!(
            (height - number(&bars[0], "height") * *count as f64 / 8.0).abs() < 0.02,
            "{count}: {height}"
        );
    }
    let suspects = place(&svg, "77");
    assert!((suspects[0] - place(&svg, "29")[0]).abs() < 0.02);
    assert!(suspects[1] > place(&svg, "suspected short circuits")[1]);
    let unknown = doctor(&DoctorPicture { suspects: &[None; 5], ..example() }).unwrap().to_svg();
    assert!(!texts(&unknown).iter().any(|text| text.contains("suspected")));
}

#[test]
fn the_order_of_the_numbers_does_not_matter() {
    let turned = DoctorPicture {
        neighbors: &[29, 13, 9, 7, 6],
        residual_variance: &[Some(0.5), Some(0.1), Some(0.1), Some(0.3), None],
        components: &[1, 1, 1, 4, 8],
        mean_geodesic: &[Some(19.0), Some(38.0), Some(39.0), Some(40.0), None],
        suspects: &[Some(77), Some(0), Some(0), Some(0), None],
        ..example()
    };
    assert_eq!(doctor(&turned).unwrap(), doctor(&example()).unwrap());
}

#[test]
fn odd_input_gives_a_picture() {
    let empty = doctor(&DoctorPicture::default()).unwrap();
    assert_eq!(texts(&empty.to_svg()).iter().filter(|text| *text == "no values").count(), 3);
    assert_sound(&empty, 2.0);
    let values = [
        None,
        Some(0.0),
        Some(-1e-17),
        Some(f64::NAN),
        Some(f64::INFINITY),
        Some(f64::MAX),
        Some(1e-320),
        Some(3.0),
    ];
    for value in values {
        for count in [0, 1, usize::MAX] {
            for n in [1, 2, 7, 300] {
                let neighbors: Vec<usize> = (0..n).map(|k| if n == 7 { usize::MAX } else { k }).collect();
                let input = DoctorPicture {
                    neighbors: &neighbors,
                    residual_variance: &vec![value; n],
                    components: &vec![count; n],
                    mean_geodesic: &vec![value; n],
                    suspects: &vec![Some(count); n],
                    recommended: count,
                    title: "<&\"",
                };
                let figure = doctor(&input).unwrap();
                parse(&figure.to_svg());
                if n == 2 && count == 1 {
                    assert_sound(&figure, 2.0);
                }
            }
        }
    }
    let mixed = [Some(f64::MAX), Some(f64::MIN), None, Some(f64::NAN), Some(0.0)];
    let input = DoctorPicture { residual_variance: &mixed, mean_geodesic: &mixed, ..example() };
    let figure = doctor(&input).unwrap();
    assert_sound(&figure, 2.0);
    assert!(texts(&figure.to_svg()).contains(&"2 values not finite, left out".to_owned()));
}

#[test]
fn slices_of_other_lengths_are_errors() {
    let odd = [
        DoctorPicture { residual_variance: &[], ..example() },
        DoctorPicture { components: &[1], ..example() },
        DoctorPicture { mean_geodesic: &[None; 6], ..example() },
        DoctorPicture { suspects: &[None; 4], ..example() },
        DoctorPicture { neighbors: &[], ..example() },
    ];
    for input in odd {
        assert!(matches!(doctor(&input).unwrap_err(), PlotError::LengthMismatch { .. }), "{input:?}");
    }
}

#[test]
fn text_is_large_enough_for_a_column() {
    let figure = doctor(&example()).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
