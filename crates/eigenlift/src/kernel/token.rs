//! Words, numbers and signs: the level that kernel descriptions and formulas share.

use crate::error::{Error, Result};

/// Longest text that is read, in bytes: room for a formula over thousands of variables, not for a flood.
pub(super) const MAX_LENGTH: usize = 1 << 16;

/// Deepest nesting that is read, so that hostile text cannot exhaust the call stack.
pub(super) const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// Unsigned, finite.
    Number(f64),
    /// A letter or `_`, then letters, digits and `_`.
    Name(&'a str),
    /// Any other character; `**` is read as `^`.
    Symbol(char),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    /// Byte offset of the first character.
    pub(super) start: usize,
    /// Byte offset just behind the last character.
    pub(super) end: usize,
}

/// A place in a text, from which tokens are read one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// Byte offset, always at a character boundary.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The next token, which stays where it is; `None` at the end of the text.
    pub(super) fn peek(&self) -> Result<Option<Token<'a>>> {
        let rest = self.rest().trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (kind, length) = if let Some(length) = number_length(rest) {
            (Kind::Number(self.number(start, &rest[..length])?), length)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            (Kind::Name(&rest[..length]), length)
        } else if rest.starts_with("**") {
            (Kind::Symbol('^'), 2)
        } else {
            (Kind::Symbol(first), first.len_utf8())
        };
        Ok(Some(Token { kind, start, end: start + length }))
    }

    /// The next token; the cursor moves behind it.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>> {
        let token = self.peek()?;
        self.at = token.map_or(self.text.len(), |t| t.end);
        Ok(token)
    }

    /// Moves behind `symbol` if it comes next, and says where it stood.
    pub(super) fn accept(&mut self, symbol: char) -> Result<Option<usize>> {
        match self.peek()? {
            Some(token) if token.kind == Kind::Symbol(symbol) => {
                self.at = token.end;
                Ok(Some(token.start))
            }
            _ => Ok(None),
        }
    }

    /// Position of a byte offset for people: characters, from 1.
    pub(super) fn position(&self, offset: usize) -> usize {
        self.text.get(..offset).unwrap_or(self.text).chars().count() + 1
    }

    /// The token as text, quoted, with its position.
    pub(super) fn show(&self, token: Token<'_>) -> String {
        let text = self.text.get(token.start..token.end).unwrap_or("");
        format!("'{}' at position {}", clip(text), self.position(token.start))
    }

    fn number(&self, start: usize, text: &str) -> Result<f64> {
        let value = text.parse::<f64>().unwrap_or(f64::INFINITY);
        if value.is_finite() {
            return Ok(value);
        }
        Err(bad(
            format!("the number '{}' at position {} is too large", clip(text), self.position(start)),
            "numbers must be below 1.8e308 in magnitude",
            "Write a smaller number.",
        ))
    }
}

/// Length of the number at the start of `text`: digits, at most one point, an exponent only if complete.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    }
    if end == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}

/// The shortest text that is read back as the same number.
pub(super) fn number_text(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

/// Text for an error message: control characters escaped, at most 40 characters.
pub(super) fn clip(text: &str) -> String {
    let mut shown: String = text.chars().take(40).flat_map(|c| c.escape_debug()).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

/// An error about a kernel description, in three parts.
pub(super) fn bad(found: impl Into<String>, required: impl Into<String>, action: impl Into<String>) -> Error {
    Error::Kernel { found: found.into(), required: required.into(), action: action.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        let mut cursor = Cursor::new(text);
        std::iter::from_fn(|| cursor.next().unwrap()).map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_take_an_exponent_only_when_it_is_complete() {
        assert_eq!(kinds("1e-3*x1"), [Kind::Number(1e-3), Kind::Symbol('*'), Kind::Name("x1")]);
        assert_eq!(kinds("1e"), [Kind::Number(1.0), Kind::Name("e")]);
        assert_eq!(kinds("2.5E+3 .5 4."), [Kind::Number(2500.0), Kind::Number(0.5), Kind::Number(4.0)]);
        assert_eq!(kinds("1.2.3"), [Kind::Number(1.2), Kind::Number(0.3)]);
        assert_eq!(kinds("."), [Kind::Symbol('.')]);
    }

    #[test]
    fn names_are_whole_words() {
        assert_eq!(
            kinds("x1e5 _a**é"),
            [Kind::Name("x1e5"), Kind::Name("_a"), Kind::Symbol('^'), Kind::Symbol('é')]
        );
    }

    #[test]
    fn number_text_is_short_and_exact() {
        for (value, text) in
            [(1.0, "1"), (0.1, "0.1"), (1e300, "1e300"), (2.5e-7, "2.5e-7"), (-0.5, "-0.5"), (0.0, "0")]
        {
            assert_eq!(number_text(value), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn a_number_beyond_the_range_is_an_error() {
        assert_eq!(
            Cursor::new(" 1e999").peek().unwrap_err().to_string(),
            "the number '1e999' at position 2 is too large; numbers must be below 1.8e308 in magnitude. \
             Write a smaller number."
        );
    }

    #[test]
    fn clip_escapes_and_shortens() {
        assert_eq!(clip("a\nb"), "a\\nb");
        assert_eq!(clip(&"é".repeat(41)), "é".repeat(40) + "…");
    }
}
