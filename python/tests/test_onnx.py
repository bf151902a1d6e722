"""ONNX graphs, run in onnxruntime and compared with scikit-learn and with formulas in double precision."""

import subprocess
import sys

import eigenlift
import numpy as np
import pytest
from eigenlift import _onnx
from scipy import sparse
from sklearn import decomposition
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = {"float32": 1e-5, "float64": 1e-10}
COMMON = set("Sub MatMul Add Mul ReduceSumSquare Max Exp Pow Tanh Floor Concat".split())

both_precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])


def scores_of(model, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"X": X})
    return scores


def check(model, X, reference, dtype, tolerance=None):
    """The graph gives `reference` of the rows that it gets, and keeps the precision that was asked for."""
    X = np.asarray(X).astype(dtype)
    expected = reference(X.astype(np.float64))
    scores = scores_of(model, X)
    assert scores.dtype == dtype
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=0, atol=(tolerance or TOLERANCE[dtype]) * np.abs(expected).max())


def operators(model):
    return {node.op_type for node in model.graph.node}


def rows(name):
    return {"digits": load_digits, "iris": load_iris}[name]().data


def with_new_rows(X):
    """The rows and others that lie near them."""
    noise = np.random.default_rng(0).normal(scale=0.1 * X.std(), size=X[:500].shape)
    return np.vstack([X, X[:500] + noise])


def fitted_reference(X, n_components=6, **parameters):
    """scikit-learn's kernel PCA with the coefficients and the offset of its scores."""
    solver = "dense" if len(X) < 500 else "arpack"
    reference = decomposition.KernelPCA(n_components, eigen_solver=solver, random_state=0, **parameters).fit(X)
    kept = reference.eigenvalues_ > 0
    coefficients = np.zeros_like(reference.eigenvectors_)
    coefficients[:, kept] = reference.eigenvectors_[:, kept] / np.sqrt(reference.eigenvalues_[kept])
    # Its scores are (k - mean over samples - mean over this row + mean of all) times eigenvectors: centred coefficients
    # do the last two, which matters where rounding left eigenvectors that do not add up to 0.
    coefficients -= coefficients.mean(axis=0)
    gamma, degree, coef0 = reference.gamma_, reference.degree, reference.coef0
    kernel, K = {
        "linear": lambda: ("linear", linear_kernel(X)),
        "poly": lambda: (
            f"polynomial(degree={degree},gamma={gamma!r},coef0={coef0})",
            polynomial_kernel(X, degree=degree, gamma=gamma, coef0=coef0),
        ),
        "rbf": lambda: (f"rbf(gamma={gamma!r})", rbf_kernel(X, gamma=gamma)),
    }[parameters["kernel"]]()
    parts = {"kernel": kernel, "samples": X, "coefficients": coefficients, "offset": K.mean(axis=0) @ coefficients}
    return reference, {**parts, "n_features": X.shape[1], "name": "KernelPCA"}


def landmark_parts(kernel, values, X, landmarks, n_components):
    """Coefficients over landmarks of the principal components of Nyström features, and the scores' formula."""
    variances, axes = np.linalg.eigh(values(landmarks, landmarks))
    kept = variances > 1e-12 * variances[-1]
    whitened = axes[:, kept] / np.sqrt(variances[kept])
    lift = values(X, landmarks)
    features = lift @ whitened
    directions = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)[2][:n_components].T
    parts = {"samples": landmarks, "coefficients": whitened @ directions, "kernel": kernel, "name": "KernelPCA"}
    parts |= {"offset": lift.mean(axis=0) @ parts["coefficients"], "n_features": X.shape[1]}
    return parts, lambda x: values(x, landmarks) @ parts["coefficients"] - parts["offset"]


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.5},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 5e-4},
    {"kernel": "rbf", "gamma": 1e-6},
]


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_kernel_pca_of_digits_needs_single_precision_only(parameters):
    X = rows("digits")
    reference, parts = fitted_reference(X, **parameters)
    single = _onnx.kernel_model(**parts)
    check(single, with_new_rows(X), reference.transform, "float32")
    assert operators(single) <= COMMON
    assert {tensor.data_type for tensor in single.graph.initializer} == {onnx.TensorProto.FLOAT}
    # A wide kernel leaves scikit-learn's centring few digits more than this.
    check(_onnx.kernel_model(**parts, dtype="float64"), with_new_rows(X), reference.transform, "float64", 1e-8)


