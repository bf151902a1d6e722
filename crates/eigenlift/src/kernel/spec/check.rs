//! What a kernel description must satisfy, whether it was read or built.

use super::KernelSpec;
use crate::error::Result;
use crate::kernel::entry::nonzero;
use crate::kernel::token::{MAX_DEPTH, MAX_LENGTH, bad};

/// Levels of sums, products and scalings: a pair of parentheses in the text holds at most three.
const MAX_LEVELS: usize = 3 * MAX_DEPTH + 3;

impl KernelSpec {
    /// Checks every number and the shape of sums and products.
    ///
    /// Parameters must be in the ranges of the catalog, a number in front of a kernel finite and not 0. Sums and
    /// products have the shape that [`sum`](Self::sum), [`product`](Self::product) and
    /// [`scaled`](Self::scaled) give them, and `precomputed` and `auto` stand alone.
    ///
    /// # Errors
    /// The first violation, with the parameter, the value found and what is required.
    pub fn validate(&self) -> Result<()> {
        self.check(0)?;
        let length = self.to_string().len();
        if length > MAX_LENGTH {
            return Err(bad(
                format!("the kernel description takes {length} bytes when written in full"),
                format!("at most {MAX_LENGTH} are read"),
                "Shorten it, or compute the kernel matrix yourself and use precomputed.",
            ));
        }
        Ok(())
    }

    fn check(&self, level: usize) -> Result<()> {
        if level > MAX_LEVELS {
            return Err(bad(
                "the kernel description is nested too deeply",
                format!("at most {MAX_DEPTH} levels are read"),
                "Build sums and products as one list.",
            ));
        }
        match self {
            Self::Scaled(..) | Self::Sum(_) | Self::Product(_) => self.check_parts(level),
            Self::Precomputed if level > 0 => Err(bad(
                "precomputed stands inside a sum, a product or a scaling",
                "it must stand alone, since it has no points to evaluate",
                "Combine the matrices before you pass them.",
            )),
            Self::Auto if level > 0 => Err(bad(
                "auto stands inside a sum, a product or a scaling",
                "it stands for the whole kernel",
                "Write a bandwidth as auto instead, as in rbf(gamma=auto).",
            )),
            Self::Map(formulas) if formulas.is_empty() => Err(bad(
                "map has no formulas",
                "a feature map needs at least one",
                "Write one, as in map(x1, x1^2).",
            )),
            Self::Map(formulas) if formulas.iter().any(|formula| formula.uses_y()) => Err(bad(
                "a formula of a map uses a second point",
                "a feature map depends on one point, through x1, x2, …",
                "Write the kernel itself with expr(…) to use both points.",
            )),
            Self::Named(kernel) => kernel.check(),
            Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => Ok(()),
        }
    }

    fn check_parts(&self, level: usize) -> Result<()> {
        let (name, parts, opened) = match self {
            Self::Scaled(factor, inner) => {
                nonzero("the number in front of a kernel", *factor, "")?;
                ("scaling", std::slice::from_ref(&**inner), matches!(**inner, Self::Scaled(..)))
            }
            Self::Sum(parts) => ("sum", &parts[..], parts.iter().any(|part| matches!(part, Self::Sum(_)))),
            Self::Product(parts) => {
                let nested = |part: &Self| matches!(part, Self::Product(_) | Self::Scaled(..));
                ("product", &parts[..], parts.iter().any(nested))
            }
            Self::Named(_) | Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => return Ok(()),
        };
        if opened || name != "scaling" && parts.len() < 2 {
            return Err(bad(
                format!("a {name} of {} parts is not in canonical form", parts.len()),
                "sums and products have two or more parts, which are not sums or products of the same kind",
                "Build it with KernelSpec::sum, KernelSpec::product and KernelSpec::scaled.",
            ));
        }
        parts.iter().try_for_each(|part| part.check(level + 1))
    }
}
