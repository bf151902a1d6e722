//! An input file or standard input, opened and looked at.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::bytes::{Bytes, Section};
use crate::error::{Report, Result, TableError};
use crate::format::Format;
use crate::watched::Watched;

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

/// Standard input, once it lies in a temporary file.
static SPOOLED: OnceLock<Arc<File>> = OnceLock::new();

/// Copies standard input into a nameless temporary file, from which the path `-` is then read, as often as need be; gives its
/// bytes. What cannot be a table, because it begins with bytes that are neither text nor of a known format, is not copied
/// beyond that.
///
/// # Errors
///
/// [`TableError::Unreadable`] when it cannot be read, or the temporary folder is full.
pub fn spool_standard_input() -> Result<u64> {
    let fail = |error| TableError::unreadable("standard input, copied into a temporary file", error);
    if let Some(file) = SPOOLED.get() {
        return Ok(file.metadata().map_err(fail)?.len());
    }
    let (mut input, mut file) = (io::stdin().lock(), tempfile::tempfile().map_err(fail)?);
    let mut head = Vec::new();
    input.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(fail)?;
    file.write_all(&head).map_err(fail)?;
    if Format::from_magic(&head).is_some() || !head.contains(&0) {
        io::copy(&mut input, &mut file).map_err(fail)?;
    }
    let n_bytes = file.metadata().map_err(fail)?.len();
    let _ = SPOOLED.set(Arc::new(file));
    Ok(n_bytes)
}

enum Body {
    /// A file that can be sought in.
    File { file: Arc<File>, n_bytes: u64, watched: Watched },
    /// A pipe or a device; the head is already taken from it.
    Stream(Box<dyn Read + Send>),
}

impl Source {
    /// Opens a path; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
        let fail = |error| TableError::unreadable(&name, error);
        let body = if let Some(file) = SPOOLED.get().filter(|_| is_standard(path)) {
            let mut start = file.as_ref();
            start.rewind().map_err(fail)?;
            let facts = file.metadata().map_err(fail)?;
            let watched = Watched::new(Arc::clone(file), &facts);
            Body::File { n_bytes: facts.len(), file: Arc::clone(file), watched }
        } else if is_standard(path) {
            Body::Stream(Box::new(io::stdin()))
        } else {
            let file = File::open(path).map_err(fail)?;
            let facts = file.metadata().map_err(fail)?;
            if facts.is_dir() {
                return Err(directory(&name));
            }
            // A file of the kernel says that it is empty and is not.
            if facts.is_file() && facts.len() > 0 {
                let file = Arc::new(file);
                let watched = Watched::new(Arc::clone(&file), &facts);
                Body::File { file, n_bytes: facts.len(), watched }
            } else {
                Body::Stream(Box::new(file))
            }
        };
        Self::begin(name, body)
    }

    /// Bytes that come from elsewhere, under a name for messages.
    pub(crate) fn from_reader(name: &str, bytes: Box<dyn Read + Send>) -> Result<Self> {
        Self::begin(name.to_owned(), Body::Stream(bytes))
    }

    /// Takes the first bytes of an input.
    fn begin(name: String, mut body: Body) -> Result<Self> {
        let fail = |error| TableError::unreadable(&name, error);
        let mut head = Vec::new();
        let read = match &mut body {
            Body::File { file, .. } => file.as_ref().take(HEAD_BYTES).read_to_end(&mut head),
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

    /// Whether the input can be read once only.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self.body, Body::Stream(_))
    }

    /// The file as it is now, where there is one, to tell later whether it has changed.
    pub(crate) fn watched(&self) -> Option<Watched> {
        match &self.body {
            Body::File { watched, .. } => Some(watched.clone()),
            Body::Stream(_) => None,
        }
    }

    /// Takes more from a pipe into the head, until it has some complete lines or the input ends.
    pub(crate) fn lengthen_head(&mut self) -> Result<()> {
        const LINES: usize = 4;
        // No table has lines this long, and a device such as /dev/zero has no end.
        const LONGEST: usize = 1 << 26;
        let Body::Stream(stream) = &mut self.body else { return Ok(()) };
        let line_ends = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count();
        let mut n_ends = line_ends(&self.head);
        // What is not text is refused by its first line.
        if self.head.contains(&0) {
            return Ok(());
        }
        while n_ends < LINES && self.head.len() < LONGEST {
            let before = self.head.len();
            let read = stream.take(HEAD_BYTES).read_to_end(&mut self.head);
            read.map_err(|error| TableError::unreadable(&self.name, error))?;
            let new = self.head.get(before..).unwrap_or_default();
            if new.is_empty() {
                break;
            }
            n_ends += line_ends(new);
        }
        Ok(())
    }

    /// The whole input from its first byte on.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.body {
            Body::File { file, n_bytes, .. } => Bytes::Section(Section::new(file, 0, n_bytes)),
            Body::Stream(stream) => Bytes::once(self.head, stream),
        }
    }

    /// The whole input as a file; a pipe is copied into a nameless temporary file first.
    pub(crate) fn into_section(self) -> Result<(Arc<File>, Section)> {
        let file = match self.body {
            Body::File { file, .. } => file,
            Body::Stream(mut stream) => {
                let fail = |error| TableError::unreadable(&self.name, error);
                let mut file = tempfile::tempfile().map_err(fail)?;
                io::copy(&mut self.head.as_slice(), &mut file).map_err(fail)?;
                io::copy(&mut stream, &mut file).map_err(fail)?;
                Arc::new(file)
            }
        };
        let n_bytes = file.metadata().map_err(|error| TableError::unreadable(&self.name, error))?.len();
        Ok((Arc::clone(&file), Section::new(file, 0, n_bytes)))
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
