//! The model file: a header in words and named arrays of numbers, in the safetensors format.
//!
//! ```text
//! 8 bytes   length of the table, little-endian
//! table     JSON: name, type, shape and place of each array; "__metadata__": {"eigenlift": header as JSON}
//! arrays    little-endian numbers, row after row, without gaps
//! ```
//!
//! This layer knows headers and named arrays; which arrays a method has is said where the method is saved. Reading
//! runs no code and allocates no more than the file holds: every size is checked against the file's before use.

mod arrays;
mod disk;
mod projection;
mod reader;
mod samples;
mod table;
mod writer;

pub use arrays::{Array, Numbers};
pub(crate) use disk::save;
pub(crate) use projection::{LiftRecord, MapRecord, in_kernel, kernel_text};
pub(crate) use reader::ModelReader;
pub(crate) use samples::in_samples;
pub(crate) use table::{Arrays, Declared, Dim, Out, Rule, Table, arrays_of};
pub(crate) use writer::write;

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Version of the model file that this library writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Under which name the header stands in the metadata of the safetensors file.
const METADATA_KEY: &str = "eigenlift";
/// What to do about a file that was damaged.
const COPY_AGAIN: &str = "Copy the file again from where it came, or save the model again";
/// What to do about a file that no version of eigenlift wrote.
pub(crate) const SAVE_AGAIN: &str = "Save the model again with eigenlift";

/// An array of a model file: its name, type and shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayInfo {
    /// Its name.
    pub name: String,
    /// Type of its numbers, such as `F64`.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// What a model file says in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the file's format.
    pub format_version: u32,
    /// Version of eigenlift that wrote it.
    pub eigenlift_version: String,
    /// The method, such as `kpca`.
    pub method: String,
    /// Precision of the samples, `f32` or `f64`.
    pub precision: String,
    /// Samples the model was fitted on.
    pub n_samples: usize,
    /// Numbers that a row must have.
    pub n_features: usize,
    /// Components kept.
    pub n_components: usize,
    /// Names of the input columns; empty when none were given.
    pub column_names: Vec<String>,
    /// Sentences a person should read before using the scores.
    pub warnings: Vec<String>,
    /// What the method says of itself beside that: its plan, and what was found.
    #[serde(flatten)]
    pub record: Map<String, Value>,
    /// SHA-256 over all arrays in the order of their names: for each `name\0dtype\0[shape]\0`, then its bytes.
    pub sha256: String,
    /// The arrays, known from the file's own table when it is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ArrayInfo>,
    /// SHA-256 of this header's text with this field, which comes last, empty.
    pub header_sha256: String,
}

/// The part of a header that every version has.
#[derive(Deserialize)]
struct Preamble {
    format_version: u32,
    eigenlift_version: String,
}

impl Header {
    /// An empty header of a method, written by this version.
    pub(crate) fn of_method(method: &str) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            eigenlift_version: env!("CARGO_PKG_VERSION").into(),
            method: method.into(),
            precision: String::new(),
            n_samples: 0,
            n_features: 0,
            n_components: 0,
            column_names: Vec::new(),
            warnings: Vec::new(),
            record: Map::new(),
            sha256: String::new(),
            arrays: Vec::new(),
            header_sha256: String::new(),
        }
    }

    /// Refuses a model of another method.
    pub(crate) fn check_method(&self, methods: &[&str]) -> Result<()> {
        if methods.contains(&&*self.method) {
            return Ok(());
        }
        let methods = methods.join(" or ");
        Err(Error::model(
            format!("a model of the method {}", shown(&self.method)),
            format!("here a model of the method {methods} is read"),
            format!("Give a {methods} model"),
        ))
    }

    /// Refuses what holds for no method: unknown precision, column names that do not fit, and control characters in words.
    pub(crate) fn check_words<'a>(&'a self, more: impl Iterator<Item = &'a String>) -> Result<()> {
        let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
        if !["f32", "f64"].contains(&&*self.precision) {
            return bad(format!("precision {}", shown(&self.precision)), "it must be f32 or f64");
        }
        let (names, d) = (self.column_names.len(), self.n_features);
        if names != 0 && names != d {
            return bad(
                format!("{names} column names for {d} features"),
                "there must be one for each, or none",
            );
        }
        match [&self.eigenlift_version]
            .into_iter()
            .chain(&self.warnings)
            .chain(more)
            .find(|t| t.contains(char::is_control))
        {
            Some(text) => bad(
                format!("the text \"{}\" in the header", shown(text)),
                "it must not hold control characters",
            ),
            None => Ok(()),
        }
    }

    /// What the method wrote about itself.
    ///
    /// # Errors
    /// When something is missing or of another kind.
    pub(crate) fn read_record<R: DeserializeOwned>(&self) -> Result<R> {
        serde_json::from_value(Value::Object(self.record.clone())).map_err(unreadable)
    }

    /// What a method says of itself, as a header keeps it.
    pub(crate) fn record_of(record: &impl Serialize) -> Result<Map<String, Value>> {
        match serde_json::to_value(record) {
            Ok(Value::Object(map)) => Ok(map),
            other => Err(Error::model(
                format!("what the method says of itself cannot be written as JSON ({other:?})"),
                "it must have named fields",
                "Fit the model again",
            )),
        }
    }

    /// The header as text, with the checksum of that text in it.
    ///
    /// # Errors
    /// When a number in it is not finite.
    pub fn to_text(&self) -> Result<String> {
        let bare = Self { arrays: Vec::new(), header_sha256: String::new(), ..self.clone() };
        let text = serde_json::to_string(&bare).map_err(|e| {
            Error::model(
                format!("the header cannot be written as JSON ({e})"),
                "every number in it must be finite",
                "Fit the model again",
            )
        })?;
        let digest = hex(&Sha256::digest(text.as_bytes()));
        let open = text.strip_suffix("\"}").unwrap_or(&text);
        Ok(format!("{open}{digest}\"}}"))
    }

    /// Reads and checks the text of a header. The version comes first: a newer header may look different.
    ///
    /// # Errors
    /// When it was written by a newer version, was changed, or lacks something.
    pub fn from_text(text: &str) -> Result<Self> {
        let preamble: Preamble = serde_json::from_str(text).map_err(unreadable)?;
        let (format, writer) = (preamble.format_version, &preamble.eigenlift_version);
        if format > FORMAT_VERSION {
            return Err(Error::model(
                format!("written by eigenlift {} with format {format}", shown(writer)),
                format!("this version reads up to {FORMAT_VERSION}"),
                "Upgrade eigenlift",
            ));
        }
        if format == 0 {
            return Err(Error::model("format version 0", "versions count from 1", SAVE_AGAIN));
        }
        check_header_sum(text)?;
        serde_json::from_str(text).map_err(unreadable)
    }
}

