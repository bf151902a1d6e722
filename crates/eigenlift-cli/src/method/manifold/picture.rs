//! The graph of neighbours over the data or their embedding.

use super::MetricChoice;
use crate::exit::Failure;
use crate::figures::{Shown, colored};
use eigenlift::data::AnySamples;
use eigenlift::engine::Engine;
use eigenlift::error::Error;
use eigenlift::graph::{Edge, Graph, NeighborSearch, Space, short_circuits};
use eigenlift::methods::Fitted;
use eigenlift::methods::FittedManifold;
use eigenlift::methods::manifold::{GraphFacts, ManifoldKind};
use eigenlift::progress::Watch;
use eigenlift_plot::{Figure, GraphPicture, graph_picture};

/// Graphs of more vertices are not searched for short circuits only to be drawn; the doctor does that.
const MOST_EXAMINED: usize = 5000;

/// What the graph of a fit is found from again: a model does not keep it.
pub(super) struct Source {
    pub(super) samples: AnySamples,
    pub(super) names: Vec<String>,
    pub(super) joined: Joined,
}

/// How rows were joined.
pub(super) enum Joined {
    /// By neighbours.
    Found(NeighborSearch, MetricChoice),
    /// By a graph that was given.
    Given(Graph),
}

impl Source {
    /// The graph before edges were taken out and bridges added.
    fn graph(&self, engine: &dyn Engine) -> Result<Graph, Failure> {
        let (search, metric) = match &self.joined {
            Joined::Given(graph) => return Ok(graph.clone()),
            Joined::Found(search, metric) => (search, metric),
        };
        let space = match metric {
            MetricChoice::Of(metric) => Space::Rows { samples: self.samples.clone(), metric: *metric },
            MetricChoice::Precomputed => Space::Distances { n_samples: self.samples.n_rows() },
        };
        let mut found = Err(Error::Cancelled);
        engine.run(&mut || found = search.among(&space, self.samples.points(), &Watch::default()));
        Ok(Graph::from_neighbors(&found?.neighbors))
    }

    /// Two columns are places themselves.
    fn is_plane(&self) -> bool {
        let distances = matches!(self.joined, Joined::Found(_, MetricChoice::Precomputed));
        self.samples.n_cols() == 2 && !distances
    }
}

/// Edges of an isomap's graph that look like short circuits, unless some were taken out already.
fn suspects(
    model: &FittedManifold,
    source: &Source,
    graph: &Graph,
    cut: &[Edge],
) -> Result<Vec<(usize, usize)>, Failure> {
    if model.kind() != ManifoldKind::Isomap || !cut.is_empty() || graph.n_vertices() > MOST_EXAMINED {
        return Ok(Vec::new());
    }
    let rows = match source.joined {
        Joined::Found(_, MetricChoice::Of(_)) => Some(source.samples.points()),
        _ => None,
    };
    let mut found = Err(Error::Cancelled);
    let engine = Fitted::engine(model);
    engine.run(&mut || found = short_circuits(graph, rows, 0, &Watch::default()));
    Ok(found?.suspects.iter().map(|suspect| (suspect.edge.from, suspect.edge.to)).collect())
}

/// Draws the graph over two data columns, or over the embedding when there are more.
pub(super) fn draw(
    model: &FittedManifold,
    source: &Source,
    shown: &Shown<'_>,
    title: &str,
) -> Result<Figure, Failure> {
    let facts = model.facts().graph.clone().unwrap_or_default();
    let GraphFacts { bridges, cut, .. } = facts;
    let graph = source.graph(&**Fitted::engine(model))?;
    let ends: Vec<(usize, usize)> = cut.iter().map(|edge| (edge.from, edge.to)).collect();
    let pair = |from: usize, to: usize| (from as u32, to as u32);
    let edges: Vec<(u32, u32)> = graph.without(&ends).edges().map(|edge| pair(edge.from, edge.to)).collect();
    let suspects = suspects(model, source, &graph, &cut)?;
    let mut marked: Vec<(u32, u32)> = bridges.iter().map(|edge| pair(edge.from, edge.to)).collect();
    marked.extend(ends.iter().chain(&suspects).map(|(from, to)| pair(*from, *to)));
    let names = [
        ("bridges", bridges.is_empty()),
        ("edges taken out", cut.is_empty()),
        ("suspected short circuits", suspects.is_empty()),
    ];
    let marked_name: Vec<&str> = names.iter().filter(|(_, none)| !none).map(|(name, _)| *name).collect();
    let marked_name = marked_name.join(", ");
    let places =
        if source.is_plane() { source.samples.points().to_dense::<f64>() } else { model.scores().clone() };
    let x = places.column(0);
    let y = if places.n_cols() > 1 { places.column(1) } else { (1..=x.len()).map(|i| i as f64).collect() };
    let name = |at: usize| match source.names.get(at) {
        Some(name) if source.is_plane() => name.clone(),
        _ if at > 0 && places.n_cols() < 2 => "row".into(),
        _ => format!("{}{}", model.kind().name(), at + 1),
    };
    let (x_name, y_name) = (name(0), name(1));
    colored(shown.target, |color| {
        Ok(graph_picture(&GraphPicture {
            xy: (&x, &y),
            edges: &edges,
            marked: &marked,
            marked_name: &marked_name,
            color,
            names: (&x_name, &y_name),
            title,
        })?)
    })
}
