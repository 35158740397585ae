"""PyTorch's sum and cumsum under the scope, on the device that the row names.

    build/ulpscope run accuracy --device cpu --method 'exec:python3 experiments/examples/torch_sum.py'
    build/ulpscope run scan-variance --device cuda --method 'exec:python3 experiments/examples/torch_sum.py' --runs 20
"""
import os
import sys

import torch

TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}
DEVICE = torch.device(os.environ.get("ULPSCOPE_DEVICE", "cpu"))

while request := sys.stdin.buffer.readline().decode().split():
    operation, n, storage, accumulator = request[:4]
    data = bytearray(sys.stdin.buffer.read(int(n) * torch.empty(0, dtype=TYPES[storage]).element_size()))
    x = torch.frombuffer(data, dtype=TYPES[storage]) if data else torch.empty(0, dtype=TYPES[storage])
    x = x.to(DEVICE)
    if operation == "sum":
        answer = torch.sum(x, dtype=TYPES[accumulator])
    else:
        kind, output = request[4:]
        answer = torch.cumsum(x, 0, dtype=TYPES[accumulator])
        if kind == "exclusive":
            answer = torch.cat([torch.zeros(1, dtype=answer.dtype, device=DEVICE), answer])[: int(n)]
        answer = answer.to(TYPES[output])
    sys.stdout.buffer.write(bytes(answer.cpu().reshape(-1).view(torch.uint8).tolist()))
    sys.stdout.buffer.flush()
