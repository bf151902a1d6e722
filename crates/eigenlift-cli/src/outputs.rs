//! Outputs are checked before the work starts, and written so that they appear only when complete.

mod files;

pub(crate) use files::{OutputFiles, PassingTable};

use crate::exit::Failure;
use crate::standard::{self, is_standard};
use crate::table::Carried;
use crate::values::PlotRequest;
use crate::words::Words;
use eigenlift::matrix::Matrix;
use eigenlift_io::{
    AtomicFile, Format, Output, TableWriter, WriteOptions, check_writable, csv_bytes, printable,
    printable_line, same_file,
};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What an output holds, which decides the extensions it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers in rows.
    Table,
    /// A model file.
    Model,
    /// A drawing.
    Picture,
    /// A report.
    Page,
    /// Work that can be taken up again.
    State,
}

impl Kind {
    fn accepts(self, path: &Path) -> bool {
        let extension =
            path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).unwrap_or_default();
        match self {
            Self::Table => is_standard(path) || Format::from_extension(path).is_some() || is_special(path),
            Self::Model => extension == "safetensors",
            Self::Picture => eigenlift_plot::FORMATS.contains(&extension.as_str()),
            Self::Page => extension == "html",
            Self::State => extension == "json",
        }
    }

    fn required(self) -> &'static str {
        match self {
            Self::Table => "it must end in .csv, .tsv, .npy, .npz or .parquet, or be - for standard output",
            Self::Model => "it must end in .safetensors",
            Self::Picture => "it must end in .svg or .png",
            Self::Page => "it must end in .html",
            Self::State => "it must end in .json",
        }
    }
}

/// An output that the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The flag that names it.
    pub(crate) flag: &'static str,
    /// Where it goes.
    pub(crate) path: &'a Path,
    /// What it holds.
    pub(crate) kind: Kind,
}

/// Pictures that the command line asks for.
pub(crate) fn wanted_plots(plots: &[PlotRequest]) -> impl Iterator<Item = Wanted<'_>> {
    plots.iter().map(|plot| Wanted { flag: "--plot", path: &plot.path, kind: Kind::Picture })
}

/// Whether the path is a device or a pipe, which has no extension to go by.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// Refuses outputs that cannot come about: a wrong extension, a folder, no folder, an input, the same one twice, a place that
/// cannot be written.
pub(crate) fn check(inputs: &[&Path], wanted: &[Wanted<'_>]) -> Result<(), Failure> {
    for (i, output) in wanted.iter().enumerate() {
        let name = format!("{} {}", output.flag, output.path.display());
        if !is_standard(output.path) && output.path.is_dir() {
            return Err(Failure::usage(
                format!("{name} is a folder"),
                "an output must be a file",
                "Add a file name to the path",
            ));
        }
        if !output.kind.accepts(output.path) {
            let found = match output.path.extension() {
                Some(extension) => format!("{name} has the unknown extension .{}", extension.display()),
                None => format!("{name} has no extension"),
            };
            return Err(Failure::usage(found, output.kind.required(), "Change the name"));
        }
        if is_standard(output.path) {
            standard::check()?;
            continue;
        }
        let folder =
            output.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let found = format!("{name}: the folder {} does not exist", folder.display());
            return Err(Failure::usage(
                found,
                "an output must be in a folder that exists",
                "Create the folder first",
            ));
        }
        if inputs.iter().any(|input| same_file(input, output.path)) {
            return Err(Failure::usage(
                format!("{name} is also an input"),
                "an output must be another file",
                "Change the name",
            ));
        }
        if let Some(other) = wanted[..i].iter().find(|other| same_file(other.path, output.path)) {
            let found = format!("{name} and {} {} are the same file", other.flag, other.path.display());
            return Err(Failure::usage(
                found,
                "each output needs a file of its own",
                "Change one of the names",
            ));
        }
    }
    wanted.iter().filter(|output| !is_standard(output.path)).try_for_each(check_place)
}

/// Refuses a place that cannot be written now, so that no work is lost to it.
fn check_place(output: &Wanted<'_>) -> Result<(), Failure> {
    if output.kind == Kind::Model && is_special(output.path) {
        return Err(Failure::Machine(format!(
            "{} {} is a pipe or a device; a model must be a file. Choose another name.",
            output.flag,
            output.path.display()
        )));
    }
    Ok(check_writable(output.path)?)
}

/// `--json` and a table cannot both go to standard output, and neither can where that is closed.
pub(crate) fn check_standard_output(json: bool, out: Option<&Path>) -> Result<(), Failure> {
    if json && out.is_some_and(is_standard) {
        return Err(Failure::usage(
            "--json and --out - both want standard output",
            "only one of them can have it",
            "Give --out a file name, or leave one of them out",
        ));
    }
    if json || out.is_none_or(is_standard) { standard::check() } else { Ok(()) }
}

/// A table beside the scores cannot go to standard output when scores or the account go there.
pub(crate) fn check_second_table(
    flag: &str,
    json: bool,
    out: Option<&Path>,
    second: Option<&Path>,
) -> Result<(), Failure> {
    let taken = if json { "--json" } else { "the table of scores" };
    if second.is_some_and(is_standard) && (json || out.is_none_or(is_standard)) {
        return Err(Failure::usage(
            format!("{flag} - and {taken} both want standard output"),
            "only one of them can have it",
            &format!("Give {flag} a file name"),
        ));
    }
    Ok(())
}

/// Where a table goes: standard output when nothing is said, nowhere when the account goes there.
pub(crate) fn table_output(out: Option<&Path>, json: bool) -> Option<&Path> {
    match out {
        Some(path) => Some(path),
        None if json => None,
        None => Some(Path::new("-")),
    }
}

