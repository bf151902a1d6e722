//! The estimator against a slow and obvious one, and against what is known.

use super::*;
use crate::kinds::codes;
use eigenlift::random::{Purpose, Stream};
use std::f64::consts::LN_2;

/// A column that owns its values.
#[derive(Clone, Debug)]
enum Owned {
    Discrete(Vec<u32>, usize),
    Continuous(Vec<f64>),
}

impl Owned {
    fn seen(&self) -> Variable<'_> {
        match self {
            Self::Discrete(codes, count) => Variable::Discrete(codes, *count),
            Self::Continuous(values) => Variable::Continuous(values),
        }
    }

    fn keep(&self, rows: &[usize]) -> Self {
        match self {
            Self::Discrete(codes, count) => Self::Discrete(rows.iter().map(|i| codes[*i]).collect(), *count),
            Self::Continuous(values) => Self::Continuous(rows.iter().map(|i| values[*i]).collect()),
        }
    }

    /// Unit standard deviation as a factor of differences.
    fn weight(&self) -> f64 {
        let Self::Continuous(x) = self else { return 1.0 };
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64;
        if variance > 0.0 { 1.0 / variance.sqrt() } else { 1.0 }
    }

    fn key(&self, i: usize) -> u64 {
        match self {
            Self::Discrete(codes, _) => u64::from(codes[i]),
            Self::Continuous(values) => (values[i] + 0.0).to_bits(),
        }
    }
}

/// Distance of two rows: none where discrete values differ.
fn apart(columns: &[(Owned, f64)], i: usize, j: usize) -> Option<f64> {
    let mut most = 0.0f64;
    for (column, weight) in columns {
        match column {
            Owned::Discrete(codes, _) if codes[i] != codes[j] => return None,
            Owned::Discrete(..) => {}
            Owned::Continuous(x) => most = most.max((x[i] - x[j]).abs() * weight),
        }
    }
    Some(most)
}

fn digamma(n: usize) -> f64 {
    -0.577_215_664_901_532_9 + (1..n).rev().map(|m| 1.0 / m as f64).sum::<f64>()
}

/// By ψ(x) = ψ(x + 1) − 1/x and the first terms of the asymptotic series at 1000 and more: wrong by less than 1e-14.
fn digamma_of(x: f64) -> f64 {
    if x < 1000.0 { digamma_of(x + 1.0) - 1.0 / x } else { x.ln() - 0.5 / x - 1.0 / (12.0 * x * x) }
}

fn plain_entropy(side: &[(Owned, f64)], n: usize) -> f64 {
    let key = |i: usize| side.iter().map(|(column, _)| column.key(i)).collect::<Vec<_>>();
    let keys: Vec<_> = (0..n).map(key).collect();
    let same = |i: usize| keys.iter().filter(|other| **other == keys[i]).count() as f64;
    (0..n).map(|i| (n as f64 / same(i)).ln()).sum::<f64>() / n as f64
}

