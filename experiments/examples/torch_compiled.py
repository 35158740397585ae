#!/usr/bin/env python3
"""Does what a process has computed before change the bits of a compiled function of PyTorch?

    python3 torch_compiled.py [--device cuda] [--n 65536] [--processes 2] [--jobs 4] [FUNCTION...]

Each line is a function, compiled with torch.compile and run on the same n fp32 elements in a process of its own that has no
compiled code from before. WAY says what else the process did or was told:

    eager           not compiled
    alone           nothing: compiled for this length
    alone_again     run on another length after, and on this one again
    after           run on other lengths first: PyTorch then compiles for any length, unless told otherwise
    after_static    the same, with torch.compile(dynamic=False)
    any_length      torch.compile(dynamic=True), nothing before
    told_alone      as `alone`, with TORCHINDUCTOR_DETERMINISTIC=1
    told_after      as `after`, with TORCHINDUCTOR_DETERMINISTIC=1

Columns: function, way, process (1, 2, ...), bits (the result as hexadecimal words, or the first 16 digits of the SHA-256 of
them all), kernels (names of the Triton kernels compiled for it). Words of PyTorch go to standard error.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile

WAYS = ["eager", "alone", "alone_again", "after", "after_static", "any_length", "told_alone", "told_after"]


def functions(torch):
    rows = {"sum_rows": torch.sum, "mean_rows": torch.mean, "var_rows": torch.var, "logsumexp_rows": torch.logsumexp}
    found = {name: (lambda x, f=f: f(x.view(256, -1), dim=1)) for name, f in rows.items()}
    found.update(softmax_rows=lambda x: torch.softmax(x.view(256, -1), dim=1), sum=torch.sum, mean=torch.mean, var=torch.var,
                 dot=lambda x: torch.dot(x, x.flip(0)), norm=torch.linalg.vector_norm, prod=lambda x: torch.prod(1 + x / 1024))
    return found


NAMES = list(functions(type("Torch", (), {"__getattr__": lambda self, name: self})()))


def one(name, way, device, n):
    """In a process of its own: prints the bits of the result, as words in hexadecimal."""
    import torch
    generator = torch.Generator().manual_seed(1)
    longest = torch.randn(2 * n, generator=generator).to(device)
    function = functions(torch)[name]
    if way != "eager":
        function = torch.compile(function, fullgraph=True, dynamic={"after_static": False, "any_length": True}.get(way))
    if way in ("after", "after_static", "told_after"):
        for other in 2 * n, n // 2, n // 4 * 3:
            function(longest[:other])
    result = function(longest[:n])
    if way == "alone_again":
        function(longest[:2 * n])
        result = function(longest[:n])
    words = result.reshape(-1).view(torch.int32).cpu().tolist()
    print(" ".join("%08x" % (w & 0xffffffff) for w in words))


def asked(task):
    name, way, process, options = task
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder, TRITON_CACHE_DIR=os.path.join(folder, "triton"),
                           TORCH_LOGS="output_code", TORCHINDUCTOR_COMPILE_THREADS="1")
        if way.startswith("told"):
            environment["TORCHINDUCTOR_DETERMINISTIC"] = "1"
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", name, way, "--device", options.device, "--n",
                               str(options.n)], env=environment, capture_output=True, text=True)
    if done.returncode:
        return task, "failed", done.stderr.strip().splitlines()[-1:]
    words = done.stdout.split()
    bits = words[0] if len(words) == 1 else hashlib.sha256(done.stdout.encode()).hexdigest()[:16]
    return task, bits, sorted(set(re.findall(r"def (triton_\w+|cpp_fused\w*)", done.stderr)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", default=NAMES, metavar="FUNCTION", help=", ".join(NAMES))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n", type=int, default=65536)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--one", nargs=2, metavar=("FUNCTION", "WAY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(*options.one, options.device, options.n)
    unknown = [name for name in options.functions if name not in NAMES]
    if unknown or options.n < 1024 or options.n % 1024:
        parser.error(f"found {unknown[0]}, expected one of {', '.join(NAMES)}" if unknown else
                     f"--n {options.n}: expected a multiple of 1024")
    tasks = [(name, way, process, options) for name in options.functions for way in WAYS
             for process in range(1, options.processes + 1)]
    print("function,way,process,bits,kernels")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, way, process, _), bits, kernels in pool.map(asked, tasks):
            print(f"{name},{way},{process},{bits},{' '.join(kernels)}", flush=True)


if __name__ == "__main__":
    main()
