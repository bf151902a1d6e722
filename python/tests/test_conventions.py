"""What holds for all classes alike: precision, exceptions, threads."""

import ast
import inspect
import pickle
import threading
from pathlib import Path

import eigenlift
import numpy as np
import pytest
import threadpoolctl
from eigenlift import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FeatureFilter,
    IncrementalPCA,
    Isomap,
    KernelCCA,
    KernelDiscriminant,
    KernelKMeans,
    KernelPCA,
    LocallyLinearEmbedding,
    Nystroem,
    RBFSampler,
    SequentialFeatureSelector,
    SpectralEmbedding,
    Whitening,
)
from eigenlift._threads import thread_count
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding as TheirSpectralEmbedding

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] > 0).astype(int)

ESTIMATORS = [
    PCA(2),
    PCA(2, whiten=True),
    IncrementalPCA(2),
    Whitening(),
    KernelPCA(2, kernel="rbf"),
    KernelPCA(2, kernel="rbf", rank=10),
    KernelCCA(n_components=2),
    KernelDiscriminant(kernel="rbf"),
    KernelKMeans(n_clusters=3, kernel="rbf"),
    Nystroem(n_components=10, random_state=0),
    RBFSampler(n_components=10, random_state=0),
    Isomap(n_neighbors=8),
    Isomap(n_neighbors=8, metric="chebyshev"),
    ClassicalMDS(),
    ClassicalMDS(metric="chebyshev"),
    ClassicalMDS(landmarks=20, random_state=0),
    SpectralEmbedding(n_neighbors=8),
    SpectralEmbedding(affinity="rbf"),
    LocallyLinearEmbedding(n_neighbors=8),
    LocallyLinearEmbedding(n_neighbors=8, method="ltsa"),
    DiffusionMap(),
    FeatureFilter("f", n_features_to_select=2),
    SequentialFeatureSelector(LogisticRegression(), n_features_to_select=2, cv=2),
]


def test_no_class_is_forgotten():
    classes = {thing for thing in vars(eigenlift).values() if isinstance(thing, type) and hasattr(thing, "fit")}
    assert classes == {type(estimator) for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: repr(estimator).split("(")[0])
def test_what_goes_in_as_float32_comes_out_as_float32(estimator):
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        y = rows[:, :2] if isinstance(estimator, KernelCCA) else Y
        fitted = estimator.fit(rows, y)
        scores = fitted.transform(rows[:7])
        assert scores.dtype == dtype
        if hasattr(fitted, "embedding_"):
            assert fitted.embedding_.dtype == dtype
        assert estimator.fit_transform(rows, y).dtype == dtype


# What they take rows to, beside a transform; `score` and `predict` give numbers and classes of their own type.
METHODS = [
    "denoise",
    "inverse_transform",
    "plane",
    "reconstruction_error",
    "score_samples",
    "t_squared",
    "transform",
]
# Of double precision by intent: statistics that limits are compared with, and probabilities, whose logarithms single precision loses.
DOUBLE = {"novelty_scores", "contributions", "correlations"}
DOUBLE |= {"decision_function", "predict_log_proba", "predict_proba"}
# They give no array for rows, or one of classes; `fit_transform` has a test of its own.
OTHERS = {"fit", "fit_predict", "fit_transform", "partial_fit", "plan", "predict", "score"}
OTHERS |= {"certify", "component_of", "refine", "limits"}


@pytest.mark.parametrize(
    "estimator",
    [
        *ESTIMATORS,
        PCA(2, standardize=True),
        IncrementalPCA(2, whiten=True),
        Whitening(method="cholesky"),
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel="rbf", preimage="auto"),
        KernelPCA(2, kernel="rbf", rank=10, preimage="auto"),
    ],
    ids=lambda estimator: repr(estimator).split("(")[0],
)
@pytest.mark.filterwarnings("ignore::eigenlift.EigenliftWarning")
def test_every_method_on_rows_keeps_their_precision(estimator):
    on_rows = {
        name
        for name in dir(type(estimator))
        if not name.startswith("_")
        and callable(getattr(type(estimator), name))
        and list(inspect.signature(getattr(type(estimator), name)).parameters)[1:2] == ["X"]
    }
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        y = rows[:, :2] if isinstance(estimator, KernelCCA) else Y
        fitted = estimator.fit(rows, y)
        for method in METHODS:
            if method not in on_rows or not hasattr(fitted, method):
                continue
            given = fitted.transform(rows[:7]) if method == "inverse_transform" else rows[:7]
            try:
                found = getattr(fitted, method)(given)
            except NotFittedError:
                assert method == "inverse_transform"
                continue
            assert found.dtype == dtype, method
    # A method that is new has its line in one of these.
    assert on_rows <= set(METHODS) | DOUBLE | OTHERS, on_rows


