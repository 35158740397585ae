"""Arrays of any library, as the C library takes them: a format, a length and an address in host memory."""
from __future__ import annotations

import array
import ctypes
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from .errors import DataError, Error, UsageError
from .worker import last_words

# By the names that NumPy, ml_dtypes, PyTorch, CuPy and JAX share. Their numbers are those of ulpscope_format.
FORMATS = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
           "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
NUMBERS = {form: i for i, form in enumerate(("fp16", "bf16", "fp32", "fp64", "e4m3", "e5m2"))}
SIZES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8, "e4m3": 1, "e5m2": 1}
OF_BUFFERS = {"e": "fp16", "f": "fp32", "d": "fp64"}
# DLPack's type codes, with the bits of each.
OF_DLPACK = {(2, 16): "fp16", (2, 32): "fp32", (2, 64): "fp64", (4, 16): "bf16", (10, 8): "e4m3", (12, 8): "e5m2"}
CPU = 1


class View(NamedTuple):
    """Elements of a format at an address, which stay as long as `keeps` does."""
    form: str
    n: int
    address: int
    keeps: Any

    @property
    def bytes(self) -> memoryview:
        size = self.n * SIZES[self.form]
        return memoryview((ctypes.c_char * size).from_address(self.address)) if size else memoryview(b"")


def form_of(name: str) -> str:
    form = FORMATS.get(name)
    if form is None:
        raise UsageError(f"array: found elements of {name}, expected {', '.join(FORMATS)}")
    return form


def library_of(a: Any) -> str:
    """The library whose array it is: "numpy", "torch", "cupy", "jax", or ""."""
    for kind in type(a).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("numpy", "torch", "cupy", "jax"):
            return root
        if root == "jaxlib":
            return "jax"
    return ""


def device_of(a: Any) -> str:
    """The device that an array lies on, as the program names it."""
    library = library_of(a)
    if library == "torch" and a.device.type == "cuda":
        return f"cuda:{a.device.index or 0}"
    if library == "cupy":
        return f"cuda:{a.device.id}"
    if library == "jax":
        lies = next(iter(a.devices()))
        return f"cuda:{lies.id}" if lies.platform == "gpu" else "cpu"
    return "cpu"


def view(a: Any) -> View:
    """Its elements, in C order if there are several dimensions; copied only where they lie elsewhere or apart."""
    try:
        return viewed(a)
    except (Error, MemoryError):
        raise
    except Exception as e:  # of what is somebody else's: __array__, __dlpack__, a tensor's own
        raise DataError(f"array: {type(a).__name__}: {last_words(e)}") from e


def viewed(a: Any) -> View:
    library = library_of(a)
    if library == "torch":
        return of_torch(a)
    if library == "cupy":
        return of_numpy(a.get())
    if library == "numpy":
        return of_numpy(a)
    if hasattr(a, "__dlpack__") and a.__dlpack_device__()[0] == CPU:
        try:
            return of_dlpack(a)
        except (BufferError, RuntimeError, NotImplementedError):
            pass  # a type that DLPack, or the library's version, does not have
    if hasattr(a, "__array__") or hasattr(a, "__array_interface__"):
        import numpy
        return of_numpy(numpy.asarray(a))
    if isinstance(a, (int, float)):
        return of_numbers([a])
    try:
        buffer = memoryview(a)
    except TypeError:
        if isinstance(a, Sequence) and not isinstance(a, str):
            return of_numbers(a)
        if hasattr(a, "__dlpack_device__") and a.__dlpack_device__()[0] != CPU:
            raise UsageError(f"array: found a {type(a).__name__} on device {a.__dlpack_device__()[0]} of DLPack, expected "
                             "one in host memory, or an array of PyTorch, CuPy or JAX") from None
        raise UsageError(f"array: found {type(a).__name__}, expected an array of floating-point numbers") from None
    return of_buffer(buffer)


def of_torch(a: Any) -> View:
    form = form_of(str(a.dtype).partition(".")[2])
    if str(a.layout) != "torch.strided" or a.device.type == "meta":
        kind = a.layout if a.device.type != "meta" else "meta"
        raise UsageError(f"array: found a {kind} tensor, expected a dense one with elements")
    a = a.detach().contiguous().cpu()
    return View(form, a.numel(), a.data_ptr(), a)


def of_numpy(a: Any) -> View:
    import numpy
    if isinstance(a, numpy.ma.MaskedArray):
        raise UsageError("array: found a masked array, expected one without a mask: "
                         "compressed() leaves out what is masked")
    a = numpy.asarray(a)
    form = form_of(a.dtype.newbyteorder("=").name)
    a = numpy.require(a, a.dtype.newbyteorder("="), ["C", "A"])
    return View(form, a.size, a.ctypes.data if a.size else 0, a)


def of_buffer(buffer: memoryview) -> View:
    kind = buffer.format.lstrip("@=<")
    if kind not in OF_BUFFERS:
        raise UsageError(f"array: found a buffer of '{buffer.format}', expected e, f or d: {', '.join(FORMATS)}")
    size = SIZES[OF_BUFFERS[kind]]
    if not buffer.c_contiguous or buffer.readonly:
        buffer = memoryview(bytearray(buffer.tobytes()))
    n = buffer.nbytes // size
    room = (ctypes.c_char * buffer.nbytes).from_buffer(buffer)
    return View(OF_BUFFERS[kind], n, ctypes.addressof(room) if n else 0, room)


def of_numbers(numbers: Sequence) -> View:
    try:
        doubles = array.array("d", numbers)
    except (TypeError, OverflowError) as e:
        raise UsageError(f"array: found {type(numbers).__name__}: {e}: expected floating-point numbers") from None
    for given, kept in zip(numbers, doubles):
        # Also fractions and decimals, which compare exactly; what is not itself is NaN.
        if not isinstance(given, float) and given != kept and given == given:
            raise UsageError(f"array: found {given}, which no fp64 holds exactly")
    return of_buffer(memoryview(doubles))


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


def of_dlpack(a: Any) -> View:
    capsule = a.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
    form = OF_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if form is None:
        raise UsageError(f"array: found DLPack's type {tensor.code} of {tensor.bits} bits, expected "
                         f"{', '.join(FORMATS)}")
    shape = tensor.shape[:tensor.ndim]
    n = math.prod(shape)
    begin = tensor.data + tensor.offset if n else 0
    together = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    strides = tensor.strides[:tensor.ndim] if tensor.strides else together
    if all(length == 1 or step == due for length, step, due in zip(shape, strides, together)):
        return View(form, n, begin, (a, capsule))
    size = SIZES[form]
    places = itertools.product(*map(range, shape))
    apart = bytearray(b"".join(ctypes.string_at(begin + size * sum(map(operator.mul, place, strides)), size)
                               for place in places))
    room = (ctypes.c_char * len(apart)).from_buffer(apart) if n else None
    return View(form, n, ctypes.addressof(room) if n else 0, room)
