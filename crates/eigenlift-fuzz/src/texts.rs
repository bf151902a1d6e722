//! Kernels and formulas in words.

use eigenlift::kernel::{Formula, Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use std::path::Path;

pub(crate) const KERNEL_WORDS: [&str; 30] = [
    "rbf",
    "linear",
    "poly",
    "sigmoid",
    "laplacian",
    "matern",
    "cosine",
    "chi2",
    "precomputed",
    "(",
    ")",
    ",",
    "=",
    "+",
    "*",
    "gamma",
    "degree",
    "coef0",
    "nu",
    "median",
    "auto",
    "1.5",
    "normalize",
    "map",
    "formula",
    "x1",
    "y1",
    "\"",
    "^",
    "1e309",
];
pub(crate) const FORMULA_WORDS: [&str; 26] = [
    "x1",
    "y1",
    "x2",
    "x18446744073709551616",
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "(",
    ")",
    "sqrt(",
    "exp(",
    "log(",
    "min(",
    "max(",
    ",",
    "pi",
    "e",
    "1e308",
    "0.5",
    ".",
    " ",
    "abs(",
    "--",
];

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// A kernel that is accepted says the same when it is printed and read again, and gives numbers for rows or an error.
pub(crate) fn kernel(_: &Path, data: &[u8]) -> bool {
    let Ok(spec) = text(data).parse::<KernelSpec>() else { return false };
    let printed = spec.to_string();
    let again = printed.parse::<KernelSpec>();
    assert!(again.as_ref().is_ok_and(|again| again.to_string() == printed), "{printed}: {again:?}");
    let x = Matrix::from_fn(3, 2, |i, j| (i as f64 - 0.5) * (j as f64 + 0.25));
    if let Ok(kernel) = Kernel::for_points(&spec, (&x).into(), 0) {
        let matrix = kernel.matrix((&x).into(), (&x).into());
        assert_eq!((matrix.n_rows(), matrix.n_cols()), (3, 3));
    }
    true
}

/// A formula that is accepted means the same when it is printed and read again.
pub(crate) fn formula(_: &Path, data: &[u8]) -> bool {
    let text = text(data);
    let mut accepted = false;
    for allow_y in [false, true] {
        let Ok(formula) = Formula::parse(&text, allow_y) else { continue };
        let printed = formula.to_string();
        let again = Formula::parse(&printed, allow_y);
        assert!(again.as_ref().is_ok_and(|again| again.to_string() == printed), "{printed}: {again:?}");
        let (x, y) = ([0.5, -2.0, 3.0], [1.5, 0.0, -1.0]);
        let value = formula.eval(&x, &y);
        let same = again.is_ok_and(|again| again.eval(&x, &y).to_bits() == value.to_bits());
        assert!(same || value.is_nan(), "{printed}");
        accepted = true;
    }
    accepted
}

pub(crate) fn kernel_seeds(_: &Path) -> Vec<Vec<u8>> {
    [
        "rbf(gamma=0.5)",
        "rbf(gamma=median)",
        "linear",
        "poly(degree=3, gamma=0.1, coef0=1)",
        "sigmoid(gamma=0.01)",
        "matern(nu=2.5)",
        "laplacian",
        "cosine",
        "0.5*rbf(gamma=1) + 0.1*linear",
        "rbf(gamma=1)*poly(degree=2)",
        "((linear))",
        "chi2(gamma=1)",
        "precomputed",
        "exponential(gamma=2)",
        "rbf",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(crate) fn formula_seeds(_: &Path) -> Vec<Vec<u8>> {
    [
        "sqrt(2)*x1^2",
        "1 + 2*x1**2*y1**2",
        "exp(-(x1 - y1)^2)",
        "min(x1, y1) + abs(x2)",
        "-x1^-2",
        "((x1))",
        "2*pi*x3/e",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
