//! Where the bytes of an output go.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::atomic::AtomicFile;
use crate::error::{Result, TableError};
use crate::source::is_standard;
use crate::terminal::Terminal;

/// An output that is being written.
pub(crate) enum Outlet {
    File(AtomicFile),
    Standard(BufWriter<Box<dyn Write + Send>>),
    /// A temporary file, copied to its place at the end: for a format written with steps back, to a place that does
    /// not allow them.
    Spooled {
        file: BufWriter<File>,
        to: Box<Outlet>,
    },
}

impl Outlet {
    /// Starts an output; `-` is standard output.
    pub(crate) fn create(path: &Path, name: &str, must_seek: bool) -> Result<Self> {
        let direct = if is_standard(path) {
            let sink: Box<dyn Write + Send> = match io::stdout().is_terminal() {
                true => Box::new(Terminal::new(io::stdout())),
                false => Box::new(io::stdout()),
            };
            Self::Standard(BufWriter::with_capacity(1 << 16, sink))
        } else {
            Self::File(AtomicFile::create(path)?)
        };
        let can_seek = matches!(&direct, Self::File(file) if file.place().is_some());
        if can_seek || !must_seek {
            return Ok(direct);
        }
        let file = tempfile::tempfile().map_err(|error| TableError::unwritable(name, error))?;
        Ok(Self::Spooled { file: BufWriter::with_capacity(1 << 16, file), to: Box::new(direct) })
    }

    /// The folder where more temporary files may lie; `None` for that of the system.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let Self::File(file) = self else { return None };
        let folder = file.place()?.parent()?;
        Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
    }

    /// Writes what is buffered; a file appears under its name.
    pub(crate) fn commit(self, name: &str) -> Result<()> {
        let fail = |error| TableError::unwritable(name, error);
        match self {
            Self::File(file) => file.commit(),
            Self::Standard(mut sink) => sink.flush().map_err(fail),
            Self::Spooled { file, mut to } => {
                let mut file = file.into_inner().map_err(|error| fail(error.into_error()))?;
                file.seek(SeekFrom::Start(0)).map_err(fail)?;
                io::copy(&mut file, &mut to).map_err(fail)?;
                to.commit(name)
            }
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Standard(sink) => sink.write(bytes),
            Self::Spooled { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Standard(sink) => sink.flush(),
            Self::Spooled { file, .. } => file.flush(),
        }
    }
}

impl Seek for Outlet {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Spooled { file, .. } => file.seek(to),
            Self::Standard(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}
