//! Before and after whitening: circles, the identity, and odd input.

use crate::support::{Element, assert_sound, n_markers, parse, texts};
use eigenlift_plot::{PlotError, WhiteningPicture, whitening};

fn example() -> WhiteningPicture<'static> {
    WhiteningPicture {
        before: (&[-2.0, 2.0, -2.0, 2.0], &[-3.0, 1.0, -1.0, 3.0]),
        after: (&[-1.0, 1.0, -1.0, 1.0], &[-1.0, -1.0, 1.0, 1.0]),
        names: ["x one", "x two", "z one", "z two"],
        covariance_before: &[4.0, 4.0, 4.0, 5.0],
        covariance_after: &[1.0, 0.0, 0.0, 1.0],
        p: 2,
        title: "Whitening",
    }
}

/// Width and height of each ellipse, halos left out: one and two σ before, then after.
fn ellipses(svg: &str) -> Vec<(f64, f64)> {
    let outline = |e: &Element| {
        let path = e.attribute("d")?.strip_suffix('Z')?;
        let pairs = path.split(['M', 'L']).filter(|part| !part.is_empty());
        let (x, y): (Vec<f64>, Vec<f64>) = pairs
            .map(|pair| pair.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap()))
            .unzip();
        let extent =
            |v: &[f64]| v.iter().fold(f64::MIN, |m, v| m.max(*v)) - v.iter().fold(f64::MAX, |m, v| m.min(*v));
        Some((extent(&x), extent(&y)))
    };
    parse(svg).iter().filter(|e| e.attribute("stroke") == Some("#b84e00")).filter_map(outline).collect()
}

#[test]
fn the_ellipse_becomes_a_circle() {
    let figure = whitening(&example()).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let found = ellipses(&svg);
    assert_eq!(found.len(), 4);
    // Σ = [[4, 4], [4, 5]]: the box of the ellipse is √4 by √5. Coordinates are rounded to 0.01, and the corners
    // of the polygon miss the extremes by at most 1 − cos(π/96) < 6e-4.
    assert!((found[0].1 / found[0].0 - 5.0_f64.sqrt() / 2.0).abs() < 2e-3, "{found:?}");
    for (width, height) in &found[2..] {
        assert!((width / height - 1.0).abs() < 2e-3, "{found:?}");
    }
    for pair in found.chunks(2) {
        assert!((pair[1].0 / pair[0].0 - 2.0).abs() < 2e-3, "two σ are twice one σ: {found:?}");
    }
    assert_eq!(n_markers(&svg), 8);
    for name in ["x one", "x two", "z one", "z two", "before", "after", "covariance before", "2 σ"] {
        assert!(texts(&svg).iter().any(|t| t == name), "{name}");
    }
}

#[test]
fn odd_input_gives_a_picture() {
    let nan = f64::NAN;
    let clouds: [(&[f64], &[f64]); 6] = [
        (&[], &[]),
        (&[1.0], &[2.0]),
        (&[3.0, 3.0], &[3.0, 3.0]),
        (&[nan, f64::INFINITY], &[1.0, 2.0]),
        (&[1e308, -1e308], &[f64::MAX, f64::MIN]),
        (&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]),
    ];
    let matrices: [&[f64]; 5] =
        [&[0.0; 4], &[nan; 4], &[1e-320, 0.0, 0.0, -1e-320], &[f64::MAX, f64::MIN, 0.0, 1.0], &[1.0; 4]];
    for cloud in clouds {
        for matrix in matrices {
            let input = WhiteningPicture {
                before: cloud,
                after: cloud,
                covariance_before: matrix,
                covariance_after: matrix,
                ..example()
            };
            assert_sound(&whitening(&input).unwrap(), 2.0);
        }
    }
    let svg = whitening(&WhiteningPicture::default()).unwrap().to_svg();
    assert!(texts(&svg).contains(&"no points".to_owned()) && texts(&svg).contains(&"no matrix".to_owned()));
    let input = WhiteningPicture { before: clouds[3], covariance_after: &[1.0, nan, 0.0, 1.0], ..example() };
    let svg = whitening(&input).unwrap().to_svg();
    for note in ["before: 2 points not finite, left out", "covariance after: 1 entry not finite, grey"] {
        assert!(texts(&svg).contains(&note.to_owned()), "{note}");
    }
}

#[test]
fn many_points_and_features_stay_small() {
    let x: Vec<f64> = (0..100_000).map(|k| (f64::from(k) * 0.7).sin()).collect();
    let matrix: Vec<f64> = (0..64 * 64).map(|k| (f64::from(k) * 1.3).sin()).collect();
    let (cloud, covariance) = ((x.as_slice(), x.as_slice()), matrix.as_slice());
    let input = WhiteningPicture {
        before: cloud,
        after: cloud,
        covariance_before: covariance,
        covariance_after: covariance,
        p: 64,
        ..example()
    };
    let svg = whitening(&input).unwrap().to_svg();
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    assert_eq!(n_markers(&svg), 2 * 4000);
    assert!(texts(&svg).contains(&"after: 1 of 25 points shown".to_owned()));
}

#[test]
fn wrong_lengths_are_errors() {
    let lengths = |input: WhiteningPicture| match whitening(&input) {
        Err(PlotError::LengthMismatch { found, required, .. }) => (found, required),
        other => panic!("{other:?}"),
    };
    assert_eq!(lengths(WhiteningPicture { before: (&[1.0], &[]), ..example() }), (0, 1));
    assert_eq!(lengths(WhiteningPicture { after: (&[], &[1.0]), ..example() }), (1, 0));
    assert_eq!(lengths(WhiteningPicture { covariance_before: &[1.0], ..example() }), (1, 4));
    assert_eq!(lengths(WhiteningPicture { covariance_after: &[], ..example() }), (0, 4));
    for p in [65, usize::MAX] {
        let error = whitening(&WhiteningPicture { p, ..example() }).unwrap_err();
        assert!(matches!(error, PlotError::MatrixSize { limit: 64, .. }), "{error}");
    }
}

#[test]
fn text_is_large_enough_for_a_column() {
    let figure = whitening(&example()).unwrap();
    for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
        let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
        assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
    }
}
