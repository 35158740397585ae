"""What is found: each result has a short text, and in a notebook a page's part with a picture."""
from __future__ import annotations

import csv
import html
import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import DataError, Error

if TYPE_CHECKING:
    import pandas

RUNGS = ("run_to_run", "gpu_to_gpu", "order_invariant", "correctly_rounded")
BLUE, ORANGE, GREY, DARK = "#3b7dd8", "#e8833a", "#c9ced6", "#24405f"


# --- Pictures ---

def picture(width: int, height: int, parts: list[str], title: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"><title>{html.escape(title)}</title>'
            + "".join(parts) + "</svg>")


def words(x: float, y: float, text: Any, anchor: str = "start", fill: str = "currentColor") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{html.escape(str(text))}</text>'


def bar(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" fill="{fill}" rx="2"/>'


def bars(rows: list[tuple[str, float, str, str]], title: str, mark: float | None = None) -> str:
    """Rows of (name, value, what stands behind the bar, colour), on a logarithmic scale; a mark across all."""
    finite = [v for _, v, _, _ in rows if v > 0 and math.isfinite(v)] + ([mark] if mark else [])
    low = math.floor(math.log10(min(finite, default=1e-1))) - 1
    high = max(math.ceil(math.log10(max(finite, default=1))), low + 1)

    def place(v: float) -> float:
        return 0 if v <= 0 else 300 if not math.isfinite(v) else (math.log10(v) - low) / (high - low) * 300
    parts = []
    for i, (name, value, note, fill) in enumerate(rows):
        y = 8 + 22 * i
        parts += [words(170, y + 12, name, "end"), bar(178, y, place(value), 15, fill),
                  words(184 + place(value), y + 12, note)]
    if mark:
        x = 178 + place(mark)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="2" y2="{10 + 22 * len(rows)}" stroke="{ORANGE}" '
                     'stroke-dasharray="4 3"/>')
    return picture(640, 14 + 22 * len(rows), parts, title)


def table(rows: list[list[Any]], head: list[str]) -> str:
    def row(cells: list[Any], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(c))}</{kind}>" for c in cells) + "</tr>"
    return "<table>" + row(head, "th") + "".join(row(r, "td") for r in rows) + "</table>"


def short(x: float | None) -> str:
    return "" if x is None else f"{float(x):.3g}"


def to_fp64(x: Fraction | float) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def ladder(rungs: dict[str, tuple[str, int]], promise: str, title: str) -> str:
    """A bar for each rung, with its verdict and attempts; what was promised is underlined."""
    colour = {"kept": BLUE, "broken": ORANGE}
    parts = []
    for i, (rung, (verdict, attempts)) in enumerate(rungs.items()):
        y = 8 + 24 * i
        parts += [bar(130, y, 180, 18, colour.get(verdict, GREY)), words(124, y + 13, rung, "end"),
                  words(220, y + 13, f"{verdict}, {attempts} attempts", "middle",
                        "white" if verdict in colour else "black")]
        if promise in RUNGS and rung in RUNGS and RUNGS.index(rung) <= RUNGS.index(promise):
            parts.append(bar(112, y + 20, 198, 2, DARK))
    return picture(330, 12 + 24 * len(rungs), parts, f"{title}: rungs")


def _percent_at_most(share: float) -> str:
    """Two significant digits, rounded up: a bound is not printed as less than it is."""
    percent = 100 * share
    text = f"{percent:.2g}"
    return text if float(text) >= percent else f"{float(text) + 10 ** (math.floor(math.log10(percent)) - 1):.2g}"


# --- Results ---

