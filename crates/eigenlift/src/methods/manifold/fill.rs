//! How large the factor of a sparse matrix over neighbours becomes: seen on some rows, and carried on to all of them.

use super::ManifoldInput;
use super::settings::Common;
use crate::eigen::smallest_bytes;
use crate::engine::Engine;
use crate::error::Result;
use crate::graph::{FoundNeighbors, Reach, Space};
use crate::linalg::sparse::Analysis;
use crate::memory::collected;
use crate::operator::SparseSymmetric;
use crate::random::{Purpose, Stream};

/// Rows whose factor is looked at. Of more rows it is some power of their number, which this many and half as many tell.
const SEEN_ROWS: usize = 6000;

/// Which rows of the matrix share an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Neighbours.
    Neighbors,
    /// Rows of a neighbourhood, with each other.
    Neighborhoods,
}

/// What is known of a factor before the fit.
pub(super) struct Fill {
    /// Bytes of the factor and of the search by it.
    pub(super) bytes: u128,
    /// Neighbours of all rows, where all were looked at: the fit need not look for them again.
    pub(super) neighbors: Option<FoundNeighbors>,
}

/// How large the factor becomes; `None` where neighbours are not looked up among rows.
///
/// Cost: neighbours of 6000 rows among themselves, and an ordering of approximately minimal degree of their graph.
pub(super) fn shift_invert(
    common: &Common,
    input: &ManifoldInput,
    pattern: Pattern,
    engine: &dyn Engine,
) -> Result<Option<Fill>> {
    let (ManifoldInput::Samples(x), Reach::Nearest(_)) = (input, common.reach) else { return Ok(None) };
    let n = x.n_rows();
    let seen = n.min(SEEN_ROWS);
    let found = engine.complete(|| {
        bytes_of_some(common, input, pattern, seen).and_then(|whole| {
            let half = if seen < n { bytes_of_some(common, input, pattern, seen / 2)? } else { None };
            Ok(whole.map(|whole| (whole, half)))
        })
    });
    let search = u128::from(smallest_bytes(n, common.n_components));
    Ok(found?.map(|((whole, neighbors), half)| {
        let half = half.map(|(bytes, _)| bytes);
        let bytes = search + carried_on(whole, half, n as f64 / seen as f64) as u128;
        Fill { bytes, neighbors: (seen == n).then_some(neighbors) }
    }))
}

/// b·(n/m)^p, p from the bytes of m and of m/2 rows; between linear and quadratic.
fn carried_on(whole: u64, half: Option<u64>, times: f64) -> f64 {
    let power = half.map_or(1.0, |half| (whole as f64 / half.max(1) as f64).log2().clamp(1.0, 2.0));
    whole as f64 * times.powf(power)
}

/// Bytes of the factor for some rows drawn at random, and the neighbours of these rows among each other.
fn bytes_of_some(
    common: &Common,
    input: &ManifoldInput,
    pattern: Pattern,
    count: usize,
) -> Result<Option<(u64, FoundNeighbors)>> {
    let (ManifoldInput::Samples(x), Reach::Nearest(neighbors)) = (input, common.reach) else {
        return Ok(None);
    };
    if count <= neighbors.saturating_add(1) {
        return Ok(None);
    }
    let rows = Stream::new(common.seed, Purpose::SampleRows).rows(x.n_rows(), count);
    let space = Space::Rows { samples: x.gather(&rows), metric: common.metric };
    let Space::Rows { samples, .. } = &space else { return Ok(None) };
    let watch = if count == x.n_rows() { common.watch.clone() } else { common.watch.silent() };
    let found = common.neighbor_search().among(&space, samples.points(), &watch)?;
    let lists = &found.neighbors;
    let matrix = match pattern {
        Pattern::Neighbors => {
            let links = |i: usize| lists.row(i).0.iter().map(move |j| (i as u32, *j, 1.0));
            SparseSymmetric::from_triplets(count, &collected(lists.n_links(), (0..count).flat_map(links)))?
        }
        Pattern::Neighborhoods => {
            let own = |i: usize| lists.row(i).0.iter().copied().filter(move |j| *j as usize != i);
            let row = |i: usize| own(i).chain([i as u32]).map(|j| (j, 1.0)).collect::<Vec<(u32, f64)>>();
            SparseSymmetric::gram(count, &(0..count).map(row).collect::<Vec<_>>())?
        }
    };
    let (offsets, columns, values) = matrix.parts();
    Ok(Analysis::new(offsets, columns, values).map(|analysis| (analysis.factor_bytes, found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Cpu;
    use crate::matrix::Matrix;

    #[test]
    fn growth_is_that_of_the_last_doubling() {
        assert_eq!(carried_on(400, Some(100), 3.0), 3600.0);
        assert_eq!(carried_on(400, Some(200), 3.0), 1200.0);
        // Neither less than linear nor more than quadratic.
        assert_eq!(carried_on(400, Some(399), 3.0), 1200.0);
        assert_eq!(carried_on(400, Some(1), 3.0), 3600.0);
        assert_eq!(carried_on(400, None, 1.0), 400.0);
    }

    /// What is carried on from some rows is close to the factor of all of them.
    #[test]
    fn some_rows_tell_the_factor_of_all() {
        let mut random = Stream::new(3, Purpose::Synthetic);
        let x = Matrix::from_fn(12_000, 3, |_, _| random.gaussian());
        let mut common = Common::new(2);
        common.reach = Reach::Nearest(8);
        let input = ManifoldInput::from(x);
        let engine = Cpu::new(2).unwrap();
        let told = shift_invert(&common, &input, Pattern::Neighbors, &engine).unwrap().unwrap();
        assert!(told.neighbors.is_none(), "half of the rows were looked at");
        let told = told.bytes as f64 - smallest_bytes(12_000, 2) as f64;
        let mut all = Ok(None);
        engine.run(&mut || all = bytes_of_some(&common, &input, Pattern::Neighbors, 12_000));
        let ratio = told / all.unwrap().unwrap().0 as f64;
        assert!((0.77..1.3).contains(&ratio), "{ratio}");
    }

    /// What planning finds among all rows is what a fit would find.
    #[test]
    fn neighbours_of_all_rows_are_found_once() {
        let mut random = Stream::new(4, Purpose::Synthetic);
        let x = Matrix::from_fn(300, 3, |_, _| random.gaussian());
        let mut common = Common::new(2);
        common.reach = Reach::Nearest(8);
        let input = ManifoldInput::from(x.clone());
        let engine = Cpu::new(2).unwrap();
        let told = shift_invert(&common, &input, Pattern::Neighborhoods, &engine).unwrap().unwrap();
        let space = input.space(common.metric);
        let again = common.neighbor_search().among(&space, (&x).into(), &common.watch).unwrap();
        let found = told.neighbors.unwrap();
        assert_eq!(found.how, again.how);
        assert!((0..300).all(|i| found.neighbors.row(i) == again.neighbors.row(i)));
    }
}
