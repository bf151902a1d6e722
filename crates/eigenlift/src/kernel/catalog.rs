//! The catalog: one row for each kernel. Parser, printer, checks, evaluation, help, Python classes, the controls of
//! the explorer and the table of docs/reference read it.

use super::entry::{Features, KernelEntry, Mercer, Monomials, Parameter, Profile};
use super::entry::{Range, SpectralDensity, Trial, listed};
use super::profile::{CoordinateProfile, DistanceProfile, InnerProfile, NormProfile};
use super::spec::{Param, ParamRole};

/// All kernels, in the order in which they are listed.
pub static CATALOG: [&KernelEntry; 16] = [
    &LINEAR,
    &POLYNOMIAL,
    &RBF,
    &LAPLACIAN,
    &EXPONENTIAL,
    &MATERN,
    &RATIONAL_QUADRATIC,
    &SIGMOID,
    &COSINE,
    &CHI2,
    &INTERSECTION,
    &TANIMOTO,
    &MAP,
    &EXPR,
    &PRECOMPUTED,
    &AUTO,
];

/// The kernel of a name or alias in lower case.
pub(super) fn find(name: &str) -> Option<&'static KernelEntry> {
    CATALOG.iter().find(|entry| entry.name == name || entry.aliases.contains(&name)).copied()
}

/// Names of the kernels of the distance: a, b `last` c.
pub(crate) fn of_distance(last: &str) -> String {
    listed(CATALOG.iter().filter(|entry| entry.is_of_distance()).map(|entry| entry.name), last)
}

/// Names of the kernels that random Fourier features stand for: a, b `last` c.
pub(crate) fn with_spectral_density(last: &str) -> String {
    listed(CATALOG.iter().filter(|entry| entry.has_spectral_density()).map(|entry| entry.name), last)
}

/// What a row of the catalog has where it says nothing else.
const ROW: KernelEntry = KernelEntry {
    name: "",
    aliases: &[],
    title: "",
    formula: "",
    doc: "",
    params: &[],
    nonnegative: false,
    profile: Profile::Auto,
    mercer: Mercer::Unknown,
    features: Features::Unknown,
    spectrum: None,
};

/// A rate γ above 0 that is found from the data.
const GAMMA: Parameter = Parameter {
    name: "gamma",
    title: "γ (gamma)",
    doc: "Rate at which the kernel falls; a larger γ is a smaller bandwidth.",
    role: None,
    default: Param::Median,
    range: Range::Positive,
    trial: Trial::Log { decades: 2.5 },
    to_first: None,
};

/// What the inner product is multiplied by.
const FACTOR: Parameter = Parameter {
    doc: "Factor of the inner product.",
    role: Some(ParamRole::InnerProductRate),
    range: Range::NonZero,
    trial: Trial::Log { decades: 3.0 },
    ..GAMMA
};

/// ℓ
const LENGTH: Parameter = Parameter {
    name: "length",
    title: "Length ℓ",
    doc: "Length scale: the distance over which the kernel falls.",
    role: Some(ParamRole::Distance),
    ..GAMMA
};

/// c₀
const COEF0: Parameter = Parameter {
    name: "coef0",
    title: "c₀ (coef0)",
    doc: "Constant that is added.",
    role: None,
    default: Param::Value(1.0),
    range: Range::Finite,
    trial: Trial::Linear { low: 0.0, high: 10.0, step: 0.1 },
    to_first: None,
};

pub(super) static LINEAR: KernelEntry = KernelEntry {
    name: "linear",
    title: "linear",
    formula: "⟨x,y⟩",
    doc: "The inner product; kernel PCA with it is PCA.",
    profile: Profile::Inner(|_| InnerProfile::Linear),
    mercer: Mercer::Always,
    features: Features::Monomials(|_| Monomials { degree: 1.0, gamma: Param::Value(1.0), coef0: 0.0 }),
    ..ROW
};

