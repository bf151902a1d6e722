//! Which samples may be neighbours, from inexact squares of distances.

use super::Reach;
use crate::real::Real;
use crate::simd::Vectorised;
use std::cmp::Ordering;

/// Scores looked at together.
const STRIP: usize = 64;

/// How far roundings reach.
///
/// Numerics: with s = ‖x̂‖² + ‖ŷ‖² − 2⟨x̂, ŷ⟩ from a product of depth w in precision T, and the square that belongs to
/// `Metric::distance` in double precision, |s − s′| ≤ e(x̂) + e(ŷ), e(x̂) = 2·((w + 16)·u_T + (w + 16)·u₆₄)·‖x̂‖² + 10⁻³⁰: the
/// sums have w + 1 terms of a total size of at most 2‖x̂‖² + 2‖ŷ‖²; 16 covers the roundings of x̂, of ‖ŷ‖² − e(ŷ), of bounds and
/// of the root; the last term covers underflow, since the longest row has a length of about 1.
pub(super) struct Gauge {
    relative: f64,
}

impl Gauge {
    pub(super) fn new<T: Real>(width: usize) -> Self {
        Self { relative: 2.0 * (width as f64 + 16.0) * (T::UNIT_ROUNDOFF + f64::UNIT_ROUNDOFF) }
    }

    /// e for a row of this square.
    pub(super) fn allowance(&self, square: f64) -> f64 {
        self.relative * square + 1e-30
    }
}

/// The samples that may be neighbours of one row. A sample's score is g = ‖ŷ‖² − e(ŷ) − 2⟨x̂, ŷ⟩, so that
/// g + ‖x̂‖² − e(x̂) ≤ s′ ≤ g + 2e(ŷ) + ‖x̂‖² + e(x̂).
///
/// Why never sorted: of n samples in no order only about k·ln(n/k) come through; they are cut when the buffer is full.
pub(super) struct Sieve<T> {
    found: Vec<(T, T, u32)>,
    /// 0 for a radius, which is never cut.
    k: usize,
    room: usize,
    most: T,
    /// 2e(x̂).
    slack: T,
    scratch: Vec<T>,
}

impl<T: Real> Sieve<T> {
    /// For a row of square ‖x̂‖², and for a radius its square.
    pub(super) fn new(reach: Reach, gauge: &Gauge, square: f64, radius: Option<f64>) -> Self {
        let k = if let Reach::Nearest(k) = reach { k } else { 0 };
        let allowance = gauge.allowance(square);
        // The radius is widened by more than its rounding to T.
        let most = radius.map_or(f64::INFINITY, |r| r * (1.0 + 8.0 * T::UNIT_ROUNDOFF) - square + allowance);
        let (most, slack) = (T::of(most), T::of(2.0 * allowance));
        Self { found: Vec::new(), k, room: 2 * k + 64, most, slack, scratch: Vec::new() }
    }

    /// Scores above this are of no use.
    pub(super) fn most(&self) -> T {
        self.most
    }

    pub(super) fn offer(&mut self, sample: u32, score: T, allowance: T) {
        if score > self.most {
            return;
        }
        self.found.push((score, score + allowance + allowance, sample));
        if self.k > 0 && self.found.len() >= self.room {
            self.tighten();
            self.room = self.room.max(2 * self.found.len());
        }
    }

    /// Drops what k others are nearer than, whatever the roundings.
    pub(super) fn tighten(&mut self) {
        if self.k == 0 || self.found.len() <= self.k {
            return;
        }
        self.scratch.clear();
        self.scratch.extend(self.found.iter().map(|found| found.1));
        let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(Ordering::Equal);
        let (_, last, _) = self.scratch.select_nth_unstable_by(self.k - 1, order);
        let most = *last + self.slack;
        self.most = most;
        self.found.retain(|found| found.0 <= most);
    }

    /// Whether roundings hide so many samples that more digits are worth their price.
    pub(super) fn is_clogged(&self) -> bool {
        self.k > 0 && self.room > 8 * self.k + 256
    }

    pub(super) fn candidates(&self) -> impl Iterator<Item = u32> + '_ {
        self.found.iter().map(|found| found.2)
    }
}

/// Collects where scores are at most `most`.
pub(super) struct Scan<'a, T> {
    pub(super) scores: &'a [T],
    pub(super) most: T,
    pub(super) hits: &'a mut Vec<u32>,
}

impl<T: Real> Vectorised for Scan<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let strips = self.scores.chunks_exact(STRIP);
        let rest = strips.remainder();
        for (strip, scores) in strips.enumerate() {
            // Why lane by lane: one vector holds the least of every eighth score.
            let mut least = [scores[0]; 8];
            for part in scores.chunks_exact(8) {
                least.iter_mut().zip(part).for_each(|(least, score)| *least = score.smaller(*least));
            }
            if least.iter().fold(false, |any, score| any | (*score <= self.most)) {
                collect(scores, self.most, strip * STRIP, self.hits);
            }
        }
        collect(rest, self.most, self.scores.len() - rest.len(), self.hits);
    }
}

#[inline(always)]
fn collect<T: Real>(scores: &[T], most: T, from: usize, hits: &mut Vec<u32>) {
    for (at, score) in scores.iter().enumerate() {
        if *score <= most {
            hits.push((from + at) as u32);
        }
    }
}
