use super::super::tests::{classes, settings, table};
use super::*;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;

/// K for a column, written out.
fn gram(kernel: &str, column: &[f64]) -> Matrix<f64> {
    let rows = points(column).unwrap();
    let kernel = Kernel::for_points(&spec(kernel), rows.into(), 1).unwrap();
    kernel.matrix(rows, rows)
}

fn equal(goal: &Goal) -> Matrix<f64> {
    let Goal::Classes { of_rows, .. } = goal else { panic!("classes") };
    Matrix::from_fn(of_rows.len(), of_rows.len(), |i, j| f64::from(u8::from(of_rows[i] == of_rows[j])))
}

/// tr(KHLH) from matrices written out.
fn plain(k: &Matrix<f64>, l: &Matrix<f64>) -> f64 {
    let n = k.n_rows();
    let mean = |i: usize| k.row(i).iter().sum::<f64>() / n as f64;
    let means: Vec<f64> = (0..n).map(mean).collect();
    let all = means.iter().sum::<f64>() / n as f64;
    let centred = |i: usize, j: usize| k[(i, j)] - means[i] - means[j] + all;
    (0..n).map(|i| (0..n).map(|j| centred(i, j) * l[(i, j)]).sum::<f64>()).sum()
}

fn normalised(k: &Matrix<f64>, l: &Matrix<f64>) -> f64 {
    plain(k, l) / (plain(k, k) * plain(l, l)).sqrt()
}

fn spec(kernel: &str) -> KernelSpec {
    kernel.parse().unwrap()
}

fn normal(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Stream::new(seed, Purpose::Synthetic);
    (0..n).map(|_| random.gaussian()).collect()
}

fn similarity<'a>(kernel: &str, column: &'a [f64], share: f64) -> Similarity<'a> {
    let name = || "a column".to_string();
    Similarity::of_numbers(&spec(kernel), (&name, column), (share, 1), &Watch::default()).unwrap().unwrap()
}

fn scored(kernel: &str, x: &[Vec<f64>], goal: &Goal, permutations: usize) -> Result<Vec<FeatureScore>> {
    let settings = FilterSettings { kernel: spec(kernel), permutations, ..settings() };
    scores((&table(x), goal), &settings, &Watch::default())
}

/// Rounding of n² products of entries of size at most 1, centred by four additions.
fn rounding(n: usize) -> f64 {
    8.0 * f64::EPSILON * (n * n) as f64
}

/// tr(HKH), and what of it HG leaves out.
fn traces(k: &Matrix<f64>, side: &Similarity<'_>) -> (f64, f64) {
    let n = k.n_rows();
    let whole = plain(k, &Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j))));
    (whole, whole - side.features().unwrap().as_slice().iter().map(|g| g * g).sum::<f64>())
}

#[test]
fn factors_agree_with_the_plain_formula_within_their_bound() {
    let x = normal(300, 1);
    let y: Vec<f64> = x.iter().zip(normal(300, 2)).map(|(x, e)| x * x + 0.3 * e).collect();
    let goal = classes(y.iter().map(|y| usize::from(*y > 0.5) + usize::from(*y > 1.5)));
    let Goal::Classes { of_rows, n_classes } = &goal else { panic!("classes") };
    let (k, l, equal) = (gram("rbf", &x), gram("rbf", &y), equal(&goal));
    for share in [1e-10, 1e-4, 1e-1] {
        let (own, numbers) = (similarity("rbf", &x, share), similarity("rbf", &y, share));
        let by_class = Similarity::of_classes(of_rows, *n_classes).unwrap();
        let ((whole, tau), (_, numbers_tau)) = (traces(&k, &own), traces(&l, &numbers));
        assert!(tau <= share * whole + rounding(300) / 300.0, "{share}: {tau:e}");
        for (other, matrix, other_tau) in [(&numbers, &l, numbers_tau), (&by_class, &equal, 0.0)] {
            let found = own.overlap(other, None, &Watch::default()).unwrap();
            let missing = plain(&k, matrix) - found;
            let bound = tau * (other.norm + other_tau) + other_tau * own.norm;
            assert!(missing >= -rounding(300), "{share}: {missing:e}");
            assert!(missing <= bound + rounding(300), "{share}: {missing:e} {bound:e}");
            // What is left out can be told from rounding, so that the bound is put to the test.
            assert!(missing > 10.0 * rounding(300), "{share}: {missing:e}");
        }
    }
}

