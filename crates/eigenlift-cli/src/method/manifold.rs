//! Isomap, classical scaling, Laplacian eigenmaps, diffusion maps and locally linear embedding.

mod edges;
mod picture;
mod told;
mod words;

pub(super) use told::Told;

use super::{Method, Model, PlanWords, Rows, check_plots, needs_all_rows};
use crate::args::{
    DiffusionArgs, IsomapArgs, LaplacianArgs, LleArgs, ManifoldArgs, MdsArgs, MetricChoice, Precision,
};
use crate::exit::Failure;
use crate::rows::TableRows;
use crate::table::{DataAccount, samples_bytes};
use crate::values::PlotKind;
use edges::{read_cut, read_graph};
use eigenlift::graph::{Graph, NeighborSearch};
use eigenlift::methods::manifold::{Affinity, Cut, Disconnected, ManifoldKind, ManifoldPlan};
use eigenlift::methods::{
    ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear,
};
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

/// What the table is to the method.
enum Given {
    Rows,
    Distances,
    /// Rows, and the graph between them.
    Graph(Graph),
    /// How alike rows are.
    Affinities,
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

    fn given(&self, data: &DataAccount) -> Result<Given, Failure> {
        match self {
            Self::Isomap(IsomapArgs { graph: Some(path), .. }) => {
                Ok(Given::Graph(read_graph(path, data.rows)?))
            }
            Self::Laplacian(LaplacianArgs { kernel: Some(kernel), .. }) if kernel.is_precomputed() => {
                Ok(Given::Affinities)
            }
            Self::Isomap(IsomapArgs { metric: MetricChoice::Precomputed, .. })
            | Self::Mds(MdsArgs { metric: MetricChoice::Precomputed, .. })
            | Self::Laplacian(LaplacianArgs { metric: MetricChoice::Precomputed, .. }) => {
                Ok(Given::Distances)
            }
            _ => Ok(Given::Rows),
        }
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

    fn planned(&self, data: &DataAccount, rows: &Rows, watch: &Watch) -> Result<ManifoldPlan, Failure> {
        let (x, given) = (rows.samples.clone(), self.given(data)?);
        let plan = match (self, given) {
            (Self::Isomap(args), Given::Distances) => self.isomap(args, data, watch)?.plan_distances(x),
            (Self::Isomap(args), Given::Graph(graph)) => {
                self.isomap(args, data, watch)?.plan_graph(graph, Some(x))
            }
            (Self::Isomap(args), _) => self.isomap(args, data, watch)?.plan(x),
            (Self::Mds(args), Given::Distances) => self.mds(args, data, watch).plan_distances(x),
            (Self::Mds(args), _) => self.mds(args, data, watch).plan(x),
            (Self::Laplacian(args), Given::Distances | Given::Affinities) => {
                self.laplacian(args, data, watch).plan_distances(x)
            }
            (Self::Laplacian(args), _) => self.laplacian(args, data, watch).plan(x),
            (Self::Diffusion(args), _) => self.diffusion(args, data, watch).plan(x),
            (Self::Lle(args), _) => self.lle(args, data, watch).plan(x),
        };
        Ok(plan?)
    }

    fn fitted(&self, data: &DataAccount, rows: &Rows, watch: &Watch) -> Result<FittedManifold, Failure> {
        let (x, given) = (rows.samples.clone(), self.given(data)?);
        let model = match (self, given) {
            (Self::Isomap(args), given) => {
                let settings = self.isomap(args, data, watch)?;
                match given {
                    Given::Graph(graph) => settings.fit_graph(graph, Some(x)),
                    Given::Distances => settings.fit_distances(x),
                    _ => settings.fit(x),
                }
            }
            (Self::Mds(args), Given::Distances) => self.mds(args, data, watch).fit_distances(x),
            (Self::Mds(args), _) => self.mds(args, data, watch).fit(x),
            (Self::Laplacian(args), given) => {
                let settings = self.laplacian(args, data, watch);
                match given {
                    Given::Affinities => settings.fit_affinity(x),
                    Given::Distances => settings.fit_distances(x),
                    _ => settings.fit(x),
                }
            }
            (Self::Diffusion(args), _) => self.diffusion(args, data, watch).fit(x),
            (Self::Lle(args), _) => self.lle(args, data, watch).fit(x),
        };
        Ok(model?)
    }

    /// What the picture of the graph is drawn from.
    fn source(&self, data: &DataAccount, rows: &Rows) -> Result<Option<Source>, Failure> {
        let Some((search, metric)) = self.neighborhood() else { return Ok(None) };
        let joined = match self.given(data)? {
            Given::Graph(graph) => Joined::Given(graph),
            _ => Joined::Found(search, metric),
        };
        Ok(Some(Source { samples: rows.samples.clone(), names: data.column_names.clone(), joined }))
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

    fn plan(&self, data: &DataAccount, rows: &Rows, watch: &Watch) -> Result<PlanWords, Failure> {
        Ok(PlanWords::new(&self.planned(data, rows, watch)?))
    }

    fn plan_source(&self, rows: &mut TableRows, _: &Watch) -> Result<PlanWords, Failure> {
        Err(needs_all_rows(self.name(), rows))
    }

    fn fit(&self, data: &DataAccount, rows: &Rows, watch: &Watch) -> Result<Box<dyn Model>, Failure> {
        let model = self.fitted(data, rows, watch)?;
        if model.n_components() == 0 {
            return Err(Failure::Input(format!(
                "{}: no coordinate of {} was found; at least one must stand out from rounding. \
                 Change the settings that say how alike rows are, or look for rows that are all the same.",
                data.path.display(),
                self.name()
            )));
        }
        Ok(Box::new(Told::new(model, self.source(data, rows)?, self.is_separate())))
    }

    fn fit_source(&self, rows: &mut TableRows, _: &Watch) -> Result<Box<dyn Model>, Failure> {
        Err(needs_all_rows(self.name(), rows))
    }
}
