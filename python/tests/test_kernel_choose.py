"""Choosing the kernel, its bandwidth and the number of components: by hidden entries, by labels, and in the fit itself."""

import pickle
import warnings

import eigenlift
import numpy as np
import pytest
from eigenlift import EigenliftError, EigenliftWarning, InvalidParameterError, KernelPCA, choose_kernel_pca
from eigenlift.kernels import RBF, Linear, Matern, parse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

IRIS = load_iris()
# Enough to choose from, and quick.
FEW = {"max_rows": 100, "most_components": 8}


def ring(n=150, seed=0):
    """Rows around a closed curve in four dimensions."""
    random = np.random.RandomState(seed)
    t = random.uniform(0, 2 * np.pi, n)
    return np.c_[np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)] + 0.1 * random.randn(n, 4)


def test_the_circle_is_denoised_as_well_as_by_the_best_choice(noisy_problems):
    fitted, clean, noisy = noisy_problems["circle"]
    seen = []
    choice = choose_kernel_pca(fitted, most_components=16, max_rows=400, progress=lambda *step: seen.append(step))
    denoised = choice.estimator().fit(fitted).denoise(noisy)
    # 0.051242 is the smallest error on a grid of bandwidths and components that knows the truth.
    assert ((denoised - clean) ** 2).sum(axis=1).mean() < 1.1 * 0.051242
    assert choice.criterion == "masked error" and choice.points[choice.chosen]["error"] < 0.5 * choice.baseline
    assert seen


def test_a_choice_tells_all():
    choice = choose_kernel_pca(ring(), **FEW)
    point = choice.points[choice.chosen]
    assert choice.kernel == point["kernel"] == f"rbf(gamma={choice.bandwidth!r})"
    assert choice.n_components == point["n_components"]
    assert set(point) == {"kernel", "bandwidth", "n_components", "error", "spread", "n_masks"}
    assert choice.chosen in choice.near
    near = [choice.points[at] for at in choice.near]
    assert choice.k_range == (min(p["n_components"] for p in near), max(p["n_components"] for p in near))
    assert choice.gamma_range == (min(p["bandwidth"] for p in near), max(p["bandwidth"] for p in near))
    assert str(choice) == choice.sentence and "times the median heuristic" in choice.sentence
    assert repr(choice).startswith("KernelChoice(kernel='rbf(gamma=")
    assert_allclose(
        1 / choice.median, np.median(((ring()[:, None] - ring()) ** 2).sum(axis=2)[np.triu_indices(150, 1)]), rtol=0.02
    )
    assert choice.n_rows == 100 and all(len(p) == 6 for p in choice.points)
    model = choice.estimator(preimage="gradient")
    assert (model.kernel, model.n_components, model.preimage) == (choice.kernel, choice.n_components, "gradient")
    again = pickle.loads(pickle.dumps(choice))
    assert again.points == choice.points and str(again) == str(choice)


def test_threads_change_nothing_and_seeds_do():
    X = ring()
    one, two = choose_kernel_pca(X, n_jobs=1, **FEW), choose_kernel_pca(X, n_jobs=2, **FEW)
    assert one.points == two.points
    other = choose_kernel_pca(X, random_state=1, **FEW)
    assert other.points != one.points


def test_kernels_by_name_by_value_and_several():
    X = ring()
    assert choose_kernel_pca(X, kernel="matern", n_components=4, **FEW).kernel.startswith("matern(nu=1.5,length=")
    assert choose_kernel_pca(X, kernel=RBF(gamma="auto"), n_components=4, **FEW).n_components == 4
    kept = choose_kernel_pca(X, kernel=RBF(gamma=0.5), **FEW)
    assert kept.kernel == "rbf(gamma=0.5)" and len({p["kernel"] for p in kept.points}) == 1
    several = choose_kernel_pca(X, kernel=[Linear(), "rbf", Matern(nu=2.5, length="auto")], n_components=3, **FEW)
    assert {p["kernel"].split("(")[0] for p in several.points} == {"linear", "rbf", "matern"}
    auto = choose_kernel_pca(X, kernel="auto", n_components=3, **FEW)
    assert {p["kernel"].split("(")[0] for p in auto.points} == {"linear", "rbf"}
    assert "auto" in repr(RBF(gamma="auto")) and parse("rbf(gamma=auto)") == RBF(gamma="auto")


