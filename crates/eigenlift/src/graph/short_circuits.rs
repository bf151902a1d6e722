//! Edges that jump from one sheet to another.

mod flow;
mod tangents;
mod trust;
mod way_round;
#[cfg(test)]
mod tests;

use super::paths::distances_from;
use super::symmetric::{Edge, Graph};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::progress::Watch;
use serde::{Deserialize, Serialize};
use tangents::Tangents;
use trust::{Limits, Numbered};

/// Sources whose distances are held at a time.
const BLOCK: usize = 64;

/// An edge that looks like a short circuit, with the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// The edge, `from < to`.
    pub edge: Edge,
    /// Shortest paths that take it, as a multiple of the median over edges that any path takes, (G25).
    pub flow: f64,
    /// Length of the way round that takes no suspect, divided by the edge's; `None` when there is none.
    pub detour: Option<f64>,
    /// The smaller of the two angles between the edge and the tangent spaces at its ends, in degrees, (G24); `None` without rows,
    /// and where these spaces are the whole space.
    pub angle: Option<f64>,
}

impl Suspect {
    /// The evidence in words, rows counted from 1.
    pub fn sentence(&self) -> String {
        let Edge { from, to, length } = self.edge;
        let way = match self.detour {
            Some(detour) => format!("the way round is {} times as long", three(detour)),
            None => "there is no way round".into(),
        };
        let flow = format!("it carries {} times the median edge's paths", three(self.flow));
        let start = format!("rows {} and {} (distance {}): {way}", from + 1, to + 1, three(length));
        match self.angle {
            Some(angle) => format!("{start}, {flow}, and it leaves the surface at {angle:.0}°"),
            None => format!("{start}, and {flow}"),
        }
    }
}

