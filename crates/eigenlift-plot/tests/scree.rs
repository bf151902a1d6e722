//! Scree plots: bars, cumulative line, and any number of components.

mod support;

use eigenlift_plot::{PlotError, Scree, scree};
use support::{assert_sound, n_markers, n_pixels_near, parse, pixels, texts};

const BAR: &str = "#0072b2";

fn n_bars(svg: &str) -> usize {
    parse(svg).iter().filter(|e| e.name == "rect" && e.attribute("fill") == Some(BAR)).count()
}

#[test]
fn there_is_a_bar_and_a_dot_for_each_component() {
    let eigenvalues = [4.0, 2.0, 1.0, 1.0];
    let ratio = [0.5, 0.25, 0.125, 0.125];
    let figure =
        scree(&Scree { eigenvalues: &eigenvalues, ratio: &ratio, title: "spectrum", ..Scree::default() })
            .unwrap();
    let svg = figure.to_svg();
    assert_eq!((n_bars(&svg), n_markers(&svg)), (4, 4));
    let heights: Vec<f64> = parse(&svg)
        .iter()
        .filter(|e| e.attribute("fill") == Some(BAR))
        .filter_map(|e| e.attribute("height")?.parse().ok())
        .collect();
    assert!((heights[0] / heights[1] - 2.0).abs() < 0.01, "{heights:?}");
    assert!((heights[0] / heights[3] - 4.0).abs() < 0.01, "{heights:?}");
    assert!(texts(&svg).contains(&"eigenvalue λ".to_owned()));
    let pixmap = pixels(&figure, 2.0);
    assert!(n_pixels_near(&pixmap, [0xb8, 0x4e, 0x00]) > 300, "the cumulative line");
}

#[test]
fn shares_alone_are_drawn_too() {
    let svg = scree(&Scree { ratio: &[0.6, 0.3], ..Scree::default() }).unwrap().to_svg();
    assert_eq!(n_bars(&svg), 2);
    assert!(texts(&svg).contains(&"share of variance".to_owned()));
}

#[test]
fn any_number_of_components_is_readable() {
    for n in [0_usize, 1, 2, 13, 41, 199, 200, 201, 5000] {
        let eigenvalues: Vec<f64> = (0..n).map(|k| 1.0 / (k + 1) as f64).collect();
        let ratio: Vec<f64> = eigenvalues.iter().map(|v| v / 10.0).collect();
        let figure = scree(&Scree { eigenvalues: &eigenvalues, ratio: &ratio, ..Scree::default() }).unwrap();
        assert_sound(&figure, 2.0);
        let svg = figure.to_svg();
        assert_eq!(n_bars(&svg), n.min(200).max(usize::from(n > 0)));
        assert!(parse(&svg).iter().filter(|e| e.name == "text").count() < 40);
        assert_eq!(texts(&svg).iter().any(|t| t.starts_with("first 200 of")), n > 200);
    }
}

#[test]
fn negative_and_bad_values_give_a_picture() {
    for eigenvalues in [
        vec![2.0, -1.0, f64::NAN],
        vec![0.0, 0.0],
        vec![-1.0],
        vec![f64::INFINITY],
        vec![1e-300, 1e-301],
        vec![f64::MAX, f64::MIN],
    ] {
        let bad_ratio = vec![f64::NAN; eigenvalues.len()];
        let intervals = vec![(f64::NEG_INFINITY, 1.0); eigenvalues.len()];
        let input =
            Scree { eigenvalues: &eigenvalues, ratio: &bad_ratio, intervals: Some(&intervals), title: "" };
        assert_sound(&scree(&input).unwrap(), 2.0);
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let input = Scree { eigenvalues: &[1.0, 2.0], ratio: &[1.0], ..Scree::default() };
    assert!(matches!(scree(&input), Err(PlotError::LengthMismatch { found: 1, required: 2, .. })));
    let input = Scree { eigenvalues: &[1.0, 2.0], intervals: Some(&[]), ..Scree::default() };
    assert!(matches!(scree(&input), Err(PlotError::LengthMismatch { what: "the intervals", .. })));
}
