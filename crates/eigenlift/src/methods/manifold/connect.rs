//! From what is given to a graph, and what becomes of several components.

use super::ManifoldInput;
use super::fitted::GraphFacts;
use super::settings::Common;
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::graph::{Components, Edge, Graph, Space, bridges, short_circuits};
use crate::progress::Watch;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Bridges and sizes named in a warning.
const NAMED: usize = 8;

/// What becomes of a graph with several connected components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disconnected {
    /// The fewest and shortest edges join them; a warning names these.
    #[default]
    Bridge,
    /// Each is embedded by itself.
    Separate,
    /// The largest is embedded; rows outside are placed as new rows are.
    Largest,
    /// An error.
    Error,
}

impl Disconnected {
    const ALL: [(&'static str, Disconnected); 4] = [
        ("bridge", Self::Bridge),
        ("separate", Self::Separate),
        ("largest", Self::Largest),
        ("error", Self::Error),
    ];

    /// Words for all choices.
    pub const NAMES: [&'static str; 4] = [Self::ALL[0].0, Self::ALL[1].0, Self::ALL[2].0, Self::ALL[3].0];
}

impl Display for Disconnected {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, choice)| choice == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Disconnected {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice).ok_or_else(|| {
            Error::setting(
                format!("\"{text}\" for a graph with several components"),
                "it must be bridge, separate, largest or error",
                "bridge joins them and says where",
            )
        })
    }
}

/// Edges to take out of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cut {
    /// None.
    #[default]
    Nothing,
    /// Those that look like short circuits, see [`crate::graph::short_circuits`].
    Suspects,
    /// These, by their ends, counted from 0.
    Edges(Vec<(usize, usize)>),
}

/// A graph, and the rows that are embedded together.
pub(super) struct Connected {
    pub(super) graph: Graph,
    /// Rows of each part; empty when one part has all.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) facts: GraphFacts,
    pub(super) warnings: Vec<String>,
}

/// Neighbours, their graph, edges taken out, components and the policy for them.
pub(super) fn connect(
    input: &ManifoldInput,
    common: &Common,
    (policy, cut): (Disconnected, &Cut),
    watch: &Watch,
) -> Result<Connected> {
    let space = input.space(common.metric);
    let (mut graph, mut facts) = graph_of(input, &space, common, watch)?;
    let rows = input.rows().filter(|_| matches!(space, Space::Rows { .. })).map(|x| x.points());
    facts.cut = taken_out(&graph, rows, cut, common.seed, watch)?;
    let ends: Vec<(usize, usize)> = facts.cut.iter().map(|edge| (edge.from, edge.to)).collect();
    if !ends.is_empty() {
        graph = graph.without(&ends);
    }
    let mut warnings: Vec<String> = told_of_suspects(cut, &facts.cut).into_iter().collect();
    let components = Components::of(&graph);
    facts.component_sizes = components.sizes().to_vec();
    let mut groups = Vec::new();
    if components.count() > 1 {
        let count = components.count();
        let found = format!(
            "the number of connected components of the neighbour graph is {count} > 1 ({} rows)",
            sizes(components.sizes())
        );
        match policy {
            Disconnected::Error => return Err(refused(found)),
            Disconnected::Bridge => {
                let x = input.rows().map(|x| x.points());
                facts.bridges = joined(&space, x, &components, &found, watch)?;
                graph = graph.with(&facts.bridges)?;
                let word = if facts.bridges.len() == 1 { "bridge" } else { "bridges" };
                let count = facts.bridges.len();
                warnings.push(format!(
                    "{found}: joined by the {count} shortest {word}, {}; distances across them mean little",
                    named(&facts.bridges)
                ));
                warnings.extend(bridged_again(&facts));
            }
            Disconnected::Separate => {
                groups = (0..count).map(|c| components.members(c)).collect();
                warnings.push(format!(
                    "{found}: each is embedded by itself, and places of one say nothing of another's; residual variance and negative share are those of the largest"
                ));
            }
            Disconnected::Largest => {
                let kept = components.members(components.largest());
                let outside = graph.n_vertices() - kept.len();
                warnings.push(format!(
                    "{found}: the largest is embedded, and {outside} rows outside it are placed by their nearest rows in it"
                ));
                groups = vec![kept];
            }
        }
    }
    facts.n_edges = graph.n_edges();
    Ok(Connected { graph, groups, facts, warnings })
}

