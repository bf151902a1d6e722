//! Tables as they come in real life: every one must be read rightly, or refused with a message that says where and
//! what to do.

use std::fs;
use std::path::Path;

use eigenlift_io::{ErrorKind, Missing, ReadOptions, Table, TableError, read_table};

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("a file in it");
    read_table(&path, options)
}

fn options(columns: &str, target: &str, missing: Missing) -> ReadOptions {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ReadOptions { columns: some(columns), target: some(target), missing, ..ReadOptions::default() }
}

/// Every part of the message must be there, and the message must end in advice.
#[track_caller]
fn refused(name: &str, bytes: &[u8], options: &ReadOptions, kind: ErrorKind, parts: &[&str]) {
    let error = match read(name, bytes, options) {
        Err(error) => error,
        Ok(table) => panic!("{:?} was read as {table:?}", String::from_utf8_lossy(bytes)),
    };
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    assert_eq!(error.kind(), kind, "{message}");
    assert!(message.contains(name), "{message:?} does not name the file");
    assert!(message.contains("; ") && message.ends_with('.'), "{message:?} does not have three parts");
}

#[test]
fn text_tables_that_are_refused() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"", &["it is empty (0 bytes)"]),
        (b"\n \n\r\n", &["only blank lines"]),
        (b"\xEF\xBB\xBF", &["only blank lines"]),
        (b"a,b,c\n", &["3 columns and no rows"]),
        (
            b"a,b\n1,2\n1,abc\n",
            &["line 3 (row 2), column 2 (\"b\") is \"abc\"", "must be a number", "--columns"],
        ),
        (
            b"a,b\nx,1\n5,2\n",
            &["line 2 (row 1), column 1 (\"a\") is \"x\", and line 3 (row 2)", "the number 5"],
        ),
        (b"a,b\n\n\n1,2\n\n1,abc\n", &["line 6 (row 2), column 2"]),
        (b"a,b\r\n1,2\r\n1,abc\r\n", &["line 3 (row 2)"]),
        (b"a,b\r1,2\r1,abc\r", &["line 3 (row 2)"]),
        (b"n,b\n\"x\ny\",2\nz,abc\n", &["line 4 (row 2), column 2 (\"b\")"]),
        (b"a,b\n1,2\n3\n", &["line 3 has 1 cell, and line 1 has 2"]),
        (b"a,b\n1,2,3\n", &["line 2 has 3 cells, and line 1 has 2"]),
        (b"1,2\n3,4,\n", &["line 2 has 3 cells, and line 1 has 2"]),
        (b"1 2\n3 4\n5\n", &["line 3 has 1 cell, and line 1 has 2"]),
        (b"a,b,a\n1,2,3\n", &["line 1 has the name \"a\" in column 1 and in column 3"]),
        (
            b"5.1,0.2,0.2,iris\n1,2,3,rose\n",
            &["the name \"0.2\" in column 2 and in column 3", "line of names"],
        ),
        (b"a,b\n1,2\n\"3,4\n5,6\n", &["the quote that opens on line 3 is never closed"]),
        (b"a\n1\ninf\n", &["line 3 (row 2), column 1 (\"a\") is \"inf\"", "must be finite"]),
        (b"a\n-Infinity\n", &["line 2 (row 1), column 1 (\"a\") is \"-Infinity\""]),
        (b"a\n1e400\n", &["is \"1e400\"", "must be finite"]),
        (
            b"a,b\n1,2\n,3\n4,NA\n?,1\n",
            &[
                "3 cells are missing in 2 columns, the first at line 3 (row 2), column 1",
                "(2 in \"a\", 1 in \"b\"); every entry must be a number",
            ],
        ),
        (
            b"a,b\n1,2\n3,N/A\n",
            &["1 cell is missing in 1 column", "line 3 (row 2), column 2 (\"b\")", "--missing mean"],
        ),
        (b"a,b\n1,\n3,\n", &["column 2 (\"b\") is missing in every one of the 2 rows"]),
        (b"a,b\nx,y\nz,w\n", &["no column of numbers, only text in \"a\", \"b\""]),
        (b"a;b\n1,5;2\n2,5;1.5\n", &["line 3 (row 2), column 2 (\"b\") is \"1.5\"", "decimal mark"]),
        (b"a;b\n1.5;2\n2,5;1\n", &["line 3 (row 2), column 1 (\"a\") is \"2,5\"", "decimal point"]),
        (b"a;b\n1.5;2\n1.234,5;1\n", &["is \"1.234,5\""]),
        (b"a,b\n\"1,5\",2\n", &["is \"1,5\"", "decimal mark"]),
        (b"\xFF\xFEa\0,\0b\0", &["encoded in UTF-16", "UTF-8"]),
        (b"a\0,\0b\0\n\x001\0,\x002\0\n\0", &["encoded in UTF-16 without a mark"]),
        (b"a,b\nM\xFCller,2\n", &["line 2 has the byte 0xFC", "not valid UTF-8"]),
        (b"a,b\n1,\x002\n", &["line 2 has a NUL byte"]),
        (b"\x1F\x8B\x08\0\0\0\0\0", &["compressed with gzip", "decompress it first"]),
        (b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", &["a NUL byte", "not text"]),
        (b"a,b\n1,2\n1,0x1F\n", &["is \"0x1F\""]),
        (b"a\n1\n1_000\n", &["is \"1_000\""]),
        (b"a,b\n1,12%\n2,3\n", &["column 2 (\"b\") is \"12%\", and line 3"]),
        (b"a\n1\nbell\x07\n", &["is \"bell\\u{7}\""]),
        (b"a\n1\nabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\n", &["ghij\"…"]),
    ];
    for (bytes, parts) in cases {
        refused("data.csv", bytes, &ReadOptions::default(), ErrorKind::Input, parts);
    }
}

