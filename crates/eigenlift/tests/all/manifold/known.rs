//! Known answers: flat sheets, rolls, rings, paths, and scaling as principal components.

use super::help::{EPS, assert_same_up_to_sign, distances, procrustes, sheet};
use eigenlift::data;
use eigenlift::graph::{Edge, Graph, Neighbors};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Affinity, ManifoldInput};
use eigenlift::methods::{ClassicalMds, DiffusionMap, Isomap, LaplacianEigenmaps, Pca};
use eigenlift_testkit::reference::{difference, eigen, gram};
use std::f64::consts::TAU;

/// A grid of `width` × `height` points, stretched so that its axes differ.
fn grid(width: usize, height: usize) -> Matrix<f64> {
    Matrix::from_fn(
        width * height,
        2,
        |i, j| {
            if j == 0 { 1.5 * (i % width) as f64 } else { (i / width) as f64 }
        },
    )
}

/// With every pair joined, paths are straight, and scaling gives the points back.
#[test]
fn a_flat_grid_with_all_edges_gives_back_its_distances() {
    let x = grid(9, 7);
    let d = distances(&x, &x);
    let model = Isomap::new(2).radius(f64::INFINITY).fit(x.clone()).unwrap();
    let back = distances(model.scores(), model.scores());
    // D² to n·eps·‖D²‖, its root near 0 to the root of that: distances here are 1 or more.
    assert!(difference(&back, &d) < 1e-11, "{:e}", difference(&back, &d));
    let facts = model.facts();
    assert_eq!(facts.graph.as_ref().unwrap().n_edges, 63 * 62 / 2);
    assert!(facts.negative.unwrap().share < 1e-13 && facts.negative.unwrap().sampled_rows.is_none());
    assert!(facts.paths.unwrap().residual_variance < 1e-12);
    let near = facts.neighborhoods.unwrap();
    // Distances of a grid tie, and ties are ranked by rounding after the fit: not all of 10 neighbours need agree.
    assert!(near.trustworthiness > 0.98 && near.continuity > 0.98, "{near:?}");
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}

#[test]
fn euclidean_distances_have_no_negative_share_and_a_third_component_does_not_exist() {
    let x = grid(9, 7);
    let model = ClassicalMds::new(5).fit(ManifoldInput::distances(distances(&x, &x))).unwrap();
    assert_eq!(model.n_components(), 2);
    assert!(
        model.warnings()[0].contains("5 components were asked for and 2 exist"),
        "{:?}",
        model.warnings()
    );
    assert!(model.facts().negative.unwrap().share < 1e-13);
    // Around a ring paths are no distances of a space: λ of −½HD²H by its circulant, the share of the negative ones is known.
    let n = 40;
    let ring: Vec<Edge> = (0..n).map(|i| Edge { from: i, to: (i + 1) % n, length: 1.0 }).collect();
    let model = Isomap::new(2).fit(ManifoldInput::graph(Graph::from_edges(n, &ring).unwrap(), None)).unwrap();
    let along = |i: usize| i.min(n - i) as f64;
    let value = |m: usize| -> f64 {
        (0..n).map(|i| -0.5 * along(i).powi(2) * (TAU * (i * m) as f64 / n as f64).cos()).sum()
    };
    let values: Vec<f64> = (1..n).map(value).collect();
    let negative: f64 = values.iter().map(|v| (-v).max(0.0)).sum();
    let share = negative / values.iter().map(|v| v.abs()).sum::<f64>();
    assert!(share > 0.01, "the problem is not trivial: {share}");
    assert!((model.facts().negative.unwrap().share - share).abs() < 1e-12);
    assert!((model.eigenvalues()[0] - value(1)).abs() < 1e-9 * value(1), "{:?}", model.eigenvalues());
}

/// Arc length of the spiral (t cos t, t sin t).
fn arc(t: f64) -> f64 {
    0.5 * (t * (1.0 + t * t).sqrt() + t.asinh())
}

/// The sheet behind a swiss roll of 1000 rows.
fn rolled() -> (Matrix<f64>, Matrix<f64>) {
    let roll = data::synthetic("swiss-roll", Some(1000), None, 0).unwrap();
    let x = roll.samples.points().to_dense::<f64>();
    let flat =
        Matrix::from_fn(
            1000,
            2,
            |i, j| {
                if j == 0 { arc(roll.target[i].parse().unwrap()) } else { x[(i, 1)] }
            },
        );
    (x, flat)
}

