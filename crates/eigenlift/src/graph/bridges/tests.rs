use super::*;
use crate::data::AnySamples;
use crate::graph::{Graph, Metric};
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};

/// Kruskal's algorithm over all pairs.
fn reference(length: impl Fn(usize, usize) -> f64, components: &Components) -> Vec<Edge> {
    let labels = components.labels();
    let pairs = (0..labels.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
    let mut edges: Vec<Edge> = pairs
        .filter(|(from, to)| labels[*from] != labels[*to])
        .map(|(from, to)| Edge { from, to, length: length(from, to) })
        .collect();
    edges.sort_by(order);
    let mut set: Vec<u32> = (0..components.count() as u32).collect();
    edges.retain(|edge| {
        let (a, b) = (set[labels[edge.from] as usize], set[labels[edge.to] as usize]);
        set.iter_mut().filter(|s| **s == a).for_each(|s| *s = b);
        a != b
    });
    edges
}

/// A graph whose components are those of `labels`.
fn components(labels: &[usize]) -> Components {
    let mut edges = Vec::new();
    for (to, label) in labels.iter().enumerate() {
        if let Some(from) = labels[..to].iter().rposition(|other| other == label) {
            edges.push(Edge { from, to, length: 1.0 });
        }
    }
    Components::of(&Graph::from_edges(labels.len(), &edges).unwrap())
}

fn rows_of(x: &Matrix<f64>, metric: Metric) -> Space {
    Space::Rows { samples: AnySamples::from(x.clone()), metric }
}

fn compare(x: &Matrix<f64>, labels: &[usize]) {
    let components = components(labels);
    let watch = Watch::default();
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine, Metric::Correlation] {
        let length = |i: usize, j: usize| metric.distance(x.row(i), x.row(j));
        let expected = reference(length, &components);
        assert_eq!(expected.len() + 1, components.count());
        assert_eq!(
            bridges(&rows_of(x, metric), x.into(), &components, &watch).unwrap(),
            expected,
            "{metric}"
        );
        let distances = Matrix::from_fn(x.n_rows(), x.n_rows(), |i, j| length(i.min(j), i.max(j)));
        let space = Space::Distances { n_samples: x.n_rows() };
        assert_eq!(bridges(&space, (&distances).into(), &components, &watch).unwrap(), expected, "{metric}");
    }
}

#[test]
fn blobs_are_joined_as_by_all_pairs() {
    let mut stream = Stream::new(1, Purpose::Synthetic);
    for d in [1, 2, 3, 70] {
        let centres = Matrix::from_fn(50, d, |_, _| 10.0 * stream.gaussian());
        let labels: Vec<usize> = (0..300).map(|_| stream.below(50)).collect();
        let x = Matrix::from_fn(300, d, |i, j| centres[(labels[i], j)] + 0.3 * stream.gaussian());
        compare(&x, &labels);
    }
}

#[test]
fn overlapping_sets_single_rows_and_ties() {
    let mut stream = Stream::new(2, Purpose::Synthetic);
    let x = Matrix::from_fn(200, 3, |_, _| stream.uniform());
    // Two interleaved halves; then every row by itself.
    compare(&x, &(0..200).map(|i| i % 2).collect::<Vec<_>>());
    compare(&x, &(0..200).collect::<Vec<_>>());
    // A grid has ties and copies, also across components, and rows of zeros.
    let grid = Matrix::from_fn(120, 2, |i, j| if j == 0 { (i % 5) as f64 } else { (i / 5 % 4) as f64 });
    compare(&grid, &(0..120).map(|i| i % 7).collect::<Vec<_>>());
    compare(&grid, &(0..120).map(|i| i / 20).collect::<Vec<_>>());
    compare(&Matrix::zeros(9, 2), &(0..9).map(|i| i / 2).collect::<Vec<_>>());
}

#[test]
fn large_sets_are_joined_as_by_all_pairs() {
    // Many rows for each pair of sets: directions between them decide which are compared. Blobs, blobs far from zero, rings
    // within each other, a comb whose teeth interlock, and rows near the end of the range of numbers.
    let mut stream = Stream::new(4, Purpose::Synthetic);
    let labels: Vec<usize> = (0..900).map(|i| i % 3).collect();
    let noise = Matrix::from_fn(900, 5, |_, _| stream.gaussian());
    let blobs = Matrix::from_fn(900, 5, |i, j| 6.0 * ((labels[i] * (j + 1)) % 4) as f64 + noise[(i, j)]);
    compare(&blobs, &labels);
    compare(&Matrix::from_fn(900, 5, |i, j| 1e9 + blobs[(i, j)]), &labels);
    let turn = |i: usize| i as f64 * 0.7;
    let ring =
        |i: usize, j: usize| (1 + labels[i]) as f64 * if j == 0 { turn(i).cos() } else { turn(i).sin() };
    compare(&Matrix::from_fn(900, 2, |i, j| ring(i, j) + 0.05 * noise[(i, j)]), &labels);
    compare(&Matrix::from_fn(900, 2, |i, j| if j == 0 { i as f64 } else { 0.1 * noise[(i, 0)] }), &labels);
    compare(&Matrix::from_fn(900, 2, |i, j| 1e140 * blobs[(i, j)]), &labels);
}

#[test]
fn threads_change_nothing() {
    let mut stream = Stream::new(3, Purpose::Synthetic);
    let x = Matrix::from_fn(400, 2, |_, _| stream.uniform());
    let components = components(&(0..400).map(|i| i % 9).collect::<Vec<_>>());
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let space = rows_of(&x, Metric::Euclidean);
        pool.install(|| bridges(&space, (&x).into(), &components, &Watch::default()).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn lists_have_no_bridges_and_one_component_needs_none() {
    let x = Matrix::from_fn(6, 1, |i, _| i as f64);
    let parts = components(&[0, 0, 1, 1, 2, 2]);
    let lists = Space::Lists { n_samples: 6 };
    let message = bridges(&lists, (&x).into(), &parts, &Watch::default()).unwrap_err().to_string();
    assert!(message.contains("number of connected components is 3"), "{message}");
    assert_eq!(bridges(&lists, (&x).into(), &components(&[0; 6]), &Watch::default()).unwrap(), []);
    let short = Matrix::from_fn(5, 1, |i, _| i as f64);
    let space = rows_of(&x, Metric::Euclidean);
    assert!(bridges(&space, (&short).into(), &parts, &Watch::default()).is_err());
    assert!(bridges(&Space::Distances { n_samples: 6 }, (&x).into(), &parts, &Watch::default()).is_err());
    let cancel = crate::progress::CancelToken::default();
    cancel.cancel();
    let watch = Watch::default().cancelled_by(cancel);
    assert!(matches!(bridges(&space, (&x).into(), &parts, &watch), Err(Error::Cancelled)));
}
