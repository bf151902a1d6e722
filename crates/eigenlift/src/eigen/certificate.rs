//! What the residuals prove about eigenvalues and eigenvectors, docs/theory (K13)–(K17).

use super::EigenPairs;
use super::spectrum::descending;
use serde::{Deserialize, Serialize};

/// A vector is called determined when the bound on its angle to the true one is below this.
const DETERMINED: f64 = 1e-2;
/// Eigenvalues closer than this share count as tied whatever the residuals.
const TIE: f64 = 1e-10;
/// Relative rounding of a sum of n² squares.
const SUM_ROUNDING: f64 = 1e-12;
/// Relative rounding of a few operations, with room.
const ROUND: f64 = 1e-14;
/// Rounding of a direct eigensolver in units of √n·u‖A‖, with room.
const DIRECT: f64 = 16.0;
/// Counts of eigenvalues that one certificate takes on each side.
const MOST_COUNTS: usize = 8;

/// Bounds between which an eigenvalue of K_c lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Interval {
    /// The interval that holds this one and a value: what lies in this one lies in it, too.
    fn with(self, value: f64) -> Self {
        Self { low: self.low.min(value), high: self.high.max(value) }
    }
}

/// What the bounds of a certificate rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grounds {
    /// Residuals of a fresh product with the matrix itself.
    #[default]
    Residuals,
    /// The trace that the landmarks leave out: λ̂ ≤ λ ≤ λ̂ + τ, (K35).
    ResidualTrace,
    /// Nothing is proved; the error of kernel values was estimated on sampled pairs of rows.
    SampledPairs,
    /// What frequent directions cut off: λ̂ ≤ nλ ≤ λ̂ + Δ, (P13).
    Sketch,
    /// Nothing is proved: landmarks of a kernel that is not known to be positive semi-definite.
    None,
}

/// What is known about all eigenvalues together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// What the bounds rest on.
    pub grounds: Grounds,
    /// So many leading components are proved to be the ones of their index: none was missed before them.
    pub n_certified: usize,
    /// No eigenvalue that the components do not account for is larger than this, (K16).
    pub missed: Option<f64>,
    /// τ: the trace that landmarks or a sketch leave out.
    pub residual_trace: Option<f64>,
    /// τ as a share of tr K, or of tr M₂.
    pub residual_share: Option<f64>,
    /// Δ: no eigenvalue exceeds that of the sketch by more, (P13).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
    /// Root mean square error of kernel values on sampled pairs, as a share of their root mean square.
    pub sampled_error: Option<f64>,
    /// Between these shares of the total variance lies what the best axes, as many as were kept, can hold. Where a kernel has
    /// negative eigenvalues, the variance is that of the repaired one.
    pub explained: Option<Interval>,
}

/// Sizes of K_c that bound what was missed.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'a> {
    /// tr(K_c).
    pub(crate) trace: f64,
    /// How far the trace may be off.
    pub(crate) trace_error: f64,
    /// ‖K_c‖²_F, when it is known: never below that of the matrix that was multiplied with.
    pub(crate) squared_norm: Option<f64>,
    /// Whether K_c is known to be positive semi-definite.
    pub(crate) valid: bool,
    /// Whether it can be shown that at most this many eigenvalues exceed a number, (K39).
    pub(crate) at_most: Option<&'a dyn Fn(f64, usize) -> bool>,
}

/// What features hold and what they leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftOut {
    /// tr(M₂): the centred trace that the features hold.
    pub(crate) held: f64,
    /// τ.
    pub(crate) residual_trace: f64,
    /// tr K.
    pub(crate) trace: f64,
    /// Number of features.
    pub(crate) n_features: usize,
}

/// What a sketch B holds of M₂ and how far it can be from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sketched {
    /// tr BᵀB.
    pub(crate) held: f64,
    /// tr M₂.
    pub(crate) trace: f64,
    /// Δ: M₂ − BᵀB ⪯ ΔI.
    pub(crate) slack: f64,
    /// Bound on what rounding does to singular values.
    pub(crate) rounding: f64,
}

