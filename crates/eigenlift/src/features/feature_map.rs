//! Explicit feature maps: φ with ⟨φ(x), φ(y)⟩ = k(x,y), exactly or in expectation, docs/theory (K40).

use super::fourier::FourierMap;
use super::tensor_sketch::TensorSketch;
use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::kernel::{KernelSpec, differences};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::real::Real;
use exact::ExactMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

mod exact;
mod sampled_error;

pub(crate) use sampled_error::SampledError;

/// Rows that one thread maps at a time.
const PIECE: usize = 128;

/// How features are made.
///
/// ```
/// use eigenlift::features::FeatureKind;
/// assert_eq!("tensorsketch".parse::<FeatureKind>()?, FeatureKind::TensorSketch);
/// assert_eq!(FeatureKind::Fourier.to_string(), "fourier");
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureKind {
    /// Inner products are the kernel.
    Exact,
    /// Random Fourier features with orthogonal frequencies: inner products are the kernel in expectation.
    Fourier,
    /// Count sketches multiplied by FFT: inner products are the kernel in expectation.
    TensorSketch,
}

impl fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Fourier => "fourier",
            Self::TensorSketch => "tensorsketch",
        })
    }
}

impl std::str::FromStr for FeatureKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "exact" => Ok(Self::Exact),
            "fourier" => Ok(Self::Fourier),
            "tensorsketch" => Ok(Self::TensorSketch),
            other => Err(Error::setting(
                format!("features \"{other}\""),
                "features are exact, fourier or tensorsketch",
                "Choose one of these",
            )),
        }
    }
}

/// A map φ from rows to features. Fixed by kernel, kind, dimension and seed.
///
/// ```
/// use eigenlift::{kernel::KernelSpec, features::FeatureMap, matrix::Matrix};
/// let kernel: KernelSpec = "rbf(gamma=0.5)".parse()?;
/// let map = FeatureMap::fourier(&kernel, 2, 2000, 1)?;
/// let x = Matrix::from_vec(vec![0.0, 0.0, 1.0, 1.0], 2, 2)?;
/// let phi = map.apply((&x).into())?;
/// let inner: f64 = phi.row(0).iter().zip(phi.row(1)).map(|(a, b)| a * b).sum();
/// assert!((inner - (-1.0f64).exp()).abs() < 0.1);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureMap {
    n_features: usize,
    map: Map,
}

#[derive(Clone, Debug)]
enum Map {
    Exact(ExactMap),
    Fourier(FourierMap),
    TensorSketch(TensorSketch),
}

impl FeatureMap {
    /// The exact map of a kernel, if it has one of at most `most` features: linear, polynomial of whole degree with γ > 0
    /// and c₀ ≥ 0, `map(…)`, positive multiples and sums of these, (K41). `None` otherwise, when a parameter is not a number,
    /// or when a polynomial has more than 2²⁰ features.
    pub fn exact(kernel: &KernelSpec, n_features: usize, most: usize) -> Option<Self> {
        Some(Self { n_features, map: Map::Exact(ExactMap::new(kernel, n_features, most)?) })
    }

    /// How many features [`exact`](Self::exact) would have without a limit, found by counting.
    pub fn exact_dimension(kernel: &KernelSpec, n_features: usize) -> Option<u128> {
        exact::dimension(kernel, n_features)
    }

    /// Random Fourier features √(2/D)·[cos wᵢᵀx, sin wᵢᵀx] of `rbf`, `matern`, `exponential`, `rational_quadratic` and
    /// `laplacian`, and of positive multiples of these, (K42)–(K44). `dimension` is rounded up to an even number.
    ///
    /// Frequencies of all but `laplacian` are orthogonal in blocks, which lowers the error. k(x,x) is exact.
    /// Cost: 2·D·d·min(d, D/2, 1024) flops and D·d/2 numbers.
    ///
    /// # Errors
    /// When the kernel is none of these, a parameter is not a number, or `dimension` is 0 or too large to be stored.
    pub fn fourier(kernel: &KernelSpec, n_features: usize, dimension: usize, seed: u64) -> Result<Self> {
        let map = Map::Fourier(FourierMap::new(kernel, n_features, dimension, seed)?);
        Ok(Self { n_features, map })
    }

    /// TensorSketch of (γ⟨x,y⟩ + c₀)ᵖ: p count sketches of \[√γ·x, √c₀\] combined by FFT, (K45), (K46). For `polynomial` of
    /// whole degree with γ > 0 and c₀ ≥ 0, `linear`, and positive multiples of these. Powers of two are the fastest dimensions.
    ///
    /// Cost: p·(d+1) numbers; O(p·(entries + D log D)) for each row.
    ///
    /// # Errors
    /// When the kernel is none of these, a parameter is not a number, or `dimension` is 0 or too large to be stored.
    pub fn tensor_sketch(
        kernel: &KernelSpec,
        n_features: usize,
        dimension: usize,
        seed: u64,
    ) -> Result<Self> {
        let map = Map::TensorSketch(TensorSketch::new(kernel, n_features, dimension, seed)?);
        Ok(Self { n_features, map })
    }

