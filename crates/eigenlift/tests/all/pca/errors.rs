//! What cannot be done is said, with numbers, and nothing panics.

use super::help::{correlated, largest};
use eigenlift::data::{AnySamples, RowsInMemory};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift_testkit::problems::noise;

const ROUTES: [Option<PcaRoute>; 5] =
    [None, Some(PcaRoute::Covariance), Some(PcaRoute::Dual), Some(PcaRoute::Tsqr), Some(PcaRoute::Krylov)];

fn by(route: Option<PcaRoute>, k: usize) -> Pca {
    route.map_or_else(|| Pca::new(k), |route| Pca::new(k).route(route))
}

/// The message of a fit that must fail, by every route; also that of whitening and that of a source.
fn assert_refused(x: &Matrix<f64>, part: &str) {
    for route in ROUTES {
        let message = by(route, 2).fit(x.clone()).unwrap_err().to_string();
        assert!(message.contains(part), "{route:?}: {message}");
        assert!(message.contains("; ") && message.contains(". "), "three parts in {message}");
        let message = by(route, 2).standardize().fit(x.clone()).unwrap_err().to_string();
        assert!(message.contains(part), "{route:?}, standardised: {message}");
        if route != Some(PcaRoute::Dual) {
            let message = by(route, 2).fit(&mut RowsInMemory::new(x)).unwrap_err().to_string();
            assert!(message.contains(part), "{route:?}, source: {message}");
        }
        let white = Whitening::new(WhiteningMethod::Zca).with(|_| by(route, 1));
        let message = white.fit(x.clone()).unwrap_err().to_string();
        assert!(message.contains(part), "{route:?}, whitening: {message}");
    }
    let message = Pca::auto().fit(x.clone()).unwrap_err().to_string();
    assert!(message.contains(part), "automatic number: {message}");
}

#[test]
fn too_few_rows_are_refused() {
    assert_refused(&Matrix::from_fn(1, 3, |_, j| j as f64), "1 row; centring leaves nothing");
    assert_refused(&Matrix::zeros(0, 3), "no row; centring leaves nothing");
    for route in ROUTES {
        let message = by(route, 2).fit(Matrix::<f64>::zeros(3, 0)).unwrap_err().to_string();
        assert!(message.contains("rows without columns"), "{message}");
    }
}

#[test]
fn rows_that_are_all_alike_are_refused() {
    assert_refused(&Matrix::zeros(20, 3), "All rows look the same");
    assert_refused(&Matrix::from_fn(20, 3, |_, j| 0.1 + j as f64), "All rows look the same");
    assert_refused(&Matrix::from_fn(3001, 3, |_, j| 1e6 / (3.0 + j as f64)), "All rows look the same");
    assert_refused(&Matrix::from_fn(20, 50, |_, j| 0.1 + j as f64), "All rows look the same");
}

#[test]
fn entries_that_are_not_finite_are_named() {
    let mut x = noise(50, 4, 1);
    x[(17, 2)] = f64::NAN;
    assert_refused(&x, "row 18, column 3 is NaN; every entry must be finite");
    x[(17, 2)] = f64::NEG_INFINITY;
    assert_refused(&x, "row 18, column 3 is -inf");
    let single = Matrix::from_fn(50, 4, |i, j| x[(i, j)] as f32);
    let message = Pca::new(2).fit(single).unwrap_err().to_string();
    assert!(message.contains("row 18, column 3 is -inf"), "{message}");
    // So are those of rows to be projected.
    x[(17, 2)] = 0.0;
    let model = Pca::new(2).fit(x.clone()).unwrap();
    x[(3, 0)] = f64::INFINITY;
    for message in [model.transform(&x).unwrap_err(), model.reconstruction(&x).unwrap_err()] {
        assert!(message.to_string().contains("row 4, column 1 is inf"), "{message}");
    }
    let mut scores = Matrix::zeros(3, 2);
    scores[(2, 1)] = f64::NAN;
    let message = model.inverse_transform(&scores).unwrap_err().to_string();
    assert!(message.contains("row 3, column 2 is NaN; every score must be finite"), "{message}");
}

