//! A kernel description as canonical text, for people, command lines and files.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{KernelSpec, Param};
use crate::kernel::token::number_text;

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(&number_text(*value)),
            Self::Median => f.write_str("median"),
            Self::OverDimension => f.write_str("1/d"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl fmt::Display for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(kernel) => write!(f, "{kernel}"),
            Self::Map(formulas) => {
                f.write_str("map(")?;
                join(f, formulas, ", ", |f, formula| write!(f, "{formula}"))?;
                f.write_str(")")
            }
            Self::Expr(formula) => write!(f, "expr({formula})"),
            Self::Scaled(factor, inner) => {
                write!(f, "{}*", number_text(*factor))?;
                nested(f, inner, matches!(**inner, Self::Sum(_) | Self::Scaled(..)))
            }
            Self::Sum(parts) => {
                join(f, parts, " + ", |f, part| nested(f, part, matches!(part, Self::Sum(_))))
            }
            Self::Product(parts) => join(f, parts, "*", |f, part| {
                nested(f, part, matches!(part, Self::Sum(_) | Self::Scaled(..) | Self::Product(_)))
            }),
            Self::Precomputed => f.write_str("precomputed"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

fn nested(f: &mut fmt::Formatter<'_>, part: &KernelSpec, parentheses: bool) -> fmt::Result {
    if parentheses { write!(f, "({part})") } else { write!(f, "{part}") }
}

fn join<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    separator: &str,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write(f, item)?;
    }
    Ok(())
}

impl Serialize for KernelSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Param {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => serializer.serialize_f64(*value),
            Self::Median | Self::OverDimension | Self::Auto => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for KernelSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
