//! What is known of a table: what was read and how it was treated, and what is carried beside its numbers.

mod places;

pub(crate) use places::{column_places, numbered};

use crate::args::{HeaderChoice, InputArgs, Precision};
use crate::exit::Failure;
use crate::words::{Words, counted};
use eigenlift_io::{ReadOptions, SparseTable, Target, TextColumn, printable_line, read_sparse};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Names shown in a sentence; more are counted.
const SHOWN_NAMES: usize = 8;

/// What was read and how it was treated.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DataAccount {
    pub(crate) path: PathBuf,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Numbers that are stored: rows times columns, or those of a sparse table.
    #[serde(skip)]
    pub(crate) entries: usize,
    pub(crate) column_names: Vec<String>,
    /// Columns of text alone.
    pub(crate) set_aside: Vec<String>,
    pub(crate) target: Option<String>,
    /// Column that holds weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weights: Option<String>,
    /// Column that holds groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<String>,
    pub(crate) dropped_rows: usize,
    pub(crate) imputed_cells: usize,
    /// Columns of numbers that the model does not know.
    pub(crate) ignored: Vec<String>,
    /// Columns that are the same in every row.
    pub(crate) constant_columns: Vec<String>,
    /// Views that stand side by side, for methods of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) views: Vec<ViewAccount>,
    /// How often a table that does not fit into memory was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) readings: Option<usize>,
    pub(crate) warnings: Vec<String>,
}

/// One of several views.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ViewAccount {
    pub(crate) path: PathBuf,
    pub(crate) columns: Vec<String>,
}

/// What stands in front of the scores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) text: Vec<TextColumn>,
    pub(crate) target: Option<Target>,
}

impl Carried {
    /// Names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Names and cells, text columns first, then the target.
    pub(crate) fn columns(&self) -> Vec<(&str, &[String])> {
        let text = self.text.iter().map(|column| (column.name.as_str(), column.values.as_slice()));
        text.chain(self.target.iter().map(|target| (target.name.as_str(), target.values.as_slice())))
            .collect()
    }
}

impl DataAccount {
    /// What is known of a sparse matrix.
    pub(crate) fn of_sparse(path: &Path, table: &SparseTable) -> Self {
        Self {
            path: path.to_owned(),
            rows: table.n_rows,
            columns: table.n_cols,
            entries: table.values.len(),
            ..Self::default()
        }
    }

    /// Warns when the first line of a text table may have been data.
    pub(crate) fn note_header(&mut self, number_in_header: bool) {
        if number_in_header {
            self.warnings.push(
                "the first line has numbers in it and was taken for the names of the columns; use --header no if it is data"
                    .to_string(),
            );
        }
    }

    /// Warns when integers were too large for double precision, in this column first.
    pub(crate) fn note_large_integers(&mut self, column: Option<String>) {
        if let Some(column) = column {
            self.warnings.push(format!(
                "the column {} holds integers of 2^53 (9.0e15) or beyond, which were rounded to double precision",
                printable_line(&column)
            ));
        }
    }

    /// Takes the column of weights out of the data's; gives its place.
    pub(crate) fn take_weights(&mut self, name: &str) -> Result<usize, Failure> {
        let at = self.take_column(name, ("--weights", "weights"))?;
        self.weights = Some(name.to_owned());
        Ok(at)
    }

    /// Takes a column out of the data's; gives its place.
    pub(crate) fn take_column(&mut self, name: &str, (flag, what): (&str, &str)) -> Result<usize, Failure> {
        if self.column_names.is_empty() {
            return Err(Failure::usage(
                format!("{flag} {name}: the columns of {} have no names", self.path.display()),
                &format!("{what} are a column that is named"),
                &format!("Leave {flag} out, or give a table with names"),
            ));
        }
        let Some(at) = self.column_names.iter().position(|other| other == name) else {
            return Err(Failure::usage(
                format!("{flag} {name}: {} has no data column of that name", self.path.display()),
                &match flag == "--groups" && !self.set_aside.is_empty() {
                    true => format!(
                        "its columns of numbers are {}, those of text {}",
                        list(&self.column_names),
                        list(&self.set_aside)
                    ),
                    false => format!("its columns of numbers are {}", list(&self.column_names)),
                },
                &if self.target.as_deref() == Some(name) {
                    format!("Give one of these names; {name} is the target")
                } else {
                    format!("Give one of these names; with --columns, the {what} must be among them")
                },
            ));
        };
        if self.columns < 2 {
            return Err(Failure::usage(
                format!("{flag} {name} names the only column of numbers"),
                &format!("at least one column of data is needed beside the {what}"),
                &format!("Leave {flag} out"),
            ));
        }
        self.column_names.remove(at);
        self.constant_columns.retain(|other| other != name);
        self.columns -= 1;
        Ok(at)
    }

