//! Images and rows with their pre-images: what is drawn where, what is marked, and odd input.

use crate::support::{Element, assert_sound, n_markers, parse, texts};
use eigenlift_plot::{PlotError, PreimageRow, PreimageScatter, Preimages, preimage_scatter, preimages};

const FIRST: &[f64] = &[0.0, 1.0, 1.0, 0.0];
const SECOND: &[f64] = &[1.0, 0.0, 0.0, 0.5];
const ROWS: &[PreimageRow] = &[
    PreimageRow { label: "noisy", images: &[FIRST, SECOND] },
    PreimageRow { label: "denoised", images: &[SECOND, FIRST] },
];

fn example() -> Preimages<'static> {
    Preimages { rows: ROWS, height: 2, width: 2, title: "Images", ..Preimages::default() }
}

/// x, y and fill of each square with a fill, the page left out.
fn squares(svg: &str) -> Vec<([f64; 4], String)> {
    let number = |e: &Element, key: &str| e.attribute(key).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0);
    let filled = parse(svg).into_iter().skip(1).filter(|e| e.name == "rect" && e.attribute("x").is_some());
    filled
        .filter(|e| e.attribute("fill").is_some_and(|fill| fill != "none"))
        .map(|e| {
            (
                ["x", "y", "width", "height"].map(|key| number(&e, key)),
                e.attribute("fill").unwrap().to_owned(),
            )
        })
        .collect()
}

fn place(svg: &str, content: &str) -> [f64; 2] {
    let found: Vec<_> = parse(svg).into_iter().filter(|e| e.name == "text" && e.text == content).collect();
    assert_eq!(found.len(), 1, "{content}");
    ["x", "y"].map(|key| found[0].attribute(key).unwrap().parse().unwrap())
}

#[test]
fn pixels_stand_in_rows_and_columns() {
    let captions = ["0.1", "0.2"].map(String::from);
    let figure = preimages(&Preimages { captions: &captions, ..example() }).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let squares = squares(&svg);
    // Column by column, row by row; two equal pixels of a line are one square.
    let greys: Vec<&str> = squares[..16].iter().map(|(_, fill)| fill.as_str()).collect();
    let (black, white, grey) = ("#000000", "#ffffff", "#808080");
    let (first, second) = ([black, white, white, black], [white, black, black, grey]);
    assert_eq!(greys, [first, second, second, first].concat());
    let corner = |k: usize| [squares[4 * k].0[0], squares[4 * k].0[1]];
    assert_eq!(corner(0)[0], corner(1)[0], "below each other");
    assert_eq!(corner(0)[1], corner(2)[1], "beside each other");
    assert!(corner(0)[1] < corner(1)[1] && corner(0)[0] < corner(2)[0]);
    let (noisy, denoised) = (place(&svg, "noisy"), place(&svg, "denoised"));
    assert!(noisy[0] < corner(0)[0] && noisy[1] < denoised[1]);
    assert!(denoised[1] > corner(1)[1] && denoised[1] < place(&svg, "0.1")[1]);
    assert!(place(&svg, "0.1")[0] > corner(0)[0] && place(&svg, "0.1")[0] < corner(2)[0]);
    assert!(!texts(&svg).iter().any(|t| t == "?" || t.contains("trust")), "no marks, no key");
}

#[test]
fn pre_images_not_to_be_trusted_are_framed_and_named() {
    let svg = preimages(&Preimages { untrusted: &[false, true], ..example() }).unwrap().to_svg();
    let frames: Vec<Element> = parse(&svg)
        .into_iter()
        .filter(|e| e.name == "rect" && e.attribute("stroke-dasharray").is_some())
        .collect();
    assert_eq!(frames.len(), 2, "the image and the key");
    let image = &squares(&svg)[12].0;
    let at = ["x", "y"].map(|key| frames[0].attribute(key).unwrap().parse::<f64>().unwrap());
    assert!(
        (image[0] - at[0] - 1.0).abs() < 0.02 && (image[1] - at[1] - 1.0).abs() < 0.02,
        "{at:?} {image:?}"
    );
    assert_eq!(texts(&svg).iter().filter(|t| *t == "?").count(), 2);
    assert!(texts(&svg).contains(&"no trustworthy pre-image".to_owned()));
}

