//! Outputs appear complete or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use eigenlift_io::{AtomicFile, ErrorKind, Output, same_file, write_table};

#[test]
fn impossible_places_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, part) in [
        (folder.path().to_owned(), "it is a folder; an output must be a file"),
        (folder.path().join("no").join("a.csv"), "its folder does not exist"),
        (Path::new("/").to_owned(), "it is a folder"),
    ] {
        let error = AtomicFile::create(&path).expect_err(part);
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains(part), "{error}");
    }
    let locked = folder.path().join("locked.csv");
    fs::write(&locked, "old").expect("a file");
    let mut permissions = fs::metadata(&locked).expect("its facts").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).expect("read-only");
    let error = AtomicFile::create(&locked).expect_err("read-only");
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[cfg(unix)]
#[test]
fn permissions_links_and_devices() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mode = |path: &Path| fs::metadata(path).expect("its facts").permissions().mode() & 0o777;
    let plain = folder.path().join("plain");
    fs::write(&plain, "").expect("a plain file");
    let atomic = folder.path().join("atomic");
    AtomicFile::create(&atomic).expect("a file").commit().expect("complete");
    assert_eq!(mode(&atomic), mode(&plain));

    fs::set_permissions(&plain, fs::Permissions::from_mode(0o640)).expect("other permissions");
    let link = folder.path().join("link");
    symlink("plain", &link).expect("a link");
    let mut file = AtomicFile::create(&link).expect("a file through the link");
    file.write_all(b"new").expect("some bytes");
    file.commit().expect("complete");
    assert!(fs::symlink_metadata(&link).expect("the link").file_type().is_symlink());
    assert_eq!((fs::read_to_string(&plain).expect("its text").as_str(), mode(&plain)), ("new", 0o640));

    // A link to what does not exist yet makes it; a link to itself leads nowhere.
    fs::create_dir(folder.path().join("deep")).expect("a folder");
    let (dangling, onward) = (folder.path().join("dangling"), folder.path().join("onward"));
    symlink("deep/new", &dangling).expect("a link");
    symlink("dangling", &onward).expect("a link to a link");
    let mut file = AtomicFile::create(&onward).expect("a file through the links");
    file.write_all(b"made").expect("some bytes");
    file.commit().expect("complete");
    assert_eq!(fs::read_to_string(folder.path().join("deep/new")).expect("its text"), "made");
    assert!(fs::symlink_metadata(&onward).expect("the link").file_type().is_symlink());
    let circle = folder.path().join("circle");
    symlink("circle", &circle).expect("a link to itself");
    let error = AtomicFile::create(&circle).expect_err("no end").to_string();
    assert!(error.contains("too many links"), "{error}");
    assert!(fs::symlink_metadata(&circle).expect("the link").file_type().is_symlink());

    let mut file = AtomicFile::create(Path::new("/dev/null")).expect("a device");
    file.write_all(b"gone").expect("some bytes");
    file.commit().expect("complete");
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
    let long = folder.path().join("n".repeat(250));
    AtomicFile::create(&long).expect("a long name").commit().expect("complete");
    assert!(long.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let names = ["a".to_owned()];
    let values = vec![1.5; 100_000];
    let output = Output { names: &names, n_rows: values.len(), values: &values, ..Output::default() };
    let mut formats = vec![eigenlift_io::Format::Csv, eigenlift_io::Format::Npy];
    if cfg!(feature = "parquet") {
        formats.push(eigenlift_io::Format::Parquet);
    }
    for format in formats {
        let error = write_table(Path::new("/dev/full"), &output, Some(format)).expect_err("no space");
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains("Free some space"), "{error}");
    }
}

#[test]
fn one_file_under_two_names() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.npz"), "1").expect("a file");
    fs::write(at("b.npz"), "1").expect("a file");
    assert!(same_file(&at("a.npz"), &at("a.npz")));
    assert!(same_file(&at("a.npz:X"), &at("a.npz")));
    assert!(!same_file(&at("a.npz"), &at("b.npz")));
    assert!(!same_file(&at("a.npz"), &at("new.csv")));
    assert!(same_file(&at("new.csv"), &folder.path().join(".").join("new.csv")));
    assert!(!same_file(Path::new("-"), Path::new("-")));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.npz", at("soft")).expect("a link");
        fs::hard_link(at("a.npz"), at("hard")).expect("a link");
        assert!(same_file(&at("soft"), &at("a.npz")));
        assert!(same_file(&at("hard"), &at("soft")));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_process_has_left_is_removed_when_it_is_old() {
    use std::time::{Duration, SystemTime};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let hours = |n: u64| SystemTime::now() - Duration::from_secs(3600 * n + 60);
    let mine = std::process::id();
    // No process has a number beyond 2^22 on Linux.
    let cases = [
        (".s.csv.partfffffffe-0".to_owned(), hours(1), false),
        (".s.csv.partfffffffe-1".to_owned(), SystemTime::now(), true),
        (format!(".s.csv.part{mine:x}-ff"), hours(2), true),
        (format!(".s.csv.part{mine:x}-fe"), hours(24), false),
        (".s.csv.part-of-mine".to_owned(), hours(100), true),
        (".t.csv.partfffffffe-0".to_owned(), hours(100), true),
    ];
    for (name, time, _) in &cases {
        let file = fs::File::create(folder.path().join(name)).expect("a file");
        file.set_modified(*time).expect("another time");
    }
    AtomicFile::create(&folder.path().join("s.csv")).expect("a file").commit().expect("complete");
    for (name, _, stays) in &cases {
        assert_eq!(folder.path().join(name).exists(), *stays, "{name}");
    }
}