static POLYNOMIAL: KernelEntry = KernelEntry {
    name: "polynomial",
    aliases: &["poly"],
    title: "polynomial",
    formula: "(gamma·⟨x,y⟩ + coef0)^degree",
    doc: "Products of features up to a degree.",
    params: &[
        Parameter {
            name: "degree",
            title: "Degree",
            doc: "Power.",
            range: Range::Positive,
            default: Param::Value(3.0),
            trial: Trial::Linear { low: 1.0, high: 8.0, step: 1.0 },
            ..COEF0
        },
        Parameter { default: Param::Value(1.0), ..FACTOR },
        COEF0,
    ],
    profile: Profile::Inner(|p| InnerProfile::Polynomial { degree: p[0], gamma: p[1], coef0: p[2] }),
    mercer: Mercer::When {
        condition: "degree is whole, gamma above 0 and coef0 not negative",
        holds: |kernel| {
            let positive = match kernel.param("gamma") {
                Some(Param::Value(gamma)) => gamma > 0.0,
                Some(Param::OverDimension) => true,
                Some(Param::Median | Param::Auto) | None => false,
            };
            positive && kernel.number("degree").fract() == 0.0 && kernel.number("coef0") >= 0.0
        },
    },
    features: Features::Monomials(|kernel| Monomials {
        degree: kernel.number("degree"),
        gamma: kernel.param("gamma").unwrap_or(Param::Auto),
        coef0: kernel.number("coef0"),
    }),
    ..ROW
};

