//! Rows far from a model, and the contributions of columns.

use crate::support::{assert_sound, n_markers, parse, texts, tooltips};
use eigenlift_plot::{MonitorPicture, PlotError, contributions, monitor, monitor_chart};

const HOSTILE: &str = "<script>&\"'</text>\u{0}\u{1b}]]>";

/// The number of markers in a colour.
fn n_in(svg: &str, color: &str) -> usize {
    let paths = parse(svg).into_iter().filter(|e| e.attribute("class") == Some("markers"));
    let of_color = paths.filter(|e| [e.attribute("fill"), e.attribute("stroke")].contains(&Some(color)));
    of_color.map(|e| e.attribute("d").unwrap_or_default().matches('M').count()).sum()
}

#[test]
fn rows_beyond_a_limit_stand_out() {
    let labels = ["a", "b", "c", "d", "e"].map(String::from);
    let input = MonitorPicture {
        t_squared: &[1.0, 2.0, 20.0, 3.0, f64::NAN],
        spe: &[0.1, 0.9, 0.2, 0.5, 0.1],
        limits: Some((9.0, 0.5)),
        labels: Some(&labels),
        title: "far",
    };
    let figure = monitor(&input).unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    // Row d lies on its limit, not beyond it. One marker of each kind is in the legend.
    assert_eq!((n_in(&svg, "#0072b2"), n_in(&svg, "#b84e00")), (2 + 1, 2 + 1));
    let found = texts(&svg);
    for text in
        ["T² limit 9", "SPE limit 0.5", "2 of 4 rows beyond a limit", "1 row not finite, left out", "b", "c"]
    {
        assert!(found.contains(&text.to_owned()), "{text}: {found:?}");
    }
    assert!(!found.contains(&"a".to_owned()), "only rows beyond a limit are named");
    assert_eq!(tooltips(&svg).last().unwrap(), "c\nT² 20\nSPE 0.2", "the furthest on top");
    assert_eq!(tooltips(&svg).len(), 4);

    let svg = monitor_chart(&input).unwrap().to_svg();
    // Each panel holds a row against its own limit alone.
    assert_eq!((n_in(&svg, "#0072b2"), n_in(&svg, "#b84e00")), (6 + 1, 2 + 1));
    assert!(texts(&svg).contains(&"SPE limit 0.5".to_owned()));
    let without = monitor(&MonitorPicture { limits: None, labels: None, ..input }).unwrap().to_svg();
    assert_eq!((n_markers(&without), n_in(&without, "#b84e00")), (4, 0));
    assert!(tooltips(&without).last().unwrap().starts_with("row 2\n"), "rows are counted from 1");
}

#[test]
fn an_axis_is_logarithmic_over_more_than_two_decades() {
    let spe = [1.0, 2.0, 3.0];
    let ticks = |t_squared: &[f64]| {
        texts(&monitor(&MonitorPicture { t_squared, spe: &spe, ..Default::default() }).unwrap().to_svg())
    };
    assert!(ticks(&[0.01, 1.0, 1000.0]).contains(&"1000".to_owned()));
    assert!(!ticks(&[0.01, 1.0, 1000.0]).contains(&"400".to_owned()), "powers of ten");
    assert!(ticks(&[11.0, 100.0, 1000.0]).contains(&"400".to_owned()), "equal steps");
    let mut t_squared: Vec<f64> = (0..300).map(|k| 1.0 + f64::from(k).powi(2)).collect();
    t_squared[7] = 0.0;
    t_squared[8] = 1e-30;
    let spe = vec![1.0; 300];
    let svg =
        monitor(&MonitorPicture { t_squared: &t_squared, spe: &spe, ..Default::default() }).unwrap().to_svg();
    assert!(texts(&svg).contains(&"2 rows below an axis, drawn at its end".to_owned()));
    assert_eq!(n_markers(&svg), 300);
}

