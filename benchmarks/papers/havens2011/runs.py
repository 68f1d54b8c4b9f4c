"""What is measured."""

from .settings import EPSILON, EXACT_FCM, EXACT_PCM, MNIST_KERNEL, RUNS, M, mnist, starts

__all__ = ["EPSILON", "EXACT_FCM", "EXACT_PCM", "MNIST_KERNEL", "RUNS", "M", "mnist", "starts"]
