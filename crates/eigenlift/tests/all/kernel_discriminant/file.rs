//! Model files: the same bits back, and nothing but a model is taken for one.

use super::parts::Crafted;
use super::{any, bits, flowers, rings, rows_of, spec};
use eigenlift::error::Error;
use eigenlift::factor::Regularization::Value;
use eigenlift::features::{LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelDiscriminant, KernelDiscriminant};
use eigenlift::model::Planned;
use serde_json::json;

fn small(kernel: &str) -> FittedKernelDiscriminant {
    let (x, classes) = rings(15, 4);
    KernelDiscriminant::new().kernel(spec(kernel)).folds(2).fit(&any(&x), &classes).unwrap()
}

#[test]
fn loaded_models_give_the_same_bits() {
    let (x, species) = flowers();
    let named = KernelDiscriminant::new()
        .column_names(["a", "b", "c", "d"].map(String::from).into())
        .class_names(["x", "y", "z"].map(String::from).into())
        .components(1);
    let settings = [
        named.clone().kernel(spec("linear")),
        named.clone().kernel(spec("rbf(gamma=0.2)")),
        named
            .clone()
            .kernel(spec("rbf(gamma=0.2)"))
            .with(|f| f.low_rank(LowRank::fourier(Rank::Exactly(64)))),
        named.kernel(spec("rbf(gamma=0.2)")).with(|f| f.low_rank(LowRank::pivoted(Rank::Exactly(20)))),
    ];
    for settings in settings {
        let model = settings.fit(&any(&x), &species).unwrap();
        let loaded = FittedKernelDiscriminant::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(bits(&model.log_probabilities(&x).unwrap()), bits(&loaded.log_probabilities(&x).unwrap()));
        assert_eq!(bits(&model.transform(&x).unwrap()), bits(&loaded.transform(&x).unwrap()));
        assert_eq!(model.plan().portable(), *loaded.plan());
        assert_eq!((model.curve(), model.held_out_accuracy()), (loaded.curve(), loaded.held_out_accuracy()));
        assert_eq!(
            (model.class_names(), model.column_names()),
            (loaded.class_names(), loaded.column_names())
        );
        assert_eq!((model.priors(), model.eigenvalues()), (loaded.priors(), loaded.eigenvalues()));
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
    }
}

#[test]
fn every_truncation_and_every_flipped_byte_is_refused() {
    let mut bytes = small("rbf(gamma=0.5)").to_bytes().unwrap();
    for length in (0..bytes.len()).step_by(7) {
        assert!(FittedKernelDiscriminant::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    for at in (0..bytes.len()).step_by(11) {
        bytes[at] ^= 1 << (at % 8);
        assert!(FittedKernelDiscriminant::from_bytes(&bytes).is_err(), "byte {at}");
        bytes[at] ^= 1 << (at % 8);
    }
    assert!(FittedKernelDiscriminant::from_bytes(&bytes).is_ok());
}

fn refused(what: &str, model: &FittedKernelDiscriminant, change: impl FnOnce(&mut Crafted), part: &str) {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    let error = FittedKernelDiscriminant::from_bytes(&crafted.file()).expect_err(what);
    assert!(matches!(error, Error::Model { .. }), "{what}: {error:?}");
    let message = error.to_string();
    assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
}

#[test]
fn contradictions_are_refused() {
    let model = small("rbf(gamma=0.5)");
    refused("method", &model, |c| c.header["method"] = json!("kpca"), "kda");
    refused("classes", &model, |c| c.header["class_counts"] = json!([5, 5]), "2 classes with 3 names");
    refused("counts", &model, |c| c.header["class_counts"] = json!([5, 5, 6]), "classes");
    refused("huge", &model, |c| c.header["class_counts"] = json!([u64::MAX, 5, 6]), "classes");
    refused("few", &model, |c| c.header["class_counts"] = json!([1, 9, 5]), "at least 2");
    refused("components", &model, |c| c.header["n_components"] = json!(3), "3 of 2 directions");
    refused("directions", &model, |c| c.header["n_directions"] = json!(1), "directions");
    refused("rows", &model, |c| c.header["n_samples"] = json!(16), "16 rows");
    refused("kappa", &model, |c| c.header["facts"]["regularization"] = json!(-1.0), "regularization");
    refused("accuracy", &model, |c| c.header["facts"]["training_accuracy"] = json!(1.5), "accuracy");
    refused("held out", &model, |c| c.header["facts"]["held_out"] = json!([0.5, -1.0]), "accuracy");
    refused("curve", &model, |c| c.header["facts"]["curve"]["chosen"] = json!(13), "curve");
    refused("words", &model, |c| c.header["class_names"][0] = json!("a\u{7}"), "control characters");
    refused("ratios", &model, |c| c.put("eigenvalues", 0, -1.0), "eigenvalues[0] is -1; ratios");
    refused(
        "kernel",
        &model,
        |c| c.header["lift"]["kernel"] = json!("rbf(gamma=-1)"),
        "the kernel in the header",
    );
    refused("lifted", &model, |c| c.header["lift"]["n_lifted"] = json!(3), "shape");
    refused("array", &model, |c| c.arrays[0].name = "more".into(), "");
    refused("not finite", &model, |c| c.put("class_means", 0, f64::NAN), "class_means");
}

#[test]
fn functions_cannot_be_saved_and_files_survive_the_disk() {
    let (x, species) = flowers();
    let x = rows_of(&x, &(0..150).step_by(3).collect::<Vec<_>>());
    let classes: Vec<u32> = species.into_iter().step_by(3).collect();
    let kernel = eigenlift::kernel::Kernel::from_fn("own", |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum());
    let model = KernelDiscriminant::new()
        .with(|f| f.ready_kernel(kernel))
        .regularization(Value(0.1))
        .fit(&any(&x), &classes)
        .unwrap();
    assert!(model.to_bytes().unwrap_err().to_string().contains("is a function"));
    let path = std::env::temp_dir().join(format!("kda-{}.model", std::process::id()));
    let model = small("linear");
    model.save(&path).unwrap();
    let loaded = FittedKernelDiscriminant::load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let new = Matrix::from_fn(3, 2, |i, j| (i + j) as f64);
    assert_eq!(bits(&loaded.transform(&new).unwrap()), bits(&model.transform(&new).unwrap()));
}
