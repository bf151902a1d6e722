//! Exact finite maps, docs/theory (K32), (K41).

use crate::data::Points;
use crate::kernel::{Dimension, Formula, KernelSpec, Monomials, Param, PolynomialMap, formula_slopes};
use crate::matrix::{MatMut, Matrix};
use crate::real::Real;

/// Degrees above this have factorials beyond the range of numbers.
const MOST_DEGREE: f64 = 170.0;

/// Parts of φ that stand side by side, each times a number: φ of a₁k₁ + a₂k₂ is \[√a₁·φ₁, √a₂·φ₂\], (K41).
#[derive(Clone, Debug)]
pub(super) struct ExactMap {
    parts: Vec<(f64, Part)>,
    dimension: usize,
}

#[derive(Clone, Debug)]
enum Part {
    /// 1
    Constant,
    /// The row itself.
    Row(usize),
    Polynomial(PolynomialMap),
    Formulas(Vec<Formula>),
}

impl Part {
    fn dimension(&self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Row(d) => *d,
            Self::Polynomial(map) => map.dimension(),
            Self::Formulas(formulas) => formulas.len(),
        }
    }
}

/// Number of features of the exact map, if there is one.
pub(super) fn dimension(kernel: &KernelSpec, d: usize) -> Option<u128> {
    kernel.validate().ok()?;
    if d == 0 { None } else { count(kernel, d) }
}

fn count(kernel: &KernelSpec, d: usize) -> Option<u128> {
    match kernel {
        KernelSpec::Named(named) => {
            let Monomials { degree, gamma, coef0 } = named.monomials()?;
            let positive = matches!(gamma, Param::Value(gamma) if gamma > 0.0);
            let written = positive && coef0 >= 0.0 && degree <= MOST_DEGREE;
            finite(kernel, d).filter(|_| written)
        }
        KernelSpec::Map(_) => finite(kernel, d).filter(|_| kernel.max_variable() <= d),
        KernelSpec::Scaled(factor, inner) => count(inner, d).filter(|_| *factor > 0.0),
        KernelSpec::Sum(parts) => {
            parts.iter().try_fold(0u128, |total, part| total.checked_add(count(part, d)?))
        }
        KernelSpec::Product(_) | KernelSpec::Expr(_) | KernelSpec::Precomputed | KernelSpec::Auto => None,
    }
}

/// The dimension of the feature space where it is a number.
fn finite(kernel: &KernelSpec, d: usize) -> Option<u128> {
    match kernel.dimension(d) {
        Dimension::Finite(size) => Some(size),
        Dimension::TooLarge | Dimension::Infinite | Dimension::Unknown => None,
    }
}

impl ExactMap {
    pub(super) fn new(kernel: &KernelSpec, d: usize, most: usize) -> Option<Self> {
        if dimension(kernel, d)? > most as u128 {
            return None;
        }
        let mut parts = Vec::new();
        collect(kernel, d, 1.0, &mut parts)?;
        let dimension = parts.iter().map(|(_, part)| part.dimension()).sum();
        Some(Self { parts, dimension })
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// φ of each row.
    pub(super) fn fill<T: Real>(&self, x: Points<'_, T>, mut out: MatMut<'_, f64>) {
        let mut from = 0;
        for (scale, part) in &self.parts {
            let columns = from..from + part.dimension();
            part.fill(x, out.reborrow().columns(columns.clone()));
            (0..out.n_rows()).for_each(|i| {
                out.row_mut(i)[columns.clone()].iter_mut().for_each(|v| *v *= scale);
            });
            from = columns.end;
        }
    }
}

impl ExactMap {
    /// Jᵀv at the row y.
    pub(super) fn pull_back(&self, y: &[f64], v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; y.len()];
        let mut rest = v;
        for (scale, part) in &self.parts {
            let (own, later) = rest.split_at(part.dimension());
            let own: Vec<f64> = own.iter().map(|v| v * scale).collect();
            match part {
                Part::Constant => {}
                Part::Row(_) => out.iter_mut().zip(&own).for_each(|(o, v)| *o += v),
                Part::Polynomial(map) => map.pull_back(y, &own, &mut out),
                Part::Formulas(formulas) => {
                    let slopes = formula_slopes(formulas, y, &own);
                    out.iter_mut().zip(slopes).for_each(|(o, s)| *o += s);
                }
            }
            rest = later;
        }
        out
    }

    /// The row whose features of degree 1 these are, if the map has them.
    pub(super) fn linear_part(&self, features: &[f64]) -> Option<Vec<f64>> {
        let mut rest = features;
        for (scale, part) in &self.parts {
            let (own, later) = rest.split_at(part.dimension());
            let unscaled = || own.iter().map(|v| v / scale).collect::<Vec<f64>>();
            let found = match part {
                Part::Row(_) => Some(unscaled()),
                Part::Polynomial(map) => map.linear_part(&unscaled()),
                Part::Constant | Part::Formulas(_) => None,
            };
            if found.is_some() {
                return found;
            }
            rest = later;
        }
        None
    }
}

impl Part {
    fn fill<T: Real>(&self, x: Points<'_, T>, mut out: MatMut<'_, f64>) {
        match self {
            Self::Constant => out.fill(1.0),
            Self::Row(_) => (0..x.n_rows()).for_each(|i| x.copy_row(i, out.row_mut(i))),
            Self::Polynomial(map) => out.copy_from(map.apply(x).view()),
            Self::Formulas(formulas) => {
                let rows: Matrix<f64> = x.to_dense();
                for i in 0..x.n_rows() {
                    let values = formulas.iter().map(|formula| formula.eval(rows.row(i), &[]));
                    out.row_mut(i).iter_mut().zip(values).for_each(|(v, value)| *v = value);
                }
            }
        }
    }
}

/// Appends the parts of `factor` times the kernel.
fn collect(kernel: &KernelSpec, d: usize, factor: f64, parts: &mut Vec<(f64, Part)>) -> Option<()> {
    match kernel {
        KernelSpec::Named(named) => {
            let Monomials { degree, gamma: Param::Value(gamma), coef0 } = named.monomials()? else {
                return None;
            };
            if degree == 1.0 {
                parts.push((factor.sqrt() * gamma.sqrt(), Part::Row(d)));
                if coef0 > 0.0 {
                    parts.push((factor.sqrt() * coef0.sqrt(), Part::Constant));
                }
            } else {
                let map = PolynomialMap::new(d, degree as u32, gamma, coef0).ok()?;
                parts.push((factor.sqrt(), Part::Polynomial(map)));
            }
        }
        KernelSpec::Map(formulas) => parts.push((factor.sqrt(), Part::Formulas(formulas.clone()))),
        KernelSpec::Scaled(number, inner) => collect(inner, d, factor * number, parts)?,
        KernelSpec::Sum(terms) => terms.iter().try_for_each(|term| collect(term, d, factor, parts))?,
        KernelSpec::Product(_) | KernelSpec::Expr(_) | KernelSpec::Precomputed | KernelSpec::Auto => {
            return None;
        }
    }
    Some(())
}
