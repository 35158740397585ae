"""The program: where it is, and how it is run, also on a function of this process.

A function is run here, in the thread that asks, by the worker of python: subjects (worker.py): the program starts a
worker of its own, which hands its standard input and output over to us by a socket and waits.
"""
from __future__ import annotations

import hashlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from . import arrays, worker
from .errors import DataError, Error, UsageError, error_of

LINE = "ulpscope: "


def path() -> str:
    """The program of this package."""
    found = os.environ.get("ULPSCOPE_PROGRAM") or str(Path(__file__).parent / "bin" / "ulpscope")
    if not os.access(found, os.X_OK):
        raise DataError(f"{found}: the program of this package is not there")
    return found


def main() -> None:
    """Becomes the program."""
    os.environ.setdefault("ULPSCOPE_PYTHON", sys.executable)
    os.execv(path(), ["ulpscope", *sys.argv[1:]])


def name_of(function: Callable[..., Any]) -> str:
    name = f"{getattr(function, '__module__', '') or ''}.{getattr(function, '__qualname__', type(function).__name__)}"
    return "".join(c if c.isalnum() or c in "._<>" else "_" for c in name).lstrip(".") or "function"


class Function:
    """A function of this process as a subject of the program's."""

    def __init__(self, function: Callable[..., Any], operation: str | None, library: str | None, a: Any = None):
        if not callable(function):
            raise UsageError(f"found a {type(function).__name__}, expected a function, or the name of a method")
        self.name = name_of(function)
        root = self.name.partition(".")[0]
        kind = library or arrays.library_of(a) or worker.guess_arrays(function, root)
        if kind not in worker.LIBRARIES:
            raise UsageError(f"array: found '{kind}', expected one of {', '.join(worker.LIBRARIES)}")
        try:
            self.arrays = worker.LIBRARIES[kind]()
        except ImportError as e:
            raise DataError(f"array: {kind}: {e}") from None
        self.operation = operation or self.usual(function)
        self.subject = worker.Subject(self.name, function, self.operation, self.arrays, in_process=False)
        self.raised: BaseException | None = None

    @property
    def words(self) -> str:
        return f"python:{self.name}@{self.arrays.name}@{self.operation}"

    def usual(self, function: Callable[..., Any]) -> str:
        """What it computes: told from what it makes of four small numbers."""
        device = self.arrays.devices()[0]
        seen = []
        for form in "fp32", "fp64":
            for name, due in worker.DUE.items():
                if name in ("dot", "scatter", "transpose", "argmin", "argmax", *worker.OF_ROWS):
                    continue
                trial = worker.Subject(self.name, function, name, self.arrays)
                try:
                    trial.find_way(device, form, form)
                except worker.Refused as e:
                    seen.append(str(e))
                    continue
                if trial.right:
                    return name
        last = self.name.rpartition(".")[2]
        return "scan" if "cumsum" in last or not any("expected 4" not in words for words in seen) and seen else "sum"

    def serve(self, connection: socket.socket) -> None:
        """One process of the program's: until it has no more questions. The connection is the caller's to close."""
        _, (source, sink), _, _ = socket.recv_fds(connection, 1, 2)
        status, words = 0, ""
        with os.fdopen(source, "rb") as questions, os.fdopen(sink, "wb", buffering=0) as answers:
            try:
                worker.Server(self.subject, questions, answers).serve()
            except BrokenPipeError:
                pass
            except (Exception, SystemExit) as e:
                status = worker.status_of(e)
                refused = isinstance(e, worker.Refused)
                words = str(e) if refused else f"{self.name}: {worker.last_words(e)}"
                self.raised = e.__cause__ if refused else e
        try:
            connection.sendall(f"{status} {words}".encode())
        except OSError:
            pass


