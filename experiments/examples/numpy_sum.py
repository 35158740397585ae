"""NumPy's sum and cumsum under the scope.

    build/ulpscope run accuracy --device cpu --method 'exec:python3 experiments/examples/numpy_sum.py' --storage fp16,fp32,fp64
    build/ulpscope run drift --device cpu --method 'exec:python3 experiments/examples/numpy_sum.py' --storage fp32 --accumulator fp32
"""
import sys

import numpy as np

TYPES = {"fp16": "<f2", "fp32": "<f4", "fp64": "<f8"}  # NumPy has no bf16

while request := sys.stdin.buffer.readline().decode().split():
    operation, n, storage, accumulator = request[:4]
    if storage not in TYPES or accumulator not in TYPES:
        sys.exit(f"{storage} in {accumulator}: NumPy has no bf16")
    size = int(n) * np.dtype(TYPES[storage]).itemsize
    x = np.frombuffer(sys.stdin.buffer.read(size), TYPES[storage])
    with np.errstate(all="ignore"):
        if operation == "sum":
            answer = np.sum(x, dtype=TYPES[accumulator])
        else:
            kind, output = request[4:]
            total = np.cumsum(x, dtype=TYPES[accumulator])
            if kind == "exclusive":
                total = np.concatenate([np.zeros(1, total.dtype), total])[: int(n)]
            answer = total.astype(TYPES[output])
    sys.stdout.buffer.write(answer.tobytes())
    sys.stdout.buffer.flush()
