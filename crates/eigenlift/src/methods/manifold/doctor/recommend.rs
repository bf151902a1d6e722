//! Which number of neighbours, and why.

use super::{COLLAPSE, GIANT_SHARE, SweepRow};

/// A fall of the mean distance between neighbouring entries of the sweep that points to short circuits.
const STEEP_DROP: f64 = 0.10;
/// How far above the best residual variance a smaller number of neighbours may be.
const NEAR_BEST: f64 = 0.05;
/// Differences of residual variance below this mean nothing.
const SAME_VARIANCE: f64 = 1e-3;
/// From so many neighbours on, suspects count against a graph.
const RELIABLE_NEIGHBORS: usize = 6;
/// Residual variance of a graph whose distances are to be believed, with this many neighbors or more.
const FAITHFUL: f64 = 0.05;
const FAITHFUL_NEIGHBORS: usize = 5;
/// So many numbers of neighbours that all leave pieces point to separate data.
const SAME_PIECES: usize = 3;
/// Residual variance above which a picture is not to be believed.
const UNFAITHFUL: f64 = 0.10;

/// The smallest number of neighbours whose embedding is nearly as good as the best in the safe range, and why.
pub(super) fn recommend(sweep: &[SweepRow]) -> (usize, String) {
    let Some(first) = sweep.iter().position(|row| row.giant_share >= GIANT_SHARE) else {
        let last = sweep.last().map_or(1, |row| row.n_neighbors);
        let parts = sweep.last().map_or(0, |row| row.n_components);
        return (last, in_pieces(last, parts));
    };
    let connected = &sweep[first..];
    let safe = safe_range(connected);
    let best = safe.iter().map(variance).fold(1.0, f64::min);
    let enough = best * (1.0 + NEAR_BEST) + SAME_VARIANCE;
    let chosen = safe.iter().find(|row| variance(row) <= enough).unwrap_or(&safe[0]);
    let k = chosen.n_neighbors;
    let mut sentence = format!(
        "Use {k} neighbours: {} with {} or more, and the embedding leaves {:.2} % of the variance of distances unexplained",
        if sweep[first].n_components == 1 {
            "the graph is connected"
        } else {
            "nearly all rows are connected"
        },
        sweep[first].n_neighbors,
        100.0 * variance(chosen)
    );
    sentence += &beyond(connected, safe.len(), k);
    if chosen.n_suspects.unwrap_or(0) > 0 {
        let count = chosen.n_suspects.unwrap_or(0);
        sentence += &format!(". {} like short circuits and may be cut", edges_that_look(count));
    }
    if variance(chosen) > UNFAITHFUL {
        sentence += ". No number of neighbours makes the picture faithful: more coordinates, or another method, are needed";
    }
    let pieces = sweep[..first].iter().filter(|row| row.n_neighbors >= RELIABLE_NEIGHBORS).count();
    if pieces >= SAME_PIECES {
        let parts = sweep[first - 1].n_components;
        sentence += &format!(
            ". With fewer neighbours the graph keeps falling into pieces ({parts} with {}): the data may be separate. Then embed each piece by itself (separate)",
            sweep[first - 1].n_neighbors
        );
    }
    (k, sentence + ".")
}

fn variance(row: &SweepRow) -> f64 {
    row.residual_variance.unwrap_or(1.0)
}

fn in_pieces(last: usize, parts: usize) -> String {
    format!(
        "Even with {last} neighbours the graph falls into {parts} components: the data come in separate pieces. Embed each by itself \
         (separate), or join them by bridges and distrust distances between them."
    )
}

fn edges_that_look(count: usize) -> String {
    if count == 1 { "1 edge looks".into() } else { format!("{count} edges look") }
}

/// Whether distances fell steeply from the row before, and the embedding became worse for good.
///
/// Why both: with few neighbours paths zigzag, and distances fall as further edges straighten them while the embedding gets
/// better.
fn is_torn(connected: &[SweepRow], at: usize) -> bool {
    let later = connected[at..].iter().map(variance).fold(1.0, f64::min);
    connected[at].drop.is_some_and(|drop| drop > STEEP_DROP)
        && later > variance(&connected[at - 1]) + SAME_VARIANCE
}

/// Fraction by which distances fell from those of a graph of fewer neighbors that was embedded faithfully, where it is more than straighter
/// paths explain.
///
/// Why: where every path is short-circuited the embedding may be good again, of other distances. The longer ones are those along the surface.
fn collapse(connected: &[SweepRow], at: usize) -> Option<f64> {
    let faithful = |row: &&SweepRow| row.n_neighbors >= FAITHFUL_NEIGHBORS && variance(row) <= FAITHFUL;
    let means = connected[..at].iter().filter(faithful).filter_map(|row| row.mean_geodesic);
    let longest = means.fold(0.0, f64::max);
    let fall = 1.0 - connected[at].mean_geodesic? / longest;
    (longest > 0.0 && fall > COLLAPSE).then_some(fall)
}

/// Rows before the first sign of short circuits, at least one. With very few neighbours sparse places look suspicious, so
/// suspects count from 6 on.
fn safe_range(connected: &[SweepRow]) -> &[SweepRow] {
    let suspicious =
        |row: &SweepRow| row.n_neighbors >= RELIABLE_NEIGHBORS && row.n_suspects.unwrap_or(0) > 0;
    let end = (1..connected.len())
        .find(|at| {
            is_torn(connected, *at)
                || collapse(connected, *at).is_some()
                || suspicious(&connected[*at]) && !suspicious(&connected[at - 1])
        })
        .unwrap_or(connected.len());
    &connected[..end]
}

