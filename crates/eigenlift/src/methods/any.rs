//! Models of any method, as a file holds them.

use super::kernelised::{cca, clusters, discriminant};
use super::manifold::{FittedManifold, ManifoldKind, saved as manifold_saved};
use super::pca::saved::{self as pca_saved, PCA, WHITEN};
use super::saved::KERNEL_PCA;
use super::{
    FittedKernelCca, FittedKernelDiscriminant, FittedKernelKMeans, FittedKernelPca, FittedPca,
    FittedWhitening,
};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{Array, Header, ModelReader, shown};
use crate::preimage::Preimage;
use crate::progress::Watch;
use std::path::Path;
use std::sync::Arc;

/// What every fitted model can do.
pub trait Fitted: Send + Sync {
    /// The method's name, which is also that of its scores, such as `kpca`.
    fn method(&self) -> &'static str;
    /// Numbers that a row must have.
    fn n_features(&self) -> usize;
    /// Numbers that come out for a row.
    fn n_outputs(&self) -> usize;
    /// Names of the input columns; empty when none were given.
    fn column_names(&self) -> &[String];
    /// Sentences a person should read before using the scores.
    fn warnings(&self) -> &[String];
    /// Where it runs unless told otherwise.
    fn engine(&self) -> &Arc<dyn Engine>;
    /// Scores of rows, found on this engine.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the model cannot take; cancellation.
    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>>;
    /// Rows from scores, found on this engine.
    ///
    /// # Errors
    /// When the method has no way back, or scores do not fit.
    fn invert_on(&self, _: &dyn Engine, _: &Matrix<f64>, _: &Watch) -> Result<Matrix<f64>> {
        Err(Error::model(
            format!("a model of the method {}", self.method()),
            "the way back from scores to rows is known for kpca, pca and whiten",
            "Use a model of one of these methods",
        ))
    }
    /// Rows projected, then back, on this engine.
    ///
    /// # Errors
    /// As [`Fitted::project_on`] and [`Fitted::invert_on`].
    fn denoise_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.invert_on(engine, &self.project_on(engine, x, watch)?, watch)
    }
    /// What [`Fitted::labels_on`] tells of a row: `component`, `cluster` or `class`.
    fn label_name(&self) -> Option<&'static str> {
        None
    }
    /// A label for each row, counted from 0, where the model has such: the part in which it is placed when there are several whose scores do
    /// not compare, its cluster, its predicted class.
    ///
    /// # Errors
    /// As [`Fitted::project_on`].
    fn labels_on(&self, _: &dyn Engine, _: AnyPoints<'_>, _: &Watch) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// A label in words: counted from 1, or the name of a class.
    fn label_words(&self, label: u32) -> String {
        (u64::from(label) + 1).to_string()
    }
    /// Scores of rows.
    ///
    /// # Errors
    /// As [`Fitted::project_on`].
    fn project(&self, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.project_on(&**self.engine(), x, watch)
    }
    /// Rows from scores.
    ///
    /// # Errors
    /// As [`Fitted::invert_on`].
    fn invert(&self, scores: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
        self.invert_on(&**self.engine(), scores, watch)
    }
    /// Writes the model file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, path: &Path) -> Result<()>;
    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the model cannot be written down, such as one whose kernel is a function.
    fn bytes(&self) -> Result<Vec<u8>>;
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

    fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.projection().project(engine, x, watch)
    }

    fn invert_on(&self, engine: &dyn Engine, scores: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
        Ok(self.inverse_on(&Preimage::new(), engine, scores, watch)?.rows)
    }

    fn denoise_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        Ok(FittedKernelPca::denoise_on(self, &Preimage::new(), engine, x, watch)?.rows)
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        self.to_bytes()
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

            fn engine(&self) -> &Arc<dyn Engine> {
                self.engine_of_model()
            }

            fn project_on(
                &self,
                engine: &dyn Engine,
                x: AnyPoints<'_>,
                watch: &Watch,
            ) -> Result<Matrix<f64>> {
                self.transform_on(engine, x, watch)
            }

            fn invert_on(&self, engine: &dyn Engine, scores: &Matrix<f64>, _: &Watch) -> Result<Matrix<f64>> {
                self.inverse_on(engine, scores)
            }

            fn write(&self, path: &Path) -> Result<()> {
                self.save(path)
            }

            fn bytes(&self) -> Result<Vec<u8>> {
                self.to_bytes()
            }
        }
    };
}

linear!(FittedPca, PCA, n_components);
linear!(FittedWhitening, WHITEN, n_outputs);

impl Fitted for FittedManifold {
    fn method(&self) -> &'static str {
        self.kind().name()
    }

    fn n_features(&self) -> usize {
        self.n_features()
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

    fn engine(&self) -> &Arc<dyn Engine> {
        self.engine_of_model()
    }

    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.transform_on(engine, x, watch)
    }

    fn label_name(&self) -> Option<&'static str> {
        (self.parts().len() > 1).then_some("component")
    }

    fn labels_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Option<Vec<u32>>> {
        self.part_of(engine, x, watch).map(|parts| self.label_name().map(|_| parts))
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        self.to_bytes()
    }
}

