#!/usr/bin/env python3
"""The worker of python: subjects where the standard library's sums are of as many threads as the environment asks for, but
at most two."""
import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("worker", sys.argv[1])
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
worker.Standard.threads = lambda self: min(2, int(os.environ.get("OMP_NUM_THREADS", "2")))
os._exit(worker.main(*sys.argv[2:]))