@both_precisions
@pytest.mark.parametrize("parameters", [*KERNELS, {"kernel": "rbf", "gamma": 40.0}], ids=str)
def test_kernel_pca_of_iris(parameters, dtype):
    X = rows("iris")
    reference, parts = fitted_reference(X, n_components=3, **parameters)
    check(_onnx.kernel_model(**parts, dtype=dtype), with_new_rows(X), reference.transform, dtype, 1e-5)


def test_components_of_tiny_variance_are_found_in_double_precision_inside():
    X = rows("iris")
    reference, parts = fitted_reference(X, n_components=40, kernel="rbf", gamma=0.02)
    assert reference.eigenvalues_[0] > 1e6 * reference.eigenvalues_[-1] > 0
    model = _onnx.kernel_model(**parts)
    expected = reference.transform(X.astype(np.float32).astype(np.float64))
    sizes = np.abs(expected).max(axis=0)
    assert (np.abs(scores_of(model, X.astype(np.float32)) - expected) <= 1e-5 * sizes).all()
    assert operators(model) - COMMON == {"Cast"}
    assert model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT


@pytest.mark.parametrize(
    "far, parameters", [(1000.0, {"kernel": "rbf", "gamma": 5e-4}), (100.0, {"kernel": "poly", "degree": 2})], ids=str
)
def test_rows_far_from_the_origin_lose_nothing(far, parameters):
    X = rows("digits")[::2] + far
    reference, parts = fitted_reference(X, **parameters)
    model = _onnx.kernel_model(**parts)
    check(model, with_new_rows(X), reference.transform, "float32")
    assert operators(model) <= COMMON


def test_near_neighbours_under_a_narrow_kernel():
    X = rows("digits")[:300] / 3
    near = X + np.random.default_rng(0).normal(scale=0.03, size=X.shape)
    coefficients = np.random.default_rng(1).normal(size=(len(X), 2))
    assert np.median(rbf_kernel(near, X, 4.0)) < 1e-20 and rbf_kernel(near, X, 4.0).max(axis=1).min() > 0.1
    model = _onnx.kernel_model(
        kernel="rbf(gamma=4)", samples=X, coefficients=coefficients, offset=np.ones(2), n_features=64, name="KernelPCA"
    )
    check(model, near, lambda x: rbf_kernel(x, X, 4.0) @ coefficients - 1, "float32")
    assert operators(model) <= COMMON


