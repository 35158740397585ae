"""Reads the tables tests/mutation/*.faults and writes sources with their faults in them: for tests/mutation/run."""
import re
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).resolve().parent
HEADER = '''/* Written by tests/mutation/run. */
#ifndef PLANTED_H
#define PLANTED_H
/* What compilers say of a fault is no news. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wempty-body"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wduplicate-decl-specifier"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#include <stdlib.h>
__attribute__((weak)) int planted_fault;
__attribute__((weak, constructor)) void planted_read(void)
{
    const char *number = getenv("ULPSCOPE_PLANTED");
    planted_fault = number ? atoi(number) : 0;
}
#endif
'''


def stop(text):
    print(f'tests/mutation/run: {text}', file=sys.stderr)
    sys.exit(2)


class Fault:
    def __init__(self, source, line, tests, where):
        self.build = line.startswith('build ')
        self.line = line.removeprefix('build ').strip()
        self.source, self.tests, self.where = source, tests, where
        self.no_effect = self.lost = None
        parts = self.line.split('@')
        if len(parts) != 4:
            stop(f'{where}: expected TEXT@OLD@NEW@TEXT, found {self.line}')
        self.before, self.old, self.new, self.after = parts
        self.number = zlib.crc32(f'{source} {self.line}'.encode()) & 0x7ffffffe | 1
        self.verdict = self.by = None

    def name(self):
        return f'{self.source}: {self.line}'

    def find(self, text):
        """Where OLD begins and ends in the source."""
        def pattern(part):
            return r'\s+'.join(re.escape(word) for word in re.split(r'\s+', part))
        found = list(re.finditer(f'{pattern(self.before)}({pattern(self.old)}){pattern(self.after)}', text))
        if len(found) != 1:
            return f'{self.where}: {self.source} holds {self.before}{self.old}{self.after} ' \
                   f'{"nowhere" if not found else f"{len(found)} times"}, expected once'
        self.begin, self.finish = self.start, self.end = found[0].span(1)
        if not self.build and not self.is_statement():
            self.start, self.end = enclosing(text, self.begin, self.finish)
        self.replaced = text[self.start:self.begin] + self.new + text[self.finish:self.end]
        return None

    def is_statement(self):
        return self.old.rstrip().endswith((';', '}'))

    def guard(self, old):
        if self.is_statement():
            return f'{{ if (planted_fault == {self.number}) {{ {self.new} }} else {{ {old} }} }}'
        return f'(planted_fault == {self.number} ? ({self.replaced}) : ({old}))'


TOKEN = re.compile(r'''/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|<<=|>>=|<=|>=|==|!=|[-+*/%&|^]=|&&|\|\||<<|>>|->|\+\+|--|[^\w\s]''', re.S)
BOUNDARIES = set('; , = ? : += -= *= /= %= &= |= ^= <<= >>= return else do case'.split())


def enclosing(text, begin, end):
    """The expression that the text from begin to end is a part of."""
    tokens = [(t.group(), *t.span()) for t in TOKEN.finditer(text) if not t.group().startswith(('/*', '//'))]
    first = next(i for i, t in enumerate(tokens) if t[2] > begin)
    last = next(i for i in reversed(range(len(tokens))) if tokens[i][1] < end)
    i = first
    while tokens[i - 1][0] not in BOUNDARIES and tokens[i - 1][0] not in '([{}':
        before = i - 1
        if tokens[before][0] in ')]':
            depth = 0
            while True:
                depth += (tokens[before][0] in ')]') - (tokens[before][0] in '([')
                if depth == 0:
                    break
                before -= 1
            if tokens[before - 1][0] in ('if', 'while', 'for', 'switch'):
                break
        i = before
    k = last
    while tokens[k + 1][0] not in BOUNDARIES and tokens[k + 1][0] not in ')]}':
        k += 1
        if tokens[k][0] in '([{':
            depth = 0
            while True:
                depth += (tokens[k][0] in '([{') - (tokens[k][0] in ')]}')
                if depth == 0:
                    break
                k += 1
    return min(begin, tokens[i][1]), max(end, tokens[k][2])


def read_table(path):
    faults, source, tests = [], None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where, text = f'tests/mutation/{path.name}:{number}', line.strip()
        if not text or text.startswith('#'):
            continue
        if not line[0].isspace():
            source, _, names = text.partition(':')
            tests = names.split()
            if not tests or not (ROOT / source).is_file():
                stop(f'{where}: expected "SOURCE: TEST..." with a source that exists, found {text}')
        elif text.startswith('no effect:'):
            faults[-1].no_effect = text.removeprefix('no effect:').strip()
        elif text.startswith('tests:'):
            faults[-1].tests = text.removeprefix('tests:').split()
        elif source:
            faults.append(Fault(source, text, tests, where))
        else:
            stop(f'{where}: a fault before any source')
    return faults


def read_faults():
    faults = [fault for path in sorted(TABLES.glob('*.faults')) for fault in read_table(path)]
    if len({fault.number for fault in faults}) != len(faults):
        seen = {}
        for fault in faults:
            if fault.number in seen:
                stop(f'{fault.where}: the same fault as {seen[fault.number].where}')
            seen[fault.number] = fault
    for source in {fault.source for fault in faults}:
        text = (ROOT / source).read_text()
        for fault in faults:
            if fault.source == source:
                fault.lost = fault.find(text)
    return faults


def drop_lost(faults, chosen):
    """Faults whose text is gone: an error where they are asked for."""
    lost = sorted(fault.lost for fault in chosen if fault.lost)
    if lost:
        print('\n'.join(lost), file=sys.stderr)
        stop(f'{len(lost)} faults do not apply to the sources: give them the text of today')
    others = sum(fault.lost is not None for fault in faults)
    if others:
        print(f'{others} other faults do not apply to the sources: --list says which', file=sys.stderr)
    return [fault for fault in faults if not fault.lost]


def planted_text(text, faults):
    """The source with every fault behind its guard; a fault within another's text nests."""
    def render(start, end, inside):
        out, at = [], start
        while inside:
            outer, rest = inside[0], inside[1:]
            within = [f for f in rest if f.end <= outer.end]
            later = rest[len(within):]
            if later and later[0].start < outer.end:
                stop(f'{later[0].where}: overlaps {outer.where}')
            out += [text[at:outer.start], outer.guard(render(outer.start, outer.end, within))]
            at, inside = outer.end, later
        return ''.join(out) + text[at:end]
    ordered = sorted(faults, key=lambda f: (f.start, -f.end))
    return '#include "planted.h"\n#line 1\n' + render(0, len(text), ordered)