#[test]
fn a_gaussian_on_one_column_takes_some_tens_of_columns() {
    let (x, far) = (normal(3000, 3), normal(3000, 3).iter().map(|x| x * 1e3 + 1e7).collect::<Vec<f64>>());
    let rank = |x: &[f64]| similarity("rbf", x, SHARE).features().unwrap().n_cols();
    assert!((8..60).contains(&rank(&x)), "{}", rank(&x));
    assert!(rank(&far).abs_diff(rank(&x)) <= 2);
    let few: Vec<f64> = (0..3000).map(|i| (i % 4) as f64).collect();
    assert_eq!(rank(&few), 4);
}

// Leaving out a share of 10⁻¹⁰ of tr(HKH) on either side moves the normalised value by less than 4·10⁻¹⁰·tr(HKH)/‖HKH‖, and
// that ratio is below 10 for a Gaussian on one column.
#[test]
fn normalised_values_are_those_of_matrices_written_out() {
    let x = normal(200, 4);
    let y: Vec<f64> = x.iter().zip(normal(200, 5)).map(|(x, e)| (3.0 * x).sin() + 0.5 * e).collect();
    let goal = classes(y.iter().map(|y| usize::from(*y > 0.0)));
    let noise = normal(200, 6);
    let columns = [x.clone(), noise.clone(), vec![2.5; 200]];
    for kernel in
        ["rbf", "laplacian", "polynomial(degree=2, gamma=0.5)", "matern(nu=2.5)", "sigmoid(gamma=0.5)"]
    {
        let (k, l) = ([gram(kernel, &x), gram(kernel, &noise)], gram(kernel, &y));
        for (goal, l) in [(goal.clone(), equal(&goal)), (Goal::Numbers(y.clone()), l)] {
            let found = scored(kernel, &columns, &goal, 0).unwrap();
            for (score, k) in found.iter().zip(&k) {
                let expected = normalised(k, &l);
                assert!((score.value - expected).abs() < 4e-9, "{kernel}: {} {expected}", score.value);
                assert!(score.p_value.is_none());
            }
            let local = ["rbf", "laplacian", "matern(nu=2.5)"].contains(&kernel);
            assert!(!local || found[0].value > 2.0 * found[1].value, "{kernel}");
            assert_eq!(found[2], FeatureScore::default());
        }
    }
    assert!(similarity("laplacian", &x, SHARE).features().is_none());
    assert!(similarity("matern(nu=2.5)", &x, SHARE).features().is_none());
    assert_eq!(similarity("polynomial(degree=2, gamma=0.5)", &x, SHARE).features().unwrap().n_cols(), 3);
}

// The linear kernel gives (Σ(x − x̄)(y − ȳ))², whose rounding is that of n products at an offset of 100 deviations.
#[test]
fn the_linear_kernel_gives_the_squared_covariance() {
    let x: Vec<f64> = normal(100, 7).iter().map(|x| x + 100.0).collect();
    let y: Vec<f64> = x.iter().zip(normal(100, 8)).map(|(x, e)| 3.0 - 0.4 * x + e).collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / 100.0;
    let product = |a: &[f64], b: &[f64]| {
        let (mean_a, mean_b) = (mean(a), mean(b));
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
    };
    let found = similarity("linear", &x, SHARE);
    let squared = found.overlap(&similarity("linear", &y, SHARE), None, &Watch::default()).unwrap();
    let expected = product(&x, &y).powi(2);
    assert!((squared - expected).abs() < 1e-11 * expected, "{squared} {expected}");
    let r = product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt();
    let score = scored("linear", &[x], &Goal::Numbers(y), 0).unwrap()[0].value;
    assert!((score - r * r).abs() < 1e-11, "{score} {r}");
}

/// Uncorrelated to rounding: a parabola over places that lie evenly around 0, and a circle.
#[test]
fn what_correlation_does_not_see_is_found() {
    let n = 121;
    let place = |i: usize| i as f64 / 60.0 - 1.0;
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / n as f64;
    let column = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    let parabola = (column(&place), column(&|i| place(i).powi(2)));
    let circle = (column(&|i| turn(i).cos()), column(&|i| turn(i).sin()));
    for (x, y) in [parabola, circle] {
        let (columns, goal) = ([normal(n, 9), x], Goal::Numbers(y));
        let f = super::super::variance::scores(&table(&columns), &goal, &Watch::default()).unwrap();
        assert!(f[1].value < 1e-20);
        let found = scored("rbf", &columns, &goal, 199).unwrap();
        assert_eq!((found[1].p_value, found[1].family_p_value), (Some(0.005), Some(0.005)));
        assert!(found[0].p_value > Some(0.05) && found[0].family_p_value >= found[0].p_value);
        assert!(found[1].value > 5.0 * found[0].value);
    }
}

