//! What cannot be done is said, with numbers, and nothing panics.

use super::help::{distances, sheet};
use super::laws::ALL;
use eigenlift::data::{AnySamples, Samples};
use eigenlift::error::{Error, Result};
use eigenlift::graph::{Edge, Graph, Metric, NeighborSearch, Neighbors, Reach, Search, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Affinity, LleVariant, ManifoldInput};
use eigenlift::methods::{
    ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear,
};
use eigenlift::progress::{CancelToken, Observer, Watch};
use eigenlift_testkit::problems::sparse;
use std::sync::Arc;

/// The message, which has its three parts.
fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    let message = result.unwrap_err().to_string();
    assert!(message.contains("; ") && message.contains(". "), "three parts in {message}");
    message
}

fn assert_says<T: std::fmt::Debug>(result: Result<T>, part: &str) {
    let message = message(result);
    assert!(message.contains(part), "\"{part}\" is not in \"{message}\"");
}

/// The result of every method on these rows.
fn everyone(x: &Matrix<f64>) -> Vec<Result<FittedManifold>> {
    let kernel = Affinity::Kernel("rbf(gamma=1)".parse().unwrap());
    vec![
        Isomap::new(2).neighbors(5).fit(x.clone()),
        Isomap::new(2).neighbors(5).landmarks(4).fit(x.clone()),
        ClassicalMds::new(2).fit(x.clone()),
        ClassicalMds::new(2).landmarks(4).fit(x.clone()),
        LaplacianEigenmaps::new(2).neighbors(5).fit(x.clone()),
        LaplacianEigenmaps::new(2).affinity(kernel).fit(x.clone()),
        DiffusionMap::new(2).fit(x.clone()),
        LocallyLinear::new(2).neighbors(5).fit(x.clone()),
    ]
}

#[test]
fn neighbourhoods_that_are_none_are_refused() {
    let x = sheet(20, 61, 0.4);
    for k in [20, 21, usize::MAX] {
        let found = format!("{k} neighbours of 20 rows");
        assert_says(Isomap::new(2).neighbors(k).fit(x.clone()), &found);
        assert_says(Isomap::new(2).neighbors(k).prepare(x.clone()), &found);
        assert_says(Isomap::new(2).neighbors(k).fit(ManifoldInput::distances(distances(&x, &x))), &found);
        assert_says(LaplacianEigenmaps::new(2).neighbors(k).fit(x.clone()), &found);
        assert_says(LocallyLinear::new(2).neighbors(k).fit(x.clone()), &found);
    }
    assert_says(Isomap::new(2).neighbors(0).fit(x.clone()), "0 neighbours");
    assert_says(LaplacianEigenmaps::new(2).neighbors(0).fit(x.clone()), "0 neighbours");
    assert_says(LocallyLinear::new(2).neighbors(0).fit(x.clone()), "0 neighbours");
    for radius in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_says(Isomap::new(2).radius(radius).fit(x.clone()), &format!("a radius of {radius}"));
        assert_says(
            LaplacianEigenmaps::new(2).radius(radius).fit(x.clone()),
            &format!("a radius of {radius}"),
        );
    }
    assert_says(LocallyLinear::new(2).radius(1.0).fit(x.clone()), "takes a number of neighbours");
    // A radius that reaches nobody leaves single rows; new rows far away find nobody.
    let model = Isomap::new(2).radius(0.5).fit(x.clone()).unwrap();
    assert_says(
        model.transform(&Matrix::from_fn(2, 3, |i, j| x[(0, j)] + i as f64 * 1e3)),
        "row 2 has no neighbour",
    );
}

#[test]
fn rows_that_cannot_be_embedded_are_refused() {
    let mut x = sheet(30, 62, 0.4);
    x[(17, 2)] = f64::NAN;
    for result in everyone(&x) {
        assert_says(result, "row 18, column 3 is NaN");
    }
    x[(17, 2)] = f64::INFINITY;
    for result in everyone(&x) {
        assert_says(result, "row 18, column 3 is inf");
    }
    for n in [0, 1] {
        for result in everyone(&Matrix::from_fn(n, 3, |_, j| j as f64)) {
            assert_says(result, &format!("{n} row(s)"));
        }
    }
    for result in everyone(&Matrix::zeros(8, 0)) {
        assert!(result.is_err());
    }
    assert_says(Isomap::new(0).fit(sheet(30, 62, 0.4)), "0 components");
    assert_says(
        LocallyLinear::new(4).neighbors(9).fit(sheet(30, 62, 0.4)),
        "4 components of rows with 3 columns",
    );
}

