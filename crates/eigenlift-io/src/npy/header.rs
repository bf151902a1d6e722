//! The header of an NPY file: version, type, order, shape.

use std::io::Read;

use super::element::Element;
use crate::error::{Report, Result, TableError, quoted};

/// No real header comes near this length.
const LONGEST_HEADER: u64 = 1 << 20;

/// The header of an NPY file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The type of the elements as written.
    descr: String,
    fortran: bool,
    pub(crate) shape: Vec<u64>,
    /// Bytes before the data.
    pub(crate) n_bytes: u64,
}

impl Header {
    /// Reads a header and stops at the first byte of the data.
    pub(crate) fn read<R: Read + ?Sized>(reader: &mut R, file: &str) -> Result<Self> {
        let magic: [u8; 8] = exactly(reader, file)?;
        if !magic.starts_with(b"\x93NUMPY") {
            return Err(damaged(file, "it does not begin with \\x93NUMPY, so it is not an NPY file"));
        }
        let [.., major, minor] = magic;
        let (length, length_bytes) = match major {
            1 => (u64::from(u16::from_le_bytes(exactly(reader, file)?)), 2),
            2 | 3 => (u64::from(u32::from_le_bytes(exactly(reader, file)?)), 4),
            _ => return Err(damaged(file, &format!("it is an NPY file of version {major}.{minor}"))),
        };
        if length > LONGEST_HEADER {
            return Err(damaged(file, &format!("its header claims to be {length} bytes long")));
        }
        let mut text = Vec::new();
        reader.take(length).read_to_end(&mut text).map_err(|error| TableError::unreadable(file, error))?;
        if (text.len() as u64) < length {
            return Err(damaged(
                file,
                &format!(
                    "its header claims to be {length} bytes long, and the file ends after {}",
                    text.len()
                ),
            ));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let n_bytes = 8 + length_bytes + length;
        Self::parse(&text, n_bytes).ok_or_else(|| {
            damaged(file, &format!("its header is not one that can be understood: {}", quoted(text.trim())))
        })
    }

    /// Understands `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str, n_bytes: u64) -> Option<Self> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (key, after) = rest.split_once(':')?;
            let (value, after) = split_value(after)?;
            match key.trim().trim_matches(['\'', '"']) {
                "descr" => descr = Some(value.trim().to_owned()),
                "fortran_order" => fortran = Some(value.trim() == "True"),
                "shape" => shape = parse_shape(value),
                _ => return None,
            }
            rest = after.trim();
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape?, n_bytes })
    }

    /// The type of the elements.
    pub(crate) fn element(&self, file: &str) -> Result<Element> {
        Element::parse(&self.descr).map_err(|found| {
            TableError::Binary(Report::new(
                file,
                format!("its array holds {found}"),
                "a table must hold real numbers of at most 8 bytes",
                "Convert the array with astype(float) and save it again",
            ))
        })
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(Element::parse(&self.descr), Ok(Element::Text { .. }))
    }

    pub(crate) fn is_fortran(&self) -> bool {
        self.fortran
    }

    /// The array as a table: number of rows and of columns.
    pub(crate) fn table_shape(&self, file: &str) -> Result<(u64, u64)> {
        match *self.shape.as_slice() {
            [n_rows] => Ok((n_rows, 1)),
            [n_rows, n_columns] => Ok((n_rows, n_columns)),
            _ => Err(TableError::Binary(Report::new(
                file,
                format!("its array has {} dimensions, shape {}", self.shape.len(), self.shape_text()),
                "a table must have 1 or 2 dimensions",
                "Reshape the array to one row per sample and save it again",
            ))),
        }
    }

    /// The bytes that the data must take.
    pub(crate) fn data_bytes(&self, file: &str, element: Element) -> Result<u64> {
        let bytes = self.shape.iter().try_fold(element.n_bytes(), |bytes, &length| bytes.checked_mul(length));
        bytes.ok_or_else(|| {
            damaged(
                file,
                &format!("its shape {} has more elements than any file can hold", self.shape_text()),
            )
        })
    }

    /// The shape as Python writes it.
    pub(crate) fn shape_text(&self) -> String {
        let lengths: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        if lengths.len() == 1 {
            format!("({},)", lengths.concat())
        } else {
            format!("({})", lengths.join(", "))
        }
    }
}

/// An NPY file or member that is damaged.
pub(crate) fn damaged(file: &str, found: &str) -> TableError {
    TableError::Binary(Report::new(
        file,
        found,
        "an NPY array must have a header of version 1, 2 or 3 and all the data that it announces",
        "Write the file again, for example with numpy.save",
    ))
}

fn exactly<const N: usize, R: Read + ?Sized>(reader: &mut R, file: &str) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match reader.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err(damaged(file, "it ends inside the header"))
        }
        Err(error) => Err(TableError::unreadable(file, error)),
    }
}

/// Splits at the first comma outside brackets and quotes.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            _ => {}
        }
    }
    (depth == 0 && quote.is_none()).then_some((text, ""))
}

fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let lengths = inner.split(',').map(|length| length.trim().trim_end_matches('L'));
    lengths.filter(|length| !length.is_empty()).map(|length| length.parse().ok()).collect()
}
