//! Models whose method is known when the program runs.

use super::Array;
use super::file::{Header, ModelReader, shown};
use super::fitted::{Body, Model};
use super::plan::Planned;
use crate::data::AnyPoints;
use crate::eigen::SolveStats;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::rows::Fitted;
use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

impl<B: Body> Fitted for Model<B> {
    fn method(&self) -> &'static str {
        B::method(self)
    }

    fn n_features(&self) -> usize {
        self.plan.n_features()
    }

    fn n_outputs(&self) -> usize {
        B::n_outputs(self)
    }

    fn column_names(&self) -> &[String] {
        &self.column_names
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        B::project(self, x, (engine, watch))
    }

    fn invert_on(&self, engine: &dyn Engine, scores: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
        B::invert(self, scores, (engine, watch))
    }

    fn denoise_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        B::denoise(self, x, (engine, watch))
    }

    fn label_name(&self) -> Option<&'static str> {
        B::label_name(self)
    }

    fn labels_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Option<Vec<u32>>> {
        B::labels(self, x, (engine, watch))
    }

    fn label_words(&self, label: u32) -> String {
        B::label_text(self, label)
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        self.to_bytes()
    }
}

/// A fitted model whose method is known when the program runs: what files, pickles and summaries need of it.
pub trait Stored: Fitted + Debug + Any {
    /// A copy.
    fn boxed(&self) -> Box<dyn Stored>;
    /// Sets the engine of later transforms.
    fn set_engine(&mut self, engine: Arc<dyn Engine>);
    /// Rows of the fit.
    fn n_samples(&self) -> usize;
    /// Components or clusters.
    fn n_components(&self) -> usize;
    /// Precision of the samples, `f32` or `f64`; of several tables that of the first.
    fn precision(&self) -> &str;
    /// The kernel with every parameter known, for methods with one kernel.
    fn kernel(&self) -> Option<&str>;
    /// The plan as JSON.
    ///
    /// # Errors
    /// When a number in it is not finite.
    fn plan_json(&self) -> Result<String>;
    /// The plan as text.
    fn plan_text(&self) -> String;
    /// What the solves took, where the method solves for eigenpairs.
    fn stats(&self) -> Option<SolveStats>;
    /// Hands the header and the arrays of the model file to `then`, without a copy of the samples.
    ///
    /// # Errors
    /// When the model cannot be written down, and what `then` fails with.
    fn with_parts(&self, then: &mut dyn FnMut(&Header, &[Array<'_>]) -> Result<()>) -> Result<()>;
}

impl<B: Body> Stored for Model<B> {
    fn boxed(&self) -> Box<dyn Stored> {
        Box::new(self.clone())
    }

    fn set_engine(&mut self, engine: Arc<dyn Engine>) {
        Model::move_to(self, engine);
    }

    fn n_samples(&self) -> usize {
        self.plan.n_samples()
    }

    fn n_components(&self) -> usize {
        B::n_components(self)
    }

    fn precision(&self) -> &str {
        self.plan.precision_of_first()
    }

    fn kernel(&self) -> Option<&str> {
        self.plan.kernel()
    }

    fn plan_json(&self) -> Result<String> {
        serde_json::to_string(&self.plan).map_err(|why| {
            Error::model(
                format!("a plan that cannot be written as JSON ({why})"),
                "every number in it must be finite",
                "Fit the model again",
            )
        })
    }

    fn plan_text(&self) -> String {
        self.plan.to_string()
    }

    fn stats(&self) -> Option<SolveStats> {
        B::stats(self)
    }

    fn with_parts(&self, then: &mut dyn FnMut(&Header, &[Array<'_>]) -> Result<()>) -> Result<()> {
        Model::with_file(self, then)
    }
}

/// A model of any method.
#[derive(Debug)]
pub struct AnyModel(Box<dyn Stored>);

impl Clone for AnyModel {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

impl<B: Body> From<Model<B>> for AnyModel {
    fn from(model: Model<B>) -> Self {
        Self(Box::new(model))
    }
}

/// Reads the model of one kind of body, and says which methods that is.
pub(crate) type Reader = (&'static [&'static str], fn(&mut ModelReader<'_>) -> Result<AnyModel>);

/// The reader of models with this body.
pub(crate) const fn reader<B: Body>() -> Reader {
    (B::METHODS, |file| Model::<B>::read(file).map(AnyModel::from))
}

impl AnyModel {
    /// The model from a file, by the method that its header names.
    pub(crate) fn read(file: &mut ModelReader<'_>, known: &[Reader]) -> Result<Self> {
        let method = file.header().method.clone();
        match known.iter().find(|(names, _)| names.contains(&&*method)) {
            Some((_, read)) => read(file),
            None => {
                let names: Vec<&str> = known.iter().flat_map(|(names, _)| *names).copied().collect();
                Err(Error::model(
                    format!("a model of the method {}", shown(&method)),
                    format!("this version knows {}", names.join(", ")),
                    "Use a version of eigenlift that knows the method",
                ))
            }
        }
    }

    /// The model as one of this type, such as [`crate::methods::FittedPca`]; `None` when it is another.
    pub fn get<M: Stored>(&self) -> Option<&M> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Whether the model is of this type.
    pub fn is<M: Stored>(&self) -> bool {
        self.get::<M>().is_some()
    }

    /// As [`AnyModel::get`], without a copy.
    pub fn take<M: Stored>(self) -> Option<M> {
        (self.0 as Box<dyn Any>).downcast().ok().map(|model: Box<M>| *model)
    }

    /// What every model can do.
    pub fn fitted(&self) -> &dyn Fitted {
        &*self.0
    }

    /// What files, pickles and summaries need of it.
    pub fn stored(&self) -> &dyn Stored {
        &*self.0
    }

    /// Hands the header and the arrays of the model file to `then`, without a copy: what a pickle or a database may keep.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be written down, and what `then` fails with.
    pub fn with_parts(&self, then: &mut dyn FnMut(&Header, &[Array<'_>]) -> Result<()>) -> Result<()> {
        self.0.with_parts(then)
    }

    /// Sets the engine of later transforms.
    pub fn with_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.0.set_engine(engine);
        self
    }
}
