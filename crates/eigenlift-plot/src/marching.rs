//! Marching squares: lines of equal value, and areas above a value, of a function on a grid.
//!
//! Results are in grid coordinates: the node in column i and row j is at (i, j). A line crosses the side of
//! a cell between values a and b at the share (level − a)/(b − a) of the side, so it is exact where the
//! function is linear, and of second order in the spacing elsewhere.

use crate::scene::Polyline;

/// Values in rows of `nx`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) nx: usize,
    pub(crate) ny: usize,
}

/// The lines of equal value. Cells with a corner that is not finite have none.
pub(crate) fn lines(grid: Grid, level: f64) -> Vec<Polyline> {
    Tracer::new(grid, level, false).trace()
}

/// The borders of the area where the value is at least `level`, all closed; the area is inside them by the
/// even-odd rule. Outside of the grid, and where it is not finite, counts as below.
pub(crate) fn area_above(grid: Grid, level: f64) -> Vec<Polyline> {
    Tracer::new(grid, level, true).trace()
}

/// No further crossing.
const NONE: usize = usize::MAX;

/// Follows the crossings of one level from cell to cell. For areas the grid has a border of outside nodes
/// that lie on its rim, so that every line closes along the rim.
struct Tracer<'a> {
    grid: Grid<'a>,
    level: f64,
    closed: bool,
    columns: usize,
    rows: usize,
    /// The crossings next to the crossing on each edge. Edges along rows come first, then those along
    /// columns, each numbered by the node at its beginning.
    links: Vec<[usize; 2]>,
}

impl<'a> Tracer<'a> {
    fn new(grid: Grid<'a>, level: f64, closed: bool) -> Self {
        let border = if closed { 2 } else { 0 };
        let (columns, rows) = (grid.nx + border, grid.ny + border);
        Tracer { grid, level, closed, columns, rows, links: vec![[NONE; 2]; 2 * columns * rows] }
    }

    /// The value of a node; `None` outside and where it is not finite.
    fn value(&self, i: usize, j: usize) -> Option<f64> {
        let border = usize::from(self.closed);
        let (i, j) = (i.checked_sub(border)?, j.checked_sub(border)?);
        if i >= self.grid.nx || j >= self.grid.ny {
            return None;
        }
        self.grid.values.get(j * self.grid.nx + i).copied().filter(|v| v.is_finite())
    }

    fn place(&self, i: usize, j: usize) -> [f64; 2] {
        let border = usize::from(self.closed);
        let held = |k: usize, n: usize| k.saturating_sub(border).min(n.saturating_sub(1)) as f64;
        [held(i, self.grid.nx), held(j, self.grid.ny)]
    }

    fn trace(mut self) -> Vec<Polyline> {
        for j in 0..self.rows.saturating_sub(1) {
            for i in 0..self.columns.saturating_sub(1) {
                self.link_cell(i, j);
            }
        }
        let ends: Vec<usize> = (0..self.links.len())
            .filter(|e| self.links.get(*e).is_some_and(|l| l[0] != NONE && l[1] == NONE))
            .collect();
        let mut found: Vec<Polyline> = ends.into_iter().filter_map(|edge| self.follow(edge, false)).collect();
        for edge in 0..self.links.len() {
            found.extend(self.follow(edge, true));
        }
        found
    }

