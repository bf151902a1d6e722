//! Searches against all distances, sorted.

use super::*;
use crate::data::{AnySamples, Csr, Samples};
use crate::engine::{Cpu, Engine};
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};

const METRICS: [Metric; 4] = [Metric::Euclidean, Metric::Manhattan, Metric::Cosine, Metric::Correlation];

/// All distances by the formula, sorted.
struct Slow(Vec<Vec<(f64, u32)>>);

impl Slow {
    fn new(samples: AnyPoints<'_>, metric: Metric, x: AnyPoints<'_>, themselves: bool) -> Self {
        let (rows, samples) = (x.to_dense::<f64>(), samples.to_dense::<f64>());
        let lists = (0..rows.n_rows()).map(|i| {
            let mut all: Vec<(f64, u32)> = (0..samples.n_rows())
                .filter(|j| !(themselves && i == *j))
                .map(|j| (metric.distance(rows.row(i), samples.row(j)), j as u32))
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all
        });
        Self(lists.collect())
    }

    fn cut(&self, reach: Reach) -> Neighbors {
        let list = |all: &Vec<(f64, u32)>| match reach {
            Reach::Nearest(k) => all.iter().take(k).copied().collect(),
            Reach::Within(radius) => all.iter().filter(|(d, _)| *d <= radius).copied().collect(),
        };
        Neighbors::from_lists(&self.0.iter().map(list).collect::<Vec<_>>())
    }
}

fn slow(
    samples: AnyPoints<'_>,
    metric: Metric,
    x: AnyPoints<'_>,
    themselves: bool,
    reach: Reach,
) -> Neighbors {
    Slow::new(samples, metric, x, themselves).cut(reach)
}

fn gaussian(n: usize, d: usize, seed: u64) -> Matrix<f64> {
    let mut stream = Stream::new(seed, Purpose::Synthetic);
    Matrix::from_fn(n, d, |_, _| stream.gaussian())
}

fn sparse(rows: &Matrix<f64>) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..rows.n_rows() {
        for (j, x) in rows.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j as u32);
            values.push(*x);
        }
        offsets.push(values.len());
    }
    Csr::new(offsets, columns, values, rows.n_cols()).unwrap()
}

/// Every exact search of these samples gives what the slow one does, to the last bit.
fn agree(samples: &AnySamples, new: AnyPoints<'_>, metric: Metric, reaches: &[Reach]) {
    let space = Space::Rows { samples: samples.clone(), metric };
    let watch = Watch::default();
    let expected = Slow::new(samples.points(), metric, samples.points(), true);
    let expected_new = Slow::new(samples.points(), metric, new, false);
    for reach in reaches {
        for how in [Search::Auto, Search::Brute, Search::Tree] {
            if how == Search::Tree && matches!(metric, Metric::Cosine | Metric::Correlation) {
                continue;
            }
            let search = NeighborSearch { reach: *reach, how };
            let found = search.among(&space, samples.points(), &watch).unwrap();
            assert!(found.neighbors == expected.cut(*reach), "{metric} {reach:?} {how:?}");
            let found = search.of_new(&space, new, &watch).unwrap();
            assert!(found == expected_new.cut(*reach), "new {metric} {reach:?} {how:?}");
        }
    }
}

/// Radii that find none, some and all.
fn reaches(metric: Metric, width: f64) -> Vec<Reach> {
    let some = if matches!(metric, Metric::Euclidean | Metric::Manhattan) { width } else { 0.3 };
    let radii = [1e-9 * some, some, f64::INFINITY];
    let counts = [1, 7, 150].map(Reach::Nearest);
    counts.into_iter().chain(radii.map(Reach::Within)).collect()
}

#[test]
fn all_metrics_precisions_and_formats_agree() {
    let mut x = gaussian(200, 5, 1);
    // Zeros for sparse rows, some rows all zero, some twice.
    let old = x.clone();
    x = Matrix::from_fn(
        200,
        5,
        |i, j| if i % 50 == 3 || (i + j) % 3 == 0 { 0.0 } else { old[(i - i % 2, j)] },
    );
    let new = gaussian(40, 5, 2);
    let single = Matrix::from_fn(200, 5, |i, j| x[(i, j)] as f32);
    let formats: [AnySamples; 3] = [x.clone().into(), single.into(), Samples::from(sparse(&x)).into()];
    for metric in METRICS {
        for samples in &formats {
            agree(samples, (&new).into(), metric, &reaches(metric, 1.0));
        }
    }
}

