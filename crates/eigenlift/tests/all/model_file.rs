//! Model files: every bit comes back, and nothing else is taken for one.

use eigenlift::data::{AnySamples, Csr, Samples};
use eigenlift::eigen::{Grounds, Indefinite};
use eigenlift::error::Error;
use eigenlift::features::LowRank;
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift::model::{FORMAT_VERSION, Planned, read_header};
use std::path::Path;

mod craft;
mod hostile;
mod in_memory;
pub(crate) mod parts;

use craft::{Piece, Tap, assert_refused, changed, small, small_precomputed};

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
    assert_eq!(bits(&model.scores().unwrap()), bits(&loaded.scores().unwrap()));
    assert_eq!(bits(model.coefficients()), bits(loaded.coefficients()));
    assert!(same_bits(model.eigenvalues(), loaded.eigenvalues()));
    assert!(same_bits(&model.projection().offset, &loaded.projection().offset));
    assert!(same_bits(&model.explained_variance_ratio(), &loaded.explained_variance_ratio()));
    assert_eq!(model.total().to_bits(), loaded.total().to_bits());
    assert_eq!(model.certificate(), loaded.certificate());
    assert_eq!(model.plan().portable(), *loaded.plan());
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
    assert_eq!(header.record["plan"]["route"], "dual");
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

/// What the header of a model said whose landmarks grew while rows came.
#[test]
fn a_model_whose_landmarks_grew_is_one_of_given_landmarks() {
    let settings = KernelPca::new(2).kernel(spec("rbf(gamma=0.5)"));
    let landmarks = LowRank::samples(vec![0, 3, 5, 8, 11]);
    let model = settings.low_rank(landmarks).fit(rows(20, 2)).unwrap();
    let bytes = changed(&model, |c| {
        c.header["plan"]["approximation"] = "growing".into();
        c.header["bounds"]["grounds"] = "novelty".into();
    });
    let loaded = FittedKernelPca::from_bytes(&bytes).unwrap();
    let new = rows(4, 2);
    assert_eq!(bits(&loaded.transform(&new).unwrap()), bits(&model.transform(&new).unwrap()));
    assert_eq!(loaded.plan(), &model.plan().portable());
    assert_eq!(loaded.certificate().intervals, model.certificate().intervals);
    let bounds = loaded.certificate().bounds;
    assert_eq!((bounds.grounds, bounds.residual_trace, bounds.residual_share), (Grounds::None, None, None));
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
fn links_permissions_devices_and_long_names() {
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
        "mean",
        "mean_square",
        "offset",
        "residuals",
        "rounding",
        "samples",
    ];
    assert_eq!(names, all);
    assert_eq!((header.arrays[1].dtype.as_str(), &header.arrays[1].shape[..]), ("F64", &[5, 2][..]));
    assert_eq!(header.record["kernel"], "rbf(gamma=0.5)");
    let isomap = changed(&small(), |c| c.header["method"] = "isomap".into());
    std::fs::write(&path, isomap).unwrap();
    assert_eq!(read_header(&path).unwrap().method, "isomap");
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let message = read_header(&path).unwrap_err().to_string();
    assert!(message.contains("m.safetensors: the file should have"), "{message}");
}

/// Files of earlier versions told T² and squared prediction errors apart; they still load, and their limits come from the samples.
#[test]
fn files_with_summaries_of_earlier_versions_load() {
    let numbers = |name: &str, shape: &[usize]| Piece {
        name: name.into(),
        dtype: "F64".into(),
        shape: shape.to_vec(),
        bytes: vec![0; 8 * shape.iter().product::<usize>()],
    };
    for model in [small(), small_precomputed()] {
        let n = model.n_samples();
        let old = changed(&model, |c| {
            c.arrays.retain(|piece| !piece.name.starts_with("novelty."));
            c.arrays.extend([numbers("novelty.moments", &[2, 2]), numbers("novelty.quantiles", &[2, n])]);
            c.arrays.sort_by(|a, b| a.name.cmp(&b.name));
        });
        let loaded = FittedKernelPca::from_bytes(&old).unwrap();
        assert_eq!(loaded.eigenvalues(), model.eigenvalues());
        assert!(loaded.reference().is_none());
    }
    // Numbers that no samples have.
    for (shape, byte) in [(&[2, 6][..], 0xff), (&[2, 7], 0), (&[6, 2], 0)] {
        let wrong = changed(&small_precomputed(), |c| {
            c.arrays.retain(|piece| !piece.name.starts_with("novelty."));
            let mut piece = numbers("novelty.folds", shape);
            piece.bytes.fill(byte);
            c.arrays.push(piece);
            c.arrays.sort_by(|a, b| a.name.cmp(&b.name));
        });
        assert_refused("novelty.folds", &wrong, &["novelty.folds"]);
    }
}
