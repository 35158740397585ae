"""releases page: what a results directory says, release by release, as Markdown."""
import csv
import json
from pathlib import Path

from fault import Fault

RUNGS = ('run_to_run', 'gpu_to_gpu', 'order_invariant', 'correctly_rounded')
UNIT = {'fp32': 2.0**-24, 'fp64': 2.0**-53}


def rows_of(path):
    if not path.is_file():
        return []
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def real(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def short(x):
    """A number with as many digits as it deserves."""
    return '' if x is None else f'{x:.0f}' if 100 <= abs(x) < 1e6 else f'{x:.2g}'


def named(releases, of):
    """3.0.1, 3.1.4: `all 6 releases` where these are all of them."""
    whole = list(releases) == list(of)
    return f'all {len(of)} releases that have it' if whole and len(of) > 1 else ', '.join(releases)


class Results:
    def __init__(self, folder):
        self.folder = folder
        try:
            self.manifest = json.loads((folder / 'manifest.json').read_text(encoding='utf-8'))
            self.releases = self.manifest['releases']
            self.study = json.loads((folder / 'study.json').read_text(encoding='utf-8'))
        except (OSError, ValueError, KeyError) as e:
            raise Fault(3, f'{folder}: is no results directory of `releases try`: {e}') from None
        self.trial = {(r['method'], r['rung']): r for r in rows_of(folder / 'trial.csv')}
        if not self.trial:
            raise Fault(3, f'{folder}/trial.csv: found no row, expected one for each routine and rung')
        self.special = rows_of(folder / 'special.csv')
        self.bench = rows_of(folder / 'bench.csv') + rows_of(folder / 'bench-slow.csv')
        self.errors = rows_of(folder / 'errors/results.csv')
        self.scans = rows_of(folder / 'scans/results.csv')
        self.orders = {r['method']: r for r in rows_of(folder / 'orders.csv')}
        self.bounds = rows_of(folder / 'bounds.csv')

    def having(self, routine):
        return [r for r, of in self.releases.items() if routine in of['methods']]


def promise_of(results, routine):
    row = next((r for (m, _), r in results.trial.items() if m.split('@')[0] == routine), None)
    return row['promise'] if row else ''


def promised(promise, rung):
    return promise in RUNGS and RUNGS.index(rung) <= RUNGS.index(promise)


def verdict(results, method, rung, promise):
    """A cell: how many attempts differed, and of a promise that is broken in bold."""
    row = results.trial.get((method, rung))
    if not row or not row['attempts'] or row['attempts'] == '0':
        return 'not tried'
    counts = f"{row['differing'] or 0} of {row['attempts']}"
    if row['verdict'] == 'failed':
        return f'failed ({counts})'
    if row['verdict'] == 'not tried':
        return f'{counts}\\*'
    return f'**{counts}**' if row['verdict'] == 'broken' and promised(promise, rung) and row['differing'] not in ('', '0') else counts


def impossible(results, method):
    """Special inputs with an impossible result: how many of how many, and the classes."""
    of = [r for r in results.special if r['method'] == method]
    if not of:
        return None
    bad = [r for r in of if int(r['impossible'] or 0)]
    cases = sum(int(r['cases'] or 0) for r in of)
    return sum(int(r['impossible']) for r in bad), cases, list(dict.fromkeys(r['class'] for r in bad)), bad


def worst(results, method, storage):
    """The largest error in u sum|x| of a sum; of a scan in ulps."""
    sums = [real(r['err_backward']) for r in results.errors if (r['method'], r['storage'], r['accumulator']) == (method, storage, storage)]
    scans = [real(r['err_ulp']) for r in results.scans if (r['method'], r['storage'], r['accumulator']) == (method, storage, storage)]
    sums, scans = [x for x in sums if x is not None], [x for x in scans if x is not None]
    return short(max(sums) / UNIT[storage]) if sums else f'{short(max(scans))} ulps' if scans else ''


def speed(results, method, storage):
    of = [r for r in results.bench if (r['method'], r['storage'], r['accumulator']) == (method, storage, storage) and real(r['gb_per_s'])]
    if not of:
        return ''
    rate, share = real(of[0]['gb_per_s']), real(of[0]['of_copy']) or real(of[0]['of_raw'])
    return f'{rate:.0f}' + (f' ({share:.2f})' if share else '')


def order_letters(results, routine):
    """Releases with the same tree of additions have the same letter."""
    letters, given = {}, {}
    for release in results.having(routine):
        row = results.orders.get(f'{routine}@{release}')
        if row and row['sha256']:
            letters.setdefault(row['sha256'], 'ABCDEFGHIJ'[len(letters) % 10])
            given[release] = letters[row['sha256']]
    return given


def broken_promises(results, routines):
    for routine in routines:
        promise, have = promise_of(results, routine), results.having(routine)
        for rung in RUNGS:
            broken = [r for r in have for row in [results.trial.get((f'{routine}@{r}', rung))]
                      if row and row['verdict'] == 'broken' and int(row['differing'] or 0) and promised(promise, rung)]
            if broken:
                counts = ', '.join(f"{results.trial[f'{routine}@{r}', rung]['differing']} of "
                                   f"{results.trial[f'{routine}@{r}', rung]['attempts']}" for r in broken)
                yield (f'**{routine} breaks {rung}, which it promises**, in {named(broken, have)}: other bits in {counts} attempts.',
                       results.trial[f'{routine}@{broken[-1]}', rung]['command'])
                break


def findings(results, routines):
    found = list(broken_promises(results, routines))
    broken = len(found)
    yield from ((f'{text}', command) for text, command in found)
    if not broken:
        yield 'No promise was seen broken.', None
    for routine in routines:
        have, by_classes = results.having(routine), {}
        for release in have:
            seen = impossible(results, f'{routine}@{release}')
            if seen and seen[0]:
                by_classes.setdefault(tuple(seen[2]), []).append((release, seen))
        for classes, of in by_classes.items():
            _, (count, cases, _, bad) = of[-1]
            one = next((r for r in bad if r['elements']), bad[0])
            yield (f'**{routine} gives what no order of additions gives** in {named([r for r, _ in of], have)}: {count} of {cases} special '
                   f"inputs in {of[-1][0]}, of the classes {', '.join(classes)}; first: {one['elements'] or one['input']} gives "
                   f"{one['result_hex'] or one['result']}, possible is {one['possible']}.", None)
    moved = [(routine, [r for r in results.having(routine) for row in [results.trial.get((f'{routine}@{r}', 'gpu_to_gpu'))]
                        if row and row['verdict'] == 'broken' and 'offset' in row['broken_by']]) for routine in routines]
    moved = [(routine, of) for routine, of in moved if of]
    if moved:
        yield ("**A pointer's alignment changes the bits** of " +
               '; '.join(f'{routine} ({named(of, results.having(routine))})' for routine, of in moved) +
               '. None of them promises that it does not, unless that stands above.', None)
    kept = [r for r in results.having('cub/sum_gpu_to_gpu') for row in [results.trial.get((f'cub/sum_gpu_to_gpu@{r}', 'gpu_to_gpu'))]
            if row and row['verdict'] != 'broken' and row['attempts'] not in ('', '0')]
    if kept:
        yield (f"cub/sum_gpu_to_gpu: nothing changed its bits on this GPU in {named(kept, results.having('cub/sum_gpu_to_gpu'))} "
               '(other alignments, other values around it); another GPU was not tried.', None)
    yield from ((text, None) for text in bounds_found(results))


def bounds_found(results):
    for release in dict.fromkeys(r['release'] for r in results.bounds):
        of = [r for r in results.bounds if r['release'] == release]
        answered = [r for r in of if r['sum']]
        wrong = [r for r in answered if r['sum'] != r['expected']]
        beyond = [r for r in of if int(r['memcheck_errors'] or 0)]
        tried = ', '.join(r['n'] for r in answered) or 'none'
        sanitized = '' if all(r['memcheck_errors'] for r in of) else '; compute-sanitizer was not tried on all'
        silent = ''.join(f"; n = {r['n']} was not tried: it gave no sum" for r in of if not r['sum'])
        if not wrong and not beyond:
            yield f"cub/sum_gpu_to_gpu in {release} is right for n = {tried} ones{sanitized or '; compute-sanitizer found nothing'}{silent}."
            continue
        parts = [f"of n = {r['n']} ones the sum is {float.fromhex(r['sum']):.17g}" for r in wrong]
        parts += [f"n = {r['n']}: compute-sanitizer reports {r['memcheck_errors']} errors, first: {r['first'] or 'none of memory'}" for r in beyond]
        yield (f"**cub/sum_gpu_to_gpu in {release} fails next to multiples of INT32_MAX**: {'; '.join(parts)} (sums tried: {tried}){sanitized}"
               f'{silent}.')


def overview(results, routines):
    have = list(results.releases)
    yield '| routine | promises | ' + ' | '.join(have) + ' |'
    yield '| --- | --- |' + ' --- |' * len(have)
    for routine in routines:
        promise, cells = promise_of(results, routine), []
        for release in have:
            row = results.trial.get((f'{routine}@{release}', 'run_to_run'))
            if routine not in results.releases[release]['methods']:
                cells.append('not in this release')
            elif not row:
                cells.append('not tried')
            else:
                broken = any(promised(promise, rung) and r['verdict'] == 'broken' for rung in RUNGS
                             for r in [results.trial.get((f'{routine}@{release}', rung))] if r)
                cells.append(f"**{row['kept']}**" if broken else row['kept'] or 'not tried')
        yield f'| {routine} | {promise} | ' + ' | '.join(cells) + ' |'


def detail(results, routine):
    promise, letters = promise_of(results, routine), order_letters(results, routine)
    columns = ['release', *RUNGS, 'special inputs', 'worst error fp32', 'fp64', 'GB/s fp32', 'fp64', 'order']
    yield '| ' + ' | '.join(columns) + ' |'
    yield '| ' + ' | '.join(['---'] * len(columns)) + ' |'
    for release in results.releases:
        method = f'{routine}@{release}'
        if routine not in results.releases[release]['methods']:
            yield f'| {release} | not in this release |' + ' |' * (len(columns) - 2)
            continue
        seen = impossible(results, method)
        cells = [release, *(verdict(results, method, rung, promise) for rung in RUNGS),
                 'not tried' if not seen else f'{seen[0]} of {seen[1]}', *(worst(results, method, s) for s in UNIT),
                 *(speed(results, method, s) for s in UNIT), letters.get(release, '')]
        yield '| ' + ' | '.join(cells) + ' |'
    for rung in RUNGS:
        shown = [row for release in results.releases for row in [results.trial.get((f'{routine}@{release}', rung))]
                 if row and row['verdict'] == 'broken' and row['command']]
        if shown:
            row = shown[-1]
            yield ''
            yield (f"Witness to {rung}: {row['storage']}/{row['accumulator']}, {row['input']}, n = {row['n']}: {row['bits']} {row['is']}, "
                   f"{row['other_bits']} {row['other_is']}")
            yield f"`{row['command']}`"
            break


def text_of(results, routines):
    machine = results.study.get('machine', {})
    gpus = ', '.join(dict.fromkeys(g['name'] for g in machine.get('gpus', []))) or 'no GPU'
    routines = [r for r in routines if results.having(r)]
    yield '# CUB and Thrust, release by release'
    yield ''
    yield (f"{len(results.releases)} releases of CCCL on {gpus}, {results.study.get('started', '')[:10]}: "
           'what each routine promises, keeps and costs. `experiments/releases/releases all VERSIONS` measures it anew.')
    yield ''
    yield '## Findings'
    yield ''
    for text, command in findings(results, routines):
        yield f'- {text}'
        if command:
            yield f'  `{command}`'
    yield ''
    yield '## The highest rung that each keeps'
    yield ''
    yield from overview(results, routines)
    yield ''
    yield ('Bold: a promise is broken. A rung counts as kept where at least 10 attempts were made and none differed; '
           'gpu_to_gpu and order_invariant need another GPU, so that they stand here as tried on one.')
    yield ''
    yield '## Routine by routine'
    yield ''
    yield ('Rungs: attempts that differed, of all; bold: promised and broken; \\*: not tried in full, as no other GPU ran it. Special inputs: '
           'impossible results, of fp32 and fp64. Worst error: |error| / (u sum|x|) of 2^20 elements of four inputs; of scans ulps of the last '
           'digit, uniform input. GB/s: 2^28 elements (reduce_by_key, sum_segment: 2^24), in brackets the share of the raw read, of scans and select that of '
           'a copy. Order: the same letter, the same tree of 10,000 additions.')
    for routine in routines:
        yield ''
        yield f'### {routine}: promises {promise_of(results, routine)}'
        yield ''
        yield from detail(results, routine)
    yield ''
    yield '## Where it comes from'
    yield ''
    yield '| release | wheel of nvidia-cuda-cccl | compiler | seconds | not in this release |'
    yield '| --- | --- | --- | --- | --- |'
    for release, of in results.releases.items():
        yield f"| {release} | {of['wheel']} | {of['compiler']} | {of['seconds']:.0f} | {', '.join(of['not_in_this_release'])} |"
    yield ''
    flags = sorted({of['flags'] for of in results.releases.values()})
    yield f"Compiled with `{'`, `'.join(flags)}`; driver {machine.get('cuda_driver', '')}."
    yield ''
    yield ('Not tried: releases of cuBLAS (a wheel of nvidia-cublas has some 500 MB); 16-bit accumulators, fp16, and fp32 added in fp64 (each '
           'pair of formats takes a compiler seconds a release); segmented sums of more than one segment; histograms, which count and add no '
           'floating-point numbers; other GPUs.')


def write(o, routines):
    results = Results(Path(o.out))
    to = Path(o.page) if o.page else Path(o.out) / 'releases.md'
    to.write_text('\n'.join(text_of(results, routines)) + '\n', encoding='utf-8')
    print(to)
