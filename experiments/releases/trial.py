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
from page import rows_of

FORMATS = ['--storage', 'fp32,fp64', '--accumulator', 'fp32,fp64']
INPUTS = ['--input', 'uniform,symmetric,cancellation,wide']
# What takes keys or a mask is nothing that `check --special` and `reveal` know; products have no single tree.
BY_KEY = ('cub/reduce_by_key', 'cub/segments_by_key')
MOVES = (*BY_KEY, 'cub/select')
SCANS = ('cub/scan', 'cub/scan_run_to_run', 'thrust/scan')
ROWS = ('cub/rows',)
PRODUCTS = ('cublas/matrix_product',)
UNORDERED = ('cub/sum_gpu_to_gpu', 'cub/sum_not_guaranteed')
# The study that tells errors, and its options; sums are the rest's.
STUDIES = {
    'accuracy': ((), ['--n', '2^20', *INPUTS]),
    'drift': (SCANS, ['--n', '2^20', '--input', 'uniform', '--output', 'accumulator']),
    'scatter': (BY_KEY, ['--n', '2^20', '--bins', '1000', '--keys', 'uniform', *INPUTS]),
    'rows': (ROWS, ['--n', '2^20', '--rows', '1024', '--layout', 'row', *INPUTS]),
    'norm': (('cublas/norm', 'cublas/l1_norm'), ['--n', '2^20', *INPUTS]),
    'dot': (('cublas/dot_product',), ['--n', '2^20', *INPUTS]),
    'gemm': (PRODUCTS, ['--shape', '64x64x1024', *INPUTS]),
}
FOLDERS = {'accuracy': 'errors', 'drift': 'scans'}
# What is timed, and how; what is slow on long inputs, on shorter ones.
SLOW = (*BY_KEY, 'cub/sum_segment')
TIMED = {'bench.csv': ['--n', '2^28'], 'bench-slow.csv': ['--n', '2^24'], 'bench-rows.csv': ['--n', '2^28', '--rows', '2^16', '--layout', 'row']}
ERRORS = 'method storage accumulator input n keys bins seed run result exact err_backward err_ulp bound err_over_bound status'.split()
INT32_MAX = 2**31 - 1
# Before, at and at twice the border: 2**31 - 2 is the control.
BORDERS = (INT32_MAX - 1, INT32_MAX, 2 * INT32_MAX)
ONES = Path(__file__).resolve().parent / 'ones'
COUNTS = Path(__file__).resolve().parent / 'counts'
KEYS, BINS, COUNTED = 2**24, (1, 256, 65536, 1000000), 5
BOUNDS = ('release', 'n', 'sum', 'expected', 'error', 'memcheck_errors', 'first')


def bound(release, n, plain, said):
    """A row of bounds.csv, from what `ones` printed of n ones, and what compute-sanitizer said of it."""
    total = re.search(r'^-?0x[0-9a-f.]+p[+-][0-9]+$|^-?(inf|nan)$', plain, re.M)
    error = re.search(r'CUDA error [0-9]+', plain)
    errors = re.search(r'ERROR SUMMARY: ([0-9]+) error', said)
    first = re.search(r'Invalid __global__ (write|read) of size [0-9]+ bytes|cuda[A-Za-z]+ \(error [0-9]+\).* to cuda[A-Za-z]+', said)
    return {'release': release, 'n': n, 'sum': total[0] if total else '', 'expected': float(n).hex(), 'error': error[0] if error else '',
            'memcheck_errors': errors[1] if errors else '', 'first': first[0] if first else ''}


def study_of(name):
    routine = name.split('@')[0]
    return next((study for study, (routines, _) in STUDIES.items() if routine in routines), 'accuracy')


def timed_in(routine):
    return 'bench-slow.csv' if routine in SLOW else 'bench-rows.csv' if routine in ROWS else 'bench.csv'


STEPS = ['promises', 'special', 'errors', 'orders', 'counts', 'bounds', 'speed']
# Seconds for the order of one routine, so that the others need not wait: those of cuBLAS's norms took more than 100 s on an H200.
REVEAL = 90
COMMANDS = ['name', 'exit_status', 'seconds', 'failed', 'command']


