//! What one cell of text holds.

/// What a cell was understood as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Content {
    Missing,
    Number(f64),
    /// An infinity by name, or a number too large for double precision.
    Infinite,
    /// A number with the other decimal mark than the numbers before it.
    OtherMark,
    Text,
}

/// The decimal mark of a file, decided by the first number that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalMark {
    /// No number with a mark was seen yet; a comma is possible because it does not separate cells.
    Open,
    Point,
    Comma,
}

/// Whether a cell without surrounding blanks stands for a missing value.
pub(crate) fn is_missing(cell: &str) -> bool {
    cell.is_empty()
        || cell == "?"
        || (cell.len() <= 4
            && ["na", "n/a", "nan", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word)))
}

/// Understands a cell; the first number with a decimal mark decides `mark`.
pub(crate) fn classify(cell: &str, mark: &mut DecimalMark) -> Content {
    let cell = cell.trim();
    if let Ok(number) = cell.parse::<f64>() {
        return settle(number, cell.contains('.'), DecimalMark::Point, mark);
    }
    if is_missing(cell) {
        return Content::Missing;
    }
    match with_decimal_comma(cell) {
        Some(number) => settle(number, true, DecimalMark::Comma, mark),
        None => Content::Text,
    }
}

fn settle(number: f64, marked: bool, own: DecimalMark, mark: &mut DecimalMark) -> Content {
    if number.is_nan() {
        return Content::Missing;
    }
    if number.is_infinite() {
        return Content::Infinite;
    }
    if marked {
        if *mark == DecimalMark::Open {
            *mark = own;
        } else if *mark != own {
            return Content::OtherMark;
        }
    }
    Content::Number(number)
}

fn with_decimal_comma(cell: &str) -> Option<f64> {
    let (whole, fraction) = cell.split_once(',')?;
    if fraction.contains([',', '.']) || whole.contains('.') {
        return None;
    }
    format!("{whole}.{fraction}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        for (cell, number) in [
            ("1", 1.0),
            (" +2.5 ", 2.5),
            ("-.5", -0.5),
            ("5.", 5.0),
            ("1e-3", 1e-3),
            ("1E5", 1e5),
            ("-0", 0.0),
        ] {
            assert_eq!(classify(cell, &mut DecimalMark::Point.clone()), Content::Number(number), "{cell}");
        }
        for cell in ["1_000", "0x10", "1e", "--1", "1 2", "12.05.2020", "1,234,567", "1.234,5"] {
            assert_eq!(classify(cell, &mut DecimalMark::Open.clone()), Content::Text, "{cell}");
        }
    }

    #[test]
    fn missing_cells_and_infinities() {
        for cell in ["", "  ", "NA", "na", "N/A", "n/a", "NaN", "nan", "null", "NULL", " ? "] {
            assert_eq!(classify(cell, &mut DecimalMark::Open.clone()), Content::Missing, "{cell:?}");
        }
        for cell in ["inf", "-Inf", "+infinity", "Infinity", "1e999"] {
            assert_eq!(classify(cell, &mut DecimalMark::Open.clone()), Content::Infinite, "{cell}");
        }
    }

    #[test]
    fn the_first_mark_decides() {
        let mut mark = DecimalMark::Open;
        assert_eq!(classify("7", &mut mark), Content::Number(7.0));
        assert_eq!(classify("1,5", &mut mark), Content::Number(1.5));
        assert_eq!(mark, DecimalMark::Comma);
        assert_eq!(classify("1.5", &mut mark), Content::OtherMark);
        assert_eq!(classify(",5", &mut mark), Content::Number(0.5));
        let mut mark = DecimalMark::Point;
        assert_eq!(classify("1,5", &mut mark), Content::OtherMark);
    }
}
