//! Isomap, scaling, Laplacian eigenmaps, diffusion maps and locally linear embedding from the command line.

use crate::support::{Folder, assert_close, list, table};

/// A bent sheet, and two groups of 30 and 20 rows far from each other.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.say("data s-curve --rows 300 --seed 1 --out sheet.csv").ok();
    folder.write_table("blobs.csv", &blobs());
    folder
}

fn blobs() -> Vec<Vec<f64>> {
    let place = |i: usize, x: f64| {
        let (a, b) = ((i % 6) as f64, (i / 6) as f64);
        vec![x + a + 0.07 * b, 0.9 * b + 0.05 * a * a]
    };
    (0..30).map(|i| place(i, 0.0)).chain((0..20).map(|i| place(i, 100.0))).collect()
}

/// Numbers as they are between the first commas of a line.
fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
    let text = folder.read(file);
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|have| have == name).expect(name);
    lines.map(|line| line.split(',').nth(at).unwrap().to_string()).collect()
}

#[test]
fn a_sheet_is_flattened_and_told() {
    let folder = prepared();
    let run = folder.say(
        "fit isomap sheet.csv --target t --neighbors 8 --out flat.csv --model m.safetensors --plot s.svg \
         --plot scree=e.svg --plot graph=g.svg",
    );
    let run = run.ok();
    for words in [
        "route        exact",
        "isomap1",
        "nλ",
        "graph: ",
        "edges between 300 rows, all connected",
        "exact",
        "residual variance of the distances along the graph: 0.0",
        "negative share of the spectrum",
        "trustworthiness 0.9",
        "continuity 0.9",
        "wrote g.svg (graph)",
    ] {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    assert!(run.out.is_empty());
    let (names, rows) = table(&folder.read("flat.csv"));
    assert_eq!(names, ["t", "isomap1", "isomap2"]);
    assert_eq!(rows.len(), 300);
    for (file, kind) in [("s.svg", "isomap1"), ("e.svg", "eigenvalue"), ("g.svg", "isomap2")] {
        assert!(folder.read(file).contains("<svg") && folder.read(file).contains(kind), "{file}");
    }
    folder.say("transform m.safetensors sheet.csv --target t --out again.csv").ok();
    assert_close(&folder.numbers("again.csv"), &rows, 1e-6);
    let shown = folder.say("inspect m.safetensors").ok().out;
    for words in ["method       isomap", "samples      300 × 3 (f64)", "residual variance", "plan of the fit"]
    {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    let facts = folder.say("inspect m.safetensors --json").ok().json();
    assert_eq!(list(&facts["eigenvalues"]).len(), 2);
}

#[test]
fn the_account_has_stable_keys() {
    let folder = prepared();
    let account =
        folder.say("fit isomap sheet.csv --target t --landmarks 40 --neighbors 8 --json --quiet").ok().json();
    assert_eq!(account["command"], "fit isomap");
    assert_eq!(account["n_landmarks"], 40);
    assert_eq!(account["plan"]["method"], "isomap");
    let (values, variances) = (list(&account["eigenvalues"]), list(&account["variances"]));
    assert!(values[0] > values[1] && (values[0] - 300.0 * variances[0]).abs() < 1e-9 * values[0]);
    let facts = &account["facts"];
    assert_eq!(facts["paths"]["held_out"], true);
    assert_eq!(facts["paths"]["n_rows"], 32);
    assert!(facts["paths"]["residual_variance"].as_f64().unwrap() < 0.05);
    assert_eq!(list(&facts["graph"]["component_sizes"]), [300.0]);
    assert!(facts["graph"]["n_edges"].as_u64().unwrap() > 1200);
    assert!(facts["neighborhoods"]["trustworthiness"].as_f64().unwrap() > 0.95);
    assert!(facts["negative"]["share"].is_number() && facts["stats"]["passes"].is_number());
    let words =
        folder.say("fit isomap sheet.csv --target t --landmarks 40 --neighbors 8 --out s.npy").ok().err;
    assert!(words.contains("landmarks: 40 of 300 rows stand for all"), "{words}");
    assert!(words.contains("estimated from 32 rows held out"), "{words}");
    let plan = folder.say("plan isomap sheet.csv --target t --landmarks 40 --json --quiet").ok().json();
    assert_eq!(plan["n_landmarks"], 40);
    assert!(folder.say("plan isomap sheet.csv --exact").ok().out.contains("exact was asked for"));
}

#[test]
fn data_in_two_pieces_are_treated_as_asked() {
    let folder = prepared();
    let fit = |how: &str| folder.say(&format!("fit isomap blobs.csv --neighbors 5 --disconnected {how}"));
    let run = fit("bridge --out b.csv").ok();
    assert!(run.err.contains("warning: the number of connected components"), "{}", run.err);
    assert!(run.err.contains("joined by the 1 shortest bridge, rows "), "{}", run.err);
    assert!(run.err.contains("1 bridge added: rows "), "{}", run.err);
    let account = fit("bridge --json --quiet").ok().json();
    let bridge = &account["facts"]["graph"]["bridges"][0];
    let ends = (bridge["from"].as_u64().unwrap(), bridge["to"].as_u64().unwrap());
    assert!((1..=30).contains(&ends.0) && (31..=50).contains(&ends.1), "{ends:?}");
    assert_eq!(account["warnings"].as_array().unwrap().len(), 1);

    let run = fit("error --quiet");
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("connected components of the neighbour graph is 2 > 1 (30, 20 rows)"),
        "{}",
        run.err
    );
    assert!(run.out.is_empty());

    let run = fit("separate --out a.csv --model a.safetensors --plot graph=a.svg").ok();
    assert!(run.err.contains("each is embedded by itself"), "{}", run.err);
    let (names, _) = table(&folder.read("a.csv"));
    assert_eq!(names, ["component", "isomap1", "isomap2"]);
    let labels = column(&folder, "a.csv", "component");
    let expected: Vec<&str> = (0..50).map(|i| if i < 30 { "1" } else { "2" }).collect();
    assert_eq!(labels, expected);
    folder.say("transform a.safetensors blobs.csv --out placed.csv").ok();
    assert_eq!(table(&folder.read("placed.csv")).0, ["component", "isomap1", "isomap2"]);
    assert_eq!(column(&folder, "placed.csv", "component"), expected);
    assert_close(&folder.numbers("placed.csv"), &folder.numbers("a.csv"), 1e-6);
    let account = fit("separate --json --quiet").ok().json();
    assert_eq!(account["parts"].as_array().unwrap().len(), 2);
    assert_eq!(account["parts"][1]["n_rows"], 20);

    let run = fit("largest --out l.csv").ok();
    assert!(run.err.contains("20 rows outside it are placed"), "{}", run.err);
    assert_eq!(table(&folder.read("l.csv")).0, ["isomap1", "isomap2"]);
}

#[test]
fn a_graph_of_ones_own_is_used_and_edges_are_cut() {
    let folder = prepared();
    // A ring of 12 rows, joined to the next; without one edge it is a line.
    let ring: Vec<Vec<f64>> = (0..12)
        .map(|i| f64::from(i) * std::f64::consts::TAU / 12.0)
        .map(|a| vec![a.cos(), a.sin()])
        .collect();
    folder.write_table("ring.csv", &ring);
    let edges: Vec<String> = (1..=12).map(|i| format!("{i},{},1", i % 12 + 1)).collect();
    folder.write("edges.csv", format!("from,to,length\n{}\n", edges.join("\n")));
    folder.write("cut.csv", "from,to,flow\n12,1,\n");
    folder.write("plain.csv", "1,12\n");
    let run =
        folder.say("fit isomap ring.csv --graph edges.csv -k 1 --out ring1.csv --plot graph=r.svg").ok();
    assert!(run.err.contains("graph: 12 edges between 12 rows, all connected"), "{}", run.err);
    for cut in ["cut.csv", "plain.csv"] {
        let line = format!(
            "fit isomap ring.csv --graph edges.csv -k 1 --cut={cut} --out line.csv --plot graph=l.svg"
        );
        let run = folder.say(&line).ok();
        assert!(run.err.contains("graph: 11 edges"), "{}", run.err);
        assert!(run.err.contains("1 edge taken out: rows 1 and 12"), "{}", run.err);
        let places: Vec<f64> = folder.numbers("line.csv").iter().map(|row| row[0]).collect();
        let steps: Vec<f64> = places.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        assert!(steps.iter().all(|step| (step - 1.0).abs() < 1e-9), "{steps:?}");
    }
    assert!(folder.read("l.svg").contains("edges taken out"));
    let account =
        folder.say("fit isomap ring.csv --graph edges.csv --cut=cut.csv -k 1 --json --quiet").ok().json();
    assert_eq!(
        (&account["facts"]["graph"]["cut"][0]["from"], &account["facts"]["graph"]["cut"][0]["to"]),
        (&1.into(), &12.into())
    );
    folder.say("fit isomap sheet.csv --target t --cut --neighbors 8 --out s.npy").ok();
}

#[test]
fn scaling_keeps_distances_however_they_are_given() {
    let folder = prepared();
    folder.say("fit mds blobs.csv --out rows.csv --model m.safetensors").ok();
    let x = blobs();
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let distances: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| far(a, b))).collect();
    folder.write_npy("d.npy", 50, &distances);
    folder.say("fit mds d.npy --metric precomputed --out given.csv --model d.safetensors").ok();
    let (rows, given) = (folder.numbers("rows.csv"), folder.numbers("given.csv"));
    assert_close(&given, &rows, 1e-6);
    let kept: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(move |b| far(a, b))).collect();
    assert!(kept.iter().zip(&distances).all(|(a, b)| (a - b).abs() < 1e-8));
    folder.say("transform m.safetensors blobs.csv --out again.csv").ok();
    assert_close(&folder.numbers("again.csv"), &rows, 1e-6);
    folder.say("transform d.safetensors d.npy --out again.csv").ok();
    assert_close(&folder.numbers("again.csv"), &rows, 1e-6);
    let words = folder.say("fit isomap d.npy --metric precomputed --neighbors 5 --out s.csv").ok().err;
    assert!(words.contains("metric       precomputed"), "{words}");
    let words = folder.say("fit mds sheet.csv --target t -k 3 --landmarks 60 --out s.csv").ok().err;
    assert!(
        words.contains("landmarks: 60 of 300 rows") && words.contains("points of a flat space have exactly"),
        "{words}"
    );
}

