//! Memory does not grow with the table. A file of its own, because the bytes of the whole process are counted.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use eigenlift_io::{Missing, Output, ReadOptions, TableStream, TableWriter, WriteOptions, read_sparse};

/// Counts the bytes that are in use, and the most there ever were.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all work is done by the system's allocator; only numbers are counted beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Held by the test that counts.
static COUNTS: Mutex<()> = Mutex::new(());

/// The most bytes in use during some work, beyond those before it.
fn most_during(work: impl FnOnce()) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work();
    MOST.load(Ordering::Relaxed) - before
}

/// 300000 rows of 8 numbers and a text are 19 MB of numbers alone, and are written and read 1000 at a time.
#[test]
fn a_chunk_at_a_time() {
    let _alone = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (n_rows, width, at_once) = (300_000, 8, 1000);
    let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
    let text_names = ["id".to_owned()];
    let mut extensions = vec!["csv", "npy", "npz"];
    if cfg!(feature = "parquet") {
        extensions.push("parquet");
    }
    for extension in extensions {
        let path = folder.path().join(format!("a.{extension}"));
        let writing = most_during(|| {
            let options = WriteOptions { text_names: &text_names, names: &names, ..WriteOptions::default() };
            let mut writer = TableWriter::create(&path, &options).expect("a writer");
            for start in (0..n_rows).step_by(at_once) {
                let cells: Vec<String> = (start..start + at_once).map(|i| format!("r{i}")).collect();
                let text: [(&str, &[String]); 1] = [("id", &cells)];
                let values: Vec<f64> =
                    (start * width..(start + at_once) * width).map(|i| (i as f64).sin()).collect();
                let output = Output {
                    text: &text,
                    names: &names,
                    n_rows: at_once,
                    values: &values,
                    ..Output::default()
                };
                writer.append(&output).expect("rows");
            }
            writer.commit().expect("complete");
        });
        for missing in [Missing::Error, Missing::Mean] {
            let reading = most_during(|| {
                let options = ReadOptions { missing, ..ReadOptions::default() };
                let mut stream = TableStream::open(&path, &options).expect("a stream");
                let mut n = 0;
                while let Some(chunk) = stream.next_chunk(at_once).expect("rows") {
                    n += chunk.n_rows;
                }
                assert_eq!(n, n_rows);
            });
            // What is looked at to recognise the format takes 1 to 2 MiB; Parquet has a dictionary and a page of at
            // most 1 MiB each for each of 9 columns, whatever the number of rows.
            let limit = if extension == "parquet" { 20 << 20 } else { 4 << 20 };
            assert!(reading < limit, "{extension}: {reading} bytes for reading");
        }
        // A row group of Parquet is held: 131072 rows of 8 numbers and a text of some 30 bytes, and its encoding.
        let limit = if extension == "parquet" { 40 << 20 } else { 4 << 20 };
        assert!(writing < limit, "{extension}: {writing} bytes for writing");
    }
}

/// A sparse matrix as `scipy.sparse.save_npz` writes it, with 64 bytes of data whatever its headers announce.
fn sparse_claims(path: &std::path::Path, form: &str, shape: [i64; 2], n_entries: i64, compressed: bool) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).expect("a file"));
    let method = if compressed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let n_lines = if form == "csr" { shape[0] } else { shape[1] };
    let shape_bytes: Vec<u8> = shape.iter().flat_map(|length| length.to_le_bytes()).collect();
    for (name, descr, announced, data) in [
        ("format", "|S3", String::new(), form.as_bytes()),
        ("shape", "<i8", "2,".to_owned(), shape_bytes.as_slice()),
        ("data", "<f8", format!("{n_entries},"), &[0; 64]),
        ("indices", "<i8", format!("{n_entries},"), &[0; 64]),
        ("indptr", "<i8", format!("{},", n_lines + 1), &[0; 64]),
    ] {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(format!("{name}.npy"), options).expect("a member");
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({announced}), }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").expect("some bytes");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("some bytes");
        archive.write_all(header.as_bytes()).expect("some bytes");
        archive.write_all(data).expect("some bytes");
    }
    archive.finish().expect("an archive");
}

/// Lengths that a sparse matrix claims, up to 2⁵⁰ of them, take no memory.
#[test]
fn claims_of_a_sparse_matrix_take_no_memory() {
    let _alone = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.npz");
    for (form, shape, n_entries) in [
        ("csr", [1 << 50, 3], 8),
        ("csr", [1 << 50, 1 << 31], 1 << 50),
        ("csr", [7, 3], 1 << 30),
        ("csc", [1 << 31, 7], 8),
        ("csc", [1 << 31, 7], 1 << 50),
        ("csc", [1 << 31, 1 << 31], 1 << 30),
    ] {
        for compressed in [false, true] {
            sparse_claims(&path, form, shape, n_entries, compressed);
            let reading = most_during(|| {
                read_sparse(&path).expect_err("claims");
            });
            // Blocks that are decoded and looked at take 1 to 2 MiB.
            assert!(reading < 4 << 20, "{form} {shape:?} {n_entries}: {reading} bytes");
        }
    }
}