#[test]
fn ties_on_a_grid_go_to_the_first_sample() {
    let grid: AnySamples = Matrix::from_fn(400, 2, |i, j| if j == 0 { i / 20 } else { i % 20 } as f64).into();
    for metric in METRICS {
        let reaches =
            [Reach::Nearest(5), Reach::Nearest(200), Reach::Within(1.0), Reach::Within(2f64.sqrt())];
        agree(&grid, grid.points(), metric, &reaches);
    }
}

#[test]
fn duplicates_constant_columns_and_offsets_agree() {
    let x = gaussian(150, 4, 3);
    let same: AnySamples = Matrix::from_fn(150, 3, |_, _| 0.1).into();
    let few: AnySamples = Matrix::from_fn(150, 3, |i, j| if j == 1 { 0.7 } else { x[(i % 4, j)] }).into();
    let far: AnySamples = Matrix::from_fn(150, 4, |i, j| 1e6 + x[(i, j)]).into();
    let far_single: AnySamples = Matrix::from_fn(150, 4, |i, j| (1e4 + x[(i, j)]) as f32).into();
    // Clusters of a width of a millionth: single precision sees nothing inside of them.
    let tight: AnySamples =
        Matrix::from_fn(150, 4, |i, j| ((i % 2 + j) as f64).sin() + 1e-6 * x[(i, j)]).into();
    let tiny: AnySamples = Matrix::from_fn(150, 4, |i, j| 1e-170 * x[(i, j)]).into();
    let small: AnySamples = Matrix::from_fn(150, 4, |i, j| 1e-100 * x[(i, j)]).into();
    for metric in METRICS {
        for samples in [&same, &few, &far, &far_single, &tight, &tiny, &small] {
            agree(
                samples,
                samples.points(),
                metric,
                &[Reach::Nearest(9), Reach::Within(1.3), Reach::Within(1e-6)],
            );
        }
    }
}

#[test]
fn many_columns_agree() {
    // More samples than a tile has, and rows in clusters far apart.
    let x = gaussian(560, 40, 4);
    let clusters = Matrix::from_fn(560, 40, |i, j| x[(i, j)] + 30.0 * x[(i % 5, j)]);
    for metric in METRICS {
        agree(&clusters.clone().into(), (&x).into(), metric, &[Reach::Nearest(10), Reach::Within(8.0)]);
    }
}

