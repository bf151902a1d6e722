//! Kernel PCA as a model file: which arrays it has and what they must satisfy.

use super::FittedKernelPca;
use super::novelty::{NOVELTY_ARRAYS, read_fit_rows};
use super::sample_arrays::sample_arrays;
use crate::data::{AnySamples, Csr, Samples};
use crate::eigen::{Bounds, Certificate, Indefinite, Interval, SolveStats};
use crate::engine::Cpu;
use crate::error::{Error, Result};
use crate::features::{Approximation, FeatureMap};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::model::{
    Array, FeatureMean, Header, Lift, ModelReader, Number, Numbers, Plan, Projection, Route, save, shown,
    write,
};
use crate::real::Real;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The method's name in a model file.
pub(super) const KERNEL_PCA: &str = "kpca";
/// What to do about a file that no version of eigenlift wrote.
const SAVE_AGAIN: &str = "Save the model again with eigenlift";
/// Rounding allowed between a number written in words and the same number in an array.
const WORDS: f64 = 1e-12;

const SAMPLES: &str = "samples";
const SPARSE_OFFSETS: &str = "samples.offsets";
const SPARSE_COLUMNS: &str = "samples.columns";
const SPARSE_VALUES: &str = "samples.values";
const COEFFICIENTS: &str = "coefficients";
const OFFSET: &str = "offset";
const EIGENVALUES: &str = "eigenvalues";
const RESIDUALS: &str = "residuals";
const INTERVALS: &str = "intervals";
const CENTERED_TRACE: &str = "centered_trace";
const ROUNDING: &str = "rounding";
const MEAN: &str = "mean";
const MEAN_SQUARE: &str = "mean_square";
const ORIGIN: &str = "origin";
/// Arrays that models of every route have; those of earlier versions have no mean, and only fits of rows in memory say how unusual
/// these are. Only kernels whose rows are taken from an origin have one.
const ALWAYS: [&str; 15] = [
    CENTERED_TRACE,
    COEFFICIENTS,
    EIGENVALUES,
    INTERVALS,
    MEAN,
    MEAN_SQUARE,
    NOVELTY_ARRAYS[0],
    NOVELTY_ARRAYS[1],
    NOVELTY_ARRAYS[2],
    NOVELTY_ARRAYS[3],
    NOVELTY_ARRAYS[4],
    OFFSET,
    ORIGIN,
    RESIDUALS,
    ROUNDING,
];

/// What the header says of a kernel PCA.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    /// The kernel with every parameter known.
    kernel: String,
    /// tr(K_c): the total variance in feature space times n. The array of that name holds every bit of it.
    centered_trace: f64,
    /// Bound on the rounding error behind the certificate. The array of that name holds every bit of it.
    rounding: f64,
    /// What is known about all eigenvalues together.
    #[serde(default)]
    bounds: Bounds,
    /// Groups of components that are determined only as a subspace, see [`crate::eigen::Certificate::ties`].
    ties: Vec<(usize, usize)>,
    /// What the solve took.
    stats: SolveStats,
    /// What was decided and why.
    plan: Plan,
}