#[test]
fn the_scale_of_grey_is_given_or_found() {
    let ends = |range: Option<(f64, f64)>| {
        let svg = preimages(&Preimages { range, ..example() }).unwrap().to_svg();
        (texts(&svg), squares(&svg)[..4].iter().map(|(_, fill)| fill.clone()).collect::<Vec<_>>())
    };
    let (found, _) = ends(None);
    assert!(found.contains(&"0".to_owned()) && found.contains(&"1".to_owned()), "{found:?}");
    let (found, greys) = ends(Some((-1.0, 3.0)));
    assert!(found.contains(&"−1".to_owned()) && found.contains(&"3".to_owned()), "{found:?}");
    assert_eq!(greys, ["#404040", "#808080", "#808080", "#404040"]);
    for (lo, hi) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        let error = preimages(&Preimages { range: Some((lo, hi)), ..example() }).unwrap_err();
        assert!(matches!(error, PlotError::BadRange { .. }), "{error}");
    }
}

#[test]
fn more_images_than_fit_are_counted() {
    let images = vec![FIRST; 40];
    let rows = [PreimageRow { label: "row", images: &images }; 14];
    let untrusted: Vec<bool> = (0..40).map(|k| k >= 37).collect();
    let figure = preimages(&Preimages { rows: &rows, untrusted: &untrusted, ..example() }).unwrap();
    assert_sound(&figure, 2.0);
    let found = texts(&figure.to_svg());
    assert_eq!(found.iter().filter(|t| *t == "row").count(), 24, "12 rows in two blocks");
    for note in ["24 more columns not drawn, 3 of them not to be trusted", "2 more rows not drawn"] {
        assert!(found.contains(&note.to_owned()), "{found:?}");
    }
    let large = vec![0.5; 300 * 200];
    let rows = [PreimageRow { label: "", images: &[&large] }];
    let figure = preimages(&Preimages { rows: &rows, height: 300, width: 200, ..example() }).unwrap();
    assert!(texts(&figure.to_svg()).contains(&"averages of 3 × 3 pixels".to_owned()));
}

#[test]
fn wrong_lengths_are_errors() {
    let captions = [String::new()];
    let uneven = [ROWS[0], PreimageRow { label: "", images: &[FIRST] }];
    let odd = [
        Preimages { height: 3, ..example() },
        Preimages { height: usize::MAX, width: 2, ..example() },
        Preimages { rows: &uneven, ..example() },
        Preimages { captions: &captions, ..example() },
        Preimages { untrusted: &[true; 3], ..example() },
    ];
    for input in odd {
        assert!(matches!(preimages(&input).unwrap_err(), PlotError::LengthMismatch { .. }), "{input:?}");
    }
}

#[test]
fn odd_images_give_a_picture() {
    let empty: &[f64] = &[];
    let no_pixels = [PreimageRow { label: "a", images: &[empty] }];
    let no_images = [PreimageRow { label: "a", images: &[] }];
    for rows in [&[][..], &no_pixels, &no_images] {
        let figure = preimages(&Preimages { rows, height: 0, width: 7, ..example() }).unwrap();
        assert_sound(&figure, 2.0);
        assert!(texts(&figure.to_svg()).contains(&"no images".to_owned()));
    }
    for values in
        [[f64::NAN; 6], [f64::INFINITY; 6], [3.0; 6], [f64::MAX, f64::MIN, 0.0, 1.0, 1e-320, f64::NAN]]
    {
        for (height, width) in [(1, 6), (6, 1), (2, 3)] {
            let rows = [PreimageRow { label: "<&\"", images: &[&values] }];
            let figure = preimages(&Preimages { rows: &rows, height, width, ..example() }).unwrap();
            assert_sound(&figure, 2.0);
        }
    }
    let rows = [PreimageRow { label: "", images: &[&[f64::NAN, 1.0]] }];
    let svg = preimages(&Preimages { rows: &rows, height: 1, width: 2, ..example() }).unwrap().to_svg();
    assert!(texts(&svg).contains(&"1 pixel not finite, light blue".to_owned()));
}

fn moved() -> PreimageScatter<'static> {
    PreimageScatter {
        before: (&[0.0, 4.0, 2.0], &[0.0, 3.0, 1.0]),
        after: (&[1.0, 3.0, 2.0], &[0.0, 3.0, 2.0]),
        names: ("a", "b"),
        untrusted: &[false, false, true],
        title: "Moves",
    }
}

