//! What every fitted model is: a plan, warnings and column names around a body, and what can be done with all of them.

use super::file::{Arrays, Header, ModelReader, Out, Table, arrays_of, save, write};
use super::{Array, Planned};
use crate::data::AnyPoints;
use crate::eigen::SolveStats;
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Watch;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

/// The part of a header's record that every method has.
#[derive(Serialize, Deserialize)]
struct Decided<P> {
    plan: P,
}

/// A fitted model: what its method found, the plan it came from, and what to know before using it.
///
/// Scores, inverse transforms, saving and loading are written once, for every [`Body`]. A model reads like its body.
#[derive(Clone, Debug)]
pub struct Model<B: Body> {
    pub(crate) plan: B::Plan,
    pub(crate) warnings: Vec<String>,
    pub(crate) column_names: Vec<String>,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) body: B,
}

impl<B: Body> Deref for Model<B> {
    type Target = B;
    fn deref(&self) -> &B {
        &self.body
    }
}

impl<B: Body> DerefMut for Model<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.body
    }
}

/// Where work is done, and who observes and may cancel it.
pub(crate) type On<'a> = (&'a dyn Engine, &'a Watch);

/// What a method leaves: its numbers, how they become scores, and how a model file holds them.
pub trait Body: Clone + Debug + Send + Sync + Sized + 'static {
    /// What was decided before the fit.
    type Plan: Planned;
    /// What the header of a model file says beside the plan.
    type Record: Serialize + DeserializeOwned;
    /// Names of the methods whose models have this body, as a model file says them.
    const METHODS: &'static [&'static str];

    /// Which of [`Body::METHODS`] it is.
    fn method(_model: &Model<Self>) -> &'static str {
        Self::METHODS[0]
    }

    /// Components or clusters.
    fn n_components(model: &Model<Self>) -> usize;

    /// Columns of the scores.
    fn n_outputs(model: &Model<Self>) -> usize {
        Self::n_components(model)
    }

    /// What the solves took, where the method solves for eigenpairs.
    fn stats(_model: &Model<Self>) -> Option<SolveStats> {
        None
    }

    /// Takes note of the engine that the model uses from now on.
    fn move_to(&mut self, _engine: &Arc<dyn Engine>) {}

    /// Scores of rows.
    ///
    /// # Errors
    /// When rows do not fit the model; cancellation.
    fn project(model: &Model<Self>, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>>;

    /// Rows from scores.
    ///
    /// # Errors
    /// When the method has no inverse transform, or scores do not fit.
    fn invert(model: &Model<Self>, _scores: &Matrix<f64>, _on: On<'_>) -> Result<Matrix<f64>> {
        Err(no_inverse(Self::method(model)))
    }

    /// Rows projected, then reconstructed.
    ///
    /// # Errors
    /// As [`Body::project`] and [`Body::invert`].
    fn denoise(model: &Model<Self>, x: AnyPoints<'_>, on: On<'_>) -> Result<Matrix<f64>> {
        Self::invert(model, &Self::project(model, x, on)?, on)
    }

    /// What the labels of rows are: `component`, `cluster` or `class`.
    fn label_name(_model: &Model<Self>) -> Option<&'static str> {
        None
    }

    /// A label for each row, where the model has labels.
    ///
    /// # Errors
    /// As [`Body::project`].
    fn labels(_model: &Model<Self>, _x: AnyPoints<'_>, _on: On<'_>) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }

    /// A label as text.
    fn label_text(_model: &Model<Self>, label: u32) -> String {
        (u64::from(label) + 1).to_string()
    }

    /// What the header says beside the plan.
    ///
    /// # Errors
    /// When the model cannot be written down, such as one whose kernel is a function.
    fn record(model: &Model<Self>) -> Result<Self::Record>;

    /// Says what the header of an earlier version says as this version does.
    fn renew(_record: &mut Map<String, Value>) {}

    /// Refuses counts that no fit gives, and a header that contradicts itself.
    ///
    /// # Errors
    /// When there is such a thing.
    fn check(header: &Header, plan: &Self::Plan, record: &Self::Record) -> Result<()>;

    /// The arrays of the model file: the declaration that writes, reads and checks them.
    fn tables(header: &Header, plan: &Self::Plan, record: &Self::Record) -> Vec<Table>;

    /// Gives the arrays that are declared.
    fn give<'a>(model: &'a Model<Self>, out: &mut Out<'a>);

    /// The body from what a file says and from arrays that satisfy their declaration.
    ///
    /// # Errors
    /// When they do not fit each other.
    fn build(header: &Header, plan: &Self::Plan, record: Self::Record, arrays: &mut Arrays) -> Result<Self>;
}