/// Says which edges were taken out, unless the caller named them.
fn told_of_suspects(cut: &Cut, gone: &[Edge]) -> Option<String> {
    (*cut == Cut::Suspects && !gone.is_empty())
        .then(|| format!("{} that looked like short circuits: {}", taken(gone.len()), named(gone)))
}

/// The error of an input that no graph is made of.
pub(super) fn no_graph(input: &ManifoldInput) -> Error {
    input.refused("Isomap", "samples, distances between all of them, lists of neighbors or a graph")
}

/// The graph that is given, or that of neighbours.
fn graph_of(
    input: &ManifoldInput,
    space: &Space,
    common: &Common,
    watch: &Watch,
) -> Result<(Graph, GraphFacts)> {
    match input {
        ManifoldInput::Graph(graph, _) => Ok((graph.clone(), GraphFacts::default())),
        ManifoldInput::Neighbors(lists, _) => Ok((Graph::from_neighbors(lists), GraphFacts::default())),
        ManifoldInput::Affinities(_) => Err(no_graph(input)),
        ManifoldInput::Samples(x) | ManifoldInput::Distances(x) => {
            let found = common.neighbor_search().among(space, x.points(), watch)?;
            let facts = GraphFacts { search: Some(found.how), ..GraphFacts::default() };
            Ok((Graph::from_neighbors(&found.neighbors), facts))
        }
    }
}

fn taken_out(
    graph: &Graph,
    rows: Option<AnyPoints<'_>>,
    cut: &Cut,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<Edge>> {
    match cut {
        Cut::Nothing => Ok(Vec::new()),
        Cut::Suspects => {
            let found = short_circuits(graph, rows, seed, watch)?;
            Ok(found.suspects.iter().map(|suspect| suspect.edge).collect())
        }
        Cut::Edges(ends) => ends
            .iter()
            .map(|(from, to)| {
                let exists = *from.max(to) < graph.n_vertices();
                let length = if exists { graph.length(*from, *to) } else { None };
                length.map(|length| Edge { from: *from.min(to), to: *from.max(to), length }).ok_or_else(
                    || {
                        Error::data(
                            format!(
                                "an edge between rows {} and {} to be taken out",
                                from.saturating_add(1),
                                to.saturating_add(1)
                            ),
                            "the graph has no such edge",
                            "Name edges of this graph, such as doctor lists them",
                        )
                    },
                )
            })
            .collect(),
    }
}

fn joined(
    space: &Space,
    x: Option<AnyPoints<'_>>,
    components: &Components,
    found: &str,
    watch: &Watch,
) -> Result<Vec<Edge>> {
    match x {
        Some(x) => bridges(space, x, components, watch),
        None => Err(Error::data(
            found.to_string(),
            "bridges need distances between rows, and only neighbours were given",
            "Give rows, join the graph yourself, or choose separate or error",
        )),
    }
}

/// Says so when a bridge is an edge that was taken out.
fn bridged_again(facts: &GraphFacts) -> Option<String> {
    let same = |a: &Edge, b: &Edge| (a.from, a.to) == (b.from, b.to);
    let again: Vec<Edge> = facts
        .bridges
        .iter()
        .filter(|bridge| facts.cut.iter().any(|cut| same(cut, bridge)))
        .copied()
        .collect();
    (!again.is_empty()).then(|| {
        format!(
            "edges that were taken out are back as bridges: {}. To keep the pieces apart choose separate",
            named(&again)
        )
    })
}

fn refused(found: String) -> Error {
    Error::data(
        found,
        "it must be 1, as was asked for",
        "Raise the number of neighbours or the radius, or choose bridge, separate or largest",
    )
}

/// Sizes in words, the first few.
fn sizes(all: &[usize]) -> String {
    let mut descending = all.to_vec();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    let words: Vec<String> = descending.iter().take(NAMED).map(usize::to_string).collect();
    let more = if all.len() > NAMED { ", …" } else { "" };
    words.join(", ") + more
}

fn taken(count: usize) -> String {
    if count == 1 { "1 edge was taken out".into() } else { format!("{count} edges were taken out") }
}

/// Edges in words, the first few, rows counted from 1.
fn named(edges: &[Edge]) -> String {
    let words: Vec<String> = edges
        .iter()
        .take(NAMED)
        .map(|edge| format!("rows {} and {} ({:.4})", edge.from + 1, edge.to + 1, edge.length))
        .collect();
    let more = edges.len().saturating_sub(NAMED);
    words.join(", ") + &if more > 0 { format!(", and {more} more") } else { String::new() }
}
