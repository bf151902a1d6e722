//! From the text of a formula to stack operations.

use super::{BINARY, MAX_STACK, Op, UNARY, apply};
use crate::error::{Error, Result};
use crate::kernel::token::{Cursor, Kind, MAX_DEPTH, Token, bad, clip, number_text};

/// Turns text into operations, and writes the canonical text on the way.
pub(super) struct Compiler<'a> {
    pub(super) cursor: Cursor<'a>,
    allow_y: bool,
    pub(super) code: Vec<Op>,
    pub(super) out: String,
    depth: usize,
    held: usize,
    pub(super) deepest: usize,
    pub(super) max_variable: usize,
    pub(super) uses_y: bool,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(text: &'a str, allow_y: bool) -> Self {
        let cursor = Cursor::new(text);
        let (code, out) = (Vec::new(), String::with_capacity(text.len()));
        Self { cursor, allow_y, code, out, depth: 0, held: 0, deepest: 0, max_variable: 0, uses_y: false }
    }

    pub(super) fn sum(&mut self) -> Result<()> {
        self.product()?;
        loop {
            let op = if self.cursor.accept('+')?.is_some() {
                self.out.push_str(" + ");
                Op::Add
            } else if self.cursor.accept('-')?.is_some() {
                self.out.push_str(" - ");
                Op::Subtract
            } else {
                return Ok(());
            };
            self.product()?;
            self.binary(op);
        }
    }

    fn product(&mut self) -> Result<()> {
        self.signed()?;
        loop {
            let op = if self.cursor.accept('*')?.is_some() {
                self.out.push('*');
                Op::Multiply
            } else if self.cursor.accept('/')?.is_some() {
                self.out.push('/');
                Op::Divide
            } else {
                return Ok(());
            };
            self.signed()?;
            self.binary(op);
        }
    }

    /// Every way to nest passes here, so that this is where depth is counted.
    fn signed(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        if self.cursor.accept('-')?.is_some() {
            self.out.push('-');
            self.signed()?;
            self.unary(Op::Negate, |a| -a);
        } else if self.cursor.accept('+')?.is_some() {
            self.signed()?;
        } else {
            self.power()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<()> {
        self.value()?;
        if self.cursor.accept('^')?.is_some() {
            self.out.push('^');
            self.signed()?;
            self.binary(Op::Power);
        }
        Ok(())
    }

    fn value(&mut self) -> Result<()> {
        let Some(token) = self.cursor.next()? else { return Err(self.missing(None)) };
        match token.kind {
            Kind::Number(value) => self.push(Op::Constant(value), &number_text(value)),
            Kind::Symbol('π') => self.push(Op::Constant(std::f64::consts::PI), "pi"),
            Kind::Name(name) => self.name(&name.to_ascii_lowercase(), token),
            Kind::Symbol('(') => {
                self.out.push('(');
                self.sum()?;
                self.close(token.start)
            }
            Kind::Symbol(_) => Err(self.missing(Some(token))),
        }
    }

    fn name(&mut self, name: &str, token: Token<'_>) -> Result<()> {
        match name {
            "pi" => return self.push(Op::Constant(std::f64::consts::PI), "pi"),
            "e" => return self.push(Op::Constant(std::f64::consts::E), "e"),
            _ => {}
        }
        let name = if name == "log" { "ln" } else { name };
        if let Some(&(name, function)) = UNARY.iter().find(|(known, _)| *known == name) {
            let given = self.arguments(name, token)?;
            self.count(name, given, "1", given == 1)?;
            self.unary(Op::Call(function), function);
            return Ok(());
        }
        if let Some(&(name, function)) = BINARY.iter().find(|(known, _)| *known == name) {
            let given = self.arguments(name, token)?;
            let several = matches!(name, "min" | "max");
            self.count(
                name,
                given,
                if several { "2 or more" } else { "2" },
                given == 2 || several && given > 2,
            )?;
            for _ in 1..given {
                self.binary(Op::CallTwo(function));
            }
            return Ok(());
        }
        self.variable(name, token)
    }

    fn variable(&mut self, name: &str, token: Token<'_>) -> Result<()> {
        let is_y = name.starts_with('y');
        let digits = name.strip_prefix(['x', 'y']).unwrap_or("");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.unknown(token));
        }
        if is_y && !self.allow_y {
            return Err(bad(
                format!("{} of a map is a variable of a second point", self.cursor.show(token)),
                "a feature map depends on one point, through x1, x2, …",
                "Write the kernel itself with expr(…) to use both points.",
            ));
        }
        let index = digits.parse::<u32>().ok().filter(|_| !digits.starts_with('0'));
        let Some(index) = index.and_then(|i| usize::try_from(i).ok()) else {
            return Err(bad(
                format!("{} is not a variable", self.cursor.show(token)),
                format!("variables are numbered from 1 to {}, without leading zeros", u32::MAX),
                "The first feature is x1.",
            ));
        };
        self.max_variable = self.max_variable.max(index);
        self.uses_y |= is_y;
        self.push(if is_y { Op::Y(index - 1) } else { Op::X(index - 1) }, name)
    }

    /// `(a, b, …)` behind a function; how many there were.
    fn arguments(&mut self, name: &str, token: Token<'_>) -> Result<usize> {
        self.out.push_str(name);
        let Some(open) = self.cursor.accept('(')? else {
            return Err(bad(
                format!("{} is not followed by '('", self.cursor.show(token)),
                "a function has its arguments in parentheses",
                format!("Write {name}(x1)."),
            ));
        };
        self.out.push('(');
        let mut given = 1;
        self.sum()?;
        while self.cursor.accept(',')?.is_some() {
            self.out.push_str(", ");
            self.sum()?;
            given += 1;
        }
        self.close(open)?;
        Ok(given)
    }

    fn close(&mut self, open: usize) -> Result<()> {
        if self.cursor.accept(')')?.is_some() {
            self.out.push(')');
            return Ok(());
        }
        match self.cursor.peek()? {
            Some(token) => Err(self.misplaced(token)),
            None => Err(bad(
                format!("'(' at position {} of {} is not closed", self.cursor.position(open), self.shown()),
                "every '(' needs its ')'",
                "Add the missing ')'.",
            )),
        }
    }

    fn push(&mut self, op: Op, text: &str) -> Result<()> {
        self.code.push(op);
        self.out.push_str(text);
        self.held += 1;
        self.deepest = self.deepest.max(self.held);
        if self.held > MAX_STACK { Err(self.too_deep()) } else { Ok(()) }
    }

    /// Adds a function of the last value, at once where that is a constant.
    fn unary(&mut self, op: Op, function: impl Fn(f64) -> f64) {
        match self.code.last_mut() {
            Some(Op::Constant(value)) => *value = function(*value),
            _ => self.code.push(op),
        }
    }

    /// Adds a function of the last two values, at once where both are constants.
    fn binary(&mut self, op: Op) {
        self.held = self.held.saturating_sub(1);
        match (op, self.code.as_mut_slice()) {
            (_, [.., Op::Constant(a), Op::Constant(b)]) => {
                *a = apply(op, *a, *b);
                self.code.pop();
            }
            (Op::Power, [.., last @ Op::Constant(_)]) => {
                if let Some(n) = whole_exponent(*last) {
                    *last = Op::WholePower(n);
                } else {
                    self.code.push(op);
                }
            }
            _ => self.code.push(op),
        }
    }
}

