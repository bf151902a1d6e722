//! How many components: what is drawn where, what is left out, and odd input.

use crate::support::{assert_sound, n_markers, parse, texts};
use eigenlift_plot::{Choice, PlotError, Rule, choice};

const RULES: &[Rule] = &[
    Rule { name: "parallel analysis", m: Some(2) },
    Rule { name: "elbow", m: None },
    Rule { name: "cross-validation", m: Some(3) },
];

fn example() -> Choice<'static> {
    Choice {
        eigenvalues: &[8.0, 4.0, 0.5, 0.25],
        null: Some(&[1.0, 0.9, 0.8]),
        threshold: Some(2.0),
        cross_validated: &[(1, 6.0, 0.5), (2, 1.0, 0.1), (3, 1.2, 0.2)],
        residual: &[12.75, 4.75, 0.75, 0.25, 0.0],
        rules: RULES,
        consensus: 2,
        title: "How many",
    }
}

/// The figure coordinates of the only text with this content.
fn place(svg: &str, content: &str) -> [f64; 2] {
    let found: Vec<_> = parse(svg).into_iter().filter(|e| e.name == "text" && e.text == content).collect();
    assert_eq!(found.len(), 1, "{content}");
    ["x", "y"].map(|key| found[0].attribute(key).unwrap().parse().unwrap())
}

/// The points of the first line of this colour that has more than two.
fn line(svg: &str, color: &str, dashed: bool) -> Vec<[f64; 2]> {
    let lines = parse(svg).into_iter().filter(|e| {
        let markers = e.attribute("class") == Some("markers");
        let is_dashed = e.attribute("stroke-dasharray").is_some();
        e.name == "path" && !markers && e.attribute("stroke") == Some(color) && is_dashed == dashed
    });
    let points = lines.map(|e| {
        let pair = |pair: &str| {
            let numbers: Vec<f64> = pair.split(' ').map(|v| v.parse().unwrap()).collect();
            [numbers[0], numbers[1]]
        };
        let path = e.attribute("d").unwrap().to_owned();
        path.split(['M', 'L']).filter(|part| !part.is_empty()).map(pair).collect::<Vec<_>>()
    });
    points.into_iter().find(|points| points.len() > 2).unwrap_or_default()
}

#[test]
fn eigenvalues_stand_above_their_numbers_on_a_log_axis() {
    let svg = choice(&Choice { rules: &[], consensus: 7, ..example() }).unwrap().to_svg();
    let points = line(&svg, "#0072b2", false);
    assert_eq!(points.len(), 4);
    for (label, point) in [("3", points[2]), ("4", points[3])] {
        assert!((place(&svg, label)[0] - point[0]).abs() < 0.02, "{label} at {point:?}");
    }
    // 8 → 4 and 0.5 → 0.25 are equal steps on a logarithmic axis, 4 → 0.5 is three of them.
    let step = points[1][1] - points[0][1];
    assert!((points[3][1] - points[2][1] - step).abs() < 0.05, "{points:?}");
    assert!((points[2][1] - points[1][1] - 3.0 * step).abs() < 0.05, "{points:?}");
    assert_eq!(line(&svg, "#7a2c66", true).len(), 3, "the null is shorter");
    for name in
        ["eigenvalue", "95 % of permuted data", "threshold", "cross-validated ± s.e.", "residual error J"]
    {
        assert!(texts(&svg).iter().any(|t| t == name), "{name}");
    }
}

#[test]
fn each_rule_has_a_row_with_its_answer() {
    let svg = choice(&example()).unwrap().to_svg();
    let rows =
        ["parallel analysis", "elbow", "cross-validation", "consensus"].map(|name| place(&svg, name)[1]);
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "{rows:?}");
    assert!((place(&svg, "–")[1] - rows[1]).abs() < 0.02, "no answer");
    // 4 eigenvalues, 3 tried, 4 positive residuals, 3 of the keys, 2 answers and the consensus.
    assert_eq!(n_markers(&svg), 4 + 3 + 4 + 3 + 2 + 1);
    assert!(texts(&svg).contains(&"1 value not positive or not finite, left out".to_owned()), "J(4) = 0");
}

#[test]
fn an_answer_out_of_sight_is_an_arrow() {
    let eigenvalues: Vec<f64> = (0..500).map(|k| 1.0 / f64::from(k + 1)).collect();
    let rules = [Rule { name: "far", m: Some(321) }, Rule { name: "near", m: Some(5) }];
    let input = Choice { eigenvalues: &eigenvalues, rules: &rules, consensus: 5, ..Choice::default() };
    let figure = choice(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    assert!(texts(&svg).contains(&"first 60 of 500 components".to_owned()));
    let (far, near) = (place(&svg, "321"), place(&svg, "near"));
    assert!(far[1] < near[1]);
    assert_eq!(n_markers(&svg), 2, "the near answer and the consensus");
    let arrows =
        parse(&svg).into_iter().filter(|e| e.name == "path" && e.attribute("fill") == Some("#0072b2"));
    assert_eq!(arrows.filter(|e| e.attribute("d").is_some_and(|d| d.ends_with('Z'))).count(), 1);
}

#[test]
fn odd_input_gives_a_picture() {
    let nan = f64::NAN;
    let odd: [&[f64]; 7] = [
        &[],
        &[0.0, -1.0, nan],
        &[f64::INFINITY],
        &[1e-320, 1e308, 1.0],
        &[5.0, 5.0, 5.0],
        &[1.0, 1e-17],
        &[f64::MAX, f64::MIN_POSITIVE],
    ];
    let extreme =
        [(usize::MAX, 1.0, 1.0), (0, nan, 1.0), (1, 2.0, f64::INFINITY), (1, 2.0, 9.0), (2, -1.0, 0.1)];
    let rules = [Rule { name: "", m: Some(usize::MAX) }, Rule { name: "<&\"", m: Some(0) }];
    for values in odd {
        for threshold in [None, Some(nan), Some(0.0), Some(1e-300), Some(1e300)] {
            for cross_validated in [&[][..], &extreme[..], &extreme[1..]] {
                for consensus in [0, 3, usize::MAX] {
                    let input = Choice {
                        eigenvalues: values,
                        null: Some(values),
                        threshold,
                        cross_validated,
                        residual: values,
                        rules: &rules,
                        consensus,
                        title: "odd",
                    };
                    parse(&choice(&input).unwrap().to_svg());
                }
            }
        }
        assert_sound(
            &choice(&Choice { eigenvalues: values, residual: values, ..Choice::default() }).unwrap(),
            2.0,
        );
    }
    let empty = choice(&Choice::default()).unwrap();
    assert!(texts(&empty.to_svg()).contains(&"no positive values".to_owned()));
}

#[test]
fn a_longer_null_is_an_error() {
    let error = choice(&Choice { null: Some(&[1.0; 5]), ..example() }).unwrap_err();
    assert!(matches!(
        error,
        PlotError::LengthMismatch { what: "the null eigenvalues", found: 5, required: 4, .. }
    ));
}

#[test]
fn text_is_large_enough_for_a_column() {
    let figure = choice(&example()).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
