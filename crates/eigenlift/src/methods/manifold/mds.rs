//! Classical multidimensional scaling.

use super::ManifoldInput;
use super::described::{METRIC, Manifold, OWN, SHARED, embedder};
use super::embedding::{Coordinates, Wanted, embed_all, embed_landmarks};
use super::fitted::{FittedManifold, ManifoldBody, ManifoldFacts, ManifoldKind, Part, PathQuality};
use super::plan::{ManifoldPlan, Way, most_that_fit};
use super::settings::{Common, common_settings};
use crate::describe::{Description, Parameter};
use crate::eigen::basis_columns;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{Metric, Space};
use crate::matrix::Matrix;
use crate::model::{Job, Lift, ManifoldLift, Projection};
use crate::progress::Watch;
use crate::quality::{residual_variance, residual_variance_estimate};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use std::sync::Arc;

/// Up to so many rows all distances are used when they fit.
const EXACT_ROWS: usize = 10_000;
/// Rows on which the embedding is judged.
const JUDGED_ROWS: usize = 32;

/// Classical scaling: coordinates whose distances are nearest to those given, (G7), (G9). With Euclidean distances the
/// coordinates are the scores of PCA.
///
/// ```
/// use eigenlift::{data, methods::ClassicalMds};
/// let iris = data::iris()?.samples;
/// let model = ClassicalMds::new(2).fit(iris.clone())?;
/// // New rows are placed by their distances to the samples.
/// let again = model.transform(iris.points())?;
/// assert!((again[(3, 1)] - model.scores()[(3, 1)]).abs() < 1e-9);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClassicalMds {
    pub(super) common: Common,
    landmarks: Option<usize>,
}

/// Its description.
pub(super) const METHOD: Manifold = Manifold {
    description: Description {
        name: "mds",
        title: "Classical scaling",
        about: "Classical multidimensional scaling: keeps distances",
        parameters: &[
            SHARED,
            &[
                Parameter { heading: OWN.heading, ..METRIC },
                Parameter {
                    name: "landmarks",
                    doc: "Scale so many rows only and place the others by their distances to them; chosen by rows and memory when not given",
                    ..OWN
                },
            ],
        ],
        fit_notes: "\
Scores are called mds1, mds2, ... With Euclidean distances they are those of PCA. With --metric precomputed DATA is the \
matrix of distances between all rows.

Examples:
  eigenlift fit mds iris.csv --target species --metric manhattan \\
      --out mds.csv --plot mds.svg --plot scree=scree.svg
  eigenlift kernel distance worked.csv --kernel linear \\
      --out distances.npy
  eigenlift fit mds distances.npy --metric precomputed --out places.csv",
        plan_notes: "\
Examples:
  eigenlift plan mds digits.csv --target digit --landmarks 500",
    },
    build: |settings| {
        let method = ClassicalMds::new(settings.count("components").unwrap_or(2));
        Ok(Box::new(match settings.count("landmarks") {
            Some(count) => method.landmarks(count),
            None => method,
        }))
    },
};

common_settings!(ClassicalMds);
embedder!(ClassicalMds);