#[test]
fn choices_that_do_not_fit_the_table() {
    let table = b"a,b,name,g\n1,2,x,\n3,4,y,u\n";
    let cases = [
        ("z", "", ErrorKind::Usage, "--columns names \"z\", which is not a column"),
        ("1,9", "", ErrorKind::Usage, "a position from 1 to 4"),
        ("0", "", ErrorKind::Usage, "Choose among \"a\", \"b\", \"name\", \"g\""),
        ("b-a", "", ErrorKind::Usage, "\"b-a\" in --columns runs backwards"),
        ("", "z", ErrorKind::Usage, "--target names \"z\", which is not a column"),
        ("a,name", "", ErrorKind::Usage, "column 3 (\"name\") is \"x\": --columns chose a column of text"),
        ("1", "a", ErrorKind::Usage, "the target is the only column chosen"),
        (",", "", ErrorKind::Usage, "--columns has an empty name"),
        (
            "",
            "g",
            ErrorKind::Input,
            "the target has 1 missing cell, the first at line 2 (row 1), column 4 (\"g\")",
        ),
    ];
    for (columns, target, kind, part) in cases {
        refused("data.csv", table, &options(columns, target, Missing::Error), kind, &[part]);
    }
    refused(
        "data.csv",
        table,
        &options("", "g", Missing::Mean),
        ErrorKind::Input,
        &["the target has 1 missing cell"],
    );
    refused(
        "data.csv",
        b"a,b\n1,\n,2\n",
        &options("", "", Missing::Drop),
        ErrorKind::Input,
        &["every one of its 2 rows has a missing cell"],
    );
    let member = ReadOptions { member: Some("X".into()), ..ReadOptions::default() };
    refused(
        "data.csv",
        b"1\n",
        &member,
        ErrorKind::Usage,
        &["the member \"X\"", "only NPZ files have members"],
    );
    let many: Vec<String> = (0..30).map(|i| format!("c{i}")).collect();
    let many = format!("{}\n{}\n", many.join(","), vec!["1"; 30].join(","));
    refused(
        "data.csv",
        many.as_bytes(),
        &options("q", "", Missing::Error),
        ErrorKind::Usage,
        &["\"c19\", and 10 more"],
    );
}

