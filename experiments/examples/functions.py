"""Sums and a matrix product in Python, as subjects.

    build/ulpscope check python:experiments/examples/functions.py:plain --array array --device cpu
"""


def plain(x):
    """One after the other, in fp64."""
    total = 0.0
    for value in x:
        total += value
    return total


def compensated(x):
    """The same, with what each addition loses carried along (Neumaier 1974)."""
    total = lost = 0.0
    for value in x:
        new = total + value
        lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + lost


def product(a, b):
    """A matrix product, rows times columns: each element one after the other, in fp64."""
    return [[plain(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
