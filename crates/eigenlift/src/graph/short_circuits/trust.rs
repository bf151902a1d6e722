//! Which edges are taken for granted.

use super::tangents::Tangents;
use crate::error::Result;
use crate::graph::symmetric::{Edge, Graph};
use crate::memory::{collected, copied, zeroed};
use crate::progress::Watch;
use rayon::prelude::*;

/// Edges up to this many times the scale of an end may be trusted from the start.
const LONGEST: f64 = 2.0;
/// Common neighbours of the ends of a trusted edge, as a share of the median edge's.
const SUPPORT: f64 = 0.25;
/// Degrees to both tangent spaces below which an edge needs no common neighbours.
const ALONG: f64 = 20.0;
/// Degrees to both tangent spaces above which common neighbours do not help.
const ACROSS: f64 = 45.0;
/// A way round is long from this many times the edge's length on.
const RATIO: f64 = 3.0;
/// And from this many times the scale at its ends on, with rows and without.
const STEPS: [f64; 2] = [10.0, 12.0];

/// Edges by number.
pub(super) struct Numbered {
    /// Each once, `from < to`, ascending.
    pub(super) list: Vec<Edge>,
    /// The number that each of [`Graph::targets`] belongs to.
    pub(super) of_entry: Vec<u32>,
}

impl Numbered {
    pub(super) fn new(graph: &Graph) -> Self {
        let list = collected(graph.n_edges(), graph.edges());
        let mut of_entry = zeroed::<u32>(graph.targets().len());
        // Rows ascend, and so do the edges: each takes the next free place at both its ends.
        let mut next = copied(graph.offsets());
        for (number, edge) in list.iter().enumerate() {
            for end in [edge.from, edge.to] {
                of_entry[next[end]] = number as u32;
                next[end] += 1;
            }
        }
        Self { list, of_entry }
    }

    /// The number of the edge between two vertices.
    pub(super) fn between(&self, graph: &Graph, a: usize, b: usize) -> Option<u32> {
        let at = graph.row(a).0.binary_search(&(b as u32)).ok()?;
        Some(self.of_entry[graph.offsets()[a] + at])
    }
}

/// What counts as long around each vertex and for each edge.
pub(super) struct Limits {
    /// s of each vertex.
    pub(super) scales: Vec<f64>,
    /// The longest way round that clears an edge, (G23).
    pub(super) of_edge: Vec<f64>,
}

impl Limits {
    /// For these edges, with the scales of a graph over the same vertices.
    pub(super) fn new(graph: &Graph, edges: &Numbered, with_rows: bool) -> Self {
        let n = graph.n_vertices();
        let medians: Vec<f64> = (0..n).into_par_iter().map(|v| median(graph.row(v).1.to_vec())).collect();
        // Why twice: a vertex with many short circuits has a large median, its neighbours have not.
        let around = |v: usize| {
            let neighbours = graph.row(v).0.iter().map(|to| medians[*to as usize]);
            median(neighbours.chain([medians[v]]).collect())
        };
        let scales: Vec<f64> = (0..n).into_par_iter().map(around).collect();
        let steps = STEPS[usize::from(!with_rows)];
        let limit =
            |edge: &Edge| (RATIO * edge.length).max(steps * 0.5 * (scales[edge.from] + scales[edge.to]));
        let of_edge = collected(edges.list.len(), edges.list.iter().map(limit));
        Self { scales, of_edge }
    }
}

/// The middle one; of an even number the mean of both. 0 when there are none.
fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(0.0, f64::max);
    if even { 0.5 * (lower + *upper) } else { *upper }
}

/// For each edge whether it is trusted before any way round was looked for.
///
/// Cost: O(degrees of both ends) for each edge.
pub(super) fn from_the_start(
    graph: &Graph,
    edges: &Numbered,
    limits: &Limits,
    tangents: Option<&Tangents>,
    watch: &Watch,
) -> Result<Vec<bool>> {
    watch.check()?;
    let common: Vec<f64> = edges.list.par_iter().map(|edge| common(graph, *edge) as f64).collect();
    let enough = (SUPPORT * median(copied(&common))).round().max(1.0);
    let trusted = edges.list.par_iter().zip(&common).map(|(edge, common)| {
        if edge.length > LONGEST * limits.scales[edge.from].max(limits.scales[edge.to]) {
            return edge.length == 0.0;
        }
        let angles = tangents.and_then(|tangents| tangents.telling(graph, *edge));
        match angles {
            Some((_, larger)) if larger < ALONG => true,
            Some((smaller, _)) if smaller > ACROSS => edge.length == 0.0,
            _ => *common >= enough || edge.length == 0.0,
        }
    });
    let trusted = trusted.collect();
    watch.check()?;
    Ok(trusted)
}

/// Vertices joined to both ends.
fn common(graph: &Graph, edge: Edge) -> usize {
    let (a, b) = (graph.row(edge.from).0, graph.row(edge.to).0);
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, count) = (i + 1, j + 1, count + 1),
        }
    }
    count
}

/// Trusts the shortest edges that join what trusted edges leave apart (Kruskal).
pub(super) fn join(graph: &Graph, edges: &Numbered, trusted: &mut [bool]) {
    let mut sets = Sets((0..graph.n_vertices() as u32).collect());
    let mut others = Vec::new();
    for (number, edge) in edges.list.iter().enumerate() {
        if trusted[number] {
            sets.merge(edge.from, edge.to);
        } else {
            others.push(number);
        }
    }
    others.sort_by(|a, b| edges.list[*a].length.total_cmp(&edges.list[*b].length).then(a.cmp(b)));
    for number in others {
        let Edge { from, to, .. } = edges.list[number];
        trusted[number] = sets.merge(from, to);
    }
}

/// Sets that can be merged.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut v: usize) -> usize {
        while self.0[v] as usize != v {
            self.0[v] = self.0[self.0[v] as usize];
            v = self.0[v] as usize;
        }
        v
    }

    /// Whether they were apart.
    fn merge(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b) as u32;
        a != b
    }
}
