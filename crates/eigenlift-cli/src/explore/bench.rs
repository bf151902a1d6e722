//! The work behind the page: what `fit` does, on tables that stay open.

use super::answer;
use super::tables::{Folder, Opened, Tables, built_in, from_bytes};
use crate::args::{DATA_SETS, FitMethod};
use crate::exit::Failure;
use crate::figures::Shown;
use crate::fit::{Asked, add_labels, shown_labels};
use crate::model::{Model, Rows};
use crate::outputs::{self, title};
use crate::report::{self, FitStory};
use crate::table::{Carried, DataAccount};
use crate::values::ImageSize;
use crate::words::timed;
use clap::Parser;
use eigenlift::error::Error;
use eigenlift::kernel::CATALOG;
use eigenlift::matrix::Matrix;
use eigenlift::preimage::Preimage;
use eigenlift::progress::{CancelToken, Observer, Watch};
use eigenlift_explorer::{Done, Download, FitRequest, Opening, Problem, Ticket, Workbench};
use eigenlift_io::Target;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Words that a page has no use for; they name files.
const REFUSED: &str = "flags that name files are for the command line; the page has downloads of its own.";

/// Words about the table, which is read before it is fitted.
const OF_TABLE: [&str; 6] = ["--target", "--columns", "--missing", "--format", "--delimiter", "--header"];

/// A fit that is kept.
pub(crate) struct Fit {
    pub(super) table: Arc<Opened>,
    pub(super) model: Box<dyn Model>,
    pub(super) scores: Matrix<f64>,
    pub(super) labels: Option<Target>,
    title: &'static str,
    command: String,
}

impl Fit {
    /// What pictures of it show.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            scores: &self.scores,
            target: shown_labels(&*self.model, self.table.carried.target.as_ref(), self.labels.as_ref()),
            rows: Some(self.table.samples.points()),
        }
    }
}

/// What the page works with.
pub(crate) struct Bench {
    folder: Folder,
    start: Opening,
    tables: Tables,
    /// Bytes that an upload may have and unpack to.
    most_upload: u64,
}

impl Bench {
    pub(super) fn new(folder: Folder, start: Opening, most_upload: u64) -> Self {
        Self { folder, start, tables: Tables::default(), most_upload }
    }

    /// Refuses a beginning that cannot be opened, before the page is shown.
    pub(super) fn check_start(&self) -> Result<(), Failure> {
        self.open(&self.start).map(|_| ()).map_err(|problem| Failure::Input(problem.to_string()))
    }

    fn opened(&self, opening: &Opening) -> Result<Opened, Problem> {
        match (&opening.builtin, &opening.file) {
            (Some(name), None) if DATA_SETS.contains(&name.as_str()) => built_in(name, opening),
            (Some(name), None) => Err(Problem::Request(format!(
                "there is no built-in data set {name:?}; choose one of {}.",
                DATA_SETS.join(", ")
            ))),
            (None, Some(name)) => self.folder.read(name, opening),
            _ => Err(Problem::Request("either a built-in data set or a file must be named.".into())),
        }
    }
}

/// Arguments of `fit` without the program.
#[derive(Debug, Parser)]
#[command(name = "fit", no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
struct FitLine {
    #[command(subcommand)]
    method: FitMethod,
}

fn parsed(table: &Opened, args: &[String]) -> Result<FitMethod, Problem> {
    let method = args.first().ok_or_else(|| Problem::Request("no method was named.".into()))?;
    let of_table = |word: &&String| OF_TABLE.contains(&word.split('=').next().unwrap_or_default());
    if let Some(word) = args.iter().find(of_table) {
        return Err(Problem::Request(format!(
            "{word} belongs to the table; choose it where the table is chosen."
        )));
    }
    // An earlier model is read as soon as it is named.
    if args.iter().any(|word| word.split('=').next() == Some("--like")) {
        return Err(Problem::Request(REFUSED.into()));
    }
    let words = [method].into_iter().chain(&table.words).chain(&args[1..]);
    let line = FitLine::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let told =
            text.split("\nUsage:").next().unwrap_or_default().split("\nFor more").next().unwrap_or_default();
        let lines: Vec<&str> = told.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Problem::Request(lines.join(" ").trim_start_matches("error: ").to_string())
    })?;
    Ok(line.method)
}

