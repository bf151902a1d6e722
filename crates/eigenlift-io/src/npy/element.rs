//! The kinds of array elements, and how their bytes become numbers.

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Number(NumberType),
    /// Text of so many UCS-4 characters.
    Text {
        n_chars: u64,
        big_endian: bool,
    },
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberType {
    family: Family,
    n_bytes: usize,
    big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Float,
    Signed,
    Unsigned,
    Bool,
}

impl Element {
    /// Understands a type such as `<f8`; `Err` says in words what it is instead.
    pub(crate) fn parse(descr: &str) -> Result<Self, String> {
        if descr.starts_with(['[', '(', '{']) {
            return Err("records with several fields".to_owned());
        }
        let code = descr.trim_matches(['\'', '"']);
        let (order, rest) = match code.chars().next() {
            Some(order @ ('<' | '>' | '|' | '=')) => (order, code.get(1..).unwrap_or_default()),
            _ => ('=', code),
        };
        let big_endian = order == '>' || (order == '=' && cfg!(target_endian = "big"));
        let mut chars = rest.chars();
        let letter = chars.next();
        let size: Option<u64> = chars.as_str().parse().ok();
        let number = |family, n_bytes| Ok(Self::Number(NumberType { family, n_bytes, big_endian }));
        match (letter, size) {
            (Some('f'), Some(n @ (2 | 4 | 8))) => number(Family::Float, n as usize),
            (Some('i'), Some(n @ (1 | 2 | 4 | 8))) => number(Family::Signed, n as usize),
            (Some('u'), Some(n @ (1 | 2 | 4 | 8))) => number(Family::Unsigned, n as usize),
            (Some('b' | '?'), Some(1) | None) => number(Family::Bool, 1),
            (Some('U'), Some(n_chars)) => Ok(Self::Text { n_chars, big_endian }),
            (Some('f'), _) => Err(format!("extended floating point ({code})")),
            (Some('c'), _) => Err(format!("complex numbers ({code})")),
            (Some('O'), _) => Err("Python objects (pickled)".to_owned()),
            (Some('S' | 'a'), _) => Err(format!("byte strings ({code})")),
            (Some('M' | 'm'), _) => Err(format!("dates or times ({code})")),
            (Some('V'), _) => Err(format!("raw bytes ({code})")),
            _ => Err(format!("the unknown type {descr}")),
        }
    }

    pub(crate) fn n_bytes(self) -> u64 {
        match self {
            Self::Number(number) => number.n_bytes as u64,
            Self::Text { n_chars, .. } => n_chars.saturating_mul(4),
        }
    }

    /// Whether these are whole numbers; truth values are not.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Number(NumberType { family: Family::Signed | Family::Unsigned, .. }))
    }

    /// Whether these are truth values.
    pub(crate) fn is_bool(self) -> bool {
        matches!(self, Self::Number(NumberType { family: Family::Bool, .. }))
    }

    /// Whether the numbers have single precision or less.
    pub(crate) fn is_single(self) -> bool {
        matches!(self, Self::Number(NumberType { family: Family::Float, n_bytes: 2 | 4, .. }))
    }
}

impl NumberType {
    pub(crate) fn n_bytes(self) -> usize {
        self.n_bytes
    }

    /// Whether these are integers that double precision may not hold.
    pub(crate) fn is_long(self) -> bool {
        self.n_bytes == 8 && matches!(self.family, Family::Signed | Family::Unsigned)
    }

