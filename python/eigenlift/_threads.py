"""How many threads a call may use."""

from __future__ import annotations

import os

import joblib
import threadpoolctl

from . import _native
from ._errors import InvalidParameterError
from ._parameters import is_integer

_VARIABLES = ("EIGENLIFT_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS")


def thread_count(n_jobs, openmp=True):
    """Threads for `n_jobs`; 0 stands for one for each processor that this process may use.

    None asks the environment: EIGENLIFT_NUM_THREADS, RAYON_NUM_THREADS, then OMP_NUM_THREADS, which joblib sets in its workers,
    unless `openmp` is False.
    Negative numbers count back from the number of processors, as in joblib.
    Never more than `threadpoolctl.threadpool_limits` allows.
    """
    count, limit = _asked_for(n_jobs, openmp), ThreadPool.limit
    return count if limit is None else min(count or limit, limit)


def _asked_for(n_jobs, openmp):
    if n_jobs is not None:
        if not is_integer(n_jobs) or n_jobs == 0:
            raise InvalidParameterError(
                f"The 'n_jobs' parameter must be an int other than 0 or None. Got {n_jobs!r} instead."
            )
        return joblib.effective_n_jobs(n_jobs)
    for variable in _VARIABLES if openmp else _VARIABLES[:2]:
        # OMP_NUM_THREADS may be a list, one number for each level of nesting.
        text = os.environ.get(variable, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
    return 0


class ThreadPool(threadpoolctl.LibController):
    """What `threadpoolctl` sees of the threads of this package, so that `threadpool_limits` holds for them too."""

    user_api = "eigenlift"
    internal_api = "eigenlift"
    # threadpoolctl knows libraries by how their file names begin.
    filename_prefixes = (os.path.basename(_native.__file__).lower(),)
    # Threads that a call may use at most; None for no limit.
    limit = None

    def _is_own(self):
        return os.path.realpath(self.filepath) == os.path.realpath(_native.__file__)

    def get_num_threads(self):
        if not self._is_own():
            return None
        return ThreadPool.limit or _asked_for(None, True) or joblib.cpu_count()

    def set_num_threads(self, num_threads):
        if not self._is_own():
            return
        # The number that holds without a limit takes it away, as `threadpool_limits` does at its end.
        ThreadPool.limit = None if num_threads >= (_asked_for(None, True) or joblib.cpu_count()) else int(num_threads)

    def get_version(self):
        return _native.__version__


threadpoolctl.register(ThreadPool)
