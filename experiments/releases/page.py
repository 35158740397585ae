"""releases page: what a results directory says, release by release, as Markdown."""
import csv
import json
import re
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


def again(command):
    """A command as a reader types it, whose build is in `build`."""
    return re.sub(r'^\S*/ulpscope ', 'build/ulpscope ', command)


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
        self.trial = {(r['method'], r['rung']): r for name in ('trial.csv', 'cublas-trial.csv') for r in rows_of(folder / name)}
        if not self.trial:
            raise Fault(3, f'{folder}/trial.csv: found no row, expected one for each routine and rung')
        self.answered = {r['release']: r['answered'] for r in rows_of(folder / 'cublas-answered.csv')}
        # What another cuBLAS answered tells nothing of this release.
        self.cublas = {r: of for r, of in self.manifest.get('cublas', {}).items() if self.answered.get(r) == r}
        self.special = rows_of(folder / 'special.csv') + rows_of(folder / 'cublas-special.csv')
        self.bench = [r for name in ('bench', 'bench-slow', 'bench-rows', 'cublas-bench') for r in rows_of(folder / f'{name}.csv')]
        self.errors = rows_of(folder / 'errors/results.csv') + rows_of(folder / 'errors.csv')
        self.scans = rows_of(folder / 'scans/results.csv')
        self.orders = {r['method']: r for r in rows_of(folder / 'orders.csv')}
        self.bounds = rows_of(folder / 'bounds.csv')
        self.counts = rows_of(folder / 'counts.csv')

    def of(self, routine):
        """The releases of its library."""
        return self.cublas if routine.startswith('cublas/') else self.releases

    def having(self, routine):
        return [r for r, of in self.of(routine).items() if routine in of['methods']]


def promise_of(results, routine):
    row = next((r for (m, _), r in results.trial.items() if m.split('@')[0] == routine), None)
    return row['promise'] if row else ''


def promised(promise, rung):
    return promise in RUNGS and RUNGS.index(rung) <= RUNGS.index(promise)


def verdict(results, method, rung, promise):
    """A cell: how many attempts differed, of how many; bold where that breaks a promise."""
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
    """Of a text and a command, which may be None."""
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
            why = '; '.join(dict.fromkeys(r['why'] for r in bad if r.get('why')))
            yield (f'**{routine} gives impossible results** in {named([r for r, _ in of], have)}: {count} of {cases} special inputs in '
                   f"{of[-1][0]}, of the classes {', '.join(classes)}{f' ({why})' if why else ''}; the first: {one['storage']}, "
                   f"{one['elements'] or one['input']} gives {one['result_hex'] or one['result']}, possible is {one['possible']}.", None)
    yield from ((text, None) for of in (alignment_found, batches_found, errors_found, orders_found, counts_found, bounds_found) for text in of(results, routines))


def counted(row):
    """Whether attempts at a rung differed; of one that is broken below it none may have."""
    return bool(row) and row['verdict'] == 'broken' and int(row['differing'] or 0) > 0


def alignment_found(results, routines):
    """Where results differ from run to run anyway, another alignment that gave other bits says nothing of alignments."""
    moved, against = [], False
    for routine in routines:
        of = [r for r in results.having(routine) for row in [results.trial.get((f'{routine}@{r}', 'gpu_to_gpu'))]
              if counted(row) and 'offset' in row['broken_by'] and not counted(results.trial.get((f'{routine}@{r}', 'run_to_run')))]
        moved += [f'{routine} ({named(of, results.having(routine))})'] if of else []
        against |= bool(of) and promised(promise_of(results, routine), 'gpu_to_gpu')
    if moved:
        yield (f"**A pointer's alignment changes the bits** of {'; '.join(moved)}. " + ('' if against else 'None of them promises gpu_to_gpu. ') +
               'Routines that differ from run to run are left out, as there timing may be the reason.')
    have = results.having('cub/sum_gpu_to_gpu')
    rows = {r: results.trial.get((f'cub/sum_gpu_to_gpu@{r}', 'gpu_to_gpu')) for r in have}
    kept = {r: int(row['attempts']) for r, row in rows.items() if row and row['verdict'] != 'broken' and row['attempts'] not in ('', '0')}
    if kept:
        yield (f"cub/sum_gpu_to_gpu: nothing changed its bits on this GPU in {named(list(kept), have)} (other alignments, other values around "
               f'it: {min(kept.values())} attempts or more each); another GPU was not tried.')


