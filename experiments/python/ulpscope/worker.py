"""The process of a python: subject: loads one function and runs it on what it is asked for.

    python3 worker.py NAME OPERATION [ARRAY [MODE]]

NAME is MODULE.FUNCTION or FILE.py:FUNCTION, OPERATION sum, scan, dot, ..., ARRAY the library of the arrays that the
function takes: numpy, torch, cupy, jax, or array (the standard library's). MODE is how the library is to run it: deterministic
(PyTorch's use_deterministic_algorithms), compiled (torch.compile, jax.jit), static (torch.compile, for each length alone), or deterministic@compiled. Requests are those
of experiments/subjects/wire.h; before a request there may be lines that set something and are not answered:

    device cpu|cuda:N    where the array lies
    offset K             elements by which it lies behind an aligned address, in libraries where that can be had
    function<TAB>NAME<TAB>OPERATION<TAB>ARRAY    another function from now on, in the same mode

and `same` in front of a request says that its elements are those of the last one, and do not follow. To `describe [DEVICES PAIRS]`
the answer is JSON in DESCRIPTION bytes, padded with blanks, to `ready` 8 bytes, to `threads` 8 bytes: how many the library has, 0
where it does not say. Every other answer is the results, then in 8 bytes the
nanoseconds that the runs took, without the way there and back: by events on a GPU, else by the clock.

It needs nothing but the standard library, and of the others the one that the function takes. For the
function that ULPSCOPE_CALLED names it hands its standard input and output to the process that listens at ULPSCOPE_CALLER,
the path of a socket, and waits: that process has the function, and answers.
"""
import array
import contextlib
import ctypes
import glob
import hashlib
import importlib
import importlib.util
import json
import math
import os
import socket
import struct
import sys
import tempfile
import time
import traceback

DESCRIPTION = 1 << 16
ALIGNED = 256
BITS = {"fp16": 16, "bf16": 16, "fp32": 32, "fp64": 64, "e4m3": 8, "e5m2": 8}
ACCUMULATORS = ("fp16", "bf16", "fp32", "fp64")
# A function that raises on what it is asked for has an exit status of its own: it refuses that, whatever else it does.
RAISED, USAGE, DATA, MEMORY = 1, 2, 3, 4
# A process that is ended while PyTorch compiles leaves an empty file, with which whoever compiles the same fails from then on:
# not the user's other programs. The library reads this variable early.
COMPILED = "TORCHINDUCTOR_CACHE_DIR"


class Refused(Exception):
    """Ends the process, with these words and this exit status."""

    def __init__(self, words, status=DATA):
        super().__init__(words)
        self.status = status


# --- Libraries of arrays ---

class Arrays:
    """What the worker needs of a library of arrays. This one is NumPy, which others resemble."""
    name, axis = "numpy", "axis"
    places = True  # does an array lie where put() wants it?

    def __init__(self):
        self.library = importlib.import_module(self.module())
        self.types = {"fp16": self.library.float16, "fp32": self.library.float32, "fp64": self.library.float64}
        self.narrow()

    def module(self):
        return self.name

    def narrow(self):
        try:
            types = importlib.import_module("ml_dtypes")
        except ImportError:
            return
        self.types |= {"bf16": types.bfloat16, "e4m3": types.float8_e4m3fn, "e5m2": types.float8_e5m2}

    def devices(self):
        return ["cpu"]

    def put(self, raw, form, offset, device):
        """A new array of these bytes, aligned but for the offset."""
        import numpy
        dtype = numpy.dtype(self.types[form])
        room = numpy.empty(len(raw) + ALIGNED + offset * dtype.itemsize, numpy.uint8)
        begin = -room.ctypes.data % ALIGNED + offset * dtype.itemsize
        x = room[begin:begin + len(raw)].view(dtype)
        x.view(numpy.uint8)[:] = numpy.frombuffer(raw, numpy.uint8)
        return x

    def keys(self, raw, device):
        return self.library.asarray(__import__("numpy").frombuffer(raw, "<u4").astype("int64"))

    def zeros(self, count, form, device):
        return self.library.zeros(count, self.types[form])

    def matrix(self, x, shape):
        return x.reshape(shape)

    def strided(self, x, begin, rows, columns, ld, by_columns):
        """A matrix of a product as it lies in x: its rows, or columns, begin ld elements apart."""
        if by_columns:
            return self.strided(x, begin, columns, rows, ld, False).T
        return self.matrix(x[begin:begin + rows * ld], (rows, ld))[:, :columns]

    def as_type(self, x, form):
        return x.astype(self.types[form])

    def format_of(self, result):
        """The format of a result, or None where it is none; what has no type is a float of Python's."""
        dtype = getattr(result, "dtype", None)
        if dtype is None:
            return "fp64" if isinstance(result, (float, int)) else None
        for form, known in self.types.items():
            if dtype == known:
                return form
        return None

    def size(self, result):
        return getattr(result, "size", 1)

    def cast(self, result, form):
        return self.host(result).astype(self.types[form])

    def bytes_of(self, result):
        return self.host(result).tobytes()

    def host(self, result):
        host = self.library.asarray(result)
        if host.dtype == object:  # it only says of itself that it is an array
            raise Refused(f"found a result of type {type(result).__name__}, expected an array of {self.name}")
        return host

    def shifted(self, result):
        """The sums of what lies before each element, from those up to each: zero goes in front."""
        import numpy
        result = self.host(result).reshape(-1)
        return numpy.concatenate([numpy.zeros(1, result.dtype), result])[:result.size]

    def timed(self, call, runs, device):
        with self.library.errstate(all="ignore"):
            begin = time.perf_counter_ns()
            for _ in range(runs):
                result = call()
            return result, time.perf_counter_ns() - begin

    def changed(self, x, mark, raw):
        """May a run have changed x, made of raw, since mark()?"""
        import numpy
        return not numpy.array_equal(x.view(numpy.uint8), numpy.frombuffer(raw, numpy.uint8))

    def mark(self, x):
        return None

    def facts(self):
        try:  # since 1.26; NPY_DISABLE_CPU_FEATURES takes some away, and with them an order of additions
            found = self.library.show_config(mode="dicts")["SIMD Extensions"]["found"]
        except (TypeError, KeyError):
            found = []
        return {"flags": {"simd": " ".join(found)}, "devices": {}}

    def threads(self):
        return 0

    def version(self):
        return self.library.__version__

    def in_mode(self, mode, function):
        """The function as the library runs it in this mode."""
        has = "torch and jax" if mode == "compiled" else "torch"
        raise Refused(f"mode {mode}: arrays of {self.name} have no such mode; {has} {'have' if ' and ' in has else 'has'} it "
                      f"(give --array, or name the library: python:torch.sum@{mode})", USAGE)