impl FittedKernelPca {
    /// Saves the model. The file appears under its name only when it is complete; an older one is then replaced.
    ///
    /// The loaded model gives the same scores, bit for bit, and saving it gives the same file.
    ///
    /// ```
    /// use eigenlift::{data, methods::{FittedKernelPca, KernelPca}};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("iris.safetensors");
    /// let iris = data::iris()?.samples;
    /// let model = KernelPca::new(2).fit(iris.clone())?;
    /// model.save(&path)?;
    /// let loaded = FittedKernelPca::load(&path)?;
    /// assert_eq!(loaded.transform(iris.points())?, model.transform(iris.points())?);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        save(path, &self.header()?, &self.arrays())
    }

    /// Loads a model that [`FittedKernelPca::save`] wrote. Nothing in the file is run; memory is that of the arrays.
    ///
    /// # Errors
    /// When the file cannot be read, is no model file, holds another method, was written by a newer version, is
    /// truncated or damaged, or holds numbers that no fit gives. The message says which.
    pub fn load(path: &Path) -> Result<FittedKernelPca> {
        ModelReader::open_file(path, build)
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the kernel is a function, which cannot be saved.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write(&self.header()?, &self.arrays(), &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The model from the bytes of a model file.
    ///
    /// # Errors
    /// As [`FittedKernelPca::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<FittedKernelPca> {
        build(&mut ModelReader::from_bytes(bytes)?)
    }

    pub(super) fn from_reader(file: &mut ModelReader<'_>) -> Result<FittedKernelPca> {
        build(file)
    }

    pub(super) fn header(&self) -> Result<Header> {
        let lift = &self.projection.lift;
        let kernel = match lift {
            Lift::Precomputed { .. } | Lift::Rows { .. } | Lift::Manifold(_) => {
                KernelSpec::Precomputed.to_string()
            }
            Lift::Kernel { kernel, .. } | Lift::Features { kernel, .. } => match kernel.spec() {
                Some(spec) => spec.to_string(),
                None => {
                    return Err(Error::model(
                        format!("the kernel {kernel} is a function"),
                        "a model file holds kernels that can be written down, and no code",
                        "Write it as expr(…) or map(…), or fit with the precomputed Gram matrix",
                    ));
                }
            },
        };
        let record = Record {
            kernel,
            centered_trace: self.centered_trace,
            rounding: self.certificate.rounding,
            bounds: self.certificate.bounds,
            ties: self.certificate.ties.clone(),
            stats: self.stats,
            plan: self.plan.portable(),
        };
        let header = Header {
            precision: self.plan.precision.clone(),
            n_samples: self.n_samples(),
            n_features: lift.n_features(),
            n_components: self.n_components(),
            column_names: self.column_names.clone(),
            warnings: self.warnings.clone(),
            record: Header::record_of(&record)?,
            ..Header::of_method(KERNEL_PCA)
        };
        // Nothing is written that could not be read again.
        check_header(&header, &record)?;
        check_eigenvalues(&self.eigenvalues, self.plan.repair)?;
        Ok(header)
    }

    pub(super) fn arrays(&self) -> Vec<Array<'_>> {
        let k = self.n_components();
        let (known, enclosed) = (self.certificate.residuals.len(), self.certificate.intervals.len());
        let Projection { lift, coefficients, offset } = &self.projection;
        let bounds = self.certificate.intervals.iter().flat_map(|i| [i.low, i.high]).collect();
        let mut arrays = match lift {
            Lift::Precomputed { .. } | Lift::Features { .. } | Lift::Rows { .. } | Lift::Manifold(_) => {
                Vec::new()
            }
            Lift::Kernel { samples, .. } => sample_arrays("", samples),
        };
        arrays.extend([
            Array::f64(COEFFICIENTS, &[coefficients.n_rows(), k], coefficients.as_slice()),
            Array::f64(OFFSET, &[k], offset),
            Array::f64(EIGENVALUES, &[k], &self.eigenvalues),
            Array::f64(RESIDUALS, &[known], &self.certificate.residuals),
            Array::new(INTERVALS, &[enclosed, 2], Numbers::F64(Cow::Owned(bounds))),
            Array::f64(CENTERED_TRACE, &[1], std::slice::from_ref(&self.centered_trace)),
            Array::f64(ROUNDING, &[1], std::slice::from_ref(&self.certificate.rounding)),
        ]);
        if let Some(FeatureMean { coefficients, square }) = &self.mean {
            let over = coefficients.as_deref().unwrap_or_default();
            arrays.push(Array::f64(MEAN, &[over.len()], over));
            arrays.push(Array::f64(MEAN_SQUARE, &[1], std::slice::from_ref(square)));
        }
        if let Lift::Kernel { kernel, .. } = lift
            && let Some(origin) = kernel.origin()
        {
            arrays.push(Array::f64(ORIGIN, &[origin.len()], origin));
        }
        arrays.extend(self.novelty_arrays());
        arrays
    }
}

