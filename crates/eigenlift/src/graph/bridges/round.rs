//! One round of joining: the shortest edge out of every set.

use super::groups::{GroupTree, widest};
use super::rows::BridgeRows;
use super::{Sets, offer};
use crate::error::Result;
use crate::graph::Edge;
use crate::progress::Watch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Pairs of rows that are looked at one by one.
const PAIRS: usize = 1 << 12;
/// Times that a search for a short edge goes to and fro.
const TURNS: usize = 8;

/// What has been found so far. The largest set does not search: its reach is −∞.
///
/// Why threads may share it in any order: the first edge in the order of [`offer`] is the same whatever came before, and
/// nothing that could come before what is known is passed over.
pub(super) struct Round<'a> {
    x: &'a BridgeRows<'a>,
    tree: &'a GroupTree,
    sets: &'a Sets,
    watch: &'a Watch,
    best: Vec<Mutex<Option<Edge>>>,
    /// How far each set need look, the bits of an f64.
    reach: Vec<AtomicU64>,
}

/// What is done with two groups that may hold an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Few rows are compared at once; among many a short edge is found, so that others need not look far.
    Ahead,
    /// Many rows are compared, those that can have an edge.
    Closely,
}

impl<'a> Round<'a> {
    pub(super) fn new(x: &'a BridgeRows<'a>, tree: &'a GroupTree, sets: &'a Sets, watch: &'a Watch) -> Self {
        let start =
            |name: usize| if name == sets.largest as usize { f64::NEG_INFINITY } else { f64::INFINITY };
        Self {
            x,
            tree,
            sets,
            watch,
            best: (0..sets.n_names).map(|_| Mutex::default()).collect(),
            reach: (0..sets.n_names).map(|name| AtomicU64::new(start(name).to_bits())).collect(),
        }
    }