#[test]
fn every_method_fits_plans_saves_and_places() {
    let folder = prepared();
    for (name, flags) in [
        ("isomap", "--radius 0.6 --search brute"),
        ("mds", "--metric cosine"),
        ("laplacian", "--neighbors 12"),
        ("laplacian", "--heat 3"),
        ("laplacian", "--kernel rbf(gamma=2)"),
        ("diffusion", "--kernel rbf(gamma=2) --alpha 0.5 --time 2"),
        ("lle", "--neighbors 12 --variant modified"),
        ("lle", "--precision f32 --ridge 0.01"),
    ] {
        let line = format!("{name} sheet.csv --target t {flags} --threads 1");
        assert!(folder.say(&format!("plan {line}")).ok().out.contains("route"), "{line}");
        let run = folder.say(&format!("fit {line} --out s.csv --model m.safetensors --plot s.svg")).ok();
        assert!(run.err.contains(&format!("{name}2")) && run.err.contains("solver: "), "{line}\n{}", run.err);
        let (names, rows) = table(&folder.read("s.csv"));
        assert_eq!(names[1..], [format!("{name}1"), format!("{name}2")]);
        assert!(rows.iter().flatten().all(|x| x.is_finite()), "{line}");
        folder.say("transform m.safetensors sheet.csv --target t --out again.csv").ok();
        assert_eq!(folder.numbers("again.csv").len(), 300, "{line}");
        let facts = folder.say("inspect m.safetensors --json").ok().json();
        assert_eq!(facts["header"]["method"], name);
        assert_eq!(list(&facts["eigenvalues"]).len(), 2, "{line}");
        // Scores are the same for any number of threads.
        folder.say(&format!("fit {name} sheet.csv --target t {flags} --threads 2 --out t.csv")).ok();
        assert_eq!(folder.read("s.csv"), folder.read("t.csv"), "{line}");
    }
}

