//! Tables that the page has opened: built in, from the folder, or uploaded.

use super::answer::floats;
use crate::args::Precision;
use crate::data;
use crate::exit::Failure;
use crate::figures::continuous;
use crate::input::Input;
use crate::report;
use crate::table::{Carried, DataAccount};
use crate::views::divided;
use eigenlift::data::AnySamples;
use eigenlift::kernel::{Kernel, KernelSpec, Param};
use eigenlift_explorer::{Opening, Problem};
use eigenlift_io::{Format, Missing, ReadOptions, TableError, Target, read_table_from};
use eigenlift_plot::web::base64;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Tables that are kept; the oldest is forgotten.
const KEPT: usize = 8;
/// Labels that are told apart; the rest have one name.
const MOST_LABELS: usize = 65_535;
const OTHERS: &str = "(other labels)";
/// Files of the folder that are named.
const MOST_FILES: usize = 500;

/// A table that is open.
pub(super) struct Opened {
    pub(super) number: u64,
    pub(super) account: DataAccount,
    pub(super) samples: AnySamples,
    pub(super) carried: Carried,
    /// Lines and pixels in a line, where rows are known to be images.
    pub(super) image: Option<[usize; 2]>,
    /// The table and its flags, as `fit` takes them.
    pub(super) words: Vec<String>,
    /// The command that makes the table, for one that is built in.
    pub(super) made_by: Option<Vec<String>>,
    /// Bandwidth of a Gaussian by the median rule.
    gamma: Option<f64>,
}

/// Tables that are open, newest last.
#[derive(Default)]
pub(super) struct Tables {
    all: Mutex<(u64, Vec<Arc<Opened>>)>,
}

impl Tables {
    /// Keeps a table under a new number.
    pub(super) fn add(&self, mut opened: Opened) -> Arc<Opened> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0 += 1;
        opened.number = all.0;
        let opened = Arc::new(opened);
        all.1.push(Arc::clone(&opened));
        let spare = all.1.len().saturating_sub(KEPT);
        all.1.drain(..spare);
        opened
    }

    /// The table of a number.
    pub(super) fn get(&self, number: u64) -> Result<Arc<Opened>, Problem> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.1.iter().find(|opened| opened.number == number).cloned();
        found.ok_or_else(|| Problem::Missing("this table is not open any more; choose it again.".into()))
    }
}

/// The folder whose tables can be opened.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    shown: PathBuf,
    real: PathBuf,
}

impl Folder {
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let refuse = |found: String| {
            Failure::Input(format!("{found}; a folder with tables is required. Check the path."))
        };
        let real = path.canonicalize().map_err(|e| refuse(format!("{} ({e})", path.display())))?;
        if !real.is_dir() {
            return Err(refuse(format!("{} is not a folder", path.display())));
        }
        Ok(Self { shown: path.to_owned(), real })
    }

    pub(super) fn name(&self) -> String {
        self.real.display().to_string()
    }

    /// Names of its tables, sorted.
    pub(super) fn files(&self) -> Result<Vec<String>, Problem> {
        let fail = |error| Problem::Machine(format!("{}: cannot be read ({error}).", self.shown.display()));
        let entries = std::fs::read_dir(&self.real).map_err(fail)?.flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| self.holds(&entry.path()).is_some())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.') && Format::from_extension(Path::new(name)).is_some())
            .collect();
        names.sort();
        names.truncate(MOST_FILES);
        Ok(names)
    }

    /// The real path of a file that lies in the folder, wherever links may point.
    fn holds(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok().filter(|real| real.starts_with(&self.real) && real.is_file())
    }

    /// Opens a file that lies in the folder itself.
    fn open(&self, name: &str) -> Result<(PathBuf, File), Problem> {
        let refuse = |why: &str| {
            Problem::Request(format!("{name:?} {why}; the page opens tables of the folder {}.", self.name()))
        };
        let is_plain = Path::new(name).file_name().is_some_and(|own| own == name);
        if !is_plain {
            return Err(refuse("is not the name of a file"));
        }
        let Some(real) = self.holds(&self.real.join(name)) else {
            return Err(refuse("is not there, lies elsewhere, or is not a file"));
        };
        let file = File::open(&real).map_err(|error| refuse(&format!("cannot be opened ({error})")))?;
        Ok((self.shown.join(name), file))
    }

    /// Reads a table of the folder.
    pub(super) fn read(&self, name: &str, opening: &Opening) -> Result<Opened, Problem> {
        let (path, file) = self.open(name)?;
        let path = if self.shown == Path::new(".") { PathBuf::from(name) } else { path };
        from_bytes(&path, file, opening, None)
    }
}

impl Opened {
    /// Its numbers in the precision asked for; where there are lists of columns, those of each list as a view.
    pub(super) fn arranged(
        &self,
        lists: &[String],
        precision: Precision,
    ) -> Result<(DataAccount, AnySamples), Failure> {
        if lists.is_empty() {
            let samples = match precision {
                Precision::F64 => self.samples.clone(),
                Precision::F32 => self.samples.to_single(),
            };
            return Ok((self.account.clone(), samples));
        }
        let whole = Input {
            account: self.account.clone(),
            values: self.samples.points().to_dense::<f64>().into_vec(),
            sparse: None,
            carried: Carried::default(),
            seconds: 0.0,
        };
        let mut views = divided(whole, lists)?;
        let samples = views.take_samples(precision)?;
        Ok((views.account, samples))
    }
}