impl ClassicalMds {
    /// So many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self { common: Common::new(n_components), landmarks: None }
    }

    /// Scales so many rows drawn at random, and places the others by their distances to them.
    pub fn landmarks(mut self, count: usize) -> Self {
        self.landmarks = Some(count);
        self
    }

    /// Plans a fit, which [`Job::run`] then does; of samples, or distances between all of them.
    ///
    /// # Errors
    /// As [`ClassicalMds::fit`], as far as they can be known in advance.
    pub fn prepare(&self, input: impl Into<ManifoldInput>) -> Result<Job<'static, ManifoldBody>> {
        let (input, engine) = (input.into(), self.common.running_engine()?);
        let plan = self.planned(&input, &*engine)?;
        let settings = self.clone();
        Ok(Job::new(plan, move |plan| settings.run(&input, plan, engine)))
    }

    /// Fits the model: what [`ClassicalMds::prepare`] plans.
    ///
    /// # Errors
    /// When settings or the input cannot be used, a matrix of distances is not square, symmetric and not negative, the work does not
    /// fit the memory allowed, or it is cancelled.
    pub fn fit(&self, input: impl Into<ManifoldInput>) -> Result<FittedManifold> {
        self.prepare(input)?.run()
    }

    fn planned(&self, input: &ManifoldInput, engine: &dyn Engine) -> Result<ManifoldPlan> {
        if !matches!(input, ManifoldInput::Samples(_) | ManifoldInput::Distances(_)) {
            return Err(no_distances(input));
        }
        self.common.check(input)?;
        ManifoldPlan::new((ManifoldKind::Mds, false), &self.common, input, engine, |allowed| {
            self.way(input, allowed)
        })
    }

    fn way(&self, input: &ManifoldInput, allowed: u64) -> Way {
        let n = input.n_samples();
        let (k, wide) = (self.common.n_components.min(n), n as u128);
        // A copy of rows in double precision, and distances to the rows on which the embedding is judged.
        let beside = 8 * wide * (input.n_features() as u128 + 2 * JUDGED_ROWS as u128);
        let exact_bytes = 8 * wide * wide + 8 * wide * (2 * basis_columns(n, k) as u128 + 256) + beside;
        let landmark_bytes =
            |count: usize| 8 * wide * (count as u128 + 3 * k as u128) + 48 * (count as u128).pow(2) + beside;
        let usual = 1000.max(20 * k).min(n);
        let fits = exact_bytes <= u128::from(allowed) && n <= EXACT_ROWS;
        let count = match self.landmarks {
            Some(count) if count < n => Some((count.max(k + 1), format!("{count} landmarks were asked for"))),
            None if !fits => {
                let count = most_that_fit(k + 1..usual, |count| landmark_bytes(count) <= u128::from(allowed));
                Some((count, format!("n² distances of {n} rows are too many, and {count} landmarks fit")))
            }
            _ => None,
        };
        match count {
            Some((count, reason)) => Way {
                n_landmarks: Some(count),
                route: format!("landmarks: distances to {count} of {n} rows, never n²"),
                bytes: landmark_bytes(count),
                reasons: vec![reason],
                otherwise: "Use fewer landmarks, or allow more memory",
            },
            None => Way {
                n_landmarks: None,
                route: "exact: n² distances".into(),
                bytes: exact_bytes,
                reasons: vec![format!("n² distances of {n} rows fit")],
                otherwise: "Use landmarks, or allow more memory",
            },
        }
    }

    fn run(
        &self,
        input: &ManifoldInput,
        plan: ManifoldPlan,
        engine: Arc<dyn Engine>,
    ) -> Result<FittedManifold> {
        let (part, scores, mut facts) = engine.complete(|| self.scaled(input, &plan))?;
        facts.neighborhoods = self.common.compare(input, &scores, &*engine)?;
        let k = scores.n_cols();
        let mut warnings = Vec::new();
        if k < self.common.n_components {
            warnings.push(format!(
                "{} components were asked for and {k} exist: the rest have no positive eigenvalue",
                self.common.n_components
            ));
        }
        let column_names = self.common.column_names.clone();
        let body = ManifoldBody { parts: vec![part], scores, facts };
        Ok(FittedManifold { plan, warnings, column_names, engine, body })
    }

    /// How well distances are kept, on sampled rows that are no landmarks, (G19).
    fn judge(&self, input: &ManifoldInput, landmarks: &[usize], scores: &Matrix<f64>) -> Result<PathQuality> {
        let (n, Common { seed, watch, metric, .. }) = (input.n_samples(), &self.common);
        let free: Vec<usize> = (0..n).filter(|i| landmarks.binary_search(i).is_err()).collect();
        let drawn = Stream::new(*seed, Purpose::SampleRows).rows(free.len(), JUDGED_ROWS);
        let rows: Vec<usize> = drawn.into_iter().map(|at| free[at]).collect();
        let judged = distances_to(input, &rows, *metric, watch)?;
        let judged = Matrix::from_fn(rows.len(), n, |i, j| judged[(j, i)]);
        let (residual_variance, error) = residual_variance_estimate(&rows, &judged, scores);
        let standard_error = error.is_finite().then_some(error);
        Ok(PathQuality { residual_variance, standard_error, n_rows: rows.len(), held_out: true })
    }

    fn scaled(
        &self,
        input: &ManifoldInput,
        plan: &ManifoldPlan,
    ) -> Result<(Part, Matrix<f64>, ManifoldFacts)> {
        let Common { n_components, tolerance, seed, watch, metric, .. } = &self.common;
        let wanted = Wanted { n_components: *n_components, tolerance: *tolerance, seed: *seed, watch };
        let n = input.n_samples();
        let landmarks = match plan.n_landmarks {
            Some(count) => Stream::new(*seed, Purpose::Landmarks).rows(n, count),
            None => (0..n).collect(),
        };
        let distances = distances_to(input, &landmarks, *metric, watch)?;
        let all = plan.n_landmarks.is_none();
        let found = if all {
            embed_all(&distances, wanted)?
        } else {
            embed_landmarks(&distances, &landmarks, wanted)?
        };
        let paths = if all {
            let residual_variance = residual_variance(&landmarks, &distances, &found.scores);
            PathQuality { residual_variance, standard_error: None, n_rows: n, held_out: false }
        } else {
            self.judge(input, &landmarks, &found.scores)?
        };
        let solver = match (all, found.negative.sampled_rows) {
            (false, _) => format!("dense, {0} × {0} between landmarks", landmarks.len()),
            (true, None) => "dense, all eigenpairs".to_string(),
            (true, Some(_)) => "davidson".to_string(),
        };
        let facts = ManifoldFacts {
            negative: Some(found.negative),
            paths: Some(paths),
            solver,
            stats: found.stats,
            ..ManifoldFacts::default()
        };
        let space = match input.space(*metric) {
            Space::Rows { samples, metric } if !all => {
                Space::Rows { samples: samples.gather(&landmarks), metric }
            }
            other => other,
        };
        let Coordinates { mut coefficients, offset, scores, eigenvalues, residuals, .. } = found;
        if !all && matches!(space, Space::Distances { .. }) {
            // Rows of distances hold all samples; those that are no landmarks have no say.
            let mut spread = Matrix::zeros(n, coefficients.n_cols());
            for (at, row) in landmarks.iter().enumerate() {
                spread.view_mut().row_mut(*row).copy_from_slice(coefficients.row(at));
            }
            coefficients = spread;
        }
        let lift = Lift::Manifold(Box::new(ManifoldLift::Distances { space }));
        let projection = Projection { lift, coefficients, offset };
        Ok((Part { rows: Vec::new(), projection, eigenvalues, residuals }, scores, facts))
    }
}

/// The error of an input that does not give all distances.
fn no_distances(input: &ManifoldInput) -> Error {
    input.refused("classical scaling", "samples or distances between all of them")
}

/// Distances from every row to those named, a column for each.
fn distances_to(input: &ManifoldInput, to: &[usize], metric: Metric, watch: &Watch) -> Result<Matrix<f64>> {
    let Some(x) = input.rows() else { return Err(no_distances(input)) };
    let mut out = Matrix::try_zeros(x.n_rows(), to.len())?;
    let dense = x.points().to_dense::<f64>();
    let precomputed = matches!(input, ManifoldInput::Distances(_));
    out.view_mut().row_chunks(64).into_par_iter().enumerate().try_for_each(|(piece, mut into)| {
        watch.check()?;
        for i in 0..into.n_rows() {
            let own = dense.row(piece * 64 + i);
            into.row_mut(i).iter_mut().zip(to).for_each(|(d, j)| {
                *d = match precomputed {
                    // A row is at its own place, whatever stands on the diagonal.
                    true if *j == piece * 64 + i => 0.0,
                    true => own[*j],
                    false => metric.distance(own, dense.row(*j)),
                };
            });
        }
        Ok::<(), Error>(())
    })?;
    Ok(out)
}
