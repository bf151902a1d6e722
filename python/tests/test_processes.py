"""Forks, threads, signals and progress. Each script has a process and a time limit of its own: a hang is a failure."""

import os
import subprocess
import sys
import textwrap

import pytest

START = """
import os, sys, threading, time
import numpy as np
import eigenlift
from eigenlift import PCA, IncrementalPCA, KernelPCA, Nystroem, RBFSampler, Whitening
from eigenlift import ClassicalMDS, DiffusionMap, Isomap, LocallyLinearEmbedding, SpectralEmbedding

def cloud(n, d=6, seed=0):
    return np.random.RandomState(seed).randn(n, d) * np.linspace(2, 0.5, d)

def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
"""
THREADS = ["EIGENLIFT_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"]
fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
posix = pytest.mark.skipif(os.name != "posix", reason="signals to oneself are POSIX")


def run(script, limit=300, **variables):
    """Runs a script to its end; gives what it wrote."""
    environment = {name: value for name, value in os.environ.items() if name not in THREADS} | variables
    done = subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


FITS = """
import copy, pickle

X, new = cloud(700), cloud(50, seed=1)

def fits():
    return [
        KernelPCA(3, kernel="rbf"),
        KernelPCA(3, kernel="rbf", rank=50),
        KernelPCA(3, kernel="rbf", approximation="fourier", rank=50),
        KernelPCA(3, kernel="rbf(gamma=median)", fit_inverse_transform=True),
        KernelPCA(3),
        PCA(3),
        IncrementalPCA(3),
        Whitening(),
        Nystroem(n_components=40, random_state=0),
        RBFSampler(n_components=40, random_state=0),
        Isomap(n_neighbors=8),
        Isomap(n_neighbors=8, landmarks=50),
        ClassicalMDS(2),
        SpectralEmbedding(2, n_neighbors=9),
        LocallyLinearEmbedding(n_neighbors=9),
        DiffusionMap(2),
    ]

fitted = [each.fit(X) for each in fits()]
expected = [each.transform(new) for each in fitted]

def in_the_child():
    for each, result in zip(fitted, expected, strict=True):
        same(each.transform(new), result)
        same(pickle.loads(pickle.dumps(each)).transform(new), result)
    for each, result in zip(fits(), expected, strict=True):
        same(each.fit(X).transform(new), result)
    rough = copy.deepcopy(fitted[1])
    rough.certify(X)
    rough.refine(X)
    assert np.abs(rough.transform(new) - expected[0]).max() < 1e-5
    IncrementalPCA(3).partial_fit(X[:300]).partial_fit(X[300:])
"""


@fork
def test_a_fork_after_a_fit():
    run(
        FITS
        + """
denoised = fitted[1].denoise(new)
child = os.fork()
if child == 0:
    try:
        same(fitted[1].denoise(new), denoised)
        in_the_child()
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
    os._exit(7)
deadline = time.monotonic() + 120
while True:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    if time.monotonic() > deadline:
        os.kill(child, 9)
        raise SystemExit("the child hangs")
    time.sleep(0.01)
assert os.waitstatus_to_exitcode(status) == 7
in_the_child()  # the parent goes on as before
"""
    )


@fork
def test_multiprocessing_by_fork():
    run(
        FITS
        + """
import multiprocessing
context = multiprocessing.get_context("fork")

def work(i):
    in_the_child()
    return fitted[i].transform(new)

with context.Pool(2) as pool:
    for i, result in enumerate(pool.map_async(work, range(len(fitted))).get(120)):
        same(result, expected[i])

# A child of a child.
def nested(queue):
    in_the_child()
    inner = context.Process(target=in_the_child)
    inner.start()
    inner.join(10)
    queue.put(inner.exitcode)

queue = context.Queue()
child = context.Process(target=nested, args=(queue,))
child.start()
assert queue.get(timeout=120) == 0
child.join()
"""
    )


