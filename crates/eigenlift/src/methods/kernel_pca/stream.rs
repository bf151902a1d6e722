//! Kernel PCA of rows that come in pieces.

use super::approximate::{Finished, finish};
use super::{FittedKernelPca, KernelPca};
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{Approximation, FeatureSums, Features, LandmarkFeatures};
use crate::moments::Partial;
use crate::rows::CHUNK_ROWS;
use std::sync::Arc;

/// A fit that takes rows in pieces: `partial_fit` as often as there are rows, then `finish`, and more rows after that.
///
/// The landmarks are fixed from the start, so the result does not depend on how the rows were cut (beyond the last digits), parts
/// fitted apart can be merged, and rows can be taken out again. Memory: the landmarks and m² numbers, whatever the number of
/// rows.
///
/// ```
/// use eigenlift::{data, methods::KernelPca};
/// let x = data::iris()?.samples;
/// let rows = x.points();
/// let settings = KernelPca::new(2).kernel("rbf(gamma=0.3)".parse()?);
/// let mut stream = settings.stream(rows.rows(0..30).to_dense::<f64>())?;
/// stream.partial_fit(rows.rows(0..100))?;
/// stream.partial_fit(rows.rows(100..150))?;
/// let model = stream.finish()?;
/// assert_eq!(model.n_samples(), 150);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelPcaStream {
    settings: KernelPca,
    engine: Arc<dyn Engine>,
    features: Features,
    sum: FeatureSums,
}

impl KernelPca {
    /// A fit in pieces with these landmarks. A parameter given as `median` is found from the landmarks.
    ///
    /// # Errors
    /// When the kernel cannot take the landmarks, or is `precomputed`.
    pub fn stream(&self, landmarks: impl Into<AnySamples>) -> Result<KernelPcaStream> {
        let landmarks = landmarks.into();
        let kernel = self.features.kernel_for(landmarks.points())?;
        let features = LandmarkFeatures::new(kernel, landmarks, &self.features.watch)?;
        KernelPcaStream::new(self, Features::Landmarks(features))
    }
}

impl KernelPcaStream {
    fn new(settings: &KernelPca, features: Features) -> Result<Self> {
        settings.check_numbers()?;
        settings.refuse_exact_settings()?;
        let sum = FeatureSums::empty(features.dimension());
        let engine = settings.features.running_engine()?;
        Ok(Self { settings: settings.clone(), engine, features, sum })
    }

    /// Rows fitted so far.
    pub fn n_rows(&self) -> u64 {
        self.sum.partial.count()
    }

    /// Number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.features.dimension()
    }

    /// Count, mean and scatter of the features so far.
    pub fn partial(&self) -> &Partial {
        &self.sum.partial
    }

    /// Adds rows.
    ///
    /// Cost: n·m(2d + 2m) flops; memory some thousand rows of features.
    ///
    /// # Errors
    /// When rows have another number of columns or entries that the kernel cannot take; rows before a piece with such an entry
    /// have then been added, those from that piece on have not.
    pub fn partial_fit<'a>(&mut self, x: impl Into<AnyPoints<'a>>) -> Result<()> {
        let x = x.into();
        self.check_rows(x)?;
        for from in (0..x.n_rows()).step_by(CHUNK_ROWS) {
            self.add(x.rows(from..(from + CHUNK_ROWS).min(x.n_rows())))?;
        }
        Ok(())
    }

    /// Takes out rows that were added before.
    ///
    /// # Errors
    /// When more rows are taken out than were added, or when what remains would lose its digits.
    pub fn remove<'a>(&mut self, x: impl Into<AnyPoints<'a>>) -> Result<()> {
        let x = x.into();
        self.check_rows(x)?;
        let (partial, trace) = self.moments(x)?;
        self.sum.partial.remove(&partial)?;
        self.sum.trace -= trace;
        Ok(())
    }

    /// Adds the rows of another fit with the same landmarks and kernel.
    ///
    /// # Errors
    /// When landmarks or kernels differ.
    pub fn merge(&mut self, other: &KernelPcaStream) -> Result<()> {
        if !self.features.same_as(&other.features) {
            return Err(Error::setting(
                "two parts with different landmarks or kernels",
                "parts can be merged when both are the same",
                "Fit both parts with the same landmarks and kernel",
            ));
        }
        self.sum.partial.merge(&other.sum.partial)?;
        self.sum.trace += other.sum.trace;
        Ok(())
    }

    /// The model of all rows so far. More rows may follow.
    ///
    /// # Errors
    /// When there are fewer than two rows, or all look the same.
    pub fn finish(&self) -> Result<FittedKernelPca> {
        let plan = super::schedule::plan_of_stream(
            &self.settings,
            (self.sum.partial.count() as usize, self.features.n_cols(), self.features.dimension()),
            (Approximation::Given, self.features.kernel_name()),
            &*self.engine,
        );
        let mut result = Err(Error::Cancelled);
        let work = Finished { features: &self.features, sum: &self.sum, sampled: None };
        self.engine.run(&mut || {
            result = finish(&self.settings, plan.clone(), &work, self.engine.clone());
        });
        result
    }

    fn check_rows(&self, x: AnyPoints<'_>) -> Result<()> {
        if x.n_cols() != self.features.n_cols() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the landmarks have {}", self.features.n_cols()),
                "Give the same columns, in the same order, every time",
            ));
        }
        self.features.check_points(x)
    }

    /// Adds one piece of rows.
    fn add(&mut self, x: AnyPoints<'_>) -> Result<()> {
        let (partial, trace) = self.moments(x)?;
        self.sum.partial.merge(&partial)?;
        self.sum.trace += trace;
        Ok(())
    }

    fn moments(&self, x: AnyPoints<'_>) -> Result<(Partial, f64)> {
        self.engine.complete(|| {
            self.features.rows(x, self.n_rows() as usize, &self.settings.features.watch).map(|rows| {
                let left = rows.residuals.iter().sum();
                (Partial::of_rows(rows.features.view(), left), rows.trace)
            })
        })
    }
}
