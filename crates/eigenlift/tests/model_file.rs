//! Model files: every bit comes back, and nothing else is taken for one.

use eigenlift::data::{AnySamples, Csr, Samples};
use eigenlift::eigen::Indefinite;
use eigenlift::error::Error;
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::model::{FORMAT_VERSION, read_header};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Rows without any symmetry, the same in each run.
fn rows(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| ((i * 37 + j * 17 + 5) as f64 * 0.7318).sin() * 2.0 + j as f64 * 0.1)
}

fn single(x: &Matrix<f64>) -> Matrix<f32> {
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] as f32)
}

fn sparse(n: usize, d: usize) -> Csr<f64> {
    let x = rows(n, d);
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for j in (0..d).filter(|j| (i * 5 + j * 3) % 4 == 0) {
            columns.push(j as u32);
            values.push(x[(i, j)]);
        }
        offsets.push(values.len());
    }
    Csr::new(offsets, columns, values, d).unwrap()
}

fn bits(m: &Matrix<f64>) -> Vec<u64> {
    m.as_slice().iter().map(|x| x.to_bits()).collect()
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// Saves, loads and compares everything that a person can see.
fn assert_round_trip(model: &FittedKernelPca, new: &AnySamples) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model.save(&path).unwrap();
    let loaded = FittedKernelPca::load(&path).unwrap();
    assert_eq!(bits(&model.transform(new.points()).unwrap()), bits(&loaded.transform(new.points()).unwrap()));
    assert_eq!(bits(&model.scores()), bits(&loaded.scores()));
    assert_eq!(bits(model.coefficients()), bits(loaded.coefficients()));
    assert!(same_bits(model.eigenvalues(), loaded.eigenvalues()));
    assert!(same_bits(&model.projection().offset, &loaded.projection().offset));
    assert!(same_bits(&model.explained_variance_ratio(), &loaded.explained_variance_ratio()));
    assert_eq!(model.total().to_bits(), loaded.total().to_bits());
    assert_eq!(model.certificate(), loaded.certificate());
    assert_eq!(model.plan(), loaded.plan());
    assert_eq!(model.stats(), loaded.stats());
    assert_eq!(model.warnings(), loaded.warnings());
    assert_eq!(model.column_names(), loaded.column_names());

    let saved = std::fs::read(&path).unwrap();
    assert_eq!(saved, model.to_bytes().unwrap());
    assert_eq!(saved, loaded.to_bytes().unwrap(), "saving what was loaded gives the same file");
    let again = FittedKernelPca::from_bytes(&saved).unwrap();
    assert_eq!(bits(&again.transform(new.points()).unwrap()), bits(&model.transform(new.points()).unwrap()));
    assert_eq!(names_in(folder.path()), ["model.safetensors"], "no temporary file is left");

    let header = read_header(&path).unwrap();
    assert_eq!(header.method, "kpca");
    assert_eq!(header.format_version, FORMAT_VERSION);
    assert_eq!((header.n_samples, header.n_components), (model.n_samples(), model.n_components()));
    assert_eq!(header.n_features, new.n_cols());
    assert_eq!(header.plan, *model.plan());
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn spec(text: &str) -> eigenlift::kernel::KernelSpec {
    text.parse().unwrap()
}

#[test]
fn double_precision_comes_back() {
    let model =
        KernelPca::new(3).column_names(["a", "b\n", "ü", "d\""].map(String::from).to_vec()).fit(rows(30, 4));
    assert_round_trip(&model.unwrap(), &rows(7, 4).into());
}

#[test]
fn single_precision_comes_back() {
    let model = KernelPca::new(3).fit(single(&rows(30, 4))).unwrap();
    assert_round_trip(&model, &single(&rows(7, 4)).into());
    assert_round_trip(&model, &rows(7, 4).into());
}

#[test]
fn sparse_samples_come_back() {
    let model = KernelPca::new(3).kernel(spec("linear")).fit(Samples::from(sparse(40, 9))).unwrap();
    assert_round_trip(&model, &Samples::from(sparse(6, 9)).into());
    assert_round_trip(&model, &rows(6, 9).into());
    let bytes = model.to_bytes().unwrap();
    assert!(bytes.len() < 40 * 9 * 8 + 40 * 3 * 8 + 4000, "zeros are not stored");
}

#[test]
fn a_precomputed_kernel_comes_back_without_samples() {
    let x = rows(25, 3);
    let kernel = Kernel::new(&spec("rbf(gamma=0.3)"), 3).unwrap();
    let gram = kernel.matrix((&x).into(), (&x).into());
    let model = KernelPca::new(4).kernel(spec("precomputed")).fit(gram).unwrap();
    let y = rows(5, 3);
    assert_round_trip(&model, &kernel.matrix((&y).into(), (&x).into()).into());
    let bytes = model.to_bytes().unwrap();
    assert!(safetensors::SafeTensors::deserialize(&bytes).unwrap().tensor("samples").is_err());
}

#[test]
fn flipped_eigenvalues_come_back() {
    let kernel = spec("sigmoid(gamma=0.9, coef0=-1)");
    let model = KernelPca::new(12).kernel(kernel).repair(Indefinite::Flip).fit(rows(30, 4)).unwrap();
    assert!(model.eigenvalues().iter().any(|v| *v < 0.0), "{:?}", model.eigenvalues());
    assert_round_trip(&model, &rows(7, 4).into());
}

#[test]
fn formulas_sums_and_ties_come_back() {
    for kernel in [
        "expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)",
        "map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)",
        "0.5*rbf(gamma=median) + linear*polynomial(degree=2)",
    ] {
        let model = KernelPca::new(9).kernel(spec(kernel)).fit(rows(20, 2)).unwrap();
        assert_round_trip(&model, &rows(3, 2).into());
    }
    let square = Matrix::from_vec(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 4, 2).unwrap();
    let model = KernelPca::new(2).kernel(spec("rbf(gamma=0.5)")).fit(square).unwrap();
    assert!(!model.certificate().ties.is_empty());
    assert_round_trip(&model, &rows(3, 2).into());
}

#[test]
fn the_file_is_plain_safetensors() {
    let model = KernelPca::new(2).fit(Samples::from(sparse(12, 5))).unwrap();
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let (_, table) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(bytes, safetensors::serialize(file.tensors(), table.metadata().clone()).unwrap());
    let eigenvalues = file.tensor("eigenvalues").unwrap();
    assert_eq!(eigenvalues.data()[..8], model.eigenvalues()[0].to_le_bytes());
}

#[test]
fn a_function_cannot_be_saved() {
    let kernel = Kernel::from_fn("mine", |x, y| x.iter().zip(y).map(|(a, b)| a * b).sum());
    let model = KernelPca::new(2).ready_kernel(kernel).fit(rows(10, 2)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let message = model.save(&folder.path().join("m.safetensors")).unwrap_err().to_string();
    assert!(message.starts_with("the kernel mine is a function; a model file holds"), "{message}");
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn a_kernel_that_is_ready_and_has_a_description_can_be_saved() {
    let kernel = Kernel::new(&spec("laplacian(gamma=0.25)"), 3).unwrap();
    let model = KernelPca::new(2).ready_kernel(kernel).fit(rows(10, 3)).unwrap();
    assert_round_trip(&model, &rows(4, 3).into());
}

#[test]
fn a_failed_save_leaves_everything_as_it_was() {
    let model = KernelPca::new(2).fit(rows(10, 2)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let missing = model.save(&folder.path().join("nowhere/m.safetensors")).unwrap_err().to_string();
    assert!(
        missing.contains("nowhere") && missing.contains("creating a file in its folder failed"),
        "{missing}"
    );
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "x").unwrap();
    let message = model.save(&taken).unwrap_err().to_string();
    assert!(message.contains("there is a folder or device of that name"), "{message}");
    assert!(model.save(Path::new("/")).is_err());
    assert!(model.save(Path::new("")).is_err());
    assert_eq!(names_in(folder.path()), ["taken"]);
    assert_eq!(names_in(&taken), ["inside"]);
    // A model that cannot be written leaves the older file alone.
    let path = folder.path().join("m.safetensors");
    model.save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let function = Kernel::from_fn("mine", |x, y| x[0] * y[0]);
    assert!(KernelPca::new(1).ready_kernel(function).fit(rows(10, 2)).unwrap().save(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // One that can replaces it.
    KernelPca::new(1).fit(rows(10, 2)).unwrap().save(&path).unwrap();
    assert_eq!(read_header(&path).unwrap().n_components, 1);
    assert_eq!(names_in(folder.path()), ["m.safetensors", "taken"]);
}

#[cfg(unix)]
#[test]
fn links_permissions_devices_and_full_disks() {
    use std::os::unix::fs::PermissionsExt;
    let model = KernelPca::new(2).fit(rows(10, 2)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (path, link, plain) =
        (folder.path().join("m"), folder.path().join("link"), folder.path().join("plain"));
    std::fs::write(&path, "old").unwrap();
    std::fs::write(&plain, "").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    model.save(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink(), "the link stays");
    assert_eq!(std::fs::read(&path).unwrap(), model.to_bytes().unwrap());
    let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
    assert!(model.save(Path::new("/dev/null")).unwrap_err().to_string().contains("folder or device"));
    let device = FittedKernelPca::load(Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(device.contains("/dev/zero: a pipe or device; a model is a file"), "{device}");
    let long = folder.path().join("ü".repeat(120) + ".safetensors");
    model.save(&long).unwrap();
    assert!(read_header(&long).is_ok());
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = FittedKernelPca::load(&folder.path().join("none")).unwrap_err();
    assert!(
        matches!(missing, Error::Io { .. }) && missing.to_string().contains("none: reading the model failed")
    );
    let message = read_header(folder.path()).unwrap_err().to_string();
    assert!(message.contains(": a folder; a model is a file. Give the path"), "{message}");
    let table = folder.path().join("data.csv");
    std::fs::write(&table, "a,b,c\n1,2,3\n").unwrap();
    let message = FittedKernelPca::load(&table).unwrap_err().to_string();
    assert!(message.contains("data.csv: not a safetensors file; a model is"), "{message}");
}

/// A model file taken apart, to be changed and put together again with checksums that hold.
#[derive(Clone)]
struct Crafted {
    header: Value,
    arrays: Vec<Piece>,
}

#[derive(Clone)]
struct Piece {
    name: String,
    dtype: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn digest(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A safetensors file with this table and these bytes.
fn raw_file(table: &str, data: &[u8]) -> Vec<u8> {
    let mut out = (table.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(table.as_bytes());
    out.extend_from_slice(data);
    out
}

impl Crafted {
    fn from(bytes: &[u8]) -> Self {
        let (_, table) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
        let header = serde_json::from_str(&table.metadata().as_ref().unwrap()["eigenlift"]).unwrap();
        let mut arrays: Vec<Piece> = safetensors::SafeTensors::deserialize(bytes)
            .unwrap()
            .tensors()
            .into_iter()
            .map(|(name, view)| Piece {
                name,
                dtype: view.dtype().to_string(),
                shape: view.shape().to_vec(),
                bytes: view.data().to_vec(),
            })
            .collect();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        Self { header, arrays }
    }

    fn array(&mut self, name: &str) -> &mut Piece {
        self.arrays.iter_mut().find(|piece| piece.name == name).unwrap()
    }

    fn put(&mut self, name: &str, at: usize, value: f64) {
        self.array(name).bytes[at * 8..][..8].copy_from_slice(&value.to_le_bytes());
    }

    /// The header's text, with the checksum of the arrays and its own.
    fn header_text(&self) -> String {
        let mut sum = Sha256::new();
        let mut arrays = self.arrays.clone();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        for Piece { name, dtype, shape, bytes } in &arrays {
            sum.update(format!("{name}\0{dtype}\0{shape:?}\0"));
            sum.update(bytes);
        }
        let mut header = self.header.clone();
        if let Some(fields) = header.as_object_mut() {
            fields.remove("header_sha256");
            if fields.contains_key("sha256") {
                fields["sha256"] = digest(sum).into();
            }
        }
        let text = header.to_string();
        let open = format!("{},\"header_sha256\":\"", text.strip_suffix('}').unwrap_or(&text));
        let own = digest(Sha256::new().chain_update(&open).chain_update("\"}"));
        format!("{open}{own}\"}}")
    }

    fn file(&self) -> Vec<u8> {
        self.file_with(&self.header_text())
    }

    fn file_with(&self, header: &str) -> Vec<u8> {
        let mut table = json!({"__metadata__": {"eigenlift": header}});
        let mut data = Vec::new();
        for Piece { name, dtype, shape, bytes } in &self.arrays {
            let from = data.len();
            data.extend_from_slice(bytes);
            table[name] = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]});
        }
        raw_file(&table.to_string(), &data)
    }
}

fn small() -> FittedKernelPca {
    KernelPca::new(2).kernel(spec("rbf(gamma=0.5)")).fit(rows(5, 2)).unwrap()
}

fn small_sparse() -> FittedKernelPca {
    KernelPca::new(2).kernel(spec("linear")).fit(Samples::from(sparse(8, 4))).unwrap()
}

fn small_precomputed() -> FittedKernelPca {
    let x = rows(6, 2);
    let gram = Kernel::new(&spec("linear"), 2).unwrap().matrix((&x).into(), (&x).into());
    KernelPca::new(2).kernel(spec("precomputed")).fit(gram).unwrap()
}

/// The small model after a change, with checksums that hold.
fn changed(model: &FittedKernelPca, change: impl FnOnce(&mut Crafted)) -> Vec<u8> {
    let mut crafted = Crafted::from(&model.to_bytes().unwrap());
    change(&mut crafted);
    crafted.file()
}

fn assert_refused(what: &str, bytes: &[u8], parts: &[&str]) {
    let error = FittedKernelPca::from_bytes(bytes).expect_err(what);
    assert!(matches!(error, Error::Model { .. }), "{what}: {error:?}");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{what}: \"{part}\" is not in \"{message}\"");
    }
    assert!(message.contains("; ") && message.contains(". "), "{what}: three parts in \"{message}\"");
    assert!(message.len() < 700 && !message.contains(char::is_control), "{what}: {message}");
}

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

/// Changes a value in passing.
trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
impl Tap for Vec<u8> {}

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
    let terabytes = {
        let header = serde_json::to_string(&text).unwrap();
        let samples =
            r#""samples":{"dtype":"F64","shape":[1099511627776,2],"data_offsets":[0,17592186044416]}"#;
        raw_file(&format!("{{\"__metadata__\":{{\"eigenlift\":{header}}},{samples}}}"), &[0; 80])
    };
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
        ("terabytes", terabytes, &["the file should have 1759218604", "truncated"]),
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

#[test]
fn hostile_headers_with_valid_checksums_are_refused() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change, &[&str]); 32] = [
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
        (
            "feature 999",
            |h| both(h, "kernel", "expr(x999*y999)".into()),
            &["uses feature 999, the data has 2"],
        ),
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
        (
            "plan disagrees",
            |h| h["plan"]["n_samples"] = 6.into(),
            &["a plan for 2 of 6 samples", "must agree"],
        ),
        ("plan asks for less", |h| h["plan"]["n_components"] = 1.into(), &["a plan for 1 of 5 samples"]),
        ("unknown solver", |h| h["plan"]["solver"] = "magic".into(), &["the header cannot be read", "magic"]),
        ("unknown precision", |h| both(h, "precision", "f16".into()), &["precision f16", "f32 or f64"]),
        (
            "other precision",
            |h| both(h, "precision", "f32".into()),
            &["array \"samples\" has the type F64; it must be F32"],
        ),
        ("column names", |h| h["column_names"] = json!(["a", "b", "c"]), &["3 column names for 2 features"]),
        (
            "ties",
            |h| h["ties"] = json!([[0, u64::MAX]]),
            &["components 0 to 18446744073709551615 named as tied"],
        ),
        (
            "escape in a warning",
            |h| h["warnings"] = json!(["\u{7}"]),
            &["the text \"\\u{7}\" in the header", "control"],
        ),
    ];
    for (what, change, parts) in cases {
        assert_refused(what, &changed(&small(), |c| change(&mut c.header)), parts);
    }
}

/// Changes a field in the header and in its plan.
fn both(header: &mut Value, field: &str, value: Value) {
    header["plan"][field] = value.clone();
    header[field] = value;
}

#[test]
fn hostile_arrays_with_valid_checksums_are_refused() {
    type Change = fn(&mut Crafted);
    let cases: [(&str, Change, &[&str]); 24] = [
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
        (
            "eigenvalue zero",
            |c| c.put("eigenvalues", 1, 0.0),
            &["eigenvalues[1] is 0; a component that is kept"],
        ),
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
    for (what, change, parts) in cases {
        assert_refused(what, &changed(&small(), change), parts);
    }
}

impl Piece {
    fn renamed(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }
}

#[test]
fn hostile_sparse_and_precomputed_models_are_refused() {
    type Change = fn(&mut Crafted);
    fn offset(c: &mut Crafted, at: usize, value: u64) {
        c.array("samples.offsets").bytes[at * 8..][..8].copy_from_slice(&value.to_le_bytes());
    }
    fn column(c: &mut Crafted, at: usize, value: u32) {
        c.array("samples.columns").bytes[at * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let cases: [(&str, Change, &[&str]); 11] = [
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
        (
            "no columns",
            |c| c.arrays.retain(|a| a.name != "samples.columns"),
            &["no array \"samples.columns\""],
        ),
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
    for (what, change, parts) in cases {
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
                let _ = (model.scores(), model.explained_variance_ratio(), model.plan().to_string());
            }
        }
    }
}

#[test]
fn a_header_is_read_without_the_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let bytes = small().to_bytes().unwrap().tap(|b| *b.last_mut().unwrap() ^= 1);
    std::fs::write(&path, &bytes).unwrap();
    let header = read_header(&path).unwrap();
    let names: Vec<&str> = header.arrays.iter().map(|a| a.name.as_str()).collect();
    let all = [
        "centered_trace",
        "coefficients",
        "eigenvalues",
        "intervals",
        "offset",
        "residuals",
        "rounding",
        "samples",
    ];
    assert_eq!(names, all);
    assert_eq!((header.arrays[1].dtype.as_str(), &header.arrays[1].shape[..]), ("F64", &[5, 2][..]));
    assert_eq!(header.kernel, "rbf(gamma=0.5)");
    let isomap = changed(&small(), |c| c.header["method"] = "isomap".into());
    std::fs::write(&path, isomap).unwrap();
    assert_eq!(read_header(&path).unwrap().method, "isomap");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let message = read_header(&path).unwrap_err().to_string();
    assert!(message.contains("m.safetensors: the file should have"), "{message}");
}
