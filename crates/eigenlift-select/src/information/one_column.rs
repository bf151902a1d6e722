//! Information of one continuous column and classes.

use super::ball::{Around, Ball};
use super::cells::Cells;
use super::line::{Line, both_around, entropy_of_sorted};
use super::plug_in::{entropy, sizes};
use super::{Estimate, estimate};
use eigenlift::stats::Digamma;

/// A class: the places of its rows on the line, and their values.
struct Class<'a> {
    places: &'a [u32],
    values: &'a [f64],
}

/// I of a continuous column and classes, (S4) with ties by (S5), within (S6).
///
/// `values` are sorted and `codes` are the classes of the rows at the same places. Rows alone in their class are left out.
///
/// Cost: O(n log n) at most and O(n) for few classes: the neighbours are a window that slides over each class, and only the rows
/// between two of a class are searched.
pub(super) fn information(
    (values, codes, n_codes): (&[f64], &[u32], usize),
    k: usize,
    psi: &Digamma,
) -> Estimate {
    let counts = sizes(codes, n_codes);
    if counts.contains(&1) {
        let kept = || (0..values.len()).filter(|i| counts[codes[*i] as usize] > 1);
        let (values, codes): (Vec<f64>, Vec<u32>) = kept().map(|i| (values[i], codes[i])).unzip();
        let counts: Vec<u32> = counts.into_iter().map(|m| if m > 1 { m } else { 0 }).collect();
        return of_kept((&values, &codes), &counts, k, psi);
    }
    of_kept((values, codes), &counts, k, psi)
}

/// The same of a column that is not sorted.
pub(super) fn of_axis(axis: &[f64], cells: &Cells, k: usize) -> Estimate {
    let line = Line::of_exact(axis);
    let codes: Vec<u32> = line.order.iter().map(|i| cells.of_rows[*i as usize]).collect();
    information((&line.values, &codes, cells.count), k, &Digamma::up_to(axis.len()))
}

fn of_kept((values, codes): (&[f64], &[u32]), counts: &[u32], k: usize, psi: &Digamma) -> Estimate {
    let n = values.len();
    let mut ends: Vec<usize> = vec![0; counts.len()];
    let mut starts = Vec::with_capacity(counts.len() + 1);
    let mut total = 0;
    for (count, end) in counts.iter().zip(&mut ends) {
        starts.push(total);
        *end = total;
        total += *count as usize;
    }
    starts.push(total);
    let (mut places, mut of_class) = (vec![0u32; n], vec![0.0; n]);
    for (i, code) in codes.iter().enumerate() {
        let end = &mut ends[*code as usize];
        (places[*end], of_class[*end]) = (i as u32, values[i]);
        *end += 1;
    }
    let mut terms = Vec::with_capacity(n);
    for range in starts.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| range.len() > 1) {
        let class = Class { places: &places[range.clone()], values: &of_class[range] };
        class.terms(values, k, psi, &mut terms);
    }
    estimate(&terms, entropy_of_sorted(values).min(entropy(counts)))
}

impl Class<'_> {
    /// c_i of its rows.
    fn terms(&self, all: &[f64], k: usize, psi: &Digamma, terms: &mut Vec<f64>) {
        let (n, size) = (all.len(), self.values.len());
        let k = k.min(size - 1);
        let same = psi.at(k) + psi.at(n) - psi.at(size);
        let of_class = Around { within: size as u32, at: 0 };
        windows(self.values, k, |i, window| {
            if !window.tied {
                return terms.push(same - psi.at_number(self.nearer(all, i, &window)));
            }
            let ball = window.ball(self.values, i, k);
            let ball = Ball { at_sides: [ball.at, 0], ..ball };
            let of_all = both_around(all, self.places[i] as usize, (window.radius, 1.0));
            terms.push(ball.term([of_all, of_class], n, psi));
        });
    }

    /// Rows of any class strictly nearer to row i of this one than the radius, itself counted, and half of those of other classes
    /// exactly at it, (S5). Rows of this class beside the window are farther, so the ends lie between them.
    fn nearer(&self, all: &[f64], i: usize, window: &Window) -> f64 {
        let (x, place) = (self.values[i], self.places[i] as usize);
        let Window { first, last, radius, .. } = *window;
        let from = if first > 0 { self.places[first - 1] as usize } else { 0 };
        let to = self.places.get(last + 1).map_or(all.len(), |at| *at as usize);
        let low = from + all[from..place].partition_point(|y| x - y >= radius);
        let high = place + all[place..to].partition_point(|y| y - x < radius);
        let (mut lowest, mut highest) = (low, high);
        if low > from && x - all[low - 1] == radius {
            lowest = from + all[from..low].partition_point(|y| x - y > radius);
        }
        if high < to && all[high] - x == radius {
            highest = high + all[high..to].partition_point(|y| y - x <= radius);
        }
        // One of those at the radius is the k-th neighbour itself.
        (high - low) as f64 + 0.5 * ((low - lowest) + (highest - high)).saturating_sub(1) as f64
    }
}

/// The nearest rows of a row on a line.
pub(super) struct Window {
    first: usize,
    last: usize,
    /// Distance to the farthest of them.
    pub(super) radius: f64,
    /// Whether more than one row, itself not counted, is exactly at the radius, or it is 0.
    pub(super) tied: bool,
}

impl Window {
    /// The rows around row i of these; the sides are left open.
    pub(super) fn ball(&self, values: &[f64], i: usize, k: usize) -> Ball {
        let around = both_around(values, i, (self.radius, 1.0));
        let within = if self.radius == 0.0 { around.within + around.at } else { around.within - 1 };
        Ball { radius: self.radius, k: k as u32, within, at: around.at, at_sides: [0, 0] }
    }
}

/// The k nearest others of each of some sorted values; there must be more than k.
pub(super) fn windows(values: &[f64], k: usize, mut see: impl FnMut(usize, Window)) {
    let mut first = 0;
    for (i, x) in values.iter().enumerate() {
        let slides = |first: usize| {
            values.get(first + k + 1).is_some_and(|next| first + k < i || next - x < x - values[first])
        };
        while slides(first) {
            first += 1;
        }
        let last = first + k;
        let radius = (x - values[first]).max(values[last] - x);
        let at_radius =
            |at: Option<usize>| at.and_then(|at| values.get(at)).is_some_and(|y| (y - x).abs() == radius);
        // The two outermost on either side and their neighbours beyond: two at the radius are among them if there are two.
        let ends = [first.checked_sub(1), Some(first), Some(first + 1), Some(last), Some(last + 1)];
        let inner = (last > first + 1).then(|| last - 1).filter(|at| *at != first + 1);
        let count = ends.into_iter().chain([inner]).filter(|at| at_radius(*at)).count();
        let twice = usize::from(k == 1 && at_radius(Some(last)));
        see(i, Window { first, last, radius, tied: radius == 0.0 || count > 1 + twice });
    }
}