REFUSED = {
    "an asymmetric matrix": lambda: KernelPCA(2, kernel="precomputed").fit(np.triu(np.ones((9, 9))) + np.eye(9)),
    "a matrix that is not square": lambda: KernelPCA(2, kernel="precomputed").fit(np.ones((9, 8))),
    "one class": lambda: KernelDiscriminant().fit(X, np.zeros(60)),
    "more clusters than rows": lambda: KernelKMeans(n_clusters=61).fit(X),
    "more neighbors than rows": lambda: Isomap(n_neighbors=60).fit(X),
    "more neighbors than rows, LLE": lambda: LocallyLinearEmbedding(n_neighbors=60).fit(X),
    "more components than columns": lambda: PCA(6).fit(X),
    "more components than columns, LLE": lambda: LocallyLinearEmbedding(n_components=6).fit(X),
    "more components than columns, in batches": lambda: IncrementalPCA(6).fit(X),
    "sparse batches": lambda: IncrementalPCA(2).partial_fit(sparse.csr_matrix(X)),
    "weights of another length": lambda: PCA(2).fit(X, sample_weight=np.ones(3)),
    "a number of a kernel": lambda: eigenlift.kernels.Matern(nu=-1),
    "a kernel that is none": lambda: eigenlift.kernels.parse(7),
    "a model without a file": lambda: Nystroem(random_state=0).fit(X).save("x.safetensors"),
    "neighbors for trustworthiness": lambda: eigenlift.trustworthiness(X, X, n_neighbors=50),
    "a plot of nothing": lambda: eigenlift.plot.scree(X),
    "a report of nothing": lambda: eigenlift.report(X, X, path="x.html"),
    "an export that does not exist": lambda: KernelPCA(2, kernel="sigmoid").fit(X).to_onnx(),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_is_of_the_one_class(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(eigenlift.EigenliftError):
        refused()


def test_no_plain_exception_is_raised_by_the_sources():
    plain = {"ValueError", "TypeError", "NotImplementedError"}
    # Python's own text about the arguments of a constructor.
    allowed = {("_kernel_base.py", "TypeError")}
    folder = Path(eigenlift.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            call = node.exc if isinstance(node, ast.Raise) else None
            name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
            assert name not in plain or (path.name, name) in allowed, f"{path}:{node.lineno}"


def test_one_clause_catches_what_the_package_raises(tmp_path):
    from eigenlift.dask import PartitionError

    bases = {
        eigenlift.NoVarianceError: ValueError,
        eigenlift.ModelFileError: ValueError,
        eigenlift.NotConvergedError: RuntimeError,
        eigenlift.MemoryLimitError: MemoryError,
        eigenlift.InvalidParameterError: TypeError,
        eigenlift.UnsupportedError: NotImplementedError,
        PartitionError: RuntimeError,
    }
    for kind, base in bases.items():
        assert issubclass(kind, eigenlift.EigenliftError), kind
        assert issubclass(kind, base), kind
        assert issubclass(kind, ValueError), kind
        assert kind.__doc__
    exported = {thing for thing in vars(eigenlift).values() if isinstance(thing, type) and issubclass(thing, Exception)}
    exported -= {eigenlift.EigenliftWarning, eigenlift.EigenliftError}
    assert exported == set(bases) - {PartitionError}

    wide = RNG.normal(size=(600, 3))
    with pytest.raises(eigenlift.EigenliftError) as raised:
        KernelPCA(2, kernel="rbf", rank=500, memory=1000).fit(wide)
    assert type(raised.value) is eigenlift.MemoryLimitError
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is eigenlift.MemoryLimitError
    assert str(again) == str(raised.value)
    (tmp_path / "m.safetensors").write_bytes(b"no model")
    with pytest.raises(eigenlift.EigenliftError):
        eigenlift.load(tmp_path / "m.safetensors")
    with pytest.raises(eigenlift.EigenliftError):
        PCA(2, svd_solver="none").fit(X)


def controlled():
    return [entry for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "eigenlift"]


def test_limits_on_threads_hold_and_end(monkeypatch):
    for name in ("EIGENLIFT_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    (entry,) = controlled()
    assert entry["version"] == eigenlift.__version__
    before = entry["num_threads"]
    assert before >= 1
    with threadpoolctl.threadpool_limits(1):
        assert [thread_count(n_jobs) for n_jobs in (None, 1, 3, -1)] == [1, 1, 1, 1]
        assert controlled()[0]["num_threads"] == 1
        monkeypatch.setenv("OMP_NUM_THREADS", "4")
        assert thread_count(None) == 1
        monkeypatch.delenv("OMP_NUM_THREADS")
    assert controlled()[0]["num_threads"] == before
    assert [thread_count(n_jobs) for n_jobs in (None, 1, 7)] == [0, 1, 7]
    with threadpoolctl.threadpool_limits({"eigenlift": 1}):
        assert thread_count(5) == 1
    # Limits of others are not ours.
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert thread_count(5) == 5


def test_a_limit_of_one_thread_starts_no_other():
    def threads():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))

    try:
        threads()
    except OSError:
        pytest.skip("threads are counted in /proc")
    rows = RNG.normal(size=(1500, 20))
    most, done = 0, threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.001):
            most = max(most, threads())

    with threadpoolctl.threadpool_limits(1):
        KernelPCA(2, kernel="rbf", n_jobs=6).fit(rows)
        watcher = threading.Thread(target=watch)
        watcher.start()
        before = threads()
        KernelPCA(2, kernel="rbf", n_jobs=6).fit(rows)
        done.set()
        watcher.join()
    assert most <= before + 1


def test_spectral_embedding_with_an_isolated_row_agrees_with_scikit_learn():
    far = np.vstack([X, np.full((1, 5), 1e3)])
    ours = SpectralEmbedding(n_components=2, affinity="rbf", gamma=0.2)
    with pytest.warns(UserWarning, match="Graph is not fully connected"):
        ours.fit(far)
    with pytest.warns(UserWarning, match="Graph is not fully connected"):
        theirs = TheirSpectralEmbedding(n_components=2, affinity="rbf", gamma=0.2, random_state=0).fit(far)
    size = np.abs(theirs.embedding_).max(axis=0)
    same = np.minimum(
        np.abs(ours.embedding_ - theirs.embedding_).max(axis=0), np.abs(ours.embedding_ + theirs.embedding_).max(axis=0)
    )
    # ARPACK's tolerance is rounding; eigenvalues lie 0.01 and more apart.
    assert (same <= 1e-9 * size).all()
    assert np.abs(ours.embedding_[-1]).max() < 1e-12


def test_entries_whose_squares_overflow_get_an_error_that_says_so():
    # Kernel values of the distance are 1 and 0, or an error that names them; never an error of a decomposition.
    for kernel in ("rbf", "poly", "linear", "laplacian", "sigmoid", "cosine"):
        features = Nystroem(kernel, n_components=10, random_state=0)
        try:
            scores = features.fit_transform(X * 1e200)
        except eigenlift.EigenliftError as error:
            assert "finite" in str(error), error
        else:
            assert np.isfinite(scores).all(), kernel


def test_fewer_distinct_rows_than_clusters_warn_as_in_scikit_learn():
    rows = np.repeat(X[:3], 5, axis=0)
    for kernel in ("linear", "rbf"):
        with pytest.warns(
            ConvergenceWarning, match=r"Number of distinct clusters \(3\) found smaller than n_clusters \(8\)"
        ):
            clusters = KernelKMeans(n_clusters=8, kernel=kernel, random_state=0).fit(rows)
        assert len(set(clusters.labels_)) == 3
        assert (clusters.labels_.reshape(3, 5) == clusters.labels_.reshape(3, 5)[:, :1]).all()
        assert clusters.transform(rows).shape == (15, 8)
        assert sorted(clusters.cluster_sizes_) == [0] * 5 + [5] * 3
        assert clusters.inertia_ < 1e-9


def test_versions_are_shown(capsys):
    eigenlift.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["eigenlift"] == eigenlift.__version__ and shown["numpy"] == np.__version__
    assert {"python", "scikit-learn", "pyarrow", "processors"} < set(shown)
