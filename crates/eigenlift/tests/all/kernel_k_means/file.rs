//! Model files: the same bits back, and nothing but a model is taken for one.

use super::parts::Crafted;
use super::{any, bits, flowers, rings, spec};
use eigenlift::error::Error;
use eigenlift::features::{LowRank, Rank};
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelKMeans, KernelKMeans};
use eigenlift::model::Planned;
use serde_json::json;

fn small(spectral: bool) -> FittedKernelKMeans {
    let (x, _) = rings(14, 4);
    let settings = KernelKMeans::new(3).kernel(spec("rbf(gamma=0.5)")).starts(2);
    if spectral { settings.spectral(3) } else { settings }.fit(&any(&x)).unwrap()
}

#[test]
fn loaded_models_give_the_same_bits() {
    let x = flowers();
    let rbf = || KernelKMeans::new(3).kernel(spec("rbf(gamma=0.2)")).starts(2);
    let named = rbf().column_names(["a", "b", "c", "d"].map(String::from).into());
    let gram = Kernel::new(&spec("rbf(gamma=0.2)"), 4).unwrap().matrix((&x).into(), (&x).into());
    let cases = [
        (named, &x),
        (KernelKMeans::new(3).kernel(spec("linear")), &x),
        (rbf().spectral(4), &x),
        (rbf().spectral(1), &x),
        (rbf().with(|f| f.low_rank(LowRank::fourier(Rank::Exactly(32)))), &x),
        (rbf().with(|f| f.low_rank(LowRank::pivoted(Rank::Exactly(20)))), &x),
        (KernelKMeans::new(3).kernel(spec("precomputed")).starts(2), &gram),
    ];
    for (settings, rows) in cases {
        let model = settings.fit(&any(rows)).unwrap();
        let loaded = FittedKernelKMeans::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(bits(&model.distances(rows).unwrap()), bits(&loaded.distances(rows).unwrap()));
        assert_eq!(bits(&model.plane(rows).unwrap()), bits(&loaded.plane(rows).unwrap()));
        assert_eq!((model.labels(), model.sizes()), (loaded.labels(), loaded.sizes()));
        assert_eq!((&model.plan().portable(), model.column_names()), (loaded.plan(), loaded.column_names()));
        assert_eq!((model.inertia(), model.steps()), (loaded.inertia(), loaded.steps()));
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
    }
}

#[test]
fn every_truncation_and_every_flipped_byte_is_refused() {
    for spectral in [false, true] {
        let mut bytes = small(spectral).to_bytes().unwrap();
        for length in (0..bytes.len()).step_by(7) {
            assert!(FittedKernelKMeans::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        for at in (0..bytes.len()).step_by(11) {
            bytes[at] ^= 1 << (at % 8);
            assert!(FittedKernelKMeans::from_bytes(&bytes).is_err(), "byte {at}");
            bytes[at] ^= 1 << (at % 8);
        }
    }
}

fn refused(what: &str, model: &FittedKernelKMeans, change: impl FnOnce(&mut Crafted), part: &str) {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    let error = FittedKernelKMeans::from_bytes(&crafted.file()).expect_err(what);
    assert!(matches!(error, Error::Model { .. }), "{what}: {error:?}");
    let message = error.to_string();
    assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
}

#[test]
fn contradictions_are_refused() {
    let model = small(false);
    refused("method", &model, |c| c.header["method"] = json!("kda"), "kkmeans");
    refused("clusters", &model, |c| c.header["n_components"] = json!(4), "columns for 4 clusters");
    refused("none", &model, |c| c.header["n_components"] = json!(0), "0 clusters");
    refused("rows", &model, |c| c.header["n_samples"] = json!(13), "13 rows");
    refused("columns", &model, |c| c.header["n_columns"] = json!(7), "7 columns for 3 clusters");
    refused("inertia", &model, |c| c.header["facts"]["inertia"] = json!(-1.0), "negative");
    refused("plane", &model, |c| c.header["facts"]["n_plane"] = json!(3), "plane of 3");
    refused("thin plane", &model, |c| c.header["facts"]["n_plane"] = json!(1), "plane of 1");
    refused("spectral", &model, |c| c.header["facts"]["spectral"] = json!(6), "at once");
    refused("mean", &model, |c| c.header["mean_square"] = json!(null), "at once");
    refused("squares", &model, |c| c.put("squares", 0, -1.0), "squares[0] is -1; the square");
    refused(
        "label",
        &model,
        |c| c.array("labels").bytes[..4].copy_from_slice(&9u32.to_le_bytes()),
        "labels[0] is 9, beyond 3",
    );
    refused("words", &model, |c| c.header["plan"]["engine"] = json!("a\u{7}"), "control characters");
    refused("not finite", &model, |c| c.put("coefficients", 0, f64::NAN), "coefficients");
    let model = small(true);
    refused("components", &model, |c| c.header["facts"]["spectral"] = json!(2), "columns");
    refused("huge", &model, |c| c.header["facts"]["spectral"] = json!(usize::MAX), "columns");
    refused("centres", &model, |c| c.put("centers", 0, f64::INFINITY), "centers");
}

#[test]
fn files_survive_the_disk() {
    let path = std::env::temp_dir().join(format!("kkmeans-{}.model", std::process::id()));
    let model = small(false);
    model.save(&path).unwrap();
    let loaded = FittedKernelKMeans::load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let new = Matrix::from_fn(3, 2, |i, j| (i + j) as f64);
    assert_eq!(bits(&loaded.distances(&new).unwrap()), bits(&model.distances(&new).unwrap()));
}