/// Where all samples are the same any coordinates would do, and no method gives some.
#[test]
fn rows_that_are_all_alike_have_no_variance() {
    for x in [Matrix::zeros(15, 3), Matrix::from_fn(15, 3, |_, j| 0.1 + j as f64)] {
        for (method, result) in everyone(&x).into_iter().enumerate() {
            let error = result.unwrap_err();
            // A diffusion map has no bandwidth by the median then.
            assert!(matches!(error, Error::NoVariance { .. }) || method == 6, "{method}: {error:?}");
        }
        let d = Isomap::new(1).neighbors(3).fit(ManifoldInput::distances(Matrix::<f64>::zeros(15, 15)));
        assert!(matches!(d.unwrap_err(), Error::NoVariance { .. }));
        let d = ClassicalMds::new(1).fit(ManifoldInput::distances(Matrix::<f64>::zeros(15, 15)));
        assert!(matches!(d.unwrap_err(), Error::NoVariance { .. }));
    }
}

#[test]
fn matrices_between_rows_are_checked() {
    let x = sheet(20, 63, 0.4);
    let d = distances(&x, &x);
    let each = |d: &Matrix<f64>, part: &str| {
        assert_says(Isomap::new(2).neighbors(5).fit(ManifoldInput::distances(d.clone())), part);
        assert_says(Isomap::new(2).neighbors(5).prepare(ManifoldInput::distances(d.clone())), part);
        assert_says(ClassicalMds::new(2).fit(ManifoldInput::distances(d.clone())), part);
        assert_says(LaplacianEigenmaps::new(2).neighbors(5).fit(ManifoldInput::distances(d.clone())), part);
        assert_says(LaplacianEigenmaps::new(2).fit(ManifoldInput::affinities(d.clone())), part);
        assert_says(
            LaplacianEigenmaps::new(2).fit(ManifoldInput::affinities(Samples::from(sparse(d)))),
            part,
        );
    };
    each(&Matrix::from_fn(20, 19, |i, j| d[(i, j)]), "20 × 19 between rows; it must be square");
    let mut uneven = d.clone();
    uneven[(3, 7)] += 0.1;
    each(&uneven, "a matrix between rows must be symmetric");
    let mut negative = d.clone();
    (negative[(3, 7)], negative[(7, 3)]) = (-1.0, -1.0);
    each(&negative, "is -1; a number between two rows is not negative");
    let mut nan = d.clone();
    nan[(4, 4)] = f64::NAN;
    each(&nan, "row 5, column 5 is NaN");
    // Rounding across the diagonal is no asymmetry.
    let mut close = d;
    close[(3, 7)] *= 1.0 + 1e-14;
    assert!(Isomap::new(2).neighbors(5).fit(ManifoldInput::distances(close.clone())).is_ok());
    assert!(ClassicalMds::new(2).fit(ManifoldInput::distances(close)).is_ok());
}

/// Every method says which inputs it takes, before any work.
#[test]
fn an_input_that_a_method_cannot_use_is_refused_by_name() {
    let x = sheet(20, 63, 0.4);
    let d = || ManifoldInput::distances(distances(&x, &x));
    let w = || ManifoldInput::affinities(Matrix::from_fn(20, 20, |i, j| if i == j { 0.0 } else { 1.0 }));
    let ring = (0..20).map(|i| Edge { from: i, to: (i + 1) % 20, length: 1.0 });
    let graph = Graph::from_edges(20, &ring.collect::<Vec<_>>()).unwrap();
    let graph = || ManifoldInput::graph(graph.clone(), Some(x.clone().into()));
    let lists = (0..=20).collect::<Vec<usize>>();
    let lists = Neighbors::new(lists, (0..20).map(|i| (i + 1) % 20).collect(), vec![1.0; 20], 20).unwrap();
    let lists = || ManifoldInput::neighbors(lists.clone(), None);
    assert_says(
        Isomap::new(2).prepare(w()),
        "affinities between samples for Isomap; it takes samples, distances",
    );
    for (input, found) in [(graph(), "a graph"), (lists(), "lists of neighbors"), (w(), "affinities")] {
        let found = format!("{found}{}", if found == "a graph" { " for classical scaling" } else { "" });
        assert_says(ClassicalMds::new(2).prepare(input), &found);
    }
    let laplacian = LaplacianEigenmaps::new(2).prepare(graph());
    assert_says(laplacian, "a graph for Laplacian eigenmaps; it takes samples, distances or affinities");
    for input in [d(), w(), graph(), lists()] {
        assert_says(DiffusionMap::new(2).prepare(input.clone()), "for diffusion maps; it takes samples");
        assert_says(LocallyLinear::new(2).prepare(input), "for locally linear embedding; it takes samples");
    }
}

