"""What the package offers."""
from __future__ import annotations

import ctypes
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from . import arrays, library, program, worker
from .errors import DataError, UsageError
from .results import Check, Errors, Order, Recommendation, Study


def exact_sum(a: Any) -> Fraction | float:
    """The exact sum of an array's elements.

    A Fraction; where the sum is not a number, or infinite, the float nan, inf or -inf. Of nothing: 0.
    """
    return library.Reference(arrays.view(a)).sum()


def correctly_rounded_sum(a: Any, format: str | None = None) -> float:
    """The exact sum, rounded once, to nearest, ties to even: to the array's own format (of 8 bits: to fp32), or to one of
    "fp16", "bf16", "fp32", "fp64", "e4m3", "e5m2". Of nothing +0; of negative zeros alone -0."""
    v = arrays.view(a)
    form = format or (v.form if v.form not in ("e4m3", "e5m2") else "fp32")
    if form not in arrays.NUMBERS:
        raise UsageError(f"format: found '{form}', expected {', '.join(arrays.NUMBERS)}")
    return library.rounded_sum(v, form)


def condition(a: Any) -> float:
    """The condition number of the sum, sum|x| / |sum x|: inf where the sum is 0, nan where it is no finite number."""
    return library.Reference(arrays.view(a)).condition()


def errors(f: Callable[..., Any] | str, a: Any) -> Errors:
    """What f makes of an array, beside the exact result.

    f takes the array as it is, on its device, and gives the sum, or all sums of prefixes: then it is the worst of
    these. The accumulator is the format of the result. f may be the name of a function, "numpy.sum". It may write into the
    array: the exact result is that of the elements that it was given, of which a copy is kept while it runs.
    """
    given, function = arrays.view(a), named(f)
    kept = (ctypes.c_char * max(given.bytes.nbytes, 1))()
    ctypes.memmove(kept, given.address, given.bytes.nbytes)
    v = arrays.View(given.form, given.n, ctypes.addressof(kept), kept)
    try:
        result = function(a)
    except (Exception, SystemExit) as e:
        raise DataError(f"errors: {program.name_of(function)}: {worker.last_words(e)}") from e
    try:
        r = arrays.view(result)
    except UsageError as e:
        raise UsageError(str(e).replace("array:", "errors: result:", 1)) from None
    if r.n and r.form in ("e4m3", "e5m2"):
        raise UsageError(f"errors: found a result in {r.form}, expected fp16, bf16, fp32 or fp64")
    if r.n == 1:
        return figures(v, library.decoded(r, 0), r.form, None)
    if r.n != v.n or not r.n:
        raise UsageError(f"errors: found {r.n or 'no'} result{'s' * (r.n > 1)} of {v.n} elements, expected 1, or as many")
    shape = tuple(getattr(result, "shape", ()))
    if shape and max(shape) != r.n:
        raise UsageError(f"errors: found results of shape {shape}, expected a number, or all sums of prefixes in a row")
    i = worst_prefix(v, r)
    return figures(arrays.View(v.form, i + 1, v.address, v.keeps), library.decoded(r, i), r.form, i)


def named(f: Callable[..., Any] | str) -> Callable[..., Any]:
    if callable(f):
        return f
    if not isinstance(f, str):
        raise UsageError(f"errors: found a {type(f).__name__}, expected a function, or the name of one")
    try:
        function: Callable[..., Any] = worker.load(f.removeprefix("python:"))[0]
    except worker.Refused as e:
        raise UsageError(str(e)) from None
    except (Exception, SystemExit) as e:  # of the module, as it is imported
        raise DataError(f"errors: {f}: {worker.last_words(e)}") from e
    return function


def figures(v: arrays.View, result: float, form: str, index: int | None) -> Errors:
    reference = library.Reference(v)
    m = reference.measure(form, result)
    return Errors(result, reference.sum(), form, v.n, reference.condition(), m.err_abs, m.err_rel, m.err_ulp,
                  m.err_backward, m.bound, m.err_over_bound, bool(m.within), index)


