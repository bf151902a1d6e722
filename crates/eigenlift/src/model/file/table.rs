//! Declared arrays: one table says which arrays a model file has, their shapes and what their numbers must satisfy; it writes, reads and
//! checks them.

use super::samples::{read_samples, sample_arrays};
use super::{Array, ModelReader, Numbers, SAVE_AGAIN, shown};
use crate::data::AnySamples;
use crate::eigen::Interval;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use std::borrow::Cow;

/// A size in the shape of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dim {
    /// The dimension of this name. One that the header does not tell is what the array itself says.
    Of(&'static str),
    /// Always this.
    Is(usize),
}

/// What the numbers of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F64,
    U32,
    /// Rows in the precision of the samples, dense or sparse.
    Samples,
}

/// When a file has an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Always,
    /// When the table has this mark.
    With(&'static str),
    /// A file may lack it.
    Optional,
    /// Earlier versions wrote it; nothing reads it.
    Ignored,
}

/// What the numbers of an array must satisfy, beside being finite. The text says what is required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Each is above 0.
    Positive(&'static str),
    /// None is below 0.
    NonNegative(&'static str),
    /// None is 0.
    NonZero(&'static str),
    /// Each is at most the one before it.
    Descending(&'static str),
    /// The magnitude of each is at most that of the one before it.
    DescendingMagnitude(&'static str),
    /// Pairs: the first of each is at most the second.
    Intervals(&'static str),
    /// No magnitude exceeds this.
    AtMost(f64, &'static str),
    /// Each is below the dimension of this name.
    Below(&'static str, &'static str),
}

/// The declaration of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    name: &'static str,
    kind: Kind,
    shape: &'static [Dim],
    presence: Presence,
    rules: &'static [Rule],
}

impl Declared {
    const fn new(name: &'static str, kind: Kind, shape: &'static [Dim]) -> Self {
        Self { name, kind, shape, presence: Presence::Always, rules: &[] }
    }

    /// Numbers in double precision.
    pub(crate) const fn f64(name: &'static str, shape: &'static [Dim]) -> Self {
        Self::new(name, Kind::F64, shape)
    }

    /// Indices.
    pub(crate) const fn u32(name: &'static str, shape: &'static [Dim]) -> Self {
        Self::new(name, Kind::U32, shape)
    }

    /// Samples in their own precision, dense or sparse.
    pub(crate) const fn samples(shape: &'static [Dim]) -> Self {
        Self::new("samples", Kind::Samples, shape)
    }

    /// Only tables with this mark have it.
    pub(crate) const fn with(self, mark: &'static str) -> Self {
        Self { presence: Presence::With(mark), ..self }
    }

    /// A file may lack it.
    pub(crate) const fn optional(self) -> Self {
        Self { presence: Presence::Optional, ..self }
    }

    /// An array of earlier versions that nothing reads.
    pub(crate) const fn ignored(name: &'static str) -> Self {
        Self { presence: Presence::Ignored, ..Self::f64(name, &[]) }
    }

    /// What its numbers must satisfy.
    pub(crate) const fn rules(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }
}

/// Declared arrays under one prefix, with what their dimensions are.
#[derive(Clone, Debug)]
pub struct Table {
    prefix: String,
    arrays: Vec<Declared>,
    dims: Vec<(&'static str, usize)>,
    marks: Vec<&'static str>,
    precision: String,
}

impl Table {
    /// Arrays whose names begin with `prefix`; samples are of this precision.
    pub(crate) fn new(prefix: impl Into<String>, arrays: &[Declared], precision: &str) -> Self {
        let (dims, marks) = (Vec::new(), Vec::new());
        Self { prefix: prefix.into(), arrays: arrays.to_vec(), dims, marks, precision: precision.into() }
    }

    /// More arrays under the same prefix.
    pub(crate) fn and(mut self, arrays: &[Declared]) -> Self {
        self.arrays.extend_from_slice(arrays);
        self
    }

    /// Says what a dimension is.
    pub(crate) fn dim(mut self, name: &'static str, size: usize) -> Self {
        self.dims.push((name, size));
        self
    }

    /// Marks the table when `holds`.
    pub(crate) fn mark(mut self, name: &'static str, holds: bool) -> Self {
        self.marks.extend(holds.then_some(name));
        self
    }

    fn size(&self, dim: Dim) -> Option<usize> {
        match dim {
            Dim::Is(size) => Some(size),
            Dim::Of(name) => self.dims.iter().find(|(known, _)| *known == name).map(|(_, size)| *size),
        }
    }

    fn name(&self, array: &Declared) -> String {
        format!("{}{}", self.prefix, array.name)
    }

    /// Arrays that are not ruled out by marks.
    fn possible(&self) -> Vec<Declared> {
        let marked = |array: &&Declared| match array.presence {
            Presence::With(mark) => self.marks.contains(&mark),
            _ => true,
        };
        self.arrays.iter().filter(marked).copied().collect()
    }

    /// The shape of an array that holds `count` numbers, of which at most one dimension is not known; that one is known from then on.
    fn shape_of(&mut self, array: &Declared, count: usize) -> Vec<usize> {
        let known: usize = array.shape.iter().filter_map(|dim| self.size(*dim)).product();
        self.learn(array, |_| count / known.max(1))
    }

    /// The shape; dimensions that are not known are taken from `found` by their place.
    fn learn(&mut self, array: &Declared, found: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut shape = Vec::with_capacity(array.shape.len());
        for (at, dim) in array.shape.iter().enumerate() {
            let size = self.size(*dim).unwrap_or_else(|| found(at));
            if let Dim::Of(name) = dim
                && self.size(*dim).is_none()
            {
                self.dims.push((name, size));
            }
            shape.push(size);
        }
        shape
    }

    /// Refuses numbers that break a rule.
    fn check(&self, array: &Declared, shape: &[usize], numbers: &Numbers<'_>) -> Result<()> {
        let wrong = |rule: &Rule| match numbers {
            Numbers::F64(x) => broken(rule, x),
            Numbers::U32(x) => self.beyond(rule, x),
            _ => None,
        };
        let found = array.rules.iter().find_map(|rule| wrong(rule).map(|why| (rule, why)));
        let Some((rule, (at, what))) = found else { return Ok(()) };
        let place = match shape {
            [1] => String::new(),
            [_, columns] if !matches!(rule, Rule::Intervals(_)) => {
                format!("[{}, {}]", at / (*columns).max(1), at % (*columns).max(1))
            }
            _ => format!("[{at}]"),
        };
        Err(Error::model(format!("{}{place} {what}", self.name(array)), required(rule), SAVE_AGAIN))
    }

    fn beyond(&self, rule: &Rule, numbers: &[u32]) -> Option<(usize, String)> {
        let Rule::Below(name, _) = rule else { return None };
        let end = self.size(Dim::Of(name))?;
        let at = numbers.iter().position(|number| *number as usize >= end)?;
        Some((at, format!("is {}, beyond {end}", numbers[at])))
    }
}

/// Which number breaks a rule, and what it is.
fn broken(rule: &Rule, x: &[f64]) -> Option<(usize, String)> {
    let first = |bad: &dyn Fn(f64) -> bool| {
        x.iter().position(|value| bad(*value)).map(|at| (at, format!("is {}", x[at])))
    };
    let rises = |size: fn(f64) -> f64| {
        let at = x.windows(2).position(|pair| size(pair[0]) < size(pair[1]))?;
        Some((at, format!("is {} and the next {}", x[at], x[at + 1])))
    };
    match rule {
        Rule::Positive(_) => first(&|value| value <= 0.0),
        Rule::NonNegative(_) => first(&|value| value < 0.0),
        Rule::NonZero(_) => first(&|value| value == 0.0),
        Rule::AtMost(most, _) => first(&|value| value.abs() > *most),
        Rule::Descending(_) => rises(|value| value),
        Rule::DescendingMagnitude(_) => rises(f64::abs),
        Rule::Intervals(_) => {
            let at = x.chunks_exact(2).position(|pair| pair[0] > pair[1])?;
            Some((at, format!("runs from {} to {}", x[2 * at], x[2 * at + 1])))
        }
        Rule::Below(..) => None,
    }
}

fn required(rule: &Rule) -> &'static str {
    match rule {
        Rule::Positive(text)
        | Rule::NonNegative(text)
        | Rule::NonZero(text)
        | Rule::Descending(text)
        | Rule::DescendingMagnitude(text)
        | Rule::Intervals(text)
        | Rule::AtMost(_, text)
        | Rule::Below(_, text) => text,
    }
}

/// Arrays on their way into a file.
#[derive(Debug)]
pub struct Out<'a> {
    prefix: String,
    arrays: Vec<(String, Given<'a>)>,
}

#[derive(Debug)]
enum Given<'a> {
    Numbers(Numbers<'a>),
    Samples(&'a AnySamples),
}

impl<'a> Out<'a> {
    pub(crate) fn new() -> Self {
        Self { prefix: String::new(), arrays: Vec::new() }
    }

    /// The prefix of the names that follow.
    pub(crate) fn at(&mut self, prefix: impl Into<String>) -> &mut Self {
        self.prefix = prefix.into();
        self
    }

    /// Numbers in double precision.
    pub(crate) fn f64(&mut self, name: &str, numbers: impl Into<Cow<'a, [f64]>>) -> &mut Self {
        self.put(name, Given::Numbers(Numbers::F64(numbers.into())))
    }

    /// A matrix, row after row.
    pub(crate) fn matrix(&mut self, name: &str, matrix: &'a Matrix<f64>) -> &mut Self {
        self.f64(name, matrix.as_slice())
    }

    /// Intervals: a lower and an upper bound in each row.
    pub(crate) fn intervals(&mut self, name: &str, intervals: &[Interval]) -> &mut Self {
        self.f64(name, intervals.iter().flat_map(|x| [x.low, x.high]).collect::<Vec<f64>>())
    }

    /// Indices.
    pub(crate) fn u32(&mut self, name: &str, numbers: &'a [u32]) -> &mut Self {
        self.put(name, Given::Numbers(Numbers::U32(numbers.into())))
    }

    /// Samples.
    pub(crate) fn samples(&mut self, samples: &'a AnySamples) -> &mut Self {
        self.put("samples", Given::Samples(samples))
    }

    fn put(&mut self, name: &str, given: Given<'a>) -> &mut Self {
        self.arrays.push((format!("{}{name}", self.prefix), given));
        self
    }
}

fn undeclared(name: &str, what: &str) -> Error {
    Error::model(
        format!("array \"{}\" that is {what}", shown(name)),
        "a method gives the arrays that it declares, and no others",
        "Report this as a fault of eigenlift",
    )
}

/// The arrays of a file: those given, in the shapes that were declared, and checked.
pub(crate) fn arrays_of<'a>(tables: Vec<Table>, out: Out<'a>) -> Result<Vec<Array<'a>>> {
    let mut given = out.arrays;
    let mut arrays = Vec::with_capacity(given.len());
    for mut table in tables {
        for declared in table.possible() {
            let name = table.name(&declared);
            let Some(at) = given.iter().position(|(known, _)| *known == name) else {
                match declared.presence {
                    Presence::Always | Presence::With(_) => {
                        return Err(undeclared(&name, "declared and not given"));
                    }
                    Presence::Optional | Presence::Ignored => continue,
                }
            };
            match given.swap_remove(at).1 {
                Given::Samples(samples) => arrays.extend(sample_arrays(&table.prefix, samples)),
                Given::Numbers(numbers) => {
                    let shape = table.shape_of(&declared, numbers.len());
                    table.check(&declared, &shape, &numbers)?;
                    arrays.push(Array::new(name, &shape, numbers));
                }
            }
        }
    }
    match given.first() {
        None => Ok(arrays),
        Some((name, _)) => Err(undeclared(name, "given and not declared")),
    }
}

/// Arrays of a file that satisfy their declaration, to be taken one by one.
#[derive(Debug)]
pub struct Arrays {
    prefix: String,
    method: String,
    arrays: Vec<(String, Vec<usize>, Found)>,
}

#[derive(Debug)]
enum Found {
    Numbers(Numbers<'static>),
    Samples(AnySamples),
}

impl Arrays {
    /// Reads and checks all arrays that are declared, and refuses others.
    pub(crate) fn read(file: &mut ModelReader<'_>, tables: Vec<Table>) -> Result<Self> {
        let possible: Vec<Vec<Declared>> = tables.iter().map(Table::possible).collect();
        let mut names = Vec::new();
        for (table, arrays) in tables.iter().zip(&possible) {
            for array in arrays {
                match array.kind {
                    Kind::Samples => names.extend(file.sample_names(&table.prefix)),
                    Kind::F64 | Kind::U32 => names.push(table.name(array)),
                }
            }
        }
        file.expect_only(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let method = file.header().method.clone();
        let mut found = Self { prefix: String::new(), method, arrays: Vec::new() };
        for (mut table, arrays) in tables.into_iter().zip(possible) {
            for array in arrays {
                found.read_one(file, &mut table, &array)?;
            }
        }
        Ok(found)
    }

    fn read_one(&mut self, file: &mut ModelReader<'_>, table: &mut Table, array: &Declared) -> Result<()> {
        let name = table.name(array);
        let there = file.shape(&name);
        if array.presence == Presence::Ignored || (array.presence == Presence::Optional && there.is_none()) {
            return Ok(());
        }
        let there = there.unwrap_or_default();
        let shape = table.learn(array, |at| there.get(at).copied().unwrap_or(0));
        let numbers = match (array.kind, &shape[..]) {
            (Kind::Samples, &[n, d]) => {
                let samples = read_samples(file, &table.prefix, (n, d), &table.precision)?;
                self.arrays.push((name, shape, Found::Samples(samples)));
                return Ok(());
            }
            (Kind::U32, _) => Numbers::U32(file.numbers(&name, &shape)?.into()),
            _ => Numbers::F64(file.numbers(&name, &shape)?.into()),
        };
        table.check(array, &shape, &numbers)?;
        self.arrays.push((name, shape, Found::Numbers(numbers)));
        Ok(())
    }

    /// The prefix of the names that follow.
    pub(crate) fn at(&mut self, prefix: impl Into<String>) -> &mut Self {
        self.prefix = prefix.into();
        self
    }

    fn find(&mut self, name: &str) -> Option<(Vec<usize>, Found)> {
        let name = format!("{}{name}", self.prefix);
        let at = self.arrays.iter().position(|(known, ..)| *known == name)?;
        let (_, shape, found) = self.arrays.swap_remove(at);
        Some((shape, found))
    }

    fn missing(&self, name: &str) -> Error {
        Error::model(
            format!("no array \"{}{name}\"", self.prefix),
            format!("a {} model needs it", shown(&self.method)),
            SAVE_AGAIN,
        )
    }

    /// Numbers in double precision; `None` where the file lacks them.
    pub(crate) fn optional(&mut self, name: &str) -> Option<Vec<f64>> {
        match self.find(name) {
            Some((_, Found::Numbers(Numbers::F64(x)))) => Some(x.into_owned()),
            _ => None,
        }
    }

    /// Numbers in double precision.
    ///
    /// # Errors
    /// When the file lacks them.
    pub(crate) fn f64(&mut self, name: &str) -> Result<Vec<f64>> {
        self.optional(name).ok_or_else(|| self.missing(name))
    }

    /// Intervals.
    ///
    /// # Errors
    /// As [`Arrays::f64`].
    pub(crate) fn intervals(&mut self, name: &str) -> Result<Vec<Interval>> {
        let interval = |pair: &[f64]| Interval { low: pair[0], high: pair[1] };
        Ok(self.f64(name)?.chunks_exact(2).map(interval).collect())
    }

    /// A matrix.
    ///
    /// # Errors
    /// As [`Arrays::f64`].
    pub(crate) fn matrix(&mut self, name: &str) -> Result<Matrix<f64>> {
        match self.find(name) {
            Some((shape, Found::Numbers(Numbers::F64(x)))) => {
                let (rows, columns) =
                    (shape.first().copied().unwrap_or(0), shape.get(1).copied().unwrap_or(1));
                Matrix::from_vec(x.into_owned(), rows, columns)
            }
            _ => Err(self.missing(name)),
        }
    }

    /// Indices.
    ///
    /// # Errors
    /// As [`Arrays::f64`].
    pub(crate) fn u32(&mut self, name: &str) -> Result<Vec<u32>> {
        match self.find(name) {
            Some((_, Found::Numbers(Numbers::U32(x)))) => Ok(x.into_owned()),
            _ => Err(self.missing(name)),
        }
    }

    /// The samples.
    ///
    /// # Errors
    /// As [`Arrays::f64`].
    pub(crate) fn samples(&mut self) -> Result<AnySamples> {
        match self.find("samples") {
            Some((_, Found::Samples(x))) => Ok(x),
            _ => Err(self.missing("samples")),
        }
    }
}

#[cfg(test)]
mod tests;