class Torch(Arrays):
    name, axis = "torch", "dim"

    def drop_unfinished(self):
        """Empty files that no compiler still writes."""
        for path in glob.glob(os.path.join(glob.escape(os.environ[COMPILED]), "*", "*.so")):
            with contextlib.suppress(OSError):
                found = os.stat(path)
                if found.st_size == 0 and found.st_mtime < time.time() - 600:
                    os.unlink(path)

    def in_mode(self, mode, function):
        t = self.library
        if mode == "deterministic":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else it refuses what calls cuBLAS
            t.use_deterministic_algorithms(True)
            return function
        self.drop_unfinished()
        # Beyond a number of recompilations, and where a graph breaks, it would run the function as it is, unseen.
        import torch._dynamo.config as config
        for limit in ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit",
                      "accumulated_cache_size_limit"):
            if hasattr(config, limit):
                setattr(config, limit, 1 << 20)
        return t.compile(function, fullgraph=True, dynamic=False if mode == "static" else None)

    def narrow(self):
        for form, word in ("bf16", "bfloat16"), ("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2"):
            if hasattr(self.library, word):
                self.types[form] = getattr(self.library, word)

    def devices(self):
        return ["cpu"] + (["cuda"] if self.library.cuda.is_available() else [])

    def put(self, raw, form, offset, device):
        t = self.library
        each = BITS[form] // 8
        room = t.empty(len(raw) + ALIGNED + offset * each, dtype=t.uint8, device=device)
        begin = -room.data_ptr() % ALIGNED + offset * each
        part = room[begin:begin + len(raw)]
        if raw:
            part.copy_(t.frombuffer(raw, dtype=t.uint8))
        return part.view(self.types[form])

    def keys(self, raw, device):
        t = self.library
        words = array.array("I", bytes(raw))
        return t.tensor(words.tolist(), dtype=t.int64, device=device) if len(words) < 4096 else \
            t.frombuffer(raw, dtype=t.int32).to(device=device, dtype=t.int64)

    def zeros(self, count, form, device):
        return self.library.zeros(count, dtype=self.types[form], device=device)

    def as_type(self, x, form):
        return x.to(self.types[form])

    def size(self, result):
        return result.numel() if hasattr(result, "numel") else 1

    def cast(self, result, form):
        return self.host(result).to(self.types[form])

    def host(self, result):
        t = self.library
        return result.detach().cpu() if isinstance(result, t.Tensor) else t.tensor(result, dtype=t.float64)

    def bytes_of(self, result):
        r = self.host(result).contiguous()
        return ctypes.string_at(r.data_ptr(), r.numel() * r.element_size())

    def shifted(self, result):
        t = self.library
        result = self.host(result).reshape(-1)
        return t.cat([t.zeros(1, dtype=result.dtype), result])[:result.numel()]

    def timed(self, call, runs, device):
        cuda = self.library.cuda
        if device == "cpu":
            begin = time.perf_counter_ns()
            for _ in range(runs):
                result = call()
            return result, time.perf_counter_ns() - begin
        with cuda.device(device):
            begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(runs):
                result = call()
            end.record()
            end.synchronize()
        return result, round(begin.elapsed_time(end) * 1e6)

    def threads(self):
        """Fewer than OMP_NUM_THREADS asks for, where there are fewer processors."""
        return self.library.get_num_threads()

    def mark(self, x):
        return x._version

    def changed(self, x, mark, raw):
        return x._version != mark

    def facts(self):
        t = self.library
        flags = {"deterministic_algorithms": t.are_deterministic_algorithms_enabled(), "threads": t.get_num_threads(),
                 "allow_tf32": t.backends.cuda.matmul.allow_tf32,
                 "allow_fp16_reduced_precision_reduction":
                     bool(t.backends.cuda.matmul.allow_fp16_reduced_precision_reduction),
                 "allow_bf16_reduced_precision_reduction":
                     bool(t.backends.cuda.matmul.allow_bf16_reduced_precision_reduction)}
        count = t.cuda.device_count() if t.cuda.is_available() else 0
        return {"flags": flags, "cuda": t.version.cuda or "",
                "devices": {f"cuda:{i}": t.cuda.get_device_name(i) for i in range(count)}}


