//! Parquet files as other programs write them.
#![cfg(feature = "parquet")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use eigenlift_io::{ErrorKind, Missing, ReadOptions, read_table};
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Writes two row groups of two rows; the second row of every optional column is null.
fn write(path: &Path, fields: &str) {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {fields} }}")).expect("a schema"));
    let optional = fields.contains("OPTIONAL");
    let levels: Option<&[i16]> = if optional { Some(&[1, 0]) } else { None };
    let n = if optional { 1 } else { 2 };
    let file = fs::File::create(path).expect("a file");
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
    for group in 0..2_u8 {
        let mut rows = writer.next_row_group().expect("a row group");
        while let Some(mut column) = rows.next_column().expect("a column") {
            let repeated = fields.contains("REPEATED").then_some(&[0_i16, 0][..n]);
            let levels = if repeated.is_some() { Some(&[1_i16, 1][..n]) } else { levels };
            let written = match column.untyped() {
                ColumnWriter::BoolColumnWriter(w) => w.write_batch(&[true, false][..n], levels, repeated),
                ColumnWriter::Int32ColumnWriter(w) => {
                    w.write_batch(&[-1, i32::from(group)][..n], levels, repeated)
                }
                ColumnWriter::Int64ColumnWriter(w) => {
                    w.write_batch(&[-5, i64::from(group)][..n], levels, repeated)
                }
                ColumnWriter::FloatColumnWriter(w) => w.write_batch(&[0.5, 0.1][..n], levels, repeated),
                ColumnWriter::DoubleColumnWriter(w) => w.write_batch(&[1.5, 2.5][..n], levels, repeated),
                ColumnWriter::ByteArrayColumnWriter(w) => {
                    w.write_batch(&["ab".into(), "c".into()][..n], levels, repeated)
                }
                ColumnWriter::Int96ColumnWriter(w) => {
                    w.write_batch(&[Default::default(); 2][..n], levels, repeated)
                }
                ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
                    let cell = || parquet::data_type::FixedLenByteArray::from(vec![0, 0]);
                    w.write_batch(&[cell(), cell()][..n], levels, repeated)
                }
            };
            written.expect("some cells");
            column.close().expect("a column");
        }
        rows.close().expect("a row group");
    }
    writer.close().expect("a file");
}

#[test]
fn every_type_that_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    write(
        &path,
        "REQUIRED BOOLEAN b; REQUIRED INT32 i; REQUIRED INT64 l; REQUIRED FLOAT f; REQUIRED DOUBLE d; \
         REQUIRED BYTE_ARRAY t (UTF8); REQUIRED INT32 u (UINT_32); REQUIRED INT32 s (INTEGER(8,true));",
    );
    let table = read_table(&path, &ReadOptions::default()).expect("a table");
    assert_eq!(table.names, ["b", "i", "l", "f", "d", "u", "s"]);
    assert_eq!(table.row(0), Some(&[1.0, -1.0, -5.0, 0.5, 1.5, 4_294_967_295.0, -1.0][..]));
    assert_eq!(table.row(3), Some(&[0.0, 1.0, 1.0, f64::from(0.1_f32), 2.5, 1.0, 1.0][..]));
    assert_eq!((table.text[0].name.as_str(), table.text[0].values.join(" ")), ("t", "ab c ab c".to_owned()));
    assert!(!table.single_precision);
    let options =
        ReadOptions { columns: Some("f".into()), target: Some("t".into()), ..ReadOptions::default() };
    let table = read_table(&path, &options).expect("a table");
    assert!(table.single_precision);
    assert_eq!(
        (table.n_columns(), table.target.expect("a target").values.join(" ")),
        (1, "ab c ab c".to_owned())
    );
}

#[test]
fn nulls_are_missing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    write(&path, "OPTIONAL DOUBLE d; OPTIONAL INT32 i; OPTIONAL BYTE_ARRAY t (UTF8);");
    let error = read_table(&path, &ReadOptions::default()).expect_err("nulls").to_string();
    assert!(
        error.contains("4 cells are missing in 2 columns, the first at row 2, column 1 (\"d\")"),
        "{error}"
    );
    let options = ReadOptions { missing: Missing::Drop, ..ReadOptions::default() };
    let table = read_table(&path, &options).expect("two complete rows");
    assert_eq!((table.values, table.dropped_rows), (vec![1.5, -1.0, 1.5, -1.0], 2));
    assert_eq!(table.text[0].values, ["ab", "ab"]);
}

