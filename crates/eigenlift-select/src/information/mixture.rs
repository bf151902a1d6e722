//! Information of any columns together.

use super::ball::{Around, Ball};
use super::cells::Cells;
use super::line::{Line, both_around, exact, weight};
use super::one_column::windows;
use super::plug_in::entropy;
use super::tree::Tree;
use super::{Estimate, Variable, estimate};
use eigenlift::stats::Digamma;

/// Continuous columns that can be looked at together.
const MOST_AXES: usize = 32;

/// One side of I(a; b): discrete columns as cells, continuous ones as axes.
pub(super) struct Side {
    pub(super) cells: Cells,
    pub(super) axes: Vec<Axis>,
}

/// A continuous column and one over its standard deviation.
#[derive(Clone)]
pub(super) struct Axis {
    pub(super) values: Vec<f64>,
    pub(super) weight: f64,
}

impl Side {
    pub(super) fn new(columns: &[Variable<'_>], n_rows: usize) -> Self {
        let mut side = Self { cells: Cells::one(n_rows), axes: Vec::new() };
        for column in columns {
            match column {
                Variable::Discrete(codes, count) => side.cells = side.cells.and((codes, *count)),
                Variable::Continuous(values) => {
                    let values = exact(values);
                    side.axes.push(Axis { weight: weight(&values), values });
                }
            }
        }
        side
    }

    /// These rows; distances stay what they are.
    fn of(&self, rows: &[u32]) -> Self {
        let gathered = |axis: &Axis| axis.of(rows);
        Self { cells: self.cells.of(rows), axes: self.axes.iter().map(gathered).collect() }
    }

    /// Plug-in entropy of the values as they stand.
    fn entropy(&self) -> f64 {
        let cells = self.axes.iter().fold(self.cells.clone(), |cells, axis| cells.and_value(&axis.values));
        entropy(&cells.sizes())
    }

    /// Rows of the cell around each row.
    fn counts(&self, balls: &[Ball]) -> Vec<Around> {
        let mut counts = vec![Around::default(); balls.len()];
        self.cells.each(|rows| match &self.axes[..] {
            [] => {
                let all = Around { within: rows.len() as u32, at: 0 };
                rows.iter().for_each(|i| counts[*i as usize] = all);
            }
            [axis] => {
                let line = Line::of_exact(&axis.of(rows).values);
                for (place, at) in line.order.iter().enumerate() {
                    let i = rows[*at as usize] as usize;
                    counts[i] = both_around(&line.values, place, (balls[i].radius, axis.weight));
                }
            }
            [_, _] => self.counts_in::<2>(rows, balls, &mut counts),
            [_, _, _] => self.counts_in::<3>(rows, balls, &mut counts),
            _ => self.counts_in::<MOST_AXES>(rows, balls, &mut counts),
        });
        counts
    }

    fn counts_in<const D: usize>(&self, rows: &[u32], balls: &[Ball], counts: &mut [Around]) {
        let tree = self.tree::<D>(rows);
        for (place, at) in tree.order.iter().enumerate() {
            let i = rows[*at as usize] as usize;
            counts[i] = tree.both_around(place, balls[i].radius);
        }
    }

    /// Axes that are not there stay 0.
    fn tree<const D: usize>(&self, rows: &[u32]) -> Tree<D> {
        let entry = |d: usize, i: u32| self.axes.get(d).map_or(0.0, |axis| axis.values[i as usize]);
        let points: Vec<[f64; D]> = rows.iter().map(|i| std::array::from_fn(|d| entry(d, *i))).collect();
        Tree::new(&points, std::array::from_fn(|d| self.axes.get(d).map_or(0.0, |axis| axis.weight)))
    }

    /// The k nearest rows of the cell of each row; the first `of_a` axes are those of side a.
    fn balls(&self, k: usize, of_a: usize) -> Vec<Ball> {
        let mut balls = vec![Ball::default(); self.cells.of_rows.len()];
        self.cells.each(|rows| {
            let k = k.min(rows.len().saturating_sub(1));
            match &self.axes[..] {
                _ if k == 0 => {}
                [] => {}
                [axis] => on_line(axis, rows, (k, of_a), &mut balls),
                [_, _] => self.balls_in::<2>(rows, (k, of_a), &mut balls),
                [_, _, _] => self.balls_in::<3>(rows, (k, of_a), &mut balls),
                _ => self.balls_in::<MOST_AXES>(rows, (k, of_a), &mut balls),
            }
        });
        balls
    }

    fn balls_in<const D: usize>(&self, rows: &[u32], (k, of_a): (usize, usize), balls: &mut [Ball]) {
        let tree = self.tree::<D>(rows);
        // Itself and the k others.
        let mut distances = vec![0.0; k + 1];
        for (place, at) in tree.order.iter().enumerate() {
            tree.nearest(place, &mut distances);
            balls[rows[*at as usize] as usize] = tree.ball(place, (distances[k], k), of_a);
        }
    }
}

impl Axis {
    fn of(&self, rows: &[u32]) -> Self {
        Self { values: rows.iter().map(|i| self.values[*i as usize]).collect(), weight: self.weight }
    }
}

fn on_line(axis: &Axis, rows: &[u32], (k, of_a): (usize, usize), balls: &mut [Ball]) {
    let line = Line::of_exact(&axis.of(rows).values);
    windows(&line.values, k, |place, window| {
        let mut ball = window.ball(&line.values, place, k);
        ball.radius *= axis.weight;
        ball.at_sides = if of_a > 0 { [ball.at, 0] } else { [0, ball.at] };
        balls[rows[line.order[place] as usize] as usize] = ball;
    });
}

/// I of two sides, (S4) with ties by (S5), within (S6). Rows alone in their cell are left out.
///
/// Cost: O(n log n) for one axis in all; for d axes that of a k-d tree, O(n log n) for the neighbours and O(n^(2 − 1/d)) at
/// most for counts on a side of d axes.
pub(super) fn information(a: &Side, b: &Side, k: usize) -> Estimate {
    let joint = a.cells.and((&b.cells.of_rows, b.cells.count));
    let sizes = joint.sizes();
    if sizes.contains(&1) {
        let n_rows = joint.of_rows.len() as u32;
        let kept: Vec<u32> = (0..n_rows).filter(|i| sizes[joint.of_rows[*i as usize] as usize] > 1).collect();
        return of_kept(&a.of(&kept), &b.of(&kept), joint.of(&kept), k);
    }
    of_kept(a, b, joint, k)
}

fn of_kept(a: &Side, b: &Side, cells: Cells, k: usize) -> Estimate {
    let n = cells.of_rows.len();
    let psi = Digamma::up_to(n);
    let axes: Vec<Axis> = a.axes.iter().chain(&b.axes).take(MOST_AXES).cloned().collect();
    let balls = Side { cells, axes }.balls(k, a.axes.len());
    let (of_a, of_b) = (a.counts(&balls), b.counts(&balls));
    let term = |i: usize| balls[i].term([of_a[i], of_b[i]], n, &psi);
    let terms: Vec<f64> = (0..n).map(term).collect();
    estimate(&terms, a.entropy().min(b.entropy()))
}
