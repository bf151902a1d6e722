//! Tables and sparse matrices.

use crate::containers::{archive, packed};
use eigenlift_io::{
    Format, Missing, Output, ReadOptions, Table, TableStream, is_sparse, read_sparse, read_table, write_table,
};
use std::path::{Path, PathBuf};

pub(crate) const CSV_WORDS: [&str; 26] = [
    "NA", "nan", "inf", "-", ",", ";", "\t", "\n", "\r\n", "\r", "\"", "\"\"", "1,5", "1.5", "1e400",
    "-1e-400", "\u{feff}", "#", " ", "a", "x1", "é", "0x10", "1_000", "+3", ".",
];
pub(crate) const NPY_WORDS: [&str; 20] = [
    "\u{0}",
    "'<f8'",
    "'>f4'",
    "'|O'",
    "'<i8'",
    "'|S3'",
    "'<U1'",
    "True",
    "False",
    "()",
    "(2,)",
    "(2, 3)",
    "(0, 3)",
    "'shape': ",
    "'descr': ",
    "[('a', '<f8')]",
    "\u{1}NUMPY",
    ".npy",
    "csr",
    "csc",
];

/// A file in the folder with these bytes.
pub(crate) fn file(folder: &Path, name: &str, data: &[u8]) -> Option<PathBuf> {
    let path = folder.join(name);
    std::fs::write(&path, data).ok().map(|()| path)
}

/// Settings that follow from the bytes.
fn options(data: &[u8]) -> ReadOptions {
    let sum = data.iter().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    let pick = |shift: u32, count: u32| (sum >> shift) % count;
    ReadOptions {
        format: None,
        delimiter: [None, None, Some(b','), Some(b';'), Some(b' ')][pick(3, 5) as usize],
        header: [None, Some(true), Some(false)][pick(6, 3) as usize],
        columns: [None, None, Some("1-2"), Some("a,1"), Some("2-")][pick(9, 5) as usize].map(str::to_string),
        target: [None, None, Some("1"), Some("y")][pick(12, 4) as usize].map(str::to_string),
        missing: [Missing::default(), Missing::Drop, Missing::Mean][pick(15, 3) as usize],
        member: None,
        most_unpacked: None,
    }
}

/// Reads a file whole and some rows at a time, with settings of all kinds, and compares.
fn read(folder: &Path, name: &str, data: &[u8]) -> bool {
    let Some(path) = file(folder, name, data) else { return false };
    let settings = [ReadOptions::default(), options(data)];
    let accepted =
        settings.map(|settings| match (read_table(&path, &settings), in_chunks(&path, &settings)) {
            (Ok(whole), Some(chunks)) => {
                check(&whole);
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&whole.values), bits(&chunks), "whole and in chunks");
                true
            }
            (Ok(whole), None) => {
                check(&whole);
                true
            }
            (Err(error), _) => {
                assert!(!error.to_string().is_empty());
                false
            }
        });
    accepted[0] || accepted[1]
}

fn check(table: &Table) {
    assert_eq!(table.values.len(), table.n_rows * table.n_columns());
    assert!(table.values.iter().all(|value| value.is_finite()), "a number that is not finite was read");
    assert!(table.text.iter().all(|column| column.values.len() == table.n_rows));
    assert!(table.target.iter().all(|target| target.values.len() == table.n_rows));
}

/// The numbers, read some rows at a time; nothing where that fails.
fn in_chunks(path: &Path, settings: &ReadOptions) -> Option<Vec<f64>> {
    let mut stream = TableStream::open(path, settings).ok()?;
    let mut values = Vec::new();
    while let Some(chunk) = stream.next_chunk(3).ok()? {
        check(&chunk);
        values.extend_from_slice(&chunk.values);
    }
    Some(values)
}

pub(crate) fn csv(folder: &Path, data: &[u8]) -> bool {
    read(folder, "input.csv", data)
}

pub(crate) fn npy(folder: &Path, data: &[u8]) -> bool {
    read(folder, "input.npy", data)
}

pub(crate) fn npz(folder: &Path, data: &[u8]) -> bool {
    read(folder, "input.npz", &archive(data))
}

pub(crate) fn parquet(folder: &Path, data: &[u8]) -> bool {
    read(folder, "input.parquet", data)
}

