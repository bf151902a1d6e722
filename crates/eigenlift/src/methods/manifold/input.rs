//! What manifold methods embed.

use crate::data::{AnySamples, Csr, Samples};
use crate::error::Error;
use crate::graph::{Graph, Metric, Neighbors, Space};
use crate::matrix::Matrix;
use crate::real::Real;

/// What is embedded: samples, or what is known of them. Samples and matrices turn into it by themselves.
///
/// ```
/// use eigenlift::{data, graph::Graph, methods::{Isomap, manifold::ManifoldInput}};
/// let x = data::synthetic("swiss-roll", Some(200), None, 0)?.samples;
/// let of_samples = Isomap::new(2).neighbors(8).fit(x.clone())?;
/// // Samples on a line, of which a graph alone is known.
/// let edges: Vec<_> = (0..9).map(|i| eigenlift::graph::Edge { from: i, to: i + 1, length: 1.0 }).collect();
/// let graph = Graph::from_edges(10, &edges)?;
/// let of_a_graph = Isomap::new(1).fit(ManifoldInput::graph(graph, None))?;
/// assert_eq!((of_samples.n_components(), of_a_graph.n_components()), (2, 1));
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum ManifoldInput {
    /// Samples.
    Samples(AnySamples),
    /// Distances between all samples.
    Distances(AnySamples),
    /// Lists of neighbors, one for each sample, perhaps with the samples.
    Neighbors(Neighbors, Option<AnySamples>),
    /// A graph, perhaps with the samples behind its vertices.
    Graph(Graph, Option<AnySamples>),
    /// Affinities between all samples, dense or sparse.
    Affinities(AnySamples),
}

impl ManifoldInput {
    /// Distances between all samples: square, symmetric and not negative.
    pub fn distances(distances: impl Into<AnySamples>) -> Self {
        Self::Distances(distances.into())
    }

    /// Lists of neighbors, one for each sample. New samples can be placed by their entries when the samples are given as well.
    pub fn neighbors(neighbors: Neighbors, samples: Option<AnySamples>) -> Self {
        Self::Neighbors(neighbors, samples)
    }

    /// A graph whose vertices are embedded. New samples can be placed when the samples behind the vertices are given.
    pub fn graph(graph: Graph, samples: Option<AnySamples>) -> Self {
        Self::Graph(graph, samples)
    }

    /// Affinities between all samples: n × n numbers that are not negative, dense or sparse. New samples cannot be placed.
    pub fn affinities(affinities: impl Into<AnySamples>) -> Self {
        Self::Affinities(affinities.into())
    }

    pub(super) fn n_samples(&self) -> usize {
        match self {
            Self::Samples(x) | Self::Distances(x) | Self::Affinities(x) => x.n_rows(),
            Self::Neighbors(lists, _) => lists.n_rows(),
            Self::Graph(graph, _) => graph.n_vertices(),
        }
    }

    pub(super) fn n_features(&self) -> usize {
        self.rows().map_or_else(|| self.n_samples(), AnySamples::n_cols)
    }

    /// Samples, or the matrix between them, when there are any.
    pub(super) fn rows(&self) -> Option<&AnySamples> {
        match self {
            Self::Samples(x) | Self::Distances(x) | Self::Affinities(x) => Some(x),
            Self::Neighbors(_, x) | Self::Graph(_, x) => x.as_ref(),
        }
    }

    pub(super) fn precision(&self) -> &'static str {
        self.rows().map_or("f64", AnySamples::precision)
    }

    /// Where neighbors of new samples are looked for.
    pub(super) fn space(&self, metric: Metric) -> Space {
        let n_samples = self.n_samples();
        match self {
            Self::Samples(x) | Self::Neighbors(_, Some(x)) | Self::Graph(_, Some(x)) => {
                Space::Rows { samples: x.clone(), metric }
            }
            Self::Distances(_) => Space::Distances { n_samples },
            Self::Neighbors(_, None) | Self::Graph(_, None) | Self::Affinities(_) => {
                Space::Lists { n_samples }
            }
        }
    }

    /// The metric in a word.
    pub(super) fn metric_word(&self, metric: Metric) -> String {
        match self {
            Self::Samples(_) | Self::Neighbors(_, Some(_)) | Self::Graph(_, Some(_)) => metric.name().into(),
            Self::Distances(_) => "precomputed".into(),
            Self::Neighbors(_, None) | Self::Graph(_, None) => "given by neighbours".into(),
            Self::Affinities(_) => "affinities given".into(),
        }
    }

    /// The error of a method that cannot use this input, and takes others.
    pub(super) fn refused(&self, method: &str, takes: &str) -> Error {
        let found = match self {
            Self::Samples(_) => "samples",
            Self::Distances(_) => "distances between samples",
            Self::Neighbors(_, None) => "lists of neighbors without samples",
            Self::Neighbors(_, Some(_)) => "lists of neighbors",
            Self::Graph(..) => "a graph",
            Self::Affinities(_) => "affinities between samples",
        };
        Error::data(format!("{found} for {method}"), format!("it takes {takes}"), "Give one of these")
    }
}

impl From<AnySamples> for ManifoldInput {
    fn from(samples: AnySamples) -> Self {
        Self::Samples(samples)
    }
}

impl From<&AnySamples> for ManifoldInput {
    fn from(samples: &AnySamples) -> Self {
        Self::Samples(samples.clone())
    }
}

impl<T: Real> From<Samples<T>> for ManifoldInput
where
    AnySamples: From<Samples<T>>,
{
    fn from(samples: Samples<T>) -> Self {
        Self::Samples(samples.into())
    }
}

impl<T: Real> From<Matrix<T>> for ManifoldInput
where
    AnySamples: From<Samples<T>>,
{
    fn from(rows: Matrix<T>) -> Self {
        Samples::from(rows).into()
    }
}

impl<T: Real> From<Csr<T>> for ManifoldInput
where
    AnySamples: From<Samples<T>>,
{
    fn from(rows: Csr<T>) -> Self {
        Samples::from(rows).into()
    }
}
