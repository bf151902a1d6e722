//! Diffusion maps.

use super::ManifoldInput;
use super::described::{Manifold, OWN, SHARED, embedder};
use super::embedding::Wanted;
use super::fitted::{FittedManifold, ManifoldBody, ManifoldFacts, ManifoldKind, Part};
use super::plan::{ManifoldPlan, Way};
use super::settings::{Common, common_settings};
use super::walk::{Walk, WalkOn, walk};
use crate::data::AnySamples;
use crate::describe::{Description, Kind, Parameter, Range};
use crate::eigen::basis_columns;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage, stored_bytes};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::model::{Job, Lift, ManifoldLift, Projection};
use crate::rows::in_memory;
use std::sync::Arc;

/// Diffusion maps, (G15)–(G17): coordinates μ^t·ψ from the slowest directions of a random walk on the samples. Distances
/// between coordinates are those between where walks of t steps end. New rows by Nyström's formula, (G16).
///
/// ```
/// use eigenlift::{data, methods::DiffusionMap};
/// let moons = data::synthetic("moons", Some(200), None, 0)?.samples;
/// let model = DiffusionMap::new(2).kernel("rbf(gamma=20)".parse()?).fit(moons.clone())?;
/// let again = model.transform(moons.points())?;
/// assert!((again[(5, 0)] - model.scores()[(5, 0)]).abs() < 1e-9);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiffusionMap {
    pub(super) common: Common,
    kernel: KernelSpec,
    alpha: f64,
    time: f64,
}

/// Its description.
pub(super) const METHOD: Manifold = Manifold {
    description: Description {
        name: "diffusion",
        title: "Diffusion map",
        about: "Diffusion maps: keeps where random walks lead",
        parameters: &[
            SHARED,
            &[
                Parameter {
                    name: "kernel",
                    value: "SPEC",
                    kind: Kind::Kernel,
                    default: Some("rbf(gamma=median)"),
                    doc: "Kernel that says how likely a step between two rows is; its values must not be negative",
                    ..OWN
                },
                Parameter {
                    name: "alpha",
                    value: "A",
                    kind: Kind::Number(Range::Finite),
                    default: Some("1"),
                    doc: "How far the density of the rows is taken out: 1 leaves the shape alone, 0 keeps the density",
                    ..OWN
                },
                Parameter {
                    name: "time",
                    value: "T",
                    kind: Kind::Number(Range::NotNegative),
                    default: Some("1"),
                    doc: "Steps of the walk; coordinates are scaled by the eigenvalue to this power",
                    ..OWN
                },
            ],
        ],
        fit_notes: "\
Scores are called diffusion1, diffusion2, ... Their distances say how hard it is to come from one row to another by random steps.

Examples:
  eigenlift fit diffusion iris.csv --target species --out diffusion.csv \\
      --plot diffusion.svg
  eigenlift fit diffusion moons.csv --target class \\
      --kernel 'rbf(gamma=20)' --alpha 0.5 --time 4 | head -3",
        plan_notes: "\
Examples:
  eigenlift plan diffusion digits.csv --target digit --memory 16MB",
    },
    build: |settings| {
        let mut method = DiffusionMap::new(settings.count("components").unwrap_or(2));
        if let Some(kernel) = settings.text("kernel") {
            method = method.kernel(kernel.parse()?);
        }
        method.alpha = settings.number("alpha").unwrap_or(method.alpha);
        method.time = settings.number("time").unwrap_or(method.time);
        Ok(Box::new(method))
    },
};

common_settings!(DiffusionMap);
embedder!(DiffusionMap);

