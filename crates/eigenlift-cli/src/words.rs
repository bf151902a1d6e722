//! Words for people: on standard error, aligned, with units.

use eigenlift_io::{printable, printable_line};
use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

/// Speaks on standard error, or not at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    on: bool,
}

impl Words {
    /// Silent when `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { on: !quiet }
    }

    /// One line or more.
    pub(crate) fn say(self, text: impl Display) {
        if self.on {
            // When standard error is closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{}", printable(&text.to_string()));
        }
    }

    /// Something a person should see before using the result.
    pub(crate) fn warn(self, text: impl Display) {
        self.say(format_args!("warning: {text}"));
    }

    /// Something worth knowing.
    pub(crate) fn note(self, text: impl Display) {
        self.say(format_args!("note: {text}"));
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A number with four digits.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !(1e-4..1e6).contains(&x.abs()) {
        return if x == 0.0 { "0".into() } else { format!("{x:.3e}") };
    }
    let places = 3 - x.abs().log10().floor() as i32;
    format!("{x:.*}", usize::try_from(places).unwrap_or(0))
}

/// A number of bytes as people read it.
pub(crate) fn bytes(n: u128) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} bytes");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// The result of `work` and the seconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Rows of cells under a heading, columns aligned right, two blanks between them.
pub(crate) fn aligned(heading: &[&str], rows: &[Vec<String>]) -> String {
    aligned_with_text(heading, rows, &[])
}

/// As [`aligned`], the columns at the places given aligned left, as text is read.
pub(crate) fn aligned_with_text(heading: &[&str], rows: &[Vec<String>], text: &[usize]) -> String {
    let shown = |cell: &String| printable_line(cell).into_owned();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let pad = |(at, (cell, width)): (usize, (&&str, &usize))| {
            if text.contains(&at) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        let padded: Vec<String> = cells.iter().zip(&widths).enumerate().map(pad).collect();
        format!("  {}", padded.join("  ")).trim_end().to_string()
    };
    let mut lines = vec![line(heading.to_vec())];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}

/// `text` with every line moved right.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The most memory this process has held, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.0825049, "0.08250"),
            (7.85331, "7.853"),
            (-12345.6, "-12346"),
            (1e-7, "1.000e-7"),
            (2.5e9, "2.500e9"),
            (f64::NAN, "NaN"),
        ];
        for (x, text) in cases {
            assert_eq!(short(x), text);
        }
    }
}
