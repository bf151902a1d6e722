//! Which kernel: a plain value that is printed, parsed, saved and compared.

use crate::error::Result;
use crate::kernel::catalog;
use crate::kernel::entry::{NamedKernel, Parameter};
use crate::kernel::formula::Formula;
use serde::Serialize;

mod check;
mod text;

/// A number in a kernel description: given, or to be found from the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param {
    /// Given.
    Value(f64),
    /// From the median of the quantity that it scales, over pairs of samples.
    Median,
    /// One over the number of features, written `1/d`.
    OverDimension,
    /// By masked cross-validation, see [`crate::tuning::kernel_choice`].
    Auto,
}

/// What a parameter scales, which decides what its median is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ParamRole {
    /// Multiplies ‖x−y‖²: gamma of `rbf`.
    SquaredDistanceRate,
    /// Divides ‖x−y‖²: c of `rbf`.
    SquaredDistance,
    /// A length: sigma of `rbf`, length of `matern` and `rational_quadratic`.
    Distance,
    /// Multiplies ‖x−y‖₁: gamma of `laplacian`.
    L1Rate,
    /// Multiplies ‖x−y‖₂: gamma of `exponential`.
    DistanceRate,
    /// Multiplies ⟨x,y⟩: gamma of `polynomial` and `sigmoid`.
    InnerProductRate,
    /// Multiplies Σ(xᵢ−yᵢ)²/(xᵢ+yᵢ): gamma of `chi2`.
    Chi2Rate,
}

/// A kernel k(x,y).
///
/// The text form is canonical: every description that passes [`validate`](Self::validate) is equal to what
/// its text is read as. In serde it is that text.
///
/// ```
/// use eigenlift::kernel::KernelSpec;
/// let kernel: KernelSpec = "0.5 * Gaussian + linear".parse()?;
/// assert_eq!(kernel.to_string(), "0.5*rbf(gamma=median) + linear");
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KernelSpec {
    /// A kernel of the [`CATALOG`](super::CATALOG) with its parameters
    Named(NamedKernel),
    /// ⟨φ(x),φ(y)⟩ with one formula for each coordinate of φ
    Map(Vec<Formula>),
    /// A formula in x and y
    Expr(Formula),
    /// A number times a kernel, which is itself not `Scaled`: see [`scaled`](Self::scaled)
    Scaled(f64, Box<KernelSpec>),
    /// Two or more kernels, none a `Sum`: see [`sum`](Self::sum)
    Sum(Vec<KernelSpec>),
    /// Two or more kernels, none a `Product` or `Scaled`: see [`product`](Self::product)
    Product(Vec<KernelSpec>),
    /// The kernel matrix is given in place of data
    Precomputed,
    /// Which kernel is best on the data, by masked cross-validation: see [`crate::tuning::kernel_choice`]
    Auto,
}

impl Default for KernelSpec {
    fn default() -> Self {
        Self::rbf(Param::Median)
    }
}

impl KernelSpec {
    /// ⟨x,y⟩
    pub fn linear() -> Self {
        Self::Named(NamedKernel::new(&catalog::LINEAR))
    }

    /// exp(−γ‖x−y‖²)
    pub fn rbf(gamma: Param) -> Self {
        let mut kernel = NamedKernel::new(&catalog::RBF);
        kernel.data_params().for_each(|(_, param)| *param = gamma);
        Self::Named(kernel)
    }

