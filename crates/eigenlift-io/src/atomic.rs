//! Output files that appear only when they are complete.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

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
/// It is written next to its place as `.NAME.partP-N`; [`commit`](Self::commit) puts it there in one step.
/// Dropped before that, it is removed, and a file that was there before stays as it was. A link is followed, also to a file
/// that does not exist yet; a pipe or a device (`/dev/null`) is written directly. What a process that was killed has left of an
/// output of this name is removed by the next one.
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
        let place = followed(path).map_err(fail)?;
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

/// The file that a path leads to through links; one that does not exist yet is where its link points.
fn followed(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    if let Ok(place) = fs::canonicalize(path) {
        return Ok(place);
    }
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&place) {
            // `join` takes a link to an absolute path as it is.
            Ok(to) => place = place.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links, or a link to itself"))
}

fn folder_or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Removes what processes that were killed have left of the same output: temporary files that were not touched for an hour and
/// whose process does not run here, or that were not touched for a day.
///
/// Why the times: a folder may be shared with a machine whose processes are not known here. Should one of them be so slow, its
/// output fails with an error and is not damaged.
fn remove_stale(place: &Path, prefix: &str) {
    const HOUR: Duration = Duration::from_secs(3600);
    let folder = place.parent().map_or(Path::new("."), folder_or_here);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(mark) = name.to_str().and_then(|name| name.strip_prefix(prefix)) else { continue };
        let numbers: Option<Vec<u32>> = mark.split('-').map(|n| u32::from_str_radix(n, 16).ok()).collect();
        let Some([process, _]) = numbers.as_deref() else { continue };
        let facts = entry.metadata().ok().filter(fs::Metadata::is_file);
        let age = facts.and_then(|facts| facts.modified().ok()?.elapsed().ok()).unwrap_or_default();
        if age > 24 * HOUR || (age > HOUR && has_ended(*process)) {
            // One that will not go does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether no process of this number runs here; `false` where that is not known.
fn has_ended(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(process.to_string()).exists()
}

/// Creates `.NAME.partP-N`, P the process and N a number, with the permissions of any new file.
fn create_temporary(place: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // File systems allow names of 255 bytes, and the rest of the name needs room, too.
    const LONGEST_NAME: usize = 60;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(LONGEST_NAME).collect();
    remove_stale(place, &format!(".{name}.part"));
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = place.with_file_name(format!(".{name}.part{:x}-{count:x}", std::process::id()));
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
