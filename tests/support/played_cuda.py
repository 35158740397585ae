#!/usr/bin/env python3
"""The worker of python: subjects where the standard library's arrays lie on a GPU too, as it is told."""
import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("worker", sys.argv[1])
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
worker.Standard.devices = lambda self: ["cpu", "cuda"]
timed = worker.Standard.timed


def differently(self, call, runs, device):
    """On the GPU, a bit more."""
    result, spent = timed(self, call, runs, device)
    return result * (1 + 2.0 ** -40) if device == "cuda:0" and isinstance(result, float) else result, spent


if os.environ.get("PLAYED") == "differently":
    worker.Standard.timed = differently
os._exit(worker.main(*sys.argv[2:]))