def worst_prefix(v: arrays.View, r: arrays.View) -> int:
    """The output with the largest error over the sum of magnitudes before it; the first that is no number."""
    unit = 1 << 1074
    total = size = 0
    worst, place = Fraction(-1), 0
    for i in range(v.n):
        x, out = library.decoded(v, i), library.decoded(r, i)
        if not math.isfinite(x) or not math.isfinite(out):
            return i
        top, bottom = x.as_integer_ratio()
        whole = top * (unit // bottom)
        total, size = total + whole, size + abs(whole)
        top, bottom = out.as_integer_ratio()
        error = abs(top * (unit // bottom) - total)
        if error and not size:  # infinitely many times the magnitudes
            return i
        if size and Fraction(error, size) > worst:
            worst, place = Fraction(error, size), i
    return place


def subject_of(f: Callable[..., Any] | str, operation: str | None, array: str | None, a: Any) \
        -> tuple[str, program.Function | None]:
    """The program's word for it, and the function where it is one of this process."""
    known = (*worker.DUE, *worker.DUE_NEARLY)
    if operation is not None and operation not in known:
        raise UsageError(f"operation: found '{operation}', expected one of {', '.join(known)}")
    if callable(f):
        function = program.Function(f, operation, array, a)
        return function.words, function
    if not isinstance(f, str):
        raise UsageError(f"found a {type(f).__name__}, expected a function, or the name of one or of a method")
    suffix = "".join(f"@{word}" for word in (array, operation) if word)
    if not f.startswith(("python:", "exec:")) and (".py:" in f or not ("/" in f or ":" in f)):
        f = f"python:{f}"  # not a method, nor a subject as the program names it
    return f + (suffix if f.startswith("python:") else ""), None


def subjects_of(method: Callable[..., Any] | str | Sequence[Callable[..., Any] | str] | None, operation: str | None,
                array: str | None, a: Any) -> tuple[list[str] | None, program.Function | None]:
    """The same of several, one of which may be a function of this process, or of none."""
    if method is None:
        return None, None
    given = list(method) if isinstance(method, Iterable) and not (callable(method) or isinstance(method, str)) else [method]
    if sum(map(callable, given)) > 1:
        raise UsageError(f"method: found {sum(map(callable, given))} functions, expected one, and others by name: "
                         "'MODULE.FUNCTION', 'FILE.py:FUNCTION'")
    subjects = [subject_of(f, operation, array, a) for f in given]
    return [word for word, _ in subjects], next((function for _, function in subjects if function), None)


def check(f: Callable[..., Any] | str, promise: str | None = None, data: Any = None, device: str | None = None, seconds: float = 10,
          *, operation: str | None = None, array: str | None = None, **options: Any) -> Check:
    """Tries to refute what is promised of f's bits.

    f takes an array and gives a number, or an array; or it is a name: "numpy.sum", "sum/tiled", "FILE.py:f". A
    function is run in this process; one that is named in processes of its own, which can be begun anew. promise:
    "run_to_run", "gpu_to_gpu", "order_invariant", "correctly_rounded"; without it nothing is required. data: an array
    to try, and parts of it, instead of generated inputs. device: "cpu", "cuda", "cuda:1"; where it is left out, that of
    the data, or the CPU. operation: "sum", "scan", "dot", "norm", "mean", "variance",
    "rows", "scatter", "product", "minimum", ...: told from results where it is left out, but for functions of rows, as
    "softmax" and "layernorm". array: the library of the
    arrays that f takes, "numpy", "torch", "cupy", "jax". Other options are those of `ulpscope check`: n, storage,
    accumulator, input, only, threads, batch (numbers of rows, such as range(1, 4097): see `batches`), ...

    A broken promise is no exception: it stands in `broken`, with a `witness`.
    """
    word, function = subject_of(f, operation, array, data)
    with tempfile.TemporaryDirectory(prefix="ulpscope-") as folder:
        words = ["check", word, "--device", device or arrays.device_of(data), "--seconds", str(seconds)]
        words += program.options({"promise": promise, **options})
        if data is not None:
            words += program.data_options(data, folder)
        return Check.of(program.report(words, function)[0], program.repeatable(function, data))


def recommend(a: Any, tolerance: float | str = 1e-3, promise: str | None = None, *,
              method: Callable[..., Any] | str | Sequence[Callable[..., Any] | str] | None = None, device: str = "cpu",
              array: str | None = None, **options: Any) -> Recommendation:
    """The cheapest accumulator and method whose error on an array, on other orders of it, adversarial arrays of its
    magnitudes and drawn ones is at most the tolerance: 1e-3 (of the exact sum), "4ulp", "0.5bits".

    Candidates are ulpscope's methods, or those of `method`: a function of yours, a name, or several, one of which may be
    a function. Other options are those of `ulpscope recommend`: confidence, seconds, quantity, accumulator, ... Where
    nothing is enough, `method` is None.
    """
    words, function = subjects_of(method, "sum" if callable(method) else None, array, a)
    given = {"tolerance": tolerance, "promise": promise, "method": words, **options}
    with tempfile.TemporaryDirectory(prefix="ulpscope-") as folder:
        command = ["recommend", "--device", device, "--out", os.path.join(folder, "out")]
        report = program.report([*command, *program.options(given), *program.data_options(a, folder)], function)
    chosen = report["recommended"] or {}
    error = chosen.get("error")
    margin = report.get("margin")
    return Recommendation(chosen.get("method"), chosen.get("accumulator"), None if error is None else float(error),
                          str(report["tolerance"]), None if margin is None else float(margin), report.get("next"),
                          report["candidates"], report)


def reveal(f: Callable[..., Any] | str, n: int, *, device: str = "cpu", operation: str | None = None,
           array: str | None = None, **options: Any) -> Order:
    """The order in which f adds n elements, found from its results alone. Other options are those of `ulpscope
    reveal`: storage, accumulator, prefix, ..."""
    word, function = subject_of(f, operation, array, None)
    words = ["reveal", word, "--n", str(n), "--device", device, *program.options(options)]
    text = program.run(words, function, broken=True)
    report = program.report(words, function)
    tree = report.get("tree") or {}
    if not program.repeatable(function, None):
        text = "\n".join(line for line in text.splitlines() if not line.startswith("reproduce: "))
    return Order(n, report["verdict"], tree.get("nodes") or [], tree.get("depth") or [], text.strip(), report)


def run(experiment: str, out: str | os.PathLike[str] | None = None, *, method: Callable[..., Any] | str | Sequence[Callable[..., Any] | str] | None = None,
        data: Any = None, device: str = "cpu", array: str | None = None, operation: str | None = None,
        **options: Any) -> Study:
    """Runs a study: "accuracy", "variance", "drift", "dot", "norm", ..., as `ulpscope run` does with these options.

    The results are pandas frames: `results` has a row for each run, `summary` for each case. `out`: the directory
    that holds them, else a new one; an array is kept there, too. The same call again resumes it.
    """
    methods, function = subjects_of(method, operation, array, data)
    directory = os.fspath(out) if out is not None else tempfile.mkdtemp(prefix=f"ulpscope-{experiment}-")
    words = ["run", experiment, "--device", device, "--out", directory, *program.options({"method": methods, **options})]
    if data is not None:
        words += program.data_options(data, directory, keep=True)
    if out is None:
        words.append("--force")
    program.run([*words, "--quiet"], function, broken=True)
    return read(directory)


def read(directory: str | os.PathLike[str]) -> Study:
    """The results of a study."""
    return Study.of(directory)
