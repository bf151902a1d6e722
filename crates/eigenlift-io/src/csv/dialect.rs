//! Recognises the delimiter of a text.

use super::records::{Delimiter, Record, Records};
use crate::bytes::complete_lines;
use crate::cell::{Content, DecimalMark, classify};

/// How many records are looked at.
const N_SAMPLED: usize = 200;

/// Candidates, the earlier one winning a tie: a comma may be a decimal mark, so it comes after the others.
const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b'|'),
    Delimiter::Byte(b','),
    Delimiter::Blanks,
];

/// What a delimiter makes of the first records of a text.
struct Trial {
    delimiter: Delimiter,
    /// Records with as many cells as the first.
    n_agreeing: usize,
    n_records: usize,
    n_cells_first: usize,
    /// Cells that are numbers or missing, as a share of all cells.
    number_share: f64,
}

/// Recognises the delimiter from the first bytes of a text: the one that gives every line the same number of cells,
/// and of several such the one that makes most cells numbers. Runs of blanks count only where no other does.
/// `complete` tells that `head` is the whole text, so that its last line is not cut off.
pub(crate) fn detect(head: &[u8], complete: bool) -> Delimiter {
    let sample = if complete { head } else { complete_lines(head) };
    let trials: Vec<Trial> = CANDIDATES
        .iter()
        .map(|&delimiter| try_delimiter(sample, delimiter))
        .filter(|trial| trial.n_cells_first > 1)
        .collect();
    let consistent = |trial: &&Trial| trial.n_agreeing == trial.n_records;
    let bytes = || trials.iter().filter(|trial| trial.delimiter != Delimiter::Blanks);
    let by_numbers =
        |best: Option<&'_ Trial>, trial: &'_ Trial| best.is_none_or(|b| trial.number_share > b.number_share);
    let mut best: Option<&Trial> = None;
    for trial in bytes().filter(consistent) {
        if by_numbers(best, trial) {
            best = Some(trial);
        }
    }
    let best = best
        .or_else(|| trials.iter().find(|trial| trial.delimiter == Delimiter::Blanks && consistent(trial)))
        .or_else(|| most_agreeing(bytes()))
        .or_else(|| most_agreeing(trials.iter().filter(|trial| 2 * trial.n_agreeing > trial.n_records)));
    best.map_or(Delimiter::Byte(b','), |trial| trial.delimiter)
}

/// How many cells commas make of every line, where the delimiter that was given makes one of each: then a comma between two
/// columns would be read as a decimal mark. A column of decimal commas with a header without one is not meant: there the lines
/// disagree.
pub(crate) fn cells_by_comma(head: &[u8], complete: bool, given: Delimiter) -> Option<usize> {
    let comma = Delimiter::Byte(b',');
    let sample = if complete { head } else { complete_lines(head) };
    let of = |delimiter| {
        Some(try_delimiter(sample, delimiter)).filter(|trial| trial.n_agreeing == trial.n_records)
    };
    let given = of(given).filter(|trial| trial.delimiter != comma && trial.n_cells_first == 1)?;
    of(comma)
        .filter(|trial| trial.n_records == given.n_records && trial.n_cells_first > 1)
        .map(|trial| trial.n_cells_first)
}

fn most_agreeing<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<&'a Trial> {
    // `rev` because `max_by_key` takes the last of equals.
    let trials: Vec<&Trial> = trials.collect();
    trials.into_iter().rev().max_by_key(|trial| trial.n_agreeing)
}

fn try_delimiter(sample: &[u8], delimiter: Delimiter) -> Trial {
    let mut records = Records::new(sample, "", delimiter);
    let mut record = Record::default();
    let mut trial = Trial { delimiter, n_agreeing: 0, n_records: 0, n_cells_first: 0, number_share: 0.0 };
    let (mut n_cells, mut n_numbers) = (0_usize, 0_usize);
    while trial.n_records < N_SAMPLED && records.read(&mut record).unwrap_or(false) {
        if trial.n_records == 0 {
            trial.n_cells_first = record.n_cells();
        }
        trial.n_records += 1;
        trial.n_agreeing += usize::from(record.n_cells() == trial.n_cells_first);
        if let Ok(text) = record.text("") {
            for cell in record.cells(text) {
                n_cells += 1;
                let mut mark = decimal_mark(delimiter);
                n_numbers +=
                    usize::from(matches!(classify(cell, &mut mark), Content::Number(_) | Content::Missing));
            }
        }
    }
    trial.number_share = n_numbers as f64 / n_cells.max(1) as f64;
    trial
}

/// The decimal marks that a delimiter leaves possible.
pub(crate) fn decimal_mark(delimiter: Delimiter) -> DecimalMark {
    if delimiter == Delimiter::Byte(b',') { DecimalMark::Point } else { DecimalMark::Open }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognised() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", Delimiter::Byte(b',')),
            ("a;b\n1,5;2,5\n", Delimiter::Byte(b';')),
            ("1,5;2,5\n3,5;4,5\n", Delimiter::Byte(b';')),
            ("a\tb c\n1\t2\n", Delimiter::Byte(b'\t')),
            ("a|b\n1|2\n", Delimiter::Byte(b'|')),
            ("1 2  3\n4   5 6\n", Delimiter::Blanks),
            ("1, 2, 3\n4, 5, 6\n", Delimiter::Byte(b',')),
            ("x\n1\n2\n", Delimiter::Byte(b',')),
            ("petal width\n1\n2\n", Delimiter::Byte(b',')),
            ("\"a;b\",c\n\"d;e\",2\n", Delimiter::Byte(b',')),
            ("a;b,1\nc;d,2\n", Delimiter::Byte(b',')),
            ("a,b,c\n1,2,3\n1,2\n", Delimiter::Byte(b',')),
            ("1 2\n3 4\n5\n", Delimiter::Blanks),
            ("name,x\nNew York,1\nLos Angeles,2\n", Delimiter::Byte(b',')),
        ] {
            assert_eq!(detect(text.as_bytes(), true), delimiter, "{text:?}");
        }
    }

    #[test]
    fn commas_between_columns_are_not_decimal_marks() {
        let tab = Delimiter::Byte(b'\t');
        for (text, found) in [
            ("a,b\n1,2\n3,4\n", Some(2)),
            ("1,2\n3,4\n", Some(2)),
            ("a,b,c\n1,2,3\n", Some(3)),
            ("price\n1,5\n2,5\n", None),
            ("\"price, net\"\n1,5\n2,5\n", None),
            ("1,5\n2\n", None),
            ("a\tb,c\n1,2\t3\n", None),
            ("a\n1\n2\n", None),
        ] {
            assert_eq!(cells_by_comma(text.as_bytes(), true, tab), found, "{text:?}");
        }
        assert_eq!(cells_by_comma(b"a,b\n1,2\n", true, Delimiter::Byte(b',')), None);
        assert_eq!(cells_by_comma(b"a,b\n1,2\n3", false, tab), Some(2));
    }

    #[test]
    fn a_line_that_is_cut_off_does_not_count() {
        assert_eq!(detect(b"1;2;3\n4;5;6\n7;", false), Delimiter::Byte(b';'));
    }
}