/// Procrustes against the unrolled sheet. Measured: exact 0.00188, 100 landmarks 0.00179, without the graph 0.92; residual
/// variances 0.00136 and, on rows that are no landmarks, 0.00127. Bounds are about twice that.
#[test]
fn a_swiss_roll_is_unrolled() {
    let (x, flat) = rolled();
    let isomap = Isomap::new(2).neighbors(10);
    let exact = isomap.fit(x.clone()).unwrap();
    let error = procrustes(exact.scores(), &flat);
    assert!(error < 0.004, "{error}");
    let few = isomap.landmarks(100).fit(x.clone()).unwrap();
    let by_landmarks = procrustes(few.scores(), &flat);
    assert!(by_landmarks < 2.0 * error, "{by_landmarks} {error}");
    // Scaling without the graph leaves the sheet rolled up.
    let rolled = procrustes(ClassicalMds::new(2).fit(x).unwrap().scores(), &flat);
    assert!(rolled > 20.0 * error, "{rolled}");
    let paths = exact.facts().paths.unwrap();
    assert!(paths.residual_variance < 0.003 && !paths.held_out, "{paths:?}");
    let paths = few.facts().paths.unwrap();
    assert!(paths.residual_variance < 0.003 && paths.held_out, "{paths:?}");
}

/// 1 − r² over all pairs, mean and covariances one after the other.
fn slow_residual_variance(x: &Matrix<f64>, y: &Matrix<f64>) -> f64 {
    let n = x.n_rows();
    let distance = |m: &Matrix<f64>, i: usize, j: usize| {
        m.row(i).iter().zip(m.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let all = |m: &Matrix<f64>| -> Vec<f64> {
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| distance(m, i, j)).collect()
    };
    let centered = |mut list: Vec<f64>| {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|v| *v -= mean);
        list
    };
    let (a, b) = (centered(all(x)), centered(all(y)));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    1.0 - product(&a, &b).powi(2) / (product(&a, &a) * product(&b, &b))
}

// With all rows as neighbours paths are straight. A difference of sums of 150² products of size 50 keeps twelve digits.
#[test]
fn residual_variance_is_that_of_all_distances() {
    let x = data::iris().unwrap().samples.points().to_dense::<f64>();
    for k in [1, 2] {
        let models = [
            ClassicalMds::new(k).fit(x.clone()).unwrap(),
            Isomap::new(k).neighbors(149).fit(x.clone()).unwrap(),
        ];
        for model in models {
            let paths = model.facts().paths.unwrap();
            let slow = slow_residual_variance(&x, model.scores());
            assert!((paths.residual_variance - slow).abs() < 1e-10, "{paths:?} {slow}");
            assert!(slow > 1e-3, "{slow}");
            assert_eq!((paths.n_rows, paths.standard_error, paths.held_out), (150, None, false));
        }
        let few = ClassicalMds::new(k).landmarks(60).fit(x.clone()).unwrap();
        let paths = few.facts().paths.unwrap();
        let (slow, error) = (slow_residual_variance(&x, few.scores()), paths.standard_error.unwrap());
        assert!(paths.held_out && (paths.residual_variance - slow).abs() < 4.0 * error, "{paths:?} {slow}");
    }
}

#[test]
fn a_flat_sheet_has_little_residual_variance() {
    let x = sheet(400, 51, 0.0);
    let model = Isomap::new(2).neighbors(12).fit(x).unwrap();
    let variance = model.facts().paths.unwrap().residual_variance;
    // Measured 0.00103: paths along a graph bend a little.
    assert!(variance < 0.003, "{variance}");
}

