//! Gram matrices: order, means over blocks, entries in words, and odd matrices.

use crate::support::{assert_sound, n_pixels_near, parse, pixels, texts, tooltips};
use eigenlift_plot::{GramPicture, PlotError, gram_picture};

/// K with the entry 1 within a class and 0 between, and HKH.
fn two_classes(n: usize) -> (Vec<f64>, Vec<f64>, Vec<String>) {
    let classes: Vec<String> =
        (0..n).map(|row| if row % 2 == 0 { "even" } else { "odd" }.to_owned()).collect();
    let same = |k: usize| k / n % 2 == k % n % 2;
    let gram = (0..n * n).map(|k| f64::from(u8::from(same(k)))).collect();
    let centered = (0..n * n).map(|k| if same(k) { 0.5 } else { -0.5 }).collect();
    (gram, centered, classes)
}

/// Lines of the cells of each colour: an element with its start and length in `d`.
fn n_runs(svg: &str) -> usize {
    let runs = parse(svg).into_iter().filter_map(|e| e.attribute("d").map(|d| d.matches('h').count()));
    runs.sum()
}

#[test]
fn rows_of_one_class_stand_together() {
    let (gram, centered, classes) = two_classes(50);
    let base = GramPicture { gram: &gram, centered: &centered, n: 50, ..GramPicture::default() };
    let ordered = gram_picture(&GramPicture { classes: Some(&classes), ..base }).unwrap().to_svg();
    // Two runs in each row of each matrix, where rows in turn have fifty.
    assert_eq!(n_runs(&ordered), 2 * 2 * 50);
    assert_eq!(n_runs(&gram_picture(&base).unwrap().to_svg()), 2 * 50 * 50);
    let found = texts(&ordered);
    for text in ["even", "odd", "rows ordered by class", "Gram matrix K"] {
        assert!(found.contains(&text.to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn many_rows_are_means_and_small() {
    let (gram, centered, classes) = two_classes(1000);
    let input =
        GramPicture { gram: &gram, centered: &centered, n: 1000, classes: Some(&classes), title: "many" };
    let figure = gram_picture(&input).unwrap();
    let svg = figure.to_svg();
    assert!(texts(&svg).contains(&"1000 rows; each cell is the mean of 7 × 7 entries".to_owned()));
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    let noise: Vec<f64> = (0..160 * 160).map(|k| (f64::from(k) * 0.7).sin()).collect();
    let hard = GramPicture { gram: &noise, centered: &noise, n: 160, ..GramPicture::default() };
    let svg = gram_picture(&hard).unwrap().to_svg();
    assert!(svg.len() < 1_100_000, "{} bytes", svg.len());
}

#[test]
fn small_matrices_are_written_out() {
    // The worked example: three points on a line, linear kernel.
    let gram = [1.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0];
    let centered = [1.0, 0.125, -1.0, 0.125, 0.0, 0.0, -1.0, 0.0, 1.0];
    let figure =
        gram_picture(&GramPicture { gram: &gram, centered: &centered, n: 3, ..GramPicture::default() });
    let svg = figure.unwrap().to_svg();
    let count = |text: &str| texts(&svg).iter().filter(|t| *t == text).count();
    assert_eq!((count("−1"), count("0.125")), (4, 2));
    assert!(tooltips(&svg).contains(&"row 2, column 1: 0.125".to_owned()));
    let wide: Vec<f64> = (0..36).map(|k| -0.123_4 - f64::from(k)).collect();
    let figure = gram_picture(&GramPicture { gram: &wide, centered: &wide, n: 6, ..GramPicture::default() });
    let figure = figure.unwrap();
    assert!(figure.height() > 600.0, "below each other");
    assert!(texts(&figure.to_svg()).contains(&"−35.1".to_owned()));
}

#[test]
fn the_first_is_from_least_to_largest_and_the_second_around_zero() {
    let (gram, centered, classes) = two_classes(40);
    let input = GramPicture { gram: &gram, centered: &centered, n: 40, classes: Some(&classes), title: "" };
    let pixmap = pixels(&gram_picture(&input).unwrap(), 2.0);
    // Yellow and violet ends of the ramp, blue and vermilion ends of the other.
    for rgb in [[0xdf, 0xdf, 0x3a], [0x3b, 0x0f, 0x56], [0x14, 0x77, 0xc2], [0xb4, 0x54, 0x14]] {
        assert!(n_pixels_near(&pixmap, rgb) > 10_000, "{rgb:?}");
    }
}

#[test]
fn odd_matrices_give_a_picture() {
    let nan = f64::NAN;
    for (matrix, n) in [
        (vec![], 0),
        (vec![1.0], 1),
        (vec![nan], 1),
        (vec![0.0; 4], 2),
        (vec![nan, f64::INFINITY, 1.0, 2.0], 2),
        (vec![f64::MAX, f64::MIN, -1.0, 1e-300], 2),
        (vec![1e300; 25], 5),
    ] {
        let classes: Vec<String> = (0..n).map(|k| format!("</text>{k}")).collect();
        let base = GramPicture { gram: &matrix, centered: &matrix, n, ..GramPicture::default() };
        for input in [base, GramPicture { classes: Some(&classes), title: "odd", ..base }] {
            assert_sound(&gram_picture(&input).unwrap(), 2.0);
        }
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let base = GramPicture { gram: &[1.0], centered: &[0.0], n: 1, ..GramPicture::default() };
    let error = gram_picture(&GramPicture { n: 2, ..base }).unwrap_err();
    assert!(matches!(
        error,
        PlotError::LengthMismatch { what: "the Gram matrix", found: 1, required: 4, .. }
    ));
    assert!(gram_picture(&GramPicture { n: usize::MAX, ..base }).is_err());
    let error = gram_picture(&GramPicture { classes: Some(&[]), ..base }).unwrap_err();
    assert!(matches!(error, PlotError::LengthMismatch { what: "the classes", .. }));
}
