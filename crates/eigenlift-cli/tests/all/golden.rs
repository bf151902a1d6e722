//! Model files of earlier versions load, and give what they gave then.
//!
//! `tests/golden/commands.txt` says what made each file, and what is asked of it here.

use crate::support::{Folder, table};
use std::fs;
use std::path::{Path, PathBuf};

/// Numbers agree to this share of the largest number of their column.
///
/// Why not bit for bit: sums of d ≤ 60 products go in the order of the widest instructions that the processor has, and another order
/// moves a sum by at most d·eps ≈ 1.3e-14 of the sum of magnitudes. On one processor `cargo xtask compare` compares every bit.
const ROUNDING: f64 = 1e-13;
/// The same for models in single precision, whose kernel values have the rounding of `f32`: d·eps with eps = 1.2e-7 and d ≤ 4.
const SINGLE: f64 = 5e-7;
/// The same for pre-images, whose search ends at a relative change of its own.
const SEARCHED: f64 = 1e-6;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The lines that are asked of models; those that made the models are left out.
fn questions() -> Vec<String> {
    let commands = fs::read_to_string(golden().join("commands.txt")).expect("commands.txt is there");
    let asked = |line: &&str| {
        !line.is_empty() && !["#", "fit ", "kernel "].iter().any(|start| line.starts_with(start))
    };
    commands.lines().filter(asked).map(str::to_string).collect()
}

/// A folder with all golden files, of which those that commands write are named otherwise.
fn prepared() -> Folder {
    let folder = Folder::new();
    let sparse = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/counts.npz");
    folder.write("counts.npz", fs::read(sparse).expect("counts.npz is there"));
    for entry in fs::read_dir(golden()).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        folder.write(&name, fs::read(&path).expect("a file"));
    }
    folder
}

fn tolerance(line: &str) -> f64 {
    let model = line.split(' ').nth(1).unwrap_or_default();
    let searched = model.starts_with("kpca") && (line.starts_with("inverse") || line.starts_with("denoise"));
    match (searched, model.contains("-f32")) {
        (true, _) => SEARCHED,
        (false, true) => SINGLE,
        (false, false) => ROUNDING,
    }
}

/// Fails unless names, text and the number of rows are the same, and numbers agree.
fn compare(line: &str, found: &str, expected: &str) {
    let text = |csv: &str| -> Vec<String> {
        let words = |row: &str| {
            row.split(',').filter(|cell| cell.parse::<f64>().is_err()).collect::<Vec<_>>().join(",")
        };
        csv.lines().map(words).collect()
    };
    assert_eq!(text(found), text(expected), "{line}");
    let (found, expected) = (table(found).1, table(expected).1);
    for (i, (row, wanted)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(row.len(), wanted.len(), "{line}: row {i}");
        for (j, (x, y)) in row.iter().zip(wanted).enumerate() {
            let largest = expected.iter().map(|row| row[j].abs()).fold(0.0, f64::max);
            let allowed = tolerance(line) * largest;
            assert!((x - y).abs() <= allowed, "{line}: row {i}, column {j}: {x} is not {y}");
        }
    }
}

#[test]
fn models_of_earlier_versions_give_what_they_gave() {
    let (folder, questions) = (prepared(), questions());
    for line in &questions {
        let (rest, expected) = line.rsplit_once(" --out ").expect("every line names its result");
        folder.say(&format!("{rest} --out again.csv")).ok();
        compare(line, &folder.read("again.csv"), &folder.read(expected));
    }
    assert!(questions.len() > 45, "{}", questions.len());
}

#[test]
fn every_model_is_asked_and_can_be_inspected() {
    let (folder, questions) = (prepared(), questions());
    let models: Vec<String> =
        folder.names().into_iter().filter(|name| name.ends_with(".safetensors")).collect();
    for model in &models {
        assert!(questions.iter().any(|line| line.starts_with(&format!("transform {model} "))), "{model}");
        let header = folder.say(&format!("inspect {model} --json")).ok().json();
        let method = header["header"]["method"].as_str().expect("a method").to_string();
        assert_eq!(model.split(['-', '.']).next(), Some(method.as_str()), "{model}");
    }
    let methods =
        ["kpca", "pca", "whiten", "isomap", "mds", "laplacian", "diffusion", "lle", "kcca", "kda", "kkmeans"];
    for method in methods {
        assert!(models.iter().any(|model| model.split(['-', '.']).next() == Some(method)), "{method}");
    }
}
