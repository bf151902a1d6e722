//! Many sources relaxed together.

use super::dijkstra::Dijkstra;
use super::groups::{Group, Groups};
use super::links::{Edges, Links};
use crate::error::Result;
use crate::memory::{filled, zeroed};
use crate::progress::Watch;
use crate::simd::{Vectorised, dispatch};

/// Sources that are relaxed together.
pub(super) const LANES: usize = 16;

type Lanes = [f64; LANES];

/// Sweeps go over all positions while more than one in this many changes.
const FEW: usize = 32;

/// And no more than this often, forwards and backwards, so that the work can be cancelled.
const MOST_PAIRS: usize = 16;

/// Columns that are turned at a time when distances are written by source.
const TURNED: usize = 8;

/// Distances from up to [`LANES`] sources at a time, (G6).
///
/// Vertices stand in the order of their distance from the first source of a group. D_v ← min(D_v, D_u + ℓ_uv) is swept
/// over that order, forwards from the vertices before v and then backwards from those after it, and again for vertices with
/// a neighbour that has changed, until nothing changes. Near-by sources have nearly the same order, so little is left
/// after the first two sweeps.
///
/// Numerics: the result is that of Dijkstra's algorithm bit for bit, whatever the order. Rounded addition is monotone and
/// fl(a + ℓ) ≥ a for ℓ ≥ 0. So both end at the least of all left-to-right sums of lengths along paths from the source:
/// every entry is such a sum, and along a path none is above the sum so far when no edge lowers its end.
///
/// Cost: O(edges · lanes) for each sweep; a path needs as many sweeps as it changes direction in the order. Memory:
/// n · lanes · 8 bytes, 24 bytes for each edge and 60 for each vertex.
pub(super) struct Relaxation {
    search: Dijkstra,
    /// The position of each vertex, by its new name.
    positions: Vec<u32>,
    /// The position of each vertex, by its old name.
    places: Vec<u32>,
    earlier: Links,
    later: Links,
    /// A row for each position.
    rows: Vec<Lanes>,
    /// Positions with a neighbour before them that has changed.
    forwards: Marks,
    /// Positions with a neighbour after them that has changed.
    backwards: Marks,
    /// Positions that the last sweep over all has changed.
    changed: Marks,
}

impl Relaxation {
    pub(super) fn new(n: usize) -> Self {
        Self {
            search: Dijkstra::new(n),
            positions: zeroed(n),
            places: zeroed(n),
            earlier: Links::default(),
            later: Links::default(),
            rows: filled([f64::INFINITY; LANES], n),
            forwards: Marks::new(n),
            backwards: Marks::new(n),
            changed: Marks::new(n),
        }
    }

    /// Orders the vertices by distance from the leaders of a group, and copies the graph into that order.
    pub(super) fn arrange(&mut self, groups: &Groups, group: &Group) {
        self.search.clear();
        for leader in &group.leaders {
            self.search.add(*leader as usize);
            self.search.finish(&groups.links);
        }
        self.positions.fill(u32::MAX);
        for (at, v) in self.search.order.iter().enumerate() {
            self.positions[*v as usize] = at as u32;
        }
        // Vertices that no source of the group reaches stand last, without their links.
        let unreached = self.positions.iter_mut().filter(|position| **position == u32::MAX);
        unreached.zip(self.search.order.len() as u32..).for_each(|(position, next)| *position = next);
        for (place, name) in self.places.iter_mut().zip(&groups.names) {
            *place = self.positions[*name as usize];
        }
        self.earlier.clear();
        self.later.clear();
        for (own, v) in self.search.order.iter().enumerate() {
            let (targets, lengths) = groups.links.row(*v as usize);
            for (to, length) in targets.iter().zip(lengths) {
                let at = self.positions[*to as usize];
                if (at as usize) < own {
                    self.earlier.push(at, *length)
                } else {
                    self.later.push(at, *length)
                }
            }
            self.earlier.end_row();
            self.later.end_row();
        }
    }

    /// Distances from `sources`, at most [`LANES`] of them.
    pub(super) fn relax(&mut self, sources: impl Iterator<Item = usize>, watch: &Watch) -> Result<()> {
        self.rows.fill([f64::INFINITY; LANES]);
        for (lane, source) in sources.take(LANES).enumerate() {
            self.rows[self.places[source] as usize][lane] = 0.0;
        }
        dispatch(Sweeps(self));
        while self.forwards.any() || self.backwards.any() {
            watch.check()?;
            dispatch(Again(self));
        }
        Ok(())
    }

    /// Distances to vertex v from each lane.
    pub(super) fn lanes(&self, v: usize) -> &Lanes {
        &self.rows[self.places[v] as usize]
    }