/// Tells the page how far a fit is.
struct Reporter(Arc<Ticket>);

impl Observer for Reporter {
    fn progress(&self, stage: &str, done: u64, total: u64) {
        self.0.report(stage, done, total);
    }
}

fn problem(failure: &Failure) -> Problem {
    match failure {
        Failure::Library(Error::Cancelled) => Problem::Cancelled,
        Failure::Machine(text) => Problem::Machine(text.clone()),
        other => Problem::Request(other.to_string()),
    }
}

/// Refuses what would touch files or needs what the page does not have.
fn check(asked: &Asked<'_>, table: &Opened, account: &DataAccount) -> Result<(), Failure> {
    let output = asked.output;
    let names_files = output.out.is_some()
        || output.model.is_some()
        || output.report.is_some()
        || !output.plot.is_empty()
        || asked.loadings.is_some()
        || !asked.method.inputs().is_empty();
    if names_files {
        return Err(Failure::Usage(REFUSED.into()));
    }
    if asked.method.weights().is_some() {
        return Err(Failure::Usage(
            "weights are for the command line, where they are taken out of the data.".into(),
        ));
    }
    let carried = table.carried.names();
    for prefix in asked.method.score_prefixes(account) {
        outputs::check_names(&carried, &prefix, asked.method.most_outputs(account))?;
    }
    asked.method.check(account, &[])
}

/// Fits a table that is open.
fn fitted(asked: &Asked<'_>, table: &Arc<Opened>, watch: &Watch) -> Result<Fit, Failure> {
    let (account, samples) = table.arranged(asked.method.views(), asked.method.precision())?;
    check(asked, table, &account)?;
    let target = table.carried.target.clone().filter(|_| asked.method.learns_labels());
    let rows = Rows { samples, weights: None, target };
    let mut model = asked.method.prepare(&account, &rows, watch)?.run()?;
    let scores = model.scores(&rows, watch)?;
    let labels = model.labels();
    Ok(Fit {
        table: Arc::clone(table),
        model,
        scores,
        labels,
        title: asked.method.title(),
        command: String::new(),
    })
}

impl Workbench for Bench {
    type Fit = Fit;

