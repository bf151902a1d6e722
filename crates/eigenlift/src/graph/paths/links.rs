//! Edges in an order of their own.

use crate::graph::Graph;
use crate::memory::{append, room_for};

/// What a search walks on: the ends and lengths of a vertex's edges.
pub(super) trait Edges {
    fn row(&self, v: usize) -> (&[u32], &[f64]);
}

impl Edges for Graph {
    #[inline]
    fn row(&self, v: usize) -> (&[u32], &[f64]) {
        Graph::row(self, v)
    }
}

/// Edges of vertices one after another, as they are pushed.
#[derive(Default)]
pub(super) struct Links {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    lengths: Vec<f64>,
}

impl Links {
    /// The edges of a graph when vertex v is called `names[v]`; `order` holds the vertices by their new names.
    ///
    /// Why: near-by vertices stand near each other in memory, which halves the time of searches on a large graph.
    pub(super) fn renamed(graph: &Graph, order: &[u32], names: &[u32]) -> Self {
        let (n, entries) = (order.len(), graph.targets().len());
        let mut links =
            Self { offsets: room_for(n + 1), targets: room_for(entries), lengths: room_for(entries) };
        links.clear();
        for v in order {
            let (targets, lengths) = graph.row(*v as usize);
            targets.iter().zip(lengths).for_each(|(to, length)| links.push(names[*to as usize], *length));
            links.end_row();
        }
        links
    }

    pub(super) fn clear(&mut self) {
        self.offsets.clear();
        self.targets.clear();
        self.lengths.clear();
        self.offsets.push(0);
    }

    pub(super) fn push(&mut self, to: u32, length: f64) {
        append(&mut self.targets, std::iter::once(to));
        append(&mut self.lengths, std::iter::once(length));
    }

    pub(super) fn end_row(&mut self) {
        self.offsets.push(self.targets.len());
    }

    #[inline(always)]
    pub(super) fn n_rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

impl Edges for Links {
    #[inline(always)]
    fn row(&self, v: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[v]..self.offsets[v + 1];
        (&self.targets[range.clone()], &self.lengths[range])
    }
}
