//! The model that every manifold method leaves.

use super::embedding::NegativeShare;
use crate::data::AnyPoints;
use crate::eigen::SolveStats;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{Edge, NeighborSearch, Neighbors, Reach, Search, Space};
use crate::linalg::scale_columns;
use crate::matrix::Matrix;
use crate::model::{Lift, ManifoldLift, Model, Projection};
use crate::progress::Watch;
use crate::quality::NeighborhoodQuality;
use serde::{Deserialize, Serialize};

/// Which method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ManifoldKind {
    /// Isomap.
    Isomap,
    /// Classical multidimensional scaling.
    Mds,
    /// Laplacian eigenmaps.
    Laplacian,
    /// Diffusion maps.
    Diffusion,
    /// Locally linear embedding and its variants.
    Lle,
}

impl ManifoldKind {
    /// All of them.
    pub const ALL: [ManifoldKind; 5] = [Self::Isomap, Self::Mds, Self::Laplacian, Self::Diffusion, Self::Lle];

    /// The method's name, which is also that of its scores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Isomap => "isomap",
            Self::Mds => "mds",
            Self::Laplacian => "laplacian",
            Self::Diffusion => "diffusion",
            Self::Lle => "lle",
        }
    }
}

/// The graph that an embedding follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// Edges, bridges included.
    pub n_edges: usize,
    /// Rows in each connected component before bridges, in the order of first rows.
    pub component_sizes: Vec<usize>,
    /// Edges that were added to join components.
    pub bridges: Vec<Edge>,
    /// Edges that were taken out.
    pub cut: Vec<Edge>,
    /// How neighbours were found.
    pub search: Option<Search>,
}

/// How well distances along the graph are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathQuality {
    /// 1 − r² between distances along the graph and in the embedding, (G19).
    pub residual_variance: f64,
    /// Its standard error where it is estimated from sampled rows; none where all distances were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Rows whose distances to all others were compared.
    pub n_rows: usize,
    /// Whether these rows took no part in finding the embedding.
    pub held_out: bool,
}

/// What was found beside the coordinates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifoldFacts {
    /// The graph, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphFacts>,
    /// How far the distances are from those of a space, for methods that scale distances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative: Option<NegativeShare>,
    /// How well distances are kept, for methods that mean to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathQuality>,
    /// How well neighbourhoods are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighborhoods: Option<NeighborhoodQuality>,
    /// The solver, in words.
    pub solver: String,
    /// What the solves took together.
    pub stats: SolveStats,
}

/// Rows embedded together, and the line that places new ones.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which of the rows; empty when all.
    pub rows: Vec<u32>,
    /// y(x) = lift(x)ᵀA − c.
    pub projection: Projection,
    /// Eigenvalues of its axes.
    pub eigenvalues: Vec<f64>,
    /// Residuals of the eigenpairs, relative to the eigenvalue (for smallest eigenvalues: to the norm of the matrix); empty when the
    /// coordinates are those of landmarks.
    pub residuals: Vec<f64>,
}

/// A fitted manifold method.
pub type FittedManifold = Model<ManifoldBody>;

/// What a fit of a manifold method leaves.
#[derive(Clone, Debug)]
pub struct ManifoldBody {
    pub(super) parts: Vec<Part>,
    pub(super) scores: Matrix<f64>,
    pub(super) facts: ManifoldFacts,
}

impl FittedManifold {
    /// Which method.
    pub fn kind(&self) -> ManifoldKind {
        self.plan.method
    }

    /// Coordinates of the rows it was fitted on, in their order.
    pub fn scores(&self) -> &Matrix<f64> {
        &self.scores
    }

    /// Components kept; may be fewer than asked for, see [`FittedManifold::warnings`].
    pub fn n_components(&self) -> usize {
        self.scores.n_cols()
    }

    /// Rows embedded together: one part, or one for each component of the graph when these were embedded separately.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The part of each row, from 0; rows that were placed as new rows are, because they lie outside the largest component,
    /// have the number of parts.
    pub fn labels(&self) -> Vec<u32> {
        let outside = if self.parts.iter().any(|part| part.rows.is_empty()) { 0 } else { self.parts.len() };
        let mut labels = vec![outside as u32; self.n_samples()];
        for (number, part) in self.parts.iter().enumerate() {
            part.rows.iter().for_each(|row| labels[*row as usize] = number as u32);
        }
        labels
    }

    /// Eigenvalues of the first part's axes: nλ for isomap and mds, largest first; of the transition matrix for laplacian and
    /// diffusion, largest first; of (I−W)ᵀ(I−W) for lle, smallest first.
    pub fn eigenvalues(&self) -> &[f64] {
        self.parts.first().map_or(&[], |part| &part.eigenvalues)
    }

    /// What was found beside the coordinates.
    pub fn facts(&self) -> &ManifoldFacts {
        &self.facts
    }