def batches_found(results, routines):
    """Whether a row, or an element of a product, depends on what else is computed: beside the ladder, and promised by none."""
    for routine in routines:
        have = results.having(routine)
        rows = {r: row for r in have for row in [results.trial.get((f'{routine}@{r}', 'batch_invariant'))] if row and row['attempts'] not in ('', '0')}
        moved, still = [r for r in rows if counted(rows[r])], [r for r in rows if not counted(rows[r])]
        if moved:
            counts = ', '.join(f"{rows[r]['differing']} of {rows[r]['attempts']}" for r in moved)
            yield (f"**An output of {routine} depends on what else is computed** in {named(moved, have)}: other bits in {counts} attempts "
                   '(other rows or columns, more or fewer of them). It promises nothing of this.')
        if still:
            yield (f"{routine}: no output was seen to depend on what else is computed in {named(still, have)} "
                   f"({min(int(rows[r]['attempts']) for r in still)} attempts or more each). It promises nothing of this.")


def errors_found(results, routines):
    """Sums that err beyond the bound of their theorem."""
    for routine in routines:
        have, beyond = results.having(routine), {}
        for r in results.errors:
            found, exact, bound = (real(r.get(name)) for name in ('result', 'exact', 'bound'))
            if r['method'].split('@')[0] == routine and None not in (found, exact, bound) and not abs(found - exact) <= bound:
                beyond.setdefault((r['storage'], r['input'], r.get('n')), {})[r['method'].split('@')[1]] = (r, found, exact)
        for (storage, name, n), of in beyond.items():
            r, found, exact = list(of.values())[-1]
            word = 'norm' if routine == 'cublas/norm' else 'sum'
            yield (f'**{routine} errs beyond its bound** in {named(list(of), have)}: of n = {n} elements of `{name}` in {storage} the {word} is '
                   f"{found:.3g}, the exact {word} is {exact:.3g}: {short(real(r['err_backward']) / UNIT[storage])} u sum|x| off.")


def orders_found(results, routines):
    """Which releases changed a tree of additions."""
    same = []
    for routine in routines:
        letters, have = order_letters(results, routine), results.having(routine)
        groups = [[r for r in letters if letters[r] == one] for one in dict.fromkeys(letters.values())]
        if len(groups) > 1:
            yield f"**The order of additions of {routine} is not the same in all releases**: {' | '.join(', '.join(of) for of in groups)}."
        elif len(letters) > 1 and list(letters) == have:
            same.append(routine)
    if same:
        n = next(iter(results.orders.values()))['n']
        yield f"The order of additions of {n} fp32 elements is one and the same in all releases of {', '.join(same)}, each by itself."


def counts_found(results, _):
    """cub::DeviceHistogram, which is no routine of the tables: it adds no floating-point numbers."""
    of, have = {}, list(dict.fromkeys(r['release'] for r in results.counts))
    for r in results.counts:
        of.setdefault('right' if r['wrong'] == '0' else 'wrong' if r['wrong'] else 'error', []).append(r)
    for r in of.get('wrong', []):
        yield (f"**cub::DeviceHistogram in {r['release']} counts wrongly**: {r['wrong']} of {int(r['bins']) * int(r['runs'])} counts of "
               f"{r['keys']} keys in {r['bins']} bins, {r['runs']} runs.")
    for r in of.get('error', []):
        yield (f"**cub::DeviceHistogram in {r['release']} fails** to count {r['keys']} keys in {r['bins']} bins: "
               f"{r['error'] or 'for a reason that was not said'}.")
    right = [release for release in have if all(r in of.get('right', []) for r in results.counts if r['release'] == release)]
    if right:
        first = of['right'][0]
        bins = ', '.join(dict.fromkeys(r['bins'] for r in results.counts))
        yield (f"cub::DeviceHistogram counts right in {named(right, have)}: {first['keys']} keys in {bins} bins, {first['runs']} runs of each. "
               'It adds ones to whole numbers, which no order of additions changes.')