/// The model from a file whose layout and header are sound.
fn build(file: &mut ModelReader<'_>) -> Result<FittedKernelPca> {
    let mut header = file.header().clone();
    header.check_method(KERNEL_PCA)?;
    file.verify()?;
    landmarks_that_grew(&mut header.record);
    let record: Record = header.read_record()?;
    check_header(&header, &record)?;
    let (rows, k) = (lift_rows(&header, &record), header.n_components);
    let lift = read_lift(file, &header, &record)?;
    let coefficients = Matrix::from_vec(file.numbers(COEFFICIENTS, &[rows, k])?, rows, k)?;
    let offset = file.numbers(OFFSET, &[k])?;
    let eigenvalues: Vec<f64> = file.numbers(EIGENVALUES, &[k])?;
    check_eigenvalues(&eigenvalues, record.plan.repair)?;
    let centered_trace = read_scalar(file, CENTERED_TRACE, record.centered_trace)?;
    let certificate = read_certificate(file, &header, &record)?;
    let mean = read_mean(file, &header, &record)?;
    let (fit_rows, reference) = read_fit_rows(file, &header)?;
    let Record { plan, stats, .. } = record;
    let Header { warnings, column_names, .. } = header;
    Ok(FittedKernelPca {
        projection: Projection { lift, coefficients, offset },
        eigenvalues,
        centered_trace,
        certificate,
        stats,
        plan,
        warnings,
        column_names,
        mean,
        choice: None,
        scores: None,
        fit_rows,
        reference,
        engine: Arc::new(Cpu::at_first_use()),
    })
}

/// Reads landmarks of an older version that grew while rows came as given ones, without bounds that hold for given ones alone.
fn landmarks_that_grew(record: &mut Map<String, Value>) {
    match record.get_mut("plan").and_then(|plan| plan.get_mut("approximation")) {
        Some(word) if word == "growing" => *word = "given".into(),
        _ => return,
    }
    let Some(Value::Object(bounds)) = record.get_mut("bounds") else { return };
    bounds.retain(|name, value| !(name.starts_with("residual_") || name == "grounds" && value == "novelty"));
    bounds.entry("grounds").or_insert_with(|| "none".into());
}

/// The mean of φ, when the file holds it.
fn read_mean(file: &mut ModelReader<'_>, header: &Header, record: &Record) -> Result<Option<FeatureMean>> {
    if header.arrays.iter().all(|array| array.name != MEAN) {
        return Ok(None);
    }
    let square = file.numbers::<f64>(MEAN_SQUARE, &[1])?.first().copied().unwrap_or(f64::NAN);
    let over = if record.plan.route == Route::Dual { 0 } else { lift_rows(header, record) };
    let coefficients = file.numbers(MEAN, &[over])?;
    Ok(Some(FeatureMean { coefficients: (over > 0).then_some(coefficients), square }))
}

/// Coordinates of the lift: samples, landmarks or features.
fn lift_rows(header: &Header, record: &Record) -> usize {
    match record.plan.route {
        Route::Dual => header.n_samples,
        Route::LowRank if record.kernel == KernelSpec::Precomputed.to_string() => header.n_samples,
        Route::Primal | Route::LowRank => record.plan.rank,
    }
}

/// Refuses counts that no fit gives, and words that contradict each other.
fn check_header(header: &Header, record: &Record) -> Result<()> {
    let Header { n_samples: n, n_features: d, n_components: k, .. } = header;
    let plan = &record.plan;
    let (n, d, k) = (*n, *d, *k);
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    if n < 2 || d == 0 || k == 0 || k >= n {
        let found = format!("{k} components of {n} samples with {d} features");
        return bad(
            found,
            "there must be at least 2 samples, 1 feature, 1 component, and fewer components than samples",
        );
    }
    if plan.route != Route::Dual && plan.rank < k {
        let found = format!("{k} components of {} landmarks or features", plan.rank);
        return bad(found, "there must be at least as many as components");
    }
    if (plan.n_samples, plan.n_features) != (n, d) || plan.n_components < k {
        let planned =
            format!("{} of {} samples with {} features", plan.n_components, plan.n_samples, plan.n_features);
        let found =
            format!("a plan for {planned} in a model of {k} components of {n} samples with {d} features");
        return bad(found, "the plan and the model must agree");
    }
    if plan.kernel != record.kernel {
        let found =
            format!("a plan for the kernel {} in a model of {}", shown(&plan.kernel), shown(&record.kernel));
        return bad(found, "the plan and the model must agree");
    }
    if plan.precision != header.precision {
        let found = format!("precision {} planned as {}", shown(&header.precision), shown(&plan.precision));
        return bad(found, "it must be as planned");
    }
    if let Some((first, last)) =
        record.ties.iter().find(|(first, last)| *first >= k || last <= first || *last > n)
    {
        let found = format!("components {first} to {last} named as tied (counted from 0)");
        return bad(found, &format!("there are {k} components"));
    }
    header.check_words(plan.reasons.iter().chain([&record.kernel, &plan.engine]))
}