#[test]
fn a_bad_delimiter_and_unknown_words() {
    let options = ReadOptions { delimiter: Some(b'"'), ..ReadOptions::default() };
    let error = read("data.csv", b"1,2\n", &options).expect_err("a quote cannot separate cells");
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("the byte 0x22 cannot separate cells"), "{error}");
    let error = "median".parse::<Missing>().expect_err("not a policy");
    assert!(error.to_string().contains("--missing: \"median\" is not"), "{error}");
    let error = "xlsx".parse::<eigenlift_io::Format>().expect_err("not a format");
    assert!(error.to_string().contains("csv, tsv, npy, npz or parquet"), "{error}");
    for missing in [Missing::Error, Missing::Drop, Missing::Mean] {
        assert_eq!(missing.to_string().parse::<Missing>().expect("its own name"), missing);
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, part) in [("nothing.csv", "Check the path"), ("", "directory")] {
        let error = read_table(&folder.path().join(path), &ReadOptions::default()).expect_err("no such file");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = read_table(Path::new("no.npz:X"), &ReadOptions::default()).expect_err("no such file");
    assert!(error.to_string().starts_with("no.npz:X: cannot be read"), "{error}");
}

/// What a text is read as: names, numbers, text columns.
type Expected<'a> = (&'a [&'a str], &'a [f64], &'a [&'a [&'a str]]);

#[test]
fn text_tables_that_are_read() {
    let cases: &[(&str, Expected<'_>)] = &[
        ("1,2\n3,4\n", (&["x1", "x2"], &[1.0, 2.0, 3.0, 4.0], &[])),
        ("a,b\n1,2", (&["a", "b"], &[1.0, 2.0], &[])),
        ("\u{FEFF}a,b\n1,2\n\n\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("a;b\n1,5;-2,5e1\n", (&["a", "b"], &[1.5, -25.0], &[])),
        ("1,5;2,5\n3;4\n", (&["x1", "x2"], &[1.5, 2.5, 3.0, 4.0], &[])),
        ("a\tb\n1\t2\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("a|b\n1|2\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("  a   b\n  1   2\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("a, b\n 1, +2\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("\"a\",\"b\"\n\"1\",\"2\"\n", (&["a", "b"], &[1.0, 2.0], &[])),
        ("name,v\n\"x,\n\"\"y\"\"\",1\n", (&["v"], &[1.0], &[&["x,\n\"y\""]])),
        (",x1,\nr,1,2\ns,3,4\n", (&["x1", "x3"], &[1.0, 2.0, 3.0, 4.0], &[&["r", "s"]])),
        ("id,v\nNA,1\nb,2\n", (&["v"], &[1.0, 2.0], &[&["NA", "b"]])),
        ("v\r\n1\r\n2\r\n", (&["v"], &[1.0, 2.0], &[])),
        ("petal width\n1\n2\n", (&["petal width"], &[1.0, 2.0], &[])),
        ("größe,名\n1,ä\n", (&["größe"], &[1.0], &[&["ä"]])),
    ];
    for (text, (names, values, columns)) in cases {
        let table = read("data.csv", text.as_bytes(), &ReadOptions::default()).expect(text);
        assert_eq!(&table.names, names, "{text:?}");
        assert_eq!(&table.values, values, "{text:?}");
        assert_eq!(table.n_rows * table.n_columns(), table.values.len());
        let found: Vec<&[String]> = table.text.iter().map(|column| column.values.as_slice()).collect();
        assert_eq!(&found, columns, "{text:?}");
    }
}

#[test]
fn missing_cells_are_dropped_or_filled() {
    let text = b"n,a,b,y\nu,1,2,p\nv,,4,q\nw,3,NaN,r\nx,5,6,\n";
    let table = read("d.csv", text, &options("", "y", Missing::Drop)).expect("one complete row");
    assert_eq!((table.values, table.n_rows, table.dropped_rows), (vec![1.0, 2.0], 1, 3));
    assert_eq!(table.text[0].values, ["u"]);
    assert_eq!(table.target.expect("a target").values, ["p"]);
    let table = read("d.csv", text, &options("b,a", "", Missing::Mean)).expect("filled");
    assert_eq!(table.names, ["b", "a"]);
    assert_eq!(table.values, [2.0, 1.0, 4.0, 3.0, 4.0, 3.0, 6.0, 5.0]);
    assert_eq!((table.imputed_cells, table.dropped_rows), (2, 0));
    let large = read("d.csv", b"a\n1.7e308\n?\n1.7e308\n", &options("", "", Missing::Mean)).expect("finite");
    assert_eq!(large.values, [1.7e308; 3]);
}

#[test]
fn columns_left_out_may_hold_anything() {
    let text = b"a,mixed,inf,none,label\n1,x,inf,,u\n2,7,sup,,v\n";
    let table = read("d.csv", text, &options("a", "label", Missing::Error)).expect("only a is data");
    assert_eq!(table.values, [1.0, 2.0]);
    assert_eq!(table.text.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["inf"]);
    let target = table.target.expect("a target");
    assert_eq!((target.name.as_str(), target.numeric), ("label", false));
    let table =
        read("d.csv", b"a,y\n1, 2.50 \n3,1\n", &options("", "2", Missing::Error)).expect("a number target");
    let target = table.target.expect("a target");
    assert_eq!((target.values, target.numeric), (vec!["2.50".to_owned(), "1".to_owned()], true));
}

#[test]
fn a_header_can_be_forced_and_doubted() {
    let flowers = b"5.1,3.5,iris\n4.9,3.0,rose\n";
    let table = read("d.csv", flowers, &ReadOptions::default()).expect("the first line is a header");
    assert!(table.number_in_header);
    assert_eq!(table.n_rows, 1);
    let without = ReadOptions { header: Some(false), ..ReadOptions::default() };
    let table = read("d.csv", flowers, &without).expect("no header");
    assert_eq!((table.n_rows, table.number_in_header), (2, false));
    let with = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let table = read("d.csv", b"2019,2020\n1,2\n", &with).expect("numbers as names");
    assert_eq!((table.names, table.n_rows), (vec!["2019".to_owned(), "2020".to_owned()], 1));
}

/// Names that hold another delimiter, on lines longer than a disk block, in a file longer than what is looked at.
#[test]
fn wide_tables_with_a_byte_order_mark() {
    let n = 20_000;
    let header: Vec<String> = (0..n).map(|i| format!("gene|{i}")).collect();
    let row = vec!["1.25"; n].join(",");
    let text = format!("\u{FEFF}{}\n{}", header.join(","), format!("{row}\n").repeat(12));
    let table = read("d.csv", text.as_bytes(), &ReadOptions::default()).expect("a wide table");
    assert_eq!((table.n_rows, table.n_columns()), (12, n));
    assert_eq!(table.names[0], "gene|0");
}

#[test]
fn a_table_longer_than_any_buffer() {
    let mut text = String::from("id,v,w\n");
    for i in 0..200_000 {
        text.push_str(&format!("r{i},{i},{}\n", f64::from(i) / 3.0));
    }
    let table = read("d.csv", text.as_bytes(), &ReadOptions::default()).expect("a long table");
    assert_eq!(table.n_rows, 200_000);
    assert_eq!(table.row(199_999), Some(&[199_999.0, 199_999.0 / 3.0][..]));
    assert_eq!(table.text[0].values[123_456], "r123456");
    text.push_str("r,1,oops\n");
    refused(
        "d.csv",
        text.as_bytes(),
        &ReadOptions::default(),
        ErrorKind::Input,
        &["line 200002 (row 200001), column 3 (\"w\") is \"oops\""],
    );
}
