//! Components much fainter than the first: what squaring loses and what a triangle keeps, (P11).

use super::help::{EPS, dot, orthonormal_rows, planted, some};
use eigenlift::data::RowsInMemory;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca, PcaRoute};

fn singular_values(model: &FittedPca) -> Vec<f64> {
    model.eigenvalues().iter().map(|v| v.sqrt()).collect()
}

/// What the rows themselves round: each entry by eps/2 of its size, and twice that for QR and SVD, which move rows by a small
/// multiple of eps·σ₁ (Weyl: singular values by no more).
fn allowed(n: usize, d: usize, offset: f64) -> f64 {
    let of_offset = offset * ((n * d) as f64).sqrt();
    4.0 * EPS * ((d as f64).sqrt() + of_offset)
}

fn assert_found(model: &FittedPca, singular: &[f64], allowed: f64, what: &str) {
    let found = singular_values(model);
    assert_eq!(found.len(), singular.len(), "{what}: {found:?}");
    for (a, b) in found.iter().zip(singular) {
        assert!((a - b).abs() <= allowed, "{what}: {a:e} for {b:e}, allowed {allowed:e}");
    }
}

const SINGULAR: [&[f64]; 2] =
    [&[1.0, 1e-3, 1e-6, 1e-9, 1e-11], &[1.0, 0.3, 1e-2, 1e-3, 1e-6, 1e-8, 1e-9, 1e-11]];

#[test]
fn a_triangle_finds_singular_values_down_to_1e_minus_11() {
    for singular in SINGULAR {
        let (n, d) = (400, singular.len());
        for offset in [0.0, 10.0] {
            let x = planted(n, d, singular, offset);
            let what = format!("{d} columns, offset {offset}");
            let slack = allowed(n, d, offset);
            assert!(slack < 0.2 * 1e-11, "the test must tell 1e-11 from nothing: {slack:e}");
            let pca = Pca::new(d);
            assert_found(&pca.clone().route(PcaRoute::Tsqr).fit(x.clone()).unwrap(), singular, slack, &what);
            let automatic = pca.fit(x.clone()).unwrap();
            assert_eq!(automatic.plan().route, PcaRoute::Tsqr);
            assert_found(&automatic, singular, slack, &what);
            assert!(automatic.warnings().is_empty());
            let mut stream = Pca::new(d).route(PcaRoute::Tsqr).stream(d).unwrap();
            for from in (0..n).step_by(90) {
                stream.partial_fit(some(&x, from..(from + 90).min(n))).unwrap();
            }
            // Five triangles are merged: as many roundings more.
            assert_found(&stream.finish().unwrap(), singular, 6.0 * slack, &what);
            for interval in &automatic.certificate().intervals {
                assert!(interval.low <= interval.high);
            }
            for (interval, s) in automatic.certificate().intervals.iter().zip(singular) {
                let (low, high) = (interval.low.sqrt() - slack, interval.high.sqrt() + slack);
                assert!(low <= *s && *s <= high, "{what}: {interval:?} {s:e}");
            }
        }
    }
}

#[test]
fn squares_lose_them_and_say_so() {
    for singular in SINGULAR {
        let d = singular.len();
        let x = planted(400, d, singular, 0.0);
        let model = Pca::new(d).route(PcaRoute::Covariance).fit(x).unwrap();
        assert_eq!(model.plan().route, PcaRoute::Covariance, "a route that was asked for stays");
        // √(4u·(√d + tr)) is about 4e-8 of the first.
        let kept = singular.iter().filter(|s| **s > 1e-7).count();
        assert_eq!(model.n_components(), kept);
        let text =
            format!("{d} components were asked for and {kept} found: the covariance route cannot tell");
        assert!(model.warnings()[0].starts_with(&text), "{:?}", model.warnings());
        // What is kept has the error of (P11): (u/2)√d(σ₁/σ)², with a factor of 16 for sums of 400 rows.
        for (a, b) in singular_values(&model).iter().zip(singular) {
            let relative = 16.0 * EPS * (d as f64).sqrt() / (b * b);
            assert!((a / b - 1.0).abs() <= relative.min(1.0), "{a:e} for {b:e}");
        }
    }
}

/// 30 singular values, each 0.4 of the one before: the last is 3e-12.
fn falling() -> Vec<f64> {
    (0..30).map(|j| 0.4f64.powi(j)).collect()
}

