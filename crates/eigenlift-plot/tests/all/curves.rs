//! Components in input space: whole curves, trust, gaps, arrows.

use crate::support::{Element, assert_sound, n_markers, parse, texts};
use eigenlift_plot::{Curve, Curves, PlotError, curves};

fn line(name: &str, n: usize) -> Curve {
    let x: Vec<f64> = (0..n).map(|k| k as f64 / (n - 1) as f64).collect();
    Curve { name: name.to_owned(), y: x.clone(), x, trusted: Vec::new() }
}

/// The paths in the colour of the first curve, those of the key not counted: solid, dashed, and arrow heads.
fn paths(svg: &str) -> [Vec<Element>; 3] {
    let first = "#0072b2";
    let all: Vec<Element> = parse(svg).into_iter().filter(|e| e.name == "path").collect();
    let stroked = all.iter().filter(|e| e.attribute("stroke") == Some(first));
    let (dashed, solid): (Vec<_>, Vec<_>) =
        stroked.cloned().partition(|e| e.attribute("stroke-dasharray").is_some());
    let heads = all.iter().filter(|e| e.attribute("fill") == Some(first)).cloned().collect();
    // The last solid one is the sample of the key.
    [solid.split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec()), dashed, heads]
}

fn numbers(d: &str) -> Vec<[f64; 2]> {
    let pairs = d.split(['M', 'L', 'Z']).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once(' ').unwrap())
        .map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()])
        .collect()
}

#[test]
fn a_curve_is_one_line_with_an_arrow_at_its_positive_end() {
    let input =
        Curves { points: (&[0.0, 1.0], &[0.0, 1.0]), curves: vec![line("one", 30)], ..Curves::default() };
    let figure = curves(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let [solid, dashed, heads] = paths(&svg);
    assert_eq!((solid.len(), dashed.len(), heads.len()), (1, 0, 1));
    let points = numbers(solid[0].attribute("d").unwrap());
    assert_eq!(points.len(), 30);
    let (start, end) = (points[0], points[29]);
    assert!(((end[0] - start[0]) - (start[1] - end[1])).abs() < 0.1, "one scale for both axes");
    let head = numbers(heads[0].attribute("d").unwrap());
    assert!(head[0][0] > end[0] && head[0][1] < end[1], "the tip lies beyond the end: {head:?}, {end:?}");
    assert_eq!(n_markers(&svg), 2);
    assert!(texts(&svg).contains(&"one".to_owned()));
}

#[test]
fn what_is_not_trusted_is_dashed_and_gaps_break_the_line() {
    let mut curve = line("one", 30);
    curve.trusted = (0..30).map(|k| k < 20).collect();
    curve.x[10] = f64::NAN;
    let base = Curves { points: (&[0.0, 1.0], &[0.0, 1.0]), ..Curves::default() };
    let svg = curves(&Curves { curves: vec![curve], ..base }).unwrap().to_svg();
    let [solid, dashed, heads] = paths(&svg);
    let pieces = |e: &Element| e.attribute("d").unwrap().matches('M').count();
    assert_eq!(pieces(&solid[0]), 2, "broken at the point that is not finite");
    assert_eq!(numbers(solid[0].attribute("d").unwrap()).len(), 10 + 9);
    // From the last trusted point to the end.
    assert_eq!(numbers(dashed[0].attribute("d").unwrap()).len(), 11);
    assert_eq!(heads.len(), 1);
    assert!(texts(&svg).contains(&"not trusted".to_owned()));
    let width = |e: &Element| e.attribute("stroke-width").unwrap().parse::<f64>().unwrap();
    assert!(width(&dashed[0]) < width(&solid[0]));
}

#[test]
fn stretches_without_trust_do_not_decide_the_scale() {
    let mut curve = line("one", 30);
    curve.x.push(1e6);
    curve.y.push(1e6);
    curve.trusted = (0..31).map(|k| k < 30).collect();
    let base = Curves { points: (&[0.0, 1.0], &[0.0, 1.0]), ..Curves::default() };
    let svg = curves(&Curves { curves: vec![curve], ..base }).unwrap().to_svg();
    let points = numbers(paths(&svg)[0][0].attribute("d").unwrap());
    assert!(points[29][0] - points[0][0] > 200.0, "{points:?}");
}

#[test]
fn odd_input_gives_a_picture() {
    let nan = f64::NAN;
    let odd =
        |x: &[f64], y: &[f64]| Curve { name: "<b>&".into(), x: x.into(), y: y.into(), trusted: Vec::new() };
    let classes = ["a", "b"].map(String::from);
    for curve in [
        odd(&[], &[]),
        odd(&[1.0], &[2.0]),
        odd(&[nan, nan], &[0.0, nan]),
        odd(&[f64::MAX, f64::MIN, 0.0], &[f64::MIN, f64::MAX, 0.0]),
        odd(&[2.0, 2.0, 2.0], &[1.0, 1.0, 1.0]),
    ] {
        for points in [(&[][..], &[][..]), (&[0.0, nan], &[1.0, 2.0])] {
            let classes = (!points.0.is_empty()).then_some(&classes[..]);
            let input = Curves { points, classes, curves: vec![curve.clone(); 8], ..Curves::default() };
            assert_sound(&curves(&input).unwrap(), 2.0);
        }
    }
    assert_sound(&curves(&Curves::default()).unwrap(), 2.0);
}

#[test]
fn wrong_lengths_are_errors() {
    let mut curve = line("one", 3);
    curve.trusted = vec![true];
    let error = curves(&Curves { curves: vec![curve.clone()], ..Curves::default() }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { what: "the trust of a curve", found: 1, .. }));
    curve.y.pop();
    assert!(curves(&Curves { curves: vec![curve], ..Curves::default() }).is_err());
    assert!(curves(&Curves { points: (&[1.0], &[]), ..Curves::default() }).is_err());
    assert!(curves(&Curves { classes: Some(&["a".to_owned()]), ..Curves::default() }).is_err());
}
