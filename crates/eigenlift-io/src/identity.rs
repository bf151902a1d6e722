//! Whether two paths are one file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{is_standard, split_member};

/// Whether two paths lead to the same file, also through links; `FILE.npz:NAME` is the file `FILE.npz`.
///
/// For refusing an output that is also an input. Standard input and output (`-`) are never the same file.
///
/// ```
/// use std::path::Path;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "1\n")?;
/// assert!(eigenlift_io::same_file(&path, &folder.path().join(".").join("a.csv")));
/// assert!(!eigenlift_io::same_file(&path, Path::new("-")));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn same_file(a: &Path, b: &Path) -> bool {
    if is_standard(a) || is_standard(b) {
        return false;
    }
    let (a, _) = split_member(a);
    let (b, _) = split_member(b);
    match (fs::metadata(&a), fs::metadata(&b)) {
        (Ok(facts_a), Ok(facts_b)) if facts_a.is_file() && facts_b.is_file() => {
            identity(&facts_a, &facts_b).unwrap_or_else(|| resolved(&a) == resolved(&b))
        }
        // A device such as /dev/null may be read and written at once.
        (Ok(_), Ok(_)) => false,
        (Err(_), Err(_)) => resolved(&a) == resolved(&b),
        _ => false,
    }
}

#[cfg(unix)]
fn identity(a: &fs::Metadata, b: &fs::Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    Some((a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata, _: &fs::Metadata) -> Option<bool> {
    None
}

/// The path without links; of a file that does not exist yet, its folder without links and its name.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}
