//! Reading a kernel description.
//!
//! ```text
//! spec   := term ('+' term)*
//! term   := factor ('*' factor)*
//! factor := ['-'] number | name ['(' arguments ')'] | '(' spec ')'
//! ```

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::kernel::catalog::{self, CATALOG};
use crate::kernel::entry::{KernelEntry, Profile};
use crate::kernel::formula::Formula;
use crate::kernel::spec::KernelSpec;
use crate::kernel::token::{Cursor, Kind, MAX_DEPTH, MAX_LENGTH, Token, bad, clip};

mod arguments;
use arguments::Arguments;

impl FromStr for KernelSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.len() > MAX_LENGTH {
            return Err(bad(
                format!("the kernel description has {} bytes", text.len()),
                format!("at most {MAX_LENGTH} are read"),
                "Shorten it, or compute the kernel matrix yourself and use precomputed.",
            ));
        }
        if text.trim().is_empty() {
            return Err(bad(
                "the kernel description is empty",
                format!("a kernel is one of {}", all_names()),
                "Write one, such as rbf(gamma=median).",
            ));
        }
        let mut parser = Parser { cursor: Cursor::new(text), depth: 0 };
        let spec = parser.sum()?;
        if let Some(token) = parser.cursor.peek()? {
            return Err(parser.trailing(token));
        }
        spec.validate()?;
        Ok(spec)
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: usize,
}

/// A part of a product.
enum Factor {
    Number(f64),
    Kernel(KernelSpec),
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<KernelSpec> {
        let mut terms = vec![self.term()?];
        while self.cursor.accept('+')?.is_some() {
            terms.push(self.term()?);
        }
        Ok(KernelSpec::sum(terms))
    }

    fn term(&mut self) -> Result<KernelSpec> {
        let start = self.cursor.at;
        let (mut scale, mut kernels) = (None, Vec::new());
        loop {
            match self.factor()? {
                Factor::Number(number) => scale = Some(scale.unwrap_or(1.0) * number),
                Factor::Kernel(kernel) => kernels.push(kernel),
            }
            if self.cursor.accept('*')?.is_none() {
                break;
            }
        }
        if kernels.is_empty() {
            let text = self.cursor.text.get(start..self.cursor.at).unwrap_or("").trim();
            return Err(bad(
                format!("'{}' is a number, not a kernel", clip(text)),
                "a number may only multiply a kernel",
                "Write a kernel behind it, as in 0.5*linear; a constant kernel is expr(0.5).",
            ));
        }
        let product = KernelSpec::product(kernels);
        Ok(match scale {
            Some(number) => product.scaled(number),
            None => product,
        })
    }

    fn factor(&mut self) -> Result<Factor> {
        let Some(token) = self.cursor.next()? else { return Err(self.expected_kernel(None)) };
        match token.kind {
            Kind::Number(number) => Ok(Factor::Number(number)),
            Kind::Symbol('-') => match self.cursor.next()?.map(|behind| behind.kind) {
                Some(Kind::Number(number)) => Ok(Factor::Number(-number)),
                _ => Err(bad(
                    format!("{} has no number behind it", self.cursor.show(token)),
                    "a minus sign belongs to a number",
                    "Write -1*linear for the negative of a kernel.",
                )),
            },
            Kind::Symbol('(') => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(bad(
                        format!("{} opens level {} of parentheses", self.cursor.show(token), self.depth),
                        format!("at most {MAX_DEPTH} levels are read"),
                        "Remove parentheses that are not needed.",
                    ));
                }
                let inner = self.sum()?;
                self.close(token.start, "+, * or ')'")?;
                self.depth -= 1;
                Ok(Factor::Kernel(inner))
            }
            Kind::Name(name) => self.kernel(name, token).map(Factor::Kernel),
            Kind::Symbol(_) => Err(self.expected_kernel(Some(token))),
        }
    }

    fn kernel(&mut self, name: &str, token: Token<'_>) -> Result<KernelSpec> {
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "nan" | "inf" | "infinity") {
            return Err(bad(
                format!("{} is not a finite number", self.cursor.show(token)),
                "the number in front of a kernel must be finite and not 0",
                "Give another number.",
            ));
        }
        let Some(entry) = catalog::find(&lower) else { return Err(self.unknown_kernel(&lower, token)) };
        let open = self.cursor.accept('(')?;
        match entry.profile {
            Profile::Map => self.formulas(entry, open, map),
            Profile::Expr => self.formulas(entry, open, expr),
            Profile::Precomputed => self.arguments(entry, open).map(|_| KernelSpec::Precomputed),
            Profile::Auto => self.arguments(entry, open).map(|_| KernelSpec::Auto),
            Profile::Inner(_) | Profile::Norms(_) | Profile::Distance(_) | Profile::Coordinate(_) => {
                self.arguments(entry, open)?.build().map(KernelSpec::Named)
            }
        }
    }

    fn arguments(&mut self, entry: &'static KernelEntry, open: Option<usize>) -> Result<Arguments> {
        let mut arguments = Arguments::new(entry);
        if let Some(open) = open {
            arguments.read(&mut self.cursor)?;
            self.close(open, "',' or ')'")?;
        }
        Ok(arguments)
    }

    /// The formulas of `map` and `expr`: text up to the matching parenthesis, split at the commas outside
    /// others.
    fn formulas(
        &mut self,
        entry: &KernelEntry,
        open: Option<usize>,
        make: fn(&[&str]) -> Result<KernelSpec>,
    ) -> Result<KernelSpec> {
        let Some(open) = open else { return Err(no_formula(entry)) };
        let rest = self.cursor.rest();
        let (mut texts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
        for (i, c) in rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                ',' | ')' if depth == 0 => {
                    texts.push(&rest[start..i]);
                    start = i + 1;
                    if c == ')' {
                        self.cursor.at += start;
                        if matches!(texts.as_slice(), [text] if text.trim().is_empty()) {
                            return Err(no_formula(entry));
                        }
                        return make(&texts);
                    }
                }
                _ => {}
            }
        }
        Err(self.unclosed(open))
    }

    fn close(&mut self, open: usize, expected: &str) -> Result<()> {
        if self.cursor.accept(')')?.is_some() {
            return Ok(());
        }
        match self.cursor.peek()? {
            None => Err(self.unclosed(open)),
            Some(token) => Err(bad(
                format!("{} does not belong inside the parentheses", self.cursor.show(token)),
                format!("{expected} must stand there"),
                format!("Close the '(' of position {} first, or remove it.", self.cursor.position(open)),
            )),
        }
    }
}

