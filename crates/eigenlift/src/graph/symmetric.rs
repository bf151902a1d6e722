//! Graphs whose edges have lengths and no direction.

use super::neighbors::Neighbors;
use crate::error::{Error, Result};
use crate::memory::{collected, copied, filled, room_for, zeroed};

/// An edge between two vertices.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Edge {
    /// One end.
    pub from: usize,
    /// The other end.
    pub to: usize,
    /// Its length.
    pub length: f64,
}

/// A graph by rows: vertex i is joined to `targets[offsets[i]..offsets[i + 1]]`, ascending. Every edge is there from both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    lengths: Vec<f64>,
}

impl Graph {
    /// Joins i and j when one is a neighbour of the other, (G2). Where both say a distance, the smaller is taken.
    ///
    /// Cost: O(links); memory two entries for each edge.
    pub fn from_neighbors(neighbors: &Neighbors) -> Self {
        let n = neighbors.n_rows();
        let links = (0..n).flat_map(|i| {
            let (samples, distances) = neighbors.row(i);
            samples.iter().zip(distances).map(move |(j, d)| (i as u32, *j, *d))
        });
        Self::from_half(n, &collected(neighbors.n_links(), links))
    }

    /// From edges, each given once or from both ends.
    ///
    /// # Errors
    /// When an end does not exist, an edge joins a vertex to itself, or a length is negative or not finite.
    pub fn from_edges(n_vertices: usize, edges: &[Edge]) -> Result<Self> {
        let mut half = room_for(edges.len());
        for (number, Edge { from, to, length }) in edges.iter().enumerate() {
            if *from.max(to) >= n_vertices || from == to || !(length.is_finite() && *length >= 0.0) {
                return Err(Error::data(
                    format!("edge {}: from {} to {} with length {length}", number + 1, from + 1, to + 1),
                    format!(
                        "edges join two different rows of 1 to {n_vertices}, and lengths are finite and not negative"
                    ),
                    "Correct the edge or leave it out",
                ));
            }
            half.push((*from as u32, *to as u32, *length));
        }
        Ok(Self::from_half(n_vertices, &half))
    }

