"""Parameters estimated from a sample: fuzzifier, bandwidth, initial scales; and warnings about unsuitable kernels."""
