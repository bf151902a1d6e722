"""Kernels as values, against scikit-learn's pairwise kernels and formulas in NumPy."""

import copy
import math
import pickle

import numpy as np
import pytest
from eigenlift import KernelPCA, _kernel_choice, kernels
from eigenlift.kernels import (
    RBF,
    Chi2,
    Cosine,
    Exponential,
    Expr,
    Intersection,
    Laplacian,
    Linear,
    Map,
    Matern,
    Polynomial,
    Precomputed,
    Product,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
    Tanimoto,
    parse,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.svm import SVC

RNG = np.random.default_rng(7)
X = RNG.uniform(0.1, 1.5, size=(23, 4))
Y = RNG.uniform(0.1, 1.5, size=(17, 4))

SQUARES = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)
DISTANCES = np.sqrt(SQUARES)
L1 = np.abs(X[:, None, :] - Y[None, :, :]).sum(axis=2)
SHARED = X @ Y.T

# Kernel, its text, its values on X and Y.
CASES = [
    (Linear(), "linear", pairwise.linear_kernel(X, Y)),
    (Polynomial(), "polynomial(degree=3,gamma=1,coef0=1)", pairwise.polynomial_kernel(X, Y, gamma=1)),
    (
        Polynomial(degree=2.5, gamma=0.3, coef0=0.7),
        "polynomial(degree=2.5,gamma=0.3,coef0=0.7)",
        pairwise.polynomial_kernel(X, Y, degree=2.5, gamma=0.3, coef0=0.7),
    ),
    (Polynomial(gamma="1/d"), "polynomial(degree=3,gamma=1/d,coef0=1)", pairwise.polynomial_kernel(X, Y)),
    (RBF(gamma=0.5), "rbf(gamma=0.5)", pairwise.rbf_kernel(X, Y, gamma=0.5)),
    (RBF(sigma=2), "rbf(sigma=2)", pairwise.rbf_kernel(X, Y, gamma=1 / 8)),
    (RBF(c=4.0), "rbf(c=4)", pairwise.rbf_kernel(X, Y, gamma=1 / 4)),
    (RBF(gamma="1/d"), "rbf(gamma=1/d)", pairwise.rbf_kernel(X, Y)),
    (Laplacian(gamma=0.4), "laplacian(gamma=0.4)", pairwise.laplacian_kernel(X, Y, gamma=0.4)),
    (Exponential(gamma=0.4), "exponential(gamma=0.4)", np.exp(-0.4 * DISTANCES)),
    (Matern(nu=0.5, length=2), "matern(nu=0.5,length=2)", np.exp(-DISTANCES / 2)),
    (
        Matern(nu=1.5, length=0.8),
        "matern(nu=1.5,length=0.8)",
        (1 + math.sqrt(3) * DISTANCES / 0.8) * np.exp(-math.sqrt(3) * DISTANCES / 0.8),
    ),
    (
        Matern(nu=2.5, length=0.8),
        "matern(nu=2.5,length=0.8)",
        (1 + math.sqrt(5) * DISTANCES / 0.8 + 5 * SQUARES / (3 * 0.64)) * np.exp(-math.sqrt(5) * DISTANCES / 0.8),
    ),
    (
        RationalQuadratic(alpha=1.7, length=0.6),
        "rational_quadratic(alpha=1.7,length=0.6)",
        (1 + SQUARES / (2 * 1.7 * 0.36)) ** -1.7,
    ),
    (Sigmoid(gamma=0.2, coef0=-0.1), "sigmoid(gamma=0.2,coef0=-0.1)", np.tanh(0.2 * X @ Y.T - 0.1)),
    (Sigmoid(), "sigmoid(gamma=1/d,coef0=1)", pairwise.sigmoid_kernel(X, Y)),
    (Cosine(), "cosine", pairwise.cosine_similarity(X, Y)),
    (Chi2(), "chi2(gamma=1)", pairwise.chi2_kernel(X, Y)),
    (Tanimoto(), "tanimoto", SHARED / ((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - SHARED)),
    (Chi2(gamma=0.3), "chi2(gamma=0.3)", pairwise.chi2_kernel(X, Y, gamma=0.3)),
    (Intersection(), "intersection", np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2)),
    (
        Map(1, "sqrt(2)*x1^2", "x2*max(x3, x4)"),
        "map(1, sqrt(2)*x1^2, x2*max(x3, x4))",
        1
        + 2 * np.outer(X[:, 0] ** 2, Y[:, 0] ** 2)
        + np.outer(X[:, 1] * X[:, 2:].max(axis=1), Y[:, 1] * Y[:, 2:].max(axis=1)),
    ),
    (Expr("1 + 2*x1^2*y1^2"), "expr(1 + 2*x1^2*y1^2)", 1 + 2 * np.outer(X[:, 0] ** 2, Y[:, 0] ** 2)),
    (
        RBF(gamma=0.5) + 0.1 * Linear(),
        "rbf(gamma=0.5) + 0.1*linear",
        pairwise.rbf_kernel(X, Y, gamma=0.5) + 0.1 * X @ Y.T,
    ),
    (RBF(gamma=0.5) * Linear(), "rbf(gamma=0.5)*linear", pairwise.rbf_kernel(X, Y, gamma=0.5) * (X @ Y.T)),
    (
        Linear() * (3 * Cosine()) * (Chi2() + Linear()) * 2,
        "6*linear*cosine*(chi2(gamma=1) + linear)",
        6 * (X @ Y.T) * pairwise.cosine_similarity(X, Y) * (pairwise.chi2_kernel(X, Y) + X @ Y.T),
    ),
    (Linear() + -0.5 * Cosine(), "linear + -0.5*cosine", X @ Y.T - 0.5 * pairwise.cosine_similarity(X, Y)),
    (
        1e-7 * (Linear() + Cosine()),
        "1e-7*(linear + cosine)",
        1e-7 * (X @ Y.T + pairwise.cosine_similarity(X, Y)),
    ),
]
IDS = [case[1] for case in CASES]


