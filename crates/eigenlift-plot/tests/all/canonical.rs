//! Canonical correlations, scores of two views, and the curve of regularisation.

use crate::support::{Element, assert_sound, n_markers, parse, texts, tooltips};
use eigenlift_plot::{
    CanonicalGallery, CanonicalPair, CanonicalPicture, Color, CorrelationsPicture, PlotError,
    RegularizationPicture, canonical, canonical_gallery, correlations, regularization,
};

const HOSTILE: &str = "<script>&\"'</text>\u{0}\u{1b}]]>";

/// x, y, width and height.
fn rect(element: &Element) -> [f64; 4] {
    ["x", "y", "width", "height"].map(|key| element.attribute(key).unwrap_or("0").parse().unwrap())
}

/// The frame of the first plot.
fn plot(svg: &str) -> [f64; 4] {
    let frame = parse(svg).into_iter().find(|e| e.name == "rect" && e.attribute("stroke").is_some());
    rect(&frame.unwrap())
}

#[test]
fn bars_markers_and_the_null_line_lie_at_their_values() {
    let input = CorrelationsPicture {
        training: &[0.9, 0.6],
        held_out: Some((&[0.8, -0.1], &[0.05, 0.2])),
        null: Some(0.3),
        tested: Some(&[0.7, 0.4]),
        title: "ρ",
    };
    let figure = correlations(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let elements = parse(&svg);
    let bars: Vec<[f64; 4]> =
        elements.iter().filter(|e| e.attribute("fill-opacity") == Some("0.4")).map(rect).collect();
    assert_eq!(bars.len(), 2);
    // Heights from zero are in the ratio of the correlations; coordinates have two decimals.
    let unit = bars[0][3] / 0.9;
    assert!((bars[1][3] / unit - 0.6).abs() < 1e-3, "{bars:?}");
    let zero = bars[0][1] + bars[0][3];
    let dashed = elements.iter().find(|e| e.attribute("stroke-dasharray").is_some()).unwrap();
    let y: f64 = dashed.attribute("d").unwrap().split(['M', 'L', ' ']).nth(2).unwrap().parse().unwrap();
    assert!(((zero - y) / unit - 0.3).abs() < 1e-3);
    assert_eq!(n_markers(&svg), 2 + 1, "two components and the key");
    assert!(texts(&svg).contains(&"95 % of permuted rows: 0.3".to_owned()));
    let told = "component 2\nrows of the fit 0.6\nheld out −0.1 ± 0.2\nto compare with permuted rows 0.4";
    assert_eq!(tooltips(&svg)[1], told);
}

#[test]
fn correlations_of_odd_numbers_give_a_picture() {
    let many = vec![0.5; 300];
    for (training, held_out, null) in [
        (&[][..], None, None),
        (&[0.4], None, Some(f64::NAN)),
        (&[f64::NAN, 0.2], Some((&[f64::INFINITY, f64::NAN][..], &[f64::NAN, -1.0][..])), Some(0.5)),
        (&[f64::MAX, f64::MIN], Some((&[1e300, 0.0][..], &[1e300, 0.0][..])), Some(f64::MAX)),
        (&many, Some((&many[..], &many[..])), None),
    ] {
        let figure = correlations(&CorrelationsPicture {
            training,
            held_out,
            null,
            tested: Some(training),
            title: HOSTILE,
        })
        .unwrap();
        assert_sound(&figure, 2.0);
        assert!(!figure.to_svg().contains("<script"));
    }
    let figure = correlations(&CorrelationsPicture { training: &many, ..Default::default() }).unwrap();
    assert!(texts(&figure.to_svg()).contains(&"first 200 of 300 components".to_owned()));
    let figure = correlations(&CorrelationsPicture { training: &[f64::NAN], ..Default::default() }).unwrap();
    assert!(texts(&figure.to_svg()).contains(&"1 value not finite, left out".to_owned()));
    for held_out in [(&[0.1][..], &[0.1, 0.1][..]), (&[0.1, 0.1], &[0.1])] {
        let input =
            CorrelationsPicture { training: &[0.5, 0.4], held_out: Some(held_out), ..Default::default() };
        assert!(matches!(correlations(&input), Err(PlotError::LengthMismatch { found: 1, required: 2, .. })));
    }
}

#[test]
fn one_component_has_its_correlation_below() {
    let classes = ["a", "b", "a"].map(String::from);
    let input = CanonicalPicture {
        first: &[0.0, 1.0, 2.0],
        second: &[0.0, 1.0, f64::NAN],
        views: ["genes", ""],
        component: 3,
        color: Color::Classes(&classes),
        correlation: 0.5,
        title: HOSTILE,
    };
    let figure = canonical(&input).unwrap();
    assert_sound(&figure, 2.0);
    let found = texts(&figure.to_svg());
    for text in
        ["genes, component 3", "view 2, component 3", "correlation ρ = 0.5", "1 point not finite, left out"]
    {
        assert!(found.contains(&text.to_owned()), "{text}: {found:?}");
    }
    let without = canonical(&CanonicalPicture { correlation: f64::NAN, ..input }).unwrap();
    assert!(!without.to_svg().contains('ρ'));
    let error = canonical(&CanonicalPicture { second: &[0.0], ..input }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { found: 1, required: 3, .. }));
}

