use super::*;
use crate::engine::{Cpu, Engine};
use crate::graph::paths::shortest_paths;
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};

fn edge(from: usize, to: usize, length: f64) -> Edge {
    Edge { from, to, length }
}

/// A closed chain, each vertex joined to the next two, of unit steps.
fn ring(n: usize) -> Vec<Edge> {
    (0..n).flat_map(|i| [edge(i, (i + 1) % n, 1.0), edge(i, (i + 2) % n, 2.0)]).collect()
}

/// The ring laid out flat: two lines of 30 points each, `gap` apart.
fn hairpin(gap: f64) -> Matrix<f64> {
    Matrix::from_fn(60, 2, |i, j| match (j, i < 30) {
        (0, true) => i as f64,
        (0, false) => (59 - i) as f64,
        (_, first) => gap * f64::from(u8::from(!first)),
    })
}

/// A square of side `side`, joined along sides and diagonals.
fn grid(side: usize, first: usize) -> Vec<Edge> {
    let at = |i: usize, j: usize| first + i * side + j;
    let mut edges = Vec::new();
    for i in 0..side {
        for j in 0..side {
            for (k, l, length) in [(i + 1, j, 1.0), (i, j + 1, 1.0), (i + 1, j + 1, 2f64.sqrt())] {
                if k < side && l < side {
                    edges.push(edge(at(i, j), at(k, l), length));
                }
            }
        }
    }
    edges
}

fn look(n: usize, edges: &[Edge], x: Option<&Matrix<f64>>) -> ShortCircuits {
    let graph = Graph::from_edges(n, edges).unwrap();
    short_circuits(&graph, x.map(|x| AnyPoints::F64(x.into())), 1, &Watch::default()).unwrap()
}

fn ends(found: &ShortCircuits) -> Vec<(usize, usize)> {
    let mut ends: Vec<_> = found.suspects.iter().map(|s| (s.edge.from, s.edge.to)).collect();
    ends.sort_unstable();
    ends
}

#[test]
fn a_chord_of_a_ring_is_found_without_rows() {
    let mut edges = ring(60);
    edges.push(edge(10, 40, 2.5));
    let found = look(60, &edges, None);
    assert_eq!(ends(&found), [(10, 40)]);
    let chord = &found.suspects[0];
    // 30 steps round the ring. The chord carries more than its share of paths.
    assert_eq!((chord.detour, chord.angle, found.n_sources), (Some(30.0 / 2.5), None, 60));
    assert!(chord.flow > 3.0, "{}", chord.flow);
    assert_eq!(look(60, &ring(60), None), ShortCircuits { suspects: vec![], n_sources: 0 });
}

#[test]
fn chords_in_one_place_do_not_vouch_for_each_other() {
    let x = hairpin(5.0);
    let mut edges = ring(60);
    let chords: Vec<(usize, usize)> = (13..16).flat_map(|i| [(i, 58 - i), (i, 59 - i)]).collect();
    edges.extend(chords.iter().map(|(a, b)| edge(*a, *b, 5f64.hypot((b + a) as f64 - 59.0))));
    let found = look(60, &edges, Some(&x));
    assert_eq!(ends(&found), chords);
    assert!(found.suspects.iter().all(|s| s.angle.is_some() && s.detour.unwrap() > 5.0));
    assert!(found.suspects.windows(2).all(|pair| pair[0].detour >= pair[1].detour));
    assert_eq!(ends(&look(60, &edges, None)), chords);
}

#[test]
fn the_unit_of_length_does_not_matter() {
    let mut edges = ring(60);
    edges.push(edge(10, 40, 2.5));
    for unit in [2f64.powi(-600), 2f64.powi(300)] {
        let scaled: Vec<Edge> = edges.iter().map(|e| edge(e.from, e.to, unit * e.length)).collect();
        let found = look(60, &scaled, None);
        assert_eq!(ends(&found), [(10, 40)]);
        assert_eq!(found.suspects[0].detour, Some(12.0));
    }
}

#[test]
fn a_grid_has_none() {
    let x = Matrix::from_fn(400, 3, |i, j| [(i / 20) as f64, (i % 20) as f64, 0.0][j]);
    assert!(look(400, &grid(20, 0), Some(&x)).suspects.is_empty());
    assert!(look(400, &grid(20, 0), None).suspects.is_empty());
}

#[test]
fn an_only_link_is_none() {
    let mut edges = grid(8, 0);
    edges.extend(grid(8, 64));
    edges.push(edge(30, 100, 9.0));
    assert!(look(128, &edges, None).suspects.is_empty());
    let x = Matrix::from_fn(128, 3, |i, j| [(i % 64 / 8) as f64, (i % 8) as f64, 9.0 * (i / 64) as f64][j]);
    assert!(look(128, &edges, Some(&x)).suspects.is_empty());
}