@both_precisions
@pytest.mark.parametrize("name", ["digits", "iris"])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_landmarks(name, gamma, dtype):
    X = rows(name)
    landmarks = X[:: len(X) // 50]
    gamma = gamma / float(2 * X.var(axis=0).sum())
    parts, formula = landmark_parts(f"rbf(gamma={gamma!r})", lambda x, y: rbf_kernel(x, y, gamma), X, landmarks, 4)
    assert np.abs(parts["coefficients"].sum(axis=0)).max() > 1e-8, "they do not add up to 0 as those over samples do"
    check(_onnx.kernel_model(**parts, dtype=dtype), with_new_rows(X), formula, dtype, 1e-5)


def combined(x, y):
    return 0.5 * rbf_kernel(x, y, 0.02) * polynomial_kernel(x, y, 2, 0.1, 1) + 0.01 * linear_kernel(x, y)


NOTATIONS = [
    ("Gaussian(0.25)", lambda x, y: rbf_kernel(x, y, 0.25)),
    ("rbf(sigma=2)", lambda x, y: rbf_kernel(x, y, 1 / 8)),
    ("rbf(c=2.5e1)", lambda x, y: rbf_kernel(x, y, 1 / 25)),
    ("poly", lambda x, y: polynomial_kernel(x, y, 3, 1, 1)),
    ("poly(2, coef0=-0.5)", lambda x, y: polynomial_kernel(x, y, 2, 1, -0.5)),
    ("polynomial(degree=1,gamma=2,coef0=1)", lambda x, y: polynomial_kernel(x, y, 1, 2, 1)),
    ("polynomial(degree=2.5,gamma=0.1,coef0=1)", lambda x, y: (0.1 * linear_kernel(x, y) + 1) ** 2.5),
    ("polynomial(degree=12,gamma=0.01,coef0=1)", lambda x, y: polynomial_kernel(x, y, 12, 0.01, 1)),
    ("2*linear", lambda x, y: 2 * linear_kernel(x, y)),
    ("linear*linear", lambda x, y: linear_kernel(x, y) ** 2),
    ("3*(linear + 2*rbf(gamma=0.1))", lambda x, y: 3 * linear_kernel(x, y) + 6 * rbf_kernel(x, y, 0.1)),
    (
        "rbf(gamma=0.1)*(linear + 2*poly(2))",
        lambda x, y: rbf_kernel(x, y, 0.1) * (linear_kernel(x, y) + 2 * polynomial_kernel(x, y, 2, 1, 1)),
    ),
    ("0.5*rbf(gamma=0.02)*polynomial(degree=2,gamma=0.1,coef0=1) + 0.01*linear", combined),
    ("linear + -0.1*rbf(gamma=0.02)", lambda x, y: linear_kernel(x, y) - 0.1 * rbf_kernel(x, y, 0.02)),
]


@both_precisions
@pytest.mark.parametrize("kernel, values", NOTATIONS, ids=[text for text, _ in NOTATIONS])
def test_notations_of_kernels(kernel, values, dtype):
    X = rows("iris")
    coefficients = np.random.default_rng(1).normal(size=(len(X), 2))
    offset = np.array([0.5, -2.0])
    model = _onnx.kernel_model(
        kernel=kernel, samples=X, coefficients=coefficients, offset=offset, dtype=dtype, n_features=4, name="KernelPCA"
    )
    check(model, with_new_rows(X), lambda x: values(x, X) @ coefficients - offset, dtype)


def test_large_powers_stay_within_single_precision():
    X = 1e4 * rows("iris")
    K = polynomial_kernel(X, degree=5, gamma=1, coef0=1)
    assert K.max() > np.finfo(np.float32).max
    coefficients = np.random.default_rng(1).normal(size=(len(X), 2)) / K.max()
    model = _onnx.kernel_model(
        kernel="poly(5)", samples=X, coefficients=coefficients, offset=np.zeros(2), n_features=4, name="KernelPCA"
    )
    check(model, X, lambda x: polynomial_kernel(x, X, 5, 1, 1) @ coefficients, "float32")
    assert operators(model) <= COMMON


def test_numbers_too_large_for_single_precision_are_refused():
    parts = {"kernel": "linear", "samples": np.eye(2), "coefficients": 1e39 * np.eye(2), "offset": np.zeros(2)}
    parts |= {"n_features": 2, "name": "KernelPCA"}
    with pytest.raises(ValueError, match="coefficients .* too large for float32; try dtype='float64'"):
        _onnx.kernel_model(**parts)
    np.testing.assert_allclose(scores_of(_onnx.kernel_model(**parts, dtype="float64"), np.eye(2)), 1e39 * np.eye(2))


@both_precisions
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("name", ["digits", "iris"])
def test_pca(name, whiten, dtype):
    X = rows(name)
    reference = decomposition.PCA(4, whiten=whiten, svd_solver="full").fit(X)
    model = _onnx.linear_model(
        center=reference.mean_,
        axes=reference.components_,
        divisor=np.sqrt(reference.explained_variance_) if whiten else None,
        dtype=dtype,
        n_features=X.shape[1],
        name="PCA",
    )
    check(model, with_new_rows(X), reference.transform, dtype)
    assert operators(model) == {"Sub", "MatMul", "Add"}


def test_a_centre_that_single_precision_does_not_hold():
    X = rows("iris") + np.array([1e4, 2e4, 3e4, 4e4]) + 1 / 3
    reference = decomposition.PCA(4).fit(X)
    model = _onnx.linear_model(center=reference.mean_, axes=reference.components_, n_features=4, name="PCA")
    check(model, X, lambda x: (x - reference.mean_) @ reference.components_.T, "float32", 1e-6)
    assert operators(model) == {"Sub", "MatMul", "Add"}


def test_whitening_of_very_different_variances_uses_double_precision_inside():
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 1e3, 1e6] @ np.linalg.qr(np.vander([1.0, 2, 3]))[0]
    reference = decomposition.PCA(3, whiten=True, svd_solver="full").fit(X)
    divisor = np.sqrt(reference.explained_variance_)
    model = _onnx.linear_model(
        center=reference.mean_, axes=reference.components_, divisor=divisor, n_features=3, name="Whitening"
    )
    check(model, X, reference.transform, "float32")
    assert "Cast" in operators(model)