/// Whatever was wrong, it is the model file that is wrong.
fn in_model(what: &str) -> impl Fn(Error) -> Error {
    move |e| match e {
        Error::Kernel { found, required, .. } | Error::Data { found, required, .. } => {
            Error::model(format!("{what}: {found}"), required, SAVE_AGAIN)
        }
        other => other,
    }
}

fn read_lift(file: &mut ModelReader<'_>, header: &Header, record: &Record) -> Result<Lift> {
    let wrong = in_model("the kernel in the header cannot be used");
    let spec: KernelSpec = record.kernel.parse().map_err(&wrong)?;
    if spec.is_precomputed() {
        file.expect_only(&ALWAYS)?;
        if header.n_features != header.n_samples {
            return Err(Error::model(
                format!(
                    "a precomputed kernel with {} features and {} samples",
                    header.n_features, header.n_samples
                ),
                "a row holds one number for each sample",
                SAVE_AGAIN,
            ));
        }
        return Ok(Lift::Precomputed { n_samples: header.n_samples });
    }
    let kernel = Kernel::new(&spec, header.n_features).map_err(&wrong)?;
    if let Some(map) = read_map(&spec, header, &record.plan).map_err(&wrong)? {
        file.expect_only(&ALWAYS)?;
        return Ok(Lift::Features { kernel, map });
    }
    let samples: AnySamples = match &*header.precision {
        "f32" => read_samples::<f32>(file, header, lift_rows(header, record))?.into(),
        _ => read_samples::<f64>(file, header, lift_rows(header, record))?.into(),
    };
    kernel.check_points(samples.points()).map_err(in_model("the samples"))?;
    if header.arrays.iter().all(|array| array.name != ORIGIN) {
        return Ok(Lift::Kernel { kernel, samples });
    }
    if !kernel.may_have_origin() {
        return Err(Error::model(
            format!("an origin for the kernel {}", shown(&record.kernel)),
            "only linear kernels, and sums of them with kernels of differences, have one",
            SAVE_AGAIN,
        ));
    }
    let origin = file.numbers(ORIGIN, &[header.n_features])?;
    Ok(Lift::Kernel { kernel: kernel.with_origin(origin), samples })
}

/// Features are made again from kernel, number and seed; `None` when the lift is by samples or landmarks.
fn read_map(spec: &KernelSpec, header: &Header, plan: &Plan) -> Result<Option<FeatureMap>> {
    let (d, rank, seed) = (header.n_features, plan.rank, plan.seed);
    // Why: a header must not make the reader allocate what the file does not hold.
    let most =
        header.arrays.iter().find(|array| array.name == COEFFICIENTS).and_then(|array| array.shape.first());
    if plan.route == Route::Dual || most != Some(&rank) {
        return Ok(None);
    }
    match (plan.route, plan.approximation) {
        (Route::Primal, _) => FeatureMap::exact(spec, d, rank).map_or_else(
            || {
                Err(Error::kernel(
                    format!("{spec} without {rank} explicit features"),
                    "a primal model has a kernel with a finite map",
                    SAVE_AGAIN,
                ))
            },
            |map| Ok(Some(map)),
        ),
        (_, Some(Approximation::Fourier)) => FeatureMap::fourier(spec, d, rank, seed).map(Some),
        (_, Some(Approximation::TensorSketch)) => FeatureMap::tensor_sketch(spec, d, rank, seed).map(Some),
        _ => Ok(None),
    }
}