fn unreadable(e: serde_json::Error) -> Error {
    Error::model(
        format!("the header cannot be read ({e})"),
        "it must be JSON with the fields of a model's header",
        SAVE_AGAIN,
    )
}

/// Compares the checksum at the end of a header's text with the text before it.
fn check_header_sum(text: &str) -> Result<()> {
    const FIELD: &str = "\"header_sha256\":\"";
    let ending = text.strip_suffix("\"}").and_then(|open| {
        let (before, sum) = open.split_at_checked(open.len().checked_sub(64)?)?;
        before.ends_with(FIELD).then_some((before, sum))
    });
    let Some((before, sum)) = ending else {
        return Err(Error::model(
            "the header does not end with its checksum",
            "the field header_sha256 is last",
            COPY_AGAIN,
        ));
    };
    let digest = Sha256::new().chain_update(before.as_bytes()).chain_update(b"\"}").finalize();
    if hex(&digest) == sum {
        return Ok(());
    }
    Err(Error::model(
        "the header does not match its checksum",
        "every letter must be as it was saved, but some were changed or damaged",
        COPY_AGAIN,
    ))
}

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Text from a file as it may stand in a message: short, without control characters.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

/// Reads what a model file says about itself, whatever its method, without reading its arrays.
///
/// The header's own checksum is checked, that of the arrays is not: loading the model does that.
///
/// ```no_run
/// let header = eigenlift::model::read_header("model.safetensors".as_ref())?;
/// println!("{} with {} components", header.method, header.n_components);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be read, is no model file, was written by a newer version, or is truncated or damaged.
pub fn read_header(path: &Path) -> Result<Header> {
    ModelReader::open_file(path, |reader| Ok(reader.header().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Record {
        total: f64,
        seed: u64,
        reasons: Vec<String>,
    }

    fn record() -> Record {
        Record { total: 0.1 + 0.2, seed: u64::MAX, reasons: vec!["so".into()] }
    }

    /// A header that says something in every field.
    pub(super) fn example() -> Header {
        Header {
            format_version: FORMAT_VERSION,
            eigenlift_version: "0.1.0".into(),
            method: "kpca".into(),
            precision: "f64".into(),
            n_samples: 3,
            n_features: 2,
            n_components: 1,
            column_names: vec!["a \"quoted\"".into(), "header_sha256".into()],
            warnings: vec!["ü\u{1F600}".into()],
            record: Header::record_of(&record()).unwrap(),
            sha256: "00".into(),
            arrays: Vec::new(),
            header_sha256: String::new(),
        }
    }

    #[test]
    fn a_header_round_trips_as_text() {
        let text = example().to_text().unwrap();
        let read = Header::from_text(&text).unwrap();
        assert_eq!(read.header_sha256.len(), 64);
        assert_eq!(read.to_text().unwrap(), text);
        let blank = Header { header_sha256: String::new(), ..read };
        assert_eq!(blank, example());
        assert_eq!(blank.read_record::<Record>().unwrap(), record());
        assert!(!text.contains("\"arrays\""), "the table of the file says that");
    }

    #[test]
    fn short_and_odd_endings_of_headers_are_refused() {
        let good = example().to_text().unwrap();
        let multibyte = format!("{}\"}}", "ü".repeat(90));
        for text in ["", "\"}", "{}", &good[..good.len() - 3], &good[1..], &multibyte, &good.to_uppercase()] {
            let message = check_header_sum(text).unwrap_err().to_string();
            assert!(message.contains("checksum"), "{message}");
        }
        check_header_sum(&good).unwrap();
    }

    #[test]
    fn foreign_text_is_shown_short_and_harmless() {
        assert_eq!(shown("rbf(gamma=1)"), "rbf(gamma=1)");
        assert_eq!(shown("\u{1b}[2J\n"), "\\u{1b}[2J\\n");
        assert_eq!(shown(&"x".repeat(61)), "x".repeat(60) + "…");
    }

    #[test]
    fn digits_are_hexadecimal() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
