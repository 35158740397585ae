"""The C library: exact sums, and errors beside them (experiments/library/ulpscope.h)."""
from __future__ import annotations

import ctypes
import math
import os
from fractions import Fraction
from functools import cache
from pathlib import Path

from . import arrays
from .errors import DataError, UsageError, error_of


class Array(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("n", ctypes.c_size_t), ("data", ctypes.c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in
                ("err_abs", "err_rel", "err_ulp", "err_backward", "bound", "err_over_bound")] + \
               [("within", ctypes.c_int)]


SMALLEST_NORMAL, ONE, EPSILON = 2.0 ** -1022, 1.0, 2.0 ** -52


def library() -> ctypes.CDLL:
    """Refuses to compute where this thread rounds or flushes numbers as the library does not expect: other packages may have
    told the processor to."""
    # Of names, not of constants, which the compiler would compute.
    if ONE + EPSILON / 4 != ONE or ONE - EPSILON / 8 != ONE:
        raise UsageError("found that this thread does not round to nearest, expected the default floating-point environment")
    if SMALLEST_NORMAL / 2 == 0.0:
        raise UsageError("found that this thread flushes subnormal numbers to zero, expected the default floating-point "
                         "environment: torch.set_flush_denormal(False), where that set it")
    return loaded_library()


@cache
def loaded_library() -> ctypes.CDLL:
    path = os.environ.get("ULPSCOPE_LIBRARY") or str(Path(__file__).parent / "lib" / "libulpscope.so.1")
    try:
        loaded = ctypes.CDLL(path)
    except OSError as e:
        raise DataError(f"{path}: the library of this package could not be loaded: {e}") from None
    for name in "reference_sum", "reference_sum_abs", "reference_cond_log2":
        function = getattr(loaded, f"ulpscope_{name}")
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p]
    loaded.ulpscope_reference_hex.restype = ctypes.c_char_p
    loaded.ulpscope_reference_hex.argtypes = [ctypes.c_void_p]
    loaded.ulpscope_reference_free.restype = None
    loaded.ulpscope_reference_free.argtypes = [ctypes.c_void_p]
    loaded.ulpscope_version.restype = ctypes.c_char_p
    loaded.ulpscope_decode.restype = ctypes.c_double
    loaded.ulpscope_decode.argtypes = [ctypes.c_int, ctypes.c_uint64]
    loaded.ulpscope_measure.argtypes = [ctypes.POINTER(Figures), ctypes.c_void_p, ctypes.c_int, ctypes.c_double,
                                        ctypes.POINTER(Problem)]
    return loaded


def version() -> str:
    return loaded_library().ulpscope_version().decode()


def held(problem: Problem) -> None:
    if problem.status:
        raise error_of(problem.status, problem.text.decode())


def array_of(v: arrays.View) -> Array:
    return Array(arrays.NUMBERS[v.form], v.n, v.address or None)


def rounded_sum(v: arrays.View, form: str) -> float:
    """The exact sum, rounded once."""
    problem, result = Problem(), ctypes.c_double()
    library().ulpscope_sum(ctypes.byref(result), ctypes.byref(array_of(v)), arrays.NUMBERS[form],
                           ctypes.byref(problem))
    held(problem)
    return result.value


def decoded(v: arrays.View, i: int) -> float:
    """Element i."""
    size = arrays.SIZES[v.form]
    raw = ctypes.string_at(v.address + i * size, size)
    return library().ulpscope_decode(arrays.NUMBERS[v.form], int.from_bytes(raw, "little"))


class Reference:
    """What is exactly so of an array."""

    def __init__(self, v: arrays.View):
        problem, self.handle = Problem(), ctypes.c_void_p()
        library().ulpscope_reference_new(ctypes.byref(self.handle), ctypes.byref(array_of(v)), ctypes.byref(problem))
        held(problem)

    def __del__(self):
        if getattr(self, "handle", None):
            loaded_library().ulpscope_reference_free(self.handle)

    def sum(self) -> Fraction | float:
        return from_hex(library().ulpscope_reference_hex(self.handle).decode())

    def condition(self) -> float:
        log2 = library().ulpscope_reference_cond_log2(self.handle)
        total = library().ulpscope_reference_sum(self.handle)
        size = library().ulpscope_reference_sum_abs(self.handle)
        if not math.isfinite(log2):
            return log2
        if log2 < 1000 and total and math.isfinite(size):
            return size / abs(total)
        return 2.0 ** log2 if log2 < 1024 else math.inf

    def measure(self, form: str, result: float) -> Figures:
        problem, figures = Problem(), Figures()
        library().ulpscope_measure(ctypes.byref(figures), self.handle, arrays.NUMBERS[form], result,
                                   ctypes.byref(problem))
        held(problem)
        return figures


def from_hex(text: str) -> Fraction | float:
    """A number as the library writes it: sign, 0x, digits with a point, p, exponent. Of any length."""
    if "x" not in text:
        return float(text)
    sign = -1 if text.startswith("-") else 1
    digits, _, exponent = text.lstrip("-")[2:].partition("p")
    whole, _, part = digits.partition(".")
    return sign * Fraction(int(whole + part, 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))
