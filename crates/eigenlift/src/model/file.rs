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
mod reader;
mod writer;

pub(crate) use arrays::{Array, Number, Numbers};
pub(crate) use disk::save;
pub(crate) use reader::ModelReader;
pub(crate) use writer::write;

use super::Plan;
use crate::eigen::{Bounds, SolveStats};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Version of the model file that this library writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Under which name the header stands in the metadata of the safetensors file.
const METADATA_KEY: &str = "eigenlift";
/// What to do about a file that was damaged.
const COPY_AGAIN: &str = "Copy the file again from where it came, or save the model again";
/// What to do about a file that no version of eigenlift wrote.
const SAVE_AGAIN: &str = "Save the model again with eigenlift";

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
    /// The kernel with every parameter known.
    pub kernel: String,
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
    /// tr(K_c): the total variance in feature space times n. The array of that name holds every bit of it.
    pub centered_trace: f64,
    /// Bound on the rounding error behind the certificate. The array of that name holds every bit of it.
    pub rounding: f64,
    /// What is known about all eigenvalues together.
    #[serde(default)]
    pub bounds: Bounds,
    /// Groups of components that are determined only as a subspace, see [`crate::eigen::Certificate::ties`].
    pub ties: Vec<(usize, usize)>,
    /// What the solve took.
    pub stats: SolveStats,
    /// Sentences a person should read before using the scores.
    pub warnings: Vec<String>,
    /// What was decided and why.
    pub plan: Plan,
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
    /// The header as text, with the checksum of that text in it.
    fn to_text(&self) -> Result<String> {
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
    fn from_text(text: &str) -> Result<Self> {
        let unreadable = |e: serde_json::Error| {
            Error::model(
                format!("the header cannot be read ({e})"),
                "it must be JSON with the fields of a model's header",
                SAVE_AGAIN,
            )
        };
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
    use crate::eigen::Indefinite;
    use crate::gram::Storage;
    use crate::model::{Route, Solver};

    /// A header that says something in every field.
    pub(super) fn example() -> Header {
        let plan = Plan {
            n_samples: 3,
            n_features: 2,
            n_components: 1,
            kernel: "linear".into(),
            route: Route::Dual,
            approximation: None,
            rank: 0,
            sample_rows: 0,
            chunk_rows: 0,
            precision: "f64".into(),
            draft: false,
            storage: Storage::Tiled,
            solver: Solver::Dense,
            repair: Indefinite::Clip,
            sketch_rank: 0,
            expected_passes: 2,
            tolerance: 1e-6,
            seed: u64::MAX,
            engine: "cpu".into(),
            threads: 1,
            bytes_needed: 1,
            bytes_allowed: 2,
            reasons: vec!["so".into()],
        };
        Header {
            format_version: FORMAT_VERSION,
            eigenlift_version: "0.1.0".into(),
            method: "kpca".into(),
            kernel: "linear".into(),
            precision: "f64".into(),
            n_samples: 3,
            n_features: 2,
            n_components: 1,
            column_names: vec!["a \"quoted\"".into(), "header_sha256".into()],
            centered_trace: 0.1 + 0.2,
            rounding: 1e-300,
            bounds: Bounds::default(),
            ties: vec![(0, 1)],
            stats: SolveStats::default(),
            warnings: vec!["ü\u{1F600}".into()],
            plan,
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
        let blank = Header { header_sha256: String::new(), centered_trace: example().centered_trace, ..read };
        assert_eq!(blank, example());
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