/// The ends of the lines of a colour.
fn segments(svg: &str, color: &str) -> Vec<Vec<[f64; 2]>> {
    let pair = |pair: &str| {
        let numbers: Vec<f64> = pair.split(' ').map(|v| v.parse().unwrap()).collect();
        [numbers[0], numbers[1]]
    };
    let opaque = |e: &Element| e.attribute("stroke-opacity").is_none();
    let paths = parse(svg).into_iter().filter(|e| {
        let is_markers = e.attribute("class") == Some("markers");
        e.name == "path" && !is_markers && e.attribute("stroke") == Some(color) && !opaque(e)
    });
    let parts = |e: Element| -> Vec<Vec<[f64; 2]>> {
        let path = e.attribute("d").unwrap();
        path.split('M').skip(1).map(|part| part.split('L').map(pair).collect()).collect()
    };
    paths.flat_map(parts).collect()
}

#[test]
fn lines_lead_from_rows_to_their_pre_images() {
    let figure = preimage_scatter(&moved()).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let (trusted, untrusted) = (segments(&svg, "#999999"), segments(&svg, "#b84e00"));
    assert_eq!((trusted.len(), untrusted.len()), (2, 1));
    // One unit to the right, one to the left, one up, all as long as each other.
    let unit = trusted[0][1][0] - trusted[0][0][0];
    assert!(unit > 0.0);
    assert!((trusted[1][0][0] - trusted[1][1][0] - unit).abs() < 0.03);
    assert!((untrusted[0][0][1] - untrusted[0][1][1] - unit).abs() < 0.03, "one scale");
    assert_eq!(n_markers(&svg), 3 + 3 + 3, "rows, pre-images, legend");
    for name in ["row", "pre-image", "untrusted", "a", "b"] {
        assert!(texts(&svg).contains(&name.to_owned()), "{name}");
    }
    let all = preimage_scatter(&PreimageScatter { untrusted: &[], ..moved() }).unwrap().to_svg();
    assert!(!texts(&all).contains(&"untrusted".to_owned()));
}

#[test]
fn odd_moves_give_a_picture() {
    let figure = preimage_scatter(&PreimageScatter::default()).unwrap();
    assert_sound(&figure, 2.0);
    assert!(texts(&figure.to_svg()).contains(&"no rows".to_owned()));
    for values in [[5.0, 5.0], [f64::MAX, f64::MIN], [0.0, 1e-320], [f64::NAN, f64::INFINITY], [1e300, 0.0]] {
        let both = (&values[..], &values[..]);
        let input = PreimageScatter { before: both, after: both, untrusted: &[true, false], ..moved() };
        assert_sound(&preimage_scatter(&input).unwrap(), 2.0);
    }
    let x: Vec<f64> = (0..50_000).map(|k| (f64::from(k) * 0.7).sin()).collect();
    let input = PreimageScatter { before: (&x, &x), after: (&x, &x), untrusted: &[], ..moved() };
    let svg = preimage_scatter(&input).unwrap().to_svg();
    assert!(svg.len() < 1_000_000 && texts(&svg).contains(&"1 of 13 rows shown".to_owned()));
    let nan = PreimageScatter { after: (&[1.0, f64::NAN, 2.0], &[0.0; 3]), ..moved() };
    assert!(
        texts(&preimage_scatter(&nan).unwrap().to_svg()).contains(&"1 row not finite, left out".to_owned())
    );
    let wrong = [
        PreimageScatter { before: (&[0.0; 3], &[]), ..moved() },
        PreimageScatter { after: (&[0.0; 4], &[0.0; 3]), ..moved() },
        PreimageScatter { after: (&[0.0; 3], &[0.0; 2]), ..moved() },
        PreimageScatter { untrusted: &[true], ..moved() },
    ];
    for input in wrong {
        assert!(matches!(preimage_scatter(&input).unwrap_err(), PlotError::LengthMismatch { .. }));
    }
}

#[test]
fn text_is_large_enough_for_a_column() {
    for figure in [preimages(&example()).unwrap(), preimage_scatter(&moved()).unwrap()] {
        for element in parse(&figure.to_svg()).iter().filter(|e| e.name == "text") {
            let size: f64 = element.attribute("font-size").unwrap().parse().unwrap();
            assert!(size * 3.4 * 72.0 / figure.width() >= 7.0, "{size}");
        }
    }
}