#[test]
fn degenerate_graphs_have_none() {
    assert!(look(0, &[], None).suspects.is_empty());
    assert!(look(3, &[], Some(&Matrix::zeros(3, 2))).suspects.is_empty());
    assert!(look(2, &[edge(0, 1, 0.0)], Some(&Matrix::zeros(2, 2))).suspects.is_empty());
    // Forty copies of one row, and a chain that starts there.
    let mut edges: Vec<Edge> = (0..40).flat_map(|i| (0..i).map(move |j| edge(j, i, 0.0))).collect();
    edges.extend((39..60).map(|i| edge(i, i + 1, 1.0)));
    let x = Matrix::from_fn(61, 2, |i, j| if j == 0 { i.saturating_sub(39) as f64 } else { 0.0 });
    assert!(look(61, &edges, Some(&x)).suspects.is_empty());
}

/// A random graph whose lengths are whole numbers, so that sums are exact.
fn random_graph(n: usize, seed: u64) -> Graph {
    let mut random = Stream::new(seed, Purpose::Probes);
    let edges: Vec<Edge> = (0..2 * n)
        .filter_map(|_| {
            let (from, to) = (random.below(n), random.below(n));
            (from != to).then(|| edge(from, to, 1.0 + random.below(9) as f64))
        })
        .collect();
    Graph::from_edges(n, &edges).unwrap()
}

#[test]
fn searches_from_both_ends_agree_with_shortest_paths() {
    for seed in 0..5 {
        let graph = random_graph(60, seed);
        let open = vec![true; graph.targets().len()];
        let mut search = way_round::Search::new(&graph, &open);
        for a in 0..60 {
            let distances = shortest_paths(&graph, a).distances;
            for b in (0..60).filter(|b| *b != a) {
                for limit in [4.0, 9.0, 14.0, 30.0, 1e9] {
                    assert_eq!(search.reaches(a, b, limit), distances[b] <= limit, "{a} {b} {limit}");
                }
            }
        }
    }
}

#[test]
fn flow_counts_the_paths_of_a_chain() {
    // From each of 5 vertices in a row: edge i is taken by (i + 1)(4 − i) ordered pairs each way, 8, 12, 12, 8.
    let graph = Graph::from_edges(5, &(0..4).map(|i| edge(i, i + 1, 1.0)).collect::<Vec<_>>()).unwrap();
    let (flows, n_sources) = flow::of_edges(&graph, &Numbered::new(&graph), 1, &Watch::default()).unwrap();
    assert_eq!(n_sources, 5);
    assert_eq!(flows, [8.0 / 12.0, 1.0, 1.0, 8.0 / 12.0]);
}

/// Vertex 0 in a plane of a space of `d` columns with eight neighbours in the plane and one straight above.
#[test]
fn angles_are_those_to_the_plane_in_few_and_many_columns() {
    for d in [3, 40] {
        let x = Matrix::from_fn(10, d, |i, j| match (i, j) {
            (1..=8, 0) => (i as f64).cos(),
            (1..=8, 1) => (i as f64).sin(),
            (9, 2) => 4.0,
            _ => 0.0,
        });
        let edges: Vec<Edge> = (1..10).map(|i| edge(0, i, if i == 9 { 4.0 } else { 1.0 })).collect();
        let graph = Graph::from_edges(10, &edges).unwrap();
        let tangents =
            Tangents::new(&graph, AnyPoints::F64((&x).into()), &[1.0; 10], &Watch::default()).unwrap();
        // The other end has one neighbour only, so its tangent is the edge: 0 degrees, to the root of the rounding.
        let (smaller, larger) = tangents.telling(&graph, edges[8]).unwrap();
        assert!(smaller < 1e-5 && (larger - 90.0).abs() < 1e-5, "{smaller} {larger}");
        let (_, larger) = tangents.telling(&graph, edges[0]).unwrap();
        assert!(larger < 1e-5, "{larger}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut random = Stream::new(3, Purpose::Probes);
    let x = hairpin(2.5);
    let mut edges = ring(60);
    edges.extend((0..6).map(|_| random.below(20)).map(|i| edge(i, 59 - i, 2.5)));
    let run = |threads: usize| {
        let mut found = None;
        Cpu::new(threads).unwrap().run(&mut || found = Some(look(60, &edges, Some(&x))));
        found.unwrap()
    };
    assert_eq!(run(1), run(3));
    assert!(!run(1).suspects.is_empty());
}

#[test]
fn rows_must_belong_to_the_graph() {
    let graph = Graph::from_edges(3, &[edge(0, 1, 1.0)]).unwrap();
    let x = Matrix::<f64>::zeros(4, 2);
    let wrong = short_circuits(&graph, Some(AnyPoints::F64((&x).into())), 1, &Watch::default()).unwrap_err();
    assert!(wrong.to_string().contains("4 rows for a graph of 3 vertices"), "{wrong}");
}

#[test]
fn a_suspect_says_why() {
    let mut suspect =
        Suspect { edge: edge(16, 902, 2.8149), flow: 230.2, detour: Some(14.21), angle: Some(78.4) };
    assert_eq!(
        suspect.sentence(),
        "rows 17 and 903 (distance 2.81): the way round is 14.2 times as long, it carries 230 times the median edge's \
         paths, and it leaves the surface at 78°"
    );
    (suspect.angle, suspect.detour) = (None, None);
    assert_eq!(
        suspect.sentence(),
        "rows 17 and 903 (distance 2.81): there is no way round, and it carries 230 times the median edge's paths"
    );
}
