//! Values that are known otherwise.

use super::{agreement, any, assert_close, bits, flowers, rings, spec};
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, KernelKMeans, KernelPca};
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::Numbers;

// scikit-learn 1.9.1, KMeans(n_init=50, tol=0) on the built-in irises.
#[test]
fn linear_kernel_is_plain_k_means() {
    let x = flowers();
    for (clusters, inertia) in [(2, 152.3479517603579), (3, 78.851441426146), (5, 46.446182051282065)] {
        let model = KernelKMeans::new(clusters).kernel(spec("linear")).starts(30).fit(&any(&x)).unwrap();
        assert!((model.inertia() - inertia).abs() < 1e-9, "{} {inertia}", model.inertia());
        assert!(model.converged() && model.warnings().is_empty());
        assert_eq!(model.predict(&x).unwrap(), model.labels());
        assert_eq!(model.sizes().iter().sum::<u64>(), 150);
    }
    let model = KernelKMeans::new(3).kernel(spec("linear")).fit(&any(&x)).unwrap();
    let mut sizes = model.sizes().to_vec();
    sizes.sort_unstable();
    assert_eq!(sizes, [38, 50, 62]);
    // Far from the origin nothing changes.
    let far = Matrix::from_fn(150, 4, |i, j| x[(i, j)] + 1e6);
    let moved = KernelKMeans::new(3).kernel(spec("linear")).fit(&any(&far)).unwrap();
    assert!((moved.inertia() - 78.851441426146).abs() < 1e-6, "{}", moved.inertia());
}

/// Kernel k-means on the Gram matrix: ‖φ(x) − c‖² = K_ii − 2·mean K_ij + mean K_jl over members j, l. Gives labels, inertia and all
/// squared distances.
fn slow(gram: &Matrix<f64>, start: &[u32], clusters: u32) -> (Vec<u32>, f64, Matrix<f64>) {
    let n = gram.n_rows();
    let mut labels = start.to_vec();
    for _ in 0..100 {
        let squares = Matrix::from_fn(n, clusters as usize, |i, c| {
            let own: Vec<usize> = (0..n).filter(|j| labels[*j] == c as u32).collect();
            let size = own.len() as f64;
            let cross: f64 = own.iter().map(|j| gram[(i, *j)]).sum();
            let inside: f64 = own.iter().flat_map(|j| own.iter().map(|l| gram[(*j, *l)])).sum();
            gram[(i, i)] - 2.0 * cross / size + inside / (size * size)
        });
        let nearest = |i: usize| {
            let row = squares.row(i);
            (0..clusters).reduce(|a, b| if row[b as usize] < row[a as usize] { b } else { a }).unwrap()
        };
        let next: Vec<u32> = (0..n).map(nearest).collect();
        if next == labels {
            let inertia = (0..n).map(|i| squares[(i, labels[i] as usize)]).sum();
            return (labels, inertia, squares);
        }
        labels = next;
    }
    panic!("the reference did not end");
}

#[test]
fn the_same_start_ends_as_on_the_gram_matrix() {
    let mut draw = Numbers::new(9);
    let x = Matrix::from_fn(70, 3, |i, _| draw.uniform() * 2.0 + (i % 4) as f64 * 0.8);
    let start: Vec<u32> = (0..70).map(|i| (i * 7 % 4) as u32).collect();
    for kernel in ["rbf(gamma=0.5)", "laplacian(gamma=0.3)", "poly(degree=2,gamma=1,coef0=1)"] {
        let gram = Kernel::new(&spec(kernel), 3).unwrap().matrix((&x).into(), (&x).into());
        let (labels, inertia, squares) = slow(&gram, &start, 4);
        let model =
            KernelKMeans::new(4).kernel(spec(kernel)).initial_labels(start.clone()).fit(&any(&x)).unwrap();
        assert_eq!(model.labels(), labels, "{kernel}");
        assert!((model.inertia() / inertia - 1.0).abs() < 1e-9, "{kernel}: {} {inertia}", model.inertia());
        assert!(model.left_out().is_none());
        let scale = gram.as_slice().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let found = model.distances(&x).unwrap();
        let found = Matrix::from_fn(70, 4, |i, c| found[(i, c)].powi(2));
        assert_close(&found, &squares, 1e-8 * scale, kernel);
        // The same from the Gram matrix itself.
        let by_gram = KernelKMeans::new(4)
            .kernel(spec("precomputed"))
            .initial_labels(start.clone())
            .fit(&any(&gram))
            .unwrap();
        assert_eq!(by_gram.labels(), labels, "{kernel}");
        let found = by_gram.distances(&gram).unwrap();
        let found = Matrix::from_fn(70, 4, |i, c| found[(i, c)].powi(2));
        assert_close(&found, &squares, 1e-6 * scale, kernel);
    }
}

