//! The report: one HTML file, with everything in it escaped and nothing loaded from elsewhere.

use eigenlift_plot::{
    Block, Color, PlotError, PointColor, Points, Report, RowTable, Scatter, Section, scatter, web,
};
use sha2::{Digest, Sha256};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&amp;<!--";

fn points() -> Points {
    Points {
        name: "Scores".into(),
        caption: "Two components".into(),
        axes: vec!["kpca1".into(), "kpca2".into()],
        scores: vec![0.5, -1.0, f64::NAN, 2.0, 3.0, 4.0],
        color: PointColor::Classes {
            name: "kind".into(),
            labels: ["a", "b", "a"].map(String::from).to_vec(),
        },
        rows: Some(RowTable {
            names: vec!["u".into(), "v".into()],
            values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
        }),
        image: Some([1, 2]),
        row_numbers: vec![2, 3, 7],
        ..Points::default()
    }
}

/// A report with every kind of block, in which every text is `text`.
fn report(text: &str) -> Report {
    let t = || text.to_owned();
    let figure = scatter(&Scatter {
        x: &[0.0, 1.0],
        y: &[0.0, 1.0],
        color: Color::Classes(&[t(), t()]),
        title: text,
        ..Scatter::default()
    });
    let named = Points {
        name: t(),
        caption: t(),
        axes: vec![t(), t()],
        color: PointColor::Classes { name: t(), labels: vec![t(), t(), t()] },
        rows: Some(RowTable { names: vec![t(), t()], values: vec![0.0; 6] }),
        ..points()
    };
    let blocks = vec![
        Block::Text { lines: vec![t()] },
        Block::Facts { rows: vec![(t(), t())] },
        Block::Preformatted { text: t() },
        Block::Command { text: t() },
        Block::Table { heading: vec![t()], rows: vec![vec![t()]], caption: t() },
        Block::Figure { name: t(), svg: figure.map(|f| f.to_svg()).unwrap_or_default(), caption: t() },
        Block::Points(named),
    ];
    Report {
        title: t(),
        subtitle: t(),
        warnings: vec![t()],
        sections: vec![Section { heading: t(), blocks }, Section { heading: t(), blocks: Vec::new() }],
    }
}

fn with_points(points: Points) -> Report {
    let section = Section { heading: "Picture".into(), blocks: vec![Block::Points(points)] };
    Report { title: "T".into(), sections: vec![section], ..Report::default() }
}

/// Everything between each pair of marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).filter_map(|rest| rest.split(to).next()).collect()
}

/// RFC 4648, the slow way: six bits at a time.
fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = bytes.iter().flat_map(|b| (0..8).rev().map(move |k| b >> k & 1)).collect();
    let mut out: String = bits
        .chunks(6)
        .map(|six| (0..6).fold(0, |sum, k| 2 * sum + usize::from(six.get(k).copied().unwrap_or(0))))
        .map(|digit| char::from(digits[digit]))
        .collect();
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

#[test]
fn warnings_come_before_sections() {
    let html = report("Row 4 has no neighbour.").to_html().unwrap();
    let place = |mark: &str| html.find(mark).unwrap_or_else(|| panic!("{mark} is missing"));
    assert!(place("<h1>") < place("class=\"warnings\""));
    assert!(place("<li>Row 4 has no neighbour.</li>") < place("<nav"));
    assert!(place("<nav") < place("<section"));
    let calm = Report { warnings: Vec::new(), ..report("x") }.to_html().unwrap();
    assert!(calm.contains("No warnings.") && !calm.contains("<div class=\"warnings\""));
}

#[test]
fn hostile_text_stays_text() {
    let html = report(HOSTILE).to_html().unwrap();
    assert!(!html.contains("<img"));
    assert!(!html.contains("<!--"));
    // The scripts that are there: points, and ours.
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(html.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;"));
    let json = between(&html, "<script type=\"application/json\">", "</script>")[0];
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["axes"][0], HOSTILE);
    assert_eq!(data["color"]["names"][0], HOSTILE);
}

#[test]
fn the_policy_names_the_scripts_that_are_there() {
    let html = report("x").to_html().unwrap();
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\">")[0];
    assert!(policy.starts_with("default-src 'none'; "));
    for (tag, directive) in [("script", "script-src "), ("style", "style-src ")] {
        let bodies = between(&html, &format!("<{tag}>"), &format!("</{tag}>"));
        assert_eq!(bodies.len(), 1, "{tag}");
        let allowed = between(policy, directive, ";")[0];
        assert_eq!(allowed, format!("'sha256-{}'", base64(&Sha256::digest(bodies[0]))));
    }
    assert!(!html.contains(" style=") && !html.contains(" onclick="));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let html = report("x").to_html().unwrap();
    for scheme in ["http://", "https://"] {
        for rest in html.split(scheme).skip(1) {
            assert!(rest.starts_with("www.w3.org/"), "{scheme}{}", &rest[..40]);
        }
    }
    for word in ["eval(", "new Function", "innerHTML", "insertAdjacentHTML", "document.write", "import("] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn numbers_arrive_as_they_are() {
    let html = with_points(points()).to_html().unwrap();
    let json = between(&html, "<script type=\"application/json\">", "</script>")[0];
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let floats = |values: &[f32]| base64(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(data["n"], 3);
    assert_eq!(data["columns"][0]["bytes"], floats(&[0.5, f32::NAN, 3.0]));
    assert_eq!(data["columns"][1]["bytes"], floats(&[-1.0, 2.0, 4.0]));
    assert_eq!(data["rows"]["values"]["bytes"], floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]));
    assert_eq!(data["row_numbers"]["bytes"], floats(&[2.0, 3.0, 7.0]));
    assert_eq!(data["color"]["names"], serde_json::json!(["a", "b"]));
    assert_eq!(data["color"]["codes"]["bytes"], base64(&[0, 0, 1, 0, 0, 0]));
}

