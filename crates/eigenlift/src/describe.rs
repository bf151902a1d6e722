//! Methods and their parameters as data.
//!
//! A method is described once, beside its code. The flags of the command line with their help, the settings that the Python package
//! hands over, defaults, ranges and messages follow from the description.

use crate::error::{Error, Result};
use crate::kernel::KernelSpec;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

/// What is known of a method beside its code.
#[derive(Debug)]
pub struct Description {
    /// Its name on the command line, which is also that of its scores.
    pub name: &'static str,
    /// What its result is called.
    pub title: &'static str,
    /// The method, and after a colon what it does.
    pub about: &'static str,
    /// Parameters, those of its family first.
    pub parameters: &'static [&'static [Parameter]],
    /// What stands below the help of `fit`: words and examples.
    pub fit_notes: &'static str,
    /// What stands below the help of `plan`.
    pub plan_notes: &'static str,
}

/// A parameter of a method.
#[derive(Debug)]
pub struct Parameter {
    /// Its name, which is that of its flag.
    pub name: &'static str,
    /// A letter that stands for it on the command line.
    pub short: Option<char>,
    /// What stands for its value in help.
    pub value: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is when it is not given, as text.
    pub default: Option<&'static str>,
    /// Parameters that the command line refuses beside it; elsewhere the more particular one decides.
    pub excludes: &'static [&'static str],
    /// Under which heading it stands in help; `None` where the command line does not have it.
    pub heading: Option<&'static str>,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number of coordinates.
    Components,
    /// A whole number of at least 1.
    Count,
    /// A number in a range.
    Number(Range),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A kernel as text.
    Kernel,
    /// Given or not.
    Flag,
    /// Pairs of rows: a file on the command line, or those that are found when no file is named.
    Pairs,
    /// A graph between the rows: a file on the command line. It belongs to the data and not to the settings.
    Graph,
}