def run(words: Iterable[str], function: Function | None = None, broken: bool = False) -> str:
    """Runs a verb, and returns what it printed. Exit status 1 is an error but where `broken` is meant to be told."""
    with tempfile.TemporaryDirectory(prefix="ulpscope-") as folder, \
            tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        environment = os.environ | {"ULPSCOPE_PYTHON": sys.executable, "NO_COLOR": "1"}
        listener = None
        if function:
            environment["ULPSCOPE_CALLED"] = function.words.removeprefix("python:")
            listener = socket.socket(socket.AF_UNIX)
            environment["ULPSCOPE_CALLER"] = os.path.join(folder, "caller")
            listener.bind(environment["ULPSCOPE_CALLER"])
            listener.listen()
        else:
            environment.pop("ULPSCOPE_CALLED", None)
        process = subprocess.Popen([path(), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=said,
                                   env=environment)
        try:
            status = wait(process, listener, function)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            if listener:
                listener.close()
        out.seek(0)
        said.seek(0)
        text, errors = out.read().decode(), said.read().decode()
    if status == 0 or (status == 1 and broken):
        return text
    lines = [line for line in errors.splitlines() if line.startswith(LINE)] or errors.splitlines() or ["no word"]
    if status < 0:
        raise Error(f"the program was ended by signal {-status}: {lines[-1]}")
    line = next((told for told in lines if "its last words" in told or "answer" in told), lines[-1])
    error = error_of(status, line.removeprefix(LINE))
    error.output = text
    raise error from (function.raised if function else None)


def wait(process: subprocess.Popen[bytes], listener: socket.socket | None, function: Function | None) -> int:
    """Serves the function until the program ends."""
    if not listener or not function:
        return process.wait()
    descriptor = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
    try:
        while process.poll() is None:
            watched = [listener] + ([descriptor] if descriptor is not None else [])
            ready, _, _ = select.select(watched, [], [], 0.2)
            if listener in ready:
                with listener.accept()[0] as connection:
                    function.serve(connection)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return process.returncode


def options(given: dict[str, Any]) -> list[str]:
    """Keywords as options: a list gives the option again and again, True alone; None is left out."""
    words = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        if isinstance(value, (list, tuple, set, range)) and not value:  # which would stand for all there are
            raise UsageError(f"{name}: found none, expected one or more")
        if name == "batch" and isinstance(value, (list, tuple, set, range)):
            value = ",".join(spans(value))
        for item in value if isinstance(value, (list, tuple, set, range)) else [value]:
            words += [option, str(item)]
    return words


def spans(given: Iterable[Any]) -> list[str]:
    """Numbers of rows as --batch takes them: those that follow each other as one range. What is no number stays."""
    given = list(given)
    numbers = sorted({int(n) for n in given if isinstance(n, Integral)})
    first = [n for i, n in enumerate(numbers) if i == 0 or numbers[i - 1] != n - 1]
    last = [n for i, n in enumerate(numbers) if i + 1 == len(numbers) or numbers[i + 1] != n + 1]
    words = [str(n) for n in given if not isinstance(n, Integral)]
    return words + [str(a) if a == b else f"{a}..{b}" for a, b in zip(first, last)]


def data_options(a: Any, folder: str, keep: bool = False) -> list[str]:
    """An array as the program's data: a file of its elements. One that is kept has a name of its own."""
    if isinstance(a, (str, os.PathLike)):
        return ["--data", os.fspath(a)]
    v = arrays.view(a)
    if not v.n:
        raise DataError("data: found an empty array, expected numbers")
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, f"data-{hashlib.sha256(v.bytes).hexdigest()[:12]}" if keep else "data")
    with open(file, "wb") as to:
        to.write(v.bytes)
    return ["--data", file, "--raw", "--storage", v.form]


def repeatable(function: Function | None, data: Any) -> bool:
    """Can a command show the same again? Not of a function, or an array, that this process alone has."""
    return function is None and (data is None or isinstance(data, (str, os.PathLike)))


def report(words: Iterable[str], function: Function | None = None) -> Any:
    """The JSON that a verb prints, whether or not what it looked for was there."""
    words = [*words, "--json"]
    text = run(words, function, broken=True)
    try:
        return json.loads(text)
    except ValueError:  # an option that prints something else, such as help=True
        raise UsageError(f"{words[0]}: found no JSON, but '{text.partition(chr(10))[0][:100]}'") from None
