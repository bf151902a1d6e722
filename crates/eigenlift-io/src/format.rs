//! The file formats, and how one is recognised.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Report, TableError, quoted};

/// A file format for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text; the delimiter is detected.
    Csv,
    /// Text separated by tabs.
    Tsv,
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// Apache Parquet, flat columns.
    Parquet,
}

impl Format {
    /// The format that a file name's extension stands for.
    ///
    /// ```
    /// use eigenlift_io::Format;
    /// assert_eq!(Format::from_extension("scores.NPY".as_ref()), Some(Format::Npy));
    /// assert_eq!(Format::from_extension("-".as_ref()), None);
    /// ```
    #[must_use]
    pub fn from_extension(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The binary format that a file's first bytes stand for; `None` for text.
    ///
    /// ```
    /// assert_eq!(eigenlift_io::Format::from_magic(b"PAR1\x15"), Some(eigenlift_io::Format::Parquet));
    /// ```
    #[must_use]
    pub fn from_magic(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x93NUMPY") {
            Some(Self::Npy)
        } else if head.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            Some(Self::Npz)
        } else {
            None
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Parquet => "parquet",
        })
    }
}

impl FromStr for Format {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        match text.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "tsv" => Ok(Self::Tsv),
            "npy" => Ok(Self::Npy),
            "npz" => Ok(Self::Npz),
            "parquet" => Ok(Self::Parquet),
            _ => Err(TableError::Setting(Report::new(
                "format",
                format!("{} is not a format", quoted(text)),
                "a format is csv, tsv, npy, npz or parquet",
                "Use one of those",
            ))),
        }
    }
}
