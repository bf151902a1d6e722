//! What holds for every fit.

use super::{mean_correlation, related, samples};
use eigenlift::data::AnyPoints;
use eigenlift::factor::Regularization::{Auto, Value};
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::Fitted;
use eigenlift::methods::kernel_cca::{FittedKernelCca, KernelCca};
use eigenlift::model::Planned;
use eigenlift::progress::Watch;
use eigenlift_testkit::problems::noise;
use eigenlift_testkit::reference::{difference, gram};

fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

/// Everything that a fit says, for comparison bit by bit.
fn account(model: &FittedKernelCca) -> (Vec<Vec<f64>>, Vec<Matrix<f64>>) {
    let numbers = vec![
        model.correlations().to_vec(),
        model.training_correlations().to_vec(),
        model.held_out_correlations().to_vec(),
        model.held_out_errors().to_vec(),
        model.regularization().to_vec(),
        model.curve().map_or(Vec::new(), |curve| curve.scores.clone()),
        model.significance().map_or(Vec::new(), |found| found.p_values.clone()),
    ];
    (numbers, model.projections().iter().map(|projection| projection.coefficients.clone()).collect())
}

#[test]
fn any_number_of_threads_and_a_file_give_the_same_bits() {
    let views = related(120, &[3, 4, 2], 5);
    let fit = |threads: usize| {
        KernelCca::new(2)
            .kernel(spec("rbf(gamma=0.2)"))
            .permutations(7)
            .with(|f| f.low_rank(LowRank::pivoted(Rank::Exactly(30))).threads(threads).seed(3))
            .fit(&samples(&views))
            .unwrap()
    };
    let (one, two) = (fit(1), fit(2));
    assert_eq!(account(&one), account(&two));
    let loaded = FittedKernelCca::from_bytes(&one.to_bytes().unwrap()).unwrap();
    assert_eq!(account(&one), account(&loaded));
    for (view, x) in views.iter().enumerate() {
        assert_eq!(one.transform(view, x).unwrap(), loaded.transform(view, x).unwrap());
    }
    assert_eq!(*loaded.plan(), one.plan().portable());
    assert_eq!((loaded.curve(), loaded.significance()), (one.curve(), one.significance()));
    assert_eq!(
        (loaded.ranks(), loaded.left_out(), loaded.warnings()),
        (one.ranks(), one.left_out(), one.warnings())
    );
    assert_eq!(loaded.to_bytes().unwrap(), one.to_bytes().unwrap());
    assert!(loaded.scores().unwrap_err().to_string().contains("Give the rows to transform"));
}

/// Correlations told are those of projected rows; scores have mean zero; the largest coefficient of the first view is positive.
#[test]
fn what_is_told_is_what_projected_rows_have() {
    for (views, kernel) in [
        (related(90, &[3, 4], 6), "rbf(gamma=0.1)"),
        (related(90, &[3, 4, 2], 7), "rbf(gamma=0.1)"),
        (related(90, &[3, 4, 2], 7), "linear"),
    ] {
        let model = KernelCca::new(2).kernel(spec(kernel)).fit(&samples(&views)).unwrap();
        let scores = model.scores().unwrap();
        assert_eq!((model.n_views(), model.n_components(), model.n_samples()), (views.len(), 2, 90));
        for j in 0..2 {
            let got = model.training_correlations()[j];
            assert!((got - mean_correlation(&scores, j)).abs() < 1e-8, "{kernel}: {got}");
            let means = scores.iter().map(|own| own.column(j).iter().sum::<f64>() / 90.0);
            assert!(means.into_iter().all(|mean| mean.abs() < 1e-8));
            let first = model.projections()[0].coefficients.column(j);
            let largest = first.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
            assert!(largest > 0.0);
        }
        assert!(model.correlations()[0] >= model.correlations()[1]);
        // What is held out correlates less than what was fitted, in the first component of related views still much.
        let (held_out, error) = (model.held_out_correlations()[0], model.held_out_errors()[0]);
        assert!(held_out > 0.5 && held_out < model.training_correlations()[0] + 3.0 * error, "{held_out}");
        assert_eq!(model.regularization().len(), views.len());
    }
}

