//! Information of two continuous columns.

use super::cells::Cells;
use super::line::{Line, both_around, weight};
use super::mixture::{self, Axis, Side};
use super::tree::Tree;
use super::{Estimate, estimate};
use eigenlift::stats::Digamma;

/// Marks for each value of a column.
const MARKS: usize = 2;
/// Values looked at from a mark on before a search begins.
const AHEAD: usize = 4;

/// A sorted column in the plane: where its rows stand in it, and where values are to be looked for.
pub(super) struct Ruled {
    pub(super) values: Vec<f64>,
    /// The row of each place.
    pub(super) order: Vec<u32>,
    /// The place of each row.
    places: Vec<u32>,
    weight: f64,
    /// One over it.
    deviation: f64,
    /// Places of the first values not below equally spaced marks.
    marks: Vec<u32>,
    low: f64,
    per_unit: f64,
    entropy: f64,
}

impl Ruled {
    pub(super) fn new(line: Line) -> Self {
        let n = line.values.len();
        let mut places = vec![0; n];
        line.order.iter().zip(0..).for_each(|(row, place)| places[*row as usize] = place);
        let (low, high) =
            (line.values.first().copied().unwrap_or(0.0), line.values.last().copied().unwrap_or(0.0));
        let per_unit = if high > low { (MARKS * n) as f64 / (high - low) } else { 0.0 };
        let weight = weight(&line.values);
        let mut ruled = Self {
            weight,
            deviation: 1.0 / weight,
            entropy: line.entropy(),
            values: line.values,
            order: line.order,
            places,
            marks: vec![0; MARKS * n + 1],
            low,
            per_unit,
        };
        let mut mark = 0;
        for (place, value) in ruled.values.iter().enumerate() {
            let to = ruled.mark(*value);
            while mark <= to {
                ruled.marks[mark] = place as u32;
                mark += 1;
            }
        }
        ruled.marks[mark..].fill(n as u32);
        ruled
    }

    /// The column by itself where `order` says which row each place belongs to.
    fn side(&self, order: &[u32]) -> Side {
        let mut values = vec![0.0; order.len()];
        order.iter().zip(&self.values).for_each(|(row, value)| values[*row as usize] = *value);
        Side { cells: Cells::one(order.len()), axes: vec![Axis { values, weight: self.weight }] }
    }

    /// The mark at or below a value.
    fn mark(&self, value: f64) -> usize {
        (((value - self.low) * self.per_unit) as usize).min(self.marks.len() - 1)
    }

    /// Rows strictly nearer than the radius to that at a place, itself counted, and rows exactly at it, of which two are enough.
    fn nearer(&self, at: usize, radius: f64) -> (usize, usize) {
        let x = self.values[at];
        let reach = radius * self.deviation;
        let low = self.edge(x - reach, |y| (x - y) * self.weight >= radius);
        let high = self.edge(x + reach, |y| (y - x) * self.weight < radius);
        let is_at = |at: Option<usize>| {
            usize::from(
                at.and_then(|at| self.values.get(at)).is_some_and(|y| (y - x).abs() * self.weight == radius),
            )
        };
        let below = [low.checked_sub(1), low.checked_sub(2)].map(is_at);
        let above = [Some(high), Some(high + 1)].map(is_at);
        (high - low, below[0] + above[0] + below[0] * below[1] + above[0] * above[1])
    }

    /// How many values hold, which all stand first and end near `value`.
    #[inline]
    fn edge(&self, value: f64, holds: impl Fn(f64) -> bool) -> usize {
        let guess = self.marks[self.mark(value)] as usize;
        // Why: a sum instead of a search has no branch to be guessed wrong.
        if let Some(ahead) = self.values.get(guess..guess + AHEAD) {
            let found = ahead.iter().map(|y| usize::from(holds(*y))).sum::<usize>();
            if found < AHEAD && (guess == 0 || holds(self.values[guess - 1])) {
                return guess + found;
            }
        }
        self.values.partition_point(|y| holds(*y))
    }
}