    /// From edges given from either end or both.
    fn from_half(n: usize, half: &[(u32, u32, f64)]) -> Self {
        let mut starts = zeroed::<usize>(n + 1);
        for (a, b, _) in half {
            starts[*a as usize + 1] += 1;
            starts[*b as usize + 1] += 1;
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut entries = zeroed::<(u32, f64)>(2 * half.len());
        let mut next = copied(&starts);
        for (a, b, length) in half {
            for (at, to) in [(*a, *b), (*b, *a)] {
                entries[next[at as usize]] = (to, *length);
                next[at as usize] += 1;
            }
        }
        drop(next);
        let mut graph = Self {
            offsets: room_for(n + 1),
            targets: room_for(entries.len()),
            lengths: room_for(entries.len()),
        };
        graph.offsets.push(0);
        for i in 0..n {
            let row = &mut entries[starts[i]..starts[i + 1]];
            row.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
            for (at, (to, length)) in row.iter().enumerate() {
                // The shortest of several edges between the same two comes first.
                if *to as usize != i && (at == 0 || row[at - 1].0 != *to) {
                    graph.targets.push(*to);
                    graph.lengths.push(*length);
                }
            }
            graph.offsets.push(graph.targets.len());
        }
        drop(entries);
        graph.targets.shrink_to_fit();
        graph.lengths.shrink_to_fit();
        graph
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges, each counted once.
    pub fn n_edges(&self) -> usize {
        self.targets.len() / 2
    }

    /// Where the row of each vertex starts, and where the last one ends.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Targets of all rows, one after another.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Lengths that belong to [`Graph::targets`].
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// What vertex i is joined to, ascending, and the lengths.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.targets[range.clone()], &self.lengths[range])
    }

    /// The length of the edge between two vertices, if there is one.
    pub fn length(&self, a: usize, b: usize) -> Option<f64> {
        let (targets, lengths) = self.row(a);
        targets.binary_search(&(b as u32)).ok().map(|at| lengths[at])
    }

    /// All edges, each once, `from < to`.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        (0..self.n_vertices()).flat_map(move |from| {
            let (targets, lengths) = self.row(from);
            let edges = targets.iter().zip(lengths).filter(move |(to, _)| **to as usize > from);
            edges.map(move |(to, length)| Edge { from, to: *to as usize, length: *length })
        })
    }

    /// The graph with further edges.
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn with(&self, more: &[Edge]) -> Result<Self> {
        let edges = collected(self.n_edges() + more.len(), self.edges().chain(more.iter().copied()));
        Self::from_edges(self.n_vertices(), &edges)
    }

    /// The graph without the edges named by their ends, in either order. Those that do not exist change nothing.
    pub fn without(&self, cut: &[(usize, usize)]) -> Self {
        let gone: std::collections::HashSet<(usize, usize)> =
            cut.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
        let half = self
            .edges()
            .filter(|edge| !gone.contains(&(edge.from, edge.to)))
            .map(|edge| (edge.from as u32, edge.to as u32, edge.length));
        Self::from_half(self.n_vertices(), &collected(self.n_edges(), half))
    }

    /// The graph of these vertices alone, numbered in the order given (ascending).
    pub fn among(&self, vertices: &[usize]) -> Self {
        let mut place = filled(u32::MAX, self.n_vertices());
        vertices.iter().enumerate().for_each(|(at, v)| place[*v] = at as u32);
        let half = self
            .edges()
            .filter(|edge| place[edge.from] != u32::MAX && place[edge.to] != u32::MAX)
            .map(|edge| (place[edge.from], place[edge.to], edge.length));
        Self::from_half(vertices.len(), &collected(self.n_edges(), half))
    }

    /// The median length of an edge; `None` when there are no edges.
    pub fn median_length(&self) -> Option<f64> {
        let mut lengths = collected(self.n_edges(), self.edges().map(|edge| edge.length));
        let middle = lengths.len() / 2;
        (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, length: f64) -> Edge {
        Edge { from, to, length }
    }

    #[test]
    fn one_sided_neighbours_are_joined_from_both_ends() {
        let lists = Neighbors::new(vec![0, 1, 2, 3], vec![1, 2, 1], vec![2.0, 1.0, 1.0], 3).unwrap();
        let graph = Graph::from_neighbors(&lists);
        assert_eq!((graph.n_vertices(), graph.n_edges()), (3, 2));
        assert_eq!(graph.row(1), ([0, 2].as_slice(), [2.0, 1.0].as_slice()));
        assert_eq!((graph.length(1, 0), graph.length(0, 2)), (Some(2.0), None));
    }

    #[test]
    fn edges_come_and_go() {
        let graph = Graph::from_edges(4, &[edge(0, 1, 1.0), edge(2, 1, 3.0), edge(1, 2, 2.0)]).unwrap();
        assert_eq!(graph.length(2, 1), Some(2.0));
        let more = graph.with(&[edge(3, 0, 5.0)]).unwrap();
        assert_eq!(more.n_edges(), 3);
        assert_eq!(more.without(&[(0, 3), (2, 3)]), graph);
        assert_eq!(more.among(&[0, 3]).edges().collect::<Vec<_>>(), [edge(0, 1, 5.0)]);
        assert_eq!(more.median_length(), Some(2.0));
        assert!(Graph::from_edges(2, &[edge(0, 0, 1.0)]).is_err());
        assert!(Graph::from_edges(2, &[edge(0, 2, 1.0)]).unwrap_err().to_string().contains("rows of 1 to 2"));
        assert!(Graph::from_edges(2, &[edge(0, 1, f64::INFINITY)]).is_err());
    }
}