#[test]
fn types_that_are_refused_unless_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    for (field, part) in [
        ("REQUIRED INT32 q (DECIMAL(9,2));", "column 2 (\"q\") holds decimal values"),
        ("REQUIRED INT32 q (DATE);", "column 2 (\"q\") holds date values"),
        ("REQUIRED INT64 q (TIMESTAMP(MILLIS,true));", "column 2 (\"q\") holds timestamp values"),
        ("REQUIRED INT96 q;", "column 2 (\"q\") holds int96 values"),
        ("REQUIRED BYTE_ARRAY q;", "column 2 (\"q\") holds byte array values"),
        ("REQUIRED FIXED_LEN_BYTE_ARRAY(2) q;", "column 2 (\"q\") holds fixed len byte array values"),
        ("REQUIRED group q { REQUIRED INT32 z; }", "column 2 (\"q.z\") holds nested values"),
    ] {
        write(&path, &format!("REQUIRED DOUBLE d; {field}"));
        let error = read_table(&path, &ReadOptions::default()).expect_err(field);
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains(part), "{error}");
        let options = ReadOptions { columns: Some("d".into()), ..ReadOptions::default() };
        assert_eq!(read_table(&path, &options).expect("d alone").n_rows, 4, "{field}");
    }
    write(&path, "REPEATED INT32 q;");
    let error = read_table(&path, &ReadOptions::default()).expect_err("a list").to_string();
    assert!(error.contains("column 1 (\"q\") holds nested values"), "{error}");
}

/// The codec is field 4 of a column's metadata, a zigzag integer, followed by the number of values.
#[test]
fn other_codecs_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    write(&path, "REQUIRED DOUBLE d;");
    let mut bytes = fs::read(&path).expect("its bytes");
    let (uncompressed, zstd) = ([0x15, 0x00, 0x16], [0x15, 0x0C, 0x16]);
    let places: Vec<usize> = (0..bytes.len() - 3).filter(|&at| bytes[at..at + 3] == uncompressed).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 3].copy_from_slice(&zstd);
    }
    fs::write(&path, &bytes).expect("a changed file");
    let error = read_table(&path, &ReadOptions::default()).expect_err("zstd").to_string();
    assert!(error.contains("column 1 is compressed with ZSTD"), "{error}");
}

#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    write(&path, "REQUIRED DOUBLE d;");
    let bytes = fs::read(&path).expect("its bytes");
    for bad in [&bytes[..bytes.len() - 10], &bytes[..4], b"PAR1PAR1", b"PAR1\xFF\xFF\xFF\x7FPAR1"] {
        fs::write(&path, bad).expect("a bad file");
        let error = read_table(&path, &ReadOptions::default()).expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("it cannot be read as Parquet"), "{error}");
    }
    write(&path, "REQUIRED BYTE_ARRAY t (UTF8);");
    let error = read_table(&path, &ReadOptions::default()).expect_err("text alone").to_string();
    assert!(error.contains("no column of numbers, only text in \"t\""), "{error}");
}

#[test]
fn columns_that_are_called_alike_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("t.parquet");
    write(&path, "REQUIRED DOUBLE a; REQUIRED DOUBLE b; REQUIRED DOUBLE a;");
    for columns in [None, Some("1,2".to_owned())] {
        let error = read_table(&path, &ReadOptions { columns, ..ReadOptions::default() }).expect_err("twice");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("columns 1 and 3 are both called \"a\""), "{error}");
    }
}

/// A constant takes a few bytes in the file, however many rows there are.
#[test]
fn what_a_file_unpacks_to_can_be_bounded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    let n = 40_000;
    let schema = "message m { REQUIRED DOUBLE d; REQUIRED BYTE_ARRAY t (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = fs::File::create(&path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("a writer");
    let mut rows = writer.next_row_group().expect("a row group");
    while let Some(mut column) = rows.next_column().expect("a column") {
        match column.untyped() {
            ColumnWriter::DoubleColumnWriter(w) => w.write_batch(&vec![1.5; n], None, None),
            ColumnWriter::ByteArrayColumnWriter(w) => {
                w.write_batch(&vec!["some text that repeats".into(); n], None, None)
            }
            _ => unreachable!("two columns"),
        }
        .expect("cells");
        column.close().expect("a column");
    }
    rows.close().expect("a row group");
    writer.close().expect("a file");
    assert!(fs::metadata(&path).expect("a file").len() < 4000);
    let read = |most: u64, columns: &str| {
        let options = ReadOptions {
            most_unpacked: Some(most),
            columns: (!columns.is_empty()).then(|| columns.to_owned()),
            ..ReadOptions::default()
        };
        read_table(&path, &options).map(|table| table.n_rows).map_err(|error| error.to_string())
    };
    let numbers = 8 * n as u64;
    let text = n as u64 * (22 + size_of::<String>() as u64);
    assert_eq!(read(numbers + text, ""), Ok(n));
    for (most, from) in
        [(numbers - 1, numbers), (numbers + text - 1, numbers + text), (numbers, numbers + 46)]
    {
        let error = read(most, "").expect_err("too much");
        assert!(error.contains(&format!("it unpacks to {from} bytes or more; at most {most}")), "{error}");
    }
}
