"""ulpscope measures how wrong, and how reproducible, floating-point reductions are.

    exact_sum(a)                 the exact sum, a fractions.Fraction
    correctly_rounded_sum(a)     the same, rounded once
    condition(a)                 sum|x| / |sum x|: digits that the data cancel
    errors(f, a)                 what f makes of an array, beside the exact sum
    check(f, promise=...)        tries to refute a promise of f's bits
    reveal(f, n)                 the order in which f adds n elements
    assert_promise(f, promise)   raises BrokenPromise unless it is kept, for tests; a plugin of pytest's
    recommend(a, tolerance=...)  the cheapest accumulator and method that are enough
    run(experiment, ...)         a study, as pandas frames
    read(directory)              the results of a study

Arrays are NumPy's (ml_dtypes' bfloat16, float8_e4m3fn and float8_e5m2 too), PyTorch's, CuPy's, JAX's, anything with
DLPack, __array__ or the buffer protocol, on the CPU or a GPU, or sequences of floats. A function takes such an array
and gives a number, or an array. What fails raises Error, with one line that says what was found and expected.
"""
from .api import check, condition, correctly_rounded_sum, errors, exact_sum, read, recommend, reveal, run
from .errors import BrokenPromise, DataError, DeviceError, Error, UsageError
from .gate import Verdict, assert_promise
from .results import Check, Errors, Order, Recommendation, Study, Witness

__all__ = ["BrokenPromise", "Check", "DataError", "DeviceError", "Error", "Errors", "Order", "Recommendation", "Study",
           "UsageError", "Verdict", "Witness", "assert_promise", "check", "condition", "correctly_rounded_sum", "errors", "exact_sum", "read", "recommend",
           "reveal", "run"]


def __getattr__(name: str):
    if name == "__version__":
        from .library import version
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
