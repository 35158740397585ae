"""Promises as tests, for pytest with the package `ulpscope` installed:

    pytest experiments/examples/test_gate.py
"""
import random

import functions
import pytest
import ulpscope

SMALL = {"array": "array", "storage": "fp64", "accumulator": "fp64", "n": 100}


@pytest.mark.promise("run_to_run", functions.plain, **SMALL)
def test_plain():
    """The promise is tried before the body runs."""


@pytest.mark.promise("run_to_run", input="uniform", tolerance="1ulp", **SMALL)
def test_compensated(promise):
    promise(functions.compensated)


def test_that_a_shuffled_sum_is_caught():
    def shuffled(x):
        return functions.plain(random.sample(list(x), len(x)))
    with pytest.raises(ulpscope.BrokenPromise, match="breaks run_to_run"):
        ulpscope.assert_promise(shuffled, "run_to_run", operation="sum", seconds=5, **SMALL)
