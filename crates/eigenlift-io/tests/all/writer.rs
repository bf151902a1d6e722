//! A table written in chunks is the table written as a whole; it appears complete or not at all.

use std::fs;
use std::path::Path;

use eigenlift_io::{
    ErrorKind, Format, Output, ReadOptions, TableError, TableStream, TableWriter, WriteOptions, read_table,
    write_table,
};

/// Formats that this build can write.
fn extensions() -> Vec<&'static str> {
    let mut all = vec!["csv", "tsv", "npy", "npz"];
    if cfg!(feature = "parquet") {
        all.push("parquet");
    }
    all
}

/// A table to be written.
struct Sample {
    names: Vec<String>,
    text_names: Vec<String>,
    text: Vec<Vec<String>>,
    values: Vec<f64>,
    n_rows: usize,
}

impl Sample {
    fn new(n_rows: usize) -> Self {
        let cell = |i: usize| match i % 4 {
            0 => "red, dark".to_owned(),
            1 => "say \"hi\"".to_owned(),
            2 => String::new(),
            _ => format!("名{i}"),
        };
        Self {
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            text_names: ["colour", "X"].map(str::to_owned).to_vec(),
            text: vec![(0..n_rows).map(cell).collect(), (0..n_rows).map(|i| format!("r{i}")).collect()],
            values: (0..3 * n_rows).map(|i| (i as f64).sin()).collect(),
            n_rows,
        }
    }

    fn with_rows<T>(&self, start: usize, end: usize, use_it: impl FnOnce(&Output<'_>) -> T) -> T {
        let names = self.text_names.iter().map(String::as_str);
        let text: Vec<(&str, &[String])> =
            names.zip(&self.text).map(|(name, cells)| (name, &cells[start..end])).collect();
        let values = &self.values[start * 3..end * 3];
        use_it(&Output { text: &text, names: &self.names, n_rows: end - start, values, ..Output::default() })
    }

    fn options(&self, n_rows: Option<usize>, single_precision: bool) -> WriteOptions<'_> {
        WriteOptions {
            text_names: &self.text_names,
            names: &self.names,
            single_precision,
            n_rows,
            ..WriteOptions::default()
        }
    }

    fn write(&self, path: &Path, options: &WriteOptions<'_>, at_once: usize) -> Result<(), TableError> {
        let mut writer = TableWriter::create(path, options)?;
        for start in (0..self.n_rows).step_by(at_once) {
            let end = self.n_rows.min(start + at_once);
            self.with_rows(start, end, |chunk| writer.append(chunk))?;
            assert_eq!(writer.n_rows(), end);
        }
        writer.commit()
    }
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn chunks_give_the_same_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sample = Sample::new(53);
    for extension in extensions() {
        for single in [false, true] {
            let whole = folder.path().join(format!("whole.{extension}"));
            sample.with_rows(0, 53, |output| {
                let output = Output { single_precision: single, ..*output };
                write_table(&whole, &output, None).expect(extension);
            });
            let wanted = read_table(&whole, &ReadOptions::default()).expect(extension);
            let bytes = fs::read(&whole).expect("its bytes");
            for at_once in [1, 7, 53] {
                for n_rows in [None, Some(53)] {
                    let path = folder.path().join(format!("chunks.{extension}"));
                    sample.write(&path, &sample.options(n_rows, single), at_once).expect(extension);
                    let what = format!("{extension}, {at_once} rows at once, {n_rows:?}");
                    assert_eq!(read_table(&path, &ReadOptions::default()).expect(&what), wanted, "{what}");
                    if !matches!(extension, "npz" | "parquet") {
                        assert_eq!(fs::read(&path).expect("its bytes"), bytes, "{what}");
                    }
                }
            }
        }
    }
    assert!(listing(folder.path()).iter().all(|name| !name.starts_with('.')), "{:?}", listing(folder.path()));
}

#[test]
fn from_a_stream_to_a_writer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sample = Sample::new(1000);
    let first = folder.path().join("a.csv");
    sample.write(&first, &sample.options(None, false), 333).expect("a file");
    let wanted = read_table(&first, &ReadOptions::default()).expect("a table");
    for extension in extensions().into_iter().filter(|&extension| extension != "npy") {
        let path = folder.path().join(format!("b.{extension}"));
        let mut stream = TableStream::open(&first, &ReadOptions::default()).expect("a stream");
        let (text_names, names) = (stream.text_names().to_vec(), stream.names().to_vec());
        let options = WriteOptions { text_names: &text_names, names: &names, ..WriteOptions::default() };
        let mut writer = TableWriter::create(&path, &options).expect("a writer");
        while let Some(chunk) = stream.next_chunk(64).expect("rows") {
            let text: Vec<(&str, &[String])> =
                chunk.text.iter().map(|column| (column.name.as_str(), column.values.as_slice())).collect();
            let (n_rows, values) = (chunk.n_rows, &chunk.values);
            let output = Output { text: &text, names: &names, n_rows, values, ..Output::default() };
            writer.append(&output).expect("written");
        }
        writer.commit().expect("complete");
        let table = read_table(&path, &ReadOptions::default()).expect("a table");
        assert_eq!((table.n_rows, table.values), (wanted.n_rows, wanted.values.clone()), "{extension}");
        assert_eq!(table.text[0].values, wanted.text[0].values, "{extension}");
    }
}

