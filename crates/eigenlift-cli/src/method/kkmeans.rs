//! Kernel k-means.

use super::factor::{Predictor, apply, check_kernel, draw_regions, left_out};
use super::kda::check_plane;
use super::{Method, Model, Prepared, Rows, check_plots, object};
use crate::account::number;
use crate::args::{KkmeansArgs, Precision};
use crate::exit::Failure;
use crate::figures::{self, Plane, Shown};
use crate::model::draw_scatter;
use crate::table::DataAccount;
use crate::values::PlotKind;
use crate::words::{aligned, counted};
use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelKMeans, KernelKMeans};
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use eigenlift_plot::Figure;
use serde_json::{Map, Value, json};

/// The method's name.
const NAME: &str = "kkmeans";
/// Name of the column of clusters.
const CLUSTER: &str = "cluster";
/// Clusters shown in the account; all of them are in the JSON form.
const SHOWN_CLUSTERS: usize = 30;

/// Kernel k-means as the command line asks for it.
pub(crate) struct KkmeansSettings<'a>(pub(crate) &'a KkmeansArgs);

impl KkmeansSettings<'_> {
    fn settings(&self, data: &DataAccount, watch: &Watch) -> Result<KernelKMeans, Failure> {
        let settings = KernelKMeans::new(self.0.clusters)
            .kernel(self.0.kernel.clone())
            .starts(self.0.starts)
            .column_names(data.column_names.clone())
            .with(apply(&self.0.factor, data, 1, watch)?);
        Ok(match self.0.spectral {
            Some(components) => settings.spectral(components),
            None => settings,
        })
    }
}

impl Method for KkmeansSettings<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Kernel k-means"
    }

    fn inputs(&self) -> Vec<&std::path::Path> {
        self.0.factor.low_rank.landmarks.as_deref().into_iter().collect()
    }

    fn precision(&self) -> Precision {
        self.0.factor.precision
    }

    fn most_outputs(&self, _: &DataAccount) -> usize {
        self.0.clusters
    }

    fn labels(&self) -> Option<&'static str> {
        Some(CLUSTER)
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_plots(NAME, plots, &[PlotKind::Scatter, PlotKind::Regions])?;
        check_kernel(&self.0.kernel)?;
        check_plane(data, plots)
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let job = self.settings(data, watch)?.prepare(&rows.samples)?;
        Prepared::new(job, |model| Ok(Box::new(Told::of(model))))
    }
}

/// Fitted clusters, and where the rows of the fit lie in a picture.
pub(super) struct Told {
    model: FittedKernelKMeans,
    plane: Option<Plane>,
}

impl Told {
    pub(super) fn of(model: FittedKernelKMeans) -> Self {
        Self { model, plane: None }
    }

    /// Rows along the first two kernel principal components.
    fn places(&self, rows: AnyPoints<'_>, watch: &Watch) -> Result<Plane, Failure> {
        let places = self.model.plane_on(&**Fitted::engine(&self.model), rows, watch)?;
        let named = |word: &str| (1..=2).map(|j| format!("{word}{j}")).collect();
        Ok(Plane { names: named("kpca"), axes: named("kernel component "), places })
    }

    fn names(&self) -> Vec<String> {
        (0..self.model.n_clusters() as u32).map(|cluster| self.model.label_words(cluster)).collect()
    }

    /// The clusters that the model finds for rows.
    fn found_for(&self, rows: AnyPoints<'_>) -> Result<Target, Failure> {
        let labels = self.model.predict(rows)?;
        let values = labels.iter().map(|label| self.model.label_words(*label)).collect();
        Ok(Target { name: CLUSTER.into(), values, numeric: true })
    }

    /// The plane with rows that are at hand, in the colours of their clusters unless they have labels of their own.
    fn draw_plane(&self, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        let found;
        let plane = match (&self.plane, shown.rows) {
            (Some(plane), _) if plane.places.n_rows() == shown.scores.n_rows() => plane,
            (_, Some(rows)) => {
                found = self.places(rows, &Watch::default())?;
                &found
            }
            _ => return draw_scatter(self, shown, title),
        };
        let clusters = match (shown.target, shown.rows) {
            (None, Some(rows)) => Some(self.found_for(rows)?),
            _ => None,
        };
        let target = shown.target.or(clusters.as_ref());
        figures::scatter_of(&Shown { scores: &plane.places, target, rows: None }, &plane.axes, true, title)
    }
}

impl Model for Told {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.n_samples()
    }

    fn scores(&mut self, rows: &Rows, watch: &Watch) -> Result<Matrix<f64>, Failure> {
        let points = rows.samples.points();
        self.plane = Some(self.places(points, watch)?);
        Ok(self.model.project(points, watch)?)
    }

    fn labels(&self) -> Option<Target> {
        let values: Vec<String> =
            self.model.labels().iter().map(|label| self.model.label_words(*label)).collect();
        (!values.is_empty()).then(|| Target { name: CLUSTER.into(), values, numeric: true })
    }

    fn shows_labels(&self) -> bool {
        true
    }

    fn plane(&self) -> Option<&Plane> {
        self.plane.as_ref()
    }

    fn keeps_distances(&self) -> bool {
        true
    }

    fn size(&self) -> String {
        counted(self.model.n_clusters(), "cluster")
    }

    fn plan(&self) -> String {
        self.model.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        let model = &self.model;
        let sizes = model.sizes().iter().take(SHOWN_CLUSTERS).zip(self.names());
        let rows: Vec<Vec<String>> = sizes
            .map(|(size, name)| {
                vec![
                    name,
                    size.to_string(),
                    format!("{:.1} %", 100.0 * *size as f64 / model.n_samples().max(1) as f64),
                ]
            })
            .collect();
        let more = model.n_clusters().saturating_sub(SHOWN_CLUSTERS);
        let rest = if more > 0 {
            format!("\n  … and {more} more (all of them with --json)")
        } else {
            String::new()
        };
        let space = match model.spectral() {
            Some(q) => format!("along {}", counted(q, "kernel principal component")),
            None => "in feature space".into(),
        };
        let end = if model.converged() {
            "until no row changed its cluster"
        } else {
            "and rows still changed their clusters"
        };
        let mut lines = vec![
            aligned(&[CLUSTER, "rows", "share"], &rows) + &rest,
            format!(
                "inertia: {}, the sum of squared distances to the centres {space}",
                number(model.inertia())
            ),
            format!(
                "the best of {}: {} {end}",
                counted(model.starts(), "start"),
                counted(model.steps(), "step")
            ),
        ];
        lines.extend(left_out(model.plan(), model.left_out()));
        lines
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let model = &self.model;
        object(json!({
            "plan": model.plan(),
            "kernel": model.plan().kernel,
            "n_clusters": model.n_clusters(),
            "sizes": model.sizes(),
            "inertia": model.inertia(),
            "steps": model.steps(),
            "converged": model.converged(),
            "starts": model.starts(),
            "spectral": model.spectral(),
            "left_out": model.left_out(),
            "threads": model.plan().threads,
        }))
    }

    fn shares(&self) -> Vec<f64> {
        Vec::new()
    }

    fn pictures(&self, has_rows: bool) -> Vec<PlotKind> {
        (has_rows && self.model.n_features() == 2).then_some(PlotKind::Regions).into_iter().collect()
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        if kind != PlotKind::Regions {
            return self.draw_plane(shown, title);
        }
        let predict = |places: &Matrix<f64>| Ok(self.model.predict(places)?);
        let names = self.names();
        let predictor = Predictor { names: &names, columns: self.model.column_names(), predict: &predict };
        draw_regions(&predictor, shown, title)
    }
}