fn build(file: &mut ModelReader<'_>) -> Result<AnyModel> {
    match file.header().method.as_str() {
        PCA => pca_saved::build(file).map(AnyModel::Pca),
        WHITEN => pca_saved::build_whitening(file).map(|model| AnyModel::Whitening(Box::new(model))),
        KERNEL_PCA => FittedKernelPca::from_reader(file).map(AnyModel::KernelPca),
        cca::KERNEL_CCA => cca::saved::build(file).map(|model| AnyModel::KernelCca(Box::new(model))),
        discriminant::KERNEL_DISCRIMINANT => {
            discriminant::saved::build(file).map(|model| AnyModel::KernelDiscriminant(Box::new(model)))
        }
        clusters::KERNEL_K_MEANS => {
            clusters::saved::build(file).map(|model| AnyModel::KernelKMeans(Box::new(model)))
        }
        other if ManifoldKind::ALL.iter().any(|kind| kind.name() == other) => {
            manifold_saved::build(file).map(|model| AnyModel::Manifold(Box::new(model)))
        }
        other => {
            let mut known = vec![KERNEL_PCA, PCA, WHITEN];
            known.extend(ManifoldKind::ALL.map(ManifoldKind::name));
            known.extend([cca::KERNEL_CCA, discriminant::KERNEL_DISCRIMINANT, clusters::KERNEL_K_MEANS]);
            Err(Error::model(
                format!("a model of the method {}", shown(other)),
                format!("this version knows {}", known.join(", ")),
                "Use a version of eigenlift that knows the method",
            ))
        }
    }
}

/// A model of any method.
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// `kpca`.
    KernelPca(FittedKernelPca),
    /// `pca`.
    Pca(FittedPca),
    /// `whiten`.
    Whitening(Box<FittedWhitening>),
    /// `isomap`, `mds`, `laplacian`, `diffusion` and `lle`.
    Manifold(Box<FittedManifold>),
    /// `kcca`.
    KernelCca(Box<FittedKernelCca>),
    /// `kda`.
    KernelDiscriminant(Box<FittedKernelDiscriminant>),
    /// `kkmeans`.
    KernelKMeans(Box<FittedKernelKMeans>),
}

impl AnyModel {
    /// Loads a model file, whatever its method.
    ///
    /// # Errors
    /// When the file cannot be read, holds a method that this version does not know, or is damaged.
    pub fn load(path: &Path) -> Result<AnyModel> {
        ModelReader::open_file(path, build)
    }

    /// Hands the header and the arrays of the model file to `then`, without a copy: what a pickle or a database may keep.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be written down, and what `then` fails with.
    pub fn with_parts(&self, then: &mut dyn FnMut(&Header, &[Array<'_>]) -> Result<()>) -> Result<()> {
        match self {
            Self::KernelPca(model) => then(&model.header()?, &model.arrays()),
            Self::Pca(model) => model.with_file(None, then),
            Self::Whitening(model) => model.pca().with_file(Some(model), then),
            Self::Manifold(model) => model.with_file(then),
            Self::KernelCca(model) => model.with_file(then),
            Self::KernelDiscriminant(model) => model.with_file(then),
            Self::KernelKMeans(model) => model.with_file(then),
        }
    }

    /// The model from its parts, checked as those of a file are. Samples in shared memory are not copied.
    ///
    /// # Errors
    /// As [`AnyModel::load`].
    pub fn from_parts(header: Header, arrays: Vec<Array<'_>>) -> Result<AnyModel> {
        build(&mut ModelReader::from_parts(header, arrays)?)
    }

    /// What every model can do.
    pub fn fitted(&self) -> &dyn Fitted {
        match self {
            Self::KernelPca(model) => model,
            Self::Pca(model) => model,
            Self::Whitening(model) => &**model,
            Self::Manifold(model) => &**model,
            Self::KernelCca(model) => &**model,
            Self::KernelDiscriminant(model) => &**model,
            Self::KernelKMeans(model) => &**model,
        }
    }

    /// Runs later transforms there.
    pub fn with_engine(self, engine: Arc<dyn Engine>) -> Self {
        match self {
            Self::KernelPca(model) => Self::KernelPca(model.with_engine(engine)),
            Self::Pca(model) => Self::Pca(model.with_engine(engine)),
            Self::Whitening(model) => Self::Whitening(Box::new(model.with_engine(engine))),
            Self::Manifold(model) => Self::Manifold(Box::new(model.with_engine(engine))),
            Self::KernelCca(model) => Self::KernelCca(Box::new(model.with_engine(engine))),
            Self::KernelDiscriminant(model) => Self::KernelDiscriminant(Box::new(model.with_engine(engine))),
            Self::KernelKMeans(model) => Self::KernelKMeans(Box::new(model.with_engine(engine))),
        }
    }
}