class Result:
    """Something with a text, and a part of a page."""

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        raise NotImplementedError

    def picture(self) -> str:
        """As SVG."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<div>{self.picture()}<pre style='white-space: pre-wrap'>{html.escape(self.text())}</pre></div>"


@dataclass(frozen=True, repr=False)
class Errors(Result):
    """A computed result beside the exact one. What does not apply is NaN."""
    result: float
    exact: Fraction | float
    accumulator: str        #: the format of the result
    n: int
    condition: float
    err_abs: float
    err_rel: float
    err_ulp: float          #: in units in the last place of the exact result
    err_backward: float     #: over sum|x|
    bound: float            #: on err_abs, of additions in this format in any order
    err_over_bound: float   #: above 1: a bug, or additions in a narrower format than the result's
    within: bool
    index: int | None = None  #: of an array of sums: that with the largest backward error

    def text(self) -> str:
        of = f"output {self.index}, of " if self.index is not None else ""
        return (f"{of}{self.n} elements, condition number {short(self.condition)}\n"
                f"result {self.result!r} ({self.accumulator})\n"
                f"exact  {to_fp64(self.exact)!r}, rounded to fp64\n"
                f"error  {short(self.err_abs)}, relative {short(self.err_rel)}, {short(self.err_ulp)} ulp, "
                f"{short(self.err_over_bound)} of its bound")

    def picture(self) -> str:
        rows = [("relative error", self.err_rel, short(self.err_rel), BLUE),
                ("over sum|x|", self.err_backward, short(self.err_backward), BLUE),
                ("over its bound", self.err_over_bound, short(self.err_over_bound),
                 BLUE if self.within else ORANGE)]
        return bars([(name, 0 if math.isnan(v) else v, note, fill) for name, v, note, fill in rows], "Errors", 1.0)


@dataclass(frozen=True)
class Witness:
    """The smallest case found in which two results differ that ought to be the same."""
    rung: str
    attempt: str
    storage: str
    accumulator: str
    input: str
    n: int
    seed: int
    bits: str
    what: str
    other_bits: str
    other_what: str
    command: str | None  #: shows it again; None of a function, or an array, that this process alone has

    def __str__(self) -> str:
        return (f"{self.rung} broken ({self.attempt}): {self.input}, {self.storage}/{self.accumulator}, n = {self.n}: "
                f"{self.bits} {self.what}, {self.other_bits} {self.other_what}")


@dataclass(frozen=True, repr=False)
class Check(Result):
    """Which promise the bits keep."""
    method: str
    device: str
    kept: str                  #: the highest rung that was kept, with none below it broken
    promise: str               #: what it was held to
    broken: bool               #: is that broken?
    attempts: dict[str, int]   #: of each rung
    verdicts: dict[str, str]   #: "kept", "broken", "not tried" of each rung
    reasons: dict[str, str]    #: why a rung was not tried
    witness: Witness | None    #: of the lowest rung that is broken
    witnesses: tuple[Witness, ...]
    report: dict[str, Any] = field(repr=False)  #: all that the program says

    @classmethod
    def of(cls, report: dict[str, Any], repeatable: bool = True) -> Check:
        found = tuple(
            Witness(rung["name"], w["attempt"], w["storage"], w["accumulator"], w["input"], w["n"], w["seed"],
                    w["bits"], w["is"], w["other_bits"], w["other_is"],
                    w["command"] if repeatable else None)
            for rung in report["rungs"] for w in rung["witnesses"])
        return cls(report["method"], report["device"], report["kept"], report["held_to"], report["broken"],
                   {r["name"]: r["attempts"] for r in report["rungs"]},
                   {r["name"]: r["verdict"] for r in report["rungs"]},
                   {r["name"]: r["reason"] for r in report["rungs"] if r["reason"]},
                   found[0] if found else None, found, report)

    @property
    def verdict(self) -> str:
        """Of what it was held to: "kept", "broken", "not tried"."""
        return "broken" if self.broken else self.verdicts.get(self.promise, "kept")

    @property
    def batches(self) -> list[dict[str, Any]]:
        """Which numbers of rows gave the same bits, where `batch` asked for them: a table for each product."""
        return list(self.report.get("batches", []))

    def text(self) -> str:
        below = RUNGS[:RUNGS.index(self.kept)] if self.kept in RUNGS else ()
        gaps = ", ".join(rung for rung in below if self.verdicts.get(rung) == "not tried")
        lines = [f"{self.method} on {self.device}: keeps {self.kept}" + (f" (not tried: {gaps})" if gaps else "")
                 + (f", held to {self.promise}: {self.verdict}" if self.promise != "none" else "")]
        rungs = {rung["name"]: rung for rung in self.report["rungs"]}
        for rung in self.verdicts:
            reason = f": {self.reasons[rung]}" if self.verdicts[rung] == "not tried" and rung in self.reasons else ""
            if self.verdicts[rung] == "kept":
                unseen, missing = rungs[rung]["unseen_p95"], rungs[rung]["not_tried"]
                reason = ""
                if unseen is not None:
                    reason = f", 95% confident that under {_percent_at_most(unseen)}% of runs differ"
                reason += "".join(f"; not tried: {kind} ({why})" for kind, why in missing.items())
            lines.append(f"  {rung:18} {self.verdicts[rung]} in {self.attempts[rung]} attempts{reason}".rstrip("; "))
        if self.report["refused"]:
            lines.append(f"  {self.report['refused']}")
        return "\n".join(lines + ([f"  {self.witness}"] if self.witness else []))

    def picture(self) -> str:
        tried = {rung: (verdict, self.attempts[rung]) for rung, verdict in self.verdicts.items()}
        return ladder(tried, self.promise, self.method)


def depths(depth: list[int]) -> str:
    """Of how many additions each element is part: at most 640 of them, the deepest of its neighbours each."""
    wide = -(-len(depth) // 640)
    columns = [max(depth[i:i + wide]) for i in range(0, len(depth), wide)]
    high = max(columns, default=1) or 1
    line = " ".join(f"{40 + 600 * i / len(columns):.1f},{110 - 100 * d / high:.1f}" for i, d in enumerate(columns))
    return picture(660, 130, [f'<polyline points="{line}" fill="none" stroke="{BLUE}"/>', words(34, 14, high, "end"),
                              words(34, 114, 0, "end"), words(40, 126, f"additions that each of {len(depth)} elements passes "
                                                                      "through")], "Depth of the order")


@dataclass(frozen=True, repr=False)
class Order(Result):
    """The order in which a function adds."""
    n: int
    verdict: str               #: "tree", or why there is none
    nodes: list[list[int]]     #: node n + i adds these: elements below n, nodes from n up
    depth: list[int]           #: additions that each element passes through
    expression: str            #: as the program writes it
    report: dict[str, Any] = field(repr=False)

    def text(self) -> str:
        return self.expression

    def picture(self) -> str:
        n = self.n
        if not self.nodes:
            return ""
        if n > 64:
            return depths(self.depth)
        place: dict[int, tuple[float, int]] = {}
        order: list[int] = []

        def leaves(node: int) -> None:
            todo = [node]
            while todo:
                at = todo.pop()
                if at < n:
                    order.append(at)
                else:
                    todo += reversed(self.nodes[at - n])
        inner = {child for node in self.nodes for child in node}
        for node in range(n + len(self.nodes)):
            if node not in inner:
                leaves(node)
        for i, leaf in enumerate(order):
            place[leaf] = (12 + 18 * i, 0)
        for i, children in enumerate(self.nodes):
            at = [place[c] for c in children]
            place[n + i] = (sum(x for x, _ in at) / len(at), 1 + max(y for _, y in at))
        height = max((y for _, y in place.values()), default=0)

        def down(y: int) -> float:
            return 10 + 16 * (height - y)
        parts = []
        for i, children in enumerate(self.nodes):
            x, y = place[n + i]
            for c in children:
                parts.append(f'<line x1="{x:.1f}" y1="{down(y):.1f}" x2="{place[c][0]:.1f}" '
                             f'y2="{down(place[c][1]):.1f}" stroke="{BLUE}"/>')
        parts += [words(x, down(0) + 14, leaf, "middle") for leaf, (x, _) in place.items() if leaf < n]
        return picture(24 + 18 * n, 30 + 16 * height, parts, "Order of additions")


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """The cheapest accumulator and method that are enough, or none."""
    method: str | None
    accumulator: str | None
    error: float | None        #: the largest found
    tolerance: str
    margin: float | None
    next: dict[str, Any] | None          #: the next cheaper choice, and the input on which it fails
    candidates: list[dict[str, Any]]
    report: dict[str, Any] = field(repr=False)

    @property
    def holds(self) -> bool:
        return self.method is not None

    def text(self) -> str:
        head = f"{self.report['n']} elements of {self.report['storage']}, tolerance {self.tolerance}: "
        if not self.holds:
            return head + f"nothing of {len(self.candidates)} candidates is enough" + self.failures()
        said = head + (f"{self.method}, added in {self.accumulator}\n  error at most {short(self.error)} on "
                       f"{self.report['recommended']['arrays']} arrays, a margin of {short(self.margin)}")
        if self.next and self.next.get("broken_by"):
            by = self.next["broken_by"]
            said += (f"\nnext: {self.next['method']}, added in {self.next['accumulator']}: an error of "
                     f"{short(by['error'])} on {by['input']}")
        return said

    def failures(self) -> str:
        """On what the first candidates fail, a line for each."""
        said = ""
        for c in self.candidates[:4]:
            by, tried = c["broken_by"], c["promise_tried"]
            if by:
                said += f"\n  {c['method']}, added in {c['accumulator']}: an error of {short(by['error'])} on {by['input']}"
            elif tried and tried["state"] != "kept":
                said += (f"\n  {c['method']}, added in {c['accumulator']}: {tried['asked']} is {tried['state']}: "
                         f"{tried['differing']} of {tried['attempts']} attempts differ")
            else:
                said += f"\n  {c['method']}, added in {c['accumulator']}: {c['verdict']}"
        return said

    def picture(self) -> str:
        rows = [(f"{c['method']} {c['accumulator']}", number(c["largest_error"]) or 0.0,
                 f"{short(number(c['largest_error']))} {c['verdict']}", BLUE if c["holds"] else ORANGE)
                for c in self.candidates[:24]]
        return bars(rows, "Largest error of each candidate; the line: what is allowed", number(self.report["limit"]))

    def frame(self) -> pandas.DataFrame:
        """The candidates."""
        return pandas_of().DataFrame(self.candidates)


def number(value: Any) -> float | None:
    """JSON has no number for what is not finite: the program writes it as text."""
    return None if value is None else float(value)


def pandas_of() -> Any:
    try:
        import pandas
    except ImportError:
        raise Error("frames: found no pandas: pip install pandas, or take rows() and study") from None
    return pandas


@dataclass(frozen=True, repr=False)
class Study(Result):
    """A results directory."""
    directory: Path
    study: dict[str, Any] = field(repr=False)  #: study.json: what was run, on what, when

    @classmethod
    def of(cls, directory: Any) -> Study:
        path = Path(directory)
        try:
            study = json.loads((path / "study.json").read_text())
            if not isinstance(study, dict):
                raise ValueError(f"found a {type(study).__name__} in it")
        except (OSError, ValueError) as e:
            raise DataError(f"{path}: expected a results directory, which has study.json: {e}") from None
        return cls(path, study)

    def frame(self, name: str) -> pandas.DataFrame:
        """NAME.csv of the directory: "results", "summary", "times", "recommend", "trial"."""
        file = self.directory / f"{name}.csv"
        if not file.exists():
            raise DataError(f"{file}: no such file: expected one of "
                            f"{', '.join(sorted(p.stem for p in self.directory.glob('*.csv')))}")
        pandas = pandas_of()
        # Before version 3 numbers are read to the last digit only if they are asked for so.
        exact = {"float_precision": "round_trip"} if int(pandas.__version__.partition(".")[0]) < 3 else {}
        return pandas.read_csv(file, low_memory=False, **exact)

    @property
    def results(self) -> pandas.DataFrame:
        """A row for each run."""
        return self.frame("results")

    @property
    def summary(self) -> pandas.DataFrame:
        """A row for each case."""
        return self.frame("summary")

    def rows(self, name: str = "summary") -> list[dict[str, str]]:
        """The same, without pandas, as text."""
        with open(self.directory / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def text(self) -> str:
        files = ", ".join(sorted(p.name for p in self.directory.glob("*.csv")))
        return f"{self.directory}: {self.study.get('experiment', 'a study')}: {files}"

    def picture(self) -> str:
        worst: dict[str, float] = {}
        if (self.directory / "results.csv").exists():
            for row in self.rows("results"):
                error = row.get("err_backward") or "nan"
                if not math.isnan(float(error)):
                    worst[row["method"]] = max(worst.get(row["method"], 0), float(error))
        rows = [(name, value, short(value), BLUE) for name, value in sorted(worst.items(), key=lambda w: w[1])]
        return bars(rows[:24], "Worst error of each method, over sum|x|") if rows else ""