/// Residuals of a fresh product and what follows from them; or, before such a product was made, what an approximation proves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// ‖K_c v − θv‖/|θ| for each component; empty before a product with the matrix itself was made.
    pub residuals: Vec<f64>,
    /// An eigenvalue of K_c lies in each interval: θ ± (‖K_c v − θv‖ + rounding), or what the grounds give. The first
    /// `n_certified` are the ones of their index; where intervals from residuals overlap, up to ‖R‖_F of all, (K37). Each
    /// holds the eigenvalue of the model, too. Empty when nothing is proved.
    pub intervals: Vec<Interval>,
    /// What is known about all eigenvalues together.
    pub bounds: Bounds,
    /// Bound on the rounding error of the product that the residuals come from.
    pub rounding: f64,
    /// Groups of components (counted from 0, ends included) that are determined only as a subspace: any rotation among
    /// them would do as well. A group that ends at the number of components is tied with components that were left out.
    pub ties: Vec<(usize, usize)>,
}

impl Certificate {
    /// From residuals (K13), with the rounding of the product added to each.
    pub(crate) fn new(pairs: &EigenPairs, rounding: f64) -> Self {
        let k = pairs.values.len();
        let radius: Vec<f64> = pairs.residuals.iter().map(|r| r + rounding).collect();
        let relative = |i: usize| pairs.residuals[i] / pairs.values[i].abs().max(f64::MIN_POSITIVE);
        let interval =
            |i: usize| Interval { low: pairs.values[i] - radius[i], high: pairs.values[i] + radius[i] };
        Self {
            residuals: (0..k).map(relative).collect(),
            intervals: (0..k).map(interval).collect(),
            rounding,
            ties: ties(&pairs.values, &radius, pairs.next),
            bounds: Bounds::default(),
        }
    }

    /// Adds what the sizes of the whole matrix prove, (K16), and what counting eigenvalues proves, (K39): how large a missed
    /// eigenvalue can be, how many components are certified as leading, and what the best axes can hold.
    pub(crate) fn bounded_by(mut self, pairs: &EigenPairs, whole: Whole<'_>) -> Self {
        let k = pairs.values.len();
        let joint = pairs.residuals.iter().map(|r| (r + self.rounding).powi(2)).sum::<f64>().sqrt();
        self.widen_overlapping(&pairs.values, joint);
        let sure = |value: &f64| (value.abs() - joint).max(0.0);
        let by_norm = whole.squared_norm.map(|square| {
            let known: f64 = pairs.values.iter().map(|v| sure(v).powi(2)).sum();
            // The computed norm differs from the true one by rounding, and its sum by a little more.
            let square = (square.sqrt() + self.rounding).powi(2) * (1.0 + SUM_ROUNDING);
            (square - known).max(0.0).sqrt() + self.rounding
        });
        let by_trace = whole.valid.then(|| {
            let left = whole.trace - pairs.values.iter().map(sure).sum::<f64>();
            (left + whole.trace_error).max(0.0) + self.rounding
        });
        let by_all = pairs.all.as_ref().map(|all| self.widen_to_spectrum(all, &pairs.values, joint));
        let mut missed = [by_norm, by_trace, by_all].into_iter().flatten().reduce(f64::min);
        let leading = leading(&pairs.values);
        let mut n_certified = match (&pairs.all, missed) {
            (Some(_), _) => k,
            (None, Some(missed)) => {
                (0..leading).take_while(|i| pairs.values[*i].abs() - joint > missed).count()
            }
            (None, None) => 0,
        };
        if let (true, Some(at_most)) = (n_certified < k, whole.at_most) {
            let (counted, bound) = self.count_leading(&pairs.values[..leading], joint, at_most);
            n_certified = n_certified.max(counted);
            missed = [missed, bound].into_iter().flatten().reduce(f64::min);
        }
        let most = |value: &f64| (value.abs() + joint).max(missed.unwrap_or(f64::INFINITY));
        let (low, high) =
            (pairs.values.iter().map(sure).sum::<f64>(), pairs.values.iter().map(most).sum::<f64>());
        let (least, largest) = (whole.trace - whole.trace_error, whole.trace + whole.trace_error);
        let defined = least > 0.0 && missed.is_some() && (whole.valid || pairs.all.is_some());
        self.bounds = Bounds {
            grounds: Grounds::Residuals,
            n_certified,
            missed,
            explained: defined.then(|| Interval {
                low: (low / largest * (1.0 - ROUND)).clamp(0.0, 1.0),
                high: share_at_most(high, least),
            }),
            ..Bounds::default()
        };
        self.holding(&pairs.values)
    }

    /// Widens each interval until it holds the eigenvalue that the model reports, which may come from another computation than the
    /// product that was proved from: what a wider interval states is as true.
    pub(crate) fn holding(mut self, reported: &[f64]) -> Self {
        for (interval, value) in self.intervals.iter_mut().zip(reported) {
            *interval = interval.with(*value);
        }
        self
    }

