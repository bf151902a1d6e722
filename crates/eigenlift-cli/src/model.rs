//! A fitted model as the command line sees it: what it found, and the figures it has.

use crate::exit::Failure;
use crate::figures::{Plane, Shown, scatter_of, with_share};
use crate::outputs::score_names;
use crate::values::PlotKind;
use crate::words::counted;
use eigenlift::data::AnySamples;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelPca};
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use eigenlift_plot::Figure;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;

/// Rows in memory.
pub(crate) struct Rows {
    pub(crate) samples: AnySamples,
    pub(crate) weights: Option<Vec<f64>>,
    /// Labels, for a method that learns from them.
    pub(crate) target: Option<Target>,
}

/// A fitted model.
pub(crate) trait Model: Send + Sync {
    /// What every model can do.
    fn fitted(&self) -> &dyn Fitted;
    /// Rows it was fitted on.
    fn n_samples(&self) -> usize;
    /// Names of the scores.
    fn score_names(&self) -> Vec<String> {
        score_names(self.fitted().method(), self.fitted().n_outputs())
    }
    /// Sentences a person should read before using the scores.
    fn warnings(&self) -> Vec<String> {
        self.fitted().warnings().to_vec()
    }
    /// Scores of the rows it was fitted on; what else these tell is kept for the account.
    fn scores(&mut self, rows: &Rows, watch: &Watch) -> Result<Matrix<f64>, Failure> {
        Ok(self.fitted().project(rows.samples.points(), watch)?)
    }
    /// A column in front of the scores that the fit itself found, one label for each row.
    fn labels(&self) -> Option<Target> {
        None
    }
    /// Whether these labels colour rows in place of the target.
    fn shows_labels(&self) -> bool {
        false
    }
    /// Places of the rows of the fit in a picture, where scores are not places.
    fn plane(&self) -> Option<&Plane> {
        None
    }
    /// What the scores are, in a few words.
    fn size(&self) -> String {
        counted(self.fitted().n_outputs(), "component")
    }
    /// Whether distances between scores stand for distances between rows, so that a picture must not stretch them.
    fn keeps_distances(&self) -> bool {
        false
    }
    /// What was decided and why.
    fn plan(&self) -> String;
    /// What was found, in words.
    fn words(&self) -> Vec<String>;
    /// What was found, for programs.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn found(&self) -> Result<Map<String, Value>, Failure>;
    /// Shares of the variance along coordinates, where they have one.
    fn shares(&self) -> Vec<f64>;
    /// Pictures that tell something of this model, beside that of its scores; `has_rows` says that the rows are at hand.
    fn pictures(&self, has_rows: bool) -> Vec<PlotKind>;
    /// The model of kernel PCA, if it is one.
    fn kernel_pca(&self) -> Option<&FittedKernelPca> {
        None
    }
    /// A picture of the kinds that the method has.
    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure>;
    /// A table beside the scores: loadings.
    fn write_loadings(&self, path: &Path) -> Result<(), Failure> {
        Err(Failure::usage(
            format!("--loadings {} of a {} model", path.display(), self.fitted().method()),
            "principal components have loadings",
            "Leave it out",
        ))
    }
}

/// What rows are drawn along: the plane of a model that has one, then the scores.
pub(crate) struct Drawn<'a> {
    pub(crate) names: Vec<String>,
    pub(crate) axes: Vec<String>,
    pub(crate) values: Cow<'a, Matrix<f64>>,
}

impl<'a> Drawn<'a> {
    pub(crate) fn of(model: &dyn Model, scores: &'a Matrix<f64>) -> Self {
        let (mut names, mut axes) = (model.score_names(), axis_labels(model, scores.n_cols()));
        let Some(plane) = model.plane().filter(|plane| plane.places.n_rows() == scores.n_rows()) else {
            return Self { names, axes, values: Cow::Borrowed(scores) };
        };
        names.splice(0..0, plane.names.iter().cloned());
        axes.splice(0..0, plane.axes.iter().cloned());
        let front = plane.places.n_cols();
        let values = Matrix::from_fn(scores.n_rows(), front + scores.n_cols(), |i, j| {
            if j < front { plane.places[(i, j)] } else { scores[(i, j - front)] }
        });
        Self { names, axes, values: Cow::Owned(values) }
    }
}

/// The first two components; the rows in order when there is only one.
pub(crate) fn draw_scatter(model: &dyn Model, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
    let labels = axis_labels(model, shown.scores.n_cols());
    scatter_of(shown, &labels, model.keeps_distances(), title)
}

/// What each of `k` coordinates is called, with its share of the variance where it has one.
pub(crate) fn axis_labels(model: &dyn Model, k: usize) -> Vec<String> {
    let shares = model.shares();
    let label = |(j, name): (usize, String)| match shares.get(j) {
        Some(share) => with_share(&name, *share),
        None => name,
    };
    model.score_names().into_iter().take(k).enumerate().map(label).collect()
}
