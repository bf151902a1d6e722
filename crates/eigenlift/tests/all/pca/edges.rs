//! The smallest and the oddest tables, other seeds, and stopping on request.

use super::help::{EPS, assert_close, correlated, largest};
use super::whitening::METHODS;
use eigenlift::data::{AnyPoints, Csr, RowsInMemory, Samples};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift::progress::{CancelToken, Watch};
use eigenlift_testkit::problems::sparse;

const ROUTES: [PcaRoute; 4] = [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Tsqr, PcaRoute::Krylov];

#[test]
fn one_column_has_one_component() {
    let x = Matrix::from_fn(5, 1, |i, _| [2.0, 4.0, 4.0, 4.0, 6.0][i]);
    for route in ROUTES {
        let model = Pca::new(3).route(route).fit(x.clone()).unwrap();
        assert_eq!(model.components().as_slice(), [1.0], "{route}");
        assert_close(&model.variances(), &[1.6], 8.0 * EPS, "(4 + 4)/5");
        assert_close(
            model.transform(&x).unwrap().as_slice(),
            &[-2.0, 0.0, 0.0, 0.0, 2.0],
            8.0 * EPS,
            "scores",
        );
        assert_close(&model.explained_variance_ratio(), &[1.0], 8.0 * EPS, "everything");
        let scaled = Pca::new(1).route(route).standardize().fit(x.clone()).unwrap();
        assert_close(&scaled.variances(), &[1.0], 8.0 * EPS, "standardised");
    }
    for method in METHODS {
        let model = Whitening::new(method).fit(x.clone()).unwrap();
        let expected: Vec<f64> = x.as_slice().iter().map(|v| (v - 4.0) / 1.6f64.sqrt()).collect();
        assert_close(model.transform(&x).unwrap().as_slice(), &expected, 16.0 * EPS, &method.to_string());
    }
}

#[test]
fn two_rows_have_the_direction_between_them() {
    let x = Matrix::from_vec(vec![1.0, 2.0, 3.0, 4.0, -2.0, 3.0], 2, 3).unwrap();
    for route in ROUTES {
        let model = Pca::new(3).route(route).fit(x.clone()).unwrap();
        assert_eq!((model.n_components(), model.warnings().len()), (1, 1), "{route}");
        // The rows are 5 apart along (3, −4, 0): each 2.5 from the mean.
        assert_close(
            model.components().as_slice(),
            &[-0.6, 0.8, 0.0],
            16.0 * EPS,
            "the largest entry is positive",
        );
        assert_close(&model.variances(), &[6.25], 64.0 * EPS, "variance");
        assert_close(&[model.residual_error()], &[0.0], 64.0 * EPS, "nothing is lost");
    }
}

#[test]
fn any_number_of_components_may_be_asked_for() {
    let x = correlated(30, 4, 81);
    for route in ROUTES {
        let model = Pca::new(usize::MAX).route(route).fit(x.clone()).unwrap();
        assert_eq!(model.n_components(), 4, "{route}");
        assert!(model.warnings()[0].contains("and 4 exist"));
        assert!(model.plan().to_string().contains("30 × 4"));
        model.to_bytes().unwrap();
    }
    assert_eq!(Whitening::new(WhiteningMethod::Zca).components(usize::MAX).fit(x).unwrap().rank(), 4);
}

#[test]
fn axes_are_orthonormal_and_their_largest_entry_is_positive() {
    for (n, d) in [(200, 12), (15, 200)] {
        let x = correlated(n, d, 82);
        for (route, standardized) in ROUTES.into_iter().flat_map(|r| [(r, false), (r, true)]) {
            let pca = Pca::new(6).route(route);
            let pca = if standardized { pca.standardize() } else { pca };
            let u = pca.fit(x.clone()).unwrap().components();
            let product = Matrix::from_fn(6, 6, |i, j| super::help::dot(u.row(i), u.row(j)));
            // The dual route divides by √(nλ): a row loses eps·σ₁/σⱼ of its right angles, less than 14 here.
            assert_close(
                product.as_slice(),
                super::help::identity(6).as_slice(),
                64.0 * 14.0 * EPS,
                &format!("{route} {n} × {d}"),
            );
            for j in 0..6 {
                let (least, most) = u.row(j).iter().fold((0f64, 0f64), |(a, b), v| (a.min(*v), b.max(*v)));
                assert!(most >= -least * (1.0 - 1e-8), "{route}: {most} {least}");
            }
        }
    }
}