/// n points of a circle, each joined to the m on either side: the walk is circulant with μ_j = mean of cos(2πjl/n), l = 1..m,
/// each twice, and its eigenvectors are the points of a circle again.
#[test]
fn the_eigenmap_of_a_circle_is_a_circle() {
    for (n, m) in [(60, 2), (601, 3)] {
        let angle = |i: usize| TAU * i as f64 / n as f64;
        let near = |i: usize, a: usize| if a < m { (i + a + 1) % n } else { (i + n - (a - m + 1)) % n };
        let samples: Vec<u32> = (0..n).flat_map(|i| (0..2 * m).map(move |a| near(i, a) as u32)).collect();
        let offsets = (0..=n).map(|i| i * 2 * m).collect();
        let lists = Neighbors::new(offsets, samples, vec![1.0; n * 2 * m], n).unwrap();
        let model =
            LaplacianEigenmaps::new(4).tolerance(1e-10).fit(ManifoldInput::neighbors(lists, None)).unwrap();
        let mu = |j: usize| (1..=m).map(|l| (j as f64 * angle(l)).cos()).sum::<f64>() / m as f64;
        for (got, expected) in model.eigenvalues().iter().zip([mu(1), mu(1), mu(2), mu(2)]) {
            assert!((got - expected).abs() < 1e-12, "{n}: {got} {expected}");
        }
        let circle = Matrix::from_fn(n, 2, |i, j| if j == 0 { angle(i).cos() } else { angle(i).sin() });
        let first = Matrix::from_fn(n, 2, |i, j| model.scores()[(i, j)]);
        // n·eps ÷ gap, squared by Procrustes; the gap μ₁ − μ₂ is some 3(2π/n)²·m²/3.
        assert!(procrustes(&first, &circle) < 1e-10, "{n}: {:e}", procrustes(&first, &circle));
        // u/√d with ‖u‖ = 1 and d = 2m (links of both directions, half each): radius √(2/n)/√(2m).
        let radius = (2.0 / n as f64).sqrt() / (2.0 * m as f64).sqrt();
        for i in 0..n {
            let r = first.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!((r - radius).abs() < 1e-5 * radius, "{n}, {i}: {r} {radius}");
        }
    }
}

/// Points of a line: the first coordinate ascends along it, and all eigenpairs are those of the written-out matrix.
#[test]
fn the_diffusion_map_of_a_path_runs_along_it() {
    let n = 50;
    let x = Matrix::from_fn(n, 2, |i, j| i as f64 * [0.06, 0.08][j]);
    let kernel = "rbf(gamma=20)".parse().unwrap();
    for alpha in [0.0, 1.0] {
        let model = DiffusionMap::new(3)
            .kernel("rbf(gamma=20)".parse().unwrap())
            .alpha(alpha)
            .fit(x.clone())
            .unwrap();
        let first = model.scores().column(0);
        let ascends = first.windows(2).all(|w| w[1] > w[0]) || first.windows(2).all(|w| w[1] < w[0]);
        assert!(ascends, "{first:?}");
        let k = gram(&kernel, &x, &x);
        let sums = |k: &Matrix<f64>| -> Vec<f64> { (0..n).map(|i| k.row(i).iter().sum()).collect() };
        let q = sums(&k);
        let k = Matrix::from_fn(n, n, |i, j| k[(i, j)] / (q[i] * q[j]).powf(alpha));
        let d = sums(&k);
        let (values, vectors) = eigen(&Matrix::from_fn(n, n, |i, j| k[(i, j)] / (d[i] * d[j]).sqrt()));
        assert!((values[0] - 1.0).abs() < 1e-12);
        let total: f64 = d.iter().sum();
        let slow = Matrix::from_fn(n, 3, |i, j| values[j + 1] * vectors[(i, j + 1)] * (total / d[i]).sqrt());
        for j in 0..3 {
            assert!((model.eigenvalues()[j] - values[j + 1]).abs() < 1e-12);
        }
        // n·eps over gaps of at least 0.01.
        assert_same_up_to_sign(model.scores(), &slow, 100.0 * n as f64 * EPS / 0.01, "path");
        // Distances between coordinates are those between distributions of one step, (G17), with all coordinates.
        let all = DiffusionMap::new(n - 1)
            .kernel("rbf(gamma=20)".parse().unwrap())
            .alpha(alpha)
            .fit(x.clone())
            .unwrap();
        for (a, b) in [(0, 1), (3, 30), (10, 49)] {
            let step = |i: usize, j: usize| k[(i, j)] / d[i];
            let between: f64 = (0..n).map(|j| (step(a, j) - step(b, j)).powi(2) * total / d[j]).sum();
            let apart: f64 = (0..n - 1).map(|j| (all.scores()[(a, j)] - all.scores()[(b, j)]).powi(2)).sum();
            assert!((between - apart).abs() < 1e-9 * between, "{between} {apart}");
        }
    }
}

