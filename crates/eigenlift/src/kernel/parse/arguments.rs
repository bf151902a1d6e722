//! Arguments of a kernel: by position or by name.

use crate::error::Result;
use crate::kernel::entry::{KernelEntry, NamedKernel, Parameter};
use crate::kernel::spec::Param;
use crate::kernel::token::{Cursor, Kind, Token, bad, clip};

/// The arguments given to a kernel, each once.
pub(super) struct Arguments {
    entry: &'static KernelEntry,
    given: Vec<(&'static Parameter, Param)>,
}

impl Arguments {
    pub(super) fn new(entry: &'static KernelEntry) -> Self {
        Self { entry, given: Vec::new() }
    }

    /// Reads up to the closing parenthesis, which stays.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if matches!(cursor.peek()?, None | Some(Token { kind: Kind::Symbol(')'), .. })) {
            return Ok(());
        }
        let mut by_name = false;
        loop {
            if let Some(token @ Token { kind: Kind::Symbol(',' | ')'), .. }) = cursor.peek()? {
                return Err(bad(
                    format!("{} stands where an argument of {} should", cursor.show(token), self.entry.name),
                    self.takes(),
                    "Remove the comma that is too many.",
                ));
            }
            let named = self.name(cursor)?;
            by_name |= named.is_some();
            let param = match named {
                Some(param) => param,
                None => self.at_position(by_name)?,
            };
            let (name, value) = (param.name, self.value(param, cursor)?);
            if self.given.iter().any(|(known, _)| known.name == name) {
                return Err(bad(
                    format!("{name} of {} is given twice", self.entry.name),
                    "every parameter may be given once",
                    format!("Remove one {name}."),
                ));
            }
            self.given.push((param, value));
            if cursor.accept(',')?.is_none() {
                return Ok(());
            }
        }
    }

    /// `name =`, if that comes next.
    fn name(&self, cursor: &mut Cursor<'_>) -> Result<Option<&'static Parameter>> {
        let mut ahead = *cursor;
        let Some(token) = ahead.next()? else { return Ok(None) };
        let (Kind::Name(name), Some(_)) = (token.kind, ahead.accept('=')?) else { return Ok(None) };
        *cursor = ahead;
        match self.entry.params.iter().find(|known| known.name.eq_ignore_ascii_case(name)) {
            Some(known) => Ok(Some(known)),
            None => Err(bad(
                format!("{} has no parameter {}", self.entry.name, cursor.show(token)),
                self.takes(),
                "Use one of these names, or leave it out.",
            )),
        }
    }

    fn at_position(&self, by_name: bool) -> Result<&'static Parameter> {
        let KernelEntry { name: kernel, params, .. } = self.entry;
        let positions = if self.entry.takes_one() { 1 } else { params.len() };
        if by_name {
            return Err(bad(
                format!("an argument without a name follows one with a name in {kernel}"),
                "arguments by position come first",
                "Write name=value for every argument.",
            ));
        }
        params.get(self.given.len()).filter(|_| self.given.len() < positions).ok_or_else(|| {
            bad(
                format!("{kernel} has more than {positions} arguments by position"),
                self.takes(),
                "Remove what is too many.",
            )
        })
    }

    fn takes(&self) -> String {
        let KernelEntry { name: kernel, params, .. } = self.entry;
        let names = params.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
        match params {
            [] => format!("{kernel} takes no parameters"),
            [first, ..] if self.entry.takes_one() => {
                format!("{kernel} takes one of {names}, where {} may go without its name", first.name)
            }
            _ => format!("{kernel} takes {names}"),
        }
    }

    /// A signed number, `median`, `auto` or `1/d`.
    fn value(&self, param: &Parameter, cursor: &mut Cursor<'_>) -> Result<Param> {
        let negative = cursor.accept('-')?.is_some();
        let signed = negative || cursor.accept('+')?.is_some();
        let not_a_value = |found: String| Err(param.not_a_value(self.entry.name, found));
        let Some(token) = cursor.next()? else { return not_a_value("missing".to_string()) };
        match token.kind {
            Kind::Number(number) => {
                if cursor.accept('/')?.is_some() {
                    let is_d = matches!(cursor.next()?, Some(Token { kind: Kind::Name("d" | "D"), .. }));
                    if signed || number != 1.0 || !is_d {
                        let found = cursor.text.get(token.start..cursor.at).unwrap_or("");
                        let position = cursor.position(token.start);
                        return not_a_value(format!("the fraction '{}' at position {position}", clip(found)));
                    }
                    return Ok(Param::OverDimension);
                }
                Ok(Param::Value(if negative { -number } else { number }))
            }
            Kind::Name(word) if word.eq_ignore_ascii_case("median") && !signed => Ok(Param::Median),
            Kind::Name(word) if word.eq_ignore_ascii_case("auto") && !signed => Ok(Param::Auto),
            Kind::Name(word) if ["nan", "inf", "infinity"].contains(&word.to_ascii_lowercase().as_str()) => {
                not_a_value(format!("{}, which is not finite", cursor.show(token)))
            }
            Kind::Name(_) | Kind::Symbol(_) => not_a_value(cursor.show(token)),
        }
    }

    /// The kernel, with defaults for what was not given.
    pub(super) fn build(self) -> Result<NamedKernel> {
        NamedKernel::with(self.entry, &self.given)
    }
}
