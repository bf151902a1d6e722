//! Largest variance and least error are one subspace, (P6), (P7), and the accounts of it agree.

use super::help::{
    EPS, assert_close, centred, correlated, dot, ones, orthonormal_rows, second_moment, trace,
};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, Pca};

const N: usize = 120;
const D: usize = 8;

/// What rows keep in a subspace and what they lose, from the rows themselves: tr QᵀCQ and the mean of ‖z − QQᵀz‖².
fn kept_and_lost(z: &Matrix<f64>, weights: &[f64], axes: &[Vec<f64>]) -> (f64, f64) {
    let n: f64 = weights.iter().sum();
    let (mut kept, mut lost) = (0.0, 0.0);
    for (i, w) in weights.iter().enumerate() {
        let mut rest = z.row(i).to_vec();
        for axis in axes {
            let along = dot(z.row(i), axis);
            kept += w * along * along / n;
            rest.iter_mut().zip(axis).for_each(|(x, a)| *x -= along * a);
        }
        lost += w * dot(&rest, &rest) / n;
    }
    (kept, lost)
}

/// Weights, and whether columns are standardised.
fn settings() -> [(Vec<f64>, bool); 4] {
    let uneven: Vec<f64> = (0..N).map(|i| (i % 5) as f64 * 0.4).collect();
    [(ones(N), false), (ones(N), true), (uneven.clone(), false), (uneven, true)]
}

fn fit(x: &Matrix<f64>, weights: &[f64], standardized: bool, k: usize) -> FittedPca {
    let pca = if standardized { Pca::new(k).standardize() } else { Pca::new(k) };
    pca.fit((x, Some(weights))).unwrap()
}

fn axes_of(model: &FittedPca) -> Vec<Vec<f64>> {
    let u = model.components();
    (0..u.n_rows()).map(|j| u.row(j).to_vec()).collect()
}

/// Sums of n·d products: n·d·eps of the total variance, which also bounds what 1e-16 in an axis does.
fn allowed(z: &Matrix<f64>, weights: &[f64]) -> f64 {
    (N * D) as f64 * EPS * trace(&second_moment(z, weights))
}

#[test]
fn no_random_subspace_has_more_variance_or_less_error() {
    let x = correlated(N, D, 1);
    for (weights, standardized) in settings() {
        let z = centred(&x, &weights, standardized);
        let slack = allowed(&z, &weights);
        for m in [1, 2, 4, 7] {
            let model = fit(&x, &weights, standardized, m);
            let (kept, lost) = kept_and_lost(&z, &weights, &axes_of(&model));
            assert_close(&[kept], &[model.variances().iter().sum()], slack, "variance");
            assert_close(&[lost], &[model.residual_error()], slack, "error");
            for seed in 0..200 {
                let q = orthonormal_rows(m, D, 1000 + seed, false);
                let other: Vec<Vec<f64>> = (0..m).map(|j| q.row(j).to_vec()).collect();
                let (variance, error) = kept_and_lost(&z, &weights, &other);
                assert!(variance <= kept + slack && error >= lost - slack, "{m} {seed}: {variance} {kept}");
            }
        }
    }
}

/// Turning uⱼ towards a discarded u_l by an angle loses sin²(angle)·(λⱼ − λ_l), no more and no less.
#[test]
fn every_turn_towards_a_discarded_axis_loses_what_the_eigenvalues_say() {
    let x = correlated(N, D, 2);
    for (weights, standardized) in settings() {
        let z = centred(&x, &weights, standardized);
        let all = fit(&x, &weights, standardized, D);
        let (axes, values, slack) = (axes_of(&all), all.variances(), allowed(&z, &weights));
        for m in [1, 3, 6] {
            let (kept, lost) = kept_and_lost(&z, &weights, &axes[..m]);
            for (j, l) in (0..m).flat_map(|j| (m..D).map(move |l| (j, l))) {
                for angle in [1e-3, 1e-2, 0.1, 0.7, 1.2, std::f64::consts::FRAC_PI_2] {
                    let mut turned = axes[..m].to_vec();
                    let (sin, cos) = f64::sin_cos(angle);
                    turned[j] = axes[j].iter().zip(&axes[l]).map(|(a, b)| cos * a + sin * b).collect();
                    let (variance, error) = kept_and_lost(&z, &weights, &turned);
                    assert!(variance < kept && error > lost, "{j} to {l} by {angle}");
                    let cost = sin * sin * (values[j] - values[l]);
                    assert_close(&[kept - variance, error - lost], &[cost, cost], slack, "cost of a turn");
                }
            }
        }
    }
}