#[test]
fn very_many_rows_are_density() {
    let t_squared: Vec<f64> = (0..100_000).map(|k| f64::from(k * 37 % 1009) / 90.0).collect();
    let spe: Vec<f64> = (0..100_000).map(|k| f64::from(k * 61 % 997)).collect();
    let input = MonitorPicture {
        t_squared: &t_squared,
        spe: &spe,
        limits: Some((11.0, 990.0)),
        ..Default::default()
    };
    for figure in [monitor(&input).unwrap(), monitor_chart(&input).unwrap()] {
        let svg = figure.to_svg();
        assert!(svg.len() < 1_500_000, "{} bytes", svg.len());
        assert!(texts(&svg).contains(&"100 000 rows, drawn as density".to_owned()));
        assert_sound(&figure, 2.0);
    }
}

#[test]
fn odd_rows_give_a_picture() {
    let labels = vec![HOSTILE.repeat(5); 3];
    for (t_squared, spe, limits) in [
        (&[][..], &[][..], Some((1.0, 1.0))),
        (&[0.0], &[0.0], Some((-1.0, 0.0))),
        (&[f64::NAN], &[1.0], None),
        (&[-1e-17, 5.0, 5.0], &[0.0, 0.0, 0.0], Some((f64::NAN, f64::INFINITY))),
        (&[f64::MAX, 1e-300, 0.0], &[f64::MIN, f64::MAX, f64::INFINITY], Some((1e300, 1e-300))),
    ] {
        let labels = Some(&labels[..t_squared.len()]);
        let input = MonitorPicture { t_squared, spe, limits, labels, title: HOSTILE };
        assert_sound(&monitor(&input).unwrap(), 2.0);
        assert_sound(&monitor_chart(&input).unwrap(), 2.0);
    }
    let base = MonitorPicture { t_squared: &[1.0], spe: &[1.0], ..Default::default() };
    for draw in [monitor, monitor_chart] {
        let error = draw(&MonitorPicture { spe: &[], ..base }).unwrap_err();
        assert!(matches!(error, PlotError::LengthMismatch { what: "SPE", found: 0, required: 1, .. }));
        assert!(draw(&MonitorPicture { labels: Some(&[]), ..base }).is_err());
    }
}

#[test]
fn contributions_are_sorted_and_the_rest_is_counted() {
    let names: Vec<String> = (0..30).map(|k| format!("column {k}")).collect();
    let mut values: Vec<f64> =
        (0..30).map(|k| if k % 2 == 0 { f64::from(k) } else { -f64::from(k) }).collect();
    values[29] = f64::NAN;
    let figure = contributions(&names, &values, "row 17", "contribution to T²").unwrap();
    assert_sound(&figure, 2.0);
    let svg = figure.to_svg();
    let columns: Vec<String> = texts(&svg).into_iter().filter(|text| text.starts_with("column")).collect();
    assert_eq!(columns.len(), 20);
    assert_eq!(columns[..3], ["column 28", "column 27", "column 26"].map(String::from));
    for note in ["9 more, none above 8 in magnitude", "1 value not finite, left out"] {
        assert!(texts(&svg).contains(&note.to_owned()), "{note}");
    }
    let bars: Vec<(String, f64, f64)> = parse(&svg)
        .iter()
        .filter(|e| e.attribute("fill-opacity") == Some("0.8"))
        .map(|e| {
            let number = |key| e.attribute(key).unwrap().parse::<f64>().unwrap();
            (e.attribute("fill").unwrap().to_owned(), number("x"), number("width"))
        })
        .collect();
    // Bars to the left of zero end where those to the right begin.
    assert_eq!((bars[0].0.as_str(), bars[1].0.as_str()), ("#0072b2", "#b84e00"));
    assert!((bars[0].1 - bars[1].1 - bars[1].2).abs() < 0.02, "{bars:?}");
    assert!((bars[1].2 / bars[0].2 - 27.0 / 28.0).abs() < 1e-3, "{bars:?}");
}

#[test]
fn odd_contributions_give_a_picture() {
    for values in [&[][..], &[0.0], &[f64::NAN], &[f64::MAX, f64::MIN], &[1e-300, -1e-300], &[-5.0]] {
        let names = vec![HOSTILE.repeat(9); values.len()];
        let figure = contributions(&names, values, HOSTILE, HOSTILE).unwrap();
        assert_sound(&figure, 2.0);
        assert!(!figure.to_svg().contains("<script"));
    }
    let error = contributions(&[], &[1.0], "", "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the list of names has 0 entries; 1 are required, one for each of the values. Pass slices of one length."
    );
}
