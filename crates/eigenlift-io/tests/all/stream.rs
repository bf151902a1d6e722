//! A table in chunks is the table as a whole.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use eigenlift_io::{ErrorKind, Missing, ReadOptions, Table, TableError, TableStream, read_table};

/// Appends a chunk to what came before.
fn append(whole: &mut Option<Table>, chunk: Table) {
    let Some(table) = whole else {
        *whole = Some(chunk);
        return;
    };
    assert_eq!(table.names, chunk.names);
    table.n_rows += chunk.n_rows;
    table.values.extend(chunk.values);
    table.dropped_rows += chunk.dropped_rows;
    table.imputed_cells += chunk.imputed_cells;
    assert_eq!(table.text.len(), chunk.text.len());
    for (column, more) in table.text.iter_mut().zip(chunk.text) {
        assert_eq!((&column.name, column.position), (&more.name, more.position));
        column.values.extend(more.values);
    }
    if let (Some(target), Some(more)) = (&mut table.target, chunk.target) {
        assert_eq!((&target.name, target.numeric), (&more.name, more.numeric));
        target.values.extend(more.values);
    }
}

/// All chunks of a stream together; the rows dropped at the end are those that no chunk counts.
fn collect(stream: &mut TableStream, most_rows: usize) -> Result<Table, TableError> {
    let mut whole = None;
    while let Some(chunk) = stream.next_chunk(most_rows)? {
        assert!((1..=most_rows).contains(&chunk.n_rows));
        assert_eq!(chunk.values.len(), chunk.n_rows * chunk.names.len());
        stream.recycle(chunk.clone());
        append(&mut whole, chunk);
    }
    let mut whole = whole.expect("a stream has rows or an error");
    whole.dropped_rows = stream.dropped_rows();
    assert_eq!(whole.imputed_cells, stream.imputed_cells());
    assert!(stream.next_chunk(most_rows)?.is_none());
    Ok(whole)
}

/// Reads in chunks of several sizes, twice each, and compares with the whole; errors must be the same, too.
#[track_caller]
fn same_as_whole(path: &Path, options: &ReadOptions) {
    let whole = read_table(path, options);
    for most_rows in [1, 2, 7, 1000, usize::MAX] {
        let what = format!("{} in chunks of {most_rows}, {options:?}", path.display());
        let streamed = TableStream::open(path, options).and_then(|mut stream| {
            let first = collect(&mut stream, most_rows)?;
            stream.rewind()?;
            let again = collect(&mut stream, most_rows)?;
            assert_eq!(first, again, "{what}");
            assert_eq!(stream.names(), first.names);
            let text: Vec<&str> = first.text.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(stream.text_names(), text);
            assert_eq!(stream.target_name(), first.target.as_ref().map(|target| target.name.as_str()));
            assert_eq!(stream.n_rows(), Some(first.n_rows + first.dropped_rows), "{what}");
            assert_eq!(stream.single_precision(), first.single_precision);
            assert_eq!(stream.number_in_header(), first.number_in_header);
            Ok(first)
        });
        match (&whole, streamed) {
            (Ok(whole), Ok(streamed)) => assert_eq!(whole, &streamed, "{what}"),
            (Err(whole), Err(streamed)) => assert_eq!(whole.to_string(), streamed.to_string(), "{what}"),
            (whole, streamed) => panic!("{what}: {whole:?} and {streamed:?}"),
        }
    }
}

fn every_policy(path: &Path, columns: Option<&str>, target: Option<&str>) {
    for missing in [Missing::Error, Missing::Drop, Missing::Mean] {
        let options = ReadOptions {
            columns: columns.map(str::to_owned),
            target: target.map(str::to_owned),
            missing,
            ..ReadOptions::default()
        };
        same_as_whole(path, &options);
    }
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).expect("a file");
    path
}

fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn text_in_chunks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables: &[&[u8]] = &[
        b"1,2\n3,4\n5,6\n",
        b"\xEF\xBB\xBFn,a,b,y\nu,1,2,p\nv,,4,q\nw,3,NaN,r\nx,5,6,\nz,7,8,t\n",
        b"id,v,w\nNA,1,2\nNA,2,3\nb,3,4\n?,4,5\n",
        b"a;b\n1,5;2\n2,5;3\n4;4,5\n",
        b"a,b,none\n1,2,\n3,4,\n5,6,\n",
        b"a,b\n1,2\n3,4\n5\n7,8\n",
        b"a,b\n1,2\n3,4\n5,6\n7,abc\n",
        b"a,b\nx,1\ny,2\nz,3\n9,4\n",
        b"a,b\n1,2\n3,4\n\"5,6\n7,8\n",
        b"a,b\n1,\n,2\n",
        b"a,b\n,2\n,2\n1,2\n,\n,3\n4,5\n,6\n",
        b"a,b\n",
        b"a,b\nx,y\nz,w\n",
        b"5.1,iris\n4.9,rose\n3,tulip\n",
        b"a,m\n1,x\n2,7\n3,y\n",
        b"a\n1\n2\ninf\n",
        b"a,b\n1,2\nM\xFCller,2\n",
    ];
    for bytes in tables {
        let path = file(folder.path(), "a.csv", bytes);
        every_policy(&path, None, None);
        every_policy(&path, Some("a"), None);
        every_policy(&path, Some("b,a"), Some("y"));
        every_policy(&path, None, Some("2"));
    }
}