def test_joblib():
    run(
        """
from joblib import Parallel, cpu_count, delayed

X, new = cloud(600), cloud(50, seed=1)
kpca = KernelPCA(3, kernel="rbf").fit(X)
expected = kpca.transform(new)

def transform(estimator, rows):
    return estimator.transform(rows), KernelPCA(2, kernel="rbf").fit(X).plan_.threads

def fit(gamma):
    return KernelPCA(2, kernel="rbf", gamma=gamma).fit(X).transform(new)

gammas = [0.05, 0.1, 0.2]
one_by_one = [fit(gamma) for gamma in gammas]
for backend in ["loky", "threading"]:
    parallel = Parallel(n_jobs=2, backend=backend)
    for result, threads in parallel(delayed(transform)(kpca, new) for _ in range(4)):
        same(result, expected)
        if backend == "loky":
            # joblib gives each worker its share of the processors.
            assert threads == max(1, cpu_count() // 2), threads
    for a, b in zip(parallel(delayed(fit)(gamma) for gamma in gammas), one_by_one, strict=True):
        same(a, b)
"""
    )


def test_threads_share_an_estimator():
    run(
        """
fits = [KernelPCA(3, kernel="rbf").fit(cloud(600)), PCA(3).fit(cloud(600)), Whitening().fit(cloud(600))]
pieces = [cloud(200, seed=seed) for seed in range(8)]
expected = [[each.transform(piece) for piece in pieces] for each in fits]
failures = []
gate = threading.Barrier(len(pieces))

def work(i):
    try:
        gate.wait()
        for _ in range(10):
            for each, results in zip(fits, expected, strict=True):
                same(each.transform(pieces[i]), results[i])
        other = KernelPCA(2, kernel="rbf").fit(pieces[i])
        assert np.abs(other.transform(pieces[i]) - other.fit_transform(pieces[i])).max() < 1e-9
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(pieces))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(40)
assert not any(thread.is_alive() for thread in threads), "a thread hangs"
assert not failures, failures
"""
    )


def test_python_threads_run_during_a_fit():
    run(
        """
ticks, stop = [], threading.Event()

def tick():
    while not stop.is_set():
        ticks.append(time.monotonic())
        time.sleep(0.01)

watcher = threading.Thread(target=tick, daemon=True)
watcher.start()

def longest_silence(work):
    # Of the call that took longest, among as many as take a second together.
    took, silence, begin = 0.0, 0.0, time.monotonic()
    while time.monotonic() - begin < 1.0:
        del ticks[:]
        start = time.monotonic()
        work()
        end = time.monotonic()
        if end - start > took:
            took, silence = end - start, np.diff([start, *ticks, end]).max()
    return took, silence

X = cloud(8000, 50)
kpca = KernelPCA(20, kernel="rbf", n_jobs=1)
for work in [lambda: kpca.fit(X), lambda: kpca.transform(np.tile(X, (4, 1)))]:
    took, silence = longest_silence(work)
    # The other thread ticks every 10 ms; a call that held the lock to its end would be silent throughout.
    assert took > 0.05, f"too short to tell: {took}"
    assert silence < took / 2, f"of {took} s other threads waited for {silence} s"
stop.set()
""",
        limit=100,
    )


INTERRUPTED = """
import signal

def interrupted(work, after=0.3):
    # The best of three: other programs may have the processors for a while.
    times = []
    while not times or (min(times) >= 1 and len(times) < 3):
        times.append(once(work, after))
    assert min(times) < 1, f"{times} s after the signal"

def once(work, after):
    sent = []
    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(after, send)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        assert sent, "interrupted before the signal"
        late = time.monotonic() - sent[0]
        timer.join()
        return late
    raise SystemExit("ended by itself, which is too early to tell")
"""


