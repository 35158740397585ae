#!/usr/bin/env python3
"""Releases of cuBLAS in FOLDER/cublas/VERSION: libcublas and libcublasLt of a wheel, or links to those that a folder has.

  cublas.py FOLDER    the release of the cuBLAS in FOLDER, as the libraries themselves tell it (1: a line that says what is wrong)
"""
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from fault import Fault

PACKAGE = 'nvidia-cublas'
LIBRARIES = ('libcublasLt', 'libcublas')
# What each release is tried with, in fp32 and fp64.
ROUTINES = {name: (13, 0) for name in (
    'cublas/l1_norm', 'cublas/norm', 'cublas/dot_product', 'cublas/sum_by_dot', 'cublas/sum_by_asum', 'cublas/sum_by_gemv',
    'cublas/sum_by_gemv_pedantic', 'cublas/sum_by_gemm', 'cublas/sum_by_gemm_pedantic', 'cublas/matrix_product')}


def held(wheel):
    """The release of cuBLAS that a version of the package holds, or None."""
    parts = wheel.split('.')
    return '.'.join(parts[:3]) if len(parts) == 4 else None


def libraries(folder):
    """libcublasLt and libcublas of a folder, of one major version, in the folder itself."""
    found = []
    for name in LIBRARIES:
        of = sorted(path for path in Path(folder).glob(f'{name}.so.*') if re.fullmatch(rf'{name}\.so\.[0-9]+', path.name))
        if len(of) != 1:
            raise Fault(3, f'{folder}: found {len(of) or "no"} {name}.so.MAJOR in it, expected one, as in the lib of a toolkit or a wheel')
        found.append(of[0])
    return found


def tell(folder):
    """What the libraries tell, loaded into this process, which must have no other: each asks libcublasLt."""
    lt, cublas = (ctypes.CDLL(str(path.resolve()), mode=os.RTLD_LAZY) for path in libraries(folder))
    parts = []
    for function in (lt.cublasLtGetProperty, cublas.cublasGetProperty):
        for which in range(3):
            value = ctypes.c_int()
            if function(which, ctypes.byref(value)):
                raise Fault(3, f'{folder}: its cuBLAS tells no version')
            parts.append(str(value.value))
    if parts[:3] != parts[3:]:
        raise Fault(3, f'{folder}: libcublasLt is of {".".join(parts[:3])}, libcublas of {".".join(parts[3:])}')
    return '.'.join(parts[:3])


def told(folder):
    """The same by a process of its own, which loads these libraries alone."""
    libraries(folder)
    it = subprocess.run([sys.executable, __file__, str(folder)], capture_output=True, text=True)
    if it.returncode:
        raise Fault(3, (it.stderr.strip() or f'{folder}: its cuBLAS could not be asked for its version').splitlines()[-1])
    return it.stdout.strip()


def hashes(folder):
    found = {}
    for path in libraries(folder):
        digest = hashlib.sha256()
        with open(path, 'rb') as file:
            while block := file.read(1 << 20):
                digest.update(block)
        found[path.name] = digest.hexdigest()
    return found


def download(wheel, work):
    got = subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '-d', str(work), f'{PACKAGE}=={wheel}'],
                         capture_output=True, text=True)
    paths = list(work.glob('*.whl'))
    if got.returncode or not paths:
        raise Fault(4, f'{PACKAGE} {wheel}: could not be downloaded: {(got.stderr.strip() or "no wheel").splitlines()[-1]}')
    return paths[0]


def unpack(wheel, to):
    """libcublasLt and libcublas of a wheel, and nothing else of it."""
    path = wheel if isinstance(wheel, Path) else download(wheel, to)
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if re.search(r'/libcublas(Lt)?\.so\.[0-9]+$', name):
                    with archive.open(name) as source, open(to / Path(name).name, 'wb') as file:
                        while block := source.read(1 << 20):
                            file.write(block)
    except (OSError, zipfile.BadZipFile) as e:
        raise Fault(3, f'{path}: could not be unpacked: {e}') from None
    finally:
        if path != wheel:
            path.unlink()


def link(folder, to):
    """In place of what was there."""
    for path in libraries(folder):
        place, target = to / path.name, path.resolve()
        if place != target:
            place.unlink(missing_ok=True)
            place.symlink_to(target)


def take(manifest, folder, release, source, fill):
    """FOLDER/cublas/RELEASE, filled by fill(to); what it holds goes to the manifest."""
    begin, to = time.time(), folder / 'cublas' / release
    to.mkdir(parents=True, exist_ok=True)
    fill(to)
    found = told(to)
    if found != release:
        raise Fault(3, f'{to}: found cuBLAS {found} in it, expected {release}')
    manifest[release] = {'source': source, 'sha256': hashes(to), 'methods': list(ROUTINES), 'seconds': round(time.time() - begin, 1)}
    print(f'cuBLAS {release}: {source}, {time.time() - begin:.0f} s', flush=True)


def build(manifest, folder, wanted, wheels, folders):
    """`wanted`: releases; `wheels`: of each, a version of the package or a file; `folders` that have a cuBLAS already."""
    for release in wanted:
        wheel = wheels[release]
        source = 'wheel ' + (wheel.name.split('-')[1] if isinstance(wheel, Path) else wheel)
        was = manifest.get(release)
        if was and was['source'] == source and was['methods'] == list(ROUTINES) and (folder / 'cublas' / release).is_dir():
            print(f'cuBLAS {release}: there already', flush=True)
            continue
        take(manifest, folder, release, source, lambda to, wheel=wheel: unpack(wheel, to))
    for one in folders:
        take(manifest, folder, told(one), 'a folder', lambda to, one=one: link(one, to))


if __name__ == '__main__':
    try:
        print(tell(sys.argv[1]))
    except (Fault, OSError, AttributeError) as fault:
        sys.exit(str(fault))
