//! Kernel PCA of rows that come in pieces.

use super::approximate::{Finished, finish};
use super::schedule::CHUNK_ROWS;
use super::{FittedKernelPca, KernelPca};
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{
    Against, Approximation, FeatureRows, FeatureSums, Features, LandmarkFeatures, LowRank, dot,
};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::progress::Watch;
use std::sync::Arc;

/// Share of the trace that growing landmarks may leave out before a warning says so.
const TOO_MUCH: f64 = 0.1;

/// A fit that takes rows in pieces: `partial_fit` as often as there are rows, then `finish`, and more rows after that.
///
/// With landmarks fixed from the start the result does not depend on how the rows were cut (beyond the last digits), parts
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
    approximation: Approximation,
    features: Features,
    sum: FeatureSums,
    growth: Option<Growth>,
}

/// When a row becomes a landmark.
#[derive(Clone, Copy, Debug)]
struct Growth {
    novelty: f64,
    most: usize,
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
        KernelPcaStream::new(self, Approximation::Given, Features::Landmarks(features), None)
    }

    /// A fit in pieces whose landmarks grow: a row becomes one when those before it leave out more than the share `novelty` of
    /// its k(x,x), until there are `most`.
    ///
    /// # Errors
    /// When `novelty` is not between 0 and 1, when `most` is 0, when a parameter of the kernel is still to be found from data.
    pub fn stream_growing(&self, n_features: usize, novelty: f64, most: usize) -> Result<KernelPcaStream> {
        let kernel = self.features.kernel_with_numbers(n_features)?;
        KernelPcaStream::growing(self, kernel, n_features, (novelty, most))
    }
}

impl KernelPcaStream {
    pub(super) fn new(
        settings: &KernelPca,
        approximation: Approximation,
        features: Features,
        growth: Option<(f64, usize)>,
    ) -> Result<Self> {
        settings.check_numbers()?;
        settings.refuse_exact_settings()?;
        let sum = FeatureSums::empty(features.dimension());
        Ok(Self {
            settings: settings.clone(),
            engine: settings.features.running_engine()?,
            approximation,
            features,
            sum,
            growth: growth.map(|(novelty, most)| Growth { novelty, most }),
        })
    }

    pub(super) fn growing(
        settings: &KernelPca,
        kernel: Kernel,
        n_features: usize,
        (novelty, most): (f64, usize),
    ) -> Result<Self> {
        LowRank::growing(novelty, most).check()?;
        let none = Matrix::<f64>::zeros(0, n_features);
        let against = Against::Rows { kernel, landmarks: none.into() };
        let features = Features::Landmarks(LandmarkFeatures::with_root(against, Matrix::zeros(0, 0)));
        Self::new(settings, Approximation::Growing, features, Some((novelty, most)))
    }

    /// Rows fitted so far.
    pub fn n_rows(&self) -> u64 {
        self.sum.partial.count()
    }

