//! Whether there is a way round that is short enough.

use super::trust::{Limits, Numbered};
use crate::error::Result;
use crate::graph::symmetric::Graph;
use crate::memory::collected;
use crate::progress::Watch;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Edges that one thread looks at before it looks up.
const PIECE: usize = 128;
/// Pieces between two reports of progress.
const ROUND: usize = 64;

/// Edges that stay without a way round when all edges that have one are trusted, again and again, (G23); ascending.
pub(super) fn not_admitted(
    graph: &Graph,
    edges: &Numbered,
    limits: &Limits,
    mut trusted: Vec<bool>,
    watch: &Watch,
) -> Result<Vec<usize>> {
    loop {
        let waiting = without_way(graph, edges, limits, &trusted, watch)?;
        let before = trusted.iter().filter(|yes| !**yes).count();
        if waiting.len() == before {
            return Ok(waiting);
        }
        trusted.fill(true);
        waiting.iter().for_each(|e| trusted[*e] = false);
    }
}

/// Edges that are not trusted and have no way round over those that are; ascending.
pub(super) fn without_way(
    graph: &Graph,
    edges: &Numbered,
    limits: &Limits,
    trusted: &[bool],
    watch: &Watch,
) -> Result<Vec<usize>> {
    let waiting: Vec<usize> = (0..trusted.len()).filter(|e| !trusted[*e]).collect();
    let open = collected(edges.of_entry.len(), edges.of_entry.iter().map(|e| trusted[*e as usize]));
    let mut left = Vec::with_capacity(waiting.len());
    for (round, block) in waiting.chunks(PIECE * ROUND).enumerate() {
        watch.step("short circuits", round * PIECE * ROUND, waiting.len())?;
        let pieces = block.par_chunks(PIECE).map(|piece| {
            watch.check()?;
            let mut search = Search::new(graph, &open);
            let mut long =
                |e: &usize| !search.reaches(edges.list[*e].from, edges.list[*e].to, limits.of_edge[*e]);
            Ok(piece.iter().copied().filter(|e| long(e)).collect::<Vec<usize>>())
        });
        left.extend(pieces.collect::<Result<Vec<_>>>()?.concat());
    }
    Ok(left)
}

/// One of the two ends that a search grows from.
struct Side {
    distances: Vec<f64>,
    touched: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Side {
    fn new(n: usize) -> Self {
        Self { distances: vec![f64::INFINITY; n], touched: Vec::new(), heap: BinaryHeap::new() }
    }

    fn set(&mut self, v: usize, distance: f64) {
        if self.distances[v].is_infinite() {
            self.touched.push(v as u32);
        }
        self.distances[v] = distance;
        self.heap.push(Reverse((distance.to_bits(), v as u32)));
    }

    /// The distance of the nearest vertex whose edges were not followed yet.
    fn radius(&self) -> f64 {
        self.heap.peek().map_or(f64::INFINITY, |Reverse((bits, _))| f64::from_bits(*bits))
    }

    fn clear(&mut self) {
        self.touched.drain(..).for_each(|v| self.distances[v as usize] = f64::INFINITY);
        self.heap.clear();
    }
}

/// Searches over open edges from both ends at once.
pub(super) struct Search<'a> {
    graph: &'a Graph,
    open: &'a [bool],
    sides: [Side; 2],
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph, open: &'a [bool]) -> Self {
        let n = graph.n_vertices();
        Self { graph, open, sides: [Side::new(n), Side::new(n)] }
    }

    /// Whether a path of open edges from a to b is not longer than `limit`.
    ///
    /// Cost: vertices within about half the limit of either end, fewer when the answer is yes.
    pub(super) fn reaches(&mut self, a: usize, b: usize, limit: f64) -> bool {
        self.sides[0].set(a, 0.0);
        self.sides[1].set(b, 0.0);
        let mut met = false;
        // Both balls together cover every path that is short enough when their radii add up to more than the limit.
        while !met && self.sides[0].radius() + self.sides[1].radius() <= limit {
            let nearer = usize::from(self.sides[1].radius() < self.sides[0].radius());
            met = self.grow(nearer, limit);
        }
        self.sides.iter_mut().for_each(Side::clear);
        met
    }

    /// Follows the edges of the nearest vertex of a side; whether that meets the other side by a path that is short enough.
    fn grow(&mut self, which: usize, limit: f64) -> bool {
        let [first, second] = &mut self.sides;
        let (side, other) = if which == 0 { (first, second) } else { (second, first) };
        let Some(Reverse((bits, v))) = side.heap.pop() else { return false };
        let (distance, v) = (f64::from_bits(bits), v as usize);
        if distance > side.distances[v] {
            return false;
        }
        for at in self.graph.offsets()[v]..self.graph.offsets()[v + 1] {
            let to = self.graph.targets()[at] as usize;
            let through = distance + self.graph.lengths()[at];
            if self.open[at] && through <= limit && through < side.distances[to] {
                side.set(to, through);
                if through + other.distances[to] <= limit {
                    return true;
                }
            }
        }
        false
    }
}
