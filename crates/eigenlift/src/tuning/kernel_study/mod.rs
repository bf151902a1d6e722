//! How far a kernel PCA can be trusted on some data: how it hangs on the bandwidth, on the rows that happened to be drawn, and
//! what of it unrelated columns would give as well.

mod angles;
mod family;
mod parallel;
mod resampling;
mod sensitivity;

pub(crate) use angles::{largest_angle, orthonormal_prefix};
pub use parallel::{KernelParallel, KernelParallelReport};
pub use resampling::{Stability, StabilityLevel, StabilityReport};
pub use sensitivity::{Sensitivity, SensitivityPoint, SensitivityReport};

use crate::data::AnySamples;
use crate::eigen::{Davidson, Dense, EigenPairs, Eigensolver, Entries, SolveOptions, rank_threshold};
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::kernel::KernelSpec;
use crate::matrix::Matrix;
use crate::model::human_bytes;
use crate::operator::Explicit;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::rows::in_memory;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that matrices under way may take together.
const COPIES_BYTES: usize = 1 << 30;
/// Relative residual of eigenpairs: angles are then right to far below a degree unless eigenvalues are tied.
const TOLERANCE: f64 = 1e-8;
/// Passes after which the iteration gives way to the direct solver, which takes as long as some 60 of them.
const MAX_PASSES: usize = 60;
/// Eigenvalues closer than this share are called nearly tied.
pub(crate) const NEAR_TIE: f64 = 0.01;

/// What every study is told beside its own numbers.
#[derive(Clone, Debug)]
struct Setup {
    kernel: KernelSpec,
    max_rows: usize,
    seed: u64,
    threads: usize,
    engine: Option<Arc<dyn Engine>>,
    watch: Watch,
}

impl Setup {
    fn new(max_rows: usize) -> Self {
        Self {
            kernel: KernelSpec::default(),
            max_rows,
            seed: 0,
            threads: 0,
            engine: None,
            watch: Watch::default(),
        }
    }

    fn running_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            Some(engine) => Ok(engine.clone()),
            None => Ok(Arc::new(Cpu::new(self.threads)?)),
        }
    }

    /// All rows, or as many as may be looked at, drawn uniformly and in their order.
    fn drawn(&self, x: &AnySamples) -> AnySamples {
        if x.n_rows() <= self.max_rows {
            return x.clone();
        }
        x.gather(&Stream::new(self.seed, Purpose::ChoiceRows).rows(x.n_rows(), self.max_rows))
    }

    fn check_rows(&self, x: &AnySamples, least: usize, study: &str) -> Result<()> {
        if self.max_rows < least {
            return Err(Error::setting(
                format!("at most {} rows", self.max_rows),
                format!("{study} needs at least {least}"),
                "Allow more rows",
            ));
        }
        if x.n_rows() < least {
            return Err(Error::data(
                format!("{} row(s)", x.n_rows()),
                format!("{study} needs at least {least}"),
                "Give more rows",
            ));
        }
        x.points().check()
    }
}

/// Settings that every study has.
macro_rules! shared_settings {
    ($name:ident) => {
        impl $name {
            /// Uses this kernel; `median` and `1/d` are found from all samples, as in a fit with the same seed.
            pub fn kernel(mut self, spec: crate::kernel::KernelSpec) -> Self {
                self.setup.kernel = spec;
                self
            }

            /// Looks at this many rows at most; of more a sample is drawn.
            pub fn max_rows(mut self, rows: usize) -> Self {
                self.setup.max_rows = rows;
                self
            }

            /// Fixes every random draw.
            pub fn seed(mut self, seed: u64) -> Self {
                self.setup.seed = seed;
                self
            }

            /// Threads; 0 means one for each processor. The result does not depend on it.
            pub fn threads(mut self, threads: usize) -> Self {
                self.setup.threads = threads;
                self
            }

            /// Runs there instead of on the processor.
            pub fn engine(mut self, engine: std::sync::Arc<dyn crate::engine::Engine>) -> Self {
                self.setup.engine = Some(engine);
                self
            }

            /// Reports to and obeys `watch`.
            pub fn watch(mut self, watch: crate::progress::Watch) -> Self {
                self.setup.watch = watch;
                self
            }
        }
    };
}
use shared_settings;