    /// Writes the distances of each lane into its row of `out`.
    pub(super) fn write(&self, out: &mut [&mut [f64]]) {
        let mut turned = [[0.0; TURNED]; LANES];
        let blocks = self.places.chunks(TURNED);
        for (block, places) in blocks.enumerate() {
            for (column, place) in places.iter().enumerate() {
                let row = &self.rows[*place as usize];
                turned.iter_mut().zip(row).for_each(|(turned, d)| turned[column] = *d);
            }
            for (out, turned) in out.iter_mut().zip(&turned) {
                out[block * TURNED..][..places.len()].copy_from_slice(&turned[..places.len()]);
            }
        }
    }
}

/// Sweeps over all positions, forwards and backwards, while many change; then marks what the last changes shorten.
///
/// Why not by marks from the start: a position that is looked at in turn costs a fifth of one that is looked up.
struct Sweeps<'a>(&'a mut Relaxation);

impl Vectorised for Sweeps<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Relaxation { earlier, later, rows, forwards, backwards, changed, .. } = self.0;
        let n = earlier.n_rows();
        for at in 0..n {
            rows[at] = pull(rows, at, earlier.row(at));
        }
        for pair in 1.. {
            changed.0.fill(0);
            for at in (0..n).rev() {
                step(rows, at, later, changed);
            }
            if changed.count() <= n / FEW || pair == MOST_PAIRS {
                return changed.drain(|at| mark(rows, &rows[at], later.row(at), forwards));
            }
            changed.0.fill(0);
            for at in 0..n {
                step(rows, at, earlier, changed);
            }
            if changed.count() <= n / FEW {
                return changed.drain(|at| mark(rows, &rows[at], earlier.row(at), backwards));
            }
        }
    }
}

#[inline(always)]
fn step(rows: &mut [Lanes], at: usize, links: &Links, changed: &mut Marks) {
    let best = pull(rows, at, links.row(at));
    changed.0[at / 64] |= u64::from(best != rows[at]) << (at % 64);
    rows[at] = best;
}

/// A sweep forwards and one backwards over the marked positions.
struct Again<'a>(&'a mut Relaxation);

impl Vectorised for Again<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Relaxation { earlier, later, rows, forwards, backwards, .. } = self.0;
        for word in 0..forwards.0.len() {
            while let Some(at) = forwards.take_first(word) {
                let best = pull(rows, at, earlier.row(at));
                if best != rows[at] {
                    rows[at] = best;
                    mark(rows, &best, later.row(at), forwards);
                    mark(rows, &best, earlier.row(at), backwards);
                }
            }
        }
        for word in (0..backwards.0.len()).rev() {
            while let Some(at) = backwards.take_last(word) {
                let best = pull(rows, at, later.row(at));
                if best != rows[at] {
                    rows[at] = best;
                    mark(rows, &best, later.row(at), forwards);
                    mark(rows, &best, earlier.row(at), backwards);
                }
            }
        }
    }
}

/// min(D_at, D_u + ℓ) over the links of one position.
#[inline(always)]
fn pull(rows: &[Lanes], at: usize, (targets, lengths): (&[u32], &[f64])) -> Lanes {
    let mut best = rows[at];
    for (to, length) in targets.iter().zip(lengths) {
        for (best, d) in best.iter_mut().zip(&rows[*to as usize]) {
            let through = d + length;
            *best = if through < *best { through } else { *best };
        }
    }
    best
}

/// Marks the ends of links that `best` shortens.
#[inline(always)]
fn mark(rows: &[Lanes], best: &Lanes, (targets, lengths): (&[u32], &[f64]), marks: &mut Marks) {
    for (to, length) in targets.iter().zip(lengths) {
        let mut shorter = 0u64;
        for (best, d) in best.iter().zip(&rows[*to as usize]) {
            shorter |= u64::from(best + length < *d);
        }
        marks.0[*to as usize / 64] |= shorter << (to % 64);
    }
}

/// A set of positions, 64 to a word.
struct Marks(Vec<u64>);

impl Marks {
    fn new(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    fn any(&self) -> bool {
        self.0.iter().any(|word| *word != 0)
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Empties the set, in ascending order.
    #[inline(always)]
    fn drain(&mut self, mut f: impl FnMut(usize)) {
        for word in 0..self.0.len() {
            while let Some(at) = self.take_first(word) {
                f(at);
            }
        }
    }

    #[inline(always)]
    fn take_first(&mut self, word: usize) -> Option<usize> {
        let bits = self.0[word];
        self.0[word] &= bits.wrapping_sub(1);
        (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
    }

    #[inline(always)]
    fn take_last(&mut self, word: usize) -> Option<usize> {
        let bit = 63u32.checked_sub(self.0[word].leading_zeros())?;
        self.0[word] ^= 1 << bit;
        Some(word * 64 + bit as usize)
    }
}