#[test]
fn another_seed_gives_the_same_axes_up_to_the_tolerance() {
    let x = correlated(300, 60, 83);
    let by = |seed| Pca::new(3).route(PcaRoute::Krylov).tolerance(1e-12).seed(seed).fit(x.clone()).unwrap();
    let first = by(0);
    assert_eq!(first.components(), by(0).components());
    for seed in 1..5 {
        let other = by(seed);
        assert_ne!(other.components(), first.components(), "the seed is used");
        // Residuals of 1e-12 λ over relative gaps of a fifth.
        assert_close(other.components().as_slice(), first.components().as_slice(), 1e-10, "axes");
    }
}

#[test]
fn sparse_rows_in_single_precision_and_from_a_source() {
    let x = correlated(80, 10, 84);
    let some =
        Matrix::from_fn(80, 10, |i, j| if (i + 3 * j) % 4 == 0 { f64::from(x[(i, j)] as f32) } else { 0.0 });
    let wide = sparse(&some);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..80 {
        let (places, entries) = wide.view().row(i);
        columns.extend_from_slice(places);
        values.extend(entries.iter().map(|v| *v as f32));
        offsets.push(values.len());
    }
    let narrow = Csr::new(offsets, columns, values, 10).unwrap();
    for route in ROUTES {
        let pca = Pca::new(3).route(route).tolerance(1e-12);
        let dense = pca.fit(some.clone()).unwrap();
        let slack = 80.0 * EPS * dense.total_variance();
        let single = pca.fit(Samples::from(narrow.clone())).unwrap();
        assert_eq!(single.plan().precision, "f32");
        assert_close(&single.variances(), &dense.variances(), slack, &route.to_string());
        if route != PcaRoute::Dual {
            let points = AnyPoints::F64(wide.view().into());
            let model = pca.fit(&mut RowsInMemory::new(points)).unwrap();
            assert_close(&model.variances(), &dense.variances(), slack, &format!("{route}, source"));
        }
    }
}

#[test]
fn a_fit_stops_when_it_is_told_to() {
    let x = correlated(3000, 30, 85);
    let token = CancelToken::default();
    token.cancel();
    let watch = Watch::default().cancelled_by(token);
    for route in ROUTES {
        let pca = Pca::new(3).route(route).watch(watch.clone());
        assert!(matches!(pca.fit(x.clone()), Err(Error::Cancelled)), "{route}");
        if route != PcaRoute::Dual {
            assert!(matches!(pca.fit(&mut RowsInMemory::new(&x)), Err(Error::Cancelled)), "{route}");
        }
    }
    let model = Pca::new(3).fit(x.clone()).unwrap();
    assert!(matches!(model.transform_watched(&x, &watch), Err(Error::Cancelled)));
    let white = Whitening::new(WhiteningMethod::Zca).with(|p| p.watch(watch.clone()));
    assert!(matches!(white.fit(x), Err(Error::Cancelled)));
}

/// Rows far from the origin: the spread is known up to what the mean rounds, and nothing more is claimed.
#[test]
fn a_mean_far_larger_than_the_spread_costs_its_rounding_only() {
    let x = correlated(400, 5, 86);
    let near = Pca::new(5).fit(x.clone()).unwrap();
    for offset in [1e3, 1e6, 1e9] {
        let far = Matrix::from_fn(400, 5, |i, j| x[(i, j)] + offset);
        // What the shift itself does to the entries is not the method's doing.
        let back = Matrix::from_fn(400, 5, |i, j| far[(i, j)] - offset);
        let plain = Pca::new(5).fit(back).unwrap();
        for route in ROUTES {
            let model = Pca::new(5).route(route).tolerance(1e-12).fit(far.clone()).unwrap();
            let slack = 400.0 * EPS * near.total_variance()
                + 2.0 * (near.total_variance().sqrt() + EPS * offset) * 8.0 * EPS * offset;
            assert_close(&model.variances(), &plain.variances(), slack, &format!("{route} {offset:e}"));
        }
        assert!(largest(&plain.components()) <= 1.0);
    }
}
