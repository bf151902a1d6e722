//! Graphs in several pieces: every policy, for everything that can be embedded.

use super::help::{assert_same_up_to_sign, blobs, distances, largest, rows_of};
use super::laws::assert_comes_back;
use eigenlift::data::AnySamples;
use eigenlift::error::{Error, Result};
use eigenlift::graph::{Edge, Graph, Metric, NeighborSearch, Neighbors, Reach, Search, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Cut, Disconnected, ManifoldInput};
use eigenlift::methods::{FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear};
use eigenlift::progress::Watch;
use eigenlift_testkit::reference::difference;

const SIZES: [&[usize]; 2] = [&[30, 40], &[25, 40, 25, 30]];
const FORMS: [&str; 4] = ["rows", "distances", "lists", "graph with rows"];

fn lists(x: &Matrix<f64>) -> Neighbors {
    let search = NeighborSearch { reach: Reach::Nearest(6), how: Search::Auto };
    let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
    search.among(&space, x.into(), &Watch::default()).unwrap().neighbors
}

fn isomap(policy: Disconnected) -> Isomap {
    Isomap::new(2).neighbors(6).disconnected(policy)
}

/// The rows embedded, in one of the forms in which they may be given.
fn fit(settings: &Isomap, x: &Matrix<f64>, form: &str) -> Result<FittedManifold> {
    match form {
        "rows" => settings.fit(x.clone()),
        "distances" => settings.fit(ManifoldInput::distances(distances(x, x))),
        "lists" => settings.fit(ManifoldInput::neighbors(lists(x), None)),
        "graph alone" => settings.fit(ManifoldInput::graph(Graph::from_neighbors(&lists(x)), None)),
        _ => settings.fit(ManifoldInput::graph(Graph::from_neighbors(&lists(x)), Some(x.clone().into()))),
    }
}

/// Rows as the model takes them: rows, or distances to the samples.
fn as_given(rows: &Matrix<f64>, x: &Matrix<f64>, form: &str) -> Matrix<f64> {
    if form == "distances" { distances(rows, x) } else { rows.clone() }
}

fn members(labels: &[u32], which: usize) -> Vec<usize> {
    (0..labels.len()).filter(|i| labels[*i] as usize == which).collect()
}

/// The shortest edges that join sets of rows, by Kruskal over all pairs.
fn shortest_tree(x: &Matrix<f64>, labels: &[u32]) -> Vec<(usize, usize)> {
    let d = distances(x, x);
    let mut pairs: Vec<(usize, usize)> = (0..x.n_rows()).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    pairs.sort_by(|a, b| d[*a].total_cmp(&d[*b]).then(a.cmp(b)));
    let mut set = labels.to_vec();
    pairs.retain(|(i, j)| {
        let (kept, gone) = (set[*i], set[*j]);
        set.iter_mut().filter(|s| **s == gone).for_each(|s| *s = kept);
        kept != gone
    });
    pairs
}

