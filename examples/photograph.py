"""
A photograph
============

Pixels are rows. By colour alone, clusters are colours; with positions beside the colours they are
regions. Memberships show where one runs into the next.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from cmeans import FuzzyCMeans
from cmeans.inspection import ImageDisplay

image = load_sample_image("flower.jpg")[::2, ::2]


def colours(image: np.ndarray) -> np.ndarray:
    return image.reshape(-1, 3) / 255


def colours_and_places(image: np.ndarray) -> np.ndarray:
    """A step over half of the picture costs as much as one from black to a quarter of white."""
    height, width = image.shape[:2]
    places = np.stack(
        np.meshgrid(np.linspace(0, 1, height), np.linspace(0, 1, width), indexing="ij"), axis=-1
    )
    return np.column_stack([colours(image), 0.5 * places.reshape(-1, 2)])


for features in (colours, colours_and_places):
    model = FuzzyCMeans(4, random_state=0).fit(features(image))
    print(
        f"{features.__name__}: {image.shape[0] * image.shape[1]} pixels, m = {model.m_:.2f}, "
        f"{model.n_iter_} sweeps"
    )
    ImageDisplay.from_estimator(model, image, features=features, own_colours=features is colours)
plt.show()
