"""Two halves of a digit: what the left half of an image says about the right half.

Images of handwritten digits are cut down the middle. Canonical correlation looks for numbers, one from each half, that go
together: linear combinations of pixels, or functions of the half with a Gaussian kernel on 120 landmarks. It is never told
which digit it sees.

Correlations on the rows of the fit flatter; those on held-out rows are what new images may be expected to have. To see what
the numbers are good for, each left half of 797 new images is given the right half that is closest by its scores on 20
components, out of all 797. The kernel finds a right half of the same digit more often.

Writes two_views.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from eigenlift import KernelCCA, plot
from sklearn.datasets import load_digits

LEARNED = 1000


def halves():
    """Left and right halves of the images, and the digits."""
    images, digits = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8) / 16
    return images[:, :, :4].reshape(-1, 32), images[:, :, 4:].reshape(-1, 32), digits


def same_digit(model, left, right, digits):
    """Share of left halves whose closest right half belongs to the same digit."""
    left, right = (scores / np.linalg.norm(scores, axis=1, keepdims=True) for scores in model.transform(left, right))
    return np.mean(digits[np.argmax(left @ right.T, axis=1)] == digits)


def main():
    left, right, digits = halves()
    new = slice(LEARNED, None)
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
    for row, (name, settings) in enumerate(
        {"linear": {}, "Gaussian": {"kernel": "rbf(gamma=median)", "rank": 120}}.items()
    ):
        model = KernelCCA(n_components=20, **settings).fit(left[:LEARNED], right[:LEARNED])
        share = same_digit(model, left[new], right[new], digits[new])
        found = model.correlations(left[new], right[new])
        print(
            f"{name}: correlations {model.training_correlations_[0]:.2f} of the fit, {model.held_out_correlations_[0]:.2f} of held-out rows, "
            f"{found[0]:.2f} of new rows; {100 * share:.1f} % of the halves find the same digit"
        )
        plot.canonical(model, left[new], right[new], color=digits[new], title=f"{name}, new images", ax=axes[row, 0])
        plot.correlations(model, title=f"{name}: {100 * share:.1f} % find the same digit", ax=axes[row, 1])
        axes[row, 0].set(xlabel="left halves, component 1", ylabel="right halves, component 1")
    figure.savefig("two_views.png", dpi=130)


if __name__ == "__main__":
    main()
