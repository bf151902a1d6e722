//! However rows come to principal components and whitening, in pieces, sparse, weighted, in single precision or through a
//! pipe, the result is the same.

use crate::support::{Folder, assert_close, list, table};
use serde_json::Value;

const COUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/counts.npz");

/// Rows of 20 columns with a spectrum that falls by a third from one to the next, away from the origin; the last column
/// holds weights between 0.5 and 1.5.
fn falling(n: usize) -> Vec<f64> {
    let mut state = 7u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut values = Vec::with_capacity(20 * n);
    for _ in 0..n {
        let z: Vec<f64> = (0..19).map(|j| draw() * 10.0 * 0.8f64.powi(j)).collect();
        // Neighbours are mixed, so that components are not columns.
        values.extend((0..19).map(|j| 3.0 + z[j] + 0.5 * z[(j + 1) % 19]));
        values.push(1.0 + draw());
    }
    values
}

fn big() -> Folder {
    let folder = Folder::new();
    folder.write_npy("big.npy", 20, &falling(200_000));
    folder
}

/// Numbers of an NPY table of double precision.
fn npy(folder: &Folder, name: &str) -> Vec<f64> {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect()
}

#[track_caller]
fn assert_same(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let worst = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst:e}");
}

#[track_caller]
fn assert_in_pieces(account: &Value) {
    let chunk = account["plan"]["chunk_rows"].as_u64().unwrap();
    assert!(chunk > 0 && chunk < 200_000, "{account:#}");
    assert_eq!(account["data"]["rows"], 200_000);
}

/// λ agree to 1e-10 of a spectrum that starts at 13; scores of size 10 to that over the smallest gap among the first, 1.
const IN_PIECES: f64 = 1e-10;

#[test]
fn a_table_in_pieces_has_the_components_of_the_whole() {
    let folder = big();
    for (route, weights) in
        [("auto", ""), ("auto", " --weights x20"), ("tsqr", ""), ("krylov", ""), ("krylov", " --weights x20")]
    {
        let line = format!("fit pca big.npy -k 3 --route {route} --tol 1e-12 --json --quiet{weights}");
        let whole = folder.say(&format!("{line} --out whole.npy --model whole.safetensors")).ok().json();
        let pieces =
            folder.say(&format!("{line} --out pieces.npy --memory 10MB --model m.safetensors")).ok().json();
        assert_in_pieces(&pieces);
        assert_eq!(whole["plan"]["chunk_rows"], 0);
        if route != "auto" {
            assert_eq!(pieces["plan"]["route"], route);
        }
        assert_same(&list(&pieces["variances"]), &list(&whole["variances"]), IN_PIECES);
        assert!(list(&whole["variances"])[0] > 5.0);
        assert_same(&list(&pieces["residual_errors"]), &list(&whole["residual_errors"]), IN_PIECES);
        let (whole_scores, in_pieces) = (npy(&folder, "whole.npy"), npy(&folder, "pieces.npy"));
        assert_eq!(in_pieces.len(), 600_000);
        assert_same(&in_pieces, &whole_scores, IN_PIECES);
        let columns = if weights.is_empty() { 20 } else { 19 };
        assert_eq!(pieces["data"]["columns"], columns);
        assert_eq!(pieces["data"]["column_names"].as_array().unwrap().len(), columns);
        // The model knows the columns; the weights are left out of the table by name.
        folder.say("transform m.safetensors big.npy --out again.npy --quiet").ok();
        assert_eq!(npy(&folder, "again.npy"), in_pieces);
    }
}

#[test]
fn a_table_in_pieces_is_whitened_as_the_whole() {
    let folder = big();
    for (method, weights) in
        [("zca", ""), ("pca", " --weights x20"), ("zca-cor", " --weights x20"), ("cholesky", "")]
    {
        let line = format!("fit whiten big.npy --method {method} --json --quiet{weights}");
        let whole = folder.say(&format!("{line} --out whole.npy")).ok().json();
        let pieces =
            folder.say(&format!("{line} --out pieces.npy --memory 10MB --plot whitening=w.svg")).ok().json();
        assert_in_pieces(&pieces);
        assert_same(&list(&pieces["variances"]), &list(&whole["variances"]), IN_PIECES);
        assert_same(&npy(&folder, "pieces.npy"), &npy(&folder, "whole.npy"), IN_PIECES);
        assert_eq!(pieces["rank"], whole["rank"]);
    }
    let words = folder.say("fit whiten big.npy --memory 10MB --out w.npy").ok().err;
    assert!(
        words.contains("note: the table is too large for the memory allowed: it is read a piece at a time"),
        "{words}"
    );
    assert!(words.contains("read big.npy: 200000 rows, 20 columns of numbers"), "{words}");
}