@posix
def test_ctrl_c():
    run(
        INTERRUPTED
        + """
X = cloud(20_000, 50)
kpca = KernelPCA(20, kernel="rbf", tol=1e-10)
interrupted(lambda: kpca.fit(X))
assert not hasattr(kpca, "eigenvalues_")
interrupted(lambda: KernelPCA(20, kernel="rbf", approximation="kmeans", rank=1500).fit(X))
fitted = KernelPCA(20, kernel="rbf").fit(X[:3000])
interrupted(lambda: [fitted.transform(X) for _ in range(20)])

# All goes on as if nothing had happened.
small = cloud(300)
again = KernelPCA(2, kernel="rbf").fit(small)
from sklearn import decomposition
theirs = decomposition.KernelPCA(2, kernel="rbf").fit(small)
assert np.abs(again.transform(small) - theirs.transform(small)).max() < 1e-9
""",
        limit=100,
    )


@posix
def test_ctrl_c_in_manifold_and_kernelised_methods():
    run(
        INTERRUPTED
        + """
X = cloud(10_000, 50)
isomap = Isomap(n_neighbors=10, landmarks="exact")
interrupted(lambda: isomap.fit(X), after=2)
assert not hasattr(isomap, "embedding_")
interrupted(lambda: DiffusionMap(20).fit(X))
interrupted(lambda: eigenlift.isomap_doctor(X))
fitted = Isomap(n_neighbors=5).fit(X[:1000])
interrupted(lambda: [fitted.transform(X) for _ in range(50)])
interrupted(lambda: eigenlift.KernelCCA(kernel="rbf(gamma=median)", n_permutations=99).fit(X, X[:, :9]))
interrupted(lambda: eigenlift.KernelDiscriminant(kernel="rbf(gamma=median)").fit(X, np.arange(10_000) % 5))
interrupted(lambda: eigenlift.KernelKMeans(50, kernel="rbf(gamma=median)").fit(X))
assert Isomap().fit_transform(cloud(100)).shape == (100, 2)
""",
        limit=100,
    )


@posix
def test_ctrl_c_on_the_way_back_and_in_a_choice():
    run(
        INTERRUPTED
        + """
X = cloud(20_000, 50)
fitted = KernelPCA(50, kernel="rbf(gamma=median)").fit(X[:1000])
interrupted(lambda: fitted.denoise(X))
scores = fitted.transform(X)
fitted.set_params(preimage="gradient")
interrupted(lambda: fitted.inverse_transform(scores))
chooses = KernelPCA("auto", kernel="rbf(gamma=auto)")
interrupted(lambda: chooses.fit(X))
assert not hasattr(chooses, "choice_")
interrupted(lambda: eigenlift.choose_kernel_pca(X, max_rows=3000))
interrupted(lambda: eigenlift.kernel_sensitivity(X, max_rows=3000))
interrupted(lambda: eigenlift.kernel_stability(X, max_rows=4000, resamples=100))
interrupted(lambda: eigenlift.kernel_parallel_analysis(X, max_rows=1000, permutations=500), after=1)
assert fitted.denoise(X[:5]).shape == (5, 50)
""",
        limit=100,
    )


@posix
@pytest.mark.parametrize(
    ("after", "work", "rows"),
    [
        (1.5, 'KernelPCA(10, kernel="rbf", eigen_solver="dense").fit(X)', "X = cloud(3000, 50)"),
        (0.8, 'PCA(svd_solver="full").fit(X)', "X = cloud(3000, 1800)"),
    ],
)
def test_ctrl_c_in_a_direct_solve(after, work, rows):
    run(INTERRUPTED + f"{rows}\ninterrupted(lambda: {work}, after={after})")


def test_an_error_of_the_callback_ends_the_work():
    run(
        """
class Enough(Exception):
    pass

calls = []

def progress(stage, done, total):
    calls.append(time.monotonic())
    raise Enough(stage)

X = cloud(20_000, 50)
kpca = KernelPCA(20, kernel="rbf", tol=1e-10, progress=progress)
try:
    kpca.fit(X)
except Enough:
    assert len(calls) == 1
    assert time.monotonic() - calls[0] < 5
else:
    raise SystemExit("the error was lost")
assert not hasattr(kpca, "eigenvalues_")
kpca.set_params(progress=None, tol=0).fit(X[:500])
assert kpca.eigenvalues_.shape == (20,)
"""
    )