fn whole_exponent(op: Op) -> Option<i32> {
    (2..=16).find(|n| matches!(op, Op::Constant(value) if value == f64::from(*n)))
}

/// What can be wrong.
impl Compiler<'_> {
    fn shown(&self) -> String {
        format!("the formula '{}'", clip(self.cursor.text))
    }

    fn missing(&self, token: Option<Token<'_>>) -> Error {
        let found = match token {
            None => format!("{} ends where a value should stand", self.shown()),
            Some(token) => {
                format!("{} of {} stands where a value should", self.cursor.show(token), self.shown())
            }
        };
        bad(
            found,
            "a value is a number, a variable, a function or a formula in parentheses",
            "Add the missing value.",
        )
    }

    pub(super) fn misplaced(&self, token: Token<'_>) -> Error {
        bad(
            format!("{} of {} follows a complete value", self.cursor.show(token), self.shown()),
            "an operator (+ - * / ^), a ')' that closes a '(' or the end must follow",
            "Write products with *, as in 2*x1.",
        )
    }

    fn unknown(&self, token: Token<'_>) -> Error {
        let variables = if self.allow_y { "x1, x2, …, y1, y2, …" } else { "x1, x2, …" };
        let functions: Vec<&str> =
            UNARY.iter().map(|(name, _)| *name).chain(BINARY.iter().map(|(name, _)| *name)).collect();
        bad(
            format!("{} of {} is unknown", self.cursor.show(token), self.shown()),
            format!("a formula has {variables}, pi, e and the functions {}", functions.join(", ")),
            "Use one of these.",
        )
    }

    fn too_deep(&self) -> Error {
        bad(
            format!("{} is nested too deeply", self.shown()),
            format!("at most {MAX_DEPTH} levels are read"),
            "Remove parentheses that are not needed, or split the formula.",
        )
    }

    fn count(&self, name: &str, given: usize, wanted: &str, right: bool) -> Result<()> {
        if right {
            return Ok(());
        }
        let found =
            format!("{name} has {given} argument{} in {}", if given == 1 { "" } else { "s" }, self.shown());
        Err(bad(found, format!("{name} takes {wanted}"), "Check its arguments."))
    }
}