    /// Distances along the graph, a row for each row and a column for each landmark: what new rows are placed by. `None`
    /// when the method has none or components were embedded separately.
    pub fn geodesics(&self) -> Option<&Matrix<f64>> {
        match self.parts.as_slice() {
            [Part { rows, projection: Projection { lift: Lift::Manifold(lift), .. }, .. }]
                if rows.is_empty() =>
            {
                match &**lift {
                    ManifoldLift::Geodesics { distances, .. } => Some(distances),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Coordinates of new rows, each in the part where its nearest sample lies.
    ///
    /// Cost: the search for neighbours, and for isomap k·L sums a row with L landmarks.
    ///
    /// # Errors
    /// When rows have another number of columns, are not finite, or have no neighbour; when the model was fitted on lists
    /// of neighbours alone.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_on(&*self.engine, x.into(), &Watch::default())
    }

    pub(in crate::methods) fn transform_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        self.check_columns(x)?;
        match self.parts.as_slice() {
            [part] if part.rows.is_empty() || !matches!(part.space(), Some(Space::Distances { .. })) => {
                part.projection.project(engine, x, watch)
            }
            _ => self.transform_parts(engine, x, watch),
        }
    }

    fn check_columns(&self, x: AnyPoints<'_>) -> Result<()> {
        if x.n_cols() == self.n_features() {
            return Ok(());
        }
        Err(Error::data(
            format!("rows of {} columns", x.n_cols()),
            format!("the model was fitted on {}", self.n_features()),
            "Give the same columns, in the same order, as in fit",
        ))
    }

    /// The part in which each new row is placed: that of its nearest sample, from 0.
    ///
    /// # Errors
    /// As [`FittedManifold::transform`].
    pub fn labels_of<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Vec<u32>> {
        self.part_of(&*self.engine, x.into(), &Watch::default())
    }

    pub(in crate::methods) fn part_of(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Vec<u32>> {
        self.check_columns(x)?;
        if self.parts.len() < 2 {
            return Ok(vec![0; x.n_rows()]);
        }
        let own: Vec<Matrix<f64>> = self.parts.iter().map(|part| part.own_columns(x)).collect();
        let nearest = self.nearest_parts(engine, &own, x.n_rows(), watch)?;
        Ok(nearest.into_iter().map(|part| part as u32).collect())
    }

    fn nearest_parts(
        &self,
        engine: &dyn Engine,
        own: &[Matrix<f64>],
        n_rows: usize,
        watch: &Watch,
    ) -> Result<Vec<usize>> {
        let nearest = NeighborSearch { reach: Reach::Nearest(1), how: Search::Auto };
        let mut best = vec![(f64::INFINITY, 0usize); n_rows];
        for (number, (part, rows)) in self.parts.iter().zip(own).enumerate() {
            let Some(space) = part.space() else { continue };
            let found = engine.complete(|| nearest.of_new(space, rows.into(), watch))?;
            for (i, best) in best.iter_mut().enumerate() {
                match found.row(i).1.first() {
                    Some(distance) if *distance < best.0 => *best = (*distance, number),
                    _ => {}
                }
            }
        }
        Ok(best.into_iter().map(|(_, part)| part).collect())
    }

    /// Each row goes to the part of its nearest sample.
    fn transform_parts(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        let own: Vec<Matrix<f64>> = self.parts.iter().map(|part| part.own_columns(x)).collect();
        let best = self.nearest_parts(engine, &own, x.n_rows(), watch)?;
        let mut out = Matrix::zeros(x.n_rows(), self.n_components());
        for (number, (part, rows)) in self.parts.iter().zip(&own).enumerate() {
            let mine: Vec<usize> = (0..x.n_rows()).filter(|i| best[*i] == number).collect();
            if mine.is_empty() {
                continue;
            }
            let rows = Matrix::from_fn(mine.len(), rows.n_cols(), |i, j| rows[(mine[i], j)]);
            let scores = part.projection.project(engine, (&rows).into(), watch)?;
            for (at, i) in mine.into_iter().enumerate() {
                out.view_mut().row_mut(i).copy_from_slice(scores.row(at));
            }
        }
        Ok(out)
    }

    /// Coordinates of rows that are known by their neighbours among the samples.
    ///
    /// # Errors
    /// When the method does not place rows by neighbours, or components were embedded separately.
    pub fn transform_neighbors(&self, neighbors: &Neighbors, watch: &Watch) -> Result<Matrix<f64>> {
        match self.parts.as_slice() {
            [part] if part.rows.is_empty() => {
                part.projection.project_neighbors(&*self.engine, neighbors, watch)
            }
            _ => Err(Error::data(
                "lists of neighbours for components that were embedded separately",
                "each row must find its component by distances",
                "Give rows",
            )),
        }
    }

    /// The same model with the axes named turned round: signs are a convention, and callers may have another.
    pub fn flipped(mut self, which: &[bool]) -> Self {
        let signs: Vec<f64> =
            (0..self.n_components()).map(|j| if which.get(j) == Some(&true) { -1.0 } else { 1.0 }).collect();
        scale_columns(self.scores.view_mut(), &signs);
        for part in &mut self.parts {
            scale_columns(part.projection.coefficients.view_mut(), &signs);
            part.projection.offset.iter_mut().zip(&signs).for_each(|(c, sign)| *c *= sign);
        }
        self
    }
}

impl Part {
    /// Where its samples are looked for, when that is how new rows are placed.
    pub(super) fn space(&self) -> Option<&Space> {
        match &self.projection.lift {
            Lift::Manifold(lift) => match &**lift {
                ManifoldLift::Geodesics { space, .. }
                | ManifoldLift::Distances { space }
                | ManifoldLift::Weights { space, .. } => Some(space),
                ManifoldLift::Steps { .. } => None,
            },
            _ => None,
        }
    }

    /// The columns that belong to its samples, when rows hold distances; otherwise all.
    fn own_columns(&self, x: AnyPoints<'_>) -> Matrix<f64> {
        let dense = x.to_dense::<f64>();
        match self.space() {
            Some(Space::Distances { .. }) if !self.rows.is_empty() => {
                Matrix::from_fn(x.n_rows(), self.rows.len(), |i, j| dense[(i, self.rows[j] as usize)])
            }
            _ => dense,
        }
    }
}