def test_no_centre_is_a_centre_of_zeros():
    X = rows("iris")
    axes = np.array([[1.0, 2.0, 3.0, -4.0]])
    check(_onnx.linear_model(center=None, axes=axes, n_features=4, name="PCA"), X, lambda x: x @ axes.T, "float32")


@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_any_number_of_rows(n_rows):
    X = rows("iris")
    reference, parts = fitted_reference(X, n_components=3, kernel="rbf")
    linear = _onnx.linear_model(center=X.mean(axis=0), axes=np.eye(4)[:3], n_features=4, name="PCA")
    kernel = _onnx.kernel_model(**parts)
    some = X[:n_rows].astype(np.float32)
    assert scores_of(linear, some).shape == scores_of(kernel, some).shape == (n_rows, 3)
    if n_rows:
        expected = reference.transform(some.astype(np.float64))
        np.testing.assert_allclose(scores_of(kernel, some), expected, atol=1e-5)
        np.testing.assert_allclose(scores_of(linear, some), (some - X.mean(axis=0))[:, :3], atol=1e-5)


def test_another_runtime_gives_the_same():
    X = rows("iris").astype(np.float32)
    for parameters in ({"kernel": "rbf", "gamma": 2.0}, {"kernel": "rbf", "gamma": 1e-3}, {"kernel": "poly"}):
        model = _onnx.kernel_model(**fitted_reference(X.astype(np.float64), n_components=3, **parameters)[1])
        (scores,) = onnx.reference.ReferenceEvaluator(model).run(None, {"X": X})
        np.testing.assert_allclose(scores_of(model, X), scores, rtol=0, atol=1e-5 * np.abs(scores).max())


def test_the_file_says_what_it_is():
    _, parts = fitted_reference(rows("iris"), n_components=3, kernel="rbf", gamma=0.5)
    model = onnx.load_from_string(_onnx.kernel_model(**parts).SerializeToString())
    onnx.checker.check_model(model, full_check=True)
    assert (model.producer_name, model.producer_version) == ("eigenlift", _onnx.__version__)
    assert "KernelPCA" in model.doc_string and "rbf(gamma=0.5)" in model.doc_string
    assert {p.key: p.value for p in model.metadata_props} == {"method": "KernelPCA", "kernel": "rbf(gamma=0.5)"}
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 17)]
    (X,), (scores,) = model.graph.input, model.graph.output
    shapes = [[d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim] for value in (X, scores)]
    assert (X.name, scores.name, shapes) == ("X", "scores", [["batch", 4], ["batch", 3]])


@pytest.mark.parametrize(
    "kernel, name",
    [
        ("laplacian(gamma=1)", "laplacian"),
        ("linear + 2*matern(nu=1.5,length=1)", "matern"),
        ("map(1, sqrt(2)*x1^2)", "map"),
        ("expr(x1*y1)", "expr"),
        ("precomputed", "precomputed"),
        (rbf_kernel, "rbf_kernel"),
    ],
)
def test_other_kernels_are_refused_by_name(kernel, name):
    with pytest.raises(NotImplementedError, match=rf"{name}.* cannot be exported: linear, polynomial and rbf"):
        _onnx.kernel_model(
            kernel=kernel, samples=np.eye(2), coefficients=np.eye(2), offset=np.zeros(2), n_features=2, name="KernelPCA"
        )


@pytest.mark.parametrize(
    "kernel",
    ["", "rbf", "rbf(gamma=median)", "rbf(gamma=-1)", "rbf(gamma=1,c=2)", "poly(gamma=1/d)", "2", "linear + 2"]
    + ["linear(1)", "poly(1, 2, 3, 4)", "poly(2, degree=3)", "poly(order=2)", "linear - linear", "linear)"],
)
def test_kernels_with_open_numbers_or_bad_text_are_refused(kernel):
    with pytest.raises(ValueError, match="every number known"):
        _onnx.kernel_model(
            kernel=kernel, samples=np.eye(2), coefficients=np.eye(2), offset=np.zeros(2), n_features=2, name="KernelPCA"
        )