    /// A direct solver has seen every eigenvalue, each up to rounding: the intervals hold those of their index. Returns a bound
    /// of the next one.
    fn widen_to_spectrum(&mut self, all: &[f64], values: &[f64], joint: f64) -> f64 {
        let largest = all.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let error = self.rounding + DIRECT * (all.len() as f64).sqrt() * f64::EPSILON * largest;
        let by_value = values.iter().zip(all).all(|(v, a)| (v - a).abs() <= joint + error);
        let order = descending(all, !by_value);
        for (interval, at) in self.intervals.iter_mut().zip(&order) {
            interval.low = interval.low.min(all[*at] - error);
            interval.high = interval.high.max(all[*at] + error);
        }
        let next = order.get(values.len()).map_or(0.0, |at| all[*at]);
        (if by_value { next.max(0.0) } else { next.abs() }) + error
    }

    /// How many of these components, in descending order, are the ones of their index by counts of the eigenvalues above a
    /// number, (K39); and a bound of those that they do not account for.
    ///
    /// If at most i eigenvalues exceed a number below θ_i − ‖R‖_F, they are the partners of the first i components. Where a
    /// component is tied with the next one no such number exists; there at most i − 1 above θ_i + ‖R‖_F do.
    fn count_leading(
        &mut self,
        values: &[f64],
        joint: f64,
        at_most: &dyn Fn(f64, usize) -> bool,
    ) -> (usize, Option<f64>) {
        let below = |i: usize| values[i] - joint - f64::EPSILON * values[i].abs();
        let apart = |i: usize| values.get(i + 1).is_none_or(|next| next + joint < below(i));
        let gaps = (0..values.len()).rev().filter(|i| apart(*i) && below(*i) > 0.0).take(MOST_COUNTS);
        let mut found = (0, None);
        for i in gaps {
            let t = below(i);
            if at_most(t, i + 1) {
                found = (i + 1, Some(t));
                break;
            }
        }
        for i in (found.0..values.len()).take(MOST_COUNTS) {
            let high = values[i] + joint;
            if high <= 0.0 || !at_most(high, i) {
                break;
            }
            self.intervals[i] = Interval { low: values[i] - joint, high };
            found = (i + 1, found.1.map_or(Some(high), |bound: f64| Some(bound.min(high))));
        }
        found
    }

    /// Intervals that overlap may share one eigenvalue; within the joint residual every one has its own (Kahan).
    fn widen_overlapping(&mut self, values: &[f64], joint: f64) {
        let narrow = self.intervals.clone();
        let apart = |i: usize, j: usize| narrow[i].high < narrow[j].low || narrow[j].high < narrow[i].low;
        let disjoint = (0..narrow.len()).all(|i| (0..i).all(|j| apart(i, j)));
        if !disjoint {
            let widened = values.iter().map(|v| Interval { low: v - joint, high: v + joint });
            self.intervals = widened.collect();
        }
    }

    /// For eigenvalues λ̂ of an approximation that leaves out the trace τ: λ̂ ≤ λ ≤ λ̂ + τ by index (K35).
    pub(crate) fn of_approximation(values: &[f64], next: Option<f64>, left: LeftOut, rounding: f64) -> Self {
        let LeftOut { held: total, residual_trace, trace, n_features } = left;
        let interval =
            |value: &f64| Interval { low: value - rounding, high: value + residual_trace + rounding };
        let intervals: Vec<Interval> = values.iter().map(interval).collect();
        let known: f64 = values.iter().sum();
        // Rounding moves each eigenvalue, and the trace by as much for each feature.
        let (of_known, of_total) = (values.len() as f64 * rounding, n_features as f64 * rounding);
        // Leading sums move by at most τ together; the whole trace lies between tr(M₂) and tr(M₂) + τ.
        let explained = Interval {
            low: ((known - of_known) / (total + residual_trace + of_total) * (1.0 - ROUND)).max(0.0),
            high: share_at_most(known + residual_trace + of_known, total + residual_trace - of_total),
        };
        let radius: Vec<f64> = values.iter().map(|_| rounding).collect();
        Self {
            residuals: Vec::new(),
            rounding,
            ties: ties(values, &radius, next),
            bounds: Bounds {
                grounds: Grounds::ResidualTrace,
                n_certified: values.len(),
                missed: None,
                residual_trace: Some(residual_trace),
                residual_share: Some(residual_trace / trace),
                slack: None,
                sampled_error: None,
                explained: Some(explained),
            },
            intervals,
        }
        .holding(values)
    }

