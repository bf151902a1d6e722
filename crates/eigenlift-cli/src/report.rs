//! The report: one file that tells what was done, shows it and says how to do it again.

use crate::exit::Failure;
use crate::figures::{Shown, continuous};
use crate::model::{Drawn, Model};
use crate::outputs::{self, Kind, OutputFiles, Wanted};
use crate::table::{DataAccount, list};
use crate::values::{ImageSize, PlotKind};
use crate::words::counted;
use eigenlift_io::Target;
use eigenlift_plot::{Block, Figure, PointColor, Points, Report, RowTable, Section};
use std::path::{Path, PathBuf};

/// Numbers of the table that a report holds at most, so that it opens at once; scores are always there.
const MOST_NUMBERS: usize = 400_000;

/// A fit to be told.
pub(crate) struct FitStory<'a> {
    pub(crate) title: String,
    pub(crate) data: &'a DataAccount,
    pub(crate) model: &'a dyn Model,
    pub(crate) shown: Shown<'a>,
    /// One row in so many is shown.
    pub(crate) step: usize,
    pub(crate) image: Option<ImageSize>,
    pub(crate) command: String,
}

impl FitStory<'_> {
    /// The report.
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let model = self.model;
        // Tables span lines, sentences do not.
        let (tables, sentences): (Vec<_>, Vec<_>) = model.words().into_iter().partition(|s| s.contains('\n'));
        let numbers = tables.into_iter().map(|text| Block::Preformatted { text }).collect();
        let mut sections = vec![
            section("The embedding", vec![Block::Points(self.points())]),
            section("The numbers", numbers),
            section(
                "How far they can be trusted",
                vec![Block::Text { lines: sentences.iter().map(|line| sentence(line)).collect() }],
            ),
            section("Pictures", self.figures()?),
            section("What was decided, and why", vec![Block::Preformatted { text: model.plan() }]),
        ];
        sections.retain(|section| !section.blocks.is_empty());
        sections.extend(ending(self.data, &self.command));
        Ok(Report {
            title: self.title.clone(),
            subtitle: subtitle(self.data),
            warnings: self.data.warnings.iter().cloned().chain(model.warnings()).collect(),
            sections,
        })
    }

    /// The scores, with the rows behind them.
    fn points(&self) -> Points {
        let Shown { scores, target, rows } = self.shown;
        let (n, step) = (scores.n_rows(), self.step.max(1));
        let rows = rows.filter(|rows| rows.n_rows() == n && n * self.data.columns <= MOST_NUMBERS);
        let mut caption =
            "Hover to see a row, click to keep it; in the mode Select, drag around rows.".to_string();
        if rows.is_none() {
            caption += " The table is too large for its rows to be in this file; row numbers are.";
        }
        if step > 1 {
            caption += &format!(" One row in {step} is shown.");
        }
        if self.data.dropped_rows > 0 {
            caption += " Rows are counted without those that were left out.";
        }
        let drawn = Drawn::of(self.model, scores);
        Points {
            name: "Rows along the components".into(),
            caption,
            axes: drawn.axes,
            scores: drawn.values.into_owned().into_vec(),
            color: color(target),
            equal_aspect: self.model.keeps_distances() && scores.n_cols() > 1,
            rows: rows.map(|rows| RowTable {
                names: named_columns(&self.data.column_names, rows.n_cols()),
                values: rows.to_dense::<f64>().into_vec(),
            }),
            image: self.image.map(|size| [size.height, size.width]),
            row_numbers: (0..n).map(|i| (i * step) as u64 + 1).collect(),
        }
    }

    fn figures(&self) -> Result<Vec<Block>, Failure> {
        let kinds = self.model.pictures(self.shown.rows.is_some());
        kinds.into_iter().map(|kind| Ok(figure(kind, &self.model.draw(kind, &self.shown, "")?))).collect()
    }
}

/// A result that is words and pictures.
pub(crate) struct Told<'a> {
    pub(crate) title: String,
    pub(crate) data: &'a DataAccount,
    pub(crate) warnings: Vec<String>,
    /// What was found, as the command line says it.
    pub(crate) texts: Vec<String>,
    pub(crate) figures: Vec<Block>,
}

impl Told<'_> {
    /// Writes the report.
    pub(crate) fn save(self, path: &Path, files: &mut OutputFiles) -> Result<(), Failure> {
        let found = self.texts.iter().flat_map(|text| blocks(text)).collect();
        let mut sections = vec![section("What was found", found), section("Pictures", self.figures)];
        sections.extend(ending(self.data, &command_line()));
        let report = Report {
            title: self.title,
            subtitle: subtitle(self.data),
            warnings: self.data.warnings.iter().cloned().chain(self.warnings).collect(),
            sections,
        };
        files.put(path, "report", || save(&report, path)).map(drop)
    }
}

fn subtitle(data: &DataAccount) -> String {
    format!("{}, {}", counted(data.rows, "row"), counted(data.columns, "data column"))
}

