//! A kernel description as canonical text, for people, command lines and files.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{KernelSpec, Param, Width};
use crate::kernel::token::number_text;

impl KernelSpec {
    /// Names of all kernels that a description can hold, as they are printed.
    pub const NAMES: &[&str] = &[
        "linear",
        "polynomial",
        "rbf",
        "laplacian",
        "exponential",
        "matern",
        "rational_quadratic",
        "sigmoid",
        "cosine",
        "chi2",
        "intersection",
        "map",
        "expr",
        "precomputed",
        "auto",
    ];

    /// The parameters of a kernel of [`NAMES`](Self::NAMES), in the order of positional arguments; `None` for
    /// any other name. `rbf` takes one of its three; `map` takes one or more formulas, `expr` one.
    pub fn params(name: &str) -> Option<&'static [&'static str]> {
        match name {
            "polynomial" => Some(&["degree", "gamma", "coef0"]),
            "rbf" => Some(&["gamma", "sigma", "c"]),
            "laplacian" | "exponential" | "chi2" => Some(&["gamma"]),
            "matern" => Some(&["nu", "length"]),
            "rational_quadratic" => Some(&["alpha", "length"]),
            "sigmoid" => Some(&["gamma", "coef0"]),
            "map" | "expr" => Some(&["formula"]),
            "linear" | "cosine" | "intersection" | "precomputed" | "auto" => Some(&[]),
            _ => None,
        }
    }
}

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
            Self::Linear => f.write_str("linear"),
            Self::Polynomial { degree, gamma, coef0 } => {
                let (degree, coef0) = (number_text(*degree), number_text(*coef0));
                write!(f, "polynomial(degree={degree},gamma={gamma},coef0={coef0})")
            }
            Self::Rbf(Width::Gamma(gamma)) => write!(f, "rbf(gamma={gamma})"),
            Self::Rbf(Width::Sigma(sigma)) => write!(f, "rbf(sigma={sigma})"),
            Self::Rbf(Width::C(c)) => write!(f, "rbf(c={c})"),
            Self::Laplacian { gamma } => write!(f, "laplacian(gamma={gamma})"),
            Self::Exponential { gamma } => write!(f, "exponential(gamma={gamma})"),
            Self::Matern { nu, length } => write!(f, "matern(nu={},length={length})", nu.value()),
            Self::RationalQuadratic { alpha, length } => {
                write!(f, "rational_quadratic(alpha={},length={length})", number_text(*alpha))
            }
            Self::Sigmoid { gamma, coef0 } => {
                write!(f, "sigmoid(gamma={gamma},coef0={})", number_text(*coef0))
            }
            Self::Cosine => f.write_str("cosine"),
            Self::Chi2 { gamma } => write!(f, "chi2(gamma={gamma})"),
            Self::Intersection => f.write_str("intersection"),
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

impl<'de> Deserialize<'de> for KernelSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