/// What `work` gives, run with the engine's threads.
fn within<T: Send>(engine: &dyn Engine, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let (mut work, mut result) = (Some(work), Err(Error::Cancelled));
    engine.run(&mut || {
        if let Some(work) = work.take() {
            result = work();
        }
    });
    result
}

/// A batch of jobs that take memory.
struct Batch<'a> {
    stage: &'a str,
    count: usize,
    /// Bytes of one job.
    bytes: usize,
    watch: &'a Watch,
}

impl Batch<'_> {
    /// Results of all jobs in their order, as many at a time as fit into 1 GiB.
    fn run<T: Send>(&self, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let together = (COPIES_BYTES / self.bytes.max(1)).max(1);
        let done = AtomicUsize::new(0);
        let mut results = Vec::with_capacity(self.count);
        self.watch.step(self.stage, 0, self.count)?;
        for from in (0..self.count).step_by(together) {
            let batch: Result<Vec<T>> = (from..self.count.min(from + together))
                .into_par_iter()
                .with_max_len(1)
                .map(|job| {
                    self.watch.check()?;
                    let result = work(job)?;
                    self.watch.step(self.stage, done.fetch_add(1, Ordering::Relaxed) + 1, self.count)?;
                    Ok(result)
                })
                .collect();
            results.extend(batch?);
        }
        Ok(results)
    }
}

/// Refuses matrices of n rows that do not fit into memory, `copies` at a time.
fn check_memory(engine: &dyn Engine, n: usize, copies: u128) -> Result<()> {
    let needed = 8 * copies * (n as u128) * (n as u128);
    match engine.memory_available() {
        Some(there) if needed > u128::from(there) => Err(Error::memory(
            format!("matrices of {n} rows need {}", human_bytes(needed)),
            format!("{} are available", human_bytes(u128::from(there))),
            "Look at fewer rows with max_rows",
        )),
        _ => Ok(()),
    }
}

/// The Gram matrix of rows, written out.
fn dense_gram(
    engine: &dyn Engine,
    similarity: &Similarity,
    rows: &AnySamples,
    watch: &Watch,
) -> Result<Matrix<f64>> {
    in_memory(rows, engine).gram(similarity, Storage::Tiled, false)?.to_dense(watch)
}

/// A centred Gram matrix K_c = HKH, (K2), and sums over it.
struct CentredGram {
    matrix: Matrix<f64>,
    /// tr K_c.
    trace: f64,
    /// ‖K_c‖²_F.
    squared_norm: f64,
    /// ‖K‖_F, by which rounding is measured.
    norm_before: f64,
}

