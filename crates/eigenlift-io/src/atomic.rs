//! Output files that appear only when they are complete, with the errors of tables.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{Result, TableError};
use eigenlift_atomic::{folder_of, followed};

/// Refuses a path where no output can appear: creates a temporary file there and removes it.
///
/// A pipe or a device is not tried: to open a pipe waits for its reader.
///
/// # Errors
///
/// [`TableError::Unwritable`] as for [`AtomicFile::create`].
pub fn check_writable(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        return Ok(());
    }
    AtomicFile::create(path).map(drop)
}

/// An [`eigenlift_atomic::AtomicFile`] whose refusals say what to do.
#[derive(Debug)]
pub struct AtomicFile {
    file: eigenlift_atomic::AtomicFile,
    /// Its name in messages.
    name: String,
}

impl AtomicFile {
    /// Starts an output.
    ///
    /// # Errors
    ///
    /// [`TableError::Unwritable`] when the path is a folder, its folder does not exist, the file there is read-only, or
    /// nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fail = |error| TableError::unwritable(&name, error);
        let place = followed(path).map_err(fail)?;
        refuse_impossible(&name, &place)?;
        let file = eigenlift_atomic::AtomicFile::create(&place).map_err(fail)?;
        Ok(Self { file, name })
    }

    /// Puts the file in its place, after everything has reached the disk.
    ///
    /// # Errors
    ///
    /// [`TableError::Unwritable`] when the rest cannot be written or the file cannot be moved.
    pub fn commit(self) -> Result<()> {
        let Self { file, name } = self;
        file.commit().map_err(|error| TableError::unwritable(&name, error))
    }

    /// Where the file will appear; `None` for a pipe or a device, which is written directly.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.file.place()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn refuse_impossible(name: &str, place: &Path) -> Result<()> {
    let before = fs::metadata(place).ok();
    let required = "an output must be a file in a folder that exists";
    let refuse = |found, advice| Err(TableError::refused_output(name, found, required, advice));
    if before.as_ref().is_some_and(fs::Metadata::is_dir) || place.file_name().is_none() {
        return refuse("it is a folder", "Add a file name to the path");
    }
    if before.is_some_and(|facts| facts.is_file() && facts.permissions().readonly()) {
        return refuse("it is a file that is read-only", "Make it writable, or choose another name");
    }
    if !folder_of(place).is_dir() {
        return refuse("its folder does not exist", "Create the folder first");
    }
    Ok(())
}
