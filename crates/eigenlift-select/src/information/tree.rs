//! A k-d tree in the maximum norm: distances to nearest rows, and counts of rows within a distance.

use super::ball::{Around, Ball};

/// Rows of a leaf at most.
const LEAF: usize = 12;

/// Rows in space, in an order in which near ones stand together, with a box around each half, quarter and so on.
///
/// Numerics: the distance of two rows is max_d |x_d − y_d|·w_d, a difference first, so that equal differences are equal
/// distances. Rounding keeps order, so no box hides a row that is nearer than the box itself.
pub(super) struct Tree<const D: usize> {
    rows: Vec<[f64; D]>,
    /// Which row of those given stands here.
    pub(super) order: Vec<u32>,
    nodes: Vec<Node<D>>,
    weights: [f64; D],
}

struct Node<const D: usize> {
    low: [f64; D],
    high: [f64; D],
    start: u32,
    end: u32,
    /// The second child; the first is the next node. 0 for a leaf.
    second: u32,
}

impl<const D: usize> Node<D> {
    /// The least distance of a row in the box.
    #[inline]
    fn least(&self, x: &[f64; D], weights: &[f64; D]) -> f64 {
        let mut most = 0.0f64;
        for d in 0..D {
            most = most.max((self.low[d] - x[d]).max(x[d] - self.high[d]) * weights[d]);
        }
        most
    }

    /// The largest distance of a row in the box.
    #[inline]
    fn largest(&self, x: &[f64; D], weights: &[f64; D]) -> f64 {
        let mut most = 0.0f64;
        for d in 0..D {
            most = most.max((x[d] - self.low[d]).max(self.high[d] - x[d]) * weights[d]);
        }
        most
    }
}

#[inline]
fn distance<const D: usize>(x: &[f64; D], y: &[f64; D], weights: &[f64; D]) -> f64 {
    let mut most = 0.0f64;
    for d in 0..D {
        most = most.max((x[d] - y[d]).abs() * weights[d]);
    }
    most
}

impl<const D: usize> Tree<D> {
    /// Cost: O(n log n).
    pub(super) fn new(given: &[[f64; D]], weights: [f64; D]) -> Self {
        let mut entries: Vec<([f64; D], u32)> = given.iter().copied().zip(0..).collect();
        let mut nodes = Vec::with_capacity(4 * given.len() / LEAF + 1);
        if !entries.is_empty() {
            split(&mut entries, 0, &weights, &mut nodes);
        }
        let (rows, order) = entries.into_iter().unzip();
        Self { rows, order, nodes, weights }
    }

    /// The distances of the `nearest.len()` nearest rows to the row at this place, itself included, ascending; infinite where
    /// there are fewer rows.
    pub(super) fn nearest(&self, place: usize, nearest: &mut [f64]) {
        nearest.fill(f64::INFINITY);
        if !self.nodes.is_empty() {
            self.search(0, &self.rows[place], nearest);
        }
    }

    fn search(&self, at: usize, x: &[f64; D], nearest: &mut [f64]) {
        let node = &self.nodes[at];
        if node.second == 0 {
            // Why: a leaf of more rows holds equal ones, and no more of them are needed than are looked for.
            let most = nearest.len().max(LEAF);
            for row in self.rows[node.start as usize..node.end as usize].iter().take(most) {
                insert(nearest, distance(row, x, &self.weights));
            }
            return;
        }
        let children = [at + 1, node.second as usize];
        let least = children.map(|child| self.nodes[child].least(x, &self.weights));
        let first = usize::from(least[1] < least[0]);
        for side in [first, 1 - first] {
            if least[side] < farthest(nearest) {
                self.search(children[side], x, nearest);
            }
        }
    }

    /// Rows nearer to the row at this place than the radius, or as near where `inclusive`; itself included.
    pub(super) fn around(&self, place: usize, radius: f64, inclusive: bool) -> usize {
        let near = |distance: f64| distance < radius || (inclusive && distance == radius);
        if self.nodes.is_empty() {
            return 0;
        }
        self.count(0, &self.rows[place], &near).max(1)
    }

    /// Rows strictly nearer to the row at this place than the radius, itself counted, and exactly at it.
    pub(super) fn both_around(&self, place: usize, radius: f64) -> Around {
        let within = self.around(place, radius, false);
        Around { within: within as u32, at: (self.around(place, radius, true) - within) as u32 }
    }

    /// Hands the row at this place and every row no farther from it than the radius to `see`.
    pub(super) fn visit(&self, place: usize, radius: f64, see: &mut impl FnMut(&[f64; D], &[f64; D])) {
        if !self.nodes.is_empty() {
            self.visit_node(0, (&self.rows[place], radius), see);
        }
    }

