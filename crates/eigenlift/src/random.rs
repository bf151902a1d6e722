//! Counter-based random numbers: the same draws on one machine and on a cluster.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What random numbers are for. Each purpose is a stream of its own, so adding draws to one moves no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Pairs of rows for medians.
    Pairs = 1,
    /// Pivots of randomly pivoted Cholesky.
    Pivots = 2,
    /// Gaussian columns of an eigensolver's start block.
    StartBlock = 3,
    /// Built-in data sets.
    Synthetic = 4,
    /// Pairs of rows on which two kernels or a symmetry are compared.
    Probes = 5,
    /// Landmarks drawn uniformly.
    Landmarks = 6,
    /// Rows that landmarks are chosen from.
    SampleRows = 7,
    /// Frequencies of random Fourier features.
    Frequencies = 40,
    /// Buckets and signs of count sketches.
    Buckets = 41,
    /// Centres of clusters.
    Centres = 42,
    /// Rows that stand for all.
    Rows = 43,
    /// Rows that the rules for the number of components look at.
    ChoiceRows = 50,
    /// Permutations of columns, for the spectrum of unrelated columns.
    Shuffles = 51,
    /// Folds of rows and columns.
    Folds = 52,
    /// Rows that the way back from scores is learned from.
    RidgeRows = 70,
    /// Halves of the rows, for the stability of subspaces.
    Halves = 80,
    /// Entries that are hidden and predicted.
    Masks = 90,
    /// Vertices from which paths are counted for the flow over edges.
    FlowSources = 62,
    /// Reference samples that a model keeps.
    ReferenceRows = 102,
    /// Orders of rows for the significance of canonical correlations.
    Permutations = 100,
    /// Rows that are permuted.
    PermutedRows = 101,
    /// First centres of kernel k-means.
    ClusterStarts = 120,
    /// Rows that kernel k-means starts on.
    StartRows = 121,
    /// Orders of labels for the significance of features.
    SelectionPermutations = 140,
    /// Rows held out.
    Holdout = 141,
    /// The order of rows learned from.
    TrainingOrder = 142,
    /// Groups of rows for standard errors.
    ErrorGroups = 143,
}

/// A stream of random numbers, fixed by seed and purpose.
pub struct Stream {
    generator: ChaCha8Rng,
    spare: Option<f64>,
}

impl Stream {
    /// The stream of a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(purpose as u64);
        Self { generator, spare: None }
    }

    /// Stream `number` of many for one purpose, apart from each other and from that of [`Stream::new`].
    pub fn numbered(seed: u64, purpose: Purpose, number: u32) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(((u64::from(number) + 1) << 32) | purpose as u64);
        Self { generator, spare: None }
    }

    /// Uniform on [0, 1), 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on 0..bound.
    ///
    /// Numerics: the high half of a 128-bit product; the bias is below bound/2⁶⁴.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.generator.next_u64()) * bound as u128) >> 64) as usize
    }

    /// `count` different numbers of 0..n, or all of them, ascending. Each set of that size is as likely as any other (Floyd).
    pub fn rows(&mut self, n: usize, count: usize) -> Vec<usize> {
        if count >= n {
            return (0..n).collect();
        }
        let mut chosen = std::collections::BTreeSet::new();
        for top in n - count..n {
            let row = self.below(top + 1);
            if !chosen.insert(row) {
                chosen.insert(top);
            }
        }
        chosen.into_iter().collect()
    }

    /// Puts `items` into random order, each as likely as any other (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Standard normal, by Box and Muller's transformation.
    pub fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose| {
            let mut stream = Stream::new(seed, purpose);
            (0..8).map(|_| stream.uniform()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, Purpose::Pairs), draw(1, Purpose::Pairs));
        assert_ne!(draw(1, Purpose::Pairs), draw(2, Purpose::Pairs));
        assert_ne!(draw(1, Purpose::Pairs), draw(1, Purpose::Pivots));
    }

    // Mean and variance of 10⁵ draws: standard errors 0.0032 and 0.0045; five of them is the allowance.
    #[test]
    fn gaussian_has_mean_zero_and_variance_one() {
        let mut stream = Stream::new(7, Purpose::Synthetic);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.gaussian()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.0225, "{variance}");
    }

    #[test]
    fn numbered_streams_differ_and_shuffles_keep_every_item() {
        let order = |number| {
            let mut items: Vec<usize> = (0..50).collect();
            Stream::numbered(1, Purpose::Shuffles, number).shuffle(&mut items);
            items
        };
        assert_eq!(order(0), order(0));
        assert_ne!(order(0), order(1));
        let mut sorted = order(2);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn below_stays_below() {
        let mut stream = Stream::new(3, Purpose::Pairs);
        let mut seen = [false; 5];
        (0..200).for_each(|_| seen[stream.below(5)] = true);
        assert_eq!(seen, [true; 5]);
    }
}