    /// Landmarks so far.
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
    /// When landmarks grow, when more rows are taken out than were added, or when what remains would lose its digits.
    pub fn remove<'a>(&mut self, x: impl Into<AnyPoints<'a>>) -> Result<()> {
        let x = x.into();
        self.refuse_growth("rows cannot be taken out")?;
        self.check_rows(x)?;
        let (partial, trace) = self.moments(x)?;
        self.sum.partial.remove(&partial)?;
        self.sum.trace -= trace;
        Ok(())
    }

    /// Adds the rows of another fit with the same landmarks and kernel.
    ///
    /// # Errors
    /// When landmarks or kernels differ, or landmarks grow.
    pub fn merge(&mut self, other: &KernelPcaStream) -> Result<()> {
        self.refuse_growth("parts cannot be merged")?;
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
        let mut warnings = Vec::new();
        let left = self.sum.partial.residual_trace();
        if self.growth.is_some() && left > TOO_MUCH * self.sum.trace {
            warnings.push(format!(
                "the landmarks that grew leave out {:.0} % of the trace: choose landmarks anew, allow more, or a smaller novelty",
                100.0 * left / self.sum.trace
            ));
        }
        let plan = super::schedule::plan_of_stream(
            &self.settings,
            (self.sum.partial.count() as usize, self.features.n_cols(), self.features.dimension()),
            (self.approximation, self.features.kernel_name()),
            &*self.engine,
        );
        let mut result = Err(Error::Cancelled);
        let work = Finished { features: &self.features, sum: &self.sum, sampled: None, warnings };
        self.engine.run(&mut || {
            result = finish(&self.settings, plan.clone(), &work, self.engine.clone());
        });
        result
    }

    pub(super) fn check_rows(&self, x: AnyPoints<'_>) -> Result<()> {
        if x.n_cols() != self.features.n_cols() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the landmarks have {}", self.features.n_cols()),
                "Give the same columns, in the same order, every time",
            ));
        }
        self.features.check_points(x)
    }

    fn refuse_growth(&self, what: &str) -> Result<()> {
        match self.growth {
            None => Ok(()),
            Some(_) => Err(Error::setting(
                format!("landmarks that grow: {what}"),
                "that needs landmarks that were fixed from the start",
                "Choose landmarks first, then fit with them",
            )),
        }
    }

    /// Adds one piece of rows.
    pub(super) fn add(&mut self, x: AnyPoints<'_>) -> Result<()> {
        if let Some(growth) = self.growth {
            return self.add_growing(x, growth);
        }
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

    /// One row after the other, as if they came alone: a row that is new becomes a landmark before it is added, (K36).
    fn add_growing(&mut self, x: AnyPoints<'_>, growth: Growth) -> Result<()> {
        let mut result = Ok(());
        let (engine, watch) = (self.engine.clone(), self.settings.features.watch.clone());
        engine.run(&mut || result = self.grow(x, growth, &watch));
        result
    }

    fn grow(&mut self, x: AnyPoints<'_>, growth: Growth, watch: &Watch) -> Result<()> {
        let Features::Landmarks(map) = &self.features else { return Ok(()) };
        let Against::Rows { kernel, landmarks } = map.against() else { return Ok(()) };
        let FeatureRows { features, mut residuals, trace } =
            map.rows(x, self.sum.partial.count() as usize, watch)?;
        let kernel = kernel.clone();
        let old = map.dimension();
        let mut newcomers = Newcomers::new(kernel.clone(), x, features);
        for row in 0..x.n_rows() {
            watch.check()?;
            let own = newcomers.own[row];
            if residuals[row] > growth.novelty * own && old + newcomers.rows.len() < growth.most {
                newcomers.add(row, &mut residuals);
            }
        }
        let Newcomers { rows, new, features, .. } = newcomers;
        let width = old + rows.len();
        let widened =
            Matrix::from_fn(
                x.n_rows(),
                width,
                |i, j| if j < old { features[(i, j)] } else { new[j - old][i] },
            );
        if !rows.is_empty() {
            let z = landmarks.points().to_dense::<f64>();
            let d = x.n_cols();
            let mut numbers = z.into_vec();
            let mut line = vec![0.0; d];
            for row in &rows {
                x.copy_row(*row, &mut line);
                numbers.extend_from_slice(&line);
            }
            let landmarks: Matrix<f64> = Matrix::from_vec(numbers, width, d)?;
            let root = Matrix::from_fn(width, width, |i, j| match i.checked_sub(old) {
                None => {
                    if j < old {
                        map.root()[(i, j)]
                    } else {
                        0.0
                    }
                }
                Some(at) => widened[(rows[at], j)],
            });
            let against = Against::Rows { kernel, landmarks: landmarks.into() };
            self.features = Features::Landmarks(LandmarkFeatures::with_root(against, root));
        }
        self.sum.partial.widen(width);
        self.sum.partial.merge(&Partial::of_rows(widened.view(), residuals.iter().sum()))?;
        self.sum.trace += trace;
        Ok(())
    }
}

/// Rows of a piece that become landmarks, and the new features that they bring.
struct Newcomers {
    kernel: Kernel,
    x: Matrix<f64>,
    features: Matrix<f64>,
    own: Vec<f64>,
    rows: Vec<usize>,
    /// One column for each newcomer.
    new: Vec<Vec<f64>>,
}

impl Newcomers {
    fn new(kernel: Kernel, points: AnyPoints<'_>, features: Matrix<f64>) -> Self {
        let x = points.to_dense::<f64>();
        let mut own = vec![0.0; x.n_rows()];
        kernel.diagonal((&x).into(), &mut own);
        Self { kernel, x, features, own, rows: Vec::new(), new: Vec::new() }
    }

    /// Row z joins: the new feature of a later row x is (k(x,z) − ⟨f(x), f(z)⟩)/√r(z); earlier rows have none of it.
    fn add(&mut self, row: usize, residuals: &mut [f64]) {
        let root = residuals[row].sqrt();
        let n = self.x.n_rows();
        let later = self.x.view().rows(row..n);
        let there = self.kernel.matrix(later.into(), self.x.view().rows(row..row + 1).into());
        let mut column = vec![0.0; n];
        for i in row..n {
            let old: f64 = dot(self.features.row(i), self.features.row(row));
            let new: f64 = self.new.iter().map(|c| c[i] * c[row]).sum();
            column[i] = (there[(i - row, 0)] - old - new) / root;
            residuals[i] = (residuals[i] - column[i] * column[i]).max(0.0);
        }
        column[row] = root;
        residuals[row] = 0.0;
        self.rows.push(row);
        self.new.push(column);
    }
}