def test_masks():
    X = np.repeat(ring(), 4, axis=1)
    alone = choose_kernel_pca(X, n_components=4, **FEW)
    blocks = choose_kernel_pca(X, n_components=4, mask=("blocks", 4), **FEW)
    image = choose_kernel_pca(X, n_components=4, mask=("image", (4, 4)), **FEW)
    # A hidden entry whose copies are seen is easy.
    assert alone.points[alone.chosen]["error"] < blocks.points[blocks.chosen]["error"]
    assert image.criterion == "masked error"
    for wrong in ("squares", ("blocks", 0), ("blocks", (1, 2)), ("image", 4), ("image", (2, 2.5)), 3):
        with pytest.raises(InvalidParameterError, match="'mask' parameter of choose_kernel_pca must be"):
            choose_kernel_pca(X, mask=wrong)
    with pytest.raises(EigenliftError, match="height times width must be the number of columns"):
        choose_kernel_pca(X, mask=("image", (3, 3)))


def test_labels():
    names = np.array(IRIS.target_names)[IRIS.target]
    by_names = choose_kernel_pca(IRIS.data, names, **FEW)
    assert by_names.criterion.startswith("accuracy")
    assert by_names.points[by_names.chosen]["error"] < 0.1
    assert choose_kernel_pca(IRIS.data, IRIS.target, **FEW).points == by_names.points
    numbers = choose_kernel_pca(IRIS.data[:, :3], IRIS.data[:, 3], **FEW)
    assert numbers.criterion.startswith("R2") and numbers.points[numbers.chosen]["error"] < 0.2
    assert choose_kernel_pca(IRIS.data, IRIS.target, task="regression", **FEW).criterion.startswith("R2")
    for scorer in ("knn", "ridge"):
        assert choose_kernel_pca(IRIS.data, names, scorer=scorer, **FEW).criterion == f"accuracy {scorer}"
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        choose_kernel_pca(IRIS.data, names[:-1])
    with pytest.raises(EigenliftError, match="all the same"):
        choose_kernel_pca(IRIS.data, np.zeros(150, dtype=int))


def test_what_is_refused():
    X = ring()
    for name, value in {
        "n_components": 0,
        "most_components": 1.5,
        "max_rows": -1,
        "task": "both",
        "scorer": "lda",
        "kernel": 3,
        "progress": 1,
    }.items():
        with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of choose_kernel_pca must be"):
            choose_kernel_pca(X, **{name: value})
    with pytest.raises(EigenliftError, match="needs at least 8"):
        choose_kernel_pca(X[:5])
    with pytest.raises(ValueError, match="NaN"):
        choose_kernel_pca(np.where(X > 1, np.nan, X))
    with pytest.raises(EigenliftError):
        choose_kernel_pca(X, kernel="poly(3)")
    with pytest.raises(EigenliftError):
        choose_kernel_pca(X, kernel="no kernel")
    with pytest.raises(ValueError, match="chosen in the fit"):
        parse("auto")