/// Words about a table that cannot be read.
fn unread(error: TableError) -> Problem {
    match error {
        TableError::Memory(mut report) => {
            report.advice = "Choose fewer columns, or put it into the folder of the explorer and open it there, or start with a \
                             larger --most-upload"
                .into();
            Problem::TooLarge(report.to_string())
        }
        error => Problem::Request(error.to_string()),
    }
}

/// Reads a table from bytes, which may be packed and then unpack to at most so many.
pub(super) fn from_bytes(
    path: &Path,
    bytes: impl std::io::Read + Send + 'static,
    opening: &Opening,
    most_unpacked: Option<u64>,
) -> Result<Opened, Problem> {
    let missing: Missing = match &opening.missing {
        Some(word) => word.parse().map_err(|_| {
            Problem::Request(format!("missing cells by {word:?}; error, drop or mean is required."))
        })?,
        None => Missing::default(),
    };
    let options = ReadOptions {
        target: opening.target.clone().filter(|name| !name.is_empty()),
        columns: opening.columns.clone().filter(|list| !list.trim().is_empty()),
        missing,
        most_unpacked,
        ..ReadOptions::default()
    };
    let table = read_table_from(&path.display().to_string(), bytes, &options).map_err(unread)?;
    let name = path.display().to_string();
    let mut words = vec![if name.starts_with('-') { format!("./{name}") } else { name }];
    let flags = [
        ("--target", options.target),
        ("--columns", options.columns),
        ("--missing", opening.missing.clone()),
    ];
    for (flag, value) in flags {
        // A value that looks like a flag is one word with its own.
        match value {
            Some(value) if value.starts_with('-') => words.push(format!("{flag}={value}")),
            value => words.extend(value.into_iter().flat_map(|value| [flag.to_string(), value])),
        }
    }
    opened(Input::from_table(path, table, 0.0), words)
}

/// A built-in data set.
pub(super) fn built_in(name: &str, opening: &Opening) -> Result<Opened, Problem> {
    let set = data::set(name).map_err(|failure| Problem::Request(failure.to_string()))?;
    let text = data::text(&set, ',');
    let target = opening.target.clone().or_else(|| set.target_name.clone());
    let file = format!("{name}.csv");
    let opening = Opening { target, ..opening.clone() };
    let opened = from_bytes(Path::new(&file), std::io::Cursor::new(text.into_bytes()), &opening, None)?;
    let made_by = ["eigenlift", "data", name, "--out", file.as_str()].map(String::from).to_vec();
    let image = (name == "digits" && opened.account.columns == 64).then_some([8, 8]);
    Ok(Opened { made_by: Some(made_by), image, ..opened })
}

fn opened(mut input: Input, words: Vec<String>) -> Result<Opened, Problem> {
    let samples =
        input.take_samples(Precision::F64).map_err(|failure| Problem::Request(failure.to_string()))?;
    let gamma = median_gamma(&samples);
    Ok(Opened {
        number: 0,
        account: input.account,
        samples,
        carried: input.carried,
        image: None,
        words,
        made_by: None,
        gamma,
    })
}

fn median_gamma(samples: &AnySamples) -> Option<f64> {
    let spec = KernelSpec::rbf(Param::Median);
    match Kernel::for_points(&spec, samples.points(), 0).ok()?.spec()?.bandwidth()? {
        (_, Param::Value(gamma)) => Some(gamma),
        (_, Param::Median | Param::OverDimension | Param::Auto) => None,
    }
}

impl Opened {
    /// What the page shows of it.
    pub(super) fn shown(&self) -> Value {
        let account = &self.account;
        let words: Vec<String> =
            report::facts(account).iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let candidates: Vec<&String> =
            account.set_aside.iter().chain(&account.target).chain(&account.column_names).collect();
        json!({
            "id": self.number,
            "name": account.path.display().to_string(),
            "rows": account.rows,
            "columns": account.column_names,
            "target": self.carried.target.as_ref().map(shown_target),
            "image": self.image,
            "gamma": self.gamma,
            "words": words,
            "warnings": account.warnings,
            "numeric_columns": account.column_names,
            "columns_candidates_for_target": candidates,
        })
    }
}

/// Labels as the page colours points by them.
pub(super) fn shown_target(target: &Target) -> Value {
    if let Some(values) = continuous(target) {
        let values = floats(values.iter().copied());
        return json!({"name": target.name, "kind": "values", "values": values});
    }
    let mut names: Vec<&String> = target.values.iter().collect();
    names.sort();
    names.dedup();
    if target.numeric {
        names.sort_by(|a, b| a.parse().unwrap_or(f64::NAN).total_cmp(&b.parse().unwrap_or(f64::NAN)));
    }
    let others = OTHERS.to_string();
    if names.len() > MOST_LABELS {
        names.truncate(MOST_LABELS - 1);
        names.push(&others);
    }
    let places: HashMap<&String, u16> = names.iter().copied().zip(0..).collect();
    let last = places.get(&others).copied().unwrap_or_default();
    let codes = target.values.iter().map(|value| places.get(value).copied().unwrap_or(last));
    let codes: Vec<u8> = codes.flat_map(u16::to_le_bytes).collect();
    json!({"name": target.name, "kind": "classes", "names": names, "codes": base64(&codes)})
}
