//! What is written is read back, bit for bit.

use std::path::Path;

use eigenlift_io::{Format, Output, ReadOptions, read_table, write_table};
use proptest::prelude::*;

fn names(n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("kpca{i}")).collect()
}

/// Formats that this build can write.
fn extensions() -> Vec<&'static str> {
    let mut all = vec!["csv", "tsv", "npy", "npz", "txt"];
    if cfg!(feature = "parquet") {
        all.push("parquet");
    }
    all
}

#[track_caller]
fn assert_same_bits(found: &[f64], wanted: &[f64], what: &str) {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(wanted), "{what}");
}

#[test]
fn numbers_and_text_in_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = names(2);
    let labels = ["red, dark", "say \"hi\"\nthere", " blank "].map(str::to_owned);
    let other = ["", "ä", "名前;|\t"].map(str::to_owned);
    let text: [(&str, &[String]); 2] = [("colour", &labels), ("X", &other)];
    let values = [1.0, -0.0, 0.1 + 0.2, f64::MAX, f64::MIN_POSITIVE / 8.0, -1e-300];
    for single in [false, true] {
        let values: Vec<f64> = if single {
            values.iter().map(|&v| f64::from((v as f32).min(f32::MAX))).collect()
        } else {
            values.to_vec()
        };
        let output =
            Output { text: &text, names: &names, n_rows: 3, values: &values, single_precision: single };
        for extension in extensions() {
            let path = folder.path().join(format!("scores.{extension}"));
            write_table(&path, &output, None).expect(extension);
            let table = read_table(&path, &ReadOptions::default()).expect(extension);
            if single && !matches!(extension, "csv" | "tsv" | "txt") {
                assert!(table.single_precision, "{extension}");
                assert_same_bits(&table.values, &values, extension);
            } else if !single {
                assert_same_bits(&table.values, &values, extension);
            }
            if extension != "npy" {
                assert_eq!(table.text.len(), 2, "{extension}");
                let trimmed: Vec<&str> = labels.iter().map(|label| label.trim()).collect();
                assert_eq!(table.text[0].values, trimmed, "{extension}");
                assert_eq!(table.text[1].values[1], "ä");
                assert_eq!(table.text[1].values[2], "名前;|\t".trim());
            }
            if !matches!(extension, "npy" | "npz") {
                assert_eq!(table.names, names, "{extension}");
            }
        }
    }
}

#[test]
fn many_rows_in_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = names(3);
    let n_rows = 140_000;
    let values: Vec<f64> = (0..n_rows * 3).map(|i| (i as f64).sqrt()).collect();
    let output = Output { names: &names, n_rows, values: &values, ..Output::default() };
    for extension in extensions() {
        let path = folder.path().join(format!("scores.{extension}"));
        write_table(&path, &output, None).expect(extension);
        let table = read_table(&path, &ReadOptions::default()).expect(extension);
        assert_eq!(table.n_rows, n_rows);
        assert_same_bits(&table.values, &values, extension);
    }
}

#[test]
fn tables_that_cannot_be_written() {
    let names = ["a".to_owned(), "a".to_owned()];
    let cells = ["u".to_owned()];
    let text: [(&str, &[String]); 1] = [("a", &cells)];
    let cases = [
        (
            Output { names: &names, n_rows: 1, values: &[1.0, 2.0], ..Output::default() },
            "two columns are called \"a\"",
        ),
        (
            Output { names: &names[..1], n_rows: 2, values: &[1.0], ..Output::default() },
            "1 numbers for 2 rows",
        ),
        (
            Output { text: &text, n_rows: 2, ..Output::default() },
            "the text column \"a\" has 1 cells for 2 rows",
        ),
        (Output { n_rows: 2, ..Output::default() }, "it has no columns"),
        (
            Output { text: &text, names: &names[..1], n_rows: 1, values: &[1.0], ..Output::default() },
            "two columns are called \"a\"",
        ),
    ];
    for (output, part) in cases {
        let error = write_table(Path::new("never-written.csv"), &output, None).expect_err(part);
        assert_eq!(error.kind(), eigenlift_io::ErrorKind::Usage);
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(!Path::new("never-written.csv").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_where_it_was_not_built() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, b"PAR1PAR1").expect("a file in it");
    let error = read_table(&path, &ReadOptions::default()).expect_err("no Parquet in this build");
    assert!(error.to_string().contains("--features parquet"), "{error}");
    let names = names(1);
    let output = Output { names: &names, n_rows: 1, values: &[1.0], ..Output::default() };
    let error = write_table(&path, &output, None).expect_err("no Parquet in this build");
    assert!(error.to_string().contains("--features parquet"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_finite_number_survives_as_text(
        values in prop::collection::vec(
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO | prop::num::f64::NEGATIVE, 1..40),
        tab in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        let names = names(1);
        let format = if tab { Format::Tsv } else { Format::Csv };
        let output = Output { names: &names, n_rows: values.len(), values: &values, ..Output::default() };
        write_table(&path, &output, Some(format)).expect("written");
        let table = read_table(&path, &ReadOptions::default()).expect("read");
        assert_same_bits(&table.values, &values, "text");
    }

    #[test]
    fn any_text_survives_in_quotes(labels in prop::collection::vec("\\PC{0,12}|[\",;\t \n|x]{0,6}", 2..12)) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.csv");
        let names = names(1);
        let text: [(&str, &[String]); 1] = [("label", &labels)];
        let values = vec![1.0; labels.len()];
        let output = Output { text: &text, names: &names, n_rows: labels.len(), values: &values, ..Output::default() };
        write_table(&path, &output, None).expect("written");
        let options = ReadOptions {
            target: Some("label".into()),
            columns: Some("kpca1".into()),
            delimiter: Some(b','),
            missing: eigenlift_io::Missing::Drop,
            ..ReadOptions::default()
        };
        let missing = ["", "na", "n/a", "nan", "null", "?"];
        let kept: Vec<&str> = labels
            .iter()
            .map(|label| label.trim())
            .filter(|label| !missing.contains(&label.to_ascii_lowercase().as_str()))
            .collect();
        prop_assume!(!kept.is_empty());
        let table = read_table(&path, &options).expect("read");
        prop_assert_eq!(table.target.expect("a target").values, kept);
    }
}
