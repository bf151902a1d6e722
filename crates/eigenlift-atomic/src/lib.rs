//! Files that appear under their name only when they are complete: tables, pictures and model files are written by this.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

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
/// let mut file = eigenlift_atomic::AtomicFile::create(&path)?;
/// file.write_all(b"new")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "old");
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "new");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: BufWriter<File>,
    /// The temporary file and its final place; `None` for a pipe or a device, and when all is done.
    pending: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Starts an output. A file that is replaced passes its permissions on, as writing into it would.
    ///
    /// # Errors
    /// When the path has no file name or its links have no end, and when the system refuses.
    pub fn create(path: &Path) -> io::Result<Self> {
        let place = followed(path)?;
        let before = fs::metadata(&place).ok();
        if before.as_ref().is_some_and(|facts| !facts.is_file()) {
            let file = OpenOptions::new().write(true).open(&place)?;
            return Ok(Self { file: BufWriter::new(file), pending: None });
        }
        let (file, temporary) = create_temporary(&place)?;
        let made = Self { file: BufWriter::with_capacity(1 << 16, file), pending: Some((temporary, place)) };
        if let Some(facts) = before {
            made.file.get_ref().set_permissions(facts.permissions())?;
        }
        Ok(made)
    }

    /// Puts the file in its place, after everything has reached the disk.
    ///
    /// # Errors
    /// When the rest cannot be written or the file cannot be moved.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((temporary, place)) = &self.pending else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        let mut unfinished = unfinished();
        fs::rename(temporary, place)?;
        unfinished.remove(temporary);
        drop(unfinished);
        // The name is safe only when the folder is, too; not every system lets a folder be opened.
        if let Ok(folder) = File::open(folder_of(place)) {
            let _ = folder.sync_all();
        }
        self.pending = None;
        Ok(())
    }

    /// Where the file will appear; `None` for a pipe or a device, which is written directly.
    pub fn place(&self) -> Option<&Path> {
        self.pending.as_ref().map(|(_, place)| place.as_path())
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

/// The file that a path leads to through links; one that does not exist yet is where its link points.
///
/// # Errors
/// When there are more links than systems follow, such as a link to itself.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
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

/// Refuses what is there and is no file.
///
/// # Errors
/// When there is a folder, a pipe or a device of that name.
pub fn refuse_special(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "there is a folder or device of that name"))
        }
        _ => Ok(()),
    }
}

/// The folder of a file, `.` for a name alone.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what processes that were killed have left of the same output: temporary files that were not touched for an hour and
/// whose process does not run here, or that were not touched for a day.
///
/// Why the times: a folder may be shared with a machine whose processes are not known here. Should one of them be so slow, its
/// output fails with an error and is not damaged.
fn remove_stale(place: &Path, prefix: &str) {
    const HOUR: Duration = Duration::from_secs(3600);
    for entry in fs::read_dir(folder_of(place)).into_iter().flatten().flatten() {
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
    let Some(name) = place.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path ends without a file name"));
    };
    let name: String = name.to_string_lossy().chars().take(LONGEST_NAME).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_taken_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let names = || -> Vec<String> {
            let entries = fs::read_dir(folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
        };
        let made: Vec<_> = (0..3).map(|_| AtomicFile::create(&path).unwrap()).collect();
        assert_eq!(names().len(), 3);
        assert!(names().iter().all(|name| name.starts_with(".model.part")), "{:?}", names());
        drop(made);
        assert!(names().is_empty());
    }

    #[test]
    fn a_path_without_a_file_name_is_refused() {
        let error = AtomicFile::create(Path::new("nowhere/..")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