#[test]
fn given_distances_are_searched_without_their_diagonal() {
    let x = gaussian(50, 3, 5);
    let distances =
        Matrix::from_fn(
            50,
            50,
            |i, j| {
                if i == j { 9.0 } else { Metric::Euclidean.distance(x.row(i), x.row(j)) }
            },
        );
    let space = Space::Distances { n_samples: 50 };
    for reach in [Reach::Nearest(4), Reach::Within(1.0)] {
        let search = NeighborSearch { reach, how: Search::Auto };
        let found = search.among(&space, (&distances).into(), &Watch::default()).unwrap();
        assert_eq!(found.neighbors, slow((&x).into(), Metric::Euclidean, (&x).into(), true, reach));
        let first = distances.view().rows(0..3).to_matrix();
        let found = search.of_new(&space, (&first).into(), &Watch::default()).unwrap();
        assert_eq!(found.n_rows(), 3);
        assert!(matches!(reach, Reach::Within(_)) || found.row(0).0.len() == 4);
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let watch = Watch::default();
    let x = gaussian(20, 3, 6);
    let samples: AnySamples = x.clone().into();
    let rows = |metric| Space::Rows { samples: samples.clone(), metric };
    let search = |reach, how| NeighborSearch { reach, how };
    let among = |search: NeighborSearch, space: &Space, x: &Matrix<f64>| {
        search.among(space, x.into(), &watch).unwrap_err().to_string()
    };
    let nearest = search(Reach::Nearest(3), Search::Auto);
    let text = among(search(Reach::Nearest(20), Search::Auto), &rows(Metric::Euclidean), &x);
    assert!(text.contains("20 neighbours of 20 rows") && text.contains("at most 19"), "{text}");
    assert!(among(nearest, &Space::Lists { n_samples: 3 }, &x).contains("given as lists"));
    assert!(among(search(Reach::Nearest(3), Search::Tree), &rows(Metric::Cosine), &x).contains("trees know"));
    assert!(among(nearest, &rows(Metric::Euclidean), &gaussian(20, 2, 1)).contains("rows of 2 columns"));
    assert!(among(nearest, &rows(Metric::Euclidean), &gaussian(19, 3, 1)).contains("19 rows"));
    let mut bad = x.clone();
    bad.as_mut_slice()[4] = f64::NAN;
    assert!(among(nearest, &rows(Metric::Euclidean), &bad).contains("row 2, column 2"));
    let given = Space::Distances { n_samples: 3 };
    let text = among(
        search(Reach::Nearest(1), Search::Auto),
        &given,
        &Matrix::from_fn(3, 3, |i, j| 1.0 - (i * j) as f64),
    );
    assert!(text.contains("-1 in row 2, column 3"), "{text}");
    assert!(among(nearest, &given, &Matrix::zeros(2, 3)).contains("2 rows"));
    let huge: AnySamples = Matrix::from_fn(30, 2, |i, _| 1e200 * i as f64).into();
    let space = Space::Rows { samples: huge.clone(), metric: Metric::Euclidean };
    for how in [Search::Brute, Search::Tree] {
        let error = search(Reach::Nearest(3), how).among(&space, huge.points(), &watch).unwrap_err();
        assert!(error.to_string().contains("a distance of inf"), "{error}");
    }
}

#[test]
fn one_sample_and_fewer_than_asked_for() {
    let one: AnySamples = Matrix::from_fn(1, 2, |_, j| j as f64).into();
    let space = Space::Rows { samples: one.clone(), metric: Metric::Euclidean };
    for how in [Search::Auto, Search::Brute, Search::Tree] {
        let search = NeighborSearch { reach: Reach::Nearest(5), how };
        let found = search.of_new(&space, (&Matrix::<f64>::zeros(30, 2)).into(), &Watch::default()).unwrap();
        assert_eq!(found.row(29), ([0].as_slice(), [1.0].as_slice()));
        assert!(search.among(&space, one.points(), &Watch::default()).is_err());
        let search = NeighborSearch { reach: Reach::Within(1.0), how };
        let found = search.among(&space, one.points(), &Watch::default()).unwrap();
        assert_eq!((found.neighbors.n_rows(), found.neighbors.n_links()), (1, 0));
    }
}

fn mixture(n: usize, d: usize) -> Matrix<f64> {
    let (x, centres) = (gaussian(n, d, 7), gaussian(20, d, 8));
    Matrix::from_fn(n, d, |i, j| x[(i, j)] + 3.0 * centres[(i % 20, j)])
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let samples: AnySamples = mixture(2500, 6).into();
    for how in [Search::Brute, Search::Tree] {
        let space = Space::Rows { samples: samples.clone(), metric: Metric::Euclidean };
        let search = NeighborSearch { reach: Reach::Nearest(8), how };
        let [one, two] = [1, 2].map(|threads| {
            let mut found = None;
            let engine = Cpu::new(threads).unwrap();
            engine.run(&mut || {
                found = Some(search.among(&space, samples.points(), &Watch::default()).unwrap())
            });
            found.unwrap()
        });
        assert!(one.neighbors == two.neighbors, "{how:?}");
    }
}

#[test]
fn settings_of_versions_with_an_approximate_search_are_read() {
    let text = r#"{"reach":{"nearest":4},"how":"approximate","seed":7}"#;
    let now = NeighborSearch { reach: Reach::Nearest(4), how: Search::Auto };
    let written = serde_json::to_string(&now).unwrap();
    assert_eq!(written, text.replace("approximate", "auto").replace(",\"seed\":7", ""));
    assert_eq!(serde_json::from_str::<NeighborSearch>(text).unwrap(), now);
}
