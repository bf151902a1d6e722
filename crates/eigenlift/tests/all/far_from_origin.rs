//! Rows whose mean is far larger than their spread: no route loses components without a warning.

use super::kernel_discriminant::any;
use eigenlift::data::{AnySamples, RowsInMemory};
use eigenlift::error::Result;
use eigenlift::factor::Regularization;
use eigenlift::features::{FeatureSettings, LowRank, Rank};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::PcaRoute;
use eigenlift::methods::{FittedKernelPca, KernelCca, KernelDiscriminant, KernelKMeans, KernelPca, Pca};
use eigenlift_testkit::pieces::Cut;
use eigenlift_testkit::problems;

const COLUMNS: usize = 5;
/// As many as there are features, 20 and the constant one, so that the landmarks themselves lose nothing.
const LANDMARKS: usize = 25;

/// Multiples of 2^−6 of falling size, to which offsets are added without rounding, in single precision as well.
fn near(n: usize) -> Matrix<f64> {
    let x = problems::noise(n, COLUMNS, 3);
    Matrix::from_fn(n, COLUMNS, |i, j| (x[(i, j)] * 64.0 / (1 + j) as f64).round() / 64.0)
}

/// Features of the kernel at x = z + offset without their constant part, so that nothing cancels: their principal components are those of
/// the kernel. Of (⟨x,y⟩ + 1)²: xᵢxⱼ, √2 times for i ≠ j, and √2·xᵢ.
fn features(z: &Matrix<f64>, offset: f64, degree: u32) -> Matrix<f64> {
    if degree == 1 {
        return z.clone();
    }
    let pairs: Vec<(usize, usize)> = (0..COLUMNS).flat_map(|i| (i..COLUMNS).map(move |j| (i, j))).collect();
    Matrix::from_fn(z.n_rows(), pairs.len() + COLUMNS, |row, at| match pairs.get(at) {
        Some((i, j)) => {
            let (a, b) = (z[(row, *i)], z[(row, *j)]);
            (offset * (a + b) + a * b) * if i == j { 1.0 } else { std::f64::consts::SQRT_2 }
        }
        None => std::f64::consts::SQRT_2 * z[(row, at - pairs.len())],
    })
}

/// Every way to fit these rows.
fn doors(settings: &KernelPca, x: &AnySamples) -> Vec<(&'static str, Result<FittedKernelPca>)> {
    let low = settings.clone().low_rank(LowRank::pivoted(Rank::Exactly(LANDMARKS)));
    let matrix = settings.clone().by_gram_matrix();
    let cut = Cut::new(x, &[100, 101]);
    let landmarks = x.gather(&(0..LANDMARKS).collect::<Vec<_>>());
    let stream = low.stream(landmarks).and_then(|mut stream| {
        stream.partial_fit(x.points())?;
        stream.finish()
    });
    vec![
        ("memory", settings.fit(x.clone())),
        ("matrix", matrix.fit(x.clone())),
        ("landmarks", low.fit(x.clone())),
        ("chunks", settings.fit(&mut RowsInMemory::new(x.points()))),
        ("chunks, landmarks", low.fit(&mut RowsInMemory::new(x.points()))),
        ("partitions", settings.fit(&cut)),
        ("partitions, matrix", matrix.fit(&cut)),
        ("partitions, landmarks", low.fit(&cut)),
        ("stream", stream),
    ]
}

/// Components that are off by a hundredth or missing have a warning or an error that says why; near the origin none are.
#[test]
fn no_component_is_lost_in_silence() {
    let z = near(300);
    for (degree, kernel) in [(1, "linear"), (2, "polynomial(degree=2,gamma=1,coef0=1)")] {
        for offset in [0.0, 1e3, 3e3, 1e6, 1e8] {
            let truth = Pca::new(COLUMNS).route(PcaRoute::Tsqr).fit(features(&z, offset, degree)).unwrap();
            let far = Matrix::from_fn(z.n_rows(), COLUMNS, |i, j| z[(i, j)] + offset);
            let single = Matrix::from_fn(z.n_rows(), COLUMNS, |i, j| far[(i, j)] as f32);
            let exact = (0..z.n_rows())
                .all(|i| far.row(i).iter().zip(single.row(i)).all(|(a, b)| *a == f64::from(*b)));
            let mut tables = vec![("f64", any(&far))];
            tables.extend(exact.then(|| ("f32", single.into())));
            for (precision, x) in tables {
                let settings = KernelPca::new(COLUMNS).kernel(kernel.parse::<KernelSpec>().unwrap());
                for (door, found) in doors(&settings, &x) {
                    let what = format!("{kernel} {offset:e} {precision} {door}");
                    let (off, words) = match found {
                        Ok(model) => {
                            let of = |i: usize| model.eigenvalues().get(i).copied().unwrap_or(0.0);
                            let off =
                                truth.eigenvalues().iter().enumerate().map(|(i, t)| ((of(i) - t) / t).abs());
                            (off.fold(0.0, f64::max), model.warnings().join("\n"))
                        }
                        Err(error) => (f64::INFINITY, error.to_string()),
                    };
                    assert!(off < 1e-2 || words.contains("center or standardize"), "{what}: {off:e} {words}");
                    assert!(off < 1e-2 || offset > 0.0, "{what}: {off:e} {words}");
                    // Where something can be done it is done.
                    let held = degree == 1
                        && ["memory", "matrix", "landmarks", "chunks", "partitions"].contains(&door);
                    assert!(off < 1e-2 || !held, "{what}: {off:e} {words}");
                }
            }
        }
    }
}