#[test]
fn a_piecewise_fit_holds_less_than_the_table() {
    let folder = big();
    let fit = "fit pca big.npy -k 2 --memory 10MB --out s.npy --model m.safetensors --json --quiet";
    let peak = |line: &str| folder.say(line).ok().json()["peak_memory_bytes"].as_f64().unwrap();
    // The numbers alone take 32 MB; the program itself takes about 10.
    for line in [
        fit,
        "transform m.safetensors big.npy --out t.npy --json --quiet",
        "score m.safetensors big.npy --out t.npy --json --quiet",
    ] {
        let bytes = peak(line);
        assert!(bytes < 30e6, "{line}: {bytes}");
    }
}

#[test]
fn text_tables_are_read_in_pieces_too() {
    let folder = Folder::new();
    let rows: Vec<Vec<f64>> = falling(20_000).chunks_exact(20).map(<[f64]>::to_vec).collect();
    folder.write_table("t.csv", &rows);
    let line = "fit pca t.csv -k 3 --weights x20 --quiet --json";
    let whole = folder.say(&format!("{line} --out a.csv")).ok().json();
    let pieces = folder.say(&format!("{line} --out b.csv --memory 4MB")).ok();
    let pieces = pieces.json();
    assert!(pieces["plan"]["chunk_rows"].as_u64().unwrap() > 0, "{pieces:#}");
    assert_same(&list(&pieces["variances"]), &list(&whole["variances"]), IN_PIECES);
    assert_close(&folder.numbers("b.csv"), &folder.numbers("a.csv"), IN_PIECES);
}

#[test]
fn missing_cells_in_pieces_are_treated_as_in_the_whole() {
    let folder = Folder::new();
    let rows: Vec<Vec<f64>> = falling(20_000).chunks_exact(20).map(<[f64]>::to_vec).collect();
    folder.write_table("t.csv", &rows);
    // Cells of the data and of the weights, far apart.
    let mut lines: Vec<String> = folder.read("t.csv").lines().map(str::to_owned).collect();
    lines[7] = lines[7].split_once(',').unwrap().1.to_string();
    lines[7].insert_str(0, "NA,");
    lines[19_000] = lines[19_000].rsplit_once(',').unwrap().0.to_string() + ",";
    folder.write("t.csv", lines.join("\n") + "\n");
    for (how, left) in [("drop", 19_998), ("mean", 20_000)] {
        let line = format!("fit pca t.csv -k 3 --weights x20 --missing {how} --quiet --json");
        let whole = folder.say(&format!("{line} --out a.csv")).ok().json();
        let pieces = folder.say(&format!("{line} --out b.csv --memory 4MB")).ok().json();
        assert!(pieces["plan"]["chunk_rows"].as_u64().unwrap() > 0);
        for key in ["rows", "dropped_rows", "imputed_cells"] {
            assert_eq!(pieces["data"][key], whole["data"][key], "{how} {key}");
        }
        assert_eq!(whole["data"]["rows"], left);
        assert_same(&list(&pieces["variances"]), &list(&whole["variances"]), IN_PIECES);
        assert_close(&folder.numbers("b.csv"), &folder.numbers("a.csv"), IN_PIECES);
    }
}

#[test]
fn every_route_finds_the_same_components() {
    let folder = Folder::prepared();
    let line = "fit pca digits.csv --target digit -k 4 --tol 1e-12 --json --quiet --route";
    let of = |route: &str| {
        let account = folder.say(&format!("{line} {route} --out {route}.csv")).ok().json();
        assert!(route == "auto" || account["plan"]["route"] == route);
        (list(&account["variances"]), folder.numbers(&format!("{route}.csv")))
    };
    let (variances, scores) = of("covariance");
    for route in ["auto", "dual", "tsqr", "krylov"] {
        let (other, others) = of(route);
        // λ of 180 to 1e-12 of it; scores of up to 40 to that over the smallest gap, 15 of 180.
        assert_same(&other, &variances, 1e-9);
        assert_close(&others, &scores, 1e-9);
    }
}

