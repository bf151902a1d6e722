//! The rows around a row, with ties taken apart at random: expected counts, (S5).

use eigenlift::stats::Digamma;

/// The rows of the joint cell around row i.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ball {
    /// Distance to the k-th nearest.
    pub(super) radius: f64,
    /// Neighbours looked for; 0 for a row without others.
    pub(super) k: u32,
    /// Rows strictly nearer than the radius, row i not counted; of a radius of 0, rows equal to it, itself counted.
    pub(super) within: u32,
    /// Rows exactly at the radius.
    pub(super) at: u32,
    /// Those of them that are at the radius on side a, and on side b.
    pub(super) at_sides: [u32; 2],
}

/// Rows of one side around row i, itself counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    /// Strictly nearer than the radius.
    pub(super) within: u32,
    /// Exactly at the radius; with a radius of 0, equal to it.
    pub(super) at: u32,
}

impl Ball {
    /// c_i of n rows.
    ///
    /// Ties at the radius are put in order at random. Of the `at` rows there, k − within − 1 come before the k-th; rows at the
    /// radius on one side only stand anywhere among these.
    pub(super) fn term(&self, around: [Around; 2], n: usize, psi: &Digamma) -> f64 {
        if self.k == 0 {
            return 0.0;
        }
        if self.radius == 0.0 {
            let [a, b] = around.map(|side| (side.within.max(1) + side.at).max(1));
            return psi.at(self.within as usize) + psi.at(n) - (psi.at(a as usize) + psi.at(b as usize));
        }
        let count = |side: usize| {
            let (k, within, at) = (f64::from(self.k), f64::from(self.within), f64::from(self.at));
            let own = f64::from(self.at_sides[side]);
            let others = f64::from(around[side].at) - own;
            f64::from(around[side].within)
                + (k - within - 1.0) / at * own
                + (k - within) / (at + 1.0) * others
        };
        psi.at(self.k as usize) + psi.at(n) - (psi.at_number(count(0)) + psi.at_number(count(1)))
    }
}
