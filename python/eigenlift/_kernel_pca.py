"""Kernel PCA."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from . import _native
from ._account import Plan
from ._align import Alignable
from ._base import EigenliftWarning
from ._kernel_fit import KernelFit
from ._kernel_spectrum import shares, shifted
from ._novelty import Monitoring
from ._preimage import WayBack
from ._rows import from_native, native


class KernelPCA(WayBack, Alignable, Monitoring, KernelFit):
    """Kernel principal component analysis, exact and without a stored Gram matrix where that does not fit.

    Parameters and attributes of scikit-learn's class of this name have its meaning. A fit comes with a plan, which says what was
    done and why, and a certificate, which says how far the numbers can be trusted.

    Parameters
    ----------
    n_components : int or "auto", default=None
        Components kept. None keeps all whose eigenvalue is not zero; "auto" chooses by cross-validation, as `choose_kernel_pca`
        does, see `choice_`.
    kernel : str, Kernel or callable, default="linear"
        `"linear"`, `"poly"`, `"rbf"`, `"sigmoid"`, `"cosine"`, `"laplacian"`, `"chi2"` or `"precomputed"`, with scikit-learn's
        defaults; a description as on the command line, such as `"rbf(gamma=median)"`; a kernel of `eigenlift.kernels`, such as
        `RBF(gamma=0.5) + 0.1 * Linear()`; or a function of two rows. `"auto"` and a bandwidth written `auto`, as in
        `"rbf(gamma=auto)"`, are chosen by cross-validation.
    gamma : float or "auto", default=None
        Of rbf, poly, sigmoid, laplacian and chi2. None stands for 1 / n_features (1 for chi2); "auto", for rbf, chooses.
    degree : float, default=3
        Of poly.
    coef0 : float, default=1
        Of poly and sigmoid.
    kernel_params : dict, default=None
        Keyword arguments of a kernel that is a function.
    alpha : float, default=1.0
        Ridge of the regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Learns the way back from scores to rows.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        `"dense"` computes all eigenpairs. The others leave the choice to the plan: every way gives eigenpairs to the
        tolerance, none is an approximation. For a kernel that is not positive semi-definite `"randomized"` takes the
        eigenvalues of largest magnitude, as scikit-learn does.
    tol : float, default=0
        Relative residual ‖K_c v − λv‖/λ that iterations are asked for; 0 stands for 1e-6. `certificate_` has what was reached.
    max_iter, iterated_power
        Taken for compatibility; iterations run until the tolerance holds.
    remove_zero_eig : bool, default=False
        Leaves out components whose eigenvalue is zero, so that there may be fewer than `n_components`.
    random_state : int, RandomState instance or None, default=None
        Of landmarks, random features and start vectors. None stands for a fixed seed.
    copy_X : bool, default=True
        Keeps a copy of X. False keeps X itself, which must then not be changed.
    n_jobs : int, default=None
        Threads. None asks the environment (EIGENLIFT_NUM_THREADS, RAYON_NUM_THREADS, OMP_NUM_THREADS), else uses all processors.
        The result does not depend on it.
    rank : int or "exact", default=None
        Landmarks or features of a low-rank fit, which is then asked for. "exact" refuses low rank: an exact fit that does not
        fit into memory is then an error.
    error : float, default=None
        In place of `rank`: as many landmarks as it takes until this share of the trace is left out.
    approximation : {"pivoted", "uniform", "kmeans", "fourier", "tensorsketch"}, default=None
        Where landmarks or features come from. None stands for pivoted when `rank` or `error` is given, and for an exact fit
        otherwise.
    repair : {"clip", "flip", "refuse"}, default=None
        What becomes of negative eigenvalues: left out, counted by magnitude, or an error. None does as scikit-learn: an error
        only when a component that is asked for has one.
    preimage : {"auto", "fixed-point", "distance", "ridge", "gradient"}, default=None
        How `inverse_transform` and `denoise` find rows: by fixed point for kernels of the distance and by gradient for others
        ("auto"), from distances to the nearest rows in closed form ("distance"), or by a regression with a bandwidth and a
        ridge of its own ("ridge"). Needs no `fit_inverse_transform`; nothing is learned in `fit`. None goes back as
        scikit-learn does, by the regression of `fit_inverse_transform=True`.
    penalty : float, default=0.0
        Holds the rows found by "fixed-point" and "gradient" to where the search began, in `denoise` to the rows themselves: 0.1
        is a gentle, 1 a strong pull. Helps when there are too few components.
    memory : int or str, default=None
        Bytes that the fit may use beside X, such as `"2GB"`. None stands for most of what is free. An exact fit that needs
        more becomes a low-rank one, with a warning.
    verbose : int, default=0
        Above 0 a line of progress goes to the standard error stream.
    progress : callable, default=None
        Called with (stage, done, total) a few times a second, or a class of bars such as `tqdm.tqdm`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues nλ of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Ratio of the variance in feature space that each component explains; NaN where the total is not positive, as it
        can be of an indefinite kernel.
    dual_coef_, X_transformed_fit_ : ndarray
        Of the way back, with `fit_inverse_transform=True`.
    X_fit_ : ndarray or sparse matrix
        The rows of an exact fit. A low-rank fit has `landmarks_` (None for random features) instead.
    gamma_ : float
        The gamma that was used with a kernel of scikit-learn.
    n_iter_ : int
        Iterations that the solver took.
    kernel_ : str
        The kernel with every number known, as the command line writes it.
    choice_ : KernelChoice
        How kernel, bandwidth or components were chosen, with "auto"; print it.
    plan_ : Plan
        What was decided and why; print it. None for a single row, and where the kernel itself needs rows that differ.
    certificate_ : Certificate
        Residuals and bounds on eigenvalues. Rows that all look the same to the kernel give a warning, scores of 0 and a
        certificate without intervals.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenlift import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> kpca = KernelPCA(n_components=7, kernel="rbf", gamma=0.001)
    >>> kpca.fit_transform(X).shape
    (1797, 7)
    >>> kpca.certificate_.worst_residual < 1e-6
    True
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
        rank=None,
        error=None,
        approximation=None,
        repair=None,
        preimage=None,
        penalty=0.0,
        memory=None,
        verbose=0,
        progress=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.rank = rank
        self.error = error
        self.approximation = approximation
        self.repair = repair
        self.preimage = preimage
        self.penalty = penalty
        self.memory = memory
        self.verbose = verbose
        self.progress = progress

    def plan(self, X):
        """What `fit` would do with X, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Plan
        """
        self._check_parameters()
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        (rows, _), _, settings = self._prepared(X)
        return Plan.from_json(*_native.plan_kernel_pca(native(rows), settings, self._threads()))

    def fit(self, X, y=None):
        """Fits the components of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; the kernel matrix of all pairs of rows when the kernel is precomputed.
        y : ignored

        Returns
        -------
        self
        """
        given = X
        self._check_parameters()
        X = self._rows(X, reset=True)
        (rows, means), choice, settings = self._prepared(X)
        automatic = choice.automatic or settings["n_components"] is None
        # Whether a fit that chooses goes by low rank is known when it has chosen.
        low_rank = False if automatic else self._planned_low_rank(rows, settings)
        if not low_rank:
            X, rows = self._owned(X, rows, given)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        self._fit_choice = choice
        for name in ("X_fit_", "landmarks_", "choice_"):
            self.__dict__.pop(name, None)
        try:
            # One row is its own mean.
            alone = X.shape[0] == 1 and not automatic
            model = None if alone else self._run(_native.fit_kernel_pca, native(rows), settings)
            model = model if model is None or means is None else shifted(model, means)
        except _native.NoVarianceError as error:
            if automatic:
                raise
            warnings.warn(f"{error}. All scores are 0.", EigenliftWarning, stacklevel=2)
            model = None
        if automatic:
            low_rank = self._take_choice(model)
        self._adopt(model, X.dtype, X.shape[0], rows)
        if model is None:
            self.plan_ = self._plan_of_nothing(rows, settings)
        if low_rank:
            self.landmarks_ = from_native(model.samples) if model is not None else None
        if not low_rank or not (choice.text or choice.precomputed):
            # A function compares new rows with these.
            self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_way_back(X)
        return self

    def fit_transform(self, X, y=None):
        """Fits the components of X and returns the scores of its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(np.abs(self.eigenvalues_))

    def transform(self, X):
        """Scores of rows, centred as those of the fit were.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; kernel values with the rows of the fit when the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        X = X.astype(np.result_type(X.dtype, self.eigenvalues_.dtype), copy=False)
        out = np.zeros((X.shape[0], len(self.eigenvalues_)), dtype=X.dtype)
        if self._model is None:
            return out
        if not (self._fit_choice.text or self._fit_choice.precomputed):
            X = self._fit_choice.matrix(X, self.X_fit_, self._threads()).astype(out.dtype, copy=False)
        scores = self._run(self._model.transform, native(X))
        if scores.shape == out.shape:
            return scores
        out[:, : scores.shape[1]] = scores
        return out

    def certify(self, X=None):
        """Bounds from one exact pass over the kernel matrix of the rows of the fit, whatever the fit was.

        Cost: n²(2d + 2k)/2 flops, without storing the matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The very rows of the fit; an exact fit holds them.

        Returns
        -------
        Certificate
            Also kept as `certificate_`.
        """
        _, rows = self._rows_of_fit(X)
        return self._certified(self._run(self._model.certify, native(rows)))

    def _certified(self, model):
        """Takes the model with its certificate."""
        self._tell(model)
        self.explained_variance_ratio_ = shares(self.eigenvalues_, model.total)
        return self.certificate_

    def refine(self, X=None):
        """Replaces a low-rank model by the exact one, starting from its axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The very rows of the fit; an exact fit holds them.

        Returns
        -------
        self
        """
        X, rows = self._owned(*self._rows_of_fit(X), X)
        model = self._run(self._model.refine, native(rows), self._settings_to_refine(rows.shape[0]))
        self._adopt(model, rows.dtype, rows.shape[0], rows)
        self.__dict__.pop("landmarks_", None)
        self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_way_back(X)
        return self

    def _settings_to_refine(self, n_samples):
        """Settings of an exact fit with the kernel that was found."""
        settings = self._settings(self._fit_choice, n_samples)
        settings.update(kernel=self._model.kernel, approximation=None, rank=None, error=None)
        settings["n_components"] = self._wanted(n_samples)
        return settings

    def to_onnx(self, *, dtype=None):
        """The transform as an ONNX model, for kernels made of linear, polynomial and rbf.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default=None
            Of rows and scores; None stands for float32.

        Returns
        -------
        onnx.ModelProto
            With input `X` and output `scores`.
        """
        from ._onnx import kernel_model, linear_model

        check_is_fitted(self)
        model, name = self._model, type(self).__name__
        if model is None:
            axes = np.zeros((len(self.eigenvalues_), self.n_features_in_))
            return linear_model(center=None, axes=axes, dtype=dtype, n_features=self.n_features_in_, name=name)
        samples, coefficients, offset = from_native(model.samples), model.coefficients, model.offset
        if samples is None and hasattr(self, "X_fit_") and self._fit_choice.text:
            # The fit went by explicit features; over samples it is the same projection.
            samples, coefficients = self.X_fit_, model.scores() / model.eigenvalues
            coefficients -= coefficients.mean(axis=0)
            offset = self._fit_choice.times(samples, samples, coefficients, self._threads()).mean(axis=0)
        padding = (0, len(self.eigenvalues_) - len(offset))
        return kernel_model(
            kernel=self.kernel_ if self._fit_choice.text else self._fit_choice.kernel,
            samples=samples,
            coefficients=np.pad(coefficients, ((0, 0), padding)),
            offset=np.pad(offset, padding),
            origin=model.origin,
            dtype=dtype,
            n_features=self.n_features_in_,
            name=name,
        )
