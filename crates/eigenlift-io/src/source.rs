//! An input file or standard input, opened and looked at.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Report, Result, TableError};

/// How much of an input is looked at to recognise its format and its delimiter.
///
/// Why: a table of gene expression has lines of some 200 kB, and several lines are needed to tell its delimiter.
const HEAD_BYTES: u64 = 1 << 20;

/// An input that was opened, with its first bytes.
pub(crate) struct Source {
    /// Its name in messages.
    pub(crate) name: String,
    /// Its first bytes, which are also still to be read.
    pub(crate) head: Vec<u8>,
    body: Body,
}

enum Body {
    /// A file that can be sought in; it stands after the head.
    File { file: File, n_bytes: u64 },
    /// A pipe or a device; the head is already taken from it.
    Stream(Box<dyn Read>),
}

/// The whole of an input, head first.
pub(crate) type Whole = BufReader<Chain<Cursor<Vec<u8>>, Box<dyn Read>>>;

/// An input that can be sought in.
pub(crate) trait Seekable: Read + Seek {}

impl<T: Read + Seek> Seekable for T {}

impl Source {
    /// Opens a path; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
        let fail = |error| TableError::unreadable(&name, error);
        let mut body = if is_standard(path) {
            Body::Stream(Box::new(io::stdin()))
        } else {
            let file = File::open(path).map_err(fail)?;
            let facts = file.metadata().map_err(fail)?;
            if facts.is_dir() {
                return Err(directory(&name));
            }
            if facts.is_file() {
                Body::File { file, n_bytes: facts.len() }
            } else {
                Body::Stream(Box::new(file))
            }
        };
        let mut head = Vec::new();
        let read = match &mut body {
            Body::File { file, .. } => file.take(HEAD_BYTES).read_to_end(&mut head),
            Body::Stream(stream) => stream.take(HEAD_BYTES).read_to_end(&mut head),
        };
        read.map_err(fail)?;
        if head.is_empty() {
            return Err(TableError::Layout(Report::new(
                &name,
                "it is empty (0 bytes)",
                "a table must have at least one row",
                "Check that the file was written completely",
            )));
        }
        Ok(Self { name, head, body })
    }

    /// Whether the head is all there is.
    pub(crate) fn head_is_all(&self) -> bool {
        (self.head.len() as u64) < HEAD_BYTES
    }

    /// The whole input from its first byte on.
    pub(crate) fn into_reader(self) -> Whole {
        let rest: Box<dyn Read> = match self.body {
            Body::File { file, .. } => Box::new(file),
            Body::Stream(stream) => stream,
        };
        BufReader::with_capacity(1 << 18, Cursor::new(self.head).chain(rest))
    }

    /// The whole input, at its first byte; a stream is read to its end first.
    pub(crate) fn into_seekable(self) -> Result<(Box<dyn Seekable>, u64)> {
        let name = self.name.clone();
        let fail = |error| TableError::unreadable(&name, error);
        match self.body {
            Body::File { mut file, n_bytes } => {
                file.seek(SeekFrom::Start(0)).map_err(fail)?;
                Ok((Box::new(BufReader::new(file)), n_bytes))
            }
            Body::Stream(mut stream) => {
                let mut bytes = self.head;
                stream.read_to_end(&mut bytes).map_err(fail)?;
                let n_bytes = bytes.len() as u64;
                Ok((Box::new(Cursor::new(bytes)), n_bytes))
            }
        }
    }

    /// The whole input as a file, at its first byte; a stream is copied into a nameless temporary file first.
    #[cfg(feature = "parquet")]
    pub(crate) fn into_file(self) -> Result<File> {
        let name = self.name.clone();
        let fail = |error| TableError::unreadable(&name, error);
        let mut file = match self.body {
            Body::File { file, .. } => file,
            Body::Stream(mut stream) => {
                let mut file = tempfile::tempfile().map_err(fail)?;
                io::copy(&mut Cursor::new(self.head), &mut file).map_err(fail)?;
                io::copy(&mut stream, &mut file).map_err(fail)?;
                file
            }
        };
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        Ok(file)
    }
}

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Takes `FILE.npz:NAME` apart, when no file has that very name but `FILE.npz` exists.
pub(crate) fn split_member(path: &Path) -> (PathBuf, Option<String>) {
    let whole = || (path.to_owned(), None);
    if is_standard(path) || path.exists() {
        return whole();
    }
    let Some((file, member)) = path.to_str().and_then(|text| text.rsplit_once(':')) else { return whole() };
    if Path::new(file).is_file() { (PathBuf::from(file), Some(member.to_owned())) } else { whole() }
}

fn directory(name: &str) -> TableError {
    TableError::unreadable(name, io::Error::from(io::ErrorKind::IsADirectory))
}
