//! Unfinished outputs are removed. A binary of its own, because `remove_unfinished` reaches every output of the process and
//! would disturb tests that run beside it.

use std::fs;
use std::io::Write;
use std::path::Path;

use eigenlift_io::{AtomicFile, ErrorKind, remove_unfinished};

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_writer_that_stops_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("scores.csv");
    fs::write(&path, "old").expect("an old file");

    let mut file = AtomicFile::create(&path).expect("a new one");
    file.write_all(&[b'x'; 1 << 20]).expect("some bytes");
    let names = listing(folder.path());
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with(".scores.csv.part"), "{names:?}");
    drop(file);
    assert_eq!(listing(folder.path()), ["scores.csv"]);
    assert_eq!(fs::read_to_string(&path).expect("still there"), "old");

    let mut file = AtomicFile::create(&path).expect("a new one");
    file.write_all(b"new").expect("some bytes");
    remove_unfinished();
    assert_eq!(listing(folder.path()), ["scores.csv"]);
    assert_eq!(file.commit().expect_err("its file is gone").kind(), ErrorKind::Output);
    assert_eq!(fs::read_to_string(&path).expect("still there"), "old");

    let mut file = AtomicFile::create(&path).expect("a new one");
    file.write_all(b"new").expect("some bytes");
    file.commit().expect("complete");
    remove_unfinished();
    assert_eq!(fs::read_to_string(&path).expect("the new one"), "new");
    assert_eq!(listing(folder.path()), ["scores.csv"]);

    let panicked = std::panic::catch_unwind(|| {
        let mut file = AtomicFile::create(&path).expect("a new one");
        file.write_all(b"half").expect("some bytes");
        std::panic::resume_unwind(Box::new("interrupted"));
    });
    assert!(panicked.is_err());
    assert_eq!(listing(folder.path()), ["scores.csv"]);
}