/// Ranges of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Any finite number.
    Finite,
    /// Above 0.
    Positive,
    /// At least 0.
    NotNegative,
    /// Between 0 and 1: a relative residual.
    Tolerance,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Components`] and [`Kind::Count`].
    Count(usize),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Choice`] and [`Kind::Kernel`].
    Text(String),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Pairs`]; `None` stands for those that are found.
    Pairs(Option<Vec<(usize, usize)>>),
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Pairs(None) => f.write_str("pairs that are found"),
            Self::Pairs(Some(pairs)) => write!(f, "{} pairs", pairs.len()),
        }
    }
}

/// The word for pairs of rows that are found.
const FOUND: &str = "suspects";

/// A value for each parameter that has one, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings(BTreeMap<&'static str, Value>);

impl Range {
    /// The number, or what is required.
    ///
    /// # Errors
    /// What is required, in words.
    pub fn check(self, x: f64) -> std::result::Result<f64, &'static str> {
        let (holds, required) = match self {
            Self::Finite => (x.is_finite(), "a number is required"),
            Self::Positive => (x > 0.0 && x.is_finite(), "a number above 0 is required"),
            Self::NotNegative => (x >= 0.0 && x.is_finite(), "a number of at least 0 is required"),
            Self::Tolerance => {
                (x > 0.0 && x < 1.0, "a number between 0 and 1 is required; the default is 1e-6")
            }
        };
        if holds { Ok(x) } else { Err(required) }
    }

    /// The number that a text stands for.
    ///
    /// # Errors
    /// What is required, in words.
    pub fn parse(self, text: &str) -> std::result::Result<f64, &'static str> {
        self.check(text.parse().unwrap_or(f64::NAN))
    }
}

impl Parameter {
    /// The value that a text stands for.
    ///
    /// # Errors
    /// What is required, in words.
    pub fn parse(&self, text: &str) -> std::result::Result<Value, String> {
        match self.kind {
            Kind::Components | Kind::Count => self.check(Value::Count(text.parse().unwrap_or(0))),
            Kind::Number(range) => Ok(Value::Number(range.parse(text)?)),
            Kind::Choice(_) | Kind::Kernel => self.check(Value::Text(text.into())),
            Kind::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err("true or false is required".into()),
            },
            Kind::Pairs | Kind::Graph => Err("a file is required".into()),
        }
    }

    /// The value, where it is one of this parameter.
    fn check(&self, value: Value) -> std::result::Result<Value, String> {
        let required = match (self.kind, &value) {
            (Kind::Components, Value::Count(k)) if *k > 0 => return Ok(value),
            (Kind::Components, _) => "a whole number of at least 1 is required; 2 draws a picture",
            (Kind::Count, Value::Count(n)) if *n > 0 => return Ok(value),
            (Kind::Count, _) => "a whole number of at least 1 is required",
            (Kind::Number(range), Value::Number(x)) => match range.check(*x) {
                Ok(_) => return Ok(value),
                Err(required) => required,
            },
            (Kind::Number(_), _) => "a number is required",
            (Kind::Choice(words), Value::Text(text)) if words.contains(&text.as_str()) => return Ok(value),
            (Kind::Choice(words), _) => return Err(format!("one of {} is required", words.join(", "))),
            (Kind::Kernel, Value::Text(text)) => {
                text.parse::<KernelSpec>().map_err(|error| error.to_string())?;
                return Ok(value);
            }
            (Kind::Kernel, _) => "a kernel is required",
            (Kind::Flag, Value::Flag(_)) => return Ok(value),
            (Kind::Flag, _) => "true or false is required",
            (Kind::Pairs, Value::Pairs(_)) => return Ok(value),
            (Kind::Pairs, Value::Text(text)) if text == FOUND => return Ok(Value::Pairs(None)),
            (Kind::Pairs | Kind::Graph, _) => "pairs of rows are required",
        };
        Err(required.into())
    }
}

impl Description {
    /// All parameters, in the order of help.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.name == name)
    }

    /// The values given and the defaults of the others.
    ///
    /// # Errors
    /// When the method has no such parameter, or the value is none of it.
    pub fn settings(&self, given: impl IntoIterator<Item = (String, Value)>) -> Result<Settings> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let parameter = self.parameter(&name).ok_or_else(|| self.unknown(&name))?;
            let shown = value.to_string();
            let value = parameter.check(value).map_err(|required| {
                Error::setting(
                    format!("{shown} as {name} of {}", self.name),
                    required,
                    "Choose another value",
                )
            })?;
            values.insert(parameter.name, value);
        }
        for parameter in self.parameters() {
            if let Some(text) = parameter.default
                && !values.contains_key(parameter.name)
            {
                let wrong = |required| {
                    Error::setting(format!("the default of {}", parameter.name), required, "Report this")
                };
                values.insert(parameter.name, parameter.parse(text).map_err(wrong)?);
            }
        }
        Ok(Settings(values))
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
        Error::setting(
            format!("\"{name}\" as a parameter of {}", self.name),
            format!("known are {}", known.join(", ")),
            "Choose one of them",
        )
    }
}

impl Settings {
    /// The value of a parameter, unless it has no default and was not given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A number of things.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.get(name).and_then(|value| if let Value::Count(count) = value { Some(*count) } else { None })
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(|value| if let Value::Number(x) = value { Some(*x) } else { None })
    }

    /// A word, or a kernel as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(|value| if let Value::Text(text) = value { Some(text.as_str()) } else { None })
    }

    /// These settings with another value of a parameter that is in them.
    ///
    /// # Panics
    /// When it is not: a mistake in the program.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        let known = self.0.get_mut(name).map(|place| *place = value);
        assert!(known.is_some(), "{name} is not among {:?}", self.0.keys());
        self
    }

    /// Whether a flag was given.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Flag(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: Parameter = Parameter {
        name: "width",
        short: None,
        value: "N",
        kind: Kind::Count,
        default: Some("3"),
        excludes: &[],
        heading: None,
        doc: "Width",
    };
    const RATE: Parameter =
        Parameter { name: "rate", kind: Kind::Number(Range::Positive), default: None, ..WIDTH };
    const WAY: Parameter =
        Parameter { name: "way", kind: Kind::Choice(&["up", "down"]), default: Some("up"), ..WIDTH };
    const METHOD: Description = Description {
        name: "sample",
        title: "Sample",
        about: "Sample: nothing",
        parameters: &[&[WIDTH], &[RATE, WAY]],
        fit_notes: "",
        plan_notes: "",
    };

    fn given(name: &str, value: Value) -> [(String, Value); 1] {
        [(name.to_string(), value)]
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let settings = METHOD.settings(given("rate", Value::Number(0.5))).unwrap();
        assert_eq!((settings.count("width"), settings.number("rate")), (Some(3), Some(0.5)));
        assert_eq!(settings.text("way"), Some("up"));
        assert_eq!(METHOD.settings([]).unwrap().get("rate"), None);
    }

    #[test]
    fn what_is_no_value_of_a_parameter_is_refused() {
        let refused = |name, value| METHOD.settings(given(name, value)).unwrap_err().to_string();
        assert!(refused("height", Value::Count(1)).contains("known are width, rate, way"));
        assert!(
            refused("width", Value::Count(0)).contains("0 as width of sample; a whole number of at least 1")
        );
        assert!(refused("width", Value::Number(2.0)).contains("whole number"));
        assert!(refused("rate", Value::Number(f64::INFINITY)).contains("above 0"));
        assert!(refused("way", Value::Text("left".into())).contains("one of up, down"));
    }

    #[test]
    fn texts_are_read_and_checked() {
        assert_eq!(WIDTH.parse("7"), Ok(Value::Count(7)));
        assert!(WIDTH.parse("1.5").is_err());
        assert_eq!(RATE.parse("1e-3"), Ok(Value::Number(1e-3)));
        assert!(RATE.parse("nan").is_err());
        assert!(Parameter { kind: Kind::Kernel, ..WIDTH }.parse("rfb").is_err());
        assert_eq!(
            Range::Tolerance.parse("1"),
            Err("a number between 0 and 1 is required; the default is 1e-6")
        );
    }
}
