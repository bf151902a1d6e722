//! Model files of principal components and of whitening: every bit comes back, and nothing else is taken for one.

use super::help::correlated;
use super::parts::Crafted;
use super::whitening::METHODS;
use eigenlift::data::{AnySamples, Samples};
use eigenlift::error::Error;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{FittedPca, FittedWhitening, Pca, PcaRoute, Whitening, WhiteningMethod};
use eigenlift::methods::{AnyModel, FittedKernelPca, KernelPca};
use eigenlift::model::{Planned, read_header};
use eigenlift_testkit::problems::sparse;
use serde_json::{Value, json};

fn bits(m: &Matrix<f64>) -> Vec<u64> {
    m.as_slice().iter().map(|x| x.to_bits()).collect()
}

fn assert_same(a: &FittedPca, b: &FittedPca) {
    assert_eq!(bits(&a.components()), bits(&b.components()));
    assert_eq!(bits(&a.projection().coefficients), bits(&b.projection().coefficients));
    assert_eq!(a.eigenvalues(), b.eigenvalues());
    assert_eq!(a.spectrum(), b.spectrum());
    assert_eq!((a.mean(), a.scale()), (b.mean(), b.scale()));
    assert_eq!(
        (a.weight(), a.total_variance(), a.is_whole()),
        (b.weight(), b.total_variance(), b.is_whole())
    );
    assert_eq!(a.residual_errors(), b.residual_errors());
    assert_eq!(a.certificate(), b.certificate());
    assert_eq!(a.stats(), b.stats());
    assert_eq!(a.choice(), b.choice());
    assert_eq!(a.plan().portable(), b.plan().portable());
    assert_eq!((a.warnings(), a.column_names()), (b.warnings(), b.column_names()));
}

fn assert_pca_comes_back(model: &FittedPca, new: &AnySamples) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    model.save(&path).unwrap();
    let saved = std::fs::read(&path).unwrap();
    assert_eq!(saved, model.to_bytes().unwrap());
    for loaded in [FittedPca::load(&path).unwrap(), FittedPca::from_bytes(&saved).unwrap()] {
        assert_same(model, &loaded);
        let scores = model.transform(new.points()).unwrap();
        assert_eq!(bits(&scores), bits(&loaded.transform(new.points()).unwrap()));
        assert_eq!(
            bits(&model.inverse_transform(&scores).unwrap()),
            bits(&loaded.inverse_transform(&scores).unwrap())
        );
        assert_eq!(loaded.to_bytes().unwrap(), saved, "saving what was loaded gives the same file");
    }
    let any = AnyModel::load(&path).unwrap();
    assert!(any.is::<FittedPca>());
    let fitted = any.fitted();
    assert_eq!(
        (fitted.method(), fitted.n_features(), fitted.n_outputs()),
        ("pca", new.n_cols(), model.n_components())
    );
    assert_eq!(fitted.column_names(), model.column_names());
    let header = read_header(&path).unwrap();
    assert_eq!((header.method.as_str(), header.n_components), ("pca", model.n_components()));
    assert_eq!(header.record["plan"]["route"], model.plan().route.to_string());
}

#[test]
fn principal_components_come_back_bit_by_bit() {
    let (x, new) = (correlated(60, 5, 61), correlated(7, 5, 62));
    let rows: AnySamples = new.clone().into();
    for route in [PcaRoute::Covariance, PcaRoute::Dual, PcaRoute::Tsqr, PcaRoute::Krylov] {
        assert_pca_comes_back(&Pca::new(3).route(route).fit(x.clone()).unwrap(), &rows);
        assert_pca_comes_back(&Pca::new(9).route(route).standardize().fit(x.clone()).unwrap(), &rows);
    }
    let names = ["a", "b\n", "ü", "d\"", ""].map(String::from).to_vec();
    assert_pca_comes_back(&Pca::new(2).column_names(names).fit(x.clone()).unwrap(), &rows);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.1).collect();
    assert_pca_comes_back(&Pca::new(2).fit((&x, Some(&weights[..]))).unwrap(), &rows);
    assert_pca_comes_back(&Pca::auto().fit(x.clone()).unwrap(), &rows);
    assert_pca_comes_back(&Pca::new(2).fit(rows.to_single()).unwrap(), &rows.to_single());
    assert_pca_comes_back(&Pca::new(2).fit(Samples::from(sparse(&x))).unwrap(), &rows);
    let mut stream = Pca::new(2).stream(5).unwrap();
    stream.partial_fit(&x).unwrap();
    assert_pca_comes_back(&stream.finish().unwrap(), &rows);
    // A tie is kept with the model.
    let square = Matrix::from_vec(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 4, 2).unwrap();
    let tied = Pca::new(1).fit(square).unwrap();
    assert!(!tied.certificate().ties.is_empty());
    assert_pca_comes_back(&tied, &correlated(3, 2, 63).into());
}

