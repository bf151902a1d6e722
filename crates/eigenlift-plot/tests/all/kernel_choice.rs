//! Bandwidth and number of components: what is drawn where, what is marked, and odd input.

use crate::support::{Element, assert_sound, parse, texts};
use eigenlift_plot::{ChoiceCurve, KernelChoicePicture, PlotError, kernel_choice};

const CURVES: &[ChoiceCurve] = &[
    ChoiceCurve {
        label: "γ = 2", bandwidth: 2.0, points: &[(1, 80.0, 2.0), (4, 40.0, 2.0), (2, 20.0, 1.0)]
    },
    ChoiceCurve {
        label: "γ = 0.5",
        bandwidth: 0.5,
        points: &[(1, 40.0, 2.0), (2, 10.0, 1.0), (4, 10.5, 1.0)],
    },
];

fn example() -> KernelChoicePicture<'static> {
    KernelChoicePicture {
        curves: CURVES,
        chosen: (1, 1),
        near: &[(1, 2)],
        baseline: Some(70.0),
        criterion: "masked error",
        higher_is_better: false,
        title: "Which γ and k",
    }
}

fn place(svg: &str, content: &str) -> [f64; 2] {
    let at = |e: &Element| ["x", "y"].map(|key| e.attribute(key).unwrap().parse::<f64>().unwrap());
    let found = parse(svg).into_iter().filter(|e| e.name == "text" && e.text == content);
    found.map(|e| at(&e)).max_by(|a, b| a[1].total_cmp(&b[1])).unwrap_or_else(|| panic!("no text {content}"))
}

fn points(path: &str) -> Vec<[f64; 2]> {
    let pair = |pair: &str| {
        let numbers: Vec<f64> = pair.trim_end_matches('Z').split(' ').map(|v| v.parse().unwrap()).collect();
        [numbers[0], numbers[1]]
    };
    path.split(['M', 'L']).filter(|part| !part.is_empty()).map(pair).collect()
}

/// The lines through data, each with its points.
fn lines(svg: &str) -> Vec<Vec<[f64; 2]>> {
    let is_line = |e: &Element| {
        e.name == "path" && e.attribute("class").is_none() && e.attribute("stroke-width") == Some("1.8")
    };
    let all = parse(svg).into_iter().filter(is_line).map(|e| points(e.attribute("d").unwrap()));
    all.filter(|points| points.len() > 2).collect()
}

/// The closed lines in ink, and the middle of each.
fn marks(svg: &str) -> Vec<(usize, [f64; 2])> {
    let closed = |e: &Element| {
        e.name == "path"
            && e.attribute("stroke") == Some("#222222")
            && e.attribute("d").unwrap().ends_with('Z')
    };
    let middle = |points: Vec<[f64; 2]>| {
        let n = points.len() as f64;
        (points.len(), [0, 1].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / n))
    };
    parse(svg).into_iter().filter(closed).map(|e| middle(points(e.attribute("d").unwrap()))).collect()
}

fn near(a: [f64; 2], b: [f64; 2]) -> bool {
    (a[0] - b[0]).abs() < 0.05 && (a[1] - b[1]).abs() < 0.05
}

#[test]
fn lines_are_over_log_k_and_log_error() {
    let figure = kernel_choice(&example()).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let lines = lines(&svg);
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3], "by bandwidth");
    for line in &lines {
        for (point, k) in line.iter().zip(["1", "2", "4"]) {
            assert!((point[0] - place(&svg, k)[0]).abs() < 0.02, "{k} at {point:?}");
        }
        let steps = [line[1][0] - line[0][0], line[2][0] - line[1][0]];
        assert!((steps[0] - steps[1]).abs() < 0.03, "k doubles: {steps:?}");
    }
    // 80 → 20 and 40 → 10 are both two halvings, 20 → 40 is one doubling.
    let fall = lines[1][1][1] - lines[1][0][1];
    assert!((lines[0][1][1] - lines[0][0][1] - fall).abs() < 0.05);
    assert!((lines[1][1][1] - lines[1][2][1] - fall / 2.0).abs() < 0.05);
    for text in ["γ = 2", "γ = 0.5", "column mean", "± s.e.", "bandwidth", "chosen: γ = 0.5, k = 2"] {
        assert!(texts(&svg).contains(&text.to_owned()), "{text}");
    }
    assert_eq!(texts(&svg).iter().filter(|t| *t == "masked error").count(), 2);
}

#[test]
fn the_chosen_point_and_those_near_are_marked() {
    let svg = kernel_choice(&example()).unwrap().to_svg();
    let (lines, marks) = (lines(&svg), marks(&svg));
    let of = |n_corners: usize| marks.iter().filter(move |(n, _)| *n == n_corners).map(|(_, at)| *at);
    let (rings, frames): (Vec<_>, Vec<_>) = (of(24).collect(), of(4).collect());
    assert_eq!((rings.len(), frames.len()), (3, 3), "the key, the line and the map");
    assert!(rings.iter().any(|at| near(*at, lines[0][2])), "{rings:?}");
    assert!(frames.iter().any(|at| near(*at, lines[0][1])), "{frames:?}");
    // The cell of γ = 0.5, the lower row, and k = 2.
    let cell = frames.iter().max_by(|a, b| a[1].total_cmp(&b[1])).unwrap();
    assert!((cell[0] - place(&svg, "2")[0]).abs() < 0.1, "{cell:?}");
    assert!((cell[1] + 5.04 - place(&svg, "0.5")[1]).abs() < 0.1, "{cell:?}");
}