    /// Joins the crossings on the sides of one cell.
    fn link_cell(&mut self, i: usize, j: usize) {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.value(i, j));
        let all_finite = corners.iter().all(Option::is_some);
        if !self.closed && !all_finite {
            return;
        }
        let above = corners.map(|v| v.is_some_and(|v| v >= self.level));
        let in_columns = self.columns * self.rows;
        let node = j * self.columns + i;
        let (bottom, top) = (node, node + self.columns);
        let (left, right) = (in_columns + node, in_columns + node + 1);
        match above {
            [true, false, false, false] | [false, true, true, true] => self.link(left, bottom),
            [false, true, false, false] | [true, false, true, true] => self.link(bottom, right),
            [false, false, true, false] | [true, true, false, true] => self.link(right, top),
            [false, false, false, true] | [true, true, true, false] => self.link(top, left),
            [true, true, false, false] | [false, false, true, true] => self.link(left, right),
            [false, true, true, false] | [true, false, false, true] => self.link(bottom, top),
            [first, second, _, _] if first != second => {
                // A saddle: the mean decides which pair of corners is joined through the middle.
                let mean = corners.iter().flatten().map(|v| v / 4.0).sum::<f64>();
                let middle_above = all_finite && mean >= self.level;
                if first == middle_above {
                    self.link(bottom, right);
                    self.link(top, left);
                } else {
                    self.link(left, bottom);
                    self.link(right, top);
                }
            }
            _ => {} // all above or all below
        }
    }

    fn link(&mut self, a: usize, b: usize) {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(slot) = self.links.get_mut(from).and_then(|l| l.iter_mut().find(|n| **n == NONE)) {
                *slot = to;
            }
        }
    }

    /// Takes the line that begins at a crossing off the links.
    fn follow(&mut self, start: usize, closed: bool) -> Option<Polyline> {
        let mut points: Vec<[f64; 2]> = Vec::new();
        let mut edge = start;
        while let Some(links) = self.links.get_mut(edge) {
            let next = links[0];
            if next == NONE && points.is_empty() {
                return None;
            }
            *links = [NONE; 2];
            let point = self.crossing(edge);
            if points.last() != Some(&point) {
                points.push(point);
            }
            if next == NONE {
                break;
            }
            if let Some(back) = self.links.get_mut(next) {
                if back[0] == edge {
                    back[0] = back[1];
                }
                back[1] = NONE;
            }
            edge = next;
        }
        if closed && points.len() > 1 && points.first() == points.last() {
            points.pop();
        }
        (points.len() >= 2).then_some(Polyline { points, closed })
    }

    /// Where the level crosses an edge.
    fn crossing(&self, edge: usize) -> [f64; 2] {
        let in_columns = self.columns * self.rows;
        let (node, along_column) = if edge < in_columns { (edge, false) } else { (edge - in_columns, true) };
        let (i, j) = (node % self.columns, node / self.columns);
        let (i2, j2) = if along_column { (i, j + 1) } else { (i + 1, j) };
        let share = match (self.value(i, j), self.value(i2, j2)) {
            (Some(a), Some(b)) => ((self.level / 2.0 - a / 2.0) / (b / 2.0 - a / 2.0)).clamp(0.0, 1.0),
            (None, Some(_)) => 1.0,
            _ => 0.0,
        };
        let (from, to) = (self.place(i, j), self.place(i2, j2));
        [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of f on [−1, 1]² with n lines each way.
    fn sampled(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let coordinate = |k: usize| 2.0 * k as f64 / (n - 1) as f64 - 1.0;
        (0..n * n).map(|k| f(coordinate(k % n), coordinate(k / n))).collect()
    }

    fn to_unit(n: usize, line: &Polyline) -> Vec<[f64; 2]> {
        line.points.iter().map(|p| p.map(|v| 2.0 * v / (n - 1) as f64 - 1.0)).collect()
    }

    /// The signed-free area by the shoelace formula.
    fn area(points: &[[f64; 2]]) -> f64 {
        let next = points.iter().cycle().skip(1);
        points.iter().zip(next).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>().abs() / 2.0
    }

    #[test]
    fn a_bowl_has_one_closed_circle_per_level() {
        let n = 81;
        let values = sampled(n, |x, y| x * x + y * y);
        let spacing = 2.0 / (n - 1) as f64;
        for level in [0.1, 0.25, 0.5, 0.81] {
            let found = lines(Grid { values: &values, nx: n, ny: n }, level);
            assert_eq!(found.len(), 1, "level {level}");
            assert!(found[0].closed);
            let points = to_unit(n, &found[0]);
            assert!(points.len() > 40);
            for [x, y] in &points {
                // Linear interpolation of a curvature of 2: |f − level| ≤ spacing²/4.
                assert!((x * x + y * y - level).abs() <= spacing * spacing / 4.0 + 1e-12);
            }
            assert!((area(&points) - std::f64::consts::PI * level).abs() < 0.01);
        }
    }

    #[test]
    fn a_plane_has_straight_open_lines() {
        let n = 31;
        let values = sampled(n, |x, y| 0.3 * x + y);
        for level in [-0.5, 0.013, 0.4] {
            let found = lines(Grid { values: &values, nx: n, ny: n }, level);
            assert_eq!(found.len(), 1);
            assert!(!found[0].closed);
            let points = to_unit(n, &found[0]);
            assert!(points.iter().all(|[x, y]| (0.3 * x + y - level).abs() < 1e-12));
            let length: f64 = points.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).sum();
            assert!((length - 2.0 * 1.0_f64.hypot(0.3)).abs() < 1e-9, "{length}");
        }
    }

    #[test]
    fn a_hyperbola_has_two_branches() {
        let n = 40;
        let values = sampled(n, |x, y| x * y);
        let found = lines(Grid { values: &values, nx: n, ny: n }, 0.1);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|line| !line.closed));
    }

    #[test]
    fn areas_close_along_the_rim() {
        let n = 41;
        let values = sampled(n, |x, _| x);
        let grid = Grid { values: &values, nx: n, ny: n };
        for (level, share) in [(0.5, 0.25), (-0.5, 0.75), (-2.0, 1.0), (f64::MIN, 1.0)] {
            let found = area_above(grid, level);
            assert_eq!(found.len(), 1);
            assert!(found[0].closed);
            assert!((area(&to_unit(n, &found[0])) / 4.0 - share).abs() < 1e-9, "level {level}");
        }
        assert!(area_above(grid, 1.5).is_empty());
    }

    #[test]
    fn holes_and_bad_values_do_not_break_lines() {
        let n = 21;
        let mut values = sampled(n, |x, y| x * x + y * y);
        values[n * n / 2] = f64::NAN;
        values[3] = f64::INFINITY;
        let grid = Grid { values: &values, nx: n, ny: n };
        assert!(lines(grid, 0.5).iter().flat_map(|l| &l.points).flatten().all(|v| v.is_finite()));
        assert!(area_above(grid, 0.5).iter().all(|l| l.closed));
        let nothing = vec![f64::NAN; 9];
        assert!(lines(Grid { values: &nothing, nx: 3, ny: 3 }, 0.0).is_empty());
        assert!(area_above(Grid { values: &nothing, nx: 3, ny: 3 }, 0.0).is_empty());
    }

    #[test]
    fn a_saddle_joins_the_side_of_its_mean() {
        let joined = [2.0, -1.0, -1.0, 2.0]; // rows; opposite corners above, mean above 0
        assert_eq!(area_above(Grid { values: &joined, nx: 2, ny: 2 }, 0.0).len(), 1);
        let split = [1.0, -2.0, -2.0, 1.0];
        assert_eq!(area_above(Grid { values: &split, nx: 2, ny: 2 }, 0.0).len(), 2);
        let lines = lines(Grid { values: &split, nx: 2, ny: 2 }, 0.0);
        let near_first = |l: &Polyline| l.points.iter().all(|[x, y]| x + y < 1.0);
        assert_eq!(lines.iter().filter(|l| near_first(l)).count(), 1);
    }

    #[test]
    fn every_crossed_edge_is_used_once() {
        // A rough function with saddles: the total number of points equals the number of crossed edges.
        let n = 24;
        let values = sampled(n, |x, y| (9.0 * x).sin() * (7.0 * y).cos() + 0.01 * x);
        let above = |k: usize| values[k] >= 0.05;
        let crossed = (0..n * n)
            .map(|k| {
                let right = k % n + 1 < n && above(k) != above(k + 1);
                let up = k / n + 1 < n && above(k) != above(k + n);
                usize::from(right) + usize::from(up)
            })
            .sum::<usize>();
        let found = lines(Grid { values: &values, nx: n, ny: n }, 0.05);
        assert_eq!(found.iter().map(|l| l.points.len()).sum::<usize>(), crossed);
    }
}