def bounds_found(results, _):
    """Each n was tried once."""
    releases = list(dict.fromkeys(r['release'] for r in results.bounds))
    for release in releases:
        of = [r for r in results.bounds if r['release'] == release]
        wrong, none = [r for r in of if r['sum'] and r['sum'] != r['expected']], [r for r in of if not r['sum']]
        right = ', '.join(r['n'] for r in of if r['sum'] == r['expected'])
        reported = [r for r in of if int(r['memcheck_errors'] or 0)]
        parts = [f"the sum of {r['n']} ones in fp64 is {float.fromhex(r['sum']):.17g}" for r in wrong]
        parts += [f"there is no sum of {r['n']} ones in fp64, {('but ' + r['error']) if r.get('error') else 'for a reason that was not said'}"
                  for r in none]
        parts += [f"of {r['n']} ones compute-sanitizer's memcheck reports {r['memcheck_errors']} errors, the first: {r['first'] or 'see its log'}"
                  for r in reported]
        if reported and not any(r['first'].startswith('Invalid __global__') for r in reported):
            parts.append('it printed no access beyond an allocation')
        if not all(r['memcheck_errors'] for r in of):
            parts.append('memcheck was not tried on all')
        elif not reported:
            parts.append('memcheck reports nothing')
        parts += [f'right: {right} ones'] if right else []
        bad = 'adds wrongly' if wrong else 'fails' if none else 'reads or writes where it must not'
        yield (f'**cub/sum_gpu_to_gpu in {release} {bad}**: ' if wrong or none or reported else f'cub/sum_gpu_to_gpu in {release}: ') + \
            '; '.join(parts) + '.'
    between = [r for r in results.having('cub/sum_gpu_to_gpu') if r not in releases]
    if releases and between:
        yield f"So many ones were not tried in {', '.join(between)}."


def overview(results, routines):
    of = results.of(routines[0])
    yield '| routine | promises | ' + ' | '.join(of) + ' |'
    yield '| --- | --- |' + ' --- |' * len(of)
    for routine in routines:
        promise, cells = promise_of(results, routine), []
        for release in of:
            row = results.trial.get((f'{routine}@{release}', 'run_to_run'))
            if routine not in of[release]['methods']:
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
    for release in results.of(routine):
        method = f'{routine}@{release}'
        if routine not in results.of(routine)[release]['methods']:
            yield f'| {release} | not in this release |' + ' |' * (len(columns) - 2)
            continue
        seen = impossible(results, method)
        cells = [release, *(verdict(results, method, rung, promise) for rung in RUNGS),
                 'not tried' if not seen else f'{seen[0]} of {seen[1]}', *(worst(results, method, s) for s in UNIT),
                 *(speed(results, method, s) for s in UNIT), letters.get(release, '')]
        yield '| ' + ' | '.join(cells) + ' |'
    for rung in RUNGS:
        shown = [row for release in results.of(routine) for row in [results.trial.get((f'{routine}@{release}', rung))]
                 if row and row['verdict'] == 'broken' and row['command']]
        if shown:
            row = shown[-1]
            yield ''
            yield (f"Witness to {rung}: {row['storage']}/{row['accumulator']}, {row['input']}, n = {row['n']}: {row['bits']} {row['is']}, "
                   f"{row['other_bits']} {row['other_is']}")
            yield f"`{again(row['command'])}`"
            break


