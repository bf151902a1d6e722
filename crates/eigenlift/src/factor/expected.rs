//! How many landmarks a fit is likely to need whose number of them is to be found.

use super::SAMPLE_SHARE;
use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::Result;
use crate::features::{Stop, pivoted_cholesky_until};
use crate::gram::{Similarity, Storage};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::rows::in_memory;

/// Rows that the number is estimated on, and landmarks that are drawn of them.
const ROWS: usize = 600;
const DRAWN: [usize; 5] = [18, 36, 72, 144, 288];

/// The number of pivoted landmarks at which the error of n samples is about `share`, at most `most`; `None` where it cannot be said.
///
/// The mean ρ(m) of what m landmarks leave of a row that is none of them hardly depends on the number of rows they are drawn from. That of
/// all rows is (1 − m/n)ρ(m), and ρ goes on as the power of m that the last two numbers of landmarks give.
///
/// Cost: some 600 × 288 kernel values and 10⁸ flops.
pub(crate) fn expected_rank(
    samples: &AnySamples,
    similarity: &Similarity,
    (share, most): (f64, usize),
    (engine, seed, watch): (&dyn Engine, u64, &Watch),
) -> Result<Option<usize>> {
    let (n, Similarity::Kernel(_)) = (samples.n_rows(), similarity) else { return Ok(None) };
    let some = samples.gather(&Stream::new(seed, Purpose::SampleRows).rows(n, ROWS));
    let (rows, count) = (in_memory(&some, engine), some.n_rows());
    let gram = rows.gram(similarity, Storage::Tiled, false)?;
    let mut diagonal = vec![0.0; count];
    gram.diagonal(&mut diagonal)?;
    let (trace, share) = (diagonal.iter().sum::<f64>(), SAMPLE_SHARE * share);
    let all = |m: usize, rest: f64| (1.0 - m as f64 / n as f64) * rest;
    let mut before = (1.0, 1.0);
    let mut law = None;
    for rank in DRAWN.into_iter().filter(|rank| 2 * rank <= count) {
        let draw = || pivoted_cholesky_until(&*gram, Stop { rank, share: 0.0 }, seed, watch);
        let factor = engine.complete(draw)?;
        let m = factor.pivots.len();
        let rest = factor.residual_trace / trace / (1.0 - m as f64 / count as f64);
        if m < rank || !rest.is_finite() || rest <= 0.0 {
            return Ok(rest.is_finite().then_some(m.clamp(1, most)));
        }
        let power = (rest / before.1).ln() / (m as f64 / before.0).ln();
        law = Some(move |at: usize| rest * (at as f64 / m as f64).powf(power.min(0.0)));
        if all(m, rest) <= share {
            break;
        }
        before = (m as f64, rest);
    }
    let Some(law) = law else { return Ok(None) };
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if all(middle, law(middle)) <= share { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Cpu;
    use crate::kernel::Kernel;
    use crate::matrix::Matrix;
    use crate::rows::PivotDraw;
    use std::sync::Arc;

    /// The number that is expected and the one that is found, by steps of a tenth of the most that are tried.
    #[test]
    fn the_expected_number_is_near_the_one_that_is_found() {
        let mut stream = Stream::new(3, Purpose::Synthetic);
        for (d, kernel, share) in
            [(3, "rbf(gamma=0.05)", 0.01), (3, "rbf(gamma=0.5)", 0.02), (6, "rbf(gamma=0.1)", 0.1)]
        {
            let x: AnySamples = Matrix::from_fn(3000, d, |_, _| stream.gaussian()).into();
            let similarity = Similarity::Kernel(Kernel::new(&kernel.parse().unwrap(), d).unwrap());
            let (engine, watch) = (Arc::new(Cpu::new(1).unwrap()) as Arc<dyn Engine>, Watch::default());
            let expected =
                expected_rank(&x, &similarity, (share, 1500), (&*engine, 0, &watch)).unwrap().unwrap();
            let stop = Stop { rank: 1500, share: SAMPLE_SHARE * share };
            let draw = PivotDraw { sample: None, stop, seed: 0, watch: &watch };
            let found = in_memory(x, &engine).pivots(&similarity, &draw).unwrap().rows.len();
            let (low, high) = (found as f64 / 1.5 - 150.0, 1.5 * found as f64);
            assert!(low <= expected as f64 && expected as f64 <= high, "{kernel}: {expected}, found {found}");
        }
    }
}
