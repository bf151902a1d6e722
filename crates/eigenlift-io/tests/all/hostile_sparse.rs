//! Sparse matrices as they come in real life: out of order, doubled, truncated, damaged and lying.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use eigenlift_io::{ErrorKind, SparseTable, TableError, is_sparse, read_sparse};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// An NPY file of version 1 as NumPy writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
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
    npy(
        "<f8",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

fn singles(values: &[f32]) -> Vec<u8> {
    npy(
        "<f4",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

fn longs(values: &[i64]) -> Vec<u8> {
    npy(
        "<i8",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

fn ints(values: &[i32]) -> Vec<u8> {
    npy(
        "<i4",
        &format!("({},)", values.len()),
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

/// The members of a file, which tests replace and leave out.
#[derive(Clone)]
struct Matrix(Vec<(String, Vec<u8>)>);

impl Matrix {
    fn new(form: &str, shape: &[i64], data: &[f64], indices: &[i64], indptr: &[i64]) -> Self {
        Self(Vec::new())
            .with("indices", longs(indices))
            .with("indptr", longs(indptr))
            .with("format", npy(&format!("|S{}", form.len()), "()", form.as_bytes()))
            .with("shape", longs(shape))
            .with("data", doubles(data))
    }

    fn with(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self = self.without(name);
        self.0.push((name.to_owned(), bytes));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|(member, _)| member != name);
        self
    }

    fn packed(&self, compressed: bool) -> Vec<u8> {
        let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in &self.0 {
            let options = SimpleFileOptions::default().compression_method(method);
            archive.start_file(format!("{name}.npy"), options).expect("a member");
            archive.write_all(bytes).expect("its bytes");
        }
        archive.finish().expect("an archive").into_inner()
    }
}

/// `[[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 0, 0]]` by rows.
fn good() -> Matrix {
    Matrix::new("csr", &[4, 3], &[1.0, 2.0, 3.0, 4.0], &[0, 2, 1, 0], &[0, 2, 2, 3, 4])
}

/// The same matrix by columns.
fn good_columns() -> Matrix {
    Matrix::new("csc", &[4, 3], &[1.0, 4.0, 3.0, 2.0], &[0, 3, 2, 0], &[0, 2, 3, 4])
}

fn read(bytes: &[u8]) -> Result<SparseTable, TableError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.npz");
    fs::write(&path, bytes).expect("a file in it");
    read_sparse(&path)
}

#[track_caller]
fn read_both(matrix: &Matrix) -> SparseTable {
    let stored = read(&matrix.packed(false)).expect("a matrix");
    assert_eq!(read(&matrix.packed(true)).expect("a matrix"), stored);
    assert_sound(&stored);
    stored
}

#[track_caller]
fn refused_bytes(bytes: &[u8], parts: &[&str]) {
    let error = match read(bytes) {
        Err(error) => error,
        Ok(table) => panic!("{parts:?} was expected, and it was read as {table:?}"),
    };
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    assert_eq!(error.kind(), ErrorKind::Input, "{message}");
    assert!(message.contains("a.npz") && message.contains("; ") && message.ends_with('.'), "{message:?}");
}

#[track_caller]
fn refused(matrix: &Matrix, parts: &[&str]) {
    refused_bytes(&matrix.packed(false), parts);
    refused_bytes(&matrix.packed(true), parts);
}

/// What every table that is read promises.
#[track_caller]
fn assert_sound(table: &SparseTable) {
    assert!(table.n_rows > 0 && table.n_cols > 0);
    assert_eq!(table.offsets.len(), table.n_rows + 1);
    assert_eq!((table.offsets[0], table.offsets[table.n_rows]), (0, table.values.len()));
    assert_eq!(table.columns.len(), table.values.len());
    assert!(table.values.iter().all(|value| value.is_finite() && *value != 0.0));
    for row in 0..table.n_rows {
        let (columns, _) = table.row(row).expect("a row");
        assert!(columns.is_sorted_by(|a, b| a < b), "{columns:?}");
        assert!(columns.iter().all(|&column| (column as usize) < table.n_cols));
    }
}

#[test]
fn every_kind_of_numbers_is_read() {
    let expected = read_both(&good());
    assert_eq!((&*expected.offsets, &*expected.columns), (&[0, 2, 2, 3, 4][..], &[0, 2, 1, 0][..]));
    assert_eq!((&*expected.values, expected.n_cols), (&[1.0, 2.0, 3.0, 4.0][..], 3));
    assert_eq!(read_both(&good_columns()), expected);
    let small = good()
        .with("shape", ints(&[4, 3]))
        .with("indices", ints(&[0, 2, 1, 0]))
        .with("indptr", ints(&[0, 2, 2, 3, 4]))
        .with("data", npy("|i1", "(4,)", &[1, 2, 3, 4]))
        .with("_is_array", npy("|b1", "()", &[1]));
    assert_eq!(read_both(&small), expected);
    let single = read_both(&good_columns().with("data", singles(&[1.0, 4.0, 3.0, 2.0])));
    assert_eq!(single, SparseTable { single_precision: true, ..expected.clone() });
    let truth = read_both(&good().with("data", npy("|b1", "(4,)", &[1, 0, 1, 1])));
    assert_eq!((truth.offsets, truth.values), (vec![0, 1, 1, 2, 3], vec![1.0; 3]));
    let text = good().with("format", npy("<U3", "()", b"c\0\0\0s\0\0\0r\0\0\0"));
    assert_eq!(read_both(&text), expected);
    let big = good().with("indptr", npy(">i2", "(5,)", &[0, 0, 0, 2, 0, 2, 0, 3, 0, 4]));
    assert_eq!(read_both(&big), expected);
    let nothing = read_both(&Matrix::new("csr", &[2, 4_294_967_295], &[], &[], &[0, 0, 0]));
    assert_eq!((nothing.n_cols, nothing.offsets, nothing.values), (u32::MAX as usize, vec![0; 3], vec![]));
}

#[test]
fn columns_are_sorted_and_duplicates_summed() {
    let mixed = Matrix::new(
        "csr",
        &[3, 4],
        &[1.0, 2.0, 4.0, 8.0, 5.0, -5.0, 7.0, 0.0, 9.0],
        &[3, 0, 3, 1, 2, 2, 0, 1, 0],
        &[0, 4, 6, 9],
    );
    let table = read_both(&mixed);
    assert_eq!(table.offsets, [0, 3, 3, 4]);
    assert_eq!((table.columns, table.values), (vec![0, 1, 3, 0], vec![2.0, 8.0, 5.0, 16.0]));
    let columns = Matrix::new("csc", &[3, 2], &[1.0, 2.0, 4.0, 8.0], &[2, 0, 2, 2], &[0, 3, 4]);
    let table = read_both(&columns);
    assert_eq!(table.offsets, [0, 1, 1, 3]);
    assert_eq!((table.columns, table.values), (vec![0, 0, 1], vec![2.0, 5.0, 8.0]));
    let twice = |data| Matrix::new("csr", &[1, 1], &[0.0; 3], &[0; 3], &[0, 3]).with("data", data);
    let single = read_both(&twice(singles(&[16_777_216.0, 1.0, 1.0])));
    assert_eq!(single.values, [16_777_216.0], "as in single precision, rounded after each");
    assert_eq!(read_both(&twice(npy("|b1", "(3,)", &[1, 1, 1]))).values, [1.0], "true or true is true");
}

#[test]
fn other_formats_are_refused() {
    for form in ["coo", "bsr", "dia", ""] {
        let matrix = Matrix::new(form, &[2, 2], &[1.0], &[0], &[0, 1, 1]).without("indices");
        refused(&matrix, &[&format!("has the format {form:?}"), "\"csr\" or \"csc\"", "Call .tocsr()"]);
    }
    for (form, member) in [("coo", "row"), ("coo", "coords"), ("dia", "offsets"), ("bsr", "indptr")] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.npz");
        let matrix = Matrix::new(form, &[2, 2], &[1.0], &[0], &[0, 1]).without("indptr").without("indices");
        fs::write(&path, matrix.packed(false)).expect("a file");
        assert!(!is_sparse(&path));
        fs::write(&path, matrix.with(member, longs(&[0])).packed(true)).expect("a file");
        assert!(is_sparse(&path), "{form} is sparse, so that it gets the right message");
    }
}

#[test]
fn members_that_are_missing_or_wrong() {
    for name in ["format", "shape", "data", "indices", "indptr"] {
        refused(&good().without(name), &[&format!("it has no member {name:?} among"), "save_npz"]);
        let junk = good().with(name, b"junk, not an array".to_vec());
        refused(&junk, &[&format!("a.npz:{name}: it does not begin with \\x93NUMPY")]);
    }
    for name in ["shape", "data", "indices", "indptr"] {
        let scalar = good().with(name, npy("<i8", "()", &[0; 8]));
        refused(&scalar, &[&format!("a.npz:{name}: its array has shape ()"), "one dimension"]);
        let square = good().with(name, npy("<i8", "(2, 2)", &[0; 32]));
        refused(&square, &[&format!("a.npz:{name}: its array has shape (2, 2)"), "one dimension"]);
    }
    for name in ["shape", "indices", "indptr"] {
        for bytes in [doubles(&[0.5; 4]), npy("|b1", "(4,)", &[0; 4]), npy("<U1", "(4,)", &[0; 16])] {
            let wrong = good().with(name, bytes);
            refused(&wrong, &[&format!("a.npz:{name}: its array does not hold integers")]);
        }
    }
    refused(&good().with("data", npy("<c16", "(4,)", &[0; 64])), &["a.npz:data", "complex numbers (<c16)"]);
    refused(&good().with("data", npy("<U1", "(4,)", &[0; 16])), &["a.npz:data: its array holds text"]);
    refused(&good().with("data", npy("|O", "(4,)", b"pickle")), &["Python objects (pickled)"]);
}

#[test]
fn lengths_that_disagree() {
    let short = Matrix::new("csr", &[4, 3], &[1.0, 2.0, 3.0], &[0, 2, 1, 0], &[0, 2, 2, 3, 4]);
    refused(&short, &["it has 3 entries in data and 4 in indices", "its number and its place"]);
    refused(
        &good().with("indptr", longs(&[0, 2, 4])),
        &["a.npz:indptr: it has 3 entries, and the matrix has 4 rows", "one entry more than rows"],
    );
    refused(
        &good_columns().with("indptr", longs(&[0, 2, 2, 3, 4])),
        &["it has 5 entries, and the matrix has 3 columns", "one entry more than columns"],
    );
    refused(&good().with("indptr", longs(&[])), &["it has 0 entries, and the matrix has 4 rows"]);
}

#[test]
fn offsets_that_lie() {
    let rule = "it must rise from 0 to 4, the number of entries, and never fall";
    let cases: [(&[i64], &str); 7] = [
        (&[0, 3, 2, 3, 4], "its entry 3 is 2, after 3"),
        (&[0, 2, -1, 3, 4], "its entry 3 is -1, after 2"),
        (&[1, 2, 2, 3, 4], "its entry 1 is 1"),
        (&[-1, 2, 2, 3, 4], "its entry 1 is -1"),
        (&[0, 2, 2, 3, 5], "its entry 5 is 5"),
        (&[0, i64::MAX, 2, 3, 4], "its entry 2 is 922337203685477"),
        (&[0, 2, 2, 3, 3], "it ends with 3"),
    ];
    for (indptr, found) in cases {
        refused(&good().with("indptr", longs(indptr)), &["a.npz:indptr", found, rule]);
    }
}

#[test]
fn places_out_of_range() {
    for (place, shown) in [(-1, "-1"), (3, "3"), (1 << 40, "1099511627776"), (i64::MIN, "-922337203685477")] {
        refused(
            &good().with("indices", longs(&[0, 2, place, 0])),
            &[
                "a.npz:indices",
                &format!("its entry 3 is {shown}"),
                "0 to 2, because the matrix has 3 columns",
            ],
        );
    }
    refused(
        &good_columns().with("indices", longs(&[0, 4, 2, 0])),
        &["its entry 2 is 4;", "every row must be 0 to 3, because the matrix has 4 rows"],
    );
}

#[test]
fn shapes_that_lie() {
    let shaped = |shape: &[i64]| good().with("shape", longs(shape));
    refused(&shaped(&[4]), &["a.npz:shape: the matrix has 1 dimension;", "2 dimensions"]);
    refused(&shaped(&[4, 3, 1]), &["the matrix has 3 dimensions"]);
    refused(&shaped(&[-4, 3]), &["has shape (-4, 3)", "no length may be negative"]);
    refused(&shaped(&[4, i64::MIN]), &["has shape (4, -922337203685477", "negative"]);
    refused(&shaped(&[0, 3]), &["it has 3 columns and no rows of data", "at least one row"]);
    refused(&shaped(&[4, 0]), &["has shape (4, 0), so 0 columns", "1 to 4294967295 columns"]);
    refused(&shaped(&[0, 0]), &["so 0 columns"]);
    refused(&shaped(&[4, 4_294_967_296]), &["so 4294967296 columns", "1 to 4294967295 columns"]);
    refused(&shaped(&[i64::MAX, 3]), &["and the matrix has 9223372036854775808 rows"]);
    let u64s = npy("<u8", "(2,)", &[0xFF; 16]);
    refused(&good().with("shape", u64s), &["so 18446744073709552000 columns"]);
    let tall = |n_rows| good_columns().with("shape", longs(&[n_rows, 3]));
    assert_eq!(read_both(&tall(65_568)).n_rows, 65_568);
    for n_rows in [65_569, 1 << 32, i64::MAX] {
        refused(&tall(n_rows), &["rows, and has 4 entries in CSC form", "at most 65568 rows", ".tocsr()"]);
    }
}

/// Headers that announce far more than the file holds, alone and all together.
#[test]
fn announcements_without_data() {
    let huge = 1_i64 << 50;
    let claim = |n: i64| npy("<i8", &format!("({n},)"), &[0; 64]);
    let entries = good().with("data", claim(4_000)).with("indices", claim(4_000));
    refused_bytes(
        &entries.packed(false),
        &["a.npz:data", "needs 32000 bytes of data, and only 64 are there"],
    );
    refused_bytes(&entries.packed(true), &["a.npz:indptr: it ends with 4"]);
    let rows = good()
        .with("shape", longs(&[huge, 3]))
        .with("data", claim(huge))
        .with("indices", claim(huge))
        .with("indptr", claim(huge + 1));
    refused(&rows, &["bytes of data, and only 64 are there"]);
    let columns = good_columns()
        .with("shape", longs(&[4_000_000_000, 4_000_000_000]))
        .with("data", claim(huge))
        .with("indices", claim(huge))
        .with("indptr", claim(4_000_000_001));
    refused(&columns, &["bytes of data, and only 64 are there"]);
    let endless = npy("<i8", "(4611686018427387904,)", &[]);
    refused(&good().with("data", endless), &["a.npz:data", "more elements than any file can hold"]);
    for name in ["shape", "data", "indices", "indptr"] {
        let whole = good().0.into_iter().find(|(member, _)| member == name).expect("the member").1;
        let cut = whole[..whole.len() - 5].to_vec();
        refused(&good().with(name, cut), &[&format!("a.npz:{name}: its shape"), "bytes of data, and only"]);
        refused(&good().with(name, whole[..20].to_vec()), &[&format!("a.npz:{name}"), "the file ends after"]);
    }
}

#[test]
fn numbers_that_are_not_finite() {
    let valued = |data: &[f64]| good().with("data", doubles(data));
    let columns = |data: &[f64]| good_columns().with("data", doubles(data));
    let gap = "1 cell is missing (NaN), the first at row 1, column 3 (\"x3\")";
    refused(&valued(&[1.0, f64::NAN, 3.0, 4.0]), &[gap, "every entry must be a number"]);
    refused(&columns(&[1.0, 4.0, 3.0, f64::NAN]), &[gap]);
    refused(
        &columns(&[1.0, f64::NAN, f64::NAN, 2.0]),
        &["2 cells are missing (NaN), the first at row 3, column 2 (\"x2\")"],
    );
    let infinite = "row 3, column 2 (\"x2\") is infinite";
    refused(&valued(&[f64::NAN, 2.0, f64::INFINITY, 4.0]), &[infinite, "must be finite"]);
    refused(&columns(&[1.0, 4.0, f64::NEG_INFINITY, 2.0]), &[infinite]);
    refused(&good().with("data", singles(&[1.0, f32::NAN, 3.0, 4.0])), &[gap]);
    let twice = |a: f64, b: f64| Matrix::new("csr", &[1, 2], &[a, b], &[1, 1], &[0, 2]);
    for (a, b) in [(f64::MAX, f64::MAX), (f64::INFINITY, f64::NEG_INFINITY)] {
        refused(&twice(a, b), &["row 1, column 2 (\"x2\") is infinite"]);
    }
    let single = twice(0.0, 0.0).with("data", singles(&[f32::MAX, f32::MAX]));
    refused(&single, &["row 1, column 2 (\"x2\") is infinite"]);
    refused(&twice(1.0, f64::NAN), &["1 cell is missing (NaN), the first at row 1, column 2"]);
}

#[test]
fn archives_that_are_damaged() {
    let whole = good().packed(true);
    refused_bytes(&whole[..whole.len() - 30], &["its archive cannot be read", "complete zip archive"]);
    refused_bytes(b"PK\x03\x04", &["its archive cannot be read"]);
    refused_bytes(b"1,2\n3,4\n", &["its archive cannot be read"]);
    refused_bytes(b"", &["it is empty (0 bytes)"]);
    refused_bytes(&Matrix(Vec::new()).packed(false), &["a zip archive without a .npy member"]);
    let error = read_sparse(Path::new("no-such-file.npz")).expect_err("no file");
    assert!(error.to_string().starts_with("no-such-file.npz: cannot be read"), "{error}");
}

/// Whatever happens to the bytes, the answer is a sound table or an error, never a panic.
#[test]
fn damaged_bytes_are_never_fatal() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: PathBuf = folder.path().join("bad.npz");
    let attempt = |bytes: &[u8]| {
        // A new file each time: rewriting one in place waits for the disk on some file systems.
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).expect("a file");
        let _ = is_sparse(&path);
        if let Ok(table) = read_sparse(&path) {
            assert_sound(&table);
        }
    };
    for name in ["csr_f64_compressed.npz", "csc_f32_stored_zeros.npz"] {
        let good = fs::read(fixtures.join(name)).expect("a fixture");
        for at in 0..good.len() {
            for change in [0x01, 0x80, 0xFF] {
                let mut bad = good.clone();
                bad[at] ^= change;
                attempt(&bad);
            }
            attempt(&good[..at]);
        }
    }
}