fn read_samples<T: Real + Number>(
    file: &mut ModelReader<'_>,
    header: &Header,
    n: usize,
) -> Result<Samples<T>> {
    let d = header.n_features;
    let wrong = in_model("the samples");
    if file.header().arrays.iter().all(|array| array.name != SPARSE_OFFSETS) {
        let mut names = ALWAYS.to_vec();
        names.push(SAMPLES);
        file.expect_only(&names)?;
        if let Some(buffer) = file.shared::<T>(SAMPLES, &[n, d])? {
            return Samples::shared(buffer, n, d).map_err(wrong);
        }
        return Ok(Matrix::from_vec(file.numbers::<T>(SAMPLES, &[n, d])?, n, d).map_err(wrong)?.into());
    }
    let mut names = ALWAYS.to_vec();
    names.extend([SPARSE_OFFSETS, SPARSE_COLUMNS, SPARSE_VALUES]);
    file.expect_only(&names)?;
    let entries = file.length(SPARSE_VALUES)?;
    let offsets: Vec<u64> = file.numbers(SPARSE_OFFSETS, &[n.saturating_add(1)])?;
    let offsets: Vec<usize> =
        offsets.into_iter().map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    let columns = file.numbers(SPARSE_COLUMNS, &[entries])?;
    let values = file.numbers(SPARSE_VALUES, &[entries])?;
    Ok(Csr::new(offsets, columns, values, d).map_err(wrong)?.into())
}

/// Largest first, none zero; by magnitude when negative ones were flipped, otherwise all positive.
fn check_eigenvalues(values: &[f64], repair: Indefinite) -> Result<()> {
    let size = |value: f64| if repair == Indefinite::Flip { value.abs() } else { value };
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    if let Some(at) = values.iter().position(|value| size(*value) <= 0.0) {
        return bad(
            format!("eigenvalues[{at}] is {}", values[at]),
            "a component that is kept has an eigenvalue above 0",
        );
    }
    match values.windows(2).position(|pair| size(pair[0]) < size(pair[1])) {
        Some(at) => bad(
            format!("eigenvalues[{at}] is {} and the next {}", values[at], values[at + 1]),
            "eigenvalues must be in descending order",
        ),
        None => Ok(()),
    }
}

/// A single number, which the header also says in words.
fn read_scalar(file: &mut ModelReader<'_>, name: &str, words: f64) -> Result<f64> {
    let exact = file.numbers::<f64>(name, &[1])?.first().copied().unwrap_or(f64::NAN);
    if (exact - words).abs() <= WORDS * exact.abs() {
        return Ok(exact);
    }
    Err(Error::model(
        format!("{name} is {exact} in its array and {words} in the header"),
        "both must agree",
        SAVE_AGAIN,
    ))
}

fn read_certificate(file: &mut ModelReader<'_>, header: &Header, record: &Record) -> Result<Certificate> {
    let k = header.n_components;
    let bad = |found: String, required: &str| Err(Error::model(found, required, SAVE_AGAIN));
    let rounding = read_scalar(file, ROUNDING, record.rounding)?;
    // Either is empty when the fit proved nothing of the kind.
    let some = |name: &str| {
        let array = header.arrays.iter().find(|array| array.name == name);
        if array.is_some_and(|array| array.shape.first() == Some(&0)) { 0 } else { k }
    };
    let (known, enclosed) = (some(RESIDUALS), some(INTERVALS));
    if known == 0 && record.plan.route == Route::Dual {
        return bad("an exact model without residuals".into(), "every exact fit has them");
    }
    let residuals: Vec<f64> = file.numbers(RESIDUALS, &[known])?;
    if let Some(at) = residuals.iter().position(|residual| *residual < 0.0) {
        return bad(format!("residuals[{at}] is {}", residuals[at]), "a residual is not negative");
    }
    if rounding < 0.0 {
        return bad(format!("rounding is {rounding}"), "a bound on an error is not negative");
    }
    let bounds: Vec<f64> = file.numbers(INTERVALS, &[enclosed, 2])?;
    let intervals: Vec<Interval> =
        bounds.chunks_exact(2).map(|pair| Interval { low: pair[0], high: pair[1] }).collect();
    if let Some(at) = intervals.iter().position(|interval| interval.low > interval.high) {
        let Interval { low, high } = intervals[at];
        return bad(format!("intervals[{at}] runs from {low} to {high}"), "the lower bound comes first");
    }
    let bounds = record.bounds;
    if bounds.n_certified > k {
        let found = format!("{} of {k} components certified", bounds.n_certified);
        return bad(found, "no more can be certified than there are");
    }
    Ok(Certificate { residuals, intervals, bounds, rounding, ties: record.ties.clone() })
}