    fn catalogue(&self) -> Result<Value, Problem> {
        let title = |name: &&str| {
            let words = name.replace('-', " ");
            json!({"name": name, "title": words})
        };
        let Opening { builtin, file, target, columns, missing } = &self.start;
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "folder": self.folder.name(),
            "files": self.folder.files()?,
            "can": ["column"],
            "kernels": CATALOG,
            "builtin": DATA_SETS.iter().map(title).collect::<Vec<_>>(),
            "start": {"builtin": builtin, "file": file, "target": target, "columns": columns, "missing": missing},
        }))
    }

    fn open(&self, opening: &Opening) -> Result<Value, Problem> {
        Ok(self.tables.add(self.opened(opening)?).shown())
    }

    fn upload(&self, name: &str, bytes: Vec<u8>, opening: &Opening) -> Result<Value, Problem> {
        let name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "upload".into());
        let most = Some(self.most_upload);
        let opened = from_bytes(Path::new(&name), std::io::Cursor::new(bytes), opening, most)?;
        Ok(self.tables.add(opened).shown())
    }

    fn fit(&self, _: u64, request: &FitRequest, ticket: &Arc<Ticket>) -> Result<Done<Fit>, Problem> {
        let table = self.tables.get(request.data)?;
        let method = parsed(&table, &request.args)?;
        let cancel = CancelToken::default();
        let watch =
            Watch::default().cancelled_by(cancel.clone()).observed_by(Arc::new(Reporter(Arc::clone(ticket))));
        ticket.on_cancel(move || cancel.cancel());
        let (fit, seconds) = timed(|| method.with(|asked| fitted(&asked, &table, &watch)));
        let mut fit = fit.map_err(|failure| problem(&failure))?;
        fit.command = answer::command(&table, &request.args);
        let shown = answer::of(&fit, &request.args, seconds).map_err(|failure| problem(&failure))?;
        Ok(Done { shown, fit: Arc::new(fit) })
    }

    fn row(&self, data: u64, row: usize) -> Result<Value, Problem> {
        let table = self.tables.get(data)?;
        if row >= table.account.rows {
            return Err(Problem::Missing(format!(
                "there is no row {}; the table has {}.",
                row + 1,
                table.account.rows
            )));
        }
        let mut values = vec![0.0_f64; table.account.columns];
        table.samples.points().copy_row(row, &mut values);
        let columns = table.carried.columns();
        let text: Vec<(&str, &String)> =
            columns.iter().filter_map(|(name, cells)| Some((*name, cells.get(row)?))).collect();
        Ok(json!({"row": row + 1, "values": values, "text": text}))
    }

    fn column(&self, data: u64, column: usize) -> Result<Value, Problem> {
        let table = self.tables.get(data)?;
        let width = table.account.columns;
        if column >= width {
            return Err(Problem::Missing(format!(
                "there is no column {}; the table has {width}.",
                column + 1
            )));
        }
        let points = table.samples.points();
        let mut row = vec![0.0_f64; width];
        let values = (0..points.n_rows()).map(|i| {
            points.copy_row(i, &mut row);
            row[column]
        });
        let values = answer::floats(values);
        Ok(
            json!({"name": report::named_columns(&table.account.column_names, width)[column], "values": values}),
        )
    }

    fn figure(&self, fit: &Fit, name: &str) -> Result<Value, Problem> {
        answer::figure(fit, name)
    }

    fn preimage(&self, fit: &Fit, scores: &[f64]) -> Result<Value, Problem> {
        let k = fit.scores.n_cols();
        if scores.len() != k || !scores.iter().all(|x| x.is_finite()) {
            return Err(Problem::Request(format!(
                "{} scores; {k} finite numbers are required.",
                scores.len()
            )));
        }
        back(fit, scores).map_err(|failure| problem(&failure))
    }

    fn download(&self, fit: &Fit, what: Download, image: Option<[usize; 2]>) -> Result<Vec<u8>, Problem> {
        let made = match what {
            Download::Model => fit.model.fitted().bytes().map_err(Failure::from),
            Download::Scores => scores_table(fit),
            Download::Report => report_of(fit, image),
        };
        made.map_err(|failure| problem(&failure))
    }
}

/// The row that has these scores.
fn back(fit: &Fit, scores: &[f64]) -> Result<Value, Failure> {
    let place = Matrix::from_vec(scores.to_vec(), 1, scores.len())?;
    let Some(model) = fit.model.kernel_pca() else {
        let row = fit.model.fitted().invert(&place, &Watch::default())?;
        return Ok(json!({"row": row.row(0), "distance": 0.0, "trusted": true,
                         "words": "the way back of a linear method is exact"}));
    };
    let found = model.inverse_by(&Preimage::new(), &place)?;
    let (distance, trusted) =
        (found.distances.first().copied().unwrap_or_default(), found.trusted.first() == Some(&true));
    let words = if trusted {
        "a row with nearly these scores exists"
    } else {
        "no row has these scores: what is shown is the nearest that was found, and should not be trusted"
    };
    Ok(json!({"row": found.rows.row(0), "distance": distance, "trusted": trusted, "words": words}))
}

fn scores_table(fit: &Fit) -> Result<Vec<u8>, Failure> {
    let mut carried: Carried = fit.table.carried.clone();
    add_labels(&mut carried, fit.labels.clone())?;
    outputs::scores_as_text(&carried, &fit.model.score_names(), &fit.scores)
}

fn report_of(fit: &Fit, image: Option<[usize; 2]>) -> Result<Vec<u8>, Failure> {
    let account = &fit.table.account;
    let image = image
        .or(fit.table.image)
        .filter(|[height, width]| height.checked_mul(*width) == Some(account.columns));
    let size = image.map(|[height, width]| format!(" --image {height}x{width}")).unwrap_or_default();
    let story = FitStory {
        title: title(fit.title, &account.path),
        data: account,
        model: &*fit.model,
        shown: fit.shown(),
        step: 1,
        image: image.map(|[height, width]| ImageSize { height, width }),
        command: format!("{} --report report.html{size}", fit.command),
    };
    Ok(story.report()?.to_html()?.into_bytes())
}