#[test]
fn a_long_text_in_chunks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut text = String::from("id,v,w,y\n");
    for i in 0..30_000 {
        let gap = if i % 97 == 0 { String::new() } else { i.to_string() };
        text.push_str(&format!("r{i},{gap},{},{}\n", f64::from(i) / 3.0, i % 3));
    }
    let path = file(folder.path(), "a.csv", text.as_bytes());
    for missing in [Missing::Drop, Missing::Mean] {
        let options = ReadOptions { target: Some("y".into()), missing, ..ReadOptions::default() };
        let whole = read_table(&path, &options).expect("a table");
        let mut stream = TableStream::open(&path, &options).expect("a stream");
        assert_eq!(stream.n_rows(), Some(30_000));
        assert_eq!(collect(&mut stream, 777).expect("its rows"), whole);
    }
    text.push_str("r,1,oops,1\n");
    let path = file(folder.path(), "b.csv", text.as_bytes());
    let error = TableStream::open(&path, &ReadOptions::default()).expect_err("text in a column of numbers");
    assert!(error.to_string().contains("line 30002 (row 30001), column 3 (\"w\") is \"oops\""), "{error}");
}

#[test]
fn arrays_in_chunks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (n, d) = (23, 3);
    let values: Vec<f64> = (0..n * d).map(|i| f64::from(i).sin()).collect();
    let mut gaps = values.clone();
    gaps[4] = f64::NAN;
    gaps[20] = f64::NAN;
    gaps[67] = f64::NAN;
    let mut infinite = values.clone();
    infinite[50] = f64::INFINITY;
    let mut column = values.clone();
    (0..n as usize).for_each(|row| column[row * 3 + 1] = f64::NAN);
    for values in [&values, &gaps, &infinite, &column] {
        for fortran in [false, true] {
            let path = file(folder.path(), "a.npy", &npy("<f8", fortran, "(23, 3)", &doubles(values)));
            every_policy(&path, None, None);
            every_policy(&path, Some("3,1"), None);
            every_policy(&path, None, Some("2"));
        }
    }
    let single: Vec<u8> = values.iter().flat_map(|&value| (value as f32).to_be_bytes()).collect();
    let path = file(folder.path(), "a.npy", &npy(">f4", false, "(69,)", &single));
    every_policy(&path, None, None);
    let path = file(folder.path(), "a.npy", &npy("<f8", false, "(0, 3)", &[]));
    every_policy(&path, None, None);
    let cut = npy("<f8", false, "(23, 3)", &doubles(&values));
    let path = file(folder.path(), "a.npy", &cut[..cut.len() - 9]);
    every_policy(&path, None, None);
}

