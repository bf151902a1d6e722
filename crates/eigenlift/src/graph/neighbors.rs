//! Lists of neighbours.

use crate::error::{Error, Result};
use crate::memory::room_for;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// How far a neighbourhood reaches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// The k nearest samples.
    Nearest(usize),
    /// All samples within this distance.
    Within(f64),
}

impl Reach {
    /// Refuses what is no neighbourhood.
    ///
    /// # Errors
    /// For 0 neighbours, and for a radius that is not positive.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Nearest(0) => Err(Error::setting(
                "0 neighbours",
                "a neighbourhood has at least one",
                "Ask for 5 to 30; 10 is usual",
            )),
            Self::Within(radius) if radius.is_nan() || radius <= 0.0 => Err(Error::setting(
                format!("a radius of {radius}"),
                "it must be positive",
                "Give the distance up to which rows count as neighbours",
            )),
            _ => Ok(()),
        }
    }
}

impl Display for Reach {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nearest(1) => f.write_str("the nearest neighbour"),
            Self::Nearest(k) => write!(f, "the {k} nearest neighbours"),
            Self::Within(radius) => write!(f, "neighbours within {radius}"),
        }
    }
}

/// For each row its neighbours among the samples, nearest first; equal distances in the order of the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    offsets: Vec<usize>,
    samples: Vec<u32>,
    distances: Vec<f64>,
}

impl Neighbors {
    /// From lists one after another: row i has entries `offsets[i]..offsets[i + 1]`. Lists are sorted.
    ///
    /// # Errors
    /// When offsets do not fit the lists, a sample does not exist or stands in a list twice, or a distance is negative or not finite.
    pub fn new(
        offsets: Vec<usize>,
        samples: Vec<u32>,
        distances: Vec<f64>,
        n_samples: usize,
    ) -> Result<Self> {
        let bad = |found: String, required: &str| {
            Err(Error::data(found, required, "Give lists of neighbours with their distances"))
        };
        if offsets.first() != Some(&0)
            || offsets.last() != Some(&samples.len())
            || offsets.windows(2).any(|pair| pair[0] > pair[1])
            || samples.len() != distances.len()
        {
            return bad(
                format!(
                    "{} neighbours, {} distances and offsets that do not fit",
                    samples.len(),
                    distances.len()
                ),
                "offsets start at 0, ascend, and end at the number of neighbours",
            );
        }
        if let Some(sample) = samples.iter().find(|sample| **sample as usize >= n_samples) {
            return bad(
                format!("sample {} named as a neighbour", u64::from(*sample) + 1),
                &format!("there are {n_samples}"),
            );
        }
        if let Some(distance) = distances.iter().find(|d| !(d.is_finite() && **d >= 0.0)) {
            return bad(format!("a distance of {distance}"), "distances are finite and not negative");
        }
        let mut lists = Self { offsets, samples, distances };
        lists.sort();
        for i in 0..lists.n_rows() {
            let mut row = lists.row(i).0.to_vec();
            row.sort_unstable();
            if let Some(pair) = row.windows(2).find(|pair| pair[0] == pair[1]) {
                return bad(
                    format!("sample {} twice among the neighbours of row {}", pair[0] + 1, i + 1),
                    "once is enough",
                );
            }
        }
        Ok(lists)
    }

    /// From one sorted list for each row.
    pub(crate) fn from_lists(lists: &[Vec<(f64, u32)>]) -> Self {
        let mut offsets = room_for(lists.len() + 1);
        offsets.push(0);
        let total = lists.iter().map(Vec::len).sum();
        let (mut samples, mut distances) = (room_for(total), room_for(total));
        for list in lists {
            samples.extend(list.iter().map(|(_, sample)| *sample));
            distances.extend(list.iter().map(|(distance, _)| *distance));
            offsets.push(samples.len());
        }
        Self { offsets, samples, distances }
    }

    fn sort(&mut self) {
        for i in 0..self.n_rows() {
            let range = self.offsets[i]..self.offsets[i + 1];
            let mut list: Vec<(f64, u32)> =
                range.clone().map(|at| (self.distances[at], self.samples[at])).collect();
            list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (at, (distance, sample)) in range.zip(list) {
                (self.distances[at], self.samples[at]) = (distance, sample);
            }
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Neighbours of all rows together.
    pub fn n_links(&self) -> usize {
        self.samples.len()
    }

    /// Neighbours of row i and their distances, nearest first.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.samples[range.clone()], &self.distances[range])
    }

    /// The `k` nearest of each list; all where there are fewer.
    pub fn nearest(&self, k: usize) -> Neighbors {
        let lists: Vec<Vec<(f64, u32)>> = (0..self.n_rows())
            .map(|i| {
                let (samples, distances) = self.row(i);
                distances.iter().copied().zip(samples.iter().copied()).take(k).collect()
            })
            .collect();
        Self::from_lists(&lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_cut() {
        let lists = Neighbors::new(vec![0, 3, 4], vec![2, 1, 0, 0], vec![0.5, 0.5, 0.1, 2.0], 3).unwrap();
        assert_eq!(lists.row(0), ([0, 1, 2].as_slice(), [0.1, 0.5, 0.5].as_slice()));
        assert_eq!(lists.nearest(1).row(0), ([0].as_slice(), [0.1].as_slice()));
        assert_eq!((lists.n_rows(), lists.n_links()), (2, 4));
    }

    #[test]
    fn unsound_lists_are_refused() {
        for (offsets, samples, distances) in [
            (vec![0, 2], vec![0], vec![1.0]),
            (vec![0, 1], vec![7], vec![1.0]),
            (vec![0, 1], vec![0], vec![f64::NAN]),
            (vec![0, 1], vec![0], vec![-1.0]),
            (vec![0, 2], vec![0, 0], vec![1.0, 2.0]),
            (vec![], vec![], vec![]),
        ] {
            assert!(Neighbors::new(offsets, samples, distances, 3).is_err());
        }
    }
}