#[test]
fn a_gallery_has_up_to_four_panels_with_the_same_rows() {
    let (a, mut b) = (vec![1.0, 2.0, 3.0, 4.0], vec![4.0, 3.0, 1.0, 2.0]);
    b[2] = f64::INFINITY;
    let classes = ["x", "y", "x", "x"].map(String::from);
    let good = CanonicalPair { first: &a, second: &a, correlation: 1.0 };
    let pairs = [good, CanonicalPair { second: &b, correlation: -0.25, ..good }, good, good, good, good];
    for (n, n_panels) in [(2, 2), (3, 3), (4, 4), (6, 4)] {
        let input = CanonicalGallery {
            pairs: &pairs[..n],
            color: Color::Classes(&classes),
            title: "t",
            ..Default::default()
        };
        let figure = canonical_gallery(&input).unwrap();
        assert_sound(&figure, 2.0);
        let svg = figure.to_svg();
        // Three finite rows in each panel, two classes in the legend.
        assert_eq!(n_markers(&svg), 3 * n_panels + 2);
        let found = texts(&svg);
        assert!(found.contains(&"component 2, ρ = −0.25".to_owned()), "{found:?}");
        assert_eq!(found.contains(&"first 4 of 6 components".to_owned()), n == 6);
        assert!(found.contains(&"1 point not finite, left out".to_owned()));
    }
}

#[test]
fn galleries_of_odd_numbers_give_a_picture() {
    let huge = [f64::MAX, f64::MIN, 0.0];
    let nowhere = [f64::NAN; 3];
    let pair = |values| CanonicalPair { first: values, second: values, correlation: f64::NAN };
    let values = [1.0, f64::NAN, 2.0];
    for pairs in
        [&[][..], &[pair(&huge)], &[pair(&huge), pair(&nowhere)], &[pair(&huge), pair(&[1e-9, 2e-9, 3e-9])]]
    {
        for color in [Color::None, Color::Values { name: HOSTILE, values: &values }] {
            let input = CanonicalGallery { pairs, color, views: [HOSTILE; 2], title: HOSTILE };
            assert_sound(&canonical_gallery(&input).unwrap(), 2.0);
        }
    }
    let short = [pair(&huge), pair(&huge[..2])];
    let error = canonical_gallery(&CanonicalGallery { pairs: &short, ..Default::default() }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { found: 2, required: 3, .. }));
    let color = Color::Values { name: "", values: &values[..1] };
    let input = CanonicalGallery { pairs: &short[..1], color, ..Default::default() };
    assert!(canonical_gallery(&input).is_err());
}

#[test]
fn many_points_of_a_gallery_are_density() {
    let first: Vec<f64> = (0..100_000).map(|k| f64::from(k % 317)).collect();
    let second: Vec<f64> = (0..100_000).map(|k| f64::from(k % 499)).collect();
    let pairs = [CanonicalPair { first: &first, second: &second, correlation: 0.1 }; 4];
    let svg = canonical_gallery(&CanonicalGallery { pairs: &pairs, ..Default::default() }).unwrap().to_svg();
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    assert!(texts(&svg).contains(&"100 000 points, drawn as density".to_owned()));
}

#[test]
fn regularization_has_a_logarithmic_axis_and_marks_what_is_chosen() {
    let input = RegularizationPicture {
        kappas: &[1.0, 1e-4, 1e-2],
        scores: &[0.7, 0.4, 0.9],
        errors: &[0.03, 0.05, 0.02],
        chosen: 2,
        y_label: "held-out accuracy",
        ..Default::default()
    };
    let figure = regularization(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let circles = parse(&svg).into_iter().find(|e| e.attribute("class") == Some("markers")).unwrap();
    let places: Vec<f64> = circles
        .attribute("d")
        .unwrap()
        .split('M')
        .skip(1)
        .map(|m| m.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!((places[2] - 2.0 * places[1] + places[0]).abs() < 0.05, "sorted, and equal steps: {places:?}");
    let [left, _, width, _] = plot(&svg);
    assert!(places[0] > left && places[2] < left + width);
    assert!(texts(&svg).contains(&"chosen: 0.01".to_owned()));
    assert_eq!(
        tooltips(&svg),
        [
            "κ = 10⁻⁴\nheld-out accuracy 0.4 ± 0.05",
            "κ = 0.01\nheld-out accuracy 0.9 ± 0.02\nchosen",
            "κ = 1\nheld-out accuracy 0.7 ± 0.03"
        ]
    );
}

#[test]
fn odd_regularization_gives_a_picture_or_an_error() {
    for (kappas, scores, errors) in [
        (&[][..], &[][..], &[][..]),
        (&[1e-3], &[0.5], &[]),
        (&[0.0, -1.0, f64::NAN], &[0.5; 3], &[0.1; 3]),
        (&[1e-300, 1e300], &[f64::MAX, f64::MIN], &[f64::MAX, f64::NAN]),
        (&[1.0, 1.0], &[f64::NAN, 1.0], &[-1.0, 0.0]),
    ] {
        let labels = RegularizationPicture {
            x_label: HOSTILE,
            y_label: HOSTILE,
            title: HOSTILE,
            ..Default::default()
        };
        let figure = regularization(&RegularizationPicture { kappas, scores, errors, ..labels }).unwrap();
        assert_sound(&figure, 2.0);
    }
    let base = RegularizationPicture { kappas: &[1.0, 2.0], scores: &[1.0, 2.0], ..Default::default() };
    let error = regularization(&RegularizationPicture { chosen: usize::MAX, ..base }).unwrap_err();
    assert!(error.to_string().starts_with("the chosen κ is step"), "{error}");
    assert!(regularization(&RegularizationPicture { scores: &[1.0], ..base }).is_err());
    assert!(regularization(&RegularizationPicture { errors: &[1.0], ..base }).is_err());
    let zero = regularization(&RegularizationPicture { kappas: &[0.0, 2.0], chosen: 1, ..base }).unwrap();
    let note = "1 value without a finite score or a positive κ, left out";
    assert!(texts(&zero.to_svg()).contains(&note.to_owned()));
}
