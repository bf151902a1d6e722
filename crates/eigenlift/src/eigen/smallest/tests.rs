use super::*;
use crate::random::{Purpose, Stream};
use std::f64::consts::PI;

fn solve(
    a: &SparseSymmetric,
    k: usize,
    known: Option<&Matrix<f64>>,
    memory: Option<u64>,
) -> Result<Smallest> {
    let watch = Watch::default();
    let deflate = known.map(Matrix::view);
    smallest(
        a,
        k,
        &SmallestOptions { deflate, tolerance: 1e-8, seed: 1, memory_bytes: memory, watch: &watch },
    )
}

/// The Laplacian of the graph with the edges given.
fn laplacian(n: usize, edges: &[(u32, u32, f64)]) -> SparseSymmetric {
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    for (i, j, weight) in edges {
        entries.extend([(*i, *j, -weight), (*i, *i, *weight), (*j, *j, *weight)]);
    }
    SparseSymmetric::from_triplets(n, &entries).unwrap()
}

fn path(n: usize) -> SparseSymmetric {
    laplacian(n, &(1..n as u32).map(|i| (i - 1, i, 1.0)).collect::<Vec<_>>())
}

fn ones(n: usize) -> Matrix<f64> {
    Matrix::from_fn(n, 1, |_, _| 3.0)
}

/// 2 − 2cos(πj/n) of the path, with the vector cos(πj(i + ½)/n).
fn path_value(n: usize, j: usize) -> f64 {
    4.0 * (0.5 * PI * j as f64 / n as f64).sin().powi(2)
}

fn path_entry(n: usize, j: usize, i: usize) -> f64 {
    let scale = if j == 0 { 1.0 } else { 2.0 } / n as f64;
    scale.sqrt() * (PI * j as f64 * (i as f64 + 0.5) / n as f64).cos()
}

/// Residuals as reported hold in a product of our own, vectors are orthonormal, and values are within ρ and rounding of the
/// ones expected. What rounding of products and of the small eigenproblem adds: 16u‖A‖.
fn check(a: &SparseSymmetric, found: &EigenPairs, expected: &[f64]) {
    let noise = 16.0 * a.unit_roundoff() * a.max_row_sum();
    assert_eq!(found.values.len(), expected.len());
    let mut product = Matrix::zeros(a.n(), expected.len());
    a.apply(found.vectors.view(), product.view_mut(), &Watch::default()).unwrap();
    let gram = inner(found.vectors.view(), found.vectors.view());
    for (j, exact) in expected.iter().enumerate() {
        let (value, residual) = (found.values[j], found.residuals[j]);
        assert!((value - exact).abs() <= residual + noise, "pair {j}: {value:e}, not {exact:e}");
        let squares = (0..a.n()).map(|i| (product[(i, j)] - value * found.vectors[(i, j)]).powi(2));
        assert!((squares.sum::<f64>().sqrt() - residual).abs() <= noise);
        assert!(residual <= (1.1e-8 * exact).max(4.0 * noise), "pair {j}: residual {residual:e}");
        (0..expected.len()).for_each(|l| assert!((gram[(l, j)] - f64::from(l == j)).abs() < 1e-12));
    }
}

/// The largest sine of an angle between the columns and the span of `exact`.
fn angle(found: &Matrix<f64>, exact: &Matrix<f64>) -> f64 {
    let mut rest = found.clone();
    combine(rest.view_mut(), Onto::Add, -1.0, exact.view(), inner(exact.view(), found.view()).view());
    column_norms(rest.view()).into_iter().fold(0.0, f64::max)
}

#[test]
fn paths_have_their_known_spectrum() {
    for n in [1000, 3000] {
        let a = path(n);
        let found = solve(&a, 4, Some(&ones(n)), None).unwrap();
        assert_eq!(found.route, SmallestRoute::ShiftInvert);
        check(&a, &found.pairs, &(1..5).map(|j| path_value(n, j)).collect::<Vec<_>>());
        let exact = Matrix::from_fn(n, 4, |i, j| path_entry(n, j + 1, i));
        let gap = path_value(n, 2) - path_value(n, 1);
        let allowed =
            found.pairs.residuals.iter().fold(16.0 * f64::EPSILON * 4.0, |most, r| most.max(*r)) / gap;
        assert!(angle(&found.pairs.vectors, &exact) <= 4.0 * allowed);
        assert!(found.pairs.stats.passes < 20, "{:?}", found.pairs.stats);
        // Not told of the constant vector, it comes first.
        let found = solve(&a, 3, None, None).unwrap();
        check(&a, &found.pairs, &(0..3).map(|j| path_value(n, j)).collect::<Vec<_>>());
    }
}