/// Lists of neighbors together with the samples are the graph of these, and place new samples.
#[test]
fn lists_with_samples_place_new_ones() {
    let x = sheet(60, 64, 0.4);
    let search = NeighborSearch { reach: Reach::Nearest(6), how: Search::Auto };
    let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
    let lists = search.among(&space, (&x).into(), &Watch::default()).unwrap().neighbors;
    let given = || ManifoldInput::neighbors(lists.clone(), Some(x.clone().into()));
    let isomap = Isomap::new(2).neighbors(6);
    let (of_lists, of_samples) = (isomap.fit(given()).unwrap(), isomap.fit(x.clone()).unwrap());
    assert_eq!(of_lists.scores(), of_samples.scores());
    assert_eq!(of_lists.transform(&x).unwrap(), of_samples.transform(&x).unwrap());
    let laplacian = LaplacianEigenmaps::new(2).neighbors(6);
    let (of_lists, of_samples) = (laplacian.fit(given()).unwrap(), laplacian.fit(x.clone()).unwrap());
    assert_eq!(of_lists.transform(&x).unwrap(), of_samples.transform(&x).unwrap());
    // Of other samples they are refused.
    let other = ManifoldInput::neighbors(lists, Some(sheet(59, 64, 0.4).into()));
    assert_says(isomap.fit(other), "lists of neighbours for 60 rows; there are 59 rows");
}

#[test]
fn graphs_and_lists_must_belong_to_the_rows() {
    let x = sheet(20, 64, 0.4);
    let path: Vec<Edge> = (0..18).map(|i| Edge { from: i, to: i + 1, length: 1.0 }).collect();
    let graph = Graph::from_edges(19, &path).unwrap();
    assert_says(
        Isomap::new(2).fit(ManifoldInput::graph(graph, Some(x.clone().into()))),
        "a graph of 19 vertices for 20 rows",
    );
    let none = Graph::from_edges(0, &[]).unwrap();
    assert_says(Isomap::new(2).fit(ManifoldInput::graph(none, None)), "0 row(s)");
    // Lists of 3 rows that name the 10th sample.
    let beyond = Neighbors::new(vec![0, 1, 2, 3], vec![9, 0, 1], vec![1.0; 3], 10).unwrap();
    assert!(Isomap::new(1).fit(ManifoldInput::neighbors(beyond.clone(), None)).is_err());
    assert!(LaplacianEigenmaps::new(1).fit(ManifoldInput::neighbors(beyond.clone(), None)).is_err());
    assert!(
        LocallyLinear::new(2)
            .neighbors(5)
            .fit(ManifoldInput::neighbors(beyond.clone(), Some(x.clone().into())))
            .is_err()
    );
    // As many lists as rows, with samples that do not exist, and with empty ones.
    let lists: Vec<u32> = (0..20).map(|i| i + 1).collect();
    let shifted = Neighbors::new((0..=20).collect(), lists, vec![1.0; 20], 21).unwrap();
    assert!(
        LocallyLinear::new(2)
            .neighbors(5)
            .fit(ManifoldInput::neighbors(shifted.clone(), Some(x.clone().into())))
            .is_err()
    );
    assert!(Isomap::new(1).fit(ManifoldInput::neighbors(shifted, None)).is_err());
    let empty = Neighbors::new(vec![0; 21], vec![], vec![], 20).unwrap();
    for variant in [LleVariant::Standard, LleVariant::Modified, LleVariant::Hessian, LleVariant::Ltsa] {
        let settings = LocallyLinear::new(2).neighbors(9).variant(variant);
        assert!(
            settings.fit(ManifoldInput::neighbors(empty.clone(), Some(x.clone().into()))).is_err(),
            "{variant}"
        );
        // One neighbour each is too few for all but the first.
        let one =
            Neighbors::new((0..=20).collect(), (0..20).map(|i| (i + 1) % 20).collect(), vec![1.0; 20], 20);
        let result = settings.fit(ManifoldInput::neighbors(one.unwrap(), Some(x.clone().into())));
        assert_eq!(result.is_ok(), variant == LleVariant::Standard, "{variant}: {result:?}");
    }
    let model = Isomap::new(2).neighbors(5).fit(x.clone()).unwrap();
    assert!(
        model
            .transform_neighbors(
                &Neighbors::new(vec![0, 1], vec![20], vec![1.0], 21).unwrap(),
                &Watch::default()
            )
            .is_err()
    );
    let model = LaplacianEigenmaps::new(2).neighbors(5).fit(x.clone()).unwrap();
    assert!(
        model
            .transform_neighbors(
                &Neighbors::new(vec![0, 1], vec![20], vec![1.0], 21).unwrap(),
                &Watch::default()
            )
            .is_err()
    );
    let model = ClassicalMds::new(2).fit(x).unwrap();
    assert!(
        model
            .transform_neighbors(
                &Neighbors::new(vec![0, 1], vec![2], vec![1.0], 21).unwrap(),
                &Watch::default()
            )
            .is_err()
    );
}