fn assert_upgraded(model: &FittedPca, from: &str) {
    assert_eq!(model.plan().route, PcaRoute::Tsqr);
    assert_eq!(model.plan().planned_route.map(|route| route.to_string()).as_deref(), Some(from));
    let said = format!("the {from} route could not tell them from rounding: TSQR took over");
    assert!(model.plan().reasons.iter().any(|r| r.contains(&said)), "{}", model.plan());
}

#[test]
fn the_automatic_route_looks_again_where_components_are_faint() {
    let (n, d, singular) = (20_000, 30, falling());
    let x: Matrix<f64> = planted(n, d, &singular, 0.0);
    assert_eq!(
        Pca::new(d).prepare(x.clone()).map(|job| job.plan().clone()).unwrap().route,
        PcaRoute::Covariance
    );
    let model = Pca::new(d).fit(x.clone()).unwrap();
    assert_upgraded(&model, "covariance");
    // Twenty triangles of 1024 rows are merged.
    let slack = 21.0 * allowed(n, d, 0.0);
    assert_found(&model, &singular, slack, "in memory");

    let mut source = RowsInMemory::new(&x);
    assert_eq!(
        Pca::new(d).prepare(&mut source).map(|job| job.plan().clone()).unwrap().route,
        PcaRoute::Covariance
    );
    let model = Pca::new(d).fit(&mut source).unwrap();
    assert_upgraded(&model, "covariance");
    assert_found(&model, &singular, slack, "from a source");

    // Components that squares can tell are left to them.
    let model = Pca::new(5).fit(x).unwrap();
    assert_eq!(model.plan().route, PcaRoute::Covariance);
    assert!(model.plan().second_look_bytes.is_some());
}

#[test]
fn the_dual_route_looks_again_too() {
    let singular = [1.0, 1e-3, 1e-6, 1e-9, 1e-11];
    let (n, d) = (100, 2000);
    let x = planted(n, d, &singular, 0.0);
    assert_eq!(Pca::new(5).prepare(x.clone()).map(|job| job.plan().clone()).unwrap().route, PcaRoute::Dual);
    let model = Pca::new(5).fit(x).unwrap();
    assert_upgraded(&model, "dual");
    assert_found(&model, &singular, allowed(n, d, 0.0), "wide");
}

/// u = X_cᵀv/√(nλ) of the dual route: a v that is right to eps gives a u that is right to eps·σ₁/σ.
#[test]
fn axes_of_the_dual_route_are_as_good_as_their_eigenvalues_allow() {
    let singular = [1.0, 1e-1, 1e-2, 1e-3, 1e-4];
    let (n, d) = (50, 300);
    let x = planted(n, d, &singular, 0.0);
    let model = Pca::new(5).route(PcaRoute::Dual).fit(x).unwrap();
    let (u, planted) = (model.components(), orthonormal_rows(5, d, 4, false));
    for (j, s) in singular.iter().enumerate() {
        // Rows are rounded by eps/2 each, √n of them, and the matrix of their products by n·eps.
        let slack = n as f64 * EPS / s;
        for i in 0..j {
            assert!(dot(u.row(i), u.row(j)).abs() <= slack, "{i} {j}: {:e}", dot(u.row(i), u.row(j)));
        }
        let along = dot(u.row(j), planted.row(j)).abs();
        // 1 − cos of an angle of the rounding of X_cX_cᵀ over the smaller gap, which is about σ².
        let angle = n as f64 * EPS / (s * s);
        assert!(1.0 - along <= angle * angle + n as f64 * EPS, "{j}: {:e}", 1.0 - along);
    }
}

/// Eight strong directions and noise 1e-7 of them: the iteration stops where residuals are rounding, and says so.
#[test]
fn passes_stop_at_rounding_with_a_warning() {
    let singular: Vec<f64> = (0..8).map(|j| 100.0 - j as f64).chain((0..30).map(|_| 1e-5)).collect();
    let x = planted(400, 500, &singular, 0.0);
    let model = Pca::new(10).route(PcaRoute::Krylov).fit(x.clone()).unwrap();
    assert!(model.n_components() >= 8 && !model.warnings().is_empty(), "{:?}", model.warnings());
    let exact = Pca::new(8).route(PcaRoute::Tsqr).fit(x.clone()).unwrap();
    for (a, b) in model.eigenvalues().iter().zip(exact.eigenvalues()) {
        assert!((a - b).abs() <= 1e-11 * exact.eigenvalues()[0], "{a} {b}");
    }
    // Left to the plan, the triangle finds all of them.
    let all = Pca::new(10).fit(x).unwrap();
    assert_eq!((all.n_components(), all.plan().route), (10, PcaRoute::Tsqr));
}