def test_progress():
    run(
        """
calls = []
X = cloud(4000, 50)
kpca = KernelPCA(20, kernel="rbf", n_jobs=1, progress=lambda *step: calls.append((*step, threading.get_ident())))
quiet = KernelPCA(20, kernel="rbf", n_jobs=1).fit(X)
kpca.fit(X)
same(kpca.eigenvalues_, quiet.eigenvalues_)
assert len(calls) >= 2, calls
for stage, done, total, thread in calls:
    assert isinstance(stage, str) and stage
    assert isinstance(done, int) and isinstance(total, int)
    assert 0 <= done and (total == 0 or done <= total), (stage, done, total)
    assert thread == threading.get_ident()
assert any(done > 0 for _, done, _, _ in calls)
fitted = len(calls)
kpca.transform(np.repeat(X, 5, axis=0))
assert len(calls) > fitted
assert all(done <= total for _, done, total, _ in calls[fitted:])
"""
    )


def test_words_and_bars():
    done = run(
        """
from tqdm import tqdm
bars = []

class Bar(tqdm):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        bars.append(self)
        self.closed = False

    def close(self):
        super().close()
        self.closed = True

X = cloud(4000, 50)
kpca = KernelPCA(20, kernel="rbf", n_jobs=1)
for parameters in [{"verbose": 0}, {"verbose": 1}, {"verbose": 0, "progress": Bar}]:
    sys.stderr.write("NEXT")
    kpca.set_params(**parameters).fit(X)
assert bars
for bar in bars:
    assert bar.desc and bar.closed
    assert bar.total is None or bar.n <= bar.total, (bar.n, bar.total)
"""
    )
    assert done.stdout == ""
    before, quiet, words, bars = done.stderr.split("NEXT")
    assert before == quiet == ""
    assert "[KernelPCA]" in words and "%" in words and words.endswith("\n")
    assert "it/s" in bars or "s/it" in bars


def test_numbers_of_threads():
    run(
        """
import joblib

X = cloud(100)
names = ["EIGENLIFT_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"]
cases = [
    ({}, None, joblib.cpu_count()),
    ({}, 1, 1),
    ({}, 3, 3),
    ({}, -1, joblib.cpu_count()),
    ({"OMP_NUM_THREADS": "3"}, None, 3),
    ({"OMP_NUM_THREADS": "3,1"}, None, 3),
    ({"OMP_NUM_THREADS": "3", "RAYON_NUM_THREADS": "4"}, None, 4),
    ({"OMP_NUM_THREADS": "3", "RAYON_NUM_THREADS": "4", "EIGENLIFT_NUM_THREADS": "5"}, None, 5),
    ({"OMP_NUM_THREADS": "3", "RAYON_NUM_THREADS": "4", "EIGENLIFT_NUM_THREADS": "5"}, 2, 2),
    ({"OMP_NUM_THREADS": "many"}, None, joblib.cpu_count()),
]
for variables, n_jobs, expected in cases:
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(variables)
    fits = [KernelPCA(2, n_jobs=n_jobs), KernelPCA(2, rank=10, n_jobs=n_jobs), PCA(2, n_jobs=n_jobs)]
    for each in [*fits, Whitening(n_jobs=n_jobs)]:
        found = each.fit(X).plan_.threads
        assert found == expected, (each, variables, found)
"""
    )
    run("assert KernelPCA(2).fit(cloud(100)).plan_.threads == 3", OMP_NUM_THREADS="3")


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_threads_are_really_as_many():
    run(
        """
def count():
    return len(os.listdir("/proc/self/task"))

X = cloud(6000, 50)
peak = [0]

def progress(stage, done, total):
    peak[0] = max(peak[0], count())

before = count()
KernelPCA(20, kernel="rbf", n_jobs=1, progress=progress).fit(X)
# The one that works and the one that keeps the watch over it.
assert before < peak[0] <= before + 2, (before, peak[0])
before, peak[0] = count(), 0
KernelPCA(20, kernel="rbf", n_jobs=4, tol=1e-10, progress=progress).fit(X)
assert before + 4 <= peak[0] <= before + 5, (before, peak[0])
"""
    )