@pytest.mark.parametrize(("kernel", "text", "values"), CASES, ids=IDS)
def test_values_and_text(kernel, text, values):
    assert str(kernel) == text
    assert_allclose(kernel(X, Y), values, rtol=1e-12)
    assert_allclose(kernel(X.tolist(), Y, n_jobs=2), values, rtol=1e-12)
    assert_allclose(kernel(sparse.csr_matrix(X), sparse.csr_array(Y)), values, rtol=1e-12)
    assert_allclose(kernel(sparse.csr_matrix(X), Y), values, rtol=1e-12)
    assert_allclose(kernel(X[3], Y[5]), values[3, 5], rtol=1e-12)
    assert_allclose(kernel.diag(X), np.diag(kernel(X, X)), rtol=1e-12)
    assert_allclose(kernel(X), kernel(X, X.copy()), rtol=1e-12)


@pytest.mark.parametrize(("kernel", "text", "values"), CASES, ids=IDS)
def test_float32(kernel, text, values):
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, values, rtol=1e-4)
    mixed = kernel(X.astype(np.float32), Y)
    assert mixed.dtype == np.float64
    assert_allclose(mixed, kernel(X.astype(np.float32).astype(np.float64), Y), rtol=1e-12)
    assert kernel.diag(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(("kernel", "text", "values"), CASES, ids=IDS)
def test_round_trips(kernel, text, values):
    assert parse(text) == kernel
    assert str(parse(text)) == text
    assert eval(repr(kernel), vars(kernels)) == kernel
    assert eval(repr(parse(text)), vars(kernels)) == kernel
    for other in (pickle.loads(pickle.dumps(kernel)), clone(kernel, safe=False), copy.deepcopy(kernel)):
        assert other == kernel
        assert other is not kernel
        assert hash(other) == hash(kernel)
        assert repr(other) == repr(kernel)


def test_representation():
    assert repr(RBF(gamma=0.5) + 0.1 * Linear()) == "RBF(gamma=0.5) + 0.1*Linear()"
    assert repr(RBF(gamma=np.float64(0.5))) == "RBF(gamma=0.5)"
    assert repr(2 * (Linear() + Cosine()) * Chi2()) == "2*(Linear() + Cosine())*Chi2(gamma=1)"
    assert repr(Linear() * (2 * Cosine())) == "Linear()*(2*Cosine())"
    assert repr(Polynomial(2)) == "Polynomial(degree=2, gamma=1, coef0=1)"
    assert repr(Matern()) == "Matern(nu=1.5, length='median')"
    assert repr(Map("x1", 2)) == "Map('x1', 2)"
    assert repr(Precomputed()) == "Precomputed()"


def test_numbers_keep_every_bit():
    for gamma in (1 / 3, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 2.0**-40, np.float32(0.1)):
        assert parse(str(RBF(gamma=gamma))).gamma == float(gamma)
        assert eval(repr(RBF(gamma=gamma)), vars(kernels)).gamma == float(gamma)


def test_operators():
    a, b, c = RBF(gamma=0.5), Linear(), Cosine()
    assert (a + b) + c == a + (b + c)
    assert a * b * c == a * (b * c)
    assert 2 * (3 * a) == 6 * a == a * 6
    assert np.float64(2) * a == 2 * a == a * np.int64(2)
    assert isinstance(np.float64(2) * a, Scaled)
    assert sum([a, b, c]) == a + b + c
    assert a + b != b + a
    assert a != "rbf(gamma=0.5)"
    assert Sum(a, b) == a + b
    assert Product(a, b) == a * b
    assert len({RBF(gamma=0.5), RBF(gamma=1 / 2), RBF(gamma=0.25)}) == 2
    for wrong in ("linear", None, 1, True, [b]):
        with pytest.raises(TypeError):
            a + wrong
    for wrong in ("linear", None, True, [b]):
        with pytest.raises(TypeError):
            a * wrong
    total = sum(RBF(gamma=float(i)) for i in range(1, 151))
    assert str(total).count("rbf") == 150
    assert parse(str(total)) == total


def test_parts_are_values():
    """What is built from a kernel does not change with it."""
    part = RBF(gamma=1)
    both = part + part
    both.set_params(k1__gamma=2)
    assert (part.gamma, both.k1.gamma, both.k2.gamma) == (1, 2, 1)


def test_median():
    """Medians by their definition, over all pairs of a small table."""
    first, second = np.tril_indices(len(X), -1)

    def middle(values):
        return np.sort(values)[len(values) // 2]

    squares = middle(((X[first] - X[second]) ** 2).sum(axis=1))
    l1 = middle(np.abs(X[first] - X[second]).sum(axis=1))
    inner = middle(np.abs((X[first] * X[second]).sum(axis=1)))
    assert RBF().resolve(X).gamma == pytest.approx(1 / squares, rel=1e-12)
    assert RBF(sigma="median").resolve(X).sigma == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert RBF(c="median").resolve(X).c == pytest.approx(squares, rel=1e-12)
    assert Laplacian().resolve(X).gamma == pytest.approx(1 / l1, rel=1e-12)
    assert Exponential().resolve(X).gamma == pytest.approx(1 / math.sqrt(squares), rel=1e-12)
    assert Matern().resolve(X).length == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert RationalQuadratic().resolve(X).length == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert Polynomial(gamma="median").resolve(X).gamma == pytest.approx(1 / inner, rel=1e-12)
    assert Sigmoid().resolve(X).gamma == 0.25
    assert_allclose(RBF()(X, Y), pairwise.rbf_kernel(X, Y, gamma=1 / squares), rtol=1e-12)
    assert_allclose((2 * RBF())(X), 2 * pairwise.rbf_kernel(X, gamma=1 / squares), rtol=1e-12)
    assert RBF() == RBF(gamma="median") == parse("rbf") == parse("Gaussian()")


@pytest.mark.parametrize(
    "make",
    [
        lambda: RBF(gamma=0),
        lambda: RBF(gamma=-1.0),
        lambda: RBF(gamma=math.nan),
        lambda: RBF(gamma=math.inf),
        lambda: RBF(gamma="mean"),
        lambda: RBF(gamma="1) + linear*(1"),
        lambda: RBF(gamma=True),
        lambda: RBF(gamma=[1.0]),
        lambda: RBF(gamma=1, sigma=1),
        lambda: RBF(gamma="median", c=1),
        lambda: Polynomial(degree="median"),
        lambda: Polynomial(degree=0),
        lambda: Polynomial(gamma=0),
        lambda: Matern(nu=1),
        lambda: RationalQuadratic(alpha=0),
        lambda: Sigmoid(coef0="1/d"),
        lambda: Map(),
        lambda: Map("x1*y1"),
        lambda: Map("x1 +"),
        lambda: Map("x1) + linear*map(x2"),
        lambda: Map(None),
        lambda: Expr("x1, y1"),
        lambda: Expr("(x1"),
        lambda: 0 * Linear(),
        lambda: math.nan * Linear(),
        lambda: -math.inf * Linear(),
        lambda: Precomputed() + Linear(),
        lambda: 2 * Precomputed(),
        lambda: parse("rfb(gamma=1)"),
        lambda: parse("linear +"),
        lambda: parse("2"),
    ],
)
def test_wrong_values(make):
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        make()


def test_wrong_types():
    for make in (lambda: parse(3), lambda: Sum(Linear(), "linear"), lambda: Scaled(2, None)):
        with pytest.raises(TypeError):
            make()


def test_wrong_rows():
    with pytest.raises(ValueError, match="4 columns and Y has 3"):
        Linear()(X, Y[:, :3])
    with pytest.raises(ValueError, match="precomputed"):
        Precomputed()(X)
    with pytest.raises(ValueError, match="precomputed"):
        Precomputed().diag(X)
    with pytest.raises(ValueError):
        Chi2()(-X)
    with pytest.raises(ValueError):
        Map("x5")(X)
    with pytest.raises(ValueError, match="NaN"):
        Linear()([[np.nan]])


def test_parameters():
    kernel = RBF(gamma=0.5) + 0.1 * Polynomial(degree=2)
    assert kernel.get_params(deep=False) == {"k1": kernel.k1, "k2": kernel.k2}
    params = kernel.get_params()
    assert params["k1__gamma"] == 0.5
    assert params["k2__factor"] == 0.1
    assert params["k2__kernel__degree"] == 2
    same = kernel.set_params(k1__gamma=2.0, k2__kernel__degree=4, k2__factor=3)
    assert same is kernel
    assert kernel == RBF(gamma=2.0) + 3 * Polynomial(degree=4)
    kernel.set_params(k1__gamma=None, k1__sigma="median")
    assert kernel.k1 == RBF(sigma="median")
    with pytest.raises(ValueError, match="above 0"):
        kernel.set_params(k2__factor=7, k1__sigma=-1)
    assert kernel == RBF(sigma="median") + 3 * Polynomial(degree=4)
    for wrong in ("width", "k1__width", "k3"):
        with pytest.raises(ValueError, match="no parameter"):
            kernel.set_params(**{wrong: 1})
    with pytest.raises(TypeError, match="must be a kernel"):
        kernel.set_params(k2__factor__gamma=1)
    assert Map("x1").set_params(formulas=("x1", "x2")) == Map("x1", "x2")


def test_in_a_support_vector_machine():
    """A kernel works where scikit-learn takes a function of two tables."""
    labels = X[:, 0] > X[:, 0].mean()
    ours = SVC(kernel=RBF(gamma=0.7)).fit(X, labels)
    theirs = SVC(kernel="rbf", gamma=0.7).fit(X, labels)
    assert_allclose(ours.decision_function(Y), theirs.decision_function(Y), rtol=1e-9)


NAMED = [
    ("linear", {}),
    ("poly", {}),
    ("polynomial", {"degree": 2.2, "gamma": 0.3, "coef0": 0.4}),
    ("rbf", {}),
    ("rbf", {"gamma": 0.123456789}),
    ("rbf", {"gamma": 0}),
    ("poly", {"degree": 0}),
    ("sigmoid", {"gamma": 0.3, "coef0": 0}),
    ("cosine", {}),
    ("laplacian", {}),
    ("laplacian", {"gamma": 0.7}),
    ("chi2", {}),
    ("chi2", {"gamma": 0.7}),
    ("additive_chi2", {}),
]


def choose(kernel, gamma=None, degree=None, coef0=None, kernel_params=None, **further):
    return _kernel_choice.choose(
        kernel, gamma=gamma, degree=degree, coef0=coef0, kernel_params=kernel_params, n_features=4, **further
    )


@pytest.mark.parametrize(("name", "numbers"), NAMED)
def test_names_have_the_meaning_of_scikit_learn(name, numbers):
    expected = pairwise.pairwise_kernels(X, Y, metric=name, **numbers)
    chosen = choose(name, **numbers)
    block = RNG.normal(size=(len(Y), 3))
    assert_allclose(chosen.matrix(X, Y, 1), expected, rtol=1e-12)
    assert_allclose(chosen.times(X, Y, block, 1), expected @ block, rtol=1e-10)
    assert_allclose(choose(name, kernel_params=numbers).matrix(X, Y, 1), expected, rtol=1e-12)
    square = pairwise.pairwise_kernels(X, metric=name, **numbers)
    assert_allclose(chosen.matrix(X, None, 1), square, rtol=1e-12)
    assert_allclose(chosen.diagonal(X, 1), np.diag(square), rtol=1e-12)
    assert not chosen.precomputed


def test_numbers_of_a_name_that_it_does_not_take_are_ignored():
    assert choose("rbf", gamma=0.5, degree=7, coef0=3).text == "rbf(gamma=0.5)"
    assert choose("linear", gamma=0.5, degree=7, coef0=3).text == "linear"


def test_descriptions_and_kernels():
    assert choose("matern(nu=2.5)").text == "matern(nu=2.5,length=median)"
    assert choose(RBF(gamma=0.5) + Linear()).text == "rbf(gamma=0.5) + linear"
    assert choose("rbf()").text == "rbf(gamma=median)"
    assert choose("precomputed").precomputed
    assert choose(Precomputed()).precomputed
    resolved = choose("rbf(gamma=median)").resolved(X, 1)
    assert resolved.text == str(RBF().resolve(X))
    assert_allclose(resolved.matrix(Y, X, 1), RBF().resolve(X)(Y, X), rtol=1e-12)
    assert choose(Linear(), degree=3, coef0=1).text == "linear"
    for numbers in ({"gamma": 0.5}, {"degree": 2}, {"coef0": 0}):
        with pytest.raises(ValueError, match="Write the numbers into the kernel"):
            choose("matern(nu=2.5)", **numbers)
        with pytest.raises(ValueError, match="Write the numbers into the kernel"):
            choose(RBF(), **numbers)
    with pytest.raises(ValueError, match="degree of Nystroem"):
        choose(RBF(), degree=3, owner="Nystroem", defaults={})


def test_functions():
    def weighted(x, y, weight):
        return weight * np.minimum(x, y).sum()

    chosen = choose(weighted, kernel_params={"weight": 2.0})
    assert_allclose(chosen.matrix(X, Y, 1), 2 * Intersection()(X, Y), rtol=1e-12)
    assert_allclose(chosen.diagonal(X, 1), 2 * X.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("wrong", ["rfb", "", 3, None, "rbf(width=2)", RBF])
def test_unknown_kernels(wrong):
    with pytest.raises(ValueError, match="The 'kernel' parameter of KernelPCA must be a str among"):
        choose(wrong, owner="KernelPCA")


def test_negative_entries_are_refused_in_the_words_of_scikit_learn():
    chosen = choose("chi2")
    with pytest.raises(ValueError, match="X contains negative values"):
        chosen.matrix(-X, Y, 1)
    with pytest.raises(ValueError, match="Y contains negative values"):
        chosen.times(X, sparse.csr_matrix(-Y), np.ones((len(Y), 1)), 1)


def test_a_precomputed_choice_computes_nothing():
    with pytest.raises(ValueError, match="no rows"):
        choose("precomputed").matrix(X, Y, 1)


def test_everything_public_is_exported():
    assert_array_equal(sorted(kernels.__all__), kernels.__all__)
    assert all(hasattr(kernels, name) for name in kernels.__all__)


FINGERPRINTS = (np.random.default_rng(3).uniform(size=(30, 64)) < 0.2).astype(np.float64)
FINGERPRINTS[4] = FINGERPRINTS[9] = 0


def jaccard(rows):
    """Features that both rows have over features that one of them has; 1 where neither has any."""
    sets = [frozenset(np.flatnonzero(row)) for row in rows]
    return np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_tanimoto_of_fingerprints_is_the_jaccard_index(dtype, form):
    rows = FINGERPRINTS.astype(dtype)
    values = Tanimoto()(form(rows))
    assert values.dtype == dtype
    # Counts are exact; one division rounds.
    assert_allclose(values, jaccard(rows), rtol=np.finfo(dtype).eps)
    assert_array_equal(Tanimoto().diag(form(rows)), np.ones(30))
    with pytest.raises(ValueError, match="entries that are not negative"):
        Tanimoto()(form(-rows))


def test_tanimoto_in_kernel_pca_by_name_value_and_matrix():
    by_name = KernelPCA(3, kernel="tanimoto").fit(FINGERPRINTS)
    by_value = KernelPCA(3, kernel=Tanimoto()).fit(FINGERPRINTS)
    by_matrix = KernelPCA(3, kernel="precomputed").fit(jaccard(FINGERPRINTS))
    assert_array_equal(by_name.transform(FINGERPRINTS), by_value.transform(FINGERPRINTS))
    assert_allclose(by_name.eigenvalues_, by_matrix.eigenvalues_, rtol=1e-9)