/// The formula as it is written, by a look at all pairs of rows.
fn plain(a: &[&Owned], b: &[&Owned], k: usize) -> Estimate {
    let continuous = a.iter().chain(b).any(|column| matches!(column, Owned::Continuous(_)));
    let n = a[0].seen().n_rows();
    let weighted = |side: &[&Owned]| side.iter().map(|c| ((*c).clone(), c.weight())).collect::<Vec<_>>();
    let (a, b) = (weighted(a), weighted(b));
    let both: Vec<_> = a.iter().chain(&b).cloned().collect();
    let accompanied = |i: &usize| !continuous || (0..n).any(|j| j != *i && apart(&both, *i, j).is_some());
    let kept: Vec<usize> = (0..n).filter(accompanied).collect();
    let keep = |side: &[(Owned, f64)]| side.iter().map(|(c, w)| (c.keep(&kept), *w)).collect::<Vec<_>>();
    let (a, b, both, n) = (keep(&a), keep(&b), keep(&both), kept.len());
    if n == 0 {
        return Estimate::default();
    }
    let terms: Vec<f64> = (0..n)
        .map(|i| {
            let distance = |side: &[(Owned, f64)], j: usize| apart(side, i, j);
            let others = || (0..n).filter(|j| *j != i);
            let mut sorted: Vec<f64> = others().filter_map(|j| distance(&both, j)).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            if !continuous {
                let same =
                    |side: &[(Owned, f64)]| 1 + others().filter(|j| distance(side, *j).is_some()).count();
                return (n as f64 * same(&both) as f64 / (same(&a) as f64 * same(&b) as f64)).ln();
            }
            let k = k.min(sorted.len());
            let radius = sorted[k - 1];
            let equal =
                |side: &[(Owned, f64)]| 1 + others().filter(|j| distance(side, *j) == Some(0.0)).count();
            if radius == 0.0 {
                return digamma(equal(&both)) + digamma(n) - digamma(equal(&a)) - digamma(equal(&b));
            }
            let s = sorted.iter().filter(|d| **d < radius).count() as f64;
            let t = sorted.iter().filter(|d| **d == radius).count() as f64;
            let count = |side: &[(Owned, f64)]| {
                let strict = 1 + others().filter(|j| distance(side, *j).is_some_and(|d| d < radius)).count();
                let (joint, alone): (Vec<usize>, Vec<usize>) = others()
                    .filter(|j| distance(side, *j) == Some(radius))
                    .partition(|j| distance(&both, *j) == Some(radius));
                let before = (k as f64 - s - 1.0) / t * joint.len() as f64;
                strict as f64 + before + (k as f64 - s) / (t + 1.0) * alone.len() as f64
            };
            digamma(k) + digamma(n) - digamma_of(count(&a)) - digamma_of(count(&b))
        })
        .collect();
    let mean = terms.iter().sum::<f64>() / n as f64;
    let variance = terms.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n as f64;
    let bound = plain_entropy(&a, n).min(plain_entropy(&b, n));
    let error = (variance / n as f64).sqrt();
    Estimate { value: mean.min(bound).max(0.0), mean: mean.min(bound), error }
}

fn found(a: &[&Owned], b: &[&Owned], k: usize) -> Estimate {
    let a: Vec<Variable<'_>> = a.iter().map(|column| column.seen()).collect();
    let b: Vec<Variable<'_>> = b.iter().map(|column| column.seen()).collect();
    Estimator { n_neighbors: k, corrected: false }.between(&a, &b)
}

/// Columns of every sort, related to each other: numbers, numbers with ties, whole numbers, classes, classes with single rows.
fn sorts(n: usize, seed: u64) -> Vec<Owned> {
    let mut stream = Stream::new(seed, Purpose::Synthetic);
    let common: Vec<f64> = (0..n).map(|_| stream.gaussian()).collect();
    let mut near =
        |noise: f64| -> Vec<f64> { common.iter().map(|x| x + noise * stream.gaussian()).collect() };
    let whole = |x: Vec<f64>, step: f64| -> Vec<f64> { x.iter().map(|v| (v / step).round()).collect() };
    let classes = |x: Vec<f64>| {
        let (codes, count) = codes(&x);
        Owned::Discrete(codes, count)
    };
    vec![
        Owned::Continuous(near(0.5)),
        Owned::Continuous(near(1.0)),
        Owned::Continuous(near(0.2).iter().map(|x| if *x < 0.0 { 0.0 } else { *x }).collect()),
        Owned::Continuous(whole(near(0.7), 0.25)),
        Owned::Continuous(whole(near(0.7), 1.5)),
        classes(whole(near(0.6), 1.0)),
        classes(whole(near(1.0), 2.0)),
        classes(whole(near(0.4), 0.2)),
    ]
}

// Terms are of size ln n < 6 and are sums of four: 1e-12 is some hundred times their rounding.
const ROUNDING: f64 = 1e-12;

fn same(a: &[&Owned], b: &[&Owned], k: usize) {
    let (slow, fast, turned) = (plain(a, b, k), found(a, b, k), found(b, a, k));
    // Errors of counts are those of the jackknife, which `plug_in` tests.
    let counted = !a.iter().chain(b).any(|column| matches!(column, Owned::Continuous(_)));
    for other in [fast, turned] {
        assert!((slow.value - other.value).abs() < ROUNDING, "{slow:?} {other:?}");
        assert!(counted || (slow.error - other.error).abs() < ROUNDING, "{slow:?} {other:?}");
    }
}

#[test]
fn any_two_columns_agree_with_the_plain_formula() {
    for (n, k) in [(120, 3), (61, 1), (40, 7), (50, 12), (60, 20), (7, 3), (3, 3), (2, 1)] {
        let sorts = sorts(n, n as u64);
        for a in &sorts {
            sorts.iter().for_each(|b| same(&[a], &[b], k));
        }
    }
}