    /// The numbers in the bytes of elements that follow each other.
    pub(crate) fn decode(self, bytes: &[u8], numbers: &mut Vec<f64>) {
        numbers.clear();
        match (self.family, self.n_bytes) {
            (Family::Float, 8) => self.each::<8>(bytes, numbers, f64::from_le_bytes),
            (Family::Float, 4) => self.each::<4>(bytes, numbers, |b| f64::from(f32::from_le_bytes(b))),
            (Family::Float, _) => self.each::<2>(bytes, numbers, |b| from_half(u16::from_le_bytes(b))),
            (Family::Signed, 1) => self.each::<1>(bytes, numbers, |b| f64::from(i8::from_le_bytes(b))),
            (Family::Signed, 2) => self.each::<2>(bytes, numbers, |b| f64::from(i16::from_le_bytes(b))),
            (Family::Signed, 4) => self.each::<4>(bytes, numbers, |b| f64::from(i32::from_le_bytes(b))),
            (Family::Signed, _) => self.each::<8>(bytes, numbers, |b| i64::from_le_bytes(b) as f64),
            (Family::Unsigned, 1) => self.each::<1>(bytes, numbers, |[b]| f64::from(b)),
            (Family::Unsigned, 2) => self.each::<2>(bytes, numbers, |b| f64::from(u16::from_le_bytes(b))),
            (Family::Unsigned, 4) => self.each::<4>(bytes, numbers, |b| f64::from(u32::from_le_bytes(b))),
            (Family::Unsigned, _) => self.each::<8>(bytes, numbers, |b| u64::from_le_bytes(b) as f64),
            (Family::Bool, _) => self.each::<1>(bytes, numbers, |[b]| f64::from(u8::from(b != 0))),
        }
    }

    /// Turns each element, its bytes in little-endian order, into a number.
    fn each<const N: usize>(self, bytes: &[u8], numbers: &mut Vec<f64>, number: impl Fn([u8; N]) -> f64) {
        let (elements, _) = bytes.as_chunks::<N>();
        if self.big_endian {
            numbers.extend(elements.iter().map(|element| {
                let mut element = *element;
                element.reverse();
                number(element)
            }));
        } else {
            numbers.extend(elements.iter().map(|element| number(*element)));
        }
    }
}

/// Half precision: 1 sign bit, 5 bits of exponent with bias 15, 10 bits of fraction.
fn from_half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> 10) & 0x1F);
    let fraction = f64::from(bits & 0x3FF);
    match exponent {
        0 => sign * fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(descr: &str, bytes: &[u8]) -> f64 {
        match Element::parse(descr) {
            Ok(Element::Number(number)) => {
                let mut numbers = Vec::new();
                number.decode(bytes, &mut numbers);
                numbers[0]
            }
            other => panic!("{descr}: {other:?}"),
        }
    }

    #[test]
    fn every_type_of_numbers() {
        assert_eq!(decode("'<f8'", &1.5_f64.to_le_bytes()), 1.5);
        assert_eq!(decode("'>f8'", &1.5_f64.to_be_bytes()), 1.5);
        assert_eq!(decode("'<f4'", &0.1_f32.to_le_bytes()), f64::from(0.1_f32));
        assert_eq!(decode("'>f4'", &0.1_f32.to_be_bytes()), f64::from(0.1_f32));
        assert_eq!(decode("'|i1'", &[0xFF]), -1.0);
        assert_eq!(decode("'<i2'", &(-300_i16).to_le_bytes()), -300.0);
        assert_eq!(decode("'>i4'", &(-70000_i32).to_be_bytes()), -70000.0);
        assert_eq!(decode("'<i8'", &(-5_i64).to_le_bytes()), -5.0);
        assert_eq!(decode("'|u1'", &[200]), 200.0);
        assert_eq!(decode("'<u2'", &60000_u16.to_le_bytes()), 60000.0);
        assert_eq!(decode("'<u4'", &4_000_000_000_u32.to_le_bytes()), 4e9);
        assert_eq!(decode("'<u8'", &(1_u64 << 60).to_le_bytes()), 2.0_f64.powi(60));
        assert_eq!(decode("'|b1'", &[1]), 1.0);
    }

    #[test]
    fn half_precision() {
        for (bits, value) in [(0x3C00, 1.0), (0xC000, -2.0), (0x7BFF, 65504.0), (0x0001, 2.0_f64.powi(-24))] {
            assert_eq!(decode("'<f2'", &u16::to_le_bytes(bits)), value);
        }
        assert!(decode("'<f2'", &0x7E00_u16.to_le_bytes()).is_nan());
        assert_eq!(decode("'<f2'", &0x7C00_u16.to_le_bytes()), f64::INFINITY);
    }
}