pub(super) static RBF: KernelEntry = KernelEntry {
    name: "rbf",
    aliases: &["gaussian"],
    title: "rbf (Gaussian)",
    formula: "exp(−gamma·‖x−y‖²), where gamma = 1/(2·sigma²) = 1/c",
    doc: "Smooth similarity of near rows: the usual first choice.",
    params: &[
        Parameter { role: Some(ParamRole::SquaredDistanceRate), ..GAMMA },
        Parameter {
            name: "sigma",
            title: "σ (sigma)",
            doc: "Standard deviation, in place of gamma.",
            role: Some(ParamRole::Distance),
            to_first: Some(|sigma| 0.5 / sigma.powi(2)),
            ..GAMMA
        },
        Parameter {
            name: "c",
            title: "c",
            doc: "Divisor of the squared distance, in place of gamma.",
            role: Some(ParamRole::SquaredDistance),
            to_first: Some(|c| 1.0 / c),
            ..GAMMA
        },
    ],
    profile: Profile::Distance(|p| DistanceProfile::Rbf { gamma: p[0] }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    spectrum: Some(|p| SpectralDensity::Gaussian { scale: (2.0 * p[0]).sqrt() }),
    ..ROW
};

static LAPLACIAN: KernelEntry = KernelEntry {
    name: "laplacian",
    title: "laplacian",
    formula: "exp(−gamma·‖x−y‖₁)",
    doc: "Sum of absolute differences: heavier tails, sharper edges.",
    params: &[Parameter { role: Some(ParamRole::L1Rate), ..GAMMA }],
    profile: Profile::Coordinate(|p| CoordinateProfile::Laplacian { gamma: p[0] }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    spectrum: Some(|p| SpectralDensity::Cauchy { gamma: p[0] }),
    ..ROW
};

static EXPONENTIAL: KernelEntry = KernelEntry {
    name: "exponential",
    title: "exponential",
    formula: "exp(−gamma·‖x−y‖₂)",
    doc: "The distance itself, not its square: rough functions.",
    params: &[Parameter { role: Some(ParamRole::DistanceRate), ..GAMMA }],
    profile: Profile::Distance(|p| DistanceProfile::Exponential { gamma: p[0] }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    spectrum: Some(|p| SpectralDensity::StudentT { nu: 0.5, length: 1.0 / p[0] }),
    ..ROW
};

static MATERN: KernelEntry = KernelEntry {
    name: "matern",
    title: "Matérn",
    formula: "with s = √(2·nu)·‖x−y‖/length: exp(−s) times 1, 1 + s or 1 + s + s²/3 for nu = 0.5, 1.5, 2.5",
    doc: "Functions of a given smoothness.",
    params: &[
        Parameter {
            name: "nu",
            title: "ν (smoothness)",
            doc: "Smoothness.",
            role: None,
            default: Param::Value(1.5),
            range: Range::OneOf {
                values: &[0.5, 1.5, 2.5],
                hint: "Take the nearest of these; rbf is the limit of large nu.",
            },
            trial: Trial::Listed,
            to_first: None,
        },
        LENGTH,
    ],
    // The range of nu has three values.
    profile: Profile::Distance(|p| match p[1] {
        length if p[0] < 1.0 => DistanceProfile::Exponential { gamma: 1.0 / length },
        length if p[0] < 2.0 => DistanceProfile::Matern3 { length },
        length => DistanceProfile::Matern5 { length },
    }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    spectrum: Some(|p| SpectralDensity::StudentT { nu: p[0], length: p[1] }),
    ..ROW
};

static RATIONAL_QUADRATIC: KernelEntry = KernelEntry {
    name: "rational_quadratic",
    title: "rational quadratic",
    formula: "(1 + ‖x−y‖²/(2·alpha·length²))^(−alpha)",
    doc: "A mixture of Gaussians of many widths.",
    params: &[
        Parameter {
            name: "alpha",
            title: "α (alpha)",
            doc: "Weight of near against far distances; large values approach a Gaussian.",
            range: Range::Positive,
            trial: Trial::Log { decades: 1.5 },
            ..COEF0
        },
        LENGTH,
    ],
    profile: Profile::Distance(|p| DistanceProfile::RationalQuadratic { alpha: p[0], length: p[1] }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    spectrum: Some(|p| SpectralDensity::GammaMixture { alpha: p[0], length: p[1] }),
    ..ROW
};

static SIGMOID: KernelEntry = KernelEntry {
    name: "sigmoid",
    title: "sigmoid",
    formula: "tanh(gamma·⟨x,y⟩ + coef0)",
    doc: "A neuron's response; not a Mercer kernel in general.",
    params: &[
        Parameter { default: Param::OverDimension, ..FACTOR },
        Parameter { trial: Trial::Linear { low: -5.0, high: 5.0, step: 0.1 }, ..COEF0 },
    ],
    profile: Profile::Inner(|p| InnerProfile::Sigmoid { gamma: p[0], coef0: p[1] }),
    ..ROW
};

static COSINE: KernelEntry = KernelEntry {
    name: "cosine",
    title: "cosine",
    formula: "⟨x,y⟩/(‖x‖·‖y‖), and 0 for a row of zeros",
    doc: "Only the direction of a row matters, as with texts.",
    profile: Profile::Norms(|_| NormProfile::Cosine),
    mercer: Mercer::Always,
    features: Features::Columns,
    ..ROW
};

static CHI2: KernelEntry = KernelEntry {
    name: "chi2",
    title: "χ²",
    formula: "exp(−gamma·Σ(xᵢ−yᵢ)²/(xᵢ+yᵢ))",
    doc: "For histograms and counts; entries must not be negative.",
    params: &[Parameter {
        role: Some(ParamRole::Chi2Rate),
        default: Param::Value(1.0),
        trial: Trial::Log { decades: 3.0 },
        ..GAMMA
    }],
    nonnegative: true,
    profile: Profile::Coordinate(|p| CoordinateProfile::Chi2 { gamma: p[0] }),
    mercer: Mercer::Always,
    features: Features::Infinite,
    ..ROW
};

static INTERSECTION: KernelEntry = KernelEntry {
    name: "intersection",
    title: "intersection",
    formula: "Σ min(xᵢ,yᵢ)",
    doc: "For histograms and counts; entries must not be negative.",
    nonnegative: true,
    profile: Profile::Coordinate(|_| CoordinateProfile::Intersection),
    mercer: Mercer::Always,
    features: Features::Infinite,
    ..ROW
};

static TANIMOTO: KernelEntry = KernelEntry {
    name: "tanimoto",
    title: "Tanimoto",
    formula: "⟨x,y⟩/(‖x‖² + ‖y‖² − ⟨x,y⟩), and 1 for two rows of zeros",
    doc: "For chemical fingerprints, binary or counts: shared over all features; entries must not be negative.",
    nonnegative: true,
    profile: Profile::Norms(|_| NormProfile::Tanimoto),
    mercer: Mercer::Always,
    features: Features::Infinite,
    ..ROW
};

static MAP: KernelEntry = KernelEntry {
    name: "map",
    title: "map",
    formula: "⟨φ(x),φ(y)⟩",
    doc: "A feature map of your own, with one formula in x1, x2, … for each coordinate of φ.",
    profile: Profile::Map,
    mercer: Mercer::Always,
    features: Features::Formulas,
    ..ROW
};

static EXPR: KernelEntry = KernelEntry {
    name: "expr",
    title: "expr",
    formula: "k(x,y)",
    doc: "A kernel of your own, as a symmetric formula in x1, x2, … and y1, y2, ….",
    profile: Profile::Expr,
    ..ROW
};

static PRECOMPUTED: KernelEntry = KernelEntry {
    name: "precomputed",
    title: "precomputed",
    formula: "the matrix of kernel values",
    doc: "The table is the kernel matrix itself, square and symmetric.",
    profile: Profile::Precomputed,
    ..ROW
};

static AUTO: KernelEntry = KernelEntry {
    name: "auto",
    title: "auto",
    formula: "the kernel that cross-validation finds best",
    doc: "Kernel PCA alone chooses by itself.",
    profile: Profile::Auto,
    ..ROW
};

#[cfg(test)]
mod tests;