class Cupy(Arrays):
    name = "cupy"

    def devices(self):
        return ["cuda"]

    def narrow(self):
        pass

    def put(self, raw, form, offset, device):
        c = self.library
        dtype = c.dtype(self.types[form])
        with self.on(device):
            room = c.empty(len(raw) + ALIGNED + offset * dtype.itemsize, c.uint8)
            begin = -room.data.ptr % ALIGNED + offset * dtype.itemsize
            part = room[begin:begin + len(raw)]
            if raw:
                part.set(__import__("numpy").frombuffer(raw, "u1"))
            return part.view(dtype)

    def on(self, device):
        return self.library.cuda.Device(int(device[5:] or 0) if device.startswith("cuda") else 0)

    def keys(self, raw, device):
        with self.on(device):
            return super().keys(raw, device)

    def zeros(self, count, form, device):
        with self.on(device):
            return super().zeros(count, form, device)

    def host(self, result):
        return self.library.asnumpy(result)

    def changed(self, x, mark, raw):
        return True

    def timed(self, call, runs, device):
        cuda = self.library.cuda
        with self.on(device):
            begin, end = cuda.Event(), cuda.Event()
            begin.record()
            for _ in range(runs):
                result = call()
            end.record()
            end.synchronize()
        return result, round(cuda.get_elapsed_time(begin, end) * 1e6)

    def facts(self):
        runtime = self.library.cuda.runtime
        names = {f"cuda:{i}": runtime.getDeviceProperties(i)["name"].decode() for i in range(runtime.getDeviceCount())}
        return {"flags": {"accelerators": os.environ.get("CUPY_ACCELERATORS", "")},
                "cuda": str(runtime.runtimeGetVersion()), "devices": names}


class Jax(Arrays):
    name = "jax"
    places = False

    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes three quarters of the GPU
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)  # else there is no fp64
        super().__init__()

    def module(self):
        return "jax.numpy"

    def devices(self):
        kinds = ["cpu"]
        try:
            if self.jax.devices("gpu"):
                kinds.append("cuda")
        except RuntimeError:
            pass
        return kinds

    def device(self, name):
        return self.jax.devices("cpu")[0] if name == "cpu" else self.jax.devices("gpu")[int(name[5:] or 0)]

    def put(self, raw, form, offset, device):
        import numpy
        return self.jax.device_put(numpy.frombuffer(bytes(raw), self.types[form]), self.device(device))

    def keys(self, raw, device):
        import numpy
        return self.jax.device_put(numpy.frombuffer(bytes(raw), "<u4").astype("int64"), self.device(device))

    def zeros(self, count, form, device):
        return self.jax.device_put(self.library.zeros(count, self.types[form]), self.device(device))

    def host(self, result):
        import numpy
        return numpy.asarray(result)

    def timed(self, call, runs, device):
        with self.jax.default_device(self.device(device)):
            begin = time.perf_counter_ns()
            for _ in range(runs):
                result = call()
            result = self.jax.block_until_ready(result)
            return result, time.perf_counter_ns() - begin

    def changed(self, x, mark, raw):
        return False

    def version(self):
        return self.jax.__version__

    def in_mode(self, mode, function):
        if mode != "compiled":
            return super().in_mode(mode, function)
        made = {}

        def call(*given, **keywords):
            """What is no array is constant: a number of bins, an axis, a type."""
            fixed = tuple(None if hasattr(g, "dtype") else g for g in given)
            key = fixed, tuple(sorted((k, str(v)) for k, v in keywords.items()))
            if key not in made:
                made[key] = self.jax.jit(lambda *a: function(
                    *(next_of if f is None else f for next_of, f in self.paired(a, fixed)), **keywords))
            return made[key](*(g for g in given if hasattr(g, "dtype")))
        return call

    @staticmethod
    def paired(arrays, fixed):
        rest = iter(arrays)
        return [(next(rest) if f is None else None, f) for f in fixed]

    def facts(self):
        names = {}
        if "cuda" in self.devices():
            names = {f"cuda:{i}": d.device_kind for i, d in enumerate(self.jax.devices("gpu"))}
        return {"flags": {"jax_enable_x64": True, "xla_flags": os.environ.get("XLA_FLAGS", "")}, "devices": names}