#[test]
fn one_curve_has_no_map() {
    let figure =
        kernel_choice(&KernelChoicePicture { curves: &CURVES[..1], chosen: (0, 1), near: &[], ..example() });
    let figure = figure.unwrap();
    assert_sound(&figure, 2.0);
    let found = texts(&figure.to_svg());
    assert!(!found.contains(&"bandwidth".to_owned()) && found.contains(&"chosen: γ = 2, k = 4".to_owned()));
    assert!(figure.height() < kernel_choice(&example()).unwrap().height());
}

#[test]
fn a_score_has_a_plain_axis() {
    let points = [(1, 0.5, 0.0), (2, 0.0, 0.0), (4, -0.5, 0.0)];
    let curves = [ChoiceCurve { label: "", bandwidth: 0.25, points: &points }];
    let base =
        KernelChoicePicture { curves: &curves, chosen: (0, 0), near: &[], baseline: None, ..example() };
    let score = KernelChoicePicture { higher_is_better: true, ..base };
    let svg = kernel_choice(&score).unwrap().to_svg();
    // A single line has the colour of the first series and stands on its own.
    let found = lines(&svg);
    assert!((found[0][1][1] - found[0][0][1] - (found[0][2][1] - found[0][1][1])).abs() < 0.05);
    assert!(texts(&svg).contains(&"chosen: bandwidth 0.25, k = 1".to_owned()));
    let found = texts(&kernel_choice(&base).unwrap().to_svg());
    assert!(found.contains(&"2 values not positive or not finite, left out".to_owned()), "{found:?}");
}

#[test]
fn points_that_are_not_there_are_errors() {
    let error = kernel_choice(&KernelChoicePicture { chosen: (2, 0), ..example() }).unwrap_err();
    assert_eq!(error, PlotError::NoSuchPoint { what: "the chosen point", curve: 3, point: 1, n_curves: 2 });
    for near in [[(0, 3)], [(usize::MAX, 0)], [(0, usize::MAX)]] {
        let error = kernel_choice(&KernelChoicePicture { near: &near, ..example() }).unwrap_err();
        assert!(matches!(error, PlotError::NoSuchPoint { .. }), "{error}");
    }
    let error = kernel_choice(&KernelChoicePicture { curves: &[], ..example() }).unwrap_err();
    assert!(error.to_string().contains("0 curves were given"), "{error}");
}

#[test]
fn odd_input_gives_a_picture() {
    let empty = kernel_choice(&KernelChoicePicture::default()).unwrap();
    assert_sound(&empty, 2.0);
    assert!(texts(&empty.to_svg()).contains(&"no values".to_owned()));
    let nan = f64::NAN;
    let odd: [&[(usize, f64, f64)]; 7] = [
        &[],
        &[(0, 1.0, 0.1)],
        &[(1, nan, 0.1), (2, f64::INFINITY, 0.1), (3, -1.0, 0.1)],
        &[(5, 2.0, nan), (5, 3.0, f64::INFINITY), (5, 3.0, -1.0)],
        &[(usize::MAX, 1e308, 1e308), (1, 1e-320, 1e-320), (usize::MAX - 1, 0.0, 0.0)],
        &[(1, 7.0, 0.0), (1000, 7.0, 0.0)],
        &[(1, f64::MAX, f64::MAX), (2, f64::MIN, f64::MAX)],
    ];
    for points in odd {
        for bandwidth in [1.0, nan, f64::INFINITY, -1e-300] {
            for higher_is_better in [false, true] {
                let curve = ChoiceCurve { label: "<&\"", bandwidth, points };
                let curves = [curve, ChoiceCurve { label: "", ..curve }];
                for curves in [&curves[..1], &curves] {
                    for baseline in [None, Some(nan), Some(0.0), Some(1e300)] {
                        let near: &[(usize, usize)] = if points.is_empty() { &[] } else { &[(0, 0)] };
                        let input = KernelChoicePicture {
                            curves,
                            near,
                            baseline,
                            higher_is_better,
                            chosen: (0, 0),
                            ..example()
                        };
                        parse(&kernel_choice(&input).unwrap().to_svg());
                    }
                }
                let input = KernelChoicePicture {
                    curves: &curves,
                    near: &[],
                    higher_is_better,
                    chosen: (0, 0),
                    ..example()
                };
                if bandwidth == 1.0 {
                    assert_sound(&kernel_choice(&input).unwrap(), 2.0);
                }
            }
        }
    }
}

#[test]
fn text_is_large_enough_for_a_column() {
    let figure = kernel_choice(&example()).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