fn assert_whitening_comes_back(model: &FittedWhitening, new: &Matrix<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    model.save(&path).unwrap();
    let saved = std::fs::read(&path).unwrap();
    assert_eq!(saved, model.to_bytes().unwrap());
    for loaded in [FittedWhitening::load(&path).unwrap(), FittedWhitening::from_bytes(&saved).unwrap()] {
        assert_same(model.pca(), loaded.pca());
        assert_eq!(
            (model.method(), model.ridge(), model.rank()),
            (loaded.method(), loaded.ridge(), loaded.rank())
        );
        assert_eq!((model.statement(), model.distance()), (loaded.statement(), loaded.distance()));
        let z = model.transform(new).unwrap();
        assert_eq!(bits(&z), bits(&loaded.transform(new).unwrap()), "{}", model.method());
        assert_eq!(bits(&model.inverse_transform(&z).unwrap()), bits(&loaded.inverse_transform(&z).unwrap()));
        assert_eq!(loaded.to_bytes().unwrap(), saved);
    }
    let any = AnyModel::load(&path).unwrap();
    assert!(any.is::<FittedWhitening>());
    assert_eq!((any.fitted().method(), any.fitted().n_outputs()), ("whiten", model.n_outputs()));
    assert_eq!(any.fitted().warnings(), model.warnings());
}

#[test]
fn whitening_comes_back_bit_by_bit() {
    let (x, new) = (correlated(60, 5, 64), correlated(7, 5, 65));
    let lower = Matrix::from_fn(60, 5, |i, j| x[(i, j.min(3))]);
    for method in METHODS {
        assert_whitening_comes_back(&Whitening::new(method).fit(x.clone()).unwrap(), &new);
        assert_whitening_comes_back(&Whitening::new(method).ridge(0.2).fit(lower.clone()).unwrap(), &new);
        if method != WhiteningMethod::Cholesky {
            assert_whitening_comes_back(&Whitening::new(method).components(2).fit(x.clone()).unwrap(), &new);
            assert_whitening_comes_back(&Whitening::new(method).fit(correlated(4, 5, 66)).unwrap(), &new);
        }
    }
}

#[test]
fn a_model_of_another_method_is_refused_by_name() {
    let x = correlated(30, 3, 67);
    let pca = Pca::new(2).fit(x.clone()).unwrap().to_bytes().unwrap();
    let white = Whitening::new(WhiteningMethod::Zca).fit(x.clone()).unwrap().to_bytes().unwrap();
    let kernel = KernelPca::new(2).fit(x).unwrap().to_bytes().unwrap();
    let text = |error: Error| error.to_string();
    for (found, wanted, message) in [
        ("whiten", "pca", text(FittedPca::from_bytes(&white).unwrap_err())),
        ("kpca", "pca", text(FittedPca::from_bytes(&kernel).unwrap_err())),
        ("pca", "whiten", text(FittedWhitening::from_bytes(&pca).unwrap_err())),
        ("pca", "kpca", text(FittedKernelPca::from_bytes(&pca).unwrap_err())),
    ] {
        let said = format!("a model of the method {found}; here a model of the method {wanted} is read");
        assert!(message.contains(&said), "{message}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.safetensors");
    std::fs::write(&path, kernel).unwrap();
    assert!(AnyModel::load(&path).unwrap().is::<FittedKernelPca>());
    std::fs::write(&path, changed(&pca, |c| c.header["method"] = "tsne".into())).unwrap();
    assert!(AnyModel::load(&path).unwrap_err().to_string().contains("a model of the method tsne"));
}

fn small() -> Vec<u8> {
    Pca::new(2).standardize().fit(correlated(9, 3, 68)).unwrap().to_bytes().unwrap()
}

fn small_triangle() -> Vec<u8> {
    Whitening::new(WhiteningMethod::Cholesky)
        .ridge(0.1)
        .fit(correlated(9, 3, 69))
        .unwrap()
        .to_bytes()
        .unwrap()
}

/// The file after a change, with checksums that hold.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Crafted)) -> Vec<u8> {
    let mut crafted = Crafted::from(bytes);
    change(&mut crafted);
    crafted.file()
}

