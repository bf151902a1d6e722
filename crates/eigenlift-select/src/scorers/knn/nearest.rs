//! The nearest training rows of one row held out, from a sum of squares and one term more.

use eigenlift::simd::Vectorised;

/// Rows looked at side by side.
const LANES: usize = 16;
/// Rows of one lane that share a minimum.
const DEPTH: usize = 8;
/// Columns of training rows are filled up to a multiple of this; rows beyond the end are infinitely far away.
pub(super) const BLOCK: usize = LANES * DEPTH;

/// Up to this many neighbours, the minima of the lanes bound the distance of the last one.
const FEW: usize = LANES / 2;

/// What is added to a sum of squares for each training row.
pub(super) trait Term: Copy {
    fn of(self, value: f64) -> f64;
}

/// (x − t)², with the value t of the row held out.
#[derive(Clone, Copy)]
pub(super) struct Square(pub f64);

impl Term for Square {
    #[inline(always)]
    fn of(self, value: f64) -> f64 {
        (value - self.0) * (value - self.0)
    }
}

/// The value itself.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Term for Plain {
    #[inline(always)]
    fn of(self, value: f64) -> f64 {
        value
    }
}

/// Adds the term of each value.
///
/// Numerics: products and sums are rounded one by one, here and below, so results are the same on every processor and
/// however often a distance is computed.
pub(super) struct AddTerms<'a, T> {
    pub sums: &'a mut [f64],
    pub values: &'a [f64],
    pub term: T,
}

impl<T: Term> Vectorised for AddTerms<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (sum, value) in self.sums.iter_mut().zip(self.values) {
            *sum += self.term.of(*value);
        }
    }
}

/// Memory for one search after the other, and what the last one found.
pub(super) struct Finder {
    n_rows: usize,
    n_neighbors: usize,
    /// The least distance of the rows l, l + 16, … of each block, for each lane l.
    least: Vec<f64>,
    spare: Vec<f64>,
    /// Lanes with rows within the bound.
    lanes: Vec<u32>,
    n_found: usize,
    /// The bits of a distance, then the position: an order by distance, then position, since no distance is negative.
    found: Vec<u128>,
}

impl Finder {
    /// For the nearest `n_neighbors` of `n_rows` rows.
    pub(super) fn new(n_rows: usize, n_neighbors: usize) -> Self {
        let n_least = n_rows.div_ceil(BLOCK) * LANES;
        Self {
            n_rows,
            n_neighbors: n_neighbors.min(n_rows),
            least: vec![f64::INFINITY; n_least],
            spare: Vec::new(),
            lanes: vec![0; n_least],
            n_found: 0,
            found: Vec::new(),
        }
    }

    /// Finds the rows of least sum + term; of equal ones those that come first.
    pub(super) fn search<T: Term>(&mut self, sums: &[f64], values: &[f64], term: T) {
        self.n_found = 0;
        if self.n_neighbors > 0 {
            eigenlift::simd::dispatch(Pass { finder: self, sums, values, term });
        }
    }

    /// Positions of the rows found, in no order.
    pub(super) fn found(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.found[..self.n_found].iter().map(|key| *key as u64 as usize)
    }

    /// Puts the rows found in the order of their positions.
    pub(super) fn sort(&mut self) {
        self.found[..self.n_found].sort_unstable_by_key(|key| *key as u64);
    }

    /// A bound of the distance of the last neighbour: the k-th least of the minima of disjoint sets of rows.
    ///
    /// Why: of rows in no order, k lie below the k-th least minimum of G sets after Σ G/(G − i), i < k, rows on average: 5.8 for
    /// k = 5 and G = 16, so that hardly more than the k nearest are looked at a second time.
    #[inline(always)]
    fn bound(&mut self) -> f64 {
        let k = self.n_neighbors;
        if k <= FEW {
            return kth_of_lanes(self.least.as_chunks().0, k);
        }
        if k > self.least.len() / 2 {
            return f64::INFINITY;
        }
        self.spare.clear();
        self.spare.extend_from_slice(&self.least);
        *self.spare.select_nth_unstable_by(k - 1, f64::total_cmp).1
    }