#[test]
fn any_pair_and_a_column_agree_with_the_plain_formula() {
    let sorts = sorts(90, 5);
    for a in &sorts {
        for b in &sorts {
            sorts.iter().for_each(|c| same(&[a, b], &[c], 3));
        }
    }
}

#[test]
fn four_columns_agree_with_the_plain_formula() {
    let sorts = sorts(80, 9);
    for first in 0..5 {
        let pick = |at: usize| &sorts[(first + at) % sorts.len()];
        same(&[pick(0), pick(1)], &[pick(2), pick(5)], 3);
        same(&[pick(0), pick(1), pick(2)], &[pick(3), pick(4)], 2);
    }
}

#[test]
fn two_columns_of_xor_say_what_none_says() {
    let bit = |i: usize, at: u32| ((i >> at) & 1) as u32;
    let a: Vec<u32> = (0..64).map(|i| bit(i, 0)).collect();
    let b: Vec<u32> = (0..64).map(|i| bit(i, 1)).collect();
    let y: Vec<u32> = (0..64).map(|i| bit(i, 0) ^ bit(i, 1)).collect();
    let [a, b, y] = [a, b, y].map(|codes| Owned::Discrete(codes, 2));
    assert_eq!(found(&[&a], &[&y], 3).value, 0.0);
    assert_eq!(found(&[&b], &[&y], 3).value, 0.0);
    assert_eq!(found(&[&a, &b], &[&y], 3).value, LN_2);
}

// The bias is that of the rows whose three neighbours cross an axis, a few in a hundred of 2000.
#[test]
fn two_numbers_of_xor_say_what_none_says() {
    let mut stream = Stream::new(4, Purpose::Synthetic);
    let mut draw = || (0..2000).map(|_| 2.0 * stream.uniform() - 1.0).collect::<Vec<f64>>();
    let (a, b) = (draw(), draw());
    let y: Vec<u32> = a.iter().zip(&b).map(|(a, b)| u32::from(a * b > 0.0)).collect();
    let [a, b] = [a, b].map(Owned::Continuous);
    let y = Owned::Discrete(y, 2);
    for single in [&a, &b] {
        let one = found(&[single], &[&y], 3);
        assert!(one.value < 3.0 * one.error, "{one:?}");
    }
    let pair = found(&[&a, &b], &[&y], 3);
    assert!((pair.value - LN_2).abs() < 0.1, "{pair:?}");
}

#[test]
fn few_values_as_numbers_take_no_more_time_than_many() {
    let mut stream = Stream::new(6, Purpose::Synthetic);
    let few: Vec<f64> = (0..20_000).map(|_| stream.below(3) as f64).collect();
    let many: Vec<f64> = few.iter().map(|x| x + stream.gaussian()).collect();
    let [few, many] = [few, many].map(Owned::Continuous);
    let one = found(&[&few], &[&many], 3);
    assert!(one.value > 0.2 && one.value < 3f64.ln(), "{one:?}");
    assert!(found(&[&few, &few], &[&many], 3).value > 0.2);
    assert!((found(&[&few, &many], &[&few], 3).value - 3f64.ln()).abs() < 1e-3);
    assert!((found(&[&few], &[&few], 3).value - 3f64.ln()).abs() < 1e-3);
}

#[test]
fn units_do_not_matter_even_with_ties() {
    let sorts = sorts(200, 3);
    let (Owned::Continuous(x), y) = (&sorts[3], &sorts[4]) else { return };
    for factor in [0.1, 0.01, 0.001, 1000.0] {
        let other = Owned::Continuous(x.iter().map(|v| v * factor).collect());
        assert_eq!(found(&[&other], &[y], 3), found(&[&sorts[3]], &[y], 3), "{factor}");
    }
}

#[test]
fn too_few_rows_and_constants_say_nothing() {
    let number = |values: &[f64]| Owned::Continuous(values.to_vec());
    let class = |codes: &[u32]| Owned::Discrete(codes.to_vec(), 3);
    for (a, b) in [
        (number(&[]), number(&[])),
        (number(&[1.0]), class(&[0])),
        (number(&[1.0, 2.0]), class(&[0, 1])),
        (number(&[1.0; 5]), number(&[0.0, 1.0, 5.0, 2.0, 2.5])),
        (number(&[1.0; 5]), class(&[0, 1, 1, 0, 2])),
        (class(&[2; 5]), number(&[0.0, 1.0, 5.0, 2.0, 2.5])),
    ] {
        assert_eq!(found(&[&a], &[&b], 3).value, 0.0);
    }
}