#[test]
fn equal_eigenvalues_of_a_grid_give_the_right_subspace() {
    let m = 40;
    let at = |x: usize, y: usize| (x * m + y) as u32;
    let mut edges = Vec::new();
    for x in 0..m {
        for y in 1..m {
            edges.extend([(at(x, y - 1), at(x, y), 1.0), (at(y - 1, x), at(y, x), 1.0)]);
        }
    }
    let a = laplacian(m * m, &edges);
    let found = solve(&a, 5, Some(&ones(m * m)), None).unwrap().pairs;
    let modes = [(0, 1), (1, 0), (1, 1), (0, 2), (2, 0)];
    let values: Vec<f64> = modes.iter().map(|(p, q)| path_value(m, *p) + path_value(m, *q)).collect();
    check(&a, &found, &values);
    let mode = |from: usize, width: usize| {
        Matrix::from_fn(m * m, width, |i, j| {
            let (p, q) = modes[from + j];
            path_entry(m, p, i / m) * path_entry(m, q, i % m)
        })
    };
    // ρ ≤ 1e-8·θ and gaps of more than a third of θ.
    for (from, width) in [(0, 2), (2, 1), (3, 2)] {
        let part = found.vectors.view().columns(from..from + width).to_matrix();
        assert!(angle(&part, &mode(from, width)) < 4e-8);
    }
}

/// I − D^(−1/2)WD^(−1/2) of a graph of near points in the square, and the unit vector along √d.
fn near_points(n: usize) -> (SparseSymmetric, Matrix<f64>) {
    let mut stream = Stream::new(3, Purpose::Synthetic);
    let points: Vec<(f64, f64)> = (0..n).map(|_| (2.0 * stream.uniform(), stream.uniform())).collect();
    let mut edges = Vec::new();
    for i in 0..n {
        let squared = |j: usize| (points[i].0 - points[j].0).powi(2) + (points[i].1 - points[j].1).powi(2);
        let mut order: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        order.sort_by(|a, b| squared(*a).total_cmp(&squared(*b)));
        edges.extend(order[..7].iter().map(|j| (i as u32, *j as u32, (-20.0 * squared(*j)).exp())));
    }
    let mut degrees = vec![0.0; n];
    edges.iter().for_each(|(i, j, w)| {
        degrees[*i as usize] += w;
        degrees[*j as usize] += w;
    });
    let scaled =
        |(i, j, w): &(u32, u32, f64)| (*i, *j, -w / (degrees[*i as usize] * degrees[*j as usize]).sqrt());
    let entries: Vec<(u32, u32, f64)> =
        edges.iter().map(scaled).chain((0..n as u32).map(|i| (i, i, 1.0))).collect();
    let root = Matrix::from_fn(n, 1, |i, _| degrees[i].sqrt());
    (SparseSymmetric::from_triplets(n, &entries).unwrap(), root)
}

#[test]
fn a_normalised_laplacian_agrees_with_the_dense_solver_on_every_route() {
    let (a, root) = near_points(520);
    let (all, vectors) = symmetric_eigen(&a.to_dense(&Watch::default()).unwrap()).unwrap();
    let expected: Vec<f64> = all.iter().rev().skip(1).take(3).copied().collect();
    let exact = Matrix::from_fn(520, 3, |i, j| vectors[(i, 520 - 2 - j)]);
    for (memory, route) in [(None, SmallestRoute::ShiftInvert), (Some(0), SmallestRoute::Filter)] {
        let found = solve(&a, 3, Some(&root), memory).unwrap();
        assert_eq!(found.route, route);
        check(&a, &found.pairs, &expected);
        // ρ ≤ 1e-8·θ; the gap after the third value is more than a hundredth of it.
        assert!(angle(&found.pairs.vectors, &exact) < 1e-6);
        let along = inner(root.view(), found.pairs.vectors.view());
        assert!(along.as_slice().iter().all(|x| x.abs() < 1e-12 * column_norms(root.view())[0]));
    }
}