def where_from(results, machine):
    """Wheels, compilers and hashes."""
    if results.releases:
        yield '| release | wheel of nvidia-cuda-cccl | compiler | seconds | not in this release |'
        yield '| --- | --- | --- | --- | --- |'
        for release, of in results.releases.items():
            yield f"| {release} | {of['wheel']} | {of['compiler']} | {of['seconds']:.0f} | {', '.join(of['not_in_this_release'])} |"
        yield ''
    if results.manifest.get('cublas'):
        yield '| release of cuBLAS | from | version that answered | SHA-256 of libcublas | of libcublasLt |'
        yield '| --- | --- | --- | --- | --- |'
        for release, of in results.manifest['cublas'].items():
            said = results.answered.get(release, '') or 'none'
            hashes = [next((h[:16] for name, h in of['sha256'].items() if name.startswith(f'{library}.')), '') for library in ('libcublas', 'libcublasLt')]
            yield f"| {release} | {of['source']} | {said if said == release else f'**{said}**: left out'} | {' | '.join(hashes)} |"
        yield ''
    flags = sorted({of['flags'] for of in results.releases.values()})
    yield (f"CCCL compiled with `{'`, `'.join(flags)}`; " if flags else '') + f"driver {machine.get('cuda_driver', '')}."
    yield ''
    missing = ''.join((*([] if results.cublas else ['releases of cuBLAS (`--cublas`, `--cublas-folder`); ']),
                       *([] if results.having('cub/rows') else ['segmented sums of more than one segment; ']),
                       *([] if results.counts else ['histograms, which count and add no floating-point numbers; '])))
    yield (f'Not tried: {missing}16-bit accumulators, fp16, and fp32 added in fp64 (each pair of formats takes a compiler seconds a release); '
           'scans by key; histograms with weights, which cub::DeviceHistogram does not have; other GPUs.')


def again_all(results):
    """The command that measures it anew."""
    words = [','.join(results.releases), '--cublas ' + ','.join(results.cublas) if results.cublas else '']
    return ' '.join(['experiments/releases/releases all', *filter(None, words)])


def text_of(results, routines, cublas_routines):
    machine = results.study.get('machine', {})
    gpus = ', '.join(dict.fromkeys(g['name'] for g in machine.get('gpus', []))) or 'no GPU'
    tables = [of for of in ([r for r in one if results.having(r)] for one in (routines, cublas_routines)) if of]
    every = [r for of in tables for r in of]
    counted = [f'{len(of)} release{"s" * (len(of) > 1)} of {name}' for name, of in (('CCCL', results.releases), ('cuBLAS', results.cublas)) if of]
    yield '# CUB, Thrust and cuBLAS, release by release' if results.cublas else '# CUB and Thrust, release by release'
    yield ''
    yield (f"{' and '.join(counted)} on {gpus}, {results.study.get('started', '')[:10]}: "
           f"what each routine promises, keeps and costs. `{again_all(results)}` measures it anew.")
    yield ''
    yield '## Findings'
    yield ''
    for text, command in findings(results, every):
        yield f'- {text}'
        if command:
            yield f'  `{again(command)}`'
    yield ''
    yield '## The highest rung that each keeps'
    yield ''
    for of in tables:
        yield from overview(results, of)
        yield ''
    yield ('Bold: a promise is broken. A rung counts as kept where at least 10 attempts were made and none differed; '
           'gpu_to_gpu and order_invariant need another GPU, so that they stand here as tried on one.')
    yield ''
    yield '## Routine by routine'
    yield ''
    yield ('Rungs: attempts that differed, of all; bold: promised and broken; \\*: not tried in full, as no other GPU ran it. Special inputs: '
           'impossible results, of fp32 and fp64. Worst error: |error| / (u sum|x|) of 2^20 elements of four inputs, of all bins and rows, of a norm over '
           'u times the norm, of matrices over u |A| |B|; of scans ulps of the last digit, uniform input. GB/s: 2^28 elements (by key, sum_segment: 2^24; '
           'rows: 2^16 rows), in brackets the share of the raw read, of scans, by key and select that of '
           'a copy. Order: in a table, the same letter is the same tree of additions of 5,000 fp32 elements. Empty: not tried.')
    for routine in every:
        yield ''
        yield f'### {routine}: promises {promise_of(results, routine)}'
        yield ''
        yield from detail(results, routine)
    yield ''
    yield '## Where it comes from'
    yield ''
    yield from where_from(results, machine)


def write(o, routines, cublas_routines):
    results = Results(Path(o.out))
    to = Path(o.page) if o.page else Path(o.out) / 'releases.md'
    to.write_text('\n'.join(text_of(results, list(routines), list(cublas_routines))) + '\n', encoding='utf-8')
    print(to)
