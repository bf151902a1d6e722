//! Dijkstra's algorithm with memory that many searches share.

use super::links::Edges;
use crate::memory::filled;

const UNSEEN: u32 = u32::MAX;
const SETTLED: u32 = u32::MAX - 1;
const CHILDREN: usize = 4;

/// A search for shortest paths, (G5), step by step.
///
/// Vertices wait in a heap with four children to a node that knows where each of them stands: a vertex is in it once, and
/// a shorter path moves it up. Equal distances leave in the order of the vertices.
///
/// Cost: O(edges + vertices · log vertices); memory 40 bytes for each vertex.
pub(super) struct Dijkstra {
    pub(super) distances: Vec<f64>,
    pub(super) parents: Vec<u32>,
    /// Settled vertices, nearest first.
    pub(super) order: Vec<u32>,
    /// Where each vertex stands in the heap.
    places: Vec<u32>,
    heap: Vec<(f64, u32)>,
}

impl Dijkstra {
    /// A search among `n` vertices that has not begun.
    pub(super) fn new(n: usize) -> Self {
        Self {
            distances: filled(f64::INFINITY, n),
            parents: filled(u32::MAX, n),
            order: Vec::new(),
            places: filled(UNSEEN, n),
            heap: Vec::new(),
        }
    }

    /// Forgets the last search. Cost: what that search touched.
    pub(super) fn clear(&mut self) {
        let Self { distances, parents, order, places, heap } = self;
        for v in order.drain(..).chain(heap.drain(..).map(|(_, v)| v)) {
            distances[v as usize] = f64::INFINITY;
            parents[v as usize] = u32::MAX;
            places[v as usize] = UNSEEN;
        }
    }

    /// Starts at `source` too, unless it was reached already.
    pub(super) fn add(&mut self, source: usize) {
        if self.places.get(source) == Some(&UNSEEN) {
            self.reach(source as u32, 0.0, source as u32);
        }
    }

    /// Settles the nearest vertex that waits and looks along its edges to the vertices that `wanted` lets through.
    #[inline]
    pub(super) fn next(&mut self, graph: &impl Edges, wanted: impl Fn(usize, f64) -> bool) -> Option<usize> {
        let (distance, v) = self.pop()?;
        self.order.push(v);
        let (targets, lengths) = graph.row(v as usize);
        for (to, length) in targets.iter().zip(lengths) {
            let through = distance + length;
            if through < self.distances[*to as usize] && wanted(*to as usize, through) {
                self.reach(*to, through, v);
            }
        }
        Some(v as usize)
    }

    /// Settles all that can be reached.
    pub(super) fn finish(&mut self, graph: &impl Edges) {
        while self.next(graph, |_, _| true).is_some() {}
    }

    fn reach(&mut self, v: u32, distance: f64, parent: u32) {
        let at = v as usize;
        self.distances[at] = distance;
        self.parents[at] = parent;
        if self.places[at] == UNSEEN {
            self.places[at] = self.heap.len() as u32;
            self.heap.push((distance, v));
        }
        self.rise(self.places[at] as usize, (distance, v));
    }

    fn pop(&mut self) -> Option<(f64, u32)> {
        let first = *self.heap.first()?;
        self.places[first.1 as usize] = SETTLED;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        Some(first)
    }

    /// Moves `entry` from place `at` towards the top.
    fn rise(&mut self, mut at: usize, entry: (f64, u32)) {
        while at > 0 {
            let above = (at - 1) / CHILDREN;
            if !before(entry, self.heap[above]) {
                break;
            }
            self.put(at, self.heap[above]);
            at = above;
        }
        self.put(at, entry);
    }

    /// Puts `entry` where it belongs when the top is free.
    fn sink(&mut self, entry: (f64, u32)) {
        let mut at = 0;
        loop {
            let from = at * CHILDREN + 1;
            let Some(children) = self.heap.get(from..(from + CHILDREN).min(self.heap.len())) else { break };
            let mut least = (entry, at);
            for (child, other) in children.iter().enumerate() {
                if before(*other, least.0) {
                    least = (*other, from + child);
                }
            }
            if least.1 == at {
                break;
            }
            self.put(at, least.0);
            at = least.1;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: (f64, u32)) {
        self.heap[at] = entry;
        self.places[entry.1 as usize] = at as u32;
    }
}

#[inline(always)]
fn before(a: (f64, u32), b: (f64, u32)) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}