#[test]
fn bridges_are_the_shortest_and_are_named() {
    for sizes in SIZES {
        let (x, labels) = blobs(sizes, 20.0);
        for form in ["rows", "distances", "graph with rows"] {
            let model = fit(&isomap(Disconnected::Bridge), &x, form).unwrap();
            let graph = model.facts().graph.as_ref().unwrap();
            assert_eq!(graph.component_sizes, sizes, "{form}");
            let mut ends: Vec<(usize, usize)> = graph.bridges.iter().map(|e| (e.from, e.to)).collect();
            let mut expected = shortest_tree(&x, &labels);
            ends.sort_unstable();
            expected.sort_unstable();
            assert_eq!(ends, expected, "{form}");
            let warning = &model.warnings()[0];
            let count =
                format!("the number of connected components of the neighbour graph is {} > 1", sizes.len());
            assert!(warning.contains(&count) && warning.contains("joined by the"), "{warning}");
            let first = &graph.bridges[0];
            assert!(warning.contains(&format!("rows {} and {}", first.from + 1, first.to + 1)), "{warning}");
            // Paths across are finite, all rows have one label, and blobs lie in their order along the first axis.
            assert!(model.geodesics().unwrap().as_slice().iter().all(|d| d.is_finite()));
            assert!(model.labels().iter().all(|l| *l == 0) && model.parts().len() == 1);
            let mean = |b: usize| {
                let rows = members(&labels, b);
                rows.iter().map(|i| model.scores()[(*i, 0)]).sum::<f64>() / rows.len() as f64
            };
            let means: Vec<f64> = (0..sizes.len()).map(mean).collect();
            assert!(
                means.windows(2).all(|w| w[0] < w[1]) || means.windows(2).all(|w| w[0] > w[1]),
                "{means:?}"
            );
            let again = model.transform(&as_given(&x, &x, form)).unwrap();
            assert!(difference(&again, model.scores()) < 1e-8 * largest(model.scores()), "{form}");
        }
        for form in ["lists", "graph alone"] {
            let message = fit(&isomap(Disconnected::Bridge), &x, form).unwrap_err().to_string();
            assert!(message.contains("bridges need distances between rows"), "{message}");
            assert!(message.contains(&format!("is {} > 1", sizes.len())), "{message}");
        }
    }
}

#[test]
fn separate_components_are_as_if_fitted_alone() {
    for sizes in SIZES {
        let (x, labels) = blobs(sizes, 20.0);
        for form in FORMS.into_iter().chain(["graph alone"]) {
            let model = fit(&isomap(Disconnected::Separate), &x, form).unwrap();
            assert_eq!(model.labels(), labels, "{form}");
            assert_eq!(model.parts().len(), sizes.len());
            assert!(model.warnings()[0].contains("each is embedded by itself"), "{:?}", model.warnings());
            assert!(model.geodesics().is_none());
            for (b, part) in model.parts().iter().enumerate() {
                let rows = members(&labels, b);
                let own = rows_of(&x, &rows);
                let alone = isomap(Disconnected::Error).fit(own.clone()).unwrap();
                let scores = rows_of(model.scores(), &rows);
                // The same arithmetic on the same numbers.
                assert_same_up_to_sign(&scores, alone.scores(), 1e-10, form);
                assert_eq!(part.rows, rows.iter().map(|i| *i as u32).collect::<Vec<_>>());
                if form.starts_with("lists") || form == "graph alone" {
                    continue;
                }
                // New rows go to the nearest component.
                let new = Matrix::from_fn(7, 3, |i, j| own[(2 * i, j)] + 0.05);
                let placed = model.transform(&as_given(&new, &x, form)).unwrap();
                assert_same_up_to_sign(&placed, &alone.transform(&new).unwrap(), 1e-9, form);
            }
            if form.starts_with("lists") || form == "graph alone" {
                assert!(model.transform(&Matrix::<f64>::zeros(2, model.n_features())).is_err());
                assert!(model.transform_neighbors(&lists(&x), &Watch::default()).is_err());
                continue;
            }
            let again = model.transform(&as_given(&x, &x, form)).unwrap();
            assert!(difference(&again, model.scores()) < 1e-8 * largest(model.scores()), "{form}");
            assert_comes_back(form, &model, &as_given(&x, &x, form));
        }
    }
}

