//! Sparse matrices that SciPy wrote: `fixtures/sparse.py` made them with SciPy 1.17.1.

use std::fs;
use std::path::{Path, PathBuf};

use eigenlift_io::{SparseTable, is_sparse, read_sparse};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// All cells, row by row.
fn dense(table: &SparseTable) -> Vec<Vec<f64>> {
    (0..table.n_rows)
        .map(|row| {
            let mut cells = vec![0.0; table.n_cols];
            let (columns, values) = table.row(row).expect("a row");
            columns.iter().zip(values).for_each(|(&column, &value)| cells[column as usize] = value);
            cells
        })
        .collect()
}

#[test]
fn rows_in_double_precision_and_compressed() {
    let table = read_sparse(&fixture("csr_f64_compressed.npz")).expect("a sparse table");
    let expected = [
        [0.0, 1.5, 0.0, -2.0],
        [0.0, 0.0, 0.0, 0.0],
        [3.0, 0.0, 0.1, 0.0],
        [0.0, 0.0, 0.0, 1e300],
        [7.0, 8.0, 9.0, 10.0],
    ];
    assert_eq!((table.n_rows, table.n_cols, table.single_precision), (5, 4, false));
    assert_eq!(dense(&table), expected);
    assert_eq!(table.offsets, [0, 2, 2, 4, 5, 9]);
    assert_eq!(table.row(5), None);
}

#[test]
fn columns_in_single_precision_with_zeros_that_are_stored() {
    let table = read_sparse(&fixture("csc_f32_stored_zeros.npz")).expect("a sparse table");
    let single = |value: f32| f64::from(value);
    let expected = [[single(0.1), 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, single(0.3), 4.0]];
    assert_eq!((table.n_rows, table.n_cols, table.single_precision), (4, 3, true));
    assert_eq!(dense(&table), expected);
    assert_eq!((table.offsets, table.columns), (vec![0, 2, 2, 2, 4], vec![0, 2, 1, 2]));
}

#[test]
fn what_is_sparse_is_known_by_its_members() {
    assert!(is_sparse(&fixture("csr_f64_compressed.npz")));
    assert!(is_sparse(&fixture("csc_f32_stored_zeros.npz")));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dense_path = folder.path().join("dense.npz");
    let names = ["data".to_owned()];
    let output = eigenlift_io::Output { names: &names, n_rows: 2, values: &[1.0, 2.0], ..Default::default() };
    eigenlift_io::write_table(&dense_path, &output, None).expect("a dense table");
    let bytes = fs::read(fixture("csr_f64_compressed.npz")).expect("its bytes");
    let others: [(&str, &[u8]); 4] = [
        ("text.npz", b"format,shape,data,indptr\n1,2,3,4\n"),
        ("empty.npz", b""),
        ("cut.npz", &bytes[..bytes.len() / 2]),
        ("magic.npz", b"PK\x03\x04"),
    ];
    for (name, bytes) in others {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("a file");
        assert!(!is_sparse(&path), "{name}");
    }
    let without_extension = folder.path().join("counts");
    fs::write(&without_extension, &bytes).expect("a file");
    assert!(is_sparse(&without_extension));
    let member = fixture("csr_f64_compressed.npz:data");
    for path in [&dense_path, folder.path(), Path::new("-"), Path::new("no-such-file.npz"), &member] {
        assert!(!is_sparse(path), "{}", path.display());
    }
}