#[test]
fn what_is_lost_is_the_sum_of_the_eigenvalues_left_out() {
    let x = correlated(N, D, 3);
    for (weights, standardized) in settings() {
        let z = centred(&x, &weights, standardized);
        let slack = allowed(&z, &weights);
        let total: f64 = weights.iter().sum();
        let all = fit(&x, &weights, standardized, D).variances();
        for m in 1..=D {
            let model = fit(&x, &weights, standardized, m);
            let tails: Vec<f64> = (0..=m).map(|l| all[l..].iter().sum()).collect();
            assert_close(&model.residual_errors(), &tails, slack, "J(0) to J(m)");
            let lost = model.reconstruction(&x).unwrap();
            let mean = dot(&lost.per_row, &weights) / total;
            assert_close(&[mean], &[tails[m]], slack, "weighted mean of the errors of rows");
            let scores = model.transform(&x).unwrap();
            for i in 0..N {
                // (P27): Pythagoras, row by row.
                let rest = dot(z.row(i), z.row(i)) - dot(scores.row(i), scores.row(i));
                assert_close(
                    &[lost.per_row[i]],
                    &[rest],
                    (N * D) as f64 * EPS * dot(z.row(i), z.row(i)).max(1.0),
                    "SPE",
                );
            }
            let moments = second_moment(&scores, &weights);
            let diagonal = Matrix::from_fn(m, m, |i, j| if i == j { all[i] } else { 0.0 });
            assert_close(moments.as_slice(), diagonal.as_slice(), slack, "scores are uncorrelated, (P4)");
            let t_squared = model.t_squared(&scores).unwrap();
            // y²/λ of the faintest component has the error of C over λ.
            let relative = slack / all[m - 1] * m as f64;
            assert_close(&[dot(&t_squared, &weights) / total], &[m as f64], relative, "mean of T², (P27)");
        }
    }
}

#[test]
fn unweighted_rows_have_the_mean_error_as_total() {
    let x = correlated(N, D, 4);
    let model = Pca::new(3).fit(x.clone()).unwrap();
    let lost = model.reconstruction(&x).unwrap();
    let slack = (N * D) as f64 * EPS * model.total_variance();
    assert_close(&[lost.total], &[model.residual_error()], slack, "J(3)");
    let scores = model.transform(&x).unwrap();
    let back = model.inverse_transform(&scores).unwrap();
    let direct: f64 = (0..N)
        .map(|i| x.row(i).iter().zip(back.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>())
        .sum::<f64>()
        / N as f64;
    assert_close(&[direct], &[lost.total], slack, "by way of the rows that come back");
}

#[test]
fn all_components_bring_every_row_back() {
    let x = correlated(40, 6, 5);
    for pca in [Pca::new(6), Pca::new(6).standardize()] {
        let model = pca.fit(x.clone()).unwrap();
        let back = model.inverse_transform(&model.transform(&x).unwrap()).unwrap();
        // A product with U and one with its transpose: 2d roundings of entries up to 10.
        assert_close(back.as_slice(), x.as_slice(), 64.0 * 6.0 * EPS * 10.0, "m = d, (P5)");
        assert!(model.residual_error() <= 6.0 * EPS * model.total_variance());
    }
}

#[test]
fn loadings_add_up_to_variances_and_contributions_to_one() {
    let x = correlated(N, D, 6);
    for standardized in [false, true] {
        let z = centred(&x, &ones(N), standardized);
        let (c, slack) = (second_moment(&z, &ones(N)), allowed(&z, &ones(N)));
        let model = fit(&x, &ones(N), standardized, D);
        let both = model.loadings();
        for i in 0..D {
            assert_close(&[dot(both.loadings.row(i), both.loadings.row(i))], &[c[(i, i)]], slack, "(P14)");
            assert_close(&[both.contributions.column(i).iter().sum()], &[1.0], slack, "contributions");
        }
        // The covariance of a column with a component is λu.
        let scores = model.transform(&x).unwrap();
        for (i, j) in [(0, 0), (3, 1), (7, 2)] {
            let together = dot(&z.column(i), &scores.column(j)) / N as f64;
            let root = model.variances()[j].sqrt();
            assert_close(&[together], &[both.loadings[(i, j)] * root], slack, "covariance with a component");
        }
    }
}