    /// The shortest edge out of each set but the largest.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub(super) fn shortest_outwards(self) -> Result<Vec<Option<Edge>>> {
        self.inside(0, Look::Ahead)?;
        self.inside(0, Look::Closely)?;
        let take = |best: Mutex<Option<Edge>>| best.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(self.best.into_iter().map(take).collect())
    }

    fn set(&self, row: u32) -> u32 {
        self.sets.of_rows[row as usize]
    }

    fn reach_of(&self, set: u32) -> f64 {
        f64::from_bits(self.reach[set as usize].load(Ordering::Relaxed))
    }

    /// The set of all rows of a group if it is one, and how far any of its sets must look.
    fn state(&self, group: usize) -> (Option<u32>, f64) {
        let mut sets = self.tree.sets(group, self.sets);
        let Some(first) = sets.next() else { return (None, f64::NEG_INFINITY) };
        let fold = |(one, reach): (Option<u32>, f64), set| {
            (one.filter(|one| *one == set), reach.max(self.reach_of(set)))
        };
        sets.fold((Some(first), self.reach_of(first)), fold)
    }

    /// Edges between components of one group.
    fn inside(&self, group: usize, look: Look) -> Result<()> {
        if self.state(group).0.is_some() {
            return Ok(());
        }
        match self.tree.groups[group].halves {
            None => self.leaves(group, group, look),
            Some((lower, upper)) => {
                let (a, b) = rayon::join(|| self.inside(lower, look), || self.inside(upper, look));
                a.and(b)?;
                self.between(lower, upper, look)
            }
        }
    }

    /// Edges between two groups.
    fn between(&self, a: usize, b: usize, look: Look) -> Result<()> {
        self.watch.check()?;
        let ((one, a_reach), (other, b_reach)) = (self.state(a), self.state(b));
        if (one.is_some() && one == other) || self.tree.apart(self.x, a, b) > a_reach.max(b_reach) {
            return Ok(());
        }
        let (halves, whole) = match (self.tree.groups[a].halves, self.tree.groups[b].halves) {
            (None, None) => return self.leaves(a, b, look),
            (Some(halves), None) => (halves, b),
            (None, Some(halves)) => (halves, a),
            (Some(_), Some(halves)) if self.tree.radius(b) > self.tree.radius(a) => (halves, a),
            (Some(halves), Some(_)) => (halves, b),
        };
        let apart = |half| self.tree.apart(self.x, half, whole);
        let (near, far) = if apart(halves.1) < apart(halves.0) { (halves.1, halves.0) } else { halves };
        let (a, b) = rayon::join(|| self.between(near, whole, look), || self.between(far, whole, look));
        a.and(b)
    }

    fn leaves(&self, a: usize, b: usize, look: Look) -> Result<()> {
        let (p, q) = (self.tree.rows(a), self.tree.rows(b));
        match (p.len() * q.len() <= PAIRS, look) {
            (true, Look::Ahead) => self.all_pairs(p, q),
            (false, Look::Ahead) => self.to_and_fro(p, q),
            (true, Look::Closely) => {}
            (false, Look::Closely) => self.closely((a, b), p.to_vec(), q.to_vec())?,
        }
        Ok(())
    }

    /// Offers the edge between rows to the sets of both.
    fn take(&self, i: u32, j: u32) {
        let (i, j) = (i as usize, j as usize);
        let length = self.x.length(i, j);
        for set in [self.sets.of_rows[i], self.sets.of_rows[j]] {
            if set != self.sets.largest {
                let mut best = self.best[set as usize].lock().unwrap_or_else(PoisonError::into_inner);
                offer(&mut best, i, j, length);
                let reach = best.map_or(f64::INFINITY, |edge| self.x.reach(edge.length));
                self.reach[set as usize].store(reach.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Compares rows of different sets, one by one.
    fn all_pairs(&self, p: &[u32], q: &[u32]) {
        for i in p {
            let (own, row) = (self.set(*i), self.x.row(*i as usize));
            for j in q {
                let other = self.set(*j);
                let reach = self.reach_of(own).max(self.reach_of(other));
                if own != other && !self.x.beyond(row, self.x.row(*j as usize), reach) {
                    self.take(*i, *j);
                }
            }
        }
    }

    /// A short edge between rows of two components: from a row to the nearest one on the other side, to the nearest to
    /// that, and so on.
    fn to_and_fro(&self, p: &[u32], q: &[u32]) {
        let Some(mut here) = p.first().copied() else { return };
        let mut shortest = f64::INFINITY;
        for turn in 0..TURNS {
            let side = if turn % 2 == 0 { q } else { p };
            let row = self.x.row(here as usize);
            let rho = |j: &u32| self.x.rho(row, self.x.row(*j as usize));
            let others = side.iter().filter(|j| self.set(**j) != self.set(here)).map(|j| (rho(j), *j));
            let nearest = others.reduce(|best, found| if found.0 < best.0 { found } else { best });
            let Some((rho, there)) = nearest.filter(|(rho, _)| *rho < shortest) else { return };
            self.take(here, there);
            (shortest, here) = (rho, there);
        }
    }

    /// Compares the rows that can have an edge short enough: along the direction u between the means, an edge reaches from
    /// the foremost rows of one side to the foremost of the other, |⟨u, x − y⟩| ≤ ρ(x, y). What is left is halved until few
    /// pairs remain, each time with a direction of its own.
    fn closely(&self, groups: (usize, usize), p: Vec<u32>, q: Vec<u32>) -> Result<()> {
        self.watch.check()?;
        if p.len() * q.len() <= PAIRS {
            self.all_pairs(&p, &q);
            return Ok(());
        }
        let reach = self.state(groups.0).1.max(self.state(groups.1).1);
        let (p_mean, q_mean) = (self.x.mean(&p), self.x.mean(&q));
        let u = self.x.direction(&p_mean, &q_mean);
        let along = |i: &u32| -> f64 {
            let row = self.x.row(*i as usize).iter();
            row.zip(&p_mean).zip(&u).map(|((x, mean), u)| (x - mean) * u).sum()
        };
        let q_along: Vec<f64> = q.iter().map(along).collect();
        let first = q_along.iter().copied().fold(f64::INFINITY, f64::min);
        let mut last = f64::NEG_INFINITY;
        let mut left = Vec::with_capacity(p.len());
        for i in p {
            let at = along(&i);
            // Why so: what is not a number rules nothing out.
            let is_out = at < first - reach;
            if !is_out {
                left.push(i);
                last = if at.is_nan() { f64::INFINITY } else { last.max(at) };
            }
        }
        let is_out = |at: f64| at > last + reach;
        let right: Vec<u32> =
            q.into_iter().zip(q_along).filter(|(_, at)| !is_out(*at)).map(|(j, _)| j).collect();
        if left.is_empty() || right.is_empty() || left.len() * right.len() <= PAIRS {
            self.all_pairs(&left, &right);
            return Ok(());
        }
        self.halved(groups, left, right)
    }

    fn halved(&self, groups: (usize, usize), p: Vec<u32>, q: Vec<u32>) -> Result<()> {
        if q.len() > p.len() {
            return self.halved((groups.1, groups.0), q, p);
        }
        let row = |i: &u32| self.x.row(*i as usize);
        let column = widest(self.x.n_cols(), p.iter().map(row));
        let value = |i: &u32| row(i).get(column).copied().unwrap_or(0.0);
        let mut lower = p;
        let middle = lower.len() / 2;
        lower.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
        let upper = lower.split_off(middle);
        let mean = self.x.mean(&q);
        let apart = |rows: &[u32]| self.x.rho(&self.x.mean(rows), &mean);
        let (near, far) = if apart(&upper) < apart(&lower) { (upper, lower) } else { (lower, upper) };
        let again = q.clone();
        let (a, b) = rayon::join(|| self.closely(groups, near, q), || self.closely(groups, far, again));
        a.and(b)
    }
}