@pytest.mark.parametrize(
    "settings",
    [
        {"n_components": "auto", "kernel": "rbf", "gamma": "auto"},
        {"n_components": "auto", "kernel": "auto"},
        {"n_components": 3, "kernel": "rbf(gamma=auto)"},
        {"n_components": "auto", "kernel": "rbf(gamma=median)"},
        {"n_components": "auto", "kernel": RBF(gamma="auto"), "rank": 60},
    ],
)
def test_a_fit_chooses(settings, tmp_path):
    X = ring()
    kpca = KernelPCA(random_state=0, **settings)
    scores = kpca.fit_transform(X)
    choice = kpca.choice_
    assert scores.shape == (150, choice.n_components) == (150, len(kpca.eigenvalues_))
    assert kpca.kernel_ == choice.kernel
    assert any(choice.sentence in reason for reason in kpca.plan_.reasons)
    told = KernelPCA(choice.n_components, kernel=choice.kernel, rank=settings.get("rank"), random_state=0).fit(X)
    assert_array_equal(told.transform(X), kpca.transform(X))
    assert hasattr(kpca, "landmarks_" if "rank" in settings else "X_fit_")
    if settings.get("gamma") == "auto":
        assert kpca.gamma_ == choice.bandwidth
    # It goes on as any other fit does.
    assert kpca.certify(X).worst_residual < (1 if "rank" in settings else 1e-6)
    assert_array_equal(pickle.loads(pickle.dumps(kpca)).transform(X), kpca.transform(X))
    kpca.save(tmp_path / "chosen.safetensors")
    loaded = eigenlift.load(tmp_path / "chosen.safetensors")
    assert_array_equal(loaded.transform(X), kpca.transform(X))
    assert kpca.refine(X).choice_ is choice and len(kpca.eigenvalues_) == choice.n_components
    # A fit that chooses nothing has no choice.
    kpca.set_params(n_components=2, kernel="rbf", gamma=0.5, rank=None).fit(X)
    assert not hasattr(kpca, "choice_")


def test_a_fit_that_chooses_owns_its_rows():
    X = ring()
    given = X.copy()
    kpca = KernelPCA(3, kernel="rbf(gamma=auto)").fit(given)
    before = kpca.transform(X)
    given[:] = 0
    assert_array_equal(kpca.transform(X), before)


def test_a_plan_of_a_fit_that_chooses():
    plan = KernelPCA("auto", kernel="rbf(gamma=auto)").plan(ring())
    assert any("chosen by cross-validation" in reason for reason in plan.reasons)


def test_what_a_fit_cannot_choose():
    X = ring()
    with pytest.raises(ValueError, match="n_components='auto' with the kernel 'precomputed'"):
        KernelPCA("auto", kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match="cross-validation needs rows, and a kernel that can be written down"):
        KernelPCA("auto", kernel=lambda a, b: a @ b).fit(X)
    with pytest.raises(ValueError, match="gamma of KernelPCA cannot be given together with the kernel auto"):
        KernelPCA(2, kernel="auto", gamma=0.1).fit(X)
    for kernel in ("poly", "sigmoid", "laplacian", "chi2"):
        with pytest.raises(EigenliftError):
            KernelPCA(2, kernel=kernel, gamma="auto").fit(np.abs(X))
    with pytest.raises(EigenliftError):
        KernelPCA("auto", kernel="poly").fit(X)
    with pytest.raises(EigenliftError, match="needs at least 8"):
        KernelPCA("auto", kernel="rbf").fit(X[:4])
    with pytest.raises(EigenliftError):
        KernelPCA(2, kernel="rbf(gamma=auto)").fit(np.ones((20, 3)))
    for wrong in ({"n_components": "many"}, {"gamma": "some"}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            KernelPCA(kernel="rbf", **wrong).fit(X)
    with pytest.raises(EigenliftError, match="auto"):
        RBF(gamma="auto")(X)
    assert clone(KernelPCA("auto", gamma="auto")).get_params()["gamma"] == "auto"


@pytest.mark.filterwarnings("ignore::eigenlift.EigenliftWarning")
def test_warnings_of_a_choice_are_passed_on():
    noise = np.random.RandomState(0).randn(60, 6)
    with pytest.warns(EigenliftWarning, match="no structure"):
        kpca = KernelPCA("auto", kernel="rbf(gamma=auto)").fit(noise)
    assert any("no structure" in words for words in kpca.choice_.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(3, kernel="rbf").fit(noise)