#[test]
fn the_largest_component_is_embedded_and_the_others_are_placed() {
    for sizes in SIZES {
        let (x, labels) = blobs(sizes, 20.0);
        let inside = members(&labels, 1);
        let alone = isomap(Disconnected::Error).fit(rows_of(&x, &inside)).unwrap();
        for form in ["rows", "distances", "graph with rows"] {
            let model = fit(&isomap(Disconnected::Largest), &x, form).unwrap();
            assert_same_up_to_sign(&rows_of(model.scores(), &inside), alone.scores(), 1e-10, form);
            assert!(model.scores().as_slice().iter().all(|v| v.is_finite()));
            let outside =
                labels.iter().zip(model.labels()).all(|(blob, label)| label == u32::from(*blob != 1));
            assert!(outside, "{form}: {:?}", model.labels());
            let warning = &model.warnings()[0];
            let count = x.n_rows() - inside.len();
            assert!(warning.contains(&format!("{count} rows outside it")), "{warning}");
            // They are placed as new rows are.
            let again = model.transform(&as_given(&x, &x, form)).unwrap();
            assert!(difference(&again, model.scores()) < 1e-8 * largest(model.scores()), "{form}");
            assert_comes_back(form, &model, &as_given(&x, &x, form));
        }
        for form in ["lists", "graph alone"] {
            let message = fit(&isomap(Disconnected::Largest), &x, form).unwrap_err().to_string();
            assert!(message.contains("outside the largest component of a graph without rows"), "{message}");
        }
    }
}

#[test]
fn an_error_names_the_number_of_components() {
    for sizes in SIZES {
        let (x, _) = blobs(sizes, 20.0);
        for form in FORMS {
            let error = fit(&isomap(Disconnected::Error), &x, form).unwrap_err();
            assert!(matches!(error, Error::Data { .. }), "{error:?}");
            let message = error.to_string();
            let count =
                format!("the number of connected components of the neighbour graph is {} > 1", sizes.len());
            assert!(message.contains(&count) && message.contains("40"), "{message}");
            assert!(message.contains("Raise the number of neighbours"), "{message}");
        }
    }
    for name in Disconnected::NAMES {
        assert_eq!(name.parse::<Disconnected>().unwrap().to_string(), name);
    }
    assert!("join".parse::<Disconnected>().unwrap_err().to_string().contains("bridge, separate, largest"));
}

/// Landmarks in each component, where it has more rows than landmarks are asked for.
#[test]
fn components_may_have_landmarks() {
    let (x, labels) = blobs(&[20, 60], 20.0);
    let model = isomap(Disconnected::Separate).landmarks(30).fit(x.clone()).unwrap();
    assert_eq!(model.labels(), labels);
    let lifted: Vec<usize> = model.parts().iter().map(|p| p.projection.coefficients.n_rows()).collect();
    assert_eq!(lifted, [20, 30]);
    let again = model.transform(&x).unwrap();
    assert!(difference(&again, model.scores()) < 1e-8 * largest(model.scores()));
    assert_comes_back("landmarks", &model, &x);
}

/// Rows by themselves and rows that are all the same have one place each.
#[test]
fn components_of_single_rows_and_of_duplicates() {
    let (blob, _) = blobs(&[30], 0.0);
    // Row 31 and 32 stand alone; rows 33 to 36 are the same.
    let x = Matrix::from_fn(36, 3, |i, j| match i {
        0..30 => blob[(i, j)],
        30 => 50.0,
        31 => -50.0,
        _ => 100.0 + j as f64,
    });
    for (policy, parts) in
        [(Disconnected::Separate, 4), (Disconnected::Largest, 1), (Disconnected::Bridge, 1)]
    {
        let settings = Isomap::new(2).radius(1.5).disconnected(policy);
        for model in [
            settings.fit(x.clone()).unwrap(),
            settings.fit(ManifoldInput::distances(distances(&x, &x))).unwrap(),
        ] {
            assert_eq!(model.parts().len(), parts);
            assert_eq!(model.facts().graph.as_ref().unwrap().component_sizes, [30, 1, 1, 4]);
            assert!(model.scores().as_slice().iter().all(|v| v.is_finite()), "{policy}");
            if policy == Disconnected::Separate {
                assert!((30..36).all(|i| model.scores().row(i) == [0.0, 0.0]));
                assert_eq!(model.labels()[30..], [1, 2, 3, 3, 3, 3]);
            }
            if model.plan().metric == "precomputed" {
                assert_comes_back("singles", &model, &distances(&blob, &x));
            } else {
                assert_comes_back("singles", &model, &blob);
            }
        }
    }
    // A whole data set of single rows has nothing to embed unless it is joined.
    let far = Matrix::from_fn(5, 1, |i, _| (i * i) as f64 * 10.0);
    let apart = Isomap::new(1).radius(1.0).disconnected(Disconnected::Separate).fit(far.clone());
    assert!(matches!(apart, Err(eigenlift::error::Error::NoVariance { .. })));
    let joined = Isomap::new(1).radius(1.0).fit(far.clone()).unwrap();
    assert!(difference(&distances(joined.scores(), joined.scores()), &distances(&far, &far)) < 1e-10);
}