class Standard(Arrays):
    """array.array, of a Python that has no library of arrays."""
    name = "array"
    places = False

    def __init__(self):
        self.types = {"fp32": "f", "fp64": "d"}

    def put(self, raw, form, offset, device):
        return array.array(self.types[form], bytes(raw))

    def keys(self, raw, device):
        return array.array("I", bytes(raw))

    def zeros(self, count, form, device):
        return array.array(self.types[form], bytes(count * BITS[form] // 8))

    def strided(self, x, begin, rows, columns, ld, by_columns):
        """A list of rows."""
        step, next_row = (ld, 1) if by_columns else (1, ld)
        return [x[begin + i * next_row:begin + i * next_row + columns * step:step][:columns] for i in range(rows)]

    def as_type(self, x, form):
        return [array.array(self.types[form], row) for row in x]

    def matrix(self, x, shape):
        raise Refused("rows of an array.array: found no library with matrices, expected --array numpy", USAGE)

    def format_of(self, result):
        if isinstance(result, (float, int)):
            return "fp64"
        if isinstance(result, (list, tuple)) and result and hasattr(result[0], "__len__"):
            return self.format_of(result[0])
        return {"f": "fp32", "d": "fp64"}.get(getattr(result, "typecode", None),
                                              "fp64" if isinstance(result, (list, tuple)) else None)

    def size(self, result):
        if isinstance(result, (list, tuple)):
            return sum(self.size(part) for part in result)
        return len(result) if hasattr(result, "__len__") else 1

    def host(self, result):
        if isinstance(result, array.array):
            return result
        if isinstance(result, (list, tuple)) and result and hasattr(result[0], "__len__"):  # rows
            result = [x for row in result for x in row]
        return array.array("d", result if hasattr(result, "__len__") else [result])

    def cast(self, result, form):
        return array.array(self.types[form], self.host(result))

    def shifted(self, result):
        result = self.host(result)
        return array.array(result.typecode, [0.0, *result[:-1]][:len(result)])

    def timed(self, call, runs, device):
        begin = time.perf_counter_ns()
        for _ in range(runs):
            result = call()
        return result, time.perf_counter_ns() - begin

    def changed(self, x, mark, raw):
        return x.tobytes() != raw

    def facts(self):
        return {"flags": {}, "devices": {}}

    def version(self):
        return ".".join(map(str, sys.version_info[:3]))


LIBRARIES = {kind.name: kind for kind in (Arrays, Torch, Cupy, Jax, Standard)}


def guess_arrays(function, root):
    """The library that a function takes arrays of: its module's, or the one that its file imports."""
    if root in LIBRARIES:
        return root
    if root == "cupyx":
        return "cupy"
    names = getattr(function, "__globals__", {})
    imported = {getattr(v, "__name__", "").split(".")[0] for v in names.values() if type(v) is type(sys)}
    for name in "torch", "cupy", "jax", "numpy":
        if name in imported:
            return name
    try:
        importlib.import_module("numpy")
        return "numpy"
    except ImportError:
        return "array"


# --- How a function is called ---

# Of which each row has a result; and of which each element has one.
OF_ROWS = ("rows", "rowmean", "rowvariance", "sumexp", "logsumexp")
OF_ELEMENTS = ("scan", "transpose", "softmax", "rmsnorm", "layernorm")
# Those of elements that take a matrix row by row.
EACH_OF_ROWS = ("softmax", "rmsnorm", "layernorm")


def count_of(operation, n, bins):
    """How many results are due."""
    if operation == "gemm":
        return bins
    return n if operation in OF_ELEMENTS else bins if operation == "scatter" or operation in OF_ROWS else 1


def shape_of(result):
    """Of an array, or of a list of rows; () where it is not known."""
    if isinstance(result, (list, tuple)):
        row = result[0] if result else None
        return (len(result), len(row)) if hasattr(row, "__len__") else (len(result),)
    return tuple(getattr(result, "shape", ()))


class Case:
    """What a function is called with, and how many results are due."""

    def __init__(self, operation, x, y, keys, bins, stride, make_zeros, matrix, a=None, b=None, c=None):
        self.operation, self.x, self.y, self.keys = operation, x, y, keys
        self.bins, self.stride, self.zeros, self.matrix = bins, stride, make_zeros, matrix
        self.a, self.b, self.c = a, b, c
        n = len(x)
        self.count = count_of(operation, n, bins)

    def shaped(self):
        """The matrix, and the axis to sum over: rows come in batches of `stride` that lie column by column."""
        length = len(self.x) // self.bins
        if self.stride == 1:
            return self.matrix(self.x, (self.bins, length)), 1
        if self.stride == self.bins:
            return self.matrix(self.x, (length, self.bins)), 0
        return self.matrix(self.x, (self.bins // self.stride, length, self.stride)), 1


def added_up(out, returned):
    return out if returned is None else returned


# Ways to call a function that adds elements up by their keys. Those that write take an array of zeros.
SCATTERS = [
    ("f(x, keys, bins)", lambda f, c, k: lambda: f(c.x, c.keys, c.bins)),
    ("f(keys, weights=x, minlength=bins)", lambda f, c, k: lambda: f(c.keys, weights=c.x, minlength=c.bins)),
    ("f(x, keys, num_segments=bins)", lambda f, c, k: lambda: f(c.x, c.keys, num_segments=c.bins)),
    ("f(out, 0, keys, x)", lambda f, c, k: lambda: (lambda out: added_up(out, f(out, 0, c.keys, c.x)))(c.zeros())),
    ("f(out, keys, x)", lambda f, c, k: lambda: (lambda out: added_up(out, f(out, c.keys, c.x)))(c.zeros())),
]


# Ways to call a matrix product: those that take C, which is in the accumulator's format, before those of two matrices.
def products(dtype):
    given = [{}, {"dtype": dtype}, {"preferred_element_type": dtype}, {"out_dtype": dtype}]
    return [("f(A, B, C)", lambda f, c, k: lambda: f(c.a, c.b, c.c())),
            ("f(C, A, B)", lambda f, c, k: lambda: f(c.c(), c.a, c.b))] + \
        [(f"f(A, B{words_of(g)})", lambda f, c, k, g=g: lambda: f(c.a, c.b, **g)) for g in given] + \
        [("f(A, B.T)", lambda f, c, k: lambda: f(c.a, c.b.T))]


def takes_c(way):
    return "C" in way[0]


def words_of(keywords):
    return "".join(f", {name}={getattr(value, '__name__', value)}" for name, value in keywords.items())


def plain(keywords):
    return f"f(x{words_of(keywords)})", lambda f, c, k: lambda: f(c.x, **keywords)


def over_axis(word, keywords):
    def make(f, c, k):
        m, axis = c.shaped()
        return lambda: f(m, **{word: axis}, **keywords)
    return f"f(X, {word}=..{words_of(keywords)})", make


def alone(f, c, k):
    m, _ = c.shaped()
    return lambda: f(m)


def rows_alone(f, c, k):
    """A function that takes no axis: rows are rows for it, however they lie."""
    m, axis = c.shaped()
    if len(m.shape) == 3:
        m = c.matrix(m.swapaxes(1, 2), (c.bins, -1))
    elif axis == 0:
        m = m.T
    return lambda: f(m)


def elements_alone(f, c, k):
    """The same of each element, which goes back to where it lay."""
    m, axis = c.shaped()
    if axis == len(m.shape) - 1:
        return lambda: f(m)
    return lambda: f(m.swapaxes(axis, -1)).swapaxes(axis, -1)


def ways(operation, arrays, dtype):
    """All ways to call a function of this operation, the likeliest first: what they are, and what makes the call."""
    typed = {"dtype": dtype}
    if operation == "scatter":
        return SCATTERS
    if operation == "gemm":
        return products(dtype)
    if operation == "dot":
        return [("f(x, y)", lambda f, c, k: lambda: f(c.x, c.y)),
                (f"f(x, y{words_of(typed)})", lambda f, c, k: lambda: f(c.x, c.y, **typed))]
    if operation in OF_ROWS or operation in EACH_OF_ROWS:
        more = [{}, {"correction": 0}, {"ddof": 0}] if operation == "rowvariance" else [{}]
        return [over_axis(word, k | t) for word, t in ((arrays.axis, {}), (arrays.axis, typed), ("axis", {}))
                for k in more] + [("f(X)", rows_alone if operation in OF_ROWS else elements_alone)]
    if operation == "transpose":
        return [("f(X)", alone)]
    more = {"scan": [{arrays.axis: 0}], "variance": [{"correction": 0}, {"ddof": 0}]}.get(operation, [])
    return [plain(k | t) for t in ({}, typed) for k in ({}, *more)]


# Whose results are values that a comparison picks, in the storage's format: rounding one is no arithmetic of theirs.
PICKS = ("minimum", "maximum", "minimum_number", "maximum_number", "argmin", "argmax")
# A small example, whose results every format has, and no two operations that give one number share. Of operations
# that are not here the first way is taken that gives one result.
TRIED = {"x": [2, 4, -8, 4], "y": [1, 2, 1, 4], "keys": [1, 0, 1, 2]}
# Of a matrix product these are A and C, y is B; and what is due where C is not taken.
DUE_WITHOUT_C = [6, 20, -4, 0]
DUE = {"sum": [2], "scan": [2, 6, -2, 2], "dot": [18], "norm": [10], "asum": [18], "mean": [0.5], "variance": [24.75],
       "scatter": [4, -6, 4], "product": [-256], "minimum": [-8], "maximum": [4], "minimum_number": [-8],
       "maximum_number": [4], "argmin": [2], "argmax": [1], "rows": [6, -4], "transpose": [2, -8, 4, 4],
       "rowmean": [3, -2], "rowvariance": [1, 36], "gemm": [8, 24, -12, 4]}
# Of these to 2%, which the rounding of no format exceeds.
DUE_NEARLY = {"sumexp": [1.1353353, 1.0000061], "logsumexp": [4.126928, 4.0000061],
              "softmax": [0.1192029, 0.8807971, 6.144e-06, 0.9999939],
              "rmsnorm": [0.6324555, 1.2649111, -1.2649111, 0.6324555],
              "layernorm": [-0.999995, 0.999995, -0.9999999, 0.9999999]}


# A function may refuse so few elements, or numbers of them that are no multiple of its own: then it is tried on the example
# made so many times as long.
LONGER = (1, 4, 15, 250, 256, 16384)
LONGER_PRODUCTS = (1, 8, 32)  # each side of a matrix
# Where the elements are repeated; else what follows them changes no sum.
REPEATED = ("mean", "variance", *PICKS, "rowmean", "rowvariance", "transpose", *DUE_NEARLY)


def filled(values, rows, times, operation):
    """Rows that are so many times as long: their elements again and again, or behind them what adds nothing."""
    each = len(values) // rows
    parts = [values[i:i + each] for i in range(0, len(values), each)]
    behind = [1 if operation == "product" else 0] * (each * (times - 1))
    return [v for part in parts for v in (part * times if operation in REPEATED else part + behind)]


def squared(values, times):
    """A matrix of two rows and columns, in the corner of one whose other elements are zero."""
    each = len(values) // 2
    return [v for row in (values[:each], values[each:]) for v in row + [0] * (each * (times - 1))] + \
        [0] * (len(values) * times * (times - 1))


class Example:
    """Elements of a small example, and the results that are due of them."""

    def __init__(self, operation, storage, accumulator, times):
        self.operation, self.times = operation, times
        if operation == "gemm":
            a, b, c = (squared(TRIED[k], times) for k in ("x", "y", "x"))
            self.raw = {"x": bytearray(encoded(a + b, storage)), "c": bytearray(encoded(c, accumulator))}
            side = 2 * times
            self.request = Request.parse(f"gemm {2 * side * side} {storage} {accumulator} {accumulator} {side} {side} {side} "
                                         f"nn {side} {side} {side * side}")
            return
        rows = 2 if operation in OF_ROWS or operation in EACH_OF_ROWS or operation == "transpose" else 1
        self.raw = {k: bytearray(encoded(filled(v, rows, times, operation), storage))
                    for k, v in TRIED.items() if k != "keys"}
        keys = filled(TRIED["keys"], 1, times, "sum")
        self.raw["keys"] = bytearray(struct.pack(f"<{len(keys)}I", *keys))
        self.request = Request(operation, 4 * times, storage, accumulator, accumulator, False,
                               3 if operation == "scatter" else 2, 1)

    def due(self, way):
        """The results, exactly; of those of DUE_NEARLY to 2%. None: no one knows."""
        o, k = self.operation, self.times
        if o == "gemm":
            return squared(DUE["gemm"] if takes_c(way) else DUE_WITHOUT_C, k)
        due = DUE_NEARLY.get(o) or DUE.get(o)
        if due is None or k == 1:
            return due
        if o == "scan":
            return due + due[-1:] * (4 * (k - 1))
        if o == "transpose":
            return [v for _ in range(k) for v in due]
        if o in EACH_OF_ROWS:
            return [v / k if o == "softmax" else v for v in filled(due, 2, k, o)]
        return [v * k if o == "sumexp" else v + math.log(k) if o == "logsumexp" else v for v in due]

    def is_due(self, results, way):
        due = self.due(way)
        if self.operation not in DUE_NEARLY:
            return results == due
        return all(abs(x - y) <= 0.02 * abs(y) for x, y in zip(results, due, strict=True))


# How struct packs a number; of bf16 and e5m2, whose bits are the upper half of it.
PACKED = {"fp16": "e", "bf16": "f", "fp32": "f", "fp64": "d", "e5m2": "e"}


def encoded(values, form):
    """Small whole numbers in a format, whose significands all have room for them."""
    if form == "e4m3":  # of powers of two
        return bytes((v < 0) << 7 | (abs(v).bit_length() - 1 + 7) << 3 if v else 0 for v in values)
    raw = struct.pack(f"<{len(values)}{PACKED[form]}", *values)
    if form == "e5m2":
        return raw[1::2]
    if form == "bf16":
        upper = bytearray(2 * len(values))
        upper[::2], upper[1::2] = raw[2::4], raw[3::4]
        return bytes(upper)
    return raw


def decoded(raw, form):
    if form == "bf16":
        wide = bytearray(2 * len(raw))
        wide[2::4], wide[3::4] = raw[::2], raw[1::2]
        raw, form = wide, "fp32"
    return list(struct.unpack(f"<{len(raw) * 8 // BITS[form]}{PACKED[form]}", raw))


# --- The subject ---

class Subject:
    """A function, and how it is called for each pair of formats."""

    def __init__(self, name, function, operation, arrays, file="", in_process=True, mode=""):
        self.name, self.function, self.operation, self.arrays = name, function, operation, arrays
        self.file, self.in_process, self.mode = os.path.abspath(file) if file else "", in_process, mode
        # Ways are tried on the function itself: to compile each for each pair of formats would take minutes.
        self.runs = function
        for word in mode.split("@") if mode else ():
            self.runs = arrays.in_mode(word, self.runs)
        self.way = {}
        self.right = False  # did a way give what is due of the example?
        self.call = ""  # the way of all pairs of formats, where a process before this one found it

    def find_way(self, device, storage, accumulator):
        """The way that gives what is due of a small example, else one that gives as many results in the format."""
        key = device.split(":")[0], storage, accumulator
        if key in self.way:
            if isinstance(self.way[key], Refused):
                raise self.way[key]
            return self.way[key]
        for form in storage, accumulator:
            if form not in self.arrays.types:
                self.refuse(key, f"{self.arrays.name} has no {form}")
        # It may remember what it was called on: then that is what is asked for, and no example.
        for way in ways(self.operation, self.arrays, self.arrays.types[accumulator]) if self.call else ():
            if way[0] == self.call:
                self.way[key] = way
                return way
        first, tried = None, []
        for times in LONGER_PRODUCTS if self.operation == "gemm" else LONGER:
            example = Example(self.operation, storage, accumulator, times)
            way, why = self.try_ways(example, device)
            tried.append(example.request.n)
            if way:
                self.way[key] = way
                return way
            raised = [e for e in why if not isinstance(e, Refused)]
            its = [e for e in raised if not isinstance(e, TypeError)]  # not of a way to call it
            told = why[0] if isinstance(why[0], Refused) else (its or why)[0]
            first = first or told
            if not its:  # other elements would not mend it
                break
        its_own = not isinstance(first, Refused)
        words = last_words(first) if its_own else str(first)
        self.refuse(key, words, first if its_own else None, f", on {', '.join(map(str, tried))} elements" if len(tried) > 1 else "")

    def try_ways(self, example, device):
        """The way that gives what is due of an example, else one that gives as many results in the format, or None; and
        what was raised on the way, by the function or because of what it gave."""
        fallback, why = None, []
        accumulator = example.request.accumulator
        for way in ways(self.operation, self.arrays, self.arrays.types[accumulator]):
            raw = {k: bytearray(v) for k, v in example.raw.items()}  # which it may write to
            try:
                call = way[1](self.function, self.case(example.request, raw, 0, device), None)
                result, _ = self.arrays.timed(call, 1, self.device(device))
                answer = self.answer(result, example.request)
                if example.is_due(decoded(answer, accumulator), way):
                    self.right = True
                    return way, why
                fallback = fallback or way
            except (Exception, SystemExit) as e:  # of a function of somebody else's
                why.append(e)
        return fallback, why

    def refuse(self, key, words, cause=None, tried=""):
        self.way[key] = Refused(f"{self.name}: called as {self.operation}, {key[1]} in {key[2]}{tried}: {words}")
        raise self.way[key] from cause

    def device(self, device):
        return "cuda:0" if device == "cuda" else device

    def case(self, r, raw, offset, device):
        a, device = self.arrays, self.device(device)
        y = a.put(raw["y"], r.storage, 0, device) if r.operation == "dot" else None
        keys = a.keys(raw["keys"], device) if r.operation == "scatter" else None
        x = a.put(raw["x"], r.storage, offset, device)
        case = Case(r.operation, x, y, keys, r.bins, r.stride, lambda: a.zeros(r.bins, r.accumulator, device), a.matrix)
        if r.operation == "gemm":
            case.a = a.strided(x, 0, r.m, r.k, r.lda, r.layout[0] == "t")
            case.b = a.strided(x, (r.k if r.layout[0] == "t" else r.m) * r.lda, r.k, r.n_columns, r.ldb,
                               r.layout[1] == "t")
            case.c = lambda: self.c_of(r, raw["c"], device)  # anew for each run, which may write to it
        return case

    def c_of(self, r, raw, device):
        a = self.arrays
        c = a.put(raw, r.output, 0, device) if raw else a.zeros(r.bins, r.output, device)
        c = a.strided(c, 0, r.m, r.n_columns, r.n_columns, False)
        return c if r.output == r.accumulator else a.as_type(c, r.accumulator)

    def answer(self, result, r):
        """The bytes of the results, in the format that is asked for."""
        a = self.arrays
        if isinstance(result, tuple) and hasattr(result, "values"):
            result = result.values
        count = count_of(r.operation, r.n, r.bins)
        form = a.format_of(result)
        picks = r.operation in PICKS
        if form is None and not picks:
            kind = type(result).__name__ + (f" of {result.dtype}" if hasattr(result, "dtype") else "")
            raise Refused(f"found a result of type {kind}, expected {r.accumulator} of {a.name}")
        if a.size(result) != count:
            raise Refused(f"found {a.size(result)} results, expected {count}")
        shape = shape_of(result)
        if r.operation == "gemm" and len(shape) == 2 and shape != (r.m, r.n_columns):
            raise Refused(f"found a result of {shape[0]} x {shape[1]}, expected {r.m} x {r.n_columns}")
        if form != r.accumulator and not picks:
            raise Refused(f"found a result in {form}, expected {r.accumulator}")
        if r.exclusive:
            result = a.shifted(result)
        if picks or r.output != form:
            result = a.cast(result, r.output)
        answer, due = a.bytes_of(result), count * BITS[r.output] // 8
        if len(answer) != due:  # of what says of itself that it is an array
            raise Refused(f"found a result of type {type(result).__name__} with {len(answer)} bytes, expected {due}")
        return answer

    def pairs(self, kind, asked):
        """Which pairs of formats it takes there, of those asked for, and why it does not take another."""
        found, first = [], None
        accumulators = ("fp64",) if self.operation in ("argmin", "argmax") else ACCUMULATORS
        pairs = [(storage, accumulator) for storage in BITS for accumulator in accumulators]
        # What remembers its first call, in whatever format, does so in one that is asked for.
        pairs.sort(key=lambda pair: (pair != ("fp32", "fp32"), pair != ("fp64", "fp64")))
        for storage, accumulator in pairs:
            if asked and f"{storage}/{accumulator}" not in asked.split(","):
                continue
            try:
                self.find_way(kind, storage, accumulator)
                found.append(f"{storage}/{accumulator}")
            except Refused as e:
                first = e if storage == accumulator == "fp32" else first or e
        return found, first

    def describe(self, devices="", formats=""):
        """What `ulpscope serve --describe` says of a shared object, and what is to stand in study.json. Devices and
        pairs of formats, with commas between: of these alone, since each is tried, which may mean a compilation."""
        pairs, refused = {}, None
        for kind in self.arrays.devices():
            if devices and kind not in devices.split(","):
                continue
            pairs[kind], why = self.pairs(kind, formats)
            refused = refused or why
        if not any(pairs.values()):
            raise refused or Refused(f"{self.name}: no device that {self.arrays.name} runs on", MEMORY)
        calls = sorted({way[0] for way in self.way.values() if not isinstance(way, Refused)})
        facts = {"function": self.name, "operation": self.operation, "array": self.arrays.name,
                 "version": self.arrays.version(), "python": ".".join(map(str, sys.version_info[:3])),
                 "calls": calls, **({"mode": self.mode} if self.mode else {}), **self.arrays.facts()}
        if self.file:
            with open(self.file, "rb") as file:
                facts["sha256"] = hashlib.sha256(file.read()).hexdigest()
        no_c = self.operation == "gemm" and not all(takes_c(way) for way in self.way.values()
                                                    if not isinstance(way, Refused))
        return {"summary": f"a function of Python, on arrays of {self.arrays.name}", "operation": self.operation,
                "no_c": no_c,
                "promise": "none", "pairs": pairs, "reads": {}, "process": self.in_process,
                "places": self.arrays.places, "facts": facts}


class Request:
    def __init__(self, operation, n, storage, accumulator, output, exclusive, bins, stride):
        self.operation, self.n, self.storage, self.accumulator = operation, n, storage, accumulator
        self.output, self.exclusive, self.bins, self.stride = output, exclusive, bins, stride
        self.bytes = n * BITS[storage] // 8

    @staticmethod
    def parse(line):
        try:
            operation, n, storage, accumulator, *more = line.split()
            r = Request(operation, int(n), storage, accumulator, accumulator, False, 0, 1)
            if operation == "scan":
                r.exclusive, r.output = more[0] == "exclusive", more[1]
            elif operation == "gemm":
                r.output, r.layout = more[0], more[4]
                r.m, r.n_columns, r.k, r.lda, r.ldb, r.c = (int(more[i]) for i in (1, 2, 3, 5, 6, 7))
                r.bins = r.m * r.n_columns
            elif more:
                r.bins, r.stride = int(more[0]), int(more[1]) if len(more) > 1 else 1
            return r
        except (ValueError, IndexError, KeyError):
            raise Refused(f"request: found '{line[:100]}', expected OPERATION N STORAGE ACCUMULATOR ...") from None


class Server:
    """Answers requests with a subject. What a run is given stays on the device until other elements come."""

    def __init__(self, subject, source, sink):
        self.source, self.sink = source, sink
        self.device, self.offset = "cpu", 0
        self.ask(subject)

    def ask(self, subject):
        self.subject = subject
        self.raw, self.made, self.case, self.kept = None, None, None, None

    def serve(self):
        while line := self.source.readline().decode(errors="replace"):
            line = line.rstrip("\n")
            word, _, rest = line.partition(" ")
            if word == "device":
                self.device = rest
            elif word == "offset":
                self.offset = int(rest)
            elif line == "ready":
                self.write(bytes(8))
            elif line == "threads":
                self.write(struct.pack("<Q", self.subject.arrays.threads()))
            elif line.startswith("function\t"):
                self.ask(subject_of(*line.split("\t")[1:], self.subject.mode))
            elif word == "describe":
                self.write(json.dumps(self.subject.describe(*rest.split())).encode().ljust(DESCRIPTION))
            else:
                self.write(self.run(line))

    def write(self, answer):
        view = memoryview(answer)
        while view:
            view = view[self.sink.write(view):]

    def read(self, size):
        raw = bytearray(size)
        view, found = memoryview(raw), 0
        while found < size and (got := self.source.readinto(view[found:])):
            found += got
        if found < size:
            raise Refused(f"request: found {found} of {size} bytes of elements")
        return raw

    def take(self, r, same):
        """The elements of a request, on the device."""
        if same and self.raw is None:
            raise Refused("request: found the elements of the last one asked for, but there was none")
        if not same:
            self.raw = {"x": self.read(r.bytes)}
            if r.operation == "dot":
                self.raw["y"] = self.read(r.bytes)
            if r.operation == "scatter":
                self.raw["keys"] = self.read(4 * r.n)
        if r.operation == "gemm":  # the same elements may be other matrices: A and B are cut off again
            self.raw = self.cut(r, same)
        asked = vars(r) | {"device": self.device, "offset": self.offset}
        arrays = self.subject.arrays
        if not same or asked != self.made or arrays.changed(self.case.x, self.kept, self.raw["x"]):
            self.case = self.subject.case(r, self.raw, self.offset, self.device)
            self.made, self.kept = asked, arrays.mark(self.case.x)

    def cut(self, r, same):
        behind = r.c * BITS[r.output] // 8
        whole = self.raw["x"] + self.raw["c"] if same else self.raw["x"] + self.read(behind)
        if len(whole) != r.bytes + behind:
            raise Refused(f"request: found {len(whole)} bytes of the elements before, expected {r.bytes + behind}")
        return {"x": whole[:r.bytes], "c": whole[r.bytes:]}

    def run(self, line):
        runs, same = 1, line.startswith("same ")
        if same:
            line = line[5:]
        if line.startswith("time "):
            _, runs, line = line.split(" ", 2)
        r = Request.parse(line)
        if r.operation != self.subject.operation:
            raise Refused(f"request: found a {r.operation}, expected a {self.subject.operation}")
        _, make = self.subject.find_way(self.device, r.storage, r.accumulator)
        self.take(r, same)
        call = make(self.subject.runs, self.case, None)
        result, spent = self.subject.arrays.timed(call, int(runs), self.subject.device(self.device))
        return self.subject.answer(result, r) + struct.pack("<Q", spent)


def last_words(e):
    """One line of an exception."""
    return f"{type(e).__name__}: " + " ".join(str(e).split())[:300]


def status_of(e, otherwise=RAISED):
    if isinstance(e, Refused):
        return e.status
    return MEMORY if isinstance(e, MemoryError) or "OutOfMemory" in type(e).__name__ else otherwise


SHIPPED = "ulpscope.calls."  # found beside this file, whether the package is installed or not


def load(name):
    """The function that a name names, the first part of its module's name, and its file where it is one."""
    if name.startswith(SHIPPED):
        name = f"{os.path.dirname(os.path.abspath(__file__))}/calls.py:{name[len(SHIPPED):]}"
    path, mark, attributes = name.rpartition(".py:")
    if name.endswith((".py", ".py:")) and os.path.exists(name.rstrip(":")):
        raise Refused(f"found the file '{name.rstrip(':')}' alone, expected FILE.py:FUNCTION", USAGE)
    if mark:
        path += ".py"
        if not name.startswith(os.path.dirname(os.path.abspath(__file__))):
            sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        if not os.path.exists(path):
            raise Refused(f"{path}: no such file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return reach(module, attributes.split("."), name), "", path
    sys.path.insert(0, os.getcwd())
    words = name.split(".")
    if not all(words):
        raise Refused(f"found the name '{name}', expected MODULE.FUNCTION or FILE.py:FUNCTION", USAGE)
    for length in range(len(words), 0, -1):
        module = ".".join(words[:length])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as e:
            if not e.name or not (module == e.name or module.startswith(e.name + ".")):
                raise  # a module of theirs that is missing
            continue
        return reach(found, words[length:], name), words[0], ""
    raise Refused(f"{name}: found no module {words[0]} in {sys.executable}, expected MODULE.FUNCTION or "
                  "FILE.py:FUNCTION (ULPSCOPE_PYTHON names another Python)")


def reach(found, words, name):
    for i, word in enumerate(words):
        if not hasattr(found, word):
            near = [w for w in dir(found) if w.startswith(word[:3]) and not w.startswith("_")][:6]
            hint = f"; it has {', '.join(near)}" if near else ""
            raise Refused(f"{name}: {getattr(found, '__name__', words[i - 1])} has no {word}{hint}", USAGE)
        found = getattr(found, word)
    if not callable(found):
        raise Refused(f"{name}: found a {type(found).__name__}, expected a function", USAGE)
    return found


def private_channels():
    """Standard input and output, out of the way of what a function reads or prints."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb", buffering=0)


def relay(path):
    """Hands standard input and output to the process that listens, and ends as it says."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(path)
        socket.send_fds(caller, [b"?"], [0, 1])
        os.close(0)
        os.close(1)
        answer = b"".join(iter(lambda: caller.recv(4096), b""))
    status, _, words = answer.partition(b" ")
    sys.stderr.write(words.decode() + "\n" if words else "")
    return int(status or DATA)


def subject_of(name, operation, asked="", mode=""):
    """The function as a subject. A module that it lacks, and what its file raises, is said with its name."""
    where = name
    try:
        function, root, file = load(name)
        kind = asked or guess_arrays(function, root)
        where = f"{name}: --array {kind}"
        return Subject(name, function, operation, LIBRARIES[kind](), file, mode=mode)
    except (Refused, KeyboardInterrupt):
        raise
    except ImportError as e:
        raise Refused(f"{where}: {last_words(e)} (in {sys.executable}; ULPSCOPE_PYTHON names another Python)") from None
    except BaseException as e:  # also SystemExit: a file may not end the process unseen
        traceback.print_exc()
        raise Refused(f"{name}: {last_words(e)}", status_of(e, DATA)) from e


def main(name, operation, asked="", mode="", call=""):
    if f"{name}@{asked}@{operation}" == os.environ.get("ULPSCOPE_CALLED") and not mode:
        return relay(os.environ["ULPSCOPE_CALLER"])
    os.environ.setdefault(COMPILED, os.path.join(tempfile.gettempdir(), f"ulpscope-inductor-{os.getuid()}"))
    source, sink = private_channels()
    del sys.path[0]  # this file's folder: what lies beside it is not for others to import
    server = None
    try:
        subject = subject_of(name, operation, asked, mode)
        subject.call = call
        server = Server(subject, source, sink)
        server.serve()
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    except BaseException as e:  # also SystemExit: a function may not end its process unseen
        if not isinstance(e, Refused):
            traceback.print_exc()
        at = server.subject.name if server else name
        sys.stderr.write((str(e) if isinstance(e, Refused) else f"{at}: {last_words(e)}") + "\n")
        return status_of(e)
    return 0


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # libraries' own ends take time, and nobody waits for them
