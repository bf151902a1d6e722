//! Files that are no models, damaged models, and models made to do harm.

use super::craft::{
    Crafted, Tap, assert_refused, both, changed, raw_file, small, small_precomputed, small_sparse,
};
use super::rows;
use eigenlift::methods::FittedKernelPca;
use serde_json::{Value, json};

/// What is tried, the change that makes it, and parts of the message.
type Case<T> = (&'static str, fn(&mut T), &'static [&'static str]);

#[test]
fn putting_a_file_together_again_loads() {
    for model in [small(), small_sparse(), small_precomputed()] {
        FittedKernelPca::from_bytes(&changed(&model, |_| ())).unwrap();
    }
}

#[test]
fn other_files_are_not_taken_for_models() {
    let table = |text: &str| raw_file(text, &[]);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let foreign = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let noted = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let huge = r#"{"w":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]}}"#;
    let overflow = r#"{"w":{"dtype":"F64","shape":[4294967296,4294967296,4],"data_offsets":[0,8]}}"#;
    let lying = r#"{"w":{"dtype":"F64","shape":[3],"data_offsets":[0,16]}}"#;
    let gap = r#"{"w":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}"#;
    let backwards = r#"{"w":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}}"#;
    let deep = format!("{{\"w\":{}", "[".repeat(100_000));
    let mut claims = 99_000_000u64.to_le_bytes().to_vec();
    claims.extend_from_slice(b"{\"a\":1}");
    let cases: [(&str, Vec<u8>, &[&str]); 19] = [
        ("empty", vec![], &["an empty file; a model is a safetensors file"]),
        ("one byte", vec![7], &["a file of 1 bytes; a model is"]),
        (
            "CSV",
            b"sepal,petal\n5.1,3.5\n".to_vec(),
            &["not a safetensors file; a model is", "Give a file that eigenlift"],
        ),
        ("PNG", png.to_vec(), &["not a safetensors file; a model is"]),
        ("JSON", br#"{"format_version": 1}"#.to_vec(), &["not a safetensors file"]),
        ("zeros", vec![0; 4096], &["not a safetensors file"]),
        ("all ones", vec![255; 64], &["not a safetensors file"]),
        ("table that is no JSON", table("{hello, world}"), &["its table is not JSON"]),
        ("table that is no text", raw_file("{", &[255, 254]).tap(|b| b[0] = 3), &["its table is not text"]),
        ("table of a list", table("{\"a\":[1,2]}"), &["the table of arrays cannot be used"]),
        ("deep table", table(&deep), &["its table is not JSON"]),
        ("table longer than the file", claims, &["should take 99000000 bytes and 7 are there", "truncated"]),
        (
            "another program's",
            raw_file(foreign, &[0; 8]),
            &["of another program", "without the metadata \"eigenlift\""],
        ),
        ("another program's, noted", raw_file(noted, &[0; 8]), &["of another program"]),
        ("terabytes", raw_file(huge, &[0; 8]), &["of another program"]),
        ("overflow", raw_file(overflow, &[0; 8]), &["the table of arrays cannot be used", "overflow"]),
        ("shape and place differ", raw_file(lying, &[0; 16]), &["cannot be used", "invalid shape"]),
        ("gap", raw_file(gap, &[0; 16]), &["cannot be used", "invalid offset for tensor `w`"]),
        ("backwards", raw_file(backwards, &[0; 16]), &["cannot be used", "invalid offset"]),
    ];
    for (what, bytes, parts) in &cases {
        assert_refused(what, bytes, parts);
    }
}

/// A small file with a sound header whose table claims 16 TiB of samples.
fn terabytes(header: &str) -> Vec<u8> {
    let header = serde_json::to_string(header).unwrap();
    let samples = r#""samples":{"dtype":"F64","shape":[1099511627776,2],"data_offsets":[0,17592186044416]}"#;
    raw_file(&format!("{{\"__metadata__\":{{\"eigenlift\":{header}}},{samples}}}"), &[0; 80])
}

#[test]
fn damaged_models_are_refused() {
    let good = small().to_bytes().unwrap();
    let crafted = Crafted::from(&good);
    let text = crafted.header_text();
    let with = |header: &str| crafted.file_with(header);
    let newer = changed(&small(), |c| {
        c.header["format_version"] = 7.into();
        c.header["eigenlift_version"] = "9.1.0\u{1b}[31m".into();
        c.header.as_object_mut().unwrap().remove("plan");
    });
    let cases: [(&str, Vec<u8>, &[&str]); 12] = [
        (
            "trailing",
            good.clone().tap(|b| b.extend_from_slice(b"more")),
            &["4 bytes follow the last array; the file must end"],
        ),
        ("one trailing", good.clone().tap(|b| b.push(0)), &["1 bytes follow the last array"]),
        (
            "cut",
            good.clone().tap(|b| b.truncate(b.len() - 1)),
            &["the file should have", "the file is truncated. Copy"],
        ),
        ("cut in the table", good[..200].to_vec(), &["the table should take", "the file is truncated"]),
        (
            "last byte",
            good.clone().tap(|b| *b.last_mut().unwrap() ^= 1),
            &["the arrays do not match their checksum"],
        ),
        ("terabytes", terabytes(&text), &["the file should have 1759218604", "truncated"]),
        (
            "newer",
            newer,
            &[
                "written by eigenlift 9.1.0\\u{1b}[31m with format 7; this version reads up to 1. Upgrade eigenlift",
            ],
        ),
        (
            "version 0",
            changed(&small(), |c| c.header["format_version"] = 0.into()),
            &["format version 0; versions count"],
        ),
        ("header is no JSON", with("model"), &["the header cannot be read"]),
        ("header is empty", with("{}"), &["the header cannot be read", "missing field `format_version`"]),
        (
            "header altered",
            with(&text.replace("gamma=0.5", "gamma=0.7")),
            &["the header does not match its checksum"],
        ),
        (
            "header without checksum",
            with(&Crafted::from(&good).header.to_string()),
            &["does not end with its checksum"],
        ),
    ];
    for (what, bytes, parts) in &cases {
        assert_refused(what, bytes, parts);
    }
}

const HEADERS: &[Case<Value>] = &[
    ("field missing", |h| drop(h.as_object_mut().unwrap().remove("plan")), &["missing field `plan`"]),
    ("negative count", |h| h["n_samples"] = (-5).into(), &["the header cannot be read", "-5"]),
    ("count as text", |h| h["n_samples"] = "5".into(), &["the header cannot be read"]),
    ("count beyond range", |h| h["n_components"] = json!(1e30), &["the header cannot be read"]),
    ("number beyond range", |h| h["centered_trace"] = Value::Null, &["the header cannot be read"]),
    (
        "unknown method",
        |h| h["method"] = "isomap".into(),
        &["of the method isomap; here a model of the method kpca"],
    ),
    ("method with an escape", |h| h["method"] = "\u{1b}[2J".into(), &["of the method \\u{1b}[2J"]),
    (
        "unknown kernel",
        |h| both(h, "kernel", "fractal(1)".into()),
        &["the kernel in the header cannot be used", "fractal"],
    ),
    ("empty kernel", |h| both(h, "kernel", "".into()), &["the kernel description is empty"]),
    (
        "kernel not resolved",
        |h| both(h, "kernel", "rbf(gamma=median)".into()),
        &["still to be found from data"],
    ),
    ("negative gamma", |h| both(h, "kernel", "rbf(gamma=-1)".into()), &["gamma of rbf is -1"]),
    ("absurd width", |h| both(h, "kernel", "rbf(sigma=1e-300)".into()), &["gamma inf"]),
    ("feature 999", |h| both(h, "kernel", "expr(x999*y999)".into()), &["uses feature 999, the data has 2"]),
    (
        "feature beyond range",
        |h| both(h, "kernel", "expr(x99999999999999999999)".into()),
        &["cannot be used"],
    ),
    ("deep kernel", |h| both(h, "kernel", "(".repeat(30_000).into()), &["levels"]),
    ("long kernel", |h| both(h, "kernel", "linear+".repeat(30_000).into()), &["bytes; at most"]),
    (
        "kernel not as planned",
        |h| h["kernel"] = "linear".into(),
        &["a plan for the kernel rbf(gamma=0.5) in a model of linear"],
    ),
    (
        "precomputed with samples",
        |h| both(h, "kernel", "precomputed".into()),
        &["an array \"samples\"; a kpca model has"],
    ),
    ("no samples", |h| both(h, "n_samples", 0.into()), &["2 components of 0 samples"]),
    ("no features", |h| both(h, "n_features", 0.into()), &["with 0 features"]),
    ("no components", |h| h["n_components"] = 0.into(), &["0 components of 5 samples"]),
    (
        "components beyond samples",
        |h| both(h, "n_components", 6.into()),
        &["6 components of 5", "fewer components"],
    ),
    (
        "samples beyond the array",
        |h| both(h, "n_samples", 1_000_000.into()),
        &["has the shape [5, 2]; the header makes it [1000000, 2]"],
    ),
    (
        "largest count",
        |h| both(h, "n_samples", u64::MAX.into()),
        &["the header makes it [18446744073709551615, 2]"],
    ),
    ("plan disagrees", |h| h["plan"]["n_samples"] = 6.into(), &["a plan for 2 of 6 samples", "must agree"]),
    ("plan asks for less", |h| h["plan"]["n_components"] = 1.into(), &["a plan for 1 of 5 samples"]),
    ("unknown solver", |h| h["plan"]["solver"] = "magic".into(), &["the header cannot be read", "magic"]),
    ("unknown precision", |h| both(h, "precision", "f16".into()), &["precision f16", "f32 or f64"]),
    (
        "other precision",
        |h| both(h, "precision", "f32".into()),
        &["array \"samples\" has the type F64; it must be F32"],
    ),
    ("column names", |h| h["column_names"] = json!(["a", "b", "c"]), &["3 column names for 2 features"]),
    ("ties", |h| h["ties"] = json!([[0, u64::MAX]]), &["components 0 to 18446744073709551615 named as tied"]),
    (
        "escape in a warning",
        |h| h["warnings"] = json!(["\u{7}"]),
        &["the text \"\\u{7}\" in the header", "control"],
    ),
];

#[test]
fn hostile_headers_with_valid_checksums_are_refused() {
    for (what, change, parts) in HEADERS {
        assert_refused(what, &changed(&small(), |c| change(&mut c.header)), parts);
    }
}

const ARRAYS: &[Case<Crafted>] = &[
    (
        "no coefficients",
        |c| c.arrays.retain(|a| a.name != "coefficients"),
        &["no array \"coefficients\"; a kpca model needs"],
    ),
    ("no samples", |c| c.arrays.retain(|a| a.name != "samples"), &["no array \"samples\""]),
    ("no arrays", |c| c.arrays.clear(), &["no array \"samples\""]),
    (
        "another array",
        |c| c.arrays.push(c.arrays[0].clone().renamed("payload\u{7}")),
        &["an array \"payload\\u{7}\"; a kpca model has"],
    ),
    (
        "integers",
        |c| c.array("coefficients").dtype = "I64".into(),
        &["\"coefficients\" has the type I64; it must be F64"],
    ),
    (
        "halves",
        |c| {
            let a = c.array("offset");
            a.dtype = "F32".into();
            a.shape = vec![4];
        },
        &["\"offset\" has the type F32"],
    ),
    (
        "transposed",
        |c| c.array("coefficients").shape = vec![2, 5],
        &["has the shape [2, 5]; the header makes it [5, 2]"],
    ),
    ("flat", |c| c.array("samples").shape = vec![10], &["has the shape [10]"]),
    (
        "NaN sample",
        |c| c.put("samples", 3, f64::NAN),
        &["samples[1, 1] is NaN", "every number of a model must be finite"],
    ),
    ("infinite coefficient", |c| c.put("coefficients", 9, f64::INFINITY), &["coefficients[4, 1] is inf"]),
    ("NaN offset", |c| c.put("offset", 1, f64::NAN), &["offset[1] is NaN"]),
    ("NaN interval", |c| c.put("intervals", 2, f64::NAN), &["intervals[1, 0] is NaN"]),
    ("infinite residual", |c| c.put("residuals", 0, f64::NEG_INFINITY), &["residuals[0] is -inf"]),
    (
        "negative residual",
        |c| c.put("residuals", 1, -0.5),
        &["residuals[1] is -0.5; a residual is not negative"],
    ),
    (
        "interval turned",
        |c| c.put("intervals", 1, -1e9),
        &["intervals[0] runs from", "the lower bound comes first"],
    ),
    ("eigenvalue zero", |c| c.put("eigenvalues", 1, 0.0), &["eigenvalues[1] is 0; a component that is kept"]),
    ("eigenvalue minus zero", |c| c.put("eigenvalues", 0, -0.0), &["eigenvalues[0] is -0;"]),
    ("eigenvalue negative", |c| c.put("eigenvalues", 1, -0.1), &["eigenvalues[1] is -0.1"]),
    (
        "eigenvalues rising",
        |c| c.put("eigenvalues", 1, 1e6),
        &["eigenvalues[0] is", "and the next 1000000; eigenvalues must be in descending"],
    ),
    (
        "flipped, rising",
        |c| {
            c.header["plan"]["repair"] = "flip".into();
            c.put("eigenvalues", 1, -1e6);
        },
        &["and the next -1000000"],
    ),
    (
        "trace",
        |c| c.put("centered_trace", 0, 1.0),
        &["centered_trace is 1 in its array and", "both must agree"],
    ),
    (
        "rounding",
        |c| {
            c.header["rounding"] = (-1.0).into();
            c.put("rounding", 0, -1.0);
        },
        &["rounding is -1;"],
    ),
    ("trace NaN", |c| c.put("centered_trace", 0, f64::NAN), &["centered_trace[0] is NaN"]),
    (
        "samples the kernel cannot take",
        |c| {
            both(&mut c.header, "kernel", "chi2(gamma=1)".into());
            c.put("samples", 0, -1.0);
        },
        &["the samples: row 1, column 1 is -1"],
    ),
];

#[test]
fn hostile_arrays_with_valid_checksums_are_refused() {
    for (what, change, parts) in ARRAYS {
        assert_refused(what, &changed(&small(), change), parts);
    }
}

fn offset(c: &mut Crafted, at: usize, value: u64) {
    c.array("samples.offsets").bytes[at * 8..][..8].copy_from_slice(&value.to_le_bytes());
}
fn column(c: &mut Crafted, at: usize, value: u32) {
    c.array("samples.columns").bytes[at * 4..][..4].copy_from_slice(&value.to_le_bytes());
}

const SPARSE: &[Case<Crafted>] = &[
    (
        "first offset",
        |c| offset(c, 0, 1),
        &["the samples: sparse rows with 9 offsets", "offsets must rise from 0"],
    ),
    ("last offset", |c| offset(c, 8, 1 << 60), &["the samples: sparse rows with 9 offsets"]),
    ("offsets fall", |c| offset(c, 2, u64::MAX), &["the samples: sparse row 1 runs from"]),
    (
        "column beyond",
        |c| column(c, 0, u32::MAX),
        &["the samples: sparse row 0 has columns out of order or beyond 4"],
    ),
    ("no columns", |c| c.arrays.retain(|a| a.name != "samples.columns"), &["no array \"samples.columns\""]),
    ("no values", |c| c.arrays.retain(|a| a.name != "samples.values"), &["no array \"samples.values\""]),
    (
        "no offsets",
        |c| c.arrays.retain(|a| a.name != "samples.offsets"),
        &["an array \"samples.columns\"; a kpca model has"],
    ),
    (
        "dense as well",
        |c| {
            let values = c.array("samples.values").clone();
            c.arrays.push(values.renamed("samples"));
        },
        &["an array \"samples\"; a kpca"],
    ),
    (
        "values with two dimensions",
        |c| c.array("samples.values").shape.push(1),
        &["\"samples.values\" has the shape", "one dimension"],
    ),
    ("fewer features", |c| both(&mut c.header, "n_features", 1.into()), &["beyond 1"]),
    ("NaN value", |c| c.put("samples.values", 2, f64::NAN), &["samples.values[2] is NaN"]),
];

#[test]
fn hostile_sparse_and_precomputed_models_are_refused() {
    for (what, change, parts) in SPARSE {
        assert_refused(what, &changed(&small_sparse(), change), parts);
    }
    let features = changed(&small_precomputed(), |c| both(&mut c.header, "n_features", 5.into()));
    assert_refused(
        "precomputed features",
        &features,
        &["a precomputed kernel with 5 features and 6 samples"],
    );
}

#[test]
fn every_truncation_is_refused() {
    for model in [small(), small_sparse(), small_precomputed()] {
        let bytes = model.to_bytes().unwrap();
        for length in 0..bytes.len() {
            let message = FittedKernelPca::from_bytes(&bytes[..length]).unwrap_err().to_string();
            assert!(length < 9 || message.contains("truncated"), "{length}: {message}");
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let mut bytes = small().to_bytes().unwrap();
    let table = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let message =
                FittedKernelPca::from_bytes(&bytes).expect_err(&format!("byte {at}, bit {bit}")).to_string();
            assert!(
                at < table || message.contains("the arrays do not match their checksum"),
                "{at}: {message}"
            );
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(FittedKernelPca::from_bytes(&bytes).is_ok());
}

/// Files with valid checksums whose numbers are extreme load or not, and never panic when used.
#[test]
fn extreme_numbers_never_panic() {
    for kernel in
        ["polynomial(degree=300)", "expr(1/(x1-y1))", "rbf(gamma=1e300)", "sigmoid(gamma=1e308)", "cosine"]
    {
        for value in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0] {
            let bytes = changed(&small(), |c| {
                both(
                    &mut c.header,
                    "kernel",
                    kernel.parse::<eigenlift::kernel::KernelSpec>().unwrap().to_string().into(),
                );
                (0..10).for_each(|at| c.put("samples", at, value));
                (0..10).for_each(|at| c.put("coefficients", at, value));
            });
            if let Ok(model) = FittedKernelPca::from_bytes(&bytes) {
                let _ = model.transform(&rows(3, 2));
                let _ = (model.scores().unwrap(), model.explained_variance_ratio(), model.plan().to_string());
            }
        }
    }
}