/// A number to about three digits.
fn three(value: f64) -> String {
    match value.abs() {
        v if (99.95..1e6).contains(&v) => format!("{value:.0}"),
        v if (9.995..99.95).contains(&v) => format!("{value:.1}"),
        v if (0.01..9.995).contains(&v) || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

/// What [`short_circuits`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShortCircuits {
    /// Edges to look at, the longest way round for their length first.
    pub suspects: Vec<Suspect>,
    /// Vertices from which paths were counted; 0 when there is no suspect, as flow is then not needed.
    pub n_sources: usize,
}

/// Edges whose ends are far apart for everyone who does not take them.
///
/// An edge e of length ℓ between vertices of scale s (the median length of the edges at a vertex, and of that the median
/// over its neighbours) is a suspect when every way round over trusted edges is longer than max(3ℓ, h·s̄), (G23): s̄ is the
/// mean scale of its ends, h = 10 with rows and 12 without. Edges are trusted from the start when ℓ ≤ 2·max(s) and either
/// the ends have common neighbours, a quarter as many as the median edge, and the edge does not leave both tangent spaces by
/// more than 45°; or it stays within 20° of both. The shortest further edges that join what trusted edges leave apart are
/// trusted too, so an edge without which the graph falls apart is never a suspect. Then all edges with a way round are,
/// again and again, until no more is added.
///
/// `x` has the rows that belong to the vertices; without it, tangent spaces do not count.
///
/// Why a set of trusted edges: short circuits in one place are each other's way round, so taking out one edge at a time finds
/// none of them. Why flow does not decide: they share the paths among them.
/// Cost: a search of bounded length for each edge not trusted, local principal axes at every vertex, 64 searches and one for
/// each suspect over all vertices.
/// Numerics: lengths enter as ratios only, so the unit of length does not matter.
///
/// # Errors
/// When `x` has not one row for each vertex, and when the watch was cancelled.
pub fn short_circuits(
    graph: &Graph,
    x: Option<AnyPoints<'_>>,
    seed: u64,
    watch: &Watch,
) -> Result<ShortCircuits> {
    check_rows(graph, x)?;
    let edges = Numbered::new(graph);
    let limits = Limits::new(graph, &edges, x.is_some());
    let tangents = x.map(|x| Tangents::new(graph, x, &limits.scales, watch)).transpose()?;
    let mut trusted = trust::from_the_start(graph, &edges, &limits, tangents.as_ref(), watch)?;
    trust::join(graph, &edges, &mut trusted);
    let found = way_round::not_admitted(graph, &edges, &limits, trusted, watch)?;
    with_evidence(graph, (&edges, &found), tangents.as_ref(), (seed, watch))
}

/// Edges of a graph of many neighbors whose ends are far apart in `reference`, a graph of fewer neighbors that has no short circuits: every
/// way round over its edges is longer than max(3ℓ, h·s̄), with the scales s of the reference graph, (G26).
///
/// Why: where very many edges jump, they have neighbors in common and vouch for each other, and [`short_circuits`] finds few or none.
/// Cost: a search of bounded length for each edge that is not in the reference graph, and the evidence of [`short_circuits`].
///
/// # Errors
/// As [`short_circuits`]; when the graphs have not the same vertices.
pub fn short_circuits_against(
    graph: &Graph,
    reference: &Graph,
    x: Option<AnyPoints<'_>>,
    (seed, watch): (u64, &Watch),
) -> Result<ShortCircuits> {
    check_rows(graph, x)?;
    let edges = Numbered::new(graph);
    let found = against(graph, &edges, reference, x.is_some(), watch)?;
    let limits = Limits::new(reference, &edges, x.is_some());
    let tangents = x.map(|x| Tangents::new(graph, x, &limits.scales, watch)).transpose()?;
    with_evidence(graph, (&edges, &found), tangents.as_ref(), (seed, watch))
}

/// How many edges [`short_circuits_against`] finds, without the evidence.
///
/// # Errors
/// As [`short_circuits_against`].
pub fn count_short_circuits_against(
    graph: &Graph,
    reference: &Graph,
    with_rows: bool,
    watch: &Watch,
) -> Result<usize> {
    Ok(against(graph, &Numbered::new(graph), reference, with_rows, watch)?.len())
}

fn against(
    graph: &Graph,
    edges: &Numbered,
    reference: &Graph,
    with_rows: bool,
    watch: &Watch,
) -> Result<Vec<usize>> {
    if reference.n_vertices() != graph.n_vertices() {
        return Err(Error::data(
            format!("graphs of {} and {} vertices", graph.n_vertices(), reference.n_vertices()),
            "both must have the same vertices",
            "Make both of the same rows",
        ));
    }
    let limits = Limits::new(reference, edges, with_rows);
    let has = |edge: &Edge| reference.row(edge.from).0.binary_search(&(edge.to as u32)).is_ok();
    let mut trusted: Vec<bool> = edges.list.iter().map(|edge| edge.length == 0.0 || has(edge)).collect();
    trust::join(graph, edges, &mut trusted);
    way_round::without_way(graph, edges, &limits, &trusted, watch)
}

fn check_rows(graph: &Graph, x: Option<AnyPoints<'_>>) -> Result<()> {
    if let Some(rows) = x.map(|x| x.n_rows()).filter(|rows| *rows != graph.n_vertices()) {
        return Err(Error::data(
            format!("{rows} rows for a graph of {} vertices", graph.n_vertices()),
            "every vertex must have its row",
            "Give the rows that the graph was made of, or none",
        ));
    }
    Ok(())
}

/// Suspects with their evidence, the longest way round for their length first.
fn with_evidence(
    graph: &Graph,
    (edges, found): (&Numbered, &[usize]),
    tangents: Option<&Tangents>,
    (seed, watch): (u64, &Watch),
) -> Result<ShortCircuits> {
    if found.is_empty() {
        return Ok(ShortCircuits { suspects: Vec::new(), n_sources: 0 });
    }
    let (flows, n_sources) = flow::of_edges(graph, edges, seed, watch)?;
    let lengths = ways_round(graph, edges, found, watch)?;
    let mut suspects: Vec<Suspect> = found
        .iter()
        .zip(lengths)
        .map(|(number, around)| {
            let edge = edges.list[*number];
            Suspect {
                edge,
                flow: flows[*number],
                detour: around.is_finite().then_some(around / edge.length),
                angle: tangents.and_then(|tangents| tangents.telling(graph, edge)).map(|(least, _)| least),
            }
        })
        .collect();
    let rank = |suspect: &Suspect| suspect.detour.unwrap_or(f64::INFINITY);
    suspects.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    Ok(ShortCircuits { suspects, n_sources })
}

/// For each of the edges `found` the distance between its ends when all of them are gone.
fn ways_round(graph: &Graph, edges: &Numbered, found: &[usize], watch: &Watch) -> Result<Vec<f64>> {
    let gone: Vec<(usize, usize)> = found.iter().map(|e| (edges.list[*e].from, edges.list[*e].to)).collect();
    let rest = graph.without(&gone);
    let mut sources: Vec<usize> = gone.iter().map(|(from, _)| *from).collect();
    sources.dedup();
    let mut lengths = Vec::with_capacity(found.len());
    let mut next = gone.iter().peekable();
    for (number, block) in sources.chunks(BLOCK).enumerate() {
        watch.step("ways round", number * BLOCK, sources.len())?;
        let distances = distances_from(&rest, block, &watch.silent())?;
        for (row, source) in block.iter().enumerate() {
            while let Some((_, to)) = next.next_if(|(from, _)| from == source) {
                lengths.push(distances[(row, *to)]);
            }
        }
    }
    Ok(lengths)
}
