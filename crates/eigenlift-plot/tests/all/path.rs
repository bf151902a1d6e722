//! Paths of selections: scores, error bars, marks, names.

use crate::support::{assert_sound, n_markers, parse, texts, tooltips};
use eigenlift_plot::{PathPicture, PathStep, PlotError, selection_path};

fn step(k: usize, score: f64) -> PathStep {
    PathStep { name: format!("feature {k}"), score, spread: Some(0.1), baseline: Some(score + 0.05) }
}

fn steps(n: usize) -> Vec<PathStep> {
    (0..n).map(|k| step(k, 1.0 - 1.0 / (k as f64 + 1.5))).collect()
}

#[test]
fn each_step_has_its_score_error_bar_name_and_words() {
    let steps = steps(5);
    let input = PathPicture {
        steps: &steps,
        chosen: Some(2),
        best: Some(4),
        score_label: "accuracy",
        baseline_label: "training accuracy",
        title: "path",
        ..PathPicture::default()
    };
    let figure = selection_path(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    // Five of each line, and four samples in the key.
    assert_eq!(n_markers(&svg), 5 + 5 + 4);
    let found = texts(&svg);
    for k in 0..5 {
        assert!(found.contains(&format!("feature {k}")), "{found:?}");
    }
    assert!(
        found.contains(&"chosen: 3 features".to_owned()) && found.contains(&"best: 5 features".to_owned())
    );
    let tips = tooltips(&svg);
    assert_eq!(tips[2], "3 features\nfeature 2\naccuracy 0.714 ± 0.1\ntraining accuracy 0.764\nchosen");
    let bars = parse(&svg).into_iter().filter_map(|e| e.attribute("d").map(|d| d.matches('M').count()));
    assert!(bars.into_iter().any(|n| n == 15), "a line and two caps for each step");
}

#[test]
fn the_band_is_one_standard_error_around_the_best() {
    let steps = [step(0, 0.0), step(1, 1.0)];
    let svg = |best| {
        selection_path(&PathPicture { steps: &steps, best, ..PathPicture::default() }).unwrap().to_svg()
    };
    let band = |svg: &str| {
        let found = parse(svg).into_iter().find(|e| e.attribute("fill-opacity") == Some("0.13"));
        found.map(|e| ["y", "height"].map(|key| e.attribute(key).unwrap().parse::<f64>().unwrap()))
    };
    let with_best = svg(Some(1));
    let [top, height] = band(&with_best).unwrap();
    let path = parse(&with_best).into_iter().find(|e| e.attribute("stroke-width") == Some("1.1")).unwrap();
    let ends: Vec<f64> = path
        .attribute("d")
        .unwrap()
        .split(['M', 'L'])
        .skip(1)
        .map(|pair| pair.split_once(' ').unwrap().1.parse().unwrap())
        .collect();
    // The error bar of the second step is the fourth line.
    assert!(
        (ends[6] - top).abs() < 0.02 && (ends[7] - top - height).abs() < 0.02,
        "{ends:?}, {top}, {height}"
    );
    assert_eq!(band(&svg(None)), None);
}

#[test]
fn removals_count_downwards_and_many_names_are_thinned() {
    let steps = steps(100);
    let n_features: Vec<usize> = (0..100).map(|k| 100 - k).collect();
    let input =
        PathPicture { steps: &steps, n_features: &n_features, chosen: Some(33), ..PathPicture::default() };
    let svg = selection_path(&input).unwrap().to_svg();
    let found = texts(&svg);
    assert!(found.contains(&"chosen: 67 features".to_owned()));
    assert!(found.contains(&"feature 33".to_owned()), "the chosen one is always named");
    let names = found.iter().filter(|text| text.starts_with("feature ")).count();
    assert!((10..=25).contains(&names), "{names}");
    assert_eq!(tooltips(&svg).len(), 100);
}

#[test]
fn odd_input_gives_a_picture() {
    let odd = |score: f64, spread: Option<f64>, baseline: Option<f64>| PathStep {
        name: "</text>&<script>".repeat(9),
        score,
        spread,
        baseline,
    };
    for steps in [
        vec![],
        vec![odd(f64::NAN, None, None)],
        vec![odd(1.0, Some(f64::NAN), Some(f64::INFINITY)), odd(1.0, Some(-1.0), None)],
        vec![odd(f64::MAX, Some(f64::MAX), Some(f64::MIN)); 3],
    ] {
        let last = steps.len().checked_sub(1);
        let input =
            PathPicture { steps: &steps, best: last, chosen: last, title: "odd", ..PathPicture::default() };
        assert_sound(&selection_path(&input).unwrap(), 2.0);
    }
}

#[test]
fn steps_that_are_not_there_are_errors() {
    let steps = steps(2);
    let base = PathPicture { steps: &steps, ..PathPicture::default() };
    let error = selection_path(&PathPicture { chosen: Some(2), ..base }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the chosen step is step 3; 2 steps were given, and it must be one of them. Count steps from 0 in the order given."
    );
    let error = selection_path(&PathPicture { n_features: &[1], ..base }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { found: 1, required: 2, .. }));
}
