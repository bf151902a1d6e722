"""How many threads a call may use."""

from __future__ import annotations

import os

import joblib

from ._parameters import InvalidParameterError, is_integer

_VARIABLES = ("EIGENLIFT_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS")


def thread_count(n_jobs, openmp=True):
    """Threads for `n_jobs`; 0 stands for one for each processor that this process may use.

    None asks the environment: EIGENLIFT_NUM_THREADS, RAYON_NUM_THREADS, then OMP_NUM_THREADS, which joblib sets in its workers,
    unless `openmp` is False.
    Negative numbers count back from the number of processors, as in joblib.
    """
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