#[test]
fn scaling_of_euclidean_distances_is_principal_components() {
    let iris = data::iris().unwrap().samples;
    let x = iris.points().to_dense::<f64>();
    for (x, n) in [(x, 150), (sheet(600, 52, 0.4), 600)] {
        let k = x.n_cols();
        let scores = Pca::new(k).fit(x.clone()).unwrap().transform(&x).unwrap();
        // Gaps are at least a hundredth of λ₁, and B is known to n·eps·‖D²‖ with ‖D²‖ ≤ 10 λ₁; 600 rows iterate to 1e-10.
        let allowed = if n > 512 { 1e-7 } else { 1e3 * n as f64 * EPS };
        let mds = ClassicalMds::new(k).tolerance(1e-10);
        let model = mds.fit(x.clone()).unwrap();
        assert_same_up_to_sign(model.scores(), &scores, allowed, "rows");
        let d = distances(&x, &x);
        let by_distances = mds.fit(ManifoldInput::distances(d.clone())).unwrap();
        assert_same_up_to_sign(by_distances.scores(), &scores, allowed, "distances");
        let new = Matrix::from_fn(5, k, |i, j| x[(7 * i, j)] + 0.1 * (i + j) as f64);
        let pca = Pca::new(k).fit(x.clone()).unwrap().transform(&new).unwrap();
        assert_same_up_to_sign(&model.transform(&new).unwrap(), &pca, 10.0 * allowed, "new rows");
        let placed = by_distances.transform(&distances(&new, &x)).unwrap();
        assert_same_up_to_sign(&placed, &pca, 10.0 * allowed, "distances of new rows");
    }
}

/// Heat of γ → 0 counts every neighbour alike.
#[test]
fn faint_heat_is_equal_weights() {
    let x = sheet(120, 53, 0.4);
    let plain = LaplacianEigenmaps::new(2).neighbors(8);
    let heat = plain.clone().affinity(Affinity::Heat { gamma: 1e-9 });
    let (a, b) = (plain.fit(x.clone()).unwrap(), heat.fit(x).unwrap());
    assert_same_up_to_sign(b.scores(), a.scores(), 1e-6, "heat");
}

/// A row that is like no other takes nothing from the others: theirs are the coordinates without it, its own are zero.
#[test]
fn a_row_far_from_all_others_stands_by_itself() {
    let x = sheet(60, 71, 0.4);
    let far = Matrix::from_fn(61, x.n_cols(), |i, j| if i == 60 { 1e3 } else { x[(i, j)] });
    let settings = LaplacianEigenmaps::new(3).affinity(Affinity::Kernel("rbf(gamma=1)".parse().unwrap()));
    let (without, with) = (settings.fit(x).unwrap(), settings.fit(far).unwrap());
    assert!(with.warnings()[0].contains("Graph is not fully connected"), "{:?}", with.warnings());
    assert!(with.warnings()[0].contains("1 row(s), the first of them row 61"), "{:?}", with.warnings());
    assert!(without.warnings().is_empty(), "{:?}", without.warnings());
    // Eigenvectors to n·eps over the gap between eigenvalues; degrees differ by less than a factor of 100.
    let values = without.eigenvalues();
    let gap = (values[0] - values[1]).min(values[1] - values[2]);
    let tolerance = 10.0 * 61.0 * EPS / gap;
    assert!(tolerance < 1e-9, "{tolerance:e}");
    let first_two = |rows: &Matrix<f64>| Matrix::from_fn(60, 2, |i, j| rows[(i, j)]);
    let (others, expected) = (first_two(with.scores()), first_two(without.scores()));
    assert_same_up_to_sign(&others, &expected, tolerance, "the others");
    assert!((0..2).all(|j| with.scores()[(60, j)].abs() <= tolerance));
    // All rows alone: nothing to embed.
    let alone = Matrix::from_fn(9, 1, |i, _| 1e3 * i as f64);
    let error = settings.fit(alone).unwrap_err().to_string();
    assert!(error.contains("row 1 has kernel values with all others that sum to 0"), "{error}");
}
