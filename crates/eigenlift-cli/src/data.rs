//! `eigenlift data`: built-in data sets as files.

use crate::args::{DATA_SETS, DataArgs};
use crate::exit::Failure;
use crate::outputs::{self, Kind, Wanted};
use crate::standard::is_standard;
use crate::words::Words;
use eigenlift::data::{Dataset, digits, iris, synthetic, worked_example};
use eigenlift_io::{Format, Output, write_table};
use std::fmt::Write;
use std::path::Path;

/// How many of the names are files of the crate.
const N_FILES: usize = 3;

/// Makes the set and writes it.
pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    outputs::check(&[], &[Wanted { flag: "--out", path: &args.out, kind: Kind::Table }])?;
    if DATA_SETS[..N_FILES].contains(&args.name.as_str()) {
        let given = [
            ("--rows", args.rows.is_some()),
            ("--noise", args.noise.is_some()),
            ("--seed", args.seed.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::usage(
                format!("{flag} with the data set {}", args.name),
                "only sets made by formula have a size, noise and a seed",
                "Leave it out, or choose one of three-gaussians, moons, rings, swiss-roll, s-curve, parabola",
            ));
        }
    }
    let set = match args.name.as_str() {
        name if DATA_SETS[..N_FILES].contains(&name) => set(name)?,
        name => synthetic(name, args.rows, args.noise, args.seed.unwrap_or(0))?,
    };
    write(&set, &args.out, Words::new(args.quiet))
}

/// The set of a name, as it is when nothing else is asked for.
pub(crate) fn set(name: &str) -> Result<Dataset, Failure> {
    Ok(match name {
        "digits" => digits()?,
        "iris" => iris()?,
        "worked-example" => worked_example()?,
        name => synthetic(name, None, None, 0)?,
    })
}

/// Text formats have the label last; in the others a label of text stands in front.
fn write(set: &Dataset, path: &Path, words: Words) -> Result<(), Failure> {
    let format = if is_standard(path) { None } else { Format::from_extension(path) };
    match format.unwrap_or(Format::Csv) {
        Format::Csv => outputs::write_bytes(path, text(set, ',').as_bytes()),
        Format::Tsv => outputs::write_bytes(path, text(set, '\t').as_bytes()),
        Format::Npy | Format::Npz | Format::Parquet => write_binary(set, path, words),
    }
}

/// The set as delimited text, the label last.
pub(crate) fn text(set: &Dataset, delimiter: char) -> String {
    let label = |i: usize| set.target.get(i).map(|label| format!("{delimiter}{label}")).unwrap_or_default();
    let name = set.target_name.as_ref().map(|name| format!("{delimiter}{name}")).unwrap_or_default();
    let mut text = set.columns.join(&delimiter.to_string()) + &name + "\n";
    let rows = set.samples.points().to_dense::<f64>();
    for i in 0..rows.n_rows() {
        let cells: Vec<String> = rows.row(i).iter().map(f64::to_string).collect();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}{}", cells.join(&delimiter.to_string()), label(i));
    }
    text
}

fn write_binary(set: &Dataset, path: &Path, words: Words) -> Result<(), Failure> {
    let rows = set.samples.points().to_dense::<f64>();
    let labels: Option<Vec<f64>> = set.target.iter().map(|label| label.parse().ok()).collect();
    let mut names = set.columns.clone();
    let mut numbers = rows.as_slice().to_vec();
    let mut front: Vec<(&str, &[String])> = Vec::new();
    match (&set.target_name, labels) {
        (Some(name), Some(labels)) => {
            names.push(name.clone());
            numbers =
                (0..rows.n_rows()).flat_map(|i| rows.row(i).iter().copied().chain([labels[i]])).collect();
        }
        (Some(name), None) => {
            front.push((name, &set.target));
            if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
                words.note("NPY holds numbers alone: the label is not written; NPZ and Parquet hold it");
            }
        }
        _ => {}
    }
    let output = Output {
        text: &front,
        names: &names,
        n_rows: rows.n_rows(),
        values: &numbers,
        single_precision: false,
    };
    Ok(write_table(path, &output, None)?)
}
