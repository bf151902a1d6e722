//! What cannot be fitted, and why.

use super::{any, flowers, rings, spec};
use eigenlift::error::Error;
use eigenlift::factor::Regularization::Value;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelDiscriminant, KernelDiscriminant};
use eigenlift::progress::{CancelToken, Watch};

fn refused(settings: &KernelDiscriminant, x: &Matrix<f64>, classes: &[u32], part: &str) {
    let message = settings.fit(&any(x), classes).expect_err(part).to_string();
    assert!(message.contains(part), "\"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "three parts in \"{message}\"");
}

#[test]
fn classes_that_cannot_be_told_apart_are_refused() {
    let (x, species) = flowers();
    let plain = KernelDiscriminant::new();
    refused(&plain, &x, &species[..149], "149 classes for 150 rows");
    refused(&plain, &x, &[0; 150], "1 class(es)");
    let mut alone = species.clone();
    alone[149] = 3;
    refused(&plain, &x, &alone, "class 3 has 1 row(s)");
    alone[149] = 7;
    refused(&plain, &x, &alone, "has 0 row(s)");
    alone[149] = u32::MAX;
    refused(&plain, &x, &alone, "without gaps");
    let names = |names: &[&str]| plain.clone().class_names(names.iter().map(|n| n.to_string()).collect());
    refused(&names(&["a", "b"]), &x, &species, "there are 2 names");
    refused(&names(&["a", "b", "a"]), &x, &species, "two classes with the name a");
    refused(&names(&["a", "b", "c", "d"]), &x, &species, "class d has 0 row(s)");
    // Means that coincide: every row in both classes.
    let twice = Matrix::from_fn(300, 4, |i, j| x[(i / 2, j)]);
    let halves: Vec<u32> = (0..300).map(|i| i % 2).collect();
    refused(&plain.clone().kernel(spec("linear")), &twice, &halves, "class means");
}

#[test]
fn rows_and_settings_out_of_range_are_refused() {
    let (mut x, species) = flowers();
    let plain = KernelDiscriminant::new().kernel(spec("rbf(gamma=0.1)"));
    refused(&plain.clone().folds(1), &x, &species, "1 fold(s)");
    refused(&plain.clone().folds(0), &x, &species, "0 fold(s)");
    refused(&plain.clone().components(0), &x, &species, "0 components");
    refused(&plain.clone().regularization(Value(-1.0)), &x, &species, "a regularisation of -1");
    refused(&plain.clone().regularization(Value(0.0)), &x, &species, "without variance within");
    refused(&plain.clone().column_names(vec!["a".into()]), &x, &species, "1 column names");
    refused(&plain.clone().with(|f| f.memory_limit(2_000)), &x, &species, "allowed");
    refused(&plain, &Matrix::from_fn(150, 4, |_, _| 2.0), &species, "variance");
    x[(20, 2)] = f64::NAN;
    refused(&plain, &x, &species, "row 21");
}

#[test]
fn small_classes_take_fewer_folds_and_say_so() {
    let (x, mut classes) = rings(60, 1);
    classes.iter_mut().enumerate().for_each(|(i, class)| *class = u32::from(i < 3));
    let model = KernelDiscriminant::new().components(4).fit(&any(&x), &classes).unwrap();
    assert_eq!((model.folds(), model.n_components()), (3, 1));
    let warnings = model.warnings().join(" ");
    assert!(warnings.contains("3 folds, not 5: class 1 has 3 rows"), "{warnings}");
    assert!(warnings.contains("1 direction(s) at most, 4 were asked for"), "{warnings}");
    let quiet =
        KernelDiscriminant::new().folds(0).regularization(Value(0.1)).fit(&any(&x), &classes).unwrap();
    assert!(quiet.held_out_accuracy().is_none() && quiet.curve().is_none() && quiet.warnings().is_empty());
}

#[test]
fn the_accuracy_of_a_choice_takes_three_folds() {
    let (x, mut classes) = rings(60, 1);
    classes.iter_mut().enumerate().for_each(|(i, class)| *class = u32::from(i < 2));
    let model = KernelDiscriminant::new().fit(&any(&x), &classes).unwrap();
    assert!(model.folds() == 2 && model.held_out_accuracy().is_none() && model.curve().is_some());
    let warnings = model.warnings().join(" ");
    assert!(warnings.contains("No accuracy on held-out samples is reported"), "{warnings}");
    let loaded = FittedKernelDiscriminant::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(loaded.held_out_accuracy().is_none() && loaded.curve().is_some());
    let fixed = KernelDiscriminant::new().regularization(Value(0.1)).fit(&any(&x), &classes).unwrap();
    assert!(fixed.held_out_accuracy().is_some());
}

#[test]
fn zero_regularisation_that_folds_cannot_have_leaves_a_warning() {
    // 5 rows of 4 columns in 2 classes: S_W has rank 3 with all rows, 2 or less without a fold.
    let x = Matrix::from_fn(6, 4, |i, j| ((i * 5 + j * 3 + i * i * j) as f64 * 0.7).sin());
    let model = KernelDiscriminant::new()
        .kernel(spec("linear"))
        .regularization(Value(0.0))
        .folds(2)
        .fit(&any(&x), &[0, 0, 0, 1, 1, 1])
        .unwrap();
    assert!(model.held_out_accuracy().is_none());
    assert!(model.warnings()[0].contains("held-out rows is not known"), "{:?}", model.warnings());
}

#[test]
fn cancelling_stops_and_new_rows_are_checked() {
    let (x, species) = flowers();
    let token = CancelToken::default();
    token.cancel();
    let stopped = KernelDiscriminant::new().with(|f| f.watch(Watch::default().cancelled_by(token)));
    assert!(matches!(stopped.fit(&any(&x), &species), Err(Error::Cancelled)));
    let model = KernelDiscriminant::new().fit(&any(&x), &species).unwrap();
    let narrow = Matrix::<f64>::zeros(2, 3);
    assert!(model.predict(&narrow).unwrap_err().to_string().contains("rows of 3 columns"));
    assert!(model.predict(&Matrix::<f64>::zeros(0, 4)).unwrap().is_empty());
    let job = KernelDiscriminant::new().prepare(&any(&x), &species).unwrap();
    let plan = job.plan();
    assert!(plan.to_string().contains("held-out rows of 5 folds"), "{plan}");
    // The first reason tells how much memory was free just then.
    assert_eq!(model.plan().reasons[1..], plan.reasons[1..]);
}
