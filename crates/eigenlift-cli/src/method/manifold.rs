//! Isomap, classical scaling, Laplacian eigenmaps, diffusion maps and locally linear embedding.

mod edges;
mod picture;
mod told;
mod words;

pub(super) use told::Told;

use super::{Method, Model, Prepared, Rows, check_plots};
use crate::args::{
    DiffusionArgs, IsomapArgs, LaplacianArgs, LleArgs, ManifoldArgs, MdsArgs, MetricChoice, Precision,
};
use crate::exit::Failure;
use crate::table::{DataAccount, samples_bytes};
use crate::values::PlotKind;
use edges::{read_cut, read_graph};
use eigenlift::data::AnySamples;
use eigenlift::graph::NeighborSearch;
use eigenlift::methods::manifold::{Affinity, Cut, Disconnected, ManifoldBody, ManifoldInput, ManifoldKind};
use eigenlift::methods::{
    ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear,
};
use eigenlift::model::Job;
use eigenlift::progress::Watch;
use picture::{Joined, Source};
use std::path::Path;

/// Name of the column that says which piece of the graph a row belongs to.
const COMPONENT: &str = "component";

/// A manifold method as the command line asks for it.
#[derive(Clone, Copy)]
pub(crate) enum ManifoldSettings<'a> {
    Isomap(&'a IsomapArgs),
    Mds(&'a MdsArgs),
    Laplacian(&'a LaplacianArgs),
    Diffusion(&'a DiffusionArgs),
    Lle(&'a LleArgs),
}

/// Sets what every method has.
macro_rules! with_common {
    ($settings:expr, $self:expr, $data:expr, $watch:expr) => {{
        let args = $self.common();
        let settings = $settings
            .tolerance(args.tol)
            .seed(args.machine.seed)
            .threads(args.machine.threads.into())
            .column_names($data.column_names.clone())
            .watch($watch.clone());
        match args.machine.memory {
            Some(limit) => {
                let rows = samples_bytes($data, args.precision);
                settings.memory_limit(limit.saturating_sub(rows).max(1))
            }
            None => settings,
        }
    }};
}

/// Sets which rows count as neighbours.
macro_rules! with_neighbors {
    ($settings:expr, $search:expr, $metric:expr) => {{
        let NeighborSearch { reach, how } = $search;
        let settings = $settings.search(how);
        let settings = match reach {
            eigenlift::graph::Reach::Nearest(k) => settings.neighbors(k),
            eigenlift::graph::Reach::Within(radius) => settings.radius(radius),
        };
        match $metric {
            MetricChoice::Of(metric) => settings.metric(metric),
            MetricChoice::Precomputed => settings,
        }
    }};
}

impl ManifoldSettings<'_> {
    /// What every method has.
    pub(crate) fn common(&self) -> &ManifoldArgs {
        match self {
            Self::Isomap(args) => &args.common,
            Self::Mds(args) => &args.common,
            Self::Laplacian(args) => &args.common,
            Self::Diffusion(args) => &args.common,
            Self::Lle(args) => &args.common,
        }
    }

    fn kind(&self) -> ManifoldKind {
        match self {
            Self::Isomap(_) => ManifoldKind::Isomap,
            Self::Mds(_) => ManifoldKind::Mds,
            Self::Laplacian(_) => ManifoldKind::Laplacian,
            Self::Diffusion(_) => ManifoldKind::Diffusion,
            Self::Lle(_) => ManifoldKind::Lle,
        }
    }

    /// How neighbours are found and by which distance, for methods that have them.
    fn neighborhood(&self) -> Option<(NeighborSearch, MetricChoice)> {
        match self {
            Self::Isomap(args) => Some((args.neighborhood.search(), args.metric)),
            Self::Laplacian(LaplacianArgs { kernel: None, neighborhood, metric, .. }) => {
                Some((neighborhood.search(), *metric))
            }
            Self::Lle(args) => {
                let reach = eigenlift::graph::Reach::Nearest(args.neighbors);
                let search = NeighborSearch { reach, how: args.search.into() };
                Some((search, MetricChoice::Of(args.metric)))
            }
            Self::Laplacian(_) | Self::Mds(_) | Self::Diffusion(_) => None,
        }
    }

    fn is_separate(&self) -> bool {
        matches!(self, Self::Isomap(args) if args.disconnected == Disconnected::Separate)
    }

    /// What the table is to the method; the graph between its rows is read here.
    fn input(&self, data: &DataAccount, samples: &AnySamples) -> Result<ManifoldInput, Failure> {
        let samples = samples.clone();
        Ok(match self {
            Self::Isomap(IsomapArgs { graph: Some(path), .. }) => {
                ManifoldInput::graph(read_graph(path, data.rows)?, Some(samples))
            }
            Self::Laplacian(LaplacianArgs { kernel: Some(kernel), .. }) if kernel.is_precomputed() => {
                ManifoldInput::affinities(samples)
            }
            Self::Isomap(IsomapArgs { metric: MetricChoice::Precomputed, .. })
            | Self::Mds(MdsArgs { metric: MetricChoice::Precomputed, .. })
            | Self::Laplacian(LaplacianArgs { metric: MetricChoice::Precomputed, .. }) => {
                ManifoldInput::distances(samples)
            }
            Self::Isomap(_) | Self::Mds(_) | Self::Laplacian(_) | Self::Diffusion(_) | Self::Lle(_) => {
                samples.into()
            }
        })
    }

    fn isomap(&self, args: &IsomapArgs, data: &DataAccount, watch: &Watch) -> Result<Isomap, Failure> {
        let mut settings = with_common!(Isomap::new(args.common.components), self, data, watch)
            .disconnected(args.disconnected)
            .cut(match &args.cut {
                None => Cut::Nothing,
                Some(None) => Cut::Suspects,
                Some(Some(path)) => Cut::Edges(read_cut(path, data.rows)?),
            });
        if args.exact {
            settings = settings.exact();
        }
        if let Some(count) = args.landmarks {
            settings = settings.landmarks(count);
        }
        let mut search = args.neighborhood.search();
        if let (Some(_), eigenlift::graph::Reach::Nearest(k)) = (&args.graph, &mut search.reach) {
            // New rows alone are placed by neighbours, and there are no more of these than rows.
            *k = (*k).min(data.rows.saturating_sub(1)).max(1);
        }
        Ok(with_neighbors!(settings, search, args.metric))
    }

    fn mds(&self, args: &MdsArgs, data: &DataAccount, watch: &Watch) -> ClassicalMds {
        let settings = with_common!(ClassicalMds::new(args.common.components), self, data, watch);
        let settings = match args.metric {
            MetricChoice::Of(metric) => settings.metric(metric),
            MetricChoice::Precomputed => settings,
        };
        match args.landmarks {
            Some(count) => settings.landmarks(count),
            None => settings,
        }
    }

    fn laplacian(&self, args: &LaplacianArgs, data: &DataAccount, watch: &Watch) -> LaplacianEigenmaps {
        let settings = with_common!(LaplacianEigenmaps::new(args.common.components), self, data, watch);
        let settings = match (&args.kernel, args.heat) {
            (Some(kernel), _) if !kernel.is_precomputed() => {
                settings.affinity(Affinity::Kernel(kernel.clone()))
            }
            (_, Some(gamma)) => settings.affinity(Affinity::Heat { gamma }),
            _ => settings,
        };
        let search = args.neighborhood.search();
        with_neighbors!(settings, search, args.metric)
    }

    fn diffusion(&self, args: &DiffusionArgs, data: &DataAccount, watch: &Watch) -> DiffusionMap {
        with_common!(DiffusionMap::new(args.common.components), self, data, watch)
            .kernel(args.kernel.clone())
            .alpha(args.alpha)
            .time(args.time)
    }

    fn lle(&self, args: &LleArgs, data: &DataAccount, watch: &Watch) -> LocallyLinear {
        with_common!(LocallyLinear::new(args.common.components), self, data, watch)
            .neighbors(args.neighbors)
            .search(args.search.into())
            .metric(args.metric)
            .variant(args.variant)
            .ridge(args.ridge)
    }

    fn job(
        &self,
        data: &DataAccount,
        input: ManifoldInput,
        watch: &Watch,
    ) -> Result<Job<'static, ManifoldBody>, Failure> {
        Ok(match self {
            Self::Isomap(args) => self.isomap(args, data, watch)?.prepare(input),
            Self::Mds(args) => self.mds(args, data, watch).prepare(input),
            Self::Laplacian(args) => self.laplacian(args, data, watch).prepare(input),
            Self::Diffusion(args) => self.diffusion(args, data, watch).prepare(input),
            Self::Lle(args) => self.lle(args, data, watch).prepare(input),
        }?)
    }

    /// What the picture of the graph is drawn from.
    fn source(&self, data: &DataAccount, rows: &Rows, input: &ManifoldInput) -> Option<Source> {
        let (search, metric) = self.neighborhood()?;
        let joined = match input {
            ManifoldInput::Graph(graph, _) => Joined::Given(graph.clone()),
            _ => Joined::Found(search, metric),
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
        self.kind().name()
    }

    fn title(&self) -> &'static str {
        match self.kind() {
            ManifoldKind::Isomap => "Isomap",
            ManifoldKind::Mds => "Classical scaling",
            ManifoldKind::Laplacian => "Laplacian eigenmap",
            ManifoldKind::Diffusion => "Diffusion map",
            ManifoldKind::Lle => "Locally linear embedding",
        }
    }

    fn inputs(&self) -> Vec<&Path> {
        let Self::Isomap(args) = self else { return Vec::new() };
        args.graph.iter().chain(args.cut.iter().flatten()).map(|path| path.as_path()).collect()
    }

    fn precision(&self) -> Precision {
        self.common().precision
    }

    fn most_outputs(&self, _: &DataAccount) -> usize {
        self.common().components
    }

    fn labels(&self) -> Option<&'static str> {
        self.is_separate().then_some(COMPONENT)
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        let known = [PlotKind::Scatter, PlotKind::Scree, PlotKind::Graph];
        let known = if self.neighborhood().is_some() { &known[..] } else { &known[..2] };
        check_plots(self.name(), plots, known)?;
        if let Self::Isomap(IsomapArgs { graph: Some(path), metric: MetricChoice::Precomputed, .. }) = self {
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