fn assert_refused(what: &str, error: &Error, part: &str) {
    assert!(matches!(error, Error::Model { .. }), "{what}: {error:?}");
    let message = error.to_string();
    assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
    assert!(message.contains("; ") && message.contains(". "), "{what}: three parts in \"{message}\"");
}

#[test]
fn every_truncation_and_every_flipped_bit_is_refused() {
    let (pca, white) = (small(), small_triangle());
    for length in 0..pca.len() {
        assert!(FittedPca::from_bytes(&pca[..length]).is_err(), "{length}");
    }
    for length in 0..white.len() {
        assert!(FittedWhitening::from_bytes(&white[..length]).is_err(), "{length}");
    }
    for at in 0..pca.len().max(white.len()) {
        let bit = 1 << (at % 8);
        let flipped = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= bit;
            bytes
        };
        assert!(at >= pca.len() || FittedPca::from_bytes(&flipped(&pca)).is_err(), "pca, byte {at}");
        assert!(
            at >= white.len() || FittedWhitening::from_bytes(&flipped(&white)).is_err(),
            "whiten, byte {at}"
        );
    }
}

/// Changes a field in the header and in its plan.
fn both(header: &mut Value, field: &str, value: Value) {
    header["plan"][field] = value.clone();
    header[field] = value;
}

type Case = (&'static str, fn(&mut Crafted), &'static str);

const CHANGES: &[Case] = &[
    ("plan missing", |c| drop(c.header.as_object_mut().unwrap().remove("plan")), "missing field `plan`"),
    ("negative count", |c| c.header["n_samples"] = (-5).into(), "the header cannot be read"),
    ("unknown route", |c| c.header["plan"]["route"] = "magic".into(), "magic"),
    ("no components", |c| c.header["n_components"] = 0.into(), "0 components of 9 rows with 3 columns"),
    ("components beyond columns", |c| c.header["n_components"] = 4.into(), "4 components of 9 rows"),
    ("one component more", |c| c.header["n_components"] = 3.into(), "has the shape"),
    ("one component less", |c| c.header["n_components"] = 1.into(), "2 of 1 components certified"),
    ("one row", |c| both(&mut c.header, "n_samples", 1.into()), "2 components of 1 rows"),
    ("no columns", |c| both(&mut c.header, "n_features", 0.into()), "with 0 columns"),
    ("columns beyond the arrays", |c| both(&mut c.header, "n_features", u64::MAX.into()), "has the shape"),
    ("plan disagrees", |c| c.header["plan"]["n_samples"] = 7.into(), "the plan and the model must agree"),
    ("precision", |c| both(&mut c.header, "precision", "f16".into()), "precision f16"),
    ("column names", |c| c.header["column_names"] = json!(["a"]), "1 column names for 3 features"),
    ("escape in a reason", |c| c.header["plan"]["reasons"] = json!(["\u{1b}[2J"]), "control characters"),
    ("escape in the engine", |c| c.header["plan"]["engine"] = "\u{7}".into(), "control characters"),
    ("ties", |c| c.header["ties"] = json!([[0, 9]]), "components 0 to 9 named as tied"),
    ("ties turned", |c| c.header["ties"] = json!([[1, 1]]), "components 1 to 1 named as tied"),
    ("certified", |c| c.header["bounds"]["n_certified"] = 3.into(), "3 of 2 components certified"),
    ("standardised no more", |c| c.header["plan"]["standardized"] = false.into(), "an array \"scale\""),
    ("no spectrum", |c| c.arrays.retain(|a| a.name != "spectrum"), "no array \"spectrum\""),
    ("no centre", |c| c.arrays.retain(|a| a.name != "center"), "no array \"center\""),
    ("no scale", |c| c.arrays.retain(|a| a.name != "scale"), "no array \"scale\""),
    ("transposed", |c| c.array("coefficients").shape = vec![2, 3], "has the shape [2, 3]"),
    ("integers", |c| c.array("coefficients").dtype = "I64".into(), "has the type I64"),
    ("NaN axis", |c| c.put("coefficients", 1, f64::NAN), "coefficients[0, 1] is NaN"),
    ("infinite mean", |c| c.put("center", 2, f64::INFINITY), "center[2] is inf"),
    ("deviation zero", |c| c.put("scale", 0, 0.0), "scale[0] is 0; a standard deviation"),
    ("deviation negative", |c| c.put("scale", 1, -1.0), "scale[1] is -1; a standard deviation"),
    ("deviation NaN", |c| c.put("scale", 1, f64::NAN), "scale[1] is NaN"),
    (
        "spectrum rising",
        |c| c.put("spectrum", 1, 1e9),
        "and the next 1000000000; eigenvalues must be positive and in descending order",
    ),
    ("spectrum zero", |c| c.put("spectrum", 2, 0.0), "must be positive and in descending order"),
    ("spectrum negative", |c| c.put("spectrum", 2, -1e-3), "must be positive"),
    ("n zero", |c| c.put("sums", 0, 0.0), "n, total and rounding are"),
    ("total negative", |c| c.put("sums", 1, -1.0), "sums[1] is -1; sums of squares are not negative"),
    ("rounding negative", |c| c.put("sums", 2, -1.0), "sums[2] is -1; sums of squares are not negative"),
    (
        "residual negative",
        |c| c.put("residuals", 0, -0.1),
        "residuals[0] is -0.1; a residual is not negative",
    ),
    ("interval turned", |c| c.put("intervals", 1, -1e9), "intervals[0] runs from"),
];

