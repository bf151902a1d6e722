//! Arguments of a kernel: by position or by name.

use crate::error::{Error, Result};
use crate::kernel::spec::{KernelSpec, MaternNu, Param, Width};
use crate::kernel::token::{Cursor, Kind, Token, bad, clip, number_text};

/// The arguments given to a kernel, each once.
pub(super) struct Arguments {
    kernel: &'static str,
    params: &'static [&'static str],
    given: Vec<(&'static str, Param)>,
}

impl Arguments {
    pub(super) fn new(kernel: &'static str) -> Self {
        Self { kernel, params: KernelSpec::params(kernel).unwrap_or(&[]), given: Vec::new() }
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
                    format!("{} stands where an argument of {} should", cursor.show(token), self.kernel),
                    self.takes(),
                    "Remove the comma that is too many.",
                ));
            }
            let name = self.name(cursor)?;
            by_name |= name.is_some();
            let name = match name {
                Some(name) => name,
                None => self.at_position(by_name)?,
            };
            let value = self.value(name, cursor)?;
            if self.given.iter().any(|(known, _)| *known == name) {
                return Err(bad(
                    format!("{name} of {} is given twice", self.kernel),
                    "every parameter may be given once",
                    format!("Remove one {name}."),
                ));
            }
            self.given.push((name, value));
            if cursor.accept(',')?.is_none() {
                return Ok(());
            }
        }
    }

    /// `name =`, if that comes next.
    fn name(&self, cursor: &mut Cursor<'_>) -> Result<Option<&'static str>> {
        let mut ahead = *cursor;
        let Some(token) = ahead.next()? else { return Ok(None) };
        let (Kind::Name(name), Some(_)) = (token.kind, ahead.accept('=')?) else { return Ok(None) };
        *cursor = ahead;
        match self.params.iter().find(|known| known.eq_ignore_ascii_case(name)) {
            Some(&known) => Ok(Some(known)),
            None => Err(bad(
                format!("{} has no parameter {}", self.kernel, cursor.show(token)),
                self.takes(),
                "Use one of these names, or leave it out.",
            )),
        }
    }

    fn at_position(&self, by_name: bool) -> Result<&'static str> {
        let positions = if self.kernel == "rbf" { 1 } else { self.params.len() };
        if by_name {
            return Err(bad(
                format!("an argument without a name follows one with a name in {}", self.kernel),
                "arguments by position come first",
                "Write name=value for every argument.",
            ));
        }
        self.params.get(self.given.len()).filter(|_| self.given.len() < positions).copied().ok_or_else(|| {
            bad(
                format!("{} has more than {positions} arguments by position", self.kernel),
                self.takes(),
                "Remove what is too many.",
            )
        })
    }

    fn takes(&self) -> String {
        match (self.kernel, self.params) {
            ("rbf", _) => "rbf takes one of gamma, sigma, c, where gamma may go without its name".to_string(),
            (kernel, []) => format!("{kernel} takes no parameters"),
            (kernel, params) => format!("{kernel} takes {}", params.join(", ")),
        }
    }

    /// A signed number, `median`, `auto` or `1/d`.
    fn value(&self, name: &str, cursor: &mut Cursor<'_>) -> Result<Param> {
        let negative = cursor.accept('-')?.is_some();
        let signed = negative || cursor.accept('+')?.is_some();
        let Some(token) = cursor.next()? else { return Err(self.no_value(name, "missing".to_string())) };
        match token.kind {
            Kind::Number(number) => {
                if cursor.accept('/')?.is_some() {
                    let is_d = matches!(cursor.next()?, Some(Token { kind: Kind::Name("d" | "D"), .. }));
                    if signed || number != 1.0 || !is_d {
                        let found = cursor.text.get(token.start..cursor.at).unwrap_or("");
                        let position = cursor.position(token.start);
                        return Err(self.no_value(
                            name,
                            format!("the fraction '{}' at position {position}", clip(found)),
                        ));
                    }
                    return Ok(Param::OverDimension);
                }
                Ok(Param::Value(if negative { -number } else { number }))
            }
            Kind::Name(word) if word.eq_ignore_ascii_case("median") && !signed => Ok(Param::Median),
            Kind::Name(word) if word.eq_ignore_ascii_case("auto") && !signed => Ok(Param::Auto),
            Kind::Name(word) if ["nan", "inf", "infinity"].contains(&word.to_ascii_lowercase().as_str()) => {
                Err(self.no_value(name, format!("{}, which is not finite", cursor.show(token))))
            }
            _ => Err(self.no_value(name, cursor.show(token))),
        }
    }

    fn no_value(&self, name: &str, found: String) -> Error {
        bad(
            format!("{name} of {} is {found}", self.kernel),
            if Self::from_data(name) {
                "it must be a number, median, auto or 1/d"
            } else {
                "it must be a number"
            },
            format!("Write {name}=1, for example."),
        )
    }

    /// Whether data can say what the parameter is.
    fn from_data(name: &str) -> bool {
        matches!(name, "gamma" | "sigma" | "c" | "length")
    }

    fn param(&self, name: &str) -> Option<Param> {
        self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str, default: f64) -> Result<f64> {
        match self.param(name) {
            None => Ok(default),
            Some(Param::Value(value)) => Ok(value),
            Some(other) => Err(self.no_value(name, format!("'{other}'"))),
        }
    }

    /// The kernel, with defaults for what was not given.
    pub(super) fn build(self) -> Result<KernelSpec> {
        let gamma = |default| self.param("gamma").unwrap_or(default);
        let length = || self.param("length").unwrap_or(Param::Median);
        Ok(match self.kernel {
            "polynomial" => KernelSpec::Polynomial {
                degree: self.number("degree", 3.0)?,
                gamma: gamma(Param::Value(1.0)),
                coef0: self.number("coef0", 1.0)?,
            },
            "rbf" => KernelSpec::Rbf(self.width()?),
            "laplacian" => KernelSpec::Laplacian { gamma: gamma(Param::Median) },
            "exponential" => KernelSpec::Exponential { gamma: gamma(Param::Median) },
            "matern" => KernelSpec::Matern { nu: self.nu()?, length: length() },
            "rational_quadratic" => {
                KernelSpec::RationalQuadratic { alpha: self.number("alpha", 1.0)?, length: length() }
            }
            "sigmoid" => {
                KernelSpec::Sigmoid { gamma: gamma(Param::OverDimension), coef0: self.number("coef0", 1.0)? }
            }
            "cosine" => KernelSpec::Cosine,
            "chi2" => KernelSpec::Chi2 { gamma: gamma(Param::Value(1.0)) },
            "intersection" => KernelSpec::Intersection,
            "precomputed" => KernelSpec::Precomputed,
            "auto" => KernelSpec::Auto,
            _ => KernelSpec::Linear,
        })
    }

    fn width(&self) -> Result<Width> {
        match self.given.as_slice() {
            [] => Ok(Width::Gamma(Param::Median)),
            [("sigma", sigma)] => Ok(Width::Sigma(*sigma)),
            [("c", c)] => Ok(Width::C(*c)),
            [(_, gamma)] => Ok(Width::Gamma(*gamma)),
            several => {
                let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
                Err(bad(
                    format!("rbf has {}", names.join(" and ")),
                    "it takes one of gamma, sigma, c, which say the same in three notations",
                    "Keep one of them.",
                ))
            }
        }
    }

    fn nu(&self) -> Result<MaternNu> {
        let nu = self.number("nu", 1.5)?;
        let known = [MaternNu::Half, MaternNu::ThreeHalves, MaternNu::FiveHalves];
        known.into_iter().find(|known| known.value() == nu).ok_or_else(|| {
            bad(
                format!("nu of matern is {}", number_text(nu)),
                "it must be 0.5, 1.5 or 2.5",
                "Take the nearest of these; rbf is the limit of large nu.",
            )
        })
    }
}