#[test]
fn memory_that_does_not_suffice_is_named_in_bytes() {
    let x = sheet(60, 65, 0.4);
    let kernel = Affinity::Kernel("rbf(gamma=1)".parse().unwrap());
    let results: Vec<Result<FittedManifold>> = vec![
        Isomap::new(2).exact().memory_limit(1000).fit(x.clone()),
        Isomap::new(2).memory_limit(1000).fit(x.clone()),
        Isomap::new(2).landmarks(10).memory_limit(1000).fit(x.clone()),
        ClassicalMds::new(2).memory_limit(1000).fit(x.clone()),
        LaplacianEigenmaps::new(2).memory_limit(1000).fit(x.clone()),
        LaplacianEigenmaps::new(2).affinity(kernel).memory_limit(1000).fit(x.clone()),
        DiffusionMap::new(2).memory_limit(1000).fit(x.clone()),
        LocallyLinear::new(2).memory_limit(1000).fit(x.clone()),
    ];
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("1000 B are allowed") || text.contains("1.0 kB are allowed"), "{text}");
    }
    // Where n² distances do not fit and nothing was asked for, landmarks are taken.
    let limit = Isomap::new(2).landmarks(200).prepare(sheet(1500, 65, 0.4)).unwrap().plan().bytes_needed;
    let job = Isomap::new(2).memory_limit(limit).prepare(sheet(1500, 65, 0.4)).unwrap();
    assert_eq!(job.plan().n_landmarks, Some(200));
}

#[test]
fn settings_out_of_range_are_refused() {
    let x = sheet(40, 66, 0.4);
    for tolerance in [0.0, -1.0, 1.0, 1e-13, f64::NAN, f64::INFINITY] {
        assert_says(Isomap::new(2).tolerance(tolerance).fit(x.clone()), "a tolerance of");
        assert_says(DiffusionMap::new(2).tolerance(tolerance).fit(x.clone()), "a tolerance of");
        assert_says(LocallyLinear::new(2).tolerance(tolerance).fit(x.clone()), "a tolerance of");
    }
    let names = vec!["a".to_string()];
    assert_says(Isomap::new(2).column_names(names.clone()).fit(x.clone()), "1 column names for 3 columns");
    assert_says(ClassicalMds::new(2).column_names(names).fit(x.clone()), "1 column names for 3 columns");
    for (variant, least) in [(LleVariant::Hessian, 6), (LleVariant::Ltsa, 4), (LleVariant::Modified, 2)] {
        let few = LocallyLinear::new(2).variant(variant).neighbors(least - 1).fit(x.clone());
        assert_says(few, &format!("the {variant} variant with 2 components needs at least {least}"));
        assert!(LocallyLinear::new(2).variant(variant).neighbors(least).fit(x.clone()).is_ok(), "{variant}");
    }
    for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_says(LocallyLinear::new(2).ridge(ridge).fit(x.clone()), "a ridge of");
    }
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let heat = LaplacianEigenmaps::new(2).affinity(Affinity::Heat { gamma });
        assert_says(heat.fit(x.clone()), "must be positive");
    }
    assert_says(DiffusionMap::new(2).alpha(f64::NAN).fit(x.clone()), "alpha must be a number");
    assert_says(DiffusionMap::new(2).time(-1.0).fit(x.clone()), "time 0 or more");
    assert_says(DiffusionMap::new(2).kernel("precomputed".parse().unwrap()).fit(x.clone()), "needs rows");
    assert!("hyper".parse::<LleVariant>().unwrap_err().to_string().contains("known are standard"));
    // Kernels with negative values are no walk.
    let about_zero = Matrix::from_fn(40, 3, |i, j| x[(i, j)] - [1.5, 1.0, 0.0][j]);
    for alpha in [0.0, 1.0] {
        let linear = DiffusionMap::new(2).kernel("linear".parse().unwrap()).alpha(alpha);
        assert_says(linear.fit(about_zero.clone()), "a walk needs positive ones");
    }
}

