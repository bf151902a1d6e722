//! Kernels: descriptions that can be printed, parsed and saved, and their evaluation by tiles.

mod bandwidth;
mod catalog;
mod dimension;
mod entry;
mod feature_map;
mod formula;
mod geometry;
mod gradient;
mod origin;
mod parse;
mod profile;
mod spec;
mod tile;
mod token;

pub(crate) use bandwidth::{PairRows, PairSample};
pub use catalog::CATALOG;
pub(crate) use catalog::{of_distance, with_spectral_density};
pub use dimension::Dimension;
pub use entry::{KernelEntry, NamedKernel, Parameter, Range, Trial};
pub(crate) use entry::{Monomials, SpectralDensity};
pub use feature_map::PolynomialMap;
pub use formula::Formula;
pub(crate) use gradient::{differences, formula_slopes};
pub(crate) use profile::DistanceProfile;
pub(crate) use spec::ParamRole;
pub use spec::{KernelSpec, Param};
pub use tile::Workspace;
pub(crate) use tile::squared_distances;

use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::memory::zeroed;
use crate::real::Real;
use std::sync::Arc;
use tile::Form;

/// A kernel ready to be computed.
#[derive(Clone)]
pub struct Kernel {
    spec: Option<KernelSpec>,
    name: String,
    form: Form,
    /// Rows are taken from here, see [`Kernel::origin`].
    origin: Option<Arc<[f64]>>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.name)
    }
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Kernel {
    /// A kernel for rows of `n_features` numbers; every parameter must be a number.
    ///
    /// # Errors
    /// When a parameter is still to be found from data, a formula names a feature that does not exist, or the kernel is
    /// `precomputed`, which has no formula.
    pub fn new(spec: &KernelSpec, n_features: usize) -> Result<Self> {
        let (form, name) = (form(spec, n_features)?, spec.to_string());
        Ok(Self { form, name, spec: Some(spec.clone()), origin: None })
    }

    /// A kernel for these rows: `median` and `1/d` are found from them, and the rows are checked for what the kernel needs.
    ///
    /// # Errors
    /// As [`Kernel::new`]; when all rows are the same, so that there is no median distance; when the kernel needs entries
    /// ≥ 0 and one is negative; when a formula is not symmetric in x and y.
    pub fn for_points(spec: &KernelSpec, points: AnyPoints<'_>, seed: u64) -> Result<Self> {
        let kernel = Self::for_points_unchecked(spec, points, seed)?;
        kernel.asymmetric_pair(points, seed).map_or(Ok(()), |(there, back)| {
            Err(Error::kernel(
                format!("the kernel {kernel} gives k(x,y) = {there} and k(y,x) = {back} for a pair of rows"),
                "a kernel must be symmetric",
                "Make the formula the same when x and y are exchanged",
            ))
        })?;
        Ok(kernel)
    }

    /// As [`Kernel::for_points`], but a formula may turn out not to be symmetric.
    pub(crate) fn for_points_unchecked(spec: &KernelSpec, points: AnyPoints<'_>, seed: u64) -> Result<Self> {
        let resolved = Self::resolve(spec, points.into(), seed)?;
        let kernel = Self::new(&resolved, points.n_cols())?;
        kernel.check_points(points)?;
        Ok(kernel)
    }

    /// The description with every parameter known: `median` and `1/d` are found from these rows.
    ///
    /// # Errors
    /// When all rows are the same, so that there is no median distance; when a parameter is `auto`.
    pub fn resolved(spec: &KernelSpec, points: AnyPoints<'_>, seed: u64) -> Result<KernelSpec> {
        Self::resolve(spec, points.into(), seed)
    }

    /// The description with every parameter known.
    pub(crate) fn resolve(spec: &KernelSpec, rows: PairRows<'_>, seed: u64) -> Result<KernelSpec> {
        spec.map_params(&mut |role, param| bandwidth::resolve(role, param, rows, seed))
    }

    /// k(x,y) and k(y,x) for a pair of rows where they differ, if a sample of pairs has one.
    pub fn asymmetric_pair(&self, points: AnyPoints<'_>, seed: u64) -> Option<(f64, f64)> {
        bandwidth::asymmetric_pair(self, points, seed)
    }

    /// A kernel given as a function of two rows. It cannot be saved.
    pub fn from_fn(
        name: impl Into<String>,
        f: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { spec: None, name: name.into(), form: Form::Function(Arc::new(f)), origin: None }
    }

    /// Whether its values come from inner products of whole blocks of rows, so that computing them is cheap.
    pub(crate) fn by_products(&self) -> bool {
        by_products(&self.form)
    }

    /// The description, unless the kernel was given as a function.
    pub fn spec(&self) -> Option<&KernelSpec> {
        self.spec.as_ref()
    }

    /// Whether the formula needs entries that are not negative.
    pub fn needs_nonnegative(&self) -> bool {
        self.spec.as_ref().is_some_and(KernelSpec::needs_nonnegative)
    }

    /// Checks that rows are finite and meet what the formula needs.
    ///
    /// # Errors
    /// Names the first entry that does not, counting from 1.
    pub fn check_points(&self, points: AnyPoints<'_>) -> Result<()> {
        points.check()?;
        if !self.needs_nonnegative() {
            return Ok(());
        }
        let found = match points {
            AnyPoints::F32(p) => p.find(|x| x >= 0.0),
            AnyPoints::F64(p) => p.find(|x| x >= 0.0),
        };
        found.map_or(Ok(()), |(i, j, value)| {
            Err(Error::data(
                format!("row {}, column {} is {value}", i + 1, j + 1),
                format!("the kernel {} needs entries that are not negative", self.name),
                "Shift or rescale the columns, or choose another kernel",
            ))
        })
    }

    /// k(x, y) for two rows.
    ///
    /// # Panics
    /// When one row is longer than the other.
    pub fn pair(&self, x: &[f64], y: &[f64]) -> f64 {
        let (left, right) = (x.len(), y.len());
        assert!(left == right, "the kernel value of a row of {left} and a row of {right} numbers");
        let row = |numbers| crate::matrix::MatRef::shaped(numbers, 1, left);
        let (x, y): (crate::matrix::MatRef<'_, f64>, _) = (row(x), row(y));
        let mut value = [f64::NAN];
        self.tile(x.into(), y.into(), &mut value, &mut Workspace::default());
        value[0]
    }

    /// k(xᵢ, yⱼ) for all rows, in double precision.
    pub fn matrix<T: Real>(&self, x: Points<'_, T>, y: Points<'_, T>) -> crate::matrix::Matrix<f64> {
        let mut values = zeroed(x.n_rows() * y.n_rows());
        self.tile(x, y, &mut values, &mut Workspace::default());
        crate::matrix::Matrix::from_fn(x.n_rows(), y.n_rows(), |i, j| values[i * y.n_rows() + j].f64())
    }
}

fn by_products(form: &Form) -> bool {
    match form {
        Form::Inner(_) | Form::Norms(_) | Form::Distance(_) => true,
        Form::Scaled(_, form) => by_products(form),
        Form::Sum(forms) | Form::Product(forms) => forms.iter().all(by_products),
        Form::Coordinate(_) | Form::Map(_) | Form::Expr(_) | Form::Function(_) => false,
    }
}

/// From description to formula: the one place where they meet.
fn form(spec: &KernelSpec, d: usize) -> Result<Form> {
    let all = |specs: &[KernelSpec]| specs.iter().map(|s| form(s, d)).collect::<Result<Vec<_>>>();
    Ok(match spec {
        KernelSpec::Named(kernel) => kernel.form()?,
        KernelSpec::Map(formulas) => {
            formulas.iter().try_for_each(|f| check_variables(f, d))?;
            Form::Map(formulas.clone())
        }
        KernelSpec::Expr(formula) => {
            check_variables(formula, d)?;
            Form::Expr(formula.clone())
        }
        KernelSpec::Scaled(factor, inner) => Form::Scaled(*factor, Box::new(form(inner, d)?)),
        KernelSpec::Sum(specs) => Form::Sum(all(specs)?),
        KernelSpec::Product(specs) => Form::Product(all(specs)?),
        KernelSpec::Auto => return Err(bandwidth::auto_here()),
        KernelSpec::Precomputed => {
            return Err(Error::kernel(
                "the kernel precomputed has no formula",
                "this needs a kernel that can be computed from rows",
                "Choose a kernel such as rbf, or use a method that takes the Gram matrix itself",
            ));
        }
    })
}

pub(crate) fn known(param: Param) -> Result<f64> {
    match param {
        Param::Value(value) => Ok(value),
        Param::Auto => Err(bandwidth::auto_here()),
        Param::Median | Param::OverDimension => Err(Error::kernel(
            "a parameter that is still to be found from data",
            "a number is needed here",
            "Resolve the kernel on data first, or write the number",
        )),
    }
}

fn check_variables(formula: &Formula, d: usize) -> Result<()> {
    let most = formula.max_variable();
    if most <= d {
        return Ok(());
    }
    Err(Error::kernel(
        format!("the formula \"{formula}\" uses feature {most}, the data has {d}"),
        format!("features are x1 to x{d}"),
        "Use only features that exist, or select more columns",
    ))
}