fn map(texts: &[&str]) -> Result<KernelSpec> {
    texts.iter().map(|text| Formula::parse(text, false)).collect::<Result<_>>().map(KernelSpec::Map)
}

fn expr(texts: &[&str]) -> Result<KernelSpec> {
    match texts {
        [text] => Formula::parse(text, true).map(KernelSpec::Expr),
        _ => Err(bad(
            format!("expr has {} formulas", texts.len()),
            "expr takes exactly one formula",
            "Write a feature map with several coordinates as map(…).",
        )),
    }
}

fn no_formula(entry: &KernelEntry) -> Error {
    let name = entry.name;
    let example = if matches!(entry.profile, Profile::Map) { "map(x1, x1^2)" } else { "expr(x1*y1)" };
    bad(
        format!("{name} has no formula"),
        format!("{name} takes its formulas in parentheses"),
        format!("Write one, as in {example}."),
    )
}

/// Names of all kernels.
fn all_names() -> String {
    CATALOG.map(|entry| entry.name).join(", ")
}

/// What can be wrong.
impl Parser<'_> {
    fn unclosed(&self, open: usize) -> Error {
        bad(
            format!("'(' at position {} is not closed", self.cursor.position(open)),
            "every '(' needs its ')'",
            "Add the missing ')'.",
        )
    }

    fn expected_kernel(&self, token: Option<Token<'_>>) -> Error {
        let found = match token {
            None => "the description ends where a kernel should stand".to_string(),
            Some(token) => format!("{} stands where a kernel should", self.cursor.show(token)),
        };
        bad(
            found,
            "a kernel, a number or '(' must stand there",
            "Complete or remove the '+' or '*' before it.",
        )
    }

    fn trailing(&self, token: Token<'_>) -> Error {
        let action = match token.kind {
            Kind::Symbol('-') => "Write + -1*K to subtract a kernel K.",
            Kind::Symbol('/') => "Write 0.5*K to halve a kernel K.",
            Kind::Symbol('^') => "Write K*K for the square of a kernel K.",
            Kind::Symbol(')') => "Remove it, or add the '(' that it closes.",
            _ => "Remove it, or put + or * before it.",
        };
        bad(
            format!("{} follows a complete kernel", self.cursor.show(token)),
            "only + or * and another kernel may follow",
            action,
        )
    }

    fn unknown_kernel(&self, name: &str, token: Token<'_>) -> Error {
        let nearest = CATALOG
            .iter()
            .flat_map(|entry| entry.aliases.iter().chain([&entry.name]))
            .map(|known| (edit_distance(name, known), *known))
            .min()
            .filter(|(distance, known)| *distance < name.len() && *distance <= 2.max(known.len() / 3));
        bad(
            format!("the kernel {} is unknown", self.cursor.show(token)),
            format!("a kernel is one of {}", all_names()),
            match nearest {
                Some((_, known)) => format!("Did you mean {known}?"),
                None => "Use one of these; expr(…) takes a formula of your own.".to_string(),
            },
        )
    }
}

/// Insertions, deletions and replacements from one word to another.
///
/// Cost: product of the lengths; the known words are short.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let above = *cell;
            left = (diagonal + usize::from(x != *y)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests;
