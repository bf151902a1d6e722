//! What does the work behind the page.

use crate::{Problem, Ticket};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A table to open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Opening {
    /// A data set that comes with the program.
    pub builtin: Option<String>,
    /// A file in the chosen folder.
    pub file: Option<String>,
    /// Column of labels.
    pub target: Option<String>,
    /// Columns that are data.
    pub columns: Option<String>,
    /// What becomes of missing cells.
    pub missing: Option<String>,
}

/// Which of the two settings side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pane {
    /// The first, which is always there.
    A,
    /// The second, in a comparison.
    B,
}

/// A fit that the page asks for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRequest {
    /// The open page that asks, by a name that it made up.
    pub workspace: String,
    /// Which of the two settings side by side it is for.
    pub pane: Pane,
    /// The table, by the number that opening it gave.
    pub data: u64,
    /// The method and its flags, as on the command line.
    pub args: Vec<String>,
}

/// A fit that is done.
#[derive(Debug)]
pub struct Done<F> {
    /// What the page shows.
    pub shown: Value,
    /// What later questions about it need.
    pub fit: Arc<F>,
}

/// A file that a fit can be had as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// The scores as a table.
    Scores,
    /// The model.
    Model,
    /// The one-file report.
    Report,
}

impl Download {
    /// The file's name and what it holds.
    pub(crate) const ALL: [(&'static str, &'static str, Self); 3] = [
        ("scores.csv", "text/csv; charset=utf-8", Self::Scores),
        ("model.safetensors", "application/octet-stream", Self::Model),
        ("report.html", "text/html; charset=utf-8", Self::Report),
    ];
}

/// Opens tables, fits methods and answers questions about fits. Every answer is JSON that the page understands.
pub trait Workbench: Send + Sync + 'static {
    /// What is kept of a fit.
    type Fit: Send + Sync + 'static;

    /// What there is to choose from.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn catalogue(&self) -> Result<Value, Problem>;
    /// Opens a built-in data set or a file of the folder.
    ///
    /// # Errors
    /// When it is not there, or is not a table.
    fn open(&self, opening: &Opening) -> Result<Value, Problem>;
    /// Opens a table whose bytes come from the page.
    ///
    /// # Errors
    /// When the bytes are not a table.
    fn upload(&self, name: &str, bytes: Vec<u8>, opening: &Opening) -> Result<Value, Problem>;
    /// Fits; `job` is the number under which the fit will be known.
    ///
    /// # Errors
    /// When the arguments are wrong, the fit fails, or the ticket was cancelled.
    fn fit(&self, job: u64, request: &FitRequest, ticket: &Arc<Ticket>) -> Result<Done<Self::Fit>, Problem>;
    /// A row of a table, counted from 0.
    ///
    /// # Errors
    /// When there is no such table or row.
    fn row(&self, data: u64, row: usize) -> Result<Value, Problem>;
    /// A column of a table, counted from 0.
    ///
    /// # Errors
    /// When there is no such table or column.
    fn column(&self, data: u64, column: usize) -> Result<Value, Problem>;
    /// A picture of a fit, of those that it was shown to have.
    ///
    /// # Errors
    /// When it has no such picture.
    fn figure(&self, fit: &Self::Fit, name: &str) -> Result<Value, Problem>;
    /// The row that has these scores, as nearly as there is one.
    ///
    /// # Errors
    /// When the method has no way back.
    fn preimage(&self, fit: &Self::Fit, scores: &[f64]) -> Result<Value, Problem>;
    /// The bytes of a file; `image` says that rows are images of so many lines and pixels.
    ///
    /// # Errors
    /// When it cannot be made.
    fn download(
        &self,
        fit: &Self::Fit,
        what: Download,
        image: Option<[usize; 2]>,
    ) -> Result<Vec<u8>, Problem>;
}