/// More components and landmarks than rows give what there is.
#[test]
fn more_than_there_is_may_be_asked_for() {
    for n in [2, 3, 5] {
        let x = sheet(n, 67, 0.4);
        for k in [1, 2, 7] {
            let results: Vec<Result<FittedManifold>> = vec![
                Isomap::new(k).neighbors(1).fit(x.clone()),
                Isomap::new(k).neighbors(1).landmarks(2).fit(x.clone()),
                Isomap::new(k).neighbors(1).landmarks(1).fit(x.clone()),
                ClassicalMds::new(k).fit(x.clone()),
                ClassicalMds::new(k).landmarks(2).fit(x.clone()),
                LaplacianEigenmaps::new(k).neighbors(1).fit(x.clone()),
                DiffusionMap::new(k).fit(x.clone()),
                LocallyLinear::new(k).neighbors(1).fit(x.clone()),
            ];
            for (at, result) in results.into_iter().enumerate() {
                match result {
                    Ok(model) => {
                        assert!(model.n_components() < n, "{at}: {k} of {n}");
                        assert!(
                            model.n_components() == k || !model.warnings().is_empty(),
                            "{at}: {k} of {n}"
                        );
                        assert!(model.scores().as_slice().iter().all(|v| v.is_finite()));
                        assert!(FittedManifold::from_bytes(&model.to_bytes().unwrap()).is_ok());
                    }
                    Err(error) => assert!(at == 7 && k > 3, "{at}: {k} of {n}: {error}"),
                }
            }
        }
    }
}

#[test]
fn new_rows_of_another_shape_are_refused() {
    let x = sheet(60, 68, 0.4);
    for (name, fit) in ALL {
        let model = fit(AnySamples::from(x.clone()), 0);
        for columns in [0, 2, 4] {
            let text = message(model.transform(&Matrix::<f64>::zeros(2, columns)));
            assert!(text.contains(&format!("rows of {columns} columns")), "{name}: {text}");
        }
        let mut bad = sheet(3, 69, 0.4);
        bad[(1, 1)] = f64::NAN;
        let text = message(model.transform(&bad));
        assert!(text.contains("row 2, column 2 is NaN"), "{name}: {text}");
        assert_eq!(model.transform(&Matrix::<f64>::zeros(0, 3)).unwrap().n_rows(), 0, "{name}");
    }
    let model = DiffusionMap::new(2).kernel("rbf(gamma=5)".parse().unwrap()).fit(x).unwrap();
    assert_says(
        model.transform(&Matrix::from_fn(2, 3, |i, _| i as f64 * 1e6)),
        "row 2 is so far from every sample",
    );
}

#[test]
fn cancelled_work_stops() {
    let token = CancelToken::default();
    token.cancel();
    let watch = Watch::default().cancelled_by(token);
    let x = sheet(60, 70, 0.4);
    let kernel = Affinity::Kernel("rbf(gamma=1)".parse().unwrap());
    let results: Vec<Result<FittedManifold>> = vec![
        Isomap::new(2).watch(watch.clone()).fit(x.clone()),
        Isomap::new(2).landmarks(10).watch(watch.clone()).fit(x.clone()),
        ClassicalMds::new(2).watch(watch.clone()).fit(x.clone()),
        ClassicalMds::new(2).landmarks(9).watch(watch.clone()).fit(x.clone()),
        LaplacianEigenmaps::new(2).watch(watch.clone()).fit(x.clone()),
        LaplacianEigenmaps::new(2).affinity(kernel).watch(watch.clone()).fit(x.clone()),
        DiffusionMap::new(2).watch(watch.clone()).fit(x.clone()),
        LocallyLinear::new(2).watch(watch).fit(x.clone()),
    ];
    for (at, result) in results.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::Cancelled)), "{at}: {result:?}");
    }
}

/// Cancels when a stage has been told of for the n-th time.
struct After(CancelToken, std::sync::atomic::AtomicUsize);

impl Observer for After {
    fn progress(&self, _: &str, _: u64, _: u64) {
        if self.1.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            self.0.cancel();
        }
    }
}

/// Wherever a person stops it, the answer is that it was stopped.
#[test]
fn work_may_be_cancelled_at_every_stage() {
    let x = sheet(600, 71, 0.4);
    for count in 1..12 {
        let token = CancelToken::default();
        let after = After(token.clone(), count.into());
        let watch = Watch::default().observed_by(Arc::new(after)).cancelled_by(token.clone());
        let results = [
            Isomap::new(2).watch(watch.clone()).fit(x.clone()),
            LocallyLinear::new(2).watch(watch).fit(x.clone()),
        ];
        for result in results {
            assert!(result.is_ok() || matches!(result, Err(Error::Cancelled)), "{count}: {result:?}");
        }
        assert!(token.is_cancelled(), "stages were told of {count} times");
    }
}
