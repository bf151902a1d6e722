//! Which kernel: a plain value that is printed, parsed, saved and compared.

use crate::error::Result;
use crate::kernel::formula::Formula;

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
    /// By masked cross-validation, see [`crate::methods::kernel_choice`].
    Auto,
}

/// Notation in which the width of a Gaussian was given: γ = 1/(2σ²) = 1/c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// exp(−γ‖x−y‖²)
    Gamma(Param),
    /// exp(−‖x−y‖²/(2σ²))
    Sigma(Param),
    /// exp(−‖x−y‖²/c)
    C(Param),
}

/// Smoothness ν of a Matérn kernel, where the kernel has a closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaternNu {
    /// ν = 1/2
    Half,
    /// ν = 3/2
    ThreeHalves,
    /// ν = 5/2
    FiveHalves,
}

impl MaternNu {
    /// ν as a number.
    pub fn value(self) -> f64 {
        match self {
            Self::Half => 0.5,
            Self::ThreeHalves => 1.5,
            Self::FiveHalves => 2.5,
        }
    }
}

/// What a parameter scales, which decides what its median is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
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
    /// ⟨x,y⟩
    Linear,
    /// (γ⟨x,y⟩ + c₀)^p
    Polynomial {
        /// p
        degree: f64,
        /// γ
        gamma: Param,
        /// c₀
        coef0: f64,
    },
    /// exp(−γ‖x−y‖²)
    Rbf(Width),
    /// exp(−γ‖x−y‖₁)
    Laplacian {
        /// γ
        gamma: Param,
    },
    /// exp(−γ‖x−y‖₂)
    Exponential {
        /// γ
        gamma: Param,
    },
    /// Matérn: with s = √(2ν)‖x−y‖/ℓ, e⁻ˢ times 1, 1 + s or 1 + s + s²/3 for ν = 1/2, 3/2, 5/2.
    Matern {
        /// ν
        nu: MaternNu,
        /// ℓ
        length: Param,
    },
    /// (1 + ‖x−y‖²/(2αℓ²))^(−α)
    RationalQuadratic {
        /// α
        alpha: f64,
        /// ℓ
        length: Param,
    },
    /// tanh(γ⟨x,y⟩ + c₀): not a Mercer kernel in general
    Sigmoid {
        /// γ
        gamma: Param,
        /// c₀
        coef0: f64,
    },
    /// ⟨x,y⟩/(‖x‖‖y‖)
    Cosine,
    /// exp(−γ Σ(xᵢ−yᵢ)²/(xᵢ+yᵢ)), entries ≥ 0
    Chi2 {
        /// γ
        gamma: Param,
    },
    /// Σ min(xᵢ,yᵢ), entries ≥ 0
    Intersection,
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
    /// Which kernel is best on the data, by masked cross-validation: see [`crate::methods::kernel_choice`]
    Auto,
}

impl Default for KernelSpec {
    fn default() -> Self {
        Self::Rbf(Width::Gamma(Param::Median))
    }
}

impl KernelSpec {
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
            Self::Polynomial { degree, gamma, coef0 } => {
                let positive = match gamma {
                    Param::Value(gamma) => *gamma > 0.0,
                    Param::OverDimension => true,
                    Param::Median | Param::Auto => false,
                };
                positive && degree.fract() == 0.0 && *coef0 >= 0.0
            }
            Self::Sigmoid { .. } | Self::Expr(_) | Self::Precomputed | Self::Auto => false,
            Self::Scaled(factor, inner) => *factor >= 0.0 && inner.is_mercer() == Some(true),
            Self::Sum(parts) | Self::Product(parts) => {
                parts.iter().all(|part| part.is_mercer() == Some(true))
            }
            _ => true,
        };
        known.then_some(true)
    }

    /// Whether a parameter is still to be found from the data.
    pub fn needs_data(&self) -> bool {
        match self {
            Self::Scaled(_, inner) => inner.needs_data(),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().any(Self::needs_data),
            leaf => leaf.clone().param_mut().is_some_and(|(_, param)| !matches!(param, Param::Value(_))),
        }
    }

    /// Whether the kernel or a bandwidth is still to be chosen by cross-validation.
    pub fn is_automatic(&self) -> bool {
        match self {
            Self::Auto => true,
            Self::Scaled(_, inner) => inner.is_automatic(),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().any(Self::is_automatic),
            leaf => leaf.clone().param_mut().is_some_and(|(_, param)| *param == Param::Auto),
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
            _ => 0,
        }
    }

    /// The same kernel with every parameter, given or not, replaced by the number that `value` gives for it.
    ///
    /// ```
    /// use eigenlift::kernel::{KernelSpec, Param};
    /// let kernel = KernelSpec::default().map_params(&mut |_, param| match param {
    ///     Param::Value(number) => Ok(number),
    ///     _ => Ok(0.25),
    /// })?;
    /// assert_eq!(kernel.to_string(), "rbf(gamma=0.25)");
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `value`, and those of [`validate`](Self::validate) for the result.
    pub fn map_params(&self, value: &mut dyn FnMut(ParamRole, Param) -> Result<f64>) -> Result<KernelSpec> {
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
            leaf => {
                if let Some((role, param)) = leaf.param_mut() {
                    *param = Param::Value(value(role, *param)?);
                }
                Ok(())
            }
        }
    }

    /// The parameter of this kernel itself that may come from the data.
    fn param_mut(&mut self) -> Option<(ParamRole, &mut Param)> {
        match self {
            Self::Rbf(Width::Gamma(gamma)) => Some((ParamRole::SquaredDistanceRate, gamma)),
            Self::Rbf(Width::Sigma(sigma)) => Some((ParamRole::Distance, sigma)),
            Self::Rbf(Width::C(c)) => Some((ParamRole::SquaredDistance, c)),
            Self::Laplacian { gamma } => Some((ParamRole::L1Rate, gamma)),
            Self::Exponential { gamma } => Some((ParamRole::DistanceRate, gamma)),
            Self::Matern { length, .. } | Self::RationalQuadratic { length, .. } => {
                Some((ParamRole::Distance, length))
            }
            Self::Polynomial { gamma, .. } | Self::Sigmoid { gamma, .. } => {
                Some((ParamRole::InnerProductRate, gamma))
            }
            Self::Chi2 { gamma } => Some((ParamRole::Chi2Rate, gamma)),
            Self::Linear | Self::Cosine | Self::Intersection | Self::Map(_) | Self::Expr(_) => None,
            Self::Scaled(..) | Self::Sum(_) | Self::Product(_) | Self::Precomputed | Self::Auto => None,
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
