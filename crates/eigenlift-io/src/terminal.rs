//! Text on its way to a person's screen.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text without what a terminal would obey instead of show: control characters other than line end and tab, and marks
/// that turn the direction of writing, come out escaped, such as `\u{1b}`.
///
/// Names of columns, files and classes come from files that somebody else may have written.
///
/// ```
/// assert_eq!(eigenlift_io::printable("a\u{1b}[31mb"), "a\\u{1b}[31mb");
/// assert_eq!(eigenlift_io::printable("two\nlines"), "two\nlines");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && c != '\t')
}

/// As [`printable`], on one line: line ends and tabs are escaped, too.
///
/// ```
/// assert_eq!(eigenlift_io::printable_line("a\nwarning: b"), "a\\nwarning: b");
/// ```
#[must_use]
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| true)
}

fn escaped(text: &str, but: impl Fn(char) -> bool) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && but(c))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if obeyed(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Standard output when it is a terminal: text is made [`printable`] on the way.
pub(crate) struct Terminal<W> {
    sink: W,
    /// The first bytes of a character whose others are still to come.
    rest: Vec<u8>,
}

impl<W: Write> Terminal<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, rest: Vec::new() }
    }
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A character has at most four bytes.
        const LONGEST: usize = 3;
        let all = [&std::mem::take(&mut self.rest)[..], bytes].concat();
        let mut at = 0;
        for chunk in all.utf8_chunks() {
            self.sink.write_all(printable(chunk.valid()).as_bytes())?;
            at += chunk.valid().len() + chunk.invalid().len();
            if at == all.len() && chunk.invalid().len() <= LONGEST && !chunk.invalid().is_empty() {
                self.rest = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.sink.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let obeyed = "\u{1b}[2J \u{7}\r\u{8}\u{7f}\u{9b}31m \u{202e}x";
        let shown = "\\u{1b}[2J \\u{7}\\r\\u{8}\\u{7f}\\u{9b}31m \\u{202e}x";
        assert_eq!(printable(obeyed), shown);
        assert_eq!(printable_line("a\tb\nc"), "a\\tb\\nc");
        assert!(matches!(printable("é, 日本\t\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn characters_may_come_in_parts() {
        let text = "é日\u{1b}[0m\u{9b}end\n";
        for step in 1..5 {
            let mut out = Vec::new();
            let mut terminal = Terminal::new(&mut out);
            text.as_bytes().chunks(step).for_each(|part| terminal.write_all(part).expect("a write"));
            terminal.flush().expect("a flush");
            assert_eq!(String::from_utf8(out).expect("text"), "é日\\u{1b}[0m\\u{9b}end\n", "{step}");
        }
    }
}