#[test]
fn rings_are_clusters_for_a_kernel_and_not_for_plain_k_means() {
    let (x, truth) = rings(160, 2);
    let fit = |kernel: &str| KernelKMeans::new(2).kernel(spec(kernel)).fit(&any(&x)).unwrap();
    let (round, flat) = (fit("rbf(gamma=0.5)"), fit("linear"));
    assert!(agreement(round.labels(), &truth) == 1.0, "{}", agreement(round.labels(), &truth));
    assert!(agreement(flat.labels(), &truth) < 0.9, "{}", agreement(flat.labels(), &truth));
    let (new, truth) = rings(60, 3);
    assert_eq!(agreement(&round.predict(&new).unwrap(), &truth), 1.0);
    let spectral = KernelKMeans::new(2).kernel(spec("rbf(gamma=0.5)")).spectral(2).fit(&any(&x)).unwrap();
    assert_eq!(agreement(&spectral.predict(&new).unwrap(), &truth), 1.0);
}

#[test]
fn the_spectral_view_is_k_means_of_kernel_principal_components() {
    let (x, _) = rings(90, 4);
    let kernel = || spec("rbf(gamma=0.7)");
    let scores = KernelPca::new(3).kernel(kernel()).fit(x.clone()).unwrap();
    let scores = scores.transform(&x).unwrap();
    let model = KernelKMeans::new(4).kernel(kernel()).spectral(3).starts(20).fit(&any(&x)).unwrap();
    let plain = KernelKMeans::new(4).kernel(spec("linear")).starts(20).fit(&any(&scores)).unwrap();
    assert!(
        (model.inertia() / plain.inertia() - 1.0).abs() < 1e-8,
        "{} {}",
        model.inertia(),
        plain.inertia()
    );
    assert_eq!(model.spectral(), Some(3));
    assert_eq!(model.predict(&x).unwrap(), model.labels());
    let distances = model.distances(&x).unwrap();
    let sum: f64 = (0..90).map(|i| distances[(i, model.labels()[i] as usize)].powi(2)).sum();
    assert!((sum / model.inertia() - 1.0).abs() < 1e-12);
    // The plane is that of kernel PCA, with and without the spectral view.
    let direct = KernelKMeans::new(4).kernel(kernel()).fit(&any(&x)).unwrap();
    let one = KernelKMeans::new(2).kernel(kernel()).spectral(1).fit(&any(&x)).unwrap();
    for model in [&model, &direct, &one] {
        let plane = model.plane(&x).unwrap();
        for j in 0..2 {
            // Low rank fixes signs on landmarks, the exact fit on samples.
            let sign = if plane[(0, j)] * scores[(0, j)] < 0.0 { -1.0 } else { 1.0 };
            let gap = (0..90).map(|i| (sign * plane[(i, j)] - scores[(i, j)]).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-8, "{gap:e}");
        }
    }
}

#[test]
fn distances_of_rows_add_up_to_the_inertia_with_landmarks_and_random_features() {
    let (x, _) = rings(1200, 5);
    let ways = [LowRank::pivoted(Rank::Exactly(40)), LowRank::fourier(Rank::Exactly(80))];
    for how in ways {
        let model = KernelKMeans::new(3)
            .kernel(spec("rbf(gamma=0.5)"))
            .with(|f| f.low_rank(how.clone()))
            .starts(3)
            .fit(&any(&x))
            .unwrap();
        assert_eq!(model.predict(&x).unwrap(), model.labels());
        let distances = model.distances(&x).unwrap();
        let sum: f64 = (0..1200).map(|i| distances[(i, model.labels()[i] as usize)].powi(2)).sum();
        assert!((sum / model.inertia() - 1.0).abs() < 1e-9, "{sum} {}", model.inertia());
        assert!(model.left_out().is_some_and(|share| share > 0.0));
    }
}