#[test]
fn archives_in_chunks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut values: Vec<f64> = (0..60).map(|i| f64::from(i).sqrt()).collect();
    values[31] = f64::NAN;
    let text = |cells: &[&str]| -> Vec<u8> {
        let pad = |cell: &str| cell.chars().chain(std::iter::repeat('\0')).take(4).collect::<Vec<_>>();
        cells.iter().flat_map(|cell| pad(cell)).flat_map(|c| u32::from(c).to_le_bytes()).collect()
    };
    let labels: Vec<&str> = (0..20).map(|i| if i < 11 { "" } else { "ä" }).collect();
    let numbers: Vec<String> = (0..20).map(|i| i.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let mut mixed = numbers.clone();
    mixed[19] = "x";
    for (method, fortran) in [
        (zip::CompressionMethod::Stored, false),
        (zip::CompressionMethod::Deflated, false),
        (zip::CompressionMethod::Stored, true),
        (zip::CompressionMethod::Deflated, true),
    ] {
        let path = folder.path().join("a.npz");
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).expect("a file"));
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        for (name, bytes) in [
            ("X.npy", npy("<f8", fortran, "(20, 3)", &doubles(&values))),
            ("label.npy", npy("<U4", false, "(20,)", &text(&labels))),
            ("empty.npy", npy("<U4", false, "(20,)", &text(&[""; 20]))),
            ("numbers.npy", npy("<U4", false, "(20,)", &text(&numbers))),
            ("mixed.npy", npy("<U4", false, "(20,)", &text(&mixed))),
            (
                "y.npy",
                npy("<i2", false, "(20,)", &(0..20_i16).flat_map(i16::to_le_bytes).collect::<Vec<_>>()),
            ),
        ] {
            archive.start_file(name, options).expect("a member");
            archive.write_all(&bytes).expect("its bytes");
        }
        archive.finish().expect("an archive");
        every_policy(&path, None, None);
        for target in ["y", "label", "numbers", "mixed", "x2"] {
            every_policy(&path, Some("x3,x1"), Some(target));
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn row_groups_in_chunks() {
    use eigenlift_io::{Output, write_table};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    let n = 10_000;
    let names = ["a".to_owned(), "b".to_owned()];
    let mut values: Vec<f64> = (0..2 * n).map(|i| f64::from(i).sqrt()).collect();
    let labels: Vec<String> =
        (0..n).map(|i| if i < 5000 { String::new() } else { format!("r{i}") }).collect();
    let nothing = vec![String::new(); n as usize];
    let text: [(&str, &[String]); 2] = [("label", &labels), ("nothing", &nothing)];
    for gap in [false, true] {
        if gap {
            values[9999] = f64::NAN;
        }
        let output =
            Output { text: &text, names: &names, n_rows: n as usize, values: &values, ..Output::default() };
        write_table(&path, &output, None).expect("a file");
        every_policy(&path, None, None);
        every_policy(&path, Some("a,b"), None);
        every_policy(&path, Some("b"), Some("label"));
        every_policy(&path, Some("b,label"), None);
    }
    let bytes = fs::read(&path).expect("its bytes");
    let cut = file(folder.path(), "b.parquet", &bytes[..bytes.len() / 2]);
    let error = TableStream::open(&cut, &ReadOptions::default()).expect_err("truncated");
    assert!(error.to_string().contains("it cannot be read as Parquet"), "{error}");
}

#[test]
fn a_file_that_changes_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows: String = (0..200_000).map(|i| format!("{i},{i}\n")).collect();
    for (before, after) in [
        (format!("a,b\n{rows}"), format!("a,b\n{rows}1,2\n")),
        (format!("a,b\n{rows}"), "a,b\n1,2\n".to_owned()),
        (format!("a,b\n{rows}"), "a,b,c\n1,2,3\n".to_owned()),
        (format!("a,b\n{rows}"), String::new()),
    ] {
        let path = file(folder.path(), "a.csv", before.as_bytes());
        let mut stream = TableStream::open(&path, &ReadOptions::default()).expect("a stream");
        stream.next_chunk(10).expect("rows").expect("rows");
        fs::write(&path, &after).expect("another content");
        let rest = stream.rewind().and_then(|()| collect(&mut stream, 5000));
        let error = rest.expect_err("the file has changed");
        assert!(error.to_string().contains("it has changed since it was opened"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(stream.next_chunk(1).expect("at its end").is_none());
    }
}

#[cfg(target_os = "linux")]
mod pipes {
    use super::*;

    /// Makes a pipe that another thread writes into.
    fn pipe(folder: &Path, bytes: Vec<u8>) -> PathBuf {
        let path = folder.join("pipe");
        let _ = fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let writer = path.clone();
        std::thread::spawn(move || {
            let mut sink = fs::OpenOptions::new().write(true).open(writer).expect("the pipe");
            // The reader may have seen enough.
            let _ = sink.write_all(&bytes);
        });
        path
    }

    #[test]
    fn pipes_are_read_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let plain = ReadOptions::default();
        let short = b"name,v\nx,1\ny,2\n".to_vec();
        let array = npy("<f8", false, "(3, 1)", &doubles(&[1.0, 2.0, 3.0]));
        let mut long = b"name,v\n".to_vec();
        (0..300_000).for_each(|i| long.extend_from_slice(format!("r{i},{i}\n").as_bytes()));
        for bytes in [short.clone(), array, long.clone()] {
            let whole = read_table(&file(folder.path(), "a", &bytes), &plain).expect("a table");
            let mut stream = TableStream::open(&pipe(folder.path(), bytes), &plain).expect("a stream");
            assert_eq!(collect(&mut stream, 1000).expect("its rows"), whole);
            assert!(!stream.can_rewind());
            let error = stream.rewind().expect_err("a pipe");
            assert!(error.to_string().contains("rows come once"), "{error}");
        }
        let by_columns = npy("<f8", true, "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
        let mut stream = TableStream::open(&pipe(folder.path(), by_columns), &plain).expect("a stream");
        assert_eq!(collect(&mut stream, 1).expect("its rows").values, [1.0, 3.0, 2.0, 4.0]);
        stream.rewind().expect("it is in a temporary file");
        let mean = ReadOptions { missing: Missing::Mean, ..ReadOptions::default() };
        let error = TableStream::open(&pipe(folder.path(), short), &mean).expect_err("two passes");
        assert!(error.to_string().contains("the mean of a column needs a second pass"), "{error}");

        long.extend_from_slice(b"r,oops\n");
        let mut stream = TableStream::open(&pipe(folder.path(), long), &plain).expect("a stream");
        let error = collect(&mut stream, 1000).expect_err("text in a column of numbers").to_string();
        assert!(error.contains("line 300002 (row 300001), column 2 (\"v\") is \"oops\""), "{error}");
        assert!(error.contains("give the table as a file"), "{error}");
    }

    #[test]
    fn lines_longer_than_what_is_looked_at() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let row = vec!["1.25"; 300_000].join(",");
        let text = format!("{row}\n").repeat(5).into_bytes();
        let mut stream =
            TableStream::open(&pipe(folder.path(), text), &ReadOptions::default()).expect("a stream");
        assert_eq!(stream.names().len(), 300_000);
        assert_eq!(collect(&mut stream, 2).expect("its rows").n_rows, 5);
    }
}