    /// Sum of kernels, with sums inside it opened. One kernel is itself.
    pub fn sum(parts: impl IntoIterator<Item = KernelSpec>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Sum(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        only(all).unwrap_or_else(Self::Sum)
    }

    /// Product of kernels, with products inside it opened and numbers moved in front. One kernel is itself.
    pub fn product(parts: impl IntoIterator<Item = KernelSpec>) -> Self {
        let (mut all, mut scale) = (Vec::new(), None);
        for part in parts {
            let part = match part {
                Self::Scaled(factor, inner) => {
                    scale = Some(scale.unwrap_or(1.0) * factor);
                    *inner
                }
                other => other,
            };
            match part {
                Self::Product(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        let product = only(all).unwrap_or_else(Self::Product);
        match scale {
            Some(factor) => product.scaled(factor),
            None => product,
        }
    }

    /// `factor` times this kernel; factors multiply.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Scaled(inner_factor, inner) => Self::Scaled(factor * inner_factor, inner),
            other => Self::Scaled(factor, Box::new(other)),
        }
    }

    /// Whether the kernel is positive semi-definite for every set of (admissible) points: `Some(true)` where
    /// that is known, `None` where it depends on the points or is not known from the description alone.
    pub fn is_mercer(&self) -> Option<bool> {
        let known = match self {
            Self::Named(kernel) => kernel.is_mercer(),
            Self::Map(_) => true,
            Self::Expr(_) | Self::Precomputed | Self::Auto => false,
            Self::Scaled(factor, inner) => *factor >= 0.0 && inner.is_mercer() == Some(true),
            Self::Sum(parts) | Self::Product(parts) => {
                parts.iter().all(|part| part.is_mercer() == Some(true))
            }
        };
        known.then_some(true)
    }

    /// Whether a parameter is still to be found from the data.
    pub fn needs_data(&self) -> bool {
        self.any_param(&|param| !matches!(param, Param::Value(_)))
    }

    /// Whether the kernel or a bandwidth is still to be chosen by cross-validation.
    pub fn is_automatic(&self) -> bool {
        matches!(self, Self::Auto) || self.any_param(&|param| param == Param::Auto)
    }

    /// Whether a parameter of the kernel or of a part of it has a property.
    fn any_param(&self, has: &dyn Fn(Param) -> bool) -> bool {
        match self {
            Self::Named(kernel) => kernel.params().any(|(_, param)| has(param)),
            Self::Scaled(_, inner) => inner.any_param(has),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().any(|part| part.any_param(has)),
            Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => false,
        }
    }

    /// The kernel of the catalog that this is, or is a multiple of.
    pub fn named(&self) -> Option<&NamedKernel> {
        match self {
            Self::Named(kernel) => Some(kernel),
            Self::Scaled(_, inner) => inner.named(),
            Self::Map(_)
            | Self::Expr(_)
            | Self::Sum(_)
            | Self::Product(_)
            | Self::Precomputed
            | Self::Auto => None,
        }
    }

    /// The parameter that may come from the data, and its value, of a kernel of the catalog or a multiple of one.
    pub fn bandwidth(&self) -> Option<(&'static Parameter, Param)> {
        self.named()?.params().find(|(param, _)| param.role.is_some())
    }

    /// The same kernel with another value of its [`bandwidth`](Self::bandwidth).
    pub(crate) fn with_bandwidth(self, value: Param) -> Self {
        match self {
            Self::Named(mut kernel) => {
                kernel.data_params().for_each(|(_, param)| *param = value);
                Self::Named(kernel)
            }
            Self::Scaled(factor, inner) => inner.with_bandwidth(value).scaled(factor),
            Self::Map(_)
            | Self::Expr(_)
            | Self::Sum(_)
            | Self::Product(_)
            | Self::Precomputed
            | Self::Auto => self,
        }
    }

    /// Whether a constant is among the features of this kernel of the catalog, as it is of (γ⟨x,y⟩ + c₀)ᵖ with c₀ > 0.
    pub fn has_constant(&self) -> bool {
        match self {
            Self::Named(kernel) => kernel.monomials().is_some_and(|monomials| monomials.coef0 > 0.0),
            Self::Scaled(..) | Self::Sum(_) | Self::Product(_) => false,
            Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => false,
        }
    }

    /// Whether the kernel, or a part of it, needs entries ≥ 0.
    pub fn needs_nonnegative(&self) -> bool {
        match self {
            Self::Named(kernel) => kernel.entry().nonnegative,
            Self::Scaled(_, inner) => inner.needs_nonnegative(),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().any(Self::needs_nonnegative),
            Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => false,
        }
    }

    /// Whether the kernel matrix is given in place of data.
    pub fn is_precomputed(&self) -> bool {
        matches!(self, Self::Precomputed)
    }

    /// Largest index of a variable in any formula; 0 without formulas. Data must have at least this many
    /// features.
    pub fn max_variable(&self) -> usize {
        match self {
            Self::Map(formulas) => formulas.iter().map(Formula::max_variable).max().unwrap_or(0),
            Self::Expr(formula) => formula.max_variable(),
            Self::Scaled(_, inner) => inner.max_variable(),
            Self::Sum(parts) | Self::Product(parts) => {
                parts.iter().map(Self::max_variable).max().unwrap_or(0)
            }
            Self::Named(_) | Self::Precomputed | Self::Auto => 0,
        }
    }

    /// The same kernel with every parameter, given or not, replaced by the number that `value` gives for it.
    ///
    /// # Errors
    /// Those of `value`, and those of [`validate`](Self::validate) for the result.
    pub(crate) fn map_params(
        &self,
        value: &mut dyn FnMut(ParamRole, Param) -> Result<f64>,
    ) -> Result<KernelSpec> {
        let mut resolved = self.clone();
        resolved.resolve(value)?;
        resolved.validate()?;
        Ok(resolved)
    }

    fn resolve(&mut self, value: &mut dyn FnMut(ParamRole, Param) -> Result<f64>) -> Result<()> {
        match self {
            Self::Scaled(_, inner) => inner.resolve(value),
            Self::Sum(parts) | Self::Product(parts) => {
                parts.iter_mut().try_for_each(|part| part.resolve(value))
            }
            Self::Named(kernel) => {
                for (role, param) in kernel.data_params() {
                    *param = Param::Value(value(role, *param)?);
                }
                Ok(())
            }
            Self::Map(_) | Self::Expr(_) | Self::Precomputed | Self::Auto => Ok(()),
        }
    }
}

/// The only kernel of a list, or the list.
fn only(mut parts: Vec<KernelSpec>) -> std::result::Result<KernelSpec, Vec<KernelSpec>> {
    match (parts.len(), parts.pop()) {
        (1, Some(part)) => Ok(part),
        (_, last) => {
            parts.extend(last);
            Err(parts)
        }
    }
}

#[cfg(test)]
mod tests;
