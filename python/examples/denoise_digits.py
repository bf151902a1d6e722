"""Digits without their noise: four ways back from few numbers to an image.

Images of handwritten digits get noise, with a standard deviation of 0.3 where ink goes from 0 to 1. All methods learn from 600 noisy images, never from a
clean one, and are then given 200 others. Each projects an image on its components, which drops what the others do not
have in common with it, and goes back to an image.

PCA goes back along straight lines. Kernel PCA has curved coordinates, and no exact way back: scikit-learn learns one by
ridge regression with the bandwidth of the kernel itself; `denoise` looks for the image whose place in feature space is
closest to the projection, and says how close it came.

The numbers are the mean squared distance from the clean image, over all 200. Kernel and components of both kernel PCAs are
chosen by `choose_kernel_pca`, which hides pixels of the noisy images and predicts them; it has not seen a clean image,
either. The components of PCA are those that do best on the clean images, which nobody has in practice.

Writes denoise_digits.png.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn.decomposition
from eigenlift import PCA, choose_kernel_pca
from sklearn.datasets import load_digits

SHOWN = 10


def noisy_digits(seed=1):
    """Noisy images to learn from; and others, clean and noisy, the first ten of which are the digits 0 to 9."""
    random = np.random.default_rng(seed)
    images, digits = load_digits(return_X_y=True)
    order = random.permutation(len(images))
    images, digits = images[order] / 16, digits[order]
    first = [600 + int(np.argmax(digits[600:800] == digit)) for digit in range(10)]
    rest = [at for at in range(600, 800) if at not in first]
    clean = images[[*first, *rest]]
    noisy = clean + 0.3 * random.normal(size=clean.shape)
    return images[:600] + 0.3 * random.normal(size=(600, 64)), clean, noisy


def error(images, clean):
    """Mean squared distance."""
    return ((images - clean) ** 2).sum(axis=1).mean()


def by_pca(train, clean, noisy):
    """PCA with the number of components that is best."""
    ways = [PCA(n_components=k).fit(train) for k in range(1, 65)]
    back = [pca.inverse_transform(pca.transform(noisy)) for pca in ways]
    best = min(range(64), key=lambda at: error(back[at], clean))
    return best + 1, back[best]


def main():
    train, clean, noisy = noisy_digits()
    choice = choose_kernel_pca(train, most_components=192)
    print(choice)
    n_linear, linear = by_pca(train, clean, noisy)
    settings = {"kernel": "rbf", "gamma": choice.bandwidth, "fit_inverse_transform": True}
    ridge = sklearn.decomposition.KernelPCA(choice.n_components, **settings).fit(train)
    denoised, info = choice.estimator().fit(train).denoise(noisy, return_info=True)
    print(info)

    rows = [
        ("clean", clean),
        ("with noise", noisy),
        (f"PCA, {n_linear} components", linear),
        ("kernel PCA, ridge of scikit-learn", ridge.inverse_transform(ridge.transform(noisy))),
        ("kernel PCA, denoise", denoised),
    ]
    figure = plt.figure(figsize=(9.5, 6.6), layout="constrained")
    for part, (name, images) in zip(figure.subfigures(len(rows), 1), rows):
        words = name if images is clean else f"{name}: mean squared error {error(images, clean):.2f}"
        print(words)
        part.suptitle(words, x=0.01, ha="left", fontsize=11)
        for axes, image in zip(part.subplots(1, SHOWN), images):
            axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            axes.set(xticks=[], yticks=[])
    figure.savefig("denoise_digits.png", dpi=100)


if __name__ == "__main__":
    main()