pub(crate) fn sparse(folder: &Path, data: &[u8]) -> bool {
    let Some(path) = file(folder, "sparse.npz", &archive(data)) else { return false };
    let _ = is_sparse(&path);
    let Ok(table) = read_sparse(&path) else { return false };
    assert_eq!(table.offsets.len(), table.n_rows + 1);
    for row in 0..table.n_rows {
        let (columns, values) = table.row(row).unwrap_or_default();
        assert!(columns.windows(2).all(|two| two[0] < two[1]), "columns in order, each once");
        assert!(columns.iter().all(|column| (*column as usize) < table.n_cols));
        assert!(values.iter().all(|value| value.is_finite() && *value != 0.0));
    }
    true
}

pub(crate) fn csv_seeds(_: &Path) -> Vec<Vec<u8>> {
    [
        "a,b,y\n1,2,red\n3,4,blue\n5,6,red\n",
        "1 2 3\n4 5 6\n",
        "a;b\n1,5;NA\n2,5;4\n",
        "a\tb\r\n1\t2\r\n3\t4\r\n",
        "\"a, b\",\"c\"\"d\"\n1e3,-2.5e-3\n,7\n",
        "\u{feff}x1,x2\n0.1,0.2\n0.3,0.4\n",
        "name,value\nséance,1\nb,2\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// An NPY file as NumPy writes it.
fn array(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn longs(values: &[i64]) -> Vec<u8> {
    array(
        "'<i8'",
        "False",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

pub(crate) fn npy_seeds(_: &Path) -> Vec<Vec<u8>> {
    let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
    let singles: Vec<u8> = six.iter().flat_map(|value| (*value as f32).to_be_bytes()).collect();
    let named: Vec<u8> = six.chunks(2).flat_map(doubles).collect();
    vec![
        array("'<f8'", "False", "(3, 2)", &doubles(&six)),
        array("'<f8'", "True", "(2, 3)", &doubles(&six)),
        array("'>f4'", "False", "(6,)", &singles),
        array("'|u1'", "False", "(2, 2)", &[1, 2, 3, 4]),
        array("'|b1'", "False", "(2, 2)", &[1, 0, 0, 1]),
        array("[('a', '<f8'), ('b', '<f8')]", "False", "(3,)", &named),
    ]
}

pub(crate) fn npz_seeds(folder: &Path) -> Vec<Vec<u8>> {
    let rows = array("'<f8'", "False", "(3, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]));
    let labels = array(
        "'<U3'",
        "False",
        "(3,)",
        &"redbluered".chars().take(9).flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>(),
    );
    let archives = [
        packed(&[("x.npy", rows.clone())]),
        packed(&[("x.npy", rows.clone()), ("y.npy", labels.clone())]),
        packed(&[("a.npy", longs(&[1, 2, 3])), ("b.npy", longs(&[4, 5, 6]))]),
    ];
    let mut seeds: Vec<Vec<u8>> = archives.iter().map(|bytes| archive(bytes)).collect();
    seeds.extend(archives);
    seeds.extend(written(folder, Format::Npz));
    seeds
}

pub(crate) fn sparse_seeds(_: &Path) -> Vec<Vec<u8>> {
    let form = |name: &str| array("'|S3'", "False", "()", name.as_bytes());
    let data = array("'<f8'", "False", "(3,)", &doubles(&[1.0, 2.5, -3.0]));
    let matrix = |kind: &str, indptr: &[i64]| {
        packed(&[
            ("indices.npy", longs(&[0, 2, 1])),
            ("indptr.npy", longs(indptr)),
            ("format.npy", form(kind)),
            ("shape.npy", longs(&[2, 3])),
            ("data.npy", data.clone()),
        ])
    };
    let archives = [matrix("csr", &[0, 2, 3]), matrix("csc", &[0, 1, 2, 3])];
    archives.iter().map(|bytes| archive(bytes)).chain(archives.clone()).collect()
}

pub(crate) fn parquet_seeds(folder: &Path) -> Vec<Vec<u8>> {
    written(folder, Format::Parquet)
}

/// Files that the library itself writes.
fn written(folder: &Path, format: Format) -> Vec<Vec<u8>> {
    let names = ["a".to_string(), "b".to_string()];
    let texts: Vec<String> = ["red", "blue", "red"].map(String::from).to_vec();
    let path = folder.join("seed");
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
    let write = |text: &[(&str, &[String])], single_precision: bool| {
        let output = Output { text, names: &names, n_rows: 3, values: &values, single_precision };
        write_table(&path, &output, Some(format)).ok()?;
        std::fs::read(&path).ok()
    };
    let with_text: [(&str, &[String]); 1] = [("y", &texts)];
    [write(&[], false), write(&[], true), write(&with_text, false)].into_iter().flatten().collect()
}
