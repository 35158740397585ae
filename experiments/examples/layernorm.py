"""Two LayerNorms of one's own, for NumPy: of each row of x, without gain and bias.

    build/ulpscope check python:experiments/examples/layernorm.py:layernorm --rows 8 --n 8192
"""

import numpy


def layernorm(x, axis):
    """fp16 in, fp32 out, all in fp32; variance: mean of squares less square of the mean."""
    x = x.astype(numpy.float32)
    mean = x.mean(axis=axis, keepdims=True)
    variance = (x * x).mean(axis=axis, keepdims=True) - mean * mean
    return (x - mean) / numpy.sqrt(variance + numpy.float32(1e-5))


def two_pass(x, axis):
    """The same, with the variance from the distances to the mean."""
    x = x.astype(numpy.float32)
    centred = x - x.mean(axis=axis, keepdims=True)
    variance = (centred * centred).mean(axis=axis, keepdims=True)
    return centred / numpy.sqrt(variance + numpy.float32(1e-5))
