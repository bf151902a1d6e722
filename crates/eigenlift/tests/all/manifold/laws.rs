//! What holds for every manifold method, whatever the rows.

use super::help::{EPS, assert_same_up_to_sign, bits, distances, largest, rows_of, sheet};
use eigenlift::data::{AnySamples, Samples};
use eigenlift::graph::{Metric, NeighborSearch, Reach, Search, Space};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Affinity, LleVariant, ManifoldInput};
use eigenlift::methods::{
    AnyModel, ClassicalMds, DiffusionMap, FittedManifold, Isomap, LaplacianEigenmaps, LocallyLinear,
};
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::{Numbers, sparse};
use eigenlift_testkit::reference::{difference, gram};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

type Fit = fn(AnySamples, usize) -> FittedManifold;

/// Every method and route, by name; the number is that of threads.
pub(crate) const ALL: &[(&str, Fit)] = &[
    ("isomap", |x, t| Isomap::new(2).neighbors(8).threads(t).fit(x).unwrap()),
    ("isomap, radius", |x, t| Isomap::new(2).radius(0.6).threads(t).fit(x).unwrap()),
    ("isomap, manhattan", |x, t| Isomap::new(2).metric(Metric::Manhattan).threads(t).fit(x).unwrap()),
    ("isomap, landmarks", |x, t| Isomap::new(2).neighbors(8).landmarks(25).threads(t).fit(x).unwrap()),
    ("mds", |x, t| ClassicalMds::new(2).threads(t).fit(x).unwrap()),
    ("mds, landmarks", |x, t| ClassicalMds::new(2).landmarks(25).threads(t).fit(x).unwrap()),
    ("diffusion", |x, t| DiffusionMap::new(2).kernel(spec("rbf(gamma=2)")).threads(t).fit(x).unwrap()),
    ("diffusion, 2.5 steps", |x, t| {
        let settings = DiffusionMap::new(2).kernel(spec("rbf(gamma=2)")).alpha(0.5).time(2.5);
        settings.threads(t).fit(x).unwrap()
    }),
    ("laplacian", |x, t| LaplacianEigenmaps::new(2).neighbors(8).threads(t).fit(x).unwrap()),
    ("laplacian, heat", |x, t| {
        let settings = LaplacianEigenmaps::new(2).neighbors(8).affinity(Affinity::Heat { gamma: 3.0 });
        settings.threads(t).fit(x).unwrap()
    }),
    ("laplacian, kernel", |x, t| {
        let settings = LaplacianEigenmaps::new(2).affinity(Affinity::Kernel(spec("rbf(gamma=2)")));
        settings.threads(t).fit(x).unwrap()
    }),
    ("lle", |x, t| lle(LleVariant::Standard, x, t)),
    ("lle, modified", |x, t| lle(LleVariant::Modified, x, t)),
    ("lle, hessian", |x, t| lle(LleVariant::Hessian, x, t)),
    ("lle, ltsa", |x, t| lle(LleVariant::Ltsa, x, t)),
];

fn lle(variant: LleVariant, x: AnySamples, threads: usize) -> FittedManifold {
    LocallyLinear::new(2).neighbors(9).variant(variant).threads(threads).fit(x).unwrap()
}

/// Those whose formula for new rows gives the scores of the rows themselves: δ(x, l) and k(x, ·) of a sample are its row.
fn reproduces(name: &str) -> bool {
    ["isomap", "mds", "diffusion"].iter().any(|start| name.starts_with(start))
}

