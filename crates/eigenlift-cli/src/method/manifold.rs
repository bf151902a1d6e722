//! Isomap, classical scaling, Laplacian eigenmaps, diffusion maps and locally linear embedding.

mod edges;
mod picture;
mod told;
mod words;

pub(super) use told::Told;

use super::{Method, Model, Prepared, Rows, check_plots};
use crate::args::{ManifoldArgs, MetricChoice, Precision};
use crate::exit::Failure;
use crate::table::{DataAccount, samples_bytes};
use crate::values::PlotKind;
use edges::{read_cut, read_graph};
use eigenlift::data::AnySamples;
use eigenlift::describe::{Settings, Value};
use eigenlift::graph::{Metric, NeighborSearch};
use eigenlift::kernel::KernelSpec;
use eigenlift::methods::FittedManifold;
use eigenlift::methods::manifold::{Disconnected, ManifoldBody, ManifoldInput, Run, neighbor_search};
use eigenlift::model::Job;
use eigenlift::progress::Watch;
use picture::{Joined, Source};
use std::path::Path;

/// The word for a table of distances in place of a metric.
const PRECOMPUTED: &str = "precomputed";
/// Name of the column that says which piece of the graph a row belongs to.
const COMPONENT: &str = "component";

/// A manifold method as the command line asks for it.
#[derive(Clone, Copy)]
pub(crate) struct ManifoldSettings<'a>(pub(crate) &'a ManifoldArgs);

impl ManifoldSettings<'_> {
    /// What DATA is in place of rows, where the method has such a parameter.
    fn metric(&self) -> Result<MetricChoice, Failure> {
        match self.0.settings.text("metric") {
            Some(PRECOMPUTED) => Ok(MetricChoice::Precomputed),
            Some(name) => Ok(MetricChoice::Of(name.parse()?)),
            None => Ok(MetricChoice::Of(Metric::Euclidean)),
        }
    }

    /// How neighbours are found, for methods that join rows to them.
    fn neighborhood(&self) -> Option<NeighborSearch> {
        let by_kernel = self.0.settings.text("kernel").is_some();
        neighbor_search(&self.0.settings).filter(|_| !by_kernel)
    }

    fn is_separate(&self) -> bool {
        let choice = self.0.settings.text("disconnected").map(str::parse);
        matches!(choice, Some(Ok(Disconnected::Separate)))
    }

    /// What the table is to the method; the graph between its rows is read here.
    fn input(&self, data: &DataAccount, samples: &AnySamples) -> Result<ManifoldInput, Failure> {
        let samples = samples.clone();
        if let Some(path) = &self.0.graph {
            return Ok(ManifoldInput::graph(read_graph(path, data.rows)?, Some(samples)));
        }
        // A kernel that takes the place of neighbors can be a matrix of affinities.
        let in_place = neighbor_search(&self.0.settings).and(self.0.settings.text("kernel"));
        let kernel: Option<KernelSpec> = in_place.map(str::parse).transpose()?;
        Ok(match (kernel, self.metric()?) {
            (Some(kernel), _) if kernel.is_precomputed() => ManifoldInput::affinities(samples),
            (_, MetricChoice::Precomputed) => ManifoldInput::distances(samples),
            _ => samples.into(),
        })
    }

    /// What the table of edges to take out says, in the settings.
    fn settings(&self, data: &DataAccount) -> Result<Settings, Failure> {
        let settings = self.0.settings.clone();
        Ok(match &self.0.cut {
            Some(path) => settings.with("cut", Value::Pairs(Some(read_cut(path, data.rows)?))),
            None => settings,
        })
    }

    fn job(
        &self,
        data: &DataAccount,
        input: ManifoldInput,
        watch: &Watch,
    ) -> Result<Job<'static, ManifoldBody>, Failure> {
        let machine = &self.0.machine;
        let rows = samples_bytes(data, self.0.precision);
        let run = Run {
            seed: machine.seed,
            threads: machine.threads.into(),
            memory_limit: machine.memory.map(|limit| limit.saturating_sub(rows).max(1)),
            engine: None,
            watch: watch.clone(),
            column_names: data.column_names.clone(),
        };
        Ok(self.0.method.prepare(&self.settings(data)?, input, run)?)
    }

    /// What the picture of the graph is drawn from.
    fn source(&self, data: &DataAccount, rows: &Rows, input: &ManifoldInput) -> Option<Source> {
        let search = self.neighborhood()?;
        let joined = match input {
            ManifoldInput::Graph(graph, _) => Joined::Given(graph.clone()),
            _ => Joined::Found(search, self.metric().ok()?),
        };
        Some(Source { samples: rows.samples.clone(), names: data.column_names.clone(), joined })
    }

    fn told(
        &self,
        model: FittedManifold,
        data: &DataAccount,
        source: Option<Source>,
    ) -> Result<Box<dyn Model>, Failure> {
        if model.n_components() == 0 {
            return Err(Failure::Input(format!(
                "{}: no coordinate of {} was found; at least one must stand out from rounding. \
                 Change the settings that say how alike rows are, or look for rows that are all the same.",
                data.path.display(),
                self.name()
            )));
        }
        Ok(Box::new(Told::new(model, source, self.is_separate())))
    }
}

impl Method for ManifoldSettings<'_> {
    fn name(&self) -> &'static str {
        self.0.method.description.name
    }

    fn title(&self) -> &'static str {
        self.0.method.description.title
    }

    fn inputs(&self) -> Vec<&Path> {
        self.0.graph.iter().chain(&self.0.cut).map(|path| path.as_path()).collect()
    }

    fn precision(&self) -> Precision {
        self.0.precision
    }

    fn most_outputs(&self, _: &DataAccount) -> usize {
        self.0.settings.count("components").unwrap_or(1)
    }

    fn labels(&self) -> Option<&'static str> {
        self.is_separate().then_some(COMPONENT)
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        let known = [PlotKind::Scatter, PlotKind::Scree, PlotKind::Graph];
        let known = if self.neighborhood().is_some() { &known[..] } else { &known[..2] };
        check_plots(self.name(), plots, known)?;
        if let (Some(path), MetricChoice::Precomputed) = (&self.0.graph, self.metric()?) {
            return Err(Failure::usage(
                format!("--graph {} with --metric precomputed", path.display()),
                "lengths come from the graph or from the matrix of distances",
                "Leave one of them out",
            ));
        }
        let taken = data.set_aside.iter().chain(&data.target).any(|name| name == COMPONENT);
        if self.is_separate() && taken {
            return Err(Failure::Input(format!(
                "{}: a column {COMPONENT} is carried in front of the scores, and --disconnected separate puts one of that name \
                 there; every column needs a name of its own. Rename it.",
                data.path.display()
            )));
        }
        Ok(())
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let input = self.input(data, &rows.samples)?;
        let source = self.source(data, rows, &input);
        let job = self.job(data, input, watch)?;
        Prepared::new(job, move |model| self.told(model, data, source))
    }
}
