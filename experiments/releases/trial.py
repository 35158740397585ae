"""releases try: puts the shared objects of a folder on trial, on a GPU."""
import csv
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fault import Fault

# What takes keys or a mask is not a sum that `check --special`, `run accuracy` and `reveal` know.
MOVES = ('cub/reduce_by_key', 'cub/select')
SCANS = ('cub/scan', 'cub/scan_run_to_run', 'thrust/scan')
SLOW = ('cub/reduce_by_key', 'cub/sum_segment')
UNORDERED = ('cub/sum_gpu_to_gpu', 'cub/sum_not_guaranteed')
FORMATS = ['--storage', 'fp32,fp64', '--accumulator', 'fp32,fp64']
INT32_MAX = 2**31 - 1
# Before, at and at twice the border: 2**31 - 2 is the control.
BORDERS = (INT32_MAX - 1, INT32_MAX, 2 * INT32_MAX)
ONES = Path(__file__).resolve().parent / 'ones'
BOUNDS = ('release', 'n', 'sum', 'expected', 'error', 'memcheck_errors', 'first')


def bound(release, n, plain, said):
    """A row of bounds.csv, from what `ones` printed of n ones, and what compute-sanitizer said of it."""
    total = re.search(r'^-?0x[0-9a-f.]+p[+-][0-9]+$|^-?(inf|nan)$', plain, re.M)
    error = re.search(r'CUDA error [0-9]+', plain)
    errors = re.search(r'ERROR SUMMARY: ([0-9]+) error', said)
    first = re.search(r'Invalid __global__ (write|read) of size [0-9]+ bytes|cuda[A-Za-z]+ \(error [0-9]+\).* to cuda[A-Za-z]+', said)
    return {'release': release, 'n': n, 'sum': total[0] if total else '', 'expected': float(n).hex(), 'error': error[0] if error else '',
            'memcheck_errors': errors[1] if errors else '', 'first': first[0] if first else ''}