#[test]
fn rows_as_new_rows_have_their_scores() {
    for n in [120, 600] {
        let x = sheet(n, 31, 0.4);
        for (name, fit) in ALL.iter().filter(|(name, _)| reproduces(name)) {
            let model = fit(x.clone().into(), 0);
            // Lift and A are off by n·eps each; the line cancels by ‖D²‖/λ₂ ≤ 100. Iterations stop at 1e-6, and
            // y(x) = Bv/√λ instead of √λ·v shows their residual.
            let allowed = if n > 512 && !name.contains("landmarks") { 1e-5 } else { 1e3 * n as f64 * EPS };
            let gap = difference(&model.transform(&x).unwrap(), model.scores());
            assert!(gap <= allowed * largest(model.scores()), "{name}, {n}: {gap:e}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for n in [110, 600] {
        let (x, new) = (sheet(n, 32, 0.4), sheet(70, 33, 0.4));
        for (name, fit) in ALL {
            let (one, two) = (fit(x.clone().into(), 1), fit(x.clone().into(), 2));
            assert_eq!(bits(one.scores()), bits(two.scores()), "{name}, {n}");
            assert_eq!(one.eigenvalues(), two.eigenvalues(), "{name}, {n}");
            let (a, b) = (one.transform(&new).unwrap(), two.transform(&new).unwrap());
            assert_eq!(bits(&a), bits(&b), "{name}, {n}");
        }
    }
}

pub(crate) fn assert_comes_back(name: &str, model: &FittedManifold, new: &Matrix<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    model.save(&path).unwrap();
    let saved = std::fs::read(&path).unwrap();
    assert_eq!(saved, model.to_bytes().unwrap(), "{name}");
    for loaded in [FittedManifold::load(&path).unwrap(), FittedManifold::from_bytes(&saved).unwrap()] {
        assert_eq!(bits(loaded.scores()), bits(model.scores()), "{name}");
        assert_eq!(loaded.eigenvalues(), model.eigenvalues(), "{name}");
        assert_eq!(loaded.labels(), model.labels(), "{name}");
        assert_eq!((loaded.facts(), loaded.kind()), (model.facts(), model.kind()), "{name}");
        assert_eq!((loaded.warnings(), loaded.column_names()), (model.warnings(), model.column_names()));
        assert_eq!(
            bits(&loaded.transform(new).unwrap()),
            bits(&model.transform(new).unwrap()),
            "{name}: transform"
        );
        assert!(loaded.to_bytes().unwrap() == saved, "{name}: saving what was loaded gives the same file");
    }
    let any = AnyModel::load(&path).unwrap();
    assert!(any.is::<FittedManifold>());
    let fitted = any.fitted();
    assert_eq!((fitted.method(), fitted.n_outputs()), (model.kind().name(), model.n_components()));
}

#[test]
fn every_model_comes_back_from_its_file_bit_by_bit() {
    let (x, new) = (sheet(90, 34, 0.4), sheet(11, 35, 0.4));
    for (name, fit) in ALL {
        assert_comes_back(name, &fit(x.clone().into(), 0), &new);
        assert_comes_back(name, &fit(AnySamples::from(x.clone()).to_single(), 0), &new);
        assert_comes_back(name, &fit(Samples::from(sparse(&x)).into(), 0), &new);
    }
    let names = ["a", "b\"", "ü"].map(String::from).to_vec();
    assert_comes_back("names", &Isomap::new(2).column_names(names).fit(x.clone()).unwrap(), &new);
    assert_comes_back("inf", &Isomap::new(2).radius(f64::INFINITY).fit(x.clone()).unwrap(), &new);
    let (d, to) = (distances(&x, &x), distances(&new, &x));
    assert_comes_back(
        "isomap of distances",
        &Isomap::new(2).fit(ManifoldInput::distances(d.clone())).unwrap(),
        &to,
    );
    assert_comes_back(
        "mds of distances",
        &ClassicalMds::new(2).fit(ManifoldInput::distances(d.clone())).unwrap(),
        &to,
    );
    let few = ClassicalMds::new(2).landmarks(20).fit(ManifoldInput::distances(d)).unwrap();
    assert_comes_back("mds of distances, landmarks", &few, &to);
}

/// Rows in another order have the same scores in that order, up to signs; landmarks are drawn by row, and left out here.
#[test]
fn permuted_rows_have_permuted_scores() {
    let x = sheet(150, 36, 0.4);
    let mut order: Vec<usize> = (0..150).collect();
    let mut draw = Numbers::new(9);
    (1..150).rev().for_each(|i| order.swap(i, (draw.uniform() * (i + 1) as f64) as usize));
    let turned = rows_of(&x, &order);
    for (name, fit) in ALL.iter().filter(|(name, _)| !name.contains("landmarks")) {
        let (a, b) = (fit(x.clone().into(), 0), fit(turned.clone().into(), 0));
        let values = a.eigenvalues();
        // n·eps·‖M‖ ÷ gap, where ‖M‖ is at most 100 and the gap at least what is between the two wanted.
        let gap =
            (values[0] - values[1]).abs() / values[0].max(if name.starts_with("lle") { 100.0 } else { 1.0 });
        let allowed = 100.0 * 150.0 * EPS / gap;
        assert!(allowed < 1e-2, "{name}: {allowed:e}");
        assert_same_up_to_sign(b.scores(), &rows_of(a.scores(), &order), allowed, name);
    }
}

/// All rows but one as landmarks: the embedding is the exact one but for that row's say, 1/n of it.
#[test]
fn nearly_all_rows_as_landmarks_are_nearly_exact() {
    let x = sheet(160, 37, 0.4);
    let isomap = Isomap::new(2).neighbors(8);
    let (exact, few) =
        (isomap.fit(x.clone()).unwrap(), isomap.clone().landmarks(159).fit(x.clone()).unwrap());
    assert_eq!(few.geodesics().unwrap().n_cols(), 159);
    assert_same_up_to_sign(few.scores(), exact.scores(), 2.0 / 160.0, "isomap");
    let mds = ClassicalMds::new(3);
    // Three columns are embedded in three coordinates: landmarks lose nothing.
    let (exact, few) = (mds.fit(x.clone()).unwrap(), mds.clone().landmarks(20).fit(x).unwrap());
    assert_same_up_to_sign(few.scores(), exact.scores(), 1e-9, "mds");
    for more in [160, 161, 10_000] {
        let same = isomap.clone().landmarks(more).fit(sheet(160, 37, 0.4)).unwrap();
        assert!(same.plan().n_landmarks.is_none());
    }
}

/// Numbers with a short binary expansion are the same in single precision and in sparse rows.
#[test]
fn single_precision_and_sparse_rows_give_the_same() {
    let x = sheet(130, 38, 0.4);
    let x = Matrix::from_fn(130, 3, |i, j| (x[(i, j)] * 1024.0).round() / 1024.0);
    let new = rows_of(&x, &[3, 60, 111]);
    for (name, fit) in ALL {
        let model = fit(x.clone().into(), 0);
        let single = fit(AnySamples::from(x.clone()).to_single(), 0);
        let csr = fit(Samples::from(sparse(&x)).into(), 0);
        assert_eq!((single.plan().precision.as_str(), csr.plan().precision.as_str()), ("f32", "f64"));
        // Kernels of single rows are in single precision: 2⁻²⁴ each, over a gap of some hundredths.
        let by_kernel = name.contains("diffusion") || name.contains("kernel");
        let allowed = if by_kernel { 1e-4 } else { 1e-6 };
        assert_same_up_to_sign(single.scores(), model.scores(), allowed, name);
        assert_same_up_to_sign(csr.scores(), model.scores(), 1e-6, name);
        assert_same_up_to_sign(&csr.transform(&new).unwrap(), &model.transform(&new).unwrap(), 1e-6, name);
    }
}

/// (G16) by hand: y(x) = Σ p(x, j) ψⱼ μ^(t−1), p(x, j) ∝ k(x, xⱼ)·sⱼ, sⱼ = (Σᵢ k(xⱼ, xᵢ))^(−α).
#[test]
fn new_rows_of_a_diffusion_map_follow_nystroems_formula() {
    let (x, new) = (sheet(80, 39, 0.4), sheet(9, 40, 0.4));
    let kernel = spec("rbf(gamma=2)");
    for (alpha, time) in [(0.0, 1.0), (1.0, 1.0), (0.5, 3.0)] {
        let model =
            DiffusionMap::new(3).kernel(kernel.clone()).alpha(alpha).time(time).fit(x.clone()).unwrap();
        let (k, cross) = (gram(&kernel, &x, &x), gram(&kernel, &new, &x));
        let s: Vec<f64> = (0..80).map(|j| k.row(j).iter().sum::<f64>().powf(-alpha)).collect();
        let slow = Matrix::from_fn(9, 3, |i, c| {
            let total: f64 = (0..80).map(|j| cross[(i, j)] * s[j]).sum();
            let mu = model.eigenvalues()[c];
            // scores = ψμ^t.
            (0..80).map(|j| cross[(i, j)] * s[j] / total * model.scores()[(j, c)] / mu).sum()
        });
        let gap = difference(&model.transform(&new).unwrap(), &slow);
        assert!(gap <= 1e-11 * largest(&slow), "{alpha}: {gap:e}");
    }
}

/// (G16) by neighbours: y(x) = Σ wⱼ yⱼ/μ over the neighbours of x, weights equal or by heat.
#[test]
fn new_rows_of_laplacian_eigenmaps_are_weighted_means_of_neighbours() {
    let (x, new) = (sheet(80, 41, 0.4), sheet(9, 42, 0.4));
    for heat in [None, Some(3.0)] {
        let affinity = heat.map_or(Affinity::Neighbors, |gamma| Affinity::Heat { gamma });
        let model = LaplacianEigenmaps::new(2).neighbors(7).affinity(affinity).fit(x.clone()).unwrap();
        let d = distances(&new, &x);
        let slow = Matrix::from_fn(9, 2, |i, c| {
            let mut order: Vec<usize> = (0..80).collect();
            order.sort_by(|a, b| d[(i, *a)].total_cmp(&d[(i, *b)]));
            let weight = |j: usize| heat.map_or(1.0, |gamma: f64| (-gamma * d[(i, j)].powi(2)).exp());
            let total: f64 = order[..7].iter().map(|j| weight(*j)).sum();
            let sum: f64 = order[..7].iter().map(|j| weight(*j) * model.scores()[(*j, c)]).sum();
            sum / total / model.eigenvalues()[c]
        });
        let gap = difference(&model.transform(&new).unwrap(), &slow);
        assert!(gap <= 1e-12 * largest(&slow), "{heat:?}: {gap:e}");
    }
}

/// (G18): weights that sum to 1 and solve (C + r·tr C·I)w ∝ 1 by elimination; for rows of the fit the nearest is the row itself.
#[test]
fn new_rows_of_lle_are_barycentric_in_their_neighbours() {
    let (x, new) = (sheet(80, 43, 0.4), sheet(9, 44, 0.4));
    for variant in [LleVariant::Standard, LleVariant::Ltsa] {
        let settings = LocallyLinear::new(2).neighbors(6).variant(variant).ridge(1e-2);
        let model = settings.fit(x.clone()).unwrap();
        let search = NeighborSearch { reach: Reach::Nearest(6), how: Search::Brute };
        let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
        for rows in [&new, &x] {
            let lists = search.of_new(&space, rows.into(), &Watch::default()).unwrap();
            let slow = Matrix::from_fn(rows.n_rows(), 2, |i, c| {
                let near = lists.row(i).0;
                let w = barycentric(rows.row(i), &x, near, 1e-2);
                near.iter().zip(&w).map(|(j, w)| w * model.scores()[(*j as usize, c)]).sum()
            });
            let gap = difference(&model.transform(rows).unwrap(), &slow);
            assert!(gap <= 1e-10 * largest(&slow), "{variant}: {gap:e}");
        }
        // A row of the fit lies on its nearest neighbour, so that its weights lean to it: 1 − O(ridge) of the whole.
        let again = model.transform(&x).unwrap();
        assert!(difference(&again, model.scores()) <= 0.2 * largest(model.scores()));
    }
}

fn barycentric(x: &[f64], all: &Matrix<f64>, near: &[u32], ridge: f64) -> Vec<f64> {
    let m = near.len();
    let minus = |a: usize, c: usize| all[(near[a] as usize, c)] - x[c];
    let product = |a: usize, b: usize| (0..x.len()).map(|c| minus(a, c) * minus(b, c)).sum::<f64>();
    let trace: f64 = (0..m).map(|a| product(a, a)).sum();
    let mut c: Vec<Vec<f64>> = (0..m)
        .map(|a| {
            let mut row: Vec<f64> =
                (0..m).map(|b| product(a, b) + if a == b { ridge * trace } else { 0.0 }).collect();
            row.push(1.0);
            row
        })
        .collect();
    for p in 0..m {
        for r in 0..m {
            if r != p {
                let f = c[r][p] / c[p][p];
                (0..=m).for_each(|q| c[r][q] -= f * c[p][q]);
            }
        }
    }
    let w: Vec<f64> = (0..m).map(|a| c[a][m] / c[a][a]).collect();
    let total: f64 = w.iter().sum();
    w.iter().map(|w| w / total).collect()
}

/// Affinities that are given, dense or sparse, are embedded as those that were computed.
#[test]
fn affinities_may_be_given() {
    let x = sheet(100, 45, 0.4);
    let kernel = spec("rbf(gamma=2)");
    let w = gram(&kernel, &x, &x);
    let settings = LaplacianEigenmaps::new(2);
    let own = settings.clone().affinity(Affinity::Kernel(kernel)).fit(x).unwrap();
    let dense = settings.fit(ManifoldInput::affinities(w.clone())).unwrap();
    let csr = settings.fit(ManifoldInput::affinities(Samples::from(sparse(&w)))).unwrap();
    assert_same_up_to_sign(dense.scores(), own.scores(), 1e-9, "dense");
    assert_same_up_to_sign(csr.scores(), own.scores(), 1e-9, "sparse");
    assert!(dense.transform(&w).is_err(), "new rows cannot be placed");
}

/// Lists of neighbours give what rows gave, and place new rows.
#[test]
fn neighbours_may_be_given() {
    let (x, new) = (sheet(100, 46, 0.4), sheet(9, 47, 0.4));
    let search = NeighborSearch { reach: Reach::Nearest(8), how: Search::Brute };
    let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
    let watch = Watch::default();
    let lists = search.among(&space, (&x).into(), &watch).unwrap().neighbors;
    let of_new = search.of_new(&space, (&new).into(), &watch).unwrap();
    let isomap = Isomap::new(2).neighbors(8).search(Search::Brute);
    let laplacian = LaplacianEigenmaps::new(2).neighbors(8).search(Search::Brute);
    let pairs = [
        (isomap.fit(x.clone()).unwrap(), isomap.fit(ManifoldInput::neighbors(lists.clone(), None)).unwrap()),
        (
            laplacian.fit(x.clone()).unwrap(),
            laplacian.fit(ManifoldInput::neighbors(lists.clone(), None)).unwrap(),
        ),
    ];
    for (by_rows, by_lists) in pairs {
        assert_eq!(bits(by_rows.scores()), bits(by_lists.scores()));
        let placed = by_lists.transform_neighbors(&of_new, &watch).unwrap();
        assert_eq!(bits(&placed), bits(&by_rows.transform(&new).unwrap()));
        assert!(by_lists.transform(&new).is_err() && by_lists.transform(&x).is_err());
    }
    let lle = LocallyLinear::new(2).neighbors(8).search(Search::Brute);
    let same = lle.fit(ManifoldInput::neighbors(lists, Some(x.clone().into()))).unwrap();
    assert_eq!(bits(same.scores()), bits(lle.fit(x).unwrap().scores()));
}
