"""The Python package at work; `pip install ./experiments/python` has it.

    python3 experiments/examples/package.py
"""
import math

import ulpscope

x = [0.1] * 10
print(ulpscope.exact_sum(x), ulpscope.correctly_rounded_sum(x), ulpscope.condition([1.0, -0.5]))
print(ulpscope.errors(sum, x))
print(ulpscope.check(lambda x: math.fsum(x) + 0.0, promise="run_to_run", array="array", input="uniform", seconds=2))
