//! What the catalog says of a kernel, and a kernel of the catalog with its parameters.

use super::known;
use super::profile::{CoordinateProfile, DistanceProfile, InnerProfile, NormProfile};
use super::spec::{Param, ParamRole};
use super::tile::Form;
use super::token::{bad, number_text};
use crate::error::{Error, Result};
use serde::{Serialize, Serializer};
use std::fmt;

/// A kernel of the [catalog](super::CATALOG): all that parser, printer, checks, evaluation and documentation read.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct KernelEntry {
    /// Name, as it is printed.
    pub name: &'static str,
    /// Other names that are read.
    pub aliases: &'static [&'static str],
    /// Name for headings and menus.
    pub title: &'static str,
    /// k(x,y), in the names of the parameters.
    pub formula: &'static str,
    /// When it is useful, in one sentence.
    pub doc: &'static str,
    /// Parameters in the order of positional arguments.
    pub params: &'static [Parameter],
    /// Whether the formula needs entries ≥ 0.
    pub nonnegative: bool,
    /// How values are computed.
    pub(crate) profile: Profile,
    /// Where the kernel is positive semi-definite.
    pub(crate) mercer: Mercer,
    /// The feature space.
    #[serde(skip)]
    pub(crate) features: Features,
    /// Law of the frequencies of random Fourier features, docs/theory (K43).
    #[serde(serialize_with = "is_some")]
    pub(crate) spectrum: Option<fn(&[f64]) -> SpectralDensity>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Name, as it is written.
    pub name: &'static str,
    /// Name for headings.
    pub title: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// What it scales; `None` where data cannot say what it is.
    pub(crate) role: Option<ParamRole>,
    /// Value where none is given.
    pub default: Param,
    /// Values that are allowed.
    pub range: Range,
    /// Values worth trying.
    pub trial: Trial,
    /// Where this is another notation of the first parameter: that parameter as a function of this one. A kernel
    /// takes one of its notations.
    #[serde(rename = "replaces_first", serialize_with = "is_some")]
    pub(crate) to_first: Option<fn(f64) -> f64>,
}

/// Values that a parameter may have.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Range {
    /// Finite and above 0.
    Positive,
    /// Finite and not 0.
    NonZero,
    /// Finite.
    Finite,
    /// One of a few.
    OneOf {
        /// The values.
        values: &'static [f64],
        /// What to do where another was given.
        hint: &'static str,
    },
}

/// Values of a parameter that are worth trying.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Trial {
    /// Within so many powers of ten of the default, or of what the default is on the data.
    Log {
        /// Powers of ten to either side.
        decades: f64,
    },
    /// From the lowest to the highest in steps.
    Linear {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// From one to the next.
        step: f64,
    },
    /// All that the range lists.
    Listed,
}

/// From numbers, one for each parameter, to what computes k; notations are turned into the first parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    /// From ⟨x,y⟩.
    Inner(fn(&[f64]) -> InnerProfile),
    /// From ⟨x,y⟩, ‖x‖² and ‖y‖².
    Norms(fn(&[f64]) -> NormProfile),
    /// From ‖x−y‖².
    Distance(fn(&[f64]) -> DistanceProfile),
    /// From a sum over coordinates.
    Coordinate(fn(&[f64]) -> CoordinateProfile),
    /// From formulas for the coordinates of φ.
    Map,
    /// From a formula in x and y.
    Expr,
    /// Given in place of data.
    Precomputed,
    /// Chosen by cross-validation.
    Auto,
}

impl Profile {
    /// What k is computed from, in a word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Inner(_) => "inner products",
            Self::Norms(_) => "inner products and norms",
            Self::Distance(_) => "squared distances",
            Self::Coordinate(_) => "coordinates",
            Self::Map => "feature maps",
            Self::Expr => "pairs of rows",
            Self::Precomputed => "a given matrix",
            Self::Auto => "what is chosen",
        }
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Where a kernel is positive semi-definite for all (admissible) points.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Mercer {
    /// With any parameters.
    Always,
    /// Where the condition holds; unknown elsewhere.
    When {
        condition: &'static str,
        #[serde(skip)]
        holds: fn(&NamedKernel) -> bool,
    },
    /// Not in general, or not known.
    Unknown,
}

/// The feature space of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Features {
    /// Monomials in the columns, the explicit map of (γ⟨x,y⟩ + c₀)ᵖ, from which they are counted.
    Monomials(fn(&NamedKernel) -> Monomials),
    /// As many dimensions as there are columns.
    Columns,
    /// As many dimensions as there are formulas.
    Formulas,
    /// No finite number of dimensions.
    Infinite,
    /// Not known from the description.
    Unknown,
}

/// (γ⟨x,y⟩ + c₀)ᵖ
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monomials {
    pub(crate) degree: f64,
    pub(crate) gamma: Param,
    pub(crate) coef0: f64,
}