const WHITE_CHANGES: &[Case] = &[
    ("no method", |c| drop(c.header.as_object_mut().unwrap().remove("whitening")), "does not say which"),
    ("unknown method", |c| c.header["whitening"]["method"] = "ica".into(), "the header cannot be read"),
    (
        "negative ridge",
        |c| c.header["whitening"]["ridge"] = (-0.5).into(),
        "ridge -0.5; it must be 0 or a positive",
    ),
    ("ridge as text", |c| c.header["whitening"]["ridge"] = "1".into(), "the header cannot be read"),
    ("another method", |c| c.header["whitening"]["method"] = "zca".into(), "an array \"triangle\""),
    ("no triangle", |c| c.arrays.retain(|a| a.name != "triangle"), "no array \"triangle\""),
    ("below the diagonal", |c| c.put("triangle", 3, 0.1), "a triangle that is none"),
    ("diagonal zero", |c| c.put("triangle", 4, 0.0), "a triangle that is none"),
    ("diagonal negative", |c| c.put("triangle", 0, -1.0), "a triangle that is none"),
    ("NaN", |c| c.put("triangle", 2, f64::NAN), "triangle[0, 2] is NaN"),
    (
        "spectrum rising",
        |c| c.put("spectrum", 1, 1e9),
        "and the next 1000000000; eigenvalues must be positive and in descending order",
    ),
];

#[test]
fn hostile_files_with_valid_checksums_are_refused() {
    FittedPca::from_bytes(&changed(&small(), |_| ())).unwrap();
    FittedWhitening::from_bytes(&changed(&small_triangle(), |_| ())).unwrap();
    for (what, change, part) in CHANGES {
        assert_refused(what, &FittedPca::from_bytes(&changed(&small(), change)).expect_err(what), part);
    }
    for (what, change, part) in WHITE_CHANGES {
        let error = FittedWhitening::from_bytes(&changed(&small_triangle(), change)).expect_err(what);
        assert_refused(what, &error, part);
    }
    // The other way round: a method that needs a triangle and has none.
    let zca = Whitening::new(WhiteningMethod::Zca).fit(correlated(9, 3, 70)).unwrap().to_bytes().unwrap();
    let cholesky = changed(&zca, |c| c.header["whitening"]["method"] = "cholesky".into());
    assert_refused("cholesky", &FittedWhitening::from_bytes(&cholesky).unwrap_err(), "no array \"triangle\"");
}

/// Numbers of any size load or not, and never panic when used.
#[test]
fn extreme_numbers_never_panic() {
    let x = correlated(3, 3, 71);
    for value in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.0] {
        for name in ["coefficients", "center", "scale", "sums", "spectrum"] {
            let bytes = changed(&small(), |c| (0..3).for_each(|at| c.put(name, at, value)));
            if let Ok(model) = FittedPca::from_bytes(&bytes) {
                let _ = (
                    model.transform(&x),
                    model.reconstruction(&x),
                    model.loadings(),
                    model.residual_errors(),
                );
                let _ = (model.inverse_transform(&Matrix::zeros(1, 2)), model.to_bytes());
            }
        }
        for name in ["triangle", "center", "spectrum"] {
            let bytes = changed(&small_triangle(), |c| c.put(name, 0, value));
            if let Ok(model) = FittedWhitening::from_bytes(&bytes) {
                let _ =
                    (model.transform(&x), model.inverse_transform(&x), model.distance(), model.to_bytes());
            }
        }
    }
}