    /// Keeps the columns of a model.
    pub(crate) fn take_columns(&mut self, wanted: &[String]) {
        let have = std::mem::replace(&mut self.column_names, wanted.to_vec());
        let known: HashSet<&String> = wanted.iter().collect();
        self.ignored = have.into_iter().filter(|name| !known.contains(name)).collect();
        self.columns = wanted.len();
    }

    /// Says which columns tell the rows apart in nothing.
    pub(crate) fn note_constant_columns(&self, words: Words) {
        let constant = &self.constant_columns;
        if !constant.is_empty() && self.rows > 1 {
            words.note(format_args!(
                "{} the same in every row: {}",
                if constant.len() == 1 {
                    "one column is".into()
                } else {
                    format!("{} columns are", constant.len())
                },
                list(constant)
            ));
        }
    }

    /// Says what was read; warnings first.
    pub(crate) fn say(&self, words: Words) {
        let account = self;
        for warning in &account.warnings {
            words.warn(warning);
        }
        let mut line = format!(
            "read {}: {}, {} of numbers",
            account.source(),
            counted(account.rows, "row"),
            counted(account.columns, "column")
        );
        if let Some(target) = &account.target {
            line += &format!("; target {}", printable_line(target));
        }
        if let Some(weights) = &account.weights {
            line += &format!("; weights {}", printable_line(weights));
        }
        if let Some(groups) = &account.groups {
            line += &format!("; groups {}", printable_line(groups));
        }
        if account.column_names.is_empty() && account.entries < account.rows * account.columns {
            line += &format!("; sparse, {}", counted(account.entries, "entry").replace("entrys", "entries"));
        }
        if !account.set_aside.is_empty() {
            line += &format!("; text set aside: {}", list(&account.set_aside));
        }
        words.say(line);
        if account.dropped_rows > 0 {
            words.say(format_args!(
                "  {} left out because a cell was missing",
                counted(account.dropped_rows, "row")
            ));
        }
        if account.imputed_cells > 0 {
            words.say(format_args!(
                "  {} filled with the mean of the column",
                counted(account.imputed_cells, "missing cell")
            ));
        }
        for (number, view) in account.views.iter().enumerate() {
            words.say(format_args!("  view {}: {}", number + 1, list(&view.columns)));
        }
        if !account.ignored.is_empty() {
            let which = if account.views.is_empty() { "the model does not know" } else { "of no view" };
            words.note(format_args!("columns {which} were left out: {}", list(&account.ignored)));
        }
    }

    /// Where the rows come from: a file, several, or standard input.
    pub(crate) fn source(&self) -> String {
        let mut paths: Vec<&Path> = self.views.iter().map(|view| view.path.as_path()).collect();
        paths.dedup();
        if paths.is_empty() {
            paths.push(&self.path);
        }
        let name = |path: &Path| match path == Path::new("-") {
            true => "standard input".to_string(),
            false => printable_line(&path.display().to_string()).into_owned(),
        };
        match paths.split_last() {
            Some((last, [])) => name(last),
            Some((last, others)) => {
                let others: Vec<String> = others.iter().map(|path| name(path)).collect();
                format!("{} and {}", others.join(", "), name(last))
            }
            None => String::new(),
        }
    }
}

/// How the command line wants a table to be read.
pub(crate) fn read_options(args: &InputArgs) -> ReadOptions {
    ReadOptions {
        format: args.format,
        delimiter: args.delimiter,
        header: match args.header {
            HeaderChoice::Auto => None,
            HeaderChoice::Yes => Some(true),
            HeaderChoice::No => Some(false),
        },
        columns: args.columns.clone(),
        target: args.target.clone(),
        missing: args.missing,
        ..ReadOptions::default()
    }
}

/// Reads a sparse matrix, which has numbers alone.
pub(crate) fn sparse_table(args: &InputArgs) -> Result<SparseTable, Failure> {
    if args.target.is_some() || args.columns.is_some() {
        return Err(Failure::usage(
            format!("--target or --columns of {}", args.data.display()),
            "a sparse matrix has no labels and all its columns are data",
            "Leave them out, or choose columns before it is saved",
        ));
    }
    Ok(read_sparse(&args.data)?)
}

/// The first names, and how many more there are.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(SHOWN_NAMES).map(|name| printable_line(name)).collect();
    let shown = shown.join(", ");
    match names.len().checked_sub(SHOWN_NAMES) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// Bytes that the samples of a table take.
pub(crate) fn samples_bytes(data: &DataAccount, precision: Precision) -> u64 {
    data.entries as u64 * if precision.is_single() { 4 } else { 8 }
}
