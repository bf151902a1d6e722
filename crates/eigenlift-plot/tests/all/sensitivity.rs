//! What the bandwidth does: what is drawn where, what is left out, and odd input.

use crate::support::{Element, assert_sound, n_markers, parse, texts};
use eigenlift_plot::{PlotError, SensitivityPicture, sensitivity};

fn shares() -> [Vec<f64>; 3] {
    [vec![0.4, 0.2], vec![0.5, 0.4], vec![0.6, 0.3]]
}

fn example(shares: &[Vec<f64>]) -> SensitivityPicture<'_> {
    SensitivityPicture {
        bandwidths: &[100.0, 1.0, 10.0],
        shares,
        effective_rank: &[40.0, 10.0, 20.0],
        angle_to_reference: &[60.0, 30.0, 0.0],
        reference: 10.0,
        plateau: Some((2.0, 50.0)),
        title: "Sensitivity",
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

/// The points of the paths that pass a test.
fn paths(svg: &str, is: impl Fn(&Element) -> bool) -> Vec<Vec<[f64; 2]>> {
    let all = parse(svg).into_iter().filter(|e| e.name == "path" && e.attribute("class").is_none() && is(e));
    all.map(|e| points(e.attribute("d").unwrap())).collect()
}

#[test]
fn panels_are_over_the_logarithm_of_the_bandwidth() {
    let shares = shares();
    let figure = sensitivity(&example(&shares)).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let line = |color: &str| paths(&svg, |e| e.attribute("stroke") == Some(color)).concat();
    let (angle, rank) = (line("#b84e00"), line("#0072b2"));
    for line in [&angle, &rank] {
        for (point, label) in line.iter().zip(["1", "10", "100"]) {
            assert!((point[0] - place(&svg, label)[0]).abs() < 0.02, "{label} at {point:?}");
        }
    }
    // 30° to 0° is half of 0° to 60°; ranks double and double.
    assert!((2.0 * (angle[1][1] - angle[0][1]) - (angle[1][1] - angle[2][1])).abs() < 0.05, "{angle:?}");
    assert!((rank[0][1] - rank[1][1] - (rank[1][1] - rank[2][1])).abs() < 0.05, "{rank:?}");
    assert!(angle[0][1] < rank[0][1], "the panels are stacked");
    for text in
        ["reference 10", "plateau 2 to 50", "shares of components 1 to 2", "effective rank", "bandwidth"]
    {
        assert!(texts(&svg).contains(&text.to_owned()), "{text}");
    }
    let reference = paths(&svg, |e| {
        e.attribute("stroke") == Some("#222222") && e.attribute("stroke-dasharray").is_none()
    });
    let x = place(&svg, "10")[0];
    assert_eq!(
        reference.iter().filter(|line| (line[0][0] - x).abs() < 0.02).count(),
        3,
        "one for each panel"
    );
}

#[test]
fn shares_stand_on_each_other() {
    let shares = shares();
    let svg = sensitivity(&example(&shares)).unwrap().to_svg();
    let areas = paths(&svg, |e| e.attribute("fill").is_some_and(|fill| fill != "none"));
    assert_eq!(areas.len(), 2);
    let (first, second) = (&areas[0], &areas[1]);
    assert_eq!((first.len(), second.len()), (6, 6));
    // Lower ends from left to right, then upper ends back.
    let upper: Vec<[f64; 2]> = first[3..].iter().rev().copied().collect();
    assert_eq!(second[..3], upper, "the second begins where the first ends");
    let unit = first[0][1] - upper[0][1];
    assert!((first[1][1] - upper[1][1] - 1.2 * unit).abs() < 0.03, "0.6 is 1.2 times 0.5");
    assert!((second[0][1] - second[5][1] - 0.8 * unit).abs() < 0.03, "0.4 is 0.8 times 0.5");
}

#[test]
fn panels_without_values_are_left_out() {
    let input = SensitivityPicture { plateau: None, reference: 0.0, angle_to_reference: &[], ..example(&[]) };
    let svg = sensitivity(&input).unwrap().to_svg();
    let found = texts(&svg);
    assert!(found.contains(&"effective rank".to_owned()) && n_markers(&svg) == 3);
    assert!(!found.iter().any(|t| t.contains("share") || t.contains("angle") || t.contains("plateau")));
    let empty = sensitivity(&SensitivityPicture::default()).unwrap();
    assert_sound(&empty, 2.0);
    assert!(texts(&empty.to_svg()).contains(&"no values".to_owned()));
}

#[test]
fn odd_input_gives_a_picture() {
    let nan = f64::NAN;
    for values in
        [[nan; 3], [0.0; 3], [1e-320, 1e308, 1.0], [f64::INFINITY, -1.0, 5.0], [f64::MAX, f64::MIN, 90.0]]
    {
        for bandwidths in [[1.0, 1.0, 1.0], [1e-320, 1e308, 1.0], [nan, 0.0, -1.0], [3.0, nan, 4.0]] {
            for plateau in [None, Some((nan, 1.0)), Some((5.0, 2.0)), Some((1e-300, 1e300))] {
                let shares = values.map(|v| vec![v, 0.1, nan]);
                let longer = values.map(|v| vec![v; 12]);
                for shares in [&shares, &longer] {
                    let input = SensitivityPicture {
                        bandwidths: &bandwidths,
                        effective_rank: &values,
                        angle_to_reference: &values,
                        reference: values[0],
                        plateau,
                        ..example(shares)
                    };
                    let figure = sensitivity(&input).unwrap();
                    parse(&figure.to_svg());
                    if plateau.is_none() && bandwidths[0] == 3.0 {
                        assert_sound(&figure, 2.0);
                    }
                }
            }
        }
    }
    let shares = [vec![0.5], vec![nan], vec![0.2]];
    let found = texts(
        &sensitivity(&SensitivityPicture { bandwidths: &[1.0, 2.0, -3.0], ..example(&shares) })
            .unwrap()
            .to_svg(),
    );
    for note in ["1 bandwidth not positive or not finite, left out", "1 value not finite, left out"] {
        assert!(found.contains(&note.to_owned()), "{found:?}");
    }
}

#[test]
fn slices_of_other_lengths_are_errors() {
    let shares = shares();
    let odd = [
        SensitivityPicture { shares: &shares[..2], ..example(&shares) },
        SensitivityPicture { effective_rank: &[1.0], ..example(&shares) },
        SensitivityPicture { angle_to_reference: &[1.0; 4], ..example(&shares) },
        SensitivityPicture { bandwidths: &[], ..example(&shares) },
    ];
    for input in odd {
        assert!(matches!(sensitivity(&input).unwrap_err(), PlotError::LengthMismatch { .. }), "{input:?}");
    }
}

#[test]
fn text_is_large_enough_for_a_column() {
    let shares = shares();
    let figure = sensitivity(&example(&shares)).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