#[test]
fn the_curve_has_its_choice_and_kappa_is_that_share_of_the_variance() {
    let views = related(100, &[3, 4], 8);
    let model = KernelCca::new(1).kernel(spec("linear")).fit(&samples(&views)).unwrap();
    let curve = model.curve().unwrap();
    assert_eq!((curve.shares.len(), curve.scores.len(), curve.errors.len()), (13, 13, 13));
    assert!(curve.scores.iter().all(|score| *score <= curve.scores[curve.chosen]));
    // κ is chosen without the fold that is measured.
    let found = model.held_out_correlations()[0];
    assert!(found <= curve.scores[curve.chosen] && found > 0.5, "{found} {curve:?}");
    for (view, kappa) in views.iter().zip(model.regularization()) {
        let variance = |j: usize| {
            let column = view.column(j);
            let mean = column.iter().sum::<f64>() / 100.0;
            column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 100.0
        };
        let total: f64 = (0..view.n_cols()).map(variance).sum();
        assert!((kappa - curve.shares[curve.chosen] * total).abs() < 1e-12 * total);
    }
    let end = model.warnings().iter().any(|warning| warning.contains("at the end of those that were tried"));
    assert_eq!(end, curve.may_lie_beyond());
    let given =
        KernelCca::new(1).kernel(spec("linear")).regularization(Value(0.1)).fit(&samples(&views)).unwrap();
    assert!(given.curve().is_none() && given.held_out_correlations().len() == 1);
    assert_eq!(given.regularization(), [0.1, 0.1]);
}

/// With 39 permutations related views reach the smallest p-value, and unrelated ones do not: under independence a p-value of
/// 0.05 or less has probability 0.05, and the seed was not chosen.
#[test]
fn related_views_are_significant_and_unrelated_ones_are_not() {
    let p_values = |views: &[Matrix<f64>]| {
        let settings = KernelCca::new(2).kernel(spec("rbf(gamma=0.2)")).permutations(39);
        let model = settings.regularization(Value(0.05)).fit(&samples(views)).unwrap();
        let found = model.significance().unwrap().clone();
        assert_eq!((found.permutations, found.rows, found.p_values.len()), (39, 80, 2));
        assert!(found.p_values[0] <= found.p_values[1]);
        // The observed correlations are compared, all rows being permuted.
        for (rho, p) in model.correlations().iter().zip(&found.p_values) {
            assert_eq!(*rho > found.null_95, *p <= 0.06, "{rho} {p} {}", found.null_95);
        }
        found.p_values
    };
    assert_eq!(p_values(&related(80, &[2, 3], 9))[0], 0.025);
    assert!(p_values(&[noise(80, 2, 21), noise(80, 3, 22)])[0] > 0.05);
}

#[test]
fn gram_matrices_serve_as_views_with_and_without_landmarks() {
    let (views, kernel) = (related(60, &[3, 2], 11), spec("rbf(gamma=0.3)"));
    let grams: Vec<Matrix<f64>> = views.iter().map(|x| gram(&kernel, x, x)).collect();
    for landmarks in [None, Some(25)] {
        let settings = |kernel: KernelSpec| {
            let settings = KernelCca::new(2).kernel(kernel).regularization(Value(0.02));
            match landmarks {
                None => settings,
                Some(count) => settings.with(|f| f.low_rank(LowRank::pivoted(Rank::Exactly(count)))),
            }
        };
        let model = settings(spec("precomputed")).fit(&samples(&grams)).unwrap();
        let direct = settings(kernel.clone()).fit(&samples(&views)).unwrap();
        let new = Matrix::from_fn(5, 3, |i, j| views[0][(i, j)] + 0.2);
        let rows = gram(&kernel, &new, &views[0]);
        let (a, b) = (model.transform(0, &rows).unwrap(), direct.transform(0, &new).unwrap());
        let loaded = FittedKernelCca::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.transform(0, &rows).unwrap(), a);
        // Landmarks are drawn from the same stream for both.
        assert!(difference(&a, &b) < 1e-6, "{landmarks:?}: {:e}", difference(&a, &b));
    }
}

#[test]
fn rows_of_all_views_side_by_side_give_their_scores_side_by_side() {
    let views = related(40, &[3, 2], 12);
    let names = vec![vec!["a".to_string(), "b".into(), "c".into()], vec!["d".into(), "e".into()]];
    let model = KernelCca::new(2).kernel(spec("linear")).column_names(names).fit(&samples(&views)).unwrap();
    let wide = Matrix::from_fn(40, 5, |i, j| if j < 3 { views[0][(i, j)] } else { views[1][(i, j - 3)] });
    let fitted: &dyn Fitted = &model;
    assert_eq!((fitted.method(), fitted.n_features(), fitted.n_outputs()), ("kcca", 5, 4));
    assert_eq!(fitted.column_names().join(""), "abcde");
    assert_eq!(
        (model.view_names(1).join(""), model.view_names(2).len(), model.widths()),
        ("de".into(), 0, vec![3, 2])
    );
    let scores = fitted.project((&wide).into(), &Watch::default()).unwrap();
    let own = model.scores().unwrap();
    for i in 0..40 {
        assert_eq!(scores.row(i), [own[0].row(i), own[1].row(i)].concat());
    }
    let single = Matrix::from_fn(40, 5, |i, j| wide[(i, j)] as f32);
    let near = fitted.project((&single).into(), &Watch::default()).unwrap();
    assert!(difference(&near, &scores) < 1e-4);
    let sparse = eigenlift_testkit::problems::sparse(&wide);
    let rows: AnyPoints<'_> = eigenlift::data::Points::from(sparse.view()).into();
    let message = fitted.project(rows, &Watch::default()).unwrap_err().to_string();
    assert!(message.contains("must be dense"), "{message}");
    let message = fitted.project((&views[0]).into(), &Watch::default()).unwrap_err().to_string();
    assert!(message.contains("rows of 3 columns; the views of the model have 5 together"), "{message}");
    assert!(fitted.invert(&scores, &Watch::default()).is_err());
}