#[test]
fn lengths_that_disagree_are_errors() {
    let labels = PointColor::Classes { name: String::new(), labels: vec!["a".into()] };
    let values = PointColor::Values { name: String::new(), values: vec![1.0; 4] };
    let cases = [
        ("scores", 5, 6, Points { scores: vec![0.0; 5], ..points() }),
        ("labels", 1, 3, Points { color: labels, ..points() }),
        ("values", 4, 3, Points { color: values, ..points() }),
        ("row_numbers", 2, 3, Points { row_numbers: vec![1, 2], ..points() }),
        ("a row", 2, 9, Points { image: Some([3, 3]), ..points() }),
        ("values of rows", 1, 6, {
            Points {
                rows: Some(RowTable { names: vec!["u".into(), "v".into()], values: vec![0.0] }),
                ..points()
            }
        }),
    ];
    for (name, n_found, n_required, points) in cases {
        match with_points(points).to_html() {
            Err(PlotError::LengthMismatch { what, found, required, .. }) => {
                assert_eq!((what, found, required), (name, n_found, n_required));
            }
            other => panic!("{name}: {:?}", other.map(|html| html.len())),
        }
    }
    let table = Block::Table { heading: vec!["a".into()], rows: vec![Vec::new()], caption: String::new() };
    let section = Section { heading: String::new(), blocks: vec![table] };
    let error = Report { sections: vec![section], ..Report::default() }.to_html().unwrap_err();
    assert!(error.to_string().starts_with("a row of a table has 0 entries; 1 are required"), "{error}");
}

#[test]
fn json_and_back() {
    let mut before = report("x");
    let text = serde_json::to_string(&before).unwrap();
    assert!(text.contains("\"kind\":\"points\"") && text.contains("\"kind\":\"classes\""));
    let after: Report = serde_json::from_str(&text).unwrap();
    // A score that is not finite is null in JSON and not a number again after it.
    assert!(text.contains("[0.5,-1.0,null,2.0,3.0,4.0]"));
    assert_eq!(after.to_html(), before.to_html());
    if let Some(Block::Points(points)) = before.sections[0].blocks.last_mut() {
        points.scores = vec![0.25; 6];
    }
    let after: Report = serde_json::from_str(&serde_json::to_string(&before).unwrap()).unwrap();
    assert_eq!(after, before);
}

#[test]
fn what_may_be_left_out_of_json() {
    let text = r#"{"title": "T", "sections": [{"heading": "H", "blocks": [
        {"kind": "points", "name": "P", "axes": ["a"], "scores": [1, null]},
        {"kind": "table", "heading": ["x"], "rows": [["1"]]}]}]}"#;
    let report: Report = serde_json::from_str(text).unwrap();
    assert!(report.to_html().unwrap().contains("No warnings."));
}

#[test]
fn numbers_stand_at_the_right() {
    let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    let rows = vec![row("alpha", "−1.5"), row("beta", "12 %"), row("gamma", "")];
    let table = Block::Table { heading: row("name", "share"), rows, caption: String::new() };
    let section = Section { heading: "N".into(), blocks: vec![table] };
    let html = Report { sections: vec![section], ..Report::default() }.to_html().unwrap();
    assert!(html.contains("<td>alpha</td><td class=\"number\">−1.5</td>"));
    assert!(html.contains("<th scope=\"col\" class=\"number\">share</th>"));
}

#[test]
fn shared_scripts_are_whole() {
    assert!(
        web::POINTS_JS.contains("const EigenliftPoints")
            && web::POINTS_JS.contains("EigenliftPoints.create =")
    );
    assert!(web::FIGURES_JS.contains("const EigenliftFigures"));
    assert!(web::BASE_CSS.contains("--warn-paper"));
    for script in [web::POINTS_JS, web::FIGURES_JS] {
        assert!(!script.contains("</script") && !script.contains("<!--"));
    }
}

#[test]
fn pictures_and_pages_share_their_colours() {
    let labels: Vec<String> = (0..8).map(|k| k.to_string()).collect();
    let x: Vec<f64> = (0..8).map(f64::from).collect();
    let drawn = |color| scatter(&Scatter { x: &x, y: &x, color, ..Scatter::default() }).unwrap().to_svg();
    let classes = drawn(Color::Classes(&labels));
    let list = between(web::POINTS_JS, "const CLASSES = [", "]")[0];
    for color in list.split(", ") {
        assert!(classes.contains(&color.replace("0x", "#")), "{color}");
    }
    // The ends of the ramp as points-look.js computes them in a browser.
    let values = drawn(Color::Values { name: "v", values: &x });
    assert!(values.contains("#3b0d53") && values.contains("#e3df38"));
}
