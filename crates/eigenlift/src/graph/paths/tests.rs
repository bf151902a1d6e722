use super::*;
use crate::graph::Edge;
use crate::random::{Purpose, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// By a heap that keeps what is stale.
fn reference(graph: &Graph, source: usize) -> (Vec<f64>, Vec<u32>, Vec<u32>) {
    let n = graph.n_vertices();
    let (mut distances, mut parents, mut order) = (vec![f64::INFINITY; n], vec![u32::MAX; n], Vec::new());
    let mut done = vec![false; n];
    (distances[source], parents[source]) = (0.0, source as u32);
    let mut heap = BinaryHeap::from([Reverse((0u64, source as u32))]);
    while let Some(Reverse((_, v))) = heap.pop() {
        if std::mem::replace(&mut done[v as usize], true) {
            continue;
        }
        order.push(v);
        let (targets, lengths) = graph.row(v as usize);
        for (to, length) in targets.iter().zip(lengths) {
            let (to, through) = (*to as usize, distances[v as usize] + length);
            if through < distances[to] {
                (distances[to], parents[to]) = (through, v);
                heap.push(Reverse((through.to_bits(), to as u32)));
            }
        }
    }
    (distances, parents, order)
}

fn random_graph(n: usize, edges: usize, seed: u64, mut length: impl FnMut(&mut Stream) -> f64) -> Graph {
    let mut stream = Stream::new(seed, Purpose::Synthetic);
    let edges: Vec<Edge> = (0..edges)
        .map(|_| Edge { from: stream.below(n), to: stream.below(n), length: length(&mut stream) })
        .filter(|edge| edge.from != edge.to)
        .collect();
    Graph::from_edges(n, &edges).unwrap()
}

/// Points of the unit square, each joined to those within `reach`.
fn sheet(n: usize, reach: f64) -> Graph {
    let mut stream = Stream::new(9, Purpose::Synthetic);
    let points: Vec<(f64, f64)> = (0..n).map(|_| (stream.uniform(), stream.uniform())).collect();
    let mut edges = Vec::new();
    for to in 0..n {
        for from in 0..to {
            let length = (points[from].0 - points[to].0).hypot(points[from].1 - points[to].1);
            if length < reach {
                edges.push(Edge { from, to, length });
            }
        }
    }
    Graph::from_edges(n, &edges).unwrap()
}

/// Dense, sparse with many parts, ties with zero lengths, lengths of very different sizes, a sheet, a chain, no edges.
fn graphs() -> Vec<Graph> {
    let chain: Vec<Edge> = (1..150).map(|to| Edge { from: to - 1, to, length: 0.1 }).collect();
    vec![
        random_graph(120, 2000, 1, Stream::uniform),
        random_graph(300, 140, 2, Stream::uniform),
        random_graph(200, 500, 3, |stream| stream.below(3) as f64),
        random_graph(200, 600, 4, |stream| 10f64.powi(stream.below(30) as i32 - 15)),
        sheet(400, 0.09),
        Graph::from_edges(150, &chain).unwrap(),
        Graph::from_edges(20, &[]).unwrap(),
    ]
}

#[test]
fn trees_are_those_of_a_plain_search() {
    for graph in graphs() {
        for source in (0..graph.n_vertices()).step_by(7) {
            let tree = shortest_paths(&graph, source);
            assert_eq!((tree.distances, tree.parents, tree.order), reference(&graph, source));
        }
    }
}

#[test]
fn memory_of_a_search_is_reused() {
    let graph = sheet(200, 0.1);
    let mut search = Dijkstra::new(200);
    for source in 0..20 {
        search.clear();
        search.add(source);
        (0..source).for_each(|_| _ = search.next(&graph, |_, _| true));
        search.clear();
        search.add(source);
        search.finish(&graph);
        assert_eq!(search.distances, reference(&graph, source).0);
    }
}

#[test]
fn batches_have_the_bits_of_single_searches() {
    for graph in graphs() {
        let all = all_distances(&graph, &Watch::default()).unwrap();
        for source in 0..graph.n_vertices() {
            assert_eq!(all.row(source), reference(&graph, source).0);
        }
    }
    // Large groups, whose batches share an order.
    let graph = sheet(MANY + 30, 0.05);
    let all = all_distances(&graph, &Watch::default()).unwrap();
    (0..MANY + 30).step_by(11).for_each(|source| assert_eq!(all.row(source), reference(&graph, source).0));
}

#[test]
fn some_sources_in_any_order_and_more_than_once() {
    for graph in graphs() {
        let n = graph.n_vertices();
        for count in [0, 1, 7, 8, 40] {
            let mut stream = Stream::new(count as u64, Purpose::Rows);
            let mut sources: Vec<usize> = (0..count).map(|_| stream.below(n)).collect();
            sources.extend(sources.first().copied().into_iter().cycle().take(20));
            let rows = distances_from(&graph, &sources, &Watch::default()).unwrap();
            let columns = distances_to(&graph, &sources, &Watch::default()).unwrap();
            assert_eq!((rows.n_rows(), rows.n_cols()), (sources.len(), n));
            assert_eq!((columns.n_rows(), columns.n_cols()), (n, sources.len()));
            for (at, source) in sources.iter().enumerate() {
                assert_eq!(rows.row(at), reference(&graph, *source).0);
                assert_eq!(columns.column(at), rows.row(at));
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let graph = sheet(300, 0.1);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| spread_sources(&graph, 50, 3, &Watch::default()).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn spread_sources_are_the_farthest_ones() {
    for graph in graphs() {
        let (chosen, distances) = spread_sources(&graph, 21, 5, &Watch::default()).unwrap();
        let n = graph.n_vertices();
        let count = n.min(21);
        assert_eq!(
            chosen[..count.div_ceil(2)],
            Stream::new(5, Purpose::Landmarks).rows(n, count.div_ceil(2))
        );
        let trees: Vec<Vec<f64>> = chosen.iter().map(|s| reference(&graph, *s).0).collect();
        for next in count.div_ceil(2)..count {
            let nearest = |v: usize| trees[..next].iter().map(|tree| tree[v]).fold(f64::INFINITY, f64::min);
            let left = (0..n).filter(|v| !chosen[..next].contains(v));
            let farthest = left.reduce(|a, b| if nearest(b) > nearest(a) { b } else { a });
            assert_eq!(Some(chosen[next]), farthest);
        }
        (0..count).for_each(|at| assert_eq!(distances.column(at), trees[at]));
    }
    let (chosen, distances) = spread_sources(&sheet(5, 2.0), 9, 0, &Watch::default()).unwrap();
    assert_eq!((chosen.len(), distances.n_cols()), (5, 5));
}

#[test]
fn sources_must_exist_and_work_can_be_cancelled() {
    let graph = sheet(30, 0.5);
    let message = distances_from(&graph, &[3, 30], &Watch::default()).unwrap_err().to_string();
    assert!(message.contains("row 31") && message.contains("30 rows"), "{message}");
    assert!(shortest_paths(&graph, 30).order.is_empty());
    let cancel = crate::progress::CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    assert!(matches!(all_distances(&graph, &watch), Err(Error::Cancelled)));
    assert!(matches!(distances_to(&graph, &[1], &watch), Err(Error::Cancelled)));
}