/// The largest number of neighbors of the safe range: its graph has no sign of short circuits, and fewer holes than smaller ones.
pub(super) fn safest(sweep: &[SweepRow]) -> Option<usize> {
    let first = sweep.iter().position(|row| row.giant_share >= GIANT_SHARE)?;
    safe_range(&sweep[first..]).last().map(|row| row.n_neighbors)
}

/// What happens after the safe range, in words.
fn beyond(connected: &[SweepRow], n_safe: usize, k: usize) -> String {
    match connected.get(n_safe) {
        Some(row) if is_torn(connected, n_safe) => format!(
            "; with {} neighbours distances along the graph fall by {:.0} %, as short circuits make them",
            row.n_neighbors,
            100.0 * row.drop.unwrap_or(0.0)
        ),
        Some(row) if collapse(connected, n_safe).is_some() => format!(
            "; with {} neighbors distances along the graph are {:.0} % below those of fewer neighbors, as short circuits make them",
            row.n_neighbors,
            100.0 * collapse(connected, n_safe).unwrap_or(0.0)
        ),
        Some(row) => {
            let suspects = row.n_suspects.unwrap_or(0);
            format!("; with {} neighbours {} like short circuits", row.n_neighbors, edges_that_look(suspects))
        }
        None if connected.last().is_some_and(|row| row.n_neighbors > k) => {
            "; more neighbours change little".into()
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::methods::manifold::IsomapDoctor;
    use crate::random::{Purpose, Stream};

    fn row(n_neighbors: usize, variance: f64, drop: f64) -> SweepRow {
        SweepRow {
            n_neighbors,
            n_components: if n_neighbors < 5 { 3 } else { 1 },
            giant_share: if n_neighbors < 5 { 0.5 } else { 1.0 },
            residual_variance: Some(variance),
            mean_geodesic: Some(1.0),
            drop: Some(drop),
            n_suspects: Some(0),
            fall: None,
            too_many: false,
        }
    }

    #[test]
    fn the_smallest_good_number_before_the_drop_is_recommended() {
        let sweep =
            [row(4, 0.0, 0.0), row(5, 0.2, 0.0), row(6, 0.031, 0.05), row(8, 0.030, 0.02), row(10, 0.2, 0.4)];
        let (k, sentence) = recommend(&sweep);
        assert_eq!(k, 6);
        assert!(
            sentence.contains("with 5 or more") && sentence.contains("10 neighbours distances"),
            "{sentence}"
        );
    }

    /// Paths straighten with further edges: distances fall, and the embedding gets better. No short circuit is spoken of.
    #[test]
    fn a_fall_that_improves_the_embedding_is_no_short_circuit() {
        let sweep = [row(5, 0.05, 0.0), row(6, 0.02, 0.15), row(8, 0.004, 0.05), row(10, 0.0035, 0.02)];
        let (k, sentence) = recommend(&sweep);
        assert_eq!(k, 8);
        assert!(!sentence.contains("short circuits"), "{sentence}");
    }

    /// A hairpin whose arms melt together: the last graph is embedded best, but its distances are those of a blob.
    #[test]
    fn a_graph_whose_distances_collapsed_is_not_recommended() {
        let mut sweep = [
            row(5, 0.035, 0.0),
            row(8, 0.028, 0.05),
            row(12, 0.040, 0.09),
            row(20, 0.020, 0.09),
            row(50, 0.001, 0.09),
        ];
        [10.0, 9.5, 8.6, 7.4, 4.0]
            .iter()
            .zip(&mut sweep)
            .for_each(|(mean, row)| row.mean_geodesic = Some(*mean));
        let (k, sentence) = recommend(&sweep);
        assert_eq!(k, 8, "{sentence}");
        assert!(
            sentence.contains("with 20 neighbors distances along the graph are 26 % below"),
            "{sentence}"
        );
    }

    #[test]
    fn suspects_end_the_safe_range() {
        let mut sweep = [row(5, 0.05, 0.0), row(8, 0.01, 0.02), row(10, 0.009, 0.02), row(12, 0.001, 0.02)];
        sweep[2].n_suspects = Some(3);
        let (k, sentence) = recommend(&sweep);
        assert_eq!(k, 8);
        assert!(sentence.contains("10 neighbours 3 edges look like short circuits"), "{sentence}");
    }

    #[test]
    fn a_picture_that_shows_little_is_not_praised() {
        let (_, sentence) = recommend(&[row(5, 0.4, 0.0), row(6, 0.39, 0.0)]);
        assert!(sentence.contains("No number of neighbours"), "{sentence}");
    }

    /// Flat sheets have no short circuits, whatever their size.
    #[test]
    fn flat_sheets_are_healthy() {
        for (n, seed) in [(80, 1), (200, 2), (500, 3)] {
            let mut random = Stream::new(seed, Purpose::Synthetic);
            let sheet =
                Matrix::from_fn(n, 3, |_, j| if j < 2 { [5.0, 3.0][j] * random.uniform() } else { 0.0 });
            let report = IsomapDoctor::new(2).examine(sheet).unwrap();
            assert!(!report.sentence.contains("as short circuits make them"), "{n}: {}", report.sentence);
            assert!(report.recommended >= 5, "{n}: {}", report.sentence);
        }
    }

    #[test]
    fn data_in_pieces_are_called_that() {
        let (k, sentence) = recommend(&[row(3, 0.1, 0.0), row(4, 0.1, 0.0)]);
        assert_eq!(k, 4);
        assert!(sentence.contains("3 components"), "{sentence}");
        assert_eq!(recommend(&[]).0, 1);
    }
}
