//! What cannot be clustered, and why.

use super::{any, flowers, rings, spec};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::KernelKMeans;
use eigenlift::progress::{CancelToken, Watch};

fn refused(settings: &KernelKMeans, x: &Matrix<f64>, part: &str) {
    let message = settings.fit(&any(x)).expect_err(part).to_string();
    assert!(message.contains(part), "\"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "three parts in \"{message}\"");
}

#[test]
fn settings_and_rows_out_of_range_are_refused() {
    let mut x = flowers();
    let plain = |clusters| KernelKMeans::new(clusters).kernel(spec("rbf(gamma=0.1)"));
    refused(&plain(0), &x, "0 clusters of 150 rows");
    refused(&plain(151), &x, "151 clusters of 150 rows");
    refused(&plain(2).starts(0), &x, "0 starts");
    refused(&plain(2).max_steps(0), &x, "0 steps");
    refused(&plain(2).spectral(0), &x, "0 components");
    refused(&plain(2).column_names(vec!["a".into()]), &x, "1 column names");
    refused(&plain(2).initial_labels(vec![0; 150]), &x, "150 initial labels");
    refused(&plain(2).initial_labels(vec![2; 150]), &x, "150 initial labels");
    refused(&plain(2).initial_labels(vec![0, 1]), &x, "2 initial labels");
    refused(&plain(2).with(|f| f.memory_limit(2_000)), &x, "allowed");
    refused(&plain(2).spectral(2), &Matrix::from_fn(9, 2, |_, _| 1.0), "do not vary");
    x[(7, 0)] = f64::INFINITY;
    refused(&plain(2), &x, "row 8");
}

#[test]
fn more_clusters_than_different_rows_leave_some_empty_and_a_warning() {
    // Five different rows, eight times each.
    let x = Matrix::from_fn(40, 2, |i, j| ((i % 5 * (j + 2)) as f64 * 1.7).sin());
    for kernel in ["linear", "rbf(gamma=1)"] {
        let model = KernelKMeans::new(5).kernel(spec(kernel)).fit(&any(&x)).unwrap();
        assert_eq!(model.sizes(), [8; 5], "{kernel}");
        assert!(model.inertia() < 1e-10, "{kernel}: {}", model.inertia());
        let more = KernelKMeans::new(7).kernel(spec(kernel)).fit(&any(&x)).unwrap();
        assert!(more.warnings()[0].contains("distinct clusters (5) found smaller than n_clusters (7)"));
        let mut sizes = more.sizes().to_vec();
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 0, 8, 8, 8, 8, 8], "{kernel}");
        assert!(more.converged() && more.inertia() < 1e-10, "{kernel}: {}", more.inertia());
        // An empty cluster has the centre of another: no row is nearer to it.
        assert_eq!(more.predict(&x).unwrap(), more.labels(), "{kernel}");
        let distances = more.distances(&x).unwrap();
        assert!((0..7).all(|c| (0..40).any(|i| distances[(i, c)] < 1e-5)), "{kernel}");
    }
    let one = KernelKMeans::new(1)
        .kernel(spec("rbf(gamma=1)"))
        .fit(&any(&Matrix::from_fn(9, 2, |_, _| 1.0)))
        .unwrap();
    assert_eq!((one.sizes(), one.inertia()), (&[9u64][..], 0.0));
    assert_eq!(one.plane(&Matrix::from_fn(2, 2, |_, _| 1.0)).unwrap().as_slice(), [0.0; 4]);
}

// Two far pairs of centres and a third between them that no row is nearest to: the start leaves it empty.
#[test]
fn an_empty_cluster_takes_the_furthest_row() {
    let x = Matrix::from_vec(vec![0.0, 1.0, 10.0, 11.0, 5.4, 30.0], 6, 1).unwrap();
    // Means 5.5 (rows 0 and 3), 5.5 (rows 1 and 2) and 17.7: the second is equal to the first and gets nothing.
    let model = KernelKMeans::new(3)
        .kernel(spec("linear"))
        .initial_labels(vec![0, 1, 1, 0, 2, 2])
        .fit(&any(&x))
        .unwrap();
    assert!(model.converged() && model.sizes().iter().all(|size| *size > 0), "{:?}", model.labels());
    let own = model.distances(&x).unwrap();
    let sum: f64 = (0..6).map(|i| own[(i, model.labels()[i] as usize)].powi(2)).sum();
    assert!((sum - model.inertia()).abs() < 1e-9, "{sum} {}", model.inertia());
}

#[test]
fn few_steps_leave_a_warning_and_cancelling_stops() {
    let (x, _) = rings(300, 8);
    let hurried = KernelKMeans::new(12).kernel(spec("linear")).starts(1).max_steps(1).fit(&any(&x)).unwrap();
    assert!(!hurried.converged());
    assert!(hurried.warnings()[0].contains("After 1 steps"), "{:?}", hurried.warnings());
    assert_eq!(hurried.predict(&x).unwrap(), hurried.labels());
    let token = CancelToken::default();
    token.cancel();
    let stopped = KernelKMeans::new(2).with(|f| f.watch(Watch::default().cancelled_by(token)));
    assert!(matches!(stopped.fit(&any(&x)), Err(Error::Cancelled)));
    let narrow = Matrix::<f64>::zeros(2, 5);
    for kernel in ["linear", "rbf(gamma=1)"] {
        let model = KernelKMeans::new(2).kernel(spec(kernel)).fit(&any(&x)).unwrap();
        assert!(model.predict(&narrow).unwrap_err().to_string().contains("rows of 5 columns"));
        assert!(model.predict(&Matrix::<f64>::zeros(0, 2)).unwrap().is_empty());
        assert!(model.distances(&Matrix::from_fn(1, 2, |_, _| f64::NAN)).is_err());
        assert!(model.distances(&Matrix::from_fn(1, 2, |_, _| 1e200)).is_err() || kernel != "linear");
    }
    let deep = KernelKMeans::new(2).kernel(spec("linear")).spectral(5).fit(&any(&x)).unwrap();
    assert_eq!(deep.spectral(), Some(2));
    assert!(deep.warnings()[0].contains("fewer than the 5 asked for"));
}