#[test]
fn rows_and_scores_of_another_model_are_refused() {
    let model = Pca::new(2).fit(noise(30, 4, 2)).unwrap();
    for message in
        [model.transform(&noise(3, 5, 1)).unwrap_err(), model.reconstruction(&noise(3, 3, 1)).unwrap_err()]
    {
        assert!(message.to_string().contains('4'), "{message}");
    }
    for message in
        [model.inverse_transform(&noise(3, 3, 1)).unwrap_err(), model.t_squared(&noise(3, 3, 1)).unwrap_err()]
    {
        assert!(message.to_string().contains("rows of 3 scores; the model has 2 components"), "{message}");
    }
    let white = Whitening::new(WhiteningMethod::Zca).fit(noise(30, 4, 2)).unwrap();
    assert!(white.transform(&noise(3, 5, 1)).is_err() && white.inverse_transform(&noise(3, 5, 1)).is_err());
    // No rows are no error.
    assert_eq!(model.transform(&Matrix::<f64>::zeros(0, 4)).unwrap().n_rows(), 0);
    assert_eq!(model.inverse_transform(&Matrix::zeros(0, 2)).unwrap().n_rows(), 0);
    assert_eq!(model.reconstruction(&Matrix::<f64>::zeros(0, 4)).unwrap().total, 0.0);
    assert_eq!(
        white.inverse_transform(&white.transform(&Matrix::<f64>::zeros(0, 4)).unwrap()).unwrap().n_rows(),
        0
    );
}

#[test]
fn settings_out_of_range_are_refused_before_any_work() {
    let x: AnySamples = noise(30, 4, 3).into();
    let rows = noise(30, 4, 3);
    let cases = [(Pca::new(0), "0 components; at least 1 must be kept")];
    let tolerances =
        [2.0, 1.0, 0.0, -1.0, f64::NAN].map(|t| (Pca::new(1).tolerance(t), "it must be at least 1e-14"));
    for (pca, part) in cases.into_iter().chain(tolerances) {
        for message in [
            pca.fit(x.clone()).unwrap_err(),
            pca.prepare(&x).map(|job| job.plan().clone()).unwrap_err(),
            pca.fit(&mut RowsInMemory::new(&rows)).unwrap_err(),
            pca.prepare(&mut RowsInMemory::new(&rows)).map(|job| job.plan().clone()).unwrap_err(),
            pca.stream(4).unwrap_err(),
        ] {
            assert!(matches!(message, Error::Setting { .. }), "{message:?}");
            assert!(message.to_string().contains(part), "{message}");
        }
    }
    let message = Pca::auto().route(PcaRoute::Krylov).fit(x.clone()).unwrap_err().to_string();
    assert!(message.contains("the rules need all eigenvalues"), "{message}");
    let names = vec!["a".to_string(); 3];
    for message in [
        Pca::new(2).column_names(names.clone()).fit(x.clone()).unwrap_err().to_string(),
        Whitening::new(WhiteningMethod::Zca)
            .with(|p| p.column_names(names.clone()))
            .fit(x.clone())
            .unwrap_err()
            .to_string(),
    ] {
        assert!(message.contains("3 column names for 4 columns; there must be one for each"), "{message}");
    }
    assert!(
        "svd"
            .parse::<PcaRoute>()
            .unwrap_err()
            .to_string()
            .contains("covariance, dual, tsqr, krylov or directions")
    );
    for name in PcaRoute::names() {
        assert_eq!(name.parse::<PcaRoute>().unwrap().to_string(), name);
    }
}