    /// Keeps the nearest k and returns the distance of the last of them.
    fn cut(&mut self) -> f64 {
        let k = self.n_neighbors;
        let last = *self.found[..self.n_found].select_nth_unstable(k - 1).1;
        self.n_found = k;
        f64::from_bits((last >> 64) as u64)
    }
}

/// The k-th least of the minima over blocks of each lane.
#[inline(always)]
fn kth_of_lanes(least: &[[f64; LANES]], k: usize) -> f64 {
    let mut lanes = [f64::INFINITY; LANES];
    for block in least {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = if *value < *lane { *value } else { *lane };
        }
    }
    let mut below = [0.0; LANES];
    for value in lanes {
        for (count, lane) in below.iter_mut().zip(&lanes) {
            *count += if value < *lane { 1.0 } else { 0.0 };
        }
    }
    let mut bound = 0.0;
    for (count, lane) in below.iter().zip(&lanes) {
        bound = if *count < k as f64 && *lane > bound { *lane } else { bound };
    }
    bound
}

/// One search.
struct Pass<'a, T> {
    finder: &'a mut Finder,
    sums: &'a [f64],
    values: &'a [f64],
    term: T,
}

impl<T: Term> Vectorised for Pass<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        self.minima();
        let bound = self.finder.bound();
        self.collect(bound);
        if self.finder.n_found > self.finder.n_neighbors {
            self.finder.cut();
        }
    }
}

impl<T: Term> Pass<'_, T> {
    #[inline(always)]
    fn minima(&mut self) {
        let blocks = self.sums.as_chunks::<BLOCK>().0.iter().zip(self.values.as_chunks::<BLOCK>().0);
        for ((sums, values), least) in blocks.zip(self.finder.least.as_chunks_mut::<LANES>().0) {
            let mut lanes = [f64::INFINITY; LANES];
            for (sums, values) in sums.as_chunks::<LANES>().0.iter().zip(values.as_chunks::<LANES>().0) {
                for ((lane, sum), value) in lanes.iter_mut().zip(sums).zip(values) {
                    let distance = *sum + self.term.of(*value);
                    *lane = if distance < *lane { distance } else { *lane };
                }
            }
            *least = lanes;
        }
    }

    /// All rows within the bound, but of those in blocks after k such rows only the ones that are nearer.
    ///
    /// Cost: few are within the bound and no one can tell which, so that a branch on each would be a wrong guess of the processor
    /// for most of them. All are written down and only those within the bound counted.
    #[inline(always)]
    fn collect(&mut self, mut bound: f64) {
        let k = self.finder.n_neighbors;
        let mut n_lanes = 0;
        for (lane, least) in self.finder.least.iter().enumerate() {
            self.finder.lanes[n_lanes] = lane as u32;
            n_lanes += usize::from(*least <= bound);
        }
        let (mut enough, mut block) = (false, 0);
        for at in 0..n_lanes {
            let lane = self.finder.lanes[at] as usize;
            if lane / LANES > block {
                block = lane / LANES;
                if self.finder.n_found > 2 * k + BLOCK {
                    bound = self.finder.cut().next_down();
                    enough = true;
                } else if !enough && self.finder.n_found >= k {
                    bound = bound.next_down();
                    enough = true;
                }
            }
            if self.finder.least[lane] <= bound {
                self.look(block * BLOCK + lane % LANES, bound);
            }
        }
    }

    /// The rows of one lane of a block.
    #[inline(always)]
    fn look(&mut self, first: usize, bound: f64) {
        let finder = &mut *self.finder;
        let (n_rows, mut n_found) = (finder.n_rows, finder.n_found);
        if finder.found.len() < n_found + DEPTH {
            finder.found.resize(2 * n_found + BLOCK, 0);
        }
        let found = finder.found.as_mut_slice();
        for row in (first..first + BLOCK).step_by(LANES) {
            let distance = self.sums[row] + self.term.of(self.values[row]);
            found[n_found] = (u128::from(distance.to_bits()) << 64) | row as u128;
            n_found += usize::from((distance <= bound) & (row < n_rows));
        }
        finder.n_found = n_found;
    }
}