#[test]
fn weights_are_repetitions() {
    let folder = Folder::new();
    let rows: [[f64; 4]; 6] = [
        [1.0, 2.0, 0.5, 3.0],
        [2.0, 1.0, 1.5, 1.0],
        [3.0, 5.0, 0.0, 2.0],
        [9.0, 9.0, 9.0, 0.0],
        [4.0, 4.0, 2.5, 4.0],
        [0.0, 1.0, 7.0, 1.0],
    ];
    folder.write_table("weighted.csv", &rows.map(|row| row.to_vec()));
    let repeated: Vec<Vec<f64>> =
        rows.iter().flat_map(|row| vec![row[..3].to_vec(); row[3] as usize]).collect();
    folder.write_table("repeated.csv", &repeated);
    for more in [
        "pca -k 3",
        "pca -k 3 --scale",
        "pca -k 3 --route krylov --tol 1e-12",
        "whiten",
        "whiten --method cholesky",
    ] {
        let (method, flags) = more.split_once(' ').unwrap_or((more, ""));
        let line = |file: &str, rest: &str| {
            format!("fit {method} {file} --json --quiet {rest} {flags}").trim_end().to_string()
        };
        let weighted = folder.say(&line("weighted.csv", "--weights x4 --out w.csv")).ok().json();
        let plain = folder.say(&line("repeated.csv", "--out r.csv")).ok().json();
        assert_same(&list(&weighted["variances"]), &list(&plain["variances"]), 1e-12);
        assert_eq!((&weighted["weight"], &plain["weight"]), (&11.0.into(), &11.0.into()));
        let scores = folder.numbers("w.csv");
        let again: Vec<Vec<f64>> =
            rows.iter().zip(&scores).flat_map(|(row, z)| vec![z.clone(); row[3] as usize]).collect();
        assert_close(&again, &folder.numbers("r.csv"), 1e-12);
        // A row of weight 0 has scores all the same.
        assert_eq!(scores.len(), 6);
        if method == "pca" {
            let (error, left) = (&weighted["measured_residual_error"], list(&weighted["residual_errors"]));
            assert!((error.as_f64().unwrap() - left[3]).abs() < 1e-12);
        }
    }
    let words = folder.say("fit pca weighted.csv --weights x4 --out w.csv").ok().err;
    assert!(words.contains("6 rows, 3 columns of numbers; weights x4"), "{words}");
}

#[test]
fn single_precision_and_pipes_change_nothing_that_matters() {
    let folder = Folder::prepared();
    let double = folder.say("fit pca iris.csv -k 4 --json --quiet").ok().json();
    let single =
        folder.say("fit pca iris.csv -k 4 --precision f32 --json --quiet --model m.safetensors").ok().json();
    assert_eq!(single["plan"]["precision"], "f32");
    // Entries of size 8 are rounded to 2⁻²⁴ of them.
    assert_same(&list(&single["variances"]), &list(&double["variances"]), 1e-5);
    let shown = folder.say("inspect m.safetensors").ok().out;
    assert!(shown.contains("150 × 4 (f32)"), "{shown}");
    let file = folder.read("iris.csv");
    for command in
        ["fit pca FILE --quiet", "fit whiten FILE --quiet", "choose pca FILE --quiet --permutations 5"]
    {
        let piped = command.replace("FILE", "-");
        let piped = folder.run_with_input(&piped.split(' ').collect::<Vec<_>>(), &file).ok();
        assert_eq!(piped.out, folder.say(&command.replace("FILE", "iris.csv")).ok().out, "{command}");
    }
    for command in ["transform", "denoise", "score"] {
        let piped = folder.run_with_input(&[command, "pca.safetensors", "-", "--quiet"], &file).ok();
        assert_eq!(piped.out, folder.run(&[command, "pca.safetensors", "iris.csv", "--quiet"]).ok().out);
    }
    let piped =
        folder.run_with_input(&["inverse", "pca.safetensors", "-", "--quiet"], &folder.read("pcascores.csv"));
    assert_eq!(piped.ok().out, folder.say("inverse pca.safetensors pcascores.csv --quiet").ok().out);
}