/// Law of a frequency w, docs/theory (K43).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SpectralDensity {
    /// w = scale·g with g standard normal.
    Gaussian { scale: f64 },
    /// w = g·√(ν/G)/ℓ with G ~ Gamma(ν, 1): a multivariate t of 2ν degrees of freedom.
    StudentT { nu: f64, length: f64 },
    /// w = g·√(G/α)/ℓ with G ~ Gamma(α, 1).
    GammaMixture { alpha: f64, length: f64 },
    /// Independent Cauchy coordinates of width γ.
    Cauchy { gamma: f64 },
}

/// What is computed by a function is written as whether there is one.
fn is_some<T, S: Serializer>(value: &Option<T>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_bool(value.is_some())
}

impl KernelEntry {
    /// How it is written: name and parameters.
    pub fn usage(&self) -> String {
        let names: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        match self.profile {
            Profile::Map | Profile::Expr => format!("{}(...)", self.name),
            _ if names.is_empty() => self.name.to_string(),
            _ => format!("{}({})", self.name, names.join(if self.takes_one() { "|" } else { "," })),
        }
    }

    /// Whether it can be a part of a sum or a product.
    pub fn combines(&self) -> bool {
        !matches!(self.profile, Profile::Precomputed | Profile::Auto)
    }

    /// Whether the parameters are notations of one number, of which one is given.
    pub fn takes_one(&self) -> bool {
        self.params.iter().any(|param| param.to_first.is_some())
    }

    /// Whether k is a function of ‖x−y‖.
    pub fn is_of_distance(&self) -> bool {
        matches!(self.profile, Profile::Distance(_))
    }

    /// Whether random Fourier features stand for it.
    pub fn has_spectral_density(&self) -> bool {
        self.spectrum.is_some()
    }
}

impl Parameter {
    /// Whether the value is one that the parameter of this kernel can have at all.
    pub(crate) fn accept(&self, kernel: &str, value: Param) -> Result<()> {
        match (value, self.range) {
            (Param::Value(number), Range::OneOf { values, hint }) if !values.contains(&number) => Err(bad(
                format!("{} of {kernel} is {}", self.name, number_text(number)),
                format!("it must be {}", listed(values.iter().map(|value| number_text(*value)), "or")),
                hint,
            )),
            (Param::Value(_), _) => Ok(()),
            (Param::Median | Param::OverDimension | Param::Auto, _) if self.role.is_some() => Ok(()),
            (other, _) => Err(self.not_a_value(kernel, format!("'{other}'"))),
        }
    }

    /// The error for something that is no value of this parameter.
    pub(crate) fn not_a_value(&self, kernel: &str, found: String) -> Error {
        let name = self.name;
        let required = match self.role {
            Some(_) => "it must be a number, median, auto or 1/d",
            None => "it must be a number",
        };
        bad(format!("{name} of {kernel} is {found}"), required, format!("Write {name}=1, for example."))
    }

    /// Whether the value is in the range.
    pub(crate) fn check(&self, kernel: &str, value: Param) -> Result<()> {
        self.accept(kernel, value)?;
        let Param::Value(number) = value else { return Ok(()) };
        let what = format!("{} of {kernel}", self.name);
        match (self.range, self.role) {
            (Range::Positive, None) => positive(&what, number, ""),
            (Range::Positive, Some(_)) => positive(&what, number, ", or median to find it from the data"),
            (Range::NonZero, None) => nonzero(&what, number, ""),
            (Range::NonZero, Some(_)) => nonzero(&what, number, ", or 1/d"),
            (Range::Finite, _) => finite(&what, number),
            (Range::OneOf { .. }, _) => Ok(()),
        }
    }
}

fn positive(what: &str, value: f64, or: &str) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    let found = format!("{what} is {}", number_text(value));
    Err(bad(found, "it must be finite and above 0", format!("Give a positive number{or}.")))
}

pub(super) fn nonzero(what: &str, value: f64, or: &str) -> Result<()> {
    if value.is_finite() && value != 0.0 {
        return Ok(());
    }
    let found = format!("{what} is {}", number_text(value));
    Err(bad(found, "it must be finite and not 0", format!("Give another number{or}.")))
}

fn finite(what: &str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(bad(format!("{what} is {}", number_text(value)), "it must be finite", "Give another number."))
}