/// A file that was written.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
}

/// Names of score columns: `kpca1`, `kpca2`, …
pub(crate) fn score_names(method: &str, k: usize) -> Vec<String> {
    (1..=k).map(|j| format!("{method}{j}")).collect()
}

/// What a column of labels is called in front of the scores: `predicted_class` where a column `class` is carried already.
pub(crate) fn label_title(name: &str, carried: &[String]) -> Result<String, Failure> {
    let taken = |name: &str| carried.iter().any(|other| other == name);
    let other = format!("predicted_{name}");
    match (taken(name), taken(&other)) {
        (false, _) => Ok(name.into()),
        (true, false) => Ok(other),
        (true, true) => Err(Failure::Input(format!(
            "the columns {name} and {other} are carried in front of the scores, and a column of one of these names comes to \
             stand there; every column needs a name of its own. Rename one."
        ))),
    }
}

/// Refuses carried columns that are called like scores, before the work starts.
pub(crate) fn check_names(carried: &[String], method: &str, k: usize) -> Result<(), Failure> {
    let clash =
        |name: &str| name.strip_prefix(method).and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n <= k);
    carried.iter().find(|name| clash(name)).map_or(Ok(()), |name| Err(called_like_a_score(name)))
}

/// As [`check_names`], where the scores are known by name.
pub(crate) fn check_known_names(carried: &[String], names: &[String]) -> Result<(), Failure> {
    let own: HashSet<&String> = names.iter().collect();
    carried.iter().find(|name| own.contains(name)).map_or(Ok(()), |name| Err(called_like_a_score(name)))
}

fn called_like_a_score(name: &str) -> Failure {
    Failure::Input(format!(
        "the column {name} is carried in front of the scores and is called like one of them; every column needs a name of its \
         own. Rename it."
    ))
}

/// Writes scores with what is carried in front of them.
pub(crate) fn write_scores(
    path: &Path,
    carried: &Carried,
    names: Vec<String>,
    scores: &Matrix<f64>,
) -> Result<(), Failure> {
    let mut writer = ScoreWriter::create(path, &carried.names(), names, Some(scores.n_rows()))?;
    writer.append(carried, scores)?;
    writer.commit()
}

/// Scores with what is carried in front of them, as the bytes of a CSV file.
pub(crate) fn scores_as_text(
    carried: &Carried,
    names: &[String],
    scores: &Matrix<f64>,
) -> Result<Vec<u8>, Failure> {
    Ok(csv_bytes(&Output {
        text: &carried.columns(),
        names,
        n_rows: scores.n_rows(),
        values: scores.as_slice(),
        single_precision: false,
    })?)
}

/// Scores that are written a piece at a time; the file appears when it is complete.
pub(crate) struct ScoreWriter {
    writer: TableWriter,
    names: Vec<String>,
}

impl ScoreWriter {
    /// Begins a table of the columns named, with others in front.
    pub(crate) fn create(
        path: &Path,
        carried: &[String],
        names: Vec<String>,
        n_rows: Option<usize>,
    ) -> Result<Self, Failure> {
        let options = WriteOptions { text_names: carried, names: &names, n_rows, ..WriteOptions::default() };
        Ok(Self { writer: TableWriter::create(path, &options)?, names })
    }

    /// Adds rows.
    pub(crate) fn append(&mut self, carried: &Carried, scores: &Matrix<f64>) -> Result<(), Failure> {
        let output = Output {
            text: &carried.columns(),
            names: &self.names,
            n_rows: scores.n_rows(),
            values: scores.as_slice(),
            single_precision: false,
        };
        Ok(self.writer.append(&output)?)
    }

    /// Lets the file appear.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        Ok(self.writer.commit()?)
    }
}

/// Writes bytes; the file appears when it is complete. `-` is standard output.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |error: io::Error| Failure::writing(path, &error);
    if is_standard(path) {
        standard::check()?;
        let mut sink = io::stdout().lock();
        return sink.write_all(bytes).and_then(|()| sink.flush()).map_err(fail);
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(fail)?;
    Ok(file.commit()?)
}

/// Prints text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = printable(text.trim_end_matches('\n'));
    write_bytes(Path::new("-"), format!("{text}\n").as_bytes())
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::Machine(format!("the account could not be written as JSON ({error}).")))?;
    // JSON escapes most of what a terminal obeys; the rest is escaped in its way.
    let shown = |c: char| match c {
        '\n' => "\n".to_owned(),
        c if matches!(printable_line(c.encode_utf8(&mut [0; 4])), Cow::Owned(_)) => {
            format!("\\u{:04x}", u32::from(c))
        }
        c => c.to_string(),
    };
    match printable(&text) {
        Cow::Borrowed(text) => print(text),
        Cow::Owned(_) => print(&text.chars().map(shown).collect::<String>()),
    }
}

/// NPY holds numbers alone.
pub(crate) fn warn_of_lost_text(out: Option<&Path>, carried: &[String], words: Words) {
    let npy = out.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    if npy && !carried.is_empty() {
        words.note(format_args!(
            "NPY holds numbers alone: {} {} not written; NPZ and Parquet hold text",
            carried.join(", "),
            if carried.len() == 1 { "is" } else { "are" }
        ));
    }
}

/// "Kernel PCA of iris.csv".
pub(crate) fn title(method: &str, path: &Path) -> String {
    match path.file_name() {
        Some(name) if !is_standard(path) => format!("{method} of {}", name.display()),
        _ => method.into(),
    }
}
