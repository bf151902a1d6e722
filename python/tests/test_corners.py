"""Corners of KernelPCA and its neighbours: large matrices, memory of others, changed attributes, options that exclude each other."""

import eigenlift
import numpy as np
import pytest
from eigenlift import PCA, KernelPCA, Whitening
from eigenlift.kernels import Precomputed
from sklearn import decomposition
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 5))
IRIS, SPECIES = load_iris(return_X_y=True)


def gaussian(x, y):
    return np.exp(-0.1 * ((x - y) ** 2).sum())


def test_large_precomputed_matrices():
    rows = RNG.normal(size=(900, 20))
    K = rbf_kernel(rows, gamma=0.02)
    ours = KernelPCA(5, kernel="precomputed").fit(K)
    theirs = decomposition.KernelPCA(5, kernel="precomputed").fit(K)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


def test_functions_on_more_rows_than_are_solved_directly():
    rows = RNG.normal(size=(560, 3))
    ours = KernelPCA(3, kernel=gaussian).fit(rows)
    theirs = decomposition.KernelPCA(3, kernel="rbf", gamma=0.1).fit(rows)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(rows[:9]), theirs.transform(rows[:9]), atol=1e-5)


def test_functions_with_landmarks_and_refined():
    rough = KernelPCA(2, kernel=gaussian, rank=60).fit(X)
    exact = decomposition.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    assert np.abs(rough.transform(X) - exact.transform(X)).max() < 0.5
    refined = rough.refine(X)
    np.testing.assert_allclose(refined.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(refined.transform(X[:7]), exact.transform(X[:7]), atol=1e-5)


def test_the_way_back_follows_refine():
    ours = KernelPCA(2, kernel="rbf", gamma=0.2, rank=50, fit_inverse_transform=True, tol=1e-10).fit(X).refine(X)
    theirs = decomposition.KernelPCA(2, kernel="rbf", gamma=0.2, fit_inverse_transform=True).fit(X)
    found, wanted = (model.inverse_transform(model.transform(X)) for model in (ours, theirs))
    np.testing.assert_allclose(found, wanted, atol=1e-6)


class Table:
    """Something that is no array and hands out its memory."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


class Sub(np.ndarray):
    pass


@pytest.mark.parametrize("wrap", ["memmap", "subclass", "table", "refine"])
def test_copies_are_made_of_memory_that_belongs_to_others(wrap, tmp_path):
    values = X.copy()
    if wrap == "memmap":
        given = values = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=X.shape)
        values[:] = X
    else:
        given = {"subclass": values.view(Sub), "table": Table(values), "refine": values}[wrap]
    model = KernelPCA(2, kernel="rbf", gamma=0.2, rank=40 if wrap == "refine" else None).fit(given)
    if wrap == "refine":
        model.refine(given)
    before = model.transform(X)
    values[:] = 0.0
    np.testing.assert_array_equal(model.transform(X), before)


def test_precomputed_as_an_object_is_pairwise():
    K = rbf_kernel(IRIS, gamma=0.5)
    scores = [
        cross_val_score(make_pipeline(KernelPCA(5, kernel=kernel), LogisticRegression()), K, SPECIES, cv=3)
        for kernel in ("precomputed", Precomputed())
    ]
    np.testing.assert_array_equal(*scores)
    with pytest.raises(ValueError, match="Cannot fit_inverse_transform with a precomputed kernel"):
        KernelPCA(kernel=Precomputed(), fit_inverse_transform=True).fit(K)


@pytest.mark.parametrize("n_components", [100, None])
def test_indefinite_kernels_are_refused_as_in_scikit_learn(n_components):
    parameters = {"kernel": "poly", "gamma": 1.0, "coef0": -0.5, "degree": 3}
    for module in (decomposition, eigenlift):
        with pytest.raises(ValueError, match="significant negative eigenvalues"):
            module.KernelPCA(n_components, **parameters).fit(X[:100, :3])


def test_a_repaired_kernel_is_told_of():
    with pytest.warns(eigenlift.EigenliftWarning, match="not positive semi-definite"):
        KernelPCA(3, kernel="sigmoid", gamma=0.5, coef0=-1.0, repair="clip").fit(X)


def test_certificates_of_rows_without_variance_can_be_printed():
    assert "no variance" in str(PCA(2).fit(np.ones((5, 3))).certificate_)


@pytest.mark.parametrize("change", ["components_", "mean_"])
def test_changed_attributes_are_used_and_not_saved(change, tmp_path):
    pca = PCA(2).fit(X)
    before = pca.transform(X)
    getattr(pca, change)[...] *= -1.0
    assert np.abs(pca.transform(X) - before).max() > 0.1
    with pytest.raises(ValueError, match="changed after the fit"):
        pca.save(tmp_path / "pca.safetensors")
    assert not list(tmp_path.iterdir())


def test_single_precision_survives_a_file(tmp_path):
    for model in (KernelPCA(2, kernel="rbf", gamma=0.2), PCA(2), Whitening()):
        model.fit(X.astype(np.float32)).save(tmp_path / "model.safetensors")
        again = eigenlift.load(tmp_path / "model.safetensors")
        assert again.transform(X[:3].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rank": 10, "error": 0.1}, "rank and error"),
        ({"rank": 3, "n_components": 10}, "cannot hold n_components=10"),
        ({"kernel_params": 3}, "The 'kernel_params' parameter of KernelPCA"),
        ({"n_jobs": "x"}, "The 'n_jobs' parameter"),
        ({"n_jobs": 1.5}, "The 'n_jobs' parameter"),
        ({"progress": 3}, "The 'progress' parameter of KernelPCA"),
    ],
)
def test_options_that_cannot_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(**{"n_components": 2, "kernel": "rbf", **parameters}).fit(X)


def test_misaligned_arrays():
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:]
    odd = memory.view(np.float64).reshape(X.shape)
    odd[:] = X
    assert not odd.flags.aligned
    np.testing.assert_array_equal(PCA(2).fit_transform(odd), PCA(2).fit_transform(X))


class Bar:
    """A bar that keeps what it shows."""

    made = []

    def __init__(self, total=None, desc=None):
        self.n, self.total, self.desc, self.closed = 0, total, desc, False
        Bar.made.append(self)

    def update(self, steps):
        self.n += steps

    def close(self):
        self.closed = True


def test_bars_start_anew_with_each_pass():
    Bar.made.clear()
    rows = RNG.normal(size=(6000, 30))
    KernelPCA(8, kernel="rbf", gamma=0.02, progress=Bar).fit(rows)
    assert Bar.made and all(bar.closed for bar in Bar.made)
    assert all(bar.total is None or bar.n <= bar.total for bar in Bar.made)


def test_exact_or_not_at_all():
    rows = RNG.normal(size=(3000, 10))
    with pytest.raises(eigenlift.MemoryLimitError):
        KernelPCA(20, kernel="rbf", rank="exact", memory="1MB").fit(rows)
    assert KernelPCA(2, kernel="rbf", rank="exact").fit(rows).plan_.route == "dual"


@pytest.mark.parametrize("Class", [PCA, eigenlift.IncrementalPCA])
def test_more_rows_of_a_sketch_bound_closer(Class):
    rows = RNG.normal(size=(400, 60)) / np.arange(1, 61)
    wide, narrow = (Class(3, route="directions", sketch_rows=size).fit(rows).certificate_ for size in (8, 30))
    assert 0 <= narrow.bounds.slack < wide.bounds.slack
