"""Low rank with bounds that hold: how far can eigenvalues be trusted, and what does it cost to know more?

Kernel PCA of 3000 points on an S-shaped sheet. A low-rank fit compares each point with a few landmarks only. Each of
its eigenvalues comes with an interval that the true one cannot leave: it lies between the eigenvalue of the landmarks
and that plus the part of the trace that the landmarks leave out.

Left: the intervals of four eigenvalues for more and more landmarks, and the exact eigenvalues as dashed lines. The
lines lie inside every interval, also where these are still useless. The lower end is close long before the upper one:
the estimates are better than what is proved about them.

Right: what each step proves, starting from few landmarks. `certify` makes one exact pass over the kernel matrix, which
is never stored, and `refine` goes on until the residual is below the tolerance. From then on an interval says that some
eigenvalue lies in it; that it is the first or second one is proved only for the landmarks.

An exact fit of so few points takes a fraction of a second, so that there is something to compare with. The same bounds
hold for millions of rows, where there is none.

Writes how_far_to_trust.png.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from eigenlift import KernelPCA
from matplotlib.ticker import NullLocator
from sklearn.datasets import make_s_curve

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7"]
RANKS = [20, 30, 45, 70, 105, 160]
START = 70  # landmarks of the fit that is certified and refined
KERNEL = "rbf(gamma=1)"


def ends(model):
    """Lower and upper ends of the intervals of the eigenvalues."""
    intervals = model.certificate_.intervals
    return np.array([[interval["low"], interval["high"]] for interval in intervals]).T


def timed(call, *arguments):
    start = perf_counter()
    call(*arguments)
    return perf_counter() - start


def low_rank(n_landmarks):
    return KernelPCA(n_components=4, kernel=KERNEL, rank=n_landmarks, random_state=0)


def closing_in(axes, X, exact):
    """Intervals against the number of landmarks."""
    for place, n_landmarks in enumerate(RANKS):
        model = low_rank(n_landmarks)
        seconds = timed(model.fit, X)
        low, high = ends(model)
        left_out = model.certificate_.bounds.residual_share
        inside = bool(((low <= exact) & (exact <= high)).all())
        words = f"{n_landmarks:4} landmarks leave out {left_out:.1e} of the trace"
        print(f"{words}, exact eigenvalues inside: {inside}, {seconds:.2f} s")
        for j, colour in enumerate(COLOURS):
            x = place + 0.16 * (j - 1.5)
            axes.plot([x, x], [low[j], high[j]], color=colour, linewidth=5, solid_capstyle="butt")
            axes.plot(x, low[j], marker="_", color="black", markersize=7)
    for j, (value, colour) in enumerate(zip(exact, COLOURS, strict=True)):
        axes.axhline(value, color=colour, linestyle="--", linewidth=1.2, label=f"exact eigenvalue {j + 1}")
    axes.set(yscale="log", xlabel="landmarks", ylabel="eigenvalue", title="Intervals close in on the exact eigenvalues")
    axes.set_xticks(range(len(RANKS)), RANKS)
    axes.set_yticks([200, 300, 500, 1000], ["200", "300", "500", "1000"])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(loc="upper right", frameon=False)


def step_by_step(axes, X):
    """Widths of the intervals after each step, relative to the eigenvalues."""
    model = low_rank(START)
    steps = [("fit", model.fit), ("certify", model.certify), ("refine", model.refine)]
    for place, (name, call) in enumerate(steps):
        seconds = timed(call, X)
        low, high = ends(model)
        width = (high - low) / model.eigenvalues_
        print(f"{name:8} widest interval {width.max():7.1e} of its eigenvalue, {seconds:.2f} s")
        for j, (colour, marker) in enumerate(zip(COLOURS, "o^sv", strict=True)):
            label = f"eigenvalue {j + 1}" if place == 0 else None
            axes.plot(place + 0.13 * (j - 1.5), width[j], marker, color=colour, markersize=9, label=label)
    axes.set(yscale="log", ylabel="width of the interval / eigenvalue", title="What each step proves", xlim=(-0.5, 2.5))
    axes.set_xticks(range(3), [f"fit\n{START} landmarks", "certify\none exact pass", "refine\nto the tolerance"])
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="upper right", frameon=False)


def main():
    X, _ = make_s_curve(n_samples=3000, noise=0.05, random_state=0)
    reference = KernelPCA(n_components=4, kernel=KERNEL, tol=1e-10)
    print(f"exact fit {timed(reference.fit, X):.2f} s, worst residual {reference.certificate_.worst_residual:.1e}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained", width_ratios=[1.4, 1])
    closing_in(left, X, reference.eigenvalues_)
    step_by_step(right, X)
    figure.savefig("how_far_to_trust.png", dpi=100)


if __name__ == "__main__":
    main()
