//! A fitted manifold, told, drawn and written.

use super::picture::{self, Source};
use super::{COMPONENT, words};
use crate::exit::Failure;
use crate::figures::Shown;
use crate::method::{Model, Rows, json_of, object};
use crate::model::draw_scatter;
use crate::values::PlotKind;
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{ManifoldKind, Part};
use eigenlift::methods::{Fitted, FittedManifold};
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use eigenlift_plot::{Figure, Scree, scree};
use serde_json::{Map, Value, json};

/// Graphs of more vertices than this are drawn only when asked for.
const MOST_VERTICES: usize = 5000;

/// A fitted manifold, and what a picture of its graph needs.
pub(in crate::method) struct Told {
    model: FittedManifold,
    source: Option<Source>,
    /// Whether components of the graph were to be embedded each by itself.
    separate: bool,
}

impl Told {
    pub(super) fn new(model: FittedManifold, source: Option<Source>, separate: bool) -> Self {
        Self { model, source, separate }
    }

    pub(in crate::method) fn of(model: FittedManifold) -> Self {
        Self::new(model, None, false)
    }
}

/// Whether eigenvalues are n times variances.
pub(super) fn has_variances(model: &FittedManifold) -> bool {
    matches!(model.kind(), ManifoldKind::Isomap | ManifoldKind::Mds)
}

/// Variances along the axes of a part.
pub(super) fn variances(model: &FittedManifold, part: &Part) -> Vec<f64> {
    let n = if part.rows.is_empty() { model.n_samples() } else { part.rows.len() };
    part.eigenvalues.iter().map(|value| value / n as f64).collect()
}

/// Facts with the rows of edges counted from 1, as everywhere outside the library.
fn facts(model: &FittedManifold) -> Result<Value, Failure> {
    let mut facts = json_of(model.facts())?;
    for list in ["bridges", "cut"] {
        let edges = facts.pointer_mut(&format!("/graph/{list}")).and_then(Value::as_array_mut);
        for edge in edges.into_iter().flatten() {
            for end in ["from", "to"] {
                if let Some(row) = edge.get(end).and_then(Value::as_u64) {
                    edge[end] = json!(row + 1);
                }
            }
        }
    }
    Ok(facts)
}

impl Model for Told {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.n_samples()
    }

    fn scores(&mut self, _: &Rows, _: &Watch) -> Result<Matrix<f64>, Failure> {
        Ok(self.model.scores().clone())
    }

    fn labels(&self) -> Option<Target> {
        self.separate.then(|| Target {
            name: COMPONENT.into(),
            values: self.model.labels().iter().map(|part| (part + 1).to_string()).collect(),
            numeric: true,
        })
    }

    fn keeps_distances(&self) -> bool {
        has_variances(&self.model)
    }

    fn plan(&self) -> String {
        self.model.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        words::words(&self.model)
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let model = &self.model;
        let first = model.parts().first();
        let part = |part: &Part| {
            json!({
                "n_rows": if part.rows.is_empty() { model.n_samples() } else { part.rows.len() },
                "eigenvalues": part.eigenvalues,
                "residuals": part.residuals,
            })
        };
        let mut found = object(json!({
            "plan": model.plan(),
            "n_components": model.n_components(),
            "n_landmarks": model.plan().n_landmarks,
            "eigenvalues": model.eigenvalues(),
            "residuals": first.map(|part| &part.residuals),
            "parts": model.parts().iter().map(part).collect::<Vec<_>>(),
            "facts": facts(model)?,
            "threads": model.plan().threads,
        }))?;
        if let Some(part) = first.filter(|_| has_variances(model)) {
            found.insert("variances".into(), variances(model, part).into());
        }
        Ok(found)
    }

    fn shares(&self) -> Vec<f64> {
        Vec::new()
    }

    fn pictures(&self, _: bool) -> Vec<PlotKind> {
        let has_graph = self.source.is_some() && self.model.facts().graph.is_some();
        let graph = (has_graph && self.model.n_samples() <= MOST_VERTICES).then_some(PlotKind::Graph);
        std::iter::once(PlotKind::Scree).chain(graph).collect()
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        match (kind, &self.source, self.model.parts().first()) {
            (PlotKind::Scree, _, Some(part)) => {
                let values = if has_variances(&self.model) {
                    variances(&self.model, part)
                } else {
                    part.eigenvalues.clone()
                };
                Ok(scree(&Scree { eigenvalues: &values, title, ..Scree::default() })?)
            }
            (PlotKind::Graph, Some(source), _) => picture::draw(&self.model, source, shown, title),
            _ => draw_scatter(self, shown, title),
        }
    }
}
