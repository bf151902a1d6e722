//! Files written whole or not at all.

use super::{Array, Header, write};
use crate::error::{Error, Result};
use eigenlift_atomic::{AtomicFile, refuse_special};
use std::io::Write;
use std::path::Path;

/// Writes a model file, whole or not at all; refuses what is there and is no file, such as a folder or a device.
pub(crate) fn save(path: &Path, header: &Header, arrays: &[Array<'_>]) -> Result<()> {
    let failed = |doing: &'static str| {
        move |source: std::io::Error| Error::Io { path: path.to_path_buf(), doing, source }
    };
    refuse_special(path).map_err(failed("saving"))?;
    let mut file = AtomicFile::create(path).map_err(failed("creating a file in its folder"))?;
    let doing = "writing the model";
    write(header, arrays, &mut |bytes| file.write_all(bytes).map_err(failed(doing)))?;
    file.commit().map_err(failed(doing))
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use std::ffi::OsString;
    use std::fs::{self, File};
    use std::time::Duration;

    /// A model file of one array.
    fn save_one(path: &Path) -> Result<()> {
        save(path, &example(), &[Array::f64("offset", &[1], &[1.0])])
    }

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

    #[cfg(unix)]
    #[test]
    fn a_link_to_what_does_not_exist_yet_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (link, circle) = (folder.path().join("link"), folder.path().join("circle"));
        symlink("model", &link).unwrap();
        save_one(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::metadata(folder.path().join("model")).unwrap().is_file());
        symlink("circle", &circle).unwrap();
        let message = save_one(&circle).unwrap_err().to_string();
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
        save_one(&folder.path().join("model")).unwrap();
        assert!(!folder.path().join(".model.partfffffffe-0").exists());
        assert_eq!(names(folder.path()).len(), 4);
    }
}
