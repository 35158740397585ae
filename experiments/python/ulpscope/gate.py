"""Promises as assertions: what a test of one's own says of a function's bits and errors."""
from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import arrays, program
from .api import subject_of
from .errors import BrokenPromise, Error, UsageError
from .results import RUNGS, Result, ladder


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """What `ulpscope gate` says of one subject."""
    subject: str
    device: str
    verdict: str             #: "kept", or "broken", "inexact", "failed", "not tried"
    promise: str
    attempts: dict[str, int]  #: of each rung
    error: float | None      #: the largest, in the tolerance's quantity
    reason: str | None       #: why it is not kept
    reproduce: str | None    #: the command that shows a break again, where another process has the function and the data
    report: dict[str, Any] = field(repr=False)  #: all that the program says

    @classmethod
    def of(cls, entry: dict[str, Any], repeatable: bool = True) -> Verdict:
        rungs = entry["check"]["rungs"] if entry["check"] else []
        error = entry["error"]
        return cls(entry["subject"], entry["device"], entry["verdict"], entry["promise"],
                   {r["name"]: r["attempts"] for r in rungs if r["attempts"]}, None if error is None else float(error),
                   entry["reason"], entry["reproduce"] if repeatable else None, entry)

    def text(self) -> str:
        tried = ", ".join(f"{rung} {count}" for rung, count in self.attempts.items())
        head = f"{self.subject} on {self.device}: {self.promise} {self.verdict}" + (f" (attempts: {tried})" if tried else "")
        more = [self.reason] if self.reason else []
        if self.reproduce:
            more.append(f"reproduce: {self.reproduce}")
        return "\n  ".join([head, *more])

    def picture(self) -> str:
        rungs = self.report["check"]["rungs"] if self.report["check"] else []
        return ladder({r["name"]: (r["verdict"], r["attempts"]) for r in rungs}, self.promise, self.subject)


def verdict(f: Callable[..., Any] | str, promise: str | None = None, *, data: Any = None, device: str | None = None,
            operation: str | None = None, array: str | None = None, **members: Any) -> Verdict:
    """The verdict of a gate on f; arguments as assert_promise has them."""
    word, function = subject_of(f, operation, array, data)
    entry: dict[str, Any] = {"subject": word, "device": device or arrays.device_of(data)}
    entry |= {name: value for name, value in members.items() if value is not None}
    if promise is not None:
        entry["promise"] = promise
    with tempfile.TemporaryDirectory(prefix="ulpscope-") as folder:
        if isinstance(data, (str, os.PathLike)):
            entry["data"] = os.fspath(data)
        elif data is not None:
            _, file, _, _, form = program.data_options(data, folder)
            entry |= {"data": file, "raw": True, "storage": form}
        for name, value in entry.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"assert_promise: {name}: found {value}, expected a finite number")
        manifest = os.path.join(folder, "gate.json")
        try:
            text = json.dumps({"subjects": [entry]})
        except TypeError as e:
            raise UsageError(f"assert_promise: {e}: expected words, numbers, or lists of these") from None
        with open(manifest, "w", encoding="utf-8") as to:
            to.write(text)
        try:
            report = program.report(["gate", manifest], function)
        except Error as e:
            raise type(e)(reason_of(e, manifest)) from e.__cause__
    return Verdict.of(report["entries"][0], program.repeatable(function, data))


def reason_of(e: Error, manifest: str) -> str:
    """Why it failed: that of the one entry, if the program came to it. The manifest is nobody's to look at."""
    try:
        entry = json.loads(e.output)["entries"][0]
        return f"{entry['subject']}: {entry['reason']}"
    except (ValueError, LookupError):
        return re.sub(rf"^{re.escape(manifest)}: (subjects\[0\][.:] ?)?", "assert_promise: ", str(e))


def assert_promise(f: Callable[..., Any] | str, promise: str | None = None, *, data: Any = None, device: str | None = None,
                   operation: str | None = None, array: str | None = None, **members: Any) -> Verdict:
    """Raises BrokenPromise, an AssertionError, unless f keeps what is promised: "run_to_run", "gpu_to_gpu",
    "order_invariant", "correctly_rounded".

    f takes an array and gives a number, or an array; or it is a name, as `check` takes them. data: an array to try, in
    place of generated inputs. device: "cpu", "cuda:1"; that of the data where it is left out, or the CPU. Other
    keywords are the members of a manifest's entry: confidence (0.95) that fewer than differing (0.01) of runs differ,
    seconds (10) at most, tolerance and quantity, n, input, storage, accumulator, ... What time did not suffice for is not
    tried, and raises it too.
    """
    if promise is not None and promise not in ("none", *RUNGS):
        raise UsageError(f"promise: found '{promise}', expected one of {', '.join(RUNGS)}")
    found = verdict(f, promise, data=data, device=device, operation=operation, array=array, **members)
    if found.verdict != "kept":
        raise BrokenPromise(str(found), found)
    return found
