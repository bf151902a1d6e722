//! Hostile model files: nothing but a model is taken for one, and nothing panics.

use super::parts::Crafted;
use super::{related, samples};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::kernel_cca::{FittedKernelCca, KernelCca};
use eigenlift::methods::{AnyModel, Pca};
use serde_json::{Value, json};

fn small(kernel: &str) -> FittedKernelCca {
    let settings = KernelCca::new(2).kernel(kernel.parse().unwrap()).permutations(3);
    settings.fit(&samples(&related(20, &[2, 3], 41))).unwrap()
}

type Change = fn(&mut Crafted);

fn changed(model: &FittedKernelCca, change: impl FnOnce(&mut Crafted)) -> Vec<u8> {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    crafted.file()
}

/// Loads what may be loaded and uses it in every way; whatever comes, it is no panic.
fn used(bytes: &[u8]) -> Result<(), Error> {
    let model = FittedKernelCca::from_bytes(bytes)?;
    for view in 0..3 {
        let width = model.widths().get(view).copied().unwrap_or(1).min(64);
        let _ = model.transform(view, &Matrix::from_fn(3, width, |i, j| (i * j) as f64 * 0.1));
        let _ = model.view_names(view);
    }
    let _ = (model.plan().to_string(), model.to_bytes(), model.scores());
    Ok(())
}

fn assert_refused(what: &str, bytes: &[u8], part: &str) {
    let message = used(bytes).expect_err(what).to_string();
    assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "{what}: three parts in \"{message}\"");
    assert!(message.len() < 900 && !message.contains(char::is_control), "{what}: {message}");
}

const CHANGES: &[(&str, Change, &str)] = &[
    ("other method", |c| c.header["method"] = "kda".into(), "a model of the method kda"),
    ("no rows", |c| c.header["n_samples"] = 0.into(), "at least 3 rows"),
    ("no component", |c| c.header["n_components"] = 0.into(), "1 component"),
    ("more components", |c| c.header["n_components"] = 3.into(), "3 of 2 components"),
    ("one component", |c| c.header["n_components"] = 1.into(), "held-out correlations of 1"),
    (
        "other rows",
        |c| c.header["plan"]["views"][1]["n_samples"] = 21.into(),
        "the plan and the model must agree",
    ),
    (
        "other columns",
        |c| c.header["plan"]["views"][1]["n_features"] = 2.into(),
        "the plan and the model must agree",
    ),
    ("other width", |c| c.header["n_features"] = 6.into(), "the plan and the model must agree"),
    ("huge width", |c| c.header["lifts"][0]["n_features"] = json!(u64::MAX), "must agree"),
    ("one view", |c| drop(c.header["lifts"].as_array_mut().unwrap().pop()), "2 views"),
    ("one plan", |c| drop(c.header["plan"]["views"].as_array_mut().unwrap().pop()), "one for each view"),
    ("one rank", |c| drop(c.header["ranks"].as_array_mut().unwrap().pop()), "one for each view"),
    ("a rank of 0", |c| c.header["ranks"][0] = 0.into(), "a rank of 0"),
    ("a negative share", |c| c.header["left_out"][0] = json!(-0.5), "negative share"),
    ("no curve", |c| drop(c.header.as_object_mut().unwrap().remove("curve")), "auto leaves one"),
    ("a choice beyond", |c| c.header["curve"]["chosen"] = 13.into(), "one of them is chosen"),
    (
        "a short curve",
        |c| drop(c.header["curve"]["scores"].as_array_mut().unwrap().pop()),
        "a finite score and an error",
    ),
    ("no p-values", |c| drop(c.header.as_object_mut().unwrap().remove("significance")), "without p-values"),
    (
        "a p-value of 0",
        |c| c.header["significance"]["p_values"][0] = json!(0.0),
        "p-values of 3 permutations",
    ),
    ("one p-value", |c| c.header["significance"]["p_values"] = json!([0.5]), "1 p-values"),
    ("other permutations", |c| c.header["significance"]["permutations"] = 4.into(), "4 permutations"),
    ("a negative kappa asked", |c| c.header["plan"]["regularization"] = json!({"value": -1.0}), ""),
    ("control characters", |c| c.header["plan"]["reasons"] = json!(["\u{1b}[2J"]), "control characters"),
    ("a bad kernel", |c| c.header["lifts"][0]["kernel"] = "fractal(1)".into(), "fractal"),
    ("other landmarks", |c| c.header["lifts"][0]["n_lifted"] = 19.into(), "the header makes it [19, 2]"),
    ("other precision", |c| c.header["lifts"][0]["precision"] = "f16".into(), "must agree"),
    (
        "a correlation of 2",
        |c| c.put("correlations", 0, 2.0),
        "correlations[0] is 2; a correlation lies between -1 and 1",
    ),
    ("a NaN correlation", |c| c.put("training", 0, f64::NAN), "training[0] is NaN"),
    (
        "a negative kappa",
        |c| c.put("regularization", 1, -1.0),
        "regularization[1] is -1; a regularization is not negative",
    ),
    ("a NaN landmark", |c| c.put("view1.samples", 1, f64::NAN), "NaN"),
    ("an infinite coefficient", |c| c.put("view0.coefficients", 1, f64::INFINITY), "inf"),
    ("no offset", |c| c.arrays.retain(|a| a.name != "view1.offset"), "view1.offset"),
    ("coefficients turned", |c| c.array("view0.coefficients").shape.reverse(), "the header makes it [20, 2]"),
    ("another array", |c| c.array("training").name = "view2.offset".into(), "training"),
];