/// The plane cut along x into strips, each in the order of y.
///
/// Cost: a strip is about as wide as the k-th neighbour is far, so that a search looks at a few rows of two or three strips.
struct Strips {
    /// Where each begins and the last ends.
    starts: Vec<u32>,
    /// The strip of each place along x.
    of_places: Vec<u32>,
    /// x and y of the rows.
    rows: Vec<[f64; 2]>,
    /// Where y stands in each strip.
    cursors: Vec<u32>,
}

impl Strips {
    fn new(x: &Ruled, (y, order): (&Ruled, &[u32]), k: usize) -> Self {
        let n = x.values.len();
        let size = ((n * (k + 1)) as f64).sqrt().ceil() as usize;
        let (mut starts, mut of_places) = (vec![0u32], Vec::with_capacity(n));
        for place in 0..n {
            // Why: equal values stay together, or strips without width would be many.
            let full = place - starts[starts.len() - 1] as usize >= size;
            if full && x.values[place] > x.values[place - 1] {
                starts.push(place as u32);
            }
            of_places.push(starts.len() as u32 - 1);
        }
        let mut cursors = starts.clone();
        let mut rows = vec![[0.0; 2]; n];
        for (row, value) in order.iter().zip(&y.values) {
            let place = x.places[*row as usize] as usize;
            let cursor = &mut cursors[of_places[place] as usize];
            rows[*cursor as usize] = [x.values[place], *value];
            *cursor += 1;
        }
        cursors.copy_from_slice(&starts);
        starts.push(n as u32);
        Self { starts, of_places, rows, cursors }
    }

    /// Puts the distances to the nearest rows in order; the row itself stands at the cursor of its strip. The cursor moves on.
    fn nearest<const K: usize>(&mut self, (x, place): (&Ruled, usize), weights: [f64; 2]) -> [f64; K] {
        let mut nearest = [f64::INFINITY; K];
        let own = self.of_places[place] as usize;
        let cursor = self.cursors[own] as usize;
        let at = self.rows[cursor];
        self.scan(own, (cursor, cursor + 1), (at, weights), &mut nearest);
        for strip in (0..own).rev() {
            if (at[0] - x.values[self.starts[strip + 1] as usize - 1]) * weights[0] >= nearest[K - 1] {
                break;
            }
            let cursor = self.cursors[strip] as usize;
            self.scan(strip, (cursor, cursor), (at, weights), &mut nearest);
        }
        for strip in own + 1..self.cursors.len() {
            if (x.values[self.starts[strip] as usize] - at[0]) * weights[0] >= nearest[K - 1] {
                break;
            }
            let cursor = self.cursors[strip] as usize;
            self.scan(strip, (cursor, cursor), (at, weights), &mut nearest);
        }
        self.cursors[own] += 1;
        nearest
    }

    /// Looks at the rows of a strip, those of less y before one place and those of more from another.
    #[inline]
    fn scan<const K: usize>(
        &self,
        strip: usize,
        (before, from): (usize, usize),
        (at, weights): ([f64; 2], [f64; 2]),
        nearest: &mut [f64; K],
    ) {
        let (start, end) = (self.starts[strip] as usize, self.starts[strip + 1] as usize);
        let mut see = |row: &[f64; 2]| {
            let up = (row[1] - at[1]).abs() * weights[1];
            let near = up < nearest[K - 1];
            if near {
                let aside = (row[0] - at[0]).abs() * weights[0];
                put(nearest, if aside > up { aside } else { up });
            }
            near
        };
        let _ = self.rows[from..end].iter().all(&mut see);
        let _ = self.rows[start..before].iter().rev().all(&mut see);
    }
}