def csr_parts(X):
    X = sparse.csr_matrix(X)
    return X.indptr, X.indices, X.data, X.shape[1]


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"samples": sparse.csr_matrix(np.eye(2))}, NotImplementedError, r"samples .* sparse.*toarray"),
        ({"samples": csr_parts(np.eye(2))}, NotImplementedError, r"samples .* sparse.*toarray"),
        ({"samples": None}, NotImplementedError, "holds no samples or landmarks"),
        ({"samples": np.eye(3)}, ValueError, r"samples has shape \(3, 3\); 2 columns"),
        ({"samples": np.zeros((0, 2))}, ValueError, r"samples has shape \(0, 2\)"),
        ({"coefficients": np.ones((3, 1))}, ValueError, r"coefficients has shape \(3, 1\); 2 rows"),
        ({"offset": np.zeros(3)}, ValueError, r"offset has shape \(3,\); \(2,\)"),
        ({"offset": np.array([0.0, np.nan])}, ValueError, "offset .* NaN"),
        ({"dtype": "float16"}, ValueError, "float32 or float64"),
        ({"dtype": int}, ValueError, "float32 or float64"),
    ],
)
def test_arrays_that_make_no_graph_are_refused(change, error, message):
    good = {"kernel": "linear", "samples": np.eye(2), "coefficients": np.eye(2), "offset": np.zeros(2)}
    good |= {"n_features": 2, "name": "KernelPCA"}
    assert _onnx.kernel_model(**good).graph.name == "KernelPCA"
    with pytest.raises(error, match=message):
        _onnx.kernel_model(**(good | change))


def test_a_model_too_large_for_a_file_is_refused(monkeypatch):
    monkeypatch.setattr(_onnx, "_LARGEST_FILE", 1000)
    with pytest.raises(ValueError, match="2 GiB"):
        _onnx.linear_model(center=None, axes=np.eye(20), n_features=20, name="PCA")


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install eigenlift\[onnx\]"):
        _onnx.linear_model(center=None, axes=np.eye(2), n_features=2, name="PCA")


def test_importing_the_package_does_not_import_onnx():
    code = "import sys, eigenlift, eigenlift._onnx; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Through the estimators. Their own scores are compared with scikit-learn's elsewhere.


@both_precisions
@pytest.mark.parametrize("name", ["digits", "iris"])
@pytest.mark.parametrize("parameters", [{"kernel": "linear"}, {"kernel": "poly"}, {"kernel": "rbf"}], ids=str)
def test_kernel_pca_estimator(name, parameters, dtype):
    X = rows(name)
    estimator = eigenlift.KernelPCA(3, **parameters).fit(X)
    check(estimator.to_onnx(dtype=dtype), with_new_rows(X), estimator.transform, dtype, 1e-5)


def test_kernel_pca_estimator_with_landmarks():
    X = rows("digits")
    estimator = eigenlift.KernelPCA(3, kernel="rbf", gamma=5e-4, rank=200).fit(X)
    check(estimator.to_onnx(), with_new_rows(X), estimator.transform, "float32")


def test_kernel_pca_estimator_with_a_kernel_without_graph():
    estimator = eigenlift.KernelPCA(2, kernel="sigmoid", gamma=1e-3).fit(rows("iris"))
    with pytest.raises(NotImplementedError, match="sigmoid"):
        estimator.to_onnx()


@both_precisions
@pytest.mark.parametrize("name", ["digits", "iris"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("estimator", ["PCA", "IncrementalPCA"])
def test_pca_estimators(estimator, whiten, name, dtype):
    X = rows(name)
    fitted = getattr(eigenlift, estimator)(4, whiten=whiten).fit(X)
    check(fitted.to_onnx(dtype=dtype), with_new_rows(X), fitted.transform, dtype)


def test_pca_estimator_of_standardised_columns():
    X = rows("iris") * [1, 10, 100, 1000]
    fitted = eigenlift.PCA(3, standardize=True).fit(X)
    check(fitted.to_onnx(), with_new_rows(X), fitted.transform, "float32")


@both_precisions
@pytest.mark.parametrize("method", ["zca", "pca", "cholesky", "zca-cor", "pca-cor"])
def test_whitening_estimator(method, dtype):
    X = rows("iris")
    fitted = eigenlift.Whitening(method=method).fit(X)
    check(fitted.to_onnx(dtype=dtype), with_new_rows(X), fitted.transform, dtype)


@pytest.mark.parametrize("estimator", ["KernelPCA", "PCA", "IncrementalPCA", "Whitening"])
def test_estimators_must_be_fitted_first(estimator):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        getattr(eigenlift, estimator)().to_onnx()
