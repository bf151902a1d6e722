//! Writes NPZ files.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::SpooledTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::DATA_MEMBER;
use crate::npy;
use crate::outlet::Outlet;
use crate::output::Output;
use crate::sheet::{Columns, Sheet};

/// What waits for the end is held in memory up to this size, and in a temporary file beyond it.
const SPOOL_BYTES: usize = 1 << 20;

/// Starts an NPZ file: the numbers as the member `X` and each text column as a member under its own name.
pub(crate) fn create(outlet: Outlet, columns: &Columns) -> io::Result<Box<dyn Sheet>> {
    let folder = outlet.folder();
    let folder = folder.as_deref();
    let mut archive = ZipWriter::new(Silenced { outlet, failed: false });
    let mut waiting = None;
    match columns.n_rows {
        _ if columns.names.is_empty() => {}
        Some(n_rows) => begin_numbers(&mut archive, columns, n_rows)?,
        None => waiting = Some(BufWriter::new(spool(folder))),
    }
    let text = columns.text_names.iter().map(|_| TextSpool::new(folder)).collect();
    Ok(Box::new(ArchiveSheet { archive, waiting, text, columns: columns.clone() }))
}

/// An archive whose members follow each other, so that all but the first wait for the end.
struct ArchiveSheet {
    archive: ZipWriter<Silenced>,
    /// The numbers, when their count is not known before.
    waiting: Option<BufWriter<SpooledTempFile>>,
    text: Vec<TextSpool>,
    columns: Columns,
}

impl Sheet for ArchiveSheet {
    fn append(&mut self, chunk: &Output<'_>) -> io::Result<()> {
        let single = self.columns.single_precision;
        match &mut self.waiting {
            Some(waiting) => npy::write_numbers(waiting, chunk.values, single)?,
            None => npy::write_numbers(&mut self.archive, chunk.values, single)?,
        }
        for (spool, (_, cells)) in self.text.iter_mut().zip(chunk.text) {
            spool.append(cells)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, n_rows: usize) -> io::Result<Outlet> {
        if let Some(waiting) = self.waiting.take() {
            begin_numbers(&mut self.archive, &self.columns, n_rows)?;
            io::copy(&mut rewound(waiting)?, &mut self.archive)?;
        }
        for (spool, name) in self.text.into_iter().zip(&self.columns.text_names) {
            let mark = if name == DATA_MEMBER { "_" } else { "" };
            self.archive.start_file(format!("{name}{mark}.npy"), options()).map_err(io::Error::from)?;
            spool.write_to(&mut self.archive, n_rows)?;
        }
        self.archive.finish().map(|silenced| silenced.outlet).map_err(io::Error::from)
    }
}

/// An outlet that takes everything in silence once it has failed.
///
/// Why: an archive that is dropped tries to write its end, and prints that it could not on standard error.
struct Silenced {
    outlet: Outlet,
    failed: bool,
}

impl Silenced {
    fn first<T>(&mut self, otherwise: T, work: impl FnOnce(&mut Outlet) -> io::Result<T>) -> io::Result<T> {
        if self.failed {
            return Ok(otherwise);
        }
        let done = work(&mut self.outlet);
        self.failed = done.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        done
    }
}

impl Write for Silenced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.first(bytes.len(), |outlet| outlet.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.first((), Write::flush)
    }
}

impl Seek for Silenced {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.first(0, |outlet| outlet.seek(to))
    }
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true)
}

fn begin_numbers(archive: &mut ZipWriter<Silenced>, columns: &Columns, n_rows: usize) -> io::Result<()> {
    archive.start_file(format!("{DATA_MEMBER}.npy"), options()).map_err(io::Error::from)?;
    archive.write_all(&npy::header_of_numbers(n_rows, columns.names.len(), columns.single_precision)?)
}

fn spool(folder: Option<&Path>) -> SpooledTempFile {
    match folder {
        Some(folder) => tempfile::spooled_tempfile_in(SPOOL_BYTES, folder),
        None => tempfile::spooled_tempfile(SPOOL_BYTES),
    }
}

/// A spool at its first byte.
fn rewound(spool: BufWriter<SpooledTempFile>) -> io::Result<BufReader<SpooledTempFile>> {
    let mut file = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::new(file))
}

/// The cells of a text column: the array needs the length of the longest before the first.
struct TextSpool {
    /// Each cell as its number of bytes and its text.
    cells: BufWriter<SpooledTempFile>,
    n_chars: usize,
}

impl TextSpool {
    fn new(folder: Option<&Path>) -> Self {
        Self { cells: BufWriter::new(spool(folder)), n_chars: 1 }
    }

    fn append(&mut self, cells: &[String]) -> io::Result<()> {
        for cell in cells {
            self.n_chars = self.n_chars.max(cell.chars().count());
            self.cells.write_all(&(cell.len() as u64).to_le_bytes())?;
            self.cells.write_all(cell.as_bytes())?;
        }
        Ok(())
    }

    fn write_to<W: Write>(self, sink: &mut W, n_rows: usize) -> io::Result<()> {
        let mut cells = rewound(self.cells)?;
        let mut sink = BufWriter::new(sink);
        sink.write_all(&npy::header_of_text(n_rows, self.n_chars)?)?;
        let mut text = String::new();
        for _ in 0..n_rows {
            let mut length = [0; 8];
            cells.read_exact(&mut length)?;
            text.clear();
            (&mut cells).take(u64::from_le_bytes(length)).read_to_string(&mut text)?;
            npy::write_text(&mut sink, &text, self.n_chars)?;
        }
        sink.flush()
    }
}