#[test]
fn many_small_chunks_make_few_row_groups_and_long_spools() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sample = Sample::new(150_000);
    for extension in extensions() {
        let path = folder.path().join(format!("a.{extension}"));
        sample.write(&path, &sample.options(None, false), 997).expect(extension);
        let table = read_table(&path, &ReadOptions::default()).expect(extension);
        assert_eq!(table.values, sample.values, "{extension}");
        if extension != "npy" {
            assert_eq!(table.text[1].values, sample.text[1], "{extension}");
        }
    }
}

#[test]
fn nothing_appears_before_it_is_complete() {
    let sample = Sample::new(10);
    for extension in extensions() {
        for n_rows in [None, Some(10)] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join(format!("a.{extension}"));
            fs::write(&path, "old").expect("an old file");
            let options = sample.options(n_rows, false);
            let mut writer = TableWriter::create(&path, &options).expect("a writer");
            sample.with_rows(0, 5, |chunk| writer.append(chunk)).expect("written");
            drop(writer);
            assert_eq!(listing(folder.path()), [format!("a.{extension}")]);

            let mut writer = TableWriter::create(&path, &options).expect("a writer");
            sample.with_rows(0, 5, |chunk| writer.append(chunk)).expect("written");
            if n_rows.is_some() {
                let error = writer.commit().expect_err("rows are missing");
                assert!(error.to_string().contains("5 rows came, and 10 were announced"), "{error}");
                assert_eq!(error.kind(), ErrorKind::Usage);
            } else {
                drop(writer);
            }
            assert_eq!(listing(folder.path()), [format!("a.{extension}")]);
            assert_eq!(fs::read_to_string(&path).expect("still there"), "old");
        }
    }
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.csv");
    let sample = Sample::new(4);
    let mut writer = TableWriter::create(&path, &sample.options(None, false)).expect("a writer");
    sample.with_rows(0, 2, |chunk| writer.append(chunk)).expect("written");
    let other = ["a".to_owned(), "c".to_owned(), "b".to_owned()];
    sample.with_rows(2, 4, |chunk| {
        let error = writer.append(&Output { names: &other, ..*chunk }).expect_err("another order");
        assert!(error.to_string().contains("from row 3 on the columns are"), "{error}");
        let error = writer.append(&Output { text: &[], ..*chunk }).expect_err("no text");
        assert!(
            error.to_string().contains("all rows must have the columns \"colour\", \"X\", \"a\""),
            "{error}"
        );
        let error = writer.append(&Output { n_rows: 3, ..*chunk }).expect_err("too few");
        assert!(error.to_string().contains("6 numbers for 3 rows"), "{error}");
        writer.append(chunk).expect("the right columns");
    });
    writer.commit().expect("complete");
    assert_eq!(read_table(&path, &ReadOptions::default()).expect("a table").n_rows, 4);
    let twice = ["a".to_owned(), "a".to_owned()];
    let options = WriteOptions { names: &twice, ..WriteOptions::default() };
    let error = TableWriter::create(&path, &options).expect_err("two of a name");
    assert!(error.to_string().contains("two columns are called \"a\""), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_and_stays_one() {
    let sample = Sample::new(100_000);
    let formats = [Format::Csv, Format::Npy, Format::Npz, Format::Parquet];
    for format in formats.into_iter().filter(|&f| f != Format::Parquet || cfg!(feature = "parquet")) {
        for n_rows in [None, Some(100_000)] {
            let options = WriteOptions { format: Some(format), ..sample.options(n_rows, false) };
            let error = sample.write(Path::new("/dev/full"), &options, 20_000).expect_err("no space");
            assert_eq!(error.kind(), ErrorKind::Output, "{format}");
            assert!(error.to_string().contains("Free some space"), "{format}: {error}");
        }
    }
    let options = WriteOptions { format: Some(Format::Csv), ..sample.options(None, false) };
    let mut writer = TableWriter::create(Path::new("/dev/full"), &options).expect("a device");
    sample.with_rows(0, 100_000, |chunk| writer.append(chunk)).expect_err("no space");
    let error = sample.with_rows(0, 1, |chunk| writer.append(chunk)).expect_err("failed before");
    assert!(error.to_string().contains("writing failed after 0 rows"), "{error}");
    assert_eq!(writer.commit().expect_err("failed before").kind(), ErrorKind::Output);
}