/// a, b or c.
pub(crate) fn listed<S: AsRef<str>>(words: impl IntoIterator<Item = S>, last: &str) -> String {
    let words: Vec<S> = words.into_iter().collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A kernel of the catalog with a value for each of its parameters, or for one of its notations.
#[derive(Clone, Debug)]
pub struct NamedKernel {
    entry: &'static KernelEntry,
    params: Vec<(&'static Parameter, Param)>,
}

impl PartialEq for NamedKernel {
    fn eq(&self, other: &Self) -> bool {
        let values = |kernel: &Self| -> Vec<(&str, Param)> {
            kernel.params.iter().map(|(param, value)| (param.name, *value)).collect()
        };
        self.entry.name == other.entry.name && values(self) == values(other)
    }
}

impl NamedKernel {
    /// The kernel with its defaults.
    pub(super) fn new(entry: &'static KernelEntry) -> Self {
        let taken = if entry.takes_one() { 1 } else { entry.params.len() };
        Self { entry, params: entry.params.iter().take(taken).map(|param| (param, param.default)).collect() }
    }

    /// The kernel with these values, each of a parameter of the entry, and defaults for others.
    pub(super) fn with(entry: &'static KernelEntry, given: &[(&'static Parameter, Param)]) -> Result<Self> {
        given.iter().try_for_each(|(param, value)| param.accept(entry.name, *value))?;
        let mut kernel = Self::new(entry);
        match (entry.takes_one(), given) {
            (true, []) => {}
            (true, [one]) => kernel.params = vec![*one],
            (true, several) => {
                let names = |params: &mut dyn Iterator<Item = &Parameter>, between: &str| {
                    params.map(|param| param.name).collect::<Vec<_>>().join(between)
                };
                let all = names(&mut entry.params.iter(), ", ");
                return Err(bad(
                    format!("{} has {}", entry.name, names(&mut several.iter().map(|(p, _)| *p), " and ")),
                    format!("it takes one of {all}, which are notations of the same number"),
                    "Keep one of them.",
                ));
            }
            (false, given) => {
                for (param, value) in &mut kernel.params {
                    let found = given.iter().find(|(known, _)| known.name == param.name);
                    *value = found.map_or(*value, |(_, given)| *given);
                }
            }
        }
        Ok(kernel)
    }

    /// The row of the catalog.
    pub fn entry(&self) -> &'static KernelEntry {
        self.entry
    }

    /// Parameters with their values.
    pub fn params(&self) -> impl Iterator<Item = (&'static Parameter, Param)> + '_ {
        self.params.iter().copied()
    }

    /// The parameters that may come from the data, and what they scale.
    pub(super) fn data_params(&mut self) -> impl Iterator<Item = (ParamRole, &mut Param)> {
        self.params.iter_mut().filter_map(|(param, value)| param.role.map(|role| (role, value)))
    }

    /// The value of a parameter.
    pub(super) fn param(&self, name: &str) -> Option<Param> {
        self.params().find(|(param, _)| param.name == name).map(|(_, value)| value)
    }

    /// The number of a parameter; NaN where it is not known.
    pub(super) fn number(&self, name: &str) -> f64 {
        match self.param(name) {
            Some(Param::Value(value)) => value,
            Some(Param::Median | Param::OverDimension | Param::Auto) | None => f64::NAN,
        }
    }

    /// Checks every number against its range.
    pub(super) fn check(&self) -> Result<()> {
        self.params().try_for_each(|(param, value)| param.check(self.entry.name, value))
    }

    /// Whether the kernel is known to be positive semi-definite for all admissible points.
    pub(super) fn is_mercer(&self) -> bool {
        match self.entry.mercer {
            Mercer::Always => true,
            Mercer::When { holds, .. } => holds(self),
            Mercer::Unknown => false,
        }
    }

    /// Every parameter as a number; a kernel of several notations has its first parameter.
    fn numbers(&self) -> Result<Vec<f64>> {
        let numbers = self.params().map(|(param, value)| {
            let number = known(value)?;
            let number = param.to_first.map_or(number, |to_first| to_first(number));
            if !self.entry.takes_one() || number.is_finite() && number > 0.0 {
                return Ok(number);
            }
            let first = self.entry.params.first().map_or("", |param| param.name);
            Err(Error::kernel(
                format!("an {} width that makes {first} {number}", self.entry.name),
                format!("{first} must be positive and finite"),
                "Choose a width closer to the distances in the data",
            ))
        });
        numbers.collect()
    }

    /// What computes the kernel.
    pub(super) fn form(&self) -> Result<Form> {
        let numbers = self.numbers()?;
        match self.entry.profile {
            Profile::Inner(profile) => Ok(Form::Inner(profile(&numbers))),
            Profile::Norms(profile) => Ok(Form::Norms(profile(&numbers))),
            Profile::Distance(profile) => Ok(Form::Distance(profile(&numbers))),
            Profile::Coordinate(profile) => Ok(Form::Coordinate(profile(&numbers))),
            Profile::Map | Profile::Expr | Profile::Precomputed | Profile::Auto => Err(Error::kernel(
                format!("the kernel {self} without what it is computed from"),
                "a kernel of this name is not built from parameters",
                "Write it as text, such as map(x1, x1^2)",
            )),
        }
    }

    /// Law of the frequencies of its random Fourier features, where it has one.
    pub(crate) fn spectrum(&self) -> Result<Option<SpectralDensity>> {
        self.entry.spectrum.map(|law| Ok(law(&self.numbers()?))).transpose()
    }

    /// The polynomial that it is, where it is one.
    pub(crate) fn monomials(&self) -> Option<Monomials> {
        match self.entry.features {
            Features::Monomials(of) => Some(of(self)),
            Features::Columns | Features::Formulas | Features::Infinite | Features::Unknown => None,
        }
    }
}

impl fmt::Display for NamedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (i, (param, value)) in self.params().enumerate() {
            write!(f, "{}{}={value}", if i == 0 { "(" } else { "," }, param.name)?;
        }
        f.write_str(if self.params.is_empty() { "" } else { ")" })
    }
}
