//! The way back from feature space: rows whose image under φ is close to a point of the subspace, docs/theory (K50)–(K56).

mod anchors;
mod descent;
mod distance;
mod ridge;
mod target;
mod way_back;

pub(crate) use way_back::{Subspace, WayBack};

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a pre-image is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreimageMethod {
    /// By fixed point where the kernel goes by distances, otherwise by gradient.
    #[default]
    Auto,
    /// The safeguarded fixed point y ← ΣDᵢxᵢ/ΣDᵢ, (K52), for kernels of the distance: rbf, exponential, matern,
    /// rational_quadratic.
    FixedPoint,
    /// From distances to the nearest samples, in closed form (Kwok and Tsang), (K54); the same kernels.
    Distance,
    /// Kernel ridge regression from scores to rows, bandwidth and ridge by cross-validation, (K55).
    Ridge,
    /// L-BFGS on the distance in feature space, (K56), for every kernel.
    Gradient,
}

impl PreimageMethod {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Auto, "auto"),
        (Self::FixedPoint, "fixed-point"),
        (Self::Distance, "distance"),
        (Self::Ridge, "ridge"),
        (Self::Gradient, "gradient"),
    ];

    /// The names that [`str::parse`] knows.
    pub fn names() -> [&'static str; 5] {
        Self::ALL.map(|(_, name)| name)
    }
}

impl fmt::Display for PreimageMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(method, _)| method == self).map_or("auto", |(_, name)| name);
        f.write_str(name)
    }
}

impl std::str::FromStr for PreimageMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(method, _)| *method).ok_or_else(|| {
            Error::setting(
                format!("a pre-image by \"{text}\""),
                format!("it goes by {}", Self::names().join(", ")),
                "Choose one of these; auto is the default",
            )
        })
    }
}

/// From where a pre-image was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// The row itself.
    Input,
    /// The mean of the samples nearest in scores.
    Neighbors,
    /// The answer of [`PreimageMethod::Distance`].
    Distance,
    /// The answer of [`PreimageMethod::Ridge`].
    Ridge,
    /// The part of the features that is linear in the row.
    Linear,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Neighbors => "neighbors",
            Self::Distance => "distance",
            Self::Ridge => "ridge",
            Self::Linear => "linear",
        })
    }
}

/// Settings of the way back from scores to rows, and of denoising: project, then back.
///
/// The scores z stand for the point P = mean φ + Σ zₖvₖ of feature space, (K50). It has in general no row x with φ(x) = P; what is
/// found is a row near which ‖φ(x) − P‖ is smallest, and that distance is told.
///
/// ```
/// use eigenlift::{data, methods::KernelPca, preimage::Preimage};
/// let iris = data::iris()?.samples;
/// let model = KernelPca::new(8).fit(iris.clone())?;
/// let found = model.denoise_by(&Preimage::new(), iris.points())?;
/// assert_eq!(found.rows.n_rows(), 150);
/// assert!(found.trusted.iter().filter(|sure| **sure).count() > 140);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preimage {
    method: PreimageMethod,
    penalty: f64,
    neighbors: usize,
    max_steps: usize,
    tolerance: f64,
    seed: u64,
}

impl Default for Preimage {
    fn default() -> Self {
        Self {
            method: PreimageMethod::Auto,
            penalty: 0.0,
            neighbors: 10,
            max_steps: 60,
            tolerance: 1e-6,
            seed: 0,
        }
    }
}

impl Preimage {
    /// The method by the kernel, no penalty, 10 neighbours, at most 60 steps, until a step is below 1e-6 of the spread.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds pre-images by this method.
    pub fn method(mut self, method: PreimageMethod) -> Self {
        self.method = method;
        self
    }

    /// Holds the pre-image to the row that was denoised, or to the start: λ of (K53), in units of the kernel, so that 0.1 is a
    /// gentle and 1 a strong pull. Helps when there are too few components.
    pub fn penalty(mut self, penalty: f64) -> Self {
        self.penalty = penalty;
        self
    }

    /// Samples near the scores that starts and distances go by.
    pub fn neighbors(mut self, neighbors: usize) -> Self {
        self.neighbors = neighbors;
        self
    }

    /// Steps at most.
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps;
        self
    }

    /// Ends when a step is below this share of the spread of the samples.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Fixes what the ridge draws.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        let wrong =
            |found: String, required: &str, action: &str| Err(Error::setting(found, required, action));
        if !(self.penalty >= 0.0 && self.penalty.is_finite()) {
            return wrong(
                format!("a penalty of {}", self.penalty),
                "it must not be negative",
                "0 is none, 0.1 gentle",
            );
        }
        if self.neighbors < 2 {
            return wrong(format!("{} neighbours", self.neighbors), "at least 2 are needed", "10 is usual");
        }
        if self.max_steps == 0 {
            return wrong("0 steps".into(), "at least 1 is needed", "60 is usual");
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let found = format!("a tolerance of {}", self.tolerance);
            return wrong(found, "it must lie between 0 and 1", "1e-6 is usual");
        }
        if self.penalty > 0.0 && matches!(self.method, PreimageMethod::Distance | PreimageMethod::Ridge) {
            let found = format!("a penalty of {} with the method {}", self.penalty, self.method);
            return wrong(
                found,
                "only a search can be held back: fixed-point or gradient",
                "Leave the penalty or the method out",
            );
        }
        Ok(())
    }
}

/// Pre-images and what is known about each.
#[derive(Clone, Debug, PartialEq)]
pub struct Preimages {
    /// x̂, one row each.
    pub rows: Matrix<f64>,
    /// ‖φ(x̂) − P‖ in feature space; for random features in theirs.
    pub distances: Vec<f64>,
    /// The distance of φ(x̂) from the ray through P where P is too short to reach it, and from P otherwise: a row with noise that
    /// no sample has leads to a short P, and may still have a good pre-image.
    pub deviations: Vec<f64>,
    /// From where each was looked for.
    pub starts: Vec<Start>,
    /// False where no trustworthy pre-image was found: see [`Preimages::limit`].
    pub trusted: Vec<bool>,
    /// Steps that each took.
    pub steps: Vec<usize>,
    /// Whether each search ended before its steps were used up.
    pub converged: Vec<bool>,
    /// The deviation up to which a pre-image is trusted, (K51): twice what nine in ten and more of the samples have. It must
    /// also have met the tolerance, and lie on P's side: ⟨φ(x̂), P⟩ ≥ 0.
    pub limit: f64,
    /// The method that was used.
    pub method: PreimageMethod,
}

impl Preimages {
    /// How many are not to be trusted.
    pub fn n_untrusted(&self) -> usize {
        self.trusted.iter().filter(|sure| !**sure).count()
    }
}