impl DiffusionMap {
    /// So many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self { common: Common::new(n_components), kernel: KernelSpec::default(), alpha: 1.0, time: 1.0 }
    }

    /// The kernel, whose values should not be negative; rbf with the median when not said.
    pub fn kernel(mut self, kernel: KernelSpec) -> Self {
        self.kernel = kernel;
        self
    }

    /// How much of the samples' density is taken out: 1 for all (the default), 0 for nothing.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Steps of the walk; 1 when not said. Need not be whole.
    pub fn time(mut self, time: f64) -> Self {
        self.time = time;
        self
    }

    /// Plans a fit of samples, which [`Job::run`] then does.
    ///
    /// # Errors
    /// As [`DiffusionMap::fit`], as far as they can be known in advance.
    pub fn prepare(&self, input: impl Into<ManifoldInput>) -> Result<Job<'static, ManifoldBody>> {
        let input = input.into();
        let ManifoldInput::Samples(x) = &input else {
            return Err(input.refused("diffusion maps", "samples"));
        };
        let engine = self.common.running_engine()?;
        let plan = self.planned(&input, &*engine)?;
        let kernel = Kernel::for_points(&self.kernel, x.points(), self.common.seed)?;
        let (settings, x) = (self.clone(), x.clone());
        Ok(Job::new(plan, move |plan| settings.run(x, kernel, (plan, engine))))
    }

    /// Fits the model: what [`DiffusionMap::prepare`] plans.
    ///
    /// Cost: a few passes over the kernel matrix, n²d flops each when it is not stored.
    ///
    /// # Errors
    /// When settings or samples cannot be used, a sample's kernel values do not sum to a positive number, the tolerance is not met, or it
    /// is cancelled.
    pub fn fit(&self, input: impl Into<ManifoldInput>) -> Result<FittedManifold> {
        self.prepare(input)?.run()
    }

    fn run(
        &self,
        x: AnySamples,
        kernel: Kernel,
        (plan, engine): (ManifoldPlan, Arc<dyn Engine>),
    ) -> Result<FittedManifold> {
        let storage = storage(plan.bytes_allowed, x.n_rows(), self.common.n_components);
        let similarity = Similarity::Kernel(kernel.clone());
        let found = engine.complete(|| {
            let rows = in_memory(&x, &engine);
            let gram = rows.gram(&similarity, storage, false)?;
            walk(WalkOn { gram: &*gram, alpha: self.alpha, may_stay: true }, self.wanted())
        });
        let input = ManifoldInput::from(&x);
        let (part, scores, mut facts, warnings) = self.assemble(found?, kernel, x);
        facts.neighborhoods = self.common.compare(&input, &scores, &*engine)?;
        let column_names = self.common.column_names.clone();
        let body = ManifoldBody { parts: vec![part], scores, facts };
        Ok(FittedManifold { plan, warnings, column_names, engine, body })
    }

    fn wanted(&self) -> Wanted<'_> {
        let Common { n_components, tolerance, seed, watch, .. } = &self.common;
        Wanted { n_components: *n_components, tolerance: *tolerance, seed: *seed, watch }
    }

    fn planned(&self, input: &ManifoldInput, engine: &dyn Engine) -> Result<ManifoldPlan> {
        self.common.check(input)?;
        if !(self.alpha.is_finite() && self.time >= 0.0 && self.time.is_finite()) {
            return Err(Error::setting(
                format!("alpha {} and time {}", self.alpha, self.time),
                "alpha must be a number and time 0 or more",
                "alpha is 0, 0.5 or 1 as a rule, and time 1",
            ));
        }
        if self.kernel.is_precomputed() {
            return Err(Error::kernel(
                "precomputed",
                "a diffusion map needs rows",
                "Choose a kernel and give rows",
            ));
        }
        let kernel = self.kernel.to_string();
        ManifoldPlan::new((ManifoldKind::Diffusion, false), &self.common, input, engine, |allowed| {
            dense_way(&kernel, input.n_samples(), self.common.n_components, allowed)
        })
        .map(|plan| ManifoldPlan { metric: format!("kernel {kernel}"), ..plan })
    }

    /// ψ = u·‖√d‖/√d, so that ψ of the first pair is 1; A = ψμ^(t−1) and y = P·A, (G17).
    fn assemble(
        &self,
        found: Walk,
        kernel: Kernel,
        samples: AnySamples,
    ) -> (Part, Matrix<f64>, ManifoldFacts, Vec<String>) {
        let Walk { values, vectors, roots, weights, residuals, solver, stats, .. } = found;
        let length = roots.iter().map(|r| r * r).sum::<f64>().sqrt();
        let power = |value: f64, t: f64| value.signum() * value.abs().powf(t);
        let k = values.len();
        let psi = Matrix::from_fn(roots.len(), k, |i, j| vectors[(i, j)] * length / roots[i]);
        let scores = Matrix::from_fn(roots.len(), k, |i, j| psi[(i, j)] * power(values[j], self.time));
        let coefficients = Matrix::from_fn(roots.len(), k, |i, j| {
            let scale = values[j].abs().powf(self.time - 1.0);
            if scale.is_finite() { psi[(i, j)] * scale } else { 0.0 }
        });
        let mut warnings = Vec::new();
        if k < self.common.n_components {
            warnings.push(format!("{} components were asked for and {k} exist", self.common.n_components));
        }
        if values.first().is_some_and(|value| *value > 1.0 - 1e-9) {
            warnings.push(
                "the walk hardly leaves parts of the data: its second eigenvalue is 1 up to rounding. Choose a wider kernel"
                    .into(),
            );
        }
        let lift = Lift::Manifold(Box::new(ManifoldLift::Steps { kernel, samples, weights }));
        let projection = Projection { lift, coefficients, offset: vec![0.0; k] };
        let facts = ManifoldFacts { solver: solver.into(), stats, ..ManifoldFacts::default() };
        (Part { rows: Vec::new(), projection, eigenvalues: values, residuals }, scores, facts, warnings)
    }
}

/// Bytes of the iteration beside the kernel matrix.
fn basis_bytes(n: usize, k: usize) -> u128 {
    16 * n as u128 * (basis_columns(n, k) as u128 + 64)
}

/// Whether the kernel matrix is stored.
pub(super) fn storage(allowed: u64, n: usize, k: usize) -> Storage {
    let fits = stored_bytes(n, 8) + basis_bytes(n, k) <= u128::from(allowed);
    if fits { Storage::Stored } else { Storage::Tiled }
}

/// The way of a walk on all rows.
pub(super) fn dense_way(kernel: &str, n: usize, k: usize, allowed: u64) -> Way {
    let stored = storage(allowed, n, k) == Storage::Stored;
    let matrix = if stored { stored_bytes(n, 8) } else { 0 };
    Way {
        n_landmarks: None,
        route: format!(
            "a walk on all rows by {kernel}, {}",
            if stored {
                "the kernel matrix is stored"
            } else {
                "matrix-free: the kernel matrix is never stored"
            }
        ),
        bytes: matrix + basis_bytes(n, k),
        reasons: vec![if stored {
            "n² kernel values fit".into()
        } else {
            "n² kernel values do not fit".into()
        }],
        otherwise: "Allow more memory, or embed fewer rows",
    }
}