    /// For eigenvalues λ̂ of BᵀB, where 0 ⪯ M₂ − BᵀB ⪯ ΔI: λ̂ ≤ nλ ≤ λ̂ + Δ by index, (P13). The leading k move together by at most
    /// min(kΔ, τ), τ = tr M₂ − tr BᵀB (Ky Fan), and a vector whose residual is at most Δ/2 by (K15).
    pub(crate) fn of_sketch(values: &[f64], next: Option<f64>, sketched: Sketched) -> Self {
        let Sketched { held, trace, slack, rounding } = sketched;
        let low = |value: f64| (value.max(0.0).sqrt() - rounding).max(0.0).powi(2);
        let high = |value: f64| ((value.max(0.0) + slack).sqrt() + rounding).powi(2);
        let intervals: Vec<Interval> =
            values.iter().map(|value| Interval { low: low(*value), high: high(*value) }).collect();
        let left = (trace - held).max(0.0);
        let together = (left + 2.0 * SUM_ROUNDING * trace).min(values.len() as f64 * slack);
        let widened: f64 = values.iter().map(|value| high(*value) - value - slack).sum();
        let share = |sum: f64| (sum / trace).clamp(0.0, 1.0);
        let on_values = high(values.first().copied().unwrap_or(0.0)) - values.first().unwrap_or(&0.0) - slack;
        Self {
            residuals: Vec::new(),
            rounding: on_values,
            ties: ties(values, &vec![0.5 * slack + on_values; values.len()], next),
            bounds: Bounds {
                grounds: Grounds::Sketch,
                n_certified: values.len(),
                missed: Some(high(next.unwrap_or(0.0))),
                residual_trace: Some(left),
                residual_share: Some(left / trace),
                slack: Some(slack),
                sampled_error: None,
                explained: Some(Interval {
                    low: share(intervals.iter().map(|i| i.low).sum()),
                    high: share(values.iter().sum::<f64>() + together + widened),
                }),
            },
            intervals,
        }
        .holding(values)
    }

    /// For random features: nothing is proved, the error of kernel values on sampled pairs is all that is known.
    pub(crate) fn of_sampled_pairs(sampled_error: f64) -> Self {
        let bounds = Bounds {
            grounds: Grounds::SampledPairs,
            sampled_error: Some(sampled_error),
            ..Bounds::default()
        };
        Self { residuals: Vec::new(), intervals: Vec::new(), bounds, rounding: 0.0, ties: Vec::new() }
    }

    /// For landmarks of a kernel that is not known to be positive semi-definite: nothing is proved.
    pub(crate) fn of_nothing() -> Self {
        let bounds = Bounds { grounds: Grounds::None, ..Bounds::default() };
        Self { residuals: Vec::new(), intervals: Vec::new(), bounds, rounding: 0.0, ties: Vec::new() }
    }

    /// The worst relative residual; 0 when none was computed.
    pub fn worst_residual(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }

    /// Keeps the first `k` components.
    pub(crate) fn truncate(&mut self, k: usize) {
        self.residuals.truncate(k);
        self.intervals.truncate(k);
        self.bounds.n_certified = self.bounds.n_certified.min(k);
        self.ties.retain(|(first, _)| *first < k);
    }

    /// Keeps the first `k` components of more: the others are now among what the components do not account for.
    pub(crate) fn keep(&mut self, k: usize) {
        let dropped = self.intervals.iter().skip(k).map(|i| i.high).reduce(f64::max);
        if let (Some(missed), Some(dropped)) = (&mut self.bounds.missed, dropped) {
            *missed = missed.max(dropped);
        }
        if dropped.is_some() {
            // Known for as many axes as there were.
            self.bounds.explained = None;
        }
        self.truncate(k);
        self.ties.iter_mut().for_each(|(_, last)| *last = (*last).min(k));
    }

    /// The ties in words, components counted from 1.
    pub fn tie_sentences(&self) -> Vec<String> {
        let k = self.residuals.len().max(self.intervals.len());
        let sentence = |(first, last): &(usize, usize)| {
            if *last >= k {
                let rest =
                    "tied with components that were left out: keep more, or read nothing into single axes";
                if *first + 1 == k {
                    format!("component {k} is {rest}")
                } else {
                    format!("components {} to {k} are {rest}", first + 1)
                }
            } else {
                format!("components {} to {} are determined only as a subspace", first + 1, last + 1)
            }
        };
        self.ties.iter().map(sentence).collect()
    }
}