#[test]
fn edges_that_do_not_exist_cannot_be_taken_out() {
    let (x, _) = blobs(&[30], 0.0);
    let far = (0..30)
        .find(|j| lists(&x).row(0).0.iter().all(|l| *l as usize != *j) && !lists(&x).row(*j).0.contains(&0));
    for ends in
        [(0, far.filter(|j| *j != 0).unwrap_or(29)), (0, 0), (0, 30), (usize::MAX, 0), (3, usize::MAX)]
    {
        let cut = isomap(Disconnected::Bridge).cut(Cut::Edges(vec![ends]));
        match cut.fit(x.clone()) {
            Err(error) => assert!(error.to_string().contains("the graph has no such edge"), "{error}"),
            Ok(_) => assert!(lists(&x).row(ends.1).0.contains(&0), "{ends:?}"),
        }
    }
}

/// A path of six rows without its third edge falls apart into threes.
#[test]
fn taking_out_edges_may_take_the_graph_apart() {
    let path: Vec<Edge> = (0..5).map(|i| Edge { from: i, to: i + 1, length: 1.0 + i as f64 * 0.1 }).collect();
    let graph = Graph::from_edges(6, &path).unwrap();
    let rows: AnySamples = Matrix::from_fn(6, 1, |i, _| i as f64).into();
    let cut = |policy| Isomap::new(1).disconnected(policy).cut(Cut::Edges(vec![(3, 2)]));
    let model = cut(Disconnected::Separate).fit(ManifoldInput::graph(graph.clone(), None)).unwrap();
    assert_eq!(model.labels(), [0, 0, 0, 1, 1, 1]);
    let facts = model.facts().graph.as_ref().unwrap();
    assert_eq!((facts.cut.len(), facts.n_edges), (1, 4));
    assert_eq!((facts.cut[0].from, facts.cut[0].to, facts.cut[0].length), (2, 3, 1.2));
    let first = model.scores();
    assert!(((first[(0, 0)] - first[(2, 0)]).abs() - 2.1).abs() < 1e-12);
    let model = cut(Disconnected::Bridge).fit(ManifoldInput::graph(graph.clone(), Some(rows))).unwrap();
    let bridge = model.facts().graph.as_ref().unwrap().bridges[0];
    // The bridge is as long as the rows are apart.
    assert_eq!((bridge.from, bridge.to, bridge.length), (2, 3, 1.0));
    assert!(cut(Disconnected::Error).fit(ManifoldInput::graph(graph, None)).is_err());
}

/// Methods without a policy say what several components mean.
#[test]
fn other_methods_warn_of_components() {
    let (x, _) = blobs(&[30, 30], 20.0);
    let laplacian = LaplacianEigenmaps::new(2).neighbors(6).fit(x.clone()).unwrap();
    let lle = LocallyLinear::new(2).neighbors(6).fit(x).unwrap();
    for model in [laplacian, lle] {
        assert!(model.warnings()[0].contains("is 2 > 1"), "{:?}", model.warnings());
        assert!(model.scores().as_slice().iter().all(|v| v.is_finite()));
        assert_eq!(model.facts().graph.as_ref().unwrap().component_sizes, [30, 30]);
    }
}