#[test]
fn p_values_count_permutations_of_the_labels() {
    let (n, count) = (40, 39);
    let x = [normal(n, 10), normal(n, 11), vec![1.0; n], (0..n).map(|i| (i % 2) as f64).collect()];
    let y: Vec<f64> = x[0].iter().zip(normal(n, 12)).map(|(x, e)| x + 1.5 * e).collect();
    let by_class = classes(y.iter().map(|y| usize::from(*y > 0.3)));
    for kernel in ["rbf", "laplacian"] {
        for (goal, l) in [(by_class.clone(), equal(&by_class)), (Goal::Numbers(y.clone()), gram(kernel, &y))]
        {
            let null: Vec<Vec<f64>> = (0..count)
                .map(|b| {
                    let mut order: Vec<usize> = (0..n).collect();
                    Stream::numbered(1, Purpose::SelectionPermutations, b).shuffle(&mut order);
                    let l = Matrix::from_fn(n, n, |i, j| l[(order[i], order[j])]);
                    let one = |j: usize| if j == 2 { 0.0 } else { normalised(&gram(kernel, &x[j]), &l) };
                    (0..4).map(one).collect()
                })
                .collect();
            let largest = |null: &Vec<f64>| null.iter().copied().fold(0.0, f64::max);
            for (j, score) in scored(kernel, &x, &goal, count as usize).unwrap().iter().enumerate() {
                let above = |value: f64| value >= score.value - 1e-9;
                let own = null.iter().filter(|null| above(null[j])).count();
                let all = null.iter().filter(|null| above(largest(null))).count();
                assert_eq!(score.p_value, Some((1 + own) as f64 / 40.0), "{kernel} {j}");
                assert_eq!(score.family_p_value, Some((1 + all) as f64 / 40.0), "{kernel} {j}");
            }
        }
    }
}

#[test]
fn columns_without_a_dependence_to_speak_of_have_none() {
    let goal = classes((0..60).map(|i| i % 2));
    let positive: Vec<f64> = (0..60).map(|i| 1.0 + (i % 7) as f64 / 3.0).collect();
    for kernel in ["cosine", "rbf(gamma=1e-30)", "expr(3*x1*y1/(x1*y1))"] {
        assert_eq!(
            scored(kernel, std::slice::from_ref(&positive), &goal, 0).unwrap()[0].value,
            0.0,
            "{kernel}"
        );
    }
    let one_class = Goal::Classes { of_rows: vec![0; 60], n_classes: 2 };
    assert_eq!(scored("rbf", &[positive], &one_class, 3).unwrap()[0].p_value, Some(1.0));
    let labels: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i == 7))).collect();
    let rare = scored("rbf", std::slice::from_ref(&labels), &Goal::Numbers(labels.clone()), 0).unwrap();
    assert!((rare[0].value - 1.0).abs() < 1e-12);
}

#[test]
fn kernels_that_a_column_cannot_have_are_refused() {
    let goal = Goal::Numbers(normal(30, 13));
    let x = [vec![4.0; 30], (0..30).map(|i| 5.0 - i as f64).collect::<Vec<f64>>()];
    let positive: [Vec<f64>; 1] = [(0..30).map(f64::from).collect()];
    let said =
        |kernel: &str, x: &[Vec<f64>], goal: &Goal| scored(kernel, x, goal, 0).unwrap_err().to_string();
    let negative = said("chi2", &x, &classes((0..30).map(|i| i % 2)));
    assert!(negative.starts_with("row 7 of column 2 is -1; the kernel chi2"), "{negative}");
    let labels = said("chi2", &positive, &goal);
    assert!(labels.contains(" of the labels is -"), "{labels}");
    let none = said("precomputed", &x, &goal);
    assert!(none.starts_with("the kernel precomputed has no formula"), "{none}");
    let large =
        said("polynomial(degree=200, gamma=1)", &[positive[0].iter().map(|x| x * 1e6).collect()], &goal);
    assert!(large.contains("not finite"), "{large}");
    let undefined = said("map(log(x1))", &x, &classes((0..30).map(|i| i % 2)));
    assert!(undefined.contains(" of column 2 has values that are not finite"), "{undefined}");
    let uneven = said("expr(x1 + 2*y1)", &positive, &goal);
    assert!(uneven.contains("k(y,x)"), "{uneven}");
}