fn no_inverse(method: &str) -> Error {
    Error::model(
        format!("a model of the method {method}"),
        "the way back from scores to rows is known for kpca, pca and whiten",
        "Use a model of one of these methods",
    )
}

impl<B: Body> Model<B> {
    /// Rows of the fit.
    pub fn n_samples(&self) -> usize {
        self.plan.n_samples()
    }

    /// Numbers that a row must have.
    pub fn n_features(&self) -> usize {
        self.plan.n_features()
    }

    /// What was decided and why.
    pub fn plan(&self) -> &B::Plan {
        &self.plan
    }

    /// Warnings: read them before using the scores. One of them says so when fewer components exist than were requested.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Names of the input columns; empty when none were given.
    pub fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// Sets the engine of later transforms.
    pub fn with_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.move_to(engine);
        self
    }

    pub(super) fn move_to(&mut self, engine: Arc<dyn Engine>) {
        self.body.move_to(&engine);
        self.engine = engine;
    }

    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// The loaded model gives the same scores, bit for bit, and saving it gives the same file.
    ///
    /// ```
    /// use eigenlift::{data, methods::{FittedKernelPca, KernelPca}};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("iris.safetensors");
    /// let iris = data::iris()?.samples;
    /// let model = KernelPca::new(2).fit(iris.clone())?;
    /// model.save(&path)?;
    /// let loaded = FittedKernelPca::load(&path)?;
    /// assert_eq!(loaded.transform(iris.points())?, model.transform(iris.points())?);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.with_file(&mut |header, arrays| save(path, header, arrays))
    }

    /// Loads a model that [`Model::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is
    /// truncated or damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<Self> {
        ModelReader::open_file(path, Self::read)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.with_file(&mut |header, arrays| {
            write(header, arrays, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })
        })?;
        Ok(bytes)
    }

    /// The model from the bytes of a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut ModelReader::from_bytes(bytes)?)
    }

    /// Hands header and arrays of the model file to `then`. What could not be read again is refused.
    pub(super) fn with_file(&self, then: &mut dyn FnMut(&Header, &[Array<'_>]) -> Result<()>) -> Result<()> {
        let (decided, record) = (Decided { plan: self.plan.portable() }, B::record(self)?);
        let plan = &decided.plan;
        let mut header = Header {
            precision: plan.precision().into(),
            n_samples: plan.n_samples(),
            n_features: plan.n_features(),
            n_components: B::n_components(self),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(B::method(self))
        };
        header.record.extend(Header::record_of(&decided)?);
        B::check(&header, plan, &record)?;
        let mut out = Out::new();
        B::give(self, &mut out);
        let arrays = arrays_of(B::tables(&header, plan, &record), out)?;
        then(&header, &arrays)
    }

    /// The model from a file whose layout and header's checksum are sound.
    pub(crate) fn read(file: &mut ModelReader<'_>) -> Result<Self> {
        let mut header = file.header().clone();
        header.check_method(B::METHODS)?;
        file.verify()?;
        B::renew(&mut header.record);
        let Decided::<B::Plan> { plan } = header.read_record()?;
        let record: B::Record = header.read_record()?;
        B::check(&header, &plan, &record)?;
        let mut arrays = Arrays::read(file, B::tables(&header, &plan, &record))?;
        let body = B::build(&header, &plan, record, &mut arrays)?;
        let Header { warnings, column_names, .. } = header;
        Ok(Self { plan, warnings, column_names, engine: Arc::new(Cpu::at_first_use()), body })
    }
}