/// The matrix of the fixture with its zeros.
fn counts() -> Vec<Vec<f64>> {
    let value = |i: u32, j: u32| f64::from((i * i + 3 * i * j + 7 * j + i * i * j) % 19);
    let entry = |i: u32, j: u32| Some(value(i, j)).filter(|v| *v < 5.0).unwrap_or(0.0);
    (0..60).map(|i| (0..9).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn sparse_tables_are_fitted_as_dense_ones() {
    let folder = Folder::new();
    std::fs::copy(COUNTS, folder.path("counts.npz")).unwrap();
    folder.write_table("counts.csv", &counts());
    let fits = [
        ("pca", "-k 9"),
        ("pca", "-k 3 --scale"),
        ("pca", "-k 2 --route krylov --tol 1e-12"),
        ("pca", "-k 2 --precision f32"),
        ("whiten", "--method zca"),
        ("whiten", "--method pca-cor"),
        ("kpca", "-k 3 --kernel rbf(gamma=0.1) --tol 1e-10"),
        ("kpca", "-k 3 --kernel linear --tol 1e-10"),
    ];
    for (method, flags) in fits {
        let fit = |file: &str, out: &str| {
            let line = format!(
                "fit {method} {file} {flags} --out {out}.csv --model {out}.safetensors --json --quiet"
            );
            folder.say(&line).ok().json()
        };
        let (sparse, dense) = (fit("counts.npz", "s"), fit("counts.csv", "d"));
        // Single precision holds whole numbers below 5 exactly, but not their products with the components.
        let tolerance = if flags.contains("f32") { 1e-5 } else { 1e-9 };
        assert_same(&list(&sparse["variances"]), &list(&dense["variances"]), tolerance);
        assert_close(&folder.numbers("s.csv"), &folder.numbers("d.csv"), tolerance);
        // Models of either take rows of either.
        for (model, file) in [("s", "counts.npz"), ("s", "counts.csv"), ("d", "counts.npz")] {
            let run = folder.say(&format!("transform {model}.safetensors {file} --quiet")).ok();
            assert_close(&table(&run.out).1, &folder.numbers("d.csv"), tolerance);
        }
    }
    let words = folder.say("fit pca counts.npz --out s.csv").ok().err;
    assert!(words.contains("read counts.npz: 60 rows, 9 columns of numbers; sparse, 106 entries"), "{words}");
    assert!(words.contains("60 × 9 (f64, sparse)"), "{words}");
}

#[test]
fn sparse_rows_are_denoised_and_scored() {
    let folder = Folder::new();
    std::fs::copy(COUNTS, folder.path("counts.npz")).unwrap();
    folder.write_table("counts.csv", &counts());
    folder.say("fit pca counts.npz -k 9 --model all.safetensors --out s.npz --quiet").ok();
    folder.say("fit pca counts.npz -k 3 --model m.safetensors --quiet --json").ok();
    let out = folder.say("denoise all.safetensors counts.npz --quiet").ok().out;
    assert_close(&table(&out).1, &counts(), 1e-12);
    assert!(out.starts_with("x1,x2,"), "{out}");
    for command in ["denoise", "score"] {
        let of = |file: &str| table(&folder.run(&[command, "m.safetensors", file, "--quiet"]).ok().out).1;
        assert_close(&of("counts.npz"), &of("counts.csv"), 1e-12);
    }
    // A sparse matrix with an entry of 1e300.
    let extreme =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../eigenlift-io/tests/fixtures/csr_f64_compressed.npz");
    let run = folder.run(&["fit", "pca", extreme, "--quiet"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("Divide the"), "{}", run.err);
    let run = folder.say("inverse m.safetensors counts.npz --quiet");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("counts.npz: 9 columns of numbers; the way back needs the 3 scores of the model (pca1, pca2, pca3)"), "{}", run.err);
    // Choosing reads sparse rows as well.
    let sparse = folder.say("choose pca counts.npz --quiet --permutations 10").ok().out;
    assert_eq!(sparse, folder.say("choose pca counts.csv --quiet --permutations 10").ok().out);
}

#[test]
fn a_plan_says_the_route_and_the_bytes() {
    let folder = Folder::prepared();
    let text = folder.say("plan pca digits.csv --target digit -k 10 --memory 1GiB --quiet").ok().out;
    for part in [
        "samples      1797 × 64 (f64)",
        "columns      centred",
        "components   10",
        "route        ",
        "passes       1 over the rows",
        "memory       ",
        "because ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let plan = |line: &str| folder.say(&format!("plan {line} --json --quiet")).ok().json();
    for route in ["covariance", "dual", "tsqr", "krylov"] {
        let plan = plan(&format!("pca digits.csv --target digit --route {route}"));
        assert_eq!(plan["route"], route);
        let needed = plan["bytes_needed"].as_u64().unwrap();
        // N × N products need more than all the others.
        assert!(needed > 0 && (route == "dual") == (needed > 8 * 1797 * 1797), "{plan:#}");
        assert!(
            plan["reasons"].as_array().unwrap().iter().any(|why| why.as_str().unwrap().contains("asked for"))
        );
    }
    let whiten = plan("whiten digits.csv --target digit --method zca-cor --weights pixel_2_2");
    assert_eq!((&whiten["n_components"], &whiten["standardized"]), (&63.into(), &true.into()));
    assert_eq!(whiten["weighted"], true);
    // What was planned is what is done.
    let fitted =
        folder.say("fit pca digits.csv --target digit -k 10 --memory 1GiB --json --quiet").ok().json();
    let mut planned = plan("pca digits.csv --target digit -k 10 --memory 1GiB");
    // What the whole command takes is known to the command alone: the rows and the work beside them, one reading.
    let needed = planned["bytes_needed"].as_u64().unwrap();
    let fields = planned.as_object_mut().unwrap();
    assert_eq!(fields.remove("bytes_in_all"), Some((8 * 1797 * 64 + needed).into()));
    assert_eq!(fields.remove("readings"), Some(1.into()));
    assert_eq!(planned, fitted["plan"]);
}
