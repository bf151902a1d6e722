//! A tree over the components, so that those far from each other are never looked at.

use super::Sets;
use super::rows::{BridgeRows, mean};
use crate::graph::Components;
use rayon::prelude::*;

/// Components of fewer rows than this together are looked at together.
const LEAF_ROWS: usize = 32;

/// Some components, and a ball that holds their rows.
pub(super) struct Group {
    /// Where its components stand in the order of the tree.
    pub(super) first: usize,
    pub(super) upto: usize,
    /// Two groups that it is made of; none for a single component or a few small ones.
    pub(super) halves: Option<(usize, usize)>,
    center: Vec<f64>,
    radius: f64,
}

/// The components halved at the median of their centers' widest column, again and again.
pub(super) struct GroupTree {
    /// Components in the order of the leaves.
    order: Vec<u32>,
    /// Rows in that order, and where each component's begin.
    rows: Vec<u32>,
    starts: Vec<usize>,
    pub(super) groups: Vec<Group>,
}

impl GroupTree {
    /// Group 0 holds everything. Cost: a few n·d and count·log(count)·d.
    pub(super) fn new(x: &BridgeRows<'_>, components: &Components) -> Self {
        let mut members: Vec<Vec<u32>> =
            components.sizes().iter().map(|size| Vec::with_capacity(*size)).collect();
        components.labels().iter().enumerate().for_each(|(i, label)| members[*label as usize].push(i as u32));
        let balls: Vec<(Vec<f64>, f64)> = members.par_iter().map(|rows| ball(x, rows)).collect();
        let mut tree = Self {
            order: (0..members.len() as u32).collect(),
            rows: Vec::with_capacity(components.labels().len()),
            starts: vec![0],
            groups: Vec::new(),
        };
        tree.grow(x, components.sizes(), &balls, 0, members.len());
        for component in &tree.order {
            tree.rows.extend(&members[*component as usize]);
            tree.starts.push(tree.rows.len());
        }
        tree
    }

    fn grow(
        &mut self,
        x: &BridgeRows<'_>,
        sizes: &[usize],
        balls: &[(Vec<f64>, f64)],
        first: usize,
        upto: usize,
    ) -> usize {
        let components = &mut self.order[first..upto];
        let of = |component: &u32| &balls[*component as usize];
        let center = mean(x.n_cols(), components.iter().map(|component| of(component).0.as_slice()));
        let reach = |component: &u32| x.rho(&center, &of(component).0) + of(component).1;
        let radius = components.iter().map(reach).fold(0.0, f64::max);
        let n_rows: usize = components.iter().map(|component| sizes[*component as usize]).sum();
        let at = self.groups.len();
        self.groups.push(Group { first, upto, halves: None, center, radius });
        if upto - first > 1 && n_rows > LEAF_ROWS {
            let middle = (upto - first) / 2;
            let column = widest(x.n_cols(), components.iter().map(|component| of(component).0.as_slice()));
            let value = |component: &u32| of(component).0.get(column).copied().unwrap_or(0.0);
            components.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
            let lower = self.grow(x, sizes, balls, first, first + middle);
            let upper = self.grow(x, sizes, balls, first + middle, upto);
            self.groups[at].halves = Some((lower, upper));
        }
        at
    }

    /// A lower bound of ρ between rows of two groups, without room for rounding.
    pub(super) fn apart(&self, x: &BridgeRows<'_>, a: usize, b: usize) -> f64 {
        let (a, b) = (&self.groups[a], &self.groups[b]);
        x.rho(&a.center, &b.center) - a.radius - b.radius
    }

    pub(super) fn radius(&self, group: usize) -> f64 {
        self.groups[group].radius
    }

    /// The rows of a group.
    pub(super) fn rows(&self, group: usize) -> &[u32] {
        let Group { first, upto, .. } = self.groups[group];
        &self.rows[self.starts[first]..self.starts[upto]]
    }

    /// The sets that a group's components are in, one for each component.
    pub(super) fn sets<'s>(&'s self, group: usize, sets: &'s Sets) -> impl Iterator<Item = u32> + 's {
        let Group { first, upto, .. } = self.groups[group];
        (first..upto).map(move |at| sets.of_rows[self.rows[self.starts[at]] as usize])
    }
}

fn ball(x: &BridgeRows<'_>, rows: &[u32]) -> (Vec<f64>, f64) {
    let center = x.mean(rows);
    let radius = rows.iter().map(|i| x.rho(&center, x.row(*i as usize))).fold(0.0, f64::max);
    (center, radius)
}

/// The column in which some rows are spread most.
pub(super) fn widest<'r>(n_cols: usize, rows: impl Iterator<Item = &'r [f64]>) -> usize {
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); n_cols];
    for row in rows {
        bounds.iter_mut().zip(row).for_each(|(bound, x)| *bound = (bound.0.min(*x), bound.1.max(*x)));
    }
    let spread = |j: usize| bounds[j].1 - bounds[j].0;
    (1..n_cols).fold(0, |best, j| if spread(j) > spread(best) { j } else { best })
}
