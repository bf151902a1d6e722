//! Hostile model files of manifold methods: nothing but a model is taken for one, and nothing panics.

use super::help::{blobs, distances, sheet};
use super::laws::ALL;
use super::parts::Crafted;
use eigenlift::data::Samples;
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Disconnected, ManifoldInput};
use eigenlift::methods::{AnyModel, ClassicalMds, DiffusionMap, FittedManifold, Isomap, LocallyLinear, Pca};
use eigenlift_testkit::problems::sparse;
use serde_json::{Value, json};

fn small() -> FittedManifold {
    Isomap::new(2).neighbors(4).fit(sheet(12, 81, 0.4)).unwrap()
}

fn in_parts() -> FittedManifold {
    let (x, _) = blobs(&[6, 7], 20.0);
    Isomap::new(2).neighbors(3).disconnected(Disconnected::Separate).fit(x).unwrap()
}

fn in_parts_by_distances() -> FittedManifold {
    let (x, _) = blobs(&[6, 7], 20.0);
    Isomap::new(2)
        .neighbors(3)
        .disconnected(Disconnected::Separate)
        .fit(ManifoldInput::distances(distances(&x, &x)))
        .unwrap()
}

fn steps() -> FittedManifold {
    DiffusionMap::new(2).kernel("rbf(gamma=1)".parse().unwrap()).fit(sheet(12, 82, 0.4)).unwrap()
}

fn weights() -> FittedManifold {
    LocallyLinear::new(2).neighbors(4).fit(sheet(12, 83, 0.4)).unwrap()
}

fn scaled() -> FittedManifold {
    let x = sheet(12, 84, 0.4);
    ClassicalMds::new(2).fit(ManifoldInput::distances(distances(&x, &x))).unwrap()
}

fn changed(model: &FittedManifold, change: impl FnOnce(&mut Crafted)) -> Vec<u8> {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    crafted.file()
}

/// Loads what may be loaded and uses it in every way; whatever comes, it is no panic.
fn used(bytes: &[u8]) -> Result<(), Error> {
    let model = FittedManifold::from_bytes(bytes)?;
    let d = model.n_features().min(64);
    for rows in [0, 1, 3] {
        let _ = model.transform(&Matrix::from_fn(rows, d, |i, j| (i * j) as f64 * 0.1));
    }
    let _ =
        (model.labels(), model.eigenvalues().len(), model.geodesics().is_some(), model.plan().to_string());
    let _ = model.to_bytes();
    let _ = model.flipped(&[true]).scores();
    Ok(())
}

fn assert_refused(what: &str, bytes: &[u8], part: &str) {
    let error = used(bytes).expect_err(what);
    let message = error.to_string();
    assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "{what}: three parts in \"{message}\"");
    assert!(message.len() < 900 && !message.contains(char::is_control), "{what}: {message}");
}

