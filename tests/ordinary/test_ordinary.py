#!/usr/bin/env python3
"""Programs that have nothing to do with CUDA, bare and preloaded: the same
output, the same messages, the same status.

test_ordinary.py BUILD-ROOT          the quick ones
test_ordinary.py BUILD-ROOT --all    all that are installed
test_ordinary.py BUILD-ROOT --table  the same as a table for docs/ordinary.md
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import programs  # noqa: E402
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORDS = sys.argv[2:]
del sys.argv[1:]
PRELOAD = BUILD / 'interpose/libadsm-preload.so'
PATIENCE_S, ROUNDS = 120, 3


def environment(preloaded, folder):
    kept = {name: value for name, value in os.environ.items()
            if name in ('PATH', 'CCACHE_DISABLE')}
    kept.update(HOME=str(folder), LC_ALL='C.UTF-8', CCACHE_DISABLE='1',
                TMPDIR=str(folder), PYTHONDONTWRITEBYTECODE='1')
    if preloaded:
        kept['LD_PRELOAD'] = str(PRELOAD)
    return kept


def run(case, preloaded):
    """What the case printed, its status and its seconds; always in the same
    folder, made anew."""
    folder = pathlib.Path(tempfile.gettempdir()) / f'ordinary-{os.getpid()}'
    folder.mkdir()
    try:
        for name, text in programs.FILES.items():
            (folder / name).write_text(text, encoding='utf-8')
        begun = time.perf_counter()
        done = subprocess.run(['/bin/sh', '-c', case.script], cwd=folder,
                              env=environment(preloaded, folder),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=PATIENCE_S)
        seconds = time.perf_counter() - begun
        return (done.returncode, done.stdout, done.stderr), seconds
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def missing(case):
    return [name for name in case.needs if not shutil.which(name)]


class Ordinary(unittest.TestCase):
    """One case for each program, added below."""

    def test_the_library_is_preloaded(self):
        case = programs.Case('maps', 'grep -c adsm-preload /proc/self/maps')
        (status, out, _), _ = run(case, True)
        self.assertEqual(status, 0)
        self.assertGreater(int(out), 0)


def test_of(case):
    def test(self):
        if missing(case):
            self.skipTest('no ' + ', '.join(missing(case)))
        bare, _ = run(case, False)
        self.assertEqual(bare[0], case.status, bare)
        self.assertTrue(bare[1], 'it prints nothing')
        self.assertEqual(bare, run(case, True)[0])
    return test


def table():
    """Rows of every case; the status says whether one differs."""
    failed = 0
    print('| program | bare, ms | preloaded, ms | same |\n|---|---|---|---|')
    for case in programs.CASES:
        if missing(case):
            print(f'| {case.name} | | | not installed |')
            continue
        seconds, same = ([], []), True
        for _ in range(ROUNDS):
            first, a = run(case, False)
            second, b = run(case, True)
            seconds[0].append(a)
            seconds[1].append(b)
            same = same and first == second and first[0] == case.status
        failed += not same
        bare, preloaded = (1000 * statistics.median(s) for s in seconds)
        print(f'| {case.name} | {bare:.0f} | {preloaded:.0f} | '
              f'{"yes" if same else "NO"} |', flush=True)
    return 1 if failed else 0


for one in programs.CASES:
    if one.quick or '--all' in WORDS:
        words = ''.join(c if c.isalnum() else '_' for c in one.name)
        setattr(Ordinary, 'test_' + words, test_of(one))

if __name__ == '__main__':
    if '--table' in WORDS:
        sys.exit(table())
    sys.argv[1:] = [word for word in WORDS if word != '--all']
    suite.main()
