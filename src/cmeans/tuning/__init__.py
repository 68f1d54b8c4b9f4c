"""Parameters estimated from a sample: fuzzifier, initial scales; and warnings about unsuitable
kernels."""
