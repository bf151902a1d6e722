//! Output files that appear only when they are complete.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Result, TableError};

/// Temporary files that are not yet complete, for [`remove_unfinished`].
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often the list is asked for before the files are left where they are.
const TRIES: usize = 200;

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all outputs that are not complete; for a program that is being interrupted.
///
/// The files that were there before stay as they are, and an [`AtomicFile::commit`] after this fails.
pub fn remove_unfinished() {
    // Why not wait for ever: the thread that is ending may hold the list itself, when memory ran out while it grew.
    let found = (0..TRIES).find_map(|_| match UNFINISHED.try_lock() {
        Ok(free) => Some(free),
        Err(TryLockError::Poisoned(free)) => Some(free.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(5));
            None
        }
    });
    let Some(mut unfinished) = found else { return };
    for path in unfinished.iter() {
        // Nothing better can be done about a file that will not go.
        let _ = fs::remove_file(path);
    }
    unfinished.clear();
}

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

/// An output file that appears under its name only when it is complete.
///
/// It is written next to its place as `.NAME.partXXXXXXXX`; [`commit`](Self::commit) puts it there in one step.
/// Dropped before that, it is removed, and a file that was there before stays as it was. A link is followed; a pipe or
/// a device (`/dev/null`) is written directly.
///
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.txt");
/// std::fs::write(&path, "old")?;
/// let mut file = eigenlift_io::AtomicFile::create(&path)?;
/// file.write_all(b"new")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "old");
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: BufWriter<File>,
    /// Its name in messages.
    name: String,
    /// The temporary file and its final place; `None` for a pipe or a device, and when all is done.
    pending: Option<(PathBuf, PathBuf)>,
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
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&place).ok();
        refuse_impossible(&name, &place, before.as_ref())?;
        if before.as_ref().is_some_and(|facts| !facts.is_file()) {
            let file = OpenOptions::new().write(true).open(&place).map_err(fail)?;
            return Ok(Self { file: BufWriter::new(file), name, pending: None });
        }
        let (file, temporary) = create_temporary(&place).map_err(fail)?;
        let made =
            Self { file: BufWriter::with_capacity(1 << 16, file), name, pending: Some((temporary, place)) };
        if let Some(facts) = before {
            // Replacing keeps the permissions, as writing into the file would.
            made.file
                .get_ref()
                .set_permissions(facts.permissions())
                .map_err(|e| TableError::unwritable(&made.name, e))?;
        }
        Ok(made)
    }

    /// Puts the file in its place, after everything has reached the disk.
    ///
    /// # Errors
    ///
    /// [`TableError::Unwritable`] when the rest cannot be written or the file cannot be moved.
    pub fn commit(mut self) -> Result<()> {
        self.finish().map_err(|error| TableError::unwritable(&self.name, error))
    }

    /// Where the file will appear; `None` for a pipe or a device, which is written directly.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.pending.as_ref().map(|(_, place)| place.as_path())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((temporary, place)) = &self.pending else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        let mut unfinished = unfinished();
        fs::rename(temporary, place)?;
        unfinished.remove(temporary);
        drop(unfinished);
        // The name is safe only when the folder is, too; not every system lets a folder be opened.
        if let Some(folder) = place.parent().and_then(|folder| File::open(folder_or_here(folder)).ok()) {
            let _ = folder.sync_all();
        }
        self.pending = None;
        Ok(())
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

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.pending.take() {
            let mut unfinished = unfinished();
            let _ = fs::remove_file(&temporary);
            unfinished.remove(&temporary);
        }
    }
}

fn refuse_impossible(name: &str, place: &Path, before: Option<&fs::Metadata>) -> Result<()> {
    let required = "an output must be a file in a folder that exists";
    let refuse = |found, advice| Err(TableError::refused_output(name, found, required, advice));
    if before.is_some_and(fs::Metadata::is_dir) || place.file_name().is_none() {
        return refuse("it is a folder", "Add a file name to the path");
    }
    if before.is_some_and(|facts| facts.is_file() && facts.permissions().readonly()) {
        return refuse("it is a file that is read-only", "Make it writable, or choose another name");
    }
    match place.parent().map(folder_or_here) {
        Some(folder) if !folder.is_dir() => refuse("its folder does not exist", "Create the folder first"),
        _ => Ok(()),
    }
}

fn folder_or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Creates `.NAME.partXXXXXXXX` with the permissions of any new file.
fn create_temporary(place: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // File systems allow names of 255 bytes, and the rest of the name needs room, too.
    const LONGEST_NAME: usize = 60;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(LONGEST_NAME).collect();
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        let mark = nanos ^ std::process::id().rotate_left(16) ^ count.rotate_left(8);
        let temporary = place.with_file_name(format!(".{name}.part{mark:08x}"));
        let mut unfinished = unfinished();
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                unfinished.insert(temporary.clone());
                return Ok((file, temporary));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
