//! Files written whole or not at all.

use super::{Array, Header, write};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How many temporary names are tried.
const ATTEMPTS: usize = 100;
/// Longest part of the file's name that goes into the temporary one: systems allow names of 255 bytes.
const NAME_CHARS: usize = 48;

/// A file that is removed unless it gets its final name.
struct Temporary {
    path: PathBuf,
    kept: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing can be done about a failure here, and the one that led here is reported.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a model file, whole or not at all.
pub(crate) fn save(path: &Path, header: &Header, arrays: &[Array<'_>]) -> Result<()> {
    whole(path, "writing the model", |put| write(header, arrays, put))
}

/// Writes bytes, whole or not at all.
pub fn save_bytes(path: &Path, doing: &'static str, bytes: &[u8]) -> Result<()> {
    whole(path, doing, |put| put(bytes))
}

/// Writes under a temporary name in the same folder, then gives the file its name: whoever reads `path` sees the old file or the
/// new one, never a part.
fn whole(
    path: &Path,
    doing: &'static str,
    fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let failed = |doing: &'static str| {
        let path = path.to_path_buf();
        move |source: std::io::Error| Error::Io { path: path.clone(), doing, source }
    };
    let target = real_target(path)?;
    let (file, mut temporary) = create_beside(&target).map_err(failed("creating a file in its folder"))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    fill(&mut |bytes| out.write_all(bytes).map_err(failed(doing)))?;
    let file = out.into_inner().map_err(|e| failed(doing)(e.into_error()))?;
    file.sync_all().map_err(failed(doing))?;
    drop(file);
    fs::rename(&temporary.path, &target).map_err(failed("giving the finished file its name"))?;
    temporary.kept = true;
    // The rename outlives a power cut only when the folder is flushed too; not every system lets one do that.
    if let Ok(folder) = File::open(folder_of(&target)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Where a link points to, so that the link stays, also to a file that does not exist yet; refuses what is there and is no file, such as a folder or a device.
fn real_target(path: &Path) -> Result<PathBuf> {
    let failed = |source| Error::Io { path: path.to_path_buf(), doing: "saving", source };
    let target = followed(path).map_err(failed)?;
    match fs::metadata(&target) {
        Ok(there) if !there.is_file() => Err(Error::Io {
            path: path.to_path_buf(),
            doing: "saving",
            source: std::io::Error::new(ErrorKind::InvalidInput, "there is a folder or device of that name"),
        }),
        _ => Ok(target),
    }
}

/// The file that a path leads to through links; one that does not exist yet is where its link points.
fn followed(path: &Path) -> std::io::Result<PathBuf> {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            // `join` takes a link to an absolute path as it is.
            Ok(to) => target = target.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(target),
        }
    }
    Err(std::io::Error::other("too many links, or a link to itself"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what processes that were killed have left of the same file: temporary files that were not touched for an hour and whose
/// process does not run here, or that were not touched for a day: a folder may be shared with a machine whose processes are not
/// known here.
fn remove_stale(folder: &Path, prefix: &str) {
    const HOUR: Duration = Duration::from_secs(3600);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(mark) = name.to_str().and_then(|name| name.strip_prefix(prefix)) else { continue };
        let numbers: Option<Vec<u32>> = mark.split('-').map(|n| u32::from_str_radix(n, 16).ok()).collect();
        let Some([process, _]) = numbers.as_deref() else { continue };
        let facts = entry.metadata().ok().filter(fs::Metadata::is_file);
        let age = facts.and_then(|facts| facts.modified().ok()?.elapsed().ok()).unwrap_or_default();
        let known = Path::new("/proc/self").exists();
        let ended = known && !Path::new("/proc").join(process.to_string()).exists();
        if age > 24 * HOUR || (age > HOUR && ended) {
            // One that will not go does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Creates `.NAME.partXXXX`, a name that nothing has yet, with the permissions of any new file.
fn create_beside(path: &Path) -> std::io::Result<(File, Temporary)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let Some(name) = path.file_name() else {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "the path ends without a file name"));
    };
    let short: String = name.to_string_lossy().chars().take(NAME_CHARS).collect();
    remove_stale(folder_of(path), &format!(".{short}.part"));
    let mut taken = std::io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".{short}.part{:x}-{number:x}", std::process::id()));
        let candidate = folder_of(path).join(name);
        match OpenOptions::new().write(true).create_new(true).open(&candidate) {
            Ok(file) => return Ok((file, Temporary { path: candidate, kept: false })),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => taken = e,
            Err(e) => return Err(e),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_save_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let numbers = [1.0, f64::NAN];
        let message =
            save(&path, &example(), &[Array::f64("offset", &[2], &numbers)]).unwrap_err().to_string();
        assert!(message.starts_with("offset[1] is NaN"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["model"]);
        assert!(
            save(&path, &example(), &[Array::f64("offset", &[3], &numbers[..1])]).is_err(),
            "shape and numbers differ"
        );
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[test]
    fn names_that_are_taken_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let made: Vec<_> = (0..3).map(|_| create_beside(&path).unwrap()).collect();
        assert_eq!(names(folder.path()).len(), 3);
        assert!(names(folder.path()).iter().all(|name| name.to_string_lossy().starts_with(".model.part")));
        drop(made);
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_what_does_not_exist_yet_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (link, circle) = (folder.path().join("link"), folder.path().join("circle"));
        symlink("model", &link).unwrap();
        save_bytes(&link, "writing", b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("model")).unwrap(), b"new");
        symlink("circle", &circle).unwrap();
        let message = save_bytes(&circle, "writing", b"new").unwrap_err().to_string();
        assert!(message.contains("too many links"), "{message}");
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_process_has_left_is_removed_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(3700);
        let mine = std::process::id();
        // No process has a number beyond 2^22 on Linux.
        for (name, is_old) in [
            (".model.partfffffffe-0".to_owned(), true),
            (".model.partfffffffe-1".to_owned(), false),
            (format!(".model.part{mine:x}-ffff"), true),
            (".model.part-of-mine".to_owned(), true),
        ] {
            let file = File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
        }
        save_bytes(&folder.path().join("model"), "writing", b"new").unwrap();
        assert!(!folder.path().join(".model.partfffffffe-0").exists());
        assert_eq!(names(folder.path()).len(), 4);
    }
}