#[test]
fn every_truncation_and_every_flipped_byte_is_refused() {
    for model in [small(), in_parts(), steps()] {
        let mut bytes = model.to_bytes().unwrap();
        for length in (0..bytes.len()).step_by(3) {
            assert!(FittedManifold::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        for at in (0..bytes.len()).step_by(5) {
            bytes[at] ^= 1 << (at % 8);
            assert!(FittedManifold::from_bytes(&bytes).is_err(), "byte {at}");
            bytes[at] ^= 1 << (at % 8);
        }
        assert!(used(&bytes).is_ok());
    }
}

#[test]
fn files_of_other_methods_are_refused() {
    let pca = Pca::new(2).fit(sheet(12, 85, 0.4)).unwrap().to_bytes().unwrap();
    assert_refused("pca", &pca, "of the method pca");
    for word in ["kpca", "pca", "tsne", ""] {
        let bytes = changed(&small(), |c| c.header["method"] = word.into());
        assert!(used(&bytes).is_err(), "{word}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.safetensors");
        std::fs::write(&path, &bytes).unwrap();
        assert!(AnyModel::load(&path).is_err(), "{word}");
    }
    // Another manifold method than the plan's.
    let bytes = changed(&small(), |c| c.header["method"] = "mds".into());
    assert_refused("mds", &bytes, "the plan and the model must agree");
}

type Change = fn(&mut Crafted);

fn part(c: &mut Crafted, at: usize) -> &mut Value {
    &mut c.header["parts"][at]
}

fn everywhere(c: &mut Crafted, field: &str, value: &Value) {
    c.header[field] = value.clone();
    c.header["plan"][field] = value.clone();
}

const WHOLE: &[(&str, Change, &str)] = &[
    ("no plan", |c| c.header["plan"] = Value::Null, ""),
    ("no parts", |c| c.header["parts"] = json!([]), "0 parts"),
    ("parts as text", |c| c.header["parts"] = "two".into(), ""),
    (
        "two whole parts",
        |c| {
            let one = part(c, 0).clone();
            c.header["parts"] = json!([one, one]);
        },
        "2 parts, 2 of them with all rows",
    ),
    ("rows of a whole part", |c| part(c, 0)["n_rows"] = 5.into(), "contradict"),
    ("not whole", |c| part(c, 0)["whole"] = false.into(), "contradict"),
    (
        "rows without array",
        |c| {
            part(c, 0)["whole"] = false.into();
            part(c, 0)["n_rows"] = 12.into();
        },
        "part0.rows",
    ),
    ("more axes", |c| part(c, 0)["n_axes"] = 3.into(), "contradict"),
    (
        "fewer axes",
        |c| {
            part(c, 0)["n_axes"] = 1.into();
            part(c, 0)["n_residuals"] = 1.into();
        },
        "has the shape [2]; the header makes it [1]",
    ),
    ("more residuals", |c| part(c, 0)["n_residuals"] = 9.into(), "contradict"),
    ("lifted", |c| part(c, 0)["n_lifted"] = 11.into(), "has the shape [12, 2]; the header makes it [11, 2]"),
    ("lifted beyond", |c| part(c, 0)["n_lifted"] = json!(u64::MAX), ""),
    ("negative count", |c| part(c, 0)["n_lifted"] = json!(-1), ""),
    ("rows", |c| everywhere(c, "n_samples", &json!(13)), ""),
    ("rows alone", |c| c.header["n_samples"] = 13.into(), "must agree"),
    ("no rows", |c| everywhere(c, "n_samples", &json!(0)), "0 rows"),
    ("rows beyond", |c| everywhere(c, "n_samples", &json!(u64::MAX)), ""),
    ("columns", |c| everywhere(c, "n_features", &json!(4)), "the header makes it [12, 4]"),
    ("no columns", |c| everywhere(c, "n_features", &json!(0)), "0 columns"),
    ("components", |c| c.header["n_components"] = 3.into(), ""),
    ("fewer components", |c| c.header["n_components"] = 1.into(), ""),
    ("precision", |c| everywhere(c, "precision", &"f32".into()), ""),
    ("no such precision", |c| everywhere(c, "precision", &"f16".into()), ""),
    (
        "samples",
        |c| part(c, 0)["lift"]["geodesics"]["space"]["rows"]["n_samples"] = 11.into(),
        "11 samples where 12",
    ),
    ("metric", |c| part(c, 0)["lift"]["geodesics"]["space"]["rows"]["metric"] = "far".into(), ""),
    (
        "no neighbours",
        |c| part(c, 0)["lift"]["geodesics"]["search"]["reach"] = json!({"nearest": 0}),
        "0 neighbours",
    ),
    (
        "radius",
        |c| part(c, 0)["lift"]["geodesics"]["search"]["reach"] = json!({"within": -1.0}),
        "a radius of -1",
    ),
    ("lift of another kind", |c| part(c, 0)["lift"] = json!({"teleport": {}}), ""),
    ("lists", |c| part(c, 0)["lift"]["geodesics"]["space"] = json!({"lists": {"n_samples": 12}}), ""),
    (
        "bridge beyond",
        |c| {
            c.header["facts"]["graph"]["bridges"] = json!([{"from": 0, "to": 12, "length": 1.0}]);
        },
        "an edge to a row that does not exist",
    ),
    ("control", |c| c.header["facts"]["solver"] = "\u{1b}[2J".into(), "control"),
    ("column names", |c| c.header["column_names"] = json!(["a"]), "1 column names"),
];

const ARRAYS: &[(&str, Change, &str)] = &[
    ("no scores", |c| c.arrays.retain(|a| a.name != "scores"), "no array \"scores\""),
    ("no distances", |c| c.arrays.retain(|a| a.name != "part0.distances"), "part0.distances"),
    ("no samples", |c| c.arrays.retain(|a| a.name != "part0.samples"), "samples"),
    (
        "another array",
        |c| {
            let mut more = c.arrays[0].clone();
            more.name = "part7.rows".into();
            c.arrays.push(more);
        },
        "an array \"part7.rows\"",
    ),
    ("scores turned", |c| c.array("scores").shape = vec![2, 12], "the header makes it [12, 2]"),
    ("distances flat", |c| c.array("part0.distances").shape = vec![144], ""),
    ("distances turned", |c| c.array("part0.distances").shape = vec![6, 24], ""),
    (
        "distances of no landmark",
        |c| {
            let a = c.array("part0.distances");
            (a.shape, a.bytes) = (vec![12, 0], Vec::new());
        },
        "they must agree",
    ),
    (
        "negative distance",
        |c| c.put("part0.distances", 17, -1.0),
        "part0.distances[1, 5] is -1; distances are not negative",
    ),
    ("NaN distance", |c| c.put("part0.distances", 17, f64::NAN), "part0.distances[1, 5] is NaN"),
    ("infinite distance", |c| c.put("part0.distances", 17, f64::INFINITY), "is inf"),
    ("NaN score", |c| c.put("scores", 3, f64::NAN), "scores[1, 1] is NaN"),
    ("NaN sample", |c| c.put("part0.samples", 3, f64::NAN), "NaN"),
    ("infinite coefficient", |c| c.put("part0.coefficients", 3, f64::INFINITY), "inf"),
    ("single coefficients", |c| c.array("part0.coefficients").dtype = "I64".into(), "I64"),
];

#[test]
fn hostile_records_and_arrays_are_refused() {
    for (what, change, says) in WHOLE.iter().chain(ARRAYS) {
        // A model of lists loads: what it cannot do it says when asked.
        let bytes = changed(&small(), change);
        if *what == "lists" {
            let _ = used(&bytes);
            continue;
        }
        assert_refused(what, &bytes, says);
    }
}

fn row(c: &mut Crafted, array: &str, at: usize, value: u32) {
    c.array(array).bytes[at * 4..][..4].copy_from_slice(&value.to_le_bytes());
}

const PARTS: &[(&str, Change, &str)] = &[
    ("row in two parts", |c| row(c, "part1.rows", 0, 0), "row 1 in a part; each row is in one part"),
    ("row twice in a part", |c| row(c, "part0.rows", 1, 0), "row 1 in a part"),
    ("row beyond", |c| row(c, "part0.rows", 1, 13), "row 14 in a part"),
    ("row far beyond", |c| row(c, "part0.rows", 1, u32::MAX), "row 4294967296 in a part"),
    ("no rows", |c| c.arrays.retain(|a| a.name != "part1.rows"), "part1.rows"),
    ("empty part", |c| part(c, 1)["n_rows"] = 0.into(), "contradict"),
    ("one whole", |c| part(c, 1)["whole"] = true.into(), "1 of them with all rows"),
    ("a part less", |c| drop(c.header["parts"].as_array_mut().unwrap().pop()), "part1."),
    ("other size", |c| part(c, 1)["n_rows"] = 6.into(), "7 samples where 6 were fitted"),
];

#[test]
fn hostile_parts_are_refused() {
    for model in [in_parts(), in_parts_by_distances()] {
        for (what, change, says) in PARTS {
            assert_refused(what, &changed(&model, change), says);
        }
    }
    // Rows of distances that are shorter or longer than the samples.
    for columns in [1, 2, 12, 14] {
        let bytes = changed(&in_parts_by_distances(), |c| everywhere(c, "n_features", &json!(columns)));
        assert!(used(&bytes).is_err(), "{columns} columns");
        let bytes = changed(&scaled(), |c| everywhere(c, "n_features", &json!(columns)));
        assert!(columns == 12 || used(&bytes).is_err(), "{columns} columns");
    }
}

#[test]
fn hostile_steps_and_weights_are_refused() {
    const STEPS: &[(&str, Change, &str)] = &[
        ("weight of zero", |c| c.put("part0.weights", 2, 0.0), "part0.weights[2] is 0; weights of samples"),
        (
            "negative weight",
            |c| c.put("part0.weights", 2, -1.0),
            "part0.weights[2] is -1; weights of samples",
        ),
        ("NaN weight", |c| c.put("part0.weights", 2, f64::NAN), "NaN"),
        ("samples", |c| part(c, 0)["lift"]["steps"]["n_samples"] = 11.into(), "the header makes it [11]"),
        ("kernel", |c| part(c, 0)["lift"]["steps"]["kernel"] = "fractal(1)".into(), "fractal"),
        ("kernel by data", |c| part(c, 0)["lift"]["steps"]["kernel"] = "rbf(gamma=median)".into(), ""),
        ("precomputed", |c| part(c, 0)["lift"]["steps"]["kernel"] = "precomputed".into(), ""),
        (
            "kernel of columns",
            |c| part(c, 0)["lift"]["steps"]["kernel"] = "expr(x99*y99)".into(),
            "feature 99",
        ),
    ];
    for (what, change, says) in STEPS {
        assert_refused(what, &changed(&steps(), change), says);
    }
    for ridge in [0.0, -1.0] {
        let bytes = changed(&weights(), |c| {
            part(c, 0)["lift"]["weights"]["weights"] = json!({"barycentric": {"ridge": ridge}});
        });
        assert!(used(&bytes).is_err(), "a ridge of {ridge}");
    }
    let heat = changed(&weights(), |c| {
        part(c, 0)["lift"]["weights"]["weights"] = json!({"heat": {"gamma": -1e300}})
    });
    assert!(used(&heat).is_err());
    let bytes = changed(&weights(), |c| {
        part(c, 0)["lift"]["weights"]["space"] = json!({"distances": {"n_samples": 12}});
    });
    assert!(used(&bytes).is_err(), "samples that nobody needs");
}

/// Sparse samples: offsets and columns are checked as those of other methods are.
#[test]
fn hostile_sparse_samples_are_refused() {
    let model = Isomap::new(2).neighbors(4).fit(Samples::from(sparse(&sheet(12, 86, 0.4)))).unwrap();
    for (what, change) in [
        ("offset", (|c| c.array("part0.samples.offsets").bytes[8..16].fill(0xff)) as Change),
        ("column", |c| c.array("part0.samples.columns").bytes[..4].fill(0xff)),
        ("no offsets", |c| c.arrays.retain(|a| a.name != "part0.samples.offsets")),
        ("columns", |c| everywhere(c, "n_features", &json!(2))),
    ] {
        assert!(used(&changed(&model, change)).is_err(), "{what}");
    }
}

/// Any number of the record replaced by another, any array left out, and extreme numbers in arrays: no panic.
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
            Value::Array(all) => all.iter_mut().for_each(|v| numbers(v, seen, target, with)),
            Value::Object(all) => all.values_mut().for_each(|v| numbers(v, seen, target, with)),
            _ => {}
        }
    }
    for model in [small(), in_parts(), in_parts_by_distances(), steps(), weights(), scaled()] {
        let good = Crafted::from(&model.to_bytes().unwrap());
        let mut count = 0;
        numbers(&mut good.header.clone(), &mut count, usize::MAX, &Value::Null);
        for target in 0..count {
            for with in
                [json!(0), json!(1), json!(5), json!(1_000_000), json!(u64::MAX), json!(1e300), json!(-1e300)]
            {
                let mut crafted = good.clone();
                numbers(&mut crafted.header, &mut 0, target, &with);
                let _ = used(&crafted.file());
            }
        }
        for at in 0..good.arrays.len() {
            let mut crafted = good.clone();
            let gone = crafted.arrays.remove(at);
            assert!(used(&crafted.file()).is_err(), "{}", gone.name);
            if gone.dtype == "F64" {
                for value in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0] {
                    let mut crafted = good.clone();
                    (0..gone.bytes.len() / 8).for_each(|i| crafted.put(&gone.name, i, value));
                    let _ = used(&crafted.file());
                }
            }
        }
    }
}

/// Every kind of model can be loaded by those who do not know which it is.
#[test]
fn any_model_is_loaded_by_its_method() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    for (name, fit) in ALL {
        let model = fit(sheet(40, 87, 0.4).into(), 0);
        model.save(&path).unwrap();
        assert!(name.starts_with(AnyModel::load(&path).unwrap().fitted().method()), "{name}");
    }
}