    fn visit_node(
        &self,
        at: usize,
        (x, radius): (&[f64; D], f64),
        see: &mut impl FnMut(&[f64; D], &[f64; D]),
    ) {
        let node = &self.nodes[at];
        if node.least(x, &self.weights) > radius {
            return;
        }
        if node.second == 0 {
            let rows = &self.rows[node.start as usize..node.end as usize];
            rows.iter().filter(|row| distance(row, x, &self.weights) <= radius).for_each(|row| see(x, row));
            return;
        }
        self.visit_node(at + 1, (x, radius), see);
        self.visit_node(node.second as usize, (x, radius), see);
    }

    /// The ball of the k nearest rows around the row at this place, where the first `of_a` axes are those of side a.
    pub(super) fn ball(&self, place: usize, (radius, k): (f64, usize), of_a: usize) -> Ball {
        let mut ball = Ball { radius, k: k as u32, ..Ball::default() };
        if radius == 0.0 {
            ball.within = self.around(place, 0.0, true) as u32;
            return ball;
        }
        self.visit(place, radius, &mut |x, row| {
            let apart = |d: usize| (x[d] - row[d]).abs() * self.weights[d] == radius;
            let (a, b) = ((0..of_a).any(apart), (of_a..D).any(apart));
            ball.at_sides[0] += u32::from(a);
            ball.at_sides[1] += u32::from(b);
            match a || b {
                true => ball.at += 1,
                false => ball.within += 1,
            }
        });
        // The row itself was seen too.
        ball.within -= 1;
        ball
    }

    fn count(&self, at: usize, x: &[f64; D], near: &impl Fn(f64) -> bool) -> usize {
        let node = &self.nodes[at];
        if !near(node.least(x, &self.weights)) {
            return 0;
        }
        let range = node.start as usize..node.end as usize;
        if near(node.largest(x, &self.weights)) {
            return range.len();
        }
        if node.second == 0 {
            return self.rows[range].iter().filter(|row| near(distance(row, x, &self.weights))).count();
        }
        self.count(at + 1, x, near) + self.count(node.second as usize, x, near)
    }
}

#[inline]
fn farthest(nearest: &[f64]) -> f64 {
    nearest.last().copied().unwrap_or(0.0)
}

/// Puts a distance among the nearest, if it is one.
#[inline]
fn insert(nearest: &mut [f64], distance: f64) {
    if distance >= farthest(nearest) {
        return;
    }
    let mut at = nearest.len() - 1;
    while at > 0 && nearest[at - 1] > distance {
        nearest[at] = nearest[at - 1];
        at -= 1;
    }
    nearest[at] = distance;
}

/// Cuts entries in halves along the longest side of their box.
fn split<const D: usize>(
    entries: &mut [([f64; D], u32)],
    start: usize,
    weights: &[f64; D],
    nodes: &mut Vec<Node<D>>,
) {
    let (mut low, mut high) = (entries[0].0, entries[0].0);
    for (row, _) in entries.iter() {
        for d in 0..D {
            (low[d], high[d]) = (low[d].min(row[d]), high[d].max(row[d]));
        }
    }
    let at = nodes.len();
    nodes.push(Node { low, high, start: start as u32, end: (start + entries.len()) as u32, second: 0 });
    let side = |d: usize| (high[d] - low[d]) * weights[d];
    let axis = (1..D).fold(0, |best, d| if side(d) > side(best) { d } else { best });
    // Why: equal rows need no halves.
    if entries.len() <= LEAF || high[axis] == low[axis] {
        return;
    }
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
    let (first, second) = entries.split_at_mut(middle);
    split(first, start, weights, nodes);
    nodes[at].second = nodes.len() as u32;
    split(second, start + middle, weights, nodes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenlift::random::{Purpose, Stream};

    /// Every distance and count against a look at all rows.
    fn agrees<const D: usize>(rows: &[[f64; D]], weights: [f64; D]) {
        let tree = Tree::new(rows, weights);
        let mut nearest = [0.0; 5];
        for place in 0..rows.len() {
            let x = rows[tree.order[place] as usize];
            let mut all: Vec<f64> = rows.iter().map(|y| distance(&x, y, &weights)).collect();
            all.sort_unstable_by(f64::total_cmp);
            tree.nearest(place, &mut nearest);
            assert_eq!(nearest[..], all[..5]);
            for radius in [all[4], all[all.len() / 3], 10.0] {
                let strict = all.iter().filter(|d| **d < radius).count().max(1);
                assert_eq!(tree.around(place, radius, false), strict);
                assert_eq!(tree.around(place, radius, true), all.iter().filter(|d| **d <= radius).count());
            }
        }
    }

    #[test]
    fn agrees_with_a_look_at_all_rows() {
        let mut stream = Stream::new(1, Purpose::Synthetic);
        let rows: Vec<[f64; 3]> = (0..300).map(|_| std::array::from_fn(|_| stream.gaussian())).collect();
        agrees(&rows, [1.0, 0.3, 2.0]);
        let few: Vec<[f64; 2]> = (0..300).map(|_| std::array::from_fn(|_| stream.below(4) as f64)).collect();
        agrees(&few, [1.0, 0.7]);
    }
}
