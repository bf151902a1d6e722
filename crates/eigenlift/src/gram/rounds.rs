//! A schedule of block pairs in rounds: within a round no block appears twice.
//!
//! Why: a tile (I, J) adds to the results of both I and J. In a round every thread may take any pair without meeting
//! another, and each block receives its contributions in the order of the rounds: same bits for any number of threads.

/// All pairs I ≤ J of `n_blocks` blocks, the diagonal first, then the rounds of a round-robin tournament.
pub(crate) fn rounds(n_blocks: usize) -> impl Iterator<Item = Vec<(usize, usize)>> {
    let players = n_blocks + n_blocks % 2;
    let turns = if n_blocks < 2 { 0 } else { players - 1 };
    let diagonal = (0..n_blocks).map(|i| (i, i)).collect();
    std::iter::once(diagonal).chain((0..turns).map(move |turn| {
        let circle = players - 1;
        let fixed = std::iter::once((turn, circle));
        let others =
            (1..players / 2).map(move |step| ((turn + step) % circle, (turn + circle - step) % circle));
        fixed.chain(others).map(|(a, b)| (a.min(b), a.max(b))).filter(|(_, b)| *b < n_blocks).collect()
    }))
}

/// Number of rounds, for progress.
pub(crate) fn round_count(n_blocks: usize) -> usize {
    if n_blocks < 2 { 1 } else { n_blocks + n_blocks % 2 }
}

/// Where tile (i, j), i ≤ j, stands among the upper tiles counted row by row.
pub(crate) fn tile_index(i: usize, j: usize, n_blocks: usize) -> usize {
    i * n_blocks - i * i.saturating_sub(1) / 2 + (j - i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once_and_no_block_twice_in_a_round() {
        for n in 0..12 {
            let mut seen = vec![0; n * (n + 1) / 2];
            let mut turns = 0;
            for round in rounds(n) {
                turns += 1;
                let mut used = vec![0; n];
                for (i, j) in round {
                    seen[tile_index(i, j, n)] += 1;
                    used[i] += 1;
                    used[j] += usize::from(i != j);
                }
                assert!(used.iter().all(|u| *u <= 1), "{n} blocks");
            }
            assert!(seen.iter().all(|s| *s == 1), "{n} blocks: {seen:?}");
            assert_eq!(turns, round_count(n));
        }
    }
}