#[test]
fn more_components_than_exist_are_given_as_far_as_they_do() {
    let views = related(50, &[2, 5], 13);
    let model = KernelCca::new(4).kernel(spec("linear")).fit(&samples(&views)).unwrap();
    assert_eq!((model.n_components(), model.held_out_correlations().len()), (2, 2));
    assert!(
        model.warnings().iter().any(|w| w == "4 components were asked for and 2 exist"),
        "{:?}",
        model.warnings()
    );
}

#[test]
fn views_may_differ_in_precision_and_kind() {
    let views = related(50, &[3, 4], 14);
    let single = Matrix::from_fn(50, 3, |i, j| views[0][(i, j)] as f32);
    let sparse = eigenlift::data::Samples::from(eigenlift_testkit::problems::sparse(&views[1]));
    let fit = |views: &[eigenlift::data::AnySamples]| {
        KernelCca::new(1).kernels(vec![spec("rbf(gamma=0.1)"), spec("linear")]).fit(views).unwrap()
    };
    let model = fit(&[single.into(), sparse.into()]);
    let dense = fit(&samples(&views));
    // Single precision keeps seven digits.
    assert!((model.training_correlations()[0] - dense.training_correlations()[0]).abs() < 1e-4);
    let loaded = FittedKernelCca::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.transform(1, &views[1]).unwrap(), model.transform(1, &views[1]).unwrap());
}

#[test]
fn a_plan_says_what_a_fit_does() {
    let views = samples(&related(60, &[3, 4], 15));
    let settings = KernelCca::new(2).kernel(spec("rbf(gamma=0.1)")).permutations(3).folds(30);
    let job = settings.prepare(&views).unwrap();
    let plan = job.plan().clone();
    let model = job.run().unwrap();
    assert_eq!(model.correlations(), settings.fit(&views).unwrap().correlations());
    assert_eq!((plan.folds, plan.permutations, plan.n_samples()), (20, 3, 60));
    assert_eq!((model.plan().folds, model.plan().regularization), (20, Auto));
    let text = plan.to_string();
    for part in ["view 2", "rbf(gamma=0.1)", "20 folds", "3 permutations", "60 rows make 20 folds"] {
        assert!(text.contains(part), "\"{part}\" is not in\n{text}");
    }
}

/// Without κ neither the size of a column nor its mean is anything to a canonical correlation; nor is a κ that is large a
/// reason to find none.
#[test]
fn sizes_and_offsets_of_columns_do_not_matter_without_regularisation() {
    let views = related(80, &[3, 3], 12);
    let fit = |views: &[Matrix<f64>]| {
        let settings = KernelCca::new(3).kernel(spec("linear")).regularization(Value(0.0));
        settings.fit(&samples(views)).unwrap().training_correlations().to_vec()
    };
    let plain = fit(&views);
    // Rounding of rows beside an offset of 1e8 leaves eight digits of a column, beside one of 1e4 twelve.
    for (scale, offset, tolerance) in
        [(1e7, 0.0, 1e-9), (1e-7, 0.0, 1e-9), (1.0, 1e8, 1e-6), (1e5, 1e4, 1e-9)]
    {
        let other = Matrix::from_fn(80, 3, |i, j| {
            let x = views[0][(i, j)];
            if j == 1 { scale * x + offset } else { x }
        });
        let found = fit(&[other, views[1].clone()]);
        assert_eq!(found.len(), 3, "{scale} {offset}");
        let apart = plain.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < tolerance, "{scale} {offset}: {plain:?} {found:?}");
    }
    let held_back =
        KernelCca::new(2).kernel(spec("rbf(gamma=0.1)")).regularization(Value(1e7)).fit(&samples(&views));
    let held_back = held_back.unwrap();
    assert_eq!(held_back.n_components(), 2);
    assert!(held_back.training_correlations()[0] > 0.5 && held_back.correlations()[0] < 1e-6);
}