/// What discriminant analysis, canonical correlations and k-means find by landmarks, and what they warn of.
fn by_landmarks(
    kernel: &str,
    x: &AnySamples,
    classes: &[u32],
) -> Vec<(&'static str, Vec<f64>, String, String)> {
    let spec: KernelSpec = kernel.parse().unwrap();
    let low = |features: FeatureSettings| {
        features.low_rank(LowRank::pivoted(Rank::Exactly(LANDMARKS))).kernel(spec.clone())
    };
    let kappa = Regularization::Value(1e-3);
    let discriminant = KernelDiscriminant::new().with(low).regularization(kappa).fit(x, classes).unwrap();
    let views = [x.clone(), x.gather(&(0..x.n_rows()).map(|i| i ^ 1).collect::<Vec<_>>())];
    let cca = KernelCca::new(2).with(low).regularization(kappa).fit(&views).unwrap();
    let clusters = KernelKMeans::new(3).with(low).fit(x).unwrap();
    let plans = [
        discriminant.plan().precision.clone(),
        cca.plan().views[0].precision.clone(),
        clusters.plan().precision.clone(),
    ];
    let [a, b, c] = plans;
    vec![
        ("discriminant", discriminant.eigenvalues().to_vec(), discriminant.warnings().join("\n"), a),
        ("cca", cca.correlations().to_vec(), cca.warnings().join("\n"), b),
        ("k-means", vec![clusters.inertia()], clusters.warnings().join("\n"), c),
    ]
}

/// Samples in single precision give what the same samples in double precision give, and where these lose it, a warning.
#[test]
fn methods_by_landmarks_lose_nothing_in_silence() {
    let z = near(300);
    let classes: Vec<u32> = (0..300).map(|i| u32::from(z[(i, 0)] + z[(i, 1)] * z[(i, 2)] > 0.3)).collect();
    for kernel in ["linear + 1e-3*rbf(gamma=0.1)", "polynomial(degree=2,gamma=1,coef0=1)"] {
        let far = |offset: f64| Matrix::from_fn(300, COLUMNS, |i, j| z[(i, j)] + offset);
        let double = far(2e3);
        let single = Matrix::from_fn(300, COLUMNS, |i, j| double[(i, j)] as f32);
        let expected = by_landmarks(kernel, &any(&double), &classes);
        let found = by_landmarks(kernel, &single.into(), &classes);
        for ((method, truth, quiet, _), (_, numbers, _, precision)) in expected.iter().zip(&found) {
            let off = truth.iter().zip(numbers).map(|(a, b)| (a - b).abs() / a.abs()).fold(0.0, f64::max);
            assert!(off < 1e-9 && truth.len() == numbers.len(), "{method}, {kernel}: {truth:?} {numbers:?}");
            assert_eq!(precision, "f64", "{method}, {kernel}");
            assert!(!quiet.contains("common part"), "{method}, {kernel}: {quiet}");
        }
        for (method, _, warnings, _) in by_landmarks(kernel, &any(&far(1e6)), &classes) {
            assert!(warnings.contains("center or standardize"), "{method}, {kernel}: {warnings}");
        }
        let near_single = Matrix::from_fn(300, COLUMNS, |i, j| z[(i, j)] as f32);
        for (method, _, warnings, precision) in by_landmarks(kernel, &near_single.into(), &classes) {
            assert_eq!(precision, "f32", "{method}, {kernel}");
            assert!(!warnings.contains("common part"), "{method}, {kernel}: {warnings}");
        }
    }
}
