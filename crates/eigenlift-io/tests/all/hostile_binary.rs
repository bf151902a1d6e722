//! Binary files as they come in real life: arrays of every kind, truncated, damaged and lying.

use std::fs;
use std::io::Write;

use eigenlift_io::{ErrorKind, Missing, ReadOptions, Table, TableError, TableStream, read_table};
use zip::write::SimpleFileOptions;

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("a file in it");
    read_table(&path, options)
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], options: &ReadOptions, kind: ErrorKind, part: &str) {
    let error = match read(name, bytes, options) {
        Err(error) => error,
        Ok(table) => panic!("{part:?} was expected, and it was read as {table:?}"),
    };
    let message = error.to_string();
    assert!(message.contains(part), "{part:?} is not in {message:?}");
    assert_eq!(error.kind(), kind, "{message}");
    assert!(message.contains(name) && message.contains("; ") && message.ends_with('.'), "{message:?}");
}

/// An NPY file of version 1 as NumPy writes it.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(*name, SimpleFileOptions::default()).expect("a member");
        archive.write_all(bytes).expect("its bytes");
    }
    archive.finish().expect("an archive").into_inner()
}

/// As [`npz`], with every name of a member replaced by another of its length: the writer refuses names that repeat.
fn renamed(members: &[(&str, Vec<u8>)], from: &str, to: &str) -> Vec<u8> {
    let (mut bytes, from, to) = (npz(members), from.as_bytes(), to.as_bytes());
    assert_eq!(from.len(), to.len());
    for at in 0..bytes.len() - from.len() {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

fn target(name: &str) -> ReadOptions {
    ReadOptions { target: Some(name.to_owned()), ..ReadOptions::default() }
}

/// `[[1.0, 2.0], [3.0, 4.0]]` laid out as `numpy.save` does it: 118 bytes of header, padded to a multiple of 64.
const LAID_OUT_BY_HAND: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }                                                          \n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x10@";

#[test]
fn arrays_that_are_read() {
    let four = doubles(&[1.0, 2.0, 3.0, 4.0]);
    let mut version_2 = b"\x93NUMPY\x02\x00\x3C\x00\x00\x00".to_vec();
    version_2.extend_from_slice(
        format!("{:<59}\n", "{'shape': (2L, 2L), 'fortran_order': False, 'descr': '<f8'}").as_bytes(),
    );
    version_2.extend_from_slice(&four);
    for (bytes, values) in [
        (npy("'<f8'", false, "(2, 2)", &four), [1.0, 2.0, 3.0, 4.0]),
        (npy("'<f8'", true, "(2, 2)", &four), [1.0, 3.0, 2.0, 4.0]),
        (npy("'<f8'", false, "(4,)", &four), [1.0, 2.0, 3.0, 4.0]),
        (npy("'<f8'", true, "(4,)", &four), [1.0, 2.0, 3.0, 4.0]),
        (npy("'|u1'", false, "(2, 2)", &[1, 2, 3, 4]), [1.0, 2.0, 3.0, 4.0]),
        (npy("'>i2'", true, "(2, 2)", &[0, 1, 0, 2, 0, 3, 0, 4]), [1.0, 3.0, 2.0, 4.0]),
        (npy("'|b1'", false, "(2, 2)", &[1, 0, 0, 1]), [1.0, 0.0, 0.0, 1.0]),
        (version_2, [1.0, 2.0, 3.0, 4.0]),
    ] {
        for name in ["a.npy", "unnamed"] {
            let table = read(name, &bytes, &ReadOptions::default()).expect("an array");
            assert_eq!(table.values, values);
            assert!(!table.single_precision);
        }
    }
    let single: Vec<u8> = [0.1_f32, 0.2].iter().flat_map(|value| value.to_le_bytes()).collect();
    let table =
        read("a.npy", &npy("'<f4'", false, "(1, 2)", &single), &ReadOptions::default()).expect("an array");
    assert_eq!((table.values, table.single_precision), (vec![f64::from(0.1_f32), f64::from(0.2_f32)], true));
}

#[test]
fn bytes_written_by_hand() {
    let table = read("a.npy", LAID_OUT_BY_HAND, &ReadOptions::default()).expect("an array");
    assert_eq!(
        (table.names, table.values),
        (vec!["x1".to_owned(), "x2".to_owned()], vec![1.0, 2.0, 3.0, 4.0])
    );
}

#[test]
fn arrays_that_are_refused() {
    let good = npy("'<f8'", false, "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
    let text_in = |header: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes
    };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (good[..5].to_vec(), "it ends inside the header"),
        (good[..9].to_vec(), "it ends inside the header"),
        (good[..50].to_vec(), "its header claims to be 118 bytes long, and the file ends after 40"),
        (good[..140].to_vec(), "its shape (2, 2) needs 32 bytes of data, and only 12 are there"),
        (b"not an array".to_vec(), "it does not begin with \\x93NUMPY"),
        (b"\x93NUMPY\x07\x00\x00\x00".to_vec(), "version 7.0"),
        (b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF".to_vec(), "its header claims to be 4294967295 bytes long"),
        (text_in("{'descr': '<f8'}"), "not one that can be understood"),
        (
            text_in("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }"),
            "not one that can be understood",
        ),
        (text_in("garbage"), "not one that can be understood: \"garbage\""),
        (npy("'<f8'", false, "()", &doubles(&[1.0])), "0 dimensions, shape ()"),
        (npy("'<f8'", false, "(1, 1, 1)", &doubles(&[1.0])), "3 dimensions, shape (1, 1, 1)"),
        (npy("'<f8'", false, "(0, 3)", &[]), "3 columns and no rows"),
        (npy("'<f8'", false, "(3, 0)", &[]), "shape (3, 0), so 0 columns"),
        (npy("'|O'", false, "(1,)", b"pickle"), "Python objects (pickled)"),
        (npy("[('a', '<f8'), ('b', '<i4')]", false, "(1,)", &[0; 12]), "records with several fields"),
        (npy("'<c16'", false, "(1,)", &[0; 16]), "complex numbers (<c16)"),
        (npy("'<f16'", false, "(1,)", &[0; 16]), "extended floating point (<f16)"),
        (npy("'|S3'", false, "(1,)", b"abc"), "byte strings (|S3)"),
        (npy("'<M8[ns]'", false, "(1,)", &[0; 8]), "dates or times (<M8[ns])"),
        (npy("'<U1'", false, "(1,)", &[65, 0, 0, 0]), "its array holds text"),
        (npy("'<f8'", false, "(1000000000000000000, 100)", &[]), "more elements than any file can hold"),
        (
            npy("'<f8'", false, "(1000000000, 1000000)", &[]),
            "needs 8000000000000000 bytes of data, and only 0",
        ),
        (npy("'<f8'", true, "(1000000000, 1000000)", &[]), "and only 0 are there"),
        (npy("'|u1'", false, "(1, 99999999999)", &[]), "columns"),
        (
            npy("'<f8'", false, "(2, 2)", &doubles(&[1.0, 2.0, 3.0, f64::INFINITY])),
            "row 2, column 2 (\"x2\") is infinite",
        ),
        (
            npy("'<f8'", false, "(2, 2)", &doubles(&[1.0, f64::NAN, 3.0, 4.0])),
            "1 cell is missing in 1 column, the first at row 1, column 2 (\"x2\")",
        ),
        (
            npy("'<f8'", true, "(2, 2)", &doubles(&[1.0, f64::NAN, 3.0, 4.0])),
            "the first at row 2, column 1 (\"x1\")",
        ),
        (
            npy("'<f8'", false, "(2, 1)", &doubles(&[f64::NAN, f64::NAN])),
            "column 1 (\"x1\") is missing in every one of the 2 rows",
        ),
    ];
    for (bytes, part) in cases {
        refused("a.npy", &bytes, &ReadOptions::default(), ErrorKind::Input, part);
    }
    refused("a.npy", &good, &target("y"), ErrorKind::Usage, "--target names \"y\"");
}

#[test]
fn the_target_of_an_array_is_a_column() {
    let bytes = npy("'<f8'", false, "(2, 3)", &doubles(&[1.0, 2.0, 0.0, 3.0, 4.0, 1.5]));
    let table = read("a.npy", &bytes, &target("3")).expect("a table");
    assert_eq!(
        (table.values, table.names),
        (vec![1.0, 2.0, 3.0, 4.0], vec!["x1".to_owned(), "x2".to_owned()])
    );
    let found = table.target.expect("a target");
    assert_eq!((found.values, found.numeric), (vec!["0".to_owned(), "1.5".to_owned()], true));
}

#[test]
fn members_by_name() {
    let x = npy("'<f8'", true, "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
    let y = npy("'<i8'", false, "(2,)", &[7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    let label = npy("'<U2'", false, "(2,)", b"a\0\0\0b\0\0\0\xE4\0\0\0\0\0\0\0");
    let other = npy("'<f4'", false, "(1, 1)", &0.5_f32.to_le_bytes());
    let bytes = npz(&[("X.npy", x.clone()), ("y.npy", y), ("label.npy", label), ("other.npy", other)]);
    let table = read("a.npz", &bytes, &target("y")).expect("X and y");
    assert_eq!(table.values, [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(
        table.target.as_ref().map(|t| (t.values.clone(), t.numeric)),
        Some((vec!["7".into(), "9".into()], true))
    );
    assert_eq!(table.text[0].values, ["ab", "ä"]);
    let table = read("a.npz", &bytes, &target("label")).expect("X and label");
    assert_eq!(table.target.map(|t| (t.values, t.numeric)), Some((vec!["ab".into(), "ä".into()], false)));
    let table = read("a.npz", &bytes, &target("x2")).expect("a column of X");
    assert_eq!(
        (table.values, table.target.map(|t| t.values)),
        (vec![1.0, 2.0], Some(vec!["3".into(), "4".into()]))
    );
    let member = ReadOptions { member: Some("other".into()), ..ReadOptions::default() };
    let table = read("a.npz", &bytes, &member).expect("the other");
    assert_eq!((table.values, table.single_precision), (vec![0.5], true));
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.npz"), &bytes).expect("a file in it");
    let table = read_table(&folder.path().join("a.npz:other"), &ReadOptions::default()).expect("the other");
    assert_eq!(table.values, [0.5]);
    let table = read("b.npz", &npz(&[("data.npy", x)]), &ReadOptions::default()).expect("the only member");
    assert_eq!(table.n_rows, 2);
}

#[test]
fn archives_that_are_refused() {
    let two = npy("'<f8'", false, "(2, 1)", &doubles(&[1.0, 2.0]));
    let three = npy("'<f8'", false, "(3,)", &doubles(&[1.0, 2.0, 3.0]));
    let lying = npy("'<f8'", false, "(1000000000, 1000)", &[0; 800]);
    let lying_columns = npy("'<f8'", true, "(1000000000, 1000)", &[0; 800]);
    let wide = npy("'|u1'", false, "(1, 900000000000)", &[0; 800]);
    let ambiguous = npz(&[("a.npy", two.clone()), ("b.npy", two.clone())]);
    let member = |name: &str| ReadOptions { member: Some(name.to_owned()), ..ReadOptions::default() };
    let plain = ReadOptions::default;
    let cut = |bytes: Vec<u8>, n: usize| bytes[..bytes.len() - n].to_vec();
    let cases: Vec<(Vec<u8>, ReadOptions, ErrorKind, &str)> = vec![
        (ambiguous.clone(), plain(), ErrorKind::Usage, "none is called X: \"a\" (2, 1), \"b\" (2, 1)"),
        (ambiguous, member("c"), ErrorKind::Usage, "it has no member \"c\""),
        (
            npz(&[("X.npy", two.clone()), ("y.npy", three)]),
            target("y"),
            ErrorKind::Usage,
            "\"y\" has shape (3,)",
        ),
        (
            npz(&[("X.npy", two.clone())]),
            target("z"),
            ErrorKind::Usage,
            "a target may also be a member: \"X\" (2, 1)",
        ),
        (
            npz(&[("xl/workbook.xml", b"<x/>".to_vec())]),
            plain(),
            ErrorKind::Input,
            "a zip archive without a .npy member",
        ),
        (npz(&[]), plain(), ErrorKind::Input, "a zip archive without a .npy member"),
        (npz(&[("X.npy", b"junk, not an array".to_vec())]), plain(), ErrorKind::Input, "does not begin with"),
        (npz(&[("X.npy", lying)]), plain(), ErrorKind::Input, "and only 800 are there"),
        (npz(&[("X.npy", lying_columns)]), plain(), ErrorKind::Input, "and only 800 are there"),
        (npz(&[("X.npy", wide)]), plain(), ErrorKind::Input, "so 900000000000 columns"),
        (cut(npz(&[("X.npy", two.clone())]), 30), plain(), ErrorKind::Input, "its archive cannot be read"),
        (b"PK\x03\x04".to_vec(), plain(), ErrorKind::Input, "its archive cannot be read"),
    ];
    for (bytes, options, kind, part) in cases {
        refused("a.npz", &bytes, &options, kind, part);
    }
    // Two arrays of one name, of which a reader would take the last; also behind other bytes, and as a target.
    let three = npy("'<f8'", false, "(2, 1)", &doubles(&[3.0, 4.0]));
    let twice = renamed(
        &[("Q.npy", two.clone()), ("X.npy", two.clone()), ("y.npy", three.clone())],
        "Q.npy",
        "X.npy",
    );
    let behind = [b"#!/bin/sh\n".to_vec(), twice.clone()].concat();
    let targets =
        renamed(&[("X.npy", two.clone()), ("y.npy", three.clone()), ("z.npy", three)], "z.npy", "y.npy");
    for (bytes, options, part) in [
        (
            &twice,
            plain(),
            "it has more than one member \"X\"; the arrays of an NPZ file must have different names",
        ),
        (&behind, plain(), "it has more than one member \"X\""),
        (&targets, target("y"), "it has more than one member \"y\""),
    ] {
        refused("a.npz", bytes, &options, ErrorKind::Input, part);
    }
    // What is no array may be there twice.
    let notes = [("a.txt", vec![1]), ("b.txt", vec![2]), ("X.npy", two.clone())];
    assert!(read("a.npz", &renamed(&notes, "b.txt", "a.txt"), &plain()).is_ok());

    let mut flipped = npz(&[("X.npy", npy("'<f8'", false, "(100, 1)", &doubles(&[1.5; 100])))]);
    flipped[60] ^= 0x55;
    assert_eq!(read("a.npz", &flipped, &plain()).expect_err("damaged").kind(), ErrorKind::Input);
}

/// A new file each time: rewriting one in place waits for the disk on some file systems.
fn replace(path: &std::path::Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).expect("a file");
}

/// Reads a file as a whole and in chunks; both give a table, or neither does.
fn try_both(path: &std::path::Path, options: &ReadOptions) {
    let whole = read_table(path, options);
    let streamed = TableStream::open(path, options).and_then(|mut stream| {
        let mut values = Vec::new();
        while let Some(chunk) = stream.next_chunk(2)? {
            values.extend(chunk.values);
        }
        Ok(values)
    });
    assert_eq!(whole.map(|table| table.values).ok(), streamed.ok(), "{}", path.display());
}

/// Whatever happens to the bytes, the answer is a table or an error, never a panic or a huge allocation.
#[test]
fn damaged_bytes_are_never_fatal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = ["a".to_owned(), "b".to_owned()];
    let cells = ["u".to_owned(), "v".to_owned(), "w".to_owned()];
    let text: [(&str, &[String]); 1] = [("t", &cells)];
    let values = [1.0, 2.5, -3.0, 4.0, 5.0, 6.0];
    let output =
        eigenlift_io::Output { text: &text, names: &names, n_rows: 3, values: &values, ..Default::default() };
    let options = ReadOptions { missing: Missing::Drop, ..ReadOptions::default() };
    for extension in ["csv", "npy", "npz", "parquet"] {
        let path = folder.path().join(format!("good.{extension}"));
        if extension == "parquet" && cfg!(not(feature = "parquet")) {
            continue;
        }
        eigenlift_io::write_table(&path, &output, None).expect("a good file");
        let good = fs::read(&path).expect("its bytes");
        let bad_path = folder.path().join(format!("bad.{extension}"));
        for at in 0..good.len() {
            for change in [0x01, 0x80, 0xFF] {
                let mut bad = good.clone();
                bad[at] ^= change;
                replace(&bad_path, &bad);
                try_both(&bad_path, &options);
            }
            replace(&bad_path, &good[..at]);
            try_both(&bad_path, &options);
        }
    }
}

#[test]
fn integers_that_double_precision_does_not_have_are_told() {
    let long = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let data = long(&[1, 2, 3, (1 << 53) + 1]);
    for fortran in [false, true] {
        let bytes = npy("'<i8'", fortran, "(2, 2)", &data);
        let table = read("a.npy", &bytes, &ReadOptions::default()).expect("a table");
        assert_eq!(table.large_integers.as_deref(), Some("x2"), "{fortran}");
    }
    let small = npy("'<i8'", false, "(2, 2)", &long(&[1, 2, 3, (1 << 53) - 1]));
    assert_eq!(read("a.npy", &small, &ReadOptions::default()).expect("a table").large_integers, None);
    let doubles = npy("'<f8'", false, "(2, 1)", &doubles(&[1e300, 2.0]));
    assert_eq!(read("a.npy", &doubles, &ReadOptions::default()).expect("a table").large_integers, None);
    let text = b"a,b\n1,1e300\n9007199254740993,2.5\n";
    let table = read("a.csv", text, &ReadOptions::default()).expect("a table");
    assert_eq!(table.large_integers.as_deref(), Some("a"));
    // A column that is not asked for does not matter.
    let options = ReadOptions { columns: Some("b".into()), ..ReadOptions::default() };
    assert_eq!(read("a.csv", text, &options).expect("a table").large_integers, None);
}

/// Zeros shrink a thousandfold; what is announced is refused before anything is unpacked.
#[test]
fn what_an_archive_unpacks_to_can_be_bounded() {
    let most = |most| ReadOptions { most_unpacked: Some(most), ..target("y") };
    let zeros = [0_u8; 8 * 600];
    let numbers = doubles(&(0..100).map(f64::from).collect::<Vec<f64>>());
    for fortran in [false, true] {
        let bytes = npz(&[
            ("X.npy", npy("'<f8'", fortran, "(100, 6)", &zeros)),
            ("y.npy", npy("'<f8'", false, "(100,)", &numbers)),
            ("unused.npy", npy("'<f8'", false, "(600,)", &zeros)),
        ]);
        let table = read("a.npz", &bytes, &most(4800 + 800)).expect("a table");
        assert_eq!((table.n_rows, table.n_columns()), (100, 6));
        for (limit, at_least) in [(4799, 4800), (5599, 5600)] {
            let error = read("a.npz", &bytes, &most(limit)).expect_err("too much");
            let words = format!("it unpacks to {at_least} bytes or more; at most {limit}");
            assert!(error.to_string().contains(&words), "{error}");
        }
    }
    let announced = npz(&[("X.npy", npy("'|u1'", true, "(1000000000, 1000)", b""))]);
    let error =
        read("a.npz", &announced, &ReadOptions { most_unpacked: Some(1 << 26), ..ReadOptions::default() });
    assert!(error.expect_err("too much").to_string().contains("1000000000000 bytes"), "said before reading");
}