class Trial:
    def __init__(self, o, routines):
        self.folder, self.out, self.program = Path(o.folder), Path(o.out), o.program
        path = self.folder / 'manifest.json'
        try:
            self.manifest = json.loads(path.read_text(encoding='utf-8'))
            self.releases = self.manifest['releases']
        except (OSError, ValueError, KeyError) as e:
            raise Fault(3, f'{path}: found no manifest of releases ({e}): `releases build VERSIONS` writes one') from None
        if not self.releases:
            raise Fault(3, f'{path}: found no release in it')
        if not os.access(self.program, os.X_OK):
            raise Fault(4, f'{self.program}: no such program: build ulpscope with CUDA, or name one with --program')
        try:
            self.seconds = float(o.seconds)
        except ValueError:
            self.seconds = 0
        if not self.seconds > 0:
            raise Fault(2, f"found --seconds {o.seconds}, expected a number above 0")
        self.names = [f'{m}@{r}' for m in routines for r, of in self.releases.items() if m in of['methods']]
        self.jobs = max(1, min(8, (os.cpu_count() or 1) // 2))
        self.commands = []
        self.parts = self.out / 'parts'

    def run(self, name, command, good=(0, 1), timeout=None):
        """Runs it, logs what it says to parts/NAME.txt, and notes how it went. Its output."""
        begin, path = time.time(), self.parts / f'{name}.txt'
        with open(path, 'w', encoding='utf-8') as file:
            try:
                status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=timeout, check=False,
                                        env={**os.environ, 'ULPSCOPE_RELEASES': str(self.folder)}).returncode
            except subprocess.TimeoutExpired:
                status = 124
        self.commands.append({'name': name, 'command': shlex.join(map(str, command)), 'exit_status': status,
                              'seconds': round(time.time() - begin, 1), 'failed': int(status not in good)})
        if status not in good:
            print(f'releases: {name}: exit status {status}: {path}', file=sys.stderr, flush=True)
        return path.read_text(encoding='utf-8', errors='replace')

    def at_once(self, work):
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda one: one(), work))

    def of(self, *left_out):
        return [n for n in self.names if n.split('@')[0] not in left_out]

    def ulpscope(self, *words):
        return [self.program, *words, '--device', 'cuda']

    def each_seconds(self, share, names):
        return f'{max(1.0, share * self.seconds * self.jobs / len(names)):.1f}'

    def promises(self):
        each = self.each_seconds(0.45, self.names)
        shards = [self.parts / f'trial-{i}' for i in range(1, self.jobs + 1)]
        self.at_once([lambda i=i, to=to: self.run(f'trial-{i}', self.ulpscope(
            'run', 'trial', '--method', ','.join(self.names), '--seconds', each, '--shard', f'{i}/{self.jobs}', '--out', to, '--force'))
            for i, to in enumerate(shards, 1)])
        self.run('merge', [self.program, 'merge', *shards, '--out', self.parts / 'trial', '--force'])
        if (self.parts / 'trial/study.json').is_file():
            shutil.copy(self.parts / 'trial/study.json', self.out / 'study.json')
        self.join('trial.csv', [self.parts / 'trial/trial.csv'], ())

    def special(self):
        names = self.of(*MOVES)
        each = self.each_seconds(0.15, names)
        groups = [names[i::self.jobs] for i in range(self.jobs) if names[i::self.jobs]]
        folders = [self.parts / f'special-{i}' for i in range(len(groups))]
        self.at_once([lambda group=group, to=to: self.run(to.name, self.ulpscope(
            'check', *group, '--special', '--seconds', each, *FORMATS, '--out', to)) for group, to in zip(groups, folders)])
        self.join('special.csv', [to / 'special.csv' for to in folders])

    def join(self, name, files, left_out=('input',)):
        """Rows of CSV files with the same columns, in the order of names: releases of a routine follow each other."""
        rows, columns = [], None
        for path in files:
            if path.is_file():
                with open(path, newline='', encoding='utf-8') as file:
                    read = csv.DictReader(file)
                    columns = columns or read.fieldnames
                    rows += list(read)
        order = {n: i for i, n in enumerate(self.names)}
        for row in rows:
            for column in left_out:  # of special.csv where an input was kept among the parts
                row.pop(column, None)
        self.write(name, columns or [], sorted(rows, key=lambda row: order.get(row.get('method'), -1)))

    def write(self, name, columns, rows):
        with open(self.out / name, 'w', newline='', encoding='utf-8') as file:
            to = csv.DictWriter(file, columns, lineterminator='\n', extrasaction='ignore')
            to.writeheader()
            to.writerows(rows)

    def errors(self):
        sums, scans = self.of(*MOVES, *SCANS), [n for n in self.names if n.split('@')[0] in SCANS]
        self.at_once([
            lambda: self.run('errors', self.ulpscope('run', 'accuracy', '--method', ','.join(sums), *FORMATS, '--n', '2^20', '--input',
                                                     'uniform,symmetric,cancellation,wide', '--out', self.out / 'errors', '--force')),
            lambda: self.run('scans', self.ulpscope('run', 'drift', '--method', ','.join(scans), *FORMATS, '--n', '2^20', '--input',
                                                    'uniform', '--output', 'accumulator', '--out', self.out / 'scans', '--force'))])
        (self.out / 'scans' / 'profile.csv').unlink(missing_ok=True)

    def orders(self):
        """The tree of additions of 5,000 elements, by its hash."""
        names = self.of(*MOVES, *SCANS, *UNORDERED)
        told = self.at_once([lambda n=n: self.run('reveal-' + n.replace('/', '-'), self.ulpscope(
            'reveal', n, '--n', '5000', '--storage', 'fp32', '--accumulator', 'fp32', '--json')) for n in names])
        rows = []
        for name, text in zip(names, told):
            try:
                found = json.loads(text[text.index('{'):text.rindex('}') + 1])
            except ValueError:
                found = {}
            tree = json.dumps(found['tree']['nodes']) if found.get('verdict') == 'tree' else ''
            rows.append({'method': name, 'n': 5000, 'verdict': found.get('verdict', 'not revealed'),
                         'sha256': hashlib.sha256(tree.encode()).hexdigest() if tree else ''})
        self.write('orders.csv', ['method', 'n', 'verdict', 'sha256'], rows)

    def speed(self):
        """Alone on the machine. What is slow on long inputs is timed on shorter ones."""
        slow = [n for n in self.names if n.split('@')[0] in SLOW]
        for name, names, n in (('bench.csv', self.of(*SLOW), '2^28'), ('bench-slow.csv', slow, '2^24')):
            if names:
                self.run(name, self.ulpscope('bench', '--method', ','.join(names), '--n', n, *FORMATS, '--out', self.out / name))

    def bounds(self):
        """Of the oldest and the newest release with a sum gpu_to_gpu, with compute-sanitizer and without."""
        have = [r for r, of in self.releases.items() if 'cub/sum_gpu_to_gpu' in of['methods']]
        tool = shutil.which('compute-sanitizer') or '/usr/local/cuda/bin/compute-sanitizer'
        work = [(r, n) for r in dict.fromkeys([*have[:1], *have[-1:]]) for n in BORDERS]

        def one(release, n):
            ones = [sys.executable, os.path.relpath(ONES), './' + os.path.relpath(self.folder / f'{release}.so'), str(n)]
            plain = self.run(f'ones-{release}-{n}', ones, good=(0, 1, 2), timeout=120)
            said = self.run(f'memcheck-{release}-{n}', [tool, '--tool', 'memcheck', '--print-limit', '3', *ones], good=(0, 1, 2),
                            timeout=200) if shutil.which(tool) else ''
            return bound(release, n, plain, said)

        rows = self.at_once([lambda r=r, n=n: one(r, n) for r, n in work])
        self.write('bounds.csv', BOUNDS, rows)

    def all(self):
        self.parts.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.folder / 'manifest.json', self.out / 'manifest.json')
        for step in (self.promises, self.special, self.errors, self.orders, self.bounds, self.speed):
            begin = time.time()
            step()
            print(f'{step.__name__}: {time.time() - begin:.0f} s', flush=True)
        self.write('commands.csv', ['name', 'exit_status', 'seconds', 'failed', 'command'], self.commands)
        failed = [c['name'] for c in self.commands if c['failed']]
        if failed:
            raise Fault(1, f'{self.out}/commands.csv: {len(failed)} of {len(self.commands)} commands failed: {", ".join(failed[:5])}')


def try_all(o, routines):
    Trial(o, routines).all()