#[test]
fn weights_that_cannot_be_are_refused() {
    let x = noise(6, 3, 4);
    let cases: [(&[f64], &str); 6] = [
        (&[1.0, 1.0, 1.0, -0.5, 1.0, 1.0], "row 4 has the weight -0.5"),
        (&[1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0], "row 2 has the weight NaN"),
        (&[f64::INFINITY, 1.0, 1.0, 1.0, 1.0, 1.0], "row 1 has the weight inf"),
        (&[1.0; 5], "5 weights for 6 rows"),
        (&[], "0 weights for 6 rows"),
        (&[0.0; 6], "6 rows whose weights are all 0"),
    ];
    for (weights, part) in cases {
        for route in ROUTES {
            let message = by(route, 2).fit((&x, Some(weights))).unwrap_err().to_string();
            assert!(message.contains(part), "{route:?}: {message}");
        }
        let message = Whitening::new(WhiteningMethod::Zca).fit((&x, Some(weights))).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    // One row alone has all the weight: nothing is left to vary.
    let single = [0.0, 3.0, 0.0, 0.0, 0.0, 0.0];
    for route in ROUTES {
        let message = by(route, 2).fit((&x, Some(&single[..]))).unwrap_err().to_string();
        assert!(message.contains("All rows look the same"), "{route:?}: {message}");
    }
}

#[test]
fn too_little_memory_is_refused_with_what_is_needed() {
    let x: AnySamples = noise(200, 60, 5).into();
    for route in ROUTES {
        let needed = by(route, 2).prepare(&x).map(|job| job.plan().clone()).unwrap().bytes_needed;
        for limit in [1, 1000, needed - 1] {
            let error = by(route, 2).memory_limit(limit).fit(x.clone()).map(|m| m.plan().clone());
            match (route, error) {
                // The plan may find a route that needs less.
                (None, Ok(plan)) => assert!(plan.bytes_needed <= limit),
                (_, result) => {
                    let error = result.unwrap_err();
                    assert!(matches!(error, Error::Memory { .. }), "{error:?}");
                    let message = error.to_string();
                    assert!(
                        message.contains("route of 200 × 60 needs") && message.contains("are allowed"),
                        "{message}"
                    );
                    assert!(message.contains("Allow "), "{message}");
                }
            }
        }
        let plan = by(route, 2).memory_limit(needed).fit(x.clone()).unwrap().plan().clone();
        assert_eq!((plan.bytes_allowed, plan.bytes_needed), (needed, needed));
    }
    let rows = noise(200, 60, 5);
    let error = Pca::new(2).memory_limit(10).fit(&mut RowsInMemory::new(&rows)).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    let error = Whitening::new(WhiteningMethod::Zca).with(|p| p.memory_limit(10)).fit(x).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}

/// The number of bytes that a text such as "1.5 KiB" at this place stands for.
fn bytes_at(text: &str) -> f64 {
    let mut words = text.split_whitespace();
    let number: f64 = words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    let unit = words.next().unwrap_or_default().trim_end_matches([';', '.', ',']);
    number * 1024f64.powi(["B", "KiB", "MiB", "GiB"].iter().position(|u| *u == unit).unwrap_or(9) as i32)
}

#[test]
fn the_memory_that_a_message_names_adds_up_and_is_enough() {
    let whiten = |limit: u64| Whitening::new(WhiteningMethod::Zca).with(|p| p.memory_limit(limit));
    let wide: AnySamples = noise(300, 200, 7).into();
    let refused = |limit: u64| whiten(limit).prepare(&wide).map(|_| ()).unwrap_err().to_string();
    let rows = noise(3000, 40, 7);
    let chunked =
        |limit: u64| whiten(limit).prepare(&mut RowsInMemory::new(&rows)).map(|job| job.plan().clone());
    let messages = [
        (1_000_000, refused(1_000_000)),
        (3000, refused(3000)),
        (10_000, chunked(10_000).unwrap_err().to_string()),
        (50_000, chunked(50_000).unwrap_err().to_string()),
    ];
    for (limit, message) in messages {
        let after = |word: &str| bytes_at(message.split_once(word).unwrap_or_else(|| panic!("{message}")).1);
        let (needed, allowed, more) = (after(" needs "), after("; "), after("Allow "));
        // Each number is rounded to a tenth of its unit, the last one up.
        let unit = |bytes: f64| if bytes < 1024.0 * 1024.0 { 1024.0 } else { 1024.0 * 1024.0 };
        let rounding = 0.05 * (unit(needed) + unit(allowed) + 2.0 * unit(more));
        assert!((allowed + more - needed).abs() <= rounding, "{limit}: {message}");
        let enough = limit + more.ceil() as u64;
        match message.contains("3000 ×") {
            true => drop(chunked(enough).unwrap_or_else(|e| panic!("{message}\n{e}"))),
            false => drop(whiten(enough).prepare(&wide).unwrap_or_else(|e| panic!("{message}\n{e}"))),
        }
    }
}

#[test]
fn a_stream_obeys_its_memory_limit() {
    let error = Pca::new(2).memory_limit(1000).stream(500).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}

#[test]
fn components_that_do_not_exist_are_left_out_with_a_warning() {
    let x = correlated(40, 3, 6);
    let low = Matrix::from_fn(40, 6, |i, j| x[(i, j % 3)] * (1 + j) as f64);
    for route in ROUTES {
        for (asked, rows, exist) in
            [(9, low.clone(), 3), (5, low.clone(), 3), (4, correlated(4, 9, 7), 3), (9, x.clone(), 3)]
        {
            let model = by(route, asked).fit(rows).unwrap();
            assert_eq!(model.n_components(), exist, "{route:?}");
            let word = if model.warnings()[0].contains("cannot tell") { "found" } else { "exist" };
            let said = format!("{asked} components were asked for and {exist} {word}");
            assert!(model.warnings()[0].starts_with(&said), "{:?}", model.warnings());
            assert!(model.is_whole(), "{route:?}");
            assert!(model.residual_error() <= 1e-13 * model.total_variance(), "{route:?}");
        }
        let model = by(route, 3).fit(low.clone()).unwrap();
        assert!(model.warnings().is_empty() && model.n_components() == 3, "{:?}", model.warnings());
    }
}

/// One column whose squares underflow is named, whatever the route; a column of zeros is constant and stays.
#[test]
fn a_column_too_small_to_standardize_is_named() {
    let x = correlated(60, 5, 9);
    for route in ROUTES {
        for size in [1e-145, 1e-160, 1e-250, 1e-300] {
            let tiny = Matrix::from_fn(60, 5, |i, j| if j == 2 { x[(i, j)] * size } else { x[(i, j)] });
            let error = by(route, 3).standardize().fit(tiny).unwrap_err().to_string();
            assert!(
                error.contains("column 3") && error.contains("Multiply the column"),
                "{route:?} {size:e}: {error}"
            );
        }
        let zeros = Matrix::from_fn(60, 5, |i, j| if j == 2 { 0.0 } else { x[(i, j)] });
        by(route, 3).standardize().fit(zeros).unwrap();
        // Column 3 is as sound as the others once it is in range.
        let small = Matrix::from_fn(60, 5, |i, j| if j == 2 { x[(i, j)] * 1e-130 } else { x[(i, j)] });
        let (a, b) = (
            by(route, 3).standardize().fit(small).unwrap(),
            by(route, 3).standardize().fit(x.clone()).unwrap(),
        );
        // As in the other tests of routes: the default tolerance of the iteration over its gap.
        for (p, q) in a.variances().iter().zip(b.variances()) {
            assert!((p / q - 1.0).abs() < 1e-6, "{route:?}");
        }
    }
}

/// Entries near the ends of the range of doubles: finite results that scale as they should, or a sentence.
#[test]
fn huge_and_tiny_entries_give_finite_results_or_a_sentence() {
    let x = correlated(60, 5, 8);
    for (size, route, standardized) in [1e300, 1e200, 1e150, 1e76, 1e70, 1e-70, 1e-150, 1e-200, 1e-300]
        .into_iter()
        .flat_map(|s| ROUTES.into_iter().flat_map(move |r| [(s, r, false), (s, r, true)]))
    {
        let what = format!("{size:e} {route:?} {standardized}");
        let scaled = Matrix::from_fn(60, 5, |i, j| x[(i, j)] * size);
        let pca = if standardized { by(route, 3).standardize() } else { by(route, 3) };
        match pca.fit(scaled.clone()) {
            Ok(model) => {
                let plain = if standardized { by(route, 3).standardize() } else { by(route, 3) }
                    .fit(x.clone())
                    .unwrap();
                let (a, b) = (model.components(), plain.components());
                assert!(largest(&a).is_finite(), "{what}");
                // The default tolerance of the iteration is 1e-6 of the first eigenvalue, over a gap of about a tenth of it.
                let apart =
                    a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-4, "{what}: {apart:e}");
                assert!(model.variances().iter().all(|v| v.is_finite() && *v > 0.0), "{what}");
                assert!(model.explained_variance_ratio().iter().all(|v| *v > 0.0 && *v <= 1.0), "{what}");
                assert!(largest(&model.transform(&scaled).unwrap()).is_finite(), "{what}");
                let loaded = FittedPca::from_bytes(&model.to_bytes().unwrap()).unwrap();
                assert_eq!(loaded.certificate(), model.certificate(), "{what}");
            }
            Err(error) => {
                let message = error.to_string();
                assert!(!message.contains("NaN") && message.contains(". "), "{what}: {message}");
            }
        }
        for method in [WhiteningMethod::Zca, WhiteningMethod::Cholesky] {
            if let Ok(model) = Whitening::new(method).with(|_| by(route, 1)).fit(scaled.clone()) {
                assert!(largest(&model.transform(&scaled).unwrap()).is_finite(), "{what}");
            }
        }
    }
}