/// Puts a distance among the nearest; the farthest falls out.
#[inline(always)]
fn put<const K: usize>(nearest: &mut [f64; K], distance: f64) {
    let mut carried = distance;
    for kept in nearest {
        let (less, more) = if carried < *kept { (carried, *kept) } else { (*kept, carried) };
        (*kept, carried) = (less, more);
    }
}

/// I of two columns that are not sorted.
pub(super) fn of_axes(x: &Axis, y: &Axis, k: usize) -> Estimate {
    let ruled = |axis: &Axis| Ruled::new(Line::of_exact(&axis.values));
    let (x, y) = (ruled(x), ruled(y));
    information(&x, (&y, &y.order), k, &Digamma::up_to(x.values.len()))
}

/// I of two continuous columns, (S4) with ties by (S5), within (S6). `order` says which row each place of y belongs to.
///
/// Cost: O(n log n) for columns without many ties, O(n·√(k·n)) at most, and that of a k-d tree where rows are tied.
pub(super) fn information(x: &Ruled, y: (&Ruled, &[u32]), k: usize, psi: &Digamma) -> Estimate {
    match k.min(x.values.len().saturating_sub(1)) {
        0 => Estimate::default(),
        k if k < 4 => with_most::<4>(x, y, k, psi),
        k if k < 8 => with_most::<8>(x, y, k, psi),
        k if k < 16 => with_most::<16>(x, y, k, psi),
        k => mixture::information(&x.side(&x.order), &y.0.side(y.1), k),
    }
}

/// The same with one neighbour more than k at most K.
fn with_most<const K: usize>(x: &Ruled, (y, order): (&Ruled, &[u32]), k: usize, psi: &Digamma) -> Estimate {
    let n = x.values.len();
    let weights = [x.weight, y.weight];
    let mut strips = Strips::new(x, (y, order), k);
    let same = psi.at(k) + psi.at(n);
    let (mut terms, mut tied) = (Vec::with_capacity(n), Vec::new());
    for (of_y, row) in order.iter().enumerate() {
        let of_x = x.places[*row as usize] as usize;
        let nearest: [f64; K] = strips.nearest((x, of_x), weights);
        let radius = nearest[k - 1];
        let mut lone = radius > 0.0 && nearest[k] > radius && (k < 2 || nearest[k - 2] < radius);
        let mut term = 0.0;
        if lone {
            let ((a, at_a), (b, at_b)) = (x.nearer(of_x, radius), y.nearer(of_y, radius));
            // The k-th neighbour is the one row at the radius.
            lone = at_a + at_b == 1;
            term = same - (psi.at(a) + psi.at(b));
        }
        if !lone {
            tied.push((of_y, radius));
        }
        terms.push(term);
    }
    if !tied.is_empty() {
        of_ties(x, (y, order), (&tied, k), (psi, &mut terms));
    }
    estimate(&terms, x.entropy.min(y.entropy))
}

/// Terms of rows with ties, (S5).
fn of_ties(
    x: &Ruled,
    (y, order): (&Ruled, &[u32]),
    (tied, k): (&[(usize, f64)], usize),
    (psi, terms): (&Digamma, &mut [f64]),
) {
    let of_x = |row: u32| x.places[row as usize] as usize;
    let rows: Vec<[f64; 2]> =
        order.iter().zip(&y.values).map(|(row, value)| [x.values[of_x(*row)], *value]).collect();
    let tree = Tree::new(&rows, [x.weight, y.weight]);
    let mut places = vec![0; rows.len()];
    tree.order.iter().enumerate().for_each(|(place, of_y)| places[*of_y as usize] = place);
    for (of_y, radius) in tied {
        let ball = tree.ball(places[*of_y], (*radius, k), 1);
        let a = both_around(&x.values, of_x(order[*of_y]), (*radius, x.weight));
        let b = both_around(&y.values, *of_y, (*radius, y.weight));
        terms[*of_y] = ball.term([a, b], order.len(), psi);
    }
}