#[test]
fn threads_and_memory_change_no_label() {
    let (x, _) = rings(1500, 6);
    // Uniform landmarks, which are the same however little memory there is.
    let settings = || {
        KernelKMeans::new(4)
            .kernel(spec("rbf(gamma=0.5)"))
            .with(|f| f.low_rank(LowRank::uniform(Rank::Exactly(50))))
            .starts(2)
    };
    let one = settings().with(|f| f.threads(1)).fit(&any(&x)).unwrap();
    let more = settings().with(|f| f.threads(3)).fit(&any(&x)).unwrap();
    assert_eq!(bits(&one.distances(&x).unwrap()), bits(&more.distances(&x).unwrap()));
    assert_eq!((one.labels(), one.inertia()), (more.labels(), more.inertia()));
    assert!(one.plan().to_string().contains("of all rows, 562.5 KiB, are held"), "{}", one.plan());
    // Too little memory for all features: the starts see 500 rows or more, and every step computes features again.
    let short = |settings: &KernelKMeans| {
        let all = one.plan().bytes_needed;
        let limits = (1..100u64).map(|part| all - part * all / 100);
        let tight = limits.map(|limit| settings.clone().with(|f| f.memory_limit(limit)));
        let again = |settings: &KernelKMeans| {
            settings
                .prepare(&any(&x))
                .is_ok_and(|job| job.plan().to_string().contains("computed again in every step"))
        };
        // Some way below the largest limit: a landmark or two are the same row as another, and what they would take is free.
        tight.into_iter().filter(again).nth(5).unwrap().fit(&any(&x)).unwrap()
    };
    let start: Vec<u32> = (0..1500).map(|i| (i % 4) as u32).collect();
    let settings = settings();
    let given = settings.clone().initial_labels(start);
    let (held, read) = (given.fit(&any(&x)).unwrap(), short(&given));
    assert_eq!(read.labels(), held.labels());
    assert!((read.inertia() / held.inertia() - 1.0).abs() < 1e-12);
    let drawn = short(&settings);
    assert!(drawn.plan().to_string().contains("starts are made on"), "{}", drawn.plan());
    assert!(drawn.inertia() < 1.05 * one.inertia(), "{} {}", drawn.inertia(), one.inertia());
}

#[test]
fn many_rows_start_on_some_of_them() {
    let mut draw = Numbers::new(12);
    let x = Matrix::from_fn(24_000, 2, |i, j| {
        0.3 * draw.gaussian() + [(i % 3) as f64 * 4.0, (i % 2) as f64 * 4.0][j]
    });
    let model = KernelKMeans::new(6).kernel(spec("linear")).fit(&any(&x)).unwrap();
    assert!(model.plan().to_string().contains("20000 of 24000 rows"), "{}", model.plan());
    // Six blobs of 4000 rows and variance 0.09 in each of 2 columns: 24000·2·0.09 = 4320, standard error 28.
    assert!((model.inertia() - 4320.0).abs() < 140.0, "{}", model.inertia());
    assert_eq!(model.sizes(), [4000; 6]);
}

#[test]
fn the_trait_gives_distances_and_clusters_from_one() {
    let x = flowers();
    let model = KernelKMeans::new(3).fit(&any(&x)).unwrap();
    let fitted: &dyn Fitted = &model;
    assert_eq!((fitted.method(), fitted.n_outputs(), fitted.n_features()), ("kkmeans", 3, 4));
    assert_eq!(
        bits(&fitted.project((&x).into(), &Watch::default()).unwrap()),
        bits(&model.distances(&x).unwrap())
    );
    let labels = fitted.labels_on(&**fitted.engine(), (&x).into(), &Watch::default()).unwrap().unwrap();
    assert_eq!(labels, model.labels());
    assert_eq!((fitted.label_name(), &*fitted.label_words(0)), (Some("cluster"), "1"));
}
