//! Models of any method, as a file holds them.

use super::pca::saved::{PCA, WHITEN};
use super::saved::KERNEL_PCA;
use super::{FittedKernelPca, FittedPca, FittedWhitening};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{read_header, shown};
use crate::progress::Watch;
use std::path::Path;
use std::sync::Arc;

/// What every fitted model can do.
pub trait Fitted: Send + Sync {
    /// The method's name, which is also that of its scores: `kpca`, `pca`, `whiten`.
    fn method(&self) -> &'static str;
    /// Numbers that a row must have.
    fn n_features(&self) -> usize;
    /// Numbers that come out for a row.
    fn n_outputs(&self) -> usize;
    /// Names of the input columns; empty when none were given.
    fn column_names(&self) -> &[String];
    /// Sentences a person should read before using the scores.
    fn warnings(&self) -> &[String];
    /// Scores of rows.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the model cannot take; cancellation.
    fn project(&self, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>>;
    /// Rows from scores.
    ///
    /// # Errors
    /// When the method has no way back, or scores do not fit.
    fn invert(&self, scores: &Matrix<f64>) -> Result<Matrix<f64>>;
    /// Writes the model file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, path: &Path) -> Result<()>;
}

impl Fitted for FittedKernelPca {
    fn method(&self) -> &'static str {
        KERNEL_PCA
    }

    fn n_features(&self) -> usize {
        self.projection().lift.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.n_components()
    }

    fn column_names(&self) -> &[String] {
        self.column_names()
    }

    fn warnings(&self) -> &[String] {
        self.warnings()
    }

    fn project(&self, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.transform_watched(x, watch)
    }

    fn invert(&self, _: &Matrix<f64>) -> Result<Matrix<f64>> {
        Err(Error::model(
            "a kernel PCA model",
            "the way back from scores to rows is known for pca and whiten",
            "Use a model of one of these methods",
        ))
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }
}

macro_rules! linear {
    ($model:ty, $name:expr, $outputs:ident) => {
        impl Fitted for $model {
            fn method(&self) -> &'static str {
                $name
            }

            fn n_features(&self) -> usize {
                self.plan().n_features
            }

            fn n_outputs(&self) -> usize {
                self.$outputs()
            }

            fn column_names(&self) -> &[String] {
                self.column_names()
            }

            fn warnings(&self) -> &[String] {
                self.warnings()
            }

            fn project(&self, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
                self.transform_watched(x, watch)
            }

            fn invert(&self, scores: &Matrix<f64>) -> Result<Matrix<f64>> {
                self.inverse_transform(scores)
            }

            fn write(&self, path: &Path) -> Result<()> {
                self.save(path)
            }
        }
    };
}

linear!(FittedPca, PCA, n_components);
linear!(FittedWhitening, WHITEN, n_outputs);

/// A model of any method.
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// `kpca`.
    KernelPca(FittedKernelPca),
    /// `pca`.
    Pca(FittedPca),
    /// `whiten`.
    Whitening(Box<FittedWhitening>),
}

impl AnyModel {
    /// Loads a model file, whatever its method.
    ///
    /// # Errors
    /// When the file cannot be read, holds a method that this version does not know, or is damaged.
    pub fn load(path: &Path) -> Result<AnyModel> {
        match read_header(path)?.method.as_str() {
            PCA => FittedPca::load(path).map(Self::Pca),
            WHITEN => FittedWhitening::load(path).map(|model| Self::Whitening(Box::new(model))),
            KERNEL_PCA => FittedKernelPca::load(path).map(Self::KernelPca),
            other => Err(Error::model(
                format!("{}: a model of the method {}", path.display(), shown(other)),
                format!("this version knows {KERNEL_PCA}, {PCA} and {WHITEN}"),
                "Use a version of eigenlift that knows the method",
            )),
        }
    }

    /// What every model can do.
    pub fn fitted(&self) -> &dyn Fitted {
        match self {
            Self::KernelPca(model) => model,
            Self::Pca(model) => model,
            Self::Whitening(model) => &**model,
        }
    }

    /// Runs later transforms there.
    pub fn with_engine(self, engine: Arc<dyn Engine>) -> Self {
        match self {
            Self::KernelPca(model) => Self::KernelPca(model.with_engine(engine)),
            Self::Pca(model) => Self::Pca(model.with_engine(engine)),
            Self::Whitening(model) => Self::Whitening(Box::new(model.with_engine(engine))),
        }
    }
}
