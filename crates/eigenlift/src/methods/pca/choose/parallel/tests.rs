use super::super::tests::{planted, spectrum, with_one_and_two};
use super::*;

fn analysed(x: &Matrix<f64>, options: &ParallelOptions) -> ParallelAnalysis {
    parallel_analysis(x.into(), options, &Watch::default()).unwrap()
}

/// The level holds: of 40 tables of unrelated columns at 95 %, 2 are expected to exceed; 7 or more have probability 0.3 %.
#[test]
fn unrelated_columns_rarely_give_a_component() {
    let mut found = 0;
    for seed in 0..40 {
        let noise = planted(100, 8, 0, 100 + seed);
        found +=
            usize::from(analysed(&noise, &ParallelOptions { seed, ..Default::default() }).n_components > 0);
    }
    assert!(found <= 6, "{found}");
}

#[test]
fn the_observed_spectrum_is_that_of_the_covariance_on_either_side() {
    for (n, d) in [(200, 30), (30, 200), (31, 31)] {
        let x = planted(n, d, 3, 9);
        let found = analysed(&x, &ParallelOptions { permutations: 3, ..Default::default() });
        let (values, total) = spectrum(&x);
        assert_eq!((found.observed.len(), found.null.len()), (d.min(n - 1), d.min(n - 1)));
        // Two symmetric products and decompositions of a matrix of that trace.
        let allowed = 8.0 * n.max(d) as f64 * f64::EPSILON * total;
        assert!(values.iter().zip(&found.observed).all(|(x, y)| (x - y).abs() < allowed), "{n} × {d}");
        assert_eq!((found.n_rows_used, found.permutations), (n, 3));
    }
}

/// Permuting keeps the variance of every column, so the sum of each null spectrum is the total.
#[test]
fn permutations_keep_the_total() {
    let x = planted(80, 12, 2, 10);
    let found = analysed(&x, &ParallelOptions { permutations: 1, ..Default::default() });
    let (a, b) = (found.observed.iter().sum::<f64>(), found.null.iter().sum::<f64>());
    assert!((a - b).abs() < 1e-12 * a);
    assert!(found.observed[0] > 2.0 * found.null[0]);
}

#[test]
fn a_power_of_two_as_scale_changes_nothing_but_the_scale() {
    let x = planted(400, 30, 3, 11);
    let larger = Matrix::from_fn(400, 30, |i, j| x[(i, j)] * 1024.0);
    let (a, b) = (analysed(&x, &ParallelOptions::default()), analysed(&larger, &ParallelOptions::default()));
    assert_eq!((a.n_components, b.n_components), (3, 3));
    let close = |x: f64, y: f64| (x * 1048576.0 - y).abs() <= 1e-12 * y;
    assert!(a.null.iter().zip(&b.null).all(|(x, y)| close(*x, *y)));
    let scaled = ParallelOptions { scaled: true, ..Default::default() };
    let (a, b) = (analysed(&x, &scaled), analysed(&larger, &scaled));
    assert_eq!((a.n_components, b.n_components), (3, 3));
    assert!((a.observed.iter().sum::<f64>() - 30.0).abs() < 1e-10);
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_another_seed_differs() {
    for (n, d) in [(600, 150), (40, 300)] {
        let x = planted(n, d, 3, 12);
        let options = ParallelOptions { permutations: 6, most_rows: 500, seed: 5, ..Default::default() };
        let (one, two) = with_one_and_two(|| analysed(&x, &options));
        assert_eq!(one, two);
        assert_eq!(one.n_rows_used, n.min(500));
        assert_ne!(one.null, analysed(&x, &ParallelOptions { seed: 6, ..options }).null);
    }
}

#[test]
fn quantiles_are_those_of_a_permutation_test() {
    let values = || (1..=50).rev().map(f64::from).collect::<Vec<_>>();
    assert_eq!(quantile(values(), 0.95), 49.0);
    assert_eq!(quantile(values(), 0.5), 26.0);
    assert_eq!(quantile(values(), 0.999), 50.0);
    assert_eq!(quantile(vec![3.0], 0.95), 3.0);
    assert_eq!(quantile(vec![3.0, 1.0], 1e-9), 1.0);
}

#[test]
fn what_cannot_be_analysed_is_explained() {
    let x = planted(1, 3, 0, 13);
    let message = parallel_analysis((&x).into(), &ParallelOptions::default(), &Watch::default());
    assert!(message.unwrap_err().to_string().starts_with("1 rows of 3 columns"));
    let x = planted(9, 3, 0, 13);
    for wrong in [
        ParallelOptions { permutations: 0, ..Default::default() },
        ParallelOptions { quantile: 1.0, ..Default::default() },
        ParallelOptions { quantile: f64::NAN, ..Default::default() },
        ParallelOptions { most_rows: 1, ..Default::default() },
    ] {
        assert!(matches!(
            parallel_analysis((&x).into(), &wrong, &Watch::default()),
            Err(Error::Setting { .. })
        ));
    }
}
