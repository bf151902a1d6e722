//! How a kernel is approximated, and how closely.

use crate::data::AnySamples;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Most landmarks or features.
const MOST_RANK: usize = 1 << 20;

/// Where the features of an approximation come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approximation {
    /// Landmarks by randomly pivoted Cholesky: rows that the others leave out most.
    Pivoted,
    /// Landmarks drawn uniformly from the rows.
    Uniform,
    /// Landmarks are centres of clusters (k-means++).
    KMeans,
    /// Landmarks given by the caller.
    Given,
    /// Orthogonal random Fourier features.
    Fourier,
    /// TensorSketch features of a polynomial kernel.
    TensorSketch,
}

impl Approximation {
    const WORDS: [(Self, &str); 6] = [
        (Self::Pivoted, "pivoted"),
        (Self::Uniform, "uniform"),
        (Self::KMeans, "kmeans"),
        (Self::Given, "given"),
        (Self::Fourier, "fourier"),
        (Self::TensorSketch, "tensorsketch"),
    ];

    /// Whether features are random and not coordinates in the span of landmarks.
    pub fn is_random_features(self) -> bool {
        matches!(self, Self::Fourier | Self::TensorSketch)
    }
}

impl std::fmt::Display for Approximation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = Self::WORDS.iter().find(|(one, _)| one == self).map_or("", |(_, word)| word);
        f.write_str(word)
    }
}

impl std::str::FromStr for Approximation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::WORDS.iter().find(|(_, word)| *word == text).map(|(one, _)| *one).ok_or_else(|| {
            let words: Vec<&str> = Self::WORDS.iter().map(|(_, word)| *word).collect();
            Error::setting(
                format!("an approximation called {text}"),
                format!("it must be one of {}", words.join(", ")),
                "Use one of these",
            )
        })
    }
}

/// How many landmarks or features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rank {
    /// This many, or as many as there are.
    Exactly(usize),
    /// As many as it takes until the error is this share: for landmarks of the trace that they leave out, for random
    /// features of the kernel values on sampled pairs.
    UntilShare(f64),
}

impl Default for Rank {
    fn default() -> Self {
        Self::UntilShare(0.01)
    }
}

/// Settings of a low-rank fit.
///
/// ```
/// use eigenlift::{data, features::{LowRank, Rank}, methods::KernelPca};
/// let x = data::iris()?.samples;
/// let model = KernelPca::new(2).low_rank(LowRank::pivoted(Rank::Exactly(40))).fit(x)?;
/// let bound = model.certificate().bounds.residual_trace.unwrap();
/// assert!(bound < 0.05 * model.total());
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LowRank {
    pub(crate) approximation: Approximation,
    pub(crate) rank: Rank,
    pub(crate) given: Option<GivenLandmarks>,
}

/// Landmarks that the caller chose.
#[derive(Clone, Debug)]
pub(crate) enum GivenLandmarks {
    Rows(AnySamples),
    Samples(Vec<usize>),
}

impl LowRank {
    fn new(approximation: Approximation, rank: Rank) -> Self {
        Self { approximation, rank, given: None }
    }

    /// Landmarks by randomly pivoted Cholesky: the default.
    pub fn pivoted(rank: Rank) -> Self {
        Self::new(Approximation::Pivoted, rank)
    }

    /// Landmarks drawn uniformly. They miss small clusters.
    pub fn uniform(rank: Rank) -> Self {
        Self::new(Approximation::Uniform, rank)
    }

    /// Centres of clusters (k-means++) as landmarks.
    pub fn k_means(rank: Rank) -> Self {
        Self::new(Approximation::KMeans, rank)
    }

    /// These rows as landmarks.
    pub fn landmarks(rows: impl Into<AnySamples>) -> Self {
        let rows = rows.into();
        let rank = Rank::Exactly(rows.n_rows());
        Self { given: Some(GivenLandmarks::Rows(rows)), ..Self::new(Approximation::Given, rank) }
    }

    /// These samples, counted from 0, as landmarks. The way to give landmarks of a precomputed Gram matrix.
    pub fn samples(chosen: Vec<usize>) -> Self {
        let rank = Rank::Exactly(chosen.len());
        Self { given: Some(GivenLandmarks::Samples(chosen)), ..Self::new(Approximation::Given, rank) }
    }

    /// Orthogonal random Fourier features. Their error is estimated, not bounded.
    pub fn fourier(rank: Rank) -> Self {
        Self::new(Approximation::Fourier, rank)
    }

    /// TensorSketch features of a polynomial kernel. Their error is estimated, not bounded.
    pub fn tensor_sketch(rank: Rank) -> Self {
        Self::new(Approximation::TensorSketch, rank)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let share = match self.rank {
            Rank::Exactly(0) => {
                return Err(Error::setting(
                    "rank 0",
                    "at least one landmark or feature is needed",
                    "Ask for a few hundred, or for auto",
                ));
            }
            Rank::Exactly(rank) if rank > MOST_RANK => {
                return Err(Error::setting(
                    format!("rank {rank}"),
                    format!("at most {MOST_RANK} landmarks or features can be had"),
                    "Ask for fewer, or fit exactly",
                ));
            }
            Rank::Exactly(_) => return Ok(()),
            Rank::UntilShare(share) => share,
        };
        if share > 0.0 && share < 1.0 {
            return Ok(());
        }
        Err(Error::setting(
            format!("a share of {share}"),
            "it must lie between 0 and 1",
            "0.01 leaves out one hundredth",
        ))
    }
}