    /// How features are made.
    pub fn kind(&self) -> FeatureKind {
        match self.map {
            Map::Exact(_) => FeatureKind::Exact,
            Map::Fourier(_) => FeatureKind::Fourier,
            Map::TensorSketch(_) => FeatureKind::TensorSketch,
        }
    }

    /// Numbers in a row.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Numbers in φ of a row.
    pub fn dimension(&self) -> usize {
        match &self.map {
            Map::Exact(map) => map.dimension(),
            Map::Fourier(map) => map.dimension(),
            Map::TensorSketch(map) => map.dimension(),
        }
    }

    /// φ of each row, one row each, in double precision.
    ///
    /// Memory: the result and a piece of 128 rows for each thread. The same bits for any number of threads.
    ///
    /// # Errors
    /// When rows have another length than the map was made for, a feature is not finite (the row is named), or the result
    /// is too large to be addressed.
    pub fn apply(&self, x: AnyPoints<'_>) -> Result<Matrix<f64>> {
        match x {
            AnyPoints::F32(x) => self.apply_to(x),
            AnyPoints::F64(x) => self.apply_to(x),
        }
    }

    /// Jᵀv at the row y whose features are `phi`: the gradient of ⟨φ(y), v⟩. From differences where features have no simple
    /// derivative (formulas, count sketches).
    pub(crate) fn pull_back(&self, y: &[f64], phi: &[f64], v: &[f64]) -> Vec<f64> {
        match &self.map {
            Map::Exact(map) => map.pull_back(y, v),
            Map::Fourier(map) => map.pull_back(phi, v),
            Map::TensorSketch(map) => {
                let mut moved = vec![0.0; self.dimension()];
                let moved = std::cell::RefCell::new(&mut moved);
                differences(y, |y| {
                    let mut phi = moved.borrow_mut();
                    let (row, p) = (MatRef::shaped(y, 1, y.len()), phi.len());
                    map.fill(Points::Dense(row), MatMut::shaped(&mut phi, 1, p));
                    phi.iter().zip(v).map(|(f, v)| f * v).sum()
                })
            }
        }
    }

    /// The row whose features of degree 1 these are, if the map has them.
    pub(crate) fn linear_part(&self, features: &[f64]) -> Option<Vec<f64>> {
        match &self.map {
            Map::Exact(map) => map.linear_part(features),
            Map::Fourier(_) | Map::TensorSketch(_) => None,
        }
    }

    fn apply_to<T: Real>(&self, x: Points<'_, T>) -> Result<Matrix<f64>> {
        let (n, width) = (x.n_rows(), self.dimension());
        if x.n_cols() != self.n_features {
            return Err(Error::data(
                format!("rows of {} numbers", x.n_cols()),
                format!("the feature map was made for rows of {}", self.n_features),
                "Select the columns that the map was made for",
            ));
        }
        if n.checked_mul(width).is_none_or(|size| size > isize::MAX as usize / 8) {
            return Err(Error::memory(
                format!("{width} features for each of {n} rows"),
                "the features must fit into memory",
                "Ask for fewer features, or map pieces of the rows",
            ));
        }
        let mut out = Matrix::zeros(n, width);
        let pieces = out.view_mut().row_chunks(PIECE).into_par_iter().enumerate();
        let overflow = pieces.filter_map(|(piece, mut out)| {
            let first = piece * PIECE;
            self.fill(x.rows(first..first + out.n_rows()), out.reborrow());
            let view = out.as_ref();
            (0..view.n_rows()).find(|i| view.row(*i).iter().any(|v| !v.is_finite())).map(|i| first + i)
        });
        overflow.min().map_or(Ok(()), |row| {
            Err(Error::data(
                format!("row {} has a feature that is not finite", row + 1),
                "every feature must be a finite number",
                "Look for missing or extreme entries in that row, or rescale the columns",
            ))
        })?;
        Ok(out)
    }

    fn fill<T: Real>(&self, x: Points<'_, T>, out: MatMut<'_, f64>) {
        match &self.map {
            Map::Exact(map) => map.fill(x, out),
            Map::Fourier(map) => map.fill(x, out),
            Map::TensorSketch(map) => map.fill(x, out),
        }
    }
}

#[cfg(test)]
mod tests;