impl CentredGram {
    /// Centres `k`.
    ///
    /// Numerics: sums run over one row at a time, in its order, so no thread count changes a bit.
    fn new(mut k: Matrix<f64>) -> Result<Self> {
        let n = k.n_rows().max(1);
        let sum_of_squares = |m: &Matrix<f64>| -> f64 {
            m.as_slice().chunks(n).map(|row| row.iter().map(|v| v * v).sum::<f64>()).sum()
        };
        let norm_before = sum_of_squares(&k).sqrt();
        if !norm_before.is_finite() {
            return Err(Error::kernel(
                "kernel values whose squares overflow or that are no numbers",
                "sums of their squares must stay below 1e308",
                "Scale the data down or change the kernel's parameters",
            ));
        }
        let means: Vec<f64> = k.as_slice().chunks(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
        let grand = means.iter().sum::<f64>() / n as f64;
        for (row, own) in k.as_mut_slice().chunks_mut(n).zip(&means) {
            row.iter_mut().zip(&means).for_each(|(x, mean)| *x = *x - mean - own + grand);
        }
        let trace = (0..k.n_rows()).map(|i| k[(i, i)]).sum();
        Ok(Self { trace, squared_norm: sum_of_squares(&k), norm_before, matrix: k })
    }

    /// Its largest eigenvalues above rounding, at most `k`, and their eigenvectors.
    ///
    /// # Errors
    /// When all rows look the same to the kernel, and on cancellation.
    fn leading(&self, k: usize, seed: u64, watch: &Watch) -> Result<Leading> {
        let n = self.matrix.n_rows();
        let ones = Matrix::from_fn(n, 1, |_, _| (n.max(1) as f64).sqrt().recip());
        let silent = watch.silent();
        let how = SolveOptions {
            deflate: Some(ones.view()),
            start: None,
            sketch: None,
            tolerance: TOLERANCE,
            norm_bound: self.norm_before,
            max_passes: MAX_PASSES,
            verify: false,
            basis: false,
            seed,
            watch: &silent,
        };
        let operator = Explicit(&self.matrix);
        let wanted = (k + 1).min(n.saturating_sub(1));
        let direct = || Dense::default().largest(&operator, wanted, &how);
        let pairs = if Entries::Written.direct(n, k).is_some() {
            direct()?
        } else {
            match Davidson.largest(&operator, wanted, &how) {
                Err(Error::NotConverged { .. }) => direct()?,
                other => other?,
            }
        };
        let first = pairs.values.first().copied().unwrap_or(0.0);
        let threshold = rank_threshold(n, first, self.norm_before, f64::EPSILON / 2.0);
        let rank = pairs.values.iter().take_while(|v| **v > threshold).count();
        if rank == 0 {
            return Err(Error::no_variance(
                format!("a centered Gram matrix whose largest eigenvalue is {first:.1e}"),
                format!("at least one must exceed rounding ({threshold:.1e})"),
                "All samples look the same to this kernel: check for constant columns, or change its parameters",
            ));
        }
        let EigenPairs { values, vectors, .. } = pairs;
        let (kept, next) = (rank.min(k), if rank > k { values.get(k).copied() } else { None });
        Ok(Leading { vectors: vectors.into_first_columns(kept), values: values[..kept].to_vec(), next })
    }
}

/// The largest eigenvalues ω of a centred Gram matrix and their unit eigenvectors.
struct Leading {
    values: Vec<f64>,
    vectors: Matrix<f64>,
    /// The eigenvalue after the last, when there is one above rounding.
    next: Option<f64>,
}

/// The ⌈q(P+1)⌉-th smallest of P values, or the largest: the quantile of the sister rule for PCA.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (share * (values.len() + 1) as f64).ceil() as usize;
    values.get(place.clamp(1, values.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// A number with three digits that a person can read.
fn short(x: f64) -> String {
    if x == 0.0 || !(1e-4..1e5).contains(&x.abs()) {
        return format!("{x:.2e}");
    }
    format!("{x:.*}", (2 - x.abs().log10().floor() as i32).max(0) as usize)
}

/// An angle in whole degrees.
fn degrees(angle: f64) -> String {
    if (0.5..1.5).contains(&angle) { "1 degree".into() } else { format!("{angle:.0} degrees") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let expected = ["0.00664", "0.106", "1.24", "25.4", "161", "12345", "2.76e-5", "0.00e0"];
        let numbers = [0.006_64, 0.106_1, 1.243, 25.40, 161.3, 12_345.0, 2.76e-5, 0.0];
        assert_eq!(numbers.map(short), expected);
        assert_eq!([0.2, 0.9, 13.4].map(degrees), ["0 degrees", "1 degree", "13 degrees"]);
    }

    #[test]
    fn quantiles_are_places() {
        let values = || (1..=20).map(f64::from).collect::<Vec<f64>>();
        assert_eq!(
            (quantile(values(), 0.95), quantile(values(), 0.9), quantile(values(), 0.5)),
            (20.0, 19.0, 11.0)
        );
    }

    /// The iteration and the direct solver on the same matrix.
    #[test]
    fn leading_pairs_do_not_depend_on_the_solver() {
        let n = Entries::Written.few() + 60;
        let at = |i: usize| (i as f64 * 0.61).sin() * 3.0;
        let gram = Matrix::from_fn(n, n, |i, j| (-(at(i) - at(j)).powi(2)).exp());
        let gram = CentredGram::new(gram).unwrap();
        let watch = Watch::default();
        let (few, many) = (gram.leading(3, 0, &watch).unwrap(), gram.leading(n / 5 + 1, 0, &watch).unwrap());
        for j in 0..3 {
            // Ritz values are right to the square of the residual over the gap.
            assert!((few.values[j] - many.values[j]).abs() < 1e-11 * many.values[0], "{j}");
        }
        assert!((few.next.unwrap() - many.values[3]).abs() < 1e-6 * many.values[0]);
        let angle = largest_angle(few.vectors.view(), many.vectors.view().first_columns(3)).unwrap();
        assert!(angle < 1e-5, "{angle}");
    }
}