/// A share that rounding has not made too small.
fn share_at_most(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole * (1.0 + ROUND)).clamp(0.0, 1.0) } else { 1.0 }
}

/// How many of the first components are in descending order of magnitude, and none of the later ones is larger.
fn leading(values: &[f64]) -> usize {
    let leads = |i: usize| values[i + 1..].iter().all(|later| later.abs() <= values[i].abs());
    (0..values.len()).take_while(|i| leads(*i)).count()
}

/// Runs of neighbours whose gap is too small for the angle bound ρ/gap (K15).
fn ties(values: &[f64], radius: &[f64], next: Option<f64>) -> Vec<(usize, usize)> {
    let k = values.len();
    let tied = |i: usize| -> bool {
        let (upper, other) = match values.get(i + 1) {
            Some(lower) => (values[i], Some(*lower)),
            None => (values[i], next),
        };
        let Some(lower) = other else { return false };
        let worst = radius[i].max(radius.get(i + 1).copied().unwrap_or(0.0));
        let gap = upper.abs() - lower.abs();
        gap <= (worst / DETERMINED).max(TIE * upper.abs())
    };
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for i in (0..k).filter(|i| tied(*i)) {
        match groups.last_mut() {
            Some((_, last)) if *last == i => *last = i + 1,
            _ => groups.push((i, i + 1)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::SolveStats;
    use crate::matrix::Matrix;

    fn pairs(values: &[f64], next: Option<f64>) -> EigenPairs {
        EigenPairs {
            values: values.to_vec(),
            vectors: Matrix::zeros(3, values.len()),
            residuals: vec![1e-8; values.len()],
            next,
            all: None,
            basis: None,
            stats: SolveStats::default(),
        }
    }

    fn sized(trace: f64, squared_norm: f64) -> Whole<'static> {
        Whole { trace, trace_error: 0.0, squared_norm: Some(squared_norm), valid: true, at_most: None }
    }

    #[test]
    fn close_eigenvalues_are_reported_as_a_subspace() {
        let c = Certificate::new(&pairs(&[5.0, 3.0, 3.0 - 1e-9, 1.0, 0.5], Some(0.1)), 0.0);
        assert_eq!(c.ties, [(1, 2)]);
        assert_eq!(c.tie_sentences(), ["components 2 to 3 are determined only as a subspace"]);
        assert!((c.intervals[0].high - c.intervals[0].low - 2e-8).abs() < 1e-15);
        assert!((c.residuals[0] - 2e-9).abs() < 1e-24);
    }

    // K_c = diag(2, 1.9, 0) with u₁ = e₂ (θ = 1.9, ρ = 0) and u₂ = √.94·e₁ + √.06·e₃ (θ = 1.88, ρ = 2√(.94·.06)): the first
    // residual alone would say that the largest eigenvalue is 1.9.
    #[test]
    fn intervals_that_overlap_are_as_wide_as_the_joint_residual() {
        let rho = 2.0 * (0.94f64 * 0.06).sqrt();
        let pairs = EigenPairs { residuals: vec![0.0, rho], ..pairs(&[1.9, 1.88], None) };
        let whole = sized(3.9, 4.0 + 1.9 * 1.9);
        let c = Certificate::new(&pairs, 0.0).bounded_by(&pairs, whole);
        assert!(c.intervals[0].low <= 2.0 && 2.0 <= c.intervals[0].high, "{:?}", c.intervals);
        // Components out of order are not certified as leading.
        let swapped = EigenPairs { values: vec![196.02, 200.0], residuals: vec![0.0, 0.0], ..pairs };
        let whole = sized(396.02, 200.0 * 200.0 + 196.02 * 196.02);
        let c = Certificate::new(&swapped, 0.0).bounded_by(&swapped, whole);
        assert_eq!(c.bounds.n_certified, 0);
    }

    #[test]
    fn a_tie_with_what_was_left_out_is_said() {
        let c = Certificate::new(&pairs(&[5.0, 3.0, 1.0], Some(1.0)), 0.0);
        assert_eq!(c.ties, [(2, 3)]);
        assert!(c.tie_sentences()[0].starts_with("component 3 is tied with components that were left out"));
        assert!(Certificate::new(&pairs(&[5.0, 3.0, 1.0], None), 0.0).ties.is_empty());
    }
}