#[test]
fn hostile_records_and_arrays_are_refused() {
    let model = small("rbf(gamma=0.3)");
    used(&model.to_bytes().unwrap()).unwrap();
    for (what, change, says) in CHANGES {
        assert_refused(what, &changed(&model, change), says);
    }
    let linear = small("linear");
    for (what, change) in [
        ("random features", (|c| c.header["lifts"][0]["map"] = json!({"fourier": {"seed": 1}})) as Change),
        ("landmarks that are not there", |c| {
            drop(c.header["lifts"][0].as_object_mut().unwrap().remove("map"))
        }),
        ("precomputed", |c| c.header["lifts"][0]["kernel"] = "precomputed".into()),
        ("another map", |c| c.header["lifts"][0]["kernel"] = "poly(degree=3,coef0=1)".into()),
    ] {
        assert!(used(&changed(&linear, change)).is_err(), "{what}");
    }
    let other = Pca::new(1).fit(related(20, &[2], 42)[0].clone()).unwrap().to_bytes().unwrap();
    assert_refused("pca", &other, "here a model of the method kcca is read");
}

#[test]
fn every_truncation_and_every_flipped_byte_is_refused() {
    let mut bytes = small("linear").to_bytes().unwrap();
    for length in (0..bytes.len()).step_by(3) {
        assert!(FittedKernelCca::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    for at in (0..bytes.len()).step_by(5) {
        bytes[at] ^= 1 << (at % 8);
        assert!(FittedKernelCca::from_bytes(&bytes).is_err(), "byte {at}");
        bytes[at] ^= 1 << (at % 8);
    }
}

/// Any number of the record replaced by another: no panic.
#[test]
fn changed_numbers_never_panic() {
    fn numbers(value: &mut Value, seen: &mut usize, target: usize, with: &Value) {
        match value {
            Value::Number(_) => {
                if *seen == target {
                    *value = with.clone();
                }
                *seen += 1;
            }
            Value::Array(items) => items.iter_mut().for_each(|item| numbers(item, seen, target, with)),
            Value::Object(map) => map.values_mut().for_each(|item| numbers(item, seen, target, with)),
            _ => {}
        }
    }
    let model = small("linear");
    let whole = Crafted::from(&model.to_bytes().unwrap());
    let mut count = 0;
    numbers(&mut whole.header.clone(), &mut count, usize::MAX, &Value::Null);
    assert!(count > 60, "{count}");
    for with in [json!(0), json!(1), json!(u64::MAX), json!(-1), json!(1e300)] {
        for target in 0..count {
            let mut crafted = whole.clone();
            numbers(&mut crafted.header, &mut 0, target, &with);
            let _ = used(&crafted.file());
        }
    }
}

#[test]
fn a_file_replaces_an_older_one_and_kernels_that_are_functions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let model = small("rbf(gamma=0.3)");
    std::fs::write(&path, "old").unwrap();
    model.save(&path).unwrap();
    let loaded = FittedKernelCca::load(&path).unwrap();
    assert_eq!(loaded.correlations(), model.correlations());
    assert!(FittedKernelCca::load(&folder.path().join("none")).is_err());
    let any = AnyModel::load(&path).unwrap();
    assert_eq!((any.fitted().method(), any.fitted().n_features(), any.fitted().n_outputs()), ("kcca", 5, 4));
    assert_eq!(any.fitted().bytes().unwrap(), model.to_bytes().unwrap());
    let function =
        eigenlift::kernel::Kernel::from_fn("shortest", |x, y| x.iter().zip(y).map(|(a, b)| a.min(*b)).sum());
    let views = samples(&related(20, &[2, 3], 43));
    let shifted: Vec<_> = views
        .iter()
        .map(|x| {
            let x = x.points().to_dense::<f64>();
            Matrix::from_fn(20, x.n_cols(), |i, j| x[(i, j)] + 10.0).into()
        })
        .collect();
    let model = KernelCca::new(1).with(|f| f.ready_kernel(function)).fit(&shifted).unwrap();
    let message = model.to_bytes().unwrap_err().to_string();
    assert!(message.contains("is a function"), "{message}");
}