/// The square of the path's Laplacian is (I − W)ᵀ(I − W) up to scale, with W the mean of both neighbours: eigenvalues of
/// 5e-11 and 1e-12 of the norm.
#[test]
fn eigenvalues_near_rounding_keep_their_subspace() {
    for n in [600, 1500] {
        let rows: Vec<Vec<(u32, f64)>> = (0..n)
            .map(|i| path(n).row(i).0.iter().zip(path(n).row(i).1).map(|(j, x)| (*j, *x)).collect())
            .collect();
        let a = SparseSymmetric::gram(n, &rows).unwrap();
        let found = solve(&a, 3, Some(&ones(n)), None).unwrap().pairs;
        let values: Vec<f64> = (1..4).map(|j| path_value(n, j).powi(2)).collect();
        check(&a, &found, &values);
        let exact = Matrix::from_fn(n, 3, |i, j| path_entry(n, j + 1, i));
        // Rounding of the matrix and of products, 16u‖A‖, over the gap to the fourth.
        let gap = path_value(n, 4).powi(2) - values[2];
        assert!(angle(&found.vectors, &exact) < 16.0 * f64::EPSILON * 16.0 / gap);
    }
}

#[test]
fn a_graph_in_three_pieces_has_two_more_zeros() {
    let n = 900;
    let edges: Vec<(u32, u32, f64)> =
        (1..n as u32).filter(|i| i % 300 != 0).map(|i| (i - 1, i, 1.0)).collect();
    let a = laplacian(n, &edges);
    let found = solve(&a, 4, Some(&ones(n)), None).unwrap().pairs;
    check(&a, &found, &[0.0, 0.0, path_value(300, 1), path_value(300, 1)]);
    let pieces = Matrix::from_fn(n, 3, |i, j| if i / 300 == j { 300f64.sqrt().recip() } else { 0.0 });
    let zeros = found.vectors.view().first_columns(2).to_matrix();
    assert!(angle(&zeros, &pieces) < 1e-8);
}

#[test]
fn diagonal_and_zero_matrices() {
    let n = 700;
    let a = SparseSymmetric::from_triplets(
        n,
        &(0..n as u32).map(|i| (i, i, f64::from((i * 37) % 700))).collect::<Vec<_>>(),
    );
    let a = a.unwrap();
    check(&a, &solve(&a, 3, None, None).unwrap().pairs, &[0.0, 1.0, 2.0]);
    let zero = SparseSymmetric::from_triplets(n, &[]).unwrap();
    check(&zero, &solve(&zero, 2, None, None).unwrap().pairs, &[0.0, 0.0]);
}

#[test]
fn small_matrices_give_as_many_pairs_as_there_are() {
    let n = 12;
    let a = path(n);
    for k in [n - 1, n, 100] {
        let found = solve(&a, k, Some(&ones(n)), None).unwrap();
        assert_eq!(found.route, SmallestRoute::Dense);
        check(&a, &found.pairs, &(1..n).map(|j| path_value(n, j)).collect::<Vec<_>>());
    }
    check(&a, &solve(&a, 2, None, None).unwrap().pairs, &[0.0, path_value(n, 1)]);
    let none = SparseSymmetric::from_triplets(0, &[]).unwrap();
    assert!(solve(&none, 2, None, None).unwrap().pairs.values.is_empty());
}

#[test]
fn without_memory_the_filter_finds_the_same_or_says_that_it_does_not() {
    let a = path(600);
    let found = solve(&a, 2, Some(&ones(600)), Some(1000)).unwrap();
    assert_eq!(found.route, SmallestRoute::Filter);
    check(&a, &found.pairs, &[path_value(600, 1), path_value(600, 2)]);
}

#[test]
fn what_cannot_be_is_refused() {
    let negative = SparseSymmetric::from_triplets(600, &[(5, 5, -1.0), (7, 7, 1.0)]).unwrap();
    let message = solve(&negative, 2, None, None).unwrap_err().to_string();
    assert!(message.contains("must be positive semi-definite"), "{message}");
    // A vector that is no eigenvector leaves residuals that do not fall.
    for n in [100, 600] {
        let wrong = Matrix::from_fn(n, 1, |i, _| i as f64);
        let error = solve(&path(n), 2, Some(&wrong), None).unwrap_err();
        assert!(
            matches!(error, Error::NotConverged { .. }) && error.to_string().contains("check"),
            "{error}"
        );
    }
    assert!(matches!(solve(&path(600), 2, Some(&ones(5)), None), Err(Error::Data { .. })));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let (a, root) = near_points(600);
    let run = |threads: usize, memory: Option<u64>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pairs = pool.install(|| solve(&a, 3, Some(&root), memory)).unwrap().pairs;
        (pairs.values, pairs.vectors)
    };
    for memory in [None, Some(0)] {
        let one = run(1, memory);
        assert!(one == run(2, memory) && one == run(3, memory));
    }
}