/// A strip bent into a ring whose ends nearly touch: with 10 neighbours they are joined.
fn ring_with_a_gap() -> Vec<Vec<f64>> {
    let even = |i: usize, step: f64| (i as f64 * step).fract();
    let angle = |i: usize| 0.12 + (std::f64::consts::TAU - 0.24) * even(i, 0.618_034);
    (0..200).map(|i| vec![5.0 * angle(i).cos(), 5.0 * angle(i).sin(), even(i, 0.754_878)]).collect()
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let folder = prepared();
    folder.write_table("gap.csv", &ring_with_a_gap());
    let line = "doctor isomap gap.csv --neighbors 10 --cut";
    let run = folder.say(&format!("{line} --edges e.csv --plot d.svg")).ok();
    for words in [
        "neighbors  components  residual variance",
        "← recommended",
        "Use ",
        "of the graph of 10 neighbors look",
        ":\n  rows ",
        "without ",
        "and the graph stays connected",
    ] {
        assert!(run.out.contains(words), "{words}\n{}", run.out);
    }
    assert!(folder.read("d.svg").contains("recommended k"));
    let account = folder.say(&format!("{line} --json --quiet")).ok().json();
    assert_eq!((&account["command"], &account["examined"]), (&"doctor isomap".into(), &10.into()));
    let suspects = account["suspects"].as_array().unwrap();
    assert!(!suspects.is_empty());
    let (names, edges) = table(&folder.read("e.csv"));
    assert_eq!(names, ["from", "to", "length", "flow", "detour", "angle"]);
    assert_eq!(edges.len(), suspects.len());
    assert_eq!(edges[0][0], suspects[0]["from"].as_f64().unwrap());
    assert_eq!(account["after_cut"]["n_cut"], suspects.len());
    let recommended = account["recommended"].as_u64().unwrap();
    assert!((3..10).contains(&recommended), "{recommended}");
    // The edges go back into a fit, which finds the same by itself.
    let from_file = folder.say("fit isomap gap.csv --neighbors 10 --cut=e.csv --out a.csv").ok().err;
    assert!(from_file.contains(" taken out: rows "), "{from_file}");
    folder.say("fit isomap gap.csv --neighbors 10 --cut --out b.csv").ok();
    assert_close(&folder.numbers("a.csv"), &folder.numbers("b.csv"), 1e-9);
}
