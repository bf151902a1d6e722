//! Scree plots: bars, cumulative line, and any number of components.

use crate::support::{assert_sound, n_markers, n_pixels_near, parse, pixels, texts, tooltips};
use eigenlift_plot::{PlotError, Scree, scree};

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
        let residual: Vec<f64> = [3.0, f64::NAN, f64::INFINITY, -1.0][..=eigenvalues.len()].into();
        let input = Scree {
            eigenvalues: &eigenvalues,
            ratio: &bad_ratio,
            intervals: Some(&intervals),
            residual: &residual,
            title: "",
        };
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

#[test]
fn the_residual_falls_from_100_percent_at_none() {
    let (eigenvalues, ratio) = (&[4.0, 2.0], &[0.5, 0.25]);
    let base = Scree { eigenvalues, ratio, ..Scree::default() };
    let input = Scree { residual: &[8.0, 4.0, 2.0], ..base };
    let svg = scree(&input).unwrap().to_svg();
    // Two dots and one of the key; three squares and one of the key.
    assert_eq!(n_markers(&svg), 3 + 4);
    let line = parse(&svg).into_iter().find(|e| e.attribute("stroke-dasharray").is_some()).unwrap();
    let points: Vec<Vec<f64>> = line.attribute("d").unwrap()[1..]
        .split('L')
        .map(|pair| pair.split(' ').map(|v| v.parse().unwrap()).collect())
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p[0], p[1])).unzip();
    let tick = |label: &str| {
        let found = parse(&svg).into_iter().filter(|e| e.name == "text" && e.text == label);
        found.filter_map(|e| e.attribute("x")?.parse::<f64>().ok()).collect::<Vec<_>>()
    };
    for (m, x) in x.iter().enumerate() {
        assert!(tick(&m.to_string()).iter().any(|at| (at - x).abs() < 0.02), "{m} at {x}");
    }
    // 100 %, 50 %, 25 %: the second step is half of the first; 0 % is as far again.
    assert!(((y[2] - y[1]) / (y[1] - y[0]) - 0.5).abs() < 1e-3, "{y:?}");
    for name in ["cumulative variance", "residual error J(m)", "share of variance (%)"] {
        assert!(texts(&svg).iter().any(|t| t == name), "{name}");
    }
    let alone = scree(&Scree { ratio: &[], ..input }).unwrap().to_svg();
    assert!(texts(&alone).contains(&"residual error J (%)".to_owned()));
}

#[test]
fn a_residual_of_another_length_or_without_a_total_is_told() {
    let base = Scree { eigenvalues: &[1.0, 2.0], ..Scree::default() };
    let error = scree(&Scree { residual: &[3.0, 2.0], ..base }).unwrap_err();
    assert!(matches!(
        error,
        PlotError::LengthMismatch { what: "the residual error", found: 2, required: 3, .. }
    ));
    for (residual, note) in [
        ([0.0, 0.0, 0.0], "J(0) is not a positive number, residual error left out"),
        ([f64::NAN, 1.0, 0.5], "J(0) is not a positive number, residual error left out"),
        ([3.0, f64::NAN, 0.5], "1 value of the residual error not finite, left out"),
    ] {
        let figure = scree(&Scree { residual: &residual, ..base }).unwrap();
        assert_sound(&figure, 2.0);
        assert!(texts(&figure.to_svg()).contains(&note.to_owned()), "{residual:?}");
    }
}

#[test]
fn the_pointer_shows_the_numbers_of_a_component() {
    let input = Scree {
        eigenvalues: &[4.0, 2.0],
        ratio: &[0.5, 0.25],
        intervals: Some(&[(4.0, 4.5), (2.0, f64::INFINITY)]),
        residual: &[8.0, 4.0, 2.0],
        title: "a <title>",
    };
    let figure = scree(&input).unwrap();
    assert_sound(&figure, 2.0);
    let found = tooltips(&figure.to_svg());
    let first =
        "component 1\nλ = 4\n50 % of the variance\n50 % up to here\nbetween 4 and 4.5\n50 % left after it";
    assert_eq!(found[0], first);
    assert!(found[1].contains("75 % up to here\nat least 2\n"), "{}", found[1]);
    assert_eq!(tooltips(&scree(&Scree { ratio: &[0.5], ..Scree::default() }).unwrap().to_svg()).len(), 1);
}

/// The lines of the error bars: pairs of points of the ink paths.
fn error_bars(svg: &str) -> Vec<Vec<f64>> {
    let paths =
        parse(svg).into_iter().filter(|e| e.name == "path" && e.attribute("stroke") == Some("#222222"));
    let lines = |d: &str| -> Vec<Vec<f64>> {
        let line = |l: &str| l.split(['L', ' ']).map(|v| v.parse().unwrap()).collect();
        d.split('M').filter(|l| !l.is_empty()).map(line).collect()
    };
    paths.flat_map(|e| lines(e.attribute("d").unwrap())).collect()
}

#[test]
fn bounds_can_be_seen_whatever_their_width() {
    let eigenvalues = &[10.0, 5.0, 1.0];
    let base = Scree { eigenvalues, ..Scree::default() };
    let tiny = [(10.0, 10.0 + 1e-12), (5.0, 5.0), (1.0, 1.0 + 1e-9)];
    let figure = scree(&Scree { intervals: Some(&tiny), ..base }).unwrap();
    let bars = error_bars(&figure.to_svg());
    assert_eq!(bars.len(), 3, "one line each");
    assert!(bars.iter().all(|bar| bar[1] == bar[3] && bar[2] - bar[0] >= 10.0), "across the bar: {bars:?}");
    assert!(texts(&figure.to_svg()).contains(&"error bars: bounds, at most 10⁻⁹ wide".to_owned()));

    let one_sided = eigenvalues.map(|v| (v, v + 2.0));
    let bars = error_bars(&scree(&Scree { intervals: Some(&one_sided), ..base }).unwrap().to_svg());
    assert_eq!(bars.len(), 9, "a line and two caps each");
    assert!((bars[1][1] - bars[0][1]).abs() < 0.02 && bars[2][1] < bars[1][1] - 20.0, "{bars:?}");

    let open = eigenvalues.map(|v| (v / 2.0, f64::INFINITY));
    let bars = error_bars(&scree(&Scree { intervals: Some(&open), ..base }).unwrap().to_svg());
    assert_eq!(bars.len(), 6, "a line and one cap each");
}