/// A report that the command line asks for.
pub(crate) fn wanted(path: Option<&PathBuf>) -> impl Iterator<Item = Wanted<'_>> {
    path.into_iter().map(|path| Wanted { flag: "--report", path, kind: Kind::Page })
}

/// Words of the command line: lines that are set in columns as they are, others as sentences.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let in_columns = line.starts_with(' ') || line.trim_start().contains("  ");
        match (blocks.last_mut(), in_columns) {
            (Some(Block::Preformatted { text }), true) => *text += &format!("\n{line}"),
            (Some(Block::Text { lines }), false) => lines.push(sentence(line)),
            (_, true) => blocks.push(Block::Preformatted { text: line.into() }),
            (_, false) => blocks.push(Block::Text { lines: vec![sentence(line)] }),
        }
    }
    blocks
}

/// A line of the account as a sentence.
fn sentence(line: &str) -> String {
    let line = line.trim();
    let word = line.split(' ').next().unwrap_or_default().trim_end_matches([':', ',']);
    let mut letters = line.chars();
    // Names such as rbf(gamma=1) stay as they are.
    let first = match letters.next() {
        Some(letter) if word.chars().all(char::is_alphabetic) => letter.to_uppercase().to_string(),
        Some(letter) => letter.to_string(),
        None => String::new(),
    };
    let stop = if line.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// Names of columns, or numbers where they have none.
pub(crate) fn named_columns(names: &[String], n: usize) -> Vec<String> {
    if names.len() == n { names.to_vec() } else { (1..=n).map(|j| format!("column {j}")).collect() }
}

fn color(target: Option<&Target>) -> PointColor {
    match (target.and_then(continuous), target) {
        (Some(values), Some(target)) => PointColor::Values { name: target.name.clone(), values },
        (None, Some(target)) => {
            PointColor::Classes { name: target.name.clone(), labels: target.values.clone() }
        }
        _ => PointColor::None,
    }
}

/// A part of a report.
pub(crate) fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.into(), blocks }
}

/// A picture with what it shows.
pub(crate) fn figure(kind: PlotKind, figure: &Figure) -> Block {
    Block::Figure { name: kind.title().into(), svg: figure.to_svg(), caption: kind.caption().into() }
}

/// How every report ends: what the data were, and how to do it again.
pub(crate) fn ending(data: &DataAccount, command: &str) -> Vec<Section> {
    let again = vec![
        Block::Command { text: command.into() },
        Block::Facts {
            rows: vec![
                ("eigenlift".into(), env!("CARGO_PKG_VERSION").into()),
                ("system".into(), format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH)),
            ],
        },
        Block::Text {
            lines: vec![
                "The same command on the same table gives the same numbers, for any number of threads."
                    .into(),
            ],
        },
    ];
    vec![section("The data", vec![Block::Facts { rows: facts(data) }]), section("How to do it again", again)]
}

/// What was read, as names and values.
pub(crate) fn facts(data: &DataAccount) -> Vec<(String, String)> {
    let several = data.views.iter().any(|view| view.path != data.path);
    let mut facts = vec![
        (if several { "tables" } else { "table" }.to_string(), data.source()),
        ("rows".into(), data.rows.to_string()),
        ("data columns".into(), data.columns.to_string()),
    ];
    let mut add = |name: &str, value: String| facts.push((name.into(), value));
    for (number, view) in data.views.iter().enumerate() {
        add(&format!("view {}", number + 1), list(&view.columns));
    }
    if !data.column_names.is_empty() && data.views.is_empty() {
        add("names", list(&data.column_names));
    }
    data.target.iter().for_each(|name| add("labels", name.clone()));
    data.weights.iter().for_each(|name| add("weights", name.clone()));
    data.groups.iter().for_each(|name| add("groups", name.clone()));
    if !data.set_aside.is_empty() {
        add("columns of text, carried beside the scores", list(&data.set_aside));
    }
    if !data.constant_columns.is_empty() {
        add("columns that are the same in every row", list(&data.constant_columns));
    }
    if data.dropped_rows > 0 {
        add("rows left out for missing cells", data.dropped_rows.to_string());
    }
    if data.imputed_cells > 0 {
        add("missing cells filled with the column's mean", data.imputed_cells.to_string());
    }
    facts
}

/// Writes a report; the file appears when it is complete.
pub(crate) fn save(report: &Report, path: &Path) -> Result<(), Failure> {
    outputs::write_bytes(path, report.to_html()?.as_bytes())
}

/// The command line that is running.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    quoted(std::iter::once("eigenlift".to_string()).chain(words))
}

/// Words as a shell would read them.
pub(crate) fn quoted(words: impl IntoIterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quote = |word: String| {
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let words =
            ["eigenlift", "fit", "kpca", "my data.csv", "--kernel", "rbf(gamma=0.5)", "it's", "", "$(x)"];
        assert_eq!(
            quoted(words.map(String::from)),
            r"eigenlift fit kpca 'my data.csv' --kernel 'rbf(gamma=0.5)' 'it'\''s' '' '$(x)'"
        );
    }
}