class Trial:
    """`names`: of CCCL, which one process may mix; `cublas`: of each release of cuBLAS, which need processes of their own."""

    def __init__(self, o, routines, cublas_routines):
        self.folder, self.out, self.program = Path(o.folder), Path(o.out), o.program
        path = self.folder / 'manifest.json'
        try:
            self.manifest = json.loads(path.read_text(encoding='utf-8'))
            self.releases = self.manifest['releases']
        except (OSError, ValueError, KeyError) as e:
            raise Fault(3, f'{path}: found no manifest of releases ({e}): `releases build VERSIONS` writes one') from None
        self.cublas = {r: [f'{m}@{r}' for m in cublas_routines if m in of['methods']] for r, of in self.manifest.get('cublas', {}).items()}
        if not self.releases and not self.cublas:
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
        self.overrun = o.overrun
        self.steps = [s for s in o.steps.split(',') if s] or STEPS
        for step in self.steps:
            if step not in STEPS:
                raise Fault(2, f"found --steps {step}, expected some of {','.join(STEPS)}")
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

    @property
    def all_names(self):
        return self.names + [n for names in self.cublas.values() for n in names]

    @staticmethod
    def without(names, *left_out):
        return [n for n in names if n.split('@')[0] not in left_out]

    def ulpscope(self, *words):
        return [self.program, *words, '--device', 'cuda']

    def each_seconds(self, share, names):
        return f'{max(1.0, share * self.seconds * self.jobs / len(names)):.1f}'

    def groups(self):
        """What may share a process: CCCL's names, under '', and those of each release of cuBLAS."""
        return {**({'': self.names} if self.names else {}), **{f'cublas-{r}-': names for r, names in self.cublas.items()}}

    def promises(self):
        each, files = self.each_seconds(0.45, self.all_names), {}
        for group, names in self.groups().items():
            count = min(self.jobs, len(names))
            shards = [self.parts / f'{group}trial-{i}' for i in range(1, count + 1)]
            self.at_once([lambda i=i, to=to: self.run(to.name, self.ulpscope(
                'run', 'trial', '--method', ','.join(names), '--seconds', each, '--shard', f'{i}/{count}', '--out', to, '--force'))
                for i, to in enumerate(shards, 1)])
            whole = self.parts / f'{group}trial'
            self.run(f'{group}merge', [self.program, 'merge', *shards, '--out', whole, '--force'])
            if (whole / 'study.json').is_file() and (not group or not self.names):
                shutil.copy(whole / 'study.json', self.out / 'study.json')
            if group:
                files[group] = whole / 'trial.csv'
            else:
                self.join('trial.csv', [whole / 'trial.csv'], ())
        self.answered()
        self.join('cublas-trial.csv', [path for group, path in files.items() if group in self.groups()], ())

    def answered(self):
        """Which cuBLAS each trial says that it called. What another one answered is left out, and its release with it."""
        rows = []
        for release, names in list(self.cublas.items()):
            told = set()
            for i in range(min(self.jobs, len(names))):
                path = self.parts / f'cublas-{release}-trial-{i + 1}/study.json'
                try:
                    told.add(json.loads(path.read_text(encoding='utf-8'))['machine']['cublas'])
                except (OSError, ValueError, KeyError):
                    told.add('')
            said = ' and '.join(sorted(version or 'none' for version in told))
            rows.append({'release': release, 'answered': said})
            if said != release:
                print(f'releases: {self.parts}/cublas-{release}-trial-*: cuBLAS {said} answered, expected {release}', file=sys.stderr, flush=True)
                self.commands.append({'name': f'cublas-{release}-answered', 'command': '', 'exit_status': '', 'seconds': 0, 'failed': 1})
                del self.cublas[release]
        if rows:
            self.write('cublas-answered.csv', ['release', 'answered'], rows)

    def special(self):
        each, files = self.each_seconds(0.15, self.all_names), {'': [], 'cublas-': []}
        work = []
        for group, all_of in self.groups().items():
            names = self.without(all_of, *MOVES)
            for i in range(min(self.jobs, len(names))):
                to = self.parts / f'{group}special-{i}'
                work.append((to, names[i::self.jobs]))
                files['cublas-' if group else ''].append(to / 'special.csv')
        self.at_once([lambda names=names, to=to: self.run(to.name, self.ulpscope(
            'check', *names, '--special', '--seconds', each, *FORMATS, '--out', to)) for to, names in work])
        for group, of in files.items():
            self.join(f'{group}special.csv', of)

    def join(self, name, files, left_out=('input',), columns=None):
        """Rows of CSV files, with the columns of the first, in the order of names: releases of a routine follow each other."""
        rows = []
        for path in files:
            if path.is_file():
                with open(path, newline='', encoding='utf-8') as file:
                    read = csv.DictReader(file)
                    columns = columns or read.fieldnames
                    rows += list(read)
        if not files:
            return
        order = {n: i for i, n in enumerate(self.all_names)}
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
        """CCCL's sums and scans in folders of their own, as `report` knows them; all others in errors.csv."""
        work, files = [], []
        for group, names in self.groups().items():
            for study, (_, options) in STUDIES.items():
                of = [n for n in self.without(names, 'cub/select') if study_of(n) == study]
                to = self.out / FOLDERS[study] if not group and study in FOLDERS else self.parts / f'{group}{study}'
                if of:
                    work.append((f'{group}{FOLDERS.get(study, study)}', ['run', study, '--method', ','.join(of), *FORMATS, *options,
                                                                        '--out', to, '--force']))
                    files += [to / 'results.csv'] if to.parent == self.parts else []
        self.at_once([lambda name=name, words=words: self.run(name, self.ulpscope(*words)) for name, words in work])
        (self.out / 'scans' / 'profile.csv').unlink(missing_ok=True)
        self.join('errors.csv', files, (), ERRORS)

    def orders(self):
        """The tree of additions of 5,000 elements, by its hash."""
        names = self.without(self.all_names, *MOVES, *SCANS, *UNORDERED, *PRODUCTS)
        told = self.at_once([lambda n=n: self.run('reveal-' + n.replace('/', '-'), self.ulpscope(
            'reveal', n, '--n', '5000', '--storage', 'fp32', '--accumulator', 'fp32', '--json'), (0, 1, 124), REVEAL) for n in names])
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
        """Alone on the machine, each process with its own raw read."""
        files = []
        for group, names in self.groups().items():
            for name, options in TIMED.items():
                of = [n for n in self.without(names, *PRODUCTS) if timed_in(n.split('@')[0]) == name]
                to = self.parts / f'{group}{name}' if group else self.out / name
                if of:
                    self.run(f'{group}{name}', self.ulpscope('bench', '--method', ','.join(of), *options, *FORMATS, '--out', to))
                    files += [to] if group else []
        self.join('cublas-bench.csv', files, ())

    def counts(self):
        """cub::DeviceHistogram of each release: whole numbers, right or wrong."""
        def one(release, bins):
            said = self.run(f'counts-{release}-{bins}', [sys.executable, os.path.relpath(COUNTS), './' + os.path.relpath(
                self.folder / f'{release}.so'), str(KEYS), str(bins), str(COUNTED)], good=(0, 1, 2), timeout=120)
            wrong, error = re.search(r'^([0-9]+) wrong$', said, re.M), re.search(r'CUDA error [0-9]+', said)
            return {'release': release, 'keys': KEYS, 'bins': bins, 'runs': COUNTED, 'wrong': wrong[1] if wrong else '',
                    'error': error[0] if error else ''}

        rows = self.at_once([lambda r=r, b=b: one(r, b) for r in self.releases for b in BINS])
        if rows:
            self.write('counts.csv', list(rows[0]), rows)

    def bounds(self):
        """Of the oldest and the newest release with a sum gpu_to_gpu, or of all, with compute-sanitizer and without."""
        have = [r for r, of in self.releases.items() if 'cub/sum_gpu_to_gpu' in of['methods']]
        tool = shutil.which('compute-sanitizer') or '/usr/local/cuda/bin/compute-sanitizer'
        asked = {'ends': [*have[:1], *have[-1:]], 'all': have, 'none': []}[self.overrun]
        work = [(r, n) for r in dict.fromkeys(asked) for n in BORDERS]

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
        text, path = (self.folder / 'manifest.json').read_text(encoding='utf-8'), self.out / 'manifest.json'
        goes_on = self.steps != STEPS
        before = rows_of(self.out / 'commands.csv') if goes_on else []
        if goes_on and path.is_file() and path.read_text(encoding='utf-8') != text:
            raise Fault(3, f'{path}: found other objects than in {self.folder}: --steps goes on with the same; leave it out')
        path.write_text(text, encoding='utf-8')
        for row in rows_of(self.out / 'cublas-answered.csv') if 'promises' not in self.steps else []:
            if row['answered'] != row['release']:
                self.cublas.pop(row['release'], None)
        for step in self.steps:
            begin = time.time()
            getattr(self, step)()
            print(f'{step}: {time.time() - begin:.0f} s', flush=True)
            # What was done stands even where the next step is ended.
            again = {c['name'] for c in self.commands}
            self.write('commands.csv', COMMANDS, [c for c in before if c['name'] not in again] + self.commands)
        failed = [c['name'] for c in self.commands if c['failed']]
        if failed:
            raise Fault(1, f'{self.out}/commands.csv: {len(failed)} of {len(self.commands)} commands failed: {", ".join(failed[:5])}')


def try_all(o, routines, cublas_routines):
    Trial(o, routines, cublas_routines).all()
